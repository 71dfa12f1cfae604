#pragma once
/// @file
/// Which devices of which node a pod gets that another scheduler places: the engine decides, over what HAMi and its
/// plugins have written about nodes and pods.

#include <cstdint>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include <kaisched/abi.hpp>

#include "watch/object_store.hpp"

namespace shim {

/// Nodes that may take a pod, by name. Where they came with the question they are the objects, else null.
using candidate_nodes = std::map<std::string, nlohmann::json, std::less<>>;

struct device_choice {
  bool asks = false;                       ///< for devices that some node has registered
  std::string fault;                       ///< why nothing can be decided about the pod
  std::string obstacle;                    ///< why it gets none, wherever it goes
  std::string node;                        ///< that was chosen; empty: none fits
  nlohmann::json metadata;                 ///< labels and annotations that say so
  std::map<std::string, std::string> why;  ///< if none fits: the reason of each node
};

/// Keeps the engine's objects in step with the store, so that a question costs what has changed since the last one.
class device_chooser {
 public:
  /// @param engine, objects options.
  device_chooser(kaisched::abi::options engine, const kaisched::abi::options& objects);

  /// Nodes take whoever comes: all but devices has been looked at by the scheduler that asks. Of the pod its devices
  /// count alone, and what was decided about it before does not. One question at a time.
  /// @param now nanoseconds since 1970. @param seen receives the mark of what was seen, see assume_granted.
  [[nodiscard]] device_choice choose(object_store& store, const nlohmann::json& pod, const candidate_nodes& candidates,
                                     std::int64_t now, std::uint64_t& seen);

 private:
  class update;
  struct shown_object {
    std::string version;  ///< or the text itself
    bool there = false;   ///< false: it has no devices, and is not among the engine's objects
  };

  [[nodiscard]] std::uint64_t show(object_store& store, const nlohmann::json& pod, const candidate_nodes& candidates);

  kaisched::abi::options engine_;
  kaisched::abi::object_cache objects_;
  std::map<std::string, shown_object, std::less<>> shown_;  ///< by kind and name
};

/// Whether a container asks for a resource outside of Kubernetes' own, such as `nvidia.com/gpu`.
[[nodiscard]] bool asks_for_extended(const nlohmann::json& pod);
/// Calls `see` with each resource that a container asks for or is limited to.
void each_resource(const nlohmann::json& pod, const std::function<void(const std::string& name)>& see);

}  // namespace shim
