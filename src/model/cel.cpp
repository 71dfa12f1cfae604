#include "model/cel.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <deque>
#include <limits>
#include <span>

#include "base/text.hpp"
#include "model/cel_lexer.hpp"
#include "model/cel_program.hpp"
#include "model/cel_value.hpp"

namespace kaisched::model {

namespace cel {

namespace {

constexpr std::uint64_t bytes_per_step = 16;

class evaluator {
 public:
  evaluator(const program& of, const device_facts& device, std::uint64_t most_steps)
      : program_(of), device_(device), left_(most_steps), locals_(of.slots) {}

  value run() {
    const value found = at(static_cast<std::uint32_t>(program_.nodes.size() - 1));
    return exhausted_ ? fail(position_, "more steps than an evaluation may take") : found;
  }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  // ---- store and work -------------------------------------------------------------------------------------------
  value fail(std::uint32_t position, std::string text) {
    value v;
    v.is = value_kind::error;
    v.position = position;
    v.text = texts_.emplace_back(std::move(text));
    return v;
  }
  value no_overload(const node& n, const value& a) {
    return fail(n.position, std::string(sign_of(n)) + " is not defined for " + std::string(name_of(a.is)));
  }
  value no_overload(const node& n, const value& a, const value& b) {
    return fail(n.position, std::string(sign_of(n)) + " is not defined for " + std::string(name_of(a.is)) + " and " +
                                std::string(name_of(b.is)));
  }
  value overflow(const node& n) { return fail(n.position, std::string(sign_of(n)) + ": overflow"); }
  value text(std::string made) { return of_text(texts_.emplace_back(std::move(made))); }
  value optional(const value* inner) {
    value v;
    v.is = value_kind::optional;
    v.inner = inner;
    return v;
  }
  value some(const value& inner) { return optional(&values_.emplace_back(inner)); }
  value version(std::string_view from) {
    value v;
    const std::optional<semantic_version> parsed = parse_semantic_version(from);
    if (!parsed) return v;
    v.is = value_kind::version;
    v.version = &versions_.emplace_back(*parsed);
    return v;
  }
  value list(std::vector<value> made) {
    value v;
    v.is = value_kind::list;
    v.list = &lists_.emplace_back(std::move(made));
    return v;
  }

  /// False: the work is used up, and nothing more is done.
  bool spend(std::uint64_t steps, std::uint32_t position) {
    if (exhausted_) return false;
    if (left_ < steps) {
      exhausted_ = true;
      position_ = position;
      left_ = 0;
      return false;
    }
    left_ -= steps;
    return true;
  }
  value stopped() {
    value v;
    v.is = value_kind::error;
    return v;
  }

  static std::string_view sign_of(const node& n) {
    switch (n.what) {
      case op::invert:
        return "'!'";
      case op::negate:
      case op::subtract:
        return "'-'";
      case op::add:
        return "'+'";
      case op::multiply:
        return "'*'";
      case op::divide:
        return "'/'";
      case op::modulo:
        return "'%'";
      case op::equal:
        return "'=='";
      case op::not_equal:
        return "'!='";
      case op::less:
        return "'<'";
      case op::less_or_equal:
        return "'<='";
      case op::greater:
        return "'>'";
      case op::greater_or_equal:
        return "'>='";
      case op::in:
        return "'in'";
      case op::both:
        return "'&&'";
      case op::either:
        return "'||'";
      case op::choose:
        return "'?'";
      case op::at:
      case op::maybe_at:
        return "'[]'";
      case op::call:
        return n.text;
      default:
        return "'.'";
    }
  }

