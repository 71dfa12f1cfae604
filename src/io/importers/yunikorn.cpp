// queues.yaml of YuniKorn -> settings of the action yunikorn, queues and queue rules.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/importers/readers.hpp"
#include "io/kubernetes/quantity.hpp"
#include "io/kubernetes/queue_rules.hpp"

namespace kaisched::io::importers {

namespace {

/// A resource as YuniKorn and as settings and cluster files name it.
struct yunikorn_resource {
  std::string_view there;
  std::string_view here;
  int decimals;  ///< of the unit of cluster files
};
constexpr yunikorn_resource yunikorn_resources[] = {
    {"vcore", "cpu", 3}, {"memory", "memory", 0}, {"nvidia.com/gpu", "gpu", 3}};

const yunikorn_resource* known_resource(std::string_view name) {
  const auto* const found = std::ranges::find(yunikorn_resources, name, &yunikorn_resource::there);
  return found == std::end(yunikorn_resources) ? nullptr : found;
}

using rules_json = nlohmann::ordered_json;

bool is_expression(std::string_view name) { return name.find_first_of("^$*+?()[{}|") != std::string_view::npos; }

/// A regular expression that wildcards can say; nothing if it asks for more.
std::optional<std::string> as_pattern(std::string_view expression) {
  const bool from_start = expression.starts_with('^');
  if (from_start) expression.remove_prefix(1);
  const bool to_end = expression.ends_with('$') && !expression.ends_with("\\$");
  if (to_end) expression.remove_suffix(1);
  std::string made = from_start ? "" : "*";
  while (!expression.empty()) {
    const char c = expression.front();
    const bool is_any = expression.starts_with(".*");
    const bool is_escaped = c == '\\' && expression.size() > 1 && expression[1] == '.';
    if (!is_any && !is_escaped && (is_expression({&c, 1}) || c == '\\')) return std::nullopt;
    if (!is_any || !made.ends_with('*')) made += is_any ? '*' : is_escaped ? '.' : c == '.' ? '?' : c;
    expression.remove_prefix(is_any || is_escaped ? 2 : 1);
  }
  if (!to_end && !made.ends_with('*')) made += '*';
  return made;
}

class yunikorn_import {
 public:
  result<imported_policy> read(json_value root) {
    made_.of = "YuniKorn";
    made_.set("preset", "yunikorn-default");
    for (const json_value one : root) {
      if (one.key() == "partitions" && one.is(json_kind::array)) {
        bool first = true;
        for (const json_value partition : one) {
          if (first) {
            read_partition(partition);
          } else {
            made_.leave_out(partition, "another partition");
          }
          first = false;
        }
      } else if (one.key() != "checksum") {
        made_.leave_out(one, "nothing here does this");
      }
    }
    if (!settings_.empty()) made_.set("yunikorn.settings", joined(settings_));
    if (!rules_.empty()) {
      rules_.push_back({{"rule", "fixed"}, {"queue", "default"}});  // where no rule gives a queue
      rules_json file{{"schema", kubernetes::queue_rules_schema}, {"rules", std::move(rules_)}};
      if (!templates_.empty()) file["templates"] = std::move(templates_);
      made_.queue_rules = file.dump(2) + "\n";
    }
    return std::move(made_);
  }

 private:
  void read_partition(json_value partition) {
    for (const json_value one : partition) {
      const std::string_view key = one.key();
      if (key == "name") continue;
      if (key == "queues" && one.is(json_kind::array)) {
        for (const json_value queue : one) read_queue(queue, "", "", nullptr);
      } else if (key == "nodesortpolicy") {
        read_node_order(one);
      } else if (key == "preemption" && one.is(json_kind::object)) {
        for (const json_value flag : one) {
          if (flag.key() != "enabled") {
            made_.leave_out(flag, "nobody leaves for a maximum that is lowered");
          } else if (scalar_text(flag) == "false") {
            settings_.emplace_back("preemption=false");
          }
        }
      } else if (key == "limits") {
        read_limits(one, "");
      } else if (key == "placementrules" && one.is(json_kind::array)) {
        for (const json_value rule : one) {
          if (std::optional<rules_json> made = read_rule(rule)) rules_.push_back(std::move(*made));
        }
      } else {
        made_.leave_out(one, "nothing here does this");
      }
    }
  }

  /// Nothing: nothing here does this, which has been said.
  std::optional<rules_json> read_rule(json_value told) {
    json_value kept = told;
    const auto member_text = [&](std::string_view key) {
      const json_value* const found = find_member(told, key, kept);
      return found == nullptr ? std::string{} : scalar_text(*found);
    };
    const std::string name = member_text("name");
    const std::string value = member_text("value");
    rules_json made;
    if (name == "provided" || name == "user") {
      made["rule"] = name;
    } else if (name == "fixed" && !value.empty()) {
      made = {{"rule", "fixed"}, {"queue", value}};
    } else if (name == "tag" && value == "namespace") {
      made["rule"] = "namespace";
    } else if (name == "tag" && value == "namespace.parentqueue") {
      made = {{"rule", "namespace_annotation"}, {"key", "yunikorn.apache.org/parentqueue"}};
    } else {
      made_.leave_out(
          told, name == "tag" ? "groups have no tags: rules label and annotation say of what" : "that is no rule here");
      return std::nullopt;
    }
    if (member_text("create") == "true") made["create"] = true;
    if (const json_value* const filter = find_member(told, "filter", kept)) {
      std::optional<rules_json> read = read_filter(*filter);
      if (!read) return std::nullopt;
      made["filter"] = std::move(*read);
    }
    if (const json_value* const parent = find_member(told, "parent", kept)) {
      std::optional<rules_json> read = read_rule(*parent);
      if (!read) return std::nullopt;
      made["parent"] = std::move(*read);
    }
    return made;
  }

