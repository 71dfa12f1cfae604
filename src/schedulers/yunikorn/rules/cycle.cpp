#include "schedulers/yunikorn/rules/cycle.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "schedulers/yunikorn/rules/node_index.hpp"
#include "schedulers/yunikorn/rules/preemption.hpp"
#include "schedulers/yunikorn/rules/shares.hpp"

namespace kaisched::yunikorn {

namespace {

/// All of one session, which has to outlive it.
class scheduling_cycle {
 public:
  scheduling_cycle(cluster_state& cluster, host& by)
      : cluster_(cluster),
        host_(by),
        books_(cluster),
        nodes_(cluster),
        queue_keys_(cluster.queues.size()),
        queue_in_order_(cluster.queues.size()),
        apps_(cluster.apps.size()),
        reserved_(cluster.asks.size(), no_row),
        has_preempted_(cluster.asks.size()),
        nothing_to_keep_(cluster.kinds.size()) {
    for (row queue = 0; queue < cluster.queues.size(); ++queue) order_.emplace_back(child_before{this, queue});
  }

  /// Until nothing gets anything any more.
  [[nodiscard]] result<void> run() {
    if (cluster_.queues.empty()) return {};
    open();
    for (;;) {
      if (auto on = host_.go_on(); !on) return on;
      ++turn_;
      if (take_turn(0)) continue;
      if (fault_) return *fault_;
      if (!give_way()) return {};
    }
  }

  [[nodiscard]] std::vector<ask_refusal> refusals() const {
    std::vector<ask_refusal> all;
    for (row app = 0; app < apps_.size(); ++app) {
      const auto& asks = cluster_.apps[app].asks;
      const bool waits =
          std::ranges::any_of(asks, [&](row ask) { return cluster_.asks[ask].status == ask_status::pending; });
      if (waits && apps_[app].why) all.push_back(*apps_[app].why);
    }
    return all;
  }

 private:
  /// By what applications and queues stand in their parent.
  struct place_key {
    std::int64_t priority = 0;
    std::int64_t created = 0;
    double share = 0;
    std::vector<double> shares;
    amounts pending;
    std::int64_t rank = 0;
  };
  struct child_before {
    const scheduling_cycle* of;
    row queue;
    bool operator()(row left, row right) const { return of->comes_before(queue, left, right); }
  };
  struct app_book {
    std::vector<row> open;  ///< asks that are still to be tried
    std::size_t at = 0;
    std::uint64_t begun = 0;  ///< turn of the first that is held; 0: none
    std::vector<row> held;
    std::vector<row> victims;
    std::vector<bool> made_room;  ///< by victim: it leaves the node that was got for it
    bool in_order = false;        ///< stands in its queue
    bool waits = false;           ///< gave way and waits for others to get on
    bool is_out = false;
    place_key key;
    std::optional<ask_refusal> why;
  };

  [[nodiscard]] bool is_leaf(row queue) const { return cluster_.queues[queue].children.empty(); }

  void open() {
    app_ranks_ = name_ranks(cluster_.apps);
    any_coming_ = std::ranges::any_of(cluster_.nodes, [](const node_state& node) { return !node.coming.empty(); });
    for (row app = 0; app < cluster_.apps.size(); ++app) activate(app);
  }

  [[nodiscard]] bool is_complete(row app) const {
    return std::ranges::all_of(cluster_.apps[app].sets, [](const gang_set& set) { return set.active >= set.min; });
  }

  /// Of a gang that is not complete as many of each set as it lacks.
  void list_open(row app) {
    app_book& book = apps_[app];
    book.open.clear();
    book.at = 0;
    if (book.is_out) return;
    const bool complete = is_complete(app);
    std::vector<std::int64_t> lacking;
    for (const gang_set& set : cluster_.apps[app].sets) lacking.push_back(set.min - set.active);
    for (const row ask : cluster_.apps[app].asks) {
      if (cluster_.asks[ask].status != ask_status::pending) continue;
      if (!complete && lacking[cluster_.asks[ask].set]-- <= 0) continue;
      book.open.push_back(ask);
    }
    // Pods that it lacks do not exist yet.
    if (!complete && std::ranges::any_of(lacking, [](std::int64_t left) { return left > 0; })) book.open.clear();
  }

