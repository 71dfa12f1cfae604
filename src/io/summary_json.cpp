// Summaries of clusters as JSON, for members of a federation that are elsewhere.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/cluster_summary.hpp>

#include "io/json_document.hpp"

namespace kaisched {

namespace {

constexpr std::string_view summary_schema = "kaisched-cluster-summary/1";
using json_tree = nlohmann::ordered_json;

json_tree rooms_json(const std::vector<std::pair<std::int64_t, std::int64_t>>& of) {
  json_tree all = json_tree::array();
  for (const auto& [pods, domains] : of) all.push_back({pods, domains});
  return all;
}

json_tree quota_json(const std::int64_t (&of)[quota_dimensions]) { return json_tree::array({of[0], of[1], of[2]}); }

/// Members of a summary. The first fault stays; what is read after it does not matter.
class summary_reader {
 public:
  explicit summary_reader(std::string_view source) : source_(source) {}
  [[nodiscard]] const std::string& fault() const { return fault_; }

  void fail(io::json_value at, std::string_view place, std::string_view what) {
    if (fault_.empty()) fault_ = fmt::format("{}:{}: {}: {}", source_, at.line(), place, what);
  }

  [[nodiscard]] bool is(io::json_value value, io::json_kind kind, std::string_view place) {
    if (!value.is(kind)) fail(value, place, fmt::format("expected {}, found {}", json_kind_name(kind), value.shown()));
    return value.is(kind);
  }
  void read(io::json_value value, std::string_view place, std::string& to) {
    if (is(value, io::json_kind::string, place)) to = value.text();
  }
  void read(io::json_value value, std::string_view place, bool& to) {
    if (is(value, io::json_kind::boolean, place)) to = value.boolean();
  }
  template <class Integer>
    requires std::is_integral_v<Integer>
  void read(io::json_value value, std::string_view place, Integer& to) {
    if (!is(value, io::json_kind::integer, place)) return;
    if (!std::in_range<Integer>(value.integer())) fail(value, place, fmt::format("is {}", value.shown()));
    to = static_cast<Integer>(value.integer());
  }
  template <class T>
  void read(io::json_value value, std::string_view place, std::vector<T>& to) {
    if (!is(value, io::json_kind::array, place)) return;
    for (const io::json_value one : value) read(one, place, to.emplace_back());
  }
  void read(io::json_value value, std::string_view place, std::int64_t (&to)[quota_dimensions]) {
    if (!is(value, io::json_kind::array, place)) return;
    if (value.size() != quota_dimensions) return fail(value, place, "expected cpu, memory and gpu");
    std::size_t i = 0;
    for (const io::json_value one : value) read(one, place, to[i++]);
  }
  void read(io::json_value value, std::string_view place, std::pair<std::int64_t, std::int64_t>& to) {
    if (!is(value, io::json_kind::array, place)) return;
    if (value.size() != 2) return fail(value, place, "expected pods and domains");
    read(*value.begin(), place, to.first);
    read(*std::next(value.begin()), place, to.second);
  }
  void read(io::json_value value, std::string_view place, std::vector<std::pair<std::string, std::string>>& to) {
    if (!is(value, io::json_kind::object, place)) return;
    for (const io::json_value one : value) {
      to.emplace_back(one.key(), std::string());
      read(one, place, to.back().second);
    }
    std::sort(to.begin(), to.end());
  }

  /// All members of an object, each of which must be there once, as `name, variable, name, variable, ...`.
  template <class... Rest>
  void members(io::json_value value, std::string_view place, Rest&&... rest) {
    if (!is(value, io::json_kind::object, place)) return;
    std::size_t known = 0;
    match(value, place, known, std::forward<Rest>(rest)...);
    if (fault_.empty() && known != value.size())
      fail(value, place, fmt::format("has {} members, expected {}", value.size(), known));
  }

  void read(io::json_value value, std::string_view place, summary_rules& to) {
    members(value, place, "whole_gangs", to.whole_gangs, "labels", to.labels, "domains", to.domains, "shares",
            to.shares, "makes_room", to.makes_room);
  }
  void read(io::json_value value, std::string_view place, node_kind& to) {
    members(value, place, "labels", to.labels, "taints", to.taints, "capacity", to.capacity, "devices", to.devices,
            "nodes", to.nodes);
  }
  void read(io::json_value value, std::string_view place, free_nodes& to) {
    members(value, place, "kind", to.kind, "nodes", to.nodes, "devices", to.devices, "most", to.most);
  }
  void read(io::json_value value, std::string_view place, domain_room& to) {
    members(value, place, "topology", to.topology, "level", to.level, "devices", to.devices, "free", to.free, "empty",
            to.empty);
  }
  void read(io::json_value value, std::string_view place, queue_summary& to) {
    members(value, place, "name", to.name, "parent", to.parent, "quota", to.quota, "limit", to.limit, "allocated",
            to.allocated, "request", to.request, "fair_share", to.fair_share);
  }
  void read(io::json_value value, std::string_view place, expected_release& to) {
    members(value, place, "at", to.at, "gpu", to.gpu);
  }

