#include "cli/help.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace kaisched::cli {

namespace {

constexpr std::string_view summary =
    "kaisched decides which pods run where in a GPU cluster that teams share, on which devices, and says who waits and "
    "why.";

constexpr std::string_view exit_text =
    "0 done (pods that wait are an outcome), 1 something is wrong with what was examined, 2 wrong arguments or input, "
    "3 failed";

/// Lists are readable up to here; a wider terminal stays empty.
std::size_t width_of(const terminal& out) { return std::min(out.width(), line_width); }

void print_paragraphs(const terminal& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view paragraph = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (paragraph.starts_with(' ')) {
      out.line(paragraph);
    } else if (paragraph.empty()) {
      out.line();
    } else {
      for (const std::string& line : wrap(paragraph, width_of(out))) out.line(line);
    }
  }
}

/// A name on the left, its meaning in a column on the right.
struct entry {
  std::string name;
  std::string meaning;
};

void print_entries(const terminal& out, std::string_view heading, const std::vector<entry>& entries,
                   std::size_t column) {
  out.line();
  out.line(out.paint(style::bold, heading));
  for (const entry& one : entries) {
    std::string lead = pad_right("  " + out.paint(style::cyan, one.name), column);
    if (columns_of(one.name) + 4 > column) {
      out.line(lead);
      lead.assign(column, ' ');
    }
    for (const std::string& line : wrap(one.meaning, width_of(out) - column)) {
      out.line(lead + line);
      lead.assign(column, ' ');
    }
    if (one.meaning.empty()) out.line(lead.substr(0, lead.find_last_not_of(' ') + 1));
  }
}

std::string spelled(const argument& one) {
  if (one.is_position()) return one.names;
  std::string text;
  const std::vector<std::string> names = one.spellings();
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  if (names.front().starts_with("--")) text.insert(0, "    ");
  if (one.is_flag()) return text;
  return one.is_attached ? fmt::format("{}[={}]", text, one.form.name) : fmt::format("{} {}", text, one.form.name);
}

std::string meaning(const argument& one) {
  std::string text = one.text;
  if (!one.form.choices.empty()) text += fmt::format(": {}", fmt::join(one.form.choices, ", "));
  if (!one.fallback.empty() && !one.is_position()) text += fmt::format(" [{}]", one.fallback);
  constexpr std::string_view repeated = "may be repeated";
  if (one.takes_many() && !one.is_position() && !text.ends_with(repeated)) text += fmt::format("; {}", repeated);
  return text;
}

void print_examples(const terminal& out, std::span<const example> examples) {
  if (examples.empty()) return;
  out.line();
  out.line(out.paint(style::bold, "Examples"));
  std::size_t column = 0;
  for (const example& one : examples) column = std::max(column, columns_of(one.call) + 4);
  const bool beside = column + 30 <= width_of(out);
  for (const example& one : examples) {
    if (!beside && !one.meaning.empty()) out.line("  " + out.paint(style::dim, "# " + one.meaning));
    const std::string call = "  " + one.call;
    out.line(beside && !one.meaning.empty() ? pad_right(call, column) + out.paint(style::dim, "# " + one.meaning)
                                            : call);
  }
}

/// `kaisched run [OPTIONS] FILE`.
std::string usage_of(const command& about) {
  std::string usage = fmt::format("kaisched {} [OPTIONS]", about.name());
  for (const auto& one : about.arguments()) {
    if (!one->is_position()) continue;
    const std::string name = one->names + (one->takes_many() ? "..." : "");
    usage += one->is_required ? " " + name : " [" + name + "]";
  }
  return usage;
}

}  // namespace

void print_overview(const terminal& out, const command_list& commands) {
  for (const std::string& line : wrap(summary, width_of(out))) out.line(line);
  out.line();
  out.line(fmt::format("{} kaisched COMMAND [ARGUMENTS]", out.paint(style::bold, "Usage:")));
  std::vector<std::string> groups;
  for (const auto& one : commands.all()) {
    if (!one->hidden() && std::find(groups.begin(), groups.end(), one->group()) == groups.end()) {
      groups.push_back(one->group());
    }
  }
  for (const std::string& group : groups) {
    std::vector<entry> entries;
    for (const auto& one : commands.all()) {
      if (!one->hidden() && one->group() == group) entries.push_back({one->name(), one->summary()});
    }
    print_entries(out, group, entries, 14);
  }
  print_examples(out, std::vector<example>{
                          {"kaisched demo", "an invented cluster, decided and drawn"},
                          {"kaisched generate cluster.json --gpus 512 --load 1.3", "such a cluster as a file"},
                          {"kaisched run cluster.json", "decide: what starts, what waits, and why"},
                          {"kaisched explain cluster.json speech", "one queue, pod group, pod or node"},
                      });
  out.line();
  const std::string more =
      fmt::format("{} explains one command, {} completes words in your shell.",
                  out.paint(style::bold, "kaisched COMMAND --help"), out.paint(style::bold, "kaisched completion"));
  for (const std::string& line : wrap(more, width_of(out))) out.line(line);
  for (const std::string& line : wrap(fmt::format("Exit status: {}.", exit_text), width_of(out))) out.line(line);
}

void print_help(const terminal& out, const command& about) {
  out.line(fmt::format("{} {}", out.paint(style::bold, "Usage:"), usage_of(about)));
  out.line();
  print_paragraphs(out, about.summary() + ".");
  if (!about.text().empty()) {
    out.line();
    print_paragraphs(out, about.text());
  }
  constexpr std::size_t most_column = 30;
  std::size_t column = 0;
  for (const auto& one : about.arguments()) {
    if (columns_of(spelled(*one)) + 4 <= most_column) column = std::max(column, columns_of(spelled(*one)) + 4);
  }
  std::vector<std::string> headings;
  for (const auto& one : about.arguments()) {
    if (std::find(headings.begin(), headings.end(), one->group) == headings.end()) headings.push_back(one->group);
  }
  for (const std::string& heading : headings) {
    std::vector<entry> entries;
    for (const auto& one : about.arguments()) {
      if (one->group == heading) entries.push_back({spelled(*one), meaning(*one)});
    }
    print_entries(out, heading, entries, column);
  }
  print_examples(out, about.examples());
}

}  // namespace kaisched::cli
