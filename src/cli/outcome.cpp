#include "cli/outcome.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <kaisched/eigen.hpp>
#include <kaisched/schema.hpp>

#include "cli/tables.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

quota_amounts amounts_at(const table_view& rows, std::uint32_t column, std::uint64_t row) {
  quota_amounts found{};
  if (const column_view* values = rows.find(column); values != nullptr) {
    const auto first = values->values<std::int64_t>(rows.rows).subspan(row * values->width);
    std::copy_n(first.begin(), std::min<std::size_t>(found.size(), values->width), found.begin());
  }
  return found;
}

std::vector<std::string> texts_at(const table_view& rows, std::uint32_t column, std::uint64_t row) {
  const std::vector<std::string_view> texts = split_list(text_at(rows, column, row));
  return {texts.begin(), texts.end()};
}

std::span<const std::int64_t> list_at(const table_view& rows, std::uint32_t column, std::uint64_t row) {
  return rows.find(column)->list(row);
}

std::uint8_t byte_at(const table_view& rows, std::uint32_t column, std::uint64_t row) {
  const column_view* values = rows.find(column);
  return values == nullptr ? std::uint8_t{0} : values->values<std::uint8_t>(rows.rows)[row];
}

bool is_on_node(pod_status status) {
  return !waits(status) && status != pod_status::succeeded && status != pod_status::failed &&
         status != pod_status::unknown;
}

// ---- nodes ----------------------------------------------------------------------------------------------------------

std::vector<std::int64_t> used_of_nodes(const session_view& view) {
  const std::span<const std::int64_t> capacity = view.node_capacity();
  const std::span<const std::int64_t> idle = view.node_idle();
  std::vector<std::int64_t> used(capacity.size());
  for (std::size_t i = 0; i < used.size(); ++i) used[i] = capacity[i] - idle[i];
  return used;
}

/// Label keys of the primary topology, or of the first one if none is primary, widest first.
std::vector<std::string> topology_levels(const snapshot& of) {
  const result<table> topologies = of.to_table(table_kind::topology);
  if (!topologies || topologies->rows() == 0) return {};
  const table_view rows = topologies->view();
  std::uint64_t chosen = 0;
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    if (byte_at(rows, col::topology_primary, row) != 0) chosen = row;
  }
  std::vector<std::string> levels;
  for (const std::string_view level : split_list(text_at(rows, col::topology_levels, chosen))) {
    levels.emplace_back(level);
  }
  return levels;
}

/// Names of the domains of a node above the narrowest level.
std::string parents_of(const session_view& view, node_row node, std::span<const std::string> levels) {
  std::string path;
  for (const std::string& level : levels.first(levels.size() - 1)) {
    if (!path.empty()) path += ' ';
    path += view.node_label(node, level);
  }
  return path;
}

void add_nodes(const session_view& view, std::span<const std::int64_t> before, outcome& to) {
  const std::vector<std::int64_t> after = used_of_nodes(view);
  const std::span<const std::int64_t> capacity = view.node_capacity();
  const std::uint32_t dimensions = view.dimension_count();
  std::map<std::pair<std::string, std::string_view>, std::size_t> index;
  for (node_row n = 0; n < view.node_count(); ++n) {
    const std::size_t first = std::size_t{n} * dimensions;
    for (std::size_t d = 0; d < quota_dimensions; ++d) {
      to.used.total[d] += capacity[first + d];
      to.used.before[d] += before[first + d];
      to.used.after[d] += after[first + d];
    }
    if (capacity[first + dim_gpu] == 0) continue;
    ++to.gpu_nodes;
    if (to.domain_levels.empty()) continue;
    const std::string_view name = view.node_label(n, to.domain_levels.back());
    const std::string parents = parents_of(view, n, to.domain_levels);
    const auto [found, is_new] = index.try_emplace({parents, name}, to.domains.size());
    if (is_new) to.domains.push_back({std::string(name), parents, 0, 0, 0});
    domain_figures& domain = to.domains[found->second];
    domain.total += capacity[first + dim_gpu];
    domain.before += before[first + dim_gpu];
    domain.after += after[first + dim_gpu];
  }
}

