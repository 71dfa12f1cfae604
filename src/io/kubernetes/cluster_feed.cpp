#include "io/kubernetes/cluster_feed.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <tuple>
#include <utility>

#include <kaisched/schema.hpp>

#include "model/quarantine.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// It may hold devices of its node.
bool uses_devices(const pod_record& pod) {
  constexpr std::array<std::string_view, 4> amounts_alone{"cpu", "ephemeral-storage", "memory", "pods"};
  return !pod.node.empty() &&
         (pod.gpu_memory > 0 || pod.device_count > 0 || !pod.device_requests.empty() ||
          std::any_of(pod.request.begin(), pod.request.end(), [&](const auto& one) {
            return std::find(amounts_alone.begin(), amounts_alone.end(), one.first) == amounts_alone.end();
          }));
}

template <class Index>
void change_index(Index& index, const std::string& at, const std::string& name, bool add) {
  if (at.empty()) return;
  if (add) {
    index[at].insert(name);
    return;
  }
  const auto found = index.find(at);
  if (found == index.end()) return;
  found->second.erase(name);
  if (found->second.empty()) index.erase(found);
}

/// Rows that change seldom.
auto rare_rows(auto& of) {
  return std::tie(of.topologies, of.queues, of.zones, of.device_quotas, of.claims, of.device_classes,
                  of.resource_slices, of.slice_devices, of.claim_requests);
}

/// These are taken out of the others.
cluster_records take_rare(cluster_records& from) {
  cluster_records rare;
  auto to = rare_rows(rare);
  auto rows = rare_rows(from);
  to.swap(rows);
  return rare;
}

/// Takes over the history of queues from the rows as they are now. @return names of those that differ in it.
std::vector<std::string> take_usage(std::vector<queue_record>& to, const std::vector<queue_record>& now) {
  std::vector<std::string> differ;
  if (to.size() != now.size()) return differ;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (to[i].name != now[i].name || to[i].usage == now[i].usage) continue;
    to[i].usage = now[i].usage;
    differ.push_back(now[i].name);
  }
  return differ;
}

table usage_table(const std::vector<queue_record>& of, const std::set<std::string, std::less<>>& names) {
  table made(table_kind::queue, table_op::change);
  table::column& name = made.add(col::queue_name, column_type::string, 0);
  table::column& usage = made.add(col::queue_usage, column_type::f64, quota_dimensions);
  for (const queue_record& one : of) {
    if (!names.contains(one.name)) continue;
    name.push(std::string_view(one.name));
    for (const double part : one.usage) usage.push(part);
  }
  return made;
}

/// Whether rows name nodes, or devices of theirs, beside the pods.
bool depends_on_nodes(const cluster_records& rare) {
  return !rare.zones.empty() || !rare.claims.empty() || !rare.resource_slices.empty();
}

table names_to_remove(table_kind kind, std::uint32_t column, const std::set<std::string, std::less<>>& names) {
  table made(kind, table_op::remove);
  table::column& to = made.add(column, column_type::string, 0);
  for (const std::string& one : names) to.push(std::string_view(one));
  return made;
}

/// Rows of those names that there are.
template <class Row, class Names>
std::vector<Row> rows_of_names(const std::map<std::string, Row, std::less<>>& all, const Names& names) {
  std::vector<Row> rows;
  for (const std::string& name : names) {
    if (const auto found = all.find(name); found != all.end()) rows.push_back(found->second);
  }
  return rows;
}

/// Those of the names that the cluster has.
std::set<std::string, std::less<>> known_budgets(const std::vector<model::disruption_budget_info>& all,
                                                 const std::set<std::string, std::less<>>& of) {
  std::set<std::string, std::less<>> found;
  for (const model::disruption_budget_info& one : all) {
    if (of.contains(one.name)) found.insert(one.name);
  }
  return found;
}

void append(std::vector<table>& to, cluster_input from) {
  for (table& one : from.tables) {
    if (one.rows() > 0) to.push_back(std::move(one));
  }
}

}  // namespace

