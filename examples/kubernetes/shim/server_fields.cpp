#include "server_fields.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <boost/asio/ip/address.hpp>

#include "fields.hpp"

namespace shim {

namespace {

/// `127.0.0.1:8080`, `[::]:8080`, `:8080` for all addresses of the host.
void read_listen(const YAML::Node& value, server_settings& to) {
  const std::string text = some_text(value);
  const std::size_t colon = text.rfind(':');
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  if (address.empty()) address = "0.0.0.0";
  boost::system::error_code wrong;
  (void)boost::asio::ip::make_address(address, wrong);
  unsigned port = 0;
  const std::string_view digits = colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1);
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (wrong || digits.empty() || failed != std::errc{} || end != digits.data() + digits.size() || port > 65535) {
    throw bad_input(fmt::format("expected an address and a port such as 127.0.0.1:8080, found \"{}\"", text));
  }
  to.address = address;
  to.port = static_cast<std::uint16_t>(port);
}

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
  static const fields<settings> all{
      {"listen", [](settings& to, const node& value) { read_listen(value, to); }},
      {"certificate", [](settings& to, const node& value) { to.certificate = some_text(value); }},
      {"key", [](settings& to, const node& value) { to.key = some_text(value); }},
      {"client_ca", [](settings& to, const node& value) { to.client_ca = some_text(value); }},
      {"token_file", [](settings& to, const node& value) { to.token_file = some_text(value); }},
      {"usage_token_file", [](settings& to, const node& value) { to.usage_token_file = some_text(value); }},
      {"timeout", [](settings& to, const node& value) { to.timeout = duration(value, 100ms); }},
      {"stuck_after", [](settings& to, const node& value) { to.stuck_after = duration(value, 1s); }},
      {"max_body", [](settings& to, const node& value) { to.most_body = number(value, 1024, 64U << 20U); }},
      {"connections", [](settings& to, const node& value) { to.connections = number(value, 2, 10'000); }},
      {"workers", [](settings& to, const node& value) { to.workers = number(value, 1, 64); }},
      {"metrics_prefix", [](settings& to, const node& value) { to.metrics_prefix = prefix(value); }},
  };
  return all;
}

}  // namespace

void read_server(const YAML::Node& value, server_settings& to) {
  read_fields(value, server_field_list(), to);
  if (to.address.empty()) throw bad_input("listen: is missing");
  if (to.certificate.empty() != to.key.empty()) throw bad_input("certificate and key: one without the other");
  if (!to.client_ca.empty() && to.certificate.empty()) throw bad_input("client_ca: needs a certificate and a key");
}

void resolve_paths(server_settings& of, const std::filesystem::path& folder) {
  for (std::filesystem::path* one : {&of.certificate, &of.key, &of.client_ca, &of.token_file, &of.usage_token_file}) {
    if (!one->empty() && one->is_relative()) *one = folder / *one;
  }
}

}  // namespace shim
