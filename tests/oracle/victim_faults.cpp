#include "oracle/victim_faults.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <kaisched/engine.hpp>

#include "oracle/victims.hpp"
#include "policy/access.hpp"

namespace kaisched::oracle {

namespace {

constexpr std::size_t largest_searched = 10;  ///< units, of which all sets are tried
constexpr std::size_t always_searched = 4;    ///< units in a set, however many there are
constexpr std::size_t most_nodes = 6;

struct names {
  std::map<std::string, std::size_t> pods, groups, nodes;
  explicit names(const world& w) {
    for (std::size_t i = 0; i < w.pods.size(); ++i) pods[w.pods[i].name] = i;
    for (std::size_t i = 0; i < w.groups.size(); ++i) groups[w.groups[i].name] = i;
    for (std::size_t i = 0; i < w.nodes.size(); ++i) nodes[w.nodes[i].name] = i;
  }
};

class checker {
 public:
  checker(const snapshot& from, const policy_options& o, std::int64_t now)
      : o_(o), oracle_(read_world(from), o, now), names_(oracle_.all()) {
    const std::string& last = o.actions.back();
    action_ = last == "reclaim" ? evicting::reclaim : last == "preempt" ? evicting::preempt : evicting::consolidation;
  }

  victim_report failed(const std::string& message) {
    report_.overdrawn = overdrawn();
    report_.faults.push_back("error: " + message);
    return std::move(report_);
  }

  /// `starts`: what the session had decided after its first action.
  victim_report check(const session& s, const std::vector<decision>& starts) {
    report_.overdrawn = overdrawn();
    std::vector<std::vector<decision>> commits;
    for (const decision& d : s.decisions()) {
      if (commits.empty() || commits.back().front().commit != d.commit) commits.emplace_back();
      commits.back().push_back(d);
    }
    const bool stands =
        starts.size() <= s.decisions().size() && std::equal(starts.begin(), starts.end(), s.decisions().begin());
    if (strict() && (!stands || was_taken_back(s, commits))) {
      ++report_.netted;
      return std::move(report_);
    }
    std::size_t next = 0;
    for (; next < commits.size() && commits[next].front().action == action_kind::allocate; ++next) {
      apply_starts(s, commits[next]);
    }
    std::vector<bool> asks(world().groups.size());
    for (std::size_t g = 0; g < asks.size(); ++g) asks[g] = oracle_.asks(g);
    for (const eviction_attempt& attempt : s.attempts()) {
      const std::size_t g = names_.groups.at(std::string(s.view().group_name(attempt.group)));
      if (!asks[g]) fault("attempts", g, "is told about though it does not ask, or twice");
      asks[g] = false;
      if (attempt.outcome != attempt_outcome::placed) {
        waits(g, attempt.outcome);
      } else if (next == commits.size()) {
        fault("attempts", g, "is said to be placed, and no commit says where");
      } else {
        takes(g, commits[next++], s);
      }
    }
    for (std::size_t g = 0; g < asks.size(); ++g) {
      if (asks[g]) fault("attempts", g, "asks, and nothing is told about it");
    }
    if (next != commits.size()) report_.faults.emplace_back("beneficiary: a commit is for no group that asked");
    return std::move(report_);
  }

  /// Some action took back what an earlier one had given: the commits are not those that were made one after the other.
  [[nodiscard]] static bool was_taken_back(const session& s, const std::vector<std::vector<decision>>& commits) {
    const auto placed = static_cast<std::size_t>(std::ranges::count_if(
        s.attempts(), [](const eviction_attempt& one) { return one.outcome == attempt_outcome::placed; }));
    std::size_t others = 0;
    bool starts = false;
    bool joined = false;
    for (const std::vector<decision>& commit : commits) {
      if (commit.front().action == action_kind::allocate) continue;
      ++others;
      starts = starts || std::ranges::any_of(commit, [](const decision& d) { return d.kind == decision_kind::bind; });
      // A commit that was made in one go names its victims first; one that took in another's evictions does not.
      const auto placed_first =
          std::ranges::find_if(commit, [](const decision& d) { return d.kind != decision_kind::evict; });
      joined = joined || std::any_of(placed_first, commit.end(),
                                     [](const decision& d) { return d.kind == decision_kind::evict; });
    }
    return starts || joined || others != placed || policy::inside(s.view()).was_netted;
  }

