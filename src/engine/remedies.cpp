// The smallest changes that let a group start. Everything is tried on a cluster that goes on from the session's
// snapshot with its decisions taken in: a change is a delta, a trial the session that would open then.
#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>

#include <kaisched/cluster.hpp>
#include <kaisched/remedies.hpp>

#include "engine/session_impl.hpp"

namespace kaisched {

namespace {

using work::core;

/// A change of one column of rows that have names.
template <class Put>
table changed(table_kind kind, std::uint32_t name_column, std::span<const std::string_view> names, std::uint32_t column,
              column_type type, std::uint32_t width, Put put) {
  table t(kind, table_op::change);
  table::column& name = t.add(name_column, column_type::string);
  table::column& value = t.add(column, type, width);
  for (const std::string_view one : names) {
    name.push(one);
    put(value);
  }
  return t;
}

std::vector<table> only(table one) {
  std::vector<table> all;
  all.push_back(std::move(one));
  return all;
}

/// What would happen to the group over a cluster.
struct trial {
  std::uint32_t starts = 0;  ///< pods of the group
  std::vector<reason> reasons;
};
using trial_of = std::function<result<trial>(const snapshot& over)>;

class finder {
 public:
  finder(const session& decided, const core& c, cluster& world, trial_of try_on, group_row group,
         const remedy_limits& limits)
      : decided_(decided),

        s_(c.state()),
        world_(world),
        try_on_(std::move(try_on)),
        group_(group),
        limits_(limits) {
    const model::group_core& g = s_.groups[group];
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      for (pod_row p = s_.subs[sub].first_pod; p != no_row; p = s_.pods[p].next) {
        if (static_cast<pod_status>(c.live.pod_state[p]) == pod_status::pending) waiting_.push_back(p);
      }
    }
    for (const pod_row p : waiting_) waiting_names_.push_back(s_.pod_names[p]);
  }

  result<remedy_report> run() {
    using step = result<void> (finder::*)();
    constexpr std::array<step, 8> steps{&finder::gang_size,     &finder::pod_request,  &finder::required_level,
                                        &finder::queue_amounts, &finder::new_nodes,    &finder::open_nodes,
                                        &finder::tolerations,   &finder::node_selector};
    if (waiting_.empty()) return std::move(report_);
    result<trial> now = attempt({});
    if (!now) return now.failure();
    if (now->starts > 0) {
      report_.remedies.push_back({{}, now->starts, action_kind::allocate});
      return std::move(report_);
    }
    for (const step one : steps) {
      if (auto done = (this->*one)(); !done) return done.failure();
    }
    if (!limits_.evictions) return std::move(report_);
    if (auto done = evictions(); !done) return done.failure();
    return std::move(report_);
  }

 private:
  /// Beyond the limit nothing starts, and the report says so.
  result<trial> attempt(const std::vector<table>& delta) {
    if (report_.trials == limits_.trials) {
      report_.complete = false;
      return trial{};
    }
    ++report_.trials;
    const result<snapshot> over = world_.preview(delta);
    return over ? try_on_(*over) : trial{};  // a change that the cluster refuses is no remedy
  }

  void tell(std::vector<remedy_change> changes, std::uint32_t starts) {
    report_.remedies.push_back({std::move(changes), starts, action_kind::none});
  }
  [[nodiscard]] entity_id group_id() const { return {entity_kind::pod_group, s_.groups[group_].generation, group_}; }
  [[nodiscard]] std::span<const std::string_view> group_name() const { return {&s_.group_names[group_], 1}; }
  [[nodiscard]] const model::pod_class& ask() const { return s_.class_of(waiting_.front()); }
  [[nodiscard]] bool is_uniform() const {
    return std::all_of(waiting_.begin(), waiting_.end(),
                       [&](pod_row p) { return s_.pods[p].pod_class == s_.pods[waiting_.front()].pod_class; });
  }

