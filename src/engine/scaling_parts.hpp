#pragma once
/// @file
/// What the questions about nodes to add and to give back share.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/scaling.hpp>

#include "model/state.hpp"

namespace kaisched::engine_detail {

/// Nodes of each type, in the order of `scale_subject::types`.
using node_counts = std::vector<std::int64_t>;

/// A type, and the node that the new ones are like.
struct offered_type {
  const node_type* offer = nullptr;
  std::shared_ptr<const model::node_info> like;
};

/// A group with pods that wait.
struct wanted_group {
  group_row group = no_row;
  std::vector<pod_row> waiting;
};

/// A question, and the cluster with what starts at once.
struct scale_subject {
  const engine& with;
  const scale_question& question;
  std::int64_t now = 0;
  snapshot nodes;                   ///< of the offers
  std::vector<offered_type> types;  ///< by name
  cluster world;
  snapshot waits;                    ///< of `world`
  std::vector<wanted_group> wanted;  ///< in the order in which they wait
  std::vector<wanted_group> all;     ///< those that were not asked about as well

  /// Error if nobody waits for the answer any more.
  [[nodiscard]] result<void> go_on() const {
    if (!question.goes_on || question.goes_on()) return {};
    return error{status::cancelled, "the host cancelled the question", {}};
  }
};

/// Checks the offers and the question, decides the cluster and takes in what starts.
[[nodiscard]] result<scale_subject> make_subject(const engine& with, const snapshot& base, std::int64_t now,
                                                 const node_offers& offers, const scale_question& question);
/// A session with the actions of the options that place pods.
[[nodiscard]] result<session> decide_places(const engine& with, const snapshot& over, std::int64_t now);

/// A node of this kind could hold a pod of the class, as far as amounts, labels and taints say.
[[nodiscard]] bool could_hold(const model::pod_class& ask, const model::node_info& node, std::uint32_t dims);
/// So many pods of the class fit on an empty node together by amounts; at least one.
[[nodiscard]] std::int64_t pods_on(const model::pod_class& ask, const model::node_info& node, std::uint32_t dims);

/// Names and tables of nodes that are added.
class node_maker {
 public:
  explicit node_maker(const scale_subject& of);
  /// Of the n-th node of a type, from 0: free in the cluster.
  [[nodiscard]] std::string name(std::size_t type, std::int64_t n);
  [[nodiscard]] std::vector<table> tables(const node_counts& counts);

 private:
  struct domain_names {
    std::set<std::string, std::less<>> taken;
    std::vector<std::string> made;
    std::int64_t tried = 0;
  };
  [[nodiscard]] const std::string& domain(std::size_t type, const std::string& label, std::int64_t n);

  const scale_subject& of_;
  std::set<std::string_view> taken_;
  std::vector<std::vector<std::string>> names_;  ///< by type
  std::vector<std::int64_t> tried_;
  std::map<std::pair<std::size_t, std::string>, domain_names> domains_;
};

/// What a cluster with some nodes added comes to.
struct scale_trial {
  std::vector<std::uint32_t> placed;  ///< pods by wanted group
  std::uint32_t others = 0;           ///< pods of other groups
  std::uint32_t leave = 0;            ///< pods that have to leave or move
  node_counts used;                   ///< new nodes that somebody got a place on

  /// Nobody that was asked about has less, and no more have to go.
  [[nodiscard]] bool is_as_good_as(const scale_trial& other) const;
};

/// Cheaper first, then fewer nodes, then by the counts.
[[nodiscard]] std::int64_t cost_of(const scale_subject& of, const node_counts& counts);
[[nodiscard]] bool is_better(const scale_subject& of, const node_counts& a, const node_counts& b);

/// Tries sets of nodes; each is tried once.
class scale_trials {
 public:
  scale_trials(scale_subject& of, std::uint32_t most) : of_(of), maker_(of), most_(most) {}

  /// Errors: `limit` if it would take more sessions than allowed, those of sessions.
  [[nodiscard]] result<scale_trial> attempt(const node_counts& counts);
  /// The same as a whole, which costs a session each time.
  struct whole {
    snapshot over;
    session decided;
    scale_trial came_to;
  };
  [[nodiscard]] result<whole> decide(const node_counts& counts);
  [[nodiscard]] std::uint32_t made() const { return made_; }
  [[nodiscard]] std::uint32_t left() const { return most_ > made_ ? most_ - made_ : 0; }
  /// So many are not for `attempt` now.
  void reserve(std::uint32_t kept) { kept_ = kept; }
  [[nodiscard]] node_maker& maker() { return maker_; }

 private:
  [[nodiscard]] scale_trial count(const session& then, const node_counts& counts);

  scale_subject& of_;
  node_maker maker_;
  std::uint32_t most_;
  std::uint32_t kept_ = 0;
  std::uint32_t made_ = 0;
  std::map<node_counts, scale_trial> known_;
};

/// What sums of amounts say about sets of nodes.
class amount_bound {
 public:
  /// @param least pods that have to get a place, by wanted group
  amount_bound(const scale_subject& of, const std::vector<std::uint32_t>& least);
  /// No set costs less.
  [[nodiscard]] std::int64_t cost() const { return cost_; }
  /// These nodes are too few, whatever the scheduler.
  [[nodiscard]] bool refutes(const node_counts& counts) const;

 private:
  /// Some pods take `need` pieces of new nodes, of which a node of each type has so many.
  struct demand {
    std::vector<std::int64_t> pieces;
    std::int64_t need = 0;
  };
  struct pod_kind;
  void add_demands(const scale_subject& of, const std::vector<pod_kind>& kinds, const std::vector<std::uint32_t>& least,
                   const std::vector<bool>& types);
  [[nodiscard]] std::int64_t cost_of_demand(const scale_subject& of, const demand& one) const;

  std::vector<demand> demands_;
  std::int64_t cost_ = 0;
};

/// The set that is found pod by pod, see docs/scaling.md.
[[nodiscard]] node_counts first_fit_set(const scale_subject& of);
/// Most nodes of a type that can be of use.
[[nodiscard]] std::int64_t most_of(const scale_subject& of, std::size_t type);

/// Questions. `scale_down` changes the cluster of the subject.
[[nodiscard]] result<scale_up_answer> scale_up(scale_subject& of);
/// @param added nodes that stay
[[nodiscard]] result<scale_down_answer> scale_down(scale_subject& of, const std::set<std::string>& added);

}  // namespace kaisched::engine_detail
