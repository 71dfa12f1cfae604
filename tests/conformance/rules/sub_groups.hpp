#pragma once
/// @file
/// Which pods of a gang form a sub-group, and what it is called.
///
/// Source: Volcano (pkg/scheduler/api/job_info.go, sub_job_info.go).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/selector.hpp"

namespace kaisched::policy {

/// How pods of a gang form sub-groups of equals: those that the selector takes, by the values of some labels.
struct sub_group_rule {
  std::optional<model::selector> pods;
  std::vector<std::string> label_keys;
};
/// The values that say which sub-group a pod belongs to; nullopt: none, by selector or for lack of a label.
[[nodiscard]] std::optional<std::vector<std::string>> sub_group_values(const sub_group_rule& rule,
                                                                       const model::label_list& labels);

/// The place of a sub-group among its equals: its first value if that is a whole number, else 0.
[[nodiscard]] std::int64_t sub_group_place(std::span<const std::string> values);
/// Its name: values longer than a name may be are not joined but refused (nullopt).
[[nodiscard]] std::optional<std::string> sub_group_name(std::string_view gang, std::string_view rule,
                                                        std::span<const std::string> values);

}  // namespace kaisched::policy
