// How the nodes stand for one pod, in the state in which the question came up.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/session_impl.hpp"

namespace kaisched::engine_detail {

namespace {

using policy::free_amount;
using work::core;

bool is_placement(const decision& d) {
  return d.kind != decision_kind::evict && d.kind != decision_kind::unschedulable &&
         d.kind != decision_kind::repartition;
}

/// The decision that put the pod where it is.
std::size_t placement_of(const core& c, pod_row pod) {
  for (std::size_t i = c.decisions.size(); i-- > 0;) {
    if (c.decisions[i].pod == pod && is_placement(c.decisions[i])) return i;
  }
  return c.decisions.size();
}

void replay_placement(core& onto, const decision& d, bool same_commit) {
  work::place now{d.node, false, d.devices, {}};
  // A gang that cannot start as a whole becomes claims after its last pod: until then its pods held what was free.
  const model::pod_class& ask = onto.state().class_of(d.pod);
  const bool held = same_commit && d.kind == decision_kind::pipeline &&
                    policy::amounts_fit(onto.access, ask, d.node, free_amount::idle,
                                        policy::claims_paid(onto.access, d.pod, d.node, free_amount::idle)) &&
                    policy::claims_fit(onto.access, d.pod, d.node, free_amount::idle) &&
                    policy::zones_fit(onto.access, ask, d.node, free_amount::idle) &&
                    onto.choice.choose_devices(onto, ask, d.node, free_amount::idle, now);
  if (d.kind == decision_kind::bind || d.kind == decision_kind::migrate || held) {
    onto.allocate(d.pod, d.node, held ? now.devices : d.devices, held ? now.groups : policy::group_ids{});
  } else {
    onto.pipeline(d.pod, d.node, d.devices);
  }
}

/// Repeats the decisions before one of them.
void replay(core& onto, std::span<const work::division> divisions, std::span<const decision> all, std::size_t end) {
  const std::uint32_t last = all[end].commit;
  std::size_t first = 0;  // divisions are in the order of their decisions
  while (first < all.size()) {
    const std::uint32_t commit = all[first].commit;
    std::size_t next = first;
    while (next < all.size() && all[next].commit == commit) ++next;
    for (std::size_t i = first; i < next; ++i) {
      const decision_kind kind = all[i].kind;
      const bool leaves = kind == decision_kind::evict || kind == decision_kind::move || kind == decision_kind::migrate;
      if (leaves) onto.evict(all[i].pod);
    }
    for (std::size_t i = first; i < next; ++i) {
      if (all[i].kind != decision_kind::repartition) continue;
      onto.divide(divisions.front());
      divisions = divisions.subspan(1);
    }
    for (std::size_t i = first; i < std::min(next, end); ++i) {
      if (is_placement(all[i])) replay_placement(onto, all[i], commit == last);
    }
    if (commit == last) return;
    first = next;
  }
}

result<void> add_scores(core& c, pod_row pod, std::span<const node_row> rows, candidate_table& to) {
  const session_view view = c.view();
  std::vector<double> sums(rows.size(), 0.0);
  std::vector<std::vector<double>> columns;
  for (const auto& part : c.parts) {
    if ((part->capabilities() & part_scores_nodes) == 0) continue;
    std::vector<double> own(sums);
    if (auto done = part->score_nodes(view, pod, rows, sums); !done) return done.failure();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (!std::isfinite(sums[i])) {
        return error{status::plugin, "part '" + std::string(part->name()) + "' gave a score that is not finite", {}};
      }
      own[i] = sums[i] - own[i];
    }
    to.parts.emplace_back(part->name());
    columns.push_back(std::move(own));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    to.nodes[i].score = sums[i];
    for (const std::vector<double>& column : columns) to.scores.push_back(column[i]);
  }
  return {};
}

/// Verdicts of the parts about the nodes that have what the pod asks for.
result<void> add_verdicts(core& c, pod_row pod, std::span<const node_row> rows, candidate_table& to) {
  const session_view view = c.view();
  const model::pod_class& ask = c.state().class_of(pod);
  const policy::cluster_verdict whole =
      c.has_predicates ? policy::judge_cluster(c.access, ask) : policy::cluster_verdict{};
  std::vector<constraint> verdicts(rows.size(), constraint::none);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    to.nodes[i].refusal = judge_node(c, ask, rows[i]);
    if (to.nodes[i].refusal.what == constraint::none) to.nodes[i].refusal.what = whole.what;
    verdicts[i] = to.nodes[i].refusal.what;
  }
  for (const auto& part : c.parts) {
    if ((part->capabilities() & part_filters_nodes) == 0) continue;
    std::vector<constraint> judged = verdicts;
    if (auto done = part->filter_nodes(view, pod, rows, judged); !done) return done.failure();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (verdicts[i] == constraint::none) verdicts[i] = judged[i];
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    candidate& one = to.nodes[i];
    one.node = rows[i];
    one.refusal.what = verdicts[i];
    one.refusal.group = c.state().pods[pod].group;
    one.refusal.pod = pod;
    if (verdicts[i] != constraint::none) continue;
    one.starts_now = policy::fits(c.access, ask, rows[i], free_amount::idle,
                                  policy::claims_paid(c.access, pod, rows[i], free_amount::idle)) &&
                     policy::claims_fit(c.access, pod, rows[i], free_amount::idle) &&
                     policy::zones_fit(c.access, ask, rows[i], free_amount::idle);
    work::place place;
    const free_amount amount = one.starts_now ? free_amount::idle : free_amount::idle_or_releasing;
    if (!c.choice.choose_devices(c, ask, rows[i], amount, place)) continue;
    one.starts_now = one.starts_now && !place.must_wait;
    one.devices = place.devices;
  }
  return {};
}

