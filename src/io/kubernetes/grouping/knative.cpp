// Knative: a gang for each revision, or a group for each pod where the configuration of KAI says so.
#include <algorithm>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"
#include "io/kubernetes/quantity.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr group_kind revision_kind{"serving.knative.dev", "Revision"};
constexpr std::string_view revision_label = "serving.knative.dev/revision";

}  // namespace

std::string choose_revision(workload& of) {
  const auto name = of.pod.label(revision_label);
  object* const found =
      name ? of.objects.find(revision_kind.group, revision_kind.kind, of.pod.name_space(), *name) : nullptr;
  if (found != nullptr) {
    of.owners.push_back(as_owner(*found));
    return {};
  }
  // As with other owners that cannot be read: without any revision in the text each pod stands alone.
  if (!of.objects.has_kind(revision_kind)) return {};
  return name ? fmt::format("its Revision {} is not among the objects", *name)
              : fmt::format("label {} is missing", revision_label);
}

std::string place_revision(const workload& of, placement& to) {
  const bool known = of.top().is(revision_kind) && of.top().found != nullptr;
  return known && of.chosen.gang_revisions ? std::string{} : place_alone(of, to);
}

std::string shape_revision(const workload& of, group_shape& to) {
  if (!of.chosen.gang_revisions) return {};
  const std::string_view least = of.top().annotation("autoscaling.knative.dev/min-scale").value_or("");
  to.min_member = std::clamp<std::int64_t>(whole_number(least).value_or(1), 0, max_group_size);
  return {};
}

}  // namespace kaisched::io::kubernetes
