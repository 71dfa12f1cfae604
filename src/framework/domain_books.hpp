#pragma once
/// @file
/// What `compat` keeps of topologies within a session.

#include <memory>
#include <vector>

#include "policy/topology/domain_book.hpp"

namespace kaisched::framework {

class session_state;

/// A book for each topology, brought up to date when somebody asks. Copies of a session start without.
class domain_books {
 public:
  /// The amounts of a node have changed, or may have.
  void note(node_row row) {
    if (books_.empty()) return;
    changed_.push_back(row);
    if (changed_.size() > most_changed_) forget();
  }
  [[nodiscard]] policy::topology::domain_book& of(const session_state& c, const policy::topology::domain_tree& tree);
  /// Books have what nodes have, but for changes that nobody has asked about yet. For checks.
  [[nodiscard]] bool are_right(const session_state& c) const;

 private:
  struct kept_book {
    const policy::topology::domain_tree* tree;
    std::size_t seen;  ///< of `changed_`
    std::unique_ptr<policy::topology::domain_book> book;
  };
  /// Nobody has asked for long: who asks next reads all nodes.
  void forget() {
    books_.clear();
    changed_.clear();
  }

  std::vector<kept_book> books_;
  std::vector<node_row> changed_;
  std::size_t most_changed_ = 0;
};

}  // namespace kaisched::framework
