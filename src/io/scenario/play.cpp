// Steps -> sessions; decisions against expectations; expectations renewed.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "io/scenario/output.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/settle.hpp"

namespace kaisched::io {

namespace {

using scenario_text::item;
using scenario_text::output_rows;
using scenario_text::quoted_if_needed;
using scenario_text::statement;
using scenario_text::text_place;

std::string as_word(std::string_view text) { return quoted_if_needed(text, text_place::word); }

std::vector<std::string> dimensions_of(const snapshot& of) {
  std::vector<std::string> names;
  for (const std::string_view name : of.dimension_names()) names.emplace_back(name);
  return names;
}

/// What a session has decided, as the lines that would expect it.
class decision_lines {
 public:
  static result<decision_lines> of(const session& from) {
    result<table> decisions = from.to_table(table_kind::decision);
    if (!decisions) return decisions.take_failure();
    result<table> reasons = from.to_table(table_kind::reason);
    if (!reasons) return reasons.take_failure();
    const std::vector<std::string> dimensions = dimensions_of(from.base());
    return decision_lines(output_rows(std::move(*decisions), dimensions), output_rows(std::move(*reasons), dimensions),
                          from.statistics().size() > 1);
  }

  [[nodiscard]] std::size_t size() const { return decisions_.size(); }
  [[nodiscard]] std::string kind(std::size_t row) const {
    return std::string(decision_kind_name(static_cast<decision_kind>(decisions_.integer("kind", row))));
  }

  [[nodiscard]] std::string line(std::size_t row) const {
    const std::string what = kind(row);
    if (what == "unschedulable") return waiting_line(row);
    if (what == "repartition") return division_line(row);
    std::string out = fmt::format("expect {} {} {}", what, as_word(decisions_.text("pod", row)),
                                  as_word(decisions_.text("node", row)));
    const bool has_devices = decisions_.field("devices", row) != "devices=[]";
    if (has_devices) out += " " + decisions_.field("devices", row);
    if (has_devices && decisions_.integer("device_share", row) != whole_device)
      out += " " + decisions_.field("device_share", row);
    if (several_actions_) out += " " + decisions_.field("action", row);
    return out + " " + decisions_.field("commit", row);
  }

  /// Error: a field that no decision has.
  [[nodiscard]] static result<void> check(const statement& wanted) {
    const bool waits = wanted.items[1].name.text == "unschedulable";
    return scenario_text::check_fields(waits ? table_kind::reason : table_kind::decision, wanted, 2);
  }

  /// Whether the line expects this decision. Fields that no decision has are as if they were not there.
  [[nodiscard]] bool fits(const statement& wanted, std::size_t row) const {
    const std::string what = kind(row);
    if (wanted.items[1].name.text != what) return false;
    const bool waits = what == "unschedulable";
    const std::string_view subject = waits ? "group" : what == "repartition" ? "node" : "pod";
    if (wanted.items[2].name.text != decisions_.text(subject, row)) return false;
    std::size_t next = 3;
    if (next < wanted.items.size() && !wanted.items[next].is_field()) {
      if (waits || wanted.items[next].name.text != decisions_.text("node", row)) return false;
      ++next;
    }
    const std::vector<std::size_t> reason =
        waits ? reasons_.find("group", decisions_.text("group", row)) : std::vector<std::size_t>{row};
    const output_rows& rows = waits ? reasons_ : decisions_;
    for (; next < wanted.items.size(); ++next) {
      if (!rows.check(wanted.items[next])) continue;
      if (reason.empty()) return false;
      const result<std::string> differs = rows.difference(wanted.items[next], reason.front());
      if (!differs || !differs->empty()) return false;
    }
    return true;
  }

 private:
  decision_lines(output_rows decisions, output_rows reasons, bool several_actions)
      : decisions_(std::move(decisions)), reasons_(std::move(reasons)), several_actions_(several_actions) {}

