#include "binding/suspended_jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "api_server/requests.hpp"

namespace shim {

namespace {

using nlohmann::json;
using clock = std::chrono::steady_clock;

constexpr const char* job_key = "batch/Job";
/// On Jobs whose `spec.suspend` is this program's to set. Who suspends a Job for other reasons does not say it.
constexpr const char* managed_annotation = "/metadata/annotations/kaisched.io~1suspend";
/// For those who have to agree: places are held for the Job.
constexpr const char* held_annotation = "kaisched.io/place-held";
/// The controller of Jobs has made the pods by then, or something else is wrong.
constexpr std::chrono::seconds longest_hold(60);
/// More pods of one Job than this are not shown before they are there.
constexpr std::int64_t most_planned = 10'000;

std::int64_t count_at(const json& object, const char* pointer, std::int64_t otherwise) {
  const json::json_pointer path(pointer);
  if (!object.contains(path)) return otherwise;
  const json& found = object[path];
  return found.is_number_integer() ? std::max<std::int64_t>(found.get<std::int64_t>(), 0) : otherwise;
}

bool is_managed(const json& job) { return text_at(job, managed_annotation) == "managed"; }

bool is_suspended(const json& job) {
  const json::json_pointer path("/spec/suspend");
  return job.contains(path) && job[path] == json(true);
}

bool is_marked(const json& job) { return text_at(job, "/metadata/annotations/kaisched.io~1place-held") == "true"; }

bool has_ended(const json& job) {
  return std::ranges::any_of(list_at(job, "/status/conditions"), [](const json& one) {
    const std::string type = text_at(one, "/type");
    return (type == "Complete" || type == "Failed" || type == "SuccessCriteriaMet" || type == "FailureTarget") &&
           text_at(one, "/status") == "True";
  });
}

/// How many pods its controller would let run at once.
std::int64_t pods_at_once(const json& job) {
  const std::int64_t parallelism = count_at(job, "/spec/parallelism", 1);
  const std::int64_t completions = count_at(job, "/spec/completions", -1);
  if (completions < 0) return parallelism;
  return std::clamp<std::int64_t>(completions - count_at(job, "/status/succeeded", 0), 0, parallelism);
}

bool is_over(const json& pod) {
  const std::string phase = text_at(pod, "/status/phase");
  return phase == "Succeeded" || phase == "Failed" || !text_at(pod, "/metadata/deletionTimestamp").empty();
}

/// The Job that made the pod, by uid; empty if none has.
std::string maker_of(const json& pod) {
  for (const json& one : list_at(pod, "/metadata/ownerReferences")) {
    if (text_at(one, "/kind") == "Job" && text_at(one, "/apiVersion") == "batch/v1") return text_at(one, "/uid");
  }
  return {};
}

/// A pod as the controller will make it.
json pod_of(const json& job, std::int64_t number) {
  const std::string name = text_at(job, "/metadata/name");
  const std::string uid = text_at(job, "/metadata/uid");
  json labels = section(job, "/spec/template/metadata/labels");
  labels["batch.kubernetes.io/job-name"] = name;
  labels["job-name"] = name;
  json metadata{
      {"name", fmt::format("{}-planned-{}", name, number)},
      {"namespace", text_at(job, "/metadata/namespace")},
      {"uid", fmt::format("{}-planned-{}", uid, number)},
      {"creationTimestamp", text_at(job, "/metadata/creationTimestamp")},
      {"labels", std::move(labels)},
      {"ownerReferences",
       json::array(
           {{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"name", name}, {"uid", uid}, {"controller", true}}})}};
  json annotations = section(job, "/spec/template/metadata/annotations");
  if (!annotations.empty()) metadata["annotations"] = std::move(annotations);
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", std::move(metadata)},
          {"spec", section(job, "/spec/template/spec")},
          {"status", {{"phase", "Pending"}}}};
}

}  // namespace

suspended_jobs::suspended_jobs(const configuration& by, object_store& store, event_list& events, send_function send,
                               log_function log)
    : by_(by), store_(store), events_(events), send_(std::move(send)), log_(std::move(log)) {}

