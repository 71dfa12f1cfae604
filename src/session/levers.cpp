#include "session/levers.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <kaisched/schema.hpp>

#include "model/export.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"

namespace kaisched::session_detail {

namespace {

using model::node_info;
using model::pod_class;

constexpr std::size_t most_values_alone = 8;   ///< things of which each is tried alone
constexpr std::int64_t most_pods_counted = 8;  ///< pods on one node, when amounts are proposed
constexpr std::size_t most_sub_group_levers = 8;

// ---- tables
// ----------------------------------------------------------------------------------------------------------

/// A change of one column of rows that have names.
template <class Put>
table changed(table_kind kind, std::uint32_t name_column, std::span<const std::string_view> names, std::uint32_t column,
              column_type type, std::uint32_t width, Put put) {
  table t(kind, table_op::change);
  table::column& name = t.add(name_column, column_type::string);
  table::column& value = t.add(column, type, width);
  for (std::size_t i = 0; i < names.size(); ++i) {
    name.push(names[i]);
    put(value, i);
  }
  return t;
}

/// A change of one column of a group, or of one of its sub-groups if `sub` is not empty.
template <class Value>
table member_change(const lever_subject& of, std::string_view sub, std::uint32_t group_column,
                    std::uint32_t sub_group_column, column_type type, Value value) {
  const std::string_view group = of.c.state().group_names[of.group];
  if (sub.empty()) {
    return changed(table_kind::pod_group, col::pod_group_name, {&group, 1}, group_column, type, 1,
                   [&](table::column& to, std::size_t) { to.push(value); });
  }
  table t(table_kind::sub_group, table_op::change);
  t.add(col::sub_group_group, column_type::string).push(group);
  t.add(col::sub_group_name, column_type::string).push(sub);
  t.add(sub_group_column, type).push(value);
  return t;
}

/// One value for each pod that waits.
template <class TextOf>
table pod_lists(const lever_subject& of, std::uint32_t column, TextOf text_of) {
  std::vector<std::string_view> names;
  for (const pod_row p : of.waiting) names.push_back(of.c.state().pod_names[p]);
  return changed(table_kind::pod, col::pod_name, names, column, column_type::string_list, 1,
                 [&](table::column& to, std::size_t i) { to.push_raw(text_of(of.c.state().class_of(of.waiting[i]))); });
}

entity_id id_of(const lever_subject& of, const node_info& node) {
  return {entity_kind::node, (*of.c.state().node_generation)[node.slot], node.slot};
}

/// The group if all its pods that wait ask for the same, else the first pod of the class.
entity_id id_of_class(const lever_subject& of, class_row which) {
  const auto is_of_it = [&](pod_row p) { return of.c.state().pods[p].pod_class == which; };
  if (std::all_of(of.waiting.begin(), of.waiting.end(), is_of_it)) return id_of_group(of.c, of.group);
  return id_of_pod(of.c, *std::find_if(of.waiting.begin(), of.waiting.end(), is_of_it));
}

// ---- searches
// --------------------------------------------------------------------------------------------------------

/// The first of `count` settings, from the smallest change to the largest one, that works; the last one does. More of a
/// change is taken to do no harm.
template <class SettingOf>
result<std::vector<setting>> first_that_works(std::size_t count, SettingOf setting_of, const try_setting& works) {
  std::size_t least = 0;
  std::size_t most = count - 1;
  for (std::size_t step = 1; least < most; step *= 2) {  // small changes are enough more often than not
    const std::size_t middle = std::min(least + step - 1, least + (most - least) / 2);
    const result<verdict> made = works(setting_of(middle));
    if (!made) return made.failure();
    (made->starts ? most : least) = made->starts ? middle : middle + 1;
  }
  return std::vector<setting>{setting_of(most)};
}

/// One of several amounts, from the smallest change to the largest one.
class amount_lever : public lever {
 public:
  [[nodiscard]] setting most() const override { return amounts_.empty() ? setting{} : setting{amounts_.back()}; }
  [[nodiscard]] result<std::vector<setting>> smallest(const try_setting& works) const override {
    return first_that_works(amounts_.size(), [&](std::size_t i) { return setting{amounts_[i]}; }, works);
  }

 protected:
  std::vector<std::int64_t> amounts_;
};

/// Some of several things.
class choice_lever : public lever {
 public:
  [[nodiscard]] setting most() const override {
    setting all;
    for (std::size_t i = 0; i < count_; ++i) all.push_back(static_cast<std::int64_t>(i));
    return all;
  }

