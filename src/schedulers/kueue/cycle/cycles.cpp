#include "schedulers/kueue/cycle/cycles.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "actions/runtime.hpp"
#include "schedulers/kueue/rules/scan_memory.hpp"

namespace kaisched::kueue {

namespace {

class cycle_runner {
 public:
  cycle_runner(cluster_view& world, const scheduler_setup& setup, const framework::session_state& c,
               session_places* places)
      : world_(world),
        setup_(setup),
        c_(c),
        places_(places),
        lines_(world.queues.size()),
        lives_(world.waiting.size()),
        first_new_(world.state.running.size()) {
    world.state.listener = places;
    make_lines();
  }

  [[nodiscard]] result<void> run(framework::session_state& c) {
    std::size_t idle = 0;
    for (;;) {
      if (auto on = c.run.go_on(); !on) return on;
      moved_ = false;
      goes_on_ = false;
      if (!run_one()) return {};
      if (moved_) {
        idle = 0;
      } else if (!goes_on_ || ++idle > world_.flavors.size()) {
        return {};
      }
    }
  }

  /// What was done, and why workloads wait that were not admitted.
  [[nodiscard]] cycle_decisions take_decisions() {
    cycle_decisions made;
    for (std::size_t i = 0; i < lives_.size(); ++i) {
      if (!lives_[i].admitted) made.reasons.push_back(reason_of(i));
    }
    made.steps = std::move(steps_);
    return made;
  }

 private:
  /// Workloads of a queue, in its order.
  struct line {
    std::vector<std::size_t> members;
    std::set<std::size_t> active;       ///< places in that list
    std::optional<std::size_t> sticky;  ///< the one that waits for victims
    std::int64_t generation = 0;        ///< how often more has become free
  };
  /// What is known about a workload that waits.
  struct life {
    std::size_t place = 0;    ///< in its line
    std::size_t running = 0;  ///< workload of the state, once it is admitted
    std::uint32_t shape = 0;
    bool admitted = false;
    bool taken_back = false;
    std::optional<scan_memory> scan;
    std::optional<place_failure> no_places;
  };

  /// By priority, age and name, as groups wait in the session.
  void make_lines() {
    std::map<std::string, std::uint32_t> shapes;
    for (std::size_t i = 0; i < world_.waiting.size(); ++i) {
      const waiting_workload& one = world_.waiting[i];
      lives_[i].shape = shapes.try_emplace(shape_of(one), static_cast<std::uint32_t>(shapes.size())).first->second;
      lines_[one.queue].members.push_back(i);
      waiting_of_.emplace(one.group, i);
    }
    for (line& of : lines_) {
      std::ranges::stable_sort(of.members, [&](std::size_t a, std::size_t b) {
        const cycle_head& x = world_.waiting[a].head;
        const cycle_head& y = world_.waiting[b].head;
        if (x.priority != y.priority) return x.priority > y.priority;
        return x.queued_at != y.queued_at ? x.queued_at < y.queued_at : x.name < y.name;
      });
      for (std::size_t place = 0; place < of.members.size(); ++place) {
        const std::size_t workload = of.members[place];
        lives_[workload].place = place;
        bool& refused = world_.waiting[workload].is_refused;
        for (const waiting_set& set : world_.waiting[workload].sets)
          refused = refused || (places_ != nullptr && !places_->has_levels(set));
        if (!refused) of.active.insert(place);
      }
    }
  }

  /// Workloads of one shape find the same.
  [[nodiscard]] std::string shape_of(const waiting_workload& one) const {
    std::string text = fmt::format("{}", one.head.priority);
    for (std::size_t i = 0; i < one.sets.size(); ++i) {
      const waiting_set& set = one.sets[i];
      text += fmt::format(";{},{},{},{},{},{}", set.kind, set.pods.size(),
                          one.head.fewest.empty() ? -1 : one.head.fewest[i], one.head.demands[i].group.empty(),
                          set.required, set.preferred);
    }
    return text;
  }

  [[nodiscard]] cycle_rules rules() const {
    cycle_rules made;
    made.by_shares = setup_.by_shares;
    made.fair = setup_.fair;
    made.now = c_.now;
    made.fewer_pods = setup_.fewer_pods;
    made.places = places_;
    if (places_ != nullptr) made.has_topology = places_->has_topology();
    return made;
  }

