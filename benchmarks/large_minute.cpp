#include "benchmarks/large_minute.hpp"

#include <algorithm>
#include <array>
#include <malloc.h>
#include <map>
#include <memory>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/timing.hpp"

namespace kaisched::bench {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t minute = 60 * second;
constexpr std::int64_t core = 1000;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30U;
constexpr std::size_t gpus_of_node = 8;
constexpr std::size_t queue_count = 4;
constexpr std::int64_t low_priority = 50;
constexpr std::int64_t high_priority = 75;

struct job_form {
  std::size_t pods;
  std::size_t min_pods;
  std::size_t gpus;  ///< of a pod
  std::uint64_t weight;
};
constexpr std::array running_jobs{job_form{1, 1, 1, 400}, job_form{1, 1, 2, 100},  job_form{1, 1, 4, 80},
                                  job_form{1, 1, 8, 80},  job_form{4, 4, 1, 60},   job_form{8, 1, 1, 60},
                                  job_form{4, 1, 4, 40},  job_form{2, 2, 8, 60},   job_form{4, 4, 8, 40},
                                  job_form{8, 8, 8, 30},  job_form{16, 16, 8, 15}, job_form{64, 64, 8, 3}};
/// Three quarters of the pods ask for a GPU.
constexpr std::array new_jobs{job_form{1, 1, 1, 300},  job_form{4, 4, 1, 100}, job_form{8, 1, 1, 60},
                              job_form{16, 16, 1, 40}, job_form{64, 64, 1, 5}, job_form{1, 1, 0, 200},
                              job_form{8, 8, 0, 40},   job_form{16, 16, 0, 10}};

std::int64_t scaled(std::int64_t number, double scale) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(number) * scale));
}

/// Whole numbers, the same everywhere.
class dice {
 public:
  std::uint64_t below(std::uint64_t n) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33U) % n;
  }
  template <std::size_t N>
  const job_form& pick(const std::array<job_form, N>& of) {
    std::uint64_t all = 0;
    for (const job_form& one : of) all += one.weight;
    std::uint64_t left = below(all);
    std::size_t i = 0;
    for (; left >= of[i].weight; ++i) left -= of[i].weight;
    return of[i];
  }

 private:
  std::uint64_t state_ = 1;
};

std::string node_name(std::size_t n) { return fmt::format("node-{:06}", n); }
std::string queue_name(std::size_t q) { return fmt::format("team-{}", q); }

table node_table(std::int64_t nodes) {
  table t = rows_of(table_kind::node);
  auto& name = t.add(col::node_name, column_type::string);
  auto& capacity = t.add(col::node_capacity, column_type::i64, built_in_dimensions);
  for (std::int64_t n = 0; n < nodes; ++n) {
    name.push(std::string_view(node_name(static_cast<std::size_t>(n))));
    for (const std::int64_t amount :
         {128 * core, 1024 * gibibyte, std::int64_t{gpus_of_node} * whole_device, std::int64_t{110}})
      capacity.push(amount);
  }
  return t;
}

/// Teams with equal quotas, which are all GPUs together.
table queue_table(std::int64_t nodes) {
  table t = rows_of(table_kind::queue);
  auto& name = t.add(col::queue_name, column_type::string);
  auto& quota = t.add(col::queue_quota, column_type::i64, quota_dimensions);
  for (std::size_t q = 0; q < queue_count; ++q) {
    name.push(std::string_view(queue_name(q)));
    quota.push(unlimited);
    quota.push(unlimited);
    quota.push(nodes * std::int64_t{gpus_of_node} * whole_device / std::int64_t{queue_count});
  }
  return t;
}

/// Columns of groups and pods.
class work_columns {
 public:
  void add_group(std::string_view name, std::size_t queue, std::int64_t priority, std::int64_t created,
                 std::size_t min_pods, bool running) {
    group_name_.push(name);
    group_queue_.push(std::string_view(queue_name(queue)));
    group_priority_.push(priority);
    group_created_.push(created);
    group_min_.push(static_cast<std::int64_t>(min_pods));
    group_start_.push(running ? scenario_now - minute : unset);
    mins_.push_back(min_pods);
  }

