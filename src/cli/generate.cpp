// The command that writes an invented cluster.
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/figures.hpp"
#include "cli/invented.hpp"
#include "cli/progress.hpp"
#include "files/cluster_file.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view generate_schema = "kaisched-generate/1";

struct generate_arguments {
  invented_arguments cluster;
  std::string file;
  std::string out;
};

result<std::string> target(const generate_arguments& told) {
  if (told.file.empty() == told.out.empty()) {
    return error{status::argument, "name one FILE to write, by position or with --out; - is the standard output", {}};
  }
  return told.file.empty() ? told.out : told.file;
}

int generate(const generate_arguments& told, console& to) {
  const result<std::string> path = target(told);
  if (!path) return to.fail(path.failure(), exit_usage);
  if (auto free = to.claim("the cluster", *path); !free) return to.fail(free.failure(), exit_usage);
  progress shown(to, invent_steps + 1);
  const result<loaded_cluster> loaded = invent_cluster(told.cluster, shown);
  if (!loaded) return to.fail(loaded.failure());
  shown.next("writing " + *path);
  const result<std::string> text = io::format_cluster(*path, loaded->state, loaded->now);
  if (!text) return to.fail(text.failure(), exit_failure);
  if (auto written = to.write(*path, *text); !written) return to.fail(written.failure(), exit_failure);
  shown.finish();
  const contents made = contents_of(loaded->state);
  if (to.shows_report()) to.out().line(fmt::format("{}: {}", *path, sentence_of(made)));
  if (!to.wants_json()) return exit_ok;
  nlohmann::ordered_json said{{"schema", generate_schema},       {"file", *path},
                              {"gpus", told.cluster.gpus},       {"load", told.cluster.load},
                              {"seed", told.cluster.seed},       {"contents", json_of(made)},
                              {"digest", loaded->state.digest()}};
  if (told.cluster.mix) said["mix"] = true;
  return to.finish(said);
}

}  // namespace

void add_generate(command_list& to) {
  command& c = to.add("generate", group::files, "Write an invented cluster of any size");
  auto& told = c.keep<generate_arguments>();
  c.explain(
      "Nodes of two generations in racks, blocks and zones, three levels of queues, running and waiting jobs of many "
      "kinds, and six jobs that can never start, each for another reason. Equal arguments give equal bytes.");
  c.heading("Output");
  c.position("FILE", &told.file, cluster_file(), "Where to; the ending says the form, - is the standard output");
  c.option("--out", &told.out, cluster_file(), "The same as FILE by position");
  add_invented_arguments(c, told.cluster);
  c.add_example("kaisched generate cluster.json --gpus 512 --load 1.3");
  c.add_example("kaisched generate cluster.json --gpus 512 --load 1.3 --mix");
  c.add_example("kaisched generate - --gpus 64 --seed 7", "to the standard output");
  c.runs([&told](console& out) { return generate(told, out); });
}

}  // namespace kaisched::cli
