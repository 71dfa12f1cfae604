// The plug-in capacity.

#include <algorithm>
#include <limits>
#include <utility>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/queue_books.hpp"

namespace kaisched::volcano {

namespace {

constexpr std::string_view root_queue = "root";

/// Amounts without an end, of everything that the cluster has.
policy::resource_list endless(const policy::resource_list& total) {
  policy::resource_list all;
  all.cpu = std::numeric_limits<double>::max();
  all.memory = std::numeric_limits<double>::max();
  for (const auto& [name, amount] : total.scalars()) {
    all.set(name, static_cast<double>(std::numeric_limits<std::int64_t>::max()));
  }
  return all;
}

bool is_relevant(const policy::resource_list& request, const policy::resource_list& deserved) {
  return !policy::common_of(request, deserved, true).empty();
}

/// The last common level of two queues.
std::size_t common_level(const queue_book& left, const queue_book& right) {
  std::size_t level = 0;
  for (std::size_t i = 0; i < std::min(left.ancestors.size(), right.ancestors.size()); ++i) {
    if (left.ancestors[i] != right.ancestors[i]) break;
    level = i;
  }
  return level;
}

class capacity final : public plugin {
 public:
  explicit capacity(std::int64_t reclaim_levels) : reclaim_levels_(std::max<std::int64_t>(reclaim_levels, 0)) {}

  [[nodiscard]] std::string_view name() const override { return "capacity"; }
  [[nodiscard]] points orders() const override { return points_at({point::queue_order}); }

  void open(const session& of, const points& on) override {
    const cluster_state& cluster = of.cluster();
    is_tree_ = on.test(static_cast<std::size_t>(point::hierarchy));
    books_.resize(cluster.queues.size());
    for (row queue = 0; queue < books_.size(); ++queue) {
      const queue_state& one = cluster.queues[queue];
      books_[queue].deserved = one.deserved;
      books_[queue].guarantee = one.guarantee.value_or(policy::resource_list{});
      books_[queue].devices.most = one.most_devices;
      if (one.name == root_queue) root_ = queue;
    }
    usable_ = is_tree_ ? open_tree(cluster) : open_flat(cluster);
    for (queue_book& book : books_) renew_share(book);
  }

  void task_allocated(const session& of, row task) override {
    for_all(of, task, [&](queue_book& book) {
      book.allocated.add(of.cluster().tasks[task].request);
      book.devices.take(of.cluster().tasks[task]);
    });
  }
  void task_deallocated(const session& of, row task) override {
    for_all(of, task, [&](queue_book& book) {
      book.allocated.subtract(of.cluster().tasks[task].request);
      book.devices.give_back(of.cluster().tasks[task]);
    });
  }

  [[nodiscard]] order queue_order(const session& of, row left, row right) const override {
    if (!usable_) return std::nullopt;
    const std::int64_t l = of.cluster().queues[left].priority;
    const std::int64_t r = of.cluster().queues[right].priority;
    if (l != r) return l > r ? -1 : 1;
    if (!is_tree_) return emptier_first(books_[left], books_[right]);
    if (is_leaf(left) != is_leaf(right)) return is_leaf(left) ? -1 : 1;
    if (!is_leaf(left)) return emptier_first(books_[left], books_[right]);
    const std::size_t below = common_level(books_[left], books_[right]) + 1;
    return emptier_first(books_[side_of(left, below)], books_[side_of(right, below)]);
  }

  /// The queue that is nearer in the tree loses first.
  [[nodiscard]] order victim_queue_order(const session&, row left, row right, row taker) const override {
    if (!usable_ || !is_tree_) return std::nullopt;
    const std::size_t l = common_level(books_[left], books_[taker]);
    const std::size_t r = common_level(books_[right], books_[taker]);
    if (l == r) return 0;
    return l > r ? -1 : 1;
  }

