// kaisched_conformance: replays recorded cases of reference schedulers and says which of them the engine matches.

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "conformance/folder.hpp"

namespace {

namespace fs = std::filesystem;

constexpr int exit_failed = 1;
constexpr int exit_usage = 2;
constexpr int exit_skipped = 77;  // what the test runner knows as "skipped"

constexpr std::string_view usage_text =
    "usage: kaisched_conformance DIR [--json FILE] [--only TEXT] [--verbose] [--supported-only] [--at-least N] "
    "[--amounts]\n"
    "                            [--reference-path] [--as-scenarios] [--markdown]\n"
    "  DIR               folder with cases (or one file of cases); @NAME is the folder NAME of the reference data\n"
    "  --json FILE       write the report there\n"
    "  --only TEXT       only files whose path contains TEXT\n"
    "  --verbose         all findings instead of the first ones\n"
    "  --supported-only  leave out cases that need features which the engine does not have\n"
    "  --amounts         also compare amounts of nodes and queues at the end of every round\n"
    "  --as-scenarios    write sessions as scenario files (.ks), read these back and compare clusters and places\n"
    "  --markdown        print tables for a page instead of the report\n"
    "  --reference-path  scan all nodes for every pod instead of using the indexes\n";

struct arguments {
  std::string folder;
  std::string json;
  bool verbose = false;
  bool markdown = false;
  std::uint64_t at_least = 0;
  kaisched::conformance::folder_options options;
};

std::optional<arguments> parse(int count, char** values) {
  arguments parsed;
  for (int i = 1; i < count; ++i) {
    const std::string_view value = values[i];
    const auto text = [&](std::string& into) {
      if (++i >= count) return false;
      into = values[i];
      return true;
    };
    if (value == "--json") {
      if (!text(parsed.json)) return std::nullopt;
    } else if (value == "--only") {
      if (!text(parsed.options.only)) return std::nullopt;
    } else if (value == "--verbose") {
      parsed.verbose = true;
    } else if (value == "--supported-only") {
      parsed.options.supported_only = true;
    } else if (value == "--markdown") {
      parsed.markdown = true;
    } else if (value == "--at-least") {
      std::string number;
      if (!text(number)) return std::nullopt;
      const auto [end, failure] = std::from_chars(number.data(), number.data() + number.size(), parsed.at_least);
      if (failure != std::errc{} || end != number.data() + number.size()) return std::nullopt;
    } else if (value == "--amounts") {
      parsed.options.judge.amounts = true;
    } else if (value == "--as-scenarios") {
      parsed.options.judge.as_scenarios = true;
    } else if (value == "--reference-path") {
      parsed.options.judge.reference_path = true;
    } else if (value.starts_with("-") || !parsed.folder.empty()) {
      return std::nullopt;
    } else {
      parsed.folder = value;
    }
  }
  if (parsed.folder.empty()) return std::nullopt;
  return parsed;
}

// Reference data is kept outside the project, next to the checkout or where the environment says.
fs::path reference_data() {
  const char* variable = std::getenv("KAISCHED_SHARED");  // NOLINT(concurrency-mt-unsafe): there is one thread
  if (variable != nullptr) return variable;
#ifdef KAISCHED_SHARED_DEFAULT
  return KAISCHED_SHARED_DEFAULT;
#else
  return {};
#endif
}

int run(const arguments& asked) {
  fs::path folder = asked.folder;
  if (asked.folder.starts_with('@')) {
    folder = reference_data() / asked.folder.substr(1);
    if (!fs::exists(folder)) {
      std::cout << "skipped: the reference data are not here (set KAISCHED_SHARED)\n";
      return exit_skipped;
    }
  }
  const kaisched::conformance::report found = kaisched::conformance::judge_folder(folder, asked.options);
  if (!asked.json.empty()) {
    std::ofstream out(asked.json);
    out << found.to_json().dump(1) << '\n';
    if (!out) throw std::runtime_error("cannot write " + asked.json);
  }
  if (asked.markdown) {
    found.print_markdown(std::cout);
    return EXIT_SUCCESS;
  }
  found.print(std::cout, asked.verbose);
  if (found.passed() < asked.at_least) {
    std::cout << "at least " << asked.at_least << " were to pass\n";
    return exit_failed;
  }
  // A folder without cases is a mistyped folder, not a success.
  return found.failed() > 0 || found.passed() == 0 ? exit_failed : EXIT_SUCCESS;
}

}  // namespace

int main(int count, char** values) {
  const std::optional<arguments> asked = parse(count, values);
  if (!asked) {
    std::cerr << usage_text;
    return exit_usage;
  }
  try {
    return run(*asked);
  } catch (const std::exception& failure) {
    std::cerr << "kaisched_conformance: " << failure.what() << '\n';
    return exit_usage;
  }
}