  /// Each that is enough alone; else some none of which can be left out.
  [[nodiscard]] result<std::vector<setting>> smallest(const try_setting& works) const override {
    std::vector<setting> alone;
    if (tells_each_ && count_ <= most_values_alone) {
      for (const std::int64_t one : most()) {
        const result<verdict> made = works({one});
        if (!made) return made.failure();
        if (made->starts) alone.push_back({one});
      }
    }
    if (!alone.empty()) return alone;
    // Pieces are left out as long as the rest is enough, large ones first, until no single thing can be.
    setting needed = most();
    for (std::size_t piece = (needed.size() + 1) / 2; needed.size() > 1;) {
      bool left_out = false;
      for (std::size_t end = needed.size(); end > 0 && needed.size() > 1;) {
        const std::size_t first = end - std::min(piece, end);
        setting fewer = needed;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(first),
                    fewer.begin() + static_cast<std::ptrdiff_t>(end));
        end = first;
        if (fewer.empty()) continue;
        const result<verdict> made = works(fewer);
        if (!made) return made.failure();
        if (!made->starts) continue;
        needed = std::move(fewer);
        left_out = true;
      }
      if (piece == 1 && !left_out) break;
      piece = std::max<std::size_t>(1, std::min(piece / 2, (needed.size() + 1) / 2));
    }
    return std::vector<setting>{needed};
  }

 protected:
  std::size_t count_ = 0;
  bool tells_each_ = true;
};

// ---- of the group
// ----------------------------------------------------------------------------------------------------

/// Fewer pods that have to start together, or fewer sub-groups.
class size_lever final : public amount_lever {
 public:
  size_lever(const lever_subject& of, change_kind what, std::string_view sub, std::int64_t before)
      : of_(of), what_(what), sub_(sub), before_(before) {
    for (std::int64_t less = before - 1; less >= 1; --less) amounts_.push_back(less);
  }
  void add_rows(const setting& to, change_set& delta) const override {
    const bool pods = what_ == change_kind::gang_size;
    delta.tables.push_back(member_change(of_, sub_, pods ? col::pod_group_min_member : col::pod_group_min_sub_group,
                                         pods ? col::sub_group_min_member : col::sub_group_min_sub_group,
                                         column_type::i64, to.front()));
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    to.push_back({what_, id_of_group(of_.c, of_.group), no_row, before_, of.front(), {}, {}, std::string(sub_)});
  }

 private:
  const lever_subject& of_;
  change_kind what_;
  std::string_view sub_;
  std::int64_t before_;
};

/// A wider level in which pods have to be together, or none.
class level_lever final : public amount_lever {
 public:
  level_lever(const lever_subject& of, std::string_view sub, const model::topology_ask& ask)
      : of_(of), sub_(sub), required_(ask.required_level) {
    for (const model::topology_info& t : *of.c.state().topologies) {
      if (t.name != ask.topology) continue;
      for (const std::string& level : t.levels) {
        if (level == required_) break;
        wider_.insert(wider_.begin(), level);
      }
    }
    wider_.emplace_back();
    for (std::size_t i = 0; i < wider_.size(); ++i) amounts_.push_back(static_cast<std::int64_t>(i));
  }
  void add_rows(const setting& to, change_set& delta) const override {
    delta.tables.push_back(member_change(of_, sub_, col::pod_group_required_level, col::sub_group_required_level,
                                         column_type::string, std::string_view(level(to))));
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    to.push_back({change_kind::required_level, id_of_group(of_.c, of_.group), no_row, 0, 0, required_, level(of),
                  std::string(sub_)});
  }

