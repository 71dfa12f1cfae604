#include <new>
#include <stdexcept>

#include <kaisched/cluster.hpp>

#include "model/edit.hpp"
#include "model/state.hpp"

namespace kaisched {

struct cluster::impl {
  model::cluster_state state;
  model::writer_state writer;
  model::name_maps names;
};

cluster::cluster() : impl_(std::make_unique<impl>()) {}
cluster::~cluster() = default;
cluster::cluster(cluster&&) noexcept = default;
cluster& cluster::operator=(cluster&&) noexcept = default;

result<void> cluster::apply(std::span<const table_view> tables) {
  // Copies share their pages, so going back after an error is dropping what the edit has written.
  const model::cluster_state before = impl_->state;
  const model::writer_state writer_before = impl_->writer;
  model::edit edit(impl_->state, impl_->writer, impl_->names);
  const std::size_t bytes_before = before.names->bytes();
  const auto go_back = [&] {
    edit.revert_names();
    impl_->state = before;
    impl_->writer = writer_before;
    impl_->writer.dead_name_bytes += before.names->bytes() - bytes_before;
  };
  try {
    result<void> done = edit.run(tables);
    if (!done) go_back();
    return done;
  } catch (const std::bad_alloc&) {
    go_back();
    return error{status::no_memory, "out of memory; the delta was not applied", {}};
  } catch (const std::length_error& failure) {
    go_back();
    return error{status::limit, failure.what(), {}};
  }
}

snapshot cluster::take_snapshot() { return snapshot(std::make_shared<const model::cluster_state>(impl_->state)); }

namespace {

error not_found(std::string_view kind, std::string_view name) {
  return {status::not_found, "there is no " + std::string(kind) + " '" + std::string(name) + "'", {}};
}

}  // namespace

result<entity_id> cluster::find(entity_kind kind, std::string_view name) const {
  const model::cluster_state& s = impl_->state;
  const model::name_maps& names = impl_->names;
  std::uint32_t slot = base::name_map::none;
  std::uint32_t generation = 0;
  switch (kind) {
    case entity_kind::queue:
      slot = names.queues.find(name);
      if (slot != base::name_map::none) generation = (*s.queues)[slot].generation;
      break;
    case entity_kind::node:
      slot = names.nodes.find(name);
      if (slot != base::name_map::none) generation = (*s.node_generation)[slot];
      break;
    case entity_kind::pod_group:
      slot = names.groups.find(name);
      if (slot != base::name_map::none) generation = s.groups[slot].generation;
      break;
    case entity_kind::pod:
      slot = names.pods.find(name);
      if (slot != base::name_map::none) generation = s.pods[slot].generation;
      break;
    case entity_kind::resource:
      for (std::uint32_t d = 0; d < s.dims(); ++d) {
        if ((*s.dimensions)[d].name == name) slot = d;
      }
      break;
    default:
      return error{status::unsupported, "entities of this kind have no id", {}};
  }
  if (slot == base::name_map::none) return not_found(schema_of(static_cast<std::uint32_t>(kind))->name, name);
  return entity_id(kind, generation, slot);
}

}  // namespace kaisched
