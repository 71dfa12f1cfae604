// Reasons as sentences.
#include <algorithm>

#include <fmt/format.h>

#include "engine/row_names.hpp"
#include "engine/session_impl.hpp"
#include "model/pod_plan.hpp"

namespace kaisched::engine_detail {

namespace {

using work::core;

std::string stray_text(const core& c, const reason& why) {
  const std::string_view name = c.state().pod_extras[why.pod].sub_name;
  const std::string pod = fmt::format("pod '{}'", c.state().pod_names[why.pod]);
  const std::string rest =
      why.need == 1 ? std::string{} : fmt::format("; {} pods of the group wait for such a reason", why.need);
  if (c.state().group_extras[why.group].has_sub_groups && name == model::implied_pod_set) {
    return fmt::format("{} is in no sub-group, but its group has some{}", pod, rest);
  }
  return fmt::format("{} names sub-group '{}', which does not exist or has children{}", pod, name, rest);
}

std::string domain_text(const reason& why) {
  if (why.scope == reason_scope::group) {
    return fmt::format("pods that must be together found no place in {} piece{} of domains; not searched further",
                       why.need, why.need == 1 ? "" : "s");
  }
  const std::string domains = fmt::format("{} domain{}", why.nodes, why.nodes == 1 ? "" : "s");
  if (why.have < 0) return domains + " of the topology with too little room for all pods that must be together";
  return fmt::format("{} of the topology with room for {} of the {} pods that must be together", domains, why.have,
                     why.need);
}

std::string node_count_text(std::uint32_t nodes) { return fmt::format("{} node{}", nodes, nodes == 1 ? "" : "s"); }

/// What vendors' rules say, with the number of nodes.
std::string vendor_text(const core& c, const reason& why, std::string_view nodes) {
  constexpr std::size_t most = 3;
  std::string text = fmt::format("{} where the vendors' rules give the pod no devices", nodes);
  const auto all = c.vendors.reasons(c.state(), why.pod);
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    fmt::format_to(std::back_inserter(text), "{}{} ({})", i == 0 ? ": " : "; ", all[i].first, all[i].second);
  }
  return text;
}

/// What a person has to know about claims with requests beside that nothing is free, from one of the first nodes.
std::string claims_text(const core& c, const reason& why) {
  constexpr node_row most_nodes = 64;
  if (why.pod == no_row || !c.claims.has_claims(why.pod)) return {};
  const bool one = why.nearest != no_row;
  const node_row last = one ? why.nearest + 1 : std::min(c.state().node_count(), most_nodes);
  for (node_row row = one ? why.nearest : 0; row < last; ++row) {
    const std::string text = c.claims.why_not(why.pod, row);
    if (!text.empty()) return fmt::format(" (on {}: {})", name_of_node(c, row), text);
  }
  return {};
}

std::string node_reason_text(const core& c, const reason& why) {
  const std::string nodes = node_count_text(why.nodes);
  switch (why.what) {
    case constraint::resource:
      return fmt::format("{} short of {}: need {}, at most {} free (on {})", nodes,
                         (*c.state().dimensions)[why.dim].name, amount_text(c, why.dim, why.need),
                         amount_text(c, why.dim, std::max<std::int64_t>(0, why.have)), name_of_node(c, why.nearest));
    case constraint::resource_busy:
      return fmt::format("{} have {} only in pieces: need {}", nodes, amount_text(c, why.dim, why.have),
                         amount_text(c, why.dim, why.need));
    case constraint::node_not_ready:
      return fmt::format("{} not ready", nodes);
    case constraint::node_unschedulable:
      return fmt::format("{} cordoned", nodes);
    case constraint::node_selector:
      return fmt::format("{} without the labels that the pod asks for", nodes);
    case constraint::taint:
      return fmt::format("{} with a taint that the pod does not tolerate", nodes);
    case constraint::host_port:
      return fmt::format("{} where the host port is taken", nodes);
    case constraint::gpu_type_limit:
      return fmt::format("{} with GPUs of a type of which a queue may hold no more", nodes);
    case constraint::device_kind:
      return fmt::format("{} with devices of another kind", nodes);
    case constraint::resource_claim:
      return fmt::format("{} where the resource claims of the pod cannot be used{}", nodes, claims_text(c, why));
    case constraint::vendor_device:
      return vendor_text(c, why, nodes);
    case constraint::numa_alignment:
      return fmt::format("{} whose NUMA zones cannot align the pod", nodes);
    case constraint::pod_affinity:
      return fmt::format("{} without the pods that it must be with", nodes);
    case constraint::pod_anti_affinity:
      return fmt::format("{} with pods that it must not be with", nodes);
    default:
      return fmt::format("{} refused by {}", nodes, constraint_name(why.what));
  }
}

}  // namespace

std::string amount_text(const core& c, dimension d, std::int64_t amount) {
  if (d == dim_gpu) return fmt::format("{:g} GPU", static_cast<double>(amount) / 1000.0);
  if (d == dim_cpu) return fmt::format("{:g} CPU", static_cast<double>(amount) / 1000.0);
  if (d == dim_memory) return fmt::format("{:.4g} GB", static_cast<double>(amount) / 1e9);
  return fmt::format("{} {}", amount, (*c.state().dimensions)[d].name);
}

std::string reason_text(const core& c, const reason& why) {
  if (why.scope == reason_scope::node) return node_reason_text(c, why);
  switch (why.what) {
    case constraint::queue_limit:
    case constraint::queue_quota:
      return fmt::format("queue '{}' would pass its {}: asks for {}, {} left", c.base.name(why.subject),
                         why.what == constraint::queue_limit ? "limit" : "quota for non-preemptible groups",
                         amount_text(c, why.dim, why.need),
                         amount_text(c, why.dim, std::max<std::int64_t>(0, why.have)));
    case constraint::queue_missing:
      return fmt::format("queue '{}' has child queues and holds no groups itself", c.base.name(why.subject));
    case constraint::gang_incomplete:
      return fmt::format("the gang needs {} pods, {} exist", why.need, why.have);
    case constraint::gated:
      return fmt::format("the gang needs {} pods, {} exist and are not gated", why.need, why.have);
    case constraint::obstacle:
      return c.state().class_of(why.pod).ask.obstacle;
    case constraint::larger_than_any_node:
      return fmt::format("needs {}, the largest node has {}", amount_text(c, why.dim, why.need),
                         amount_text(c, why.dim, why.have));
    case constraint::requeue_delay:
      return fmt::format("was evicted and waits for {:g} s, {:g} s have passed", static_cast<double>(why.need) / 1e9,
                         static_cast<double>(why.have) / 1e9);
    case constraint::resource_busy:
      return "every pod fits somewhere, but not all that must start together";
    case constraint::sub_group_missing:
      return stray_text(c, why);
    case constraint::not_tried:
      return "a node would take its first pod, but no action has tried to start the group";
    case constraint::topology:
      return domain_text(why);
    case constraint::plugin:
      return "there is a place, but a part of the policy does not let the group start now";
    case constraint::reservation:
      return fmt::format("there is a place, but pod group '{}', which waits at the head, would start later",
                         c.base.name(why.subject));
    default:
      return std::string(constraint_name(why.what));
  }
}

}  // namespace kaisched::engine_detail
