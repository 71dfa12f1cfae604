#include "oracle/random_cluster.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace kaisched::test {

namespace {

using rows = cluster_rows;

// ---- rows to tables ----------------------------------------------------------------------------------------------

table make(table_kind kind) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(table_op::add));
}

/// Columns of a table, filled row by row from members of a struct.
template <class Row>
class filler {
 public:
  filler(table& t, const std::vector<Row>& all) : table_(t), rows_(all) {}

  filler& text(std::uint32_t column, std::string Row::* member) {
    auto& c = table_.add(column, column_type::string);
    for (const Row& row : rows_) c.push(std::string_view(row.*member));
    return *this;
  }
  filler& texts(std::uint32_t column, std::vector<std::string> Row::* member) {
    auto& c = table_.add(column, column_type::string_list);
    for (const Row& row : rows_) c.push_list(std::vector<std::string_view>((row.*member).begin(), (row.*member).end()));
    return *this;
  }
  filler& integer(std::uint32_t column, std::int64_t Row::* member) {
    auto& c = table_.add(column, column_type::i64);
    for (const Row& row : rows_) c.push(row.*member);
    return *this;
  }
  filler& number(std::uint32_t column, std::uint32_t Row::* member) {
    auto& c = table_.add(column, column_type::u32);
    for (const Row& row : rows_) c.push(row.*member);
    return *this;
  }
  filler& flag(std::uint32_t column, bool Row::* member) {
    auto& c = table_.add(column, column_type::u8);
    for (const Row& row : rows_) c.push(static_cast<std::uint8_t>(row.*member ? 1 : 0));
    return *this;
  }
  template <class Values>
  filler& values(std::uint32_t column, column_type type, std::size_t width, Values Row::* member) {
    auto& c = table_.add(column, type, static_cast<std::uint32_t>(width));
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i < width; ++i) c.push(i < (row.*member).size() ? (row.*member)[i] : 0);
    }
    return *this;
  }
  filler& list(std::uint32_t column, std::vector<std::int64_t> Row::* member) {
    auto& c = table_.add(column, column_type::i64_list);
    for (const Row& row : rows_) c.push_list(std::span<const std::int64_t>(row.*member));
    return *this;
  }

 private:
  table& table_;
  const std::vector<Row>& rows_;
};

void add_resources(const rows& r, std::vector<table>& out) {
  if (!r.resources.empty()) {
    auto& name = out.emplace_back(make(table_kind::resource)).add(col::resource_name, column_type::string);
    for (const std::string& one : r.resources) name.push(std::string_view(one));
  }
  if (!r.topology.empty()) {
    table& t = out.emplace_back(make(table_kind::topology));
    t.add(col::topology_name, column_type::string).push(std::string_view("places"));
    t.add(col::topology_levels, column_type::string_list)
        .push_list(std::vector<std::string_view>(r.topology.begin(), r.topology.end()));
    t.add(col::topology_primary, column_type::u8).push(std::uint8_t{1});
  }
}

table queue_table(const rows& r) {
  using row = rows::queue;
  table t = make(table_kind::queue);
  filler(t, r.queues)
      .text(col::queue_name, &row::name)
      .text(col::queue_parent, &row::parent)
      .integer(col::queue_priority, &row::priority)
      .integer(col::queue_created, &row::created)
      .values(col::queue_quota, column_type::i64, quota_dimensions, &row::quota)
      .values(col::queue_limit, column_type::i64, quota_dimensions, &row::limit)
      .values(col::queue_over_quota_weight, column_type::f64, quota_dimensions, &row::weight)
      .values(col::queue_usage, column_type::f64, quota_dimensions, &row::usage)
      .integer(col::queue_reclaim_min_runtime, &row::reclaim_min_runtime)
      .integer(col::queue_preempt_min_runtime, &row::preempt_min_runtime);
  return t;
}

table node_table(const rows& r) {
  using row = rows::node;
  table t = make(table_kind::node);
  filler(t, r.nodes)
      .text(col::node_name, &row::name)
      .values(col::node_capacity, column_type::i64, built_in_dimensions + r.resources.size(), &row::capacity)
      .flag(col::node_ready, &row::ready)
      .flag(col::node_unschedulable, &row::unschedulable)
      .texts(col::node_labels, &row::labels)
      .texts(col::node_taints, &row::taints);
  return t;
}

