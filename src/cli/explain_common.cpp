// What the explanations share.
#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/explain.hpp"

namespace kaisched::cli {

namespace {

constexpr std::size_t fact_column = 14;

std::string amount_text(const session& over, dimension d, std::int64_t amount) {
  switch (d) {
    case dim_cpu:
      return fmt::format("{} {}", gpus(amount), amount == 1000 ? "core" : "cores");
    case dim_memory:
      return bytes(amount);
    case dim_gpu:
      return fmt::format("{} {}", gpus(amount), amount == whole_device ? "GPU" : "GPUs");
    default:
      return fmt::format("{} {}", grouped(amount), over.base().dimension_names()[d]);
  }
}

template <class Visit>
void for_path(const session& over, queue_row queue, Visit visit) {
  for (; queue != no_row; queue = over.view().queue_parent(queue)) visit(over.base().queue_name(queue));
}

}  // namespace

void print_fact(const terminal& out, std::string_view name, std::string_view text) {
  std::string lead = pad_right("  " + out.paint(style::dim, name), fact_column);
  for (const std::string& line : wrap(text, out.width() - fact_column)) {
    out.line(lead + line);
    lead.assign(fact_column, ' ');
  }
}

void print_item(const terminal& out, std::string_view text) {
  std::string lead = "  · ";
  for (const std::string& line : wrap(text, out.width() - 4)) {
    out.line(lead + line);
    lead = "    ";
  }
}

void print_section(const terminal& out, std::string_view title) {
  out.line();
  bool first = true;
  for (const std::string& line : wrap(title, out.width() - 2)) {
    out.line((first ? "" : "  ") + out.paint(style::bold, line));
    first = false;
  }
}

std::string amounts_text(const session& over, std::span<const std::int64_t> per_dimension) {
  std::string text;
  for (dimension d = 0; d < per_dimension.size(); ++d) {
    if (per_dimension[d] == 0 || d == dim_pods) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", amount_text(over, d, per_dimension[d]));
  }
  return text.empty() ? "nothing but a pod slot" : text;
}

json amounts_json(const session& over, std::span<const std::int64_t> per_dimension) {
  const std::vector<std::string_view> names = over.base().dimension_names();
  json object = json::object();
  for (dimension d = 0; d < per_dimension.size(); ++d) object[std::string(names[d])] = per_dimension[d];
  return object;
}

std::string path_text(const session& over, queue_row queue) {
  std::string text;
  for_path(over, queue, [&](std::string_view name) { text += fmt::format("{}{}", text.empty() ? "" : " › ", name); });
  return text;
}

json path_json(const session& over, queue_row queue) {
  json names = json::array();
  for_path(over, queue, [&](std::string_view name) { names.push_back(name); });
  return names;
}

std::string devices_text(const device_set& set) {
  std::string text;
  for (int first = 0; first < 64;) {
    if ((set.mask >> static_cast<unsigned>(first) & 1U) == 0) {
      ++first;
      continue;
    }
    int last = first;
    while (last < 63 && (set.mask >> static_cast<unsigned>(last + 1) & 1U) != 0) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (last > first) text += fmt::format("{}{}", last == first + 1 ? ", " : "-", last);
    first = last + 1;
  }
  return text;
}

json devices_json(const device_set& set) {
  json indices = json::array();
  for (std::uint64_t left = set.mask; left != 0; left &= left - 1) indices.push_back(std::countr_zero(left));
  return indices;
}

json reason_json(const session& over, const reason& why) {
  const std::vector<std::string_view> names = over.base().dimension_names();
  json one{{"constraint", constraint_name(why.what)}, {"scope", reason_scope_name(why.scope)}};
  if (why.pod != no_row) one["pod"] = over.base().pod_name(why.pod);
  if (why.subject) one["subject"] = over.base().name(why.subject);
  if (why.dim < names.size()) one["dimension"] = names[why.dim];
  if (why.need != 0 || why.have != 0) {
    one["need"] = why.need;
    one["have"] = why.have;
  }
  if (why.nodes > 0) one["nodes"] = why.nodes;
  if (why.nearest != no_row) one["nearest_node"] = over.base().node_name(why.nearest);
  one["text"] = over.text(why);
  return one;
}

std::vector<reason> merged(const std::vector<reason>& refusals) {
  std::map<std::pair<constraint, dimension>, reason> sums;
  for (const reason& one : refusals) {
    const auto [found, is_new] = sums.try_emplace({one.what, one.dim}, one);
    if (is_new) continue;
    found->second.nodes += one.nodes;
    if (one.have <= found->second.have) continue;
    found->second.have = one.have;
    found->second.nearest = one.nearest;
  }
  std::vector<reason> list;
  list.reserve(sums.size());
  for (const auto& [key, one] : sums) list.push_back(one);
  std::stable_sort(list.begin(), list.end(), [](const reason& a, const reason& b) { return a.nodes > b.nodes; });
  return list;
}

const decision* decision_about(const decided& ran, pod_row pod) {
  const std::uint32_t last = ran.last_decision[pod];
  return last == no_row ? nullptr : &ran.over.decisions()[last];
}

std::string fate_text(const decided& ran, pod_row pod, with_node where) {
  const session_view view = ran.over.view();
  const decision* last = decision_about(ran, pod);
  const node_row at = view.node_of(pod);
  const auto place = [&](std::string_view word, node_row node) {
    return where == with_node::no || node == no_row ? std::string() : fmt::format(" {} {}", word, view.node_name(node));
  };
  if (last == nullptr) {
    const pod_status status = view.status_of(pod);
    if (status == pod_status::pending) return "waits";
    return fmt::format("{}{}{}", pod_status_name(status), place("on", at), at == no_row ? "" : ", as before");
  }
  const std::string devices =
      last->devices.mask == 0 ? ""
                              : fmt::format(", {} {}", std::has_single_bit(last->devices.mask) ? "device" : "devices",
                                            devices_text(last->devices));
  switch (last->kind) {
    case decision_kind::bind:
      return fmt::format("starts{}{}", where == with_node::no ? " now" : place("on", last->node), devices);
    case decision_kind::pipeline:
      return fmt::format("will start{} when others have left{}", place("on", last->node), devices);
    case decision_kind::evict:
      return fmt::format("is evicted{}", place("from", last->node));
    case decision_kind::move:
      return fmt::format("moves{}{}", where == with_node::no ? " here" : place("to", last->node), devices);
    case decision_kind::migrate:
      return fmt::format("migrates{}{}", where == with_node::no ? " here" : place("to", last->node), devices);
    case decision_kind::repartition:
    case decision_kind::unschedulable:
      break;
  }
  return "waits";
}

const waiting_group* waiting_of(const decided& ran, group_row group) {
  for (const waiting_group& one : ran.figures.waiting_groups) {
    if (one.group == group) return &one;
  }
  return nullptr;
}

bool leaves_its_node(const decision& d) {
  return d.kind == decision_kind::evict || d.kind == decision_kind::move || d.kind == decision_kind::migrate;
}

namespace {

std::vector<const decision*> divisions_of(const decided& ran, group_row group, node_row node) {
  std::vector<const decision*> found;
  for (const decision& d : ran.over.decisions()) {
    if (d.kind == decision_kind::repartition && (group == no_row || d.group == group) &&
        (node == no_row || d.node == node))
      found.push_back(&d);
  }
  return found;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& one : texts) all += (all.empty() ? "" : " ") + one;
  return all;
}

}  // namespace

