#include "usage/prometheus_usage.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace shim {

namespace {

/// The first decision waits for an answer, but not for ever.
constexpr std::chrono::seconds longest_begin{5};

}  // namespace

std::string sum_over_window(const std::string& expression, const usage_settings& by, milli_time now) {
  const milli_time length = std::max<milli_time>(1000, now - by.window.begin_at(now));
  std::string counted = expression;
  if (by.half_life.count() > 0) {
    counted = fmt::format("({}) * (0.5 ^ (({:.3f} - time()) / {:.3f}))", expression, static_cast<double>(now) / 1e3,
                          static_cast<double>(by.half_life.count()) / 1e3);
  }
  return fmt::format("sum_over_time(({})[{}s:{}s])", counted, length / 1000, by.resolution / std::chrono::seconds(1));
}

prometheus_usage::prometheus_usage(usage_settings by, log_function log, observer told)
    : by_(std::move(by)), asked_(by_.prometheus), log_(std::move(log)), told_(std::move(told)) {}

prometheus_usage::~prometheus_usage() {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  asked_.cancel();
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void prometheus_usage::begin() {
  thread_ = std::thread([this] { run(); });
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest_begin, [this] { return has_looked_; });
}

void prometheus_usage::run() {
  std::unique_lock lock(mutex_);
  while (!is_over_) {
    lock.unlock();
    look();
    lock.lock();
    has_looked_ = true;
    changed_.notify_all();
    changed_.wait_for(lock, by_.interval, [this] { return is_over_; });
  }
}

void prometheus_usage::look() noexcept {
  const auto began = std::chrono::steady_clock::now();
  try {
    queue_parts found = ask();
    told_(std::chrono::steady_clock::now() - began);
    const std::scoped_lock lock(mutex_);
    parts_ = std::move(found);
    answered_ = began;
    complaint_.clear();
  } catch (const cancelled&) {  // it ends
  } catch (const std::exception& fault) {
    if (fault.what() != std::exchange(complaint_, fault.what())) log_(fmt::format("usage: {}", fault.what()));
  }
}

queue_parts prometheus_usage::ask() {
  const auto now = std::chrono::system_clock::now();
  const milli_time at = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count();
  queue_parts all;
  for (std::size_t i = 0; i < by_.capacity.size(); ++i) {
    const std::vector<sample> whole = asked_.ask(sum_over_window(by_.capacity[i], by_, at), now);
    if (whole.size() > 1) {
      throw std::runtime_error(
          fmt::format("prometheus: {}: expected one value, found {}", by_.capacity[i], whole.size()));
    }
    if (whole.empty() || whole.front().value <= 0) continue;  // there is none of it, so nobody has used any
    // Several processes may tell of a queue, one after the other or at once.
    const std::string held = fmt::format("max by (queue_name) ({})", by_.allocated[i]);
    for (const sample& one : asked_.ask(sum_over_window(held, by_, at), now)) {
      const auto queue = one.labels.find("queue_name");
      if (queue == one.labels.end() || one.value <= 0) continue;
      all[queue->second][i] = one.value / whole.front().value;
    }
  }
  return all;
}

queue_parts prometheus_usage::parts() const {
  const std::scoped_lock lock(mutex_);
  if (std::chrono::steady_clock::now() - answered_ <= by_.stale_after) return parts_;
  return {};
}

}  // namespace shim