result<snapshot> cluster_feed::update(cluster_records now, std::vector<std::string> read_again) {
  cluster_records rare = take_rare(now);
  touched what;
  // The host tells it anew all the time, and nothing else of the cluster depends on it.
  for (std::string& name : take_usage(rare_.queues, rare.queues)) what.used_queues.insert(std::move(name));
  const bool same_rare = rare_rows(rare) == rare_rows(rare_);
  rare_ = std::move(rare);
  note_nodes(std::move(now.nodes), what);
  note_groups(std::move(now.groups), std::move(now.sub_groups), what);
  note_pods(std::move(now.pods), read_again, what);
  note_budgets(std::move(now.disruption_budgets), what);
  const bool has_twins = !rare_.nodes.empty() || !rare_.groups.empty();
  if (!is_loaded_ || !same_rare || has_twins || dimensions() != dimensions_ || !touch_left_out(what)) return load();
  touch_dependents(what);
  if (needs_full_load(what) || !apply(what)) return load();
  return cluster_.take_snapshot();
}

void cluster_feed::restart() noexcept {
  is_loaded_ = false;
  nodes_.clear();
  groups_.clear();
  subs_.clear();
  pods_.clear();
  budgets_.clear();
  pods_by_node_.clear();
  pods_by_group_.clear();
  device_users_.clear();
  asked_.clear();
}

// ---- what has changed --------------------------------------------------------------------------------------------

void cluster_feed::note_nodes(std::vector<node_record> now, touched& to) {
  std::map<std::string, node_record, std::less<>> before = std::exchange(nodes_, {});
  for (node_record& row : now) {
    const auto was = before.find(row.name);
    if (was != before.end() && !row.loads.empty() && !was->second.loads.empty() && was->second.loads != row.loads) {
      was->second.loads = row.loads;
      to.loaded_nodes.insert(row.name);
    }
    if (was == before.end() || !(was->second == row)) to.nodes.insert(row.name);
    if (was != before.end()) before.erase(was);
    if (nodes_.contains(row.name)) {
      rare_.nodes.push_back(std::move(row));
    } else {
      std::string name = row.name;
      nodes_.emplace_hint(nodes_.end(), std::move(name), std::move(row));
    }
  }
  for (const auto& [name, row] : before) to.nodes.insert(name);
  for (const std::string& name : to.nodes) to.loaded_nodes.erase(name);  // it comes anew with all that is known of it
}

void cluster_feed::note_groups(std::vector<pod_group_record> groups, std::vector<sub_group_record> subs, touched& to) {
  auto before = std::exchange(groups_, {});
  auto subs_before = std::exchange(subs_, {});
  for (sub_group_record& row : subs) {
    std::vector<sub_group_record>& of_group = subs_[row.group];
    of_group.push_back(std::move(row));
  }
  const auto parts = [](const auto& of, const std::string& name) {
    const auto found = of.find(name);
    return found == of.end() ? nullptr : &found->second;
  };
  const auto same_parts = [&](const std::string& name) {
    const auto* const a = parts(subs_before, name);
    const auto* const b = parts(subs_, name);
    return a == nullptr || b == nullptr ? a == b : *a == *b;
  };
  for (pod_group_record& row : groups) {
    const auto was = before.find(row.name);
    if (was == before.end() || !(was->second == row) || !same_parts(row.name)) to.groups.insert(row.name);
    if (was != before.end()) before.erase(was);
    if (groups_.contains(row.name)) {
      rare_.groups.push_back(std::move(row));
    } else {
      std::string name = row.name;
      groups_.emplace(std::move(name), std::move(row));
    }
  }
  for (const auto& [name, row] : before) to.groups.insert(name);
}

void cluster_feed::count_in(const pod_record& pod, int sign) {
  change_index(pods_by_node_, pod.node, pod.name, sign > 0);
  if (pod.nominated_node != pod.node) change_index(pods_by_node_, pod.nominated_node, pod.name, sign > 0);
  change_index(pods_by_group_, pod.group, pod.name, sign > 0);
  if (uses_devices(pod)) change_index(device_users_, pod.node, pod.name, sign > 0);
  for (const auto& [name, amount] : pod.request) {
    const auto count = asked_.try_emplace(name, 0).first;
    count->second += sign;
    if (count->second == 0) asked_.erase(count);
  }
}

