#include "usage/usage_provider.hpp"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api_server/resources.hpp"

namespace shim {

namespace {

namespace abi = kaisched::abi;

/// The engine counts in millionths, and what does not change need not be told.
std::string note_of(const quota_amounts& part) {
  const auto rounded = [](double of) { return std::round(of * 1e6) / 1e6; };
  return fmt::format("cpu={},memory={},gpu={}", rounded(part[0]), rounded(part[1]), rounded(part[2]));
}

/// Of all nodes, whether they are open or not, as KAI counts.
quota_amounts capacity_of(const evidence& seen) {
  const abi::table nodes = seen.snapshot.table(KAISCHED_TABLE_NODE);
  const auto capacity = nodes.numbers<std::int64_t>(KAISCHED_NODE_COL_CAPACITY);
  const std::size_t width = nodes.width(KAISCHED_NODE_COL_CAPACITY);
  quota_amounts sum{};
  for (std::size_t row = 0; row < nodes.rows(); ++row) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(capacity[row * width + i]);
  }
  return sum;
}

usage_settings with_own_place(usage_settings of, const configuration& by) {
  if (of.name_space.empty()) of.name_space = by.election.name_space;
  if (of.name.empty()) of.name = by.election.name + "-usage";
  return of;
}

}  // namespace

usage_provider::usage_provider(const configuration& by, const credentials& as, std::function<bool()> may_write,
                               log_function log, prometheus_usage::observer told)
    : interval_(by.usage.interval) {
  if (!by.usage.prometheus.url.empty()) {
    asked_ = std::make_unique<prometheus_usage>(by.usage, std::move(log), std::move(told));
    return;
  }
  // What is sent under a lease has been answered or given up before somebody else may take it.
  own_ = std::make_unique<usage_keeper>(with_own_place(by.usage, by), as,
                                        by.election.lease_duration - by.election.renew_deadline, std::move(may_write),
                                        std::move(log));
}

void usage_provider::begin() {
  if (own_ != nullptr) {
    own_->begin();
  } else {
    asked_->begin();
  }
}

void usage_provider::tell(object_store& to) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + interval_;
  object_store::notes notes;
  for (const auto& [queue, part] : own_ != nullptr ? own_->parts() : asked_->parts()) {
    notes.emplace(queue, note_of(part));
  }
  to.note(queue_key, "kaisched.io/usage", std::move(notes));
}

void usage_provider::note(const evidence& seen, std::chrono::system_clock::time_point when) {
  if (own_ == nullptr) return;
  const abi::table shares = seen.session.table(KAISCHED_TABLE_QUEUE_SHARE);
  const auto names = shares.texts(KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME);
  const auto held = shares.numbers<std::int64_t>(KAISCHED_QUEUE_SHARE_COL_ALLOCATED);
  std::vector<usage_ledger::holding> queues;
  queues.reserve(shares.rows());
  for (std::size_t row = 0; row < shares.rows(); ++row) {
    usage_ledger::holding one{names[row], {}};
    for (std::size_t i = 0; i < one.held.size(); ++i) {
      one.held[i] = static_cast<double>(held[row * one.held.size() + i]);
    }
    queues.push_back(one);
  }
  own_->note(std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count(), queues,
             capacity_of(seen));
}

void usage_provider::finish() noexcept {
  if (own_ != nullptr) own_->finish();
}

}  // namespace shim