void print_divisions(const explanation& of, group_row group, node_row node) {
  const terminal& out = of.to.out();
  const session_view view = of.ran.over.view();
  const std::vector<const decision*> found = divisions_of(of.ran, group, node);
  if (found.empty()) return;
  print_section(out, "Devices to divide anew");
  for (const decision* d : found) {
    std::string text =
        fmt::format("{} device {}: {}", view.node_name(d->node), devices_text(d->devices), joined(d->layout));
    if (!d->gone.empty()) text += fmt::format(", without {}", joined(d->gone));
    if (d->drain_cost > 0) text += fmt::format("; pods on {} milli-GPU move", d->drain_cost);
    if (group == no_row) text += fmt::format("; for {}", view.group_name(d->group));
    print_item(out, text);
  }
}

json divisions_json(const decided& ran, group_row group, node_row node) {
  json all = json::array();
  const session_view view = ran.over.view();
  for (const decision* d : divisions_of(ran, group, node)) {
    all.push_back({{"node", view.node_name(d->node)},
                   {"group", view.group_name(d->group)},
                   {"devices", devices_json(d->devices)},
                   {"layout", d->layout},
                   {"gone", d->gone},
                   {"drain_cost", d->drain_cost},
                   {"commit", d->commit}});
  }
  return all;
}

std::string_view preemptibility_text(const session_view& view, group_row group) {
  return view.group_semi_preemptible(group) ? "semi-preemptible"
         : view.group_preemptible(group)    ? "preemptible"
                                            : "not preemptible";
}

std::string share_text(const decided& ran, queue_row queue) {
  const std::string_view name = ran.over.base().queue_name(queue);
  for (const queue_figures& one : ran.figures.shares) {
    if (one.name != name) continue;
    const auto bound = [](std::int64_t amount, std::string_view what) {
      return amount < 0 ? fmt::format("no {}", what) : fmt::format("{} {}", what, gpus(amount));
    };
    return fmt::format("holds {} of a fair share of {} GPUs ({}, {})", gpus(one.after[dim_gpu]),
                       gpus(one.fair_share[dim_gpu]), bound(one.quota[dim_gpu], "quota"),
                       bound(one.limit[dim_gpu], "limit"));
  }
  return {};
}

}  // namespace kaisched::cli
