// Rules about queues and pod groups.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/lint_rules.hpp"
#include "cli/terminal.hpp"
#include "model/dependencies.hpp"

namespace kaisched::cli {

namespace {

using model::cluster_state;
using model::quota_vector;

bool is_waiting(const cluster_state& s, pod_row p) {
  const auto status = static_cast<pod_status>(s.live.pod_state[p]);
  return status == pod_status::pending || status == pod_status::gated;
}

/// Sum of the quotas of the children of a queue, or of the top-level queues. An unlimited child makes no promise that
/// could be broken.
quota_vector sum_of_quotas(const cluster_state& s, queue_row parent) {
  quota_vector sum{};
  for (const model::queue_info& queue : *s.queues) {
    if (!queue.live || queue.parent != parent) continue;
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += std::max<std::int64_t>(0, queue.quota[r]);
  }
  return sum;
}

template <class Visit>
void for_queues(const cluster_state& s, Visit visit) {
  for (queue_row q = 0; q < s.queues->size(); ++q) {
    if ((*s.queues)[q].live) visit(q, (*s.queues)[q]);
  }
}

template <class Visit>
void for_groups(const cluster_state& s, Visit visit) {
  for (group_row g = 0; g < s.group_slots; ++g) {
    if (s.groups[g].live) visit(g, s.groups[g]);
  }
}

std::int64_t total(const cluster_state& s, group_row group, std::uint32_t model::sub_counts::* field) {
  const model::group_core& g = s.groups[group];
  std::int64_t sum = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) sum += s.live.counts[sub].*field;
  return sum;
}

/// The least that a group must hold to run: the smallest pods of every pod set that is needed. Sets that need only some
/// of their members are left out, so that the sum is never too large.
quota_vector least_of_gang(const cluster_state& s, group_row group) {
  const model::group_core& g = s.groups[group];
  quota_vector sum{};
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = s.subs[sub];
    if (info.is_set && info.min != unset && info.min < std::int64_t{info.members}) return {};
    if (info.is_set || info.min <= 0) continue;
    std::array<std::vector<std::int64_t>, quota_dimensions> amounts;
    for (pod_row p = info.first_pod; p != no_row; p = s.pods[p].next) {
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) amounts[r].push_back(s.class_of(p).requests(r));
    }
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      std::sort(amounts[r].begin(), amounts[r].end());
      const std::size_t needed = std::min<std::size_t>(static_cast<std::size_t>(info.min), amounts[r].size());
      for (std::size_t i = 0; i < needed; ++i) sum[r] += amounts[r][i];
    }
  }
  return sum;
}

/// Calls `visit(queue, resource)` for bounds on the path of a group that its gang passes; the first one only.
void first_bound_passed(const lint_input& in, group_row group, const quota_vector model::queue_info::* bound,
                        std::string_view name) {
  const cluster_state& s = in.state;
  if (total(s, group, &model::sub_counts::pending) == 0) return;
  const quota_vector least = least_of_gang(s, group);
  for (queue_row q = s.groups[group].queue; q != no_row; q = (*s.queues)[q].parent) {
    const model::queue_info& queue = (*s.queues)[q];
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t most = (queue.*bound)[r];
      if (most < 0 || least[r] <= most) continue;
      in.add("pod_group", s.group_names[group],
             fmt::format("needs {} at once, the {} of queue {} is {}", quota_text(r, least[r]), name, queue.name,
                         quota_text(r, most)));
      return;
    }
  }
}

}  // namespace

void lint_quota_above_capacity(const lint_input& in) {
  const cluster_state& s = in.state;
  quota_vector capacity{};
  for (node_row row = 0; row < s.node_count(); ++row) {
    if (!(*s.nodes)[row]->open()) continue;
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) capacity[r] += (*s.capacity)[std::size_t{row} * s.dims() + r];
  }
  const quota_vector sum = sum_of_quotas(s, no_row);
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (sum[r] <= capacity[r]) continue;
    in.add("", "",
           fmt::format("the quotas of the top-level queues are {} together, the nodes that can be used have {}",
                       quota_text(r, sum[r]), quota_text(r, capacity[r])));
  }
}

void lint_quota_above_parent(const lint_input& in) {
  for_queues(in.state, [&](queue_row q, const model::queue_info& queue) {
    if (queue.children == 0) return;
    const quota_vector sum = sum_of_quotas(in.state, q);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      if (queue.quota[r] < 0 || sum[r] <= queue.quota[r]) continue;
      in.add("queue", queue.name,
             fmt::format("its children have quotas of {} together, it has {} itself", quota_text(r, sum[r]),
                         quota_text(r, queue.quota[r])));
    }
  });
}

void lint_quota_above_limit(const lint_input& in) {
  for_queues(in.state, [&](queue_row, const model::queue_info& queue) {
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      if (queue.limit[r] < 0 || queue.quota[r] <= queue.limit[r]) continue;
      in.add(
          "queue", queue.name,
          fmt::format("its quota is {}, its limit {}", quota_text(r, queue.quota[r]), quota_text(r, queue.limit[r])));
    }
  });
}

void lint_empty_queue(const lint_input& in) {
  for_queues(in.state, [&](queue_row, const model::queue_info& queue) {
    if (queue.children == 0 && queue.groups == 0) in.add("queue", queue.name, "has no pod groups");
  });
}

void lint_inner_queue(const lint_input& in) {
  const cluster_state& s = in.state;
  for_groups(s, [&](group_row g, const model::group_core& group) {
    if (group.queue == no_row || (*s.queues)[group.queue].children == 0) return;
    in.add("pod_group", s.group_names[g],
           fmt::format("is in queue {}, which has child queues", (*s.queues)[group.queue].name));
  });
}

