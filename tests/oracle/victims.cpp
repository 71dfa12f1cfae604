#include "oracle/victims.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace kaisched::oracle {

namespace {

__extension__ using wide = __int128;

bool is_active(pod_status s) {
  return s == pod_status::allocated || s == pod_status::pipelined || s == pod_status::binding ||
         s == pod_status::bound || s == pod_status::running;
}
bool is_on_node(pod_status s) {
  return is_active(s) || s == pod_status::releasing || s == pod_status::stuck_in_releasing;
}

void add(quota_amounts& to, const quota_amounts& more, std::int64_t sign = 1) {
  for (std::size_t r = 0; r < quota_dimensions; ++r) to[r] += sign * more[r];
}
quota_amounts sum_of(const std::vector<quota_amounts>& all) {
  quota_amounts sum{};
  for (const quota_amounts& one : all) add(sum, one);
  return sum;
}

/// Q8: what a queue may hold without owing it back.
quota_amounts entitlement(const queue& q, const figures& f) {
  quota_amounts most = q.limit;
  for (std::size_t r = 0; r < quota_dimensions; ++r) {
    if (q.quota[r] == unlimited) continue;
    most[r] = std::max(q.quota[r], f.fair_share[r]);
    if (q.limit[r] != unlimited) most[r] = std::min(most[r], q.limit[r]);
  }
  return most;
}

/// A score without rounding: `over / under`, `under` positive.
struct score {
  wide over = 0;
  wide under = 1;
  friend bool operator<(const score& a, const score& b) { return a.over * b.under < b.over * a.under; }
};

/// Units of one queue are judged one by one, each with what is held before it goes. What is refused at some point is
/// refused at any later one, so the worst place of a unit is the last one.
verdict in_any_order(const quota_amounts& held, std::vector<quota_amounts> units,
                     const std::function<bool(const quota_amounts&, const quota_amounts&)>& may_go) {
  const auto goes_last = [&](const quota_amounts& unit) {
    quota_amounts before = held;
    add(before, sum_of(units), -1);
    add(before, unit);
    return may_go(unit, before);
  };
  if (std::all_of(units.begin(), units.end(), goes_last)) return verdict::yes;
  while (!units.empty()) {  // from the last one to the first
    const auto last = std::find_if(units.begin(), units.end(), goes_last);
    if (last == units.end()) return verdict::no;
    units.erase(last);
  }
  return verdict::depends;
}

}  // namespace

bool trial::leads_to(const std::vector<pod_state>& outcome) const {
  return placed && accepted != verdict::no &&
         std::equal(states.begin(), states.end(), outcome.begin(), outcome.end(),
                    [](const pod_state& a, const pod_state& b) { return a.status == b.status && a.node == b.node; });
}

victim_oracle::victim_oracle(world w, const policy_options& options, std::int64_t now)
    : w_(std::move(w)), o_(options), now_(now) {
  s_.states = w_.states;
  s_.queues.resize(w_.queues.size());
  for (const node& n : w_.nodes) {
    s_.idle.push_back(n.capacity);
    s_.coming.emplace_back(n.capacity.size());
  }
  for (std::size_t p = 0; p < w_.pods.size(); ++p) {
    if (s_.states[p].node != nobody && is_on_node(s_.states[p].status)) charge(s_, p, 1);
  }
  accepts_.resize(w_.pods.size());
  for (std::size_t p = 0; p < w_.pods.size(); ++p) {
    for (std::size_t n = 0; n < w_.nodes.size(); ++n) accepts_[p].push_back(accepts(p, n));
  }
  open_queues();
}

// ---- what nodes and queues hold ----------------------------------------------------------------------------------

void victim_oracle::open_queues() {
  for (const node& n : w_.nodes) {
    for (std::size_t r = 0; n.open && r < quota_dimensions; ++r) total_[r] += n.capacity[r];
  }
  for (std::size_t p = 0; p < w_.pods.size(); ++p) {
    const pod_state& s = s_.states[p];
    if (w_.pods[p].group == nobody) {  // what no queue answers for
      const bool counts = s.node != nobody && is_on_node(s.status) && w_.nodes[s.node].open;
      if (counts) add(total_, w_.pods[p].quota_request(), -1);
    } else if (counts_for_queues(s) || s.status == pod_status::pending) {
      for (const std::size_t q : path(w_.groups[w_.pods[p].group].queue)) {
        add(s_.queues[q].request, w_.pods[p].quota_request());
      }
    }
  }
  for (std::int64_t& amount : total_) amount = std::max<std::int64_t>(0, amount);
  divide_exactly(w_, s_.queues, total_, o_.fair_share_k);
}

