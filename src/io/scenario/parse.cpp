// Statements -> steps.
#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "io/column_form.hpp"
#include "io/scenario/cells.hpp"
#include "io/scenario/rows.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io {

namespace {

using scenario_text::delta_rows;
using scenario_text::failure_at;
using scenario_text::item;
using scenario_text::statement;
using scenario_text::value_kind;

constexpr std::array<std::string_view, 10> verbs{"scenario", "rule",   "option", "now",    "run",
                                                 "apply",    "settle", "change", "remove", "expect"};
constexpr std::array<std::string_view, 19> expectations{
    "bind",    "pipeline", "evict",      "move",    "migrate", "repartition", "unschedulable",
    "nothing", "counts",   "reason",     "pod",     "queue",   "statistic",   "sharing_group",
    "digest",  "error",    "quarantine", "outcome", "attempt"};

class parser {
 public:
  parser(std::string_view text, std::string_view source) : rows_(source, text.size()) {
    made_.source = source;
    made_.text = text;
  }

  result<scenario> parse() {
    const result<std::vector<statement>> statements = scenario_text::split(made_.text, made_.source);
    if (!statements) return statements.failure();
    if (statements->empty()) return failure_at(made_.source, {1, 1}, "expected \"scenario 1\" first");
    for (const statement& one : *statements) {
      if (auto done = take(one); !done) return done.take_failure();
    }
    end_delta();
    made_.end = now_;
    return std::move(made_);
  }

 private:
  [[nodiscard]] error fail(const item& where, std::string_view what) const {
    return failure_at(made_.source, where.name.at, what);
  }

  result<void> take(const statement& from) {
    const item& first = from.items.front();
    const std::string& verb = first.name.text;
    if (!seen_header_ && (verb != "scenario" || first.is_field())) return fail(first, "expected \"scenario 1\" first");
    if (first.is_field()) return fail(first, fmt::format("a statement starts with a word, not with \"{}=\"", verb));
    if (seen_header_ && verb == "scenario") return fail(first, "\"scenario\" stands only once, as the first statement");
    if (auto done = refuse_repeated(from); !done) return done;
    if (verb == "scenario") return header(from);
    if (verb == "rule") return rule(from);
    if (verb == "expect") return expect(from);
    if (verb == "change") return row(from, 1, table_op::change);
    if (verb == "remove") return row(from, 1, table_op::remove);
    if (std::find(verbs.begin(), verbs.end(), verb) == verbs.end()) return entity(from);
    end_delta();
    if (verb == "now") return set_now(from);
    if (verb == "apply")
      return from.items.size() == 1 ? result<void>{}
                                    : result<void>(fail(from.items[1], "expected nothing after \"apply\""));
    if (verb == "option") return option(from);
    if (verb == "run") return run(from);
    return settle(from);
  }

  /// Fields of one name, and keys of a map.
  [[nodiscard]] result<void> refuse_repeated(const statement& from) const {
    std::set<std::string_view> fields;
    for (const item& one : from.items) {
      if (one.is_field() && !fields.insert(one.name.text).second) {
        return fail(one, fmt::format("{} is given twice", one.name.text));
      }
      std::set<std::string_view> keys;
      for (const scenario_text::word& key : one.given.keys) {
        if (keys.insert(key.text).second) continue;
        return failure_at(made_.source, key.at, fmt::format("{}: {} is given twice", one.name.text, key.text));
      }
    }
    return {};
  }

  [[nodiscard]] static std::string unknown(std::string_view word) {
    std::vector<std::string_view> known(verbs.begin(), verbs.end());
    for (const table_info& one : schema()) {
      if (one.input) known.push_back(one.name);
    }
    return fmt::format("no statement starts with \"{}\"; {}", word, suggestion(word, known));
  }

  result<void> header(const statement& from) {
    seen_header_ = true;
    if (from.items.size() < 2 || from.items[1].name.text != scenario_version || from.items[1].is_field()) {
      return fail(from.items.back(),
                  fmt::format("expected \"scenario {}\": this is the only version", scenario_version));
    }
    if (from.items.size() > 3 || (from.items.size() == 3 && from.items[2].is_field())) {
      return fail(from.items[2], "expected one title, in quotes");
    }
    if (from.items.size() == 3) made_.title = from.items[2].name.text;
    return {};
  }

  result<void> rule(const statement& from) {
    for (std::size_t i = 1; i < from.items.size(); ++i) {
      if (from.items[i].is_field()) return fail(from.items[i], "expected the number of a rule");
      made_.rules.push_back(from.items[i].name.text);
    }
    if (from.items.size() == 1) return fail(from.items.front(), "expected the number of a rule");
    return {};
  }

