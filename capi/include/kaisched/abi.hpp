#pragma once
/// @file
/// C++17 over the C interface: handles that give themselves back, exceptions for statuses, columns as arrays. Nothing
/// but this header and kaisched.h is needed, and a program that uses it needs the C library only: it goes on running
/// when the library is replaced by a later one with the same major version of the ABI. (The C++ interface of
/// <kaisched/kaisched.hpp> is linked statically and knows more.)
///
///     kaisched::abi::engine engine({{"preset", "kai"}});
///     kaisched::abi::cluster cluster;
///     cluster.apply({nodes.view(), queues.view(), groups.view(), pods.view()});
///     kaisched::abi::session session = engine.run(cluster.take_snapshot(), now_ns);
///     kaisched::abi::table decisions = session.table(KAISCHED_TABLE_DECISION);
///
/// What a call means, its units and errors stand in kaisched.h beside the function of the same name. Every call that
/// fails throws kaisched::abi::failure and changes nothing, but for what an action of a session had committed before.
/// Who uses both this and the namespace kaisched names one of them in full: both have a session. Members that are const
/// may run concurrently; the others need exclusive use. A table lives as long as the object that it was asked of;
/// asking a temporary one does not compile. An object that has been moved from may only be destroyed or assigned to.

#include <initializer_list>
#include <optional>
#include <utility>

#include <kaisched/abi_table.hpp>

namespace kaisched::abi {

/// Names and values of options, set in order: `{{"preset", "kai"}, {"mode", "strict"}}`. (A class of its own, because
/// two texts in braces would also be a vector: that of the characters between two pointers.)
class options {
 public:
  options() = default;
  options(std::initializer_list<std::pair<std::string, std::string>> all) : all_(all) {}
  options& add(std::string name, std::string value) {
    all_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  /// As the C interface takes them, borrowed from this.
  [[nodiscard]] std::vector<kaisched_kv> pairs() const& {
    std::vector<kaisched_kv> pairs;
    pairs.reserve(all_.size());
    for (const auto& [name, value] : all_) pairs.push_back({detail::c_text(name), detail::c_text(value)});
    return pairs;
  }
  std::vector<kaisched_kv> pairs() const&& = delete;

 private:
  std::vector<std::pair<std::string, std::string>> all_;
};

namespace detail {

/// What a function describes, one after the other, until there are no more.
template <class T, class Function, class... Arguments>
[[nodiscard]] std::vector<T> list_of(Function function, Arguments... arguments) {
  std::vector<T> all;
  for (;;) {
    T one{};
    one.struct_size = sizeof one;
    kaisched_error error = KAISCHED_ERROR_INIT;
    const kaisched_status done = function(arguments..., all.size(), &one, &error);
    if (done == KAISCHED_E_NOT_FOUND) return all;
    if (done != KAISCHED_OK) throw failure(error);
    all.push_back(one);
  }
}

/// All texts that a function writes by their number.
template <class Function, class Handle>
[[nodiscard]] std::vector<std::string> all_texts(Function function, const Handle* of) {
  std::vector<std::string> all;
  for (std::size_t i = 0;; ++i) {
    std::size_t needed = 0;
    kaisched_error error = KAISCHED_ERROR_INIT;
    if (function(of, i, nullptr, 0, &needed, &error) == KAISCHED_E_NOT_FOUND) return all;
    if (error.code != KAISCHED_OK) throw failure(error);
    all.push_back(text(function, of, i));
  }
}

[[nodiscard]] inline std::vector<const kaisched_table*> pointers(const table* first, std::size_t count) {
  std::vector<const kaisched_table*> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) all.push_back(first[i].get());
  return all;
}

/// Owns a handle of the C interface. `const` is kept: a handle that is const gives const access only.
template <class T, auto give_back>
class handle {
 public:
  [[nodiscard]] T* get() noexcept { return owned_.get(); }
  [[nodiscard]] const T* get() const noexcept { return owned_.get(); }
  /// Hands the ownership to the caller.
  [[nodiscard]] T* release() noexcept { return owned_.release(); }

 protected:
  explicit handle(T* owned) noexcept : owned_(owned) {}
  handle(handle&&) noexcept = default;
  handle& operator=(handle&&) noexcept = default;
  ~handle() = default;