  [[nodiscard]] std::string division_line(std::size_t row) const {
    std::string out = fmt::format("expect repartition {}", as_word(decisions_.text("node", row)));
    for (const char* field : {"devices", "layout", "gone"}) out += " " + decisions_.field(field, row);
    if (decisions_.integer("drain_cost", row) != 0) out += " " + decisions_.field("drain_cost", row);
    if (several_actions_) out += " " + decisions_.field("action", row);
    return out + " " + decisions_.field("commit", row);
  }

  [[nodiscard]] std::string waiting_line(std::size_t row) const {
    const std::string group = decisions_.text("group", row);
    std::string out = fmt::format("expect unschedulable {}", as_word(group));
    const std::vector<std::size_t> why = reasons_.find("group", group);
    if (why.empty()) return out;
    out += " " + reasons_.field("constraint", why.front());
    const std::string dimension = reasons_.text("dimension", why.front());
    if (!dimension.empty()) out += " " + reasons_.field("dimension", why.front());
    const bool amounts = !dimension.empty() || reasons_.integer("need", why.front()) != 0;
    if (amounts) out += " " + reasons_.field("need", why.front()) + " " + reasons_.field("have", why.front());
    if (reasons_.integer("nodes", why.front()) != 0) out += " " + reasons_.field("nodes", why.front());
    return out;
  }

  output_rows decisions_;
  output_rows reasons_;
  bool several_actions_;
};

/// A text by lines, some of which are to be replaced. What is new ends as the first line does.
class line_edits {
 public:
  explicit line_edits(std::string_view text) : text_(text) {
    const std::size_t first = text.find('\n');
    ending_ = first != std::string_view::npos && first > 0 && text[first - 1] == '\r' ? "\r\n" : "\n";
    while (!text.empty()) {
      const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
      lines_.push_back(text.substr(0, size));
      text.remove_prefix(size);
    }
  }

  [[nodiscard]] std::string indent(std::size_t line) const {
    const std::string_view whole = lines_[line - 1];
    return std::string(whole.substr(0, std::min(whole.find_first_not_of(" \t"), whole.size())));
  }
  void remove(const statement& old) {
    for (std::size_t i = old.first_line; i <= old.last_line; ++i) removed_.insert(i);
  }
  /// The new line keeps the indentation and the comment.
  void replace(const statement& old, std::string_view text) {
    remove(old);
    insert_before(old.first_line, indent(old.first_line).append(text).append(old.comment));
  }
  void insert_before(std::size_t line, std::string text) { before_[line].push_back(std::move(text)); }
  void insert_after(std::size_t line, std::string text) { after_[line].push_back(std::move(text)); }

  [[nodiscard]] std::string apply() const {
    if (removed_.empty() && before_.empty() && after_.empty()) return std::string(text_);
    std::string out;
    const auto end_line = [&] {
      if (!out.empty() && !out.ends_with('\n')) out += ending_;
    };
    const auto add = [&](const std::map<std::size_t, std::vector<std::string>>& from, std::size_t line) {
      const auto found = from.find(line);
      if (found == from.end()) return;
      for (const std::string& one : found->second) {
        end_line();
        out.append(one).append(ending_);
      }
    };
    for (std::size_t line = 1; line <= lines_.size(); ++line) {
      add(before_, line);
      if (!removed_.contains(line)) out += lines_[line - 1];
      add(after_, line);
    }
    end_line();
    return out;
  }

 private:
  std::string_view text_;
  std::string_view ending_;
  std::vector<std::string_view> lines_;
  std::set<std::size_t> removed_;
  std::map<std::size_t, std::vector<std::string>> before_;
  std::map<std::size_t, std::vector<std::string>> after_;
};

bool is_decision(std::string_view word) {
  return word == "bind" || word == "pipeline" || word == "evict" || word == "move" || word == "migrate" ||
         word == "repartition" || word == "unschedulable" || word == "nothing";
}

bool is_of_clusters(std::string_view option) {
  const std::span<const option_info> all = option_list();
  const auto found = std::find_if(all.begin(), all.end(), [&](const option_info& one) { return one.name == option; });
  return found != all.end() && found->applies_to == option_target::cluster;
}

/// Those of the settings that are options of clusters.
result<void> set_cluster(const scenario_settings& settings, cluster& of) {
  for (const auto& [name, value] : settings) {
    if (!is_of_clusters(name)) continue;
    if (auto done = of.set(name, value); !done) return done;
  }
  return {};
}

/// The others.
result<void> set_engine(const scenario_settings& settings, engine& of) {
  result<std::shared_ptr<const device_catalog>> catalog = shipped_device_catalog();
  if (!catalog) return catalog.take_failure();
  of.set_device_catalog(std::move(*catalog));
  for (const auto& [name, value] : settings) {
    if (is_of_clusters(name)) continue;
    if (auto done = of.set(name, value); !done) return done;
  }
  return {};
}

class player {
 public:
  player(const scenario& what, const scenario_setup& with) : scenario_(what), setup_(with), edits_(what.text) {}

