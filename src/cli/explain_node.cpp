// What is on a node, and why no more of what waits comes to it.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/explain.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

std::vector<std::int64_t> row_of(const session& over, std::span<const std::int64_t> matrix, node_row node) {
  const std::size_t dimensions = over.view().dimension_count();
  const auto row = matrix.subspan(node * dimensions, dimensions);
  return {row.begin(), row.end()};
}

/// Pods that are on the node, leave it, or have a claim on it at the end.
std::vector<pod_row> pods_on(const session& over, node_row node) {
  const model::cluster_state& s = model::state_of(over.base());
  const session_view view = over.view();
  std::vector<pod_row> pods;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live && view.node_of(p) == node && model::is_in(view.status_of(p), model::active_used)) {
      pods.push_back(p);
    }
  }
  std::sort(pods.begin(), pods.end(), [&](pod_row a, pod_row b) { return view.pod_name(a) < view.pod_name(b); });
  return pods;
}

/// Pod groups that the node refuses for the same thing.
struct refusal {
  constraint what = constraint::none;
  dimension dim = no_row;
  std::int64_t groups = 0;
  std::int64_t least = 0;  ///< asked for by one pod
  std::int64_t most = 0;
  std::int64_t have = 0;
};

struct answers {
  std::int64_t groups = 0;
  std::int64_t welcome = 0;      ///< could be placed here, one pod at a time
  std::vector<refusal> refused;  ///< most groups first
};

void count(const reason& why, answers& to) {
  if (why.what == constraint::none) {
    ++to.welcome;
    return;
  }
  const auto same = std::find_if(to.refused.begin(), to.refused.end(),
                                 [&](const refusal& one) { return one.what == why.what && one.dim == why.dim; });
  if (same == to.refused.end()) {
    to.refused.push_back({why.what, why.dim, 1, why.need, why.need, why.have});
    return;
  }
  ++same->groups;
  same->least = std::min(same->least, why.need);
  same->most = std::max(same->most, why.need);
}

/// The pod that a group waits with; no_row where no node can change that. In `compat` a pod that the reason names may
/// have got a claim since.
pod_row waiting_pod(const session& over, const waiting_group& group) {
  const reason& first = group.reasons.front();
  if (first.pod == no_row && first.what != constraint::topology) return no_row;
  const session_view view = over.view();
  if (first.pod != no_row && view.status_of(first.pod) == pod_status::pending) return first.pod;
  const model::cluster_state& s = model::state_of(over.base());
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live && s.pods[p].group == group.group && view.status_of(p) == pod_status::pending) return p;
  }
  return no_row;
}

/// What the node says to the first pod of every group that waits. Pods that ask for the same are asked about once.
result<answers> ask_for_waiting(const explanation& of, node_row node) {
  const session& over = of.ran.over;
  std::map<class_row, reason> known;
  answers found;
  for (const waiting_group& group : of.ran.figures.waiting_groups) {
    const pod_row pod = waiting_pod(over, group);
    if (pod == no_row) continue;
    ++found.groups;
    auto it = known.find(over.view().pod_class(pod));
    if (it == known.end()) {
      const result<candidate_table> table = over.candidates(pod);
      if (!table) return table.failure();
      const auto here = std::find_if(table->nodes.begin(), table->nodes.end(),
                                     [&](const candidate& one) { return one.node == node; });
      it = known.emplace(over.view().pod_class(pod), here->refusal).first;
    }
    count(it->second, found);
  }
  std::stable_sort(found.refused.begin(), found.refused.end(),
                   [](const refusal& a, const refusal& b) { return a.groups > b.groups; });
  return found;
}

std::string text_of(const session& over, const refusal& one) {
  const std::string groups = counted(one.groups, "group");
  const auto amount = [&](std::int64_t value) {
    if (one.dim == dim_memory) return bytes(value);
    if (one.dim == dim_cpu || one.dim == dim_gpu) return fmt::format("{:g}", static_cast<double>(value) / 1000.0);
    return grouped(value);
  };
  const std::string_view name = one.dim == no_row ? std::string_view{} : over.view().dimension_name(one.dim);
  const std::string asked =
      one.least == one.most ? amount(one.most) : fmt::format("{} to {}", amount(one.least), amount(one.most));
  switch (one.what) {
    case constraint::resource:
      return fmt::format("{}: a pod asks for {} {}, {} free or coming free", groups, asked, name,
                         amount(std::max<std::int64_t>(0, one.have)));
    case constraint::resource_busy:
      return fmt::format("{}: a pod asks for {} {}, which is free only in pieces", groups, asked, name);
    case constraint::node_not_ready:
      return fmt::format("{}: the node is not ready", groups);
    case constraint::node_unschedulable:
      return fmt::format("{}: the node is cordoned", groups);
    case constraint::node_selector:
      return fmt::format("{}: the node lacks labels that are asked for", groups);
    case constraint::taint:
      return fmt::format("{}: a taint is not tolerated", groups);
    case constraint::host_port:
      return fmt::format("{}: a host port is taken", groups);
    case constraint::pod_affinity:
      return fmt::format("{}: pods that must be near are not", groups);
    case constraint::pod_anti_affinity:
      return fmt::format("{}: pods are here that must not be near", groups);
    case constraint::spread:
      return fmt::format("{}: too many pods like it are near, or the topology key is missing", groups);
    case constraint::power:
      return fmt::format("{}: a power feed has too little left", groups);
    default:
      return fmt::format("{}: {}", groups, constraint_name(one.what));
  }
}

