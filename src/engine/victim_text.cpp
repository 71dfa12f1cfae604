// Victims, those that were left alone, and searches for victims, as sentences.
#include <array>

#include <fmt/format.h>

#include <kaisched/victims.hpp>

#include "engine/session_impl.hpp"

namespace kaisched {

namespace {

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
                                                                            "in_solution"};
constexpr std::array<std::string_view, spared_reason_count> spared_names{
    "",     "not_preemptible", "own_queue", "other_queue", "priority", "queue_within_share", "minimum_runtime",
    "part", "not_needed"};

constexpr std::array<const char*, victim_rule_count> victim_sayings{
    "",
    "its gang runs with fewer pods than it needs, and its grace is over; all of it leaves",
    "its group has run for as long as it may; all of it leaves",
    "a copy starts before it leaves; the node is freed that takes the fewest migrations",
    "it holds an instance that goes when the device is divided anew",
    "it stands where the room is made, and has got a place elsewhere",
    "its group does without it: pods beyond gangs go first",
    "queue {queue}, or one above it, held more than its fair share",
    "of the groups of queue {queue} that might have lost pods none of a lower priority was left alone",
    "of those of the same priority none that is younger was left alone",
    "the search found a set of victims with it that makes enough room"};
constexpr std::array<const char*, spared_reason_count> spared_sayings{
    "",
    "not preemptible",
    "of the queue that reclaims",
    "of another queue, and preempt takes from its own",
    "of no lower priority",
    "of a queue that does not hold so much beyond its share",
    "within the runtime that it is promised",
    "spared by a part of the policy",
    "not needed where it stands in the order of victims"};

constexpr const char* protected_from_others =
    "Had {group} been protected, {waiting} would have got {pods} all the same, from {victims}.";
constexpr const char* protected_from_nobody =
    "Had {group} been protected, {waiting} would have got {pods} without anybody leaving.";
constexpr const char* protected_in_vain = "Had {group} been protected, {waiting} would have got no room: {attempt}.";
constexpr const char* protected_unsearched = "Had {group} been protected, {waiting} would have got no room.";

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
constexpr std::array<const char*, static_cast<std::size_t>(attempt_saying::count)> attempt_sayings{
    "made room for some of its pods; the rest waits for another session",
    "its preemption delay is not over",
    "room is made for preemptible groups only",
    "with its next pods queue {queue} would hold more than its fair share",
    "with its next pods queue {queue} would hold more than its fair share, or its non-preemptible pods more "
    "than its quota",
    "a queue on its path would hold more than its quota in pods that are not preemptible",
    "not searched for: a group like it had just failed",
    "an eviction would not remove what is in its way",
    "all nodes together have fewer GPUs free than it asks for",
    "no other queue has pods that may be taken and would be enough{spared}",
    "no group of its queue with a lower priority has pods that may be taken and would be enough{spared}",
    "no pods that may move would free enough in the right places{spared}"};
constexpr const char* spared_by_runtime = "; a minimum runtime protects others";

constexpr const char* tried_in_vain = "{sets} of victims {were} tried without making room{spared}";
constexpr const char* tried_and_refused = "{sets} of victims {were} tried; {refused} made room but {fault}{spared}";
constexpr std::array<const char*, 3> faults{"left a pod without a place", "took more than may be taken",
                                            "took more than minimum runtimes allow"};

std::string counted_in_words(std::uint64_t number, std::string_view noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

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
      break;
  }
  return attempt_saying::count;
}

}  // namespace

std::string_view victim_rule_name(victim_rule r) noexcept {
  const auto number = static_cast<std::size_t>(r);
  return number < victim_rule_names.size() ? victim_rule_names[number] : std::string_view{};
}

std::string_view spared_reason_name(spared_reason r) noexcept {
  const auto number = static_cast<std::size_t>(r);
  return number < spared_names.size() ? spared_names[number] : std::string_view{};
}

std::string session::text(const victim_account& why, victim_rule rule) const {
  const queue_row queue = view().group_queue(why.group);
  return fmt::format(fmt::runtime(victim_sayings[static_cast<std::size_t>(rule)]),
                     fmt::arg("queue", queue == no_row ? std::string_view{} : base().queue_name(queue)));
}

std::string session::text(spared_reason why) const { return spared_sayings[static_cast<std::size_t>(why)]; }

std::string session::text(const victim_account& why, const protected_outcome& outcome) const {
  if (!outcome.tried || why.placed.empty()) return {};
  std::string victims;
  for (const group_pods& one : outcome.victims) {
    victims += victims.empty() ? "" : ", ";
    victims += fmt::format("{} ({})", view().group_name(one.group), counted_in_words(one.pods, "pod"));
  }
  const bool searched = outcome.attempt.action != action_kind::none;
  const char* const format = outcome.pods == 0         ? searched ? protected_in_vain : protected_unsearched
                             : outcome.victims.empty() ? protected_from_nobody
                                                       : protected_from_others;
  return fmt::format(fmt::runtime(format), fmt::arg("group", view().group_name(why.group)),
                     fmt::arg("waiting", view().group_name(why.placed.front().group)),
                     fmt::arg("pods", fmt::format("{} for {}", outcome.pods == 1 ? "a place" : "places",
                                                  counted_in_words(outcome.pods, "pod"))),
                     fmt::arg("victims", victims),
                     fmt::arg("attempt", searched && outcome.pods == 0 ? text(outcome.attempt) : std::string()));
}

std::string session::text(const eviction_attempt& one) const {
  const queue_row queue = view().group_queue(one.group);
  const bool preemptible = view().group_preemptible(one.group);
  const attempt_saying saying = attempt_saying_of(one, preemptible);
  const std::string_view spared = one.spared ? spared_by_runtime : "";
  const char* const format = saying != attempt_saying::count ? attempt_sayings[static_cast<std::size_t>(saying)]
                             : one.refused == 0              ? tried_in_vain
                                                             : tried_and_refused;
  const std::size_t fault = one.action == action_kind::consolidation ? 0 : one.action == action_kind::reclaim ? 1 : 2;
  return fmt::format(fmt::runtime(format), fmt::arg("spared", spared),
                     fmt::arg("queue", queue == no_row ? std::string_view{} : base().queue_name(queue)),
                     fmt::arg("sets", counted_in_words(one.sets, "set")),
                     fmt::arg("were", one.sets == 1 ? "was" : "were"),
                     fmt::arg("refused", one.refused == one.sets ? std::string("all") : std::to_string(one.refused)),
                     fmt::arg("fault", faults[fault]));
}

}  // namespace kaisched
