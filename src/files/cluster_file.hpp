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
#include "io/kubernetes/settings.hpp"

namespace kaisched::io {

/// One way to write a cluster as text. The list below is the only place that knows which ones there are.
struct cluster_form {
  std::string_view name;                      ///< "JSON"
  std::span<const std::string_view> endings;  ///< of file names, with the dot; forms may share them
  /// Whether a text looks like this form; asked in the order of the list, of forms that the name of the file allows.
  bool (*is_likely)(std::string_view text);
  /// Settings are those of objects of Kubernetes; other forms have none.
  result<cluster_input> (*parse)(std::string_view text, std::string_view source, const kubernetes::settings& chosen);
  /// Null for forms that are only read.
  result<std::string> (*format)(const snapshot& from, std::int64_t now);
};

/// All forms.
[[nodiscard]] std::span<const cluster_form> cluster_forms() noexcept;
/// The form that a file of this name is written in, or null if its ending says nothing.
[[nodiscard]] const cluster_form* cluster_form_of(std::string_view path) noexcept;

/// Reads a cluster from a text: the ending of `source` and the text itself say the form. Rules of queues are an error
/// where the text is not one of objects of Kubernetes.
[[nodiscard]] result<cluster_input> parse_cluster(std::string_view text, std::string_view source,
                                                  const kubernetes::settings& chosen = {});
/// Reads a cluster from a file; `-` is the standard input.
[[nodiscard]] result<cluster_input> read_cluster(const std::string& path, const kubernetes::settings& chosen = {});

/// A snapshot as text in the form that the ending of `path` stands for, JSON if it says nothing.
[[nodiscard]] result<std::string> format_cluster(const std::string& path, const snapshot& from, std::int64_t now);
/// Writes a snapshot to a file; `-` is the standard output.
result<void> write_cluster(const std::string& path, const snapshot& from, std::int64_t now);

}  // namespace kaisched::io