void lint_empty_group(const lint_input& in) {
  for_groups(in.state, [&](group_row g, const model::group_core&) {
    const bool strays = in.state.group_extras[g].first_stray != no_row;
    if (!strays && total(in.state, g, &model::sub_counts::total) == 0) {
      in.add("pod_group", in.state.group_names[g], "has no pods");
    }
  });
}

void lint_gang_too_large(const lint_input& in) {
  const cluster_state& s = in.state;
  for_groups(s, [&](group_row g, const model::group_core& group) {
    // Without pods it is another rule's; where nothing waits, or pods are leaving, the job is ending.
    const std::int64_t waiting = total(s, g, &model::sub_counts::pending) + total(s, g, &model::sub_counts::gated);
    const std::int64_t leaving =
        total(s, g, &model::sub_counts::active_used) - total(s, g, &model::sub_counts::active_allocated);
    if (waiting == 0 || leaving > 0) return;
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      const model::sub_info& info = s.subs[sub];
      const std::int64_t there = std::int64_t{s.live.counts[sub].alive} + s.live.counts[sub].succeeded;
      if (info.is_set || info.min <= there) continue;
      const std::string where =
          s.group_extras[g].has_sub_groups ? fmt::format("sub-group {} ", info.name) : std::string();
      in.add("pod_group", s.group_names[g],
             fmt::format("{}needs {} at once and has {}", where, counted(info.min, "pod"), grouped(there)));
    }
  });
}

void lint_gang_above_limit(const lint_input& in) {
  for_groups(in.state, [&](group_row g, const model::group_core&) {
    first_bound_passed(in, g, &model::queue_info::limit, "limit");
  });
}

void lint_gang_above_quota(const lint_input& in) {
  for_groups(in.state, [&](group_row g, const model::group_core& group) {
    if (!group.preemptible) first_bound_passed(in, g, &model::queue_info::quota, "quota");
  });
}

void lint_unknown_sub_group(const lint_input& in) {
  const cluster_state& s = in.state;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live || s.pods[p].group == no_row || s.pods[p].sub != no_row || !is_waiting(s, p)) continue;
    in.add("pod", s.pod_names[p],
           fmt::format("names sub-group {}, which pod group {} does not have", s.pod_extras[p].sub_name,
                       s.group_names[s.pods[p].group]));
  }
}

namespace {

/// Of groups that come after others: whom, by name, and the rows of those that are there.
struct dependencies {
  std::map<std::string_view, group_row> rows;
  std::map<group_row, std::vector<model::after_entry>> entries;
};

dependencies dependencies_of(const cluster_state& s) {
  dependencies found;
  if (s.dependent_groups == 0) return found;
  for_groups(s, [&](group_row g, const model::group_core&) {
    found.rows.emplace(s.group_names[g], g);
    for (const std::string_view one : split_list(s.group_extras[g].after))
      found.entries[g].push_back(*model::parse_after(one));  // read when the row was
  });
  return found;
}

/// Groups that wait for each other, and those between circles.
std::set<group_row> groups_in_circles(const dependencies& of) {
  std::map<group_row, std::set<group_row>> waits_for;
  for (const auto& [g, entries] : of.entries) {
    for (const model::after_entry& one : entries) {
      const auto named = of.rows.find(one.group);
      if (!one.never && named != of.rows.end()) waits_for[g].insert(named->second);
    }
  }
  std::set<group_row> left;
  for (const auto& [g, others] : waits_for) left.insert(g);
  for (std::size_t before = 0; before != left.size();) {
    before = left.size();
    std::erase_if(left, [&](group_row g) {
      return std::ranges::none_of(waits_for[g], [&](group_row other) { return left.contains(other); });
    });
  }
  return left;
}

}  // namespace

void lint_dependency_circle(const lint_input& in) {
  const cluster_state& s = in.state;
  const dependencies all = dependencies_of(s);
  std::set<group_row> left = groups_in_circles(all);
  while (!left.empty()) {
    std::vector<group_row> path{*std::ranges::min_element(left, {}, [&](group_row g) { return s.group_names[g]; })};
    for (;;) {
      const auto& entries = all.entries.at(path.back());
      const auto next = std::ranges::find_if(entries, [&](const model::after_entry& one) {
        const auto named = all.rows.find(one.group);
        return !one.never && named != all.rows.end() && left.contains(named->second);
      });
      if (next == entries.end()) break;  // it leads to a circle that has been told
      const group_row g = all.rows.at(next->group);
      const auto again = std::ranges::find(path, g);
      if (again == path.end()) {
        path.push_back(g);
        continue;
      }
      std::string others;
      for (auto one = again + 1; one != path.end(); ++one)
        others += fmt::format("{}, which comes after ", s.group_names[*one]);
      in.add("pod_group", s.group_names[g],
             fmt::format("comes after {}{}: none of them ever starts", others, others.empty() ? "itself" : "it"));
      break;
    }
    for (const group_row g : path) left.erase(g);
  }
}

void lint_unknown_dependency(const lint_input& in) {
  const cluster_state& s = in.state;
  const dependencies all = dependencies_of(s);
  for (const auto& [g, entries] : all.entries) {
    for (const model::after_entry& one : entries) {
      if (one.never) {
        in.add("pod_group", s.group_names[g], fmt::format("comes after {}, which has left otherwise", one.group));
      } else if (!all.rows.contains(one.group)) {
        in.add("pod_group", s.group_names[g], fmt::format("comes after {}, which is not there", one.group));
      }
    }
  }
}

}  // namespace kaisched::cli
