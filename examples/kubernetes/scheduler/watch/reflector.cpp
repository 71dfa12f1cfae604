#include "watch/reflector.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "api_server/bounded_json.hpp"
#include "api_server/object_fields.hpp"

namespace shim {

namespace {

using nlohmann::json;

std::string version_of(const json& object) { return text_at(object, "/metadata/resourceVersion"); }

}  // namespace

reflector::reflector(const resource& of, const credentials& as, sink& to, reflector_options options, log_function log)
    : resource_(of),
      client_(as),
      to_(to),
      options_(options),
      log_(std::move(log)),
      wait_(options.first_wait, options.most_wait) {}

void reflector::run() {
  while (!stopped_) {
    try {
      const outcome ended = version_.empty() ? list() : watch();
      if (ended == outcome::went_on) continue;
      version_.clear();
      if (ended == outcome::expired) {
        log_(fmt::format("{}: the server no longer knows where the watch was; listing again", resource_.plural));
        pause(wait_.next());
      } else {
        to_.replace(resource_, {});
        return;
      }
    } catch (const cancelled&) {
      return;
    } catch (const std::exception& fault) {  // of the network, of the server, or an answer that is no JSON
      // What a watch cannot tell so that it is understood, a list may.
      if (dynamic_cast<const json::exception*>(&fault) != nullptr) version_.clear();
      const std::chrono::milliseconds time = std::max(wait_.next(), std::exchange(retry_after_, {}));
      log_(fmt::format("{}: {}; again in {} ms", resource_.plural, fault.what(), time.count()));
      pause(time);
    }
  }
}

void reflector::stop() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  client_.cancel();
  wake_.notify_all();
}

reflector::outcome reflector::list() {
  std::vector<json> all;
  std::string next;
  std::string version;
  do {
    request what{.target = fmt::format("{}?limit={}", collection(resource_), options_.page_size)};
    if (!next.empty()) what.target += "&continue=" + encoded(next);
    const response answer = client_.send(what);
    if (const outcome judged = judge(answer, "list"); judged != outcome::went_on) return judged;
    json page = parse_lenient(answer.body);
    version = version_of(page);
    if (version.empty()) throw std::runtime_error("list: an answer that is no list");
    const auto found = page.find("items");
    if (found == page.end() || !(found->is_array() || found->is_null())) {
      throw std::runtime_error("list: an answer that is no list");
    }
    json& items = *found;
    for (json& one : items) {
      if (!one.is_object()) {
        log_(fmt::format("{}: list: an item that is no object is passed over", resource_.plural));
        continue;
      }
      one["apiVersion"] = resource_.version;  // items of lists do not say what they are
      one["kind"] = resource_.kind;
      all.push_back(std::move(one));
    }
    next = page["metadata"].value("continue", "");
  } while (!next.empty());
  to_.replace(resource_, std::move(all));
  version_ = version;
  return outcome::went_on;
}

reflector::outcome reflector::watch() {
  const std::string target = fmt::format("{}?watch=true&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                                         collection(resource_), encoded(version_), options_.watch.count());
  outcome ended = outcome::went_on;
  bool came = false;
  const response answer = client_.stream(target, options_.silence, [&](std::string_view line) {
    came = true;
    return take_event(line, ended);
  });
  if (const outcome judged = judge(answer, "watch"); judged != outcome::went_on) return judged;
  if (ended == outcome::went_on && !came) pause(wait_.next());  // a server that ends every watch at once
  return ended;
}

bool reflector::take_event(std::string_view line, outcome& ended) {
  json event = parse_lenient(line);
  const std::string type = event.value("type", "");
  json& object = event["object"];
  if (type == "ERROR") {
    if (object.value("code", 0) != 410) {
      throw std::runtime_error(fmt::format("watch: {}", object.value("message", "an error without a message")));
    }
    ended = outcome::expired;
    return false;
  }
  const std::string version = version_of(object);
  if (version.empty()) throw std::runtime_error("watch: an event without a resourceVersion");
  if (type == "ADDED" || type == "MODIFIED") {
    to_.put(resource_, std::move(object));
  } else if (type == "DELETED") {
    to_.remove(resource_, object);
  }
  version_ = version;
  wait_.reset();
  return true;
}

reflector::outcome reflector::judge(const response& answer, const std::string& what) {
  if (answer.ok()) return outcome::went_on;
  if (answer.status == 410) return outcome::expired;
  if (answer.status == 404 && !resource_.required) return outcome::absent;
  retry_after_ = answer.retry_after;
  throw std::runtime_error(fmt::format("{}: {}", what, server_words(answer)));
}

void reflector::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [this] { return stopped_.load(); });
}

}  // namespace shim
