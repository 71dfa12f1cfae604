#include "leader_election/election_fields.hpp"

#include "configuration/fields.hpp"

namespace shim {

namespace {

std::chrono::milliseconds whole_seconds(const YAML::Node& value) {
  using namespace std::chrono_literals;
  const std::chrono::milliseconds time = duration(value, 1s);
  if (time % 1s != 0ms) throw bad_input("whole seconds, as leases have them");
  return time;
}

const fields<election_settings>& election_field_list() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using settings = election_settings;
  static const fields<settings> all{
      {"enabled", [](settings& to, const node& value) { to.enabled = truth(value); }},
      {"namespace", [](settings& to, const node& value) { to.name_space = some_text(value); }},
      {"name", [](settings& to, const node& value) { to.name = some_text(value); }},
      {"lease_duration", [](settings& to, const node& value) { to.lease_duration = whole_seconds(value); }},
      {"renew_deadline", [](settings& to, const node& value) { to.renew_deadline = duration(value, 100ms); }},
      {"retry_period", [](settings& to, const node& value) { to.retry_period = duration(value, 50ms); }},
  };
  return all;
}

void check_less(const char* name, std::chrono::milliseconds time, const char* than, std::chrono::milliseconds other) {
  if (time < other) return;
  throw bad_input(fmt::format("{}: {} ms: has to be less than {}, {} ms", name, time.count(), than, other.count()));
}

}  // namespace

void read_election(const YAML::Node& value, election_settings& to) {
  read_fields(value, election_field_list(), to);
  check_less("renew_deadline", to.renew_deadline, "lease_duration", to.lease_duration);
  check_less("retry_period", to.retry_period, "renew_deadline", to.renew_deadline);
}

}  // namespace shim
