#include "c_world.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "c_delta.hpp"

namespace kaisched::fuzz {

namespace {

constexpr std::array<const char*, 9> actions{"allocate",          "reclaim",     "preempt",
                                             "consolidation",     "backfill",    "allocate",
                                             "stalegangeviction", "repartition", "nonsense"};

template <class T>
void give(T* handle) {
  if constexpr (std::is_same_v<T, kaisched_engine>) kaisched_engine_destroy(handle);
  if constexpr (std::is_same_v<T, kaisched_cluster>) kaisched_cluster_destroy(handle);
  if constexpr (std::is_same_v<T, const kaisched_snapshot>) kaisched_snapshot_release(handle);
  if constexpr (std::is_same_v<T, kaisched_session>) kaisched_session_close(handle);
  if constexpr (std::is_same_v<T, kaisched_answers>) kaisched_answers_destroy(handle);
  if constexpr (std::is_same_v<T, kaisched_staging>) kaisched_staging_destroy(handle);
  if constexpr (std::is_same_v<T, kaisched_objects>) kaisched_objects_destroy(handle);
}

// ---- what a host brings: parts and executors, which count how often they are given back -----------------------------

int hosted = 0;  ///< parts and executors that the library still has

/// A part whose words depend on its arguments and on the bits of its context only; the context is never read through.
template <int bit>
bool has(const void* context) {
  return (reinterpret_cast<std::uintptr_t>(context) >> bit & 1U) != 0;
}
kaisched_status create_state(void* context, const kaisched_kv*, std::size_t, void** state, kaisched_error*) {
  *state = context;
  return has<0>(context) && has<1>(context) ? KAISCHED_E_PLUGIN : KAISCHED_OK;
}
kaisched_status order(void* state, const kaisched_view* view, const std::uint32_t* groups, std::size_t count,
                      kaisched_order_key* keys, kaisched_error*) {
  for (std::size_t i = 0; i < count; ++i) {
    kaisched_group_facts facts{};
    facts.struct_size = sizeof facts;
    view->group(view, groups[i], &facts);
    keys[i] = {has<2>(state) ? -facts.priority : 0, static_cast<std::int64_t>(facts.name.size)};
  }
  return KAISCHED_OK;
}
kaisched_status filter(void* state, const kaisched_view*, std::uint32_t pod, const std::uint32_t* nodes,
                       std::size_t count, std::uint8_t* verdicts, kaisched_error*) {
  for (std::size_t i = 0; i < count; ++i) {
    if (has<3>(state) && (nodes[i] + pod) % 3 == 0) verdicts[i] = KAISCHED_CONSTRAINT_PLUGIN;
    if (has<4>(state) && pod % 5 == 4) verdicts[i] = 255;
  }
  return KAISCHED_OK;
}
kaisched_status score(void* state, const kaisched_view*, std::uint32_t pod, const std::uint32_t* nodes,
                      std::size_t count, std::int64_t* scores, kaisched_error* error) {
  for (std::size_t i = 0; i < count; ++i) scores[i] = nodes[i] * 10 + (has<5>(state) && pod == 3 ? INT64_MAX - 100 : 0);
  if (!has<4>(state) || pod % 4 != 3) return KAISCHED_OK;
  std::memcpy(error->message, "no", 3);
  return KAISCHED_E_PLUGIN;
}
kaisched_status permit(void* state, const kaisched_view*, std::uint32_t group, const std::uint32_t*, std::size_t,
                       std::int32_t* permitted, kaisched_error*) {
  *permitted = has<3>(state) && group % 2 == 0 ? 0 : 1;
  return KAISCHED_OK;
}

void run_backwards(void*, std::size_t count, void (*work)(void*, std::size_t), void* state) {
  for (std::size_t i = count; i-- > 0;) work(state, i);
}
void run_some(void*, std::size_t count, void (*work)(void*, std::size_t), void* state) {
  for (std::size_t i = 0; i < count; i += 2) work(state, i);
}

std::string on_invalid(const kaisched_cluster* cluster) {
  std::array<char, 32> text{};
  ensure(kaisched_cluster_get_option(cluster, "on_invalid", text.data(), text.size(), nullptr, nullptr) == KAISCHED_OK,
         "an option");
  return text.data();
}

}  // namespace

std::string content(const kaisched_table* table) {
  ensure(table != nullptr && table->struct_size >= sizeof(kaisched_table), "a table has its size");
  ensure(table->column_count == 0 || table->columns != nullptr, "a table has its columns");
  std::map<std::uint32_t, kaisched_column> known;
  kaisched_column one{};
  one.struct_size = sizeof one;
  for (std::size_t i = 0; kaisched_column_info(table->kind, i, &one, nullptr) == KAISCHED_OK; ++i) known[one.id] = one;
  std::string all = std::to_string(table->kind) + ":" + std::to_string(table->rows);
  std::set<std::uint32_t> seen;
  for (std::uint32_t i = 0; i < table->column_count; ++i) {
    const kaisched_col& c = table->columns[i];
    ensure(seen.insert(c.id).second && known.count(c.id) == 1, "a column is there once, and known");
    ensure(kaisched_table_column(table, c.id) == &c, "a column is found");
    const bool by_id = known[c.id].refers_to != KAISCHED_KIND_NONE && c.type == KAISCHED_TYPE_U64;
    ensure(c.type == known[c.id].type || by_id, "a column has the type of the schema");
    static constexpr std::array<std::size_t, 9> sizes{0, 1, 4, 8, 8, 8, 1, 1, 8};
    std::size_t values = table->rows * c.width;
    if (c.type >= KAISCHED_TYPE_STRING) {
      ensure(c.offsets != nullptr && c.offsets[0] == 0 && std::is_sorted(c.offsets, c.offsets + table->rows + 1),
             "offsets ascend");
      values = c.offsets[table->rows];
      all.append(static_cast<const char*>(static_cast<const void*>(c.offsets)), (table->rows + 1) * 4);
    }
    if (values > 0) all.append(static_cast<const char*>(c.data), values * sizes[c.type]);
  }
  return all;
}

/// With the variable KAISCHED_FUZZ_TRACE every call says its number (kaisched_function) and how it ended.
const bool trace = std::getenv("KAISCHED_FUZZ_TRACE") != nullptr;

// ---- calls ----------------------------------------------------------------------------------------------------------

bool c_world::judge(std::uint32_t where, bool missing, kaisched_status status, const kaisched_error* error) {
  ensure(status <= KAISCHED_OK && std::string_view(kaisched_status_name(status)) != "unknown", "a status is known");
  ensure(status != KAISCHED_E_INTERNAL && status != KAISCHED_E_NO_MEMORY,
         error != nullptr ? error->message : "internal");
  ensure(!missing || status == KAISCHED_E_ARGUMENT,
         "NULL where a value is needed is an argument: " + std::to_string(where) + kaisched_status_name(status));
  if (trace)
    std::fprintf(stderr, "%u %s %s\n", where, kaisched_status_name(status), error != nullptr ? error->message : "");
  note(kaisched_status_name(status));
  if (error != nullptr) {
    ensure(error->code == status && error->where == where && error->pad == 0, "the error says what the status says");
    ensure(std::memchr(error->message, 0, sizeof error->message) != nullptr, "a message ends");
    ensure((error->message[0] == '\0') == (status == KAISCHED_OK), "a message is there if the call failed");
    note(error->message);
  }
  return status == KAISCHED_OK;
}

void c_world::note(std::string_view text) {
  for (const char c : text) transcript_ = (transcript_ ^ static_cast<unsigned char>(c)) * 1099511628211U;
  transcript_ = (transcript_ ^ 0x100U) * 1099511628211U;
}

template <class Function, class... Arguments>
std::string c_world::text_of(std::uint32_t where, bool missing, Function function, Arguments... arguments) {
  std::size_t needed = 77;
  if (!call(where, missing, function, arguments..., nullptr, std::size_t{0}, &needed)) {
    ensure(needed == 0, "nothing is needed after a failure");
    return {};
  }
  std::string text(needed, 'x');
  if (needed > 0 && from_.one_in(4)) {
    ensure(!call(where, false, function, arguments..., text.data(), needed - 1, nullptr), "a buffer that is too small");
    ensure(text == std::string(needed, 'x'), "is not written to");
  }
  ensure(call(where, false, function, arguments..., text.data(), needed, &needed),
         "a size that was asked for is enough");
  ensure(needed == text.size(), "and stays the same");
  note(text);
  return text;
}

template <class T>
void c_world::keep(pool<T>& in, T* handle, known facts) {
  ensure(handle != nullptr, "a call that ran gives a handle");
  auto& places = in.places();
  auto at = std::find_if(places.begin(), places.end(), [](const auto& p) { return p.handle == nullptr; });
  if (at == places.end()) at = places.begin() + static_cast<std::ptrdiff_t>(from_.below(places.size()));
  give_back<T>(*at);
  at->handle = handle;
  at->facts = std::move(facts);
}

template <class T>
void c_world::give_back(typename pool<T>::place& place) {
  if constexpr (std::is_same_v<T, const kaisched_snapshot>) {
    for (; place.handle != nullptr && place.facts.references > 1; --place.facts.references) give(place.handle);
  }
  give(place.handle);
  place = {};
}

void c_world::borrow(known& of, const kaisched_table* table) {
  of.tables.push_back({table, content(table)});
  note(of.tables.back().held);
}

template <class Place, class Function>
void c_world::read_table(Place& place, std::uint32_t where, Function function, std::uint32_t first, std::size_t count) {
  const kaisched_table* table = nullptr;
  const std::uint32_t kind = from_.one_in(8) ? from_.byte() : first + static_cast<std::uint32_t>(from_.below(count));
  if (call(where, place.handle == nullptr, function, place.handle, kind, &table)) borrow(place.facts, table);
}

void c_world::check_borrowed() {
  const auto check = [](auto& in) {
    for (const auto& place : in.places()) {
      for (const borrowed_table& one : place.facts.tables)
        ensure(content(one.table) == one.held, "a table that is borrowed does not change");
    }
  };
  check(clusters_);
  check(snapshots_);
  check(sessions_);
  check(answers_);
  check(objects_);
}

std::string c_world::digest_of(kaisched_cluster* cluster) {
  kaisched_snapshot* taken = nullptr;
  std::array<char, KAISCHED_DIGEST_SIZE> text{};
  ensure(kaisched_cluster_snapshot(cluster, &taken, nullptr) == KAISCHED_OK, "a snapshot can be taken");
  ensure(kaisched_snapshot_digest(taken, text.data(), text.size(), nullptr, nullptr) == KAISCHED_OK,
         "and has a digest");
  kaisched_snapshot_release(taken);
  return text.data();
}

std::string c_world::places_of(kaisched_session* session) {
  const kaisched_table* table = nullptr;
  ensure(kaisched_session_table(session, KAISCHED_TABLE_PLACEMENT, &table, nullptr) == KAISCHED_OK, "pods have places");
  return content(table);
}

/// Tables of a session are kept until it changes; those of a fresh fork are made anew.
std::string c_world::places_of_fork(const kaisched_session* session) {
  kaisched_session* fork = nullptr;
  ensure(kaisched_session_fork(session, &fork, nullptr) == KAISCHED_OK, "a session can be forked");
  std::string places = places_of(fork);
  kaisched_session_close(fork);
  return places;
}

void c_world::check_unchanged(pool<kaisched_cluster>::place& cluster, bool done) {
  if (cluster.handle == nullptr) return;
  cluster.facts.tables.clear();  // borrowed until a call that may change the cluster
  const std::string digest = digest_of(cluster.handle);
  ensure(done || digest == cluster.facts.digest, "a call that fails changes nothing");
  cluster.facts.digest = digest;
}

void c_world::check_resumed(const kaisched_snapshot* before, const std::vector<const kaisched_table*>& delta, bool done,
                            const std::string& digest) {
  kaisched_cluster* again = nullptr;
  ensure(kaisched_cluster_resume(before, &again, nullptr) == KAISCHED_OK, "a cluster goes on from a snapshot");
  const std::string start = digest_of(again);
  kaisched_snapshot* would_be = nullptr;
  const bool foreseen = kaisched_cluster_preview(again, delta.data(), delta.size(), &would_be, nullptr) == KAISCHED_OK;
  ensure(foreseen == done && foreseen == (would_be != nullptr), "a preview says whether tables would be taken");
  ensure(digest_of(again) == start, "and changes nothing");
  if (foreseen) {
    std::array<char, KAISCHED_DIGEST_SIZE> text{};
    (void)kaisched_snapshot_digest(would_be, text.data(), text.size(), nullptr, nullptr);
    ensure(digest == text.data(), "and is the version that comes of them");
  }
  kaisched_snapshot_release(would_be);
  kaisched_error error = KAISCHED_ERROR_INIT;
  const bool same = (kaisched_cluster_apply(again, delta.data(), delta.size(), &error) == KAISCHED_OK) == done;
  ensure(same, "and takes the same deltas: " + std::string(error.message));
  ensure(digest_of(again) == digest, "and gets to the same version");
  kaisched_cluster_destroy(again);
}

// ---- values ---------------------------------------------------------------------------------------------------------

kaisched_id c_world::id(std::uint32_t kind) {
  static constexpr std::array<std::pair<std::uint32_t, char>, 4> kinds{{{KAISCHED_KIND_POD, 'p'},
                                                                        {KAISCHED_KIND_NODE, 'n'},
                                                                        {KAISCHED_KIND_POD_GROUP, 'g'},
                                                                        {KAISCHED_KIND_QUEUE, 'q'}}};
  if (from_.one_in(24)) return static_cast<kaisched_id>(from_.word());
  const auto wanted = std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return one.first == kind; });
  const auto& [drawn, letter] = from_.one_in(8) ? from_.pick(kinds) : *wanted;
  const std::string name = letter + std::to_string(from_.below(letter == 'n' || letter == 'q' ? 3 : 6));
  kaisched_id found = 0;
  const auto& place = clusters_.pick(from_);
  if (place.handle != nullptr) (void)kaisched_cluster_find(place.handle, drawn, name.c_str(), &found, nullptr);
  return found;
}
std::vector<kaisched_id> c_world::ids(std::uint32_t kind) {
  std::vector<kaisched_id> all(from_.below(4));
  for (kaisched_id& one : all) one = id(kind);
  return all;
}