void suspended_jobs::show(const std::string& name, const json& job) {
  static const std::map<std::string, std::string, std::less<>> none;
  const auto held = places_.find(name);
  const auto& nodes = held == places_.end() ? none : held->second.nodes;
  const bool suspended = is_suspended(job);
  const std::int64_t count = pods_at_once(job);
  std::string odd;
  if (count > most_planned) odd = fmt::format("more than {} pods at once", most_planned);
  std::map<std::string, json, std::less<>> pods;
  for (std::int64_t i = 0; odd.empty() && i < count; ++i) {
    json pod = pod_of(job, i);
    if (i == 0) odd = store_.refusal_of(pod);
    if (!odd.empty()) break;
    const std::string own = name_of(pod);
    const auto node = nodes.find(own);
    const bool has_place = node != nodes.end();
    if (lapsed_.contains(name)) add_gate(pod, lapsed_gate);
    if (has_place) pod["spec"]["nodeName"] = node->second;
    // Once it is resumed nobody else of it is shown: the pods themselves come.
    if (has_place || suspended) pods.emplace(own, std::move(pod));
  }
  known_job& known = jobs_[name];
  for (const std::string& pod : known.pods) {
    planned_.erase(pod);
    if (!pods.contains(pod)) store_.hide_planned(pod);
  }
  known.pods.clear();
  for (auto& [own, pod] : pods) {
    known.pods.push_back(own);
    planned_.emplace(own, name);
    store_.show_planned(own, std::move(pod));
  }
  if (odd != known.odd && !odd.empty()) log_(fmt::format("job {}: stays suspended: {}", name, odd));
  known.odd = std::move(odd);
}

void suspended_jobs::hide(const known_job& job) {
  for (const std::string& pod : job.pods) {
    planned_.erase(pod);
    store_.hide_planned(pod);
  }
}

std::map<std::string, std::vector<std::string>, std::less<>> suspended_jobs::pods_of_jobs(
    const std::set<std::string, std::less<>>& uids) const {
  std::map<std::string, std::vector<std::string>, std::less<>> found;
  if (uids.empty()) return found;
  store_.each(pod_key, [&](const json& pod) {
    const std::string maker = maker_of(pod);
    if (!maker.empty() && uids.contains(maker) && !is_over(pod)) found[maker].push_back(name_of(pod));
  });
  return found;
}

std::map<std::string, suspended_jobs::seen_job, std::less<>> suspended_jobs::look() {
  std::map<std::string, seen_job, std::less<>> jobs;
  marked_.clear();
  store_.each(job_key, [&](const json& job) {
    if (!is_managed(job) || text_at(job, "/spec/template/spec/schedulerName") != by_.scheduler_name) return;
    if (has_ended(job) || !text_at(job, "/metadata/deletionTimestamp").empty()) return;
    std::string name = name_of(job);
    if (is_marked(job)) marked_.insert(name);
    if (!is_suspended(job) && !places_.contains(name)) return;
    jobs.emplace(std::move(name), seen_job{text_at(job, "/metadata/uid"), text_at(job, "/metadata/resourceVersion"),
                                           is_suspended(job), pods_at_once(job)});
  });
  return jobs;
}

void suspended_jobs::keep_places(const std::map<std::string, seen_job, std::less<>>& jobs) {
  std::set<std::string, std::less<>> started;
  for (auto one = places_.begin(); one != places_.end();) {
    const auto job = jobs.find(one->first);
    places& held = one->second;
    bool is_lost = job == jobs.end() || job->second.uid != held.uid;
    if (!is_lost && job->second.suspended) {
      is_lost = held.is_resumed();  // somebody has suspended it again
    } else if (!is_lost) {
      if (!held.is_resumed()) held.resumed = clock::now();  // by a request that got no answer, or by hand
      is_lost = clock::now() > held.resumed + longest_hold;
      started.insert(held.uid);
    }
    one = is_lost ? places_.erase(one) : std::next(one);
  }
  const auto there = pods_of_jobs(started);
  for (auto one = places_.begin(); one != places_.end();) {
    places& held = one->second;
    if (held.is_resumed()) {
      // What has come as a real pod needs no stand-in any more.
      const auto real = there.find(held.uid);
      const std::int64_t missing = jobs.find(one->first)->second.pods_at_once -
                                   (real == there.end() ? 0 : static_cast<std::int64_t>(real->second.size()));
      while (!held.nodes.empty() && std::cmp_greater(held.nodes.size(), std::max<std::int64_t>(missing, 0))) {
        held.nodes.erase(std::prev(held.nodes.end()));
        held.changes = ++changes_;
      }
    }
    one = held.nodes.empty() ? places_.erase(one) : std::next(one);
  }
}

