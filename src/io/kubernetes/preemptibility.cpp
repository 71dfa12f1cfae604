#include "io/kubernetes/preemptibility.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// Below it groups are preemptible unless they say otherwise.
constexpr std::int64_t first_non_preemptible_priority = 100;

}  // namespace

bool is_preemptibility(std::string_view word) {
  return word == "preemptible" || word == "semi-preemptible" || word == "non-preemptible";
}

void set_preemptibility(pod_group_record& of, std::string_view word) {
  of.preemptible = is_preemptibility(word) ? word == "preemptible" : of.priority < first_non_preemptible_priority;
  of.semi_preemptible = word == "semi-preemptible";
}

}  // namespace kaisched::io::kubernetes
