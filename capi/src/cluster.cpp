#include <memory>
#include <string>

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
    *out = new kaisched_cluster;
    return {};
  });
}

void kaisched_cluster_destroy(kaisched_cluster* cluster) noexcept { delete cluster; }

kaisched_status kaisched_cluster_apply(kaisched_cluster* cluster, const kaisched_table* const* tables,
                                       std::size_t count, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_CLUSTER_APPLY, [&]() -> result<void> {
    if (auto r = require({{cluster, "cluster"}}); !r) return r;
    result<input_tables> input = input_tables::read(tables, count);
    if (!input) return input.take_failure();
    return cluster->body.apply(input->views());
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
