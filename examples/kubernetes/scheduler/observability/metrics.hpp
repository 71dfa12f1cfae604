#pragma once
/// @file
/// Numbers for Prometheus, in its text format. Every function may be called from any thread and waits for nobody but
/// another of them.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim {

class metrics {
 public:
  using labels = std::vector<std::pair<std::string, std::string>>;

  enum class type { counter, gauge, histogram };
  struct family {
    std::string name;
    type kind;
    std::string help;
    std::vector<double> buckets = {};  ///< upper bounds, rising, without the infinite one; of histograms
    std::size_t most_series = 10'000;  ///< beyond that, the one that was touched least recently goes
  };

  /// Errors: std::logic_error for a family that is there already.
  void declare(family what);

  // Errors of those below: std::logic_error for a family that is not declared or of another type.
  void add(std::string_view name, const labels& of, double amount = 1);
  void set(std::string_view name, const labels& of, double value);
  void observe(std::string_view name, const labels& of, double value);
  /// Replaces all series of a gauge.
  void replace(std::string_view name, const std::vector<std::pair<labels, double>>& all);

  /// Text format, version 0.0.4: families by name, series by labels.
  [[nodiscard]] std::string text() const;

 private:
  struct series {
    double value = 0;  ///< of a histogram the sum
    std::uint64_t count = 0;
    std::vector<std::uint64_t> in;  ///< by bucket, not cumulative
    std::uint64_t touched = 0;
  };
  struct entry {
    family what;
    std::map<labels, series> all;
  };

  entry& find(std::string_view name, type kind);
  series& touch(entry& in, const labels& of);

  mutable std::mutex mutex_;
  std::map<std::string, entry, std::less<>> families_;
  std::uint64_t touches_ = 0;
};

[[nodiscard]] inline double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

/// `first`, `first` x `factor`, ...: `count` of them.
[[nodiscard]] std::vector<double> exponential(double first, double factor, std::size_t count);

}  // namespace shim
