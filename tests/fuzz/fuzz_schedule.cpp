// Any bytes as a small cluster that the engine decides: no invariant breaks, whichever actions run, indexes decide as
// the scan of all nodes, nobody starts whom a certificate excludes, and what is decided can be said again from a saved
// snapshot.
#include <algorithm>
#include <vector>

#include <kaisched/engine.hpp>
#include <kaisched/quantity.hpp>

#include "source.hpp"

namespace {

using namespace kaisched;
using fuzz::source;

table adding(table_kind kind) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(table_op::add));
}

std::string name_of(char letter, std::size_t number) { return letter + std::to_string(number); }

void push_list(table::column& to, std::initializer_list<std::string_view> elements) {
  to.push_list(std::span<const std::string_view>(elements.begin(), elements.size()));
}

table queues_of(source& from, std::size_t count) {
  static constexpr std::array<std::int64_t, 6> bounds{-1, 0, 1000, 2000, 4000, 1500};
  static constexpr std::array<double, 4> weights{1, 0, 2, 0.5};
  table t = adding(table_kind::queue);
  auto& names = t.add(col::queue_name, column_type::string);
  auto& parents = t.add(col::queue_parent, column_type::string);
  auto& priorities = t.add(col::queue_priority, column_type::i64);
  auto& quotas = t.add(col::queue_quota, column_type::i64, quota_dimensions);
  auto& limits = t.add(col::queue_limit, column_type::i64, quota_dimensions);
  auto& shares = t.add(col::queue_over_quota_weight, column_type::f64, quota_dimensions);
  for (std::size_t q = 0; q <= count; ++q) {
    names.push(std::string_view(q == 0 ? "top" : name_of('q', q - 1)));
    parents.push(std::string_view(q > 0 && from.one_in(2) ? "top" : ""));
    priorities.push(std::int64_t{100} + static_cast<std::int64_t>(from.below(3)));
    for (std::uint32_t i = 0; i < quota_dimensions; ++i) {
      const bool gpu = i == quota_dimensions - 1;
      quotas.push(gpu ? from.pick(bounds) : std::int64_t{-1});
      limits.push(gpu && from.one_in(3) ? from.pick(bounds) : std::int64_t{-1});
      shares.push(from.pick(weights));
    }
  }
  return t;
}

table nodes_of(source& from, std::size_t count) {
  static constexpr std::array<std::int64_t, 6> gpus{0, 1000, 2000, 4000, 8000, 1000};
  static constexpr std::array<std::int64_t, 4> cpus{1000, 2000, 4000, 64000};
  table t = adding(table_kind::node);
  auto& names = t.add(col::node_name, column_type::string);
  auto& capacities = t.add(col::node_capacity, column_type::i64, built_in_dimensions);
  auto& ready = t.add(col::node_ready, column_type::u8);
  auto& labels = t.add(col::node_labels, column_type::string_list);
  auto& taints = t.add(col::node_taints, column_type::string_list);
  for (std::size_t n = 0; n < count; ++n) {
    names.push(std::string_view(name_of('n', n)));
    for (const std::int64_t amount : {from.pick(cpus), std::int64_t{1} << 30, from.pick(gpus),
                                      std::int64_t{1} + static_cast<std::int64_t>(from.below(5))}) {
      capacities.push(amount);
    }
    ready.push(static_cast<std::uint8_t>(from.one_in(10) ? 0 : 1));
    push_list(labels, {"zone", from.one_in(2) ? "a" : "b"});
    if (from.one_in(6)) {
      push_list(taints, {"spot:NoSchedule"});
    } else {
      push_list(taints, {});
    }
  }
  return t;
}

/// Groups with their sub-groups and pods.
class jobs {
 public:
  void add(source& from, std::size_t number, std::size_t queue_count, std::size_t node_count) {
    const std::string group = name_of('g', number);
    const std::size_t pods = 1 + from.below(5);
    group_names_.push(std::string_view(group));
    group_queues_.push(std::string_view(name_of('q', from.below(queue_count))));
    priorities_.push(static_cast<std::int64_t>(from.below(3)) * 50);
    preemptible_.push(static_cast<std::uint8_t>(from.one_in(4) ? 0 : 1));
    created_.push(static_cast<std::int64_t>(from.below(4)));
    const bool split = from.one_in(4) && pods > 1;
    min_members_.push(split ? std::int64_t{1} : 1 + static_cast<std::int64_t>(from.below(pods)));
    min_sub_groups_.push(split && from.one_in(2) ? std::int64_t{1} : unset);
    for (std::size_t s = 0; split && s < 2; ++s) {
      sub_group_owners_.push(std::string_view(group));
      sub_group_names_.push(std::string_view(name_of('s', s)));
      sub_group_members_.push(static_cast<std::int64_t>(from.below(3)));
    }
    for (std::size_t p = 0; p < pods; ++p) {
      add_pod(from, group, name_of('-', p), split ? name_of('s', p % 2) : std::string(), node_count);
    }
  }

