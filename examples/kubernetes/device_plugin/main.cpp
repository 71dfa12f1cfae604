/// Tells the kubelet which cards a node has, in slices, and gives containers what they need to use theirs.
///   kaisched-device-plugin --cards FILE | --nvml [--slices N] [--resource NAME] ...
#include <atomic>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "host.hpp"

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

struct arguments {
  device_plugin::host_options host;
  device_plugin::plugin_options plugin;
  std::string cards;
  std::string library;
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

int run(arguments& told) {
  static std::atomic<bool> stop = false;  // the thread that waits for signals may outlive this function
  static device_plugin::plugin plugin(told.plugin);
  stop_at_signals(stop, plugin);
  const std::unique_ptr<device_plugin::inventory> from =
      told.cards.empty() ? device_plugin::cards_of_nvml(told.library) : device_plugin::cards_of_file(told.cards);
  const auto log = [](const std::string& line) { std::cerr << "kaisched-device-plugin: " << line << std::endl; };
  device_plugin::serve(told.host, *from, plugin, log, stop);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  arguments told;
  CLI::App app{
      "Tells the kubelet which cards a node has, in slices, and gives containers what they need to use theirs."};
  declare(app, told);
  try {
    app.parse(argc, argv);
    if (told.cards.empty() && app.count("--nvml") == 0) throw CLI::RequiredError("--cards or --nvml");
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
    std::cerr << "kaisched-device-plugin: " << why.what() << '\n';
    return 2;
  } catch (const std::exception& why) {
    std::cerr << "kaisched-device-plugin: " << why.what() << '\n';
    return 1;
  }
}
