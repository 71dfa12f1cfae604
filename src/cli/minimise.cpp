// The command that makes scenarios smaller.
#include "io/scenario/minimise.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/input.hpp"
#include "cli/interruption.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "cli/scratch_file.hpp"
#include "cli/terminal.hpp"
#include "cli/trials.hpp"
#include "io/files.hpp"
#include "io/scenario/scenario.hpp"

namespace kaisched::cli {

namespace {

using minimise_clock = std::chrono::steady_clock;

struct minimise_arguments {
  input_arguments input;
  std::string out = "-";
  std::string keeps;                  ///< a decision
  std::vector<std::string> differs;   ///< option=value
  std::string fails;                  ///< part of a message
  std::string command;                ///< of a shell
  std::vector<std::string> settings;  ///< option=value
  std::uint64_t trials = 100'000;
  std::uint64_t jobs = 0;      ///< 0: one for each core
  double time_limit = 0;       ///< seconds; 0: none
  double command_timeout = 0;  ///< seconds; 0: none
};

minimise_clock::duration of_seconds(double seconds) {
  return std::chrono::duration_cast<minimise_clock::duration>(std::chrono::duration<double>(seconds));
}

/// What is to stay true of the scenario. Several threads may ask.
class condition {
 public:
  condition(const minimise_arguments& told, io::scenario_settings with, io::scenario_settings against)
      : told_(told), with_(std::move(with)), against_(std::move(against)) {}

  [[nodiscard]] result<bool> holds(const io::scenario& one, trial_place& at) {
    if (!told_.keeps.empty()) return keeps_decision(one);
    if (!against_.empty()) return io::decided_lines(one, with_) != io::decided_lines(one, against_);
    if (!told_.command.empty()) return command_succeeds(one, at);
    return fails(one);
  }

  /// What the command said of the scenario itself; nothing for other conditions.
  [[nodiscard]] std::string first_answer() const {
    if (told_.command.empty()) return {};
    std::string text = fmt::format("; the command ended with status {}", first_end_.status);
    const result<std::string> printed = io::read_file(first_output());
    if (!printed) return text;
    const std::size_t end = printed->find_last_not_of(" \n");
    if (end == std::string::npos) return text;
    const std::size_t line = printed->rfind('\n', end);
    const std::size_t begin = line == std::string::npos ? 0 : line + 1;
    return fmt::format("{}: {}", text, printed->substr(begin, end + 1 - begin));
  }

 private:
  [[nodiscard]] bool keeps_decision(const io::scenario& one) const {
    bool found = false;
    const io::scenario_setup setup{with_, [&](const session& ran, std::size_t) {
                                     const result<bool> decided = io::decides(ran, told_.keeps);
                                     found = found || (decided.ok() && *decided);
                                   }};
    static_cast<void>(io::play_scenario(one, setup));
    return found;
  }

  [[nodiscard]] bool fails(const io::scenario& one) const {
    for (const io::scenario_finding& finding : io::play_scenario(one, {with_, {}}).unresolved) {
      if (finding.text.find(told_.fails) != std::string::npos) return true;
    }
    return false;
  }

  [[nodiscard]] std::string first_output() const { return scratch_.path() + "/output"; }

  [[nodiscard]] result<bool> command_succeeds(const io::scenario& one, trial_place& at) {
    if (scratch_.path().empty()) return error{status::internal, "no folder can be made for temporary files", {}};
    const std::string file = fmt::format("{}/{}{}", scratch_.path(), at.number, io::scenario_ending);
    if (auto written = io::write_file(file, one.text); !written) return written.failure();
    // The first one is asked alone.
    const bool first = !asked_;
    asked_ = true;
    if (auto begun = at.process.start(call_of(file), first ? first_output() : "/dev/null"); !begun) {
      return begun.failure();
    }
    const command_end ended = at.process.wait();
    if (first) first_end_ = ended;
    return ended.succeeded();
  }