/// From the order of names to the order of preference.
void sort(candidate_table& table) {
  std::vector<std::uint32_t> order(table.nodes.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto fits = [&](std::uint32_t i) { return table.nodes[i].refusal.what == constraint::none; };
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    if (fits(a) != fits(b)) return fits(a);
    return fits(a) && table.nodes[a].score > table.nodes[b].score;
  });
  std::vector<candidate> nodes;
  std::vector<double> scores;
  for (const std::uint32_t i : order) {
    if (fits(i)) ++table.fitting;
    nodes.push_back(table.nodes[i]);
    const std::span<const double> row = table.scores_of(i);
    scores.insert(scores.end(), row.begin(), row.end());
  }
  table.nodes = std::move(nodes);
  table.scores = std::move(scores);
}

result<candidate_table> ask_everybody(core& c, pod_row pod) {
  std::vector<node_row> rows(c.state().node_count());
  for (node_row row = 0; row < rows.size(); ++row) rows[(*c.state().name_rank)[row]] = row;
  candidate_table table;
  table.nodes.resize(rows.size());
  if (auto done = add_verdicts(c, pod, rows, table); !done) return done.failure();
  if (auto done = add_scores(c, pod, rows, table); !done) return done.failure();
  sort(table);
  return table;
}

}  // namespace

result<reason> refusal_of(core& c, pod_row pod, node_row node) {
  candidate_table one;
  one.nodes.resize(1);
  if (auto done = add_verdicts(c, pod, {&node, 1}, one); !done) return done.failure();
  return one.nodes.front().refusal;
}

result<candidate_table> candidates_of(const core& c, pod_row pod) {
  const auto status_now = static_cast<pod_status>(c.live.pod_state[pod]);
  if (status_now == pod_status::pending || status_now == pod_status::gated) {
    core copy(c);  // parts may keep state between calls: those of the session are not asked
    result<candidate_table> table = ask_everybody(copy, pod);
    if (table) table->decisions_before = static_cast<std::uint32_t>(c.decisions.size());
    return table;
  }
  const std::size_t end = placement_of(c, pod);
  if (end == c.decisions.size()) {
    return error{status::state, "pod '" + std::string(c.state().pod_names[pod]) + "' was not placed by this session",
                 entity_id(entity_kind::pod, c.state().pods[pod].generation, pod)};
  }
  core fresh(c.base, c.options, c.now, c.factories, c.catalog);
  if (auto done = fresh.open(); !done) return done.failure();
  replay(fresh, c.divisions, c.decisions, end);
  result<candidate_table> table = ask_everybody(fresh, pod);
  if (!table) return table;
  table->chosen = c.decisions[end].node;
  table->decisions_before = static_cast<std::uint32_t>(end);
  return table;
}

}  // namespace kaisched::engine_detail
