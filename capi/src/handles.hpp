#pragma once
/// @file
/// What is behind the handles of the C interface.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/federation.hpp>
#include <kaisched/kaisched.h>
#include <kaisched/scaling.hpp>
#include <kaisched/session.hpp>
#include <kaisched/snapshot.hpp>

#include "guard.hpp"
#include "io/kubernetes/object_cache.hpp"
#include "io/kubernetes/translation.hpp"
#include "io/recording.hpp"
#include "tables.hpp"

namespace kaisched::capi {

/// An object that a handle owns, and federations as well. The handle is the object itself.
template <class T>
struct shared_handle {
  std::shared_ptr<T> owner;  ///< until the handle is given back

  [[nodiscard]] static T* make(std::unique_ptr<T> object) {
    std::shared_ptr<T> shared(std::move(object));
    shared->owner = shared;
    return shared.get();
  }
  static void give_back(T* handle) {
    if (handle == nullptr) return;
    const std::shared_ptr<T> last = std::move(handle->owner);
  }
};

}  // namespace kaisched::capi

struct kaisched_engine : kaisched::capi::shared_handle<kaisched_engine> {
  kaisched::engine body;
  std::shared_ptr<const kaisched::device_catalog> catalog;
  bool has_parts = false;  ///< of the host
};

struct kaisched_cluster : kaisched::capi::shared_handle<kaisched_cluster> {
  kaisched_cluster() = default;
  explicit kaisched_cluster(kaisched::cluster b) : body(std::move(b)) {}

  kaisched::cluster body;
  mutable kaisched::capi::lent_tables tables;
};

namespace kaisched::capi {

/// Major versions are equal and the caller knows nothing that the library does not.
[[nodiscard]] result<void> check_abi(std::uint32_t caller);
/// What kaisched_engine_create makes.
[[nodiscard]] result<std::unique_ptr<kaisched_engine>> make_engine(std::uint32_t abi, const kaisched_kv* options,
                                                                   std::size_t count);
/// Threads of a host; null for NULL.
[[nodiscard]] result<std::shared_ptr<executor>> make_executor(const kaisched_executor* given);

}  // namespace kaisched::capi

/// Immutable to the caller; what is mutable here is guarded, because calls may run concurrently.
struct kaisched_snapshot {
  explicit kaisched_snapshot(kaisched::snapshot b) : body(std::move(b)) {}

  const kaisched::snapshot body;
  mutable std::atomic<std::uint64_t> references{1};
  mutable kaisched::capi::lent_tables tables;
  mutable std::mutex saved_mutex;
  mutable std::optional<std::string> saved;  ///< bytes between the question for their size and their delivery
};

struct kaisched_session {
  explicit kaisched_session(kaisched::session b, bool with_parts = false) : body(std::move(b)), has_parts(with_parts) {}

  kaisched::session body;
  mutable kaisched::capi::lent_tables tables;
  bool has_parts;        ///< of the host, which would be opened anew for each fork
  bool is_over = false;  ///< a change of it failed half-way, for want of memory
};

namespace kaisched::capi {

inline named_pointer::named_pointer(const kaisched_session* given, std::string_view called) noexcept
    : pointer(given), name(called), is_over(given != nullptr && given->is_over) {}

/// Changes the statement of a session.
template <class Change>
result<void> change_statement(kaisched_session* session, Change&& how) {
  session->tables.retire();
  try {
    result<void> done = std::forward<Change>(how)(session->body);
    session->is_over = !done && done.failure().code == status::no_memory;
    return done;
  } catch (const std::bad_alloc&) {
    session->is_over = true;
    throw;
  }
}

/// Row of an entity of the snapshot that a session is over.
[[nodiscard]] inline result<std::uint32_t> row_of(const kaisched_session* session, kaisched_id id, entity_kind kind) {
  return session->body.base().row_of(entity_id(id), kind);
}
/// Rows of pod groups.
[[nodiscard]] result<std::vector<group_row>> rows_of(const kaisched_session* session, const kaisched_id* groups,
                                                     std::size_t count);

}  // namespace kaisched::capi

/// Immutable once asked.
struct kaisched_answers {
  kaisched_answers(kaisched::table rows, std::vector<std::uint64_t> first_rows)
      : table(std::move(rows)), first(std::move(first_rows)) {}

  kaisched::capi::output_table table;
  std::vector<std::uint64_t> first;  ///< by question, and the end
};

/// Immutable.
struct kaisched_scaling {
  explicit kaisched_scaling(kaisched::scale_report found) : body(std::move(found)) {}

  const kaisched::scale_report body;
  mutable kaisched::capi::lent_tables tables;
};

struct kaisched_federation {
  explicit kaisched_federation(kaisched::federation_options options) : body(std::move(options)) {}
  /// A call may change the clusters of members: tables that they have lent are gone.
  void drop_lent() {
    for (const auto& [name, one] : clusters) one->tables.drop();
  }

  kaisched::federation body;
  std::map<std::string, std::shared_ptr<kaisched_cluster>, std::less<>> clusters;  ///< of members in this process
  std::unique_ptr<kaisched::capi::output_table> queues;
  bool is_over = false;  ///< a change of it failed half-way, for want of memory
};

inline kaisched::capi::named_pointer::named_pointer(const kaisched_federation* given, std::string_view called) noexcept
    : pointer(given), name(called), is_over(given != nullptr && given->is_over) {}

/// Immutable.
struct kaisched_federated {
  explicit kaisched_federated(kaisched::federation_report decided);

  kaisched::federation_report body;  ///< without its sessions
  std::unique_ptr<kaisched::capi::output_table> places, waits, members;
  std::string digest;
  std::vector<std::unique_ptr<kaisched_session>> sessions;
};

struct kaisched_recorder {
  std::string bytes;  ///< of the last session
  kaisched::io::recorder body{[this](std::string_view more) -> kaisched::result<void> {
    bytes += more;
    return {};
  }};
};

struct kaisched_recording {
  explicit kaisched_recording(std::string given) : bytes(std::move(given)) {}

  std::string bytes;
  std::optional<kaisched::io::recording> body;  ///< borrows the bytes
};

struct kaisched_object_cache {
  explicit kaisched_object_cache(kaisched::io::kubernetes::settings chosen) : body(std::move(chosen)) {}

  kaisched::io::kubernetes::object_cache body;
};

/// Immutable once read.
struct kaisched_objects {
  kaisched::io::kubernetes::object_names names;
  std::vector<kaisched::error> faults;
  std::int64_t now = 0;
  std::vector<std::unique_ptr<kaisched::capi::output_table>> tables;
  std::vector<const kaisched_table*> views;
};
