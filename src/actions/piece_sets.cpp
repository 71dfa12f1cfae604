#include "actions/piece_sets.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace kaisched::actions {

namespace {

bool asks_for_at_least(std::span<const std::int64_t> larger, std::span<const std::int64_t> smaller) {
  return std::equal(larger.begin(), larger.end(), smaller.begin(), smaller.end(), std::greater_equal<>());
}

bool share_some(std::span<const node_row> a, std::span<const node_row> b) {
  for (std::size_t i = 0, k = 0; i < a.size() && k < b.size();) {
    if (a[i] == b[k]) return true;
    ++(a[i] < b[k] ? i : k);
  }
  return false;
}

/// No member above both would have pods in two domains.
bool have_one_home(const offered_piece& a, const offered_piece& b) {
  for (std::size_t i = 0; i < a.homes.size(); ++i) {
    if (a.homes[i] != no_row && b.homes[i] != no_row && a.homes[i] != b.homes[i]) return false;
  }
  return true;
}

std::vector<std::uint32_t> union_of(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b) {
  std::vector<std::uint32_t> both;
  both.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
  return both;
}

}  // namespace

piece_sets::piece_sets(const framework::session_state& c, std::span<const members_alike> members,
                       const std::vector<std::int64_t>& more, const victims_of& victims)
    : c_(c), more_(more) {
  // Who can choose among few pieces chooses first.
  std::vector<const members_alike*> in_order;
  for (const members_alike& one : members) in_order.push_back(&one);
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto* a, const auto* b) { return a->pieces.size() < b->pieces.size(); });
  const auto request_of = [&](pod_row p) {
    std::vector<std::int64_t> request = c.state().class_of(p).ask.request;
    request.resize(c.state().dims(), 0);
    return request;
  };
  for (const members_alike& one : members) {
    for (const pod_row p : one.pods) requests_.push_back(request_of(p));
  }
  std::sort(requests_.begin(), requests_.end());
  requests_.erase(std::unique(requests_.begin(), requests_.end()), requests_.end());
  for (const members_alike* const one : in_order) {
    kind_of_member made;
    made.members = one->members;
    for (const std::vector<std::int64_t>& request : requests_) {
      made.pods.push_back(std::count_if(one->pods.begin(), one->pods.end(),
                                        [&](pod_row p) { return asks_for_at_least(request_of(p), request); }));
    }
    for (const offered_piece& piece : one->pieces) {
      std::vector<node_row> nodes = piece.nodes;
      std::sort(nodes.begin(), nodes.end());
      positions there = victims(nodes);
      made.pieces.push_back({&piece, std::move(nodes), std::move(there)});
    }
    std::stable_sort(made.pieces.begin(), made.pieces.end(),
                     [](const piece_choice& a, const piece_choice& b) { return a.victims.size() < b.victims.size(); });
    has_more_ = has_more_ || one->has_more;
    pieces_ += made.pieces.size();
    members_.insert(members_.end(), one->members.size(), static_cast<std::uint32_t>(kinds_.size()));
    kinds_.push_back(std::move(made));
  }
  fewest_after_.assign(members_.size(), 0);
  alike_from_.assign(members_.size(), 1);
  for (std::size_t i = members_.size(); i-- > 1;) {
    const bool alike = members_[i - 1] == members_[i];
    const std::vector<piece_choice>& next = kinds_[members_[i]].pieces;
    if (alike) alike_from_[i - 1] = alike_from_[i] + 1;
    fewest_after_[i - 1] = fewest_after_[i];
    if (!alike && !next.empty()) fewest_after_[i - 1] += alike_from_[i] * next.front().victims.size();
  }
}

