// Gangs that take from gangs: the victims of a job are chosen for all that it lacks at once, in bundles, and are
// committed with the places of its tasks.
//
// Source: volcano-sh/volcano, pkg/scheduler/actions/gangpreempt, gangreclaim and utils.
#include <algorithm>
#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policy/reclaim/gang_bundles.hpp"
#include "schedulers/volcano/cycle/actions.hpp"
#include "schedulers/volcano/cycle/job_context.hpp"
#include "schedulers/volcano/cycle/starving_jobs.hpp"

namespace kaisched::volcano {

using policy::bundle_kind;
using policy::gang_needs;
using policy::resource_list;
using policy::victim_bundle;

namespace {

/// A job as the rules of bundles see it.
policy::gang_needs needs_of(const cluster_state& cluster, const job_state& job) {
  policy::gang_needs made;
  made.uid = job.name;
  made.queue = cluster.queues[job.queue].name;
  made.priority = job.priority;
  made.min_available = job.min_available;
  made.role_minimum.insert(job.minimums.by_role.begin(), job.minimums.by_role.end());
  made.set_minimum = job.min_sub_jobs;
  for (const sub_job_state& one : job.sub_jobs) made.sub_groups.push_back({one.name, one.group, one.min_available});
  for (const row task : job.tasks) {
    const task_state& from = cluster.tasks[task];
    policy::gang_task& one = made.tasks.emplace_back();
    one.uid = from.uid;
    one.role = from.role;
    one.sub_group = job.sub_jobs[from.sub_job].name;
    one.priority = from.priority;
    one.holds = is_allocated(from.status) || from.status == task_status::succeeded;
    one.needs_none = from.status == task_status::pending && from.best_effort;
    one.request = from.request;
  }
  return made;
}

/// How many tasks of each size the nodes would take if nothing refused them: less than there are, and nobody has to
/// try. Rooms only grow as victims go.
class rooms {
 public:
  rooms(const session& of, const std::vector<row>& nodes, const std::vector<row>& tasks) {
    for (const row task : tasks) {
      const policy::resource_list& asked = of.cluster().tasks[task].first_request;
      const auto known = std::ranges::find_if(sizes_, [&](const size& one) { return one.asked == asked; });
      ++(known == sizes_.end() ? sizes_.emplace_back(size{asked, 0, 0}) : *known).wanted;
    }
    for (const row node : nodes) {
      policy::resource_list& free = free_[node] = of.cluster().nodes[node].future_idle();
      count(free, 1);
    }
  }

  void add(const task_state& victim) {
    policy::resource_list& free = free_.at(victim.node);
    count(free, -1);
    free.add(victim.request);
    count(free, 1);
  }
  [[nodiscard]] bool may_suffice() const {
    return std::ranges::all_of(sizes_, [](const size& one) { return one.places >= one.wanted; });
  }

 private:
  struct size {
    policy::resource_list asked;
    std::int64_t wanted;
    std::int64_t places;
  };

  void count(const policy::resource_list& free, std::int64_t sign) {
    for (size& one : sizes_) {
      policy::resource_list left = free;
      for (std::int64_t places = 0; places < one.wanted && fits(one.asked, left); ++places) {
        left.subtract(one.asked);
        one.places += sign;
      }
    }
  }

  std::vector<size> sizes_;
  std::map<row, policy::resource_list> free_;  ///< by node
};

class gang_taking {
 public:
  gang_taking(session& of, const gang_eviction_settings& settings, taking how)
      : session_(of), settings_(settings), how_(how) {}

  decisions run() {
    queue_heap queues(queue_first{&session_});
    jobs_by_queue starving(session_);
    std::set<row> seen;
    for (row job = 0; job < session_.cluster().jobs.size(); ++job) {
      if (!may_take(session_, job)) continue;
      if (seen.insert(job_of(job).queue).second) queues.push(job_of(job).queue);
      if (session_.is_starving(job) && job_of(job).evicts) starving.push(job);
    }
    while (!queues.empty()) {
      const row queue = queues.pop();
      if (how_ == taking::reclaim && session_.is_overused(queue)) continue;
      while (job_heap* jobs = starving.left_in(queue)) {
        const row job = jobs->pop();
        statement made(session_);
        take_in_domains(made, job);
        commit_if_pipelined(session_, job, made, committed_);
      }
    }
    return std::move(committed_);
  }

