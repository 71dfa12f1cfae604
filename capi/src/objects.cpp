#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "guard.hpp"
#include "handles.hpp"
#include "io/kubernetes/actions.hpp"
#include "io/kubernetes/settings.hpp"
#include "io/kubernetes/translation.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

result<io::kubernetes::settings> read_options(const kaisched_kv* options, std::size_t count) {
  if (options == nullptr && count > 0) return bad_argument("options is NULL");
  io::kubernetes::settings chosen;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string where = "option " + std::to_string(i);
    if (options[i].key == nullptr) return bad_argument(where + ": key is NULL");
    if (options[i].value == nullptr) return bad_argument(where + ": value is NULL");
    if (auto done = io::kubernetes::set(chosen, options[i].key, options[i].value); !done) return done.take_failure();
  }
  return chosen;
}

result<io::kubernetes::binding_form> read_form(std::string_view form) {
  if (form == "kai") return io::kubernetes::binding_form::kai;
  if (form == "kubernetes") return io::kubernetes::binding_form::kubernetes;
  return bad_argument("form is neither kai nor kubernetes");
}

}  // namespace

kaisched_status kaisched_objects_read(const char* text, std::size_t size, const kaisched_kv* options, std::size_t count,
                                      kaisched_objects** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_OBJECTS_READ, [&]() -> result<void> {
    if (auto r = require({{out, "out"}}); !r) return r;
    if (text == nullptr && size > 0) return bad_argument("text is NULL");
    const result<io::kubernetes::settings> chosen = read_options(options, count);
    if (!chosen) return chosen.failure();
    result<io::kubernetes::translation> read =
        io::kubernetes::translate_json(size == 0 ? std::string_view{} : std::string_view(text, size), "text", *chosen);
    if (!read) return read.take_failure();
    auto made = std::make_unique<kaisched_objects>();
    made->names = std::move(read->names);
    made->faults = std::move(read->input.faults);
    made->now = read->input.now;
    for (table& one : read->input.tables) {
      if (one.rows() == 0) continue;
      made->tables.push_back(std::make_unique<output_table>(std::move(one)));
      made->views.push_back(made->tables.back()->view());
    }
    *out = made.release();
    return {};
  });
}

void kaisched_objects_destroy(kaisched_objects* objects) noexcept { delete objects; }

kaisched_status kaisched_objects_tables(const kaisched_objects* objects, const kaisched_table* const** out,
                                        std::size_t* count, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  if (count != nullptr) *count = 0;
  return guard(err, KAISCHED_FN_OBJECTS_TABLES, [&]() -> result<void> {
    if (auto r = require({{objects, "objects"}, {out, "out"}, {count, "count"}}); !r) return r;
    *out = objects->views.data();
    *count = objects->views.size();
    return {};
  });
}

kaisched_status kaisched_objects_now(const kaisched_objects* objects, std::int64_t* out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = 0;
  return guard(err, KAISCHED_FN_OBJECTS_NOW, [&]() -> result<void> {
    if (auto r = require({{objects, "objects"}, {out, "out"}}); !r) return r;
    *out = objects->now;
    return {};
  });
}

kaisched_status kaisched_objects_fault(const kaisched_objects* objects, std::size_t index, char* buffer,
                                       std::size_t capacity, std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_OBJECTS_FAULT, [&]() -> result<void> {
    if (auto r = require({{objects, "objects"}}); !r) return r;
    if (index >= objects->faults.size()) {
      return error{status::not_found, std::to_string(objects->faults.size()) + " objects could not be read", {}};
    }
    return deliver(objects->faults[index].message, true, buffer, capacity, needed);
  });
}

kaisched_status kaisched_object_cache_create(const kaisched_kv* options, std::size_t count, kaisched_object_cache** out,
                                             kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_OBJECT_CACHE_CREATE, [&]() -> result<void> {
    if (auto r = require({{out, "out"}}); !r) return r;
    result<io::kubernetes::settings> chosen = read_options(options, count);
    if (!chosen) return chosen.take_failure();
    *out = new kaisched_object_cache(std::move(*chosen));
    return {};
  });
}

void kaisched_object_cache_destroy(kaisched_object_cache* cache) noexcept { delete cache; }

kaisched_status kaisched_object_cache_put(kaisched_object_cache* cache, const char* text, std::size_t size,
                                          kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_OBJECT_CACHE_PUT, [&]() -> result<void> {
    if (auto r = require({{cache, "cache"}}); !r) return r;
    if (text == nullptr && size > 0) return bad_argument("text is NULL");
    return cache->body.put(size == 0 ? std::string_view{} : std::string_view(text, size));
  });
}

kaisched_status kaisched_object_cache_remove(kaisched_object_cache* cache, const char* text, std::size_t size,
                                             kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_OBJECT_CACHE_REMOVE, [&]() -> result<void> {
    if (auto r = require({{cache, "cache"}}); !r) return r;
    if (text == nullptr && size > 0) return bad_argument("text is NULL");
    return cache->body.remove(size == 0 ? std::string_view{} : std::string_view(text, size));
  });
}

kaisched_status kaisched_object_cache_snapshot(kaisched_object_cache* cache, std::int64_t now,
                                               kaisched_snapshot** snapshot, kaisched_objects** objects,
                                               kaisched_error* err) noexcept {
  if (snapshot != nullptr) *snapshot = nullptr;
  if (objects != nullptr) *objects = nullptr;
  return guard(err, KAISCHED_FN_OBJECT_CACHE_SNAPSHOT, [&]() -> result<void> {
    if (auto r = require({{cache, "cache"}, {snapshot, "snapshot"}}); !r) return r;
    result<io::kubernetes::object_cache::version> taken = cache->body.take(now);
    if (!taken) return taken.take_failure();
    auto made = std::make_unique<kaisched_objects>();
    made->names = std::move(taken->names);
    made->faults = std::move(taken->faults);
    made->now = taken->now;
    *snapshot = new kaisched_snapshot(std::move(taken->snapshot));
    if (objects != nullptr) *objects = made.release();
    return {};
  });
}

kaisched_status kaisched_objects_actions(const kaisched_objects* objects, const kaisched_session* session,
                                         const char* form, char* buffer, std::size_t capacity, std::size_t* needed,
                                         kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_OBJECTS_ACTIONS, [&]() -> result<void> {
    if (auto r = require({{objects, "objects"}, {session, "session"}, {form, "form"}}); !r) return r;
    const result<io::kubernetes::binding_form> chosen = read_form(form);
    if (!chosen) return chosen.failure();
    const result<std::string> text = io::kubernetes::format_actions(session->body, objects->names, *chosen);
    if (!text) return text.failure();
    return deliver(*text, true, buffer, capacity, needed);
  });
}