  [[nodiscard]] std::vector<table> take() {
    std::vector<table> made;
    made.push_back(std::move(groups_));
    made.push_back(std::move(sub_groups_));
    made.push_back(std::move(pods_));
    return made;
  }

 private:
  void add_pod(source& from, const std::string& group, const std::string& suffix, const std::string& sub_group,
               std::size_t node_count) {
    static constexpr std::array<std::int64_t, 8> gpus{1000, 0, 2000, 500, 300, 4000, 8000, 1000};
    static constexpr std::array<std::int64_t, 4> cpus{500, 1000, 2000, 0};
    static constexpr std::array<pod_status, 6> on_node{pod_status::running,   pod_status::bound,
                                                       pod_status::releasing, pod_status::stuck_in_releasing,
                                                       pod_status::pipelined, pod_status::binding};
    static constexpr std::array<pod_status, 5> elsewhere{pod_status::pending, pod_status::pending, pod_status::gated,
                                                         pod_status::succeeded, pod_status::failed};
    const std::int64_t gpu = from.pick(gpus);
    pod_names_.push(std::string_view(group + suffix));
    pod_groups_.push(std::string_view(group));
    pod_sub_groups_.push(std::string_view(sub_group));
    for (const std::int64_t amount : {from.pick(cpus), std::int64_t{0}, gpu, std::int64_t{1}}) requests_.push(amount);
    device_counts_.push(static_cast<std::uint32_t>(gpu > 0 && gpu < 1000 && from.one_in(4) ? 2 : 0));
    const bool placed = from.one_in(3);
    statuses_.push(static_cast<std::uint8_t>(placed ? from.pick(on_node) : from.pick(elsewhere)));
    places_.push(std::string_view(placed ? name_of('n', from.below(node_count)) : ""));
    if (from.one_in(6)) {
      push_list(selectors_, {"zone", "a"});
    } else {
      push_list(selectors_, {});
    }
    push_list(tolerations_, {from.one_in(2) ? "spot" : "other"});
    push_list(labels_, {"app", from.one_in(2) ? "x" : "y"});
    if (from.one_in(8)) {
      push_list(anti_affinities_, {from.one_in(2) ? "zone: app=x" : "zone: app=y"});
    } else {
      push_list(anti_affinities_, {});
    }
    if (from.one_in(8)) {
      push_list(affinities_, {"zone: app=x"});
    } else {
      push_list(affinities_, {});
    }
    if (from.one_in(12)) {
      push_list(ports_, {"8080"});
    } else {
      push_list(ports_, {});
    }
  }

  table groups_ = adding(table_kind::pod_group);
  table sub_groups_ = adding(table_kind::sub_group);
  table pods_ = adding(table_kind::pod);
  table::column& group_names_ = groups_.add(col::pod_group_name, column_type::string);
  table::column& group_queues_ = groups_.add(col::pod_group_queue, column_type::string);
  table::column& priorities_ = groups_.add(col::pod_group_priority, column_type::i64);
  table::column& preemptible_ = groups_.add(col::pod_group_preemptible, column_type::u8);
  table::column& created_ = groups_.add(col::pod_group_created, column_type::i64);
  table::column& min_members_ = groups_.add(col::pod_group_min_member, column_type::i64);
  table::column& min_sub_groups_ = groups_.add(col::pod_group_min_sub_group, column_type::i64);
  table::column& sub_group_owners_ = sub_groups_.add(col::sub_group_group, column_type::string);
  table::column& sub_group_names_ = sub_groups_.add(col::sub_group_name, column_type::string);
  table::column& sub_group_members_ = sub_groups_.add(col::sub_group_min_member, column_type::i64);
  table::column& pod_names_ = pods_.add(col::pod_name, column_type::string);
  table::column& pod_groups_ = pods_.add(col::pod_group_ref, column_type::string);
  table::column& pod_sub_groups_ = pods_.add(col::pod_sub_group, column_type::string);
  table::column& requests_ = pods_.add(col::pod_request, column_type::i64, built_in_dimensions);
  table::column& device_counts_ = pods_.add(col::pod_device_count, column_type::u32);
  table::column& statuses_ = pods_.add(col::pod_status_column, column_type::u8);
  table::column& places_ = pods_.add(col::pod_node, column_type::string);
  table::column& selectors_ = pods_.add(col::pod_node_selector, column_type::string_list);
  table::column& tolerations_ = pods_.add(col::pod_tolerations, column_type::string_list);
  table::column& labels_ = pods_.add(col::pod_labels, column_type::string_list);
  table::column& affinities_ = pods_.add(col::pod_affinity, column_type::string_list);
  table::column& anti_affinities_ = pods_.add(col::pod_anti_affinity, column_type::string_list);
  table::column& ports_ = pods_.add(col::pod_host_ports, column_type::string_list);
};