  scenario_outcome play() {
    if (auto done = set_cluster(setup_.settings, cluster_); !done) add(1, done.failure().message);
    for (const scenario_step& step : scenario_.steps) {
      outcome_.expectations += step.expectations.size();
      std::visit([&](const auto& one) { take(step, one); }, step.what);
    }
    outcome_.updated = edits_.apply();
    return std::move(outcome_);
  }

 private:
  /// A finding that renewing the expectations does not mend.
  void add(std::size_t line, std::string text) {
    outcome_.unresolved.push_back({line, text});
    outcome_.findings.push_back({line, std::move(text)});
  }
  /// A finding that is mended by writing what was found.
  void add_mended(std::size_t line, std::string text) { outcome_.findings.push_back({line, std::move(text)}); }

  /// Those of the engine that have not been told yet.
  void add_warnings(std::size_t line, const engine& of) {
    for (const std::string& text : of.options().warnings) {
      if (std::ranges::find(outcome_.warnings, text, &scenario_finding::text) == outcome_.warnings.end())
        outcome_.warnings.push_back({line, text});
    }
  }

  // ---- steps ------------------------------------------------------------------------------------------------------

  void take(const scenario_step& step, const scenario_delta& delta) {
    const result<void> done = cluster_.apply(delta.tables);
    std::size_t line = step.first_line;
    if (!done && done.failure().input_table >= 0 && done.failure().input_row >= 0) {
      line = delta.lines[static_cast<std::size_t>(done.failure().input_table)]
                        [static_cast<std::size_t>(done.failure().input_row)];
    }
    judge_call(step, done, line);
    judge_quarantine(step);
  }

  void take(const scenario_step& step, const scenario_option& option) {
    engine trial;
    cluster other;
    static_cast<void>(set_engine(settings_, trial));
    result<void> done = set_engine(option.settings, trial);
    add_warnings(step.first_line, trial);
    if (done) done = set_cluster(option.settings, other);
    if (done) {
      settings_.insert(settings_.end(), option.settings.begin(), option.settings.end());
      static_cast<void>(set_cluster(option.settings, cluster_));
      static_cast<void>(set_cluster(setup_.settings, cluster_));  // they win
    }
    judge_call(step, done, step.first_line);
    judge_quarantine(step);
  }

  result<session> open(const scenario_step& step, const scenario_run& run) {
    engine with;
    if (auto done = set_engine(settings_, with); !done) return done.take_failure();
    for (const auto& [name, value] : run.settings) {
      if (auto done = with.set(name, value); !done) return done.take_failure();
    }
    add_warnings(step.first_line, with);
    if (auto done = set_engine(setup_.settings, with); !done) return done.take_failure();
    return with.run(cluster_.take_snapshot(), step.now);
  }

  void take(const scenario_step& step, const scenario_run& run) {
    settled_.clear();
    last_.reset();
    result<session> ran = open(step, run);
    judge_call(step, ran ? result<void>{} : result<void>{ran.failure()}, step.first_line);
    if (!ran) return;
    ++outcome_.sessions;
    if (auto sound = ran->check(); !sound) add(step.first_line, "an invariant is broken: " + sound.failure().message);
    if (setup_.observe) setup_.observe(*ran, step.first_line);
    judge(step, *ran);
    judge_quarantine(step);
    last_.emplace(std::move(*ran));
    last_now_ = step.now;
  }

