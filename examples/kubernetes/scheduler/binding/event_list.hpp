#pragma once
/// @file
/// Events of objects, which nothing depends on: they are sent after all that changes something, and no longer than a
/// cycle may take for them.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"

namespace shim {

class event_list {
 public:
  event_list(send_function send, log_function log);

  /// @param when the time of the cycle.
  void begin(std::chrono::system_clock::time_point when) { when_ = when; }
  /// Makes an event. @param annotations of the event itself; null: none.
  void tell(const nlohmann::json& about, std::string_view type, std::string_view reason, const std::string& note,
            std::string_view action, nlohmann::json annotations = nullptr);
  /// Sends until the time is over; the rest is for the next call. @param go_on asked before each request.
  void send(const std::function<bool()>& go_on, std::chrono::steady_clock::time_point until);
  [[nodiscard]] bool is_empty() const noexcept { return waiting_.empty(); }

 private:
  send_function send_;
  log_function log_;
  std::string identity_;
  std::chrono::system_clock::time_point when_;
  std::deque<request> waiting_;
  std::uint64_t made_ = 0;   ///< how many there have been
  std::size_t dropped_ = 0;  ///< since the last line about it
};

}  // namespace shim
