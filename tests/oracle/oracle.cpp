#include "oracle/oracle.hpp"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "oracle/kai_heap.hpp"
#include "oracle/shares.hpp"

namespace kaisched::oracle {

namespace {

__extension__ using wide = __int128;

constexpr const char* gpu_worker = "node-role.kubernetes.io/gpu-worker";
constexpr const char* cpu_worker = "node-role.kubernetes.io/cpu-worker";

// ---- what statuses mean ------------------------------------------------------------------------------------------

bool is_active(pod_status s) {
  return s == pod_status::allocated || s == pod_status::pipelined || s == pod_status::binding ||
         s == pod_status::bound || s == pod_status::running;
}
bool is_on_node(pod_status s) {
  return is_active(s) || s == pod_status::releasing || s == pod_status::stuck_in_releasing;
}
bool holds(pod_status s) { return is_active(s) && s != pod_status::pipelined; }
bool may_still_run(pod_status s) { return is_active(s) || s == pod_status::pending; }

/// What a node has: free now, and coming free with claims taken off.
struct room {
  std::vector<std::int64_t> idle;
  std::vector<std::int64_t> coming;
  std::vector<std::int64_t> device_idle;
  std::vector<std::int64_t> device_coming;
  std::int64_t claimed = 0;  ///< whole devices, none of them named
};

enum class question : bool { can_start, can_wait };

/// A score without rounding: `over / under`, `under` positive.
struct exact_score {
  wide over = 0;
  wide under = 1;
  friend bool operator<(const exact_score& a, const exact_score& b) { return a.over * b.under < b.over * a.under; }
};

class oracle_session {
 public:
  oracle_session(const snapshot& from, const policy_options& o) : w_(read_world(from)), o_(o) { open_queues(); }

  outcome run() {
    serve_all();
    outcome all;
    all.decisions = decisions_;
    std::vector<std::size_t> waiting;
    for (std::size_t g = 0; g < w_.groups.size(); ++g) {
      if (pending(g) > 0 || has_pending_stray(g)) waiting.push_back(g);
    }
    std::sort(waiting.begin(), waiting.end(), [&](auto a, auto b) { return canonical(a) < canonical(b); });
    for (const std::size_t g : waiting) all.waiting.push_back(w_.groups[g].name);
    count_held();
    for (std::size_t q = 0; q < w_.queues.size(); ++q) {
      all.fair_share[w_.queues[q].name] = queues_[q].fair_share;
      all.allocated[w_.queues[q].name] = queues_[q].allocated;
    }
    return all;
  }

 private:
  [[nodiscard]] bool compat() const { return o_.mode == decision_mode::compat; }
  [[nodiscard]] bool has(std::string_view part) const {
    return std::find(o_.parts.begin(), o_.parts.end(), part) != o_.parts.end();
  }
  [[nodiscard]] std::tuple<std::int64_t, std::int64_t, std::string> canonical(std::size_t g) const {
    return {-w_.groups[g].priority, w_.groups[g].created, w_.groups[g].name};
  }

  // ---- queues ----------------------------------------------------------------------------------------------------

  /// Nodes that take pods; with restricted nodes only what the marked ones have for their kind.
  [[nodiscard]] bool is_marked(const node& n, const char* label) const {
    return !o_.restrict_node_scheduling || n.labels.contains(label);
  }
  [[nodiscard]] bool counts(const node& n) const {
    return n.open && (is_marked(n, gpu_worker) || is_marked(n, cpu_worker));
  }

  void open_queues() {
    queues_.resize(w_.queues.size());
    for (const node& n : w_.nodes) {
      for (std::size_t r = 0; counts(n) && r < quota_dimensions; ++r) {
        if (r != dim_gpu || is_marked(n, gpu_worker)) total_[r] += n.capacity[r];
      }
    }
    for (std::size_t p = 0; p < w_.pods.size(); ++p) {  // what no queue answers for
      if (w_.pods[p].group != nobody || !is_somewhere(p) || !counts(w_.nodes[w_.states[p].node])) continue;
      for (std::size_t r = 0; r < quota_dimensions; ++r) total_[r] -= w_.pods[p].quota_request()[r];
    }
    if (!compat()) {
      for (std::int64_t& amount : total_) amount = std::max<std::int64_t>(0, amount);
    }
    for (std::size_t p = 0; p < w_.pods.size(); ++p) {
      const pod_status s = w_.states[p].status;
      if (!w_.pods[p].stray && (holds(s) || s == pod_status::pending)) add_along_path(p, &figures::request);
    }
    if (!has("proportion")) return;
    if (compat()) {
      divide_as_kai(w_, queues_, total_, o_.fair_share_k);
    } else {
      divide_exactly(w_, queues_, total_, o_.fair_share_k);
    }
  }

