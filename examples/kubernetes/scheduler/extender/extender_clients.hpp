#pragma once
/// @file
/// Asks extenders about pods that wait, before a session, and notes what they say on the pods: sessions ask nobody, and
/// what is recorded has the answers in it.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "extender/extender_fields.hpp"
#include "watch/object_store.hpp"

namespace shim {

/// Belongs to one thread; only cancel may come from elsewhere.
class extender_clients {
 public:
  /// Errors: bad_input for certificates that are none.
  extender_clients(extenders_settings by, std::string scheduler_name, log_function log);

  /// Asks as much as the limits allow: pods without an answer first, then those whose answer is oldest. Pods that have
  /// none wait. @return whether somebody should be asked again soon.
  bool ask(object_store& to);
  void cancel() noexcept;

 private:
  using clock = std::chrono::steady_clock;
  struct client {
    asked_extender of;
    std::unique_ptr<http_client> http;
    bool is_down = false;     ///< in this cycle: it has not answered, and is not waited for again
    std::string complaint{};  ///< of the last question
  };
  /// What is known of a pod.
  struct answer {
    std::uint64_t pod = 0;    ///< what of it was asked about
    std::uint64_t nodes = 0;  ///< likewise
    clock::time_point when;
    std::set<std::string> left;              ///< nodes
    std::map<std::string, unsigned> points;  ///< by node, 1 to 100
    std::string obstacle;                    ///< empty: none
    bool is_failure = false;                 ///< somebody did not answer: asked again by the next cycle
  };
  struct waiting_pod {
    std::string name;
    std::uint64_t digest = 0;
    nlohmann::json object;
  };
  /// What there is to ask about.
  struct situation {
    std::vector<waiting_pod> pods;
    std::set<std::string> nodes;
    std::uint64_t digest = 0;  ///< of the nodes
  };

  [[nodiscard]] situation look(const object_store& at) const;
  /// Nothing: the limits are reached.
  [[nodiscard]] std::optional<answer> ask_about(const waiting_pod& pod, const situation& now, clock::time_point until);
  /// The body of a good answer. Errors: std::exception, cancelled.
  [[nodiscard]] nlohmann::json post(client& to, const std::string& verb, const waiting_pod& pod,
                                    const std::set<std::string>& nodes, clock::time_point until);
  /// Takes away who is not left. Errors: likewise.
  void filter(client& by, const waiting_pod& pod, answer& to, clock::time_point until);
  void prioritize(client& by, const waiting_pod& pod, answer& to, clock::time_point until);
  void complain(client& about, const std::string& words);
  [[nodiscard]] std::string note_of(const answer& known, const std::set<std::string>& nodes) const;

  extenders_settings by_;
  std::string scheduler_name_;
  log_function log_;
  std::vector<client> clients_;
  std::map<std::string, answer> known_;  ///< by pod
  unsigned requests_ = 0;                ///< in this cycle
};

}  // namespace shim