void cluster_feed::note_pods(std::vector<pod_record> now, const std::vector<std::string>& read_again, touched& to) {
  std::map<std::string_view, pod_record*> rows;
  for (pod_record& row : now) rows.emplace(row.name, &row);
  for (const std::string& name : read_again) {
    const auto found = rows.find(name);
    pod_record* const row = found == rows.end() ? nullptr : found->second;
    const auto was = pods_.find(name);
    const bool known = was != pods_.end();
    if (row == nullptr ? !known : known && was->second == *row) continue;
    if (known) {
      touch_pod(name, to);  // with those beside whom it was
      count_in(was->second, -1);
    }
    if (row == nullptr) {
      pods_.erase(was);
      continue;
    }
    count_in(*row, 1);
    pods_.insert_or_assign(name, *row);
    touch_pod(name, to);
  }
}

/// Rows of pods name budgets, whether these are there or not.
void cluster_feed::note_budgets(std::vector<disruption_budget_record> now, touched& to) {
  auto before = std::exchange(budgets_, {});
  for (disruption_budget_record& row : now) {
    const auto was = before.find(row.name);
    if (was == before.end() || !(was->second == row)) to.budgets.insert(row.name);
    if (was != before.end()) before.erase(was);
    std::string name = row.name;
    budgets_.emplace(std::move(name), std::move(row));
  }
  for (const auto& [name, row] : before) to.budgets.insert(name);
}

void cluster_feed::touch_pod(const std::string& name, touched& to) {
  to.pods.insert(name);
  const auto row = pods_.find(name);
  if (row == pods_.end() || !uses_devices(row->second)) return;
  if (const auto others = device_users_.find(row->second.node); others != device_users_.end()) {
    to.pods.insert(others->second.begin(), others->second.end());
  }
}

bool cluster_feed::touch_left_out(touched& to) {
  for (const auto& [key, entry] : *model::state_of(cluster_.take_snapshot()).quarantine) {
    switch (key.kind) {
      case table_kind::pod:
        touch_pod(key.name, to);
        break;
      case table_kind::node:
        to.nodes.insert(key.name);
        break;
      case table_kind::pod_group:
        to.groups.insert(key.name);
        break;
      case table_kind::sub_group:
        to.groups.insert(key.owner);
        break;
      case table_kind::disruption_budget:
        to.budgets.insert(key.name);
        break;
      default:
        break;  // of a kind whose rows are as they were
    }
    if (entry->present && !entry->stands_in && key.kind != table_kind::sub_group) return false;
  }
  return true;
}

/// Pods go before their nodes and groups, and come after them.
void cluster_feed::touch_dependents(touched& to) {
  const auto touch_all = [&](const names_by_name& index, const std::string& at) {
    if (const auto found = index.find(at); found != index.end()) {
      for (const std::string& pod : found->second) touch_pod(pod, to);
    }
  };
  for (const std::string& node : to.nodes) touch_all(pods_by_node_, node);
  for (const std::string& group : to.groups) touch_all(pods_by_group_, group);
}

bool cluster_feed::needs_full_load(const touched& what) const {
  if (!what.nodes.empty() && depends_on_nodes(rare_)) return true;
  if (what.pods.size() * 2 > pods_.size() + 16) return true;  // taking out costs as well
  return std::any_of(what.pods.begin(), what.pods.end(), [&](const std::string& name) {
    const auto row = pods_.find(name);
    return row != pods_.end() && !row->second.claims.empty();
  });
}

// ---- into the cluster --------------------------------------------------------------------------------------------

std::vector<std::string> cluster_feed::dimensions() const {
  std::set<std::string> others;
  for (const auto& [name, row] : nodes_) {
    for (const auto& [resource, amount] : row.capacity) others.insert(resource);
  }
  for (const auto& [resource, count] : asked_) others.insert(resource);
  return dimensions_of(others);
}

