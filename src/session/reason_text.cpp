// Reasons as sentences.
#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "actions/runtime.hpp"
#include "framework/members.hpp"
#include "model/pod_plan.hpp"
#include "policy/claims/ledger.hpp"
#include "policy/devices/allocation/ledger.hpp"
#include "policy/predicates/power_caps.hpp"
#include "policy/predicates/reservations.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"
#include "session/wording.hpp"

namespace kaisched::session_detail {

namespace {

using framework::session_state;

// ---- what nodes say

struct node_words {
  constraint what;
  wording words;
};

constexpr wording nodes_short("{nodes} node short of {resource}: need {need}, at most {have} free (on {nearest})",
                              "{nodes} nodes short of {resource}: need {need}, at most {have} free (on {nearest})",
                              "{nodes} 个节点的 {resource} 不足：需要 {need}，最多空闲 {have}（在 {nearest}）");
constexpr wording nodes_set_aside(
    "{nodes} node where {resource} is set aside for free GPUs: need {need} with that, at most {have} free (on "
    "{nearest})",
    "{nodes} nodes where {resource} is set aside for free GPUs: need {need} with that, at most {have} free (on "
    "{nearest})",
    "{nodes} 个节点的 {resource} 为空闲 GPU 预留：连同预留需要 {need}，最多空闲 {have}（在 {nearest}）");
constexpr wording nodes_in_pieces("{nodes} node has {have} only in pieces: need {need}",
                                  "{nodes} nodes have {have} only in pieces: need {need}",
                                  "{nodes} 个节点的 {have} 是零散的：需要 {need}");
constexpr wording nodes_refuse("{nodes} node refused by {constraint}", "{nodes} nodes refused by {constraint}",
                               "{nodes} 个节点因 {constraint} 被拒绝");
constexpr wording nodes_of_vendors("{nodes} node where the vendors' rules give the pod no devices",
                                   "{nodes} nodes where the vendors' rules give the pod no devices",
                                   "{nodes} 个节点按厂商规则不能给该 Pod 设备");
constexpr wording nodes_of_feeds(
    "{nodes} node without the power for it: feed '{feed}' has {have} left, needs {need} (on {nearest})",
    "{nodes} nodes without the power for it: feed '{feed}' has {have} left, needs {need} (on {nearest})",
    "{nodes} 个节点的供电不足：馈线“{feed}”剩余 {have}，需要 {need}（在 {nearest}）");
constexpr wording nodes_of_claims("{nodes} node where the resource claims of the pod cannot be used",
                                  "{nodes} nodes where the resource claims of the pod cannot be used",
                                  "{nodes} 个节点不能使用该 Pod 的资源声明");
constexpr wording on_node(" (on {node}: {said})", "（在 {node}：{said}）");
constexpr wording nodes_reserved("{nodes} node reserved for others (on {node}: '{name}' for {whom}, {when})",
                                 "{nodes} nodes reserved for others (on {node}: '{name}' for {whom}, {when})",
                                 "{nodes} 个节点已为他人预留（在 {node}：“{name}”，{whom}，{when}）");
constexpr wording for_queue("queue '{queue}'", "供队列“{queue}”使用");
constexpr wording for_group("pod group '{group}'", "供 Pod 组“{group}”使用");
constexpr wording for_both("queue '{queue}' and pod group '{group}'", "供队列“{queue}”和 Pod 组“{group}”使用");
constexpr wording for_nobody("nobody", "任何人不得使用");
constexpr wording reserved_now("for another {time}", "还有 {time}");
constexpr wording reserved_on("until it is removed", "直到被删除");
constexpr wording reserved_too_soon("in {time}, and the group is expected to run for {need}",
                                    "{time} 后开始，而该组预计运行 {need}");
constexpr wording reserved_unknown("in {time}, and nobody knows how long the group runs",
                                   "{time} 后开始，而该组的运行时间未知");
constexpr std::array other_nodes{
    node_words{constraint::node_not_ready,
               wording("{nodes} node not ready", "{nodes} nodes not ready", "{nodes} 个节点未就绪")},
    node_words{constraint::node_unschedulable,
               wording("{nodes} node cordoned", "{nodes} nodes cordoned", "{nodes} 个节点被封锁")},
    node_words{constraint::node_selector, wording("{nodes} node without the labels that the pod asks for",
                                                  "{nodes} nodes without the labels that the pod asks for",
                                                  "{nodes} 个节点没有该 Pod 要求的标签")},
    node_words{constraint::taint, wording("{nodes} node with a taint that the pod does not tolerate",
                                          "{nodes} nodes with a taint that the pod does not tolerate",
                                          "{nodes} 个节点有该 Pod 不容忍的污点")},
    node_words{constraint::host_port,
               wording("{nodes} node where the host port is taken", "{nodes} nodes where the host port is taken",
                       "{nodes} 个节点的主机端口已被占用")},
    node_words{constraint::gpu_type_limit,
               wording("{nodes} node with GPUs of a type of which a queue may hold no more",
                       "{nodes} nodes with GPUs of a type of which a queue may hold no more",
                       "{nodes} 个节点的 GPU 型号已达到队列上限")},
    node_words{constraint::device_kind,
               wording("{nodes} node with devices of another kind", "{nodes} nodes with devices of another kind",
                       "{nodes} 个节点的设备是另一种类")},
    node_words{constraint::numa_alignment, wording("{nodes} node whose NUMA zones cannot align the pod",
                                                   "{nodes} nodes whose NUMA zones cannot align the pod",
                                                   "{nodes} 个节点的 NUMA 区域无法对齐该 Pod")},
    node_words{constraint::pod_affinity,
               wording("{nodes} node without the pods that it must be with",
                       "{nodes} nodes without the pods that it must be with", "{nodes} 个节点没有它必须同处的 Pod")},
    node_words{constraint::pod_anti_affinity,
               wording("{nodes} node with pods that it must not be with",
                       "{nodes} nodes with pods that it must not be with", "{nodes} 个节点有它不能同处的 Pod")},
    node_words{constraint::spread,
               wording("{nodes} node where pods like it would be spread less evenly than they must be",
                       "{nodes} nodes where pods like it would be spread less evenly than they must be",
                       "{nodes} 个节点会使同类 Pod 的分布不够均匀")},
    node_words{constraint::device_load,
               wording("{nodes} node whose devices do not take its load beside that of others",
                       "{nodes} nodes whose devices do not take its load beside that of others",
                       "{nodes} 个节点的设备已承受其他 Pod 的负载，无法再承受它的负载")},
};

// ---- what the queue, the group and the cluster say

constexpr wording limit_passed("queue '{queue}' would pass its limit: asks for {need}, {have} left",
                               "队列“{queue}”会超过上限：请求 {need}，剩余 {have}");
constexpr wording quota_passed(
    "queue '{queue}' would pass its quota for non-preemptible groups: asks for {need}, {have} left",
    "队列“{queue}”会超过不可抢占 Pod 组的配额：请求 {need}，剩余 {have}");
constexpr wording cells_short("queue '{queue}' has too few free cells '{cell}' of its own: needs {need}, has {have}",
                              "队列“{queue}”自有的空闲单元“{cell}”不足：需要 {need}，有 {have}");
constexpr wording quota_used("queue '{queue}' has not that much quota left: asks for {need}, {have} left",
                             "队列“{queue}”的剩余配额不足：请求 {need}，剩余 {have}");
constexpr wording queue_has_children("queue '{queue}' has child queues and holds no groups itself",
                                     "队列“{queue}”有子队列，自身不接收 Pod 组");
constexpr wording pods_missing("the gang needs {need} pods, {have} exist", "成组需要 {need} 个 Pod，只存在 {have} 个");
constexpr wording unit_missing("a whole unit needs {need} more pods of a sub-group, {have} wait",
                               "一个完整单元还需要某个子组的 {need} 个 Pod，只有 {have} 个在等待");
constexpr wording pods_gated("the gang needs {need} pods, {have} exist and are not gated",
                             "成组需要 {need} 个 Pod，存在且未被门控的只有 {have} 个");
constexpr wording too_large("needs {need}, the largest node has {have}", "需要 {need}，最大的节点只有 {have}");
constexpr wording delayed("was evicted and waits for {need} s, {have} s have passed",
                          "曾被驱逐，需等待 {need} 秒，已过 {have} 秒");
constexpr wording not_all("every pod fits somewhere, but not all that must start together",
                          "每个 Pod 单独都有位置，但必须一起启动的放不下全部");
constexpr wording budget_used(
    "{need} pod would have to leave or move of which disruption budget '{budget}' allows {have}",
    "{need} pods would have to leave or move of which disruption budget '{budget}' allows {have}",
    "需要 {need} 个 Pod 离开或移动，而中断预算“{budget}”只允许 {have} 个");
constexpr wording nobody_tried("a node would take its first pod, but no action has tried to start the group",
                               "有节点可以接收它的第一个 Pod，但没有动作尝试启动该组");
constexpr wording part_refused("there is a place, but a part of the policy does not let the group start now",
                               "有位置，但策略的某个部分现在不让该组启动");
constexpr wording behind_head("there is a place, but pod group '{group}', which waits at the head, would start later",
                              "有位置，但会推迟排在最前的 Pod 组“{group}”的启动");
constexpr wording deadline_missed(
    "could end in {need} at the earliest beside those that were promised their time before, and its deadline is in "
    "{have}",
    "与先前得到承诺的组一起，最早 {need} 后结束，而截止时间在 {have} 后");
constexpr wording deadline_unknown(
    "nobody knows when it could end beside those that were promised their time before; its deadline is in {have}",
    "与先前得到承诺的组一起，没人知道它何时能结束；截止时间在 {have} 后");
constexpr wording stray("pod '{pod}' names sub-group '{sub}', which does not exist or has children",
                        "Pod“{pod}”指定的子组“{sub}”不存在或有下级");
constexpr wording stray_in_none("pod '{pod}' is in no sub-group, but its group has some",
                                "Pod“{pod}”不属于任何子组，而它的组有子组");
constexpr wording more_strays("{said}; {need} pods of the group wait for such a reason",
                              "{said}；该组有 {need} 个 Pod 因此等待");
constexpr wording pieces_tried(
    "pods that must be together found no place in {need} piece of domains; not searched further",
    "pods that must be together found no place in {need} pieces of domains; not searched further",
    "必须同处的 Pod 在 {need} 块域中找不到位置；没有继续搜索");
constexpr wording domains_small(
    "{domains} domain of the topology with too little room for all pods that must be together",
    "{domains} domains of the topology with too little room for all pods that must be together",
    "拓扑中有 {domains} 个域放不下必须同处的全部 Pod");
constexpr wording domains_counted(
    "{domains} domain of the topology with room for {have} of the {need} pods that must be together",
    "{domains} domains of the topology with room for {have} of the {need} pods that must be together",
    "拓扑中有 {domains} 个域最多放下必须同处的 {need} 个 Pod 中的 {have} 个");

// Of groups that come after others.
constexpr wording comes_after("comes after others: {said}", "排在其他组之后：{said}");
constexpr wording next_entry("{before}; {said}", "{before}；{said}");
constexpr wording no_such_group("there is no pod group '{group}'", "没有 Pod 组“{group}”");
constexpr wording never_again("pod group '{group}' has left otherwise, so this can never be fulfilled",
                              "Pod 组“{group}”以其他结果离开，条件永远无法满足");
constexpr wording ended_otherwise("pod group '{group}' has ended otherwise", "Pod 组“{group}”以其他结果结束");
constexpr wording not_succeeded("pod group '{group}' has not succeeded yet", "Pod 组“{group}”尚未成功");
constexpr wording not_failed("pod group '{group}' has not failed yet", "Pod 组“{group}”尚未失败");
constexpr wording not_ended("pod group '{group}' has not ended yet", "Pod 组“{group}”尚未结束");
constexpr wording not_started("pod group '{group}' has not started yet", "Pod 组“{group}”尚未启动");

const wording& wording_of(const model::open_dependency& open) {
  if (open.entry.never) return never_again;
  if (open.group == no_row) return no_such_group;
  if (open.ended) return ended_otherwise;
  switch (open.entry.kind) {
    case model::dependency_kind::ok:
      return not_succeeded;
    case model::dependency_kind::failed:
      return not_failed;
    case model::dependency_kind::any:
      return not_ended;
    case model::dependency_kind::started:
      break;
  }
  return not_started;
}

std::string dependency_text(const session_state& c, language in, group_row group) {
  std::string all;
  for (const model::open_dependency& one : c.groups.open_dependencies(group)) {
    std::string said = say(in, wording_of(one), 1, fmt::arg("group", one.entry.group));
    all = all.empty() ? std::move(said) : say(in, next_entry, 1, fmt::arg("before", all), fmt::arg("said", said));
  }
  return say(in, comes_after, 1, fmt::arg("said", all));
}

std::string stray_text(const session_state& c, language in, const reason& why) {
  const std::string_view sub = c.state().pod_extras[why.pod].sub_name;
  const std::string_view pod = c.state().pod_names[why.pod];
  const bool in_none = c.state().group_extras[why.group].has_sub_groups && sub == model::implied_pod_set;
  std::string said = in_none ? say(in, stray_in_none, 1, fmt::arg("pod", pod))
                             : say(in, stray, 1, fmt::arg("pod", pod), fmt::arg("sub", sub));
  return why.need == 1 ? said : say(in, more_strays, why.need, fmt::arg("said", said), fmt::arg("need", why.need));
}

/// Which cells, the group was told when it was tried.
std::string cell_text(const session_state& c, language in, const reason& why) {
  return say(in, cells_short, 1, fmt::arg("queue", c.base.name(why.subject)),
             fmt::arg("cell", c.results.missing_cell(why.group)), fmt::arg("need", why.need),
             fmt::arg("have", why.have));
}

std::string domain_text(language in, const reason& why) {
  if (why.scope == reason_scope::group) return say(in, pieces_tried, why.need, fmt::arg("need", why.need));
  if (why.have < 0) return say(in, domains_small, why.nodes, fmt::arg("domains", why.nodes));
  return say(in, domains_counted, why.nodes, fmt::arg("domains", why.nodes), fmt::arg("have", why.have),
             fmt::arg("need", why.need));
}

/// What vendors' rules say, with the number of nodes.
std::string vendor_text(const session_state& c, language in, const reason& why) {
  constexpr std::size_t most = 3;
  std::string text = say(in, nodes_of_vendors, why.nodes, fmt::arg("nodes", why.nodes));
  const auto all = c.access.vendors->reasons(c.state(), why.pod);
  for (std::size_t i = 0; i < std::min(most, all.size()); ++i) {
    text += fmt::format("{}{} ({})", i == 0 ? ": " : "; ", all[i].first, all[i].second);
  }
  return text;
}

/// `1.2 kW`.
std::string power_text(std::int64_t milliwatts) {
  const auto watts = static_cast<double>(milliwatts) / 1000;
  const double amount = std::abs(watts);
  if (amount >= 1e6) return fmt::format("{:g} MW", watts / 1e6);
  return amount >= 1e3 ? fmt::format("{:g} kW", watts / 1e3) : fmt::format("{:g} W", watts);
}

/// The feed that lacks most of the node that lacks least.
std::string feed_text(const session_state& c, language in, const reason& why) {
  const auto missing = policy::power_missing(c.access, why.pod, why.nearest, policy::free_amount::idle_or_releasing);
  return say(in, nodes_of_feeds, why.nodes, fmt::arg("nodes", why.nodes),
             fmt::arg("feed", missing ? c.access.power->name_of(missing->feed) : std::string_view{}),
             fmt::arg("have", power_text(std::max<std::int64_t>(0, why.have))), fmt::arg("need", power_text(why.need)),
             fmt::arg("nearest", name_of_node(c, why.nearest)));
}

/// What a person has to know about claims with requests beside that nothing is free, from one of the first nodes.
std::string claims_text(const session_state& c, language in, const reason& why) {
  constexpr node_row most_nodes = 64;
  if (why.pod == no_row || c.access.claims == nullptr || !c.access.claims->has_claims(why.pod)) return {};
  const bool one = why.nearest != no_row;
  const node_row last = one ? why.nearest + 1 : std::min(c.state().node_count(), most_nodes);
  for (node_row row = one ? why.nearest : 0; row < last; ++row) {
    const std::string text = c.access.claims->why_not(why.pod, row);
    if (!text.empty()) return say(in, on_node, 1, fmt::arg("node", name_of_node(c, row)), fmt::arg("said", text));
  }
  return {};
}

/// `2 d 4 h`: the two largest units, rounded down.
std::string time_text(std::int64_t time) {
  constexpr std::int64_t second = 1'000'000'000;
  constexpr std::array<std::pair<std::int64_t, std::string_view>, 4> units{
      std::pair{86400 * second, "d"}, std::pair{3600 * second, "h"}, std::pair{60 * second, "min"},
      std::pair{second, "s"}};
  const auto largest = std::find_if(units.begin(), units.end(), [&](const auto& one) { return time >= one.first; });
  if (largest == units.end()) return fmt::format("{:g} s", static_cast<double>(time) / 1e9);
  std::string text = fmt::format("{} {}", time / largest->first, largest->second);
  const auto next = std::next(largest);
  const std::int64_t rest = next == units.end() ? 0 : time % largest->first / next->first;
  return rest == 0 ? text : fmt::format("{} {} {}", text, rest, next->second);
}

/// The reservation of the node that is reserved last.
std::string reservation_text(const session_state& c, language in, const reason& why) {
  const std::optional<policy::reservation_refusal> by = c.access.reservations->why(why.group, why.nearest);
  if (!by)
    return say(in, nodes_refuse, why.nodes, fmt::arg("nodes", why.nodes),
               fmt::arg("constraint", constraint_name(why.what)));
  const model::reservation_info& one = (*c.state().reservations)[by->reservation];
  const wording& whom = one.queue.empty()   ? one.group.empty() ? for_nobody : for_group
                        : one.group.empty() ? for_queue
                                            : for_both;
  const bool is_on = why.have == 0;
  const wording& when = !is_on                  ? why.need < 0 ? reserved_unknown : reserved_too_soon
                        : by->when.end == unset ? reserved_on
                                                : reserved_now;
  const std::int64_t time = is_on && by->when.end != unset ? actions::time_until(c, by->when.end) : why.have;
  return say(
      in, nodes_reserved, why.nodes, fmt::arg("nodes", why.nodes), fmt::arg("node", name_of_node(c, why.nearest)),
      fmt::arg("name", one.name),
      fmt::arg("whom", say(in, whom, 1, fmt::arg("queue", one.queue), fmt::arg("group", one.group))),
      fmt::arg("when", say(in, when, 1, fmt::arg("time", time_text(time)), fmt::arg("need", time_text(why.need)))));
}

std::string node_reason_text(const session_state& c, language in, const reason& why) {
  const auto nodes = fmt::arg("nodes", why.nodes);
  switch (why.what) {
    case constraint::resource:
      return say(in, nodes_short, why.nodes, nodes, fmt::arg("resource", (*c.state().dimensions)[why.dim].name),
                 fmt::arg("need", amount_text(c, why.dim, why.need)),
                 fmt::arg("have", amount_text(c, why.dim, std::max<std::int64_t>(0, why.have))),
                 fmt::arg("nearest", name_of_node(c, why.nearest)));
    case constraint::resource_busy:
      return say(in, nodes_in_pieces, why.nodes, nodes, fmt::arg("have", amount_text(c, why.dim, why.have)),
                 fmt::arg("need", amount_text(c, why.dim, why.need)));
    case constraint::set_aside:
      return say(in, nodes_set_aside, why.nodes, nodes, fmt::arg("resource", (*c.state().dimensions)[why.dim].name),
                 fmt::arg("need", amount_text(c, why.dim, why.need)),
                 fmt::arg("have", amount_text(c, why.dim, std::max<std::int64_t>(0, why.have))),
                 fmt::arg("nearest", name_of_node(c, why.nearest)));
    case constraint::resource_claim:
      return say(in, nodes_of_claims, why.nodes, nodes) + claims_text(c, in, why);
    case constraint::vendor_device:
      return vendor_text(c, in, why);
    case constraint::node_reserved:
      return reservation_text(c, in, why);
    case constraint::power:
      return feed_text(c, in, why);
    default:
      break;
  }
  const auto known =
      std::find_if(other_nodes.begin(), other_nodes.end(), [&](const node_words& one) { return one.what == why.what; });
  if (known != other_nodes.end()) return say(in, known->words, why.nodes, nodes);
  return say(in, nodes_refuse, why.nodes, nodes, fmt::arg("constraint", constraint_name(why.what)));
}

/// Its gangs are not what it lacks.
bool lacks_unit(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  bool has_units = false;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub)
    has_units = has_units || framework::comes_in_units(c, sub);
  return has_units && framework::is_ready(c, g.first_sub);
}

}  // namespace

