#include "server/server_fields.hpp"

#include <algorithm>
#include <string_view>

#include "server/listener_fields.hpp"

namespace shim {

namespace {

std::string prefix(const YAML::Node& value) {
  std::string text = scalar(value);
  const bool fits = std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           (c >= '0' && c <= '9' && text.front() != c);
  });
  if (!fits) throw bad_input(fmt::format("expected letters, digits, _ and :, found \"{}\"", text));
  return text;
}

const fields<server_settings>& server_field_list() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using settings = server_settings;
  static const fields<settings> all = with_listener<settings>({
      {"token_file", [](settings& to, const node& value) { to.token_file = some_text(value); }},
      {"usage_token_file", [](settings& to, const node& value) { to.usage_token_file = some_text(value); }},
      {"stuck_after", [](settings& to, const node& value) { to.stuck_after = duration(value, 1s); }},
      {"metrics_prefix", [](settings& to, const node& value) { to.metrics_prefix = prefix(value); }},
  });
  return all;
}

}  // namespace

void read_server(const YAML::Node& value, server_settings& to) {
  read_fields(value, server_field_list(), to);
  check_listener(to);
}

void resolve_paths(server_options& of, const std::filesystem::path& folder) {
  for (std::filesystem::path* one : {&of.certificate, &of.key, &of.client_ca, &of.token_file, &of.usage_token_file}) {
    if (!one->empty() && one->is_relative()) *one = folder / *one;
  }
}

}  // namespace shim
