#include "actions/failed_groups.hpp"

#include <algorithm>
#include <compare>
#include <optional>
#include <span>

#include "actions/victim_search.hpp"
#include "framework/members.hpp"
#include "policy/claims/ledger.hpp"

namespace kaisched::actions {

namespace {

using framework::request_list;
using framework::session_state;
using request = std::vector<std::int64_t>;

void append_text(std::string& to, std::string_view text) {
  to += std::to_string(text.size());
  to += ':';
  to += text;
}

/// Every amount of the first is at most that of the second.
bool fits(const request& a, const request& b) {
  for (std::size_t d = 0; d < std::max(a.size(), b.size()); ++d) {
    if ((d < a.size() ? a[d] : 0) > (d < b.size() ? b[d] : 0)) return false;
  }
  return true;
}

/// By GPUs, cores and memory.
void sort_requests(request_list& requests) {
  const auto amount = [](const request& r, std::uint32_t d) { return d < r.size() ? r[d] : 0; };
  std::stable_sort(requests.begin(), requests.end(), [&](const request& a, const request& b) {
    for (const std::uint32_t d : {dim_gpu, dim_cpu, dim_memory}) {
      if (amount(a, d) != amount(b, d)) return amount(a, d) < amount(b, d);
    }
    return false;
  });
}

/// Of the pods that wait, sorted.
request_list requests_of(const session_state& c, group_row group) {
  request_list found;
  for (const pod_row p : pods_of(c, group)) {
    if (static_cast<pod_status>(c.live.pod_state[p]) == pod_status::pending)
      found.push_back(c.state().class_of(p).ask.request);
  }
  sort_requests(found);
  return found;
}

/// Pods that wait and are all of one class.
struct equal_pods {
  const model::pod_class* of = nullptr;  ///< null: there are none
  std::size_t count = 0;
};

/// Nothing if they are of several classes.
std::optional<equal_pods> equal_pods_of(const session_state& c, group_row group) {
  equal_pods found;
  const model::group_core& g = c.state().groups[group];
  const auto add = [&](class_row kind, std::size_t count) {
    const model::pod_class& own = *c.state().classes[kind];
    if (found.of != nullptr && found.of != &own) return false;
    found.of = &own;
    found.count += count;
    return true;
  };
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = c.state().subs[sub];
    if (info.is_set || c.counts(sub).pending == 0) continue;
    if (info.is_uniform) {
      if (!add(info.only_class, c.counts(sub).pending)) return std::nullopt;
      continue;
    }
    for (pod_row p = info.first_pod; p != no_row; p = c.state().pods[p].next) {
      if (static_cast<pod_status>(c.live.pod_state[p]) != pod_status::pending) continue;
      if (!add(c.state().pods[p].pod_class, 1)) return std::nullopt;
    }
  }
  return found;
}

/// Each request of the second, the largest first, is at most its counterpart in the first.
bool contains(const request_list& larger, const request_list& smaller) {
  if (smaller.size() > larger.size()) return false;
  const std::size_t surplus = larger.size() - smaller.size();
  for (std::size_t i = 0; i < smaller.size(); ++i) {
    if (!fits(smaller[i], larger[i + surplus])) return false;
  }
  return true;
}

/// Fewer pods, or somewhere in the two sorted lists a smaller request. Requests that cannot be compared are passed
/// over.
bool is_easier(const request_list& mine, const request_list& failed) {
  if (mine.empty() || failed.empty()) return false;
  if (failed.size() > mine.size()) return true;
  for (std::size_t i = 0; i < std::min(mine.size(), failed.size()); ++i) {
    if (fits(mine[i], failed[i]) && !fits(failed[i], mine[i])) return true;
  }
  return false;
}

/// The same of two groups; lists of equal requests need not be made.
bool is_easier(const session_state& c, group_row mine, group_row failed) {
  const std::optional<equal_pods> a = equal_pods_of(c, mine);
  const std::optional<equal_pods> b = equal_pods_of(c, failed);
  if (!a || !b) return is_easier(requests_of(c, mine), requests_of(c, failed));
  if (a->count == 0 || b->count == 0) return false;
  if (b->count > a->count) return true;
  return fits(a->of->ask.request, b->of->ask.request) && !fits(b->of->ask.request, a->of->ask.request);
}

bool is_not_larger(const request_list& mine, const request_list& known) {
  if (mine.empty() || known.empty() || mine.size() > known.size()) return false;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    if (!fits(mine[i], known[i])) return false;
  }
  return true;
}

