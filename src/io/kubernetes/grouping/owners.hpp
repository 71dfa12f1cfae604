#pragma once
/// @file
/// Who owns a pod: the chain of `ownerReferences` up to its top, as far as the objects of the text go.

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/object.hpp"

namespace kaisched::io::kubernetes {

/// A kind of objects; versions are not told apart.
struct group_kind {
  std::string_view group;
  std::string_view kind;
};

/// Something above a pod, as the reference to it says, or the pod itself. Texts belong to the objects.
struct workload_owner {
  std::optional<std::string_view> group;  ///< API group; empty if the reference does not say
  std::string_view kind;
  std::string_view name;
  std::string_view uid;
  object* found = nullptr;       ///< the object, where the text has it
  std::vector<object*> skipped;  ///< owners above that do not count themselves, nearest first: they hand down labels

  [[nodiscard]] bool is(group_kind of) const { return kind == of.kind && (!group || *group == of.group); }
  /// Its own, else that of the nearest skipped owner that has one.
  [[nodiscard]] std::optional<std::string_view> label(std::string_view key) const;
  [[nodiscard]] std::optional<std::string_view> annotation(std::string_view key) const;
  /// The object whose annotation `annotation` gives; null without one.
  [[nodiscard]] object* annotated(std::string_view key) const;
};

/// An object as an owner.
[[nodiscard]] workload_owner as_owner(object& of);

/// Objects that may own pods, by kind and name. Not for several threads at once: it sorts itself at the first question.
class owner_index {
 public:
  void add(object& of);

  /// The object, or null. With a `uid` it must be that one: an object that has been made again under the same name owns
  /// nothing of the old one.
  [[nodiscard]] object* find(const std::optional<std::string_view>& group, std::string_view kind,
                             std::string_view name_space, std::string_view name, std::string_view uid = {}) const;
  [[nodiscard]] bool has_kind(group_kind of) const;

  /// The owners of a pod, nearest first; the pod itself if it has none. The last one may be known by its reference
  /// alone. Of several owners the controller counts, else the first.
  [[nodiscard]] std::vector<workload_owner> chain_of(object& pod) const;

  /// Whether an MPI job has a launcher that is not being deleted.
  [[nodiscard]] bool has_launcher(std::string_view name_space, std::string_view job) const;

 private:
  void sort() const;

  mutable std::vector<object*> objects_;  ///< by kind, namespace and name once sorted
  mutable bool sorted_ = true;
  std::set<std::pair<std::string_view, std::string_view>> launchers_;  ///< namespace, job
};

}  // namespace kaisched::io::kubernetes
