// Tables of the schema hami-case/1: small rules of vendors that no recorded call shows. Each is answered by the rule of
// the library that does the same; tables of helpers that have no counterpart are not in reach.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/fleet.hpp"
#include "conformance/hami_calls.hpp"
#include "conformance/hami_records.hpp"
#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"
#include "policy/devices/allocation/node_score.hpp"
#include "policy/devices/fit/order.hpp"
#include "policy/devices/fit/sets.hpp"
#include "policy/devices/vendor/requests.hpp"
#include "policy/devices/vendor/wishes.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using difference = std::optional<std::string>;

/// One row: its input, what it expects, and the template of its vendor.
struct row {
  const json& input;
  const json& expected;
  const devices::vendor_template& vendor;

  /// Arguments stand in the row or in a member of it.
  [[nodiscard]] const json& args() const { return has(input, "args") ? member(input, "args") : input; }
};

struct source_key {
  std::string_view folder;
  std::string_view key;
};
constexpr std::array source_keys{
    source_key{"/nvidia/", "NVIDIA"},     source_key{"/amd/", "AMD"},
    source_key{"/ascend/", "Ascend910A"}, source_key{"/awsneuron/", "AWSNeuron"},
    source_key{"/cambricon/", "MLU"},     source_key{"/enflame/gcu", "GCU"},
    source_key{"/enflame/", "Enflame"},   source_key{"/hygon/", "DCU"},
    source_key{"/iluvatar/", "MR-V100"},  source_key{"/kunlun/vdevice", "XPU"},
    source_key{"/kunlun/", "kunlun"},     source_key{"/metax/device", "Metax-GPU"},
    source_key{"/metax/", "Metax-SGPU"},  source_key{"/mthreads/", "Mthreads"},
    source_key{"/vastai/", "Vastai"},     source_key{"/biren/", "Biren"},
};

const devices::vendor_template& vendor_of_source(const std::string& source) {
  for (const source_key& one : source_keys) {
    if (source.find(one.folder) != std::string::npos) return *devices::find_vendor(hami_vendors(), one.key);
  }
  return *devices::find_vendor(hami_vendors(), "NVIDIA");
}

difference same(const json& expected, const json& found) {
  const json a = normal(json{{"result", expected}});
  const json b = normal(json{{"result", found}});
  return a == b ? std::nullopt : difference("result is " + found.dump() + ", expected is " + expected.dump());
}

devices::pod annotated(const json& annotations) {
  return hami_pod(json{{"metadata", {{"annotations", annotations.is_null() ? json::object() : annotations}}}});
}

difference check_type(const row& of) {
  const json& args = of.args();
  const json& annotations = items(args, "annos");
  const bool named = has(args, "card_type") || has(args, "cardtype");
  const std::string type = named ? text_or_empty(args, has(args, "card_type") ? "card_type" : "cardtype")
                                 : text_or_empty(member(args, "d"), "type");
  const bool key = named || !has(args, "n") || text_or_empty(member(args, "n"), "type") == of.vendor.key;
  const bool allowed = devices::wishes_of(of.vendor, annotated(annotations.empty() ? json::object() : annotations), {})
                           .allows_type(type);
  if (has(of.expected, "result")) return same(member(of.expected, "result"), key && allowed);
  if (const difference first = same(member(of.expected, "result1"), key)) return first;
  return same(member(of.expected, "result2"), key && allowed);
}

/// Devices of a table on a node, and a request of some of them.
devices::fit_answer choose(const row& of, const devices::vendor_template& vendor, const json& records,
                           const devices::request& asked) {
  const devices::node where = hami_node(records, json::object());
  std::vector<std::size_t> candidates(where.devices.size());
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  const devices::pod_grants none;
  const devices::wishes wanted = devices::wishes_of(vendor, annotated(member(of.input, "annos")), {});
  return devices::choose_positions({vendor, where, candidates, asked, wanted, none}, vendor.sets.front());
}

difference choose_positions(const row& of) {
  const json& args = of.args();
  const json& c = member(args, "c");
  devices::request asked;
  asked.count = c.is_number() ? c.get<std::int64_t>() : value_or(c, "nums", std::int64_t{0});
  asked.memory = c.is_number() ? 0 : value_or(c, "memreq", std::int64_t{0}) * devices::mebibyte;
  const bool shared = asked.memory > 0;
  const devices::vendor_template& vendor = shared ? *devices::find_vendor(hami_vendors(), "XPU") : of.vendor;
  json indices = json::array();
  for (const devices::grant& one : choose(of, vendor, items(args, "d"), asked).grants) indices.push_back(one.index);
  return same(member(of.expected, "result1"), indices);
}

