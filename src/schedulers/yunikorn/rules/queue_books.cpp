#include "schedulers/yunikorn/rules/queue_books.hpp"

#include <algorithm>

namespace kaisched::yunikorn {

namespace {

constexpr std::string_view everybody = "*";

/// A priority as those see it that are beside a queue.
std::int64_t outer_priority(const queue_rules& rules, std::int64_t priority) {
  constexpr std::int64_t least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rules.priority_fence) return rules.priority_offset;
  return std::clamp(std::clamp(priority, least, most) + rules.priority_offset, least, most);
}

}  // namespace

queue_books::queue_books(cluster_state& cluster)
    : cluster_(cluster), waiting_(cluster.queues.size()), app_waiting_(cluster.apps.size()) {
  const std::size_t dims = cluster.unit.size();
  for (queue_state& queue : cluster.queues) {
    queue.used.assign(dims, 0);
    queue.pending.assign(dims, 0);
    queue.apps_running = 0;
  }
  for (app_state& app : cluster.apps) app.used.assign(dims, 0);
  count_nodes();
  ranks_ = name_ranks(cluster.queues);
  for (row ask = 0; ask < cluster.asks.size(); ++ask) {
    if (cluster.apps[cluster.asks[ask].app].queue == no_row) continue;
    const ask_status status = cluster.asks[ask].status;
    if (status == ask_status::pending) wait(ask, 1);
    if (status == ask_status::running) charge(ask, 1);
  }
  for (row app = 0; app < cluster.apps.size(); ++app) {
    if (cluster.apps[app].runs && cluster.apps[app].queue != no_row) charge_app(app, 1);
  }
}

void queue_books::count_nodes() {
  amounts all(cluster_.unit.size(), 0);
  for (const node_state& node : cluster_.nodes) add(all, node.total);
  bounds top = all;
  for (std::int64_t& one : top) {
    if (one == 0) one = undefined;
  }
  for (const queue_state& queue : cluster_.queues) {
    bounds& most = fair_most_.emplace_back(queue.parent == no_row ? top : fair_most_[queue.parent]);
    if (says_nothing(most)) continue;
    for (std::size_t d = 0; d < most.size(); ++d) {
      if (queue.most[d] != undefined) most[d] = queue.most[d];
    }
  }
}

std::optional<std::int64_t> queue_books::priority(row queue) const {
  if (waiting_[queue].empty()) return std::nullopt;
  return outer_priority(cluster_.queues[queue].rules, waiting_[queue].rbegin()->first);
}

std::optional<std::int64_t> queue_books::app_priority(row app) const {
  if (app_waiting_[app].empty()) return std::nullopt;
  return app_waiting_[app].rbegin()->first;
}

std::array<const user_limit*, 2> queue_books::limits_of(row queue, const std::string& user) const {
  std::array<const user_limit*, 2> found{};
  if (user.empty()) return found;
  const std::vector<user_limit>& limits = cluster_.queues[queue].rules.limits;
  for (const user_limit& one : limits) {
    if (one.of_group || (one.user != user && one.user != everybody)) continue;
    if (found[0] == nullptr || one.user == user) found[0] = &one;
  }
  for (const user_group& group : cluster_.user_groups) {
    if (found[1] != nullptr || std::ranges::find(group.users, user) == group.users.end()) continue;
    const auto limit =
        std::ranges::find_if(limits, [&](const user_limit& one) { return one.of_group && one.user == group.name; });
    if (limit != limits.end()) found[1] = &*limit;
  }
  return found;
}

queue_books::holder queue_books::holder_of(row queue, const user_limit& limit, const std::string& user) {
  return {queue, limit.of_group, limit.of_group ? limit.user : user};
}

queue_books::user_book& queue_books::book_of(const holder& who) {
  user_book& book = users_[who];
  book.used.resize(cluster_.unit.size());
  return book;
}