/// The choices up to the last member. Nodes that a member has for itself are filled first, then those that it needs,
/// then those that another one may need.
piece_set piece_sets::made_of(std::uint32_t last, positions victims) const {
  std::vector<const choice*> chosen;
  for (std::uint32_t at = last; at != no_row; at = choices_[at].before) chosen.push_back(&choices_[at]);
  const std::vector<std::map<node_row, std::int64_t>> taken = places_taken(chosen);
  piece_set made{std::move(victims), {}};
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const choice& one = *chosen[i];
    const std::span<const sub_group_row> alike = kinds_[members_[one.member]].members;
    std::vector<node_row> nodes = piece_of(one).offered->nodes;
    if (!taken.empty()) {
      const auto rank = [&](node_row row) {
        const auto at = taken[i].find(row);
        if (at == taken[i].end()) return 2;
        return at->second == places_for(0, row) ? 0 : 1;
      };
      std::stable_sort(nodes.begin(), nodes.end(), [&](node_row a, node_row b) { return rank(a) < rank(b); });
    }
    made.parts.push_back({alike[alike.size() - alike_from_[one.member]], piece_of(one).offered, std::move(nodes)});
  }
  return made;
}

std::vector<piece_set> piece_sets::find(std::size_t most, std::int64_t looks) {
  std::vector<piece_set> found;
  std::set<positions> known;
  choices_.clear();
  open_.clear();
  is_cut_ = has_more_;
  deep_ = false;
  if (members_.empty()) return {};
  add(no_row, 0, 0);
  const std::int64_t most_looks = std::max(looks, static_cast<std::int64_t>(pieces_));  // all of a single member's
  // Where many small pieces are in each other's way a first set is looked for once more, without regard to its size.
  for (std::int64_t left = most_looks; !open_.empty() && found.size() <= most; --left) {
    if (left <= 0 && (deep_ || !found.empty())) break;
    if (left <= 0) {
      left = most_looks;
      deep_ = true;
      std::make_heap(open_.begin(), open_.end(), [this](auto a, auto b) { return is_later(a, b); });
    }
    std::pop_heap(open_.begin(), open_.end(), [this](auto a, auto b) { return is_later(a, b); });
    const std::uint32_t at = open_.back();
    open_.pop_back();
    const choice one = choices_[at];
    add(one.before, one.member, one.piece + 1);
    if (!fits(one)) continue;
    const positions& own = piece_of(one).victims;
    positions all = one.before == no_row ? own : union_of(choices_[one.before].victims, own);
    if (one.member + 1 == members_.size()) {
      if (known.insert(all).second) found.push_back(made_of(at, std::move(all)));
      continue;
    }
    choices_[at].victims = std::move(all);
    // Of members alike the first one has the first piece: others would be the same sets.
    add(at, one.member + 1, members_[one.member] == members_[one.member + 1] ? one.piece : 0);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const piece_set& a, const piece_set& b) { return a.victims.size() < b.victims.size(); });
  is_cut_ = is_cut_ || !open_.empty() || found.size() > most;
  if (found.size() > most) found.resize(most);
  return found;
}

void piece_sets::add(std::uint32_t before, std::uint32_t member, std::uint32_t piece) {
  const std::vector<piece_choice>& pieces = kinds_[members_[member]].pieces;
  if (piece >= pieces.size()) return;
  const std::size_t chosen = before == no_row ? 0 : choices_[before].victims.size();
  const std::size_t estimate = chosen + alike_from_[member] * pieces[piece].victims.size() + fewest_after_[member];
  open_.push_back(static_cast<std::uint32_t>(choices_.size()));
  choices_.push_back({before, member, piece, estimate, {}});
  std::push_heap(open_.begin(), open_.end(), [this](auto a, auto b) { return is_later(a, b); });
}

/// Of equal ones what is nearer to being complete comes first, then what was added last: down, before other branches.
bool piece_sets::is_later(std::uint32_t a, std::uint32_t b) const {
  const choice& x = choices_[a];
  const choice& y = choices_[b];
  if (deep_ && x.member != y.member) return x.member < y.member;
  if (x.estimate != y.estimate) return x.estimate > y.estimate;
  if (x.member != y.member) return x.member < y.member;
  return a < b;
}