  void add_along_path(std::size_t p, quota_amounts figures::* sum) {
    const quota_amounts amount = w_.pods[p].quota_request();
    for (std::size_t q = w_.groups[w_.pods[p].group].queue; q != nobody; q = w_.queues[q].parent) {
      for (std::size_t r = 0; r < quota_dimensions; ++r) (queues_[q].*sum)[r] += amount[r];
    }
  }

  /// What queues hold. Claims from before the session do not count, those of the session do.
  void count_held() {
    for (figures& f : queues_) f.allocated = f.nonpreemptible = {};
    for (std::size_t p = 0; p < w_.pods.size(); ++p) {
      const pod_state& s = w_.states[p];
      if (w_.pods[p].stray || !(holds(s.status) || (s.status == pod_status::pipelined && s.placed_now))) continue;
      add_along_path(p, &figures::allocated);
      if (!w_.groups[w_.pods[p].group].preemptible) add_along_path(p, &figures::nonpreemptible);
    }
  }

  /// A queue on the path that refuses: limits bind everybody, quotas those that may not be evicted. Only what is asked
  /// for counts.
  bool queues_refuse(std::size_t g, const quota_amounts& asked) {
    if (!has("proportion")) return false;
    count_held();
    for (std::size_t q = w_.groups[g].queue; q != nobody; q = w_.queues[q].parent) {
      for (std::size_t r = 0; r < quota_dimensions; ++r) {
        if (asked[r] == 0) continue;
        const std::int64_t limit = w_.queues[q].limit[r];
        const std::int64_t quota = w_.queues[q].quota[r];
        if (limit != unlimited && queues_[q].allocated[r] + asked[r] > limit) return true;
        if (w_.groups[g].preemptible || quota == unlimited) continue;
        if (queues_[q].nonpreemptible[r] + asked[r] > quota) return true;
      }
    }
    return false;
  }

  // ---- which group is next ---------------------------------------------------------------------------------------

  /// 0: some pod set lacks pods; 1: all have exactly what they need; 2: some have more.
  int filling(std::size_t g) const {
    int most = 1;
    for (const member& m : w_.groups[g].tree) {
      if (m.is_set) continue;
      if (active(m) < m.min) return 0;
      if (active(m) > m.min) most = 2;
    }
    return most;
  }

  bool group_before(std::size_t a, std::size_t b) const {
    const group& x = w_.groups[a];
    const group& y = w_.groups[b];
    for (const std::string& part : o_.parts) {  // in the order in which they are named
      if (part == "priority" && x.priority != y.priority) return x.priority > y.priority;
      if (part == "elastic" && filling(a) != filling(b)) return filling(a) < filling(b);
    }
    return std::tie(x.created, x.name) < std::tie(y.created, y.name);
  }

  quota_amounts next_request(std::size_t g) const {
    quota_amounts sum{};
    for (const std::size_t p : chunk(g)) {
      for (std::size_t r = 0; r < quota_dimensions; ++r) sum[r] += w_.pods[p].quota_request()[r];
    }
    return sum;
  }

  /// `best`: the group for which each of the queues would be served.
  bool queue_before(std::size_t a, std::size_t best_of_a, std::size_t b, std::size_t best_of_b) {
    if (!has("proportion")) {
      return std::tie(w_.queues[a].created, w_.queues[a].name) < std::tie(w_.queues[b].created, w_.queues[b].name);
    }
    count_held();
    const side left{w_.queues[a], queues_[a], next_request(best_of_a)};
    const side right{w_.queues[b], queues_[b], next_request(best_of_b)};
    return compat() ? before_as_kai(left, right, total_) : exactly_before(left, right, total_);
  }

  [[nodiscard]] std::vector<std::size_t> groups_to_try() const {
    std::vector<std::size_t> all;
    for (std::size_t g = 0; g < w_.groups.size(); ++g) {
      if (w_.queues[w_.groups[g].queue].children.empty() && ready(g, 0) && pending(g) > 0) all.push_back(g);
    }
    std::sort(all.begin(), all.end(), [&](auto a, auto b) { return canonical(a) < canonical(b); });
    return all;
  }

