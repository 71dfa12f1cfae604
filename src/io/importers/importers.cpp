#include "io/importers/importers.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/session.hpp>
#include <kaisched/vendors.hpp>

#include "io/importers/readers.hpp"

namespace kaisched::io::importers {

namespace {

std::string text_of(json_value of, std::string_view key) {
  json_value kept = of;
  const json_value* const found = find_member(of, key, kept);
  return found == nullptr ? std::string{} : scalar_text(*found);
}

/// The text in a ConfigMap that is a configuration of Volcano or YuniKorn.
std::optional<std::string> text_in_config_map(json_value root) {
  json_value kept = root;
  if (text_of(root, "kind") != "ConfigMap") return std::nullopt;
  const json_value* const data = find_member(root, "data", kept);
  if (data == nullptr) return std::nullopt;
  for (const json_value one : *data) {
    const std::string text = scalar_text(one);
    for (const std::string_view sign : {"tiers:", "partitions:"}) {
      if (text.find(sign) != std::string::npos) return text;
    }
  }
  return std::nullopt;
}

/// Objects of all documents, those in lists included.
std::vector<json_value> objects_in(json_value documents) {
  std::vector<json_value> all;
  for (const json_value one : documents) {
    json_value kept = one;
    const json_value* const items = find_member(one, "items", kept);
    if (items == nullptr || !items->is(json_kind::array)) {
      if (one.is(json_kind::object)) all.push_back(one);
      continue;
    }
    for (const json_value item : *items) all.push_back(item);
  }
  return all;
}

bool is_of_kueue(json_value object) {
  return text_of(object, "apiVersion").find("kueue.x-k8s.io/") != std::string::npos;
}

result<scheduler_kind> detected(json_value root, std::string_view source) {
  json_value kept = root;
  const std::string kind = text_of(root, "kind");
  if (kind == "SchedulingShard") return scheduler_kind::kai;
  if (kind == "KubeSchedulerConfiguration") return scheduler_kind::kube_scheduler;
  if (find_member(root, "tiers", kept) != nullptr) return scheduler_kind::volcano;
  if (find_member(root, "partitions", kept) != nullptr) return scheduler_kind::yunikorn;
  return error{status::argument,
               fmt::format("{}: neither a SchedulingShard, nor a KubeSchedulerConfiguration, nor tiers of Volcano, nor "
                           "partitions of YuniKorn, nor objects of Kueue, nor a slurm.conf",
                           source),
               {}};
}

result<imported_policy> import_document(json_value root, std::string_view source, scheduler_kind as) {
  if (as == scheduler_kind::detect) {
    const result<scheduler_kind> found = detected(root, source);
    if (!found) return found.failure();
    as = *found;
  }
  switch (as) {
    case scheduler_kind::kai:
      return import_kai_shard(root);
    case scheduler_kind::kube_scheduler:
      return import_kube_scheduler(root);
    case scheduler_kind::volcano:
      return import_volcano(root);
    case scheduler_kind::yunikorn:
      return import_yunikorn(root);
    case scheduler_kind::detect:
    case scheduler_kind::kueue:
    case scheduler_kind::slurm:
      break;
  }
  return error{status::internal, "a kind of configuration that is no document", {}};
}

/// @param source gets " (data)" at its end if the configuration is in a ConfigMap.
result<imported_policy> import_as(std::string_view text, std::string& source, scheduler_kind as, const syntax& by) {
  const bool detects = as == scheduler_kind::detect;
  if (as == scheduler_kind::slurm || (detects && is_slurm_configuration(text))) return import_slurm(text);
  if (detects || as == scheduler_kind::kueue) {
    const result<json_document> documents = by.parse_stream(text, source);
    if (!documents) return documents.failure();
    const std::vector<json_value> objects = objects_in(documents->root());
    if (as == scheduler_kind::kueue || std::ranges::any_of(objects, is_of_kueue)) return import_kueue(objects);
  }
  result<json_document> document = by.parse(text, source);
  if (!document) return document.failure();
  if (const std::optional<std::string> inner = text_in_config_map(document->root())) {
    source += " (data)";
    document = by.parse(*inner, source);
    if (!document) return document.failure();
  }
  return import_document(document->root(), source, as);
}

/// Opens a session with the options: a value that no option takes is an error of the configuration.
result<void> check_options(const imported_policy& made) {
  engine with;
  result<std::shared_ptr<const device_catalog>> catalog = shipped_device_catalog();
  if (!catalog) return catalog.take_failure();
  with.set_device_catalog(std::move(*catalog));
  for (const auto& [option, value] : made.options) {
    if (auto done = with.set(option, value); !done) return done;
  }
  const result<session> opened = with.open(cluster().take_snapshot(), 0);
  return opened ? result<void>{} : result<void>{opened.failure()};
}

}  // namespace

result<scheduler_kind> scheduler_kind_named(std::string_view scheduler) {
  static constexpr std::array<std::pair<std::string_view, scheduler_kind>, 7> names{
      {{"", scheduler_kind::detect},
       {"kai", scheduler_kind::kai},
       {"kube-scheduler", scheduler_kind::kube_scheduler},
       {"kueue", scheduler_kind::kueue},
       {"slurm", scheduler_kind::slurm},
       {"volcano", scheduler_kind::volcano},
       {"yunikorn", scheduler_kind::yunikorn}}};
  for (const auto& [name, which] : names) {
    if (name == scheduler) return which;
  }
  return error{status::argument,
               fmt::format("scheduler {}: expected kai, kube-scheduler, kueue, slurm, volcano or yunikorn", scheduler),
               {}};
}

result<imported_policy> import_configuration(std::string_view text, std::string_view source, scheduler_kind as,
                                             const syntax& by) {
  std::string from(source);
  result<imported_policy> made = import_as(text, from, as, by);
  if (!made) return made;
  if (auto good = check_options(*made); !good) {
    error why = good.take_failure();
    why.message.insert(0, from + ": ");
    return why;
  }
  made->source = std::move(from);
  return made;
}

std::string scenario_text(const imported_policy& from) {
  return from.rows.empty() ? std::string{} : fmt::format("scenario 1\n{}\n", joined(from.rows, "\n"));
}

std::string format_json(const imported_policy& from) {
  using json = nlohmann::ordered_json;
  json report{{"schema", "kaisched-import/1"},
              {"from", from.of},
              {"options", json::object()},
              {"rows", from.rows},
              {"queue_rules", from.queue_rules.empty() ? json() : json::parse(from.queue_rules)},
              {"left_out", from.unmapped}};
  for (const auto& [option, value] : from.options) report["options"][option] = value;
  return report.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace kaisched::io::importers
