#pragma once
/// @file
/// A client over TLS, and a certificate for its server. Empty where the tests are built without OpenSSL.

#if KAISCHED_TEST_TLS

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "http/server.hpp"

namespace http_test {

/// Signed by itself, for this process; its files are removed with it.
class test_certificate {
 public:
  test_certificate();
  ~test_certificate();
  test_certificate(const test_certificate&) = delete;
  test_certificate& operator=(const test_certificate&) = delete;

  [[nodiscard]] kaisched::http::tls_files files() const;

 private:
  std::filesystem::path folder_;
};

/// Trusts any certificate.
class tls_client {
 public:
  explicit tls_client(std::uint16_t port);
  ~tls_client();
  tls_client(const tls_client&) = delete;
  tls_client& operator=(const tls_client&) = delete;

  /// False: the other side takes no more.
  bool send(std::string_view bytes);
  [[nodiscard]] std::string read_all();
  void close();

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace http_test

#endif
