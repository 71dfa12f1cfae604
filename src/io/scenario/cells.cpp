#include "io/scenario/cells.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/int128.hpp"
#include "io/column_form.hpp"

namespace kaisched::io::scenario_text {

namespace {

using base::int128;

error wrong(std::string_view what) { return {status::argument, std::string(what), {}}; }

struct suffix {
  std::string_view text;
  std::int64_t factor;
};
constexpr std::array binary_suffixes{
    suffix{"Pi", std::int64_t{1} << 50U}, suffix{"Ti", std::int64_t{1} << 40U}, suffix{"Gi", std::int64_t{1} << 30U},
    suffix{"Mi", std::int64_t{1} << 20U}, suffix{"Ki", std::int64_t{1} << 10U},
};
constexpr std::array decimal_suffixes{
    suffix{"P", 1'000'000'000'000'000},
    suffix{"T", 1'000'000'000'000},
    suffix{"G", 1'000'000'000},
    suffix{"M", 1'000'000},
    suffix{"k", 1'000},
};

constexpr std::array time_units{
    suffix{"d", 86'400'000'000'000},
    suffix{"h", 3'600'000'000'000},
    suffix{"m", 60'000'000'000},
    suffix{"s", 1'000'000'000},
    suffix{"ms", 1'000'000},
    suffix{"us", 1'000},
    suffix{"ns", 1},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t end = from;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - from;
}

/// Columns whose numbers are written with suffixes, and how much one of what is written is.
enum class scale_kind : std::uint8_t { none, quantity, time, row_dimension };

struct scale {
  scale_kind kind = scale_kind::none;
  std::int64_t unit = 1;
};

scale scale_of(const column_info& column) {
  if (column.unit == "ns") return {scale_kind::time, 1};
  if (column.unit == "bytes") return {scale_kind::quantity, 1};
  if (column.unit == "milli-GPU") return {scale_kind::quantity, whole_device};
  if (column.unit == "fixed units" && column.shape == column_shape::one) return {scale_kind::row_dimension, 1};
  return {};
}

result<std::int64_t> parse_integer(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size()) {
    return wrong(fmt::format("expected an integer, found \"{}\"", text));
  }
  return number;
}

result<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc{} || end != text.data() + text.size() || !std::isfinite(number)) {
    return wrong(fmt::format("expected a number, found \"{}\"", text));
  }
  return number;
}

std::int64_t most_of(const column_info& column) {
  if (column.type == column_type::u8) return std::numeric_limits<std::uint8_t>::max();
  if (column.type == column_type::u32) return std::numeric_limits<std::uint32_t>::max();
  return std::numeric_limits<std::int64_t>::max();
}

/// A single integer of a column; `unit` where amounts have one of their own.
result<std::int64_t> parse_scalar(const column_info& column, std::string_view text, const cell_context& context,
                                  std::int64_t amount_unit) {
  if (text == "unset" && column.fallback == "unset") return unset;
  if (text == "unlimited" && column.shape == column_shape::quotas) return unlimited;
  const column_form form = form_of(column);
  if (form == column_form::flag) {
    if (text == "true" || text == "1") return 1;
    if (text == "false" || text == "0") return 0;
    return wrong(fmt::format("expected true or false, found \"{}\"", text));
  }
  if (const auto known = value_names(form); !known.empty()) {
    const auto found = std::find(known.begin(), known.end(), text);
    if (found == known.end() || text.empty()) {
      return wrong(fmt::format("no {} is called \"{}\"; {}", column.unit, text, suggestion(text, known)));
    }
    return found - known.begin();
  }
  if (column.shape == column_shape::quotas && text.starts_with('-')) {
    return wrong(fmt::format("expected an amount, or unlimited for no bound at all, found \"{}\"", text));
  }
  if (column.shape != column_shape::one) return parse_quantity(text, amount_unit);
  const scale how = scale_of(column);
  if (how.kind == scale_kind::time) return parse_time(text, context.now);
  if (how.kind == scale_kind::quantity) return parse_quantity(text, how.unit);
  if (how.kind == scale_kind::row_dimension) return parse_quantity(text, unit_of_dimension(context.dimension));
  result<std::int64_t> number = parse_integer(text);
  if (!number) return number;
  const bool small = column.type == column_type::u8 || column.type == column_type::u32;
  if (small && (*number < 0 || *number > most_of(column))) {
    return wrong(fmt::format("expected an integer from 0 to {}, found {}", most_of(column), *number));
  }
  return number;
}

std::string format_scalar(const column_info& column, std::int64_t number, const cell_context& context,
                          std::int64_t amount_unit) {
  if (number == unset && column.fallback == "unset") return "unset";
  if (number == unlimited && column.shape == column_shape::quotas) return "unlimited";
  const column_form form = form_of(column);
  if (form == column_form::flag) return number != 0 ? "true" : "false";
  if (const auto known = value_names(form); !known.empty()) {
    const bool in = number >= 0 && static_cast<std::size_t>(number) < known.size();
    return in ? std::string(known[static_cast<std::size_t>(number)]) : "invalid";
  }
  if (column.shape != column_shape::one) return format_quantity(number, amount_unit);
  const scale how = scale_of(column);
  if (how.kind == scale_kind::time) return format_time(number);
  if (how.kind == scale_kind::quantity) return format_quantity(number, how.unit);
  if (how.kind == scale_kind::row_dimension) return format_quantity(number, unit_of_dimension(context.dimension));
  return std::to_string(number);
}

bool is_number_column(const column_info& column) { return column.type == column_type::f64; }

/// One element of a list of integers: `3` or `0-3`.
result<void> append_integers(const word& from, std::vector<std::int64_t>& to) {
  constexpr std::int64_t most = 10'000;
  const std::size_t dash = from.text.find('-', 1);
  const result<std::int64_t> first = parse_integer(std::string_view(from.text).substr(0, dash));
  if (!first) return first.failure();
  if (dash == std::string::npos) {
    to.push_back(*first);
    return {};
  }
  const result<std::int64_t> last = parse_integer(std::string_view(from.text).substr(dash + 1));
  if (!last) return last.failure();
  if (*first < 0 || *last < *first || *last - *first >= most)
    return wrong(fmt::format("\"{}\" is no range", from.text));
  for (std::int64_t i = *first; i <= *last; ++i) to.push_back(i);
  return {};
}

result<cell> parse_list(const column_info& column, const value& given) {
  cell made;
  const bool pairs = form_of(column) == column_form::pairs;
  if (column.type == column_type::i64_list) {
    if (given.kind == value_kind::map) return wrong("expected a list of integers such as [0,1]");
    for (const word& one : given.items) {
      if (auto done = append_integers(one, made.integers); !done) return done.failure();
    }
    return made;
  }
  if (pairs != (given.kind == value_kind::map)) {
    return wrong(pairs ? "expected keys and values such as {zone=a,rack=r1}"
                       : "expected a list of texts such as [a,b]");
  }
  for (std::size_t i = 0; i < given.items.size(); ++i) {
    if (pairs) made.texts.push_back(given.keys[i].text);
    made.texts.push_back(given.items[i].text);
  }
  return made;
}

std::string format_list(const column_info& column, const cell& given) {
  std::string out;
  if (column.type == column_type::i64_list) return fmt::format("[{}]", fmt::join(given.integers, ","));
  if (form_of(column) == column_form::pairs) {
    for (std::size_t i = 0; i + 1 < given.texts.size(); i += 2) {
      if (i > 0) out += ',';
      out += quoted_if_needed(given.texts[i], text_place::key) + "=" +
             quoted_if_needed(given.texts[i + 1], text_place::element);
    }
    return "{" + out + "}";
  }
  for (std::size_t i = 0; i < given.texts.size(); ++i) {
    if (i > 0) out += ',';
    out += quoted_if_needed(given.texts[i], text_place::element);
  }
  return "[" + out + "]";
}

result<void> set_entry(const column_info& column, std::size_t entry, std::string_view text, std::string_view dimension,
                       const cell_context& context, cell& to) {
  if (is_number_column(column)) {
    const result<double> number = parse_number(text);
    if (!number) return number.failure();
    to.numbers[entry] = *number;
    return {};
  }
  const result<std::int64_t> number = parse_scalar(column, text, context, unit_of_dimension(dimension));
  if (!number) return number.failure();
  to.integers[entry] = *number;
  return {};
}

result<cell> parse_amounts(const column_info& column, const value& given, const cell_context& context) {
  const std::vector<std::string_view> known = entries_of(column, context);
  cell made = default_cell(column, context.dimensions.size());
  if (given.kind == value_kind::text && column.shape == column_shape::quotas) {
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (auto done = set_entry(column, i, given.front().text, known[i], context, made); !done) return done.failure();
    }
    return made;
  }
  if (given.kind != value_kind::map) return wrong("expected amounts such as {cpu=4,gpu=1}");
  for (std::size_t i = 0; i < given.items.size(); ++i) {
    value one;
    one.kind = value_kind::text;
    one.items = {given.items[i]};
    if (auto done = parse_entry(column, given.keys[i].text, one, context, made); !done) return done.failure();
  }
  return made;
}

}  // namespace

std::int64_t unit_of_dimension(std::string_view dimension) {
  return dimension == "cpu" || dimension == "gpu" ? 1000 : 1;
}

result<std::int64_t> parse_quantity(std::string_view text, std::int64_t unit) {
  const auto bad = [&] {
    return wrong(fmt::format("expected an amount such as 4, 0.5, 500m or 16Gi, found \"{}\"", text));
  };
  std::size_t at = !text.empty() && text.front() == '-' ? 1 : 0;
  const bool negative = at == 1;
  const std::size_t whole = digits_at(text, at);
  std::size_t fraction = 0;
  std::string digits(text.substr(at, whole));
  at += whole;
  if (at < text.size() && text[at] == '.') {
    fraction = digits_at(text, at + 1);
    digits += text.substr(at + 1, fraction);
    at += 1 + fraction;
    if (fraction == 0) return bad();
  }
  constexpr std::size_t most_digits = 19;
  if (whole == 0) return bad();
  if (digits.size() > most_digits) return error{status::limit, fmt::format("\"{}\" has too many digits", text), {}};
  int128 amount = 0;
  for (const char c : digits) amount = amount * 10 + (c - '0');
  int128 divisor = 1;
  for (std::size_t i = 0; i < fraction; ++i) divisor *= 10;
  const std::string_view rest = text.substr(at);
  std::int64_t factor = rest.empty() ? 1 : 0;
  if (rest == "m") {
    factor = 1;
    divisor *= 1000;
  }
  for (const suffix& one : binary_suffixes) factor = rest == one.text ? one.factor : factor;
  for (const suffix& one : decimal_suffixes) factor = rest == one.text ? one.factor : factor;
  if (factor == 0) return bad();
  // At most 64 + 50 + 10 bits.
  amount = amount * factor * unit;
  if (amount % divisor != 0) {
    return wrong(fmt::format("\"{}\" is not a whole number of {}", text, unit == 1 ? "units" : "thousandths"));
  }
  amount /= divisor;
  if (amount > std::numeric_limits<std::int64_t>::max()) {
    return error{status::limit, fmt::format("\"{}\" is too large", text), {}};
  }
  return static_cast<std::int64_t>(negative ? -amount : amount);
}

std::string format_quantity(std::int64_t amount, std::int64_t unit) {
  if (amount % unit != 0) {
    std::string text = fmt::format("{}m", amount);  // a unit is 1 or 1000
    return text;
  }
  const std::int64_t whole = amount / unit;
  std::string shortest = std::to_string(whole);
  if (whole == 0) return shortest;
  const auto try_suffix = [&](const suffix& one) {
    if (whole % one.factor != 0) return;
    std::string text = fmt::format("{}{}", whole / one.factor, one.text);
    if (text.size() < shortest.size()) shortest = std::move(text);
  };
  for (const suffix& one : binary_suffixes) try_suffix(one);
  constexpr std::int64_t least_rounded = 1'000'000;  // 4000 cores are read more easily than 4k
  if (whole >= least_rounded || whole <= -least_rounded) {
    for (const suffix& one : decimal_suffixes) try_suffix(one);
  }
  return shortest;
}

result<std::int64_t> parse_time(std::string_view text, std::int64_t now) {
  const auto bad = [&] {
    return wrong(fmt::format("expected a time or duration such as 90s, 1h30m, now-5m or 0, found \"{}\"", text));
  };
  if (text == "0") return 0;
  std::string_view rest = text;
  int128 sum = 0;
  bool negative = false;
  if (rest.starts_with("now")) {
    sum = now;
    rest.remove_prefix(3);
    if (rest.empty()) return now;
    if (rest.front() != '+' && rest.front() != '-') return bad();
  }
  if (!rest.empty() && (rest.front() == '-' || (rest.front() == '+' && rest.size() < text.size()))) {
    negative = rest.front() == '-';
    rest.remove_prefix(1);
  }
  if (rest.empty()) return bad();
  while (!rest.empty()) {
    const std::size_t digits = digits_at(rest, 0);
    std::int64_t number = 0;
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): the end is given as well
    const auto [end, fault] = std::from_chars(rest.data(), rest.data() + digits, number);
    if (digits == 0) return bad();
    if (fault != std::errc{}) return error{status::limit, fmt::format("\"{}\" is too large", text), {}};
    rest.remove_prefix(digits);
    std::size_t letters = 0;
    while (letters < rest.size() && !is_digit(rest[letters])) ++letters;
    const auto unit = std::find_if(time_units.begin(), time_units.end(),
                                   [&](const suffix& one) { return one.text == rest.substr(0, letters); });
    if (unit == time_units.end()) return bad();
    const int128 part = static_cast<int128>(number) * unit->factor;
    sum += negative ? -part : part;
    constexpr int128 most = std::numeric_limits<std::int64_t>::max();
    if (sum > most || sum < -most) return error{status::limit, fmt::format("\"{}\" is too large", text), {}};
    rest.remove_prefix(letters);
  }
  return static_cast<std::int64_t>(sum);
}

std::string format_time(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0";
  std::string text = nanoseconds < 0 ? "-" : "";
  std::uint64_t rest =
      nanoseconds < 0 ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
  for (const suffix& unit : time_units) {
    const std::uint64_t count = rest / static_cast<std::uint64_t>(unit.factor);
    if (count > 0) text += fmt::format("{}{}", count, unit.text);
    rest %= static_cast<std::uint64_t>(unit.factor);
  }
  return text;
}

std::vector<std::string_view> entries_of(const column_info& column, const cell_context& context) {
  if (column.shape == column_shape::dimensions) return {context.dimensions.begin(), context.dimensions.end()};
  if (column.shape == column_shape::quotas) return {quota_names().begin(), quota_names().end()};
  return {};
}

cell default_cell(const column_info& column, std::size_t dimensions) {
  cell made;
  std::size_t width = 1;
  if (column.shape == column_shape::dimensions) width = dimensions;
  if (column.shape == column_shape::quotas) width = quota_dimensions;
  if (column.shape == column_shape::ragged) {
    if (column.type == column_type::string) made.texts.emplace_back(column.fallback);
  } else if (is_number_column(column)) {
    made.numbers.assign(width, fallback_number(column));
  } else {
    made.integers.assign(width, column.shape == column_shape::dimensions ? 0 : fallback_integer(column));
  }
  return made;
}

result<cell> parse_cell(const column_info& column, const value& given, const cell_context& context) {
  if (given.kind == value_kind::none) {
    if (form_of(column) != column_form::flag) return wrong(fmt::format("expected {}=...", column.name));
    return cell{{1}, {}, {}};
  }
  if (column.shape == column_shape::dimensions || column.shape == column_shape::quotas) {
    return parse_amounts(column, given, context);
  }
  const bool list = column.type == column_type::string_list || column.type == column_type::i64_list;
  if (list) return parse_list(column, given);
  if (given.kind != value_kind::text) return wrong("expected one value, not a list");
  cell made = default_cell(column, context.dimensions.size());
  if (column.type == column_type::string) {
    made.texts = {given.front().text};
    return made;
  }
  if (auto done = set_entry(column, 0, given.front().text, context.dimension, context, made); !done) {
    return done.failure();
  }
  return made;
}

result<void> parse_entry(const column_info& column, std::string_view dimension, const value& given,
                         const cell_context& context, cell& to) {
  const std::vector<std::string_view> known = entries_of(column, context);
  const auto found = std::find(known.begin(), known.end(), dimension);
  if (found == known.end()) {
    return wrong(fmt::format("{} has no dimension \"{}\"; {}", column.name, dimension, suggestion(dimension, known)));
  }
  if (given.kind != value_kind::text) return wrong("expected one amount");
  return set_entry(column, static_cast<std::size_t>(found - known.begin()), given.front().text, dimension, context, to);
}

cell cell_at(const column_view& values, std::uint64_t row) {
  cell made;
  if (values.type == column_type::string) {
    made.texts.emplace_back(values.string(row));
  } else if (values.type == column_type::string_list) {
    for (const std::string_view one : split_list(values.string(row))) made.texts.emplace_back(one);
  } else if (values.type == column_type::i64_list) {
    const auto list = values.list(row);
    made.integers.assign(list.begin(), list.end());
  } else {
    for (std::uint32_t i = 0; i < values.width; ++i) {
      const auto at = static_cast<std::size_t>(row * values.width + i);
      switch (values.type) {
        case column_type::u8:
          made.integers.push_back(static_cast<const std::uint8_t*>(values.data)[at]);
          break;
        case column_type::u32:
          made.integers.push_back(static_cast<const std::uint32_t*>(values.data)[at]);
          break;
        case column_type::u64:
          made.integers.push_back(static_cast<std::int64_t>(static_cast<const std::uint64_t*>(values.data)[at]));
          break;
        case column_type::f64:
          made.numbers.push_back(static_cast<const double*>(values.data)[at]);
          break;
        default:
          made.integers.push_back(static_cast<const std::int64_t*>(values.data)[at]);
      }
    }
  }
  return made;
}

std::string format_cell(const column_info& column, const cell& given, const cell_context& context) {
  if (column.type == column_type::string) return quoted_if_needed(given.texts.front(), text_place::value);
  if (column.shape == column_shape::ragged) return format_list(column, given);
  const bool numbers = is_number_column(column);
  const auto one = [&](std::size_t i, std::string_view dimension) {
    return numbers ? fmt::format("{}", given.numbers[i])
                   : format_scalar(column, given.integers[i], context, unit_of_dimension(dimension));
  };
  if (column.shape == column_shape::one) return one(0, context.dimension);
  const std::vector<std::string_view> known = entries_of(column, context);
  const std::size_t width = std::min(known.size(), numbers ? given.numbers.size() : given.integers.size());
  const cell plain = default_cell(column, context.dimensions.size());
  std::string out;
  for (std::size_t i = 0; i < width; ++i) {
    const bool is_default = numbers ? given.numbers[i] == plain.numbers[i] : given.integers[i] == plain.integers[i];
    if (is_default) continue;
    if (!out.empty()) out += ',';
    out += fmt::format("{}={}", quoted_if_needed(known[i], text_place::key), one(i, known[i]));
  }
  return "{" + out + "}";
}

void push_cell(table::column& to, const column_info& column, const cell& given, std::size_t dimensions) {
  if (column.type == column_type::string) return to.push(std::string_view(given.texts.front()));
  if (column.type == column_type::string_list) {
    const std::vector<std::string_view> views(given.texts.begin(), given.texts.end());
    return to.push_list(std::span<const std::string_view>(views));
  }
  if (column.type == column_type::i64_list) return to.push_list(std::span<const std::int64_t>(given.integers));
  if (is_number_column(column)) {
    for (const double number : given.numbers) to.push(number);
    return;
  }
  std::size_t pushed = 0;
  for (const std::int64_t number : given.integers) {
    ++pushed;
    if (to.type() == column_type::u8) {
      to.push(static_cast<std::uint8_t>(number));
    } else if (to.type() == column_type::u32) {
      to.push(static_cast<std::uint32_t>(number));
    } else if (to.type() == column_type::u64) {
      to.push(static_cast<std::uint64_t>(number));
    } else {
      to.push(number);
    }
  }
  // A row that was written before a dimension was registered has none of it.
  if (column.shape == column_shape::dimensions) {
    for (; pushed < dimensions; ++pushed) to.push(std::int64_t{0});
  }
}

}  // namespace kaisched::io::scenario_text
