#include "benchmarks/c_calls.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include <kaisched/abi.hpp>
#include <kaisched/kaisched.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/scenarios.hpp"
#include "benchmarks/timing.hpp"

namespace kaisched::bench {

namespace {

/// Tables as both interfaces take them.
class both_tables {
 public:
  explicit both_tables(std::vector<table> tables) : tables_(std::move(tables)) {
    for (const table& one : tables_) {
      const table_view view = one.view();
      std::vector<kaisched_col>& columns = columns_.emplace_back();
      for (std::uint32_t i = 0; i < view.column_count; ++i)
        columns.push_back(std::bit_cast<kaisched_col>(view.columns[i]));
      views_.push_back(view);
      c_views_.push_back({sizeof(kaisched_table), view.kind, view.op, view.column_count, view.rows, columns.data()});
    }
    for (const kaisched_table& view : c_views_) c_tables_.emplace_back(&view);
  }
  both_tables(const both_tables&) = delete;
  both_tables& operator=(const both_tables&) = delete;

  [[nodiscard]] const std::vector<table_view>& cpp() const { return views_; }
  [[nodiscard]] const std::vector<abi::table>& c() const { return c_tables_; }

 private:
  std::vector<table> tables_;
  std::vector<std::vector<kaisched_col>> columns_;
  std::vector<table_view> views_;
  std::vector<kaisched_table> c_views_;
  std::vector<abi::table> c_tables_;
};

/// The first `count` pods get a status.
std::vector<table> pods_become(pod_status status, const std::vector<std::string>& pods, std::size_t count) {
  std::vector<table> all;
  table& t = all.emplace_back(table_kind::pod, table_op::change);
  table::column& names = t.add(col::pod_name, column_type::string);
  table::column& statuses = t.add(col::pod_status_column, column_type::u8);
  for (std::size_t i = 0; i < count; ++i) {
    names.push(std::string_view(pods[i]));
    statuses.push(static_cast<std::uint8_t>(status));
  }
  return all;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// One call through both interfaces in turn, so that a busy minute hits both.
template <class C, class Cpp>
call_cost compare(std::string name, std::size_t changes, int runs, C through_c, Cpp through_cpp) {
  std::vector<double> c;
  std::vector<double> cpp;
  for (int run = 0; run < runs; ++run) {
    c.push_back(seconds([&] { through_c(run); }));
    cpp.push_back(seconds([&] { through_cpp(run); }));
  }
  return {std::move(name), changes, median(std::move(c)), median(std::move(cpp))};
}

}  // namespace

c_calls_result run_c_calls(std::int32_t nodes, int runs) {
  scenario_input input = build("few_changes", nodes);
  std::erase_if(input.jobs, [](const scenario_job& job) { return !job.running(); });
  std::vector<std::string> pods;
  for (const scenario_job& job : input.jobs) {
    for (std::int64_t i = 0; i < job.pod_count(); ++i) pods.push_back(job.name + "-" + std::to_string(i));
  }
  const both_tables start(to_tables(input));
  cluster cpp_cluster;
  must(cpp_cluster.apply(start.cpp()));
  abi::cluster c_cluster;
  c_cluster.apply(start.c());

  c_calls_result made;
  made.pods = static_cast<std::int64_t>(pods.size());
  for (const std::size_t wanted : {std::size_t{1}, std::size_t{100}, std::size_t{10'000}}) {
    const std::size_t count = std::min(wanted, pods.size());
    const both_tables bound(pods_become(pod_status::bound, pods, count));
    const both_tables running(pods_become(pod_status::running, pods, count));
    made.costs.push_back(compare(
        "apply", count, 2 * runs, [&](int run) { c_cluster.apply((run % 2 == 0 ? bound : running).c()); },
        [&](int run) { must(cpp_cluster.apply((run % 2 == 0 ? bound : running).cpp())); }));
  }

  made.costs.push_back(compare(
      "snapshot", 0, 10 * runs, [&](int) { (void)c_cluster.take_snapshot(); },
      [&](int) { (void)cpp_cluster.take_snapshot(); }));

  const engine cpp_engine;
  const abi::engine c_engine;
  const snapshot cpp_taken = cpp_cluster.take_snapshot();
  const abi::snapshot c_taken = c_cluster.take_snapshot();
  made.costs.push_back(compare(
      "empty session", 0, runs, [&](int) { (void)c_engine.run(c_taken, scenario_now); },
      [&](int) { (void)must(cpp_engine.run(cpp_taken, scenario_now)); }));

  if (c_engine.run(c_taken, scenario_now).digest() != must(cpp_engine.run(cpp_taken, scenario_now)).digest())
    throw std::runtime_error("the two interfaces decide differently");
  return made;
}

}  // namespace kaisched::bench
