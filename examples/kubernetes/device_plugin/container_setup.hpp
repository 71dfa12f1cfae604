#pragma once
/// @file
/// What holds a container to the part of its cards that it was granted: variables, as HAMi's device plugin sets them
/// and the guard reads them, the guard itself, and the folder or the grant from which its processes share their limits.

#include <chrono>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "device_plugin.pb.h"
#include "hami/hami_grants.hpp"
#include "inventory.hpp"

namespace device_plugin {

/// Folders of the node. Those that are empty are not used.
struct setup_options {
  std::filesystem::path guard;                 ///< with libkaisched_guard_dlsym.so
  std::filesystem::path caches;                ///< for a folder per container, in which its processes share limits
  std::filesystem::path grants;                ///< from which the agent makes ledgers, instead of that
  std::filesystem::path ledgers;               ///< of the agent
  std::chrono::milliseconds patience{10'000};  ///< with an agent that makes no ledger
};

/// A container that is to get its devices.
struct granted_container {
  nlohmann::json pod;
  std::size_t place = 0;  ///< init containers first
  std::vector<shim::hami::device_grant> devices;

  /// Of the pod's specification. Errors: refused if there is no such place.
  [[nodiscard]] const nlohmann::json& specification() const;
  /// `<uid of the pod>_<name of the container>`: of its folder, its grant and its ledger.
  [[nodiscard]] std::string folder() const;
};

/// Adds to the answer, and writes grant and folders; with a grant it waits until the agent has made the ledger. @param
/// cards those of the node. @return UUIDs, in the order of the grant. Errors: refused for cards that are not there or
/// not healthy, and for what cannot be written.
[[nodiscard]] std::vector<std::string> set_up(const granted_container& what, const std::string& node,
                                              const std::vector<card>& cards, const setup_options& by,
                                              v1beta1::ContainerAllocateResponse& to);

/// What there is of containers in the folders `caches` and `grants`: names that begin with the UID of a pod.
[[nodiscard]] std::vector<std::filesystem::path> leftovers(const setup_options& by);
/// Removes those that belong to none of the pods.
void remove_leftovers(const std::vector<std::filesystem::path>& found, const std::set<std::string>& uids);

}  // namespace device_plugin
