#pragma once
/// @file
/// How the nodes stand for one pod: who could take it, in which order, and why the others cannot.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>

namespace kaisched {

/// One node for one pod.
struct candidate {
  node_row node = no_row;
  reason refusal{};         ///< `what` is none if the pod can be placed here; else need and have are those of this node
  bool starts_now = false;  ///< everything is free; else the pod would hold a claim on what is being released
  device_set devices{};     ///< what the pod would take
  double score = 0;         ///< sum of the scores of all parts

  friend bool operator==(const candidate&, const candidate&) = default;
};

/// All nodes for one pod at one moment of a session, see `session::candidates`.
struct candidate_table {
  /// Nodes that can take the pod, best first: by score, ties to the name that sorts first. Then the others, by name.
  std::vector<candidate> nodes;
  std::uint32_t fitting = 0;       ///< number of nodes that can take the pod
  std::vector<std::string> parts;  ///< parts that score, in the order of the policy
  std::vector<double> scores;      ///< [nodes x parts], what each part gave

  node_row chosen = no_row;            ///< where this session has put the pod, or no_row
  std::uint32_t decisions_before = 0;  ///< decisions of the session that are in the state that the table shows

  [[nodiscard]] std::span<const double> scores_of(std::size_t row) const {
    return std::span(scores).subspan(row * parts.size(), parts.size());
  }
};

}  // namespace kaisched
