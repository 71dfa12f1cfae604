// The program `kaisched-kubernetes`: a scheduler for clusters of Kubernetes in which the engine decides.
#include <atomic>
#include <cstdio>
#include <ctime>
#include <exception>
#include <pthread.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigtimedwait
#include <string>
#include <thread>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <kaisched/abi.hpp>

#include "configuration/configuration.hpp"
#include "configuration/sections.hpp"
#include "cycle/program.hpp"
#include "host.hpp"

namespace {

/// Tells the program to stop when the process is asked to end. The signals have to be blocked in all threads.
class signal_watch {
 public:
  signal_watch(const sigset_t& signals, shim::program& of)
      : thread_([this, signals, &of] {
          const timespec while_nothing_comes{0, 100'000'000};
          while (!over_) {
            if (sigtimedwait(&signals, nullptr, &while_nothing_comes) > 0) of.stop();
          }
        }) {}
  ~signal_watch() {
    over_ = true;
    thread_.join();
  }
  signal_watch(const signal_watch&) = delete;
  signal_watch& operator=(const signal_watch&) = delete;

 private:
  std::atomic<bool> over_ = false;
  std::thread thread_;
};

int run(int argc, char** argv) {
  CLI::App app("Schedules pods of Kubernetes with the kaisched engine.", "kaisched-kubernetes");
  std::string file;
  std::string kubeconfig;
  std::string context;
  std::string scheduler_name;
  std::string extender;
  bool dry_run = false;
  bool once = false;
  app.add_option("--config", file, "configuration in YAML");
  app.add_option("--kubeconfig", kubeconfig,
                 "how to reach the API server; default: $KUBECONFIG, the pod's own, ~/.kube/config");
  app.add_option("--context", context, "of the kubeconfig");
  app.add_option("--scheduler-name", scheduler_name, "pods of this schedulerName are decided");
  app.add_option("--extender", extender, "ADDRESS:PORT at which a kube-scheduler finds its extender");
  app.add_flag("--dry-run", dry_run, "decide and print, but write nothing to the cluster");
  app.add_flag("--once", once, "one cycle, then end");
  app.set_version_flag("--version", std::string(kaisched::abi::loaded_version()));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& fault) {
    return app.exit(fault) == 0 ? 0 : 2;
  }

  shim::configuration by = file.empty() ? shim::configuration{} : shim::read_configuration(file);
  if (!kubeconfig.empty()) by.kubeconfig = kubeconfig;
  if (!context.empty()) by.context = context;
  if (!scheduler_name.empty()) by.scheduler_name = scheduler_name;
  if (!extender.empty()) shim::read_extender_argument(extender, by.extender);
  if (by.sharing.enabled()) by.webhook.shares = {by.scheduler_name, by.sharing.runtime_class};
  by.dry_run = dry_run;
  by.once = once;
  const shim::credentials as = shim::find_credentials(by.kubeconfig, by.context);

  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  sigset_t broken_pipe;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);

  shim::host host(by);
  shim::program program(by, as, {}, host.output_of_program());
  const signal_watch watch(signals, program);
  const auto console = host.serve(program);
  const auto services = host.serve_others(as, program);
  program.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const shim::bad_input& fault) {
    fmt::print(stderr, "kaisched-kubernetes: {}\n", fault.what());
    return 2;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "kaisched-kubernetes: {}\n", fault.what());
    return 1;
  }
}