  /// The largest number from `least` to `most` with which the group starts, 0 if there is none; `starts` receives what
  /// starts then. Less never makes it worse: what is found starts, and one more does not.
  result<std::int64_t> largest(std::int64_t least, std::int64_t most, std::uint32_t& starts,
                               const std::function<std::vector<table>(std::int64_t)>& delta) {
    std::int64_t found = 0;
    while (least <= most) {
      const std::int64_t middle = least + (most - least + 1) / 2;
      result<trial> made = attempt(delta(middle));
      if (!made) return made.failure();
      if (!report_.complete) return 0;
      if (made->starts > 0) {
        found = middle;
        starts = made->starts;
        least = middle + 1;
      } else {
        most = middle - 1;
      }
    }
    return found;
  }

  /// The largest smaller gang that starts.
  result<void> gang_size() {
    if (s_.group_extras[group_].has_sub_groups) return {};
    const std::int64_t size = s_.subs[s_.groups[group_].first_sub + 1].min;
    std::uint32_t starts = 0;
    const result<std::int64_t> less = largest(1, size - 1, starts, [&](std::int64_t count) {
      return only(changed(table_kind::pod_group, col::pod_group_name, group_name(), col::pod_group_min_member,
                          column_type::i64, 1, [&](table::column& to) { to.push(count); }));
    });
    if (!less) return less.failure();
    if (*less > 0) tell({{change_kind::gang_size, group_id(), no_row, size, *less, {}, {}}}, starts);
    return {};
  }

  /// The largest number of whole GPUs below the one that is asked for.
  result<void> pod_request() {
    const std::int64_t gpus = ask().requests(dim_gpu);
    if (!is_uniform() || gpus < 2 * whole_device || gpus % whole_device != 0) return {};
    std::uint32_t starts = 0;
    const result<std::int64_t> less = largest(1, gpus / whole_device - 1, starts, [&](std::int64_t count) {
      const auto put = [&](table::column& to) {
        for (std::uint32_t d = 0; d < s_.dims(); ++d) to.push(d == dim_gpu ? count * whole_device : ask().requests(d));
      };
      return only(
          changed(table_kind::pod, col::pod_name, waiting_names_, col::pod_request, column_type::i64, s_.dims(), put));
    });
    if (!less) return less.failure();
    if (*less > 0) tell({{change_kind::pod_request, group_id(), dim_gpu, gpus, *less * whole_device, {}, {}}}, starts);
    return {};
  }

  /// The narrowest wider level, or none at all.
  result<void> required_level() {
    const auto& together = s_.subs[s_.groups[group_].first_sub].together;
    if (together == nullptr || together->required_level.empty()) return {};
    std::vector<std::string> wider{""};
    for (const model::topology_info& t : *s_.topologies) {
      if (t.name != together->topology) continue;
      for (const std::string& level : t.levels) {
        if (level == together->required_level) break;
        wider.push_back(level);
      }
    }
    for (auto level = wider.rbegin(); level != wider.rend(); ++level) {
      result<trial> made =
          attempt(only(changed(table_kind::pod_group, col::pod_group_name, group_name(), col::pod_group_required_level,
                               column_type::string, 1, [&](table::column& to) { to.push(std::string_view(*level)); })));
      if (!made) return made.failure();
      if (made->starts == 0) continue;
      tell({{change_kind::required_level, group_id(), no_row, 0, 0, together->required_level, *level}}, made->starts);
      return {};
    }
    return {};
  }

