#include "cycle/decision.hpp"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace shim {

namespace abi = kaisched::abi;

namespace {

using clock = std::chrono::steady_clock;

/// As engine::run does it, an action at a time.
std::shared_ptr<const evidence> run(const abi::engine& engine, const abi::snapshot& snapshot, std::int64_t now,
                                    clock::time_point began) {
  const clock::time_point read = clock::now();
  evidence seen{snapshot, engine.open(snapshot, now), now, read - began, {}, {}};
  clock::time_point before = clock::now();
  seen.opening = before - read;
  const std::string all = engine.get("actions");
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t end = std::min(all.find(',', from), all.size());
    std::string action = all.substr(from, end - from);
    from = end + 1;
    seen.session.run(action);
    const clock::time_point after = clock::now();
    seen.actions.emplace_back(std::move(action), after - std::exchange(before, after));
  }
  return std::make_shared<const evidence>(std::move(seen));
}

void read_reasons(const abi::session& session, decision& to) {
  const abi::table reasons = session.table(KAISCHED_TABLE_REASON);
  const auto groups = reasons.texts(KAISCHED_REASON_COL_GROUP_NAME);
  const auto constraints = reasons.texts(KAISCHED_REASON_COL_CONSTRAINT);
  const auto sentences = reasons.texts(KAISCHED_REASON_COL_TEXT);
  const auto need = reasons.numbers<std::int64_t>(KAISCHED_REASON_COL_NEED);
  const auto have = reasons.numbers<std::int64_t>(KAISCHED_REASON_COL_HAVE);
  for (std::size_t i = 0; i < reasons.rows(); ++i) {
    const std::string group(groups[i]);
    to.waiting[group].emplace_back(constraints[i], sentences[i]);
    const bool waits_for_others =
        constraints[i] == "gated" || constraints[i] == "gang_incomplete" || constraints[i] == "dependency";
    if (waits_for_others) to.missing[group] = need[i] - have[i];
  }
}

void read_decisions(const abi::session& session, decision& to) {
  const abi::table decisions = session.table(KAISCHED_TABLE_DECISION);
  const auto pods = decisions.texts(KAISCHED_DECISION_COL_POD_NAME);
  const auto groups = decisions.texts(KAISCHED_DECISION_COL_GROUP_NAME);
  const auto actions = decisions.texts(KAISCHED_DECISION_COL_ACTION);
  const auto kinds = decisions.numbers<std::uint8_t>(KAISCHED_DECISION_COL_KIND);
  const auto commits = decisions.numbers<std::uint32_t>(KAISCHED_DECISION_COL_COMMIT);
  const auto leaves = [&kinds](std::size_t i) {
    return kinds[i] == KAISCHED_DECISION_EVICT || kinds[i] == KAISCHED_DECISION_MOVE;
  };
  std::map<std::pair<std::uint32_t, std::string>, std::size_t> leaving;  // by commit and group
  for (std::size_t i = 0; i < decisions.rows(); ++i) {
    to.group_of.emplace(pods[i], groups[i]);
    if (leaves(i)) ++leaving[{commits[i], std::string(groups[i])}];
  }
  // Who loses pods may get others in the same commit; it is not for itself that it loses them.
  std::map<std::uint32_t, std::string> starting;
  for (std::size_t i = 0; i < decisions.rows(); ++i) {
    const bool starts = kinds[i] == KAISCHED_DECISION_BIND || kinds[i] == KAISCHED_DECISION_PIPELINE;
    if (starts && !leaving.contains({commits[i], std::string(groups[i])})) {
      starting.try_emplace(commits[i], groups[i]);
    }
  }
  for (std::size_t i = 0; i < decisions.rows(); ++i) {
    if (!leaves(i)) continue;
    const auto evictor = starting.find(commits[i]);
    to.causes[std::string(pods[i])] = {std::string(actions[i]), evictor == starting.end() ? "" : evictor->second,
                                       leaving[{commits[i], std::string(groups[i])}]};
  }
}

/// Groups for which somebody outside has still to agree.
void read_checks(const abi::snapshot& of, decision& to) {
  const abi::table groups = of.table(KAISCHED_TABLE_POD_GROUP);
  const auto names = groups.texts(KAISCHED_POD_GROUP_COL_NAME);
  const auto checks = groups.text_lists(KAISCHED_POD_GROUP_COL_CHECKS);
  for (std::size_t i = 0; i < groups.rows(); ++i) {
    std::string all;
    for (const std::string_view one : checks[i]) all += fmt::format("{}{}", all.empty() ? "" : ", ", one);
    if (!all.empty()) to.checks.emplace(names[i], std::move(all));
  }
}

abi::options reading_options(const configuration& by) {
  abi::options options = by.objects;
  options.add("scheduler", by.scheduler_name);
  return options;
}

}  // namespace

decider::decider(const configuration& by, std::function<void(const std::string&)> log)
    : engine_(by.engine), objects_(reading_options(by)) {
  if (by.recording.enabled()) recording_.emplace(by.recording, std::move(log));
}

void decider::take(const std::vector<object_change>& changes) {
  for (const object_change& one : changes) {
    unread_.erase(one.name);
    try {
      if (one.text != nullptr) {
        objects_.put(*one.text);
        continue;
      }
    } catch (const abi::failure& refused) {  // one such object must not stop the others
      unread_.emplace(one.name, fmt::format("{}: {}", one.name, refused.what()));
    }
    try {
      objects_.remove(one.mark);
    } catch (const abi::failure& refused) {
      unread_.emplace(one.name, fmt::format("{}: {}", one.name, refused.what()));
    }
  }
}

decision decider::decide(const std::vector<object_change>& changes, std::int64_t now) {
  const clock::time_point began = clock::now();
  take(changes);
  const auto [snapshot, objects] = objects_.take(now);

  decision out;
  const abi::engine engine(engine_);
  out.seen = run(engine, snapshot, now, began);
  if (recording_) recording_->add(engine, out.seen->session, now);
  const abi::session& session = out.seen->session;
  nlohmann::json list = nlohmann::json::parse(objects.actions(session, "kubernetes"));
  for (nlohmann::json& one : list["items"]) out.actions.push_back(std::move(one));

  read_reasons(session, out);
  read_decisions(session, out);
  read_checks(snapshot, out);
  abi::cluster after(snapshot);
  out.groups = times_of_groups(engine_, after, session, now);

  out.faults = objects.faults();
  for (const auto& [name, why] : unread_) out.faults.push_back(why);
  const abi::table left_out = snapshot.table(KAISCHED_TABLE_QUARANTINE);
  const auto messages = left_out.texts(KAISCHED_QUARANTINE_COL_TEXT);
  const auto kinds = left_out.texts(KAISCHED_QUARANTINE_COL_KIND);
  const auto owners = left_out.texts(KAISCHED_QUARANTINE_COL_OWNER);
  const auto names = left_out.texts(KAISCHED_QUARANTINE_COL_NAME);
  const auto columns = left_out.texts(KAISCHED_QUARANTINE_COL_COLUMN);
  for (std::size_t i = 0; i < left_out.rows(); ++i) {
    out.faults.push_back(fmt::format("{} {}{}{}{}{}: {}", kinds[i], owners[i], owners[i].empty() ? "" : "/", names[i],
                                     columns[i].empty() ? "" : ": ", columns[i], messages[i]));
  }
  return out;
}

}  // namespace shim
