#pragma once
/// @file
/// What queues that take turns decide about: queues in a tree, applications, what they ask for, and nodes.
///
/// Source of the rules: apache/yunikorn-core, pkg/scheduler/objects. Everything is named by its place in a vector; ties
/// go to the name that sorts first. One thread at a time.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace kaisched::yunikorn {

using row = std::size_t;
/// The place of nothing.
inline constexpr row no_row = static_cast<row>(-1);

/// By dimension.
using amounts = std::vector<std::int64_t>;
/// In bounds: nothing is said about a dimension.
inline constexpr std::int64_t undefined = std::numeric_limits<std::int64_t>::min();
/// Amounts, some of which may be undefined.
using bounds = std::vector<std::int64_t>;

enum class app_order : std::uint8_t {
  fifo,  ///< the one that came first
  fair,  ///< the one with the least share of what its queue is guaranteed
};
enum class preemption_policy : std::uint8_t {
  open,      ///< pods may leave for anybody
  fence,     ///< pods below leave for nobody above, and those above for nobody below
  disabled,  ///< pods never leave
};

/// What users, or all users of a group together, may hold in a queue and below it.
struct user_limit {
  std::string user;  ///< `*`: each one that no other limit of the queue names
  bounds most;
  std::int64_t apps = undefined;  ///< that hold something
  bool of_group = false;          ///< `user` is a group of users
};

/// By what a queue is served.
struct queue_rules {
  app_order apps = app_order::fifo;
  bool priority_first = true;        ///< among what is below it priority comes before share and age
  std::int64_t priority_offset = 0;  ///< added to the priorities of what is below, as others see them
  bool priority_fence = false;       ///< others see the offset alone
  preemption_policy preemption = preemption_policy::open;
  std::int64_t preemption_delay = 0;   ///< ns that a pod waits before others leave for it
  std::int64_t most_apps = undefined;  ///< that hold something
  std::vector<user_limit> limits;
};

struct queue_state {
  std::string name;
  row parent = no_row;
  std::vector<row> children;
  std::vector<row> apps;
  bounds guaranteed;
  bounds most;
  queue_rules rules;
  // Kept by the books.
  amounts used;
  amounts pending;
  std::int64_t apps_running = 0;
};

enum class ask_status : std::uint8_t {
  pending,
  held,     ///< has a node, and the gang is not complete
  started,  ///< by this session
  running,
  leaving,  ///< for another one
  gated,    ///< waits and may not be tried
};

/// What a pod asks for, or holds.
struct ask_state {
  std::string name;
  row app = no_row;
  row set = no_row;   ///< of the application
  row kind = no_row;  ///< asks of one kind ask for the same and are refused by the same nodes
  std::int64_t priority = 0;
  std::int64_t created = 0;  ///< ns
  ask_status status = ask_status::pending;
  row node = no_row;
  bool is_originator = false;     ///< of its application: the last to leave
  bool allows_preemption = true;  ///< others leave before those that do not
  bool protected_always = false;  ///< never leaves
  bool waits = false;             ///< started on what others leave
};

/// Pods of an application of which so many start together.
struct gang_set {
  std::int64_t min = 0;
  std::int64_t active = 0;  ///< pods that hold something, be it for the gang
};

struct app_state {
  std::string name;
  std::string user;
  row queue = no_row;
  std::int64_t created = 0;  ///< ns
  std::vector<gang_set> sets;
  std::vector<row> asks;  ///< those that wait by priority, age and name; then the others
  amounts used;
  bool runs = false;  ///< holds something
};

/// What asks of one kind ask for, and which nodes never take them.
struct kind_state {
  amounts request;
  std::shared_ptr<const std::vector<bool>> refused;  ///< by node; null: none
  amounts leaves;  ///< by dimension: what they leave for each free GPU of a node; empty: nothing
};

struct node_state {
  std::string name;
  amounts total;
  amounts available;
  amounts coming;             ///< what is being released; empty: nothing
  row reserved_for = no_row;  ///< an ask
};

/// How nodes are ordered.
struct node_order {
  bool packs = false;           ///< the fullest first
  std::vector<double> weights;  ///< by dimension
};

/// Users that limits count together.
struct user_group {
  std::string name;
  std::vector<std::string> users;
};

struct cluster_state {
  std::vector<user_group> user_groups;
  std::vector<queue_state> queues;  ///< the first is the top of the tree; those above come before those below
  std::vector<app_state> apps;
  std::vector<ask_state> asks;
  std::vector<kind_state> kinds;
  std::vector<node_state> nodes;
  std::vector<double> unit;  ///< by dimension: what counts as one where an amount stands for itself
  node_order order;
  bool preempts = true;
  std::int64_t reservation_delay = 0;  ///< ns that a pod waits before it keeps a node; negative: none does
  std::int64_t now = 0;

  [[nodiscard]] const amounts& request(row ask) const { return kinds[asks[ask].kind].request; }
  /// How long an ask has waited, in ns; at most as much as a number holds.
  [[nodiscard]] std::int64_t age(row ask) const;
  [[nodiscard]] const queue_state& queue_of(row ask) const { return queues[apps[asks[ask].app].queue]; }
};

/// A node keeps enough for its free GPUs if such an ask takes its part of what is available there.
[[nodiscard]] bool leaves_enough(const kind_state& kind, const amounts& available);

/// By place, the ranks of things by their names, from 0.
template <class Things>
[[nodiscard]] std::vector<std::uint32_t> name_ranks(const Things& things) {
  std::vector<row> sorted(things.size());
  std::iota(sorted.begin(), sorted.end(), row{0});
  std::ranges::sort(sorted, {}, [&](row one) -> const std::string& { return things[one].name; });
  std::vector<std::uint32_t> ranks(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) ranks[sorted[i]] = static_cast<std::uint32_t>(i);
  return ranks;
}

// ---- amounts
/// What is asked for is there; what is overdrawn counts as nothing.
[[nodiscard]] bool fits(const amounts& request, const amounts& available);
void add(amounts& to, const amounts& what);
void subtract(amounts& from, const amounts& what);
/// Nothing is defined.
[[nodiscard]] bool says_nothing(const bounds& of);
/// The smaller one where both say something, else the one that does.
[[nodiscard]] bounds least_of(bounds one, const bounds& other);

}  // namespace kaisched::yunikorn