 private:
  struct giver {
    void operator()(T* owned) const noexcept { give_back(owned); }
  };
  std::unique_ptr<T, giver> owned_;
};

}  // namespace detail

class session;

/// An immutable version of a cluster. A copy is one more reference.
class snapshot {
 public:
  /// Takes over a reference.
  explicit snapshot(kaisched_snapshot* owned) noexcept : owned_(owned) {}
  snapshot(const snapshot& other) noexcept : owned_(other.owned_) { kaisched_snapshot_retain(owned_); }
  snapshot(snapshot&& other) noexcept : owned_(std::exchange(other.owned_, nullptr)) {}
  snapshot& operator=(snapshot other) noexcept {
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~snapshot() { kaisched_snapshot_release(owned_); }

  [[nodiscard]] static snapshot load(std::string_view bytes) {
    return snapshot(detail::made<kaisched_snapshot*>(kaisched_snapshot_load, bytes.data(), bytes.size()));
  }
  [[nodiscard]] std::string save() const { return detail::bytes(kaisched_snapshot_save, get()); }
  [[nodiscard]] std::string digest() const { return detail::text(kaisched_snapshot_digest, get()); }
  [[nodiscard]] abi::table table(std::uint32_t kind) const& {
    return abi::table(detail::made<const kaisched_table*>(kaisched_snapshot_table, get(), kind));
  }
  abi::table table(std::uint32_t kind) const&& = delete;
  [[nodiscard]] const kaisched_snapshot* get() const noexcept { return owned_; }

 private:
  const kaisched_snapshot* owned_;
};

/// Answers to questions about a session.
class answers : public detail::handle<kaisched_answers, kaisched_answers_destroy> {
 public:
  explicit answers(kaisched_answers* owned) noexcept : handle(owned) {}

  [[nodiscard]] abi::table table() const& { return read(nullptr); }
  abi::table table() const&& = delete;
  /// The rows of the table for question `i` are those from `i` to `i + 1`, exclusive.
  [[nodiscard]] const std::uint64_t* first_rows() const& {
    const std::uint64_t* first = nullptr;
    (void)read(&first);
    return first;
  }
  const std::uint64_t* first_rows() const&& = delete;

 private:
  [[nodiscard]] abi::table read(const std::uint64_t** first) const {
    const kaisched_table* out = nullptr;
    const std::uint64_t* unused = nullptr;
    detail::call(kaisched_answers_table, get(), &out, first != nullptr ? first : &unused);
    return abi::table(out);
  }
};

/// One run over one snapshot.
class session : public detail::handle<kaisched_session, kaisched_session_close> {
 public:
  explicit session(kaisched_session* owned) noexcept : handle(owned) {}

