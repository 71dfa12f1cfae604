#include "extender/extender_client_fields.hpp"

#include "configuration/fields.hpp"
#include "prometheus/prometheus_fields.hpp"

namespace shim {

namespace {

std::string verb(const YAML::Node& value) {
  std::string text = some_text(value);
  while (text.starts_with('/')) text.erase(0, 1);
  if (text.empty()) throw bad_input("expected a path below url");
  return text;
}

std::vector<std::string> resource_names(const YAML::Node& value) {
  if (!value.IsSequence() || value.size() == 0) throw bad_input("expected a list of names of resources");
  std::vector<std::string> all;
  for (const YAML::Node& one : value) all.push_back(some_text(one));
  return all;
}

const fields<asked_extender>& asked_extender_list() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using settings = asked_extender;
  static const fields<settings> all{
      {"url",
       [](settings& to, const node& value) {
         to.url = some_text(value);
         (void)credentials_for(to.url);
       }},
      {"filter", [](settings& to, const node& value) { to.filter = verb(value); }},
      {"prioritize", [](settings& to, const node& value) { to.prioritize = verb(value); }},
      {"weight", [](settings& to, const node& value) { to.weight = number(value, 1, 100); }},
      {"timeout", [](settings& to, const node& value) { to.timeout = duration(value, 10ms); }},
      {"ignorable", [](settings& to, const node& value) { to.ignorable = truth(value); }},
      {"managed_resources", [](settings& to, const node& value) { to.resources = resource_names(value); }},
      {"token_file", [](settings& to, const node& value) { to.token_file = some_text(value); }},
      {"ca", [](settings& to, const node& value) { to.ca = some_text(value); }},
  };
  return all;
}

const fields<extenders_settings>& extender_limit_list() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using settings = extenders_settings;
  static const fields<settings> all{
      {"time", [](settings& to, const node& value) { to.cycle = duration(value, 10ms); }},
      {"requests", [](settings& to, const node& value) { to.requests = number(value, 1, 1000000); }},
      {"keep", [](settings& to, const node& value) { to.keep = duration(value, 100ms); }},
  };
  return all;
}

}  // namespace

void read_extenders(const YAML::Node& value, extenders_settings& to) {
  if (!value.IsSequence()) throw bad_input("expected a list");
  to.all.clear();
  for (const YAML::Node& one : value) {
    asked_extender& made = to.all.emplace_back();
    read_fields(one, asked_extender_list(), made);
    const auto missing = [&](const char* words) {
      return bad_field(one.Mark().line + 1, made.url.empty() ? "url" : "filter", words);
    };
    if (made.url.empty()) throw missing("is missing");
    if (made.filter.empty() && made.prioritize.empty()) throw missing("expected filter or prioritize, or both");
  }
}

void read_extender_limits(const YAML::Node& value, extenders_settings& to) {
  read_fields(value, extender_limit_list(), to);
}

void resolve_paths(extenders_settings& of, const std::filesystem::path& folder) {
  for (asked_extender& one : of.all) {
    for (std::filesystem::path* path : {&one.token_file, &one.ca}) {
      if (!path->empty() && path->is_relative()) *path = folder / *path;
    }
  }
}

}  // namespace shim
