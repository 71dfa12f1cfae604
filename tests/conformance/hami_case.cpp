// The schema hami-case/1: what HAMi's tests called, with arguments and results, and what they asserted.

#include <exception>
#include <string>

#include "conformance/hami_calls.hpp"
#include "conformance/hami_records.hpp"
#include "conformance/json_values.hpp"
#include "conformance/schemas.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance {

using nlohmann::json;

verdict judge_hami_case(const json& one, const judge_options& /*options*/) {
  verdict found;
  found.features.push_back(one.at("kind").get<std::string>());
  const json& calls = items(one, "calls");
  std::size_t replayed = 0;
  std::size_t number = 0;
  for (const json& call : calls) {
    ++number;
    // Deep lists are cut off in the records of outer calls; inner calls of the same case have them.
    if (is_cut(call.at("in"))) continue;
    try {
      ++replayed;
      if (const std::optional<std::string> why = replay_hami_call(call, one)) {
        found.findings.push_back(
            {"call", call.at("fn").get<std::string>() + " " + std::to_string(number) + ": " + *why});
      }
    } catch (const unsupported& missing) {
      found.findings.push_back({"unsupported", missing.what()});
    } catch (const std::exception& failure) {
      found.findings.push_back({"error", call.at("fn").get<std::string>() + ": " + failure.what()});
    }
  }
  if (!calls.empty()) {
    if (replayed == 0) found.findings.push_back({"unsupported", "the record is cut off"});
    return found;
  }
  try {
    if (const std::optional<std::string> why = check_hami_table(one)) found.findings.push_back({"table", *why});
  } catch (const unsupported& missing) {
    found.findings.push_back({"unsupported", missing.what()});
  }
  return found;
}

bool hami_case_in_reach(const json& one) {
  const verdict found = judge_hami_case(one, {});
  return found.unsupported() == nullptr;
}

}  // namespace kaisched::conformance
