#include "calls.hpp"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <utility>

namespace failed_allocations {

namespace {

// ---- a cluster as tables -------------------------------------------------------------------------------------------

/// A table of a caller, with its values.
class rows {
 public:
  rows(std::uint32_t kind, std::uint32_t op, std::uint64_t count)
      : table_{sizeof(kaisched_table), kind, op, 0, count, nullptr} {}

  rows& texts(std::uint32_t column, const std::vector<std::string>& values) {
    std::string& bytes = bytes_.emplace_back();
    std::vector<std::uint32_t>& offsets = offsets_.emplace_back(1, 0U);
    for (const std::string& one : values) {
      bytes += one;
      offsets.push_back(static_cast<std::uint32_t>(bytes.size()));
    }
    columns_.push_back({column, KAISCHED_TYPE_STRING, 0, 0, bytes.data(), offsets.data()});
    return *this;
  }
  rows& numbers(std::uint32_t column, std::vector<std::int64_t> values, std::uint32_t width = 1) {
    columns_.push_back({column, KAISCHED_TYPE_I64, width, 0, numbers_.emplace_back(std::move(values)).data(), nullptr});
    return *this;
  }
  rows& small(std::uint32_t column, std::vector<std::uint8_t> values) {
    columns_.push_back({column, KAISCHED_TYPE_U8, 1, 0, small_.emplace_back(std::move(values)).data(), nullptr});
    return *this;
  }
  const kaisched_table* get() {
    table_.columns = columns_.data();
    table_.column_count = static_cast<std::uint32_t>(columns_.size());
    return &table_;
  }