 private:
  [[nodiscard]] const std::string& level(const setting& of) const {
    return wider_[static_cast<std::size_t>(of.front())];
  }
  const lever_subject& of_;
  std::string_view sub_;
  std::string required_;
  std::vector<std::string> wider_;  ///< narrowest first
};

// ---- of its pods
// -----------------------------------------------------------------------------------------------------

/// Amounts below `before` of which some number of pods share one of the free ones, largest first.
std::vector<std::int64_t> parts_of(std::vector<std::int64_t> free, std::int64_t pods, std::int64_t before) {
  std::sort(free.begin(), free.end());
  free.erase(std::unique(free.begin(), free.end()), free.end());
  std::vector<std::int64_t> parts;
  for (const std::int64_t amount : free) {
    for (std::int64_t k = 1; k <= std::min(pods, most_pods_counted); ++k) {
      if (const std::int64_t part = amount / k; part > 0 && part < before) parts.push_back(part);
    }
  }
  std::sort(parts.begin(), parts.end(), std::greater<>());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  return parts;
}

/// Less of a dimension for each pod of a class. The amounts are those at which something begins to fit: whole devices,
/// parts of what nodes, devices and queues have left.
class request_lever final : public amount_lever {
 public:
  request_lever(const lever_subject& of, class_row which, dimension d)
      : of_(of), class_(which), dim_(d), before_(ask().requests(d)) {
    if (d == dim_gpu && ask().whole_devices > 0) {
      for (std::int64_t less = before_ - whole_device; less >= whole_device; less -= whole_device)
        amounts_.push_back(less);
      return;
    }
    const std::int64_t devices = d == dim_gpu ? ask().shared_count() : 1;
    const auto pods = static_cast<std::int64_t>(std::count_if(
        of.waiting.begin(), of.waiting.end(), [&](pod_row p) { return of.c.state().pods[p].pod_class == which; }));
    amounts_ = parts_of(d == dim_gpu ? free_of_devices() : free_of_nodes(), pods, before_ / devices);
    for (std::int64_t& amount : amounts_) amount *= devices;
  }
  void add_rows(const setting& to, change_set& delta) const override {
    std::vector<std::int64_t>& request = delta.requests[class_];
    if (request.empty()) {
      for (std::uint32_t d = 0; d < of_.c.state().dims(); ++d) request.push_back(ask().requests(d));
    }
    request[dim_] = to.front();
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    to.push_back({change_kind::pod_request, id_of_class(of_, class_), dim_, before_, of.front()});
  }

 private:
  [[nodiscard]] const pod_class& ask() const { return *of_.c.state().classes[class_]; }
  [[nodiscard]] std::vector<std::int64_t> free_of_nodes() const {
    const model::cluster_state& s = of_.now;
    std::vector<std::int64_t> free;
    for (node_row row = 0; row < s.node_count(); ++row) {
      if ((*s.nodes)[row]->open()) free.push_back((*s.live.idle)[static_cast<std::size_t>(row) * s.dims() + dim_]);
    }
    if (dim_ >= quota_dimensions) return free;
    for (queue_row q = s.groups[of_.group].queue; q != no_row; q = (*s.queues)[q].parent) {
      const std::int64_t limit = (*s.queues)[q].limit[dim_];
      if (limit >= 0) free.push_back(limit - (*s.live.queue_allocated)[q][dim_]);
    }
    return free;
  }
  /// In milli-GPU of one device.
  [[nodiscard]] std::vector<std::int64_t> free_of_devices() const {
    const model::cluster_state& s = of_.now;
    std::vector<std::int64_t> free;
    for (std::size_t i = 0; i < s.live.device_free->size(); ++i)
      free.push_back((*s.live.device_free)[i] * whole_device / (*s.device_units)[i]);  // amounts are at most 2^52
    return free;
  }
  const lever_subject& of_;
  class_row class_;
  dimension dim_;
  std::int64_t before_;
};

/// Less memory of each device.
class memory_lever final : public amount_lever {
 public:
  memory_lever(const lever_subject& of, class_row which)
      : of_(of), class_(which), before_(of.c.state().classes[which]->ask.gpu_memory) {
    const auto& free = *of.now.live.device_free;
    amounts_ = parts_of({free.begin(), free.end()}, static_cast<std::int64_t>(of.waiting.size()), before_);
  }
  void add_rows(const setting& to, change_set& delta) const override {
    std::vector<std::string_view> names;
    for (const pod_row p : of_.waiting) {
      if (of_.c.state().pods[p].pod_class == class_) names.push_back(of_.c.state().pod_names[p]);
    }
    delta.tables.push_back(changed(table_kind::pod, col::pod_name, names, col::pod_gpu_memory, column_type::i64, 1,
                                   [&](table::column& column, std::size_t) { column.push(to.front()); }));
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    to.push_back({change_kind::gpu_memory, id_of_class(of_, class_), no_row, before_, of.front()});
  }

