// The command that makes a page of plays. Python draws it: the program hands over.
#include <cerrno>
#include <cstring>
#include <spawn.h>
#include <string>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"

extern char** environ;

namespace kaisched::cli {

namespace {

constexpr std::string_view report_schema = "kaisched-report/1";
constexpr std::string_view how_to_install = "pip install 'kaisched[report]'";

/// What Python is asked to do; without the package it says so and ends as for wrong arguments.
constexpr const char* hand_over = R"(import sys
try:
    from kaisched.__main__ import main
except ImportError as e:
    print(f"kaisched: report: {sys.executable} lacks the package ({e}): pip install 'kaisched[report]', "
          "or name another Python with --python", file=sys.stderr)
    sys.exit(2)
sys.exit(main(["report", *sys.argv[1:]])))";

struct report_arguments {
  std::vector<std::string> runs;
  std::string output = "report.html";
  std::string title;
  std::string python = "python3";
};

/// Runs a program to its end; its exit status.
result<int> run_program(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int fault = ::posix_spawnp(&child, arguments.front(), nullptr, nullptr, arguments.data(), environ);
  if (fault != 0) {
    return error{
        status::not_found,
        fmt::format("report: cannot run {} ({}): reports are drawn by Python, {}, or name a Python with --python",
                    words.front(), std::strerror(fault), how_to_install),
        {}};
  }
  int how = 0;
  while (::waitpid(child, &how, 0) < 0) {
    if (errno != EINTR) return error{status::internal, fmt::format("report: waitpid: {}", std::strerror(errno)), {}};
  }
  return WIFEXITED(how) ? WEXITSTATUS(how) : static_cast<int>(exit_failure);
}

int make_report(const report_arguments& told, console& to) {
  std::vector<std::string> words{told.python, "-c", hand_over};
  words.insert(words.end(), {"--output=" + told.output, "--title=" + told.title, "--"});
  words.insert(words.end(), told.runs.begin(), told.runs.end());
  const result<int> ended = run_program(words);
  if (!ended) return to.fail(ended.failure(), exit_usage);
  if (*ended != 0) return *ended == exit_usage ? exit_usage : exit_failure;
  if (to.shows_report()) to.out().line(told.output);
  return to.finish({{"schema", report_schema}, {"file", told.output}, {"runs", told.runs}});
}

}  // namespace

void add_report(command_list& to) {
  command& c =
      to.add("report", group::decide, "Draw plays on one page of HTML: GPUs over time, queues, waiting, policies");
  auto& told = c.keep<report_arguments>();
  c.explain(
      "The page has figures and tables of one play or several side by side, and needs no network. It is drawn by the "
      "Python package: pip install 'kaisched[report]'.");
  c.position("RUN", &told.runs, file_name({"json"}), "Plays, written by `kaisched simulate --details --json=RUN`")
      .required();
  c.option("-o,--output", &told.output, file_name({"html"}), "The page").writes();
  c.option("--title", &told.title, any_value("TEXT"), "Its heading; default: the names of the plays");
  c.option("--python", &told.python, file_name(), "The Python that has the package");
  c.add_example("kaisched report run.json -o report.html");
  c.add_example("kaisched report fifo.json easy.json -o report.html --title 'FIFO and EASY'");
  c.runs([&told](console& out) { return make_report(told, out); });
}

}  // namespace kaisched::cli
