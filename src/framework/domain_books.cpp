#include "framework/domain_books.hpp"

#include <algorithm>

#include "framework/session_state.hpp"

namespace kaisched::framework {

namespace {

double native_amount(const session_state& c, node_row row, dimension d) {
  const std::size_t at = static_cast<std::size_t>(row) * c.state().dims() + d;
  return to_native(d, (*c.live.idle)[at] + (*c.live.releasing)[at]);
}

double shared_room(const session_state& c, node_row row) {
  return c.access.groups->is_open() ? c.access.groups->room(row) : 0;
}

void tell(const session_state& c, node_row row, policy::topology::domain_book& book) {
  const std::span<double> free = book.change(row, shared_room(c, row));
  for (dimension d = 0; d < c.state().dims(); ++d) free[d] = native_amount(c, row, d);
}

}  // namespace

policy::topology::domain_book& domain_books::of(const session_state& c, const policy::topology::domain_tree& tree) {
  const std::size_t nodes = c.state().node_count();
  most_changed_ = 8 * nodes + 1024;
  const auto known =
      std::find_if(books_.begin(), books_.end(), [&](const kept_book& one) { return one.tree == &tree; });
  if (known == books_.end()) {
    kept_book& made = books_.emplace_back(kept_book{
        &tree, changed_.size(), std::make_unique<policy::topology::domain_book>(tree, nodes, c.state().dims())});
    for (node_row row = 0; row < nodes; ++row) tell(c, row, *made.book);
    return *made.book;
  }
  for (; known->seen < changed_.size(); ++known->seen) tell(c, changed_[known->seen], *known->book);
  return *known->book;
}

bool domain_books::are_right(const session_state& c) const {
  return std::all_of(books_.begin(), books_.end(), [&](const kept_book& one) {
    std::vector<bool> is_old(c.state().node_count(), false);
    for (std::size_t i = one.seen; i < changed_.size(); ++i) is_old[changed_[i]] = true;
    for (node_row row = 0; row < c.state().node_count(); ++row) {
      if (is_old[row]) continue;
      const policy::topology::node_room& kept = one.book->rooms()[row];
      if (kept.shared_room != shared_room(c, row)) return false;
      for (dimension d = 0; d < c.state().dims(); ++d) {
        if (kept.free[d] != native_amount(c, row, d)) return false;
      }
    }
    return one.book->is_right();
  });
}

}  // namespace kaisched::framework