bool victim_oracle::counts_for_queues(const pod_state& s) {
  return is_active(s.status) && (s.status != pod_status::pipelined || s.placed_now);
}

/// A pod that leaves holds its place and gives it back; a claim takes of what is coming free.
void victim_oracle::charge(scene& s, std::size_t p, std::int64_t sign) const {
  const pod_state& it = s.states[p];
  for (std::size_t d = 0; d < w_.dimensions; ++d) {
    if (w_.nodes[it.node].capacity[d] == 0) continue;
    const std::int64_t amount = sign * w_.pods[p].request[d];
    if (it.status != pod_status::pipelined) s.idle[it.node][d] -= amount;
    if (it.status == pod_status::releasing) s.coming[it.node][d] += amount;
    if (it.status == pod_status::pipelined) s.coming[it.node][d] -= amount;
  }
  if (counts_for_queues(it)) charge_queues(s, p, sign);
}

void victim_oracle::charge_queues(scene& s, std::size_t p, std::int64_t sign) const {
  if (w_.pods[p].group == nobody) return;
  const group& of = w_.groups[w_.pods[p].group];
  for (const std::size_t q : path(of.queue)) {
    add(s.queues[q].allocated, w_.pods[p].quota_request(), sign);
    if (!of.preemptible) add(s.queues[q].nonpreemptible, w_.pods[p].quota_request(), sign);
  }
}

void victim_oracle::evict(scene& s, std::size_t p) const {
  charge(s, p, -1);
  s.states[p].status = pod_status::releasing;
  charge(s, p, 1);
}

void victim_oracle::put(scene& s, std::size_t p, std::size_t n, pod_status status) const {
  s.states[p] = {status, n, {}, true};  // what a moved pod releases elsewhere stays charged there
  charge(s, p, 1);
}

void victim_oracle::start(std::size_t p, std::size_t n) {
  placed_here_.insert(p);
  put(s_, p, n, pod_status::binding);
}
void victim_oracle::claim(std::size_t p, std::size_t n) {
  if (s_.states[p].status == pod_status::pending) placed_here_.insert(p);
  put(s_, p, n, pod_status::pipelined);
}
void victim_oracle::evict(std::size_t p) { evict(s_, p); }

std::vector<std::size_t> victim_oracle::path(std::size_t q) const {
  std::vector<std::size_t> up;
  for (; q != nobody; q = w_.queues[q].parent) up.push_back(q);
  return up;
}

// ---- groups ------------------------------------------------------------------------------------------------------

namespace {
const member& pod_set(const group& g) { return g.tree.at(1); }
}  // namespace

std::int64_t victim_oracle::active(const scene& s, std::size_t g) const {
  const std::vector<std::size_t>& pods = pod_set(w_.groups[g]).pods;
  return std::count_if(pods.begin(), pods.end(), [&](std::size_t p) { return is_active(s.states[p].status); });
}

bool victim_oracle::asks(std::size_t g) const {
  const std::vector<std::size_t>& pods = pod_set(w_.groups[g]).pods;
  const auto waiting = std::count_if(pods.begin(), pods.end(),
                                     [&](std::size_t p) { return s_.states[p].status == pod_status::pending; });
  return waiting > 0 && waiting + active(s_, g) >= pod_set(w_.groups[g]).min &&
         w_.queues[w_.groups[g].queue].children.empty();
}

std::vector<std::size_t> victim_oracle::chunk(std::size_t g) const { return chunk(s_, g, {}); }

/// The missing part of the gang or one more pod, of those that wait and those that have just left.
std::vector<std::size_t> victim_oracle::chunk(const scene& s, std::size_t g, const std::vector<bool>& gone) const {
  const member& pods = pod_set(w_.groups[g]);
  std::int64_t wanted = std::max<std::int64_t>(1, pods.min - active(s, g));
  std::vector<std::size_t> found;
  for (const std::size_t p : pods.pods) {
    const pod_status status = s.states[p].status;
    const bool left = status == pod_status::releasing && !gone.empty() && gone[p];
    if (wanted == 0 || (status != pod_status::pending && !left)) continue;
    found.push_back(p);
    --wanted;
  }
  return found;
}

quota_amounts victim_oracle::request_of(const std::vector<std::size_t>& pods) const {
  quota_amounts sum{};
  for (const std::size_t p : pods) add(sum, w_.pods[p].quota_request());
  return sum;
}

int victim_oracle::filling(const scene& s, std::size_t g) const {
  const std::int64_t has = active(s, g);
  const std::int64_t needs = pod_set(w_.groups[g]).min;
  return has < needs ? 0 : has == needs ? 1 : 2;
}

