#pragma once
/// @file
/// Certificates of a server, read again when their files have changed.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "http/server.hpp"

#if KAISCHED_HTTP_TLS
#include <boost/asio/ssl/context.hpp>
#endif

namespace kaisched::http {

#if KAISCHED_HTTP_TLS
using certificates = std::shared_ptr<boost::asio::ssl::context>;
#else
using certificates = std::shared_ptr<void>;
#endif

/// Built without TLS it takes no certificate.
class tls_context {
 public:
  /// Errors: setup_error. `log` is told of later ones.
  tls_context(tls_files from, std::function<void(const std::string&)> log);

  [[nodiscard]] bool is_used() const { return !files_.certificate.empty(); }
  /// For a new connection, which must keep it.
  [[nodiscard]] certificates current();

 private:
  [[nodiscard]] certificates read() const;

  const tls_files files_;
  const std::function<void(const std::string&)> log_;
  certificates now_;
  std::pair<std::filesystem::file_time_type, std::filesystem::file_time_type> read_at_;
};

}  // namespace kaisched::http
