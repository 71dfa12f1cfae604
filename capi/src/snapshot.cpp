#include <memory>
#include <mutex>
#include <utility>

#include <kaisched/snapshot.hpp>

#include "guard.hpp"
#include "handles.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

void kaisched_snapshot_retain(const kaisched_snapshot* snapshot) noexcept {
  if (snapshot != nullptr) snapshot->references.fetch_add(1, std::memory_order_relaxed);
}

void kaisched_snapshot_release(const kaisched_snapshot* snapshot) noexcept {
  // The last one must see what all others did before it frees.
  if (snapshot != nullptr && snapshot->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete snapshot;
}

kaisched_status kaisched_snapshot_table(const kaisched_snapshot* snapshot, std::uint32_t kind,
                                        const kaisched_table** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SNAPSHOT_TABLE, [&]() -> result<void> {
    if (auto r = require({{snapshot, "snapshot"}, {out, "out"}}); !r) return r;
    auto lent = snapshot->tables.borrow(kind, [&](table_kind k) { return snapshot->body.to_table(k); });
    if (!lent) return lent.take_failure();
    *out = *lent;
    return {};
  });
}

kaisched_status kaisched_snapshot_digest(const kaisched_snapshot* snapshot, char* buffer, std::size_t capacity,
                                         std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_SNAPSHOT_DIGEST, [&]() -> result<void> {
    if (auto r = require({{snapshot, "snapshot"}}); !r) return r;
    return deliver(snapshot->body.digest(), true, buffer, capacity, needed);
  });
}

kaisched_status kaisched_snapshot_save(const kaisched_snapshot* snapshot, void* buffer, std::size_t capacity,
                                       std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_SNAPSHOT_SAVE, [&]() -> result<void> {
    if (auto r = require({{snapshot, "snapshot"}}); !r) return r;
    const std::lock_guard lock(snapshot->saved_mutex);
    if (!snapshot->saved) snapshot->saved = snapshot->body.save();
    auto delivered = deliver(*snapshot->saved, false, buffer, capacity, needed);
    if (delivered.ok() && buffer != nullptr) snapshot->saved.reset();
    return delivered;
  });
}

kaisched_status kaisched_snapshot_load(const void* bytes, std::size_t size, kaisched_snapshot** out,
                                       kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SNAPSHOT_LOAD, [&]() -> result<void> {
    if (auto r = require({{bytes, "bytes"}, {out, "out"}}); !r) return r;
    result<snapshot> loaded = snapshot::load({static_cast<const char*>(bytes), size});
    if (!loaded) return loaded.take_failure();
    *out = new kaisched_snapshot(std::move(*loaded));
    return {};
  });
}