 private:
  void match(io::json_value, std::string_view, std::size_t&) {}
  template <class T, class... Rest>
  void match(io::json_value value, std::string_view place, std::size_t& known, std::string_view name, T& to,
             Rest&&... rest) {
    ++known;
    bool found = false;
    for (const io::json_value one : value) {
      if (one.key() != name) continue;
      found = true;
      read(one, place.empty() ? std::string(name) : fmt::format("{}.{}", place, name), to);
    }
    if (!found) fail(value, place, fmt::format("\"{}\" is missing", name));
    match(value, place, known, std::forward<Rest>(rest)...);
  }

  std::string source_;
  std::string fault_;
};

}  // namespace

std::string summary_to_json(const cluster_summary& of) {
  json_tree all{{"schema", summary_schema},
                {"version", of.version},
                {"taken", of.taken},
                {"preset", of.preset},
                {"rules",
                 {{"whole_gangs", of.rules.whole_gangs},
                  {"labels", of.rules.labels},
                  {"domains", of.rules.domains},
                  {"shares", of.rules.shares},
                  {"makes_room", of.rules.makes_room}}},
                {"dimensions", of.dimensions},
                {"unknown_labels", of.unknown_labels}};
  json_tree& kinds = all["kinds"] = json_tree::array();
  for (const node_kind& one : of.kinds) {
    json_tree labels = json_tree::object();
    for (const auto& [key, value] : one.labels) labels[key] = value;
    kinds.push_back({{"labels", std::move(labels)},
                     {"taints", one.taints},
                     {"capacity", one.capacity},
                     {"devices", one.devices},
                     {"nodes", one.nodes}});
  }
  json_tree& free = all["free"] = json_tree::array();
  for (const free_nodes& one : of.free)
    free.push_back({{"kind", one.kind}, {"nodes", one.nodes}, {"devices", one.devices}, {"most", one.most}});
  json_tree& domains = all["domains"] = json_tree::array();
  for (const domain_room& one : of.domains)
    domains.push_back({{"topology", one.topology},
                       {"level", one.level},
                       {"devices", one.devices},
                       {"free", rooms_json(one.free)},
                       {"empty", rooms_json(one.empty)}});
  json_tree& queues = all["queues"] = json_tree::array();
  for (const queue_summary& one : of.queues)
    queues.push_back({{"name", one.name},
                      {"parent", one.parent},
                      {"quota", quota_json(one.quota)},
                      {"limit", quota_json(one.limit)},
                      {"allocated", quota_json(one.allocated)},
                      {"request", quota_json(one.request)},
                      {"fair_share", quota_json(one.fair_share)}});
  json_tree& ends = all["ends"] = json_tree::array();
  for (const expected_release& one : of.ends) ends.push_back({{"at", one.at}, {"gpu", one.gpu}});
  all["nodes"] = of.nodes;
  all["gpu"] = of.gpu;
  all["free_gpu"] = of.free_gpu;
  all["largest_node_devices"] = of.largest_node_devices;
  all["waiting_gpu"] = of.waiting_gpu;
  all["waiting_pods"] = of.waiting_pods;
  return all.dump() + "\n";
}

result<cluster_summary> summary_from_json(std::string_view text, std::string_view source) {
  const result<io::json_document> read = io::json_document::parse(text, source);
  if (!read) return read.failure();
  summary_reader from(source);
  cluster_summary made;
  std::string schema;
  from.members(read->root(), "", "schema", schema, "version", made.version, "taken", made.taken, "preset", made.preset,
               "rules", made.rules, "dimensions", made.dimensions, "unknown_labels", made.unknown_labels, "kinds",
               made.kinds, "free", made.free, "domains", made.domains, "queues", made.queues, "ends", made.ends,
               "nodes", made.nodes, "gpu", made.gpu, "free_gpu", made.free_gpu, "largest_node_devices",
               made.largest_node_devices, "waiting_gpu", made.waiting_gpu, "waiting_pods", made.waiting_pods);
  if (from.fault().empty() && schema != summary_schema)
    from.fail(read->root(), "schema", fmt::format("expected \"{}\"", summary_schema));
  if (!from.fault().empty()) return error{status::argument, from.fault(), {}};
  return made;
}

}  // namespace kaisched
