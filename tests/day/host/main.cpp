/// Plays a day over the C interface and writes its log: kaisched_day_host DAY LOG [OPTION=VALUE ...]. docs/days.md has
/// the options.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>

#include "host/host.hpp"

namespace {

/// One argument of the form name=value. An option that is not the host's belongs to the engine.
void take(day_host::settings& how, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos) throw std::runtime_error("expected OPTION=VALUE, found " + argument);
  const std::string name = argument.substr(0, equals);
  const std::string value = argument.substr(equals + 1);
  if (name == "period") {
    how.period = std::stoll(value);
  } else if (name == "grace") {
    how.grace = std::stoll(value);
  } else if (name == "host") {
    if (value != "keep" && value != "forget" && value != "net") throw std::runtime_error("host is keep, forget or net");
    how.keeps = value == "keep";
    how.net = value == "net";
  } else if (name == "estimates") {
    how.estimates = value == "1";
  } else if (name == "sessions") {
    how.most_sessions = std::stoll(value);
  } else if (name == "restless") {
    how.most_restless = std::stoi(value);
  } else if (name == "probe") {  // SESSION:JOB
    const std::size_t colon = value.find(':');
    how.probes.emplace_back(std::stoll(value.substr(0, colon)), value.substr(colon + 1));
  } else if (name == "scenario_of") {
    how.scenario_of = std::stoll(value);
  } else if (name == "scenario") {
    how.scenario = value;
  } else {
    how.options.emplace_back(name, value);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: kaisched_day_host DAY LOG [OPTION=VALUE ...]\n", stderr);
    return 2;
  }
  try {
    day_host::settings how;
    for (int i = 3; i < argc; ++i) take(how, argv[i]);
    const day_host::day plan = day_host::read_day(argv[1]);
    std::ofstream out(argv[2]);
    if (!out) throw std::runtime_error(std::string(argv[2]) + ": cannot be written");
    day_host::journal log(out);
    day_host::host(plan, how, log).play();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "kaisched_day_host: %s\n", failure.what());
    return 2;
  }
  return 0;
}
