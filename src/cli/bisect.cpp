// The command that finds where decisions part.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/recorded.hpp"
#include "cli/scratch_file.hpp"
#include "cli/shell_process.hpp"
#include "cli/terminal.hpp"
#include "io/files.hpp"
#include "io/scenario/minimise.hpp"
#include "io/scenario/scenario.hpp"
#include "session/old_names.hpp"

namespace kaisched::cli {

namespace {

struct bisect_arguments {
  std::string file;
  std::string program;
  std::string out;
  policy_arguments besides;
  std::uint64_t trials = 10'000;
};

/// The session in which two sides part for the first time.
struct parting {
  io::recorded_session recorded;
  std::size_t at = 0;  ///< place of the decision
  std::string one;
  std::string other;
  snapshot over;
  io::scenario_settings by;       ///< of the one side
  io::scenario_settings against;  ///< of the other
};

struct ended {
  int code = -1;
  std::string output;
};
ended call(const std::string& command) {
  ended how;
  // NOLINTNEXTLINE(cert-env33-c): a program that the user named
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return how;
  std::array<char, 4096> piece{};
  for (std::size_t n = 0; (n = std::fread(piece.data(), 1, piece.size(), pipe)) > 0;)
    how.output.append(piece.data(), n);
  const int state = pclose(pipe);
  how.code = WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  return how;
}

std::string told_options(const policy_arguments& besides) {
  std::string words;
  const auto add = [&](std::string_view option, const std::string& value) {
    if (!value.empty()) words += fmt::format(" {} {}", option, shell_word(value));
  };
  add("--preset", besides.preset);
  add("--mode", besides.mode);
  add("--placement", besides.placement);
  add("--actions", besides.actions);
  for (const std::string& setting : besides.settings) add("--set", setting);
  return words;
}

/// Digests that another program finds for the sessions, by number.
result<std::vector<std::string>> digests_of(const bisect_arguments& told) {
  const ended how = call(fmt::format("{} replay {} --quiet --digests -{}", shell_word(told.program),
                                     shell_word(told.file), told_options(told.besides)));
  if (how.code != exit_ok && how.code != exit_problems) {
    return error{
        status::argument, fmt::format("--program {}: replay ended with status {}", told.program, how.code), {}};
  }
  std::vector<std::string> digests;
  std::istringstream lines(how.output);
  std::uint64_t number = 0;
  for (std::string digest; lines >> number >> digest;) {
    if (number != digests.size() + 1) {
      return error{status::argument, fmt::format("--program {}: its list of digests has gaps", told.program), {}};
    }
    digests.push_back(digest);
  }
  return digests;
}

result<std::optional<parting>> find_parting(const bisect_arguments& told, const std::string& bytes,
                                            std::uint64_t& sessions) {
  std::optional<parting> found;
  result<void> failed;
  std::vector<std::string> others;
  if (!told.program.empty()) {
    result<std::vector<std::string>> digests = digests_of(told);
    if (!digests) return digests.take_failure();
    others = std::move(*digests);
  }
  const policy_arguments none;
  const policy_arguments& here = told.program.empty() ? told.besides : none;
  const result<replayed> all = decide_again(bytes, here, [&](const decided_again& one, io::recording& from) {
    std::optional<std::size_t> at;
    if (told.program.empty()) {
      at = one.difference();
    } else if (one.recorded.number > others.size()) {
      failed = error{status::argument,
                     fmt::format("--program {}: it tells no digest of session {}", told.program, one.recorded.number),
                     {}};
      return false;
    } else if (others[one.recorded.number - 1] != one.digest) {
      at = one.decisions.size();  // the other side tells digests alone
    }
    if (!at) return true;
    result<io::scenario_settings> by = settings_of(one.recorded, none);
    result<io::scenario_settings> against = settings_of(one.recorded, told.besides);
    if (!by || !against) {
      failed = by ? against.failure() : by.failure();
      return false;
    }
    found = parting{one.recorded, *at, {}, {}, from.state(), std::move(*by), std::move(*against)};
    if (told.program.empty()) {
      found->one = decided_again::line(one.recorded.decisions, *at);
      found->other = decided_again::line(one.decisions, *at);
    }
    return false;
  });
  if (!failed) return failed.failure();
  if (!all) return all.failure();
  sessions = all->sessions;
  return found;
}

/// The session as a scenario of its own.
result<io::scenario> scenario_of(const parting& where, const std::string& file) {
  const result<std::string> text = session_as_scenario(where.recorded, where.over, where.by, {});
  if (!text) return text.failure();
  return io::parse_scenario(*text, file);
}

/// A scenario with the names of options that version 0.1 has.
std::string with_old_names(const std::string& text) {
  constexpr std::string_view front = "option ";
  std::string made;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line); made += '\n') {
    const std::size_t equals = line.find('=');
    if (!line.starts_with(front) || equals == std::string::npos) {
      made += line;
      continue;
    }
    const auto [name, value] =
        session_detail::old_setting(line.substr(front.size(), equals - front.size()), line.substr(equals + 1));
    made.append(front).append(name).append("=").append(value);
  }
  return made;
}

