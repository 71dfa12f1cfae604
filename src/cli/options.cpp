// The command that lists the options of the policy: they describe themselves.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/options.hpp>

#include "cli/console.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/terminal.hpp"
#include "io/column_form.hpp"
#include "session/old_names.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view options_schema = "kaisched-options/1";

std::string_view type_name(option_type type) {
  switch (type) {
    case option_type::boolean:
      return "boolean";
    case option_type::integer:
      return "integer";
    case option_type::number:
      return "number";
    case option_type::choice:
      return "choice";
    case option_type::list:
      break;
  }
  return "list";
}

bool has_bounds(const option_info& option) {
  return option.type == option_type::integer || option.type == option_type::number;
}

std::string range_of(const option_info& option) {
  if (has_bounds(option)) return fmt::format("{} from {} to {}", type_name(option.type), option.least, option.most);
  const std::string values = fmt::format("{}", fmt::join(values_of_option(option.name), ", "));
  return option.type == option_type::list ? fmt::format("list, separated by commas, of: {}", values)
                                          : fmt::format("{}: {}", type_name(option.type), values);
}

std::string default_of(const option_info& option) {
  std::string text;
  for (const char c : option.fallback) text += c == ',' ? std::string(", ") : std::string(1, c);
  return text.empty() ? "(none)" : text;
}

void print_option(const terminal& out, const option_info& option) {
  const std::size_t width = std::min(out.width(), line_width);
  constexpr std::size_t value_column = 30;
  std::string lead = pad_right("  " + out.paint(style::cyan, option.name), value_column);
  for (const std::string& line : wrap(default_of(option), width - value_column)) {
    out.line(lead + line);
    lead.assign(value_column, ' ');
  }
  const std::string_view of_clusters =
      option.applies_to == option_target::cluster ? " (an option of clusters: --on-invalid)" : "";
  for (const std::string& line : wrap(fmt::format("[{}] {}{}", range_of(option), option.doc, of_clusters), width - 4)) {
    out.line("    " + out.paint(style::dim, line));
  }
}

json json_of(const option_info& option) {
  json one{{"name", option.name},
           {"type", type_name(option.type)},
           {"default", option.fallback},
           {"doc", option.doc},
           {"of", option.applies_to == option_target::cluster ? "cluster" : "engine"}};
  if (has_bounds(option)) {
    one["least"] = option.least;
    one["most"] = option.most;
  }
  if (const auto values = values_of_option(option.name); !values.empty()) one["values"] = values;
  return one;
}

int show_options(const std::string& given_name, console& to) {
  const std::string name(session_detail::current_option(given_name));
  std::vector<std::string> warnings;
  session_detail::warn_of_old_option(given_name, warnings);
  for (const std::string& text : warnings) print_warning(text);
  const std::span<const option_info> all = option_list();
  const auto chosen = std::find_if(all.begin(), all.end(), [&](const option_info& one) { return one.name == name; });
  if (!name.empty() && chosen == all.end()) {
    std::vector<std::string_view> names;
    for (const option_info& one : all) names.push_back(one.name);
    return to.fail(
        {status::not_found, fmt::format("no option is called \"{}\"; {}", name, io::suggestion(name, names)), {}},
        exit_usage);
  }
  const std::span<const option_info> shown = name.empty() ? all : std::span(&*chosen, 1);
  if (to.shows_report()) {
    const terminal& out = to.out();
    if (name.empty()) {
      out.line(fmt::format("Options for {} and for the library, with the defaults of {}.",
                           out.paint(style::bold, "--set"), out.paint(style::bold, "--preset kai")));
      for (const std::string& line : wrap(fmt::format("Presets: {}", fmt::join(preset_names(), ", ")), out.width()))
        out.line(line);
      out.line();
    }
    for (const option_info& one : shown) print_option(out, one);
  }
  json list = json::array();
  for (const option_info& one : shown) list.push_back(json_of(one));
  return to.finish({{"schema", options_schema}, {"presets", preset_names()}, {"options", std::move(list)}});
}

}  // namespace

void add_options(command_list& to) {
  command& c = to.add("options", group::reference, "Options of the policy: default, type, range, meaning");
  auto& name = c.keep<std::string>();
  value_form form = any_value("NAME");
  form.proposals = [](std::span<const std::string>, std::string_view) {
    std::vector<proposal> found;
    for (const option_info& one : option_list()) found.push_back({std::string(one.name), std::string(one.doc)});
    return found;
  };
  c.position("NAME", &name, std::move(form), "Name of one option");
  c.add_example("kaisched options");
  c.add_example("kaisched options placement.gpu");
  c.runs([&name](console& out) { return show_options(name, out); });
}

}  // namespace kaisched::cli
