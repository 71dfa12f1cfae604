// Times the engine on the scale scenarios: medians over runs, every phase by itself, nothing outside of the phases.
#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <malloc.h>
#include <map>
#include <set>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/vendors.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/c_calls.hpp"
#include "benchmarks/contended.hpp"
#include "benchmarks/device_fit.hpp"
#include "benchmarks/divided_cluster.hpp"
#include "benchmarks/explanations.hpp"
#include "benchmarks/few_changes.hpp"
#include "benchmarks/large_minute.hpp"
#include "benchmarks/scenarios.hpp"
#include "benchmarks/slow_inputs.hpp"
#include "benchmarks/threads.hpp"
#include "benchmarks/timing.hpp"
#include "benchmarks/what_if.hpp"

namespace {

using namespace kaisched;
using bench::must;
using bench::peak_rss;
using bench::reset_peak;
using bench::seconds;

struct settings {
  std::string scenario;
  std::int32_t nodes = 1000;
  int runs = 5;
  std::string mode = "compat";
  std::string json;
  std::uint64_t seed = 1;
  std::vector<std::string> options;
  std::size_t threads = 2;
  std::string preset;
  std::vector<std::int64_t> gpus{512};
  std::uint64_t seeds = 20;
  bool second = false;
  bool mix = false;
  double scale = 1;
  std::string part;
  int tries = 200;
  double seconds = 1e9;
  std::string genes;
  std::string worst;
};

/// Scenarios whose actions and features the engine has, without `large` and `slow`, which take minutes.
std::vector<std::string> supported_scenarios() {
  return {"fill",
          "overflow",
          "overflow_full",
          "gang",
          "gang64",
          "distributed",
          "fraction",
          "topology",
          "mixed",
          "mixed_cycle",
          "steady",
          "reclaim_large",
          "reclaim_large_half",
          "reclaim_many",
          "reclaim_many_cycle",
          "reclaim_swap_cycle",
          "reclaim_fail",
          "reclaim_fail_topo",
          "preempt",
          "consolidation",
          "few_changes",
          "what_if_pod",
          "what_if_gang",
          "what_if_victims",
          "hami_fit",
          "presets",
          "repartition",
          "contended",
          "threads",
          "c_calls",
          "explain"};
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// The value that 99 of 100 do not pass.
double p99(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[(values.size() - 1) * 99 / 100];
}

struct timings {
  std::vector<double> load, snapshot, open, actions, read, total;
};

nlohmann::json run_scenario(const std::string& name, const settings& s) {
  bench::scenario_input input = bench::build(name, s.nodes);
  const std::vector<table> tables = bench::to_tables(input);
  engine e;
  must(e.set("mode", s.mode));
  must(e.set("consolidation.max_victims", "-1"));
  timings t;
  nlohmann::json row;
  row["input_sha256"] = bench::input_sha256(input);
  std::int64_t pods = 0;
  for (const bench::scenario_job& job : input.jobs) pods += job.pod_count();
  input.jobs = {};  // a host has its columns, and not what they were made from
  malloc_trim(0);
  reset_peak();
  for (int run = 0; run < s.runs; ++run) {
    cluster c;
    t.load.push_back(seconds([&] { must(c.apply(tables)); }));
    std::unique_ptr<snapshot> taken;
    t.snapshot.push_back(seconds([&] { taken = std::make_unique<snapshot>(c.take_snapshot()); }));
    std::unique_ptr<session> opened;
    t.open.push_back(seconds([&] { opened = std::make_unique<session>(must(e.open(*taken, bench::scenario_now))); }));
    t.actions.push_back(seconds([&] {
      for (const std::string& action : input.actions) must(opened->run(action));
    }));
    std::array<std::int64_t, 8> counts{};
    t.read.push_back(seconds([&] {
      for (const decision& d : opened->decisions()) ++counts[static_cast<std::size_t>(d.kind)];
    }));
    t.total.push_back(t.snapshot.back() + t.open.back() + t.actions.back() + t.read.back());
    row["binds"] = counts[1];
    row["pipelines"] = counts[2] + counts[4];
    row["evicts"] = counts[3] + counts[4];
    row["decisions_sha256"] = opened->digest();
  }
  row["scenario"] = name;
  row["nodes"] = s.nodes;
  row["pods"] = pods;
  row["load_s"] = median(t.load);
  row["snapshot_s"] = median(t.snapshot);
  row["open_s"] = median(t.open);
  row["actions_s"] = median(t.actions);
  row["total_s"] = median(t.total);
  row["peak_rss_bytes"] = peak_rss();
  return row;
}

void print_row(const nlohmann::json& r) {
  fmt::print(
      "{:<19}{:>7}{:>9}  load {:>9.3f} ms  snapshot {:>8.4f} ms  open {:>8.3f} ms  actions {:>9.3f} ms  binds {:>6}  "
      "evicts {:>6}  pipelines {:>6}  {}\n",
      r["scenario"].get<std::string>(), r["nodes"].get<int>(), r["pods"].get<std::int64_t>(),
      r["load_s"].get<double>() * 1e3, r["snapshot_s"].get<double>() * 1e3, r["open_s"].get<double>() * 1e3,
      r["actions_s"].get<double>() * 1e3, r["binds"].get<std::int64_t>(), r["evicts"].get<std::int64_t>(),
      r["pipelines"].get<std::int64_t>(), r["decisions_sha256"].get<std::string>().substr(0, 12));
}

/// Small steps over a large cluster: from the first delta to the last decision read.
nlohmann::json run_steps(const settings& s) {
  constexpr int warm_up = 10;
  constexpr int steps = 100;
  engine e;
  must(e.set("mode", s.mode));
  must(e.set("consolidation.max_victims", "-1"));
  reset_peak();
  const bench::few_changes_result made = bench::run_few_changes(e, s.nodes, warm_up, steps);
  const auto all = [&](auto part) {
    std::vector<double> values;
    values.reserve(made.steps.size());
    for (const bench::step_times& one : made.steps) values.push_back(part(one));
    return values;
  };
  const std::vector<double> total = all([](const auto& one) { return one.total(); });
  nlohmann::json row{{"scenario", "few_changes"},
                     {"nodes", s.nodes},
                     {"pods", made.pods},
                     {"apply_s", median(all([](const auto& one) { return one.apply; }))},
                     {"snapshot_s", median(all([](const auto& one) { return one.snapshot; }))},
                     {"open_s", median(all([](const auto& one) { return one.open; }))},
                     {"actions_s", median(all([](const auto& one) { return one.actions; }))},
                     {"total_s", median(total)},
                     {"total_p99_s", p99(total)},
                     {"binds", made.binds},
                     {"others", made.others},
                     {"decisions_sha256", made.digest},
                     {"peak_rss_bytes", peak_rss()}};
  fmt::print(
      "few_changes{:>15}{:>9}  apply {:>8.3f} ms  snapshot {:>8.4f} ms  open {:>8.3f} ms  actions {:>9.3f} ms  step "
      "{:>8.3f} ms, P99 {:>8.3f} ms  binds {}  {}\n",
      s.nodes, made.pods, row["apply_s"].get<double>() * 1e3, row["snapshot_s"].get<double>() * 1e3,
      row["open_s"].get<double>() * 1e3, row["actions_s"].get<double>() * 1e3, row["total_s"].get<double>() * 1e3,
      row["total_p99_s"].get<double>() * 1e3, made.binds, made.digest.substr(0, 12));
  return row;
}

/// Devices for one pod after another: seconds per pod, of all runs.
nlohmann::json run_device_fit(const settings& s) {
  std::vector<double> pods;
  std::vector<double> first;
  bench::device_fit_result last;
  for (int i = 0; i < s.runs; ++i) {
    last = bench::run_device_fit(s.mode == "compat");
    pods.insert(pods.end(), last.seconds.begin(), last.seconds.end());
    first.push_back(last.seconds.front());
  }
  fmt::print("hami_fit: {} pods on {} nodes, {:.2f} us per pod, {:.0f} us for the first one\n", last.placed,
             last.nodes_used, median(pods) * 1e6, median(first) * 1e6);
  return {{"scenario", "hami_fit"},
          {"pods", last.placed},
          {"nodes", 100},
          {"pod_s", median(pods)},
          {"first_pod_s", median(first)}};
}

void set_options(engine& e, const settings& s) {
  for (const std::string& one : s.options) {
    const std::size_t at = one.find('=');
    must(e.set(one.substr(0, at), at == std::string::npos ? "" : one.substr(at + 1)));
  }
}

/// Gangs that wait for instances of divided GPUs, one for five nodes: seconds of `repartition` behind `allocate`.
nlohmann::json run_divisions(const settings& s) {
  bench::divided_cluster form;
  form.nodes = s.nodes;
  form.gangs = std::max(1, s.nodes / 5);
  form.seed = s.seed;
  const std::vector<table> tables = bench::to_tables(form);
  engine e;
  must(e.set("mode", "strict"));
  set_options(e, s);
  must(e.set("actions", "allocate,repartition"));
  e.set_device_catalog(must(shipped_device_catalog()));
  std::vector<double> allocate;
  std::vector<double> repartition;
  nlohmann::json row{{"scenario", "repartition"}, {"nodes", s.nodes}, {"gangs", form.gangs}};
  for (int run = 0; run < s.runs; ++run) {
    cluster c;
    must(c.apply(tables));
    const snapshot taken = c.take_snapshot();
    session opened = must(e.open(taken, bench::scenario_now));
    allocate.push_back(seconds([&] { must(opened.run("allocate")); }));
    const std::size_t before = opened.decisions().size();
    repartition.push_back(seconds([&] { must(opened.run("repartition")); }));
    std::int64_t divided = 0;
    std::set<group_row> served;
    for (const decision& d : opened.decisions().subspan(before)) {
      divided += d.kind == decision_kind::repartition ? 1 : 0;
      served.insert(d.group);
    }
    row["asked"] = opened.statistics().back().groups_tried;
    row["served"] = served.size();
    row["divided"] = divided;
    row["decisions_sha256"] = opened.digest();
  }
  row["allocate_s"] = median(allocate);
  row["repartition_s"] = median(repartition);
  row["gang_s"] = median(repartition) / std::max(1.0, row["asked"].get<double>());
  fmt::print(
      "repartition{:>15}{:>9}  allocate {:>8.3f} ms  repartition {:>10.3f} ms  per gang {:>8.3f} ms  asked {}  served "
      "{}  divided {}  {}\n",
      s.nodes, form.gangs, row["allocate_s"].get<double>() * 1e3, row["repartition_s"].get<double>() * 1e3,
      row["gang_s"].get<double>() * 1e3, row["asked"].get<std::int64_t>(), row["served"].get<std::int64_t>(),
      row["divided"].get<std::int64_t>(), row["decisions_sha256"].get<std::string>().substr(0, 12));
  return row;
}

void print_contended(std::int64_t gpus, std::uint64_t seed, std::string_view which,
                     const bench::contended_result& made) {
  fmt::print("{:<9} {:>6} GPUs {:>5} nodes {:>6} pods  seed {:>3}  open {:>7.2f} ms", which, gpus, made.nodes,
             made.pods, seed, made.open * 1e3);
  for (std::size_t i = 0; i < made.actions.size(); ++i)
    fmt::print("  {:.5} {:>8.2f}/{}", made.names[i], made.actions[i] * 1e3, made.simulations[i]);
  fmt::print("  all {:>9.2f} ms  binds {} pipelines {} evicts {} moves {}  GPUs {} -{}  {}\n", made.total() * 1e3,
             made.decisions[1], made.decisions[2], made.decisions[3], made.decisions[4], made.placed / 1000,
             made.lost / 1000, made.digest.substr(0, 8));
  std::fflush(stdout);
}

nlohmann::json contended_row(const bench::contended_result& made) {
  return {{"pods", made.pods},
          {"open_s", made.open},
          {"actions_s", made.actions},
          {"total_s", made.total()},
          {"simulations", made.simulations},
          {"placed_milli_gpu", made.placed},
          {"lost_milli_gpu", made.lost},
          {"decisions_sha256", made.digest}};
}

/// Prints median and largest of clusters of one size.
void summarise(nlohmann::json& size, std::string_view which, const std::string& mode,
               const std::vector<double>& totals) {
  size["total_s"] = median(totals);
  size["most_s"] = *std::max_element(totals.begin(), totals.end());
  fmt::print("{:<9} {:>6} GPUs, {}: median {:.2f} ms, most {:.2f} ms\n", which, size["gpus"].get<std::int64_t>(), mode,
             median(totals) * 1e3, size["most_s"].get<double>() * 1e3);
}

/// Clusters of one size with more work than GPUs, of several seeds: processor time of a session, or of two.
nlohmann::json run_contended_size(const engine& e, const settings& s, std::int64_t gpus) {
  std::vector<double> totals;
  std::vector<double> later;
  nlohmann::json size{{"gpus", gpus}, {"seeds", nlohmann::json::array()}};
  for (std::uint64_t seed = s.seed; seed < s.seed + s.seeds; ++seed) {
    const bench::contended_pair made =
        bench::run_contended(e, {.gpus = gpus, .seed = seed, .runs = s.runs, .second = s.second, .mix = s.mix});
    totals.push_back(made.first.total());
    print_contended(gpus, seed, "contended", made.first);
    size["nodes"] = made.first.nodes;
    nlohmann::json row = contended_row(made.first);
    row["seed"] = seed;
    if (made.second) {
      later.push_back(made.second->total());
      print_contended(gpus, seed, "second", *made.second);
      row["second"] = contended_row(*made.second);
      row["second"]["changes_s"] = made.second->changes;
    }
    size["seeds"].push_back(std::move(row));
  }
  summarise(size, "contended", s.mode, totals);
  if (!later.empty()) {
    nlohmann::json second{{"gpus", gpus}};
    summarise(second, "second", s.mode, later);
    size["second"] = std::move(second);
  }
  return size;
}

nlohmann::json run_contended_clusters(const settings& s) {
  nlohmann::json row{{"scenario", "contended"}, {"mode", s.mode}, {"mix", s.mix}, {"sizes", nlohmann::json::array()}};
  engine e;
  must(e.set("mode", s.mode));
  set_options(e, s);
  for (const std::int64_t gpus : s.gpus) row["sizes"].push_back(run_contended_size(e, s, gpus));
  return row;
}

nlohmann::json run_large_victims(const settings& s, const std::string& mode) {
  engine e;
  must(e.set("mode", mode));
  set_options(e, s);
  const bench::victims_result made = bench::run_victims(e, s.scale);
  constexpr double mebibyte = 1 << 20;
  fmt::print(
      "victims, {}: {} nodes, {} pods, gang of {}\n"
      "  load {:.2f} s  open {:.3f} s  preempt {:.3f} s, {} ({} sets, {} steps{})\n"
      "  gets {} places; {} pods of {} groups leave with {} GPUs, {} move, {} could stay; at least {} leave, as {:.2f} "
      "s prove\n"
      "  peak {:.0f} MiB, before the cluster {:.0f} MiB  {}\n",
      mode, made.nodes, made.pods, made.gang, made.load, made.open, made.action, made.outcome, made.simulations,
      made.steps, made.cut ? ", cut" : "", made.placed, made.evicted, made.evicted_groups, made.lost, made.moved,
      made.needless, made.bound, made.gaps, static_cast<double>(made.peak) / mebibyte,
      static_cast<double>(made.columns_peak) / mebibyte, made.digest.substr(0, 12));
  std::fflush(stdout);
  return {{"part", "victims"},
          {"mode", mode},
          {"nodes", made.nodes},
          {"pods", made.pods},
          {"gang", made.gang},
          {"load_s", made.load},
          {"open_s", made.open},
          {"preempt_s", made.action},
          {"outcome", made.outcome},
          {"cut", made.cut},
          {"simulations", made.simulations},
          {"steps", made.steps},
          {"placed", made.placed},
          {"evicted", made.evicted},
          {"evicted_groups", made.evicted_groups},
          {"evicted_gpus", made.lost},
          {"moved", made.moved},
          {"needless", made.needless},
          {"bound", made.bound},
          {"gaps_s", made.gaps},
          {"columns_peak_bytes", made.columns_peak},
          {"peak_rss_bytes", made.peak},
          {"decisions_sha256", made.digest}};
}

nlohmann::json run_large_filling(const settings& s, bool alone) {
  engine e;
  must(e.set("mode", s.mode));
  set_options(e, s);
  const bench::filling_result made = bench::run_filling(e, s.scale, alone);
  constexpr double mebibyte = 1 << 20;
  fmt::print(
      "{}, {}: {} nodes, {} pods, {} groups\n"
      "  load {:.3f} s  open {:.3f} s  allocate {:.3f} s  read {:.3f} s  all {:.3f} s  {} start\n"
      "  peak {:.0f} MiB, before the cluster {:.0f} MiB  {}\n"
      "  then: decisions taken in {:.3f} s; one more pod: {:.4f} s, session {:.4f} s, {} start; peak {:.0f} MiB\n",
      alone ? "pods alone" : "pods in jobs", s.mode, made.nodes, made.pods, made.groups, made.load, made.open,
      made.action, made.read, made.total(), made.binds, static_cast<double>(made.peak) / mebibyte,
      static_cast<double>(made.columns_peak) / mebibyte, made.digest.substr(0, 12), made.assume, made.change,
      made.again, made.binds_again, static_cast<double>(made.peak_again) / mebibyte);
  std::fflush(stdout);
  return {{"part", alone ? "alone" : "jobs"},
          {"mode", s.mode},
          {"nodes", made.nodes},
          {"pods", made.pods},
          {"groups", made.groups},
          {"load_s", made.load},
          {"open_s", made.open},
          {"allocate_s", made.action},
          {"read_s", made.read},
          {"total_s", made.total()},
          {"binds", made.binds},
          {"columns_peak_bytes", made.columns_peak},
          {"peak_rss_bytes", made.peak},
          {"assume_s", made.assume},
          {"change_s", made.change},
          {"again_s", made.again},
          {"binds_again", made.binds_again},
          {"peak_again_bytes", made.peak_again},
          {"decisions_sha256", made.digest}};
}

/// Very large clusters: victims for a large gang in both modes, and pods that fill empty nodes.
nlohmann::json run_large(const settings& s) {
  nlohmann::json row{{"scenario", "large"}, {"scale", s.scale}, {"parts", nlohmann::json::array()}};
  const auto wanted = [&](std::string_view part) { return s.part.empty() || s.part == part; };
  for (const char* mode : {"strict", "compat"}) {
    if (wanted(fmt::format("victims-{}", mode))) row["parts"].push_back(run_large_victims(s, mode));
  }
  if (wanted("jobs")) row["parts"].push_back(run_large_filling(s, false));
  if (wanted("alone")) row["parts"].push_back(run_large_filling(s, true));
  return row;
}

void print_slow(std::string_view which, const bench::slow_cost& made) {
  fmt::print("{:<6} {:>8.2f} us a node and group  {:>9.2f} ms  {:>5} nodes {:>6} groups {:>6} pods  open {:>7.2f} ms",
             which, made.score() * 1e6, made.total() * 1e3, made.nodes, made.groups, made.pods, made.open * 1e3);
  for (std::size_t i = 0; i < made.seconds.size(); ++i)
    fmt::print("  {:.5} {:.2f} ms {} steps {} sets", bench::slow_actions.at(i), made.seconds[i] * 1e3, made.steps[i],
               made.sets[i]);
  fmt::print("\n  {}\n", bench::text_of(made.from));
  std::fflush(stdout);
}

nlohmann::json slow_row(const bench::slow_cost& made) {
  return {{"genes", bench::text_of(made.from)},
          {"nodes", made.nodes},
          {"groups", made.groups},
          {"pods", made.pods},
          {"open_s", made.open},
          {"actions_s", made.seconds},
          {"total_s", made.total()},
          {"steps", made.steps},
          {"simulations", made.sets}};
}

/// Clusters that are slow for their size: those that a search finds, or the one of given genes. The worst is measured
/// at 1,000 nodes as well.
nlohmann::json run_slow(const settings& s) {
  constexpr std::int64_t large = 1000;
  engine e;
  must(e.set("mode", s.mode));
  set_options(e, s);
  std::vector<bench::slow_cost> worst;
  if (s.genes.empty()) {
    int tried = 0;
    double most = 0;
    const auto show = [&](const bench::slow_cost& one) {
      ++tried;
      if (one.score() <= most) return;
      most = one.score();
      print_slow(fmt::format("{}", tried), one);
    };
    worst = bench::find_slow(e, {.seed = s.seed, .tries = s.tries, .nodes = s.nodes, .seconds = s.seconds}, show);
  } else {
    worst.push_back(bench::measure(e, bench::genes_of(s.genes), s.nodes));
  }
  nlohmann::json row{{"scenario", "slow"}, {"mode", s.mode}, {"inputs", nlohmann::json::array()}};
  for (const bench::slow_cost& one : worst) {
    print_slow("worst", one);
    row["inputs"].push_back(slow_row(one));
  }
  if (!s.worst.empty()) bench::write_slow(worst.front().from, s.nodes, s.worst);
  if (s.nodes < large) {
    const bench::slow_cost scaled = bench::measure(e, worst.front().from, large);
    print_slow("large", scaled);
    row["large"] = slow_row(scaled);
  }
  return row;
}

/// The same work with the threads of an executor.
nlohmann::json run_with_threads(const settings& s) {
  nlohmann::json row{{"scenario", "threads"}, {"nodes", s.nodes}, {"threads", s.threads}};
  for (const bench::threads_result& one : bench::run_threads(s.mode, s.nodes, s.threads, s.runs)) {
    const double alone = median(one.alone);
    const double with = median(one.with);
    fmt::print("threads {:<12}{:>7}  alone {:>8.3f} ms  with {} threads {:>8.3f} ms  {:.2f} times as fast{}\n",
               one.work, s.nodes, alone * 1e3, s.threads, with * 1e3, alone / with,
               one.equal ? "" : "  DECISIONS DIFFER");
    row[one.work] = {{"alone_s", alone}, {"with_s", with}, {"equal", one.equal}};
  }
  return row;
}

/// Questions to forks of a session.
nlohmann::json run_questions(const bench::what_if_question& what, const settings& s) {
  constexpr std::size_t questions = 2000;
  engine e;
  must(e.set("mode", s.mode));
  const bench::what_if_result made = bench::run_what_if(e, what, s.nodes, questions);
  const double one = median(made.seconds);
  fmt::print(
      "{:<19}{:>7}  {} of {} answers are yes, {:.2f} us per question, P99 {:.2f} us: {:.0f} questions a second\n",
      what.name, s.nodes, made.yes, questions, one * 1e6, p99(made.seconds) * 1e6, 1 / one);
  return {{"scenario", what.name}, {"nodes", s.nodes},  {"questions", questions},
          {"yes", made.yes},       {"question_s", one}, {"question_p99_s", p99(made.seconds)}};
}

/// Calls through the C interface and through the C++ one.
nlohmann::json run_calls(const settings& s) {
  const bench::c_calls_result made = bench::run_c_calls(s.nodes, std::max(s.runs, 50));
  nlohmann::json costs = nlohmann::json::array();
  fmt::print("c_calls: {} nodes, {} pods that run\n", s.nodes, made.pods);
  for (const bench::call_cost& one : made.costs) {
    const std::string name = one.changes == 0 ? one.name : fmt::format("{} of {} changes", one.name, one.changes);
    fmt::print("  {:<24} C {:>10.2f} us   C++ {:>10.2f} us   {:.2f} times\n", name, one.c * 1e6, one.cpp * 1e6,
               one.c / one.cpp);
    costs.push_back({{"call", one.name}, {"changes", one.changes}, {"c_s", one.c}, {"cpp_s", one.cpp}});
  }
  return {{"scenario", "c_calls"}, {"nodes", s.nodes}, {"pods", made.pods}, {"calls", std::move(costs)}};
}

/// What would start the groups that wait, one group after the other.
nlohmann::json run_remedies(const settings& s) {
  constexpr std::size_t most_groups = 200;
  engine e;
  must(e.set("mode", s.mode));
  nlohmann::json row{{"scenario", "explain"}, {"nodes", s.nodes}};
  for (const bool evictions : {false, true}) {
    remedy_limits limits;
    limits.evictions = evictions;
    const bench::explanations_result made = bench::run_explanations(e, s.nodes, most_groups, limits);
    if (made.seconds.empty()) throw std::runtime_error("no group waits");
    const double one = median(made.seconds);
    const double most = *std::max_element(made.seconds.begin(), made.seconds.end());
    fmt::print(
        "explain {:<22}{:>7} nodes, {} pods, {} groups wait, {} remedies, {} searches complete: {:.2f} ms a group, P99 "
        "{:.2f} ms, longest {:.2f} ms\n",
        evictions ? "with evictions" : "without evictions", made.nodes, made.pods, made.seconds.size(), made.remedies,
        made.complete, one * 1e3, p99(made.seconds) * 1e3, most * 1e3);
    row[evictions ? "with_evictions" : "without_evictions"] = {{"group_s", one},
                                                               {"group_p99_s", p99(made.seconds)},
                                                               {"group_most_s", most},
                                                               {"groups", made.seconds.size()},
                                                               {"remedies", made.remedies},
                                                               {"complete", made.complete}};
  }
  return row;
}

/// Scenarios with a shape of their own.
struct special_scenario {
  std::string_view name;
  nlohmann::json (*run)(const settings& s);
};
/// All presets decide the same clusters, in turn: one that fills, and one in which more important jobs come.
nlohmann::json run_presets(const settings& s) {
  nlohmann::json row{{"scenario", "presets"}, {"nodes", s.nodes}};
  for (const std::string_view scenario : {"fill", "preempt"}) {
    const bench::scenario_input input = bench::build(std::string(scenario), s.nodes);
    const std::vector<table> tables = bench::to_tables(input);
    std::int64_t waiting = 0;
    for (const bench::scenario_job& job : input.jobs) waiting += job.nodes.empty() ? job.pod_count() : 0;
    cluster c;
    must(c.apply(tables));
    const snapshot taken = c.take_snapshot();
    struct measured {
      std::vector<double> times;
      std::array<std::int64_t, 8> counts{};
    };
    std::map<std::string_view, measured> by_preset;
    for (int run = 0; run < s.runs; ++run) {
      for (const std::string_view name : preset_names()) {
        if (!s.preset.empty() && !name.starts_with(s.preset) && !name.starts_with("kai-")) continue;
        engine e;
        must(e.set("preset", name));
        if (name.starts_with("kai-")) {
          must(e.set("actions", "allocate,consolidation,reclaim,preempt"));
        } else {
          set_options(e, s);
        }
        measured& one = by_preset[name];
        one.counts = {};
        one.times.push_back(bench::processor_seconds([&] {
          session opened = must(e.open(taken, bench::scenario_now));
          must(opened.run());
          for (const decision& d : opened.decisions()) ++one.counts[static_cast<std::size_t>(d.kind)];
        }));
      }
    }
    const auto per_pod = [&](const measured& one) { return median(one.times) / static_cast<double>(waiting); };
    const auto usual = std::ranges::find_if(by_preset, [](const auto& one) { return one.first.starts_with("kai-"); });
    for (const auto& [name, one] : by_preset) {
      const double ratio = per_pod(one) / per_pod(usual->second);
      fmt::print(
          "{:<8}{:>7} nodes {:>7} pods wait  {:<30}{:>9.2f} us a pod {:>6.2f} times kai  binds {:>6}  evicts {:>6}\n",
          scenario, s.nodes, waiting, name, per_pod(one) * 1e6, ratio, one.counts[1], one.counts[3] + one.counts[4]);
      row[std::string(scenario)][std::string(name)] = {{"pod_s", per_pod(one)}, {"times_kai", ratio}};
    }
  }
  return row;
}

constexpr std::array<special_scenario, 10> special_scenarios{{{"hami_fit", run_device_fit},
                                                              {"few_changes", run_steps},
                                                              {"threads", run_with_threads},
                                                              {"presets", run_presets},
                                                              {"repartition", run_divisions},
                                                              {"contended", run_contended_clusters},
                                                              {"large", run_large},
                                                              {"slow", run_slow},
                                                              {"c_calls", run_calls},
                                                              {"explain", run_remedies}}};
/// Those that begin with the running jobs of `few_changes`.
bool needs_jobs_that_run(std::string_view name) { return name == "few_changes" || name == "c_calls"; }

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app{"Times the engine on the scale scenarios; medians, one thread."};
  app.add_option("scenario", s.scenario, "one scenario; all if left out");
  const CLI::Option* nodes = app.add_option("--nodes", s.nodes, "number of nodes; slow: 100 if left out")
                                 ->check(CLI::Range(1, 100000))
                                 ->capture_default_str();
  app.add_option("--runs", s.runs, "runs; the median counts")->check(CLI::Range(1, 1000))->capture_default_str();
  app.add_option("--mode", s.mode, "compat or strict")
      ->check(CLI::IsMember({"compat", "strict"}))
      ->capture_default_str();
  app.add_option("--seed", s.seed, "contended, repartition, slow: other clusters of the same kind")
      ->capture_default_str();
  app.add_option("--gpus", s.gpus, "contended: GPUs of the clusters, several by commas")
      ->delimiter(',')
      ->check(CLI::Range(1, 1048576))
      ->capture_default_str();
  app.add_option("--seeds", s.seeds, "contended: clusters of each size, from --seed on")->capture_default_str();
  app.add_flag("--mix", s.mix, "contended: clusters with racks, sub-groups, claims and several types of GPUs");
  app.add_flag("--second", s.second, "contended: a second session after 20 changes");
  app.add_option("--scale", s.scale, "large: of its nodes and pods, 1 is all")->check(CLI::Range(0.0001, 1.0));
  app.add_option("--part", s.part, "large: one of its parts")
      ->check(CLI::IsMember({"victims-strict", "victims-compat", "jobs", "alone"}));
  app.add_option("--set", s.options,
                 "contended, large, repartition, presets, slow: KEY=VALUE, an option of the engine; kai keeps its own");
  app.add_option("--tries", s.tries, "slow: clusters that the search looks at")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--seconds", s.seconds, "slow: processor time after which the search ends")
      ->check(CLI::PositiveNumber);
  app.add_option("--genes", s.genes, "slow: the cluster of these genes, instead of a search");
  app.add_option("--worst", s.worst, "slow: write the worst cluster to this file, for `kaisched run`");
  app.add_option("--preset", s.preset, "presets: only those whose names begin so, beside kai");
  app.add_option("--threads", s.threads, "threads: so many")->check(CLI::Range(1, 256))->capture_default_str();
  app.add_option("--json", s.json, "write the results to this file");
  CLI11_PARSE(app, argc, argv);
  if (s.scenario == "slow" && nodes->count() == 0) s.nodes = 100;
  try {
    nlohmann::json all{{"results", nlohmann::json::array()}};
    for (const std::string& name : s.scenario.empty() ? supported_scenarios() : std::vector{s.scenario}) {
      const bool too_small = needs_jobs_that_run(name) && s.nodes < bench::few_changes_least_nodes;
      if (too_small && s.scenario.empty()) continue;
      const std::vector<bench::what_if_question> questions = bench::what_if_questions();
      const auto asked = std::ranges::find(questions, name, &bench::what_if_question::name);
      const auto special = std::ranges::find(special_scenarios, name, &special_scenario::name);
      if (asked != questions.end()) {
        all["results"].push_back(run_questions(*asked, s));
      } else if (special != special_scenarios.end()) {
        all["results"].push_back(special->run(s));
      } else {
        all["results"].push_back(run_scenario(name, s));
        print_row(all["results"].back());
      }
    }
    if (!s.json.empty()) {
      std::ofstream out(s.json);
      out << all.dump(1) << "\n";
      if (!out) throw std::runtime_error("cannot write " + s.json);
    }
  } catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << "\n";
    return 2;
  }
  return 0;
}
