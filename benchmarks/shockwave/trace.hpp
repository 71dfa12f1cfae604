#pragma once
/// @file
/// The set of 120 jobs on 32 GPUs of Zheng et al., "Shockwave" (NSDI 2023): its input as it was published, and what the
/// authors' simulator gave for each policy.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::bench::shockwave {

/// What changes the batch size of a job while it runs.
enum class adaptation : std::uint8_t {
  none,
  accordion,  ///< small in phases that decide the result, else as large as can be
  gns,        ///< doubles at certain epochs
};

struct trace_job {
  std::string model;
  std::int64_t batch = 0;  ///< samples in a step
  std::int64_t steps = 0;  ///< with that batch size
  std::int64_t gpus = 0;
  adaptation mode = adaptation::none;
  double arrival = 0;  ///< seconds
};

/// Speeds that a job can have, in steps a second.
inline constexpr double slowest = 1e-6;
inline constexpr double fastest = 1e9;

/// Steps in a second by model, batch size and number of GPUs.
class speed_table {
 public:
  void set(std::string_view model, std::int64_t batch, std::int64_t gpus, double steps_per_second) {
    speeds_[{std::string(model), batch, gpus}] = steps_per_second;
  }
  /// Empty where there is none, or none that a job can have.
  [[nodiscard]] std::optional<double> find(const std::string& model, std::int64_t batch, std::int64_t gpus) const {
    const auto at = speeds_.find({model, batch, gpus});
    const bool usable = at != speeds_.end() && at->second >= slowest && at->second <= fastest;
    return usable ? std::optional(at->second) : std::nullopt;
  }

 private:
  std::map<std::tuple<std::string, std::int64_t, std::int64_t>, double> speeds_;
};

/// What one policy gave, by the authors' simulator.
struct published_run {
  double makespan = 0;  ///< seconds, as are the times of jobs
  double average = 0;
  double worst_fairness = 0;
  double unfair = 0;  ///< % of the jobs
  std::int64_t rounds = 0;
  std::vector<double> completion_times;  ///< by job
};

struct trace {
  std::vector<trace_job> jobs;  ///< by arrival
  speed_table speeds;
  std::map<std::string, published_run> published;  ///< by policy
};

/// Files that are read have exactly these bytes. `speeds`: the published file of speeds, with all digits; empty: the
/// table of the folder, which has eight decimals.
[[nodiscard]] result<trace> read_trace(const std::string& folder, const std::string& speeds = {});

/// Where the data is from, and the digest of every file.
[[nodiscard]] std::string describe_data();

}  // namespace kaisched::bench::shockwave
