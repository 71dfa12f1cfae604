#include "cli/lint.hpp"

#include <array>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>

#include "cli/lint_rules.hpp"
#include "cli/terminal.hpp"
#include "io/cluster_input.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::cli {

namespace {

struct rule_entry {
  lint_rule about;
  void (*apply)(const lint_input&);
};

constexpr severity warning = severity::warning;
constexpr severity note = severity::note;

constexpr std::array rules{
    rule_entry{
        {"quota-above-capacity", warning,
         "Top-level queues deserve more together than the nodes that are ready and not cordoned have: not all can "
         "get their quota at once."},
        lint_quota_above_capacity},
    rule_entry{{"quota-above-parent", warning,
                "The children of a queue deserve more together than the queue itself: not all can get their quota at "
                "once."},
               lint_quota_above_parent},
    rule_entry{{"quota-above-limit", warning, "A queue deserves more than it may hold: the difference is never used."},
               lint_quota_above_limit},
    rule_entry{{"empty-queue", note, "A queue without children has no pod groups."}, lint_empty_queue},
    rule_entry{
        {"inner-queue", warning,
         "A pod group is in a queue that has child queues. Only queues without children are served: it waits for "
         "ever."},
        lint_inner_queue},
    rule_entry{{"empty-group", warning, "A pod group has no pods."}, lint_empty_group},
    rule_entry{{"gang-too-large", warning,
                "A pod group needs more pods at once than it has: it waits until the rest has been created."},
               lint_gang_too_large},
    rule_entry{
        {"gang-above-limit", warning,
         "What a pod group must start at once is more than a queue on its path may ever hold: it waits for ever."},
        lint_gang_above_limit},
    rule_entry{{"gang-above-quota", warning,
                "A pod group that may not be preempted must start more at once than the quota of a queue on its path: "
                "it waits for ever, since such groups only start within quota."},
               lint_gang_above_quota},
    rule_entry{
        {"unknown-sub-group", warning, "A pod names a sub-group that its pod group does not have: it is never placed."},
        lint_unknown_sub_group},
    rule_entry{
        {"dependency-circle", warning, "Pod groups come after each other in a circle: none of them ever starts."},
        lint_dependency_circle},
    rule_entry{{"unknown-dependency", warning,
                "A pod group comes after one that is not there, or that has left otherwise: it waits until somebody "
                "changes that."},
               lint_unknown_dependency},
    rule_entry{
        {"unknown-label", warning, "A pod that waits selects nodes, or names a topology, by a label that no node has."},
        lint_unknown_label},
    rule_entry{{"fits-no-node", warning,
                "A pod that waits could not run on any node even if all nodes were empty, ready and not cordoned."},
               lint_fits_no_node},
    rule_entry{{"node-overcommitted", warning, "The pods on a node hold more than it has."}, lint_node_overcommitted},
    rule_entry{{"unused-level", warning, "A level of a topology is a label that no node has."}, lint_unused_level},
    rule_entry{{"no-position", note,
                "A node of a domain whose level has a shape says no position there: groups that require the level do "
                "not get it."},
               lint_no_position},
    rule_entry{
        {"clock-behind", note, "The clock of the file (now) is earlier than the creation or start of what is in it."},
        lint_clock_behind},
    rule_entry{{"closed-nodes", note, "Nodes are not ready or cordoned: their capacity does not count."},
               lint_closed_nodes},
    rule_entry{{"empty-reservation", warning,
                "A reservation names a node, a queue or a pod group that is not there, or labels that no node has."},
               lint_empty_reservation},
    rule_entry{{"reservation-over", note, "A reservation has ended: it closes no node any more."},
               lint_reservation_over},
    rule_entry{
        {"unread-column", warning,
         "Limits of power feeds, loads of GPUs, speeds, traffic or what is kept for a queue are told, and no part "
         "or action of the policy looks at them."},
        lint_unread_column},
};

/// The cluster as it would be if nothing ran and every node could be used.
result<snapshot> emptied(const snapshot& of) {
  const model::cluster_state& s = model::state_of(of);
  table gone(table_kind::pod, table_op::remove);
  table::column& names = gone.add(col::pod_name, column_type::string);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    const bool on_node = model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::active_used);
    if (s.pods[p].live && on_node) names.push(s.pod_names[p]);
  }
  io::cluster_input input;
  for (const table_info& info : schema()) {
    if (!info.input) continue;
    result<table> rows = of.to_table(info.kind);
    if (!rows) return rows.take_failure();
    input.add(std::move(*rows), {});
  }
  result<cluster> copy = io::build_cluster(input);
  if (!copy) return copy.take_failure();
  table opened(table_kind::node, table_op::change);
  table::column& nodes = opened.add(col::node_name, column_type::string);
  table::column& ready = opened.add(col::node_ready, column_type::u8);
  table::column& cordoned = opened.add(col::node_unschedulable, column_type::u8);
  for (const auto& node : *s.nodes) {
    nodes.push(std::string_view(node->name));
    ready.push(std::uint8_t{1});
    cordoned.push(std::uint8_t{0});
  }
  for (const table* change : {&gone, &opened}) {
    if (change->rows() == 0) continue;
    if (auto done = copy->apply(*change); !done) return done.take_failure();
  }
  return copy->take_snapshot();
}

}  // namespace

std::string_view severity_name(severity of) noexcept {
  switch (of) {
    case severity::error:
      return "error";
    case severity::warning:
      return "warning";
    case severity::note:
      break;
  }
  return "note";
}

std::span<const lint_rule> lint_rules() noexcept {
  static const auto list = [] {
    std::array<lint_rule, rules.size()> all{};
    for (std::size_t i = 0; i < rules.size(); ++i) all[i] = rules[i].about;
    return all;
  }();
  return list;
}

std::string quota_text(std::uint32_t resource, std::int64_t amount) {
  if (resource == dim_memory) return bytes(amount);
  const bool one = amount == 1000;
  const std::string_view unit = resource == dim_gpu ? one ? "GPU" : "GPUs" : one ? "core" : "cores";
  return amount % 1000 == 0 ? fmt::format("{} {}", grouped(amount / 1000), unit)
                            : fmt::format("{:.3f} {}", static_cast<double>(amount) / 1000, unit);
}

std::vector<finding> lint(const engine& with, const snapshot& of, std::int64_t now) {
  std::vector<finding> found;
  if (const result<session> opened = with.open(of, now); !opened) {
    found.push_back({severity::error, "not-decided", "", "", opened.failure().message});
  }
  label_index labels;
  for (const auto& node : *model::state_of(of).nodes) {
    for (const auto& [key, value] : node->labels) labels[key].insert(value);
  }
  const result<snapshot> nothing_runs = emptied(of);
  std::vector<session> empty;  // at most one
  if (nothing_runs) {
    if (result<session> opened = with.open(*nothing_runs, now); opened) empty.push_back(std::move(*opened));
  }
  for (const rule_entry& rule : rules) {
    rule.apply({model::state_of(of), of, with.options(), empty.empty() ? nullptr : &empty.front(), labels, now,
                rule.about.name, rule.about.how, found});
  }
  return found;
}

}  // namespace kaisched::cli
