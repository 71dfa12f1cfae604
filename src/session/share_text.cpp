// Steps of divisions as sentences.
#include <array>

#include <kaisched/share_steps.hpp>

#include "base/value_names.hpp"
#include "session/session_impl.hpp"
#include "session/wording.hpp"

namespace kaisched {

namespace {

using session_detail::say;
using session_detail::wording;

constexpr std::array<std::string_view, share_step_kind_count> share_step_names{"",     "total", "quota", "over_quota",
                                                                               "unit", "part",  "left"};

/// What is said of a step.
enum class share_saying : std::uint8_t {
  total,
  total_of_cluster,
  quota,
  quota_in_rounds,
  over_quota,
  unit,
  part,
  left,
  oversold
};
constexpr std::array<wording, 9> share_sayings{
    wording("{given} to divide among the children of '{parent}'", "“{parent}”的子队列共分 {given}"),
    wording("{given} of the cluster to divide", "集群共有 {given} 可分"),
    wording("its quota gives '{queue}' {given} of the {wanted} that it asks for",
            "“{queue}”请求 {wanted}，按配额得 {given}"),
    wording(
        "quotas promise more than there is: round {round} gives '{queue}' {given} of the {wanted} that its quota has",
        "配额之和超过总量：第 {round} 轮给“{queue}”配额 {wanted} 中的 {given}"),
    wording("round {round} by weight {weight:g} gives '{queue}' {given} of the {wanted} that it still asks for",
            "第 {round} 轮按权重 {weight:g}，“{queue}”还请求 {wanted}，得 {given}"),
    wording("rounding up gives '{queue}' {given} of the {wanted} that it still asks for",
            "进位时“{queue}”还请求 {wanted}，得 {given}"),
    wording("part '{part}' changes the share of '{queue}' from {before} to {after}",
            "部件“{part}”把“{queue}”的份额从 {before} 改为 {after}"),
    wording("{given} left that nobody may take", "剩余 {given}，没有队列可以取用"),
    wording("quotas have given {missing} more than there is", "按配额多给了 {missing}"),
};

share_saying saying_of(const share_step& one) {
  switch (one.what) {
    case share_step_kind::total:
      return one.parent == no_row ? share_saying::total_of_cluster : share_saying::total;
    case share_step_kind::quota:
      return one.round == 0 ? share_saying::quota : share_saying::quota_in_rounds;
    case share_step_kind::over_quota:
      return share_saying::over_quota;
    case share_step_kind::unit:
      return share_saying::unit;
    case share_step_kind::part:
      return share_saying::part;
    case share_step_kind::left:
      break;
  }
  return one.given < 0 ? share_saying::oversold : share_saying::left;
}

}  // namespace

std::string_view share_step_kind_name(share_step_kind k) noexcept { return base::name_of_value(share_step_names, k); }

std::string session::text(const share_step& one) const {
  const framework::session_state& c = *impl_->state;
  const auto name = [&](queue_row q) { return q == no_row ? std::string_view{} : base().queue_name(q); };
  const auto amount = [&](std::int64_t value) { return session_detail::amount_text(c, one.dim, value); };
  return say(c.options.text_language, share_sayings[static_cast<std::size_t>(saying_of(one))], 1,
             fmt::arg("queue", name(one.queue)), fmt::arg("parent", name(one.parent)), fmt::arg("round", one.round),
             fmt::arg("weight", one.weight), fmt::arg("part", one.by), fmt::arg("given", amount(one.given)),
             fmt::arg("wanted", amount(one.wanted)), fmt::arg("before", amount(one.before)),
             fmt::arg("after", amount(one.after)), fmt::arg("missing", amount(-one.given)));
}

}  // namespace kaisched
