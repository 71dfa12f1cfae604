#pragma once
/// @file
/// Asks device plugins, in annotations of their nodes, whether they live, and gives up the devices of those that do not
/// answer and offer nothing.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "api_server/client_pool.hpp"
#include "watch/object_store.hpp"

namespace shim {

class handshake_keeper {
 public:
  /// Begins. @param period between two looks at all nodes. @param timeout of what is written; 0: that of clients.
  /// @param obstacle why nothing may be written now; empty: it may.
  handshake_keeper(const credentials& as, const object_store& store, std::chrono::milliseconds period,
                   std::chrono::milliseconds timeout, std::function<std::string()> obstacle, log_function log);
  /// Ends what is on its way.
  ~handshake_keeper();
  handshake_keeper(const handshake_keeper&) = delete;
  handshake_keeper& operator=(const handshake_keeper&) = delete;

 private:
  struct due;
  void run(std::chrono::milliseconds period);
  void look_at_all();
  void write(const due& what);

  const object_store& store_;
  std::function<std::string()> obstacle_;
  log_function log_;
  client_pool client_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace shim