  [[nodiscard]] std::string call_of(const std::string& file) const {
    constexpr std::string_view hole = "{}";
    const std::string word = shell_word(file);
    std::string call = told_.command;
    std::size_t at = call.find(hole);
    if (at == std::string::npos) return call + " " + word;
    for (; at != std::string::npos; at = call.find(hole, at + word.size())) call.replace(at, hole.size(), word);
    return call;
  }

  const minimise_arguments& told_;
  io::scenario_settings with_;
  io::scenario_settings against_;
  scratch_folder scratch_;
  std::atomic<bool> asked_ = false;
  command_end first_end_;
};

/// The scenario of a file; any other cluster gets one session.
result<io::scenario> scenario_of(const input_arguments& input, progress& shown) {
  const std::string& file = input.file.empty() ? input.cluster : input.file;
  if (!file.ends_with(io::scenario_ending)) {
    const result<loaded_cluster> loaded = load_cluster(input, shown);
    if (!loaded) return loaded.failure();
    const result<std::string> text = io::format_scenario(loaded->state, loaded->now, {});
    if (!text) return text.failure();
    return io::parse_scenario(*text + "\nrun\n", input_name(input));
  }
  const result<std::string> text = io::read_file(file);
  if (!text) return text.failure();
  result<io::scenario> parsed = io::parse_scenario(*text, file);
  if (!parsed) return parsed;
  for (const io::scenario_step& step : parsed->steps) {
    if (std::holds_alternative<io::scenario_run>(step.what)) return parsed;
  }
  return io::parse_scenario(*text + "\nrun\n", file);
}

result<void> check(const minimise_arguments& told) {
  const int conditions = static_cast<int>(!told.keeps.empty()) + static_cast<int>(!told.differs.empty()) +
                         static_cast<int>(!told.fails.empty()) + static_cast<int>(!told.command.empty());
  if (conditions != 1) {
    return error{status::argument, "say what is to stay true: one of --keeps, --differs, --fails, --command", {}};
  }
  if (told.command_timeout > 0 && told.command.empty()) {
    return error{status::argument, "--command-timeout is for --command", {}};
  }
  return check_input(told.input);
}

std::string words_of(const io::scenario_size& size) {
  const auto count = [](std::size_t number, std::string_view noun) {
    return counted(static_cast<std::int64_t>(number), noun);
  };
  return fmt::format("{}, {}, {}, {}", count(size.nodes, "node"), count(size.queues, "queue"),
                     count(size.groups, "group"), count(size.pods, "pod"));
}

/// What ended the search early; nothing if it came to its end.
std::string_view word_of(trial_stop why, bool finished) {
  if (finished) return {};
  if (why == trial_stop::time) return "time";
  return why == trial_stop::interrupted ? "signal" : "trials";
}

/// The search, and what is told and kept of it while it goes on.
class minimising {
 public:
  minimising(const minimise_arguments& told, condition& wanted, progress& shown)
      : told_(told), shown_(shown), trials_(setup(told, wanted, [this](std::size_t answers) { tell(answers); })) {}

  result<io::minimised> run(const io::scenario& from) {
    const interruption asked_to_end([this] { trials_.stop(trial_stop::interrupted); });
    io::minimise_setup how;
    how.first_interesting = [this](const auto& next) { return trials_.first(next); };
    how.most_trials = told_.trials;
    how.stopped = [this] { return trials_.stopped() != trial_stop::none; };
    how.improved = [this](const std::string& text, const io::scenario_size& size) { keep(text, size); };
    result<io::minimised> small = io::minimise_scenario(from, how);
    if (written_ && !*written_) return written_->failure();
    if (trials_.failure()) return *trials_.failure();
    return small;
  }

  [[nodiscard]] trial_stop stopped() { return trials_.stopped(); }
  /// The file could not be written.
  [[nodiscard]] bool fails_to_write() const { return written_ && !*written_; }

