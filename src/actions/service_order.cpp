#include "actions/service_order.hpp"

#include <algorithm>
#include <limits>

#include "framework/members.hpp"

namespace kaisched::actions {

namespace {

constexpr std::uint32_t no_limit = std::numeric_limits<std::uint32_t>::max();

}  // namespace

/// Queues with groups that wait, below the parent of the queue of the group that waits. Others are compared elsewhere.
bool service_order::find_queues() {
  const std::vector<model::queue_info>& all = *c_.state().queues;
  const queue_row mine = c_.state().groups[waiting_].queue;
  parent_ = all[mine].parent;
  leaf_of_queue_.assign(all.size(), no_row);
  for (const queue_row q : kept_.pending.leaves()) {
    group_index::cursor walk = kept_.pending.members_of(q);
    if (walk.next() == no_row) continue;
    if (all[q].parent == parent_) {
      (void)leaf_of(q);
      continue;
    }
    for (queue_row above = all[q].parent; above != no_row; above = all[above].parent) {
      if (all[above].parent == parent_ && above != mine) return false;  // an inner queue stands beside
    }
  }
  (void)leaf_of(mine);
  ask_of_waiting_ = c_.chunks.chunk_ask(waiting_);
  return true;
}

std::size_t service_order::leaf_of(queue_row queue) {
  std::uint32_t& at = leaf_of_queue_[queue];
  if (at == no_row) {
    at = static_cast<std::uint32_t>(leaves_.size());
    leaves_.emplace_back();
    leaves_.back().queue = queue;
    leaves_.back().native = c_.queues.kai_queues[queue];
    leaves_.back().allocated = (*c_.live.queue_allocated)[queue];
    leaves_.back().held = leaves_.back().allocated;
    leaves_.back().rest = kept_.pending.members_of(queue);
    reset(leaves_.back());
  }
  return at;
}

void service_order::reset(leaf_queue& leaf) {
  leaf.next_passed = 0;
  leaf.served.clear();
  leaf.next_served = 0;
  leaf.moved = false;
}

std::uint32_t service_order::position_of(leaf_queue& leaf, const policy::kai_amounts& ask) {
  const auto found = std::find(leaf.asks.begin(), leaf.asks.end(), ask);
  const auto position = static_cast<std::uint32_t>(found - leaf.asks.begin());
  if (found == leaf.asks.end()) {
    leaf.asks.push_back(ask);
    leaf.whole.emplace_back();
    leaf.now.emplace_back();
  }
  return position;
}

void service_order::note_allocated(leaf_queue& leaf) {
  leaf.is_whole = leaf.allocated == leaf.held;
  if (!leaf.is_whole) std::fill(leaf.now.begin(), leaf.now.end(), std::nullopt);
  const policy::kai_amounts held = framework::in_native(leaf.allocated);
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) leaf.native.shares[r].allocated = held[r];
}

/// Null: none is left.
const service_order::passed_group* service_order::next_passed(leaf_queue& leaf) {
  while (leaf.next_passed == leaf.passed.size() && !leaf.has_all) {
    const group_row g = leaf.rest.next();
    if (g == no_row) {
      leaf.has_all = true;
    } else if (g != waiting_) {
      if (framework::count_pods(c_, g, &model::sub_counts::active_used) > 0) tells_ = false;
      leaf.passed.push_back({kept_.pending.rank_of(g), position_of(leaf, c_.chunks.chunk_ask(g))});
    }
  }
  return leaf.next_passed == leaf.passed.size() ? nullptr : &leaf.passed[leaf.next_passed];
}

bool service_order::add_served(std::span<const victim> victims) {
  const model::cluster_state& s = c_.state();
  const auto all = static_cast<std::uint32_t>(s.group_slots);
  const std::uint32_t own_rank = kept_.pending.rank_of(waiting_);
  leaf_queue& mine = leaves_[leaf_of(s.groups[waiting_].queue)];
  mine.served.push_back({own_rank, own_rank, no_row, position_of(mine, ask_of_waiting_)});
  for (std::uint32_t i = 0; i < victims.size(); ++i) {
    const queue_row queue = s.groups[victims[i].group].queue;
    if ((*s.queues)[queue].parent != parent_ || !c_.queues.is_schedulable_queue(queue)) return false;
    leaf_queue& leaf = leaves_[leaf_of(queue)];
    leaf.served.push_back({kept_.pending.rank_of(victims[i].group), all + i, i,
                           position_of(leaf, framework::in_native(victims[i].held))});
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) leaf.allocated[r] -= victims[i].held[r];
  }
  return true;
}

bool service_order::begin(std::span<const victim> victims) {
  if (!tells_) tells_ = find_queues();
  if (!*tells_) return false;
  victims_ = victims;
  for (leaf_queue& leaf : leaves_) {
    reset(leaf);
    leaf.allocated = (*c_.live.queue_allocated)[leaf.queue];
    if (leaf.held != leaf.allocated) std::fill(leaf.whole.begin(), leaf.whole.end(), std::nullopt);
    leaf.held = leaf.allocated;
  }
  if (!add_served(victims)) return false;
  open_ = 0;
  for (leaf_queue& leaf : leaves_) {
    if (!leaf.served.empty()) ++open_;
    std::sort(leaf.served.begin(), leaf.served.end(),
              [](const served_group& a, const served_group& b) { return a.rank < b.rank; });
    note_allocated(leaf);
  }
  if (open_ > 1) link_queues();
  return *tells_;
}

