/// Tells the kubelet which cards a node has, in slices, and gives containers what they need to use theirs.
///   kaisched-device-plugin --cards FILE | --nvml [--slices N] [--resource NAME] [--by-grant --node NAME] ...
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "api_server/credentials.hpp"
#include "granted.hpp"
#include "host.hpp"
#include "node_keeper.hpp"
#include "observability/log_text.hpp"

namespace {

using device_plugin::container_extras;

/// HOST:CONTAINER, read-only unless `:rw` follows.
container_extras::mount mount_of(std::string text) {
  container_extras::mount made;
  if (text.ends_with(":rw") || text.ends_with(":ro")) {
    made.read_only = text.ends_with(":ro");
    text.resize(text.size() - 3);
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || !text.starts_with('/') || text.compare(colon, 2, ":/") != 0)
    throw CLI::ValidationError("--mount", fmt::format("'{}' is not /HOST:/CONTAINER, with :ro or :rw behind", text));
  made.host = text.substr(0, colon);
  made.container = text.substr(colon + 1);
  return made;
}

std::pair<std::string, std::string> variable_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    throw CLI::ValidationError("--env", fmt::format("'{}' is not NAME=VALUE", text));
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// `13,31`, or `all`.
device_plugin::event_options events_without(const std::string& text) {
  device_plugin::event_options made;
  made.none = text == "all";
  for (std::size_t from = 0; !made.none && from < text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    std::uint64_t number = 0;
    const auto [stop, failed] = std::from_chars(text.data() + from, text.data() + end, number);
    if (failed != std::errc{} || stop != text.data() + end)
      throw CLI::ValidationError("--ignore-xids",
                                 fmt::format("'{}' is no list of numbers with commas, and not all", text));
    made.ignored.insert(number);
    from = end + 1;
  }
  return made;
}

/// Who goes by the scheduler's decisions.
struct grant_arguments {
  bool on = false;
  std::string node;
  std::string kubeconfig;
  std::string context;
  device_plugin::setup_options setup;
  std::int64_t period_ms = 30'000;
  std::int64_t patience_ms = 10'000;
};

struct arguments {
  device_plugin::host_options host;
  device_plugin::plugin_options plugin;
  std::string cards;
  std::string library;
  std::string ignored_xids;
  grant_arguments grants;
  std::vector<std::string> mounts;
  std::vector<std::string> variables;
  std::int64_t interval_ms = 1000;
  bool no_nodes = false;
};

void declare(CLI::App& app, arguments& to) {
  const std::vector<std::pair<std::string, device_plugin::preference>> ways{
      {"spread", device_plugin::preference::spread}, {"pack", device_plugin::preference::pack}};
  auto* const cards = app.add_option("--cards", to.cards, "file with the cards of the node");
  auto* const nvml = app.add_option("--nvml", to.library, "the cards that NVML knows; may name its library")
                         ->expected(0, 1)
                         ->default_str("libnvidia-ml.so.1");
  cards->excludes(nvml);
  app.add_option("--ignore-xids", to.ignored_xids, "errors of cards that NVML tells and that change nothing, or all");
  app.add_option("--resource", to.host.resource, "what the kubelet calls them")->capture_default_str();
  app.add_option("--slices", to.plugin.slices, "how many pods may share a card")
      ->check(CLI::Range(std::uint32_t{1}, device_plugin::max_slices))
      ->capture_default_str();
  app.add_option("--prefer", to.plugin.how, "cards with the most slices free, or with the fewest")
      ->transform(CLI::CheckedTransformer(ways))
      ->option_text("spread|pack");
  app.add_option("--folder", to.host.folder, "of the kubelet's sockets")->capture_default_str();
  app.add_option("--endpoint", to.host.endpoint, "name of the plugin's socket there")->capture_default_str();
  app.add_option("--interval", to.interval_ms, "milliseconds between two looks at cards and sockets")
      ->check(CLI::Range(10, 3'600'000))
      ->capture_default_str();
  app.add_option("--mount", to.mounts, "/HOST:/CONTAINER[:rw] in containers with a card");
  app.add_option("--env", to.variables, "NAME=VALUE for containers with a card");
  app.add_flag("--no-device-nodes", to.no_nodes, "device files come from elsewhere, as from NVIDIA's run time");
  app.add_option("--dev", to.plugin.dev, "folder of device files")->capture_default_str();
}

void declare_grants(CLI::App& app, grant_arguments& to) {
  auto* const on =
      app.add_flag("--by-grant", to.on, "containers get what the scheduler has chosen, as HAMi's annotations say");
  app.add_option("--node", to.node, "name of the node, with --by-grant")->envname("NODE_NAME");
  app.add_option("--kubeconfig", to.kubeconfig, "where the API server is; else as kubectl looks")->needs(on);
  app.add_option("--context", to.context, "of the kubeconfig")->needs(on);
  app.add_option("--guard", to.setup.guard,
                 "folder with libkaisched_guard_dlsym.so, for containers with a part of a card")
      ->needs(on);
  auto* const caches =
      app.add_option("--caches", to.setup.caches, "folder for what processes of a container share")->needs(on);
  auto* const grants = app.add_option("--grants", to.setup.grants, "folder of the agent's grants")->needs(on);
  grants->needs(app.add_option("--ledgers", to.setup.ledgers, "folder of the agent's ledgers")->needs(grants))
      ->excludes(caches);
  app.add_option("--node-interval", to.period_ms, "milliseconds between two looks at the node")
      ->check(CLI::Range(100, 3'600'000))
      ->capture_default_str();
  app.add_option("--patience", to.patience_ms,
                 "milliseconds to wait for an API server, or an agent, that does not answer")
      ->check(CLI::Range(100, 600'000))
      ->capture_default_str();
}

/// A thread waits for the signals, so that nothing has to be done inside a handler.
void stop_at_signals(std::atomic<bool>& stop, device_plugin::plugin& plugin) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before other threads begin
  std::thread([signals, &stop, &plugin] {
    int which = 0;
    sigwait(&signals, &which);
    stop = true;
    plugin.stop();
  }).detach();
}

void say(const std::string& line) {
  std::cerr << fmt::format("kaisched-device-plugin: {}\n", shim::printable(line)) << std::flush;
}

/// What goes by the scheduler's decisions, or nothing.
struct grant_parts {
  std::unique_ptr<device_plugin::node_api> api;
  std::unique_ptr<device_plugin::granted> source;
};

grant_parts make_grant_parts(const grant_arguments& by) {
  grant_parts made;
  if (!by.on) return made;
  if (!by.setup.grants.empty()) std::filesystem::create_directories(by.setup.grants);  // the agent looks there
  made.api = std::make_unique<device_plugin::node_api>(shim::find_credentials(by.kubeconfig, by.context), by.node,
                                                       std::chrono::milliseconds(by.patience_ms));
  device_plugin::setup_options setup = by.setup;
  setup.patience = std::chrono::milliseconds(by.patience_ms);
  made.source = std::make_unique<device_plugin::granted>(*made.api, std::move(setup), say);
  return made;
}

int run(arguments& told) {
  static std::atomic<bool> stop = false;  // the thread that waits for signals may outlive this function
  static const grant_parts grants = make_grant_parts(told.grants);
  static device_plugin::plugin plugin(told.plugin, grants.source.get());
  stop_at_signals(stop, plugin);
  device_plugin::event_options events = events_without(told.ignored_xids);
  events.log = say;
  const std::unique_ptr<device_plugin::inventory> from =
      told.cards.empty() ? device_plugin::cards_of_nvml(told.library, std::move(events))
                         : device_plugin::cards_of_file(told.cards);
  std::unique_ptr<device_plugin::node_keeper> keeper;
  if (told.grants.on) {
    plugin.set_cards(from->look());
    keeper = std::make_unique<device_plugin::node_keeper>(
        *grants.api, [] { return plugin.cards(); }, told.plugin.slices, told.grants.setup,
        std::chrono::milliseconds(told.grants.period_ms), say);
  }
  device_plugin::serve(told.host, *from, plugin, say, stop);
  return 0;
}

void check(const arguments& told, bool nvml) {
  if (told.cards.empty() && !nvml) throw CLI::RequiredError("--cards or --nvml");
  if (told.grants.on && told.grants.node.empty()) throw CLI::RequiredError("--node or $NODE_NAME");
  (void)events_without(told.ignored_xids);
}

}  // namespace

int main(int argc, char** argv) {
  arguments told;
  CLI::App app{
      "Tells the kubelet which cards a node has, in slices, and gives containers what they need to use theirs."};
  declare(app, told);
  declare_grants(app, told.grants);
  try {
    app.parse(argc, argv);
    check(told, app.count("--nvml") > 0);
    for (const std::string& text : told.mounts) told.plugin.extras.mounts.push_back(mount_of(text));
    for (const std::string& text : told.variables) told.plugin.extras.variables.push_back(variable_of(text));
  } catch (const CLI::Success& shown) {
    return app.exit(shown);
  } catch (const CLI::ParseError& wrong) {
    (void)app.exit(wrong);
    return 2;
  }
  told.plugin.extras.nodes = !told.no_nodes;
  told.host.interval = std::chrono::milliseconds(told.interval_ms);
  if (told.library.empty()) told.library = "libnvidia-ml.so.1";
  try {
    return run(told);
  } catch (const device_plugin::bad_inventory& why) {
    say(why.what());
    return 2;
  } catch (const shim::bad_input& why) {
    say(why.what());
    return 2;
  } catch (const std::exception& why) {
    say(why.what());
    return 1;
  }
}
