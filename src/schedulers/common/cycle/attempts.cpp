#include "schedulers/common/cycle/attempts.hpp"

#include "actions/victim_units.hpp"
#include "framework/members.hpp"

namespace kaisched::schedulers {

bool begin_attempt(framework::session_state& c, group_row group) {
  ++c.results.statistics.back().groups_tried;
  return framework::count_pods(c, group, &model::sub_counts::holding) > 0;
}

void note_failure(framework::session_state& c, group_row group, pod_row pod, constraint what) {
  framework::failure why;
  why.group = group;
  why.pod = pod;
  why.what = what;
  c.results.failures.push_back(why);
}

void evict_group(framework::session_state& c, group_row group) {
  for (const pod_row pod : actions::pods_of(c, group)) {
    if (framework::is_active(c, pod)) c.statement.evict(pod);
  }
}

void unit_losses::expect(pod_row pod) {
  const group_row group = c_.state().pods[pod].group;
  if (group != no_row) broken_.try_emplace(group, actions::unit_remains(c_, group).size());
}

void unit_losses::evict(pod_row pod) {
  if (framework::is_active(c_, pod)) c_.statement.evict(pod);
}

void unit_losses::evict_rest() {
  for (const auto& [group, before] : broken_) actions::evict_unit_remains(c_, group, before);
}

}  // namespace kaisched::schedulers