table device_table(const rows& r) {
  using row = rows::device;
  table t = make(table_kind::device);
  filler(t, r.devices)
      .text(col::device_node, &row::node)
      .number(col::device_index, &row::index)
      .integer(col::device_share, &row::share)
      .flag(col::device_healthy, &row::healthy);
  return t;
}

table group_table(const rows& r) {
  using row = rows::group;
  table t = make(table_kind::pod_group);
  filler(t, r.groups)
      .text(col::pod_group_name, &row::name)
      .text(col::pod_group_queue, &row::queue)
      .integer(col::pod_group_priority, &row::priority)
      .flag(col::pod_group_preemptible, &row::preemptible)
      .integer(col::pod_group_created, &row::created)
      .integer(col::pod_group_min_member, &row::min_member)
      .integer(col::pod_group_min_sub_group, &row::min_sub_group)
      .text(col::pod_group_namespace, &row::name_space)
      .integer(col::pod_group_last_start, &row::last_start);
  return t;
}

table sub_group_table(const rows& r) {
  using row = rows::sub_group;
  table t = make(table_kind::sub_group);
  filler(t, r.sub_groups)
      .text(col::sub_group_group, &row::group)
      .text(col::sub_group_name, &row::name)
      .text(col::sub_group_parent, &row::parent)
      .integer(col::sub_group_min_member, &row::min_member)
      .integer(col::sub_group_min_sub_group, &row::min_sub_group);
  return t;
}

table pod_table(const rows& r) {
  using row = rows::pod;
  table t = make(table_kind::pod);
  filler(t, r.pods)
      .text(col::pod_name, &row::name)
      .text(col::pod_group_ref, &row::group)
      .text(col::pod_sub_group, &row::sub_group)
      .values(col::pod_request, column_type::i64, built_in_dimensions + r.resources.size(), &row::request)
      .number(col::pod_device_count, &row::device_count)
      .text(col::pod_node, &row::node)
      .list(col::pod_devices, &row::devices)
      .integer(col::pod_created, &row::created)
      .integer(col::pod_priority, &row::priority)
      .flag(col::pod_leader, &row::leader)
      .texts(col::pod_node_selector, &row::node_selector)
      .texts(col::pod_node_affinity, &row::node_affinity)
      .texts(col::pod_tolerations, &row::tolerations)
      .texts(col::pod_affinity, &row::affinity)
      .texts(col::pod_anti_affinity, &row::anti_affinity)
      .texts(col::pod_host_ports, &row::host_ports)
      .texts(col::pod_labels, &row::labels)
      .text(col::pod_obstacle, &row::obstacle)
      .text(col::pod_nominated_node, &row::nominated_node);
  auto& status = t.add(col::pod_status_column, column_type::u8);
  for (const row& one : r.pods) status.push(static_cast<std::uint8_t>(one.status));
  return t;
}

// ---- throwing a cluster ------------------------------------------------------------------------------------------

constexpr const char* zone_label = "zone";
constexpr const char* rack_label = "rack";
constexpr const char* host_label = "host";
constexpr const char* gpu_worker_label = "node-role.kubernetes.io/gpu-worker";
constexpr const char* cpu_worker_label = "node-role.kubernetes.io/cpu-worker";

/// Which features a cluster may have is thrown first: mixtures of all of them hide each other.
struct style {
  bool labels, taints, pod_affinity, ports, extended, slots, trees, overcommitted, priorities, deep, limits, fractions;
  bool same_age, workers, device_rows, large_amounts, history, mixed_pods, namespaces, closed_nodes, busy;

  explicit style(dice& d)
      : labels(d.one_in(3)),
        taints(d.one_in(5)),
        pod_affinity(d.one_in(5)),
        ports(d.one_in(10)),
        extended(d.one_in(6)),
        slots(d.one_in(6)),
        trees(d.one_in(3)),
        overcommitted(d.one_in(8)),
        priorities(d.one_in(3)),
        deep(d.one_in(3)),
        limits(d.one_in(3)),
        fractions(d.one_in(3)),
        same_age(d.one_in(4)),
        workers(d.one_in(12)),
        device_rows(d.one_in(6)),
        large_amounts(d.one_in(30)),
        history(d.one_in(4)),
        mixed_pods(d.one_in(4)),
        namespaces(d.one_in(8)),
        closed_nodes(d.one_in(8)),
        busy(d.one_in(3)) {}
};