  void serve_all() {
    if (compat()) {
      kai_tree tree(
          w_, static_cast<std::size_t>(o_.allocate_queue_depth),
          [&](std::size_t a, std::size_t b) { return group_before(a, b); },
          [&](std::size_t a, std::size_t best_of_a, std::size_t b, std::size_t best_of_b) {
            return queue_before(a, best_of_a, b, best_of_b);
          });
      for (const std::size_t g : groups_to_try()) tree.push(g);
      while (!tree.empty()) {
        const std::size_t g = tree.pop();
        if (try_group(g) && pending(g) > 0) tree.push(g);
      }
      return;
    }
    // Groups that stay within the fair shares of their queues go first.
    std::vector<std::size_t> later;
    std::vector<std::size_t> first;
    for (const std::size_t g : first_of_each_queue()) (within_share(g) ? first : later).push_back(g);
    serve(first, &later);
    serve(later, nullptr);
  }

  /// As many groups of each queue as the depth says.
  std::vector<std::size_t> first_of_each_queue() {
    const std::vector<std::size_t> all = groups_to_try();
    const auto depth = static_cast<std::size_t>(o_.allocate_queue_depth);
    if (depth == 0 || !has("proportion")) return all;
    const auto before = [&](std::size_t a, std::size_t b) { return group_before(a, b); };
    std::map<std::size_t, kai_heap<std::size_t>> leaves;
    for (const std::size_t g : all) leaves[w_.groups[g].queue].push(g, depth, before);
    std::vector<std::size_t> kept;
    for (auto& [leaf, heap] : leaves) {
      while (!heap.empty()) kept.push_back(heap.pop(before));
    }
    std::sort(kept.begin(), kept.end(), [&](auto a, auto b) { return canonical(a) < canonical(b); });
    return kept;
  }

  /// What a group starts next leaves its queue within its share of all that it asks for.
  bool within_share(std::size_t g) {
    if (!has("proportion")) return true;
    count_held();
    const quota_amounts asked = next_request(g);
    const figures& queue = queues_[w_.groups[g].queue];
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t share = queue.fair_share[r];
      if (asked[r] > 0 && share != unlimited && queue.allocated[r] + asked[r] > share) return false;
    }
    return true;
  }

  void serve(std::vector<std::size_t> groups, std::vector<std::size_t>* later) {
    std::map<std::size_t, kai_heap<std::size_t>> leaves;
    const auto before = [&](std::size_t a, std::size_t b) { return group_before(a, b); };
    const std::size_t depth = has("proportion") ? 0 : static_cast<std::size_t>(o_.allocate_queue_depth);
    const auto push = [&](std::size_t g) { leaves[w_.groups[g].queue].push(g, depth, before); };
    for (const std::size_t g : groups) push(g);
    while (true) {
      const std::size_t leaf = best_leaf(nobody, leaves);
      if (leaf == nobody) return;
      const std::size_t g = leaves.at(leaf).pop(before);
      if (later != nullptr && !within_share(g)) {
        later->push_back(g);
        continue;
      }
      if (!try_group(g) && !pass_over(g)) continue;
      if (pending(g) == 0 || (!passed_over_.empty() && chunk(g).empty())) continue;
      if (later != nullptr && !within_share(g)) {
        later->push_back(g);
      } else {
        push(g);  // the next elastic pod competes again
      }
    }
  }

  /// The next pod beyond the gangs has no node: one that asks for something else is tried.
  bool pass_over(std::size_t g) {
    const std::vector<std::size_t> pods = chunk(g);
    if (!satisfied(g, 0) || pods.size() != 1) return false;
    passed_over_.insert(pods.front());
    return !chunk(g).empty();
  }

  /// The leaf below a queue that is served next, or nobody: the best child by its best group, and so on down.
  std::size_t best_leaf(std::size_t parent, const std::map<std::size_t, kai_heap<std::size_t>>& leaves) {
    std::size_t best = nobody;
    std::size_t leaf_of_best = nobody;
    for (std::size_t q = 0; q < w_.queues.size(); ++q) {
      if (w_.queues[q].parent != parent) continue;
      std::size_t leaf = nobody;
      if (!w_.queues[q].children.empty()) {
        leaf = best_leaf(q, leaves);
      } else if (leaves.contains(q) && !leaves.at(q).empty()) {
        leaf = q;
      }
      if (leaf == nobody) continue;
      if (best == nobody || queue_before(q, leaves.at(leaf).top(), best, leaves.at(leaf_of_best).top())) {
        best = q;
        leaf_of_best = leaf;
      }
    }
    return leaf_of_best;
  }

