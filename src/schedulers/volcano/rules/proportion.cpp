// The plug-in proportion.

#include <algorithm>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/queue_books.hpp"

namespace kaisched::volcano {

namespace {

/// A queue that deserves nothing has no share: it comes first.
void renew_share(queue_book& book) { book.share = policy::dominant_share(book.allocated, book.deserved); }

/// Divides what is left by weight, round after round, until all have what they ask for or may have.
class water_fill {
 public:
  water_fill(const cluster_state& cluster, queue_books& books)
      : cluster_(cluster), books_(books), met_(books.size(), false), remaining_(cluster.total()) {
    for (row queue = 0; queue < books.size(); ++queue) met_[queue] = !books[queue].has_jobs;
  }

  void run() {
    while (true) {
      std::int64_t weights = 0;
      for (row queue = 0; queue < books_.size(); ++queue) {
        if (!met_[queue]) weights += cluster_.queues[queue].weight;
      }
      if (weights == 0) return;
      const policy::resource_list before = remaining_;
      round(static_cast<double>(weights));
      if (remaining_.is_empty() || remaining_ == before) return;
    }
  }

 private:
  void round(double weights) {
    policy::resource_list increased;
    policy::resource_list decreased;
    for (row queue = 0; queue < books_.size(); ++queue) {
      if (met_[queue]) continue;
      queue_book& book = books_[queue];
      const policy::resource_list before = book.deserved;
      policy::resource_list part = remaining_;
      part.multiply(static_cast<double>(cluster_.queues[queue].weight) / weights);
      book.deserved.add(part);
      book.deserved.lower_to(book.most, policy::absent_resource::infinity);
      book.deserved.lower_to(book.request, policy::absent_resource::zero);
      book.deserved.raise_to(book.guarantee);
      renew_share(book);
      met_[queue] =
          policy::less_equal(book.request, book.deserved, policy::absent_resource::zero) || book.deserved == before;
      const policy::resource_difference change = difference(book.deserved, before, policy::absent_resource::zero);
      increased.add(change.more);
      decreased.add(change.less);
    }
    remaining_.add(decreased);
    remaining_ = difference(remaining_, increased, policy::absent_resource::zero).more;
  }

  const cluster_state& cluster_;
  queue_books& books_;
  std::vector<bool> met_;
  policy::resource_list remaining_;
};

class proportion final : public plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "proportion"; }
  [[nodiscard]] points orders() const override { return points_at({point::queue_order}); }

  void open(const session& of, const points&) override {
    const cluster_state& cluster = of.cluster();
    books_.resize(cluster.queues.size());
    for (const job_state& job : cluster.jobs) {
      if (job.queue == no_row) continue;
      books_[job.queue].has_jobs = true;
      enter_job(cluster, job, books_[job.queue]);
    }
    for (row queue = 0; queue < books_.size(); ++queue) {
      books_[queue].guarantee = cluster.queues[queue].guarantee.value_or(policy::resource_list{});
      books_[queue].most = most_of(cluster, cluster.queues[queue]);
    }
    water_fill(cluster, books_).run();
  }

  void task_allocated(const session& of, row task) override {
    queue_book& book = book_of(of, task);
    book.allocated.add(of.cluster().tasks[task].request);
    renew_share(book);
  }
  void task_deallocated(const session& of, row task) override {
    queue_book& book = book_of(of, task);
    book.allocated.subtract(of.cluster().tasks[task].request);
    renew_share(book);
  }

  [[nodiscard]] order queue_order(const session& of, row left, row right) const override {
    const std::int64_t l = of.cluster().queues[left].priority;
    const std::int64_t r = of.cluster().queues[right].priority;
    if (l != r) return l > r ? -1 : 1;
    if (books_[left].share == books_[right].share) return 0;
    return books_[left].share < books_[right].share ? -1 : 1;
  }

  /// A queue loses tasks while it holds more than it deserves of anything.
  [[nodiscard]] victims reclaimable(const session& of, row, const std::vector<row>& candidates) const override {
    std::map<row, policy::resource_list> left;
    return those_that(candidates, [&](row task) {
      const row queue = of.cluster().jobs[of.cluster().tasks[task].job].queue;
      policy::resource_list& allocated = left.try_emplace(queue, books_[queue].allocated).first->second;
      if (policy::less_equal(allocated, books_[queue].deserved, policy::absent_resource::zero)) return false;
      allocated.subtract(of.cluster().tasks[task].request);
      return true;
    });
  }

  [[nodiscard]] answer is_overused(const session&, row queue) const override {
    return policy::less_equal(books_[queue].deserved, books_[queue].allocated, policy::absent_resource::zero);
  }
  [[nodiscard]] bool limits_queues() const override { return true; }

  [[nodiscard]] answer is_allocatable(const session& of, row queue, row task) const override {
    return of.cluster().queues[queue].open &&
           has_room(books_[queue], books_[queue].deserved, of.cluster().tasks[task].request);
  }
  [[nodiscard]] answer is_preemptive(const session& of, row queue, const std::vector<row>& tasks) const override {
    return of.cluster().queues[queue].open &&
           has_room(books_[queue], books_[queue].deserved, requests_of(of.cluster(), tasks));
  }

  [[nodiscard]] std::optional<vote> may_enqueue(const session& of, row job) const override {
    const job_state& one = of.cluster().jobs[job];
    if (!of.cluster().queues[one.queue].open) return vote::reject;
    if (!one.min_resources) return vote::permit;
    return has_room_to_enqueue(books_[one.queue], *one.min_resources) ? vote::permit : vote::reject;
  }
  void job_enqueued(const session& of, row job) override {
    const job_state& one = of.cluster().jobs[job];
    if (one.min_resources) books_[one.queue].inqueue.add(*one.min_resources);
  }

 private:
  [[nodiscard]] queue_book& book_of(const session& of, row task) {
    return books_[of.cluster().jobs[of.cluster().tasks[task].job].queue];
  }

  queue_books books_;
};

}  // namespace

std::unique_ptr<plugin> make_proportion() { return std::make_unique<proportion>(); }

}  // namespace kaisched::volcano
