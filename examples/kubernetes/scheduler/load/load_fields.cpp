#include "load/load_fields.hpp"

#include <utility>

#include "configuration/fields.hpp"

namespace shim {

namespace {

std::vector<std::string> addresses(const YAML::Node& value) {
  if (!value.IsSequence() || value.size() == 0) throw bad_input("expected a list of addresses");
  std::vector<std::string> all;
  for (const YAML::Node& one : value) {
    std::string address = some_text(one);
    if (credentials_for(address).path.empty()) {
      while (address.ends_with('/')) address.pop_back();
      address += "/metrics";
    }
    all.push_back(std::move(address));
  }
  return all;
}

const fields<load_settings>& load_field_list() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using settings = load_settings;
  static const fields<settings> all{
      {"exporters", [](settings& to, const node& value) { to.exporters = addresses(value); }},
      {"prometheus", [](settings& to, const node& value) { read_prometheus(value, to.prometheus); }},
      {"period", [](settings& to, const node& value) { to.period = duration(value, 100ms); }},
      {"window", [](settings& to, const node& value) { to.window = duration(value, 1s); }},
      {"node_label", [](settings& to, const node& value) { to.node_label = some_text(value); }},
  };
  return all;
}

}  // namespace

void read_load(const YAML::Node& value, load_settings& to) {
  read_fields(value, load_field_list(), to);
  if (to.exporters.empty() == to.prometheus.url.empty())
    throw bad_input("expected exporters or prometheus, one of them");
  if (to.window < to.period) throw bad_input("window: shorter than period");
}

}  // namespace shim