 private:
  const lever_subject& of_;
  class_row class_;
  std::int64_t before_;
};

/// Taints that the pods tolerate from now on.
class toleration_lever final : public choice_lever {
 public:
  explicit toleration_lever(const lever_subject& of) : of_(of) {
    std::set<std::string> taints;
    for (const auto& node : *of.c.state().nodes) {
      const std::vector<std::string_view> texts = split_list(node->taints_text);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::vector<model::taint> one{node->taints[i]};
        const bool keeps_away = std::any_of(of.waiting.begin(), of.waiting.end(),
                                            [&](pod_row p) { return !of.c.state().class_of(p).tolerates(one); });
        if (keeps_away) taints.emplace(texts[i]);
      }
    }
    taints_.assign(taints.begin(), taints.end());
    count_ = taints_.size();
  }
  void add_rows(const setting& to, change_set& delta) const override {
    delta.tables.push_back(pod_lists(of_, col::pod_tolerations, [&](const pod_class& ask) {
      std::string text = ask.ask.tolerations;
      for (const std::int64_t i : to) text.append(taints_[static_cast<std::size_t>(i)]).append(1, '\0');
      return text;
    }));
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    for (const std::int64_t i : of) {
      to.push_back({change_kind::toleration,
                    id_of_group(of_.c, of_.group),
                    no_row,
                    0,
                    0,
                    taints_[static_cast<std::size_t>(i)],
                    {}});
    }
  }

 private:
  const lever_subject& of_;
  std::vector<std::string> taints_;
};

/// Labels that the pods do without, and the terms of their node affinity, all of them together.
class selector_lever final : public choice_lever {
 public:
  explicit selector_lever(const lever_subject& of) : of_(of) {
    std::set<std::pair<std::string, std::string>> labels;
    for (const pod_row p : of.waiting) {
      const pod_class& ask = of.c.state().class_of(p);
      labels.insert(ask.node_selector.begin(), ask.node_selector.end());
      if (!ask.ask.node_affinity.empty()) affinity_ = affinity_text(ask);
    }
    labels_.assign(labels.begin(), labels.end());
    count_ = labels_.size() + (affinity_.empty() ? 0 : 1);
  }
  void add_rows(const setting& to, change_set& delta) const override {
    std::set<std::pair<std::string, std::string>> without;
    for (const std::int64_t i : to) {
      if (const auto at = static_cast<std::size_t>(i); at < labels_.size()) without.insert(labels_[at]);
    }
    if (!without.empty()) {
      delta.tables.push_back(pod_lists(of_, col::pod_node_selector, [&](const pod_class& ask) {
        std::string text;
        for (const auto& label : ask.node_selector) {
          if (!without.contains(label)) text.append(label.first).append(1, '\0').append(label.second).append(1, '\0');
        }
        return text;
      }));
    }
    if (without.size() < to.size())
      delta.tables.push_back(pod_lists(of_, col::pod_node_affinity, [](const pod_class&) { return std::string(); }));
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    for (const std::int64_t i : of) {
      const auto at = static_cast<std::size_t>(i);
      const bool label = at < labels_.size();
      to.push_back({label ? change_kind::node_selector : change_kind::node_affinity,
                    id_of_group(of_.c, of_.group),
                    no_row,
                    0,
                    0,
                    label ? labels_[at].first + "=" + labels_[at].second : affinity_,
                    {}});
    }
  }

 private:
  static std::string affinity_text(const pod_class& ask) {
    std::string text;
    for (const std::string_view term : split_list(ask.ask.node_affinity))
      text.append(text.empty() ? "" : " or ").append(term);
    return text;
  }
  const lever_subject& of_;
  std::vector<std::pair<std::string, std::string>> labels_;
  std::string affinity_;
};

// ---- of queues
// -------------------------------------------------------------------------------------------------------

/// More limit and quota for the queues on the path. A setting is a row of (queue, limit or quota, dimension, amount).
class queue_lever final : public lever {
 public:
  explicit queue_lever(const lever_subject& of) : of_(of) {}

