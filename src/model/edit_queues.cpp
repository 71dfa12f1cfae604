// Deltas of queues. Parents may come after their children in a table, so a table is read as a whole before it changes
// anything.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

std::string queue_text(std::string_view name) { return "queue '" + base::shown(name) + "'"; }

/// "a -> b -> c -> a" from one member on, cut if it is long.
std::string cycle_text(const std::vector<queue_info>& all, const std::vector<queue_row>& cycle, std::size_t start) {
  constexpr std::size_t most = 4;
  const auto name = [&](std::size_t i) { return base::shown(all[cycle[(start + i) % cycle.size()]].name); };
  std::string text = "the parents form a cycle: ";
  for (std::size_t i = 0; i < std::min(most, cycle.size()); ++i) text += name(i) + " -> ";
  return text + (cycle.size() > most ? "... -> " : "") + name(0);
}

/// Devices with up to three decimals in milli-GPU, or -1.
std::int64_t parse_devices(std::string_view text) {
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, point));
  std::string_view decimals = text.substr(std::min(point + 1, text.size()));
  if (digits.empty() || decimals.size() > 3 || (point < text.size() && decimals.empty())) return -1;
  digits.append(decimals).append(3 - decimals.size(), '0');
  std::int64_t amount = -1;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), amount);
  const bool good = failure == std::errc{} && end == digits.data() + digits.size() && amount <= max_sum;
  return good && digits.front() != '-' ? amount : -1;
}

}  // namespace

result<void> edit::queues(const table_reader& t) {
  if (t.op() == table_op::remove) return each_row(t, [&](std::uint64_t row) { return remove_queue(t, row); });
  queue_plan plan;
  if (auto done = plan_queues(t, plan); !done) return done;
  if (auto done = plan_parents(t, plan); !done) return done;
  std::vector<queue_row> slots(t.rows(), no_row);
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    if (!plan.good[row]) continue;
    const std::string_view name = t.text(col::queue_name, row);
    slots[row] = t.op() == table_op::add ? new_queue(name) : names_.queues.find(name);
    if (auto done = read_queue(t, row, s_.queues.write()[slots[row]]); !done) return done;
  }
  if (!t.has(col::queue_parent)) return {};
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    if (!plan.good[row]) continue;
    link_queue(slots[row], plan.parent_row[row] == no_row ? plan.parent[row] : slots[plan.parent_row[row]]);
  }
  return check_queue_tree(t, slots);  // now: sums are kept along the path to the root
}

/// Everything but the parents.
result<void> edit::plan_queues(const table_reader& t, queue_plan& plan) {
  plan.good.assign(t.rows(), true);
  const auto one = [&](std::uint64_t row) -> result<void> {
    queue_info scratch;
    scratch.name = t.text(col::queue_name, row);
    if (t.op() == table_op::add) {
      if (auto good = check_new_name(t, row, col::queue_name, names_.queues); !good) return good;
      if (plan.fresh.find(t.text(col::queue_name, row)) != base::name_map::none) {
        return t.fail(status::duplicate, row, col::queue_name, "'" + base::shown(scratch.name) + "' exists already");
      }
    } else if (auto found = slot_of(t, row, col::queue_name, entity_kind::queue); !found) {
      return found.failure();
    }
    return read_queue(t, row, scratch);
  };
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    result<void> done = start_row(t, row);
    if (done) done = one(row);
    if (!done) {
      plan.good[row] = false;
      if (auto noted = refuse(t, row, done.take_failure()); !noted) return noted;
      continue;
    }
    if (t.op() == table_op::add) plan.fresh.insert(t.text(col::queue_name, row), static_cast<std::uint32_t>(row));
    if (!s_.quarantine->empty()) settle_entry(t, row);  // here: a later row of the same name may be bad
  }
  return {};
}