  /// @param node empty: the pod waits.
  void add_pod(std::string_view group, std::size_t index, std::size_t gpus, std::string_view node) {
    pod_name_.push(std::string_view(fmt::format("{}-{}", group, index)));
    pod_group_.push(group);
    const auto parts = static_cast<std::int64_t>(gpus);
    const std::int64_t cores = gpus == 0 ? 4 * core : 12 * core * parts;
    const std::int64_t memory = gpus == 0 ? 16 * gibibyte : 96 * gibibyte * parts;
    for (const std::int64_t amount : {cores, memory, parts * whole_device, std::int64_t{1}}) pod_request_.push(amount);
    pod_status_.push(static_cast<std::uint8_t>(node.empty() ? pod_status::pending : pod_status::running));
    pod_node_.push(node);
  }

  /// Pods that start together, by group.
  [[nodiscard]] const std::vector<std::size_t>& mins() const { return mins_; }

  void move_to(std::vector<table>& tables) {
    tables.push_back(std::move(groups_));
    tables.push_back(std::move(pods_));
  }

 private:
  std::vector<std::size_t> mins_;
  table groups_ = rows_of(table_kind::pod_group);
  table::column& group_name_ = groups_.add(col::pod_group_name, column_type::string);
  table::column& group_queue_ = groups_.add(col::pod_group_queue, column_type::string);
  table::column& group_priority_ = groups_.add(col::pod_group_priority, column_type::i64);
  table::column& group_created_ = groups_.add(col::pod_group_created, column_type::i64);
  table::column& group_min_ = groups_.add(col::pod_group_min_member, column_type::i64);
  table::column& group_start_ = groups_.add(col::pod_group_last_start, column_type::i64);
  table pods_ = rows_of(table_kind::pod);
  table::column& pod_name_ = pods_.add(col::pod_name, column_type::string);
  table::column& pod_group_ = pods_.add(col::pod_group_ref, column_type::string);
  table::column& pod_request_ = pods_.add(col::pod_request, column_type::i64, built_in_dimensions);
  table::column& pod_status_ = pods_.add(col::pod_status_column, column_type::u8);
  table::column& pod_node_ = pods_.add(col::pod_node, column_type::string);
};

/// Nodes by the GPUs that they have free; a pod gets the fullest one that has room.
class free_nodes {
 public:
  explicit free_nodes(std::int64_t nodes) : by_free_(gpus_of_node + 1) {
    by_free_.back().resize(static_cast<std::size_t>(nodes));
    std::iota(by_free_.back().rbegin(), by_free_.back().rend(), std::size_t{0});
  }

  [[nodiscard]] bool has_room(const job_form& form) const { return by_free_.back().size() >= form.pods; }
  [[nodiscard]] bool is_full() const {
    return std::all_of(by_free_.begin() + 1, by_free_.end(), [](const auto& list) { return list.empty(); });
  }

  std::size_t take(std::size_t gpus) {
    std::size_t free = gpus;
    while (by_free_[free].empty()) ++free;
    const std::size_t node = by_free_[free].back();
    by_free_[free].pop_back();
    by_free_[free - gpus].push_back(node);
    return node;
  }

 private:
  std::vector<std::vector<std::size_t>> by_free_;
};

