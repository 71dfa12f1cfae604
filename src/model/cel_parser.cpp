#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "model/cel.hpp"
#include "model/cel_lexer.hpp"
#include "model/cel_program.hpp"

namespace kaisched::model::cel {

namespace {

/// A function, with how many arguments it takes; a value in front of it counts as one.
struct signature {
  std::string_view name;
  function called;
  std::size_t arguments;
};

constexpr std::array<signature, 11> global_functions{{{"size", function::size, 1},
                                                      {"int", function::to_int, 1},
                                                      {"uint", function::to_uint, 1},
                                                      {"double", function::to_double, 1},
                                                      {"string", function::to_text, 1},
                                                      {"dyn", function::dyn, 1},
                                                      {"quantity", function::quantity, 1},
                                                      {"isQuantity", function::is_quantity, 1},
                                                      {"semver", function::semver, 1},
                                                      {"isSemver", function::is_semver, 1},
                                                      {"has", function::none, 1}}};

constexpr std::array<signature, 23> member_functions{{{"size", function::size, 1},
                                                      {"startsWith", function::starts_with, 2},
                                                      {"endsWith", function::ends_with, 2},
                                                      {"contains", function::contains, 2},
                                                      {"lowerAscii", function::lower, 1},
                                                      {"upperAscii", function::upper, 1},
                                                      {"compareTo", function::compare_to, 2},
                                                      {"isGreaterThan", function::is_greater_than, 2},
                                                      {"isLessThan", function::is_less_than, 2},
                                                      {"isInteger", function::is_integer, 1},
                                                      {"asInteger", function::as_integer, 1},
                                                      {"asApproximateFloat", function::as_approximate_float, 1},
                                                      {"sign", function::sign, 1},
                                                      {"add", function::plus, 2},
                                                      {"sub", function::minus, 2},
                                                      {"major", function::major, 1},
                                                      {"minor", function::minor, 1},
                                                      {"patch", function::patch, 1},
                                                      {"orValue", function::or_value, 2},
                                                      {"or", function::or_other, 2},
                                                      {"hasValue", function::has_value, 1},
                                                      {"value", function::value, 1},
                                                      {"includes", function::includes, 2}}};

constexpr std::array<std::pair<std::string_view, op>, 6> macros{{{"all", op::all},
                                                                 {"exists", op::exists},
                                                                 {"exists_one", op::exists_one},
                                                                 {"existsOne", op::exists_one},
                                                                 {"filter", op::filter},
                                                                 {"map", op::each}}};

constexpr std::array<std::pair<std::string_view, op>, 7> relations{{{"==", op::equal},
                                                                    {"!=", op::not_equal},
                                                                    {"<", op::less},
                                                                    {"<=", op::less_or_equal},
                                                                    {">", op::greater},
                                                                    {">=", op::greater_or_equal},
                                                                    {"in", op::in}}};
constexpr std::array<std::pair<std::string_view, op>, 2> sums{{{"+", op::add}, {"-", op::subtract}}};
constexpr std::array<std::pair<std::string_view, op>, 3> products{
    {{"*", op::multiply}, {"/", op::divide}, {"%", op::modulo}}};

constexpr std::array<std::string_view, 19> reserved{
    "as",   "break",   "const",     "continue", "else", "for",  "function", "if", "import", "let",
    "loop", "package", "namespace", "return",   "var",  "void", "while",    "in", "null"};
constexpr std::array<std::string_view, 4> device_fields{"driver", "attributes", "capacity", "allowMultipleAllocations"};

constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);

/// Recursive descent. After a fault every function returns at once.
class parser {
 public:
  explicit parser(std::vector<token> words) : words_(std::move(words)) {}

  result<program> run() {
    const std::uint32_t root = expression();
    if (!failure_ && now().kind != token_kind::end) unexpected("the end");
    if (failure_) return *std::move(failure_);
    (void)root;  // is the last node: every node is added after those below it
    return std::move(made_);
  }

 private:
  // ---- words ----------------------------------------------------------------------------------------------------
  [[nodiscard]] const token& now() const { return words_[at_]; }
  [[nodiscard]] bool is_sign(std::string_view text) const {
    return now().kind == token_kind::sign && now().text == text;
  }
  bool take_sign(std::string_view text) {
    if (failure_ || !is_sign(text)) return false;
    ++at_;
    return true;
  }
  void expect(std::string_view text) {
    if (!take_sign(text)) unexpected("'" + std::string(text) + "'");
  }
  void fail(std::uint32_t position, std::string_view message, status code = status::argument) {
    if (!failure_) failure_ = fault_at(position, message, code);
  }
  void unexpected(std::string_view wanted) {
    const std::string found = now().kind == token_kind::end ? "the end" : "'" + base::shown(now().text) + "'";
    fail(now().position, found + " where " + std::string(wanted) + " is expected");
  }

