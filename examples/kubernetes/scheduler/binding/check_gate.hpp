#pragma once
/// @file
/// Pods whose group waits for somebody outside hold their places: they are taken for bound, and are bound when the last
/// one has agreed, or given up when that takes too long. Nothing is written to the API server for it but a condition of
/// the pod.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "binding/binder.hpp"
#include "binding/checks_settings.hpp"
#include "cycle/decision.hpp"

namespace shim {

class check_gate final : public preparation {
 public:
  /// A condition that a pod is to have.
  using tell_function = std::function<void(const std::string& pod, nlohmann::json condition)>;

  check_gate(const checks_settings& by, tell_function tell) : by_(by), tell_(std::move(tell)) {}

  /// @param what borrowed until the next call.
  void begin(const decision& what);

  [[nodiscard]] bool takes(const nlohmann::json& object) const override;
  step prepare(const binding& of) override;
  void undo(const binding& of) override;
  /// How many pods wait.
  [[nodiscard]] std::size_t held() const { return held_.size(); }
  /// A pod whose place was given up because nobody agreed.
  struct lapsed_pod {
    std::string pod;
    std::string uid;
  };
  /// Those since the last call.
  [[nodiscard]] std::vector<lapsed_pod> take_lapsed() { return std::exchange(lapsed_, {}); }

 private:
  struct held_group {
    std::chrono::steady_clock::time_point since;
    std::size_t pods = 0;
    bool lapsed = false;  ///< as of the beginning of this cycle: all its pods, or none
  };
  void drop(const std::string& pod);

  const checks_settings& by_;
  tell_function tell_;
  const decision* what_ = nullptr;
  std::map<std::string, std::string, std::less<>> held_;   ///< groups of pods that wait
  std::map<std::string, held_group, std::less<>> groups_;  ///< of these pods
  std::vector<lapsed_pod> lapsed_;
};

}  // namespace shim