  [[nodiscard]] setting most() const override {
    setting all;
    for (queue_row q = of_.c.state().groups[of_.group].queue; q != no_row; q = info(q).parent) {
      for (std::uint32_t d = 0; d < quota_dimensions; ++d) {
        if (info(q).limit[d] >= 0) all.insert(all.end(), {q, 0, d, unlimited});
        if (info(q).quota[d] >= 0) all.insert(all.end(), {q, 1, d, unlimited});
      }
    }
    return all;
  }
  void add_rows(const setting& to, change_set& delta) const override {
    std::map<queue_row, std::array<model::quota_vector, 2>> amounts;
    for (std::size_t i = 0; i < to.size(); i += 4) {
      const auto q = static_cast<queue_row>(to[i]);
      auto& both = amounts.try_emplace(q, std::array{info(q).limit, info(q).quota}).first->second;
      both[static_cast<std::size_t>(to[i + 1])][static_cast<std::size_t>(to[i + 2])] = to[i + 3];
    }
    table& t = delta.tables.emplace_back(table_kind::queue, table_op::change);
    table::column& name = t.add(col::queue_name, column_type::string);
    table::column& limit = t.add(col::queue_limit, column_type::i64, quota_dimensions);
    table::column& quota = t.add(col::queue_quota, column_type::i64, quota_dimensions);
    for (const auto& [q, both] : amounts) {
      name.push(std::string_view(info(q).name));
      for (const std::int64_t amount : both[0]) limit.push(amount);
      for (const std::int64_t amount : both[1]) quota.push(amount);
    }
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    for (std::size_t i = 0; i < of.size(); i += 4) {
      const auto q = static_cast<queue_row>(of[i]);
      const bool limits = of[i + 1] == 0;
      const auto d = static_cast<dimension>(of[i + 2]);
      to.push_back({limits ? change_kind::queue_limit : change_kind::queue_quota,
                    id_of_queue(of_.c, q),
                    d,
                    limits ? info(q).limit[d] : info(q).quota[d],
                    of[i + 3],
                    {},
                    {}});
    }
  }

  /// Each queue is raised by what it says is missing, one after the other.
  [[nodiscard]] result<std::vector<setting>> smallest(const try_setting& works) const override {
    const std::size_t most_rounds = most().size() / 4 + 1;
    setting raised;
    for (std::size_t round = 0; round < 2 * most_rounds; ++round) {
      const result<verdict> made = works(raised);
      if (!made) return made.failure();
      if (made->starts) return std::vector<setting>{raised};
      const auto why = std::find_if(made->reasons.begin(), made->reasons.end(), [](const reason& one) {
        return one.what == constraint::queue_limit || one.what == constraint::queue_quota;
      });
      if (why == made->reasons.end() || why->dim >= quota_dimensions || why->need <= why->have) break;
      raise(raised, why->subject.slot(), why->what == constraint::queue_quota, why->dim, why->need - why->have);
    }
    return std::vector<setting>{most()};
  }

 private:
  [[nodiscard]] const model::queue_info& info(queue_row q) const { return (*of_.c.state().queues)[q]; }
  void raise(setting& to, queue_row q, bool quota, dimension d, std::int64_t more) const {
    for (std::size_t i = 0; i < to.size(); i += 4) {
      if (to[i] != q || to[i + 1] != (quota ? 1 : 0) || to[i + 2] != d) continue;
      to[i + 3] += more;
      return;
    }
    to.insert(to.end(), {q, quota ? 1 : 0, d, (quota ? info(q).quota[d] : info(q).limit[d]) + more});
  }
  const lever_subject& of_;
};

// ---- of nodes
// --------------------------------------------------------------------------------------------------------

template <class Test>
bool for_some_class(const lever_subject& of, const node_info& node, Test test) {
  return std::any_of(of.classes.begin(), of.classes.end(), [&](class_row one) {
    return test(missing(*of.c.state().classes[one], node, of.c.state().dims()));
  });
}

/// Label keys that decide where the pods may be.
std::set<std::string> keys_that_matter(const lever_subject& of) {
  const model::cluster_state& s = of.c.state();
  std::set<std::string> keys;
  for (const pod_row p : of.waiting) {
    const pod_class& ask = s.class_of(p);
    for (const auto& [key, value] : ask.node_selector) keys.insert(key);
    for (const model::selector& term : ask.node_affinity) {
      for (const auto& requirement : term.requirements) keys.insert(requirement.key);
    }
    for (const auto* terms : {&ask.affinity, &ask.anti_affinity}) {
      for (const model::affinity_term& term : *terms) keys.insert(term.topology_key);
    }
  }
  const model::group_core& g = s.groups[of.group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    if (s.subs[sub].together == nullptr) continue;
    for (const model::topology_info& t : *s.topologies) {
      if (t.name == s.subs[sub].together->topology) keys.insert(t.levels.begin(), t.levels.end());
    }
  }
  return keys;
}

