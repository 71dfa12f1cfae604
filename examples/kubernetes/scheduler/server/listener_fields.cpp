#include "server/listener_fields.hpp"

#include <charconv>
#include <string_view>

#include <boost/asio/ip/address.hpp>

namespace shim {

/// `127.0.0.1:8080`, `[::]:8080`, `:8080` for all addresses of the host.
void read_listen(const std::string& text, server_options& to) {
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

const fields<server_options>& listener_fields() {
  using namespace std::chrono_literals;
  using node = YAML::Node;
  using options = server_options;
  static const fields<options> all{
      {"listen", [](options& to, const node& value) { read_listen(some_text(value), to); }},
      {"certificate", [](options& to, const node& value) { to.certificate = some_text(value); }},
      {"key", [](options& to, const node& value) { to.key = some_text(value); }},
      {"client_ca", [](options& to, const node& value) { to.client_ca = some_text(value); }},
      {"timeout", [](options& to, const node& value) { to.timeout = duration(value, 100ms); }},
      {"max_body", [](options& to, const node& value) { to.most_body = number(value, 1024, 64U << 20U); }},
      {"connections", [](options& to, const node& value) { to.connections = number(value, 2, 10'000); }},
      {"workers", [](options& to, const node& value) { to.workers = number(value, 1, 64); }},
  };
  return all;
}

void check_listener(const server_options& of) {
  if (of.address.empty()) throw bad_input("listen: is missing");
  if (of.certificate.empty() != of.key.empty()) throw bad_input("certificate and key: one without the other");
  if (!of.client_ca.empty() && of.certificate.empty()) throw bad_input("client_ca: needs a certificate and a key");
}

}  // namespace shim