/// Topology constraints of a pod set and of the sets above it.
void append_topologies(const session_state& c, sub_group_row pod_set, std::string& to) {
  for (sub_group_row up = pod_set; up != no_row; up = c.state().subs[up].parent) {
    const model::topology_ask* ask = c.state().subs[up].together.get();
    for (const std::string_view part : {ask == nullptr ? std::string_view{} : std::string_view(ask->topology),
                                        ask == nullptr ? std::string_view{} : std::string_view(ask->required_level),
                                        ask == nullptr ? std::string_view{} : std::string_view(ask->preferred_level)})
      append_text(to, part);
  }
}

/// The same; a group that has pods already is like no other, because it stays where these are.
void append_domains(const session_state& c, sub_group_row pod_set, std::string& to) {
  if (c.topologies == nullptr) return;
  append_topologies(c, pod_set, to);
  const group_row group = c.state().subs[pod_set].group;
  const model::group_core& g = c.state().groups[group];
  bool asks = false;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    asks = asks || c.state().subs[sub].together != nullptr;
  }
  if (asks && framework::count_pods(c, group, &model::sub_counts::active_allocated) > 0)
    append_text(to, std::to_string(group));
}

}  // namespace

std::string failed_groups::constraints_of(const model::pod_class& of) {
  const model::pod_ask& ask = of.ask;
  std::string text;
  for (const std::string* one : {&ask.obstacle, &ask.node_selector, &ask.node_affinity, &ask.affinity,
                                 &ask.anti_affinity, &ask.tolerations, &ask.host_ports}) {
    append_text(text, *one);
  }
  return text;
}

/// A number for what pods of a class ask of nodes: equal for equal texts.
std::uint32_t failed_groups::number_of_class(class_row kind) {
  std::vector<std::uint32_t>& known = c_.chunks.signatures.number_of_class;
  if (known.size() < c_.state().class_slots) known.resize(c_.state().class_slots, no_row);
  std::uint32_t& number = known[kind];
  if (number == no_row) number = number_of(constraints_of(*c_.state().classes[kind]));
  return number;
}

std::uint32_t failed_groups::number_of(std::string_view text) {
  auto& all = c_.chunks.signatures.number_of_text;
  if (const auto known = all.find(text); known != all.end()) return known->second;
  return all.try_emplace(std::string(text), static_cast<std::uint32_t>(all.size())).first->second;
}

/// The same for the topologies of a pod set.
std::uint32_t failed_groups::number_of_topologies(sub_group_row pod_set) {
  std::string text;
  if (c_.state().topology_asks > 0) {
    append_topologies(c_, pod_set, text);
    return number_of(text);
  }
  std::size_t depth = 0;
  for (sub_group_row up = c_.state().subs[pod_set].parent; up != no_row; up = c_.state().subs[up].parent) ++depth;
  std::vector<std::uint32_t>& known = c_.chunks.signatures.number_of_depth;
  if (known.size() <= depth) known.resize(depth + 1, no_row);
  if (known[depth] == no_row) {
    append_topologies(c_, pod_set, text);
    known[depth] = number_of(text);
  }
  return known[depth];
}

/// Of each pod set: its topologies, then what its pods ask for with how many ask for it.
framework::signature failed_groups::signature_of(group_row group) {
  const model::cluster_state& s = c_.state();
  const model::group_core& g = s.groups[group];
  boost::container::small_vector<framework::signature, 2> pod_sets;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    if (s.subs[sub].is_set) continue;
    framework::signature& made = pod_sets.emplace_back();
    const model::sub_counts& counts = s.live.counts[sub];
    const std::uint32_t inactive = counts.total - counts.active_allocated;
    if (inactive == 0) continue;
    made.push_back(number_of_topologies(sub));
    if (s.subs[sub].is_uniform) {
      made.insert(made.end(), {number_of_class(s.subs[sub].only_class), inactive});
      continue;
    }
    std::map<std::uint32_t, std::uint32_t> waiting;
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      if (!model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::active_allocated))
        ++waiting[number_of_class(s.pods[p].pod_class)];
    }
    for (const auto& [number, count] : waiting) made.insert(made.end(), {number, count});
  }
  std::sort(pod_sets.begin(), pod_sets.end());
  framework::signature all;
  for (const framework::signature& one : pod_sets) {
    all.push_back(static_cast<std::uint32_t>(one.size()));
    all.insert(all.end(), one.begin(), one.end());
  }
  if (c_.constraints.has(policy::trait_closes_nodes)) all.push_back(c_.constraints.kind_of(group));
  if (c_.constraints.has(policy::trait_depends_on_pod)) all.push_back(group);
  return all;
}

