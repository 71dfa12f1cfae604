#include "watch/watches.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "watch/discovery.hpp"

namespace shim {

watches::watches(const credentials& as, sink& to, reflector_options options, log_function log)
    : as_(as), to_(to), options_(options), log_(std::move(log)), client_(as) {
  for (const resource& of : watched_resources()) {
    watches_.push_back(std::make_unique<watch>());
    watches_.back()->of = of;
    // Of kinds that are always there, so that credentials are checked before anything begins.
    if (of.required) watches_.back()->reads = std::make_unique<reflector>(of, as_, to_, options_, log_);
  }
}

watches::~watches() {
  stop();
  if (thread_.joinable()) thread_.join();
  for (const auto& one : watches_) {
    if (one->thread.joinable()) one->thread.join();
  }
}

void watches::start() {
  for (const auto& one : watches_) {
    if (one->of.required) begin(*one);
  }
  thread_ = std::thread([this] { discover(); });
}

void watches::stop() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    for (const auto& one : watches_) {
      if (one->reads != nullptr) one->reads->stop();
    }
  }
  client_.cancel();
  wake_.notify_all();
}

void watches::begin(watch& one) {
  const std::scoped_lock lock(mutex_);
  if (stopped_) return;
  if (one.reads == nullptr) one.reads = std::make_unique<reflector>(one.of, as_, to_, options_, log_);
  one.is_over = false;
  one.thread = std::thread([&one] {
    one.reads->run();
    one.is_over = true;
  });
}

void watches::discover() {
  back_off wait(options_.first_wait, options_.most_wait);
  const auto stopped = [this] {
    const std::scoped_lock lock(mutex_);
    return stopped_;
  };
  while (!stopped()) {
    try {
      look();
      wait.reset();
      pause(options_.absent_wait);
    } catch (const cancelled&) {
      return;
    } catch (const std::exception& fault) {  // of the network, of the server, or an answer that is no JSON
      const std::chrono::milliseconds time = wait.next();
      log_(fmt::format("discovery: {}; again in {} ms", fault.what(), time.count()));
      pause(time);
    }
  }
}

void watches::look() {
  const std::set<std::string> served = served_kinds(client_, watched_resources());
  for (const auto& one : watches_) {
    if (one->of.required) continue;
    if (one->is_over) {
      one->thread.join();
      const std::scoped_lock lock(mutex_);
      one->reads = nullptr;
      one->is_over = false;
    }
    if (one->reads != nullptr) continue;
    const bool wanted = options_.reads_budgets || one->of.key() != budget_key;
    if (wanted && served.contains(one->of.key())) {
      begin(*one);
    } else {
      to_.replace(one->of, {});
    }
  }
}

void watches::pause(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [this] { return stopped_; });
}

}  // namespace shim
