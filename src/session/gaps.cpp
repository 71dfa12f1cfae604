// Bounds on what any scheduler could have done instead. Everything errs on the side of "it might have been better".
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include <kaisched/gaps.hpp>

#include "base/int128.hpp"
#include "model/snapshot_access.hpp"
#include "session/certificate_bounds.hpp"
#include "session/session_impl.hpp"

namespace kaisched {

namespace {

using base::int128;
using framework::session_state;
using model::cluster_state;
using session_detail::pod_kind;

constexpr std::int64_t positive(std::int64_t amount) { return std::max<std::int64_t>(0, amount); }

/// What nodes have while decisions are done one after the other. What leaves is gone at once.
class node_ledger {
 public:
  explicit node_ledger(const session_state& c)
      : c_(c), s_(c.state()), free_(*s_.capacity), places_(s_.pod_slots, no_row) {
    on_.resize(s_.node_count());
    for (node_row row = 0; row < s_.node_count(); ++row) {
      const model::node_info& node = *(*s_.nodes)[row];
      opaque_.push_back(session_detail::is_opaque(node));
      knows_devices_.push_back(!opaque_.back() && session_detail::has_whole_devices(node));
      whole_.push_back(session_detail::whole_devices_of(node));
    }
    devices_.resize(s_.pod_slots);
    constexpr std::uint32_t there =
        (model::holding & ~model::bit(pod_status::pipelined)) | model::bit(pod_status::stuck_in_releasing);
    const model::live_state& live = model::state_of(c.base).live;
    for (pod_row p = 0; p < s_.pod_slots; ++p) {
      if (!s_.pods[p].live || !model::is_in(static_cast<pod_status>(live.pod_state[p]), there)) continue;
      if (live.pod_node[p] != no_row) put(p, (*s_.node_row_of_slot)[live.pod_node[p]], live.pod_devices[p]);
    }
  }

  void put(pod_row p, node_row row, const device_set& devices) {
    take_off(p);
    places_[p] = row;
    devices_[p] = devices.mask;
    charge(p, -1);
    on_[row].push_back(p);
  }
  void take_off(pod_row p) {
    const node_row row = places_[p];
    if (row == no_row) return;
    charge(p, 1);
    std::erase(on_[row], p);
    places_[p] = no_row;
  }

  [[nodiscard]] bool holds(pod_row p) const { return places_[p] != no_row; }
  [[nodiscard]] node_row node_of(pod_row p) const { return places_[p]; }
  [[nodiscard]] std::int64_t free(node_row row, dimension d) const {
    return free_[static_cast<std::size_t>(row) * s_.dims() + d];
  }
  /// Whether what pods hold of the dimension is known.
  [[nodiscard]] bool counts(node_row row, dimension d) const { return d != dim_gpu || !opaque_[row]; }

  /// By number of pods that leave the node, how many of the kind it takes at most. All pods may leave.
  [[nodiscard]] std::vector<std::int64_t> takes(const pod_kind& kind, node_row row, bool may_leave) const {
    const model::node_info& node = *(*s_.nodes)[row];
    if (session_detail::verdict_of(c_, *kind.ask, node) != constraint::none) return {0};
    const std::vector<pod_row>& there = on_[row];
    std::vector<std::int64_t> most((may_leave ? there.size() : 0) + 1, kind.count);
    const auto bound = [&](std::int64_t have, std::int64_t need, const auto& held) {
      std::vector<std::int64_t> parts;
      if (may_leave) {
        for (const pod_row p : there) parts.push_back(held(p));
        std::sort(parts.begin(), parts.end(), std::greater<>());
      }
      for (std::size_t v = 0; v < most.size(); ++v) {
        if (v > 0) have += parts[v - 1];
        most[v] = std::min(most[v], positive(have) / need);
      }
    };
    for (dimension d = 0; d < s_.dims(); ++d) {
      if (kind.request[d] == 0) continue;
      if (counts(row, d)) {
        bound(free(row, d), kind.request[d], [&](pod_row p) { return s_.class_of(p).requests(d); });
      } else {
        bound((*s_.capacity)[static_cast<std::size_t>(row) * s_.dims() + d], kind.request[d],
              [](pod_row) { return 0; });
      }
    }
    if (kind.whole_devices > 0 && knows_devices_[row]) {
      std::uint64_t untouched = whole_[row];
      for (const pod_row p : there) untouched &= ~devices_[p];
      bound(std::popcount(untouched), kind.whole_devices, [&](pod_row p) { return std::popcount(devices_[p]); });
    }
    return most;
  }

