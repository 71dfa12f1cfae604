#pragma once
/// @file
/// One play: what the simulator knows while it goes on.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/set_hash.hpp"
#include "base/sha256.hpp"
#include "model/dependencies.hpp"
#include "model/state.hpp"
#include "policy/column_readers.hpp"
#include "simulation/delta.hpp"
#include "simulation/distances.hpp"
#include "simulation/event_queue.hpp"
#include "simulation/gpu_map.hpp"
#include "simulation/idle_meter.hpp"
#include "simulation/job_book.hpp"
#include "simulation/power_meter.hpp"
#include "simulation/quota_meter.hpp"
#include "simulation/share_meter.hpp"
#include "simulation/simulation.hpp"
#include "simulation/usage_meter.hpp"

namespace kaisched::simulation {

/// When nothing is left that could happen but sessions that look at the clock, so many of them may still find
/// something.
inline constexpr std::uint32_t most_idle_sessions = 1000;

/// Bytes of what happens, in order.
class record {
 public:
  void add(std::int64_t time, std::uint8_t what, std::uint32_t subject, std::uint32_t other);
  [[nodiscard]] std::string finish();

 private:
  void flush();
  base::sha256 hash_;
  std::vector<std::byte> bytes_;
};

class player {
 public:
  player(cluster& over, const play& what, const engine& with, const simulation_options& options,
         const session_watcher& watcher);

  result<run_result> run();

 private:
  /// Where a pod of a job is.
  enum class whereabouts : std::uint8_t { waits, on_node, leaves, gone };

  struct pod_entry {
    std::uint32_t job = 0;
    std::uint32_t number = 0;  ///< within its job
    std::int64_t gpus = 0;
    std::int64_t cpu = 0;
    whereabouts where = whereabouts::waits;
    bool told = true;  ///< the cluster knows
    entity_id node{};
    device_set devices{};
    entity_id nominated{};  ///< node on which its place is kept
    bool nomination_told = true;
    std::uint64_t stamp = 0;    ///< of its leaving
    std::uint32_t in_list = 0;  ///< where it stands among the pods of its node
    std::int64_t since = 0;     ///< that it is on its node
    bool same_devices = true;   ///< since then
  };
  struct group_times {
    std::int64_t last_start = unset;
    std::int64_t last_eviction = unset;
    std::int64_t stale_since = unset;
    bool ran = false;
    std::int64_t evictions = 0;  ///< sessions in which it lost pods
    bool is_evicted = false;     ///< a pod of it, since the jobs were settled last
    bool has_failed = false;     ///< likewise
  };
  /// Of a node that outages and pools speak of.
  struct node_entry {
    bool was_ready = true;
    bool was_cordoned = false;
    bool is_cordoned = false;
    bool is_away = false;
    bool is_off = false;     ///< by its pool
    std::uint64_t lost = 0;  ///< devices that have failed
    std::int64_t gpus = 0;
    std::string name;
    std::vector<std::int64_t> capacity;  ///< of nodes whose devices fail
    std::uint32_t pods = 0;              ///< on it or leaving it
    std::vector<std::uint32_t> held;     ///< these, in no order, of nodes that can fail
    bool can_fail = false;
    std::uint32_t pool = no_row;
  };
  struct pool_entry {
    std::vector<std::uint32_t> slots;
    std::vector<std::uint64_t> stamps;  ///< of the plan to switch a node on or off
    std::vector<std::uint8_t> comes;    ///< it has been asked for and is not on yet
    std::uint32_t on = 0;               ///< nodes that are on or come
  };

  // ---- before the start: player.cpp
  result<void> prepare();
  void prepare_jobs(const model::cluster_state& s);
  result<void> prepare_nodes(const snapshot& first);
  /// Columns that rows of jobs fill.
  [[nodiscard]] std::vector<policy::table_column> columns_of_jobs(const model::cluster_state& s) const;
  result<void> name_devices(const snapshot& first);

  // ---- time
  [[nodiscard]] std::int64_t last_moment() const;
  [[nodiscard]] bool is_outdated(const event& e) const;
  [[nodiscard]] std::int64_t next_moment();
  [[nodiscard]] std::int64_t next_reserved_time() const;
  void happen();
  void happens(const event& e);
  void note_change(std::uint8_t what, std::uint32_t subject, std::uint32_t other);
  void take_sample();

  // ---- jobs: player_jobs.cpp
  [[nodiscard]] std::string pod_name(std::uint32_t p) const;
  [[nodiscard]] std::string affinity_of(const job& told) const;
  [[nodiscard]] std::int64_t estimate_of(std::uint32_t j) const;
  [[nodiscard]] bool competes(std::uint32_t j) const { return options_.replan && jobs_[j].preemptible; }
  [[nodiscard]] std::vector<std::string> entries_of(const job& told) const;
  void arrive(std::uint32_t j);
  void end_job(std::uint32_t j);
  void touch_pod(std::uint32_t p);
  void nominate(std::uint32_t p, entity_id node);
  void note_state(std::uint32_t j);
  void wait(std::uint32_t p, int sign);
  void hold(std::uint32_t p, int sign);
  void use(std::uint32_t p, int sign);
  void note_stay(std::uint32_t p, std::int64_t until);
  void start_pod(std::uint32_t p, entity_id node, const device_set& devices);
  void stop_pod(std::uint32_t p, bool at_once);
  void has_left(std::uint32_t p);
  void settle_jobs();
  [[nodiscard]] std::int64_t lacking_gpus(std::uint32_t j) const;
  void claim(std::uint32_t j);
  [[nodiscard]] std::int64_t speed_of_nodes(std::uint32_t j) const;
  void started(std::uint32_t j);
  void interrupt(std::uint32_t j);
  void evict(std::uint32_t p);

