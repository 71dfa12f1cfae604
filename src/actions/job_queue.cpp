#include "actions/job_queue.hpp"

#include <array>

#include "session/members.hpp"

namespace kaisched::actions {

using work::core;

namespace {

/// What pods hold for their queue.
model::quota_vector held_by(const core& c, std::span<const pod_row> pods) {
  model::quota_vector sum{};
  for (const pod_row p : pods) {
    if (!model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::holding)) continue;
    const model::quota_vector one = model::quota_request(c.state().class_of(p));
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += one[r];
  }
  return sum;
}

/// Part "elastic" for some pods of a group.
order_key fullness_of(const core& c, group_row group, std::span<const pod_row> pods) {
  const model::group_core& g = c.state().groups[group];
  std::vector<std::int64_t> active(g.sub_count, 0);
  for (const pod_row p : pods) {
    active[c.state().pods[p].sub - g.first_sub] +=
        model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::active_allocated) ? 1 : 0;
  }
  bool exact = true;
  for (std::uint32_t i = 0; i < g.sub_count; ++i) {
    const model::sub_info& info = c.state().subs[g.first_sub + i];
    if (info.is_set) continue;
    if (active[i] < info.min) return {0, 0};
    exact = exact && active[i] == info.min;
  }
  return {exact ? 1 : 2, 0};
}

policy::kai_amounts in_native(const model::quota_vector& amount) {
  policy::kai_amounts native{};
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) native[r] = work::to_native(r, amount[r]);
  return native;
}

}  // namespace

result<void> job_queue::fill(std::span<const group_row> groups) {
  node_of_queue_.assign(c_.state().queues->size(), no_row);
  if (what_ == serving::victims) given_.resize(c_.state().queues->size());
  entries_.reserve(groups.size());
  for (const group_row group : groups) {
    if (auto done = add(group, {}); !done) return done;
  }
  if (!c_.compat()) order_queues();
  return {};
}

result<void> job_queue::reorder() {
  if (c_.compat()) return {};
  for (node& one : nodes_) {
    if (!one.is_leaf) continue;
    for (const std::uint32_t position : one.entries.items()) {
      if (auto done = set_keys(entries_[position]); !done) return done;
    }
    one.entries.rebuild([&](std::uint32_t x, std::uint32_t y) { return entry_before(x, y); });
  }
  order_queues();
  return {};
}

void job_queue::order_queues() {
  for (const std::uint32_t root : roots_.items()) order_nodes(root);
  roots_.rebuild([&](std::uint32_t x, std::uint32_t y) { return node_before(x, y); });
}

/// Children first: a node is compared by its best leaf.
void job_queue::order_nodes(std::uint32_t n) {
  if (nodes_[n].is_leaf) return;
  for (const std::uint32_t child : nodes_[n].entries.items()) order_nodes(child);
  nodes_[n].entries.rebuild([&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); });
}

result<void> job_queue::push(group_row group) { return add(group, {}); }
result<void> job_queue::push(group_row group, std::vector<pod_row> pods) { return add(group, std::move(pods)); }

/// Keys and amount of an entry as they are now.
result<void> job_queue::set_keys(entry& e) const {
  std::size_t next = e.keys;
  for (const auto& part : c_.parts) {
    if ((part->capabilities() & part_orders_groups) == 0) continue;
    order_key key;
    if (!e.pods.empty() && part->name() == "elastic") {
      key = fullness_of(c_, e.group, e.pods);
    } else if (auto done = part->order_groups(c_.view(), std::span(&e.group, 1), std::span(&key, 1)); !done) {
      return done;
    }
    if (next == keys_.size()) keys_.emplace_back();
    keys_[next++] = key;
  }
  orders_ = next - e.keys;
  e.changes = c_.changes_of(e.group);
  if (!c_.compat()) e.amount_made = never;
  return {};
}

