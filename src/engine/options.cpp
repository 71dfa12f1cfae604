#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <kaisched/options.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/table.hpp>

#include "base/nearest.hpp"
#include "base/text.hpp"
#include "engine/preset_choices.hpp"
#include "engine/presets.hpp"
#include "model/vendor_devices.hpp"
#include "policy/placement/expected_pods.hpp"
#include "schedulers/hived/rules/ownership.hpp"
#include "session/old_names.hpp"

namespace kaisched {

namespace {

constexpr std::array options{
    option_info{"action_steps", option_type::integer, "500000", -1, 1e15, "",
                "steps of all searches for victims of one action, counted like search_steps; -1: no limit"},
    option_info{"actions", option_type::list, "allocate,consolidation,reclaim,preempt,stalegangeviction", 0, 0, "",
                "actions that a session runs, in order"},
    option_info{"backfill.deadlines", option_type::boolean, "false", 0, 0, "",
                "backfill promises groups with a deadline their times before all others start, the oldest group first; "
                "one that would end after its deadline does not start"},
    option_info{"backfill.end_window", option_type::number, "0", 0, 1e9, "",
                "seconds: with backfill.promises=nodes, ends that come at most as long after the first are looked at "
                "together, those up to twice as long after it next, and so on; 0: each for itself"},
    option_info{"backfill.groups", option_type::integer, "0", 0, 1e9, "",
                "groups that backfill looks at, from the first that does not start on; 0 is all"},
    option_info{"backfill.promises", option_type::choice, "times", 0, 0, "nodes times",
                "what a reservation holds: a time at which there is a place, or whole nodes from then on for as long "
                "as the group is expected to run"},
    option_info{"backfill.reservations", option_type::integer, "1", 0, 1e9, "",
                "groups that wait for others to end and get a time that nobody behind them may delay: 1 is EASY "
                "backfill, 0 all (conservative backfill)"},
    option_info{"backfill.resolution", option_type::number, "0", 0, 1e9, "",
                "seconds: with backfill.promises=nodes, promises begin and end at multiples of it, rounded down; 0: at "
                "any time"},
    option_info{"backfill.window", option_type::number, "0", 0, 1e9, "",
                "seconds from now on within which reservations begin; who would begin later has none; 0: no bound"},
    option_info{
        "colocation.most", option_type::integer, "1000", 1, 1e6, "",
        "of the part colocation: thousandths of each resource of a device that pods which share it may put on it "
        "together"},
    option_info{"consolidation.max_victims", option_type::integer, "-2", -2, 1e9, "",
                "pod groups that consolidation may move for one group; -1 is all, 0 switches the action off, -2 is 16 "
                "in compat and all in strict"},
    option_info{"consolidation.moves_more", option_type::boolean, "false", 0, 0, "",
                "in strict, consolidation may move more GPUs for a group than the group asks for"},
    option_info{"deadline.realistic", option_type::boolean, "false", 0, 0, "",
                "of the part deadline: groups that cannot end in time any more, by what is left of their run times, "
                "stand with those that have no deadline"},
    option_info{"devices.choice", option_type::choice, "index", 0, 0, "index links",
                "in strict, which devices a pod gets that asks for whole ones: the lowest indices, or those with the "
                "best links; a single device is the one that the others miss least"},
    option_info{"devices.order", option_type::choice, "together", 0, 0, "in_order together",
                "how containers of a pod get vendor_devices of a node: all together, wherever an assignment exists, or "
                "one after the other as HAMi does"},
    option_info{"devices.settings", option_type::list, "", 0, 0, "",
                "setting=value for vendor_devices of all nodes: node_policy, device_policy, mode, slots, "
                "memory_permille, core_permille, soft_division, weights=slot:core:memory"},
    option_info{"evicted_groups.wait", option_type::boolean, "false", 0, 0, "",
                "in strict a group that was evicted evicts others only after another group has been created since"},
    option_info{"fgd.pods", option_type::list, "", 0, 0, "",
                "classes of pods that fgd and least_waste expect, as "
                "cpu=3000:gpus=1:share=500:where=label=A|B:weight=2 with cpu "
                "in milli-cores and share in milli-GPU; without them those of the pods of the cluster"},
    option_info{"hived.lazy_preemption", option_type::boolean, "false", 0, 0, "",
                "of the action hived: who loses his cells to a higher priority of his queue goes on outside of them, "
                "until others need the GPUs"},
    option_info{"hived.opportunistic_below", option_type::integer, "0", -1e15, 1e15, "",
                "of the action hived: preemptible groups of a lower priority use what is idle and leave when cells are "
                "needed; all others are guaranteed the cells of their queue"},
    option_info{"hived.owned_cells", option_type::list, "", 0, 0, "",
                "of the action hived: cells that leaf queues own, queue:level:count or queue:level:count:product; "
                "without any each owns what its GPU quota is worth, the largest cells first"},
    option_info{"hived.topology", option_type::list, "", 0, 0, "",
                "of the action hived: the topology whose domains are cells; without it the primary one, or the first "
                "by name"},
    option_info{"invariants", option_type::choice, "off", 0, 0, "cheap full off",
                "what sessions verify of themselves: cheap, what every committed statement has changed; full, "
                "everything counted again as well; what is wrong is an error, and no decision depends on it"},
    option_info{"kueue.settings", option_type::list, "", 0, 0, "",
                "of the action kueue: key=value for all queues, queue.NAME.key=value for one"},
    option_info{"language", option_type::choice, "en", 0, 0, "en zh",
                "language of the sentences in reasons and explanations: English or Chinese; no decision depends on it"},
    option_info{"las_2d.limits", option_type::list, "3250,7200", 0, 0, "",
                "GPU seconds, rising: a group that has had as many waits in the next queue of the part las_2d"},
    option_info{
        "least_waste.reserve", option_type::integer, "500", 0, 8000, "",
        "milli-GPU that the part least_waste gives away to leave an idle node alone, the largest of the cluster; "
        "less for smaller ones"},
    option_info{"least_waste.scarcity", option_type::integer, "100", 0, 1000, "",
                "of the part least_waste: percent of what pods that may not use all nodes are expected to need of a "
                "node that count against others"},
    option_info{"load.strategy", option_type::choice, "packing", 0, 0, "packing risk",
                "of the part load: fill nodes up to a target, or prefer those with the least mean and variation"},
    option_info{"load.target", option_type::integer, "400", 1, 999, "",
                "utilisation in per mille up to which packing fills a node"},
    option_info{"min_runtime.from", option_type::choice, "lca", 0, 0, "lca queue",
                "where the minimum runtime of a victim of reclaim is looked for: below the lowest queue that both "
                "share, or from its own queue upwards"},
    option_info{"min_runtime.preempt", option_type::number, "0", 0, 1e9, "",
                "seconds for which a started group is not preempted, where no queue says otherwise"},
    option_info{"min_runtime.reclaim", option_type::number, "0", 0, 1e9, "",
                "seconds for which a started group is not reclaimed, where no queue says otherwise"},
    option_info{"mode", option_type::choice, "strict", 0, 0, "compat strict",
                "compat: as the reference, floating point and defects included; strict: exact arithmetic and the "
                "documented repairs"},
    option_info{"multifactor.age", option_type::integer, "0", 0, 4294967295.0, "",
                "of the part multifactor: points for having waited for multifactor.max_age or longer, in proportion "
                "for less"},
    option_info{"multifactor.cpu", option_type::integer, "0", 0, 4294967295.0, "",
                "the same: points for asking for all cpu of the cluster, in proportion for less"},
    option_info{"multifactor.fair_share", option_type::integer, "0", 0, 4294967295.0, "",
                "the same: points for being in the queue that has used least of its share, by Fair Tree"},
    option_info{"multifactor.gpu", option_type::integer, "0", 0, 4294967295.0, "",
                "the same: points for asking for all GPUs of the cluster, in proportion for less"},
    option_info{"multifactor.max_age", option_type::number, "604800", 1, 1e9, "",
                "seconds after which waiting longer adds no more points"},
    option_info{"multifactor.memory", option_type::integer, "0", 0, 4294967295.0, "",
                "the same: points for asking for all memory of the cluster, in proportion for less"},
    option_info{"multifactor.priority", option_type::integer, "1", 0, 1e9, "",
                "the same: points for each step of the group's priority"},
    option_info{"multifactor.queue", option_type::integer, "0", 0, 4294967295.0, "",
                "the same: points for being in the queue of the highest priority, in proportion for less"},
    option_info{"multifactor.size", option_type::integer, "0", 0, 4294967295.0, "",
                "the same: points for as many pods as nodes and all cpu, in proportion for less"},
    option_info{"multifactor.small_first", option_type::boolean, "false", 0, 0, "",
                "multifactor.size is for small groups, not for large ones"},
    option_info{"multifactor.usage", option_type::choice, "gpu", 0, 0, "cpu gpu memory",
                "whose over-quota weights and usage of queues multifactor.fair_share looks at"},
    option_info{
        "nominations.timeout", option_type::number, "600", -1, 1e9, "",
        "seconds for which room that was freed for a pod is kept for it, from one session to the next; 0: it is "
        "not kept; negative: without end. compat does not keep it"},
    option_info{"numa.ignore", option_type::list, "", 0, 0, "",
                "resources that the part numa does not align, whatever the zones of nodes report"},
    option_info{"numa.reconstruct", option_type::boolean, "true", 0, 0, "",
                "what NUMA zones have free is their capacity without the pods that are known to be there; else it is "
                "what nodes report"},
    option_info{
        "on_invalid", option_type::choice, "reject", 0, 0, "reject quarantine",
        "what a cluster does about a bad row: reject the whole delta, or leave out the row and what depends on it",
        option_target::cluster},
    option_info{"one_order", option_type::boolean, "false", 0, 0, "",
                "groups of all queues are served in one order, by their own keys; else queues are chosen first"},
    option_info{"packing.scores", option_type::choice, "integer", 0, 0, "integer raw",
                "of the parts fgd, least_waste, dot_product, best_fit, gpu_packing and gpu_clustering: cut to integers "
                "from 0 to 100, "
                "so that nodes tie and the name decides, or as computed"},
    option_info{"parts", option_type::list, engine_detail::kai_parts, 0, 0, "",
                "parts of the policy, in order; scores are summed and groups are ordered in this order"},
    option_info{"placement.cpu", option_type::choice, "binpack", 0, 0, "binpack spread",
                "placement of pods without GPUs, by free CPU"},
    option_info{
        "placement.domain", option_type::choice, "binpack", 0, 0, "binpack spread",
        "in strict, which domain of a topology is tried first: the one with the least that is free, or the most"},
    option_info{"placement.gpu", option_type::choice, "binpack", 0, 0, "binpack spread",
                "placement of pods with GPUs, by free GPUs"},
    option_info{"preset", option_type::choice, "kai-0.17-r2", 0, 0, engine_detail::preset_choices,
                "bundle of options; setting it resets all others"},
    option_info{"proportion.k", option_type::number, "1", 0, 1e6, "",
                "weight of historical usage in the division of over-quota resources"},
    option_info{"queue_depth.allocate", option_type::integer, "0", 0, 1e9, "",
                "pod groups per queue that allocate looks at; 0 is all"},
    option_info{"queue_depth.consolidation", option_type::integer, "0", 0, 1e9, "", "the same for consolidation"},
    option_info{"queue_depth.preempt", option_type::integer, "0", 0, 1e9, "", "the same for preempt"},
    option_info{"queue_depth.reclaim", option_type::integer, "0", 0, 1e9, "", "the same for reclaim"},
    option_info{"reclaim.moves", option_type::boolean, "true", 0, 0, "",
                "victims of reclaim that find another place have lost nothing"},
    option_info{"reclaim.saturation_multiplier", option_type::number, "1", 1, 1e6, "",
                "how much less saturated than its siblings a reclaimer must be"},
    option_info{"reference_path", option_type::boolean, "false", 0, 0, "",
                "ask every part about every node instead of using indexes, and simulate what could be counted; for "
                "tests, same decisions"},
    option_info{"repartition.drain", option_type::boolean, "false", 0, 0, "",
                "the action repartition may move preemptible pods that find another place out of instances"},
    option_info{"repartition.steps", option_type::integer, "200000", -1, 1e15, "",
                "steps that the exact search for layouts takes for one plan; -1 is all"},
    option_info{"requeue_delay", option_type::number, "0", 0, 1e9, "",
                "seconds for which a group is not served after an eviction, where it says nothing"},
    option_info{"resize.gain", option_type::integer, "10", 0, 1e6, "",
                "of the action resize: percent more speed that pods must bring where they go than where they were"},
    option_info{"resize.moves", option_type::integer, "16", 0, 1e6, "",
                "of the action resize: how many chunks of pods get a place in one session"},
    option_info{"respect_disruption_budgets", option_type::boolean, "false", 0, 0, "",
                "nobody makes more pods of a disruption budget leave or move than it allows; false: budgets are not "
                "looked at"},
    option_info{"restrict_node_scheduling", option_type::boolean, "false", 0, 0, "",
                "GPU pods need nodes labelled gpu-worker, other pods nodes labelled cpu-worker"},
    option_info{"search_backoff.steps", option_type::integer, "100", 0, 1e15, "",
                "steps of a search for victims, counted like search_steps: one that takes more and finds nothing is a "
                "long search, and until search_backoff.time has passed a search for the group takes no more"},
    option_info{"search_backoff.time", option_type::number, "-1", -1, 1e9, "",
                "seconds after a long search for victims in which the same action gives the group no other long one; "
                "-1: 600; 0: none. In compat only, and not where search_steps is -1"},
    option_info{"search_steps", option_type::integer, "10000", -1, 1e15, "",
                "steps that a search for victims takes for one group: 10 for a set that is tried, 1 for each of its "
                "pods and of those that wait, 1 for a set that is ruled out; -1: no limit"},
    option_info{"session_steps", option_type::integer, "1000000", -1, 1e15, "",
                "the same for all searches of a session; actions share what is left alike; -1: no limit"},
    option_info{"set_aside.cpu", option_type::integer, "0", 0, 1e12, "",
                "milli-cores that pods without GPUs leave on a node for each GPU that is free there"},
    option_info{"set_aside.memory", option_type::integer, "0", 0, 1e15, "", "bytes, likewise"},
    option_info{"signatures", option_type::boolean, "true", 0, 0, "",
                "groups like one that has just failed are not searched victims for in the same action"},
    option_info{"staleness_grace", option_type::number, "60", -1, 1e9, "",
                "seconds for which an incomplete gang may run, where its group says nothing; negative is for ever"},
    option_info{"topology_steps", option_type::integer, "1000", -1, 1e15, "",
                "domains that are tried for the members of one chunk in strict; -1 is all"},
    option_info{"traffic.least", option_type::integer, "1", 1, 1e15, "",
                "MB/s between the pods of a group from which on the part traffic puts them near each other"},
    option_info{"victims.most_evictions", option_type::integer, "0", 0, 1e9, "",
                "a group that was evicted so often is nobody's victim any more; 0: any number"},
    option_info{"volcano.actions", option_type::list, "", 0, 0, "",
                "what the action volcano runs, in order: enqueue, allocate, backfill, preempt, reclaim, gangpreempt, "
                "gangreclaim"},
    option_info{"volcano.settings", option_type::list, "", 0, 0, "",
                "plugin.key=value for plug-ins of tiers, plugin.at.point=false where one is not asked"},
    option_info{"volcano.tiers", option_type::list, "", 0, 0, "",
                "of the action volcano: plug-ins joined by +, the tier that decides first at first"},
    option_info{"yunikorn.settings", option_type::list, "", 0, 0, "",
                "of the action yunikorn: key=value for all queues, key@queue=value for one and those below it"},
};

constexpr std::array integers{
    std::pair{std::string_view("backfill.groups"), &policy_options::backfill_groups},
    std::pair{std::string_view("backfill.reservations"), &policy_options::backfill_reservations},
    std::pair{std::string_view("hived.opportunistic_below"), &policy_options::hived_opportunistic_below},
    std::pair{std::string_view("colocation.most"), &policy_options::colocation_most},
    std::pair{std::string_view("consolidation.max_victims"), &policy_options::consolidation_victims},
    std::pair{std::string_view("least_waste.reserve"), &policy_options::waste_reserve},
    std::pair{std::string_view("least_waste.scarcity"), &policy_options::waste_scarcity},
    std::pair{std::string_view("load.target"), &policy_options::load_target},
    std::pair{std::string_view("multifactor.age"), &policy_options::factor_age},
    std::pair{std::string_view("multifactor.cpu"), &policy_options::factor_cpu},
    std::pair{std::string_view("multifactor.fair_share"), &policy_options::factor_fair_share},
    std::pair{std::string_view("multifactor.gpu"), &policy_options::factor_gpu},
    std::pair{std::string_view("multifactor.memory"), &policy_options::factor_memory},
    std::pair{std::string_view("multifactor.priority"), &policy_options::factor_priority},
    std::pair{std::string_view("multifactor.queue"), &policy_options::factor_queue},
    std::pair{std::string_view("multifactor.size"), &policy_options::factor_size},
    std::pair{std::string_view("queue_depth.allocate"), &policy_options::allocate_queue_depth},
    std::pair{std::string_view("queue_depth.consolidation"), &policy_options::consolidation_queue_depth},
    std::pair{std::string_view("queue_depth.preempt"), &policy_options::preempt_queue_depth},
    std::pair{std::string_view("queue_depth.reclaim"), &policy_options::reclaim_queue_depth},
    std::pair{std::string_view("repartition.steps"), &policy_options::repartition_steps},
    std::pair{std::string_view("search_backoff.steps"), &policy_options::search_backoff_steps},
    std::pair{std::string_view("search_steps"), &policy_options::search_steps},
    std::pair{std::string_view("session_steps"), &policy_options::session_steps},
    std::pair{std::string_view("action_steps"), &policy_options::action_steps},
    std::pair{std::string_view("resize.gain"), &policy_options::resize_gain},
    std::pair{std::string_view("resize.moves"), &policy_options::resize_moves},
    std::pair{std::string_view("set_aside.cpu"), &policy_options::set_aside_cpu},
    std::pair{std::string_view("set_aside.memory"), &policy_options::set_aside_memory},
    std::pair{std::string_view("topology_steps"), &policy_options::topology_steps},
    std::pair{std::string_view("traffic.least"), &policy_options::traffic_least},
    std::pair{std::string_view("victims.most_evictions"), &policy_options::most_evictions},
};
constexpr std::array seconds{
    std::pair{std::string_view("backfill.end_window"), &policy_options::backfill_end_window},
    std::pair{std::string_view("backfill.resolution"), &policy_options::backfill_resolution},
    std::pair{std::string_view("backfill.window"), &policy_options::backfill_window},
    std::pair{std::string_view("min_runtime.preempt"), &policy_options::min_runtime_preempt},
    std::pair{std::string_view("min_runtime.reclaim"), &policy_options::min_runtime_reclaim},
    std::pair{std::string_view("multifactor.max_age"), &policy_options::factor_max_age},
    std::pair{std::string_view("nominations.timeout"), &policy_options::nomination_timeout},
    std::pair{std::string_view("requeue_delay"), &policy_options::requeue_delay},
    std::pair{std::string_view("search_backoff.time"), &policy_options::search_backoff_time},
    std::pair{std::string_view("staleness_grace"), &policy_options::staleness_grace},
};
constexpr std::array numbers{
    std::pair{std::string_view("proportion.k"), &policy_options::fair_share_k},
    std::pair{std::string_view("reclaim.saturation_multiplier"), &policy_options::saturation_multiplier},
};
constexpr std::array flags{
    std::pair{std::string_view("multifactor.small_first"), &policy_options::factor_small_first},
    std::pair{std::string_view("hived.lazy_preemption"), &policy_options::hived_lazy_preemption},
    std::pair{std::string_view("backfill.deadlines"), &policy_options::backfill_deadlines},
    std::pair{std::string_view("evicted_groups.wait"), &policy_options::evicted_groups_wait},
    std::pair{std::string_view("consolidation.moves_more"), &policy_options::consolidation_moves_more},
    std::pair{std::string_view("deadline.realistic"), &policy_options::realistic_deadlines},
    std::pair{std::string_view("numa.reconstruct"), &policy_options::numa_reconstruct},
    std::pair{std::string_view("one_order"), &policy_options::one_order},
    std::pair{std::string_view("reclaim.moves"), &policy_options::reclaim_moves},
    std::pair{std::string_view("reference_path"), &policy_options::reference_path},
    std::pair{std::string_view("repartition.drain"), &policy_options::repartition_drain},
    std::pair{std::string_view("respect_disruption_budgets"), &policy_options::respect_disruption_budgets},
    std::pair{std::string_view("restrict_node_scheduling"), &policy_options::restrict_node_scheduling},
    std::pair{std::string_view("signatures"), &policy_options::signatures},
};
constexpr std::array name_lists{
    std::pair{std::string_view("actions"), &policy_options::actions},
    std::pair{std::string_view("kueue.settings"), &policy_options::kueue_settings},
    std::pair{std::string_view("hived.owned_cells"), &policy_options::hived_owned_cells},
    std::pair{std::string_view("hived.topology"), &policy_options::hived_topology},
    std::pair{std::string_view("numa.ignore"), &policy_options::numa_ignore},
    std::pair{std::string_view("parts"), &policy_options::parts},
    std::pair{std::string_view("volcano.tiers"), &policy_options::volcano_tiers},
    std::pair{std::string_view("volcano.actions"), &policy_options::volcano_actions},
    std::pair{std::string_view("volcano.settings"), &policy_options::volcano_settings},
    std::pair{std::string_view("yunikorn.settings"), &policy_options::yunikorn_settings},
};
constexpr double nanoseconds = 1e9;

/// The member that holds an option, or null.
template <class Members>
auto member_of(const Members& members, std::string_view name) -> decltype(members.front().second) {
  const auto found = std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == name; });
  return found == members.end() ? nullptr : found->second;
}

