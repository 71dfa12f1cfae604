#pragma once
/// @file
/// Random small clusters as rows, for tests that compare: ties, gangs, trees of queues and sub-groups, limits, shares
/// of devices, taints, affinity, pods that leave. Everything follows from the throws, so a cluster can be made again.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::test {

/// Where the choices come from. 0 is the plainest choice, so a source that lowers its numbers makes clusters simpler.
class dice {
 public:
  dice() = default;
  dice(const dice&) = delete;
  dice& operator=(const dice&) = delete;
  virtual ~dice() = default;

  /// A number from 0 to `most`, both included.
  virtual std::int64_t upto(std::int64_t most) = 0;

  std::int64_t between(std::int64_t least, std::int64_t most) { return least + upto(most - least); }
  bool one_in(std::int64_t n) { return upto(n - 1) == n - 1; }
  /// One of some choices, the plainest first.
  template <class T>
  T of(std::initializer_list<T> choices) {
    return choices.begin()[upto(static_cast<std::int64_t>(choices.size()) - 1)];
  }
  template <class T>
  const T& of(const std::vector<T>& choices) {
    return choices[static_cast<std::size_t>(upto(static_cast<std::int64_t>(choices.size()) - 1))];
  }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<std::size_t>(upto(static_cast<std::int64_t>(i) - 1))]);
    }
  }
};

/// The same throws for the same seed with every standard library.
class seeded_dice final : public dice {
 public:
  explicit seeded_dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t upto(std::int64_t most) override {
    return static_cast<std::int64_t>(engine_() % (static_cast<std::uint64_t>(most) + 1));
  }

 private:
  std::mt19937_64 engine_;
};

/// A cluster as rows, with the columns that decisions depend on.
struct cluster_rows {
  using amounts = std::array<std::int64_t, quota_dimensions>;
  using weights = std::array<double, quota_dimensions>;
  using texts = std::vector<std::string>;

  struct queue {
    std::string name;
    std::string parent{};
    std::int64_t priority = 100;
    std::int64_t created = 0;
    amounts quota{unlimited, unlimited, unlimited};
    amounts limit{unlimited, unlimited, unlimited};
    weights weight{1, 1, 1};
    weights usage{0, 0, 0};
    std::int64_t reclaim_min_runtime = unset;
    std::int64_t preempt_min_runtime = unset;
  };
  struct node {
    std::string name;
    std::vector<std::int64_t> capacity;
    bool ready = true;
    bool unschedulable = false;
    texts labels{};
    texts taints{};
  };
  struct device {
    std::string node;
    std::uint32_t index = 0;
    std::int64_t share = whole_device;
    bool healthy = true;
  };
  struct group {
    std::string name;
    std::string queue;
    std::int64_t priority = 50;
    bool preemptible = true;
    std::int64_t created = 0;
    std::int64_t min_member = 1;
    std::int64_t min_sub_group = unset;
    std::string name_space{};
    std::int64_t last_start = unset;
  };
  struct sub_group {
    std::string group;
    std::string name;
    std::string parent{};
    std::int64_t min_member = 0;
    std::int64_t min_sub_group = unset;
  };
  struct pod {
    std::string name;
    std::string group;
    std::string sub_group{};
    std::vector<std::int64_t> request;
    std::uint32_t device_count = 0;
    pod_status status = pod_status::pending;
    std::string node{};
    std::vector<std::int64_t> devices{};
    std::int64_t priority = unset;
    std::int64_t created = 0;
    bool leader = false;
    texts node_selector{};
    texts node_affinity{};
    texts tolerations{};
    texts affinity{};
    texts anti_affinity{};
    texts host_ports{};
    texts labels{};
    std::string obstacle{};
    std::string nominated_node{};
  };

  std::vector<std::string> resources;  ///< dimensions beyond the built-in ones
  texts topology;                      ///< levels of the primary topology; empty: none
  std::vector<queue> queues;
  std::vector<node> nodes;
  std::vector<device> devices;
  std::vector<group> groups;
  std::vector<sub_group> sub_groups;
  std::vector<pod> pods;

  /// One `add` table per kind that has rows, in the order in which a cluster takes them.
  [[nodiscard]] std::vector<table> tables() const;
};

struct cluster_size {
  std::int64_t nodes = 6;  ///< most
  std::int64_t pods = 12;  ///< most
};

[[nodiscard]] cluster_rows random_cluster(dice& d, const cluster_size& size = {});

}  // namespace kaisched::test