/// The piece can stand beside those chosen before, or overlap them where nodes have room for the pods of both.
bool piece_sets::fits(const choice& one) const {
  const piece_choice& mine = piece_of(one);
  std::vector<const choice*> chosen{&one};
  std::vector<const choice*> others;
  for (std::uint32_t at = one.before; at != no_row; at = choices_[at].before) {
    const piece_choice& other = piece_of(choices_[at]);
    if (!have_one_home(*mine.offered, *other.offered)) return false;
    if (!share_some(mine.nodes, other.nodes)) {
      others.push_back(&choices_[at]);
      continue;
    }
    const std::array<const choice*, 2> both{&one, &choices_[at]};
    if (!have_room(both)) return false;
    chosen.push_back(&choices_[at]);
  }
  if (chosen.size() == 1) return true;
  // Who overlaps those that it overlaps may have to make room for them.
  for (std::size_t i = 1; i < chosen.size(); ++i) {
    const auto overlap = [&](const choice* other) {
      return share_some(piece_of(*chosen[i]).nodes, piece_of(*other).nodes);
    };
    const auto first = std::stable_partition(others.begin(), others.end(), std::not_fn(overlap));
    chosen.insert(chosen.end(), first, others.end());
    others.erase(first, others.end());
  }
  return have_room(chosen) && (requests_.size() > 1 || !places_taken(chosen).empty());
}

/// Which places the pods of each member can take so that there are enough for all; empty: there are not, or pods of
/// several sizes could take them. Pods move on to other nodes of their piece until those that come later have places
/// (augmenting paths).
std::vector<std::map<node_row, std::int64_t>> piece_sets::places_taken(std::span<const choice* const> chosen) const {
  if (requests_.size() != 1) return {};
  std::map<node_row, std::int64_t> left;
  for (const choice* one : chosen) {
    for (const node_row row : piece_of(*one).nodes) left.try_emplace(row, places_for(0, row));
  }
  std::vector<std::map<node_row, std::int64_t>> taken(chosen.size());
  std::vector<std::uint8_t> asked;  // by member, to move a pod
  const std::function<bool(std::size_t)> take_one = [&](std::size_t member) {
    asked[member] = 1;
    const std::vector<node_row>& nodes = piece_of(*chosen[member]).offered->nodes;
    const auto free = std::find_if(nodes.begin(), nodes.end(), [&](node_row row) { return left[row] > 0; });
    if (free != nodes.end()) {
      --left[*free];
      ++taken[member][*free];
      return true;
    }
    for (const node_row row : nodes) {
      for (std::size_t other = 0; other < chosen.size(); ++other) {
        if (asked[other] != 0 || !taken[other].contains(row) || !take_one(other)) continue;
        if (--taken[other][row] == 0) taken[other].erase(row);
        ++taken[member][row];
        return true;
      }
    }
    return false;
  };
  for (std::size_t member = 0; member < chosen.size(); ++member) {
    for (std::int64_t pods = kinds_[members_[chosen[member]->member]].pods.front(); pods > 0; --pods) {
      asked.assign(chosen.size(), 0);
      if (!take_one(member)) return {};
    }
  }
  return taken;
}

/// By amounts: for the pods that ask for at least as much as one of them there are so many places on all nodes.
bool piece_sets::have_room(std::span<const choice* const> chosen) const {
  std::vector<node_row> nodes;
  for (const choice* one : chosen) nodes = union_of(nodes, piece_of(*one).nodes);
  for (std::size_t request = 0; request < requests_.size(); ++request) {
    std::int64_t pods = 0;
    for (const choice* one : chosen) pods += kinds_[members_[one->member]].pods[request];
    for (auto row = nodes.begin(); row != nodes.end() && pods > 0; ++row) pods -= places_for(request, *row);
    if (pods > 0) return false;
  }
  return true;
}

std::int64_t piece_sets::places_for(std::size_t request, node_row row) const {
  const std::size_t at = static_cast<std::size_t>(row) * c_.state().dims();
  std::int64_t most = std::numeric_limits<std::int32_t>::max();
  for (std::size_t d = 0; d < requests_[request].size(); ++d) {
    const std::int64_t asked = requests_[request][d];
    if (asked <= 0) continue;
    const std::int64_t free = (*c_.live.idle)[at + d] + (*c_.live.releasing)[at + d] + more_[at + d];
    most = std::min(most, std::max<std::int64_t>(0, free) / asked);
  }
  return most;
}

}  // namespace kaisched::actions
