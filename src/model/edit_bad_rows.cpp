// Rows that do not take effect: refused, or left out and kept as data.
#include <algorithm>

#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

/// Kinds whose objects are parts of another one, which their first column names.
bool is_part(table_kind kind) {
  return kind == table_kind::device || kind == table_kind::sub_group || kind == table_kind::numa_zone ||
         kind == table_kind::device_quota;
}

std::uint32_t name_column(const table_reader& t) { return t.info().columns[is_part(t.info().kind) ? 1 : 0].id; }

}  // namespace

result<void> edit::start_row(const table_reader& t, std::uint64_t row) {
  because_of_.clear();
  if (is_known_bad(t, row)) return bad_.at({t.number(), row}).why;
  if (const error* defect = t.text_defect(row)) return *defect;
  return check_first(t, row);
}

result<void> edit::check_first(const table_reader& t, std::uint64_t row) const {
  if (t.op() != table_op::add || refused_adds_.empty()) return {};
  const quarantine_key key = key_of(t, row);
  const auto first = refused_adds_.find(key);
  if (first == refused_adds_.end() || !first->second.takes_name) return {};
  if (!(first->second.place < row_place{t.number(), row})) return {};
  return t.fail(status::duplicate, row, name_column(t),
                "'" + base::shown(key.name) + "' comes twice, and the first row that adds it is in quarantine");
}

bool edit::note_first(const table_reader& t, std::uint64_t row, const quarantine_key& key) {
  const row_place place{t.number(), row};
  const std::uint32_t column = name_column(t);
  const bool takes_name = key.kind == table_kind::device || t.text(column, row) == key.name;
  const auto [first, fresh] = refused_adds_.try_emplace(key, refused_add{place, takes_name});
  if (!fresh && place < first->second.place) first->second = {place, takes_name};
  return first->second.place == place;
}

result<void> edit::refuse(const table_reader& t, std::uint64_t row, error why) {
  if (t.op() == table_op::remove && !s_.quarantine->empty()) {
    const quarantine_key key = key_of(t, row);
    if (is_quarantined(key) && !exists(key)) {  // it never came, and now it need not
      clear_entry(key, true);
      return {};
    }
  }
  if (mode_ == on_invalid::reject) return why;
  const auto [it, fresh] = bad_.try_emplace({t.number(), row}, bad_row{std::move(why), because_of_});
  note(t, row, it->second);
  return {};
}

void edit::note(const table_reader& t, std::uint64_t row, const bad_row& bad) {
  quarantine_key key = key_of(t, row);
  if (t.op() == table_op::add && !note_first(t, row, key)) return;
  const auto before = s_.quarantine->find(key);
  const bool known = before != s_.quarantine->end();
  // What was left out stays so for its first reason until it is sent again as a whole.
  if (known && t.op() != table_op::add && (!before->second->present || before->second->stands_in)) return;
  const table_reader::parts parts = t.split(bad.why, row);
  quarantine_entry entry;
  entry.column = parts.column;
  entry.code = bad.why.code;
  entry.text = parts.what;
  entry.because_of = bad.because_of;
  entry.present = exists(key);
  entry.stands_in = entry.present && known && before->second->stands_in;
  noted_.push_back(key);
  s_.quarantine.write().insert_or_assign(std::move(key), std::make_shared<const quarantine_entry>(std::move(entry)));
}

/// A good row may have made an object of that name after the bad one was noted.
void edit::refresh_entries() {
  for (const quarantine_key& key : noted_) {
    const auto it = s_.quarantine->find(key);
    if (it == s_.quarantine->end() || it->second->present == exists(key)) continue;
    quarantine_entry entry = *it->second;
    entry.present = exists(key);
    s_.quarantine.write().insert_or_assign(key, std::make_shared<const quarantine_entry>(std::move(entry)));
  }
}

result<void> edit::blame(const row_place& place, error why, std::string because_of) {
  why.input_table = static_cast<std::int64_t>(place.table);
  why.input_row = static_cast<std::int64_t>(place.row);
  if (mode_ == on_invalid::reject) return why;
  bad_.try_emplace(place, bad_row{std::move(why), std::move(because_of)});
  retry_ = true;
  return {};
}

error edit::fail_at(const row_place& place, status code, table_kind kind, std::uint32_t column, std::string_view what,
                    entity_id subject) const {
  const table_reader& t = tables_[place.table];
  return t.fail(code, place.row, t.info().kind == kind ? column : no_row, what, subject);
}

result<void> edit::stop_if_blamed() const {
  if (!retry_) return {};
  return error{status::state, "some rows must be left out", {}};
}

