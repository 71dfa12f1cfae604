// Nodes that can be given back. One after the other is closed, what ran there waits again, and `allocate` looks for new
// places: the node goes if every pod finds one. What waits anyway gets nothing of what comes free.
#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "base/int128.hpp"
#include "engine/scaling_parts.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::engine_detail {

namespace {

using model::cluster_state;
using model::node_info;

struct candidate_node {
  std::string name;
  const offered_type* type = nullptr;
  bool empty = false;
  std::int64_t used = 0;  ///< per mille of the dimension of which most is used
};

/// Where a pod ran when the question was asked.
struct first_place {
  std::string node;
  bool ran = false;  ///< it is no pod that starts only now
};

class give_back {
 public:
  give_back(scale_subject& of, const std::set<std::string>& added) : of_(of), added_(added) {
    const cluster_state& s = model::state_of(of.waits);
    for (const model::disruption_budget_info& one : *s.disruption_budgets) allowed_[one.name] = one.allowed;
  }

  result<scale_down_answer> run() {
    for (const candidate_node& one : candidates()) {
      returned_node told{one.name, {}, -1, false, one.empty, {}, {}};
      if (one.type != nullptr) {
        told.type = one.type->offer->name;
        told.price = one.type->offer->price;
      }
      if (auto done = look_at(told); !done) return done.failure();
      if (told.returned && told.price > 0) {
        if (answer_.saved > max_sum - told.price)
          return error{status::limit, "the prices of all nodes add up to more than can be represented", {}};
        answer_.saved += told.price;
      }
      answer_.nodes.push_back(std::move(told));
    }
    return std::move(answer_);
  }

 private:
  struct plan {
    std::vector<pod_row> pods;  ///< that have to move, those of a group together
    std::vector<group_row> groups;
    std::string keeps;
  };

  // ---- the order

  [[nodiscard]] std::vector<candidate_node> candidates() const {
    const cluster_state& s = model::state_of(of_.waits);
    std::vector<bool> runs(s.node_count(), false);
    for (pod_row p = 0; p < s.pod_slots; ++p) {
      if (is_on_node(s, p)) runs[(*s.node_row_of_slot)[s.live.pod_node[p]]] = true;
    }
    std::vector<candidate_node> all;
    for (node_row row = 0; row < s.node_count(); ++row) {
      const node_info& node = *(*s.nodes)[row];
      if (added_.contains(node.name)) continue;
      candidate_node one{node.name, nullptr, !runs[row], 0};
      if (const std::string* type = model::find_label(node.labels, of_.question.type_label)) {
        for (const offered_type& offered : of_.types) {
          if (offered.offer->name == *type) one.type = &offered;
        }
      }
      for (std::uint32_t d = 0; d < s.dims(); ++d) {
        const std::size_t at = static_cast<std::size_t>(row) * s.dims() + d;
        const std::int64_t has = (*s.capacity)[at];
        if (has <= 0 || d == dim_pods) continue;
        const base::int128 used = static_cast<base::int128>(has - (*s.live.idle)[at]) * 1000 / has;
        one.used = std::max(one.used, static_cast<std::int64_t>(used));
      }
      all.push_back(std::move(one));
    }
    const auto key = [](const candidate_node& one) {
      const std::int64_t price = one.type == nullptr ? -1 : one.type->offer->price;
      return std::tuple(!one.empty, -price, one.used, std::string_view(one.name));
    };
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return all;
  }

  static bool is_on_node(const cluster_state& s, pod_row p) {
    if (!s.pods[p].live || s.live.pod_node[p] == no_row) return false;
    const auto status = static_cast<pod_status>(s.live.pod_state[p]);
    return status != pod_status::succeeded && status != pod_status::failed;
  }

  // ---- one node

  result<void> look_at(returned_node& told) {
    if (told.empty) {
      told.returned = true;
      return close(told.name);
    }
    const plan moves = plan_for(told.name);
    told.keeps = moves.keeps;
    if (!told.keeps.empty()) return {};
    if (answer_.verifications >= of_.question.verifications) {
      answer_.complete = false;
      told.keeps = "not tried: there were no more verifications";
      return {};
    }
    ++answer_.verifications;
    const std::vector<table> change = closing(told.name, moves);
    const result<snapshot> over = of_.world.preview(change);
    if (!over) return over.failure();
    const result<session> then = place_again(*over, moves);
    if (!then) return then.failure();
    told.keeps = what_is_missing(*then, moves);
    if (!told.keeps.empty()) return {};
    return carry_out(told, moves, change);
  }