/// More nodes of a kind.
class new_nodes_lever final : public amount_lever {
 public:
  new_nodes_lever(const lever_subject& of, const node_info& like) : of_(of), like_(like) {
    const auto most = std::min<std::int64_t>(static_cast<std::int64_t>(of.waiting.size()), of.limits.new_nodes);
    for (std::int64_t count = 1; count <= most; ++count) amounts_.push_back(count);
  }
  void add_rows(const setting& to, change_set& delta) const override {
    std::vector<std::string> names;
    for (std::int64_t i = 1; i <= to.front(); ++i) names.push_back(like_.name + "+" + std::to_string(i));
    for (table& one : model::copies_of_node(of_.c.state(), like_, names)) delta.tables.push_back(std::move(one));
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    to.push_back({change_kind::new_nodes, id_of(of_, like_), no_row, 0, of.front()});
  }

 private:
  const lever_subject& of_;
  const node_info& like_;
};

/// Closed nodes that are open from now on.
class open_lever final : public choice_lever {
 public:
  explicit open_lever(const lever_subject& of) : of_(of) {
    for (const auto& node : *of.c.state().nodes) {
      const auto fits = [](const node_demand& has) { return has.amounts && has.labels && has.taints; };
      if (!node->open() && for_some_class(of, *node, fits)) closed_.push_back(node.get());
    }
    std::sort(closed_.begin(), closed_.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    count_ = closed_.size();
    tells_each_ = false;  // one node is as good as the next
  }
  void add_rows(const setting& to, change_set& delta) const override {
    table& t = delta.tables.emplace_back(table_kind::node, table_op::change);
    table::column& name = t.add(col::node_name, column_type::string);
    table::column& ready = t.add(col::node_ready, column_type::u8);
    table::column& cordoned = t.add(col::node_unschedulable, column_type::u8);
    for (const std::int64_t i : to) {
      name.push(std::string_view(closed_[static_cast<std::size_t>(i)]->name));
      ready.push(std::uint8_t{1});
      cordoned.push(std::uint8_t{0});
    }
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    for (const std::int64_t i : of)
      to.push_back({change_kind::open_node, id_of(of_, *closed_[static_cast<std::size_t>(i)]), no_row, 0, 1});
  }

 private:
  const lever_subject& of_;
  std::vector<const node_info*> closed_;
};

/// So many nodes of those that lack nothing but labels, or only repel by taints, get or lose these. Those come first
/// that have most GPUs free.
class node_lever : public amount_lever {
 public:
  explicit node_lever(const lever_subject& of) : of_(of) {}

 protected:
  template <class Test>
  void collect(Test test) {
    const model::cluster_state& s = of_.now;
    std::vector<std::pair<std::int64_t, node_row>> found;
    for (node_row row = 0; row < of_.c.state().node_count(); ++row) {
      const node_info& node = *(*of_.c.state().nodes)[row];
      if (!node.open() || !for_some_class(of_, node, test)) continue;
      found.emplace_back(-(*s.live.idle)[static_cast<std::size_t>(row) * s.dims() + dim_gpu], (*s.name_rank)[row]);
      by_rank_.emplace((*s.name_rank)[row], &node);
    }
    std::sort(found.begin(), found.end());
    for (const auto& [free, rank] : found) nodes_.push_back(by_rank_[rank]);
    const std::size_t most = std::min<std::size_t>(of_.waiting.size(), nodes_.size());
    for (std::size_t count = 1; count <= most; ++count) amounts_.push_back(static_cast<std::int64_t>(count));
  }
  [[nodiscard]] std::span<const node_info* const> nodes(const setting& of) const {
    return std::span(nodes_).first(static_cast<std::size_t>(of.front()));
  }
  const lever_subject& of_;

