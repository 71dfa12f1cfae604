#pragma once
/// @file
/// The action `allocate` once more: slow, without indexes, without undo, written from the rules (docs/kai.md) and not
/// from the engine. Of the library it uses the public headers only, and of those only what reads a snapshot.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <kaisched/options.hpp>
#include <kaisched/snapshot.hpp>

#include "oracle/world.hpp"

namespace kaisched::oracle {

struct decision {
  bool claim = false;  ///< waits for what is being released
  std::string pod;
  std::string node;
  std::vector<std::int64_t> devices;
  std::int64_t share = 0;
  std::uint32_t commit = 0;

  friend bool operator==(const decision&, const decision&) = default;
};

struct outcome {
  std::vector<decision> decisions;
  std::vector<std::string> waiting;  ///< groups that still have pending pods: by priority, age, name
  std::map<std::string, quota_amounts> fair_share;
  std::map<std::string, quota_amounts> allocated;  ///< at the end

  friend bool operator==(const outcome&, const outcome&) = default;
};

/// What the options lead to. Options that only say how to search (`reference_path`) are not looked at.
[[nodiscard]] outcome allocate(const snapshot& from, const policy_options& options);

}  // namespace kaisched::oracle
