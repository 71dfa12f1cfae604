#include "io/vendors/vendor_reader.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "io/fault_log.hpp"
#include "io/json_document.hpp"
#include "io/vendors/exchange_reader.hpp"
#include "io/vendors/field_reader.hpp"

namespace kaisched::io {

namespace {

using namespace devices;  // NOLINT(google-build-using-namespace): its names are the whole content of the file

template <class Enum>
using words = std::pair<std::string_view, Enum>;

constexpr std::array column_words{words<columns>{"limits_then_requests", columns::limits_then_requests},
                                  words<columns>{"limits", columns::limits}};
constexpr std::array claim_column_words{words<columns>{"limits", columns::limits},
                                        words<columns>{"limits_then_requests", columns::limits_then_requests}};
constexpr std::array bad_words{words<bad_number>{"refuse", bad_number::refuse},
                               words<bad_number>{"ignore", bad_number::ignore}};
constexpr std::array ignored_words{words<bad_number>{"ignore", bad_number::ignore},
                                   words<bad_number>{"refuse", bad_number::refuse}};
constexpr std::array memory_words{words<memory_rule>{"amount_or_share", memory_rule::amount_or_share},
                                  words<memory_rule>{"amount_or_whole", memory_rule::amount_or_whole},
                                  words<memory_rule>{"none", memory_rule::none},
                                  words<memory_rule>{"profile", memory_rule::profile}};
constexpr std::array cores_words{words<cores_rule>{"as_asked", cores_rule::as_asked},
                                 words<cores_rule>{"percent_of_device", cores_rule::percent_of_device},
                                 words<cores_rule>{"bits", cores_rule::bits},
                                 words<cores_rule>{"profile", cores_rule::profile}};
constexpr std::array usage_words{
    words<usage_rule>{"all", usage_rule::all}, words<usage_rule>{"slots_only", usage_rule::slots_only},
    words<usage_rule>{"slices", usage_rule::slices}, words<usage_rule>{"bits", usage_rule::bits}};
constexpr std::array set_words{words<set_kind>{"first", set_kind::first},
                               words<set_kind>{"best_links", set_kind::best_links},
                               words<set_kind>{"largest_groups", set_kind::largest_groups},
                               words<set_kind>{"full_groups", set_kind::full_groups},
                               words<set_kind>{"islands", set_kind::islands},
                               words<set_kind>{"runs", set_kind::runs},
                               words<set_kind>{"zones", set_kind::zones}};
constexpr std::array score_words{
    words<score_kind>{"none", score_kind::none}, words<score_kind>{"largest_group", score_kind::largest_group},
    words<score_kind>{"island_gaps", score_kind::island_gaps}, words<score_kind>{"size_table", score_kind::size_table},
    words<score_kind>{"tenants_and_zones", score_kind::tenants_and_zones}};
constexpr std::array admission_words{
    words<admission_kind>{"claim", admission_kind::claim},
    words<admission_kind>{"range", admission_kind::range},
    words<admission_kind>{"environment_of", admission_kind::environment_of},
    words<admission_kind>{"environment", admission_kind::environment},
    words<admission_kind>{"default_count", admission_kind::default_count},
    words<admission_kind>{"exclusive_cores", admission_kind::exclusive_cores},
    words<admission_kind>{"runtime_class", admission_kind::runtime_class},
    words<admission_kind>{"unclaimed_environment", admission_kind::unclaimed_environment},
    words<admission_kind>{"groups", admission_kind::groups},
    words<admission_kind>{"no_cores_unless_soft", admission_kind::no_cores_unless_soft},
    words<admission_kind>{"round_memory", admission_kind::round_memory},
    words<admission_kind>{"scale_by_count", admission_kind::scale_by_count},
    words<admission_kind>{"scale_single", admission_kind::scale_single},
    words<admission_kind>{"allowed_memory", admission_kind::allowed_memory},
    words<admission_kind>{"choice", admission_kind::choice},
    words<admission_kind>{"default_annotation", admission_kind::default_annotation},
    words<admission_kind>{"single_if_annotated", admission_kind::single_if_annotated},
    words<admission_kind>{"both_columns", admission_kind::both_columns},
    words<admission_kind>{"container_name", admission_kind::container_name},
    words<admission_kind>{"split_cores", admission_kind::split_cores}};

struct check_word {
  std::string_view name;
  check_step step;
};
constexpr std::array check_words{
    check_word{"health", {check::health, reason::card_not_health}},
    check_word{"cordon", {check::cordon, reason::card_cordoned}},
    check_word{"type", {check::type, reason::card_type_mismatch}},
    check_word{"model", {check::model, reason::card_type_mismatch}},
    check_word{"numa", {check::numa, reason::numa_not_fit}},
    check_word{"id", {check::id, reason::card_uuid_mismatch}},
    check_word{"slots", {check::slots, reason::card_time_slicing_exhausted}},
    check_word{"exclusive", {check::exclusive, reason::exclusive_device_allocate_conflict}},
    check_word{"idle", {check::idle, reason::exclusive_device_allocate_conflict}},
    check_word{"quota", {check::quota, reason::resource_quota_not_fit}},
    check_word{"memory", {check::memory, reason::card_insufficient_memory}},
    check_word{"cores", {check::cores, reason::card_insufficient_core}},
    check_word{"whole_exclusive", {check::whole_exclusive, reason::exclusive_device_allocate_conflict}},
    check_word{"exhausted", {check::exhausted, reason::card_compute_units_exhausted}},
    check_word{"equal_slices", {check::equal_slices, reason::card_not_found_custom_filter_rule}},
    check_word{"same_device", {check::same_device, reason::card_not_found_custom_filter_rule}},
    check_word{"profile", {check::profile, reason::card_mig_topology_infeasible}},
    check_word{"tenant_class", {check::tenant_class, reason::card_app_class_mismatch}},
    check_word{"service_class", {check::service_class, reason::card_qos_policy_mismatch}}};

template <class Enum, std::size_t N>
Enum word(field_reader& of, std::string_view name, const std::array<words<Enum>, N>& known) {
  return of.word<Enum>(name, std::span<const words<Enum>>(known));
}

list_keys read_list_keys(field_reader of) {
  list_keys keys{of.text("use"), of.text("avoid")};
  of.finish();
  return keys;
}

std::optional<attribute_is> read_condition(field_reader& owner, std::string_view name) {
  const std::optional<json_value> found = owner.object(name);
  if (!found) return std::nullopt;
  field_reader of = owner.inside(*found, name);
  of.require("attribute");
  attribute_is condition{of.text("attribute"), of.text("value")};
  of.finish();
  return condition;
}

void read_resources(field_reader& vendor, vendor_template& made) {
  const std::optional<json_value> found = vendor.object("resources");
  if (!found) return;
  field_reader of = vendor.inside(*found, "resources");
  made.count_name = of.text("count");
  made.memory_name = of.text("memory");
  made.memory_percent_name = of.text("memory_percent");
  made.core_name = of.text("cores");
  of.finish();
}

void read_annotations(field_reader& vendor, vendor_template& made) {
  const std::optional<json_value> found = vendor.object("annotations");
  if (!found) return;
  field_reader of = vendor.inside(*found, "annotations");
  if (const std::optional<json_value> types = of.object("types"))
    made.types = read_list_keys(of.inside(*types, "types"));
  std::size_t i = 0;
  for (const json_value pair : of.elements("ids")) made.ids.push_back(read_list_keys(of.inside(pair, "ids", i++)));
  made.modes = of.text("modes");
  made.bind_numa = of.text("bind_numa");
  made.exchange = {of.text("registered"),  of.text("links"),     of.text("handshake"),
                   of.text("to_allocate"), of.text("allocated"), of.text("instances")};
  of.finish();
}

std::optional<std::pair<std::int64_t, std::int64_t>> read_range(field_reader& of, std::string_view name) {
  const std::vector<std::int64_t> ends = of.integers(name);
  if (ends.size() == 2) return std::pair(ends[0], ends[1]);
  return std::nullopt;
}

void read_requests(field_reader& vendor, request_rules& made) {
  const std::optional<json_value> found = vendor.object("requests");
  if (!found) return;
  field_reader of = vendor.inside(*found, "requests");
  made.from = word(of, "from", column_words);
  made.positive_count = of.boolean("positive_count");
  made.memory_unit = of.mebibytes("memory_unit_mib", mebibyte);
  made.suffixes_are_bytes = of.boolean("suffixes_are_bytes");
  made.memory_fraction = word(of, "memory_fraction", bad_words);
  made.negative_memory_refused = of.boolean("negative_memory_refused", true);
  for (const std::int64_t step : of.integers("memory_steps_mib")) made.memory_steps.push_back(step * mebibyte);
  made.whole_by_amount = of.boolean("whole_by_amount");
  made.fixed_amounts = of.boolean("fixed_amounts");
  made.default_memory = of.mebibytes("default_memory_mib");
  made.default_permille = of.optional_integer("default_permille");
  made.default_cores = of.integer("default_cores");
  made.core_fraction = word(of, "core_fraction", ignored_words);
  made.core_range = read_range(of, "core_range");
  made.cores_rounded_up = of.boolean("cores_rounded_up");
  made.cores_of_memory = of.boolean("cores_of_memory");
  made.divided_by_count = of.boolean("divided_by_count");
  made.count_is_slices = of.boolean("count_is_slices");
  made.most_cores_per_device = of.integer("most_cores_per_device");
  of.finish();
}

admission_step read_admission(field_reader of) {
  admission_step step;
  of.require("do");
  step.kind = word(of, "do", admission_words);
  step.from = word(of, "from", claim_column_words);
  step.name = of.text("name");
  step.names = of.texts("names");
  step.text = of.text("text");
  step.value = of.text("value");
  step.low = of.integer("low");
  step.high = of.integer("high", INT64_MAX);
  step.values = of.integers("values");
  step.texts = of.texts("texts");
  step.claimed_on_error = of.boolean("claimed_on_error");
  of.finish();
  return step;
}

void read_checks(field_reader& vendor, vendor_template& made) {
  for (const json_value one : vendor.elements("checks")) {
    const bool named = one.is(json_kind::string);
    std::string_view name = named ? one.text() : std::string_view{};
    std::optional<field_reader> of;
    std::string what;
    if (one.is(json_kind::object)) {
      of.emplace(vendor.inside(one, "checks"));
      what = of->text("check");
      name = what;
    }
    const auto known =
        std::find_if(check_words.begin(), check_words.end(), [&](const check_word& w) { return w.name == name; });
    if (known == check_words.end()) {
      vendor.fail(one, "checks", fmt::format("no such check: {}", one.shown()));
      return;
    }
    made.checks.push_back(known->step);
    if (!of) continue;
    if (!find_reason(of->text("reason", reason_name(known->step.why)), made.checks.back().why)) {
      vendor.fail(one, "checks", "no such reason");
    }
    of->finish();
  }
}

set_rule read_set(field_reader of) {
  set_rule rule;
  of.require("choose");
  rule.kind = word(of, "choose", set_words);
  rule.attribute = of.text("attribute");
  rule.if_first = read_condition(of, "if_first");
  rule.group_size = of.integer("group_size");
  rule.counts = of.integers("counts");
  rule.islands = of.integer_lists("islands");
  std::size_t i = 0;
  for (const json_value one : of.elements("prefer_free")) {
    field_reader prefer = of.inside(one, "prefer_free", i++);
    rule.prefer_free.emplace_back(prefer.integer("count"), prefer.integers("free"));
    prefer.finish();
  }
  rule.across = of.integer_lists("across");
  rule.any_run_if = read_condition(of, "any_run_if");
  rule.take_whole = of.boolean("take_whole");
  rule.equal_slices = of.boolean("equal_slices");
  if (rule.kind == set_kind::full_groups && rule.group_size < 1) of.require("group_size");
  of.finish();
  return rule;
}

void read_score(field_reader& vendor, score_rule& made) {
  const std::optional<json_value> found = vendor.object("score");
  if (!found) return;
  field_reader of = vendor.inside(*found, "score");
  of.require("rule");
  made.kind = word(of, "rule", score_words);
  made.attribute = of.text("attribute");
  made.only_if = read_condition(of, "only_if");
  made.weight = of.integer("weight", 1);
  made.pack_table = of.text("pack_table");
  made.spread_table = of.text("spread_table");
  made.wish = of.text("wish");
  made.on = of.boolean("on");
  of.finish();
}

void read_classes(field_reader& vendor, vendor_template& made) {
  if (const std::optional<json_value> found = vendor.object("tenants")) {
    field_reader of = vendor.inside(*found, "tenants");
    made.tenants = tenant_classes{of.text("annotation"), of.text("first"), of.text("second")};
    of.finish();
  }
  if (const std::optional<json_value> found = vendor.object("service")) {
    field_reader of = vendor.inside(*found, "service");
    made.service = service_classes{of.text("annotation"), of.text("attribute"), of.text("fallback")};
    of.finish();
  }
  if (const std::optional<json_value> found = vendor.object("soft")) {
    field_reader of = vendor.inside(*found, "soft");
    made.soft = soft_division{of.text("annotation"), of.text("value"), of.integer("cores"), of.boolean("allowed"),
                              of.text("node")};
    of.finish();
  }
}

void read_sizes(field_reader& vendor, vendor_template& made) {
  std::size_t i = 0;
  for (const json_value one : vendor.elements("memory_steps")) {
    field_reader of = vendor.inside(one, "memory_steps", i++);
    made.memory_steps.push_back({of.text("name"), of.mebibytes("mib"), of.integer("cores"), of.integer("cpus")});
    of.finish();
  }
  std::sort(made.memory_steps.begin(), made.memory_steps.end(),
            [](const memory_step& a, const memory_step& b) { return a.memory < b.memory; });
  made.whole_memory = vendor.mebibytes("whole_memory_mib");
  made.memory_capacity = vendor.mebibytes("memory_capacity_mib", made.whole_memory);
}

vendor_template read_vendor(field_reader of, std::string key) {
  vendor_template made;
  made.key = std::move(key);
  static_cast<void>(of.text("key"));
  made.description = of.text("description");
  read_resources(of, made);
  read_annotations(of, made);
  read_found(of, made);
  read_tells(of, made);
  read_requests(of, made.requests);
  std::size_t i = 0;
  for (const json_value one : of.elements("admission"))
    made.admission.push_back(read_admission(of.inside(one, "admission", i++)));
  read_sizes(of, made);
  read_checks(of, made);
  made.memory = word(of, "memory", memory_words);
  made.cores = word(of, "cores", cores_words);
  made.core_cap = of.integer("core_cap");
  i = 0;
  for (const json_value one : of.elements("sets")) made.sets.push_back(read_set(of.inside(one, "sets", i++)));
  made.exclusive_group = of.text("exclusive_group");
  made.usage = word(of, "usage", usage_words);
  made.usage_attribute = of.text("usage_attribute");
  made.repeat_divided = of.boolean("repeat_divided");
  made.grants_carry_attributes = of.boolean("grants_carry_attributes");
  made.grants_name_model = of.boolean("grants_name_model");
  read_score(of, made.score);
  read_classes(of, made);
  of.finish();
  return made;
}

/// The schema of a file, and what every file may say about itself.
field_reader open_file(const json_document& document, std::string_view schema, fault_log& faults) {
  field_reader file(document.root(), {}, {}, faults);
  const std::string written = file.text("schema");
  if (written != schema && !faults.failed()) {
    faults.add(document.root().line(), "schema", fmt::format("expected \"{}\", found \"{}\"", schema, written));
  }
  static_cast<void>(file.text("description"));
  static_cast<void>(file.text("source"));
  return file;
}

slice_profile read_profile(field_reader of) {
  slice_profile made;
  of.require("name");
  made.name = of.text("name");
  made.id = of.text("id");
  made.memory = of.mebibytes("mib");
  made.cores = of.integer("cores");
  made.slices = of.integer("slices");
  const std::int64_t size = of.integer("size", 1);
  for (const std::int64_t start : of.integers("starts")) made.placements.push_back({start, size});
  of.finish();
  return made;
}

}  // namespace

result<vendor_catalog> read_vendors(std::string_view text, std::string_view source) {
  const result<json_document> document = json_document::parse(text, source);
  if (!document) return document.failure();
  fault_log faults(source);
  field_reader file = open_file(*document, vendor_schema, faults);
  const std::optional<json_value> common = file.object("common");
  vendor_catalog made;
  std::size_t i = 0;
  file.require("vendors");
  for (const json_value one : file.elements("vendors")) {
    field_reader named(one, fmt::format("vendors[{}]", i++), {}, faults);
    named.require("key");
    const std::string key = named.text("key");
    if (key.empty() && !faults.failed()) named.fail(one, "key", "expected a key of at least one character");
    field_reader of(one, key.empty() ? std::string("vendors") : key, key, faults);
    if (common) of.add_defaults(*common);
    made.push_back(read_vendor(std::move(of), key));
  }
  file.finish();
  if (faults.failed()) return faults.take();
  return made;
}

result<std::vector<divided_model>> read_divided_models(std::string_view text, std::string_view source) {
  const result<json_document> document = json_document::parse(text, source);
  if (!document) return document.failure();
  fault_log faults(source);
  field_reader file = open_file(*document, divided_schema, faults);
  std::vector<divided_model> made;
  std::size_t i = 0;
  file.require("models");
  for (const json_value one : file.elements("models")) {
    field_reader of = file.inside(one, "models", i++);
    divided_model model;
    model.models = of.texts("models");
    model.memory = of.mebibytes("mib");
    model.slices = of.integer("slices");
    static_cast<void>(of.text("source"));
    std::size_t p = 0;
    for (const json_value profile : of.elements("profiles")) {
      model.profiles.push_back(read_profile(of.inside(profile, "profiles", p++)));
    }
    of.finish();
    made.push_back(std::move(model));
  }
  file.finish();
  if (faults.failed()) return faults.take();
  return made;
}

void add_vendors(vendor_catalog& to, vendor_catalog more) {
  for (vendor_template& one : more) {
    const auto at =
        std::lower_bound(to.begin(), to.end(), one.key,
                         [](const vendor_template& known, const std::string& key) { return known.key < key; });
    if (at != to.end() && at->key == one.key) {
      *at = std::move(one);
    } else {
      to.insert(at, std::move(one));
    }
  }
}

result<shipped_devices> read_shipped_devices() {
  shipped_devices made;
  for (const shipped_file& file : shipped_vendor_files()) {
    if (file.text.find(divided_schema) != std::string_view::npos) {
      result<std::vector<divided_model>> models = read_divided_models(file.text, file.name);
      if (!models) return models.failure();
      made.divided.insert(made.divided.end(), models->begin(), models->end());
    } else {
      result<vendor_catalog> vendors = read_vendors(file.text, file.name);
      if (!vendors) return vendors.failure();
      add_vendors(made.vendors, std::move(*vendors));
    }
  }
  return made;
}

}  // namespace kaisched::io
