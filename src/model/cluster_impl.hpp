#pragma once
/// @file
/// What is behind a `cluster`, for the parts of it that other layers complete.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <kaisched/cluster.hpp>

#include "model/assumptions.hpp"
#include "model/edit.hpp"
#include "model/state.hpp"
#include "model/writer.hpp"

namespace kaisched {

namespace framework {
class session_state;
}
struct decision;

struct cluster::impl {
  /// `invalid_rows` says what becomes of bad ones.
  result<void> apply(std::span<const table_view> tables, model::on_invalid invalid_rows);
  /// What the cluster would be; it stays as it is.
  result<snapshot> preview(std::span<const table_view> tables, model::on_invalid invalid_rows);
  /// Applies what the step changes and keeps what it leaves open: all of it or nothing.
  result<void> carry_out(model::assumptions::step change);
  // With what sessions have decided; completed by the engine.
  result<std::vector<conflict>> assume(const framework::session_state& decided, cluster& self);
  void check_stand_in(const snapshot& of, const decision& d, std::vector<conflict>& to) const;
  result<void> report(std::span<const entity_id> pods, model::report_kind outcome);

  model::cluster_state state;
  model::writer_state writer;
  model::name_maps names;
  std::optional<std::uint64_t> resumed_at;  ///< the version that the cluster goes on from
  model::on_invalid invalid = model::on_invalid::reject;
  model::assumptions assumed;
  std::vector<conflict> conflicts;  ///< of the last session that was taken in
};

}  // namespace kaisched
