#pragma once
/// @file
/// Serves a plugin to the kubelet of a node, over the restarts of both.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "inventory.hpp"
#include "plugin.hpp"

namespace device_plugin {

struct host_options {
  std::filesystem::path folder = "/var/lib/kubelet/device-plugins";  ///< of the kubelet's sockets
  std::string endpoint = "kaisched-gpu.sock";                        ///< name of the plugin's socket there
  std::string resource = "nvidia.com/gpu";
  std::chrono::milliseconds interval{1000};  ///< between two looks at cards and sockets
};

/// Where lines about what happens go.
using log_line = std::function<void(const std::string&)>;

/// Until `stop`: listens, registers, looks at the cards, and starts anew when the kubelet has done so, which removes
/// the sockets of all plugins. Cards that cannot be read stay what they were. Throws bad_inventory if they cannot be
/// read at the start, std::runtime_error if the socket cannot be made.
void serve(const host_options& by, inventory& from, plugin& to, const log_line& log, const std::atomic<bool>& stop);

}  // namespace device_plugin
