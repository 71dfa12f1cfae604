#pragma once
/// @file
/// What the program does for others beside its own cycles: answers kube-scheduler and the API server, and
/// keeps up with device plugins.

#include <functional>
#include <memory>
#include <string>

#include "api_server/credentials.hpp"
#include "configuration/configuration.hpp"
#include "cycle/program.hpp"
#include "extender/extender.hpp"
#include "hami/handshake_keeper.hpp"
#include "load/load_provider.hpp"
#include "server/http_server.hpp"

namespace shim {

class services {
 public:
  /// Begins what the configuration asks for. Everything that is given lives longer. @param measured told of GPUs, from
  /// a thread of its own. Errors: bad_input.
  services(const configuration& by, const credentials& as, program& of, http_server::observer told,
           load_provider::observer measured, log_function log);
  ~services();
  services(const services&) = delete;
  services& operator=(const services&) = delete;

 private:
  void serve_scheduler(const configuration& by, const credentials& as, program& of, const http_server::observer& told,
                       const log_function& log);

  std::unique_ptr<extender> extender_;
  std::unique_ptr<handshake_keeper> handshakes_;
  std::unique_ptr<load_provider> load_;
  std::unique_ptr<http_server> extender_server_;  // after the extender: its threads use it
  std::unique_ptr<http_server> webhook_server_;
};

}  // namespace shim