// ---- queues ---------------------------------------------------------------------------------------------------------

/// Queues so that children follow their parent, siblings in the order of the table.
void sort_as_tree(std::vector<queue_figures>& queues) {
  std::map<std::string_view, std::vector<std::size_t>> children;  // by name of the parent, in their order
  for (std::size_t i = 0; i < queues.size(); ++i) children[queues[i].parent].push_back(i);
  std::vector<std::pair<std::size_t, std::uint32_t>> next;  // queue and depth; the last one comes first
  const auto has_children = [&](std::string_view parent, std::uint32_t depth) {
    const auto found = children.find(parent);
    if (found == children.end()) return false;
    for (auto at = found->second.rbegin(); at != found->second.rend(); ++at) next.emplace_back(*at, depth);
    return true;
  };
  std::vector<queue_figures> sorted;
  sorted.reserve(queues.size());
  has_children("", 0);
  while (!next.empty()) {
    const auto [of, depth] = next.back();
    next.pop_back();
    queue_figures& queue = sorted.emplace_back(queues[of]);
    queue.depth = depth;
    queue.has_children = has_children(queues[of].name, depth + 1);
  }
  queues = std::move(sorted);
}

quota_amounts amounts_of(const column_matrix<std::int64_t>& shares, std::uint64_t queue) {
  quota_amounts found{};
  const auto row = static_cast<Eigen::Index>(queue);
  for (Eigen::Index r = 0; r < shares.cols(); ++r) found[static_cast<std::size_t>(r)] = shares(row, r);
  return found;
}

result<void> add_queues(const session& from, const table_view& before, outcome& to) {
  const result<table> after = from.to_table(table_kind::queue_share);
  if (!after) return after.failure();
  const table_view rows = after->view();
  const auto quota = share_matrix(rows, col::share_quota);
  const auto limit = share_matrix(rows, col::share_limit);
  const auto fair_share = share_matrix(rows, col::share_fair_share);
  const auto request = share_matrix(rows, col::share_request);
  const auto held_before = share_matrix(before, col::share_allocated);
  const auto held_after = share_matrix(rows, col::share_allocated);
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    queue_figures& queue = to.shares.emplace_back();
    queue.name = text_at(rows, col::share_queue_name, row);
    queue.parent = text_at(rows, col::share_parent, row);
    queue.quota = amounts_of(quota, row);
    queue.limit = amounts_of(limit, row);
    queue.fair_share = amounts_of(fair_share, row);
    queue.request = amounts_of(request, row);
    queue.before = amounts_of(held_before, row);
    queue.after = amounts_of(held_after, row);
    queue.waiting_pods = rows.find(col::share_pending_pods)->values<std::int64_t>(rows.rows)[row];
  }
  sort_as_tree(to.shares);
  return {};
}

// ---- jobs -----------------------------------------------------------------------------------------------------------

/// What of a job waits at the end.
struct waiting_job {
  std::int64_t pods = 0;
  std::int64_t gpus = 0;
};
using waiting_jobs = std::map<std::string, waiting_job, std::less<>>;

result<waiting_jobs> add_pods(const session& from, outcome& to) {
  const result<table> pods = from.base().to_table(table_kind::pod);
  const result<table> placements = from.to_table(table_kind::placement);
  if (!pods) return pods.failure();
  if (!placements) return placements.failure();
  const table_view at_end = placements->view();
  std::map<std::string_view, pod_status> end_status;
  for (std::uint64_t row = 0; row < at_end.rows; ++row) {
    end_status.emplace(text_at(at_end, col::placement_pod_name, row),
                       static_cast<pod_status>(byte_at(at_end, col::placement_status, row)));
  }
  waiting_jobs waiting;
  const table_view rows = pods->view();
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    if (is_on_node(static_cast<pod_status>(byte_at(rows, col::pod_status_column, row)))) ++to.pods_before;
    const auto end = end_status.find(text_at(rows, col::pod_name, row));
    if (end == end_status.end() || !waits(end->second)) continue;
    ++to.pods_waiting;
    waiting_job& job = waiting[std::string(text_at(rows, col::pod_group_ref, row))];
    ++job.pods;
    job.gpus += amounts_at(rows, col::pod_request, row)[dim_gpu];
  }
  return waiting;
}