  /// All actions of the policy.
  void run() { detail::call(kaisched_session_run, get(), nullptr); }
  void run(std::nullptr_t) = delete;
  void run(const std::string& action) { detail::call(kaisched_session_run, get(), detail::c_text(action)); }
  void run_group(const std::string& action, kaisched_id group) {
    detail::call(kaisched_session_run_group, get(), detail::c_text(action), group);
  }
  /// Those of the engine, and about actions that were run by names of the version before.
  [[nodiscard]] std::vector<std::string> warnings() const { return detail::all_texts(kaisched_session_warning, get()); }
  /// Any thread may call this at any time before the session is destroyed.
  void cancel() const noexcept { kaisched_session_cancel(get()); }
  [[nodiscard]] session fork() const { return session(detail::made<kaisched_session*>(kaisched_session_fork, get())); }
  [[nodiscard]] answers ask(const std::string& action, const std::vector<kaisched_id>& groups) const {
    return answers(detail::made<kaisched_answers*>(kaisched_session_ask, get(), detail::c_text(action), groups.data(),
                                                   groups.size()));
  }
  [[nodiscard]] answers candidates(kaisched_id pod) const {
    return answers(detail::made<kaisched_answers*>(kaisched_session_candidates, get(), pod));
  }
  /// @param limits nullptr: the defaults.
  [[nodiscard]] answers remedies(const std::vector<kaisched_id>& groups,
                                 const kaisched_remedy_limits* limits = nullptr) const {
    return answers(
        detail::made<kaisched_answers*>(kaisched_session_remedies, get(), groups.data(), groups.size(), limits));
  }
  [[nodiscard]] answers certify(kaisched_id group) const {
    return answers(detail::made<kaisched_answers*>(kaisched_session_certify, get(), group));
  }
  [[nodiscard]] answers choice(kaisched_id pod) const {
    return answers(detail::made<kaisched_answers*>(kaisched_session_choice, get(), pod));
  }
  [[nodiscard]] answers victim(kaisched_id pod) const {
    return answers(detail::made<kaisched_answers*>(kaisched_session_victim, get(), pod));
  }
  [[nodiscard]] answers share_steps(kaisched_id queue) const {
    return answers(detail::made<kaisched_answers*>(kaisched_session_share_steps, get(), queue));
  }
  /// @param groups none: those that the tables add. @param limits nullptr: the defaults.
  [[nodiscard]] answers what_if(const std::vector<abi::table>& tables, const std::vector<std::string>& groups = {},
                                const kaisched_what_if_limits* limits = nullptr) const {
    const std::vector<const kaisched_table*> all = detail::pointers(tables.data(), tables.size());
    std::vector<const char*> names;
    names.reserve(groups.size());
    for (const std::string& one : groups) names.push_back(detail::c_text(one));
    return answers(detail::made<kaisched_answers*>(kaisched_session_what_if, get(), all.data(), all.size(),
                                                   names.data(), names.size(), limits));
  }

  [[nodiscard]] answers gaps() const { return answers(detail::made<kaisched_answers*>(kaisched_session_gaps, get())); }

  [[nodiscard]] kaisched_checkpoint mark() const {
    return detail::made<kaisched_checkpoint>(kaisched_session_mark, get());
  }
  void rollback(const kaisched_checkpoint& to) { detail::call(kaisched_session_rollback, get(), &to); }
  /// Whether the pod was placed; false if it does not fit now.
  [[nodiscard]] bool allocate(kaisched_id pod, kaisched_id node) {
    return detail::made<std::int32_t>(kaisched_session_allocate, get(), pod, node) != 0;
  }
  [[nodiscard]] bool pipeline(kaisched_id pod, kaisched_id node) {
    return detail::made<std::int32_t>(kaisched_session_pipeline, get(), pod, node) != 0;
  }
  void evict(kaisched_id pod) { detail::call(kaisched_session_evict, get(), pod); }
  void commit() { detail::call(kaisched_session_commit, get()); }

  [[nodiscard]] abi::table table(std::uint32_t kind) const& {
    return abi::table(detail::made<const kaisched_table*>(kaisched_session_table, get(), kind));
  }
  abi::table table(std::uint32_t kind) const&& = delete;
  [[nodiscard]] std::string digest() const { return detail::text(kaisched_session_digest, get()); }
};

/// Undoes what has been done in a session since it was made, unless it is kept. Lives no longer than the session, which
/// stays where it is. What has been committed meanwhile stays; what has been done after the commit is undone.
class trial {
 public:
  explicit trial(session& of) : session_(&of), start_(of.mark()) {}
  trial(const trial&) = delete;
  trial& operator=(const trial&) = delete;
  ~trial() {
    if (session_ == nullptr) return;
    kaisched_checkpoint to{};
    if (kaisched_session_mark(session_->get(), &to, nullptr) != KAISCHED_OK) return;
    to.depth = to.statement == start_.statement ? start_.depth : 0;
    (void)kaisched_session_rollback(session_->get(), &to, nullptr);
  }
  void keep() noexcept { session_ = nullptr; }

 private:
  session* session_;
  kaisched_checkpoint start_;
};

/// Which nodes to add and which to give back.
class scaling : public detail::handle<kaisched_scaling, kaisched_scaling_destroy> {
 public:
  explicit scaling(kaisched_scaling* owned) noexcept : handle(owned) {}

