#include "model/selector.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <kaisched/table.hpp>

#include "base/text.hpp"

namespace kaisched::model {

namespace {

error bad_word(std::string_view what, std::string_view text, std::string_view expected) {
  std::string message;
  message.append(what).append(" '").append(base::shown(text)).append("': expected ").append(expected);
  return {status::argument, std::move(message), {}};
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

template <class Integer>
std::optional<Integer> to_integer(std::string_view text) {
  Integer value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// Splits at commas that are not inside parentheses. What a parenthesis without its partner leaves is the last part.
std::vector<std::string_view> split_requirements(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      parts.push_back(trim(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  if (start <= text.size()) parts.push_back(trim(text.substr(start)));
  return parts;
}

bool has_parentheses(std::string_view text) { return text.find_first_of("()") != std::string_view::npos; }

/// `in (a,b)` / `notin (a,b)` after the key.
std::optional<requirement> parse_set(std::string_view key, std::string_view rest) {
  requirement r{std::string(key), selector_operator::in, {}};
  if (rest.starts_with("notin")) {
    r.op = selector_operator::not_in;
    rest.remove_prefix(5);
  } else if (rest.starts_with("in")) {
    rest.remove_prefix(2);
  } else {
    return std::nullopt;
  }
  rest = trim(rest);
  if (rest.size() < 2 || rest.front() != '(' || rest.back() != ')') return std::nullopt;
  rest = rest.substr(1, rest.size() - 2);
  if (has_parentheses(rest)) return std::nullopt;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= rest.size(); ++i) {
    if (i == rest.size() || rest[i] == ',') {
      r.values.emplace_back(trim(rest.substr(start, i - start)));
      start = i + 1;
    }
  }
  return r;
}

std::optional<requirement> parse_requirement(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.front() == '!') {
    const std::string_view key = trim(text.substr(1));
    if (key.empty() || key.find_first_of(" \t=!<>()") != std::string_view::npos) return std::nullopt;
    return requirement{std::string(key), selector_operator::does_not_exist, {}};
  }
  const std::size_t end = text.find_first_of(" \t=!<>");
  const std::string_view key = text.substr(0, end);
  if (key.empty() || has_parentheses(key)) return std::nullopt;
  if (end == std::string_view::npos) return requirement{std::string(key), selector_operator::exists, {}};
  const std::string_view rest = trim(text.substr(end));
  const auto one = [&](selector_operator op, std::size_t skip) -> std::optional<requirement> {
    const std::string_view value = trim(rest.substr(skip));
    if (has_parentheses(value)) return std::nullopt;
    return requirement{std::string(key), op, {std::string(value)}};
  };
  if (rest.starts_with("==")) return one(selector_operator::in, 2);
  if (rest.starts_with("!=")) return one(selector_operator::not_in, 2);
  if (rest.starts_with("=")) return one(selector_operator::in, 1);
  if (rest.starts_with(">") || rest.starts_with("<")) {
    std::optional<requirement> r = one(rest.front() == '>' ? selector_operator::greater : selector_operator::less, 1);
    if (!r || !to_integer<std::int64_t>(r->values.front())) return std::nullopt;
    return r;
  }
  return parse_set(key, rest);
}

bool holds(const requirement& r, const label_list& labels) {
  const std::string* value = find_label(labels, r.key);
  switch (r.op) {
    case selector_operator::exists:
      return value != nullptr;
    case selector_operator::does_not_exist:
      return value == nullptr;
    case selector_operator::in:
      return value != nullptr && std::find(r.values.begin(), r.values.end(), *value) != r.values.end();
    case selector_operator::not_in:
      return value == nullptr || std::find(r.values.begin(), r.values.end(), *value) == r.values.end();
    case selector_operator::greater:
    case selector_operator::less: {
      const auto has = value == nullptr ? std::nullopt : to_integer<std::int64_t>(*value);
      const auto bound = to_integer<std::int64_t>(r.values.front());
      if (!has || !bound) return false;
      return r.op == selector_operator::greater ? *has > *bound : *has < *bound;
    }
  }
  return false;
}

std::optional<taint_effect> to_effect(std::string_view text) {
  if (text == "NoSchedule") return taint_effect::no_schedule;
  if (text == "NoExecute") return taint_effect::no_execute;
  if (text == "PreferNoSchedule") return taint_effect::prefer_no_schedule;
  return std::nullopt;
}

}  // namespace

const std::string* find_label(const label_list& labels, std::string_view key) {
  const auto it = std::lower_bound(labels.begin(), labels.end(), key,
                                   [](const auto& label, std::string_view k) { return label.first < k; });
  return it != labels.end() && it->first == key ? &it->second : nullptr;
}

result<label_list> parse_labels(std::string_view list) {
  const std::vector<std::string_view> elements = split_list(list);
  if (elements.size() % 2 != 0) return bad_word("labels", elements.back(), "pairs of key and value");
  label_list labels;
  labels.reserve(elements.size() / 2);
  for (std::size_t i = 0; i < elements.size(); i += 2) {
    if (elements[i].empty()) return bad_word("label key", "", "a key that is not empty");
    labels.emplace_back(elements[i], elements[i + 1]);
  }
  std::sort(labels.begin(), labels.end());
  for (std::size_t i = 1; i < labels.size(); ++i) {
    if (labels[i].first == labels[i - 1].first) return bad_word("label key", labels[i].first, "each key once");
  }
  return labels;
}

bool selector::matches(const label_list& labels) const {
  return std::all_of(requirements.begin(), requirements.end(), [&](const requirement& r) { return holds(r, labels); });
}

result<selector> parse_selector(std::string_view text) {
  selector s;
  if (trim(text).empty()) return s;
  for (const std::string_view part : split_requirements(text)) {
    std::optional<requirement> r = parse_requirement(part);
    if (!r) {
      return bad_word(
          "label selector", text,
          "requirements such as key, !key, key=value, key!=value, key in (a,b), key notin (a,b), key>number, "
          "separated by commas");
    }
    s.requirements.push_back(std::move(*r));
  }
  return s;
}

bool toleration::tolerates(const taint& t) const {
  if (effect != taint_effect::any && effect != t.effect) return false;
  if (!key.empty() && key != t.key) return false;
  return any_value || value == t.value;
}

result<taint> parse_taint(std::string_view text) {
  constexpr std::string_view form =
      "key=value:Effect or key:Effect, Effect one of NoSchedule, NoExecute, PreferNoSchedule";
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return bad_word("taint", text, form);
  const auto effect = to_effect(text.substr(colon + 1));
  if (!effect) return bad_word("taint", text, form);
  const std::string_view body = text.substr(0, colon);
  const std::size_t equal = body.find('=');
  if (equal == 0) return bad_word("taint", text, form);
  taint t{std::string(body.substr(0, equal)), {}, *effect};
  if (equal != std::string_view::npos) t.value = body.substr(equal + 1);
  return t;
}

result<toleration> parse_toleration(std::string_view text) {
  constexpr std::string_view form = "key=value:Effect, key:Effect, key=value, key, * or *:Effect";
  toleration t;
  std::string_view body = text;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string_view::npos) {
    const auto effect = to_effect(text.substr(colon + 1));
    if (!effect) return bad_word("toleration", text, form);
    t.effect = *effect;
    body = text.substr(0, colon);
  }
  if (body.empty()) return bad_word("toleration", text, form);
  const std::size_t equal = body.find('=');
  if (equal == std::string_view::npos) {
    t.any_value = true;
    if (body != "*") t.key = body;
  } else {
    t.key = body.substr(0, equal);
    t.value = body.substr(equal + 1);
    if (t.key == "*") t.key.clear();
  }
  return t;
}

result<affinity_term> parse_affinity_term(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view front = trim(text.substr(0, colon == std::string_view::npos ? 0 : colon));
  const std::size_t at = front.find('@');
  const std::string_view key = trim(front.substr(0, at));
  if (key.empty()) return bad_word("affinity term", text, "topology key[@namespace,...]: label selector");
  affinity_term term{.topology_key = std::string(key), .pods = {}, .any_namespace = false, .namespaces = {}};
  if (at != std::string_view::npos) {
    const std::string_view names = front.substr(at + 1);
    term.any_namespace = names == "*";
    for (std::size_t from = 0; !term.any_namespace && from <= names.size();) {
      const std::size_t comma = std::min(names.find(',', from), names.size());
      const std::string_view name = trim(names.substr(from, comma - from));
      if (name.empty()) return bad_word("affinity term", text, "names of namespaces, or *, behind the @");
      term.namespaces.emplace_back(name);
      from = comma + 1;
    }
    std::sort(term.namespaces.begin(), term.namespaces.end());
  }
  result<selector> pods = parse_selector(text.substr(colon + 1));
  if (!pods) return pods.failure();
  term.pods = std::move(*pods);
  return term;
}

result<pod_preference> parse_pod_preference(std::string_view text) {
  const std::string_view all = trim(text);
  const std::size_t blank = all.find(' ');
  const auto weight = to_integer<std::int64_t>(all.substr(0, blank == std::string_view::npos ? 0 : blank));
  if (!weight || *weight < -100 || *weight > 100 || *weight == 0)
    return bad_word("preference", text, "weight topology key: label selector, with a weight from -100 to 100, not 0");
  result<affinity_term> term = parse_affinity_term(all.substr(blank + 1));
  if (!term) return term.failure();
  return pod_preference{*weight, std::move(*term)};
}

result<spread_constraint> parse_spread_constraint(std::string_view text) {
  constexpr std::string_view form =
      "skew topology key [soft] [min_domains=N] [ignore_affinity] [honor_taints]: label selector";
  constexpr std::int64_t most = 1'000'000'000;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return bad_word("spread constraint", text, form);
  spread_constraint made;
  std::size_t place = 0;
  for (std::string_view rest = trim(text.substr(0, colon)); !rest.empty(); ++place) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest = trim(rest.substr(word.size()));
    constexpr std::string_view domains = "min_domains=";
    if (place == 0) {
      const auto skew = to_integer<std::int64_t>(word);
      if (!skew || *skew < 1 || *skew > most) return bad_word("spread constraint", text, form);
      made.skew = *skew;
    } else if (place == 1) {
      made.topology_key = word;
    } else if (word == "soft") {
      made.soft = true;
    } else if (word == "ignore_affinity") {
      made.ignores_affinity = true;
    } else if (word == "honor_taints") {
      made.honors_taints = true;
    } else if (word.starts_with(domains)) {
      const auto least = to_integer<std::int64_t>(word.substr(domains.size()));
      if (!least || *least < 1 || *least > most) return bad_word("spread constraint", text, form);
      made.min_domains = *least;
    } else {
      return bad_word("spread constraint", text, form);
    }
  }
  if (made.topology_key.empty()) return bad_word("spread constraint", text, form);
  result<selector> pods = parse_selector(text.substr(colon + 1));
  if (!pods) return pods.failure();
  made.pods = std::move(*pods);
  return made;
}

result<dependency> parse_dependency(std::string_view text) {
  constexpr std::array kinds{std::pair{std::string_view("ok"), dependency_kind::ok},
                             std::pair{std::string_view("failed"), dependency_kind::failed},
                             std::pair{std::string_view("any"), dependency_kind::any},
                             std::pair{std::string_view("started"), dependency_kind::started}};
  const std::size_t colon = text.find(':');
  const std::string_view word = trim(text.substr(0, colon == std::string_view::npos ? 0 : colon));
  const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const auto& one) { return one.first == word; });
  const std::string_view name = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (kind == kinds.end() || name.empty())
    return bad_word("dependency", text, "ok, failed, any or started, a colon and the name of a pod group");
  return dependency{kind->second, std::string(name)};
}

