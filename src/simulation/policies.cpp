#include "simulation/policies.hpp"

#include <algorithm>
#include <array>

namespace kaisched::simulation {

namespace {

constexpr std::int64_t day = 86'400'000'000'000;
constexpr std::string_view all_actions = "allocate,consolidation,reclaim,preempt";

/// Orders of jobs are compared on one queue, where they decide alone; places are those of the preset.
constexpr std::array policies{
    named_policy{.name = "kai",
                 .meaning = "queues share fairly by quota and weight; allocate, consolidation, reclaim, preempt",
                 .actions = all_actions},
    named_policy{.name = "time-fair",
                 .meaning = "kai, and who has had more of the last days gets less of what is left over",
                 .actions = all_actions,
                 .settings = "proportion.k=1",
                 .usage_half_life = day},
    named_policy{.name = "drf",
                 .meaning = "queues share fairly; in a queue the job with the smallest dominant share first",
                 .actions = "allocate,reclaim",
                 .parts = "predicates,proportion,drf,nodeavailability,resourcetype,gpupack,nodeplacement"},
    named_policy{.name = "fifo",
                 .meaning = "the oldest job first; nobody starts before it",
                 .actions = "allocate",
                 .parts = "predicates,fifo,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .settings = "queue_depth.allocate=1",
                 .repeat = true,
                 .one_queue = true},
    named_policy{.name = "fifo-skip",
                 .meaning = "the oldest job first; who does not fit is passed over",
                 .actions = "allocate",
                 .parts = "predicates,fifo,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .one_queue = true},
    named_policy{.name = "easy",
                 .meaning = "fifo, and behind the first that waits whatever does not delay it (EASY backfill)",
                 .actions = "allocate,backfill",
                 .parts = "predicates,fifo,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .one_queue = true,
                 .needs_estimates = true},
    named_policy{.name = "conservative",
                 .meaning = "the same, and whatever waits is not delayed by what came later (conservative backfill)",
                 .actions = "allocate,backfill",
                 .parts = "predicates,fifo,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .settings = "backfill.reservations=0",
                 .one_queue = true,
                 .needs_estimates = true},
    named_policy{.name = "sjf",
                 .meaning = "the shortest job first; who runs is left alone",
                 .actions = "allocate",
                 .parts = "predicates,sjf,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .one_queue = true,
                 .needs_estimates = true},
    named_policy{.name = "srtf",
                 .meaning = "the shortest remaining time first; who runs is stopped for it",
                 .actions = "allocate",
                 .parts = "predicates,srtf,nominatednode,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .replan = true,
                 .one_queue = true,
                 .needs_estimates = true},
    named_policy{.name = "srsf",
                 .meaning = "the least remaining time times GPUs first; who runs is stopped for it",
                 .actions = "allocate",
                 .parts = "predicates,srsf,nominatednode,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .replan = true,
                 .one_queue = true,
                 .needs_estimates = true},
    named_policy{
        .name = "completion-rate",
        .meaning = "the set of jobs of which most end per second; who runs is stopped for it",
        .actions = "allocate",
        .parts = "predicates,completion_rate,nominatednode,nodeavailability,resourcetype,gpupack,nodeplacement",
        .replan = true,
        .one_queue = true,
        .needs_estimates = true},
    named_policy{.name = "las",
                 .meaning = "the job that has had the least GPU time first; who runs is stopped for it",
                 .actions = "allocate",
                 .parts = "predicates,las,nominatednode,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .replan = true,
                 .one_queue = true},
    named_policy{.name = "las-2d",
                 .meaning = "the same in a few steps, as in Tiresias",
                 .actions = "allocate",
                 .parts = "predicates,las_2d,nominatednode,nodeavailability,resourcetype,gpupack,nodeplacement",
                 .replan = true,
                 .one_queue = true},
    named_policy{.name = "pack",
                 .meaning = "fifo-skip; nodes that are used are filled first",
                 .actions = "allocate",
                 .parts = "predicates,fifo,nodeavailability,gpupack,nodeplacement",
                 .settings = "placement.gpu=binpack placement.cpu=binpack",
                 .one_queue = true},
    named_policy{.name = "spread",
                 .meaning = "fifo-skip; empty nodes first",
                 .actions = "allocate",
                 .parts = "predicates,fifo,nodeavailability,gpuspread,nodeplacement",
                 .settings = "placement.gpu=spread placement.cpu=spread",
                 .one_queue = true},
    named_policy{.name = "topology",
                 .meaning = "fifo-skip; pods of one job as near to each other as the topology of the cluster allows",
                 .actions = "allocate",
                 .parts = "predicates,fifo,nodeavailability,resourcetype,gpupack,nodeplacement,topology",
                 .one_queue = true,
                 .near = true},
    named_policy{.name = "best-fit",
                 .meaning = "fifo-skip; the node on which least is left",
                 .actions = "allocate",
                 .parts = "predicates,fifo,best_fit",
                 .one_queue = true},
    named_policy{.name = "dot-product",
                 .meaning = "fifo-skip; the node whose free amounts are least like the request",
                 .actions = "allocate",
                 .parts = "predicates,fifo,dot_product",
                 .one_queue = true},
    named_policy{.name = "fgd",
                 .meaning = "fifo-skip; the node that is fragmented least (FGD)",
                 .actions = "allocate",
                 .parts = "predicates,fifo,fgd",
                 .one_queue = true},
    named_policy{.name = "least-waste",
                 .meaning = "fifo-skip; the node on which least is left over when nothing more fits",
                 .actions = "allocate",
                 .parts = "predicates,fifo,least_waste",
                 .one_queue = true},
};

}  // namespace

std::span<const named_policy> named_policies() { return policies; }

const named_policy* find_policy(std::string_view name) {
  const auto found =
      std::find_if(policies.begin(), policies.end(), [&](const named_policy& p) { return p.name == name; });
  return found == policies.end() ? nullptr : &*found;
}

std::vector<std::pair<std::string_view, std::string_view>> settings_of(const named_policy& policy) {
  std::vector<std::pair<std::string_view, std::string_view>> all{{"actions", policy.actions}};
  if (!policy.parts.empty()) all.emplace_back("parts", policy.parts);
  for (std::string_view rest = policy.settings; !rest.empty();) {
    const std::size_t blank = rest.find(' ');
    const std::string_view one = rest.substr(0, blank);
    const std::size_t equals = one.find('=');
    all.emplace_back(one.substr(0, equals), one.substr(equals + 1));
    rest = blank == std::string_view::npos ? std::string_view{} : rest.substr(blank + 1);
  }
  return all;
}

result<void> apply_policy(const named_policy& policy, engine& to, simulation_options& play) {
  for (const auto& [option, value] : settings_of(policy)) {
    if (auto done = to.set(option, value); !done) return done;
  }
  play.replan = play.replan || policy.replan;
  play.repeat = play.repeat || policy.repeat;
  play.one_queue = play.one_queue || policy.one_queue;
  play.near = play.near || policy.near;
  if (play.usage_half_life == 0) play.usage_half_life = policy.usage_half_life;
  return {};
}

}  // namespace kaisched::simulation