cluster_feed::names cluster_feed::known(table_kind kind, entity_kind entity, const names& of) {
  const snapshot before = cluster_.take_snapshot();
  const model::quarantine_list& left_out = *model::state_of(before).quarantine;
  names found;
  for (const std::string& name : of) {
    if (cluster_.find(entity, name) || left_out.contains({kind, {}, model::clean_name(name)})) found.insert(name);
  }
  return found;
}

bool cluster_feed::apply(const touched& what) {
  const bool has_queues = std::all_of(what.used_queues.begin(), what.used_queues.end(), [&](const std::string& name) {
    return static_cast<bool>(cluster_.find(entity_kind::queue, name));
  });
  const bool has_nodes = std::all_of(what.loaded_nodes.begin(), what.loaded_nodes.end(), [&](const std::string& name) {
    return what.nodes.contains(name) || static_cast<bool>(cluster_.find(entity_kind::node, name));
  });
  if (!has_queues || !has_nodes) return false;  // one of them is in quarantine
  std::vector<table> tables;
  tables.push_back(usage_table(rare_.queues, what.used_queues));
  names loaded;
  std::set_difference(what.loaded_nodes.begin(), what.loaded_nodes.end(), what.nodes.begin(), what.nodes.end(),
                      std::inserter(loaded, loaded.end()));
  tables.push_back(load_table(rows_of_names(nodes_, loaded)));
  tables.push_back(
      names_to_remove(table_kind::pod, col::pod_name, known(table_kind::pod, entity_kind::pod, what.pods)));
  tables.push_back(names_to_remove(table_kind::pod_group, col::pod_group_name,
                                   known(table_kind::pod_group, entity_kind::pod_group, what.groups)));
  tables.push_back(
      names_to_remove(table_kind::node, col::node_name, known(table_kind::node, entity_kind::node, what.nodes)));
  tables.push_back(
      names_to_remove(table_kind::disruption_budget, col::disruption_budget_name,
                      known_budgets(*model::state_of(cluster_.take_snapshot()).disruption_budgets, what.budgets)));
  append(tables, budget_tables(rows_of_names(budgets_, what.budgets)));
  append(tables, node_tables(rows_of_names(nodes_, what.nodes), dimensions_));
  std::vector<sub_group_record> subs;
  for (const std::string& name : what.groups) {
    const auto found = subs_.find(name);
    if (found != subs_.end() && groups_.contains(name))
      subs.insert(subs.end(), found->second.begin(), found->second.end());
  }
  append(tables, group_tables(rows_of_names(groups_, what.groups), subs));
  append(tables, pod_tables(rows_of_names(pods_, what.pods), dimensions_));
  std::erase_if(tables, [](const table& one) { return one.rows() == 0; });
  if (!cluster_.apply(tables)) return false;
  const snapshot after = cluster_.take_snapshot();
  const model::quarantine_list& left_out = *model::state_of(after).quarantine;
  // What could not be taken out is as it was before, and so is what depends on it.
  return std::none_of(left_out.begin(), left_out.end(),
                      [](const auto& one) { return one.second->present && !one.second->stands_in; });
}

result<snapshot> cluster_feed::load() {
  is_loaded_ = false;
  ++full_loads_;
  cluster_ = cluster();
  if (auto done = cluster_.set("on_invalid", "quarantine"); !done) return done.take_failure();
  dimensions_ = dimensions();
  cluster_records all = rare_;
  // Of several rows of a name the first one counts.
  const auto put_first = [](auto& rows, const auto& named) {
    auto twins = std::exchange(rows, {});
    for (const auto& [name, row] : named) rows.push_back(row);
    for (auto& row : twins) rows.push_back(std::move(row));
  };
  put_first(all.nodes, nodes_);
  put_first(all.groups, groups_);
  for (const auto& [name, rows] : subs_) all.sub_groups.insert(all.sub_groups.end(), rows.begin(), rows.end());
  for (const auto& [name, row] : pods_) all.pods.push_back(row);
  for (const auto& [name, row] : budgets_) all.disruption_budgets.push_back(row);
  if (auto done = cluster_.apply(tables_of(std::move(all), {}).tables); !done) return done.take_failure();
  is_loaded_ = true;
  return cluster_.take_snapshot();
}

}  // namespace kaisched::io::kubernetes