  [[nodiscard]] victims reclaimable(const session& of, row task, const std::vector<row>& candidates) const override {
    std::vector<row> allowed;
    const cluster_state& cluster = of.cluster();
    if (!usable_) return allowed;
    std::map<row, policy::resource_list> left;
    for (const row one : of.in_victim_order(candidates, task)) {
      const policy::resource_list& request = cluster.tasks[one].request;
      if (policy::common_of(request, cluster.tasks[task].first_request, false).empty()) continue;
      const row queue = cluster.jobs[cluster.tasks[one].job].queue;
      policy::resource_list& allocated = left.try_emplace(queue, books_[queue].allocated).first->second;
      policy::resource_list after = allocated;
      after.subtract(request);
      if (!policy::less_equal(books_[queue].guarantee, after, policy::absent_resource::zero)) continue;
      std::vector<policy::resource_list*> judged{&allocated};
      if (!leaf_may_lose(cluster, task, queue, request, allocated)) continue;
      if (!ancestors_may_lose(cluster, task, queue, request, left, judged)) continue;
      for (policy::resource_list* held : judged) held->subtract(request);
      allowed.push_back(one);
    }
    return allowed;
  }

  /// Only what a queue has beyond its guarantee, and beyond what it deserves of something that the task holds.
  [[nodiscard]] victims evictable(const session& of, row, taking how,
                                  const std::vector<row>& candidates) const override {
    if (how == taking::preempt) return candidates;
    std::vector<row> allowed;
    if (!usable_) return allowed;
    std::map<row, policy::resource_list> left;
    for (const row one : candidates) {
      const policy::resource_list& request = of.cluster().tasks[one].request;
      const row queue = of.cluster().jobs[of.cluster().tasks[one].job].queue;
      const queue_book& book = books_[queue];
      policy::resource_list& allocated = left.try_emplace(queue, book.allocated).first->second;
      policy::resource_list after = allocated;
      after.subtract(request);
      if (!policy::less_equal(book.guarantee, after, policy::absent_resource::zero)) continue;
      const bool deserves_it = is_relevant(request, book.deserved) &&
                               policy::exceeding_of_relevant(allocated, book.deserved, request).empty();
      if (deserves_it) continue;
      allocated = std::move(after);
      allowed.push_back(one);
    }
    return allowed;
  }

  [[nodiscard]] answer is_preemptive(const session& of, row queue, const std::vector<row>& tasks) const override {
    if (!usable_ || !of.cluster().queues[queue].open) return false;
    const policy::resource_list asked = requests_of(of.cluster(), tasks);
    if (!has_room(books_[queue], books_[queue].most, asked)) return false;
    if (deserves_more(books_[queue], asked)) return true;
    for (std::int64_t level = 1; is_tree_ && level <= reclaim_levels_; ++level) {
      const row ancestor = ancestor_of(queue, level);
      if (ancestor != no_row && ancestor != root_ && deserves_more(books_[ancestor], asked)) return true;
    }
    return false;
  }

  [[nodiscard]] bool limits_queues() const override { return true; }

  [[nodiscard]] answer is_allocatable(const session& of, row queue, row task) const override {
    if (!usable_ || !of.cluster().queues[queue].open || !is_leaf(queue)) return false;
    const task_state& asks = of.cluster().tasks[task];
    return all_up_from(queue, [&](const queue_book& book) {
      return book.devices.has_room(book.devices.missing(asks), false) && has_room(book, book.most, asks.request);
    });
  }

  [[nodiscard]] std::optional<vote> may_enqueue(const session& of, row job) const override {
    const job_state& one = of.cluster().jobs[job];
    if (!usable_ || !is_leaf(one.queue) || !of.cluster().queues[one.queue].open) return vote::reject;
    const devices_by_class devices = least_devices(of.cluster(), one);
    const bool fits = all_up_from(one.queue, [&](const queue_book& book) {
      return (!one.min_resources || has_room_to_enqueue(book, *one.min_resources)) &&
             book.devices.has_room(devices, true);
    });
    return fits ? vote::permit : vote::reject;
  }
  void job_enqueued(const session& of, row job) override {
    const job_state& one = of.cluster().jobs[job];
    const devices_by_class devices = least_devices(of.cluster(), one);
    const auto promise = [&](queue_book& book) {
      if (one.min_resources) book.inqueue.add(*one.min_resources);
      book.devices.promise(devices);
    };
    promise(books_[one.queue]);
    for (const row ancestor : books_[one.queue].ancestors) promise(books_[ancestor]);
  }

 private:
  static void renew_share(queue_book& book) { book.share = policy::deserved_share(book.allocated, book.deserved); }

