// Rules about pods and nodes.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/explain.hpp"
#include "cli/lint_rules.hpp"
#include "cli/terminal.hpp"
#include "model/device_claims.hpp"
#include "model/snapshot_access.hpp"
#include "policy/access.hpp"
#include "policy/predicates/reservations.hpp"

namespace kaisched::cli {

namespace {

using model::cluster_state;
using model::pod_class;

/// Calls `visit(class row, first pod, number of pods)` for every kind of pods that wait.
template <class Visit>
void for_waiting_classes(const cluster_state& s, Visit visit) {
  std::map<class_row, std::pair<pod_row, std::int64_t>> classes;
  std::vector<class_row> order;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    const auto status = static_cast<pod_status>(s.live.pod_state[p]);
    if (!s.pods[p].live || (status != pod_status::pending && status != pod_status::gated)) continue;
    const auto [found, is_new] = classes.try_emplace(s.pods[p].pod_class, p, 0);
    if (is_new) order.push_back(s.pods[p].pod_class);
    ++found->second.second;
  }
  for (const class_row row : order) visit(row, classes[row].first, classes[row].second);
}

std::string others_text(std::int64_t pods) {
  return pods == 1 ? std::string() : fmt::format(" (and {})", counted(pods - 1, "other pod"));
}

/// A requirement that no node meets because the label is nowhere, as text; empty if there is none.
std::string unmet(const lint_input& in, const model::requirement& one) {
  switch (one.op) {
    case model::selector_operator::in:
      if (std::any_of(one.values.begin(), one.values.end(),
                      [&](const std::string& value) { return in.has_label(one.key, &value); })) {
        return {};
      }
      return one.values.size() == 1 ? fmt::format("{}={}", one.key, one.values.front())
                                    : fmt::format("{} in ({})", one.key, fmt::join(one.values, ", "));
    case model::selector_operator::exists:
    case model::selector_operator::greater:
    case model::selector_operator::less:
      return in.has_label(one.key) ? std::string() : one.key;
    case model::selector_operator::not_in:
    case model::selector_operator::does_not_exist:
      break;
  }
  return {};
}

/// What a class asks of labels and no node has; empty if every label is somewhere.
std::string unknown_labels(const lint_input& in, const pod_class& ask) {
  for (const auto& [key, value] : ask.node_selector) {
    if (!in.has_label(key, &value)) return fmt::format("{}={}", key, value);
  }
  std::string first;
  for (const model::selector& term : ask.node_affinity) {  // one of the terms is enough
    std::string missing;
    for (const model::requirement& one : term.requirements) {
      if (missing.empty()) missing = unmet(in, one);
    }
    if (missing.empty()) return {};
    if (first.empty()) first = std::move(missing);
  }
  return first;
}

/// Some node takes pods of the class as far as amounts, devices, labels and taints are concerned.
bool fits_somewhere(const session_access& access, const pod_class& ask) {
  for (node_row row = 0; row < access.state->node_count(); ++row) {
    if (policy::node_verdict(access, ask, row) == constraint::none &&
        policy::fits(access, ask, row, policy::free_amount::idle)) {
      return true;
    }
  }
  return false;
}

std::string refusals_text(const session& empty, pod_row pod) {
  const result<candidate_table> table = empty.candidates(pod);
  if (!table) return table.failure().message;
  std::vector<reason> refusals;
  for (const candidate& one : table->nodes) refusals.push_back(one.refusal);
  std::string text;
  for (const reason& why : merged(refusals)) text += (text.empty() ? "" : "; ") + empty.text(why);
  return text.empty() ? "there is no node" : text;
}

}  // namespace

void lint_unknown_label(const lint_input& in) {
  const cluster_state& s = in.state;
  for_waiting_classes(s, [&](class_row row, pod_row pod, std::int64_t pods) {
    const pod_class& ask = *s.classes[row];
    if (const std::string missing = unknown_labels(in, ask); !missing.empty()) {
      in.add("pod", s.pod_names[pod], fmt::format("asks for {}, which no node has{}", missing, others_text(pods)));
    }
    const auto look = [&](const std::string& topology, std::string_view effect) {
      if (in.has_label(topology)) return;
      in.add(
          "pod", s.pod_names[pod],
          fmt::format("names the topology {}, which is a label of no node: {}{}", topology, effect, others_text(pods)));
    };
    constexpr std::string_view no_place = "it finds no place";
    constexpr std::string_view no_effect = "the rule has no effect";
    for (const model::affinity_term& term : ask.affinity) look(term.topology_key, no_place);
    for (const model::affinity_term& term : ask.anti_affinity) look(term.topology_key, no_effect);
    for (const model::pod_preference& one : ask.preferences) look(one.term.topology_key, no_effect);
    const bool spreads = in.empty != nullptr && policy::inside(in.empty->view()).neighbours != nullptr;
    for (const model::spread_constraint& one : ask.spread)
      look(one.topology_key, spreads && !one.soft ? no_place : no_effect);
  });
}

