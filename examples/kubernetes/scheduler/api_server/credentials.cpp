#include "api_server/credentials.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <openssl/evp.h>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

namespace shim {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw bad_input(fmt::format("{}: cannot be read", file.string()));
  std::string text;
  std::array<char, 1U << 14U> piece;
  for (;;) {
    in.read(piece.data(), piece.size());
    const auto count = static_cast<std::size_t>(in.gcount());
    if (count == 0) return text;
    if (count > largest_file - text.size())
      throw bad_input(fmt::format("{}: more than {} bytes", file.string(), largest_file));
    text.append(piece.data(), count);
  }
}

namespace {

std::string trimmed(std::string text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  text.resize(end == std::string::npos ? 0 : end + 1);
  return text;
}

std::optional<std::string> from_base64(const std::string& text) {
  std::string plain(text.size() / 4 * 3 + 3, '\0');
  const int size = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(plain.data()),
                                   reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return std::nullopt;
  plain.resize(static_cast<std::size_t>(size));
  for (std::size_t i = text.size(); i > 0 && text[i - 1] == '='; --i) plain.pop_back();  // padding is decoded as zeros
  return plain;
}

/// A kubeconfig. Paths in it are relative to its folder.
class kubeconfig {
 public:
  explicit kubeconfig(std::filesystem::path file) : file_(std::move(file)) {
    try {
      root_ = YAML::Load(read_file(file_));
    } catch (const YAML::Exception& fault) {
      throw bad_input(fmt::format("{}: no YAML: {}", file_.string(), fault.what()));
    }
    if (!root_.IsMap()) throw bad_input(fmt::format("{}: no kubeconfig", file_.string()));
  }

  [[nodiscard]] std::string current_context() const { return text(root_, "current-context"); }

  /// The entry of a name in one of the three lists.
  [[nodiscard]] YAML::Node entry(const char* list, const char* field, const std::string& name) const {
    if (const YAML::Node all = root_[list]; all.IsSequence()) {
      for (const YAML::Node& one : all) {
        if (one.IsMap() && text(one, "name") == name && one[field].IsMap()) return one[field];
      }
    }
    fail(fmt::format("{}: no entry \"{}\"", list, name));
  }

  [[nodiscard]] std::string text(const YAML::Node& in, const char* field) const {
    const YAML::Node found = in[field];
    if (!found.IsDefined() || found.IsNull()) return {};
    if (!found.IsScalar()) fail(fmt::format("{}: expected a text", field));
    return found.Scalar();
  }

  [[nodiscard]] std::filesystem::path path(const YAML::Node& in, const char* field) const {
    const std::string name = text(in, field);
    return name.empty() ? std::filesystem::path{} : file_.parent_path() / name;
  }

  /// What `FIELD-data` holds in base64, else what the file FIELD does. @param file receives its name.
  [[nodiscard]] std::string contents(const YAML::Node& in, const std::string& field,
                                     std::filesystem::path& file) const {
    if (const std::string data = text(in, (field + "-data").c_str()); !data.empty()) {
      const std::optional<std::string> plain = from_base64(data);
      if (!plain) fail(field + "-data: no base64");
      return *plain;
    }
    file = path(in, field.c_str());
    return file.empty() ? std::string{} : read_file(file);
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw bad_input(fmt::format("{}: {}", file_.string(), what));
  }

 private:
  std::filesystem::path file_;
  YAML::Node root_;
};

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string{} : std::string(value);
}

}  // namespace

bool read_address(std::string_view text, credentials& to) {
  if (text.starts_with("https://")) {
    text.remove_prefix(8);
  } else if (text.starts_with("http://")) {
    text.remove_prefix(7);
    to.tls = false;
  } else {
    return false;
  }
  const std::size_t slash = std::min(text.find('/'), text.size());
  to.path = text.substr(slash);
  while (to.path.ends_with('/')) to.path.pop_back();
  std::string_view host = text.substr(0, slash);
  std::size_t colon = host.rfind(':');
  if (host.starts_with('[')) {  // an address of IPv6
    const std::size_t end = host.find(']');
    if (end == std::string_view::npos) return false;
    if (colon < end) colon = std::string_view::npos;
    to.host = host.substr(1, end - 1);
  } else {
    to.host = host.substr(0, colon);
  }
  to.port = colon == std::string_view::npos ? (to.tls ? "443" : "80") : host.substr(colon + 1);
  if (to.host.find('@') != std::string::npos) return false;  // a password would be part of messages
  return !to.host.empty() && !to.port.empty() && to.port.find_first_not_of("0123456789") == std::string::npos;
}

