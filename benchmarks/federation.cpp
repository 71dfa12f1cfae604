// Many clusters with one line against one cluster with all their nodes, on the same jobs: docs/federation.md.
// usage: kaisched_federation_bench [CLUSTERS] [NODES-OF-EACH] [STEPS] [SEED] [LOAD-PERCENT] [THREADS] [1: without the
// flat one] Each way is played in a process of its own, for its memory. Times are of this machine, the rest is the same
// everywhere.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <tuple>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <kaisched/federation.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/thread_pool.hpp"
#include "benchmarks/timing.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace {

using namespace kaisched;
using bench::must;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t step_time = 300 * second;
constexpr int gpus_of_node = 8;
constexpr int nodes_of_rack = 16;
constexpr int racks_of_block = 8;
constexpr int teams = 8;
constexpr int large_gang = 32;  ///< nodes

struct settings {
  int clusters = 20;
  int nodes = 5000;
  int steps = 36;
  unsigned seed = 1;
  int load = 110;
  int threads = 1;
  bool is_alone = false;  ///< the flat cluster is left out, its column has zeros
};

struct job {
  std::string name;
  int team = 0;
  int pods = 1;
  int gpus = 1;  ///< of a pod
  bool in_rack = false;
  std::int64_t arrives = 0;
  std::int64_t runs = 0;
  std::int64_t started = -1;

  [[nodiscard]] std::int64_t size() const { return std::int64_t{pods} * gpus; }
  [[nodiscard]] bool is_large() const { return gpus == gpus_of_node && pods >= large_gang; }
};

/// Sizes of jobs in GPUs, and how many of 10,000 have it: one GPU, parts of a node, whole nodes.
constexpr std::array<std::pair<int, int>, 13> sizes{{{1, 5000},
                                                     {2, 800},
                                                     {4, 800},
                                                     {8, 1600},
                                                     {16, 600},
                                                     {32, 500},
                                                     {64, 300},
                                                     {128, 200},
                                                     {256, 100},
                                                     {512, 60},
                                                     {1024, 25},
                                                     {2048, 11},
                                                     {4096, 4}}};

/// Jobs: as many as fill the clusters at once, then a stream. Who would not fit into a cluster is made smaller.
std::vector<job> draw_jobs(const settings& with) {
  std::mt19937_64 bits(with.seed);
  const auto below = [&](std::uint64_t n) { return bits() % n; };
  const std::int64_t all_gpus = std::int64_t{with.clusters} * with.nodes * gpus_of_node;
  std::vector<job> made;
  std::int64_t total = 0;
  const auto draw = [&](std::int64_t at, bool is_old) {
    job one;
    std::uint64_t n = below(10'000);
    int size = 1;
    for (const auto& [gpus, of] : sizes) {
      size = gpus;
      if (n < static_cast<std::uint64_t>(of)) break;
      n -= static_cast<std::uint64_t>(of);
    }
    size = std::min(size, std::max(1, with.nodes / 4) * gpus_of_node);
    one.gpus = std::min(size, gpus_of_node);
    one.pods = std::max(1, size / gpus_of_node);
    one.in_rack = one.pods > 1 && one.pods <= nodes_of_rack && below(4) == 0;
    one.team = static_cast<int>(below(teams));
    one.name = fmt::format("j{:07}", made.size());
    one.arrives = at;
    // From ten minutes to about ten hours, each doubling as likely as the next. Of those that run at a given time long
    // ones are so much more, and a part of their time is over.
    const std::uint64_t doubling = is_old ? std::bit_width(below(63) + 1) - 1 : below(6);
    const std::int64_t least = (600 * second) << doubling;
    one.runs = least + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(least / second))) * second;
    if (is_old) one.runs = std::max<std::int64_t>(one.runs / 1000 * static_cast<std::int64_t>(below(1000)), second);
    total += one.size();
    made.push_back(std::move(one));
  };
  while (total < all_gpus) draw(0, true);
  // Work that arrives in a step: a part of what the GPUs can do in it.
  const double mean_time = 600.0 * 1.5 * 63 / 6;  // seconds; sizes and times are independent
  const double gpus_each_step =
      static_cast<double>(all_gpus) * with.load / 100 * (static_cast<double>(step_time / second) / mean_time);
  for (int step = 1; step < with.steps; ++step) {
    total = 0;
    while (static_cast<double>(total) < gpus_each_step) draw(step * step_time, false);
  }
  return made;
}