  void take(const scenario_step& step, const scenario_settle& settle) {
    if (!last_) return add(step.first_line, "there is no session to settle: it failed");
    if (auto known = check_groups(settle.groups); !known) return add(step.first_line, known.failure().message);
    const result<std::vector<table>> tables = scenario_text::settle_tables(*last_, settle, last_now_, settled_);
    if (!tables) return add(step.first_line, tables.failure().message);
    if (auto done = cluster_.apply(*tables); !done) add(step.first_line, done.failure().message);
  }

  /// Error: a group that the last session does not know.
  [[nodiscard]] result<void> check_groups(const std::vector<std::string>& groups) const {
    if (groups.empty() || !last_) return {};
    const result<table> rows = last_->base().to_table(table_kind::pod_group);
    if (!rows) return rows.failure();
    const table_view view = rows->view();
    std::set<std::string_view> known;
    for (std::uint64_t row = 0; row < view.rows; ++row) known.insert(view.find(col::pod_group_name)->string(row));
    for (const std::string& group : groups) {
      if (known.contains(group)) continue;
      const std::vector<std::string_view> names(known.begin(), known.end());
      const std::string_view nearest = base::nearest_name(group, names);
      return error{status::not_found,
                   fmt::format("groups: the last session has no pod group \"{}\"{}", group,
                               nearest.empty() ? "" : fmt::format("; did you mean \"{}\"?", nearest)),
                   {}};
    }
    return {};
  }

  // ---- expectations -----------------------------------------------------------------------------------------------

  void judge_call(const scenario_step& step, const result<void>& done, std::size_t line) {
    const scenario_expectation* wanted = nullptr;
    for (const scenario_expectation& one : step.expectations) {
      if (one.text.items[1].name.text == "error") wanted = &one;
    }
    if (wanted == nullptr) {
      if (!done) add(line, fmt::format("{} ({})", done.failure().message, status_name(done.failure().code)));
      return;
    }
    const std::string& code = wanted->text.items[2].name.text;
    const std::string part = wanted->text.items.size() > 3 ? wanted->text.items[3].name.text : std::string();
    if (done) return add(wanted->text.first_line, fmt::format("expected the error {}, but the call succeeded", code));
    const error& why = done.failure();
    if (status_name(why.code) != code || why.message.find(part) == std::string::npos) {
      add(wanted->text.first_line,
          fmt::format("expected the error {} \"{}\", found {} \"{}\"", code, part, status_name(why.code), why.message));
    }
  }

  /// What was left out of the cluster so far. A delta that changes that has to say so.
  void judge_quarantine(const scenario_step& step) {
    std::vector<const statement*> wanted;
    for (const scenario_expectation& one : step.expectations) {
      if (one.text.items[1].name.text == "quarantine") wanted.push_back(&one.text);
    }
    if (wanted.empty() && !std::holds_alternative<scenario_delta>(step.what)) return;
    const snapshot now = cluster_.take_snapshot();
    result<table> entries = now.to_table(table_kind::quarantine);
    if (!entries) return add(step.first_line, entries.failure().message);
    const output_rows rows(std::move(*entries), dimensions_of(now));
    std::vector<std::string> found;
    found.reserve(rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) found.push_back(quarantine_line(rows, row));
    if (wanted.empty() && found == left_out_) return;
    left_out_ = found;

    const bool nothing = !wanted.empty() && wanted.front()->items[2].name.text == "nothing";
    std::vector<const statement*> unmet;
    const std::vector<bool> named = match_quarantine(wanted, rows, unmet);
    std::vector<std::string> fresh;
    for (std::size_t row = 0; row < found.size(); ++row) {
      if (!named[row]) fresh.push_back(found[row]);
    }
    if (found.empty() && !nothing) fresh.emplace_back("expect quarantine nothing");
    const std::size_t at = wanted.empty() ? step.last_line : wanted.back()->last_line;
    if (wanted.empty()) add_mended(step.first_line, "what is in quarantine changes, and nothing expects it");
    for (const std::string& one : fresh) add_mended(at, fmt::format("   found {}", one.substr(one.find(' ') + 1)));
    renew_lines(unmet, fresh, at, edits_.indent(wanted.empty() ? step.first_line : wanted.back()->first_line));
  }