  // ---- nodes ----------------------------------------------------------------------------------------------------
  value at(std::uint32_t number) {
    const node& n = program_.nodes[number];
    if (!spend(1, n.position)) return stopped();
    switch (n.what) {
      case op::null:
        return {};
      case op::boolean:
        return of_boolean(n.integer != 0);
      case op::integer:
        return of_integer(n.integer);
      case op::natural:
        return of_natural(n.natural);
      case op::real:
        return of_real(n.real);
      case op::text:
        return of_text(n.text);
      case op::device: {
        value v;
        v.is = value_kind::device;
        return v;
      }
      case op::local:
        return locals_[n.slot];
      case op::list:
        return list_of(n);
      case op::map:
        return map_of(n);
      case op::choose:
        return choose(n);
      case op::both:
      case op::either:
        return logic(n);
      case op::bind:
        return bind(n);
      case op::all:
      case op::exists:
      case op::exists_one:
      case op::filter:
      case op::each:
        return macro(n);
      case op::call:
        if (n.called == function::or_value || n.called == function::or_other) return or_else(n);
        return call(n);
      default:
        break;
    }
    const value first = at(n.of.front());
    if (is_error(first)) return first;
    switch (n.what) {
      case op::select:
        return field(n, first, of_text(n.text), false);
      case op::maybe:
        return field(n, first, of_text(n.text), true);
      case op::has:
        return has(n, first);
      case op::invert:
        return first.is == value_kind::boolean ? of_boolean(!first.flag) : no_overload(n, first);
      case op::negate:
        return negate(n, first);
      default:
        break;
    }
    const value second = at(n.of.back());
    if (is_error(second)) return second;
    switch (n.what) {
      case op::at:
        return field(n, first, second, false);
      case op::maybe_at:
        return field(n, first, second, true);
      case op::equal:
      case op::not_equal:
        return equality(n, first, second);
      case op::in:
        return in(n, first, second);
      case op::add:
      case op::subtract:
      case op::multiply:
      case op::divide:
      case op::modulo:
        return arithmetic(n, first, second);
      default:
        return relation(n, first, second);
    }
  }

  value list_of(const node& n) {
    std::vector<value> made;
    for (const std::uint32_t child : n.of) {
      made.push_back(at(child));
      if (is_error(made.back())) return made.back();
    }
    return list(std::move(made));
  }

  value map_of(const node& n) {
    std::vector<std::pair<value, value>> made;
    for (std::size_t i = 0; i < n.of.size(); i += 2) {
      const value key = at(n.of[i]);
      if (is_error(key)) return key;
      if (key.is == value_kind::null || key.is == value_kind::real || key.is > value_kind::text) {
        return fail(program_.nodes[n.of[i]].position, std::string(name_of(key.is)) + " is no key of a map");
      }
      for (const auto& [other, ignored] : made) {
        const std::optional<bool> same = same_as(key, other, n.position);
        if (!same) return stopped();
        if (*same) return fail(program_.nodes[n.of[i]].position, "a key stands in the map twice");
      }
      const value one = at(n.of[i + 1]);
      if (is_error(one)) return one;
      made.emplace_back(key, one);
    }
    value v;
    v.is = value_kind::map;
    v.map = &maps_.emplace_back(std::move(made));
    return v;
  }

  value choose(const node& n) {
    const value condition = at(n.of[0]);
    if (is_error(condition)) return condition;
    if (condition.is != value_kind::boolean) return no_overload(n, condition);
    return at(condition.flag ? n.of[1] : n.of[2]);
  }

  /// The first operand that decides does so whatever stands beside it; without one, the first error is the value.
  value logic(const node& n) {
    const bool decides = n.what == op::either;
    value failure = of_boolean(!decides);
    for (const std::uint32_t child : n.of) {
      value one = at(child);
      if (exhausted_) return stopped();
      if (one.is == value_kind::boolean && one.flag == decides) return one;
      if (one.is != value_kind::boolean && !is_error(one)) one = no_overload(n, one);
      if (is_error(one) && !is_error(failure)) failure = one;
    }
    return failure;
  }

  value bind(const node& n) {
    const value initial = at(n.of[0]);
    if (is_error(initial)) return initial;
    locals_[n.slot] = initial;
    return at(n.of[1]);
  }

  /// What a macro goes through: elements of a list, keys of a map; empty: neither.
  std::optional<std::vector<value>> range_of(const value& v) {
    std::vector<value> keys;
    const auto add = [&](std::string_view name) {
      if (keys.empty() || keys.back().text != name) keys.push_back(of_text(name));
    };
    switch (v.is) {
      case value_kind::list:
        return *v.list;
      case value_kind::map:
        for (const auto& [key, one] : *v.map) keys.push_back(key);
        return keys;
      case value_kind::attributes:
        for (const device_attribute& one : device_.attributes) add(one.domain);
        return keys;
      case value_kind::capacities:
        for (const device_capacity& one : device_.capacities) add(one.domain);
        return keys;
      case value_kind::attributes_of:
        for (const device_attribute& one : device_.attributes) {
          if (one.domain == v.text) add(one.name);
        }
        return keys;
      case value_kind::capacities_of:
        for (const device_capacity& one : device_.capacities) {
          if (one.domain == v.text) add(one.name);
        }
        return keys;
      default:
        return std::nullopt;
    }
  }

