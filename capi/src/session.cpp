#include <memory>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/session.hpp>

#include "guard.hpp"
#include "handles.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

/// A pod to a node, in one of the two ways.
result<void> put(kaisched_session* session, kaisched_id pod, kaisched_id node, std::int32_t* placed,
                 result<bool> (kaisched::session::*how)(pod_row, node_row)) {
  if (auto r = require({{session, "session"}}); !r) return r;
  const result<pod_row> p = row_of(session, pod, entity_kind::pod);
  if (!p) return p.failure();
  const result<node_row> n = row_of(session, node, entity_kind::node);
  if (!n) return n.failure();
  return change_statement(session, [&](kaisched::session& body) -> result<void> {
    const result<bool> done = (body.*how)(*p, *n);
    if (!done) return done.failure();
    if (placed != nullptr) *placed = *done ? 1 : 0;
    return {};
  });
}

result<void> start(const kaisched_engine* engine, const kaisched_snapshot* snapshot, kaisched_session** out,
                   result<session> (kaisched::engine::*how)(const kaisched::snapshot&, std::int64_t) const,
                   std::int64_t now) {
  if (auto r = require({{engine, "engine"}, {snapshot, "snapshot"}, {out, "out"}}); !r) return r;
  result<session> started = (engine->body.*how)(snapshot->body, now);
  if (!started) return started.take_failure();
  *out = new kaisched_session(std::move(*started), engine->has_parts);
  return {};
}

}  // namespace

result<std::vector<group_row>> kaisched::capi::rows_of(const kaisched_session* session, const kaisched_id* groups,
                                                       std::size_t count) {
  if (groups == nullptr && count > 0) return bad_argument("groups is NULL");
  std::vector<group_row> rows;
  rows.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const result<group_row> row = row_of(session, groups[i], entity_kind::pod_group);
    if (!row) return row.failure();
    rows.push_back(*row);
  }
  return rows;
}

kaisched_status kaisched_run(const kaisched_engine* engine, const kaisched_snapshot* snapshot, std::int64_t now_ns,
                             kaisched_session** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_RUN, [&] { return start(engine, snapshot, out, &kaisched::engine::run, now_ns); });
}

kaisched_status kaisched_session_open(const kaisched_engine* engine, const kaisched_snapshot* snapshot,
                                      std::int64_t now_ns, kaisched_session** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SESSION_OPEN,
               [&] { return start(engine, snapshot, out, &kaisched::engine::open, now_ns); });
}

kaisched_status kaisched_session_run(kaisched_session* session, const char* action, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_SESSION_RUN, [&]() -> result<void> {
    if (auto r = require({{session, "session"}}); !r) return r;
    if (session->has_parts)
      return change_statement(
          session, [action](kaisched::session& body) { return action != nullptr ? body.run(action) : body.run(); });
    session->tables.retire();
    return action != nullptr ? session->body.try_run(action) : session->body.try_run();
  });
}

kaisched_status kaisched_session_warning(const kaisched_session* session, std::size_t index, char* buffer,
                                         std::size_t capacity, std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_SESSION_WARNING, [&]() -> result<void> {
    if (auto r = require({{session, "session"}}); !r) return r;
    return deliver_warning(session->body.warnings(), index, buffer, capacity, needed);
  });
}

kaisched_status kaisched_session_table(const kaisched_session* session, std::uint32_t kind, const kaisched_table** out,
                                       kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SESSION_TABLE, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {out, "out"}}); !r) return r;
    auto lent = session->tables.borrow(kind, [&](table_kind k) { return session->body.to_table(k); });
    if (!lent) return lent.take_failure();
    *out = *lent;
    return {};
  });
}

kaisched_status kaisched_session_digest(const kaisched_session* session, char* buffer, std::size_t capacity,
                                        std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_SESSION_DIGEST, [&]() -> result<void> {
    if (auto r = require({{session, "session"}}); !r) return r;
    return deliver(session->body.digest(), true, buffer, capacity, needed);
  });
}

kaisched_status kaisched_solve(std::uint32_t abi, const kaisched_kv* options, std::size_t option_count,
                               const kaisched_table* const* tables, std::size_t table_count, std::int64_t now_ns,
                               kaisched_session** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SOLVE, [&]() -> result<void> {
    if (auto r = require({{out, "out"}}); !r) return r;
    result<std::unique_ptr<kaisched_engine>> engine = make_engine(abi, options, option_count);
    if (!engine) return engine.take_failure();
    result<input_tables> input = input_tables::read(tables, table_count);
    if (!input) return input.take_failure();
    cluster all;
    if (auto done = all.apply(input->views()); !done) return done;
    const kaisched_snapshot now(all.take_snapshot());
    return start(engine->get(), &now, out, &kaisched::engine::run, now_ns);
  });
}

