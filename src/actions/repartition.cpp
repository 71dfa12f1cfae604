// Dividing devices anew for groups that ask for instances of divided GPUs which no node has free.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "actions/actions.hpp"
#include "actions/divided_nodes.hpp"
#include "actions/job_queue.hpp"
#include "actions/migration.hpp"
#include "actions/placement.hpp"
#include "actions/victim_judges.hpp"
#include "actions/victim_units.hpp"
#include "framework/members.hpp"
#include "policy/devices/partition/division_memory.hpp"
#include "policy/devices/partition/division_plan.hpp"

namespace kaisched::actions {

namespace {

using devices::device_change;
using devices::division_plan;
using devices::division_problem;
using framework::failure;
using framework::node_set;
using framework::session_state;

/// Plans that turn out not to hold, for rules that the planner does not know, before a group is given up.
constexpr int most_plans = 16;

bool wants_instances(const session_state& c, pod_row pod) {
  const model::pod_class& ask = c.state().class_of(pod);
  for (std::uint32_t d = built_in_dimensions; d < c.state().dims(); ++d) {
    if (ask.requests(d) > 0 && model::is_mig_resource((*c.state().dimensions)[d].name)) return true;
  }
  return false;
}

bool wants_instances(const session_state& c, std::span<const pod_row> pods) {
  return std::any_of(pods.begin(), pods.end(), [&](pod_row p) { return wants_instances(c, p); });
}

/// Some pod set or set of the group must be in one domain of a topology.
bool has_required_level(const session_state& c, group_row group) {
  if (c.topologies == nullptr) return false;
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::topology_ask* ask = c.state().subs[sub].together.get();
    if (ask != nullptr && !ask->required_level.empty()) return true;
  }
  return false;
}

/// What pods of the class hold is one instance: of several what it costs to drain them is no sum over devices.
bool has_one_instance(const session_state& c, const model::pod_class& ask) {
  std::int64_t instances = 0;
  for (std::uint32_t d = built_in_dimensions; d < c.state().dims(); ++d) {
    if (ask.requests(d) > 0 && model::is_mig_resource((*c.state().dimensions)[d].name)) instances += ask.requests(d);
  }
  return instances == 1;
}

/// Consolidation may move it: preemptible, running with a known place, in a group that is bound to no domain.
std::vector<bool> pods_that_may_move(const session_state& c, group_row group) {
  std::vector<bool> may(c.state().pod_slots, false);
  constexpr std::uint8_t unknown = 2;
  std::vector<std::uint8_t> by_class(c.state().class_slots, unknown);
  std::map<group_row, bool> by_group;
  constexpr std::uint32_t runs = model::bit(pod_status::bound) | model::bit(pod_status::running);
  for (pod_row p = 0; p < may.size(); ++p) {
    const model::pod_core& pod = c.state().pods[p];
    if (!pod.live || pod.sub == no_row || pod.group == group) continue;
    if (!model::is_in(static_cast<pod_status>(c.live.pod_state[p]), runs)) continue;
    std::uint8_t& one = by_class[pod.pod_class];
    if (one == unknown) one = has_one_instance(c, c.state().class_of(p)) ? 1 : 0;
    if (one == 0) continue;
    const auto [known, fresh] = by_group.try_emplace(pod.group, false);
    if (fresh) {
      known->second = c.state().groups[pod.group].preemptible && can_lose(c, pod.group) && !migrates(c, pod.group) &&
                      !has_required_level(c, pod.group);
    }
    may[p] = known->second;
  }
  return may;
}

/// What groups that are served one after the other have in common.
struct shared_reading {
  std::vector<bool> may_move;  ///< by pod: for the group that is served now
  std::optional<divided_nodes_reader> nodes;
  devices::division_memory memory;
};

class divider {
 public:
  divider(session_state& c, group_row group, shared_reading& shared)
      : c_(c), group_(group), shared_(shared), here_(c.state().node_count(), 0) {}