result<void> add_decisions(const session& from, outcome& to) {
  const result<table> decisions = from.to_table(table_kind::decision);
  if (!decisions) return decisions.failure();
  const table_view rows = decisions->view();
  std::set<std::string_view> started;
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    const auto kind = static_cast<decision_kind>(byte_at(rows, col::decision_kind, row));
    switch (kind) {
      case decision_kind::bind:
        ++to.pods_started;
        break;
      case decision_kind::pipeline:
        ++to.pods_claiming;
        break;
      case decision_kind::evict:
        ++to.pods_evicted;
        break;
      case decision_kind::move:
      case decision_kind::migrate:
        ++to.pods_moved;
        break;
      case decision_kind::repartition:
        to.divisions.push_back({std::string(text_at(rows, col::decision_node_name, row)),
                                std::string(text_at(rows, col::decision_group_name, row)),
                                list_at(rows, col::decision_devices, row).front(),
                                texts_at(rows, col::decision_layout, row), texts_at(rows, col::decision_gone, row)});
        break;
      case decision_kind::unschedulable:
        ++to.jobs_waiting;
        break;
    }
    if (kind == decision_kind::bind) started.insert(text_at(rows, col::decision_group_name, row));
  }
  to.jobs_started = std::ssize(started);
  return {};
}

std::string_view name_of(const session& from, dimension d) {
  const std::vector<std::string_view> names = from.base().dimension_names();
  return d < names.size() ? names[d] : std::string_view("resources");
}

/// Which of the reasons of a job decides: what no node can change first, then what stands in the way on the nodes that
/// came closest, last what keeps whole pools away.
int weight_of(constraint what) {
  switch (what) {
    case constraint::queue_missing:
    case constraint::gang_incomplete:
    case constraint::gated:
    case constraint::obstacle:
    case constraint::larger_than_any_node:
    case constraint::not_tried:
    case constraint::reservation:
    case constraint::requeue_delay:
    case constraint::dependency:
      return 0;
    case constraint::queue_limit:
    case constraint::queue_quota:
    case constraint::cell:
      return 1;
    case constraint::resource:
    case constraint::resource_busy:
    case constraint::topology:
      return 2;
    case constraint::pod_affinity:
    case constraint::pod_anti_affinity:
    case constraint::host_port:
    case constraint::plugin:
    case constraint::gpu_type_limit:
    case constraint::numa_alignment:
    case constraint::resource_claim:
    case constraint::vendor_device:
    case constraint::disruption_budget:
    case constraint::node_reserved:
    case constraint::spread:
    case constraint::set_aside:
    case constraint::device_load:
    case constraint::power:
    case constraint::deadline:
      return 3;
    case constraint::node_selector:
    case constraint::device_kind:
      return 4;
    case constraint::taint:
      return 5;
    case constraint::node_unschedulable:
    case constraint::node_not_ready:
    case constraint::sub_group_missing:
    case constraint::none:
      break;
  }
  return 6;
}

/// Dimensions of which a considerable part of the nodes has too little, GPUs first.
std::string short_dimensions(const session& from, std::span<const reason> reasons) {
  std::int64_t nodes = 0;
  for (const reason& why : reasons) nodes += why.what == constraint::resource ? why.nodes : 0;
  std::vector<dimension> missing;
  for (const reason& why : reasons) {
    if (why.what == constraint::resource && std::int64_t{why.nodes} * 10 >= nodes) missing.push_back(why.dim);
  }
  std::sort(missing.begin(), missing.end(),
            [](dimension a, dimension b) { return std::pair(a != dim_gpu, a) < std::pair(b != dim_gpu, b); });
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  std::string text;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (i > 0) text += i + 1 == missing.size() ? " and " : ", ";
    text += name_of(from, missing[i]);
  }
  return text;
}

