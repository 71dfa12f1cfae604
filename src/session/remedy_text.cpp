// Remedies as sentences.
#include <algorithm>
#include <array>
#include <map>

#include <kaisched/remedies.hpp>

#include "base/value_names.hpp"
#include "session/session_impl.hpp"
#include "session/wording.hpp"

namespace kaisched {

namespace {

using session_detail::say;
using session_detail::wording;

constexpr std::array<std::string_view, change_kind_count> change_names{
    "",           "gang_size",  "pod_request", "required_level", "queue_limit", "queue_quota",
    "new_nodes",  "open_node",  "toleration",  "node_selector",  "eviction",    "sub_groups",
    "gpu_memory", "node_label", "node_taint",  "node_affinity"};

/// Half sentences by kind of change.
constexpr std::array<wording, change_kind_count> change_words{
    wording("", ""),
    wording("{after} pod of the gang of {before} starts without the others",
            "{after} pods of the gang of {before} start without the others",
            "成组的 {before} 个 Pod 中只需 {after} 个一起启动"),
    wording("each pod asks for {after} instead of {before}", "每个 Pod 请求 {after} 而不是 {before}"),
    wording("its pods are together in one '{after}' instead of one '{before}'",
            "它的 Pod 只需同在一个“{after}”而不是一个“{before}”之内"),
    wording("queue {subject} may hold {after} instead of {before}", "队列{subject}的上限是 {after} 而不是 {before}"),
    wording("queue {subject} has a quota of {after} instead of {before}",
            "队列{subject}的配额是 {after} 而不是 {before}"),
    wording("there is one more node like {subject}", "there are {after} more nodes like {subject}",
            "再有 {after} 个与{subject}相同的节点"),
    wording("node {subject} is ready and not cordoned", "节点{subject}就绪且未被封锁"),
    wording("its pods tolerate the taint '{before}'", "它的 Pod 容忍污点“{before}”"),
    wording("its pods do without the label '{before}'", "它的 Pod 不再要求标签“{before}”"),
    wording("pod {subject} leaves", "Pod {subject} 离开"),
    wording("{after} sub-group of {before} starts without the others",
            "{after} sub-groups of {before} start without the others",
            "成组的 {before} 个子组中只需 {after} 个一起启动"),
    wording("each pod asks for {after} of GPU memory instead of {before}", "每个 Pod 请求 {after} 显存而不是 {before}"),
    wording("node {subject} has the label '{after}'", "节点{subject}有标签“{after}”"),
    wording("node {subject} is without the taint '{before}'", "节点{subject}没有污点“{before}”"),
    wording("its pods do without their node affinity '{before}'", "它的 Pod 不再要求节点亲和“{before}”"),
};
constexpr wording anywhere("its pods need not be together in one '{before}'", "它的 Pod 不必同在一个“{before}”之内");
constexpr wording in_sub_group("{said} (sub-group '{name}')", "{said}（子组“{name}”）");
constexpr wording of_pods_like("{said} (pods like {pod})", "{said}（与{pod}相同的 Pod）");
constexpr wording no_bound("without bound", "不限");

constexpr wording first_if("if {said}", "如果{said}");
constexpr wording next_and("{before} and {said}", "{before}，并且{said}");
constexpr wording room("if {action} makes room", "如果 {action} 腾出空间");
constexpr wording stopped("{n} pod of '{group}' of queue '{queue}' stops",
                          "{n} pods of '{group}' of queue '{queue}' stop",
                          "队列“{queue}”中“{group}”的 {n} 个 Pod 停止");
constexpr wording moved("{n} pod of '{group}' of queue '{queue}' moves",
                        "{n} pods of '{group}' of queue '{queue}' move", "队列“{queue}”中“{group}”的 {n} 个 Pod 迁移");
constexpr wording more_groups("{n} more group", "{n} more groups", "另外 {n} 个 Pod 组");
constexpr wording as_it_is("as it is: an action has to try", "保持现状：只需有动作去尝试");
constexpr wording whole("{said}; {n} pod starts", "{said}; {n} pods start", "{said}，则 {n} 个 Pod 启动");

struct losses {
  std::int64_t stop = 0;
  std::int64_t move = 0;
};

}  // namespace

std::string_view change_kind_name(change_kind k) noexcept { return base::name_of_value(change_names, k); }

std::string session::text(const remedy& one) const {
  const framework::session_state& c = *impl_->state;
  const language in = c.options.text_language;
  const auto change_text = [&](const remedy_change& change) {
    const auto shown = [&](std::int64_t value, const std::string& text) {
      if (!text.empty()) return text;
      if (change.what == change_kind::gpu_memory) return fmt::format("{:.4g} GB", static_cast<double>(value) / 1e9);
      if (change.dim == no_row) return std::to_string(value);
      return value < 0 ? say(in, no_bound, 1) : session_detail::amount_text(c, change.dim, value);
    };
    const std::string before = shown(change.before, change.text_before);
    const std::string after = shown(change.after, change.text_after);
    const std::string quotes[2] = {in == language::chinese ? "“" : "'", in == language::chinese ? "”" : "'"};
    const std::string subject = quotes[0] + std::string(base().name(change.subject)) + quotes[1];
    const wording& words = change.what == change_kind::required_level && change.text_after.empty()
                               ? anywhere
                               : change_words[static_cast<std::size_t>(change.what)];
    std::string said = say(in, words, change.dim == no_row ? change.after : 1, fmt::arg("subject", subject),
                           fmt::arg("before", before), fmt::arg("after", after));
    if (change.subject.kind() == entity_kind::pod)
      return say(in, of_pods_like, 1, fmt::arg("said", said), fmt::arg("pod", subject));
    if (!change.sub_group.empty())
      return say(in, in_sub_group, 1, fmt::arg("said", said), fmt::arg("name", change.sub_group));
    return said;
  };
  std::string text;
  const auto append = [&](const std::string& said) {
    text = text.empty() ? say(in, first_if, 1, fmt::arg("said", said))
                        : say(in, next_and, 1, fmt::arg("before", text), fmt::arg("said", said));
  };
  if (one.action != action_kind::none && one.action != action_kind::allocate) {
    constexpr std::size_t most = 4;
    std::map<std::string_view, std::pair<group_row, losses>> by_group;
    for (const remedy_change& change : one.changes) {
      const group_row g = c.state().pods[change.subject.slot()].group;
      auto& [row, lost] = by_group[c.state().group_names[g]];
      row = g;
      ++(change.after > 0 ? lost.move : lost.stop);
    }
    text = say(in, room, 1, fmt::arg("action", action_name(one.action)));
    std::size_t told = 0;
    for (const auto& [group, of] : by_group) {
      if (++told > most) break;
      const queue_row q = c.state().groups[of.first].queue;
      const std::string_view queue = q == no_row ? std::string_view{} : base().queue_name(q);
      for (const auto& [count, words] : {std::pair{of.second.stop, &stopped}, std::pair{of.second.move, &moved}}) {
        if (count == 0) continue;
        append(say(in, *words, count, fmt::arg("n", count), fmt::arg("group", group), fmt::arg("queue", queue)));
      }
    }
    if (by_group.size() > most) {
      const std::size_t rest = by_group.size() - most;
      append(say(in, more_groups, static_cast<std::int64_t>(rest), fmt::arg("n", rest)));
    }
  } else {
    for (const remedy_change& change : one.changes) append(change_text(change));
  }
  if (text.empty()) text = say(in, as_it_is, 1);
  return say(in, whole, one.starts, fmt::arg("said", text), fmt::arg("n", one.starts));
}

}  // namespace kaisched