  // ---- trees of sub-groups ---------------------------------------------------------------------------------------

  template <class Test>
  [[nodiscard]] std::int64_t count(const member& m, Test test) const {
    return std::count_if(m.pods.begin(), m.pods.end(), [&](std::size_t p) { return test(w_.states[p].status); });
  }
  [[nodiscard]] std::int64_t active(const member& m) const { return count(m, is_active); }
  [[nodiscard]] std::int64_t pending(std::size_t g) const {
    std::int64_t sum = 0;
    for (const member& m : w_.groups[g].tree) sum += count(m, [](pod_status s) { return s == pod_status::pending; });
    return sum;
  }

  [[nodiscard]] bool has_pending_stray(std::size_t g) const {
    for (std::size_t p = 0; p < w_.pods.size(); ++p) {
      if (w_.pods[p].group == g && w_.pods[p].stray && w_.states[p].status == pod_status::pending) return true;
    }
    return false;
  }

  /// Pods of a pod set that are placed; members of a set that have all they need.
  [[nodiscard]] std::int64_t present(std::size_t g, std::size_t m) const {
    const member& it = w_.groups[g].tree[m];
    if (!it.is_set) return active(it);
    return std::count_if(it.members.begin(), it.members.end(), [&](std::size_t x) { return satisfied(g, x); });
  }
  [[nodiscard]] bool satisfied(std::size_t g, std::size_t m) const { return present(g, m) >= w_.groups[g].tree[m].min; }
  [[nodiscard]] bool ready(std::size_t g, std::size_t m) const {
    const member& it = w_.groups[g].tree[m];
    if (!it.is_set) return count(it, may_still_run) >= it.min;
    return std::count_if(it.members.begin(), it.members.end(), [&](std::size_t x) { return ready(g, x); }) >= it.min;
  }

  /// Members that lack something first; then those that need something before those that need nothing; then the less
  /// filled; then by name.
  bool member_before(std::size_t g, std::size_t a, std::size_t b) const {
    const member& x = w_.groups[g].tree[a];
    const member& y = w_.groups[g].tree[b];
    if (satisfied(g, a) != satisfied(g, b)) return satisfied(g, b);
    if (satisfied(g, a)) {
      if ((x.min == 0) != (y.min == 0)) return y.min == 0;
      const wide left = wide{present(g, a)} * std::max<std::int64_t>(1, y.min);
      const wide right = wide{present(g, b)} * std::max<std::int64_t>(1, x.min);
      if (left != right) return left < right;
    }
    return x.name < y.name;
  }
  [[nodiscard]] std::vector<std::size_t> members_in_order(std::size_t g, std::size_t m) const {
    std::vector<std::size_t> members = w_.groups[g].tree[m].members;
    std::sort(members.begin(), members.end(), [&](auto a, auto b) { return member_before(g, a, b); });
    return members;
  }

  /// What a group wants to start next: the missing part of its gang, or one more pod.
  [[nodiscard]] std::vector<std::size_t> chunk(std::size_t g) const {
    std::vector<std::size_t> pods;
    add_chunk(g, 0, pods);
    return pods;
  }

  void add_chunk(std::size_t g, std::size_t m, std::vector<std::size_t>& pods) const {
    const member& it = w_.groups[g].tree[m];
    if (!it.is_set) {
      std::int64_t wanted = satisfied(g, m) ? 1 : it.min - active(it);
      for (const std::size_t p : it.pods) {
        if (wanted == 0) break;
        if (w_.states[p].status != pod_status::pending || passed_over_.contains(p)) continue;
        pods.push_back(p);
        --wanted;
      }
    } else if (satisfied(g, m)) {
      for (const std::size_t child : members_in_order(g, m)) {  // the first one that has a pod left
        if (!compat() && !ready(g, child)) continue;            // it would start in part
        const std::size_t before = pods.size();
        add_chunk(g, child, pods);
        if (pods.size() > before) break;
      }
    } else if (compat()) {
      std::int64_t looked_at = 0;  // the first ones, satisfied and hopeless ones among them
      for (const std::size_t child : members_in_order(g, m)) {
        if (looked_at++ == it.min) break;
        if (!satisfied(g, child)) add_chunk(g, child, pods);
      }
    } else {
      std::int64_t missing = it.min - present(g, m);
      for (const std::size_t child : members_in_order(g, m)) {
        if (missing == 0) break;
        if (satisfied(g, child) || !ready(g, child)) continue;
        add_chunk(g, child, pods);
        --missing;
      }
    }
  }