 private:
  [[nodiscard]] const job_state& job_of(row job) const { return session_.cluster().jobs[job]; }
  [[nodiscard]] const task_state& task_of(row task) const { return session_.cluster().tasks[task]; }

  /// What a job takes victims for: all that it lacks, or, if it runs, the first sub-job that lacks some.
  struct demand {
    std::vector<row> tasks;
    std::vector<row> first;  ///< of its first sub-job, all of which have to find a place
    policy::resource_list asked;
  };
  [[nodiscard]] demand demand_of(row job) const {
    demand made;
    job_context sheet = context_of(session_, job);
    const bool runs = session_.is_ready(job);
    while (!sheet.sub_jobs.empty() && (made.tasks.empty() || !runs)) {
      task_heap& tasks = sheet.sheets.at(sheet.sub_jobs.pop()).tasks;
      while (!tasks.empty()) made.tasks.push_back(tasks.pop());
      if (made.first.empty()) made.first = made.tasks;
    }
    for (const row task : made.tasks) made.asked.add(task_of(task).first_request);
    return made;
  }

  void take_in_domains(statement& made, row job) {
    const demand lacks = demand_of(job);
    if (lacks.tasks.empty()) return;
    if (how_ == taking::reclaim && !session_.is_preemptive(job_of(job).queue, lacks.tasks)) return;
    const std::string& top = session_.cluster().top_domain;
    const auto gradients = session_.gradients(job_of(job), nullptr, top, policy::domain_search::evict);
    const bool is_bound = has_hard_topology(job_of(job));
    std::vector<std::string> domains = policy::pick_domains(gradients, settings_.most_domains, {});
    if (domains.empty() && !is_bound) domains.push_back(top);
    for (const std::string& domain : domains) {
      if (take_in(made, job, lacks, domain)) return;
    }
  }

  /// Takes bundle after bundle until all tasks have places.
  bool take_in(statement& made, row job, const demand& lacks, const std::string& domain) {
    const std::vector<row> nodes = nodes_in(session_, domain);
    const std::vector<offer> bundles = bundles_in(job, lacks, nodes);
    if (bundles.empty()) return false;
    policy::resource_list available;
    for (const row node : nodes) {
      available.add(session_.cluster().nodes[node].idle);
      available.add(session_.cluster().nodes[node].releasing);
    }
    rooms room(session_, nodes, lacks.first);
    statement evictions(session_);
    for (const offer& bundle : bundles) {
      for (const row victim : *bundle.tasks) {
        room.add(task_of(victim));
        available.add(task_of(victim).request);
        evictions.evict(victim);
      }
      if (!fits(lacks.asked, available) || !room.may_suffice() || !place_all(evictions, job, domain)) continue;
      made.merge(evictions);
      return true;
    }
    evictions.discard();
    return false;
  }

  [[nodiscard]] bool is_candidate(row job, row task) const {
    const task_state& one = task_of(task);
    if (!one.preemptable || one.job == job || one.job == no_row) return false;
    const job_state& taker = job_of(job);
    const job_state& theirs = job_of(one.job);
    if (theirs.queue == no_row) return false;
    if (how_ == taking::preempt) {
      return (one.status == task_status::running || one.status == task_status::bound) && theirs.queue == taker.queue &&
             theirs.priority < taker.priority;
    }
    return one.status == task_status::running && theirs.queue != taker.queue &&
           session_.cluster().queues[theirs.queue].reclaimable;
  }

  /// A bundle, with whom it takes.
  struct offer {
    const policy::victim_bundle* bundle;
    row owner;
    const std::vector<row>* tasks;
  };
  /// What of a job may be taken, as long as neither the job nor those of its tasks that are looked at change.
  struct known_job {
    std::uint64_t asked_at = 0;  ///< 1 + the changes of the job then; 0: never
    std::vector<row> local;
    std::vector<policy::victim_bundle> bundles;
    std::vector<std::vector<row>> tasks;  ///< of the bundles
    std::size_t place = 0;                ///< of its first bundle in the order that was found last
  };

