#include "benchmarks/fgd/own.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "benchmarks/fgd/in_parallel.hpp"
#include "io/csv_file.hpp"
#include "io/files.hpp"

namespace kaisched::bench::fgd {

namespace {

constexpr std::string_view other_part = "fgd";
constexpr std::size_t full = 100;
constexpr std::size_t beyond = 130;
constexpr double most_below_bound = 15;  ///< percent
constexpr double most_lost = 0.3;        ///< points of allocation
/// Of 17: what "better than FGD" means.
constexpr std::size_t least_ahead = 14;

/// Pods exist there that only one or two GPUs can run, so the first failure is the second of these pods.
bool first_says_nothing(std::string_view workload) { return workload == "gpuspec10" || workload == "gpuspec25"; }
bool is_scarce(std::string_view workload) { return workload == "gpuspec20" || workload == "gpuspec33"; }

using bound_key = std::pair<std::string, std::int64_t>;

result<std::map<bound_key, double>> read_bounds(const std::string& file) {
  std::map<bound_key, double> made;
  if (file.empty()) return made;
  result<std::string> bytes = io::read_file(file);
  if (!bytes) return bytes.take_failure();
  enum column : unsigned { of, seed, bound };
  constexpr std::array<std::string_view, 3> header{"workload", "seed", "lp_prefix_gpu_pct"};
  io::csv_file csv({file, *bytes}, header);
  for (const column one : {of, seed, bound}) csv.require(one);
  while (csv.next()) {
    const std::string_view text = csv.text(bound);
    double value = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc{} || end != text.data() + text.size() || !(value > 0 && value <= 1000)) {
      csv.refuse(bound, "a number above 0");
      break;
    }
    made[{std::string(csv.text(of)), csv.integer(seed, 0, 1'000'000)}] = value;
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return made;
}

struct own_run {
  const workload* of;
  std::size_t seed;
  std::size_t order;
  std::string part;
  const option_values* options;
};
struct run_figures {
  double at_100 = 0;
  double at_130 = 0;
  double first_failed = 0;
};

result<run_figures> run_own(const trace& in, const own_run& what) {
  result<std::vector<placement>> placements = place_all(in, *what.of, what.seed, what.part, what.order, *what.options);
  if (!placements) return placements.take_failure();
  const outcome drawn = measure(in, *what.of, what.seed, *placements);
  std::int64_t all = 0;
  for (const trace_node& node : in.nodes) all += node.gpus * whole_device;
  const std::vector<std::uint32_t>& arrivals = what.of->order[what.seed];
  const std::size_t placed =
      drawn.at_end.first_failed < 0 ? arrivals.size() : static_cast<std::size_t>(drawn.at_end.first_failed);
  std::int64_t asked = 0;
  for (std::size_t i = 0; i < placed; ++i) asked += what.of->pods[arrivals[i]].gpu_milli();
  return run_figures{static_cast<double>(drawn.drawn.allocated[full]) / 100,
                     static_cast<double>(drawn.drawn.allocated[beyond]) / 100,
                     100 * static_cast<double>(asked) / static_cast<double>(all)};
}

void add(own_figures& to, const run_figures& one, bool is_first, bool is_ahead) {
  to.first_failed_least = is_first ? one.first_failed : std::min(to.first_failed_least, one.first_failed);
  to.at_100 += one.at_100;
  to.at_130 += one.at_130;
  to.first_failed += one.first_failed;
  to.ahead += is_ahead ? 1U : 0U;
}

void divide(own_figures& sums, std::size_t runs) {
  const auto n = static_cast<double>(runs);
  sums.at_100 /= n;
  sums.at_130 /= n;
  sums.first_failed /= n;
}

std::size_t count(const std::vector<own_row>& rows, bool (*holds)(const own_row&)) {
  return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), holds));
}

}  // namespace