/// A number for that. As in the reference it is made when it is first asked for, and stays.
failed_groups::key failed_groups::key_of(group_row group) {
  std::vector<std::uint32_t>& known = c_.chunks.signatures.number_of_group;
  if (known.empty()) known.assign(c_.state().group_slots, no_row);
  std::uint32_t& number = known[group];
  if (number == no_row) {
    std::map<framework::signature, std::uint32_t>& all = c_.chunks.signatures.number_of_signature;
    number = all.try_emplace(signature_of(group), static_cast<std::uint32_t>(all.size())).first->second;
  }
  return {per_queue_ ? c_.state().groups[group].queue : no_row, number};
}

/// All that the pod asks for; of claims not their names, where they are for this pod alone.
std::string failed_groups::text_of_ask(pod_row p) const {
  const model::pod_ask& asked = c_.state().class_of(p).ask;
  if (c_.access.claims == nullptr || asked.claims.empty()) return asked.key();
  model::pod_ask other = asked;
  other.claims.clear();
  return other.key() + c_.access.claims->text_of(p);
}

/// Topologies of the pod set, as a number. A group that has pods already is like no other, because it stays where these
/// are.
std::uint32_t failed_groups::number_of_domains(sub_group_row pod_set) {
  if (c_.topologies == nullptr) return 0;
  if (c_.state().topology_asks == 0) return number_of_topologies(pod_set);
  std::string text;
  append_domains(c_, pod_set, text);
  return number_of(text);
}

/// What has to be equal of a pod.
framework::signature failed_groups::strict_key_of_pod(pod_row p, sub_group_row first_sub) {
  const model::cluster_state& s = c_.state();
  const std::string_view labels = s.pod_extras[p].labels;
  // Zones, for one, may align a larger request where they cannot align a smaller one.
  const bool by_all = c_.constraints.is_not_by_amount(c_.access, p);
  return {number_of_class(s.pods[p].pod_class),
          labels.empty() ? no_row : number_of(labels),
          s.pods[p].sub - first_sub,
          s.pod_extras[p].nominated,
          by_all ? number_of(text_of_ask(p)) : no_row,
          c_.constraints.tells_apart(c_.access, p) ? p : no_row,
          number_of_domains(s.pods[p].sub)};
}

/// All that has to be equal.
framework::signature failed_groups::strict_key_of(group_row group) {
  const model::cluster_state& s = c_.state();
  const model::group_core& g = s.groups[group];
  const framework::pod_list chunk = c_.chunks.chunk_of(group, true);
  boost::container::small_vector<framework::signature, 2> pods;
  for (const pod_row p : chunk) {
    framework::signature made = strict_key_of_pod(p, g.first_sub);
    if (pods.empty() || made != pods.back()) pods.push_back(std::move(made));
  }
  std::sort(pods.begin(), pods.end());
  pods.erase(std::unique(pods.begin(), pods.end()), pods.end());
  framework::signature all{(g.preemptible ? 1U : 0U) | (g.semi_preemptible ? 2U : 0U), g.queue,
                           number_of(s.group_extras[group].name_space), c_.constraints.kind_of(group)};
  if (g.semi_preemptible) {
    for (const std::int64_t amount : c_.queues.core_growth(group, chunk)) {
      const auto bits = static_cast<std::uint64_t>(amount);
      all.insert(all.end(), {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32U)});
    }
  }
  for (const framework::signature& one : pods) all.insert(all.end(), one.begin(), one.end());
  return all;
}

std::uint32_t failed_groups::number_of_requests(request_list requests) {
  sort_requests(requests);
  framework::group_signatures& all = c_.chunks.signatures;
  const auto [at, fresh] =
      all.number_of_requests.try_emplace(requests, static_cast<std::uint32_t>(all.requests.size()));
  if (fresh) all.requests.push_back(std::move(requests));
  return at->second;
}

