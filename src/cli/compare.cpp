// The command that compares policies: plays of one workload, or sessions over one cluster.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <kaisched/version.hpp>

#include "cli/chart.hpp"
#include "cli/compare_presets.hpp"
#include "cli/console.hpp"
#include "cli/difference.hpp"
#include "cli/explain.hpp"
#include "cli/play_arguments.hpp"
#include "cli/play_figures.hpp"
#include "cli/progress.hpp"
#include "simulation/csv_field.hpp"
#include "simulation/policies.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view compare_schema = "kaisched-compare/1";
constexpr std::string_view usual_policies = "fifo,easy,sjf,srtf,las,kai";

struct compare_arguments {
  std::string workload;
  std::string policies;
  std::string presets;
  std::string first;
  std::string second;
  play_arguments play;
  std::int64_t threads = 0;
  std::int64_t most_jobs = 5;
  std::string csv_file;
  bool timings = false;
};

error wrong_word(std::string text) { return {status::argument, std::move(text), {}}; }

/// What a policy by name adds to what has been told.
void take_policy(const simulation::named_policy& from, play_arguments& to) {
  std::vector<std::string> settings;
  for (const auto& [option, value] : simulation::settings_of(from)) {
    if (option == "actions") {
      to.policy.actions = value;
    } else {
      settings.push_back(fmt::format("{}={}", option, value));
    }
  }
  to.policy.settings.insert(to.policy.settings.begin(), settings.begin(), settings.end());
  if (from.usage_half_life > 0 && to.usage_half_life.empty()) {
    to.usage_half_life = fmt::format("{}ns", from.usage_half_life);
  }
  to.replan = to.replan || from.replan;
  to.repeat = to.repeat || from.repeat;
  to.one_queue = to.one_queue || from.one_queue;
  to.near = to.near || from.near;
}

std::string known_policies() {
  std::string all;
  for (const simulation::named_policy& one : simulation::named_policies()) {
    all += fmt::format("{}{}", all.empty() ? "" : ", ", one.name);
  }
  return all;
}

result<competitor> competitor_of(const std::string& word, const play_arguments& base) {
  competitor made{word, base, {}, {}, false};
  if (const simulation::named_policy* known = simulation::find_policy(word)) {
    take_policy(*known, made.play);
    made.needs_estimates = known->needs_estimates;
    return made;
  }
  if (const result<policy_options> known = preset(word)) {
    made.play.policy.preset = word;
    made.needs_estimates = std::ranges::find(known->actions, "backfill") != known->actions.end();
    return made;
  }
  if (word.find('.') == std::string::npos)
    return wrong_word(
        fmt::format("there is no policy '{}'; known: {}, presets, or the name of a play file", word, known_policies()));
  made.name = std::filesystem::path(word).stem().string();
  if (auto read = read_play_file(word, made.play); !read) return read.failure();
  return made;
}

result<std::vector<competitor>> competitors_of(const compare_arguments& told) {
  if (told.first.empty() != told.second.empty()) return wrong_word("--a and --b are told together");
  std::vector<std::string> words;
  if (!told.first.empty()) {
    if (!told.policies.empty()) return wrong_word("--policies is told instead of --a and --b");
    words = {told.first, told.second};
  } else {
    std::string_view rest = told.policies.empty() ? usual_policies : std::string_view(told.policies);
    for (;;) {
      const std::size_t comma = rest.find(',');
      words.emplace_back(rest.substr(0, comma));
      if (comma == std::string_view::npos) break;
      rest = rest.substr(comma + 1);
    }
  }
  std::vector<competitor> all;
  for (const std::string& word : words) {
    result<competitor> made = competitor_of(word, told.play);
    if (!made) return made.failure();
    for (const competitor& other : all) {
      if (other.name == made->name) return wrong_word(fmt::format("'{}' is told twice", made->name));
    }
    all.push_back(std::move(*made));
  }
  return all;
}

/// Plays them all, several at a time: each has a cluster of its own.
result<void> play_all(std::vector<competitor>& all, const simulation::workload& jobs, std::size_t threads) {
  std::atomic<std::size_t> next{0};
  std::vector<std::optional<error>> faults(all.size());
  const auto work = [&] {
    for (std::size_t i = next++; i < all.size(); i = next++) {
      if (auto done = play_once(all[i], jobs, all.size() == 2); !done) faults[i] = done.failure();
    }
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(threads, all.size()); ++i) others.emplace_back(work);
  work();
  for (std::thread& one : others) one.join();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!faults[i]) continue;
    faults[i]->message.insert(0, all[i].name + ": ");
    return *faults[i];
  }
  return {};
}