const char* c_world::option() {
  static constexpr std::array<const char*, 12> names{"preset",         "mode",
                                                     "actions",        "parts",
                                                     "placement.gpu",  "consolidation.max_victims",
                                                     "on_invalid",     "min_runtime.reclaim",
                                                     "reference_path", "guards",
                                                     "nonsense",       "placement.cpu"};
  return from_.one_in(32) ? nullptr : from_.pick(names);
}
const char* c_world::value() {
  static constexpr std::array<const char*, 16> values{"kai",
                                                      "strict",
                                                      "compat",
                                                      "allocate,reclaim,preempt,consolidation",
                                                      "predicates,proportion,priority,own",
                                                      "spread",
                                                      "-1",
                                                      "quarantine",
                                                      "reject",
                                                      "true",
                                                      "own",
                                                      "allocate",
                                                      "hami-spread",
                                                      "",
                                                      "predicates,own,gpupack",
                                                      "binpack"};
  return from_.one_in(32) ? nullptr : from_.pick(values);
}
const char* c_world::action() { return from_.one_in(32) ? nullptr : from_.pick(actions); }

// ---- engines --------------------------------------------------------------------------------------------------------

void c_world::make_engine() {
  std::vector<kaisched_kv> options(from_.below(3));
  bool missing = false;
  for (kaisched_kv& one : options) {
    one = {option(), value()};
    missing = missing || one.key == nullptr || one.value == nullptr;
  }
  kaisched_engine* made = engines_.places()[0].handle;
  const std::uint32_t abi = from_.one_in(24) ? std::uint32_t{from_.byte()} << 16U : KAISCHED_ABI_VERSION;
  const bool done =
      call(KAISCHED_FN_ENGINE_CREATE, false, kaisched_engine_create, abi, options.data(), options.size(), &made);
  ensure(!done || !missing, "an option has a name and a value");
  if (done) return keep(engines_, made, {});
  ensure(made == nullptr, "nothing is made by a call that fails");
}
void c_world::set_engine() {
  kaisched_engine* const e = engines_.pick(from_).handle;
  const char* const key = option();
  const char* const text = value();
  call(KAISCHED_FN_ENGINE_SET, e == nullptr || key == nullptr || text == nullptr, kaisched_engine_set, e, key, text);
}
void c_world::get_engine() {
  const kaisched_engine* const e = engines_.pick(from_).handle;
  const char* const key = option();
  (void)text_of(KAISCHED_FN_ENGINE_GET, e == nullptr || key == nullptr, kaisched_engine_get, e, key);
  (void)text_of(KAISCHED_FN_ENGINE_WARNING, e == nullptr, kaisched_engine_warning, e, from_.below(3));
}
void c_world::add_part() {
  kaisched_engine* const e = engines_.pick(from_).handle;
  kaisched_part part{};
  part.struct_size = from_.one_in(16) ? from_.byte() : static_cast<std::uint32_t>(sizeof part);
  part.abi = from_.one_in(16) ? std::uint32_t{from_.byte()} << 16U : KAISCHED_ABI_VERSION;
  part.name = from_.one_in(16) ? nullptr : "own";
  part.flags = from_.byte() & 7U;
  part.context = reinterpret_cast<void*>(std::uintptr_t{from_.byte()});
  part.create = create_state;
  if (from_.one_in(2)) part.order_groups = order;
  if (from_.one_in(2)) part.filter_nodes = filter;
  if (from_.one_in(2)) part.score_nodes = score;
  if (from_.one_in(2)) part.permit = permit;
  part.release = [](void*) { --hosted; };
  const kaisched_kv weight{"weight", value()};
  if (call(KAISCHED_FN_ENGINE_ADD_PART, e == nullptr, kaisched_engine_add_part, e, &part, &weight,
           std::size_t{from_.one_in(4) ? 1U : 0U})) {
    ++hosted;
    if (from_.one_in(2))
      ensure(kaisched_engine_set(e, "parts", "predicates,proportion,priority,own", nullptr) == KAISCHED_OK,
             "a part is named");
  }
}
void c_world::set_executor() {
  kaisched_engine* const e = engines_.pick(from_).handle;
  kaisched_executor executor{sizeof executor, static_cast<std::uint32_t>(from_.below(4)), nullptr,
                             from_.one_in(2) ? run_some : run_backwards, [](void*) { --hosted; }};
  if (from_.one_in(8)) executor.struct_size = from_.byte() % sizeof executor;
  if (from_.one_in(8)) executor.run = nullptr;
  const bool none = from_.one_in(8);
  const bool done =
      call(KAISCHED_FN_ENGINE_SET_EXECUTOR, e == nullptr, kaisched_engine_set_executor, e, none ? nullptr : &executor);
  if (done && !none) ++hosted;
}
void c_world::add_vendors() {
  static constexpr std::array<std::string_view, 4> texts{"{}", R"({"vendors": []})", "[",
                                                         R"({"vendors": [{"key": 1}]})"};
  kaisched_engine* const e = engines_.pick(from_).handle;
  const std::string_view text = from_.pick(texts);
  call(KAISCHED_FN_ENGINE_ADD_VENDORS, e == nullptr, kaisched_engine_add_vendors, e, text.data(), text.size(),
       from_.one_in(2) ? "text" : nullptr);
}
void c_world::drop_engine() { give_back<kaisched_engine>(engines_.pick(from_)); }