std::string state_text(const model::node_info& node) {
  if (!node.ready) return "not ready: nothing is placed here";
  return node.unschedulable ? "cordoned: nothing is placed here" : "ready";
}

void print_amounts(const explanation& of, node_row node) {
  const terminal& out = of.to.out();
  const session_view view = of.ran.over.view();
  const auto capacity = row_of(of.ran.over, view.node_capacity(), node);
  const auto idle = row_of(of.ran.over, view.node_idle(), node);
  const auto releasing = row_of(of.ran.over, view.node_releasing(), node);
  out.line();
  out.line(out.paint(style::dim, fmt::format("  {}{}{}{}", pad_right("", 20), pad_left("capacity", 14),
                                             pad_left("free", 14), pad_left("coming free", 14))));
  for (dimension d = 0; d < capacity.size(); ++d) {
    if (capacity[d] == 0 && idle[d] == 0) continue;
    const auto shown = [&](std::int64_t amount) {
      const std::string text = d == dim_memory                ? bytes(amount)
                               : d == dim_cpu || d == dim_gpu ? gpus(amount)
                                                              : grouped(amount);
      return pad_left(text, 14);
    };
    const std::string_view name = d == dim_cpu ? "cores" : d == dim_gpu ? "GPUs" : view.dimension_name(d);
    out.line(fmt::format("  {}{}{}{}", pad_right(name, 20), shown(capacity[d]), shown(idle[d]), shown(releasing[d])));
  }
}

void print_pods(const explanation& of, const std::vector<pod_row>& pods) {
  constexpr std::size_t most_pods = 20;
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  print_section(out, counted(std::ssize(pods), "pod"));
  std::size_t widest = 0;
  for (const pod_row p : pods) widest = std::max(widest, columns_of(over.base().pod_name(p)));
  widest = std::min<std::size_t>(widest, 40);
  for (std::size_t i = 0; i < std::min(pods.size(), most_pods); ++i) {
    out.line(fmt::format("  {}  {}; {}", pad_right(cut(over.base().pod_name(pods[i]), widest), widest),
                         fate_text(of.ran, pods[i], with_node::no),
                         amounts_text(over, over.view().pod_request(pods[i]))));
  }
  if (pods.size() > most_pods) {
    out.line(out.paint(style::dim, fmt::format("  and {} more", grouped(std::ssize(pods) - std::int64_t{most_pods}))));
  }
}

void print_node(const explanation& of, node_row node, const std::vector<pod_row>& pods, const answers& said) {
  const terminal& out = of.to.out();
  const model::node_info& info = *(*model::state_of(of.ran.over.base()).nodes)[node];
  out.line(fmt::format("{}  {}", out.paint(style::bold, "node " + info.name), state_text(info)));
  std::string labels;
  for (const auto& [key, value] : info.labels) labels += fmt::format("{}{}={}", labels.empty() ? "" : " ", key, value);
  if (!labels.empty()) print_fact(out, "labels", labels);
  std::string taints;
  for (const std::string_view one : split_list(info.taints_text))
    taints += fmt::format("{}{}", taints.empty() ? "" : " ", one);
  if (!taints.empty()) print_fact(out, "taints", taints);
  print_amounts(of, node);
  print_divisions(of, no_row, node);
  print_pods(of, pods);
  if (said.groups == 0) return;
  print_section(out, fmt::format("Why the {} that {} are not here", counted(said.groups, "pod group"),
                                 said.groups == 1 ? "waits" : "wait"));
  for (const refusal& one : said.refused) print_item(out, text_of(of.ran.over, one));
  if (said.welcome > 0) {
    print_item(out, fmt::format("{}: a pod would fit, but the group waits for something else",
                                counted(said.welcome, "group")));
  }
}

}  // namespace

result<json> explain_node(const explanation& of, node_row node) {
  const session& over = of.ran.over;
  const session_view view = over.view();
  const std::vector<pod_row> pods = pods_on(over, node);
  const result<answers> said = ask_for_waiting(of, node);
  if (!said) return said.failure();
  if (of.to.shows_report()) print_node(of, node, pods, *said);
  json list = json::array();
  for (const pod_row p : pods) {
    const decision* last = decision_about(of.ran, p);
    list.push_back({{"name", view.pod_name(p)},
                    {"status", pod_status_name(view.status_of(p))},
                    {"decision", last == nullptr ? "" : decision_kind_name(last->kind)},
                    {"request", amounts_json(over, view.pod_request(p))}});
  }
  json refused = json::array();
  for (const refusal& one : said->refused) {
    refused.push_back({{"constraint", constraint_name(one.what)},
                       {"dimension", one.dim == no_row ? std::string_view{} : view.dimension_name(one.dim)},
                       {"groups", one.groups},
                       {"least_need", one.least},
                       {"most_need", one.most},
                       {"have", one.have},
                       {"text", text_of(over, one)}});
  }
  return json{{"kind", "node"},
              {"name", view.node_name(node)},
              {"ready", view.node_ready(node)},
              {"unschedulable", view.node_unschedulable(node)},
              {"capacity", amounts_json(over, row_of(over, view.node_capacity(), node))},
              {"idle", amounts_json(over, row_of(over, view.node_idle(), node))},
              {"releasing", amounts_json(over, row_of(over, view.node_releasing(), node))},
              {"divisions", divisions_json(of.ran, no_row, node)},
              {"pods", std::move(list)},
              {"groups_waiting", said->groups},
              {"groups_that_would_fit", said->welcome},
              {"refused", std::move(refused)}};
}

}  // namespace kaisched::cli
