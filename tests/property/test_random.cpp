// Random clusters: sums equal a recount after every delta, undo restores bytes, and what a session must remember is in
// the snapshot.
#include <algorithm>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "io/recording.hpp"
#include "io/scenario/scenario.hpp"
#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_random {

using namespace kaisched;
using test::builder;
using test::draw;
using test::got;

namespace {

/// A cluster with running, releasing and pending pods; nodes may be overcommitted.
builder random_cluster() {
  builder b;
  b << builder::queue{"root", "", draw(-1, 8)};
  const int queues = draw(1, 3);
  for (int q = 0; q < queues; ++q) {
    b << builder::queue{
        "q" + std::to_string(q),           draw(0, 1) == 0 ? "" : "root",   draw(-1, 4),
        draw(0, 3) == 0 ? draw(1, 6) : -1, static_cast<double>(draw(0, 3)), draw(0, 1) == 0 ? 100 : 200};
  }
  const int nodes = draw(1, 5);
  for (int n = 0; n < nodes; ++n) {
    b << builder::node{"n" + std::to_string(n), draw(0, 4), draw(1, 8), {"zone", std::to_string(draw(0, 1))}, {},
                       draw(0, 9) != 0};
  }
  const int groups = draw(1, 8);
  for (int g = 0; g < groups; ++g) {
    const std::string name = "g" + std::to_string(g);
    const int pods = draw(1, 4);
    b << builder::group{
        name, "q" + std::to_string(draw(0, queues - 1)), draw(1, pods), draw(0, 2) * 50, draw(0, 5), draw(0, 3) != 0};
    const std::int64_t gpu =
        std::vector<std::int64_t>{0, 1000, 1000, 2000, 500, 300}[static_cast<std::size_t>(draw(0, 5))];
    for (int p = 0; p < pods; ++p) {
      builder::pod pod{name + "-" + std::to_string(p), name, gpu, "", draw(1, 4) * 500};
      if (draw(0, 2) == 0) {
        pod.node = "n" + std::to_string(draw(0, nodes - 1));
        pod.status = std::vector<pod_status>{pod_status::running, pod_status::bound, pod_status::releasing,
                                             pod_status::stuck_in_releasing,
                                             pod_status::pipelined}[static_cast<std::size_t>(draw(0, 4))];
      }
      if (draw(0, 5) == 0) pod.node_selector = {"zone", std::to_string(draw(0, 1))};
      b << pod;
    }
  }
  return b;
}

void apply(cluster& c, const builder& b) {
  for (const table& t : b.tables()) got(c.apply(t));
}

void equal_to_recount(const snapshot& s) {
  model::cluster_state copy = model::state_of(s);
  model::recount(copy);
  RC_ASSERT(*copy.live.idle == *model::state_of(s).live.idle);
  RC_ASSERT(*copy.live.releasing == *model::state_of(s).live.releasing);
  RC_ASSERT(*copy.live.device_free == *model::state_of(s).live.device_free);
  RC_ASSERT(*copy.live.device_releasing == *model::state_of(s).live.device_releasing);
  RC_ASSERT(*copy.live.queue_allocated == *model::state_of(s).live.queue_allocated);
  RC_ASSERT(*copy.live.queue_nonpreemptible == *model::state_of(s).live.queue_nonpreemptible);
  RC_ASSERT(*copy.live.queue_request == *model::state_of(s).live.queue_request);
  RC_ASSERT(*copy.live.by_gpu == *model::state_of(s).live.by_gpu);
  RC_ASSERT(*copy.live.by_cpu == *model::state_of(s).live.by_cpu);
  for (sub_group_row sub = 0; sub < model::state_of(s).sub_slots; ++sub) {
    RC_ASSERT(copy.live.counts[sub] == model::state_of(s).live.counts[sub]);
  }
}

table change(table_kind kind, table_op op) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op));
}