// ---- clusters -------------------------------------------------------------------------------------------------------

void c_world::make_cluster() {
  kaisched_cluster* made = nullptr;
  ensure(call(KAISCHED_FN_CLUSTER_CREATE, false, kaisched_cluster_create, &made), "a cluster can be made");
  known facts;
  if (from_.one_in(2)) {
    delta start(from_);
    start.add_cluster();
    const std::vector<const kaisched_table*> tables = start.pointers();
    ensure(call(KAISCHED_FN_CLUSTER_APPLY, false, kaisched_cluster_apply, made, tables.data(), tables.size()),
           "the first cluster");
  }
  facts.digest = digest_of(made);
  keep(clusters_, made, std::move(facts));
}
void c_world::apply() {
  auto& c = clusters_.pick(from_);
  delta change(from_);
  for (std::size_t i = from_.below(3); i < 3; ++i) change.add_rows();
  std::vector<const kaisched_table*> tables = change.pointers();
  if (from_.one_in(32)) tables.push_back(nullptr);
  const bool missing = c.handle == nullptr || tables.back() == nullptr;
  kaisched_snapshot* before = nullptr;
  if (c.handle != nullptr) (void)kaisched_cluster_snapshot(c.handle, &before, nullptr);
  const bool done = call(KAISCHED_FN_CLUSTER_APPLY, c.handle == nullptr, kaisched_cluster_apply, c.handle,
                         tables.data(), tables.size());
  ensure(!done || !missing, "every table is there");
  check_unchanged(c, done);
  if (before != nullptr && on_invalid(c.handle) == "reject") check_resumed(before, tables, done, c.facts.digest);
  kaisched_snapshot_release(before);
}
void c_world::find() {
  const auto& c = clusters_.pick(from_);
  kaisched_id found = 77;
  const std::string name(1, "pgnqz"[from_.below(5)]);
  const bool done = call(KAISCHED_FN_CLUSTER_FIND, c.handle == nullptr, kaisched_cluster_find, c.handle,
                         static_cast<std::uint32_t>(from_.below(13)), (name + "1").c_str(), &found);
  ensure(done == (found != 0), "what is found has an identifier");
}
void c_world::take_snapshot() {
  auto& c = clusters_.pick(from_);
  kaisched_snapshot* taken = nullptr;
  if (!call(KAISCHED_FN_CLUSTER_SNAPSHOT, c.handle == nullptr, kaisched_cluster_snapshot, c.handle, &taken)) return;
  c.facts.tables.clear();
  known facts;
  facts.digest = c.facts.digest;
  keep<const kaisched_snapshot>(snapshots_, taken, std::move(facts));
}
void c_world::set_cluster() {
  auto& c = clusters_.pick(from_);
  const char* const key = option();
  const char* const text = value();
  c.facts.tables.clear();
  call(KAISCHED_FN_CLUSTER_SET_OPTION, c.handle == nullptr || key == nullptr || text == nullptr,
       kaisched_cluster_set_option, c.handle, key, text);
  (void)text_of(KAISCHED_FN_CLUSTER_GET_OPTION, c.handle == nullptr || key == nullptr, kaisched_cluster_get_option,
                static_cast<const kaisched_cluster*>(c.handle), key);
}
void c_world::assume() {
  auto& c = clusters_.pick(from_);
  const kaisched_session* const s = sessions_.pick(from_).handle;
  std::uint64_t conflicts = 77;
  const bool done = call(KAISCHED_FN_CLUSTER_ASSUME, c.handle == nullptr || s == nullptr, kaisched_cluster_assume,
                         c.handle, s, &conflicts);
  check_unchanged(c, done);
  if (!done) return;
  const kaisched_table* rows = nullptr;
  ensure(kaisched_cluster_table(c.handle, KAISCHED_TABLE_CONFLICT, &rows, nullptr) == KAISCHED_OK,
         "conflicts are a table");
  ensure(rows->rows == conflicts, "of as many rows as were said");
  borrow(c.facts, rows);
}
void c_world::report() {
  auto& c = clusters_.pick(from_);
  const std::vector<kaisched_id> pods = ids(KAISCHED_KIND_POD);
  bool done = false;
  if (from_.one_in(2)) {
    done = call(KAISCHED_FN_CLUSTER_CONFIRM, c.handle == nullptr, kaisched_cluster_confirm, c.handle, pods.data(),
                pods.size());
  } else {
    done = call(KAISCHED_FN_CLUSTER_FORGET, c.handle == nullptr, kaisched_cluster_forget, c.handle, pods.data(),
                pods.size(), static_cast<std::uint32_t>(from_.below(4)));
  }
  check_unchanged(c, done);
}
void c_world::read_cluster() {
  read_table(clusters_.pick(from_), KAISCHED_FN_CLUSTER_TABLE, kaisched_cluster_table, KAISCHED_TABLE_ASSUMPTION, 2);
}
void c_world::drop_cluster() { give_back<kaisched_cluster>(clusters_.pick(from_)); }

