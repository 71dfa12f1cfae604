#pragma once
/// @file
/// The ledger of what queues have held, kept in a ConfigMap, so that it survives restarts and changes of the leader.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "usage/usage_fields.hpp"
#include "usage/usage_ledger.hpp"

namespace shim {

class usage_keeper {
 public:
  /// @param by with namespace and name. @param timeout of a request. @param may_write asked before each write, from any
  /// thread.
  usage_keeper(usage_settings by, const credentials& as, std::chrono::milliseconds timeout,
               std::function<bool()> may_write, log_function log);
  /// Writes nothing more.
  ~usage_keeper();
  usage_keeper(const usage_keeper&) = delete;
  usage_keeper& operator=(const usage_keeper&) = delete;

  /// Reads what the last one wrote, then keeps writing in a thread of its own. Without an answer the past is looked for
  /// again later, and nothing is written before it has been found.
  void begin();
  /// As usage_ledger::note.
  void note(milli_time now, const std::vector<usage_ledger::holding>& queues, const quota_amounts& capacity);
  [[nodiscard]] queue_parts parts() const;
  /// Writes what is not written yet and ends. It rests on the lease: before that is given back.
  void finish() noexcept;

  /// `namespace/name`.
  [[nodiscard]] std::string name() const;

 private:
  void run();
  void end_thread() noexcept;
  /// One try to read or to write. Never throws for what servers and networks do.
  void step();
  void read();
  void write();
  void take_text(const nlohmann::json& object);
  void complain(const std::string& fault);

  usage_settings by_;
  http_client client_;
  std::function<bool()> may_write_;
  log_function log_;
  // Of the thread that reads and writes.
  bool is_read_ = false;
  nlohmann::json written_;  ///< the object as the server has it, without its data; null: there is none
  std::string sent_;        ///< the text that was sent last
  std::string known_;       ///< the text that the server had last, as far as it is known
  std::string complaint_;   ///< that was logged last
  std::size_t left_out_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  usage_ledger ledger_;
  bool is_noted_ = false;  ///< there is something to write
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace shim
