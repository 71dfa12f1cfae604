#include "tls_client.hpp"

#if KAISCHED_TEST_TLS

#include <cstdio>
#include <cstdlib>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <stdexcept>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>

namespace http_test {

namespace asio = boost::asio;
using boost::system::error_code;

test_certificate::test_certificate() {
  std::string name = (std::filesystem::temp_directory_path() / "kaisched-http-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a certificate");
  folder_ = name;
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(2048), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  X509_set_version(made.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 86'400);
  X509_set_pubkey(made.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1,
                             0);
  X509_set_issuer_name(made.get(), subject);
  X509_sign(made.get(), key.get(), EVP_sha256());
  const auto write = [&](const char* file, auto&& put) {
    std::FILE* to = std::fopen((folder_ / file).c_str(), "w");
    if (to == nullptr || put(to) != 1) throw std::runtime_error("no certificate");
    std::fclose(to);
  };
  write("certificate.pem", [&](std::FILE* to) { return PEM_write_X509(to, made.get()); });
  write("key.pem",
        [&](std::FILE* to) { return PEM_write_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
}

test_certificate::~test_certificate() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

kaisched::http::tls_files test_certificate::files() const {
  return {folder_ / "certificate.pem", folder_ / "key.pem", {}};
}

struct tls_client::parts {
  asio::io_context io;
  asio::ssl::context context{asio::ssl::context::tls_client};
  asio::ssl::stream<asio::ip::tcp::socket> stream{io, context};
};

tls_client::tls_client(std::uint16_t port) : parts_(std::make_unique<parts>()) {
  parts_->stream.lowest_layer().connect({asio::ip::address_v4::loopback(), port});
  parts_->stream.handshake(asio::ssl::stream_base::client);
}
tls_client::~tls_client() = default;

bool tls_client::send(std::string_view bytes) {
  error_code failed;
  asio::write(parts_->stream, asio::buffer(bytes), failed);
  return !failed;
}

std::string tls_client::read_all() {
  std::string all;
  std::string part(4096, '\0');
  error_code failed;
  while (!failed) all.append(part, 0, parts_->stream.read_some(asio::buffer(part), failed));
  return all;
}

void tls_client::close() {
  error_code ignored;
  parts_->stream.lowest_layer().close(ignored);
}

}  // namespace http_test

#endif
