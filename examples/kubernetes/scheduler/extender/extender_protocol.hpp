#pragma once
/// @file
/// Bodies of the scheduler extender protocol, k8s.io/kube-scheduler/extender/v1. Names of fields are read in any case,
/// as Go reads them.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "hami/device_choice.hpp"

namespace shim {

/// A field whatever the case of its name; null if there is none.
[[nodiscard]] nlohmann::json member_of(const nlohmann::json& object, std::string_view name);

/// `ExtenderArgs`.
struct extender_question {
  nlohmann::json pod;
  candidate_nodes nodes;
  bool whole_nodes = false;  ///< the scheduler sends nodes as objects (nodeCacheCapable: false)
};
/// Errors: bad_input that names the field.
[[nodiscard]] extender_question read_extender_question(const std::string& body);

/// What becomes of the nodes.
struct extender_verdict {
  std::string node;                        ///< the only one left; empty: none, if there are reasons, else all
  std::map<std::string, std::string> why;  ///< what other pods could make room for
  std::string never;                       ///< of all the rest: nobody who leaves would help
};
/// `ExtenderFilterResult`.
[[nodiscard]] nlohmann::json filter_answer(const extender_question& asked, const extender_verdict& verdict);
[[nodiscard]] nlohmann::json filter_error(const std::string& why);

/// `HostPriorityList`: the most points for the best, none for the others.
[[nodiscard]] nlohmann::json priorities(const std::vector<std::string>& nodes, const std::string& best);

/// `ExtenderBindingArgs`.
struct extender_binding {
  std::string pod;
  std::string name_space;
  std::string uid;
  std::string node;
};
/// Errors: bad_input that names the field.
[[nodiscard]] extender_binding read_extender_binding(const std::string& body);
/// `ExtenderBindingResult`.
[[nodiscard]] nlohmann::json bind_answer(const std::string& why);

}  // namespace shim