result<node_preference> parse_node_preference(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto weight = to_integer<std::int64_t>(trim(text.substr(0, colon == std::string_view::npos ? 0 : colon)));
  if (!weight || *weight < 1 || *weight > 100)
    return bad_word("node preference", text, "weight: label selector, with a weight from 1 to 100");
  result<selector> nodes = parse_selector(text.substr(colon + 1));
  if (!nodes) return nodes.failure();
  return node_preference{*weight, std::move(*nodes)};
}

bool host_port::conflicts(const host_port& other) const {
  return port == other.port && protocol == other.protocol &&
         (address.empty() || other.address.empty() || address == other.address);
}

result<host_port> parse_host_port(std::string_view text) {
  host_port p;
  std::string_view rest = text;
  const std::size_t slash = rest.rfind('/');
  p.protocol = slash == std::string_view::npos ? std::string_view("TCP") : rest.substr(slash + 1);
  rest = rest.substr(0, slash);
  const std::size_t colon = rest.rfind(':');
  if (colon != std::string_view::npos) {
    p.address = rest.substr(0, colon);
    if (p.address == "0.0.0.0" || p.address == "::") p.address.clear();
    rest = rest.substr(colon + 1);
  }
  const auto port = to_integer<std::uint32_t>(rest);
  if (!port || *port == 0 || *port > 65535 || p.protocol.empty()) {
    return bad_word("host port", text, "[address:]port[/protocol], port 1 to 65535");
  }
  p.port = *port;
  return p;
}

}  // namespace kaisched::model