  result<void> entity(const statement& from) {
    if (const table_info* kind = schema_of(from.items.front().name.text); kind == nullptr || !kind->input) {
      return fail(from.items.front(), unknown(from.items.front().name.text));
    }
    return row(from, 0, table_op::add);
  }

  result<void> row(const statement& from, std::size_t first, table_op op) {
    if (from.items.size() <= first) return fail(from.items.front(), "expected a kind of entity and a name");
    if (rows_.empty()) {
      delta_first_line_ = from.first_line;
    }
    delta_last_line_ = from.last_line;
    expects_allowed_ = true;
    return rows_.add(from, first, op, now_);
  }

  void add_step(std::size_t first, std::size_t last, decltype(scenario_step::what) what) {
    made_.steps.push_back({first, last, now_, std::move(what), {}});
  }

  void end_delta() {
    if (!rows_.empty()) add_step(delta_first_line_, delta_last_line_, rows_.take());
  }

  result<void> set_now(const statement& from) {
    if (from.items.size() != 2 || from.items[1].is_field())
      return fail(from.items.front(), "expected a time: now 1h, now +5m");
    const std::string& text = from.items[1].name.text;
    const result<std::int64_t> time = scenario_text::parse_time(text.starts_with('+') ? "now" + text : text, now_);
    if (!time) return fail(from.items[1], time.failure().message);
    now_ = *time;
    expects_allowed_ = false;
    return {};
  }

  result<scenario_settings> settings(const statement& from) const {
    scenario_settings made;
    for (std::size_t i = 1; i < from.items.size(); ++i) {
      const item& one = from.items[i];
      if (one.given.kind != value_kind::text && one.given.kind != value_kind::list) {
        return fail(one, "expected OPTION=VALUE");
      }
      std::string value;
      for (const auto& part : one.given.items) value += (value.empty() ? "" : ",") + part.text;
      made.emplace_back(one.name.text, std::move(value));
    }
    return made;
  }

  result<void> option(const statement& from) {
    result<scenario_settings> made = settings(from);
    if (!made) return made.take_failure();
    if (made->empty()) return fail(from.items.front(), "expected OPTION=VALUE");
    add_step(from.first_line, from.last_line, scenario_option{std::move(*made)});
    expects_allowed_ = true;
    return {};
  }

  result<void> run(const statement& from) {
    result<scenario_settings> made = settings(from);
    if (!made) return made.take_failure();
    add_step(from.first_line, from.last_line, scenario_run{std::move(*made)});
    expects_allowed_ = true;
    has_run_ = true;
    return {};
  }

  result<void> settle(const statement& from) {
    constexpr std::array<std::string_view, 3> fates{"pending", "releasing", "gone"};
    if (!has_run_) return fail(from.items.front(), "there was no session before");
    scenario_settle made;
    for (std::size_t i = 1; i < from.items.size(); ++i) {
      const item& one = from.items[i];
      if (one.name.text == "groups" && one.is_field() && one.given.kind != value_kind::map) {
        for (const auto& name : one.given.items) made.groups.push_back(name.text);
      } else if (one.name.text == "evicted" && one.given.kind == value_kind::text) {
        const auto fate = std::find(fates.begin(), fates.end(), one.given.front().text);
        if (fate == fates.end()) {
          return fail(one, fmt::format("evicted: no such fate; {}", suggestion(one.given.front().text, fates)));
        }
        made.evicted = static_cast<scenario_settle::evicted_pods>(fate - fates.begin());
      } else if (one.name.text == "nominations" && one.given.kind == value_kind::text) {
        const std::string& fate = one.given.front().text;
        if (fate != "kept" && fate != "forgotten") return fail(one, "expected nominations=kept|forgotten");
        made.keeps_nominations = fate == "kept";
      } else {
        return fail(one, "expected evicted=pending|releasing|gone, nominations=kept|forgotten or groups=[...]");
      }
    }
    add_step(from.first_line, from.last_line, std::move(made));
    expects_allowed_ = false;
    return {};
  }