std::string number_text(double value) {
  char text[32];
  const auto [end, failure] = std::to_chars(text, text + sizeof text, value);
  return {text, failure == std::errc{} ? end : text};
}

error bad_value(std::string_view name, std::string_view value, std::string_view expected) {
  return {status::argument,
          "option " + std::string(name) + ": '" + base::shown(value) + "' is not " + std::string(expected),
          {}};
}

std::string join_names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text.append(text.empty() ? "" : ",").append(name);
  return text;
}

const option_info* find_option(std::string_view name) {
  for (const option_info& o : options) {
    if (o.name == name) return &o;
  }
  return nullptr;
}

error unknown_option(std::string_view name) {
  std::vector<std::string_view> names;
  names.reserve(std::size(options));
  for (const option_info& o : options) names.push_back(o.name);
  std::string message = "there is no option '" + base::shown(name) + "'";
  const std::string_view nearest = base::nearest_name(name, names);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  return {status::not_found, std::move(message), {}};
}

error other_target(std::string_view name) {
  return {status::argument, "option " + std::string(name) + " is one of a cluster, not of an engine", {}};
}

result<void> set_flag(bool& target, std::string_view name, std::string_view value) {
  if (value != "true" && value != "false") return bad_value(name, value, "true or false");
  target = value == "true";
  return {};
}