/// Jobs until every GPU is held, each of the team that holds least.
void fill_with_running(std::int64_t nodes, work_columns& work) {
  dice drawn;
  free_nodes open(nodes);
  std::array<std::size_t, queue_count> held{};
  for (std::int64_t j = 0; !open.is_full(); ++j) {
    const job_form& drawn_form = drawn.pick(running_jobs);
    const job_form& form = open.has_room(drawn_form) ? drawn_form : running_jobs.front();
    const auto queue = static_cast<std::size_t>(std::min_element(held.begin(), held.end()) - held.begin());
    const std::string name = fmt::format("job-{:07}", j);
    const auto age = static_cast<std::int64_t>(drawn.below(14U * 24U * 60U));
    work.add_group(name, queue, low_priority, scenario_now - (age + 1) * minute, form.min_pods, true);
    for (std::size_t i = 0; i < form.pods; ++i) work.add_pod(name, i, form.gpus, node_name(open.take(form.gpus)));
    held[queue] += form.pods * form.gpus;
  }
}

/// Finds victims that have room on their nodes beside what the session put there.
class stay_check {
 public:
  explicit stay_check(const session& of) : view_(of.view()), dims_(view_.dimension_count()) {
    left_.assign(view_.node_idle().begin(), view_.node_idle().end());
    for (std::size_t i = 0; i < left_.size(); ++i) left_[i] += view_.node_releasing()[i];
  }

  [[nodiscard]] bool could_stay(std::span<const decision* const> lost) {
    std::size_t placed = 0;
    while (placed < lost.size() && add(*lost[placed], -1)) ++placed;
    for (std::size_t i = 0; i < placed; ++i) add(*lost[i], +1);
    return placed == lost.size();
  }

 private:
  bool add(const decision& of, std::int64_t sign) {
    const std::span<const std::int64_t> request = view_.pod_request(of.pod);
    const std::size_t base = std::size_t{of.node} * dims_;
    bool fits = true;
    for (std::size_t d = 0; d < dims_; ++d) fits &= sign > 0 || left_[base + d] >= request[d];
    for (std::size_t d = 0; fits && d < dims_; ++d) left_[base + d] += sign * request[d];
    return fits;
  }

  session_view view_;
  std::size_t dims_;
  std::vector<std::int64_t> left_;
};

/// Counts decisions, and victims that could stay: a gang as a whole, a pod of another group alone. In a new cluster
/// rows are in the order of the table.
void judge(const session& of, const std::vector<std::size_t>& mins, victims_result& made) {
  std::map<group_row, std::vector<const decision*>> lost;
  const session_view view = of.view();
  for (const decision& d : of.decisions()) {
    if (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline) ++made.placed;
    if (d.kind == decision_kind::move) ++made.moved;
    if (d.kind != decision_kind::evict) continue;
    ++made.evicted;
    made.lost += view.pod_request(d.pod)[dim_gpu] / whole_device;
    lost[d.group].push_back(&d);
  }
  made.evicted_groups = std::ssize(lost);
  stay_check check(of);
  for (const auto& [group, pods] : lost) {
    const std::size_t unit = mins[group] > 1 ? pods.size() : 1;
    for (std::size_t i = 0; i < pods.size(); i += unit)
      made.needless += check.could_stay(std::span(pods).subspan(i, unit)) ? 1 : 0;
  }
}

/// What is proved about the fewest victims.
void prove(const session& of, victims_result& made) {
  made.bound = -1;
  std::vector<optimality_gap> gaps;
  made.gaps = processor_seconds([&] { gaps = must(of.gaps()); });
  for (const optimality_gap& one : gaps) {
    if (one.kind == gap_kind::victims) made.bound = std::max<std::int64_t>(0, made.bound) + one.bound;
  }
}

void start_measuring() {
  malloc_trim(0);
  reset_peak();
}

}  // namespace

