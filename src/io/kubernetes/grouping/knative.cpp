// Knative: a gang for each revision, or a group for each pod where the configuration of KAI says so.
#include <algorithm>

#include "io/kubernetes/grouping/grouper.hpp"
#include "io/kubernetes/quantity.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr group_kind revision_kind{"serving.knative.dev", "Revision"};
constexpr std::string_view revision_label = "serving.knative.dev/revision";

}  // namespace

std::string choose_revision(workload& of) {
  object* const found = labelled_object(of, revision_kind, revision_label);
  if (found == nullptr) return missing_object(of, revision_kind, revision_label);
  of.owners.push_back(as_owner(*found));
  return {};
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
