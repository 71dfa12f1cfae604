#pragma once
/// @file
/// The engine: options, the registry of parts, and sessions over snapshots.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/executor.hpp>
#include <kaisched/options.hpp>
#include <kaisched/policy.hpp>
#include <kaisched/result.hpp>
#include <kaisched/session.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/vendors.hpp>

namespace kaisched {

/// Options plus registered parts. Two engines in one process are independent.
/// Threads: const functions may run concurrently (several sessions at once); others need exclusive use.
class engine {
 public:
  engine();  ///< preset `kai`, mode `strict`
  explicit engine(policy_options options);
  ~engine();
  engine(engine&&) noexcept;
  engine& operator=(engine&&) noexcept;
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;
  /// Another engine with the same options, parts, catalog and threads.
  [[nodiscard]] engine clone() const;

  /// Sets one option; `preset` replaces all others first.
  result<void> set(std::string_view option, std::string_view value);
  [[nodiscard]] result<std::string> get(std::string_view option) const;
  [[nodiscard]] const policy_options& options() const;

  /// Adds a part to the registry; it takes effect when the option `parts` names it. Error if the name is taken.
  result<void> register_part(std::string_view name, part_factory factory);
  /// The vendors whose devices sessions know, and the models that can be divided (vendors.hpp); null, as at first:
  /// none, so that `repartition` finds nothing to divide. Sessions that are open keep theirs.
  void set_device_catalog(std::shared_ptr<const device_catalog> catalog);
  /// Threads for sessions that are opened from now on; null, as at first: none but the caller's.
  void set_executor(std::shared_ptr<executor> threads);
  /// Names of all registered parts: those of the library first.
  [[nodiscard]] std::vector<std::string> part_names() const;

  /// Opens a session at a time (nanoseconds, the clock of the host). Errors: unknown part or action, plug-in failure.
  [[nodiscard]] result<session> open(const snapshot& base, std::int64_t now) const;
  /// Opens a session and runs the actions of the options.
  [[nodiscard]] result<session> run(const snapshot& base, std::int64_t now) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace kaisched
