#include "prelude.hpp"

#include "rows.hpp"

using namespace kaisched;

std::vector<table> small_cluster() {
  const std::int64_t half_tebibyte = std::int64_t{1} << 39U;
  const test::numbers node{64000, half_tebibyte, 8000, 110};
  const test::numbers pod{8000, 0, 8000};
  std::vector<table> built;
  built.push_back(test::add(table_kind::queue, {"name"}).add({"team"}));
  built.push_back(test::add(table_kind::node, {"name", "capacity"}).add({"n1", node}).add({"n2", node}));
  built.push_back(test::add(table_kind::pod_group, {"name", "queue", "min_member"}).add({"train", "team", 2}));
  built.push_back(test::add(table_kind::pod, {"name", "group", "request"})
                      .add({"train-0", "train", pod})
                      .add({"train-1", "train", pod}));
  return built;
}

std::vector<table_view> views(const std::vector<table>& owned) {
  std::vector<table_view> seen;
  seen.reserve(owned.size());
  for (const table& one : owned) seen.push_back(one.view());
  return seen;
}
