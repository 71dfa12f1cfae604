#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <kaisched/options.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/table.hpp>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "engine/option_entry.hpp"
#include "engine/preset_choices.hpp"
#include "engine/presets.hpp"
#include "model/vendor_devices.hpp"
#include "policy/placement/expected_pods.hpp"
#include "schedulers/hived/rules/ownership.hpp"
#include "session/old_names.hpp"

namespace kaisched {

namespace {

using namespace engine_detail;

result<void> check_device_settings(const std::vector<std::string>& settings) {
  const auto good = model::parse_vendor_settings(join_list(settings));
  if (!good) return error{status::argument, "option devices.settings: " + good.failure().message, {}};
  return {};
}

result<void> check_typical_pods(const std::vector<std::string>& pods) {
  for (const std::string& one : pods) {
    const auto good = policy::parse_typical_pod(one);
    if (!good) return error{status::argument, "option fgd.pods: " + good.failure().message, {}};
  }
  return {};
}

result<void> check_owned_cells(const std::vector<std::string>& owned) {
  for (const std::string& one : owned) {
    if (const auto good = hived::parse_ownership(one); !good) return good.failure();
  }
  return {};
}

constexpr option_entry actions_option(std::string_view name, std::string_view fallback, std::string_view doc) {
  option_entry made = names<&policy_options::actions>(name, fallback, doc);
  made.set = [](policy_options& target, const option_info&, std::string_view value) -> result<void> {
    target.actions = base::split_names(value);
    session_detail::update_actions(target.actions, target.warnings);
    return {};
  };
  return made;
}

/// The preset's options take the place of all others.
constexpr option_entry preset_option(std::string_view name, std::string_view fallback, std::string_view choices,
                                     std::string_view doc) {
  return {{name, option_type::choice, fallback, 0, 0, choices, doc},
          [](policy_options& target, const option_info& info, std::string_view value) -> result<void> {
            const result<std::size_t> known = parse_choice(info, newest_revision(value));
            if (!known) return known.failure();
            result<policy_options> fresh = kaisched::preset(value);
            if (!fresh) return fresh.failure();
            fresh->warnings = std::move(target.warnings);
            target = std::move(*fresh);
            return {};
          },
          [](const policy_options& from, const option_info&) { return from.preset; }};
}

/// Integers that rise.
constexpr option_entry limits_option(std::string_view name, std::string_view fallback, std::string_view doc) {
  return {{name, option_type::list, fallback, 0, 0, "", doc},
          [](policy_options& target, const option_info& info, std::string_view value) -> result<void> {
            std::vector<std::int64_t> limits;
            for (const std::string& text : base::split_names(value)) {
              std::int64_t limit = 0;
              const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), limit);
              const std::int64_t least = limits.empty() ? 1 : limits.back() + 1;
              if (failure != std::errc{} || end != text.data() + text.size() || limit < least || limit > max_amount) {
                return bad_value(info.name, text,
                                 "an integer from " + std::to_string(least) + " to " + std::to_string(max_amount));
              }
              limits.push_back(limit);
            }
            target.las_limits = std::move(limits);
            return {};
          },
          [](const policy_options& from, const option_info&) {
            std::vector<std::string> limits;
            for (const std::int64_t limit : from.las_limits) limits.push_back(std::to_string(limit));
            return join_names(limits);
          }};
}