  static int emptier_first(const queue_book& left, const queue_book& right) {
    if (left.share != right.share) return left.share < right.share ? -1 : 1;
    if (left.deserved.is_empty() == right.deserved.is_empty()) return 0;
    return right.deserved.is_empty() ? -1 : 1;
  }

  static bool deserves_more(const queue_book& book, const policy::resource_list& asked) {
    policy::resource_list future = book.allocated;
    future.add(asked);
    return !policy::within_of_present(future, book.deserved, asked).empty();
  }

  [[nodiscard]] bool open_flat(const cluster_state& cluster) {
    for (const job_state& job : cluster.jobs) {
      if (job.queue == no_row) continue;
      books_[job.queue].has_jobs = true;
      enter_job(cluster, job, books_[job.queue]);
      take_devices(cluster, job);
    }
    for (row queue = 0; queue < books_.size(); ++queue) {
      books_[queue].most = most_of(cluster, cluster.queues[queue]);
      books_[queue].deserved.lower_to(books_[queue].most, policy::absent_resource::infinity);
      books_[queue].deserved.raise_to(books_[queue].guarantee);
    }
    return true;
  }

  /// False if the queues are no tree or a queue with queues below it has jobs.
  [[nodiscard]] bool open_tree(const cluster_state& cluster) {
    if (root_ == no_row || !link(cluster)) return false;
    for (const job_state& job : cluster.jobs) {
      if (job.queue == no_row) continue;
      if (!is_leaf(job.queue)) return false;
      queue_book entered;
      enter_job(cluster, job, entered);
      add_to(books_[job.queue], entered);
      for (const row ancestor : books_[job.queue].ancestors) add_to(books_[ancestor], entered);
      take_devices(cluster, job);
    }
    for (row queue = 0; queue < books_.size(); ++queue) {
      books_[queue].has_jobs = true;
      books_[queue].capability = cluster.queues[queue].capability.value_or(policy::resource_list{});
    }
    queue_book& root = books_[root_];
    if (root.capability.is_empty()) root.capability = endless(cluster.total());
    root.most = root.capability;
    settle_below(root_);
    return true;
  }

  /// Those of the tasks that hold theirs, for the queue and those above it.
  void take_devices(const cluster_state& cluster, const job_state& job) {
    for (const row task : job.tasks) {
      if (!is_allocated(cluster.tasks[task].status)) continue;
      books_[job.queue].devices.take(cluster.tasks[task]);
      for (const row ancestor : books_[job.queue].ancestors) books_[ancestor].devices.take(cluster.tasks[task]);
    }
  }

  static void add_to(queue_book& book, const queue_book& entered) {
    book.allocated.add(entered.allocated);
    book.request.add(entered.request);
    book.inqueue.add(entered.inqueue);
    book.elastic.add(entered.elastic);
  }

  /// Finds the ancestors of all queues. False if one has no such parent, or is its own ancestor.
  [[nodiscard]] bool link(const cluster_state& cluster) {
    std::map<std::string, row, std::less<>> by_name;
    for (row queue = 0; queue < books_.size(); ++queue) by_name[cluster.queues[queue].name] = queue;
    for (row queue = 0; queue < books_.size(); ++queue) {
      std::vector<row> up;
      for (row at = queue; at != root_;) {
        const std::string& parent = cluster.queues[at].parent;
        const auto found = by_name.find(parent.empty() ? root_queue : std::string_view(parent));
        if (found == by_name.end() || up.size() > books_.size()) return false;
        if (up.empty()) books_[found->second].children.push_back(queue);
        up.push_back(found->second);
        at = found->second;
      }
      books_[queue].ancestors.assign(up.rbegin(), up.rend());
    }
    return true;
  }

