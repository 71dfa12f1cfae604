#include "http/tls_context.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <fmt/format.h>

namespace kaisched::http {

namespace {

#if KAISCHED_HTTP_TLS
namespace asio = boost::asio;
using boost::system::error_code;

std::optional<std::string> contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}
#endif

}  // namespace

tls_context::tls_context(tls_files from, std::function<void(const std::string&)> log)
    : files_(std::move(from)), log_(std::move(log)) {
  if (is_used()) (void)current();
}

#if KAISCHED_HTTP_TLS
certificates tls_context::read() const {
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1);
  const auto apply = [](const char* field, const std::filesystem::path& file, auto use) {
    const std::optional<std::string> text = contents(file);
    if (!text) throw setup_error(fmt::format("{}: {}: cannot be read", field, file.string()));
    error_code failed;
    use(asio::buffer(*text), failed);
    if (failed) throw setup_error(fmt::format("{}: {}: {}", field, file.string(), failed.message()));
  };
  apply("certificate", files_.certificate,
        [&](const auto& pem, error_code& failed) { (void)tls->use_certificate_chain(pem, failed); });
  apply("key", files_.key,
        [&](const auto& pem, error_code& failed) { (void)tls->use_private_key(pem, asio::ssl::context::pem, failed); });
  if (!files_.client_ca.empty()) {
    apply("client_ca", files_.client_ca,
          [&](const auto& pem, error_code& failed) { (void)tls->add_certificate_authority(pem, failed); });
    tls->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  }
  return tls;
}
#else
certificates tls_context::read() const { throw setup_error("this program has been built without TLS"); }
#endif

certificates tls_context::current() {
  std::error_code ignored;
  const auto now = std::pair(std::filesystem::last_write_time(files_.certificate, ignored),
                             std::filesystem::last_write_time(files_.key, ignored));
  if (now_ != nullptr && now == read_at_) return now_;
  try {
    now_ = read();
  } catch (const setup_error& fault) {
    if (now_ == nullptr) throw;
    log_(fault.what());
  }
  read_at_ = now;
  return now_;
}

}  // namespace kaisched::http
