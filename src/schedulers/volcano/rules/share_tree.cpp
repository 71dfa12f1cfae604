#include "schedulers/volcano/rules/share_tree.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::volcano {

share_tree::share_tree(policy::resource_list total)
    : total_(std::move(total)), names_(total_.something_of()), branches_(1) {
  demanding_ = wanted();
}

std::vector<bool> share_tree::wanted() const {
  std::vector<bool> made;
  for (const std::string& name : names_) made.push_back(held_.get(name) < total_.get(name));
  return made;
}

void share_tree::put(row job, const std::string& name, const std::vector<queue_step>& path,
                     const policy::resource_list& request, const policy::resource_list& allocated) {
  row at = 0;
  const auto child_of = [&](row parent, const std::string& step, double weight) {
    const auto [found, is_new] = branches_[parent].children.try_emplace(step, branches_.size());
    const row child = found->second;
    if (is_new) {
      branch& made = branches_.emplace_back();
      made.parent = parent;
      made.weight = weight;
    }
    return child;
  };
  for (std::size_t i = 1; i < path.size(); ++i) at = child_of(at, path[i].name, path[i].weight);
  const row leaf = child_of(at, name, 1);
  branches_[leaf].is_job = true;
  branches_[leaf].request = request;
  leaves_[job] = leaf;
  change(job, allocated);
}

void share_tree::change(row job, const policy::resource_list& allocated) {
  const row leaf = leaves_.at(job);
  held_.subtract(branches_[leaf].allocated);
  held_.add(allocated);
  branches_[leaf].allocated = allocated;
  branches_[leaf].share = policy::dominant_share(allocated, total_);
  renew_from(leaf);
}

bool share_tree::is_saturated(const branch& job) const {
  bool found = false;
  job.allocated.each_of_something([&](std::string_view name, double held) {
    const double asked = job.request.get(name);
    const auto known = std::ranges::find(names_, name);
    const bool left = known != names_.end() && demanding_[static_cast<std::size_t>(known - names_.begin())];
    found = found || (asked != 0 && (held >= asked || !left));
  });
  return found;
}

void share_tree::renew(row at) {
  branch& of = branches_[at];
  if (of.is_job) {
    of.saturated = is_saturated(of);
    return;
  }
  double least = 1;
  for (const auto& [name, child] : of.children) {
    const branch& one = branches_[child];
    if (one.share != 0 && !one.saturated) least = std::min(least, one.share);
  }
  of.allocated = {};
  of.saturated = true;
  for (const auto& [name, child] : of.children) {
    const branch& one = branches_[child];
    of.saturated = of.saturated && one.saturated;
    if (one.share == 0) continue;
    policy::resource_list counted = one.allocated;
    if (!one.saturated) counted.multiply(least / one.share);
    of.allocated.add(counted);
  }
  of.share = policy::dominant_share(of.allocated, total_);
}

void share_tree::renew_from(row leaf) {
  std::vector<bool> now = wanted();
  if (now == demanding_) {
    for (row at = leaf; at != no_row; at = branches_[at].parent) renew(at);
    return;
  }
  demanding_ = std::move(now);
  for (row at = branches_.size(); at-- > 0;) renew(at);
}

double share_tree::compare(const std::vector<queue_step>& left, const std::vector<queue_step>& right) const {
  static const branch nobody;  // of a path that no job is below
  const auto child_of = [&](const branch& of, const std::string& step) -> const branch& {
    const auto found = of.children.find(step);
    return found == of.children.end() ? nobody : branches_[found->second];
  };
  const branch* l = branches_.data();
  const branch* r = branches_.data();
  const std::size_t depth = std::min(left.size(), right.size());
  for (std::size_t i = 0; i < depth; ++i) {
    // Who may still grow comes before who may not.
    if (l->saturated != r->saturated) return r->saturated ? -1 : 1;
    const double one = l->share / l->weight;
    const double other = r->share / r->weight;
    if (one != other) return one - other;
    if (i + 1 == depth) break;
    l = &child_of(*l, left[i + 1].name);
    r = &child_of(*r, right[i + 1].name);
  }
  return 0;
}

}  // namespace kaisched::volcano