// ---- snapshots ------------------------------------------------------------------------------------------------------

void c_world::read_snapshot() {
  auto& s = snapshots_.pick(from_);
  read_table(s, KAISCHED_FN_SNAPSHOT_TABLE, kaisched_snapshot_table, KAISCHED_TABLE_RESOURCE, KAISCHED_TABLE_CANDIDATE);
  const std::string digest =
      text_of(KAISCHED_FN_SNAPSHOT_DIGEST, s.handle == nullptr, kaisched_snapshot_digest, s.handle);
  ensure(s.handle == nullptr || digest.c_str() == s.facts.digest, "a snapshot never changes");
}
void c_world::share_snapshot() {
  auto& s = snapshots_.pick(from_);
  kaisched_snapshot_retain(s.handle);
  if (s.handle != nullptr) ++s.facts.references;
}
void c_world::save_and_load() {
  const auto& s = snapshots_.pick(from_);
  std::string bytes = text_of(KAISCHED_FN_SNAPSHOT_SAVE, s.handle == nullptr, kaisched_snapshot_save, s.handle);
  if (bytes.empty()) return;
  const bool whole = !from_.one_in(3);
  if (!whole) {
    bytes.replace(0, 36, "kaisched-snapshot/1\n");  // the form without a checksum, which would refuse all of them
    bytes[from_.byte() * bytes.size() / 256] ^= static_cast<char>(1 + from_.byte() % 255);
  }
  kaisched_snapshot* loaded = nullptr;
  const bool done = call(KAISCHED_FN_SNAPSHOT_LOAD, false, kaisched_snapshot_load, bytes.data(), bytes.size(), &loaded);
  ensure(done == (loaded != nullptr) && (done || !whole), "what was saved can be loaded");
  if (!done) return;
  known facts;
  facts.digest = text_of(KAISCHED_FN_SNAPSHOT_DIGEST, false, kaisched_snapshot_digest, loaded).c_str();
  ensure(!whole || facts.digest == s.facts.digest, "and is the same");
  keep<const kaisched_snapshot>(snapshots_, loaded, std::move(facts));
}
void c_world::drop_snapshot() { give_back<const kaisched_snapshot>(snapshots_.pick(from_)); }

