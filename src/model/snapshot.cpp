#include <cstring>
#include <string>
#include <utility>

#include <kaisched/cluster.hpp>
#include <kaisched/snapshot.hpp>

#include "base/bytes.hpp"
#include "base/sha256.hpp"
#include "base/xxh64.hpp"
#include "model/export.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched {

namespace {

constexpr std::string_view magic = "kaisched-snapshot/2\n";
constexpr std::string_view magic_unchecked = "kaisched-snapshot/1\n";  ///< of version 0.1: the tables follow at once
constexpr std::string_view digest_magic = magic_unchecked;             ///< digests have not changed since
/// Then the checksum of all that follows it, the number of bytes of the tables, and the tables.
constexpr std::size_t check_size = sizeof(std::uint64_t);

std::uint64_t u64_at(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}
void put_u64(std::string& bytes, std::size_t at, std::uint64_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// The tables of saved bytes. Error: the bytes are damaged.
result<std::string_view> checked_tables(std::string_view bytes) {
  const auto damaged = [](std::string what) { return error{status::argument, std::move(what), {}}; };
  if (bytes.starts_with(magic_unchecked)) return bytes.substr(magic_unchecked.size());
  if (!bytes.starts_with(magic))
    return damaged("the bytes do not start with 'kaisched-snapshot/2': they are no snapshot, or damaged");
  bytes.remove_prefix(magic.size());
  if (bytes.size() < check_size + sizeof(std::uint64_t))
    return damaged("the bytes of the snapshot are cut off or damaged: its head is not whole");
  const std::uint64_t check = u64_at(bytes, 0);
  const std::string_view checked = bytes.substr(check_size);
  const std::string_view tables = checked.substr(sizeof(std::uint64_t));
  const std::uint64_t size = u64_at(checked, 0);
  if (size != tables.size()) {
    return damaged("the bytes of the snapshot are cut off or damaged: it has " + std::to_string(tables.size()) +
                   " bytes of tables, and tells " + std::to_string(size));
  }
  if (base::xxh64(checked) != check)
    return damaged("the bytes of the snapshot are damaged: their checksum is another one");
  return tables;
}

std::string all_tables(const model::cluster_state& s, model::dimensions_by by) {
  std::string bytes;
  for (const table_info& info : schema()) {
    if (info.input) base::append_table(bytes, model::export_table(s, info.kind, by).view());
  }
  return bytes;
}

}  // namespace

snapshot::snapshot() : body_(std::make_shared<const body>()) {}
snapshot::snapshot(std::shared_ptr<const body> made) : body_(std::move(made)) {}

std::uint64_t snapshot::count(entity_kind kind) const {
  const model::cluster_state& s = body_->state;
  switch (kind) {
    case entity_kind::resource:
      return s.dims();
    case entity_kind::topology:
      return s.topologies->size();
    case entity_kind::queue: {
      std::uint64_t live = 0;
      for (const model::queue_info& q : *s.queues) live += q.live ? 1U : 0U;
      return live;
    }
    case entity_kind::node:
      return s.node_count();
    case entity_kind::device:
      return s.first_device->back();
    case entity_kind::pod_group:
      return s.live_groups;
    case entity_kind::sub_group: {
      std::uint64_t members = 0;
      for (group_row g = 0; g < s.group_slots; ++g) {
        if (s.groups[g].live && s.group_extras[g].has_sub_groups) members += s.groups[g].sub_count - 1U;
      }
      return members;
    }
    case entity_kind::pod:
      return s.live_pods;
    case entity_kind::numa_zone: {
      std::uint64_t zones = 0;
      for (const auto& node : *s.nodes) zones += node->zones.size();
      return zones;
    }
    case entity_kind::resource_claim:
      return s.live_claims;
    case entity_kind::device_quota:
      return s.device_quotas->size();
    default:
      return 0;
  }
}

std::uint64_t snapshot::version() const { return body_->state.version; }

result<table> snapshot::to_table(table_kind kind) const {
  const table_info* info = schema_of(static_cast<std::uint32_t>(kind));
  if (kind == table_kind::quarantine) return model::export_quarantine(*body_->state.quarantine);
  if (info == nullptr || !info->input) {
    return error{status::unsupported, "snapshots have tables of input kinds and of the quarantine only", {}};
  }
  return model::export_table(body_->state, kind);
}

std::string snapshot::digest() const {
  base::sha256 hash;
  hash.update(digest_magic);
  hash.update(all_tables(body_->state, model::dimensions_by::name));
  return base::sha256::hex(hash.finish());
}

std::string snapshot::save() const {
  std::string bytes(magic);
  bytes.append(check_size + sizeof(std::uint64_t), '\0');
  const std::size_t head = bytes.size();
  bytes += all_tables(body_->state, model::dimensions_by::index);
  if (!body_->state.quarantine->empty()) {
    base::append_table(bytes, model::export_quarantine(*body_->state.quarantine).view());
  }
  put_u64(bytes, magic.size() + check_size, bytes.size() - head);
  put_u64(bytes, magic.size(), base::xxh64(std::string_view(bytes).substr(magic.size() + check_size)));
  return bytes;
}

result<snapshot> snapshot::load(std::string_view bytes) {
  const result<std::string_view> tables = checked_tables(bytes);
  if (!tables) return tables.failure();
  bytes = *tables;
  cluster c;
  model::quarantine_list quarantine;
  while (!bytes.empty()) {
    result<base::stored_table> one = base::take_table(bytes);
    if (!one) return one.failure();
    one->view.columns = one->columns.data();
    if (one->view.kind == static_cast<std::uint32_t>(table_kind::quarantine)) {
      result<model::quarantine_list> read = model::read_quarantine(one->view);
      if (!read) return read.failure();
      quarantine = std::move(*read);
    } else if (auto applied = c.apply({one->view}); !applied) {
      return applied.failure();
    }
  }
  snapshot loaded = c.take_snapshot();
  if (quarantine.empty()) return loaded;
  model::cluster_state state = model::state_of(loaded);
  state.quarantine = base::cow(std::move(quarantine));
  return model::snapshot_of(std::move(state));
}

namespace {

/// no_row, if the version has nothing with this identifier. The slot of what has been removed may be taken.
std::uint32_t live_row(const model::cluster_state& s, entity_id id) {
  const std::uint32_t slot = id.slot();
  const auto row_if = [&](bool live, std::uint32_t generation, std::uint32_t row) {
    return live && entity_id(id.kind(), generation, slot) == id ? row : no_row;
  };
  switch (id.kind()) {
    case entity_kind::resource:
      return slot < s.dims() ? slot : no_row;
    case entity_kind::queue:
      return slot < s.queues->size() ? row_if((*s.queues)[slot].live, (*s.queues)[slot].generation, slot) : no_row;
    case entity_kind::node: {
      const node_row row = slot < s.node_row_of_slot->size() ? (*s.node_row_of_slot)[slot] : no_row;
      return row == no_row ? no_row : row_if(true, (*s.node_generation)[slot], row);
    }
    case entity_kind::pod_group:
      return slot < s.group_slots ? row_if(s.groups[slot].live, s.groups[slot].generation, slot) : no_row;
    case entity_kind::pod:
      return slot < s.pod_slots ? row_if(s.pods[slot].live, s.pods[slot].generation, slot) : no_row;
    default:
      return no_row;
  }
}

}  // namespace

std::string_view snapshot::name(entity_id id) const {
  const std::uint32_t row = live_row(body_->state, id);
  if (row == no_row) return {};
  switch (id.kind()) {
    case entity_kind::resource:
      return (*body_->state.dimensions)[row].name;
    case entity_kind::queue:
      return queue_name(row);
    case entity_kind::node:
      return node_name(row);
    case entity_kind::pod_group:
      return group_name(row);
    default:
      return pod_name(row);
  }
}

result<std::uint32_t> snapshot::row_of(entity_id id, entity_kind kind) const {
  const std::string_view wanted = schema_of(static_cast<std::uint32_t>(kind))->name;
  if (!id) return error{status::not_found, "0 names no " + std::string(wanted), {}};
  if (id.kind() != kind) return error{status::wrong_kind, "the identifier does not name a " + std::string(wanted), id};
  const std::uint32_t row = live_row(body_->state, id);
  if (row == no_row)
    return error{status::stale_id, "this version of the cluster does not have the " + std::string(wanted), id};
  return row;
}

std::string_view snapshot::node_name(node_row row) const { return (*body_->state.nodes)[row]->name; }
std::string_view snapshot::pod_name(pod_row row) const { return body_->state.pod_names[row]; }
std::string_view snapshot::group_name(group_row row) const { return body_->state.group_names[row]; }
std::string_view snapshot::queue_name(queue_row row) const { return (*body_->state.queues)[row].name; }

std::vector<std::string_view> snapshot::dimension_names() const {
  std::vector<std::string_view> names;
  for (const model::dimension_info& d : *body_->state.dimensions) names.emplace_back(d.name);
  return names;
}

}  // namespace kaisched
