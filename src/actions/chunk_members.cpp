#include "actions/chunk_members.hpp"

#include <algorithm>

namespace kaisched::actions {

chunk_members::chunk_members(const framework::session_state& c, std::span<const pod_row> chunk) {
  const model::cluster_state& s = c.state();
  places_.reserve(chunk.size());
  for (const pod_row p : chunk) places_.push_back({s.pods[p].sub, static_cast<std::uint32_t>(places_.size())});
  std::sort(places_.begin(), places_.end(), [](const chunk_place& a, const chunk_place& b) {
    return a.set != b.set ? a.set < b.set : a.in_chunk < b.in_chunk;
  });
  pods_.reserve(chunk.size());
  for (const chunk_place& one : places_) {
    pods_.push_back(chunk[one.in_chunk]);
    if (one.set != no_row && (with_pods_.empty() || with_pods_.back() != one.set)) with_pods_.push_back(one.set);
  }
  for (std::size_t begin = 0, end = with_pods_.size(); begin < end;) {  // level by level towards the root
    for (std::size_t i = begin; i < end; ++i) {
      const sub_group_row above = s.subs[with_pods_[i]].parent;
      if (above != no_row) with_pods_.push_back(above);
    }
    begin = end;
    std::sort(with_pods_.begin() + static_cast<std::ptrdiff_t>(begin), with_pods_.end());
    with_pods_.erase(std::unique(with_pods_.begin() + static_cast<std::ptrdiff_t>(begin), with_pods_.end()),
                     with_pods_.end());
    end = with_pods_.size();
  }
  std::sort(with_pods_.begin(), with_pods_.end());
  with_pods_.erase(std::unique(with_pods_.begin(), with_pods_.end()), with_pods_.end());
}

std::pair<std::size_t, std::size_t> chunk_members::range_of(sub_group_row pod_set) const {
  const auto first = std::lower_bound(places_.begin(), places_.end(), pod_set,
                                      [](const chunk_place& one, sub_group_row wanted) { return one.set < wanted; });
  const auto last = std::upper_bound(first, places_.end(), pod_set,
                                     [](sub_group_row wanted, const chunk_place& one) { return wanted < one.set; });
  return {static_cast<std::size_t>(first - places_.begin()), static_cast<std::size_t>(last - places_.begin())};
}

std::span<const pod_row> chunk_members::of(sub_group_row pod_set) const {
  const auto [first, last] = range_of(pod_set);
  return std::span<const pod_row>(pods_.data(), pods_.size()).subspan(first, last - first);
}

bool chunk_members::has_pods(sub_group_row member) const {
  return std::binary_search(with_pods_.begin(), with_pods_.end(), member);
}

std::vector<pod_row> chunk_members::below(const framework::session_state& c, sub_group_row member) const {
  const model::cluster_state& s = c.state();
  std::vector<std::pair<std::uint32_t, pod_row>> found;  // by place in the chunk
  std::vector<sub_group_row> open{member};
  while (!open.empty()) {
    const sub_group_row one = open.back();
    open.pop_back();
    if (!has_pods(one)) continue;
    const auto [first, last] = range_of(one);
    for (std::size_t i = first; i < last; ++i) found.emplace_back(places_[i].in_chunk, pods_[i]);
    if (!s.subs[one].is_set) continue;
    for (sub_group_row child = s.subs[one].first_child; child != no_row; child = s.subs[child].next_sibling)
      open.push_back(child);
  }
  std::sort(found.begin(), found.end());
  std::vector<pod_row> pods;
  pods.reserve(found.size());
  for (const auto& [place, pod] : found) pods.push_back(pod);
  return pods;
}

}  // namespace kaisched::actions
