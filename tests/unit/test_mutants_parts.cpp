// What a part sees of a session, and what becomes of a part that fails.
#include "support.hpp"

namespace of_test_mutants_parts {

using namespace kaisched;
using test::builder;
using test::lines;
using test::must;
using strings = std::vector<std::string>;

namespace {

/// Fails when it is asked for an order for the N-th time, or for nodes if N is 0.
template <int N>
class failing final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "failing"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return N > 0 ? part_orders_groups : part_filters_nodes;
  }
  result<void> order_groups(const session_view&, std::span<const group_row>, std::span<order_key>) override {
    return ++calls_ == N ? result<void>(error{status::plugin, "no order", {}}) : result<void>();
  }
  result<void> filter_nodes(const session_view&, pod_row, std::span<const node_row>, std::span<constraint>) override {
    return error{status::plugin, "no nodes", {}};
  }

 private:
  int calls_ = 0;
};

template <int N>
std::unique_ptr<policy_part> make_failing(const policy_options&) {
  return std::make_unique<failing<N>>();
}

/// Orders by both keys: odd groups before even ones, and among them the larger row first.
class two_keys final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "two-keys"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const int digit = view.group_name(groups[i]).back() - '0';
      keys[i] = {digit % 2 == 0 ? 1 : 0, -digit};
    }
    return {};
  }
};

/// Offers nothing: the engine asks it for nothing.
class idle final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "idle"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return 0; }
};

engine with(const char* name, part_factory factory, const char* mode = "strict") {
  engine e;
  must(e.register_part(name, factory));
  must(e.set("parts", std::string(name) + ",predicates,proportion,nodeavailability"));
  must(e.set("mode", mode));
  return e;
}

builder five_groups() {
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 8};
  for (int i = 1; i <= 5; ++i) b.gang("g" + std::to_string(i), "q", 1);
  return b;
}

}  // namespace

TEST_CASE("a part that fails to order groups or to filter nodes ends the session with its error, whenever it happens") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 8} << builder::group{"g", "q", 1};
  for (const char* name : {"g-0", "g-1", "g-2"}) b << builder::pod{name, "g"};
  const snapshot base = b.take();
  for (const char* mode : {"strict", "compat"}) {
    const auto first = with("failing", make_failing<1>, mode).run(base, 0);  // when the queue is filled
    REQUIRE_FALSE(first.ok());
    CHECK(first.failure().message == "no order");
    const auto second = with("failing", make_failing<2>, mode).run(base, 0);  // when the group competes again
    REQUIRE_FALSE(second.ok());
    CHECK(second.failure().message == "no order");
    CHECK(with("failing", make_failing<4>, mode).run(base, 0).ok());  // three pods, three times asked
    const auto nodes = with("failing", make_failing<0>, mode).run(base, 0);
    REQUIRE_FALSE(nodes.ok());
    CHECK(nodes.failure().message == "no nodes");
  }
}

TEST_CASE("a part that fails inside a tree of sub-groups ends the session as well") {
  cluster c;
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 8} << builder::group{"g", "q", 1};
  b << builder::pod{"a-0", "g", 1000, "", 1000, "a"} << builder::pod{"b-0", "g", 1000, "", 1000, "b"};
  b.apply_to(c);
  table subs(table_kind::sub_group, table_op::add);
  auto& group = subs.add(col::sub_group_group, column_type::string);
  auto& name = subs.add(col::sub_group_name, column_type::string);
  auto& min = subs.add(col::sub_group_min_member, column_type::i64);
  for (const char* sub : {"a", "b"}) {
    group.push(std::string_view("g"));
    name.push(std::string_view(sub));
    min.push(std::int64_t{1});
  }
  must(c.apply(subs));
  const auto ran = with("failing", make_failing<0>).run(c.take_snapshot(), 0);
  REQUIRE_FALSE(ran.ok());
  CHECK(ran.failure().message == "no nodes");
  CHECK(lines(must(engine().run(c.take_snapshot(), 0))) == strings{"bind a-0 n", "bind b-0 n"});
}

TEST_CASE("keys of a part: the first decides, then the second, then age") {
  for (const char* mode : {"strict", "compat"}) {
    const engine e = with(
        "two-keys", [](const policy_options&) -> std::unique_ptr<policy_part> { return std::make_unique<two_keys>(); },
        mode);
    CHECK(lines(must(e.run(five_groups().take(), 0))) ==
          strings{"bind g5-0 n", "bind g3-0 n", "bind g1-0 n", "bind g4-0 n", "bind g2-0 n"});
    const engine none = with(
        "idle", [](const policy_options&) -> std::unique_ptr<policy_part> { return std::make_unique<idle>(); }, mode);
    CHECK(lines(must(none.run(five_groups().take(), 0))) ==
          strings{"bind g1-0 n", "bind g2-0 n", "bind g3-0 n", "bind g4-0 n", "bind g5-0 n"});
  }
}

