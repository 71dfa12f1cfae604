#include "binding/check_gate.hpp"

#include <utility>

#include <fmt/format.h>

namespace shim {

namespace {

constexpr const char* held_condition = "kaisched.io/PlaceHeld";

}  // namespace

void check_gate::begin(const decision& what) {
  what_ = &what;
  for (auto& [name, group] : groups_) group.lapsed = by_.lapsed(group.since);
}

bool check_gate::takes(const nlohmann::json& /*object*/) const { return false; }

void check_gate::drop(const std::string& pod) {
  const auto known = held_.extract(pod);
  if (known.empty()) return;
  const auto group = groups_.find(known.mapped());
  if (--group->second.pods == 0) groups_.erase(group);
}

step check_gate::prepare(const binding& of) {
  auto known = held_.find(of.pod);
  if (known == held_.end()) {
    const auto group = what_->group_of.find(of.pod);
    if (group == what_->group_of.end()) return {};
    known = held_.emplace(of.pod, group->second).first;
    const auto [of_group, fresh] = groups_.try_emplace(group->second);
    if (fresh) of_group->second.since = std::chrono::steady_clock::now();
    ++of_group->second.pods;
  }
  const auto checks = what_->checks.find(known->second);
  if (checks == what_->checks.end()) {
    drop(of.pod);
    return {};
  }
  if (groups_.find(known->second)->second.lapsed) {
    lapsed_.push_back({of.pod, of.uid});
    const auto seconds = std::chrono::duration<double>(by_.timeout).count();
    return {progress::failed, fmt::format("these have not agreed for {:g} s: {}", seconds, checks->second)};
  }
  const std::string why = fmt::format("a place on {} is held until these agree: {}", of.node, checks->second);
  tell_(of.pod, {{"type", held_condition}, {"status", "True"}, {"reason", "ChecksOutstanding"}, {"message", why}});
  return {progress::wait, why};
}

void check_gate::undo(const binding& of) {
  if (!held_.contains(of.pod)) return;
  drop(of.pod);
  tell_(of.pod, {{"type", held_condition},
                 {"status", "False"},
                 {"reason", "PlaceLost"},
                 {"message", fmt::format("the place on {} is not held any more", of.node)}});
}

}  // namespace shim
