// Choices of nodes as sentences.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <kaisched/choice.hpp>

#include "engine/replay.hpp"
#include "engine/row_names.hpp"
#include "engine/session_impl.hpp"

namespace kaisched {

namespace {

constexpr std::array<std::string_view, choice_rule_count> choice_rule_names{"", "only_node", "score", "name",
                                                                            "not_by_score"};
constexpr std::array<std::string_view, choice_plan_count> choice_plan_names{"none", "topology", "eviction",
                                                                            "move", "claim",    "allocation"};
constexpr std::array<std::string_view, choice_flip_kind_count> choice_flip_names{"", "without_part", "more_score",
                                                                                 "closed_node"};

constexpr std::array<const char*, choice_rule_count> rule_sayings{
    "", "{chosen} is the only node that can take it.", "{chosen} is ahead of {runner_up}: {differences}.",
    "{chosen} and {runner_up} have the same score; the name that sorts first decides.",
    "The score did not decide: {plan}."};
constexpr std::array<const char*, choice_plan_count> plan_sayings{
    "",
    "its group is kept together, and the domain was chosen first",
    "{action} made room, and the place is that of its plan",
    "it had to leave its node for others, and the place is that of the plan of {action}",
    "it claims what is being released",
    "it was placed together with others"};
/// Where a plan stands above scores, and the node is the one of the best score all the same.
constexpr const char* within_plan = "{sentence} Chosen within a plan: {plan}.";
constexpr const char* by_itself = "{sentence} By itself the pod would have gone to {runner_up}.";
constexpr const char* one_difference = "{part} gives {here} against {there}";

constexpr std::array<const char*, choice_flip_kind_count> flip_sayings{
    "", "Without the score of part {part} it would have been {node}.", "{node} would have needed {score} more.",
    "If {chosen} were closed it would be {node}."};
constexpr const char* closed_for_nobody = "If {chosen} were closed it would wait.";

/// Three decimals where that says something.
std::string score_in_words(double score) {
  if (score != 0 && std::abs(score) < 0.001) return fmt::format("{:.2g}", score);
  std::string text = fmt::format("{:.3f}", score);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

template <class Code, std::size_t N>
std::string_view name_in(const std::array<std::string_view, N>& names, Code code) {
  const auto number = static_cast<std::size_t>(code);
  return number < N ? names[number] : std::string_view{};
}

}  // namespace

std::string_view choice_rule_name(choice_rule r) noexcept { return name_in(choice_rule_names, r); }
std::string_view choice_plan_name(choice_plan p) noexcept { return name_in(choice_plan_names, p); }
std::string_view choice_flip_kind_name(choice_flip_kind k) noexcept { return name_in(choice_flip_names, k); }

std::string session::text(const choice_account& why) const {
  const work::core& c = impl_->core;
  std::string differences;
  for (const score_difference& one : why.differences) {
    differences += differences.empty() ? "" : ", ";
    differences +=
        fmt::format(fmt::runtime(one_difference), fmt::arg("part", one.part),
                    fmt::arg("here", score_in_words(one.chosen)), fmt::arg("there", score_in_words(one.runner_up)));
  }
  const std::size_t decided = engine_detail::placement_of(c, why.pod);
  const action_kind action = decided < c.decisions.size() ? c.decisions[decided].action : action_kind::none;
  const std::string plan = fmt::format(fmt::runtime(plan_sayings[static_cast<std::size_t>(why.plan)]),
                                       fmt::arg("action", action_name(action)));
  const std::string_view runner_up = engine_detail::name_of_node(c, why.runner_up);
  const auto say = [&](const char* format, std::string_view sentence) {
    return fmt::format(fmt::runtime(format), fmt::arg("sentence", sentence), fmt::arg("plan", plan),
                       fmt::arg("chosen", engine_detail::name_of_node(c, why.chosen)), fmt::arg("runner_up", runner_up),
                       fmt::arg("differences", differences));
  };
  const std::string sentence = say(rule_sayings[static_cast<std::size_t>(why.rule)], {});
  if (why.rule == choice_rule::not_by_score) return why.runner_up == no_row ? sentence : say(by_itself, sentence);
  return why.plan == choice_plan::none ? sentence : say(within_plan, sentence);
}

std::string session::text(const choice_account& why, const choice_flip& one) const {
  const work::core& c = impl_->core;
  const bool nobody = one.what == choice_flip_kind::closed_node && one.node == no_row;
  const char* const format = nobody ? closed_for_nobody : flip_sayings[static_cast<std::size_t>(one.what)];
  return fmt::format(
      fmt::runtime(format), fmt::arg("part", one.part), fmt::arg("node", engine_detail::name_of_node(c, one.node)),
      fmt::arg("score", score_in_words(one.score)), fmt::arg("chosen", engine_detail::name_of_node(c, why.chosen)));
}

}  // namespace kaisched
