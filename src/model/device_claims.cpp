#include "model/device_claims.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <tuple>

#include <kaisched/table.hpp>

#include "base/text.hpp"
#include "model/semantic_version.hpp"

namespace kaisched::model {

namespace {

error bad_form(std::string_view what, std::string_view text, std::string_view form) {
  return {status::argument,
          "'" + base::shown(text) + "' is no " + std::string(what) + "; expected " + std::string(form)};
}

/// A text cut at the first of a character; the second part is empty if there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char at) {
  const std::size_t place = text.find(at);
  if (place == std::string_view::npos) return {text, {}};
  return {text.substr(0, place), text.substr(place + 1)};
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// `domain/name`, neither part empty.
bool read_qualified(std::string_view text, std::string& domain, std::string& name) {
  const std::size_t slash = text.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == text.size()) return false;
  domain = text.substr(0, slash);
  name = text.substr(slash + 1);
  return true;
}

std::optional<exact_quantity> read_amount(std::string_view text) {
  const std::optional<exact_quantity> read = parse_exact_quantity(text);
  return read && read->billionths >= 0 ? read : std::nullopt;
}

template <class T>
bool in_order(const T& a, const T& b) {
  return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
}
template <class T>
bool same_name(const T& a, const T& b) {
  return a.domain == b.domain && a.name == b.name;
}

/// Sorts by name; the name that comes twice, if one does.
template <class T>
std::optional<std::string> sort_by_name(std::vector<T>& all) {
  std::stable_sort(all.begin(), all.end(), in_order<T>);
  const auto twice = std::adjacent_find(all.begin(), all.end(), same_name<T>);
  if (twice == all.end()) return std::nullopt;
  return twice->domain.empty() ? twice->name : twice->domain + "/" + twice->name;
}
error given_twice(std::string_view name) { return {status::argument, "'" + base::shown(name) + "' is given twice"}; }

bool read_value(device_attribute& to, std::string_view value) {
  switch (to.kind) {
    case attribute_kind::integer: {
      std::int64_t number = 0;
      const std::span<const char> digits(value);
      const char* const end = digits.data() + digits.size();
      const auto [stop, failure] = std::from_chars(digits.data(), end, number);
      to.numbers.push_back(number);
      return failure == std::errc{} && stop == end;
    }
    case attribute_kind::boolean:
      to.numbers.push_back(value == "true" ? 1 : 0);
      return value == "true" || value == "false";
    case attribute_kind::version:
      to.texts.emplace_back(value);
      return parse_semantic_version(value).has_value();
    case attribute_kind::text:
      to.texts.emplace_back(value);
      return true;
  }
  return false;
}

bool read_policy(device_capacity& to, std::string_view part) {
  const auto [key, text] = cut(part, '=');
  const std::optional<exact_quantity> amount = read_amount(text);
  if (!amount) return false;
  const auto set = [&](std::optional<exact_quantity>& target) {
    const bool fresh = !target;
    target = amount;
    return fresh;
  };
  if (key == "default") return set(to.policy.otherwise);
  if (key == "min") return set(to.policy.least);
  if (key == "max") return set(to.policy.most);
  if (key == "step") return set(to.policy.step);
  if (key != "value") return false;
  if (!to.policy.valid_values.empty() && to.policy.valid_values.back() >= *amount) return false;
  to.policy.valid_values.push_back(*amount);
  return true;
}

}  // namespace

bool device_reach::reaches(std::string_view name, const label_list& of_node) const {
  if (all_nodes) return true;
  if (!node.empty()) return node == name;
  return by_labels && labels.matches(of_node);
}

result<std::vector<device_attribute>> parse_attributes(std::string_view list) {
  constexpr std::string_view form =
      "domain/name=type:value, type one of int, bool, string, version, or ints, bools ...";
  constexpr std::array<std::pair<std::string_view, attribute_kind>, 4> types{{{"int", attribute_kind::integer},
                                                                              {"bool", attribute_kind::boolean},
                                                                              {"string", attribute_kind::text},
                                                                              {"version", attribute_kind::version}}};
  std::vector<device_attribute> all;
  for (const std::string_view text : split_list(list)) {
    const auto [name, typed] = cut(text, '=');
    const auto [type, value] = cut(typed, ':');
    device_attribute one;
    const auto* const known = std::find_if(types.begin(), types.end(), [&, t = type](const auto& candidate) {
      return t == candidate.first || (t.ends_with('s') && t.substr(0, t.size() - 1) == candidate.first);
    });
    if (known == types.end() || typed.find(':') == std::string_view::npos ||
        !read_qualified(name, one.domain, one.name)) {
      return bad_form("attribute", text, form);
    }
    one.kind = known->second;
    one.is_list = type != known->first;
    const auto before =
        std::find_if(all.begin(), all.end(), [&](const device_attribute& other) { return same_name(one, other); });
    const bool fresh = before == all.end();
    device_attribute& target = fresh ? all.emplace_back(one) : *before;
    if (!fresh && (!one.is_list || !target.is_list || target.kind != one.kind)) return given_twice(name);
    if (!read_value(target, value)) return bad_form("attribute", text, form);
  }
  std::sort(all.begin(), all.end(), in_order<device_attribute>);
  return all;
}

