#pragma once
/// @file
/// What is known of the cluster, and what has been asked of the API server and not come back yet. Every function may
/// be called from any thread.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/object_fields.hpp"
#include "watch/reflector.hpp"

namespace shim {

/// A text that several hold and nobody changes.
using shared_text = std::shared_ptr<const std::string>;

/// Objects as the engine sees them.
struct object_texts {
  std::vector<shared_text> all;
  std::size_t bytes = 0;  ///< with a line each
};

/// What has become of one object.
struct object_change {
  std::string name;    ///< kind and name, for messages
  std::string mark;    ///< JSON with group, kind and name alone
  shared_text text{};  ///< null: it is gone
};

class object_store final : public sink {
 public:
  /// @param scheduler_name pods of other schedulers only use their nodes. @param shares whether pods get parts of GPUs.
  /// @param keeps_readiness whether pods that are ready are told from others, which budgets need.
  explicit object_store(std::string scheduler_name, bool shares = false, bool keeps_readiness = false)
      : scheduler_name_(std::move(scheduler_name)), shares_(shares), keeps_readiness_(keeps_readiness) {}

  void replace(const resource& of, std::vector<nlohmann::json> all) override;
  /// What a watch tells. It is passed over if an answer of the server was faster and is newer: the watch will catch up.
  void put(const resource& of, nlohmann::json one) override;
  void remove(const resource& of, const nlohmann::json& one) override;

  /// An answer of the server to a change of an object. It counts only if nothing newer has been heard of: a watch may
  /// be faster, and may have told that the object is gone.
  void put_newer(const resource& of, nlohmann::json one);

  /// What is different about the objects since the last call, or the beginning.
  /// @param all receives the objects as the engine is to see them: kinds in their order, objects by name, decisions
  /// that are on their way taken for done.
  [[nodiscard]] std::vector<object_change> take_changes(std::shared_ptr<const object_texts>& all);
  /// By name of an object.
  using notes = std::map<std::string, std::string, std::less<>>;
  /// What this program knows of objects and the server does not: the engine sees it as an annotation, whatever the
  /// server says under that name. It takes the place of the last such call; no cycle begins because of it. @param key
  /// of the kind.
  /// @param otherwise what is known of objects that are not in `all`, also of those that come later; empty: nothing.
  /// It is called from any thread, and must not ask the store.
  using unnoted = std::function<std::string(const nlohmann::json& object)>;
  void note(std::string_view key, const std::string& annotation, notes all, unnoted otherwise = nullptr);
  /// The object itself, or null. @param key of its kind. @param name `namespace/name`, or the name alone.
  [[nodiscard]] nlohmann::json find(std::string_view key, std::string_view name) const;
  [[nodiscard]] bool has_annotation(std::string_view key, std::string_view name, const char* annotation) const;
  /// Calls `see` with each object of a kind. It must not ask the store.
  void each(std::string_view key, const std::function<void(const nlohmann::json&)>& see) const;
  /// Calls `see` with each pod that shares a GPU or reserves one, decisions that are on their way taken for done. It
  /// must not ask the store.
  void each_sharer(const std::function<void(const nlohmann::json& pod)>& see) const;
  /// A pod that there will be: the engine sees it beside those that there are, until it is hidden or the server tells
  /// of one of this name. No cycle begins because of it.
  void show_planned(const std::string& name, nlohmann::json pod);
  void hide_planned(const std::string& name);
  /// Why a pod that waits cannot be started by this program; empty if it can.
  [[nodiscard]] std::string refusal_of(const nlohmann::json& pod) const;
  /// Pods of this scheduler that wait and that it cannot start, and why.
  [[nodiscard]] std::map<std::string, std::string> refused() const;

  /// Objects that nothing can be made of, and why.
  [[nodiscard]] std::vector<std::string> unreadable() const;
  /// Hands the object itself over without copying it, if there is one. The store waits meanwhile.
  void look_at(std::string_view key, std::string_view name,
               const std::function<void(const nlohmann::json& object)>& see) const;
  /// Nobody takes nodes from the pod and from its group for a while, because the server does not let the pod go.
  /// @param group name of its PodGroup; it need not exist.
  void spare(const std::string& pod, const std::string& group, std::chrono::steady_clock::time_point until);
  [[nodiscard]] bool is_spared(const std::string& pod) const;

  /// The pod is being bound: it counts as being on the node until the server says so itself. To be called before the
  /// server is asked, so that no event can come in between.
  /// @return false, and nothing is assumed, if devices of the node were granted since changes were taken last, or
  /// another scheduler has put a pod with devices there: what was decided may have been given to others.
  /// @param metadata labels and annotations that it will have.
  [[nodiscard]] bool assume_bound(const std::string& pod, const std::string& uid, const std::string& node,
                                  nlohmann::json metadata = nlohmann::json::object());
  /// The pod is being told to go. @param when RFC 3339.
  void assume_gone(const std::string& pod, const std::string& uid, const std::string& when);
  /// The pod does not start before then: cycles see it with this scheduling gate.
  void hold_back(const std::string& pod, const std::string& uid, const std::string& gate,
                 std::chrono::steady_clock::time_point until);
  /// What one kind of objects is to those who grant devices beside the cycles: each as cycles see it, with decisions
  /// that are on their way taken for done.
  using looker = std::function<void(const resource& of, const nlohmann::json& object, const std::string& text)>;
  /// Shows nodes and pods.
  void look(const looker& see) const;
  /// The same for who will grant devices. @return a mark of what was shown, for `assume_granted`; those of earlier
  /// looks are worth nothing any more.
  [[nodiscard]] std::uint64_t look_to_grant(const looker& see);
  /// The pod of another scheduler is being given devices of the node, which these annotations name: it counts as having
  /// them until the server says so itself, and no longer than `until`. The store need not know the pod yet.
  /// @param seen of the look that this was decided from. @return false, and nothing is assumed, if a cycle has bound
  /// pods to the node since, or somebody else has looked.
  [[nodiscard]] bool assume_granted(const nlohmann::json& pod, const std::string& node, nlohmann::json annotations,
                                    std::chrono::steady_clock::time_point until, std::uint64_t seen);
  /// What was assumed of the pod did not happen.
  void forget(const std::string& pod);
  /// How many decisions are assumed.
  [[nodiscard]] std::size_t assumed() const;
  /// How many nodes it is remembered of that something of theirs was given away.
  [[nodiscard]] std::size_t remembered() const;

