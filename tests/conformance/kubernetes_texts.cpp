#include "conformance/kubernetes_texts.hpp"

#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

std::string expression_text(const json& expression) {
  std::string key = expression.at("key").get<std::string>();
  const std::string operation = expression.at("operator").get<std::string>();
  std::vector<std::string> values;
  for (const json& value : items(expression, "values")) values.push_back(value.get<std::string>());
  if (operation == "Exists") return key;
  if (operation == "DoesNotExist") return "!" + key;
  if (values.empty()) throw unsupported("operator " + operation + " without values");
  if (operation == "Gt") return key + ">" + values.front();
  if (operation == "Lt") return key + "<" + values.front();
  // Not joined(): an empty first value must keep its comma, (,a) are the two values "" and "a".
  std::string list = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) list += "," + values[i];
  if (operation == "In") return key + " in (" + list + ")";
  if (operation == "NotIn") return key + " notin (" + list + ")";
  throw unsupported("selector operator " + operation);
}

std::vector<std::string> expression_texts(const json& holder) {
  std::vector<std::string> parts;
  for (const json& expression : items(holder, "matchExpressions")) parts.push_back(expression_text(expression));
  return parts;
}

const json& required(const json& affinity, std::string_view kind) {
  const json& of_kind = member(affinity, kind);
  if (!items(of_kind, "preferredDuringSchedulingIgnoredDuringExecution").empty()) {
    throw unsupported("preferred " + std::string(kind));
  }
  return items(of_kind, "requiredDuringSchedulingIgnoredDuringExecution");
}

}  // namespace

std::vector<std::string> label_texts(const json& labels) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : labels.items()) {
    texts.push_back(key);
    texts.push_back(value.get<std::string>());
  }
  return texts;
}

std::string taint_text(const json& taint) {
  return text_or_empty(taint, "key") + "=" + text_or_empty(taint, "value") + ":" + text_or_empty(taint, "effect");
}

std::string toleration_text(const json& toleration) {
  const std::string key = text_or_empty(toleration, "key");
  const std::string effect = text_or_empty(toleration, "effect");
  std::string text = key.empty() ? "*" : key;
  if (text_or_empty(toleration, "operator") != "Exists") text += "=" + text_or_empty(toleration, "value");
  return effect.empty() ? text : text + ":" + effect;
}

std::string selector_text(const json& selector) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : items(selector, "matchLabels").items()) {
    parts.push_back(key + "=" + value.get<std::string>());
  }
  for (std::string& part : expression_texts(selector)) parts.push_back(std::move(part));
  return joined(parts);
}

std::vector<std::string> node_affinity_texts(const json& affinity) {
  std::vector<std::string> texts;
  for (const json& term : items(required(affinity, "nodeAffinity"), "nodeSelectorTerms")) {
    if (!items(term, "matchFields").empty()) throw unsupported("node affinity by field");
    const std::vector<std::string> parts = expression_texts(term);
    // A term without expressions matches no node; an empty selector would match them all.
    texts.push_back(parts.empty() ? "none,!none" : joined(parts));
  }
  return texts;
}

std::vector<std::string> pod_affinity_texts(const json& affinity, std::string_view kind) {
  std::vector<std::string> texts;
  for (const json& term : required(affinity, kind)) {
    if (!items(term, "namespaces").empty() || has(term, "namespaceSelector")) {
      throw unsupported(std::string(kind) + " of other namespaces");
    }
    texts.push_back(term.at("topologyKey").get<std::string>() + ": " + selector_text(member(term, "labelSelector")));
  }
  return texts;
}

}  // namespace kaisched::conformance