  /// Who has to move, or why somebody cannot.
  [[nodiscard]] plan plan_for(const std::string& name) const {
    const cluster_state& s = model::state_of(of_.waits);
    plan made;
    std::set<group_row> groups;
    std::vector<pod_row> here;
    for (pod_row p = 0; p < s.pod_slots; ++p) {
      if (is_on_node(s, p) && (*s.nodes)[(*s.node_row_of_slot)[s.live.pod_node[p]]]->name == name) here.push_back(p);
    }
    std::sort(here.begin(), here.end(), [&](pod_row a, pod_row b) { return s.pod_names[a] < s.pod_names[b]; });
    for (const pod_row p : here) {
      made.keeps = why_it_stays(s, p);
      if (!made.keeps.empty()) return made;
      groups.insert(s.pods[p].group);
    }
    made.groups.assign(groups.begin(), groups.end());
    std::sort(made.groups.begin(), made.groups.end(),
              [&](group_row a, group_row b) { return s.group_names[a] < s.group_names[b]; });
    for (const group_row g : made.groups) {
      std::vector<pod_row> mine;
      for (const pod_row p : here) {
        if (s.pods[p].group == g) mine.push_back(p);
      }
      if (breaks_gang(s, g, mine)) mine = pods_of(s, g);
      for (const pod_row p : mine) {
        made.keeps = why_it_stays(s, p);
        if (!made.keeps.empty()) return made;
      }
      made.pods.insert(made.pods.end(), mine.begin(), mine.end());
    }
    made.keeps = over_budget(s, made.pods);
    return made;
  }

  [[nodiscard]] std::string why_it_stays(const cluster_state& s, pod_row p) const {
    const std::string pod = "pod " + std::string(s.pod_names[p]);
    const auto status = static_cast<pod_status>(s.live.pod_state[p]);
    if (s.pods[p].group == no_row || s.pods[p].sub == no_row) return pod + " belongs to no pod group";
    if (!model::is_in(status, model::holding))
      return pod + " is " + std::string(pod_status_name(status)) + ": it cannot be moved";
    const auto starts = first_.find(std::string(s.pod_names[p]));
    const bool ran = starts == first_.end() ? status != pod_status::binding : starts->second.ran;
    if (ran && !s.groups[s.pods[p].group].preemptible)
      return pod + " of " + std::string(s.group_names[s.pods[p].group]) + " is not preemptible";
    if (!s.class_of(p).ask.claims.empty()) return pod + " has resource claims, which stay where their devices are";
    return {};
  }

