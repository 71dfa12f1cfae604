// The command that turns configurations of other schedulers into options.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/cluster.hpp>

#include "cli/console.hpp"
#include "cli/imports.hpp"
#include "cli/policy_arguments.hpp"
#include "files/yaml_document.hpp"
#include "io/files.hpp"
#include "io/yaml_string.hpp"

namespace kaisched::cli {

namespace {

using io::json_kind;
using io::json_value;

struct import_arguments {
  std::string file;
  std::string cluster;
  std::string queue_rules;
};

std::string text_of(json_value of, std::string_view key) {
  json_value kept = of;
  const json_value* const found = find_member(of, key, kept);
  return found == nullptr ? std::string{} : scalar_text(*found);
}

/// The text in a ConfigMap that is a configuration of Volcano or YuniKorn.
std::optional<std::string> text_in_config_map(json_value root) {
  json_value kept = root;
  if (text_of(root, "kind") != "ConfigMap") return std::nullopt;
  const json_value* const data = find_member(root, "data", kept);
  if (data == nullptr) return std::nullopt;
  for (const json_value one : *data) {
    const std::string text = scalar_text(one);
    for (const std::string_view sign : {"tiers:", "partitions:"}) {
      if (text.find(sign) != std::string::npos) return text;
    }
  }
  return std::nullopt;
}

/// Objects of all documents, those in lists included.
std::vector<json_value> objects_in(json_value documents) {
  std::vector<json_value> all;
  for (const json_value one : documents) {
    json_value kept = one;
    const json_value* const items = find_member(one, "items", kept);
    if (items == nullptr || !items->is(json_kind::array)) {
      if (one.is(json_kind::object)) all.push_back(one);
      continue;
    }
    for (const json_value item : *items) all.push_back(item);
  }
  return all;
}

bool is_of_kueue(json_value object) {
  return text_of(object, "apiVersion").find("kueue.x-k8s.io/") != std::string::npos;
}

result<imported_policy> import_document(json_value root, std::string_view source) {
  json_value kept = root;
  const std::string kind = text_of(root, "kind");
  if (kind == "SchedulingShard") return import_kai_shard(root);
  if (kind == "KubeSchedulerConfiguration") return import_kube_scheduler(root);
  if (find_member(root, "tiers", kept) != nullptr) return import_volcano(root);
  if (find_member(root, "partitions", kept) != nullptr) return import_yunikorn(root);
  return error{status::argument,
               fmt::format("{}: neither a SchedulingShard, nor a KubeSchedulerConfiguration, nor tiers of Volcano, nor "
                           "partitions of YuniKorn, nor objects of Kueue, nor a slurm.conf",
                           source),
               {}};
}

/// What the options mean has to be known here: sessions are opened with them.
result<void> check_options(const imported_policy& made) {
  policy_arguments policy;
  for (const auto& [option, value] : made.options) {
    if (option == "preset") {
      policy.preset = value;
    } else {
      policy.settings.push_back(fmt::format("{}={}", option, value));
    }
  }
  const result<engine> with = make_engine(policy);
  if (!with) return with.failure();
  const result<session> opened = with->open(cluster().take_snapshot(), 0);
  if (!opened) return opened.failure();
  return {};
}

/// What the text is, and from where it is: some are in a ConfigMap.
result<imported_policy> import_text(const std::string& text, std::string& source) {
  if (is_slurm_configuration(text)) return import_slurm(text);
  result<io::json_document> documents = io::parse_yaml_stream(text, source);
  if (!documents) return documents.failure();
  const std::vector<json_value> objects = objects_in(documents->root());
  if (std::ranges::any_of(objects, is_of_kueue)) return import_kueue(objects);
  result<io::json_document> document = io::parse_yaml(text, source);
  if (!document) return document.failure();
  if (std::optional<std::string> inner = text_in_config_map(document->root())) {
    source += " (data)";
    document = io::parse_yaml(*inner, source);
    if (!document) return document.failure();
  }
  return import_document(document->root(), source);
}

int import_file(const import_arguments& told, console& to) {
  if (!told.cluster.empty()) {
    if (auto claimed = to.claim("--cluster", told.cluster); !claimed) return to.fail(claimed.failure(), exit_usage);
  }
  if (!told.queue_rules.empty()) {
    if (auto claimed = to.claim("--queue-rules", told.queue_rules); !claimed)
      return to.fail(claimed.failure(), exit_usage);
  }
  result<std::string> text = io::read_file(told.file);
  if (!text) return to.fail(text.failure());
  std::string source = told.file;
  result<imported_policy> made = import_text(*text, source);
  if (!made) return to.fail(made.failure());
  if (auto good = check_options(*made); !good) {
    error why = good.failure();
    why.message.insert(0, source + ": ");
    return to.fail(why);
  }
  if (!told.cluster.empty()) {
    if (made->rows.empty())
      return to.fail(
          error{status::argument, fmt::format("{}: says nothing of nodes, queues or topologies", source), {}});
    const std::string rows = fmt::format("scenario 1\n{}\n", joined(made->rows, "\n"));
    if (auto written = to.write(told.cluster, rows); !written) return to.fail(written.failure(), exit_failure);
  }
  if (!told.queue_rules.empty()) {
    if (made->queue_rules.empty())
      return to.fail(
          error{status::argument, fmt::format("{}: says nothing of which queue a job belongs to", source), {}});
    if (auto written = to.write(told.queue_rules, made->queue_rules); !written)
      return to.fail(written.failure(), exit_failure);
  }
  if (to.shows_report()) {
    to.out().line(fmt::format("# {}, {}", source, made->of));
    for (const auto& [option, value] : made->options) {
      std::string line = option + ": ";
      io::append_yaml_string(line, value);
      to.out().line(line);
    }
    if (!made->rows.empty() && told.cluster.empty())
      to.out().line(fmt::format("# {} nodes, queues and topologies, which --cluster FILE writes as a scenario",
                                made->rows.size()));
    if (!made->queue_rules.empty() && told.queue_rules.empty())
      to.out().line("# Which queue a job belongs to, which --queue-rules FILE writes as queue rules");
    if (!made->unmapped.empty()) to.out().line("# Left out, by line:");
    for (const std::string& one : made->unmapped) to.out().line("#   " + one);
  }
  json report{{"schema", "kaisched-import/1"},
              {"from", made->of},
              {"options", json::object()},
              {"rows", made->rows},
              {"queue_rules", made->queue_rules.empty() ? json() : json::parse(made->queue_rules)},
              {"left_out", made->unmapped}};
  for (const auto& [option, value] : made->options) report["options"][option] = value;
  return to.finish(report);
}

}  // namespace

void add_import(command_list& to) {
  command& c = to.add("import", group::decide, "Turn the configuration of another scheduler into options");
  auto& told = c.keep<import_arguments>();
  c.explain(
      "Reads a SchedulingShard of KAI, a scheduler configuration of Volcano (also in its ConfigMap), a "
      "queues.yaml of YuniKorn (likewise), a KubeSchedulerConfiguration, objects of Kueue or a slurm.conf, and prints "
      "the preset and options that come nearest as YAML, as they stand under "
      "`engine` in the configuration of kaisched-kubernetes. What nothing here does is listed, with its line.");
  c.position("FILE", &told.file, file_name({"yaml", "yml", "json", "conf"}),
             "The configuration; - is the standard input")
      .required();
  c.option("--cluster", &told.cluster, file_name({"ks"}),
           "Write what it says of nodes, queues and topologies as a scenario; - is the standard output");
  c.option("--queue-rules", &told.queue_rules, file_name({"yaml", "json"}),
           "Write its placement rules as queue rules; - is the standard output");
  c.add_example("kaisched import volcano-scheduler.conf > engine.yaml");
  c.add_example("kaisched import queues.yaml --cluster queues.ks > engine.yaml", "options, and the tree of queues");
  c.runs([&told](console& out) { return import_file(told, out); });
}

}  // namespace kaisched::cli