std::size_t own_result::ahead() const {
  return count(rows, [](const own_row& one) { return one.ours.at_100 > one.fgd.at_100; });
}
std::size_t own_result::compared_first() const {
  return count(rows, [](const own_row& one) { return !first_says_nothing(one.workload); });
}
std::size_t own_result::first_not_before() const {
  return count(rows, [](const own_row& one) {
    return !first_says_nothing(one.workload) && one.ours.first_failed >= one.fgd.first_failed;
  });
}
std::size_t own_result::scarce() const {
  return count(rows, [](const own_row& one) { return is_scarce(one.workload) && one.bound > 0; });
}
std::size_t own_result::scarce_met() const {
  return count(rows, [](const own_row& one) {
    const bool loses = one.fgd.at_100 - one.ours.at_100 > most_lost || one.fgd.at_130 - one.ours.at_130 > most_lost;
    return is_scarce(one.workload) && one.bound > 0 && one.below_bound <= most_below_bound && !loses;
  });
}
bool own_result::allocates_more() const { return ahead() >= std::min(least_ahead, rows.size()); }

result<own_result> reproduce(const own_request& what) {
  for (const std::string& name : what.workloads) {
    if (std::find(workloads().begin(), workloads().end(), name) == workloads().end())
      return error{status::argument, fmt::format("there is no workload '{}'", name), {}};
  }
  const std::int64_t last_seed = first_seed + static_cast<std::int64_t>(seeds) - 1;
  if (what.seed_from < first_seed || what.seed_to > last_seed || what.seed_from > what.seed_to)
    return error{status::argument,
                 fmt::format("seeds {}-{} are not within {}-{}", what.seed_from, what.seed_to, first_seed, last_seed),
                 {}};
  if (what.orders < 1 || what.orders > tie_orders.size())
    return error{status::argument, fmt::format("orders are 1 to {}", tie_orders.size()), {}};
  const result<std::map<bound_key, double>> bounds = read_bounds(what.bounds);
  if (!bounds) return bounds.failure();
  result<trace> in = read_trace(what.data, what.workloads, false);
  if (!in) return in.take_failure();

  const option_values no_options;
  std::vector<own_run> runs;  // pairs: ours, theirs
  for (const workload& of : in->workloads) {
    for (std::int64_t seed = what.seed_from; seed <= what.seed_to; ++seed) {
      for (std::size_t order = 0; order < what.orders; ++order) {
        const auto index = static_cast<std::size_t>(seed - first_seed);
        runs.push_back({&of, index, order, what.part, &what.options});
        runs.push_back({&of, index, order, std::string(other_part), &no_options});
      }
    }
  }
  const auto start = std::chrono::steady_clock::now();
  std::vector<std::optional<result<run_figures>>> done(runs.size());
  in_parallel(runs.size(), what.threads, [&](std::size_t i) { done[i] = run_own(*in, runs[i]); });
  own_result made;
  made.part = what.part;
  made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t i = 0; i < runs.size(); i += 2) {
    if (!*done[i]) return done[i]->take_failure();
    if (!*done[i + 1]) return done[i + 1]->take_failure();
    const run_figures& ours = **done[i];
    const run_figures& theirs = **done[i + 1];
    if (made.rows.empty() || made.rows.back().workload != runs[i].of->name) {
      made.rows.emplace_back();
      made.rows.back().workload = runs[i].of->name;
    }
    own_row& row = made.rows.back();
    add(row.ours, ours, row.runs == 0, ours.at_100 > theirs.at_100);
    add(row.fgd, theirs, row.runs == 0, theirs.at_100 > ours.at_100);
    ++row.runs;
    const auto bound = bounds->find({row.workload, first_seed + static_cast<std::int64_t>(runs[i].seed)});
    if (bound == bounds->end()) continue;
    ++row.bounded;
    row.bound += bound->second;
    row.below_bound += 100 * (1 - ours.first_failed / bound->second);
  }
  for (own_row& row : made.rows) {
    divide(row.ours, row.runs);
    divide(row.fgd, row.runs);
    // One that is known for some seeds only says nothing of the mean.
    row.bound = row.bounded == row.runs ? row.bound / static_cast<double>(row.runs) : 0;
    row.below_bound /= static_cast<double>(row.runs);
  }
  return made;
}

