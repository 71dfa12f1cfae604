#pragma once
/// @file
/// Fields of a configuration in YAML: what they may hold, and errors that say where.

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "api_server/credentials.hpp"

namespace shim {

/// A field that is wrong, with its line in the file and its path, such as `server.listen`.
class bad_field : public bad_input {
 public:
  bad_field(int line, std::string path, std::string words)
      : bad_input(fmt::format("{}: {}: {}", line, path, words)),
        line_(line),
        path_(std::move(path)),
        words_(std::move(words)) {}
  [[nodiscard]] bad_field inside(const std::string& outer) const { return {line_, outer + "." + path_, words_}; }

 private:
  int line_;
  std::string path_;
  std::string words_;
};

template <class To>
using fields = std::map<std::string, std::function<void(To&, const YAML::Node&)>, std::less<>>;

/// Sets what the map names. Errors: bad_field.
template <class To>
void read_fields(const YAML::Node& map, const fields<To>& known, To& to) {
  if (!map.IsMap()) throw bad_input("expected fields and their values");
  for (const auto& one : map) {
    const std::string name = one.first.IsScalar() ? one.first.Scalar() : std::string("a field");
    const auto found = known.find(name);
    try {
      if (found == known.end()) throw bad_input("unknown field");
      found->second(to, one.second);
    } catch (const bad_field& inner) {
      throw inner.inside(name);
    } catch (const bad_input& fault) {
      throw bad_field(one.first.Mark().line + 1, name, fault.what());
    }
  }
}

// What one value may be. Errors: bad_input.
[[nodiscard]] std::string scalar(const YAML::Node& value);
[[nodiscard]] std::string some_text(const YAML::Node& value);
[[nodiscard]] bool truth(const YAML::Node& value);
[[nodiscard]] std::chrono::milliseconds duration(const YAML::Node& value, std::chrono::milliseconds least);
[[nodiscard]] unsigned number(const YAML::Node& value, unsigned least, unsigned most);

/// One of some words, which are given with what they mean.
template <class T>
[[nodiscard]] T one_of(const YAML::Node& value, std::span<const std::pair<std::string_view, T>> words) {
  const std::string text = scalar(value);
  std::string expected;
  for (const auto& [word, meaning] : words) {
    if (text == word) return meaning;
    expected += fmt::format("{}{}", expected.empty() ? "" : " or ", word);
  }
  throw bad_input(fmt::format("expected {}, found \"{}\"", expected, text));
}

/// For what outlasts a day: up to a hundred years, also in days and weeks.
[[nodiscard]] std::chrono::milliseconds long_duration(const YAML::Node& value, std::chrono::milliseconds least);

/// `10s`, `1m30s`, `250ms`, a day at most. Errors: bad_input.
[[nodiscard]] std::chrono::milliseconds parse_duration(std::string_view text);

// What a field sets, as an entry of `fields`.

/// A member: what `read` makes of the value, and of the bounds that it wants to know.
template <class Member, class Of, class Value, class... Bounds>
[[nodiscard]] auto member(Member Of::* to, Value (*read)(const YAML::Node&, Bounds...),
                          std::type_identity_t<Bounds>... bounds) {
  return [=](Of& of, const YAML::Node& value) { of.*to = read(value, bounds...); };
}

/// A member that is one of some words.
template <class Member, class Of>
[[nodiscard]] auto word(Member Of::* to,
                        std::initializer_list<std::pair<std::string_view, std::type_identity_t<Member>>> words) {
  return [to, all = std::vector(words)](Of& of, const YAML::Node& value) { of.*to = one_of<Member>(value, all); };
}

/// What `set` sets of a member.
template <class Member, class Of, class Set>
[[nodiscard]] auto inside(Member Of::* of_it, Set set) {
  return [=](Of& of, const YAML::Node& value) { set(of.*of_it, value); };
}

}  // namespace shim