  static std::vector<pod_row> pods_of(const cluster_state& s, group_row group) {
    std::vector<pod_row> all;
    const model::group_core& g = s.groups[group];
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
        if (is_on_node(s, p)) all.push_back(p);
      }
    }
    return all;
  }

  /// A gang is below its size without these pods: then all its pods start again together.
  static bool breaks_gang(const cluster_state& s, group_row group, const std::vector<pod_row>& without) {
    const model::group_core& g = s.groups[group];
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      const model::sub_info& one = s.subs[sub];
      if (one.is_set) continue;
      const auto gone = std::count_if(without.begin(), without.end(), [&](pod_row p) { return s.pods[p].sub == sub; });
      if (gone > 0 && static_cast<std::int64_t>(s.live.counts[sub].holding) - gone < one.min) return true;
    }
    return false;
  }

  [[nodiscard]] std::string over_budget(const cluster_state& s, const std::vector<pod_row>& pods) const {
    if (!of_.with.options().respect_disruption_budgets) return {};
    std::map<std::string_view, std::int64_t> gone;
    for (const pod_row p : pods) {
      const std::string_view budget = s.told_of(p).budget;
      if (budget.empty() || moved_.contains(std::string(s.pod_names[p]))) continue;
      const auto left = allowed_.find(budget);
      if (left != allowed_.end() && ++gone[budget] > left->second)
        return "disruption budget " + std::string(budget) + " does not let pod " + std::string(s.pod_names[p]) + " go";
    }
    return {};
  }

  // ---- trials

  static table pods_table(const cluster_state& s, const std::vector<pod_row>& pods, pod_status status, bool leave) {
    table t(table_kind::pod, table_op::change);
    table::column& name = t.add(col::pod_name, column_type::string);
    table::column& state = t.add(col::pod_status_column, column_type::u8);
    table::column* const node = leave ? &t.add(col::pod_node, column_type::string) : nullptr;
    table::column* const devices = leave ? &t.add(col::pod_devices, column_type::i64_list) : nullptr;
    for (const pod_row p : pods) {
      name.push(s.pod_names[p]);
      state.push(static_cast<std::uint8_t>(status));
      if (!leave) continue;
      node->push(std::string_view{});
      devices->push_list(std::span<const std::int64_t>{});
    }
    return t;
  }

  /// Of the groups that move, what waits already: it must not take the places.
  [[nodiscard]] std::vector<pod_row> bystanders(const plan& moves) const {
    const cluster_state& s = model::state_of(of_.waits);
    std::vector<pod_row> all;
    for (const group_row group : moves.groups) {
      const model::group_core& g = s.groups[group];
      for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
        for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
          if (static_cast<pod_status>(s.live.pod_state[p]) == pod_status::pending) all.push_back(p);
        }
      }
    }
    return all;
  }

  static table closed(const std::string& node) {
    table t(table_kind::node, table_op::change);
    t.add(col::node_name, column_type::string).push(std::string_view(node));
    t.add(col::node_unschedulable, column_type::u8).push(std::uint8_t{1});
    return t;
  }

  [[nodiscard]] std::vector<table> closing(const std::string& node, const plan& moves) const {
    const cluster_state& s = model::state_of(of_.waits);
    std::vector<table> change;
    change.push_back(closed(node));
    change.push_back(pods_table(s, moves.pods, pod_status::pending, true));
    if (const std::vector<pod_row> rest = bystanders(moves); !rest.empty())
      change.push_back(pods_table(s, rest, pod_status::gated, false));
    return change;
  }

  result<void> close(const std::string& node) {
    if (auto done = of_.world.apply(closed(node)); !done) return done;
    of_.waits = of_.world.take_snapshot();
    return {};
  }

  [[nodiscard]] result<session> place_again(const snapshot& over, const plan& moves) const {
    if (auto on = of_.go_on(); !on) return on.failure();
    result<session> then = of_.with.open(over, of_.now);
    if (!then) return then;
    for (const group_row group : moves.groups) {
      for (std::size_t before = 1, after = 0; before != after;) {  // elastic pods come one after the other
        before = then->decisions().size();
        if (auto done = then->run("allocate", group); !done) return done.failure();
        after = then->decisions().size();
      }
    }
    return then;
  }

  /// Why not all have a place; empty: they have.
  [[nodiscard]] static std::string what_is_missing(const session& then, const plan& moves) {
    std::set<pod_row> placed;
    for (const decision& d : then.decisions()) {
      if (d.kind != decision_kind::bind) return "somebody else would have to leave or wait";
      placed.insert(d.pod);
    }
    for (const pod_row p : moves.pods) {
      if (placed.contains(p)) continue;
      const group_row group = model::state_of(then.base()).pods[p].group;
      std::string why = "pod " + std::string(then.base().pod_name(p)) + " has no other place";
      for (const reason& one : then.reasons()) {
        if (one.group == group) return why + ": " + then.text(one);
      }
      return why;
    }
    return {};
  }

  result<void> carry_out(returned_node& told, const plan& moves, const std::vector<table>& change) {
    const snapshot before = of_.waits;
    const cluster_state& s = model::state_of(before);
    const std::vector<pod_row> rest = bystanders(moves);
    if (auto done = of_.world.apply(change); !done) return done;
    const result<session> then = place_again(of_.world.take_snapshot(), moves);
    if (!then) return then.failure();
    if (std::string missing = what_is_missing(*then, moves); !missing.empty())
      return error{status::internal, "a node that was tried cannot be given back: " + missing, {}};
    const result<std::vector<conflict>> conflicts = of_.world.assume(*then);
    if (!conflicts) return conflicts.failure();
    if (!conflicts->empty()) return error{status::internal, "moves were refused: " + conflicts->front().text, {}};
    std::vector<entity_id> moved;
    for (const pod_row p : moves.pods) moved.emplace_back(entity_kind::pod, s.pods[p].generation, p);
    if (auto done = of_.world.confirm(moved); !done) return done;
    if (!rest.empty()) {
      if (auto done = of_.world.apply(pods_table(s, rest, pod_status::pending, false)); !done) return done;
    }
    for (const pod_row p : moves.pods) tell_move(s, p, *then, told);
    told.returned = true;
    of_.waits = of_.world.take_snapshot();
    return {};
  }

  void tell_move(const cluster_state& s, pod_row p, const session& then, returned_node& told) {
    const std::string pod(s.pod_names[p]);
    const std::string from = (*s.nodes)[(*s.node_row_of_slot)[s.live.pod_node[p]]]->name;
    const bool ran = static_cast<pod_status>(s.live.pod_state[p]) != pod_status::binding;
    const first_place& was = first_.emplace(pod, first_place{from, ran}).first->second;
    if (!was.ran) return;  // it has not started yet, and starts elsewhere
    if (moved_.insert(pod).second) {
      const auto budget = allowed_.find(s.told_of(p).budget);
      if (budget != allowed_.end()) --budget->second;
    }
    for (const decision& d : then.decisions()) {
      if (d.pod != p) continue;
      told.moves.push_back(
          {pod, std::string(s.group_names[s.pods[p].group]), from, std::string(then.base().node_name(d.node))});
    }
  }

  scale_subject& of_;
  const std::set<std::string>& added_;
  scale_down_answer answer_;
  std::map<std::string, std::int64_t, std::less<>> allowed_;  ///< by budget
  std::map<std::string, first_place> first_;                  ///< of pods that have moved
  std::set<std::string> moved_;
};

}  // namespace

result<scale_down_answer> scale_down(scale_subject& of, const std::set<std::string>& added) {
  return give_back(of, added).run();
}

}  // namespace kaisched::engine_detail
