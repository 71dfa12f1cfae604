#pragma once
/// @file
/// Victims of pieces of domains: who has to leave so that each member of a group that requires a level with a shape can
/// get a piece.

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// A piece that a member could get.
struct offered_piece {
  std::vector<node_row> nodes;  ///< from its first position on
  /// By holder, which is a member above with a required level of its own: the domain of that level that the piece is
  /// in. no_row: the holder is not above.
  std::vector<std::uint32_t> homes;
};

/// Members of a group that can get the same pieces, as equal slices can.
struct members_alike {
  std::vector<sub_group_row> members;
  std::vector<pod_row> pods;  ///< of one of them
  std::vector<offered_piece> pieces;
  bool has_more = false;  ///< there are more pieces than these
};

/// Of one group.
struct offered_pieces {
  std::vector<members_alike> kinds;
  std::vector<std::pair<sub_group_row, const policy::topology::domain_tree*>> holders;
};

/// A piece for each member, and who has to leave.
struct piece_set {
  std::vector<std::uint32_t> victims;  ///< positions of units, ascending
  struct part {
    sub_group_row member;
    const offered_piece* piece;
    std::vector<node_row> nodes;  ///< of the piece, in the order in which they are to be filled
  };
  std::vector<part> parts;
};

/// Sets of units, one piece per member, those with the fewest units first.
class piece_sets {
 public:
  using positions = std::vector<std::uint32_t>;  ///< of units, ascending
  using victims_of = std::function<positions(std::span<const node_row>)>;

  /// `more`: what nodes have beside what is free, once all victims have left; [nodes x dimensions].
  /// `members` have to outlive it.
  piece_sets(const framework::session_state& c, std::span<const members_alike> members,
             const std::vector<std::int64_t>& more, const victims_of& victims);

  /// At most `most` different ones; at most so many choices of a piece are looked at, beside one look at each piece.
  /// Sets that share units between pieces are known to be small only once they are made: what is found is in order, and
  /// all that is left out has pieces that have more units together.
  [[nodiscard]] std::vector<piece_set> find(std::size_t most, std::int64_t looks);
  /// The last call left something out.
  [[nodiscard]] bool is_cut() const { return is_cut_; }

 private:
  struct piece_choice {
    const offered_piece* offered;
    std::vector<node_row> nodes;  ///< ascending
    positions victims;
  };
  struct kind_of_member {
    std::span<const sub_group_row> members;
    std::vector<piece_choice> pieces;  ///< fewest victims first
    std::vector<std::int64_t> pods;    ///< by request: those that ask for at least as much
  };
  /// A piece for the member after those of the choices before it; not yet looked at.
  struct choice {
    std::uint32_t before;  ///< no_row: it is the first one
    std::uint32_t member;
    std::uint32_t piece;
    std::size_t estimate;  ///< units, with the fewest that the members after it can have
    positions victims;     ///< of all up to here, once it has been looked at and is kept
  };

  [[nodiscard]] piece_set made_of(std::uint32_t last, positions victims) const;
  void add(std::uint32_t before, std::uint32_t member, std::uint32_t piece);
  [[nodiscard]] bool fits(const choice& one) const;
  [[nodiscard]] std::vector<std::map<node_row, std::int64_t>> places_taken(std::span<const choice* const> chosen) const;
  [[nodiscard]] bool have_room(std::span<const choice* const> chosen) const;
  [[nodiscard]] std::int64_t places_for(std::size_t request, node_row row) const;
  [[nodiscard]] const piece_choice& piece_of(const choice& one) const {
    return kinds_[members_[one.member]].pieces[one.piece];
  }
  [[nodiscard]] bool is_later(std::uint32_t a, std::uint32_t b) const;

  const framework::session_state& c_;
  const std::vector<std::int64_t>& more_;
  std::vector<kind_of_member> kinds_;
  std::vector<std::uint32_t> members_;               ///< kind, by member; equal ones follow each other
  std::vector<std::vector<std::int64_t>> requests_;  ///< different ones
  std::vector<std::size_t> fewest_after_;            ///< by member: units that members of later kinds lose at least
  std::vector<std::size_t> alike_from_;              ///< by member: how many of its kind are left, with itself
  std::vector<choice> choices_;
  std::vector<std::uint32_t> open_;  ///< a heap of choices
  bool deep_ = false;                ///< the heap prefers what is nearer to being complete
  bool is_cut_ = false;
  bool has_more_ = false;
  std::size_t pieces_ = 0;  ///< of all kinds
};

}  // namespace kaisched::actions