std::string to_text(const own_result& of) {
  std::string text = fmt::format(
      "{} and fgd: allocated GPUs in % at a load of 100 % and 130 %, and the load at which a pod first failed (mean, "
      "worst)\n{:<12} {:>5}  {:>7} {:>7} {:>7}  {:>5}  {:>7} {:>7} {:>7}  {:>6} {:>6} {:>6} {:>6}  {:>6} {:>7}\n",
      of.part, "workload", "runs", "100", "fgd", "diff", "ahead", "130", "fgd", "diff", "first", "worst", "fgd",
      "worst", "bound", "below %");
  for (const own_row& row : of.rows) {
    text += fmt::format(
        "{:<12} {:>5}  {:>7.3f} {:>7.3f} {:>+7.3f}  {:>5}  {:>7.3f} {:>7.3f} {:>+7.3f}  {:>6.2f} {:>6.2f} {:>6.2f} "
        "{:>6.2f}  {}\n",
        row.workload, row.runs, row.ours.at_100, row.fgd.at_100, row.ours.at_100 - row.fgd.at_100, row.ours.ahead,
        row.ours.at_130, row.fgd.at_130, row.ours.at_130 - row.fgd.at_130, row.ours.first_failed,
        row.ours.first_failed_least, row.fgd.first_failed, row.fgd.first_failed_least,
        row.bound > 0 ? fmt::format("{:>6.2f} {:>7.1f}", row.bound, row.below_bound) : "     -       -");
  }
  const auto verdict = [](bool good) { return good ? "yes" : "no"; };
  text += fmt::format("more at a load of 100 %: {} of {} workloads: {}\n", of.ahead(), of.rows.size(),
                      verdict(of.allocates_more()));
  text += fmt::format("first failure not before: {} of {} workloads: {}\n", of.first_not_before(), of.compared_first(),
                      verdict(of.fails_no_sooner()));
  if (of.scarce() > 0) {
    text += fmt::format("scarce models within {:.0f} % of the bound, no more than {:.1f} points lost: {} of {}: {}\n",
                        most_below_bound, most_lost, of.scarce_met(), of.scarce(), verdict(of.keeps_scarce()));
  }
  text += fmt::format("{:.1f} s\n", of.seconds);
  return text;
}

std::string to_json(const own_result& of) {
  const auto figures = [](const own_figures& one) {
    return nlohmann::ordered_json{{"allocated_pct_at_100", one.at_100},
                                  {"allocated_pct_at_130", one.at_130},
                                  {"first_failed_pct", one.first_failed},
                                  {"first_failed_pct_worst", one.first_failed_least},
                                  {"runs_ahead", one.ahead}};
  };
  nlohmann::ordered_json made;
  made["benchmark"] = "own";
  made["part"] = of.part;
  made["seconds"] = of.seconds;
  made["verdicts"] = {{"allocates_more", of.allocates_more()}, {"fails_no_sooner", of.fails_no_sooner()}};
  made["ahead"] = of.ahead();
  made["workloads"] = of.rows.size();
  made["first_not_before"] = of.first_not_before();
  made["first_compared"] = of.compared_first();
  if (of.scarce() > 0) {
    made["verdicts"]["keeps_scarce"] = of.keeps_scarce();
    made["scarce_met"] = of.scarce_met();
    made["scarce"] = of.scarce();
  }
  made["table"] = nlohmann::ordered_json::array();
  for (const own_row& row : of.rows) {
    nlohmann::ordered_json one{{"workload", row.workload}, {"runs", row.runs}};
    one[of.part] = figures(row.ours);
    one["against_fgd"] = figures(row.fgd);
    if (row.bound > 0) {
      one["bound_pct"] = row.bound;
      one["below_bound_pct"] = row.below_bound;
    }
    made["table"].push_back(std::move(one));
  }
  return made.dump(2) + "\n";
}

}  // namespace kaisched::bench::fgd
