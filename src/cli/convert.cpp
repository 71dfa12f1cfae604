// The command that writes a cluster in another form.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/figures.hpp"
#include "cli/input.hpp"
#include "cli/progress.hpp"
#include "files/cluster_file.hpp"
#include "io/files.hpp"
#include "simulation/traces/lingjun.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view convert_schema = "kaisched-convert/1";

struct convert_arguments {
  input_arguments input;
  std::vector<std::string> words;  ///< IN and OUT, or OUT alone
  std::string form;
  std::string from;  ///< what IN is where it is no cluster; empty: it is one
  std::int64_t gpus_per_node = 8;
};

/// The ending that stands for a form where no name says it: "yaml".
std::string_view word_of(const io::cluster_form& form) { return form.endings.front().substr(1); }

std::vector<std::string> words_of_forms() {
  std::vector<std::string> words;
  for (const io::cluster_form& form : io::cluster_forms()) {
    if (form.format != nullptr) words.emplace_back(word_of(form));
  }
  return words;
}

/// Sorts IN and OUT; what is left is OUT.
result<std::string> sort_words(convert_arguments& told) {
  const bool named = !told.input.cluster.empty() || !told.input.openb_nodes.empty() || !told.input.openb_pods.empty();
  if (!named && !told.words.empty()) {
    told.input.file = told.words.front();
    told.words.erase(told.words.begin());
  }
  if (auto sound = check_input(told.input); !sound) return sound.failure();
  if (!told.from.empty() && !told.input.openb_nodes.empty()) {
    return error{status::argument, "--from says what one file is, and an openb trace has two", {}};
  }
  if (told.words.size() != 1) {
    return error{status::argument,
                 told.words.empty() ? "OUT is missing: where to write, - is the standard output"
                                    : fmt::format("nothing is expected where \"{}\" stands", told.words[1]),
                 {}};
  }
  return told.words.front();
}

const io::cluster_form* form_of(const convert_arguments& told, std::string_view out) {
  if (told.form.empty()) return io::cluster_form_of(out);
  const auto forms = io::cluster_forms();
  return &*std::find_if(forms.begin(), forms.end(),
                        [&](const auto& one) { return one.format != nullptr && word_of(one) == told.form; });
}

/// IN, which may be a list of hosts.
result<loaded_cluster> load(const convert_arguments& told, progress& shown) {
  if (told.from.empty()) return load_cluster(told.input, shown);
  const std::string name = input_name(told.input);
  shown.next("reading " + name);
  const result<std::string> text = io::read_file(told.input.cluster.empty() ? told.input.file : told.input.cluster);
  if (!text) return text.failure();
  simulation::lingjun_options options;
  options.gpus = told.gpus_per_node;
  const result<io::cluster_input> tables = simulation::read_lingjun_hosts({name, *text}, options);
  if (!tables) return tables.failure();
  shown.next("building the cluster");
  result<cluster> built = io::build_cluster(*tables, told.input.on_invalid);
  if (!built) return built.take_failure();
  loaded_cluster loaded{built->take_snapshot(), tables->now, 0, 0};
  loaded.left_out = count_left_out(loaded.state);
  return loaded;
}

int convert(convert_arguments told, console& to) {
  const result<std::string> out = sort_words(told);
  if (!out) return to.fail(out.failure(), exit_usage);
  const io::cluster_form* form = form_of(told, *out);
  if (form == nullptr) {
    return to.fail(
        {status::argument,
         fmt::format("{}: the name does not say the form; add --to {}", *out, fmt::join(words_of_forms(), "|")),
         {}},
        exit_usage);
  }
  if (auto free = to.claim("the cluster", *out); !free) return to.fail(free.failure(), exit_usage);
  progress shown(to, load_steps + 1);
  const result<loaded_cluster> loaded = load(told, shown);
  if (!loaded) return to.fail(loaded.failure());
  shown.next("writing " + *out);
  const result<std::string> text = form->format(loaded->state, loaded->now);
  if (!text) return to.fail(text.failure());
  if (auto written = to.write(*out, *text); !written) return to.fail(written.failure(), exit_failure);
  shown.finish();
  const contents made = contents_of(loaded->state);
  if (to.shows_report()) {
    to.out().line(fmt::format("{}: {}", *out, sentence_of(made)));
    if (loaded->left_out > 0) to.out().line("  " + to.out().paint(style::red, left_out_sentence(loaded->left_out)));
  }
  if (!to.wants_json()) return exit_ok;
  return to.finish({{"schema", convert_schema},
                    {"from", input_name(told.input)},
                    {"file", *out},
                    {"form", word_of(*form)},
                    {"contents", json_of(made)},
                    {"left_out", loaded->left_out},
                    {"digest", loaded->state.digest()}});
}

}  // namespace

void add_convert(command_list& to) {
  command& c = to.add("convert", group::files, "Write a cluster in another form");
  auto& told = c.keep<convert_arguments>();
  c.explain(
      "Endings of names say the forms; a file without a known ending is read as what it looks like. The digest of the "
      "cluster stays the same.");
  c.heading("Input and output");
  c.position("IN OUT", &told.words, cluster_file(),
             "The cluster, and where it goes; - is the standard input and output")
      .required();
  c.option("--to", &told.form, one_of("FORM", words_of_forms()), "Form of OUT where its name does not say it");
  c.option("--from", &told.from, one_of("FORM", {"lingjun"}),
           "What IN is where it is no cluster; lingjun: hosts and their switches. One of");
  c.option("--gpus-per-node", &told.gpus_per_node, any_value("N"), "GPUs of each host of lingjun").between(0, 64);
  add_input_options(c, told.input);
  c.add_example("kaisched convert cluster.json cluster.yaml");
  c.add_example("kaisched convert cluster.yaml - --to json");
  c.add_example("kaisched convert --openb-nodes nodes.csv --openb-pods pods.csv trace.json");
  c.runs([&told](console& out) { return convert(told, out); });
}

}  // namespace kaisched::cli
