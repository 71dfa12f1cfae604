// The command that decides recorded sessions again.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/recorded.hpp"
#include "cli/terminal.hpp"
#include "io/files.hpp"

namespace kaisched::cli {

namespace {

struct replay_arguments {
  std::string file;
  std::string digests_file;
  policy_arguments besides;
};

int replay(const replay_arguments& told, console& to) {
  if (auto free = to.claim("--digests", told.digests_file); !free) return to.fail(free.failure(), exit_usage);
  const result<std::string> bytes = io::read_file(told.file);
  if (!bytes) return to.fail(bytes.failure());
  const bool same_options = !tells_anything(told.besides);
  std::uint64_t equal = 0;
  std::string digests;
  json first;
  json differing = json::array();
  const result<replayed> all = decide_again(*bytes, told.besides, [&](const decided_again& one, const io::recording&) {
    // With other options modes and presets, which are part of a digest, may differ where decisions do not.
    std::optional<std::size_t> at = one.difference();
    if (!at && same_options && one.digest != one.recorded.digest) at = one.decisions.size();
    digests += fmt::format("{} {}\n", one.recorded.number, one.digest);
    if (!at) {
      ++equal;
      return true;
    }
    differing.push_back(one.recorded.number);
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
  }
  return to.finish(json{{"schema", "kaisched-replay/1"},
                        {"sessions", all->sessions},
                        {"equal", equal},
                        {"truncated", all->truncated},
                        {"first_difference", first},
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
  c.add_example(
      "kaisched workload generate jobs.csv --jobs 20 && kaisched simulate jobs.csv --nodes 4x8 --record jobs.kr && "
      "kaisched replay jobs.kr");
  c.runs([&told](console& out) { return replay(told, out); });
}

}  // namespace kaisched::cli
