/// The agent of a node: keeps the tenants' ledgers in step with their grants, and shows or exports what is used.
///   kaisched_cuda_agent --grants DIR --ledgers DIR [--once] [--interval MS] [--json FILE] [--prometheus FILE]
///   kaisched_cuda_agent --environment GRANT.json --ledgers DIR      the variables of a tenant's container
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "keeper.hpp"
#include "render.hpp"

namespace {

volatile std::sig_atomic_t stopping = 0;

std::int64_t now_ns() {
  timespec now{};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sleep_ms(std::int64_t ms) {
  timespec left{ms / 1000, ms % 1000 * 1'000'000};
  while (stopping == 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

/// Readers see the old text or the new one. "-" is the terminal.
void publish(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return;
  }
  const std::string written = path + ".new";
  {
    std::ofstream out(written, std::ios::binary | std::ios::trunc);
    out << text;
    if (!out.flush()) throw std::runtime_error(written + ": cannot be written");
  }
  if (std::rename(written.c_str(), path.c_str()) != 0) throw std::system_error(errno, std::generic_category(), path);
}

/// Two agents would undo each other's work.
class only_one {
 public:
  explicit only_one(const std::filesystem::path& ledgers)
      : fd_(open((ledgers / ".agent").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (fd_ < 0) throw std::system_error(errno, std::generic_category(), (ledgers / ".agent").string());
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0) throw std::runtime_error(ledgers.string() + ": another agent keeps it");
  }
  only_one(const only_one&) = delete;
  only_one& operator=(const only_one&) = delete;
  ~only_one() { close(fd_); }

 private:
  int fd_;
};

int print_environment(const std::string& file, const std::filesystem::path& ledgers) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file + ": cannot be read");
  const cuda_agent::grant g =
      cuda_agent::read_grant({std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()}, file);
  for (const std::string& line : cuda_agent::environment(g, (ledgers / g.tenant).string())) std::cout << line << '\n';
  return 0;
}

struct outputs {
  std::string json, prometheus;
  bool table = true;
};

void show(const cuda_agent::report& of, const outputs& to, bool in_place) {
  if (!to.json.empty()) publish(to.json, cuda_agent::render_json(of));
  if (!to.prometheus.empty()) publish(to.prometheus, cuda_agent::render_prometheus(of));
  if (!to.table) return;
  std::string text = cuda_agent::render_table(of);
  if (in_place) {
    for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 4) text.replace(at, 1, "\x1b[K\n");
    text = "\x1b[H" + text + "\x1b[J";
  }
  std::cout << text << std::flush;
}

}  // namespace

int main(int argc, char** argv) {
  cuda_agent::keeper_options options;
  outputs to;
  std::string environment_of;
  std::int64_t interval = 1000;
  bool once = false, quiet = false;
  CLI::App app{"Keeps the ledgers of tenants that share cards in step with their grants, and shows what is used."};
  app.add_option("--grants", options.grants, "folder with one TENANT.json per tenant (kaisched-grant/1)");
  app.add_option("--ledgers", options.ledgers, "folder for one ledger per tenant")->required();
  app.add_option("--node", options.node, "only grants of this node");
  app.add_option("--group", options.group, "group id that the ledgers' files get");
  app.add_option("--slots", options.slots, "most processes of a tenant")->check(CLI::Range(0, KL_SLOTS_MAX));
  app.add_option("--interval", interval, "milliseconds between two looks")->check(CLI::Range(10, 3'600'000));
  app.add_flag("--once", once, "look twice, an interval apart, show that, and leave");
  app.add_flag("--quiet", quiet, "no table");
  app.add_option("--json", to.json, "file for the report as JSON, - for the terminal");
  app.add_option("--prometheus", to.prometheus, "file for the report as metrics, - for the terminal");
  app.add_option("--environment", environment_of, "print the variables for the container of this grant, and leave");
  CLI11_PARSE(app, argc, argv);
  to.table = !quiet && to.json != "-" && to.prometheus != "-";
  try {
    if (!environment_of.empty()) return print_environment(environment_of, options.ledgers);
    if (options.grants.empty()) throw std::runtime_error("--grants is required");
    std::filesystem::create_directories(options.ledgers);
    const only_one lock(options.ledgers);
    if (kl_survive_truncation() != KL_OK) throw std::runtime_error("SIGBUS cannot be handled");
    for (const int number : {SIGINT, SIGTERM}) (void)std::signal(number, [](int) { stopping = 1; });
    const bool in_place = !once && isatty(STDOUT_FILENO) != 0;
    if (in_place) std::cout << "\x1b[2J";
    cuda_agent::keeper keeper(options);
    cuda_agent::report last = keeper.look(now_ns());
    while (stopping == 0) {
      if (!once) show(last, to, in_place);
      sleep_ms(interval);
      last = keeper.look(now_ns());
      if (once) break;
    }
    show(last, to, in_place);
    for (const std::string& error : last.errors)
      if (!to.table) std::cerr << "error: " << error << '\n';
    return once && !last.errors.empty() ? 1 : 0;
  } catch (const std::exception& failure) {
    std::cerr << "kaisched_cuda_agent: " << failure.what() << '\n';
    return 2;
  }
}
