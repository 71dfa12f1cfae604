#pragma once
/// @file
/// Resource claims and the devices that they have been given, as a session changes them.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/options.hpp>

#include "model/state.hpp"
#include "policy/claims/known_answers.hpp"
#include "policy/claims/structured.hpp"

namespace kaisched::policy {

/// Number of a device or of a user of claims inside one session.
using claim_device = std::uint32_t;

/// Devices that a claim has been given.
struct claim_allocation {
  std::vector<claim_device> devices;
  node_row node = no_row;             ///< that has them; no_row: not known, or every node can reach them
  bool known = false;                 ///< of a pod: it has had devices of the claim in this session or before
  std::vector<given_device> given{};  ///< of a claim with requests: which request has which device
  friend bool operator==(const claim_allocation&, const claim_allocation&) = default;
};

/// A claim as it is now.
struct claim_state {
  claim_allocation allocation;
  std::vector<std::uint32_t> users;  ///< names by number, sorted
  friend bool operator==(const claim_state&, const claim_state&) = default;
};

/// What is known of the claims of one pod, to go back to.
struct saved_claims {
  std::vector<claim_allocation> allocations;  ///< by claim of the pod
  std::vector<claim_state> claims;
  std::vector<claim_device> left_behind;    ///< devices that the pod gave back when it was evicted
  std::vector<device_share> left_shares{};  ///< and what it had of devices of pools
};

/// KAI keeps what a pod was given beside what its claims have, takes devices back on an undo even if others have got
/// them, counts devices of a pod on a node before the pod gets them, and lets starts have devices that are still in
/// use. `compat` repeats that; `strict` counts after they are given, undoes exactly and lets starts wait. Requests of
/// claims are served in `strict` only.
class claim_ledger {
 public:
  void open(const model::cluster_state& s, const policy_options& options, bool decides);
  [[nodiscard]] bool used() const { return used_; }
  /// The part `dynamicresources` decides; else claims only tell which devices pods share.
  [[nodiscard]] bool decides() const { return decides_; }
  /// Some claim has requests; never in `compat`.
  [[nodiscard]] bool has_requests() const { return pools_ != nullptr; }
  [[nodiscard]] bool has_claims(pod_row pod) const { return used_ && of_pod_[pod] != no_row; }

  /// Equal for pods whose claims ask for the same: claims made for one pod each, which have no devices yet. Other
  /// claims are told by their names.
  [[nodiscard]] std::string text_of(pod_row pod) const;
  /// The claims exist, are of the queue of the pod and have room for one user more.
  [[nodiscard]] bool usable(const model::cluster_state& s, pod_row pod) const;
  /// What the claims have can be used from the node, and what they lack is free there.
  [[nodiscard]] bool fits(pod_row pod, node_row row, bool at_once) const;
  /// Other pods may pay for GPUs of the pod (`paid_for`) on some node.
  [[nodiscard]] bool may_be_paid_for(pod_row pod) const;
  /// Milli-GPU of the pod that the node does not have to find: others there pay for them already, or what its claims
  /// get are fewer.
  [[nodiscard]] std::int64_t paid_for(pod_row pod, node_row row, bool at_once) const;

  /// The pod joins the users of its claims and gets the devices that these lack.
  void allocate(pod_row pod, node_row row, bool at_once);
  /// It leaves them; a claim without users gives its devices back.
  void deallocate(pod_row pod);
  /// In `strict` what an evicted pod gives back is in use until the pod is gone.
  void leave_behind(pod_row pod, saved_claims& before);

  [[nodiscard]] saved_claims save(pod_row pod) const;
  /// After `deallocate`, which has undone `allocate`: what the pod knew.
  void restore(pod_row pod, const saved_claims& saved);
  /// The pod is back where it was evicted; in `strict` it joins the users of its claims again.
  void rejoin(pod_row pod, const saved_claims& saved);
  /// Its claims still have what they had, or can have it again.
  [[nodiscard]] bool can_rejoin(pod_row pod, const saved_claims& saved) const;

  /// Counts the devices that the pod has now on a node; returns the milli-GPU that are not charged there because others
  /// have the same devices or its claims have fewer.
  std::int64_t enter(pod_row pod, node_row row, std::int64_t gpus);
  /// The inverse, of the devices that were counted.
  std::int64_t leave(pod_row pod, node_row row, std::int64_t gpus);

  [[nodiscard]] std::uint32_t claim_count() const { return static_cast<std::uint32_t>(claims_.size()); }
  [[nodiscard]] const claim_state& claim(std::uint32_t i) const { return claims_[i]; }
  [[nodiscard]] std::uint32_t slot_of(std::uint32_t i) const { return slots_[i]; }
  /// `request=driver/pool/device...` for every device of a claim with requests.
  [[nodiscard]] std::vector<std::string> results_of(std::uint32_t i) const;
  /// Why the claims of a pod get nothing on a node, if that is for a person to know: a selector that fails, a class
  /// that is missing, a search that was not ended. Empty: devices are not free.
  [[nodiscard]] std::string why_not(pod_row pod, node_row row) const;
  [[nodiscard]] std::string_view device_name(claim_device d) const { return devices_[d].name; }
  [[nodiscard]] std::string_view user_name(std::uint32_t user) const { return users_[user]; }
  /// `claim=driver/pool/device` for every device that the pod was given.
  [[nodiscard]] std::vector<std::string> devices_of(const model::cluster_state& s, pod_row pod) const;
  /// Text that is equal for equal states.
  [[nodiscard]] std::string digest() const;