  /// Some pod set has a claim and, without it, too few pods: nobody of the group starts now.
  [[nodiscard]] bool must_wait_as_a_whole(std::size_t g) const {
    return std::any_of(w_.groups[g].tree.begin(), w_.groups[g].tree.end(), [&](const member& m) {
      const std::int64_t claims = count(m, [](pod_status s) { return s == pod_status::pipelined; });
      return !m.is_set && claims > 0 && active(m) - claims < m.min;
    });
  }

  // ---- placing a group -------------------------------------------------------------------------------------------

  /// The next chunk of a group, completely or not at all.
  bool try_group(std::size_t g) {
    const std::vector<pod_state> before = w_.states;
    const std::vector<std::size_t> pods = chunk(g);
    log_.clear();
    if (pods.empty() || queues_refuse(g, next_request(g)) || !place(g, 0, pods)) {
      w_.states = before;
      return false;
    }
    if (must_wait_as_a_whole(g)) make_all_wait();
    ++commits_;
    for (const std::size_t p : log_) {
      const pod_state& s = w_.states[p];
      const bool named = s.node != nobody && !w_.nodes[s.node].devices.empty();
      decisions_.push_back({s.status == pod_status::pipelined, w_.pods[p].name, w_.nodes[s.node].name,
                            std::vector<std::int64_t>(s.devices.begin(), s.devices.end()), named ? w_.pods[p].share : 0,
                            commits_});
    }
    return true;
  }

  bool place(std::size_t g, std::size_t m, const std::vector<std::size_t>& pods) {
    const member& it = w_.groups[g].tree[m];
    if (!it.is_set) {
      return std::all_of(pods.begin(), pods.end(), [&](std::size_t p) {
        return std::find(it.pods.begin(), it.pods.end(), p) == it.pods.end() || place_pod(p);
      });
    }
    const std::vector<std::size_t> members = members_in_order(g, m);  // as they are before any of them is placed
    return std::all_of(members.begin(), members.end(), [&](std::size_t child) { return place(g, child, pods); });
  }

  bool place_pod(std::size_t p) {
    if (has("predicates") && (hopeless(p) || queues_refuse(w_.pods[p].group, w_.pods[p].quota_request()))) return false;
    std::size_t best = nobody;
    for (const std::size_t n : nodes_in_order(p)) {
      if (!fits(p, n, question::can_wait) || !accepts(p, n)) continue;
      best = n;
      break;
    }
    if (best == nobody) return false;
    const bool starts = fits(p, best, question::can_start);
    put(p, best, starts);
    log_.push_back(p);
    return true;
  }

  void put(std::size_t p, std::size_t n, bool starts) {
    const auto devices = choose_devices(p, n, starts ? question::can_start : question::can_wait);
    w_.states[p] = {starts ? pod_status::allocated : pod_status::pipelined, n,
                    devices.value_or(std::set<std::size_t>{}), true};
  }

  /// Those that would start now claim the same nodes instead, behind the claims that there are.
  void make_all_wait() {
    std::vector<std::size_t> claims;
    std::vector<std::size_t> starts;
    for (const std::size_t p : log_) {
      (w_.states[p].status == pod_status::pipelined ? claims : starts).push_back(p);
    }
    for (const std::size_t p : starts) {
      const std::size_t n = w_.states[p].node;
      w_.states[p] = {};
      put(p, n, false);
      claims.push_back(p);
    }
    log_ = std::move(claims);
  }

  // ---- does a pod fit on a node ----------------------------------------------------------------------------------