/// Whether another program decides a scenario in another way: its expectations are those of this one. A program that
/// does not take the names of options is asked again by those of version 0.1.
bool program_differs(const bisect_arguments& told, const parting& where, const io::scenario& one,
                     const scratch_file& scratch) {
  const auto played = io::play_scenario(one, {});
  if (!played.unresolved.empty() || io::decided_lines(one, {}).empty()) return false;
  int code = exit_usage;
  for (const bool old_names : {false, true}) {
    const std::string& text = old_names ? with_old_names(played.updated) : played.updated;
    if (auto written = io::write_file(scratch.path(), text); !written) return false;
    std::string settings;
    for (const auto& [name, value] : where.against) {
      const auto [told_name, told_value] =
          old_names ? session_detail::old_setting(name, value) : std::pair(name, value);
      settings += " --set " + shell_word(told_name + "=" + told_value);
    }
    code = call(fmt::format("{} test {} --quiet{} 2>/dev/null", shell_word(told.program), shell_word(scratch.path()),
                            settings))
               .code;
    if (code == exit_ok || code == exit_problems) break;
  }
  return code == exit_problems;
}

/// A small scenario that shows it, with what this build decides as its expectations.
result<io::minimised> shrink(const bisect_arguments& told, const parting& where) {
  const result<io::scenario> whole = scenario_of(where, told.file);
  if (!whole) return whole.failure();
  io::minimise_setup how;
  how.most_trials = told.trials;
  const scratch_file scratch;
  if (told.program.empty()) {
    how.interesting = [&](const io::scenario& one) {
      return io::decided_lines(one, {}) != io::decided_lines(one, where.against);
    };
  } else {
    how.interesting = [&](const io::scenario& one) { return program_differs(told, where, one, scratch); };
  }
  result<io::minimised> small = io::minimise_scenario(*whole, how);
  if (!small) return small;
  const result<io::scenario> again = io::parse_scenario(small->text, told.file);
  if (!again) return again.failure();
  small->text = io::play_scenario(*again, {}).updated;
  return small;
}

int bisect(const bisect_arguments& told, console& to) {
  if (auto free = to.claim("--out", told.out); !free) return to.fail(free.failure(), exit_usage);
  const bool other_options = tells_anything(told.besides);
  if (!told.out.empty() && told.program.empty() && !other_options) {
    return to.fail({status::argument,
                    "--out needs two sides that can decide: other options (--preset, --set, ...) or --program",
                    {}},
                   exit_usage);
  }
  const result<std::string> bytes = io::read_file(told.file);
  if (!bytes) return to.fail(bytes.failure());
  std::uint64_t sessions = 0;
  const result<std::optional<parting>> found = find_parting(told, *bytes, sessions);
  if (!found) {
    return to.fail({found.failure().code, fmt::format("{}: {}", told.file, found.failure().message), {}});
  }
  json report{{"schema", "kaisched-bisect/1"}, {"sessions", sessions}, {"first", nullptr}};
  if (!*found) {
    if (to.shows_report()) {
      to.out().line(
          fmt::format("{}: no difference in {}", told.file, counted(static_cast<std::int64_t>(sessions), "session")));
    }
    return to.finish(report);
  }
  const parting& where = **found;
  report["first"] = json{{"session", where.recorded.number}, {"now", where.recorded.now}};
  if (to.shows_report()) {
    to.out().line(fmt::format("{}: session {} is the first that differs", told.file, where.recorded.number));
  }
  if (told.program.empty()) {
    report["first"]["decision"] = where.at + 1;
    report["first"]["recorded"] = where.one;
    report["first"]["decided"] = where.other;
    if (to.shows_report()) {
      to.out().line("    recorded  " + where.one);
      to.out().line("    decided   " + where.other);
    }
  }
  if (!told.out.empty()) {
    const result<io::minimised> small = shrink(told, where);
    if (!small) return to.fail(small.failure(), exit_failure);
    if (auto written = to.write(told.out, small->text); !written) return to.fail(written.failure(), exit_failure);
    report["file"] = told.out;
    report["statements_before"] = small->statements_before;
    report["statements"] = small->statements;
    if (to.shows_report()) {
      to.out().line(
          fmt::format("  {}: {} of {} statements are left", told.out, small->statements, small->statements_before));
    }
  }
  return to.finish(report, exit_problems);
}

}  // namespace

void add_bisect(command_list& to) {
  command& c =
      to.add("bisect", group::decide, "Find the first recorded decision that another build or policy would not make");
  auto& told = c.keep<bisect_arguments>();
  c.explain(
      "Decides recorded sessions again and stops at the first that differs: from the recording, under other options, "
      "or "
      "between this program and another version of it. With --out it makes the smallest scenario that still shows the "
      "difference.");
  c.position("RECORDING", &told.file, file_name({"kr", "gz"}), "A recording, see docs/recordings.md").required();
  c.option("--program", &told.program, any_value("KAISCHED"), "Another version of this program, which decides as well");
  add_policy_arguments(c, told.besides);
  c.heading("Output");
  c.option("-o,--out", &told.out, file_name({"ks"}),
           "A small scenario that shows the difference; - is the standard output")
      .writes();
  c.option("--trials", &told.trials, any_value("N"), "Most scenarios to try").between(1, 1e9);
  c.add_example(
      "kaisched workload generate jobs.csv --jobs 20 && kaisched simulate jobs.csv --nodes 4x8 --record jobs.kr && "
      "kaisched bisect jobs.kr");
  c.runs([&told](console& out) { return bisect(told, out); });
}

}  // namespace kaisched::cli
