#include "actions/victims_by_node.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::actions {

namespace {

constexpr std::size_t most_asks = 4;

}  // namespace

void victims_by_node::forget() {
  known_.clear();
  groups_on_.clear();
  row_of_.clear();
  changed_.clear();
}

void victims_by_node::open() {
  if (!groups_on_.empty()) return;
  groups_on_.resize(kept_.every_node.size());
  row_of_.assign(kept_.lone_pods.size(), no_row);
  for (group_row g = 0; g < row_of_.size(); ++g) note_group(g);
  changed_.clear();
}

void victims_by_node::note_group(group_row g) {
  if (groups_on_.empty()) return;
  const node_row now = kept_.is_lone_victim(g) ? kept_.lone_pods[g].row : no_row;
  for (const node_row row : {row_of_[g], now}) {
    if (row != no_row) changed_.push_back(row);
  }
  if (now == row_of_[g]) return;
  if (row_of_[g] != no_row) std::erase(groups_on_[row_of_[g]], g);
  if (now != no_row) groups_on_[now].push_back(g);
  row_of_[g] = now;
}

std::vector<group_row> victims_by_node::on(node_row row, queue_row leaf) const {
  std::vector<group_row> found;
  std::copy_if(groups_on_[row].begin(), groups_on_[row].end(), std::back_inserter(found),
               [&](group_row g) { return kept_.c.state().groups[g].queue == leaf; });
  std::sort(found.begin(), found.end(), [&](group_row a, group_row b) { return kept_.victims.before(a, b); });
  return found;
}

victims_by_node::turning_point victims_by_node::find(const ask& asked, node_row row) const {
  const auto places_on = [&](std::int64_t free) { return std::max<std::int64_t>(0, free) / asked.request; };
  std::int64_t free = free_gpus(kept_.c, row);
  const std::int64_t before = places_on(free);
  std::int64_t taken_back = 0;
  for (const group_row g : on(row, asked.leaf)) {
    free += kept_.lone_pods[g].gpus;
    taken_back += asked.victims_return ? places_on(kept_.lone_pods[g].gpus) : 0;
    if (places_on(free) - before - taken_back >= asked.places) return {g, row};
  }
  return {};
}

/// An entry is not compared again once its victim stands elsewhere: all old ones leave before new ones come.
void victims_by_node::renew(known_ask& one, const std::vector<node_row>& rows) const {
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
  if (changed_.size() > 8 * groups_on_.size() + 1024) {
    known_.clear();
    changed_.clear();
  }
  const auto at = std::find_if(known_.begin(), known_.end(), [&](const known_ask& one) { return one.asked == asked; });
  std::vector<node_row> rows;
  if (at == known_.end()) {
    if (known_.size() == most_asks) known_.pop_back();
    known_.emplace_front(asked, kept_.victims, groups_on_.size());
    for (node_row row = 0; row < groups_on_.size(); ++row) rows.push_back(row);
  } else {
    known_.splice(known_.begin(), known_, at);
    rows.assign(changed_.begin() + static_cast<std::ptrdiff_t>(at->seen), changed_.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  }
  known_ask& one = known_.front();
  renew(one, rows);
  one.seen = changed_.size();
  return one.points;
}

}  // namespace kaisched::actions