  [[nodiscard]] room room_on(std::size_t n) const {
    const node& it = w_.nodes[n];
    room r{it.capacity, std::vector<std::int64_t>(it.capacity.size()), it.devices,
           std::vector<std::int64_t>(it.devices.size()), 0};
    for (std::size_t p = 0; p < w_.pods.size(); ++p) {
      const pod_state& s = w_.states[p];
      if (s.node != n || !is_on_node(s.status)) continue;
      const bool leaves = s.status == pod_status::releasing;
      const bool claims = s.status == pod_status::pipelined;
      const auto charge = [&](std::int64_t& idle, std::int64_t& coming, std::int64_t amount) {
        if (!claims) idle -= amount;
        if (leaves) coming += amount;
        if (claims) coming -= amount;
      };
      for (std::size_t d = 0; d < it.capacity.size(); ++d) {
        if (it.capacity[d] != 0) charge(r.idle[d], r.coming[d], w_.pods[p].request[d]);
      }
      if (claims && s.devices.empty()) r.claimed += w_.pods[p].whole_devices;
      for (const std::size_t d : s.devices) charge(r.device_idle[d], r.device_coming[d], w_.pods[p].share);
    }
    return r;
  }

  /// `strict` looks at what the pod asks for only, `compat` at every dimension.
  [[nodiscard]] bool amounts_fit(std::size_t p, const room& r, bool with_coming) const {
    for (std::size_t d = 0; d < r.idle.size(); ++d) {
      const std::int64_t asked = w_.pods[p].request[d];
      const std::int64_t free = r.idle[d] + (with_coming ? r.coming[d] : 0);
      if (asked > free && (compat() || asked != 0)) return false;
    }
    return true;
  }

  /// Whole devices: the lowest that are free and not promised; a claim is on any that come free, so it names none.
  /// Shares: each on the device with the least room that is enough. In `strict` as many devices stay whole as are
  /// claimed.
  [[nodiscard]] std::optional<std::set<std::size_t>> choose_devices(std::size_t p, std::size_t n, question what) const {
    const pod& ask = w_.pods[p];
    const room r = room_on(n);
    std::set<std::size_t> chosen;
    if (r.device_idle.empty()) {
      if (ask.shared_devices > 0) return std::nullopt;
      return chosen;
    }
    const auto room_of = [&](std::size_t d) {
      const std::int64_t in_the_end = r.device_idle[d] + r.device_coming[d];
      return what == question::can_start ? std::min(r.device_idle[d], in_the_end) : in_the_end;
    };
    const auto is_whole = [&](std::size_t d) { return r.device_idle[d] + r.device_coming[d] >= whole_device; };
    const auto left_for_claims = [&](std::size_t taken) {
      std::int64_t whole = 0;
      for (std::size_t d = 0; d < r.device_idle.size(); ++d) whole += is_whole(d) && d != taken && !chosen.contains(d);
      return compat() || r.claimed == 0 || whole >= r.claimed;
    };
    for (std::size_t d = 0; d < r.device_idle.size(); ++d) {
      const bool enough = static_cast<std::int64_t>(chosen.size()) == ask.whole_devices;
      if (!enough && room_of(d) >= whole_device) chosen.insert(d);
    }
    if (static_cast<std::int64_t>(chosen.size()) < ask.whole_devices) return std::nullopt;
    if (ask.whole_devices > 0 && !left_for_claims(nobody)) return std::nullopt;
    if (what == question::can_wait) chosen.clear();
    for (std::int64_t i = 0; i < ask.shared_devices; ++i) {
      std::size_t best = nobody;
      for (std::size_t d = 0; d < r.device_idle.size(); ++d) {
        if (chosen.contains(d) || room_of(d) < ask.share || (is_whole(d) && !left_for_claims(d))) continue;
        if (best == nobody || room_of(d) < room_of(best)) best = d;
      }
      if (best == nobody) return std::nullopt;
      chosen.insert(best);
    }
    return chosen;
  }

  /// Who starts now must fit beside what is promised as well.
  [[nodiscard]] bool fits(std::size_t p, std::size_t n, question what) const {
    const room r = room_on(n);
    return amounts_fit(p, r, true) && (what == question::can_wait || amounts_fit(p, r, false)) &&
           choose_devices(p, n, what).has_value();
  }

  /// What no departure of other pods can change.
  [[nodiscard]] bool hopeless(std::size_t p) const {
    if (w_.pods[p].obstacle) return true;
    for (std::size_t d = 0; d < w_.dimensions; ++d) {
      const std::int64_t asked = w_.pods[p].request[d];
      const bool somewhere =
          std::any_of(w_.nodes.begin(), w_.nodes.end(), [&](const node& n) { return asked <= n.capacity[d]; });
      if (asked != 0 && !somewhere) return true;
    }
    return false;
  }