victims_result run_victims(const engine& with, double scale) {
  victims_result made;
  made.nodes = scaled(130'000, scale);
  made.gang = scaled(39'000, scale);
  start_measuring();
  std::vector<table> tables;
  tables.push_back(queue_table(made.nodes));
  tables.push_back(node_table(made.nodes));
  work_columns work;
  fill_with_running(made.nodes, work);
  const std::string gang = "large";
  const auto members = static_cast<std::size_t>(made.gang);
  work.add_group(gang, 0, high_priority, scenario_now, members, false);
  for (std::size_t i = 0; i < members; ++i) work.add_pod(gang, i, 1, {});
  work.move_to(tables);
  made.columns_peak = peak_rss();
  cluster c;
  made.load = processor_seconds([&] { must(c.apply(tables)); });
  tables.clear();
  std::unique_ptr<session> opened;
  snapshot taken;
  made.open = processor_seconds([&] {
    taken = c.take_snapshot();
    opened = std::make_unique<session>(must(with.open(taken, scenario_now)));
  });
  made.pods = static_cast<std::int64_t>(taken.count(entity_kind::pod));
  made.action = processor_seconds([&] { must(opened->run("preempt")); });
  made.peak = peak_rss();
  made.digest = opened->digest();
  made.simulations = opened->statistics().back().simulations;
  for (const eviction_attempt& one : opened->attempts()) {
    made.steps += one.steps;
    made.cut |= one.cut;
    made.outcome = attempt_outcome_name(one.outcome);
  }
  judge(*opened, work.mins(), made);
  prove(*opened, made);
  return made;
}

namespace {

void add_waiting(std::int64_t pods, bool alone, work_columns& work) {
  dice drawn;
  std::int64_t made = 0;
  for (std::int64_t j = 0; made < pods; ++j) {
    const job_form& form = drawn.pick(new_jobs);
    const std::size_t members = alone ? 1 : std::min(form.pods, static_cast<std::size_t>(pods - made));
    const std::string name = fmt::format("job-{:07}", j);
    work.add_group(name, drawn.below(queue_count), low_priority, scenario_now - minute + j,
                   std::min(members, form.min_pods), false);
    for (std::size_t i = 0; i < members; ++i) work.add_pod(name, i, form.gpus, {});
    made += static_cast<std::int64_t>(members);
  }
}

std::int64_t count_binds(const session& of) {
  std::int64_t binds = 0;
  for (const decision& d : of.decisions()) binds += d.kind == decision_kind::bind ? 1 : 0;
  return binds;
}

void one_more(const engine& with, cluster& c, filling_result& made) {
  work_columns work;
  work.add_group("late", 0, low_priority, scenario_now + second, 1, false);
  work.add_pod("late", 0, 1, {});
  std::vector<table> tables;
  work.move_to(tables);
  made.change = processor_seconds([&] { must(c.apply(tables)); });
  made.again = processor_seconds([&] {
    session opened = must(with.open(c.take_snapshot(), scenario_now + second));
    must(opened.run("allocate"));
    made.binds_again = count_binds(opened);
  });
}

}  // namespace

filling_result run_filling(const engine& with, double scale, bool alone) {
  filling_result made;
  made.nodes = scaled(100'000, scale);
  start_measuring();
  std::vector<table> tables;
  tables.push_back(queue_table(made.nodes));
  tables.push_back(node_table(made.nodes));
  work_columns work;
  made.pods = scaled(1'000'000, scale);
  add_waiting(made.pods, alone, work);
  made.groups = std::ssize(work.mins());
  work.move_to(tables);
  made.columns_peak = peak_rss();
  cluster c;
  made.load = processor_seconds([&] { must(c.apply(tables)); });
  snapshot taken;
  std::unique_ptr<session> opened;
  made.open = processor_seconds([&] {
    taken = c.take_snapshot();
    opened = std::make_unique<session>(must(with.open(taken, scenario_now)));
  });
  made.action = processor_seconds([&] { must(opened->run("allocate")); });
  made.read = processor_seconds([&] { made.binds = count_binds(*opened); });
  made.peak = peak_rss();
  made.digest = opened->digest();
  tables.clear();
  start_measuring();
  made.assume = processor_seconds([&] { must(c.assume(*opened)); });
  opened.reset();
  taken = snapshot();
  one_more(with, c, made);
  made.peak_again = peak_rss();
  return made;
}

}  // namespace kaisched::bench