// ---- sessions -------------------------------------------------------------------------------------------------------

void c_world::open() {
  const kaisched_engine* const e = engines_.pick(from_).handle;
  const kaisched_snapshot* const s = snapshots_.pick(from_).handle;
  const bool missing = e == nullptr || s == nullptr;
  known facts;
  std::array<char, 16> mode{};
  facts.exact = e != nullptr &&
                kaisched_engine_get(e, "mode", mode.data(), mode.size(), nullptr, nullptr) == KAISCHED_OK &&
                std::string_view(mode.data()) == "strict";
  kaisched_session* made = nullptr;
  const bool done = from_.one_in(2)
                        ? call(KAISCHED_FN_RUN, missing, kaisched_run, e, s, time(), &made)
                        : call(KAISCHED_FN_SESSION_OPEN, missing, kaisched_session_open, e, s, time(), &made);
  ensure(done == (made != nullptr), "a session is there if the call ran");
  if (done) keep(sessions_, made, std::move(facts));
}
void c_world::solve() {
  delta start(from_);
  start.add_cluster();
  if (from_.one_in(3)) start.add_rows();
  const std::vector<const kaisched_table*> tables = start.pointers();
  const kaisched_kv one{"mode", from_.one_in(2) ? "compat" : "strict"};
  kaisched_session* made = nullptr;
  known facts;
  facts.exact = std::string_view(one.value) == "strict";
  if (call(KAISCHED_FN_SOLVE, false, kaisched_solve, KAISCHED_ABI_VERSION, &one, std::size_t{1}, tables.data(),
           tables.size(), time(), &made)) {
    keep(sessions_, made, std::move(facts));
  }
}
void c_world::act() {
  auto& s = sessions_.pick(from_);
  const char* const name = action();
  const bool missing = s.handle == nullptr || name == nullptr;
  const bool done = from_.one_in(2)
                        ? call(KAISCHED_FN_SESSION_RUN, s.handle == nullptr, kaisched_session_run, s.handle, name)
                        : call(KAISCHED_FN_SESSION_RUN_GROUP, missing, kaisched_session_run_group, s.handle, name,
                               id(KAISCHED_KIND_POD_GROUP));
  ensure(!done || !s.facts.cancelled, "an action that is cancelled does not run");
  s.facts.cancelled = false;
}
void c_world::cancel() {
  auto& s = sessions_.pick(from_);
  kaisched_session_cancel(s.handle);
  s.facts.cancelled = s.handle != nullptr;
}
void c_world::fork() {
  const auto& s = sessions_.pick(from_);
  kaisched_session* made = nullptr;
  if (!call(KAISCHED_FN_SESSION_FORK, s.handle == nullptr, kaisched_session_fork, s.handle, &made)) return;
  ensure(places_of(made) == places_of(s.handle), "a fork is in the same state");
  known facts;
  facts.exact = s.facts.exact;
  keep(sessions_, made, std::move(facts));
}
bool c_world::explain(const kaisched_session* s, kaisched_answers** made) {
  const bool missing = s == nullptr;
  const auto about = [&](std::uint32_t where, auto function, std::uint32_t kind) {
    return call(where, missing, function, s, id(kind), made);
  };
  switch (from_.below(7)) {
    case 0:
      return about(KAISCHED_FN_SESSION_CERTIFY, kaisched_session_certify, KAISCHED_KIND_POD_GROUP);
    case 1:
      return about(KAISCHED_FN_SESSION_CHOICE, kaisched_session_choice, KAISCHED_KIND_POD);
    case 2:
      return about(KAISCHED_FN_SESSION_VICTIM, kaisched_session_victim, KAISCHED_KIND_POD);
    case 3:
      return about(KAISCHED_FN_SESSION_SHARE_STEPS, kaisched_session_share_steps, KAISCHED_KIND_QUEUE);
    case 4: {
      const std::vector<kaisched_id> groups = ids(KAISCHED_KIND_POD_GROUP);
      const kaisched_remedy_limits few{sizeof few, 4, 1, 1, 8, 16, from_.one_in(2) ? 1U : 0U, 0};
      return call(KAISCHED_FN_SESSION_REMEDIES, missing, kaisched_session_remedies, s, groups.data(), groups.size(),
                  &few, made);
    }
    case 5:
      return call(KAISCHED_FN_SESSION_GAPS, missing, kaisched_session_gaps, s, made);
    default: {
      delta change(from_);
      change.add_rows();
      const std::vector<const kaisched_table*> tables = change.pointers();
      const kaisched_what_if_limits few{sizeof few, 16, 2, from_.one_in(2) ? 1U : 0U, from_.one_in(2) ? 1U : 0U, 0};
      return call(KAISCHED_FN_SESSION_WHAT_IF, missing, kaisched_session_what_if, s, tables.data(), tables.size(),
                  static_cast<const char* const*>(nullptr), std::size_t{0}, &few, made);
    }
  }
}
void c_world::ask() {
  const auto& s = sessions_.pick(from_);
  const std::string before = s.handle != nullptr ? places_of_fork(s.handle) : std::string();
  kaisched_answers* made = nullptr;
  bool done = false;
  const std::size_t what = from_.below(3);
  if (what == 0) {
    const std::vector<kaisched_id> groups = ids(KAISCHED_KIND_POD_GROUP);
    const char* const name = action();
    done = call(KAISCHED_FN_SESSION_ASK, s.handle == nullptr || name == nullptr, kaisched_session_ask, s.handle, name,
                groups.data(), groups.size(), &made);
  } else if (what == 1) {
    done = call(KAISCHED_FN_SESSION_CANDIDATES, s.handle == nullptr, kaisched_session_candidates, s.handle,
                id(KAISCHED_KIND_POD), &made);
  } else {
    done = explain(s.handle, &made);
  }
  ensure(s.handle == nullptr || places_of_fork(s.handle) == before, "a question changes nothing");
  ensure(done == (made != nullptr), "answers are there if the call ran");
  if (done) keep(answers_, made, {});
}
void c_world::scale() {
  const auto& e = engines_.pick(from_);
  const auto& over = snapshots_.pick(from_);
  delta offered(from_);
  offered.add_offers();
  if (from_.one_in(8)) offered.add_rows();
  const std::vector<const kaisched_table*> tables = offered.pointers();
  const kaisched_new_domain rack{"rack", from_.byte() % 4};
  const kaisched_node_type first{sizeof first,     from_.one_in(2) ? 1U : 0U, "t0",
                                 from_.byte() - 8, from_.byte() % 8,          &rack};
  const kaisched_node_type second{sizeof second, 0, from_.one_in(8) ? "t0" : "t1", from_.byte(), 2, nullptr};
  const std::array<const kaisched_node_type*, 2> types{&first, &second};
  const char* const asked = from_.one_in(4) ? "nobody" : "g0";
  const kaisched_scale_question question{
      sizeof question,           from_.byte() % 3U,         nullptr, 0, &asked, from_.one_in(2) ? 1U : 0U, nullptr, 8,
      from_.one_in(4) ? 1U : 0U, from_.one_in(4) ? 1U : 0U, 0};
  kaisched_scaling* made = nullptr;
  const bool missing = e.handle == nullptr || over.handle == nullptr;
  const bool done = call(KAISCHED_FN_SCALE, missing, kaisched_scale, e.handle, over.handle, time(), tables.data(),
                         tables.size(), types.data(), types.size(), &question, &made);
  ensure(done == (made != nullptr), "an answer is there if the call ran");
  for (const std::uint32_t kind : {KAISCHED_TABLE_SCALING, KAISCHED_TABLE_NODE_ADDITION, KAISCHED_TABLE_SCALED_GROUP,
                                   KAISCHED_TABLE_RETURNED_NODE, KAISCHED_TABLE_DECISION}) {
    const kaisched_table* table = nullptr;
    if (call(KAISCHED_FN_SCALING_TABLE, made == nullptr, kaisched_scaling_table, made, kind, &table))
      note(content(table));
  }
  kaisched_scaling_destroy(made);
}
void c_world::federate() {
  auto& at = clusters_.pick(from_);
  const auto& e = engines_.pick(from_);
  const std::array<std::uint32_t, 2> order{from_.byte() % 8U, KAISCHED_MEMBER_PRICE};
  const kaisched_federation_options options{
      sizeof options, from_.byte() % 3U, order.data(), order.size(), from_.byte() % 3U, 4, 1, 0};
  kaisched_federation* f = nullptr;
  if (!call(KAISCHED_FN_FEDERATION_CREATE, false, kaisched_federation_create, &options, &f)) {
    ensure(f == nullptr, "no handle of a call that failed");
    return;
  }
  const kaisched_kv label{"zone", "a"};
  kaisched_member about{sizeof about, 0, from_.one_in(8) ? "" : "here", &label, 1, from_.byte() - 8, nullptr, 0};
  const bool there = call(KAISCHED_FN_FEDERATION_ADD_MEMBER, at.handle == nullptr || e.handle == nullptr,
                          kaisched_federation_add_member, f, &about, at.handle, e.handle);
  delta line(from_);
  line.add_line();
  if (from_.one_in(4)) line.add_rows();
  const std::vector<const kaisched_table*> tables = line.pointers();
  call(KAISCHED_FN_FEDERATION_SUBMIT, false, kaisched_federation_submit, f, tables.data(), tables.size());
  const kaisched_preference near{"zone", "a", from_.byte()};
  const kaisched_group_wishes wishes{
      sizeof wishes, from_.one_in(2) ? 1U : 0U, from_.byte(), nullptr, 0, nullptr, 0, &near, 1, nullptr, 0};
  call(KAISCHED_FN_FEDERATION_WISH, false, kaisched_federation_wish, f, "f0", &wishes);
  if (there) text_of(KAISCHED_FN_FEDERATION_SUMMARY, false, kaisched_federation_summary, f, "here", time());
  for (int i = 0; i < 2; ++i) {
    kaisched_federated* made = nullptr;
    ensure(call(KAISCHED_FN_FEDERATION_DECIDE, false, kaisched_federation_decide, f, time(), &made) && made != nullptr,
           "a federation decides");
    const kaisched_table* table = nullptr;
    for (const std::uint32_t kind : {KAISCHED_TABLE_FEDERATED_PLACE, KAISCHED_TABLE_FEDERATED_WAIT,
                                     KAISCHED_TABLE_MEMBER_SESSION, KAISCHED_TABLE_DECISION}) {
      if (call(KAISCHED_FN_FEDERATED_TABLE, false, kaisched_federated_table, made, kind, &table)) note(content(table));
    }
    const kaisched_session* of = nullptr;
    if (call(KAISCHED_FN_FEDERATED_SESSION, false, kaisched_federated_session, made, std::size_t{0}, &of)) {
      ensure(kaisched_session_table(of, KAISCHED_TABLE_DECISION, &table, nullptr) == KAISCHED_OK,
             "a member has decided");
      note(content(table));
    }
    text_of(KAISCHED_FN_FEDERATED_DIGEST, false, kaisched_federated_digest, made);
    kaisched_federated_destroy(made);
    const std::array<const char*, 2> ended{"f0", from_.one_in(2) ? "f1" : nullptr};
    call(KAISCHED_FN_FEDERATION_WITHDRAW, ended[1] == nullptr, kaisched_federation_withdraw, f, ended.data(),
         ended.size());
  }
  const kaisched_table* queues = nullptr;
  if (call(KAISCHED_FN_FEDERATION_QUEUES, false, kaisched_federation_queues, f, time(), &queues)) note(content(queues));
  if (from_.one_in(2)) {
    std::uint64_t back = 0;
    call(KAISCHED_FN_FEDERATION_LOSE_MEMBER, false, kaisched_federation_lose_member, f, "here", &back);
  }
  kaisched_federation_destroy(f);
  if (at.handle == nullptr) return;
  at.facts.tables.clear();
  at.facts.digest = digest_of(at.handle);
}
void c_world::mark() {
  auto& s = sessions_.pick(from_);
  kaisched_checkpoint at{};
  if (call(KAISCHED_FN_SESSION_MARK, s.handle == nullptr, kaisched_session_mark, s.handle, &at))
    s.facts.marks.emplace_back(at, places_of(s.handle));
}
void c_world::roll_back() {
  auto& s = sessions_.pick(from_);
  std::pair<kaisched_checkpoint, std::string> to{};
  const bool own = !s.facts.marks.empty() && !from_.one_in(8);
  if (own) to = s.facts.marks[from_.below(s.facts.marks.size())];
  if (!own) to.first = {from_.byte(), from_.byte()};
  if (call(KAISCHED_FN_SESSION_ROLLBACK, s.handle == nullptr, kaisched_session_rollback, s.handle, &to.first) && own &&
      s.facts.exact)
    ensure(places_of(s.handle) == to.second, "going back leads to where the mark was");
}
void c_world::place() {
  auto& s = sessions_.pick(from_);
  const kaisched_id pod = id(KAISCHED_KIND_POD);
  std::int32_t placed = 77;
  const std::string before = s.handle != nullptr ? places_of(s.handle) : std::string();
  bool done = false;
  const std::size_t what = from_.below(3);
  if (what == 0) done = call(KAISCHED_FN_SESSION_EVICT, s.handle == nullptr, kaisched_session_evict, s.handle, pod);
  if (what == 1)
    done = call(KAISCHED_FN_SESSION_ALLOCATE, s.handle == nullptr, kaisched_session_allocate, s.handle, pod,
                id(KAISCHED_KIND_NODE), &placed);
  if (what == 2)
    done = call(KAISCHED_FN_SESSION_PIPELINE, s.handle == nullptr, kaisched_session_pipeline, s.handle, pod,
                id(KAISCHED_KIND_NODE), &placed);
  ensure(what == 0 || (done ? placed == 0 || placed == 1 : placed == 0), "a pod is placed or it is not");
  if (s.handle != nullptr && (!done || placed == 0))
    ensure(places_of(s.handle) == before, "what was not done changes nothing");
}
void c_world::commit() {
  auto& s = sessions_.pick(from_);
  call(KAISCHED_FN_SESSION_COMMIT, s.handle == nullptr, kaisched_session_commit, s.handle);
}
void c_world::read_session() {
  auto& s = sessions_.pick(from_);
  read_table(s, KAISCHED_FN_SESSION_TABLE, kaisched_session_table, KAISCHED_TABLE_DECISION, 8);
  (void)text_of(KAISCHED_FN_SESSION_DIGEST, s.handle == nullptr, kaisched_session_digest, s.handle);
  (void)text_of(KAISCHED_FN_SESSION_WARNING, s.handle == nullptr, kaisched_session_warning, s.handle, from_.below(3));
}
void c_world::drop_session() { give_back<kaisched_session>(sessions_.pick(from_)); }