  /// Whether every watched kind has been listed.
  [[nodiscard]] bool synced() const;
  /// Counts changes that may change decisions.
  [[nodiscard]] std::uint64_t revision() const;
  /// Waits until the revision is another one, the time has come, or wake was called.
  void wait_for_change(std::uint64_t known, std::chrono::steady_clock::time_point until) const;
  void wake();

 private:
  struct entry {
    nlohmann::json object;
    shared_text text;     ///< as the engine sees it; null: not at all
    std::string refusal;  ///< why the pod is not among what is decided; empty: it is
  };
  struct assumption {
    std::string uid;
    std::string node;            ///< empty: the pod goes
    std::string when;            ///< it was told to go
    std::string gate;            ///< it is held back: neither
    nlohmann::json annotations;  ///< that name its devices; null: it is being bound, or goes
    std::string pod;             ///< that got them, as it was then
    nlohmann::json metadata;     ///< labels and annotations of a pod that is being bound
    std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
    [[nodiscard]] bool ends() const { return grants() || !gate.empty(); }
    [[nodiscard]] bool holds() const { return std::chrono::steady_clock::now() < until; }
    [[nodiscard]] bool grants() const { return !annotations.is_null(); }
  };
  using entries = std::map<std::string, entry, std::less<>>;

  /// Objects that nothing can be made of become their names alone. @param fault receives why.
  [[nodiscard]] entry made(const resource& of, nlohmann::json one, std::string& fault) const;
  [[nodiscard]] entry read(const resource& of, nlohmann::json one) const;
  /// As `put`. @param may_be_new takes objects that are not known, or are others of a name.
  void put(const resource& of, nlohmann::json one, bool may_be_new);
  /// Null: it is not known.
  [[nodiscard]] const entry* entry_of(std::string_view key, std::string_view name) const;
  void note_fault(const resource& of, const std::string& name, std::string fault);
  /// The pod as it is to be seen while something about it is on its way.
  [[nodiscard]] static nlohmann::json taken_for_done(const std::string& text, const assumption& what);
  /// @param fault why nothing can be made of it; empty: something can.
  bool put_one(entries& in, const resource& of, const std::string& name, entry now, std::string fault);
  void add_notes(std::string_view key, const std::string& name, entry& to) const;
  [[nodiscard]] bool keeps_node(const resource& of, const std::string& name) const;
  /// Ends what holds only for a time.
  void end_of_times();
  void settle(const std::string& name, const nlohmann::json& pod, bool gone);
  void forget_node(const resource& of, const std::string& name);
  void drop_pod(const std::string& name, const nlohmann::json& pod);
  [[nodiscard]] const assumption* assumed_of(const resource& of, const std::string& name) const;
  /// Those that have got devices before the server has told of them.
  [[nodiscard]] std::vector<nlohmann::json> granted_unseen() const;
  using named_texts = std::map<std::string, shared_text, std::less<>>;
  [[nodiscard]] object_texts texts(const named_texts& unseen) const;
  [[nodiscard]] shared_text seen(const resource& of, const std::string& name, const entry& one) const;
  void show(const looker& see) const;
  /// Whether the server knows a pod of this name.
  [[nodiscard]] bool is_there(std::string_view pod) const;
  void note_pod(const std::string& name);
  void changed();

  std::string scheduler_name_;
  bool shares_;
  bool keeps_readiness_;
  mutable std::mutex mutex_;
  mutable std::condition_variable wake_;
  std::map<std::string, entries, std::less<>> kinds_;  ///< by key, of those that have been listed
  struct noted {
    notes all;
    unnoted otherwise;
    [[nodiscard]] std::string of(const std::string& name, const nlohmann::json& object) const;
  };
  std::map<std::string, std::map<std::string, noted>, std::less<>> notes_;              ///< by key and annotation
  std::map<std::string, std::pair<nlohmann::json, shared_text>, std::less<>> planned_;  ///< pods that there will be
  std::map<std::string, assumption, std::less<>> assumed_;                              ///< by name of the pod
  std::set<std::string, std::less<>> sharers_;                         ///< pods with a label of a shared GPU
  std::map<std::string, std::set<std::string>, std::less<>> changed_;  ///< names by key, until they are taken
  std::map<std::pair<std::string, std::string>, std::string> faults_;  ///< by key and name
  /// By key and name, pods and pod groups that are spared, and until when.
  std::map<std::pair<std::string, std::string>, std::chrono::steady_clock::time_point> spared_;
  // Who decides goes by what it saw; the other may have given the same away since.
  std::set<std::string, std::less<>> granted_;  ///< nodes of which devices were granted since changes were taken last
  std::set<std::string, std::less<>> bound_;    ///< nodes to which pods were bound since somebody looked who grants
  std::uint64_t looks_ = 0;                     ///< of those who grant
  std::uint64_t revision_ = 0;
  mutable bool woken_ = false;
};

}  // namespace shim
