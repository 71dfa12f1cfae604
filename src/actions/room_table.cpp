#include "actions/room_table.hpp"

#include <algorithm>

#include "actions/victim_units.hpp"

namespace kaisched::actions {

std::int64_t room_table::free(node_row row, dimension d) const {
  if (d == dim_gpu) return free_gpus(c_, row);
  const std::size_t at = static_cast<std::size_t>(row) * c_.state().dims() + d;
  return (*c_.live.idle)[at] + (*c_.live.releasing)[at];
}

void room_table::refresh() {
  if (commits_ == c_.statement.commits && classes_.size() == c_.state().class_slots) return;
  commits_ = c_.statement.commits;
  scopes_.clear();
  classes_.assign(c_.state().class_slots, {});
}

std::vector<std::int64_t> room_table::asked_by(pod_row like) const {
  std::vector<std::int64_t> asked(c_.state().dims(), 0);
  for (dimension d = 0; d < asked.size(); ++d) {
    if (d != dim_gpu)
      asked[d] = c_.state().class_of(like).requests(d);
    else if (!may_be_paid_for(like))
      asked[d] = gpus_wanted(c_, like);
  }
  return asked;
}

bool room_table::may_be_paid_for(pod_row pod) const {
  return c_.constraints.has(policy::trait_pays_gpus) && c_.constraints.concerns(c_.access, pod);
}

std::int64_t room_table::places_of(std::span<const std::int64_t> asked, node_row row, const std::int64_t* freed) const {
  std::int64_t places = most_places;
  for (dimension d = 0; d < asked.size(); ++d) {
    if (asked[d] <= 0) continue;
    places = std::min(places, places_on(free(row, d) + (freed == nullptr ? 0 : freed[d]), asked[d]));
  }
  return places;
}

const room_table::class_room& room_table::of_class(pod_row like) {
  const class_row of = c_.state().pods[like].pod_class;
  class_room& known = classes_[of];
  if (known.scope != no_row) return known;
  known.asked = asked_by(like);
  framework::node_set nodes(c_.state().node_count(), 0);
  for (node_row row = 0; row < nodes.size(); ++row) {
    if (!c_.choice.accepts(c_, of, row)) continue;
    nodes[row] = 1;
    known.places += places_of(known.asked, row, nullptr);
  }
  known.scope = scope_of(std::move(nodes));
  return known;
}

std::uint32_t room_table::scope_of(framework::node_set nodes) {
  for (std::uint32_t i = 0; i < scopes_.size(); ++i) {
    if (scopes_[i]->nodes == nodes) return i;
  }
  auto made = std::make_unique<scope>();
  made->nodes = std::move(nodes);
  for (dimension d = 0; d < made->free.size(); ++d) {
    for (node_row row = 0; row < made->nodes.size(); ++row) {
      if (made->nodes[row] != 0) made->free[d] += std::max<std::int64_t>(0, free(row, d));
    }
  }
  made->confined.assign(c_.state().class_slots, 0);
  made->with_class.assign(c_.state().class_slots, no_row);
  made->reached.assign(c_.state().group_slots, 0);
  scopes_.push_back(std::move(made));
  return static_cast<std::uint32_t>(scopes_.size() - 1);
}

std::uint32_t room_table::scope_of(std::span<const pod_row> pods) {
  std::uint32_t all = no_row;
  class_row last = no_row;
  for (const pod_row p : pods) {
    const class_row of = c_.state().pods[p].pod_class;
    if (of == last) continue;
    last = of;
    all = all == no_row ? of_class(p).scope : with_class(all, of);
  }
  return all;
}

std::uint32_t room_table::with_class(std::uint32_t base, class_row of) {
  if (const std::uint32_t known = at(base).with_class[of]; known != no_row) return known;
  framework::node_set nodes = at(base).nodes;
  for (node_row row = 0; row < nodes.size(); ++row)
    nodes[row] = nodes[row] != 0 || c_.choice.accepts(c_, of, row) ? 1 : 0;
  return at(base).with_class[of] = scope_of(std::move(nodes));
}

bool room_table::is_confined(scope& in, class_row of) {
  std::uint8_t& known = in.confined[of];
  if (known == 0) {
    known = 2;
    for (node_row row = 0; row < in.nodes.size() && known == 2; ++row) {
      if (in.nodes[row] == 0 && c_.choice.accepts(c_, of, row)) known = 1;
    }
  }
  return known == 2;
}

bool room_table::is_reached(scope& in, group_row group) {
  std::uint8_t& known = in.reached[group];
  if (known == 0) known = has_pods_among(c_, group, in.nodes) ? 2 : 1;
  return known == 2;
}

std::int64_t room_table::places_before(scope& in, dimension d, std::int64_t size) const {
  for (const size_places& one : in.bases[d]) {
    if (one.size == size) return one.places;
  }
  size_places& made = in.bases[d].emplace_back(size_places{size, 0});
  for (node_row row = 0; row < in.nodes.size(); ++row) {
    if (in.nodes[row] != 0) made.places += places_on(free(row, d), size);
  }
  return made.places;
}

}  // namespace kaisched::actions