void c_world::read_answers() {
  auto& a = answers_.pick(from_);
  const kaisched_table* table = nullptr;
  const std::uint64_t* first = nullptr;
  if (!call(KAISCHED_FN_ANSWERS_TABLE, a.handle == nullptr, kaisched_answers_table, a.handle, &table, &first)) return;
  ensure(first != nullptr && first[0] == 0, "answers begin with the first row");
  borrow(a.facts, table);
}
void c_world::drop_answers() { give_back<kaisched_answers>(answers_.pick(from_)); }

// ---- staging --------------------------------------------------------------------------------------------------------

void c_world::make_staging() {
  static constexpr std::array<std::uint32_t, 5> kinds{KAISCHED_TABLE_POD, KAISCHED_TABLE_NODE, KAISCHED_TABLE_QUEUE,
                                                      KAISCHED_TABLE_POD_GROUP, KAISCHED_TABLE_DECISION};
  kaisched_staging* made = nullptr;
  const std::uint64_t rows = from_.one_in(24) ? static_cast<std::uint64_t>(from_.word()) : from_.below(4);
  const bool done = call(KAISCHED_FN_STAGING_CREATE, false, kaisched_staging_create, from_.pick(kinds),
                         static_cast<std::uint32_t>(from_.below(5)), rows, &made);
  ensure(done == (made != nullptr), "a staging table is there if the call ran");
  if (done) keep(stagings_, made, {});
}
void c_world::fill_staging() {
  static constexpr std::array<std::string_view, 5> texts{"p1", "", std::string_view("p1\0p2\0", 6),
                                                         std::string_view("q0\0", 3), "x"};
  static constexpr std::array<std::uint32_t, 5> ends{0, 1, 2, 2, 2};
  auto& t = stagings_.pick(from_);
  const auto column = static_cast<std::uint32_t>(from_.below(16));
  const std::string_view text = from_.pick(texts);
  switch (from_.below(4)) {
    case 0:
      call(KAISCHED_FN_STAGING_TEXT, t.handle == nullptr, kaisched_staging_text, t.handle, column, text.data(),
           text.size());
      break;
    case 1:
      call(KAISCHED_FN_STAGING_TEXTS, t.handle == nullptr, kaisched_staging_texts, t.handle, column, text.data(),
           text.size());
      break;
    case 2: {
      const kaisched_table* view = nullptr;  // the rows are those of the handle; offsets are for four
      if (t.handle != nullptr && kaisched_staging_table(t.handle, &view, nullptr) == KAISCHED_OK && view->rows > 4)
        break;
      if (t.handle != nullptr && view == nullptr) break;
      call(KAISCHED_FN_STAGING_RAGGED, t.handle == nullptr, kaisched_staging_ragged, t.handle, column,
           "ab\0cd\0ef\0gh\0ij\0", ends.data());
      break;
    }
    default: {
      void* memory = nullptr;
      const auto width = static_cast<std::uint32_t>(from_.below(5));
      const auto type = static_cast<std::uint32_t>(1 + from_.below(5));
      if (!call(KAISCHED_FN_STAGING_NUMBERS, t.handle == nullptr, kaisched_staging_numbers, t.handle, column, type,
                width, &memory))
        break;
      const kaisched_table* view = nullptr;
      if (kaisched_staging_table(t.handle, &view, nullptr) != KAISCHED_OK || view->rows > 4) break;
      static constexpr std::array<std::size_t, 6> sizes{0, 1, 4, 8, 8, 8};
      std::memset(memory, static_cast<int>(from_.below(3)), view->rows * width * sizes[type]);  // all of it is ours
    }
  }
}
void c_world::read_staging() {
  auto& t = stagings_.pick(from_);
  const kaisched_table* view = nullptr;
  if (from_.one_in(8)) {
    call(KAISCHED_FN_STAGING_CLEAR, t.handle == nullptr, kaisched_staging_clear, t.handle,
         std::uint64_t{from_.below(4)});
  }
  if (!call(KAISCHED_FN_STAGING_TABLE, t.handle == nullptr, kaisched_staging_table, t.handle, &view)) return;
  note(content(view));
  auto& c = clusters_.pick(from_);
  if (c.handle != nullptr)
    check_unchanged(c, call(KAISCHED_FN_CLUSTER_APPLY, false, kaisched_cluster_apply, c.handle, &view, std::size_t{1}));
}
void c_world::drop_staging() { give_back<kaisched_staging>(stagings_.pick(from_)); }

