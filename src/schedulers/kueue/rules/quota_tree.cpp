#include "schedulers/kueue/rules/quota_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kaisched::kueue {

namespace {

bool is_infinite(const borrowed_share& share) { return share.weight == 0 && share.ratio != 0; }

int compared(double a, double b) { return a < b ? -1 : (b < a ? 1 : 0); }

auto place_of(const cell_amounts& amounts, cell_id cell) {
  return std::lower_bound(amounts.begin(), amounts.end(), cell,
                          [](const cell_amount& one, cell_id at) { return one.cell < at; });
}

}  // namespace

void add_to(cell_amounts& sums, cell_id cell, amount value) {
  const auto found = place_of(sums, cell);
  const auto at = sums.begin() + (found - sums.begin());
  if (at != sums.end() && at->cell == cell) {
    at->value += value;
  } else {
    sums.insert(at, {cell, value});
  }
}

amount amount_of(const cell_amounts& amounts, cell_id cell) {
  const auto found = place_of(amounts, cell);
  return found != amounts.end() && found->cell == cell ? found->value : amount();
}

double borrowed_share::weighted() const {
  if (ratio == 0) return 0;
  if (weight == 0) return std::numeric_limits<double>::infinity();
  return ratio / weight;
}

bool borrowed_share::borrows_any_of(const cell_amounts& asked) const {
  return std::ranges::any_of(cells, [&](cell_id cell) { return amount_of(asked, cell) > amount(); });
}

int compare(const borrowed_share& a, const borrowed_share& b) {
  if (is_infinite(a) && is_infinite(b)) return compared(a.ratio, b.ratio);
  if (is_infinite(a)) return 1;
  if (is_infinite(b)) return -1;
  return compared(a.weighted(), b.weighted());
}

node_id quota_tree::add_cohort(node_id parent, double weight) { return add(parent, false, weight); }

node_id quota_tree::add_queue(node_id parent, double weight) { return add(parent, true, weight); }

node_id quota_tree::add(node_id parent, bool queue, double weight) {
  const node_id made = static_cast<node_id>(nodes_.size());
  one_node& one = nodes_.emplace_back();
  one.parent = parent;
  one.queue = queue;
  one.weight = weight;
  one.quotas.resize(cells_.size());
  one.declared.resize(cells_.size());
  one.subtree.resize(cells_.size());
  one.usage.resize(cells_.size());
  if (parent != no_node) (queue ? nodes_[parent].queues : nodes_[parent].cohorts).push_back(made);
  return made;
}

void quota_tree::set_quota(node_id node, cell_id cell, const cell_quota& quota) {
  nodes_[node].quotas[cell] = quota;
  nodes_[node].declared[cell] = true;
}

void quota_tree::finish() {
  for (one_node& one : nodes_) {
    for (cell_id cell = 0; cell < cells_.size(); ++cell) one.subtree[cell] = one.quotas[cell].nominal;
    if (!one.queue) std::fill(one.usage.begin(), one.usage.end(), amount());
  }
  // Children come after their parents, so going backwards finds every node complete.
  for (node_id child = static_cast<node_id>(nodes_.size()); child-- > 0;) {
    const node_id above = nodes_[child].parent;
    if (above == no_node) continue;
    for (cell_id cell = 0; cell < cells_.size(); ++cell) {
      if (!nodes_[child].declared[cell]) continue;
      nodes_[above].declared[cell] = true;
      nodes_[above].subtree[cell] += nodes_[child].subtree[cell] - kept(child, cell);
    }
    for (cell_id cell = 0; cell < cells_.size(); ++cell)
      nodes_[above].usage[cell] += std::max(amount(), nodes_[child].usage[cell] - kept(child, cell));
  }
}

node_id quota_tree::root(node_id node) const {
  while (has_parent(node)) node = parent(node);
  return node;
}

