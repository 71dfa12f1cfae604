// Forecasts as sentences.
#include <array>
#include <map>

#include <kaisched/what_if.hpp>

#include "session/session_impl.hpp"
#include "session/wording.hpp"

namespace kaisched {

namespace {

using session_detail::say;
using session_detail::wording;

constexpr wording nothing_waits("nothing of it waits", "它没有等待中的 Pod");
constexpr wording starts_now("{n} pod starts now", "{n} pods start now", "{n} 个 Pod 现在启动");
constexpr wording has_room("{n} pod gets a place through {action}: {who}",
                           "{n} pods get places through {action}: {who}", "{n} 个 Pod 通过 {action} 获得位置：{who}");
constexpr wording nobody_leaves("nobody has to leave, what is being released is enough",
                                "无需驱逐，正在释放的资源已足够");
constexpr wording leave("{n} pod of '{group}' leaves", "{n} pods of '{group}' leave", "“{group}”的 {n} 个 Pod 离开");
constexpr wording move("{n} pod of '{group}' moves", "{n} pods of '{group}' move", "“{group}”的 {n} 个 Pod 迁移");
constexpr wording list("{before}, {said}", "{before}，{said}");
constexpr wording in_time("expected to start in {time}, after {ends} ended and {starts} started",
                          "预计 {time} 后启动，此前有 {ends} 个组结束、{starts} 个组启动");
constexpr wording without_it("expected to start in {time} if nobody makes room", "若无人让出空间，预计 {time} 后启动");
constexpr wording alone("in {time} if nobody were served before it", "若没有别的组先于它，则为 {time} 后");
constexpr wording groups("{n} group has", "{n} groups have", "{n}");
constexpr std::array<wording, 5> unknown_words{
    wording("nobody has asked when", "没有询问时间"),
    wording("", ""),
    wording("nobody knows when: groups without an estimate of their runtime hold what it needs",
            "时间未知：占用所需资源的组没有运行时间估计"),
    wording("it does not start when all those that run have ended either", "即使所有运行中的组都结束，它也不能启动"),
    wording("nobody knows when: not searched further", "时间未知：没有继续搜索"),
};
constexpr wording next_sentence("{before}; {said}", "{before}；{said}");

std::string duration_text(std::int64_t nanoseconds) {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t all = (nanoseconds + second - 1) / second;
  if (all < 120) return fmt::format("{} s", all);
  if (all < 7200) return fmt::format("{} min", (all + 59) / 60);
  return fmt::format("{:.1f} h", static_cast<double>(all) / 3600);
}

}  // namespace

std::string session::text(const what_if_report& of, const forecast& one) const {
  const language in = impl_->state->options.text_language;
  const std::int64_t now = impl_->state->now;
  const auto after = [&](const std::string& before, const std::string& said) {
    return before.empty() ? said : say(in, next_sentence, 1, fmt::arg("before", before), fmt::arg("said", said));
  };
  if (one.way == start_way::none) return say(in, nothing_waits, 1);
  if (one.way == start_way::now) return say(in, starts_now, one.starts, fmt::arg("n", one.starts));
  std::string text;
  if (one.way == start_way::displaces) {
    std::map<std::string_view, std::pair<std::int64_t, std::int64_t>> lost;  // pods that leave, that move
    for (const decision& d : one.decisions) {
      if (d.group == one.group || (d.kind != decision_kind::evict && d.kind != decision_kind::move)) continue;
      auto& [leaving, moving] = lost[of.over.group_name(d.group)];
      ++(d.kind == decision_kind::evict ? leaving : moving);
    }
    std::string who;
    const auto add = [&](const std::string& said) {
      who = who.empty() ? said : say(in, list, 1, fmt::arg("before", who), fmt::arg("said", said));
    };
    for (const auto& [group, both] : lost) {
      if (both.first > 0) add(say(in, leave, both.first, fmt::arg("n", both.first), fmt::arg("group", group)));
      if (both.second > 0) add(say(in, move, both.second, fmt::arg("n", both.second), fmt::arg("group", group)));
    }
    if (who.empty()) who = say(in, nobody_leaves, 1);
    text = say(in, has_room, one.starts, fmt::arg("n", one.starts), fmt::arg("action", action_name(one.action)),
               fmt::arg("who", who));
  }
  if (one.expected >= 0 && one.way == start_way::displaces) {
    text = after(text, say(in, without_it, 1, fmt::arg("time", duration_text(one.expected - now))));
  } else if (one.expected >= 0) {
    const std::string ends = say(in, groups, one.ends_before, fmt::arg("n", one.ends_before));
    const std::string starts = say(in, groups, one.starts_before, fmt::arg("n", one.starts_before));
    text = after(text, say(in, in_time, 1, fmt::arg("time", duration_text(one.expected - now)), fmt::arg("ends", ends),
                           fmt::arg("starts", starts)));
  } else if (one.way != start_way::displaces) {
    text = after(text, say(in, unknown_words[static_cast<std::size_t>(one.knowledge)], 1));
  }
  if (one.earliest >= 0 && one.earliest != one.expected)
    text = after(text, say(in, alone, 1, fmt::arg("time", duration_text(one.earliest - now))));
  return text;
}

}  // namespace kaisched
