#include "watch/discovery.hpp"

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace shim {

namespace {

using nlohmann::json;

constexpr unsigned forbidden = 403;
constexpr unsigned not_found = 404;

/// A list of an answer; empty if it has none.
const json& list_of(const json& answer, const char* key) {
  static const json none = json::array();
  const auto found = answer.find(key);
  return found == answer.end() || !found->is_array() ? none : *found;
}

std::string text_of(const json& from, const char* key) {
  return from.is_object() && from.contains(key) && from[key].is_string() ? from[key].get<std::string>() : std::string{};
}

json read_answer(const response& answer, const std::string& target) {
  if (!answer.ok()) throw std::runtime_error(fmt::format("{}: {}", target, server_words(answer)));
  json read = json::parse(answer.body);
  if (!read.is_object()) throw std::runtime_error(fmt::format("{}: an answer that is no object", target));
  return read;
}

/// `group/version` of all groups but the core.
std::set<std::string> served_versions(const json& groups) {
  std::set<std::string> versions;
  for (const json& group : list_of(groups, "groups")) {
    if (!group.is_object()) continue;
    for (const json& one : list_of(group, "versions")) versions.insert(text_of(one, "groupVersion"));
  }
  return versions;
}

}  // namespace

std::set<std::string> served_kinds(http_client& client, std::span<const resource> of) {
  std::set<std::string> all;
  std::set<std::string_view> asked;
  for (const resource& one : of) {
    if (one.required) continue;
    all.insert(one.key());
    asked.insert(one.version);
  }
  request what{.target = "/apis"};
  response answer = client.send(what);
  if (answer.status == forbidden) return all;
  const std::set<std::string> versions = served_versions(read_answer(answer, what.target));
  std::set<std::string> served;
  for (const std::string_view version : asked) {
    const bool core = version == "v1";
    if (!core && !versions.contains(std::string(version))) continue;
    what.target = fmt::format("/{}/{}", core ? "api" : "apis", version);
    answer = client.send(what);
    if (answer.status == not_found) continue;  // it has gone in between
    std::set<std::string> plurals;
    const json read = read_answer(answer, what.target);
    for (const json& one : list_of(read, "resources")) plurals.insert(text_of(one, "name"));
    for (const resource& one : of) {
      if (!one.required && one.version == version && plurals.contains(std::string(one.plural)))
        served.insert(one.key());
    }
  }
  return served;
}

}  // namespace shim
