#pragma once
/// @file
/// A day and its log as the checker reads them. The checker shares no code with the engine and none with the host.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace day_check {

/// Cpu in milli-cores, memory in bytes, GPU in thousandths.
using amounts = std::array<std::int64_t, 3>;
inline constexpr std::size_t cpu = 0;
inline constexpr std::size_t gpu = 2;
inline constexpr std::int64_t whole = 1000;
inline constexpr std::int64_t unlimited = -1;
inline constexpr std::size_t none = static_cast<std::size_t>(-1);

struct node_plan {
  std::string name;
  std::string rack;
  amounts capacity{};
  std::int64_t pods = 0;
};

struct queue_plan {
  std::string name;
  std::size_t parent = none;
  std::vector<std::size_t> children;
  std::int64_t priority = 0;
  std::int64_t weight = 0;
  amounts quota{};
  amounts limit{};
  std::int64_t reclaim_min = -1;
  std::int64_t preempt_min = -1;
};

struct job_plan {
  std::string name;
  std::int64_t submit = 0;
  std::int64_t run = 0;
  std::size_t queue = none;
  std::int64_t priority = 0;
  bool preemptible = true;
  std::int64_t pods = 0;
  std::int64_t least = 0;
  amounts ask{};  ///< of each pod
  bool one_rack = false;
  bool checkpoints = false;
};

struct day_plan {
  std::vector<node_plan> nodes;
  std::vector<queue_plan> queues;
  std::vector<job_plan> jobs;
  std::map<std::string, std::size_t> node_number;
  std::map<std::string, std::size_t> queue_number;
  std::map<std::string, std::size_t> job_number;
};

/// A line of the log: its words, and where it stands.
struct log_line {
  std::vector<std::string> words;
  std::size_t number = 0;
  [[nodiscard]] std::int64_t integer(std::size_t at) const;
  [[nodiscard]] const std::string& word(std::size_t at) const;
};

/// Both throw std::runtime_error with the line that cannot be read.
[[nodiscard]] day_plan read_plan(std::istream& from);
[[nodiscard]] bool read_line(std::istream& from, log_line& to);

}  // namespace day_check
