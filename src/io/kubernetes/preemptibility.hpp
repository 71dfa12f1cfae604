#pragma once
/// @file
/// The words of KAI for whether a group may be preempted.

#include <string_view>

#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// Whether it is one of `preemptible`, `semi-preemptible` and `non-preemptible`.
[[nodiscard]] bool is_preemptibility(std::string_view word);

/// What the word says; without such a word the priority of the group decides.
void set_preemptibility(pod_group_record& of, std::string_view word);

}  // namespace kaisched::io::kubernetes