 private:
  void charge(pod_row p, std::int64_t sign) {
    const node_row row = places_[p];
    const model::pod_class& ask = s_.class_of(p);
    const std::size_t at = static_cast<std::size_t>(row) * s_.dims();
    for (dimension d = 0; d < s_.dims(); ++d) {
      if ((*s_.capacity)[at + d] != 0) free_[at + d] += sign * ask.requests(d);
    }
    if (session_detail::is_beyond_amounts(s_, ask)) opaque_[row] = true, knows_devices_[row] = false;
  }

  const session_state& c_;
  const cluster_state& s_;
  std::vector<std::int64_t> free_;
  std::vector<node_row> places_;
  std::vector<std::uint64_t> devices_;  ///< by pod, as bits
  std::vector<std::vector<pod_row>> on_;
  std::vector<std::uint64_t> whole_;
  std::vector<bool> opaque_;
  std::vector<bool> knows_devices_;
};

/// Values of labels from the widest level of the topology down to this one; nothing if the node lacks one.
std::optional<std::string> domain_of(const cluster_state& s, const model::topology_ask& ask, const std::string& level,
                                     node_row row) {
  const auto topology = std::find_if(s.topologies->begin(), s.topologies->end(),
                                     [&](const model::topology_info& one) { return one.name == ask.topology; });
  if (topology == s.topologies->end()) return std::nullopt;
  std::string made;
  for (const std::string& key : topology->levels) {
    const std::string* const value = model::find_label((*s.nodes)[row]->labels, key);
    if (value == nullptr) return std::nullopt;
    made.append(made.empty() ? "" : "/").append(*value);
    if (key == level) return made;
  }
  return std::nullopt;
}

/// The fewest victims on these nodes with which `count` pods find a place, as a Lagrangian dual.
class victim_dual {
 public:
  explicit victim_dual(std::int64_t count) : left_(count), count_(count) {}

  /// @param takes by number of pods that leave the node.
  void add(const std::vector<std::int64_t>& takes) {
    left_ -= takes.front();
    // The concave hull of the points, corner by corner: what every victim brings, never more than the one before.
    std::size_t at = 0;
    while (at + 1 < takes.size()) {
      std::size_t best = 0;
      for (std::size_t v = at + 1; v < takes.size(); ++v) {
        if (best == 0 || int128{takes[v] - takes[at]} * static_cast<std::int64_t>(best - at) >
                             int128{takes[best] - takes[at]} * static_cast<std::int64_t>(v - at))
          best = v;
      }
      if (takes[best] == takes[at]) break;
      segments_.push_back({takes[best] - takes[at], static_cast<std::int64_t>(best - at)});
      at = best;
    }
    all_.push_back(takes);
  }

  [[nodiscard]] victim_bound solve(std::string domain) {
    victim_bound made;
    made.domain = std::move(domain);
    std::sort(segments_.begin(), segments_.end(), [](const segment& a, const segment& b) {
      return int128{a.pods} * b.victims > int128{b.pods} * a.victims;
    });
    std::int64_t left = left_;
    for (std::size_t i = 0; i < segments_.size() && left > 0; ++i) {
      left -= segments_[i].pods;
      made.price = segments_[i].victims;
      made.per_victim = segments_[i].pods;
    }
    made.is_too_small = left > 0;
    if (left_ <= 0 || made.is_too_small) {
      made.price = 0;
      made.per_victim = 1;
      return made;
    }
    int128 value = int128{made.price} * count_;
    for (const std::vector<std::int64_t>& takes : all_) {
      int128 most = 0;
      for (std::size_t v = 0; v < takes.size(); ++v)
        most = std::max(most, int128{made.price} * takes[v] - int128{made.per_victim} * static_cast<std::int64_t>(v));
      value -= most;
    }
    if (value > 0) made.bound = static_cast<std::int64_t>((value + made.per_victim - 1) / made.per_victim);
    return made;
  }

 private:
  struct segment {
    std::int64_t pods;
    std::int64_t victims;
  };
  std::int64_t left_;
  std::int64_t count_;
  std::vector<segment> segments_;
  std::vector<std::vector<std::int64_t>> all_;
};

class gap_finder {
 public:
  explicit gap_finder(const session_state& c) : c_(c), s_(c.state()), ledger_(c) {}

  std::vector<optimality_gap> run() {
    const std::span<const decision> all = c_.results.decisions;
    for (std::size_t i = 0; i < all.size();) {
      std::size_t end = i + 1;
      while (end < all.size() && all[end].commit == all[i].commit) ++end;
      judge(all.subspan(i, end - i));
      i = end;
    }
    judge_what_waits();
    return std::move(found_);
  }

