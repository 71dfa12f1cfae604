// One member decides about what was sent to it.
#include <algorithm>
#include <new>

#include "federation/federation_impl.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::federation_detail {

namespace {

/// Adds groups to the cluster: all at once, or one by one if some of the rows are bad.
void add_groups(member& at, std::span<const sent_group> sent, member_round& to) {
  std::vector<const group_rows*> rows;
  for (const sent_group& one : sent) {
    if (!one.is_there) rows.push_back(&one.what->rows);
  }
  if (rows.empty()) return;
  result<void> all = at.state->apply(gather(rows, at.dimension));
  if (all) return;
  if (all.failure().code == status::no_memory) throw std::bad_alloc();
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (sent[i].is_there) continue;
    const group_rows* const alone = &sent[i].what->rows;
    const result<void> done = at.state->apply(gather(std::span(&alone, 1), at.dimension));
    if (!done && done.failure().code == status::no_memory) throw std::bad_alloc();
    if (!done) to.wrong[i] = done.failure().message;
  }
}

void take_out(member& at, std::span<const sent_group> sent, const std::vector<bool>& stays, member_round& to) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (!stays[i] && to.wrong[i].empty()) names.emplace_back(sent[i].what->name);
  }
  if (auto done = remove_groups(*at.state, names); !done && !to.failure) to.failure = done.failure();
}

}  // namespace

member_round run_member(member& at, std::span<const sent_group> sent, std::int64_t now) {
  member_round made;
  made.binds.assign(sent.size(), 0);
  made.claims.assign(sent.size(), 0);
  made.wrong.resize(sent.size());
  add_groups(at, sent, made);
  std::vector<bool> was_there;
  for (const sent_group& one : sent) was_there.push_back(one.is_there);
  result<session> decided = at.with->run(at.state->take_snapshot(), now);
  if (!decided) {
    made.failure = decided.failure();
    take_out(at, sent, was_there, made);
    return made;
  }
  const result<std::vector<conflict>> taken = at.state->assume(*decided);
  if (!taken) {
    made.failure = taken.failure();
    take_out(at, sent, was_there, made);
    return made;
  }
  std::map<std::string_view, std::size_t> number;
  for (std::size_t i = 0; i < sent.size(); ++i) number.emplace(sent[i].what->name, i);
  std::map<group_row, std::size_t> by_row;
  std::set<group_row> others;
  std::set<pod_row> claimed;
  for (const decision& d : decided->decisions()) {
    if (d.kind != decision_kind::bind && d.kind != decision_kind::pipeline) continue;
    if (others.contains(d.group)) continue;
    if (!by_row.contains(d.group)) {
      const auto found = number.find(decided->base().group_name(d.group));
      if (found == number.end()) {
        others.insert(d.group);
        continue;
      }
      by_row.emplace(d.group, found->second);
    }
    const bool is_refused =
        std::any_of(taken->begin(), taken->end(), [&](const conflict& one) { return one.commit == d.commit; });
    if (is_refused) continue;
    claimed.insert(d.pod);
    ++(d.kind == decision_kind::bind ? made.binds : made.claims)[by_row.at(d.group)];
  }
  // A group for which an earlier session keeps places is not sent elsewhere.
  const snapshot& before = decided->base();
  for (pod_row p = 0; p < model::state_of(before).pod_slots; ++p) {
    if (!model::state_of(before).pods[p].live || !model::state_of(before).is_nominated(p)) continue;
    if (decided->view().status_of(p) != pod_status::pipelined) continue;
    const auto found = number.find(before.group_name(model::state_of(before).pods[p].group));
    if (found != number.end() && !claimed.contains(p)) ++made.claims[found->second];
  }
  std::vector<bool> stays;
  for (std::size_t i = 0; i < sent.size(); ++i) stays.push_back(made.binds[i] + made.claims[i] > 0);
  take_out(at, sent, stays, made);
  made.decided = std::move(*decided);
  return made;
}

}  // namespace kaisched::federation_detail