// ---- reports --------------------------------------------------------------------------------------------------------

using column = std::pair<std::string_view, std::string (*)(const simulation::metrics&)>;

void print_table(const terminal& out, const std::vector<competitor>& all, std::span<const column> columns) {
  std::size_t widest = 6;
  for (const competitor& one : all) widest = std::max(widest, one.name.size());
  std::string head = "  " + pad_right("", widest);
  for (const auto& [name, text] : columns) head += pad_left(name, 12);
  out.line(out.paint(style::dim, head));
  for (const competitor& one : all) {
    std::string line = "  " + pad_right(one.name, widest);
    for (const auto& [name, text] : columns) line += pad_left(text(one.figures), 12);
    out.line(line);
  }
}

/// The longest wait of each queue within its quota: a line for each queue, a column for each policy. A policy that is
/// played with one queue knows quotas of a cluster file only.
void print_quotas(const terminal& out, const std::vector<competitor>& all) {
  constexpr std::size_t most = 20;
  std::map<std::string_view, std::vector<std::string>> queues;  // columns by name
  for (const competitor& one : all) {
    for (const simulation::quota_claim& of : one.run.quota_claims) queues[of.queue].resize(all.size(), "-");
  }
  if (queues.empty()) return;
  std::size_t first = 6;
  std::size_t widest = 12;
  for (const auto& [name, columns] : queues) first = std::max(first, name.size());
  std::string head;
  for (std::size_t i = 0; i < all.size(); ++i) {
    widest = std::max(widest, all[i].name.size() + 2);
    for (const simulation::quota_claim& of : all[i].run.quota_claims)
      queues[of.queue][i] = span_words(static_cast<double>(of.longest) / 1e9);
  }
  for (const competitor& one : all) head += pad_left(one.name, widest);
  print_section(out, "Longest wait within the quota of the queue");
  out.line(out.paint(style::dim, "  " + pad_right("", first) + head));
  std::size_t shown = 0;
  for (const auto& [name, columns] : queues) {
    if (shown++ == most) break;
    std::string line = "  " + pad_right(std::string(name), first);
    for (const std::string& text : columns) line += pad_left(text, widest);
    out.line(line);
  }
  if (queues.size() > most) out.line(fmt::format("  and {} more", queues.size() - most));
}

void print_figures(const terminal& out, const std::vector<competitor>& all) {
  using simulation::metrics;
  static constexpr auto count = [](std::uint64_t n) { return grouped(static_cast<std::int64_t>(n)); };
  print_section(out, "Times");
  print_table(out, all,
              std::array<column, 6>{{{"mean JCT", [](const metrics& m) { return span_words(m.completion.mean); }},
                                     {"50 %", [](const metrics& m) { return span_words(m.completion.p50); }},
                                     {"99 %", [](const metrics& m) { return span_words(m.completion.p99); }},
                                     {"mean wait", [](const metrics& m) { return span_words(m.waiting.mean); }},
                                     {"makespan", [](const metrics& m) { return span_words(m.makespan); }},
                                     {"ended", [](const metrics& m) { return count(m.ended); }}}});
  print_section(out, "Use");
  print_table(
      out, all,
      std::array<column, 6>{{{"contended", [](const metrics& m) { return share_words(m.utilisation); }},
                             {"whole time", [](const metrics& m) { return share_words(m.utilisation_of_span); }},
                             {"idle, asked", [](const metrics& m) { return share_words(m.idle_though_asked); }},
                             {"idle, fit h", [](const metrics& m) { return hours_words(m.idle_fitting_gpu_hours); }},
                             {"in pieces", [](const metrics& m) { return share_words(m.fragmentation); }},
                             {"distance", [](const metrics& m) { return fmt::format("{:.2f}", m.topology_cost); }}}});
  for (const competitor& one : all) {
    if (!one.run.idle_refusals.empty())
      out.line(fmt::format("  {}: GPU hours idle while jobs fit: {}", one.name, idle_words(one.run)));
  }
  print_section(out, "Disruption");
  print_table(out, all,
              std::array<column, 6>{{{"stopped", [](const metrics& m) { return count(m.evictions); }},
                                     {"restarts", [](const metrics& m) { return count(m.restarts); }},
                                     {"pods moved", [](const metrics& m) { return count(m.moves); }},
                                     {"withdrawn", [](const metrics& m) { return count(m.withdrawn_starts); }},
                                     {"lost GPU h", [](const metrics& m) { return hours_words(m.lost_gpu_hours); }},
                                     {"of gangs", [](const metrics& m) {
                                        return hours_words(m.stale_gang_gpu_hours + m.partial_gang_gpu_hours);
                                      }}}});
  print_section(out, "Fairness");
  print_table(
      out, all,
      std::array<column, 4>{{{"worst", [](const metrics& m) { return fmt::format("{:.2f}", m.worst_fairness); }},
                             {"unfair", [](const metrics& m) { return share_words(m.unfair); }},
                             {"Jain", [](const metrics& m) { return fmt::format("{:.3f}", m.jain); }},
                             {"share error", [](const metrics& m) { return share_words(m.share_error); }}}});
  print_quotas(out, all);
  if (std::any_of(all.begin(), all.end(), [](const competitor& one) { return !one.run.unread.empty(); })) {
    print_section(out, "What a policy does not look at");
    for (const competitor& one : all) {
      if (!one.run.unread.empty()) out.line(fmt::format("  {}: {}", one.name, fmt::join(one.run.unread, ", ")));
    }
  }
  print_section(out, "CPU time of a session");
  std::size_t widest = 6;
  for (const competitor& one : all) widest = std::max(widest, one.name.size());
  out.line(out.paint(style::dim,
                     fmt::format("  {}{:>12}{:>12}{:>12}", pad_right("", widest), "sessions", "99 %", "longest")));
  for (const competitor& one : all) {
    const simulation::distribution cpu = simulation::distribution_of(one.run.session_cpu);
    out.line("  " + pad_right(one.name, widest) + pad_left(count(one.run.counts.sessions), 12) +
             pad_left(cpu_words(cpu.p99), 12) + pad_left(cpu_words(cpu.most), 12));
  }
}

