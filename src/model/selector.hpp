#pragma once
/// @file
/// Constraints given as text: label selectors, taints and tolerations, pod affinity terms, host ports.
/// The forms are those of Kubernetes' command line, so that values can be read as they are printed.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::model {

/// Labels sorted by key.
using label_list = std::vector<std::pair<std::string, std::string>>;

/// Value of a label, or nullptr.
[[nodiscard]] const std::string* find_label(const label_list& labels, std::string_view key);
/// Labels from a flat list key, value, key, value. Errors: odd number of elements, a key twice, an empty key.
[[nodiscard]] result<label_list> parse_labels(std::string_view list);

enum class selector_operator : std::uint8_t { in, not_in, exists, does_not_exist, greater, less };

/// One requirement on one label.
struct requirement {
  std::string key;
  selector_operator op = selector_operator::exists;
  std::vector<std::string> values;
};

/// Requirements that must all hold. An empty selector matches everything.
struct selector {
  std::vector<requirement> requirements;
  [[nodiscard]] bool matches(const label_list& labels) const;
};

/// Grammar: requirements separated by commas: `key`, `!key`, `key=value`, `key==value`, `key!=value`, `key in (a,b)`,
/// `key notin (a,b)`, `key>number`, `key<number`.
[[nodiscard]] result<selector> parse_selector(std::string_view text);

/// Effects that keep pods away.
enum class taint_effect : std::uint8_t { any, no_schedule, no_execute, prefer_no_schedule };

struct taint {
  std::string key;
  std::string value;
  taint_effect effect = taint_effect::no_schedule;
};

struct toleration {
  std::string key;  ///< empty: every key
  std::string value;
  bool any_value = false;
  taint_effect effect = taint_effect::any;
  [[nodiscard]] bool tolerates(const taint& t) const;
};

/// `key=value:Effect` or `key:Effect`.
[[nodiscard]] result<taint> parse_taint(std::string_view text);
/// `key=value:Effect`, `key:Effect`, `key=value`, `key`, `*`, `*:Effect`.
[[nodiscard]] result<toleration> parse_toleration(std::string_view text);

/// Pods that match, in the domain that the topology key spans.
struct affinity_term {
  std::string topology_key;
  selector pods;
  bool any_namespace = false;
  std::vector<std::string> namespaces;  ///< sorted; empty: that of the pod itself
};
/// `topology key: selector`, `topology key@NAMESPACE,...: selector`, `topology key@*: selector`.
[[nodiscard]] result<affinity_term> parse_affinity_term(std::string_view text);

/// What a node that matches is worth.
struct node_preference {
  std::int64_t weight = 1;  ///< 1 .. 100
  selector nodes;
};
/// `weight: selector`.
[[nodiscard]] result<node_preference> parse_node_preference(std::string_view text);

/// Pods that match are welcome in the domain that the topology key spans, or unwelcome.
struct pod_preference {
  std::int64_t weight = 1;  ///< -100 .. 100; negative: they are unwelcome
  affinity_term term;
};
/// `weight topology key[@NAMESPACE,...]: selector`.
[[nodiscard]] result<pod_preference> parse_pod_preference(std::string_view text);

/// In no domain of a key may there be many more pods that match than in another one.
struct spread_constraint {
  std::int64_t skew = 1;  ///< most that the domain has more than the one with the fewest
  std::string topology_key;
  std::int64_t min_domains = 1;   ///< if there are fewer, one without pods is thought to be there
  bool soft = false;              ///< a wish
  bool ignores_affinity = false;  ///< domains of nodes that the pod does not select count, too
  bool honors_taints = false;     ///< those of nodes whose taints it does not tolerate do not count
  selector pods;
};
/// `skew topology key [soft] [min_domains=N] [ignore_affinity] [honor_taints]: selector`.
[[nodiscard]] result<spread_constraint> parse_spread_constraint(std::string_view text);

/// What has to have become of another group.
enum class dependency_kind : std::uint8_t { ok, failed, any, started };
struct dependency {
  dependency_kind kind = dependency_kind::ok;
  std::string group;
};
/// `ok:NAME`, `failed:NAME`, `any:NAME`, `started:NAME`.
[[nodiscard]] result<dependency> parse_dependency(std::string_view text);

struct host_port {
  std::string address;  ///< empty: every address
  std::string protocol;
  std::uint32_t port = 0;
  [[nodiscard]] bool conflicts(const host_port& other) const;
};
/// `[address:]port[/protocol]`.
[[nodiscard]] result<host_port> parse_host_port(std::string_view text);

}  // namespace kaisched::model
