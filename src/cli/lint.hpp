#pragma once
/// @file
/// What is legal in a cluster, and yet most likely not meant.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/engine.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched::cli {

/// `error`: deciding is refused. `warning`: something will not do what it seems to say. `note`: worth knowing.
enum class severity : std::uint8_t { error, warning, note };
[[nodiscard]] std::string_view severity_name(severity of) noexcept;

struct finding {
  severity how = severity::error;
  std::string_view rule;
  std::string kind;        ///< of the entity: node, queue, pod_group, pod; empty: the whole
  std::string name;        ///< of the entity
  std::string text;        ///< a sentence without the entity
  std::uint32_t line = 0;  ///< in the file, from 1; 0: not known
  std::uint32_t column = 0;
  std::string field = {};  ///< column of the entity that is at fault
  std::string file = {};   ///< where the line is; empty: in the file that is checked
};

/// One rule, for the list of rules.
struct lint_rule {
  std::string_view name;
  severity how;
  std::string_view doc;
};
[[nodiscard]] std::span<const lint_rule> lint_rules() noexcept;

/// Applies all rules. The options of the engine count where they change what a pod may use. `now` is the clock of the
/// file.
[[nodiscard]] std::vector<finding> lint(const engine& with, const snapshot& of, std::int64_t now);

}  // namespace kaisched::cli
