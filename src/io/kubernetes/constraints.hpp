#pragma once
/// @file
/// Taints, tolerations, selectors and affinity of Kubernetes -> the short texts that the tables take.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "model/selector.hpp"

namespace kaisched::io::kubernetes {

/// Stands for the field `metadata.name` of nodes in selectors; nodes get it as a label if a pod asks for it.
inline constexpr std::string_view node_name_label = "metadata.name";

/// Nodes with devices of vendors, but without GPUs, get it as a label if a pod must be kept off them.
inline constexpr std::string_view other_devices_label = "kaisched.io/other-devices";

/// A selector that nothing matches, as there is no empty one for this.
inline constexpr std::string_view no_match = "none,!none";

/// {key: value} -> key, value, key, value, ...
[[nodiscard]] std::vector<std::string> label_texts_of(object& of, member holder, std::string_view key);
/// {key, value, effect} -> key=value:Effect
[[nodiscard]] std::string taint_text(object& of, json_value taint);
/// {key, operator, value, effect} -> key=value:Effect, key:Effect, ..., *; empty if it tolerates nothing.
[[nodiscard]] std::string toleration_text(object& of, json_value toleration);
/// Labels of an object, sorted.
[[nodiscard]] model::label_list labels_of(const object& of);
/// {matchLabels, matchExpressions} -> key=value,other in (a,b). An empty selector matches all, a missing one nothing.
[[nodiscard]] std::string selector_text(object& of, member selector);
/// The required terms of `nodeAffinity`, one selector each. `asks_names` is set if one is about names of nodes.
[[nodiscard]] std::vector<std::string> node_affinity_texts(object& of, member affinity, bool& asks_names);
/// The preferred terms of `nodeAffinity` as weight: selector. Those without requirements are worth nothing.
[[nodiscard]] std::vector<std::string> node_preference_texts(object& of, member affinity, bool& asks_names);

/// {nodeSelectorTerms}, one selector each; without any nothing matches.
[[nodiscard]] std::vector<std::string> node_terms_texts(object& of, json_value selector, bool& asks_names);
/// The `allowedTopologies` of a `StorageClass`, one selector each; none: anywhere.
[[nodiscard]] std::vector<std::string> topology_terms_texts(object& of);
/// {nodeSelectorTerms} with one term -> one selector.
[[nodiscard]] std::string node_selector_text(object& of, json_value selector, bool& asks_names);

/// Labels of namespaces by name.
using namespace_labels = std::map<std::string, model::label_list, std::less<>>;

/// Affinity to other pods.
struct pod_affinity_terms {
  std::vector<std::string> near;         ///< topology key[@namespaces]: selector
  std::vector<std::string> apart;        ///< likewise
  std::vector<std::string> preferences;  ///< weight topology key[@namespaces]: selector; apart: negative
  bool asks_namespaces = false;          ///< a term is about labels of namespaces
};
/// `spaces` have to be there if a term is about their labels; without any of them nothing is known, and the terms are
/// none.
[[nodiscard]] pod_affinity_terms pod_affinity_of(object& of, member affinity, const namespace_labels& spaces);

/// `topologySpreadConstraints` as skew topology key [words]: selector. What `matchLabelKeys` name is part of the
/// selector.
[[nodiscard]] std::vector<std::string> spread_texts(object& of, member spec);

/// Ports of containers on the node: [address:]port/protocol.
[[nodiscard]] std::vector<std::string> host_port_texts(object& of, member spec);

/// An annotation `key=value,key=value` as key, value, key, value; none if it is missing.
[[nodiscard]] std::vector<std::string> annotated_pairs(object& of, std::string_view annotation);

}  // namespace kaisched::io::kubernetes
