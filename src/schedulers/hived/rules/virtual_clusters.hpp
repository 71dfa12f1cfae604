#pragma once
/// @file
/// Virtual clusters own cells at levels, and whatever the others do each can use its cells as if it were alone.
///
/// Source: microsoft/hivedscheduler, pkg/algorithm. A group that is guaranteed is placed in the cells that its virtual
/// cluster owns: these are virtual, and where they are in the cluster is found when the first GPU of one is used, by
/// buddy allocation. Other groups are opportunistic: they use whatever GPUs nobody uses, and leave when a cell is
/// needed. What a virtual cluster decides depends on its own groups, on nodes that fail and on those that pods may not
/// use, on nothing else.

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/cell_place.hpp"
#include "schedulers/hived/rules/buddies.hpp"
#include "schedulers/hived/rules/layout.hpp"
#include "schedulers/hived/rules/packing.hpp"

namespace kaisched::hived {

/// Cells that a virtual cluster owns, by chain and level.
using cell_counts = std::vector<std::vector<std::uint32_t>>;

struct gpu_ref {
  number chain = nothing;
  number gpu = nothing;
};

using model::cell_place;

/// A group of pods that start together.
struct request {
  number cluster = nothing;
  bool guaranteed = true;
  std::int64_t priority = 0;
  std::vector<std::uint32_t> pods;                   ///< GPUs of each, at least one
  std::string_view within;                           ///< all in one cell of this level; empty: anywhere
  const std::vector<std::uint8_t>* nodes = nullptr;  ///< by row, those that the pods may use; null: all
};

/// GPUs of one pod: where they are, and, in the same order, their numbers in the chain of the virtual cluster.
struct pod_gpus {
  std::vector<number> gpus;
  std::vector<number> virtual_gpus;  ///< empty: opportunistic
};
struct placement {
  number chain = nothing;
  std::vector<pod_gpus> pods;
};

/// Why a request has no place.
enum class refusal : std::uint8_t {
  none,
  cells,  ///< what its virtual cluster owns is not enough
  nodes,  ///< nodes have failed, or may not be used
};

/// Who holds GPUs.
struct group_facts {
  number cluster = nothing;
  std::int64_t priority = 0;
  bool fixed = false;  ///< it does not leave for others
};

/// What is missing: cells of a level, of which some are free.
struct cell_shortage {
  std::string level;
  std::uint32_t need = 0;
  std::uint32_t have = 0;
};

class virtual_clusters {
 public:
  /// @param owned by virtual cluster; all cells together must be there.
  virtual_clusters(std::vector<chain> chains, const std::vector<cell_counts>& owned);

  [[nodiscard]] const std::vector<chain>& chains() const { return chains_; }
  [[nodiscard]] std::optional<gpu_ref> find(node_row node, std::uint32_t device) const;

  // ---- as the cluster is, in this order
  /// Nobody can have the GPU: it or its node has failed, or somebody has it who does not leave.
  void spoil(gpu_ref gpu);
  /// Somebody is leaving the GPU.
  void vacate(gpu_ref gpu);
  struct held_pod {
    std::vector<gpu_ref> gpus;
    std::optional<cell_place> told;  ///< in the order of the GPUs
  };
  /// The group runs in cells of its virtual cluster: where its pods were told, else (hosts may name other GPUs of a
  /// node) anywhere in these cells, else in the smallest that are free. False, and nothing has changed, if these are
  /// not to be had.
  [[nodiscard]] bool hold(number group, const group_facts& facts, std::span<const held_pod> pods);
  /// The group runs outside of cells.
  void hold_anyway(number group, const group_facts& facts, std::span<const held_pod> pods);
  /// The group runs outside of cells, and so do those of its pods that are still to come.
  [[nodiscard]] bool is_guest(number group) const;
  /// Everybody is there: virtual clusters see which of their cells have failed.
  void settle();

  // ---- decisions
  [[nodiscard]] std::optional<placement> place(const request& asked, refusal& why);
  [[nodiscard]] cell_shortage shortage_of(const request& asked) const;
  /// Groups that have to leave first, by number.
  [[nodiscard]] std::vector<number> victims(const placement& at) const;
  /// Somebody is leaving some of the GPUs, or has to.
  [[nodiscard]] bool must_wait(const placement& at) const;
  void take(number group, const group_facts& facts, const placement& at);
  /// The group leaves its GPUs.
  void release(number group);
  /// The group goes on where it is, outside of cells: these are free for its virtual cluster.
  void downgrade(number group);
  /// Groups of the virtual cluster that a request could take cells from, which are on these GPUs.
  [[nodiscard]] std::vector<number> own_victims(const placement& at, number cluster) const;
  [[nodiscard]] std::optional<cell_place> told(const placement& at, std::size_t pod, number cluster) const;

  /// All cells that virtual clusters own and do not use can be had.
  [[nodiscard]] bool is_safe() const;
  /// Of the cells that a virtual cluster owns at a level, how many no group of it uses.
  [[nodiscard]] std::uint32_t unused(number cluster, number chain, level l) const;

