#pragma once
/// @file
/// Domains of a topology (blocks, racks, hosts) with what their leaves hold, and where the pods of a workload go.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/kueue/rules/flavor_assignment.hpp"

namespace kaisched::kueue {

/// Amounts by resource.
using resource_vector = std::vector<std::int64_t>;

/// How many times requests go into a capacity, at most the largest 32-bit count; and the resource that bounds it, of
/// equal ones the first. No requests go in no times.
struct count_in_capacity {
  std::int64_t count = 0;
  std::int64_t bounding = -1;
};
[[nodiscard]] count_in_capacity count_in(const resource_vector& requests, const resource_vector& capacity);

/// A tree of domains by label values. Where hosts are the lowest level, a leaf is known by its host alone.
class domain_ledger {
 public:
  struct one_domain {
    std::uint32_t level = 0;
    std::uint32_t parent = none;
    std::vector<std::uint32_t> children;
    std::vector<std::string> values;
    std::uint32_t leaf = none;
  };
  struct one_leaf {
    std::string id;
    std::uint32_t domain = 0;
    resource_vector free;  ///< without what pods of others use
    resource_vector used;  ///< by workloads that are placed here
  };
  static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

  domain_ledger(std::vector<std::string> levels, bool leaves_are_hosts, std::size_t resources)
      : levels_(std::move(levels)),
        by_level_(levels_.size()),
        leaves_are_hosts_(leaves_are_hosts),
        resources_(resources) {}

  /// A node with its values, level by level. Returns its leaf; nodes of the same leaf add up.
  std::uint32_t add_node(const std::vector<std::string>& values, const resource_vector& allocatable);

  [[nodiscard]] const std::vector<std::string>& levels() const { return levels_; }
  [[nodiscard]] bool leaves_are_hosts() const { return leaves_are_hosts_; }
  [[nodiscard]] std::size_t resources() const { return resources_; }
  [[nodiscard]] const std::vector<one_domain>& domains() const { return domains_; }
  [[nodiscard]] const std::vector<one_leaf>& leaves() const { return leaves_; }
  [[nodiscard]] const std::vector<std::uint32_t>& at_level(std::size_t level) const { return by_level_[level]; }
  /// The leaf of values at the level that assignments name, or `none`.
  [[nodiscard]] std::uint32_t leaf_of(const std::vector<std::string>& values) const;
  [[nodiscard]] std::int64_t level_of(const std::string& key) const;  ///< -1 for no such level
  [[nodiscard]] std::uint32_t ancestor(std::uint32_t domain, std::size_t level) const;

  /// Adds or takes what pods use; places that do not exist (any more) are left out.
  void use(const std::string& leaf, const resource_vector& amounts, bool add);
  [[nodiscard]] resource_vector remaining(std::uint32_t leaf, bool as_if_empty) const;
  /// The same into a list that is used again.
  void remaining(std::uint32_t leaf, bool as_if_empty, resource_vector& left) const;

 private:
  std::vector<std::string> levels_;
  std::vector<one_domain> domains_;
  std::vector<one_leaf> leaves_;
  std::map<std::string, std::uint32_t> leaf_by_id_;
  std::map<std::vector<std::string>, std::uint32_t> domain_by_values_;
  std::vector<std::vector<std::uint32_t>> by_level_;
  bool leaves_are_hosts_ = false;
  std::size_t resources_ = 0;
};

/// Values joined as one text.
[[nodiscard]] std::string domain_id(const std::vector<std::string>& values);

/// Where pods of a set are: values of the named levels, and how many pods.
struct placed_pods {
  std::vector<std::string> values;
  std::int64_t count = 0;

  friend bool operator==(const placed_pods&, const placed_pods&) = default;
};
struct domain_assignment {
  std::vector<std::string> levels;
  std::vector<placed_pods> places;  ///< by values