 private:
  std::map<std::uint32_t, const node_info*> by_rank_;
  std::vector<const node_info*> nodes_;
};

class label_lever final : public node_lever {
 public:
  explicit label_lever(const lever_subject& of) : node_lever(of) {
    for (const pod_row p : of.waiting) {
      const pod_class& ask = of.c.state().class_of(p);
      if (!ask.ask.node_affinity.empty()) return;  // labels that would satisfy an expression are for people to choose
      wanted_.insert(ask.node_selector.begin(), ask.node_selector.end());
    }
    if (!wanted_.empty()) collect([](const node_demand& has) { return has.amounts && !has.labels && has.taints; });
  }
  void add_rows(const setting& to, change_set& delta) const override {
    table& t = delta.tables.emplace_back(table_kind::node, table_op::change);
    table::column& name = t.add(col::node_name, column_type::string);
    table::column& labels = t.add(col::node_labels, column_type::string_list);
    for (const node_info* node : nodes(to)) {
      std::map<std::string, std::string> all(node->labels.begin(), node->labels.end());
      for (const auto& [key, value] : wanted_) all[key] = value;
      std::string text;
      for (const auto& [key, value] : all) text.append(key).append(1, '\0').append(value).append(1, '\0');
      name.push(std::string_view(node->name));
      labels.push_raw(text);
    }
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    for (const node_info* node : nodes(of)) {
      for (const auto& [key, value] : wanted_) {
        const std::string* has = model::find_label(node->labels, key);
        if (has != nullptr && *has == value) continue;
        to.push_back({change_kind::node_label, id_of(of_, *node), no_row, 0, 0,
                      has == nullptr ? std::string() : key + "=" + *has, key + "=" + value});
      }
    }
  }

 private:
  std::map<std::string, std::string> wanted_;
};

class taint_lever final : public node_lever {
 public:
  explicit taint_lever(const lever_subject& of) : node_lever(of) {
    collect([](const node_demand& has) { return has.amounts && has.labels && !has.taints; });
  }
  void add_rows(const setting& to, change_set& delta) const override {
    table& t = delta.tables.emplace_back(table_kind::node, table_op::change);
    table::column& name = t.add(col::node_name, column_type::string);
    table::column& taints = t.add(col::node_taints, column_type::string_list);
    for (const node_info* node : nodes(to)) {
      const auto [kept, lost] = divided(*node);
      name.push(std::string_view(node->name));
      taints.push_raw(join_list(std::span<const std::string>(kept)));
    }
  }
  void describe(const setting& of, std::vector<remedy_change>& to) const override {
    for (const node_info* node : nodes(of)) {
      for (const std::string& one : divided(*node).second)
        to.push_back({change_kind::node_taint, id_of(of_, *node), no_row, 0, 0, one});
    }
  }

 private:
  /// Taints that every pod tolerates, and those that keep some away.
  [[nodiscard]] std::pair<std::vector<std::string>, std::vector<std::string>> divided(const node_info& node) const {
    std::pair<std::vector<std::string>, std::vector<std::string>> both;
    const std::vector<std::string_view> texts = split_list(node.taints_text);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const std::vector<model::taint> one{node.taints[i]};
      const bool tolerated = std::all_of(of_.waiting.begin(), of_.waiting.end(),
                                         [&](pod_row p) { return of_.c.state().class_of(p).tolerates(one); });
      (tolerated ? both.first : both.second).emplace_back(texts[i]);
    }
    return both;
  }
};

// ---- all of them
// -----------------------------------------------------------------------------------------------------

using lever_list = std::vector<std::unique_ptr<lever>>;

void add(lever_list& to, std::unique_ptr<lever> one) {
  if (!one->most().empty()) to.push_back(std::move(one));
}

void add_group_levers(const lever_subject& of, lever_list& to) {
  const model::cluster_state& s = of.c.state();
  const model::group_core& g = s.groups[of.group];
  const bool has_tree = s.group_extras[of.group].has_sub_groups;
  if (!has_tree) {
    add(to, std::make_unique<size_lever>(of, change_kind::gang_size, "", s.subs[g.first_sub + 1].min));
  }
  const std::size_t most = to.size() + most_sub_group_levers;
  for (sub_group_row sub = g.first_sub; has_tree && sub < g.first_sub + g.sub_count && to.size() < most; ++sub) {
    const model::sub_info& info = s.subs[sub];
    const bool is_root = sub == g.first_sub;
    if (!info.is_set) {
      add(to, std::make_unique<size_lever>(of, change_kind::gang_size, info.name, info.min));
    } else {
      const std::int64_t before = info.min == unset ? info.members : info.min;
      add(to,
          std::make_unique<size_lever>(of, change_kind::sub_groups, is_root ? std::string_view{} : info.name, before));
    }
  }
}