  /// What the queues on the path lack, one after the other: each is raised by what it says is missing.
  result<void> queue_amounts() {
    struct raised {
      model::quota_vector limit, quota;
    };
    std::map<queue_row, raised> all;
    std::vector<remedy_change> changes;
    const auto delta = [&] {
      std::vector<table> made;
      if (all.empty()) return made;
      table& t = made.emplace_back(table_kind::queue, table_op::change);
      table::column& name = t.add(col::queue_name, column_type::string);
      table::column& limit = t.add(col::queue_limit, column_type::i64, quota_dimensions);
      table::column& quota = t.add(col::queue_quota, column_type::i64, quota_dimensions);
      for (const auto& [q, amounts] : all) {
        name.push(std::string_view((*s_.queues)[q].name));
        for (const std::int64_t amount : amounts.limit) limit.push(amount);
        for (const std::int64_t amount : amounts.quota) quota.push(amount);
      }
      return made;
    };
    constexpr int most = 3 * 32;  // dimensions of queues on a path
    for (int round = 0; round < most; ++round) {
      result<trial> made = attempt(delta());
      if (!made) return made.failure();
      if (made->starts > 0) {
        if (!changes.empty()) tell(std::move(changes), made->starts);
        return {};
      }
      const auto why = std::find_if(made->reasons.begin(), made->reasons.end(), [](const reason& one) {
        return one.what == constraint::queue_limit || one.what == constraint::queue_quota;
      });
      if (why == made->reasons.end() || why->dim >= quota_dimensions || why->need <= why->have) return {};
      const queue_row q = why->subject.slot();
      const model::queue_info& info = (*s_.queues)[q];
      raised& of = all.try_emplace(q, raised{info.limit, info.quota}).first->second;
      const bool limits = why->what == constraint::queue_limit;
      std::int64_t& amount = limits ? of.limit[why->dim] : of.quota[why->dim];
      const change_kind what = limits ? change_kind::queue_limit : change_kind::queue_quota;
      if (amount < 0) return {};
      auto change = std::find_if(changes.begin(), changes.end(), [&](const remedy_change& one) {
        return one.what == what && one.subject == why->subject && one.dim == why->dim;
      });
      if (change == changes.end()) {
        changes.push_back({what, why->subject, why->dim, amount, amount, {}, {}});
        change = std::prev(changes.end());
      }
      amount += why->need - why->have;
      change->after = amount;
    }
    return {};
  }

  /// The fewest nodes of each kind that there is.
  result<void> new_nodes() {
    std::set<std::tuple<std::vector<std::int64_t>, std::string, std::string, std::int64_t>> kinds;
    for (node_row rank = 0; rank < s_.node_count() && kinds.size() < limits_.node_kinds; ++rank) {
      const model::node_info& node = *(*s_.nodes)[rank];
      if (!node.ready || node.unschedulable || !node.devices.empty() || node.is_shared_by_vendors()) continue;
      if (!kinds.emplace(node.capacity, node.labels_text, node.taints_text, node.gpu_memory).second) continue;
      if (auto done = new_nodes_like(node); !done) return done;
    }
    return {};
  }

  result<void> new_nodes_like(const model::node_info& like) {
    const auto most = std::min<std::int64_t>(static_cast<std::int64_t>(waiting_.size()), limits_.new_nodes);
    std::uint32_t starts = 0;
    const auto enough = [&](std::int64_t count) -> result<bool> {
      result<trial> made = attempt(only(nodes_like(like, count)));
      if (!made) return made.failure();
      if (made->starts > 0) starts = made->starts;
      return made->starts > 0;
    };
    result<bool> at_all = enough(most);
    if (!at_all) return at_all.failure();
    if (!*at_all) return {};
    std::int64_t least = 1;
    std::int64_t upper = most;
    while (least < upper) {  // one more node never makes it worse
      const std::int64_t middle = least + (upper - least) / 2;
      result<bool> done = enough(middle);
      if (!done) return done.failure();
      if (!report_.complete) return {};
      (*done ? upper : least) = *done ? middle : middle + 1;
    }
    const entity_id id(entity_kind::node, (*s_.node_generation)[like.slot], like.slot);
    tell({{change_kind::new_nodes, id, no_row, 0, upper, {}, {}}}, starts);
    return {};
  }

