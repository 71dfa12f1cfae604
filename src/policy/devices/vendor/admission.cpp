#include "policy/devices/vendor/admission.hpp"

#include <algorithm>
#include <numeric>

namespace kaisched::devices {

namespace {

/// One container going through the steps of one vendor.
class admitting {
 public:
  admitting(const vendor_template& vendor, admitted_container& container) : vendor_(vendor), container_(container) {}

  admission_result run() {
    for (const admission_step& step : vendor_.admission) {
      take(step);
      if (!result_.error.empty()) {
        result_.claimed = step.claimed_on_error;
        return result_;
      }
      if (ended_) break;
    }
    return result_;
  }

 private:
  void take(const admission_step& step) {
    switch (step.kind) {
      case admission_kind::claim:
        return claim(step);
      case admission_kind::range:
        return check_range(step);
      case admission_kind::environment_of:
        return set_environment_of(step);
      case admission_kind::environment:
        return add_variable(step.text, step.value);
      case admission_kind::default_count:
        return set_default_count(step);
      case admission_kind::exclusive_cores:
        return set_exclusive_cores(step);
      case admission_kind::runtime_class:
        return set_runtime_class(step);
      case admission_kind::unclaimed_environment:
        if (!result_.claimed) container_.environment.emplace_back(step.text, step.value);
        return;
      case admission_kind::groups:
        return round_to_groups(step);
      case admission_kind::no_cores_unless_soft:
        return refuse_cores();
      case admission_kind::round_memory:
        return round_memory(step);
      case admission_kind::scale_by_count:
        return scale_by_count(step);
      case admission_kind::scale_single:
        return scale_single(step);
      case admission_kind::allowed_memory:
        return check_memory(step);
      case admission_kind::choice:
        return check_choice(step);
      case admission_kind::default_annotation:
        return set_default_annotation(step);
      case admission_kind::single_if_annotated:
        return check_single(step);
      case admission_kind::both_columns:
        return copy_columns(step);
      case admission_kind::container_name:
        return add_name(step);
      case admission_kind::split_cores:
        return check_split(step);
    }
  }

  [[nodiscard]] const quantity* find(const std::string& name, columns from) const {
    return find_quantity(container_.resources, name, from);
  }
  [[nodiscard]] const quantity* find_any(const std::vector<std::string>& names, columns from) const {
    for (const std::string& name : names) {
      if (const quantity* found = find(name, from)) return found;
    }
    return nullptr;
  }
  [[nodiscard]] std::int64_t count() const {
    const quantity* found = find(vendor_.count_name, columns::limits_then_requests);
    return found == nullptr ? 0 : found->value;
  }
  [[nodiscard]] const std::string* annotation(const std::string& key) const {
    const auto& all = container_.pod_annotations;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == key; });
    return found == all.end() ? nullptr : &found->second;
  }
  [[nodiscard]] bool is_soft() const {
    if (!vendor_.soft) return false;
    const std::string* const value = annotation(vendor_.soft->annotation);
    return value != nullptr && *value == vendor_.soft->value;
  }