difference equal_slices(const row& of) {
  devices::request asked;
  asked.count = 1;
  asked.memory = value_or(member(of.input, "request"), "memreq", std::int64_t{0}) * devices::mebibyte;
  return same(member(of.expected, "result"),
              choose(of, of.vendor, json::array({member(of.input, "usage")}), asked).fits);
}

difference split(const row& of) {
  const auto per_device = value_or(of.input, "cores_per_aws_neuron", std::int64_t{0});
  const std::optional<devices::core_split> found = devices::split_cores(
      value_or(of.input, "cores", std::int64_t{0}), per_device > 0 ? std::min<std::int64_t>(per_device, 2) : 2);
  if (found.has_value() != text_or_empty(of.expected, "err").empty()) return "another outcome";
  if (!found) return std::nullopt;
  if (const difference first = same(member(of.expected, "nums"), found->devices)) return first;
  return same(member(of.expected, "coresreq"), found->cores);
}

difference count_bits(const row& of) {
  const auto mask = member(of.input, "args").is_null() ? 0 : member(of.input, "args").get<std::uint64_t>();
  return same(member(of.expected, "result"), std::popcount(mask));
}

std::vector<std::int64_t> numbers(const json& list) {
  std::vector<std::int64_t> made;
  for (const json& one : list) made.push_back(one.get<std::int64_t>());
  return made;
}

difference gap_score(const row& of) {
  const std::vector<std::int64_t> before = numbers(items(of.input, "prev"));
  const std::vector<std::int64_t> now = numbers(items(of.input, "cur"));
  return same(member(of.expected, "result"), devices::island_gap_score(before, now, 4));
}

difference gaps(const row& of) {
  return same(member(of.expected, "result"), devices::island_gaps(numbers(items(of.input, "in")), 4));
}

difference round_up(const row& of) {
  const std::int64_t asked = value_or(of.input, "in", std::int64_t{0}) * devices::mebibyte;
  return same(member(of.expected, "result"),
              devices::round_up_to_step(of.vendor.requests.memory_steps, asked) / devices::mebibyte);
}

/// Whether one check lets a device through.
bool passes(const devices::vendor_template& vendor, devices::check what, const devices::node& where,
            const devices::request& asked, const devices::wishes& wanted, const devices::pod_grants& earlier,
            std::size_t init_containers = 0, const devices::space_quota* quota = nullptr,
            const devices::container_grants& gathered = {}) {
  devices::vendor_template alone = vendor;
  alone.checks = {{what, devices::reason::card_type_mismatch}};
  const std::vector<std::size_t> candidates{0};
  return !devices::refusal({alone, where, candidates, asked, wanted, earlier, init_containers, quota},
                           where.devices.front(), gathered);
}

difference same_device(const row& of) {
  const devices::node where = hami_node(json::array({member(of.args(), "device")}), json::object());
  return same(member(of.expected, "result"), passes(of.vendor, devices::check::same_device, where, {}, {},
                                                    hami_grants(items(of.args(), "allocated"), where)));
}

difference tenant_class(const row& of) {
  const devices::node where = hami_node(json::array({member(of.input, "usage")}), json::object());
  devices::wishes wanted;
  wanted.tenant_class = text_or_empty(of.input, "req_class");
  return same(member(of.expected, "result"), passes(of.vendor, devices::check::tenant_class, where, {}, wanted, {}));
}

difference service_class(const row& of) {
  // What HAMi remembers until a node reports it is the attribute of the device here.
  if (has(of.input, "cache")) throw unsupported("classes of service that a node has not reported");
  const devices::node where = hami_node(json::array({member(of.input, "usage")}), json::object());
  devices::wishes wanted;
  wanted.service_class = text_or_empty(of.input, "req_qos");
  const devices::request asked = hami_request(member(of.input, "request"), of.vendor);
  return same(member(of.expected, "result"),
              passes(of.vendor, devices::check::service_class, where, asked, wanted, {}));
}