std::vector<node_id> quota_tree::queues_below(node_id node) const {
  std::vector<node_id> found(nodes_[node].queues);
  for (const node_id cohort : nodes_[node].cohorts) {
    const std::vector<node_id> more = queues_below(cohort);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

int quota_tree::height(node_id node) const {
  int most = nodes_[node].queues.empty() && nodes_[node].cohorts.empty() ? 0 : 1;
  for (const node_id cohort : nodes_[node].cohorts) most = std::max(most, height(cohort) + 1);
  return most;
}

amount quota_tree::kept(node_id node, cell_id cell) const {
  const std::optional<amount>& limit = nodes_[node].quotas[cell].lending_limit;
  return limit ? std::max(amount(), nodes_[node].subtree[cell] - *limit) : amount();
}

void quota_tree::add_usage(node_id queue, cell_id cell, amount value) {
  for (node_id at = queue; at != no_node; at = nodes_[at].parent) {
    const amount free = locally_available(at, cell);
    nodes_[at].usage[cell] += value;
    if (value <= free) return;
    value -= free;
  }
}

void quota_tree::remove_usage(node_id queue, cell_id cell, amount value) {
  for (node_id at = queue; at != no_node; at = nodes_[at].parent) {
    const amount in_parent = nodes_[at].usage[cell] - kept(at, cell);
    nodes_[at].usage[cell] -= value;
    if (in_parent <= amount()) return;
    value = std::min(value, in_parent);
  }
}

void quota_tree::add_usage(node_id queue, const cell_amounts& values) {
  for (const cell_amount& one : values) add_usage(queue, one.cell, one.value);
}

void quota_tree::remove_usage(node_id queue, const cell_amounts& values) {
  for (const cell_amount& one : values) remove_usage(queue, one.cell, one.value);
}

amount quota_tree::locally_available(node_id node, cell_id cell) const {
  return std::max(amount(), kept(node, cell) - nodes_[node].usage[cell]);
}

amount quota_tree::available(node_id node, cell_id cell) const {
  const one_node& one = nodes_[node];
  if (one.parent == no_node) return one.subtree[cell] - one.usage[cell];
  amount from_above = available(one.parent, cell);
  if (const std::optional<amount>& limit = one.quotas[cell].borrowing_limit) {
    const amount own = kept(node, cell);
    const amount used_above = std::max(amount(), one.usage[cell] - own);
    from_above = std::min(from_above, one.subtree[cell] - own - used_above + *limit);
  }
  return locally_available(node, cell) + from_above;
}

amount quota_tree::potentially_available(node_id node, cell_id cell) const {
  const one_node& one = nodes_[node];
  if (one.parent == no_node) return one.subtree[cell];
  const amount all = kept(node, cell) + potentially_available(one.parent, cell);
  const std::optional<amount>& limit = one.quotas[cell].borrowing_limit;
  return limit ? std::min(all, one.subtree[cell] + *limit) : all;
}

bool quota_tree::borrows_with(node_id node, cell_id cell, amount value) const {
  const one_node& one = nodes_[node];
  return (one.queue ? one.quotas[cell].nominal : one.subtree[cell]) < one.usage[cell] + value;
}

bool quota_tree::within_quota(node_id node, std::span<const cell_id> cells) const {
  return std::ranges::none_of(cells,
                              [&](cell_id cell) { return nodes_[node].subtree[cell] < nodes_[node].usage[cell]; });
}

quota_tree::fit_in_quota quota_tree::fits_in_quota(node_id node, const cell_amounts& asked) const {
  fit_in_quota found;
  for (const cell_amount& one : asked) {
    if (nodes_[node].subtree[one.cell] < nodes_[node].usage[one.cell] + one.value) found.fits = false;
    found.rest.push_back({one.cell, std::max(amount(), one.value - locally_available(node, one.cell))});
  }
  return found;
}

quota_tree::lowest_fit quota_tree::lowest_subtree_that_fits(node_id queue, cell_id cell, amount value) const {
  if (!borrows_with(queue, cell, value) || !has_parent(queue)) return {0, has_parent(queue)};
  amount rest = value - locally_available(queue, cell);
  node_id top = queue;
  for (node_id at = parent(queue); at != no_node; at = parent(at)) {
    if (!borrows_with(at, cell, rest)) return {height(at), has_parent(at)};
    rest -= locally_available(at, cell);
    top = at;
  }
  return {height(top), false};
}

borrowed_share quota_tree::share(node_id node, const cell_amounts& extra) const {
  const one_node& one = nodes_[node];
  borrowed_share found;
  found.weight = one.weight;
  if (one.parent == no_node) return found;
  std::vector<amount> borrowed(cells_.resources);
  for (cell_id cell = 0; cell < cells_.size(); ++cell) {
    if (!one.declared[cell]) continue;
    const amount more = amount_of(extra, cell) + one.usage[cell] - one.subtree[cell];
    if (more <= amount()) continue;
    borrowed[cells_.resource_of(cell)] += more;
    found.cells.push_back(cell);
  }
  found.borrowing = !found.cells.empty();
  for (std::uint32_t resource = 0; resource < cells_.resources && found.borrowing; ++resource) {
    if (borrowed[resource] <= amount()) continue;
    amount lendable;
    for (std::uint32_t flavor = 0; flavor < cells_.flavors; ++flavor)
      lendable += potentially_available(one.parent, cells_.at(flavor, resource));
    if (lendable <= amount()) continue;
    const double ratio =
        static_cast<double>(borrowed[resource].value()) * 1000.0 / static_cast<double>(lendable.value());
    if (ratio <= found.ratio) continue;
    found.ratio = ratio;
    found.dominant_resource = resource;
  }
  return found;
}

}  // namespace kaisched::kueue
