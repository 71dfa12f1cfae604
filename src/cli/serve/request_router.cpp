#include "cli/serve/request_router.hpp"

#include <charconv>
#include <memory>
#include <system_error>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"

namespace kaisched::cli::serve {

namespace {

/// Errors have the same codes as everywhere.
std::string_view code_of(unsigned status) {
  switch (status) {
    case 401:
      return "unauthorized";
    case 413:
    case 431:
      return "limit";
    case 408:
    case 504:
      return "deadline";
    case 503:
      return "busy";
    case 500:
      return "internal";
    default:
      return "argument";
  }
}

http::reply to_wire(http_reply made) {
  return {made.status, std::move(made.body), std::move(made.type), std::move(made.headers)};
}

http_reply refusal(unsigned status, std::string_view words) {
  http_reply made = error_reply(status, code_of(status), words);
  if (status == 503) made.headers.emplace_back("Retry-After", "1");
  return made;
}

template <class Make>
http_reply made_by(const std::string& path, const Make& make) {
  try {
    return make();
  } catch (const std::exception& fault) {
    print_error(fmt::format("{}: {}", path, fault.what()));
    return refusal(500, "this did not work; the standard error of the server says why");
  }
}

}  // namespace

result<http::endpoint> parse_listen(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return error{status::argument, fmt::format("--listen {}: {}", text, why), {}};
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("expected ADDRESS:PORT, such as 127.0.0.1:8080");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  http::endpoint made;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), made.port);
  if (digits.empty() || fault != std::errc() || end != digits.data() + digits.size())
    return wrong("expected a port from 0 to 65535 behind the last colon");
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  made.address = host;
  boost::system::error_code failed;
  const auto address = boost::asio::ip::make_address(made.address, failed);
  if (failed) return wrong("expected an address such as 127.0.0.1 or [::1], not a name");
  if (!address.is_loopback())
    return wrong("only loopback addresses (127.0.0.1, [::1]) are listened on; a proxy with TLS belongs before others");
  return made;
}

http_reply error_reply(unsigned status, std::string_view code, std::string_view message) {
  return {status, json_text({{"schema", "kaisched-error/1"}, {"code", code}, {"message", message}})};
}

request_router::request_router(request_limits limits, std::string token, std::vector<http_route> routes,
                               worker_pool& workers, std::function<std::string()> more)
    : limits_(limits), token_(std::move(token)), routes_(std::move(routes)), workers_(workers), more_(std::move(more)) {
  routes_.push_back({"GET", "/metrics", false, false, [this](const http_request&) { return tell_metrics(); }, {}});
}

http::application request_router::application() {
  http::application made;
  made.admit = [this](const http::head& of) { return admit(of); };
  made.answer = [this](http::request asked, http::responder to) { answer(std::move(asked), std::move(to)); };
  made.refuse = [](unsigned status, std::string_view words) { return to_wire(refusal(status, words)); };
  made.observe = [this](std::string_view path, unsigned status, std::chrono::nanoseconds took) {
    const std::string_view counted = path.empty() ? "other" : path;
    counts_.answered(counted, status);
    if (took.count() > 0) counts_.took(counted, took);
  };
  made.log = [](const std::string& words) { print_error(words); };
  return made;
}

const http_route* request_router::find(const http::head& of, std::string& allowed) const {
  for (const http_route& one : routes_) {
    if (one.path != of.path) continue;
    if (one.method == of.method) return &one;
    allowed += (allowed.empty() ? "" : ", ") + one.method;
  }
  return nullptr;
}

http::admission request_router::admit(const http::head& of) const {
  http::admission made;
  std::string allowed;
  const http_route* route = find(of, allowed);
  if (route == nullptr && allowed.empty()) {
    made.refusal = to_wire(error_reply(404, "not_found", "there is no such path"));
    return made;
  }
  if (route == nullptr) {
    http_reply refused = error_reply(405, "unsupported", fmt::format("this path takes {}", allowed));
    refused.headers.emplace_back("Allow", allowed);
    made.refusal = to_wire(std::move(refused));
    return made;
  }
  made.name = route->path;
  made.most_body = route->takes_cluster ? limits_.cluster : limits_.body;
  made.deadline = route->takes_cluster ? limits_.cluster_deadline : limits_.deadline;
  if (!route->is_open && !token_.empty() && !http::is_same_secret(http::bearer_token(of.authorization), token_)) {
    http_reply refused = refusal(401, "a token is needed: Authorization: Bearer TOKEN");
    refused.headers.emplace_back("WWW-Authenticate", "Bearer");
    made.refusal = to_wire(std::move(refused));
  }
  return made;
}

void request_router::answer(http::request asked, http::responder to) {
  std::string allowed;
  const http_route* route = find(asked.of, allowed);
  auto told = std::make_shared<http_request>(http_request{std::move(asked.of.query), std::move(asked.body)});
  if (route->at_once) return to(to_wire(made_by(route->path, [&] { return route->at_once(*told); })));
  const bool taken = workers_.post(asked.cancelled, [route, told, to](seat& at) {
    to(to_wire(made_by(route->path, [&] { return route->at_length(at, *told); })));
  });
  if (!taken) to(to_wire(refusal(503, "too many requests wait")));
}

http_reply request_router::tell_metrics() const {
  std::string text = counts_.text();
  const http::load of_server = server_ == nullptr ? http::load{} : server_->present_load();
  add_metric(text, "kaisched_serve_connections_refused_total", "counter",
             "Clients for which there were too many connections.", static_cast<double>(of_server.turned_away));
  add_metric(text, "kaisched_serve_connections_closed_total", "counter",
             "Silent connections that were closed for new ones.", static_cast<double>(of_server.made_room));
  add_metric(text, "kaisched_serve_connections", "gauge", "Connections that are open.",
             static_cast<double>(of_server.connections));
  add_metric(text, "kaisched_serve_request_memory_bytes", "gauge", "What requests hold that are being received.",
             static_cast<double>(of_server.memory));
  const worker_pool::load of = workers_.present_load();
  add_metric(text, "kaisched_serve_threads", "gauge", "Threads that make answers.", static_cast<double>(of.threads));
  add_metric(text, "kaisched_serve_threads_busy", "gauge", "Threads that make an answer now.",
             static_cast<double>(of.busy));
  add_metric(text, "kaisched_serve_requests_waiting", "gauge", "Requests for which no thread is free.",
             static_cast<double>(of.waiting));
  return {200, text + more_(), {}, exposition_type};
}

}  // namespace kaisched::cli::serve