kaisched_status kaisched_session_run_group(kaisched_session* session, const char* action, kaisched_id group,
                                           kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_SESSION_RUN_GROUP, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {action, "action"}}); !r) return r;
    const result<group_row> row = row_of(session, group, entity_kind::pod_group);
    if (!row) return row.failure();
    if (session->has_parts)
      return change_statement(session, [action, &row](kaisched::session& body) { return body.run(action, *row); });
    session->tables.retire();
    return session->body.try_run(action, *row);
  });
}

void kaisched_session_cancel(const kaisched_session* session) noexcept {
  if (session != nullptr) session->body.cancel();
}

kaisched_status kaisched_session_fork(const kaisched_session* session, kaisched_session** out,
                                      kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SESSION_FORK, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {out, "out"}}); !r) return r;
    *out = new kaisched_session(session->body.fork(), session->has_parts);
    return {};
  });
}

kaisched_status kaisched_session_ask(const kaisched_session* session, const char* action, const kaisched_id* groups,
                                     std::size_t count, kaisched_answers** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SESSION_ASK, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {action, "action"}, {out, "out"}}); !r) return r;
    const result<std::vector<group_row>> rows = rows_of(session, groups, count);
    if (!rows) return rows.failure();
    const result<std::vector<what_if_answer>> answers = session->body.ask(action, *rows);
    if (!answers) return answers.failure();
    std::vector<decision> all;
    std::vector<std::uint64_t> first{0};
    for (const what_if_answer& one : *answers) {
      all.insert(all.end(), one.decisions.begin(), one.decisions.end());
      first.push_back(all.size());
    }
    result<table> decisions = session->body.to_table(all);
    if (!decisions) return decisions.take_failure();
    *out = new kaisched_answers(std::move(*decisions), std::move(first));
    return {};
  });
}

void kaisched_answers_destroy(kaisched_answers* answers) noexcept { delete answers; }

kaisched_status kaisched_answers_table(const kaisched_answers* answers, const kaisched_table** out,
                                       const std::uint64_t** first, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  if (first != nullptr) *first = nullptr;
  return guard(err, KAISCHED_FN_ANSWERS_TABLE, [&]() -> result<void> {
    if (auto r = require({{answers, "answers"}, {out, "out"}, {first, "first"}}); !r) return r;
    *out = answers->table.view();
    *first = answers->first.data();
    return {};
  });
}

kaisched_status kaisched_session_candidates(const kaisched_session* session, kaisched_id pod, kaisched_answers** out,
                                            kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SESSION_CANDIDATES, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {out, "out"}}); !r) return r;
    const result<pod_row> row = row_of(session, pod, entity_kind::pod);
    if (!row) return row.failure();
    const result<candidate_table> all = session->body.candidates(*row);
    if (!all) return all.failure();
    *out = new kaisched_answers(session->body.to_table(*all), {0, all->nodes.size()});
    return {};
  });
}

kaisched_status kaisched_session_mark(const kaisched_session* session, kaisched_checkpoint* out,
                                      kaisched_error* err) noexcept {
  if (out != nullptr) *out = {};
  return guard(err, KAISCHED_FN_SESSION_MARK, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {out, "out"}}); !r) return r;
    const checkpoint now = session->body.mark();
    *out = {now.depth, now.statement};
    return {};
  });
}

kaisched_status kaisched_session_rollback(kaisched_session* session, const kaisched_checkpoint* to,
                                          kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_SESSION_ROLLBACK, [&]() -> result<void> {
    if (auto r = require({{session, "session"}, {to, "to"}}); !r) return r;
    return change_statement(session,
                            [to](kaisched::session& body) { return body.rollback({to->depth, to->statement}); });
  });
}

kaisched_status kaisched_session_allocate(kaisched_session* session, kaisched_id pod, kaisched_id node,
                                          std::int32_t* placed, kaisched_error* err) noexcept {
  if (placed != nullptr) *placed = 0;
  return guard(err, KAISCHED_FN_SESSION_ALLOCATE,
               [&] { return put(session, pod, node, placed, &kaisched::session::allocate); });
}

kaisched_status kaisched_session_pipeline(kaisched_session* session, kaisched_id pod, kaisched_id node,
                                          std::int32_t* placed, kaisched_error* err) noexcept {
  if (placed != nullptr) *placed = 0;
  return guard(err, KAISCHED_FN_SESSION_PIPELINE,
               [&] { return put(session, pod, node, placed, &kaisched::session::pipeline); });
}

kaisched_status kaisched_session_evict(kaisched_session* session, kaisched_id pod, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_SESSION_EVICT, [&]() -> result<void> {
    if (auto r = require({{session, "session"}}); !r) return r;
    const result<pod_row> row = row_of(session, pod, entity_kind::pod);
    if (!row) return row.failure();
    return change_statement(session, [&row](kaisched::session& body) { return body.evict(*row); });
  });
}

kaisched_status kaisched_session_commit(kaisched_session* session, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_SESSION_COMMIT, [&]() -> result<void> {
    if (auto r = require({{session, "session"}}); !r) return r;
    return change_statement(session, [](kaisched::session& body) { return body.commit(); });
  });
}

void kaisched_session_close(kaisched_session* session) noexcept { delete session; }