  /// True: the statement holds the divisions and the claims of the group, or its starts where nothing is divided: it
  /// has a place in which other pods of it had stood in the way. False: the statement is as before.
  result<bool> run() {
    chunk_ = c_.chunks.chunk_of(group_, false);
    if (!wants_instances(c_, chunk_)) return false;
    if (auto done = read_nodes(); !done) return done.failure();
    if (nodes_->nodes.empty()) return false;
    add_pods();
    const std::vector<node_set> domains = domains_of_group();
    if (domains.empty()) return try_plans(nullptr);
    return try_domains(domains);
  }

 private:
  // ---- the problem --------------------------------------------------------------------------------------------------

  /// Who may be drained depends on the group.
  result<void> read_nodes() {
    const bool drains = c_.options.repartition_drain;
    victim_judges judges(c_);
    if (drains) {
      if (auto done = judges.ask(group_); !done) return done;
    }
    if (c_.options.reference_path) {
      shared_.nodes.reset();
      shared_.memory = {};
    }
    if (!shared_.nodes) shared_.nodes.emplace(c_, drains ? &shared_.may_move : nullptr);
    if (drains) {
      std::vector<bool> may_move = pods_that_may_move(c_, group_);
      for (pod_row p = 0; judges.used() && p < may_move.size(); ++p) {
        if (may_move[p] && judges.spare(c_.state().pods[p].group)) may_move[p] = false;
      }
      shared_.may_move.swap(may_move);
      for (pod_row p = 0; p < may_move.size(); ++p) {
        if (shared_.may_move[p] != may_move[p]) shared_.nodes->note_change_of(p);
      }
    }
    nodes_ = &shared_.nodes->read();
    shared_.memory.open(nodes_->problem);
    for (devices::plannable_node& node : nodes_->problem.nodes) {
      if (node.kind == devices::unknown_kind) node.kind = shared_.memory.kind_of(node);
    }
    return {};
  }

  void add_pods() {
    division_problem& problem = nodes_->problem;
    problem.classes.clear();
    problem.pods.clear();
    std::map<class_row, std::size_t> known;
    for (const pod_row p : chunk_) {
      if (!wants_instances(c_, p)) continue;
      const class_row kind = c_.state().pods[p].pod_class;
      const auto [at, fresh] = known.try_emplace(kind, problem.classes.size());
      if (fresh) {
        problem.classes.push_back(c_.state().class_of(p).ask.request);
        problem.classes.back().resize(c_.state().dims(), 0);
        kinds_.push_back(kind);
      }
      problem.pods.push_back(at->second);
      pods_.push_back(p);
    }
  }

  /// Domains one of which the whole group must be in; none: anywhere.
  [[nodiscard]] std::vector<node_set> domains_of_group() const {
    std::vector<node_set> found;
    const model::topology_ask* ask =
        c_.topologies == nullptr ? nullptr : c_.state().subs[c_.state().groups[group_].first_sub].together.get();
    if (ask == nullptr || ask->required_level.empty()) return found;
    for (const policy::topology::domain_tree& tree : *c_.topologies) {
      if (tree.name != ask->topology) continue;
      const std::uint32_t level = tree.level_named(ask->required_level);
      std::map<std::uint32_t, std::size_t> known;
      for (node_row row = 0; row < c_.state().node_count(); ++row) {
        if (tree.leaf[row] == no_row) continue;
        const auto [at, fresh] = known.try_emplace(tree.domain_of(row, level), found.size());
        if (fresh) found.emplace_back(c_.state().node_count(), std::uint8_t{0});
        found[at->second][row] = 1;
      }
    }
    return found;
  }

  // ---- plans --------------------------------------------------------------------------------------------------------

  /// The domain with the cheapest plan that holds.
  result<bool> try_domains(const std::vector<node_set>& domains) {
    std::vector<std::pair<devices::division_cost, std::size_t>> order;
    for (std::size_t i = 0; i < domains.size(); ++i) {
      offer_nodes(&domains[i]);
      const division_plan plan = make_plan();
      if (plan.found) order.emplace_back(plan.cost, i);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [cost, i] : order) {
      result<bool> done = try_plans(&domains[i]);
      if (!done || *done) return done;
    }
    return false;
  }