 private:
  [[nodiscard]] const oracle::world& world() const { return oracle_.all(); }
  [[nodiscard]] bool strict() const { return o_.mode == decision_mode::strict; }
  void fault(const std::string& what, std::size_t g, const std::string& text) {
    report_.faults.push_back(what + ": " + world().groups[g].name + " " + text);
  }
  [[nodiscard]] std::string names_of(const std::vector<victim_unit>& set) const {
    std::string text;
    for (const victim_unit& unit : set) {
      text += " (";
      for (const std::size_t p : unit.pods) text += (text.back() == '(' ? "" : " ") + world().pods[p].name;
      text += ")";
    }
    return text.empty() ? " nobody" : text;
  }
  /// Some node holds more than it has.
  [[nodiscard]] bool overdrawn() const {
    for (std::size_t p = 0; p < world().pods.size(); ++p) {
      const std::size_t n = oracle_.now().states[p].node;
      if (n == nobody) continue;
      for (std::size_t d = 0; d < world().dimensions; ++d) {
        const bool lacks = world().pods[p].request[d] > 0 && world().nodes[n].capacity[d] == 0;
        if (lacks || oracle_.now().idle[n][d] < 0) return true;
      }
    }
    return false;
  }
  std::size_t pod(const session& s, const decision& d) const {
    return names_.pods.at(std::string(s.base().pod_name(d.pod)));
  }
  std::size_t node(const session& s, const decision& d) const {
    return names_.nodes.at(std::string(s.base().node_name(d.node)));
  }

  void apply_starts(const session& s, const std::vector<decision>& commit) {
    const std::size_t g = world().pods[pod(s, commit.front())].group;
    const auto holds = [&](const pod_state& state) {
      return state.status == pod_status::allocated || state.status == pod_status::binding ||
             state.status == pod_status::bound || state.status == pod_status::running;
    };
    bool had_started = false;
    for (std::size_t p = 0; p < world().pods.size(); ++p) {
      had_started = had_started || (world().pods[p].group == g && holds(oracle_.now().states[p]));
    }
    bool starts = false;
    for (const decision& d : commit) {
      if (d.kind == decision_kind::bind) {
        oracle_.start(pod(s, d), node(s, d));
        starts = true;
      } else {
        oracle_.claim(pod(s, d), node(s, d));
      }
    }
    if (starts && !had_started) oracle_.note_start(g);
  }

  /// All sets can be tried, and are.
  [[nodiscard]] bool is_small(std::size_t g) const {
    return oracle_.count_units(action_, g) <= largest_searched && world().nodes.size() <= most_nodes;
  }

  // ---- groups that were not placed

  void waits(std::size_t g, attempt_outcome why) {
    const bool gate = why == attempt_outcome::over_share || why == attempt_outcome::over_quota ||
                      why == attempt_outcome::too_few_gpus || why == attempt_outcome::not_preemptible;
    if (strict() && oracle_.lacks_pods(g)) return;  // it has lost some in this session
    if (!oracle_.may_ask(action_, g)) return;
    if (gate) {
      if (strict()) fault("gate", g, "may ask, and the engine says " + std::string(attempt_outcome_name(why)));
      return;
    }
    ++report_.groups;
    const std::vector<victim_chain> chains = oracle_.chains(action_, g);
    if (chains.empty()) return;
    const victim_oracle::answer best =
        oracle_.search(action_, g, chains, is_small(g) ? largest_searched : always_searched);
    report_.sets += best.tried;
    if (!best.found) return;
    ++report_.missed;
    if (strict()) {
      fault("missed", g,
            "waits (" + std::string(attempt_outcome_name(why)) + "), these would make room:" + names_of(*best.found));
    }
  }

  // ---- groups that were

  void takes(std::size_t g, const std::vector<decision>& commit, const session& s) {
    ++report_.groups;
    ++report_.placed;
    std::vector<std::size_t> victims;
    std::vector<std::size_t> claims;
    for (const decision& d : commit) {
      const std::size_t p = pod(s, d);
      if (d.kind == decision_kind::evict || d.kind == decision_kind::move) victims.push_back(p);
      if (d.kind == decision_kind::pipeline && world().pods[p].group == g) claims.push_back(p);
      if (d.kind == decision_kind::bind) fault("claims", g, "starts a pod: " + world().pods[p].name);
    }
    report_.evicting += victims.empty() ? 0U : 1U;
    std::sort(claims.begin(), claims.end());
    std::vector<std::size_t> chunk = oracle_.chunk(g);
    std::sort(chunk.begin(), chunk.end());
    if (strict() ? claims != chunk : claims.empty()) fault("beneficiary", g, "has not got its chunk");
    promises(g, victims);
    if (strict()) smallest(g, commit, s);
    apply(g, commit, s);
  }