result<double> parse_number(const option_info& o, std::string_view value) {
  double number = 0;
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool good = failure == std::errc{} && end == value.data() + value.size() && std::isfinite(number) &&
                    number >= o.least && number <= o.most;
  if (!good || (o.type == option_type::integer && number != std::floor(number))) {
    const std::string_view kind = o.type == option_type::integer ? "an integer" : "a number";
    return bad_value(o.name, value, std::string(kind) + " from " + number_text(o.least) + " to " + number_text(o.most));
  }
  return number;
}

result<void> check_choice(const option_info& o, std::string_view value) {
  constexpr std::size_t most_shown = 120;  // errors have 256 bytes in C
  std::vector<std::string_view> choices;
  for (std::string_view rest = o.choices; !rest.empty();) {
    choices.push_back(rest.substr(0, rest.find(' ')));
    if (choices.back() == value) return {};
    rest.remove_prefix(std::min(rest.size(), choices.back().size() + 1));
  }
  if (o.choices.size() <= most_shown) return bad_value(o.name, value, "one of: " + std::string(o.choices));
  const std::string_view nearest = base::nearest_name(value, choices);
  return bad_value(o.name, value,
                   "one of its " + std::to_string(choices.size()) + " values, such as " + std::string(o.fallback) +
                       (nearest.empty() ? "" : "; did you mean '" + std::string(nearest) + "'?"));
}