  /// Which entries are expected; expectations without an entry are findings, and `unmet` if they can be renewed.
  std::vector<bool> match_quarantine(const std::vector<const statement*>& wanted, const output_rows& rows,
                                     std::vector<const statement*>& unmet) {
    std::vector<bool> named(rows.size(), false);
    for (const statement* one : wanted) {
      const auto good = scenario_text::check_fields(table_kind::quarantine, *one, 4);
      if (!good) add(one->first_line, good.failure().message);
      bool met = one->items[2].name.text == "nothing" && rows.size() == 0 && wanted.size() == 1;
      for (std::size_t row = 0; row < rows.size() && !met; ++row) {
        met = !named[row] && is_entry(*one, rows, row);
        named[row] = named[row] || met;
      }
      if (met || !good) continue;
      add_mended(one->first_line, fmt::format("expected {}", written(*one)));
      unmet.push_back(one);
    }
    return named;
  }

  static bool is_entry(const statement& wanted, const output_rows& rows, std::size_t row) {
    if (wanted.items.size() < 4 || rows.text("kind", row) != wanted.items[2].name.text ||
        rows.text("name", row) != wanted.items[3].name.text)
      return false;
    for (std::size_t i = 4; i < wanted.items.size(); ++i) {
      if (!rows.check(wanted.items[i])) continue;
      const result<std::string> differs = rows.difference(wanted.items[i], row);
      if (!differs || !differs->empty()) return false;
    }
    return true;
  }

  static std::string quarantine_line(const output_rows& rows, std::size_t row) {
    std::string out =
        fmt::format("expect quarantine {} {}", as_word(rows.text("kind", row)), as_word(rows.text("name", row)));
    for (const char* column : {"owner", "column", "status", "because_of"}) {
      if (!rows.text(column, row).empty()) out += " " + rows.field(column, row);
    }
    return rows.integer("present", row) != 0 ? out + " " + rows.field("present", row) : out;
  }

  void judge(const scenario_step& step, const session& ran) {
    const result<decision_lines> found = decision_lines::of(ran);
    if (!found) return add(step.first_line, found.failure().message);
    std::vector<const statement*> wanted;
    for (const scenario_expectation& one : step.expectations) {
      if (is_decision(one.text.items[1].name.text)) {
        wanted.push_back(&one.text);
      } else {
        judge_other(one.text, ran, *found);
      }
    }
    if (!wanted.empty() || step.expectations.empty()) judge_decisions(step, wanted, *found);
  }

  void judge_decisions(const scenario_step& step, const std::vector<const statement*>& wanted,
                       const decision_lines& found) {
    std::vector<const statement*> lines = wanted;
    std::erase_if(lines, [](const statement* one) { return one->items[1].name.text == "nothing"; });
    const bool nothing = lines.size() < wanted.size();
    if (nothing && !lines.empty())
      return add(wanted.front()->first_line, "\"expect nothing\" stands beside other decisions");

    std::vector<bool> faulty;
    for (const statement* one : lines) {
      const result<void> good = decision_lines::check(*one);
      if (!good) add(one->first_line, good.failure().message);
      faulty.push_back(!good);
    }
    const auto fits = [&](std::size_t line, std::size_t row) { return found.fits(*lines[line], row); };
    // What agrees at both ends stays as it is written; between, what was found replaces what was expected.
    std::size_t head = 0;
    while (head < lines.size() && head < found.size() && fits(head, head)) ++head;
    std::size_t tail = 0;
    while (tail < lines.size() - head && tail < found.size() - head &&
           fits(lines.size() - 1 - tail, found.size() - 1 - tail))
      ++tail;
    const std::size_t expected_end = lines.size() - tail;
    const std::size_t found_end = found.size() - tail;
    const bool says_nothing_yet = wanted.empty();
    if (head == expected_end && head == found_end && !says_nothing_yet &&
        nothing == (found.size() == 0 && lines.empty()))
      return;

    // A line with a field that cannot be is for people to mend, and with it what it may have meant.
    const bool mends =
        std::none_of(faulty.begin() + static_cast<std::ptrdiff_t>(head),
                     faulty.begin() + static_cast<std::ptrdiff_t>(expected_end), [](bool f) { return f; });
    const auto tell = [&](std::size_t line, std::string text) {
      mends ? add_mended(line, std::move(text)) : add(line, std::move(text));
    };
    if (says_nothing_yet) tell(step.first_line, "the session has no expectation");
    for (std::size_t i = head; i < expected_end; ++i) {
      if (!faulty[i]) tell(lines[i]->first_line, fmt::format("expected {}", written(*lines[i])));
    }
    if (nothing && found.size() > 0) tell(wanted.front()->first_line, "expected nothing");
    const std::size_t at =
        head < lines.size() ? lines[head]->first_line : (wanted.empty() ? step.first_line : wanted.back()->first_line);
    std::vector<std::string> fresh;
    for (std::size_t row = head; row < found_end; ++row) {
      fresh.push_back(found.line(row));
      tell(at, fmt::format("   found {}", fresh.back().substr(fresh.back().find(' ') + 1)));
    }
    if (found.size() == 0) {
      fresh.emplace_back("expect nothing");
      tell(at, "   found nothing");
    }
    if (mends) replace(step, wanted, lines, head, expected_end, fresh);
  }