bool victim_oracle::is_protected(evicting action, std::size_t mine, std::size_t victim) const {
  const group& of = w_.groups[victim];
  if (of.last_start == unset || action == evicting::consolidation) return false;
  const bool reclaims = action == evicting::reclaim;
  std::vector<std::size_t> asked = path(of.queue);
  if (reclaims && o_.min_runtime_from == runtime_resolution::lca) {
    const std::vector<std::size_t> own = path(w_.groups[mine].queue);
    const auto shared = std::find_if(asked.begin(), asked.end(),
                                     [&](std::size_t q) { return std::find(own.begin(), own.end(), q) != own.end(); });
    if (shared == asked.end()) {  // another tree
      asked = {asked.back()};
    } else {
      asked.erase(asked.begin(), shared == asked.begin() ? shared : shared - 1);
    }
  }
  std::int64_t promise = reclaims ? o_.min_runtime_reclaim : o_.min_runtime_preempt;
  for (const std::size_t q : asked) {
    const std::int64_t own = reclaims ? w_.queues[q].reclaim_min_runtime : w_.queues[q].preempt_min_runtime;
    if (own == unset) continue;
    promise = own;
    break;
  }
  return now_ - of.last_start < promise;
}

// ---- limits and quotas -------------------------------------------------------------------------------------------

bool victim_oracle::quota_refuses(const scene& s, std::size_t g, const quota_amounts& asked) const {
  if (w_.groups[g].preemptible) return false;
  for (const std::size_t q : path(w_.groups[g].queue)) {
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t quota = w_.queues[q].quota[r];
      if (asked[r] != 0 && quota != unlimited && s.queues[q].nonpreemptible[r] + asked[r] > quota) return true;
    }
  }
  return false;
}

bool victim_oracle::queues_refuse(const scene& s, std::size_t g, const quota_amounts& asked) const {
  for (const std::size_t q : path(w_.groups[g].queue)) {
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t limit = w_.queues[q].limit[r];
      if (asked[r] != 0 && limit != unlimited && s.queues[q].allocated[r] + asked[r] > limit) return true;
    }
  }
  return quota_refuses(s, g, asked);
}

// ---- nodes -------------------------------------------------------------------------------------------------------

bool victim_oracle::accepts(std::size_t p, std::size_t n) const {
  const pod& ask = w_.pods[p];
  const node& it = w_.nodes[n];
  if (!it.open || ask.obstacle) return false;
  for (const std::string& taint : it.taints) {
    if (!tolerates(ask.tolerations, taint)) return false;
  }
  for (const auto& [key, value] : ask.node_selector) {
    if (!it.labels.contains(key) || it.labels.at(key) != value) return false;
  }
  return node_affinity_matches(ask.node_affinity, it.labels);
}

bool victim_oracle::fits(const scene& s, std::size_t p, std::size_t n, bool with_coming) const {
  for (std::size_t d = 0; d < w_.dimensions; ++d) {
    const std::int64_t asked = w_.pods[p].request[d];
    if (asked != 0 && asked > s.idle[n][d] + (with_coming ? s.coming[n][d] : 0)) return false;
  }
  return true;
}

/// Of the nodes with a place that is free or coming free the one with the largest score, then the first by name.
std::size_t victim_oracle::best_node(const scene& s, std::size_t p) const {
  const std::size_t d = w_.pods[p].wants_gpu() ? dim_gpu : dim_cpu;
  const bool spread = (d == dim_gpu ? o_.gpu_placement : o_.cpu_placement) == placement_strategy::spread;
  const auto free = [&](std::size_t n) { return s.idle[n][d] + s.coming[n][d]; };
  wide high = 0;
  std::optional<wide> low;
  for (std::size_t n = 0; n < w_.nodes.size(); ++n) {
    if (w_.nodes[n].capacity[d] == 0) continue;
    high = std::max<wide>(high, free(n));
    low = std::min<wide>(low.value_or(free(n)), free(n));
  }
  std::size_t best = nobody;
  score of_best;
  for (std::size_t n = 0; n < w_.nodes.size(); ++n) {
    if (!accepts_[p][n] || !fits(s, p, n, true)) continue;
    const std::int64_t capacity = w_.nodes[n].capacity[d];
    score it;
    if (spread) {
      if (capacity != 0) it = {free(n), capacity};
    } else if (capacity != 0 && high != 0) {
      it = *low == high ? score{9, 1} : score{9 * (high - free(n)), high - *low};
    }
    std::int64_t bands = fits(s, p, n, false) ? 1000 : 0;
    if (d == dim_cpu && w_.nodes[n].capacity[dim_gpu] == 0) bands += 10;
    it.over += bands * it.under;
    if (best != nobody && !(of_best < it)) continue;
    best = n;
    of_best = it;
  }
  return best;
}

