#pragma once
/// @file
/// Calls of the C interface, each over handles that were made for it, and what can be seen of these handles.

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <kaisched/kaisched.h>

namespace failed_allocations {

/// Handles that calls use. What is null is not there.
struct handles {
  handles() = default;
  handles(const handles&) = delete;
  handles& operator=(const handles&) = delete;
  ~handles();

  kaisched_engine* engine = nullptr;
  kaisched_cluster* cluster = nullptr;
  kaisched_snapshot* snapshot = nullptr;
  kaisched_session* session = nullptr;
  kaisched_recorder* recorder = nullptr;
  kaisched_recording* recording = nullptr;
  kaisched_staging* staging = nullptr;
  kaisched_objects* objects = nullptr;
  kaisched_object_cache* cache = nullptr;
  kaisched_federation* federation = nullptr;
  std::array<kaisched_cluster*, 2> sites{};

  // What the call gave.
  kaisched_engine* new_engine = nullptr;
  kaisched_cluster* new_cluster = nullptr;
  kaisched_snapshot* new_snapshot = nullptr;
  kaisched_session* new_session = nullptr;
  kaisched_answers* answers = nullptr;
  kaisched_scaling* scaling = nullptr;
  kaisched_federated* federated = nullptr;
  const kaisched_table* table = nullptr;
  const void* bytes = nullptr;
  std::size_t size = 0;
  std::uint64_t number = 0;
  std::int32_t flag = 0;
  std::vector<char> buffer;  ///< large enough before the call
};

/// What can be seen of the handles that were there before the call.
[[nodiscard]] std::string seen(handles& of);
/// What the call gave.
[[nodiscard]] std::string given(handles& of);

struct call {
  std::string name;
  std::function<void(handles&)> prepare;
  /// May allocate nothing beside what the library does.
  std::function<kaisched_status(handles&, kaisched_error&)> make;
  /// Changes the statement of a session, or a federation, which can only be given back where that fails half-way.
  bool may_end_handle = false;
};

/// Nodes, and what runs and waits on them.
enum class size_of_cluster { three_nodes, thirty_nodes };

/// Every call of the interface that can fail, with `kai` and all its actions.
[[nodiscard]] std::vector<call> calls(size_of_cluster how_large);
/// One session of each preset, by a call that opens, runs and reads it.
[[nodiscard]] std::vector<call> calls_of_presets();

}  // namespace failed_allocations
