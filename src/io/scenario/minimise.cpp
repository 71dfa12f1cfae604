// Smaller scenarios of which something stays true.
#include "io/scenario/minimise.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "io/scenario/parts.hpp"

namespace kaisched::io {

namespace {

using scenario_text::merge_sets;
using scenario_text::number_place;
using scenario_text::part;
using scenario_text::part_list;
using scenario_text::smaller_by;
using scenario_text::with_them;

/// A column of a kind of rows.
using column_key = std::pair<std::string, std::string>;
/// A field of a part, both by their places.
using field_place = std::pair<std::size_t, std::size_t>;
/// Candidate number i, if there is one.
using candidate_maker = std::function<std::optional<part_list>(std::size_t)>;

class minimiser {
 public:
  minimiser(const scenario& from, const minimise_setup& how)
      : how_(how), frame_(scenario_text::frame_of(from)), parts_(scenario_text::parts_of(from)) {
    made_.statements_before = parts_.size();
  }

  result<minimised> run() {
    if (!take_first(1, [&](std::size_t) { return parts_; })) {
      return error{status::argument,
                   fmt::format("{}: {}", frame_.source,
                               is_stopped() ? "stopped before it was known whether what is to stay true is true"
                                            : "what is to stay true is not true of the scenario itself"),
                   {}};
    }
    std::string before;
    do {
      before = text_;
      leave_out_steps();
      for (const entity_kind kind : {entity_kind::pod_group, entity_kind::queue, entity_kind::node, entity_kind::pod}) {
        leave_out_entities(kind);
      }
      leave_out_rest();
      leave_out_columns();
      leave_out_fields();
      for (const entity_kind kind : {entity_kind::pod_group, entity_kind::node, entity_kind::pod}) merge(kind);
      lessen();
    } while (text_ != before && !is_over());
    made_.text = text_;
    made_.size = scenario_text::size_of(parts_);
    made_.statements = made_.size.statements;
    made_.finished = !is_over();
    return std::move(made_);
  }

 private:
  [[nodiscard]] bool is_stopped() const { return how_.stopped && how_.stopped(); }
  [[nodiscard]] bool is_over() const { return made_.trials >= how_.most_trials || is_stopped(); }

  /// Takes the first of so many candidates that is interesting, and says which one that was.
  std::optional<std::size_t> take_first(std::size_t count, const candidate_maker& make) {
    struct candidate {
      std::size_t number = 0;
      base::sha256::digest digest{};
    };
    std::vector<candidate> asked;
    std::size_t at = 0;
    const auto next = [&]() -> std::optional<scenario> {
      for (; at < count && made_.trials + asked.size() < how_.most_trials && !is_stopped(); ++at) {
        const std::optional<part_list> smaller = make(at);
        if (!smaller) continue;
        const std::string text = scenario_text::text_of(frame_, *smaller);
        base::sha256 hash;
        hash.update(text);
        const base::sha256::digest digest = hash.finish();
        if (text == text_ || failed_.contains(digest)) continue;
        result<scenario> parsed = parse_scenario(text, frame_.source);
        if (!parsed) continue;
        asked.push_back({at++, digest});
        return std::move(*parsed);
      }
      return std::nullopt;
    };
    const std::optional<std::size_t> found = how_.first_interesting ? how_.first_interesting(next) : first_of(next);
    const std::size_t uninteresting = found ? *found : is_stopped() ? 0 : asked.size();
    for (std::size_t i = 0; i < uninteresting; ++i) failed_.insert(asked[i].digest);
    made_.trials += found ? *found + 1 : asked.size();
    if (!found) return std::nullopt;
    parts_ = *make(asked[*found].number);
    text_ = scenario_text::text_of(frame_, parts_);
    if (how_.improved) how_.improved(text_, scenario_text::size_of(parts_));
    return asked[*found].number;
  }

  /// One after the other.
  std::optional<std::size_t> first_of(const std::function<std::optional<scenario>()>& next) const {
    for (std::size_t i = 0;; ++i) {
      const std::optional<scenario> one = next();
      if (!one) return std::nullopt;
      if (how_.interesting(*one)) return i;
    }
  }

  /// ddmin: leaves out runs of `most` items, then of half as many, down to single ones. `collect` lists what there is
  /// to leave out, `make` leaves some out in one of several ways.
  template <class Item, class Collect, class Make>
  void leave_out(std::size_t most, std::size_t ways, Collect collect, Make make) {
    std::vector<Item> items = collect();
    for (std::size_t size = std::min(most, items.size()); size > 0; size /= 2) {
      std::size_t from = 0;
      while (from < items.size() && !is_over()) {
        const std::size_t runs = (items.size() - from + size - 1) / size;
        const auto found = take_first(runs * ways, [&](std::size_t i) {
          const std::size_t begin = from + i / ways * size;
          return make(std::span<const Item>(items).subspan(begin, std::min(size, items.size() - begin)), i % ways);
        });
        if (!found) break;
        from += *found / ways * size;
        items = collect();
      }
    }
  }

  template <class Match>
  [[nodiscard]] std::vector<std::size_t> places(Match match) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (match(parts_[i])) found.push_back(i);
    }
    return found;
  }

  void leave_out_steps() {
    leave_out<std::size_t>(
        parts_.size(), 1, [&] { return places([](const part& one) { return !one.row; }); },
        [&](std::span<const std::size_t> run, std::size_t) { return without(parts_, run, with_them::dependents); });
  }

