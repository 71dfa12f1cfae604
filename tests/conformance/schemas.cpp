#include "conformance/schemas.hpp"

#include <array>
#include <exception>

#include "conformance/unsupported.hpp"

namespace kaisched::conformance {

namespace {

constexpr std::array judges{
    schema_judge{"kai-session-case/1", judge_kai_session, kai_session_in_reach},
    schema_judge{"kai-call/1", judge_kai_call, kai_call_in_reach},
    schema_judge{"hami-case/1", judge_hami_case, hami_case_in_reach},
    schema_judge{"kueue-case/1", judge_kueue_case, kueue_case_in_reach},
    schema_judge{"volcano-function-case/1", judge_volcano_function, volcano_function_in_reach},
    schema_judge{"volcano-session-case/1", judge_volcano_session, volcano_session_in_reach},
};

std::string schema_of_case(const nlohmann::json& one) {
  if (!one.is_object()) return {};
  const auto found = one.find("schema");
  return found != one.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

const schema_judge* judge_of(const nlohmann::json& one) {
  const std::string schema = schema_of_case(one);
  for (const schema_judge& judge : judges) {
    if (judge.schema == schema) return &judge;
  }
  return nullptr;
}

}  // namespace

std::span<const schema_judge> schema_judges() { return judges; }

verdict judge_case(const nlohmann::json& one, const judge_options& options) {
  const schema_judge* judge = judge_of(one);
  if (judge == nullptr) {
    const std::string schema = schema_of_case(one);
    return {{}, {}, {{"schema", schema.empty() ? "no schema is given" : "nobody judges the schema " + schema}}};
  }
  verdict found;
  if (const auto features = one.find("features"); features != one.end() && features->is_array()) {
    for (const auto& feature : *features) found.features.push_back(feature.get<std::string>());
  }
  try {
    return judge->judge(one, options);
  } catch (const unsupported& missing) {
    found.findings.push_back({"unsupported", missing.what()});
  } catch (const std::exception& failure) {
    found.findings.push_back({"error", failure.what()});
  }
  return found;
}

bool in_reach(const nlohmann::json& one) {
  const schema_judge* judge = judge_of(one);
  return judge == nullptr || judge->in_reach(one);
}

}  // namespace kaisched::conformance
