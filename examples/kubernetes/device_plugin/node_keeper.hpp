#pragma once
/// @file
/// Tells the scheduler, in annotations of the node, which cards there are and that somebody serves them, and clears
/// away what pods that have gone, or a plugin that was ended, left behind.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "container_setup.hpp"
#include "hami/node_lock.hpp"
#include "node_api.hpp"

namespace device_plugin {

class node_keeper {
 public:
  using log_function = std::function<void(const std::string&)>;
  using card_function = std::function<std::vector<card>()>;
  /// Begins. @param cards those of now; asked every second. @param period between two looks at the node while they stay
  /// the same.
  node_keeper(node_api& api, card_function cards, std::uint32_t slices, setup_options by,
              std::chrono::milliseconds period, log_function log);
  ~node_keeper();
  node_keeper(const node_keeper&) = delete;
  node_keeper& operator=(const node_keeper&) = delete;

 private:
  void run();
  void look(const std::vector<card>& cards);
  [[nodiscard]] bool tell(const nlohmann::json& node, const std::vector<card>& cards);
  void free_lock(const nlohmann::json& node);
  void clear_away();

  node_api& api_;
  card_function cards_;
  std::uint32_t slices_;
  setup_options by_;
  std::chrono::milliseconds period_;
  log_function log_;
  shim::node_locks locks_;
  std::mutex mutex_;
  std::condition_variable end_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace device_plugin