  // ---- nodes ----------------------------------------------------------------------------------------------------
  std::uint32_t add(node one) {
    if (failure_) return none;
    for (const std::uint32_t child : one.of) one.depth = std::max(one.depth, made_.nodes[child].depth + 1);
    if (one.depth > most_cel_depth) {
      fail(one.position, "more than " + std::to_string(most_cel_depth) + " levels of nesting", status::limit);
      return none;
    }
    made_.nodes.push_back(std::move(one));
    return static_cast<std::uint32_t>(made_.nodes.size() - 1);
  }
  std::uint32_t add(op what, std::uint32_t position, std::vector<std::uint32_t> of) {
    return add(node{.what = what, .position = position, .of = std::move(of)});
  }

  // ---- grammar --------------------------------------------------------------------------------------------------
  std::uint32_t expression() {
    if (++nesting_ > most_cel_depth) {
      fail(now().position, "more than " + std::to_string(most_cel_depth) + " levels of nesting", status::limit);
    }
    std::uint32_t made = failure_ ? none : logic(false);
    const std::uint32_t position = now().position;
    if (take_sign("?")) {
      const std::uint32_t yes = logic(false);
      expect(":");
      const std::uint32_t no = failure_ ? none : expression();
      made = add(op::choose, position, {made, yes, no});
    }
    --nesting_;
    return made;
  }

  /// Chains of `||`, and inside them of `&&`.
  std::uint32_t logic(bool inner) {
    const std::string_view sign = inner ? "&&" : "||";
    const std::uint32_t position = now().position;
    std::vector<std::uint32_t> parts;
    do parts.push_back(inner ? relation() : logic(true));
    while (take_sign(sign));
    if (parts.size() == 1) return parts.front();
    return add(inner ? op::both : op::either, position, std::move(parts));
  }

  template <std::size_t N, class Next>
  std::uint32_t chain(const std::array<std::pair<std::string_view, op>, N>& signs, Next next) {
    std::uint32_t made = next();
    for (;;) {
      if (failure_) return none;
      const auto* const found = std::find_if(signs.begin(), signs.end(), [&](const auto& one) {
        return is_sign(one.first) || (one.second == op::in && now().kind == token_kind::name && now().text == "in");
      });
      if (found == signs.end()) return made;
      const std::uint32_t position = words_[at_++].position;
      const std::uint32_t right = next();
      made = add(found->second, position, {made, right});
    }
  }
  std::uint32_t relation() {
    return chain(relations, [this] { return sum(); });
  }
  std::uint32_t sum() {
    return chain(sums, [this] { return product(); });
  }
  std::uint32_t product() {
    return chain(products, [this] { return unary(); });
  }

  std::uint32_t unary() {
    const std::uint32_t position = now().position;
    if (is_sign("!") || is_sign("-")) {
      const std::string sign = now().text;
      std::uint32_t count = 0;
      while (take_sign(sign)) ++count;
      if (sign == "-" && now().kind == token_kind::integer) {
        std::uint32_t made = members(integer(count % 2 == 1));
        return made;
      }
      std::uint32_t made = members(primary());
      // Twice is not at all, but only for a value of the right type.
      for (std::uint32_t i = 0; i < (count % 2 == 1 ? 1U : 2U); ++i) {
        made = add(sign == "!" ? op::invert : op::negate, position, {made});
      }
      return made;
    }
    return members(primary());
  }

  std::uint32_t integer(bool negative) {
    const token& word = words_[at_++];
    const bool hex = word.text.starts_with("0x");
    std::uint64_t size = 0;
    const char* const end = word.text.data() + word.text.size();
    const auto [stopped, failure] = std::from_chars(word.text.data() + (hex ? 2 : 0), end, size, hex ? 16 : 10);
    constexpr std::uint64_t most = std::uint64_t{1} << 63U;
    node one{.what = op::integer, .position = word.position};
    if (word.kind == token_kind::natural) {
      one.what = op::natural;
      one.natural = size;
    } else if (size > (negative ? most : most - 1)) {
      fail(word.position, "a number that 64 bits do not hold", status::limit);
    } else {
      one.integer = static_cast<std::int64_t>(negative ? ~size + 1 : size);
    }
    if (failure != std::errc{} || stopped != end) {
      fail(word.position, "a number that 64 bits do not hold", status::limit);
    }
    return add(std::move(one));
  }