std::string node_headline(const session& from, std::span<const reason> reasons) {
  const reason& why = reasons.front();
  switch (why.what) {
    case constraint::resource: {
      const std::string dimensions = short_dimensions(from, reasons);
      const bool several = dimensions.find(' ') != std::string::npos;
      return fmt::format("no allowed node has enough {} free{}", dimensions, several ? " at once" : "");
    }
    case constraint::resource_busy:
      return fmt::format("enough {} is free, but not in one piece", name_of(from, why.dim));
    case constraint::node_not_ready:
      return "the nodes that fit are not ready";
    case constraint::node_unschedulable:
      return "the nodes that fit are cordoned";
    case constraint::node_selector:
      return "no allowed node has the labels that are asked for";
    case constraint::taint:
      return "the nodes that fit have taints that are not tolerated";
    case constraint::host_port:
      return "the port is taken";
    case constraint::pod_affinity:
      return "no room near the pods that are asked for";
    case constraint::pod_anti_affinity:
      return "must keep away from pods that are everywhere already";
    case constraint::vendor_device:
      return "no node has devices for it by the rules of their vendor";
    case constraint::node_reserved:
      return "nodes are reserved for others, or will be before it has ended";
    case constraint::spread:
      return "pods like it would be spread too unevenly";
    case constraint::device_load:
      return "pods on shared devices put too much on them already";
    case constraint::set_aside:
      return "what nodes have free is set aside for pods with GPUs";
    case constraint::power:
      return "the power feeds of nodes have too little left";
    default:
      return fmt::format("refused by {}", constraint_name(why.what));
  }
}

std::string headline_of(const session& from, std::span<const reason> reasons) {
  const reason& why = reasons.front();
  if (why.scope == reason_scope::node) return node_headline(from, reasons);
  const std::string_view queue = why.subject ? from.base().name(why.subject) : std::string_view("its queue");
  switch (why.what) {
    case constraint::resource_busy:
      return "the pods that must start together fit one by one, but not all";
    case constraint::obstacle:
      return "an obstacle that no scheduler can remove";
    case constraint::larger_than_any_node:
      return "a pod is larger than the largest node";
    case constraint::queue_limit:
      return fmt::format("{} is at its {} limit", queue, name_of(from, why.dim));
    case constraint::queue_quota:
      return fmt::format("{} has no {} quota left{}", queue, name_of(from, why.dim),
                         from.view().group_preemptible(why.group) ? "" : " for jobs that may not be evicted");
    case constraint::cell:
      return fmt::format("{} has too few free cells", queue);
    case constraint::queue_missing:
      return "the queue does not exist, or has child queues";
    case constraint::gang_incomplete:
      return "fewer pods exist than the gang needs";
    case constraint::gated:
      return "the pods are gated";
    case constraint::sub_group_missing:
      return "the pods name a sub-group that does not exist or that has children";
    case constraint::not_tried:
      return "no action has tried the job";
    case constraint::reservation:
      return "a larger job that waits would start later";
    case constraint::deadline:
      return "the deadline cannot be kept beside those that were promised before";
    case constraint::requeue_delay:
      return "the job was evicted and waits for its delay";
    case constraint::dependency:
      return "the job comes after others";
    case constraint::topology:
      return "no domain of the topology has room for all its pods";
    case constraint::disruption_budget:
      return "a disruption budget lets no more pods go";
    default:
      return fmt::format("refused by {}", constraint_name(why.what));
  }
}

std::vector<waiting_group> waiting_groups_of(const session& from, const waiting_jobs& jobs) {
  std::vector<waiting_group> groups;
  for (const reason& why : from.reasons()) {
    if (groups.empty() || groups.back().group != why.group) groups.push_back({why.group, {}, 0, 0, {}});
    groups.back().reasons.push_back(why);
  }
  for (waiting_group& one : groups) {
    const auto decisive =
        std::min_element(one.reasons.begin(), one.reasons.end(),
                         [](const reason& a, const reason& b) { return weight_of(a.what) < weight_of(b.what); });
    std::rotate(one.reasons.begin(), decisive, decisive + 1);
    one.headline = headline_of(from, one.reasons);
    const auto found = jobs.find(from.base().group_name(one.group));
    if (found == jobs.end()) continue;
    one.pods = found->second.pods;
    one.gpus = found->second.gpus;
  }
  return groups;
}

