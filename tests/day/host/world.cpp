#include "host/world.hpp"

#include <algorithm>
#include <stdexcept>

namespace day_host {

namespace {

constexpr ms stale_grace = 60'000;  // after so long a gang that is not whole may be stopped: a session has to be held

const char* state_name(pod_state state) {
  switch (state) {
    case pod_state::pending:
      return "pending";
    case pod_state::claimed:
      return "claimed";
    case pod_state::running:
      return "running";
    case pod_state::releasing:
      return "releasing";
  }
  return "";
}

}  // namespace

world::world(const day& of, ms grace, journal& log) : day_(of), grace_(grace), log_(log), to_come_(of.jobs.size()) {
  for (std::size_t i = 0; i < day_.nodes.size(); ++i) node_numbers_[day_.nodes[i].name] = static_cast<int>(i);
  ready_.assign(day_.nodes.size(), true);
  jobs_.resize(day_.jobs.size());
  for (std::size_t i = 0; i < day_.jobs.size(); ++i) {
    jobs_[i].row = &day_.jobs[i];
    job_numbers_[day_.jobs[i].name] = i;
    happens(day_.jobs[i].submit, what::submit, i);
  }
  for (const outage_row& one : day_.outages) {
    const auto node = static_cast<std::size_t>(node_numbers_.at(one.node));
    happens(one.from, what::fail, node);
    happens(one.to, what::back, node);
  }
}

void world::happens(ms at, what kind, std::size_t subject, std::size_t pod, std::int64_t plan) {
  events_.push({at, made_++, kind, subject, pod, plan});
}

bool world::pass(ms until) {
  bool any = false;
  while (!events_.empty() && events_.top().at <= until) {
    const event one = events_.top();
    events_.pop();
    handle(one);
    any = true;
  }
  return any;
}

void world::handle(const event& one) {
  const bool inside = one.kind == what::release || (one.kind == what::wake && one.plan == 0);
  outside_ += inside ? 0 : 1;
  switch (one.kind) {
    case what::submit:
      submit(one.subject, one.at);
      return;
    case what::end:
      if (jobs_[one.subject].there && jobs_[one.subject].plan == one.plan) end(one.subject, one.at);
      return;
    case what::release:
      release({one.subject, one.pod}, one.at);
      return;
    case what::fail:
      fail(static_cast<int>(one.subject), one.at);
      return;
    case what::back:
      ready_[one.subject] = true;
      news_.nodes.insert(static_cast<int>(one.subject));
      log_.event(one.at, "back", day_.nodes[one.subject].name);
      return;
    case what::wake:
      if (jobs_[one.subject].there && one.plan > 0) log_.event(one.at, "wake", jobs_[one.subject].row->name);
      return;
  }
}

void world::submit(std::size_t job, ms now) {
  job_state& one = jobs_[job];
  one.there = true;
  one.pods.resize(static_cast<std::size_t>(one.row->pods));
  one.left = one.row->run * one.row->pods;
  one.since = now;
  there_.insert(job);
  --to_come_;
  news_.new_jobs.push_back(job);
  log_.event(now, "submit", one.row->name);
}

void world::end(std::size_t job, ms now) {
  job_state& one = jobs_[job];
  one.there = false;
  there_.erase(job);
  for (std::size_t p = 0; p < one.pods.size(); ++p) news_.pods.erase({job, p});
  news_.jobs.erase(job);
  news_.ended_jobs.push_back(job);
  log_.event(now, "end", one.row->name);
}

void world::release(pod_key which, ms now) {
  job_state& one = jobs_[which.first];
  if (!one.there || one.pods[which.second].state != pod_state::releasing) return;
  pod& leaving = one.pods[which.second];
  const place next = std::move(leaving.next);
  leaving = next.node < 0 ? pod{} : pod{pod_state::claimed, next.node, next.devices, next.share, {}, {}};
  tell(which, now);
}

void world::fail(int node, ms now) {
  ready_[static_cast<std::size_t>(node)] = false;
  news_.nodes.insert(node);
  log_.event(now, "fail", day_.nodes[static_cast<std::size_t>(node)].name);
  const std::set<std::size_t> there = there_;
  for (const std::size_t j : there) {
    bool touched = false;
    for (std::size_t p = 0; p < jobs_[j].pods.size(); ++p) {
      if (jobs_[j].pods[p].next.node == node) {
        jobs_[j].pods[p].next = {};
        tell({j, p}, now);
      }
      if (jobs_[j].pods[p].node != node) continue;
      jobs_[j].pods[p] = pod{};
      tell({j, p}, now);
      touched = true;
    }
    if (touched) settle(j, now);
  }
}

void world::tell(pod_key which, ms now) {
  news_.pods.insert(which);
  write(which, now);
}

void world::write(pod_key which, ms now) {
  const pod& one = jobs_[which.first].pods[which.second];
  const auto name = [this](int node) {
    return node < 0 ? std::string() : day_.nodes[static_cast<std::size_t>(node)].name;
  };
  log_.pod(now, pod_name(which), state_name(one.state), name(one.node), one.devices, one.share);
  if (one.next.node >= 0) log_.moves_to(now, pod_name(which), name(one.next.node), one.next.devices);
}

void world::start(pod_key which, pod to, ms now) {
  to.state = pod_state::running;
  jobs_[which.first].pods[which.second] = std::move(to);
  tell(which, now);
}

void world::stop(pod_key which, ms now) {
  pod& one = jobs_[which.first].pods[which.second];
  if (grace_ == 0) {
    one = pod{};
  } else {
    one.state = pod_state::releasing;
    happens(now + grace_, what::release, which.first, which.second);
  }
  tell(which, now);
}

void world::claim(pod_key which, pod to) {
  to.state = pod_state::claimed;
  jobs_[which.first].pods[which.second] = std::move(to);
  write(which, log_.now());  // the cluster has taken the claim in
}

void world::unclaim(pod_key which) {
  jobs_[which.first].pods[which.second] = pod{};
  write(which, log_.now());
}

void world::keep(pod_key which, place next) {
  jobs_[which.first].pods[which.second].next = std::move(next);
  write(which, log_.now());
}

void world::count_work(job_state& one, ms now) const {
  if (one.progresses) one.left = std::max<std::int64_t>(0, one.left - one.running * (now - one.since));
  one.since = now;
}

void world::settle(std::size_t job, ms now) {
  job_state& one = jobs_[job];
  count_work(one, now);
  const std::int64_t before = one.running;
  one.running =
      std::count_if(one.pods.begin(), one.pods.end(), [](const pod& p) { return p.state == pod_state::running; });
  if (before == 0 && one.running > 0) {
    one.last_start = now;
    if (const ms length = promised(*one.row); length > 0) happens(now + length, what::wake, job, 0, 1);
  }
  const bool whole = one.running >= one.row->least;
  if (one.progresses && !whole) {
    if (!one.row->checkpoints) one.left = one.row->run * one.row->pods;
    log_.event(now, "stop", one.row->name);
  }
  if (!one.progresses && whole) log_.event(now, "start", one.row->name);
  one.progresses = whole;
  const bool stale = one.running > 0 && !whole;
  if (stale && one.stale_since < 0) happens(now + stale_grace, what::wake, job);
  one.stale_since = !stale ? -1 : one.stale_since < 0 ? now : one.stale_since;
  ++one.plan;
  if (whole) happens(now + (one.left + one.running - 1) / one.running, what::end, job, 0, one.plan);
  news_.jobs.insert(job);
}

ms world::promised(const job_row& row) const {
  ms longest = 0;
  std::string at = row.queue;
  while (!at.empty()) {
    const auto found =
        std::find_if(day_.queues.begin(), day_.queues.end(), [&](const queue_row& q) { return q.name == at; });
    if (found == day_.queues.end()) break;
    longest = std::max({longest, found->reclaim_min, found->preempt_min});
    at = found->parent;
  }
  return longest;
}

pod_key world::pod_of(const std::string& name) const {
  const std::size_t dash = name.rfind('-');
  if (dash == std::string::npos) throw std::runtime_error("a decision names an unknown pod " + name);
  return {job_numbers_.at(name.substr(0, dash)), static_cast<std::size_t>(std::stoull(name.substr(dash + 1)))};
}

std::string world::pod_name(pod_key which) const {
  return day_.jobs[which.first].name + "-" + std::to_string(which.second);
}

bool world::waits() const {
  return std::any_of(there_.begin(), there_.end(), [this](std::size_t j) {
    const std::vector<pod>& all = jobs_[j].pods;
    return jobs_[j].stale_since >= 0 || std::any_of(all.begin(), all.end(), [](const pod& p) {
             return p.state == pod_state::pending || p.state == pod_state::claimed;
           });
  });
}

}  // namespace day_host
