#include "scenarios.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <stdexcept>

#include "base/sha256.hpp"

namespace kaisched::bench {
namespace {

constexpr std::int64_t gpus_per_node = 8;
constexpr std::int64_t milli = 1000;

// Widths of the zero-padded numbers in names; they bound the sizes, because names must sort like the list.
constexpr std::size_t node_digits = 5;
constexpr std::size_t block_digits = 3;
constexpr std::size_t rack_digits = 4;
constexpr std::size_t job_digits = 6;
constexpr std::int32_t max_node_count = 100'000;
constexpr std::size_t max_job_count = 1'000'000;

constexpr std::int64_t nodes_per_rack = 16;
constexpr std::int64_t nodes_per_block = 128;

constexpr std::int32_t default_priority = 50;
constexpr std::int32_t raised_priority = 75;

constexpr std::int64_t steady_free_share = 50;  // one node in so many is without pods

std::string numbered(char prefix, std::int64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  std::string name(1, prefix);
  name.append(digits > text.size() ? digits - text.size() : 0, '0');
  return name += text;
}

void add_plain_nodes(scenario_input& input) {
  for (std::int64_t i = 0; i < input.nodes_count; ++i) {
    input.nodes.push_back({numbered('n', i, node_digits), gpus_per_node, {}, {}, {}});
  }
}

void add_nodes_with_racks(scenario_input& input) {
  input.topology_levels = {"block", "rack", "host"};
  for (std::int64_t i = 0; i < input.nodes_count; ++i) {
    input.nodes.push_back({numbered('n', i, node_digits),
                           gpus_per_node,
                           {},
                           numbered('b', i / nodes_per_block, block_digits),
                           numbered('r', i / nodes_per_rack, rack_digits)});
  }
}

// The tree of the single big gang: smaller groups than elsewhere, one level more, numbers without padding.
void add_nodes_with_zones(scenario_input& input) {
  input.topology_levels = {"zone", "block", "rack"};
  for (std::int64_t i = 0; i < input.nodes_count; ++i) {
    input.nodes.push_back({numbered('n', i, node_digits), gpus_per_node, numbered('z', i / 128, 0),
                           numbered('b', i / 16, 0), numbered('r', i / 2, 0)});
  }
}

void add_four_queues(scenario_input& input) {
  const std::int64_t n = input.nodes_count;
  input.departments = {{"d0", 4 * n}, {"d1", 4 * n}};
  input.queues = {{"q0", "d0", 2 * n, 1}, {"q1", "d0", 2 * n, 1}, {"q2", "d1", 2 * n, 1}, {"q3", "d1", 2 * n, 1}};
}

struct queue_share {
  std::string_view name;
  std::int64_t quota_gpus;
  std::int64_t weight_gpus;
};

void add_queues_of_one_department(scenario_input& input, std::initializer_list<queue_share> queues) {
  input.departments = {{"default", unlimited_gpus}};
  for (const queue_share& queue : queues) {
    input.queues.push_back({std::string(queue.name), "default", queue.quota_gpus, queue.weight_gpus});
  }
}

// q0 holds everything without being entitled to anything, q1 is entitled to everything.
void add_reclaiming_queues(scenario_input& input) {
  add_queues_of_one_department(input, {{"q0", 0, 0}, {"q1", gpus_per_node * input.nodes_count, 0}});
}

std::string_view one_of_four_queues(std::int64_t index) {
  constexpr std::array<std::string_view, 4> names = {"q0", "q1", "q2", "q3"};
  return names[static_cast<std::size_t>(index % 4)];
}

// Adds a pending job of one strict gang; the caller changes what differs.
scenario_job& add_job(scenario_input& input, std::string_view queue, std::int64_t pods, std::int64_t gpus_milli) {
  if (input.jobs.size() == max_job_count) {
    throw std::invalid_argument("scenario " + input.name + " with " + std::to_string(input.nodes_count) +
                                " nodes has more than " + std::to_string(max_job_count) + " jobs");
  }
  scenario_job& job = input.jobs.emplace_back();
  job.name = numbered('j', static_cast<std::int64_t>(input.jobs.size()) - 1, job_digits);
  job.queue = queue;
  job.priority = default_priority;
  job.gpus_milli_per_pod = gpus_milli;
  job.pod_sets = {{"default", static_cast<std::int32_t>(pods), static_cast<std::int32_t>(pods)}};
  return job;
}

// Adds a running job of one pod.
scenario_job& add_running(scenario_input& input, std::string_view queue, std::int64_t node, std::int64_t gpus_milli) {
  scenario_job& job = add_job(input, queue, 1, gpus_milli);
  job.nodes = {static_cast<std::int32_t>(node)};
  return job;
}

void add_pending_single_gpu(scenario_input& input, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    add_job(input, one_of_four_queues(i), 1, milli);
  }
}

// Fills the nodes one after the other with running jobs of one GPU.
void add_running_on_full_nodes(scenario_input& input, std::int64_t node_count) {
  for (std::int64_t k = 0; k < gpus_per_node * node_count; ++k) {
    add_running(input, one_of_four_queues(k), k / gpus_per_node, milli);
  }
}

// Fills the cluster with running jobs of one GPU in q0, one node after the other.
void fill_nodes_from_q0(scenario_input& input) {
  for (std::int64_t k = 0; k < gpus_per_node * input.nodes_count; ++k) {
    add_running(input, "q0", k / gpus_per_node, milli);
  }
}

// The same jobs dealt round over the nodes, so that the oldest jobs are on different nodes.
void deal_nodes_from_q0(scenario_input& input) {
  for (std::int64_t k = 0; k < gpus_per_node * input.nodes_count; ++k) {
    add_running(input, "q0", k % input.nodes_count, milli);
  }
}

void make_fill(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  add_pending_single_gpu(input, 8 * std::int64_t{input.nodes_count});
}

void make_overflow(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  add_pending_single_gpu(input, 10 * std::int64_t{input.nodes_count});
}

void make_overflow_full(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  add_running_on_full_nodes(input, input.nodes_count);
  add_pending_single_gpu(input, 2 * std::int64_t{input.nodes_count});
}

void make_gang(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  for (std::int64_t k = 0; k < input.nodes_count; ++k) {
    add_job(input, one_of_four_queues(k), 8, milli);
  }
}

void make_gang64(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  for (std::int64_t k = 0; k < input.nodes_count / 64; ++k) {
    add_job(input, one_of_four_queues(k), 64, 8 * milli);
  }
}

void make_distributed(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  for (std::int64_t k = 0; k < input.nodes_count / 16; ++k) {
    add_job(input, one_of_four_queues(k), 16, 8 * milli).pod_sets = {{"master", 1, 1}, {"worker", 15, 15}};
  }
}

void make_fraction(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  for (std::int64_t k = 0; k < 16 * std::int64_t{input.nodes_count}; ++k) {
    add_job(input, one_of_four_queues(k), 1, milli / 2);
  }
}

void make_topology(scenario_input& input) {
  struct gang_shape {
    std::int64_t pods;
    std::int64_t gpus;
    std::string_view required_level;
    std::string_view preferred_level;
  };
  constexpr std::array<gang_shape, 4> shapes = {
      {{64, 2, "rack", ""}, {128, 1, "rack", ""}, {64, 8, "block", "rack"}, {96, 4, "", "rack"}}};

  add_nodes_with_racks(input);
  add_four_queues(input);
  std::int64_t gpus_left = gpus_per_node * input.nodes_count;
  for (std::int64_t k = 0;; ++k) {
    const gang_shape& shape = shapes[static_cast<std::size_t>(k % 4)];
    gpus_left -= shape.pods * shape.gpus;
    if (gpus_left < 0) {
      return;
    }
    scenario_job& job = add_job(input, one_of_four_queues(k), shape.pods, shape.gpus * milli);
    job.required_level = shape.required_level;
    job.preferred_level = shape.preferred_level;
  }
}

struct pods_and_gpus {
  std::int64_t pods;
  std::int64_t gpus;
};

// A fixed pseudo-random mixture: mostly single GPUs, some larger pods, few gangs.
pods_and_gpus mixed_shape(std::int64_t k) {
  constexpr std::array<std::int64_t, 4> gang_gpus = {1, 2, 4, 8};
  const std::int64_t h = (37 * k + 11) % 100;
  if (h < 70) {
    return {1, 1};
  }
  if (h < 85) {
    return {1, 2 + h % 3};
  }
  if (h < 95) {
    return {1, 8};
  }
  return {h % 2 == 0 ? 8 : 4, gang_gpus[static_cast<std::size_t>((k / 100) % 4)]};
}

void make_mixed(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  const std::int64_t enough_gpus = 88 * std::int64_t{input.nodes_count} / 10;
  std::int64_t requested_gpus = 0;
  for (std::int64_t k = 0; requested_gpus < enough_gpus; ++k) {
    const pods_and_gpus shape = mixed_shape(k);
    scenario_job& job = add_job(input, one_of_four_queues(k / 3), shape.pods, shape.gpus * milli);
    job.priority = k % 10 == 3 ? raised_priority : default_priority;
    requested_gpus += shape.pods * shape.gpus;
  }
}

void make_steady(scenario_input& input) {
  add_plain_nodes(input);
  add_four_queues(input);
  const std::int64_t free_nodes = std::max<std::int64_t>(1, input.nodes_count / steady_free_share);
  add_running_on_full_nodes(input, input.nodes_count - free_nodes);
  add_pending_single_gpu(input, gpus_per_node * free_nodes);
}

void make_reclaim_large(scenario_input& input) {
  add_plain_nodes(input);
  add_reclaiming_queues(input);
  deal_nodes_from_q0(input);
  add_job(input, "q1", input.nodes_count / 10, 8 * milli);
}

void make_reclaim_large_half(scenario_input& input) {
  add_plain_nodes(input);
  add_reclaiming_queues(input);
  deal_nodes_from_q0(input);
  add_job(input, "q1", input.nodes_count / 2, 8 * milli);
}

void make_reclaim_many(scenario_input& input) {
  const std::int64_t n = input.nodes_count;
  add_plain_nodes(input);
  add_queues_of_one_department(input, {{"over", 2 * n, 1}, {"fair", 4 * n, 1}, {"under", 2 * n, 1}});
  for (std::int64_t k = 0; k < gpus_per_node * n; ++k) {
    add_running(input, k % 2 == 0 ? "over" : "fair", k / gpus_per_node, milli);
  }
  for (std::int64_t i = 0; i < 2 * n; ++i) {
    add_job(input, "under", 1, milli);
  }
}

void make_reclaim_swap_cycle(scenario_input& input) {
  add_plain_nodes(input);
  add_reclaiming_queues(input);
  deal_nodes_from_q0(input);
  for (std::int64_t i = 0; i < gpus_per_node * input.nodes_count; ++i) {
    add_job(input, "q1", 1, milli);
  }
}

void make_reclaim_fail(scenario_input& input) {
  const std::int64_t n = input.nodes_count;
  add_plain_nodes(input);
  add_queues_of_one_department(input, {{"q0", 4 * n - 8, 1}, {"q1", 4 * n + 8, 1}});
  fill_nodes_from_q0(input);
  for (scenario_job& job : input.jobs) {
    job.priority = job.nodes.front() < n / 2 ? default_priority : first_non_preemptible_priority;
  }
  add_job(input, "q1", n / 2 + 1, 8 * milli);  // one node more than can be emptied
}

void make_reclaim_fail_topo(scenario_input& input) {
  add_nodes_with_racks(input);
  add_reclaiming_queues(input);
  fill_nodes_from_q0(input);
  add_job(input, "q1", nodes_per_rack + 1, 8 * milli).required_level = "rack";
}

void make_preempt(scenario_input& input) {
  add_plain_nodes(input);
  add_queues_of_one_department(input, {{"q0", gpus_per_node * input.nodes_count, 1}});
  fill_nodes_from_q0(input);
  for (std::int64_t i = 0; i < input.nodes_count / 20; ++i) {
    add_job(input, "q0", 4, 8 * milli).priority = raised_priority;
  }
}

void make_consolidation(scenario_input& input) {
  constexpr std::int64_t used_gpus_per_node = gpus_per_node / 2;
  add_plain_nodes(input);
  add_queues_of_one_department(input, {{"q0", gpus_per_node * input.nodes_count, 1}});
  for (std::int64_t k = 0; k < used_gpus_per_node * input.nodes_count; ++k) {
    add_running(input, "q0", k / used_gpus_per_node, milli);
  }
  for (std::int64_t i = 0; i < input.nodes_count / 10; ++i) {
    add_job(input, "q0", 1, 8 * milli);
  }
}

void make_few_changes(scenario_input& input) {
  constexpr std::int64_t waiting_gangs = 200;
  const std::int64_t n = input.nodes_count;
  const std::int64_t free_nodes = n / steady_free_share;
  add_plain_nodes(input);
  add_four_queues(input);
  add_running_on_full_nodes(input, n - free_nodes);
  // Together with the GPU jobs 35 pods a node; the nodes without GPU jobs are not without pods.
  for (std::int64_t i = 0; i < 27 * n + gpus_per_node * free_nodes; ++i) {
    add_running(input, one_of_four_queues(i), i % n, 0);
  }
  // At least twice the nodes that can ever be free of GPU pods: these gangs never fit.
  for (std::int64_t i = 0; i < waiting_gangs; ++i) {
    add_job(input, one_of_four_queues(i), n / 25, 8 * milli);
  }
}

constexpr std::int32_t gang512_nodes = 512;

scenario_job& add_gang512(scenario_input& input) {
  add_nodes_with_zones(input);
  add_queues_of_one_department(input, {{"q0", gpus_per_node * input.nodes_count, 1}});
  return add_job(input, "q0", 512, 2 * milli);
}

void make_topology_gang512_required(scenario_input& input) { add_gang512(input).required_level = "zone"; }

void make_topology_gang512_preferred(scenario_input& input) { add_gang512(input).preferred_level = "rack"; }

enum class action_set : std::uint8_t { allocate, consolidation, reclaim, preempt, all };

std::vector<std::string> action_names(action_set actions) {
  switch (actions) {
    case action_set::allocate:
      return {"allocate"};
    case action_set::consolidation:
      return {"consolidation"};
    case action_set::reclaim:
      return {"reclaim"};
    case action_set::preempt:
      return {"preempt"};
    case action_set::all:
      break;
  }
  return {"allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"};
}

struct scenario_definition {
  std::string_view name;
  action_set actions;
  std::int32_t min_nodes;
  std::int32_t max_nodes;
  void (*make)(scenario_input& input);
};

constexpr std::array<scenario_definition, 20> main_scenarios = {{
    {"fill", action_set::allocate, 1, max_node_count, make_fill},
    {"overflow", action_set::allocate, 1, max_node_count, make_overflow},
    {"overflow_full", action_set::all, 1, max_node_count, make_overflow_full},
    {"gang", action_set::allocate, 1, max_node_count, make_gang},
    {"gang64", action_set::allocate, 64, max_node_count, make_gang64},
    {"distributed", action_set::allocate, 16, max_node_count, make_distributed},
    {"fraction", action_set::allocate, 1, max_node_count, make_fraction},
    {"topology", action_set::allocate, 16, max_node_count, make_topology},
    {"mixed", action_set::allocate, 1, max_node_count, make_mixed},
    {"mixed_cycle", action_set::all, 1, max_node_count, make_mixed},
    {"steady", action_set::all, 1, max_node_count, make_steady},
    {"reclaim_large", action_set::reclaim, 10, max_node_count, make_reclaim_large},
    {"reclaim_large_half", action_set::reclaim, 2, max_node_count, make_reclaim_large_half},
    {"reclaim_many", action_set::reclaim, 1, max_node_count, make_reclaim_many},
    {"reclaim_many_cycle", action_set::all, 1, max_node_count, make_reclaim_many},
    {"reclaim_swap_cycle", action_set::all, 1, max_node_count, make_reclaim_swap_cycle},
    {"reclaim_fail", action_set::reclaim, 2, max_node_count, make_reclaim_fail},
    {"reclaim_fail_topo", action_set::reclaim, 1, max_node_count, make_reclaim_fail_topo},
    {"preempt", action_set::preempt, 20, max_node_count, make_preempt},
    {"consolidation", action_set::consolidation, 10, max_node_count, make_consolidation},
}};

constexpr std::array<scenario_definition, 3> extra_scenarios = {{
    {"few_changes", action_set::all, steady_free_share, max_node_count, make_few_changes},
    {"topology_gang512_required", action_set::allocate, gang512_nodes, gang512_nodes, make_topology_gang512_required},
    {"topology_gang512_preferred", action_set::allocate, gang512_nodes, gang512_nodes, make_topology_gang512_preferred},
}};

using definition_span = std::span<const scenario_definition>;

std::vector<std::string> names_of(definition_span definitions) {
  std::vector<std::string> names;
  for (const scenario_definition& definition : definitions) {
    names.emplace_back(definition.name);
  }
  return names;
}

const scenario_definition& find_definition(std::string_view name) {
  std::string known;
  for (const auto definitions : {definition_span(main_scenarios), definition_span(extra_scenarios)}) {
    for (const scenario_definition& definition : definitions) {
      if (definition.name == name) {
        return definition;
      }
      known.append(known.empty() ? "" : ", ").append(definition.name);
    }
  }
  throw std::invalid_argument("unknown scenario '" + std::string(name) + "'; known are: " + known);
}

void append_field(std::string& line, std::string_view value) { line.append(" ").append(value.empty() ? "-" : value); }

void append_field(std::string& line, std::int64_t value) {
  append_field(line, std::string_view(std::to_string(value)));
}

// GPUs in shortest decimal form: 500 milli-GPU are 0.5.
std::string shortest_gpus(std::int64_t gpus_milli) {
  std::string text = std::to_string(gpus_milli / milli);
  if (const std::int64_t rest = gpus_milli % milli; rest != 0) {
    text += numbered('.', rest, 3);
    text.erase(text.find_last_not_of('0') + 1);
  }
  return text;
}

void append_line(std::string& text, const scenario_node& node) {
  text += "node";
  append_field(text, node.name);
  append_field(text, node.gpus);
  append_field(text, node.block);
  append_field(text, node.rack);
  if (!node.zone.empty()) {
    append_field(text, node.zone);
  }
  text += '\n';
}

void append_line(std::string& text, const scenario_department& department) {
  text += "department";
  append_field(text, department.name);
  append_field(text, department.quota_gpus);
  text += '\n';
}

void append_line(std::string& text, const scenario_queue& queue) {
  text += "queue";
  append_field(text, queue.name);
  append_field(text, queue.parent);
  append_field(text, queue.quota_gpus);
  append_field(text, queue.weight_gpus);
  text += '\n';
}

void append_line(std::string& text, const scenario_job& job, std::span<const scenario_node> nodes) {
  text += "job";
  append_field(text, job.name);
  append_field(text, job.queue);
  append_field(text, job.priority);
  append_field(text, shortest_gpus(job.gpus_milli_per_pod));
  append_field(text, job.required_level);
  append_field(text, job.preferred_level);
  for (const scenario_pod_set& set : job.pod_sets) {
    append_field(text, set.name);
    text.append(":").append(std::to_string(set.min)).append(":").append(std::to_string(set.count));
  }
  std::string placed;
  for (const std::int32_t node : job.nodes) {
    placed.append(placed.empty() ? "" : ",").append(nodes[static_cast<std::size_t>(node)].name);
  }
  append_field(text, placed);
  text += '\n';
}

// Hands the canonical text to `sink` line by line, so that hashing needs no copy of the whole text.
template <typename Sink>
void for_each_line(const scenario_input& input, const Sink& sink) {
  std::string line;
  const auto emit = [&](const auto&... record) {
    line.clear();
    append_line(line, record...);
    sink(std::string_view(line));
  };
  for (const scenario_node& node : input.nodes) {
    emit(node);
  }
  for (const scenario_department& department : input.departments) {
    emit(department);
  }
  for (const scenario_queue& queue : input.queues) {
    emit(queue);
  }
  for (const scenario_job& job : input.jobs) {
    emit(job, input.nodes);
  }
}

}  // namespace