// ---- a set of victims --------------------------------------------------------------------------------------------

/// All of these pods or none. A pod that comes back to its own place was never touched.
bool victim_oracle::place(scene& s, std::size_t g, const std::vector<std::size_t>& pods,
                          const std::vector<bool>& gone) const {
  if (pods.empty() || queues_refuse(s, g, request_of(pods))) return false;
  const scene before = s;
  for (const std::size_t p : pods) {
    const std::size_t n = best_node(s, p);
    if (n == nobody) {
      s = before;
      return false;
    }
    if (gone[p] && s.states[p].node == n) {
      charge(s, p, -1);
      s.states[p] = s_.states[p];
      charge(s, p, 1);
    } else {
      put(s, p, n, pod_status::pipelined);
    }
  }
  return true;
}

std::size_t victim_oracle::next_leaf(const scene& s, std::size_t parent, const std::vector<std::size_t>& best,
                                     const std::vector<quota_amounts>& asked) const {
  std::size_t first = nobody;
  std::size_t leaf_of_first = nobody;
  for (std::size_t q = 0; q < w_.queues.size(); ++q) {
    if (w_.queues[q].parent != parent) continue;
    const std::size_t leaf = !w_.queues[q].children.empty() ? next_leaf(s, q, best, asked)
                             : best[q] != nobody            ? q
                                                            : nobody;
    if (leaf == nobody) continue;
    if (first == nobody || exactly_before({w_.queues[q], s.queues[q], asked[leaf]},
                                          {w_.queues[first], s.queues[first], asked[leaf_of_first]}, total_)) {
      first = q;
      leaf_of_first = leaf;
    }
  }
  return leaf_of_first;
}

void victim_oracle::place_again(scene& s, std::vector<std::size_t> groups, const std::vector<bool>& gone,
                                bool own_first) const {
  using key = std::tuple<std::int64_t, int, std::int64_t, std::string>;
  std::map<std::size_t, key> keys;  // as they are when all have left
  for (const std::size_t g : groups) {
    keys[g] = {-w_.groups[g].priority, filling(s, g), w_.groups[g].created, w_.groups[g].name};
  }
  std::sort(groups.begin(), groups.end(), [&](auto a, auto b) { return keys.at(a) < keys.at(b); });
  while (!groups.empty()) {
    std::vector<std::size_t> best(w_.queues.size(), nobody);
    std::vector<quota_amounts> asked(w_.queues.size());
    for (const std::size_t g : groups) {
      const std::size_t q = w_.groups[g].queue;
      if (best[q] != nobody) continue;
      best[q] = g;
      asked[q] = request_of(chunk(s, g, gone));
    }
    const std::size_t next = best[next_leaf(s, nobody, best, asked)];
    std::erase(groups, next);
    if (own_first) bring_back(s, next, gone);
    place_lost(s, next, gone);
  }
}

/// S25: to where they were, each for itself.
void victim_oracle::bring_back(scene& s, std::size_t g, const std::vector<bool>& gone) const {
  for (const std::size_t p : pod_set(w_.groups[g]).pods) {
    if (!gone[p] || s.states[p].status != pod_status::releasing) continue;
    const std::size_t own = s.states[p].node;
    if (!accepts_[p][own] || !fits(s, p, own, true) || queues_refuse(s, g, request_of({p}))) continue;
    charge(s, p, -1);
    s.states[p] = s_.states[p];
    charge(s, p, 1);
  }
}

/// The gang of what a group has lost, then one pod after the other, until one finds no place. Other pods of it wait on.
void victim_oracle::place_lost(scene& s, std::size_t g, const std::vector<bool>& gone) const {
  while (true) {
    std::vector<std::size_t> lost;
    for (const std::size_t p : pod_set(w_.groups[g]).pods) {
      if (gone[p] && s.states[p].status == pod_status::releasing) lost.push_back(p);
    }
    const auto missing = static_cast<std::size_t>(std::max<std::int64_t>(1, pod_set(w_.groups[g]).min - active(s, g)));
    if (lost.size() > missing) lost.resize(missing);
    if (!place(s, g, lost, gone)) return;
  }
}

/// K14, of pods that had a place before the session.
bool victim_oracle::moves_too_much(std::size_t g, const trial& made) const {
  const quota_amounts asked = request_of(chunk(g));
  const std::size_t r = asked[dim_gpu] > 0 ? dim_gpu : asked[dim_cpu] > 0 ? dim_cpu : dim_memory;
  std::vector<std::size_t> moved = made.moved;
  std::erase_if(moved, [this](std::size_t p) { return placed_here_.contains(p); });
  return request_of(moved)[r] > asked[r];
}

