#include "extender/extender_clients.hpp"

#include <algorithm>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api_server/bounded_json.hpp"
#include "extender/extender_protocol.hpp"
#include "hami/device_choice.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr std::size_t most_extender_answer = 16U << 20U;
constexpr unsigned most_extender_points = 10;
constexpr std::size_t most_reasons = 3;
constexpr auto no_limit = std::chrono::steady_clock::time_point::max();
constexpr const char* answers_annotation = "kaisched.io/extender-answers";

bool waits_for(const json& pod, const std::string& scheduler_name) {
  if (!text_at(pod, "/spec/nodeName").empty() || text_at(pod, "/spec/schedulerName") != scheduler_name) return false;
  const std::string phase = text_at(pod, "/status/phase");
  if (!text_at(pod, "/metadata/deletionTimestamp").empty() || (!phase.empty() && phase != "Pending")) return false;
  const json spec = section(pod, "/spec");
  const auto gates = spec.find("schedulingGates");
  return gates == spec.end() || gates->empty();
}

/// What the answer may depend on, and not what this program writes all the time.
std::uint64_t digest_of_pod(const json& pod) {
  return digest(one_line(json{text_at(pod, "/metadata/uid"), section(pod, "/metadata/labels"), annotations_of(pod),
                              section(pod, "/spec")}));
}

/// Who asks for a resource by name, as a request or a limit.
bool asks_for(const json& pod, const std::vector<std::string>& resources) {
  bool asks = false;
  each_resource(pod,
                [&](const std::string& name) { asks = asks || std::ranges::find(resources, name) != resources.end(); });
  return asks;
}

bool concerns(const asked_extender& of, const json& pod) { return of.resources.empty() || asks_for(pod, of.resources); }

/// Names of nodes in an answer; those of objects where it has no names. Nothing: it says neither.
std::optional<std::vector<std::string>> nodes_in(const json& told) {
  std::vector<std::string> names;
  const json list = member_of(told, "NodeNames");
  if (list.is_array()) {
    for (const json& one : list) {
      if (!one.is_string()) throw std::runtime_error("NodeNames: expected texts");
      names.push_back(one.get<std::string>());
    }
    return names;
  }
  const json whole = member_of(told, "Nodes");
  const json items = whole.is_object() ? member_of(whole, "items") : json();
  if (!items.is_array()) return std::nullopt;
  for (const json& one : items) names.push_back(text_at(one, "/metadata/name"));
  return names;
}

/// Why nodes are not left, the reason of most nodes first.
std::string reasons_in(const json& told) {
  std::map<std::string, std::size_t> counts;
  for (const char* const name : {"FailedNodes", "FailedAndUnresolvableNodes"}) {
    const json failed = member_of(told, name);
    if (!failed.is_object()) continue;
    for (const auto& [node, why] : failed.items()) {
      if (why.is_string()) ++counts[why.get<std::string>()];
    }
  }
  std::vector<std::pair<std::size_t, std::string>> all;
  for (const auto& [why, count] : counts) all.emplace_back(count, why);
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.first > b.first; });
  if (all.size() > most_reasons) all.resize(most_reasons);
  std::string words;
  for (const auto& [count, why] : all)
    words += fmt::format("{}{} ({} node{})", words.empty() ? "" : ", ", why, count, count == 1 ? "" : "s");
  return words;
}

}  // namespace

extender_clients::extender_clients(extenders_settings by, std::string scheduler_name, log_function log)
    : by_(std::move(by)), scheduler_name_(std::move(scheduler_name)), log_(std::move(log)) {
  for (const asked_extender& one : by_.all) {
    auto http = std::make_unique<http_client>(credentials_for(one.url, one.token_file, one.ca));
    http->set_foreign(most_extender_answer);
    clients_.push_back({one, std::move(http)});
  }
}

void extender_clients::cancel() noexcept {
  for (const client& one : clients_) one.http->cancel();
}