/// Policies that go by run times of which nobody has been told.
std::vector<std::string> in_the_dark(const std::vector<competitor>& all, const simulation::workload& jobs) {
  const bool some = std::any_of(jobs.jobs.begin(), jobs.jobs.end(),
                                [](const simulation::job& j) { return j.estimate != simulation::unknown_time; });
  std::vector<std::string> names;
  for (const competitor& one : all) {
    const std::string& told = one.play.estimates;
    const bool knows = told.empty() || told == "given" ? some : told != "none";
    if (one.needs_estimates && !knows) names.push_back(one.name);
  }
  return names;
}

/// A line for each policy; numbers as the shortest decimals that read back the same.
std::string csv_of(const std::vector<competitor>& all) {
  const json keys = figures_of({});
  std::string text = "policy";
  const auto add = [&](const json& from, bool names) {
    for (const auto& [key, value] : from.items()) {
      if (!value.is_object()) {
        text += "," + (names ? key : value.dump());
        continue;
      }
      for (const auto& [inner, number] : value.items()) text += "," + (names ? key + "_" + inner : number.dump());
    }
    text += "\n";
  };
  add(keys, true);
  for (const competitor& one : all) {
    text += simulation::csv_report_field(one.name);
    add(figures_of(one.figures), false);
  }
  return text;
}

int compare(const compare_arguments& told, console& to) {
  if (!told.presets.empty()) {
    if (!told.policies.empty() || !told.first.empty() || !told.second.empty() || !told.csv_file.empty())
      return to.fail(wrong_word("--presets is about a cluster, --policies, --a, --b and --csv are about a workload"),
                     exit_usage);
    return compare_presets(told.workload, told.presets, static_cast<std::size_t>(told.most_jobs), to);
  }
  result<std::vector<competitor>> all = competitors_of(told);
  if (!all) return to.fail(all.failure(), exit_usage);
  for (const competitor& one : *all) {
    if (one.play.nodes.empty() == one.play.cluster.empty())
      return to.fail(wrong_word("name a cluster: --cluster FILE, or --nodes such as 16x8"), exit_usage);
  }
  if (auto free = to.claim("--csv", told.csv_file); !free) return to.fail(free.failure(), exit_usage);
  progress shown(to, 3);
  shown.next("reading " + told.workload);
  const result<simulation::workload> jobs = read_jobs(told.workload, told.play.gpus_per_node);
  if (!jobs) return to.fail(jobs.failure());
  shown.next("playing");
  const std::size_t threads =
      told.threads > 0 ? static_cast<std::size_t>(told.threads) : std::max(1U, std::thread::hardware_concurrency());
  if (auto done = play_all(*all, *jobs, threads); !done) return to.fail(done.failure());
  std::optional<difference> pair;
  if (all->size() == 2) {
    shown.next("asking why");
    result<difference> made = difference_of((*all)[0], (*all)[1], *jobs, static_cast<std::size_t>(told.most_jobs));
    if (!made) return to.fail(made.failure());
    pair = std::move(*made);
  } else {
    shown.skip(1);
  }
  shown.finish();
  if (!told.csv_file.empty()) {
    if (auto written = to.write(told.csv_file, csv_of(*all)); !written) return to.fail(written.failure(), exit_failure);
  }
  const std::vector<std::string> blind = in_the_dark(*all, *jobs);
  if (to.shows_report()) {
    to.out().line(
        to.out().paint(style::bold, fmt::format("kaisched {}: {}, {}", version_string, told.workload,
                                                counted(static_cast<std::int64_t>(jobs->jobs.size()), "job"))));
    print_figures(to.out(), *all);
    if (!blind.empty()) {
      to.out().line();
      to.out().line(fmt::format("  sessions know no run times, which {} {} by: --estimates exact tells them",
                                fmt::join(blind, ", "), blind.size() == 1 ? "goes" : "go"));
    }
    if (pair) print_difference(to.out(), *pair, (*all)[0], (*all)[1], *jobs);
  }
  json report{{"schema", compare_schema},
              {"jobs", jobs->jobs.size()},
              {"policies", json::array()},
              {"without_run_times", blind}};
  for (const competitor& one : *all) {
    json row{{"policy", one.name}, {"digest", one.run.digest}};
    if (told.timings) row["session_cpu"] = session_cpu_of(one.run);
    row.update(figures_of(one.figures));
    row.update(lists_of(one.run));
    report["policies"].push_back(std::move(row));
  }
  if (pair) report["difference"] = json_of(*pair, *jobs);
  return to.finish(report);
}

