// Groups of which only the core is not preemptible: the column, and what queues count while pods come and go.
#include "rows.hpp"
#include "support.hpp"

namespace of_test_semi_preemptible {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::change;
using test::must;
using test::numbers;
using test::remove;

namespace {

/// A queue with a quota of three GPUs; a group of five pods of one GPU, of which two are its core, and a group with one
/// pod that cannot be preempted and asks for `gpus`.
cluster serving(std::int64_t gpus, pod_status status) {
  cluster c;
  must(c.apply(add(kind::queue, {"name", "quota"}).add({"q", numbers{-1, -1, 3000}})));
  must(c.apply(add(kind::node, {"name", "capacity"}).add({"n", numbers{64'000, 0, 8000, 20}})));
  must(c.apply(add(kind::pod_group, {"name", "queue", "semi_preemptible", "min_member", "preemptible"})
                   .add({"g", "q", 1, 2, 1})
                   .add({"firm", "q", 0, 1, 0})));
  auto pods = add(kind::pod, {"name", "group", "request", "status", "node"});
  const char* where = status == pod_status::pending ? "" : "n";
  for (const char* name : {"g-0", "g-1", "g-2", "g-3", "g-4"})
    pods.add({name, "g", numbers{0, 0, 1000, 1}, status, where});
  pods.add({"firm-0", "firm", numbers{0, 0, gpus * 1000, 1}, pod_status::pending, ""});
  must(c.apply(pods));
  return c;
}

std::pair<int, int> flags(cluster& c) {
  const table t = must(c.take_snapshot().to_table(kind::pod_group));  // "firm" sorts first
  return {t.view().find(col::pod_group_preemptible)->values<std::uint8_t>(2)[1],
          t.view().find(col::pod_group_semi_preemptible)->values<std::uint8_t>(2)[1]};
}

/// The pod of "firm" would be started now.
bool firm_starts(cluster& c) {
  const session s = must(engine().run(c.take_snapshot(), 0));
  CHECK(s.check().ok());
  const snapshot& of = s.base();
  return std::any_of(s.decisions().begin(), s.decisions().end(), [&](const decision& d) {
    return d.kind == decision_kind::bind && of.group_name(d.group) == "firm";
  });
}

}  // namespace

TEST_CASE("semi-preemptible stands for not preemptible as a whole") {
  cluster c = serving(1, pod_status::running);
  CHECK(flags(c) == std::pair(0, 1));
  must(c.apply(change(kind::pod_group, {"name", "preemptible"}).add({"g", 1})));
  CHECK(flags(c) == std::pair(0, 1));
  must(c.apply(change(kind::pod_group, {"name", "semi_preemptible", "preemptible"}).add({"g", 0, 1})));
  CHECK(flags(c) == std::pair(1, 0));
  must(c.apply(change(kind::pod_group, {"name", "semi_preemptible"}).add({"g", 1})));
  CHECK(flags(c) == std::pair(0, 1));
  must(c.apply(change(kind::pod_group, {"name", "semi_preemptible"}).add({"g", 0})));
  CHECK(flags(c) == std::pair(0, 0));
  const auto refused = c.apply(change(kind::pod_group, {"name", "semi_preemptible"}).add({"g", 2}));
  CHECK_FALSE(refused.ok());
  const snapshot s = c.take_snapshot();
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
}

TEST_CASE("queues count the core, and follow every change of the group") {
  cluster one = serving(1, pod_status::running);
  CHECK(firm_starts(one));
  cluster two = serving(2, pod_status::running);
  CHECK_FALSE(firm_starts(two));
  must(two.apply(change(kind::pod_group, {"name", "min_member"}).add({"g", 1})));
  CHECK(firm_starts(two));
  must(two.apply(change(kind::pod_group, {"name", "min_member"}).add({"g", 2})));
  CHECK_FALSE(firm_starts(two));
  must(two.apply(change(kind::pod_group, {"name", "semi_preemptible", "preemptible"}).add({"g", 0, 1})));
  CHECK(firm_starts(two));
  must(two.apply(change(kind::pod_group, {"name", "semi_preemptible"}).add({"g", 1})));
  CHECK_FALSE(firm_starts(two));
  for (const char* name : {"g-0", "g-1", "g-2", "g-3"}) must(two.apply(remove(kind::pod, {"name"}).add({name})));
  CHECK(firm_starts(two));  // one pod is left, and it is the core
  must(two.apply(remove(kind::pod, {"name"}).add({"g-4"})));
  must(two.apply(remove(kind::pod_group, {"name"}).add({"g"})));
  CHECK(firm_starts(two));
}

TEST_CASE("every operation of a session keeps the count, and undoing it brings the count back") {
  cluster c = serving(1, pod_status::pending);
  session s = must(engine().open(c.take_snapshot(), 0));
  const std::string before = s.state_digest();
  for (pod_row p = 0; p < 5; ++p) {
    const checkpoint here = s.mark();
    const std::string digest = s.state_digest();
    CHECK(must(s.allocate(p, 0)));
    CHECK(s.check().ok());
    must(s.rollback(here));
    CHECK(s.state_digest() == digest);
    CHECK(must(s.allocate(p, 0)));
  }
  session question = s.fork();
  CHECK(question.check().ok());
  must(question.rollback(checkpoint{}));
  CHECK(question.state_digest() == before);
  must(s.commit());
  const checkpoint committed = s.mark();
  const std::string placed = s.state_digest();
  for (const pod_row p : {0U, 3U, 1U}) {
    const checkpoint here = s.mark();
    const std::string digest = s.state_digest();
    must(s.evict(p));
    CHECK(s.check().ok());
    must(s.rollback(here));
    CHECK(s.state_digest() == digest);
    must(s.evict(p));
  }
  CHECK(s.check().ok());
  CHECK(must(s.pipeline(0, 0)));
  CHECK(s.check().ok());
  must(s.rollback(committed));
  CHECK(s.state_digest() == placed);
}

}  // namespace of_test_semi_preemptible