/// Every option, by name. A new one is an entry here and a member of `policy_options`.
constexpr std::array entries{
    integer<&policy_options::action_steps>(
        "action_steps", "500000", -1, 1e15,
        "steps of all searches for victims of one action, counted like search_steps; -1: no limit"),
    actions_option("actions", "allocate,consolidation,reclaim,preempt,stalegangeviction",
                   "actions that a session runs, in order"),
    flag<&policy_options::backfill_deadlines>(
        "backfill.deadlines", "false",
        "backfill promises groups with a deadline their times before all others start, the oldest group first; "
        "one that would end after its deadline does not start"),
    seconds<&policy_options::backfill_end_window>(
        "backfill.end_window", "0", 0, 1e9,
        "seconds: with backfill.promises=nodes, ends that come at most as long after the first are looked at "
        "together, those up to twice as long after it next, and so on; 0: each for itself"),
    integer<&policy_options::backfill_groups>(
        "backfill.groups", "0", 0, 1e9,
        "groups that backfill looks at, from the first that does not start on; 0 is all"),
    choice<&policy_options::backfill_promises, promise_kind::nodes, promise_kind::times>(
        "backfill.promises", "times", "nodes times",
        "what a reservation holds: a time at which there is a place, or whole nodes from then on for as long "
        "as the group is expected to run"),
    integer<&policy_options::backfill_reservations>(
        "backfill.reservations", "1", 0, 1e9,
        "groups that wait for others to end and get a time that no group behind them may delay: 1 is EASY "
        "backfill, 0 all (conservative backfill)"),
    seconds<&policy_options::backfill_resolution>(
        "backfill.resolution", "0", 0, 1e9,
        "seconds: with backfill.promises=nodes, promises begin and end at multiples of it, rounded down; 0: at "
        "any time"),
    seconds<&policy_options::backfill_window>(
        "backfill.window", "0", 0, 1e9,
        "seconds from now on within which reservations begin; who would begin later has none; 0: no bound"),
    integer<&policy_options::colocation_most>(
        "colocation.most", "1000", 1, 1e6,
        "of the part colocation: thousandths of each resource of a device that pods which share it may put on it "
        "together"),
    integer<&policy_options::consolidation_victims>(
        "consolidation.max_victims", "-2", -2, 1e9,
        "pod groups that consolidation may move for one group; -1 is all, 0 switches the action off, -2 is 16 "
        "in compat and all in strict"),
    flag<&policy_options::consolidation_moves_more>(
        "consolidation.moves_more", "false",
        "in strict, consolidation may move more GPUs for a group than the group asks for"),
    flag<&policy_options::realistic_deadlines>(
        "deadline.realistic", "false",
        "of the part deadline: groups that cannot end in time any more, by what is left of their run times, "
        "stand with those that have no deadline"),
    choice<&policy_options::devices, device_choice::index, device_choice::links>(
        "devices.choice", "index", "index links",
        "in strict, which devices a pod gets that asks for whole ones: the lowest indices, or those with the "
        "best links; a single device is the one that the others miss least"),
    choice<&policy_options::device_order, device_order_rule::in_order, device_order_rule::together>(
        "devices.order", "together", "in_order together",
        "how containers of a pod get vendor_devices of a node: all together, wherever an assignment exists, or "
        "one after the other as HAMi does"),
    names<&policy_options::device_settings, check_device_settings>(
        "devices.settings", "",
        "setting=value for vendor_devices of all nodes: node_policy, device_policy, mode, slots, "
        "memory_permille, core_permille, soft_division, weights=slot:core:memory"),
    flag<&policy_options::evicted_groups_wait>(
        "evicted_groups.wait", "false",
        "in strict a group that was evicted evicts others only after another group has been created since"),
    names<&policy_options::fgd_pods, check_typical_pods>(
        "fgd.pods", "",
        "classes of pods that fgd and least_waste expect, as "
        "cpu=3000:gpus=1:share=500:where=label=A|B:weight=2 with cpu "
        "in milli-cores and share in milli-GPU; without them those of the pods of the cluster"),
    flag<&policy_options::hived_lazy_preemption>(
        "hived.lazy_preemption", "false",
        "of the action hived: who loses his cells to a higher priority of his queue goes on outside of them, "
        "until others need the GPUs"),
    integer<&policy_options::hived_opportunistic_below>(
        "hived.opportunistic_below", "0", -1e15, 1e15,
        "of the action hived: preemptible groups of a lower priority use what is idle and leave when cells are "
        "needed; all others are guaranteed the cells of their queue"),
    names<&policy_options::hived_owned_cells, check_owned_cells>(
        "hived.owned_cells", "",
        "of the action hived: cells that leaf queues own, queue:level:count or queue:level:count:product; "
        "without any each owns what its GPU quota is worth, the largest cells first"),
    names<&policy_options::hived_topology>(
        "hived.topology", "",
        "of the action hived: the topology whose domains are cells; without it the primary one, or the first "
        "by name"),
    choice<&policy_options::invariants, invariant_level::cheap, invariant_level::full, invariant_level::off>(
        "invariants", "off", "cheap full off",
        "what sessions verify of themselves: cheap, what every committed statement has changed; full, "
        "everything counted again as well; what is wrong is an error, and no decision depends on it"),
    names<&policy_options::kueue_settings>(
        "kueue.settings", "", "of the action kueue: key=value for all queues, queue.NAME.key=value for one"),
    choice<&policy_options::text_language, language::english, language::chinese>(
        "language", "en", "en zh",
        "language of the sentences in reasons and explanations: English or Chinese; no decision depends on it"),
    limits_option("las_2d.limits", "3250,7200",
                  "GPU seconds, rising: a group that has had as many waits in the next queue of the part las_2d"),
    integer<&policy_options::waste_reserve>(
        "least_waste.reserve", "500", 0, 8000,
        "milli-GPU that the part least_waste gives away to leave an idle node alone, the largest of the cluster; "
        "less for smaller ones"),
    integer<&policy_options::waste_scarcity>(
        "least_waste.scarcity", "100", 0, 1000,
        "of the part least_waste: percent of what pods that may not use all nodes are expected to need of a "
        "node that count against others"),
    choice<&policy_options::load, load_strategy::packing, load_strategy::risk>(
        "load.strategy", "packing", "packing risk",
        "of the part load: fill nodes up to a target, or prefer those with the least mean and variation"),
    integer<&policy_options::load_target>("load.target", "400", 1, 999,
                                          "utilisation in per mille up to which packing fills a node"),
    choice<&policy_options::min_runtime_from, runtime_resolution::lca, runtime_resolution::queue>(
        "min_runtime.from", "lca", "lca queue",
        "where the minimum runtime of a victim of reclaim is looked for: below the lowest queue that both "
        "share, or from its own queue upwards"),
    seconds<&policy_options::min_runtime_preempt>(
        "min_runtime.preempt", "0", 0, 1e9,
        "seconds for which a started group is not preempted, where no queue says otherwise"),
    seconds<&policy_options::min_runtime_reclaim>(
        "min_runtime.reclaim", "0", 0, 1e9,
        "seconds for which a started group is not reclaimed, where no queue says otherwise"),
    choice<&policy_options::mode, decision_mode::compat, decision_mode::strict>(
        "mode", "strict", "compat strict",
        "compat: as the reference, floating point and defects included; strict: exact arithmetic and the "
        "documented repairs"),
    integer<&policy_options::factor_age>(
        "multifactor.age", "0", 0, 4294967295.0,
        "of the part multifactor: points for having waited for multifactor.max_age or longer, in proportion "
        "for less"),
    integer<&policy_options::factor_cpu>(
        "multifactor.cpu", "0", 0, 4294967295.0,
        "the same: points for asking for all cpu of the cluster, in proportion for less"),
    integer<&policy_options::factor_fair_share>(
        "multifactor.fair_share", "0", 0, 4294967295.0,
        "the same: points for being in the queue that has used least of its share, by Fair Tree"),
    integer<&policy_options::factor_gpu>(
        "multifactor.gpu", "0", 0, 4294967295.0,
        "the same: points for asking for all GPUs of the cluster, in proportion for less"),
    seconds<&policy_options::factor_max_age>("multifactor.max_age", "604800", 1, 1e9,
                                             "seconds after which waiting longer adds no more points"),
    integer<&policy_options::factor_memory>(
        "multifactor.memory", "0", 0, 4294967295.0,
        "the same: points for asking for all memory of the cluster, in proportion for less"),
    integer<&policy_options::factor_priority>("multifactor.priority", "1", 0, 1e9,
                                              "the same: points for each step of the group's priority"),
    integer<&policy_options::factor_queue>(
        "multifactor.queue", "0", 0, 4294967295.0,
        "the same: points for being in the queue of the highest priority, in proportion for less"),
    integer<&policy_options::factor_size>(
        "multifactor.size", "0", 0, 4294967295.0,
        "the same: points for as many pods as nodes and all cpu, in proportion for less"),
    flag<&policy_options::factor_small_first>("multifactor.small_first", "false",
                                              "multifactor.size is for small groups, not for large ones"),
    choice<&policy_options::factor_usage, dim_cpu, dim_gpu, dim_memory>(
        "multifactor.usage", "gpu", "cpu gpu memory",
        "whose over-quota weights and usage of queues multifactor.fair_share looks at"),
    seconds<&policy_options::nomination_timeout>(
        "nominations.timeout", "600", -1, 1e9,
        "seconds for which room that was freed for a pod is kept for it, from one session to the next; 0: it is "
        "not kept; negative: without end. compat does not keep it"),
    names<&policy_options::numa_ignore>(
        "numa.ignore", "", "resources that the part numa does not align, whatever the zones of nodes report"),
    flag<&policy_options::numa_reconstruct>(
        "numa.reconstruct", "true",
        "what NUMA zones have free is their capacity without the pods that are known to be there; else it is "
        "what nodes report"),
    option_entry{
        {"on_invalid", option_type::choice, "reject", 0, 0, "reject quarantine",
         "what a cluster does about a bad row: reject the whole delta, or leave out the row and what depends on it",
         option_target::cluster},
        nullptr,
        nullptr},
    flag<&policy_options::one_order>(
        "one_order", "false",
        "groups of all queues are served in one order, by their own keys; else queues are chosen first"),
    choice<&policy_options::raw_scores, false, true>(
        "packing.scores", "integer", "integer raw",
        "of the parts fgd, least_waste, dot_product, best_fit, gpu_packing and gpu_clustering: cut to integers "
        "from 0 to 100, "
        "so that nodes tie and the name decides, or as computed"),
    names<&policy_options::parts>(
        "parts", kai_parts, "parts of the policy, in order; scores are summed and groups are ordered in this order"),
    choice<&policy_options::cpu_placement, placement_strategy::binpack, placement_strategy::spread>(
        "placement.cpu", "binpack", "binpack spread", "placement of pods without GPUs, by free CPU"),
    choice<&policy_options::domain_placement, placement_strategy::binpack, placement_strategy::spread>(
        "placement.domain", "binpack", "binpack spread",
        "in strict, which domain of a topology is tried first: the one with the least that is free, or the most"),
    choice<&policy_options::gpu_placement, placement_strategy::binpack, placement_strategy::spread>(
        "placement.gpu", "binpack", "binpack spread", "placement of pods with GPUs, by free GPUs"),
    preset_option("preset", "kai-0.17-r2", preset_choices, "bundle of options; setting it resets all others"),
    real<&policy_options::fair_share_k>("proportion.k", "1", 0, 1e6,
                                        "weight of historical usage in the division of over-quota resources"),
    integer<&policy_options::allocate_queue_depth>("queue_depth.allocate", "0", 0, 1e9,
                                                   "pod groups per queue that allocate looks at; 0 is all"),
    integer<&policy_options::consolidation_queue_depth>("queue_depth.consolidation", "0", 0, 1e9,
                                                        "the same for consolidation"),
    integer<&policy_options::preempt_queue_depth>("queue_depth.preempt", "0", 0, 1e9, "the same for preempt"),
    integer<&policy_options::reclaim_queue_depth>("queue_depth.reclaim", "0", 0, 1e9, "the same for reclaim"),
    flag<&policy_options::reclaim_moves>("reclaim.moves", "true",
                                         "victims of reclaim that find another place have lost nothing"),
    real<&policy_options::saturation_multiplier>("reclaim.saturation_multiplier", "1", 1, 1e6,
                                                 "how much less saturated than its siblings a reclaimer must be"),
    flag<&policy_options::reference_path>(
        "reference_path", "false",
        "ask every part about every node instead of using indexes, and simulate what could be counted; for "
        "tests, same decisions"),
    flag<&policy_options::repartition_drain>(
        "repartition.drain", "false",
        "the action repartition may move preemptible pods that find another place out of instances"),
    integer<&policy_options::repartition_steps>(
        "repartition.steps", "200000", -1, 1e15,
        "steps that the exact search for layouts takes for one plan; -1 is all"),
    seconds<&policy_options::requeue_delay>(
        "requeue_delay", "0", 0, 1e9,
        "seconds for which a group is not served after an eviction, where it says nothing"),
    integer<&policy_options::resize_gain>(
        "resize.gain", "10", 0, 1e6,
        "of the action resize: percent more speed that pods must bring where they go than where they were"),
    integer<&policy_options::resize_moves>("resize.moves", "16", 0, 1e6,
                                           "of the action resize: how many chunks of pods get a place in one session"),
    flag<&policy_options::respect_disruption_budgets>(
        "respect_disruption_budgets", "false",
        "no action makes more pods of a disruption budget leave or move than it allows; false: budgets are not "
        "looked at"),
    flag<&policy_options::restrict_node_scheduling>(
        "restrict_node_scheduling", "false",
        "GPU pods need nodes labelled gpu-worker, other pods nodes labelled cpu-worker"),
    integer<&policy_options::search_backoff_steps>(
        "search_backoff.steps", "100", 0, 1e15,
        "steps of a search for victims, counted like search_steps: one that takes more and finds nothing is a "
        "long search, and until search_backoff.time has passed a search for the group takes no more"),
    seconds<&policy_options::search_backoff_time>(
        "search_backoff.time", "-1", -1, 1e9,
        "seconds after a long search for victims in which the same action gives the group no other long one; "
        "-1: 600; 0: none. In compat only, and not where search_steps is -1"),
    integer<&policy_options::search_steps>(
        "search_steps", "-2", -2, 1e15,
        "steps that a search for victims takes for one group: 10 for a set that is tried, 1 for each of its "
        "pods and of those that wait, 1 for a set that is ruled out; -1: no limit; -2: 10000 in compat, 1000 and 100 "
        "for each GPU that is asked for in strict"),
    integer<&policy_options::session_steps>(
        "session_steps", "1000000", -1, 1e15,
        "the same for all searches of a session; actions share what is left alike; -1: no limit"),
    integer<&policy_options::set_aside_cpu>(
        "set_aside.cpu", "0", 0, 1e12,
        "milli-cores that pods without GPUs leave on a node for each GPU that is free there"),
    integer<&policy_options::set_aside_memory>("set_aside.memory", "0", 0, 1e15, "bytes, likewise"),
    flag<&policy_options::signatures>(
        "signatures", "true", "groups like one that has just failed are not searched victims for in the same action"),
    seconds<&policy_options::staleness_grace>(
        "staleness_grace", "60", -1, 1e9,
        "seconds for which an incomplete gang may run, where its group says nothing; negative is for ever"),
    integer<&policy_options::topology_steps>(
        "topology_steps", "1000", -1, 1e15, "domains that are tried for the members of one chunk in strict; -1 is all"),
    integer<&policy_options::traffic_least>(
        "traffic.least", "1", 1, 1e15,
        "MB/s between the pods of a group from which on the part traffic puts them near each other"),
    integer<&policy_options::most_evictions>(
        "victims.most_evictions", "0", 0, 1e9,
        "a group that was evicted so often is not evicted any more; 0: any number"),
    names<&policy_options::volcano_actions>(
        "volcano.actions", "",
        "what the action volcano runs, in order: enqueue, allocate, backfill, preempt, reclaim, gangpreempt, "
        "gangreclaim"),
    names<&policy_options::volcano_settings>(
        "volcano.settings", "", "plugin.key=value for plug-ins of tiers, plugin.at.point=false where one is not asked"),
    names<&policy_options::volcano_tiers>(
        "volcano.tiers", "", "of the action volcano: plug-ins joined by +, the tier that decides first at first"),
    names<&policy_options::yunikorn_settings>(
        "yunikorn.settings", "",
        "of the action yunikorn: key=value for all queues, key@queue=value for one and those below it"),
};

