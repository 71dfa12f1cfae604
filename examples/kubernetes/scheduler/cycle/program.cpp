#include "cycle/program.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "configuration/engine_options.hpp"
#include "observability/journal.hpp"

namespace shim {

namespace {

using clock = std::chrono::steady_clock;
using nlohmann::json;

/// Without a step, as long as there is nothing to do but to wait.
constexpr std::chrono::milliseconds longest_wait(500);

/// In the log, of a cycle: the rest is told by the next ones.
constexpr std::size_t most_fault_lines = 200;

/// One line for a decision; empty for one that only explains.
std::string words_of(const json& action) {
  const std::string kind = action.value("kind", "");
  const std::string pod = name_of(action);
  if (kind == "Binding") return fmt::format("bind {} to {}", pod, text_at(action, "/target/name"));
  if (kind == "Eviction") return fmt::format("evict {}", pod);
  if (const std::string node = text_at(action, "/status/nominatedNodeName"); !node.empty()) {
    return fmt::format("promise {} to {}", node, pod);
  }
  if (const std::string why = text_at(action, "/status/conditions/0/message"); !why.empty()) {
    return fmt::format("wait {}: {}", pod, why);
  }
  return {};
}

/// With what the settings of the lease leave open.
configuration completed(configuration by, const credentials& as) {
  election_settings& lease = by.election;
  if (lease.name_space.empty()) lease.name_space = as.name_space.empty() ? "kube-system" : as.name_space;
  if (lease.name.empty()) {
    lease.name = by.node_pool.empty() ? by.scheduler_name : by.scheduler_name + "-" + by.node_pool;
  }
  return by;
}

reflector_options completed(reflector_options of, const configuration& by) {
  of.page_size = by.page_size;
  of.absent_wait = by.discovery_period;
  of.reads_budgets = by.budgets == budget_use::respect;
  return of;
}

}  // namespace

program::program(configuration by, const credentials& as, reflector_options watching, output out)
    : by_(completed(std::move(by), as)),
      out_(std::move(out)),
      store_(by_.scheduler_name, by_.sharing.enabled(), by_.budgets == budget_use::respect),
      decider_(by_, out_.log),
      executor_(by_, as, store_, out_.log),
      watches_(as, store_, completed(watching, by_), out_.log) {
  log_warnings("engine", by_.engine, out_.log);
  log_warnings("extender.engine", by_.extender.engine, out_.log);
  if (by_.election.enabled && !by_.dry_run) {
    election_ = std::make_unique<election>(by_.election, as, out_.log, [this] { store_.wake(); });
  }
  if (!by_.extenders.all.empty())
    extenders_ = std::make_unique<extender_clients>(by_.extenders, by_.scheduler_name, out_.log);
  if (by_.usage.enabled) {
    const auto may_write = [this] { return !by_.dry_run && (election_ == nullptr || election_->leads()); };
    usage_ = std::make_unique<usage_provider>(by_, as, may_write, out_.log, out_.asked_usage);
  }
}

program::~program() {
  stop();
  if (!election_thread_.joinable()) return;
  election_->stop();
  election_thread_.join();
}

void program::run() {
  if (election_ == nullptr) {
    lead();
    if (usage_ != nullptr) usage_->finish();
    return;
  }
  election_thread_ = std::thread([this] { election_->run(); });
  if (become_leader()) lead();
  if (election_->lost())
    throw std::runtime_error(fmt::format("lease {}: lost; nothing more is decided", election_->name()));
  if (usage_ != nullptr) usage_->finish();
  election_->stop();
  election_thread_.join();
  election_->release();
}

bool program::become_leader() {
  const clock::time_point began = clock::now();
  while (!step()) {
    if (stopped_) return false;
    if (by_.once && clock::now() > began + by_.election.lease_duration + by_.election.retry_period) {
      throw std::runtime_error(fmt::format("{}: nothing was decided", election_->standing_words()));
    }
    store_.wait_for_change(store_.revision(), clock::now() + longest_wait);
  }
  return true;
}

std::string program::standby() const {
  return election_ == nullptr || election_->leads() ? std::string() : election_->standing_words();
}

std::string program::obstacle() const {
  std::string why = standby();
  return why.empty() && !ready() ? "not all kinds of objects have been listed yet" : why;
}

void program::lead() {
  // Only who leads reads: what its predecessor has written last is in the lists then, while a watch may lag behind.
  watches_.start();
  std::uint64_t seen = store_.revision();
  while (step() && !store_.synced()) {
    store_.wait_for_change(seen, clock::now() + longest_wait);
    seen = store_.revision();
  }
  if (usage_ != nullptr && step()) usage_->begin();
  if (step()) out_.log("all objects are read");
  while (step()) {
    if (executor_.is_paused()) {
      store_.wait_for_change(store_.revision(), clock::now() + longest_wait);
      continue;
    }
    seen = store_.revision();
    const clock::time_point began = clock::now();
    cycle();
    if (by_.once && !executor_.waits()) return;
    clock::time_point next =
        began + (again_ ? std::min<std::chrono::milliseconds>(by_.period, std::chrono::seconds(1)) : by_.period);
    if (const auto deadline = executor_.deadline()) next = std::min(next, *deadline);
    wait(seen, next);
    // What comes together, such as the pods of a gang, is decided together.
    if (store_.revision() == seen) continue;
    const clock::time_point until = clock::now() + by_.settle;
    while (clock::now() < until && step()) wait(store_.revision(), until);
  }
}

void program::wait(std::uint64_t known, clock::time_point until) {
  while (store_.revision() == known && clock::now() < until && step()) {
    store_.wait_for_change(known, std::min(until, clock::now() + longest_wait));
  }
}

void program::stop() noexcept {
  stopped_ = true;
  watches_.stop();
  if (extenders_ != nullptr) extenders_->cancel();
  store_.wake();
}

bool program::step() {
  last_step_ = clock::now();
  return !stopped_ && (election_ == nullptr || election_->leads());
}

void program::cycle() {
  (void)step();
  const auto report = std::make_shared<cycle_report>();
  const trace_scope trace(report->trace = new_trace());
  const clock::time_point began = clock::now();
  report->when = std::chrono::system_clock::now();
  decide_and_act(*report);
  report->whole = clock::now() - began;
  report->refused = store_.refused();
  report->faults = faults_;
  if (out_.report) out_.report(report);
}

void program::decide_and_act(cycle_report& to) {
  again_ = false;
  if (!executor_.resolve_unknown()) {
    again_ = true;
    return;
  }
  decision what;
  clock::time_point before = clock::now();
  const auto took = [&before] {
    const clock::time_point after = clock::now();
    return after - std::exchange(before, after);
  };
  if (usage_ != nullptr) usage_->tell(store_);
  const bool asks_again = extenders_ != nullptr && extenders_->ask(store_);
  try {
    executor_.plan();
    const std::vector<object_change> changes = store_.take_changes(to.objects);
    to.gathering = took();
    what = decider_.decide(changes,
                           std::chrono::duration_cast<std::chrono::nanoseconds>(to.when.time_since_epoch()).count());
    to.deciding = took();
    to.seen = what.seen;
    if (usage_ != nullptr) usage_->note(*what.seen, to.when);
  } catch (const kaisched::abi::failure& refused) {
    out_.log(fmt::format("no decision: {}", refused.what()));
    return;
  }
  for (std::string& one : store_.unreadable()) what.faults.push_back(std::move(one));
  tell_faults(what.faults);
  again_ = asks_again;
  if (by_.dry_run) {
    show(what);
    return;
  }
  const tally done = executor_.carry_out(what, to.when, [this] { return step(); });
  to.acting = took();
  to.done = done;
  again_ = asks_again || done.refused + done.unknown > 0 || executor_.is_behind();
  if (done.bound + done.evicted + done.explained + done.refused + done.unknown + done.resumed > 0) {
    out_.log(fmt::format("cycle: {} bound, {} evicted, {} explained, {} refused, {} without an answer{}", done.bound,
                         done.evicted, done.explained, done.refused, done.unknown,
                         done.resumed > 0 ? fmt::format(", {} jobs resumed", done.resumed) : std::string()));
  }
}

void program::show(const decision& what) const {
  for (const json& action : what.actions) {
    if (const std::string words = words_of(action); !words.empty()) out_.decide(words);
  }
  for (const auto& [pod, why] : store_.refused()) out_.decide(fmt::format("wait {}: {}", pod, why));
}

void program::tell_faults(const std::vector<std::string>& faults) {
  std::set<std::string> told;
  std::size_t lines = 0;
  for (const std::string& one : faults) {
    if (told_.contains(one)) {
      told.insert(one);
    } else if (!told.contains(one) && lines < most_fault_lines) {
      out_.log("left out: " + one);
      told.insert(one);
      ++lines;
    }
  }
  told_ = std::move(told);
  faults_ = faults;
}

}  // namespace shim
