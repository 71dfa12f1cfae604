#pragma once
/// @file
/// Volumes and configuration that pods mount: where they can be reached, and what is in the way if they are not there.
/// What the text has no objects of is taken as there.

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// What the volumes of a pod ask for.
struct volume_needs {
  std::string obstacle;  ///< empty: nothing is in the way
  /// Alternatives of selectors for each volume that not all nodes reach: one of each has to match.
  std::vector<std::vector<std::string>> selectors;
  amounts attached;  ///< volumes of drivers of which nodes take so many only, by the name of the dimension
  friend bool operator==(const volume_needs&, const volume_needs&) = default;
};

/// Claims, volumes, classes and config maps by name.
class volume_book {
 public:
  void read_claim(object& of);
  void read_volume(object& of);
  void read_class(object& of);
  void read_csi_node(object& of);
  void read_config_map(const object& of);

  [[nodiscard]] volume_needs of(object& pod) const;
  /// How many volumes of each driver a node takes, where some node says so of the driver.
  void add_limits(node_record& to) const;
  /// Whether a selector is about names of nodes.
  [[nodiscard]] bool asks_node_names() const { return asks_names_; }

 private:
  struct storage_class {
    bool waits = false;       ///< for the first pod, and does not bind before
    bool provisions = false;  ///< volumes are made; else there must be one
    std::string driver;       ///< that makes them
    std::vector<std::string> selectors;
    std::string fault;
  };
  struct volume {
    std::string storage_class;
    std::int64_t capacity = 0;  ///< bytes
    std::string mode;
    std::vector<std::string> access;     ///< sorted
    std::vector<std::string> selectors;  ///< none: anywhere
    bool is_free = false;
    std::string driver;  ///< empty: nobody counts it
    std::string fault;
  };
  struct claim {
    std::string volume;
    bool is_bound = false;
    std::string storage_class;
    std::int64_t request = 0;  ///< bytes
    std::string mode;
    std::vector<std::string> access;  ///< sorted
    std::string selected_node;        ///< where its volume is being made
    std::string trouble;              ///< lost, being deleted, or a fault
  };

  void add_claim(const std::string& name, volume_needs& to) const;
  void add_unbound(const std::string& name, const claim& of, volume_needs& to) const;
  [[nodiscard]] std::string missing_config_map(object& pod) const;
  [[nodiscard]] std::string driver_of(const claim& of) const;

  std::map<std::string, claim, std::less<>> claims_;
  std::map<std::string, volume, std::less<>> volumes_;
  std::map<std::string, std::vector<const volume*>, std::less<>> free_;  ///< volumes by class
  std::map<std::string, storage_class, std::less<>> classes_;
  /// Volumes that nodes take, by driver and node.
  std::map<std::string, std::map<std::string, std::int64_t, std::less<>>, std::less<>> limits_;
  std::set<std::string, std::less<>> config_maps_;
  std::set<std::string, std::less<>> config_spaces_;  ///< namespaces of which the text has config maps
  bool asks_names_ = false;
};

/// Puts the alternatives of volumes on top of those that a pod has. The error, as an obstacle, is of too many of them.
[[nodiscard]] std::string restrict_nodes(const std::vector<std::vector<std::string>>& selectors,
                                         std::vector<std::string>& to);

}  // namespace kaisched::io::kubernetes
