#include "engine/presets.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <kaisched/options.hpp>

#include "base/text.hpp"

namespace kaisched {

namespace engine_detail {

namespace {

/// Decisions of an earlier revision are not kept; its name, in files of version 0.1, stands for the newest one.
constexpr std::string_view revision = "-r2";

struct preset_line {
  std::string_view name;
  std::string_view value;
};

/// The lines that are not comments.
std::vector<preset_line> lines_of(std::string_view text) {
  constexpr std::string_view equals = " = ";
  std::vector<preset_line> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t at = line.find(equals);
    if (line.empty() || line.front() == '#' || at == std::string_view::npos) continue;
    lines.push_back({line.substr(0, at), line.substr(at + equals.size())});
  }
  return lines;
}

/// The preset that a name or an alias is of; null: there is none.
const preset_file* find_preset(std::string_view name) {
  for (const preset_file& one : preset_files()) {
    if (one.name == name) return &one;
  }
  for (const preset_file& one : preset_files()) {
    const std::vector<preset_line> lines = lines_of(one.text);
    const auto is_name = [name](const preset_line& line) { return line.name == "alias" && line.value == name; };
    if (std::ranges::any_of(lines, is_name)) return &one;
  }
  return nullptr;
}

}  // namespace

std::string_view newest_revision(std::string_view name) noexcept {
  for (const preset_file& one : preset_files()) {
    const bool is_newest =
        one.name.ends_with(revision) && one.name.substr(0, one.name.size() - revision.size()) == name;
    if (is_newest) return one.name;
  }
  return name;
}

}  // namespace engine_detail

result<policy_options> preset(std::string_view name) {
  const engine_detail::preset_file* const found = engine_detail::find_preset(engine_detail::newest_revision(name));
  if (found == nullptr) {
    std::string known;
    for (const std::string_view one : preset_names()) known.append(known.empty() ? "" : ", ").append(one);
    return error{status::not_found, "there is no preset '" + base::shown(name) + "'; there are: " + known, {}};
  }
  policy_options made;
  made.preset = found->name;
  for (const engine_detail::preset_line& line : engine_detail::lines_of(found->text)) {
    if (line.name == "alias") continue;
    if (auto done = made.set(line.name, line.value); !done) return done.failure();
  }
  if (name == "kai-0.17") made.actions = {"allocate"};  // which were its actions then
  return made;
}

}  // namespace kaisched