 private:
  static bool starts(const decision& d) {
    return d.pod != no_row && (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline);
  }
  static bool displaces(const decision& d) {
    return d.kind == decision_kind::evict || d.kind == decision_kind::move || d.kind == decision_kind::migrate;
  }

  /// Pods by what they ask for, in the order in which they were decided.
  [[nodiscard]] std::vector<pod_kind> kinds_of(std::span<const pod_row> pods) const {
    std::vector<pod_kind> kinds;
    std::map<class_row, std::size_t> known;
    for (const pod_row p : pods) {
      const auto [at, fresh] = known.try_emplace(s_.pods[p].pod_class, kinds.size());
      if (fresh) kinds.push_back(session_detail::make_kind(s_, s_.pods[p].pod_class, p));
      ++kinds[at->second].count;
    }
    return kinds;
  }

  void judge(std::span<const decision> commit) {
    std::vector<pod_row> started;
    std::int64_t victims = 0;
    for (const decision& d : commit) {
      if (starts(d)) started.push_back(d.pod);
      if (displaces(d) && ledger_.holds(d.pod)) ++victims;
    }
    const group_row group = started.empty() ? no_row : s_.pods[started.front()].group;
    const bool is_one_group =
        std::all_of(started.begin(), started.end(), [&](pod_row p) { return s_.pods[p].group == group; });
    if (victims > 0 && !started.empty()) judge_victims(commit.front(), group, is_one_group, started, victims);
    for (const decision& d : commit) {
      if (displaces(d)) ledger_.take_off(d.pod);
    }
    std::map<pod_row, node_row> places;
    for (const decision& d : commit) {
      if (starts(d)) places[d.pod] = d.node;
    }
    if (is_one_group && group != no_row) judge_domains(commit.front(), group, started, places);
    for (const decision& d : commit) {
      const bool has_place = starts(d) || d.kind == decision_kind::move || d.kind == decision_kind::migrate;
      if (has_place && d.node != no_row) ledger_.put(d.pod, d.node, d.devices);
    }
  }

  void judge_victims(const decision& of, group_row group, bool is_one_group, std::span<const pod_row> started,
                     std::int64_t victims) {
    const model::topology_ask* const ask =
        is_one_group && group != no_row ? s_.subs[s_.groups[group].first_sub].together.get() : nullptr;
    const bool is_bound = ask != nullptr && !ask->required_level.empty();
    optimality_gap best;
    for (const pod_kind& kind : kinds_of(started)) {
      std::map<std::string, victim_dual> duals;
      for (node_row row = 0; row < s_.node_count(); ++row) {
        const std::optional<std::string> domain =
            is_bound ? domain_of(s_, *ask, ask->required_level, row) : std::optional<std::string>("");
        if (domain) duals.try_emplace(*domain, kind.count).first->second.add(ledger_.takes(kind, row, true));
      }
      optimality_gap made{gap_kind::victims, of.commit, of.action, group, kind.example, kind.count, victims, victims};
      if (is_bound) made.level = ask->required_level;
      for (auto& [domain, dual] : duals) {
        made.domains.push_back(dual.solve(domain));
        if (!made.domains.back().is_too_small) made.bound = std::min(made.bound, made.domains.back().bound);
      }
      if (best.kind == gap_kind::none || made.bound > best.bound) best = std::move(made);
    }
    found_.push_back(std::move(best));
  }

  /// The group, and pod sets of it, that prefer to be in one domain.
  void judge_domains(const decision& of, group_row group, std::span<const pod_row> started,
                     const std::map<pod_row, node_row>& places) {
    const sub_group_row root = s_.groups[group].first_sub;
    for (sub_group_row sub = root; sub < root + s_.groups[group].sub_count; ++sub) {
      const model::topology_ask* const ask = s_.subs[sub].together.get();
      if (ask == nullptr || ask->preferred_level.empty() || (sub != root && s_.subs[sub].is_set)) continue;
      std::vector<pod_row> mine;
      std::copy_if(started.begin(), started.end(), std::back_inserter(mine),
                   [&](pod_row p) { return sub == root || s_.pods[p].sub == sub; });
      if (!mine.empty()) judge_domains(of, group, *ask, mine, places);
    }
  }