  value macro(const node& n) {
    const value from = at(n.of[0]);
    if (is_error(from)) return from;
    const std::optional<std::vector<value>> range = range_of(from);
    if (!range) return fail(n.position, "a macro goes through a list or a map, not " + std::string(name_of(from.is)));
    if (!spend(range->size(), n.position)) return stopped();
    const bool quantifies = n.what == op::all || n.what == op::exists;
    value failure;
    std::int64_t count = 0;
    std::vector<value> kept;
    for (const value& one : *range) {
      locals_[n.slot] = one;
      const value found = at(n.of[1]);
      if (exhausted_) return stopped();
      if (n.what == op::each && n.of.size() == 2) {
        if (is_error(found)) return found;
        kept.push_back(found);
        continue;
      }
      if (found.is == value_kind::boolean) {
        if (quantifies && found.flag == (n.what == op::exists)) return found;
        if (!found.flag) continue;
        ++count;
        locals_[n.slot] = one;
        kept.push_back(n.what == op::each ? at(n.of[2]) : one);
        if (is_error(kept.back())) return kept.back();
        continue;
      }
      const value wrong = is_error(found) ? found : fail(n.position, "the condition of a macro is not a bool");
      if (!quantifies) return wrong;
      if (!is_error(failure)) failure = wrong;
    }
    if (is_error(failure)) return failure;
    if (quantifies) return of_boolean(n.what == op::all);
    return n.what == op::exists_one ? of_boolean(count == 1) : list(std::move(kept));
  }

  // ---- fields and keys ------------------------------------------------------------------------------------------
  value of_attribute(const device_attribute& one) {
    const bool numbers = one.kind == attribute_kind::boolean || one.kind == attribute_kind::integer;
    std::vector<value> made;
    const std::size_t size = numbers ? one.numbers.size() : one.texts.size();
    for (std::size_t i = 0; i < size; ++i) {
      switch (one.kind) {
        case attribute_kind::boolean:
          made.push_back(of_boolean(one.numbers[i] != 0));
          break;
        case attribute_kind::integer:
          made.push_back(of_integer(one.numbers[i]));
          break;
        case attribute_kind::text:
          made.push_back(of_text(one.texts[i]));
          break;
        case attribute_kind::version:
          made.push_back(version(one.texts[i]));
          break;
      }
    }
    if (one.is_list) return list(std::move(made));
    return made.empty() ? value{} : made.front();
  }

  /// The value behind a key; empty: there is none, or an error for what has no keys.
  std::optional<value> find(const node& n, const value& in, const value& key) {
    const bool of_device = in.is >= value_kind::device;
    if (of_device && key.is != value_kind::text) return no_overload(n, in, key);
    value v;
    switch (in.is) {
      case value_kind::device:
        if (key.text == "driver") return of_text(device_.driver);
        if (key.text == "allowMultipleAllocations") return of_boolean(device_.allow_multiple_allocations);
        if (key.text != "attributes" && key.text != "capacity") return std::nullopt;
        v.is = key.text == "attributes" ? value_kind::attributes : value_kind::capacities;
        return v;
      case value_kind::attributes:
      case value_kind::capacities:  // a domain that is not there is empty
        v.is = in.is == value_kind::attributes ? value_kind::attributes_of : value_kind::capacities_of;
        v.text = key.text;
        return v;
      case value_kind::attributes_of:
        for (const device_attribute& one : device_.attributes) {
          if (one.domain == in.text && one.name == key.text) return of_attribute(one);
        }
        return std::nullopt;
      case value_kind::capacities_of:
        for (const device_capacity& one : device_.capacities) {
          if (one.domain == in.text && one.name == key.text) return of_quantity(one.value);
        }
        return std::nullopt;
      case value_kind::map:
        for (const auto& [known, one] : *in.map) {
          const std::optional<bool> same = same_as(known, key, n.position);
          if (!same) return stopped();
          if (*same) return one;
        }
        return std::nullopt;
      case value_kind::list: {
        if (key.is != value_kind::integer && key.is != value_kind::natural) return no_overload(n, in, key);
        const bool inside =
            compare_numbers(key, of_integer(0)) >= 0 && compare_numbers(key, of_natural(in.list->size())) < 0;
        if (!inside) return std::nullopt;
        return (*in.list)[key.is == value_kind::integer ? static_cast<std::size_t>(key.integer) : key.natural];
      }
      default:
        return no_overload(n, in);
    }
  }

