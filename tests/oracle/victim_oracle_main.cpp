// The actions that evict against all sets of victims: random clusters by seed and number, or scenarios from files.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <kaisched/cluster.hpp>

#include "io/scenario/minimise.hpp"
#include "io/scenario/scenario.hpp"
#include "oracle/contended_cluster.hpp"
#include "oracle/victim_faults.hpp"

namespace {

using namespace kaisched;

constexpr const char* usage =
    "usage: kaisched_victim_oracle [--mode strict|compat] [--action NAME] [--seed N] [--first N] [--count N]\n"
    "                              [--nodes N] [--units N] [--most-faults N] [FILE.ks ...]\n"
    "Status 1 if a fault is found. Every case follows from seed and number alone.\n";

template <class T>
T must(result<T> r) {
  if (!r) throw std::runtime_error(r.failure().message);
  return std::move(*r);
}

struct arguments {
  std::string mode = "strict";
  std::vector<std::string> actions{"reclaim", "preempt", "consolidation"};
  std::uint64_t seed = 1;
  std::uint64_t first = 0;
  std::uint64_t count = 1000;
  test::contended_size size;
  std::uint64_t most_faults = 1;  ///< printed, of each kind
  std::vector<std::string> files;
};

/// The first session of a scenario.
oracle::victim_report check_scenario(const std::string& text, const std::string& source) {
  policy_options options = must(preset("kai"));
  options.actions = {"allocate"};  // unless the scenario says otherwise
  options.nomination_timeout = 0;  // the oracle knows claims of one session
  options.search_steps = options.action_steps = options.session_steps = unlimited;
  const auto take = [&](const io::scenario_settings& settings) {
    for (const auto& [name, value] : settings) {
      if (auto done = options.set(name, value); !done) throw std::runtime_error(done.failure().message);
    }
  };
  const io::scenario parsed = must(io::parse_scenario(text, source));
  for (const io::scenario_step& step : parsed.steps) {
    if (const auto* option = std::get_if<io::scenario_option>(&step.what)) take(option->settings);
    if (const auto* run = std::get_if<io::scenario_run>(&step.what)) {
      take(run->settings);
      break;
    }
  }
  const io::cluster_input input = must(io::initial_cluster(must(io::parse_scenario(text, source))));
  return oracle::check_victims(must(io::build_cluster(input)).take_snapshot(), options, input.now);
}

std::string text_of(const test::contended_case& from) {
  cluster c;
  for (const table& t : from.rows.tables()) {
    if (const auto done = c.apply(t); !done) throw std::logic_error(done.failure().message);
  }
  std::string text = must(io::format_scenario(c.take_snapshot(), from.now, ""));
  std::string options = "option";
  for (const auto& [name, value] : from.settings) options += " " + name + "=[" + value + "]";
  text.insert(text.find('\n') + 1, options + "\n");
  return text + "\nrun\n";
}

/// The word that a fault begins with.
std::string kind_of(const std::string& fault) { return fault.substr(0, fault.find(':')); }

/// The smallest scenario with a fault of the same kind.
std::string made_small(const std::string& text, const std::string& kind) {
  io::minimise_setup how;
  how.interesting = [&](const io::scenario& smaller) {
    try {
      const oracle::victim_report report = check_scenario(smaller.text, "smaller");
      return !report.overdrawn && std::any_of(report.faults.begin(), report.faults.end(),
                                              [&](const std::string& fault) { return kind_of(fault) == kind; });
    } catch (const std::exception&) {
      return false;
    }
  };
  const auto found = io::minimise_scenario(must(io::parse_scenario(text, "case")), how);
  return found ? found->text : text;
}

void print_faults(const std::string& title, const std::string& text, const oracle::victim_report& report) {
  const std::string small = made_small(text, kind_of(report.faults.front()));
  std::printf("\n# %s\n", title.c_str());
  for (const std::string& fault : check_scenario(small, title).faults) std::printf("# %s\n", fault.c_str());
  std::printf("%s", small.c_str());
}

int check_random(const arguments& a) {
  std::uint64_t faulty = 0;
  for (const std::string& action : a.actions) {
    oracle::victim_report sum;
    std::map<std::string, std::uint64_t> kinds;
    for (std::uint64_t i = a.first; i < a.first + a.count; ++i) {
      test::seeded_dice dice(a.seed * 1'000'003 + i);
      const std::string text = text_of(test::contended_cluster(dice, action, a.mode, a.size));
      const oracle::victim_report one = check_scenario(text, "case");
      sum.groups += one.groups;
      sum.placed += one.placed;
      sum.evicting += one.evicting;
      sum.missed += one.missed;
      sum.netted += one.netted;
      sum.sets += one.sets;
      sum.defects += one.defects;
      if (one.faults.empty()) continue;
      ++faulty;
      if (kinds[kind_of(one.faults.front())]++ < a.most_faults) {
        print_faults(action + " " + a.mode + " --seed " + std::to_string(a.seed) + " --first " + std::to_string(i),
                     text, one);
      }
    }
    const std::size_t possible = sum.placed + sum.missed;
    std::printf(
        "%s %s: %llu cases, %zu groups asked, %zu placed (%zu with victims), %zu missed of %zu possible (%.1f%%), %zu "
        "sets",
        action.c_str(), a.mode.c_str(), static_cast<unsigned long long>(a.count), sum.groups, sum.placed, sum.evicting,
        sum.missed, possible,
        possible == 0 ? 0.0 : 100.0 * static_cast<double>(sum.missed) / static_cast<double>(possible), sum.sets);
    if (sum.netted > 0) std::printf(", %zu sessions that took something back", sum.netted);
    if (sum.defects > 0) std::printf(", %zu commits after a defect", sum.defects);
    std::printf("\n");
    for (const auto& [kind, count] : kinds) {
      std::printf("  fault '%s' in %llu cases\n", kind.c_str(), static_cast<unsigned long long>(count));
    }
  }
  return faulty == 0 ? 0 : 1;
}

int check_files(const arguments& a) {
  int status = 0;
  for (const std::string& path : a.files) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& fault : check_scenario(text, path).faults) {
      std::printf("%s: %s\n", path.c_str(), fault.c_str());
      status = 1;
    }
  }
  return status;
}

arguments read(int argc, char** argv) {
  arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.substr(0, 2) != "--") {
      a.files.push_back(word);
      continue;
    }
    if (i + 1 == argc) throw std::invalid_argument(word + " needs a value");
    const std::string value = argv[++i];
    if (word == "--mode")
      a.mode = value;
    else if (word == "--action")
      a.actions = {value};
    else if (word == "--seed")
      a.seed = std::stoull(value);
    else if (word == "--first")
      a.first = std::stoull(value);
    else if (word == "--count")
      a.count = std::stoull(value);
    else if (word == "--nodes")
      a.size.nodes = std::stoll(value);
    else if (word == "--units")
      a.size.units = std::stoll(value);
    else if (word == "--most-faults")
      a.most_faults = std::stoull(value);
    else
      throw std::invalid_argument("unknown option " + word);
  }
  return a;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const arguments a = read(argc, argv);
    return a.files.empty() ? check_random(a) : check_files(a);
  } catch (const std::invalid_argument& e) {
    std::fprintf(stderr, "%s\n%s", e.what(), usage);
    return 2;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