/// Of the next chunk of a group.
std::uint32_t failed_groups::number_of_requests(group_row group) {
  const framework::pod_list chunk = c_.chunks.chunk_of(group, true);
  const auto class_of = [this](pod_row p) { return c_.state().pods[p].pod_class; };
  const bool are_equal = !chunk.empty() && std::all_of(chunk.begin(), chunk.end(), [&](pod_row p) {
    return class_of(p) == class_of(chunk.front());
  });
  if (are_equal) {
    auto& known = c_.chunks.signatures.number_of_equal;
    const std::pair<class_row, std::size_t> equal{class_of(chunk.front()), chunk.size()};
    if (const auto at = known.find(equal); at != known.end()) return at->second;
    const std::vector<std::int64_t>& one = c_.state().classes[equal.first]->ask.request;
    return known.emplace(equal, number_of_requests(request_list(chunk.size(), one))).first->second;
  }
  request_list requests;
  for (const pod_row p : chunk) requests.push_back(c_.state().class_of(p).ask.request);
  return number_of_requests(std::move(requests));
}

const framework::failure_signature& failed_groups::strict_signature_of(group_row group) {
  if (c_.chunks.signatures.commits != c_.statement.commits) {
    c_.chunks.signatures.commits = c_.statement.commits;
    c_.chunks.signatures.of_failures = {};
  }
  framework::failure_signature& made = c_.chunks.signatures.of_failures.at(group);
  if (made.is_known && made.changes == c_.chunks.changes_of(group)) return made;
  std::map<framework::signature, std::uint32_t>& kinds = c_.chunks.signatures.number_of_kind;
  made.is_known = true;
  made.kind = kinds.try_emplace(strict_key_of(group), static_cast<std::uint32_t>(kinds.size())).first->second;
  made.priority = c_.state().groups[group].priority;
  made.requests = number_of_requests(group);
  made.changes = c_.chunks.changes_of(group);
  return made;
}

bool failed_groups::is_at_least(const framework::failure_signature& larger,
                                const framework::failure_signature& smaller) const {
  // A group that gains more by reclaiming may take more. And what preempts for more leaves less room for victims to
  // return, which E5 counts.
  const bool by_amount = c_.run.action == action_kind::reclaim || c_.run.action == action_kind::preempt;
  if (larger.priority > smaller.priority) return false;
  if (larger.requests == smaller.requests) return true;
  const std::vector<request_list>& requests = c_.chunks.signatures.requests;
  return !by_amount && contains(requests[larger.requests], requests[smaller.requests]);
}

void failed_groups::forget_if_changed() {
  if (commits_ == c_.statement.commits) return;
  commits_ = c_.statement.commits;
  failed_.clear();
}

bool failed_groups::tell_that_hopeless(group_row group) {
  if (!c_.options.signatures) return false;
  if (c_.compat()) {
    const auto known = smallest_.find(key_of(group));
    return known != smallest_.end() && !is_easier(c_, group, known->second);
  }
  forget_if_changed();
  if (failed_.empty()) return false;
  const framework::failure_signature& mine = strict_signature_of(group);
  const auto known = failed_.find(mine.kind);
  return known != failed_.end() &&
         std::any_of(known->second.begin(), known->second.end(),
                     [&](const framework::failure_signature& theirs) { return is_at_least(mine, theirs); });
}

void failed_groups::add(group_row group) {
  ++added_;
  if (!c_.options.signatures) return;
  if (c_.compat()) {
    const auto [known, fresh] = smallest_.try_emplace(key_of(group), group);
    if (!fresh && is_not_larger(requests_of(c_, group), requests_of(c_, known->second))) known->second = group;
    return;
  }
  forget_if_changed();
  const framework::failure_signature& mine = strict_signature_of(group);
  std::vector<framework::failure_signature>& known = failed_[mine.kind];
  // These say less.
  std::erase_if(known, [&](const framework::failure_signature& theirs) { return is_at_least(theirs, mine); });
  known.push_back(mine);
}

void failed_groups::note_cut(group_row group) { ++cuts_[strict_signature_of(group).kind]; }

std::int64_t failed_groups::most_steps(group_row group) {
  constexpr unsigned most_halves = 4;
  std::int64_t gpus = 0;
  for (const pod_row p : c_.chunks.chunk_of(group, true)) gpus += gpus_wanted(c_, p);
  const std::int64_t most = framework::search_steps_of(c_.options, gpus);
  if (cuts_.empty() || most == unlimited) return most;
  const auto known = cuts_.find(strict_signature_of(group).kind);
  if (known == cuts_.end()) return most;
  return std::max<std::int64_t>(1, most >> std::min(known->second, most_halves));
}

}  // namespace kaisched::actions