  // ---- order
  [[nodiscard]] place_key key_of_app(row app) const {
    place_key key;
    const app_state& of = cluster_.apps[app];
    key.priority = books_.app_priority(app).value_or(0);
    key.created = of.created;
    key.rank = app_ranks_[app];
    const queue_state& queue = cluster_.queues[of.queue];
    if (queue.rules.apps == app_order::fair) key.shares = shares_of(of.used, queue.guaranteed, cluster_.unit);
    return key;
  }

  [[nodiscard]] place_key key_of_queue(row queue) const {
    place_key key;
    const queue_state& of = cluster_.queues[queue];
    key.priority = books_.priority(queue).value_or(0);
    key.share = fair_share(of.used, of.guaranteed, books_.fair_most(queue));
    key.pending = of.pending;
    key.rank = books_.name_rank(queue);
    return key;
  }

  /// Among queues that wait for amounts of which none is the larger one, the first dimension in which they differ
  /// decides: that keeps every order that is given.
  [[nodiscard]] bool comes_before(row queue, row left, row right) const {
    const queue_rules& rules = cluster_.queues[queue].rules;
    const bool apps = is_leaf(queue);
    const place_key& l = apps ? apps_[left].key : queue_keys_[left];
    const place_key& r = apps ? apps_[right].key : queue_keys_[right];
    if (rules.priority_first && l.priority != r.priority) return l.priority > r.priority;
    if (!apps) {
      if (l.share != r.share) return l.share < r.share;
    } else if (rules.apps == app_order::fair) {
      if (const int shares = compare_shares(l.shares, r.shares); shares != 0) return shares < 0;
    } else if (l.created != r.created) {
      return l.created < r.created;
    }
    if (l.priority != r.priority) return l.priority > r.priority;
    if (!apps && l.pending != r.pending) return l.pending > r.pending;
    return l.rank < r.rank;
  }

  void activate(row app) {
    app_book& book = apps_[app];
    if (book.in_order || book.waits || book.is_out || cluster_.apps[app].queue == no_row) return;
    list_open(app);
    if (book.open.empty()) return;
    book.why.reset();
    book.key = key_of_app(app);
    book.in_order = true;
    order_[cluster_.apps[app].queue].insert(app);
    for (row q = cluster_.apps[app].queue; cluster_.queues[q].parent != no_row; q = cluster_.queues[q].parent) {
      if (queue_in_order_[q]) break;
      queue_keys_[q] = key_of_queue(q);
      queue_in_order_[q] = true;
      order_[cluster_.queues[q].parent].insert(q);
    }
  }

  void deactivate(row queue, row child) {
    order_[queue].erase(child);
    if (is_leaf(queue)) {
      apps_[child].in_order = false;
    } else {
      queue_in_order_[child] = false;
    }
  }

  void reactivate_all() {
    nothing_to_keep_.assign(cluster_.kinds.size(), false);
    for (row app = 0; app < cluster_.apps.size(); ++app) {
      if (apps_[app].in_order) {
        list_open(app);
      } else {
        activate(app);
      }
    }
  }

  /// An application, and the queues above it, where they belong now.
  void reorder(row app) {
    const auto move = [](auto& order, row one, place_key& key, place_key now) {
      order.erase(one);
      key = std::move(now);
      order.insert(one);
    };
    if (apps_[app].in_order) move(order_[cluster_.apps[app].queue], app, apps_[app].key, key_of_app(app));
    for (row q = cluster_.apps[app].queue; cluster_.queues[q].parent != no_row; q = cluster_.queues[q].parent) {
      if (queue_in_order_[q]) move(order_[cluster_.queues[q].parent], q, queue_keys_[q], key_of_queue(q));
    }
  }

  // ---- turns
  bool take_turn(row queue) {
    while (!order_[queue].empty()) {
      const row first = *order_[queue].begin();
      if (is_leaf(queue) ? try_app(first) : take_turn(first)) return true;
      if (fault_) return false;
      deactivate(queue, first);
    }
    return false;
  }

