#include "schedulers/kueue/rules/entry_order.hpp"

#include <utility>

namespace kaisched::kueue {

namespace {

/// Shares that the children of cohorts on the way up would have if the entry ran; by cohort.
using shares_on_path = std::vector<std::pair<node_id, borrowed_share>>;

const borrowed_share& share_below(const shares_on_path& shares, node_id cohort) {
  static const borrowed_share none;
  for (const auto& [at, share] : shares) {
    if (at == cohort) return share;
  }
  return none;
}

class knock_out {
 public:
  knock_out(quota_tree& tree, const std::vector<cycle_entry>& entries,
            const std::vector<std::optional<std::size_t>>& entry_of_queue, const std::vector<bool>& told,
            const entry_rules& rules)
      : tree_(tree), entries_(entries), entry_of_queue_(entry_of_queue), told_(told), rules_(rules) {}

  std::optional<std::size_t> winner(node_id root) {
    shares_.resize(entries_.size());
    for (const node_id queue : tree_.queues_below(root)) {
      const std::optional<std::size_t> entry = waiting(queue);
      if (!entry) continue;
      tree_.add_usage(queue, entries_[*entry].asked);
      borrowed_share share = tree_.share(queue);
      for (node_id at = tree_.parent(queue); at != no_node; at = tree_.parent(at)) {
        shares_[*entry].emplace_back(at, std::move(share));
        share = tree_.share(at);
      }
      tree_.remove_usage(queue, entries_[*entry].asked);
    }
    return best_below(root);
  }

 private:
  std::optional<std::size_t> waiting(node_id queue) const {
    const std::optional<std::size_t> entry = entry_of_queue_[queue];
    return entry && !told_[*entry] ? entry : std::nullopt;
  }

  std::optional<std::size_t> best_below(node_id cohort) const {
    std::optional<std::size_t> best;
    const auto offer = [&](const std::optional<std::size_t>& one) {
      if (!one) return;
      if (!best || goes_before(entries_[*one], share_below(shares_[*one], cohort), entries_[*best],
                               share_below(shares_[*best], cohort), rules_))
        best = one;
    };
    for (const node_id child : tree_.child_cohorts(cohort)) offer(best_below(child));
    for (const node_id queue : tree_.child_queues(cohort)) offer(waiting(queue));
    return best;
  }

  quota_tree& tree_;  ///< as it was afterwards
  const std::vector<cycle_entry>& entries_;
  const std::vector<std::optional<std::size_t>>& entry_of_queue_;
  const std::vector<bool>& told_;
  const entry_rules& rules_;
  std::vector<shares_on_path> shares_;
};

}  // namespace

int compare_entries(const cycle_entry& a, const cycle_entry& b, const entry_rules& rules) {
  if (a.holds_quota != b.holds_quota) return a.holds_quota ? -1 : 1;
  if (rules.preemptors_first && a.preemptor != b.preemptor) return a.preemptor ? -1 : 1;
  if (a.borrowing != b.borrowing) return a.borrowing < b.borrowing ? -1 : 1;
  if (rules.by_priority && a.priority != b.priority) return a.priority > b.priority ? -1 : 1;
  if (a.queued_at != b.queued_at) return a.queued_at < b.queued_at ? -1 : 1;
  return a.name.compare(b.name);
}

bool goes_before(const cycle_entry& a, const borrowed_share& a_share, const cycle_entry& b,
                 const borrowed_share& b_share, const entry_rules& rules) {
  if (rules.preemptors_first && a.preemptor != b.preemptor) return a.preemptor;
  if (rules.non_borrowing_first) {
    const bool a_borrows = a_share.borrows_any_of(a.asked);
    const bool b_borrows = b_share.borrows_any_of(b.asked);
    if (a_borrows != b_borrows) return b_borrows;
  }
  if (const int order = compare(a_share, b_share); order != 0) return order < 0;
  if (rules.by_priority && a.priority != b.priority) return a.priority > b.priority;
  return a.queued_at < b.queued_at;
}

fair_tournament::fair_tournament(const quota_tree& tree, std::vector<cycle_entry> entries, const entry_rules& rules)
    : entries_(std::move(entries)), entry_of_queue_(tree.size()), rules_(rules), told_(entries_.size()) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    std::optional<std::size_t>& entry = entry_of_queue_[entries_[i].queue];
    if (entry) told_[*entry] = true;
    entry = i;
  }
}

std::optional<std::size_t> fair_tournament::next(quota_tree& tree) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (told_[i]) continue;
    std::optional<std::size_t> chosen = i;
    if (tree.has_parent(entries_[i].queue))
      chosen = knock_out(tree, entries_, entry_of_queue_, told_, rules_).winner(tree.root(entries_[i].queue));
    told_[*chosen] = true;
    return chosen;
  }
  return std::nullopt;
}

}  // namespace kaisched::kueue
