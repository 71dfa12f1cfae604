#include "actions/chunk_members.hpp"

#include <algorithm>
#include <numeric>

namespace kaisched::actions {

chunk_members::chunk_members(const work::core& c, std::span<const pod_row> chunk) : place_of_(chunk.size()) {
  const model::cluster_state& s = c.state();
  std::iota(place_of_.begin(), place_of_.end(), 0U);
  std::stable_sort(place_of_.begin(), place_of_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return s.pods[chunk[a]].sub < s.pods[chunk[b]].sub; });
  pods_.reserve(chunk.size());
  set_of_.reserve(chunk.size());
  for (const std::uint32_t place : place_of_) {
    pods_.push_back(chunk[place]);
    set_of_.push_back(s.pods[chunk[place]].sub);
  }
  std::vector<sub_group_row> added = set_of_;
  while (!added.empty()) {  // level by level towards the root
    std::sort(added.begin(), added.end());
    added.erase(std::unique(added.begin(), added.end()), added.end());
    std::erase(added, no_row);
    with_pods_.insert(with_pods_.end(), added.begin(), added.end());
    for (sub_group_row& one : added) one = s.subs[one].parent;
  }
  std::sort(with_pods_.begin(), with_pods_.end());
  with_pods_.erase(std::unique(with_pods_.begin(), with_pods_.end()), with_pods_.end());
}

std::pair<std::size_t, std::size_t> chunk_members::range_of(sub_group_row pod_set) const {
  const auto [first, last] = std::equal_range(set_of_.begin(), set_of_.end(), pod_set);
  return {static_cast<std::size_t>(first - set_of_.begin()), static_cast<std::size_t>(last - set_of_.begin())};
}

std::span<const pod_row> chunk_members::of(sub_group_row pod_set) const {
  const auto [first, last] = range_of(pod_set);
  return std::span(pods_).subspan(first, last - first);
}

bool chunk_members::has_pods(sub_group_row member) const {
  return std::binary_search(with_pods_.begin(), with_pods_.end(), member);
}

std::vector<pod_row> chunk_members::below(const work::core& c, sub_group_row member) const {
  const model::cluster_state& s = c.state();
  std::vector<std::pair<std::uint32_t, pod_row>> found;  // by place in the chunk
  std::vector<sub_group_row> open{member};
  while (!open.empty()) {
    const sub_group_row one = open.back();
    open.pop_back();
    if (!has_pods(one)) continue;
    const auto [first, last] = range_of(one);
    for (std::size_t i = first; i < last; ++i) found.emplace_back(place_of_[i], pods_[i]);
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
