#include "determinism/plays.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "base/sha256.hpp"
#include "benchmarks/adapter.hpp"
#include "benchmarks/scenarios.hpp"
#include "determinism/rows_of_tables.hpp"
#include "io/synthetic.hpp"
#include "oracle/random_cluster.hpp"

namespace kaisched::determinism {

namespace {

table make(table_kind kind, table_op op) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op));
}

/// A table of pods with name, status, node and devices, filled row by row.
class pod_changes {
 public:
  pod_changes()
      : table_(make(table_kind::pod, table_op::change)),
        name_(table_.add(col::pod_name, column_type::string)),
        status_(table_.add(col::pod_status_column, column_type::u8)),
        node_(table_.add(col::pod_node, column_type::string)),
        devices_(table_.add(col::pod_devices, column_type::i64_list)),
        promised_(table_.add(col::pod_nominated_node, column_type::string)) {}

  void add(std::string_view name, pod_status status, std::string_view node, std::span<const std::int64_t> devices,
           std::string_view promised = {}) {
    name_.push(name);
    status_.push(static_cast<std::uint8_t>(status));
    node_.push(node);
    devices_.push_list(devices);
    promised_.push(promised);
  }
  [[nodiscard]] const table& get() const { return table_; }

 private:
  table table_;
  table::column& name_;
  table::column& status_;
  table::column& node_;
  table::column& devices_;
  table::column& promised_;
};

/// Starts what a session has bound; a claim becomes the promise of a node.
void carry_out(cluster& c, const session& s) {
  const table decisions = must(s.to_table(table_kind::decision));
  const table_view rows = decisions.view();
  pod_changes changes;
  for (std::uint64_t i = 0; i < rows.rows; ++i) {
    const auto kind = static_cast<decision_kind>(rows.find(col::decision_kind)->values<std::uint8_t>(rows.rows)[i]);
    const std::string_view pod = rows.find(col::decision_pod_name)->string(i);
    const std::string_view node = rows.find(col::decision_node_name)->string(i);
    if (kind == decision_kind::bind) {
      changes.add(pod, pod_status::running, node, rows.find(col::decision_devices)->list(i));
    } else if (kind == decision_kind::pipeline) {
      changes.add(pod, pod_status::pending, {}, {}, node);
    }
  }
  must(c.apply(changes.get()));
}

/// Leaving pods are gone, every seventh running pod leaves, every eleventh has ended.
void time_passes(cluster& c) {
  const table pods = must(c.take_snapshot().to_table(table_kind::pod));
  const table_view rows = pods.view();
  pod_changes changes;
  for (std::uint64_t i = 0; i < rows.rows; ++i) {
    const auto status = static_cast<pod_status>(rows.find(col::pod_status_column)->values<std::uint8_t>(rows.rows)[i]);
    const std::string_view name = rows.find(col::pod_name)->string(i);
    const std::string_view node = rows.find(col::pod_node)->string(i);
    const auto devices = rows.find(col::pod_devices)->list(i);
    if (status == pod_status::releasing) {
      changes.add(name, pod_status::succeeded, {}, {});
    } else if (status == pod_status::running && i % 7 == 3) {
      changes.add(name, pod_status::releasing, node, devices);
    } else if (status == pod_status::running && i % 11 == 5) {
      changes.add(name, pod_status::succeeded, {}, {});
    }
  }
  must(c.apply(changes.get()));
}

