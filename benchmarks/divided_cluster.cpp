#include "benchmarks/divided_cluster.hpp"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "benchmarks/adapter.hpp"

namespace kaisched::bench {

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t cores_of_node = 128;
constexpr std::int64_t memory_of_node = std::int64_t{1} << 40U;
constexpr std::int64_t memory_of_pod = std::int64_t{1} << 30U;
constexpr std::uint32_t gpus_of_node = 8;

struct profile {
  std::string_view name;
  std::uint64_t size;   ///< in memory slices
  std::uint64_t every;  ///< it may begin at multiples of this
  std::uint64_t last;   ///< and no later than here
};
constexpr std::array profiles{profile{"1g.10gb", 1, 1, 6}, profile{"1g.20gb", 2, 2, 6}, profile{"2g.20gb", 2, 2, 4},
                              profile{"3g.40gb", 4, 4, 4}, profile{"4g.40gb", 4, 4, 0}, profile{"7g.80gb", 8, 8, 0}};
constexpr std::uint32_t dims = built_in_dimensions + profiles.size();

class writer {
 public:
  explicit writer(const divided_cluster& of) : of_(of), state_(of.seed * 0x9E3779B97F4A7C15U + 1) {}

  std::vector<table> run() {
    auto& name = resources_.add(col::resource_name, column_type::string);
    for (const profile& one : profiles) name.push(std::string_view("nvidia.com/mig-" + std::string(one.name)));
    auto& queue = queues_.add(col::queue_name, column_type::string);
    for (int q = 0; q < queue_count; ++q) queue.push(std::string_view(queue_name(q)));
    for (std::int32_t n = 0; n < of_.nodes; ++n) add_node(n);
    for (std::int32_t g = 0; g < of_.gangs; ++g) add_gang(g);
    std::vector<table> tables;
    for (table* one : {&resources_, &queues_, &nodes_, &devices_, &groups_, &pods_}) tables.push_back(std::move(*one));
    return tables;
  }

 private:
  static constexpr int queue_count = 4;
  static std::string queue_name(int q) { return "queue-" + std::to_string(q); }

  std::uint64_t draw(std::uint64_t below) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return (state_ >> 33U) % below;
  }

  void add_node(std::int32_t n) {
    const std::string name = "node-" + std::to_string(10000 + n);
    std::array<std::int64_t, profiles.size()> have{};
    std::int64_t whole = 0;
    const bool is_secretive = draw(32) == 0;  // nobody says which instances its pods use
    for (std::uint32_t d = 0; d < gpus_of_node; ++d) {
      device_node_.push(std::string_view(name));
      device_index_.push(d);
      const std::uint64_t use = draw(8);
      if (use < 2) {
        ++whole;
        device_sharing_.push(std::string_view());
        device_instances_.push_list(std::vector<std::string_view>{});
        if (use == 0) add_running(name, -1, d, "");
        continue;
      }
      const std::vector<std::string> instances = layout(have);
      const std::vector<std::string_view> texts(instances.begin(), instances.end());
      device_sharing_.push(std::string_view("mig"));
      device_instances_.push_list(texts);
      for (const std::string& one : instances) {
        if (draw(10) == 0) continue;
        const std::string at = is_secretive ? std::string() : std::to_string(d) + "/" + one;
        add_running(name, profile_of(one), d, at);
      }
    }
    node_name_.push(std::string_view(name));
    const std::int64_t cores = cores_of_node + static_cast<std::int64_t>(n % of_.kinds_of_cpu);
    for (const std::int64_t amount : {cores * 1000, memory_of_node, whole * whole_device, std::int64_t{110}})
      node_capacity_.push(amount);
    for (const std::int64_t amount : have) node_capacity_.push(amount);
    node_labels_.push_list(std::vector<std::string_view>{
        "nvidia.com/gpu.product", n % 2 == 0 ? "NVIDIA-A100-SXM4-80GB" : "NVIDIA-H100-80GB-HBM3"});
  }

  static int profile_of(std::string_view instance) {
    int p = 0;
    while (!instance.starts_with(profiles[static_cast<std::size_t>(p)].name)) ++p;
    return p;
  }

  /// Instances from left to right, with gaps. Seven compute slices are enough for whatever fits into the memory slices,
  /// but for two of three and four that lie where only the tables allow.
  std::vector<std::string> layout(std::array<std::int64_t, profiles.size()>& have) {
    std::vector<std::string> made;
    for (std::uint64_t at = 0; at < 8;) {
      const auto p = static_cast<std::size_t>(draw(draw(4) == 0 ? profiles.size() : 4));
      const profile& one = profiles[p];
      if (draw(8) == 0 || at % one.every != 0 || at > one.last || at + one.size > 8) {
        ++at;
        continue;
      }
      made.push_back(std::string(one.name) + "@" + std::to_string(at));
      ++have[p];
      at += one.size;
    }
    return made;
  }