  /// The nodes that classes of pods may go to. What earlier plans have met is forgotten.
  void offer_nodes(const node_set* among) {
    for (std::size_t n = 0; n < nodes_->nodes.size(); ++n) {
      const node_row row = nodes_->nodes[n].row;
      std::vector<std::uint8_t>& accepts = nodes_->problem.nodes[n].accepts;
      accepts.assign(kinds_.size(), 0);
      if ((among != nullptr && (*among)[row] == 0) || c_.constraints.closes(group_, row)) continue;
      for (std::size_t k = 0; k < kinds_.size(); ++k) accepts[k] = c_.choice.accepts(c_, kinds_[k], row) ? 1 : 0;
    }
  }

  division_plan make_plan() {
    return devices::plan_divisions(nodes_->problem, c_.options.repartition_steps, shared_.memory);
  }

  /// What a plan meets that the planner does not know: a pod that a node refuses, or one that finds no other place.
  struct obstacle {
    bool refused = false;
    std::size_t pod = 0;         ///< of those of the problem, that its node refuses
    std::vector<pod_row> users;  ///< who have to stay
  };

  result<bool> try_plans(const node_set* among) {
    offer_nodes(among);
    result<bool> done = try_plans_on(among);
    for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) kept->first->cost = kept->second;
    for (devices::plannable_node* node : kept_nodes_) node->kind = shared_.memory.kind_of(*node);
    kept_.clear();
    kept_nodes_.clear();
    return done;
  }

  result<bool> try_plans_on(const node_set* among) {
    division_problem& problem = nodes_->problem;
    for (int i = 0; i < most_plans; ++i) {
      ++c_.run.sets_tried;
      const division_plan plan = make_plan();
      if (!plan.found) return false;
      const std::uint32_t start = c_.statement.depth();
      obstacle met;
      result<bool> done = apply(problem, plan, among, met);
      if (!done || *done) return done;
      c_.statement.rollback(start);
      if (met.refused) {
        problem.nodes[plan.node_of_pod[met.pod]].accepts[problem.pods[met.pod]] = 0;
      } else if (!met.users.empty()) {
        keep(problem, met.users);
      } else {
        return false;
      }
    }
    return false;
  }

  /// From now on, until another plan is begun, these pods stay where they are.
  void keep(division_problem& problem, std::span<const pod_row> users) {
    for (std::size_t n = 0; n < nodes_->nodes.size(); ++n) {
      bool changes = false;
      for (std::size_t d = 0; d < nodes_->nodes[n].devices.size(); ++d) {
        const known_device& known = nodes_->nodes[n].devices[d];
        for (std::size_t i = 0; i < known.users.size(); ++i) {
          if (std::find(users.begin(), users.end(), known.users[i]) == users.end()) continue;
          devices::present_instance& instance = problem.nodes[n].devices[d].instances[i];
          kept_.emplace_back(&instance, instance.cost);
          instance.cost = -1;
          changes = true;
        }
      }
      if (!changes) continue;
      problem.nodes[n].kind = shared_.memory.kind_of(problem.nodes[n]);
      kept_nodes_.push_back(&problem.nodes[n]);
    }
  }

  result<bool> apply(const division_problem& problem, const division_plan& plan, const node_set* among, obstacle& met) {
    std::vector<std::pair<pod_row, node_row>> moved;
    for (const device_change& one : plan.changes) {
      const known_device& known = nodes_->nodes[one.node].devices[one.device];
      for (const std::size_t i : one.gone) {
        if (known.users[i] == no_row) continue;
        if (c_.access.budgets->refuses(known.users[i])) {
          met.users.push_back(known.users[i]);
          return false;
        }
        moved.emplace_back(known.users[i], nodes_->nodes[one.node].row);
        c_.statement.evict(known.users[i]);
      }
    }
    for (const device_change& one : plan.changes) c_.statement.divide(division_of(problem, one));
    result<bool> placed = has_required_level(c_, group_) ? place_in_domains(plan, among) : place_as_planned(plan, met);
    if (!placed || !*placed) return placed;
    for (const auto& [pod, from] : moved) {
      node_set elsewhere(c_.state().node_count(), 1);
      elsewhere[from] = 0;
      result<framework::place> to = c_.choice.best(c_, pod, true, {&elsewhere, nullptr});
      if (!to) return to.failure();
      if (to->row == no_row) {
        met.users.push_back(pod);
        return false;
      }
      c_.statement.pipeline(pod, to->row, to->devices, to->groups);
    }
    return true;
  }

