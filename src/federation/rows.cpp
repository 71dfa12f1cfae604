#include "federation/rows.hpp"

#include <algorithm>
#include <array>

#include <kaisched/schema.hpp>

#include "base/copy_row.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::federation_detail {

namespace {

constexpr std::array group_tables{table_kind::pod_group, table_kind::sub_group, table_kind::pod};

std::uint32_t group_column_of(std::uint32_t kind) {
  switch (table_kind{kind}) {
    case table_kind::pod_group:
      return col::pod_group_name;
    case table_kind::sub_group:
      return col::sub_group_group;
    default:
      return col::pod_group_ref;
  }
}

bool is_by_dimension(std::uint32_t kind, std::uint32_t column) {
  return table_kind{kind} == table_kind::pod && column == col::pod_request;
}

/// Entities are named: identifiers are those of one cluster.
result<void> check_columns(const table_view& one) {
  const table_info& info = *schema_of(one.kind);
  for (std::uint32_t i = 0; i < one.column_count; ++i) {
    const column_view& column = one.columns[i];
    for (const column_info& about : info.columns) {
      if (about.id == column.id && about.refers_to != entity_kind::none && column.type == column_type::u64)
        return error{status::unsupported,
                     "table " + std::string(info.name) + ", column " + std::string(about.name) +
                         ": groups of a federation name what they refer to",
                     {}};
    }
  }
  const column_view* const group = one.find(group_column_of(one.kind));
  if (group == nullptr && one.rows > 0)
    return error{
        status::argument, "table " + std::string(info.name) + ": no column says which group its rows are of", {}};
  return {};
}

}  // namespace

bool is_group_table(std::uint32_t kind) {
  return std::any_of(group_tables.begin(), group_tables.end(),
                     [&](table_kind one) { return static_cast<std::uint32_t>(one) == kind; });
}

result<std::map<std::string, group_rows>> rows_by_group(std::span<const table_view> tables) {
  auto store = std::make_shared<row_store>();
  std::map<std::string, group_rows> made;
  for (const table_kind kind : group_tables) {
    for (const table_view& one : tables) {
      if (one.kind != static_cast<std::uint32_t>(kind) || one.rows == 0) continue;
      if (auto sound = check_columns(one); !sound) return sound.failure();
      const std::size_t number = store->tables.size();
      table& copy = store->tables.emplace_back(kind, table_op::add);
      for (std::uint32_t c = 0; c < one.column_count; ++c) {
        const column_view& from = one.columns[c];
        table::column& to = copy.add(from.id, from.type, from.width);
        for (std::uint64_t row = 0; row < one.rows; ++row) base::copy_row(to, from, row);
      }
      const column_view& group = *one.find(group_column_of(one.kind));
      for (std::uint64_t row = 0; row < one.rows; ++row) {
        auto& rows = made[std::string(group.string(row))].rows;
        rows.resize(std::max(rows.size(), number + 1));
        rows[number].push_back(static_cast<std::uint32_t>(row));
      }
    }
  }
  for (const table& one : store->tables) store->views.push_back(one.view());
  for (auto& [name, rows] : made) rows.store = store;
  return made;
}

std::vector<table> gather(std::span<const group_rows* const> groups, std::span<const std::uint32_t> dimension) {
  std::uint32_t width = 1;
  for (const std::uint32_t d : dimension) width = d == no_row ? width : std::max(width, d + 1);
  std::vector<table> made;
  for (const table_kind kind : group_tables) {
    for (std::size_t first = 0; first < groups.size();) {  // groups that were told together share tables
      const row_store* const store = groups[first]->store.get();
      std::size_t last = first;
      while (last < groups.size() && groups[last]->store.get() == store) ++last;
      for (std::size_t t = 0; t < store->views.size(); ++t) {
        const table_view& from = store->views[t];
        if (from.kind != static_cast<std::uint32_t>(kind)) continue;
        table to(kind, table_op::add);
        for (std::uint32_t c = 0; c < from.column_count; ++c) {
          const column_view& column = from.columns[c];
          const bool amounts = is_by_dimension(from.kind, column.id);
          table::column& added = to.add(column.id, column.type, amounts ? width : column.width);
          std::vector<std::int64_t> mapped(width);
          for (std::size_t g = first; g < last; ++g) {
            if (t >= groups[g]->rows.size()) continue;
            for (const std::uint32_t row : groups[g]->rows[t]) {
              if (!amounts) {
                base::copy_row(added, column, row);
                continue;
              }
              std::fill(mapped.begin(), mapped.end(), 0);
              const auto* values = static_cast<const std::int64_t*>(column.data) + std::size_t{row} * column.width;
              for (std::uint32_t d = 0; d < column.width; ++d) {
                if (d < dimension.size() && dimension[d] != no_row) mapped[dimension[d]] = values[d];
              }
              for (const std::int64_t value : mapped) added.push(value);
            }
          }
        }
        if (to.rows() > 0) made.push_back(std::move(to));
      }
      first = last;
    }
  }
  return made;
}

result<void> remove_groups(cluster& from, std::span<const std::string_view> names) {
  const snapshot now = from.take_snapshot();
  const model::cluster_state& s = model::state_of(now);
  table groups(table_kind::pod_group, table_op::remove);
  table::column& group_names = groups.add(col::pod_group_name, column_type::string);
  table pods(table_kind::pod, table_op::remove);
  table::column& pod_names = pods.add(col::pod_name, column_type::string);
  for (const std::string_view name : names) {
    const result<entity_id> id = from.find(entity_kind::pod_group, name);
    if (!id) continue;
    group_names.push(name);
    const group_row g = id->slot();
    for (sub_group_row sub = s.groups[g].first_sub; sub < s.groups[g].first_sub + s.groups[g].sub_count; ++sub) {
      if (s.subs[sub].is_set) continue;
      for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) pod_names.push(s.pod_names[p]);
    }
    for (pod_row p = s.group_extras[g].first_stray; p != no_row; p = s.pods[p].next) pod_names.push(s.pod_names[p]);
  }
  if (groups.rows() == 0) return {};
  if (pods.rows() == 0) return from.apply(groups);
  return from.apply({pods.view(), groups.view()});
}

}  // namespace kaisched::federation_detail