  void leave_out_entities(entity_kind kind) {
    // What pods hold on nodes decides what others get: without them its room, and the claim to it, go as well.
    constexpr std::array ways{with_them::share, with_them::emptied, with_them::dependents};
    const auto collect = [&] { return places([&](const part& one) { return one.adds(kind); }); };
    leave_out<std::size_t>(
        std::max<std::size_t>(1, collect().size() / 2), ways.size(), collect,
        [&](std::span<const std::size_t> run, std::size_t way) { return without(parts_, run, ways[way]); });
  }

  void leave_out_rest() {
    leave_out<std::size_t>(
        parts_.size() / 2, 1, [&] { return places([](const part&) { return true; }); },
        [&](std::span<const std::size_t> run, std::size_t) { return without(parts_, run, with_them::dependents); });
  }

  [[nodiscard]] std::optional<part_list> without_fields(std::vector<field_place> fields) const {
    part_list fewer = parts_;
    std::sort(fields.rbegin(), fields.rend());
    for (const auto& [at, field] : fields) {
      auto& all = fewer[at].row->fields;
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(field));
      fewer[at].refer();
    }
    return fewer;
  }

  /// Fields that can be left out with the column of each; those of a column are next to each other, last columns come
  /// first, as they are mostly details.
  [[nodiscard]] std::vector<std::pair<column_key, field_place>> fields() const {
    std::vector<std::pair<column_key, field_place>> found;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const auto& row = parts_[i].row;
      if (!row || row->op == table_op::remove) continue;
      for (std::size_t f = row->fields.size(); f-- > 0;) {
        if (scenario_text::is_required(*row, row->fields[f].first)) continue;
        found.push_back({{std::string(row->kind->name), row->fields[f].first}, {i, f}});
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    return found;
  }

  void leave_out_columns() {
    const auto collect = [&] {
      std::vector<column_key> columns;
      for (const auto& [column, place] : fields()) {
        if (columns.empty() || columns.back() != column) columns.push_back(column);
      }
      return columns;
    };
    leave_out<column_key>(parts_.size(), 1, collect, [&](std::span<const column_key> run, std::size_t) {
      std::vector<field_place> chosen;
      for (const auto& [column, place] : fields()) {
        if (std::find(run.begin(), run.end(), column) != run.end()) chosen.push_back(place);
      }
      return without_fields(std::move(chosen));
    });
  }

  void leave_out_fields() {
    const auto collect = [&] {
      std::vector<field_place> places;
      for (const auto& [column, place] : fields()) places.push_back(place);
      return places;
    };
    leave_out<field_place>(
        std::max<std::size_t>(1, collect().size() / 2), 1, collect,
        [&](std::span<const field_place> run, std::size_t) { return without_fields({run.begin(), run.end()}); });
  }

  /// All entities of a kind that could be one, then those of each set, then two at a time.
  void merge(entity_kind kind) {
    const merge_sets all = scenario_text::mergeable(parts_, kind);
    if (all.empty() || take_first(1, [&](std::size_t) { return scenario_text::merged(parts_, kind, all); })) return;
    for (std::size_t from = 0; !is_over();) {
      merge_sets some = scenario_text::mergeable(parts_, kind);
      const std::size_t whole = some.size();
      for (std::size_t set = 0; set < whole; ++set) {
        for (std::size_t i = 1; some[set].size() > 2 && i < some[set].size(); ++i) {
          some.push_back({some[set][i - 1], some[set][i]});
        }
      }
      if (from >= some.size()) return;
      const auto found = take_first(
          some.size() - from, [&](std::size_t i) { return scenario_text::merged(parts_, kind, {some[from + i]}); });
      if (!found) return;
      from += *found;
    }
  }

  /// Numbers of a column together, then alone; all that are of one dimension.
  void lessen() {
    constexpr std::array ways{smaller_by::all_but_one, smaller_by::half, smaller_by::quarter, smaller_by::one};
    take_first(1, [&](std::size_t) { return scenario_text::with_plain_times(parts_); });
    for (std::size_t from = 0; !is_over();) {
      const std::vector<std::vector<number_place>> sets = number_sets(scenario_text::numbers_of(parts_));
      if (from >= sets.size()) return;
      const auto found = take_first((sets.size() - from) * ways.size(), [&](std::size_t i) {
        return scenario_text::with_smaller(parts_, sets[from + i / ways.size()], ways[i % ways.size()]);
      });
      if (!found) return;
      from += *found / ways.size();  // the same numbers may get smaller still
    }
  }

  static std::vector<std::vector<number_place>> number_sets(const std::vector<number_place>& all) {
    std::vector<std::vector<number_place>> sets;
    const auto add_by = [&](auto key) {
      std::map<std::string, std::size_t> known;
      for (const number_place& one : all) {
        if (key(one).empty()) continue;
        const auto [at, made] = known.emplace(key(one), sets.size());
        if (made) sets.emplace_back();
        sets[at->second].push_back(one);
      }
    };
    add_by([](const number_place& one) { return one.dimension; });
    add_by([](const number_place& one) { return one.column; });
    for (const number_place& one : all) sets.push_back({one});
    return sets;
  }

  const minimise_setup& how_;
  scenario_text::part_frame frame_;
  part_list parts_;
  std::string text_;  ///< of the parts once they are known to be interesting
  std::set<base::sha256::digest> failed_;
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