  /// False if no workload is left to look at.
  bool run_one() {
    ++cycle_;
    std::vector<cycle_head> heads;
    std::vector<std::size_t> chosen;
    for (std::size_t q = 0; q < lines_.size(); ++q) {
      const line& of = lines_[q];
      if (of.active.empty()) continue;
      const bool sticks = of.sticky && world_.strict_order[q] == 0 && of.active.contains(*of.sticky);
      const std::size_t place = sticks ? *of.sticky : *of.active.begin();
      chosen.push_back(of.members[place]);
      cycle_head& head = heads.emplace_back(world_.waiting[chosen.back()].head);
      head.preemptor = of.sticky == place;
      const std::optional<scan_memory>& scan = lives_[chosen.back()].scan;
      if (scan && !is_outdated(*scan, scan_now(chosen.back()), true)) head.progress = scan->progress;
    }
    if (heads.empty()) return false;
    if (places_ != nullptr) {
      std::vector<const waiting_workload*> workloads;
      for (const std::size_t one : chosen) workloads.push_back(&world_.waiting[one]);
      places_->start(std::move(workloads));
    }
    quota_tree before = world_.state.tree;
    cycle_result made = run_cycle(world_.state, world_.queues, heads, rules());
    world_.state.tree = std::move(before);
    for (const std::size_t number : made.order) settle(number, chosen[number], made.heads[number]);
    if (places_ != nullptr) places_->finish();
    return true;
  }

  void settle(std::size_t number, std::size_t workload, head_result& result) {
    if (lives_[workload].taken_back) return;  // its group was told to leave in this very cycle
    remember(workload, result);
    const bool left = has_flavors_left(result.assignment.progress);
    switch (result.outcome) {
      case cycle_outcome::admitted:
        return admit(number, workload, result);
      case cycle_outcome::preempts:
        if (c_.groups.waits_after_eviction(world_.waiting[workload].group)) break;
        return tell(workload, result);
      case cycle_outcome::deferred:
        lines_[world_.waiting[workload].queue].sticky = lives_[workload].place;
        return;
      case cycle_outcome::overlap:
      case cycle_outcome::crowded_out:
        goes_on_ = goes_on_ || left;
        return;
      default:
        break;
    }
    if (left) {
      goes_on_ = true;
    } else if (world_.strict_order[world_.waiting[workload].queue] == 0) {
      put_aside(workload);
    }
  }

  /// With all of its shape.
  void put_aside(std::size_t workload) {
    line& of = lines_[world_.waiting[workload].queue];
    moved_ = true;
    std::erase_if(of.active,
                  [&](std::size_t place) { return lives_[of.members[place]].shape == lives_[workload].shape; });
  }

  void admit(std::size_t number, std::size_t workload, head_result& result) {
    const waiting_workload& from = world_.waiting[workload];
    running_workload& made = world_.state.running.emplace_back();
    made.queue = world_.queues[from.queue].node;
    made.priority = from.head.priority;
    made.queued_at = from.head.queued_at;
    made.reserved_at = actions::later_by(c_.now, cycle_);
    made.id = from.head.name;
    made.name = from.head.name;
    made.usage = result.assignment.usage;
    for (const cell_amount& one : made.usage) made.cells.push_back(one.cell);
    world_.state.hidden.push_back(!c_.state().groups[from.group].preemptible || c_.groups.evicted_enough(from.group));
    world_.state.tree.add_usage(made.queue, made.usage);
    if (places_ != nullptr) places_->keep(number, result.assignment, result.places);
    line& of = lines_[from.queue];
    of.active.erase(lives_[workload].place);
    if (of.sticky == lives_[workload].place) of.sticky.reset();
    lives_[workload].admitted = true;
    lives_[workload].running = world_.state.running.size() - 1;
    step_of_.push_back(steps_.size());
    steps_.push_back({workload, {}, std::move(result.assignment), std::move(result.places)});
    moved_ = true;
  }

  void tell(std::size_t workload, head_result& result) {
    lines_[world_.waiting[workload].queue].sticky = lives_[workload].place;
    std::vector<quota_victim> victims;
    for (const quota_victim& one : result.victims) {
      if (one.workload >= first_new_) {
        take_back(one.workload);
      } else if (!world_.state.running[one.workload].evicted) {
        world_.state.running[one.workload].evicted = true;
        withdraw(world_.running[one.workload]);
        victims.push_back(one);
      }
    }
    if (victims.empty()) return;
    moved_ = true;
    steps_.push_back({workload, std::move(victims), {}, {}});
  }

  void take_back(std::size_t running) {
    running_workload& one = world_.state.running[running];
    world_.state.tree.remove_usage(one.queue, one.usage);
    one.usage.clear();
    one.cells.clear();
    world_.state.hidden[running] = true;
    if (places_ != nullptr) places_->forget(running);
    admission_step& step = steps_[step_of_[running - first_new_]];
    step.undone = true;
    lives_[step.workload].admitted = false;
    lives_[step.workload].taken_back = true;
    moved_ = true;
    wake(world_.state.tree.root(one.queue));
  }