extender_clients::situation extender_clients::look(const object_store& at) const {
  situation now;
  std::string nodes;
  at.look([&](const resource& of, const json& object, const std::string&) {
    if (of.key() == node_key) {
      if (section(object, "/spec").value("unschedulable", json(false)) == true) return;
      now.nodes.insert(text_at(object, "/metadata/name"));
      nodes += one_line(json{text_at(object, "/metadata/name"), section(object, "/metadata/labels"),
                             section(object, "/spec"), section(object, "/status/allocatable")});
    } else if (waits_for(object, scheduler_name_) &&
               std::ranges::any_of(clients_, [&](const client& one) { return concerns(one.of, object); })) {
      now.pods.push_back({name_of(object), digest_of_pod(object), object});
    }
  });
  now.digest = digest(nodes);
  return now;
}

json extender_clients::post(client& to, const std::string& verb, const waiting_pod& pod,
                            const std::set<std::string>& nodes, clock::time_point until) {
  std::chrono::milliseconds most = to.of.timeout;
  if (until != no_limit)
    most = std::clamp(std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()),
                      std::chrono::milliseconds(1), most);
  to.http->set_timeout(most);
  ++requests_;
  request what{"POST", "/" + verb, {}};
  json object = pod.object;
  object["apiVersion"] = "v1";
  object["kind"] = "Pod";
  what.body = one_line(json{{"Pod", std::move(object)}, {"Nodes", nullptr}, {"NodeNames", nodes}});
  const response got = to.http->send(what);
  if (!got.ok()) throw std::runtime_error(fmt::format("status {}", got.status));
  return parse_bounded(got.body);
}

void extender_clients::filter(client& by, const waiting_pod& pod, answer& to, clock::time_point until) {
  const json told = post(by, by.of.filter, pod, to.left, until);
  if (!told.is_object()) throw std::runtime_error("the answer is no JSON object");
  if (const json wrong = member_of(told, "Error"); wrong.is_string() && !wrong.get_ref<const std::string&>().empty())
    throw std::runtime_error(wrong.get<std::string>());
  const std::optional<std::vector<std::string>> names = nodes_in(told);
  if (!names) throw std::runtime_error("the answer has no NodeNames");
  std::set<std::string> left;
  for (const std::string& one : *names) {
    if (!to.left.contains(one)) throw std::runtime_error(fmt::format("node {}: it was not asked about", one));
    left.insert(one);
  }
  to.left = std::move(left);
  if (!to.left.empty()) return;
  const std::string why = reasons_in(told);
  to.obstacle = fmt::format("extender {}: no node is left{}{}", by.of.url, why.empty() ? "" : ": ", why);
}

void extender_clients::prioritize(client& by, const waiting_pod& pod, answer& to, clock::time_point until) {
  const json told = post(by, by.of.prioritize, pod, to.left, until);
  if (!told.is_array()) throw std::runtime_error("the answer is no list");
  std::map<std::string, unsigned> points;
  for (const json& one : told) {
    const json host = one.is_object() ? member_of(one, "Host") : json();
    const json score = one.is_object() ? member_of(one, "Score") : json();
    if (!host.is_string() || !score.is_number_integer()) throw std::runtime_error("expected hosts and scores");
    const std::string name = host.get<std::string>();
    const auto value = score.get<std::int64_t>();
    if (!to.left.contains(name)) throw std::runtime_error(fmt::format("node {}: it was not asked about", name));
    if (value < 0 || value > most_extender_points)
      throw std::runtime_error(
          fmt::format("node {}: expected 0 to {} points, found {}", name, most_extender_points, value));
    // Ten points of weight 1 are as much as everything that the scheduler says itself about one thing.
    points[name] = static_cast<unsigned>(value) * by.of.weight * (100 / most_extender_points);
  }
  for (const auto& [name, more] : points) {
    if (more == 0) continue;
    unsigned& sum = to.points[name];
    sum = std::min(sum + more, 100U);
  }
}

void extender_clients::complain(client& about, const std::string& words) {
  if (about.complaint != words && !words.empty()) log_(fmt::format("extender {}: {}", about.of.url, words));
  about.complaint = words;
}

