#include "check_gate.hpp"

#include <utility>

#include <fmt/format.h>

namespace shim {

namespace {

constexpr const char* held_condition = "kaisched.io/PlaceHeld";

}  // namespace

bool check_gate::takes(const nlohmann::json& /*object*/) const { return false; }

step check_gate::prepare(const binding& of) {
  auto known = held_.find(of.pod);
  if (known == held_.end()) {
    const auto group = what_->group_of.find(of.pod);
    if (group == what_->group_of.end()) return {};
    known = held_.emplace(of.pod, group->second).first;
  }
  const auto checks = what_->checks.find(known->second);
  if (checks == what_->checks.end()) {
    held_.erase(known);
    return {};
  }
  const std::string why = fmt::format("a place on {} is held until these agree: {}", of.node, checks->second);
  tell_(of.pod, {{"type", held_condition}, {"status", "True"}, {"reason", "ChecksOutstanding"}, {"message", why}});
  return {progress::wait, why};
}

void check_gate::undo(const binding& of) {
  if (held_.erase(of.pod) == 0) return;
  tell_(of.pod, {{"type", held_condition},
                 {"status", "False"},
                 {"reason", "PlaceLost"},
                 {"message", fmt::format("the place on {} is not held any more", of.node)}});
}

}  // namespace shim