  void replace(const scenario_step& step, const std::vector<const statement*>& wanted,
               const std::vector<const statement*>& lines, std::size_t head, std::size_t end,
               const std::vector<std::string>& fresh) {
    std::vector<const statement*> old(lines.begin() + static_cast<std::ptrdiff_t>(head),
                                      lines.begin() + static_cast<std::ptrdiff_t>(end));
    if (lines.empty()) old = wanted;  // "expect nothing"
    if (!old.empty()) {
      renew_lines(old, fresh, old.back()->last_line, edits_.indent(old.back()->first_line));
    } else if (head < lines.size()) {
      const std::size_t line = lines[head]->first_line;
      for (const std::string& one : fresh) edits_.insert_before(line, edits_.indent(line) + one);
    } else if (wanted.empty()) {
      renew_lines({}, fresh, step.last_line, edits_.indent(step.first_line));
    } else {
      renew_lines({}, fresh, wanted.back()->last_line, edits_.indent(wanted.back()->first_line));
    }
  }

  /// New lines take the places of old ones; those beyond go behind the line `last`.
  void renew_lines(const std::vector<const statement*>& old, const std::vector<std::string>& fresh, std::size_t last,
                   const std::string& indent) {
    for (std::size_t i = 0; i < std::max(old.size(), fresh.size()); ++i) {
      if (i >= fresh.size()) {
        edits_.remove(*old[i]);
      } else if (i < old.size()) {
        edits_.replace(*old[i], fresh[i]);
      } else {
        edits_.insert_after(last, indent + fresh[i]);
      }
    }
  }

  /// A statement as in the file, without its first word.
  [[nodiscard]] std::string written(const statement& from) const {
    std::string out;
    for (std::size_t i = 1; i < from.items.size(); ++i) {
      const item& one = from.items[i];
      out += (i > 1 ? " " : "") + as_word(one.name.text);
      if (!one.is_field()) continue;
      std::string value;
      for (std::size_t k = 0; k < one.given.items.size(); ++k) {
        value += k > 0 ? "," : "";
        if (k < one.given.keys.size()) value += quoted_if_needed(one.given.keys[k].text, text_place::key) + "=";
        value += quoted_if_needed(one.given.items[k].text, text_place::element);
      }
      if (one.given.kind == scenario_text::value_kind::list) value = fmt::format("[{}]", value);
      if (one.given.kind == scenario_text::value_kind::map) value = fmt::format("{{{}}}", value);
      out += "=" + value;
    }
    return out;
  }

  void renew(const statement& wanted, const std::string& fresh) {
    add_mended(wanted.first_line, fmt::format("expected {}, found {}", written(wanted), fresh));
    edits_.replace(wanted, "expect " + fresh);
  }

