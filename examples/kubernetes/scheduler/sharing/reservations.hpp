#pragma once
/// @file
/// Pods that hold a device for those that share it: one for each group, made when the first pod of the group comes,
/// gone with the last one. What the API server has is all that is known about them, so they are found again after a
/// crash.

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "binding/binder.hpp"
#include "sharing/sharing_fields.hpp"
#include "watch/object_store.hpp"

namespace shim {

class reservations {
 public:
  reservations(const sharing_settings& by, std::string scheduler_name, object_store& store, send_function send,
               log_function log)
      : by_(by),
        scheduler_name_(std::move(scheduler_name)),
        store_(store),
        send_(std::move(send)),
        log_(std::move(log)) {}

  /// Looks at all of them, at the beginning of a cycle, and removes those without users.
  /// @return pods that run without a reservation: nobody knows which device they use, or who else does.
  std::vector<std::string> sync();

  struct answer {
    step state;
    std::string device{};  ///< its UUID, once the step is done
  };
  /// The device of a group. Makes the reservation if there is none, and gives up once the time is over.
  /// @param tolerations of the pod that asks. Errors: no_answer.
  answer reserve(const std::string& group, const std::string& node, const nlohmann::json& tolerations);

  /// When the next of those that are waited for has to have said its device.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const;

 private:
  struct held {
    std::string name;
    std::string uid;
    std::string node;
    std::string device;  ///< empty: not reported yet
    bool finished = false;
    bool leaving = false;
  };
  struct users {
    bool any = false;
    std::vector<std::string> running;  ///< pods of this scheduler
  };
  using users_by_group = std::map<std::string, users, std::less<>>;

  [[nodiscard]] bool is_reservation(const nlohmann::json& pod) const;
  [[nodiscard]] static held read(const nlohmann::json& pod);
  [[nodiscard]] users_by_group look();
  void note_requests_of_kai(users_by_group& to) const;
  step create(const std::string& group, const std::string& node, const nlohmann::json& tolerations);
  [[nodiscard]] nlohmann::json pod_for(const std::string& group, const std::string& node,
                                       const nlohmann::json& tolerations) const;
  /// What is there under the name of a reservation that could not be made.
  step adopt(const std::string& group, const std::string& target);
  /// Whether its device may be used.
  [[nodiscard]] std::string fault_of(const std::string& group, const held& one) const;
  answer give_up(const std::string& group, std::string why);
  /// @return whether it is gone.
  bool remove(const held& one);

  const sharing_settings& by_;
  std::string scheduler_name_;
  object_store& store_;
  send_function send_;
  log_function log_;
  std::map<std::string, held, std::less<>> held_;  ///< by group
  std::set<std::string> removed_;                  ///< uids of those that the store may not know to be gone
  std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> since_;  ///< groups that are waited for
  std::map<std::string, std::string, std::less<>> failed_;                           ///< in this cycle, and why
};

}  // namespace shim
