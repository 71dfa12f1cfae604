#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"
#include "io/kubernetes/quantity.hpp"

namespace kaisched::io::kubernetes {

std::string group_name(std::string_view name, std::string_view uid) { return fmt::format("pg-{}-{}", name, uid); }

std::string place_alone(const workload& of, placement& to) {
  to.group = group_name(of.pod.name(), of.pod.uid());
  return {};
}

sub_group_record& add_part(std::string_view name, std::string_view parent, std::int64_t pods, group_shape& to) {
  sub_group_record& row = to.sub_groups.emplace_back();
  row.name = name;
  row.parent = parent;
  row.min_member = pods;
  return row;
}

object* labelled_object(const workload& of, group_kind kind, std::string_view label) {
  const auto name = of.pod.label(label);
  return name ? of.objects.find(kind.group, kind.kind, of.pod.name_space(), *name) : nullptr;
}

std::string missing_object(const workload& of, group_kind kind, std::string_view label) {
  if (!of.objects.has_kind(kind)) return {};
  const auto name = of.pod.label(label);
  return name ? fmt::format("its {} {} is not among the objects", kind.kind, *name)
              : fmt::format("label {} is missing", label);
}

workload_owner above_owner(const workload& of, object& found) {
  workload_owner owner = as_owner(found);
  if (of.top().found != nullptr) owner.skipped.push_back(of.top().found);
  owner.skipped.insert(owner.skipped.end(), of.top().skipped.begin(), of.top().skipped.end());
  return owner;
}

void fail_at(object& of, member at, std::string_view what) { of.fail(at.value_or(of.root()), what); }

std::optional<std::int64_t> bounded_integer(object& of, member holder, std::string_view key, std::int64_t least,
                                            std::int64_t most) {
  const std::optional<std::int64_t> read = of.integer(holder, key);
  if (!read || (*read >= least && *read <= most)) return read;
  fail_at(of, find(holder, key), fmt::format("expected {} to {}, found {}", least, most, *read));
  return std::nullopt;
}

std::optional<std::int64_t> number_in_annotation(object& of, member annotations, std::string_view key,
                                                 std::int64_t least) {
  const member found = find(annotations, key);
  if (!found) return std::nullopt;
  const std::optional<std::int64_t> read = whole_number(of.text(annotations, key));
  if (read && *read >= least && *read <= max_group_size) return read;
  of.fail(*found,
          fmt::format("expected a whole number from {} to {}, found {}", least, max_group_size, found->shown()));
  return std::nullopt;
}

constraint_levels segment_levels(const workload& of, member template_annotations) {
  const auto text_of = [&](std::string_view key) -> std::string_view {
    const std::string_view own = of.pod.annotation(key).value_or("");
    if (!own.empty()) return own;
    return text_if_any(template_annotations, key);
  };
  constraint_levels levels;
  std::string_view topology = text_of(topology_key);
  if (topology.empty()) topology = of.top().annotation(topology_key).value_or("");
  const std::string_view required = text_of(segment_keys.required);
  const std::string_view preferred = text_of(segment_keys.preferred);
  if (topology.empty() || (required.empty() && preferred.empty())) return levels;
  return {std::string(topology), std::string(required), std::string(preferred)};
}

constraint_levels template_levels(object& of, member annotations) {
  constexpr topology_keys keys;
  constraint_levels levels;
  levels.required = of.text(annotations, keys.required);
  levels.preferred = of.text(annotations, keys.preferred);
  if (levels.required.empty() && levels.preferred.empty()) return {};
  levels.topology = of.text(annotations, topology_key);
  return levels;
}

}  // namespace kaisched::io::kubernetes