/// New groups that ask for what the first pods of the cluster asked for.
void groups_come(cluster& c, std::uint64_t round) {
  const snapshot now = c.take_snapshot();
  const table groups = must(now.to_table(table_kind::pod_group));
  const table pods = must(now.to_table(table_kind::pod));
  const table_view models = groups.view();
  const table_view asks = pods.view();
  const std::uint64_t dims = now.dimension_names().size();
  table fresh = make(table_kind::pod_group, table_op::add);
  auto& name = fresh.add(col::pod_group_name, column_type::string);
  auto& queue = fresh.add(col::pod_group_queue, column_type::string);
  auto& created = fresh.add(col::pod_group_created, column_type::i64);
  auto& min = fresh.add(col::pod_group_min_member, column_type::i64);
  table members = make(table_kind::pod, table_op::add);
  auto& pod = members.add(col::pod_name, column_type::string);
  auto& group = members.add(col::pod_group_ref, column_type::string);
  auto& request = members.add(col::pod_request, column_type::i64, static_cast<std::uint32_t>(dims));
  auto& devices = members.add(col::pod_device_count, column_type::u32);
  for (std::uint64_t g = 0; g < 5 && models.rows > 0 && asks.rows > 0; ++g) {
    const std::string own = "come-" + std::to_string(round) + "-" + std::to_string(g);
    name.push(std::string_view(own));
    queue.push(models.find(col::pod_group_queue)->string((g * 13 + round) % models.rows));
    created.push(static_cast<std::int64_t>(round * 10 + g));
    min.push(static_cast<std::int64_t>(g));
    for (std::uint64_t p = 0; p <= g; ++p) {
      const std::uint64_t like = (g * 29 + p * 17 + round * 7) % asks.rows;
      pod.push(std::string_view(own + "-" + std::to_string(p)));
      group.push(std::string_view(own));
      for (const std::int64_t amount :
           asks.find(col::pod_request)->values<std::int64_t>(asks.rows).subspan(like * dims, dims)) {
        request.push(amount);
      }
      devices.push(asks.find(col::pod_device_count)->values<std::uint32_t>(asks.rows)[like]);
    }
  }
  must(c.apply({fresh.view(), members.view()}));
}

/// The large inputs would take minutes in an emulator, and where a search is cut is a decision like others.
void search_little(policy_options& o) {
  o.search_steps = 400;
  o.action_steps = 4'000;
}

}  // namespace

std::string sha256_of(std::string_view bytes) {
  base::sha256 hash;
  hash.update(bytes);
  return base::sha256::hex(hash.finish());
}

std::vector<input> large_inputs() {
  std::vector<input> all;
  for (const std::int32_t nodes : {32, 128}) {
    for (const std::string scenario : {"fill", "overflow", "gang", "gang64", "distributed", "mixed", "steady"}) {
      if (nodes < bench::min_nodes(scenario)) continue;
      all.push_back({scenario + "-" + std::to_string(nodes), bench::to_tables(bench::build(scenario, nodes)),
                     bench::scenario_now});
    }
  }
  for (const std::int64_t gpus : {256, 1024}) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      for (const std::int64_t load : {90, 130}) {
        io::cluster_input made = must(io::make_synthetic_cluster({gpus, load, seed}));
        const std::string numbers = std::to_string(gpus) + "-" + std::to_string(seed) + "-" + std::to_string(load);
        all.push_back({"synthetic-" + numbers, std::move(made.tables), made.now});
      }
    }
  }
  return all;
}

/// Some nodes are kept for a queue now, others for nobody in a while, again and again.
table some_reservations() {
  table rows = make(table_kind::reservation, table_op::add);
  auto& name = rows.add(col::reservation_name, column_type::string);
  auto& nodes = rows.add(col::reservation_nodes, column_type::string_list);
  auto& start = rows.add(col::reservation_start, column_type::i64);
  auto& end = rows.add(col::reservation_end, column_type::i64);
  auto& every = rows.add(col::reservation_every, column_type::i64);
  auto& queue = rows.add(col::reservation_queue, column_type::string);
  auto& evict_before = rows.add(col::reservation_evict_before, column_type::i64);
  const auto put = [&](std::string_view of, std::span<const std::string_view> on, std::int64_t from,
                       std::string_view by) {
    name.push(of);
    nodes.push_list(on);
    start.push(from);
    end.push(from + minute);
    every.push(2 * minute);
    queue.push(by);
    evict_before.push(minute / 2);
  };
  static constexpr std::array<std::string_view, 2> first{"n0", "n3"};
  static constexpr std::array<std::string_view, 2> second{"n1", "n3"};
  put("course", first, 0, "q1");
  put("maintenance", second, minute / 2, "");
  return rows;
}

input random_input(std::uint64_t seed) {
  test::seeded_dice d(seed);
  const test::cluster_size size = seed % 8 == 7 ? test::cluster_size{16, 60} : test::cluster_size{6, 12};
  input made{"random-" + std::to_string(seed), test::random_cluster(d, size).tables(), 0};
  if (seed % 8 == 5) made.tables.push_back(some_reservations());
  return made;
}