TEST_CASE("a view shows the cluster as the session has it at this moment") {
  builder b;
  b << builder::queue{"root", "", 6} << builder::queue{"q", "root", 3};
  b << builder::node{"n1", 4, 8, {"zone", "a", "empty", ""}} << builder::node{"n2", 2, 4, {}, {}, false};
  b << builder::group{"old", "q", 1, 70, 5, false} << builder::pod{"old-0", "old", 1000, "n1", 2000};
  b << builder::pod{"old-1", "old", 2000, "n1", 1000, "", {}, {}, {}, {}, {}, pod_status::releasing};
  b << builder::group{"new", "q", 1, 30, 9} << builder::pod{"new-0", "new", 500, "", 4000};
  const snapshot base = b.take();
  session s = must(engine().open(base, 77));
  const session_view v = s.view();
  const auto pod = [&](const char* name) { return test::pod_by_name(base, name); };
  const node_row n1 = test::node_by_name(base, "n1");
  const node_row n2 = test::node_by_name(base, "n2");
  const std::uint32_t dims = v.dimension_count();
  REQUIRE(dims == 4);
  const auto amount = [&](std::span<const std::int64_t> all, node_row n, dimension d) { return all[n * dims + d]; };

  CHECK(v.now() == 77);
  CHECK(v.node_count() == 2);
  CHECK(strings{std::string(v.dimension_name(0)), std::string(v.dimension_name(1)), std::string(v.dimension_name(2)),
                std::string(v.dimension_name(3))} == strings{"cpu", "memory", "gpu", "pods"});
  CHECK(v.node_name(n1) == "n1");
  bool found = false;
  CHECK(v.node_label(n1, "zone", &found) == "a");
  CHECK(found);
  CHECK(v.node_label(n1, "empty", &found).empty());
  CHECK(found);
  CHECK(v.node_label(n1, "absent", &found).empty());
  CHECK_FALSE(found);
  CHECK(v.node_label(n1, "zone") == "a");
  CHECK(v.node_label(n1, "absent").empty());
  CHECK(v.node_ready(n1));
  CHECK_FALSE(v.node_ready(n2));
  CHECK_FALSE(v.node_unschedulable(n1));

  CHECK(amount(v.node_capacity(), n1, dim_gpu) == 4000);
  CHECK(amount(v.node_idle(), n1, dim_gpu) == 1000);
  CHECK(amount(v.node_releasing(), n1, dim_gpu) == 2000);
  CHECK(amount(v.node_idle(), n2, dim_cpu) == 4000);

  CHECK(v.pod_name(pod("new-0")) == "new-0");
  CHECK(v.pod_request(pod("new-0"))[dim_gpu] == 500);
  CHECK(v.pod_request(pod("new-0"))[dim_cpu] == 4000);
  CHECK(v.pod_class(pod("new-0")) != v.pod_class(pod("old-0")));
  CHECK(v.status_of(pod("old-0")) == pod_status::running);
  CHECK(v.status_of(pod("old-1")) == pod_status::releasing);
  CHECK(v.node_of(pod("old-0")) == n1);
  CHECK(v.node_of(pod("new-0")) == no_row);

  const group_row old = v.pod_group(pod("old-0"));
  const group_row fresh = v.pod_group(pod("new-0"));
  CHECK(v.group_name(old) == "old");
  CHECK(v.group_priority(old) == 70);
  CHECK(v.group_priority(fresh) == 30);
  CHECK_FALSE(v.group_preemptible(old));
  CHECK(v.group_preemptible(fresh));
  CHECK(v.group_created(old) == 5);
  CHECK(v.group_created(fresh) == 9);

  const queue_row q = v.group_queue(old);
  CHECK(v.queue_name(q) == "q");
  const queue_row root = v.queue_parent(q);
  CHECK(v.queue_name(root) == "root");
  CHECK(v.queue_parent(root) == no_row);
  CHECK(v.queue_allocated(q)[2] == 1000);  // what is leaving is charged no longer
  CHECK(v.queue_allocated(root)[0] == 2000);
  CHECK(v.queue_fair_share(q)[2] == 1500);
  must(s.run());
  CHECK(v.status_of(pod("new-0")) == pod_status::binding);
  CHECK(v.node_of(pod("new-0")) == n1);
  CHECK(amount(v.node_idle(), n1, dim_gpu) == 500);
  CHECK(v.queue_allocated(q)[2] == 1500);
}

