#include "usage/usage_ledger.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "api_server/credentials.hpp"
#include "api_server/text_parts.hpp"

namespace shim {

namespace {

constexpr std::size_t kinds = std::tuple_size_v<quota_amounts>;
constexpr std::string_view first_line = "kaisched-usage/1";
/// Of a sliding window: what leaves it is right up to what changed within one of them.
constexpr milli_time slots_of_window = 48;
/// The end of a slot of a text.
constexpr milli_time unreadable = std::numeric_limits<milli_time>::min();
/// Parts of the capacity that no decision depends on.
constexpr double nothing = 1e-9;

bool is_zero(const quota_amounts& of) { return of == quota_amounts{}; }

void add(quota_amounts& to, const quota_amounts& what, double times) {
  for (std::size_t i = 0; i < kinds; ++i) to[i] += what[i] * times;
}

std::string_view word(std::string_view& text) { return take_part(text, ' '); }

template <class T>
T number_of(std::string_view text) {
  if (const auto value = read_number<T>(text)) return *value;
  throw bad_input(fmt::format("expected a number, found \"{}\"", text));
}

quota_amounts amounts_of(std::string_view text) {
  quota_amounts all{};
  for (double& one : all) {
    one = number_of<double>(take_part(text, ','));
    if (!(one >= 0 && one <= 1e300)) throw bad_input("expected amounts that are not negative");
  }
  if (!text.empty()) throw bad_input("expected three amounts");
  return all;
}

std::string amounts_text(const quota_amounts& of) { return fmt::format("{:.8g},{:.8g},{:.8g}", of[0], of[1], of[2]); }

}  // namespace

usage_ledger::usage_ledger(usage_window window, std::chrono::milliseconds half_life)
    : window_(window), half_life_(static_cast<double>(half_life.count()) / 1e3) {}

std::size_t usage_ledger::row_of(std::string_view queue) {
  if (const auto found = rows_.find(queue); found != rows_.end()) return found->second;
  const std::size_t row = held_.size();
  rows_.emplace(queue, row);
  held_.emplace_back();
  for (slot& one : slots_) one.queues.emplace_back();
  return row;
}

void usage_ledger::note(milli_time now, const std::vector<holding>& queues, const quota_amounts& capacity) {
  if (has_begun_ && now > last_) charge(last_, now);
  last_ = now;
  has_begun_ = true;
  drop_old(now);
  std::fill(held_.begin(), held_.end(), quota_amounts{});
  for (const holding& one : queues) held_[row_of(one.queue)] = one.held;
  capacity_ = capacity;
}

/// Each multiple of the width begins another slot, so restarts do not move them. What a clock that went back tells once
/// more goes into the newest one.
usage_ledger::slot& usage_ledger::slot_at(milli_time from, milli_time width) {
  const auto is_next = [&] { return from >= slots_.back().to && from / width != slots_.back().from / width; };
  if (slots_.empty() || (window_.type == window_type::sliding && is_next())) {
    slots_.push_back({from, from, {}, std::vector<quota_amounts>(held_.size())});
  }
  return slots_.back();
}

void usage_ledger::charge(milli_time from, milli_time to) {
  const milli_time width = std::max<milli_time>(1, window_.size.count() / slots_of_window);
  const bool slides = window_.type == window_type::sliding;
  drop_old(to);
  from = std::max(from, window_.begin_at(to));
  while (from < to) {
    const milli_time end = slides ? std::min(to, (from / width + 1) * width) : to;
    const double seconds = static_cast<double>(end - from) / 1e3;
    double counts = seconds;
    if (half_life_ > 0) {
      const double kept = std::exp2(-seconds / half_life_);
      counts = half_life_ / std::numbers::ln2 * (1 - kept);
      for (slot& one : slots_) {
        for (double& amount : one.capacity) amount *= kept;
        for (quota_amounts& amounts : one.queues) {
          for (double& amount : amounts) amount *= kept;
        }
      }
    }
    if (!is_zero(capacity_)) {
      slot& into = slot_at(from, width);
      into.to = std::max(into.to, end);
      add(into.capacity, capacity_, counts);
      for (std::size_t row = 0; row < held_.size(); ++row) add(into.queues[row], held_[row], counts);
    }
    from = end;
  }
}

void usage_ledger::drop_old(milli_time now) {
  const milli_time begin = window_.begin_at(now);
  const std::size_t before = slots_.size();
  std::erase_if(slots_, [&](const slot& one) {
    const bool is_over = one.to <= begin || (window_.type != window_type::sliding && one.from < begin);
    return is_over || one.from > now + window_.size.count();  // or of a clock that was wrong
  });
  if (slots_.size() != before) drop_rows();
}

/// Queues that neither hold nor have held anything that counts.
void usage_ledger::drop_rows() {
  quota_amounts whole{};
  for (const slot& one : slots_) add(whole, one.capacity, 1);
  const auto counts = [&](std::size_t row) {
    if (!is_zero(held_[row])) return true;
    quota_amounts used{};
    for (const slot& one : slots_) add(used, one.queues[row], 1);
    for (std::size_t i = 0; i < kinds; ++i) {
      if (used[i] > whole[i] * nothing) return true;
    }
    return false;
  };
  std::vector<std::size_t> kept;
  std::map<std::string, std::size_t, std::less<>> rows;
  for (const auto& [name, row] : rows_) {
    if (!counts(row)) continue;
    rows.emplace(name, kept.size());
    kept.push_back(row);
  }
  const auto chosen = [&kept](const std::vector<quota_amounts>& from) {
    std::vector<quota_amounts> to;
    to.reserve(kept.size());
    for (const std::size_t row : kept) to.push_back(from[row]);
    return to;
  };
  held_ = chosen(held_);
  for (slot& one : slots_) one.queues = chosen(one.queues);
  rows_ = std::move(rows);
}

double usage_ledger::share_inside(const slot& one) const {
  const milli_time begin = window_.begin_at(last_);
  if (one.from >= begin || one.to <= one.from) return 1;
  return std::max(0.0, static_cast<double>(one.to - begin) / static_cast<double>(one.to - one.from));
}

queue_parts usage_ledger::parts() const {
  quota_amounts whole{};
  std::vector<quota_amounts> used(held_.size());
  for (const slot& one : slots_) {
    const double inside = share_inside(one);
    add(whole, one.capacity, inside);
    for (std::size_t row = 0; row < used.size(); ++row) add(used[row], one.queues[row], inside);
  }
  queue_parts all;
  for (const auto& [name, row] : rows_) {
    quota_amounts part{};
    for (std::size_t i = 0; i < kinds; ++i) part[i] = whole[i] > 0 ? used[row][i] / whole[i] : 0;
    if (!is_zero(part)) all.emplace(name, part);
  }
  return all;
}

void usage_ledger::halve_slots() {
  std::deque<slot> fewer;
  for (std::size_t at = 0; at < slots_.size(); ++at) {
    slot& one = slots_[at];
    if (at % 2 == 0) {
      fewer.push_back(std::move(one));
      continue;
    }
    slot& into = fewer.back();
    into.to = std::max(into.to, one.to);
    add(into.capacity, one.capacity, 1);
    for (std::size_t row = 0; row < held_.size(); ++row) add(into.queues[row], one.queues[row], 1);
  }
  slots_ = std::move(fewer);
}

std::string usage_ledger::all_lines() const {
  std::string text = fmt::format("{}\n", first_line);
  if (has_begun_) text += fmt::format("until {}\n", last_);
  for (const slot& one : slots_) text += fmt::format("slot {} {} {}\n", one.from, one.to, amounts_text(one.capacity));
  for (const auto& [name, row] : rows_) {
    std::string line = "queue " + name;
    const std::size_t empty = line.size();
    for (std::size_t at = 0; at < slots_.size(); ++at) {
      if (!is_zero(slots_[at].queues[row])) line += fmt::format(" {}:{}", at, amounts_text(slots_[at].queues[row]));
    }
    if (line.size() > empty) text += line + "\n";
  }
  return text;
}

std::string usage_ledger::text(std::size_t most_bytes, std::size_t& left_out) const {
  left_out = 0;
  std::string text = all_lines();
  if (text.size() <= most_bytes) return text;
  usage_ledger smaller = *this;
  while (text.size() > most_bytes && smaller.slots_.size() > 1) {
    smaller.halve_slots();
    text = smaller.all_lines();
  }
  if (text.size() <= most_bytes) return text;
  // One slot, one line for each queue.
  std::vector<std::pair<double, std::string_view>> lines;
  std::string head;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.size());
    if (!line.starts_with("queue ")) {
      head += line;
      continue;
    }
    const std::string_view name = line.substr(6, line.find(' ', 6) - 6);
    const quota_amounts& used = smaller.slots_.front().queues[smaller.rows_.find(name)->second];
    double most = 0;
    for (std::size_t i = 0; i < kinds; ++i) {
      const double whole = smaller.slots_.front().capacity[i];
      if (whole > 0) most = std::max(most, used[i] / whole);
    }
    lines.emplace_back(most, line);
  }
  std::sort(lines.begin(), lines.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  for (const auto& [most, line] : lines) {
    if (head.size() + line.size() > most_bytes) {
      ++left_out;
    } else {
      head += line;
    }
  }
  return head;
}

