// The schema kai-call/1: recorded calls of single functions, each with its arguments and its answer.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/json_values.hpp"
#include "conformance/kai_match.hpp"
#include "conformance/kai_topology_calls.hpp"
#include "conformance/schemas.hpp"
#include "conformance/unsupported.hpp"
#include "policy/entitlement/kai_division.hpp"
#include "policy/ordering/kai_queue_order.hpp"
#include "policy/reclaim/reclaim_rules.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using policy::kai_queue;
using three = policy::kai_amounts;

constexpr std::array<std::string_view, quota_dimensions> resources{"cpu_milli", "memory", "gpu"};

three three_of(const json& amounts) {
  three made{};
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = value_or(amounts, resources[i], 0.0);
  return made;
}

std::uint32_t resource_index(const json& in) {
  const std::string name = in.at("resource").get<std::string>();
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (resources[i] == name) return static_cast<std::uint32_t>(i);
  }
  throw unsupported("resource " + name);
}

/// The queue of a record, without its place in a tree. Its name belongs to the record.
kai_queue queue_of(const json& record) {
  kai_queue queue;
  if (has(record, "uid")) queue.uid = record.at("uid").get_ref<const std::string&>();
  queue.priority = value_or(record, "priority", std::int64_t{0});
  queue.created = value_or(record, "created_rank", std::int64_t{0});
  for (std::size_t i = 0; i < resources.size(); ++i) {
    const json& share = member(record, resources[i]);
    queue.shares[i] = {value_or(share, "deserved", 0.0),
                       value_or(share, "max_allowed", 0.0),
                       value_or(share, "over_quota_weight", 0.0),
                       value_or(share, "request", 0.0),
                       value_or(share, "allocated", 0.0),
                       value_or(share, "allocated_nonpreemptible", 0.0),
                       value_or(share, "usage", 0.0),
                       value_or(share, "fair_share", 0.0)};
  }
  return queue;
}

/// The queues of a call. Results name them by key, which can differ from the queue's own name.
struct named_queues {
  explicit named_queues(const json& in) {
    for (const json& record : items(in, "queues")) {
      keys.push_back(text_or_empty(record, "key"));
      queues.push_back(queue_of(record));
    }
    for (std::size_t i = 0; i < queues.size(); ++i) {
      queues[i].parent = index_of(text_or_empty(in.at("queues")[i], "parent"));
    }
  }

  [[nodiscard]] std::uint32_t index_of(std::string_view uid) const {
    for (std::size_t i = 0; i < queues.size(); ++i) {
      if (!uid.empty() && queues[i].uid == uid) return static_cast<std::uint32_t>(i);
    }
    return no_row;
  }

  [[nodiscard]] std::vector<kai_queue*> pointers() {
    std::vector<kai_queue*> found;
    found.reserve(queues.size());
    for (kai_queue& queue : queues) found.push_back(&queue);
    return found;
  }

  [[nodiscard]] json fair_shares() const {
    json shares = json::object();
    for (std::size_t i = 0; i < queues.size(); ++i) {
      for (std::size_t r = 0; r < resources.size(); ++r) {
        shares[keys[i]][std::string(resources[r])] = queues[i].shares[r].fair_share;
      }
    }
    return shares;
  }

  std::vector<std::string> keys;
  std::vector<kai_queue> queues;
};

// ---- the functions, in -> out --------------------------------------------------------------------

json set_resource_share(const json& in) {
  named_queues named(in);
  const double rest = policy::kai_divide(named.pointers(), resource_index(in), in.at("total").get<double>(),
                                         in.at("k_value").get<double>());
  return {{"remaining", rest}, {"fair_share", named.fair_shares()}};
}

json divide_over_quota_resource(const json& in) {
  named_queues named(in);
  const double rest = policy::kai_divide_over_quota(named.pointers(), resource_index(in), in.at("total").get<double>(),
                                                    in.at("k_value").get<double>());
  return {{"remaining", rest}, {"fair_share", named.fair_shares()}};
}

