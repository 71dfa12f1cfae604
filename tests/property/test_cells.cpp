// Random plays of virtual clusters: whatever the others do, each decides as if it were alone with its cells, its places
// are never others' guaranteed ones, and what is not used can still be had. Also after the cluster has been read anew.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "draws.hpp"
#include "schedulers/hived/rules/layout.hpp"
#include "schedulers/hived/rules/ownership.hpp"
#include "schedulers/hived/rules/virtual_clusters.hpp"

namespace kaisched::hived {

namespace {

using test::draw;

/// Racks of equal nodes, and some nodes outside of them.
std::vector<chain> drawn_chains() {
  const int blocks = draw(1, 2);
  const int racks = draw(1, 3);
  const int per_rack = draw(1, 3);
  const int gpus = draw(1, 2) * 2;
  const bool has_sockets = draw(0, 1) == 0;
  std::vector<node_facts> nodes;
  const auto add = [&](std::vector<std::uint32_t> domains, int count) {
    node_facts& made = nodes.emplace_back();
    made.node = static_cast<node_row>(nodes.size() - 1);
    made.domains = std::move(domains);
    for (int d = 0; d < count; ++d)
      made.devices.push_back({static_cast<std::uint32_t>(d), has_sockets ? d / std::max(1, count / 2) : -1, -1});
  };
  for (int b = 0; b < blocks; ++b) {
    for (int r = 0; r < racks; ++r) {
      for (int n = 0; n < per_rack; ++n)
        add({static_cast<std::uint32_t>(b), static_cast<std::uint32_t>(10 + b * racks + r)}, gpus);
    }
  }
  for (int n = draw(0, 3); n > 0; --n) add({}, draw(0, 1) == 0 ? gpus : 2);
  const std::vector<std::string> levels{"block", "rack"};
  return make_chains(levels, nodes);
}

std::vector<cell_counts> drawn_owners(const std::vector<chain>& chains, int clusters) {
  std::int64_t all = 0;
  for (const chain& one : chains) all += static_cast<std::int64_t>(one.gpus.size());
  std::vector<cell_owner> owners;
  for (int i = 0; i < clusters; ++i) {
    std::string name = "q";
    name += std::to_string(i);
    owners.push_back(
        {std::move(name), draw(0, 3) == 0 ? std::int64_t{-1} : std::int64_t{draw(0, static_cast<int>(all))}});
  }
  return cells_by_quota(chains, owners);
}

/// Those of one alone.
std::vector<cell_counts> only(const std::vector<cell_counts>& owned, number cluster) {
  std::vector<cell_counts> left = owned;
  for (number i = 0; i < left.size(); ++i) {
    if (i == cluster) continue;
    for (auto& levels : left[i]) std::ranges::fill(levels, 0U);
  }
  return left;
}

struct running {
  group_facts facts;
  bool guaranteed = true;
  std::vector<std::pair<std::vector<gpu_ref>, std::optional<cell_place>>> pods;
};

/// A cluster in which groups come and go.
class play {
 public:
  play(std::vector<chain> chains, std::vector<cell_counts> owned)
      : chains_(std::move(chains)), owned_(std::move(owned)), now_(chains_, owned_) {}

  virtual_clusters& now() { return now_; }
  const std::map<number, running>& groups() const { return groups_; }

  /// Whom it took the place from; nothing if there is none.
  std::optional<std::vector<number>> start(number group, const request& asked, placement& at) {
    refusal why = refusal::none;
    auto found = now_.place(asked, why);
    if (!found) return std::nullopt;
    std::vector<number> victims = now_.victims(*found);
    running& made = groups_[group];
    made.facts = {asked.cluster, asked.priority, false};
    made.guaranteed = asked.guaranteed;
    for (std::size_t i = 0; i < found->pods.size(); ++i) {
      auto& [gpus, told] = made.pods.emplace_back();
      for (const number gpu : found->pods[i].gpus) gpus.push_back({found->chain, gpu});
      std::ranges::sort(gpus, {}, [&](const gpu_ref& gpu) { return chains_[gpu.chain].gpus[gpu.gpu].device; });
      told = now_.told(*found, i, asked.cluster);
    }
    for (const number victim : victims) {
      now_.release(victim);
      groups_.erase(victim);
    }
    now_.take(group, made.facts, *found);
    at = std::move(*found);
    return victims;
  }

  void stop(number group) {
    now_.release(group);
    groups_.erase(group);
  }

  /// From what is told about the groups alone. False if some group does not get its cells again.
  bool read_anew() {
    now_ = virtual_clusters(chains_, owned_);
    bool all = true;
    for (const auto& [group, one] : groups_) {
      std::vector<virtual_clusters::held_pod> held;
      for (const auto& [gpus, told] : one.pods) held.push_back({gpus, told});
      if (!one.guaranteed) {
        now_.hold_anyway(group, one.facts, held);
      } else {
        all = now_.hold(group, one.facts, held) && all;
      }
    }
    now_.settle();
    return all;
  }

