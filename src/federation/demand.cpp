#include "federation/demand.hpp"

#include <algorithm>

namespace kaisched::federation_detail {

std::uint32_t class_pool::acquire(const std::shared_ptr<const model::pod_class>& one) {
  std::string key = one->ask.key();
  const auto [at, is_new] = by_key_.emplace(key, 0);
  if (is_new) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(entries_.size()));
      entries_.emplace_back();
    }
    at->second = free_.back();
    free_.pop_back();
    entries_[at->second] = {one, std::move(key), 0};
    ++version_;
  }
  ++entries_[at->second].holders;
  return at->second;
}

void class_pool::release(std::uint32_t number) {
  entry& one = entries_[number];
  if (--one.holders > 0) return;
  by_key_.erase(one.key);
  one = {};
  free_.push_back(number);
}

namespace {

using counts_by_class = std::map<std::uint32_t, std::int64_t>;

set_demand set_of(const model::cluster_state& s, sub_group_row row, class_pool& pool, group_demand& all,
                  counts_by_class& of_all) {
  const model::sub_info& sub = s.subs[row];
  set_demand made;
  made.is_set = sub.is_set;
  made.need = sub.min;
  if (sub.together != nullptr && !sub.together->required_level.empty()) {
    made.topology = sub.together->topology;
    made.level = sub.together->required_level;
  }
  if (sub.is_set) {
    for (sub_group_row child = sub.first_child; child != no_row; child = s.subs[child].next_sibling)
      made.members.push_back(set_of(s, child, pool, all, of_all));
    return made;
  }
  std::map<class_row, std::int64_t> rows;
  for (pod_row p = sub.first_pod; p != no_row; p = s.pods[p].next) ++rows[s.pods[p].pod_class];
  counts_by_class mine;
  for (const auto& [row_of_class, count] : rows) {
    const std::shared_ptr<const model::pod_class>& ask = s.classes[row_of_class];
    const std::uint32_t number = pool.acquire(ask);
    mine[number] += count;
    of_all[number] += count;
    all.count += count;
    all.amounts[0] += count * ask->requests(dim_cpu);
    all.amounts[1] += count * ask->requests(dim_memory);
    all.amounts[2] += count * (ask->requests(dim_gpu) + ask->mig_share);
  }
  made.pods.assign(mine.begin(), mine.end());
  return made;
}

void release_set(const set_demand& of, class_pool& pool) {
  for (const auto& [number, count] : of.pods) pool.release(number);
  for (const set_demand& one : of.members) release_set(one, pool);
}

}  // namespace

group_demand demand_of(const model::cluster_state& s, group_row group, class_pool& pool) {
  group_demand made;
  counts_by_class all;
  made.root = set_of(s, s.groups[group].first_sub, pool, made, all);
  made.pods.assign(all.begin(), all.end());
  return made;
}

void release(const group_demand& of, class_pool& pool) { release_set(of.root, pool); }

}  // namespace kaisched::federation_detail
