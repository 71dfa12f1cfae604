#pragma once
/// @file
/// What KAI's labels and annotations say about pods that share GPUs, and about those that reserve them.

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace shim {

inline constexpr const char* gpu_group_label = "runai-gpu-group";
inline constexpr const char* gpu_fraction_annotation = "gpu-fraction";
inline constexpr const char* gpu_memory_annotation = "gpu-memory";
inline constexpr const char* shared_map_annotation = "runai/shared-gpu-configmap";
inline constexpr const char* reserved_gpu_annotation = "run.ai/reserve_for_gpu_index";
inline constexpr const char* portion_annotation = "kaisched.io/gpu-portion";

// Keys of the config maps, and variables of the container.
inline constexpr const char* visible_devices = "NVIDIA_VISIBLE_DEVICES";
inline constexpr const char* gpu_portion = "GPU_PORTION";
inline constexpr const char* number_of_gpus = "RUNAI_NUM_OF_GPUS";
inline constexpr const char* memory_limit = "GPU_MEMORY_LIMIT";
inline constexpr const char* cuda_memory_limit = "CUDA_DEVICE_MEMORY_LIMIT";

/// Labels that name shared devices: one of the pod, or one for each of several.
[[nodiscard]] std::vector<std::string> gpu_group_labels_of(const nlohmann::json& object);
/// Names of the shared devices of a pod or of one that reserves them, each once, sorted.
[[nodiscard]] std::vector<std::string> gpu_groups_of(const nlohmann::json& object);

/// An annotation; empty if there is none.
[[nodiscard]] std::string annotation_of(const nlohmann::json& object, const std::string& key);
[[nodiscard]] bool asks_for_gpu_part(const nlohmann::json& pod);

/// Which container of a pod gets the GPU.
struct container_place {
  const char* list = "containers";  ///< or initContainers
  std::size_t index = 0;            ///< in that list
  [[nodiscard]] nlohmann::json::json_pointer path() const;
};

/// The one that `gpu-fraction-container-name` names, else the first. Errors: bad_input, if there is none.
[[nodiscard]] container_place fraction_container(const nlohmann::json& pod);

/// Config maps of a pod that shares GPUs: how much it has, and variables of its container. Empty without annotation.
struct map_names {
  std::string capabilities;
  std::string variables;
};
[[nodiscard]] map_names shared_map_names(const nlohmann::json& pod, const container_place& at);

/// Whether a variable of the container comes from a config map.
[[nodiscard]] bool refers_to_map(const nlohmann::json& container, const std::string& variable);

}  // namespace shim