void lint_fits_no_node(const lint_input& in) {
  if (in.empty == nullptr) return;
  const cluster_state& s = model::state_of(in.empty->base());
  const session_view view = in.empty->view();
  for_waiting_classes(s, [&](class_row row, pod_row pod, std::int64_t pods) {
    const pod_class& ask = *s.classes[row];
    // Labels that no node has are another rule's.
    if (!unknown_labels(in, ask).empty() || fits_somewhere(policy::inside(view), ask)) return;
    in.add("pod", s.pod_names[pod],
           fmt::format("fits no node even when all are empty: {}{}", refusals_text(*in.empty, pod), others_text(pods)));
  });
}

/// By node, GPUs that more than one pod has through a claim, once for each pod beyond the first: a node holds them
/// once.
std::vector<std::int64_t> held_again(const cluster_state& s) {
  std::vector<std::int64_t> again(s.node_count(), 0);
  std::map<std::string_view, const model::claim_info*> claims;
  for (std::uint32_t slot = 0; slot < s.claim_slots; ++slot) {
    if (s.claims[slot] != nullptr) claims.emplace(s.claims[slot]->name, s.claims[slot].get());
  }
  std::set<std::pair<std::uint32_t, std::string_view>> held;
  for (pod_row p = 0; p < s.pod_slots && !claims.empty(); ++p) {
    const std::uint32_t slot = s.live.pod_node[p];
    if (!s.pods[p].live || slot == no_row || s.class_of(p).claimed_devices == 0) continue;
    if (!model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::active_used)) continue;
    for (const std::string_view name : split_list(s.class_of(p).ask.claims)) {
      const auto claim = claims.find(name);
      if (claim == claims.end()) continue;
      for (const std::string_view device : split_list(claim->second->devices)) {
        const bool is_gpu = model::names_gpus(device.substr(0, device.find('/')));
        if (is_gpu && !held.emplace(slot, device).second) again[(*s.node_row_of_slot)[slot]] += whole_device;
      }
    }
  }
  return again;
}

void lint_node_overcommitted(const lint_input& in) {
  const cluster_state& s = in.state;
  const std::vector<std::int64_t> again = held_again(s);
  for (node_row row = 0; row < s.node_count(); ++row) {
    for (dimension d = 0; d < s.dims(); ++d) {
      const std::size_t at = std::size_t{row} * s.dims() + d;
      const std::int64_t idle = (*s.live.idle)[at] + (d == dim_gpu ? again[row] : 0);
      if (idle >= 0) continue;
      const auto text = [&](std::int64_t amount) {
        return d < quota_dimensions ? quota_text(d, amount)
                                    : fmt::format("{} {}", grouped(amount), (*s.dimensions)[d].name);
      };
      in.add("node", (*s.nodes)[row]->name,
             fmt::format("its pods hold {}, it has {}", text((*s.capacity)[at] - idle), text((*s.capacity)[at])));
    }
  }
}

void lint_no_position(const lint_input& in) {
  for (const model::topology_info& topology : *in.state.topologies) {
    for (const auto& [level, shape] : topology.shapes) {
      for (const auto& node : *in.state.nodes) {
        const bool is_there = std::all_of(
            topology.levels.begin(), topology.levels.end(),
            [&node = *node](const std::string& key) { return model::find_label(node.labels, key) != nullptr; });
        if (!is_there || node->position_in(level) != nullptr) continue;
        in.add("node", node->name,
               fmt::format("has no position in {} {}, whose shape is {} (topology {})", level,
                           *model::find_label(node->labels, level), model::shape_text(shape), topology.name));
      }
    }
  }
}

void lint_unused_level(const lint_input& in) {
  for (const model::topology_info& topology : *in.state.topologies) {
    for (const std::string& level : topology.levels) {
      if (in.has_label(level)) continue;
      in.add("topology", topology.name, fmt::format("its level {} is a label that no node has", level));
    }
  }
}

