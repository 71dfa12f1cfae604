#pragma once
/// @file
/// Replay of a recorded cycle: who is admitted, who waits and why, who leaves.

#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/kueue_calls.hpp"
#include "conformance/kueue_objects.hpp"
#include "conformance/kueue_place_book.hpp"
#include "schedulers/kueue/rules/cycle.hpp"
#include "conformance/rules/local_usage.hpp"
#include "schedulers/kueue/rules/scan_memory.hpp"

namespace kaisched::conformance::kueue {

/// Why a workload waits.
struct waiting {
  std::string reason;
  std::string message;
};

/// What queues remember from one cycle to the next.
struct cycle_memory {
  std::int64_t cycle = 0;
  std::map<std::string, kaisched::kueue::scan_memory> scans;        ///< by workload
  std::map<std::string, std::int64_t> generations;                  ///< by queue: how often more has become free
  std::map<std::string, std::set<std::string>> parked;              ///< by queue
  std::map<std::string, waiting> waits;                             ///< by workload
  std::map<std::string, std::string> preemptors;                    ///< by queue: the workload that waits for victims
  bool by_local_usage = false;                                      ///< queues that ask for it order by past usage
  std::map<std::string, kaisched::kueue::usage_history> histories;  ///< by local queue
  double entry_share = 0;  ///< of what a workload asks for, that counts as soon as it has it
};

class cycle_replay {
 public:
  /// Both have to outlive the replay.
  cycle_replay(const nlohmann::json& input, cycle_memory& memory);

  void run();
  void compare_with(differences& found, const nlohmann::json& expected);
  void compare_workloads(differences& found, const nlohmann::json& expected) const;
  /// Of all that hold quota afterwards.
  [[nodiscard]] nlohmann::json assignments() const;
  /// The objects of the next cycle.
  [[nodiscard]] nlohmann::json workloads_after() const;
  /// Empty members dropped, amounts and places in one way of writing.
  [[nodiscard]] static nlohmann::json tidy_all(const nlohmann::json& by_key);

 private:
  /// A workload in a queue, or one that holds quota.
  struct cycle_workload {
    nlohmann::json object;
    std::string key;
    std::string queue;  ///< cluster queue; empty if it has none
    bool holds = false;
    bool second_pass = false;
  };
  /// How a workload goes back to its queue.
  enum class comeback : std::uint8_t { parked, parked_alike, mismatch, at_once };
  void read_workloads();
  void read_holder(cycle_workload& workload);
  void read_waiting(cycle_workload& workload, const std::map<std::string, std::string>& local_queues);
  [[nodiscard]] bool is_usable(const queue_object& queue) const;
  [[nodiscard]] std::string head_of(const queue_object& queue, const std::set<std::string>& keys) const;
  [[nodiscard]] bool comes_first(const queue_object& queue, const std::string& a, const std::string& b) const;
  [[nodiscard]] bool counts_local_usage(const queue_object& queue) const;
  [[nodiscard]] double local_usage_of(const nlohmann::json& workload) const;
  void add_second_passes();
  void add_heads();
  void add_head(const queue_object& queue, const std::string& key);
  [[nodiscard]] kaisched::kueue::cycle_rules rules();
  void recall_scan(const queue_object& queue, kaisched::kueue::cycle_head& head);
  [[nodiscard]] kaisched::kueue::scan_memory scan_now(const queue_object& queue, const nlohmann::json& workload) const;
  [[nodiscard]] bool refuse(const queue_object& queue, const std::string& key);

  void put_back(const queue_object& queue, const std::string& key, comeback how, waiting why,
                bool flavors_left = false);
  void tell(const queue_object& queue, std::size_t number, const kaisched::kueue::head_result& result);
  void remember(const queue_object& queue, const std::string& key, const kaisched::kueue::head_result& result);
  [[nodiscard]] std::string message_of(std::size_t number, const kaisched::kueue::flavor_assignment& assignment) const;
  [[nodiscard]] std::string considered(std::size_t number, const kaisched::kueue::flavor_assignment& assignment) const;
  [[nodiscard]] std::string reserved_message(const queue_object& queue, std::size_t number,
                                             const kaisched::kueue::flavor_assignment& assignment) const;
  [[nodiscard]] nlohmann::json admission_of(const queue_object& queue, std::size_t number,
                                            const kaisched::kueue::head_result& result) const;
  void admit(const queue_object& queue, std::size_t number, const kaisched::kueue::head_result& result);
  void fail_to_admit(const queue_object& queue, const std::string& key);
  void evict(const kaisched::kueue::quota_victim& victim, const std::string& preemptor);
  void move(const queue_object& queue, std::size_t number, const kaisched::kueue::head_result& result);
  void evict_without_replacement(const queue_object& queue, std::size_t number,
                                 const kaisched::kueue::head_result& result);
  void add_event(const std::string& key, const std::string& reason, const std::string& message);

  void compare_events(differences& found, const nlohmann::json& expected) const;
  [[nodiscard]] nlohmann::json new_assignments() const;

  const nlohmann::json& input_;
  cycle_memory& memory_;
  cluster all_;
  recorded_places places_;
  std::string api_error_;  ///< with which all changes of status fail; empty for none
  std::map<std::string, cycle_workload> workloads_;
  std::vector<kaisched::kueue::cycle_queue> queues_;
  std::vector<kaisched::kueue::cycle_head> heads_;
  std::vector<demand_texts> texts_;  ///< by head
  std::map<std::string, std::set<std::string>> active_;
  std::map<std::string, std::set<std::string>> parked_;
  std::map<std::string, nlohmann::json> admitted_;
  std::set<std::string> dropped_;               ///< whose quota is given up, as it could not be written down
  std::map<std::string, std::string> leaving_;  ///< reason by workload
  std::map<std::string, std::int64_t> skipped_;
  std::map<std::string, std::map<std::string, std::int64_t>> repeated_;  ///< looks by queue, and what came of them
  nlohmann::json events_ = nlohmann::json::array();
};

}  // namespace kaisched::conformance::kueue
