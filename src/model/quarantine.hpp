#pragma once
/// @file
/// Rows of the input that were left out, and why: data of a cluster like any other, but no part of its digest.

#include <compare>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::model {

/// The name under which an object is in quarantine: what no name may hold is replaced, what is too long is cut.
[[nodiscard]] std::string clean_name(std::string_view name);

/// Names an object, whether it exists or not. Names are clean.
struct quarantine_key {
  table_kind kind = table_kind::pod;
  std::string owner;  ///< group of a sub-group, node of a device or zone
  std::string name;
  friend auto operator<=>(const quarantine_key&, const quarantine_key&) = default;
  friend bool operator==(const quarantine_key&, const quarantine_key&) = default;
};

/// "queue research", "sub_group train/workers".
[[nodiscard]] std::string text_of(const quarantine_key& key);

struct quarantine_entry {
  std::string column;
  status code = status::argument;
  std::string text;
  std::string because_of;
  bool present = false;    ///< there is an object of this name
  bool stands_in = false;  ///< and it is a pod that only holds what the left-out pod holds
};

/// In the order of kinds, owners and names.
using quarantine_list = std::map<quarantine_key, std::shared_ptr<const quarantine_entry>>;

[[nodiscard]] table export_quarantine(const quarantine_list& list);
[[nodiscard]] result<quarantine_list> read_quarantine(const table_view& view);

}  // namespace kaisched::model
