/// The program `kaisched-reservation` of the pod that holds a GPU for those that share it: it says which one that is in
/// an annotation of its own pod, and stays.
///   kaisched-reservation [--nvml LIBRARY]
#include <csignal>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api_server/credentials.hpp"
#include "api_server/http_client.hpp"
#include "api_server/requests.hpp"
#include "api_server/resources.hpp"
#include "inventory.hpp"
#include "sharing/shared_pod.hpp"

namespace {

/// Errors: bad_input.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  if (value == nullptr || *value == '\0') throw shim::bad_input(fmt::format("variable {}: is missing", name));
  return value;
}

/// The only GPU that is to be seen here. Errors: bad_inventory.
std::string only_gpu(const std::string& library) {
  const std::vector<device_plugin::card> cards = device_plugin::cards_of_nvml(library)->look();
  if (cards.size() != 1) {
    throw device_plugin::bad_inventory(fmt::format("{} GPUs are to be seen here, not one", cards.size()));
  }
  return cards.front().uuid;
}

/// Errors: std::runtime_error.
void report(const std::string& gpu, const std::string& pod, const shim::credentials& to) {
  const nlohmann::json change{{"metadata", {{"annotations", {{shim::reserved_gpu_annotation, gpu}}}}}};
  const shim::response answer = shim::http_client(to).send(shim::patch_of(shim::place_of(shim::pod_key, pod), change));
  if (!answer.ok()) throw std::runtime_error(fmt::format("pod {}: {}", pod, shim::server_words(answer)));
}

int run(const std::string& library, const std::string& kubeconfig) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const std::string pod = fmt::format("{}/{}", variable("POD_NAMESPACE"), variable("POD_NAME"));
  const std::string gpu = only_gpu(library);
  report(gpu, pod, shim::find_credentials(kubeconfig, {}));
  fmt::print(stderr, "kaisched-reservation: pod {} reserves {}\n", pod, gpu);
  int which = 0;
  sigwait(&signals, &which);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Says which GPU its pod has got, and holds it.", "kaisched-reservation");
  std::string library = "libnvidia-ml.so.1";
  std::string kubeconfig;
  app.add_option("--nvml", library, "NVIDIA's library, as the dynamic linker finds it")->capture_default_str();
  app.add_option("--kubeconfig", kubeconfig, "how to reach the API server; default: as the kubelet tells the pod");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    return app.exit(fault) == 0 ? 0 : 2;
  }
  try {
    return run(library, kubeconfig);
  } catch (const std::exception& fault) {  // the kubelet starts it again, and the log says why
    fmt::print(stderr, "kaisched-reservation: {}\n", fault.what());
    return 1;
  }
}