  [[nodiscard]] abi::table table(std::uint32_t kind) const& {
    return abi::table(detail::made<const kaisched_table*>(kaisched_scaling_table, get(), kind));
  }
  abi::table table(std::uint32_t kind) const&& = delete;
};

/// Options and the registry of policy parts.
class engine : public detail::handle<kaisched_engine, kaisched_engine_destroy> {
 public:
  engine() : engine(options()) {}
  explicit engine(const options& given) : handle(create(given)) {}

  void set(const std::string& option, const std::string& value) {
    detail::call(kaisched_engine_set, get(), detail::c_text(option), detail::c_text(value));
  }
  [[nodiscard]] std::string get(const std::string& option) const {
    return detail::text(kaisched_engine_get, handle::get(), detail::c_text(option));
  }
  using handle::get;
  /// About options and actions that were set by names of the version before.
  [[nodiscard]] std::vector<std::string> warnings() const {
    return detail::all_texts(kaisched_engine_warning, handle::get());
  }
  void add_vendors(std::string_view json, const std::string& source = "vendors") {
    detail::call(kaisched_engine_add_vendors, get(), json.data(), json.size(), detail::c_text(source));
  }
  /// @param executor copied; nullptr: none but the caller's thread.
  void set_executor(const kaisched_executor* executor) { detail::call(kaisched_engine_set_executor, get(), executor); }
  void add_part(const kaisched_part& part, const options& of_part = options()) {
    const std::vector<kaisched_kv> given = of_part.pairs();
    detail::call(kaisched_engine_add_part, get(), &part, given.data(), given.size());
  }

  /// A session that has run the actions of the policy.
  [[nodiscard]] session run(const snapshot& of, std::int64_t now_ns) const {
    return session(detail::made<kaisched_session*>(kaisched_run, get(), of.get(), now_ns));
  }
  /// A session that has run nothing yet.
  [[nodiscard]] session open(const snapshot& of, std::int64_t now_ns) const {
    return session(detail::made<kaisched_session*>(kaisched_session_open, get(), of.get(), now_ns));
  }
  /// @param question nullptr: both questions, about all groups.
  [[nodiscard]] abi::scaling scale(const snapshot& of, std::int64_t now_ns, const std::vector<abi::table>& nodes,
                                   const std::vector<kaisched_node_type>& types,
                                   const kaisched_scale_question* question = nullptr) const {
    const std::vector<const kaisched_table*> tables = detail::pointers(nodes.data(), nodes.size());
    std::vector<const kaisched_node_type*> offers;
    offers.reserve(types.size());
    for (const kaisched_node_type& one : types) offers.push_back(&one);
    return abi::scaling(detail::made<kaisched_scaling*>(kaisched_scale, get(), of.get(), now_ns, tables.data(),
                                                        tables.size(), offers.data(), offers.size(), question));
  }

 private:
  [[nodiscard]] static kaisched_engine* create(const options& from) {
    const std::vector<kaisched_kv> given = from.pairs();
    return detail::made<kaisched_engine*>(kaisched_engine_create, std::uint32_t{KAISCHED_ABI_VERSION}, given.data(),
                                          given.size());
  }
};

/// A mutable model of a cluster.
class cluster : public detail::handle<kaisched_cluster, kaisched_cluster_destroy> {
 public:
  cluster() : handle(detail::made<kaisched_cluster*>(kaisched_cluster_create)) {}
  /// Goes on from a snapshot.
  explicit cluster(const snapshot& from)
      : handle(detail::made<kaisched_cluster*>(kaisched_cluster_resume, from.get())) {}

  void set(const std::string& option, const std::string& value) {
    detail::call(kaisched_cluster_set_option, get(), detail::c_text(option), detail::c_text(value));
  }
  [[nodiscard]] std::string get(const std::string& option) const {
    return detail::text(kaisched_cluster_get_option, handle::get(), detail::c_text(option));
  }
  using handle::get;

