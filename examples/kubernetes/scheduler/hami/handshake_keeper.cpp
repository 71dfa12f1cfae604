#include "hami/handshake_keeper.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api_server/requests.hpp"
#include "api_server/resources.hpp"
#include "hami/hami_annotations.hpp"

namespace shim {

namespace {

using nlohmann::json;

std::string under(const json& object, const char* pointer, const std::string& key) {
  const json::json_pointer path(pointer);
  if (!object.contains(path) || !object[path].is_object() || !object[path].contains(key)) return {};
  const json& found = object[path][key];
  return found.is_string() ? found.get<std::string>() : found.dump();
}

}  // namespace

struct handshake_keeper::due {
  std::string node;
  std::string uid;
  std::string version;
  json annotations = json::object();
};

handshake_keeper::handshake_keeper(const credentials& as, const object_store& store, std::chrono::milliseconds period,
                                   std::chrono::milliseconds timeout, std::function<std::string()> obstacle,
                                   log_function log)
    : store_(store),
      obstacle_(std::move(obstacle)),
      log_(std::move(log)),
      client_(as, timeout),
      thread_([this, period] { run(period); }) {}

handshake_keeper::~handshake_keeper() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  end_.notify_all();
  client_.cancel();
  thread_.join();
}

void handshake_keeper::run(std::chrono::milliseconds period) {
  std::unique_lock lock(mutex_);
  while (!over_) {
    lock.unlock();
    try {
      look_at_all();
    } catch (const cancelled&) {
      return;
    } catch (const std::exception& fault) {
      log_(fmt::format("handshake: {}", fault.what()));
    }
    lock.lock();
    end_.wait_for(lock, period, [this] { return over_; });
  }
}

void handshake_keeper::look_at_all() {
  if (!obstacle_().empty()) return;
  const auto now = std::chrono::system_clock::now();
  std::vector<due> all;
  store_.look([&](const resource& of, const json& object, const std::string&) {
    if (of.kind != "Node") return;
    due one{name_of(object), text_at(object, "/metadata/uid"), text_at(object, "/metadata/resourceVersion")};
    for (const hami::handshake_keys& keys : hami::handshakes_of(object)) {
      const std::string offered = under(object, "/status/allocatable", keys.count);
      const bool offers = !offered.empty() && offered != "0";
      const auto next = hami::next_handshake(under(object, "/metadata/annotations", keys.handshake), offers, now);
      if (next) one.annotations[keys.handshake] = *next;
    }
    if (!one.annotations.empty()) all.push_back(std::move(one));
  });
  for (const due& one : all) {
    if (!obstacle_().empty()) return;
    write(one);
  }
}

void handshake_keeper::write(const due& what) {
  try {
    // With the version that was seen: an answer that has come since is not written over.
    const response sent = client_.send(patch_of(
        place(resource_of("Node"), {}, what.node),
        {{"metadata", {{"uid", what.uid}, {"resourceVersion", what.version}, {"annotations", what.annotations}}}}));
    constexpr unsigned conflict = 409;  // the next look sees what was written
    if (!sent.ok() && sent.status != conflict) {
      log_(fmt::format("node {}: handshakes: {}", what.node, server_words(sent)));
    }
    for (const auto& [key, text] : what.annotations.items()) {
      if (!sent.ok() || !text.get_ref<const std::string&>().starts_with("Deleted")) continue;
      log_(fmt::format("node {}: {}: its plugin does not answer and offers nothing: its devices are given up",
                       what.node, key));
    }
  } catch (const no_answer& fault) {  // the next look finds it as it is
    log_(fmt::format("node {}: handshakes: {}", what.node, fault.what()));
  }
}

}  // namespace shim
