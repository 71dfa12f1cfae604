#include "model/edit.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "model/account.hpp"

namespace kaisched::model {

namespace {

std::string_view kind_name(entity_kind kind) {
  const table_info* info = schema_of(static_cast<std::uint32_t>(kind));
  return info == nullptr ? "entity" : info->name;
}

}  // namespace

result<void> edit::run(std::span<const table_view> tables) try {
  for (std::size_t i = 0; i < tables.size(); ++i) {
    result<table_reader> reader = table_reader::open(tables[i], i, s_.dims());
    if (!reader) return reader.failure();
    tables_.push_back(std::move(*reader));
    if (auto done = one_table(tables_.back()); !done) return done;
  }
  return finish();
} catch (const std::bad_alloc&) {
  retry_ = false;
  return error{status::no_memory, "out of memory; the delta was not applied", {}};
} catch (const std::length_error& failure) {
  retry_ = false;
  return error{status::limit, failure.what(), {}};
}

result<void> edit::one_table(const table_reader& t) {
  switch (t.info().kind) {
    case table_kind::resource:
      return resources(t);
    case table_kind::topology:
      return topologies(t);
    case table_kind::queue:
      return queues(t);
    case table_kind::node:
      return nodes(t);
    case table_kind::device:
      return devices(t);
    case table_kind::pod_group:
      return groups(t);
    case table_kind::sub_group:
      return sub_groups(t);
    case table_kind::pod:
      return pods(t);
    case table_kind::numa_zone:
      return numa_zones(t);
    case table_kind::resource_claim:
      return claims(t);
    case table_kind::device_quota:
      return device_quotas(t);
    case table_kind::device_class:
      return device_classes(t);
    case table_kind::resource_slice:
      return resource_slices(t);
    case table_kind::slice_device:
      return slice_devices(t);
    case table_kind::claim_request:
      return claim_requests(t);
    case table_kind::disruption_budget:
      return disruption_budgets(t);
    case table_kind::reservation:
      return reservations(t);
    default:
      return error{status::unsupported, "not an input table", {}};
  }
}

result<void> edit::finish() {
  settle_nodes();
  settle_links();
  if (auto done = check_removed_queues(); !done) return done;
  if (auto done = check_removed_nodes(); !done) return done;
  if (auto done = check_capacities(); !done) return done;
  if (auto done = check_devices(); !done) return done;
  if (auto done = check_topology_users(); !done) return done;
  if (auto done = check_positions(); !done) return done;
  if (auto done = stop_if_blamed(); !done) return done;
  refresh_entries();
  settle_dependencies();
  if (recount_) recount(s_);
  s_.live.settle_orders();
  merge_lists();
  if (compacts_) compact_names();
  s_.version = ++w_.last_version;
  return {};
}

edit::~edit() {
  for (auto change = journal_.rbegin(); change != journal_.rend(); ++change) {
    base::name_map& map = names_.*(change->map);
    if (change->inserted) {
      map.erase(change->name);
    } else {
      map.insert(change->name, change->slot);
    }
  }
}

void edit::add_name(map_member map, std::string_view name, std::uint32_t slot) {
  journal_.push_back({map, name, slot, true});
  (names_.*map).insert(name, slot);
}

void edit::drop_name(map_member map, std::string_view name, std::uint32_t slot) {
  journal_.push_back({map, name, slot, false});
  (names_.*map).erase(name);
  discard(name);
}

result<void> edit::check_name(const table_reader& t, std::uint64_t row, std::uint32_t column) const {
  const std::string_view name = t.text(column, row);
  if (name.empty()) return t.fail(status::argument, row, column, "a name must not be empty");
  if (name.size() > max_name_size) {
    return t.fail(status::limit, row, column,
                  "'" + base::shown(name) + "': a name has at most " + std::to_string(max_name_size) + " bytes");
  }
  const std::size_t control = base::find_control(name);
  if (control == std::string_view::npos) return {};
  return t.fail(status::argument, row, column,
                "a name must not hold control characters, this one has " + base::character_name(name, control) +
                    " at byte " + std::to_string(control));
}

result<void> edit::check_new_name(const table_reader& t, std::uint64_t row, std::uint32_t column,
                                  const base::name_map& taken) const {
  if (auto good = check_name(t, row, column); !good) return good;
  const std::string_view name = t.text(column, row);
  if (taken.find(name) == base::name_map::none) return {};
  return t.fail(status::duplicate, row, column, "'" + base::shown(name) + "' exists already");
}

result<bool> edit::flag(const table_reader& t, std::uint64_t row, std::uint32_t column) const {
  if (t.u8(column, row) > 1) return t.fail(status::argument, row, column, "must be 0 or 1");
  return t.u8(column, row) != 0;
}

result<std::int64_t> edit::bounded(const table_reader& t, std::uint64_t row, std::uint32_t column, std::int64_t least,
                                   std::int64_t most) const {
  const std::int64_t value = t.i64(column, row);
  if (value < least || value > most) {
    return t.fail(value > most ? status::limit : status::argument, row, column,
                  std::to_string(value) + " is not in " + std::to_string(least) + " .. " + std::to_string(most));
  }
  return value;
}

result<void> edit::duration(const table_reader& t, std::uint64_t row, std::uint32_t column,
                            std::int64_t& target) const {
  if (t.i64(column, row) < 0 && t.i64(column, row) != unset) {
    return t.fail(status::argument, row, column, std::to_string(t.i64(column, row)) + " is no length of time");
  }
  target = t.i64(column, row);
  return {};
}

error edit::not_among(const table_reader& t, std::uint64_t row, std::uint32_t column,
                      std::span<const std::string_view> names) const {
  const std::string_view text = t.text(column, row);
  std::string message = "'" + base::shown(text) + "' is not known";
  const std::string_view nearest = base::nearest_name(text, names);
  if (!nearest.empty()) {
    message += "; did you mean '" + std::string(nearest) + "'?";
  } else {
    message += "; expected one of:";
    for (const std::string_view name : names) message.append(name.empty() ? "" : " ").append(name);
  }
  return t.fail(status::argument, row, column, message);
}

error edit::missing(const table_reader& t, std::uint64_t row, std::uint32_t column, const quarantine_key& key) {
  std::string what(schema_of(static_cast<std::uint32_t>(key.kind))->name);
  what.append(" '").append(base::shown(key.name)).append("'");
  if (!is_quarantined(key)) return t.fail(status::not_found, row, column, "there is no " + what);
  because_of_ = text_of(key);
  return t.fail(status::not_found, row, column, what + " is in quarantine");
}

result<std::uint32_t> edit::slot_of(const table_reader& t, std::uint64_t row, std::uint32_t column, entity_kind kind) {
  if (t.is_id(column)) return slot_of_id(t, row, column, kind, entity_id(t.id(column, row)));
  const std::string_view name = t.text(column, row);
  const base::name_map* map = kind == entity_kind::queue       ? &names_.queues
                              : kind == entity_kind::node      ? &names_.nodes
                              : kind == entity_kind::pod_group ? &names_.groups
                                                               : &names_.pods;
  const std::uint32_t slot = map->find(name);
  if (slot != base::name_map::none) return slot;
  return missing(t, row, column, {static_cast<table_kind>(kind), {}, clean_name(name)});
}

result<std::uint32_t> edit::slot_of_id(const table_reader& t, std::uint64_t row, std::uint32_t column, entity_kind kind,
                                       entity_id id) const {
  if (id.kind() != kind) {
    return t.fail(
        status::wrong_kind, row, column,
        "the id names a " + std::string(kind_name(id.kind())) + ", expected a " + std::string(kind_name(kind)), id);
  }
  const std::uint32_t slot = id.slot();
  std::uint32_t generation = 0;
  bool live = false;
  bool known = false;
  if (kind == entity_kind::queue && slot < s_.queues->size()) {
    known = true;
    generation = (*s_.queues)[slot].generation;
    live = (*s_.queues)[slot].live;
  } else if (kind == entity_kind::node && slot < s_.node_generation->size()) {
    known = true;
    generation = (*s_.node_generation)[slot];
    live = (*s_.node_row_of_slot)[slot] != no_row;
  } else if (kind == entity_kind::pod_group && slot < s_.group_slots) {
    known = true;
    generation = s_.groups[slot].generation;
    live = s_.groups[slot].live;
  } else if (kind == entity_kind::pod && slot < s_.pod_slots) {
    known = true;
    generation = s_.pods[slot].generation;
    live = s_.pods[slot].live;
  }
  if (!known) return t.fail(status::not_found, row, column, "the id was never given", id);
  if (!live || entity_id(kind, generation, slot) != id) {
    return t.fail(status::stale_id, row, column, "the " + std::string(kind_name(kind)) + " has been removed", id);
  }
  return slot;
}

void edit::merge_lists() {
  if (touched_.empty()) return;
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  const auto before = [&](group_row a, group_row b) { return group_before(s_, a, b); };
  const auto has_pending = [&](group_row g) {
    const group_core& group = s_.groups[g];
    for (sub_group_row sub = group.first_sub; group.live && sub < group.first_sub + group.sub_count; ++sub) {
      if (s_.live.counts[sub].pending > 0) return true;
    }
    return false;
  };
  const auto has_pending_stray = [&](group_row g) {
    pod_row p = s_.groups[g].live ? s_.group_extras[g].first_stray : no_row;
    while (p != no_row && static_cast<pod_status>(s_.live.pod_state[p]) != pod_status::pending) p = s_.pods[p].next;
    return p != no_row;
  };
  const auto is_partial = [&](group_row g) { return s_.groups[g].live && lacks_pods_of_gang(s_, s_.live, g); };
  const auto has_budget = [&](group_row g) {
    return s_.groups[g].live && s_.group_extras[g].disruption_budget != unset;
  };
  const auto merge = [&](base::cow<std::vector<group_row>>& list, auto belongs) {
    if (list->empty() && std::none_of(touched_.begin(), touched_.end(), belongs)) return;
    std::vector<group_row> kept;
    for (const group_row g : *list) {
      if (!std::binary_search(touched_.begin(), touched_.end(), g)) kept.push_back(g);
    }
    std::vector<group_row> fresh;
    std::copy_if(touched_.begin(), touched_.end(), std::back_inserter(fresh), belongs);
    if (fresh.empty() && kept.size() == list->size()) return;
    std::sort(fresh.begin(), fresh.end(), before);
    std::vector<group_row> merged;
    merged.reserve(kept.size() + fresh.size());
    std::merge(kept.begin(), kept.end(), fresh.begin(), fresh.end(), std::back_inserter(merged), before);
    list = base::cow(std::move(merged));
  };
  merge(s_.pending_groups, has_pending);
  merge(s_.stray_groups, has_pending_stray);
  merge(s_.partial_groups, is_partial);
  merge(s_.budget_groups, has_budget);
}

void edit::compact_names() {
  // Names of removed entities leave holes; when these outweigh what is in use, what is in use moves to a new pool.
  constexpr std::size_t least_waste = std::size_t{1} << 18U;
  if (w_.dead_name_bytes < least_waste || w_.dead_name_bytes * 2 < s_.names->bytes()) return;
  auto fresh = std::make_shared<base::string_pool>();
  const auto rename = [&](base::name_map& map, base::cow_column<std::string_view>& names, std::uint32_t i) {
    const std::string_view moved = fresh->add(names[i]);
    map.erase(names[i]);
    map.insert(moved, i);
    names.write(i) = moved;
  };
  for (pod_row p = 0; p < s_.pod_slots; ++p) {
    if (!s_.pods[p].live) continue;
    rename(names_.pods, s_.pod_names, p);
    pod_extra& extra = s_.pod_extras.write(p);
    extra.labels = fresh->add(extra.labels);
    if (extra.told != no_row) {
      pod_told& told = s_.told.write(extra.told);
      told.device_grants = fresh->add(told.device_grants);
      told.mig_instances = fresh->add(told.mig_instances);
      told.budget = fresh->add(told.budget);
    }
    if (extra.sub_name != implied_pod_set) extra.sub_name = fresh->add(extra.sub_name);
  }
  for (group_row g = 0; g < s_.group_slots; ++g) {
    if (!s_.groups[g].live) continue;
    rename(names_.groups, s_.group_names, g);
    s_.group_extras.write(g).name_space = fresh->add(s_.group_extras[g].name_space);
    s_.group_extras.write(g).user = fresh->add(s_.group_extras[g].user);
    s_.group_extras.write(g).after = fresh->add(s_.group_extras[g].after);
    s_.group_extras.write(g).checks = fresh->add(s_.group_extras[g].checks);
    s_.group_extras.write(g).speedup = fresh->add(s_.group_extras[g].speedup);
    s_.group_extras.write(g).min_resources = fresh->add(s_.group_extras[g].min_resources);
    const group_core& group = s_.groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      s_.subs.write(sub).name = fresh->add(s_.subs[sub].name);
    }
  }
  for (class_row c = 0; c < s_.class_slots; ++c) {
    if (s_.classes[c] != nullptr) rename(names_.classes, w_.class_keys, c);
  }
  const auto renew = [&](base::name_map& map, const std::string& name, std::uint32_t slot) {
    map.erase(name);
    map.insert(fresh->add(name), slot);
  };
  for (queue_row q = 0; q < s_.queues->size(); ++q) {
    if ((*s_.queues)[q].live) renew(names_.queues, (*s_.queues)[q].name, q);
  }
  for (const auto& node : *s_.nodes) renew(names_.nodes, node->name, node->slot);
  for (std::uint32_t i = 0; i < s_.claim_slots; ++i) {
    if (s_.claims[i] != nullptr) renew(names_.claims, s_.claims[i]->name, i);
  }
  s_.names = std::move(fresh);
  w_.dead_name_bytes = 0;
}

}  // namespace kaisched::model
