// Certificates as sentences. Every sentence is a row of a table, with its values by name.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <kaisched/certificates.hpp>

#include "engine/row_names.hpp"
#include "engine/session_impl.hpp"

namespace kaisched {

namespace {

using work::core;

constexpr std::array<std::string_view, certificate_assumption_count> assumption_names{"none", "as_is",
                                                                                      "without_preemptible", "empty"};
constexpr std::array<std::string_view, certificate_kind_count> kind_names{
    "none", "structure", "queue_bound", "counting_bound", "sum_bound", "matching_cut", "domain_bound"};

/// A code and what is said of it.
template <class Code>
using sentence = std::pair<Code, std::string_view>;

constexpr std::array assumptions{
    sentence<certificate_assumption>{certificate_assumption::as_is, "While every pod on a node keeps its place: "},
    sentence<certificate_assumption>{certificate_assumption::without_preemptible,
                                     "Even if all preemptible pods and all that are leaving were gone: "},
    sentence<certificate_assumption>{certificate_assumption::empty, "Even if the cluster were empty: "},
};

constexpr std::array structures{
    sentence<constraint>{constraint::queue_missing, "the queue of the group does not exist or has child queues."},
    sentence<constraint>{constraint::gang_incomplete, "{gang} needs {need} pod{s}, {have} exist."},
    sentence<constraint>{constraint::gated, "{gang} needs {need} pod{s}, {have} exist and are not gated."},
    sentence<constraint>{constraint::sub_group_missing,
                         "{gang} needs {need} pod{s}, {have} exist; others name a sub-group that does not exist or has "
                         "children."},
};

constexpr std::array queue_bounds{
    sentence<constraint>{constraint::queue_limit,
                         "the gang asks for at least {need}, the limit of queue '{queue}' leaves {have}."},
    sentence<constraint>{constraint::queue_quota,
                         "the gang is not preemptible and asks for at least {need}, the quota of queue '{queue}' "
                         "leaves {have}."},
};

constexpr std::array kinds{
    sentence<certificate_kind>{certificate_kind::none, "No proof was found that the group cannot start."},
    sentence<certificate_kind>{certificate_kind::counting_bound,
                               "a start takes {need} pod{s}, the nodes have room for at most {have}:"},
    sentence<certificate_kind>{
        certificate_kind::sum_bound,
        "the pods of a start ask for at least {need}, the nodes that could take some of them have "
        "{have} free:"},
    sentence<certificate_kind>{certificate_kind::matching_cut,
                               "of the pods like {pods} a start takes {need}, the nodes have room for at most {have}:"},
    sentence<certificate_kind>{certificate_kind::domain_bound,
                               "all pods{of} must be in one '{level}', and none of {domains} domain{s} has room."},
};

/// Of bounds that leave no room at all.
constexpr std::array refusing_kinds{
    sentence<certificate_kind>{certificate_kind::counting_bound,
                               "a start takes {need} pod{s}, no node has room for one:"},
    sentence<certificate_kind>{certificate_kind::matching_cut,
                               "of the pods like {pods} a start takes {need}, no node has room for one:"},
};

constexpr std::string_view nodes_of_bound = " {count} node{s} {why}";
constexpr std::array<std::string_view, 2> nodes_follow{";", "."};  // after one that is not the last, after the last
constexpr std::string_view more_bounds = " {count} more node{s} for other reasons.";
constexpr std::string_view nearest_domain = " In '{domain}' ";
constexpr std::string_view gang_of_group = "the gang";
constexpr std::string_view gang_of_sub_group = "sub-group '{name}'";
constexpr std::string_view of_sub_group = " of sub-group '{name}'";

constexpr std::array reasons{
    sentence<constraint>{constraint::none, "with room for {most} pod{s}{each}"},
    sentence<constraint>{constraint::resource, "with {dimension} for {most} pod{s}{each}"},
    sentence<constraint>{constraint::resource_busy, "with whole free devices for {most} pod{s}{each}"},
    sentence<constraint>{constraint::node_not_ready, "not ready"},
    sentence<constraint>{constraint::node_unschedulable, "cordoned"},
    sentence<constraint>{constraint::node_selector, "without the labels that the pods ask for"},
    sentence<constraint>{constraint::taint, "with a taint that the pods do not tolerate"},
    sentence<constraint>{constraint::obstacle, "that the pods cannot use for what keeps them from every node"},
};
/// Of nodes that take none, where that is said otherwise.
constexpr std::array refusals{
    sentence<constraint>{constraint::none, "with room for none of them"},
    sentence<constraint>{constraint::resource, "short of {dimension}"},
    sentence<constraint>{constraint::resource_busy, "with too few whole free devices"},
};
constexpr std::string_view free_amount = "with {amount} free{each}";
constexpr std::string_view each_of_several = " each";

template <class Code, std::size_t N>
std::string_view said(const std::array<sentence<Code>, N>& of, Code code) {
  const auto at = std::find_if(of.begin(), of.end(), [&](const sentence<Code>& one) { return one.first == code; });
  return at == of.end() ? std::string_view{} : at->second;
}

template <class... Arguments>
std::string fill(std::string_view form, const Arguments&... values) {
  return fmt::format(fmt::runtime(form), values...);
}

std::string_view plural(std::int64_t count) { return count == 1 ? "" : "s"; }

std::string bound_text(const core& c, const node_bound& one, bool is_sum) {
  const auto count = std::ssize(one.nodes);
  const std::string_view each = count == 1 ? std::string_view{} : each_of_several;
  const bool is_amount = is_sum && one.why == constraint::resource;
  const std::string amount = one.dim == no_row ? std::string() : engine_detail::amount_text(c, one.dim, one.most);
  const std::string_view dimension = one.dim == no_row ? std::string_view{} : (*c.state().dimensions)[one.dim].name;
  const std::string_view refusal = one.most == 0 ? said(refusals, one.why) : std::string_view{};
  const std::string_view form = is_amount ? free_amount : refusal.empty() ? said(reasons, one.why) : refusal;
  const std::string why =
      fill(form, fmt::arg("most", one.most), fmt::arg("amount", amount), fmt::arg("dimension", dimension),
           fmt::arg("s", plural(one.most)), fmt::arg("each", each));
  return fill(nodes_of_bound, fmt::arg("count", count), fmt::arg("s", plural(count)), fmt::arg("why", why));
}

std::string placement_text(const core& c, const placement_bound& bound) {
  constexpr std::size_t most_bounds = 4;
  constexpr std::size_t most_pods = 3;
  std::string pods;
  for (std::size_t i = 0; i < std::min(most_pods, bound.pods.size()); ++i)
    pods += (i == 0 ? "'" : ", '") + std::string(c.state().pod_names[bound.pods[i]]) + "'";
  const bool is_sum = bound.kind == certificate_kind::sum_bound;
  const std::string need = is_sum ? engine_detail::amount_text(c, bound.dim, bound.need) : std::to_string(bound.need);
  const std::string have = is_sum ? engine_detail::amount_text(c, bound.dim, bound.have) : std::to_string(bound.have);
  const std::string_view refusing = bound.have == 0 ? said(refusing_kinds, bound.kind) : std::string_view{};
  const std::string_view form = refusing.empty() ? said(kinds, bound.kind) : refusing;
  std::string text = fill(form, fmt::arg("need", need), fmt::arg("have", have), fmt::arg("pods", pods),
                          fmt::arg("s", plural(bound.need)));
  std::vector<const node_bound*> sorted;
  for (const node_bound& one : bound.nodes) sorted.push_back(&one);
  std::sort(sorted.begin(), sorted.end(), [](const node_bound* a, const node_bound* b) {
    return a->nodes.size() != b->nodes.size() ? a->nodes.size() > b->nodes.size() : a < b;  // of one array
  });
  const std::size_t shown = sorted.size() > most_bounds ? most_bounds : sorted.size();
  std::int64_t others = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i >= shown)
      others += std::ssize(sorted[i]->nodes);
    else
      text.append(bound_text(c, *sorted[i], is_sum)).append(nodes_follow[i + 1 == sorted.size() ? 1 : 0]);
  }
  if (others > 0) text += fill(more_bounds, fmt::arg("count", others), fmt::arg("s", plural(others)));
  return text;
}

