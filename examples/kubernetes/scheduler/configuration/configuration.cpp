#include "configuration/configuration.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "api_server/bounded_json.hpp"
#include "api_server/credentials.hpp"
#include "api_server/object_fields.hpp"
#include "configuration/engine_options.hpp"
#include "configuration/fields.hpp"

namespace shim {

using nlohmann::json;

namespace {

/// A value of YAML as one of JSON: what is in quotes is a text.
json as_json(const YAML::Node& value) {
  if (value.IsSequence()) {
    json list = json::array();
    for (const YAML::Node& one : value) list.push_back(as_json(one));
    return list;
  }
  if (value.IsMap()) {
    json object = json::object();
    for (const auto& one : value) object[scalar(one.first)] = as_json(one.second);
    return object;
  }
  if (!value.IsScalar()) return nullptr;
  const std::string& text = value.Scalar();
  if (value.Tag() == "!") return text;
  json read = json::parse(text, nullptr, false);
  return read.is_number() || read.is_boolean() ? read : json(text);
}

void read_queue_rules(configuration& to, const YAML::Node& value) {
  const json rules = as_json(value);
  if (is_too_deep(rules)) throw bad_input("too deep");
  const std::string text = rules.dump(-1, ' ', false, json::error_handler_t::replace);
  try {
    (void)kaisched::abi::object_cache(kaisched::abi::options{{"queue_rules", text}});
  } catch (const kaisched::abi::failure& refused) {
    throw bad_input(refused.what());
  }
  to.objects.add("queue_rules", text);
}

const fields<configuration>& known_fields() {
  using namespace std::chrono_literals;
  static const fields<configuration> all{
      {"scheduler_name", [](configuration& to, const YAML::Node& value) { to.scheduler_name = some_text(value); }},
      {"kubeconfig", [](configuration& to, const YAML::Node& value) { to.kubeconfig = some_text(value); }},
      {"context", [](configuration& to, const YAML::Node& value) { to.context = some_text(value); }},
      {"period", [](configuration& to, const YAML::Node& value) { to.period = duration(value, 100ms); }},
      {"settle", [](configuration& to, const YAML::Node& value) { to.settle = duration(value, 0ms); }},
      {"explain_period", [](configuration& to, const YAML::Node& value) { to.explain_period = duration(value, 0ms); }},
      {"eviction",
       [](configuration& to, const YAML::Node& value) {
         to.eviction =
             one_of<eviction_form>(value, {{"delete", eviction_form::remove}, {"evict", eviction_form::evict}});
       }},
      {"disruption_budgets",
       [](configuration& to, const YAML::Node& value) {
         to.budgets = one_of<budget_use>(value, {{"ignore", budget_use::ignore}, {"respect", budget_use::respect}});
       }},
      {"checks_timeout", [](configuration& to, const YAML::Node& value) { to.checks.timeout = duration(value, 0ms); }},
      {"checks_retry", [](configuration& to, const YAML::Node& value) { to.checks.retry = duration(value, 100ms); }},
      {"suspended_jobs",
       [](configuration& to, const YAML::Node& value) {
         to.starts_jobs = one_of<bool>(value, {{"ignore", false}, {"start", true}});
       }},
      {"page_size", [](configuration& to, const YAML::Node& value) { to.page_size = number(value, 1, 10000); }},
      {"discovery_period",
       [](configuration& to, const YAML::Node& value) { to.discovery_period = duration(value, 100ms); }},
      {"leader_election", [](configuration& to, const YAML::Node& value) { read_election(value, to.election); }},
      {"node_pool",
       [](configuration& to, const YAML::Node& value) {
         to.node_pool = scalar(value);
         to.objects.add("node_pool", to.node_pool);
       }},
      {"node_pool_label",
       [](configuration& to, const YAML::Node& value) { to.objects.add("node_pool_label", some_text(value)); }},
      {"queue_label",
       [](configuration& to, const YAML::Node& value) { to.objects.add("queue_label", some_text(value)); }},
      {"queue_rules", read_queue_rules},
      {"later_members",
       [](configuration& to, const YAML::Node& value) {
         to.objects.add("later_members", truth(value) ? "true" : "false");
       }},
      {"extenders", [](configuration& to, const YAML::Node& value) { read_extenders(value, to.extenders); }},
      {"extender_limits",
       [](configuration& to, const YAML::Node& value) { read_extender_limits(value, to.extenders); }},
      {"extender", [](configuration& to, const YAML::Node& value) { read_extender(value, to.extender); }},
      {"server", [](configuration& to, const YAML::Node& value) { read_server(value, to.server); }},
      {"load", [](configuration& to, const YAML::Node& value) { read_load(value, to.load); }},
      {"usage", [](configuration& to, const YAML::Node& value) { read_usage(value, to.usage); }},
      {"sharing", [](configuration& to, const YAML::Node& value) { read_sharing(value, to.sharing); }},
      {"scaling", [](configuration& to, const YAML::Node& value) { read_scaling(value, to.scaling); }},
      {"recording", [](configuration& to, const YAML::Node& value) { read_recording(value, to.recording); }},
      {"webhook", [](configuration& to, const YAML::Node& value) { read_webhook(value, to.webhook); }},
      {"log",
       [](configuration& to, const YAML::Node& value) {
         to.log = one_of<log_form>(value, {{"text", log_form::text}, {"json", log_form::json}});
       }},
      {"engine",
       [](configuration& to, const YAML::Node& value) {
         // The engine would respect budgets that nobody reads.
         if (value.IsMap() && value["respect_disruption_budgets"])
           throw bad_input("respect_disruption_budgets: it is disruption_budgets: respect that says so");
         to.engine = engine_options(value, configuration{}.engine);
       }},
  };
  return all;
}

}  // namespace

configuration read_configuration(const std::filesystem::path& file) {
  YAML::Node root;
  try {
    root = YAML::Load(read_file(file));
  } catch (const YAML::Exception& fault) {
    throw bad_input(fmt::format("{}: no YAML: {}", file.string(), fault.what()));
  }
  configuration to;
  if (root.IsNull()) return to;
  try {
    read_fields(root, known_fields(), to);
  } catch (const bad_field& fault) {
    throw bad_input(fmt::format("{}:{}", file.string(), fault.what()));
  } catch (const bad_input& fault) {
    throw bad_input(fmt::format("{}: {}", file.string(), fault.what()));
  }
  if (to.budgets == budget_use::respect) to.engine.add("respect_disruption_budgets", "true");
  resolve_paths(to.server, file.parent_path());
  resolve_paths(to.extender, file.parent_path());
  resolve_paths(to.extenders, file.parent_path());
  resolve_paths(to.webhook, file.parent_path());
  resolve_paths(to.usage.prometheus, file.parent_path());
  resolve_paths(to.load.prometheus, file.parent_path());
  if (to.recording.file.is_relative() && to.recording.enabled())
    to.recording.file = file.parent_path() / to.recording.file;
  if (to.kubeconfig.is_relative() && !to.kubeconfig.empty()) to.kubeconfig = file.parent_path() / to.kubeconfig;
  return to;
}

std::chrono::milliseconds longest_write(const configuration& by) {
  return by.election.enabled ? by.election.lease_duration - by.election.renew_deadline : std::chrono::milliseconds(0);
}

}  // namespace shim