table queues() {
  table t(table_kind::queue, table_op::add);
  auto& name = t.add(col::queue_name, column_type::string);
  for (int i = 0; i < teams; ++i) name.push(fmt::format("team{}", i));
  return t;
}

table topology() {
  table t(table_kind::topology, table_op::add);
  t.add(col::topology_name, column_type::string).push(std::string_view("halls"));
  const std::array<std::string_view, 2> levels{"block", "rack"};
  t.add(col::topology_levels, column_type::string_list).push_list(levels);
  t.add(col::topology_primary, column_type::u8).push(std::uint8_t{1});
  return t;
}

table nodes_of(int cluster, int count) {
  table t(table_kind::node, table_op::add);
  auto& name = t.add(col::node_name, column_type::string);
  auto& capacity = t.add(col::node_capacity, column_type::i64, 4);
  auto& labels = t.add(col::node_labels, column_type::string_list);
  for (int n = 0; n < count; ++n) {
    name.push(fmt::format("c{:02}-n{:05}", cluster, n));
    for (const std::int64_t amount :
         {std::int64_t{128'000}, std::int64_t{1} << 41, std::int64_t{8000}, std::int64_t{110}})
      capacity.push(amount);
    const std::string block = fmt::format("c{:02}-b{}", cluster, n / nodes_of_rack / racks_of_block);
    const std::string rack = fmt::format("c{:02}-r{}", cluster, n / nodes_of_rack);
    const std::array<std::string_view, 4> words{"block", block, "rack", rack};
    labels.push_list(words);
  }
  return t;
}

std::vector<table> tables_of(const std::vector<job*>& jobs) {
  table groups(table_kind::pod_group, table_op::add);
  auto& name = groups.add(col::pod_group_name, column_type::string);
  auto& queue = groups.add(col::pod_group_queue, column_type::string);
  auto& created = groups.add(col::pod_group_created, column_type::i64);
  auto& least = groups.add(col::pod_group_min_member, column_type::i64);
  auto& where = groups.add(col::pod_group_topology, column_type::string);
  auto& level = groups.add(col::pod_group_required_level, column_type::string);
  table pods(table_kind::pod, table_op::add);
  auto& pod = pods.add(col::pod_name, column_type::string);
  auto& group = pods.add(col::pod_group_ref, column_type::string);
  auto& request = pods.add(col::pod_request, column_type::i64, 4);
  for (const job* one : jobs) {
    name.push(std::string_view(one->name));
    queue.push(std::string_view(fmt::format("team{}", one->team)));
    created.push(one->arrives);
    least.push(std::int64_t{one->pods});
    where.push(std::string_view(one->in_rack ? "halls" : ""));
    level.push(std::string_view(one->in_rack ? "rack" : ""));
    for (int p = 0; p < one->pods; ++p) {
      pod.push(std::string_view(fmt::format("{}-{}", one->name, p)));
      group.push(std::string_view(one->name));
      request.push(std::int64_t{8000} * one->gpus);
      request.push((std::int64_t{1} << 36) * one->gpus);
      request.push(std::int64_t{1000} * one->gpus);
      request.push(std::int64_t{1});
    }
  }
  std::vector<table> made;
  made.push_back(std::move(groups));
  made.push_back(std::move(pods));
  return made;
}

/// One way to decide.
class player {
 public:
  virtual ~player() = default;
  virtual void submit(const std::vector<job*>& jobs) = 0;
  /// Decides, and tells which groups start.
  virtual void decide(std::int64_t now, const std::function<void(std::string_view)>& starts) = 0;
  /// Their pods run.
  virtual void confirm() = 0;
  virtual void end(const std::vector<job*>& jobs) = 0;
  [[nodiscard]] virtual std::vector<cluster*> clusters() = 0;
  /// Seconds for summaries of all clusters, and the bytes of the largest one.
  virtual std::pair<double, double> summaries(std::int64_t) { return {0, 0}; }
};

/// The pods that a session has started, for `cluster::confirm`.
void add_started(const session& s, std::vector<entity_id>& pods, const std::function<void(std::string_view)>& starts) {
  const model::cluster_state& state = model::state_of(s.base());
  group_row last = no_row;
  for (const decision& d : s.decisions()) {
    if (d.kind != decision_kind::bind) continue;
    pods.emplace_back(entity_kind::pod, state.pods[d.pod].generation, d.pod);
    if (d.group != last) starts(s.base().group_name(d.group));
    last = d.group;
  }
}

class flat_player : public player {
 public:
  explicit flat_player(const settings& with) {
    must(all_.apply(topology()));
    must(all_.apply(queues()));
    for (int c = 0; c < with.clusters; ++c) must(all_.apply(nodes_of(c, with.nodes)));
    if (with.threads > 1) engine_.set_executor(std::make_shared<bench::thread_pool>(with.threads));
  }
  void submit(const std::vector<job*>& jobs) override { must(all_.apply(tables_of(jobs))); }
  void decide(std::int64_t now, const std::function<void(std::string_view)>& starts) override {
    const session s = must(engine_.run(all_.take_snapshot(), now));
    if (!must(all_.assume(s)).empty()) throw std::runtime_error("a conflict");
    add_started(s, pods_, starts);
  }
  void confirm() override {
    must(all_.confirm(pods_));
    pods_.clear();
  }
  void end(const std::vector<job*>& jobs) override {
    table pods(table_kind::pod, table_op::remove);
    table groups(table_kind::pod_group, table_op::remove);
    auto& pod = pods.add(col::pod_name, column_type::string);
    auto& group = groups.add(col::pod_group_name, column_type::string);
    for (const job* one : jobs) {
      group.push(std::string_view(one->name));
      for (int p = 0; p < one->pods; ++p) pod.push(std::string_view(fmt::format("{}-{}", one->name, p)));
    }
    must(all_.apply({pods.view(), groups.view()}));
  }
  std::vector<cluster*> clusters() override { return {&all_}; }

 private:
  cluster all_;
  engine engine_;
  std::vector<entity_id> pods_;
};

class federated_player : public player {
 public:
  explicit federated_player(const settings& with) {
    const auto decides = std::make_shared<const engine>();
    for (int c = 0; c < with.clusters; ++c) {
      auto one = std::make_shared<cluster>();
      must(one->apply(topology()));
      must(one->apply(queues()));
      must(one->apply(nodes_of(c, with.nodes)));
      member_info about;
      about.name = fmt::format("c{:02}", c);
      members_[about.name] = one;
      must(all_.add_member(about, one, decides));
    }
    std::vector<table> tree;
    tree.push_back(topology());
    tree.push_back(queues());
    must(all_.submit(tree));
    if (with.threads > 1) all_.set_executor(std::make_shared<bench::thread_pool>(with.threads));
  }
  void submit(const std::vector<job*>& jobs) override { must(all_.submit(tables_of(jobs))); }
  void decide(std::int64_t now, const std::function<void(std::string_view)>& starts) override {
    const federation_report report = must(all_.decide(now));
    if (!report.failures.empty()) throw std::runtime_error(report.failures.front().why.message);
    for (const member_session& one : report.sessions) add_started(one.decided, pods_[one.member], starts);
  }
  void confirm() override {
    for (auto& [name, pods] : pods_) {
      must(members_[name]->confirm(pods));
      pods.clear();
    }
  }
  void end(const std::vector<job*>& jobs) override {
    std::vector<std::string_view> names;
    for (const job* one : jobs) names.emplace_back(one->name);
    must(all_.withdraw(names));
  }
  std::vector<cluster*> clusters() override {
    std::vector<cluster*> all;
    for (auto& [name, one] : members_) all.push_back(one.get());
    return all;
  }
  std::pair<double, double> summaries(std::int64_t now) override {
    double bytes = 0;
    const double took = bench::processor_seconds([&] {
      for (auto& [name, one] : members_) (void)must(all_.summary(name, now));
    });
    for (auto& [name, one] : members_)
      bytes = std::max(bytes, static_cast<double>(summary_to_json(must(all_.summary(name, now))).size()));
    return {took, bytes};
  }

 private:
  federation all_;
  std::map<std::string, std::shared_ptr<cluster>> members_;
  std::map<std::string, std::vector<entity_id>> pods_;
};

struct outcome {
  double first = 0;  ///< seconds of the first decision, which fills everything
  double rest = 0;   ///< of all others
  double most = 0;   ///< of these
  double feed = 0;   ///< telling what comes and goes
  double started = 0;
  double gpu_hours = 0;   ///< of started jobs
  double used = 0;        ///< mean part of the GPUs, after the first step
  double large_wait = 0;  ///< mean seconds of large gangs; who still waits has waited until the end
  double large_most = 0;
  double large_left = 0;     ///< large gangs that wait at the end
  double small_wait = 0;     ///< of all others
  double waiting = 0;        ///< jobs at the end
  double split = 0;          ///< mean part of the free GPUs on nodes that are in use
  double whole = 0;          ///< mean of the free nodes of the cluster with most
  double summaries = 0;      ///< seconds for all clusters
  double summary_bytes = 0;  ///< of the largest, as JSON
};

void look(player& by, std::int64_t all_gpus, outcome& to) {
  std::int64_t free = 0;
  std::int64_t in_use = 0;
  std::int64_t most_whole = 0;
  for (cluster* one : by.clusters()) {
    const snapshot s = one->take_snapshot();
    const model::cluster_state& state = model::state_of(s);
    std::int64_t whole = 0;
    for (node_row row = 0; row < state.node_count(); ++row) {
      const std::int64_t idle = (*state.live.idle)[std::size_t{row} * state.dims() + dim_gpu];
      free += idle;
      if (idle == gpus_of_node * whole_device) {
        ++whole;
      } else {
        in_use += idle;
      }
    }
    most_whole = std::max(most_whole, whole);
  }
  to.used += 1 - static_cast<double>(free) / static_cast<double>(all_gpus * whole_device);
  to.split += free == 0 ? 0 : static_cast<double>(in_use) / static_cast<double>(free);
  to.whole += static_cast<double>(most_whole);
}

outcome play(player& by, const settings& with) {
  outcome made;
  std::vector<job> jobs = draw_jobs(with);
  std::map<std::string_view, job*> by_name;
  for (job& one : jobs) by_name[one.name] = &one;
  const std::int64_t all_gpus = std::int64_t{with.clusters} * with.nodes * gpus_of_node;
  std::multimap<std::int64_t, job*> ends;
  std::size_t next = 0;
  for (int step = 0; step < with.steps; ++step) {
    const std::int64_t now = step * step_time;
    std::vector<job*> gone;
    while (!ends.empty() && ends.begin()->first <= now) {
      gone.push_back(ends.begin()->second);
      ends.erase(ends.begin());
    }
    std::vector<job*> come;
    for (; next < jobs.size() && jobs[next].arrives <= now; ++next) come.push_back(&jobs[next]);
    made.feed += bench::processor_seconds([&] {
      if (!gone.empty()) by.end(gone);
      if (!come.empty()) by.submit(come);
    });
    const double took = bench::processor_seconds([&] {
      by.decide(now, [&](std::string_view name) {
        job& one = *by_name.at(name);
        one.started = now;
        ends.emplace(now + one.runs, &one);
      });
    });
    (step == 0 ? made.first : made.rest) += took;
    if (step > 0) made.most = std::max(made.most, took);
    made.feed += bench::processor_seconds([&] { by.confirm(); });
    if (step > 0) look(by, all_gpus, made);
  }
  std::tie(made.summaries, made.summary_bytes) = by.summaries(with.steps * step_time);
  const double steps = std::max(1, with.steps - 1);
  made.used /= steps;
  made.split /= steps;
  made.whole /= steps;
  std::int64_t large = 0;
  std::int64_t small = 0;
  for (const job& one : jobs) {
    const bool runs = one.started >= 0;
    const double wait = static_cast<double>((runs ? one.started : with.steps * step_time) - one.arrives) / second;
    made.started += runs ? 1 : 0;
    made.waiting += runs ? 0 : 1;
    if (runs) made.gpu_hours += static_cast<double>(one.size()) * static_cast<double>(one.runs) / second / 3600;
    (one.is_large() ? made.large_wait : made.small_wait) += wait;
    ++(one.is_large() ? large : small);
    if (one.is_large()) made.large_most = std::max(made.large_most, wait);
    if (one.is_large() && !runs) made.large_left += 1;
  }
  made.large_wait /= std::max<double>(1, static_cast<double>(large));
  made.small_wait /= std::max<double>(1, static_cast<double>(small));
  return made;
}

struct measured {
  outcome of;
  double megabytes = 0;
};

template <class Player>
measured in_process(const settings& with) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    int status = 1;
    try {
      Player by(with);
      const outcome made = play(by, with);
      status = write(ends[1], &made, sizeof made) == static_cast<ssize_t>(sizeof made) ? 0 : 1;
    } catch (const std::exception& failure) {
      std::cerr << "error: " << failure.what() << "\n";
    }
    _exit(status);
  }
  close(ends[1]);
  measured made;
  const bool came = read(ends[0], &made.of, sizeof made.of) == static_cast<ssize_t>(sizeof made.of);
  close(ends[0]);
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  if (!came || status != 0) throw std::runtime_error("a process has failed");
  made.megabytes = static_cast<double>(used.ru_maxrss) / 1024;
  return made;
}

void tell(std::string_view what, double flat, double federated, int digits) {
  fmt::print("| {} | {:.{}f} | {:.{}f} |\n", what, flat, digits, federated, digits);
}

}  // namespace

