#include "model/semantic_version.hpp"

#include <algorithm>
#include <charconv>

namespace kaisched::model {

namespace {

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

std::optional<std::uint64_t> number_of(std::string_view text) {
  if (text.empty() || !is_number(text) || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} ? std::optional(value) : std::nullopt;
}

/// Identifiers between dots; empty if one of them is none.
std::optional<std::vector<std::string>> identifiers_of(std::string_view text, bool zeros_may_lead) {
  constexpr std::string_view allowed = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-";
  std::vector<std::string> found;
  for (;;) {
    const std::size_t dot = text.find('.');
    const std::string_view one = text.substr(0, dot);
    if (one.empty() || one.find_first_not_of(allowed) != std::string_view::npos) return std::nullopt;
    if (!zeros_may_lead && is_number(one) && one.size() > 1 && one.front() == '0') return std::nullopt;
    found.emplace_back(one);
    if (dot == std::string_view::npos) return found;
    text.remove_prefix(dot + 1);
  }
}

std::strong_ordering compare_identifiers(std::string_view a, std::string_view b) {
  const bool a_number = is_number(a);
  const bool b_number = is_number(b);
  if (a_number != b_number) return a_number ? std::strong_ordering::less : std::strong_ordering::greater;
  if (a_number && a.size() != b.size()) return a.size() <=> b.size();  // no leading zeros
  return a <=> b;
}

}  // namespace

std::strong_ordering operator<=>(const semantic_version& a, const semantic_version& b) {
  if (const auto order = a.major <=> b.major; order != 0) return order;
  if (const auto order = a.minor <=> b.minor; order != 0) return order;
  if (const auto order = a.patch <=> b.patch; order != 0) return order;
  if (a.pre_release.empty() != b.pre_release.empty()) {
    return a.pre_release.empty() ? std::strong_ordering::greater : std::strong_ordering::less;
  }
  const std::size_t both = std::min(a.pre_release.size(), b.pre_release.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (const auto order = compare_identifiers(a.pre_release[i], b.pre_release[i]); order != 0) return order;
  }
  return a.pre_release.size() <=> b.pre_release.size();
}

std::optional<semantic_version> parse_semantic_version(std::string_view text) {
  semantic_version version;
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    if (!identifiers_of(text.substr(plus + 1), true)) return std::nullopt;
    text = text.substr(0, plus);
  }
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    std::optional<std::vector<std::string>> words = identifiers_of(text.substr(dash + 1), false);
    if (!words) return std::nullopt;
    version.pre_release = std::move(*words);
    text = text.substr(0, dash);
  }
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::optional<std::uint64_t> major = number_of(text.substr(0, first));
  const std::optional<std::uint64_t> minor = number_of(text.substr(first + 1, second - first - 1));
  const std::optional<std::uint64_t> patch = number_of(text.substr(second + 1));
  if (!major || !minor || !patch) return std::nullopt;
  version.major = *major;
  version.minor = *minor;
  version.patch = *patch;
  return version;
}

}  // namespace kaisched::model