trial victim_oracle::attempt(evicting action, std::size_t g, std::span<const victim_unit> set) const {
  trial made = attempt(action, g, set, false);
  if (action != evicting::consolidation || made.accepted == verdict::no || !moves_too_much(g, made)) return made;
  made = attempt(action, g, set, true);
  if (moves_too_much(g, made)) made.accepted = verdict::no;
  return made;
}

trial victim_oracle::decided(evicting action, std::size_t g, std::span<const victim_unit> set) const {
  trial made = attempt(action, g, set);
  if (made.accepted == verdict::no || made.moved.size() < 2) return made;
  trial other = attempt(action, g, set, true);
  return other.accepted != verdict::no && other.lost == made.lost && other.moved.size() < made.moved.size() ? other
                                                                                                            : made;
}

trial victim_oracle::attempt(evicting action, std::size_t g, std::span<const victim_unit> set, bool own_first) const {
  scene s = s_;
  std::vector<bool> gone(w_.pods.size(), false);
  std::vector<std::size_t> groups;
  for (const victim_unit& unit : set) {
    for (const std::size_t p : unit.pods) {
      evict(s, p);
      gone[p] = true;
    }
    if (std::find(groups.begin(), groups.end(), unit.group) == groups.end()) groups.push_back(unit.group);
  }
  trial made;
  made.placed = place(s, g, chunk(g), gone);
  if (!made.placed) return made;
  place_again(s, groups, gone, own_first);
  for (std::size_t p = 0; p < w_.pods.size(); ++p) {
    if (gone[p] && s.states[p].status == pod_status::releasing) made.lost.push_back(p);
    if (gone[p] && s.states[p].status == pod_status::pipelined) made.moved.push_back(p);
  }
  for (const victim_unit& unit : set) {
    const bool lost = std::any_of(unit.pods.begin(), unit.pods.end(),
                                  [&](std::size_t p) { return s.states[p].status == pod_status::releasing; });
    const group& of = w_.groups[unit.group];
    for (std::size_t i = 0; lost && i < unit.pods.size(); ++i) {
      if (placed_here_.contains(unit.pods[i])) continue;  // what has not begun is not lost
      auto& [gpus, cores, pods] = made.cost.by_priority[of.priority];
      gpus += w_.pods[unit.pods[i]].request[dim_gpu];
      cores += w_.pods[unit.pods[i]].request[dim_cpu];
      ++pods;
      made.cost.starts.push_back(of.last_start == unset ? of.created : of.last_start);
    }
  }
  std::sort(made.cost.starts.begin(), made.cost.starts.end());
  const bool may_preempt = stays_entitled(g, made.lost) && starts_before(g, set, made.lost);
  made.accepted = action == evicting::preempt && !may_preempt ? verdict::no : judge(action, g, made.lost);
  made.states = std::move(s.states);
  return made;
}

bool loss::is_less_than(const loss& other) const {
  std::set<std::int64_t, std::greater<>> priorities;
  for (const auto& [priority, unused] : by_priority) priorities.insert(priority);
  for (const auto& [priority, unused] : other.by_priority) priorities.insert(priority);
  for (const std::int64_t priority : priorities) {
    const auto of = [priority](const loss& from) {
      const auto at = from.by_priority.find(priority);
      return at == from.by_priority.end() ? std::array<std::int64_t, 3>{} : at->second;
    };
    if (of(*this) != of(other)) return of(*this) < of(other);
  }
  return starts > other.starts;
}

victim_oracle::answer victim_oracle::search(evicting action, std::size_t g, const std::vector<victim_chain>& chains,
                                            std::size_t most_units) const {
  answer made;
  (void)each_set(chains, most_units, [&](const std::vector<victim_unit>& set) {
    ++made.tried;
    const trial one = attempt(action, g, set);
    if (one.accepted == verdict::yes && (!made.found || one.cost.is_less_than(made.cost))) {
      made.found = set;
      made.cost = one.cost;
    }
    return made.found && made.cost.is_nothing();
  });
  return made;
}

bool each_set(const std::vector<victim_chain>& chains, std::size_t most_units,
              const std::function<bool(const std::vector<victim_unit>&)>& visit) {
  std::vector<victim_unit> set;
  const std::function<bool(std::size_t, std::size_t)> choose = [&](std::size_t from, std::size_t left) {
    if (left == 0) return visit(set);
    if (from == chains.size()) return false;
    const std::size_t before = set.size();
    bool ends = false;
    for (std::size_t n = 0; !ends && n <= std::min(left, chains[from].size()); ++n) {
      if (n > 0) set.push_back(chains[from][n - 1]);
      ends = choose(from + 1, left - n);
    }
    set.resize(before);
    return ends;
  };
  for (std::size_t size = 0; size <= most_units; ++size) {
    if (choose(0, size)) return true;
  }
  return false;
}

