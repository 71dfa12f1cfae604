// The command that turns configurations of other schedulers into options.
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "files/import_text.hpp"
#include "io/files.hpp"
#include "io/importers/importers.hpp"
#include "io/yaml_string.hpp"

namespace kaisched::cli {

namespace {

struct import_arguments {
  std::string file;
  std::string cluster;
  std::string queue_rules;
};

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
  const result<io::importers::imported_policy> made =
      io::importers::import_text(*text, told.file, io::importers::scheduler_kind::detect);
  if (!made) return to.fail(made.failure());
  if (!told.cluster.empty()) {
    if (made->rows.empty())
      return to.fail(
          error{status::argument, fmt::format("{}: says nothing of nodes, queues or topologies", made->source), {}});
    if (auto written = to.write(told.cluster, io::importers::scenario_text(*made)); !written)
      return to.fail(written.failure(), exit_failure);
  }
  if (!told.queue_rules.empty()) {
    if (made->queue_rules.empty())
      return to.fail(
          error{status::argument, fmt::format("{}: says nothing of which queue a job belongs to", made->source), {}});
    if (auto written = to.write(told.queue_rules, made->queue_rules); !written)
      return to.fail(written.failure(), exit_failure);
  }
  if (to.shows_report()) {
    to.out().line(fmt::format("# {}, {}", made->source, made->of));
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
  return to.finish(json::parse(io::importers::format_json(*made)));
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