  const known_job& known_of(row job, std::vector<row> local) {
    known_job& known = known_[job];
    const job_state& theirs = job_of(job);
    const std::uint64_t at = session_.cluster().changes_of_job(job) + 1;
    if (known.asked_at == at && known.local == local) return known;
    std::map<row, std::uint32_t> places;
    for (std::uint32_t i = 0; i < theirs.tasks.size(); ++i) places.emplace(theirs.tasks[i], i);
    std::vector<std::uint32_t> positions;
    std::map<std::string_view, row> victims;
    for (const row task : local) {
      positions.push_back(places.at(task));
      victims.emplace(task_of(task).uid, task);
    }
    known.bundles = policy::make_bundles(needs_of(session_.cluster(), theirs), positions);
    known.tasks.clear();
    for (const policy::victim_bundle& one : known.bundles) {
      std::vector<row>& tasks = known.tasks.emplace_back();
      for (const std::string& uid : one.tasks) tasks.push_back(victims.at(uid));
    }
    known.local = std::move(local);
    known.asked_at = at;
    return known;
  }

  /// What may be taken, in order.
  std::vector<offer> bundles_in(row job, const demand& lacks, const std::vector<row>& nodes) {
    known_.resize(session_.cluster().jobs.size());
    std::vector<std::pair<row, row>> candidates;  // job, task
    for (const row node : nodes) {
      for (const auto& [task, status] : session_.cluster().nodes[node].tasks) {
        if (is_candidate(job, task)) candidates.emplace_back(task_of(task).job, task);
      }
    }
    std::ranges::stable_sort(candidates, {}, &std::pair<row, row>::first);
    std::vector<offer> offers;
    for (std::size_t begin = 0, end = 0; begin < candidates.size(); begin = end) {
      const row theirs = candidates[begin].first;
      std::vector<row> local;
      for (; end < candidates.size() && candidates[end].first == theirs; ++end) local.push_back(candidates[end].second);
      const known_job& known = known_of(theirs, std::move(local));
      for (std::size_t i = 0; i < known.bundles.size(); ++i)
        offers.push_back({&known.bundles[i], theirs, &known.tasks[i]});
    }
    // Little has changed since the last job asked.
    std::ranges::stable_sort(offers, {},
                             [&](const offer& one) { return std::pair(one.bundle->kind, known_[one.owner].place); });
    sort(offers, job, lacks.asked);
    for (std::size_t i = 0; i < offers.size(); ++i) known_[offers[i].owner].place = i;
    keep_evictable(offers, job, lacks);
    std::erase_if(offers, [&](const offer& one) {
      return one.bundle->kind == policy::bundle_kind::whole && !settings_.whole_jobs;
    });
    return offers;
  }

  /// Leaves what plug-ins let go. Bundles that shrink get another place.
  void keep_evictable(std::vector<offer>& offers, row job, const demand& lacks) {
    std::vector<row> offered;
    for (const offer& one : offers) offered.insert(offered.end(), one.tasks->begin(), one.tasks->end());
    std::vector<row> allowed = session_.evictable(job, how_, offered);
    if (allowed == offered) return;
    std::ranges::sort(allowed);
    shrunk_.clear();
    shrunk_tasks_.clear();
    std::vector<offer> left;
    for (const offer& one : offers) {
      std::vector<row> tasks =
          those_that(*one.tasks, [&](row task) { return std::ranges::binary_search(allowed, task); });
      if (tasks.size() == one.tasks->size()) {
        left.push_back(one);
        continue;
      }
      std::map<std::string_view, row> known;
      std::vector<std::string> names;
      for (const row task : tasks) {
        known.emplace(task_of(task).uid, task);
        names.push_back(task_of(task).uid);
      }
      std::vector<policy::victim_bundle> made = policy::allowed_bundles(
          std::span(one.bundle, 1), names, [&](std::string_view uid) { return task_of(known.at(uid)).request; });
      if (made.empty()) continue;
      shrunk_.push_back(std::move(made.front()));
      shrunk_tasks_.push_back(std::move(tasks));
      left.push_back({&shrunk_.back(), one.owner, &shrunk_tasks_.back()});
    }
    offers = std::move(left);
    sort(offers, job, lacks.asked);
  }

