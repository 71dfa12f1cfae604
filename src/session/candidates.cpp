// How the nodes stand for one pod, in the state in which the question came up.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "actions/actions.hpp"
#include "schedulers/schedulers.hpp"
#include "session/replay.hpp"
#include "session/session_impl.hpp"

namespace kaisched::session_detail {

namespace {

using framework::session_state;
using policy::free_amount;

/// Where the action volcano decides nobody asks the parts for scores: its plug-ins have their own, and nodes on which
/// the pod starts at once come before all others.
result<void> add_tier_scores(const session_state& c, pod_row pod, std::string_view without, candidate_table& to) {
  constexpr double before_all = 1e9;
  constexpr std::string_view starts_now = "starts_now";
  std::array<std::size_t, 2> count{};
  std::vector<std::vector<double>> columns;
  for (const bool now : {true, false}) {
    std::vector<std::size_t> places;
    std::vector<node_row> rows;
    for (std::size_t i = 0; i < to.nodes.size(); ++i) {
      if (to.nodes[i].refusal.what != constraint::none || to.nodes[i].starts_now != now) continue;
      places.push_back(i);
      rows.push_back(to.nodes[i].node);
    }
    count[now ? 0 : 1] = rows.size();
    result<volcano::plugin_points> said = volcano::points_of_nodes(c, pod, rows, without);
    if (!said) return said.failure();
    if (now) {
      to.parts = std::move(said->plugins);
      columns.assign(to.parts.size() + 1, std::vector<double>(to.nodes.size(), 0.0));
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      for (std::size_t p = 0; p < said->points.size(); ++p) columns[p][places[i]] = said->points[p][i];
      columns.back()[places[i]] = now ? before_all : 0;
    }
  }
  if (count[0] > 0 && count[1] > 0 && without != starts_now) {
    to.parts.emplace_back(starts_now);
  } else {
    columns.pop_back();
  }
  for (std::size_t i = 0; i < to.nodes.size(); ++i) {
    for (const std::vector<double>& column : columns) {
      to.scores.push_back(column[i]);
      to.nodes[i].score += column[i];
    }
  }
  return {};
}

result<void> add_scores(session_state& c, pod_row pod, std::span<const node_row> rows, std::string_view without,
                        candidate_table& to) {
  const session_view view = c.view();
  std::vector<double> sums(rows.size(), 0.0);
  std::vector<std::vector<double>> columns;
  for (const auto& part : c.parts) {
    if ((part->capabilities() & part_scores_nodes) == 0 || part->name() == without) continue;
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
result<void> add_verdicts(session_state& c, pod_row pod, std::span<const node_row> rows, candidate_table& to) {
  const session_view view = c.view();
  const model::pod_class& ask = c.state().class_of(pod);
  const policy::cluster_verdict whole =
      c.has_predicates ? policy::judge_cluster(c.access, ask) : policy::cluster_verdict{};
  std::vector<constraint> verdicts(rows.size(), constraint::none);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    to.nodes[i].refusal = judge_node(c, c.state().pods[pod].group, ask, rows[i]);
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
                                  policy::gpus_paid(c.access, pod, rows[i], free_amount::idle)) &&
                     c.constraints.all_resources_allow(c.access, pod, rows[i], free_amount::idle);
    framework::place place;
    const free_amount amount = one.starts_now ? free_amount::idle : free_amount::idle_or_releasing;
    if (!c.choice.choose_devices(c, pod, rows[i], amount, place)) continue;
    one.starts_now = one.starts_now && !place.must_wait && framework::fits_with_devices(c, pod, place);
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

}  // namespace

result<candidate_table> nodes_for(session_state& c, pod_row pod, std::string_view without) {
  std::vector<node_row> rows(c.state().node_count());
  for (node_row row = 0; row < rows.size(); ++row) rows[(*c.state().name_rank)[row]] = row;
  candidate_table table;
  table.nodes.resize(rows.size());
  if (auto done = add_verdicts(c, pod, rows, table); !done) return done.failure();
  const bool in_tiers = std::ranges::find(c.options.actions, "volcano") != c.options.actions.end();
  if (auto done = in_tiers ? add_tier_scores(c, pod, without, table) : add_scores(c, pod, rows, without, table); !done)
    return done.failure();
  sort(table);
  return table;
}

result<reason> refusal_of(session_state& c, pod_row pod, node_row node) {
  candidate_table one;
  one.nodes.resize(1);
  if (auto done = add_verdicts(c, pod, {&node, 1}, one); !done) return done.failure();
  return one.nodes.front().refusal;
}

error not_placed(const session_state& c, pod_row pod) {
  return {status::state, "pod '" + std::string(c.state().pod_names[pod]) + "' was not placed by this session",
          entity_id(entity_kind::pod, c.state().pods[pod].generation, pod)};
}

result<candidate_table> candidates_of(const session_state& c, pod_row pod) {
  const auto status_now = static_cast<pod_status>(c.live.pod_state[pod]);
  if (status_now == pod_status::pending || status_now == pod_status::gated) {
    session_state copy(c);  // parts may keep state between calls: those of the session are not asked
    result<candidate_table> table = nodes_for(copy, pod);
    if (table) table->decisions_before = static_cast<std::uint32_t>(c.results.decisions.size());
    return table;
  }
  const std::size_t end = placement_of(c, pod);
  if (end == c.results.decisions.size()) return not_placed(c, pod);
  session_state fresh(c.base, c.setup, c.now);
  if (auto done = fresh.open(); !done) return done.failure();
  replay_before(fresh, c, end);
  result<candidate_table> table = nodes_for(fresh, pod);
  if (!table) return table;
  table->chosen = c.results.decisions[end].node;
  table->decisions_before = static_cast<std::uint32_t>(end);
  return table;
}

}  // namespace kaisched::session_detail
