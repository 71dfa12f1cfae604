// Scenarios as statements that can be left out.
#include "io/scenario/parts.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "io/scenario/cells.hpp"
#include "io/scenario/part_amounts.hpp"
#include "io/scenario/rows.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io::scenario_text {

namespace {

std::string settings_text(std::string_view verb, const scenario_settings& settings) {
  std::string out(verb);
  for (const auto& [name, value] : settings)
    out += fmt::format(" {}={}", name, quoted_if_needed(value, text_place::value));
  return out;
}

std::string settle_text(const scenario_settle& settle) {
  std::string out = "settle";
  if (settle.evicted == scenario_settle::evicted_pods::releasing) out += " evicted=releasing";
  if (settle.evicted == scenario_settle::evicted_pods::gone) out += " evicted=gone";
  if (!settle.keeps_nominations) out += " nominations=forgotten";
  std::vector<std::string> groups;
  groups.reserve(settle.groups.size());
  for (const std::string& group : settle.groups) groups.push_back(quoted_if_needed(group, text_place::element));
  if (!groups.empty()) out += fmt::format(" groups=[{}]", fmt::join(groups, ","));
  return out;
}

/// Makes the parts of a scenario, step by step.
class part_maker {
 public:
  explicit part_maker(const scenario& from) {
    std::int64_t now = 0;
    for (const scenario_step& step : from.steps) {
      if (step.now != now) add_step(fmt::format("now {}", format_time(step.now)));
      now = step.now;
      std::visit([&](const auto& one) { take(one); }, step.what);
    }
  }
  [[nodiscard]] part_list made() { return std::move(parts_); }

 private:
  void add_step(std::string text) { parts_.push_back({std::nullopt, std::move(text), std::nullopt, {}, {}}); }
  void take(const scenario_delta& delta) {
    for (const table& one : delta.tables) {
      const table_view view = one.view();
      for (std::uint64_t row = 0; row < view.rows; ++row) {
        parts_.emplace_back().row = row_as_text(view, row, delta.dimensions);
        parts_.back().refer();
      }
    }
  }
  void take(const scenario_option& option) { add_step(settings_text("option", option.settings)); }
  void take(const scenario_run& run) { add_step(settings_text("run", run.settings)); }
  void take(const scenario_settle& settle) {
    add_step(settle_text(settle));
    parts_.back().settle = settle;
  }

  part_list parts_;
};

bool is_gone(const std::string& group, const std::set<reference>& gone) {
  return gone.contains({entity_kind::pod_group, group});
}
/// Without names of groups it would be about all of them.
bool loses_all_groups(const part& one, const std::set<reference>& gone) {
  return one.settle && !one.settle->groups.empty() &&
         std::all_of(one.settle->groups.begin(), one.settle->groups.end(),
                     [&](const std::string& group) { return is_gone(group, gone); });
}
part without_groups(part one, const std::set<reference>& gone) {
  if (!one.settle) return one;
  std::erase_if(one.settle->groups, [&](const std::string& group) { return is_gone(group, gone); });
  one.text = settle_text(*one.settle);
  return one;
}

/// Marks what refers to parts that are marked, and so on; returns what is no longer there.
std::set<reference> mark_dependents(const part_list& from, std::vector<bool>& out) {
  std::set<reference> gone;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (out[i]) {
        gone.insert(from[i].names.begin(), from[i].names.end());
        continue;
      }
      out[i] = std::any_of(from[i].needs.begin(), from[i].needs.end(),
                           [&](const reference& one) { return gone.contains(one); });
      more = more || out[i];
    }
  }
  return gone;
}

/// Marks groups of which all pods are marked; true if there are any.
bool mark_emptied(const part_list& from, std::vector<bool>& out) {
  std::map<reference, bool> keeps_pods;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!from[i].adds(entity_kind::pod)) continue;
    for (const reference& one : from[i].needs) {
      if (one.first == entity_kind::pod_group) keeps_pods[one] = keeps_pods[one] || !out[i];
    }
  }
  bool any = false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (out[i] || !from[i].adds(entity_kind::pod_group)) continue;
    const auto found = keeps_pods.find(*from[i].names.begin());
    if (found == keeps_pods.end() || found->second) continue;
    out[i] = any = true;
  }
  return any;
}

}  // namespace

const std::string* part::find(std::string_view key) const {
  if (!row) return nullptr;
  const auto found =
      std::find_if(row->fields.begin(), row->fields.end(), [&](const auto& field) { return field.first == key; });
  return found == row->fields.end() ? nullptr : &found->second;
}

void part::refer() {
  names.clear();
  needs.clear();
  const auto kind = static_cast<entity_kind>(row->kind->kind);
  const column_info* owner = owner_column(*row->kind);
  const bool local = owner != nullptr && kind != entity_kind::pod && kind != entity_kind::pod_group;
  if (!local) (row->op == table_op::add ? names : needs).emplace(kind, row->name);
  for (const column_info& column : row->kind->columns) {
    if (column.refers_to == entity_kind::none) continue;
    const std::string* value = find(column.name);
    if (value == nullptr) continue;
    for (std::string& name : names_in(*value)) {
      if (!name.empty()) needs.emplace(column.refers_to, std::move(name));
    }
  }
}

part_list parts_of(const scenario& from) { return part_maker(from).made(); }

part_frame frame_of(const scenario& from) {
  part_frame made{from.title, from.source, {}};
  for (const std::string& rule : from.rules) made.rules += " " + rule;
  return made;
}

std::string text_of(const part_frame& frame, const part_list& parts) {
  std::string out = fmt::format("scenario {}", scenario_version);
  if (!frame.title.empty()) out += " " + quoted_if_needed(frame.title, text_place::word);
  out += "\n";
  if (!frame.rules.empty()) out += "rule" + frame.rules + "\n";
  for (const part& one : parts) out += (one.row ? one.row->line() : one.text) + "\n";
  return out;
}

scenario_size size_of(const part_list& parts) {
  scenario_size found;
  found.statements = parts.size();
  const auto count = [&](entity_kind kind) {
    return static_cast<std::size_t>(
        std::count_if(parts.begin(), parts.end(), [&](const part& one) { return one.adds(kind); }));
  };
  found.nodes = count(entity_kind::node);
  found.queues = count(entity_kind::queue);
  found.groups = count(entity_kind::pod_group);
  found.pods = count(entity_kind::pod);
  return found;
}

bool is_required(const row_text& row, std::string_view key) {
  const column_info* owner = owner_column(*row.kind);
  return std::any_of(row.kind->columns.begin(), row.kind->columns.end(), [&](const column_info& column) {
    return column.name == key && (column.required || &column == owner) && &column != amounts_column(*row.kind);
  });
}

std::optional<part_list> without(const part_list& from, std::span<const std::size_t> removed, with_them also) {
  std::vector<bool> out(from.size(), false);
  for (const std::size_t one : removed) out[one] = true;
  std::set<reference> gone = mark_dependents(from, out);
  if (also != with_them::dependents) {
    const bool more = mark_emptied(from, out);
    if (more) gone = mark_dependents(from, out);
    if (also == with_them::emptied && !more) return std::nullopt;
  }
  part_list all = from;
  if (also == with_them::share && !take_shares(all, out)) return std::nullopt;
  part_list left;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!out[i] && !loses_all_groups(all[i], gone)) left.push_back(without_groups(std::move(all[i]), gone));
  }
  return left;
}

}  // namespace kaisched::io::scenario_text
