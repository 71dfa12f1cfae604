#include "cli/compare_presets.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <kaisched/version.hpp>

#include "cli/chart.hpp"
#include "cli/explain.hpp"
#include "cli/input.hpp"
#include "cli/outcome.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "model/snapshot_access.hpp"
#include "policy/column_readers.hpp"

namespace kaisched::cli {

namespace {

result<std::vector<std::string>> names_in(const std::string& list) {
  if (list == "all") {
    const auto names = preset_names();
    return std::vector<std::string>(names.begin(), names.end());
  }
  std::vector<std::string> names;
  for (std::string_view rest = list;;) {
    const std::size_t comma = rest.find(',');
    const std::string name(rest.substr(0, comma));
    result<policy_options> known = preset(name);
    if (!known) return known.failure();
    if (std::find(names.begin(), names.end(), known->preset) != names.end())
      return error{status::argument, fmt::format("--presets: '{}' is told twice", name), {}};
    names.push_back(known->preset);
    if (comma == std::string_view::npos) return names;
    rest = rest.substr(comma + 1);
  }
}

struct judged_preset {
  std::string name;
  decided run;
  std::set<group_row> waits;
  std::vector<std::string> unread;  ///< columns of the cluster that the preset does not look at
};

/// Jobs that wait under some presets and not under others, in the order of the cluster.
std::map<group_row, std::vector<std::string>> disputed(const std::vector<judged_preset>& all) {
  std::map<group_row, std::vector<std::string>> waiting;
  for (const judged_preset& one : all) {
    for (const group_row group : one.waits) waiting[group].push_back(one.name);
  }
  std::erase_if(waiting, [&](const auto& job) { return job.second.size() == all.size(); });
  return waiting;
}

std::string gpus_words(std::int64_t milli) {
  return milli % whole_device == 0
             ? grouped(milli / whole_device)
             : fmt::format("{:.3f}", static_cast<double>(milli) / static_cast<double>(whole_device));
}

void print(const terminal& out, const std::vector<judged_preset>& all, const snapshot& state, std::size_t most) {
  std::size_t widest = 6;
  for (const judged_preset& one : all) widest = std::max(widest, one.name.size());
  std::string head = "  " + pad_right("", widest);
  for (const std::string_view name : {"start", "follow", "leave", "wait", "GPUs", "digest"}) head += pad_left(name, 10);
  out.line(out.paint(style::dim, head));
  for (const judged_preset& one : all) {
    const outcome& is = one.run.figures;
    std::string line = "  " + pad_right(one.name, widest);
    for (const std::int64_t number : {is.pods_started, is.pods_claiming, is.pods_evicted, is.pods_waiting})
      line += pad_left(grouped(number), 10);
    out.line(line + pad_left(gpus_words(is.used.after[dim_gpu]), 10) + "  " + is.digest.substr(0, 8));
  }
  if (std::any_of(all.begin(), all.end(), [](const judged_preset& one) { return !one.unread.empty(); })) {
    print_section(out, "What a preset does not look at");
    for (const judged_preset& one : all) {
      if (!one.unread.empty())
        out.line(fmt::format("  {}  {}", pad_right(one.name, widest), fmt::join(one.unread, ", ")));
    }
  }
  const auto jobs = disputed(all);
  if (jobs.empty()) return;
  print_section(out, "Who waits depends");
  std::size_t left = most;
  for (const auto& [group, names] : jobs) {
    if (left == 0) break;
    --left;
    out.line(fmt::format("  {}: waits under {}", state.group_name(group), fmt::join(names, ", ")));
  }
  if (jobs.size() > most)
    out.line(fmt::format("  and {} more", counted(static_cast<std::int64_t>(jobs.size() - most), "job")));
}

json json_of(const std::vector<judged_preset>& all, const snapshot& state) {
  json report{{"schema", "kaisched-compare-presets/1"}, {"presets", json::array()}, {"disputed", json::array()}};
  for (const judged_preset& one : all) {
    const outcome& is = one.run.figures;
    report["presets"].push_back({{"preset", one.name},
                                 {"digest", is.digest},
                                 {"pods_started", is.pods_started},
                                 {"pods_claiming", is.pods_claiming},
                                 {"pods_evicted", is.pods_evicted},
                                 {"pods_waiting", is.pods_waiting},
                                 {"jobs_waiting", is.jobs_waiting},
                                 {"gpus", is.used.after[dim_gpu]},
                                 {"decide_seconds", is.decide_seconds},
                                 {"unread", one.unread}});
  }
  for (const auto& [group, names] : disputed(all))
    report["disputed"].push_back({{"job", state.group_name(group)}, {"waits", names}});
  return report;
}

}  // namespace

int compare_presets(const std::string& file, const std::string& presets, std::size_t most, console& to) {
  const result<std::vector<std::string>> names = names_in(presets);
  if (!names) return to.fail(names.failure(), exit_usage);
  input_arguments input;
  input.file = file;
  progress shown(to, load_steps + 8 * names->size());
  const result<loaded_cluster> loaded = load_cluster(input, shown);
  if (!loaded) return to.fail(loaded.failure());
  std::vector<judged_preset> all;
  for (const std::string& name : *names) {
    policy_arguments policy;
    policy.preset = name;
    const result<engine> with = make_engine(policy);
    if (!with) return to.fail(with.failure(), exit_usage);
    result<decided> ran = decide(*with, loaded->state, loaded->now, shown);
    if (!ran) {
      error why = about_input(input, ran.failure());
      why.message.insert(0, name + ": ");
      return to.fail(why);
    }
    shown.skip(8 - std::min<std::size_t>(8, decide_steps(*with)));
    std::set<group_row> waits;
    for (const waiting_group& one : ran->figures.waiting_groups) waits.insert(one.group);
    all.push_back({name, std::move(*ran), std::move(waits),
                   policy::unread_columns(with->options(), policy::told_columns(model::state_of(loaded->state)))});
  }
  shown.finish();
  if (to.shows_report()) {
    to.out().line(to.out().paint(style::bold, fmt::format("kaisched {}: {}, {}", version_string, input_name(input),
                                                          counted(static_cast<std::int64_t>(all.size()), "preset"))));
    print(to.out(), all, loaded->state, most);
  }
  return to.finish(json_of(all, loaded->state));
}

}  // namespace kaisched::cli
