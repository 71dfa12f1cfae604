#include "actions/victims_by_node.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::actions {

namespace {

constexpr std::size_t most_asks = 4;

}  // namespace

void victims_by_node::forget() {
  known_.clear();
  first_on_.clear();
  next_.clear();
  row_of_.clear();
  changed_.clear();
}

void victims_by_node::open() {
  if (!first_on_.empty()) return;
  first_on_.assign(kept_.every_node.size(), no_row);
  next_.assign(kept_.lone_pods.size(), no_row);
  row_of_.assign(kept_.lone_pods.size(), no_row);
  for (group_row g = 0; g < row_of_.size(); ++g) note_group(g);
  changed_.clear();  // nobody has seen how it was before
}

void victims_by_node::note_group(group_row g) {
  if (first_on_.empty()) return;
  const node_row now = kept_.is_lone_victim(g) ? kept_.lone_pods[g].row : no_row;
  for (const node_row row : {row_of_[g], now}) {
    if (row != no_row) changed_.push_back(row);
  }
  if (now == row_of_[g]) return;
  if (row_of_[g] != no_row) {
    group_row* at = &first_on_[row_of_[g]];
    while (*at != g) at = &next_[*at];
    *at = next_[g];
  }
  if (now != no_row) next_[g] = std::exchange(first_on_[now], g);
  row_of_[g] = now;
}

void victims_by_node::on(node_row row, queue_row leaf, std::pmr::vector<group_row>& to) const {
  to.clear();
  for (group_row g = first_on_[row]; g != no_row; g = next_[g]) {
    if (kept_.c.state().groups[g].queue == leaf) to.push_back(g);
  }
  std::sort(to.begin(), to.end(), [&](group_row a, group_row b) { return kept_.victims.before(a, b); });
}

victims_by_node::turning_point victims_by_node::find(const ask& asked, node_row row) {
  const auto places_on = [&](std::int64_t free) { return std::max<std::int64_t>(0, free) / asked.request; };
  std::int64_t free = free_gpus(kept_.c, row);
  const std::int64_t before = places_on(free);
  std::int64_t taken_back = 0;
  on(row, asked.leaf, victims_);
  for (const group_row g : victims_) {
    free += kept_.lone_pods[g].gpus;
    taken_back += asked.victims_return ? places_on(kept_.lone_pods[g].gpus) : 0;
    if (places_on(free) - before - taken_back >= asked.places) return {g, row};
  }
  return {};
}

/// An entry is not compared again once its victim stands elsewhere: all old ones leave before new ones come.
void victims_by_node::renew(known_ask& one, std::span<const node_row> rows) {
  for (const node_row row : rows) {
    if (one.at[row] != one.points.end()) one.points.erase(std::exchange(one.at[row], one.points.end()));
  }
  for (const node_row row : rows) {
    const turning_point found = find(one.asked, row);
    if (found.victim != no_row) one.at[row] = one.points.insert(found).first;
  }
}

const victims_by_node::turning_points& victims_by_node::of(const ask& asked) {
  open();
  if (changed_.size() > 8 * first_on_.size() + 1024) {
    known_.clear();
    changed_.clear();
  }
  const auto at = std::find_if(known_.begin(), known_.end(), [&](const known_ask& one) { return one.asked == asked; });
  rows_.clear();
  if (at == known_.end()) {
    if (known_.size() == most_asks) known_.pop_back();
    known_.emplace_front(asked, kept_.victims, first_on_.size(), memory_);
    for (node_row row = 0; row < first_on_.size(); ++row) rows_.push_back(row);
  } else {
    known_.splice(known_.begin(), known_, at);
    rows_.assign(changed_.begin() + static_cast<std::ptrdiff_t>(at->seen), changed_.end());
    std::sort(rows_.begin(), rows_.end());
    rows_.erase(std::unique(rows_.begin(), rows_.end()), rows_.end());
  }
  known_ask& one = known_.front();
  renew(one, rows_);
  one.seen = changed_.size();
  return one.points;
}

}  // namespace kaisched::actions
