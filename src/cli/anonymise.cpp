// The command that takes the names out of a cluster.
#include "io/anonymise.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/figures.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "files/cluster_file.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view anonymise_schema = "kaisched-anonymise/1";

struct anonymise_arguments {
  input_arguments input;
  std::string out = "-";
  std::string names_file;
};

int take_names_out(const anonymise_arguments& told, console& to) {
  if (auto sound = check_input(told.input); !sound) return to.fail(sound.failure(), exit_usage);
  if (auto free = to.claim("the cluster", told.out); !free) return to.fail(free.failure(), exit_usage);
  if (!told.names_file.empty()) {
    if (auto free = to.claim("the names", told.names_file); !free) return to.fail(free.failure(), exit_usage);
  }
  progress shown(to, load_steps + 1);
  const result<loaded_cluster> loaded = load_cluster(told.input, shown);
  if (!loaded) return to.fail(loaded.failure());
  shown.next("taking names out");
  const result<io::anonymous_cluster> made = io::anonymise(loaded->state);
  if (!made) return to.fail(made.failure());
  const result<std::string> text = io::format_cluster(told.out, made->state, loaded->now);
  if (!text) return to.fail(text.failure());
  if (auto written = to.write(told.out, *text); !written) return to.fail(written.failure(), exit_failure);
  if (!told.names_file.empty()) {
    const std::string names = nlohmann::ordered_json(made->names).dump(1) + "\n";
    if (auto written = to.write(told.names_file, names); !written) return to.fail(written.failure(), exit_failure);
  }
  shown.finish();
  const contents there = contents_of(made->state);
  if (to.shows_report()) {
    to.out().line(fmt::format("{}: {}, {} names replaced", told.out, sentence_of(there), made->names.size()));
    if (loaded->left_out > 0) to.out().line("  " + to.out().paint(style::red, left_out_sentence(loaded->left_out)));
  }
  if (!to.wants_json()) return exit_ok;
  return to.finish({{"schema", anonymise_schema},
                    {"from", input_name(told.input)},
                    {"file", told.out},
                    {"contents", json_of(there)},
                    {"names", made->names.size()},
                    {"left_out", loaded->left_out},
                    {"digest", made->state.digest()}});
}

}  // namespace

void add_anonymise(command_list& to) {
  command& c = to.add("anonymise", group::files, "Take the names out of a cluster, for reports of faults");
  auto& told = c.keep<anonymise_arguments>();
  c.explain(
      "Names of nodes, queues, jobs, pods, users and devices, label keys of your own and label values become n1, n2 "
      "and so on, in the same order: what is decided stays the same. Amounts, times, names of resources and what "
      "devices say of themselves stay. Look at the result before you pass it on.");
  add_input_arguments(c, told.input);
  c.heading("Output");
  c.option("-o,--out", &told.out, file_name({"json", "yaml", "ks"}), "Where to; - is the standard output");
  c.option("--names", &told.names_file, file_name({"json"}), "Writes what stands for what, for yourself");
  c.add_example("kaisched anonymise cluster.json -o report.json --names names.json");
  c.runs([&told](console& out) { return take_names_out(told, out); });
}

}  // namespace kaisched::cli
