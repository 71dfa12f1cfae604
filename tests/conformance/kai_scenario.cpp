#include "conformance/kai_scenario.hpp"

#include <map>
#include <set>
#include <stdexcept>
#include <variant>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/schema.hpp>

#include "conformance/json_values.hpp"
#include "conformance/kai_cluster.hpp"
#include "conformance/unsupported.hpp"
#include "io/scenario/cells.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/text.hpp"
#include "io/scenario/write.hpp"

namespace kaisched::conformance {

namespace {

using io::scenario_text::quoted_if_needed;
using io::scenario_text::row_as_text;
using io::scenario_text::row_text;
using io::scenario_text::text_place;
using nlohmann::json;

std::string word(const std::string& text) { return quoted_if_needed(text, text_place::word); }
std::string element(const std::string& text) { return quoted_if_needed(text, text_place::value); }

/// The moment at which a round starts.
std::vector<table> tables_of(const json& session_case, const json& round) {
  const bool integration = session_case.at("kind") == "integration";
  const json& claims = member(round, "claims");
  return kai_tables(session_case, kai_round_starts(round), integration, claims.is_null() ? nullptr : &claims);
}

cluster built(const std::vector<table>& tables) {
  std::vector<table_view> views;
  for (const table& one : tables) views.push_back(one.view());
  cluster made;
  if (auto done = made.apply(views); !done) throw std::runtime_error("the case: " + done.failure().message);
  return made;
}

/// Rows of a moment by kind and name.
using rows_by_key = std::map<std::string, row_text>;

std::string key_of(const row_text& row) {
  std::string key = std::string(row.kind->name) + "\n" + row.name;
  for (const auto& [column, value] : row.fields) {
    const bool local = row.kind->kind == table_kind::sub_group || row.kind->kind == table_kind::numa_zone;
    if (local && (column == "group" || column == "node")) key += "\n" + value;
  }
  return key;
}

/// As the cluster has them: devices that the model chose are named, so that the way to a state does not matter.
std::vector<row_text> rows_of(const std::vector<table>& tables, const std::vector<std::string>& dimensions) {
  const snapshot moment = built(tables).take_snapshot();
  std::vector<row_text> rows;
  for (const table_info& kind : schema()) {
    if (!kind.input) continue;
    const result<table> of_kind = moment.to_table(kind.kind);
    if (!of_kind) throw std::runtime_error(of_kind.failure().message);
    const table_view view = of_kind->view();
    for (std::uint64_t row = 0; row < view.rows; ++row) rows.push_back(row_as_text(view, row, dimensions));
  }
  return rows;
}

/// Value of a field; what is absent has the default of its column.
std::string value_of(const row_text& row, const std::string& field, const std::vector<std::string>& dimensions) {
  for (const auto& [key, value] : row.fields) {
    if (key == field) return value;
  }
  for (const column_info& column : row.kind->columns) {
    if (column.name != field) continue;
    return io::scenario_text::format_cell(column, io::scenario_text::default_cell(column, dimensions.size()),
                                          {dimensions, 0, {}});
  }
  throw std::runtime_error("a field that is no column: " + field);
}

/// What must change for one row to become another.
std::string change_line(const row_text& from, const row_text& to, const std::vector<std::string>& dimensions) {
  std::set<std::string> fields;
  for (const row_text* row : {&from, &to}) {
    for (const auto& [key, value] : row->fields) fields.insert(key);
  }
  std::string out;
  for (const std::string& field : fields) {
    const auto given = [&](const row_text& row) {
      for (const auto& [key, value] : row.fields) {
        if (key == field) return value;
      }
      return std::string();
    };
    if (given(from) == given(to)) continue;
    out += " " + field + "=" + value_of(to, field, dimensions);
  }
  if (out.empty()) return out;
  return "change " + std::string(to.kind->name) + " " + word(to.name) + out + "\n";
}

/// Options as the case has them, known to the engine or not.
std::string option_lines(const json& session_case) {
  const json& resolved = session_case.at("resolved");
  const json& params = member(resolved, "params");
  std::string out = "option preset=kai-0.17-r2 mode=compat\n";
  std::string parts;
  for (const json& plugin : items(resolved, "plugins")) {
    const std::string name = name_of(plugin);
    const bool opened = name != "predicates" || opens_predicates(session_case);
    if (opened) parts += (parts.empty() ? "" : ",") + name;
  }
  out += "option parts=" + element(parts) + "\n";
  for (const json& plugin : items(resolved, "plugins")) {
    for (const auto& [key, value] : items(plugin, "arguments").items()) {
      out += "option " + name_of(plugin) + "." + key + "=" +
             element(value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
    }
  }
  for (const auto& [key, value] : params.items()) {
    if (value.is_null() || value.is_object()) continue;
    out += "option kai." + key + "=" + element(value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
  }
  return out;
}

/// Options that the engine has, for sessions that it decides.
std::string known_option_lines(const json& session_case) {
  const engine made;
  std::string out;
  for (const auto& [name, value] : kai_options(session_case, made.part_names())) {
    out += "option " + name + "=" + element(value) + "\n";
  }
  return out;
}

std::string actions_of(const json& round) {
  std::string names;
  for (const json& action : items(round, "actions")) names += (names.empty() ? "" : ",") + action.get<std::string>();
  return names;
}

std::string expected_places(const json& session_case, const json& round) {
  std::string out;
  std::set<std::string> known;
  const std::vector<table> tables = tables_of(session_case, round);
  const table_view pods = tables.back().view();
  for (std::uint64_t row = 0; row < pods.rows; ++row) known.emplace(pods.find(col::pod_name)->string(row));
  for (const json& task : items(member(round, "result"), "tasks")) {
    if (!known.contains(name_of(task))) continue;  // no pod of its job
    const std::string status = task.at("status").get<std::string>();
    const std::string node = kai_uses_node(status) ? text_or_empty(task, "node") : std::string();
    out += "expect pod " + word(name_of(task)) + " status=" + std::string(pod_status_name(kai_status(status))) +
           " node=" + element(node) + "\n";
  }
  return out;
}

bool is_decided(const json& session_case) {
  try {
    require_supported(session_case);
    const engine made;
    static_cast<void>(kai_options(session_case, made.part_names()));
    return true;
  } catch (const unsupported&) {
    return false;
  }
}

}  // namespace

std::string kai_scenario(const json& session_case) {
  const std::vector<std::string> dimensions = kai_dimensions(session_case);
  std::string out = "scenario 1 " + quoted_if_needed(name_of(session_case) + " ", text_place::word) + "\n";
  out += is_decided(session_case) ? known_option_lines(session_case) : option_lines(session_case);
  out += "now " + io::scenario_text::format_time(kai_now) + "\n";
  rows_by_key before;
  for (const json& round : items(session_case, "rounds")) {
    std::string leaving;
    std::string others;
    for (const row_text& row : rows_of(tables_of(session_case, round), dimensions)) {
      const auto found = before.find(key_of(row));
      const std::string line = found == before.end() ? row.line() + "\n" : change_line(found->second, row, dimensions);
      // Places are left before others take them.
      (line.find(" node=\"\"") == std::string::npos ? others : leaving) += line;
      before[key_of(row)] = row;
    }
    out += leaving + others;
    out += "run actions=" + element(actions_of(round)) + "\n" + expected_places(session_case, round);
  }
  if (items(session_case, "rounds").empty()) {
    for (const row_text& row : rows_of(kai_tables(session_case), dimensions)) out += row.line() + "\n";
  }
  return out;
}

std::vector<finding> judge_kai_scenario(const json& session_case) {
  const result<io::scenario> parsed = io::parse_scenario(kai_scenario(session_case), name_of(session_case));
  if (!parsed) return {{"scenario", parsed.failure().message}};
  std::vector<finding> findings;
  const json& rounds = items(session_case, "rounds");
  cluster present;
  std::size_t round = 0;
  const auto compare = [&](const std::vector<table>& wanted) {
    if (present.take_snapshot().digest() == built(wanted).take_snapshot().digest()) return;
    findings.push_back({"scenario", "round " + std::to_string(round) + ": the cluster is another one"});
  };
  for (const io::scenario_step& step : parsed->steps) {
    if (const auto* delta = std::get_if<io::scenario_delta>(&step.what)) {
      std::vector<table_view> views;
      for (const table& one : delta->tables) views.push_back(one.view());
      if (auto done = present.apply(views); !done) {
        findings.push_back({"scenario", "round " + std::to_string(round) + ": " + done.failure().message});
        return findings;
      }
    } else if (std::holds_alternative<io::scenario_run>(step.what)) {
      compare(tables_of(session_case, rounds[round]));
      ++round;
    }
  }
  if (rounds.empty()) compare(kai_tables(session_case));
  if (round != rounds.size()) findings.push_back({"scenario", "a round is missing"});
  // Recordings with claims start from what earlier tests have left in them, which scenarios do not say.
  if (!is_decided(session_case) || !items(session_case.at("resolved"), "claims").empty()) return findings;
  for (const io::scenario_finding& one : io::play_scenario(*parsed).findings) {
    findings.push_back({"played", "line " + std::to_string(one.line) + ": " + one.text});
  }
  return findings;
}

}  // namespace kaisched::conformance