  // ---- nodes: player_nodes.cpp
  void tell_node(std::uint32_t slot);
  void node_goes(std::uint32_t i);
  void node_comes(std::uint32_t i);
  void node_is_cordoned(std::uint32_t i);
  void count_node(std::uint32_t slot, int sign);
  void pod_leaves_node(std::uint32_t p);
  void tell_devices(std::uint32_t i, bool healthy);
  [[nodiscard]] static bool is_hit(const pod_entry& pod, const outage& by, std::uint64_t devices);
  [[nodiscard]] std::uint32_t place_in_pool(std::uint32_t slot) const;
  void plan_to_switch_off(std::uint32_t slot);
  void ask_pools();
  void node_is_on(std::uint32_t pool, std::uint32_t i);
  void node_is_idle(std::uint32_t pool, std::uint32_t i);

  // ---- sessions: player_sessions.cpp
  result<void> decide();
  [[nodiscard]] bool wants_session() const;
  [[nodiscard]] base::set_hash places_of_pods() const;
  [[nodiscard]] bool goes_in_circles();
  [[nodiscard]] bool is_over() const {
    return events_.empty() && next_job_ == jobs_.size() && idle_sessions_ >= most_idle_sessions;
  }
  [[nodiscard]] bool can_only_start() const;
  [[nodiscard]] std::int64_t need_of(std::uint32_t j) const;
  [[nodiscard]] std::int64_t earliest_session() const;
  result<void> tell_cluster();
  void tell_checkpoints();
  result<void> hold_session();
  [[nodiscard]] static entity_id node_of(const decision& d, const model::cluster_state& s);
  result<std::uint32_t> subject_of(const decision& d, const snapshot& over) const;
  result<void> carry_out(const session& held, const snapshot& over);
  result<void> carry_out_plan(const session& held, const snapshot& over);

  cluster& cluster_;
  const play& play_;
  const std::vector<job>& jobs_;
  const engine engine_;
  const simulation_options& options_;
  const session_watcher& watcher_;
  job_book book_;
  event_queue events_;
  delta delta_;
  record record_;
  run_result result_;
  std::optional<gpu_map> gpus_;
  std::optional<share_meter> shares_;
  std::optional<quota_meter> quotas_;
  idle_meter idle_;
  std::optional<distances> distances_;
  std::optional<usage_meter> usage_;
  std::optional<power_meter> power_;

  std::int64_t now_ = 0;
  std::uint32_t next_job_ = 0;
  std::int64_t session_due_ = never;
  std::int64_t reserved_due_ = never;  ///< when nodes are reserved or are not any more, while somebody waits
  std::int64_t last_session_ = never;
  std::int64_t last_change_ = 0;
  std::string stopped_too_often_;
  std::uint32_t idle_sessions_ = 0;  ///< that decided nothing, one after the other
  bool changed_ = false;             ///< something that a session could make use of
  bool saves_work_ = false;
  std::string topology_;  ///< of the preferred level
  std::string level_;     ///< that is preferred
  bool waited_ = false;   ///< at the moment before
  std::vector<model::reservation_info> reservations_;
  bool tells_checkpoints_ = false;  ///< the policy looks at them
  bool only_starts_ = false;        ///< sessions can do nothing but give free places to pods that wait

  std::vector<pod_entry> pods_;               ///< of all jobs, in their order
  std::vector<std::uint32_t> first_pod_;      ///< by job, plus one past the end
  std::set<std::string, std::less<>> named_;  ///< jobs that others come after
  std::set<std::string, std::less<>> ended_;  ///< of these
  std::vector<std::uint32_t> queue_of_job_;   ///< as the share meter numbers them
  std::vector<std::int64_t> claim_of_job_;    ///< GPUs that it lacks, as the quota meter knows them; 0: it claims none
  std::vector<std::uint32_t> pod_of_row_;     ///< by row of the cluster
  std::vector<std::uint32_t> come_;           ///< pods that the delta adds
  std::vector<std::uint32_t> untold_;         ///< pods whose state the cluster does not know
  std::vector<std::uint32_t> untold_groups_;  ///< jobs, likewise
  std::vector<bool> touched_job_;
  std::vector<std::uint32_t> touched_;
  std::vector<group_times> times_;      ///< by job
  std::vector<base::set_hash> places_;  ///< of pods after the sessions of this moment
  std::vector<node_entry> nodes_;       ///< by slot
  std::vector<std::uint32_t> live_;     ///< jobs that have come and not ended, ascending
  std::vector<std::uint32_t> outages_;  ///< slots of their nodes
  std::vector<pool_entry> pools_;
  std::vector<std::uint32_t> competing_;  ///< pods on nodes that every session places anew
  std::vector<std::uint32_t> slots_;      ///< of the nodes of a job, while it is looked at

  std::int64_t gpus_there_ = 0;
  std::int64_t gpus_held_ = 0;
  std::int64_t gpus_wanted_ = 0;
  std::uint64_t pods_waiting_ = 0;
  std::map<std::int64_t, std::uint64_t> needs_;  ///< how many pods wait for so many GPUs to be free
  std::vector<std::int64_t> need_of_job_;        ///< GPUs without which none of its pods can start
  std::uint32_t jobs_running_ = 0;
  std::uint32_t jobs_waiting_ = 0;
};

}  // namespace kaisched::simulation