std::vector<std::string> usage_ledger::read(std::string_view text) {
  slots_.clear();
  rows_.clear();
  held_.clear();
  capacity_ = {};
  has_begun_ = false;
  std::vector<std::string> faults;
  std::size_t number = 0;
  if (!text.starts_with(first_line)) {
    faults.push_back(fmt::format("expected \"{}\" in front", first_line));
    return faults;
  }
  while (!text.empty()) {
    const std::string_view line = take_part(text, '\n');
    if (++number == 1 || line.empty()) continue;
    try {
      read_line(line);
    } catch (const bad_input& fault) {
      faults.push_back(fmt::format("line {}: {}", number, fault.what()));
    }
  }
  std::erase_if(slots_, [](const slot& one) { return one.to == unreadable; });
  return faults;
}

void usage_ledger::read_line(std::string_view line) {
  const std::string_view what = word(line);
  if (what == "until") {
    last_ = number_of<milli_time>(line);
    has_begun_ = true;
  } else if (what == "slot") {
    // Queues name slots by their number, so one that cannot be read has one as well.
    slots_.push_back({unreadable, unreadable, {}, std::vector<quota_amounts>(held_.size())});
    const milli_time from = number_of<milli_time>(word(line));
    const milli_time to = number_of<milli_time>(word(line));
    const quota_amounts capacity = amounts_of(line);
    const bool is_later = slots_.size() < 2 || slots_[slots_.size() - 2].to <= from;
    if (from < 0 || to < from || !is_later) throw bad_input("expected slots in the order of their times");
    slots_.back().from = from;
    slots_.back().to = to;
    slots_.back().capacity = capacity;
  } else if (what == "queue") {
    read_queue_line(line);
  } else {
    throw bad_input(fmt::format("expected until, slot or queue, found \"{}\"", what));
  }
}

void usage_ledger::read_queue_line(std::string_view rest) {
  const std::string_view name = word(rest);
  if (name.empty() || rest.empty()) throw bad_input("expected a queue and what it has used");
  std::vector<std::pair<std::size_t, quota_amounts>> used;
  while (!rest.empty()) {
    std::string_view one = word(rest);
    const std::size_t at = number_of<std::size_t>(take_part(one, ':'));
    if (at >= slots_.size()) throw bad_input(fmt::format("queue {}: there is no slot {}", name, at));
    used.emplace_back(at, amounts_of(one));
  }
  const std::size_t row = row_of(name);
  for (const auto& [at, amounts] : used) slots_[at].queues[row] = amounts;
}

}  // namespace shim
