#include "decision.hpp"

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

abi::options reading_options(const configuration& by) {
  abi::options options = by.objects;
  options.add("scheduler", by.scheduler_name);
  return options;
}

}  // namespace

decider::decider(const configuration& by) : engine_(by.engine), objects_(reading_options(by)) {}

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
  out.seen = run(abi::engine(engine_), snapshot, now, began);
  const abi::session& session = out.seen->session;
  nlohmann::json list = nlohmann::json::parse(objects.actions(session, "kubernetes"));
  for (nlohmann::json& one : list["items"]) out.actions.push_back(std::move(one));

  const abi::table reasons = session.table(KAISCHED_TABLE_REASON);
  const auto groups = reasons.texts(KAISCHED_REASON_COL_GROUP_NAME);
  const auto constraints = reasons.texts(KAISCHED_REASON_COL_CONSTRAINT);
  const auto sentences = reasons.texts(KAISCHED_REASON_COL_TEXT);
  for (std::size_t i = 0; i < reasons.rows(); ++i) {
    out.waiting[std::string(groups[i])].emplace_back(constraints[i], sentences[i]);
  }

  const abi::table decisions = session.table(KAISCHED_TABLE_DECISION);
  const auto pods = decisions.texts(KAISCHED_DECISION_COL_POD_NAME);
  const auto of_pods = decisions.texts(KAISCHED_DECISION_COL_GROUP_NAME);
  for (std::size_t i = 0; i < decisions.rows(); ++i) out.group_of.emplace(pods[i], of_pods[i]);
  abi::cluster after(snapshot);
  out.groups = times_of_groups(engine_, after, session, now);

  out.faults = objects.faults();
  for (const auto& [name, why] : unread_) out.faults.push_back(why);
  const abi::table left_out = snapshot.table(KAISCHED_TABLE_QUARANTINE);
  const auto messages = left_out.texts(KAISCHED_QUARANTINE_COL_TEXT);
  for (std::size_t i = 0; i < left_out.rows(); ++i) out.faults.emplace_back(messages[i]);
  return out;
}

}  // namespace shim