result<std::vector<device_capacity>> parse_capacities(std::string_view list) {
  constexpr std::string_view form =
      "domain/name=amount[;default=amount][;value=amount ... | ;min=amount[;max=amount][;step=amount]]";
  std::vector<device_capacity> all;
  for (const std::string_view text : split_list(list)) {
    device_capacity& one = all.emplace_back();
    auto [head, rest] = cut(text, ';');
    const auto [name, value] = cut(head, '=');
    const std::optional<exact_quantity> amount = read_amount(value);
    bool good = amount.has_value() && read_qualified(name, one.domain, one.name);
    if (amount) one.value = *amount;
    while (good && !rest.empty()) {
      const auto [part, next] = cut(rest, ';');
      good = read_policy(one, part);
      rest = next;
    }
    const capacity_policy& policy = one.policy;
    const bool is_range = policy.least || policy.most || policy.step;
    if (!good || (is_range && (!policy.least || !policy.valid_values.empty()))) return bad_form("capacity", text, form);
  }
  if (const std::optional<std::string> twice = sort_by_name(all)) return given_twice(*twice);
  return all;
}

result<std::vector<counter_amount>> parse_counters(std::string_view list) {
  std::vector<counter_amount> all;
  for (const std::string_view text : split_list(list)) {
    counter_amount& one = all.emplace_back();
    const auto [name, value] = cut(text, '=');
    const std::optional<exact_quantity> amount = read_amount(value);
    if (!amount || !read_qualified(name, one.set, one.name)) return bad_form("counter", text, "set/counter=amount");
    one.amount = *amount;
    const bool twice = std::any_of(all.begin(), all.end() - 1, [&](const counter_amount& other) {
      return other.set == one.set && other.name == one.name;
    });
    if (twice) return given_twice(name);
  }
  return all;
}

result<std::vector<capacity_ask>> parse_capacity_asks(std::string_view list) {
  std::vector<capacity_ask> all;
  for (const std::string_view text : split_list(list)) {
    capacity_ask& one = all.emplace_back();
    const auto [name, value] = cut(text, '=');
    const std::optional<exact_quantity> amount = read_amount(value);
    const bool plain = !name.empty() && name.find('/') == std::string_view::npos;
    if (plain) one.name = name;
    if (!amount || (!plain && !read_qualified(name, one.domain, one.name))) {
      return bad_form("amount of a capacity", text, "[domain/]name=amount");
    }
    one.amount = *amount;
  }
  if (const std::optional<std::string> twice = sort_by_name(all)) return given_twice(*twice);
  return all;
}

result<std::vector<attribute_constraint>> parse_constraints(std::string_view list) {
  constexpr std::string_view form = "match domain/name or distinct domain/name, and ': request, request/alternative'";
  std::vector<attribute_constraint> all;
  for (const std::string_view text : split_list(list)) {
    attribute_constraint& one = all.emplace_back();
    auto [head, names] = cut(text, ':');
    const auto [kind, attribute] = cut(trimmed(head), ' ');
    one.distinct = kind == "distinct";
    if ((kind != "match" && !one.distinct) || !read_qualified(trimmed(attribute), one.domain, one.name)) {
      return bad_form("constraint", text, form);
    }
    for (bool more = text.find(':') != std::string_view::npos; more;) {
      const std::string_view name = trimmed(names.substr(0, names.find(',')));
      if (name.empty()) return bad_form("constraint", text, form);
      one.requests.emplace_back(name);
      more = names.find(',') != std::string_view::npos;
      names = cut(names, ',').second;
    }
  }
  return all;
}

result<std::vector<claim_result>> parse_results(std::string_view list) {
  constexpr std::string_view form = "request[/alternative]=driver/pool/device[;admin][;domain/name=amount ...]";
  std::vector<claim_result> all;
  for (const std::string_view text : split_list(list)) {
    claim_result& one = all.emplace_back();
    auto [head, rest] = cut(text, ';');
    const auto [request, device] = cut(head, '=');
    one.request = cut(request, '/').first;
    one.alternative = cut(request, '/').second;
    one.device = device;
    if (one.request.empty() || device.empty()) return bad_form("result", text, form);
    while (!rest.empty()) {
      const auto [part, next] = cut(rest, ';');
      rest = next;
      if (part == "admin") {
        one.admin = true;
        continue;
      }
      const auto [name, value] = cut(part, '=');
      capacity_ask& taken = one.consumed.emplace_back();
      const std::optional<exact_quantity> amount = read_amount(value);
      if (!amount || !read_qualified(name, taken.domain, taken.name)) return bad_form("result", text, form);
      taken.amount = *amount;
    }
  }
  return all;
}

std::string text_of(const claim_result& one) {
  std::string text = one.request;
  if (!one.alternative.empty()) text += "/" + one.alternative;
  text += "=" + one.device;
  if (one.admin) text += ";admin";
  for (const capacity_ask& taken : one.consumed) {
    text += ";" + taken.domain + "/" + taken.name + "=" + text_of(taken.amount);
  }
  return text;
}

bool names_gpus(std::string_view name) {
  constexpr std::string_view gpus = "gpu";
  const auto same = [](char c, char lower) { return (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) == lower; };
  return std::search(name.begin(), name.end(), gpus.begin(), gpus.end(), same) != name.end();
}

}  // namespace kaisched::model
