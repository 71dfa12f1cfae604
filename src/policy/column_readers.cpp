#include "policy/column_readers.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <kaisched/schema.hpp>

#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

using model::cluster_state;

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// What a policy consists of.
class makeup {
 public:
  explicit makeup(const policy_options& o) : o_(o) {}

  [[nodiscard]] const policy_options& options() const { return o_; }
  [[nodiscard]] bool part(std::string_view name) const { return contains(o_.parts, name); }
  [[nodiscard]] bool action(std::string_view name) const { return contains(o_.actions, name); }
  /// Of the action `volcano`.
  [[nodiscard]] bool plugin(std::string_view name) const {
    return action("volcano") &&
           std::any_of(o_.volcano_tiers.begin(), o_.volcano_tiers.end(), [&](std::string_view tier) {
             for (;;) {
               const std::size_t plus = tier.find('+');
               if (tier.substr(0, plus) == name) return true;
               if (plus == std::string_view::npos) return false;
               tier.remove_prefix(plus + 1);
             }
           });
  }
  [[nodiscard]] bool tier_setting(std::string_view text) const { return contains(o_.volcano_settings, text); }
  [[nodiscard]] bool multifactor(std::int64_t policy_options::* points) const {
    return part("multifactor") && o_.*points > 0;
  }
  /// Queues are quotas of amounts, in whatever form.
  [[nodiscard]] bool divides() const { return part("proportion") || action("kueue") || action("yunikorn"); }
  [[nodiscard]] bool evicts() const {
    constexpr std::array actions{"consolidation", "reclaim",  "preempt",    "stalegangeviction",
                                 "volcano",       "yunikorn", "kueue",      "backfill",
                                 "hived",         "resize",   "repartition"};
    return std::any_of(actions.begin(), actions.end(), [&](std::string_view one) { return action(one); });
  }
  [[nodiscard]] bool places_by_topology() const {
    return (part("topology") && !action("volcano") && !action("yunikorn")) || action("kueue") ||
           plugin("network-topology-aware");
  }

 private:
  const policy_options& o_;
};

/// A part that a host brings may look at anything.
bool is_built_in(const policy_options& o) {
  const auto known = built_in_parts();
  return std::all_of(o.parts.begin(), o.parts.end(), [&](const std::string& name) {
    return std::any_of(known.begin(), known.end(), [&](const part_entry& one) { return one.name == name; });
  });
}

/// One column: whether it says something, and which policies look at it.
struct reader {
  table_column column;
  bool (*told_by_queue)(const cluster_state&, const model::queue_info&);
  bool (*told_by_group)(const cluster_state&, group_row of, group_row first);
  bool (*read)(const makeup&);
};

/// Whether a member of the group's tree, its root included, names a level.
bool names_level(const cluster_state& s, group_row g, std::string model::topology_ask::* level) {
  const model::group_core& group = s.groups[g];
  for (sub_group_row i = 0; i < group.sub_count; ++i) {
    const model::sub_info& one = s.subs[group.first_sub + i];
    if (one.together && !((*one.together).*level).empty()) return true;
  }
  return false;
}

/// Whether pods of the group have to start together. Units, room that is kept for pods, and pods that no member counts
/// concern all policies: then nothing is said.
bool is_gang(const cluster_state& s, group_row g, group_row) {
  const model::group_core& group = s.groups[g];
  bool says = false;
  for (sub_group_row i = 0; i < group.sub_count; ++i) {
    const model::sub_info& one = s.subs[group.first_sub + i];
    if (one.unit > 0) return false;
    says = says || (!one.is_set && one.min > 1);
  }
  return says && s.nominated_pods == 0 && s.group_extras[g].first_stray == no_row;
}

