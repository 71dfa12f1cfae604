#pragma once
/// @file
/// Small clusters for tests, in few words.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

namespace kaisched::test {

inline constexpr std::int64_t second = 1'000'000'000;

template <class T>
T must(result<T> r) {
  REQUIRE_MESSAGE(r.ok(), (r.ok() ? std::string() : r.failure().message));
  return std::move(r).value();
}
inline void must(const result<void>& r) { REQUIRE_MESSAGE(r.ok(), (r.ok() ? std::string() : r.failure().message)); }

/// What `snapshot::save` gives, as version 0.1 wrote it: bytes of tables can be changed in it.
std::string without_checksum(std::string_view saved);

/// Builds tables row by row with the columns that most tests need.
class builder {
 public:
  struct node {
    std::string name;
    std::int64_t gpus = 8;
    std::int64_t cpus = 64;
    std::vector<std::string> labels{};
    std::vector<std::string> taints{};
    bool ready = true;
  };
  struct queue {
    std::string name;
    std::string parent{};
    std::int64_t gpu_quota = unlimited;  ///< GPUs
    std::int64_t gpu_limit = unlimited;
    double weight = 1;
    std::int64_t priority = 100;
  };
  struct group {
    std::string name;
    std::string queue;
    std::int64_t min_member = 1;
    std::int64_t priority = 50;
    std::int64_t created = 0;
    bool preemptible = true;
    std::string name_space{};
  };
  struct pod {
    std::string name;
    std::string group;
    std::int64_t gpu_milli = 1000;
    std::string node{};  ///< running there, or pending if empty
    std::int64_t cpu_milli = 1000;
    std::string sub_group{};
    std::vector<std::string> node_selector{};
    std::vector<std::string> affinity{};
    std::vector<std::string> anti_affinity{};
    std::vector<std::string> labels{};
    std::vector<std::string> host_ports{};
    pod_status status = pod_status::running;  ///< where there is a node
  };

  builder& operator<<(node n) { return nodes.push_back(std::move(n)), *this; }
  builder& operator<<(queue q) { return queues.push_back(std::move(q)), *this; }
  builder& operator<<(group g) { return groups.push_back(std::move(g)), *this; }
  builder& operator<<(pod p) { return pods.push_back(std::move(p)), *this; }
  /// A group with `count` equal pending pods named `<group>-<i>`.
  builder& gang(const std::string& name, const std::string& in, std::int64_t count, std::int64_t gpu_milli = 1000) {
    *this << group{name, in, count, 50, static_cast<std::int64_t>(groups.size()) * second};
    for (std::int64_t i = 0; i < count; ++i) *this << pod{name + "-" + std::to_string(i), name, gpu_milli};
    return *this;
  }

  [[nodiscard]] std::vector<table> tables(table_op op = table_op::add) const;
  void apply_to(cluster& c) const {
    for (const table& t : tables()) must(c.apply(t));
  }
  [[nodiscard]] snapshot take() const {
    cluster c;
    apply_to(c);
    return c.take_snapshot();
  }

  std::vector<node> nodes;
  std::vector<queue> queues;
  std::vector<group> groups;
  std::vector<pod> pods;
};

/// Decisions as text lines: "bind pod node".
[[nodiscard]] std::vector<std::string> lines(const session& s);
/// An engine with options given as name, value, name, value.
[[nodiscard]] engine make_engine(std::initializer_list<std::string_view> options);
/// Pods of a session by name.
[[nodiscard]] pod_row pod_by_name(const snapshot& s, std::string_view name);
[[nodiscard]] node_row node_by_name(const snapshot& s, std::string_view name);

}  // namespace kaisched::test
