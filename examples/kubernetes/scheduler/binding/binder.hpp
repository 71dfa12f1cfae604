#pragma once
/// @file
/// Binds pods: a sequence of preparations, then the Binding. What a preparation waits for comes while other pods are
/// bound: the pod is taken for bound in the store meanwhile, and the next cycle goes on with it.

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "watch/object_store.hpp"

namespace shim {

/// A pod on its way to a node.
struct binding {
  std::string pod;                     ///< `namespace/name`
  std::string uid;                     ///< never another pod of this name
  std::string node;                    ///< that was decided
  nlohmann::json body;                 ///< the Binding
  std::vector<nlohmann::json> before;  ///< what the decision says in front of it: objects to patch
};

enum class progress { done, wait, failed };

struct step {
  progress how = progress::done;
  std::string why{};  ///< it waits or failed
};

/// What has to be true before a pod may be bound, such as a device that is reserved for it. A request that gets no
/// answer may throw `no_answer`: the step is then taken again in the next cycle, so each has to bear being repeated.
class preparation {
 public:
  preparation() = default;
  preparation(const preparation&) = delete;
  preparation& operator=(const preparation&) = delete;
  virtual ~preparation() = default;
  /// Whether an object that stands before a binding is for this one.
  [[nodiscard]] virtual bool takes(const nlohmann::json& object) const = 0;
  /// Goes on as far as it can without waiting. Called until it is done or has failed, also of pods that it has nothing
  /// to do for.
  virtual step prepare(const binding& of) = 0;
  /// Takes back what was begun for the pod, which is not bound; nothing may have been.
  virtual void undo(const binding& of) = 0;
};

enum class bind_state {
  bound,
  waits,    ///< a preparation does
  failed,   ///< a preparation has
  refused,  ///< by the server: somebody was faster, or the pod is gone
  unknown,  ///< no answer came
  dropped,  ///< there is nothing to bind
};

struct bind_result {
  bind_state state = bind_state::dropped;
  std::string pod;
  std::string node{};
  std::string why{};  ///< empty: it waits as before
};

class binder {
 public:
  binder(object_store& store, send_function send) : store_(store), send_(std::move(send)) {}

  /// They are done in the order in which they are added, and undone in the other one.
  void add(std::unique_ptr<preparation> one) { preparations_.push_back(std::move(one)); }

  /// Takes the pod for bound and goes as far as it gets.
  /// @param action a Binding. @param before what stands in front of it.
  bind_result begin(const nlohmann::json& action, std::vector<nlohmann::json> before);
  /// Pods that wait, in the order in which they began.
  [[nodiscard]] std::vector<std::string> waiting() const;
  /// With one of them.
  bind_result go_on(const std::string& pod);
  /// What became of a Binding of which no answer came; `false`: the pod is not bound. The store has been told.
  void resolve(const std::string& pod, bool bound);
  /// Gives up a pod that is on its way, because it is to leave.
  void abandon(const std::string& pod);

 private:
  struct on_way {
    binding what;
    std::size_t order = 0;
    std::size_t done = 0;  ///< preparations
    std::string why;       ///< it waits
    bool sent = false;     ///< nobody knows what has become of the Binding
  };

  bind_result advance(on_way& of);
  bind_result post(on_way& of);
  /// Takes back all that was prepared, and that the pod is bound.
  void undo(const binding& of);

  object_store& store_;
  send_function send_;
  std::vector<std::unique_ptr<preparation>> preparations_;
  std::map<std::string, on_way, std::less<>> on_way_;  ///< by name of the pod
  std::size_t begun_ = 0;
};

}  // namespace shim
