#include "benchmarks/pollux/parts.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

namespace kaisched::bench::pollux {

namespace {

constexpr double not_asked = -1;

}  // namespace

const std::vector<policy_name>& policies() {
  static const std::vector<policy_name> all{
      {"tiresias", false, "two_queues", "two_queues,same_node,nodeplacement"},
      {"optimus", true, "largest_saving", "fewest_gpus,same_node,nodeplacement"},
  };
  return all;
}

book::book(const measurements& of, const artefact& as, const workload& jobs)
    : of_(of), as_(as), jobs_(jobs), facts_(jobs.jobs.size()), expected_(jobs.jobs.size()) {}

void book::arrive(std::size_t job) {
  facts_[job].active = true;
  facts_[job].position = next_position_++;
}

void book::leave(std::size_t job) {
  facts_[job].active = false;
  facts_[job].gpus = 0;
}

void book::serve(std::int64_t seconds) {
  for (std::size_t job = 0; job < facts_.size(); ++job) {
    job_facts& one = facts_[job];
    if (!one.active || one.gpus == 0) continue;
    one.served += seconds;
    if (one.queue > 0 || one.served * jobs_.jobs[job].replicas < as_.demotion) continue;
    one.queue = 1;
    one.position = next_position_++;
  }
}

result<void> book::expect_iterations(std::size_t job, std::int64_t epoch) {
  const result<double> left = expected_iterations(of_, as_, jobs_.jobs[job], epoch);
  if (!left) return left.failure();
  facts_[job].iterations_left = *left;
  return {};
}

result<double> book::expected(std::size_t job, std::int64_t gpus) const {
  std::vector<double>& known = expected_[job];
  const auto at = static_cast<std::size_t>(gpus);
  if (known.size() <= at) known.resize(at + 1, not_asked);
  if (known[at] == not_asked) {
    result<double> time = expected_time(of_, as_, jobs_.jobs[job], gpus);
    if (!time) return time;
    known[at] = *time;
  }
  return known[at];
}

result<double> book::saving(std::size_t job, std::int64_t gpus) const {
  if (gpus + 1 > most_replicas(of_, as_, jobs_.jobs[job])) return 0.0;
  result<double> now = expected(job, gpus);
  if (!now) return now;
  result<double> with_one_more = expected(job, gpus + 1);
  if (!with_one_more) return with_one_more;
  return (*now - *with_one_more) * facts_[job].iterations_left;
}

std::string group_name(std::size_t job) { return fmt::format("{:07}", job); }

std::size_t job_of_group(std::string_view name) {
  std::size_t job = 0;
  std::from_chars(name.data(), name.data() + name.size(), job);
  return job;
}

namespace {

bool has_place(pod_status status) { return status != pod_status::pending; }

/// Orders groups by a key of their jobs.
class job_order : public policy_part {
 public:
  explicit job_order(const book& of) : book_(of) {}
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const result<order_key> key = key_of(job_of_group(view.group_name(groups[i])));
      if (!key) return key.failure();
      keys[i] = *key;
    }
    return {};
  }

 protected:
  [[nodiscard]] virtual result<order_key> key_of(std::size_t job) const = 0;
  [[nodiscard]] const book& facts() const { return book_; }

 private:
  const book& book_;
};

/// Tiresias: who has had little service is before who has had much, and both in the order of coming.
class two_queues final : public job_order {
 public:
  using job_order::job_order;
  [[nodiscard]] std::string_view name() const noexcept override { return "two_queues"; }

 private:
  [[nodiscard]] result<order_key> key_of(std::size_t job) const override {
    const job_facts& one = facts().facts()[job];
    return order_key{one.queue, one.position};
  }
};

/// Optimus, where jobs are put: those with few GPUs first.
class fewest_gpus final : public job_order {
 public:
  using job_order::job_order;
  [[nodiscard]] std::string_view name() const noexcept override { return "fewest_gpus"; }

 private:
  [[nodiscard]] result<order_key> key_of(std::size_t job) const override {
    return order_key{facts().facts()[job].gpus, 0};
  }
};

/// Optimus: one GPU for everybody, then one more for whom it saves most, as long as it saves anything. The pods of a
/// group come one by one, and its key is asked for again after each.
class largest_saving final : public job_order {
 public:
  using job_order::job_order;
  [[nodiscard]] std::string_view name() const noexcept override { return "largest_saving"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_orders_groups | part_permits | part_hears_changes;
  }
  result<void> session_open(const session_view&) override {
    placed_.assign(facts().facts().size(), 0);
    return {};
  }
  void changed(const session_view& view, std::span<const session_change> changes) noexcept override {
    for (const session_change& one : changes) {
      const int change = (has_place(one.now) ? 1 : 0) - (has_place(one.before) ? 1 : 0);
      placed_[job_of_group(view.group_name(view.pod_group(one.pod)))] += change;
    }
  }
  result<bool> permit(const session_view& view, group_row group, std::span<const pod_row> pods) override {
    const std::size_t job = job_of_group(view.group_name(group));
    const std::int64_t before = placed_[job] - static_cast<std::int64_t>(pods.size());
    if (before == 0) return true;
    const result<double> saved = facts().saving(job, before);
    if (!saved) return saved.failure();
    return *saved > 0;
  }

 private:
  [[nodiscard]] result<order_key> key_of(std::size_t job) const override {
    if (placed_[job] == 0) return order_key{0, 0};
    const result<double> saved = facts().saving(job, placed_[job]);
    if (!saved) return saved.failure();
    if (!(*saved > 0)) return order_key{2, 0};
    // The bits of positive numbers are in the order of the numbers.
    return order_key{1, -std::bit_cast<std::int64_t>(*saved)};
  }

  std::vector<std::int64_t> placed_;
};

/// A job takes what a node has before it goes to the next one. Stronger than the share of a node that is free, which
/// `nodeplacement` adds.
class same_node final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "same_node"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_scores_nodes | part_hears_changes; }
  void changed(const session_view& view, std::span<const session_change> changes) noexcept override {
    for (const session_change& one : changes) {
      group_ = has_place(one.now) ? view.pod_group(one.pod) : no_row;
      node_ = one.node;
    }
  }
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    if (view.pod_group(pod) != group_) return {};
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += nodes[i] == node_ ? 2.0 : 0.0;
    return {};
  }

 private:
  group_row group_ = no_row;
  node_row node_ = no_row;
};

}  // namespace

result<void> register_parts(engine& with, const book& facts) {
  const auto add = [&](std::string_view name, part_factory make) { return with.register_part(name, std::move(make)); };
  if (auto done = add("two_queues", [&facts](const auto&) { return std::make_unique<two_queues>(facts); }); !done)
    return done;
  if (auto done = add("largest_saving", [&facts](const auto&) { return std::make_unique<largest_saving>(facts); });
      !done)
    return done;
  if (auto done = add("fewest_gpus", [&facts](const auto&) { return std::make_unique<fewest_gpus>(facts); }); !done)
    return done;
  return add("same_node", [](const auto&) { return std::make_unique<same_node>(); });
}

}  // namespace kaisched::bench::pollux
