#include "actions/job_queue.hpp"

#include "session/members.hpp"

namespace kaisched::actions {

using work::core;

result<void> job_queue::fill(std::span<const group_row> groups) {
  node_of_queue_.assign(c_.state().queues->size(), no_row);
  entries_.reserve(groups.size());
  for (const group_row group : groups) {
    if (auto done = add(group); !done) return done;
  }
  if (c_.compat()) return {};
  for (const std::uint32_t root : roots_.items()) order_nodes(root);
  roots_.rebuild([&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); });
  return {};
}

/// Children first: a node is compared by its best leaf.
void job_queue::order_nodes(std::uint32_t n) {
  if (nodes_[n].is_leaf) return;
  for (const std::uint32_t child : nodes_[n].entries.items()) order_nodes(child);
  nodes_[n].entries.rebuild([&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); });
}

result<void> job_queue::push(group_row group) { return add(group); }

result<void> job_queue::add(group_row group) {
  entry e;
  e.group = group;
  e.keys = static_cast<std::uint32_t>(keys_.size());
  for (const auto& part : c_.parts) {
    if ((part->capabilities() & part_orders_groups) == 0) continue;
    order_key key;
    if (auto done = part->order_groups(c_.view(), std::span(&group, 1), std::span(&key, 1)); !done) return done;
    keys_.push_back(key);
  }
  orders_ = keys_.size() - e.keys;
  std::vector<pod_row> chunk;
  work::next_chunk(c_, group, chunk);
  e.request = work::request_of(c_, chunk);
  const auto position = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back(e);
  bool fresh = false;
  const std::uint32_t leaf = node_of(c_.state().groups[group].queue, true, fresh);
  nodes_[leaf].entries.push(position, depth_, [&](std::uint32_t a, std::uint32_t b) { return entry_before(a, b); });
  if (fresh) link(leaf);
  mark(leaf);
  return {};
}

std::uint32_t job_queue::node_of(queue_row q, bool leaf, bool& fresh) {
  fresh = node_of_queue_[q] == no_row;
  if (fresh) {
    node_of_queue_[q] = static_cast<std::uint32_t>(nodes_.size());
    nodes_.emplace_back();
    nodes_.back().queue = q;
    nodes_.back().is_leaf = leaf;
  }
  return node_of_queue_[q];
}

void job_queue::link(std::uint32_t n) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); };
  const queue_row parent_queue = (*c_.state().queues)[nodes_[n].queue].parent;
  if (parent_queue == no_row) {
    roots_.push(n, 0, before);
    return;
  }
  bool fresh = false;
  const std::uint32_t parent = node_of(parent_queue, false, fresh);
  nodes_[n].parent = parent;
  nodes_[parent].entries.push(n, 0, before);
  if (fresh) link(parent);
}

void job_queue::mark(std::uint32_t n) {
  for (; n != no_row; n = nodes_[n].parent) nodes_[n].moved = true;
}

/// What has changed since the last pop is at the top of its heap, so one path is repaired, its end first: a node is
/// compared by its best leaf.
void job_queue::settle(heap<std::uint32_t>& level) {
  const std::uint32_t n = level.top();
  if (!nodes_[n].moved) return;
  nodes_[n].moved = false;
  if (!nodes_[n].is_leaf) settle(nodes_[n].entries);
  level.fix_top([&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); });
}

std::uint32_t job_queue::best_leaf() {
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); };
  if (!c_.compat()) settle(roots_);
  heap<std::uint32_t>* level = &roots_;
  while (true) {
    std::uint32_t n = level->top();
    while (nodes_[n].moved) {
      level->fix_top(before);
      nodes_[n].moved = false;
      n = level->top();
    }
    if (nodes_[n].is_leaf) return n;
    level = &nodes_[n].entries;
  }
}

group_row job_queue::pop() {
  const std::uint32_t leaf = best_leaf();
  const std::uint32_t position =
      nodes_[leaf].entries.pop([&](std::uint32_t a, std::uint32_t b) { return entry_before(a, b); });
  after_pop(leaf);
  return entries_[position].group;
}

void job_queue::after_pop(std::uint32_t n) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); };
  while (n != no_row && nodes_[n].entries.empty()) {  // an empty queue leaves the tree; it is the top of its heap
    const std::uint32_t parent = nodes_[n].parent;
    node_of_queue_[nodes_[n].queue] = no_row;
    (parent == no_row ? roots_ : nodes_[parent].entries).pop(before);
    n = parent;
  }
  mark(n);
}

const job_queue::entry& job_queue::best_entry(std::uint32_t n) const {
  while (!nodes_[n].is_leaf) n = nodes_[n].entries.top();
  return entries_[nodes_[n].entries.top()];
}

bool job_queue::entry_before(std::uint32_t a, std::uint32_t b) const {
  const entry& x = entries_[a];
  const entry& y = entries_[b];
  for (std::size_t i = 0; i < orders_; ++i) {
    const order_key& p = keys_[x.keys + i];
    const order_key& q = keys_[y.keys + i];
    if (p.first != q.first) return p.first < q.first;
    if (p.second != q.second) return p.second < q.second;
  }
  const model::cluster_state& s = c_.state();
  const std::int64_t p = s.groups[x.group].created;
  const std::int64_t q = s.groups[y.group].created;
  return p != q ? p < q : s.group_names[x.group] < s.group_names[y.group];
}

policy::kai_side job_queue::side(std::uint32_t n) const {
  policy::kai_side s{&c_.kai_queues[nodes_[n].queue], {}, {}};
  const entry& best = best_entry(n);
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) s.job[r] = work::to_native(r, best.request[r]);
  return s;
}

bool job_queue::node_before(std::uint32_t a, std::uint32_t b) const {
  if (!c_.has_proportion) {
    const model::queue_info& x = (*c_.state().queues)[nodes_[a].queue];
    const model::queue_info& y = (*c_.state().queues)[nodes_[b].queue];
    return x.created != y.created ? x.created < y.created : x.name < y.name;
  }
  if (c_.compat()) return policy::kai_compare_queues(side(a), side(b), c_.kai_total) < 0;
  return policy::exact_serves_before({&c_.exact_queues[nodes_[a].queue], best_entry(a).request},
                                     {&c_.exact_queues[nodes_[b].queue], best_entry(b).request}, c_.total);
}

}  // namespace kaisched::actions
