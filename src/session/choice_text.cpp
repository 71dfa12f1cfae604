// Choices of nodes as sentences.
#include <array>
#include <cmath>

#include <kaisched/choice.hpp>

#include "base/value_names.hpp"
#include "session/replay.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"
#include "session/wording.hpp"

namespace kaisched {

namespace {

using session_detail::say;
using session_detail::wording;

constexpr std::array<std::string_view, choice_rule_count> choice_rule_names{"", "only_node", "score", "name",
                                                                            "not_by_score"};
constexpr std::array<std::string_view, choice_plan_count> choice_plan_names{"none", "topology", "eviction",
                                                                            "move", "claim",    "allocation"};
constexpr std::array<std::string_view, choice_flip_kind_count> choice_flip_names{"", "without_part", "more_score",
                                                                                 "closed_node"};

constexpr std::array<wording, choice_rule_count> rule_sayings{
    wording("", ""), wording("{chosen} is the only node that can take it.", "只有 {chosen} 能接收它。"),
    wording("{chosen} is ahead of {runner_up}: {differences}.", "{chosen} 领先于 {runner_up}：{differences}。"),
    wording("{chosen} and {runner_up} have the same score; the name that sorts first decides.",
            "{chosen} 与 {runner_up} 得分相同，由名称的顺序决定。"),
    wording("The score did not decide: {plan}.", "不是由得分决定：{plan}。")};
constexpr std::array<wording, choice_plan_count> plan_sayings{
    wording("", ""),
    wording("its group is kept together, and the domain was chosen first", "它的组必须同处，先选定了域"),
    wording("{action} made room, and the place is that of its plan", "{action} 腾出了空间，位置出自它的方案"),
    wording("it had to leave its node for others, and the place is that of the plan of {action}",
            "它要为别人让出节点，位置出自 {action} 的方案"),
    wording("it claims what is being released", "它预占了正在释放的资源"),
    wording("it was placed together with others", "它与其他 Pod 一起放置")};
/// Where a plan stands above scores, and the node is the one of the best score all the same.
constexpr wording within_plan("{sentence} Chosen within a plan: {plan}.", "{sentence}在方案之内选定：{plan}。");
constexpr wording by_itself("{sentence} By itself the pod would have gone to {runner_up}.",
                            "{sentence}单独来看，该 Pod 会去 {runner_up}。");
constexpr wording one_difference("{part} gives {here} against {there}", "{part} 给 {here} 对 {there}");
constexpr wording next_difference("{before}, {said}", "{before}，{said}");

constexpr std::array<wording, choice_flip_kind_count> flip_sayings{
    wording("", ""),
    wording("Without the score of part {part} it would have been {node}.", "没有部件 {part} 的得分，就会是 {node}。"),
    wording("{node} would have needed {score} more.", "{node} 还需要高出 {score}。"),
    wording("If {chosen} were closed it would be {node}.", "如果 {chosen} 关闭，就会是 {node}。")};
constexpr wording closed_for_nobody("If {chosen} were closed it would wait.", "如果 {chosen} 关闭，它会等待。");

/// Three decimals where that says something.
std::string score_in_words(double score) {
  if (score != 0 && std::abs(score) < 0.001) return fmt::format("{:.2g}", score);
  std::string text = fmt::format("{:.3f}", score);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace

std::string_view choice_rule_name(choice_rule r) noexcept { return base::name_of_value(choice_rule_names, r); }
std::string_view choice_plan_name(choice_plan p) noexcept { return base::name_of_value(choice_plan_names, p); }
std::string_view choice_flip_kind_name(choice_flip_kind k) noexcept {
  return base::name_of_value(choice_flip_names, k);
}

std::string session::text(const choice_account& why) const {
  const framework::session_state& c = *impl_->state;
  const language in = c.options.text_language;
  std::string differences;
  for (const score_difference& one : why.differences) {
    const std::string said =
        say(in, one_difference, 1, fmt::arg("part", one.part), fmt::arg("here", score_in_words(one.chosen)),
            fmt::arg("there", score_in_words(one.runner_up)));
    differences = differences.empty()
                      ? said
                      : say(in, next_difference, 1, fmt::arg("before", differences), fmt::arg("said", said));
  }
  const std::size_t decided = session_detail::placement_of(c, why.pod);
  const action_kind action =
      decided < c.results.decisions.size() ? c.results.decisions[decided].action : action_kind::none;
  const std::string plan =
      say(in, plan_sayings[static_cast<std::size_t>(why.plan)], 1, fmt::arg("action", action_name(action)));
  const std::string_view chosen = session_detail::name_of_node(c, why.chosen);
  const std::string_view runner_up = session_detail::name_of_node(c, why.runner_up);
  const std::string sentence =
      say(in, rule_sayings[static_cast<std::size_t>(why.rule)], 1, fmt::arg("plan", plan), fmt::arg("chosen", chosen),
          fmt::arg("runner_up", runner_up), fmt::arg("differences", differences));
  const bool by_score = why.rule != choice_rule::not_by_score;
  if (by_score ? why.plan == choice_plan::none : why.runner_up == no_row) return sentence;
  return say(in, by_score ? within_plan : by_itself, 1, fmt::arg("sentence", sentence), fmt::arg("plan", plan),
             fmt::arg("runner_up", runner_up));
}

std::string session::text(const choice_account& why, const choice_flip& one) const {
  const framework::session_state& c = *impl_->state;
  const bool nobody = one.what == choice_flip_kind::closed_node && one.node == no_row;
  return say(c.options.text_language, nobody ? closed_for_nobody : flip_sayings[static_cast<std::size_t>(one.what)], 1,
             fmt::arg("part", one.part), fmt::arg("node", session_detail::name_of_node(c, one.node)),
             fmt::arg("score", score_in_words(one.score)),
             fmt::arg("chosen", session_detail::name_of_node(c, why.chosen)));
}

}  // namespace kaisched
