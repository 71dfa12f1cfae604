#include "cycle/group_times.hpp"

#include <cstddef>
#include <vector>

namespace shim {

namespace abi = kaisched::abi;

namespace {

bool holds_its_node(std::uint8_t status) {
  return status == KAISCHED_POD_STATUS_ALLOCATED || status == KAISCHED_POD_STATUS_BINDING ||
         status == KAISCHED_POD_STATUS_BOUND || status == KAISCHED_POD_STATUS_RUNNING;
}

/// Groups with a grace period of their own, as a delta that gives them none.
std::vector<std::string> with_own_grace(const abi::snapshot& of) {
  std::vector<std::string> names;
  const abi::table groups = of.table(KAISCHED_TABLE_POD_GROUP);
  const auto all = groups.texts(KAISCHED_POD_GROUP_COL_NAME);
  const auto grace = groups.numbers<std::int64_t>(KAISCHED_POD_GROUP_COL_STALENESS_GRACE);
  for (std::size_t i = 0; i < groups.rows(); ++i) {
    if (grace[i] != KAISCHED_UNSET) names.emplace_back(all[i]);
  }
  return names;
}

/// The groups that the action against stale gangs would evict now if nobody had time left: the rule is the engine's.
void mark_stale(const abi::options& options, abi::cluster& of, std::int64_t now,
                std::map<std::string, group_times>& to) {
  const std::vector<std::string> own = with_own_grace(of.take_snapshot());
  abi::staging no_grace(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_CHANGE, own.size());
  no_grace.texts(KAISCHED_POD_GROUP_COL_NAME, own);
  (void)no_grace.room<std::int64_t>(KAISCHED_POD_GROUP_COL_STALENESS_GRACE);  // 0
  const abi::snapshot at_once = own.empty() ? of.take_snapshot() : of.preview({no_grace.view()});

  abi::options only = options;
  only.add("actions", "stalegangeviction").add("staleness_grace", "0");
  const abi::session stale = abi::engine(only).run(at_once, now);
  const abi::table decisions = stale.table(KAISCHED_TABLE_DECISION);
  const auto groups = decisions.texts(KAISCHED_DECISION_COL_GROUP_NAME);
  const auto kinds = decisions.numbers<std::uint8_t>(KAISCHED_DECISION_COL_KIND);
  for (std::size_t i = 0; i < decisions.rows(); ++i) {
    if (kinds[i] != KAISCHED_DECISION_EVICT) continue;  // groups that wait are told of as well
    if (const auto known = to.find(std::string(groups[i])); known != to.end()) known->second.is_stale = true;
  }
}

}  // namespace

std::map<std::string, group_times> times_of_groups(const abi::options& options, abi::cluster& of,
                                                   const abi::session& session, std::int64_t now) {
  std::map<std::string, group_times> all;
  (void)of.assume(session);  // of the very snapshot: nothing is in its way
  const abi::snapshot after = of.take_snapshot();
  const abi::table pods = after.table(KAISCHED_TABLE_POD);
  const auto members = pods.texts(KAISCHED_POD_COL_GROUP);
  const auto pods_by_name = pods.texts(KAISCHED_POD_COL_NAME);
  const auto states = pods.numbers<std::uint8_t>(KAISCHED_POD_COL_STATUS);
  for (std::size_t i = 0; i < pods.rows(); ++i) {
    if (members[i].empty()) continue;
    group_times& of_group = all[std::string(members[i])];
    of_group.is_active = of_group.is_active || holds_its_node(states[i]);
    if (states[i] == KAISCHED_POD_STATUS_PENDING) of_group.waiting.emplace_back(pods_by_name[i]);
  }
  const abi::table groups = after.table(KAISCHED_TABLE_POD_GROUP);
  const auto names = groups.texts(KAISCHED_POD_GROUP_COL_NAME);
  const auto starts = groups.numbers<std::int64_t>(KAISCHED_POD_GROUP_COL_LAST_START);
  const auto evictions = groups.numbers<std::int64_t>(KAISCHED_POD_GROUP_COL_EVICTIONS);
  const auto entries = groups.text_lists(KAISCHED_POD_GROUP_COL_AFTER);
  for (std::size_t i = 0; i < groups.rows(); ++i) {
    const auto known = all.find(std::string(names[i]));
    if (known == all.end()) continue;
    known->second.starts = starts[i] == now;
    known->second.evictions = evictions[i];
    for (const std::string_view entry : entries[i]) known->second.after.emplace_back(entry);
  }
  // As KAI: who loses its last pods as a stale gang was not evicted for others.
  const abi::table decisions = session.table(KAISCHED_TABLE_DECISION);
  const auto of_group = decisions.texts(KAISCHED_DECISION_COL_GROUP_NAME);
  const auto kinds = decisions.numbers<std::uint8_t>(KAISCHED_DECISION_COL_KIND);
  const auto actions = decisions.texts(KAISCHED_DECISION_COL_ACTION);
  for (std::size_t i = 0; i < decisions.rows(); ++i) {
    const bool leaves = kinds[i] == KAISCHED_DECISION_EVICT || kinds[i] == KAISCHED_DECISION_MOVE;
    if (!leaves || actions[i] == "stalegangeviction") continue;
    if (const auto known = all.find(std::string(of_group[i])); known != all.end()) known->second.is_evicted = true;
  }
  mark_stale(options, of, now, all);
  return all;
}

}  // namespace shim
