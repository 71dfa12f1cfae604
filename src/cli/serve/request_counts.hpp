#pragma once
/// @file
/// What a server has answered and how long it took, in Prometheus' text format. For one thread.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace kaisched::cli::serve {

/// The content type of Prometheus' text format.
inline constexpr const char* exposition_type = "text/plain; version=0.0.4";

/// Adds a metric that is one number.
void add_metric(std::string& to, std::string_view name, std::string_view type, std::string_view help, double value);

class request_counts {
 public:
  /// An answer goes out. @param path of a route; any other is counted as `other`, since clients choose it
  void answered(std::string_view path, unsigned status) { ++answers_[{std::string(path), status}]; }
  /// From the end of a request until its answer was there.
  void took(std::string_view path, std::chrono::nanoseconds time);

  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::array bounds{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                     0.25,   0.5,   1.0,    2.5,   5.0,  10.0,  30.0};  // seconds
  struct times {
    std::array<std::uint64_t, bounds.size() + 1> in{};
    double sum = 0;  ///< seconds
  };
  std::map<std::pair<std::string, unsigned>, std::uint64_t> answers_;
  std::map<std::string, times, std::less<>> times_;
};

}  // namespace kaisched::cli::serve