 private:
  static trial_setup setup(const minimise_arguments& told, condition& wanted,
                           std::function<void(std::size_t)> progress) {
    trial_setup how;
    how.ask = [&wanted](const io::scenario& one, trial_place& at) { return wanted.holds(one, at); };
    how.jobs = told.jobs > 0 ? told.jobs : std::max(1U, std::thread::hardware_concurrency());
    if (told.time_limit > 0) how.until = minimise_clock::now() + of_seconds(told.time_limit);
    if (told.command_timeout > 0) how.most_each = of_seconds(told.command_timeout);
    how.progress = std::move(progress);
    return how;
  }

  /// A device or a pipe gets the end alone.
  [[nodiscard]] bool keeps_best() const {
    std::error_code fault;
    const std::filesystem::file_status now = std::filesystem::status(told_.out, fault);
    return told_.out != "-" && (!std::filesystem::exists(now) || std::filesystem::is_regular_file(now));
  }

  void keep(const std::string& text, const io::scenario_size& size) {
    best_ = size;
    if (fails_to_write() || !keeps_best()) return;
    written_ = io::write_file(told_.out, text);
    if (!*written_) trials_.stop(trial_stop::failed);
  }

  void tell(std::size_t answers) {
    shown_.now(fmt::format("{}; {}", counted(static_cast<std::int64_t>(answers), "trial"),
                           best_ ? words_of(*best_) : "none is known to show it"));
  }