  [[nodiscard]] framework::division division_of(const division_problem& problem, const device_change& change) const {
    const known_node& node = nodes_->nodes[change.node];
    const known_device& known = node.devices[change.device];
    const devices::plannable_device& form = problem.nodes[change.node].devices[change.device];
    const devices::plannable_model& model = problem.models[form.model];
    framework::division made;
    made.group = group_;
    made.node = node.row;
    made.device = known.device;
    made.was_whole = form.whole;
    made.drain_cost = change.cost.drained;
    for (std::size_t i = 0; i < known.instances.size(); ++i) {
      const bool goes = std::binary_search(change.gone.begin(), change.gone.end(), i);
      const bool coming = known.users[i] != no_row || known.coming[i];
      (!goes ? made.layout : coming ? made.coming : made.idle).push_back(known.instances[i]);
    }
    for (const auto& [profile, place] : change.made) {
      made.made.push_back({model.table->profiles[profile].name, place.start});
      made.layout.push_back(made.made.back());
    }
    std::sort(made.layout.begin(), made.layout.end(),
              [](const model::mig_instance& a, const model::mig_instance& b) { return a.start < b.start; });
    return made;
  }

  // ---- pods ---------------------------------------------------------------------------------------------------------

  result<bool> place_in_domains(const division_plan& plan, const node_set* among) {
    failure why;
    return place_group(c_, group_, {!plan.changes.empty(), among, nullptr}, why);
  }

  /// Limits and quotas are asked pod by pod, as everywhere.
  bool queues_refuse(pod_row pod) {
    const model::pod_class& ask = c_.state().class_of(pod);
    failure why;
    return c_.has_proportion && c_.has_predicates && !c_.queues.depend_on_node(ask) &&
           c_.queues.refuse(group_, c_.queues.asked(ask), std::span(&pod, 1), why);
  }

  result<bool> place_as_planned(const division_plan& plan, obstacle& met) {
    std::size_t next = 0;
    for (const pod_row pod : chunk_) {
      const bool planned = next < pods_.size() && pods_[next] == pod;
      if (queues_refuse(pod)) return false;
      framework::node_scope scope;
      const node_row row = planned ? nodes_->nodes[plan.node_of_pod[next]].row : no_row;
      if (planned) {
        here_[row] = 1;
        scope.among = &here_;
      }
      result<framework::place> found = c_.choice.best(c_, pod, !plan.changes.empty(), scope);
      if (planned) here_[row] = 0;
      if (!found) return found.failure();
      if (found->row == no_row) {
        met.refused = planned;
        met.pod = next;
        return false;
      }
      if (found->must_wait) {
        c_.statement.pipeline(pod, found->row, found->devices, found->groups);
      } else {
        c_.statement.allocate(pod, found->row, found->devices, found->groups);
      }
      if (planned) ++next;
    }
    return true;
  }

  session_state& c_;
  group_row group_;
  shared_reading& shared_;
  framework::pod_list chunk_;
  std::vector<pod_row> pods_;     ///< of the chunk, those of the problem
  std::vector<class_row> kinds_;  ///< the classes of the problem
  divided_nodes* nodes_ = nullptr;
  std::vector<std::pair<devices::present_instance*, std::int64_t>> kept_;  ///< of pods that have to stay, with the cost
  std::vector<devices::plannable_node*> kept_nodes_;
  node_set here_;  ///< no node, but for the one that is asked about
};

/// Groups for which there was no plan, by what tells them apart: there is none for others like them until something is
/// placed.
using hopeless_groups = std::set<std::vector<std::uint32_t>>;

/// Verdicts about pods depend on nothing but their class and queue.
bool judges_by_class(const session_state& c, pod_row pod) {
  static constexpr std::string_view by_class[] = {"numa", "gputypes", "dynamicresources"};
  const bool own_filter = std::any_of(c.parts.begin(), c.parts.end(), [](const auto& part) {
    return (part->capabilities() & part_filters_nodes) != 0 && !policy::is_built_in_filter(part->name()) &&
           std::find(std::begin(by_class), std::end(by_class), part->name()) == std::end(by_class);
  });
  return !own_filter && !c.constraints.counts_gpus_of(pod) && !c.constraints.tells_apart(c.access, pod) &&
         policy::ignores_other_pods(c.access, c.state().class_of(pod));
}

