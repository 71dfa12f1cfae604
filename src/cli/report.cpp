#include "cli/report.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/chart.hpp"
#include "cli/loaded_cluster.hpp"

namespace kaisched::cli {

namespace {

/// A heading, with a legend at the right edge.
void print_heading(const terminal& out, std::string_view title, std::string_view legend = {}) {
  out.line();
  const std::size_t used = columns_of(title) + columns_of(legend);
  if (used >= out.width() && !legend.empty()) {
    out.line(out.paint(style::bold, title));
    out.line("  " + std::string(legend));
    return;
  }
  const std::size_t gap = legend.empty() ? 0 : out.width() - used;
  out.line(out.paint(style::bold, title) + std::string(gap, ' ') + std::string(legend));
}

/// A verb as so many subjects want it.
std::string verb(std::int64_t subjects, std::string_view plural) {
  return fmt::format("{}{}", plural, subjects == 1 ? "s" : "");
}

// ---- what was decided -----------------------------------------------------------------------------------------------

void print_usage(const terminal& out, std::string_view name, std::int64_t before, std::int64_t after,
                 std::int64_t total, std::string_view amount) {
  const std::size_t cells = std::clamp<std::size_t>(out.width() - 56, 8, 64);
  bar used(cells, total);
  used.fill(0, total, glyph::free, style::dim);
  used.fill(0, std::min(before, after), glyph::held, style::blue);
  used.fill(before, after, glyph::started, style::green);
  const std::string change = fmt::format("{} → {}", pad_left(percent(before, total), 7),
                                         out.paint(style::bold, pad_left(percent(after, total), 7)));
  out.line(fmt::format("  {}{}  {}   {}", pad_right(name, 9), used.drawn(out), change, out.paint(style::dim, amount)));
}

std::string of_total(std::int64_t part, std::int64_t whole, std::int64_t unit) {
  return fmt::format("{} of {}", grouped(part / unit), grouped(whole / unit));
}

/// Bytes in the unit that leaves a few digits.
std::string memory_of_total(std::int64_t part, std::int64_t whole) {
  constexpr std::array<std::string_view, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  std::int64_t size = 1;
  for (; unit + 1 < units.size() && whole / size >= 100'000; ++unit) size <<= 10;
  return fmt::format("{} {}", of_total(part, whole, size), units[unit]);
}

void print_figures(const terminal& out, const outcome& what) {
  constexpr std::int64_t core = 1000;
  const amounts& used = what.used;
  const auto bold = [&](std::int64_t number, std::string_view noun) {
    return out.paint(style::bold, counted(number, noun));
  };
  out.line(fmt::format("  {} on {}; {}, {} of them on nodes; {} in {}",
                       counted(used.total[dim_gpu] / whole_device, "GPU"), counted(what.nodes, "node"),
                       counted(what.pods, "pod"), grouped(what.pods_before), counted(what.jobs, "job"),
                       counted(what.queues, "queue")));
  if (what.left_out > 0) {
    out.line("  " + out.paint(style::red, left_out_sentence(what.left_out)));
  }
  const std::string loaded = what.load_seconds > 0 ? fmt::format("loaded in {}, ", seconds(what.load_seconds)) : "";
  out.line(fmt::format("  {}decided in {} with preset {}, mode {}", loaded,
                       out.paint(style::bold, seconds(what.decide_seconds)), what.preset, what.mode));
  out.line();
  std::string started = fmt::format("  {} of {} {} now", bold(what.pods_started, "pod"),
                                    counted(what.jobs_started, "job"), verb(what.pods_started, "start"));
  if (what.pods_claiming > 0) started += fmt::format(", {} follow when others have ended", grouped(what.pods_claiming));
  if (what.pods_evicted > 0) started += fmt::format(", {} are evicted", grouped(what.pods_evicted));
  if (what.pods_moved > 0) started += fmt::format(", {} move", grouped(what.pods_moved));
  out.line(started);
  out.line(fmt::format("  {} of {} {}", bold(what.pods_waiting, "pod"), counted(what.jobs_waiting, "job"),
                       verb(what.pods_waiting, "wait")));
  out.line();
  print_usage(out, "GPUs", used.before[dim_gpu], used.after[dim_gpu], used.total[dim_gpu],
              of_total(used.after[dim_gpu], used.total[dim_gpu], whole_device));
  print_usage(out, "cores", used.before[dim_cpu], used.after[dim_cpu], used.total[dim_cpu],
              of_total(used.after[dim_cpu], used.total[dim_cpu], core));
  print_usage(out, "memory", used.before[dim_memory], used.after[dim_memory], used.total[dim_memory],
              memory_of_total(used.after[dim_memory], used.total[dim_memory]));
}

void print_divisions(const terminal& out, const outcome& what) {
  constexpr std::size_t most = 12;
  if (what.divisions.empty()) return;
  print_heading(out, "Devices to divide anew");
  const auto list = [](const std::vector<std::string>& texts) {
    std::string joined;
    for (const std::string& one : texts) joined += (joined.empty() ? "" : " ") + one;
    return joined;
  };
  for (std::size_t i = 0; i < std::min(most, what.divisions.size()); ++i) {
    const division_figures& one = what.divisions[i];
    std::string text =
        fmt::format("  {} device {}: {}", out.paint(style::bold, one.node), one.device, list(one.layout));
    if (!one.gone.empty()) text += fmt::format("  (without {})", list(one.gone));
    out.line(text + out.paint(style::dim, fmt::format("  for {}", one.group)));
  }
  if (what.divisions.size() > most) {
    const auto more = static_cast<std::int64_t>(what.divisions.size() - most);
    out.line(out.paint(style::dim, fmt::format("  and {} more", grouped(more))));
  }
}

// ---- queues ---------------------------------------------------------------------------------------------------------

constexpr std::size_t queue_name_width = 20;
/// What the name and the figures leave.
std::size_t queue_bar_width(const terminal& out) { return std::clamp<std::size_t>(out.width() - 60, 8, 60); }

/// How bars of queues look: those with children are thin, and have their own scale.
struct queue_glyphs {
  std::string_view before;
  std::string_view started;
};
constexpr queue_glyphs leaf_glyphs{glyph::held, glyph::started};
constexpr queue_glyphs inner_glyphs{"━", "┅"};

std::string quota_text(std::int64_t amount) { return amount < 0 ? "∞" : gpus(amount); }

std::string queue_bar(const terminal& out, const queue_figures& queue, std::int64_t scale) {
  const std::int64_t before = queue.before[dim_gpu];
  const std::int64_t after = queue.after[dim_gpu];
  bar drawn(queue_bar_width(out), scale);
  const queue_glyphs& glyphs = queue.has_children ? inner_glyphs : leaf_glyphs;
  drawn.fill(0, std::min(before, after), glyphs.before, style::blue);
  drawn.fill(before, after, glyphs.started, style::green);
  if (queue.quota[dim_gpu] >= 0) drawn.mark(queue.quota[dim_gpu], glyph::quota, style::bold);
  drawn.mark(queue.fair_share[dim_gpu], glyph::fair, style::yellow);
  return drawn.drawn(out);
}

/// Longest bar among queues without children, or among the others: each of the two kinds has its own scale.
std::int64_t scale_of(const std::vector<queue_figures>& queues, bool has_children) {
  std::int64_t longest = 0;
  for (const queue_figures& queue : queues) {
    if (queue.has_children != has_children) continue;
    longest = std::max({longest, queue.quota[dim_gpu], queue.fair_share[dim_gpu], queue.after[dim_gpu]});
  }
  return longest;
}

void print_queues(const terminal& out, const outcome& what) {
  print_heading(out, "GPUs by queue",
                fmt::format("{} before  {} starts now  {} fair share  {} quota", out.paint(style::blue, glyph::held),
                            out.paint(style::green, glyph::started), out.paint(style::yellow, glyph::fair),
                            out.paint(style::bold, glyph::quota)));
  const std::size_t width = queue_bar_width(out);
  const auto row = [&](std::string_view name, std::string_view drawn, const std::array<std::string, 4>& figures) {
    std::string text = fmt::format("  {}{} ", pad_right(name, queue_name_width), pad_right(drawn, width));
    for (const std::string& figure : figures) text += pad_left(figure, 9);
    return text;
  };
  const std::int64_t leaf_scale = scale_of(what.shares, false);
  const std::int64_t inner_scale = scale_of(what.shares, true);
  const auto of_cell = [&](std::int64_t scale) { return gpus(scale / static_cast<std::int64_t>(width)); };
  const std::string scales = fmt::format("one {} {} GPUs, one {} {} GPUs", leaf_glyphs.before, of_cell(leaf_scale),
                                         inner_glyphs.before, of_cell(inner_scale));
  const bool beside = inner_scale != 0 && columns_of(scales) <= width;
  if (inner_scale != 0 && !beside) out.line(out.paint(style::dim, "  " + scales));
  out.line(out.paint(style::dim, row("", beside ? scales : "", {"quota", "fair", "after", "asked"})));
  for (const queue_figures& queue : what.shares) {
    const std::string name = cut(std::string(2 * std::size_t{queue.depth}, ' ') + queue.name, queue_name_width - 1);
    out.line(row(queue.has_children ? out.paint(style::bold, name) : name,
                 queue_bar(out, queue, queue.has_children ? inner_scale : leaf_scale),
                 {quota_text(queue.quota[dim_gpu]), gpus(queue.fair_share[dim_gpu]), gpus(queue.after[dim_gpu]),
                  gpus(queue.request[dim_gpu])}));
  }
}

// ---- topology -------------------------------------------------------------------------------------------------------

/// The domains that share their parents, as many as a line has room for.
struct domain_row {
  std::string name;
  std::vector<const domain_figures*> domains;
};

std::vector<domain_row> rows_of(const outcome& what, std::size_t longest) {
  std::vector<domain_row> rows;
  for (const domain_figures& domain : what.domains) {
    if (rows.empty() || rows.back().name != domain.parents || rows.back().domains.size() == longest) {
      rows.push_back({domain.parents, {}});
    }
    rows.back().domains.push_back(&domain);
  }
  return rows;
}

std::string map_cell(const terminal& out, std::int64_t used, std::int64_t total, std::size_t width) {
  constexpr std::array<std::string_view, 5> shades{"·", "░", "▒", "▓", "█"};
  constexpr std::array<style, 5> styles{style::dim, style::cyan, style::cyan, style::blue, style::green};
  const std::int64_t quarters = total == 0 ? 0 : (used * 4 + total - 1) / total;
  const auto shade = static_cast<std::size_t>(
      std::clamp<std::int64_t>(used * 100 >= total * 95 ? 4 : std::min<std::int64_t>(quarters, 3), 0, 4));
  return out.paint(styles[shade], repeat(shades[shade], width));
}

void print_domains(const terminal& out, const outcome& what) {
  constexpr std::size_t longest_row = 16;
  constexpr std::size_t most_rows = 16;
  const std::size_t map_width = std::clamp<std::size_t>((out.width() - 35) / 2, longest_row, 2 * longest_row);
  if (what.domains.empty()) return;
  const std::vector<domain_row> rows = rows_of(what, longest_row);
  std::size_t cells = 1;
  for (const domain_row& row : rows) cells = std::max(cells, row.domains.size());
  const std::size_t cell_width = std::min<std::size_t>(map_width / cells, 4);

  print_heading(out, fmt::format("GPUs in use by {}", fmt::join(what.domain_levels, ", ")),
                "· none  ░ to 25 %  ▒ to 50 %  ▓ to 95 %  █ full");
  out.line(out.paint(
      style::dim, fmt::format("  {}{}{}", pad_right("", 14), pad_right("before", cells * cell_width + 11), "after")));
  for (std::size_t i = 0; i < std::min(rows.size(), most_rows); ++i) {
    std::string before;
    std::string after;
    std::array<std::int64_t, 3> sums{};
    for (const domain_figures* domain : rows[i].domains) {
      before += map_cell(out, domain->before, domain->total, cell_width);
      after += map_cell(out, domain->after, domain->total, cell_width);
      sums[0] += domain->before;
      sums[1] += domain->after;
      sums[2] += domain->total;
    }
    out.line(fmt::format("  {}{} {}   {} {}", pad_right(cut(rows[i].name, 13), 14),
                         pad_right(before, cells * cell_width), pad_left(percent(sums[0], sums[2]), 7),
                         pad_right(after, cells * cell_width), pad_left(percent(sums[1], sums[2]), 7)));
  }
  if (rows.size() > most_rows)
    out.line(fmt::format("  ... and {} more", counted(std::ssize(rows) - std::int64_t{most_rows}, "row")));
}

// ---- what waits -----------------------------------------------------------------------------------------------------

/// A job that stands for its group, and what the nodes told it.
void print_example(const terminal& out, const waiting_figures& group) {
  const std::size_t column = out.width() < line_width ? 28 : 30;  // the headlines stand at 28
  constexpr std::size_t most_reasons = 3;
  const std::string gpus_asked =
      group.example_gpus == 0
          ? ""
          : fmt::format(", {} {}", gpus(group.example_gpus), group.example_gpus == whole_device ? "GPU" : "GPUs");
  const std::string job = group.jobs > 1 ? fmt::format("such as {}: {}{}", group.example_job,
                                                       counted(group.example_pods, "pod"), gpus_asked)
                                         : group.example_job;
  out.line(std::string(column, ' ') + out.paint(style::cyan, job));
  for (std::size_t i = 0; i < std::min(group.example_reasons.size(), most_reasons); ++i) {
    bool is_first = true;
    for (const std::string& text : wrap(group.example_reasons[i], out.width() - column - 2)) {
      out.line(std::string(column, ' ') + out.paint(style::dim, fmt::format("{} {}", is_first ? "·" : " ", text)));
      is_first = false;
    }
  }
  if (group.example_reasons.size() > most_reasons) {
    const auto more = std::ssize(group.example_reasons) - std::int64_t{most_reasons};
    out.line(std::string(column, ' ') + out.paint(style::dim, fmt::format("· and {}", counted(more, "more reason"))));
  }
}

}  // namespace

void print_waiting(const terminal& out, std::span<const waiting_figures> waiting) {
  constexpr std::size_t most_groups = 10;
  if (waiting.empty()) return;
  std::int64_t jobs = 0;
  for (const waiting_figures& group : waiting) jobs += group.jobs;
  print_heading(out, fmt::format("Why {} {}", counted(jobs, "job"), verb(jobs, "wait")));
  out.line(out.paint(style::dim, "    jobs    pods      GPUs"));
  std::size_t shown = 0;
  for (const waiting_figures& group : waiting) {
    if (shown++ == most_groups) break;
    std::string lead = fmt::format("{}{}{}  ", pad_left(grouped(group.jobs), 8), pad_left(grouped(group.pods), 8),
                                   pad_left(gpus(group.gpus), 10));
    for (const std::string& line : wrap(group.headline, out.width() - 28)) {
      out.line(lead + out.paint(style::bold, line));
      lead.assign(28, ' ');
    }
    print_example(out, group);
  }
  if (waiting.size() > most_groups) {
    out.line(fmt::format("    and {}", counted(std::ssize(waiting) - std::int64_t{most_groups}, "more reason")));
  }
}

void print_report(const terminal& out, const outcome& what, std::string_view title, report_detail detail) {
  out.line(out.paint(style::bold, title));
  print_figures(out, what);
  print_divisions(out, what);
  if (detail == report_detail::charts) {
    print_queues(out, what);
    print_domains(out, what);
  }
  print_waiting(out, what.waiting);
  out.line();
  out.line(fmt::format("digest {}", what.digest));
  out.line(out.paint(style::dim, "The same cluster and options have the same digest on every machine."));
}

json waiting_json(const outcome& of) {
  json waiting = json::array();
  for (const waiting_figures& group : of.waiting) {
    waiting.push_back({{"reason", group.headline},
                       {"jobs", group.jobs},
                       {"pods", group.pods},
                       {"gpu", group.gpus},
                       {"example", {{"job", group.example_job}, {"reasons", group.example_reasons}}}});
  }
  return waiting;
}

json report_json(const outcome& what) {
  constexpr std::array<const char*, quota_dimensions> names{"cpu", "memory", "gpu"};
  const auto amounts_json = [&](const quota_amounts& values) {
    json object;
    for (std::size_t i = 0; i < names.size(); ++i) object[names[i]] = values[i];
    return object;
  };
  return {
      {"schema", run_schema},
      {"preset", what.preset},
      {"mode", what.mode},
      {"digest", what.digest},
      {"seconds", {{"load", what.load_seconds}, {"decide", what.decide_seconds}}},
      {"cluster",
       {{"nodes", what.nodes},
        {"pods", what.pods},
        {"jobs", what.jobs},
        {"queues", what.queues},
        {"left_out", what.left_out}}},
      {"pods",
       {{"on_nodes_before", what.pods_before},
        {"started", what.pods_started},
        {"claiming", what.pods_claiming},
        {"evicted", what.pods_evicted},
        {"moved", what.pods_moved},
        {"waiting", what.pods_waiting}}},
      {"jobs", {{"started", what.jobs_started}, {"waiting", what.jobs_waiting}}},
      {"capacity", amounts_json(what.used.total)},
      {"used_before", amounts_json(what.used.before)},
      {"used_after", amounts_json(what.used.after)},
      {"waiting", waiting_json(what)},
  };
}

}  // namespace kaisched::cli
