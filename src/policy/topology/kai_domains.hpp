#pragma once
/// @file
/// Which domains of a topology pods are tried on, by the rules of KAI's plugin "topology" and in its arithmetic.

#include <cstdint>
#include <span>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>

#include "policy/topology/domain_tree.hpp"

namespace kaisched::policy::topology {

/// Amounts by dimension, in KAI's units: milli-cores, bytes, devices, counts.
using amounts = std::vector<double>;

/// What a node has.
struct node_room {
  std::span<const double> free;  ///< idle and coming free
  double shared_room = 0;        ///< free parts of GPUs that are shared already, in devices
};

struct pod_ask {
  amounts request;
  double gpus = 0;        ///< devices or parts that are asked for as such; not by memory, profile or claim
  std::size_t count = 1;  ///< so many pods in a row ask for the same
};

/// The pods that look for a domain together.
class pods_ask {
 public:
  pods_ask(std::span<const pod_ask> pods, std::size_t dimensions);

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const amounts& total() const { return total_; }
  /// All or none use GPUs, and each further resource is asked for by all or by none.
  [[nodiscard]] bool homogeneous() const { return homogeneous_; }
  /// How many pods with the largest request for each resource the node takes; all of them where only pod slots are
  /// asked for.
  [[nodiscard]] std::int64_t pods_on(const node_room& node) const;
  /// Nodes and domains have room for as many of the others.
  [[nodiscard]] bool counts_like(const pods_ask& other) const {
    return homogeneous_ == other.homogeneous_ && largest_ == other.largest_ &&
           asks_for_slots_only_ == other.asks_for_slots_only_ && (!asks_for_slots_only_ || count_ == other.count_);
  }

 private:
  std::size_t count_ = 0;
  amounts largest_;
  amounts total_;
  bool homogeneous_ = true;
  bool asks_for_slots_only_ = true;
};

inline constexpr std::int64_t not_counted = -1;

/// What was counted for some pods: by domain.
struct domain_counts {
  std::size_t dimensions = 0;
  std::vector<std::int64_t> pods;  ///< how many of them have room, or `not_counted`
  std::vector<double> free;        ///< [domains x dimensions]

  void reset(std::size_t domains, std::size_t dims);
  [[nodiscard]] std::span<const double> free_of(std::uint32_t domain) const {
    return std::span(free).subspan(domain * dimensions, dimensions);
  }
};

/// Adds up what the nodes of a domain and of all domains below have free.
void sum_free(const domain_tree& tree, std::uint32_t from, std::span<const node_room> nodes, domain_counts& counts);
/// Adds up how many pods they have room for.
void count_pods(const domain_tree& tree, std::uint32_t from, std::span<const node_room> nodes, const pods_ask& pods,
                domain_counts& counts);

/// Sorts the children of a domain, the tightest first.
void sort_children(const domain_tree& tree, std::vector<std::uint32_t>& children, const amounts& total,
                   const domain_counts& counts);

/// One domain of the preferred level.
struct scored_domain {
  std::uint32_t domain;
  double score;
};
/// Of the domains of the preferred level in the order of the tree. The later the higher: the emptiest domain has the
/// highest score.
[[nodiscard]] std::vector<scored_domain> domain_scores(std::span<const std::uint32_t> domains);

/// What the domains of a preferred level add to the scores of their nodes.
class preferred_domains {
 public:
  static constexpr double no_score = -1;

  /// Scores are not negative and ascend. There is at least one domain.
  preferred_domains(const domain_tree& tree, std::vector<scored_domain> domains);

  [[nodiscard]] const domain_tree& tree() const { return *tree_; }
  [[nodiscard]] std::size_t size() const { return domains_.size(); }
  [[nodiscard]] std::size_t node_count() const { return node_count_; }
  /// `no_score` for nodes that are in none of the domains.
  [[nodiscard]] double score_of(node_row node) const;
  [[nodiscard]] bool holds(node_row node) const { return score_of(node) != no_score; }
  /// The domains of one score that end before a position, which is at least 1. From `size()` on: the best ones first.
  [[nodiscard]] std::span<const scored_domain> band_before(std::size_t end) const;

 private:
  const domain_tree* tree_;
  std::uint32_t level_;
  std::size_t node_count_ = 0;
  std::vector<scored_domain> domains_;
  std::vector<double> by_place_;
};

/// Levels by number; no_row: none is asked for; `unknown_level`: one that the topology does not have.
inline constexpr std::uint32_t unknown_level = no_row - 1;
struct level_constraint {
  std::uint32_t required = no_row;
  std::uint32_t preferred = no_row;
};
/// Levels to look for domains on, narrowest first; none if the constraint is not one.
[[nodiscard]] std::vector<std::uint32_t> levels_to_try(std::size_t levels, const level_constraint& asked);

/// Domains that can hold the pods, narrowest level first, within a level as the tree was built. With a required level
/// nodes in use keep the pods in the domains of that level that have some of them.
struct found_domains {
  std::vector<std::uint32_t> domains;
  std::vector<std::uint32_t> too_small;  ///< of the widest level, where there are no others
};
[[nodiscard]] found_domains domains_that_hold(const domain_tree& tree, const level_constraint& asked,
                                              const amounts& total, std::size_t pods, std::span<const node_row> in_use,
                                              const domain_counts& counts);

/// What a sub-group is tried on.
struct domain_choice {
  bool is_wrong = false;                 ///< the constraint names no level, or levels that do not go together
  bool common_is_full = false;           ///< not even the domain that all offered nodes share has room
  std::vector<std::uint32_t> domains;    ///< in the order in which they are tried
  std::vector<std::uint32_t> too_small;  ///< where there are none
  std::vector<std::int64_t> room;        ///< of these: pods, or `not_counted`
  std::vector<scored_domain> scores;     ///< with a preferred level
};
/// `common`: the domain that the offered nodes share. Nodes in use are those of pods that run already. `counts`: of all
/// domains below the common one.
[[nodiscard]] domain_choice choose_domains(const domain_tree& tree, std::uint32_t common, const level_constraint& asked,
                                           const pods_ask& pods, std::span<const node_row> in_use,
                                           const domain_counts& counts);
/// Counts first what nodes have.
[[nodiscard]] domain_choice choose_domains(const domain_tree& tree, std::uint32_t common, const level_constraint& asked,
                                           const pods_ask& pods, std::span<const node_row> in_use,
                                           std::span<const node_room> nodes);

}  // namespace kaisched::policy::topology
