#include "cli/input.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>

#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/files.hpp"
#include "io/openb.hpp"
#include "io/synthetic.hpp"

namespace kaisched::cli {

namespace {

result<io::cluster_input> read_openb(const run_arguments& arguments) {
  const result<std::string> nodes = io::read_file(arguments.openb_nodes);
  if (!nodes) return nodes.failure();
  const result<std::string> pods = io::read_file(arguments.openb_pods);
  if (!pods) return pods.failure();
  return io::parse_openb({arguments.openb_nodes, *nodes}, {arguments.openb_pods, *pods});
}

result<io::cluster_input> read_input(const run_arguments& arguments) {
  const bool has_cluster = !arguments.cluster_file.empty();
  const bool has_nodes = !arguments.openb_nodes.empty();
  const bool has_pods = !arguments.openb_pods.empty();
  if (has_nodes != has_pods || has_cluster == has_nodes) {
    return error{status::argument, "run needs --cluster FILE, or --openb-nodes FILE with --openb-pods FILE", {}};
  }
  if (has_nodes) return read_openb(arguments);
  const result<std::string> text = io::read_file(arguments.cluster_file);
  if (!text) return text.failure();
  return io::parse_cluster_json(*text, arguments.cluster_file);
}

result<loaded_cluster> build(result<io::cluster_input> input) {
  if (!input) return input.take_failure();
  result<cluster> built = io::build_cluster(*input);
  if (!built) return built.take_failure();
  return loaded_cluster{built->take_snapshot(), input->now, 0};
}

template <class F>
result<loaded_cluster> timed(F&& load) {
  const auto start = std::chrono::steady_clock::now();
  result<loaded_cluster> loaded = load();
  if (loaded) loaded->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return loaded;
}

}  // namespace

result<engine> make_engine(const policy_arguments& arguments) {
  engine made;
  const auto set = [&](std::string_view option, std::string_view value) {
    return value.empty() ? result<void>{} : made.set(option, value);
  };
  if (auto done = set("preset", arguments.preset); !done) return done.take_failure();
  if (auto done = set("mode", arguments.mode); !done) return done.take_failure();
  if (auto done = set("actions", arguments.actions); !done) return done.take_failure();
  for (const std::string_view option : {"placement.gpu", "placement.cpu"}) {
    if (auto done = set(option, arguments.placement); !done) return done.take_failure();
  }
  for (const std::string& setting : arguments.settings) {
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos) {
      return error{status::argument, fmt::format("--set {}: expected OPTION=VALUE", setting), {}};
    }
    const std::string_view text(setting);
    if (auto done = made.set(text.substr(0, equals), text.substr(equals + 1)); !done) return done.take_failure();
  }
  return made;
}

result<loaded_cluster> load_cluster(const run_arguments& arguments) {
  return timed([&] {
    return build(read_input(arguments));
  });
}

result<loaded_cluster> invent_cluster(const synthetic_arguments& arguments) {
  if (!(arguments.load >= 0.01 && arguments.load <= 10)) {  // also what is no number
    return error{status::argument, "--load: expected a number from 0.01 to 10", {}};
  }
  io::synthetic_options options;
  options.gpus = arguments.gpus;
  options.load_percent = std::llround(arguments.load * 100);
  options.seed = arguments.seed;
  return timed([&] { return build(io::make_synthetic_cluster(options)); });
}

}  // namespace kaisched::cli