constexpr std::array readers{
    reader{{table_kind::queue, col::queue_parent},
           [](const cluster_state& s, const model::queue_info& q) {
             // Jobs of an inner queue, and nodes that are reserved for a queue and those below it, concern all
             // policies.
             return q.parent != no_row && s.reservations->empty() && (*s.queues)[q.parent].groups == 0;
           },
           nullptr,
           [](const makeup& m) {
             return m.divides() || m.action("hived") || m.plugin("capacity") || m.plugin("proportion") ||
                    m.plugin("drf") || m.part("multifactor") || m.part("gputypes") || m.part("minruntime");
           }},
    reader{{table_kind::queue, col::queue_priority},
           [](const cluster_state&, const model::queue_info& q) { return q.priority != 100; },
           nullptr,
           [](const makeup& m) {
             return m.part("proportion") || m.multifactor(&policy_options::factor_queue) ||
                    (m.action("volcano") && !m.tier_setting("jobs.one_queue=true"));
           }},
    reader{{table_kind::queue, col::queue_quota},
           [](const cluster_state&, const model::queue_info& q) {
             return std::any_of(q.quota.begin(), q.quota.end(), [](std::int64_t a) { return a != unlimited; });
           },
           nullptr,
           [](const makeup& m) { return m.divides() || m.action("hived") || m.plugin("capacity"); }},
    reader{{table_kind::queue, col::queue_limit},
           [](const cluster_state&, const model::queue_info& q) {
             return std::any_of(q.limit.begin(), q.limit.end(), [](std::int64_t a) { return a != unlimited; });
           },
           nullptr,
           [](const makeup& m) { return m.divides() || m.plugin("capacity") || m.plugin("proportion"); }},
    reader{{table_kind::queue, col::queue_over_quota_weight},
           [](const cluster_state&, const model::queue_info& q) {
             return std::any_of(q.weight.begin(), q.weight.end(), [](double a) { return a != 1; });
           },
           nullptr,
           [](const makeup& m) {
             return m.part("proportion") || m.multifactor(&policy_options::factor_fair_share) ||
                    m.plugin("proportion") || m.plugin("drf");
           }},
    reader{{table_kind::queue, col::queue_usage},
           [](const cluster_state&, const model::queue_info& q) {
             return std::any_of(q.usage.begin(), q.usage.end(), [](double a) { return a != 0; });
           },
           nullptr,
           [](const makeup& m) {
             return (m.part("proportion") && m.options().fair_share_k > 0) ||
                    m.multifactor(&policy_options::factor_fair_share);
           }},
    reader{{table_kind::queue, col::queue_reclaim_min_runtime},
           [](const cluster_state&, const model::queue_info& q) { return q.reclaim_min_runtime != unset; },
           nullptr,
           [](const makeup& m) { return m.part("minruntime"); }},
    reader{{table_kind::queue, col::queue_preempt_min_runtime},
           [](const cluster_state&, const model::queue_info& q) { return q.preempt_min_runtime != unset; },
           nullptr,
           [](const makeup& m) { return m.part("minruntime"); }},
    reader{{table_kind::queue, col::queue_guarantee},
           [](const cluster_state&, const model::queue_info& q) { return q.guarantee != model::quota_vector{}; },
           nullptr,
           [](const makeup& m) { return m.action("volcano"); }},
    reader{{table_kind::queue, col::queue_reclaimable},
           [](const cluster_state&, const model::queue_info& q) { return !q.reclaimable; },
           nullptr,
           [](const makeup& m) { return m.action("volcano"); }},
    reader{{table_kind::pod_group, col::pod_group_preemptible},
           nullptr,
           [](const cluster_state& s, group_row g, group_row) { return !s.groups[g].preemptible; },
           [](const makeup& m) { return m.evicts(); }},
    reader{{table_kind::pod_group, col::pod_group_priority},
           nullptr,
           [](const cluster_state& s, group_row g, group_row first) {
             return s.groups[g].priority != s.groups[first].priority;
           },
           [](const makeup& m) {
             return m.part("priority") || m.multifactor(&policy_options::factor_priority) || m.evicts() ||
                    m.part("las_2d");
           }},
    reader{{table_kind::pod_group, col::pod_group_min_member},
           nullptr,
           is_gang,
           [](const makeup& m) { return !m.tier_setting("jobs.by_pod=true") || m.plugin("gang"); }},
    reader{
        {table_kind::pod_group, col::pod_group_deadline},
        nullptr,
        [](const cluster_state& s, group_row g, group_row) { return s.group_extras[g].deadline != unset; },
        [](const makeup& m) { return m.part("deadline") || (m.action("backfill") && m.options().backfill_deadlines); }},
    reader{{table_kind::pod_group, col::pod_group_runtime_estimate},
           nullptr,  // with reservations of nodes all policies look at it
           [](const cluster_state& s, group_row g, group_row) {
             return s.group_extras[g].runtime_estimate != unset && s.reservations->empty();
           },
           [](const makeup& m) {
             constexpr std::array parts{"sjf", "srtf", "srsf", "completion_rate", "deadline"};
             return m.action("backfill") ||
                    std::any_of(parts.begin(), parts.end(), [&](std::string_view one) { return m.part(one); });
           }},
    reader{{table_kind::pod_group, col::pod_group_required_level},
           nullptr,
           [](const cluster_state& s, group_row g, group_row) {
             return names_level(s, g, &model::topology_ask::required_level);
           },
           [](const makeup& m) { return m.places_by_topology() || m.action("yunikorn"); }},
    reader{{table_kind::pod_group, col::pod_group_preferred_level},
           nullptr,
           [](const cluster_state& s, group_row g, group_row) {
             return names_level(s, g, &model::topology_ask::preferred_level);
           },
           [](const makeup& m) { return m.places_by_topology(); }},
};

}  // namespace

std::vector<table_column> told_columns(const cluster_state& s) {
  std::vector<table_column> told;
  group_row first = 0;
  while (first < s.group_slots && !s.groups[first].live) ++first;
  for (const reader& one : readers) {
    bool says = false;
    if (one.told_by_queue != nullptr) {
      says = std::any_of(s.queues->begin(), s.queues->end(),
                         [&](const model::queue_info& q) { return q.live && one.told_by_queue(s, q); });
    } else {
      for (group_row g = first; g < s.group_slots && !says; ++g)
        says = s.groups[g].live && one.told_by_group(s, g, first);
    }
    if (says) told.push_back(one.column);
  }
  std::sort(told.begin(), told.end());
  return told;
}

bool reads_column(const policy_options& o, const table_column& column) {
  if (!is_built_in(o)) return true;
  const auto found =
      std::find_if(readers.begin(), readers.end(), [&](const reader& one) { return one.column == column; });
  return found == readers.end() || found->read(makeup(o));
}

std::vector<std::string> unread_columns(const policy_options& o, const std::vector<table_column>& told) {
  std::vector<std::string> names;
  for (const table_info& table : schema()) {
    for (const column_info& column : table.columns) {
      if (std::binary_search(told.begin(), told.end(), table_column{table.kind, column.id}) &&
          !reads_column(o, {table.kind, column.id}))
        names.push_back(std::string(table.name) + "." + std::string(column.name));
    }
  }
  return names;
}

}  // namespace kaisched::policy
