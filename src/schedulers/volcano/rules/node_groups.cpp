// The plug-in nodegroup: nodes in groups that queues want or avoid.

#include "policy/placement/node_groups.hpp"

#include <string>
#include <utility>
#include <vector>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class node_group final : public plugin {
 public:
  node_group(bool strict, bool in_order) : strict_(strict), in_order_(in_order) {}

  [[nodiscard]] std::string_view name() const override { return "nodegroup"; }

  void open(const session& of, const points& on) override {
    const bool inherits = on.test(static_cast<std::size_t>(point::hierarchy));
    std::vector<policy::node_group_queue> queues;
    for (const queue_state& one : of.cluster().queues) queues.push_back({one.name, one.parent, one.node_groups});
    for (const queue_state& one : of.cluster().queues) {
      const policy::node_group_affinity* const found = policy::node_groups_of(queues, one.name, inherits);
      wishes_.push_back(found == nullptr ? policy::node_group_affinity{} : *found);
    }
  }

  /// The queue counts as well.
  [[nodiscard]] bool judges_by_kind(const session&) const override { return false; }
  [[nodiscard]] node_refusal refuses(const session& of, row task, row node) const override {
    const policy::node_group_affinity* const wishes = wishes_of(of, task);
    const std::optional<std::string>& group = of.cluster().nodes[node].group;
    return policy::refused_by_group(group ? &*group : nullptr, wishes, strict_) == policy::node_group_refusal::none
               ? node_refusal::none
               : node_refusal::for_good;
  }

  [[nodiscard]] bool scores_nodes() const override { return true; }
  void score_nodes(const session& of, row task, const std::vector<row>& nodes,
                   std::vector<double>& scores) const override {
    const policy::node_group_affinity* const wishes = wishes_of(of, task);
    for (std::size_t i = 0; wishes != nullptr && i < nodes.size(); ++i) {
      const std::optional<std::string>& group = of.cluster().nodes[nodes[i]].group;
      if (group) scores[i] += policy::node_group_score(*group, *wishes, in_order_);
    }
  }

 private:
  /// Null: nobody has said anything.
  [[nodiscard]] const policy::node_group_affinity* wishes_of(const session& of, row task) const {
    const row queue = of.cluster().jobs[of.cluster().tasks[task].job].queue;
    return queue == no_row || wishes_[queue].says_nothing() ? nullptr : &wishes_[queue];
  }

  bool strict_;
  bool in_order_;
  std::vector<policy::node_group_affinity> wishes_;  ///< by queue
};

}  // namespace

std::unique_ptr<plugin> make_node_group(bool strict, bool in_order) {
  return std::make_unique<node_group>(strict, in_order);
}

}  // namespace kaisched::volcano
