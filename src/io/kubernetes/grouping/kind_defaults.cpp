#include "io/kubernetes/grouping/kind_defaults.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

namespace kaisched::io::kubernetes {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char one) { return static_cast<char>(std::tolower(one)); });
  return lower;
}

}  // namespace

void kind_defaults::read(object& config_map) {
  const member data = config_map.section(config_map.root(), "data");
  const member types = find(data, "types");
  if (!types) {
    config_map.fail(config_map.root(), "data.types", "the list of kinds is missing");
    return;
  }
  const result<json_document> list = json_document::parse(config_map.text(data, "types"), "types");
  if (!list || !list->root().is(json_kind::array)) {
    config_map.fail(*types, list ? "expected a list in JSON" : list.failure().message);
    return;
  }
  for (const json_value one : list->root()) {
    const std::string_view kind = text_if_any(one, "typeName");
    const std::string_view group = text_if_any(one, "group");
    kind_default& row = by_kind_[group.empty() ? std::string(kind) : fmt::format("{}.{}", kind, group)];
    row.priority_class = text_if_any(one, "priorityName");
    row.preemptibility = lower_case(text_if_any(one, "preemptibility"));
  }
}

const kind_default* kind_defaults::of(std::string_view group, std::string_view kind) const {
  auto known = group.empty() ? by_kind_.end() : by_kind_.find(fmt::format("{}.{}", kind, group));
  if (known == by_kind_.end()) known = by_kind_.find(kind);
  return known == by_kind_.end() ? nullptr : &known->second;
}

}  // namespace kaisched::io::kubernetes
