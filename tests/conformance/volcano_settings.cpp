#include "conformance/volcano_settings.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/json_values.hpp"

namespace kaisched::conformance {

using nlohmann::json;

namespace {

std::string trimmed_name(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

/// Names between commas.
std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (std::string name = trimmed_name(std::string_view(text).substr(begin, end - begin)); !name.empty())
      names.push_back(std::move(name));
    begin = end + 1;
  }
  return names;
}

/// A weight that is not negative, else 1.
std::int64_t weight_of(const json& from, std::string_view key) {
  const auto weight = value_or<std::int64_t>(from, key, 1);
  return weight < 0 ? 1 : weight;
}

}  // namespace

policy::resource_strategy volcano_strategy(const json& record) {
  const std::string type = text_or_empty(record, "type");
  policy::resource_strategy made{policy::fit_strategy::none, value_or<std::int64_t>(record, "weight", 0)};
  if (type == "LeastAllocated") made.strategy = policy::fit_strategy::least_allocated;
  if (type == "MostAllocated") made.strategy = policy::fit_strategy::most_allocated;
  return made;
}

policy::resource_strategies volcano_strategies(const json& records) {
  policy::resource_strategies made;
  for (const auto& [name, record] : records.items()) made.emplace(name, volcano_strategy(record));
  return made;
}

std::optional<policy::resource_strategies> volcano_strategies_of_pod(const json& pod) {
  const json& annotations = items(member(pod, "metadata"), "annotations");
  const std::string type = text_or_empty(annotations, "volcano.sh/resource-strategy-scoring-type");
  if (type.empty()) return std::nullopt;
  policy::resource_strategies made;
  const json weights = json::parse(text_or_empty(annotations, "volcano.sh/resource-strategy-weight"), nullptr, false);
  if (!weights.is_object()) return made;
  for (const auto& [name, weight] : weights.items()) {
    if (!weight.is_number_integer()) return policy::resource_strategies{};
    made.emplace(name, volcano_strategy({{"type", type}, {"weight", weight}}));
  }
  return made;
}

policy::strategy_fit_settings volcano_strategy_settings(const json& arguments) {
  return {value_or<std::int64_t>(arguments, "resourceStrategyFitWeight", -1),
          volcano_strategies(items(arguments, "resources"))};
}

policy::scarcity_settings volcano_scarcity_settings(const json& arguments) {
  policy::scarcity_settings made;
  if (!value_or(arguments, "enable", false)) return made;
  made.weight = value_or<std::int64_t>(arguments, "weight", 0);
  for (const std::string& name : listed(text_or_empty(arguments, "resources"))) {
    made.resources[name] = weight_of(items(arguments, "resourceWeight"), name);
  }
  return made;
}

policy::resource_weights volcano_packing_weights(const json& arguments, const std::string& prefix) {
  policy::resource_weights made{{"cpu", weight_of(arguments, prefix + ".cpu")},
                                {"memory", weight_of(arguments, prefix + ".memory")}};
  for (const std::string& name : listed(text_or_empty(arguments, prefix + ".resources"))) {
    made[name] = weight_of(arguments, prefix + ".resources." + name);
  }
  return made;
}

}  // namespace kaisched::conformance