/// One level: every queue is divided among all others, whatever its parent.
json set_resources_share(const json& in) {
  named_queues named(in);
  const three total = three_of(in.at("total"));
  for (std::uint32_t r = 0; r < resources.size(); ++r) {
    policy::kai_divide(named.pointers(), r, total[r], in.at("k_value").get<double>());
  }
  return {{"fair_share", named.fair_shares()}};
}

json fair_share_tree(const json& in) {
  named_queues named(in);
  policy::kai_divide_tree(named.queues, three_of(in.at("total")), in.at("k_value").get<double>());
  return named.fair_shares();
}

/// One side of a comparison, with what its span looks at.
struct owned_side {
  explicit owned_side(const json& record)
      : queue(queue_of(record.at("queue"))), job(three_of(member(record, "job_request"))) {
    for (const json& victim : items(record, "victims")) victims.push_back(three_of(member(victim, "allocated")));
  }
  [[nodiscard]] policy::kai_side view() const { return {&queue, job, victims}; }

  kai_queue queue;
  three job;
  std::vector<three> victims;
};

json queue_order(const json& in) {
  const owned_side left(in.at("left"));
  const owned_side right(in.at("right"));
  return {{"result", policy::kai_compare_queues(left.view(), right.view(), three_of(member(in, "total")))}};
}

json over(std::uint32_t resource) {
  return {{"over", resource != no_row}, {"resource", resource == no_row ? "" : resources.at(resource)}};
}

json is_over_limit(const json& in) {
  return over(policy::kai_over_limit(queue_of(in.at("queue")), three_of(in.at("requested"))));
}

json is_allocated_non_preemptible_over_quota(const json& in) {
  return over(policy::kai_over_quota(queue_of(in.at("queue")), three_of(in.at("requested"))));
}

// ---- capacity of a queue and its ancestors -----------------------------------------------------------

using over_function = std::uint32_t (*)(const kai_queue& queue, const three& requested);

struct capacity_rule {
  std::string_view reason;
  over_function over;
  double policy::kai_share::* bound;
  double policy::kai_share::* held;
};
constexpr capacity_rule limit_rule{"OverLimit", policy::kai_over_limit, &policy::kai_share::limit,
                                   &policy::kai_share::allocated};
constexpr capacity_rule quota_rule{"NonPreemptibleOverQuota", policy::kai_over_quota, &policy::kai_share::deserved,
                                   &policy::kai_share::nonpreemptible};

/// An amount as KAI's messages show it: cores, gigabytes, GPUs, with three decimals.
double shown_amount(double amount, std::uint32_t resource) {
  constexpr three units{1000, 1e9, 1};
  return std::round(amount / units.at(resource) * 1000) / 1000;
}

/// The verdict of one rule, from the leaf up to the root: the first queue that refuses, and the figures of its message.
json judge_path(const json& in, const capacity_rule& rule) {
  const named_queues named(in);
  const three asked = three_of(in.at("requested"));
  for (std::uint32_t q = named.index_of(text_or_empty(in.at("job"), "queue")); q != no_row;
       q = named.queues[q].parent) {
    const kai_queue& queue = named.queues[q];
    const std::uint32_t resource = rule.over(queue, asked);
    if (resource == no_row) continue;
    const policy::kai_share& share = queue.shares.at(resource);
    const double bound = shown_amount(share.*rule.bound, resource);
    const double held = shown_amount(share.*rule.held, resource);
    const double requested = shown_amount(asked.at(resource), resource);
    const bool is_limit = rule.reason == limit_rule.reason;
    return {{"schedulable", false},
            {"reason", rule.reason},
            {"queue", queue.uid},
            {"figures", is_limit ? json{bound, held, requested} : json{requested, bound, held}}};
  }
  return {{"schedulable", true}};
}

json job_over_limit(const json& in) { return judge_path(in, limit_rule); }

