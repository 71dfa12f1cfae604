#include "io/kubernetes/constraints.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kaisched::io::kubernetes {

namespace {

/// Characters that the texts of selectors and taints give a meaning. Labels have none of them.
constexpr std::string_view reserved = "=!<>(),: \t";

std::string plain(object& of, json_value at, std::string_view text) {
  if (text.find_first_of(reserved) != std::string_view::npos) {
    of.fail(at, fmt::format("expected the characters of a label, found \"{}\"", text));
    return {};
  }
  return std::string(text);
}

std::string plain_text(object& of, json_value from, std::string_view key) {
  const std::string_view text = of.text(from, key);
  const member at = find(from, key);
  return at ? plain(of, *at, text) : std::string{};
}

std::vector<std::string> plain_values(object& of, json_value holder) {
  std::vector<std::string> values;
  for (const json_value value : of.items(holder, "values")) {
    if (value.is(json_kind::string)) {
      values.push_back(plain(of, value, value.text()));
    } else {
      of.fail(value, fmt::format("expected a string, found {}", value.shown()));
    }
  }
  return values;
}

/// From 1 to 100; none with a fault.
std::optional<std::int64_t> weight_of(object& of, json_value preference) {
  const std::int64_t weight = of.integer(preference, "weight").value_or(0);
  if (weight >= 1 && weight <= 100) return weight;
  of.fail(preference, "weight", "expected 1 to 100");
  return std::nullopt;
}

/// {key, operator, values} with the key already known.
std::string expression_text(object& of, json_value expression, const std::string& key) {
  const std::string_view word = of.text(expression, "operator");
  const std::vector<std::string> values = plain_values(of, expression);
  if (key.empty()) of.fail(expression, "key", "expected a key");
  if (word == "Exists") return key;
  if (word == "DoesNotExist") return "!" + key;
  const bool is_set = word == "In" || word == "NotIn";
  const bool is_bound = word == "Gt" || word == "Lt";
  if (!is_set && !is_bound) {
    of.fail(expression, "operator",
            fmt::format("expected In, NotIn, Exists, DoesNotExist, Gt or Lt, found \"{}\"", word));
    return {};
  }
  if (values.empty() || (is_bound && values.size() != 1)) {
    of.fail(expression, "values", is_bound ? "expected one integer" : "expected at least one value");
    return {};
  }
  if (is_set) return fmt::format("{} {} ({})", key, word == "In" ? "in" : "notin", fmt::join(values, ","));
  return fmt::format("{}{}{}", key, word == "Gt" ? '>' : '<', values.front());
}

std::vector<std::string> expression_texts(object& of, json_value holder) {
  std::vector<std::string> parts;
  for (const json_value one : of.items(holder, "matchExpressions")) {
    parts.push_back(expression_text(of, one, plain_text(of, one, "key")));
  }
  return parts;
}

constexpr std::string_view required_terms = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view preferred_terms = "preferredDuringSchedulingIgnoredDuringExecution";

/// One term of a selector of nodes; empty if it has no requirements.
std::string term_text(object& of, json_value term, bool& asks_names) {
  std::vector<std::string> parts = expression_texts(of, term);
  for (const json_value one : of.items(term, "matchFields")) {
    if (of.text(one, "key") != node_name_label) of.fail(one, "key", "expected metadata.name");
    parts.push_back(expression_text(of, one, std::string(node_name_label)));
    asks_names = true;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

/// The terms of a selector of nodes, one text each.
std::vector<std::string> term_texts(object& of, json_value selector, bool& asks_names) {
  std::vector<std::string> texts;
  for (const json_value term : of.items(selector, "nodeSelectorTerms")) {
    std::string text = term_text(of, term, asks_names);
    // A term without requirements matches no node; an empty selector would match them all.
    texts.push_back(text.empty() ? std::string(no_match) : std::move(text));
  }
  return texts;
}

}  // namespace

std::vector<std::string> label_texts_of(object& of, member holder, std::string_view key) {
  std::vector<std::string> texts;
  for (auto& [name, value] : of.pairs(holder, key)) {
    texts.push_back(std::move(name));
    texts.push_back(std::move(value));
  }
  return texts;
}

std::string taint_text(object& of, json_value taint) {
  const std::string key = plain_text(of, taint, "key");
  if (key.empty()) of.fail(taint, "key", "expected a key");
  return fmt::format("{}={}:{}", key, plain_text(of, taint, "value"), plain_text(of, taint, "effect"));
}

std::string toleration_text(object& of, json_value toleration) {
  const std::string key = plain_text(of, toleration, "key");
  const std::string effect = plain_text(of, toleration, "effect");
  const std::string_view word = of.text(toleration, "operator");
  // Comparisons with numbers are about taints that no table has.
  if (word == "Lt" || word == "Gt") return {};
  if (!word.empty() && word != "Exists" && word != "Equal") {
    of.fail(toleration, "operator", fmt::format("expected Exists or Equal, found \"{}\"", word));
  }
  std::string text = key.empty() ? "*" : key;
  if (word != "Exists") text += "=" + plain_text(of, toleration, "value");
  return effect.empty() ? text : text + ":" + effect;
}

model::label_list labels_of(const object& of) {
  model::label_list labels;
  if (const member all = of.labels()) {
    for (const json_value one : *all) {
      if (one.is(json_kind::string)) labels.emplace_back(one.key(), one.text());
    }
  }
  std::sort(labels.begin(), labels.end());
  return labels;
}

std::string selector_text(object& of, member selector) {
  if (!selector) return std::string(no_match);
  std::vector<std::string> parts;
  if (const member labels = of.section(selector, "matchLabels")) {
    for (const json_value one : *labels) {
      parts.push_back(plain(of, one, one.key()) + "=" + plain_text(of, *labels, one.key()));
    }
  }
  for (std::string& part : expression_texts(of, *selector)) parts.push_back(std::move(part));
  return fmt::format("{}", fmt::join(parts, ","));
}

std::vector<std::string> node_affinity_texts(object& of, member affinity, bool& asks_names) {
  const member required = of.section(of.section(affinity, "nodeAffinity"), required_terms);
  return required ? node_terms_texts(of, *required, asks_names) : std::vector<std::string>{};
}

std::vector<std::string> node_preference_texts(object& of, member affinity, bool& asks_names) {
  std::vector<std::string> texts;
  for (const json_value one : of.items(of.section(affinity, "nodeAffinity"), preferred_terms)) {
    const std::optional<std::int64_t> weight = weight_of(of, one);
    if (!weight) continue;
    const member term = of.section(one, "preference");
    const std::string text = term ? term_text(of, *term, asks_names) : std::string();
    if (!text.empty()) texts.push_back(fmt::format("{}: {}", *weight, text));
  }
  return texts;
}

std::vector<std::string> node_terms_texts(object& of, json_value selector, bool& asks_names) {
  std::vector<std::string> texts = term_texts(of, selector, asks_names);
  if (texts.empty()) texts.emplace_back(no_match);
  return texts;
}

std::vector<std::string> topology_terms_texts(object& of) {
  std::vector<std::string> texts;
  for (const json_value term : of.items(of.root(), "allowedTopologies")) {
    std::vector<std::string> parts;
    for (const json_value one : of.items(term, "matchLabelExpressions")) {
      const std::vector<std::string> values = plain_values(of, one);
      if (values.empty()) of.fail(one, "values", "expected at least one value");
      parts.push_back(fmt::format("{} in ({})", plain_text(of, one, "key"), fmt::join(values, ",")));
    }
    texts.push_back(parts.empty() ? std::string(no_match) : fmt::format("{}", fmt::join(parts, ",")));
  }
  return texts;
}

std::string node_selector_text(object& of, json_value selector, bool& asks_names) {
  const std::vector<std::string> texts = term_texts(of, selector, asks_names);
  if (texts.size() == 1) return texts.front();
  of.fail(selector, "nodeSelectorTerms", "expected one term");
  return std::string(no_match);
}

namespace {

/// Names of namespaces behind an @; empty: that of the pod. A term that is about none has no names: nothing matches.
struct namespaces_of_term {
  std::string text;
  bool none = false;
};

namespaces_of_term namespaces_of(object& of, json_value term, const namespace_labels& spaces, bool& asks) {
  std::vector<std::string> names;
  for (const std::string_view one : of.texts(term, "namespaces")) names.push_back(plain(of, term, one));
  const member selector = of.section(term, "namespaceSelector");
  if (selector) {
    const std::string text = selector_text(of, selector);
    if (text.empty()) return {"@*"};
    asks = true;
    const result<model::selector> parsed = model::parse_selector(text);
    for (const auto& [name, labels] : spaces) {
      if (parsed && parsed->matches(labels)) names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.empty()) return {"", selector.has_value()};
  if (names.size() == 1 && names.front() == of.name_space()) return {};
  return {fmt::format("@{}", fmt::join(names, ","))};
}

std::string affinity_text(object& of, json_value term, const namespace_labels& spaces, bool& asks) {
  const std::string key = plain_text(of, term, "topologyKey");
  if (key.empty()) of.fail(term, "topologyKey", "expected a key");
  const namespaces_of_term where = namespaces_of(of, term, spaces, asks);
  const std::string pods = selector_text(of, of.section(term, "labelSelector"));
  return fmt::format("{}{}: {}", key, where.text, where.none ? no_match : std::string_view(pods));
}

}  // namespace

pod_affinity_terms pod_affinity_of(object& of, member affinity, const namespace_labels& spaces) {
  pod_affinity_terms terms;
  for (const bool is_near : {true, false}) {
    const member of_kind = of.section(affinity, is_near ? "podAffinity" : "podAntiAffinity");
    for (const json_value term : of.items(of_kind, required_terms)) {
      (is_near ? terms.near : terms.apart).push_back(affinity_text(of, term, spaces, terms.asks_namespaces));
    }
    for (const json_value one : of.items(of_kind, preferred_terms)) {
      const std::optional<std::int64_t> weight = weight_of(of, one);
      if (!weight) continue;
      const member term = of.section(one, "podAffinityTerm");
      if (!term) {
        of.fail(one, "podAffinityTerm", "expected a term");
        continue;
      }
      terms.preferences.push_back(
          fmt::format("{} {}", is_near ? *weight : -*weight, affinity_text(of, *term, spaces, terms.asks_namespaces)));
    }
  }
  return terms;
}

std::vector<std::string> spread_texts(object& of, member spec) {
  constexpr std::int64_t most = 1'000'000'000;
  std::vector<std::string> texts;
  for (const json_value one : of.items(spec, "topologySpreadConstraints")) {
    const std::int64_t skew = of.integer(one, "maxSkew").value_or(0);
    const std::int64_t domains = of.integer(one, "minDomains").value_or(1);
    const std::string key = plain_text(of, one, "topologyKey");
    const std::string_view otherwise = of.text(one, "whenUnsatisfiable");
    if (skew < 1 || skew > most) of.fail(one, "maxSkew", "expected at least 1");
    if (domains < 1 || domains > most) of.fail(one, "minDomains", "expected at least 1");
    if (key.empty()) of.fail(one, "topologyKey", "expected a key");
    if (otherwise != "DoNotSchedule" && otherwise != "ScheduleAnyway") {
      of.fail(one, "whenUnsatisfiable",
              fmt::format("expected DoNotSchedule or ScheduleAnyway, found \"{}\"", otherwise));
    }
    std::string pods = selector_text(of, of.section(one, "labelSelector"));
    for (const std::string_view label : of.texts(one, "matchLabelKeys")) {
      const std::optional<std::string_view> value = of.label(label);
      if (value) pods += fmt::format("{}{}={}", pods.empty() ? "" : ",", plain(of, one, label), plain(of, one, *value));
    }
    texts.push_back(fmt::format("{} {}{}{}{}{}: {}", skew, key, otherwise == "ScheduleAnyway" ? " soft" : "",
                                domains > 1 ? fmt::format(" min_domains={}", domains) : std::string(),
                                of.text(one, "nodeAffinityPolicy") == "Ignore" ? " ignore_affinity" : "",
                                of.text(one, "nodeTaintsPolicy") == "Honor" ? " honor_taints" : "", pods));
  }
  return texts;
}

std::vector<std::string> host_port_texts(object& of, member spec) {
  std::vector<std::string> texts;
  const auto add = [&](json_value container) {
    for (const json_value port : of.items(container, "ports")) {
      const std::int64_t number = of.integer(port, "hostPort").value_or(0);
      if (number == 0) continue;
      const std::string_view address = of.text(port, "hostIP");
      const std::string_view protocol = of.text(port, "protocol");
      std::string text = address.empty() ? std::string{} : std::string(address) + ":";
      text += std::to_string(number) + "/" + (protocol.empty() ? "TCP" : std::string(protocol));
      if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
    }
  };
  for (const json_value one : of.items(spec, "initContainers")) {
    if (of.text(one, "restartPolicy") == "Always") add(one);
  }
  for (const json_value one : of.items(spec, "containers")) add(one);
  return texts;
}

std::vector<std::string> annotated_pairs(object& of, std::string_view annotation) {
  std::vector<std::string> pairs;
  const member at = find(of.annotations(), annotation);
  if (!at) return pairs;
  std::string_view rest = of.text(of.annotations(), annotation);
  while (!rest.empty()) {
    std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == one.size()) {
      of.fail(*at, fmt::format("expected name=value, found '{}'", one));
      return {};
    }
    pairs.emplace_back(one.substr(0, equals));
    pairs.emplace_back(one.substr(equals + 1));
  }
  return pairs;
}

}  // namespace kaisched::io::kubernetes