  std::uint32_t real() {
    const token& word = words_[at_++];
    node one{.what = op::real, .position = word.position};
    const char* const end = word.text.data() + word.text.size();
    const auto [stopped, failure] = std::from_chars(word.text.data(), end, one.real);
    if (failure != std::errc{} || stopped != end) {
      fail(word.position, "a number that a double does not hold", status::limit);
    }
    return add(std::move(one));
  }

  std::uint32_t primary() {
    if (failure_) return none;
    const token& word = now();
    switch (word.kind) {
      case token_kind::integer:
      case token_kind::natural:
        return integer(false);
      case token_kind::real:
        return real();
      case token_kind::text:
        ++at_;
        return add(node{.what = op::text, .position = word.position, .text = word.text});
      case token_kind::name:
        ++at_;
        return named(word);
      case token_kind::end:
      case token_kind::sign:
        break;
    }
    if (take_sign("(")) {
      const std::uint32_t made = expression();
      expect(")");
      return made;
    }
    if (take_sign("[")) return add(op::list, word.position, elements("]"));
    if (take_sign("{")) return map(word.position);
    unexpected("a value");
    return none;
  }

  /// Expressions between commas and the sign that ends them; a comma may be the last.
  std::vector<std::uint32_t> elements(std::string_view closing) {
    std::vector<std::uint32_t> found;
    while (!failure_ && !take_sign(closing)) {
      if (is_sign("?")) fail(now().position, "optional elements are not supported", status::unsupported);
      found.push_back(expression());
      if (!is_sign(closing)) expect(",");
    }
    return found;
  }

  std::uint32_t map(std::uint32_t position) {
    std::vector<std::uint32_t> found;
    while (!failure_ && !take_sign("}")) {
      if (is_sign("?")) fail(now().position, "optional entries are not supported", status::unsupported);
      found.push_back(expression());
      expect(":");
      found.push_back(failure_ ? none : expression());
      if (!is_sign("}")) expect(",");
    }
    return add(op::map, position, std::move(found));
  }

  std::uint32_t named(const token& word) {
    if (word.text == "true" || word.text == "false") {
      return add(node{.what = op::boolean, .position = word.position, .integer = word.text == "true" ? 1 : 0});
    }
    if (word.text == "null") return add(node{.what = op::null, .position = word.position});
    if (std::find(reserved.begin(), reserved.end(), word.text) != reserved.end()) {
      fail(word.position, "'" + word.text + "' is a reserved word");
      return none;
    }
    const auto variable = std::find(visible_.rbegin(), visible_.rend(), word.text);
    if (variable != visible_.rend()) {
      const auto slot = static_cast<std::uint32_t>(visible_.rend() - variable - 1);
      return add(node{.what = op::local, .position = word.position, .slot = slot});
    }
    if (word.text == "device") return add(node{.what = op::device, .position = word.position});
    if (take_sign("(")) return global(word);
    if ((word.text == "cel" || word.text == "optional") && take_sign(".")) return in_space(word);
    fail(word.position, "'" + base::shown(word.text) + "' is no known name: an expression sees only 'device'",
         status::not_found);
    return none;
  }

  std::uint32_t global(const token& word) {
    const auto* const found = std::find_if(global_functions.begin(), global_functions.end(),
                                           [&](const signature& one) { return one.name == word.text; });
    if (found == global_functions.end()) return unsupported(word);
    if (word.text == "has") return has(word);
    std::vector<std::uint32_t> given = elements(")");
    return call(word, *found, std::move(given));
  }

  std::uint32_t call(const token& word, const signature& known, std::vector<std::uint32_t> given) {
    if (!failure_ && given.size() != known.arguments) {
      fail(word.position, "'" + word.text + "' with " + std::to_string(given.size()) + " arguments is not supported",
           status::unsupported);
    }
    return add(node{.what = op::call,
                    .called = known.called,
                    .position = word.position,
                    .of = std::move(given),
                    .text = word.text});
  }

  std::uint32_t unsupported(const token& word) {
    fail(word.position, "function '" + base::shown(word.text) + "' is not supported", status::unsupported);
    return none;
  }

  std::uint32_t has(const token& word) {
    const std::uint32_t made = expression();
    expect(")");
    if (failure_) return none;
    if (made_.nodes[made].what != op::select) {
      fail(word.position, "has() takes a field such as has(device.attributes[\"a.example\"].b)");
      return none;
    }
    made_.nodes[made].what = op::has;
    return made;
  }