difference quota(const row& of) {
  devices::node where;
  devices::device one;
  one.id = text_or_empty(of.input, "dev_uuid");
  one.memory = INT64_MAX / 2;
  where.devices.push_back(one);
  const json& spec = member(member(of.input, "pod"), "spec");
  devices::request asked;
  asked.memory = value_or(of.input, "memreq", std::int64_t{0}) * devices::mebibyte;
  asked.cores = value_or(of.input, "coresreq", std::int64_t{0});
  devices::container_grants gathered;
  for (const json& grant : items(items(of.input, "tmp_devs"), "NVIDIA")) gathered.push_back(hami_grant(grant, where));
  const devices::space_quota limit{"default", "NVIDIA", 2048 * devices::mebibyte, {}, {}, 0, 0, 0};
  return same(member(of.expected, "result"), passes(of.vendor, devices::check::quota, where, asked, {},
                                                    hami_grants(items(of.input, "allocated"), where),
                                                    items(spec, "initContainers").size(), &limit, gathered));
}

struct scored {
  devices::node where;
  devices::pod pod;
  std::vector<devices::container_grants> grants;
  std::vector<std::vector<devices::granted_device>> granted;
};

scored scored_of(const json& containers, const json& previous) {
  scored made;
  made.where = hami_node(previous, json::object());
  for (const json& container : containers) {
    made.grants.emplace_back();
    for (const json& one : container) {
      made.grants.back().push_back(hami_grant(one, made.where));
      for (const auto& [key, value] : items(member(one, "custom_info"), "Pod.Annotations").items()) {
        if (made.pod.annotation(key) == nullptr) made.pod.annotations.emplace_back(key, value.get<std::string>());
      }
    }
  }
  for (const devices::container_grants& container : made.grants) {
    made.granted.emplace_back();
    for (const devices::grant& one : container) made.granted.back().push_back({&one, nullptr});
  }
  return made;
}

difference zones_switch(const row& of) {
  const scored made = scored_of(items(of.input, "pod_devices"), json::array());
  devices::vendor_template vendor = of.vendor;
  for (const char* name : {"enable", "topology_aware", "enable_topo_aware", "global", "enable_topology_aware"}) {
    vendor.score.on = vendor.score.on || value_or(of.input, name, false);
  }
  return same(member(of.expected, "result"),
              devices::zones_count({vendor, made.where, made.granted, made.pod, "binpack"}));
}

difference zone_score(const row& of) {
  scored made = scored_of(items(of.input, "pod_devices"), items(of.input, "previous"));
  made.pod.annotations.emplace_back(of.vendor.score.wish, "true");
  return same(member(of.expected, "score"),
              devices::plain_vendor_score({of.vendor, made.where, made.granted, made.pod, "binpack"}));
}

difference tenant_score(const row& of) {
  scored made = scored_of(items(of.input, "pick_devs"), items(of.input, "devs"));
  made.pod.annotations.emplace_back(of.vendor.tenants->annotation, of.vendor.tenants->first);
  return same(member(of.expected, "score"),
              devices::plain_vendor_score({of.vendor, made.where, made.granted, made.pod, "binpack"}));
}

json ids_of(const devices::container_grants& grants) {
  json made = json::array();
  for (const devices::grant& one : grants) made.push_back(one.id);
  return made;
}
json ids_of(const json& records, std::string_view name) {
  json made = json::array();
  for (const json& one : records) made.push_back(text_or_empty(one, name));
  return made;
}

devices::container_grants all_of(const devices::node& where) {
  devices::container_grants made;
  for (std::size_t i = 0; i < where.devices.size(); ++i) {
    made.emplace_back();
    made.back().position = i;
    made.back().id = where.devices[i].id;
  }
  return made;
}

difference prioritize(const row& of, bool calm) {
  const devices::node where = hami_node(items(of.input, "candidate_devices"), json::object());
  const auto count = static_cast<std::size_t>(value_or(of.input, "require", std::int64_t{calm ? 1 : 0}));
  devices::container_grants chosen = all_of(where);
  if (chosen.size() > count) {
    chosen = calm ? devices::from_calm_devices(chosen, *of.vendor.tenants, count, where.devices)
                  : devices::from_zones(chosen, of.vendor.sets.front(), count, where.devices);
  }
  return same(ids_of(items(of.expected, "devices"), "id"), ids_of(chosen));
}
difference prioritize_zones(const row& of) { return prioritize(of, false); }
difference prioritize_calm(const row& of) { return prioritize(of, true); }

