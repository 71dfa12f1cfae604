#include "io/kubernetes/disruption_budgets.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "io/kubernetes/constraints.hpp"

namespace kaisched::io::kubernetes {

namespace {

bool is_ready_pod(const object& pod) {
  const member conditions = find(find(pod.root(), "status"), "conditions");
  if (!conditions || !conditions->is(json_kind::array)) return false;
  return std::any_of(conditions->begin(), conditions->end(), [](json_value one) {
    return text_if_any(one, "type") == "Ready" && text_if_any(one, "status") == "True";
  });
}

bool is_running_pod(const object& pod) {
  return text_if_any(find(pod.root(), "status"), "phase") == "Running" &&
         !find(find(pod.root(), "metadata"), "deletionTimestamp");
}

}  // namespace

void budget_book::read(object& of) {
  const member spec = of.section(of.root(), "spec");
  const member status = of.section(of.root(), "status");
  budget made;
  made.row.line = of.line();
  made.row.name = of.full_name();
  made.row.allowed = of.integer(status, "disruptionsAllowed").value_or(0);
  made.desired = of.integer(status, "desiredHealthy").value_or(-1);
  made.lets_unready_go = of.text(spec, "unhealthyPodEvictionPolicy") == "AlwaysAllow";
  const member selector = of.section(spec, "selector");
  result<model::selector> pods = model::parse_selector(selector_text(of, selector));
  if (!pods) of.fail(selector ? *selector : of.root(), pods.failure().message);
  if (made.row.allowed < 0) of.fail(of.root(), "status", "disruptionsAllowed is negative");
  if (of.failed()) return;
  made.pods = std::move(*pods);
  by_space_[std::string(of.name_space())].push_back(std::move(made));
}

const std::vector<budget_book::budget>* budget_book::in_space_of(const object& pod) const {
  const auto known = by_space_.find(pod.name_space());
  return known == by_space_.end() ? nullptr : &known->second;
}

void budget_book::count(const object& pod) {
  const auto known = by_space_.find(pod.name_space());
  if (known == by_space_.end() || !is_running_pod(pod) || !is_ready_pod(pod)) return;
  const model::label_list labels = labels_of(pod);
  for (budget& one : known->second) one.ready += one.pods.matches(labels) ? 1 : 0;
}

void budget_book::finish(std::vector<disruption_budget_record>& to) {
  for (auto& [space, all] : by_space_) {
    for (budget& one : all) {
      if (one.desired >= 0) one.row.allowed = std::clamp<std::int64_t>(one.ready - one.desired, 0, one.row.allowed);
      to.push_back(one.row);
    }
  }
}

std::string budget_book::of(const object& pod) const {
  const std::vector<budget>* const all = in_space_of(pod);
  if (all == nullptr || !is_running_pod(pod)) return {};
  const bool ready = is_ready_pod(pod);
  const model::label_list labels = labels_of(pod);
  const budget* found = nullptr;
  for (const budget& one : *all) {
    if ((!ready && one.passes_unready()) || !one.pods.matches(labels)) continue;
    const auto key = [](const budget& of) { return std::pair(of.row.allowed, std::string_view(of.row.name)); };
    if (found == nullptr || key(one) < key(*found)) found = &one;
  }
  return found == nullptr ? std::string() : found->row.name;
}

}  // namespace kaisched::io::kubernetes