  /// What stands behind `cel.` and `optional.`.
  std::uint32_t in_space(const token& space) {
    if (now().kind != token_kind::name) {
      unexpected("a name");
      return none;
    }
    const token& word = words_[at_++];
    if (space.text == "cel" && word.text == "bind" && take_sign("(")) {
      const std::string variable = variable_name();
      expect(",");
      const std::uint32_t initial = failure_ ? none : expression();
      expect(",");
      const std::uint32_t slot = show(variable);
      const std::uint32_t body = failure_ ? none : expression();
      visible_.pop_back();
      expect(")");
      return add(node{.what = op::bind, .position = space.position, .slot = slot, .of = {initial, body}});
    }
    if (space.text == "optional" && (word.text == "of" || word.text == "none") && take_sign("(")) {
      const bool of = word.text == "of";
      return call(word, {word.text, of ? function::optional_of : function::optional_none, of ? 1U : 0U}, elements(")"));
    }
    fail(space.position, "'" + space.text + "." + base::shown(word.text) + "' is not supported", status::unsupported);
    return none;
  }

  std::string variable_name() {
    if (failure_ || now().kind != token_kind::name) {
      unexpected("the name of a variable");
      return {};
    }
    if (std::find(reserved.begin(), reserved.end(), now().text) != reserved.end() || now().text == "true" ||
        now().text == "false") {
      fail(now().position, "'" + now().text + "' is a reserved word");
    }
    return words_[at_++].text;
  }
  std::uint32_t show(std::string name) {
    visible_.push_back(std::move(name));
    made_.slots = std::max(made_.slots, static_cast<std::uint32_t>(visible_.size()));
    return static_cast<std::uint32_t>(visible_.size() - 1);
  }

  /// Fields, keys and functions behind a value.
  std::uint32_t members(std::uint32_t made) {
    while (!failure_) {
      const std::uint32_t position = now().position;
      if (take_sign("[")) {
        const bool maybe = take_sign("?");
        const std::uint32_t key = expression();
        expect("]");
        made = add(maybe ? op::maybe_at : op::at, position, {made, key});
      } else if (take_sign(".")) {
        const bool maybe = take_sign("?");
        if (now().kind != token_kind::name) {
          unexpected("a name");
          return none;
        }
        const token& word = words_[at_++];
        made = !maybe && take_sign("(") ? method(word, made) : field(word, made, maybe);
      } else {
        return made;
      }
    }
    return none;
  }

  std::uint32_t field(const token& word, std::uint32_t of, bool maybe) {
    const bool known = std::find(device_fields.begin(), device_fields.end(), word.text) != device_fields.end();
    if (made_.nodes[of].what == op::device && (!known || maybe)) {
      fail(word.position, known ? "a field of the device itself is always there: '.' without '?'"
                                : "a device has no field '" + base::shown(word.text) + "'");
    }
    return add(node{.what = maybe ? op::maybe : op::select, .position = word.position, .of = {of}, .text = word.text});
  }

  std::uint32_t method(const token& word, std::uint32_t of) {
    const auto* const macro =
        std::find_if(macros.begin(), macros.end(), [&](const auto& one) { return one.first == word.text; });
    if (macro != macros.end()) return comprehension(word, macro->second, of);
    const auto* const found = std::find_if(member_functions.begin(), member_functions.end(),
                                           [&](const signature& one) { return one.name == word.text; });
    if (found == member_functions.end()) return unsupported(word);
    std::vector<std::uint32_t> given = elements(")");
    given.insert(given.begin(), of);
    return call(word, *found, std::move(given));
  }

  std::uint32_t comprehension(const token& word, op what, std::uint32_t range) {
    const std::string variable = variable_name();
    expect(",");
    const std::uint32_t slot = show(variable);
    std::vector<std::uint32_t> of{range, failure_ ? none : expression()};
    if (what == op::each && take_sign(",")) of.push_back(expression());
    visible_.pop_back();
    if (is_sign(","))
      fail(word.position, "'" + word.text + "' with more variables is not supported", status::unsupported);
    expect(")");
    return add(node{.what = what, .position = word.position, .slot = slot, .of = std::move(of)});
  }

  std::vector<token> words_;
  std::size_t at_ = 0;
  std::uint32_t nesting_ = 0;
  std::vector<std::string> visible_;  ///< variables of macros, innermost last
  program made_;
  std::optional<error> failure_;
};

}  // namespace

result<program> parse(std::string_view text) {
  if (text.size() > most_cel_bytes) {
    return error{status::limit, "an expression has " + std::to_string(text.size()) + " bytes; at most " +
                                    std::to_string(most_cel_bytes) + " are allowed"};
  }
  const std::size_t bad = base::find_invalid_utf8(text);
  if (bad != std::string_view::npos) return fault_at(static_cast<std::uint32_t>(bad + 1), "bytes that are no UTF-8");
  result<std::vector<token>> words = split(text);
  if (!words) return words.take_failure();
  return parser(std::move(*words)).run();
}

}  // namespace kaisched::model::cel
