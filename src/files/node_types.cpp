#include "files/node_types.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "base/int128.hpp"
#include "files/yaml_document.hpp"
#include "io/cluster_input.hpp"
#include "io/column_form.hpp"
#include "io/fault_log.hpp"
#include "io/files.hpp"
#include "io/row_reader.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::io {

namespace {

constexpr std::array<std::string_view, 6> members{"schema", "description", "type", "node", "device", "numa_zone"};
constexpr std::array<std::string_view, 4> type_members{"name", "price", "most", "new_domains"};
constexpr std::array<std::string_view, 2> domain_members{"label", "nodes"};

const char* article(std::string_view what) { return what == "integer" ? "an" : "a"; }

/// Members of one object, each of a kind.
class object_reader {
 public:
  object_reader(json_value from, std::string place, std::span<const std::string_view> known, fault_log& faults)
      : place_(std::move(place)), line_(from.line()), faults_(faults) {
    if (!from.is(json_kind::object)) {
      faults.add(from.line(), place_, fmt::format("expected an object, found {}", from.shown()));
      return;
    }
    for (const json_value member : from) {
      if (std::find(known.begin(), known.end(), member.key()) == known.end()) {
        faults.add(member.line(), fmt::format("{}.{}", place_, member.key()),
                   fmt::format("no such member; {}", suggestion(member.key(), known)));
      }
      found_.emplace(member.key(), member);
    }
  }

  std::string text(std::string_view key) {
    const json_value* const value = required(key, json_kind::string, "text");
    if (value == nullptr) return {};
    if (value->text().empty()) fail(*value, key, "is empty");
    return std::string(value->text());
  }
  std::int64_t integer(std::string_view key, std::int64_t least) {
    const json_value* const value = required(key, json_kind::integer, "integer");
    if (value == nullptr) return least;
    if (value->integer() < least) fail(*value, key, fmt::format("is {}, expected {} or more", value->shown(), least));
    return value->integer();
  }
  [[nodiscard]] const json_value* optional(std::string_view key) const {
    const auto found = found_.find(key);
    return found == found_.end() ? nullptr : &found->second;
  }
  void fail(json_value at, std::string_view key, std::string_view what) {
    faults_.add(at.line(), fmt::format("{}.{}", place_, key), what);
  }

 private:
  const json_value* required(std::string_view key, json_kind kind, std::string_view what) {
    const json_value* const value = optional(key);
    if (value == nullptr) {
      faults_.add(line_, place_, fmt::format("\"{}\" is missing", key));
      return nullptr;
    }
    if (value->is(kind)) return value;
    fail(*value, key, fmt::format("expected {} {}, found {}", article(what), what, value->shown()));
    return nullptr;
  }

  std::string place_;
  std::uint32_t line_;
  fault_log& faults_;
  std::map<std::string_view, json_value, std::less<>> found_;
};

node_type read_type(json_value row, const std::string& place, fault_log& faults) {
  object_reader from(row, place, type_members, faults);
  node_type type;
  type.name = from.text("name");
  type.price = from.integer("price", 0);
  type.most = from.integer("most", 0);
  if (static_cast<base::int128>(type.price) * type.most > max_sum)
    faults.add(row.line(), place + ".price",
               fmt::format("{} times {} nodes is more than can be represented", type.price, type.most));
  if (const json_value* domains = from.optional("new_domains")) {
    if (!domains->is(json_kind::array))
      from.fail(*domains, "new_domains", fmt::format("expected an array, found {}", domains->shown()));
    std::size_t i = 0;
    for (const json_value one : *domains) {
      object_reader domain(one, fmt::format("{}.new_domains[{}]", place, i++), domain_members, faults);
      type.domains.push_back({domain.text("label"), domain.integer("nodes", 1)});
    }
  }
  return type;
}

bool check_schema(json_value root, fault_log& faults) {
  if (!root.is(json_kind::object)) {
    faults.add(root.line(), "",
               fmt::format("expected an object with \"schema\": \"{}\", found {}", node_types_schema, root.shown()));
    return false;
  }
  for (const json_value member : root) {
    if (member.key() == "schema") {
      if (member.is(json_kind::string) && member.text() == node_types_schema) return true;
      faults.add(member.line(), "schema", fmt::format("expected \"{}\", found {}", node_types_schema, member.shown()));
      return false;
    }
  }
  faults.add(root.line(), "",
             fmt::format("\"schema\" is missing: node types start with \"schema\": \"{}\"", node_types_schema));
  return false;
}

/// Each type has one node, which has room for pods.
void check_nodes(const snapshot& nodes, const std::vector<std::pair<node_type, std::uint32_t>>& types,
                 fault_log& faults) {
  const model::cluster_state& s = model::state_of(nodes);
  std::map<std::string_view, const model::node_info*> known;
  for (const auto& node : *s.nodes) known.emplace(node->name, node.get());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& [type, line] = types[i];
    const auto found = known.find(type.name);
    if (found == known.end()) {
      std::vector<std::string_view> names;
      for (const auto& [name, node] : known) names.push_back(name);
      faults.add(line, fmt::format("type[{}].name", i),
                 fmt::format("there is no node '{}'; {}", type.name, suggestion(type.name, names)));
    } else if (found->second->capacity[dim_pods] == 0) {
      faults.add(line, fmt::format("type[{}]", i),
                 fmt::format("node '{}' has no room for pods: capacity.pods is not given", type.name));
    }
  }
}

}  // namespace

