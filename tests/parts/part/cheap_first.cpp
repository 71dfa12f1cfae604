#include "cheap_first.hpp"

#include <limits>
#include <string>

using namespace kaisched;

namespace {

class cheap_first final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "cheap-first"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_orders_groups | part_filters_nodes | part_scores_nodes;
  }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i)
      keys[i].first = static_cast<std::int64_t>(view.group_name(groups[i]).size());
    return {};
  }
  result<void> filter_nodes(const session_view& view, pod_row, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      bool priced = false;
      (void)view.node_label(nodes[i], "price", &priced);
      verdicts[i] = priced ? constraint::none : constraint::plugin;
    }
    return {};
  }
  result<void> score_nodes(const session_view& view, pod_row, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::string_view price = view.node_label(nodes[i], "price");
      if (!price.empty()) scores[i] += 1e6 / std::stod(std::string(price));
    }
    return {};
  }
};

class broken final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "broken"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_scores_nodes; }
  result<void> score_nodes(const session_view&, pod_row, std::span<const node_row>, std::span<double> scores) override {
    for (double& score : scores) score = std::numeric_limits<double>::quiet_NaN();
    return {};
  }
};

}  // namespace

std::unique_ptr<policy_part> make_cheap_first(const policy_options&) { return std::make_unique<cheap_first>(); }
std::unique_ptr<policy_part> make_broken(const policy_options&) { return std::make_unique<broken>(); }