void lint_clock_behind(const lint_input& in) {
  const cluster_state& s = in.state;
  std::int64_t late = 0;
  std::string_view example;
  for (group_row g = 0; g < s.group_slots; ++g) {
    if (!s.groups[g].live) continue;
    const std::int64_t start = s.group_extras[g].last_start;
    if (s.groups[g].created <= in.now && (start == unset || start <= in.now)) continue;
    if (late++ == 0) example = s.group_names[g];
  }
  if (late == 0) return;
  in.add("", "",
         fmt::format("now is {}, which is before {} created or started, such as {}", in.now,
                     late == 1 ? std::string("a pod group was") : fmt::format("{} pod groups were", grouped(late)),
                     example));
}

void lint_closed_nodes(const lint_input& in) {
  std::int64_t not_ready = 0;
  std::int64_t cordoned = 0;
  for (const auto& node : *in.state.nodes) {
    if (!node->ready) ++not_ready;
    if (node->ready && node->unschedulable) ++cordoned;
  }
  if (not_ready + cordoned == 0) return;
  in.add("", "", fmt::format("{} not ready and {} cordoned", counted(not_ready, "node"), grouped(cordoned)));
}

void lint_empty_reservation(const lint_input& in) {
  const cluster_state& s = in.state;
  for (const model::reservation_info& one : *s.reservations) {
    const auto miss = [&](std::string_view what, std::string_view name) {
      in.add("reservation", one.name, fmt::format("names {} {}, which is not there", what, name));
    };
    for (const std::string_view node : split_list(one.nodes)) {
      if (policy::find_node(s, node) == no_row) miss("node", node);
    }
    if (policy::reserved_nodes(s, one).empty() && one.nodes.empty())
      in.add("reservation", one.name,
             one.selector_text.empty() ? std::string("there is no node")
                                       : fmt::format("no node has the labels {}", one.selector_text));
    const bool has_queue = std::any_of(s.queues->begin(), s.queues->end(),
                                       [&](const model::queue_info& q) { return q.live && q.name == one.queue; });
    if (!one.queue.empty() && !has_queue) miss("queue", one.queue);
    bool has_group = one.group.empty();
    for (group_row g = 0; g < s.group_slots && !has_group; ++g)
      has_group = s.groups[g].live && s.group_names[g] == one.group;
    if (!has_group) miss("pod group", one.group);
  }
}

void lint_reservation_over(const lint_input& in) {
  for (const model::reservation_info& one : *in.state.reservations) {
    if (policy::reserved_at(one, in.now)) continue;
    in.add("reservation", one.name, fmt::format("ended at {}, and now is {}", one.end, in.now));
  }
}

void lint_unread_column(const lint_input& in) {
  const cluster_state& s = in.state;
  const auto has = [](const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const auto has_part = [&](std::string_view name) { return has(in.options.parts, name); };
  const bool reads_loads = has_part("colocation") && in.options.mode == decision_mode::strict;
  const bool reads_speeds = has_part("goodput") || has(in.options.actions, "resize");
  const auto first_node =
      std::find_if(s.nodes->begin(), s.nodes->end(), [](const auto& n) { return !n->power_feeds.empty(); });
  if (first_node != s.nodes->end() && !has_part("powercap"))
    in.add("node", (*first_node)->name, "names power feeds, which are overdrawn without the part powercap");
  const auto kept = std::find_if(s.queues->begin(), s.queues->end(), [](const model::queue_info& one) {
    return one.live && (!one.reclaimable || one.guarantee != model::quota_vector{});
  });
  if (kept != s.queues->end() && !has(in.options.actions, "volcano"))
    in.add("queue", kept->name, "has a guarantee, or is not reclaimable, which only the action volcano looks at");
  for (pod_row p = 0; p < s.pod_slots && !reads_loads; ++p) {
    if (!s.pods[p].live || s.class_of(p).load.empty()) continue;
    in.add("pod", s.pod_names[p],
           "says what it puts on its GPU, which only the part colocation looks at, in mode strict");
    break;
  }
  bool tells_speed = false;
  bool tells_traffic = false;
  for (group_row g = 0; g < s.group_slots; ++g) {
    if (!s.groups[g].live) continue;
    const model::group_extra& extra = s.group_extras[g];
    if (!extra.speedup.empty() && !reads_speeds && !tells_speed) {
      tells_speed = true;
      in.add("pod_group", s.group_names[g],
             "says its speedup, which only the part goodput and the action resize look at");
    }
    if (extra.traffic > 0 && !has_part("traffic") && !tells_traffic) {
      tells_traffic = true;
      in.add("pod_group", s.group_names[g], "says its traffic, which only the part traffic looks at");
    }
  }
}

}  // namespace kaisched::cli