  [[nodiscard]] table nodes_like(const model::node_info& like, std::int64_t count) const {
    table t(table_kind::node, table_op::add);
    table::column& name = t.add(col::node_name, column_type::string);
    table::column& capacity = t.add(col::node_capacity, column_type::i64, s_.dims());
    table::column& labels = t.add(col::node_labels, column_type::string_list);
    table::column& taints = t.add(col::node_taints, column_type::string_list);
    table::column& memory = t.add(col::node_gpu_memory, column_type::i64);
    for (std::int64_t i = 1; i <= count; ++i) {
      name.push(std::string_view(like.name + "+" + std::to_string(i)));
      for (std::uint32_t d = 0; d < s_.dims(); ++d) capacity.push(d < like.capacity.size() ? like.capacity[d] : 0);
      labels.push_raw(like.labels_text);
      taints.push_raw(like.taints_text);
      memory.push(like.gpu_memory);
    }
    return t;
  }

  /// Closed nodes none of which can be left out.
  result<void> open_nodes() {
    std::vector<const model::node_info*> closed;
    for (const auto& node : *s_.nodes) {
      if (!node->ready || node->unschedulable) closed.push_back(node.get());
    }
    if (closed.empty()) return {};
    std::sort(closed.begin(), closed.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    const auto opened = [&](std::span<const model::node_info* const> nodes) {
      table t(table_kind::node, table_op::change);
      table::column& name = t.add(col::node_name, column_type::string);
      table::column& ready = t.add(col::node_ready, column_type::u8);
      table::column& cordoned = t.add(col::node_unschedulable, column_type::u8);
      for (const model::node_info* node : nodes) {
        name.push(std::string_view(node->name));
        ready.push(std::uint8_t{1});
        cordoned.push(std::uint8_t{0});
      }
      return only(std::move(t));
    };
    result<trial> made = attempt(opened(closed));
    if (!made) return made.failure();
    if (made->starts == 0) return {};
    // Pieces are left out as long as the rest is enough, large ones first, until no single node can be.
    std::vector<const model::node_info*> needed = closed;
    std::uint32_t starts = made->starts;
    for (std::size_t piece = (needed.size() + 1) / 2; needed.size() > 1 && report_.complete;) {
      bool left_out = false;
      for (std::size_t end = needed.size(); end > 0 && needed.size() > 1 && report_.complete;) {
        const std::size_t first = end - std::min(piece, end);
        std::vector<const model::node_info*> fewer = needed;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(first),
                    fewer.begin() + static_cast<std::ptrdiff_t>(end));
        end = first;
        if (fewer.empty()) continue;
        made = attempt(opened(fewer));
        if (!made) return made.failure();
        if (made->starts == 0) continue;
        needed = std::move(fewer);
        starts = made->starts;
        left_out = true;
      }
      if (piece == 1 && !left_out) break;
      piece = std::max<std::size_t>(1, std::min(piece / 2, (needed.size() + 1) / 2));
    }
    if (!report_.complete) return {};
    std::vector<remedy_change> changes;
    for (const model::node_info* node : needed) {
      const entity_id id(entity_kind::node, (*s_.node_generation)[node->slot], node->slot);
      changes.push_back({change_kind::open_node, id, no_row, 0, 1, {}, {}});
    }
    tell(std::move(changes), starts);
    return {};
  }

  /// Each taint of a node, alone.
  result<void> tolerations() {
    if (!is_uniform()) return {};
    std::set<std::string> taints;
    for (const auto& node : *s_.nodes) {
      for (const std::string_view text : split_list(node->taints_text)) taints.emplace(text);
    }
    for (const std::string& taint : taints) {
      const std::string wanted = ask().ask.tolerations + taint + std::string(1, '\0');
      if (auto done =
              for_waiting(col::pod_tolerations, wanted, {change_kind::toleration, group_id(), no_row, 0, 0, taint, {}});
          !done)
        return done;
    }
    return {};
  }

