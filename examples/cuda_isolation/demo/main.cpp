/// The loop, closed, on a machine without GPUs: kaisched decides for six tenants on two cards, each runs under the
/// guard in a process of its own, an agent keeps their ledgers and measures, and what it measured decides where the
/// next one goes.
///   kaisched_cuda_demo WORK-FOLDER [SECONDS]      with a terminal the agent's table is shown meanwhile
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "children.hpp"
#include "scheduling.hpp"

namespace {

namespace fs = std::filesystem;
using json = nlohmann::json;

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
constexpr std::uint64_t card_mib = 8192;

[[noreturn]] void fail(std::string what, const char* why = "", const std::string& printed = {}) {
  what += why;
  what += printed;
  throw std::runtime_error(what);
}

/// Until it holds: measurements and processes take the time that the machine gives them.
void wait_until(const std::string& what, const std::function<bool()>& holds) {
  for (int i = 0; i < 1200; ++i) {
    if (holds()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  fail("waited a minute for: " + what);
}

void write_file(const fs::path& path, const std::string& text) {
  const fs::path made = path.string() + ".made";
  std::ofstream(made, std::ios::binary) << text;
  fs::rename(made, path);
}

struct tenant_plan {
  demo::request asks;
  std::uint64_t take_mib, step_mib;
  const char* kernel_us;
  const char* pause_us;
};

class demonstration {
 public:
  explicit demonstration(const fs::path& work)
      : work_(work),
        bin_(fs::read_symlink("/proc/self/exe").parent_path()),
        parts_(bin_.parent_path() / "examples/cuda_isolation") {
    for (const char* folder : {"grants", "ledgers", "logs"}) {
      fs::remove_all(work_ / folder);
      fs::create_directories(work_ / folder);
    }
    for (const char* file : {"machine", "usage.json", "metrics.prom"}) fs::remove(work_ / file);
  }

  /// The table is drawn over what was said meanwhile, so on a terminal it is said again in the end.
  void run(int seconds) {
    decide();
    start_agent();
    start_tenants();
    one_asks_for_too_much();
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    one_is_killed();
    one_gets_more();
    measured_use_decides();
    end();
    if (shown_)
      for (const std::string& line : said_) std::cout << line << '\n';
  }

 private:
  void say(const std::string& line) {
    std::cout << line << '\n' << std::flush;
    said_.push_back(line);
  }

  void grant(const cuda_agent::grant& g) {
    write_file(work_ / "grants" / (g.tenant + ".json"), cuda_agent::write_grant(g));
    grants_[g.tenant] = g;
  }
  [[nodiscard]] std::uint64_t granted_mib(const std::string& tenant) const {
    return grants_.at(tenant).cards.front().memory_bytes.value_or(0) / mib;
  }

  void decide() {
    std::vector<demo::request> waiting;
    waiting.reserve(plans_.size());
    for (const tenant_plan& plan : plans_) waiting.push_back(plan.asks);
    for (const cuda_agent::grant& g : scheduling_.decide(waiting, false, 0)) {
      grant(g);
      const cuda_agent::card_grant& card = g.cards.front();
      say("granted: " + g.tenant + " on " + g.node + "/" + std::to_string(card.index) + ", " +
          std::to_string(granted_mib(g.tenant)) + " MiB, " + std::to_string(card.core_permille / 10) +
          " % of the cores");
    }
    if (grants_.size() != plans_.size()) fail("not all tenants were placed");
  }

  void start_agent() {
    std::vector<std::string> command{bin_ / "kaisched_cuda_agent",
                                     "--grants",
                                     work_ / "grants",
                                     "--ledgers",
                                     work_ / "ledgers",
                                     "--interval",
                                     "200",
                                     "--json",
                                     work_ / "usage.json",
                                     "--prometheus",
                                     work_ / "metrics.prom"};
    if (!shown_) command.emplace_back("--quiet");
    agent_.emplace_back(command, std::vector<std::string>{}, shown_ ? fs::path() : work_ / "logs/agent");
    wait_until("ledgers", [&] {
      for (const auto& [tenant, g] : grants_)
        if (!fs::exists(work_ / "ledgers" / tenant / "usage")) return false;
      return true;
    });
  }

  void start(const std::string& tenant, const tenant_plan& plan) {
    std::vector<std::string> environment = cuda_agent::environment(grants_.at(tenant), work_ / "ledgers" / tenant);
    std::string devices;
    for (const demo::card& one : cards_)
      devices += (devices.empty() ? "" : ";") + std::to_string(one.bytes / mib) + "m:100:" + one.uuid;
    environment.push_back("KAISCHED_FAKE_DEVICES=" + devices);
    environment.push_back("KAISCHED_FAKE_STATE=" + (work_ / "machine").string());
    environment.push_back("LD_LIBRARY_PATH=" + (parts_ / "fake/lib").string());
    environment.push_back("LD_PRELOAD=" + (parts_ / "shim/lib/libkaisched_guard.so").string());
    running_.emplace(tenant, demo::child({bin_ / "kaisched_cuda_tenant", tenant, std::to_string(plan.take_mib),
                                          std::to_string(plan.step_mib), plan.kernel_us, plan.pause_us},
                                         environment, work_ / "logs" / tenant));
  }

  void start_tenants() {
    for (const tenant_plan& plan : plans_) start(plan.asks.tenant, plan);
    for (const tenant_plan& plan : plans_) expect(plan.asks.tenant, "ready with");
  }

  /// Waits for a line of a tenant; its end is an error.
  void expect(const std::string& tenant, const std::string& says) {
    wait_until(tenant + ": " + says, [&] {
      const std::string printed = running_.at(tenant).printed();
      if (printed.find("failed:") != std::string::npos) fail(printed);
      return printed.find(says) != std::string::npos;
    });
  }

  /// The agent's figures of a tenant, by the name of a field; -1 before it has any.
  [[nodiscard]] std::int64_t figure(const std::string& tenant, const char* field) const {
    const json all = usage();
    for (const json& one : all.value("cards", json::array()))
      for (const json& row : one["tenants"])
        if (row["tenant"] == tenant) return row[field].get<std::int64_t>();
    return -1;
  }
  [[nodiscard]] json usage() const {
    std::ifstream in(work_ / "usage.json");
    json all = json::parse(in, nullptr, false);
    return all.is_discarded() ? json::object() : all;
  }

  void one_asks_for_too_much() {
    expect("greedy", "CUDA_ERROR_OUT_OF_MEMORY");
    wait_until("the refusal in the figures", [&] { return figure("greedy", "refused") > 0; });
    for (const tenant_plan& plan : plans_) {
      const std::string& tenant = plan.asks.tenant;
      const std::string printed = running_.at(tenant).printed();
      if (printed.find("sees " + std::to_string(granted_mib(tenant)) + " MiB") == std::string::npos)
        fail(tenant, " sees something else than what it was granted:\n", printed);
      if (figure(tenant, "held_bytes") > static_cast<std::int64_t>(granted_mib(tenant) * mib))
        fail(tenant, " holds too much");
      if (tenant != "greedy" && printed.find("refused:") != std::string::npos)
        fail(tenant, " was disturbed:\n", printed);
    }
    say("refused: greedy got CUDA_ERROR_OUT_OF_MEMORY at its limit of " + std::to_string(granted_mib("greedy")) +
        " MiB; the others noticed nothing");
  }

  void one_is_killed() {
    running_.at("notebook").send(SIGKILL);
    running_.at("notebook").wait();
    wait_until("what the dead held to come back", [&] { return figure("notebook", "held_bytes") == 0; });
    say("killed: notebook; what it held came back");
  }

  void one_gets_more() {
    cuda_agent::grant more = grants_.at("greedy");
    const std::uint64_t bytes = more.cards.front().memory_bytes.value_or(0) + 512 * mib;
    more.cards.front().memory_bytes = bytes;
    grant(more);
    wait_until("the new limit",
               [&] { return figure("greedy", "memory_limit_bytes") == static_cast<std::int64_t>(bytes); });
    running_.at("greedy").send(SIGUSR1);
    expect("greedy", "grew to");
    say("raised: greedy runs on and may hold " + std::to_string(granted_mib("greedy")) + " MiB now");
  }

  void measured_use_decides() {
    std::vector<demo::usage> cards;
    wait_until("a card that is busier than the other", [&] {
      cards.clear();
      const json all = usage();
      for (const json& one : all.value("cards", json::array()))
        cards.push_back({one["node"], one["index"], one["utilization"], one["deviation"]});
      return cards.size() == 2 && std::abs(cards[0].utilization - cards[1].utilization) > 20;
    });
    for (const demo::usage& one : cards)
      say("measured: " + one.node + "/" + std::to_string(one.index) + " is busy for " +
          std::to_string(one.utilization) + " of 1000");
    scheduling_.measured(cards);
    const demo::usage& calm = cards[0].utilization < cards[1].utilization ? cards[0] : cards[1];
    const std::vector<cuda_agent::grant> late = scheduling_.decide({{"late", 200}}, true, 1);
    if (late.size() != 1 || late.front().node != calm.node) fail("late did not go to the card that is less busy");
    grant(late.front());
    wait_until("the ledger of late", [&] { return fs::exists(work_ / "ledgers/late/usage"); });
    start("late", {{"late", 200}, 256, 128, "1000", "20000"});
    expect("late", "ready with 256 MiB");
    say("decided: late goes to " + late.front().node + ", which is less busy, and runs");
  }

  void end() {
    for (auto& [tenant, process] : running_) process.send(SIGTERM);
    for (auto& [tenant, process] : running_)
      if (tenant != "notebook" && process.wait() != 0) fail(tenant, " did not end in peace:\n", process.printed());
    agent_.front().send(SIGTERM);
    if (agent_.front().wait() != 0) fail("the agent did not end in peace");
    say("closed: decided, enforced, measured, decided again");
  }

  const bool shown_ = isatty(STDOUT_FILENO) != 0;
  std::vector<std::string> said_;
  fs::path work_, bin_, parts_;
  std::vector<demo::card> cards_{{"node-a", "GPU-aaaaaaaa-0000-4000-8000-000000000000", card_mib* mib},
                                 {"node-b", "GPU-bbbbbbbb-0000-4000-8000-000000000000", card_mib* mib}};
  demo::scheduling scheduling_{cards_};
  /// What they ask the scheduler for, what they take, and how they compute: training without a break, the rest now and
  /// then.
  std::vector<tenant_plan> plans_{
      {{"train", 300}, 2048, 256, "4000", "0"},      {{"batch", 300}, 1024, 256, "1000", "100000"},
      {{"serve", 200}, 1024, 128, "500", "20000"},   {{"greedy", 200}, 4096, 256, "500", "50000"},
      {{"notebook", 100}, 512, 128, "500", "50000"}, {{"search", 100}, 256, 128, "500", "50000"}};
  std::map<std::string, cuda_agent::grant> grants_;
  std::map<std::string, demo::child> running_;
  std::vector<demo::child> agent_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: kaisched_cuda_demo WORK-FOLDER [SECONDS]\n";
    return 2;
  }
  try {
    demonstration(fs::absolute(argv[1])).run(argc > 2 ? static_cast<int>(std::strtol(argv[2], nullptr, 10)) : 5);
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << "kaisched_cuda_demo: " << failure.what() << '\n';
    return 1;
  }
}
