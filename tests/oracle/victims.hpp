#pragma once
/// @file
/// Which sets of victims make room for a group, found by trying all of them: without an order of victims, generators,
/// filters or undo. Written from the rules (docs/rules.md, sections U, S, F, E and K), in integers, as `strict`
/// decides. Sees the public headers only. Pods ask for whole devices, and groups have one pod set each.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <kaisched/options.hpp>

#include "oracle/shares.hpp"
#include "oracle/world.hpp"

namespace kaisched::oracle {

enum class evicting : std::uint8_t { reclaim, preempt, consolidation };

/// What a group loses at once.
struct victim_unit {
  std::size_t group = nobody;
  std::vector<std::size_t> pods;
  bool core = false;  ///< its gang, which goes last

  friend bool operator==(const victim_unit&, const victim_unit&) = default;
};
/// The units of one group, in the order in which it loses them.
using victim_chain = std::vector<victim_unit>;

/// Whether a set is a solution. Where units are judged one by one their order can decide (F7): then both may be right.
enum class verdict : std::uint8_t { no, depends, yes };

/// What owners lose: for each priority from the highest down GPUs, cores and pods, then how old their groups are.
struct loss {
  std::map<std::int64_t, std::array<std::int64_t, 3>, std::greater<>> by_priority;
  std::vector<std::int64_t> starts;  ///< ascending

  [[nodiscard]] bool is_nothing() const { return by_priority.empty(); }
  [[nodiscard]] bool is_less_than(const loss& other) const;
};

/// What became of a set that was tried.
struct trial {
  bool placed = false;             ///< the group has a place
  std::vector<std::size_t> lost;   ///< pods that left and found no place
  std::vector<std::size_t> moved;  ///< and found another one
  loss cost;                       ///< of units with such pods
  verdict accepted = verdict::no;
  std::vector<pod_state> states;  ///< afterwards, if the group was placed

  /// It is a solution, perhaps, after which everybody is here.
  [[nodiscard]] bool leads_to(const std::vector<pod_state>& outcome) const;
};

/// Where everybody is, and what nodes and queues hold because of that.
struct scene {
  std::vector<pod_state> states;
  std::vector<std::vector<std::int64_t>> idle;  ///< by node
  std::vector<std::vector<std::int64_t>> coming;
  std::vector<figures> queues;
};

/// Calls `visit` with all sets of up to so many units in which no unit is without those that its group loses before,
/// the small ones first, until it says true. Whether it did.
bool each_set(const std::vector<victim_chain>& chains, std::size_t most_units,
              const std::function<bool(const std::vector<victim_unit>&)>& visit);

class victim_oracle {
 public:
  victim_oracle(world w, const policy_options& options, std::int64_t now);

  [[nodiscard]] const world& all() const { return w_; }
  [[nodiscard]] const scene& now() const { return s_; }

  // ---- who asks
  /// Ready, in a leaf queue, with pods that wait.
  [[nodiscard]] bool asks(std::size_t g) const;
  /// What the group wants to start next, in task order.
  [[nodiscard]] std::vector<std::size_t> chunk(std::size_t g) const;
  /// It is not ready (G6): too few of its pods are there or wait.
  [[nodiscard]] bool lacks_pods(std::size_t g) const;
  /// What the action asks before it looks for victims: F1, F2, E3, K1, K4.
  [[nodiscard]] bool may_ask(evicting action, std::size_t g) const;

  // ---- sets
  /// One chain for each group that may lose pods to this one.
  [[nodiscard]] std::vector<victim_chain> chains(evicting action, std::size_t g) const;
  /// Units of these groups, gangs included that are promised more time.
  [[nodiscard]] std::size_t count_units(evicting action, std::size_t g) const;
  /// All of the set leave; the group is placed, then those of them that find a place, in queue order (S18). A set costs
  /// what is lost by it, then the units that are in it.
  [[nodiscard]] trial attempt(evicting action, std::size_t g, std::span<const victim_unit> set) const;
  /// What is decided of it (S25).
  [[nodiscard]] trial decided(evicting action, std::size_t g, std::span<const victim_unit> set) const;
  /// The verdict on losses alone.
  [[nodiscard]] verdict judge(evicting action, std::size_t g, const std::vector<std::size_t>& lost) const;

