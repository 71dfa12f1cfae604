#include <memory>
#include <utility>

#include <kaisched/session.hpp>

#include "guard.hpp"
#include "handles.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

result<void> start(const kaisched_engine* engine, const kaisched_snapshot* snapshot, kaisched_session** out,
                   result<session> (kaisched::engine::*how)(const kaisched::snapshot&, std::int64_t) const,
                   std::int64_t now) {
  if (auto r = require({{engine, "engine"}, {snapshot, "snapshot"}, {out, "out"}}); !r) return r;
  result<session> started = (engine->body.*how)(snapshot->body, now);
  if (!started) return started.take_failure();
  *out = new kaisched_session(std::move(*started));
  return {};
}

}  // namespace

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
    session->tables.retire();
    return action != nullptr ? session->body.run(action) : session->body.run();
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

void kaisched_session_close(kaisched_session* session) noexcept { delete session; }
