#include "configuration/configuration.hpp"

#include <initializer_list>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include "api_server/bounded_json.hpp"
#include "api_server/credentials.hpp"
#include "api_server/object_fields.hpp"
#include "configuration/engine_options.hpp"
#include "configuration/fields.hpp"
#include "configuration/sections.hpp"

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

/// As a text of JSON that the engine takes.
std::string queue_rules(const YAML::Node& value) {
  const json rules = as_json(value);
  if (is_too_deep(rules)) throw bad_input("too deep");
  std::string text = one_line(rules);
  try {
    (void)kaisched::abi::object_cache(kaisched::abi::options{{"queue_rules", text}});
  } catch (const kaisched::abi::failure& refused) {
    throw bad_input(refused.what());
  }
  return text;
}

/// An option of what the engine reads objects with.
template <class Read>
auto object_option(const char* name, Read read) {
  return [=](configuration& to, const YAML::Node& value) { to.objects.add(name, read(value)); };
}

/// A section of the configuration.
template <class Settings>
auto section(Settings configuration::* of) {
  return [of](configuration& to, const YAML::Node& value) { read_section(value, to.*of); };
}

void read_engine(configuration& to, const YAML::Node& value) {
  // The engine would respect budgets that the program does not read.
  if (value.IsMap() && value["respect_disruption_budgets"])
    throw bad_input("respect_disruption_budgets: it is disruption_budgets: respect that says so");
  to.engine = engine_options(value, configuration{}.engine);
}

const fields<configuration>& known_fields() {
  using namespace std::chrono_literals;
  using settings = configuration;
  static const fields<configuration> all{
      {"scheduler_name", member(&settings::scheduler_name, some_text)},
      {"kubeconfig", member(&settings::kubeconfig, some_text)},
      {"context", member(&settings::context, some_text)},
      {"period", member(&settings::period, duration, 100ms)},
      {"settle", member(&settings::settle, duration, 0ms)},
      {"explain_period", member(&settings::explain_period, duration, 0ms)},
      {"eviction", word(&settings::eviction, {{"delete", eviction_form::remove}, {"evict", eviction_form::evict}})},
      {"disruption_budgets",
       word(&settings::budgets, {{"ignore", budget_use::ignore}, {"respect", budget_use::respect}})},
      {"checks_timeout", inside(&settings::checks, member(&checks_settings::timeout, duration, 0ms))},
      {"checks_retry", inside(&settings::checks, member(&checks_settings::retry, duration, 100ms))},
      {"suspended_jobs", word(&settings::starts_jobs, {{"ignore", false}, {"start", true}})},
      {"page_size", member(&settings::page_size, number, 1, 10000)},
      {"discovery_period", member(&settings::discovery_period, duration, 100ms)},
      {"leader_election", section(&settings::election)},
      {"node_pool",
       [](configuration& to, const YAML::Node& value) {
         to.node_pool = scalar(value);
         to.objects.add("node_pool", to.node_pool);
       }},
      {"node_pool_label", object_option("node_pool_label", some_text)},
      {"queue_label", object_option("queue_label", some_text)},
      {"queue_rules", object_option("queue_rules", queue_rules)},
      {"later_members",
       object_option("later_members", [](const YAML::Node& value) { return truth(value) ? "true" : "false"; })},
      {"extenders", [](configuration& to, const YAML::Node& value) { read_extenders(value, to.extenders); }},
      {"extender_limits",
       [](configuration& to, const YAML::Node& value) { read_extender_limits(value, to.extenders); }},
      {"extender", section(&settings::extender)},
      {"server", section(&settings::server)},
      {"load", section(&settings::load)},
      {"usage", section(&settings::usage)},
      {"sharing", section(&settings::sharing)},
      {"scaling", section(&settings::scaling)},
      {"recording", section(&settings::recording)},
      {"webhook", section(&settings::webhook)},
      {"log", word(&settings::log, {{"text", log_form::text}, {"json", log_form::json}})},
      {"engine", read_engine},
  };
  return all;
}

/// Paths that are not absolute are those of the configuration's folder.
void resolve_paths(configuration& of, const std::filesystem::path& folder) {
  std::vector<std::filesystem::path*> all{&of.kubeconfig,          &of.recording.file,
                                          &of.usage.prometheus.ca, &of.usage.prometheus.token_file,
                                          &of.load.prometheus.ca,  &of.load.prometheus.token_file};
  for (server_options* one : std::initializer_list<server_options*>{&of.server, &of.extender, &of.webhook}) {
    all.insert(all.end(), {&one->certificate, &one->key, &one->client_ca, &one->token_file, &one->usage_token_file});
  }
  for (asked_extender& one : of.extenders.all) all.insert(all.end(), {&one.token_file, &one.ca});
  for (std::filesystem::path* one : all) {
    if (!one->empty() && one->is_relative()) *one = folder / *one;
  }
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
  resolve_paths(to, file.parent_path());
  return to;
}

std::chrono::milliseconds longest_write(const configuration& by) {
  return by.election.enabled ? by.election.lease_duration - by.election.renew_deadline : std::chrono::milliseconds(0);
}

}  // namespace shim