int main(int count, char** words) {
  settings with;
  const auto word = [&](int i, int fallback) { return count > i ? std::max(1, std::atoi(words[i])) : fallback; };
  with.clusters = word(1, with.clusters);
  with.nodes = word(2, with.nodes);
  with.steps = word(3, with.steps);
  with.seed = static_cast<unsigned>(word(4, 1));
  with.load = word(5, with.load);
  with.threads = word(6, with.threads);
  with.is_alone = count > 7;
  try {
    const std::vector<job> jobs = draw_jobs(with);
    std::int64_t pods = 0;
    std::int64_t large = 0;
    for (const job& one : jobs) {
      pods += one.pods;
      large += one.is_large() ? 1 : 0;
    }
    fmt::print(
        "{} clusters of {} nodes, {} GPUs; {} steps of 300 s, {} jobs, {} pods, {} gangs of {} nodes or more; seed "
        "{}\n\n",
        with.clusters, with.nodes, std::int64_t{with.clusters} * with.nodes * gpus_of_node, with.steps, jobs.size(),
        pods, large, large_gang, with.seed);
    std::cout << std::flush;
    const measured flat = with.is_alone ? measured{} : in_process<flat_player>(with);
    const measured many = in_process<federated_player>(with);
    fmt::print("| | flat | federation |\n|---|---:|---:|\n");
    tell("first decision, s", flat.of.first, many.of.first, 2);
    tell("mean of the others, ms", flat.of.rest / std::max(1, with.steps - 1) * 1000,
         many.of.rest / std::max(1, with.steps - 1) * 1000, 1);
    tell("longest of these, ms", flat.of.most * 1000, many.of.most * 1000, 1);
    tell("telling what comes and goes, s in all", flat.of.feed, many.of.feed, 2);
    tell("memory, MB", flat.megabytes, many.megabytes, 0);
    tell("summaries of all clusters once, ms", flat.of.summaries * 1000, many.of.summaries * 1000, 1);
    tell("largest summary as JSON, KB", flat.of.summary_bytes / 1000, many.of.summary_bytes / 1000, 1);
    tell("jobs started", flat.of.started, many.of.started, 0);
    tell("GPU hours of these", flat.of.gpu_hours, many.of.gpu_hours, 0);
    tell("GPUs in use, %", flat.of.used * 100, many.of.used * 100, 2);
    tell("large gangs: mean wait, s", flat.of.large_wait, many.of.large_wait, 0);
    tell("large gangs: longest wait, s", flat.of.large_most, many.of.large_most, 0);
    tell("large gangs that wait at the end", flat.of.large_left, many.of.large_left, 0);
    tell("other jobs: mean wait, s", flat.of.small_wait, many.of.small_wait, 0);
    tell("jobs that wait at the end", flat.of.waiting, many.of.waiting, 0);
    tell("free GPUs on nodes in use, %", flat.of.split * 100, many.of.split * 100, 2);
    tell("nodes free in the cluster with most", flat.of.whole, many.of.whole, 0);
  } catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << "\n";
    return 2;
  }
  return 0;
}