/// Empty: the group is like no other.
std::vector<std::uint32_t> likeness_of(session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  if (c.options.repartition_drain || g.semi_preemptible || has_required_level(c, group)) return {};
  std::vector<std::uint32_t> key;
  for (const pod_row p : c.chunks.chunk_of(group, false)) {
    if (!judges_by_class(c, p)) return {};
    key.push_back(c.state().pods[p].pod_class);
  }
  std::sort(key.begin(), key.end());
  key.push_back(g.queue);
  key.push_back(g.preemptible ? 1 : 0);
  key.push_back(c.constraints.kind_of(group));
  return key;
}

/// What fits without a division is placed as `allocate` does it. The statement is committed or empty afterwards.
result<bool> serve(session_state& c, group_row group, shared_reading& shared, hopeless_groups& hopeless) {
  if (c.groups.held.has(group)) return false;  // it has a place
  ++c.results.statistics.back().groups_tried;
  failure why;
  const bool had_started = framework::count_pods(c, group, &model::sub_counts::holding) > 0;
  result<bool> placed = place_group(c, group, {}, why);
  if (!placed) return placed;
  const bool refused = why.what == constraint::queue_limit || why.what == constraint::queue_quota;
  if (!*placed && !refused) {
    std::vector<std::uint32_t> key = likeness_of(c, group);
    if (!hopeless.contains(key)) placed = divider(c, group, shared).run();
    if (!placed) return placed;
    if (!*placed && !key.empty()) hopeless.insert(std::move(key));
  }
  if (!*placed) {
    c.results.failures.push_back(why);
    return false;
  }
  hopeless.clear();
  const bool divides = std::any_of(c.statement.log.begin(), c.statement.log.end(), [](const framework::operation& op) {
    return op.kind == framework::operation_kind::divide;
  });
  const bool waits = divides || framework::must_wait_as_a_whole(c, group);
  if (waits && !divides) c.statement.convert_to_pipelined(group);
  result<bool> starts = waits ? result<bool>(true) : permit_start(c, group);
  if (!starts || !*starts) return starts;
  if (shared.nodes) shared.nodes->note_changes();
  if (auto done = commit_group(c, group, waits, had_started); !done) return done.failure();
  return true;
}

}  // namespace

result<void> repartition(session_state& c) {
  if (c.compat() || !c.state().has_mig_resources()) return {};
  std::vector<group_row> groups;
  for (const group_row g : groups_to_start(c)) {
    if (wants_instances(c, c.chunks.chunk_of(g, false))) groups.push_back(g);
  }
  if (groups.empty()) return {};
  const bool stops_at_head =
      std::find(c.options.actions.begin(), c.options.actions.end(), "backfill") != c.options.actions.end();
  const bool shared_order = has_shared_order(c);
  hopeless_groups hopeless;
  shared_reading shared;
  std::optional<job_queue> queue(std::in_place, c, 0);
  if (auto done = queue->fill(groups); !done) return done;
  while (!queue->empty()) {
    if (auto on = c.run.go_on(); !on) return on;
    result<group_row> next = queue->pop();
    if (!next) return next.failure();
    const group_row group = *next;
    result<bool> placed = serve(c, group, shared, hopeless);
    if (!placed) return placed.failure();
    if (!*placed && stops_at_head) {
      result<bool> head = is_head(c, c.results.failures.back());
      if (!head) return head.failure();
      if (*head) return {};
    }
    const bool competes = *placed && framework::count_pods(c, group, &model::sub_counts::pending) > 0;
    if (shared_order && !competes) std::erase(groups, group);
    if (shared_order && *placed) {
      queue.emplace(c, 0);
      if (auto done = queue->fill(groups); !done) return done;
    } else if (competes) {
      if (auto done = queue->push(group); !done) return done;
    }
  }
  return {};
}

}  // namespace kaisched::actions
