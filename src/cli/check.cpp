// The command that looks at clusters without deciding anything.
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/schema.hpp>

#include "cli/console.hpp"
#include "cli/figures.hpp"
#include "cli/input.hpp"
#include "cli/lint.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "cli/tables.hpp"
#include "files/cluster_file.hpp"
#include "model/quarantine.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view check_schema = "kaisched-check/1";

struct check_arguments {
  input_arguments input;
  policy_arguments policy;
  std::vector<std::string> files;
  bool all = false;
  bool list = false;
  bool fail_on_warning = false;
};

/// What was found in one file.
struct checked_file {
  std::string name;
  bool there = true;      ///< false: it could not be opened
  bool is_built = false;  ///< a cluster came out of it
  contents holds;
  std::string digest;
  std::vector<finding> found;

  [[nodiscard]] std::int64_t count(severity how) const {
    return std::count_if(found.begin(), found.end(), [&](const finding& one) { return one.how == how; });
  }
};

/// Takes a number and the colon behind it from the front of a message; 0 if there is none.
std::uint32_t take_number(std::string_view& text) {
  std::uint32_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end == text.data() + text.size() || *end != ':') return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  return number;
}

/// Messages of readers start with the file, often the line, and sometimes the column.
void add_error(checked_file& to, const input_arguments& told, const error& why) {
  finding one{severity::error, "input", "", "", "", 0, 0};
  std::string_view text = why.message;
  for (const std::string* file : std::array<const std::string*, 3>{&to.name, &told.openb_nodes, &told.openb_pods}) {
    if (file->empty() || !text.starts_with(*file + ":")) continue;
    text.remove_prefix(file->size() + 1);
    one.line = take_number(text);
    if (one.line != 0) one.column = take_number(text);
    if (file != &to.name) one.file = *file;
    break;
  }
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  one.text = text;
  to.found.push_back(std::move(one));
}

/// A text, or an integer as text.
std::string word_at(const table_view& rows, std::uint32_t column, std::uint64_t row) {
  const column_view* values = rows.find(column);
  if (values == nullptr) return {};
  if (values->type == column_type::u32) return std::to_string(static_cast<const std::uint32_t*>(values->data)[row]);
  if (values->type == column_type::i64) return std::to_string(static_cast<const std::int64_t*>(values->data)[row]);
  return model::clean_name(text_at(rows, column, row));  // as quarantine names what cannot be shown
}

/// Places of the rows of files, by kind, owner and name of what they are about.
class line_index {
 public:
  struct place {
    std::uint32_t line = 0;
    std::string_view file;
  };

  explicit line_index(const io::cluster_input& of) {
    for (std::size_t i = 0; i < of.origins.size(); ++i) {
      const table_view rows = of.tables[i].view();
      const table_info* info = schema_of(rows.kind);
      if (info == nullptr || of.origins[i].lines.size() != rows.rows) continue;
      const bool owned =
          info->columns.size() > 1 && (info->columns[1].name == "name" || info->columns[1].name == "index");
      for (std::uint64_t row = 0; row < rows.rows; ++row) {
        const std::string first = word_at(rows, info->columns[0].id, row);
        key of_row{std::string(info->name), owned ? first : "",
                   owned ? word_at(rows, info->columns[1].id, row) : first};
        const place here{of.origins[i].lines[row], of.origins[i].source};
        const auto [at, fresh] = places_.try_emplace(std::move(of_row), here, here);
        if (!fresh) at->second.second = here;
      }
    }
  }
  /// Of several rows about one object the first; the last where the fault is that there are several.
  [[nodiscard]] place find(std::string_view kind, std::string_view owner, std::string_view name, bool last) const {
    const auto found = places_.find({std::string(kind), std::string(owner), std::string(name)});
    if (found == places_.end()) return {};
    return last ? found->second.second : found->second.first;
  }

 private:
  using key = std::tuple<std::string, std::string, std::string>;
  std::map<key, std::pair<place, place>> places_;
};

/// What was left out of the cluster: its own faults are errors, what depends on them is worth knowing.
void add_left_out(checked_file& to, const io::cluster_input& from, const snapshot& of) {
  const result<table> entries = of.to_table(table_kind::quarantine);
  if (!entries || entries->rows() == 0) return;
  const table_view rows = entries->view();
  const line_index lines(from);
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    const std::string_view owner = text_at(rows, col::quarantine_owner, row);
    const std::string_view name = text_at(rows, col::quarantine_name, row);
    const std::string_view kind = text_at(rows, col::quarantine_kind, row);
    const bool depends = !text_at(rows, col::quarantine_because_of, row).empty();
    finding one;
    one.how = depends ? severity::note : severity::error;
    one.rule = depends ? "left-out" : "input";
    one.kind = kind;
    one.name = owner.empty() ? std::string(name) : fmt::format("{}/{}", owner, name);
    one.text = text_at(rows, col::quarantine_text, row);
    one.field = text_at(rows, col::quarantine_column, row);
    const bool twice = text_at(rows, col::quarantine_status, row) == status_name(status::duplicate);
    const line_index::place where = lines.find(kind, owner, name, twice);
    one.line = where.line;
    if (where.file != to.name) one.file = where.file;
    to.found.push_back(std::move(one));
  }
  std::stable_sort(to.found.begin(), to.found.end(), [](const finding& a, const finding& b) { return a.how < b.how; });
}

