#include "schedulers/yunikorn/rules/shares.hpp"

#include <algorithm>

namespace kaisched::yunikorn {

double fair_share(const amounts& used, const bounds& guaranteed, const bounds& most) {
  double largest = 0;
  for (std::size_t d = 0; d < used.size(); ++d) {
    const std::int64_t whole = guaranteed[d] != undefined ? guaranteed[d] : most[d];
    if (whole == undefined || used[d] <= 0) continue;
    largest = std::max(largest, whole <= 0 ? 1.0 : static_cast<double>(used[d]) / static_cast<double>(whole));
  }
  return largest;
}

std::vector<double> shares_of(const amounts& used, const bounds& total, const std::vector<double>& unit) {
  std::vector<double> shares;
  for (std::size_t d = 0; d < used.size(); ++d) {
    if (used[d] == 0) continue;
    const bool has_total = total[d] != undefined && total[d] != 0;
    shares.push_back(static_cast<double>(used[d]) / (has_total ? static_cast<double>(total[d]) : unit[d]));
  }
  std::ranges::sort(shares);
  return shares;
}

int compare_shares(const std::vector<double>& left, const std::vector<double>& right) {
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const double l = i < left.size() ? left[left.size() - 1 - i] : 0;
    const double r = i < right.size() ? right[right.size() - 1 - i] : 0;
    if (l != r) return l < r ? -1 : 1;
  }
  return 0;
}

double node_usage(const node_state& node, const std::vector<double>& weights) {
  double sum = 0;
  double used = 0;
  for (std::size_t d = 0; d < weights.size(); ++d) {
    if (weights[d] == 0 || node.total[d] == 0) continue;
    used += (1.0 - static_cast<double>(node.available[d]) / static_cast<double>(node.total[d])) * weights[d];
    sum += weights[d];
  }
  return sum == 0 ? 0 : used / sum;
}

double node_score(const node_state& node, const node_order& order) {
  const double used = node_usage(node, order.weights);
  return order.packs ? 1.0 - used : used;
}

double unmet(const amounts& request, const amounts& available) {
  double sum = 0;
  for (std::size_t d = 0; d < request.size(); ++d) {
    if (request[d] <= 0 || request[d] <= available[d]) continue;
    sum += available[d] <= 0 ? 1.0 : static_cast<double>(request[d] - available[d]) / static_cast<double>(request[d]);
  }
  return sum;
}

}  // namespace kaisched::yunikorn