  /// Of all sets of up to so many units the one that costs least of those that are solutions for certain.
  struct answer {
    std::optional<std::vector<victim_unit>> found;
    loss cost;
    std::size_t tried = 0;
  };
  [[nodiscard]] answer search(evicting action, std::size_t g, const std::vector<victim_chain>& chains,
                              std::size_t most_units) const;

  // ---- what a session decides
  void start(std::size_t p, std::size_t n);
  void claim(std::size_t p, std::size_t n);
  void evict(std::size_t p);
  /// A group that held nothing before starts: its time counts from now.
  void note_start(std::size_t g) { w_.groups[g].last_start = now_; }

  /// The gang of the victim was promised more time before such an action.
  [[nodiscard]] bool is_protected(evicting action, std::size_t mine, std::size_t victim) const;

 private:
  [[nodiscard]] bool may_lose(evicting action, std::size_t g, std::size_t victim) const;
  [[nodiscard]] victim_chain chain_of(std::size_t victim) const;
  void open_queues();
  void charge(scene& s, std::size_t p, std::int64_t sign) const;
  void charge_queues(scene& s, std::size_t p, std::int64_t sign) const;
  static bool counts_for_queues(const pod_state& s);
  void evict(scene& s, std::size_t p) const;
  void put(scene& s, std::size_t p, std::size_t n, pod_status status) const;

  [[nodiscard]] quota_amounts request_of(const std::vector<std::size_t>& pods) const;
  [[nodiscard]] std::int64_t active(const scene& s, std::size_t g) const;
  [[nodiscard]] std::vector<std::size_t> chunk(const scene& s, std::size_t g,
                                               const std::vector<bool>& may_return) const;
  [[nodiscard]] bool queues_refuse(const scene& s, std::size_t g, const quota_amounts& asked) const;
  [[nodiscard]] bool quota_refuses(const scene& s, std::size_t g, const quota_amounts& asked) const;
  [[nodiscard]] bool accepts(std::size_t p, std::size_t n) const;
  [[nodiscard]] bool fits(const scene& s, std::size_t p, std::size_t n, bool with_coming) const;
  [[nodiscard]] std::size_t best_node(const scene& s, std::size_t p) const;
  bool place(scene& s, std::size_t g, const std::vector<std::size_t>& pods, const std::vector<bool>& gone) const;
  void place_lost(scene& s, std::size_t g, const std::vector<bool>& gone) const;
  [[nodiscard]] int filling(const scene& s, std::size_t g) const;
  [[nodiscard]] std::size_t next_leaf(const scene& s, std::size_t parent, const std::vector<std::size_t>& best,
                                      const std::vector<quota_amounts>& asked) const;
  void place_again(scene& s, std::vector<std::size_t> groups, const std::vector<bool>& gone, bool own_first) const;
  void bring_back(scene& s, std::size_t g, const std::vector<bool>& gone) const;
  [[nodiscard]] trial attempt(evicting action, std::size_t g, std::span<const victim_unit> set, bool own_first) const;
  [[nodiscard]] bool moves_too_much(std::size_t g, const trial& made) const;

  [[nodiscard]] std::vector<std::size_t> path(std::size_t q) const;
  [[nodiscard]] std::pair<std::size_t, std::size_t> parting(std::size_t mine, std::size_t theirs) const;
  [[nodiscard]] bool may_go(std::size_t mine, const quota_amounts& asked, std::size_t theirs, const quota_amounts& unit,
                            const quota_amounts& held) const;
  [[nodiscard]] std::int64_t kept_quota(std::size_t queue, std::size_t r) const;
  [[nodiscard]] verdict judge_reclaim(std::size_t g, const std::vector<std::size_t>& lost) const;
  [[nodiscard]] bool stays_entitled(std::size_t g, const std::vector<std::size_t>& lost) const;
  [[nodiscard]] bool starts_before(std::size_t g, std::span<const victim_unit> set,
                                   const std::vector<std::size_t>& lost) const;
  [[nodiscard]] bool less_saturated_after(std::size_t g, const std::vector<std::size_t>& lost) const;

  world w_;
  policy_options o_;
  std::int64_t now_ = 0;
  std::set<std::size_t> placed_here_;  ///< pods that the session has given a place
  quota_amounts total_{};
  std::vector<std::vector<bool>> accepts_;  ///< by pod and node
  scene s_;
};

}  // namespace kaisched::oracle