  const minimise_arguments& told_;
  progress& shown_;
  std::optional<io::scenario_size> best_;
  std::optional<result<void>> written_;
  trial_runner trials_;
};

int report_minimised(const minimise_arguments& told, const io::minimised& small, trial_stop why, double taken,
                     console& to) {
  const std::string_view stopped = word_of(why, small.finished);
  if (to.shows_report()) {
    to.out().line(fmt::format("{}: {} of {} statements are left after {} in {}", told.out, small.statements,
                              small.statements_before, counted(static_cast<std::int64_t>(small.trials), "trial"),
                              seconds(taken)));
    to.out().line("  " + words_of(small.size));
    if (stopped == "time") to.out().line("  there may be a smaller one: --time-limit ended the search");
    if (stopped == "signal") to.out().line("  there may be a smaller one: a signal ended the search");
    if (stopped == "trials") to.out().line("  there may be a smaller one: --trials ended the search");
  }
  return to.finish(json{{"schema", "kaisched-minimise/1"},
                        {"file", told.out},
                        {"statements_before", small.statements_before},
                        {"statements", small.statements},
                        {"nodes", small.size.nodes},
                        {"queues", small.size.queues},
                        {"groups", small.size.groups},
                        {"pods", small.size.pods},
                        {"trials", small.trials},
                        {"seconds", taken},
                        {"finished", small.finished},
                        {"stopped_by", stopped.empty() ? json() : json(stopped)}},
                   small.finished ? exit_ok : exit_unfinished);
}

int minimise(const minimise_arguments& told, console& to) {
  const auto start = minimise_clock::now();
  if (auto good = check(told); !good) return to.fail(good.failure(), exit_usage);
  if (auto claimed = to.claim("--out", told.out); !claimed) return to.fail(claimed.failure(), exit_usage);
  const auto wrong = [&](std::string_view option, const error& why) {
    return to.fail({why.code, fmt::format("{} {}", option, why.message), {}}, exit_usage);
  };
  result<io::scenario_settings> with = io::read_settings(told.settings);
  if (!with) return wrong("--set", with.failure());
  result<io::scenario_settings> against = io::read_settings(told.differs, *with);
  if (!against) return wrong("--differs", against.failure());
  warn_of_old_names(told.settings);
  warn_of_old_names(told.differs);
  if (!told.keeps.empty()) {
    if (auto good = io::check_decision(told.keeps); !good) return wrong("--keeps", good.failure());
  }
  if (!told.input.on_invalid.empty()) with->insert(with->begin(), {"on_invalid", told.input.on_invalid});
  if (!against->empty()) against->insert(against->begin(), with->begin(), with->end());

  constexpr progress::line_interval lines{5};
  progress shown(to, load_steps + 2, lines);
  const result<io::scenario> from = scenario_of(told.input, shown);
  if (!from) return to.fail(from.failure());
  condition wanted(told, *with, std::move(*against));
  minimising search(told, wanted, shown);
  shown.next("making the scenario smaller");
  const result<io::minimised> small = search.run(*from);
  const trial_stop why = search.stopped();
  if (!small) {
    shown.finish();
    if (why == trial_stop::failed) return to.fail(small.failure(), exit_failure);
    if (why != trial_stop::none) return to.fail(small.failure(), exit_unfinished);
    return to.fail({small.failure().code, small.failure().message + wanted.first_answer(), {}}, exit_usage);
  }
  shown.next("writing what it decides");
  const result<io::scenario> again = io::parse_scenario(small->text, input_name(told.input));
  if (!again) return to.fail(again.failure(), exit_failure);
  const io::scenario_outcome played = io::play_scenario(*again, {*with, {}});
  shown.finish();
  for (const io::scenario_finding& what : played.warnings) print_warning(what.text);
  const result<void> written = to.write(told.out, played.updated);
  if (!written) return to.fail(written.failure(), exit_failure);
  return report_minimised(told, *small, why, std::chrono::duration<double>(minimise_clock::now() - start).count(), to);
}

}  // namespace

void add_minimise(command_list& to) {
  command& c = to.add("minimise", group::decide, "Find the smallest cluster that still shows something");
  auto& told = c.keep<minimise_arguments>();
  c.explain(
      "Leaves out pod groups, nodes, queues, pods, sessions and fields of a cluster or scenario as long as something "
      "stays true, merges what can be one, makes amounts smaller, and writes what is left as a scenario with its "
      "decisions.\n"
      "The result is small enough to read, to send in a report, or to keep as a test. The file has the smallest one so "
      "far at any time: Ctrl-C and --time-limit lose nothing, and the exit status is then 4.");
  add_input_arguments(c, told.input);
  c.heading("What stays true: one of these");
  c.option(
      "--keeps", &told.keeps, any_value("DECISION"),
      "Some session decides this, as in an expectation: \"bind POD NODE\", \"unschedulable GROUP constraint=taint\"");
  c.option("--differs", &told.differs, option_setting(),
           "Decisions differ between the options of the file and these as well; may be repeated");
  c.option("--fails", &told.fails, any_value("TEXT"),
           "A call fails, or an invariant is broken, with this in its message");
  c.option("--command", &told.command, any_value("COMMAND"),
           "The command of the shell ends with status 0; {} in it, or else its end, stands for a file with the smaller "
           "scenario. Several run at a time");
  c.heading("Options");
  c.option("-o,--out", &told.out, file_name({"ks"}), "Where to; - is the standard output").writes();
  c.option("--set", &told.settings, option_setting(), "An option that wins over those of the file; may be repeated");
  c.option("--trials", &told.trials, any_value("N"), "Most scenarios to try").between(1, 1e9);
  c.option("--jobs", &told.jobs, any_value("N"),
           "Scenarios to try at a time; 0: one for each core. The result is the same")
      .between(0, 1024);
  c.option("--time-limit", &told.time_limit, any_value("SECONDS"), "Ends the search; 0: never").between(0, 1e9);
  c.option("--command-timeout", &told.command_timeout, any_value("SECONDS"),
           "A command that takes longer is ended, and counts as failed; 0: never")
      .between(0, 1e9);
  c.add_example("kaisched minimise tests/scenarios/gangs/whole_or_nothing.ks --keeps \"unschedulable train\"",
                "the smallest cluster in which the gang waits");
  c.runs([&told](console& out) { return minimise(told, out); });
}

}  // namespace kaisched::cli
