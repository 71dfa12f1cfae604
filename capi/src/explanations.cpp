// Questions why and what if: each is asked of the session, and its answer becomes a table.
#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/session.hpp>

#include "guard.hpp"
#include "handles.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

/// Replaces a default where the caller has said something else.
void take(std::uint32_t& limit, std::uint32_t given) {
  if (given != 0) limit = given;
}

result<remedy_limits> limits_of(const kaisched_remedy_limits* told) {
  const result<kaisched_remedy_limits> given = read_given(told, sizeof(kaisched_remedy_limits), "the limits");
  if (!given) return given.failure();
  remedy_limits limits;
  take(limits.trials, given->trials);
  take(limits.together, given->together);
  take(limits.node_kinds, given->node_kinds);
  take(limits.new_nodes, given->new_nodes);
  take(limits.eviction_steps, given->eviction_steps);
  limits.evictions = given->no_evictions == 0;
  if (given->no_new_nodes != 0) limits.node_kinds = 0;
  return limits;
}

result<what_if_limits> limits_of(const kaisched_what_if_limits* told) {
  const result<kaisched_what_if_limits> given = read_given(told, sizeof(kaisched_what_if_limits), "the limits");
  if (!given) return given.failure();
  what_if_limits limits;
  take(limits.eviction_steps, given->eviction_steps);
  take(limits.ends, given->ends);
  limits.displace = given->no_displacement == 0;
  if (given->no_times != 0) limits.ends = 0;
  limits.policy_actions = given->policy_actions != 0;
  return limits;
}

/// Rows that the report of one group has in a table of remedies: one for each change, and one where there is none.
std::uint64_t rows_of(const remedy_report& report) {
  std::uint64_t rows = report.remedies.empty() ? 1 : 0;
  for (const remedy& one : report.remedies) rows += std::max<std::size_t>(1, one.changes.size());
  return rows;
}

/// Asks about one entity and makes a table of the answer.
template <class Answer>
kaisched_status explain(const kaisched_session* session, kaisched_id id, entity_kind kind, kaisched_function where,
                        result<Answer> (kaisched::session::*ask)(std::uint32_t) const, kaisched_answers** out,
                        kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, where, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {out, "out"}}); !r) return r;
    const result<std::uint32_t> row = row_of(session, id, kind);
    if (!row) return row.failure();
    const result<Answer> answer = (session->body.*ask)(*row);
    if (!answer) return answer.failure();
    table all = session->body.to_table(*answer);
    const std::uint64_t rows = all.rows();
    *out = new kaisched_answers(std::move(all), {0, rows});
    return {};
  });
}

}  // namespace

kaisched_status kaisched_session_remedies(const kaisched_session* session, const kaisched_id* groups, std::size_t count,
                                          const kaisched_remedy_limits* limits, kaisched_answers** out,
                                          kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SESSION_REMEDIES, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {out, "out"}}); !r) return r;
    const result<remedy_limits> bounds = limits_of(limits);
    if (!bounds) return bounds.failure();
    const result<std::vector<group_row>> rows = kaisched::capi::rows_of(session, groups, count);
    if (!rows) return rows.failure();
    const result<std::vector<remedy_report>> found = session->body.remedies(*rows, *bounds);
    if (!found) return found.failure();
    std::vector<std::uint64_t> first{0};
    for (const remedy_report& one : *found) first.push_back(first.back() + rows_of(one));
    *out = new kaisched_answers(session->body.to_table(*rows, *found), std::move(first));
    return {};
  });
}

kaisched_status kaisched_session_certify(const kaisched_session* session, kaisched_id group, kaisched_answers** out,
                                         kaisched_error* err) noexcept {
  return explain(session, group, entity_kind::pod_group, KAISCHED_FN_SESSION_CERTIFY, &kaisched::session::certify, out,
                 err);
}

kaisched_status kaisched_session_choice(const kaisched_session* session, kaisched_id pod, kaisched_answers** out,
                                        kaisched_error* err) noexcept {
  return explain(session, pod, entity_kind::pod, KAISCHED_FN_SESSION_CHOICE, &kaisched::session::choice, out, err);
}

kaisched_status kaisched_session_victim(const kaisched_session* session, kaisched_id pod, kaisched_answers** out,
                                        kaisched_error* err) noexcept {
  return explain(session, pod, entity_kind::pod, KAISCHED_FN_SESSION_VICTIM, &kaisched::session::victim, out, err);
}

kaisched_status kaisched_session_share_steps(const kaisched_session* session, kaisched_id queue, kaisched_answers** out,
                                             kaisched_error* err) noexcept {
  return explain(session, queue, entity_kind::queue, KAISCHED_FN_SESSION_SHARE_STEPS, &kaisched::session::share_steps,
                 out, err);
}

kaisched_status kaisched_session_what_if(const kaisched_session* session, const kaisched_table* const* tables,
                                         std::size_t table_count, const char* const* groups, std::size_t group_count,
                                         const kaisched_what_if_limits* limits, kaisched_answers** out,
                                         kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SESSION_WHAT_IF, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {out, "out"}}); !r) return r;
    const result<what_if_limits> bounds = limits_of(limits);
    if (!bounds) return bounds.failure();
    if (groups == nullptr && group_count > 0) return bad_argument("groups is NULL");
    const std::span<const char* const> given(groups, group_count);
    if (std::find(given.begin(), given.end(), nullptr) != given.end()) return bad_argument("a group is NULL");
    const result<input_tables> input = input_tables::read(tables, table_count);
    if (!input) return input.failure();
    const std::vector<std::string_view> names(given.begin(), given.end());
    const result<what_if_report> report = session->body.what_if(input->views(), names, *bounds);
    if (!report) return report.failure();
    std::vector<std::uint64_t> first;
    for (std::uint64_t i = 0; i <= report->groups.size(); ++i) first.push_back(i);
    *out = new kaisched_answers(session->body.to_table(*report), std::move(first));
    return {};
  });
}

kaisched_status kaisched_session_gaps(const kaisched_session* session, kaisched_answers** out,
                                      kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SESSION_GAPS, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {out, "out"}}); !r) return r;
    const result<std::vector<optimality_gap>> found = session->body.gaps();
    if (!found) return found.failure();
    std::vector<std::uint64_t> first{0};
    for (const optimality_gap& one : *found)
      first.push_back(first.back() + std::max<std::size_t>(1, one.domains.size()));
    *out = new kaisched_answers(session->body.to_table(*found), std::move(first));
    return {};
  });
}