  void settle_below(row parent) {
    queue_book& of = books_[parent];
    policy::resource_list guarantees;
    policy::resource_list deserved;
    for (const row child : of.children) {
      queue_book& one = books_[child];
      one.deserved.raise_to(one.guarantee);
      deserved.add(one.deserved);
      guarantees.add(one.guarantee);
      if (one.capability.cpu <= 0) one.capability.cpu = of.capability.cpu;
      if (one.capability.memory <= 0) one.capability.memory = of.capability.memory;
      for (const auto& [name, amount] : of.capability.scalars()) {
        if (!one.capability.names(name)) one.capability.set(name, amount);
      }
    }
    if (parent == root_) {
      of.guarantee = guarantees;
      of.deserved = deserved;
    }
    for (const row child : of.children) {
      queue_book& one = books_[child];
      one.most = difference(of.most, guarantees, policy::absent_resource::zero).more;
      one.most.add(one.guarantee);
      one.most.lower_to(one.capability, policy::absent_resource::infinity);
      settle_below(child);
    }
  }

  [[nodiscard]] bool is_leaf(row queue) const { return books_[queue].children.empty(); }
  [[nodiscard]] row side_of(row queue, std::size_t level) const {
    return level < books_[queue].ancestors.size() ? books_[queue].ancestors[level] : queue;
  }
  /// The parent is level 1.
  [[nodiscard]] row ancestor_of(row queue, std::int64_t level) const {
    const std::vector<row>& up = books_[queue].ancestors;
    return static_cast<std::int64_t>(up.size()) < level ? no_row : up[up.size() - static_cast<std::size_t>(level)];
  }

  template <class Test>
  [[nodiscard]] bool all_up_from(row queue, const Test& test) const {
    return test(books_[queue]) &&
           std::ranges::all_of(books_[queue].ancestors, [&](row ancestor) { return test(books_[ancestor]); });
  }

  template <class Change>
  void for_all(const session& of, row task, const Change& change) {
    queue_book& book = books_[of.cluster().jobs[of.cluster().tasks[task].job].queue];
    change(book);
    renew_share(book);
    // Shares of ancestors are those of the opening; only their amounts follow.
    for (const row ancestor : book.ancestors) change(books_[ancestor]);
  }

  /// Whether queues of both have a common ancestor, but the root, within the levels that count.
  [[nodiscard]] bool are_near(row left, row right) const {
    for (std::int64_t l = 1; l <= reclaim_levels_; ++l) {
      const row one = ancestor_of(left, l);
      if (one == no_row || one == root_) continue;
      for (std::int64_t r = 1; r <= reclaim_levels_; ++r) {
        if (ancestor_of(right, r) == one) return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool leaf_may_lose(const cluster_state& cluster, row taker, row queue,
                                   const policy::resource_list& request, const policy::resource_list& allocated) const {
    if (is_relevant(request, books_[queue].deserved)) {
      return !policy::exceeding_of_relevant(allocated, books_[queue].deserved, request).empty();
    }
    const row own = cluster.jobs[cluster.tasks[taker].job].queue;
    // Without anything deserved on either side of a common ancestor there is nothing to claim.
    return !(is_tree_ && reclaim_levels_ > 0 && are_near(own, queue) &&
             !is_relevant(cluster.tasks[taker].request, books_[own].deserved));
  }

  /// `judged`: gets the amounts of the ancestors that were asked.
  [[nodiscard]] bool ancestors_may_lose(const cluster_state& cluster, row taker, row queue,
                                        const policy::resource_list& request,
                                        std::map<row, policy::resource_list>& left,
                                        std::vector<policy::resource_list*>& judged) const {
    const row own = cluster.jobs[cluster.tasks[taker].job].queue;
    for (std::int64_t level = 1; is_tree_ && level <= reclaim_levels_; ++level) {
      const row ancestor = ancestor_of(queue, level);
      if (ancestor == no_row || ancestor == root_ || ancestor_of(own, level) == ancestor) continue;
      policy::resource_list& held = left.try_emplace(ancestor, books_[ancestor].allocated).first->second;
      judged.push_back(&held);
      if (!is_relevant(request, books_[ancestor].deserved)) continue;
      if (policy::exceeding_of_relevant(held, books_[ancestor].deserved, request).empty()) return false;
    }
    return true;
  }

  std::int64_t reclaim_levels_;
  bool is_tree_ = false;
  bool usable_ = false;
  row root_ = no_row;
  queue_books books_;
};

}  // namespace

std::unique_ptr<plugin> make_capacity(std::int64_t reclaim_levels) {
  return std::make_unique<capacity>(reclaim_levels);
}

}  // namespace kaisched::volcano
