#include "load/load_board.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "api_server/text_parts.hpp"

namespace shim {

namespace {

constexpr std::int64_t last_index = 63;
constexpr double mebibyte = 1024.0 * 1024.0;

std::string label_of(const sample& what, std::string_view name) {
  const auto found = what.labels.find(name);
  return found == what.labels.end() ? std::string{} : found->second;
}

}  // namespace

void load_board::take(std::string_view metric, const sample& what, clock::time_point now) {
  const std::string node = label_of(what, node_label_);
  const std::int64_t index = read_number<std::int64_t>(label_of(what, "gpu")).value_or(-1);
  if (node.empty() || index < 0 || index > last_index || !label_of(what, "GPU_I_ID").empty() || what.value < 0) return;
  const std::pair<std::string, std::int64_t> key{node, index};
  if (!cards_.contains(key) && cards_.size() >= most_cards) return;
  card& to = cards_[key];
  const std::string uuid = label_of(what, "UUID");
  if (!to.last.uuid.empty() && !uuid.empty() && to.last.uuid != uuid) to.permille.clear();  // it was replaced
  to.last.node = node;
  to.last.index = index;
  to.last.uuid = uuid;
  to.last_at = now;
  if (metric == utilisation_metric) {
    const double permille = std::min(what.value * 10, 1000.0);
    to.last.used_permille = std::llround(permille);
    to.permille.emplace_back(now, permille);
  } else if (metric == memory_metric && what.value < 1e9) {
    to.last.used_bytes = std::llround(what.value * mebibyte);
  }
}

object_store::notes load_board::notes(clock::time_point now) {
  object_store::notes all;
  std::erase_if(cards_, [&](const auto& one) { return now - one.second.last_at > window_; });
  for (auto& [key, one] : cards_) {
    std::erase_if(one.permille, [&](const auto& value) { return now - value.first > window_; });
    if (one.permille.empty()) continue;
    double mean = 0;
    for (const auto& [at, value] : one.permille) mean += value;
    mean /= static_cast<double>(one.permille.size());
    double square = 0;
    for (const auto& [at, value] : one.permille) square += (value - mean) * (value - mean);
    const double deviation = std::sqrt(square / static_cast<double>(one.permille.size()));
    std::string& text = all[key.first];
    text += fmt::format("{}{}={}~{}", text.empty() ? "" : ",", key.second, std::llround(mean), std::llround(deviation));
  }
  return all;
}

std::vector<measured_card> load_board::cards() const {
  std::vector<measured_card> all;
  for (const auto& [key, one] : cards_) all.push_back(one.last);
  return all;
}

}  // namespace shim