  bool try_app(row app) {
    app_book& book = apps_[app];
    if (!books_.may_run(app)) {
      book.why = ask_refusal{book.open.empty() ? no_row : book.open.front(), std::nullopt, true};
      return false;
    }
    if (!may_begin(app)) {
      book.why = ask_refusal{book.open.front(), std::nullopt, false};
      return false;
    }
    while (book.at < book.open.size()) {
      const row ask = book.open[book.at];
      if (cluster_.asks[ask].status == ask_status::pending && try_ask(ask)) return true;
      if (fault_) return false;
      ++book.at;
    }
    return false;
  }

  /// False: a gang of several of which no ask holds anything, and the nodes have too few places for what it lacks. It
  /// would give back whatever it got.
  bool may_begin(row app) {
    const app_book& book = apps_[app];
    if (book.begun != 0 || book.open.size() < 2 || is_complete(app)) return true;
    std::map<row, std::int64_t> lacking;
    for (const row ask : book.open) {
      const ask_state& one = cluster_.asks[ask];
      if (reserved_[ask] != no_row) return true;
      const bool others_may_leave =
          any_coming_ || !no_victims_.contains({cluster_.apps[app].queue, one.kind, one.priority});
      if (others_may_leave && may_preempt(ask)) return true;
      ++lacking[one.kind];
    }
    return std::ranges::all_of(lacking,
                               [&](const auto& one) { return nodes_.places(one.first, one.second) >= one.second; });
  }

  bool try_ask(row ask) {
    app_book& book = apps_[cluster_.asks[ask].app];
    if (const std::optional<queue_refusal> refused = books_.refusal(ask)) {
      if (!refused->by_user && preempt(ask, false)) return true;
      if (!book.why) book.why = ask_refusal{ask, refused, false};
      return false;
    }
    if (try_nodes(ask)) return true;
    if (fault_) return false;
    reserve(ask);
    if (claim(ask) || preempt(ask, true)) return true;
    if (fault_) return false;
    if (!book.why) book.why = ask_refusal{ask, std::nullopt, false};
    return false;
  }

  bool try_nodes(row ask) {
    const row kind = cluster_.asks[ask].kind;
    if (const row kept = reserved_[ask];
        kept != no_row && fits(cluster_.request(ask), cluster_.nodes[kept].available) &&
        leaves_enough(cluster_.kinds[kind], cluster_.nodes[kept].available) && !nodes_.refuses(kind, kept)) {
      unreserve(ask);
      if (place(ask, kept)) return true;
      if (fault_) return false;
    }
    for (row node = nodes_.first(kind); node != no_row; node = nodes_.first(kind)) {
      if (place(ask, node)) return true;
      if (fault_) return false;
    }
    return false;
  }

  /// False: the node refuses, or there was an error.
  bool place(row ask, row node) {
    const row app = cluster_.asks[ask].app;
    const bool was_complete = is_complete(app);
    if (!was_complete && !host_.accepts(ask, node)) {
      nodes_.refuse(cluster_.asks[ask].kind, node);
      return false;
    }
    unreserve(ask);
    hold(ask, node);
    if (was_complete || is_complete(app)) {
      if (!finish(app)) return false;
      // What may not start at all is done with, wherever it would be.
      if (cluster_.asks[ask].status == ask_status::pending && was_complete) return apps_[app].is_out;
    }
    return true;
  }

  void hold(row ask, row node) {
    ask_state& one = cluster_.asks[ask];
    app_book& book = apps_[one.app];
    if (book.begun == 0) book.begun = turn_;
    one.status = ask_status::held;
    one.node = node;
    subtract(cluster_.nodes[node].available, cluster_.request(ask));
    nodes_.changed(node);
    books_.take(ask);
    book.held.push_back(ask);
    if (book.at < book.open.size() && book.open[book.at] == ask) ++book.at;
    reorder(one.app);
  }

  void release(row ask) {
    ask_state& one = cluster_.asks[ask];
    app_book& book = apps_[one.app];
    add(cluster_.nodes[one.node].available, cluster_.request(ask));
    if (cluster_.nodes[one.node].reserved_for == ask) cluster_.nodes[one.node].reserved_for = no_row;
    nodes_.changed(one.node);
    one.status = ask_status::pending;
    one.node = no_row;
    one.waits = false;
    books_.give_back(ask);
    std::erase(book.held, ask);
    if (book.held.empty()) book.begun = 0;
    reorder(one.app);
  }

