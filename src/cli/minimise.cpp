// The command that makes scenarios smaller.
#include "io/scenario/minimise.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <sys/wait.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "cli/scratch_file.hpp"
#include "io/files.hpp"
#include "io/scenario/scenario.hpp"

namespace kaisched::cli {

namespace {

struct minimise_arguments {
  input_arguments input;
  std::string out = "-";
  std::string keeps;                  ///< a decision
  std::vector<std::string> differs;   ///< option=value
  std::string fails;                  ///< part of a message
  std::string command;                ///< of a shell
  std::vector<std::string> settings;  ///< option=value
  std::uint64_t trials = 100'000;
};

/// What is to stay true of the scenario.
class condition {
 public:
  condition(const minimise_arguments& told, io::scenario_settings with, io::scenario_settings against)
      : told_(told), with_(std::move(with)), against_(std::move(against)) {}

  [[nodiscard]] bool holds(const io::scenario& one) const {
    if (!told_.keeps.empty()) return keeps_decision(one);
    if (!against_.empty()) return io::decided_lines(one, with_) != io::decided_lines(one, against_);
    if (!told_.command.empty()) return command_succeeds(one);
    return fails(one);
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

  [[nodiscard]] bool command_succeeds(const io::scenario& one) const {
    if (auto written = io::write_file(scratch_.path(), one.text); !written) return false;
    std::string call = told_.command;
    const std::size_t hole = call.find("{}");
    if (hole == std::string::npos) {
      call += " '" + scratch_.path() + "'";
    } else {
      call.replace(hole, 2, "'" + scratch_.path() + "'");
    }
    const int ended =
        std::system(call.c_str());  // NOLINT(concurrency-mt-unsafe,cert-env33-c): that is what was asked for
    return ended != -1 && WIFEXITED(ended) && WEXITSTATUS(ended) == 0;
  }

  const minimise_arguments& told_;
  io::scenario_settings with_;
  io::scenario_settings against_;
  scratch_file scratch_;
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
  return check_input(told.input);
}

int minimise(const minimise_arguments& told, console& to) {
  if (auto good = check(told); !good) return to.fail(good.failure(), exit_usage);
  if (auto claimed = to.claim("--out", told.out); !claimed) return to.fail(claimed.failure(), exit_usage);
  const auto wrong = [&](std::string_view option, const error& why) {
    return to.fail({why.code, fmt::format("{} {}", option, why.message), {}}, exit_usage);
  };
  result<io::scenario_settings> with = io::read_settings(told.settings);
  if (!with) return wrong("--set", with.failure());
  result<io::scenario_settings> against = io::read_settings(told.differs, *with);
  if (!against) return wrong("--differs", against.failure());
  if (!told.keeps.empty()) {
    if (auto good = io::check_decision(told.keeps); !good) return wrong("--keeps", good.failure());
  }
  if (!told.input.on_invalid.empty()) with->insert(with->begin(), {"on_invalid", told.input.on_invalid});
  if (!against->empty()) against->insert(against->begin(), with->begin(), with->end());

  progress shown(to, load_steps + 2);
  const result<io::scenario> from = scenario_of(told.input, shown);
  if (!from) return to.fail(from.failure());
  const condition wanted(told, *with, std::move(*against));
  io::minimise_setup how;
  how.interesting = [&](const io::scenario& one) { return wanted.holds(one); };
  how.most_trials = told.trials;
  shown.next("making the scenario smaller");
  const result<io::minimised> small = io::minimise_scenario(*from, how);
  if (!small) return to.fail(small.failure(), exit_usage);
  shown.next("writing what it decides");
  const result<io::scenario> again = io::parse_scenario(small->text, input_name(told.input));
  if (!again) return to.fail(again.failure(), exit_failure);
  const std::string text = io::play_scenario(*again, {*with, {}}).updated;
  shown.finish();
  if (auto written = to.write(told.out, text); !written) return to.fail(written.failure(), exit_failure);
  if (to.shows_report()) {
    to.out().line(fmt::format("{}: {} of {} statements are left after {}{}", told.out, small->statements,
                              small->statements_before, counted(static_cast<std::int64_t>(small->trials), "trial"),
                              small->finished ? "" : "; there may be fewer: --trials"));
  }
  return to.finish(json{{"schema", "kaisched-minimise/1"},
                        {"file", told.out},
                        {"statements_before", small->statements_before},
                        {"statements", small->statements},
                        {"trials", small->trials},
                        {"finished", small->finished}});
}

}  // namespace

void add_minimise(command_list& to) {
  command& c = to.add("minimise", group::decide, "Find the smallest cluster that still shows something");
  auto& told = c.keep<minimise_arguments>();
  c.explain(
      "Leaves out pod groups, nodes, queues, pods, sessions and fields of a cluster or scenario as long as something "
      "stays true, and writes what is left as a scenario with its decisions.\n"
      "The result is small enough to read, to send to somebody, or to keep as a test.");
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
           "The command succeeds; {} in it stands for a file with the smaller scenario");
  c.heading("Options");
  c.option("-o,--out", &told.out, file_name({"ks"}), "Where to; - is the standard output");
  c.option("--set", &told.settings, option_setting(), "An option that wins over those of the file; may be repeated");
  c.option("--trials", &told.trials, any_value("N"), "Most scenarios to try").between(1, 1e9);
  c.add_example("kaisched minimise tests/scenarios/gangs/whole_or_nothing.ks --keeps \"unschedulable train\"",
                "the smallest cluster in which the gang waits");
  c.runs([&told](console& out) { return minimise(told, out); });
}

}  // namespace kaisched::cli
