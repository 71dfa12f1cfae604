#pragma once
/// @file
/// Pods whose group waits for somebody outside hold their places: they are taken for bound, and are bound when the last
/// one has agreed. Nothing is written to the API server for it but a condition of the pod.

#include <cstddef>
#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "binder.hpp"
#include "decision.hpp"

namespace shim {

class check_gate final : public preparation {
 public:
  /// A condition that a pod is to have.
  using tell_function = std::function<void(const std::string& pod, nlohmann::json condition)>;

  explicit check_gate(tell_function tell) : tell_(std::move(tell)) {}

  /// @param what borrowed until the next call.
  void begin(const decision& what) { what_ = &what; }

  [[nodiscard]] bool takes(const nlohmann::json& object) const override;
  step prepare(const binding& of) override;
  void undo(const binding& of) override;
  /// How many pods wait.
  [[nodiscard]] std::size_t held() const { return held_.size(); }

 private:
  tell_function tell_;
  const decision* what_ = nullptr;
  std::map<std::string, std::string, std::less<>> held_;  ///< groups of pods that wait
};

}  // namespace shim
