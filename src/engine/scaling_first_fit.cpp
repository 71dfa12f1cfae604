// The way of autoscalers that look at pods one by one, after the public description and sources of Karpenter
// (pkg/controllers/provisioning/scheduling): pods in decreasing order of cpu and memory; each onto the first node that
// is there and has room, else onto the planned node with fewest pods that some type could still be, else onto a new
// one. A planned node becomes the cheapest type that holds its pods.
#include <algorithm>
#include <tuple>

#include "engine/scaling_parts.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::engine_detail {

namespace {

using amounts = std::vector<std::int64_t>;

struct planned_node {
  amounts takes;
  std::vector<bool> types;  ///< that could hold all of it
  std::int64_t pods = 0;
};

class first_fit {
 public:
  explicit first_fit(const scale_subject& of) : of_(of), s_(model::state_of(of.waits)), free_(s_.node_count()) {
    for (node_row row = 0; row < s_.node_count(); ++row) {
      for (std::uint32_t d = 0; d < s_.dims(); ++d)
        free_[row].push_back((*s_.live.idle)[static_cast<std::size_t>(row) * s_.dims() + d]);
    }
  }

  node_counts run() {
    for (const pod_row p : pods()) place(s_.class_of(p));
    return cheapest();
  }

 private:
  [[nodiscard]] std::vector<pod_row> pods() const {
    std::vector<pod_row> all;
    for (const wanted_group& one : of_.wanted) all.insert(all.end(), one.waiting.begin(), one.waiting.end());
    const auto key = [&](pod_row p) {
      const model::pod_class& ask = s_.class_of(p);
      return std::tuple(-ask.requests(dim_cpu), -ask.requests(dim_memory), s_.pod_extras[p].created, s_.pod_names[p]);
    };
    std::sort(all.begin(), all.end(), [&](pod_row a, pod_row b) { return key(a) < key(b); });
    return all;
  }

  void place(const model::pod_class& ask) {
    for (const node_row row : *s_.rows_by_name) {
      const model::node_info& node = *(*s_.nodes)[row];
      if (!node.open() || !fits(ask, free_[row]) || !ask.matches_labels(node.labels) || !ask.tolerates(node.taints))
        continue;
      for (std::uint32_t d = 0; d < s_.dims(); ++d) free_[row][d] -= ask.requests(d);
      return;
    }
    std::vector<std::size_t> order(planned_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::tuple(planned_[a].pods, a) < std::tuple(planned_[b].pods, b);
    });
    for (const std::size_t i : order) {
      if (add(planned_[i], ask)) return;
    }
    planned_node made{amounts(s_.dims(), 0), std::vector<bool>(of_.types.size(), true), 0};
    if (add(made, ask)) planned_.push_back(std::move(made));
  }

  [[nodiscard]] bool fits(const model::pod_class& ask, const amounts& free) const {
    for (std::uint32_t d = 0; d < s_.dims(); ++d) {
      if (ask.requests(d) > 0 && ask.requests(d) > free[d]) return false;
    }
    return true;
  }

  bool add(planned_node& to, const model::pod_class& ask) const {
    planned_node then = to;
    for (std::uint32_t d = 0; d < s_.dims(); ++d) then.takes[d] += ask.requests(d);
    ++then.pods;
    bool any = false;
    for (std::size_t t = 0; t < of_.types.size(); ++t) {
      const model::node_info& like = *of_.types[t].like;
      bool holds = then.types[t] && of_.types[t].offer->most > 0 && ask.matches_labels(like.labels) &&
                   ask.tolerates(like.taints);
      for (std::uint32_t d = 0; d < s_.dims(); ++d)
        holds = holds && then.takes[d] <= (d < like.capacity.size() ? like.capacity[d] : 0);
      then.types[t] = holds;
      any = any || holds;
    }
    if (any) to = std::move(then);
    return any;
  }

  /// Planned nodes in their order take what is left of the cheapest type; one that finds none is not bought.
  [[nodiscard]] node_counts cheapest() const {
    node_counts counts(of_.types.size(), 0);
    for (const planned_node& one : planned_) {
      std::size_t best = of_.types.size();
      for (std::size_t t = 0; t < of_.types.size(); ++t) {
        if (!one.types[t] || counts[t] >= most_of(of_, t)) continue;
        if (best == of_.types.size() || of_.types[t].offer->price < of_.types[best].offer->price) best = t;
      }
      if (best < of_.types.size()) ++counts[best];
    }
    return counts;
  }

  const scale_subject& of_;
  const model::cluster_state& s_;
  std::vector<amounts> free_;  ///< by node row
  std::vector<planned_node> planned_;
};

}  // namespace

node_counts first_fit_set(const scale_subject& of) { return first_fit(of).run(); }

}  // namespace kaisched::engine_detail
