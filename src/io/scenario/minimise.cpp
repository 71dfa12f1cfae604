#include "io/scenario/minimise.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/scenario/cells.hpp"
#include "io/scenario/rows.hpp"
#include "io/scenario/text.hpp"
#include "io/scenario/write.hpp"

namespace kaisched::io {

namespace {

using scenario_text::quoted_if_needed;
using scenario_text::row_text;
using scenario_text::text_place;

using reference = std::pair<entity_kind, std::string>;  ///< an entity by its name

/// A statement that can be left out: a row, or a step.
struct part {
  std::optional<row_text> row;
  std::string text;  ///< of a step
  std::optional<scenario_settle> settle;
  std::set<reference> names;  ///< what a row adds
  std::set<reference> needs;  ///< what it refers to
};

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

/// The names in a value: a text or a list.
std::vector<std::string> names_in(const std::string& written) {
  const auto parsed = scenario_text::split("x y=" + written, "");
  std::vector<std::string> names;
  if (!parsed || parsed->size() != 1) return names;
  for (const auto& word : parsed->front().items.back().given.items) names.push_back(word.text);
  return names;
}

part part_of_row(row_text row) {
  part made;
  const auto kind = static_cast<entity_kind>(row.kind->kind);
  const column_info* owner = scenario_text::owner_column(*row.kind);
  const bool local = owner != nullptr && kind != entity_kind::pod && kind != entity_kind::pod_group;
  if (!local) (row.op == table_op::add ? made.names : made.needs).emplace(kind, row.name);
  for (const column_info& column : row.kind->columns) {
    if (column.refers_to == entity_kind::none) continue;
    for (const auto& [key, value] : row.fields) {
      if (key != column.name) continue;
      for (std::string& name : names_in(value)) {
        if (!name.empty()) made.needs.emplace(column.refers_to, std::move(name));
      }
    }
  }
  made.row = std::move(row);
  return made;
}

/// Without these a row would be another one's, or none.
bool is_required(const row_text& row, std::string_view key) {
  const column_info* owner = scenario_text::owner_column(*row.kind);
  return std::any_of(row.kind->columns.begin(), row.kind->columns.end(), [&](const column_info& column) {
    return column.name == key && (column.required || &column == owner) &&
           &column != scenario_text::amounts_column(*row.kind);
  });
}

class minimiser {
 public:
  minimiser(const scenario& from, const minimise_setup& how) : how_(how), title_(from.title), source_(from.source) {
    for (const std::string& rule : from.rules) rules_ += " " + rule;
    std::int64_t now = 0;
    for (const scenario_step& step : from.steps) {
      if (step.now != now) add_step(fmt::format("now {}", scenario_text::format_time(step.now)));
      now = step.now;
      std::visit([&](const auto& one) { take(one); }, step.what);
    }
    made_.statements_before = parts_.size();
  }

  result<minimised> run() {
    if (!try_parts(parts_)) {
      return error{
          status::argument, fmt::format("{}: what is to stay true is not true of the scenario itself", source_), {}};
    }
    bool smaller = true;
    while (smaller && !out_of_trials()) {
      smaller = false;
      for (const entity_kind kind : {entity_kind::pod_group, entity_kind::node, entity_kind::queue, entity_kind::pod}) {
        smaller = remove_entities([&](const part& one) {
                    return one.row && !one.names.empty() && one.names.begin()->first == kind;
                  }) ||
                  smaller;
      }
      smaller = remove_entities([](const part&) { return true; }) || smaller;
      smaller = drop_fields() || smaller;
    }
    made_.text = text_of(parts_);
    made_.statements = parts_.size();
    made_.finished = !out_of_trials();
    return std::move(made_);
  }

 private:
  void add_step(std::string text) { parts_.push_back({std::nullopt, std::move(text), std::nullopt, {}, {}}); }

  void take(const scenario_delta& delta) {
    for (const table& one : delta.tables) {
      const table_view view = one.view();
      for (std::uint64_t row = 0; row < view.rows; ++row) {
        parts_.push_back(part_of_row(scenario_text::row_as_text(view, row, delta.dimensions)));
      }
    }
  }
  void take(const scenario_option& option) { add_step(settings_text("option", option.settings)); }
  void take(const scenario_run& run) { add_step(settings_text("run", run.settings)); }
  void take(const scenario_settle& settle) {
    add_step(settle_text(settle));
    parts_.back().settle = settle;
  }

  [[nodiscard]] std::string text_of(const std::vector<part>& parts) const {
    std::string out = fmt::format("scenario {}", scenario_version);
    if (!title_.empty()) out += " " + quoted_if_needed(title_, text_place::word);
    out += "\n";
    if (!rules_.empty()) out += "rule" + rules_ + "\n";
    for (const part& one : parts) out += (one.row ? one.row->line() : one.text) + "\n";
    return out;
  }