  std::optional<rules_json> read_filter(json_value told) {
    rules_json made = rules_json::object();
    json_value kept = told;
    if (const json_value* const type = find_member(told, "type", kept); type != nullptr && scalar_text(*type) == "deny")
      made["type"] = "deny";
    for (const std::string_view key : {"users", "groups"}) {
      const json_value* const names = find_member(told, key, kept);
      if (names == nullptr || !names->is(json_kind::array)) continue;
      for (const json_value one : *names) {
        std::string name = scalar_text(one);
        if (is_expression(name)) {  // of several names none is one
          const std::optional<std::string> pattern = names->size() == 1 ? as_pattern(name) : std::nullopt;
          if (!pattern) {
            made_.leave_out(*names, "expressions have * and ? here; the rule is left out");
            return std::nullopt;
          }
          name = *pattern;
        }
        made[std::string(key)].push_back(std::move(name));
      }
    }
    return made;
  }

  /// What queues that are made get; of applications and properties nothing here is by queue before it is there.
  rules_json read_template(json_value told) {
    rules_json made = rules_json::object();
    for (const json_value one : told) {
      if (one.key() != "resources" || !one.is(json_kind::object)) {
        made_.leave_out(one, "queues that are made have quotas and limits alone");
        continue;
      }
      for (const json_value amounts : one) {
        if (!amounts.is(json_kind::object)) continue;
        for (const json_value amount : amounts) {
          const yunikorn_resource* const known = known_resource(amount.key());
          if (known == nullptr) {
            made_.leave_out(amount, "queues have quotas and limits of cpu, memory and GPUs");
            continue;
          }
          made[amounts.key() == "max" ? "limit" : "quota"][std::string(known->here)] = scalar_text(amount);
        }
      }
    }
    return made;
  }

  void read_node_order(json_value told) {
    json_value kept = told;
    if (const json_value* const type = find_member(told, "type", kept))
      settings_.push_back(fmt::format("nodes.order={}", scalar_text(*type)));
    const json_value* const weights = find_member(told, "resourceweights", kept);
    if (weights == nullptr || !weights->is(json_kind::object)) return;
    std::vector<std::string> named;
    for (const json_value one : *weights) {
      const yunikorn_resource* const known = known_resource(one.key());
      named.emplace_back(known == nullptr ? one.key() : known->here);
      settings_.push_back(fmt::format("nodes.weight.{}={}", named.back(), scalar_text(one)));
    }
    for (const std::string_view usual : {"cpu", "memory"}) {  // weights of its own replace these
      if (!named.empty() && std::ranges::find(named, usual) == named.end())
        settings_.push_back(fmt::format("nodes.weight.{}=0", usual));
    }
  }

  /// Names of queues are theirs below the root, with dots. `where`: `@queue`, or nothing for the root.
  /// `like`: what is made below it has, unless it says so itself.
  void read_queue(json_value told, const std::string& parent, std::string_view above, rules_json like) {
    json_value kept = told;
    const json_value* const named = find_member(told, "name", kept);
    const std::string own = named == nullptr ? "" : scalar_text(*named);
    const bool is_root = parent.empty() && above.empty() && own == "root";
    std::string name = is_root ? "" : parent.empty() ? own : parent + "." + own;
    const std::string where = is_root ? "" : "@" + name;
    if (!is_root && !is_plain_name(name)) return made_.leave_out(told, "that is no name of a queue");
    const std::size_t at = made_.rows.size();
    if (!is_root) made_.rows.push_back(fmt::format("queue {}{}{}", name, parent.empty() ? "" : " parent=", parent));
    const json_value* children = nullptr;
    json_value below = told;
    bool is_parent = false;
    for (const json_value one : told) {
      const std::string_view key = one.key();
      if (key == "name") continue;
      if (key == "parent") {
        is_parent = scalar_text(one) == "true";
      } else if (key == "childtemplate" && one.is(json_kind::object)) {
        like = read_template(one);
        is_parent = true;
      } else if (key == "queues") {
        children = find_member(told, "queues", below);
      } else if (key == "resources" && !is_root) {
        read_resources(one, made_.rows[at]);
      } else if (key == "maxapplications") {
        if (scalar_text(one) != "0") settings_.push_back(fmt::format("apps.most{}={}", where, scalar_text(one)));
      } else if (key == "properties" && one.is(json_kind::object)) {
        for (const json_value property : one) read_property(property, where);
      } else if (key == "limits") {
        read_limits(one, where);
      } else {
        made_.leave_out(
            one, key == "submitacl" || key == "adminacl" ? "who may submit is not asked" : "nothing here does this");
      }
    }
    const bool has_children = children != nullptr && children->is(json_kind::array);
    // Nobody is in a queue with a template, so that it may get others below it.
    if (is_parent && (!like.is_null() || (!has_children && !is_root)))
      templates_[is_root ? "root" : name] = like.is_null() ? rules_json::object() : like;
    if (!has_children) return;
    for (const json_value child : *children) read_queue(child, name, "root", like);
  }

