#include "observability/journal.hpp"

#include <chrono>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "api_server/clock_text.hpp"
#include "api_server/object_fields.hpp"
#include "observability/log_text.hpp"

namespace shim {

namespace {

std::string& trace() {
  thread_local std::string id;
  return id;
}

}  // namespace

trace_scope::trace_scope(std::string id) { trace() = std::move(id); }
trace_scope::~trace_scope() { trace().clear(); }

const std::string& current_trace() { return trace(); }

std::string new_trace() {
  std::random_device random;
  std::string id;
  while (id.size() < 32) id += fmt::format("{:08x}", static_cast<std::uint32_t>(random()));
  return id;
}

void journal::write(const std::string& words, const nlohmann::json& details) {
  std::string line;
  if (form_ == log_form::text) {
    line = "kaisched-kubernetes: " + printable(words);
  } else {
    nlohmann::ordered_json all{{"time", clock_text(std::chrono::system_clock::now(), true)},
                               {"message", bounded(words)}};
    if (!current_trace().empty()) all["trace"] = current_trace();
    for (const auto& [name, value] : details.items()) all[name] = value;
    line = one_line(all);
  }
  const std::scoped_lock lock(mutex_);
  fmt::print(out_, "{}\n", line);
  std::fflush(out_);
}

}  // namespace shim
