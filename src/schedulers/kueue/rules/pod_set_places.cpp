// All pod sets of a workload: leaders beside their workers, lost hosts, workloads that grow and shrink.

#include <algorithm>
#include <numeric>

#include "schedulers/kueue/rules/domain_ledger.hpp"

namespace kaisched::kueue {

namespace {

std::int64_t pods_in(const domain_assignment& all) {
  return std::accumulate(all.places.begin(), all.places.end(), std::int64_t{0},
                         [](std::int64_t sum, const placed_pods& one) { return sum + one.count; });
}

bool is_stale(const domain_ledger& ledger, const domain_assignment& all) {
  return std::ranges::any_of(all.places,
                             [&](const placed_pods& one) { return ledger.leaf_of(one.values) == domain_ledger::none; });
}

class pod_set_placer {
 public:
  pod_set_placer(const domain_ledger& ledger, const std::vector<pod_set_places>& sets, assumed_usage& assumed,
                 bool as_if_empty, const place_rules& rules)
      : ledger_(ledger), sets_(sets), assumed_(assumed), as_if_empty_(as_if_empty), rules_(rules), made_(sets.size()) {}

  std::vector<placed_set> run(const std::string& lost, bool keep_existing) {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      const auto same = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& one) {
        return !sets_[i].group.empty() && sets_[one.front()].group == sets_[i].group;
      });
      (same == groups.end() ? groups.emplace_back() : *same).push_back(i);
    }
    for (const std::vector<std::size_t>& group : groups) {
      if (!(lost.empty() ? place(group) : replace(group, lost, keep_existing))) break;
    }
    return std::move(made_);
  }

 private:
  void put(std::size_t set, domain_assignment places) {
    assume(assumed_, places, sets_[set].request.requests, rules_.pods_resource);
    made_[set].looked_at = true;
    made_[set].places = std::move(places);
  }

  bool fail(std::size_t set, const place_failure& why) {
    made_[set].looked_at = true;
    made_[set].failure = why;
    return false;
  }

  bool replace(const std::vector<std::size_t>& group, const std::string& lost, bool keep_existing) {
    for (const std::size_t set : group) {
      if (!sets_[set].existing) continue;
      if (keep_existing) {
        made_[set].looked_at = true;
        made_[set].places = *sets_[set].existing;
        continue;
      }
      found_replacement found =
          find_replacement(ledger_, sets_[set].request, *sets_[set].existing, lost, assumed_, rules_);
      if (found.failure) return fail(set, found.failure);
      assume(assumed_, found.replaced, sets_[set].request.requests, rules_.pods_resource);
      made_[set].looked_at = true;
      made_[set].places = std::move(found.all);
    }
    return true;
  }

  /// The set with more pods are the workers; of equal ones the first.
  bool place(const std::vector<std::size_t>& group) {
    std::size_t workers = group.front();
    std::optional<std::size_t> leader;
    if (group.size() > 1) {
      leader = group[1];
      if (sets_[*leader].request.count > sets_[workers].request.count) std::swap(*leader, workers);
    }
    if (const std::optional<bool> kept = keep_previous(workers, leader)) return *kept;
    found_places found = find_places(ledger_, sets_[workers].request, leader ? &sets_[*leader].request : nullptr,
                                     assumed_, as_if_empty_, rules_);
    if (found.failure) {
      for (const std::size_t set : group) (void)fail(set, found.failure);
      return false;
    }
    put(workers, std::move(found.workers));
    if (leader) put(*leader, std::move(found.leader));
    return true;
  }

  /// Pods of the slice before stay where they are; only what is more than before finds new places. Empty if there is
  /// no such slice, or its places are gone.
  std::optional<bool> keep_previous(std::size_t workers, const std::optional<std::size_t>& leader) {
    const std::optional<domain_assignment>& before = sets_[workers].previous;
    if (!before || is_stale(ledger_, *before)) return std::nullopt;
    const domain_assignment* of_leader = leader && sets_[*leader].previous ? &*sets_[*leader].previous : nullptr;
    if (of_leader != nullptr && is_stale(ledger_, *of_leader)) return std::nullopt;
    const std::int64_t held = pods_in(*before);
    const std::int64_t asked = sets_[workers].request.count;
    if (asked <= held) {
      put(workers, asked < held ? truncated(*before, asked) : *before);
      if (leader) put(*leader, of_leader != nullptr ? *of_leader : domain_assignment{});
      return true;
    }
    assume(assumed_, *before, sets_[workers].request.requests, rules_.pods_resource);
    if (of_leader != nullptr) put(*leader, *of_leader);
    place_request more = sets_[workers].request;
    more.count = asked - held;
    const place_request* beside = leader && of_leader == nullptr ? &sets_[*leader].request : nullptr;
    found_places found = find_places(ledger_, more, beside, assumed_, as_if_empty_, rules_);
    if (found.failure) {
      if (leader) made_[*leader] = {};
      return fail(workers, found.failure);
    }
    if (beside != nullptr) put(*leader, std::move(found.leader));
    assume(assumed_, found.workers, sets_[workers].request.requests, rules_.pods_resource);
    made_[workers].looked_at = true;
    made_[workers].places = merged(ledger_, found.workers, *before);
    return true;
  }

  const domain_ledger& ledger_;
  const std::vector<pod_set_places>& sets_;
  assumed_usage& assumed_;
  bool as_if_empty_;
  const place_rules& rules_;
  std::vector<placed_set> made_;
};

}  // namespace

std::vector<placed_set> place_pod_sets(const domain_ledger& ledger, const std::vector<pod_set_places>& sets,
                                       const std::string& lost, bool keep_existing, assumed_usage& assumed,
                                       bool as_if_empty, const place_rules& rules) {
  return pod_set_placer(ledger, sets, assumed, as_if_empty, rules).run(lost, keep_existing);
}

}  // namespace kaisched::kueue
