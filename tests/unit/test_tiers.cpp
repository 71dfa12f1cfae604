// Tiers of plug-ins: how votes combine, what statements undo, and what the actions decide. Clusters of one kind of
// resource, so that every number can be checked by hand.
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "schedulers/volcano/cycle/actions.hpp"
#include "schedulers/volcano/rules/ordered_heap.hpp"
#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"
#include "schedulers/volcano/rules/statement.hpp"

namespace kaisched::volcano {

namespace {

policy::resource_list cpus(double count) {
  policy::resource_list amount;
  amount.cpu = count * 1000;
  return amount;
}

/// A cluster that is written down row by row.
class written {
 public:
  row node(const std::string& name, double count) {
    node_state& made = cluster.nodes.emplace_back();
    made.name = name;
    made.allocatable = cpus(count);
    made.allocatable.set("pods", 100);
    made.idle = made.allocatable;
    return cluster.nodes.size() - 1;
  }

  row queue(const std::string& name, std::int64_t weight = 1) {
    queue_state& made = cluster.queues.emplace_back();
    made.name = name;
    made.weight = weight;
    return cluster.queues.size() - 1;
  }

  row job(const std::string& name, row queue, std::int64_t minimum, std::int64_t priority = 0) {
    job_state& made = cluster.jobs.emplace_back();
    made.name = name;
    made.queue = queue;
    made.min_available = minimum;
    made.priority = priority;
    made.phase = job_phase::inqueue;
    sub_job_state& all = made.sub_jobs.emplace_back();
    all.name = name;
    all.group = name;
    all.min_available = minimum;
    return cluster.jobs.size() - 1;
  }

  row task(row job, double count, row node = no_row) {
    const row made = cluster.tasks.size();
    task_state& one = cluster.tasks.emplace_back();
    one.name = cluster.jobs[job].name + "-" + std::to_string(made);
    one.uid = one.name;
    one.request = cpus(count);
    one.first_request = one.request;
    one.job = job;
    one.sub_job = 0;
    one.preemptable = true;
    cluster.jobs[job].tasks.push_back(made);
    cluster.jobs[job].sub_jobs[0].tasks.push_back(made);
    if (node == no_row) return made;
    one.node = node;
    one.status = task_status::running;
    cluster.charge(made);
    return made;
  }

  session with(std::vector<tier> plugins) { return {std::move(cluster), std::move(plugins)}; }

  cluster_state cluster;
};

points all_points() { return points{}.set().reset(static_cast<std::size_t>(point::hierarchy)); }

template <class... Plugins>
tier tier_of(Plugins... plugins) {
  tier made;
  (made.push_back({std::move(plugins), all_points()}), ...);
  return made;
}

template <class... Tiers>
std::vector<tier> tiers_of(Tiers... all) {
  std::vector<tier> made;
  (made.push_back(std::move(all)), ...);
  return made;
}

/// Allows some tasks as victims.
class allows final : public plugin {
 public:
  explicit allows(std::vector<row> tasks) : tasks_(std::move(tasks)) {}
  [[nodiscard]] std::string_view name() const override { return "allows"; }
  [[nodiscard]] victims preemptable(const session&, row, const std::vector<row>&) const override { return tasks_; }

 private:
  std::vector<row> tasks_;
};

std::unique_ptr<plugin> allow(std::vector<row> tasks) { return std::make_unique<allows>(std::move(tasks)); }

/// Says how it votes on letting jobs in.
class votes final : public plugin {
 public:
  explicit votes(vote says) : says_(says) {}
  [[nodiscard]] std::string_view name() const override { return "votes"; }
  [[nodiscard]] std::optional<vote> may_enqueue(const session&, row) const override { return says_; }

