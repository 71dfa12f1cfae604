#include "cli/input.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/terminal.hpp"
#include "files/cluster_file.hpp"
#include "files/yaml_document.hpp"
#include "io/files.hpp"
#include "io/kubernetes/queue_rules.hpp"
#include "io/openb.hpp"

namespace kaisched::cli {

namespace {

result<io::cluster_input> read_openb(const input_arguments& told) {
  const result<std::string> nodes = io::read_file(told.openb_nodes);
  if (!nodes) return nodes.failure();
  const result<std::string> pods = io::read_file(told.openb_pods);
  if (!pods) return pods.failure();
  return io::parse_openb({told.openb_nodes, *nodes}, {told.openb_pods, *pods});
}

}  // namespace

value_form cluster_file() {
  std::vector<std::string> endings;
  for (const io::cluster_form& form : io::cluster_forms()) {
    for (const std::string_view ending : form.endings) {
      std::string word(ending.substr(1));
      if (std::find(endings.begin(), endings.end(), word) == endings.end()) endings.push_back(std::move(word));
    }
  }
  return file_name(std::move(endings));
}

void add_input_options(command& to, input_arguments& told, std::string_view on_invalid) {
  to.heading("Input");
  to.option("--cluster", &told.cluster, cluster_file(), "The same as FILE by position");
  to.option("--openb-nodes", &told.openb_nodes, file_name({"csv"}),
            "Nodes of an openb trace instead of a cluster file");
  to.option("--openb-pods", &told.openb_pods, file_name({"csv"}), "Pods of that trace, all pending at once");
  to.option("--queue-rules", &told.queue_rules, file_name({"yaml", "yml", "json"}),
            "Which queue a job of objects of Kubernetes belongs to, and which ones are made");
  to.option(
      "--on-invalid", &told.on_invalid, one_of("WHAT", {"reject", "quarantine"}),
      fmt::format("A bad row ends everything, or is left out with what depends on it. If not given: as a scenario "
                  "says, else {}. One of",
                  on_invalid));
}

void add_input_arguments(command& to, input_arguments& told) {
  to.heading("Input");
  to.position("FILE", &told.file, cluster_file(), "Cluster; - is the standard input");
  add_input_options(to, told);
}

result<void> check_input(const input_arguments& told) {
  const bool by_position = !told.file.empty();
  const bool by_option = !told.cluster.empty();
  const bool nodes = !told.openb_nodes.empty();
  const bool pods = !told.openb_pods.empty();
  const auto wrong = [](std::string text) { return error{status::argument, std::move(text), {}}; };
  if (nodes != pods) {
    return wrong(fmt::format("--openb-nodes and --openb-pods belong together, {} is missing",
                             nodes ? "--openb-pods" : "--openb-nodes"));
  }
  if (by_position && by_option) {
    return wrong(fmt::format("two clusters are named, {} and {}; one is decided at a time", told.file, told.cluster));
  }
  if (nodes && (by_position || by_option)) {
    return wrong(fmt::format("two inputs are named, {} and an openb trace; one is decided at a time",
                             by_option ? told.cluster : told.file));
  }
  if (nodes && !told.queue_rules.empty()) return wrong("--queue-rules is for objects of Kubernetes");
  if (!nodes && !by_position && !by_option) {
    return wrong("no cluster is named: give a FILE, or --openb-nodes and --openb-pods");
  }
  return {};
}

std::string input_name(const input_arguments& told) {
  if (!told.openb_nodes.empty()) return fmt::format("{} and {}", told.openb_nodes, told.openb_pods);
  const std::string& path = told.cluster.empty() ? told.file : told.cluster;
  return path == "-" ? "standard input" : path;
}

result<io::kubernetes::settings> object_settings(const input_arguments& told) {
  io::kubernetes::settings chosen;
  if (told.queue_rules.empty()) return chosen;
  const result<std::string> text = io::read_file(told.queue_rules);
  if (!text) return text.failure();
  const result<io::json_document> document = io::parse_yaml(*text, told.queue_rules);
  if (!document) return document.failure();
  result<std::shared_ptr<const io::kubernetes::queue_rules>> rules =
      io::kubernetes::read_queue_rules(*document, told.queue_rules);
  if (!rules) return rules.take_failure();
  chosen.rules = std::move(*rules);
  return chosen;
}

result<io::cluster_input> read_tables(const input_arguments& told) {
  if (auto sound = check_input(told); !sound) return sound.failure();
  if (!told.openb_nodes.empty()) return read_openb(told);
  return read_tables(told, told.cluster.empty() ? told.file : told.cluster);
}

result<io::cluster_input> read_tables(const input_arguments& told, const std::string& file) {
  const result<io::kubernetes::settings> chosen = object_settings(told);
  if (!chosen) return chosen.failure();
  return io::read_cluster(file, *chosen);
}

error about_input(const input_arguments& told, error why) {
  why.message.insert(0, input_name(told) + ": ");
  return why;
}

bool is_small_file(const std::string& path) {
  constexpr std::uintmax_t most_bytes = 32U << 20U;
  std::error_code fault;
  return std::filesystem::is_regular_file(path, fault) && std::filesystem::file_size(path, fault) <= most_bytes &&
         !fault;
}

result<std::string> cluster_text(const std::string& path, const snapshot& of, std::int64_t now) {
  return io::format_cluster(path, of, now);
}

result<loaded_cluster> load_cluster(const input_arguments& told, progress& shown) {
  const auto start = std::chrono::steady_clock::now();
  const std::string name = input_name(told);
  shown.next("reading " + name);
  const result<io::cluster_input> tables = read_tables(told);
  if (!tables) return tables.failure();
  shown.next("building the cluster");
  result<cluster> built = io::build_cluster(*tables, told.on_invalid);
  if (!built) return built.take_failure();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  loaded_cluster loaded{built->take_snapshot(), tables->now, seconds, 0};
  loaded.left_out = count_left_out(loaded.state) + static_cast<std::int64_t>(tables->faults.size());
  return loaded;
}

}  // namespace kaisched::cli