  void read_resources(json_value told, std::string& row) {
    if (!told.is(json_kind::object)) return;
    for (const json_value one : told) {
      if ((one.key() != "guaranteed" && one.key() != "max") || !one.is(json_kind::object)) {
        made_.leave_out(one, "nothing here does this");
        continue;
      }
      const std::string_view column = one.key() == "max" ? "limit" : "quota";
      for (const json_value amount : one) {
        const yunikorn_resource* const known = known_resource(amount.key());
        if (known == nullptr) {
          made_.leave_out(amount, "queues have quotas and limits of cpu, memory and GPUs");
          continue;
        }
        const kubernetes::quantity read = kubernetes::parse_quantity(scalar_text(amount), known->decimals);
        if (read.fault != kubernetes::quantity_fault::none || read.amount < 0) {
          made_.leave_out(amount, "that is no amount");
        } else {
          const bool is_milli = known->here != "memory";  // thousandths of cores and GPUs
          row += fmt::format(" {}.{}={}{}", column, known->here, read.amount, is_milli ? "m" : "");
        }
      }
    }
  }

  void read_property(json_value told, const std::string& where) {
    const std::string_view key = told.key();
    const std::string value = scalar_text(told);
    const auto set = [&](std::string_view setting, std::string_view to) {
      settings_.push_back(fmt::format("{}{}={}", setting, where, to));
    };
    if (key == "application.sort.policy") return set("apps.order", value == "stateaware" ? "fifo" : value);
    if (key == "application.sort.priority") return set("apps.priority", value == "disabled" ? "false" : "true");
    if (key == "preemption.policy") return set("preemption.policy", value);
    if (key == "preemption.delay") {
      const std::optional<double> seconds = seconds_of(value);
      if (seconds) return set("preemption.delay", fmt::format("{}", *seconds));
      return made_.leave_out(told, "that is no duration");
    }
    const bool of_priority = key == "priority.policy" || key == "priority.offset";
    if (of_priority && where.empty()) return made_.leave_out(told, "nobody is beside the root");
    if (key == "priority.policy") return set("priority.fence", value == "fence" ? "true" : "false");
    if (key == "priority.offset") return set("priority.offset", value);
    made_.leave_out(told, "nothing here does this");
  }

  void read_limits(json_value told, const std::string& where) {
    if (!told.is(json_kind::array)) return;
    for (const json_value limit : told) {
      json_value kept = limit;
      if (const json_value* const groups = find_member(limit, "groups", kept); groups != nullptr) {
        for (const json_value group : *groups) add_limits(limit, "group_limit." + scalar_text(group), where);
        made_.leave_out(*groups, "who is in them: users.GROUP=USER+USER");
      }
      std::vector<std::string> users;
      if (const json_value* const named = find_member(limit, "users", kept); named != nullptr) {
        for (const json_value user : *named) users.push_back(scalar_text(user));
      }
      for (const std::string& user : users) add_limits(limit, "limit." + user, where);
    }
  }

  /// `of`: the setting, with whom it is about.
  void add_limits(json_value limit, const std::string& of, const std::string& where) {
    json_value kept = limit;
    if (const json_value* const apps = find_member(limit, "maxapplications", kept);
        apps != nullptr && scalar_text(*apps) != "0")
      settings_.push_back(fmt::format("{}:apps{}={}", of, where, scalar_text(*apps)));
    const json_value* const amounts = find_member(limit, "maxresources", kept);
    if (amounts == nullptr || !amounts->is(json_kind::object)) return;
    for (const json_value one : *amounts) {
      const yunikorn_resource* const known = known_resource(one.key());
      const kubernetes::quantity read =
          kubernetes::parse_quantity(scalar_text(one), known == nullptr ? 0 : known->decimals);
      if (known == nullptr) {
        made_.leave_out(one, "users have limits of cpu, memory and GPUs");
      } else if (read.fault != kubernetes::quantity_fault::none || read.amount < 0) {
        made_.leave_out(one, "that is no amount");
      } else {
        const double shown = static_cast<double>(read.amount) / (known->decimals == 3 ? 1000.0 : 1.0);
        settings_.push_back(fmt::format("{}:{}{}={}", of, known->here, where, shown));
      }
    }
  }

  imported_policy made_;
  std::vector<std::string> settings_;
  rules_json rules_ = rules_json::array();
  rules_json templates_ = rules_json::object();
};

}  // namespace

result<imported_policy> import_yunikorn(json_value root) { return yunikorn_import().read(root); }

}  // namespace kaisched::io::importers