  // ---- predicates ------------------------------------------------------------------------------------------------

  [[nodiscard]] bool accepts(std::size_t p, std::size_t n) const {
    if (!has("predicates")) return true;
    const pod& ask = w_.pods[p];
    const node& it = w_.nodes[n];
    if (!it.open) return false;
    if (o_.restrict_node_scheduling && !it.labels.contains(ask.wants_gpu() ? gpu_worker : cpu_worker)) return false;
    for (const std::string& taint : it.taints) {
      if (!tolerates(ask.tolerations, taint)) return false;
    }
    for (const auto& [key, value] : ask.node_selector) {
      if (!it.labels.contains(key) || it.labels.at(key) != value) return false;
    }
    return node_affinity_matches(ask.node_affinity, it.labels) && ports_free(p, n) && likes_company(p, n);
  }

  [[nodiscard]] bool is_somewhere(std::size_t p) const {
    return w_.states[p].node != nobody && is_on_node(w_.states[p].status);
  }

  [[nodiscard]] bool ports_free(std::size_t p, std::size_t n) const {
    for (std::size_t other = 0; other < w_.pods.size(); ++other) {
      if (!is_somewhere(other) || w_.states[other].node != n) continue;
      for (const std::string& theirs : w_.pods[other].host_ports) {
        for (const std::string& mine : w_.pods[p].host_ports) {
          if (ports_conflict(mine, theirs)) return false;
        }
      }
    }
    return true;
  }

  /// That of the group; pods without a group are in the empty one.
  [[nodiscard]] std::string name_space(std::size_t p) const {
    return w_.pods[p].group == nobody ? std::string() : w_.groups[w_.pods[p].group].name_space;
  }
  /// A term of one pod selects another, in the same namespace.
  [[nodiscard]] bool selects(std::size_t owner, const std::string& term, std::size_t other) const {
    return name_space(owner) == name_space(other) &&
           selector_matches(split_affinity(term).second, w_.pods[other].labels);
  }
  [[nodiscard]] bool same_domain(const std::string& term, std::size_t a, std::size_t b) const {
    const std::string key = split_affinity(term).first;
    const label_map& x = w_.nodes[a].labels;
    const label_map& y = w_.nodes[b].labels;
    return x.contains(key) && y.contains(key) && x.at(key) == y.at(key);
  }

  /// Pods that are leaving are still there, pods with a claim are there already. The first pod of a kind that wants to
  /// be together may go anywhere the label exists.
  [[nodiscard]] bool likes_company(std::size_t p, std::size_t n) const {
    for (const std::string& term : w_.pods[p].affinity) {
      bool any = false;
      bool here = false;
      for (std::size_t other = 0; other < w_.pods.size(); ++other) {
        if (!is_somewhere(other) || !selects(p, term, other)) continue;
        any = true;
        here = here || same_domain(term, n, w_.states[other].node);
      }
      const bool first_of_its_kind = !any && selects(p, term, p);
      if (!w_.nodes[n].labels.contains(split_affinity(term).first) || (!here && !first_of_its_kind)) return false;
    }
    for (std::size_t other = 0; other < w_.pods.size(); ++other) {
      if (!is_somewhere(other)) continue;
      const std::size_t there = w_.states[other].node;
      for (const std::string& term : w_.pods[p].anti_affinity) {
        if (selects(p, term, other) && same_domain(term, n, there)) return false;
      }
      for (const std::string& term : w_.pods[other].anti_affinity) {
        if (selects(other, term, p) && same_domain(term, n, there)) return false;
      }
    }
    return true;
  }

  // ---- order of nodes --------------------------------------------------------------------------------------------

  /// Fits on what is free, whatever has been promised.
  [[nodiscard]] bool available(std::size_t p, std::size_t n) const {
    return amounts_fit(p, room_on(n), false) && choose_devices(p, n, question::can_start).has_value();
  }
  [[nodiscard]] bool nodes_of_its_kind(std::size_t p, std::size_t n) const {
    return !w_.pods[p].wants_gpu() && w_.nodes[n].capacity[dim_gpu] == 0;
  }
  [[nodiscard]] std::size_t deciding_dimension(std::size_t p) const {
    return w_.pods[p].wants_gpu() ? dim_gpu : dim_cpu;
  }
  [[nodiscard]] std::int64_t free_in_the_end(std::size_t n, std::size_t d) const {
    const room r = room_on(n);
    return r.idle[d] + r.coming[d];
  }

