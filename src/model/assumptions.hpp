#pragma once
/// @file
/// Decisions that a cluster has taken in and nobody has reported on. Everything that they change is a delta like those
/// of the host; what is kept here is how to go back.

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/assumption.hpp>
#include <kaisched/table.hpp>

#include "model/state.hpp"
#include "model/writer.hpp"

namespace kaisched::model {

/// A decision to take in.
struct tentative {
  pod_row pod = no_row;
  decision_kind kind = decision_kind::bind;  ///< bind, evict, move or migrate
  std::uint32_t node = no_row;               ///< slot of the target; for evict and move of the node that it leaves
  std::uint64_t devices = 0;
  std::uint64_t zones = 0;
  std::vector<std::string> grants{};  ///< of vendor devices
  std::uint32_t commit = 0;           ///< of the session
};

/// What becomes of a group at the same time.
struct tentative_group {
  group_row group = no_row;
  bool starts = false;  ///< it had not started before
  bool is_evicted = false;
};

/// What becomes of a claim at the same time.
struct tentative_claim {
  std::string name;
  std::vector<std::string> devices;
  std::vector<std::string> results;
  std::string node;
  std::vector<pod_row> users;  ///< that are new
};

/// A place that is kept for a pod from now on, or none any more.
struct tentative_nomination {
  pod_row pod = no_row;
  std::uint32_t node = no_row;  ///< slot
  std::uint32_t commit = 0;     ///< of the session
};

struct tentative_set {
  std::vector<tentative> pods;  ///< each at most once
  std::vector<tentative_nomination> nominations;
  std::vector<tentative_group> groups;
  std::vector<tentative_claim> claims;
  std::vector<std::pair<group_row, std::int64_t>> searched;  ///< what the column becomes
  std::int64_t now = 0;
};

/// What a host reports.
enum class report_kind : std::uint8_t { done, failed, lost };

/// Name of what holds the new place of a migrating pod.
[[nodiscard]] std::string stand_in_name(std::string_view pod);

class assumptions {
 public:
  /// What a change of the cluster does to the open decisions.
  struct step;

  /// The pod has an open decision, and the host has not told otherwise since.
  [[nodiscard]] bool is_open(const cluster_state& s, entity_id pod) const;
  /// A pod of the group is migrating.
  [[nodiscard]] bool migrates(const cluster_state& s, entity_id group) const;
  /// Some pod holds a place through a stand-in.
  [[nodiscard]] bool has_stand_ins() const { return stand_ins_ > 0; }
  [[nodiscard]] std::vector<assumption> list(const cluster_state& s) const;

  /// Each gives tables for the cluster to take; `finish` comes after that. Decisions that the host has overtaken end.
  [[nodiscard]] step take(const cluster_state& s, const name_maps& names, const tentative_set& what) const;
  [[nodiscard]] step report(const cluster_state& s, const name_maps& names, std::span<const entity_id> pods,
                            report_kind outcome) const;
  [[nodiscard]] step follow_host(const cluster_state& s) const;
  void finish(step done, const cluster_state& s, const name_maps& names) noexcept;

 private:
  [[nodiscard]] step complete(step made) const;
  /// Of one commit that was taken in.
  using commit_number = std::uint64_t;
  /// A place that is kept because of a commit: if what leaves for it stays, it is kept no more.
  struct nomination {
    entity_id pod{};
    std::uint32_t before = no_row;  ///< slot of a node
    std::int64_t since_before = unset;
    std::uint32_t now = no_row;
  };
  struct entry {
    tentative what{};
    commit_number commit = 0;
    entity_id group{};
    entity_id node{};
    pod_status before = pod_status::pending;
    std::uint32_t node_before = no_row;  ///< slot
    std::string stand_in{};              ///< of a migrating pod
    entity_id stand_in_pod{};
    std::vector<std::pair<std::string, bool>> claims{};  ///< that it uses, and whether it was no user before
    bool lost = false;
  };
  using times = std::array<std::int64_t, 3>;  ///< last start, last eviction, evictions
  struct group_entry {
    times before{};
    times now{};
    std::uint32_t open = 0;
    bool happened = false;  ///< some of what was decided on its pods, as far as anybody knows
  };

  [[nodiscard]] static bool holds(const cluster_state& s, entity_id pod, const entry& e);
  void close_groups(const cluster_state& s, step& to) const;
  /// Places that were kept because of a commit, as they were before; each commit once.
  [[nodiscard]] std::vector<nomination> given_up(const cluster_state& s, commit_number commit, step& to) const;
  [[nodiscard]] group_entry& touch(const cluster_state& s, entity_id group, step& to) const;

  std::map<entity_id, entry> open_;
  std::map<entity_id, group_entry> groups_;  ///< of these
  std::size_t stand_ins_ = 0;
  std::map<commit_number, std::vector<nomination>> nominations_;  ///< of commits of which something is open
  std::uint64_t taken_ = 0;                                       ///< how often sessions have been taken in
  /// Claims that have their devices through open decisions, and these devices, as a row of a string list.
  std::map<std::string, std::string, std::less<>> new_claims_;
};

struct assumptions::step {
  std::vector<table> tables;
  std::map<entity_id, entry> open;  ///< new or changed
  std::vector<entity_id> closed;
  std::map<entity_id, group_entry> groups;  ///< new or changed
  std::vector<entity_id> closed_groups;
  std::map<commit_number, std::vector<nomination>> nominations;  ///< new
  std::vector<commit_number> ended_nominations;
  std::map<std::string, std::string, std::less<>> new_claims;
  std::vector<std::string> closed_claims;
  std::vector<commit_number> open_commits;  ///< empty, with room for all that can be open: `finish` asks for no memory
};

}  // namespace kaisched::model