void suspended_jobs::plan() {
  if (!by_.starts_jobs) return;
  const auto jobs = look();
  keep_places(jobs);
  std::erase_if(lapsed_, [&](const auto& one) { return one.second <= clock::now() || !jobs.contains(one.first); });
  for (auto one = jobs_.begin(); one != jobs_.end();) {
    const auto job = jobs.find(one->first);
    const bool is_shown = job != jobs.end() && (job->second.suspended || places_.contains(one->first));
    if (!is_shown) hide(one->second);
    one = is_shown ? std::next(one) : jobs_.erase(one);
  }
  for (const auto& [name, job] : jobs) {
    const auto held = places_.find(name);
    if (!job.suspended && held == places_.end()) continue;
    // Pods of a Job are made anew only when it has changed, or its places have.
    const std::string mark =
        fmt::format("{}/{}/{}{}", job.uid, job.version,
                    held == places_.end() ? std::string("-") : std::to_string(held->second.changes),
                    lapsed_.contains(name) ? "/lapsed" : "");
    known_job& known = jobs_[name];
    if (known.mark == mark) continue;
    const json object = store_.find(job_key, name);
    if (object.is_null()) continue;
    known.mark = mark;
    show(name, object);
  }
}

void suspended_jobs::bind(const std::string& pod, const std::string& node) {
  const std::string& name = planned_.at(pod);
  const std::string& mark = jobs_.at(name).mark;
  places& to = places_[name];
  to.uid = mark.substr(0, mark.find('/'));
  if (const auto group = what_->group_of.find(pod); group != what_->group_of.end()) to.group = group->second;
  to.nodes[pod] = node;
  to.changes = ++changes_;
}

void suspended_jobs::evict(const std::string& pod) {
  const auto held = places_.find(planned_.at(pod));
  if (held == places_.end() || held->second.nodes.erase(pod) == 0) return;
  held->second.changes = ++changes_;
  log_(fmt::format("job {}: the place on a node that was held for it goes to others", held->first));
  if (held->second.nodes.empty()) places_.erase(held);
}

void suspended_jobs::wait(const std::string& pod, const std::string& why,
                          const std::function<bool(const std::string&)>& may) {
  const std::string& name = planned_.at(pod);
  if (!may("job " + name)) return;
  if (const json job = store_.find(job_key, name); !job.is_null())
    events_.tell(job, "Normal", "Suspended", why, "Scheduling");
}

bool suspended_jobs::patch(const std::string& name, const json& job, const std::string& words, json change) {
  // Of this very version: nobody knows what somebody else has just made of it.
  change["metadata"]["resourceVersion"] = text_at(job, "/metadata/resourceVersion");
  try {
    const response answer = send_(patch_of(place_of(job_key, name), change));
    if (!answer.ok()) {
      log_(fmt::format("job {}: {}: {}", name, words, server_words(answer)));
      return false;
    }
    json now = json::parse(answer.body, nullptr, false);
    if (!now.is_object()) return false;
    now["apiVersion"] = "batch/v1";
    now["kind"] = "Job";
    store_.put_newer(resource_of(job_key), std::move(now));
    return true;
  } catch (const no_answer& fault) {  // the watch will tell
    log_(fmt::format("job {}: {}: {}", name, words, fault.what()));
    return false;
  }
}