  /// A pod of its own on one instance, or on a whole GPU.
  void add_running(const std::string& node, int profile, std::uint32_t device, const std::string& instance) {
    const std::string group = "old-" + std::to_string(100000 + old_++);
    add_group(group, 1, draw(3) != 0, 0);
    add_pod(group, 0, profile, pod_status::running, node);
    pod_devices_.push_list(profile >= 0 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{device});
    pod_instances_.push_list(instance.empty() ? std::vector<std::string_view>{}
                                              : std::vector<std::string_view>{instance});
  }

  void add_gang(std::int32_t g) {
    const std::string group = "gang-" + std::to_string(10000 + g);
    static constexpr std::array<std::uint64_t, 5> sizes{1, 2, 4, 8, 16};
    const std::uint64_t members = sizes[draw(sizes.size())];
    const int first = static_cast<int>(2 + draw(profiles.size() - 2));
    const int second_profile = draw(4) == 0 ? static_cast<int>(draw(profiles.size())) : first;
    add_group(group, static_cast<std::int64_t>(members), true, 1 + g);
    for (std::uint64_t i = 0; i < members; ++i) {
      add_pod(group, i, i % 2 == 0 ? first : second_profile, pod_status::pending, "");
      pod_devices_.push_list(std::vector<std::int64_t>{});
      pod_instances_.push_list(std::vector<std::string_view>{});
    }
  }

  void add_group(const std::string& name, std::int64_t members, bool preemptible, std::int64_t age) {
    group_name_.push(std::string_view(name));
    group_queue_.push(std::string_view(queue_name(static_cast<int>(draw(queue_count)))));
    group_preemptible_.push(static_cast<std::uint8_t>(preemptible ? 1 : 0));
    group_created_.push(scenario_now - 1'000'000 * second + age * second);
    group_min_.push(members);
  }

  void add_pod(const std::string& group, std::uint64_t i, int profile, pod_status status, std::string_view node) {
    pod_name_.push(std::string_view(group + "-" + std::to_string(i)));
    pod_group_.push(std::string_view(group));
    for (const std::int64_t amount : {std::int64_t{1000}, memory_of_pod,
                                      profile < 0 ? std::int64_t{whole_device} : std::int64_t{0}, std::int64_t{1}})
      pod_request_.push(amount);
    for (int p = 0; p < static_cast<int>(profiles.size()); ++p) pod_request_.push(std::int64_t{p == profile ? 1 : 0});
    pod_status_.push(static_cast<std::uint8_t>(status));
    pod_node_.push(node);
  }

  const divided_cluster& of_;
  std::uint64_t state_;
  int old_ = 0;
  table resources_ = rows_of(table_kind::resource);
  table queues_ = rows_of(table_kind::queue);
  table nodes_ = rows_of(table_kind::node);
  table::column& node_name_ = nodes_.add(col::node_name, column_type::string);
  table::column& node_capacity_ = nodes_.add(col::node_capacity, column_type::i64, dims);
  table::column& node_labels_ = nodes_.add(col::node_labels, column_type::string_list);
  table devices_ = rows_of(table_kind::device);
  table::column& device_node_ = devices_.add(col::device_node, column_type::string);
  table::column& device_index_ = devices_.add(col::device_index, column_type::u32);
  table::column& device_sharing_ = devices_.add(col::device_sharing, column_type::string);
  table::column& device_instances_ = devices_.add(col::device_instances, column_type::string_list);
  table groups_ = rows_of(table_kind::pod_group);
  table::column& group_name_ = groups_.add(col::pod_group_name, column_type::string);
  table::column& group_queue_ = groups_.add(col::pod_group_queue, column_type::string);
  table::column& group_preemptible_ = groups_.add(col::pod_group_preemptible, column_type::u8);
  table::column& group_created_ = groups_.add(col::pod_group_created, column_type::i64);
  table::column& group_min_ = groups_.add(col::pod_group_min_member, column_type::i64);
  table pods_ = rows_of(table_kind::pod);
  table::column& pod_name_ = pods_.add(col::pod_name, column_type::string);
  table::column& pod_group_ = pods_.add(col::pod_group_ref, column_type::string);
  table::column& pod_request_ = pods_.add(col::pod_request, column_type::i64, dims);
  table::column& pod_status_ = pods_.add(col::pod_status_column, column_type::u8);
  table::column& pod_node_ = pods_.add(col::pod_node, column_type::string);
  table::column& pod_devices_ = pods_.add(col::pod_devices, column_type::i64_list);
  table::column& pod_instances_ = pods_.add(col::pod_mig_instances, column_type::string_list);
};

}  // namespace

std::vector<table> to_tables(const divided_cluster& of) { return writer(of).run(); }

}  // namespace kaisched::bench