/// The domain that misses the least.
const domain_bound* nearest_of(const certificate& proof) {
  const domain_bound* nearest = nullptr;
  for (const domain_bound& one : proof.domains) {
    if (nearest == nullptr || one.bound.need - one.bound.have < nearest->bound.need - nearest->bound.have)
      nearest = &one;
  }
  return nearest;
}

std::string domains_text(const core& c, const certificate& proof) {
  const auto count = std::ssize(proof.domains);
  const std::string of = proof.sub_group == no_row
                             ? std::string()
                             : fill(of_sub_group, fmt::arg("name", c.state().subs[proof.sub_group].name));
  std::string text = fill(said(kinds, proof.kind), fmt::arg("of", of), fmt::arg("level", proof.level),
                          fmt::arg("domains", count), fmt::arg("s", plural(count)));
  if (const domain_bound* nearest = nearest_of(proof); nearest != nullptr)
    text += fill(nearest_domain, fmt::arg("domain", nearest->domain)) + placement_text(c, nearest->bound);
  return text;
}

std::string proof_text(const core& c, const certificate& proof) {
  switch (proof.kind) {
    case certificate_kind::structure: {
      const std::string gang = proof.sub_group == no_row
                                   ? std::string(gang_of_group)
                                   : fill(gang_of_sub_group, fmt::arg("name", c.state().subs[proof.sub_group].name));
      return fill(said(structures, proof.what), fmt::arg("gang", gang), fmt::arg("need", proof.need),
                  fmt::arg("have", proof.have), fmt::arg("s", plural(proof.need)));
    }
    case certificate_kind::queue_bound:
      return fill(said(queue_bounds, proof.what), fmt::arg("queue", c.base.queue_name(proof.queue)),
                  fmt::arg("need", engine_detail::amount_text(c, proof.dim, proof.need)),
                  fmt::arg("have", engine_detail::amount_text(c, proof.dim, std::max<std::int64_t>(0, proof.have))));
    case certificate_kind::domain_bound:
      return domains_text(c, proof);
    case certificate_kind::none:
      return std::string(said(kinds, proof.kind));
    default:
      return placement_text(c, proof.bound);
  }
}

}  // namespace

std::string_view certificate_assumption_name(certificate_assumption a) noexcept {
  const auto number = static_cast<std::size_t>(a);
  return number < assumption_names.size() ? assumption_names[number] : std::string_view{};
}

std::string_view certificate_kind_name(certificate_kind k) noexcept {
  const auto number = static_cast<std::size_t>(k);
  return number < kind_names.size() ? kind_names[number] : std::string_view{};
}

std::string session::text(const certificate& proof) const {
  return std::string(said(assumptions, proof.assumption)) + proof_text(impl_->core, proof);
}

}  // namespace kaisched
