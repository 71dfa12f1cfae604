#include "extender/extender.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "api_server/requests.hpp"
#include "api_server/resources.hpp"
#include "extender/extender_protocol.hpp"
#include "hami/hami_annotations.hpp"
#include "webhook/isolation.hpp"

namespace shim {

namespace {

using nlohmann::json;
using system_clock = std::chrono::system_clock;

/// How often a decision is made anew because a cycle has bound pods to the same node meanwhile.
constexpr int most_decisions = 5;
/// How long a lock that was taken needs no second look.
constexpr std::chrono::seconds longest_trust{1};

reply json_reply(const json& body) { return {200, one_line(body) + "\n", "application/json", {}}; }

/// Of what the pod has, what an earlier decision wrote.
bool is_of_decision(const std::string& key) { return hami::is_decision(key) || hami::is_time_of_vendor(key); }

request pod_patch(const std::string& name_space, const std::string& name, json metadata) {
  return patch_of(place(resource_of("Pod"), name_space, name), {{"metadata", std::move(metadata)}});
}

}  // namespace

struct extender::question : extender_question {
  std::string name;  ///< namespace/name
};
struct extender::bind_order : extender_binding {};
struct extender::grant {
  device_choice choice;
  bool given = false;  ///< and assumed
};

extender::extender(const configuration& by, const credentials& as, object_store& store,
                   std::function<std::string()> obstacle, log_function log)
    : by_(by),
      store_(store),
      obstacle_(std::move(obstacle)),
      log_(std::move(log)),
      client_(as, longest_write(by)),
      locks_(client_),
      chooser_(by.extender.engine, by.objects) {}

void extender::serve(http_server& on) {
  on.route("POST", "/filter", access::everybody,
           [this](const incoming& what) { return json_reply(filter(what.body)); });
  on.route("POST", "/prioritize", access::everybody,
           [this](const incoming& what) { return json_reply(prioritize(what.body)); });
  on.route("POST", "/bind", access::everybody, [this](const incoming& what) { return json_reply(bind(what.body)); });
}

extender::question extender::read_question(const std::string& body) const {
  question asked{read_extender_question(body), {}};
  asked.name = name_of(asked.pod);
  if (const std::string why = obstacle_(); !why.empty()) throw std::runtime_error(why);
  return asked;
}

json extender::filter(const std::string& body) {
  try {
    return answer(read_question(body));
  } catch (const std::exception& fault) {
    log_(fmt::format("extender: filter: {}", fault.what()));
    return filter_error(fault.what());
  }
}

json extender::answer(const question& asked) {
  if (!asks_for_extended(asked.pod)) return filter_answer(asked, {});
  grant made = decide_and_assume(asked);
  const device_choice& choice = made.choice;
  if (!choice.fault.empty()) throw std::runtime_error(choice.fault);
  if (!choice.asks) {
    if (!needs_devices(asked.pod)) return filter_answer(asked, {});
    return filter_answer(asked, {"", {}, "no node has registered devices of the kind that the pod asks for"});
  }
  if (choice.node.empty()) {
    take_back(asked);
    return filter_answer(asked, {"", choice.why,
                                 choice.obstacle.empty() ? "the node has no devices of the kind that the pod asks for"
                                                         : choice.obstacle});
  }
  if (!made.given) throw std::runtime_error(fmt::format("pod {}: devices went to others again and again", asked.name));
  if (const std::string why = write(asked, choice.metadata); !why.empty()) throw std::runtime_error(why);
  log_(fmt::format("pod {}: devices of {}", asked.name, choice.node));
  return filter_answer(asked, {choice.node, {}, {}});
}

device_choice extender::decide(const question& asked, std::uint64_t& seen) {
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(system_clock::now().time_since_epoch()).count();
  return chooser_.choose(store_, asked.pod, asked.nodes, now, seen);
}

extender::grant extender::decide_and_assume(const question& asked) {
  const std::scoped_lock lock(deciding_);
  grant made;
  for (int i = 0; i < most_decisions && !made.given; ++i) {
    std::uint64_t seen = 0;
    made.choice = decide(asked, seen);
    if (made.choice.node.empty()) return made;
    const system_clock::time_point now = system_clock::now();
    json& annotations = made.choice.metadata["annotations"];
    annotations.erase(hami::bind_phase);  // it is not being bound yet
    annotations[hami::assigned_time] = hami::seconds_text(now);
    annotations.update(hami::times_of_vendors(annotations, now));
    annotations.update(granted_memory(annotations.value("hami.io/vgpu-devices-allocated", "")));
    made.given = store_.assume_granted(asked.pod, made.choice.node, annotations,
                                       std::chrono::steady_clock::now() + hami::grant_lifetime, seen);
  }
  return made;
}

std::string extender::write(const question& asked, const json& metadata) {
  json patch{{"uid", text_at(asked.pod, "/metadata/uid")},
             {"labels", metadata.value("labels", json::object())},
             {"annotations", metadata["annotations"]}};
  // What an earlier decision has said besides, and how its binding ended, is over.
  const json before = annotations_of(asked.pod);
  for (const auto& [key, unused] : before.items()) {
    if (is_of_decision(key) && !patch["annotations"].contains(key)) patch["annotations"][key] = nullptr;
  }
  const std::string why = obstacle_();
  try {
    const response sent = why.empty() ? client_.send(pod_patch(text_at(asked.pod, "/metadata/namespace"),
                                                               text_at(asked.pod, "/metadata/name"), patch))
                                      : response{};
    if (sent.ok()) return {};
    // After 5xx nobody knows whether it was written, so the pod keeps the devices until that is known or time is over.
    if (sent.status < 500) store_.forget(asked.name);
    return fmt::format("pod {}: {}", asked.name, why.empty() ? server_words(sent) : why);
  } catch (const no_answer& fault) {
    return fmt::format("pod {}: {}", asked.name, fault.what());
  }
}

/// Devices that were chosen before are free for others.
void extender::take_back(const question& asked) {
  store_.forget(asked.name);
  json gone = json::object();
  const json before = annotations_of(asked.pod);
  for (const auto& [key, unused] : before.items()) {
    if (is_of_decision(key)) gone["annotations"][key] = nullptr;
  }
  if (section(asked.pod, "/metadata/labels").contains(hami::assigned_node)) {
    gone["labels"][hami::assigned_node] = nullptr;
  }
  if (gone.empty() || !may_go_on()) return;
  gone["uid"] = text_at(asked.pod, "/metadata/uid");
  try {
    const response sent = client_.send(
        pod_patch(text_at(asked.pod, "/metadata/namespace"), text_at(asked.pod, "/metadata/name"), std::move(gone)));
    if (sent.ok()) {  // the watch may tell of it, and of what it had before, after the next question
      store_.put_newer(resource_of("Pod"), json::parse(sent.body));
    } else {
      log_(fmt::format("pod {}: {}", asked.name, server_words(sent)));
    }
  } catch (const no_answer& fault) {  // it runs out by itself
    log_(fmt::format("pod {}: {}", asked.name, fault.what()));
  }
}

bool extender::needs_devices(const json& pod) const {
  bool needs = false;
  each_resource(pod, [&](const std::string& name) { needs = needs || by_.extender.resources.contains(name); });
  return needs;
}

json extender::prioritize(const std::string& body) {
  std::string best;
  std::vector<std::string> names;
  try {
    const question asked = read_question(body);
    for (const auto& [name, unused] : asked.nodes) names.push_back(name);
    if (asks_for_extended(asked.pod)) {
      // What the filter has chosen, as far as it can be seen; else what it would choose.
      best = text_at(asked.pod, "/metadata/annotations/hami.io~1vgpu-node");
      if (std::find(names.begin(), names.end(), best) == names.end()) {
        if (names.size() == 1) {
          best = names.front();
        } else {
          const std::scoped_lock lock(deciding_);
          std::uint64_t seen = 0;
          best = decide(asked, seen).node;
        }
      }
    }
  } catch (const std::exception& fault) {  // the protocol knows no errors here; without points nothing is preferred
    log_(fmt::format("extender: prioritize: {}", fault.what()));
  }
  return priorities(names, best);
}

json extender::bind(const std::string& body) {
  std::string why;
  try {
    const bind_order what{read_extender_binding(body)};
    why = obstacle_();
    if (why.empty()) why = carry_out(what);
    if (why.empty()) {
      log_(fmt::format("pod {}/{}: bound to {}", what.name_space, what.pod, what.node));
      return bind_answer({});
    }
  } catch (const std::exception& fault) {
    why = fault.what();
  }
  log_(fmt::format("extender: bind: {}", why));
  return bind_answer(why);
}

std::string extender::carry_out(const bind_order& what) {
  // The server itself: what the filter wrote a moment ago may not have come back by the watch.
  const response found = client_.send({.target = place(resource_of("Pod"), what.name_space, what.pod)});
  const std::string name = fmt::format("{}/{}", what.name_space, what.pod);
  if (!found.ok()) return fmt::format("pod {}: {}", name, server_words(found));
  const json pod = json::parse(found.body);
  if (!what.uid.empty() && text_at(pod, "/metadata/uid") != what.uid) return fmt::format("pod {}: another one", name);
  if (const std::string on = text_at(pod, "/spec/nodeName"); !on.empty()) {
    return on == what.node ? std::string() : fmt::format("pod {}: is on {} already", name, on);
  }
  const json annotations = annotations_of(pod);
  const std::string chosen = annotations.value(hami::assigned_node, "");
  if (chosen.empty()) {
    return needs_devices(pod) ? fmt::format("pod {}: no devices have been chosen for it", name) : send_binding(what);
  }
  if (chosen != what.node) return fmt::format("pod {}: its devices are those of {}", name, chosen);
  const auto since = hami::read_seconds(annotations.value(hami::assigned_time, ""));
  // A binding that is on its way when the time is over would find its devices given to another pod.
  const auto age = since ? system_clock::now() - *since : system_clock::duration::max();
  if (age > hami::grant_lifetime - std::chrono::minutes(1) || age < -hami::grant_lifetime) {
    return fmt::format("pod {}: its devices were chosen too long ago, or its clock is wrong", name);
  }
  return bind_with_devices(what, annotations, *since + hami::grant_lifetime - std::chrono::minutes(1));
}

std::string extender::bind_with_devices(const bind_order& what, const json& annotations,
                                        system_clock::time_point last) {
  const auto until = std::chrono::steady_clock::now() + by_.extender.lock_wait;
  const auto began = std::chrono::steady_clock::now();
  struct end_of_binding {
    node_locks& locks;
    const bind_order& what;
    ~end_of_binding() { locks.let_go(what.name_space, what.pod); }
  } const end{locks_, what};
  std::vector<hami::lock_form> taken;
  std::string why;
  bool may_be_bound = false;
  try {
    for (const hami::lock_form& form : hami::locks_for(annotations)) {
      why = locks_.take(form, what.node, what.name_space, what.pod, until, [this] { return may_go_on(); });
      if (!why.empty()) break;
      taken.push_back(form);
    }
    if (why.empty()) {
      why = patch_phase(what,
                        {{hami::bind_phase, "allocating"}, {hami::bind_time, hami::seconds_text(system_clock::now())}});
    }
    // What took long may have outlived its lock.
    for (const hami::lock_form& form : taken) {
      if (!why.empty() || std::chrono::steady_clock::now() - began < longest_trust) break;
      why = locks_.keep(form, what.node, what.name_space, what.pod);
    }
    // Waiting for locks takes its time.
    if (why.empty() && system_clock::now() > last) why = "its devices were chosen too long ago";
    may_be_bound = why.empty();
    if (may_be_bound) why = send_binding(what);
  } catch (const no_answer& fault) {
    why = fmt::format("pod {}/{}: {}", what.name_space, what.pod, fault.what());
    // Whether it is bound nobody knows: locks stay for the plugin, or run out.
    if (may_be_bound) return why;
  }
  if (why.empty()) return why;
  try {
    (void)patch_phase(what, {{hami::bind_phase, "failed"}});
    for (const hami::lock_form& form : taken) locks_.give_back(form, what.node, what.name_space, what.pod);
  } catch (const no_answer& fault) {
    log_(fmt::format("pod {}/{}: {}", what.name_space, what.pod, fault.what()));
  }
  return why;
}

std::string extender::patch_phase(const bind_order& what, const json& annotations) {
  if (const std::string why = obstacle_(); !why.empty()) return why;
  json metadata{{"annotations", annotations}};
  if (!what.uid.empty()) metadata["uid"] = what.uid;
  return why_not_done(what, pod_patch(what.name_space, what.pod, std::move(metadata)));
}

/// Errors: no_answer, also if the server does not know whether it was done.
std::string extender::why_not_done(const bind_order& what, const request& asked) {
  const response sent = client_.send(asked);
  if (sent.status >= 500) throw no_answer(server_words(sent));
  return sent.ok() ? std::string() : fmt::format("pod {}/{}: {}", what.name_space, what.pod, server_words(sent));
}

std::string extender::send_binding(const bind_order& what) {
  if (const std::string why = obstacle_(); !why.empty()) return why;
  json metadata{{"namespace", what.name_space}, {"name", what.pod}};
  if (!what.uid.empty()) metadata["uid"] = what.uid;
  return why_not_done(what, with_object("POST", place(resource_of("Pod"), what.name_space, what.pod) + "/binding",
                                        {{"apiVersion", "v1"},
                                         {"kind", "Binding"},
                                         {"metadata", std::move(metadata)},
                                         {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", what.node}}}}));
}

}  // namespace shim