  friend bool operator==(const domain_assignment&, const domain_assignment&) = default;
};

/// The first places of an assignment that hold so many pods.
[[nodiscard]] domain_assignment truncated(const domain_assignment& all, std::int64_t count);
/// Both together, by the values of the whole path; places of the same values add up.
[[nodiscard]] domain_assignment merged(const domain_ledger& ledger, const domain_assignment& a,
                                       const domain_assignment& b);

/// Pods that have to be in one domain of a level, in groups of this size.
struct slice_layer {
  std::string level;
  std::int64_t size = 0;
};

/// What a pod set asks of a topology.
struct place_request {
  std::int64_t count = 0;
  resource_vector requests;  ///< of one pod, without the count of pods
  std::string required;      ///< level of one domain that has to hold all
  std::string preferred;     ///< level of one domain that should
  bool unconstrained = false;
  bool implied = false;                ///< nothing is asked, but the flavor has a topology
  std::vector<slice_layer> slices;     ///< from the outermost to the innermost
  std::vector<std::int64_t> excluded;  ///< by leaf: a number for why pods cannot run there, or -1
  std::vector<std::int64_t> scores;    ///< by leaf, of preferred affinity; may be empty
};

struct place_rules {
  std::uint32_t pods_resource = 0;          ///< that counts pods
  bool least_free_if_unconstrained = true;  ///< fills what is left over first
  bool balanced = false;                    ///< spreads preferred requests evenly over as few domains as possible
  bool by_affinity = false;                 ///< domains of larger scores first
};

enum class place_failure_kind : std::uint8_t {
  none,
  no_level_asked,
  no_level,
  no_slice_level,
  slice_above_level,
  no_layer_level,
  layer_not_lower,
  layer_not_divisor,
  no_slice_size,
  no_domains,
  too_few,         ///< `fits` of `asked` slices
  too_few_layers,  ///< the same for every layer
  stale,           ///< pods are in a domain that is gone
  no_replacement
};

struct layer_fit {
  std::string level;
  std::int64_t fits = 0;
  std::int64_t asked = 0;
};

/// Why there is no place, and what leaves were left out for.
struct place_failure {
  place_failure_kind kind = place_failure_kind::none;
  std::string level;
  std::string other;
  std::int64_t fits = 0;
  std::int64_t asked = 0;
  std::int64_t slice_size = 1;
  std::vector<layer_fit> layers;
  std::int64_t leaves = 0;
  std::map<std::int64_t, std::int64_t> excluded;            ///< by number
  std::int64_t outside = 0;                                 ///< of the domain that a replacement has to be in
  std::map<std::int64_t, std::int64_t> bounding_resources;  ///< of leaves without place for one pod

  [[nodiscard]] explicit operator bool() const { return kind != place_failure_kind::none; }
};

/// Usage that is not in the ledger yet, by id of leaf.
using assumed_usage = std::map<std::string, resource_vector>;
void assume(assumed_usage& usage, const domain_assignment& places, const resource_vector& requests,
            std::uint32_t pods_resource);

struct found_places {
  domain_assignment workers;
  domain_assignment leader;
  place_failure failure;
};

/// Finds places for a pod set, and for the one pod of a leader beside it.
///
/// Counts go up the tree: how many pods and slices each domain holds, with and without the leader. On the level that is
/// asked for, one domain is taken that holds all, the fullest that does; else, if it is only preferred, one level up
/// and so on; else several domains, the largest first. On the way down each domain is again filled with as few of its
/// children as possible. Unconstrained requests take the least free domains first.
/// Source: topology-aware scheduling of Kueue (KEP-2724), balanced placement by dynamic programming included.
[[nodiscard]] found_places find_places(const domain_ledger& ledger, const place_request& workers,
                                       const place_request* leader, const assumed_usage& assumed, bool as_if_empty,
                                       const place_rules& rules, const std::string& only_below = {});

struct found_replacement {
  domain_assignment all;
  domain_assignment replaced;
  place_failure failure;
};
/// Other places for the pods that one place held, so that what is asked for still holds.
[[nodiscard]] found_replacement find_replacement(const domain_ledger& ledger, place_request request,
                                                 domain_assignment existing, const std::string& lost,
                                                 const assumed_usage& assumed, const place_rules& rules);

/// A pod set among those of a workload that are placed together.
struct pod_set_places {
  place_request request;
  std::string group;                            ///< two sets of one name are a leader and its workers
  std::optional<domain_assignment> previous{};  ///< that a slice of the workload before this one has: it is kept
  std::optional<domain_assignment> existing{};  ///< that this workload has
};
struct placed_set {
  bool looked_at = false;
  domain_assignment places;
  place_failure failure;
};
/// Places for all pod sets, in order; the first failure is the last that is told. What is placed is assumed.
/// With a lost host, only pods on it find new places; `keep_existing`: not even those.
[[nodiscard]] std::vector<placed_set> place_pod_sets(const domain_ledger& ledger,
                                                     const std::vector<pod_set_places>& sets, const std::string& lost,
                                                     bool keep_existing, assumed_usage& assumed, bool as_if_empty,
                                                     const place_rules& rules);

/// What one domain holds while places are looked for.
struct domain_counts {
  std::int64_t pods = 0;
  std::int64_t slices = 0;
  std::int64_t pods_with_leader = 0;
  std::int64_t slices_with_leader = 0;
  std::int64_t leaders = 0;
  std::int64_t score = 0;

  friend bool operator==(const domain_counts&, const domain_counts&) = default;
};

}  // namespace kaisched::kueue