  /// Whoever loses or leaves its place may do so.
  void promises(std::size_t g, const std::vector<std::size_t>& victims) {
    std::map<std::size_t, std::int64_t> taken;
    for (const std::size_t p : victims) ++taken[world().pods[p].group];
    for (const auto& [v, count] : taken) {
      const group& it = world().groups[v];
      const member& pods = it.tree.at(1);
      const auto active = std::count_if(pods.pods.begin(), pods.pods.end(), [&](std::size_t p) {
        return oracle_.now().states[p].status != pod_status::pending;  // as in the reference leaving ones count
      });
      const bool whole = active - count < pods.min;
      if (!it.preemptible) fault("promise", g, "takes of " + it.name + ", which cannot be preempted");
      if (whole && oracle_.is_protected(action_, g, v)) {
        fault("promise", g, "takes of the gang of " + it.name + ", which was promised to run longer");
      }
    }
  }

  /// The outcome is that of a set, and no set does it at less cost.
  void smallest(std::size_t g, const std::vector<decision>& commit, const session& s) {
    const std::vector<victim_chain> chains = oracle_.chains(action_, g);
    std::vector<pod_state> outcome = oracle_.now().states;
    std::vector<std::size_t> lost;
    std::vector<std::size_t> victims;
    for (const decision& d : commit) {
      const std::size_t p = pod(s, d);
      const bool leaves = d.kind == decision_kind::evict;
      outcome[p].status = leaves ? pod_status::releasing : pod_status::pipelined;
      if (!leaves) outcome[p].node = node(s, d);
      if (leaves) lost.push_back(p);
      if (d.kind != decision_kind::pipeline) victims.push_back(p);
    }
    const std::vector<victim_unit> touched = units_of(chains, victims);
    std::size_t found = 0;
    for (const victim_unit& unit : touched) {
      found += static_cast<std::size_t>(std::count_if(unit.pods.begin(), unit.pods.end(), [&](std::size_t p) {
        return std::find(victims.begin(), victims.end(), p) != victims.end();
      }));
    }
    if (found != victims.size()) return fault("candidates", g, "takes pods that it may not take");
    if (oracle_.judge(action_, g, lost) == verdict::no) {
      fault("verdict", g, "takes what it may not take:" + names_of(touched));
    }
    if (victims.empty()) return;
    if (oracle_.attempt(action_, g, {}).accepted == verdict::yes) {
      return fault("needless", g, "needs nobody and takes" + names_of(touched));
    }
    // Units that came back to their own places are in no decision.
    const auto explains = [&](const std::vector<victim_unit>& set) {
      const bool all = std::all_of(touched.begin(), touched.end(), [&](const victim_unit& unit) {
        return std::find(set.begin(), set.end(), unit) != set.end();
      });
      return all && oracle_.decided(action_, g, set).leads_to(outcome);
    };
    std::optional<std::vector<victim_unit>> taken;
    if (explains(touched)) {
      taken = touched;
    } else if (is_small(g)) {
      (void)each_set(chains, largest_searched, [&](const std::vector<victim_unit>& set) {
        if (explains(set)) taken = set;
        return taken.has_value();
      });
      if (!taken) return fault("solution", g, "no set has this outcome; touched are" + names_of(touched));
    }
    if (taken) cheapest(g, chains, *taken);
  }

  /// What its units and those before them in their chains are.
  [[nodiscard]] static std::vector<victim_unit> units_of(const std::vector<victim_chain>& chains,
                                                         const std::vector<std::size_t>& pods) {
    std::vector<victim_unit> set;
    for (const victim_chain& chain : chains) {
      std::size_t length = 0;
      for (std::size_t i = 0; i < chain.size(); ++i) {
        const bool mine = std::any_of(chain[i].pods.begin(), chain[i].pods.end(), [&](std::size_t p) {
          return std::find(pods.begin(), pods.end(), p) != pods.end();
        });
        if (mine) length = i + 1;
      }
      set.insert(set.end(), chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(length));
    }
    return set;
  }