  value field(const node& n, const value& in, const value& key, bool maybe) {
    if (in.is == value_kind::optional) {
      if (in.inner == nullptr) return in;
      maybe = true;
    }
    const value& of = in.is == value_kind::optional ? *in.inner : in;
    if (n.what != op::at && n.what != op::maybe_at && of.is == value_kind::list) return no_overload(n, of);
    if (!spend(1 + key.text.size() / bytes_per_step, n.position)) return stopped();
    const std::optional<value> found = find(n, of, key);
    if (found && is_error(*found)) return *found;
    if (found && found->is == value_kind::list && !spend(found->list->size(), n.position)) return stopped();
    if (maybe) return found ? some(*found) : optional(nullptr);
    if (found) return *found;
    if (of.is == value_kind::list) return fail(n.position, "the list has no such element");
    const std::string name = key.is == value_kind::text ? " \"" + base::shown(key.text) + "\"" : std::string();
    return fail(n.position, "no such key:" + (name.empty() ? std::string(" it is not in the map") : name));
  }

  value has(const node& n, const value& in) {
    const value found = field(n, in, of_text(n.text), true);
    if (is_error(found)) return found;
    return of_boolean(found.inner != nullptr);
  }

  // ---- operators ------------------------------------------------------------------------------------------------
  std::optional<bool> same_as(const value& a, const value& b, std::uint32_t position) {
    std::uint64_t left = left_;
    const std::optional<bool> same = equal(a, b, left);
    if (!spend(left_ - left, position)) return std::nullopt;
    if (!same && left == 0) spend(1, position);
    return same;
  }

  value equality(const node& n, const value& a, const value& b) {
    const std::optional<bool> same = same_as(a, b, n.position);
    if (exhausted_) return stopped();
    if (!same) return no_overload(n, a, b);
    return of_boolean(*same == (n.what == op::equal));
  }

  value in(const node& n, const value& a, const value& b) {
    if (b.is == value_kind::list) {
      for (const value& one : *b.list) {
        const std::optional<bool> same = same_as(a, one, n.position);
        if (exhausted_) return stopped();
        if (!same) return no_overload(n, a, b);
        if (*same) return of_boolean(true);
      }
      return of_boolean(false);
    }
    const std::optional<std::vector<value>> keys = range_of(b);
    if (!keys) return no_overload(n, a, b);
    for (const value& key : *keys) {
      const std::optional<bool> same = same_as(a, key, n.position);
      if (exhausted_) return stopped();
      if (!same) return no_overload(n, a, b);
      if (*same) return of_boolean(true);
    }
    return of_boolean(false);
  }

  value relation(const node& n, const value& a, const value& b) {
    if (!spend(std::min(a.text.size(), b.text.size()) / bytes_per_step, n.position)) return stopped();
    const std::optional<std::partial_ordering> order = compare(a, b);
    if (!order) return no_overload(n, a, b);
    switch (n.what) {
      case op::less:
        return of_boolean(*order < 0);
      case op::less_or_equal:
        return of_boolean(*order <= 0);
      case op::greater:
        return of_boolean(*order > 0);
      default:
        return of_boolean(*order >= 0);
    }
  }

  value negate(const node& n, const value& a) {
    if (a.is == value_kind::real) return of_real(-a.real);
    if (a.is != value_kind::integer) return no_overload(n, a);
    if (a.integer == std::numeric_limits<std::int64_t>::min()) return overflow(n);
    return of_integer(-a.integer);
  }

  template <class Integer>
  std::optional<Integer> whole(const node& n, Integer a, Integer b) {
    Integer made = 0;
    bool bad = false;
    switch (n.what) {
      case op::add:
        bad = __builtin_add_overflow(a, b, &made);
        break;
      case op::subtract:
        bad = __builtin_sub_overflow(a, b, &made);
        break;
      case op::multiply:
        bad = __builtin_mul_overflow(a, b, &made);
        break;
      default:
        bad = b == 0 || (a == std::numeric_limits<Integer>::min() && b == static_cast<Integer>(-1) && a != 0);
        if (!bad) made = n.what == op::divide ? a / b : a % b;
    }
    return bad ? std::nullopt : std::optional(made);
  }

