// The command that identifies clusters and decisions.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "files/cluster_file.hpp"
#include "io/decisions_text.hpp"
#include "io/files.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view digest_schema = "kaisched-digest/1";

struct digest_arguments {
  input_arguments input;
  std::vector<std::string> files;
  std::string expected;
};

/// What was found for one file.
struct identified {
  std::string file;
  std::string kind;  ///< cluster or decisions
  std::string digest;
  std::string written;  ///< decisions: the digest that stands in the file
  std::string problem;  ///< empty: all is well
};

/// Decisions in JSON name their format at the beginning: `{"schema": "kaisched-decisions/1"`.
bool is_decisions(std::string_view text) {
  for (std::string_view expected : {"{", "\"schema\"", ":"}) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    if (!text.starts_with(expected)) return false;
    text.remove_prefix(expected.size());
  }
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text.starts_with('"') && text.substr(1).starts_with(io::decisions_schema);
}

result<identified> identify_decisions(const std::string& file, std::string_view text) {
  const result<io::decisions_input> read = io::parse_decisions_json(text, file);
  if (!read) return read.failure();
  identified one{
      file, "decisions", io::decisions_digest(read->decisions.view(), read->preset, read->mode), read->digest, {}};
  if (one.written.empty()) {
    one.problem = "no digest stands in the file";
  } else if (one.written != one.digest) {
    one.problem = fmt::format("the decisions are not those of the digest in the file, {}", one.written);
  }
  return one;
}

result<identified> identify_tables(std::string name, const result<io::cluster_input>& tables,
                                   std::string_view on_invalid) {
  if (!tables) return tables.failure();
  result<cluster> built = io::build_cluster(*tables, on_invalid);
  if (!built) return built.take_failure();
  return identified{std::move(name), "cluster", built->take_snapshot().digest(), {}, {}};
}

result<identified> identify(const std::string& file, const input_arguments& input) {
  const result<std::string> text = io::read_file(file);
  if (!text) return text.failure();
  const std::string name = file == "-" ? "standard input" : file;
  if (is_decisions(*text)) return identify_decisions(name, *text);
  const result<io::kubernetes::settings> chosen = object_settings(input);
  if (!chosen) return chosen.failure();
  return identify_tables(name, io::parse_cluster(*text, name, *chosen), input.on_invalid);
}

json json_of(const identified& one) {
  json object{{"file", one.file}, {"kind", one.kind}, {"digest", one.digest}, {"ok", one.problem.empty()}};
  if (one.kind == "decisions") object["written"] = one.written;
  if (!one.problem.empty()) object["problem"] = one.problem;
  return object;
}

result<std::vector<identified>> identify_all(const digest_arguments& told, progress& shown) {
  std::vector<identified> all;
  const bool openb = !told.input.openb_nodes.empty() || !told.input.openb_pods.empty();
  if (openb || !told.input.cluster.empty()) {
    shown.next(input_name(told.input));
    result<identified> one = identify_tables(input_name(told.input), read_tables(told.input), told.input.on_invalid);
    if (!one) return one.take_failure();
    all.push_back(std::move(*one));
  }
  for (const std::string& file : told.files) {
    shown.next(file);
    result<identified> one = identify(file, told.input);
    if (!one) return one.take_failure();
    all.push_back(std::move(*one));
  }
  if (all.empty()) return error{status::argument, "no file is named", {}};
  return all;
}

int digest(const digest_arguments& told, const console& to) {
  progress shown(to, std::max<std::size_t>(told.files.size(), 1));
  result<std::vector<identified>> all = identify_all(told, shown);
  if (!all) return to.fail(all.failure());
  shown.finish();
  bool good = true;
  json files = json::array();
  for (identified& one : *all) {
    if (!told.expected.empty() && one.digest != told.expected && one.problem.empty()) {
      one.problem = fmt::format("expected {}", told.expected);
    }
    if (to.shows_report()) to.out().line(fmt::format("{}  {}", one.digest, one.file));
    if (!one.problem.empty()) {
      good = false;
      print_error(fmt::format("{}: {}", one.file, one.problem));
    }
    files.push_back(json_of(one));
  }
  return to.finish({{"schema", digest_schema}, {"files", std::move(files)}}, good ? exit_ok : exit_problems);
}

}  // namespace

void add_digest(command_list& to) {
  command& c = to.add("digest", group::files, "Fingerprints of clusters; those of decisions are verified");
  auto& told = c.keep<digest_arguments>();
  c.explain(
      "Clusters of the same digest lead to the same decisions, whatever the form of the file, the order of rows or the "
      "machine. For a file of decisions (JSON) the digest is computed anew and compared with the one that stands in "
      "it: "
      "the exit status is 1 if they differ.");
  c.heading("Input");
  c.position("FILE", &told.files, cluster_file(), "Clusters or decisions; - is the standard input");
  add_input_options(c, told.input);
  c.heading("Comparison");
  c.option("--expect", &told.expected, any_value("DIGEST"), "Fail with status 1 if a digest is another one");
  c.add_example("kaisched digest cluster.json cluster.yaml");
  c.add_example("kaisched digest decisions.json", "were they changed?");
  c.runs([&told](console& out) { return digest(told, out); });
}

}  // namespace kaisched::cli