// ---- the actions -------------------------------------------------------------------------------------------------

bool victim_oracle::lacks_pods(std::size_t g) const {
  return active(s_, g) + static_cast<std::int64_t>(chunk(g).size()) < pod_set(w_.groups[g]).min;
}

bool victim_oracle::may_ask(evicting action, std::size_t g) const {
  const group& mine = w_.groups[g];
  const quota_amounts asked = request_of(chunk(g));
  if (action == evicting::preempt) return !quota_refuses(s_, g, asked);
  if (action == evicting::consolidation) {
    std::int64_t free = 0;
    for (std::size_t n = 0; n < w_.nodes.size(); ++n) {
      if (w_.nodes[n].open) free += s_.idle[n][dim_gpu] + s_.coming[n][dim_gpu];
    }
    return mine.preemptible && asked[dim_gpu] <= free;
  }
  for (std::size_t r = 0; r < quota_dimensions; ++r) {
    const figures& leaf = s_.queues[mine.queue];
    const std::int64_t quota = w_.queues[mine.queue].quota[r];
    if (asked[r] == 0) continue;
    if (leaf.allocated[r] + asked[r] > leaf.fair_share[r]) return false;
    if (!mine.preemptible && quota != unlimited && leaf.nonpreemptible[r] + asked[r] > quota) return false;
  }
  return true;
}

bool victim_oracle::may_lose(evicting action, std::size_t g, std::size_t victim) const {
  const group& mine = w_.groups[g];
  const group& it = w_.groups[victim];
  if (victim == g || !it.preemptible || !w_.queues[it.queue].children.empty()) return false;
  if (action == evicting::preempt) return it.queue == mine.queue && it.priority < mine.priority;
  return action == evicting::consolidation || it.queue != mine.queue;
}

victim_chain victim_oracle::chain_of(std::size_t victim) const {
  const member& all = pod_set(w_.groups[victim]);
  std::vector<std::size_t> pods;
  for (const std::size_t p : all.pods) {
    if (is_active(s_.states[p].status)) pods.push_back(p);
  }
  victim_chain chain;
  while (!pods.empty() && static_cast<std::int64_t>(pods.size()) > all.min) {
    chain.push_back({victim, {pods.back()}, false});
    pods.pop_back();
  }
  if (!pods.empty()) chain.push_back({victim, pods, true});
  return chain;
}

std::vector<victim_chain> victim_oracle::chains(evicting action, std::size_t g) const {
  std::vector<victim_chain> all;
  for (std::size_t v = 0; v < w_.groups.size(); ++v) {
    if (!may_lose(action, g, v)) continue;
    victim_chain chain = chain_of(v);
    if (!chain.empty() && chain.back().core && is_protected(action, g, v)) chain.pop_back();
    if (!chain.empty()) all.push_back(std::move(chain));
  }
  return all;
}

std::size_t victim_oracle::count_units(evicting action, std::size_t g) const {
  std::size_t units = 0;
  for (std::size_t v = 0; v < w_.groups.size(); ++v) units += may_lose(action, g, v) ? chain_of(v).size() : 0;
  return units;
}

verdict victim_oracle::judge(evicting action, std::size_t g, const std::vector<std::size_t>& lost) const {
  if (action == evicting::consolidation) return lost.empty() ? verdict::yes : verdict::no;
  return action == evicting::preempt ? verdict::yes : judge_reclaim(g, lost);
}

/// E5 and E6
bool victim_oracle::stays_entitled(std::size_t g, const std::vector<std::size_t>& lost) const {
  const quota_amounts asked = request_of(chunk(g));
  const quota_amounts gone = request_of(lost);
  for (const std::size_t q : path(w_.groups[g].queue)) {
    const quota_amounts most = entitlement(w_.queues[q], s_.queues[q]);
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      if (most[r] == unlimited) continue;
      const std::int64_t held = s_.queues[q].allocated[r];
      if (asked[r] > gone[r] && held + asked[r] - gone[r] > most[r]) return false;
      if (asked[r] > most[r] && std::min(held - gone[r], most[r]) < std::min(held, most[r])) return false;
    }
  }
  return true;
}

