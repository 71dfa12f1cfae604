#include "prometheus/prometheus_fields.hpp"

#include "configuration/fields.hpp"

namespace shim {

namespace {

std::string address(const YAML::Node& value) {
  std::string text = some_text(value);
  (void)credentials_for(text);
  return text;
}

const fields<prometheus_settings>& prometheus_field_list() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using settings = prometheus_settings;
  static const fields<settings> all{
      {"url", [](settings& to, const node& value) { to.url = address(value); }},
      {"token_file", [](settings& to, const node& value) { to.token_file = some_text(value); }},
      {"ca", [](settings& to, const node& value) { to.ca = some_text(value); }},
      {"timeout", [](settings& to, const node& value) { to.timeout = duration(value, 100ms); }},
  };
  return all;
}

}  // namespace

void read_prometheus(const YAML::Node& value, prometheus_settings& to) {
  if (value.IsScalar()) {
    to.url = address(value);
    return;
  }
  read_fields(value, prometheus_field_list(), to);
  if (to.url.empty()) throw bad_input("url: is missing");
}

void resolve_paths(prometheus_settings& of, const std::filesystem::path& folder) {
  for (std::filesystem::path* one : {&of.token_file, &of.ca}) {
    if (!one->empty() && one->is_relative()) *one = folder / *one;
  }
}

credentials credentials_for(const std::string& url) {
  credentials to;
  if (!read_address(url, to)) {
    throw bad_input(fmt::format("expected http:// or https://, a host and, if needed, a port, found \"{}\"", url));
  }
  return to;
}

credentials credentials_for(const prometheus_settings& of) {
  credentials to = credentials_for(of.url);
  to.token_file = of.token_file;
  if (!of.ca.empty()) to.ca = read_file(of.ca);
  return to;
}

}  // namespace shim