  value arithmetic(const node& n, const value& a, const value& b) {
    if (a.is != b.is) return no_overload(n, a, b);
    switch (a.is) {
      case value_kind::integer: {
        const auto made = whole(n, a.integer, b.integer);
        return made ? of_integer(*made) : overflow(n);
      }
      case value_kind::natural: {
        const auto made = whole(n, a.natural, b.natural);
        return made ? of_natural(*made) : overflow(n);
      }
      case value_kind::real:
        if (n.what == op::add) return of_real(a.real + b.real);
        if (n.what == op::subtract) return of_real(a.real - b.real);
        if (n.what == op::multiply) return of_real(a.real * b.real);
        if (n.what == op::divide) return of_real(a.real / b.real);
        return no_overload(n, a, b);
      case value_kind::text:
        if (n.what != op::add) return no_overload(n, a, b);
        if (!spend((a.text.size() + b.text.size()) / bytes_per_step, n.position)) return stopped();
        return text(std::string(a.text) + std::string(b.text));
      case value_kind::list: {
        if (n.what != op::add) return no_overload(n, a, b);
        if (!spend(a.list->size() + b.list->size(), n.position)) return stopped();
        std::vector<value> made(*a.list);
        made.insert(made.end(), b.list->begin(), b.list->end());
        return list(std::move(made));
      }
      default:
        return no_overload(n, a, b);
    }
  }

  // ---- functions ------------------------------------------------------------------------------------------------
  /// Of two optionals, or an optional and a value, the second is looked at only if the first has nothing.
  value or_else(const node& n) {
    const value first = at(n.of[0]);
    if (is_error(first)) return first;
    if (first.is != value_kind::optional) return no_overload(n, first);
    const bool wants_value = n.called == function::or_value;
    if (first.inner != nullptr) return wants_value ? *first.inner : first;
    const value second = at(n.of[1]);
    if (is_error(second) || wants_value || second.is == value_kind::optional) return second;
    return no_overload(n, first, second);
  }

  value call(const node& n) {
    std::vector<value> given;
    for (const std::uint32_t child : n.of) {
      given.push_back(at(child));
      if (is_error(given.back())) return given.back();
    }
    if (n.called == function::optional_none) return optional(nullptr);
    const value& of = given.front();
    std::uint64_t work = of.text.size() / bytes_per_step;
    if (given.size() > 1) work += of.text.size() * given[1].text.size() / (bytes_per_step * bytes_per_step);
    if (!spend(work, n.position)) return stopped();
    std::optional<value> made = n.called == function::includes ? includes(n, given) : general(n, of);
    if (!made && of.is == value_kind::text) made = of_text_call(n, given);
    if (!made && of.is == value_kind::quantity) made = of_quantity_call(n, given);
    if (!made && of.is == value_kind::version) made = of_version_call(n, given);
    if (made) return *made;
    return given.size() > 1 ? no_overload(n, of, given[1]) : no_overload(n, of);
  }