/// E7
bool victim_oracle::starts_before(std::size_t g, std::span<const victim_unit> set,
                                  const std::vector<std::size_t>& lost) const {
  const std::size_t leaf = w_.groups[g].queue;
  const quota_amounts gone = request_of(lost);
  const auto exceeds_share = [&](const std::vector<std::size_t>& pods) {
    const quota_amounts asked = request_of(pods);
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t share = s_.queues[leaf].fair_share[r];
      if (asked[r] != 0 && share != unlimited && s_.queues[leaf].allocated[r] - gone[r] + asked[r] > share) return true;
    }
    return false;
  };
  if (!exceeds_share(chunk(g))) return true;
  for (const victim_unit& unit : set) {
    std::vector<std::size_t> waits;
    std::copy_if(unit.pods.begin(), unit.pods.end(), std::back_inserter(waits),
                 [&](std::size_t p) { return std::find(lost.begin(), lost.end(), p) != lost.end(); });
    if (!waits.empty() && !exceeds_share(waits)) return false;
  }
  return true;
}

// ---- reclaim -----------------------------------------------------------------------------------------------------

/// F8: the two queues of the first level, from the root, on which the paths differ.
std::pair<std::size_t, std::size_t> victim_oracle::parting(std::size_t mine, std::size_t theirs) const {
  const std::vector<std::size_t> a = path(mine);
  const std::vector<std::size_t> b = path(theirs);
  for (std::size_t i = 1;; ++i) {
    const std::size_t x = a[a.size() - i];
    const std::size_t y = b[b.size() - i];
    if (x != y) return {x, y};
  }
}

/// F6, of a unit that takes this from a queue that holds that much
bool victim_oracle::may_go(std::size_t mine, const quota_amounts& asked, std::size_t theirs, const quota_amounts& unit,
                           const quota_amounts& held) const {
  const quota_amounts most = entitlement(w_.queues[theirs], s_.queues[theirs]);
  bool within_quota = true;
  bool over_entitlement = false;
  bool over_quota = false;
  for (std::size_t r = 0; r < quota_dimensions; ++r) {
    if (asked[r] == 0) continue;
    const std::int64_t own = w_.queues[mine].quota[r];
    const std::int64_t quota = w_.queues[theirs].quota[r];
    within_quota = within_quota && (own == unlimited || s_.queues[mine].allocated[r] + asked[r] <= own);
    if (unit[r] == 0) continue;
    over_entitlement = over_entitlement || (most[r] != unlimited && held[r] > most[r]);
    over_quota = over_quota || (quota != unlimited && held[r] > quota);
  }
  return over_entitlement || (within_quota && over_quota);
}

/// F26: what the quota of a queue protects of a resource
std::int64_t victim_oracle::kept_quota(std::size_t queue, std::size_t r) const {
  const std::int64_t quota = w_.queues[queue].quota[r];
  const std::int64_t share = s_.queues[queue].fair_share[r];
  if (quota == unlimited) return 0;
  return share == unlimited ? quota : std::min(quota, share);
}