result<node_offers> read_node_types(json_value root, std::string_view source, const snapshot& over) {
  fault_log faults(source);
  if (!check_schema(root, faults)) return faults.take();
  const std::vector<std::string_view> dimensions = over.dimension_names();
  std::vector<std::pair<node_type, std::uint32_t>> types;
  std::map<table_kind, read_table> tables;
  for (const json_value member : root) {
    const std::string_view key = member.key();
    if (std::find(members.begin(), members.end(), key) == members.end()) {
      faults.add(member.line(), key, fmt::format("no such member; {}", suggestion(key, members)));
    } else if (key == "type") {
      if (!member.is(json_kind::array))
        faults.add(member.line(), key, fmt::format("expected an array, found {}", member.shown()));
      for (const json_value row : member) {
        types.emplace_back(read_type(row, fmt::format("type[{}]", types.size()), faults), row.line());
        for (std::size_t i = 0; i + 1 < types.size(); ++i) {
          if (types[i].first.name == types.back().first.name)
            faults.add(row.line(), fmt::format("type[{}].name", types.size() - 1),
                       fmt::format("'{}' is given twice, first in type[{}]", types[i].first.name, i));
        }
      }
    } else if (const table_info* info = schema_of(key); info != nullptr && info->input) {
      tables.emplace(static_cast<table_kind>(info->kind), read_rows(member, *info, dimensions, faults));
    }
    if (faults.failed()) return faults.take();
  }
  cluster_input input;
  input.source = source;
  result<table> resources = over.to_table(table_kind::resource);
  if (!resources) return resources.failure();
  input.add(std::move(*resources), {});
  for (auto& [kind, read] : tables) input.add(std::move(read.rows), {std::string(source), std::move(read.lines)});
  result<cluster> built = build_cluster(input, "reject");
  if (!built) return built.failure();
  node_offers offers;
  offers.nodes = built->take_snapshot();
  check_nodes(offers.nodes, types, faults);
  base::int128 total = 0;
  for (std::size_t i = 0; i < types.size(); ++i) {
    total += static_cast<base::int128>(types[i].first.price) * types[i].first.most;
    if (total > max_sum)
      faults.add(types[i].second, fmt::format("type[{}].price", i),
                 "the prices of all nodes that can be had add up to more than can be represented");
    offers.types.push_back(std::move(types[i].first));
  }
  if (faults.failed()) return faults.take();
  return offers;
}

result<node_offers> read_node_types(const std::string& path, const snapshot& over) {
  const result<std::string> text = read_file(path);
  if (!text) return text.failure();
  const result<json_document> document = parse_json_or_yaml(*text, path);
  if (!document) return document.failure();
  return read_node_types(document->root(), path, over);
}

}  // namespace kaisched::io