 private:
  vote says_;
};

std::unique_ptr<plugin> voting(vote says) { return std::make_unique<votes>(says); }

using rows = std::vector<row>;

}  // namespace

TEST_CASE("victims: within a tier those that all allow; the first tier that leaves any decides") {
  const auto victims_of = [](std::vector<tier> plugins) {
    return written{}.with(std::move(plugins)).preemptable(0, {1, 2, 3});
  };
  CHECK(victims_of(tiers_of(tier_of(allow({1, 2}), allow({2, 3})))) == rows{2});
  CHECK(victims_of(tiers_of(tier_of(allow({1}), allow({})), tier_of(allow({3})))) == rows{3});
  CHECK(victims_of(tiers_of(tier_of(allow({1})), tier_of(allow({3})))) == rows{1});
  // Nothing in common is no decision: the plug-in after that begins anew.
  CHECK(victims_of(tiers_of(tier_of(allow({1}), allow({2}), allow({3})))) == rows{3});
  CHECK(victims_of(tiers_of(tier_of(make_predicates()))).empty());
}

TEST_CASE("votes: one rejection rejects, a tier with a permission ends the vote") {
  const auto let_in = [](std::vector<tier> plugins) {
    return written{}.with(std::move(plugins)).enqueue_refuser(0) == nullptr;
  };
  CHECK(let_in(tiers_of(tier_of(voting(vote::abstain)))));
  CHECK_FALSE(let_in(tiers_of(tier_of(voting(vote::permit), voting(vote::reject)))));
  CHECK(let_in(tiers_of(tier_of(voting(vote::permit)), tier_of(voting(vote::reject)))));
  CHECK_FALSE(let_in(tiers_of(tier_of(voting(vote::abstain)), tier_of(voting(vote::reject)))));
}

TEST_CASE("a point that is off is not asked") {
  std::vector<tier> plugins = tiers_of(tier_of(voting(vote::reject)));
  plugins[0][0].on.reset(static_cast<std::size_t>(point::job_enqueued));
  CHECK(written{}.with(std::move(plugins)).enqueue_refuser(0) == nullptr);
}

TEST_CASE("a heap whose order does not change gives things in order") {
  const auto less = [](int left, int right) { return left < right; };
  ordered_heap<int, decltype(less)> heap(less);
  for (const int one : {5, 1, 4, 1, 3}) heap.push(one);
  std::vector<int> popped;
  while (!heap.empty()) popped.push_back(heap.pop());
  CHECK(popped == std::vector<int>{1, 1, 3, 4, 5});
}

TEST_CASE("a statement that is discarded leaves nothing behind") {
  written w;
  const row n = w.node("n", 4);
  const row j = w.job("j", w.queue("q"), 1);
  const row running = w.task(j, 2, n);
  const row waiting = w.task(j, 2);
  session s = w.with(tiers_of(tier_of(make_gang(), make_proportion(), make_drf())));
  statement made(s);
  made.evict(running);
  CHECK(s.cluster().nodes[n].future_idle().cpu == 4000);
  made.pipeline(waiting, n);
  CHECK(s.cluster().nodes[n].future_idle().cpu == 2000);
  made.discard();
  CHECK(s.cluster().tasks[running].status == task_status::running);
  CHECK(s.cluster().tasks[waiting].status == task_status::pending);
  CHECK(s.cluster().tasks[waiting].node == no_row);
  CHECK(s.cluster().nodes[n].idle.cpu == 2000);
  CHECK(s.cluster().nodes[n].releasing.cpu == 0);
  CHECK(s.cluster().nodes[n].pipelined.cpu == 0);
}

TEST_CASE("allocate: a gang that does not fit whole is not placed, one behind it is") {
  written w;
  w.node("n", 4);
  const row q = w.queue("q");
  const row big = w.job("a-big", q, 3);
  for (int i = 0; i < 3; ++i) w.task(big, 2);
  const row small = w.job("b-small", q, 2);
  const rows tasks{w.task(small, 2), w.task(small, 2)};
  session s = w.with(tiers_of(tier_of(make_gang(), make_predicates())));
  const decisions made = allocate(s);
  REQUIRE(made.size() == 2);
  CHECK(made[0].task == tasks[0]);
  CHECK(made[1].task == tasks[1]);
  CHECK(s.cluster().nodes[0].idle.cpu == 0);
  CHECK(s.cluster().jobs[big].phase == job_phase::inqueue);
}

TEST_CASE("allocate: room that is being released is promised, and not committed") {
  written w;
  const row n = w.node("n", 2);
  const row q = w.queue("q");
  const row leaving = w.task(w.job("a", q, 1), 2, n);
  const row waiting = w.task(w.job("b", q, 1), 2);
  w.cluster.discharge(leaving);
  w.cluster.tasks[leaving].status = task_status::releasing;
  w.cluster.charge(leaving);
  session s = w.with(tiers_of(tier_of(make_gang(), make_predicates())));
  CHECK(allocate(s).empty());
  CHECK(s.cluster().tasks[waiting].status == task_status::pipelined);
}

TEST_CASE("the best node of a kind is the one that a look at all of them finds, whatever has changed") {
  std::mt19937 random(11);
  for (const std::size_t count : {1U, 2U, 3U, 5U, 16U, 37U}) {
    written w;
    for (std::size_t i = 0; i < count; ++i) w.node("n" + std::to_string(i), static_cast<double>(2 + random() % 4));
    const row job = w.job("job", w.queue("q"), 1);
    rows tasks;
    for (std::size_t i = 0; i < 4 * count; ++i) tasks.push_back(w.task(job, static_cast<double>(1 + random() % 2)));
    const row asks = w.task(job, 2);
    w.cluster.tasks[asks].kind = 0;
    session s = w.with(tiers_of(tier_of(make_predicates(), make_node_order({}))));
    for (int step = 0; step < 200; ++step) {
      cluster_state& cluster = s.cluster();
      task_state& one = cluster.tasks[tasks[random() % tasks.size()]];
      const row task = static_cast<row>(&one - cluster.tasks.data());
      if (one.node == no_row) {
        one.node = random() % count;
        one.status = random() % 3 == 0 ? task_status::pipelined : task_status::running;
        cluster.charge(task);
      } else if (one.status == task_status::running && random() % 2 == 0) {
        cluster.change_status(task, task_status::releasing);
      } else {
        cluster.discharge(task);
        one.node = no_row;
      }
      if (random() % 3 == 0) continue;
      const node_answers& answers = s.answers_for(asks);
      row best = no_row;
      for (row node = 0; node < count; ++node) best = answers.better(best, node);
      REQUIRE(answers.best() == best);
      REQUIRE((best == no_row || answers.nodes()[best].has_room_later));
    }
  }
}

TEST_CASE("proportion: parts by weight bound what a queue is given") {
  written w;
  w.node("n", 8);
  const row heavy = w.job("heavy", w.queue("q3", 3), 1);
  const row light = w.job("light", w.queue("q1", 1), 1);
  for (int i = 0; i < 8; ++i) w.task(heavy, 1);
  for (int i = 0; i < 8; ++i) w.task(light, 1);
  session s = w.with(tiers_of(tier_of(make_gang(), make_proportion(), make_predicates())));
  std::vector<int> given(2);
  for (const operation& one : allocate(s)) ++given[s.cluster().tasks[one.task].job];
  CHECK(given == std::vector<int>{6, 2});
}

TEST_CASE("preempt: the job of higher priority takes from the other one, and only what it lacks") {
  for (const bool by_trials : {false, true}) {
    CAPTURE(by_trials);
    written w;
    const row n = w.node("n", 4);
    const row q = w.queue("q");
    const row low = w.job("low", q, 1, 1);
    for (int i = 0; i < 4; ++i) w.task(low, 1, n);
    const row taker = w.task(w.job("high", q, 1, 9), 2);
    session s = w.with(tiers_of(tier_of(make_gang(), make_priority(), make_conformance(), make_predicates())));
    preemption_settings settings;
    settings.by_trials = by_trials;
    const decisions made = preempt(s, settings);
    REQUIRE(made.size() == 3);
    CHECK(made[0].what == deed::evict);
    CHECK(made[1].what == deed::evict);
    CHECK(made[2].what == deed::pipeline);
    CHECK(made[2].task == taker);
  }
}

TEST_CASE("preempt: a gang keeps as many tasks as it needs") {
  written w;
  const row n = w.node("n", 2);
  const row q = w.queue("q");
  const row low = w.job("low", q, 2, 1);
  w.task(low, 1, n);
  w.task(low, 1, n);
  const row taker = w.task(w.job("high", q, 1, 9), 1);
  session s = w.with(tiers_of(tier_of(make_gang(), make_priority())));
  CHECK(preempt(s).empty());
  CHECK(s.cluster().tasks[taker].status == task_status::pending);
}

TEST_CASE("reclaim: a queue takes back what it deserves, and leaves the other one its part") {
  written w;
  const row n = w.node("n", 4);
  const row rich = w.job("rich", w.queue("q-rich"), 1);
  for (int i = 0; i < 4; ++i) w.task(rich, 1, n);
  const row poor = w.job("poor", w.queue("q-poor"), 1);
  w.task(poor, 1);
  w.task(poor, 1);
  session s = w.with(tiers_of(tier_of(make_gang(), make_proportion(), make_predicates())));
  const decisions made = reclaim(s);
  REQUIRE(made.size() == 2);
  CHECK(made[0].what == deed::evict);
  CHECK(s.cluster().tasks[made[0].task].job == rich);
  CHECK(made[1].what == deed::pipeline);
  CHECK(s.cluster().tasks[made[1].task].job == poor);
}

TEST_CASE("enqueue: minimums are promised until the capability of the queue is reached") {
  written w;
  w.node("n", 8);
  const row q = w.queue("q");
  w.cluster.queues[q].capability = cpus(3);
  for (const char* name : {"a", "b", "c"}) {
    job_state& one = w.cluster.jobs[w.job(name, q, 1)];
    one.phase = job_phase::pending;
    one.min_resources = cpus(1.5);
    one.min_named = policy::resource_names{"cpu"};
  }
  for (const bool by_capacity : {false, true}) {
    written again;
    again.cluster = w.cluster;
    session s = again.with(tiers_of(tier_of(by_capacity ? make_capacity(0) : make_proportion())));
    CHECK(enqueue(s) == rows{0, 1});
    CHECK(s.cluster().jobs[2].phase == job_phase::pending);
  }
}

TEST_CASE("capacity: a queue is held to what the queues above it may have") {
  written w;
  w.node("n", 8);
  const row root = w.queue("root");
  const row above = w.queue("above");
  const row below = w.queue("below");
  w.cluster.queues[above].parent = "root";
  w.cluster.queues[above].capability = cpus(2);
  w.cluster.queues[below].parent = "above";
  const row j = w.job("j", below, 1);
  for (int i = 0; i < 4; ++i) w.task(j, 1);
  std::vector<tier> plugins = tiers_of(tier_of(make_gang(), make_capacity(0), make_predicates()));
  plugins[0][1].on.set(static_cast<std::size_t>(point::hierarchy));
  session s = w.with(std::move(plugins));
  CHECK(allocate(s).size() == 2);
  CHECK_FALSE(s.is_allocatable(root, 0));  // has queues below it
}

TEST_CASE("capacity: a queue holds no more devices of a class than it may, and a shared claim counts once") {
  for (const bool in_tree : {false, true}) {
    CAPTURE(in_tree);
    written w;
    w.node("n", 9);
    w.queue("root");
    const row above = w.queue("above");
    const row q = w.queue("q");
    w.cluster.queues[q].parent = "above";
    w.cluster.queues[in_tree ? above : q].most_devices = {{"gpu", 3}, {"any", 0}};
    const row j = w.job("j", q, 1);
    for (const char* claim : {"one", "one", "two", "three"}) {
      const row t = w.task(j, 1);
      w.cluster.tasks[t].claims = {{claim, {{"gpu", 2}}}};
    }
    w.cluster.tasks[2].claims = {{"two", {{"gpu", 1}, {"any", 9}, {"nic", 9}}}};
    std::vector<tier> plugins = tiers_of(tier_of(make_gang(), make_capacity(0), make_predicates()));
    plugins[0][1].on.set(static_cast<std::size_t>(point::hierarchy), in_tree);
    session s = w.with(std::move(plugins));
    CHECK(allocate(s).size() == 3);  // the first two share two devices, the third has the last one
    CHECK(s.cluster().tasks[3].status == task_status::pending);
    s.task_deallocated(0);
    CHECK_FALSE(s.is_allocatable(q, 3));  // the other one still holds the claim
    s.task_deallocated(1);
    CHECK(s.is_allocatable(q, 3));
  }
}

TEST_CASE("enqueue: devices that jobs need at least are promised too") {
  written w;
  w.node("n", 9);
  const row q = w.queue("q");
  w.cluster.queues[q].most_devices = {{"gpu", 5}};
  for (const char* name : {"a", "b", "c"}) {
    const row j = w.job(name, q, 2);
    w.cluster.jobs[j].phase = job_phase::pending;
    w.cluster.jobs[j].min_resources = cpus(1);  // others come in without a question
    w.cluster.jobs[j].min_named = policy::resource_names{"cpu"};
    for (int i = 0; i < 3; ++i) w.cluster.tasks[w.task(j, 1)].claims = {{name + std::to_string(i), {{"gpu", 1}}}};
  }
  // Two of any for the first job, and for the second one of a role; two more are too many.
  w.cluster.jobs[1].minimums.by_role = {{"worker", 2}};
  w.cluster.tasks[4].role = "worker";
  session s = w.with(tiers_of(tier_of(make_capacity(0))));
  CHECK(enqueue(s) == rows{0, 1});
}

TEST_CASE("backfill: tasks that ask for nothing are placed") {
  written w;
  w.node("n", 1);
  const row t = w.task(w.job("j", w.queue("q"), 1), 0);
  w.cluster.tasks[t].best_effort = true;
  session s = w.with(tiers_of(tier_of(make_gang(), make_predicates())));
  CHECK(allocate(s).empty());
  REQUIRE(backfill(s).size() == 1);
  CHECK(s.cluster().tasks[t].status == task_status::binding);
}

TEST_CASE("allocate: a job that must stay in one domain does, the lowest that has room") {
  written w;
  for (const char* name : {"a1", "a2", "b1"}) w.node(name, 2);
  const std::vector<policy::domain_declaration> declared{
      {"a", 1, {"a1", "a2"}, {}}, {"b", 1, {"b1"}, {}}, {"top", 2, {}, {"a", "b"}}};
  w.cluster.domains = policy::network_domains(declared);
  w.cluster.top_domain = "top";
  const row j = w.job("j", w.queue("q"), 2);
  w.task(j, 2);
  w.task(j, 2);
  for (policy::distance_limit* limit : {&w.cluster.jobs[j].topology, &w.cluster.jobs[j].sub_jobs[0].topology}) {
    *limit = {true, 1};
  }
  w.cluster.jobs[j].has_topology = true;
  w.cluster.jobs[j].sub_jobs[0].has_topology = true;
  session s = w.with(tiers_of(tier_of(make_gang(), make_predicates(), make_network({}))));
  CHECK(allocate(s).size() == 2);
  CHECK(s.cluster().jobs[j].allocated_domain == "a");
  CHECK(s.cluster().nodes[2].idle.cpu == 2000);
}

TEST_CASE("gang_preempt: what can be spared, then what ends a job, or nothing") {
  written w;
  const row a = w.node("a", 2);
  const row b = w.node("b", 2);
  const row q = w.queue("q");
  const row spare = w.job("spare", q, 1, 1);
  for (const row node : {a, b}) w.task(spare, 1, node);
  const row tight = w.job("tight", q, 2, 1);
  for (const row node : {a, b}) w.task(tight, 1, node);
  const row high = w.job("high", q, 1, 5);
  w.task(high, 2);
  const auto plugins = [] { return tiers_of(tier_of(make_gang(), make_priority(), make_predicates())); };
  written kept;
  kept.cluster = w.cluster;
  session s = w.with(plugins());
  // What `spare` can spare is not enough, and `tight`, which would come last, ends.
  const decisions made = gang_preempt(s);
  REQUIRE(made.size() == 4);
  CHECK(made[0].task == 0);
  CHECK(made[1].task == 2);
  CHECK(made[2].task == 3);
  CHECK(made[3].what == deed::pipeline);
  CHECK(made[3].node == a);
  CHECK(made[3].last);
  CHECK(s.cluster().tasks[1].status == task_status::running);
  // A job loses nothing that it cannot run without: nobody leaves.
  session t = kept.with(plugins());
  CHECK(gang_preempt(t, {8, false}).empty());
  CHECK(t.cluster().tasks[0].status == task_status::running);
  CHECK(t.cluster().nodes[a].releasing.cpu == 0);
}

TEST_CASE("capacity: a queue loses to gangs what it has beyond what it deserves") {
  written w;
  const row n = w.node("n", 4);
  const row rich = w.queue("rich");
  const row poor = w.queue("poor");
  w.cluster.queues[rich].deserved = cpus(2);
  w.cluster.queues[poor].deserved = cpus(2);
  const row j = w.job("j", rich, 1);
  for (int i = 0; i < 4; ++i) w.task(j, 1, n);
  const row k = w.job("k", poor, 2);
  for (int i = 0; i < 2; ++i) w.task(k, 1);
  session s = w.with(tiers_of(tier_of(make_gang(), make_priority(), make_capacity(0))));
  CHECK(s.evictable(k, taking::reclaim, {0, 1, 2, 3}) == rows{0, 1});
  CHECK(s.evictable(k, taking::preempt, {0, 1}).empty());  // of no lower priority
  CHECK(s.is_preemptive(poor, {4, 5}));
  CHECK_FALSE(s.is_preemptive(poor, {3, 4, 5}));
  CHECK(gang_reclaim(s).size() == 4);
}

TEST_CASE("task-topology: a node is worth the tasks that are, or would be, together there") {
  written w;
  const row wide = w.node("wide", 4);
  const row narrow = w.node("narrow", 2);
  const row j = w.job("j", w.queue("q"), 1);
  for (const char* role : {"server", "worker", "worker", "other"}) w.cluster.tasks[w.task(j, 1)].role = role;
  w.cluster.jobs[j].roles.together = "server,worker";
  const auto points_of = [](std::int64_t earned, std::int64_t largest) {
    return 100.0 * static_cast<double>(earned) / static_cast<double>(largest);
  };
  using scores = std::vector<double>;
  SUBCASE("all of them in one bucket") {
    session s = w.with(tiers_of(tier_of(make_task_topology(1))));
    CHECK_FALSE(s.judges_by_kind());
    CHECK(s.node_scores(0, {wide, narrow}) == scores{points_of(3, 3), points_of(2, 3)});
    CHECK(s.node_scores(3, {wide, narrow}) == scores{0, 0});
    CHECK(s.task_before(1, 3));
    statement made(s);
    made.allocate(0, narrow);
    // One is there, one waits beside this one; there is room for one, on the other node for both.
    CHECK(s.node_scores(1, {wide, narrow}) == scores{points_of(2, 3), points_of(2, 3)});
    made.allocate(1, narrow);
    CHECK(s.node_scores(2, {wide, narrow}) == scores{points_of(1, 3), 0});
    made.discard();
    CHECK(s.node_scores(0, {wide, narrow}) == scores{points_of(3, 3), points_of(2, 3)});
  }
  SUBCASE("workers apart from each other") {
    w.cluster.jobs[j].roles.apart = "worker";
    session s = w.with(tiers_of(tier_of(make_task_topology(1))));
    // The server is with the first of the workers, which are in buckets of their own.
    CHECK(s.node_scores(1, {wide}) == scores{points_of(2, 2)});
    CHECK(s.node_scores(2, {wide}) == scores{points_of(1, 2)});
    CHECK(s.task_before(0, 2));
    CHECK(s.task_before(1, 0));  // whose role is apart from itself counts for more
    statement made(s);
    made.allocate(1, wide);
    CHECK(s.node_scores(2, {wide, narrow}) == scores{0, points_of(1, 2)});
  }
  SUBCASE("roles that are not there, or twice in a set, say nothing at all") {
    w.cluster.jobs[j].roles.apart = "worker;gone";
    CHECK(w.with(tiers_of(tier_of(make_task_topology(1)))).judges_by_kind());
  }
  SUBCASE("an order of its own") {
    w.cluster.jobs[j].roles.order = "worker,server";
    session s = w.with(tiers_of(tier_of(make_task_topology(1))));
    CHECK(s.task_before(1, 0));
  }
}

}  // namespace kaisched::volcano
