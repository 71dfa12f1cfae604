/// Judges the log of a day: kaisched_day_check DAY LOG. The exit status is 0 if every rule holds, 1 if one is violated,
/// 2 if the log is none. docs/days.md has the rules.
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <string>

#include "checker/rules.hpp"

namespace {

constexpr int most_lines = 5;  // of each rule

void print(const day_check::findings& found) {
  std::map<std::string, int> counts;
  for (const day_check::violation& one : found.violations) {
    if (++counts[one.rule] > most_lines) continue;
    std::string where = one.group.empty() ? std::string() : " group " + one.group;
    if (!one.queue.empty()) where += " queue " + one.queue;
    std::printf("violation,%s,%lld,%lld,%s,%s,%s\n", one.rule.c_str(), static_cast<long long>(one.session),
                static_cast<long long>(one.now), one.group.c_str(), one.queue.c_str(), one.text.c_str());
    std::fprintf(stderr, "%s: session %lld, %.3f s,%s: %s\n", one.rule.c_str(), static_cast<long long>(one.session),
                 static_cast<double>(one.now) / 1000, where.c_str(), one.text.c_str());
  }
  for (const auto& [rule, count] : counts) std::printf("violations,%s,%d\n", rule.c_str(), count);
  for (const day_check::violation& one : found.questions) {
    std::printf("question,%s,%lld,%s\n", one.rule.c_str(), static_cast<long long>(one.session), one.group.c_str());
  }
  for (const auto& [name, value] : found.figures) std::printf("figure,%s,%.3f\n", name.c_str(), value);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: kaisched_day_check DAY LOG\n", stderr);
    return 2;
  }
  try {
    std::ifstream day(argv[1]);
    std::ifstream log(argv[2]);
    if (!day || !log) throw std::runtime_error("a file cannot be read");
    const day_check::findings found = day_check::judge(day, log);
    print(found);
    return found.violations.empty() ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "kaisched_day_check: %s: %s\n", argv[2], failure.what());
    return 2;
  }
}