  std::optional<value> general(const node& n, const value& of) {
    switch (n.called) {
      case function::size: {
        if (of.is == value_kind::text) {
          return of_integer(std::count_if(of.text.begin(), of.text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
        }
        const std::optional<std::vector<value>> range = range_of(of);
        return range ? std::optional(of_integer(static_cast<std::int64_t>(range->size()))) : std::nullopt;
      }
      case function::to_int:
      case function::to_uint:
      case function::to_double:
        return number(n, of);
      case function::to_text:
        return as_text(of);
      case function::dyn:
        return of;
      case function::quantity:
      case function::is_quantity: {
        if (of.is != value_kind::text) return std::nullopt;
        const std::optional<exact_quantity> read = parse_exact_quantity(of.text);
        if (n.called == function::is_quantity) return of_boolean(read.has_value());
        return read ? of_quantity(*read) : fail(n.position, "\"" + base::shown(of.text) + "\" is no quantity");
      }
      case function::semver:
      case function::is_semver: {
        if (of.is != value_kind::text) return std::nullopt;
        const value read = version(of.text);
        if (n.called == function::is_semver) return of_boolean(read.is == value_kind::version);
        if (read.is == value_kind::version) return read;
        return fail(n.position, "\"" + base::shown(of.text) + "\" is no semantic version");
      }
      case function::optional_of:
        return some(of);
      case function::has_value:
        return of.is == value_kind::optional ? std::optional(of_boolean(of.inner != nullptr)) : std::nullopt;
      case function::value:
        if (of.is != value_kind::optional) return std::nullopt;
        return of.inner != nullptr ? *of.inner : fail(n.position, "the optional has no value");
      default:
        return std::nullopt;
    }
  }

  std::optional<value> includes(const node& n, const std::vector<value>& given) {
    const value& of = given.front();
    const auto all = of.is == value_kind::list ? std::span<const value>(*of.list) : std::span(given).first(1);
    for (const value& one : all) {
      const std::optional<bool> same = same_as(one, given[1], n.position);
      if (!same) return exhausted_ ? std::optional(stopped()) : std::nullopt;
      if (*same) return of_boolean(true);
    }
    return of_boolean(false);
  }

  std::optional<value> number(const node& n, const value& of) {
    constexpr double two_to_63 = 9223372036854775808.0;
    constexpr double two_to_64 = 18446744073709551616.0;
    if (n.called == function::to_double) {
      if (of.is == value_kind::integer) return of_real(static_cast<double>(of.integer));
      if (of.is == value_kind::natural) return of_real(static_cast<double>(of.natural));
      return of.is == value_kind::real ? std::optional(of) : std::nullopt;
    }
    const bool natural = n.called == function::to_uint;
    if (of.is == value_kind::real) {
      const double cut = std::trunc(of.real);
      const bool fits = natural ? cut >= 0 && cut < two_to_64 : cut >= -two_to_63 && cut < two_to_63;
      if (!fits) return overflow(n);
      return natural ? of_natural(static_cast<std::uint64_t>(cut)) : of_integer(static_cast<std::int64_t>(cut));
    }
    if (of.is == value_kind::text) return natural ? read<std::uint64_t>(n, of.text) : read<std::int64_t>(n, of.text);
    if (of.is == value_kind::integer) {
      if (!natural) return of;
      return of.integer < 0 ? overflow(n) : of_natural(static_cast<std::uint64_t>(of.integer));
    }
    if (of.is != value_kind::natural) return std::nullopt;
    if (natural) return of;
    const bool fits = of.natural <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return fits ? of_integer(static_cast<std::int64_t>(of.natural)) : overflow(n);
  }

  template <class Integer>
  value read(const node& n, std::string_view digits) {
    Integer found = 0;
    const std::span<const char> text(digits);
    const char* const end = text.data() + text.size();
    const auto [stop, failure] = std::from_chars(text.data(), end, found);
    if (failure != std::errc{} || stop != end) {
      return fail(n.position, "\"" + base::shown(digits) + "\" is no number of this type");
    }
    if constexpr (std::is_signed_v<Integer>)
      return of_integer(found);
    else
      return of_natural(found);
  }

  std::optional<value> as_text(const value& of) {
    switch (of.is) {
      case value_kind::text:
        return of;
      case value_kind::boolean:
        return of_text(of.flag ? "true" : "false");
      case value_kind::integer:
        return text(std::to_string(of.integer));
      case value_kind::natural:
        return text(std::to_string(of.natural));
      default:
        return std::nullopt;
    }
  }

  std::optional<value> of_text_call(const node& n, const std::vector<value>& given) {
    const std::string_view of = given.front().text;
    if (n.called == function::lower || n.called == function::upper) {
      const bool lower = n.called == function::lower;
      std::string made(of);
      for (char& c : made) {
        if (lower ? c >= 'A' && c <= 'Z' : c >= 'a' && c <= 'z') c = static_cast<char>(c ^ 0x20);
      }
      return text(std::move(made));
    }
    if (given.size() < 2 || given[1].is != value_kind::text) return std::nullopt;
    if (n.called == function::starts_with) return of_boolean(of.starts_with(given[1].text));
    if (n.called == function::ends_with) return of_boolean(of.ends_with(given[1].text));
    if (n.called == function::contains) return of_boolean(of.find(given[1].text) != std::string_view::npos);
    return std::nullopt;
  }

  static value order_as(function called, std::strong_ordering order) {
    if (called == function::is_greater_than) return of_boolean(order > 0);
    if (called == function::is_less_than) return of_boolean(order < 0);
    return of_integer(order < 0 ? -1 : order > 0 ? 1 : 0);
  }
  static bool orders(function called) {
    return called == function::compare_to || called == function::is_greater_than || called == function::is_less_than;
  }

  std::optional<value> of_quantity_call(const node& n, const std::vector<value>& given) {
    constexpr base::int128 most = std::numeric_limits<std::int64_t>::max();
    const base::int128 of = given.front().quantity.billionths;
    const base::int128 units = of / billionths_per_unit;
    const bool is_whole = of % billionths_per_unit == 0 && units <= most && units >= -most - 1;
    if (given.size() == 2) {
      const value& other = given[1];
      if (orders(n.called)) {
        if (other.is != value_kind::quantity) return std::nullopt;
        return order_as(n.called, given.front().quantity <=> other.quantity);
      }
      if (n.called != function::plus && n.called != function::minus) return std::nullopt;
      if (other.is != value_kind::quantity && other.is != value_kind::integer) return std::nullopt;
      const base::int128 by =
          (other.is == value_kind::quantity ? other.quantity : whole_quantity(other.integer)).billionths;
      base::int128 made = 0;
      const bool bad =
          n.called == function::plus ? __builtin_add_overflow(of, by, &made) : __builtin_sub_overflow(of, by, &made);
      return bad ? overflow(n) : of_quantity({made});
    }
    switch (n.called) {
      case function::is_integer:
        return of_boolean(is_whole);
      case function::as_integer:
        return is_whole ? of_integer(static_cast<std::int64_t>(units)) : fail(n.position, "the quantity is no int");
      case function::as_approximate_float:
        return of_real(static_cast<double>(units) + static_cast<double>(of % billionths_per_unit) / 1e9);
      case function::sign:
        return of_integer(of < 0 ? -1 : of > 0 ? 1 : 0);
      default:
        return std::nullopt;
    }
  }

  std::optional<value> of_version_call(const node& n, const std::vector<value>& given) {
    const semantic_version& of = *given.front().version;
    if (orders(n.called)) {
      if (given.size() < 2 || given[1].is != value_kind::version) return std::nullopt;
      return order_as(n.called, of <=> *given[1].version);
    }
    const auto number = [&](std::uint64_t part) {
      const bool fits = part <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
      return fits ? of_integer(static_cast<std::int64_t>(part)) : overflow(n);
    };
    if (n.called == function::major) return number(of.major);
    if (n.called == function::minor) return number(of.minor);
    if (n.called == function::patch) return number(of.patch);
    return std::nullopt;
  }

  const program& program_;
  const device_facts& device_;
  std::uint64_t left_;
  bool exhausted_ = false;
  std::uint32_t position_ = 0;  ///< where the work ran out
  std::vector<value> locals_;
  // Values point into these; a deque does not move what it has.
  std::deque<std::string> texts_;
  std::deque<semantic_version> versions_;
  std::deque<std::vector<value>> lists_;
  std::deque<std::vector<std::pair<value, value>>> maps_;
  std::deque<value> values_;
};

}  // namespace

}  // namespace cel

result<cel_expression> cel_expression::parse(std::string_view text) {
  result<cel::program> made = cel::parse(text);
  if (!made) return made.take_failure();
  return cel_expression(std::make_shared<const cel::program>(std::move(*made)));
}

cel_answer cel_expression::evaluate(const device_facts& device, std::uint64_t most_steps) const {
  cel::evaluator run(*program_, device, most_steps);
  const cel::value found = run.run();
  cel_answer answer;
  answer.steps = most_steps - run.left();
  if (found.is == cel::value_kind::boolean) {
    answer.is = found.flag ? cel_answer::kind::yes : cel_answer::kind::no;
    return answer;
  }
  const bool failed = cel::is_error(found);
  answer.is = cel_answer::kind::error;
  answer.position = failed ? found.position : 1;
  answer.message =
      cel::fault_at(answer.position, failed ? std::string(found.text)
                                            : "the result is " + std::string(name_of(found.is)) + ", not a bool")
          .message;
  return answer;
}

}  // namespace kaisched::model
