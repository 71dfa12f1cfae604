#pragma once
/// @file
/// Where the API server is and how to prove to it who asks: from a kubeconfig, or from what a pod is given. Nothing
/// here is ever printed: messages name fields and files, not their contents.

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace shim {

/// What the caller can put right: a file, a field, an argument. `what()` names it.
class bad_input : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct credentials {
  std::string host;
  std::string port;
  std::string path;        ///< before every target, without a final slash
  std::string name_space;  ///< that of the context or of the pod; empty: neither says
  bool tls = true;
  bool verify = true;                ///< false only if the kubeconfig says insecure-skip-tls-verify
  std::string server_name;           ///< in the server's certificate; empty: the host
  std::string ca;                    ///< PEM; empty: what the system trusts
  std::string certificate;           ///< PEM, of the client
  std::string key;                   ///< PEM
  std::string token;                 ///< bearer
  std::filesystem::path token_file;  ///< read again for every request, because tokens of pods are renewed
  // Where the three PEM texts are from; empty: they stood in the kubeconfig itself.
  std::filesystem::path ca_file;
  std::filesystem::path certificate_file;
  std::filesystem::path key_file;
};

/// `https://host:port/path` into host, port, path and whether there is TLS; false if it is none.
[[nodiscard]] bool read_address(std::string_view text, credentials& to);

/// Where requests go and what identifies the client. @param url is http or https. @param ca PEM; empty: what the system
/// trusts. Errors: bad_input that names the part.
[[nodiscard]] credentials credentials_for(const std::string& url, const std::filesystem::path& token_file = {},
                                          const std::filesystem::path& ca = {});

/// Most bytes of a file of configuration, a token or a certificate. More is a device, or another file by mistake.
inline constexpr std::size_t largest_file = std::size_t{16} << 20U;

/// All of a file. Errors: bad_input that names it, also for a larger one.
[[nodiscard]] std::string read_file(const std::filesystem::path& file);

/// @param context empty: the current one of the file.
[[nodiscard]] credentials read_kubeconfig(const std::filesystem::path& file, const std::string& context);

/// @param folder where the kubelet puts token and CA. @param host, port of KUBERNETES_SERVICE_HOST and _PORT.
[[nodiscard]] credentials read_in_cluster(const std::filesystem::path& folder, const std::string& host,
                                          const std::string& port);

/// As kubectl looks: the file that is named, $KUBECONFIG, the pod's own, ~/.kube/config.
[[nodiscard]] credentials find_credentials(const std::filesystem::path& named, const std::string& context);

/// The same with what its files hold now; those that cannot be read, as while they are being replaced, leave what was
/// there.
[[nodiscard]] credentials refreshed(credentials from);

/// The token to send now; empty if there is none. Errors: bad_input for a file that cannot be read or holds no token.
[[nodiscard]] std::string current_token(const credentials& from);

}  // namespace shim
