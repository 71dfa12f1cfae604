#pragma once
/// @file
/// Files with a cluster, whatever their form.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "io/cluster_input.hpp"

namespace kaisched::io {

/// One way to write a cluster as text. The list below is the only place that knows which ones there are.
struct cluster_form {
  std::string_view name;                      ///< "JSON"
  std::span<const std::string_view> endings;  ///< of file names, with the dot
  /// Whether a text looks like this form; asked in the order of the list.
  bool (*is_likely)(std::string_view text);
  result<cluster_input> (*parse)(std::string_view text, std::string_view source);
  /// Null for forms that are only read.
  result<std::string> (*format)(const snapshot& from, std::int64_t now);
};

/// All forms. The first is that of outputs whose name has no known ending.
[[nodiscard]] std::span<const cluster_form> cluster_forms() noexcept;
/// The form that the ending of a name stands for, or null.
[[nodiscard]] const cluster_form* cluster_form_of(std::string_view path) noexcept;

/// Reads a cluster from a text: the ending of `source` says the form, or else the text itself.
[[nodiscard]] result<cluster_input> parse_cluster(std::string_view text, std::string_view source);
/// Reads a cluster from a file; `-` is the standard input.
[[nodiscard]] result<cluster_input> read_cluster(const std::string& path);

/// A snapshot as text in the form that the ending of `path` stands for.
[[nodiscard]] result<std::string> format_cluster(const std::string& path, const snapshot& from, std::int64_t now);
/// Writes a snapshot to a file; `-` is the standard output.
result<void> write_cluster(const std::string& path, const snapshot& from, std::int64_t now);

}  // namespace kaisched::io