result<void> edit::plan_parents(const table_reader& t, queue_plan& plan) {
  plan.parent.assign(t.rows(), no_row);
  plan.parent_row.assign(t.rows(), no_row);
  if (!t.has(col::queue_parent)) return {};
  const auto one = [&](std::uint64_t row) -> result<void> {
    if (t.is_id(col::queue_parent) ? t.id(col::queue_parent, row) == 0 : t.text(col::queue_parent, row).empty()) {
      return {};
    }
    if (!t.is_id(col::queue_parent)) {
      plan.parent_row[row] = plan.fresh.find(t.text(col::queue_parent, row));
      if (plan.parent_row[row] != no_row) return {};
    }
    result<std::uint32_t> found = slot_of(t, row, col::queue_parent, entity_kind::queue);
    if (!found) return found.failure();
    plan.parent[row] = *found;
    return {};
  };
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    if (!plan.good[row]) continue;
    because_of_.clear();
    result<void> done = one(row);
    if (done) continue;
    plan.good[row] = false;
    if (auto noted = refuse(t, row, done.take_failure()); !noted) return noted;
  }
  return leave_children_out(t, plan);
}

/// Queues below a bad one of the same table.
result<void> edit::leave_children_out(const table_reader& t, queue_plan& plan) {
  if (std::find(plan.good.begin(), plan.good.end(), false) == plan.good.end()) return {};
  std::vector<std::pair<std::uint32_t, std::uint64_t>> children;  // row of the parent, row of the child
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    if (plan.good[row] && plan.parent_row[row] != no_row) children.emplace_back(plan.parent_row[row], row);
  }
  std::sort(children.begin(), children.end());
  std::vector<std::uint64_t> bad;
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    if (!plan.good[row]) bad.push_back(row);
  }
  for (std::size_t i = 0; i < bad.size(); ++i) {
    const auto first = std::lower_bound(children.begin(), children.end(),
                                        std::pair(static_cast<std::uint32_t>(bad[i]), std::uint64_t{0}));
    for (auto it = first; it != children.end() && it->first == bad[i]; ++it) {
      plan.good[it->second] = false;
      because_of_.clear();
      error why = missing(t, it->second, col::queue_parent, key_of(t, bad[i]));
      if (auto noted = refuse(t, it->second, std::move(why)); !noted) return noted;
      bad.push_back(it->second);
    }
  }
  return {};
}

queue_row edit::new_queue(std::string_view name) {
  std::vector<queue_info>& all = s_.queues.write();
  queue_row slot = no_row;
  if (w_.free_queues->empty()) {
    slot = static_cast<std::uint32_t>(all.size());
    all.emplace_back();
    for (auto* sums : {&s_.live.queue_allocated, &s_.live.queue_nonpreemptible, &s_.live.queue_request}) {
      sums->write().emplace_back();
    }
  } else {
    slot = w_.free_queues->back();
    w_.free_queues.write().pop_back();
    const std::uint32_t generation = all[slot].generation;
    all[slot] = {};
    all[slot].generation = generation + 1;
  }
  all[slot].live = true;
  all[slot].name = name;
  add_name(&name_maps::queues, s_.names->add(name), slot);
  return slot;
}

result<void> edit::read_queue(const table_reader& t, std::uint64_t row, queue_info& q) const {
  if (t.has(col::queue_priority)) {
    auto v = bounded(t, row, col::queue_priority, -max_amount, max_amount);
    if (!v) return v.failure();
    q.priority = *v;
  }
  if (t.has(col::queue_created)) q.created = t.i64(col::queue_created, row);
  for (const auto& [column, target] :
       {std::pair{std::uint32_t{col::queue_quota}, &q.quota}, std::pair{std::uint32_t{col::queue_limit}, &q.limit}}) {
    if (!t.has(column)) continue;
    const auto values = t.row_values<std::int64_t>(column, row);
    for (std::size_t r = 0; r < values.size(); ++r) {
      if (values[r] < unlimited || values[r] > max_sum) {
        return t.fail(
            status::argument, row, column,
            queue_text(q.name) + ": " + std::to_string(values[r]) + " is neither an amount nor -1 (unlimited)");
      }
      (*target)[r] = values[r];
    }
  }
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::queue_over_quota_weight}, &q.weight},
                                       std::pair{std::uint32_t{col::queue_usage}, &q.usage}}) {
    if (!t.has(column)) continue;
    const auto values = t.row_values<double>(column, row);
    for (std::size_t r = 0; r < values.size(); ++r) {
      // -1 is the weight of KAI's departments without one.
      const bool good = std::isfinite(values[r]) && values[r] <= 1e12 &&
                        (values[r] >= 0 || (values[r] == -1 && column == col::queue_over_quota_weight));
      if (!good)
        return t.fail(status::argument, row, column,
                      queue_text(q.name) + ": must be finite, not negative" +
                          (column == col::queue_usage ? " and" : " (or -1) and") + " at most 1e12");
      (*target)[r] = values[r] == 0 ? 0 : values[r];  // no -0: what is equal has equal digests
    }
  }
  if (t.has(col::queue_reclaim_min_runtime)) q.reclaim_min_runtime = t.i64(col::queue_reclaim_min_runtime, row);
  if (t.has(col::queue_preempt_min_runtime)) q.preempt_min_runtime = t.i64(col::queue_preempt_min_runtime, row);
  if (t.has(col::queue_max_runtime)) {
    if (auto done = duration(t, row, col::queue_max_runtime, q.max_runtime); !done) return done;
  }
  if (auto done = read_tier_columns(t, row, q); !done) return done;
  return t.has(col::queue_gpu_limits) ? read_gpu_limits(t, row, q) : result<void>();
}

