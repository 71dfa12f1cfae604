#include "node_keeper.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api_server/object_fields.hpp"
#include "hami/hami_annotations.hpp"

namespace device_plugin {

namespace {

using nlohmann::json;
namespace hami = shim::hami;

/// How soon cards that have changed are told of.
constexpr std::chrono::seconds pulse{1};

/// Models of NVIDIA are found by these letters.
std::string type_of(const card& one) {
  if (one.model.empty()) return "NVIDIA";
  return one.model.starts_with("NVIDIA") ? one.model : "NVIDIA-" + one.model;
}

/// Whether nobody will give the pod devices any more.
bool is_settled(const json& pod) {
  const std::string phase = shim::text_at(pod, "/status/phase");
  return phase == "Failed" || phase == "Succeeded" ||
         shim::annotations_of(pod).value(hami::bind_phase, "") != "allocating";
}

/// Cards as HAMi's device plugin registers them. @param slices how many pods may share one.
std::string register_text(const std::vector<card>& cards, std::uint32_t slices) {
  json list = json::array();
  for (const card& one : cards) {
    list.push_back({{"id", one.uuid},
                    {"index", list.size()},
                    {"count", slices},
                    {"devmem", one.memory_bytes >> 20U},
                    {"devcore", 100},
                    {"type", type_of(one)},
                    {"numa", std::max<std::int64_t>(one.numa, 0)},
                    {"mode", "hami-core"},
                    {"health", one.healthy}});
  }
  return list.dump();
}

}  // namespace

node_keeper::node_keeper(node_api& api, card_function cards, std::uint32_t slices, setup_options by,
                         std::chrono::milliseconds period, log_function log)
    : api_(api),
      cards_(std::move(cards)),
      slices_(slices),
      by_(std::move(by)),
      period_(period),
      log_(std::move(log)),
      locks_(api.client()),
      thread_([this] { run(); }) {}

node_keeper::~node_keeper() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  end_.notify_all();
  api_.cancel();
  thread_.join();
}

void node_keeper::run() {
  using steady = std::chrono::steady_clock;
  steady::time_point next = steady::now();
  std::optional<std::vector<card>> told;
  std::string fault;
  std::unique_lock lock(mutex_);
  while (!over_) {
    const std::vector<card> now = cards_();
    if (now == told && steady::now() < next) {
      end_.wait_until(lock, std::min(next, steady::now() + pulse), [this] { return over_; });
      continue;
    }
    lock.unlock();
    next = steady::now() + period_;
    told = now;
    try {
      look(now);
      fault.clear();
    } catch (const shim::cancelled&) {
      return;
    } catch (const std::exception& why) {
      if (fault != why.what()) log_(fmt::format("node {}: {}", api_.node_name(), why.what()));
      fault = why.what();
      next = steady::now() + std::min<std::chrono::milliseconds>(period_, pulse);
    }
    lock.lock();
  }
}

void node_keeper::look(const std::vector<card>& cards) {
  constexpr int most_tries = 5;
  json node = api_.node();
  for (int i = 0; !tell(node, cards); ++i) {
    if (i == most_tries) throw std::runtime_error("it changes all the time: its cards are not told of");
    node = api_.node();
  }
  free_lock(node);
  clear_away();
}

/// @return false if the node has changed meanwhile.
bool node_keeper::tell(const json& node, const std::vector<card>& cards) {
  const json annotations = shim::annotations_of(node);
  json changes = json::object();
  if (std::string text = register_text(cards, slices_); annotations.value(hami::nvidia_register, "") != text)
    changes[hami::nvidia_register] = std::move(text);
  const auto now = std::chrono::system_clock::now();
  if (auto answer = hami::handshake_answer(annotations.value(hami::nvidia_handshake, ""), now))
    changes[hami::nvidia_handshake] = std::move(*answer);
  if (changes.empty()) return true;
  if (api_.annotate_node(node, changes) != node_api::outcome::done) return false;
  if (changes.contains(hami::nvidia_register))
    log_(fmt::format("node {}: {} cards are registered", api_.node_name(), cards.size()));
  return true;
}

/// The lock of a pod that has its devices, or gets none, if whoever should have given it back was ended before.
void node_keeper::free_lock(const json& node) {
  const auto held = hami::read_lock(shim::annotations_of(node).value(hami::node_lock, ""));
  if (!held || held->pod.empty()) return;
  const json pod = api_.pod(held->name_space, held->pod);
  // Before it is bound the lock is the scheduler's.
  if (shim::text_at(pod, "/spec/nodeName") != api_.node_name() || !is_settled(pod)) return;
  if (shim::annotations_of(pod).value(hami::bind_phase, "") == "allocating")
    (void)api_.annotate_pod(pod, {{hami::bind_phase, "failed"}});
  locks_.give_back({hami::node_lock}, api_.node_name(), held->name_space, held->pod);
}

void node_keeper::clear_away() {
  const auto found = leftovers(by_);
  if (found.empty()) return;
  std::set<std::string> uids;
  for (const json& one : api_.pods()) uids.insert(shim::text_at(one, "/metadata/uid"));
  remove_leftovers(found, uids);
}

}  // namespace device_plugin