  /// All tables, or none if any row is bad.
  void apply(std::initializer_list<abi::table> tables) { apply(tables.begin(), tables.size()); }
  void apply(const std::vector<abi::table>& tables) { apply(tables.data(), tables.size()); }
  /// What the snapshot would be with these tables. The cluster stays as it is.
  [[nodiscard]] snapshot preview(const std::vector<abi::table>& tables) {
    const std::vector<const kaisched_table*> all = detail::pointers(tables.data(), tables.size());
    return snapshot(detail::made<kaisched_snapshot*>(kaisched_cluster_preview, get(), all.data(), all.size()));
  }
  /// The entity of a name, if there is one.
  [[nodiscard]] std::optional<kaisched_id> find(std::uint32_t kind, const std::string& name) const {
    kaisched_error error = KAISCHED_ERROR_INIT;
    kaisched_id id = 0;
    if (kaisched_cluster_find(get(), kind, detail::c_text(name), &id, &error) == KAISCHED_OK) return id;
    if (error.code == KAISCHED_E_NOT_FOUND) return std::nullopt;
    throw failure(error);
  }
  [[nodiscard]] snapshot take_snapshot() {
    return snapshot(detail::made<kaisched_snapshot*>(kaisched_cluster_snapshot, get()));
  }

  /// The number of conflicts: rows of KAISCHED_TABLE_CONFLICT.
  [[nodiscard]] std::uint64_t assume(const session& decided) {
    return detail::made<std::uint64_t>(kaisched_cluster_assume, get(), decided.get());
  }
  void confirm(const std::vector<kaisched_id>& pods) {
    detail::call(kaisched_cluster_confirm, get(), pods.data(), pods.size());
  }
  /// @param why kaisched_forget_reason.
  void forget(const std::vector<kaisched_id>& pods, std::uint32_t why) {
    detail::call(kaisched_cluster_forget, get(), pods.data(), pods.size(), why);
  }
  /// Borrowed until the next call that may change the cluster.
  [[nodiscard]] abi::table table(std::uint32_t kind) const& {
    return abi::table(detail::made<const kaisched_table*>(kaisched_cluster_table, get(), kind));
  }
  abi::table table(std::uint32_t kind) const&& = delete;

 private:
  void apply(const abi::table* first, std::size_t count) {
    const std::vector<const kaisched_table*> all = detail::pointers(first, count);
    detail::call(kaisched_cluster_apply, get(), all.data(), all.size());
  }
};

/// What a federation has decided.
class federated : public detail::handle<kaisched_federated, kaisched_federated_destroy> {
 public:
  explicit federated(kaisched_federated* owned) noexcept : handle(owned) {}

  [[nodiscard]] abi::table table(std::uint32_t kind) const& {
    return abi::table(detail::made<const kaisched_table*>(kaisched_federated_table, get(), kind));
  }
  abi::table table(std::uint32_t kind) const&& = delete;
  /// A table of the session in which a member decided: `index` is a row of KAISCHED_TABLE_MEMBER_SESSION.
  [[nodiscard]] abi::table session_table(std::size_t index, std::uint32_t kind) const& {
    const auto* of = detail::made<const kaisched_session*>(kaisched_federated_session, get(), index);
    return abi::table(detail::made<const kaisched_table*>(kaisched_session_table, of, kind));
  }
  abi::table session_table(std::size_t index, std::uint32_t kind) const&& = delete;
  [[nodiscard]] std::string digest() const { return detail::text(kaisched_federated_digest, get()); }
};

/// Clusters that share one line and one tree of queues. Members share their cluster and engine with the caller.
class federation : public detail::handle<kaisched_federation, kaisched_federation_destroy> {
 public:
  /// @param options nullptr: the defaults.
  explicit federation(const kaisched_federation_options* options = nullptr)
      : handle(detail::made<kaisched_federation*>(kaisched_federation_create, options)) {}

  void set_executor(const kaisched_executor* executor) {
    detail::call(kaisched_federation_set_executor, get(), executor);
  }
  void add_member(const kaisched_member& about, cluster& state, const engine& with) {
    detail::call(kaisched_federation_add_member, get(), &about, state.get(),
                 static_cast<const kaisched_engine*>(with.get()));
  }
  void add_known_member(const kaisched_member& about, std::string_view summary) {
    detail::call(kaisched_federation_add_known_member, get(), &about, summary.data(), summary.size());
  }
  void change_member(const kaisched_member& about) { detail::call(kaisched_federation_change_member, get(), &about); }
  void update_member(const std::string& name, std::string_view summary) {
    detail::call(kaisched_federation_update_member, get(), detail::c_text(name), summary.data(), summary.size());
  }
  /// How many groups are in the line again.
  std::uint64_t lose_member(const std::string& name) {
    return detail::made<std::uint64_t>(kaisched_federation_lose_member, get(), detail::c_text(name));
  }
  /// JSON, kaisched-cluster-summary/1.
  [[nodiscard]] std::string summary(const std::string& member, std::int64_t now_ns) {
    return detail::text(kaisched_federation_summary, get(), detail::c_text(member), now_ns);
  }

