#include "policy/predicates/pod_kinds.hpp"

#include <algorithm>
#include <tuple>

namespace kaisched::policy {

using model::affinity_term;
using model::requirement;
using model::selector;
using model::selector_operator;

namespace {

/// The term of a pod in the first namespace is about pods in the second one.
bool reaches(const affinity_term& term, std::string_view own, std::string_view other) {
  if (term.any_namespace) return true;
  if (term.namespaces.empty()) return own == other;
  return std::binary_search(term.namespaces.begin(), term.namespaces.end(), other);
}

}  // namespace

// ---- kinds ---------------------------------------------------------------------------------------------------------

pod_kinds::pod_kinds(const model::cluster_state& s) {
  find_keys(s);
  kind_of_.assign(s.pod_slots, 0);
  // Most pods of a group have the same labels, so the text is looked up before it is read.
  std::map<std::tuple<class_row, std::string_view, std::string_view>, std::uint32_t> by_text;
  std::map<std::tuple<class_row, std::string_view, model::label_list>, std::uint32_t> by_labels;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live) continue;
    const group_row g = s.pods[p].group;
    const std::string_view space = g == no_row ? std::string_view{} : s.group_extras[g].name_space;
    const class_row of_class = s.pods[p].pod_class;
    const std::string_view text = s.pod_extras[p].labels;
    const auto [known, is_new_text] = by_text.try_emplace({of_class, space, text}, 0);
    if (is_new_text) {
      model::label_list labels = named_labels(text);
      const auto [at, is_new] =
          by_labels.try_emplace({of_class, space, labels}, static_cast<std::uint32_t>(kinds_.size()));
      if (is_new) {
        owners_[{of_class, space}].push_back(at->second);
        kinds_.push_back({of_class, space, std::move(labels), 0});
      }
      known->second = at->second;
    }
    kind_of_[p] = known->second;
    ++kinds_[known->second].pods;
  }
  index_labels();
}

/// Of the classes that pods have.
void pod_kinds::find_keys(const model::cluster_state& s) {
  std::vector<std::uint8_t> is_used(s.classes.size(), 0);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (s.pods[p].live) is_used[s.pods[p].pod_class] = 1;
  }
  const auto add = [&](const selector& of) {
    for (const requirement& one : of.requirements) keys_.emplace_back(one.key);
  };
  for (class_row c = 0; c < is_used.size(); ++c) {
    if (is_used[c] == 0) continue;
    const model::pod_class& ask = *s.classes[c];
    for (const affinity_term& term : ask.affinity) add(term.pods);
    for (const affinity_term& term : ask.anti_affinity) add(term.pods);
    for (const model::pod_preference& one : ask.preferences) add(one.term.pods);
    for (const model::spread_constraint& one : ask.spread) add(one.pods);
  }
  std::sort(keys_.begin(), keys_.end());
  keys_.erase(std::unique(keys_.begin(), keys_.end()), keys_.end());
}

model::label_list pod_kinds::named_labels(std::string_view labels) const {
  model::label_list all = model::parse_labels(labels).value();  // checked when the pod came
  std::erase_if(all, [&](const auto& label) {
    return !std::binary_search(keys_.begin(), keys_.end(), std::string_view(label.first));
  });
  return all;
}

void pod_kinds::index_labels() {
  for (std::uint32_t i = 0; i < kinds_.size(); ++i) {
    for (const auto& [key, value] : kinds_[i].labels) {
      with_key_[key].push_back(i);
      with_label_[{key, value}].push_back(i);
    }
  }
}

/// An upper bound of the kinds that satisfy the requirement, from the index alone.
std::size_t pod_kinds::matches_at_most(const requirement& of) const {
  const auto with_key = [&] {
    const auto at = with_key_.find(of.key);
    return at == with_key_.end() ? std::size_t{0} : at->second.size();
  };
  switch (of.op) {
    case selector_operator::in: {
      std::size_t sum = 0;
      for (const std::string& value : of.values) {
        if (const auto at = with_label_.find({of.key, value}); at != with_label_.end()) sum += at->second.size();
      }
      return sum;
    }
    case selector_operator::exists:
    case selector_operator::greater:
    case selector_operator::less:
      return with_key();
    case selector_operator::not_in:
    case selector_operator::does_not_exist:
      break;
  }
  return kinds_.size();
}

/// Ascending; all that the selector matches are among them.
std::vector<std::uint32_t> pod_kinds::candidates(const selector& pods) const {
  const requirement* best = nullptr;
  std::size_t least = kinds_.size();
  for (const requirement& one : pods.requirements) {
    const std::size_t most = matches_at_most(one);
    if (most >= least) continue;
    least = most;
    best = &one;
  }
  kind_list found;
  found.reserve(least);
  if (best == nullptr) {
    for (std::uint32_t i = 0; i < kinds_.size(); ++i) found.push_back(i);
  } else if (best->op == selector_operator::in) {
    for (const std::string& value : best->values) {
      const auto at = with_label_.find({best->key, value});
      if (at != with_label_.end()) found.insert(found.end(), at->second.begin(), at->second.end());
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  } else if (const auto at = with_key_.find(best->key); at != with_key_.end()) {
    found = at->second;
  }
  return found;
}

std::vector<std::uint32_t> pod_kinds::selected_by(const affinity_term& term, std::string_view name_space) const {
  kind_list found = candidates(term.pods);
  std::erase_if(found, [&](std::uint32_t i) {
    return !reaches(term, name_space, kinds_[i].name_space) || !term.pods.matches(kinds_[i].labels);
  });
  return found;
}

std::vector<std::uint32_t> pod_kinds::selected_by(const selector& pods, std::string_view name_space) const {
  kind_list found = candidates(pods);
  std::erase_if(found,
                [&](std::uint32_t i) { return kinds_[i].name_space != name_space || !pods.matches(kinds_[i].labels); });
  return found;
}

std::uint64_t pod_kinds::pods_of(const std::vector<std::uint32_t>& kinds) const {
  std::uint64_t sum = 0;
  for (const std::uint32_t one : kinds) sum += kinds_[one].pods;
  return sum;
}

// ---- domains -------------------------------------------------------------------------------------------------------

key_domains domains_of_key(const model::cluster_state& s, std::string_view key) {
  key_domains made;
  std::map<std::string_view, std::uint32_t> numbers;
  for (node_row row = 0; row < s.node_count(); ++row) {
    const std::string* const value = model::find_label((*s.nodes)[row]->labels, key);
    if (value == nullptr) continue;
    if (made.by_node.empty()) made.by_node.assign(s.node_count(), no_row);
    made.by_node[row] = numbers.try_emplace(*value, static_cast<std::uint32_t>(numbers.size())).first->second;
  }
  made.count = static_cast<std::uint32_t>(numbers.size());
  return made;
}

key_domains nodes_as_domains(const model::cluster_state& s) {
  key_domains made;
  made.count = s.node_count();
  made.by_node.reserve(made.count);
  for (node_row row = 0; row < made.count; ++row) made.by_node.push_back(row);
  return made;
}

}  // namespace kaisched::policy