// ---- objects of Kubernetes ------------------------------------------------------------------------------------------

void c_world::read_objects() {
  static constexpr std::array<std::string_view, 5> texts{
      R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}, "status": {"allocatable": {"cpu": "4", "pods": 9}}})",
      R"({"apiVersion": "v1", "kind": "List", "items": [
  {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n0"}, "status": {"allocatable": {"cpu": "4", "pods": 9},
   "conditions": [{"type": "Ready", "status": "True"}]}},
  {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q0"}, "spec": {}},
  {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p0", "namespace": "a", "labels": {"kai.scheduler/queue": "q0"}},
   "spec": {"schedulerName": "kai-scheduler", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}]})",
      R"([{"kind": "Pod"}, 7])", "{", R"({"apiVersion": "v1", "kind": "Node", "metadata": {"name": 5}})"};
  static constexpr std::array<kaisched_kv, 4> options{
      {{"now", "5000000000"}, {"scheduler", "other"}, {"nonsense", "1"}, {"now", "x"}}};
  const std::string_view text = from_.pick(texts);
  const kaisched_kv one = from_.pick(options);
  kaisched_objects* made = nullptr;
  const bool done = call(KAISCHED_FN_OBJECTS_READ, false, kaisched_objects_read, text.data(), text.size(), &one,
                         std::size_t{from_.one_in(2) ? 1U : 0U}, &made);
  ensure(done == (made != nullptr), "objects are there if the call ran");
  if (done) keep(objects_, made, {});
}
void c_world::use_objects() {
  auto& o = objects_.pick(from_);
  const kaisched_table* const* tables = nullptr;
  std::size_t count = 77;
  std::int64_t now = 77;
  if (call(KAISCHED_FN_OBJECTS_TABLES, o.handle == nullptr, kaisched_objects_tables, o.handle, &tables, &count)) {
    for (std::size_t i = 0; i < count; ++i) borrow(o.facts, tables[i]);
    auto& c = clusters_.pick(from_);
    if (c.handle != nullptr)
      check_unchanged(c, call(KAISCHED_FN_CLUSTER_APPLY, false, kaisched_cluster_apply, c.handle, tables, count));
  }
  call(KAISCHED_FN_OBJECTS_NOW, o.handle == nullptr, kaisched_objects_now, o.handle, &now);
  (void)text_of(KAISCHED_FN_OBJECTS_FAULT, o.handle == nullptr, kaisched_objects_fault, o.handle, from_.below(3));
  const kaisched_session* const s = sessions_.pick(from_).handle;
  (void)text_of(KAISCHED_FN_OBJECTS_ACTIONS, o.handle == nullptr || s == nullptr, kaisched_objects_actions, o.handle, s,
                from_.one_in(2) ? "kubernetes" : "kai");
}
void c_world::drop_objects() { give_back<kaisched_objects>(objects_.pick(from_)); }