value_form policy_names() {
  value_form form = any_value("LIST");
  form.proposals = [](std::span<const std::string>, std::string_view begun) {
    const std::size_t comma = begun.rfind(',');
    const std::string_view kept = comma == std::string_view::npos ? std::string_view{} : begun.substr(0, comma + 1);
    std::vector<proposal> found;
    for (const simulation::named_policy& one : simulation::named_policies()) {
      found.push_back({fmt::format("{}{}", kept, one.name), std::string(one.meaning)});
    }
    return found;
  };
  return form;
}

}  // namespace

void add_compare(command_list& to) {
  command& c = to.add("compare", group::decide,
                      "Play a workload, or decide over a cluster, under several policies, and say who wins and loses");
  auto& told = c.keep<compare_arguments>();
  c.explain(
      fmt::format("Policies: {}; presets are policies as well. Another word with a dot is a play file "
                  "(docs/simulation.md). Of two policies the jobs and queues that win and lose are told, by how much, "
                  "when, and why.\nOptions that are told apply to all of them.",
                  known_policies()));
  c.position("FILE", &told.workload, file_name({"csv", "json", "yaml", "yml", "zip"}),
             "Jobs, see docs/workloads.md, with --presets a cluster; - is the standard input")
      .required();
  c.heading("What is compared");
  c.option("--policies", &told.policies, policy_names(),
           fmt::format("Names, presets and play files ({})", usual_policies));
  value_form presets = any_value("LIST");
  presets.proposals = [](std::span<const std::string>, std::string_view) {
    std::vector<proposal> found{{"all", "each in its newest version"}};
    for (const std::string_view name : preset_names()) found.push_back({std::string(name), ""});
    return found;
  };
  c.option("--presets", &told.presets, presets,
           "FILE is a cluster: decide it under these presets, or under all, and say who waits under which");
  c.option("--a", &told.first, file_name({"yaml", "yml", "json"}), "A play file or a policy");
  c.option("--b", &told.second, file_name({"yaml", "yml", "json"}), "Another one");
  add_cluster_arguments(c, told.play);
  add_time_arguments(c, told.play);
  c.heading("Output");
  c.option("--most", &told.most_jobs, any_value("N"), "Jobs that win most and lose most, so many of each")
      .between(0, 1000);
  c.option("--csv", &told.csv_file, file_name({"csv"}), "All figures, a line for each policy").writes();
  c.flag("--timings", told.timings,
         "The JSON has the CPU times of sessions as well, which are not the same in every run");
  c.option("--threads", &told.threads, any_value("N"), "Plays at a time; 0: as many as there are cores")
      .between(0, 1024);
  c.add_example("kaisched workload generate jobs.csv --jobs 20 && kaisched compare jobs.csv --nodes 4x8");
  c.add_example("kaisched compare jobs.csv --nodes 4x8 --a fifo --b easy");
  c.add_example("kaisched compare cluster.json --presets all", "one session of the same cluster under each preset");
  c.runs([&told](console& out) { return compare(told, out); });
}

}  // namespace kaisched::cli