  void judge_other(const statement& wanted, const session& ran, const decision_lines& decisions) {
    const std::string& what = wanted.items[1].name.text;
    if (what == "error" || what == "quarantine") return;
    if (what == "digest") {
      if (wanted.items[2].name.text != ran.digest()) renew(wanted, "digest " + ran.digest());
    } else if (what == "counts") {
      judge_counts(wanted, decisions);
    } else if (what == "reason") {
      judge_reason(wanted, ran);
    } else {
      judge_row(wanted, ran);
    }
  }

  void judge_counts(const statement& wanted, const decision_lines& decisions) {
    std::map<std::string, std::size_t> found;
    for (std::size_t row = 0; row < decisions.size(); ++row) ++found[decisions.kind(row)];
    std::map<std::string, std::string> expected;
    for (std::size_t i = 2; i < wanted.items.size(); ++i)
      expected[wanted.items[i].name.text] =
          wanted.items[i].given.items.empty() ? "" : wanted.items[i].given.front().text;
    std::string fresh = "counts";
    bool same = true;
    for (const decision_kind kind :
         {decision_kind::bind, decision_kind::pipeline, decision_kind::evict, decision_kind::move,
          decision_kind::migrate, decision_kind::repartition, decision_kind::unschedulable}) {
      const std::string name(decision_kind_name(kind));
      const std::size_t count = found.contains(name) ? found.at(name) : 0;
      const bool named = expected.contains(name);
      same = same && (named ? expected.at(name) == std::to_string(count) : count == 0);
      expected.erase(name);
      if (named || count > 0) fresh += fmt::format(" {}={}", name, count);
    }
    if (!expected.empty())
      return add(wanted.first_line, fmt::format("\"{}\" is no kind of decision", expected.begin()->first));
    if (!same) renew(wanted, fresh);
  }

  result<output_rows> rows_of(const session& ran, table_kind kind) {
    result<table> rows = ran.to_table(kind);
    if (!rows) return rows.take_failure();
    return output_rows(std::move(*rows), dimensions_of(ran.base()));
  }

  void judge_reason(const statement& wanted, const session& ran) {
    const result<output_rows> rows = rows_of(ran, table_kind::reason);
    if (!rows) return add(wanted.first_line, rows.failure().message);
    if (auto good = scenario_text::check_fields(table_kind::reason, wanted, 3); !good)
      return add(wanted.first_line, good.failure().message);
    std::string found;
    for (const std::size_t row : rows->find("group", wanted.items[2].name.text)) {
      bool same = true;
      std::string values;
      for (std::size_t i = 3; i < wanted.items.size(); ++i) {
        const result<std::string> differs = rows->difference(wanted.items[i], row);
        same = same && differs && differs->empty();
        values += " " + rows->field(wanted.items[i].name.text, row);
      }
      if (same) return;
      found += (found.empty() ? "" : "; ") + values.substr(std::min<std::size_t>(1, values.size()));
    }
    add(wanted.first_line, fmt::format("expected {}, found {}", written(wanted), found.empty() ? "no reason" : found));
  }

  void judge_row(const statement& wanted, const session& ran) {
    const std::string& what = wanted.items[1].name.text;
    const std::string& name = wanted.items[2].name.text;
    table_kind kind = table_kind::placement;
    if (what == "queue") kind = table_kind::queue_share;
    if (what == "statistic") kind = table_kind::statistic;
    if (what == "sharing_group") kind = table_kind::sharing_group;
    if (what == "outcome") kind = table_kind::outcome;
    if (what == "attempt") kind = table_kind::attempt;
    const result<output_rows> rows = rows_of(ran, kind);
    if (!rows) return add(wanted.first_line, rows.failure().message);
    const std::vector<std::size_t> found = rows->find(what == "statistic"       ? "action"
                                                      : what == "sharing_group" ? "name"
                                                      : what == "outcome"       ? "pod"
                                                      : what == "attempt"       ? "group"
                                                                                : what,
                                                      name);
    if (found.empty())
      return add(wanted.first_line, fmt::format("there is no {} \"{}\"", what == "statistic" ? "action" : what, name));
    // A group has one attempt for each action; the other tables have one row for a name.
    std::string fresh;
    for (const std::size_t row : found) {
      bool same = true;
      std::string text = fmt::format("{} {}", what, as_word(name));
      for (std::size_t i = 3; i < wanted.items.size(); ++i) {
        const result<std::string> differs = rows->difference(wanted.items[i], row);
        if (!differs) return add(wanted.first_line, differs.failure().message);
        same = same && differs->empty();
        text += " " + rows->field(wanted.items[i].name.text, row);
      }
      if (same) return;
      if (fresh.empty()) fresh = std::move(text);
    }
    renew(wanted, fresh);
  }

