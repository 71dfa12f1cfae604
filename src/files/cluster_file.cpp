#include "files/cluster_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "files/cluster_yaml.hpp"
#include "files/kubernetes_text.hpp"
#include "files/zip_text.hpp"
#include "io/cluster_json.hpp"
#include "io/files.hpp"
#include "io/scenario/scenario.hpp"

namespace kaisched::io {

namespace {

bool starts_with_brace(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first == std::string_view::npos || text[first] == '{' || text[first] == '[';
}
bool is_anything(std::string_view /*text*/) { return true; }

/// The first statement, behind comments and blank lines.
bool starts_as_scenario(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (true) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return false;
    text.remove_prefix(first);
    if (text.front() != '#') return text.starts_with("scenario ");
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
}

/// Other forms say themselves which queue a group is in.
result<void> check_rules(const kubernetes::settings& chosen, std::string_view source) {
  if (chosen.rules == nullptr) return {};
  return error{status::argument,
               fmt::format("{}: queue rules are for objects of Kubernetes, and this is another form", source),
               {}};
}

/// A form that nothing can be chosen for.
template <result<cluster_input> (*Parse)(std::string_view, std::string_view)>
result<cluster_input> parse_as_is(std::string_view text, std::string_view source, const kubernetes::settings& chosen) {
  if (auto good = check_rules(chosen, source); !good) return good.take_failure();
  return Parse(text, source);
}

result<cluster_input> parse_scenario_cluster(std::string_view text, std::string_view source) {
  result<scenario> parsed = parse_scenario(text, source);
  if (!parsed) return parsed.take_failure();
  return initial_cluster(std::move(*parsed));
}

result<std::string> format_scenario_cluster(const snapshot& from, std::int64_t now) {
  return format_scenario(from, now, {});
}

result<cluster_input> parse_kubernetes(std::string_view text, std::string_view source,
                                       const kubernetes::settings& chosen) {
  return kubernetes::parse(text, source, chosen);
}

/// As KAI's scheduler gives it out.
result<cluster_input> parse_zip(std::string_view bytes, std::string_view source, const kubernetes::settings& chosen) {
  const result<std::string> text = unzip_json(bytes, source);
  if (!text) return text.failure();
  if (kubernetes::is_likely(*text)) return kubernetes::parse(*text, source, chosen);
  return parse_as_is<parse_cluster_json>(*text, source, chosen);
}

constexpr std::array<std::string_view, 1> zip_endings{".zip"};
constexpr std::array<std::string_view, 1> json_endings{".json"};
constexpr std::array<std::string_view, 1> scenario_endings{".ks"};
constexpr std::array<std::string_view, 2> yaml_endings{".yaml", ".yml"};
constexpr std::array<std::string_view, 3> kubernetes_endings{".json", ".yaml", ".yml"};

bool has_ending(const cluster_form& form, std::string_view path) {
  return std::any_of(form.endings.begin(), form.endings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

constexpr std::array<cluster_form, 5> forms{{
    {"Kubernetes", kubernetes_endings, kubernetes::is_likely, parse_kubernetes, nullptr},
    {"JSON", json_endings, starts_with_brace, parse_as_is<parse_cluster_json>, format_cluster_json},
    {"scenario", scenario_endings, starts_as_scenario, parse_as_is<parse_scenario_cluster>, format_scenario_cluster},
    {"ZIP", zip_endings, is_zip, parse_zip, nullptr},
    {"YAML", yaml_endings, is_anything, parse_as_is<parse_cluster_yaml>, format_cluster_yaml},
}};

}  // namespace

std::span<const cluster_form> cluster_forms() noexcept { return forms; }

const cluster_form* cluster_form_of(std::string_view path) noexcept {
  for (const cluster_form& form : forms) {
    if (form.format != nullptr && has_ending(form, path)) return &form;
  }
  return nullptr;
}

result<cluster_input> parse_cluster(std::string_view text, std::string_view source,
                                    const kubernetes::settings& chosen) {
  const cluster_form* named = cluster_form_of(source);
  for (const cluster_form& form : forms) {
    if ((named == nullptr || has_ending(form, source)) && form.is_likely(text)) return form.parse(text, source, chosen);
  }
  return named->parse(text, source, chosen);  // the last form of all is likely
}

result<cluster_input> read_cluster(const std::string& path, const kubernetes::settings& chosen) {
  const result<std::string> text = read_file(path);
  if (!text) return text.failure();
  return parse_cluster(*text, path == "-" ? "standard input" : path, chosen);
}

result<std::string> format_cluster(const std::string& path, const snapshot& from, std::int64_t now) {
  const cluster_form* form = cluster_form_of(path);
  return form == nullptr ? format_cluster_json(from, now) : form->format(from, now);
}

result<void> write_cluster(const std::string& path, const snapshot& from, std::int64_t now) {
  const result<std::string> text = format_cluster(path, from, now);
  if (!text) return text.failure();
  return write_file(path, *text);
}

}  // namespace kaisched::io
