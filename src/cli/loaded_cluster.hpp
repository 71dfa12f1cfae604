#pragma once
/// @file
/// A cluster that a command works on, wherever it is from.

#include <cstdint>
#include <string>

#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched::cli {

/// A cluster that has been read, and how long that took.
struct loaded_cluster {
  snapshot state;
  std::int64_t now = 0;
  double seconds = 0;
  std::int64_t left_out = 0;  ///< objects that are in quarantine
};

/// Number of objects of the input that are in quarantine.
[[nodiscard]] std::int64_t count_left_out(const snapshot& of);
/// The same for people.
[[nodiscard]] std::string left_out_sentence(std::int64_t objects);

/// A cluster as text, in the form that the ending of `path` stands for. The demo alone knows JSON and nothing else.
[[nodiscard]] result<std::string> cluster_text(const std::string& path, const snapshot& of, std::int64_t now);

}  // namespace kaisched::cli
