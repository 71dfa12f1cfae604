// The plug-in binpack.

#include <utility>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class binpack final : public plugin {
 public:
  binpack(policy::resource_weights weights, std::int64_t weight) : weights_(std::move(weights)), weight_(weight) {}

  [[nodiscard]] std::string_view name() const override { return "binpack"; }
  [[nodiscard]] bool judges_victims_by_node() const override { return true; }

  [[nodiscard]] bool scores_nodes() const override { return true; }
  void score_nodes(const session& of, row task, const std::vector<row>& nodes,
                   std::vector<double>& scores) const override {
    const policy::resource_list& request = of.cluster().tasks[task].request;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const node_state& node = of.cluster().nodes[nodes[i]];
      scores[i] += policy::domain_packing(request, {node.allocatable, node.used}, weights_) * policy::max_node_score *
                   static_cast<double>(weight_);
    }
  }

 private:
  policy::resource_weights weights_;
  std::int64_t weight_;
};

}  // namespace

std::unique_ptr<plugin> make_binpack(policy::resource_weights weights, std::int64_t weight) {
  return std::make_unique<binpack>(std::move(weights), weight);
}

}  // namespace kaisched::volcano