constexpr std::array infos = [] {
  std::array<option_info, entries.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = entries[i].info;
  return all;
}();

/// The option of an engine that has the name.
result<const option_entry*> find_option(std::string_view name) {
  const auto* const found = std::ranges::find(entries, name, [](const option_entry& e) { return e.info.name; });
  if (found != entries.end()) {
    if (found->info.applies_to == option_target::engine) return found;
    return error{status::argument, "option " + std::string(name) + " is one of a cluster, not of an engine", {}};
  }
  std::vector<std::string_view> known;
  for (const option_info& o : infos) known.push_back(o.name);
  std::string message = "there is no option '" + base::shown(name) + "'";
  const std::string_view nearest = base::nearest_name(name, known);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  return error{status::not_found, std::move(message), {}};
}

}  // namespace

std::span<const option_info> option_list() noexcept { return infos; }

result<void> policy_options::set(std::string_view given_name, std::string_view value) {
  const result<const option_entry*> entry = find_option(session_detail::current_option(given_name));
  if (!entry) return entry.failure();
  if (auto done = (*entry)->set(*this, (*entry)->info, value); !done) return done;
  session_detail::warn_of_old_option(given_name, warnings);
  return {};
}

result<std::string> policy_options::get(std::string_view given_name) const {
  const result<const option_entry*> entry = find_option(session_detail::current_option(given_name));
  if (!entry) return entry.failure();
  return (*entry)->get(*this, (*entry)->info);
}

}  // namespace kaisched