class thrower {
 public:
  thrower(dice& d, const cluster_size& size) : d_(d), size_(size), style_(d) {}

  rows all() {
    if (style_.extended) r_.resources = {"example.com/nic", "example.com/fpga"};
    if (style_.labels && d_.one_in(3)) r_.topology = {zone_label, rack_label};
    throw_nodes();
    throw_queues();
    std::int64_t left = d_.between(size_.pods / 4, size_.pods);
    if (style_.busy) left -= fill_nodes(left);
    while (left > 0) left -= throw_group(left);
    return std::move(r_);
  }

 private:
  std::int64_t cores(std::int64_t n) const { return style_.large_amounts ? n * 1000 : n; }
  static std::string numbered(const char* letter, std::size_t n) { return letter + std::to_string(n); }

  // ---- nodes

  void throw_nodes() {
    const std::int64_t count = d_.between(1, size_.nodes);
    std::vector<std::size_t> numbers;
    for (std::int64_t i = 0; i < count; ++i) numbers.push_back(static_cast<std::size_t>(i));
    d_.shuffle(numbers);
    const std::int64_t usual = d_.of<std::int64_t>({2, 4, 8, 1});
    for (const std::size_t i : numbers) {
      rows::node n;
      n.name = numbered("n", i);
      const std::int64_t gpus = d_.one_in(3) ? d_.of<std::int64_t>({0, 1, 2, 3, 4}) : usual;
      n.capacity = {cores(d_.of<std::int64_t>({16, 16, 8, 8, 4, 2})), d_.of<std::int64_t>({64, 64, 16, 8}),
                    gpus * whole_device, style_.slots ? d_.between(0, 5) : 110};
      for (const dimension r : {dim_cpu, dim_memory}) {
        if (d_.one_in(40)) n.capacity[r] = 0;  // a node that does not have it at all
      }
      if (gpus > 0 && d_.one_in(60)) n.capacity[dim_gpu] += 500;  // not whole: devices are not told apart
      for (std::size_t k = 0; k < r_.resources.size(); ++k) n.capacity.push_back(d_.of<std::int64_t>({4, 2, 0}));
      n.ready = !style_.closed_nodes || !d_.one_in(4);
      n.unschedulable = style_.closed_nodes && d_.one_in(4);
      throw_labels(n, gpus);
      for (std::int64_t k = style_.taints ? d_.upto(2) : 0; k > 0; --k) n.taints.push_back(taint());
      if (style_.device_rows && d_.one_in(2)) throw_devices(n, gpus);
      r_.nodes.push_back(std::move(n));
    }
  }

  void throw_labels(rows::node& n, std::int64_t gpus) {
    const auto put = [&](const char* key, const std::string& value) {
      n.labels.emplace_back(key);
      n.labels.push_back(value);
    };
    if (d_.one_in(30)) put("nvidia.com/gpu.count", d_.of<std::string>({std::to_string(gpus + 2), "many", "1", "0"}));
    if (style_.workers && !d_.one_in(3)) put(gpu_worker_label, "");
    if (style_.workers && !d_.one_in(3)) put(cpu_worker_label, "");
    if (!style_.labels && !style_.pod_affinity && !style_.taints) return;
    put(host_label, n.name);
    if (!d_.one_in(4)) put(zone_label, d_.of<std::string>({"east", "west"}));
    if (d_.one_in(2)) put(rack_label, d_.of<std::string>({"r1", "r2", ""}));
    if (d_.one_in(2)) put("size", std::to_string(d_.between(1, 12)));
  }

  std::string taint() {
    std::string text = d_.of<std::string>({"dedicated", "spot"});  // one throw a statement: their order is part of it
    text += d_.of<std::string>({"", "=a", "=b"});
    text += d_.of<std::string>({":NoSchedule", ":NoExecute", ":PreferNoSchedule"});
    return text;
  }

  /// Healthy devices offer what the node has: amounts follow from the devices.
  void throw_devices(rows::node& n, std::int64_t gpus) {
    n.capacity[dim_gpu] = 0;
    for (std::int64_t i = 0; i < gpus; ++i) {
      rows::device one{n.name, static_cast<std::uint32_t>(i), d_.of<std::int64_t>({whole_device, whole_device, 500}),
                       !d_.one_in(5)};
      if (one.healthy) n.capacity[dim_gpu] += one.share;
      r_.devices.push_back(std::move(one));
    }
  }

