// What a queue deserves, holds and waits for.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/chart.hpp"
#include "cli/explain.hpp"
#include "cli/report.hpp"
#include "model/snapshot_access.hpp"
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

// ---- how the share came about ------------------------------------------------------------------------------------

/// One division: the steps of a dimension among the children of one parent.
using division_steps = std::vector<const share_step*>;

std::vector<division_steps> divisions_in(const std::vector<share_step>& steps) {
  std::vector<division_steps> all;
  for (const dimension d : {dim_gpu, dim_cpu, dim_memory}) {
    for (const share_step& one : steps) {
      if (one.dim != d) continue;
      if (one.what == share_step_kind::part) {  // long after its division
        for (division_steps& of : all) {
          if (of.front()->dim == d && of.front()->parent == one.parent) of.push_back(&one);
        }
        continue;
      }
      if (one.what == share_step_kind::total) all.emplace_back();
      all.back().push_back(&one);
    }
  }
  return all;
}

/// Everybody got at once what they asked for: nothing to tell.
bool is_trivial(const division_steps& of) {
  return std::all_of(of.begin(), of.end(), [](const share_step* one) {
    const bool given = one->what == share_step_kind::quota && one->given == one->wanted;
    return given || one->what == share_step_kind::total || (one->what == share_step_kind::left && one->given >= 0);
  });
}

std::string step_name(const share_step& one) {
  switch (one.what) {
    case share_step_kind::quota:
      return one.round <= 1 ? "quota" : fmt::format("quota {}", one.round);
    case share_step_kind::over_quota:
      return one.round == 1 ? "by weight" : fmt::format("round {}", one.round);
    case share_step_kind::unit:
      return "rounded up";
    case share_step_kind::part:
      return cut(one.by, 10);
    default:
      return "left";
  }
}

void print_division(const explanation& of, const division_steps& steps, const std::vector<queue_row>& path) {
  constexpr std::array<std::string_view, quota_dimensions> names{"cores", "memory", "GPUs"};
  constexpr std::size_t most_rows = 10;
  constexpr std::size_t kind_column = 11;
  constexpr std::size_t amount_column = 11;
  constexpr std::size_t least_bar = 10;
  constexpr std::size_t most_bar = 40;
  const terminal& out = of.to.out();
  const snapshot& base = of.ran.over.base();
  const share_step& total = *steps.front();
  if (std::none_of(steps.begin(), steps.end(), [](const share_step* one) { return one->wanted > 0 || one->given < 0; }))
    return;  // nobody asks for any
  const std::string whose =
      total.parent == no_row ? "the cluster" : fmt::format("{}", cut(base.queue_name(total.parent), 32));
  const std::string title =
      fmt::format("{} of {}: {}", names[total.dim], whose, shown(total.dim, std::max<std::int64_t>(0, total.given)));
  if (is_trivial(steps)) {
    out.line("  " + title + out.paint(style::dim, ", enough for all that is asked for"));
    return;
  }
  out.line("  " + title);
  const auto is_on_path = [&](const share_step& one) {
    return std::find(path.begin(), path.end(), one.queue) != path.end();
  };
  std::vector<const share_step*> rows;
  std::int64_t scale = total.given;
  std::size_t widest = 4;
  for (const share_step* one : steps) {
    if (one->queue == no_row || (one->given == 0 && !is_on_path(*one))) continue;
    rows.push_back(one);
    scale = std::max(scale, one->after);
    widest = std::max(widest, std::min<std::size_t>(columns_of(base.queue_name(one->queue)), 24));
  }
  // Of many rows those of the path stay, and the largest of the others.
  std::vector<const share_step*> kept(rows);
  std::stable_sort(kept.begin(), kept.end(), [&](const share_step* a, const share_step* b) {
    if (is_on_path(*a) != is_on_path(*b)) return is_on_path(*a);
    return a->given > b->given;
  });
  kept.resize(std::min(kept.size(), most_rows));
  const std::size_t used = 4 + kind_column + widest + 2 + 2 * amount_column + 2;
  const std::size_t cells = out.width() > used + least_bar ? std::min(out.width() - used, most_bar) : 0;
  std::int64_t others = 0;
  for (const share_step* one : rows) {
    if (std::find(kept.begin(), kept.end(), one) == kept.end()) {
      others += one->given;
      continue;
    }
    const bool mine = is_on_path(*one);
    const std::string name = pad_right(cut(base.queue_name(one->queue), widest), widest);
    const std::string amount = shown(one->dim, std::abs(one->given));
    std::string line =
        fmt::format("    {}{}  ", pad_right(step_name(*one), kind_column), mine ? out.paint(style::bold, name) : name);
    line += pad_left((one->given < 0 ? "-" : "") + amount, amount_column) +
            out.paint(style::dim, pad_left("= " + shown(one->dim, one->after), amount_column));
    if (cells > 0) {
      bar drawn(cells, scale);
      drawn.fill(0, one->before, glyph::started, style::dim);
      drawn.fill(std::min(one->before, one->after), std::max(one->before, one->after), glyph::held,
                 mine ? style::green : style::plain);
      line += "  " + drawn.drawn(out);
    }
    while (line.ends_with(' ')) line.pop_back();
    out.line(line);
  }
  if (rows.size() > kept.size()) {
    out.line(out.paint(style::dim, fmt::format("    and {} more for others: {}", rows.size() - kept.size(),
                                               shown(total.dim, std::max<std::int64_t>(0, others)))));
  }
  for (const share_step* one : steps) {
    if (one->what == share_step_kind::left && one->given != 0)
      out.line("    " + out.paint(style::dim, of.ran.over.text(*one)));
  }
}