json job_over_quota(const json& in) {
  if (value_or(in.at("job"), "preemptible", false)) return {{"schedulable", true}};
  return judge_path(in, quota_rule);
}

/// Limits of the whole path come before quotas.
json job_over_capacity(const json& in) {
  json limited = job_over_limit(in);
  return limited.at("schedulable").get<bool>() ? job_over_quota(in) : limited;
}

/// A recorded answer as it is compared: of a message only the figures count.
json comparable(json out) {
  if (!out.is_object() || !out.contains("message")) return out;
  static const std::regex figure(R"(([\d.]+) (?:GPUs|CPU cores|cores|GB)\b)");
  const std::string message = out.at("message").get<std::string>();
  json figures = json::array();
  for (std::sregex_iterator found(message.begin(), message.end(), figure), end; found != end; ++found) {
    figures.push_back(std::stod((*found)[1].str()));
  }
  out.erase("message");
  if (!figures.empty()) out["figures"] = std::move(figures);
  return out;
}

// ---- what a queue may take from others -------------------------------------------------------------------

policy::reclaim::kai_claim claim_of(const named_queues& named, const json& record) {
  const auto required = three_of(record.at("required"));
  return {named.index_of(text_or_empty(record, "queue")), required, required, value_or(record, "preemptible", false)};
}

json can_reclaim_resources(const json& in) {
  const named_queues named(in);
  return {
      {"result", policy::reclaim::may_reclaim(std::span(named.queues), claim_of(named, in.at("reclaimer")), false)}};
}

json filter_victim(const json& in) {
  const named_queues named(in);
  const policy::reclaim::kai_claim claim = claim_of(named, in.at("reclaimer"));
  const std::uint32_t victim = named.index_of(text_or_empty(in, "victim_queue"));
  return {{"result", policy::reclaim::may_give(std::span(named.queues), claim, victim, false)}};
}

json reclaimable(const json& in) {
  const named_queues named(in);
  std::vector<policy::reclaim_victims<three>> victims;
  for (const json& record : items(in, "victims")) {
    victims.push_back({named.index_of(text_or_empty(record, "queue")), {}});
    for (const json& amount : items(record, "resources")) victims.back().units.push_back(three_of(amount));
  }
  return {{"result", policy::reclaim::may_take(std::span(named.queues), claim_of(named, in.at("reclaimer")),
                                               std::span<const policy::reclaim_victims<three>>(victims),
                                               in.at("saturation_multiplier").get<double>(), false)}};
}

json strategy_maintain_fair_share(const json& in) {
  return {
      {"result", policy::reclaim::over_allocatable(queue_of(in.at("victim_queue")), three_of(in.at("victim_remaining")),
                                                   policy::reclaim::all_resources)}};
}

json strategy_guarantee_deserved_quota(const json& in) {
  return {{"result", policy::reclaim::guarantees_quota(
                         queue_of(in.at("reclaimer_queue")), three_of(member(in, "reclaimer_resources")),
                         policy::reclaim::all_resources, queue_of(in.at("victim_queue")),
                         three_of(in.at("victim_remaining")), policy::reclaim::all_resources)}};
}

json reclaimer_fits_deserved_quota(const json& in) {
  return {{"result", policy::reclaim::fits_quota_with(queue_of(in.at("reclaimer_queue")),
                                                      three_of(member(in, "reclaimer_resources")),
                                                      policy::reclaim::all_resources)}};
}

json victim_exceeds_deserved_quota(const json& in) {
  return {
      {"result", policy::reclaim::over_quota(queue_of(in.at("victim_queue")), three_of(member(in, "victim_remaining")),
                                             policy::reclaim::all_resources)}};
}

// ---- the registry --------------------------------------------------------------------------------------