/// Steps of `check_tables` and of what is before it in a progress bar.
constexpr std::size_t check_steps = 3;

checked_file check_tables(std::string name, const result<io::cluster_input>& tables, const check_arguments& told,
                          const engine& with, progress& shown) {
  checked_file one;
  one.name = std::move(name);
  if (!tables) {
    one.there = tables.failure().code != status::not_found;
    add_error(one, told.input, tables.failure());
    shown.skip(check_steps - 1);
    return one;
  }
  shown.next(one.name + ": building the cluster");
  const bool is_said = !told.input.on_invalid.empty() || !tables->on_invalid.empty();
  result<cluster> built = io::build_cluster(*tables, is_said ? told.input.on_invalid : "quarantine");
  if (!built) {
    add_error(one, told.input, built.failure());
    shown.skip(check_steps - 2);
    return one;
  }
  shown.next(one.name + ": applying rules");
  const snapshot state = built->take_snapshot();
  one.is_built = true;
  one.holds = contents_of(state);
  for (const error& fault : tables->faults) add_error(one, told.input, fault);
  add_left_out(one, *tables, state);
  if (one.found.empty()) {  // rules would complain about holes
    one.digest = state.digest();
    one.found = lint(with, state, tables->now);
  }
  return one;
}

style style_of(severity how) {
  return how == severity::error ? style::red : how == severity::warning ? style::yellow : style::cyan;
}

/// `pod group train`, as people say it.
std::string entity_text(const finding& one) {
  if (one.kind.empty()) return {};
  const std::string field = one.field.empty() || one.field == "name" ? "" : "." + one.field;
  return fmt::format("{} {}{}: ", one.kind == "pod_group" ? "pod group" : one.kind, one.name, field);
}

/// A line of a list that names its file first, so that it can be searched for; what follows is indented.
void print_hanging(const terminal& out, const std::string& lead, std::string_view text) {
  constexpr std::size_t indent = 4;
  std::string front = lead;
  for (const std::string& line : wrap(text, out.width() - indent, columns_of(lead) - std::min(indent, lead.size()))) {
    out.line(front + line);
    front.assign(indent, ' ');
  }
}

void print_finding(const terminal& out, const std::string& file, const finding& one) {
  std::string place = one.file.empty() ? file : one.file;
  if (one.line != 0) place += fmt::format(":{}", one.line);
  if (one.column != 0) place += fmt::format(":{}", one.column);
  const std::string lead = fmt::format("{}: {}: ", place, out.paint(style_of(one.how), severity_name(one.how)));
  print_hanging(
      out, lead,
      fmt::format("{}{} {}", entity_text(one), one.text, out.paint(style::dim, fmt::format("[{}]", one.rule))));
}

void print_file(const terminal& out, const checked_file& one, bool all) {
  constexpr std::int64_t most_alike = 3;
  std::map<std::string_view, std::int64_t> counts;
  for (const finding& what : one.found) ++counts[what.rule];
  std::map<std::string_view, std::int64_t> shown;
  for (const finding& what : one.found) {
    if (all || what.how == severity::error || counts[what.rule] <= most_alike + 1 || ++shown[what.rule] <= most_alike) {
      print_finding(out, one.name, what);
    } else if (shown[what.rule] == counts[what.rule]) {
      print_finding(out, one.name,
                    {what.how, what.rule, "", "",
                     fmt::format("and {} more alike, see --all", grouped(counts[what.rule] - most_alike))});
    }
  }
  const std::int64_t errors = one.count(severity::error);
  const std::int64_t warnings = one.count(severity::warning);
  const std::string verdict =
      errors > 0 ? out.paint(style::red, counted(errors, "error")) : out.paint(style::green, "ok");
  const std::string warned = warnings > 0 ? ", " + out.paint(style::yellow, counted(warnings, "warning")) : "";
  const std::string holds = one.is_built ? ": " + sentence_of(one.holds) : "";
  print_hanging(out, one.name + ": ", fmt::format("{}{}{}", verdict, warned, holds));
}

