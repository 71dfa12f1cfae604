#pragma once
/// @file
/// Objects of Kubernetes and KAI -> the tables of a cluster, see docs/kubernetes-objects.md.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "io/cluster_input.hpp"
#include "io/json_document.hpp"
#include "io/kubernetes/claim.hpp"
#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"
#include "io/kubernetes/settings.hpp"
#include "io/kubernetes/shared_devices.hpp"

namespace kaisched::io::kubernetes {

/// What tables do not hold and the way back needs.
struct object_names {
  std::map<std::string, std::string, std::less<>> pod_uids;  ///< by full name
  /// Names of shared devices that are in use, by node and index.
  std::map<std::pair<std::string, std::int64_t>, std::string> gpu_groups;
  std::shared_ptr<const device_catalog> vendors;  ///< whose annotations say who has which devices
  device_identities devices;                      ///< that plugins have registered
  /// Of pods that ask for such devices, by full name.
  std::map<std::string, container_places, std::less<>> containers;
  std::map<std::string, std::vector<named_claim>, std::less<>> claims;  ///< of pods, by full name
  std::map<std::string, unmade_claim, std::less<>> unmade_claims;       ///< by full name
  /// What drivers are told, as JSON: `config` of claims by full name, of classes by name.
  std::map<std::string, std::string, std::less<>> claim_configs;
  std::map<std::string, std::string, std::less<>> class_configs;
};

struct translation {
  cluster_input input;
  object_names names;
};

/// What objects become before it is put into tables.
struct translated_rows {
  cluster_records rows;
  object_names names;
  std::vector<error> faults;  ///< of objects that were left out
  std::int64_t now = 0;
};

struct pod_memory;

/// Translates objects. Of several of the same name the last one counts.
/// @param memories of the objects, by index, kept by the caller for as long as an object is the same; none: every pod
/// is read. Pods whose memory says `is_kept` afterwards have no row here: it is the one that they made last.
[[nodiscard]] translated_rows translate_objects(std::vector<object> objects, std::span<pod_memory* const> memories,
                                                const settings& chosen, std::shared_ptr<const device_catalog> vendors);

/// Translates the objects of texts, a document whose root is an array of them. Errors are of what is no object; what is
/// wrong with one object is in `input.faults`, and the object is left out.
[[nodiscard]] result<translation> translate(const json_document& texts, std::string_view source,
                                            const settings& chosen = {});

/// Reads lists and single objects in JSON, one or several after each other.
[[nodiscard]] result<translation> translate_json(std::string_view text, std::string_view source,
                                                 const settings& chosen = {});

}  // namespace kaisched::io::kubernetes