/// What only the action volcano looks at.
result<void> edit::read_tier_columns(const table_reader& t, std::uint64_t row, queue_info& q) const {
  const auto refuse = [&](std::uint32_t column, const std::string& what) {
    return t.fail(status::argument, row, column, queue_text(q.name) + ": " + what);
  };
  if (t.has(col::queue_guarantee)) {
    const auto values = t.row_values<std::int64_t>(col::queue_guarantee, row);
    for (std::size_t r = 0; r < values.size(); ++r) {
      if (values[r] < 0 || values[r] > max_sum)
        return refuse(col::queue_guarantee, std::to_string(values[r]) + " is no amount");
      q.guarantee[r] = values[r];
    }
  }
  if (t.has(col::queue_reclaimable)) {
    auto v = flag(t, row, col::queue_reclaimable);
    if (!v) return v.failure();
    q.reclaimable = *v;
  }
  if (t.has(col::queue_hierarchy)) {
    const std::string_view list = t.text(col::queue_hierarchy, row);
    result<std::vector<weighted_step>> read = parse_path(list);
    if (!read) return refuse(col::queue_hierarchy, read.failure().message);
    q.hierarchy = std::move(*read);
    q.hierarchy_text = list;
  }
  if (t.has(col::queue_node_groups)) {
    result<std::vector<node_group_wish>> read = parse_node_groups(t.text(col::queue_node_groups, row));
    if (!read) return refuse(col::queue_node_groups, read.failure().message);
    q.node_groups = std::move(*read);
  }
  return {};
}

result<void> edit::read_gpu_limits(const table_reader& t, std::uint64_t row, queue_info& q) const {
  const auto refuse = [&](const std::string& what) {
    return t.fail(status::argument, row, col::queue_gpu_limits, queue_text(q.name) + ": " + what);
  };
  const result<label_list> limits = parse_labels(t.text(col::queue_gpu_limits, row));
  if (!limits) return refuse(limits.failure().message);
  q.gpu_limits.clear();
  for (const auto& [product, text] : *limits) {
    const std::int64_t most = parse_devices(text);
    if (most < 0) return refuse("'" + base::shown(text) + "' is not a number of GPUs such as 8 or 0.5");
    q.gpu_limits.emplace_back(product, most);
  }
  return {};
}

void edit::link_queue(queue_row q, queue_row parent) {
  std::vector<queue_info>& all = s_.queues.write();
  if (all[q].parent == parent) return;
  if (all[q].parent != no_row) --all[all[q].parent].children;
  all[q].parent = parent;
  if (parent != no_row) ++all[parent].children;
  recount_ = recount_ || all[q].groups > 0 || all[q].children > 0;
}

result<void> edit::remove_queue(const table_reader& t, std::uint64_t row) {
  result<std::uint32_t> found = slot_of(t, row, col::queue_name, entity_kind::queue);
  if (!found) return found.failure();
  const queue_row q = *found;
  std::vector<queue_info>& all = s_.queues.write();
  all[q].live = false;
  recount_ = recount_ || all[q].groups > 0 || all[q].children > 0;  // what moves away later has lost its path
  removed_queues_.push_back({q, all[q].parent, {t.number(), row}});
  if (all[q].parent != no_row) --all[all[q].parent].children;
  all[q].parent = no_row;
  discard(all[q].name);  // as it came; the copy is for going back
  drop_name(&name_maps::queues, s_.names->add(all[q].name), q);
  return {};
}

