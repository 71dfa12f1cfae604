#include "server/console.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "api_server/clock_text.hpp"
#include "observability/journal.hpp"
#include "server/page.hpp"

namespace shim {

namespace {

constexpr const char* json_type = "application/json";

/// It asks nobody but this server, and runs and shows nothing but what it brings along.
reply page() {
  const std::string nonce = new_trace();
  const std::string_view html = page_html();
  constexpr std::string_view place = "{{nonce}}";
  std::string body;
  std::size_t from = 0;
  for (std::size_t at = html.find(place); at != std::string_view::npos; at = html.find(place, from)) {
    body.append(html.substr(from, at - from)).append(nonce);
    from = at + place.size();
  }
  body.append(html.substr(from));
  const std::string policy = fmt::format(
      "default-src 'none'; script-src 'nonce-{}'; style-src 'nonce-{}'; connect-src 'self'; img-src data:; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      nonce, nonce);
  return {200,
          std::move(body),
          "text/html; charset=utf-8",
          {{"Content-Security-Policy", policy}, {"Referrer-Policy", "no-referrer"}}};
}

reply unwell(const std::string& why) { return {503, why + "\n", "text/plain", {}}; }

}  // namespace

console::console(const server_settings& by, std::string scheduler_name, const program& of, const board& last,
                 metrics& numbers, usage_board& used, http_server::log_function log)
    : scheduler_name_(std::move(scheduler_name)),
      stuck_after_(by.stuck_after),
      program_(of),
      last_(last),
      numbers_(numbers),
      used_(used),
      server_(by, std::move(log)) {
  server_.route("GET", "/healthz", access::everybody, [this](const incoming&) { return health(); });
  server_.route("GET", "/readyz", access::everybody, [this](const incoming&) { return readiness(); });
  server_.route("GET", "/metrics", access::everybody, [this](const incoming&) { return this->numbers(); });
  server_.route("GET", "/debug/snapshot", access::token, [this](const incoming&) { return snapshot(); });
  server_.route("GET", "/", access::everybody, [](const incoming&) { return page(); });
  server_.route("GET", "/page/state", access::token, [this](const incoming&) { return state(); });
  server_.route("GET", "/page/fixes", access::token, [this](const incoming& what) { return fixes(what); });
  server_.route("POST", "/usage", access::usage_token, [this](const incoming& what) { return take_usage(what); });
  server_.observe(observer_of(numbers));
}

http_server::observer observer_of(metrics& numbers) {
  return [&numbers](const std::string& path, unsigned status, std::chrono::nanoseconds took) {
    numbers.add("kaisched_server_requests_total", {{"code", std::to_string(status)}, {"path", path}});
    numbers.observe("kaisched_server_request_seconds", {{"path", path}}, seconds(took));
  };
}

reply console::health() const {
  const auto silent = std::chrono::steady_clock::now() - program_.last_step();
  if (silent >= stuck_after_) return unwell(fmt::format("no step for {:.0f} s", seconds(silent)));
  const election* const standing = program_.standing();
  if (standing != nullptr && standing->lost()) return unwell(fmt::format("lease {}: lost", standing->name()));
  return {200, "ok\n", "text/plain", {}};
}

reply console::readiness() const {
  if (const std::string why = program_.obstacle(); !why.empty()) return unwell(why);
  return {200, "ok\n", "text/plain", {}};
}

/// Whether this process leads is asked when somebody looks: a lease runs out between two cycles as well.
reply console::numbers() const {
  if (const election* const standing = program_.standing(); standing != nullptr) {
    numbers_.set("leader_election_master_status", {{"name", standing->name()}}, standing->leads() ? 1 : 0);
  }
  return {200, numbers_.text(), "text/plain; version=0.0.4; charset=utf-8", {}};
}

reply console::nothing_yet() const {
  const std::string why = program_.standby();
  return unwell(why.empty() ? "nothing has been decided yet" : why);
}

reply console::state() const {
  const std::shared_ptr<const cycle_report> latest = last_.latest();
  if (latest == nullptr || latest->seen == nullptr) return nothing_yet();
  return {200, one_line(page_state(*latest, used_)), json_type, {}};
}

reply console::fixes(const incoming& what) {
  const auto group = what.query.find("group");
  if (group == what.query.end()) return {400, "group: is missing\n", "text/plain", {}};
  const std::unique_lock lock(fixes_mutex_, std::try_to_lock);
  if (!lock) return {503, "somebody else is looking for some\n", "text/plain", {{"Retry-After", "1"}}};
  const std::shared_ptr<const cycle_report> latest = last_.latest();
  if (latest == nullptr || latest->seen == nullptr) return nothing_yet();
  if (std::exchange(fixes_trace_, latest->trace) != latest->trace) fixes_.clear();
  auto found = fixes_.find(group->second);
  if (found == fixes_.end()) {
    const nlohmann::ordered_json made = page_fixes(*latest->seen, group->second);
    if (made.is_null()) return {404, "no such group waits\n", "text/plain", {}};
    found = fixes_.emplace(group->second, one_line(made)).first;
  }
  return {200, found->second, json_type, {}};
}

reply console::take_usage(const incoming& what) {
  try {
    used_.take(what.body, std::chrono::steady_clock::now());
  } catch (const bad_input& fault) {
    return {400, std::string(fault.what()) + "\n", "text/plain", {}};
  }
  return {200, "ok\n", "text/plain", {}};
}

/// A list as kubectl prints it. The Config in front tells whoever reads it whose pods are decided, and its creation is
/// the time of the cycle: the latest that the list names.
reply console::snapshot() const {
  const std::shared_ptr<const cycle_report> latest = last_.latest();
  if (latest == nullptr || latest->objects == nullptr) return nothing_yet();
  const nlohmann::ordered_json settings{
      {"apiVersion", "kai.scheduler/v1"},
      {"kind", "Config"},
      {"metadata", {{"name", "kai-config"}, {"creationTimestamp", clock_text(latest->when, true)}}},
      {"spec", {{"global", {{"schedulerName", scheduler_name_}}}}}};
  std::string body = R"({"apiVersion":"v1","kind":"List","items":[)" + settings.dump();
  body.reserve(body.size() + latest->objects->bytes + latest->objects->all.size() + 4);
  for (const shared_text& one : latest->objects->all) body.append(",\n").append(*one);
  body += "]}\n";
  return {200, std::move(body), json_type, {{"X-Trace-Id", latest->trace}}};
}

}  // namespace shim
