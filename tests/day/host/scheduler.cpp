#include "host/scheduler.hpp"

namespace day_host {

namespace {

constexpr std::int64_t nanoseconds = 1'000'000;  // of a millisecond

std::int64_t time_or_unset(ms at) { return at < 0 ? KAISCHED_UNSET : at * nanoseconds; }

input_table node_rows(const day& of) {
  input_table rows(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, of.nodes.size());
  std::vector<std::string> names;
  std::vector<std::int64_t> capacity;
  std::vector<std::vector<std::string>> labels;
  for (const node_row& one : of.nodes) {
    names.push_back(one.name);
    capacity.insert(capacity.end(), {one.cpu, one.memory, one.gpus * KAISCHED_WHOLE_DEVICE, one.pods});
    labels.push_back({"rack", one.rack});
  }
  rows.texts(KAISCHED_NODE_COL_NAME, names);
  rows.numbers(KAISCHED_NODE_COL_CAPACITY, capacity, KAISCHED_BUILT_IN_DIMENSIONS);
  rows.text_lists(KAISCHED_NODE_COL_LABELS, labels);
  return rows;
}

input_table topology_rows() {
  input_table rows(KAISCHED_TABLE_TOPOLOGY, KAISCHED_OP_ADD, 1);
  rows.texts(KAISCHED_TOPOLOGY_COL_NAME, {"net"});
  rows.text_lists(KAISCHED_TOPOLOGY_COL_LEVELS, {{"rack"}});
  return rows;
}

input_table queue_rows(const day& of) {
  input_table rows(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, of.queues.size());
  std::vector<std::string> names;
  std::vector<std::string> parents;
  std::vector<std::int64_t> priority;
  std::vector<std::int64_t> quota;
  std::vector<std::int64_t> limit;
  std::vector<double> weight;
  std::vector<std::int64_t> reclaim;
  std::vector<std::int64_t> preempt;
  for (const queue_row& one : of.queues) {
    names.push_back(one.name);
    parents.push_back(one.parent);
    priority.push_back(one.priority);
    quota.insert(quota.end(), {one.quota_cpu, -1, one.quota_gpu});
    limit.insert(limit.end(), {one.limit_cpu, -1, one.limit_gpu});
    weight.insert(weight.end(), 3, static_cast<double>(one.weight));
    reclaim.push_back(time_or_unset(one.reclaim_min));
    preempt.push_back(time_or_unset(one.preempt_min));
  }
  rows.texts(KAISCHED_QUEUE_COL_NAME, names);
  rows.texts(KAISCHED_QUEUE_COL_PARENT, parents);
  rows.numbers(KAISCHED_QUEUE_COL_PRIORITY, priority);
  rows.numbers(KAISCHED_QUEUE_COL_QUOTA, quota, KAISCHED_QUOTA_DIMENSIONS);
  rows.numbers(KAISCHED_QUEUE_COL_LIMIT, limit, KAISCHED_QUOTA_DIMENSIONS);
  rows.reals(KAISCHED_QUEUE_COL_OVER_QUOTA_WEIGHT, weight, KAISCHED_QUOTA_DIMENSIONS);
  rows.numbers(KAISCHED_QUEUE_COL_RECLAIM_MIN_RUNTIME, reclaim);
  rows.numbers(KAISCHED_QUEUE_COL_PREEMPT_MIN_RUNTIME, preempt);
  return rows;
}

input_table changed_nodes(const world& of, const std::set<int>& which) {
  input_table rows(KAISCHED_TABLE_NODE, KAISCHED_OP_CHANGE, which.size());
  std::vector<std::string> names;
  std::vector<std::uint8_t> ready;
  for (const int node : which) {
    names.push_back(of.plan().nodes[static_cast<std::size_t>(node)].name);
    ready.push_back(of.ready(node) ? 1 : 0);
  }
  rows.texts(KAISCHED_NODE_COL_NAME, names);
  rows.bytes(KAISCHED_NODE_COL_READY, ready);
  return rows;
}

input_table new_groups(const world& of, const std::vector<std::size_t>& which, bool estimates) {
  input_table rows(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, which.size());
  std::vector<std::string> names;
  std::vector<std::string> queues;
  std::vector<std::string> topology;
  std::vector<std::string> level;
  std::vector<std::int64_t> priority;
  std::vector<std::int64_t> created;
  std::vector<std::int64_t> least;
  std::vector<std::int64_t> estimate;
  std::vector<std::uint8_t> preemptible;
  for (const std::size_t job : which) {
    const job_row& row = *of.jobs()[job].row;
    names.push_back(row.name);
    queues.push_back(row.queue);
    topology.emplace_back(row.one_rack ? "net" : "");
    level.emplace_back(row.one_rack ? "rack" : "");
    priority.push_back(row.priority);
    created.push_back(row.submit * nanoseconds);
    least.push_back(row.least);
    estimate.push_back(estimates ? row.run * nanoseconds : KAISCHED_UNSET);
    preemptible.push_back(row.preemptible ? 1 : 0);
  }
  rows.texts(KAISCHED_POD_GROUP_COL_NAME, names);
  rows.texts(KAISCHED_POD_GROUP_COL_QUEUE, queues);
  rows.texts(KAISCHED_POD_GROUP_COL_TOPOLOGY, topology);
  rows.texts(KAISCHED_POD_GROUP_COL_REQUIRED_LEVEL, level);
  rows.numbers(KAISCHED_POD_GROUP_COL_PRIORITY, priority);
  rows.numbers(KAISCHED_POD_GROUP_COL_CREATED, created);
  rows.numbers(KAISCHED_POD_GROUP_COL_MIN_MEMBER, least);
  rows.numbers(KAISCHED_POD_GROUP_COL_RUNTIME_ESTIMATE, estimate);
  rows.bytes(KAISCHED_POD_GROUP_COL_PREEMPTIBLE, preemptible);
  return rows;
}

input_table changed_groups(const world& of, const std::set<std::size_t>& which) {
  input_table rows(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_CHANGE, which.size());
  std::vector<std::string> names;
  std::vector<std::int64_t> start;
  std::vector<std::int64_t> eviction;
  std::vector<std::int64_t> evictions;
  std::vector<std::int64_t> stale;
  for (const std::size_t job : which) {
    const job_state& one = of.jobs()[job];
    names.push_back(one.row->name);
    start.push_back(time_or_unset(one.last_start));
    eviction.push_back(time_or_unset(one.last_eviction));
    evictions.push_back(one.evictions);
    stale.push_back(time_or_unset(one.stale_since));
  }
  rows.texts(KAISCHED_POD_GROUP_COL_NAME, names);
  rows.numbers(KAISCHED_POD_GROUP_COL_LAST_START, start);
  rows.numbers(KAISCHED_POD_GROUP_COL_LAST_EVICTION, eviction);
  rows.numbers(KAISCHED_POD_GROUP_COL_EVICTIONS, evictions);
  rows.numbers(KAISCHED_POD_GROUP_COL_STALE_SINCE, stale);
  return rows;
}

std::uint8_t status_of(pod_state state) {
  switch (state) {
    case pod_state::pending:
      return KAISCHED_POD_STATUS_PENDING;
    case pod_state::claimed:
      return KAISCHED_POD_STATUS_PENDING;
    case pod_state::running:
      return KAISCHED_POD_STATUS_RUNNING;
    case pod_state::releasing:
      return KAISCHED_POD_STATUS_RELEASING;
  }
  return KAISCHED_POD_STATUS_PENDING;
}

/// Pods as they are now; of new ones also what they ask for.
input_table pod_rows(const world& of, const std::vector<pod_key>& which, bool added) {
  input_table rows(KAISCHED_TABLE_POD, added ? KAISCHED_OP_ADD : KAISCHED_OP_CHANGE, which.size());
  std::vector<std::string> names;
  std::vector<std::string> groups;
  std::vector<std::string> nodes;
  std::vector<std::string> promised;
  std::vector<std::int64_t> request;
  std::vector<std::uint8_t> status;
  std::vector<std::int64_t> created;
  std::vector<std::vector<std::int64_t>> devices;
  std::vector<std::vector<std::string>> grants;
  for (const pod_key& key : which) {
    const job_row& row = *of.jobs()[key.first].row;
    const pod& one = of.jobs()[key.first].pods[key.second];
    names.push_back(of.pod_name(key));
    groups.push_back(row.name);
    const std::string node = one.node < 0 ? std::string() : of.plan().nodes[static_cast<std::size_t>(one.node)].name;
    const bool claims = one.state == pod_state::claimed;
    nodes.push_back(claims ? std::string() : node);
    const int next = one.next.node;
    promised.push_back(claims ? node : next < 0 ? std::string() : of.plan().nodes[static_cast<std::size_t>(next)].name);
    request.insert(request.end(), {row.cpu, row.memory, row.gpu});
    status.push_back(status_of(one.state));
    created.push_back(row.submit * nanoseconds);
    devices.push_back(claims ? std::vector<std::int64_t>() : one.devices);
    grants.push_back(claims ? std::vector<std::string>() : one.grants);
  }
  rows.texts(KAISCHED_POD_COL_NAME, names);
  rows.bytes(KAISCHED_POD_COL_STATUS, status);
  rows.texts(KAISCHED_POD_COL_NODE, nodes);
  rows.texts(KAISCHED_POD_COL_NOMINATED_NODE, promised);
  rows.number_lists(KAISCHED_POD_COL_DEVICES, devices);
  rows.text_lists(KAISCHED_POD_COL_DEVICE_GRANTS, grants);
  if (added) {
    rows.texts(KAISCHED_POD_COL_GROUP, groups);
    rows.numbers(KAISCHED_POD_COL_REQUEST, request, 3);
    rows.numbers(KAISCHED_POD_COL_CREATED, created);
  }
  return rows;
}

/// Rows that go: pods, then their groups.
void remove_ended(const world& of, const std::vector<std::size_t>& ended, std::vector<input_table>& to) {
  std::vector<std::string> pods;
  std::vector<std::string> groups;
  for (const std::size_t job : ended) {
    groups.push_back(of.jobs()[job].row->name);
    for (std::size_t p = 0; p < of.jobs()[job].pods.size(); ++p) pods.push_back(of.pod_name({job, p}));
  }
  to.emplace_back(KAISCHED_TABLE_POD, KAISCHED_OP_REMOVE, pods.size()).texts(KAISCHED_POD_COL_NAME, pods);
  to.emplace_back(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_REMOVE, groups.size())
      .texts(KAISCHED_POD_GROUP_COL_NAME, groups);
}

decision decision_at(const kaisched_table* table, std::uint64_t row) {
  static constexpr const char* kinds[] = {"",     "bind",          "pipeline", "evict",
                                          "move", "unschedulable", "migrate",  "repartition"};
  decision one;
  one.kind = kinds[output_column(table, KAISCHED_DECISION_COL_KIND).value<std::uint8_t>(row)];
  one.pod = output_column(table, KAISCHED_DECISION_COL_POD_NAME).text(row);
  one.node = output_column(table, KAISCHED_DECISION_COL_NODE_NAME).text(row);
  one.devices = output_column(table, KAISCHED_DECISION_COL_DEVICES).list(row);
  one.share = output_column(table, KAISCHED_DECISION_COL_DEVICE_SHARE).value<std::int64_t>(row);
  one.grants = output_column(table, KAISCHED_DECISION_COL_DEVICE_GRANTS).texts(row);
  one.action = output_column(table, KAISCHED_DECISION_COL_ACTION).text(row);
  one.commit = output_column(table, KAISCHED_DECISION_COL_COMMIT).value<std::uint32_t>(row);
  one.id = output_column(table, KAISCHED_DECISION_COL_POD).value<std::uint64_t>(row);
  return one;
}

decided read_session(const kaisched_session* session) {
  kaisched_error err = KAISCHED_ERROR_INIT;
  const kaisched_table* table = nullptr;
  decided all;
  demand(kaisched_session_table(session, KAISCHED_TABLE_DECISION, &table, &err), err);
  const output_column kind(table, KAISCHED_DECISION_COL_KIND);
  for (std::uint64_t row = 0; row < table->rows; ++row) {
    if (kind.value<std::uint8_t>(row) == KAISCHED_DECISION_UNSCHEDULABLE) continue;
    all.decisions.push_back(decision_at(table, row));
  }
  demand(kaisched_session_table(session, KAISCHED_TABLE_QUEUE_SHARE, &table, &err), err);
  const output_column name(table, KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME);
  const output_column fair(table, KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE);
  const output_column request(table, KAISCHED_QUEUE_SHARE_COL_REQUEST);
  const output_column allocated(table, KAISCHED_QUEUE_SHARE_COL_ALLOCATED);
  for (std::uint64_t row = 0; row < table->rows; ++row) {
    queue_account one{name.text(row), {}, {}, {}};
    for (std::uint32_t d = 0; d < 3; ++d) {
      one.fair[d] = fair.value<std::int64_t>(row, d);
      one.request[d] = request.value<std::int64_t>(row, d);
      one.allocated[d] = allocated.value<std::int64_t>(row, d);
    }
    all.accounts.push_back(std::move(one));
  }
  return all;
}

/// What the next session's searches have to know. `assume` does the same.
void keep_searched(const kaisched_session* session, kaisched_cluster* cluster) {
  kaisched_error err = KAISCHED_ERROR_INIT;
  const kaisched_table* searched = nullptr;
  demand(kaisched_session_table(session, KAISCHED_TABLE_POD_GROUP, &searched, &err), err);
  if (searched->rows > 0) demand(kaisched_cluster_apply(cluster, &searched, 1, &err), err);
}

}  // namespace

scheduler::scheduler(const day& of, const option_list& options, bool keeps, bool estimates)
    : keeps_(keeps), estimates_(estimates) {
  std::vector<kaisched_kv> pairs;
  for (const auto& [key, value] : options) pairs.push_back({key.c_str(), value.c_str()});
  kaisched_error err = KAISCHED_ERROR_INIT;
  kaisched_engine* engine = nullptr;
  demand(kaisched_engine_create(KAISCHED_ABI_VERSION, pairs.data(), pairs.size(), &engine, &err), err);
  engine_.reset(engine);
  kaisched_cluster* cluster = nullptr;
  demand(kaisched_cluster_create(&cluster, &err), err);
  cluster_.reset(cluster);
  std::vector<input_table> tables;
  tables.push_back(topology_rows());
  tables.push_back(queue_rows(of));
  tables.push_back(node_rows(of));
  apply(tables);
}

void scheduler::apply(std::vector<input_table>& tables) {
  std::vector<const kaisched_table*> all;
  for (input_table& one : tables) all.push_back(one.get());
  kaisched_error err = KAISCHED_ERROR_INIT;
  demand(kaisched_cluster_apply(cluster_.get(), all.data(), all.size(), &err), err);
}

void scheduler::tell(world& of) {
  untold& news = of.news();
  std::vector<input_table> tables;
  if (!news.nodes.empty()) tables.push_back(changed_nodes(of, news.nodes));
  if (!news.ended_jobs.empty()) remove_ended(of, news.ended_jobs, tables);
  std::vector<pod_key> added;
  std::set<std::size_t> fresh;
  for (const std::size_t job : news.new_jobs) {
    fresh.insert(job);
    for (std::size_t p = 0; p < of.jobs()[job].pods.size(); ++p) added.emplace_back(job, p);
  }
  std::vector<pod_key> changed;
  for (const pod_key& key : news.pods) {
    if (!fresh.contains(key.first)) changed.push_back(key);
  }
  std::set<std::size_t> groups;
  for (const std::size_t job : news.jobs) {
    if (!fresh.contains(job)) groups.insert(job);
  }
  if (!news.new_jobs.empty()) tables.push_back(new_groups(of, news.new_jobs, estimates_));
  if (!groups.empty()) tables.push_back(changed_groups(of, groups));
  if (!changed.empty()) tables.push_back(pod_rows(of, changed, false));
  if (!added.empty()) tables.push_back(pod_rows(of, added, true));
  if (!tables.empty()) apply(tables);
  news = untold{};
}

decided scheduler::run(world& of, ms now) {
  tell(of);
  kaisched_error err = KAISCHED_ERROR_INIT;
  kaisched_snapshot* snapshot = nullptr;
  demand(kaisched_cluster_snapshot(cluster_.get(), &snapshot, &err), err);
  const snapshot_handle owned(snapshot);
  kaisched_session* opened = nullptr;
  demand(kaisched_run(engine_.get(), snapshot, now * nanoseconds, &opened, &err), err);
  const session_handle session(opened);
  decided all = read_session(opened);
  if (!keeps_) {
    keep_searched(opened, cluster_.get());
    return all;
  }
  std::uint64_t conflicts = 0;
  demand(kaisched_cluster_assume(cluster_.get(), opened, &conflicts, &err), err);
  if (conflicts > 0) {
    const kaisched_table* table = nullptr;
    demand(kaisched_cluster_table(cluster_.get(), KAISCHED_TABLE_CONFLICT, &table, &err), err);
    const output_column commit(table, KAISCHED_CONFLICT_COL_COMMIT);
    for (std::uint64_t row = 0; row < table->rows; ++row) all.refused.push_back(commit.value<std::uint32_t>(row));
  }
  return all;
}

bool scheduler::starts_first(world& of, std::size_t job, ms now) {
  tell(of);
  const std::string name = of.jobs()[job].row->name;
  input_table first(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_CHANGE, 1);
  first.texts(KAISCHED_POD_GROUP_COL_NAME, {name});
  first.numbers(KAISCHED_POD_GROUP_COL_PRIORITY, {1'000'000});
  first.numbers(KAISCHED_POD_GROUP_COL_CREATED, {0});
  const kaisched_table* const tables[] = {first.get()};
  kaisched_error err = KAISCHED_ERROR_INIT;
  kaisched_snapshot* snapshot = nullptr;
  demand(kaisched_cluster_preview(cluster_.get(), tables, 1, &snapshot, &err), err);
  const snapshot_handle owned(snapshot);
  kaisched_session* opened = nullptr;
  demand(kaisched_run(engine_.get(), snapshot, now * nanoseconds, &opened, &err), err);
  const session_handle session(opened);
  const decided all = read_session(opened);
  bool starts = false;
  bool stops = false;
  for (const decision& one : all.decisions) {
    starts = starts || (one.kind == "bind" && of.pod_of(one.pod).first == job);
    stops = stops || one.kind == "evict" || one.kind == "move";
  }
  return starts && !stops;
}

void scheduler::confirm(const std::vector<std::uint64_t>& pods) {
  if (!keeps_ || pods.empty()) return;
  kaisched_error err = KAISCHED_ERROR_INIT;
  demand(kaisched_cluster_confirm(cluster_.get(), pods.data(), pods.size(), &err), err);
}

}  // namespace day_host