  result<void> expect(const statement& from) {
    if (from.items.size() < 2 || from.items[1].is_field()) return fail(from.items.front(), "expected what is expected");
    const std::string& what = from.items[1].name.text;
    if (std::find(expectations.begin(), expectations.end(), what) == expectations.end()) {
      return fail(from.items[1],
                  fmt::format("nothing of the name \"{}\" can be expected; {}", what, suggestion(what, expectations)));
    }
    end_delta();
    if (!expects_allowed_ || made_.steps.empty())
      return fail(from.items.front(), "there is nothing before that this could be about");
    scenario_step& about = made_.steps.back();
    const bool is_run = std::holds_alternative<scenario_run>(about.what);
    if (!is_run && what != "error" && what != "quarantine") {
      return fail(from.items[1], fmt::format("\"{}\" is expected of a session: \"run\" is missing", what));
    }
    if (what == "error" && std::holds_alternative<scenario_delta>(about.what)) rows_.forget_last();
    if (auto done = check_form(from, what); !done) return done;
    about.expectations.push_back({from});
    return {};
  }

  /// Words and fields that every expectation of this sort has.
  result<void> check_form(const statement& from, const std::string& what) const {
    std::size_t words = 0;
    while (2 + words < from.items.size() && !from.items[2 + words].is_field()) ++words;
    std::size_t least = 1;
    std::size_t most = 1;
    if (what == "nothing" || what == "counts") least = most = 0;
    if (what == "bind" || what == "pipeline" || what == "evict" || what == "move" || what == "migrate" ||
        what == "error")
      most = 2;
    if (what == "quarantine") {
      if (auto done = check_quarantine(from); !done) return done;
      least = most = from.items[2].name.text == "nothing" ? 1 : 2;
    }
    if (words < least || words > most) {
      return fail(from.items[1],
                  fmt::format("{} words behind \"{}\", expected {}", words, what,
                              least == most ? std::to_string(least) : fmt::format("{} or {}", least, most)));
    }
    for (std::size_t i = 2 + words; i < from.items.size(); ++i) {
      const item& one = from.items[i];
      if (!one.is_field()) return fail(one, "words stand before fields");
      const bool empty_quarantine = what == "quarantine" && most == 1;
      if (what == "nothing" || what == "error" || what == "digest" || empty_quarantine)
        return fail(one, fmt::format("\"{}\" has no fields", what));
    }
    return {};
  }

  /// The word behind `expect quarantine`.
  [[nodiscard]] result<void> check_quarantine(const statement& from) const {
    if (from.items.size() < 3) return fail(from.items[1], "expected a kind of entity and a name, or \"nothing\"");
    const std::string& word = from.items[2].name.text;
    std::vector<std::string_view> known{"nothing"};
    for (const table_info& one : schema()) {
      if (one.input) known.push_back(one.name);
    }
    if (std::find(known.begin(), known.end(), word) != known.end()) return {};
    return fail(from.items[2], fmt::format("no kind of entity is called \"{}\"; {}", word, suggestion(word, known)));
  }

  scenario made_;
  delta_rows rows_;
  std::int64_t now_ = 0;
  std::size_t delta_first_line_ = 0;
  std::size_t delta_last_line_ = 0;
  bool seen_header_ = false;
  bool expects_allowed_ = false;
  bool has_run_ = false;
};

}  // namespace

result<scenario> parse_scenario(std::string_view text, std::string_view source) { return parser(text, source).parse(); }

result<cluster_input> initial_cluster(scenario from) {
  constexpr std::string_view on_invalid = "on_invalid";
  cluster_input made;
  made.now = from.end;
  for (scenario_step& step : from.steps) {
    if (std::holds_alternative<scenario_run>(step.what)) {
      made.now = step.now;
      break;
    }
    if (const auto* option = std::get_if<scenario_option>(&step.what)) {
      for (const auto& [name, value] : option->settings) {
        if (name != on_invalid) continue;
        if (auto done = cluster().set(name, value); !done) {
          return failure_at(from.source, {step.first_line, 1}, done.failure().message);
        }
        made.on_invalid = value;
      }
    }
    auto* delta = std::get_if<scenario_delta>(&step.what);
    if (delta == nullptr) continue;
    for (std::size_t i = 0; i < delta->tables.size(); ++i) {
      if (delta->tables[i].op() != static_cast<std::uint32_t>(table_op::add)) {
        return failure_at(from.source, {delta->lines[i].front(), 1},
                          "only rows that add may stand before the first \"run\" of a file that is read as a cluster");
      }
    }
    for (std::size_t i = 0; i < delta->tables.size(); ++i) {
      made.add(std::move(delta->tables[i]), {from.source, std::move(delta->lines[i])});
    }
  }
  made.source = from.source;
  return made;
}

}  // namespace kaisched::io
