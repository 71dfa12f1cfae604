// Certificates as sentences. Every sentence is a row of a table, with its values by name.
#include <algorithm>
#include <array>
#include <string>

#include <kaisched/certificates.hpp>

#include "base/value_names.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"
#include "session/wording.hpp"

namespace kaisched {

namespace {

using framework::session_state;
using session_detail::say;
using session_detail::wording;

constexpr std::array<std::string_view, certificate_assumption_count> assumption_names{"none", "as_is",
                                                                                      "without_preemptible", "empty"};
constexpr std::array<std::string_view, certificate_kind_count> kind_names{
    "none", "structure", "queue_bound", "counting_bound", "sum_bound", "matching_cut", "domain_bound"};

/// A code and what is said of it.
template <class Code>
struct sentence {
  Code code;
  wording words;
};

constexpr std::array assumptions{
    sentence<certificate_assumption>{
        certificate_assumption::as_is,
        wording("While every pod on a node keeps its place: {said}", "只要节点上的每个 Pod 都保留其位置：{said}")},
    sentence<certificate_assumption>{certificate_assumption::without_preemptible,
                                     wording("Even if all preemptible pods and all that are leaving were gone: {said}",
                                             "即使所有可抢占的和正在离开的 Pod 都已不在：{said}")},
    sentence<certificate_assumption>{certificate_assumption::empty,
                                     wording("Even if the cluster were empty: {said}", "即使集群是空的：{said}")},
};

constexpr std::array structures{
    sentence<constraint>{
        constraint::queue_missing,
        wording("the queue of the group does not exist or has child queues.", "该组的队列不存在，或者有子队列。")},
    sentence<constraint>{constraint::gang_incomplete,
                         wording("{gang} needs {need} pod, {have} exist.", "{gang} needs {need} pods, {have} exist.",
                                 "{gang}需要 {need} 个 Pod，只存在 {have} 个。")},
    sentence<constraint>{constraint::gated, wording("{gang} needs {need} pod, {have} exist and are not gated.",
                                                    "{gang} needs {need} pods, {have} exist and are not gated.",
                                                    "{gang}需要 {need} 个 Pod，存在且未被门控的只有 {have} 个。")},
    sentence<constraint>{constraint::dependency,
                         wording("it comes after others: of {need} condition {have} is fulfilled.",
                                 "it comes after others: of {need} conditions {have} are fulfilled.",
                                 "它排在其他组之后：{need} 个条件中只有 {have} 个已满足。")},
    sentence<constraint>{
        constraint::sub_group_missing,
        wording("{gang} needs {need} pod, {have} exist; others name a sub-group that does not exist or has children.",
                "{gang} needs {need} pods, {have} exist; others name a sub-group that does not exist or has children.",
                "{gang}需要 {need} 个 Pod，只存在 {have} 个；其余指定的子组不存在或有下级。")},
};

constexpr std::array queue_bounds{
    sentence<constraint>{constraint::queue_limit,
                         wording("the gang asks for at least {need}, the limit of queue '{queue}' leaves {have}.",
                                 "成组至少请求 {need}，队列“{queue}”的上限只剩 {have}。")},
    sentence<constraint>{
        constraint::queue_quota,
        wording("the gang is not preemptible and asks for at least {need}, the quota of queue '{queue}' leaves {have}.",
                "成组不可抢占，至少请求 {need}，队列“{queue}”的配额只剩 {have}。")},
};

constexpr wording no_proof("No proof was found that the group cannot start.", "没有找到该组不能启动的证明。");
constexpr wording counted("a start takes {need} pod, the nodes have room for at most {have}:",
                          "a start takes {need} pods, the nodes have room for at most {have}:",
                          "启动需要 {need} 个 Pod，节点最多容纳 {have} 个：");
constexpr wording counted_none("a start takes {need} pod, no node has room for one:",
                               "a start takes {need} pods, no node has room for one:",
                               "启动需要 {need} 个 Pod，没有节点能容纳一个：");
constexpr wording summed(
    "the pods of a start ask for at least {need}, the nodes that could take some of them have {have} free:",
    "启动的 Pod 至少请求 {need}，能容纳其中一些的节点共空闲 {have}：");
constexpr wording cut("of the pods like {pods} a start takes {need}, the nodes have room for at most {have}:",
                      "启动需要 {need} 个与 {pods} 相同的 Pod，节点最多容纳 {have} 个：");
constexpr wording cut_none("of the pods like {pods} a start takes {need}, no node has room for one:",
                           "启动需要 {need} 个与 {pods} 相同的 Pod，没有节点能容纳一个：");
constexpr wording no_domain("all pods{of} must be in one '{level}', and none of {domains} domain has room.",
                            "all pods{of} must be in one '{level}', and none of {domains} domains has room.",
                            "{of}所有 Pod 必须同在一个“{level}”之内，{domains} 个域都放不下。");

constexpr wording nodes_of_bound(" {count} node {why}{end}", " {count} nodes {why}{end}", "{count} 个节点{why}{end}");
constexpr wording not_the_last(";", "；");
constexpr wording the_last(".", "。");
constexpr wording more_bounds(" {count} more node for other reasons.", " {count} more nodes for other reasons.",
                              "另有 {count} 个节点出于其他原因。");
constexpr wording nearest_domain(" In '{domain}' {said}", "在“{domain}”中{said}");
constexpr wording gang_of_group("the gang", "成组");
constexpr wording gang_of_sub_group("sub-group '{name}'", "子组“{name}”");
constexpr wording of_sub_group(" of sub-group '{name}'", "子组“{name}”的");

constexpr std::array reasons{
    sentence<constraint>{constraint::none, wording("with room for {most} pod{each}", "with room for {most} pods{each}",
                                                   "{each}可容纳 {most} 个 Pod")},
    sentence<constraint>{constraint::resource,
                         wording("with {dimension} for {most} pod{each}", "with {dimension} for {most} pods{each}",
                                 "{each}的 {dimension} 可供 {most} 个 Pod")},
    sentence<constraint>{constraint::resource_busy, wording("with whole free devices for {most} pod{each}",
                                                            "with whole free devices for {most} pods{each}",
                                                            "{each}的完整空闲设备可供 {most} 个 Pod")},
    sentence<constraint>{constraint::node_not_ready, wording("not ready", "未就绪")},
    sentence<constraint>{constraint::node_unschedulable, wording("cordoned", "被封锁")},
    sentence<constraint>{constraint::node_selector,
                         wording("without the labels that the pods ask for", "没有这些 Pod 要求的标签")},
    sentence<constraint>{constraint::taint,
                         wording("with a taint that the pods do not tolerate", "有这些 Pod 不容忍的污点")},
    sentence<constraint>{constraint::obstacle, wording("that the pods cannot use for what keeps them from every node",
                                                       "因 Pod 自身的障碍不可用")},
};
/// Of nodes that take none, where that is said otherwise.
constexpr std::array refusals{
    sentence<constraint>{constraint::none, wording("with room for none of them", "一个也容纳不了")},
    sentence<constraint>{constraint::resource, wording("short of {dimension}", "的 {dimension} 不足")},
    sentence<constraint>{constraint::resource_busy, wording("with too few whole free devices", "的完整空闲设备太少")},
};
constexpr wording free_amount("with {amount} free{each}", "{each}空闲 {amount}");
constexpr wording each_of_several(" each", "各");

template <class Code, std::size_t N>
const wording* said(const std::array<sentence<Code>, N>& of, Code code) {
  const auto at = std::find_if(of.begin(), of.end(), [&](const sentence<Code>& one) { return one.code == code; });
  return at == of.end() ? nullptr : &at->words;
}

std::string bound_text(const session_state& c, language in, const node_bound& one, bool is_sum, bool is_last) {
  const auto count = std::ssize(one.nodes);
  const std::string each = count == 1 ? std::string() : say(in, each_of_several, 1);
  const bool is_amount = is_sum && one.why == constraint::resource;
  const std::string amount = one.dim == no_row ? std::string() : session_detail::amount_text(c, one.dim, one.most);
  const std::string_view dimension = one.dim == no_row ? std::string_view{} : (*c.state().dimensions)[one.dim].name;
  const wording* const refusal = one.most == 0 ? said(refusals, one.why) : nullptr;
  const wording* const reason = refusal == nullptr ? said(reasons, one.why) : refusal;
  const std::string why = is_amount || reason == nullptr
                              ? say(in, free_amount, 1, fmt::arg("amount", amount), fmt::arg("each", each))
                              : say(in, *reason, one.most, fmt::arg("most", one.most), fmt::arg("dimension", dimension),
                                    fmt::arg("each", each));
  return say(in, nodes_of_bound, count, fmt::arg("count", count), fmt::arg("why", why),
             fmt::arg("end", say(in, is_last ? the_last : not_the_last, 1)));
}

std::string placement_text(const session_state& c, language in, const placement_bound& bound) {
  constexpr std::size_t most_bounds = 4;
  constexpr std::size_t most_pods = 3;
  std::string pods;
  for (std::size_t i = 0; i < std::min(most_pods, bound.pods.size()); ++i)
    pods += (i == 0 ? "'" : ", '") + std::string(c.state().pod_names[bound.pods[i]]) + "'";
  const bool is_sum = bound.kind == certificate_kind::sum_bound;
  const bool is_cut = bound.kind == certificate_kind::matching_cut;
  const std::string need = is_sum ? session_detail::amount_text(c, bound.dim, bound.need) : std::to_string(bound.need);
  const std::string have = is_sum ? session_detail::amount_text(c, bound.dim, bound.have) : std::to_string(bound.have);
  const wording& words = is_sum            ? summed
                         : bound.have == 0 ? (is_cut ? cut_none : counted_none)
                                           : (is_cut ? cut : counted);
  std::string text = say(in, words, bound.need, fmt::arg("need", need), fmt::arg("have", have), fmt::arg("pods", pods));
  std::vector<const node_bound*> sorted;
  for (const node_bound& one : bound.nodes) sorted.push_back(&one);
  std::sort(sorted.begin(), sorted.end(), [](const node_bound* a, const node_bound* b) {
    return a->nodes.size() != b->nodes.size() ? a->nodes.size() > b->nodes.size() : a < b;  // of one array
  });
  std::int64_t others = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i >= most_bounds)
      others += std::ssize(sorted[i]->nodes);
    else
      text += bound_text(c, in, *sorted[i], is_sum, i + 1 == sorted.size());
  }
  if (others > 0) text += say(in, more_bounds, others, fmt::arg("count", others));
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

std::string domains_text(const session_state& c, language in, const certificate& proof) {
  const auto count = std::ssize(proof.domains);
  const std::string of = proof.sub_group == no_row
                             ? std::string()
                             : say(in, of_sub_group, 1, fmt::arg("name", c.state().subs[proof.sub_group].name));
  std::string text =
      say(in, no_domain, count, fmt::arg("of", of), fmt::arg("level", proof.level), fmt::arg("domains", count));
  if (const domain_bound* nearest = nearest_of(proof); nearest != nullptr) {
    text += say(in, nearest_domain, 1, fmt::arg("domain", nearest->domain),
                fmt::arg("said", placement_text(c, in, nearest->bound)));
  }
  return text;
}

std::string proof_text(const session_state& c, language in, const certificate& proof) {
  switch (proof.kind) {
    case certificate_kind::structure: {
      const std::string gang = proof.sub_group == no_row ? say(in, gang_of_group, 1)
                                                         : say(in, gang_of_sub_group, 1,
                                                               fmt::arg("name", c.state().subs[proof.sub_group].name));
      return say(in, *said(structures, proof.what), proof.need, fmt::arg("gang", gang), fmt::arg("need", proof.need),
                 fmt::arg("have", proof.have));
    }
    case certificate_kind::queue_bound:
      return say(in, *said(queue_bounds, proof.what), 1, fmt::arg("queue", c.base.queue_name(proof.queue)),
                 fmt::arg("need", session_detail::amount_text(c, proof.dim, proof.need)),
                 fmt::arg("have", session_detail::amount_text(c, proof.dim, std::max<std::int64_t>(0, proof.have))));
    case certificate_kind::domain_bound:
      return domains_text(c, in, proof);
    case certificate_kind::none:
      return say(in, no_proof, 1);
    default:
      return placement_text(c, in, proof.bound);
  }
}

}  // namespace

std::string_view certificate_assumption_name(certificate_assumption a) noexcept {
  return base::name_of_value(assumption_names, a);
}

std::string_view certificate_kind_name(certificate_kind k) noexcept { return base::name_of_value(kind_names, k); }

std::string session::text(const certificate& proof) const {
  const language in = impl_->state->options.text_language;
  const std::string text = proof_text(*impl_->state, in, proof);
  const wording* const assumed = said(assumptions, proof.assumption);
  return assumed == nullptr ? text : say(in, *assumed, 1, fmt::arg("said", text));
}

}  // namespace kaisched