cluster build(const std::vector<table>& tables) {
  cluster c;
  for (const table& t : tables) must(c.apply(t));
  return c;
}

policy_options variant(std::uint64_t number) {
  policy_options o = must(preset("kai"));
  search_little(o);
  o.mode = number % 2 == 0 ? decision_mode::strict : decision_mode::compat;
  o.gpu_placement = number / 2 % 2 == 0 ? placement_strategy::binpack : placement_strategy::spread;
  o.cpu_placement = o.gpu_placement;
  if (number / 4 % 2 == 0) o.actions.emplace_back("vacate");
  return o;
}

std::string told(const session& s) {
  std::string all;
  for (const table_kind kind :
       {table_kind::decision, table_kind::reason, table_kind::queue_share, table_kind::placement}) {
    const table rows = must(s.to_table(kind));
    all += bytes_without_ids(rows.view());
  }
  return all;
}

std::vector<std::string> lines_of(const input& from) {
  const snapshot base = build(from.tables).take_snapshot();
  std::vector<std::string> lines{from.name + " snapshot " + base.digest() + " saved " + sha256_of(base.save())};
  for (std::uint64_t v = 0; v < variants; ++v) {
    const session s = must(engine(variant(v)).run(base, from.now));
    lines.push_back(from.name + " variant " + std::to_string(v) + " decisions " + s.digest() + " told " +
                    sha256_of(told(s)));
  }
  return lines;
}

std::string line_of_preset(const input& from, std::uint64_t number) {
  static constexpr std::array presets{
      "volcano-default", "volcano-ai", "kube-default",   "kube-gang",        "coscheduling", "hived",
      "kueue-classical", "kueue-fair", "slurm-backfill", "yunikorn-default", "yunikorn-pack"};
  const char* const name = presets[number % presets.size()];
  policy_options o = must(preset(name));
  search_little(o);
  const session s = must(engine(o).run(build(from.tables).take_snapshot(), from.now));
  must(s.check());
  return from.name + " " + name + " decisions " + s.digest() + " told " + sha256_of(told(s));
}

std::vector<std::string> story(const input& from, std::uint64_t number) {
  std::vector<std::string> lines;
  cluster c = build(from.tables);
  for (std::uint64_t round = 0; round < 4; ++round) {
    const engine e(variant(number + round));
    const snapshot base = c.take_snapshot();
    const std::int64_t now = from.now + static_cast<std::int64_t>(round) * minute;
    const session s = must(e.run(base, now));
    lines.push_back(from.name + " round " + std::to_string(round) + " snapshot " + base.digest() + " decisions " +
                    s.digest());
    const std::string saved = base.save();
    const snapshot loaded = must(snapshot::load(saved));
    if (loaded.save() != saved || loaded.digest() != base.digest() || must(e.run(loaded, now)).digest() != s.digest()) {
      lines.back() += " and differs once it was saved and loaded";
    }
    carry_out(c, s);
    time_passes(c);
    groups_come(c, round);
  }
  return lines;
}

std::string line_of_random(std::uint64_t first, std::uint64_t count) {
  std::string all;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const input from = random_input(seed);
    for (const std::string& line : lines_of(from)) all += line + "\n";
    for (const std::string& line : story(from, seed)) all += line + "\n";
    all += line_of_preset(from, seed) + "\n";
  }
  return "random " + std::to_string(first) + " to " + std::to_string(first + count - 1) + " " + sha256_of(all);
}

std::vector<std::string> all_lines(std::uint64_t every) {
  std::vector<std::string> lines = arithmetic();
  const auto add = [&](const std::vector<std::string>& more) { lines.insert(lines.end(), more.begin(), more.end()); };
  add(virtual_time());
  std::uint64_t number = 0;
  for (const input& from : large_inputs()) {
    if (number % every == 0) {
      add(lines_of(from));
      add(story(from, number));
    }
    ++number;
  }
  for (std::uint64_t first = 0; first < random_inputs; first += 50) lines.push_back(line_of_random(first, 50));
  return lines;
}

}  // namespace kaisched::determinism