 private:
  std::vector<chain> chains_;
  std::vector<cell_counts> owned_;
  virtual_clusters now_;
  std::map<number, running> groups_;
};

request drawn_request(const std::vector<chain>& chains, number clusters) {
  request made;
  made.cluster = static_cast<number>(draw(0, static_cast<int>(clusters) - 1));
  made.guaranteed = draw(0, 2) != 0;
  made.priority = made.guaranteed ? draw(0, 2) : -1;
  const auto largest = static_cast<int>(chains.front().size[chains.front().node]);
  const int one = draw(1, largest);
  for (int i = draw(0, 2) == 0 ? draw(2, 4) : 1; i > 0; --i)
    made.pods.push_back(static_cast<std::uint32_t>(draw(0, 4) == 0 ? draw(1, largest) : one));
  if (draw(0, 3) == 0) made.within = draw(0, 1) == 0 ? "rack" : "block";
  return made;
}

}  // namespace

TEST_CASE("whatever the others do, a virtual cluster can place what it could place if it were alone") {
  const bool good = rc::check("safety", [] {
    const std::vector<chain> chains = drawn_chains();
    const auto clusters = static_cast<number>(draw(1, 3));
    const std::vector<cell_counts> owned = drawn_owners(chains, static_cast<int>(clusters));
    play shared(chains, owned);
    std::vector<play> alone;
    for (number i = 0; i < clusters; ++i) alone.emplace_back(chains, only(owned, i));
    RC_ASSERT(shared.now().is_safe());
    number next = 0;
    for (int step = draw(5, 40); step > 0; --step) {
      const int what = draw(0, 9);
      if (what == 0) {
        RC_ASSERT(shared.read_anew());
      } else if (what <= 3 && !shared.groups().empty()) {
        auto ends = shared.groups().begin();
        std::advance(ends, draw(0, static_cast<int>(shared.groups().size()) - 1));
        const auto [group, of] = *ends;
        if (of.guaranteed) alone[of.facts.cluster].stop(group);
        shared.stop(group);
      } else {
        const request asked = drawn_request(chains, clusters);
        const number group = next++;
        const std::map<number, running> before = shared.groups();
        placement here;
        const auto victims = shared.start(group, asked, here);
        for (const number victim : victims.value_or(std::vector<number>{})) {
          const running& lost = before.at(victim);
          RC_ASSERT(!lost.guaranteed || (lost.facts.cluster == asked.cluster && lost.facts.priority < asked.priority));
          RC_ASSERT(asked.guaranteed);
        }
        if (asked.guaranteed) {
          placement there;
          const auto private_victims = alone[asked.cluster].start(group, asked, there);
          RC_ASSERT(victims.has_value() == private_victims.has_value());
          for (std::size_t i = 0; i < there.pods.size(); ++i) {
            RC_ASSERT(here.chain == there.chain);
            RC_ASSERT(here.pods[i].virtual_gpus == there.pods[i].virtual_gpus);
          }
        }
      }
      RC_ASSERT(shared.now().is_safe());
    }
  });
  CHECK(good);
}

TEST_CASE("GPUs that have failed are given to nobody, and safety stays") {
  const bool good = rc::check("failures", [] {
    const std::vector<chain> chains = drawn_chains();
    const auto clusters = static_cast<number>(draw(1, 3));
    virtual_clusters all(chains, drawn_owners(chains, static_cast<int>(clusters)));
    std::vector<std::vector<std::uint8_t>> bad;
    for (number k = 0; k < chains.size(); ++k) {
      bad.emplace_back(chains[k].gpus.size(), 0);
      for (number gpu = 0; gpu < chains[k].gpus.size(); ++gpu) {
        if (draw(0, 4) != 0) continue;
        bad[k][gpu] = 1;
        all.spoil({k, gpu});
      }
    }
    all.settle();
    std::vector<std::vector<number>> holder;
    for (const chain& one : chains) holder.emplace_back(one.gpus.size(), nothing);
    std::map<number, bool> guaranteed;
    for (number group = 0; group < 30; ++group) {
      const request asked = drawn_request(chains, clusters);
      refusal why = refusal::none;
      const auto found = all.place(asked, why);
      RC_ASSERT(found.has_value() == (why == refusal::none));
      if (!found) continue;
      for (const number victim : all.victims(*found)) {
        all.release(victim);
        for (auto& of : holder) std::ranges::replace(of, victim, nothing);
      }
      all.take(group, {asked.cluster, asked.priority, false}, *found);
      for (std::size_t i = 0; i < found->pods.size(); ++i) {
        RC_ASSERT(found->pods[i].gpus.size() == asked.pods[i]);
        for (const number gpu : found->pods[i].gpus) {
          RC_ASSERT(bad[found->chain][gpu] == 0);
          RC_ASSERT(holder[found->chain][gpu] == nothing);
          RC_ASSERT(chains[found->chain].gpus[gpu].node == chains[found->chain].gpus[found->pods[i].gpus.front()].node);
          holder[found->chain][gpu] = group;
        }
      }
      RC_ASSERT(all.is_safe());
    }
  });
  CHECK(good);
}

}  // namespace kaisched::hived