void print_steps(const explanation& of, queue_row queue, const std::vector<share_step>& steps) {
  const session_view view = of.ran.over.view();
  std::vector<queue_row> path;
  for (queue_row q = queue; q != no_row; q = view.queue_parent(q)) path.push_back(q);
  const std::vector<division_steps> divisions = divisions_in(steps);
  if (divisions.empty()) return;
  print_section(of.to.out(), "How its share came about");
  for (const division_steps& one : divisions) print_division(of, one, path);
}

json steps_json(const session& over, const std::vector<share_step>& steps) {
  const auto name = [&](queue_row q) { return q == no_row ? std::string_view{} : over.base().queue_name(q); };
  json all = json::array();
  for (const share_step& one : steps) {
    json row{{"kind", share_step_kind_name(one.what)},
             {"queue", name(one.queue)},
             {"parent", name(one.parent)},
             {"dimension", over.base().dimension_names()[one.dim]},
             {"round", one.round},
             {"priority", one.priority},
             {"weight", one.weight},
             {"usage", one.usage},
             {"proportion", one.proportion},
             {"wanted", one.wanted},
             {"before", one.before},
             {"given", one.given},
             {"after", one.after},
             {"text", over.text(one)}};
    if (!one.by.empty()) row["by"] = one.by;
    all.push_back(std::move(row));
  }
  return all;
}

void print_queue(const explanation& of, queue_row queue, const std::vector<waiting_group>& waiting,
                 std::int64_t started, const std::vector<share_step>& steps) {
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  const queue_figures& share = figures_of(of, queue);
  const model::queue_info& info = (*model::state_of(over.base()).queues)[queue];
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
  print_steps(of, queue, steps);
  print_waiting(out, summary_of(over, waiting));
}

json amounts_of(const quota_amounts& values) {
  return {{"cpu", values[dim_cpu]}, {"memory", values[dim_memory]}, {"gpu", values[dim_gpu]}};
}

}  // namespace

result<json> explain_queue(const explanation& of, queue_row queue) {
  const session& over = of.ran.over;
  const result<std::vector<share_step>> steps = over.share_steps(queue);
  if (!steps) return steps.failure();
  const std::vector<waiting_group> waiting = waiting_below(of, queue);
  const std::int64_t started = started_below(of, queue);
  if (of.to.shows_report()) print_queue(of, queue, waiting, started, *steps);
  const queue_figures& share = figures_of(of, queue);
  json groups = json::array();
  for (const waiting_group& one : waiting) {
    groups.push_back({{"name", over.base().group_name(one.group)},
                      {"pods", one.pods},
                      {"gpu", one.gpus},
                      {"headline", one.headline}});
  }
  return json{{"kind", "queue"},
              {"name", share.name},
              {"path", path_json(over, queue)},
              {"quota", amounts_of(share.quota)},
              {"limit", amounts_of(share.limit)},
              {"fair_share", amounts_of(share.fair_share)},
              {"share_steps", steps_json(over, *steps)},
              {"request", amounts_of(share.request)},
              {"allocated_before", amounts_of(share.before)},
              {"allocated", amounts_of(share.after)},
              {"jobs_started", started},
              {"jobs_waiting", waiting.size()},
              {"waiting", std::move(groups)}};
}

}  // namespace kaisched::cli