  void cheapest(std::size_t g, const std::vector<victim_chain>& chains, const std::vector<victim_unit>& set) {
    const loss lost = oracle_.attempt(action_, g, set).cost;
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (i + 1 < set.size() && set[i + 1].group == set[i].group) continue;  // the last ones of their chains
      std::vector<victim_unit> less = set;
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i));
      const trial one = oracle_.attempt(action_, g, less);
      if (one.accepted != verdict::yes || lost.is_less_than(one.cost)) continue;
      return fault("minimal", g, "takes" + names_of(set) + ", enough would be" + names_of(less));
    }
    if (!is_small(g)) return;
    const victim_oracle::answer best = oracle_.search(action_, g, chains, largest_searched);
    report_.sets += best.tried;
    if (!best.found) return;
    const bool same = !best.cost.is_less_than(lost) && !lost.is_less_than(best.cost);
    if (best.cost.is_less_than(lost) || (same && best.found->size() < set.size())) {
      fault("cheapest", g, "takes" + names_of(set) + ", enough would be" + names_of(*best.found));
    }
  }

  void apply(std::size_t g, const std::vector<decision>& commit, const session& s) {
    const scene before = oracle_.now();
    std::vector<std::size_t> evicted;
    for (const decision& d : commit) {
      const std::size_t p = pod(s, d);
      const pod_status status = oracle_.now().states[p].status;
      if (d.kind == decision_kind::evict) {
        const bool twice = std::find(evicted.begin(), evicted.end(), p) != evicted.end();
        if (twice && strict()) fault("twice", g, "evicts " + world().pods[p].name + " twice");
        evicted.push_back(p);
        defect_ = defect_ || twice;
      }
      if (d.kind != decision_kind::pipeline && status != pod_status::releasing) oracle_.evict(p);
      if (d.kind != decision_kind::evict) oracle_.claim(p, node(s, d));
    }
    if (defect_ && !strict()) {
      ++report_.defects;
      return;
    }
    if (strict()) whole_gangs(g, commit, before, s);
    // KAI takes a pod that has moved for being at home on both nodes.
    defect_ =
        std::any_of(commit.begin(), commit.end(), [](const decision& d) { return d.kind == decision_kind::move; });
    const scene& after = oracle_.now();
    for (std::size_t n = 0; n < after.idle.size(); ++n) {
      for (std::size_t d = 0; d < after.idle[n].size(); ++d) {
        const std::int64_t left = after.idle[n][d] + after.coming[n][d];
        if (left < 0 && left < before.idle[n][d] + before.coming[n][d]) {
          fault("node", g, "overdraws " + world().nodes[n].name);
        }
      }
    }
    for (std::size_t q = 0; q < after.queues.size(); ++q) {
      const queue& it = world().queues[q];
      const auto passes = [&](const quota_amounts& now, const quota_amounts& was, const quota_amounts& bound) {
        for (std::size_t r = 0; r < quota_dimensions; ++r) {
          if (bound[r] != unlimited && now[r] > bound[r] && now[r] > was[r]) return true;
        }
        return false;
      };
      if (passes(after.queues[q].allocated, before.queues[q].allocated, it.limit)) {
        fault("limit", g, "takes " + it.name + " above its limit");
      }
      if (passes(after.queues[q].nonpreemptible, before.queues[q].nonpreemptible, it.quota)) {
        fault("quota", g, "takes " + it.name + " above the quota for what cannot be preempted");
      }
    }
  }

  /// Who loses pods keeps its gang or nothing. `compat` may take a gang whose surplus came back in an earlier trial
  /// (S9).
  void whole_gangs(std::size_t g, const std::vector<decision>& commit, const scene& before, const session& s) {
    for (const decision& d : commit) {
      const std::size_t v = world().pods[pod(s, d)].group;
      if (d.kind != decision_kind::evict) continue;
      const auto has = [&](const scene& when) {
        const std::vector<std::size_t>& pods = world().groups[v].tree.at(1).pods;
        return std::count_if(pods.begin(), pods.end(), [&](std::size_t p) {
          const pod_status status = when.states[p].status;
          return status != pod_status::pending && status != pod_status::releasing;
        });
      };
      const std::int64_t needs = world().groups[v].tree.at(1).min;
      if (has(before) >= needs && has(oracle_.now()) > 0 && has(oracle_.now()) < needs) {
        fault("gang", g, "leaves a part of the gang of " + world().groups[v].name);
      }
    }
  }

  policy_options o_;
  victim_oracle oracle_;
  names names_;
  evicting action_ = evicting::reclaim;
  bool defect_ = false;  ///< one of those of KAI that `compat` repeats: amounts are not what they seem from here on
  victim_report report_;
};

}  // namespace

victim_report check_victims(const snapshot& from, const policy_options& options, std::int64_t now) {
  checker all(from, options, now);
  result<session> ran = engine(options).open(from, now);
  if (!ran) return all.failed(ran.failure().message);
  std::vector<decision> starts;
  for (const std::string& action : options.actions) {
    if (auto done = ran->run(action); !done) return all.failed(done.failure().message);
    if (action == "allocate") starts.assign(ran->decisions().begin(), ran->decisions().end());
  }
  return all.check(*ran, starts);
}

}  // namespace kaisched::oracle