credentials credentials_for(const std::string& url, const std::filesystem::path& token_file,
                            const std::filesystem::path& ca) {
  credentials to;
  if (!read_address(url, to)) {
    throw bad_input(fmt::format("expected http:// or https://, a host and, if needed, a port, found \"{}\"", url));
  }
  to.token_file = token_file;
  if (!ca.empty()) to.ca = read_file(ca);
  return to;
}

credentials read_kubeconfig(const std::filesystem::path& file, const std::string& context) {
  const kubeconfig from(file);
  const std::string name = context.empty() ? from.current_context() : context;
  if (name.empty()) from.fail("current-context: missing, and no context is named");
  const YAML::Node chosen = from.entry("contexts", "context", name);
  const YAML::Node cluster = from.entry("clusters", "cluster", from.text(chosen, "cluster"));
  const YAML::Node user = from.entry("users", "user", from.text(chosen, "user"));

  credentials to;
  if (!read_address(from.text(cluster, "server"), to)) {
    from.fail("server: expected http:// or https://, a host and, if it is not the usual one, a port");
  }
  to.name_space = from.text(chosen, "namespace");
  to.server_name = from.text(cluster, "tls-server-name");
  to.verify = from.text(cluster, "insecure-skip-tls-verify") != "true";
  if (cluster["proxy-url"].IsDefined()) from.fail("proxy-url: not supported");
  to.ca = from.contents(cluster, "certificate-authority", to.ca_file);
  to.certificate = from.contents(user, "client-certificate", to.certificate_file);
  to.key = from.contents(user, "client-key", to.key_file);
  if (to.certificate.empty() != to.key.empty()) from.fail("client-certificate and client-key: one without the other");
  to.token = from.text(user, "token");
  to.token_file = from.path(user, "tokenFile");
  for (const char* unknown : {"exec", "auth-provider", "username"}) {
    if (user[unknown].IsDefined()) from.fail(fmt::format("{}: not supported; use certificates or tokens", unknown));
  }
  return to;
}

credentials read_in_cluster(const std::filesystem::path& folder, const std::string& host, const std::string& port) {
  if (host.empty() || port.empty()) {
    throw bad_input("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT: not set, so this is no pod");
  }
  credentials to;
  to.host = host;
  to.port = port;
  to.ca_file = folder / "ca.crt";
  to.ca = read_file(to.ca_file);
  to.token_file = folder / "token";
  (void)read_file(to.token_file);
  if (const auto file = folder / "namespace"; std::filesystem::exists(file)) to.name_space = trimmed(read_file(file));
  return to;
}

credentials find_credentials(const std::filesystem::path& named, const std::string& context) {
  if (!named.empty()) return read_kubeconfig(named, context);
  if (const std::string file = environment("KUBECONFIG"); !file.empty()) return read_kubeconfig(file, context);
  if (const std::string host = environment("KUBERNETES_SERVICE_HOST"); !host.empty()) {
    return read_in_cluster("/var/run/secrets/kubernetes.io/serviceaccount", host,
                           environment("KUBERNETES_SERVICE_PORT"));
  }
  return read_kubeconfig(std::filesystem::path(environment("HOME")) / ".kube" / "config", context);
}

credentials refreshed(credentials from) {
  for (const auto& [file, text] :
       {std::pair(&from.ca_file, &from.ca), {&from.certificate_file, &from.certificate}, {&from.key_file, &from.key}}) {
    if (file->empty()) continue;
    try {
      if (std::string now = read_file(*file); !now.empty()) *text = std::move(now);
    } catch (const bad_input&) {
      continue;
    }
  }
  return from;
}

std::string current_token(const credentials& from) {
  std::string token = from.token_file.empty() ? from.token : trimmed(read_file(from.token_file));
  const auto is_odd = [](char c) { return c <= ' ' || c >= '\x7f'; };
  if (std::any_of(token.begin(), token.end(), is_odd)) {
    throw bad_input(fmt::format("{}: characters that no token has",
                                from.token_file.empty() ? std::string("token") : from.token_file.string()));
  }
  return token;
}

}  // namespace shim
