#include "load/load_provider.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "api_server/resources.hpp"
#include "prometheus/exposition_text.hpp"

namespace shim {

namespace {

/// Of one node; some hundred metrics of 16 GPUs are a tenth of it.
constexpr std::size_t most_exposition = 4U << 20U;
constexpr std::chrono::seconds scrape_timeout{2};

}  // namespace

load_provider::load_provider(load_settings by, object_store& to, log_function log, observer told)
    : by_(std::move(by)), to_(to), log_(std::move(log)), told_(std::move(told)), board_(by_.window, by_.node_label) {
  for (const std::string& address : by_.exporters) {
    auto client = std::make_unique<http_client>(credentials_for(address));
    client->set_timeout(scrape_timeout);
    client->set_foreign(most_exposition);
    exporters_.push_back({address, std::move(client)});
  }
  if (!by_.prometheus.url.empty()) prometheus_ = std::make_unique<prometheus>(by_.prometheus);
  thread_ = std::thread([this] { run(); });
}

load_provider::~load_provider() {
  {
    const std::scoped_lock lock(mutex_);
    over_ = true;
  }
  end_.notify_all();
  for (const exporter& one : exporters_) one.client->cancel();
  if (prometheus_ != nullptr) prometheus_->cancel();
  thread_.join();
}

bool load_provider::is_over() const {
  const std::scoped_lock lock(mutex_);
  return over_;
}

void load_provider::run() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    lock.unlock();
    look();
    lock.lock();
    end_.wait_for(lock, by_.period, [this] { return over_; });
  }
}

void load_provider::look() {
  for (exporter& one : exporters_) {
    if (is_over()) return;
    std::string fault;
    try {
      scrape(one);
    } catch (const cancelled&) {
      return;
    } catch (const std::exception& what) {
      fault = what.what();
    }
    if (fault != std::exchange(one.complaint, fault) && !fault.empty())
      log_(fmt::format("load: {}: {}", one.address, fault));
  }
  if (prometheus_ != nullptr) {
    std::string fault;
    try {
      ask(utilisation_metric);
      ask(memory_metric);
    } catch (const cancelled&) {
      return;
    } catch (const std::exception& what) {
      fault = what.what();
    }
    if (fault != std::exchange(complaint_, fault) && !fault.empty()) log_(fmt::format("load: {}", fault));
  }
  to_.note(node_key, "kaisched.io/load", board_.notes(load_board::clock::now()));
  told_(board_.cards());
}

void load_provider::scrape(exporter& from) {
  const response answer = from.client->send({});
  if (!answer.ok()) throw std::runtime_error(fmt::format("status {}", answer.status));
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  const std::int64_t oldest = std::chrono::duration_cast<std::chrono::milliseconds>(wall - by_.window).count();
  const auto now = load_board::clock::now();
  const std::size_t unread = read_exposition(
      answer.body, [](std::string_view name) { return name == utilisation_metric || name == memory_metric; },
      [&](std::string_view name, const sample& what, std::optional<std::int64_t> when) {
        if (!when || *when >= oldest) board_.take(name, what, now);
      });
  if (unread > 0) throw std::runtime_error(fmt::format("{} lines that cannot be read", unread));
}

/// A Prometheus answers with what it knew some minutes ago as well.
void load_provider::ask(std::string_view metric) {
  const std::string expression =
      fmt::format("{0} and (time() - timestamp({0}) < {1:.3f})", metric, static_cast<double>(by_.window.count()) / 1e3);
  const auto now = load_board::clock::now();
  for (const sample& one : prometheus_->ask(expression, std::chrono::system_clock::now()))
    board_.take(metric, one, now);
}

}  // namespace shim
