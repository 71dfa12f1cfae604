// Steps of divisions as sentences.
#include <array>

#include <fmt/format.h>

#include <kaisched/share_steps.hpp>

#include "engine/session_impl.hpp"

namespace kaisched {

namespace {

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
constexpr std::array<const char*, 9> share_sayings{
    "{given} to divide among the children of '{parent}'",
    "{given} of the cluster to divide",
    "its quota gives '{queue}' {given} of the {wanted} that it asks for",
    "quotas promise more than there is: round {round} gives '{queue}' {given} of the {wanted} that its quota has",
    "round {round} by weight {weight:g} gives '{queue}' {given} of the {wanted} that it still asks for",
    "rounding up gives '{queue}' {given} of the {wanted} that it still asks for",
    "part '{part}' changes the share of '{queue}' from {before} to {after}",
    "{given} left that nobody may take",
    "quotas have given {missing} more than there is"};

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

std::string_view share_step_kind_name(share_step_kind k) noexcept {
  const auto number = static_cast<std::size_t>(k);
  return number < share_step_names.size() ? share_step_names[number] : std::string_view{};
}

std::string session::text(const share_step& one) const {
  const work::core& c = impl_->core;
  const auto name = [&](queue_row q) { return q == no_row ? std::string_view{} : base().queue_name(q); };
  const auto amount = [&](std::int64_t value) { return engine_detail::amount_text(c, one.dim, value); };
  return fmt::format(fmt::runtime(share_sayings[static_cast<std::size_t>(saying_of(one))]),
                     fmt::arg("queue", name(one.queue)), fmt::arg("parent", name(one.parent)),
                     fmt::arg("round", one.round), fmt::arg("weight", one.weight), fmt::arg("part", one.by),
                     fmt::arg("given", amount(one.given)), fmt::arg("wanted", amount(one.wanted)),
                     fmt::arg("before", amount(one.before)), fmt::arg("after", amount(one.after)),
                     fmt::arg("missing", amount(-one.given)));
}

}  // namespace kaisched