  void submit(const std::vector<abi::table>& tables) {
    const std::vector<const kaisched_table*> all = detail::pointers(tables.data(), tables.size());
    detail::call(kaisched_federation_submit, get(), all.data(), all.size());
  }
  void wish(const std::string& group, const kaisched_group_wishes& wishes) {
    detail::call(kaisched_federation_wish, get(), detail::c_text(group), &wishes);
  }
  void withdraw(const std::vector<std::string>& groups) {
    std::vector<const char*> names;
    names.reserve(groups.size());
    for (const std::string& one : groups) names.push_back(detail::c_text(one));
    detail::call(kaisched_federation_withdraw, get(), names.data(), names.size());
  }
  void answer(const std::string& group, bool accepted) {
    detail::call(kaisched_federation_answer, get(), detail::c_text(group), std::int32_t{accepted ? 1 : 0});
  }
  /// kaisched_group_stage, and the member, or an empty text.
  [[nodiscard]] std::pair<std::uint32_t, std::string> stage(const std::string& group) const {
    std::uint32_t stage = 0;
    std::string member = detail::text(kaisched_federation_stage, get(), detail::c_text(group), &stage);
    return {stage, std::move(member)};
  }
  /// Borrowed until the next call of this member.
  [[nodiscard]] abi::table queues(std::int64_t now_ns) & {
    return abi::table(detail::made<const kaisched_table*>(kaisched_federation_queues, get(), now_ns));
  }
  [[nodiscard]] federated decide(std::int64_t now_ns) {
    return federated(detail::made<kaisched_federated*>(kaisched_federation_decide, get(), now_ns));
  }
};

/// Objects of Kubernetes.
class objects : public detail::handle<kaisched_objects, kaisched_objects_destroy> {
 public:
  explicit objects(std::string_view json, const options& given = options()) : handle(read(json, given)) {}
  explicit objects(kaisched_objects* owned) noexcept : handle(owned) {}

  /// In the order in which cluster::apply wants them.
  [[nodiscard]] std::vector<abi::table> tables() const& {
    const kaisched_table* const* all = nullptr;
    std::size_t count = 0;
    detail::call(kaisched_objects_tables, get(), &all, &count);
    std::vector<abi::table> views;
    for (std::size_t i = 0; i < count; ++i) views.emplace_back(all[i]);
    return views;
  }
  std::vector<abi::table> tables() const&& = delete;
  [[nodiscard]] std::int64_t now() const { return detail::made<std::int64_t>(kaisched_objects_now, get()); }
  /// Why each object that could not be read has no row.
  [[nodiscard]] std::vector<std::string> faults() const { return detail::all_texts(kaisched_objects_fault, get()); }
  /// What to tell the API server, in JSON.
  [[nodiscard]] std::string actions(const session& decided, const std::string& form = "kai") const {
    return detail::text(kaisched_objects_actions, get(), decided.get(), detail::c_text(form));
  }

 private:
  [[nodiscard]] static kaisched_objects* read(std::string_view json, const options& from) {
    const std::vector<kaisched_kv> given = from.pairs();
    return detail::made<kaisched_objects*>(kaisched_objects_read, json.data(), json.size(), given.data(), given.size());
  }
};

/// Objects of Kubernetes that change.
class object_cache : public detail::handle<kaisched_object_cache, kaisched_object_cache_destroy> {
 public:
  explicit object_cache(const options& given = options()) : handle(create(given)) {}