  // ---- queues

  void throw_queues() {
    const std::int64_t roots = d_.between(1, 3);
    for (std::int64_t i = 0; i < roots; ++i) {
      throw_queue(numbered("q", static_cast<std::size_t>(i)), "", style_.deep ? 3 : d_.between(1, 2));
    }
    d_.shuffle(r_.queues);
    for (const rows::queue& q : r_.queues) {
      const bool inner =
          std::any_of(r_.queues.begin(), r_.queues.end(), [&](const auto& x) { return x.parent == q.name; });
      if (!inner || d_.one_in(20)) leaves_.push_back(q.name);  // groups of an inner queue are not served
    }
    if (leaves_.empty()) leaves_.push_back(r_.queues.front().name);
  }

  void throw_queue(const std::string& name, const std::string& parent, std::int64_t levels) {
    rows::queue q;
    q.name = name;
    q.parent = parent;
    q.created = style_.same_age ? d_.upto(1) : static_cast<std::int64_t>(d_.upto(1000));
    if (style_.priorities) q.priority = d_.of<std::int64_t>({100, 100, 50, 200});
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) throw_bounds(q, r);
    r_.queues.push_back(q);
    if (levels < 2) return;
    const std::int64_t children = d_.upto(3);
    for (std::int64_t i = 0; i < children; ++i) {
      throw_queue(name + numbered("-", static_cast<std::size_t>(i)), name, levels - 1);
    }
  }

  void throw_bounds(rows::queue& q, std::uint32_t r) {
    std::int64_t total = 0;
    for (const rows::node& n : r_.nodes) total += n.capacity[r];
    const std::int64_t unit = r == dim_gpu ? (style_.fractions ? 500 : whole_device) : r == dim_cpu ? cores(1) : 1;
    const auto part = [&] { return d_.upto(total / unit + 1) * unit; };
    const bool bounded = r == dim_gpu ? !d_.one_in(3) : d_.one_in(4);
    if (bounded) q.quota[r] = d_.of<std::int64_t>({0, part(), part(), unlimited});
    if (style_.limits && d_.one_in(r == dim_gpu ? 3 : 6)) q.limit[r] = part() + 2 * unit;
    q.weight[r] = style_.fractions ? d_.of<double>({1, 0.1, 0.3, 2.5, 0}) : d_.of<double>({1, 1, 2, 3, 4, 0});
    if (style_.history) q.usage[r] = d_.of<double>({0, 0.1, 0.25, 0.5, 1.5});
  }

  // ---- groups and pods

  /// Pods that hold most of a node, half of them leaving. Returns their number.
  std::int64_t fill_nodes(std::int64_t most) {
    std::int64_t count = 0;
    used_.resize(r_.nodes.size());
    for (std::size_t i = 0; i < r_.nodes.size(); ++i) {
      const rows::node& n = r_.nodes[i];
      if (count + 1 >= most || d_.one_in(3)) continue;
      rows::group g;
      g.name = numbered("f", i);
      g.queue = d_.of(leaves_);
      rows::pod p;
      p.name = g.name + "-0";
      p.group = g.name;
      p.request = n.capacity;
      const std::int64_t gpus = n.capacity[dim_gpu] / whole_device - d_.upto(1);
      p.request[dim_gpu] = std::max<std::int64_t>(0, gpus) * whole_device;
      p.request[dim_cpu] = std::max<std::int64_t>(0, n.capacity[dim_cpu] - cores(d_.upto(4)));
      p.request[dim_memory] /= 2;
      p.request[dim_pods] = 1;
      p.node = n.name;
      used_[i] = p.request;
      p.status = d_.of<pod_status>({pod_status::releasing, pod_status::running});
      if (d_.one_in(4)) {
        p.group.clear();  // a daemon
      } else {
        r_.groups.push_back(std::move(g));
      }
      r_.pods.push_back(std::move(p));
      ++count;
    }
    return count;
  }

  /// Returns the number of pods.
  std::int64_t throw_group(std::int64_t most) {
    const std::int64_t count = std::min(most, d_.of<std::int64_t>({1, 1, 2, 2, 3, 4, 6}));
    rows::group g;
    g.name = numbered("g", r_.groups.size());
    g.queue = d_.of(leaves_);
    g.created = style_.same_age ? d_.upto(1) : d_.upto(1000);
    if (style_.priorities) g.priority = d_.of<std::int64_t>({50, 50, 75, 100});
    g.preemptible = !d_.one_in(6);
    g.min_member = d_.of<std::int64_t>({1, 1, count, count, d_.between(0, count)});
    if (d_.one_in(20)) g.min_member = count + 1;
    if (style_.namespaces) g.name_space = d_.of<std::string>({"", "a", "b"});
    std::vector<std::string> holders{""};
    if (style_.trees && !d_.one_in(3)) {
      holders.clear();
      throw_members(g.name, "", d_.between(1, 2), holders);
      if (d_.one_in(2)) g.min_sub_group = d_.of<std::int64_t>({1, 2, 0, 3});
      if (d_.one_in(15))
        holders.emplace_back("nowhere");  // pods that name an unknown sub-group are no part of the group
    }
    r_.groups.push_back(g);
    const rows::pod usual = ask();
    const std::int64_t started = style_.busy
                                     ? d_.of<std::int64_t>({0, 2, 2, 1})
                                     : d_.of<std::int64_t>({0, 0, 0, 1, 2});  // no, some, all pods have been before
    for (std::int64_t i = 0; i < count; ++i) {
      rows::pod p = style_.mixed_pods && d_.one_in(2) ? ask() : usual;
      p.name = g.name + numbered("-", static_cast<std::size_t>(i));
      p.group = g.name;
      p.sub_group = d_.one_in(3) ? d_.of(holders) : holders[static_cast<std::size_t>(i) % holders.size()];
      if (d_.one_in(12)) p.priority = d_.between(-1, 2);
      if (d_.one_in(8)) p.created = d_.upto(3);
      p.leader = d_.one_in(20);
      if (d_.one_in(25)) p.nominated_node = d_.of(r_.nodes).name;
      throw_status(p, started == 2 || (started == 1 && d_.one_in(2)));
      r_.pods.push_back(std::move(p));
    }
    return count;
  }

  /// Sub-groups below one; collects those that may hold pods.
  void throw_members(const std::string& group, const std::string& parent, std::int64_t depth,
                     std::vector<std::string>& holders) {
    const std::int64_t count = d_.of<std::int64_t>({1, 2, 2, 3});
    for (std::int64_t i = 0; i < count; ++i) {
      rows::sub_group s;
      s.group = group;
      s.name = numbered("s", static_cast<std::size_t>(d_.upto(99)));
      while (std::any_of(r_.sub_groups.begin(), r_.sub_groups.end(),
                         [&](const auto& x) { return x.group == group && x.name == s.name; })) {
        s.name += "x";
      }
      s.parent = parent;
      const bool inner = depth > 1 && d_.one_in(2);
      if (inner) {
        if (d_.one_in(2)) s.min_sub_group = d_.upto(2);
      } else {
        s.min_member = d_.of<std::int64_t>({1, 1, 0, 0, 2});
        holders.push_back(s.name);
      }
      r_.sub_groups.push_back(s);
      if (inner) throw_members(group, s.name, depth - 1, holders);
    }
  }

  void throw_status(rows::pod& p, bool placed) {
    if (placed) {
      p.status =
          d_.of<pod_status>({pod_status::running, pod_status::running, pod_status::running, pod_status::releasing,
                             pod_status::releasing, pod_status::bound, pod_status::binding, pod_status::pipelined,
                             pod_status::stuck_in_releasing, pod_status::allocated});
      const std::vector<std::size_t> good = nodes_with_room(p);
      if (!good.empty()) {
        rows::node& n = r_.nodes[d_.of(good)];
        p.node = n.name;
        used_.resize(r_.nodes.size());
        std::vector<std::int64_t>& used = used_[static_cast<std::size_t>(&n - r_.nodes.data())];
        used.resize(n.capacity.size(), 0);
        if (p.status != pod_status::pipelined) {
          for (std::size_t k = 0; k < p.request.size(); ++k) used[k] += p.request[k];
        }
        if (d_.one_in(30)) p.devices = {unknown_devices};
        return;
      }
    }
    p.status =
        d_.one_in(20)
            ? d_.of<pod_status>({pod_status::gated, pod_status::succeeded, pod_status::failed, pod_status::unknown})
            : pod_status::pending;
  }

  std::vector<std::size_t> nodes_with_room(const rows::pod& p) {
    used_.resize(r_.nodes.size());
    std::vector<std::size_t> good;
    for (std::size_t i = 0; i < r_.nodes.size(); ++i) {
      const std::vector<std::int64_t>& capacity = r_.nodes[i].capacity;
      bool fits = true;
      for (std::size_t k = 0; k < p.request.size(); ++k) {
        const std::int64_t used = k < used_[i].size() ? used_[i][k] : 0;
        fits = fits && (p.request[k] == 0 || used + p.request[k] <= capacity[k]);
      }
      if (fits || p.status == pod_status::pipelined || (style_.overcommitted && d_.one_in(2))) good.push_back(i);
    }
    return good;
  }

  /// What the pods of a group have in common.
  rows::pod ask() {
    rows::pod p;
    p.request = {cores(d_.of<std::int64_t>({1, 1, 2, 3, 0})), d_.of<std::int64_t>({1, 2, 4, 0}), 0, 1};
    throw_gpus(p);
    for (std::size_t k = 0; k < r_.resources.size(); ++k) p.request.push_back(d_.one_in(3) ? d_.upto(2) : 0);
    if (d_.one_in(80)) p.obstacle = "a claimed volume does not exist";
    if (style_.taints) {
      for (std::int64_t k = d_.upto(2); k > 0; --k) p.tolerations.push_back(toleration());
    }
    if (style_.labels) throw_node_terms(p);
    if (style_.pod_affinity) {
      if (d_.one_in(2)) p.labels = {"app", d_.of<std::string>({"a", "b"})};
      if (d_.one_in(4)) p.affinity.push_back(pod_term());
      if (d_.one_in(3)) p.anti_affinity.push_back(pod_term());
    }
    if (style_.ports && d_.one_in(2)) {
      p.host_ports.push_back(d_.of<std::string>({"80", "80/UDP", "10.0.0.1:80", "0.0.0.0:80", "443"}));
    }
    return p;
  }

  void throw_gpus(rows::pod& p) {
    p.request[dim_gpu] = d_.of<std::int64_t>({1, 0, 0, 1, 1, 2, 3}) * whole_device;
    if (!style_.fractions || d_.one_in(2)) return;
    p.device_count = d_.of<std::uint32_t>({1, 0, 2, 3});
    p.request[dim_gpu] = d_.of<std::int64_t>({500, 300, 250, 700, 1000}) * std::max<std::int64_t>(1, p.device_count);
  }

  std::string toleration() {
    return d_.of<std::string>({"dedicated", "spot", "dedicated=a", "spot=b", "*", "dedicated:NoSchedule",
                               "spot=a:NoExecute", "*:NoSchedule", "dedicated="});
  }

  void throw_node_terms(rows::pod& p) {
    if (d_.one_in(5)) p.node_selector = {zone_label, d_.of<std::string>({"east", "west"})};
    if (d_.one_in(8)) p.node_selector.insert(p.node_selector.end(), {rack_label, d_.of<std::string>({"r1", ""})});
    if (!d_.one_in(4)) return;
    for (std::int64_t k = d_.between(1, 2); k > 0; --k) {
      p.node_affinity.push_back(
          d_.of<std::string>({"zone in (east,west)", "zone=west", "rack", "!rack", "size>5", "size<4",
                              "zone!=east,rack", "host in (n0,n1)", "zone notin (east)", ""}));
    }
  }

  std::string pod_term() {
    std::string text = d_.of<std::string>({"host", "zone", "rack", "nowhere"});
    text += ": ";
    text += d_.of<std::string>({"app=a", "app=b", "app", "app in (a,b)", "!app", ""});
    return text;
  }

  dice& d_;
  cluster_size size_;
  style style_;
  rows r_;
  std::vector<std::string> leaves_;
  std::vector<std::vector<std::int64_t>> used_;
};

}  // namespace

std::vector<table> cluster_rows::tables() const {
  std::vector<table> out;
  add_resources(*this, out);
  if (!queues.empty()) out.push_back(queue_table(*this));
  if (!nodes.empty()) out.push_back(node_table(*this));
  if (!devices.empty()) out.push_back(device_table(*this));
  if (!groups.empty()) out.push_back(group_table(*this));
  if (!sub_groups.empty()) out.push_back(sub_group_table(*this));
  if (!pods.empty()) out.push_back(pod_table(*this));
  return out;
}

cluster_rows random_cluster(dice& d, const cluster_size& size) { return thrower(d, size).all(); }

}  // namespace kaisched::test
