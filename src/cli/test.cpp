// The command that plays scenario files.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "io/cluster_json.hpp"
#include "io/files.hpp"
#include "io/scenario/scenario.hpp"

namespace kaisched::cli {

namespace {

namespace fs = std::filesystem;

struct test_arguments {
  std::vector<std::string> paths;     ///< files, or folders with `.ks` files
  std::vector<std::string> settings;  ///< option=value, over those of the files
  std::string export_to;              ///< folder
  bool update = false;
  bool verbose = false;
};

/// Files as they are given; folders stand for every scenario below them, by name.
result<std::vector<std::string>> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code fault;
    if (!fs::is_directory(path, fault)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (fs::recursive_directory_iterator it(path, fault), end; it != end && !fault; it.increment(fault)) {
      if (it->path().extension() == io::scenario_ending && it->is_regular_file()) inside.push_back(it->path().string());
    }
    if (fault) return error{status::not_found, fmt::format("{}: {}", path, fault.message()), {}};
    if (inside.empty())
      return error{
          status::not_found, fmt::format("{}: there is no {} file in this folder", path, io::scenario_ending), {}};
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

struct played_file {
  std::string path;
  std::string title;
  std::vector<std::string> rules;
  io::scenario_outcome outcome;
  bool rewritten = false;
};

/// Writes what every session was asked, and what it decided, for programs that want to know what they would decide
/// (docs/conformance-kit.md).
class case_writer {
 public:
  case_writer(std::string folder, io::scenario_settings settings)
      : folder_(std::move(folder)), settings_(std::move(settings)) {}

  /// What follows belongs to this scenario.
  void begin(const io::scenario& of, const std::string& path) {
    of_ = &of;
    path_ = path;
    number_ = 0;
  }
  [[nodiscard]] const result<void>& state() const { return failed_; }
  [[nodiscard]] std::size_t written() const { return written_; }

  void add(const session& ran, std::size_t line) {
    if (!failed_) return;
    if (auto done = write(ran, line); !done) failed_ = std::move(done);
  }

 private:
  result<void> write(const session& ran, std::size_t line) {
    const result<std::string> cluster = io::format_cluster_json(ran.base(), ran.view().now());
    if (!cluster) return cluster.failure();
    json options = json::object();
    for (const auto& [option, value] : options_at(line)) options[option] = value;
    json decisions = json::array();
    const snapshot& base = ran.base();
    for (const decision& d : ran.decisions()) {
      json one{{"kind", decision_kind_name(d.kind)}, {"commit", d.commit}};
      if (d.group != no_row) one["group"] = base.group_name(d.group);
      if (d.pod != no_row) one["pod"] = base.pod_name(d.pod);
      if (d.node != no_row) one["node"] = base.node_name(d.node);
      decisions.push_back(std::move(one));
    }
    const json text{{"schema", "kaisched-case/1"},
                    {"scenario", path_},
                    {"title", of_->title},
                    {"rules", of_->rules},
                    {"session", ++number_},
                    {"options", std::move(options)},
                    {"cluster", json::parse(*cluster)},
                    {"decisions", std::move(decisions)}};
    std::string name = path_;
    std::replace(name.begin(), name.end(), '/', '-');
    if (name.ends_with(io::scenario_ending)) name.resize(name.size() - io::scenario_ending.size());
    ++written_;
    return io::write_file((fs::path(folder_) / fmt::format("{}-{}.json", name, number_)).string(), json_text(text));
  }

  /// Options that hold for the session of a line; the last one of a name wins.
  [[nodiscard]] io::scenario_settings options_at(std::size_t line) const {
    io::scenario_settings all;
    for (const io::scenario_step& step : of_->steps) {
      if (step.first_line > line) break;
      const io::scenario_settings* more = nullptr;
      if (const auto* option = std::get_if<io::scenario_option>(&step.what)) more = &option->settings;
      if (const auto* one = std::get_if<io::scenario_run>(&step.what); one != nullptr && step.first_line == line)
        more = &one->settings;
      if (more != nullptr) all.insert(all.end(), more->begin(), more->end());
    }
    all.insert(all.end(), settings_.begin(), settings_.end());
    return all;
  }

  std::string folder_;
  io::scenario_settings settings_;
  const io::scenario* of_ = nullptr;
  std::string path_;
  std::size_t number_ = 0;
  std::size_t written_ = 0;
  result<void> failed_;
};

class runner {
 public:
  runner(const test_arguments& arguments, console& to) : arguments_(arguments), to_(to), out_(to.out()) {}

  int run() {
    result<io::scenario_settings> settings = io::read_settings(arguments_.settings);
    if (!settings) return usage(fmt::format("--set {}", settings.failure().message));
    warn_of_old_names(arguments_.settings);
    setup_.settings = std::move(*settings);
    const result<std::vector<std::string>> files = files_of(arguments_.paths);
    if (!files) return usage(files.failure().message);
    if (!arguments_.export_to.empty()) {
      std::error_code fault;
      fs::create_directories(arguments_.export_to, fault);
      if (fault) return usage(fmt::format("--export {}: {}", arguments_.export_to, fault.message()));
      cases_.emplace(arguments_.export_to, setup_.settings);
      setup_.observe = [this](const session& ran, std::size_t line) { cases_->add(ran, line); };
    }
    for (const std::string& path : *files) {
      if (const int stop = play(path); stop != exit_ok) return stop;
    }
    return report();
  }

 private:
  static int usage(std::string_view what) {
    print_error(what);
    return exit_usage;
  }

  /// After a rewrite only what it could not mend counts.
  [[nodiscard]] static bool is_good(const played_file& one) {
    return one.rewritten ? one.outcome.unresolved.empty() : one.outcome.passed();
  }

  int play(const std::string& path) {
    const result<std::string> text = io::read_file(path);
    if (!text) return usage(text.failure().message);
    const result<io::scenario> parsed = io::parse_scenario(*text, path);
    if (!parsed) return usage(parsed.failure().message);
    if (cases_) cases_->begin(*parsed, path);
    played_file one{path, parsed->title, parsed->rules, io::play_scenario(*parsed, setup_), false};
    for (const io::scenario_finding& what : one.outcome.warnings)
      print_warning(fmt::format("{}:{}: {}", path, what.line, what.text));
    if (cases_ && !cases_->state()) return to_.fail(cases_->state().failure(), exit_failure);
    if (arguments_.update && one.outcome.updated != *text) {
      if (auto written = io::write_file(path, one.outcome.updated); !written) {
        print_error(written.failure().message);
        return exit_failure;
      }
      one.rewritten = true;
    }
    print(one);
    played_.push_back(std::move(one));
    return exit_ok;
  }

  void print(const played_file& one) const {
    if (to_.carries_data()) return;
    const bool good = is_good(one);
    if (to_.quiet() && good) return;
    if (one.rewritten) {
      out_.line(fmt::format("{} {}", out_.paint(style::yellow, "updated"), one.path));
    } else if (good && arguments_.verbose) {
      out_.line(
          fmt::format("{}      {}  {}", out_.paint(style::green, "ok"), one.path, out_.paint(style::dim, one.title)));
    }
    if (good) return;
    out_.line(fmt::format("{}  {}  {}", out_.paint(style::red, "failed"), one.path, out_.paint(style::dim, one.title)));
    for (const io::scenario_finding& finding : one.rewritten ? one.outcome.unresolved : one.outcome.findings) {
      out_.line(fmt::format("  {}:{}: {}", one.path, finding.line, finding.text));
    }
  }

  int report() const {
    std::size_t failed = 0;
    std::size_t sessions = 0;
    std::size_t expectations = 0;
    for (const played_file& one : played_) {
      if (!is_good(one)) ++failed;
      sessions += one.outcome.sessions;
      expectations += one.outcome.expectations;
    }
    if (to_.shows_report()) {
      out_.line(fmt::format("{}, {}, {}: {} failed", counted(static_cast<std::int64_t>(played_.size()), "scenario"),
                            counted(static_cast<std::int64_t>(sessions), "session"),
                            counted(static_cast<std::int64_t>(expectations), "expectation"), failed));
    }
    return to_.finish(as_json(failed, sessions, expectations), failed == 0 ? exit_ok : exit_problems);
  }

  [[nodiscard]] json as_json(std::size_t failed, std::size_t sessions, std::size_t expectations) const {
    json files = json::array();
    for (const played_file& one : played_) {
      json findings = json::array();
      for (const io::scenario_finding& finding : one.outcome.findings) {
        findings.push_back({{"line", finding.line}, {"text", finding.text}});
      }
      files.push_back({{"file", one.path},
                       {"title", one.title},
                       {"rules", one.rules},
                       {"passed", one.outcome.passed()},
                       {"updated", one.rewritten},
                       {"sessions", one.outcome.sessions},
                       {"expectations", one.outcome.expectations},
                       {"findings", std::move(findings)}});
    }
    return {{"schema", "kaisched-test/1"}, {"scenarios", played_.size()},  {"failed", failed},
            {"sessions", sessions},        {"expectations", expectations}, {"files", std::move(files)}};
  }

  const test_arguments& arguments_;
  console& to_;
  const terminal& out_;
  io::scenario_setup setup_;
  std::optional<case_writer> cases_;
  std::vector<played_file> played_;
};

}  // namespace

void add_test(command_list& to) {
  command& c = to.add("test", group::decide, "Play scenario files and compare what is decided with what they expect");
  auto& told = c.keep<test_arguments>();
  c.position("PATH", &told.paths, file_name({"ks"}), "Scenario files (.ks), or folders with such files").required();
  c.flag("--update", told.update, "Write what was found into the expectations of the files");
  c.option("--set", &told.settings, option_setting(), "An option that wins over those of the files");
  c.option("--export", &told.export_to, any_value("FOLDER"),
           "Write every session as a case for other schedulers: its cluster, options and decisions")
      .writes();
  c.flag("-v,--verbose", told.verbose, "Tell of every file, not only of failures");
  c.add_example("kaisched test tests/scenarios");
  c.runs([&told](console& out) { return runner(told, out).run(); });
}

}  // namespace kaisched::cli