  void put(std::string_view json) { detail::call(kaisched_object_cache_put, get(), json.data(), json.size()); }
  void remove(std::string_view json) { detail::call(kaisched_object_cache_remove, get(), json.data(), json.size()); }
  /// What the objects say.
  struct version {
    abi::snapshot snapshot;
    abi::objects objects;
  };
  [[nodiscard]] version take(std::int64_t now_ns) {
    kaisched_objects* objects = nullptr;
    kaisched_error error = KAISCHED_ERROR_INIT;
    kaisched_snapshot* snapshot = nullptr;
    if (kaisched_object_cache_snapshot(get(), now_ns, &snapshot, &objects, &error) != KAISCHED_OK) throw failure(error);
    return {abi::snapshot(snapshot), abi::objects(objects)};
  }

 private:
  [[nodiscard]] static kaisched_object_cache* create(const options& from) {
    const std::vector<kaisched_kv> given = from.pairs();
    return detail::made<kaisched_object_cache*>(kaisched_object_cache_create, given.data(), given.size());
  }
};

/// Writes sessions as bytes, see kaisched_recorder_add.
class recorder : public detail::handle<kaisched_recorder, kaisched_recorder_destroy> {
 public:
  recorder() : handle(detail::made<kaisched_recorder*>(kaisched_recorder_create)) {}

  /// What follows the bytes of the sessions before; lives until the next call.
  [[nodiscard]] std::string_view add(const engine& with, const session& of, std::int64_t now_ns) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    detail::call(kaisched_recorder_add, get(), with.get(), of.get(), now_ns, &bytes, &size);
    return {static_cast<const char*>(bytes), size};
  }
};

/// Reads sessions back, one by one.
class recording : public detail::handle<kaisched_recording, kaisched_recording_close> {
 public:
  explicit recording(std::string_view bytes)
      : handle(detail::made<kaisched_recording*>(kaisched_recording_open, bytes.data(), bytes.size())) {}

  /// False at the end.
  [[nodiscard]] bool next() {
    std::int32_t more = 0;
    detail::call(kaisched_recording_next, get(), &more, &now_);
    return more != 0;
  }
  [[nodiscard]] std::int64_t now() const { return now_; }
  [[nodiscard]] abi::snapshot snapshot() {
    return abi::snapshot(detail::made<kaisched_snapshot*>(kaisched_recording_snapshot, get()));
  }
  void configure(engine& to) const { detail::call(kaisched_recording_configure, get(), to.get()); }
  [[nodiscard]] std::string digest() const { return detail::text(kaisched_recording_digest, get()); }

 private:
  std::int64_t now_ = 0;
};

/// Engine, cluster, snapshot and run in one call.
[[nodiscard]] inline session solve(const options& from, const std::vector<table>& tables, std::int64_t now_ns) {
  const std::vector<kaisched_kv> given = from.pairs();
  const std::vector<const kaisched_table*> all = detail::pointers(tables.data(), tables.size());
  return session(detail::made<kaisched_session*>(kaisched_solve, std::uint32_t{KAISCHED_ABI_VERSION}, given.data(),
                                                 given.size(), all.data(), all.size(), now_ns));
}

/// The configuration of another scheduler as options, rows of a scenario and queue rules, in JSON. See
/// kaisched_import_configuration; an empty name is the scheduler that the text looks like.
[[nodiscard]] inline std::string import_configuration(std::string_view text, const std::string& scheduler = {}) {
  return detail::text(kaisched_import_configuration, detail::c_text(scheduler), text.data(), text.size());
}

/// Of the library that is loaded, which may be later than this header.
[[nodiscard]] inline std::string_view loaded_version() noexcept { return kaisched_version_string(); }
[[nodiscard]] inline std::uint32_t loaded_abi_version() noexcept { return kaisched_abi_version(); }

/// All options of engines and clusters.
[[nodiscard]] inline std::vector<kaisched_option> describe_options() {
  return detail::list_of<kaisched_option>(kaisched_option_info);
}
/// All kinds of tables.
[[nodiscard]] inline std::vector<kaisched_kind> describe_kinds() {
  return detail::list_of<kaisched_kind>(kaisched_kind_info);
}
/// All columns of a kind of table.
[[nodiscard]] inline std::vector<kaisched_column> describe_columns(std::uint32_t kind) {
  return detail::list_of<kaisched_column>(kaisched_column_info, kind);
}

}  // namespace kaisched::abi
