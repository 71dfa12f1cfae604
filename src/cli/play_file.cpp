// What a play file says.
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "cli/play_arguments.hpp"
#include "files/yaml_document.hpp"
#include "io/files.hpp"
#include "io/json_document.hpp"

namespace kaisched::cli {

namespace {

using io::json_kind;
using io::json_value;

/// Reads the members of objects; the first thing that is wrong ends it.
class play_reader {
 public:
  play_reader(std::string_view source, play_arguments& to) : source_(source), to_(to) {}

  result<void> read(json_value root) {
    if (!expect(root, json_kind::object, "a play")) return *fault_;
    const std::map<std::string_view, std::string*> texts{
        {"cluster", &to_.cluster},
        {"nodes", &to_.nodes},
        {"queue", &to_.queue},
        {"period", &to_.period},
        {"wake", &to_.wake},
        {"grace", &to_.grace},
        {"start_overhead", &to_.start_overhead},
        {"checkpoints", &to_.checkpoints},
        {"estimates", &to_.estimates},
        {"until", &to_.until},
        {"preferred_level", &to_.preferred_level},
        {"usage_half_life", &to_.usage_half_life},
        {"preset", &to_.policy.preset},
        {"mode", &to_.policy.mode},
        {"placement", &to_.policy.placement},
        {"actions", &to_.policy.actions},
    };
    const std::map<std::string_view, bool*> flags{{"replan", &to_.replan},
                                                  {"repeat", &to_.repeat},
                                                  {"one_queue", &to_.one_queue},
                                                  {"near", &to_.near},
                                                  {"equal_quotas", &to_.equal_quotas}};
    const bool has_cluster = !to_.cluster.empty() || !to_.nodes.empty();
    for (const json_value member : root) {
      if (has_cluster && (member.key() == "cluster" || member.key() == "nodes")) continue;
      if (const auto text = texts.find(member.key()); text != texts.end()) {
        // What has been told to the command counts.
        const std::string read = words(member, member.key());
        if (text->second->empty()) *text->second = read;
      } else if (const auto flag = flags.find(member.key()); flag != flags.end()) {
        if (expect(member, json_kind::boolean, member.key())) *flag->second = *flag->second || member.boolean();
      } else if (member.key() == "estimate_seed") {
        const std::uint32_t seed = count(member, member.key());
        if (to_.estimate_seed < 0) to_.estimate_seed = seed;
      } else if (member.key() == "nodes_per_rack") {
        const std::uint32_t nodes = count(member, member.key());
        if (to_.nodes_per_rack == 0) to_.nodes_per_rack = nodes;
      } else if (member.key() == "gpus_per_node") {
        to_.gpus_per_node = count(member, member.key());
      } else if (member.key() == "set") {
        settings(member);
      } else if (member.key() == "outages") {
        each(member, "outages", [&](json_value one) { outage(one); });
      } else if (member.key() == "pools") {
        each(member, "pools", [&](json_value one) { pool(one); });
      } else if (member.key() == "profiles") {
        each(member, "profiles", [&](json_value one) { profile(one); });
      } else {
        unknown(member);
      }
      if (fault_) return *fault_;
    }
    return {};
  }

 private:
  void fail(json_value at, std::string text) {
    if (!fault_) fault_ = error{status::argument, fmt::format("{}:{}: {}", source_, at.line(), text), {}};
  }
  void unknown(json_value at) { fail(at, fmt::format("'{}' is no key of a play file", at.key())); }
  bool expect(json_value at, json_kind kind, std::string_view name) {
    if (at.is(kind)) return true;
    fail(at, fmt::format("{}: expected {}, found {}", name, io::json_kind_name(kind), at.shown()));
    return false;
  }

  /// A text or a number as it stands, or a list as one text.
  std::string words(json_value at, std::string_view name) {
    switch (at.kind()) {
      case json_kind::string:
        return std::string(at.text());
      case json_kind::integer:
      case json_kind::number:
      case json_kind::boolean:
        return io::json_text(at);
      case json_kind::array: {
        std::string all;
        for (const json_value one : at) all += (all.empty() ? "" : ",") + words(one, name);
        return all;
      }
      case json_kind::null:
      case json_kind::object:
        fail(at, fmt::format("{}: expected a text or a number, found {}", name, at.shown()));
    }
    return {};
  }
  std::uint32_t count(json_value at, std::string_view name) {
    if (!expect(at, json_kind::integer, name)) return 0;
    if (at.integer() < 0 || at.integer() > std::numeric_limits<std::uint32_t>::max()) {
      fail(at, fmt::format("{}: {} is out of range", name, at.integer()));
      return 0;
    }
    return static_cast<std::uint32_t>(at.integer());
  }
  std::int64_t time(json_value at) {
    const std::string text = words(at, at.key());
    if (fault_) return 0;
    const result<std::int64_t> read = read_time(at.key(), text);
    if (!read) fail(at, read.failure().message);
    return read ? *read : 0;
  }
  void each(json_value list, std::string_view name, const std::function<void(json_value)>& read) {
    if (!expect(list, json_kind::array, name)) return;
    for (const json_value one : list) {
      if (expect(one, json_kind::object, name)) read(one);
      if (fault_) return;
    }
  }

