// The command that decides recorded sessions again.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/figures.hpp"
#include "cli/recorded.hpp"
#include "cli/shell_process.hpp"
#include "cli/terminal.hpp"
#include "files/cluster_file.hpp"
#include "io/files.hpp"
#include "io/recording.hpp"

namespace kaisched::cli {

namespace {

struct replay_arguments {
  std::string file;
  std::string digests_file;
  policy_arguments besides;
  std::uint64_t session = 0;  ///< to be written; 0: none
  std::string out;            ///< where to
};

/// How the program has to be called for the decisions of a session.
std::string options_in_words(const io::recorded_session& of) {
  std::string words = "--preset " + shell_word(of.preset);
  for (const auto& [name, value] : of.options) words += fmt::format(" --set {}={}", name, shell_word(value));
  return words;
}

/// Goes to a session by its number. Error: there is none.
result<io::recording> recording_at(const std::string& bytes, std::uint64_t number) {
  result<io::recording> from = io::recording::open(bytes);
  if (!from) return from;
  std::uint64_t sessions = 0;
  for (;;) {
    const result<bool> more = from->next();
    if (!more) return more.failure();
    if (!*more) break;
    if (++sessions == number) return from;
  }
  return error{status::not_found,
               fmt::format("--session {}: the recording has {}{}", number,
                           counted(static_cast<std::int64_t>(sessions), "session"),
                           from->truncated() ? "; the last record is not whole" : ""),
               {}};
}

/// The cluster in a form that the name of the file says; a scenario has options, and expects what was decided.
result<std::string> text_of(const io::recorded_session& of, const snapshot& over, const io::cluster_form& form,
                            const std::string& path) {
  if (!path.ends_with(io::scenario_ending)) return form.format(over, of.now);
  const result<io::scenario_settings> settings = settings_of(of, {});
  if (!settings) return settings.failure();
  return session_as_scenario(of, over, *settings, of.decisions);
}

int write_session(const replay_arguments& told, console& to) {
  const auto about = [&](const error& why) {
    return error{why.code, fmt::format("{}: {}", told.file, why.message), {}};
  };
  const io::cluster_form* form = io::cluster_form_of(told.out);
  if (form == nullptr || form->format == nullptr) {
    return to.fail(
        {status::argument,
         fmt::format("--out {}: the name does not say the form; it has to end with .json, .yaml or .ks", told.out),
         {}},
        exit_usage);
  }
  const result<std::string> bytes = io::read_file(told.file);
  if (!bytes) return to.fail(bytes.failure());
  result<io::recording> at = recording_at(*bytes, told.session);
  if (!at) return to.fail(about(at.failure()), exit_usage);
  const io::recorded_session& recorded = at->session();
  const snapshot over = at->state();
  const result<std::string> text = text_of(recorded, over, *form, told.out);
  if (!text) return to.fail(about(text.failure()));
  if (auto written = io::write_file(told.out, *text); !written) return to.fail(written.failure(), exit_failure);
  const contents made = contents_of(over);
  if (to.shows_report()) {
    to.out().line(fmt::format("{}: session {}, {}", told.out, recorded.number, sentence_of(made)));
    to.out().line(fmt::format("  kaisched run {} {}", shell_word(told.out), options_in_words(recorded)));
  }
  json options = json::object();
  for (const auto& [name, value] : recorded.options) options[name] = value;
  return to.finish({{"schema", "kaisched-replay-session/1"},
                    {"file", told.out},
                    {"session", recorded.number},
                    {"now", recorded.now},
                    {"preset", recorded.preset},
                    {"options", options},
                    {"contents", json_of(made)},
                    {"digest", over.digest()}});
}

/// Whether one session is to be written. Error: half of what that takes is told, or something besides.
result<bool> writes_session(const replay_arguments& told) {
  const bool one = told.session > 0;
  const auto wrong = [](std::string_view text) { return error{status::argument, std::string(text), {}}; };
  if (one != !told.out.empty()) return wrong("--session and --out belong together");
  if (!one) return false;
  if (tells_anything(told.besides)) return wrong("--session writes what was recorded: no options besides");
  if (!told.digests_file.empty()) return wrong("--session decides nothing: no --digests");
  return true;
}

/// Sessions that differ, by how.
using session_counts = std::array<std::int64_t, 6>;

/// @param revised the recorded revision of the preset is not kept: what has changed from one to the next is told
void print_changes(const terminal& out, const session_counts& by, bool revised) {
  struct explained {
    changed_decisions kind;
    std::string_view what;
    std::string_view why;
  };
  constexpr std::array all{
      explained{changed_decisions::withdrawn, "no longer start and stop one pod", "decisions are net"},
      explained{changed_decisions::starts, "start other pods",
                "room that was freed is kept, and groups within the fair share of their queue start first"},
      explained{changed_decisions::stops, "stop other pods", "those go that cost their owners least"},
      explained{changed_decisions::places, "choose other nodes or devices", "what is kept for others is left alone"},
      explained{changed_decisions::order, "decide the same in another order or for other reasons", ""},
      explained{changed_decisions::none, "decide the same, with another digest", ""},
  };
  for (const explained& one : all) {
    const std::int64_t sessions = by[static_cast<std::size_t>(one.kind)];
    if (sessions == 0) continue;
    out.line(fmt::format("  {:>6} {}{}", grouped(sessions), one.what,
                         revised && !one.why.empty() ? fmt::format(": {}", one.why) : std::string()));
  }
}

json json_of(const session_counts& by) {
  json counts = json::object();
  for (std::size_t kind = 0; kind < by.size(); ++kind)
    counts[std::string(name_of(static_cast<changed_decisions>(kind)))] = by[kind];
  return counts;
}

int replay(const replay_arguments& told, console& to) {
  const result<bool> single = writes_session(told);
  if (!single) return to.fail(single.failure(), exit_usage);
  if (*single) return write_session(told, to);
  if (auto free = to.claim("--digests", told.digests_file); !free) return to.fail(free.failure(), exit_usage);
  const result<std::string> bytes = io::read_file(told.file);
  if (!bytes) return to.fail(bytes.failure());
  const bool same_options = !tells_anything(told.besides);
  std::uint64_t equal = 0;
  std::string digests;
  json first;
  json differing = json::array();
  session_counts kinds{};  // sessions by what has changed
  json revisions;          // of the preset, where the recorded one is not kept
  const result<replayed> all = decide_again(*bytes, told.besides, [&](const decided_again& one, const io::recording&) {
    // With other options modes and presets, which are part of a digest, may differ where decisions do not.
    std::optional<std::size_t> at = one.difference();
    const result<policy_options> now = preset(one.recorded.preset);
    const bool is_kept = !now || now->preset == one.recorded.preset;
    if (!is_kept) revisions = json{{"recorded", one.recorded.preset}, {"decided", now->preset}};
    if (!at && same_options && is_kept && one.digest != one.recorded.digest) at = one.decisions.size();
    digests += fmt::format("{} {}\n", one.recorded.number, one.digest);
    if (!at) {
      ++equal;
      return true;
    }
    differing.push_back(one.recorded.number);
    ++kinds[static_cast<std::size_t>(changed_between(one.recorded.decisions, one.decisions))];
    if (first.is_null()) {
      first = json{{"session", one.recorded.number},
                   {"now", one.recorded.now},
                   {"decision", *at + 1},
                   {"recorded", decided_again::line(one.recorded.decisions, *at)},
                   {"decided", decided_again::line(one.decisions, *at)}};
    }
    return true;
  });
  if (!all) return to.fail({all.failure().code, fmt::format("{}: {}", told.file, all.failure().message), {}});
  if (!told.digests_file.empty()) {
    if (auto written = to.write(told.digests_file, digests); !written) return to.fail(written.failure(), exit_failure);
  }
  if (to.shows_report()) {
    to.out().line(fmt::format("{}: {} of {} decided as recorded{}", told.file, equal,
                              counted(static_cast<std::int64_t>(all->sessions), "session"),
                              all->truncated ? "; the last record is not whole" : ""));
    if (!first.is_null()) {
      to.out().line(fmt::format("  first difference: session {}, decision {}", first["session"].get<std::uint64_t>(),
                                first["decision"].get<std::uint64_t>()));
      to.out().line("    recorded  " + first["recorded"].get<std::string>());
      to.out().line("    decided   " + first["decided"].get<std::string>());
    }
    print_changes(to.out(), kinds, !revisions.is_null());
    if (!revisions.is_null()) {
      to.out().line(fmt::format(
          "  recorded with preset {}, decided with {}, which decides otherwise in places: UPGRADING.md says in which",
          revisions["recorded"].get<std::string>(), revisions["decided"].get<std::string>()));
    }
  }
  return to.finish(json{{"schema", "kaisched-replay/1"},
                        {"sessions", all->sessions},
                        {"equal", equal},
                        {"truncated", all->truncated},
                        {"first_difference", first},
                        {"revisions", revisions},
                        {"changes", json_of(kinds)},
                        {"differing", differing}},
                   equal == all->sessions ? exit_ok : exit_problems);
}

}  // namespace

void add_replay(command_list& to) {
  command& c =
      to.add("replay", group::decide, "Decide recorded sessions again, and say whether decisions are the same");
  auto& told = c.keep<replay_arguments>();
  c.explain(
      "Reads what `kaisched simulate --record`, kaisched-kubernetes or a host has recorded, decides every session "
      "again "
      "and compares. With options that differ from the recorded ones: what these would have decided at each moment, "
      "over "
      "the cluster as it was.");
  c.position("RECORDING", &told.file, file_name({"kr", "gz"}),
             "A recording, see docs/recordings.md; - is the standard input")
      .required();
  add_policy_arguments(c, told.besides);
  c.heading("Output");
  c.option("--digests", &told.digests_file, any_value("FILE"), "Number and digest of every session, a line each")
      .writes();
  c.heading("One session");
  c.option("--session", &told.session, any_value("N"), "Writes the cluster that session N, from 1, decided over")
      .between(1, 1e15)
      .fallback.clear();
  c.option("-o,--out", &told.out, file_name({"json", "yaml", "ks"}),
           "Where to; the ending says the form. A scenario (.ks) has the options and the decisions as well")
      .writes();
  c.add_example(
      "kaisched workload generate jobs.csv --jobs 20 && kaisched simulate jobs.csv --nodes 4x8 --record jobs.kr && "
      "kaisched replay jobs.kr");
  c.runs([&told](console& out) { return replay(told, out); });
}

}  // namespace kaisched::cli
