#pragma once
/// @file
/// Which of several processes decides: the one that holds a Lease of coordination.k8s.io, as the leader election of
/// Kubernetes' own components has it, so that both can stand for the same lease. Clocks of other machines are not
/// trusted: a lease runs out when it has not changed for its duration by the clock of who looks.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include <nlohmann/json.hpp>

#include "api_server/credentials.hpp"
#include "api_server/http_client.hpp"
#include "leader_election/election_fields.hpp"

namespace shim {

class election {
 public:
  using clock = std::chrono::steady_clock;

  /// @param changed called from the thread of run when this process begins or ends to lead.
  election(election_settings by, const credentials& as, log_function log, std::function<void()> changed);

  /// Stands for the lease and renews it, until stop is called or the lease is lost: what was lost is not asked for
  /// again.
  void run();
  /// From any thread: nothing more is asked; the lease runs out by itself, unless it is released.
  void stop() noexcept;
  /// After run has ended: gives the lease back if it is held, so that the next one need not wait. It may not be called
  /// before the last request that rests on the lease has been answered.
  void release() noexcept;

  /// Whether something may be decided and written now. False once the lease has not been renewed for the renew
  /// deadline, before anybody else can take it, whatever the thread of run is doing.
  [[nodiscard]] bool leads() const noexcept { return clock::now().time_since_epoch().count() < until_.load(); }
  /// Whether this process has led and does so no more.
  [[nodiscard]] bool lost() const noexcept { return led_.load() && !leads(); }
  /// Who leads, as far as it is known; empty: nobody.
  [[nodiscard]] std::string holder() const;
  /// The same in words, with the name of the lease.
  [[nodiscard]] std::string standing_words() const;
  /// `namespace/name` of the lease.
  [[nodiscard]] std::string name() const;

 private:
  [[nodiscard]] bool try_once();
  [[nodiscard]] bool renew();
  [[nodiscard]] bool create();
  /// Writes the lease in this process's name over the version that `was` has.
  [[nodiscard]] bool take(nlohmann::json was);
  void observe(const nlohmann::json& spec);
  void lead_until(clock::time_point until);
  void complain(const std::string& fault);
  [[nodiscard]] std::string target(bool own) const;
  void pause();

  election_settings by_;
  std::string identity_;
  credentials as_;
  http_client client_;
  log_function log_;
  std::function<void()> changed_;
  nlohmann::json held_;      ///< as the server gave it to this process last; null: it is not this process's
  nlohmann::json observed_;  ///< its spec as it was seen last
  clock::time_point observed_at_;
  std::string complaint_;  ///< that was logged last
  std::atomic<clock::rep> until_ = 0;
  std::atomic<bool> led_ = false;
  std::atomic<bool> stopped_ = false;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::string holder_;
};

}  // namespace shim
