#pragma once
/// @file
/// How the nodes and pods of a cluster name the devices of a vendor, as data: annotations that schedulers and plugins
/// exchange, devices that follow from what a node says about itself, and what a grant is to a plugin of its own.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace kaisched::devices {

/// Annotations in which schedulers and plugins of the vendor exchange devices; an empty one does not exist.
struct exchange_keys {
  std::string registered{};   ///< of nodes: their devices
  std::string links{};        ///< of nodes: scores of pairs of devices
  std::string handshake{};    ///< of nodes: whether the plugin answers
  std::string to_allocate{};  ///< of pods: grants that the plugin has to hand out
  std::string allocated{};    ///< of pods: grants
  std::string instances{};    ///< of pods: where grants lie on divided devices
};

/// A text with names in angle brackets, in pieces.
struct pattern_piece {
  bool named = false;
  std::string text{};  ///< of the text, or the name
};
using text_pattern = std::vector<pattern_piece>;

/// Where a number of a device comes from: it is the same for all, a part of what the node has, or a member of a record.
struct found_number {
  std::int64_t fixed = 0;
  std::string resource{};  ///< every device has an equal part of it
  std::string member{};
  std::int64_t unit = 1;  ///< what one of it counts
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
  bool bits = false;  ///< as many low bits as the number says
};

/// An attribute of a device: a label of its node, or a member of its record.
struct found_attribute {
  std::string name;
  std::string label{};
  std::string member{};
  text_pattern otherwise{};  ///< where neither says anything: <node>, <index>
};

/// Devices that nobody registers. They are counted, from a resource of the node, or listed in records, in an
/// annotation.
struct found_devices {
  std::string resource{};
  std::int64_t per_device = 1;  ///< of the resource; what is left over is a device too
  std::string annotation{};     ///< JSON
  std::string list{};           ///< its member with the records; empty: it is the list itself
  std::string profiles{};       ///< its member with sizes in which devices are divided, `{"2g.12gb": "<id>"}`
  text_pattern id{};            ///< <node>, <index> and members of the record
  std::string index{};          ///< member; empty, or no number there: the position
  found_number slots{};
  found_number memory{};  ///< MiB; not stated: that of the largest profile
  found_number cores{};
  found_number numa{};
  std::int64_t numa_nodes = 1;  ///< among which counted devices are distributed in order
  std::string healthy{};        ///< member; empty: they all are
  std::vector<found_attribute> attributes{};
};

/// Of which grants of a pod an annotation speaks.
enum class told_grants : std::uint8_t {
  pod,             ///< of none: it is there where the pod has any
  first_device,    ///< of the first container that has some
  last_container,  ///< all of the last container that has some
  devices,         ///< all
  cores,           ///< of all, once for each of their cores, where cores are bits
  containers       ///< the first of each container
};

/// Which containers count.
enum class told_containers : std::uint8_t { all, by_count, by_cores };

/// A member of a record: what a name stands for, or a constant.
struct told_member {
  std::string name;
  std::variant<std::string, bool, std::int64_t> value;  ///< text: the name
};

/// An annotation of pods that follows from their grants: texts with commas between them, or JSON. `devices` as records
/// are a list for each container, `containers` members by its name.
struct told_annotation {
  std::string key;
  told_grants of = told_grants::pod;
  told_containers by = told_containers::all;
  std::int64_t memory_unit = 0;  ///< bytes
  text_pattern text{};
  std::vector<told_member> record{};
};

}  // namespace kaisched::devices
