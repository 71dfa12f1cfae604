// Devices that a session divides anew: operations of the statement.
#include <algorithm>

#include "framework/session_state.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::framework {

namespace {

std::vector<std::string> texts_of(const std::vector<model::mig_instance>& instances) {
  std::vector<std::string> texts;
  texts.reserve(instances.size());
  for (const model::mig_instance& one : instances) texts.push_back(model::text_of(one));
  return texts;
}

}  // namespace

void session_statement::describe_division(const division& what, decision& d) {
  d.kind = decision_kind::repartition;
  d.group = what.group;
  d.node = what.node;
  d.devices = {std::uint64_t{1} << what.device, whole_device};
  d.layout = texts_of(what.layout);
  std::vector<model::mig_instance> gone = what.idle;
  gone.insert(gone.end(), what.coming.begin(), what.coming.end());
  std::sort(gone.begin(), gone.end(),
            [](const model::mig_instance& a, const model::mig_instance& b) { return a.start < b.start; });
  d.gone = texts_of(gone);
  d.drain_cost = what.drain_cost;
}

/// Amounts are what a recount gives, but for these: what is made is coming free, what goes is not there any more.
void session_statement::charge_division(model::live_state& to, const division& what, std::int64_t sign) const {
  const std::size_t at = static_cast<std::size_t>(what.node) * c_->state().dims();
  const auto add = [&](base::cow<std::vector<std::int64_t>>& amounts, const model::mig_instance& one,
                       std::int64_t amount) {
    const dimension d = c_->state().mig_dimension(one.profile);
    if (d != no_row) amounts.write()[at + d] += amount;
  };
  for (const model::mig_instance& one : what.made) add(to.releasing, one, sign);
  for (const model::mig_instance& one : what.idle) add(to.idle, one, -sign);
  for (const model::mig_instance& one : what.coming) add(to.releasing, one, -sign);
  if (!what.was_whole) return;
  const device_row d = (*c_->state().first_device)[what.node] + what.device;
  to.device_free.write()[d] -= sign * (*c_->state().device_units)[d];
  model::add_gpus(c_->state(), to, what.node, -sign * whole_device, 0);
}

void session_statement::divide(division what) {
  operation op;
  op.kind = operation_kind::divide;
  op.undoes = static_cast<std::uint32_t>(divisions.size());
  log.push_back(op);
  what.before = c_->extended_;
  // Nodes are charged only for what they can have at all.
  auto more = std::make_shared<model::cluster_state>(c_->state());
  const std::size_t at = static_cast<std::size_t>(what.node) * more->dims();
  for (const model::mig_instance& one : what.made) {
    const dimension d = more->mig_dimension(one.profile);
    if (d != no_row) ++more->capacity.write()[at + d];
  }
  c_->extended_ = std::move(more);
  c_->state_ = c_->extended_.get();
  c_->access.state = c_->state_;
  charge_division(c_->live, what, 1);
  ++frees;
  ++c_->access.changes;
  c_->choice.forget_classes(*c_);
  note_node(what.node);
  divisions.push_back(std::move(what));
}

void session_statement::undo_division() {
  const division what = std::move(divisions.back());
  divisions.pop_back();
  charge_division(c_->live, what, -1);
  c_->extended_ = what.before;
  c_->state_ = c_->extended_ == nullptr ? &model::state_of(c_->base) : c_->extended_.get();
  c_->access.state = c_->state_;
  ++c_->access.changes;
  c_->choice.forget_classes(*c_);
  note_node(what.node);
}

const division* session_statement::division_of(node_row node, std::uint32_t device) const {
  const auto found = std::find_if(divisions.rbegin(), divisions.rend(),
                                  [&](const division& d) { return d.node == node && d.device == device; });
  return found == divisions.rend() ? nullptr : &*found;
}

}  // namespace kaisched::framework
