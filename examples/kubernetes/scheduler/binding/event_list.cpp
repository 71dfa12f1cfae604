#include "binding/event_list.hpp"

#include <utility>

#include <boost/asio/ip/host_name.hpp>
#include <fmt/format.h>

#include "api_server/clock_text.hpp"
#include "api_server/requests.hpp"
#include "watch/object_store.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr std::string_view component = "kaisched-kubernetes";
std::string text_or(const json& of, const char* pointer, const char* fallback) {
  std::string text = text_at(of, pointer);
  return text.empty() ? fallback : text;
}

constexpr std::size_t most_note = 1024;      // of an event
constexpr std::size_t most_prefix = 200;     // of its name, which may have 253 bytes
constexpr std::size_t most_waiting = 20000;  // what nobody waits for may not fill the memory

}  // namespace

event_list::event_list(send_function send, log_function log)
    : send_(std::move(send)), log_(std::move(log)), identity_(boost::asio::ip::host_name()) {}

void event_list::tell(const json& about, std::string_view type, std::string_view reason, const std::string& note,
                      std::string_view action, json annotations) {
  const std::string name_space = text_at(about, "/metadata/namespace");
  const std::string name = text_at(about, "/metadata/name");
  const auto since = std::chrono::duration_cast<std::chrono::nanoseconds>(when_.time_since_epoch());
  std::string prefix = name.substr(0, most_prefix);
  while (!prefix.empty() && (prefix.back() == '.' || prefix.back() == '-')) prefix.pop_back();
  json event{
      {"apiVersion", "events.k8s.io/v1"},
      {"kind", "Event"},
      {"metadata", {{"namespace", name_space}, {"name", fmt::format("{}.{:x}.{:x}", prefix, since.count(), made_++)}}},
      {"eventTime", clock_text(when_, true)},
      {"reportingController", component},
      {"reportingInstance", identity_},
      {"action", action},
      {"reason", reason},
      {"type", type},
      {"note", note.size() > most_note ? note.substr(0, most_note - 3) + "..." : note},
      {"regarding",
       {{"apiVersion", text_or(about, "/apiVersion", "v1")},
        {"kind", text_or(about, "/kind", "Pod")},
        {"namespace", name_space},
        {"name", name},
        {"uid", text_at(about, "/metadata/uid")}}}};
  if (!annotations.is_null()) event["metadata"]["annotations"] = std::move(annotations);
  if (waiting_.size() >= most_waiting) {
    waiting_.pop_front();
    ++dropped_;
  }
  waiting_.push_back(
      with_object("POST", fmt::format("/apis/events.k8s.io/v1/namespaces/{}/events", encoded(name_space)), event));
}

void event_list::send(const std::function<bool()>& go_on, std::chrono::steady_clock::time_point until) {
  if (dropped_ > 0) log_(fmt::format("{} events were dropped: more come than are taken", std::exchange(dropped_, 0)));
  while (!waiting_.empty() && go_on() && std::chrono::steady_clock::now() < until) {
    const request what = std::move(waiting_.front());
    waiting_.pop_front();
    try {
      const response answer = send_(what);
      if (!answer.ok()) log_(fmt::format("{}: {}", what.target, server_words(answer)));
    } catch (const no_answer& fault) {  // nothing depends on an event
      log_(fmt::format("{}: {}", what.target, fault.what()));
    }
  }
}

}  // namespace shim