verdict victim_oracle::judge_reclaim(std::size_t g, const std::vector<std::size_t>& lost) const {
  const std::size_t leaf = w_.groups[g].queue;
  const quota_amounts asked = request_of(chunk(g));
  if (quota_refuses(s_, g, asked) || !less_saturated_after(g, lost)) return verdict::no;

  std::map<std::size_t, quota_amounts> gangs;                                           // by group
  std::map<std::pair<std::size_t, std::size_t>, std::vector<quota_amounts>> by_queues;  // that are compared
  for (const std::size_t p : lost) {
    const std::size_t v = w_.pods[p].group;
    const std::vector<std::size_t>& pods = pod_set(w_.groups[v]).pods;
    const auto before = std::count_if(pods.begin(), std::find(pods.begin(), pods.end(), p),
                                      [&](std::size_t x) { return is_active(s_.states[x].status); });
    if (before < pod_set(w_.groups[v]).min)
      add(gangs[v], request_of({p}));
    else
      by_queues[parting(leaf, w_.groups[v].queue)].push_back(request_of({p}));
  }
  for (const auto& [v, amount] : gangs) by_queues[parting(leaf, w_.groups[v].queue)].push_back(amount);
  verdict worst = verdict::yes;
  quota_amounts least_within{};  // of what the queues hold within their fair shares, F24
  quota_amounts most_within{};
  // F26, by the queue on the side of the group: the least and the most that others lose within their quotas
  std::map<std::size_t, std::pair<std::int64_t, std::int64_t>> within_quotas;
  const std::size_t measure = asked[dim_gpu] > 0 ? dim_gpu : asked[dim_cpu] > 0 ? dim_cpu : dim_memory;
  for (auto& [queues, units] : by_queues) {
    std::erase(units, quota_amounts{});
    const auto [mine, theirs] = queues;
    const std::int64_t guaranteed = kept_quota(theirs, measure);
    std::int64_t counted = 0;
    std::int64_t beyond = 0;
    for (const quota_amounts& unit : units) (unit[measure] <= guaranteed ? counted : beyond) += unit[measure];
    const auto of_quota = [&](std::int64_t amount) { return std::min(amount, guaranteed); };
    const std::int64_t has = s_.queues[theirs].allocated[measure];
    within_quotas[mine].first += of_quota(has) - of_quota(has - counted);
    within_quotas[mine].second += of_quota(has - beyond) - of_quota(has - beyond - counted);
    quota_amounts all{};
    for (const quota_amounts& unit : units) add(all, unit);
    // A unit of a queue over its share of what it gives of what was asked for counts in that alone. Whether the queue
    // is over it may depend on what has gone before.
    const auto over_share = [&, other = theirs](const quota_amounts& unit, const quota_amounts& gone) {
      bool over = false;
      for (std::size_t r = 0; r < quota_dimensions; ++r) {
        over = over || (asked[r] > 0 && unit[r] > 0 && s_.queues[other].fair_share[r] != unlimited &&
                        s_.queues[other].allocated[r] - gone[r] > s_.queues[other].fair_share[r]);
      }
      return over;
    };
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t share = s_.queues[theirs].fair_share[r];
      const std::int64_t held = s_.queues[theirs].allocated[r];
      std::int64_t surely = 0;  // what counts in every order, and what counts in some
      std::int64_t perhaps = 0;
      for (const quota_amounts& unit : units) {
        if (share != unlimited && unit[r] > share) continue;
        quota_amounts others = all;
        add(others, unit, -1);
        if (asked[r] > 0 || !over_share(unit, {})) surely += unit[r];
        if (asked[r] > 0 || !over_share(unit, others)) perhaps += unit[r];
      }
      const auto within = [&](std::int64_t amount) { return share == unlimited ? amount : std::min(amount, share); };
      least_within[r] += within(held) - within(held - surely);
      most_within[r] += within(held - (all[r] - perhaps)) - within(held - all[r]);
    }
    worst = std::min(
        worst, in_any_order(s_.queues[theirs].allocated, units,
                            [&, own = mine, other = theirs](const quota_amounts& unit, const quota_amounts& held) {
                              return may_go(own, asked, other, unit, held);
                            }));
  }
  for (const auto& [mine, losses] : within_quotas) {
    const std::int64_t has = s_.queues[mine].allocated[measure];
    const std::int64_t guaranteed = kept_quota(mine, measure);
    // A queue that goes beyond its own quota takes nothing of what others hold within theirs.
    const bool goes_beyond = w_.queues[mine].quota[measure] != unlimited && has + asked[measure] > guaranteed;
    const std::int64_t most = goes_beyond ? 0 : asked[measure];
    if (losses.first > most) return verdict::no;
    if (losses.second > most) worst = std::min(worst, verdict::depends);
  }
  for (const std::size_t r : {std::size_t{dim_gpu}, std::size_t{dim_cpu}, std::size_t{dim_memory}}) {
    if (most_within[r] < asked[r]) break;
    if (least_within[r] > asked[r]) return verdict::no;
    if (least_within[r] != most_within[r]) return std::min(worst, verdict::depends);
  }
  return worst;
}

/// F9 and F10
bool victim_oracle::less_saturated_after(std::size_t g, const std::vector<std::size_t>& lost) const {
  const quota_amounts asked = request_of(chunk(g));
  const wide multiplier = std::llround(std::max(1.0, o_.saturation_multiplier) * 1000);
  std::map<std::size_t, quota_amounts> gone;  // by queue
  for (const std::size_t p : lost) {
    for (const std::size_t q : path(w_.groups[w_.pods[p].group].queue)) add(gone[q], w_.pods[p].quota_request());
  }
  for (const std::size_t q : path(w_.groups[g].queue)) {
    quota_amounts mine = s_.queues[q].allocated;
    add(mine, asked);
    if (gone.contains(q)) add(mine, gone[q], -1);
    for (const auto& [other, amount] : gone) {
      if (other == q || w_.queues[other].parent != w_.queues[q].parent) continue;
      for (std::size_t r = 0; r < quota_dimensions; ++r) {
        if (asked[r] == 0 && amount[r] == 0) continue;
        const std::int64_t share = s_.queues[q].fair_share[r];
        const std::int64_t their_share = s_.queues[other].fair_share[r];
        const std::int64_t left = s_.queues[other].allocated[r] - amount[r];
        if (mine[r] <= share || their_share <= 0) continue;
        if (wide{mine[r]} * multiplier * their_share >= wide{left} * share * 1000) return false;
      }
    }
  }
  return true;
}

}  // namespace kaisched::oracle