/// Pods that the bytes put where they cannot be make the whole cluster one that is refused; that is fine.
result<snapshot> random_cluster(source& from) {
  const std::size_t queue_count = 1 + from.below(3);
  const std::size_t node_count = 1 + from.below(5);
  std::vector<table> tables;
  tables.push_back(queues_of(from, queue_count));
  tables.push_back(nodes_of(from, node_count));
  jobs made;
  const std::size_t groups = 1 + from.below(8);
  for (std::size_t g = 0; g < groups; ++g) made.add(from, g, queue_count, node_count);
  for (table& t : made.take()) tables.push_back(std::move(t));

  cluster c;
  for (const table& t : tables) {
    if (t.rows() == 0) continue;
    if (auto applied = c.apply(t); !applied) return applied.take_failure();
  }
  return c.take_snapshot();
}

/// Nobody has started of the groups that could not, by what is said before anything is decided.
void compare_certificates(const engine& by, const session& decided) {
  const session before = fuzz::sure(by.open(decided.base(), 10));
  std::vector<group_row> started;
  for (const decision& d : decided.decisions()) {
    if (d.kind == decision_kind::bind) started.push_back(d.group);
  }
  std::sort(started.begin(), started.end());
  started.erase(std::unique(started.begin(), started.end()), started.end());
  for (const group_row group : started) {
    fuzz::ensure(fuzz::sure(before.certify(group)).kind == certificate_kind::none, "what is excluded does not happen");
  }
}

void decide(const snapshot& base, std::string_view mode, std::string_view placement) {
  engine fast;
  fuzz::sure(fast.set("mode", mode));
  fuzz::sure(fast.set("placement.gpu", placement));
  fuzz::sure(fast.set("placement.cpu", placement));
  fuzz::sure(fast.set("invariants", "full"));
  engine slow(fast.options());
  fuzz::sure(slow.set("reference_path", "true"));

  const session by_index = fuzz::sure(fast.run(base, 10));
  fuzz::sure(by_index.check());
  const session by_scan = fuzz::sure(slow.run(base, 10));
  fuzz::sure(by_scan.check());
  fuzz::ensure(by_index.digest() == by_scan.digest(), "indexes decide as the scan of all nodes does");
  fuzz::ensure(by_index.state_digest() == by_scan.state_digest(), "and leave the same state");

  if (mode == "strict") compare_certificates(fast, by_index);  // compat may put more on a node than it has

  engine all(fast.options());
  fuzz::sure(all.set("actions", "allocate,consolidation,reclaim,preempt,stalegangeviction"));
  (void)fuzz::sure(all.run(base, 10));

  const snapshot loaded = fuzz::sure(snapshot::load(base.save()));
  fuzz::ensure(fuzz::sure(fast.run(loaded, 10)).digest() == by_index.digest(), "a loaded snapshot is decided equally");
  for (const table_kind kind : {table_kind::decision, table_kind::reason, table_kind::queue_share,
                                table_kind::placement, table_kind::statistic}) {
    fuzz::ensure(by_index.to_table(kind).ok(), "every table can be had");
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  source from(data, size);
  const bool spread = from.one_in(2);
  const result<snapshot> base = random_cluster(from);
  if (!base) return 0;
  for (const std::string_view mode : {"strict", "compat"}) decide(*base, mode, spread ? "spread" : "binpack");
  return 0;
}