/// Made when queues are first compared by it: what a group tries to start is remembered from then on, and `compat`
/// repeats what KAI remembers.
const model::quota_vector& job_queue::amount_of(std::uint32_t position) const {
  entry& e = entries_[position];
  const std::uint32_t now = c_.compat() ? c_.changes_of(e.group) : e.changes;
  if (e.amount_made == now) return e.amount;
  e.amount_made = now;
  if (what_ == serving::groups) {
    e.amount = c_.chunk_request(e.group);
  } else if (!e.pods.empty()) {
    e.amount = held_by(c_, e.pods);
  } else {
    e.amount = {};
    const model::group_core& g = c_.state().groups[e.group];
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      for (pod_row p = c_.state().subs[sub].first_pod; p != no_row; p = c_.state().pods[p].next) {
        const model::quota_vector one = held_by(c_, std::span(&p, 1));
        for (std::uint32_t r = 0; r < quota_dimensions; ++r) e.amount[r] += one[r];
      }
    }
  }
  return e.amount;
}

/// As in KAI the heaps of `compat` compare groups as they are at that moment.
void job_queue::refresh(std::uint32_t position) const {
  entry& e = entries_[position];
  if (c_.compat() && e.changes != c_.changes_of(e.group)) (void)set_keys(e);
}

result<void> job_queue::add(group_row group, std::vector<pod_row> pods) {
  entry e;
  e.group = group;
  e.keys = static_cast<std::uint32_t>(keys_.size());
  e.pods = std::move(pods);
  if (auto done = set_keys(e); !done) return done;
  const auto position = static_cast<std::uint32_t>(entries_.size());
  entries_.push_back(std::move(e));
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
  entry& e = entries_[position];
  if (what_ == serving::victims) {
    given& so_far = given_[nodes_[leaf].queue];
    const model::quota_vector& amount = amount_of(position);
    so_far.native.push_back(in_native(amount));
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) so_far.sum[r] += amount[r];
  }
  after_pop(leaf);
  popped_pods_ = std::move(e.pods);
  return e.group;
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

std::uint32_t job_queue::leaf_of(std::uint32_t n) const {
  while (!nodes_[n].is_leaf) n = nodes_[n].entries.top();
  return n;
}

bool job_queue::groups_in_order(const entry& x, const entry& y) const {
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

bool job_queue::entry_before(std::uint32_t a, std::uint32_t b) const {
  refresh(a);
  refresh(b);
  const bool in_order = groups_in_order(entries_[a], entries_[b]);
  return what_ == serving::groups ? in_order : !in_order;
}

bool job_queue::node_before(std::uint32_t a, std::uint32_t b) const {
  const bool first = serves_before(a, b);
  return what_ == serving::groups ? first : !first;
}

/// Inner queues are compared with their own amounts, but with the group of their best leaf.
bool job_queue::serves_before(std::uint32_t a, std::uint32_t b) const {
  if (!c_.has_proportion) {
    const model::queue_info& x = (*c_.state().queues)[nodes_[a].queue];
    const model::queue_info& y = (*c_.state().queues)[nodes_[b].queue];
    return x.created != y.created ? x.created < y.created : x.name < y.name;
  }
  const std::array<std::uint32_t, 2> both{a, b};
  std::array<policy::kai_side, 2> native{};
  std::array<policy::exact_side, 2> exact{};
  for (std::size_t i = 0; i < 2; ++i) {
    const node& leaf = nodes_[leaf_of(both[i])];
    const std::uint32_t best = leaf.entries.top();
    const model::quota_vector& amount = amount_of(best);
    const queue_row q = nodes_[both[i]].queue;
    if (c_.compat()) {
      native[i].queue = &c_.kai_queues[q];
      if (what_ == serving::groups) {
        native[i].job = in_native(amount);
      } else {
        given_[leaf.queue].native.push_back(in_native(amount));
        native[i].victims = given_[leaf.queue].native;
      }
    } else {
      exact[i].queue = &c_.exact_queues[q];
      if (what_ == serving::groups) {
        exact[i].job = amount;
      } else {
        for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
          exact[i].victims[r] = given_[leaf.queue].sum[r] + amount[r];
        }
      }
    }
  }
  if (!c_.compat()) return policy::exact_serves_before(exact[0], exact[1], c_.total);
  const bool first = policy::kai_compare_queues(native[0], native[1], c_.kai_total) < 0;
  if (what_ == serving::victims) {
    for (const std::uint32_t n : both) given_[nodes_[leaf_of(n)].queue].native.pop_back();
  }
  return first;
}

}  // namespace kaisched::actions