  void undo_victims(row app, std::size_t from) {
    app_book& book = apps_[app];
    for (; book.victims.size() > from; book.victims.pop_back(), book.made_room.pop_back()) {
      const row victim = book.victims.back();
      ask_state& one = cluster_.asks[victim];
      one.status = ask_status::running;
      books_.stay(victim);
      if (book.made_room.back()) {
        subtract(cluster_.nodes[one.node].available, cluster_.request(victim));
        nodes_.changed(one.node);
      }
      reorder(one.app);
    }
  }

  void release_all(row app) {
    while (!apps_[app].held.empty()) release(apps_[app].held.back());
    undo_victims(app, 0);
    for (const row ask : cluster_.apps[app].asks) {
      unreserve(ask);
      has_preempted_[ask] = false;
    }
  }

  /// All that an application holds starts. False: there was an error.
  bool finish(row app) {
    app_book& book = apps_[app];
    std::vector<placement> all;
    for (const row ask : book.held) all.push_back({ask, cluster_.asks[ask].node, cluster_.asks[ask].waits});
    result<start_answer> answer = host_.start(all, book.victims);
    if (!answer) {
      fault_ = answer.failure();
      return false;
    }
    switch (answer->what) {
      case start_answer::outcome::started:
        for (const placement& one : all) cluster_.asks[one.ask].status = ask_status::started;
        book.held.clear();
        book.victims.clear();
        book.made_room.clear();
        book.begun = 0;
        ++progress_;
        list_open(app);
        // What waits behind a gang may be tried from now on.
        if (book.in_order && book.open.empty()) {
          deactivate(cluster_.apps[app].queue, app);
        } else {
          activate(app);
        }
        break;
      case start_answer::outcome::no_place:
        nodes_.refuse(cluster_.asks[answer->ask].kind, cluster_.asks[answer->ask].node);
        if (!book.victims.empty()) {
          release_all(app);
        } else {
          release(answer->ask);
        }
        list_open(app);
        break;
      case start_answer::outcome::refused:
        release_all(app);
        book.is_out = true;
        book.open.clear();
        ++progress_;
        reactivate_all();
        break;
    }
    return true;
  }

  // ---- nodes that are kept
  /// An ask that has waited keeps the node that lacks least of it: no other ask gets something there.
  void reserve(row ask) {
    const ask_state& one = cluster_.asks[ask];
    if (cluster_.reservation_delay < 0 || reserved_[ask] != no_row || nothing_to_keep_[one.kind] ||
        cluster_.age(ask) <= cluster_.reservation_delay)
      return;
    row best = no_row;
    std::tuple<double, double, std::uint32_t> least{};
    for (row node = 0; node < cluster_.nodes.size(); ++node) {
      const node_state& about = cluster_.nodes[node];
      if (about.reserved_for != no_row || !fits(cluster_.request(ask), about.total) || nodes_.refuses(one.kind, node))
        continue;
      const std::tuple lacks(unmet(cluster_.request(ask), about.available), node_score(about, cluster_.order),
                             nodes_.name_rank(node));
      if (best == no_row || lacks < least) {
        best = node;
        least = lacks;
      }
    }
    if (best == no_row) {
      nothing_to_keep_[one.kind] = true;
      return;
    }
    reserved_[ask] = best;
    cluster_.nodes[best].reserved_for = ask;
    nodes_.changed(best);
  }

  void unreserve(row ask) {
    const row node = std::exchange(reserved_[ask], no_row);
    if (node == no_row) return;
    cluster_.nodes[node].reserved_for = no_row;
    nodes_.changed(node);
  }

  // ---- preemption
  bool may_preempt(row ask) const {
    return cluster_.preempts && !has_preempted_[ask] &&
           cluster_.age(ask) >= cluster_.queue_of(ask).rules.preemption_delay;
  }