  /// A group that leaves does not grow.
  void withdraw(group_row group) {
    const auto found = waiting_of_.find(group);
    if (found == waiting_of_.end()) return;
    life& of = lives_[found->second];
    if (of.admitted) return take_back(of.running);
    of.taken_back = true;
    line& in = lines_[world_.waiting[found->second].queue];
    in.active.erase(of.place);
    if (in.sticky == of.place) in.sticky.reset();
  }

  /// What comes free is of use to all of the tree.
  void wake(node_id root) {
    for (std::size_t q = 0; q < lines_.size(); ++q) {
      if (world_.state.tree.root(world_.queues[q].node) != root) continue;
      line& of = lines_[q];
      ++of.generation;
      for (std::size_t place = 0; place < of.members.size(); ++place) {
        const std::size_t workload = of.members[place];
        const life& known = lives_[workload];
        if (!known.admitted && !known.taken_back && !world_.waiting[workload].is_refused) of.active.insert(place);
      }
    }
  }

  [[nodiscard]] scan_memory scan_now(std::size_t workload) const {
    scan_memory now;
    now.cycle = cycle_;
    now.generation = lines_[world_.waiting[workload].queue].generation;
    return now;
  }

  /// How far the search for flavors came, and why there are no places.
  void remember(std::size_t workload, const head_result& result) {
    life& of = lives_[workload];
    of.scan.reset();
    of.no_places.reset();
    switch (result.outcome) {
      case cycle_outcome::no_fit:
      case cycle_outcome::no_candidates:
      case cycle_outcome::overlap:
      case cycle_outcome::crowded_out:
        of.scan = scan_now(workload);
        of.scan->progress = result.assignment.progress;
        break;
      default:
        break;
    }
    for (const pod_set_assignment& set : result.assignment.pod_sets) {
      if (set.topology_failed && places_ != nullptr) of.no_places = places_->failure(set.topology_reason);
    }
  }

  [[nodiscard]] framework::failure reason_of(std::size_t workload) const {
    const waiting_workload& of = world_.waiting[workload];
    framework::failure why;
    why.group = of.group;
    if (of.is_refused) {
      why.what = constraint::plugin;
      return why;
    }
    const quota_tree& tree = world_.state.tree;
    const node_id node = world_.queues[of.queue].node;
    why.queue = world_.queue_rows[of.queue];
    for (std::uint32_t r = 0; r < tree.cells().resources; ++r) {
      amount need;
      std::vector<bool> is_none(tree.cells().flavors);  // for the pods that ask for it
      for (const pod_set_demand& demand : of.head.demands) {
        for (const resource_amount& one : demand.requests) {
          if (one.resource != r) continue;
          need += amount(one.value);
          for (std::size_t f = 0; f < demand.mismatches.size(); ++f) is_none[f] = is_none[f] || demand.mismatches[f];
        }
      }
      amount have;
      amount most;
      for (std::uint32_t f = 0; f < tree.cells().flavors; ++f) {
        if (is_none[f]) continue;
        have = std::max(have, tree.available(node, tree.cells().at(f, r)));
        most = std::max(most, tree.potentially_available(node, tree.cells().at(f, r)));
      }
      if (need <= have) continue;
      why.what = need <= most ? constraint::queue_quota : constraint::queue_limit;
      why.resource = r;
      why.need = need.value();
      why.have = (need <= most ? have : most).value();
      return why;
    }
    if (lives_[workload].no_places) {
      const place_failure& places = *lives_[workload].no_places;
      why.domains.push_back({places.asked, places.fits, 1});
      return why;
    }
    why.what = constraint::plugin;  // others have it reserved
    return why;
  }

  cluster_view& world_;
  const scheduler_setup& setup_;
  const framework::session_state& c_;
  session_places* places_;
  std::vector<line> lines_;
  std::vector<life> lives_;
  std::map<group_row, std::size_t> waiting_of_;  ///< workloads that wait, by group
  std::vector<admission_step> steps_;
  std::size_t first_new_;             ///< workloads of the state from here on were admitted here
  std::vector<std::size_t> step_of_;  ///< by workload of the state, of those
  std::int64_t cycle_ = 0;
  bool moved_ = false;
  bool goes_on_ = false;  ///< a search for flavors has not come to its end
};

}  // namespace

result<cycle_decisions> run_cycles(cluster_view& world, const scheduler_setup& setup, framework::session_state& c,
                                   session_places* places) {
  cycle_runner cycles(world, setup, c, places);
  if (auto done = cycles.run(c); !done) return done.failure();
  return cycles.take_decisions();
}

}  // namespace kaisched::kueue