/// One small delta, possibly refused.
table random_delta(const builder& b) {
  const builder::pod& pod = b.pods[static_cast<std::size_t>(draw(0, static_cast<int>(b.pods.size()) - 1))];
  switch (draw(0, 6)) {
    case 0: {
      table t = change(table_kind::pod, table_op::remove);
      t.add(col::pod_name, column_type::string).push(std::string_view(pod.name));
      return t;
    }
    case 1: {
      table t = change(table_kind::pod, table_op::change);
      t.add(col::pod_name, column_type::string).push(std::string_view(pod.name));
      t.add(col::pod_status_column, column_type::u8).push(static_cast<std::uint8_t>(pod_status::running));
      t.add(col::pod_node, column_type::string).push(std::string_view("n" + std::to_string(draw(0, 4))));
      return t;
    }
    case 2: {
      table t = change(table_kind::pod, table_op::change);
      t.add(col::pod_name, column_type::string).push(std::string_view(pod.name));
      t.add(col::pod_status_column, column_type::u8).push(static_cast<std::uint8_t>(draw(0, 1)));
      t.add(col::pod_priority, column_type::i64).push(static_cast<std::int64_t>(draw(0, 3)));
      return t;
    }
    case 3: {
      table t = change(table_kind::pod_group, table_op::change);
      t.add(col::pod_group_name, column_type::string).push(std::string_view(pod.group));
      t.add(col::pod_group_queue, column_type::string).push(std::string_view("q" + std::to_string(draw(0, 2))));
      t.add(col::pod_group_priority, column_type::i64).push(static_cast<std::int64_t>(draw(0, 3)));
      t.add(col::pod_group_preemptible, column_type::u8).push(static_cast<std::uint8_t>(draw(0, 1)));
      return t;
    }
    case 4: {
      table t = change(table_kind::queue, table_op::change);
      t.add(col::queue_name, column_type::string).push(std::string_view("q" + std::to_string(draw(0, 2))));
      t.add(col::queue_parent, column_type::string).push(std::string_view(draw(0, 1) == 0 ? "" : "q0"));
      return t;
    }
    case 5: {
      table t = change(table_kind::node, table_op::change);
      t.add(col::node_name, column_type::string).push(std::string_view("n" + std::to_string(draw(0, 4))));
      auto& capacity = t.add(col::node_capacity, column_type::i64, 4);
      for (const int x : {draw(1, 8) * 1000, 1'000'000'000, draw(0, 4) * 1000, 110})
        capacity.push(static_cast<std::int64_t>(x));
      return t;
    }
    default: {
      table t = change(table_kind::node, draw(0, 1) == 0 ? table_op::add : table_op::remove);
      t.add(col::node_name, column_type::string).push(std::string_view("n" + std::to_string(draw(0, 6))));
      auto& capacity = t.add(col::node_capacity, column_type::i64, 4);
      for (const int x : {4000, 1'000'000'000, 2000, 110}) capacity.push(static_cast<std::int64_t>(x));
      return t;
    }
  }
}

/// Carries decisions into the cluster as a host would.
void carry_out(cluster& c, const session& s) {
  table t = change(table_kind::pod, table_op::change);
  auto& name = t.add(col::pod_name, column_type::string);
  auto& state = t.add(col::pod_status_column, column_type::u8);
  auto& node = t.add(col::pod_node, column_type::string);
  for (const decision& d : s.decisions()) {
    if (d.kind != decision_kind::bind) continue;
    name.push(s.base().pod_name(d.pod));
    state.push(static_cast<std::uint8_t>(pod_status::running));
    node.push(s.base().node_name(d.node));
  }
  got(c.apply(t));
}

}  // namespace

TEST_CASE("sums equal a recount after every delta") {
  CHECK(rc::check([] {
    const builder b = random_cluster();
    cluster c;
    apply(c, b);
    equal_to_recount(c.take_snapshot());
    for (int i = 0; i < 12; ++i) {
      const snapshot before = c.take_snapshot();
      const std::string digest = before.digest();
      const table delta = random_delta(b);
      const auto applied = c.apply(delta);
      if (!applied.ok()) RC_ASSERT(c.take_snapshot().digest() == digest);
      RC_ASSERT(before.digest() == digest);
      equal_to_recount(c.take_snapshot());
    }
    const snapshot last = c.take_snapshot();
    RC_ASSERT(got(snapshot::load(last.save())).digest() == last.digest());
  }));
}

TEST_CASE("undo restores the state, whatever was done") {
  CHECK(rc::check([] {
    const snapshot base = random_cluster().take();
    session s = got(engine().open(base, 0));
    for (const pod_row p : {0U, 1U, 2U, 3U}) {
      if (p < base.count(entity_kind::pod)) {
        RC_LOG() << base.pod_name(p) << " " << pod_status_name(s.view().status_of(p)) << " on "
                 << (s.view().node_of(p) == no_row ? "-" : base.node_name(s.view().node_of(p))) << " gpu "
                 << s.view().pod_request(p)[dim_gpu] << "\n";
      }
    }
    std::vector<std::pair<checkpoint, std::string>> marks;
    for (int i = 0; i < 15; ++i) {
      marks.emplace_back(s.mark(), s.state_digest());
      const auto pod = static_cast<pod_row>(draw(0, static_cast<int>(base.count(entity_kind::pod)) - 1));
      const auto node = static_cast<node_row>(draw(0, static_cast<int>(base.count(entity_kind::node)) - 1));
      const int step = draw(0, 3);
      RC_LOG() << "step " << step << ": " << base.pod_name(pod) << " " << base.node_name(node) << "\n";
      switch (step) {
        case 0:
          (void)s.allocate(pod, node);
          break;
        case 1:
          (void)s.pipeline(pod, node);
          break;
        case 2:
          (void)s.evict(pod);
          break;
        default: {
          const auto back = static_cast<std::size_t>(draw(0, static_cast<int>(marks.size()) - 1));
          got(s.rollback(marks[back].first));
          RC_ASSERT(s.state_digest() == marks[back].second);
          marks.resize(back + 1);
        }
      }
      got(s.check());
    }
    got(s.rollback(marks.front().first));
    RC_ASSERT(s.state_digest() == marks.front().second);
  }));
}

TEST_CASE("indexes decide as the scan of all nodes does, and forks as their origin") {
  CHECK(rc::check([] {
    const snapshot base = random_cluster().take();
    for (const char* mode : {"compat", "strict"}) {
      for (const char* placement : {"binpack", "spread"}) {
        engine fast;
        got(fast.set("mode", mode));
        got(fast.set("placement.gpu", placement));
        got(fast.set("placement.cpu", placement));
        engine slow = engine(fast.options());
        got(slow.set("reference_path", "true"));
        const session one = got(fast.run(base, 0));
        got(one.check());
        const session other = got(slow.run(base, 0));
        RC_ASSERT(test::lines(one) == test::lines(other));
        session fork = got(fast.open(base, 0)).fork();
        got(fork.run());
        RC_ASSERT(fork.digest() == one.digest());
      }
    }
  }));
}

TEST_CASE("saving and loading between two sessions changes no decision") {
  CHECK(rc::check([] {
    const engine e;
    cluster c;
    apply(c, random_cluster());
    carry_out(c, got(e.run(c.take_snapshot(), 0)));
    const snapshot next = c.take_snapshot();
    const snapshot loaded = got(snapshot::load(next.save()));
    RC_ASSERT(got(e.run(next, 1)).digest() == got(e.run(loaded, 1)).digest());
  }));
}

TEST_CASE("a recording gives every session again, over the states that it was over") {
  CHECK(rc::check([] {
    const builder b = random_cluster();
    cluster c;
    apply(c, b);
    std::string bytes;
    const io::recording_form form = draw(0, 1) == 0 ? io::recording_form::plain : io::recording_form::gzip;
    io::recorder writes(
        [&](std::string_view more) -> result<void> {
          bytes += more;
          return {};
        },
        form);
    std::vector<std::pair<std::string, std::string>> digests;  // of state and session
    engine e;
    for (int i = 0; i < 6; ++i) {
      if (draw(0, 3) == 0) got(e.set("placement.gpu", draw(0, 1) == 0 ? "spread" : "binpack"));
      const session s = got(e.run(c.take_snapshot(), i));
      got(writes.add(e, s, i));
      digests.emplace_back(s.base().digest(), s.digest());
      if (draw(0, 1) == 0) carry_out(c, s);
      static_cast<void>(c.apply(random_delta(b)));
    }
    got(writes.finish());
    io::recording reads = got(io::recording::open(bytes));
    for (const auto& [state, digest] : digests) {
      RC_ASSERT(got(reads.next()));
      RC_ASSERT(reads.state().digest() == state);
      RC_ASSERT(reads.session().digest == digest);
      engine again;
      got(io::configure(again, reads.session()));
      const session s = got(again.run(reads.state(), reads.session().now));
      RC_ASSERT(s.digest() == digest);
      RC_ASSERT(got(io::expected_decisions(s)) == reads.session().decisions);
    }
    RC_ASSERT(!got(reads.next()));
    RC_ASSERT(!reads.truncated());

    // However much of it is there: the sessions before the end, and no more.
    const std::string part = bytes.substr(0, static_cast<std::size_t>(draw(0, static_cast<int>(bytes.size()))));
    result<io::recording> rest = io::recording::open(part);
    if (!rest) return;
    std::size_t sessions = 0;
    while (got(rest->next())) ++sessions;
    RC_ASSERT(sessions <= digests.size());
    RC_ASSERT(rest->truncated() || sessions == digests.size() || sessions == rest->session().number);
  }));
}

namespace {

/// What a session may lose by being taken in late is the whole commit, never a part.
void whole_commits_or_none(const session& s, const snapshot& before, const snapshot& after,
                           const std::vector<conflict>& refused) {
  for (const decision& d : s.decisions()) {
    if (d.kind != decision_kind::bind && d.kind != decision_kind::evict && d.kind != decision_kind::move) continue;
    // A pod that waits and is evicted has lost the place that was kept for it, which its status does not tell.
    const auto was = static_cast<pod_status>(model::state_of(s.base()).live.pod_state[d.pod]);
    if (d.kind != decision_kind::bind && !model::is_in(was, model::stoppable)) continue;
    const bool is_refused =
        std::any_of(refused.begin(), refused.end(), [&](const conflict& one) { return one.commit == d.commit; });
    const std::uint8_t is = model::state_of(after).live.pod_state[d.pod];
    if (is_refused) {
      RC_ASSERT(d.pod >= model::state_of(before).pod_slots || is == model::state_of(before).live.pod_state[d.pod]);
      continue;
    }
    const bool goes_again = std::count_if(s.decisions().begin(), s.decisions().end(), [&](const decision& other) {
                              return other.pod == d.pod && other.kind != decision_kind::pipeline;
                            }) > 1;
    const auto wanted = d.kind == decision_kind::bind ? pod_status::binding : pod_status::releasing;
    if (!goes_again) RC_ASSERT(static_cast<pod_status>(is) == wanted);
  }
}

void no_more_than_there_is(const model::cluster_state& before, const model::cluster_state& after) {
  for (node_row row = 0; row < after.node_count(); ++row) {
    for (std::uint32_t d = 0; d < after.dims(); ++d) {
      const std::size_t at = row * after.dims() + d;
      RC_ASSERT((*after.live.idle)[at] >= std::min<std::int64_t>(0, (*before.live.idle)[at]));
    }
  }
  for (queue_row q = 0; q < after.queues->size(); ++q) {
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      const std::int64_t limit = (*after.queues)[q].limit[r];
      if (limit == unlimited) continue;
      RC_ASSERT((*after.live.queue_allocated)[q][r] <= std::max(limit, (*before.live.queue_allocated)[q][r]));
    }
  }
}

/// Pods have the nominated nodes that they had.
void forget_nominations(cluster& c, const snapshot& before) {
  auto rows = test::change(table_kind::pod, {"name", "nominated_node", "nominated_since"});
  for (pod_row p = 0; p < model::state_of(before).pod_slots; ++p) {
    if (!model::state_of(before).pods[p].live) continue;
    const std::uint32_t slot = model::state_of(before).pod_extras[p].nominated;
    const std::string node =
        slot == no_row ? std::string()
                       : (*model::state_of(before).nodes)[(*model::state_of(before).node_row_of_slot)[slot]]->name;
    rows.add({std::string(before.pod_name(p)), node, model::state_of(before).told_of(p).nominated_since});
  }
  got(c.apply(rows));
  auto waiting = test::change(table_kind::pod, {"name", "status", "node"});
  for (pod_row p = 0; p < model::state_of(before).pod_slots; ++p) {
    const auto status = static_cast<pod_status>(model::state_of(before).live.pod_state[p]);
    if (!model::state_of(before).pods[p].live || status != pod_status::pipelined) continue;
    const node_row n = (*model::state_of(before).node_row_of_slot)[model::state_of(before).live.pod_node[p]];
    waiting.add({std::string(before.pod_name(p)), static_cast<std::int64_t>(pod_status::pipelined),
                 std::string(before.node_name(n))});
  }
  got(c.apply(waiting));
  auto groups = test::change(table_kind::pod_group, {"name", "searched"});  // what was searched for stays known
  for (group_row g = 0; g < model::state_of(before).group_slots; ++g) {
    if (model::state_of(before).groups[g].live)
      groups.add({std::string(before.group_name(g)), model::state_of(before).group_extras[g].searched});
  }
  got(c.apply(groups));
}

}  // namespace

TEST_CASE("decisions that are taken in and taken back leave no trace, in any order") {
  CHECK(rc::check([] {
    engine e;
    got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    cluster c;
    apply(c, random_cluster());
    const snapshot base = c.take_snapshot();
    const session s = got(e.run(base, 7));
    RC_ASSERT(got(c.assume(s)).empty());
    equal_to_recount(c.take_snapshot());
    std::vector<entity_id> open;
    for (const assumption& one : c.assumed()) open.push_back(one.pod);
    while (!open.empty()) {
      const auto first = open.begin() + draw(0, static_cast<int>(open.size()) - 1);
      const auto end = first + draw(1, static_cast<int>(open.end() - first));
      got(c.forget(std::vector<entity_id>(first, end), forget_reason::failed));
      open.erase(first, end);
      equal_to_recount(c.take_snapshot());
    }
    RC_ASSERT(c.assumed().empty());
    // Claims on what others leave anyway are kept: there is nothing to report on them.
    forget_nominations(c, base);
    RC_ASSERT(c.take_snapshot().digest() == base.digest());
  }));
}

TEST_CASE("what is taken into a cluster that has moved fits, and every commit is whole") {
  CHECK(rc::check([] {
    engine e;
    got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    engine other(e.options());
    got(other.set("placement.gpu", "spread"));
    const builder b = random_cluster();
    cluster c;
    apply(c, b);
    const snapshot base = c.take_snapshot();
    // Each decides for its own groups, as if it were alone, or for all.
    const auto decided = [&](const engine& by, group_row remainder) {
      session s = got(by.open(base, 7));
      const bool all = draw(0, 3) == 0;
      if (all) got(s.run());
      for (group_row g = remainder; !all && g < model::state_of(base).group_slots; g += 2) got(s.run("allocate", g));
      return s;
    };
    const session first = decided(e, 0);
    const session second = decided(other, 1);
    for (int i = draw(0, 3); i > 0; --i) (void)c.apply(random_delta(b));
    for (const session* s : {&first, &second}) {
      const snapshot before = c.take_snapshot();
      const std::vector<conflict> refused = got(c.assume(*s));
      const snapshot after = c.take_snapshot();
      equal_to_recount(after);
      no_more_than_there_is(model::state_of(before), model::state_of(after));
      whole_commits_or_none(*s, before, after, refused);
      for (const conflict& one : refused) RC_ASSERT(!one.text.empty() && !one.name.empty());
    }
  }));
}

}  // namespace of_test_random
