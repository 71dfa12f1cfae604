#include "actions/victim_judges.hpp"

#include "framework/members.hpp"

namespace kaisched::actions {

result<void> victim_judges::ask(group_row waiting) {
  if (!used()) return {};
  std::vector<group_row> groups;
  for (group_row g = 0; g < c_.state().group_slots; ++g) {
    if (g != waiting && c_.state().groups[g].live && framework::count_pods(c_, g, &model::sub_counts::active_used) > 0)
      groups.push_back(g);
  }
  spared_.assign(c_.state().group_slots, 0);
  std::vector<std::uint8_t> said;
  for (const auto& part : c_.parts) {
    if ((part->capabilities() & part_judges_victims) == 0) continue;
    said.assign(groups.size(), 0);
    if (auto done = part->judge_victims(c_.view(), c_.run.action, waiting, groups, said); !done) return done;
    for (std::size_t i = 0; i < groups.size(); ++i) spared_[groups[i]] |= said[i];
  }
  return {};
}

}  // namespace kaisched::actions
