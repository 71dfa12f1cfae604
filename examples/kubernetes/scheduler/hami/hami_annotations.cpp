#include "hami/hami_annotations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "api_server/clock_text.hpp"
#include "api_server/text_parts.hpp"

namespace shim::hami {

namespace {

using nlohmann::json;
using std::chrono::duration_cast;

constexpr std::string_view requesting = "Requesting_";
constexpr std::string_view deleted = "Deleted_";
constexpr std::string_view reported = "Reported ";
constexpr std::chrono::seconds answer_time{60};

/// A time that lies in the range of the clock.
std::optional<time_point> at_second(std::int64_t seconds) {
  constexpr auto most = duration_cast<std::chrono::seconds>(time_point::duration::max()).count() / 2;
  if (seconds < 0 || seconds > most) return std::nullopt;
  return time_point(std::chrono::seconds(seconds));
}

/// `2026-03-07 12:00:00`, of the process's own time zone, as HAMi's components write it.
std::string local_text(time_point at) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(at);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), size};
}

std::optional<time_point> read_local(std::string_view text) {
  std::tm parts{};
  const std::string whole(text);
  const char* const end = strptime(whole.c_str(), "%Y-%m-%d %H:%M:%S", &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  parts.tm_isdst = -1;
  return at_second(std::mktime(&parts));
}

/// RFC 3339 with whole or broken seconds and any offset.
std::optional<time_point> read_rfc3339(std::string_view text) {
  std::tm parts{};
  const std::string whole(text);
  const char* end = strptime(whole.c_str(), "%Y-%m-%dT%H:%M:%S", &parts);
  if (end == nullptr) return std::nullopt;
  if (*end == '.') {
    const char* const digits = ++end;
    while (*end >= '0' && *end <= '9') ++end;
    if (end == digits) return std::nullopt;
  }
  const std::string_view zone(end);
  std::int64_t offset = 0;
  if (zone != "Z") {
    unsigned hours = 0;
    unsigned minutes = 0;
    if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
    const auto two = [&zone](std::size_t from, unsigned& to) {
      const auto [stop, failed] = std::from_chars(zone.data() + from, zone.data() + from + 2, to);
      return failed == std::errc{} && stop == zone.data() + from + 2;
    };
    if (!two(1, hours) || !two(4, minutes)) return std::nullopt;
    offset = (static_cast<std::int64_t>(hours) * 60 + minutes) * 60 * (zone[0] == '-' ? -1 : 1);
  }
  return at_second(static_cast<std::int64_t>(timegm(&parts)) - offset);
}

struct told_time {
  std::string_view of;  ///< an annotation of the decision begins with this
  const char* key;
  bool nanoseconds;
};
constexpr std::array<told_time, 5> vendor_times{{
    {"hami.io/Ascend", "predicate-time", false},
    {"hami.io/aws-neuron-devices-allocated", "NEURON_ALLOC_TIME", true},
    {"hami.io/enflame-vgpu-devices-allocated", "enflame.com/gcu-assigned-time", true},
    {"hami.io/metax-sgpu-devices-allocated", "metax-tech.com/predicate-time", true},
    {"hami.io/mthreads-vgpu-devices-allocated", "mthreads.com/predicate-time", true},
}};

struct named_handshake {
  std::string_view handshake;
  std::string_view registered;
  std::string_view count;
};
/// `%` stands for the model in the name.
constexpr std::array<named_handshake, 8> known_handshakes{{
    {nvidia_handshake, nvidia_register, "nvidia.com/gpu"},
    {"hami.io/node-handshake-dcu", "hami.io/node-dcu-register", "hygon.com/dcunum"},
    {"hami.io/node-handshake-xpu", "hami.io/node-register-xpu", "kunlunxin.com/vxpu"},
    {"hami.io/node-handshake-biren", "hami.io/node-biren-register", "birentech.com/gpu"},
    {"hami.io/node-handshake-va", "hami.io/node-va-register", "vastaitech.com/va"},
    {"hami.io/node-handshake-Ascend%", "hami.io/node-register-Ascend%", "huawei.com/Ascend%"},
    {"hami.io/node-handshake-BI-%", "hami.io/node-BI-%-register", "iluvatar.ai/BI-%-vgpu"},
    {"hami.io/node-handshake-MR-%", "hami.io/node-MR-%-register", "iluvatar.ai/MR-%-vgpu"},
}};

std::string with_model(std::string_view pattern, std::string_view model) {
  const std::size_t mark = pattern.find('%');
  if (mark == std::string_view::npos) return std::string(pattern);
  return fmt::format("{}{}{}", pattern.substr(0, mark), model, pattern.substr(mark + 1));
}

/// The part of a key that stands where the pattern has its mark.
std::optional<std::string_view> model_in(std::string_view key, std::string_view pattern) {
  const std::size_t mark = pattern.find('%');
  const std::string_view before = pattern.substr(0, mark);
  const std::string_view after = mark == std::string_view::npos ? "" : pattern.substr(mark + 1);
  if (mark == std::string_view::npos) return key == pattern ? std::optional(std::string_view()) : std::nullopt;
  if (key.size() <= before.size() + after.size() || !key.starts_with(before) || !key.ends_with(after)) return {};
  return key.substr(before.size(), key.size() - before.size() - after.size());
}

}  // namespace

