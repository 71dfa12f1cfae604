#include "actions/job_queue.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "actions/victim_units.hpp"
#include "framework/members.hpp"

namespace kaisched::actions {

using framework::in_native;
using framework::session_state;

namespace {

constexpr std::size_t most_standings = 16;  ///< more take longer to look through than to make

/// What pods hold for their queue. KAI looks at what they have asked for, where GPU memory is no GPU.
model::quota_vector held_by(const session_state& c, std::span<const pod_row> pods) {
  model::quota_vector sum{};
  for (const pod_row p : pods) {
    if (!model::is_in(static_cast<pod_status>(c.live.pod_state[p]), model::holding)) continue;
    model::quota_vector one = c.queues.held(p);
    if (c.compat()) one[dim_gpu] = c.gpus.wanted(p);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += one[r];
  }
  return sum;
}

/// Part "elastic" for some pods of a group.
order_key fullness_of(const session_state& c, group_row group, std::span<const pod_row> pods) {
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

}  // namespace

void job_queue::node::clear() {
  node fresh;
  fresh.entries = std::move(entries);
  fresh.ordered = std::move(ordered);
  fresh.others = std::move(others);
  fresh.standings = std::move(standings);
  *this = std::move(fresh);
  entries.clear();
  ordered.clear();
  others.clear();
  standings.clear();
}

void job_queue::clear() {
  keys_.clear();
  entries_.clear();
  for (node& one : nodes_) {
    if (one.queue < given_.size()) given_[one.queue].clear();
    one.clear();
    unused_nodes_.push_back(std::move(one));
  }
  nodes_.clear();
  roots_.clear();
  popped_pods_.clear();
  index_ = nullptr;
  accepts_ = nullptr;
  only_leaf_ = no_row;
}

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

result<void> job_queue::fill_in_order(std::span<const group_row> groups) {
  node_of_queue_.assign(c_.state().queues->size(), no_row);
  if (auto done = set_keys_of(groups); !done) return done;
  entries_.resize(groups.size());
  std::vector<std::uint32_t> leaves;
  std::vector<std::uint32_t> unordered;
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    entry& e = entries_[i];
    e.group = groups[i];
    e.keys = static_cast<std::uint32_t>(i * orders_);
    e.changes = c_.chunks.changes_of(e.group);
    bool fresh = false;
    const std::uint32_t leaf = node_of(c_.state().groups[e.group].queue, true, fresh);
    std::vector<std::uint32_t>& ordered = nodes_[leaf].ordered;
    if (fresh) {
      // KAI places a queue by the first group that is pushed into it, among queues as they are at that moment.
      nodes_[leaf].shown = i;
      ordered.push_back(i);
      leaves.push_back(leaf);
      link(leaf);
      continue;
    }
    if (entry_before(i, ordered.back())) {
      unordered.push_back(leaf);
      if (entry_before(i, nodes_[leaf].shown)) nodes_[leaf].shown = i;
    }
    nodes_[leaf].ordered.push_back(i);
  }
  // A leaf is listed for every group that came too late.
  std::sort(unordered.begin(), unordered.end());
  unordered.erase(std::unique(unordered.begin(), unordered.end()), unordered.end());
  for (const std::uint32_t leaf : unordered) {
    std::vector<std::uint32_t>& ordered = nodes_[leaf].ordered;
    std::sort(ordered.begin(), ordered.end(), [&](std::uint32_t a, std::uint32_t b) { return entry_before(a, b); });
  }
  for (const std::uint32_t leaf : leaves) {
    node& one = nodes_[leaf];
    std::reverse(one.ordered.begin(), one.ordered.end());
    one.head = one.ordered.back();
    one.ordered.pop_back();
    one.shown = no_row;
    mark(leaf);
  }
  if (!c_.compat()) order_queues();
  return {};
}

/// Of all groups that are filled in: every part is asked once.
result<void> job_queue::set_keys_of(std::span<const group_row> groups) {
  std::vector<policy_part*> parts;
  for (const auto& part : c_.parts) {
    if ((part->capabilities() & part_orders_groups) != 0) parts.push_back(part.get());
  }
  orders_ = parts.size();
  keys_.resize(orders_ * groups.size());
  std::vector<order_key> one(groups.size());
  for (std::size_t k = 0; k < orders_ && !groups.empty(); ++k) {
    if (auto done = parts[k]->order_groups(c_.view(), groups, one); !done) return done;
    for (std::size_t i = 0; i < groups.size(); ++i) keys_[i * orders_ + k] = one[i];
  }
  return {};
}

result<void> job_queue::fill_from(const group_index& index, std::span<const queue_row> leaf_queues,
                                  std::function<bool(group_row)> accepts, std::span<const group_row> others,
                                  std::span<const group_row> late) {
  node_of_queue_.assign(c_.state().queues->size(), no_row);
  if (what_ == serving::victims) given_.resize(c_.state().queues->size());
  index_ = &index;
  accepts_ = std::move(accepts);
  std::vector<std::uint32_t>& leaves = leaves_;
  leaves.clear();
  const auto leaf_of_queue = [&](queue_row q) {
    bool fresh = false;
    const std::uint32_t leaf = node_of(q, true, fresh);
    if (fresh) leaves.push_back(leaf);
    return leaf;
  };
  for (const queue_row q : leaf_queues) {
    node walk;
    walk.members = index.members_of(q);
    const group_row first = next_member(walk);
    if (first == no_row) continue;
    const std::uint32_t leaf = leaf_of_queue(q);
    result<std::uint32_t> head = new_entry(first, {});
    if (!head) return head.failure();
    entries_[*head].position = index.rank_of(first);
    nodes_[leaf].members = walk.members;
    nodes_[leaf].head = *head;
  }
  const auto add_other = [&](group_row group, std::uint32_t position) -> result<void> {
    result<std::uint32_t> made = new_entry(group, {});
    if (!made) return made.failure();
    entries_[*made].position = position;
    const std::uint32_t leaf = leaf_of_queue(c_.state().groups[group].queue);
    nodes_[leaf].entries.push(*made, 0, [&](std::uint32_t a, std::uint32_t b) { return entry_before(a, b); });
    nodes_[leaf].others.push_back(*made);
    return {};
  };
  for (const group_row g : others) {
    if (auto done = add_other(g, index.rank_of(g)); !done) return done;
  }
  const auto all = static_cast<std::uint32_t>(c_.state().group_slots);
  for (std::uint32_t i = 0; i < late.size(); ++i) {
    if (auto done = add_other(late[i], all + i); !done) return done;
  }
  if (leaves.size() == 1 || !c_.compat()) {
    for (const std::uint32_t leaf : leaves) link(leaf);
  } else if (auto done = link_in_order(leaves); !done) {
    return done;
  }
  for (const std::uint32_t leaf : leaves) mark(leaf);
  if (!c_.compat()) order_queues();
  if (what_ == serving::victims && leaves.size() == 1 && nodes_[leaves.front()].entries.empty()) {
    only_leaf_ = leaves.front();
    next_ = entries_[nodes_[only_leaf_].head].group;
  }
  return {};
}

/// KAI places a queue by the first group that is pushed into it, among queues as they are at that moment.
result<void> job_queue::link_in_order(std::span<const std::uint32_t> leaves) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>>& firsts = firsts_;
  firsts.clear();
  for (const std::uint32_t leaf : leaves) {
    std::uint32_t first = index_->first_by_rank(nodes_[leaf].queue, no_row, accepts_);
    for (const std::uint32_t other : nodes_[leaf].others) first = std::min(first, entries_[other].position);
    firsts.emplace_back(first, leaf);
  }
  std::sort(firsts.begin(), firsts.end());
  changing_.clear();
  for (const auto& [position, leaf] : firsts) {
    changing_.push_back({leaf, no_row});
    std::size_t kept = 0;
    for (std::size_t k = 0; k < changing_.size(); ++k) {
      changing_leaf one = changing_[k];
      result<bool> may_change = show_best_until(one, position);
      if (!may_change) return may_change.failure();
      if (*may_change) changing_[kept++] = one;
    }
    changing_.resize(kept);
    link(leaf);
  }
  for (const std::uint32_t leaf : leaves) nodes_[leaf].shown = no_row;
  return {};
}

