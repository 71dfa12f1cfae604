#pragma once
/// @file
/// Devices that are shared by the rules of their vendors, as a session gives them away: what every pod holds of them,
/// what nodes have left now and once pods that leave are gone, and what a pod would get.
///
/// What nodes have left is counted anew from what pods hold, so an undo is exact whatever the rules of a vendor are.
/// Answers about a node are kept until it changes, for pods that ask for the same.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/options.hpp>

#include "model/state.hpp"
#include "policy/devices/allocation/catalog.hpp"
#include "policy/devices/allocation/config.hpp"
#include "policy/devices/allocation/place.hpp"
#include "policy/devices/fit/quota.hpp"
#include "policy/devices/vendor/device.hpp"

namespace kaisched::policy {

/// One grant of a pod. `vendor` is the position in the catalog.
struct held_grant {
  std::size_t container = 0;
  bool init = false;
  std::size_t vendor = 0;
  devices::grant what;
};
/// What a pod holds on a node, and the pod as the rules of vendors see it.
struct held_devices {
  std::shared_ptr<const devices::pod> asking;
  std::vector<held_grant> grants;
};
using held_share = std::shared_ptr<const held_devices>;

class device_ledger {
 public:
  /// Nothing of it is used in `compat`, and without nodes that have such devices and pods that ask for some.
  result<void> open(const model::cluster_state& s, const policy_options& options,
                    std::shared_ptr<const device_catalog> catalog);
  [[nodiscard]] bool used() const { return used_; }
  /// Vendors' rules decide about a pod on some node: it names vendors, or asks for GPUs, which some nodes give by them.
  [[nodiscard]] bool concerns(const model::cluster_state& s, pod_row pod) const {
    return used_ && (s.class_of(pod).asks_vendors() || s.class_of(pod).wants_gpu());
  }

  /// What the node has is enough, with or without what is coming free. Always true where the node does not give the
  /// GPUs that a pod without vendors asks for.
  [[nodiscard]] bool fits(const model::cluster_state& s, pod_row pod, node_row row, bool at_once) const;
  /// Why it does not fit; empty if it does.
  [[nodiscard]] std::string_view reason(const model::cluster_state& s, pod_row pod, node_row row, bool at_once) const;
  /// The larger, the more the policy of nodes likes the node, which has room. 0 where vendors do not decide.
  [[nodiscard]] double score(const model::cluster_state& s, pod_row pod, node_row row) const;
  /// Texts of reasons and numbers of nodes, most nodes first.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint32_t>> reasons(const model::cluster_state& s,
                                                                           pod_row pod) const;

  /// The pod gets devices of the node: at once, or when those that leave are gone.
  void put(const model::cluster_state& s, pod_row pod, node_row row, bool at_once);
  /// Undoes `put`.
  void take(pod_row pod, node_row row);
  /// The pod leaves: what it holds is coming free.
  void release(pod_row pod, node_row row);
  /// Undoes `release`; `held`: the pod had started there.
  void hold_again(pod_row pod, node_row row, bool held);
  /// What the pod would hold again is still free, counting what is coming free.
  [[nodiscard]] bool can_hold_again(pod_row pod, node_row row) const;
  /// The pod has ended, and takes that back.
  void end(pod_row pod, node_row row);
  void revive(pod_row pod);

  /// What a pod has where it is going to be, as the column device_grants says it.
  [[nodiscard]] std::vector<std::string> grants_of(pod_row pod, node_row row) const;
  [[nodiscard]] bool has_devices(node_row row) const { return used_ && book_of_[row] != no_row; }
  /// Everything counted anew is what is counted, and no device gives more than it has; else what is wrong.
  [[nodiscard]] std::string fault() const;
  /// Text that is equal for equal states.
  [[nodiscard]] std::string digest() const;

