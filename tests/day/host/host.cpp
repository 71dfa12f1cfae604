#include "host/host.hpp"

#include <algorithm>

namespace day_host {

host::host(const day& of, const settings& how, journal& log)
    : how_(how), log_(log), world_(of, how.grace, log), scheduler_(of, how.options, how.keeps, how.estimates) {
  log_.option("format", "1");
  for (const auto& [key, value] : how_.options) log_.option(key, value);
  log_.option("period", std::to_string(how_.period));
  log_.option("grace", std::to_string(how_.grace));
  log_.option("host", how_.keeps ? "keep" : how_.net ? "net" : "forget");
}

bool host::goes_on() const {
  return !written_ && sessions_ < how_.most_sessions && restless_ < how_.most_restless && stops_ < how_.most_stops;
}

void host::play() {
  if (how_.period == 0) {
    play_events();
  } else {
    play_period();
  }
  const bool done = world_.there().empty() && world_.to_come() == 0;
  log_.over(log_.now(), done                              ? "done"
                        : written_                        ? "written"
                        : restless_ >= how_.most_restless ? "restless"
                        : stops_ >= how_.most_stops       ? "stops"
                        : goes_on()                       ? "stuck"
                                                          : "sessions");
}

void host::play_events() {
  while (goes_on() && world_.next() >= 0) {
    const ms now = world_.next();
    world_.pass(now);
    hold_until_rest(now);
  }
}

void host::hold_until_rest(ms now) {
  for (int round = 1; goes_on() && world_.waits(); ++round) {
    if (!hold(now, round) || in_a_row_ == 0) return;
  }
}

void host::play_period() {
  ms last = -how_.period;
  bool changed = false;
  while (goes_on() && (changed || world_.next() >= 0)) {
    const ms after = world_.next();
    const ms tick = changed ? last + how_.period
                            : std::max(last + how_.period, (after + how_.period - 1) / how_.period * how_.period);
    world_.pass(tick);
    last = tick;
    changed = world_.waits() && hold(tick, 1);
  }
}

/// Sessions in a row that changed something, though nothing came from outside. After `rounds` of them, or as many as
/// there are jobs if these are more, the count is 0 again.
void host::count_rest(bool changed) {
  in_a_row_ = !changed ? 0 : world_.outside() == outside_ ? in_a_row_ + 1 : 1;
  outside_ = world_.outside();
  if (in_a_row_ < std::max(how_.rounds, static_cast<int>(world_.there().size()))) return;
  in_a_row_ = 0;
  ++restless_;
}

bool host::hold(ms now, int round) {
  if (how_.scenario_of == sessions_ + 1) {
    write_scenario(world_, how_, now, how_.scenario);
    written_ = true;
    return false;
  }
  for (const auto& [session, job] : how_.probes) {
    if (session == sessions_ + 1)
      log_.probe(session, job, scheduler_.starts_first(world_, world_.pod_of(job + "-0").first, now));
  }
  log_.session(++sessions_, now, round);
  const decided all = scheduler_.run(world_, now);
  for (const decision& one : all.decisions) log_.decided(one);
  for (const queue_account& one : all.accounts) log_.share(one);
  for (const std::uint32_t commit : all.refused) log_.refused(commit);
  const bool changed = carry_out(all, now);
  log_.carried(sessions_, changed);
  count_rest(changed);
  return changed;
}

bool host::carry_out(const decided& all, ms now) {
  std::set<std::size_t> touched;
  std::set<std::size_t> evicted;
  std::set<std::string> withdrawn;
  if (how_.net) {
    std::set<std::string> started;
    for (const decision& one : all.decisions) {
      if (one.kind == "bind") started.insert(one.pod);
      if ((one.kind == "evict" || one.kind == "move") && started.contains(one.pod)) withdrawn.insert(one.pod);
    }
  }
  bool changed = false;
  std::vector<std::uint64_t> confirmed;
  for (const decision& one : all.decisions) {
    if (std::find(all.refused.begin(), all.refused.end(), one.commit) != all.refused.end()) continue;
    if (withdrawn.contains(one.pod)) continue;
    changed = carry_out(one, now, touched, evicted) || changed;
    if (one.kind == "bind") confirmed.push_back(one.id);
  }
  if (how_.net) changed = start_claims(all, now, touched) || changed;
  count_evictions(evicted, now);
  for (const std::size_t job : touched) world_.settle(job, now);
  scheduler_.confirm(confirmed);
  return changed;
}

bool host::carry_out(const decision& one, ms now, std::set<std::size_t>& touched, std::set<std::size_t>& evicted) {
  const pod_key which = world_.pod_of(one.pod);
  const pod before = world_.jobs()[which.first].pods[which.second];
  if (one.kind == "bind") {
    world_.start(which, {pod_state::running, world_.node_of(one.node), one.devices, one.share, one.grants}, now);
    touched.insert(which.first);
    return true;
  }
  if (one.kind == "evict" || one.kind == "move") {
    if (before.state == pod_state::running) {
      world_.stop(which, now);
      touched.insert(which.first);
      evicted.insert(which.first);
    } else if (before.state == pod_state::claimed) {
      world_.unclaim(which);
    } else if (before.next.node >= 0) {
      world_.keep(which, {});
    } else {
      return false;
    }
  }
  if (how_.keeps && (one.kind == "pipeline" || one.kind == "move")) {
    const int node = world_.node_of(one.node);
    if (world_.jobs()[which.first].pods[which.second].state == pod_state::releasing) {
      if (before.next.node == node && before.next.devices == one.devices) return false;
      world_.keep(which, {node, one.devices, one.share});
      return true;
    }
    if (before.state == pod_state::claimed && before.node == node && before.devices == one.devices) return false;
    world_.claim(which, {pod_state::claimed, node, one.devices, one.share, one.grants});
    return true;
  }
  return one.kind != "pipeline";
}

void host::count_evictions(const std::set<std::size_t>& evicted, ms now) {
  const auto come = static_cast<std::int64_t>(world_.jobs().size() - world_.to_come());
  for (const std::size_t job : evicted) {
    world_.job(job).last_eviction = now;
    stops_ = std::max(stops_, ++world_.job(job).evictions - come);
  }
}

/// Claims whose whole amount is free, group by group: what an engine that looks at its own claims would do at once.
bool host::start_claims(const decided& all, ms now, std::set<std::size_t>& touched) {
  std::vector<std::array<std::int64_t, 4>> idle;
  for (std::size_t n = 0; n < world_.plan().nodes.size(); ++n) {
    const node_row& row = world_.plan().nodes[n];
    const bool ready = world_.ready(static_cast<int>(n));
    idle.push_back(ready ? std::array<std::int64_t, 4>{row.cpu, row.memory, row.gpus * 1000, row.pods}
                         : std::array<std::int64_t, 4>{});
  }
  const auto take = [&](int node, const job_row& row, std::int64_t sign) {
    std::array<std::int64_t, 4>& at = idle[static_cast<std::size_t>(node)];
    const std::array<std::int64_t, 4> asks{row.cpu, row.memory, row.gpu, 1};
    for (std::size_t d = 0; d < 4; ++d) at[d] -= sign * asks[d];
    return std::all_of(at.begin(), at.end(), [](std::int64_t left) { return left >= 0; });
  };
  for (const std::size_t j : world_.there()) {
    for (const pod& p : world_.jobs()[j].pods) {
      if (p.state == pod_state::running || p.state == pod_state::releasing) take(p.node, *world_.jobs()[j].row, 1);
    }
  }
  std::map<std::size_t, std::vector<const decision*>> claims;
  for (const decision& one : all.decisions) {
    if (one.kind == "pipeline" || one.kind == "move") claims[world_.pod_of(one.pod).first].push_back(&one);
  }
  bool changed = false;
  for (const auto& [job, wanted] : claims) {
    const job_state& one = world_.jobs()[job];
    const bool waits = std::all_of(wanted.begin(), wanted.end(), [&](const decision* d) {
      const pod_state state = one.pods[world_.pod_of(d->pod).second].state;
      return state == pod_state::pending || state == pod_state::claimed;
    });
    if (!waits || one.row->gpu % 1000 != 0) continue;
    bool fits = true;
    for (const decision* d : wanted) fits = take(world_.node_of(d->node), *one.row, 1) && fits;
    if (!fits) {
      for (const decision* d : wanted) take(world_.node_of(d->node), *one.row, -1);
      continue;
    }
    for (const decision* d : wanted)
      world_.start(world_.pod_of(d->pod), {pod_state::running, world_.node_of(d->node), {}, 1000, {}}, now);
    touched.insert(job);
    changed = true;
  }
  return changed;
}

}  // namespace day_host