/// Shows the best entry of a leaf among those that are added up to a position. False: no later position changes it.
result<bool> job_queue::show_best_until(changing_leaf& one, std::uint32_t position) {
  node& leaf = nodes_[one.leaf];
  std::uint32_t best = no_row;
  bool may_change = false;
  const auto offer = [&](std::uint32_t added) {
    if (best == no_row || entry_before(added, best)) best = added;
  };
  for (const std::uint32_t other : leaf.others) {
    if (entries_[other].position <= position)
      offer(other);
    else
      may_change = true;
  }
  if (leaf.head != no_row && entries_[leaf.head].position <= position) {
    offer(leaf.head);
  } else if (leaf.head != no_row) {
    may_change = true;
    group_row found = no_row;  // the best member by its order, which the index knows
    (void)index_->first_by_rank(leaf.queue, position, [&](group_row g) {
      if (accepts_(g) && (found == no_row || index_->before(g, found))) found = g;
      return false;
    });
    if (found != no_row && (one.member == no_row || entries_[one.member].group != found)) {
      result<std::uint32_t> made = new_entry(found, {});
      if (!made) return made.failure();
      one.member = *made;
    }
    if (found != no_row) offer(one.member);
  }
  leaf.shown = best;
  return may_change;
}

/// The next member of the index that is accepted, or no_row.
group_row job_queue::next_member(node& leaf) const {
  group_row next = leaf.members.next();
  while (next != no_row && !accepts_(next)) next = leaf.members.next();
  return next;
}

