// Names, and the digest of a report.
#include <array>
#include <string>

#include <kaisched/federation.hpp>

#include "base/sha256.hpp"
#include "base/value_names.hpp"

namespace kaisched {

namespace {

constexpr std::array<std::string_view, 9> criterion_names{"fits", "preference", "data", "price", "entitlement",
                                                          "wait", "fit",        "name", "only"};
constexpr std::array<std::string_view, 2> fit_names{"pack", "spread"};
constexpr std::array<std::string_view, 11> verdict_names{"candidate", "refused", "closed",     "not_wanted",
                                                         "label",     "price",   "queue",      "resource",
                                                         "never",     "full",    "wrong_input"};
constexpr std::array<std::string_view, 5> stage_names{"waits", "starts", "claims", "offered", "runs"};

}  // namespace

std::string_view member_criterion_name(member_criterion c) noexcept { return base::name_of_value(criterion_names, c); }
std::string_view member_fit_name(member_fit f) noexcept { return base::name_of_value(fit_names, f); }
std::string_view member_verdict_name(member_verdict v) noexcept { return base::name_of_value(verdict_names, v); }
std::string_view group_stage_name(group_stage s) noexcept { return base::name_of_value(stage_names, s); }

std::string federation_report::digest() const {
  base::sha256 sum;
  const auto add = [&](std::string_view text) {
    sum.update(std::to_string(text.size()));
    sum.update(":");
    sum.update(text);
  };
  for (const federated_place& one : placed) {
    add("place");
    add(one.group);
    add(one.member);
    add(group_stage_name(one.stage));
  }
  for (const federated_wait& one : waits) {
    add("wait");
    add(one.group);
    for (const member_verdict v : one.verdicts) add(member_verdict_name(v));
  }
  for (const member_session& one : sessions) {
    add("session");
    add(one.member);
    add(one.decided.digest());
  }
  return base::sha256::hex(sum.finish());
}

}  // namespace kaisched
