// The schema volcano-session-case/1: nothing plays these sessions yet, and each says what it needs.

#include <set>
#include <string>

#include "conformance/json_values.hpp"
#include "conformance/schemas.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

/// What a session needs first that nothing offers.
std::string lacking(const json& one) {
  for (const json& feature : items(one, "features")) {
    if (feature == "test-plugin") return "plug-in of a test";
  }
  if (text_or_empty(one, "kind") == "session-call") return "calls of plug-ins in a session";
  std::set<std::string> actions;
  for (const json& action : items(one, "actions")) actions.insert(action.get<std::string>());
  for (const char* action : {"shuffle", "reclaim", "preempt", "backfill", "enqueue"}) {
    if (actions.contains(action)) return std::string("action ") + action + " by votes of tiers";
  }
  for (const json& feature : items(one, "features")) {
    if (feature == "hypernodes") return "domains of a gang tried one after the other";
  }
  return "actions by votes of tiers";
}

}  // namespace

verdict judge_volcano_session(const json& one, const judge_options& /*options*/) { throw unsupported(lacking(one)); }

bool volcano_session_in_reach(const json& /*one*/) { return false; }

}  // namespace kaisched::conformance