/// The next group in order, or member of the index, becomes the head of its leaf.
result<void> job_queue::advance(std::uint32_t leaf) {
  nodes_[leaf].head = no_row;
  std::vector<std::uint32_t>& ordered = nodes_[leaf].ordered;
  if (!ordered.empty()) {
    nodes_[leaf].head = ordered.back();
    ordered.pop_back();
  }
  if (index_ == nullptr) return {};
  const group_row next = next_member(nodes_[leaf]);
  if (next == no_row) return {};
  result<std::uint32_t> made = new_entry(next, {}, what_ != serving::victims);
  if (!made) return made.failure();
  nodes_[leaf].head = *made;
  return {};
}

std::uint32_t job_queue::top_of(const node& leaf) const {
  if (leaf.shown != no_row) return leaf.shown;
  if (leaf.entries.empty()) return leaf.head;
  const std::uint32_t own = leaf.entries.top();
  return leaf.head != no_row && entry_before(leaf.head, own) ? leaf.head : own;
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
  if (e.keys == never) e.keys = static_cast<std::uint32_t>(keys_.size());
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
  e.changes = c_.chunks.changes_of(e.group);
  if (!c_.compat()) e.amount_made = never;
  return {};
}

/// Made when queues are first compared by it: what a group tries to start is remembered from then on, and `compat`
/// repeats what KAI remembers.
const job_queue::entry& job_queue::with_amount(std::uint32_t position) const {
  entry& e = entries_[position];
  const std::uint32_t now = c_.compat() ? c_.chunks.changes_of(e.group) : e.changes;
  if (e.amount_made == now) return e;
  e.amount_made = now;
  if (what_ == serving::groups) {
    e.amount = c_.chunks.chunk_request(e.group);
  } else if (!c_.compat()) {
    e.amount = held_by(c_, next_unit(c_, e.group, e.pods.empty() ? pods_of(c_, e.group) : e.pods));
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
  if (c_.compat()) {
    const bool adds_up = what_ == serving::groups && c_.adds_parts_up();
    e.native = adds_up ? c_.chunks.chunk_ask(e.group) : in_native(e.amount);
  }
  return e;
}

/// As in KAI the heaps of `compat` compare groups as they are at that moment.
void job_queue::refresh(std::uint32_t position) const {
  entry& e = entries_[position];
  if (e.keys != never && (!c_.compat() || e.compared_at == c_.chunks.changes())) return;
  e.compared_at = c_.chunks.changes();
  if (e.keys == never || e.changes != c_.chunks.changes_of(e.group)) (void)set_keys(e);
}

/// A member of an index stands there in its order: while nothing is decided its keys can wait until it is compared.
result<std::uint32_t> job_queue::new_entry(group_row group, std::vector<pod_row> pods, bool set_keys_now) {
  entry e;
  e.group = group;
  e.pods = std::move(pods);
  if (set_keys_now) {
    if (auto done = set_keys(e); !done) return done.failure();
  }
  entries_.push_back(std::move(e));
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

result<void> job_queue::add(group_row group, std::vector<pod_row> pods) {
  if (auto done = leave_only_leaf(); !done) return done;
  result<std::uint32_t> made = new_entry(group, std::move(pods));
  if (!made) return made.failure();
  bool fresh = false;
  const std::uint32_t leaf = node_of(c_.state().groups[group].queue, true, fresh);
  nodes_[leaf].entries.push(*made, depth_, [&](std::uint32_t a, std::uint32_t b) { return entry_before(a, b); });
  if (fresh) link(leaf);
  mark(leaf);
  return {};
}

std::uint32_t job_queue::node_of(queue_row q, bool leaf, bool& fresh) {
  fresh = node_of_queue_[q] == no_row;
  if (fresh) {
    node_of_queue_[q] = static_cast<std::uint32_t>(nodes_.size());
    if (unused_nodes_.empty()) {
      nodes_.emplace_back();
    } else {
      nodes_.push_back(std::move(unused_nodes_.back()));
      unused_nodes_.pop_back();
    }
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
void job_queue::settle(base::heap<std::uint32_t>& level) {
  const std::uint32_t n = level.top();
  if (!nodes_[n].moved) return;
  nodes_[n].moved = false;
  if (!nodes_[n].is_leaf) settle(nodes_[n].entries);
  level.fix_top([&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); });
}

std::uint32_t job_queue::best_leaf() {
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); };
  if (!c_.compat()) settle(roots_);
  base::heap<std::uint32_t>* level = &roots_;
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

/// Victims of one leaf, all from the index: nothing is compared.
group_row job_queue::pop_only_leaf() {
  const group_row popped = std::exchange(next_, next_member(nodes_[only_leaf_]));
  popped_pods_.clear();
  if (next_ == no_row) {
    nodes_[only_leaf_].head = no_row;
    after_pop(std::exchange(only_leaf_, no_row));
  }
  return popped;
}

result<void> job_queue::leave_only_leaf() {
  if (only_leaf_ == no_row) return {};
  result<std::uint32_t> made = new_entry(next_, {}, false);
  if (!made) return made.failure();
  nodes_[std::exchange(only_leaf_, no_row)].head = *made;
  return {};
}

result<group_row> job_queue::pop() {
  if (only_leaf_ != no_row) return pop_only_leaf();
  const std::uint32_t leaf = best_leaf();
  const std::uint32_t position = top_of(nodes_[leaf]);
  if (what_ == serving::victims) given_[nodes_[leaf].queue].entries.push_back(position);
  if (position == nodes_[leaf].head) {
    if (auto done = advance(leaf); !done) return done.failure();
  } else {
    (void)nodes_[leaf].entries.pop([&](std::uint32_t a, std::uint32_t b) { return entry_before(a, b); });
  }
  after_pop(leaf);
  popped_pods_ = what_ == serving::victims ? entries_[position].pods : std::move(entries_[position].pods);
  return entries_[position].group;
}

void job_queue::after_pop(std::uint32_t n) {
  const auto before = [&](std::uint32_t a, std::uint32_t b) { return node_before(a, b); };
  while (n != no_row && !has_entries(nodes_[n])) {  // an empty queue leaves the tree; it is the top of its heap
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
  return group_is_before(c_.state(), x.group, std::span(keys_).subspan(x.keys, orders_), y.group,
                         std::span(keys_).subspan(y.keys, orders_));
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

/// What a leaf has given is only added up where queues are compared.
void job_queue::sum_up(given& so_far) const {
  for (; so_far.summed < so_far.entries.size(); ++so_far.summed) {
    const entry& e = with_amount(so_far.entries[so_far.summed]);
    if (c_.compat()) so_far.native.push_back(e.native);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) so_far.sum[r] += e.amount[r];
  }
}

/// Made anew where the queue holds something else now, or would take something else next.
const policy::kai_standing& job_queue::standing_of(std::uint32_t n) const {
  const node& one = nodes_[n];
  const policy::kai_queue& queue = c_.queues.kai_queues[one.queue];
  const entry& next = with_amount(top_of(nodes_[leaf_of(n)]));
  const policy::kai_amounts held{queue.shares[0].allocated, queue.shares[1].allocated, queue.shares[2].allocated};
  if (one.held != held) {
    one.held = held;
    one.standings.clear();
  }
  const auto known = std::find_if(one.standings.begin(), one.standings.end(),
                                  [&](const auto& one_ask) { return one_ask.first == next.native; });
  if (known != one.standings.end()) return known->second;
  if (one.standings.size() == most_standings) one.standings.clear();
  one.standings.emplace_back(next.native, policy::kai_standing_of({&queue, next.native, {}}, c_.queues.kai_total));
  return one.standings.back().second;
}

/// Inner queues are compared with their own amounts, but with the group of their best leaf.
bool job_queue::serves_before(std::uint32_t a, std::uint32_t b) const {
  if (c_.options.one_order && what_ == serving::groups)
    return entry_before(top_of(nodes_[leaf_of(a)]), top_of(nodes_[leaf_of(b)]));
  if (!c_.has_proportion) {
    const model::queue_info& x = (*c_.state().queues)[nodes_[a].queue];
    const model::queue_info& y = (*c_.state().queues)[nodes_[b].queue];
    return x.created != y.created ? x.created < y.created : x.name < y.name;
  }
  if (c_.compat() && what_ == serving::groups) return policy::kai_compare_standings(standing_of(a), standing_of(b)) < 0;
  const std::array<std::uint32_t, 2> both{a, b};
  std::array<policy::kai_side, 2> native{};
  std::array<policy::exact_side, 2> exact{};
  for (std::size_t i = 0; i < 2; ++i) {
    const node& leaf = nodes_[leaf_of(both[i])];
    const std::uint32_t best = top_of(leaf);
    const entry& next = with_amount(best);
    if (what_ == serving::victims) sum_up(given_[leaf.queue]);
    const queue_row q = nodes_[both[i]].queue;
    if (c_.compat()) {
      native[i].queue = &c_.queues.kai_queues[q];
      given_[leaf.queue].native.push_back(next.native);
      native[i].victims = given_[leaf.queue].native;
    } else {
      exact[i].queue = &c_.queues.exact_queues[q];
      if (what_ == serving::groups) {
        exact[i].job = next.amount;
      } else {
        for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
          exact[i].victims[r] = given_[leaf.queue].sum[r] + next.amount[r];
        }
      }
    }
  }
  if (!c_.compat()) return policy::exact_serves_before(exact[0], exact[1], c_.queues.total);
  const bool first = policy::kai_compare_queues(native[0], native[1], c_.queues.kai_total) < 0;
  for (const std::uint32_t n : both) given_[nodes_[leaf_of(n)].queue].native.pop_back();
  return first;
}

}  // namespace kaisched::actions
