// Proofs that a group cannot start. The weakest statement is tried first: what cannot be shown of the cluster as it is
// cannot be shown of one with fewer pods either.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include <kaisched/certificates.hpp>

#include "framework/members.hpp"
#include "model/snapshot_access.hpp"
#include "session/certificate_bounds.hpp"
#include "session/session_impl.hpp"

namespace kaisched {

namespace {

using framework::session_state;
using session_detail::pod_need;

class prover {
 public:
  prover(const session_state& c, group_row group)
      : c_(c), s_(c.state()), group_(group), root_(s_.groups[group].first_sub) {}

  certificate run() {
    certificate found = none();
    if (waits() && !holds_places() && !has_other_surplus() && c_.statement.divisions.empty() && !structure(found))
      strongest(found);
    return found;
  }

 private:
  using bounds = std::vector<model::quota_vector>;

  [[nodiscard]] certificate none() const {
    certificate nothing;
    nothing.group = group_;
    return nothing;
  }

  [[nodiscard]] bool waits() const {
    return framework::count_pods(c_, group_, &model::sub_counts::pending) +
                   framework::count_pods(c_, group_, &model::sub_counts::gated) >
               0 ||
           has_pending_stray();
  }

  /// Places are kept for some of its pods: these start there, whatever `allocate` would say.
  [[nodiscard]] bool holds_places() const {
    for (sub_group_row sub = root_; sub < root_ + s_.groups[group_].sub_count; ++sub) {
      for (pod_row p = s_.subs[sub].first_pod; p != no_row; p = s_.pods[p].next) {
        if (c_.nominated_node(p) != no_row) return true;
      }
    }
    return false;
  }

  /// Of pods beyond the gangs `strict` starts one that fits, whatever the pod before it asks for.
  [[nodiscard]] bool has_other_surplus() const {
    if (c_.compat() || !framework::is_satisfied(c_, root_)) return false;
    return !s_.groups[group_].has_one_pod_set || !s_.subs[root_ + 1].is_uniform;
  }

  /// Of pods that name a sub-group that does not exist.
  [[nodiscard]] bool has_pending_stray() const {
    for (pod_row p = s_.group_extras[group_].first_stray; p != no_row; p = s_.pods[p].next) {
      if (static_cast<pod_status>(c_.live.pod_state[p]) == pod_status::pending) return true;
    }
    return false;
  }

  // ---- facts about the group alone
  bool structure(certificate& to) const {
    const auto say = [&](constraint what, sub_group_row sub, std::int64_t need, std::int64_t have) {
      to.kind = certificate_kind::structure;
      to.assumption = certificate_assumption::empty;
      to.what = what;
      to.sub_group = sub;
      to.need = need;
      to.have = have;
      return true;
    };
    if (!c_.queues.is_schedulable_queue(s_.groups[group_].queue)) return say(constraint::queue_missing, no_row, 0, 0);
    if (const std::int64_t open = std::ssize(c_.groups.open_dependencies(group_)); open > 0) {
      const std::int64_t all = std::ssize(split_list(s_.group_extras[group_].after));
      return say(constraint::dependency, no_row, all, all - open);
    }
    if (const sub_group_row lacking = first_unready(root_, false); lacking != no_row) {
      const model::sub_counts& n = c_.counts(lacking);
      const std::int64_t gated = n.gated;
      const constraint what = first_unready(root_, true) == no_row ? constraint::gated
                              : has_pending_stray()                ? constraint::sub_group_missing
                                                                   : constraint::gang_incomplete;
      return say(what, s_.group_extras[group_].has_sub_groups ? lacking : no_row,
                 framework::members_needed(c_, lacking), static_cast<std::int64_t>(n.alive) - gated);
    }
    if (framework::count_pods(c_, group_, &model::sub_counts::pending) > 0) return false;
    const bool gated = framework::count_pods(c_, group_, &model::sub_counts::gated) > 0;
    return say(gated ? constraint::gated : constraint::sub_group_missing, no_row, 1, 0);
  }