  /// Each label that is asked for, alone.
  result<void> node_selector() {
    if (!is_uniform()) return {};
    const std::vector<std::string_view> pairs = split_list(ask().ask.node_selector);
    for (std::size_t without = 0; without + 1 < pairs.size(); without += 2) {
      std::vector<std::string_view> rest(pairs);
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(without),
                 rest.begin() + static_cast<std::ptrdiff_t>(without) + 2);
      const std::string label = std::string(pairs[without]) + "=" + std::string(pairs[without + 1]);
      if (auto done = for_waiting(col::pod_node_selector, join_list(rest),
                                  {change_kind::node_selector, group_id(), no_row, 0, 0, label, {}});
          !done)
        return done;
    }
    return {};
  }

  /// A list of texts for all pods that wait.
  result<void> for_waiting(std::uint32_t column, const std::string& list, remedy_change change) {
    result<trial> made =
        attempt(only(changed(table_kind::pod, col::pod_name, waiting_names_, column, column_type::string_list, 1,
                             [&](table::column& to) { to.push_raw(list); })));
    if (!made) return made.failure();
    if (made->starts > 0) tell({std::move(change)}, made->starts);
    return {};
  }

  /// What the actions that make room would do, on a fork of the session itself.
  result<void> evictions() {
    for (const std::string_view action : {"consolidation", "reclaim", "preempt"}) {
      if (report_.trials == limits_.trials) {
        report_.complete = false;
        return {};
      }
      ++report_.trials;
      session fork = decided_.fork();
      const std::size_t before = fork.decisions().size();
      if (auto done = fork.run(action, group_); !done) return done.failure();
      std::vector<remedy_change> changes;
      std::uint32_t starts = 0;
      action_kind by = action_kind::none;
      for (const decision& d : fork.decisions().subspan(before)) {
        by = d.action;
        if (d.group == group_) {
          starts += d.kind == decision_kind::pipeline || d.kind == decision_kind::bind ? 1U : 0U;
        } else if (d.kind == decision_kind::evict || d.kind == decision_kind::move) {
          changes.push_back(
              {change_kind::eviction, {entity_kind::pod, s_.pods[d.pod].generation, d.pod}, no_row, 0, 0, {}, {}});
        }
      }
      if (starts > 0) report_.remedies.push_back({std::move(changes), starts, by});
    }
    return {};
  }

  const session& decided_;
  const model::cluster_state& s_;
  cluster& world_;
  const trial_of try_on_;
  const group_row group_;
  const remedy_limits& limits_;
  std::vector<pod_row> waiting_;
  std::vector<std::string_view> waiting_names_;
  remedy_report report_;
};

}  // namespace

result<remedy_report> session::remedies(group_row group, const remedy_limits& limits) const {
  const core& c = impl_->core;
  if (group >= c.state().group_slots || !c.state().groups[group].live)
    return error{status::argument, "there is no pod group in this row", {}};
  if (!c.log.empty()) return error{status::state, "the statement is open: commit it or roll it back", {}};
  cluster world(base());
  if (auto done = world.assume(*this); !done) return done.failure();
  const trial_of try_on = [&](const snapshot& over) -> result<trial> {
    auto body = std::make_unique<impl>(over, c.options, c.now, c.factories, c.catalog);
    if (auto done = body->core.open(); !done) return done.failure();
    session then(std::move(body));
    if (auto done = then.run("allocate", group); !done) return done.failure();
    trial made;
    for (const decision& d : then.decisions()) {
      made.starts += d.kind == decision_kind::bind && d.group == group ? 1U : 0U;
    }
    decision waits;
    waits.kind = decision_kind::unschedulable;
    waits.group = group;
    if (made.starts == 0) made.reasons = engine_detail::reasons_of(then.impl_->core, std::span(&waits, 1));
    return made;
  };
  return finder(*this, c, world, try_on, group, limits).run();
}

}  // namespace kaisched
