#pragma once
/// @file
/// Keeps up with one kind of objects: a list in pages, then a watch that goes on where the last one ended, and a list
/// again when the server no longer knows that place.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "api_server/resources.hpp"

namespace shim {

/// Waits double from try to try, from `first` to `most`, until something has worked.
class back_off {
 public:
  back_off(std::chrono::milliseconds first, std::chrono::milliseconds most) : first_(first), most_(most) {}
  [[nodiscard]] std::chrono::milliseconds next() noexcept {
    last_ = last_.count() == 0 ? first_ : std::min(last_ * 2, most_);
    return last_;
  }
  void reset() noexcept { last_ = std::chrono::milliseconds(0); }

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds most_;
  std::chrono::milliseconds last_{0};
};

/// Who wants to know. Called from the reflector's thread.
class sink {
 public:
  virtual ~sink() = default;
  /// These are all objects of the kind.
  virtual void replace(const resource& of, std::vector<nlohmann::json> all) = 0;
  virtual void put(const resource& of, nlohmann::json one) = 0;
  virtual void remove(const resource& of, const nlohmann::json& one) = 0;
};

struct reflector_options {
  unsigned page_size = 500;
  std::chrono::milliseconds first_wait = std::chrono::milliseconds(500);
  std::chrono::milliseconds most_wait = std::chrono::seconds(30);
  std::chrono::milliseconds silence = std::chrono::seconds(90);     ///< bookmarks come more often
  std::chrono::seconds watch = std::chrono::minutes(5);             ///< the server ends a watch after that
  std::chrono::milliseconds absent_wait = std::chrono::minutes(1);  ///< between two questions what kinds are served
  bool reads_budgets = false;                                       ///< for how many pods may leave at once
};

class reflector {
 public:
  reflector(const resource& of, const credentials& as, sink& to, reflector_options options, log_function log);

  /// Until stop is called, or the server does not have the kind, of which the sink is told that there are no objects.
  /// Errors of the server and of the network are told to the log and tried again.
  void run();
  /// From any thread.
  void stop() noexcept;

 private:
  enum class outcome { went_on, expired, absent };

  outcome list();
  outcome watch();
  /// @return false if the watch has to end.
  bool take_event(std::string_view line, outcome& ended);
  [[nodiscard]] outcome judge(const response& answer, const std::string& what);
  void pause(std::chrono::milliseconds time);

  resource resource_;
  http_client client_;
  sink& to_;
  reflector_options options_;
  log_function log_;
  back_off wait_;
  std::string version_;                       ///< up to where everything is known; empty: nothing is
  std::chrono::milliseconds retry_after_{0};  ///< what the server has asked for
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace shim
