#include "prometheus/prometheus.hpp"

#include <cmath>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api_server/text_parts.hpp"

namespace shim {

namespace {

using nlohmann::json;

/// Enough for some ten thousand series.
constexpr std::size_t most_answer = 64U << 20U;

std::optional<double> number_in(const json& value) {
  if (!value.is_array() || value.size() != 2 || !value[1].is_string()) return std::nullopt;
  const std::string& text = value[1].get_ref<const std::string&>();
  const auto number = read_number<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

prometheus::prometheus(const prometheus_settings& at) : client_(credentials_for(at.url, at.token_file, at.ca)) {
  client_.set_timeout(at.timeout);
  client_.set_foreign(most_answer);
}

std::vector<sample> prometheus::ask(const std::string& expression, std::chrono::system_clock::time_point when) {
  const response answer =
      client_.send({.target = fmt::format("/api/v1/query?query={}&time={:.3f}", encoded(expression),
                                          std::chrono::duration<double>(when.time_since_epoch()).count())});
  const json read = json::parse(answer.body, nullptr, false);
  const auto fail = [&](const std::string& words) {
    return std::runtime_error(fmt::format("prometheus: {}: {}", expression, words));
  };
  if (!answer.ok()) {
    const bool says = read.is_object() && read.contains("error") && read["error"].is_string();
    throw fail(fmt::format("status {}{}", answer.status, says ? ": " + read["error"].get<std::string>() : ""));
  }
  const json::json_pointer type("/data/resultType");
  const json::json_pointer list("/data/result");
  if (!read.is_object() || !read.contains(type) || read[type] != "vector" || !read.contains(list) ||
      !read[list].is_array()) {
    throw fail("the answer is no vector");
  }
  std::vector<sample> all;
  for (const json& one : read[list]) {
    const std::optional<double> value = number_in(one.value("value", json()));
    if (!value) continue;
    sample made{{}, *value};
    if (const auto labels = one.find("metric"); labels != one.end() && labels->is_object()) {
      for (const auto& [label, text] : labels->items()) {
        if (text.is_string()) made.labels.emplace(label, text.get<std::string>());
      }
    }
    all.push_back(std::move(made));
  }
  return all;
}

}  // namespace shim
