#include "configuration/sections.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <iomanip>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/ip/address.hpp>
#include <fmt/format.h>

#include "api_server/text_parts.hpp"
#include "configuration/engine_options.hpp"
#include "configuration/fields.hpp"

namespace shim {

using namespace std::chrono_literals;

namespace {

// ---- what single values may be -----------------------------------------------------------------------------------

std::string verb(const YAML::Node& value) {
  std::string text = some_text(value);
  while (text.starts_with('/')) text.erase(0, 1);
  if (text.empty()) throw bad_input("expected a path below url");
  return text;
}

std::string web_address(const YAML::Node& value) {
  std::string text = some_text(value);
  (void)credentials_for(text);
  return text;
}

std::vector<std::string> texts(const YAML::Node& value) {
  std::vector<std::string> all;
  for (const YAML::Node& one : value) all.push_back(some_text(one));
  return all;
}

std::vector<std::string> resource_names(const YAML::Node& value) {
  if (!value.IsSequence() || value.size() == 0) throw bad_input("expected a list of names of resources");
  return texts(value);
}

std::set<std::string, std::less<>> resource_set(const YAML::Node& value) {
  if (!value.IsSequence()) throw bad_input("expected a list of names");
  const std::vector<std::string> names = texts(value);
  return {names.begin(), names.end()};
}

std::vector<std::string> exporter_addresses(const YAML::Node& value) {
  if (!value.IsSequence() || value.size() == 0) throw bad_input("expected a list of addresses");
  std::vector<std::string> all;
  for (const YAML::Node& one : value) {
    std::string address = some_text(one);
    if (credentials_for(address).path.empty()) {
      while (address.ends_with('/')) address.pop_back();
      address += "/metrics";
    }
    all.push_back(std::move(address));
  }
  return all;
}

std::chrono::milliseconds whole_seconds(const YAML::Node& value) {
  const std::chrono::milliseconds time = duration(value, 1s);
  if (time % 1s != 0ms) throw bad_input("whole seconds, as leases have them");
  return time;
}

/// RFC 3339 in UTC, to the second.
milli_time moment(const YAML::Node& value) {
  const std::string text = scalar(value);
  std::istringstream in(text);
  std::tm parts{};
  in >> std::get_time(&parts, "%Y-%m-%dT%H:%M:%SZ");
  if (in.fail() || in.peek() != std::istringstream::traits_type::eof()) {
    throw bad_input(fmt::format("expected a time such as 2026-01-31T00:00:00Z, found \"{}\"", text));
  }
  return static_cast<milli_time>(timegm(&parts)) * 1000;
}

cron_schedule schedule(const YAML::Node& value) { return cron_schedule(scalar(value)); }

std::string metrics_prefix(const YAML::Node& value) {
  std::string text = scalar(value);
  const bool fits = std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
           (c >= '0' && c <= '9' && text.front() != c);
  });
  if (!fits) throw bad_input(fmt::format("expected letters, digits, _ and :, found \"{}\"", text));
  return text;
}

std::string absolute_folder(const YAML::Node& value) {
  std::string text = some_text(value);
  if (!text.starts_with('/')) throw bad_input(fmt::format("expected an absolute path of nodes, found \"{}\"", text));
  return text;
}

// ---- what several sections have ----------------------------------------------------------------------------------

/// `127.0.0.1:8080`, `[::]:8080`, `:8080` for all addresses of the host. Errors: bad_input.
void read_listen(const std::string& text, server_options& to) {
  const std::size_t colon = text.rfind(':');
  std::string address = text.substr(0, colon);
  if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
  if (address.empty()) address = "0.0.0.0";
  boost::system::error_code wrong;
  (void)boost::asio::ip::make_address(address, wrong);
  const std::string_view digits = colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1);
  const auto port = read_number<std::uint16_t>(digits);
  if (wrong || !port) {
    throw bad_input(fmt::format("expected an address and a port such as 127.0.0.1:8080, found \"{}\"", text));
  }
  to.address = address;
  to.port = *port;
}