std::optional<extender_clients::answer> extender_clients::ask_about(const waiting_pod& pod, const situation& now,
                                                                    clock::time_point until) {
  answer made;
  made.pod = pod.digest;
  made.nodes = now.digest;
  made.left = now.nodes;
  for (const bool scores : {false, true}) {
    for (client& one : clients_) {
      const std::string& verb = scores ? one.of.prioritize : one.of.filter;
      if (verb.empty() || !made.obstacle.empty() || made.left.empty() || !concerns(one.of, pod.object)) continue;
      std::string fault = one.is_down ? one.complaint : std::string{};
      if (!one.is_down) {
        if (until != no_limit && (requests_ >= by_.requests || clock::now() >= until)) return std::nullopt;
        try {
          if (scores) {
            prioritize(one, pod, made, until);
          } else {
            filter(one, pod, made, until);
          }
        } catch (const no_answer& what) {
          // It had less time than it may take: it is not to blame.
          if (clock::now() >= until) return std::nullopt;
          one.is_down = true;
          fault = what.what();
        } catch (const cancelled&) {
          throw;
        } catch (const std::exception& what) {
          fault = what.what();
        }
        complain(one, fault);
      }
      if (fault.empty()) continue;
      made.is_failure = true;
      if (!scores && !one.of.ignorable) made.obstacle = fmt::format("extender {}: {}", one.of.url, fault);
    }
  }
  made.when = clock::now();
  return made;
}

std::string extender_clients::note_of(const answer& known, const std::set<std::string>& nodes) const {
  json told = json::object();
  if (!known.obstacle.empty()) {
    told["obstacle"] = known.obstacle;
    return one_line(told);
  }
  json left = json::array();
  json except = json::array();
  for (const std::string& one : nodes) (known.left.contains(one) ? left : except).push_back(one);
  if (!except.empty() && left.size() <= except.size()) told["nodes"] = std::move(left);
  if (!except.empty() && !told.contains("nodes")) told["except"] = std::move(except);
  for (const auto& [name, points] : known.points) {
    if (nodes.contains(name)) told["preferences"][name] = points;
  }
  return one_line(told);
}

bool extender_clients::ask(object_store& to) {
  const situation now = look(to);
  const clock::time_point began = clock::now();
  requests_ = 0;
  for (client& one : clients_) one.is_down = false;
  std::map<std::string, answer> known;
  for (const waiting_pod& pod : now.pods) {
    const auto found = known_.find(pod.name);
    const bool counts =
        found != known_.end() && found->second.pod == pod.digest && found->second.when + by_.keep > began;
    if (counts) known.emplace(pod.name, std::move(found->second));
  }
  known_ = std::move(known);
  // Whose answer is missing, or could be another one by now; the oldest answers first.
  std::vector<std::tuple<clock::time_point, std::string, const waiting_pod*>> asked;
  for (const waiting_pod& pod : now.pods) {
    const auto found = known_.find(pod.name);
    const bool has = found != known_.end();
    if (has && !found->second.is_failure && found->second.nodes == now.digest &&
        found->second.when + by_.keep / 2 > began)
      continue;
    asked.emplace_back(has ? found->second.when : clock::time_point::min(), pod.name, &pod);
  }
  std::ranges::sort(asked);
  bool is_behind = false;
  try {
    for (const auto& [when, name, pod] : asked) {
      // Somebody is asked about in every cycle, however slow they are: no longer than they may take.
      const clock::time_point until = requests_ == 0 ? no_limit : began + by_.cycle;
      std::optional<answer> made = now.nodes.empty() ? std::nullopt : ask_about(*pod, now, until);
      if (!made) {
        is_behind = true;
        break;
      }
      is_behind = is_behind || made->is_failure;
      known_.insert_or_assign(name, std::move(*made));
    }
  } catch (const cancelled&) {
    is_behind = true;
  }
  object_store::notes notes;
  for (const waiting_pod& pod : now.pods) {
    if (const auto found = known_.find(pod.name); found != known_.end())
      notes.emplace(pod.name, note_of(found->second, now.nodes));
  }
  // Also of who comes between the questions and the session.
  to.note(pod_key, answers_annotation, std::move(notes),
          [of = by_.all, scheduler = scheduler_name_](const json& pod) -> std::string {
            const bool is_asked_about =
                waits_for(pod, scheduler) &&
                std::ranges::any_of(of, [&](const asked_extender& one) { return concerns(one, pod); });
            if (!is_asked_about) return {};
            json told = json::object();
            told["obstacle"] = "extenders have not been asked about it yet";
            return one_line(told);
          });
  return is_behind;
}

}  // namespace shim