void c_world::describe() {
  kaisched_option option_of{};
  option_of.struct_size =
      from_.one_in(4) ? from_.byte() % sizeof option_of : static_cast<std::uint32_t>(sizeof option_of);
  call(KAISCHED_FN_OPTION_INFO, false, kaisched_option_info, std::size_t{from_.byte()}, &option_of);
  kaisched_kind kind{};
  kind.struct_size = from_.one_in(4) ? from_.byte() % sizeof kind : static_cast<std::uint32_t>(sizeof kind);
  call(KAISCHED_FN_KIND_INFO, false, kaisched_kind_info, from_.below(40), &kind);
  (void)kaisched_value_name(from_.byte(), from_.byte(), from_.byte());
}

// ---- the whole ------------------------------------------------------------------------------------------------------

void c_world::begin() {
  kaisched_engine* e = nullptr;
  ensure(
      call(KAISCHED_FN_ENGINE_CREATE, false, kaisched_engine_create, KAISCHED_ABI_VERSION, nullptr, std::size_t{0}, &e),
      "an engine");
  keep(engines_, e, {});
  kaisched_cluster* c = nullptr;
  ensure(kaisched_cluster_create(&c, nullptr) == KAISCHED_OK, "a cluster");
  delta start(from_);
  start.add_cluster();
  const std::vector<const kaisched_table*> tables = start.pointers();
  ensure(call(KAISCHED_FN_CLUSTER_APPLY, false, kaisched_cluster_apply, c, tables.data(), tables.size()),
         "the first cluster");
  known facts;
  facts.digest = digest_of(c);
  keep(clusters_, c, std::move(facts));
  take_snapshot();
  open();
}

void c_world::step() {
  // What goes on with a session stands more often than what ends things.
  static constexpr std::array<operation, 66> operations{
      &c_world::make_engine,   &c_world::set_engine,    &c_world::set_engine,    &c_world::get_engine,
      &c_world::add_part,      &c_world::add_part,      &c_world::set_executor,  &c_world::add_vendors,
      &c_world::drop_engine,   &c_world::make_cluster,  &c_world::apply,         &c_world::apply,
      &c_world::apply,         &c_world::apply,         &c_world::find,          &c_world::take_snapshot,
      &c_world::take_snapshot, &c_world::take_snapshot, &c_world::set_cluster,   &c_world::assume,
      &c_world::assume,        &c_world::assume,        &c_world::report,        &c_world::report,
      &c_world::read_cluster,  &c_world::drop_cluster,  &c_world::read_snapshot, &c_world::share_snapshot,
      &c_world::save_and_load, &c_world::drop_snapshot, &c_world::open,          &c_world::open,
      &c_world::open,          &c_world::open,          &c_world::solve,         &c_world::act,
      &c_world::act,           &c_world::act,           &c_world::act,           &c_world::cancel,
      &c_world::fork,          &c_world::ask,           &c_world::ask,           &c_world::mark,
      &c_world::mark,          &c_world::roll_back,     &c_world::roll_back,     &c_world::place,
      &c_world::place,         &c_world::place,         &c_world::commit,        &c_world::read_session,
      &c_world::read_session,  &c_world::drop_session,  &c_world::read_answers,  &c_world::drop_answers,
      &c_world::make_staging,  &c_world::fill_staging,  &c_world::fill_staging,  &c_world::read_staging,
      &c_world::drop_staging,  &c_world::read_objects,  &c_world::use_objects,   &c_world::describe,
      &c_world::scale,         &c_world::federate};
  (this->*from_.pick(operations))();
  if (from_.one_in(16)) drop_objects();
  check_borrowed();
}

c_world::~c_world() {
  // In an order that the input chooses: handles do not need each other.
  const bool backwards = from_.one_in(2);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t at = backwards ? 2 - i : i;
    give_back<kaisched_cluster>(clusters_.places()[at]);
    give_back<kaisched_engine>(engines_.places()[at]);
    give_back<const kaisched_snapshot>(snapshots_.places()[at]);
    give_back<kaisched_objects>(objects_.places()[at]);
    give_back<kaisched_answers>(answers_.places()[at]);
    give_back<kaisched_session>(sessions_.places()[at]);
    give_back<kaisched_staging>(stagings_.places()[at]);
  }
  ensure(hosted == 0, "what the host has lent is given back");
}

}  // namespace kaisched::fuzz
