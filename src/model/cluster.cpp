#include <algorithm>
#include <new>

#include <kaisched/cluster.hpp>
#include <kaisched/options.hpp>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "model/cluster_impl.hpp"
#include "model/edit.hpp"
#include "model/resume.hpp"
#include "model/schema_writer.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched {

cluster::cluster() : impl_(std::make_unique<impl>()) {}
cluster::cluster(const snapshot& from) : cluster() {
  impl_->state = model::state_of(from);
  model::resume(impl_->state, impl_->writer, impl_->names);
  impl_->resumed_at = impl_->state.version;
}
cluster::~cluster() = default;
cluster::cluster(cluster&&) noexcept = default;
cluster& cluster::operator=(cluster&&) noexcept = default;

namespace {

/// The entity that a row is about, as its first column names it; of parts (devices, sub groups) what they are parts of.
entity_id entity_of_row(const cluster& in, const table_view& given, std::uint64_t row) {
  const table_info* const info = schema_of(given.kind);
  if (info == nullptr || row >= given.rows) return {};
  const column_info& first = info->columns.front();
  const column_view* const names = given.find(first.id);
  if (names == nullptr) return {};
  if (names->type == column_type::u64) return entity_id(names->values<std::uint64_t>(given.rows)[row]);
  const entity_kind kind =
      first.refers_to != entity_kind::none ? first.refers_to : static_cast<entity_kind>(given.kind);
  const result<entity_id> found = in.find(kind, names->string(row));
  return found ? *found : entity_id{};
}

/// The error of a row with the entity that it is about.
error with_subject(const cluster& in, error why, std::span<const table_view> tables) {
  const auto table = static_cast<std::size_t>(why.input_table);
  if (why.subject == entity_id{} && why.input_table >= 0 && why.input_row >= 0 && table < tables.size())
    why.subject = entity_of_row(in, tables[table], static_cast<std::uint64_t>(why.input_row));
  return why;
}

std::vector<table_view> views_of(std::span<const table> tables) {
  std::vector<table_view> views(tables.size());
  std::transform(tables.begin(), tables.end(), views.begin(), [](const table& one) { return one.view(); });
  return views;
}

}  // namespace

result<void> cluster::apply(std::span<const table_view> tables) {
  if (auto done = impl_->apply(tables, impl_->invalid); !done) return with_subject(*this, done.take_failure(), tables);
  if (!impl_->assumed.has_stand_ins()) return {};
  // What the host has told may have ended a migration: its stand-in holds nothing any more. The delta stands anyhow.
  try {
    (void)impl_->carry_out(impl_->assumed.follow_host(impl_->state));
  } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the next step does it
  }
  return {};
}

result<void> cluster::apply(std::span<const table> tables) { return apply(views_of(tables)); }

result<snapshot> cluster::preview(std::span<const table_view> tables) {
  result<snapshot> made = impl_->preview(tables, impl_->invalid);
  if (!made) return with_subject(*this, made.take_failure(), tables);
  return made;
}

result<snapshot> cluster::preview(std::span<const table> tables) { return preview(views_of(tables)); }

namespace {

/// What an edit writes, to be undone unless it is kept.
class undoable {
 public:
  undoable(model::cluster_state& state, model::writer_state& writer)
      : state_(state), writer_(writer), counts_(state), writer_counts_(writer), names_(state.names) {
    each_column([](auto& column) { column.open_undo(); });
  }
  undoable(const undoable&) = delete;
  undoable& operator=(const undoable&) = delete;
  ~undoable() {
    if (!open_) return;
    each_column([](auto& column) { column.roll_back(); });
    static_cast<model::cluster_counts&>(state_) = counts_;
    static_cast<model::writer_counts&>(writer_) = writer_counts_;
    state_.names = std::move(names_);
    writer_.dead_name_bytes += state_.names->bytes() - bytes_;
  }

  void keep() noexcept {
    open_ = false;
    each_column([](auto& column) { column.keep(); });
  }

 private:
  template <class Do>
  void each_column(const Do& act) {
    state_.each_column(act);
    writer_.each_column(act);
  }

  model::cluster_state& state_;
  model::writer_state& writer_;
  model::cluster_counts counts_;
  model::writer_counts writer_counts_;
  std::shared_ptr<base::string_pool> names_;
  std::size_t bytes_ = names_->bytes();
  bool open_ = true;
};

}  // namespace

result<void> cluster::impl::apply(std::span<const table_view> tables, model::on_invalid invalid_rows) {
  model::bad_rows bad;
  for (;;) {  // every attempt knows more rows to leave out than the one before
    undoable before(state, writer);
    model::edit edit(state, writer, names, invalid_rows, std::move(bad));
    result<void> done = edit.run(tables);
    if (done) {
      edit.keep_names();
      before.keep();
      return done;
    }
    if (!edit.wants_retry()) return done;
    bad = edit.take_bad_rows();
  }
}