struct call_kind {
  std::string_view name;
  json (*run)(const json& in);
  json (*expected)(json out) = comparable;
};
constexpr std::array kinds{
    call_kind{"set_resource_share", set_resource_share},
    call_kind{"divide_over_quota_resource", divide_over_quota_resource},
    call_kind{"set_resources_share", set_resources_share},
    call_kind{"fair_share_tree", fair_share_tree},
    call_kind{"queue_order", queue_order},
    call_kind{"is_over_limit", is_over_limit},
    call_kind{"is_allocated_non_preemptible_over_quota", is_allocated_non_preemptible_over_quota},
    call_kind{"results_over_limit", job_over_limit},
    call_kind{"results_with_non_preemptible_over_quota", job_over_quota},
    call_kind{"is_job_over_queue_capacity", job_over_capacity},
    call_kind{"is_non_preemptible_job_over_quota", job_over_quota},
    call_kind{"is_task_allocation_on_node_over_capacity", job_over_capacity},
    call_kind{"can_reclaim_resources", can_reclaim_resources},
    call_kind{"filter_victim", filter_victim},
    call_kind{"reclaimable", reclaimable},
    call_kind{"strategy_maintain_fair_share", strategy_maintain_fair_share},
    call_kind{"strategy_guarantee_deserved_quota", strategy_guarantee_deserved_quota},
    call_kind{"reclaimer_fits_deserved_quota", reclaimer_fits_deserved_quota},
    call_kind{"victim_exceeds_deserved_quota", victim_exceeds_deserved_quota},
    call_kind{"topology_lowest_common_domain", topology_lowest_common_domain, comparable_topology},
    call_kind{"topology_relevant_levels", topology_relevant_levels, comparable_topology},
    call_kind{"topology_job_allocatable_domains", topology_job_allocatable_domains, comparable_topology},
    call_kind{"topology_subset_nodes", topology_subset_nodes, comparable_topology},
    call_kind{"topology_tree_allocatable", topology_tree_allocatable, comparable_room},
    call_kind{"topology_sort_tree", topology_sort_tree, comparable_order},
    call_kind{"topology_node_scores", topology_node_scores, comparable_topology},
    call_kind{"topology_reverse_level_order", topology_reverse_level_order, comparable_topology},
};

const call_kind* kind_named(std::string_view name) {
  for (const call_kind& one : kinds) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

// ---- comparison ----------------------------------------------------------------------------------

void compare(std::vector<finding>& found, const std::string& where, const json& got, const json& recorded) {
  if (got.is_object() && recorded.is_object()) {
    std::set<std::string> keys;
    for (const auto& [key, value] : got.items()) keys.insert(key);
    for (const auto& [key, value] : recorded.items()) keys.insert(key);
    for (const std::string& key : keys) {
      compare(found, std::string(where).append(".").append(key), member(got, key), member(recorded, key));
    }
    return;
  }
  if (got.is_array() && recorded.is_array() && got.size() == recorded.size()) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      compare(found, where + "[" + std::to_string(i) + "]", got[i], recorded[i]);
    }
    return;
  }
  const bool same = got.is_number() && recorded.is_number() ? same_amount(got.get<double>(), recorded.get<double>())
                                                            : got == recorded;
  if (!same) found.push_back({"call", where + ": got " + got.dump() + ", recorded " + recorded.dump()});
}

}  // namespace

verdict judge_kai_call(const json& one, const judge_options&) {
  const std::string name = one.at("kind").get<std::string>();
  verdict found{{}, {name}, {}};
  const call_kind* kind = kind_named(name);
  if (kind == nullptr || !is_complete_topology_call(one)) {
    found.findings.push_back({"unsupported", "call " + name});
    return found;
  }
  try {
    compare(found.findings, name, kind->run(one.at("in")), kind->expected(one.at("out")));
  } catch (const std::exception& failure) {
    found.findings.push_back({"error", failure.what()});
  }
  return found;
}

bool kai_call_in_reach(const json& one) {
  return kind_named(text_or_empty(one, "kind")) != nullptr && is_complete_topology_call(one);
}

}  // namespace kaisched::conformance
