#include "model/dependencies.hpp"

#include <algorithm>
#include <utility>

#include <kaisched/table.hpp>

#include "model/account.hpp"

namespace kaisched::model {

namespace {

template <class Visit>
void each_pod(const cluster_state& s, group_row g, Visit visit) {
  const group_core& group = s.groups[g];
  for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) visit(p);
  }
}

/// Rows of groups that are named, by name. Snapshots have no index of names.
std::map<std::string_view, group_row> rows_of(const cluster_state& s, std::vector<std::string_view> names) {
  std::map<std::string_view, group_row> rows;
  std::sort(names.begin(), names.end());
  for (group_row g = 0; g < s.group_slots; ++g) {
    if (s.groups[g].live && std::binary_search(names.begin(), names.end(), s.group_names[g]))
      rows.emplace(s.group_names[g], g);
  }
  return rows;
}

bool fulfils(const group_progress& progress, dependency_kind wanted) {
  switch (wanted) {
    case dependency_kind::ok:
      return progress.succeeded;
    case dependency_kind::failed:
      return progress.ended && !progress.succeeded;
    case dependency_kind::any:
      return progress.ended;
    case dependency_kind::started:
      return progress.started;
  }
  return false;
}

}  // namespace

result<after_entry> parse_after(std::string_view text) {
  constexpr std::string_view never = "never:";
  if (text.starts_with(never) && text.size() > never.size())
    return after_entry{dependency_kind::ok, true, std::string(text.substr(never.size()))};
  result<dependency> read = parse_dependency(text);
  if (!read) return read.failure();
  return after_entry{read->kind, false, std::move(read->group)};
}

group_progress progress_of(const cluster_state& s, group_row g) {
  constexpr std::uint32_t over = bit(pod_status::succeeded) | bit(pod_status::failed);
  group_progress made{s.group_extras[g].last_start != unset, true, true};
  bool any = false;
  const auto count = [&](pod_row p) {
    const auto status = static_cast<pod_status>(s.live.pod_state[p]);
    any = true;
    made.started = made.started || status == pod_status::running || is_in(status, over);
    made.ended = made.ended && is_in(status, over);
    made.succeeded = made.succeeded && status == pod_status::succeeded;
  };
  each_pod(s, g, count);
  for (pod_row p = s.group_extras[g].first_stray; p != no_row; p = s.pods[p].next) count(p);
  made.ended = made.ended && any;
  made.succeeded = made.succeeded && any;
  return made;
}

open_dependencies find_open_dependencies(const cluster_state& s) {
  open_dependencies waiting;
  if (s.dependent_groups == 0) return waiting;
  for (const group_row g : *s.pending_groups) {
    if (s.group_extras[g].after.empty()) continue;
    std::vector<open_dependency>& entries = waiting[g];
    for (const std::string_view one : split_list(s.group_extras[g].after))
      entries.push_back({*parse_after(one), no_row, false});  // read when the row was
  }
  std::vector<std::string_view> names;
  for (const auto& [g, entries] : waiting) {
    for (const open_dependency& one : entries) names.push_back(one.entry.group);
  }
  const std::map<std::string_view, group_row> rows = rows_of(s, std::move(names));
  std::map<group_row, group_progress> known;
  for (auto at = waiting.begin(); at != waiting.end();) {
    std::erase_if(at->second, [&](open_dependency& one) {
      const auto found = rows.find(one.entry.group);
      if (one.entry.never || found == rows.end()) return false;
      one.group = found->second;
      const auto [progress, fresh] = known.try_emplace(one.group);
      if (fresh) progress->second = progress_of(s, one.group);
      one.ended = progress->second.ended;
      return fulfils(progress->second, one.entry.kind);
    });
    at = at->second.empty() ? waiting.erase(at) : std::next(at);
  }
  return waiting;
}

cluster_state with_gates(const cluster_state& s, const open_dependencies& waiting) {
  cluster_state made = s;
  for (const auto& [g, entries] : waiting) {
    each_pod(s, g, [&](pod_row p) {
      if (static_cast<pod_status>(s.live.pod_state[p]) != pod_status::pending) return;
      account_pod(made, made.live, p, -1);
      made.live.pod_state.write(p) = static_cast<std::uint8_t>(pod_status::gated);
      account_pod(made, made.live, p, 1);
    });
  }
  std::erase_if(made.pending_groups.write(), [&](group_row g) { return waiting.contains(g); });
  return made;
}

}  // namespace kaisched::model
