#pragma once
/// @file
/// Keeps up with all kinds of objects: a thread and a connection for each that the server has, one of both for the
/// question which of the others have come.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api_server/http_client.hpp"
#include "watch/reflector.hpp"

namespace shim {

class watches {
 public:
  /// Errors: bad_input for certificates or keys that are none.
  watches(const credentials& as, sink& to, reflector_options options, log_function log);
  /// Stops.
  ~watches();
  watches(const watches&) = delete;
  watches& operator=(const watches&) = delete;

  /// Begins to read; once.
  void start();
  /// From any thread; nothing new begins.
  void stop() noexcept;

 private:
  struct watch {
    resource of;
    std::unique_ptr<reflector> reads{};  ///< none: the server does not have the kind
    std::thread thread{};
    std::atomic<bool> is_over = false;  ///< the server no longer has the kind
  };

  void begin(watch& one);
  /// Until stop is called.
  void discover();
  /// Starts what has come, and notes what is not there.
  void look();
  void pause(std::chrono::milliseconds time);

  credentials as_;
  sink& to_;
  reflector_options options_;
  log_function log_;
  http_client client_;  ///< of the thread that discovers
  std::vector<std::unique_ptr<watch>> watches_;
  std::thread thread_;
  std::mutex mutex_;  ///< of the reflectors
  std::condition_variable wake_;
  bool stopped_ = false;
};

}  // namespace shim