std::int64_t scenario_job::pod_count() const noexcept {
  std::int64_t pods = 0;
  for (const scenario_pod_set& set : pod_sets) {
    pods += set.count;
  }
  return pods;
}

std::vector<std::string> scenario_names() { return names_of(main_scenarios); }

std::vector<std::string> extra_scenario_names() { return names_of(extra_scenarios); }

std::int32_t min_nodes(std::string_view name) { return find_definition(name).min_nodes; }

scenario_input build(std::string_view name, std::int32_t nodes) {
  const scenario_definition& definition = find_definition(name);
  if (nodes < definition.min_nodes || nodes > definition.max_nodes) {
    throw std::invalid_argument("scenario " + std::string(name) + " has " + std::to_string(definition.min_nodes) +
                                " to " + std::to_string(definition.max_nodes) + " nodes, not " + std::to_string(nodes));
  }
  scenario_input input;
  input.name = name;
  input.nodes_count = nodes;
  input.actions = action_names(definition.actions);
  definition.make(input);
  return input;
}

std::string canonical_text(const scenario_input& input) {
  std::string text;
  for_each_line(input, [&](std::string_view line) { text += line; });
  return text;
}

std::string input_sha256(const scenario_input& input) {
  base::sha256 hash;
  for_each_line(input, [&](std::string_view line) { hash.update(line); });
  return base::sha256::hex(hash.finish());
}

}  // namespace kaisched::bench
