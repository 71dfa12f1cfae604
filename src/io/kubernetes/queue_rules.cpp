#include "io/kubernetes/queue_rules.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kaisched::io::kubernetes {

namespace {

bool matches_any(const std::vector<std::string>& patterns, std::string_view text) {
  return !text.empty() &&
         std::ranges::any_of(patterns, [&](const std::string& one) { return matches_pattern(text, one); });
}

/// A name without what tables and other programs cannot have in one.
bool is_queue_name(std::string_view path) {
  if (path.empty() || path.front() == '.' || path.back() == '.') return false;
  if (path.find("..") != std::string_view::npos) return false;
  return std::ranges::all_of(path, [](char c) { return static_cast<unsigned char>(c) > 0x20 && c != 0x7F; });
}

std::string as_one_level(std::string_view name) {
  std::string made;
  for (const char c : name) {
    if (c == '.') {
      made += dot_word;
    } else {
      made += c;
    }
  }
  return made;
}

std::string below(std::string_view parent, std::string_view name) {
  return parent.empty() ? std::string(name) : fmt::format("{}.{}", parent, name);
}

std::string_view value_of(const queue_rule& rule, const queue_question& asks) {
  switch (rule.source) {
    case queue_source::provided:
      return asks.named;
    case queue_source::user:
      return asks.user;
    case queue_source::name_space:
      return asks.name_space;
    case queue_source::fixed:
      return rule.text;
    default:
      return asks.text(rule.source, rule.text);
  }
}

/// What quotas of queues come to together.
std::int64_t sum_of_bounds(std::int64_t a, std::int64_t b) {
  return a == unlimited || b == unlimited ? unlimited : std::min(a + b, max_amount);
}

/// The name that fixed rules alone give; empty: it depends on the group.
std::string fixed_name(const queue_rule& rule) {
  if (rule.source != queue_source::fixed) return {};
  const std::string_view text = rule.text;
  if (text.starts_with(root_prefix)) return std::string(text.substr(root_prefix.size()));
  if (rule.parent == nullptr) return std::string(text);
  const std::string above = fixed_name(*rule.parent);
  return above.empty() ? std::string{} : below(above, text);
}

}  // namespace

bool matches_pattern(std::string_view text, std::string_view pattern) {
  std::size_t at = 0;
  std::size_t in = 0;
  std::size_t star = std::string_view::npos;  // the last one, and where its text ends so far
  std::size_t resumed = 0;
  while (at < text.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      resumed = at;
    } else if (in < pattern.size() && (pattern[in] == '?' || pattern[in] == text[at])) {
      ++in;
      ++at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++resumed;
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<std::ptrdiff_t>(in), pattern.end(), [](char c) { return c == '*'; });
}

queue_chooser::queue_chooser(const queue_rules& by, std::span<const queue_record> known, bool has_none)
    : by_(by), has_none_(has_none) {
  for (const queue_record& one : known) {
    known_.emplace(one.name, one.parent);
    if (!one.parent.empty()) known_parents_.insert(one.parent);
  }
  for (const auto& [name, kind] : by.templates) named_parents_.insert(name);
  for (const queue_rule& one : by.rules) note_parents(one);
}

void queue_chooser::note_parents(const queue_rule& rule) {
  for (const queue_rule* above = rule.parent.get(); above != nullptr; above = above->parent.get()) {
    if (std::string name = fixed_name(*above); !name.empty()) named_parents_.insert(std::move(name));
  }
}

/// A queue of the text that has nobody below it, and that nothing names as a parent, may have groups: it stays a leaf.
bool queue_chooser::may_be_parent(std::string_view name) const {
  return !known_.contains(name) || known_parents_.contains(name) || named_parents_.contains(name);
}

bool queue_chooser::decides_about(std::string_view named) const {
  return !known_.contains(named) || may_be_parent(named);
}

bool queue_chooser::passes(const queue_filter& filter, const queue_question& asks, std::string_view value) const {
  if (filter.is_empty()) return filter.allow;
  bool found = matches_any(filter.users, asks.user) || matches_any(filter.names, value) ||
               std::ranges::any_of(asks.user_groups,
                                   [&](const std::string& group) { return matches_any(filter.groups, group); });
  for (auto group = by_.user_groups.begin(); !found && group != by_.user_groups.end(); ++group) {
    found = group->second.contains(asks.user) && matches_any(filter.groups, group->first);
  }
  return found == filter.allow;
}