/// Reads a section that listens, with its own fields.
template <class To>
void read_listening(const YAML::Node& value, const fields<To>& own, To& to) {
  static const fields<To> known = [&own] {
    fields<To> all = own;
    const fields<server_options> shared{
        {"listen", [](server_options& of, const YAML::Node& given) { read_listen(some_text(given), of); }},
        {"certificate", member(&server_options::certificate, some_text)},
        {"key", member(&server_options::key, some_text)},
        {"client_ca", member(&server_options::client_ca, some_text)},
        {"timeout", member(&server_options::timeout, duration, 100ms)},
        {"max_body", member(&server_options::most_body, number, 1024, 64U << 20U)},
        {"connections", member(&server_options::connections, number, 2, 10'000)},
        {"workers", member(&server_options::workers, number, 1, 64)},
    };
    all.insert(shared.begin(), shared.end());
    return all;
  }();
  read_fields(value, known, to);
  if (to.address.empty()) throw bad_input("listen: is missing");
  if (to.certificate.empty() != to.key.empty()) throw bad_input("certificate and key: one without the other");
  if (!to.client_ca.empty() && to.certificate.empty()) throw bad_input("client_ca: needs a certificate and a key");
}

/// An address alone, or a map.
void read_prometheus(prometheus_settings& to, const YAML::Node& value) {
  if (value.IsScalar()) {
    to.url = web_address(value);
    return;
  }
  using settings = prometheus_settings;
  static const fields<settings> known{
      {"url", member(&settings::url, web_address)},
      {"token_file", member(&settings::token_file, some_text)},
      {"ca", member(&settings::ca, some_text)},
      {"timeout", member(&settings::timeout, duration, 100ms)},
  };
  read_fields(value, known, to);
  if (to.url.empty()) throw bad_input("url: is missing");
}

/// Of cpu, memory and gpu.
void read_expressions(std::array<std::string, 3>& to, const YAML::Node& value) {
  const auto element = [](std::size_t at) {
    return [at](std::array<std::string, 3>& of, const YAML::Node& given) { of.at(at) = some_text(given); };
  };
  static const fields<std::array<std::string, 3>> known{
      {"cpu", element(0)}, {"memory", element(1)}, {"gpu", element(2)}};
  read_fields(value, known, to);
}

void check_less(const char* name, std::chrono::milliseconds time, const char* than, std::chrono::milliseconds other) {
  if (time < other) return;
  throw bad_input(fmt::format("{}: {} ms: has to be less than {}, {} ms", name, time.count(), than, other.count()));
}

}  // namespace

// ---- sections ----------------------------------------------------------------------------------------------------

void read_section(const YAML::Node& value, election_settings& to) {
  using settings = election_settings;
  static const fields<settings> known{
      {"enabled", member(&settings::enabled, truth)},
      {"namespace", member(&settings::name_space, some_text)},
      {"name", member(&settings::name, some_text)},
      {"lease_duration", member(&settings::lease_duration, whole_seconds)},
      {"renew_deadline", member(&settings::renew_deadline, duration, 100ms)},
      {"retry_period", member(&settings::retry_period, duration, 50ms)},
  };
  read_fields(value, known, to);
  check_less("renew_deadline", to.renew_deadline, "lease_duration", to.lease_duration);
  check_less("retry_period", to.retry_period, "renew_deadline", to.renew_deadline);
}

void read_extenders(const YAML::Node& value, extenders_settings& to) {
  using settings = asked_extender;
  static const fields<settings> known{
      {"url", member(&settings::url, web_address)},
      {"filter", member(&settings::filter, verb)},
      {"prioritize", member(&settings::prioritize, verb)},
      {"weight", member(&settings::weight, number, 1, 100)},
      {"timeout", member(&settings::timeout, duration, 10ms)},
      {"ignorable", member(&settings::ignorable, truth)},
      {"managed_resources", member(&settings::resources, resource_names)},
      {"token_file", member(&settings::token_file, some_text)},
      {"ca", member(&settings::ca, some_text)},
  };
  if (!value.IsSequence()) throw bad_input("expected a list");
  to.all.clear();
  for (const YAML::Node& one : value) {
    asked_extender& made = to.all.emplace_back();
    read_fields(one, known, made);
    const auto missing = [&](const char* words) {
      return bad_field(one.Mark().line + 1, made.url.empty() ? "url" : "filter", words);
    };
    if (made.url.empty()) throw missing("is missing");
    if (made.filter.empty() && made.prioritize.empty()) throw missing("expected filter or prioritize, or both");
  }
}

void read_extender_limits(const YAML::Node& value, extenders_settings& to) {
  using settings = extenders_settings;
  static const fields<settings> known{
      {"time", member(&settings::cycle, duration, 10ms)},
      {"requests", member(&settings::requests, number, 1, 1000000)},
      {"keep", member(&settings::keep, duration, 100ms)},
  };
  read_fields(value, known, to);
}

void read_section(const YAML::Node& value, extender_settings& to) {
  using settings = extender_settings;
  static const fields<settings> own{
      {"resources", member(&settings::resources, resource_set)},
      {"lock_wait", member(&settings::lock_wait, duration, 0ms)},
      {"handshake", member(&settings::handshake, duration, 0ms)},
      {"engine",
       [](settings& of, const YAML::Node& given) { of.engine = engine_options(given, extender_settings{}.engine); }},
  };
  read_listening(value, own, to);
}

void read_extender_argument(const std::string& text, extender_settings& to) {
  try {
    read_listen(text, to);
  } catch (const bad_input& fault) {
    throw bad_input(fmt::format("--extender: {}", fault.what()));
  }
}

void read_section(const YAML::Node& value, load_settings& to) {
  using settings = load_settings;
  static const fields<settings> known{
      {"exporters", member(&settings::exporters, exporter_addresses)},
      {"prometheus", inside(&settings::prometheus, read_prometheus)},
      {"period", member(&settings::period, duration, 100ms)},
      {"window", member(&settings::window, duration, 1s)},
      {"node_label", member(&settings::node_label, some_text)},
  };
  read_fields(value, known, to);
  if (to.exporters.empty() == to.prometheus.url.empty())
    throw bad_input("expected exporters or prometheus, one of them");
  if (to.window < to.period) throw bad_input("window: shorter than period");
}

void read_section(const YAML::Node& value, recording_settings& to) {
  using settings = recording_settings;
  static const fields<settings> known{
      {"file", member(&settings::file, some_text)},
      {"most_mib", member(&settings::most_mib, number, 1, 1048576)},
  };
  read_fields(value, known, to);
  if (!to.enabled()) throw bad_input("file: is missing");
}

void read_section(const YAML::Node& value, scaling_settings& to) {
  using settings = scaling_settings;
  static const fields<settings> known{
      {"image", member(&settings::image, some_text)},
      {"namespace", member(&settings::name_space, some_text)},
      {"memory_percent", member(&settings::memory_percent, number, 1, 100)},
      {"cool_down", member(&settings::cool_down, duration, 0ms)},
  };
  read_fields(value, known, to);
  if (!to.enabled()) throw bad_input("image: is missing");
}

void read_section(const YAML::Node& value, server_settings& to) {
  using settings = server_settings;
  static const fields<settings> own{
      {"token_file", member(&settings::token_file, some_text)},
      {"usage_token_file", member(&settings::usage_token_file, some_text)},
      {"stuck_after", member(&settings::stuck_after, duration, 1s)},
      {"metrics_prefix", member(&settings::metrics_prefix, metrics_prefix)},
  };
  read_listening(value, own, to);
}

void read_section(const YAML::Node& value, sharing_settings& to) {
  using settings = sharing_settings;
  static const fields<settings> known{
      {"image", member(&settings::image, some_text)},
      {"command", member(&settings::command, scalar)},
      {"namespace", member(&settings::name_space, some_text)},
      {"service_account", member(&settings::account, some_text)},
      {"runtime_class", member(&settings::runtime_class, scalar)},
      {"allocation_timeout", member(&settings::allocation_timeout, duration, 1s)},
      {"cdi", member(&settings::cdi, truth)},
      {"orphans", word(&settings::orphans, {{"delete", orphan_form::remove}, {"keep", orphan_form::keep}})},
  };
  read_fields(value, known, to);
  if (!to.enabled()) throw bad_input("image: is missing");
}

void read_section(const YAML::Node& value, usage_settings& to) {
  using settings = usage_settings;
  using window = usage_window;
  static const fields<settings> known{
      {"window", inside(&settings::window, member(&window::size, long_duration, 1s))},
      {"window_type", inside(&settings::window, word(&window::type, {{"sliding", window_type::sliding},
                                                                     {"tumbling", window_type::tumbling},
                                                                     {"cron", window_type::cron}}))},
      {"window_start", inside(&settings::window, member(&window::start, moment))},
      {"cron", inside(&settings::window, member(&window::schedule, schedule))},
      {"half_life", member(&settings::half_life, long_duration, 0ms)},
      {"interval", member(&settings::interval, duration, 100ms)},
      {"save_period", member(&settings::save_period, duration, 100ms)},
      {"namespace", member(&settings::name_space, some_text)},
      {"name", member(&settings::name, some_text)},
      {"prometheus", inside(&settings::prometheus, read_prometheus)},
      {"stale_after", member(&settings::stale_after, duration, 1s)},
      {"resolution", member(&settings::resolution, duration, 1s)},
      {"allocated", inside(&settings::allocated, read_expressions)},
      {"capacity", inside(&settings::capacity, read_expressions)},
  };
  read_fields(value, known, to);
  to.enabled = true;
  const bool of_cron = to.window.type == window_type::cron;
  if (of_cron != value["cron"].IsDefined()) throw bad_input("cron and window_type: cron: one without the other");
  if (of_cron && value["window"].IsDefined()) throw bad_input("window: not with window_type: cron");
  if (value["window_start"].IsDefined() && to.window.type != window_type::tumbling) {
    throw bad_input("window_start: needs window_type: tumbling");
  }
  if (to.prometheus.url.empty()) {
    for (const char* const name : {"stale_after", "resolution", "allocated", "capacity"}) {
      if (value[name].IsDefined()) throw bad_input(fmt::format("{}: needs prometheus", name));
    }
    return;
  }
  for (const char* const name : {"namespace", "name", "save_period"}) {
    if (value[name].IsDefined()) throw bad_input(fmt::format("{}: not with prometheus, which keeps the past", name));
  }
  if (to.stale_after < to.interval) to.stale_after = to.interval;
}

void read_section(const YAML::Node& value, webhook_settings& to) {
  using settings = webhook_settings;
  static const fields<settings> own{
      {"scheduler", member(&settings::scheduler, some_text)},
      {"isolation", member(&settings::isolation, truth)},
      {"library", member(&settings::library, absolute_folder)},
      {"ledgers", member(&settings::ledgers, absolute_folder)},
      {"privileged", word(&settings::privileged, {{"skip", privileged_pods::skip}, {"deny", privileged_pods::deny}})},
  };
  read_listening(value, own, to);
  if (to.certificate.empty()) throw bad_input("certificate: is missing; API servers ask over TLS alone");
}

}  // namespace shim