result<void> set_limits(std::vector<std::int64_t>& target, std::string_view value) {
  std::vector<std::int64_t> limits;
  for (const std::string& text : base::split_names(value)) {
    std::int64_t limit = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), limit);
    const std::int64_t least = limits.empty() ? 1 : limits.back() + 1;
    if (failure != std::errc{} || end != text.data() + text.size() || limit < least || limit > max_amount) {
      return bad_value("las_2d.limits", text,
                       "an integer from " + std::to_string(least) + " to " + std::to_string(max_amount));
    }
    limits.push_back(limit);
  }
  target = std::move(limits);
  return {};
}

std::string_view name_of(invariant_level level) {
  switch (level) {
    case invariant_level::off:
      break;
    case invariant_level::cheap:
      return "cheap";
    case invariant_level::full:
      return "full";
  }
  return "off";
}
std::string_view name_of(placement_strategy s) { return s == placement_strategy::spread ? "spread" : "binpack"; }

}  // namespace

std::span<const option_info> option_list() noexcept { return options; }

result<void> policy_options::set(std::string_view given_name, std::string_view value) {
  const std::string_view name = session_detail::current_option(given_name);
  const option_info* o = find_option(name);
  if (o == nullptr) return unknown_option(name);
  if (o->applies_to != option_target::engine) return other_target(name);
  if (o->type == option_type::choice) {
    const std::string_view newest = name == "preset" ? engine_detail::newest_revision(value) : value;
    if (auto done = check_choice(*o, newest); !done) return done;
  }
  double number = 0;
  if (o->type == option_type::integer || o->type == option_type::number) {
    result<double> parsed = parse_number(*o, value);
    if (!parsed) return parsed.failure();
    number = *parsed;
  }
  if (name == "preset") {
    result<policy_options> fresh = kaisched::preset(value);
    if (!fresh) return fresh.failure();
    fresh->warnings = std::move(warnings);
    *this = std::move(*fresh);
  } else if (name == "mode") {
    mode = value == "compat" ? decision_mode::compat : decision_mode::strict;
  } else if (name == "backfill.promises") {
    backfill_promises = value == "nodes" ? promise_kind::nodes : promise_kind::times;
  } else if (name == "multifactor.usage") {
    factor_usage = value == "cpu" ? dim_cpu : value == "memory" ? dim_memory : dim_gpu;
  } else if (name == "invariants") {
    invariants = value == "full"    ? invariant_level::full
                 : value == "cheap" ? invariant_level::cheap
                                    : invariant_level::off;
  } else if (name == "language") {
    text_language = value == "zh" ? language::chinese : language::english;
  } else if (name == "load.strategy") {
    load = value == "risk" ? load_strategy::risk : load_strategy::packing;
  } else if (name == "devices.order") {
    device_order = value == "in_order" ? device_order_rule::in_order : device_order_rule::together;
  } else if (name == "devices.settings") {
    std::vector<std::string> settings = base::split_names(value);
    if (const auto good = model::parse_vendor_settings(join_list(settings)); !good) {
      return error{status::argument, "option devices.settings: " + good.failure().message, {}};
    }
    device_settings = std::move(settings);
  } else if (name == "fgd.pods") {
    std::vector<std::string> pods = base::split_names(value);
    for (const std::string& one : pods) {
      if (const auto good = policy::parse_typical_pod(one); !good)
        return error{status::argument, "option fgd.pods: " + good.failure().message, {}};
    }
    fgd_pods = std::move(pods);
  } else if (name == "hived.owned_cells") {
    std::vector<std::string> owned = base::split_names(value);
    for (const std::string& one : owned) {
      if (const auto good = hived::parse_ownership(one); !good) return good.failure();
    }
    hived_owned_cells = std::move(owned);
  } else if (name == "actions") {
    actions = base::split_names(value);
    session_detail::update_actions(actions, warnings);
  } else if (const auto names = member_of(name_lists, name); names != nullptr) {
    this->*names = base::split_names(value);
  } else if (name == "las_2d.limits") {
    return set_limits(las_limits, value);
  } else if (name == "packing.scores") {
    raw_scores = value == "raw";
  } else if (name == "placement.gpu") {
    gpu_placement = value == "spread" ? placement_strategy::spread : placement_strategy::binpack;
  } else if (name == "placement.cpu") {
    cpu_placement = value == "spread" ? placement_strategy::spread : placement_strategy::binpack;
  } else if (name == "placement.domain") {
    domain_placement = value == "spread" ? placement_strategy::spread : placement_strategy::binpack;
  } else if (name == "devices.choice") {
    devices = value == "links" ? device_choice::links : device_choice::index;
  } else if (name == "min_runtime.from") {
    min_runtime_from = value == "queue" ? runtime_resolution::queue : runtime_resolution::lca;
  } else if (const auto integer = member_of(integers, name); integer != nullptr) {
    this->*integer = static_cast<std::int64_t>(number);
  } else if (const auto duration = member_of(seconds, name); duration != nullptr) {
    this->*duration = std::llround(number * nanoseconds);
  } else if (const auto real = member_of(numbers, name); real != nullptr) {
    this->*real = number;
  } else if (auto done = set_flag(this->*member_of(flags, name), name, value); !done) {
    return done;
  }
  session_detail::warn_of_old_option(given_name, warnings);
  return {};
}

