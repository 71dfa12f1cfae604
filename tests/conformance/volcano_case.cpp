// The schema volcano-function-case/1: tables of Volcano's tests of single functions, and calls inside of them.

#include <exception>
#include <string>

#include "conformance/json_values.hpp"
#include "conformance/schemas.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_records.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

const volcano_table* function_table_of(const std::string& test) {
  for (const auto tables : {volcano_resource_tables(), volcano_score_tables(), volcano_gang_tables(),
                            volcano_domain_tables(), volcano_book_tables()}) {
    for (const volcano_table& one : tables) {
      if (one.test == test) return &one;
    }
  }
  return nullptr;
}

}  // namespace

verdict judge_volcano_function(const json& one, const judge_options& /*options*/) {
  verdict found;
  found.features.push_back(one.at("kind").get<std::string>());
  const std::string test = one.at("test").get<std::string>();
  const auto judged = [&](const std::string& gate, const auto& judge) {
    try {
      if (const volcano_difference why = judge()) found.findings.push_back({gate, *why});
    } catch (const unsupported& missing) {
      found.findings.push_back({"unsupported", missing.what()});
    } catch (const std::exception& failure) {
      found.findings.push_back({"error", failure.what()});
    }
  };
  const json& calls = items(one, "calls");
  for (const json& call : calls) judged("call", [&] { return replay_volcano_call(call, one); });
  if (!has(one, "expected")) {
    if (calls.empty()) found.findings.push_back({"unsupported", "nothing is recorded"});
    return found;
  }
  const volcano_table* table = function_table_of(test);
  if (table == nullptr) {
    found.findings.push_back({"unsupported", "table " + test});
  } else {
    judged("table", [&] { return table->check(one); });
  }
  return found;
}

bool volcano_function_in_reach(const json& one) { return judge_volcano_function(one, {}).unsupported() == nullptr; }

}  // namespace kaisched::conformance
