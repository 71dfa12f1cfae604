#pragma once
/// @file
/// Figures by which queues, applications and nodes are ordered, in floating point as YuniKorn computes them.
///
/// Source: apache/yunikorn-core, pkg/common/resources/resources.go, pkg/scheduler/objects/nodesorting.go.

#include <vector>

#include "schedulers/yunikorn/rules/state.hpp"

namespace kaisched::yunikorn {

/// The largest share of what is used: of what is guaranteed in a dimension, else of the most that the queue may have
/// there. Of nothing any use is the whole.
[[nodiscard]] double fair_share(const amounts& used, const bounds& guaranteed, const bounds& most);

/// Shares of a total, the smallest first. Where there is no total an amount stands for itself.
[[nodiscard]] std::vector<double> shares_of(const amounts& used, const bounds& total, const std::vector<double>& unit);
/// Below 0: the left ones are smaller, compared from the largest on. What the other has not counts as 0.
[[nodiscard]] int compare_shares(const std::vector<double>& left, const std::vector<double>& right);

/// How much of a node is used, weighted. Dimensions that it has not got do not count.
[[nodiscard]] double node_usage(const node_state& node, const std::vector<double>& weights);
/// By what nodes are ordered, the least first.
[[nodiscard]] double node_score(const node_state& node, const node_order& order);

/// The sum of the parts of a request that an amount does not cover; 0: it fits.
[[nodiscard]] double unmet(const amounts& request, const amounts& available);

}  // namespace kaisched::yunikorn
