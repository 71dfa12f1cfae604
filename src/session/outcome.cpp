// What the events of a session come to, pod by pod.
#include <map>

#include "framework/members.hpp"
#include "session/session_impl.hpp"

namespace kaisched::session_detail {

namespace {

constexpr std::uint32_t stays_on_node = model::active_allocated & ~model::bit(pod_status::pipelined);

/// Where decisions about a pod stand.
struct pod_events {
  std::size_t first_leave = 0;
  std::size_t last = 0;
  bool leaves = false;
};

bool takes_off(decision_kind kind) {
  return kind == decision_kind::evict || kind == decision_kind::move || kind == decision_kind::migrate;
}

/// The kind of the net decision, or `unschedulable` for none.
decision_kind net_kind(const framework::session_state& c, pod_row p, decision_kind last) {
  const bool was_there = model::is_in(static_cast<pod_status>(c.state().live.pod_state[p]), stays_on_node);
  const auto now = static_cast<pod_status>(c.live.pod_state[p]);
  if (last == decision_kind::migrate) return last;
  if (now == pod_status::pipelined) return was_there ? decision_kind::move : decision_kind::pipeline;
  if (model::is_in(now, stays_on_node)) return was_there ? decision_kind::unschedulable : decision_kind::bind;
  const bool had_claim =
      c.nominated_node(p) != no_row || static_cast<pod_status>(c.state().live.pod_state[p]) == pod_status::pipelined;
  return was_there || had_claim ? decision_kind::evict : decision_kind::unschedulable;
}

}  // namespace

std::vector<decision> net_decisions_of(const framework::session_state& c) {
  std::vector<decision> made;
  if (c.decides_net()) {
    for (const decision& d : c.results.decisions) {
      if (d.pod != no_row) made.push_back(d);
    }
    return made;
  }
  std::map<pod_row, pod_events> events;
  for (std::size_t i = 0; i < c.results.decisions.size(); ++i) {
    const decision& d = c.results.decisions[i];
    if (d.pod == no_row) continue;
    pod_events& of = events[d.pod];
    of.last = i;
    if (!of.leaves && takes_off(d.kind)) of.first_leave = i;
    of.leaves = of.leaves || takes_off(d.kind);
  }
  for (std::size_t i = 0; i < c.results.decisions.size(); ++i) {
    const decision& d = c.results.decisions[i];
    if (d.pod == no_row || events.at(d.pod).last != i) continue;
    const decision_kind kind = net_kind(c, d.pod, d.kind);
    if (kind == decision_kind::unschedulable) continue;
    made.push_back(kind == decision_kind::evict ? c.results.decisions[events.at(d.pod).first_leave] : d);
    made.back().kind = kind;
  }
  return made;
}

}  // namespace kaisched::session_detail