result<void> edit::check_removed_queues() {
  if (removed_queues_.empty()) return {};
  const std::vector<queue_info>& all = *s_.queues;
  std::vector<std::uint32_t> kept_children(all.size(), 0);  // removed queues that must stay, by parent
  std::vector<queue_row> parent_of(all.size(), no_row);
  for (const removed_queue& gone : removed_queues_) parent_of[gone.row] = gone.parent;
  for (const removed_queue& gone : removed_queues_) {
    if (all[gone.row].children == 0 && all[gone.row].groups == 0) continue;
    // Whatever is above a queue that stays has to stay as well.
    for (queue_row up = parent_of[gone.row]; up != no_row && !all[up].live; up = parent_of[up]) {
      if (++kept_children[up] > 1) break;
      if (all[up].children > 0 || all[up].groups > 0) break;
    }
  }
  for (const removed_queue& gone : removed_queues_) {
    const queue_info& q = all[gone.row];
    const std::uint32_t children = q.children + kept_children[gone.row];
    if (children == 0 && q.groups == 0) {
      w_.free_queues.write().push_back(gone.row);
      continue;
    }
    const std::string what = queue_text(q.name) + " cannot be removed: it has " + std::to_string(children) +
                             " child queues and " + std::to_string(q.groups) + " pod groups";
    const entity_id id(entity_kind::queue, q.generation, gone.row);
    error why = fail_at(gone.place, status::state, table_kind::queue, no_row, what, id);
    if (auto done = blame(gone.place, std::move(why)); !done) return done;
  }
  return {};
}

/// No cycles, and not too deep. Only rows of this table can have made either.
result<void> edit::check_queue_tree(const table_reader& t, const std::vector<queue_row>& slots) {
  const std::vector<queue_info>& all = *s_.queues;
  constexpr std::uint64_t none = ~std::uint64_t{0};
  std::vector<std::uint64_t> row_of(all.size(), none);
  for (std::uint64_t row = 0; row < slots.size(); ++row) {
    if (slots[row] != no_row) row_of[slots[row]] = row;
  }
  const auto blame_queue = [&](queue_row q, status code, const std::string& what) -> result<void> {
    if (row_of[q] == none) return {};
    const entity_id id(entity_kind::queue, all[q].generation, q);
    return blame({t.number(), row_of[q]}, t.fail(code, row_of[q], col::queue_parent, what, id));
  };
  constexpr std::uint32_t unknown = 0;
  constexpr std::uint32_t on_path = no_row;
  std::vector<std::uint32_t> depth(all.size(), unknown);  // from 1 at the top
  std::vector<queue_row> path;
  for (queue_row q = 0; q < all.size(); ++q) {
    path.clear();
    queue_row up = q;
    for (; up != no_row && depth[up] == unknown; up = all[up].parent) {
      depth[up] = on_path;
      path.push_back(up);
    }
    if (up != no_row && depth[up] == on_path) {
      const auto first = std::find(path.begin(), path.end(), up);
      const std::vector<queue_row> cycle(first, path.end());
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        if (auto done = blame_queue(cycle[i], status::argument, cycle_text(all, cycle, i)); !done) return done;
        depth[cycle[i]] = 1;
      }
      path.erase(first, path.end());
    }
    std::uint32_t level = path.empty() || all[path.back()].parent == no_row ? 0 : depth[all[path.back()].parent];
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      depth[*it] = ++level;
      if (level != max_tree_depth + 1) continue;
      queue_row named = *it;  // or what it hangs on, if that has moved
      while (row_of[named] == none) named = all[named].parent;
      const std::string what = "the parents form more than " + std::to_string(max_tree_depth) + " levels";
      if (auto done = blame_queue(named, status::limit, what); !done) return done;
    }
  }
  return stop_if_blamed();
}

}  // namespace kaisched::model
