#pragma once
/// @file
/// Objects of Kubernetes that change one by one, and the cluster that they make: a snapshot costs a look at every
/// object and what has changed, not the reading of all of them.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "io/json_document.hpp"
#include "io/kubernetes/cluster_feed.hpp"
#include "io/kubernetes/known_pods.hpp"
#include "io/kubernetes/object.hpp"
#include "io/kubernetes/object_kind.hpp"
#include "io/kubernetes/settings.hpp"
#include "io/kubernetes/translation.hpp"

namespace kaisched::io::kubernetes {

/// One thread at a time.
class object_cache {
 public:
  explicit object_cache(settings chosen) : settings_(std::move(chosen)) {}

  /// Takes objects in JSON, lists and single ones; each takes the place of the one of its kind and name. Errors: a text
  /// that is no JSON or holds what is no object; nothing is taken then.
  result<void> put(std::string_view text);
  /// Drops the objects that have the kinds and names of those in a text. What is not there is passed over. Errors: as
  /// above.
  result<void> remove(std::string_view text);

  /// What the objects say at a time. The cluster is the one that `build_cluster` would make of them in the order of
  /// groups and kinds, then names, with bad rows in quarantine.
  struct version {
    kaisched::snapshot snapshot;
    object_names names;
    std::vector<error> faults;  ///< objects that were left out; each text has a line of its own
    std::int64_t now = 0;
  };
  /// @param now nanoseconds since 1970. Errors: those of the catalog of devices and of a cluster that takes nothing.
  [[nodiscard]] result<version> take(std::int64_t now);

  /// How often the cluster was made anew instead of being changed.
  [[nodiscard]] std::uint64_t full_loads() const { return feed_.full_loads(); }

 private:
  struct entry {
    std::shared_ptr<const json_document> document;  ///< that the object is in
    object read;
    pod_memory memory{};
  };
  /// Kind, of other kinds group and kind, full name: in the order in which lists of all objects have them.
  using key = std::tuple<object_kind, std::string, std::string>;

  [[nodiscard]] static key key_of(const object& of);
  void note(const key& changed);
  void forget() noexcept;

  settings settings_;
  std::map<key, entry> objects_;
  std::vector<std::string> changed_pods_;  ///< full names, since the last version
  cluster_feed feed_;
};

}  // namespace kaisched::io::kubernetes
