#include "conformance/rules/sub_groups.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

namespace kaisched::policy {

std::optional<std::vector<std::string>> sub_group_values(const sub_group_rule& rule, const model::label_list& labels) {
  if (rule.pods && !rule.pods->matches(labels)) return std::nullopt;
  std::vector<std::string> values;
  for (const std::string& key : rule.label_keys) {
    const std::string* value = model::find_label(labels, key);
    if (value == nullptr || value->empty()) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::int64_t sub_group_place(std::span<const std::string> values) {
  if (values.empty()) return 0;
  const std::string& text = values.front();
  std::int64_t place = 0;
  const std::size_t plus = text.starts_with('+') ? 1 : 0;
  const auto [end, failure] = std::from_chars(text.data() + plus, text.data() + text.size(), place);
  return failure == std::errc{} && end == text.data() + text.size() ? place : 0;
}

std::optional<std::string> sub_group_name(std::string_view gang, std::string_view rule,
                                          std::span<const std::string> values) {
  constexpr std::size_t longest = 128;
  std::string joined;
  for (const std::string& value : values) joined.append(joined.empty() ? "" : "-").append(value);
  if (joined.size() > longest) return std::nullopt;
  return std::string(gang).append("/").append(rule).append("-").append(joined);
}

}  // namespace kaisched::policy