  const scenario& scenario_;
  const scenario_setup& setup_;
  line_edits edits_;
  scenario_outcome outcome_;
  cluster cluster_;
  scenario_settings settings_;
  std::optional<session> last_;
  std::int64_t last_now_ = 0;
  std::vector<std::string> left_out_;  ///< objects in quarantine
  std::set<std::string> settled_;      ///< groups that have been settled after the last session
};

}  // namespace

scenario_outcome play_scenario(const scenario& what, const scenario_setup& with) { return player(what, with).play(); }

result<scenario_settings> read_settings(std::span<const std::string> texts, const scenario_settings& before) {
  scenario_settings made;
  engine trial;
  cluster empty;
  if (auto done = set_engine(before, trial); !done) return done.failure();
  for (const std::string& text : texts) {
    const auto fail = [&](std::string_view what) {
      return error{status::argument, fmt::format("{}: {}", text, what), {}};
    };
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) return fail("expected OPTION=VALUE");
    const scenario_settings one{{text.substr(0, equals), text.substr(equals + 1)}};
    result<void> done = set_engine(one, trial);
    if (done) done = set_cluster(one, empty);
    // Names of actions and parts are only looked up by sessions.
    if (done) {
      if (const auto opened = trial.open(empty.take_snapshot(), 0); !opened) done = opened.failure();
    }
    if (!done) return fail(done.failure().message);
    made.push_back(one.front());
  }
  return made;
}

namespace {

result<statement> parse_decision(std::string_view line) {
  const auto fail = [&](std::string_view what) {
    return error{status::argument, fmt::format("\"{}\": {}", base::printable(line, line.size()), what), {}};
  };
  if (line.find('\n') != std::string_view::npos) return fail("expected one line");
  result<scenario> parsed = parse_scenario(fmt::format("scenario 1\nrun\nexpect {}\n", line), "");
  if (!parsed) {
    // The place is one of the text around the line.
    const std::string& what = parsed.failure().message;
    return fail(std::string_view(what).substr(what.find(": ") + 2));
  }
  if (parsed->steps.front().expectations.empty()) return fail("expected a decision such as \"evict POD\"");
  statement& wanted = parsed->steps.front().expectations.front().text;
  if (!is_decision(wanted.items[1].name.text) || wanted.items.size() < 3) {
    return fail("no decision such as \"evict POD\" or \"unschedulable GROUP\"");
  }
  if (auto good = decision_lines::check(wanted); !good) return fail(good.failure().message);
  return std::move(wanted);
}

}  // namespace

result<void> check_decision(std::string_view line) {
  const result<statement> wanted = parse_decision(line);
  return wanted ? result<void>{} : result<void>(wanted.failure());
}

result<bool> decides(const session& ran, std::string_view line) {
  const result<statement> wanted = parse_decision(line);
  if (!wanted) return wanted.failure();
  const result<decision_lines> found = decision_lines::of(ran);
  if (!found) return found.failure();
  for (std::size_t row = 0; row < found->size(); ++row) {
    if (found->fits(*wanted, row)) return true;
  }
  return false;
}

result<std::vector<std::string>> expected_decisions(const session& of) {
  const result<decision_lines> found = decision_lines::of(of);
  if (!found) return found.failure();
  std::vector<std::string> lines;
  lines.reserve(found->size());
  for (std::size_t row = 0; row < found->size(); ++row) lines.push_back(found->line(row));
  if (lines.empty()) lines.emplace_back("expect nothing");
  return lines;
}

}  // namespace kaisched::io
