#include "usage/usage_keeper.hpp"

#include <exception>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "api_server/requests.hpp"
#include "api_server/resources.hpp"
#include "watch/object_store.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr resource config_maps{"ConfigMap", "v1", "configmaps", true};
constexpr const char* key = "usage";
/// An object has 1 MiB at most.
constexpr std::size_t most_bytes = 900'000;

}  // namespace

usage_keeper::usage_keeper(usage_settings by, const credentials& as, std::chrono::milliseconds timeout,
                           std::function<bool()> may_write, log_function log)
    : by_(std::move(by)),
      client_(as),
      may_write_(std::move(may_write)),
      log_(std::move(log)),
      ledger_(by_.window, by_.half_life) {
  client_.set_timeout(timeout);
}

usage_keeper::~usage_keeper() {
  client_.cancel();
  end_thread();
}

void usage_keeper::end_thread() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    is_over_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::string usage_keeper::name() const { return fmt::format("{}/{}", by_.name_space, by_.name); }

void usage_keeper::begin() {
  step();
  thread_ = std::thread([this] { run(); });
}

void usage_keeper::finish() noexcept {
  if (!thread_.joinable()) return;  // it has never begun
  end_thread();
  const bool was_read = is_read_;
  step();
  if (!was_read && is_read_) step();
}

void usage_keeper::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, by_.save_period, [this] { return is_over_; })) {
    lock.unlock();
    step();
    lock.lock();
  }
}

void usage_keeper::step() {
  try {
    if (!is_read_) {
      read();
    } else {
      write();
    }
    complaint_.clear();
  } catch (const cancelled&) {             // it ends
  } catch (const std::exception& fault) {  // of the network, of the server, or an answer that is no JSON
    complain(fault.what());
  }
}

void usage_keeper::complain(const std::string& fault) {
  if (fault != std::exchange(complaint_, fault)) log_(fmt::format("configmap {}: {}", name(), fault));
}

void usage_keeper::note(milli_time now, const std::vector<usage_ledger::holding>& queues,
                        const quota_amounts& capacity) {
  const std::scoped_lock lock(mutex_);
  ledger_.note(now, queues, capacity);
  is_noted_ = true;
}

queue_parts usage_keeper::parts() const {
  const std::scoped_lock lock(mutex_);
  return ledger_.parts();
}

void usage_keeper::read() {
  const response answer = client_.send({.target = place(config_maps, by_.name_space, by_.name)});
  if (answer.status == 404) {
    written_ = nullptr;
    is_read_ = true;
    return;
  }
  if (!answer.ok()) throw std::runtime_error(server_words(answer));
  take_text(json::parse(answer.body));
  is_read_ = true;
}

/// Starts from what an object says, unless it is what this process has written itself.
void usage_keeper::take_text(const json& object) {
  written_ = object;
  written_.erase("data");
  std::string text = text_at(object, "/data/usage");
  const bool is_own = !sent_.empty() && (text == sent_ || text == known_);
  known_ = text;
  if (is_own) return;
  if (!sent_.empty()) log_(fmt::format("configmap {}: somebody else has written it; going on from there", name()));
  std::vector<std::string> faults;
  {
    const std::scoped_lock lock(mutex_);
    faults = ledger_.read(text);
  }
  constexpr std::size_t most_lines = 5;
  for (std::size_t i = 0; i < faults.size() && i < most_lines; ++i) {
    log_(fmt::format("configmap {}: data.{}: {}; left out", name(), key, faults[i]));
  }
  if (faults.size() > most_lines) {
    log_(fmt::format("configmap {}: data.{}: {} more lines are left out", name(), key, faults.size() - most_lines));
  }
}

void usage_keeper::write() {
  if (!is_noted_) return;
  std::size_t left_out = 0;
  std::string text;
  {
    // The copy is made at once; to tell it takes longer.
    std::unique_lock lock(mutex_);
    const usage_ledger now = ledger_;
    lock.unlock();
    text = now.text(most_bytes, left_out);
  }
  if (left_out != std::exchange(left_out_, left_out) && left_out > 0) {
    log_(fmt::format("configmap {}: too small for all: {} queues that have used least are left out", name(), left_out));
  }
  json object = written_;
  if (object.is_null()) {
    object = {{"apiVersion", config_maps.version},
              {"kind", config_maps.kind},
              {"metadata", {{"namespace", by_.name_space}, {"name", by_.name}}}};
  }
  object["data"] = {{key, text}};
  const request what = written_.is_null() ? with_object("POST", place(config_maps, by_.name_space, {}), object)
                                          : with_object("PUT", place(config_maps, by_.name_space, by_.name), object);
  if (!may_write_()) return;
  sent_ = std::move(text);
  is_read_ = false;  // until it is known what has become of it
  const response answer = client_.send(what);
  if (answer.ok()) {
    written_ = json::parse(answer.body);
    written_.erase("data");
    known_ = sent_;
    is_read_ = true;
    return;
  }
  // Somebody else may have written, or have deleted it.
  if (answer.status == 409 || (answer.status == 404 && !written_.is_null())) return read();
  throw std::runtime_error(server_words(answer));
}

}  // namespace shim