  static void set(quantities& among, const std::string& name, std::int64_t value) {
    const auto found = std::find_if(among.begin(), among.end(), [&](const auto& one) { return one.first == name; });
    if (found == among.end()) {
      among.emplace_back(name, quantity{value, true, value < 0, false});
    } else {
      found->second = {value, true, value < 0, false};
    }
  }
  void set_limit(const std::string& name, std::int64_t value) { set(container_.resources.limits, name, value); }
  void add_variable(const std::string& name, const std::string& value) {
    if (!value.empty()) container_.environment.emplace_back(name, value);
  }
  void set_annotation(const std::string& key, const std::string& value) {
    auto& all = container_.pod_annotations;
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == key; });
    if (found == all.end()) {
      all.emplace_back(key, value);
    } else {
      found->second = value;
    }
  }

  void claim(const admission_step& step) {
    result_.claimed = find_any(step.names, step.from) != nullptr;
    asked_ = count();
    if (result_.claimed) return;
    ended_ = true;
    if (!step.text.empty()) container_.environment.emplace_back(step.text, step.value);
  }

  void check_range(const admission_step& step) {
    const quantity* found = find(step.name, step.from);
    if (found == nullptr || (!step.names.empty() && find_any(step.names, step.from) == nullptr)) return;
    if (find_any(step.texts, step.from) != nullptr) return;
    const bool fraction = !found->integer && step.value == "integer";
    if (!fraction && found->value >= step.low && found->value <= step.high) return;
    result_.error = step.name + " is " + std::to_string(found->value) + ", expected " +
                    (step.value == "integer" ? "an integer " : "") + "from " + std::to_string(step.low) + " to " +
                    std::to_string(step.high);
  }

  void set_environment_of(const admission_step& step) {
    if (const quantity* found = find(step.name, columns::limits)) {
      container_.environment.emplace_back(step.text, std::to_string(found->value));
    }
  }

  void set_default_count(const admission_step& step) {
    result_.claimed = find(vendor_.count_name, columns::limits) != nullptr;
    if (result_.claimed || step.low <= 0 || find_any(step.names, columns::limits) == nullptr) return;
    set_limit(vendor_.count_name, step.low);
    result_.claimed = true;
  }

  /// A device without any amounts, or with all of its memory, is meant for one container alone.
  void set_exclusive_cores(const admission_step& step) {
    constexpr columns both = columns::limits_then_requests;
    if (find(vendor_.count_name, both) == nullptr || vendor_.core_name.empty()) return;
    if (find(vendor_.core_name, both) != nullptr) return;
    const quantity* share = find(vendor_.memory_percent_name, both);
    const bool whole = share != nullptr ? share->value == 100 : find(vendor_.memory_name, both) == nullptr;
    if (!whole) return;
    set_limit(vendor_.core_name, step.low);
    result_.claimed = true;
  }

  void set_runtime_class(const admission_step& step) {
    if (result_.claimed && container_.runtime_class.empty()) container_.runtime_class = step.value;
  }

  void round_to_groups(const admission_step& step) {
    const std::int64_t asked = count();
    if (asked == 1) {
      set_limit(vendor_.count_name, step.low);
      if (std::any_of(container_.resources.requests.begin(), container_.resources.requests.end(),
                      [&](const auto& one) { return one.first == vendor_.count_name; })) {
        set(container_.resources.requests, vendor_.count_name, step.low);
      }
    } else if (asked % step.low != 0) {
      result_.error = vendor_.count_name + " is " + std::to_string(asked) + ", expected 1 or a multiple of " +
                      std::to_string(step.low);
    }
  }

  void refuse_cores() {
    const quantity* found = find(vendor_.core_name, columns::limits_then_requests);
    if (found != nullptr && found->value > 0 && !is_soft()) {
      result_.error = vendor_.core_name + " is only for devices that are divided in software";
    }
  }

  /// Bytes of the step that serves an amount; 0: none does.
  [[nodiscard]] std::int64_t step_for(std::int64_t amount) const {
    for (const memory_step& step : vendor_.memory_steps) {
      if (amount <= step.memory) return step.memory;
    }
    return amount <= vendor_.memory_capacity ? vendor_.whole_memory : 0;
  }

  void round_memory(const admission_step& step) {
    const quantity* found = find(vendor_.memory_name, columns::limits);
    if (vendor_.memory_name.empty() || (found == nullptr && step.value == "if_stated")) return;
    const std::int64_t unit = vendor_.requests.memory_unit;
    std::int64_t memory = vendor_.whole_memory / unit;
    if (found != nullptr) memory = is_soft() ? found->value : step_for(found->value * unit) / unit;
    if (memory <= 0 && found != nullptr && !is_soft()) {
      result_.error = vendor_.memory_name + " is " + std::to_string(found->value) + ", more than a device has";
      return;
    }
    if (step.value == "whole_if_many" && asked_ > 1 && !is_soft() && memory != vendor_.whole_memory / unit) {
      result_.error = "parts of devices are not for containers with several devices";
      result_.claimed = true;
      return;
    }
    set_limit(vendor_.memory_name, memory);
    set(container_.resources.requests, vendor_.memory_name, memory);
  }

  void scale(const admission_step& step, std::int64_t by) {
    for (std::size_t i = 0; i < step.names.size() && i < step.values.size(); ++i) {
      set_limit(step.names[i], by * step.values[i]);
    }
  }
  void scale_by_count(const admission_step& step) {
    const std::int64_t asked = count();
    if (asked <= 1) return;
    scale(step, asked);
    if (!step.text.empty()) {
      set_annotation(step.text, std::to_string(asked));
      ended_ = true;
    }
  }
  void scale_single(const admission_step& step) {
    if (find(vendor_.memory_name, columns::limits) == nullptr) scale(step, count());
  }

  void check_memory(const admission_step& step) {
    const quantity* found = find(vendor_.memory_name, columns::limits);
    const std::int64_t value = found == nullptr ? 0 : found->integer ? found->value : 0;
    if (found == nullptr || std::find(step.values.begin(), step.values.end(), value) != step.values.end()) return;
    result_.error = vendor_.memory_name + " is " + std::to_string(value) + ", which is none of the sizes of a device";
  }

  void check_choice(const admission_step& step) {
    const std::string* value = annotation(step.name);
    if (value == nullptr || std::find(step.texts.begin(), step.texts.end(), *value) != step.texts.end()) return;
    if (vendor_.service && step.name == vendor_.service->annotation && is_of_first_class()) return;
    result_.error = step.name + " must be set one of [";
    for (std::size_t i = 0; i < step.texts.size(); ++i) result_.error += (i == 0 ? "" : ", ") + step.texts[i];
    result_.error += "]";
  }
  [[nodiscard]] bool is_of_first_class() const {
    if (!vendor_.tenants) return false;
    const std::string* const named = annotation(vendor_.tenants->annotation);
    return named != nullptr && *named == vendor_.tenants->first;
  }
  void set_default_annotation(const admission_step& step) {
    if (!is_of_first_class() && annotation(step.name) == nullptr) set_annotation(step.name, step.value);
  }
  void check_single(const admission_step& step) {
    if (annotation(step.name) != nullptr && count() != 1) result_.error = step.text;
  }

  void copy_columns(const admission_step& step) {
    for (const std::string& name : step.names) {
      const quantity* found = find(name, columns::limits_then_requests);
      if (found == nullptr) continue;
      const quantity value = *found;
      for (quantities* column : {&container_.resources.limits, &container_.resources.requests}) {
        const auto there =
            std::any_of(column->begin(), column->end(), [&](const auto& one) { return one.first == name; });
        if (!there) column->emplace_back(name, value);
      }
      if (step.value == "first") {
        ended_ = true;
        return;
      }
    }
  }

  void add_name(const admission_step& step) {
    const auto& all = container_.environment;
    const auto there = std::any_of(all.begin(), all.end(), [&](const auto& one) { return one.first == step.text; });
    if (!there) add_variable(step.text, container_.name);
  }

  void check_split(const admission_step& step) {
    if (find(vendor_.count_name, step.from) != nullptr) return;
    const quantity* found = find(vendor_.core_name, step.from);
    if (found == nullptr || split_cores(found->value, vendor_.requests.most_cores_per_device)) return;
    result_.error = vendor_.core_name + " is " + std::to_string(found->value) + ", expected 1 or a multiple of " +
                    std::to_string(vendor_.requests.most_cores_per_device);
  }

  const vendor_template& vendor_;
  admitted_container& container_;
  std::int64_t asked_ = 0;  ///< devices, before any step has changed it
  admission_result result_{};
  bool ended_ = false;
};

}  // namespace

admission_result admit(const vendor_template& vendor, admitted_container& container) {
  return admitting(vendor, container).run();
}

}  // namespace kaisched::devices