TEST_CASE("a cordoned node says so") {
  cluster c;
  builder b;
  b << builder::node{"n1"} << builder::node{"n2"};
  b.apply_to(c);
  table t(table_kind::node, table_op::change);
  t.add(col::node_name, column_type::string).push(std::string_view("n2"));
  t.add(col::node_unschedulable, column_type::u8).push(std::uint8_t{1});
  must(c.apply(t));
  const session s = must(engine().open(c.take_snapshot(), 0));
  CHECK_FALSE(s.view().node_unschedulable(test::node_by_name(s.base(), "n1")));
  CHECK(s.view().node_unschedulable(test::node_by_name(s.base(), "n2")));
  CHECK(s.view().node_ready(test::node_by_name(s.base(), "n2")));
}

// ---- cancelling --------------------------------------------------------------------------------------------------

namespace {

/// The session whose action ends when the part has been asked about so many pods.
struct {
  const session* victim = nullptr;
  int left = 0;
} cancelling;

class canceller final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "canceller"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_filters_nodes; }
  result<void> filter_nodes(const session_view&, pod_row, std::span<const node_row>, std::span<constraint>) override {
    if (cancelling.victim != nullptr && --cancelling.left == 0) cancelling.victim->cancel();
    return {};
  }
};

std::unique_ptr<policy_part> make_canceller(const policy_options&) { return std::make_unique<canceller>(); }

}  // namespace

TEST_CASE("an action that is cancelled in the middle keeps what it has committed and undoes the rest") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 16};
  for (int i = 1; i <= 4; ++i) b.gang("g" + std::to_string(i), "q", 3);
  const snapshot base = b.take();
  for (const char* mode : {"strict", "compat"}) {
    const engine e = with("canceller", make_canceller, mode);
    session whole = must(e.open(base, 0));
    must(whole.run("allocate"));
    REQUIRE(whole.decisions().size() == 12);
    session cut = must(e.open(base, 0));
    cancelling = {&cut, 5};  // the second pod of the second gang has a place by then
    const result<void> ended = cut.run("allocate");
    cancelling = {};
    REQUIRE_FALSE(ended.ok());
    CHECK(ended.failure().code == status::cancelled);
    CHECK(cut.decisions().size() == 3);
    CHECK(cut.mark().depth == 0);
    must(cut.check());
    must(cut.run("allocate"));  // goes on where it was
    CHECK(cut.digest() == whole.digest());
    CHECK(cut.state_digest() == whole.state_digest());
  }
}

TEST_CASE("a search for victims that is cancelled in the middle leaves nothing behind") {
  builder b;
  b << builder::queue{"q"} << builder::node{"n", 4} << builder::group{"low", "q", 1, 25};
  for (int i = 0; i < 4; ++i) b << builder::pod{"low-" + std::to_string(i), "low", 1000, "n"};
  b << builder::group{"high", "q", 2, 75, 1} << builder::pod{"high-0", "high"} << builder::pod{"high-1", "high"};
  const snapshot base = b.take();
  for (const std::string mode : {"strict", "compat"}) {
    CAPTURE(mode);
    engine e;
    must(e.register_part("canceller", make_canceller));
    must(e.set("parts", "canceller," + must(e.get("parts"))));
    must(e.set("mode", mode));
    session whole = must(e.open(base, 0));
    must(whole.run("preempt"));
    REQUIRE_FALSE(whole.decisions().empty());
    bool ran_through = false;
    for (int asked = 1; !ran_through && asked < 100; ++asked) {
      CAPTURE(asked);
      session cut = must(e.open(base, 0));
      const std::string before = cut.state_digest();
      cancelling = {&cut, asked};
      const result<void> ended = cut.run("preempt");
      cancelling = {};
      ran_through = ended.ok();
      if (ran_through) break;
      CHECK(ended.failure().code == status::cancelled);
      CHECK(cut.mark().depth == 0);
      if (cut.decisions().empty()) CHECK(cut.state_digest() == before);
      must(cut.check());
      must(cut.run("preempt"));
      CHECK(cut.digest() == whole.digest());
    }
    CHECK(ran_through);
  }
}

}  // namespace of_test_mutants_parts