  [[nodiscard]] bool out_of_trials() const { return made_.trials >= how_.most_trials; }

  bool try_parts(const std::vector<part>& parts) {
    if (out_of_trials()) return false;
    ++made_.trials;
    const result<scenario> candidate = parse_scenario(text_of(parts), source_);
    const bool interesting = candidate && how_.interesting(*candidate);
    if (how_.progress) how_.progress(made_.trials, interesting ? parts.size() : parts_.size());
    return interesting;
  }

  static bool is_gone(const std::string& group, const std::set<reference>& gone) {
    return gone.contains({entity_kind::pod_group, group});
  }
  /// Without names of groups it would be about all of them.
  static bool loses_all_groups(const part& one, const std::set<reference>& gone) {
    return one.settle && !one.settle->groups.empty() &&
           std::all_of(one.settle->groups.begin(), one.settle->groups.end(),
                       [&](const std::string& group) { return is_gone(group, gone); });
  }
  static part without_groups(part one, const std::set<reference>& gone) {
    if (!one.settle) return one;
    std::erase_if(one.settle->groups, [&](const std::string& group) { return is_gone(group, gone); });
    one.text = settle_text(*one.settle);
    return one;
  }

  /// What is left without some parts and without everything that needs them.
  [[nodiscard]] std::vector<part> without(const std::vector<bool>& removed) const {
    std::vector<part> left;
    std::set<reference> gone;
    std::vector<bool> out = removed;
    bool more = true;
    while (more) {
      more = false;
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (out[i]) {
          gone.insert(parts_[i].names.begin(), parts_[i].names.end());
          continue;
        }
        const bool dangling = std::any_of(parts_[i].needs.begin(), parts_[i].needs.end(),
                                          [&](const reference& one) { return gone.contains(one); });
        if (dangling) {
          out[i] = true;
          more = true;
        }
      }
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!out[i] && !loses_all_groups(parts_[i], gone)) left.push_back(without_groups(parts_[i], gone));
    }
    return left;
  }

  /// ddmin: leaves out runs of the parts that match, of half their number, then of a quarter, down to single ones.
  template <class Match>
  bool remove_entities(Match match) {
    bool any = false;
    std::vector<std::size_t> candidates;
    const auto collect = [&] {
      candidates.clear();
      for (std::size_t i = 0; i < parts_.size(); ++i) {
        if (match(parts_[i])) candidates.push_back(i);
      }
    };
    collect();
    std::size_t size = std::max<std::size_t>(1, candidates.size() / 2);
    while (!candidates.empty()) {
      bool removed_some = false;
      for (std::size_t from = 0; from < candidates.size();) {
        std::vector<bool> removed(parts_.size(), false);
        const std::size_t end = std::min(candidates.size(), from + size);
        for (std::size_t i = from; i < end; ++i) removed[candidates[i]] = true;
        std::vector<part> left = without(removed);
        if (left.size() < parts_.size() && try_parts(left)) {
          parts_ = std::move(left);
          any = removed_some = true;
          collect();
        } else {
          from = end;
        }
        if (out_of_trials()) return any;
      }
      if (size == 1 && !removed_some) break;
      size = std::max<std::size_t>(1, size / 2);
    }
    return any;
  }

  /// Leaves out fields one at a time; last ones first, as they are mostly details.
  bool drop_fields() {
    bool any = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::optional<row_text> whole = parts_[i].row;
      if (!whole || whole->op == table_op::remove) continue;
      row_text left = *whole;
      for (std::size_t f = left.fields.size(); f-- > 0;) {
        if (is_required(left, left.fields[f].first)) continue;
        row_text row = left;
        row.fields.erase(row.fields.begin() + static_cast<std::ptrdiff_t>(f));
        std::vector<part> fewer = parts_;
        fewer[i] = part_of_row(row);
        if (try_parts(fewer)) {
          parts_ = std::move(fewer);
          left = std::move(row);
          any = true;
        }
        if (out_of_trials()) return any;
      }
    }
    return any;
  }

  const minimise_setup& how_;
  std::string title_;
  std::string source_;
  std::string rules_;
  std::vector<part> parts_;
  minimised made_;
};

}  // namespace

result<minimised> minimise_scenario(const scenario& from, const minimise_setup& how) {
  return minimiser(from, how).run();
}

std::vector<std::string> decided_lines(const scenario& from, const scenario_settings& with) {
  std::vector<std::string> all;
  const scenario_setup setup{with, [&](const session& ran, std::size_t) {
                               const auto lines = expected_decisions(ran);
                               std::string text;
                               for (const std::string& line : lines ? *lines : std::vector<std::string>{})
                                 text += line + "\n";
                               all.push_back(std::move(text));
                             }};
  static_cast<void>(play_scenario(from, setup));
  return all;
}

}  // namespace kaisched::io
