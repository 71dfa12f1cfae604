// Victims, those that were left alone, and searches for victims, as sentences.
#include <array>

#include <kaisched/victims.hpp>

#include "base/value_names.hpp"
#include "session/session_impl.hpp"
#include "session/wording.hpp"

namespace kaisched {

namespace {

using session_detail::say;
using session_detail::wording;

constexpr std::array<std::string_view, victim_rule_count> victim_rule_names{"",
                                                                            "stale_gang",
                                                                            "runtime_limit",
                                                                            "migration",
                                                                            "drained_device",
                                                                            "has_to_move",
                                                                            "beyond_gang",
                                                                            "queue_over_share",
                                                                            "lowest_priority",
                                                                            "youngest",
                                                                            "in_solution",
                                                                            "over_limit",
                                                                            "brings_less",
                                                                            "reserved_node",
                                                                            "gang_leaves"};
constexpr std::array<std::string_view, spared_reason_count> spared_names{
    "",           "not_preemptible",    "own_queue",       "other_queue",
    "priority",   "queue_within_share", "minimum_runtime", "part",
    "not_needed", "disruption_budget",  "evicted_enough"};

constexpr std::array<wording, victim_rule_count> victim_sayings{
    wording("", ""),
    wording("its gang runs with fewer pods than it needs, and its grace is over; all of it leaves",
            "它的成组在 Pod 不足的情况下运行，宽限期已过，整组离开"),
    wording("its group has run for as long as it may; all of it leaves", "它的组已运行到允许的时长，整组离开"),
    wording("a copy starts before it leaves; the node is freed that takes the fewest migrations",
            "先启动副本再离开；腾空的是迁移最少的节点"),
    wording("it holds an instance that goes when the device is divided anew", "设备重新划分时，它占用的实例会消失"),
    wording("it stands where the room is made, and has got a place elsewhere",
            "它处在要腾出的位置上，并已在别处得到位置"),
    wording("its group does without it: pods beyond gangs go first", "它的组可以没有它：成组之外的 Pod 先离开"),
    wording("queue {queue}, or one above it, held more than its fair share", "队列“{queue}”或其上级占用超过公平份额"),
    wording("of the groups of queue {queue} that might have lost pods none of a lower priority was left alone",
            "队列“{queue}”中可能失去 Pod 的组里，没有优先级更低的被放过"),
    wording("of those of the same priority none that is younger was left alone", "相同优先级中没有更年轻的被放过"),
    wording("the search found a set of victims with it that makes enough room", "搜索找到的一组足够的驱逐对象包含它"),
    wording("queue {queue}, or one above it, held more than its limit", "队列“{queue}”或其上级占用超过上限"),
    wording("its group loses less speed by it than the group that gets its place gains",
            "它的组因此失去的速度少于得到其位置的组所增加的速度"),
    wording("reservation '{reservation}' has its node for others", "预留“{reservation}”把它的节点留给别人"),
    wording("its gang would be incomplete without pods that leave nodes of reservation '{reservation}'",
            "它的成组若没有离开预留“{reservation}”节点的 Pod 就不完整")};
constexpr std::array<wording, spared_reason_count> spared_sayings{
    wording("", ""),
    wording("not preemptible", "不可抢占"),
    wording("of the queue that reclaims", "属于正在回收的队列"),
    wording("of another queue, and preempt takes from its own", "属于别的队列，而 preempt 只从自己的队列取"),
    wording("of no lower priority", "优先级并不更低"),
    wording("of a queue that does not hold so much beyond its share", "其队列超出份额的部分没有这么多"),
    wording("within the runtime that it is promised", "仍在承诺的最短运行时间内"),
    wording("spared by a part of the policy", "被策略的某个部件保护"),
    wording("not needed where it stands in the order of victims", "按驱逐顺序轮不到它"),
    wording("its disruption budget allows no more of its pods to leave or move",
            "它的中断预算不允许它的更多 Pod 离开或移动"),
    wording("evicted as often as it may be", "被驱逐的次数已达上限")};

constexpr wording protected_from_others(
    "Had {group} been protected, {waiting} would have got a place for {pods} pod all the same, from {victims}.",
    "Had {group} been protected, {waiting} would have got places for {pods} pods all the same, from {victims}.",
    "如果保护 {group}，{waiting} 仍会得到 {pods} 个位置，来自 {victims}。");
constexpr wording protected_from_nobody(
    "Had {group} been protected, {waiting} would have got a place for {pods} pod without anybody leaving.",
    "Had {group} been protected, {waiting} would have got places for {pods} pods without anybody leaving.",
    "如果保护 {group}，{waiting} 会得到 {pods} 个位置，而且无人离开。");
constexpr wording protected_in_vain("Had {group} been protected, {waiting} would have got no room: {attempt}.",
                                    "如果保护 {group}，{waiting} 就得不到空间：{attempt}。");
constexpr wording protected_unsearched("Had {group} been protected, {waiting} would have got no room.",
                                       "如果保护 {group}，{waiting} 就得不到空间。");
constexpr wording loser("{group} ({pods} pod)", "{group} ({pods} pods)", "{group}（{pods} 个 Pod）");
constexpr wording next_loser("{before}, {said}", "{before}、{said}");

enum class attempt_saying : std::uint8_t {
  placed,
  delayed,
  not_preemptible,
  over_share,
  over_share_or_quota,
  over_quota,
  like_failed,
  obstacle,
  too_few_gpus,
  no_victims_of_reclaim,
  no_victims_of_preempt,
  no_victims,
  count
};
constexpr std::array<wording, static_cast<std::size_t>(attempt_saying::count)> attempt_sayings{
    wording("made room for some of its pods; the rest waits for another session",
            "为它的一部分 Pod 腾出了空间；其余等待下一次会话"),
    wording("its preemption delay is not over", "它的抢占延迟还没有过"),
    wording("room is made for preemptible groups only", "只为可抢占的组腾出空间"),
    wording("with its next pods queue {queue} would hold more than its fair share",
            "加上它接下来的 Pod，队列“{queue}”会超过公平份额"),
    wording("with its next pods queue {queue} would hold more than its fair share, or its non-preemptible pods more "
            "than its quota",
            "加上它接下来的 Pod，队列“{queue}”会超过公平份额，或其不可抢占的 Pod 超过配额"),
    wording("a queue on its path would hold more than its quota in pods that are not preemptible",
            "它路径上的某个队列中不可抢占的 Pod 会超过配额"),
    wording("not searched for: a group like it had just failed", "没有搜索：同样的组刚刚失败"),
    wording("an eviction would not remove what is in its way", "驱逐不能消除它的障碍"),
    wording("all nodes together have fewer GPUs free than it asks for", "所有节点的空闲 GPU 之和少于它的请求"),
    wording("no other queue has pods that may be taken and would be enough{spared}",
            "没有别的队列有可以取走且足够的 Pod{spared}"),
    wording("no group of its queue with a lower priority has pods that may be taken and would be enough{spared}",
            "它的队列中没有优先级更低的组有可以取走且足够的 Pod{spared}"),
    wording("no pods that may move would free enough in the right places{spared}",
            "没有可以移动的 Pod 能在合适的位置腾出足够的空间{spared}")};
constexpr wording spared_by_runtime("; a minimum runtime protects others", "；另有组受最短运行时间保护");
constexpr wording held_by_budget("; disruption budget '{budget}' protects pods", "；中断预算“{budget}”保护着一些 Pod");

constexpr wording tried_in_vain("{sets} set of victims was tried without making room{spared}",
                                "{sets} sets of victims were tried without making room{spared}",
                                "尝试了 {sets} 组驱逐对象，都没有腾出空间{spared}");
constexpr wording tried_and_refused("{sets} set of victims was tried; {refused} made room but {fault}{spared}",
                                    "{sets} sets of victims were tried; {refused} made room but {fault}{spared}",
                                    "尝试了 {sets} 组驱逐对象；其中 {refused} 组能腾出空间，但{fault}{spared}");
constexpr wording cut_after("; no steps were left for others", "；没有剩余步数尝试其他组合");
constexpr wording cut_before(
    "not searched for: other groups took the steps of the action, and the next session begins with those that are left",
    "没有搜索：这次动作的步数已被其他组用完，下一次会话从剩下的组开始");
constexpr wording all_of_them("all", "全部");
constexpr std::array<wording, 3> faults{
    wording("left a pod without a place", "会有 Pod 失去位置"),
    wording("took more than may be taken", "取走的超过允许的量"),
    wording("took more than minimum runtimes allow", "取走的超过最短运行时间所允许的量")};

attempt_saying attempt_saying_of(const eviction_attempt& one, bool preemptible) {
  switch (one.outcome) {
    case attempt_outcome::placed:
      return attempt_saying::placed;
    case attempt_outcome::delayed:
      return attempt_saying::delayed;
    case attempt_outcome::not_preemptible:
      return attempt_saying::not_preemptible;
    case attempt_outcome::over_share:
      return preemptible ? attempt_saying::over_share : attempt_saying::over_share_or_quota;
    case attempt_outcome::over_quota:
      return attempt_saying::over_quota;
    case attempt_outcome::like_failed:
      return attempt_saying::like_failed;
    case attempt_outcome::obstacle:
      return attempt_saying::obstacle;
    case attempt_outcome::too_few_gpus:
      return attempt_saying::too_few_gpus;
    case attempt_outcome::no_victims:
      return one.action == action_kind::reclaim   ? attempt_saying::no_victims_of_reclaim
             : one.action == action_kind::preempt ? attempt_saying::no_victims_of_preempt
                                                  : attempt_saying::no_victims;
    case attempt_outcome::no_solution:
    case attempt_outcome::cut:
      break;
  }
  return attempt_saying::count;
}

}  // namespace

std::string_view victim_rule_name(victim_rule r) noexcept { return base::name_of_value(victim_rule_names, r); }

std::string_view spared_reason_name(spared_reason r) noexcept { return base::name_of_value(spared_names, r); }

std::string session::text(const victim_account& why, victim_rule rule) const {
  const queue_row queue = view().group_queue(why.group);
  return say(impl_->state->options.text_language, victim_sayings[static_cast<std::size_t>(rule)], 1,
             fmt::arg("queue", queue == no_row ? std::string_view{} : base().queue_name(queue)),
             fmt::arg("reservation", why.reservation));
}

std::string session::text(spared_reason why) const {
  return say(impl_->state->options.text_language, spared_sayings[static_cast<std::size_t>(why)], 1);
}

std::string session::text(const victim_account& why, const protected_outcome& outcome) const {
  if (!outcome.tried || why.placed.empty()) return {};
  const language in = impl_->state->options.text_language;
  std::string victims;
  for (const group_pods& one : outcome.victims) {
    const std::string said =
        say(in, loser, one.pods, fmt::arg("group", view().group_name(one.group)), fmt::arg("pods", one.pods));
    victims = victims.empty() ? said : say(in, next_loser, 1, fmt::arg("before", victims), fmt::arg("said", said));
  }
  const bool searched = outcome.attempt.action != action_kind::none;
  const wording& words = outcome.pods == 0         ? searched ? protected_in_vain : protected_unsearched
                         : outcome.victims.empty() ? protected_from_nobody
                                                   : protected_from_others;
  return say(in, words, outcome.pods, fmt::arg("group", view().group_name(why.group)),
             fmt::arg("waiting", view().group_name(why.placed.front().group)), fmt::arg("pods", outcome.pods),
             fmt::arg("victims", victims),
             fmt::arg("attempt", searched && outcome.pods == 0 ? text(outcome.attempt) : std::string()));
}

std::string session::text(const eviction_attempt& one) const {
  const language in = impl_->state->options.text_language;
  const queue_row queue = view().group_queue(one.group);
  const attempt_saying saying = attempt_saying_of(one, view().group_preemptible(one.group));
  std::string spared = one.spared ? say(in, spared_by_runtime, 1) : std::string();
  if (!one.budget.empty()) spared += say(in, held_by_budget, 1, fmt::arg("budget", one.budget));
  if (one.outcome == attempt_outcome::cut && one.steps == 0) return say(in, cut_before, 1);
  if (one.cut) spared += say(in, cut_after, 1);
  const wording& words = saying != attempt_saying::count ? attempt_sayings[static_cast<std::size_t>(saying)]
                         : one.refused == 0              ? tried_in_vain
                                                         : tried_and_refused;
  const std::size_t fault = one.action == action_kind::consolidation ? 0 : one.action == action_kind::reclaim ? 1 : 2;
  return say(in, words, static_cast<std::int64_t>(one.sets), fmt::arg("spared", spared),
             fmt::arg("queue", queue == no_row ? std::string_view{} : base().queue_name(queue)),
             fmt::arg("sets", one.sets),
             fmt::arg("refused", one.refused == one.sets ? say(in, all_of_them, 1) : std::to_string(one.refused)),
             fmt::arg("fault", say(in, faults[fault], 1)));
}

}  // namespace kaisched
