#include "io/kubernetes/grouping/owners.hpp"

#include <algorithm>
#include <tuple>

namespace kaisched::io::kubernetes {

namespace {

using owner_key = std::tuple<std::string_view, std::string_view, std::string_view>;

owner_key key_of(const object& of) { return {of.kind(), of.name_space(), of.name()}; }

/// The part of an `apiVersion` before the slash; none without a version.
std::optional<std::string_view> api_group(std::string_view version) {
  if (version.empty()) return std::nullopt;
  const std::size_t slash = version.find('/');
  return slash == std::string_view::npos ? std::string_view{} : version.substr(0, slash);
}

/// Elements of lists may lack their version.
bool has_version(const object& of) { return find(of.root(), "apiVersion").has_value(); }

}  // namespace

std::optional<std::string_view> workload_owner::label(std::string_view key) const {
  if (found != nullptr) {
    if (const auto own = found->label(key)) return own;
  }
  for (const object* one : skipped) {
    if (const auto above = one->label(key)) return above;
  }
  return std::nullopt;
}

object* workload_owner::annotated(std::string_view key) const {
  if (found != nullptr && found->annotation(key)) return found;
  const auto above =
      std::find_if(skipped.begin(), skipped.end(), [&](const object* one) { return one->annotation(key).has_value(); });
  return above == skipped.end() ? nullptr : *above;
}

std::optional<std::string_view> workload_owner::annotation(std::string_view key) const {
  const object* of = annotated(key);
  return of == nullptr ? std::nullopt : of->annotation(key);
}

workload_owner as_owner(object& of) {
  workload_owner owner;
  if (has_version(of)) owner.group = of.group();
  owner.kind = of.kind();
  owner.name = of.name();
  owner.uid = of.uid();
  owner.found = &of;
  return owner;
}

void owner_index::add(object& of) {
  objects_.push_back(&of);
  sorted_ = false;
  if (of.kind() != "Pod" || of.label("training.kubeflow.org/job-role").value_or("") != "launcher") return;
  if (const auto job = of.label("training.kubeflow.org/job-name");
      job && !kubernetes::find(kubernetes::find(of.root(), "metadata"), "deletionTimestamp")) {
    launchers_.emplace(of.name_space(), *job);
  }
}

void owner_index::sort() const {
  if (sorted_) return;
  // Of a kind, group and name there is one object.
  std::sort(objects_.begin(), objects_.end(), [](const object* a, const object* b) {
    return std::tuple_cat(key_of(*a), std::tuple(a->group())) < std::tuple_cat(key_of(*b), std::tuple(b->group()));
  });
  sorted_ = true;
}

object* owner_index::find(const std::optional<std::string_view>& group, std::string_view kind,
                          std::string_view name_space, std::string_view name, std::string_view uid) const {
  sort();
  const owner_key key{kind, name_space, name};
  auto at = std::lower_bound(objects_.begin(), objects_.end(), key,
                             [](const object* one, const owner_key& wanted) { return key_of(*one) < wanted; });
  for (; at != objects_.end() && key_of(**at) == key; ++at) {
    const object& one = **at;
    const bool same_group = !group || !has_version(one) || one.group() == *group;
    if (same_group && (uid.empty() || one.uid().empty() || one.uid() == uid)) return *at;
  }
  return nullptr;
}

bool owner_index::has_kind(group_kind of) const {
  sort();
  auto at = std::lower_bound(objects_.begin(), objects_.end(), of.kind,
                             [](const object* one, std::string_view kind) { return one->kind() < kind; });
  for (; at != objects_.end() && (*at)->kind() == of.kind; ++at) {
    if (!has_version(**at) || (*at)->group() == of.group) return true;
  }
  return false;
}

std::vector<workload_owner> owner_index::chain_of(object& pod) const {
  constexpr std::size_t longest_chain = 16;  // no controllers nest this deep; references may run in circles
  std::vector<workload_owner> chain;
  for (object* at = &pod; at != nullptr && chain.size() < longest_chain; at = chain.back().found) {
    const std::vector<json_value> references = at->items(at->section(at->root(), "metadata"), "ownerReferences");
    if (references.empty()) break;
    const auto controller =
        std::find_if(references.begin(), references.end(), [&](json_value one) { return at->flag(one, "controller"); });
    const json_value reference = controller == references.end() ? references.front() : *controller;
    workload_owner owner;
    owner.group = api_group(at->text(reference, "apiVersion"));
    owner.kind = at->text(reference, "kind");
    owner.name = at->text(reference, "name");
    owner.uid = at->text(reference, "uid");
    owner.found = find(owner.group, owner.kind, pod.name_space(), owner.name, owner.uid);
    chain.push_back(std::move(owner));
  }
  if (chain.empty()) chain.push_back(as_owner(pod));
  workload_owner& top = chain.back();
  // A replica set that is not there itself belongs to a deployment if the pod carries the mark of one.
  if (top.is({"apps", "ReplicaSet"}) && top.found == nullptr && pod.label("pod-template-hash")) top.kind = "Deployment";
  return chain;
}

bool owner_index::has_launcher(std::string_view name_space, std::string_view job) const {
  return launchers_.contains({name_space, job});
}

}  // namespace kaisched::io::kubernetes
