#pragma once
/// @file
/// The pods of a chunk by the members of their group's tree.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// A member of a tree, or one below it.
[[nodiscard]] inline bool is_below(const framework::session_state& c, sub_group_row sub, sub_group_row member) {
  while (sub != no_row && sub != member) sub = c.state().subs[sub].parent;
  return sub == member;
}

/// Calls `visit(pod set)` for a member that is one, or for those below it. Ends where `visit` returns false.
template <class Visit>
void for_pod_sets_below(const framework::session_state& c, sub_group_row member, Visit visit) {
  const model::cluster_state& s = c.state();
  std::vector<sub_group_row> open{member};
  while (!open.empty()) {
    const sub_group_row one = open.back();
    open.pop_back();
    if (!s.subs[one].is_set) {
      if (!visit(one)) return;
      continue;
    }
    for (sub_group_row child = s.subs[one].first_child; child != no_row; child = s.subs[child].next_sibling)
      open.push_back(child);
  }
}

/// Sorted once, so that a look at each member of a tree costs what it holds and not the chunk.
class chunk_members {
 public:
  chunk_members() = default;
  chunk_members(const framework::session_state& c, std::span<const pod_row> chunk);

  [[nodiscard]] std::size_t size() const { return pods_.size(); }
  /// The pods of a pod set, in the order of the chunk.
  [[nodiscard]] std::span<const pod_row> of(sub_group_row pod_set) const;
  /// The member, or one below it, has pods.
  [[nodiscard]] bool has_pods(sub_group_row member) const;
  /// The pods of a member and of all below it, in the order of the chunk.
  [[nodiscard]] std::vector<pod_row> below(const framework::session_state& c, sub_group_row member) const;

 private:
  [[nodiscard]] std::pair<std::size_t, std::size_t> range_of(sub_group_row pod_set) const;

  static constexpr std::size_t few = 16;  ///< most chunks need no memory of their own
  struct chunk_place {
    sub_group_row set = no_row;
    std::uint32_t in_chunk = 0;
  };
  boost::container::small_vector<chunk_place, few> places_;       ///< by pod set, then as in the chunk
  boost::container::small_vector<pod_row, few> pods_;             ///< of these places
  boost::container::small_vector<sub_group_row, few> with_pods_;  ///< have pods, themselves or below; ascending
};

}  // namespace kaisched::actions
