// The schema kueue-case/1: what Kueue's table tests built, what they asserted, and what Kueue did.

#include <array>
#include <string>
#include <string_view>

#include "conformance/json_values.hpp"
#include "conformance/kueue_calls.hpp"
#include "conformance/schemas.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance {

namespace kueue {

namespace {

using nlohmann::json;

struct kind_judge {
  std::string_view kind;
  differences (*check)(const json& one);
};

constexpr std::array kind_judges{
    kind_judge{"quota-available", check_quota_available},
    kind_judge{"quota-usage", check_quota_usage},
    kind_judge{"fair-share", check_fair_share},
    kind_judge{"resources-to-reserve", check_resources_to_reserve},
    kind_judge{"flavor-preference", check_flavor_preference},
    kind_judge{"flavor-assignment", check_flavor_assignment},
    kind_judge{"flavor-assignment-math", check_flavor_math},
    kind_judge{"candidate-order", check_candidate_order},
    kind_judge{"entry-order", check_entry_order},
    kind_judge{"entry-compare", check_entry_compare},
    kind_judge{"preemption-targets", check_victims},
    kind_judge{"preemption-targets-fair", check_victims},
    kind_judge{"tas-assignment", check_places},
    kind_judge{"tas-replacement", check_replacement},
    kind_judge{"tas-domain-order", check_domain_order},
    kind_judge{"tas-balanced", check_balanced},
    kind_judge{"tas-assignment-math", check_place_math},
    kind_judge{"cycle", check_cycle},
    kind_judge{"cycle-tas", check_cycle},
    kind_judge{"cycle-two", check_two_cycles},
    kind_judge{"cycle-afs", check_cycles_by_usage},
};

}  // namespace

}  // namespace kueue

verdict judge_kueue_case(const nlohmann::json& one, const judge_options& /*options*/) {
  verdict found;
  const std::string kind = one.at("kind").get<std::string>();
  found.features.push_back(kind);
  for (const kueue::kind_judge& judge : kueue::kind_judges) {
    if (judge.kind != kind) continue;
    try {
      for (std::string& why : judge.check(one)) found.findings.push_back({"decision", std::move(why)});
    } catch (const unsupported& missing) {
      found.findings.push_back({"unsupported", missing.what()});
    }
    return found;
  }
  found.findings.push_back({"unsupported", "kind " + kind});
  return found;
}

bool kueue_case_in_reach(const nlohmann::json& one) { return judge_case(one, {}).unsupported() == nullptr; }

}  // namespace kaisched::conformance
