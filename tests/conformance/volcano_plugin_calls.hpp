#pragma once
/// @file
/// Recorded sessions that ask the plug-ins nodegroup and tdm -> what the rules of the library answer.

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "policy/placement/node_groups.hpp"

namespace kaisched::conformance {

/// `affinity` of a queue.
[[nodiscard]] policy::node_group_affinity volcano_node_groups(const nlohmann::json& says);

/// Questions to nodegroup.
class node_group_calls {
 public:
  /// @param plugin of the tiers, with its arguments.
  node_group_calls(const nlohmann::json& one, const nlohmann::json& plugin) : case_(one), plugin_(plugin) {}

  [[nodiscard]] double score(const std::string& task, const std::string& node) const;
  /// The text of a refusal, or nothing. Empty: of limits that nobody can read, in words that are not recorded.
  [[nodiscard]] std::optional<std::string> refusal(const std::string& task, const std::string& node) const;

 private:
  const nlohmann::json& case_;
  const nlohmann::json& plugin_;
};

/// The pods that tdm would tell to leave now, by name; at the times of the recordings only windows of a minute at
/// midnight were over for sure. @throws unsupported for other windows.
[[nodiscard]] std::vector<std::string> leaving_zones(const nlohmann::json& one, const nlohmann::json& plugin);

}  // namespace kaisched::conformance