 private:
  struct device {
    std::string name;
    bool is_gpu = false;
    std::int32_t taken = 0;    ///< claims that have it
    std::int32_t leaving = 0;  ///< evicted pods that still use it
  };
  /// Devices of one class that a node has.
  struct offer {
    std::uint32_t device_class = 0;
    std::vector<claim_device> devices;
  };
  struct ask {
    std::uint32_t device_class = 0;
    std::int64_t count = 1;
    bool exists = true;
  };

  [[nodiscard]] std::span<const std::uint32_t> claims_of(pod_row pod) const;
  claim_device device_named(std::string_view name);
  std::uint32_t user_named(std::string_view name);
  std::uint32_t class_named(std::string_view name);
  void take(claim_allocation& to, const claim_allocation& from);
  void count(const claim_allocation& one, std::int32_t sign);
  [[nodiscard]] bool is_structured(std::uint32_t i) const { return pools_ != nullptr && pools_->claims[i].structured; }
  /// A share of a device of a claim without requests, if a pool offers it.
  [[nodiscard]] std::uint32_t pool_device(claim_device d) const;
  /// Devices of an allocation that no request has.
  [[nodiscard]] std::vector<claim_device> others_of(const claim_allocation& one) const;
  [[nodiscard]] bool reaches(const claim_allocation& has, node_row row) const;
  [[nodiscard]] bool can_have(const claim_allocation& had) const;
  [[nodiscard]] known_answers::answer search(std::span<const std::uint32_t> claims, node_row row, bool at_once) const;
  /// `besides`: what claims without requests get first.
  [[nodiscard]] allocation_answer search_besides(std::span<const std::uint32_t> claims, known_answers::devices here,
                                                 bool at_once, wanted_shares besides) const;
  void allocate_structured(pod_row pod, std::span<const std::uint32_t> which, node_row row, bool at_once);
  void join(std::uint32_t claim, std::uint32_t entry, pod_row pod, claim_allocation gets);
  [[nodiscard]] std::span<const claim_device> offered(node_row row, std::uint32_t device_class) const;
  [[nodiscard]] bool is_free(claim_device d, bool at_once) const {
    return devices_[d].taken == 0 && (compat_ || !at_once || devices_[d].leaving == 0);
  }
  [[nodiscard]] bool has_free_devices(node_row row, std::uint32_t device_class, std::int64_t count, bool at_once) const;
  [[nodiscard]] std::vector<claim_device> free_devices(node_row row, std::uint32_t device_class, bool at_once) const;
  [[nodiscard]] std::vector<claim_device> gpus_of(pod_row pod) const;
  /// What a pod has on its node is known device by device: all its claims have requests, and `compat` does not see
  /// them.
  [[nodiscard]] bool is_counted_by_device(pod_row pod) const;
  void add_gpus(const claim_allocation& one, std::vector<claim_device>& to) const;
  void open_claims(const model::cluster_state& s);
  void open_pods(const model::cluster_state& s);

  bool used_ = false;
  bool decides_ = false;
  bool compat_ = false;
  std::vector<device> devices_;
  std::map<std::string, claim_device, std::less<>> device_numbers_;
  std::vector<std::string> users_;
  std::map<std::string, std::uint32_t, std::less<>> user_numbers_;
  std::map<std::string, std::uint32_t, std::less<>> class_numbers_;
  std::shared_ptr<const std::vector<std::vector<offer>>> offered_;  ///< by node
  std::vector<claim_state> claims_;
  std::vector<ask> asks_;              ///< by claim
  std::vector<std::uint32_t> askers_;  ///< by claim: pods that name it
  std::vector<std::uint32_t> slots_;   ///< of the model, by claim
  std::vector<std::uint32_t> of_pod_;  ///< first of its entries below, by slot; no_row: none
  std::vector<std::uint32_t> counts_;  ///< number of these, by slot
  std::vector<std::uint32_t> pod_claims_;
  std::vector<claim_allocation> pod_allocations_;
  std::vector<std::uint32_t> pod_users_;  ///< number of its name, by slot
  // Claims with requests; null, and nothing of the rest is used, if there are none.
  std::shared_ptr<const structured_claims> pools_;
  const model::cluster_state* state_ = nullptr;
  mutable known_answers answers_;
  bool keeps_answers_ = true;
  device_usage usage_;                  ///< what claims have
  device_usage held_;                   ///< and what evicted pods still use
  std::vector<std::uint32_t> of_pool_;  ///< device of a pool, by device
  std::vector<claim_device> named_;     ///< device, by device of a pool; no_row: not yet
  struct counted_gpus {
    std::vector<claim_device> devices;
    std::int64_t fewer = 0;  ///< than the pod is charged for
  };
  std::map<std::pair<pod_row, node_row>, counted_gpus> counted_;
  std::map<std::pair<node_row, claim_device>, std::int32_t> on_node_;  ///< pods of the node that count a device
};

}  // namespace kaisched::policy