json json_of(const checked_file& one) {
  json findings = json::array();
  for (const finding& what : one.found) {
    json object{{"severity", severity_name(what.how)}, {"rule", what.rule}};
    if (!what.kind.empty()) object["kind"] = what.kind;
    if (!what.kind.empty()) object["name"] = what.name;
    if (!what.field.empty()) object["field"] = what.field;
    if (!what.file.empty()) object["file"] = what.file;
    if (what.line != 0) object["line"] = what.line;
    if (what.column != 0) object["column"] = what.column;
    object["text"] = what.text;
    findings.push_back(std::move(object));
  }
  json object{{"file", one.name},
              {"ok", one.count(severity::error) == 0},
              {"errors", one.count(severity::error)},
              {"warnings", one.count(severity::warning)}};
  if (one.is_built) object["contents"] = json_of(one.holds);
  if (!one.digest.empty()) object["digest"] = one.digest;
  object["findings"] = std::move(findings);
  return object;
}

int list_rules(const console& to) {
  json rules = json::array();
  const terminal& out = to.out();
  for (const lint_rule& rule : lint_rules()) {
    rules.push_back({{"rule", rule.name}, {"severity", severity_name(rule.how)}, {"doc", rule.doc}});
    if (!to.shows_report()) continue;
    out.line(fmt::format("  {}  {}", out.paint(style::bold, rule.name),
                         out.paint(style_of(rule.how), severity_name(rule.how))));
    for (const std::string& line : wrap(rule.doc, std::min(out.width(), line_width) - 4)) out.line("    " + line);
  }
  return to.finish({{"schema", check_schema}, {"rules", std::move(rules)}});
}

result<std::vector<checked_file>> check_all(const check_arguments& told, const engine& with, progress& shown) {
  std::vector<checked_file> all;
  const bool named = !told.input.cluster.empty() || !told.input.openb_nodes.empty() || !told.input.openb_pods.empty();
  if (named) {
    if (auto sound = check_input(told.input); !sound) return sound.failure();
    shown.next(input_name(told.input) + ": reading");
    all.push_back(check_tables(input_name(told.input), read_tables(told.input), told, with, shown));
  }
  for (const std::string& file : told.files) {
    shown.next(file + ": reading");
    all.push_back(
        check_tables(file == "-" ? "standard input" : file, read_tables(told.input, file), told, with, shown));
  }
  if (all.empty()) return error{status::argument, "no file is named", {}};
  return all;
}

int check(const check_arguments& told, const console& to) {
  if (told.list) return list_rules(to);
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, check_steps * std::max<std::size_t>(told.files.size(), 1));
  const result<std::vector<checked_file>> all = check_all(told, *with, shown);
  if (!all) return to.fail(all.failure(), exit_usage);
  shown.finish();
  exit_status status = exit_ok;
  json files = json::array();
  for (const checked_file& one : *all) {
    if (one.count(severity::error) > 0 || (told.fail_on_warning && one.count(severity::warning) > 0)) {
      status = std::max(status, exit_problems);
    }
    if (!one.there) status = exit_usage;
    if (to.shows_report()) print_file(to.out(), one, told.all);
    for (const finding& what : one.found) {
      if (to.quiet() && what.how == severity::error)
        print_error(fmt::format("{}: {}{}", one.name, entity_text(what), what.text));
    }
    files.push_back(json_of(one));
  }
  return to.finish({{"schema", check_schema}, {"files", std::move(files)}}, status);
}

}  // namespace

void add_check(command_list& to) {
  command& c = to.add("check", group::decide, "Validate cluster files without deciding, and warn of what looks wrong");
  auto& told = c.keep<check_arguments>();
  c.explain(
      "Reads and builds every cluster, lists every object that is wrong, and applies rules about what is legal and yet "
      "most likely not meant. The exit status is 1 if a file has an error; warnings and notes do not count unless "
      "--fail-on-warning is given.");
  c.heading("Input");
  c.position("FILE", &told.files, cluster_file(), "Clusters; - is the standard input");
  add_input_options(c, told.input, "quarantine");
  add_policy_arguments(c, told.policy);
  c.heading("Output");
  c.flag("--fail-on-warning", told.fail_on_warning, "Warnings give exit status 1 as well");
  c.flag("--all", told.all, "Every finding, not only the first few of a kind");
  c.flag("--list", told.list, "List the rules and do nothing else");
  c.add_example("kaisched check cluster.json");
  c.add_example("kaisched check clusters/*.yaml --json");
  c.add_example("kaisched check --list");
  c.runs([&told](console& out) { return check(told, out); });
}

}  // namespace kaisched::cli
