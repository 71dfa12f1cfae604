// What becomes of entries that name groups which leave.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "model/dependencies.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

/// What a delta has taken from a group.
struct loss {
  bool pods = false;
  bool ended = true;      ///< all of them had succeeded or failed
  bool succeeded = true;  ///< all of them had succeeded
  bool group = false;     ///< the group itself
};

}  // namespace

/// Groups that end leave, their pods first: whoever comes after them must not wait for the word of somebody who is
/// gone. A group whose pods, those that have just left included, have all ended has ended for good; one that leaves
/// before has not succeeded. Seen at the end of the delta, so the order of rows says nothing.
void edit::settle_dependencies() {
  if (s_.dependent_groups == 0 || (lost_pods_.empty() && lost_groups_.empty())) return;
  std::map<std::string_view, loss> losses;
  for (const lost_pod& one : lost_pods_) {
    loss& of = losses[one.group];
    of.pods = true;
    of.ended = of.ended && (one.status == pod_status::succeeded || one.status == pod_status::failed);
    of.succeeded = of.succeeded && one.status == pod_status::succeeded;
  }
  for (const std::string_view name : lost_groups_) losses[name].group = true;
  std::map<std::string_view, bool> succeeded;  // groups about which all has been said
  for (const auto& [name, lost] : losses) {
    const std::uint32_t g = names_.groups.find(name);
    const bool exists = g != base::name_map::none;
    if (exists && lost.group) continue;  // the delta has put another one in its place
    bool all_ended = lost.pods && lost.ended;
    bool all_succeeded = all_ended && lost.succeeded;
    if (exists && !pods_of(g).empty()) {
      const group_progress left = progress_of(s_, g);
      all_ended = all_ended && left.ended;
      all_succeeded = all_succeeded && left.succeeded;
    }
    if (all_ended || !exists) succeeded.emplace(name, all_succeeded);
  }
  if (succeeded.empty()) return;
  for (group_row g = 0; g < s_.group_slots; ++g) {
    if (s_.groups[g].live && !s_.group_extras[g].after.empty()) settle_entries(g, succeeded);
  }
}

/// Fulfilled entries go, those that cannot be fulfilled any more say so.
void edit::settle_entries(group_row g, const std::map<std::string_view, bool>& succeeded) {
  const std::string_view before = s_.group_extras[g].after;
  std::vector<std::string> kept;
  bool changes = false;
  for (const std::string_view text : split_list(before)) {
    const after_entry one = *parse_after(text);  // read when the row was
    const auto known = one.never ? succeeded.end() : succeeded.find(one.group);
    if (known == succeeded.end()) {
      kept.emplace_back(text);
      continue;
    }
    changes = true;
    const bool never = known->second ? one.kind == dependency_kind::failed : one.kind == dependency_kind::ok;
    if (never) kept.push_back("never:" + one.group);
  }
  if (!changes) return;
  discard(before);
  if (kept.empty()) --s_.dependent_groups;
  s_.group_extras.write(g).after = s_.names->add(join_list(std::span<const std::string>(kept)));
  touch(g);
}

}  // namespace kaisched::model
