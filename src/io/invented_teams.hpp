#pragma once
/// @file
/// Queues of invented clusters, and what their teams run.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "io/invented_world.hpp"

namespace kaisched::io::invented {

enum kind : std::uint8_t { pretrain, train, elastic, finetune, sweep, notebook, serve, evaluate, etl, kind_count };
inline constexpr std::array<std::string_view, kind_count> kind_names{
    "pretrain", "train", "elastic", "finetune", "sweep", "notebook", "serve", "eval", "etl"};

/// Kinds of mixed clusters.
enum mixed_kind : std::uint8_t {
  tight,   ///< a gang in one rack
  near,    ///< a gang that should be in one rack, half of them must be in one block
  slices,  ///< sub-groups, each in a rack, beside each other in a block
  launch,  ///< a leader, and workers in one rack
  split,   ///< a service with roles for prefill and decode
  rdma,    ///< a gang whose pods claim network devices
  nvl,     ///< a gang in one rack of nodes whose GPUs are claimed
  claim,   ///< pods that claim GPUs
  twin,    ///< two pods that share a claim
  typed,   ///< pods for one or two models
  mixed_kind_count
};
inline constexpr std::array<std::string_view, mixed_kind_count> mixed_kind_names{
    "tight", "near", "slices", "launch", "split", "rdma", "nvl", "claim", "twin", "typed"};

/// Jobs of the kind run where GPUs are claimed.
[[nodiscard]] constexpr bool claims_gpus(std::size_t k) { return k == nvl || k == claim || k == twin; }

/// Run times that a queue promises; 0: none.
struct promise {
  std::int64_t preempt_minutes = 0;
  std::int64_t reclaim_minutes = 0;

  [[nodiscard]] std::int64_t longest() const {
    return preempt_minutes < reclaim_minutes ? reclaim_minutes : preempt_minutes;
  }
};

struct team_info {
  std::string_view name;
  std::string_view department;
  std::int64_t quota_percent;  ///< of all GPUs
  std::int64_t limit_percent;  ///< 0: none
  std::int64_t weight;
  std::int64_t priority;
  std::int64_t running;  ///< part of what runs
  std::int64_t waiting;  ///< part of what waits
  std::array<std::int64_t, kind_count> mix;
  std::array<std::int64_t, mixed_kind_count> mixed;  ///< of mixed clusters
  promise promised{};                                ///< in mixed clusters
};
inline constexpr std::string_view organisation = "company";
struct department_info {
  std::string_view name;
  std::int64_t weight;
  promise promised{};
};
inline constexpr std::array departments{department_info{"research", 2}, department_info{"product", 1, {0, 60}},
                                        department_info{"platform", 1}};
inline constexpr std::array teams{
    // pretrain, train, elastic, finetune, sweep, notebook, serve, eval, etl
    // tight, near, slices, launch, split, rdma, nvl, claim, twin, typed
    team_info{"foundation",
              "research",
              24,
              0,
              3,
              100,
              15,
              22,
              {6, 8, 6, 8, 60, 3, 0, 6, 0},
              {4, 4, 3, 2, 0, 4, 3, 6, 0, 6},
              {60, 120}},
    team_info{"vision",
              "research",
              12,
              0,
              1,
              100,
              14,
              10,
              {0, 6, 4, 12, 160, 18, 0, 0, 1},
              {4, 3, 1, 3, 0, 2, 1, 12, 1, 12},
              {30, 0}},
    team_info{
        "speech", "research", 7, 9, 1, 100, 5, 9, {0, 4, 6, 12, 60, 12, 0, 0, 0}, {3, 2, 1, 2, 0, 1, 1, 10, 1, 10}},
    team_info{
        "robotics", "research", 5, 0, 1, 100, 3, 5, {0, 2, 2, 12, 120, 24, 0, 0, 1}, {3, 2, 0, 2, 0, 1, 1, 10, 1, 10}},
    team_info{"assistant",
              "product",
              12,
              0,
              2,
              100,
              8,
              10,
              {1, 8, 4, 12, 40, 6, 2, 6, 0},
              {3, 3, 1, 1, 4, 2, 2, 8, 2, 6},
              {15, 180}},
    team_info{"search", "product", 9, 0, 1, 100, 4, 6, {0, 4, 4, 16, 80, 6, 2, 0, 4}, {2, 2, 0, 2, 3, 1, 1, 8, 3, 10}},
    team_info{
        "ranking", "product", 7, 12, 1, 100, 6, 7, {0, 2, 8, 16, 80, 6, 0, 0, 4}, {2, 2, 0, 2, 2, 1, 1, 8, 3, 10}},
    team_info{
        "inference", "platform", 9, 0, 1, 200, 5, 4, {0, 0, 0, 2, 0, 2, 12, 8, 0}, {0, 0, 0, 0, 12, 0, 0, 6, 8, 4}},
    team_info{"evaluation",
              "platform",
              3,
              0,
              1,
              100,
              1,
              4,
              {0, 0, 0, 6, 40, 4, 0, 80, 0},
              {0, 0, 0, 0, 0, 0, 0, 12, 0, 12},
              {10, 10}},
    team_info{"data", "platform", 2, 0, 1, 100, 1, 1, {0, 0, 0, 4, 10, 4, 0, 0, 30}, {0, 0, 0, 0, 0, 0, 0, 6, 0, 8}},
};
inline constexpr const team_info& data_team = teams.back();

[[nodiscard]] inline std::size_t index_of(const team_info& team) {
  return static_cast<std::size_t>(&team - teams.data());
}

/// The longest run time that the queue of a team promises, or its department.
[[nodiscard]] inline std::int64_t promised_minutes(const team_info& team) {
  if (team.promised.longest() > 0) return team.promised.longest();
  for (const department_info& department : departments) {
    if (department.name == team.department) return department.promised.longest();
  }
  return 0;
}

/// The part of a total that a team gets.
[[nodiscard]] inline std::int64_t part_of(std::int64_t total, std::int64_t team_info::* share, const team_info& team) {
  std::int64_t all = 0;
  for (const team_info& other : teams) all += other.*share;
  return total * (team.*share) / all;
}

}  // namespace kaisched::io::invented