  /// The first pod set that keeps a member from being ready: no_row if it is. Gated pods may count as if they were not.
  [[nodiscard]] sub_group_row first_unready(sub_group_row member, bool with_gated) const {
    const model::sub_info& info = s_.subs[member];
    const std::int64_t needed = framework::members_needed(c_, member);
    if (!info.is_set) {
      const std::int64_t alive = c_.counts(member).alive;
      return alive - (with_gated ? 0 : c_.counts(member).gated) >= needed ? no_row : member;
    }
    std::int64_t ready = 0;
    sub_group_row first = no_row;
    for (sub_group_row child = info.first_child; child != no_row; child = s_.subs[child].next_sibling) {
      const sub_group_row lacking = first_unready(child, with_gated);
      if (lacking == no_row) ++ready;
      if (lacking != no_row && first == no_row) first = lacking;
    }
    return ready >= needed ? no_row : first;
  }

  // ---- the strongest statement that holds
  void strongest(certificate& to) {
    all_ = session_detail::need_of(c_, group_);
    search_.emplace(c_, all_);
    nodes_.resize(s_.node_count());
    std::iota(nodes_.begin(), nodes_.end(), node_row{0});
    if (!prove(certificate_assumption::as_is, to)) return;
    certificate stronger = none();
    if (prove(certificate_assumption::empty, stronger) || prove(certificate_assumption::without_preemptible, stronger))
      to = std::move(stronger);
  }

  bool prove(certificate_assumption assumed, certificate& to) {
    to.assumption = assumed;
    if (queues(assumed, to)) return true;
    const session_detail::open_amounts open = session_detail::amounts_under(c_, group_, assumed);
    if (auto found = search_->find(open, all_.root, nodes_)) {
      to.kind = found->kind;
      to.bound = *std::move(found);
      return true;
    }
    if (c_.topologies != nullptr && domains(open, all_.root, to)) return true;
    to = none();
    return false;
  }

  // ---- queues
  bool queues(certificate_assumption assumed, certificate& to) const {
    if (!c_.has_proportion) return false;
    const model::group_core& g = s_.groups[group_];
    model::quota_vector least{};
    for (dimension d = 0; d < quota_dimensions; ++d) least[d] = session_detail::least_amount(all_, all_.root, d);
    for (queue_row q = g.queue; q != no_row; q = (*s_.queues)[q].parent) {
      if (over(assumed, q, least, constraint::queue_limit, to)) return true;
    }
    for (queue_row q = g.queue; q != no_row && !g.preemptible && !g.semi_preemptible; q = (*s_.queues)[q].parent) {
      if (over(assumed, q, least, constraint::queue_quota, to)) return true;
    }
    return false;
  }

  bool over(certificate_assumption assumed, queue_row q, const model::quota_vector& least, constraint what,
            certificate& to) const {
    const model::queue_info& info = (*s_.queues)[q];
    const model::quota_vector& bound = what == constraint::queue_quota ? info.quota : info.limit;
    const bool of_nonpreemptible =
        what == constraint::queue_quota || assumed == certificate_assumption::without_preemptible;
    // Which pods of semi-preemptible groups count depends on the others of the group.
    if (assumed != certificate_assumption::empty && of_nonpreemptible && s_.semi_preemptible_groups > 0) return false;
    for (dimension d = 0; d < quota_dimensions; ++d) {
      if (least[d] == 0 || bound[d] == unlimited) continue;
      if (d == dim_gpu && assumed != certificate_assumption::empty && holds_beyond_amounts()) continue;
      const std::int64_t left =
          bound[d] - (assumed == certificate_assumption::empty ? 0 : held(q, d, of_nonpreemptible));
      if (least[d] <= left) continue;
      to.kind = certificate_kind::queue_bound;
      to.what = what;
      to.queue = q;
      to.dim = d;
      to.need = least[d];
      to.have = left;
      return true;
    }
    return false;
  }

  [[nodiscard]] bool holds_beyond_amounts() const {
    return s_.pods_with_gpu_memory + s_.pods_with_mig + s_.pods_with_claims + s_.pods_asking_vendors > 0;
  }

