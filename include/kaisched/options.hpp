#pragma once
/// @file
/// Options describe themselves: the command line, the C interface, Python, validation and the documentation use one
/// list.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>

namespace kaisched {

/// Type of an option's value. Values travel as text; numbers in the C locale.
enum class option_type : std::uint8_t {
  boolean = 1,  ///< true or false
  integer = 2,
  number = 3,
  choice = 4,  ///< one of `choices`
  list = 5,    ///< names, separated by commas
};

/// What an option belongs to. Values are part of the ABI.
enum class option_target : std::uint8_t {
  engine = 1,   ///< `engine::set`
  cluster = 2,  ///< `cluster::set`
};

/// Describes one option.
struct option_info {
  std::string_view name;
  option_type type;
  std::string_view fallback;  ///< default of the preset `kai`, as text
  double least;               ///< bounds of numbers, inclusive
  double most;
  std::string_view choices;  ///< separated by blanks; empty if any text is allowed
  std::string_view doc;
  option_target applies_to = option_target::engine;
};

/// All options, by name.
[[nodiscard]] std::span<const option_info> option_list() noexcept;

/// How exactly decisions follow the reference of a preset.
enum class decision_mode : std::uint8_t {
  compat,  ///< as the reference: its floating-point expressions in their order, its defects included
  strict,  ///< exact arithmetic and the documented repairs
};

/// Placement strategy for one resource.
enum class placement_strategy : std::uint8_t {
  binpack,  ///< fill nodes that are already in use first
  spread,   ///< prefer the emptiest nodes
};

/// Whose promise of minimum runtime protects a victim of `reclaim`.
enum class runtime_resolution : std::uint8_t {
  lca,    ///< from the queue below the lowest one that victim and reclaimer share, upwards
  queue,  ///< from the victim's own queue upwards
};

/// How containers of a pod get vendor devices: all of them together, exactly; or one after the other with no way back,
/// as HAMi does.
enum class device_order_rule : std::uint8_t { together, in_order };

/// What the part `load` makes of measured utilisation.
enum class load_strategy : std::uint8_t {
  packing,  ///< up to a target the fuller node is the better one, beyond it the emptier one
  risk,     ///< the node with the least mean and variation
};

/// Which devices of a node a pod gets that asks for whole ones.
enum class device_choice : std::uint8_t {
  index,  ///< the lowest indices
  links,  ///< the set with the best links; a single device is the one that the others miss least
};

/// What a reservation of `backfill` holds.
enum class promise_kind : std::uint8_t {
  times,  ///< a time at which the group has a place, wherever it is
  nodes,  ///< whole nodes, from a time on for as long as the group is expected to run
};

/// What sessions verify of themselves while they run. They are never part of a decision or a digest.
enum class invariant_level : std::uint8_t {
  off,
  cheap,  ///< after every statement, what it has changed
  full,   ///< besides, everything counted again
};

/// In which sentences are told. They are never part of a decision or a digest.
enum class language : std::uint8_t { english, chinese };

/// The options in the form in which the engine uses them. `policy_options::set` is the only way from text.
struct policy_options {
  std::string preset = "kai-0.17-r2";
  decision_mode mode = decision_mode::strict;
  std::vector<std::string> actions = {"allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"};
  std::vector<std::string> parts;  ///< names of the parts of the policy, in order
  placement_strategy gpu_placement = placement_strategy::binpack;
  placement_strategy cpu_placement = placement_strategy::binpack;
  placement_strategy domain_placement = placement_strategy::binpack;  ///< of domains of a topology, in strict
  device_choice devices = device_choice::index;                       ///< in strict
  double fair_share_k = 1.0;               ///< weight of history in the division of over-quota resources
  double saturation_multiplier = 1.0;      ///< of a reclaimer's saturation, compared with that of its siblings
  std::int64_t allocate_queue_depth = 0;   ///< groups per queue that the action looks at; 0 = all
  std::int64_t backfill_reservations = 1;  ///< groups that wait for others to end and have a time; 0 = all
  promise_kind backfill_promises = promise_kind::times;
  std::int64_t backfill_window = 0;      ///< nanoseconds within which reservations begin; 0: no bound
  std::int64_t backfill_resolution = 0;  ///< nanoseconds, of promised nodes; 0: any time
  std::int64_t backfill_end_window = 0;  ///< nanoseconds after the first end, doubled step by step; 0: end by end
  std::int64_t backfill_groups = 0;      ///< groups looked at from the first that does not start on; 0 = all
  bool backfill_deadlines = false;       ///< groups with a deadline are promised times, or do not start
  bool one_order = false;                ///< groups of all queues are served in one order
  std::int64_t factor_age = 0;           ///< points of the part `multifactor`
  std::int64_t factor_fair_share = 0;
  std::int64_t factor_priority = 1;  ///< for each step
  std::int64_t factor_queue = 0;
  std::int64_t factor_size = 0;
  std::int64_t factor_cpu = 0;
  std::int64_t factor_memory = 0;
  std::int64_t factor_gpu = 0;
  std::int64_t factor_max_age = 604'800'000'000'000;  ///< nanoseconds
  bool factor_small_first = false;
  dimension factor_usage = dim_gpu;  ///< of weights and usage of queues
  std::int64_t consolidation_queue_depth = 0;
  std::int64_t reclaim_queue_depth = 0;
  std::int64_t preempt_queue_depth = 0;
  /// Groups that may be moved for one; `unlimited`, 0: no consolidation, `by_mode`: 16 in compat, all in strict.
  std::int64_t consolidation_victims = by_mode;
  static constexpr std::int64_t by_mode = -2;
  /// `strict`: `consolidation` may move more than the group asks for that the room is made for.
  bool consolidation_moves_more = false;
  std::int64_t min_runtime_reclaim = 0;  ///< nanoseconds, where no queue says otherwise
  std::int64_t min_runtime_preempt = 0;
  runtime_resolution min_runtime_from = runtime_resolution::lca;
  std::int64_t requeue_delay = 0;                 ///< nanoseconds, where no group says otherwise
  std::int64_t staleness_grace = 60'000'000'000;  ///< nanoseconds, where no group says otherwise; negative: for ever
  bool reclaim_moves = true;                      ///< victims of `reclaim` that find another place have lost nothing
  /// Of a search for victims, per group; `unlimited`, `by_mode`: 10,000 in compat, in strict 1,000 and 100 for each GPU
  /// that the group asks for.
  std::int64_t search_steps = by_mode;
  std::int64_t action_steps = 500'000;     ///< of all searches for victims in one action; `unlimited`
  std::int64_t session_steps = 1'000'000;  ///< of all searches for victims in one session; `unlimited`
  /// Nanoseconds after a long search that found nothing, see the option `search_backoff.time`; negative: 600 s.
  std::int64_t search_backoff_time = -1'000'000'000;
  std::int64_t search_backoff_steps = 100;            ///< of searches for the group until then; more are a long search
  std::int64_t topology_steps = 1000;                 ///< domains tried for one chunk in strict; `unlimited`
  bool repartition_drain = false;                     ///< `repartition` may move pods out of the way
  std::int64_t repartition_steps = 200'000;           ///< of the exact search for layouts, per group; `unlimited`
  std::int64_t resize_gain = 10;                      ///< percent more that pods must bring where they go
  std::int64_t resize_moves = 16;                     ///< groups that get pods of others in one session
  std::int64_t nomination_timeout = 600'000'000'000;  ///< nanoseconds; 0: places are not kept; negative: for ever
  std::int64_t most_evictions = 0;                    ///< of a group: after so many it loses no more pods; 0 = any
  bool evicted_groups_wait = false;                   ///< see the option `evicted_groups.wait`; `strict` only
  std::int64_t set_aside_cpu = 0;                     ///< milli-cores that stay free for each free GPU of a node
  std::int64_t set_aside_memory = 0;                  ///< bytes, likewise
  bool signatures = true;                   ///< groups like one that has just failed are not searched victims for
  bool respect_disruption_budgets = false;  ///< no more pods of a budget leave or move than it allows
  bool restrict_node_scheduling = false;    ///< GPU pods need a gpu-worker node, others a cpu-worker node
  bool numa_reconstruct = true;          ///< what zones have free follows from their pods, not from what nodes report
  std::vector<std::string> numa_ignore;  ///< resources that are not aligned
  load_strategy load = load_strategy::packing;
  std::int64_t load_target = 400;                                ///< per mille, of `packing`
  device_order_rule device_order = device_order_rule::together;  ///< of vendor devices
  std::vector<std::string> device_settings;                      ///< `setting=value` for all nodes
  std::vector<std::string> fgd_pods;  ///< classes of pods that `fgd` and `least_waste` expect; empty: of the cluster
  std::int64_t waste_reserve = 500;   ///< milli-GPU that `least_waste` gives to leave the largest nodes idle
  std::int64_t waste_scarcity = 100;  ///< percent of what others need of scarce nodes that counts for it
  std::vector<std::int64_t> las_limits{3250, 7200};  ///< GPU seconds, rising, of the part `las_2d`
  bool realistic_deadlines = false;                  ///< of the part `deadline`: who cannot keep one any more has none
  std::int64_t colocation_most = 1000;               ///< thousandths of a resource of a device, of `colocation`
  std::int64_t traffic_least = 1;                    ///< MB/s, from which on the part `traffic` puts pods together
  bool raw_scores = false;                           ///< parts that pack do not cut their scores to integers
  std::vector<std::string> kueue_settings;           ///< of the action `kueue`: `key=value`, `queue.NAME.key=value`
  std::vector<std::string> volcano_tiers;            ///< of the action `volcano`: plug-ins joined by `+`
  std::vector<std::string> volcano_actions;          ///< what it runs, in order
  std::vector<std::string> volcano_settings;         ///< `plugin.key=value`
  std::vector<std::string> yunikorn_settings;        ///< of the action `yunikorn`: `key=value` or `key@queue=value`
  invariant_level invariants = invariant_level::off;
  language text_language = language::english;
  bool reference_path = false;              ///< scan all nodes for every pod instead of using the indexes
  std::vector<std::string> hived_topology;  ///< of the action `hived`: whose domains are cells, one; empty: the primary
  std::vector<std::string> hived_owned_cells;  ///< `queue:level:count`; empty: by quota
  std::int64_t hived_opportunistic_below = 0;  ///< priority from which on groups are guaranteed their cells
  bool hived_lazy_preemption = false;          ///< a group that loses its cells goes on outside of them
  /// A sentence for each name of an earlier version that `set` was given, in the order of the calls, each once: it says
  /// the present name. No decision depends on them, and a preset keeps them.
  std::vector<std::string> warnings;

  /// Sets one option from text. The error names the option, what was expected and, for a wrong name, the nearest one.
  /// Names of options and actions of the version before are taken for the present ones, with a warning.
  result<void> set(std::string_view name, std::string_view value);
  /// Value of one option as text. Names of the version before are understood here too.
  [[nodiscard]] result<std::string> get(std::string_view name) const;
};

/// Options of a preset. Names with or without version: `kai` is `kai-0.17-r2`. A name of version 0.1, such as
/// `kai-0.17`, stands for the newest revision; `kai-0.17` with the action `allocate` alone, which was its default.
[[nodiscard]] result<policy_options> preset(std::string_view name);
/// Names of all presets, with versions.
[[nodiscard]] std::span<const std::string_view> preset_names() noexcept;

}  // namespace kaisched
