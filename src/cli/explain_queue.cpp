// What a queue deserves, holds and waits for.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/explain.hpp"
#include "cli/report.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

bool is_below(const session_view& view, queue_row queue, queue_row top) {
  for (; queue != no_row; queue = view.queue_parent(queue)) {
    if (queue == top) return true;
  }
  return false;
}

const queue_figures& figures_of(const explanation& of, queue_row queue) {
  const std::string_view name = of.ran.over.base().queue_name(queue);
  const auto& all = of.ran.figures.shares;
  return *std::find_if(all.begin(), all.end(), [&](const queue_figures& one) { return one.name == name; });
}

std::vector<waiting_group> waiting_below(const explanation& of, queue_row queue) {
  const session_view view = of.ran.over.view();
  std::vector<waiting_group> groups;
  for (const waiting_group& one : of.ran.figures.waiting_groups) {
    if (is_below(view, view.group_queue(one.group), queue)) groups.push_back(one);
  }
  return groups;
}

std::int64_t started_below(const explanation& of, queue_row queue) {
  const session_view view = of.ran.over.view();
  std::vector<group_row> groups;
  for (const decision& d : of.ran.over.decisions()) {
    if (d.kind == decision_kind::bind && is_below(view, view.group_queue(d.group), queue)) groups.push_back(d.group);
  }
  std::sort(groups.begin(), groups.end());
  return std::unique(groups.begin(), groups.end()) - groups.begin();
}

std::string shown(std::size_t d, std::int64_t amount) {
  if (amount < 0) return "none";
  return d == dim_memory ? bytes(amount) : gpus(amount);
}

void print_shares(const terminal& out, const queue_figures& share) {
  constexpr std::array<std::string_view, quota_dimensions> names{"cores", "memory", "GPUs"};
  constexpr std::size_t column = 11;
  std::string head = pad_right("", 8);
  for (const std::string_view name : {"quota", "limit", "fair share", "asked", "before", "after"}) {
    head += pad_left(name, column);
  }
  out.line();
  out.line(out.paint(style::dim, "  " + head));
  for (const std::size_t d : {std::size_t{dim_gpu}, std::size_t{dim_cpu}, std::size_t{dim_memory}}) {
    std::string line = "  " + pad_right(names[d], 8);
    for (const std::int64_t amount :
         {share.quota[d], share.limit[d], share.fair_share[d], share.request[d], share.before[d], share.after[d]}) {
      line += pad_left(shown(d, amount), column);
    }
    out.line(line);
  }
}

void print_queue(const explanation& of, queue_row queue, const std::vector<waiting_group>& waiting,
                 std::int64_t started) {
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  const queue_figures& share = figures_of(of, queue);
  const model::queue_info& info = (*over.base().state().queues)[queue];
  out.line(fmt::format("{}  {} started, {} waiting", out.paint(style::bold, "queue " + share.name),
                       counted(started, "job"), grouped(std::ssize(waiting))));
  if (!share.parent.empty()) print_fact(out, "below", path_text(over, over.view().queue_parent(queue)));
  std::string children;
  for (const queue_figures& other : of.ran.figures.shares) {
    if (other.parent == share.name) children += (children.empty() ? "" : ", ") + other.name;
  }
  if (!children.empty()) print_fact(out, "above", children);
  print_fact(out, "priority", fmt::format("{}", info.priority));
  print_fact(out, "weight", fmt::format("{:g} of what is left over by quotas", info.weight[dim_gpu]));
  print_shares(out, share);
  print_waiting(out, summary_of(over, waiting));
}

json amounts_of(const quota_amounts& values) {
  return {{"cpu", values[dim_cpu]}, {"memory", values[dim_memory]}, {"gpu", values[dim_gpu]}};
}

}  // namespace

json explain_queue(const explanation& of, queue_row queue) {
  const session& over = of.ran.over;
  const std::vector<waiting_group> waiting = waiting_below(of, queue);
  const std::int64_t started = started_below(of, queue);
  if (of.to.shows_report()) print_queue(of, queue, waiting, started);
  const queue_figures& share = figures_of(of, queue);
  json groups = json::array();
  for (const waiting_group& one : waiting) {
    groups.push_back({{"name", over.base().group_name(one.group)},
                      {"pods", one.pods},
                      {"gpu", one.gpus},
                      {"headline", one.headline}});
  }
  return {{"kind", "queue"},
          {"name", share.name},
          {"path", path_json(over, queue)},
          {"quota", amounts_of(share.quota)},
          {"limit", amounts_of(share.limit)},
          {"fair_share", amounts_of(share.fair_share)},
          {"request", amounts_of(share.request)},
          {"allocated_before", amounts_of(share.before)},
          {"allocated", amounts_of(share.after)},
          {"jobs_started", started},
          {"jobs_waiting", waiting.size()},
          {"waiting", std::move(groups)}};
}

}  // namespace kaisched::cli