 private:
  kaisched_table table_;
  std::deque<std::string> bytes_;
  std::deque<std::vector<std::uint32_t>> offsets_;
  std::deque<std::vector<std::int64_t>> numbers_;
  std::deque<std::vector<std::uint8_t>> small_;
  std::vector<kaisched_col> columns_;
};

struct group_row {
  std::string name;
  std::string queue;
  std::int64_t min_member;
  std::int64_t priority;
  std::int64_t gpus;               ///< of a pod, in thousandths
  std::vector<std::string> nodes;  ///< of its pods; empty: the pod waits
};

std::string node_name(std::size_t i) { return "node-with-a-name-that-is-allocated-" + std::to_string(i); }

/// Every action of `kai` has something to do.
class cluster_tables {
 public:
  explicit cluster_tables(std::size_t times) {
    std::vector<std::string> nodes;
    std::vector<std::int64_t> capacity;
    for (std::size_t i = 0; i < 3 * times; ++i) {
      nodes.push_back(node_name(i));
      capacity.insert(capacity.end(), {64'000, std::int64_t{1} << 39, 4'000, 110});
    }
    nodes_.emplace(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, nodes.size());
    nodes_->texts(KAISCHED_NODE_COL_NAME, nodes).numbers(KAISCHED_NODE_COL_CAPACITY, capacity, 4);
    const auto whole = static_cast<std::int64_t>(12'000 * times);
    queues_.emplace(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 3);
    queues_->texts(KAISCHED_QUEUE_COL_NAME, {"root", "left", "right"})
        .texts(KAISCHED_QUEUE_COL_PARENT, {"", "root", "root"})
        .numbers(KAISCHED_QUEUE_COL_QUOTA, {-1, -1, whole, -1, -1, whole / 2, -1, -1, whole / 2}, 3);
    std::vector<group_row> groups;
    for (std::size_t t = 0; t < times; ++t) {
      const std::string number = std::to_string(t);
      const auto on = [t](std::size_t i) { return node_name(3 * t + i); };
      groups.push_back(
          {"runs-left-" + number, "left", 1, 50, 1'000, {on(0), on(0), on(0), on(1), on(1), on(1), on(2), on(2)}});
      groups.push_back({"runs-right-" + number, "right", 2, 50, 1'000, {on(0), on(2)}});
      groups.push_back({"shares-" + number, "left", 1, 50, 500, {""}});
      groups.push_back({"wants-" + number, "right", 1, 50, 2'000, {""}});
      groups.push_back({"fragment-" + number, "right", 1, 70, 2'000, {""}});
      groups.push_back({"urgent-" + number, "left", 2, 90, 1'000, {"", ""}});
      groups.push_back({"gang-" + number, "right", 2, 60, 1'000, {"", ""}});
      groups.push_back({"too-large-" + number, "left", 1, 50, 9'000, {""}});
    }
    add_groups(groups);
    std::erase_if(groups, [](const group_row& one) { return !one.nodes.front().empty(); });
    line_ = std::unique_ptr<cluster_tables>(new cluster_tables(groups));
  }

  /// Queues, nodes, groups and pods.
  [[nodiscard]] std::vector<const kaisched_table*> all() {
    return {queues_->get(), nodes_->get(), groups_->get(), pods_->get()};
  }
  [[nodiscard]] std::vector<const kaisched_table*> site() { return {queues_->get(), nodes_->get()}; }
  /// The same without what is on nodes.
  [[nodiscard]] std::vector<const kaisched_table*> line() {
    return {queues_->get(), line_->groups_->get(), line_->pods_->get()};
  }

 private:
  explicit cluster_tables(const std::vector<group_row>& groups) { add_groups(groups); }
  void add_groups(const std::vector<group_row>& groups) {
    std::vector<std::string> names;
    std::vector<std::string> queues;
    std::vector<std::int64_t> members;
    std::vector<std::int64_t> priorities;
    std::vector<std::string> pods;
    std::vector<std::string> of;
    std::vector<std::string> places;
    std::vector<std::int64_t> requests;
    std::vector<std::uint8_t> statuses;
    for (const group_row& one : groups) {
      names.push_back(one.name);
      queues.push_back(one.queue);
      members.push_back(one.min_member);
      priorities.push_back(one.priority);
      for (const std::string& node : one.nodes) {
        pods.push_back(one.name + "-pod-" + std::to_string(pods.size()));
        of.push_back(one.name);
        places.push_back(node);
        requests.insert(requests.end(), {1'000, 1 << 20, one.gpus});
        statuses.push_back(node.empty() ? KAISCHED_POD_STATUS_PENDING : KAISCHED_POD_STATUS_RUNNING);
      }
    }
    groups_.emplace(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, names.size());
    groups_->texts(KAISCHED_POD_GROUP_COL_NAME, names)
        .texts(KAISCHED_POD_GROUP_COL_QUEUE, queues)
        .numbers(KAISCHED_POD_GROUP_COL_MIN_MEMBER, members)
        .numbers(KAISCHED_POD_GROUP_COL_PRIORITY, priorities);
    pods_.emplace(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, pods.size());
    pods_->texts(KAISCHED_POD_COL_NAME, pods)
        .texts(KAISCHED_POD_COL_GROUP, of)
        .texts(KAISCHED_POD_COL_NODE, places)
        .numbers(KAISCHED_POD_COL_REQUEST, requests, 3)
        .small(KAISCHED_POD_COL_STATUS, statuses);
  }

  std::optional<rows> queues_;
  std::optional<rows> nodes_;
  std::optional<rows> groups_;
  std::optional<rows> pods_;
  std::unique_ptr<cluster_tables> line_;
};

// ---- what can be seen ----------------------------------------------------------------------------------------------

/// Ends the program: the tests themselves are wrong.
void must(kaisched_status status, const kaisched_error& err) {
  if (status == KAISCHED_OK) return;
  std::printf("a test cannot be prepared: %s: %s\n", kaisched_status_name(status), err.message);
  std::exit(2);
}
#define MUST(name, ...)                        \
  do {                                         \
    kaisched_error err_ = KAISCHED_ERROR_INIT; \
    must(name(__VA_ARGS__, &err_), err_);      \
  } while (0)

std::size_t size_of(std::uint32_t type) {
  switch (type) {
    case KAISCHED_TYPE_U8:
    case KAISCHED_TYPE_STRING:
      return 1;
    case KAISCHED_TYPE_U32:
    case KAISCHED_TYPE_STRING_LIST:
      return 4;
    default:
      return 8;
  }
}

std::string text_of(const kaisched_table* table) {
  if (table == nullptr) return "no table";
  std::string all = std::to_string(table->kind) + " " + std::to_string(table->rows);
  for (std::uint32_t i = 0; i < table->column_count; ++i) {
    const kaisched_col& column = table->columns[i];
    all += "\n" + std::to_string(column.id) + " ";
    const std::size_t size = size_of(column.type);
    if (column.offsets == nullptr) {
      if (table->rows > 0) all.append(static_cast<const char*>(column.data), table->rows * column.width * size);
      continue;
    }
    all.append(reinterpret_cast<const char*>(column.offsets), (table->rows + 1) * sizeof(std::uint32_t));
    if (column.type == KAISCHED_TYPE_STRING)
      all.append(static_cast<const char*>(column.data), column.offsets[table->rows]);
  }
  return all + "\n";
}

std::string digest_of(const kaisched_snapshot* snapshot) {
  char text[65] = "";
  std::size_t needed = 0;
  MUST(kaisched_snapshot_digest, snapshot, text, sizeof text, &needed);
  return std::string(text) + "\n";
}
std::string digest_of(kaisched_cluster* cluster) {
  kaisched_snapshot* snapshot = nullptr;
  MUST(kaisched_cluster_snapshot, cluster, &snapshot);
  const kaisched_table* open = nullptr;
  MUST(kaisched_cluster_table, cluster, KAISCHED_TABLE_ASSUMPTION, &open);
  std::string all = digest_of(snapshot) + text_of(open);
  kaisched_snapshot_release(snapshot);
  return all;
}
std::string text_of(const kaisched_session* session) {
  kaisched_checkpoint mark{};
  MUST(kaisched_session_mark, session, &mark);
  const kaisched_table* decisions = nullptr;
  MUST(kaisched_session_table, session, KAISCHED_TABLE_DECISION, &decisions);
  return std::to_string(mark.depth) + " " + text_of(decisions);
}
std::string options_of(const kaisched_engine* engine) {
  std::string all;
  for (std::size_t i = 0;; ++i) {
    kaisched_option option{};
    option.struct_size = sizeof option;
    kaisched_error err = KAISCHED_ERROR_INIT;
    if (kaisched_option_info(i, &option, &err) != KAISCHED_OK) return all;
    char value[4096] = "";
    std::size_t needed = 0;
    if (kaisched_engine_get(engine, option.name, value, sizeof value, &needed, &err) == KAISCHED_OK)
      all += std::string(option.name) + "=" + value + "\n";
  }
}
std::string text_of(kaisched_objects* objects) {
  const kaisched_table* const* tables = nullptr;
  std::size_t count = 0;
  MUST(kaisched_objects_tables, objects, &tables, &count);
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text_of(tables[i]);
  return all;
}
std::string text_of(kaisched_object_cache* cache) {
  kaisched_snapshot* snapshot = nullptr;
  kaisched_objects* objects = nullptr;
  MUST(kaisched_object_cache_snapshot, cache, 0, &snapshot, &objects);
  std::string all = digest_of(snapshot);
  kaisched_snapshot_release(snapshot);
  kaisched_objects_destroy(objects);
  return all;
}

}  // namespace

handles::~handles() {
  kaisched_federated_destroy(federated);
  kaisched_scaling_destroy(scaling);
  kaisched_answers_destroy(answers);
  kaisched_session_close(new_session);
  if (new_snapshot != nullptr) kaisched_snapshot_release(new_snapshot);
  kaisched_cluster_destroy(new_cluster);
  kaisched_engine_destroy(new_engine);
  kaisched_federation_destroy(federation);
  for (kaisched_cluster* const site : sites) kaisched_cluster_destroy(site);
  kaisched_object_cache_destroy(cache);
  kaisched_objects_destroy(objects);
  kaisched_staging_destroy(staging);
  kaisched_recording_close(recording);
  kaisched_recorder_destroy(recorder);
  kaisched_session_close(session);
  if (snapshot != nullptr) kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
  kaisched_engine_destroy(engine);
}

std::string seen(handles& of) {
  std::string all;
  if (of.engine != nullptr) all += options_of(of.engine);
  if (of.cluster != nullptr) all += digest_of(of.cluster);
  if (of.snapshot != nullptr) all += digest_of(of.snapshot);
  if (of.session != nullptr) all += text_of(of.session);
  if (of.objects != nullptr) all += text_of(of.objects);
  if (of.cache != nullptr) all += text_of(of.cache);
  for (kaisched_cluster* const site : of.sites) {
    if (site != nullptr) all += digest_of(site);
  }
  if (of.staging != nullptr) {
    const kaisched_table* table = nullptr;
    MUST(kaisched_staging_table, of.staging, &table);
    all += text_of(table);
  }
  return all;
}

std::string given(handles& of) {
  std::string all = std::to_string(of.number) + " " + std::to_string(of.flag) + " ";
  if (of.new_engine != nullptr) all += options_of(of.new_engine);
  if (of.new_cluster != nullptr) all += digest_of(of.new_cluster);
  if (of.new_snapshot != nullptr) all += digest_of(of.new_snapshot);
  if (of.new_session != nullptr) all += text_of(of.new_session);
  if (of.answers != nullptr) {
    const kaisched_table* table = nullptr;
    const std::uint64_t* first = nullptr;
    MUST(kaisched_answers_table, of.answers, &table, &first);
    all += text_of(table);
  }
  if (of.scaling != nullptr) {
    const kaisched_table* table = nullptr;
    MUST(kaisched_scaling_table, of.scaling, KAISCHED_TABLE_NODE_ADDITION, &table);
    all += text_of(table);
  }
  if (of.federated != nullptr) {
    char text[65] = "";
    std::size_t needed = 0;
    MUST(kaisched_federated_digest, of.federated, text, sizeof text, &needed);
    all += text;
  }
  if (of.table != nullptr) all += text_of(of.table);
  if (of.bytes != nullptr) all.append(static_cast<const char*>(of.bytes), of.size);
  all.append(of.buffer.data(), of.buffer.size());
  return all;
}

// ---- calls ---------------------------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t now = std::int64_t{1000} * 1'000'000'000;
constexpr kaisched_kv all_actions[] = {{"preset", "kai"},
                                       {"actions", "allocate,consolidation,reclaim,preempt,stalegangeviction"}};
constexpr std::size_t large_buffer = 1 << 20;

const char node_object[] =
    R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"zone":"east"}},"status":{"allocatable":{"cpu":"96","memory":"1Ti","nvidia.com/gpu":"8","pods":"110"}}})";
const char pod_object[] =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"x","labels":{"kai.scheduler/queue":"q"}},"spec":{"schedulerName":"kai-scheduler","containers":[{"name":"c","resources":{"requests":{"cpu":"1","nvidia.com/gpu":"1"},"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":"Pending"}})";

/// Makes handles as a host would, step by step.
class maker {
 public:
  explicit maker(cluster_tables& tables) : tables_(tables) {}

  void engine(handles& to) const { MUST(kaisched_engine_create, KAISCHED_ABI_VERSION, all_actions, 2, &to.engine); }
  void cluster(handles& to) const {
    MUST(kaisched_cluster_create, &to.cluster);
    const std::vector<const kaisched_table*> all = tables_.all();
    MUST(kaisched_cluster_apply, to.cluster, all.data(), all.size());
  }
  void snapshot(handles& to) const {
    engine(to);
    cluster(to);
    MUST(kaisched_cluster_snapshot, to.cluster, &to.snapshot);
  }
  void session(handles& to) const {
    snapshot(to);
    MUST(kaisched_run, to.engine, to.snapshot, now, &to.session);
  }
  void open_session(handles& to) const {
    snapshot(to);
    MUST(kaisched_session_open, to.engine, to.snapshot, now, &to.session);
  }
  /// One session has been recorded, and the cluster is another one for the next.
  void recorder(handles& to) const {
    session(to);
    MUST(kaisched_recorder_create, &to.recorder);
    const void* bytes = nullptr;
    std::size_t size = 0;
    MUST(kaisched_recorder_add, to.recorder, to.engine, to.session, now, &bytes, &size);
    assumed(to);
    kaisched_session_close(std::exchange(to.session, nullptr));
    kaisched_snapshot_release(std::exchange(to.snapshot, nullptr));
    MUST(kaisched_cluster_snapshot, to.cluster, &to.snapshot);
    MUST(kaisched_run, to.engine, to.snapshot, now + 1, &to.session);
  }
  void assumed(handles& to) const {
    std::uint64_t conflicts = 0;
    MUST(kaisched_cluster_assume, to.cluster, to.session, &conflicts);
  }
  void recording(handles& to, int sessions) const {
    MUST(kaisched_recording_open, recorded().data(), recorded().size(), &to.recording);
    for (int i = 0; i < sessions; ++i) MUST(kaisched_recording_next, to.recording, &to.flag, nullptr);
  }
  void federation(handles& to) const {
    engine(to);
    MUST(kaisched_federation_create, nullptr, &to.federation);
    const std::vector<const kaisched_table*> site = tables_.site();
    for (std::size_t i = 0; i < to.sites.size(); ++i) {
      MUST(kaisched_cluster_create, &to.sites[i]);
      MUST(kaisched_cluster_apply, to.sites[i], site.data(), site.size());
    }
  }
  void members(handles& to) const {
    federation(to);
    for (std::size_t i = 0; i < to.sites.size(); ++i)
      MUST(kaisched_federation_add_member, to.federation, &member(i), to.sites[i], to.engine);
  }
  void submitted(handles& to) const {
    members(to);
    const std::vector<const kaisched_table*> line = tables_.line();
    MUST(kaisched_federation_submit, to.federation, line.data(), line.size());
  }
  [[nodiscard]] static const kaisched_member& member(std::size_t i) {
    static const kaisched_member all[] = {{sizeof(kaisched_member), 0, "east", nullptr, 0, 9, nullptr, 0},
                                          {sizeof(kaisched_member), 0, "west", nullptr, 0, 5, nullptr, 0}};
    return all[i];
  }

  [[nodiscard]] kaisched_id pod(const handles& of, const std::string& name) const {
    return id(of, KAISCHED_KIND_POD, name);
  }
  [[nodiscard]] kaisched_id group(const handles& of, const std::string& name) const {
    return id(of, KAISCHED_KIND_POD_GROUP, name);
  }
  [[nodiscard]] kaisched_id queue(const handles& of, const std::string& name) const {
    return id(of, KAISCHED_KIND_QUEUE, name);
  }
  /// Pods that the session binds or evicts.
  [[nodiscard]] static std::vector<kaisched_id> decided_on(const handles& of) {
    const kaisched_table* decisions = nullptr;
    MUST(kaisched_session_table, of.session, KAISCHED_TABLE_DECISION, &decisions);
    const auto* pods =
        static_cast<const kaisched_id*>(kaisched_table_column(decisions, KAISCHED_DECISION_COL_POD)->data);
    const auto* kinds =
        static_cast<const std::uint8_t*>(kaisched_table_column(decisions, KAISCHED_DECISION_COL_KIND)->data);
    std::vector<kaisched_id> all;
    for (std::uint64_t row = 0; row < decisions->rows; ++row) {
      if (kinds[row] == KAISCHED_DECISION_BIND || kinds[row] == KAISCHED_DECISION_EVICT) all.push_back(pods[row]);
    }
    return all;
  }
  /// A pod that the session evicts or moves.
  [[nodiscard]] static kaisched_id pod_that_leaves(const maker& has) {
    handles one;
    has.session(one);
    const kaisched_table* decisions = nullptr;
    MUST(kaisched_session_table, one.session, KAISCHED_TABLE_DECISION, &decisions);
    const auto* pods =
        static_cast<const kaisched_id*>(kaisched_table_column(decisions, KAISCHED_DECISION_COL_POD)->data);
    const auto* kinds =
        static_cast<const std::uint8_t*>(kaisched_table_column(decisions, KAISCHED_DECISION_COL_KIND)->data);
    for (std::uint64_t row = 0; row < decisions->rows; ++row) {
      if (kinds[row] == KAISCHED_DECISION_EVICT || kinds[row] == KAISCHED_DECISION_MOVE) return pods[row];
    }
    std::printf("the session takes no pod away\n");
    std::exit(2);
  }
  [[nodiscard]] cluster_tables& tables() const { return tables_; }

 private:
  static kaisched_id id(const handles& of, std::uint32_t kind, const std::string& name) {
    kaisched_id found = 0;
    MUST(kaisched_cluster_find, of.cluster, kind, name.c_str(), &found);
    return found;
  }
  /// Two sessions.
  [[nodiscard]] const std::string& recorded() const {
    if (recorded_.empty()) {
      handles one;
      session(one);
      MUST(kaisched_recorder_create, &one.recorder);
      for (int i = 0; i < 2; ++i) {
        const void* bytes = nullptr;
        std::size_t size = 0;
        MUST(kaisched_recorder_add, one.recorder, one.engine, one.session, now + i, &bytes, &size);
        recorded_.append(static_cast<const char*>(bytes), size);
        if (i > 0) continue;
        assumed(one);
        kaisched_session_close(std::exchange(one.session, nullptr));
        kaisched_snapshot_release(std::exchange(one.snapshot, nullptr));
        MUST(kaisched_cluster_snapshot, one.cluster, &one.snapshot);
        MUST(kaisched_run, one.engine, one.snapshot, now + 1, &one.session);
      }
    }
    return recorded_;
  }

  cluster_tables& tables_;
  mutable std::string recorded_;
};

void make_room(handles& to) { to.buffer.assign(large_buffer, '\0'); }

}  // namespace

std::vector<call> calls(size_of_cluster how_large) {
  // They live as long as the calls that refer to them.
  static std::deque<cluster_tables> kept;
  static std::deque<rows> kept_rows;
  cluster_tables& tables = kept.emplace_back(how_large == size_of_cluster::three_nodes ? 1 : 10);
  const auto has = std::make_shared<maker>(tables);
  std::vector<call> all;
  const std::string where = how_large == size_of_cluster::three_nodes ? "" : "large ";
  const auto add = [&](const char* name, std::function<void(handles&)> prepare,
                       std::function<kaisched_status(handles&, kaisched_error&)> make) {
    all.push_back({where + name, std::move(prepare), std::move(make)});
  };
  const auto nothing = [](handles&) {};
  const auto engine = [has](handles& h) { has->engine(h); };
  const auto cluster = [has](handles& h) { has->cluster(h); };
  const auto snapshot = [has](handles& h) { has->snapshot(h); };
  const auto session = [has](handles& h) { has->session(h); };
  const auto open_session = [has](handles& h) { has->open_session(h); };

  // ---- engines and clusters
  add("engine_create", nothing, [](handles& h, kaisched_error& e) {
    return kaisched_engine_create(KAISCHED_ABI_VERSION, all_actions, 2, &h.new_engine, &e);
  });
  add("engine_set", engine, [](handles& h, kaisched_error& e) {
    return kaisched_engine_set(h.engine, "actions", "allocate,stalegangeviction", &e);
  });
  add("engine_set by old names", engine,
      [](handles& h, kaisched_error& e) { return kaisched_engine_set(h.engine, "actions", "tiers,turns", &e); });
  add("engine_set preset", engine,
      [](handles& h, kaisched_error& e) { return kaisched_engine_set(h.engine, "preset", "volcano-default", &e); });
  add(
      "engine_get",
      [has](handles& h) {
        has->engine(h);
        h.buffer.assign(4096, '\0');
      },
      [](handles& h, kaisched_error& e) {
        return kaisched_engine_get(h.engine, "actions", h.buffer.data(), h.buffer.size(), &h.size, &e);
      });
  add(
      "engine_warning",
      [has](handles& h) {
        has->engine(h);
        kaisched_error e = KAISCHED_ERROR_INIT;
        kaisched_engine_set(h.engine, "actions", "tiers", &e);
        h.buffer.assign(256, '\0');
      },
      [](handles& h, kaisched_error& e) {
        return kaisched_engine_warning(h.engine, 0, h.buffer.data(), h.buffer.size(), &h.size, &e);
      });
  add("cluster_create", nothing,
      [](handles& h, kaisched_error& e) { return kaisched_cluster_create(&h.new_cluster, &e); });
  add("cluster_set_option", cluster, [](handles& h, kaisched_error& e) {
    return kaisched_cluster_set_option(h.cluster, "on_invalid", "quarantine", &e);
  });
  add(
      "cluster_apply", [](handles& h) { MUST(kaisched_cluster_create, &h.cluster); },
      [all_tables = tables.all()](handles& h, kaisched_error& e) {
        return kaisched_cluster_apply(h.cluster, all_tables.data(), all_tables.size(), &e);
      });
  rows& changes = kept_rows.emplace_back(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_CHANGE, 1);
  changes.texts(KAISCHED_POD_GROUP_COL_NAME, {"wants-0"}).numbers(KAISCHED_POD_GROUP_COL_PRIORITY, {70});
  rows& gone = kept_rows.emplace_back(KAISCHED_TABLE_POD, KAISCHED_OP_REMOVE, 1);
  gone.texts(KAISCHED_POD_COL_NAME, {"runs-left-0-pod-4"});
  const std::vector<const kaisched_table*> delta = {changes.get(), gone.get()};
  add("cluster_apply changes", cluster, [delta](handles& h, kaisched_error& e) {
    return kaisched_cluster_apply(h.cluster, delta.data(), delta.size(), &e);
  });
  add("cluster_preview", cluster, [delta](handles& h, kaisched_error& e) {
    return kaisched_cluster_preview(h.cluster, delta.data(), delta.size(), &h.new_snapshot, &e);
  });
  add("cluster_find", cluster, [](handles& h, kaisched_error& e) {
    return kaisched_cluster_find(h.cluster, KAISCHED_KIND_POD_GROUP, "too-large-0", &h.number, &e);
  });
  add("cluster_snapshot", cluster,
      [](handles& h, kaisched_error& e) { return kaisched_cluster_snapshot(h.cluster, &h.new_snapshot, &e); });
  add("cluster_resume", snapshot,
      [](handles& h, kaisched_error& e) { return kaisched_cluster_resume(h.snapshot, &h.new_cluster, &e); });
  add("cluster_assume", session,
      [](handles& h, kaisched_error& e) { return kaisched_cluster_assume(h.cluster, h.session, &h.number, &e); });
  add(
      "cluster_assume after a change",
      [has, delta](handles& h) {
        has->session(h);
        MUST(kaisched_cluster_apply, h.cluster, delta.data(), delta.size());
      },
      [](handles& h, kaisched_error& e) { return kaisched_cluster_assume(h.cluster, h.session, &h.number, &e); });
  add(
      "cluster_table",
      [has](handles& h) {
        has->session(h);
        has->assumed(h);
      },
      [](handles& h, kaisched_error& e) {
        return kaisched_cluster_table(h.cluster, KAISCHED_TABLE_ASSUMPTION, &h.table, &e);
      });
  // Identifiers are the same in each cluster that is made in this way.
  const auto pods_of_session = [has] {
    handles one;
    has->session(one);
    return maker::decided_on(one);
  };
  const std::vector<kaisched_id> decided = pods_of_session();
  const auto assumed = [has](handles& h) {
    has->session(h);
    has->assumed(h);
  };
  add("cluster_confirm", assumed, [decided](handles& h, kaisched_error& e) {
    return kaisched_cluster_confirm(h.cluster, decided.data(), decided.size(), &e);
  });
  add("cluster_forget", assumed, [decided](handles& h, kaisched_error& e) {
    return kaisched_cluster_forget(h.cluster, decided.data(), decided.size(), KAISCHED_FORGET_FAILED, &e);
  });

  // ---- snapshots
  for (const std::uint32_t kind :
       {KAISCHED_TABLE_POD, KAISCHED_TABLE_NODE, KAISCHED_TABLE_QUEUE, KAISCHED_TABLE_POD_GROUP}) {
    all.push_back({where + "snapshot_table " + std::to_string(kind), snapshot, [kind](handles& h, kaisched_error& e) {
                     return kaisched_snapshot_table(h.snapshot, kind, &h.table, &e);
                   }});
  }
  add(
      "snapshot_digest",
      [has](handles& h) {
        has->snapshot(h);
        h.buffer.assign(65, '\0');
      },
      [](handles& h, kaisched_error& e) {
        return kaisched_snapshot_digest(h.snapshot, h.buffer.data(), h.buffer.size(), &h.size, &e);
      });
  add(
      "snapshot_save",
      [has](handles& h) {
        has->snapshot(h);
        make_room(h);
      },
      [](handles& h, kaisched_error& e) {
        return kaisched_snapshot_save(h.snapshot, h.buffer.data(), h.buffer.size(), &h.size, &e);
      });
  add(
      "snapshot_load",
      [has](handles& h) {
        has->snapshot(h);
        make_room(h);
        MUST(kaisched_snapshot_save, h.snapshot, h.buffer.data(), h.buffer.size(), &h.size);
      },
      [](handles& h, kaisched_error& e) {
        return kaisched_snapshot_load(h.buffer.data(), h.size, &h.new_snapshot, &e);
      });

  // ---- sessions
  add("run", snapshot,
      [](handles& h, kaisched_error& e) { return kaisched_run(h.engine, h.snapshot, now, &h.new_session, &e); });
  add("solve", nothing, [all_tables = tables.all()](handles& h, kaisched_error& e) {
    return kaisched_solve(KAISCHED_ABI_VERSION, all_actions, 2, all_tables.data(), all_tables.size(), now,
                          &h.new_session, &e);
  });
  add("session_open", snapshot, [](handles& h, kaisched_error& e) {
    return kaisched_session_open(h.engine, h.snapshot, now, &h.new_session, &e);
  });
  for (const char* action : {"allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"}) {
    all.push_back({where + "session_run " + action, open_session,
                   [action](handles& h, kaisched_error& e) { return kaisched_session_run(h.session, action, &e); }});
  }
  kaisched_id urgent = 0;
  kaisched_id waiting_pod = 0;
  kaisched_id running_pod = 0;
  kaisched_id placed_pod = 0;
  kaisched_id large = 0;
  kaisched_id right = 0;
  kaisched_id first_node = 0;
  std::vector<kaisched_id> groups;
  {
    handles one;
    has->cluster(one);
    const auto find = [&one](std::uint32_t kind, const char* name) {
      kaisched_id found = 0;
      MUST(kaisched_cluster_find, one.cluster, kind, name, &found);
      return found;
    };
    urgent = find(KAISCHED_KIND_POD_GROUP, "urgent-0");
    large = find(KAISCHED_KIND_POD_GROUP, "too-large-0");
    groups = {urgent, large};
    waiting_pod = find(KAISCHED_KIND_POD, "too-large-0-pod-17");
    running_pod = find(KAISCHED_KIND_POD, "runs-left-0-pod-0");
    placed_pod = find(KAISCHED_KIND_POD, "urgent-0-pod-13");
    right = find(KAISCHED_KIND_QUEUE, "right");
    first_node = find(KAISCHED_KIND_NODE, node_name(1).c_str());
  }
  add("session_run_group", open_session,
      [urgent](handles& h, kaisched_error& e) { return kaisched_session_run_group(h.session, "preempt", urgent, &e); });
  add("session_fork", session,
      [](handles& h, kaisched_error& e) { return kaisched_session_fork(h.session, &h.new_session, &e); });
  add("session_ask", open_session, [groups](handles& h, kaisched_error& e) {
    return kaisched_session_ask(h.session, "preempt", groups.data(), groups.size(), &h.answers, &e);
  });
  add("session_allocate", open_session, [placed_pod, first_node](handles& h, kaisched_error& e) {
    return kaisched_session_allocate(h.session, placed_pod, first_node, &h.flag, &e);
  });
  add("session_pipeline", open_session, [placed_pod, first_node](handles& h, kaisched_error& e) {
    return kaisched_session_pipeline(h.session, placed_pod, first_node, &h.flag, &e);
  });
  add("session_evict", open_session,
      [running_pod](handles& h, kaisched_error& e) { return kaisched_session_evict(h.session, running_pod, &e); });
  const auto statement = [has, running_pod](handles& h) {
    has->open_session(h);
    MUST(kaisched_session_evict, h.session, running_pod);
  };
  add("session_commit", statement,
      [](handles& h, kaisched_error& e) { return kaisched_session_commit(h.session, &e); });
  add("session_rollback", statement, [](handles& h, kaisched_error& e) {
    const kaisched_checkpoint start{};
    kaisched_checkpoint to{};
    const kaisched_status status = kaisched_session_mark(h.session, &to, &e);
    to.depth = start.depth;
    return status == KAISCHED_OK ? kaisched_session_rollback(h.session, &to, &e) : status;
  });
  for (const std::uint32_t kind : {KAISCHED_TABLE_DECISION, KAISCHED_TABLE_REASON, KAISCHED_TABLE_QUEUE_SHARE,
                                   KAISCHED_TABLE_ATTEMPT, KAISCHED_TABLE_POD_GROUP}) {
    all.push_back({where + "session_table " + std::to_string(kind), session, [kind](handles& h, kaisched_error& e) {
                     return kaisched_session_table(h.session, kind, &h.table, &e);
                   }});
  }
  add(
      "session_digest",
      [has](handles& h) {
        has->session(h);
        h.buffer.assign(65, '\0');
      },
      [](handles& h, kaisched_error& e) {
        return kaisched_session_digest(h.session, h.buffer.data(), h.buffer.size(), &h.size, &e);
      });
  add(
      "session_warning",
      [has](handles& h) {
        has->session(h);
        h.buffer.assign(256, '\0');
      },
      [](handles& h, kaisched_error& e) {
        const kaisched_status done =
            kaisched_session_warning(h.session, 0, h.buffer.data(), h.buffer.size(), &h.size, &e);
        return done == KAISCHED_E_NOT_FOUND ? KAISCHED_OK : done;
      });

  // ---- why
  add("session_candidates", session, [waiting_pod](handles& h, kaisched_error& e) {
    return kaisched_session_candidates(h.session, waiting_pod, &h.answers, &e);
  });
  add("session_choice", session, [placed_pod](handles& h, kaisched_error& e) {
    return kaisched_session_choice(h.session, placed_pod, &h.answers, &e);
  });
  add("session_victim", session, [lost = maker::pod_that_leaves(*has)](handles& h, kaisched_error& e) {
    return kaisched_session_victim(h.session, lost, &h.answers, &e);
  });
  add("session_share_steps", session, [right](handles& h, kaisched_error& e) {
    return kaisched_session_share_steps(h.session, right, &h.answers, &e);
  });
  if (how_large == size_of_cluster::three_nodes) {
    add("session_remedies", session, [large](handles& h, kaisched_error& e) {
      static const kaisched_remedy_limits limits = {sizeof limits, 4, 1, 1, 2, 20, 0, 0};
      return kaisched_session_remedies(h.session, &large, 1, &limits, &h.answers, &e);
    });
    add("session_certify", session,
        [large](handles& h, kaisched_error& e) { return kaisched_session_certify(h.session, large, &h.answers, &e); });
    rows& what = kept_rows.emplace_back(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 1);
    what.texts(KAISCHED_POD_GROUP_COL_NAME, {"new"}).texts(KAISCHED_POD_GROUP_COL_QUEUE, {"left"});
    rows& pods = kept_rows.emplace_back(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1);
    pods.texts(KAISCHED_POD_COL_NAME, {"new-0"})
        .texts(KAISCHED_POD_COL_GROUP, {"new"})
        .numbers(KAISCHED_POD_COL_REQUEST, {1'000, 1 << 20, 1'000}, 3);
    const std::vector<const kaisched_table*> job = {what.get(), pods.get()};
    add("session_what_if", session, [job](handles& h, kaisched_error& e) {
      static const kaisched_what_if_limits limits = {sizeof limits, 20, 4, 0, 0, 0};
      return kaisched_session_what_if(h.session, job.data(), job.size(), nullptr, 0, &limits, &h.answers, &e);
    });
    add("session_gaps", session,
        [](handles& h, kaisched_error& e) { return kaisched_session_gaps(h.session, &h.answers, &e); });
    rows& like = kept_rows.emplace_back(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 1);
    like.texts(KAISCHED_NODE_COL_NAME, {"type"})
        .numbers(KAISCHED_NODE_COL_CAPACITY, {64'000, std::int64_t{1} << 39, 16'000, 110}, 4);
    const std::vector<const kaisched_table*> types = {like.get()};
    add("scale", snapshot, [types](handles& h, kaisched_error& e) {
      static const kaisched_node_type offer = {sizeof offer, 0, "type", 13, 1, nullptr};
      static const kaisched_node_type* const offers[] = {&offer};
      return kaisched_scale(h.engine, h.snapshot, now, types.data(), types.size(), offers, 1, nullptr, &h.scaling, &e);
    });

    // ---- many clusters
    add("federation_create", nothing,
        [](handles& h, kaisched_error& e) { return kaisched_federation_create(nullptr, &h.federation, &e); });
    add(
        "federation_add_member", [has](handles& h) { has->federation(h); },
        [](handles& h, kaisched_error& e) {
          return kaisched_federation_add_member(h.federation, &maker::member(0), h.sites[0], h.engine, &e);
        });
    add(
        "federation_submit", [has](handles& h) { has->members(h); },
        [line = tables.line()](handles& h, kaisched_error& e) {
          return kaisched_federation_submit(h.federation, line.data(), line.size(), &e);
        });
    add(
        "federation_queues", [has](handles& h) { has->submitted(h); },
        [](handles& h, kaisched_error& e) { return kaisched_federation_queues(h.federation, now, &h.table, &e); });
    add(
        "federation_decide", [has](handles& h) { has->submitted(h); },
        [](handles& h, kaisched_error& e) { return kaisched_federation_decide(h.federation, now, &h.federated, &e); });
    add(
        "federation_withdraw", [has](handles& h) { has->submitted(h); },
        [](handles& h, kaisched_error& e) {
          static const char* const names[] = {"wants-0"};
          return kaisched_federation_withdraw(h.federation, names, 1, &e);
        });

    // ---- objects of Kubernetes
    add("objects_read", nothing, [](handles& h, kaisched_error& e) {
      return kaisched_objects_read(node_object, sizeof node_object - 1, nullptr, 0, &h.objects, &e);
    });
    add(
        "object_cache_put", [](handles& h) { MUST(kaisched_object_cache_create, nullptr, 0, &h.cache); },
        [](handles& h, kaisched_error& e) {
          return kaisched_object_cache_put(h.cache, node_object, sizeof node_object - 1, &e);
        });
    add(
        "object_cache_put pod",
        [](handles& h) {
          MUST(kaisched_object_cache_create, nullptr, 0, &h.cache);
          MUST(kaisched_object_cache_put, h.cache, node_object, sizeof node_object - 1);
        },
        [](handles& h, kaisched_error& e) {
          return kaisched_object_cache_put(h.cache, pod_object, sizeof pod_object - 1, &e);
        });
    add(
        "object_cache_snapshot",
        [](handles& h) {
          MUST(kaisched_object_cache_create, nullptr, 0, &h.cache);
          MUST(kaisched_object_cache_put, h.cache, node_object, sizeof node_object - 1);
          MUST(kaisched_object_cache_put, h.cache, pod_object, sizeof pod_object - 1);
        },
        [](handles& h, kaisched_error& e) {
          return kaisched_object_cache_snapshot(h.cache, now, &h.new_snapshot, &h.objects, &e);
        });
  }

  // ---- recordings and staged tables
  add("recorder_create", nothing,
      [](handles& h, kaisched_error& e) { return kaisched_recorder_create(&h.recorder, &e); });
  add(
      "recorder_add first",
      [has](handles& h) {
        has->session(h);
        MUST(kaisched_recorder_create, &h.recorder);
      },
      [](handles& h, kaisched_error& e) {
        return kaisched_recorder_add(h.recorder, h.engine, h.session, now, &h.bytes, &h.size, &e);
      });
  add(
      "recorder_add second", [has](handles& h) { has->recorder(h); },
      [](handles& h, kaisched_error& e) {
        return kaisched_recorder_add(h.recorder, h.engine, h.session, now + 1, &h.bytes, &h.size, &e);
      });
  add(
      "recording_next first", [has](handles& h) { has->recording(h, 0); },
      [](handles& h, kaisched_error& e) { return kaisched_recording_next(h.recording, &h.flag, nullptr, &e); });
  add(
      "recording_next", [has](handles& h) { has->recording(h, 1); },
      [](handles& h, kaisched_error& e) {
        const kaisched_status status = kaisched_recording_next(h.recording, &h.flag, nullptr, &e);
        return status;
      });
  add(
      "recording_snapshot", [has](handles& h) { has->recording(h, 2); },
      [](handles& h, kaisched_error& e) { return kaisched_recording_snapshot(h.recording, &h.new_snapshot, &e); });
  add(
      "recording_configure",
      [has](handles& h) {
        has->recording(h, 2);
        has->engine(h);
      },
      [](handles& h, kaisched_error& e) { return kaisched_recording_configure(h.recording, h.engine, &e); });
  add("staging_create", nothing, [](handles& h, kaisched_error& e) {
    return kaisched_staging_create(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 2, &h.staging, &e);
  });
  const auto staging = [](handles& h) {
    MUST(kaisched_staging_create, KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 2, &h.staging);
  };
  add(
      "staging_text",
      [](handles& h) { MUST(kaisched_staging_create, KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1, &h.staging); },
      [](handles& h, kaisched_error& e) {
        return kaisched_staging_text(h.staging, KAISCHED_POD_COL_NAME, "a-name-that-is-long-enough", 26, &e);
      });
  add("staging_numbers", staging, [](handles& h, kaisched_error& e) {
    void* values = nullptr;
    return kaisched_staging_numbers(h.staging, KAISCHED_POD_COL_REQUEST, KAISCHED_TYPE_I64, 3, &values, &e);
  });
  add(
      "staging_table",
      [staging](handles& h) {
        staging(h);
        for (int i = 0; i < 2; ++i)
          MUST(kaisched_staging_text, h.staging, KAISCHED_POD_COL_NAME, "a-name-that-is-long", 19);
      },
      [](handles& h, kaisched_error& e) { return kaisched_staging_table(h.staging, &h.table, &e); });
  for (call& one : all) {
    for (const char* name :
         {"session_allocate", "session_pipeline", "session_evict", "session_commit", "session_rollback",
          "federation_submit", "federation_queues", "federation_decide", "federation_withdraw"})
      one.may_end_handle = one.may_end_handle || one.name == where + name;
  }
  return all;
}

std::vector<call> calls_of_presets() {
  static cluster_tables tables(1);
  std::vector<call> all;
  for (const char* preset :
       {"volcano-default", "volcano-ai", "yunikorn-default", "kueue-classical", "kueue-fair", "kube-default",
        "coscheduling", "hami-binpack", "slurm-backfill", "hived", "fluxion-easy"}) {
    const auto prepare = [preset](handles& h) {
      const kaisched_kv options[] = {{"preset", preset}};
      MUST(kaisched_engine_create, KAISCHED_ABI_VERSION, options, 1, &h.engine);
      maker(tables).cluster(h);
      MUST(kaisched_cluster_snapshot, h.cluster, &h.snapshot);
    };
    all.push_back({std::string("preset ") + preset, prepare, [](handles& h, kaisched_error& e) {
                     return kaisched_run(h.engine, h.snapshot, now, &h.new_session, &e);
                   }});
  }
  return all;
}

}  // namespace failed_allocations
