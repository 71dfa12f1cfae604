#pragma once
/// @file
/// The loop: watch, decide, carry out, until somebody says stop.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "api_server/credentials.hpp"
#include "binding/executor.hpp"
#include "configuration/configuration.hpp"
#include "cycle/cycle_report.hpp"
#include "extender/extender_clients.hpp"
#include "leader_election/election.hpp"
#include "usage/usage_provider.hpp"
#include "watch/object_store.hpp"
#include "watch/watches.hpp"

namespace shim {

/// Where lines go.
struct output {
  std::function<void(const std::string&)> log;                      ///< what happens
  std::function<void(const std::string&)> decide;                   ///< decisions of a dry run
  std::function<void(std::shared_ptr<const cycle_report>)> report;  ///< at the end of a cycle; must not wait
  std::function<void(std::chrono::nanoseconds)> asked_usage;        ///< how long that took, from any thread
};

class program {
 public:
  program(configuration by, const credentials& as, reflector_options watching, output out);
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// Until stop is called, or after one cycle if the configuration says so. Errors: std::runtime_error if the lease is
  /// lost, or held by somebody else for longer than one cycle may wait.
  void run();
  /// From any thread: the request that is on its way is finished, nothing new begins.
  void stop() noexcept;

  // For those who look on, from any thread.
  /// Whether all kinds of objects have been listed.
  [[nodiscard]] bool ready() const { return store_.synced(); }
  /// When the loop has moved last.
  [[nodiscard]] std::chrono::steady_clock::time_point last_step() const noexcept { return last_step_; }
  [[nodiscard]] const object_store& store() const noexcept { return store_; }
  /// For those who give devices away beside the cycles.
  [[nodiscard]] object_store& objects() noexcept { return store_; }
  /// Why another process decides, as far as it is known; empty: this one may.
  [[nodiscard]] std::string standby() const;
  /// Why this process may decide nothing now; empty: it may.
  [[nodiscard]] std::string obstacle() const;
  /// What this process stands for; null: it decides without a lease.
  [[nodiscard]] const election* standing() const noexcept { return election_.get(); }

 private:
  /// Waits for the lease. @return false if stop was called.
  bool become_leader();
  /// While it may.
  void lead();
  /// Notes that the loop moves. @return whether something may be decided and written.
  bool step();
  /// For another revision than this one.
  void wait(std::uint64_t known, std::chrono::steady_clock::time_point until);
  void cycle();
  void decide_and_act(cycle_report& to);
  void show(const decision& what) const;
  void tell_faults(const std::vector<std::string>& faults);

  configuration by_;
  output out_;
  object_store store_;
  decider decider_;
  executor executor_;
  std::unique_ptr<election> election_;  ///< none: nobody else decides
  std::thread election_thread_;
  std::unique_ptr<usage_provider> usage_;        ///< none: the past does not count
  std::unique_ptr<extender_clients> extenders_;  ///< none: nobody is asked
  watches watches_;
  std::atomic<bool> stopped_ = false;
  std::atomic<std::chrono::steady_clock::time_point> last_step_ = std::chrono::steady_clock::now();
  std::vector<std::string> faults_;  ///< those of the last cycle
  std::set<std::string> told_;       ///< of these, those that are in the log
  bool again_ = false;               ///< the last cycle has left something to do
};

}  // namespace shim
