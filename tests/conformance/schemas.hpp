#pragma once
/// @file
/// The registry of schemas: a case says what it is, the registry says who judges it.

#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "conformance/report.hpp"

namespace kaisched::conformance {

/// What the caller wants beyond the gates of the schema.
struct judge_options {
  bool amounts = false;         ///< also compare amounts of nodes and queues at the end of every round
  bool as_scenarios = false;    ///< instead of replaying, write sessions as scenario files and compare what these say
  bool reference_path = false;  ///< let the engine scan all nodes instead of using its indexes
};

/// How the cases of one schema are judged.
struct schema_judge {
  std::string_view schema;
  /// The verdict's file name is filled in by the caller. May throw: what it throws fails the case.
  verdict (*judge)(const nlohmann::json& one, const judge_options& options);
  /// Whether a case says of itself that it needs only what the engine has, by its actions, features or kind.
  bool (*in_reach)(const nlohmann::json& one);
};

[[nodiscard]] std::span<const schema_judge> schema_judges();

/// The verdict about one case of any schema. A schema that nobody judges is a failure.
[[nodiscard]] verdict judge_case(const nlohmann::json& one, const judge_options& options);
/// False only if a judge says that the case needs something that the engine does not have.
[[nodiscard]] bool in_reach(const nlohmann::json& one);

// The judges, each in a file of its own.
verdict judge_kai_session(const nlohmann::json& one, const judge_options& options);
bool kai_session_in_reach(const nlohmann::json& one);
verdict judge_kai_call(const nlohmann::json& one, const judge_options& options);
bool kai_call_in_reach(const nlohmann::json& one);
verdict judge_hami_case(const nlohmann::json& one, const judge_options& options);
bool hami_case_in_reach(const nlohmann::json& one);
verdict judge_kueue_case(const nlohmann::json& one, const judge_options& options);
bool kueue_case_in_reach(const nlohmann::json& one);
verdict judge_volcano_function(const nlohmann::json& one, const judge_options& options);
bool volcano_function_in_reach(const nlohmann::json& one);
verdict judge_volcano_session(const nlohmann::json& one, const judge_options& options);
bool volcano_session_in_reach(const nlohmann::json& one);

}  // namespace kaisched::conformance