  void judge_domains(const decision& of, group_row group, const model::topology_ask& ask, std::span<const pod_row> mine,
                     const std::map<pod_row, node_row>& places) {
    const auto name_of = [&](node_row row) {
      std::optional<std::string> domain = domain_of(s_, ask, ask.preferred_level, row);
      return domain ? *domain : std::string(1, '\0') + (*s_.nodes)[row]->name;  // in none: a place of its own
    };
    std::set<std::string> used;
    for (const pod_row p : mine) used.insert(name_of(places.at(p)));
    optimality_gap best;
    for (const pod_kind& kind : kinds_of(mine)) {
      std::map<std::string, std::int64_t> most;
      for (node_row row = 0; row < s_.node_count(); ++row)
        most[name_of(row)] += ledger_.takes(kind, row, false).front();
      std::vector<std::int64_t> largest;
      for (const auto& [domain, pods] : most) largest.push_back(std::min(pods, kind.count));
      std::sort(largest.begin(), largest.end(), std::greater<>());
      std::size_t fewest = 0;
      for (std::int64_t left = kind.count; left > 0 && fewest < largest.size(); ++fewest) left -= largest[fewest];
      optimality_gap made{gap_kind::domains, of.commit, of.action, group, kind.example, kind.count, std::ssize(used)};
      made.bound = std::min(made.achieved, static_cast<std::int64_t>(fewest));
      made.level = ask.preferred_level;
      made.largest.assign(largest.begin(), largest.begin() + std::max<std::int64_t>(0, made.bound - 1));
      if (best.kind == gap_kind::none || made.bound > best.bound) best = std::move(made);
    }
    found_.push_back(std::move(best));
  }

  /// Amounts tell whether a further pod fits.
  [[nodiscard]] bool is_plain(const model::pod_class& ask) const {
    return ask.whole_devices > 0 && !session_detail::is_beyond_amounts(s_, ask) && !ask.is_shared() &&
           !ask.has_pod_affinity() && ask.host_ports.empty() && ask.spread.empty();
  }

  void judge_what_waits() {
    std::map<class_row, std::pair<pod_row, std::int64_t>> waiting;
    for (pod_row p = 0; p < s_.pod_slots; ++p) {
      if (!s_.pods[p].live || s_.pods[p].group == no_row) continue;
      if (static_cast<pod_status>(c_.live.pod_state[p]) != pod_status::pending) continue;
      ++waiting.try_emplace(s_.pods[p].pod_class, p, 0).first->second.second;
    }
    std::vector<std::pair<pod_row, std::int64_t>> ordered;
    for (const auto& [of, pods] : waiting) {
      if (is_plain(*s_.classes[of])) ordered.push_back(pods);
    }
    std::sort(ordered.begin(), ordered.end());
    for (const auto& [example, count] : ordered) judge_fragmentation(example, count);
  }

  void judge_fragmentation(pod_row example, std::int64_t count) {
    pod_kind kind = session_detail::make_kind(s_, s_.pods[example].pod_class, example);
    kind.count = max_amount;
    optimality_gap made{gap_kind::fragmentation, 0, action_kind::none, s_.pods[example].group, example, count};
    std::vector<int128> pooled(s_.dims(), 0);
    for (node_row row = 0; row < s_.node_count(); ++row) {
      if (session_detail::verdict_of(c_, *kind.ask, *(*s_.nodes)[row]) != constraint::none) continue;
      made.achieved += ledger_.takes(kind, row, false).front();
      const std::size_t at = static_cast<std::size_t>(row) * s_.dims();
      std::int64_t empty = max_amount;
      for (dimension d = 0; d < s_.dims(); ++d) {
        if (kind.request[d] == 0) continue;
        pooled[d] += ledger_.counts(row, d) ? positive(ledger_.free(row, d)) : (*s_.capacity)[at + d];
        empty = std::min(empty, positive((*s_.capacity)[at + d]) / kind.request[d]);
      }
      made.bound += empty;
    }
    for (dimension d = 0; d < s_.dims(); ++d) {
      if (kind.request[d] == 0 || pooled[d] / kind.request[d] >= made.bound) continue;
      made.bound = static_cast<std::int64_t>(pooled[d] / kind.request[d]);
      made.dim = d;
    }
    found_.push_back(std::move(made));
  }

  const session_state& c_;
  const cluster_state& s_;
  node_ledger ledger_;
  std::vector<optimality_gap> found_;
};

}  // namespace

result<std::vector<optimality_gap>> session::gaps() const {
  const session_state& c = *impl_->state;
  if (!c.statement.log.empty())
    return error{status::state, "the statement is open: commit or roll back before gaps", {}};
  return gap_finder(c).run();
}

}  // namespace kaisched