std::string queue_chooser::make(std::string_view parent, std::string_view path, std::vector<made_queue>& making) const {
  if (!is_queue_name(path) || below(parent, path).size() > longest_queue_name) return {};
  std::string above(parent);
  while (!path.empty()) {
    const std::string_view level = path.substr(0, path.find('.'));
    path.remove_prefix(std::min(level.size() + 1, path.size()));
    if (!above.empty() && !may_be_parent(above)) return {};
    std::string name = below(above, level);
    if (!known_.contains(name)) making.push_back({name, above});
    above = std::move(name);
  }
  return above;
}

std::string queue_chooser::resolve(const queue_rule& rule, const queue_question& asks, bool as_parent,
                                   std::vector<made_queue>& making) const {
  std::string_view value = value_of(rule, asks);
  if (value.empty() || !passes(rule.filter, asks, value)) return {};
  const bool names_levels = rule.source != queue_source::user && rule.source != queue_source::name_space;
  const bool is_whole = names_levels && value.starts_with(root_prefix) && !known_.contains(value);
  if (is_whole) value.remove_prefix(root_prefix.size());
  std::string parent;
  if (!is_whole && rule.parent != nullptr) {
    parent = resolve(*rule.parent, asks, true, making);
    if (parent.empty()) return {};
  }
  const bool is_path = is_whole || rule.source == queue_source::fixed;
  const std::string path = is_path ? std::string(value) : as_one_level(value);
  const auto named = known_.find(value);
  const bool is_here = named != known_.end() && (parent.empty() || named->second == parent);
  std::string found = is_here ? std::string(value) : below(parent, path);
  if (known_.contains(found)) return may_be_parent(found) == as_parent ? found : std::string{};
  if (!rule.create && !has_none_) return {};
  // Where every group of a queue is below it, none can be in it.
  if (!as_parent && named_parents_.contains(found)) return {};
  return make(parent, path, making);
}

std::string queue_chooser::choose(const queue_question& asks) {
  for (const queue_rule& rule : by_.rules) {
    std::vector<made_queue> making;
    std::string found = resolve(rule, asks, false, making);
    if (found.empty()) continue;
    for (made_queue& one : making) made_.emplace(std::move(one.name), std::move(one.parent));
    return found;
  }
  return {};
}

const queue_template* queue_chooser::template_of(std::string_view parent) const {
  // Queues of a text may go round in a circle: that is for the cluster to say.
  for (std::size_t left = known_.size() + made_.size(); !parent.empty() && left > 0; --left) {
    if (const auto found = by_.templates.find(parent); found != by_.templates.end()) return &found->second;
    const auto made = made_.find(parent);
    const auto known = known_.find(parent);
    if (made == made_.end() && known == known_.end()) break;
    parent = made != made_.end() ? made->second : known->second;
  }
  const auto of_all = by_.templates.find(root_prefix.substr(0, root_prefix.size() - 1));
  return of_all == by_.templates.end() ? nullptr : &of_all->second;
}

void queue_chooser::finish(std::vector<pod_group_record>& groups, std::vector<queue_record>& to) {
  names parents;
  for (const auto& [name, parent] : made_) {
    if (!parent.empty()) parents.insert(parent);
  }
  for (pod_group_record& group : groups) {
    while (parents.contains(group.queue) && !known_parents_.contains(group.queue)) {
      std::string leaf = below(group.queue, own_leaf);
      if (!known_.contains(leaf)) made_.emplace(leaf, group.queue);
      group.queue = std::move(leaf);
    }
  }
  std::map<std::string, queue_record, std::less<>> rows;
  for (const auto& [name, parent] : made_) {
    queue_record row;
    row.name = name;
    row.parent = parent;
    row.priority = queue_template{}.priority;
    row.limit.fill(unlimited);
    row.weight.fill(1);
    const bool is_leaf = !parents.contains(name);
    if (is_leaf && has_none_) row.quota.fill(unlimited);
    if (const queue_template* like = is_leaf ? template_of(parent) : nullptr; like != nullptr) {
      row.priority = like->priority;
      row.quota = like->quota;
      row.limit = like->limit;
      row.weight = like->weight;
    }
    rows.emplace(name, std::move(row));
  }
  // What those below a queue are promised it has to have. Their names start with its own, so they come after it.
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const auto above = rows.find(row->second.parent);
    if (above == rows.end()) continue;
    for (std::size_t i = 0; i < quota_dimensions; ++i)
      above->second.quota[i] = sum_of_bounds(above->second.quota[i], row->second.quota[i]);
  }
  for (auto& [name, row] : rows) to.push_back(std::move(row));
}

}  // namespace kaisched::io::kubernetes
