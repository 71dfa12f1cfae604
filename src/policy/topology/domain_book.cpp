#include "policy/topology/domain_book.hpp"

#include <algorithm>

namespace kaisched::policy::topology {

namespace {

constexpr std::size_t most_questions = 8;

}  // namespace

domain_book::domain_book(const domain_tree& tree, std::size_t nodes, std::size_t dimensions)
    : tree_(tree),
      dimensions_(dimensions),
      free_(nodes * dimensions, 0),
      rooms_(nodes),
      dirty_(tree.levels.size() + 1),
      is_dirty_(tree.domains.size(), 0) {
  for (std::size_t row = 0; row < nodes; ++row)
    rooms_[row].free = std::span(free_).subspan(row * dimensions, dimensions);
}

std::span<double> domain_book::change(node_row row, double shared_room) {
  rooms_[row].shared_room = shared_room;
  changes_.push_back(row);
  if (changes_.size() > 8 * rooms_.size() + 1024) {
    // Who has not asked since then counts anew.
    changes_.clear();
    questions_.clear();
  }
  return std::span(free_).subspan(row * dimensions_, dimensions_);
}

domain_book::question& domain_book::find(const pods_ask& pods) {
  const auto known = std::find_if(questions_.begin(), questions_.end(),
                                  [&](const question& one) { return one.pods.counts_like(pods); });
  if (known != questions_.end()) {
    questions_.splice(questions_.begin(), questions_, known);
    return questions_.front();
  }
  if (questions_.size() == most_questions) questions_.pop_back();
  questions_.push_front({pods, changes_.size(), {}, {}});
  count_all(questions_.front());
  return questions_.front();
}

const domain_counts& domain_book::counts_of(const pods_ask& pods) {
  question& one = find(pods);
  const std::span<const node_row> changed = std::span(changes_).subspan(one.seen);
  if (changed.size() > tree_.domains[root_domain].nodes.size() / 2)
    count_all(one);
  else
    recount(one, changed);
  one.seen = changes_.size();
  return one.counts;
}

bool domain_book::is_right() const {
  return std::all_of(questions_.begin(), questions_.end(), [this](const question& one) {
    if (one.seen != changes_.size()) return true;
    domain_counts counts;
    counts.reset(tree_.domains.size(), dimensions_);
    sum_free(tree_, root_domain, rooms_, counts);
    if (one.pods.homogeneous()) count_pods(tree_, root_domain, rooms_, one.pods, counts);
    return counts.free == one.counts.free && counts.pods == one.counts.pods;
  });
}

/// Of a domain, where those below are up to date.
void domain_book::sum_up(std::uint32_t domain, domain_counts& counts) const {
  double* const own = counts.free.data() + domain * dimensions_;
  std::fill_n(own, dimensions_, 0.0);
  if (tree_.children[domain].empty()) {
    for (const node_row row : tree_.domains[domain].nodes) {
      const double* const free = free_.data() + row * dimensions_;
      for (std::size_t d = 0; d < dimensions_; ++d) own[d] += free[d];
    }
  }
  for (const std::uint32_t child : tree_.children[domain]) {
    const double* const below = counts.free.data() + child * dimensions_;
    for (std::size_t d = 0; d < dimensions_; ++d) own[d] += below[d];
  }
}

void domain_book::count_all(question& one) const {
  one.counts.reset(tree_.domains.size(), dimensions_);
  one.on_node.assign(rooms_.size(), 0);
  for (std::size_t domain = tree_.domains.size(); domain-- > 0;) sum_up(static_cast<std::uint32_t>(domain), one.counts);
  if (!one.pods.homogeneous()) return;
  std::fill(one.counts.pods.begin(), one.counts.pods.end(), 0);
  const node_room* last = nullptr;  // many nodes in a row are equally full or equally free
  std::int64_t on_last = 0;
  for (const node_row row : tree_.domains[root_domain].nodes) {
    const node_room& room = rooms_[row];
    if (last == nullptr || last->shared_room != room.shared_room || !std::ranges::equal(last->free, room.free)) {
      on_last = one.pods.pods_on(room);
      last = &room;
    }
    one.on_node[row] = on_last;
    one.counts.pods[tree_.leaf[row]] += on_last;
  }
  for (std::size_t domain = tree_.domains.size(); domain-- > 1;)
    one.counts.pods[tree_.domains[domain].parent] += one.counts.pods[domain];
}

void domain_book::recount(question& one, std::span<const node_row> nodes) {
  const auto mark = [&](std::uint32_t domain) {
    if (is_dirty_[domain] != 0) return;
    is_dirty_[domain] = 1;
    dirty_[tree_.domains[domain].level].push_back(domain);
  };
  for (const node_row row : nodes) {
    const std::uint32_t leaf = tree_.leaf[row];
    if (leaf == no_row) continue;
    mark(leaf);
    if (!one.pods.homogeneous()) continue;
    const std::int64_t now = one.pods.pods_on(rooms_[row]);
    const std::int64_t more = now - one.on_node[row];
    one.on_node[row] = now;
    for (std::uint32_t up = leaf; more != 0 && up != no_row; up = tree_.domains[up].parent) one.counts.pods[up] += more;
  }
  for (std::size_t level = dirty_.size(); level-- > 0;) {  // narrowest first
    for (const std::uint32_t domain : dirty_[level]) {
      sum_up(domain, one.counts);
      is_dirty_[domain] = 0;
      if (domain != root_domain) mark(tree_.domains[domain].parent);
    }
    dirty_[level].clear();
  }
}

}  // namespace kaisched::policy::topology