 private:
  /// What is on a GPU.
  struct gpu_state {
    number group = nothing;
    bool bad = false;
    bool leaving = false;
    [[nodiscard]] bool is_free() const { return group == nothing && !bad && !leaving; }
  };
  /// The cell of a virtual cluster that a cell is.
  struct virtual_ref {
    number cluster = nothing;
    number cell = nothing;
  };
  struct physical_chain {
    std::vector<gpu_state> gpus;
    std::vector<std::vector<virtual_ref>> bound;       ///< by level and cell
    std::vector<std::vector<std::uint32_t>> bad;       ///< GPUs, by level and cell
    std::vector<std::vector<std::uint32_t>> occupied;  ///< GPUs that somebody would have to leave, likewise
    std::vector<std::uint32_t> free;                   ///< GPUs, by node
    std::vector<std::uint32_t> guaranteed;             ///< GPUs, by node
    std::vector<std::uint32_t> reserved;               ///< cells that are owned and not bound, by level
    buddies free_cells;
    std::uint32_t bad_gpus = 0;
    node_order order;  ///< nodes as groups outside of cells see them
  };
  /// One cell that is owned.
  struct owned_cell {
    level at = 0;
    number first = 0;   ///< its first GPU
    number serial = 0;  ///< among those of its level
  };
  /// A node, or a cell that is less than one.
  struct view_cell {
    level at = 0;
    number cell = 0;
    number owner = 0;  ///< the owned cell
    std::uint32_t free = 0;
    std::uint32_t used = 0;
  };
  struct virtual_chain {
    std::vector<owned_cell> cells;           ///< the largest first
    std::vector<number> owner;               ///< by GPU: its owned cell
    std::vector<number> view_of;             ///< by GPU: its node
    std::vector<std::vector<number>> bound;  ///< by level and cell: where it is, or `nothing`
    std::vector<number> holder;              ///< by GPU: a group, or `nothing`
    std::vector<std::uint8_t> bad;           ///< by GPU
    std::vector<view_cell> view;
    node_order order;  ///< of the view

    void change_view(number i, std::int32_t free, std::int32_t used);
  };
  struct held_gpu {
    gpu_ref at;
    number virtual_gpu = nothing;
  };
  struct group_state {
    group_facts facts;
    bool guaranteed = false;
    std::vector<held_gpu> gpus;
  };

  class matcher;

  [[nodiscard]] virtual_chain& virtual_of(number cluster, number chain) { return clusters_[cluster][chain]; }
  [[nodiscard]] const virtual_chain& virtual_of(number cluster, number chain) const {
    return clusters_[cluster][chain];
  }
  [[nodiscard]] bool may_use(const request& asked, number chain, level at, number cell) const;
  [[nodiscard]] bool gives_way(number group, std::int64_t priority) const { return yields_[group] < priority; }

  [[nodiscard]] bool bind(number cluster, number chain, number virtual_gpu, number gpu);
  [[nodiscard]] bool bind_told(number cluster, const held_pod& pod, std::vector<held_gpu>& to);
  [[nodiscard]] number told_owner(number cluster, const held_pod& pod) const;
  [[nodiscard]] bool bind_in(number cluster, const held_pod& pod, number owner, std::vector<held_gpu>& to);
  [[nodiscard]] bool bind_near(number cluster, const held_pod& pod, std::vector<held_gpu>& to);
  [[nodiscard]] number first_unbound(number cluster, number chain, level at) const;
  [[nodiscard]] number virtual_below(number cluster, number chain, level top, number gpu) const;
  void rebuild(number cluster, number chain, number owner);
  void show_bad(number cluster, number chain, level at, number virtual_cell, number cell);
  void show_doomed(number cluster, number chain);
  void charge_virtual(number cluster, const held_gpu& gpu, number group);
  void charge(number chain, number gpu, number group, bool guaranteed);
  void discharge(number chain, number gpu, bool leaves);
  void count_occupied(number chain, number gpu, bool more);
  void show_node(number chain, number gpu);
  void put(number group, const group_facts& facts, bool guaranteed, std::vector<held_gpu> gpus);
  void leave_cells(group_state& of);

  [[nodiscard]] std::optional<std::vector<std::vector<number>>> pack(const request& asked, number chain,
                                                                     bool takes) const;
  [[nodiscard]] std::optional<std::vector<number>> pick(const request& asked, number chain, bool takes) const;
  [[nodiscard]] std::optional<std::vector<number>> pick_outside(const request& asked, number chain) const;
  [[nodiscard]] std::optional<placement> place_guaranteed(const request& asked, number chain, refusal& why);
  [[nodiscard]] std::optional<placement> place_outside(const request& asked, number chain) const;

  std::vector<chain> chains_;
  std::map<std::pair<node_row, std::uint32_t>, gpu_ref> places_;
  std::vector<physical_chain> physical_;
  std::vector<std::vector<virtual_chain>> clusters_;  ///< by cluster and chain
  std::map<number, group_state> groups_;
  static constexpr std::int64_t never_yields = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> yields_;  ///< by group: to those of higher priority than this
};

}  // namespace kaisched::hived