  void sort(std::vector<offer>& offers, row job, const policy::resource_list& asked) const {
    const auto before = [&](const offer& a, const offer& b) {
      const bool equal_kinds = a.bundle->kind == b.bundle->kind;
      return policy::taken_before(*a.bundle, *b.bundle, asked,
                                  equal_kinds ? order_of(a.owner, b.owner, job) : std::weak_ordering::equivalent);
    };
    if (!std::ranges::is_sorted(offers, before)) std::ranges::stable_sort(offers, before);
  }

  /// Of two jobs: the one that loses first.
  [[nodiscard]] std::weak_ordering order_of(row left, row right, row taker) const {
    if (left == right) return std::weak_ordering::equivalent;
    if (how_ == taking::preempt)
      return session_.job_before(right, left) ? std::weak_ordering::less : std::weak_ordering::greater;
    const row one = job_of(left).queue;
    const row other = job_of(right).queue;
    if (one == other) return std::weak_ordering::equivalent;
    return session_.loses_before(one, other, job_of(taker).queue) ? std::weak_ordering::less
                                                                  : std::weak_ordering::greater;
  }

  /// Sub-job after sub-job, until the job would run; a job that runs already gets one. False, and nothing added, if it
  /// would not.
  bool place_all(statement& made, row job, const std::string& domain) {
    job_context sheet = context_of(session_, job);
    const bool runs = session_.is_ready(job);
    statement places(session_);
    bool would_run = false;
    while (!sheet.sub_jobs.empty() && !would_run) {
      const row i = sheet.sub_jobs.pop();
      if (!place_sub_job(places, job, sheet.sheets.at(i), domain)) break;
      would_run = session_.is_pipelined(job);
      if (runs) break;
    }
    if (would_run) {
      made.merge(places);
    } else {
      places.discard();
    }
    return would_run;
  }

  bool place_sub_job(statement& made, row job, const sub_job_context& sheet, const std::string& domain) {
    if (!has_hard_topology(job_of(job))) return place_in(made, job, sheet, domain);
    const sub_job_state& of = job_of(job).sub_jobs[sheet.sub_job];
    for (const auto& gradient : session_.gradients(job_of(job), &of, domain, policy::domain_search::evict)) {
      for (const std::string& name : gradient) {
        if (place_in(made, job, sheet, name)) return true;
      }
    }
    return false;
  }

  bool place_in(statement& made, row job, const sub_job_context& sheet, const std::string& domain) {
    const sub_job_state& of = job_of(job).sub_jobs[sheet.sub_job];
    statement places(session_);
    node_search search(session_, search_purpose::place);
    const std::vector<row> nodes = nodes_in(session_, domain);
    const bool by_kind = can_go_by_kind(session_, of);
    bool all = !sheet.tasks.empty();
    for (task_heap tasks = sheet.tasks; all && !tasks.empty();) {
      const row task = tasks.pop();
      row node = no_row;
      if (session_.is_allocatable(job_of(job).queue, task)) {
        node = by_kind ? choose_by_kind(session_, task, &nodes)
                       : choose_node(session_, task, search.nodes_for(task, nodes));
      }
      if (node != no_row) places.pipeline(task, node);
      all = node != no_row;
    }
    if (!all || !(session_.is_ready(job, of) || session_.is_pipelined(job, of))) {
      places.discard();
      return false;
    }
    made.merge(places);
    return true;
  }

  session& session_;
  gang_eviction_settings settings_;
  taking how_;
  std::vector<known_job> known_;               ///< by job
  std::deque<policy::victim_bundle> shrunk_;   ///< bundles of which a part may be taken
  std::deque<std::vector<row>> shrunk_tasks_;  ///< theirs
  decisions committed_;
};

}  // namespace

decisions gang_preempt(session& of, const gang_eviction_settings& settings) {
  return gang_taking(of, settings, taking::preempt).run();
}

decisions gang_reclaim(session& of, const gang_eviction_settings& settings) {
  return gang_taking(of, settings, taking::reclaim).run();
}

}  // namespace kaisched::volcano
