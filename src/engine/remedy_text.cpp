// Remedies as sentences.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <kaisched/remedies.hpp>

#include "engine/session_impl.hpp"

namespace kaisched {

namespace {

constexpr std::array<std::string_view, change_kind_count> change_names{
    "",          "gang_size", "pod_request", "required_level", "queue_limit", "queue_quota",
    "new_nodes", "open_node", "toleration",  "node_selector",  "eviction"};

}  // namespace

std::string_view change_kind_name(change_kind k) noexcept {
  const auto number = static_cast<std::size_t>(k);
  return number < change_names.size() ? change_names[number] : std::string_view{};
}

std::string session::text(const remedy& one) const {
  const work::core& c = impl_->core;
  const auto name = [&](entity_id id) { return "'" + std::string(base().name(id)) + "'"; };
  const auto amount = [&](const remedy_change& change, std::int64_t value) {
    return engine_detail::amount_text(c, change.dim, value);
  };
  std::string text;
  std::vector<std::string> leave;
  for (const remedy_change& change : one.changes) {
    std::string said;
    switch (change.what) {
      case change_kind::gang_size:
        said = fmt::format("{} pod{} of the gang of {} start{} without the others", change.after,
                           change.after == 1 ? "" : "s", change.before, change.after == 1 ? "s" : "");
        break;
      case change_kind::pod_request:
        said = fmt::format("each pod asks for {} instead of {}", amount(change, change.after),
                           amount(change, change.before));
        break;
      case change_kind::required_level:
        said = change.text_after.empty() ? fmt::format("its pods need not be together in one '{}'", change.text_before)
                                         : fmt::format("its pods are together in one '{}' instead of one '{}'",
                                                       change.text_after, change.text_before);
        break;
      case change_kind::queue_limit:
        said = fmt::format("queue {} may hold {} instead of {}", name(change.subject), amount(change, change.after),
                           amount(change, change.before));
        break;
      case change_kind::queue_quota:
        said = fmt::format("queue {} has a quota of {} instead of {}", name(change.subject),
                           amount(change, change.after), amount(change, change.before));
        break;
      case change_kind::new_nodes:
        said = change.after == 1 ? fmt::format("there is one more node like {}", name(change.subject))
                                 : fmt::format("there are {} more nodes like {}", change.after, name(change.subject));
        break;
      case change_kind::open_node:
        said = fmt::format("node {} is ready and not cordoned", name(change.subject));
        break;
      case change_kind::toleration:
        said = fmt::format("its pods tolerate the taint '{}'", change.text_before);
        break;
      case change_kind::node_selector:
        said = fmt::format("its pods do without the label '{}'", change.text_before);
        break;
      case change_kind::eviction:
        leave.emplace_back(base().name(change.subject));
        continue;
    }
    text += (text.empty() ? "if " : " and ") + said;
  }
  if (one.action != action_kind::none && one.action != action_kind::allocate) {
    constexpr std::size_t most = 4;
    text = fmt::format("if {} makes room", action_name(one.action));
    for (std::size_t i = 0; i < std::min(leave.size(), most); ++i)
      text += fmt::format("{}'{}'", i == 0 ? ": it stops " : ", ", leave[i]);
    if (leave.size() > most) text += fmt::format(" and {} more", leave.size() - most);
  }
  if (text.empty()) text = "as it is: an action has to try";
  return fmt::format("{}; {} pod{} start{}", text, one.starts, one.starts == 1 ? "" : "s", one.starts == 1 ? "s" : "");
}

}  // namespace kaisched
