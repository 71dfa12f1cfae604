#include <string>
#include <string_view>
#include <utility>

#include "guard.hpp"
#include "handles.hpp"
#include "tables.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

result<void> at_session(const kaisched_recording* recording) {
  if (auto r = require({{recording, "recording"}}); !r) return r;
  if (recording->body->session().number == 0) {
    return error{status::state, "the recording is before its first session: call kaisched_recording_next", {}};
  }
  return {};
}

}  // namespace

kaisched_status kaisched_recorder_create(kaisched_recorder** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_RECORDER_CREATE, [&]() -> result<void> {
    if (auto r = require({{out, "out"}}); !r) return r;
    *out = new kaisched_recorder;
    return {};
  });
}

void kaisched_recorder_destroy(kaisched_recorder* recorder) noexcept { delete recorder; }

kaisched_status kaisched_recorder_add(kaisched_recorder* recorder, const kaisched_engine* engine,
                                      const kaisched_session* session, std::int64_t now_ns, const void** bytes,
                                      std::size_t* size, kaisched_error* err) noexcept {
  if (bytes != nullptr) *bytes = nullptr;
  if (size != nullptr) *size = 0;
  return guard(err, KAISCHED_FN_RECORDER_ADD, [&]() -> result<void> {
    if (auto r = require(
            {{recorder, "recorder"}, {engine, "engine"}, {session, "session"}, {bytes, "bytes"}, {size, "size"}});
        !r) {
      return r;
    }
    recorder->bytes.clear();
    if (auto added = recorder->body.add(engine->body, session->body, now_ns); !added) return added;
    *bytes = recorder->bytes.data();
    *size = recorder->bytes.size();
    return {};
  });
}

kaisched_status kaisched_recording_open(const void* bytes, std::size_t size, kaisched_recording** out,
                                        kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_RECORDING_OPEN, [&]() -> result<void> {
    if (auto r = require({{bytes, "bytes"}, {out, "out"}}); !r) return r;
    auto made = std::make_unique<kaisched_recording>(std::string(static_cast<const char*>(bytes), size));
    result<io::recording> opened = io::recording::open(made->bytes);
    if (!opened) return opened.take_failure();
    made->body.emplace(std::move(*opened));
    *out = made.release();
    return {};
  });
}

void kaisched_recording_close(kaisched_recording* recording) noexcept { delete recording; }

kaisched_status kaisched_recording_next(kaisched_recording* recording, std::int32_t* more, std::int64_t* now_ns,
                                        kaisched_error* err) noexcept {
  if (more != nullptr) *more = 0;
  return guard(err, KAISCHED_FN_RECORDING_NEXT, [&]() -> result<void> {
    if (auto r = require({{recording, "recording"}, {more, "more"}}); !r) return r;
    const result<bool> there = recording->body->next();
    if (!there) return there.failure();
    *more = *there ? 1 : 0;
    if (*there && now_ns != nullptr) *now_ns = recording->body->session().now;
    return {};
  });
}

kaisched_status kaisched_recording_snapshot(kaisched_recording* recording, kaisched_snapshot** out,
                                            kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_RECORDING_SNAPSHOT, [&]() -> result<void> {
    if (auto r = require({{recording, "recording"}, {out, "out"}}); !r) return r;
    if (auto r = at_session(recording); !r) return r;
    *out = new kaisched_snapshot(recording->body->state());
    return {};
  });
}

kaisched_status kaisched_recording_configure(const kaisched_recording* recording, kaisched_engine* engine,
                                             kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_RECORDING_CONFIGURE, [&]() -> result<void> {
    if (auto r = require({{recording, "recording"}, {engine, "engine"}}); !r) return r;
    if (auto r = at_session(recording); !r) return r;
    return io::configure(engine->body, recording->body->session());
  });
}

kaisched_status kaisched_recording_digest(const kaisched_recording* recording, char* buffer, std::size_t capacity,
                                          std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_RECORDING_DIGEST, [&]() -> result<void> {
    if (auto r = at_session(recording); !r) return r;
    return deliver(recording->body->session().digest, true, buffer, capacity, needed);
  });
}