std::optional<queue_refusal> queue_books::refusal(row ask) const {
  const app_state& app = cluster_.apps[cluster_.asks[ask].app];
  const amounts& request = cluster_.request(ask);
  for (row q = app.queue; q != no_row && !app.user.empty(); q = cluster_.queues[q].parent) {
    for (const user_limit* const limit : limits_of(q, app.user)) {
      if (limit == nullptr) continue;
      const auto book = users_.find(holder_of(q, *limit, app.user));
      for (std::size_t d = 0; d < request.size(); ++d) {
        const std::int64_t used = book == users_.end() ? 0 : book->second.used[d];
        if (limit->most[d] != undefined && request[d] > 0 && used + request[d] > limit->most[d])
          return queue_refusal{q, d, request[d], limit->most[d] - used, true};
      }
    }
  }
  for (row q = app.queue; q != no_row; q = cluster_.queues[q].parent) {
    const queue_state& queue = cluster_.queues[q];
    for (std::size_t d = 0; d < request.size(); ++d) {
      if (queue.most[d] != undefined && request[d] > 0 && queue.used[d] + request[d] > queue.most[d])
        return queue_refusal{q, d, request[d], queue.most[d] - queue.used[d], false};
    }
  }
  return std::nullopt;
}

bool queue_books::may_run(row app) const {
  const app_state& of = cluster_.apps[app];
  if (of.runs) return true;
  for (row q = of.queue; q != no_row; q = cluster_.queues[q].parent) {
    const queue_state& queue = cluster_.queues[q];
    if (queue.rules.most_apps != undefined && queue.apps_running >= queue.rules.most_apps) return false;
    for (const user_limit* const limit : limits_of(q, of.user)) {
      if (limit == nullptr || limit->apps == undefined) continue;
      const auto book = users_.find(holder_of(q, *limit, of.user));
      if ((book == users_.end() ? 0 : book->second.apps) >= limit->apps) return false;
    }
  }
  return true;
}

void queue_books::take(row ask) {
  wait(ask, -1);
  charge(ask, 1);
  app_state& app = cluster_.apps[cluster_.asks[ask].app];
  if (app.runs) return;
  app.runs = true;
  charge_app(cluster_.asks[ask].app, 1);
}

void queue_books::give_back(row ask) {
  charge(ask, -1);
  wait(ask, 1);
  app_state& app = cluster_.apps[cluster_.asks[ask].app];
  const bool runs =
      std::ranges::any_of(app.sets, [](const gang_set& set) { return set.active > 0; });  // those left behind
  if (runs) return;
  app.runs = false;
  charge_app(cluster_.asks[ask].app, -1);
}

void queue_books::leave(row ask) { charge(ask, -1); }
void queue_books::stay(row ask) { charge(ask, 1); }

void queue_books::charge(row ask, std::int64_t sign) {
  ask_state& one = cluster_.asks[ask];
  app_state& app = cluster_.apps[one.app];
  const amounts& request = cluster_.request(ask);
  const auto book = [&](amounts& to) { sign > 0 ? add(to, request) : subtract(to, request); };
  app.sets[one.set].active += sign;
  book(app.used);
  for (row q = app.queue; q != no_row; q = cluster_.queues[q].parent) {
    book(cluster_.queues[q].used);
    for (const user_limit* const limit : limits_of(q, app.user)) {
      if (limit != nullptr) book(book_of(holder_of(q, *limit, app.user)).used);
    }
  }
}

void queue_books::charge_app(row app, std::int64_t sign) {
  const app_state& of = cluster_.apps[app];
  for (row q = of.queue; q != no_row; q = cluster_.queues[q].parent) {
    cluster_.queues[q].apps_running += sign;
    for (const user_limit* const limit : limits_of(q, of.user)) {
      if (limit != nullptr) book_of(holder_of(q, *limit, of.user)).apps += sign;
    }
  }
}

void queue_books::wait(row ask, std::int64_t sign) {
  const ask_state& one = cluster_.asks[ask];
  const amounts& request = cluster_.request(ask);
  counts& of_app = app_waiting_[one.app];
  if ((of_app[one.priority] += sign) == 0) of_app.erase(one.priority);
  std::int64_t priority = one.priority;
  for (row q = cluster_.apps[one.app].queue; q != no_row; q = cluster_.queues[q].parent) {
    queue_state& queue = cluster_.queues[q];
    sign > 0 ? add(queue.pending, request) : subtract(queue.pending, request);
    count_priority(q, priority, sign);
    priority = outer_priority(queue.rules, priority);
  }
}

void queue_books::count_priority(row queue, std::int64_t priority, std::int64_t sign) {
  if ((waiting_[queue][priority] += sign) == 0) waiting_[queue].erase(priority);
}

}  // namespace kaisched::yunikorn