void add_level_levers(const lever_subject& of, lever_list& to) {
  const model::cluster_state& s = of.c.state();
  const model::group_core& g = s.groups[of.group];
  const std::size_t most = to.size() + most_sub_group_levers;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count && to.size() < most; ++sub) {
    const auto& together = s.subs[sub].together;
    if (together == nullptr || together->required_level.empty()) continue;
    add(to, std::make_unique<level_lever>(of, sub == g.first_sub ? std::string_view{} : s.subs[sub].name, *together));
  }
}

void add_request_levers(const lever_subject& of, lever_list& to) {
  for (const class_row one : of.classes) {
    const pod_class& ask = *of.c.state().classes[one];
    if (!ask.ask.containers.empty() || ask.asks_vendors())
      continue;  // what each container asks for would have to follow
    for (std::uint32_t d = 0; d < of.c.state().dims(); ++d) {
      const bool in_devices = d != dim_gpu || ask.whole_devices + ask.shared_devices > 0;  // not by claims alone
      if (d != dim_pods && in_devices && ask.requests(d) > 0) add(to, std::make_unique<request_lever>(of, one, d));
    }
    if (ask.memory_devices > 0) add(to, std::make_unique<memory_lever>(of, one));
  }
}

void add_node_levers(const lever_subject& of, lever_list& to) {
  const model::cluster_state& s = of.c.state();
  using kind = std::tuple<std::vector<std::int64_t>, std::vector<std::string>, std::string, std::int64_t, std::string>;
  std::set<kind> kinds;
  const std::set<std::string> keys = keys_that_matter(of);
  std::vector<node_row> by_name(s.node_count());
  for (node_row row = 0; row < s.node_count(); ++row) by_name[(*s.name_rank)[row]] = row;
  for (const node_row row : by_name) {
    if (kinds.size() == of.limits.node_kinds) break;
    const node_info& node = *(*s.nodes)[row];
    const auto fits = [](const node_demand& has) { return has.amounts && has.labels && has.taints; };
    if (!node.open() || !for_some_class(of, node, fits)) continue;
    std::vector<std::string> labels;
    for (const std::string& key : keys) {
      const std::string* value = model::find_label(node.labels, key);
      labels.push_back(value == nullptr || *value == node.name ? std::string() : *value);
    }
    if (kinds.emplace(node.capacity, labels, node.taints_text, node.gpu_memory, node.vendor_devices_text).second)
      add(to, std::make_unique<new_nodes_lever>(of, node));
  }
  add(to, std::make_unique<open_lever>(of));
}

}  // namespace

node_demand missing(const model::pod_class& ask, const model::node_info& node, std::uint32_t dims) {
  node_demand found;
  for (std::uint32_t d = 0; d < dims && !ask.asks_vendors(); ++d) {
    const std::int64_t has = d < node.capacity.size() ? node.capacity[d] : 0;
    if (ask.requests(d) > has && d != dim_gpu) found.amounts = false;
    if (d == dim_gpu && ask.whole_devices * whole_device > has) found.amounts = false;
  }
  found.labels = ask.matches_labels(node.labels);
  found.taints = ask.tolerates(node.taints);
  return found;
}

std::vector<std::unique_ptr<lever>> levers_of(const lever_subject& of) {
  lever_list all;
  add_group_levers(of, all);
  add_request_levers(of, all);
  add_level_levers(of, all);
  add(all, std::make_unique<queue_lever>(of));
  add_node_levers(of, all);
  add(all, std::make_unique<toleration_lever>(of));
  add(all, std::make_unique<selector_lever>(of));
  add(all, std::make_unique<label_lever>(of));
  add(all, std::make_unique<taint_lever>(of));
  return all;
}

std::vector<table> tables_of(const lever_subject& of, change_set changes) {
  for (const auto& [which, request] : changes.requests) {
    std::vector<std::string_view> names;
    for (const pod_row p : of.waiting) {
      if (of.c.state().pods[p].pod_class == which) names.push_back(of.c.state().pod_names[p]);
    }
    changes.tables.push_back(changed(table_kind::pod, col::pod_name, names, col::pod_request, column_type::i64,
                                     of.c.state().dims(), [&](table::column& to, std::size_t) {
                                       for (const std::int64_t amount : request) to.push(amount);
                                     }));
  }
  return std::move(changes.tables);
}

}  // namespace kaisched::session_detail