  bool preempt(row ask, bool nodes_tried) {
    const ask_state& one = cluster_.asks[ask];
    const row app = one.app;
    if (!may_preempt(ask)) return false;
    has_preempted_[ask] = true;
    const std::tuple like(cluster_.apps[app].queue, one.kind, one.priority);
    if (no_victims_.contains(like)) return false;
    const auto accepts = [&](row node) { return !nodes_.refuses(one.kind, node); };
    const std::optional<preemption_plan> plan = find_victims(cluster_, {ask, nodes_tried, accepts});
    if (!plan) {
      no_victims_.insert(like);
      return false;
    }
    app_book& book = apps_[app];
    const std::size_t before = book.victims.size();
    for (const row victim : plan->victims) {
      ask_state& leaver = cluster_.asks[victim];
      leaver.status = ask_status::leaving;
      books_.leave(victim);
      const bool makes_room = leaver.node == plan->node;
      if (makes_room) {
        add(cluster_.nodes[leaver.node].available, cluster_.request(victim));
        nodes_.changed(leaver.node);
      }
      reorder(leaver.app);
      book.victims.push_back(victim);
      book.made_room.push_back(makes_room);
    }
    if (books_.refusal(ask)) {  // one above the queue has too little room
      undo_victims(app, before);
      no_victims_.insert(like);
      return false;
    }
    return wait_on(ask, plan->node);
  }

  /// What is coming free already will do: no other pods need leave.
  bool claim(row ask) {
    if (!may_preempt(ask)) return false;
    row best = no_row;
    std::tuple<double, std::uint32_t> first{};
    for (row node = 0; node < cluster_.nodes.size(); ++node) {
      const node_state& about = cluster_.nodes[node];
      if (about.coming.empty() || (about.reserved_for != no_row && about.reserved_for != ask) ||
          nodes_.refuses(cluster_.asks[ask].kind, node))
        continue;
      amounts later = about.available;
      add(later, about.coming);
      const std::tuple key(node_score(about, cluster_.order), nodes_.name_rank(node));
      if (fits(cluster_.request(ask), later) && (best == no_row || key < first)) {
        best = node;
        first = key;
      }
    }
    return best != no_row && wait_on(ask, best);
  }

  /// The ask gets the node once others have left, and no other ask gets anything there.
  bool wait_on(row ask, row node) {
    unreserve(ask);
    cluster_.nodes[node].reserved_for = ask;
    cluster_.asks[ask].waits = true;
    hold(ask, node);
    const row app = cluster_.asks[ask].app;
    return !is_complete(app) || finish(app);
  }

  // ---- gangs that cannot be completed
  /// When no ask gets anything: the gang that began last gives back what it holds. It is tried again once others have
  /// got on; one that is alone is out.
  bool give_way() {
    row last = no_row;
    std::size_t holders = 0;
    for (row app = 0; app < apps_.size(); ++app) {
      if (apps_[app].begun == 0) continue;
      ++holders;
      if (last == no_row || apps_[app].begun > apps_[last].begun) last = app;
    }
    if (last != no_row) {
      release_all(last);
      if (holders == 1) {
        apps_[last].is_out = true;
        ++progress_;
      } else {
        apps_[last].waits = true;
      }
    } else {
      if (progress_ == progress_at_return_) return false;
      progress_at_return_ = progress_;
      bool any = false;
      for (app_book& book : apps_) any = std::exchange(book.waits, false) || any;
      if (!any) return false;
    }
    reactivate_all();
    return true;
  }

  cluster_state& cluster_;
  host& host_;
  queue_books books_;
  node_index nodes_;
  std::vector<std::uint32_t> app_ranks_;
  std::vector<place_key> queue_keys_;
  std::vector<bool> queue_in_order_;
  std::vector<std::set<row, child_before>> order_;  ///< by queue: children or applications
  std::vector<app_book> apps_;
  std::vector<row> reserved_;                                ///< by ask: the node that is kept for it
  std::vector<bool> has_preempted_;                          ///< by ask: it has looked for victims
  std::vector<bool> nothing_to_keep_;                        ///< by kind: no node can be kept
  std::set<std::tuple<row, row, std::int64_t>> no_victims_;  ///< by queue, kind and priority
  bool any_coming_ = false;                                  ///< some node has something that is being released
  std::uint64_t turn_ = 0;
  std::uint64_t progress_ = 0;  ///< gangs that have started or are out
  std::uint64_t progress_at_return_ = 0;
  std::optional<error> fault_;
};

}  // namespace

result<std::vector<ask_refusal>> take_turns(cluster_state& cluster, host& by) {
  scheduling_cycle turns(cluster, by);
  if (auto done = turns.run(); !done) return done.failure();
  return turns.refusals();
}

}  // namespace kaisched::yunikorn
