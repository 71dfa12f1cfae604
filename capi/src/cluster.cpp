#include <memory>
#include <string>
#include <vector>

#include <kaisched/cluster.hpp>

#include "guard.hpp"
#include "handles.hpp"
#include "tables.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

kaisched_status kaisched_cluster_create(kaisched_cluster** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_CLUSTER_CREATE, [&]() -> result<void> {
    if (auto r = require({{out, "out"}}); !r) return r;
    *out = kaisched_cluster::make(std::make_unique<kaisched_cluster>());
    return {};
  });
}

kaisched_status kaisched_cluster_resume(const kaisched_snapshot* from, kaisched_cluster** out,
                                        kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_CLUSTER_RESUME, [&]() -> result<void> {
    if (auto r = require({{from, "from"}, {out, "out"}}); !r) return r;
    *out = kaisched_cluster::make(std::make_unique<kaisched_cluster>(cluster(from->body)));
    return {};
  });
}

void kaisched_cluster_destroy(kaisched_cluster* cluster) noexcept { kaisched_cluster::give_back(cluster); }

kaisched_status kaisched_cluster_apply(kaisched_cluster* cluster, const kaisched_table* const* tables,
                                       std::size_t count, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_CLUSTER_APPLY, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}}); !r) return r;
    result<input_tables> input = input_tables::read(tables, count);
    if (!input) return input.take_failure();
    cluster->tables.drop();
    return cluster->body.apply(input->views());
  });
}

kaisched_status kaisched_cluster_preview(kaisched_cluster* cluster, const kaisched_table* const* tables,
                                         std::size_t count, kaisched_snapshot** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_CLUSTER_PREVIEW, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}, {out, "out"}}); !r) return r;
    result<input_tables> input = input_tables::read(tables, count);
    if (!input) return input.take_failure();
    result<snapshot> made = cluster->body.preview(input->views());
    if (!made) return made.take_failure();
    *out = new kaisched_snapshot(*std::move(made));
    return {};
  });
}

kaisched_status kaisched_cluster_set_option(kaisched_cluster* cluster, const char* option, const char* value,
                                            kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_CLUSTER_SET_OPTION, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}, {option, "option"}, {value, "value"}}); !r) return r;
    return cluster->body.set(option, value);
  });
}

kaisched_status kaisched_cluster_get_option(const kaisched_cluster* cluster, const char* option, char* buffer,
                                            std::size_t capacity, std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_CLUSTER_GET_OPTION, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}, {option, "option"}}); !r) return r;
    result<std::string> value = cluster->body.get(option);
    if (!value) return value.take_failure();
    return deliver(*value, true, buffer, capacity, needed);
  });
}

kaisched_status kaisched_cluster_find(const kaisched_cluster* cluster, std::uint32_t kind, const char* name,
                                      kaisched_id* out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = 0;
  return guard(err, KAISCHED_FN_CLUSTER_FIND, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}, {name, "name"}, {out, "out"}}); !r) return r;
    if (kind < KAISCHED_KIND_RESOURCE || kind > KAISCHED_KIND_RESOURCE_CLAIM)
      return bad_argument("kind is no kind of entity");
    result<entity_id> found = cluster->body.find(static_cast<entity_kind>(kind), name);
    if (!found) return found.take_failure();
    *out = found->value;
    return {};
  });
}

kaisched_status kaisched_cluster_snapshot(kaisched_cluster* cluster, kaisched_snapshot** out,
                                          kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_CLUSTER_SNAPSHOT, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}, {out, "out"}}); !r) return r;
    *out = new kaisched_snapshot(cluster->body.take_snapshot());
    return {};
  });
}

namespace {

/// Pods of a report.
result<std::vector<entity_id>> pods_of(const kaisched_cluster* cluster, const kaisched_id* pods, std::size_t count) {
  if (auto r = require({{cluster, "cluster"}}); !r) return r.take_failure();
  if (pods == nullptr && count > 0) return bad_argument("pods is NULL");
  std::vector<entity_id> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.emplace_back(pods[i]);
  return all;
}

}  // namespace

kaisched_status kaisched_cluster_assume(kaisched_cluster* cluster, const kaisched_session* session,
                                        std::uint64_t* conflicts, kaisched_error* err) noexcept {
  if (conflicts != nullptr) *conflicts = 0;
  return guard(err, KAISCHED_FN_CLUSTER_ASSUME, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}, {session, "session"}}); !r) return r;
    cluster->tables.drop();
    const result<std::vector<conflict>> found = cluster->body.assume(session->body);
    if (!found) return found.failure();
    if (conflicts != nullptr) *conflicts = found->size();
    return {};
  });
}

kaisched_status kaisched_cluster_confirm(kaisched_cluster* cluster, const kaisched_id* pods, std::size_t count,
                                         kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_CLUSTER_CONFIRM, [&]() -> result<void> {
    const result<std::vector<entity_id>> all = pods_of(cluster, pods, count);
    if (!all) return all.failure();
    cluster->tables.drop();
    return cluster->body.confirm(*all);
  });
}

kaisched_status kaisched_cluster_forget(kaisched_cluster* cluster, const kaisched_id* pods, std::size_t count,
                                        std::uint32_t why, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_CLUSTER_FORGET, [&]() -> result<void> {
    const result<std::vector<entity_id>> all = pods_of(cluster, pods, count);
    if (!all) return all.failure();
    if (why > KAISCHED_FORGET_LOST) return bad_argument("why is no kaisched_forget_reason");
    cluster->tables.drop();
    return cluster->body.forget(*all, static_cast<forget_reason>(why));
  });
}

kaisched_status kaisched_cluster_table(const kaisched_cluster* cluster, std::uint32_t kind, const kaisched_table** out,
                                       kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_CLUSTER_TABLE, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}, {out, "out"}}); !r) return r;
    const result<const kaisched_table*> lent =
        cluster->tables.borrow(kind, [&](table_kind k) { return cluster->body.to_table(k); });
    if (!lent) return lent.failure();
    *out = *lent;
    return {};
  });
}