quarantine_key edit::key_of(const table_reader& t, std::uint64_t row) const {
  const table_kind kind = t.info().kind;
  const std::uint32_t first = t.info().columns.front().id;
  std::string name;
  if (t.is_id(first)) {
    const entity_id id(t.id(first, row));
    const bool node = id.kind() == entity_kind::node && id.slot() < s_.node_row_of_slot->size();
    const node_row at = node ? (*s_.node_row_of_slot)[id.slot()] : no_row;
    if (at != no_row) name = (*s_.nodes)[at]->name;
    if (id.kind() == entity_kind::pod_group && id.slot() < s_.group_slots) name = s_.group_names[id.slot()];
  } else {
    name = clean_name(t.text(first, row));
  }
  if (!is_part(kind)) return {kind, {}, std::move(name)};
  const std::uint32_t second = t.info().columns[1].id;
  std::string part = kind == table_kind::device ? std::to_string(t.u32(second, row)) : clean_name(t.text(second, row));
  return {kind, std::move(name), std::move(part)};
}

bool edit::exists(const quarantine_key& key) const {
  const auto node = [&]() -> const node_info* {
    const std::uint32_t slot = names_.nodes.find(key.owner);
    return slot == base::name_map::none ? nullptr : (*s_.nodes)[(*s_.node_row_of_slot)[slot]].get();
  };
  const auto any = [](const auto& all, auto matches) { return std::any_of(all.begin(), all.end(), matches); };
  switch (key.kind) {
    case table_kind::queue:
      return names_.queues.find(key.name) != base::name_map::none;
    case table_kind::node:
      return names_.nodes.find(key.name) != base::name_map::none;
    case table_kind::pod_group:
      return names_.groups.find(key.name) != base::name_map::none;
    case table_kind::pod:
      return names_.pods.find(key.name) != base::name_map::none;
    case table_kind::resource_claim:
      return names_.claims.find(key.name) != base::name_map::none;
    case table_kind::device_class:
      return s_.device_classes->contains(key.name);
    case table_kind::resource_slice:
      return s_.resource_slices->contains(key.name);
    case table_kind::slice_device:
      return s_.slice_devices->contains(key.name);
    case table_kind::claim_request:
      return s_.claim_requests->contains(key.name);
    case table_kind::topology:
      return any(*s_.topologies, [&](const topology_info& x) { return x.name == key.name; });
    case table_kind::sub_group: {
      const group_row g = names_.groups.find(key.owner);
      return g != base::name_map::none && s_.group_extras[g].has_sub_groups && find_sub(g, key.name) != no_row;
    }
    case table_kind::device:
      return node() != nullptr &&
             any(node()->devices, [&](const device_info& d) { return std::to_string(d.index) == key.name; });
    case table_kind::numa_zone:
      return node() != nullptr && any(node()->zones, [&](const numa_zone_info& z) { return z.name == key.name; });
    case table_kind::device_quota:
      return any(*s_.device_quotas,
                 [&](const device_quota_info& q) { return q.name_space == key.owner && q.vendor == key.name; });
    case table_kind::disruption_budget:
      return any(*s_.disruption_budgets, [&](const disruption_budget_info& b) { return b.name == key.name; });
    case table_kind::reservation:
      return any(*s_.reservations, [&](const reservation_info& r) { return r.name == key.name; });
    default:
      return false;
  }
}

void edit::settle_entry(const table_reader& t, std::uint64_t row) {
  const quarantine_key key = key_of(t, row);
  if (t.op() == table_op::remove) return clear_entry(key, true);
  const auto it = s_.quarantine->find(key);
  if (it == s_.quarantine->end()) return;
  if (t.op() == table_op::add) {
    // What cannot be a name may look like this one in quarantine.
    if (!refused_adds_.contains(key)) clear_entry(key, false);
    return;
  }
  // A stand-in follows the pod that it stands for; another object is as it should be once the column at fault came
  // well.
  if (it->second->stands_in) return;
  const auto column = std::find_if(t.info().columns.begin(), t.info().columns.end(),
                                   [&](const column_info& c) { return c.name == it->second->column; });
  if (column == t.info().columns.end() || t.has(column->id)) clear_entry(key, false);
}

void edit::clear_entry(const quarantine_key& key, bool with_parts) {
  const auto clear = [&](auto& list) {
    list.erase(key);
    if (!with_parts || (key.kind != table_kind::node && key.kind != table_kind::pod_group)) return;
    for (const table_kind part : {table_kind::device, table_kind::sub_group, table_kind::numa_zone}) {
      if ((part == table_kind::sub_group) != (key.kind == table_kind::pod_group)) continue;
      auto it = list.lower_bound({part, key.name, {}});
      while (it != list.end() && it->first.kind == part && it->first.owner == key.name) it = list.erase(it);
    }
  };
  clear(s_.quarantine.write());
  clear(refused_adds_);
}

}  // namespace kaisched::model