 private:
  struct holding {
    pod_row pod = no_row;
    bool now = false;    ///< holds it
    bool later = false;  ///< still holds it when those that leave are gone
    held_share what;
    std::uint64_t since = 0;     ///< number of the change that put it there
    std::uint64_t released = 0;  ///< of the change that let it leave; 0: none
  };
  struct book {
    devices::node now;                            ///< with the larger of what is held and what will be
    devices::node later;                          ///< once those that leave are gone
    std::vector<devices::attributes> attributes;  ///< of the devices, without any pod
    devices::device_settings settings;
    std::size_t vendor = 0;  ///< of all its devices; `none`: there are several
    std::uint64_t now_version = 1;
    std::uint64_t later_version = 1;
    std::vector<holding> holdings;  ///< by pod, those that hold now first
  };
  /// What a pod of some kind would get.
  struct answer {
    std::uint64_t version = 0;  ///< of the node; 0: nothing is known
    std::uint64_t quotas = 0;
    bool fits = false;
    std::string reason;
    std::vector<held_grant> grants;
    double score = 0;
  };
  struct node_answers {
    answer now;
    answer later;
  };
  /// Pods that ask for the same. A pod without vendors asks every vendor for its GPUs, so there is one per vendor.
  struct kind {
    std::shared_ptr<const devices::pod> asking;  ///< null: it depends on the vendor of the node
    std::vector<std::pair<std::size_t, std::shared_ptr<const devices::pod>>> by_vendor;
    std::vector<node_answers> answers;  ///< by book; empty: nothing is known
  };
  struct ended_pod {
    node_row row = no_row;
    holding what;
  };

  static constexpr std::size_t none = static_cast<std::size_t>(-1);

  void open_node(const model::cluster_state& s, node_row row);
  void open_kinds(const model::cluster_state& s);
  void open_pods(const model::cluster_state& s);
  [[nodiscard]] std::shared_ptr<const devices::pod> native_pod(const model::pod_class& c, std::size_t vendor,
                                                               std::string_view space) const;
  [[nodiscard]] held_share told_grants(const model::cluster_state& s, pod_row pod, const book& at) const;
  [[nodiscard]] std::shared_ptr<const devices::pod> asking_at(pod_row pod, const book& at) const;
  /// Null where vendors do not decide.
  [[nodiscard]] const answer* answer_for(const model::cluster_state& s, pod_row pod, node_row row, bool at_once) const;
  void ask(pod_row pod, book& at, bool at_once, answer& to) const;
  [[nodiscard]] std::vector<held_grant> flat(const devices::pod& asking, const devices::pod_grants& grants) const;
  void add(book& to, holding what);
  void erase(book& from, std::vector<holding>::iterator at);
  /// What a pod holds is coming free, or no longer.
  void restate(book& of, holding& one, bool later);
  [[nodiscard]] static std::vector<holding>::iterator find_later(book& in, pod_row pod);
  [[nodiscard]] static std::vector<holding>::iterator find_leaving(book& in, pod_row pod, bool held);
  void count(book& of, bool later);
  static void join_later(devices::node& now, const devices::node& later);
  void count_into(devices::node& where, const book& of, bool now) const;
  void count_held(devices::node& where, const held_devices& held) const;
  void count_quota(const held_devices& what, bool now, std::int64_t sign);

  bool used_ = false;
  bool in_order_ = false;
  std::shared_ptr<const device_catalog> catalog_;
  devices::policy_levels levels_;
  std::vector<std::uint32_t> book_of_;  ///< by row; no_row: none
  mutable std::vector<book> books_;     ///< trials put their devices back
  mutable std::vector<kind> kinds_;     ///< with answers that are known
  std::vector<std::uint32_t> kind_of_;  ///< by pod slot; no_row: it asks for no devices
  devices::space_quotas quotas_now_;
  devices::space_quotas quotas_later_;
  std::uint64_t quota_version_ = 1;
  std::uint64_t changes_ = 0;
  std::map<pod_row, ended_pod> ended_;
};

}  // namespace kaisched::policy