  /// The count that a spreading placement divides by: a label may state another number of GPUs.
  [[nodiscard]] std::int64_t count_on(std::size_t n, std::size_t d) const {
    const node& it = w_.nodes[n];
    if (d != dim_gpu) return it.capacity[d];
    const auto label = it.labels.find("nvidia.com/gpu.count");
    const auto stated = label == it.labels.end() ? std::nullopt : to_integer(label->second);
    return stated.value_or(it.capacity[d] / whole_device);
  }

  /// The emptiest and the fullest node, fitting or not.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range_of(std::size_t d) const {
    std::int64_t high = 0;
    std::optional<std::int64_t> low;
    for (std::size_t n = 0; n < w_.nodes.size(); ++n) {
      if (w_.nodes[n].capacity[d] == 0) continue;
      const std::int64_t free = free_in_the_end(n, d);
      high = std::max(high, free);
      low = std::min(low.value_or(free), free);
    }
    return {low.value_or(0), high};
  }

  [[nodiscard]] exact_score exact_placement(std::size_t p, std::size_t n) const {
    const std::size_t d = deciding_dimension(p);
    const wide free = free_in_the_end(n, d);
    if ((d == dim_gpu ? o_.gpu_placement : o_.cpu_placement) == placement_strategy::spread) {
      const wide count = wide{count_on(n, d)} * (d == dim_gpu ? whole_device : 1);
      if (count == 0) return {};
      return {count < 0 ? -free : free, count < 0 ? -count : count};
    }
    const auto [low, high] = range_of(d);
    if (w_.nodes[n].capacity[d] == 0 || high == 0) return {};
    if (low == high) return {9, 1};
    return {9 * (high - free), high - low};
  }

  [[nodiscard]] double kai_placement(std::size_t p, std::size_t n) const {
    const std::size_t d = deciding_dimension(p);
    const auto native = [&](std::int64_t x) {
      return d == dim_gpu ? static_cast<double>(x) / 1000 : static_cast<double>(x);
    };
    const double free = native(free_in_the_end(n, d));
    if ((d == dim_gpu ? o_.gpu_placement : o_.cpu_placement) == placement_strategy::spread) {
      const auto count = static_cast<double>(count_on(n, d));
      return count == 0 ? 0 : free / count;
    }
    const auto [lowest, highest] = range_of(d);
    const double low = native(lowest);
    const double high = native(highest);
    if (w_.nodes[n].capacity[d] == 0 || high == 0) return 0;
    return low == high ? 9 : 9 * (1 - (free - low) / (high - low));
  }

  /// Best score first, equal scores by name. Scores are added up in the order of the parts.
  [[nodiscard]] std::vector<std::size_t> nodes_in_order(std::size_t p) const {
    std::vector<exact_score> exact(w_.nodes.size());
    std::vector<double> rounded(w_.nodes.size());
    std::vector<std::size_t> order(w_.nodes.size());
    for (std::size_t n = 0; n < w_.nodes.size(); ++n) {
      order[n] = n;
      std::int64_t bands = 0;
      for (const std::string& part : o_.parts) {
        std::int64_t band = 0;
        if (part == "nodeavailability" && available(p, n)) band = 1'000;
        if (part == "resourcetype" && nodes_of_its_kind(p, n)) band = 10;
        if (part == "nominatednode" && w_.pods[p].nominated_node == w_.nodes[n].name) band = 10'000'000;
        bands += band;
        rounded[n] += static_cast<double>(band);
        if (part == "nodeplacement") rounded[n] += kai_placement(p, n);
      }
      if (has("nodeplacement")) exact[n] = exact_placement(p, n);
      exact[n].over += bands * exact[n].under;
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return compat() ? rounded[a] > rounded[b] : exact[b] < exact[a];
    });
    return order;
  }

  world w_;
  policy_options o_;
  quota_amounts total_{};
  std::vector<figures> queues_;
  std::set<std::size_t> passed_over_;  ///< pods
  std::vector<std::size_t> log_;       ///< pods that the present attempt has placed
  std::vector<decision> decisions_;
  std::uint32_t commits_ = 0;
};

}  // namespace

outcome allocate(const snapshot& from, const policy_options& options) { return oracle_session(from, options).run(); }

}  // namespace kaisched::oracle