result<snapshot> cluster::impl::preview(std::span<const table_view> tables, model::on_invalid invalid_rows) try {
  model::bad_rows bad;
  for (;;) {
    // Copies share their pages.
    model::cluster_state made = state;
    model::writer_state scratch = writer;
    const std::size_t bytes = state.names->bytes();
    model::edit edit(made, scratch, names, invalid_rows, std::move(bad));
    edit.keep_pool();
    result<void> done = edit.run(tables);
    writer.dead_name_bytes += state.names->bytes() - bytes;
    if (done) {
      writer.last_version = made.version;
      return model::snapshot_of(made);
    }
    if (!edit.wants_retry()) return done.take_failure();
    bad = edit.take_bad_rows();
  }
} catch (const std::bad_alloc&) {
  return error{status::no_memory, "out of memory; there is no preview", {}};
}

namespace {

/// The option of that name if it is one of a cluster.
result<const option_info*> cluster_option(std::string_view name) {
  std::vector<std::string_view> names;
  for (const option_info& o : option_list()) {
    if (o.name == name && o.applies_to == option_target::cluster) return &o;
    if (o.name == name) {
      return error{status::argument, "option " + std::string(name) + " is one of an engine, not of a cluster", {}};
    }
    if (o.applies_to == option_target::cluster) names.push_back(o.name);
  }
  std::string message = "a cluster has no option '" + base::shown(name) + "'";
  const std::string_view nearest = base::nearest_name(name, names);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  return error{status::not_found, std::move(message), {}};
}

}  // namespace

result<void> cluster::set(std::string_view option, std::string_view value) {
  result<const option_info*> known = cluster_option(option);
  if (!known) return known.failure();
  if (value != "reject" && value != "quarantine") {
    return error{status::argument,
                 "option " + std::string(option) + ": '" + base::shown(value) +
                     "' is not one of: " + std::string((*known)->choices),
                 {}};
  }
  impl_->invalid = value == "quarantine" ? model::on_invalid::quarantine : model::on_invalid::reject;
  return {};
}

result<std::string> cluster::get(std::string_view option) const {
  if (auto known = cluster_option(option); !known) return known.failure();
  return std::string(impl_->invalid == model::on_invalid::quarantine ? "quarantine" : "reject");
}

snapshot cluster::take_snapshot() { return model::snapshot_of(impl_->state); }

namespace {

error not_found(std::string_view kind, std::string_view name) {
  return {status::not_found, "there is no " + std::string(kind) + " '" + base::shown(name) + "'", {}};
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

// ---- decisions that are being carried out ------------------------------------------------------------------------

result<void> cluster::impl::carry_out(model::assumptions::step change) {
  std::vector<table_view> views;
  views.reserve(change.tables.size());
  for (const table& one : change.tables) views.push_back(one.view());
  if (!views.empty()) {
    if (auto done = apply(views, model::on_invalid::reject); !done) return done;
  }
  assumed.finish(std::move(change), state, names);
  return {};
}

result<void> cluster::impl::report(std::span<const entity_id> pods, model::report_kind outcome) {
  for (const entity_id pod : pods) {
    if (pod.kind() != entity_kind::pod) return error{status::wrong_kind, "the identifier does not name a pod", pod};
  }
  try {
    return carry_out(assumed.report(state, names, pods, outcome));
  } catch (const std::bad_alloc&) {
    return error{status::no_memory, "out of memory; nothing was reported", {}};
  }
}

result<void> cluster::confirm(std::span<const entity_id> pods) { return impl_->report(pods, model::report_kind::done); }

result<void> cluster::forget(std::span<const entity_id> pods, forget_reason why) {
  return impl_->report(pods, why == forget_reason::lost ? model::report_kind::lost : model::report_kind::failed);
}

std::vector<assumption> cluster::assumed() const { return impl_->assumed.list(impl_->state); }

result<table> cluster::to_table(table_kind kind) const {
  const model::cluster_state& s = impl_->state;
  model::schema_writer w(kind == table_kind::conflict ? kind : table_kind::assumption);
  if (kind == table_kind::conflict) {
    for (const conflict& one : impl_->conflicts) {
      w.put(col::conflict_commit, one.commit);
      w.put(col::conflict_kind, schema_of(static_cast<std::uint32_t>(one.kind))->name);
      w.put(col::conflict_subject, one.subject.value);
      w.put(col::conflict_name, std::string_view(one.name));
      w.put(col::conflict_text, std::string_view(one.text));
    }
    return w.take();
  }
  if (kind != table_kind::assumption)
    return error{status::unsupported, "a cluster has tables of assumptions and conflicts only", {}};
  for (const assumption& one : assumed()) {
    const node_row at = (*s.node_row_of_slot)[one.node.slot()];
    w.put(col::assumption_pod, one.pod.value);
    w.put(col::assumption_pod_name, s.pod_names[one.pod.slot()]);
    w.put(col::assumption_group, one.group.value);
    w.put(col::assumption_group_name, s.group_names[one.group.slot()]);
    w.put(col::assumption_kind, static_cast<std::uint8_t>(one.kind));
    w.put(col::assumption_node, one.node.value);
    w.put(col::assumption_node_name, at == no_row ? std::string_view{} : std::string_view((*s.nodes)[at]->name));
    w.put_flag(col::assumption_lost, one.lost);
  }
  return w.take();
}

}  // namespace kaisched
