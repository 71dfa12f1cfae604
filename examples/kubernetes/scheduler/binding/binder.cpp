#include "binding/binder.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>

#include "api_server/requests.hpp"

namespace shim {

namespace {

using nlohmann::json;

/// Whether it is still the pod that was decided about, and waits.
bool can_be_bound(const json& pod, const std::string& uid) {
  return !pod.is_null() && text_at(pod, "/metadata/uid") == uid &&
         text_at(pod, "/metadata/deletionTimestamp").empty() && text_at(pod, "/spec/nodeName").empty();
}

/// Labels and annotations that the pod will have.
json decided_metadata(const binding& of) {
  json made = json::object();
  for (const json& one : of.before) {
    if (one.value("kind", "") != "Pod") continue;
    for (const char* part : {"labels", "annotations"}) {
      const json::json_pointer path(fmt::format("/metadata/{}", part));
      if (one.contains(path)) made[part].update(one[path]);
    }
  }
  return made;
}

}  // namespace

bind_result binder::begin(const json& action, std::vector<json> before) {
  const std::string pod = name_of(action);
  const json object = store_.find(pod_key, pod);
  if (object.is_null()) return {bind_state::dropped, pod};  // gone since the decision
  for (const json& one : before) {
    const bool taken = std::ranges::any_of(preparations_, [&](const auto& by) { return by->takes(one); });
    if (!taken) {
      return {bind_state::dropped,
              pod,
              {},
              fmt::format("{} of {}: nothing here can do that", one.value("kind", ""), name_of(one))};
    }
  }
  on_way of;
  of.what = {pod, text_at(object, "/metadata/uid"), text_at(action, "/target/name"), action, std::move(before)};
  of.what.body["metadata"]["uid"] = of.what.uid;
  of.order = begun_++;
  abandon(pod);  // another one of this name
  if (!store_.assume_bound(pod, of.what.uid, of.what.node, decided_metadata(of.what))) {
    return {bind_state::refused, pod, of.what.node, "devices there were given away since this was decided"};
  }
  return advance(on_way_[pod] = std::move(of));
}

std::vector<std::string> binder::waiting() const {
  std::vector<std::pair<std::size_t, std::string>> ordered;
  for (const auto& [pod, of] : on_way_) {
    if (!of.sent) ordered.emplace_back(of.order, pod);
  }
  std::ranges::sort(ordered);
  std::vector<std::string> pods;
  for (auto& [order, pod] : ordered) pods.push_back(std::move(pod));
  return pods;
}

bind_result binder::go_on(const std::string& pod) {
  const auto found = on_way_.find(pod);
  if (found == on_way_.end() || found->second.sent) return {bind_state::dropped, pod};
  const binding& what = found->second.what;
  if (!can_be_bound(store_.find(pod_key, pod), what.uid)) {
    bind_result gone{bind_state::dropped, pod, what.node, "it is gone, or on a node already"};
    abandon(pod);
    return gone;
  }
  return advance(found->second);
}

bind_result binder::advance(on_way& of) {
  for (; of.done < preparations_.size(); ++of.done) {
    step taken;
    try {
      taken = preparations_[of.done]->prepare(of.what);
    } catch (const no_answer& fault) {
      taken = {progress::wait, fault.what()};
    }
    if (taken.how == progress::done) continue;
    bind_result result{bind_state::waits, of.what.pod, of.what.node, taken.why};
    if (taken.how == progress::failed) {
      result.state = bind_state::failed;
      abandon(result.pod);
    } else if (std::exchange(of.why, std::move(taken.why)) == result.why) {
      result.why.clear();
    }
    return result;
  }
  return post(of);
}

bind_result binder::post(on_way& of) {
  bind_result result{bind_state::bound, of.what.pod, of.what.node};
  try {
    const response answer = send_(with_object("POST", place_of(pod_key, of.what.pod, "binding"), of.what.body));
    if (answer.ok()) {
      on_way_.erase(result.pod);
      return result;
    }
    result.why = server_words(answer);
    // What it had done before it failed nobody knows.
    result.state = answer.status >= 500 ? bind_state::unknown : bind_state::refused;
  } catch (const no_answer& fault) {
    result.state = bind_state::unknown;
    result.why = fault.what();
  }
  of.sent = true;
  if (result.state == bind_state::refused) abandon(result.pod);
  return result;
}

void binder::resolve(const std::string& pod, bool bound) {
  const auto found = on_way_.find(pod);
  if (found == on_way_.end() || !found->second.sent) return;
  if (bound) {
    on_way_.erase(found);
  } else {
    abandon(pod);
  }
}

void binder::abandon(const std::string& pod) {
  auto found = on_way_.extract(pod);
  if (!found.empty()) undo(found.mapped().what);
}

void binder::undo(const binding& of) {
  for (const auto& one : preparations_ | std::views::reverse) one->undo(of);
  store_.forget(of.pod);
}

}  // namespace shim