  /// What pods of the queue and below hold on nodes. The sums of the session have claims in them that it has made.
  [[nodiscard]] std::int64_t held(queue_row q, dimension d, bool of_nonpreemptible) const {
    std::int64_t sum = (*(of_nonpreemptible ? c_.live.queue_nonpreemptible : c_.live.queue_allocated))[q][d];
    for (const pod_row p : claims_of_session()) {
      const model::group_core& g = s_.groups[s_.pods[p].group];
      if (of_nonpreemptible && (g.preemptible || g.semi_preemptible)) continue;
      bool is_below = false;
      for (queue_row up = g.queue; up != no_row; up = (*s_.queues)[up].parent) is_below = is_below || up == q;
      if (is_below) sum -= c_.queues.held(p)[d];
    }
    return sum;
  }

  [[nodiscard]] std::vector<pod_row> claims_of_session() const {
    std::vector<pod_row> pods;
    for (const decision& d : c_.results.decisions) {
      if (d.pod == no_row || s_.pods[d.pod].sub == no_row) continue;
      const auto was = static_cast<pod_status>(model::state_of(c_.base).live.pod_state[d.pod]);
      const auto now = static_cast<pod_status>(c_.live.pod_state[d.pod]);
      if (now == pod_status::pipelined && was != pod_status::pipelined) pods.push_back(d.pod);
    }
    std::sort(pods.begin(), pods.end());
    pods.erase(std::unique(pods.begin(), pods.end()), pods.end());
    return pods;
  }

  // ---- topologies
  /// The member, or one below it that has to start as well, has to be in one domain, and none has room.
  bool domains(const session_detail::open_amounts& open, const pod_need& need, certificate& to) const {
    const model::topology_ask* ask = s_.subs[need.sub].together.get();
    if (ask != nullptr && !ask->required_level.empty() && no_domain_has_room(open, need, *ask, to)) return true;
    return need.is_set && need.needs_all &&
           std::any_of(need.members.begin(), need.members.end(),
                       [&](const pod_need& member) { return domains(open, member, to); });
  }

  bool no_domain_has_room(const session_detail::open_amounts& open, const pod_need& need,
                          const model::topology_ask& ask, certificate& to) const {
    const auto tree = std::find_if(s_.topologies->begin(), s_.topologies->end(),
                                   [&](const model::topology_info& one) { return one.name == ask.topology; });
    if (tree == s_.topologies->end()) return false;
    const auto level = std::find(tree->levels.begin(), tree->levels.end(), ask.required_level);
    if (level == tree->levels.end()) return false;
    std::map<std::string, std::vector<node_row>> by_domain;
    std::vector<node_row> outside;
    for (const node_row row : nodes_) {
      std::string domain;
      bool is_inside = true;
      for (auto key = tree->levels.begin(); key <= level && is_inside; ++key) {
        const std::string* value = model::find_label((*s_.nodes)[row]->labels, *key);
        is_inside = value != nullptr;
        if (is_inside) domain += (key == tree->levels.begin() ? "" : ".") + *value;
      }
      (is_inside ? by_domain[domain] : outside).push_back(row);
    }
    std::vector<domain_bound> found;
    for (const auto& [name, rows] : by_domain) {
      std::optional<placement_bound> bound = search_->find(open, need, rows);
      if (!bound) return false;
      found.push_back({name, *std::move(bound)});
    }
    if (session_detail::least_pods(need, session_detail::kind_set(all_.kinds.size(), true)) == 0) return false;
    to.kind = certificate_kind::domain_bound;
    to.sub_group = need.sub == root_ ? no_row : need.sub;
    to.topology = ask.topology;
    to.level = ask.required_level;
    to.domains = std::move(found);
    to.outside = std::move(outside);
    return true;
  }

  const session_state& c_;
  const model::cluster_state& s_;
  group_row group_;
  sub_group_row root_;
  session_detail::waiting_need all_;
  std::optional<session_detail::bound_search> search_;
  std::vector<node_row> nodes_;
};

}  // namespace

result<certificate> session::certify(group_row group) const {
  const session_state& c = *impl_->state;
  if (group >= c.state().group_slots || !c.state().groups[group].live)
    return error{status::argument, "there is no pod group in this row", {}};
  if (!c.statement.log.empty())
    return error{status::state, "the statement is open: commit or roll back before a proof", {}};
  return prover(c, group).run();
}

}  // namespace kaisched