std::string amount_text(const session_state& c, dimension d, std::int64_t amount) {
  if (d == dim_gpu) return fmt::format("{:g} GPU", static_cast<double>(amount) / 1000.0);
  if (d == dim_cpu) return fmt::format("{:g} CPU", static_cast<double>(amount) / 1000.0);
  if (d == dim_memory) return fmt::format("{:.4g} GB", static_cast<double>(amount) / 1e9);
  return fmt::format("{} {}", amount, (*c.state().dimensions)[d].name);
}

std::string reason_text(const session_state& c, const reason& why) {
  const language in = c.options.text_language;
  const auto amounts = [&](const wording& words) {
    return say(in, words, 1, fmt::arg("queue", c.base.name(why.subject)),
               fmt::arg("need", amount_text(c, why.dim, why.need)),
               fmt::arg("have", amount_text(c, why.dim, std::max<std::int64_t>(0, why.have))));
  };
  const auto counts = [&](const wording& words) {
    return say(in, words, why.need, fmt::arg("need", why.need), fmt::arg("have", why.have));
  };
  if (why.scope == reason_scope::node) return node_reason_text(c, in, why);
  switch (why.what) {
    case constraint::queue_limit:
      return amounts(limit_passed);
    case constraint::queue_quota:
      return amounts(c.state().groups[why.group].preemptible ? quota_used : quota_passed);
    case constraint::cell:
      return cell_text(c, in, why);
    case constraint::queue_missing:
      return say(in, queue_has_children, 1, fmt::arg("queue", c.base.name(why.subject)));
    case constraint::gang_incomplete:
      return counts(lacks_unit(c, why.group) ? unit_missing : pods_missing);
    case constraint::gated:
      return counts(pods_gated);
    case constraint::obstacle:
      return c.state().class_of(why.pod).ask.obstacle;
    case constraint::larger_than_any_node:
      return amounts(too_large);
    case constraint::requeue_delay:
      return say(in, delayed, 1, fmt::arg("need", fmt::format("{:g}", static_cast<double>(why.need) / 1e9)),
                 fmt::arg("have", fmt::format("{:g}", static_cast<double>(why.have) / 1e9)));
    case constraint::dependency:
      return dependency_text(c, in, why.group);
    case constraint::resource_busy:
      return say(in, not_all, 1);
    case constraint::sub_group_missing:
      return stray_text(c, in, why);
    case constraint::not_tried:
      return say(in, nobody_tried, 1);
    case constraint::topology:
      return domain_text(in, why);
    case constraint::disruption_budget: {
      const policy::budget_refusal* const budget = c.results.budget_in_the_way(why.group);
      return say(in, budget_used, why.need, fmt::arg("need", why.need), fmt::arg("have", why.have),
                 fmt::arg("budget", budget == nullptr ? std::string_view{} : c.budget_name(budget->budget)));
    }
    case constraint::plugin:
      return say(in, part_refused, 1);
    case constraint::deadline:
      return say(in, why.need < 0 ? deadline_unknown : deadline_missed, 1, fmt::arg("need", time_text(why.need)),
                 fmt::arg("have", time_text(why.have)));
    case constraint::reservation:
      return say(in, behind_head, 1, fmt::arg("group", c.base.name(why.subject)));
    default:
      return std::string(constraint_name(why.what));
  }
}

}  // namespace kaisched::session_detail