std::vector<std::uint32_t> last_decisions(const session& from) {
  std::vector<std::uint32_t> last(model::state_of(from.base()).pod_slots, no_row);
  const std::span<const decision> all = from.decisions();
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].pod != no_row) last[all[i].pod] = i;
  }
  return last;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void add_counts(const snapshot& of, outcome& to) {
  to.nodes = static_cast<std::int64_t>(of.count(entity_kind::node));
  to.pods = static_cast<std::int64_t>(of.count(entity_kind::pod));
  to.jobs = static_cast<std::int64_t>(of.count(entity_kind::pod_group));
  to.queues = static_cast<std::int64_t>(of.count(entity_kind::queue));
}

}  // namespace

std::vector<waiting_figures> summary_of(const session& from, std::span<const waiting_group> groups) {
  std::vector<waiting_figures> summary;
  std::map<std::string_view, std::size_t> index;
  for (const waiting_group& one : groups) {
    const auto [found, is_new] = index.try_emplace(one.headline, summary.size());
    if (is_new) summary.emplace_back().headline = one.headline;
    waiting_figures& to = summary[found->second];
    ++to.jobs;
    to.pods += one.pods;
    to.gpus += one.gpus;
    if (!is_new) continue;
    to.example_job = from.base().group_name(one.group);
    to.example_pods = one.pods;
    to.example_gpus = one.gpus;
    for (const reason& why : one.reasons) to.example_reasons.push_back(from.text(why));
  }
  std::sort(summary.begin(), summary.end(), [](const waiting_figures& a, const waiting_figures& b) {
    return std::tuple(-a.gpus, -a.jobs, a.headline) < std::tuple(-b.gpus, -b.jobs, b.headline);
  });
  return summary;
}

std::size_t decide_steps(const engine& with) { return with.options().actions.size() + 2; }

result<decided> decide(const engine& with, const snapshot& over, std::int64_t now, progress& shown,
                       const std::function<void(const session*)>& watch) {
  outcome figures;
  shown.next("dividing fair shares");
  const auto opening = std::chrono::steady_clock::now();
  result<session> opened = with.open(over, now);
  figures.decide_seconds = seconds_since(opening);
  if (!opened) return opened.take_failure();

  const std::vector<std::int64_t> used_before = used_of_nodes(opened->view());
  const result<table> shares_before = opened->to_table(table_kind::queue_share);
  if (!shares_before) return shares_before.failure();

  if (watch) watch(&*opened);
  for (const std::string& action : with.options().actions) {
    shown.next("action " + action);
    const auto running = std::chrono::steady_clock::now();
    if (auto ran = opened->run(action); !ran) {
      if (watch) watch(nullptr);
      return ran.take_failure();
    }
    figures.decide_seconds += seconds_since(running);
  }
  if (watch) watch(nullptr);
  shown.next("asking why the rest waits");

  add_counts(over, figures);
  figures.domain_levels = topology_levels(over);
  add_nodes(opened->view(), used_before, figures);
  if (auto added = add_queues(*opened, shares_before->view(), figures); !added) return added.take_failure();
  if (auto added = add_decisions(*opened, figures); !added) return added.take_failure();
  result<waiting_jobs> jobs = add_pods(*opened, figures);
  if (!jobs) return jobs.take_failure();
  figures.waiting_groups = waiting_groups_of(*opened, *jobs);
  figures.waiting = summary_of(*opened, figures.waiting_groups);
  figures.digest = opened->digest();
  figures.preset = with.options().preset;
  figures.mode = with.get("mode").ok() ? *with.get("mode") : std::string();
  std::vector<std::uint32_t> last = last_decisions(*opened);
  return decided{std::move(*opened), std::move(figures), std::move(last)};
}

}  // namespace kaisched::cli