std::vector<std::string> suspended_jobs::suspend(const std::function<bool()>& go_on) {
  std::vector<std::string> gone;
  if (!by_.starts_jobs) return gone;
  std::map<std::string, std::set<std::string>, std::less<>> leaving;  // by uid of the Job
  for (const json& action : what_->actions) {
    if (action.value("kind", "") != "Eviction") continue;
    const std::string pod = name_of(action);
    store_.look_at(pod_key, pod, [&](const json& object) {
      if (const std::string maker = maker_of(object); !maker.empty()) leaving[maker].insert(pod);
    });
  }
  if (leaving.empty()) return gone;
  std::map<std::string, json, std::less<>> jobs;
  store_.each(job_key, [&](const json& job) {
    if (is_managed(job) && !is_suspended(job) && leaving.contains(text_at(job, "/metadata/uid")))
      jobs.emplace(name_of(job), job);
  });
  std::set<std::string, std::less<>> uids;
  for (const auto& [name, job] : jobs) uids.insert(text_at(job, "/metadata/uid"));
  const auto there = pods_of_jobs(uids);
  for (const auto& [name, job] : jobs) {
    const auto all = there.find(text_at(job, "/metadata/uid"));
    const std::set<std::string>& going = leaving.at(text_at(job, "/metadata/uid"));
    if (all == there.end() || !std::all_of(all->second.begin(), all->second.end(),
                                           [&](const std::string& pod) { return going.contains(pod); }))
      continue;
    if (!go_on()) break;
    if (!patch(name, job, "suspend", {{"spec", {{"suspend", true}}}})) continue;
    log_(fmt::format("job {}: suspended", name));
    events_.tell(job, "Normal", "Suspended", "its place goes to others; it is resumed when there is room", "Evicting");
    gone.insert(gone.end(), all->second.begin(), all->second.end());
  }
  return gone;
}

bool suspended_jobs::mark(const std::string& name, const json& job, bool held) {
  const json mark = held ? json("true") : json(nullptr);
  return patch(name, job, "mark", {{"metadata", {{"annotations", {{held_annotation, mark}}}}}});
}

void suspended_jobs::give_up_places() {
  for (auto one = places_.begin(); one != places_.end();) {
    const auto& [name, held] = *one;
    const auto checks = what_->checks.find(held.group);
    const bool is_over = !held.is_resumed() && checks != what_->checks.end() && by_.checks.lapsed(held.since);
    if (is_over) {
      lapsed_[name] = clock::now() + by_.checks.retry;
      log_(fmt::format("job {}: its places go to others: these have not agreed in time: {}", name, checks->second));
    }
    one = is_over ? places_.erase(one) : std::next(one);
  }
}

std::size_t suspended_jobs::resume(const std::function<bool()>& go_on) {
  std::size_t count = 0;
  give_up_places();
  for (auto& [name, held] : places_) {
    if (held.is_resumed()) continue;
    const json job = store_.find(job_key, name);
    if (job.is_null()) continue;  // `plan` gives up its places
    if (!go_on()) return count;
    const auto checks = what_->checks.find(held.group);
    if (checks == what_->checks.end()) {
      // What was refused, or got no answer, is asked again in the next cycle if it has not been done.
      if (!patch(name, job, "resume",
                 {{"spec", {{"suspend", false}}}, {"metadata", {{"annotations", {{held_annotation, nullptr}}}}}}))
        continue;
      held.resumed = clock::now();
      ++count;
      log_(fmt::format("job {}: resumed, with places for {} pods", name, held.nodes.size()));
      events_.tell(job, "Normal", "Resumed", fmt::format("there is room for {} pods", held.nodes.size()), "Scheduling");
    } else if (!is_marked(job) && mark(name, job, true)) {
      const std::string words =
          fmt::format("places for {} pods are held until these agree: {}", held.nodes.size(), checks->second);
      log_(fmt::format("job {}: {}", name, words));
      events_.tell(job, "Normal", "PlaceHeld", words, "Scheduling");
    }
  }
  for (const std::string& name : marked_) {
    if (places_.contains(name)) continue;
    const json job = store_.find(job_key, name);
    if (job.is_null() || !is_marked(job)) continue;
    if (!go_on()) return count;
    if (mark(name, job, false))
      events_.tell(job, "Normal", "PlaceLost", "no place is held for it any more", "Scheduling");
  }
  return count;
}

}  // namespace shim