std::uint32_t service_order::first_position(leaf_queue& leaf) {
  std::uint32_t first = no_limit;
  for (const served_group& one : leaf.served) first = std::min(first, one.position);
  if (const passed_group* passed = next_passed(leaf)) first = std::min(first, passed->rank);
  return first;
}

/// KAI places a queue by the first group that is added to it, among queues as they are at that moment.
void service_order::link_queues() {
  firsts_.clear();
  heap_.clear();
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const std::uint32_t first = first_position(leaves_[i]);
    if (first != no_limit) firsts_.emplace_back(first, i);
  }
  std::sort(firsts_.begin(), firsts_.end());
  for (const auto& [limit, leaf] : firsts_) {
    heap_.push(leaf, 0, [&, at = limit](std::size_t a, std::size_t b) { return is_before(a, b, at); });
  }
  for (const auto& [limit, leaf] : firsts_) leaves_[leaf].moved = true;
}

/// With the best group among those that have been added up to a position.
const policy::kai_standing& service_order::standing_of(std::size_t of, std::uint32_t limit) {
  leaf_queue& leaf = leaves_[of];
  auto own = leaf.served.begin() + static_cast<std::ptrdiff_t>(leaf.next_served);
  while (own != leaf.served.end() && own->position > limit) ++own;
  const passed_group* passed = next_passed(leaf);
  if (passed != nullptr && passed->rank > limit) passed = nullptr;
  const bool is_own = own != leaf.served.end() && (passed == nullptr || own->rank < passed->rank);
  const std::uint32_t ask = is_own ? own->ask : passed->ask;
  std::optional<policy::kai_standing>& standing = (leaf.is_whole ? leaf.whole : leaf.now)[ask];
  if (!standing) standing = policy::kai_standing_of({&leaf.native, leaf.asks[ask], {}}, c_.queues.kai_total);
  return *standing;
}

bool service_order::is_before(std::size_t a, std::size_t b, std::uint32_t limit) {
  return policy::kai_compare_standings(standing_of(a, limit), standing_of(b, limit)) < 0;
}

std::size_t service_order::best_leaf() {
  const auto before = [this](std::size_t a, std::size_t b) { return is_before(a, b, no_limit); };
  while (leaves_[heap_.top()].moved) {
    const std::size_t top = heap_.top();
    heap_.fix_top(before);
    leaves_[top].moved = false;
  }
  return heap_.top();
}

std::uint32_t service_order::pop_served(leaf_queue& leaf) {
  const std::uint32_t position = leaf.served[leaf.next_served++].victim;
  if (leaf.next_served == leaf.served.size()) --open_;
  return position;
}

void service_order::pass_over(leaf_queue& leaf) {
  ++leaf.next_passed;
  constexpr std::uint8_t unknown = 2;
  const std::uint32_t own = leaf.next_served < leaf.served.size() ? leaf.served[leaf.next_served].rank : no_limit;
  stays_.assign(leaf.asks.size(), unknown);
  for (const passed_group* passed = next_passed(leaf); passed != nullptr && passed->rank < own;
       passed = next_passed(leaf)) {
    if (passed->ask >= stays_.size()) stays_.resize(leaf.asks.size(), unknown);
    std::uint8_t& stays = stays_[passed->ask];
    if (stays == unknown)
      stays = heap_.top_stays([this](std::size_t a, std::size_t b) { return is_before(a, b, no_limit); }) ? 1 : 0;
    if (stays == 0) return;
    ++leaf.next_passed;
  }
}

std::uint32_t service_order::next() {
  while (open_ > 1) {
    leaf_queue& leaf = leaves_[best_leaf()];
    const passed_group* passed = next_passed(leaf);
    const bool has_own = leaf.next_served < leaf.served.size();
    const bool is_own = has_own && (passed == nullptr || leaf.served[leaf.next_served].rank < passed->rank);
    std::uint32_t position = no_row;
    if (is_own) {
      position = pop_served(leaf);
    } else {
      pass_over(leaf);
    }
    if (leaf.next_served < leaf.served.size() || next_passed(leaf) != nullptr) {
      leaf.moved = true;
    } else {
      (void)heap_.pop([this](std::size_t a, std::size_t b) { return is_before(a, b, no_limit); });
    }
    if (is_own) return position;
  }
  // Groups of the last queue are served in their order whatever the other queues hold.
  const auto last = std::find_if(leaves_.begin(), leaves_.end(),
                                 [](const leaf_queue& one) { return one.next_served < one.served.size(); });
  return pop_served(*last);
}

void service_order::take_back(std::uint32_t position) {
  leaf_queue& leaf = leaves_[leaf_of_queue_[c_.state().groups[victims_[position].group].queue]];
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) leaf.allocated[r] += victims_[position].held[r];
  note_allocated(leaf);
}

}  // namespace kaisched::actions