result<std::string> policy_options::get(std::string_view given_name) const {
  const std::string_view name = session_detail::current_option(given_name);
  const option_info* o = find_option(name);
  if (o == nullptr) return unknown_option(name);
  if (o->applies_to != option_target::engine) return other_target(name);
  if (name == "preset") return std::string(preset);
  if (name == "mode") return std::string(mode == decision_mode::compat ? "compat" : "strict");
  if (name == "devices.order")
    return std::string(device_order == device_order_rule::in_order ? "in_order" : "together");
  if (name == "backfill.promises") return std::string(backfill_promises == promise_kind::nodes ? "nodes" : "times");
  if (name == "multifactor.usage")
    return std::string(factor_usage == dim_cpu ? "cpu" : factor_usage == dim_memory ? "memory" : "gpu");
  if (name == "invariants") return std::string(name_of(invariants));
  if (name == "language") return std::string(text_language == language::chinese ? "zh" : "en");
  if (name == "load.strategy") return std::string(load == load_strategy::risk ? "risk" : "packing");
  if (name == "devices.settings") return join_names(device_settings);
  if (name == "fgd.pods") return join_names(fgd_pods);
  if (const auto names = member_of(name_lists, name); names != nullptr) return join_names(this->*names);
  if (name == "las_2d.limits") {
    std::vector<std::string> limits;
    for (const std::int64_t limit : las_limits) limits.push_back(std::to_string(limit));
    return join_names(limits);
  }
  if (name == "packing.scores") return std::string(raw_scores ? "raw" : "integer");
  if (name == "placement.gpu") return std::string(name_of(gpu_placement));
  if (name == "placement.domain") return std::string(name_of(domain_placement));
  if (name == "placement.cpu") return std::string(name_of(cpu_placement));
  if (name == "devices.choice") return std::string(devices == device_choice::links ? "links" : "index");
  if (name == "min_runtime.from") return std::string(min_runtime_from == runtime_resolution::queue ? "queue" : "lca");
  if (const auto integer = member_of(integers, name); integer != nullptr) return std::to_string(this->*integer);
  if (const auto duration = member_of(seconds, name); duration != nullptr)
    return number_text(static_cast<double>(this->*duration) / nanoseconds);
  if (const auto real = member_of(numbers, name); real != nullptr) return number_text(this->*real);
  return std::string(this->*member_of(flags, name) ? "true" : "false");
}

}  // namespace kaisched