  void settings(json_value all) {
    if (!expect(all, json_kind::object, "set")) return;
    std::vector<std::string> read;
    for (const json_value one : all) read.push_back(fmt::format("{}={}", one.key(), words(one, one.key())));
    to_.policy.settings.insert(to_.policy.settings.begin(), read.begin(), read.end());  // those of the command win
  }

  void outage(json_value of) {
    simulation::outage made;
    bool has_begin = false;
    for (const json_value member : of) {
      if (member.key() == "node") {
        made.node = words(member, member.key());
      } else if (member.key() == "devices") {
        if (!expect(member, json_kind::array, "devices")) return;
        for (const json_value one : member) made.devices.push_back(count(one, "devices"));
      } else if (member.key() == "from") {
        made.from = time(member);
        has_begin = true;
      } else if (member.key() == "to") {
        made.to = time(member);
      } else if (member.key() == "notice") {
        made.notice = time(member);
      } else if (member.key() == "saves_work") {
        if (expect(member, json_kind::boolean, "saves_work")) made.saves_work = member.boolean();
      } else {
        unknown(member);
      }
    }
    if (made.node.empty() || !has_begin) fail(of, "outages: each has a node and a time `from`");
    to_.outages.push_back(std::move(made));
  }

  void pool(json_value of) {
    simulation::node_pool made;
    for (const json_value member : of) {
      if (member.key() == "nodes") {
        if (!expect(member, json_kind::array, "nodes")) return;
        for (const json_value one : member) made.nodes.push_back(words(one, "nodes"));
      } else if (member.key() == "least") {
        made.least = count(member, member.key());
      } else if (member.key() == "start_time") {
        made.start_time = time(member);
      } else if (member.key() == "idle_time") {
        made.idle_time = time(member);
      } else {
        unknown(member);
      }
    }
    to_.pools.push_back(std::move(made));
  }

  void profile(json_value of) {
    simulation::profile made;
    for (const json_value member : of) {
      if (member.key() == "model") {
        made.model = words(member, member.key());
      } else if (member.key() == "speeds") {
        speeds(member, made);
      } else if (member.key() == "gpu_speeds") {
        gpu_speeds(member, made);
      } else if (member.key() == "start_overhead") {
        made.start_overhead = time(member);
      } else if (member.key() == "checkpoint_interval") {
        made.checkpoint_interval = time(member);
      } else if (member.key() == "traffic") {
        made.traffic = count(member, member.key());
      } else {
        unknown(member);
      }
    }
    to_.profiles.push_back(std::move(made));
  }
  /// From pods to a part of full speed.
  void speeds(json_value all, simulation::profile& to) {
    if (!expect(all, json_kind::object, "speeds")) return;
    for (const json_value one : all) {
      std::uint32_t pods = 0;
      const auto [stop, fault] = std::from_chars(one.key().data(), one.key().data() + one.key().size(), pods);
      const bool is_number = fault == std::errc() && stop == one.key().data() + one.key().size();
      const bool is_part =
          (one.is(json_kind::number) || one.is(json_kind::integer)) && one.number() > 0 && one.number() <= 1;
      if (!is_number || !is_part) {
        fail(one, fmt::format("speeds: expected a number of pods and a part of full speed up to 1, found {}: {}",
                              one.key(), one.shown()));
        return;
      }
      to.speeds.push_back({pods, static_cast<std::int64_t>(one.number() * simulation::full_speed)});
    }
  }

  /// From models of GPUs to a multiple of full speed.
  void gpu_speeds(json_value all, simulation::profile& to) {
    if (!expect(all, json_kind::object, "gpu_speeds")) return;
    for (const json_value one : all) {
      constexpr double most = static_cast<double>(simulation::highest_speed) / simulation::full_speed;
      const bool is_speed =
          (one.is(json_kind::number) || one.is(json_kind::integer)) && one.number() >= 1e-6 && one.number() <= most;
      if (!is_speed) {
        fail(one, fmt::format(
                      "gpu_speeds: expected a model of GPUs and how many times as fast it is, up to {}, found {}: {}",
                      most, one.key(), one.shown()));
        return;
      }
      to.gpu_speeds.push_back({std::string(one.key()), std::llround(one.number() * simulation::full_speed)});
    }
  }

  std::string_view source_;
  play_arguments& to_;
  std::optional<error> fault_;
};

}  // namespace

result<void> read_play_file(const std::string& file, play_arguments& to) {
  const result<std::string> text = io::read_file(file);
  if (!text) return text.failure();
  const bool is_json = file.ends_with(".json");
  const result<io::json_document> read = is_json ? io::json_document::parse(*text, file) : io::parse_yaml(*text, file);
  if (!read) return read.failure();
  return play_reader(file, to).read(read->root());
}

}  // namespace kaisched::cli