std::string seconds_text(time_point at) {
  return std::to_string(duration_cast<std::chrono::seconds>(at.time_since_epoch()).count());
}
std::string nanoseconds_text(time_point at) {
  return std::to_string(duration_cast<std::chrono::nanoseconds>(at.time_since_epoch()).count());
}

std::optional<time_point> read_seconds(std::string_view text) {
  const auto seconds = read_number<std::int64_t>(text);
  return seconds ? at_second(*seconds) : std::nullopt;
}

bool is_decision(std::string_view key) {
  return key == assigned_node || key == assigned_time || key == bind_time || key == bind_phase ||
         key == "hami.io/vgpu-mig-allocations" || key.starts_with("kaisched.io/granted-memory-") ||
         key.starts_with(given_devices) || key.ends_with("-to-allocate") ||
         (key.starts_with("hami.io/") && key.ends_with("-allocated"));
}

bool is_time_of_vendor(std::string_view key) {
  return std::any_of(vendor_times.begin(), vendor_times.end(), [&](const told_time& one) { return key == one.key; });
}

json times_of_vendors(const json& annotations, time_point now) {
  json made = json::object();
  for (const auto& [key, unused] : annotations.items()) {
    for (const told_time& one : vendor_times) {
      if (key.starts_with(one.of)) made[one.key] = one.nanoseconds ? nanoseconds_text(now) : seconds_text(now);
    }
  }
  return made;
}

std::vector<lock_form> locks_for(const json& annotations) {
  std::vector<lock_form> made;
  const auto add = [&made](lock_form one) {
    if (std::find(made.begin(), made.end(), one) == made.end()) made.push_back(std::move(one));
  };
  for (const auto& [key, unused] : annotations.items()) {
    if (!key.starts_with("hami.io/") || !key.ends_with("-devices-to-allocate")) continue;
    if (key.starts_with("hami.io/cambricon-mlu-")) {
      add({"cambricon.com/dsmlu.lock", false, std::chrono::minutes(2)});
    } else if (!key.starts_with("hami.io/enflame-gcu-") && !key.starts_with("hami.io/metax-gpu-")) {
      add({node_lock});
    }
  }
  return made;
}

std::optional<lock> read_lock(std::string_view text) {
  const std::size_t first = text.find(',');
  const std::optional<time_point> since = read_rfc3339(text.substr(0, first));
  if (!since) return std::nullopt;
  if (first == std::string_view::npos) return lock{*since, {}, {}};
  const std::size_t second = text.find(',', first + 1);
  if (second == std::string_view::npos || text.find(',', second + 1) != std::string_view::npos) return std::nullopt;
  return lock{*since, std::string(text.substr(first + 1, second - first - 1)), std::string(text.substr(second + 1))};
}

std::string write_lock(const lock_form& form, time_point now, std::string_view name_space, std::string_view pod) {
  if (!form.names_owner) return clock_text(now);
  return fmt::format("{},{},{}", clock_text(now), name_space, pod);
}

std::vector<handshake_keys> handshakes_of(const json& node) {
  std::vector<handshake_keys> made;
  const json::json_pointer path("/metadata/annotations");
  if (!node.contains(path) || !node[path].is_object()) return made;
  for (const auto& [key, unused] : node[path].items()) {
    for (const named_handshake& one : known_handshakes) {
      const std::optional<std::string_view> model = model_in(key, one.registered);
      if (model) made.push_back({with_model(one.handshake, *model), key, with_model(one.count, *model)});
    }
  }
  return made;
}

std::optional<std::string> next_handshake(std::string_view current, bool offers, time_point now) {
  const auto ask = [&] { return fmt::format("{}{}", requesting, local_text(now)); };
  if (current.starts_with(deleted)) return offers ? std::optional(ask()) : std::nullopt;
  if (!current.starts_with(requesting)) return ask();
  const std::optional<time_point> since = read_local(current.substr(requesting.size()));
  if (!since) return ask();  // by nobody who could be waited for
  if (offers || now < *since + answer_time) return std::nullopt;
  return fmt::format("{}{}", deleted, local_text(now));
}

std::optional<std::string> handshake_answer(std::string_view current, time_point now) {
  if (!current.starts_with(requesting) && !current.starts_with(deleted)) return std::nullopt;
  return fmt::format("{}{}", reported, local_text(now));
}

}  // namespace shim::hami
