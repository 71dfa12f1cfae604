#include <kaisched/cluster.hpp>
#include <kaisched/snapshot.hpp>

#include "base/bytes.hpp"
#include "base/sha256.hpp"
#include "model/export.hpp"
#include "model/state.hpp"

namespace kaisched {

namespace {

constexpr std::string_view magic = "kaisched-snapshot/1\n";

std::string all_tables(const model::cluster_state& s, model::dimensions_by by) {
  std::string bytes;
  for (const table_info& info : schema()) {
    if (info.input) base::append_table(bytes, model::export_table(s, info.kind, by).view());
  }
  return bytes;
}

}  // namespace

snapshot::snapshot() : state_(std::make_shared<const model::cluster_state>()) {}

std::uint64_t snapshot::count(entity_kind kind) const {
  const model::cluster_state& s = *state_;
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

std::uint64_t snapshot::version() const { return state_->version; }

result<table> snapshot::to_table(table_kind kind) const {
  const table_info* info = schema_of(static_cast<std::uint32_t>(kind));
  if (kind == table_kind::quarantine) return model::export_quarantine(*state_->quarantine);
  if (info == nullptr || !info->input) {
    return error{status::unsupported, "snapshots have tables of input kinds and of the quarantine only", {}};
  }
  return model::export_table(*state_, kind);
}

std::string snapshot::digest() const {
  base::sha256 hash;
  hash.update(magic);
  hash.update(all_tables(*state_, model::dimensions_by::name));
  return base::sha256::hex(hash.finish());
}

std::string snapshot::save() const {
  std::string bytes(magic);
  bytes += all_tables(*state_, model::dimensions_by::index);
  if (!state_->quarantine->empty()) {
    base::append_table(bytes, model::export_quarantine(*state_->quarantine).view());
  }
  return bytes;
}

result<snapshot> snapshot::load(std::string_view bytes) {
  if (!bytes.starts_with(magic)) {
    return error{status::argument, "the bytes do not start with 'kaisched-snapshot/1'", {}};
  }
  bytes.remove_prefix(magic.size());
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
  auto state = std::make_shared<model::cluster_state>(loaded.state());
  state->quarantine = base::cow(std::move(quarantine));
  return snapshot(std::move(state));
}

std::string_view snapshot::name(entity_id id) const {
  const model::cluster_state& s = *state_;
  // The name of an entity that has been removed may be gone from memory, and its slot may be taken.
  const auto is_now = [&](bool live, std::uint32_t generation) {
    return live && entity_id(id.kind(), generation, id.slot()) == id;
  };
  switch (id.kind()) {
    case entity_kind::resource:
      return id.slot() < s.dims() ? std::string_view((*s.dimensions)[id.slot()].name) : std::string_view{};
    case entity_kind::queue: {
      if (id.slot() >= s.queues->size()) return {};
      const model::queue_info& q = (*s.queues)[id.slot()];
      return is_now(q.live, q.generation) ? std::string_view(q.name) : std::string_view{};
    }
    case entity_kind::node: {
      const node_row row = id.slot() < s.node_row_of_slot->size() ? (*s.node_row_of_slot)[id.slot()] : no_row;
      const bool live = row != no_row && is_now(true, (*s.node_generation)[id.slot()]);
      return live ? std::string_view((*s.nodes)[row]->name) : std::string_view{};
    }
    case entity_kind::pod_group: {
      if (id.slot() >= s.group_slots) return {};
      const model::group_core& g = s.groups[id.slot()];
      return is_now(g.live, g.generation) ? s.group_names[id.slot()] : std::string_view{};
    }
    case entity_kind::pod: {
      if (id.slot() >= s.pod_slots) return {};
      const model::pod_core& p = s.pods[id.slot()];
      return is_now(p.live, p.generation) ? s.pod_names[id.slot()] : std::string_view{};
    }
    default:
      return {};
  }
}

std::string_view snapshot::node_name(node_row row) const { return (*state_->nodes)[row]->name; }
std::string_view snapshot::pod_name(pod_row row) const { return state_->pod_names[row]; }
std::string_view snapshot::group_name(group_row row) const { return state_->group_names[row]; }
std::string_view snapshot::queue_name(queue_row row) const { return (*state_->queues)[row].name; }

std::vector<std::string_view> snapshot::dimension_names() const {
  std::vector<std::string_view> names;
  for (const model::dimension_info& d : *state_->dimensions) names.emplace_back(d.name);
  return names;
}

}  // namespace kaisched