difference largest_groups(const row& of) {
  const devices::node none;
  devices::node where;
  devices::container_grants among;
  for (const json& one : items(of.input, "container_devices")) {
    among.push_back(hami_grant(one, none));
    among.back().position = where.devices.size();
    where.devices.emplace_back();
    where.devices.back().attributes = among.back().attributes;
  }
  const auto count = static_cast<std::size_t>(value_or(of.input, "req_num", std::int64_t{0}));
  return same(ids_of(items(of.expected, "result"), "uuid"),
              ids_of(devices::from_largest_groups(among, of.vendor.sets.front(), count, where.devices)));
}

difference bind_numa(const row& of) {
  return same(member(of.expected, "result"),
              devices::wishes_of(of.vendor, annotated(member(of.input, "annos")), {}).bind_numa);
}

difference repeats(const row& of) {
  const devices::node where = hami_node(items(of.input, "devices"), json::object());
  std::vector<std::size_t> candidates(where.devices.size());
  std::iota(candidates.begin(), candidates.end(), std::size_t{0});
  const devices::vendor_template* vendor =
      devices::find_vendor(hami_vendors(), text_or_empty(member(of.input, "request"), "type"));
  return same(
      member(of.expected, "result"),
      vendor != nullptr && devices::may_repeat(*vendor, hami_pod(member(of.input, "pod")), where.devices, candidates));
}

difference device_less(const row& of) {
  const json& list = items(of.input, "device_lists");
  const auto i = value_or(of.input, "i", std::size_t{0});
  const auto j = value_or(of.input, "j", std::size_t{1});
  const auto score = [&](std::size_t at) { return static_cast<float>(value_or(list.at(at), "score", 0.0)); };
  const auto device = [&](std::size_t at) { return hami_device(member(list.at(at), "device")); };
  const devices::device_order order(text_or_empty(of.input, "policy"), value_or(of.input, "numa_bind", false));
  return same(member(of.expected, "less"), order.before(device(i), score(i), device(j), score(j)));
}

difference node_less(const row& of) {
  const json& nodes = member(of.input, "node_score_list");
  const json& list = items(nodes, "node_list");
  const auto score = [&](std::string_view at) {
    return static_cast<float>(value_or(list.at(value_or(of.input, at, std::size_t{0})), "score", 0.0));
  };
  return same(member(of.expected, "result"),
              devices::is_better(text_or_empty(nodes, "policy"), score("j"), score("i")));
}

struct table_of_rules {
  std::string_view test;
  difference (*check)(const row& of);
};
constexpr std::array tables{
    table_of_rules{"TestCheckAMDType", check_type},
    table_of_rules{"Test_checkDCUtype", check_type},
    table_of_rules{"Test_checkType", check_type},
    table_of_rules{"Test_KunlunVDevices_CheckType", check_type},
    table_of_rules{"Test_graphSelect", choose_positions},
    table_of_rules{"Test_graphSelectVXPU", choose_positions},
    table_of_rules{"Test_FitVXPU_direct", equal_slices},
    table_of_rules{"Test_splitCoreRequest", split},
    table_of_rules{"Test_countMaskAvailable", count_bits},
    table_of_rules{"TestCalcscore", gap_score},
    table_of_rules{"TestCountbubble", gaps},
    table_of_rules{"Test_trimMemory", round_up},
    table_of_rules{"Test_CustomFilterRule", same_device},
    table_of_rules{"TestCheckAppClass", tenant_class},
    table_of_rules{"TestCheckDeviceQos", service_class},
    table_of_rules{"TestFitQuota", quota},
    table_of_rules{"TestNeedScore", zones_switch},
    table_of_rules{"TestScoreExclusiveDevices", zone_score},
    table_of_rules{"TestScoreOnlineDevices", tenant_score},
    table_of_rules{"TestPrioritizeExclusiveDevices", prioritize_zones},
    table_of_rules{"TestPrioritizeOnlineDevices", prioritize_calm},
    table_of_rules{"TestComputeBestCombination", largest_groups},
    table_of_rules{"TestAssertNuma", bind_numa},
    table_of_rules{"TestIsMIGRequest", repeats},
    table_of_rules{"TestDeviceUsageList_Less", device_less},
    table_of_rules{"TestLess", node_less},
};

}  // namespace

std::optional<std::string> check_hami_table(const json& one) {
  const std::string test = one.at("test").get<std::string>();
  const auto found =
      std::find_if(tables.begin(), tables.end(), [&](const table_of_rules& of) { return of.test == test; });
  if (found == tables.end()) throw unsupported("table " + test);
  const json& input = member(one, "input");
  return found->check({input, member(one, "expected"), vendor_of_source(one.at("source").get<std::string>())});
}

}  // namespace kaisched::conformance
