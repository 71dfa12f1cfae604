// Reservations: the table, when they are, bad input, and what a cluster that has changed says of decisions.
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "policy/predicates/reservations.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_reservations {

using namespace kaisched;
using kind = table_kind;
using policy::reserved_at;
using test::add;
using test::change;
using test::must;
using test::numbers;
using test::remove;

namespace {

constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();

cluster two_nodes() {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity"})
                   .add({"a", numbers{64'000, 0, 2000, 20}})
                   .add({"b", numbers{64'000, 0, 2000, 20}})));
  must(c.apply(add(kind::pod_group, {"name", "queue", "runtime_estimate"}).add({"g", "q", 10})));
  must(c.apply(add(kind::pod, {"name", "group", "request"}).add({"p", "g", numbers{0, 0, 2000, 1}})));
  return c;
}

model::reservation_info from_to(std::int64_t start, std::int64_t end, std::int64_t every = unset) {
  model::reservation_info one;
  one.start = start;
  one.end = end;
  one.every = every;
  return one;
}

}  // namespace

TEST_CASE("rows of reservations") {
  cluster c = two_nodes();
  const auto fails = [&](const test::rows& rows, status code, std::string_view text) {
    const std::string before = c.take_snapshot().digest();
    const result<void> done = c.apply(rows);
    REQUIRE(!done.ok());
    CHECK(done.failure().code == code);
    CHECK_MESSAGE(done.failure().message.find(text) != std::string::npos, done.failure().message);
    CHECK(c.take_snapshot().digest() == before);
  };
  const std::string empty = c.take_snapshot().digest();
  must(c.apply(add(kind::reservation, {"name", "nodes", "start", "end"}).add({"r", test::texts{"a", "b"}, 5, 9})));
  CHECK(c.take_snapshot().digest() != empty);
  fails(add(kind::reservation, {"name"}).add({"r"}), status::duplicate, "'r' exists already");
  fails(change(kind::reservation, {"name", "start"}).add({"s", 1}), status::not_found, "there is no reservation 's'");
  fails(remove(kind::reservation, {"name"}).add({"s"}), status::not_found, "'s'");
  fails(add(kind::reservation, {"name"}).add({""}), status::argument, "must not be empty");
  fails(add(kind::reservation, {"name", "start", "end"}).add({"s", 5, 5}), status::argument,
        "column end: 's': it ends before it has started");
  fails(change(kind::reservation, {"name", "start"}).add({"r", 9}), status::argument, "it ends before it has started");
  fails(add(kind::reservation, {"name", "start"}).add({"s", unset}), status::argument, "column start: 's'");
  fails(add(kind::reservation, {"name", "every"}).add({"s", 10}), status::argument,
        "column every: 's': what comes again");
  fails(change(kind::reservation, {"name", "every"}).add({"r", 0}), status::argument, "0 is no length of time");
  fails(change(kind::reservation, {"name", "every"}).add({"r", 3}), status::argument, "before it has ended");
  fails(add(kind::reservation, {"name", "start", "end", "every"}).add({"s", -last, last, last}), status::argument,
        "before it has ended");
  fails(change(kind::reservation, {"name", "node_selector"}).add({"r", "a in ("}), status::argument,
        "column node_selector: 'r'");
  must(c.apply(change(kind::reservation, {"name", "every", "queue", "group", "node_selector"})
                   .add({"r", 4, "later", "too", "zone=a"})));
  const snapshot s = c.take_snapshot();
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
  const model::reservation_info& one = model::state_of(s).reservations->front();
  CHECK(one.every == 4);
  CHECK(one.queue == "later");
  CHECK(one.group == "too");
  CHECK(one.labels.requirements.size() == 1);
  must(c.apply(remove(kind::reservation, {"name"}).add({"r"})));
  CHECK(c.take_snapshot().digest() == empty);
}

TEST_CASE("when nodes are reserved") {
  const auto is = [](const std::optional<policy::reserved_time>& found, std::int64_t start, std::int64_t end) {
    return found && found->start == start && found->end == end;
  };
  CHECK(is(reserved_at(from_to(5, 9), -last), 5, 9));
  CHECK(is(reserved_at(from_to(5, 9), 8), 5, 9));
  CHECK(!reserved_at(from_to(5, 9), 9));
  CHECK(is(reserved_at(from_to(5, unset), last), 5, unset));
  const model::reservation_info again = from_to(5, 9, 10);
  CHECK(is(reserved_at(again, -7), 5, 9));
  CHECK(is(reserved_at(again, 9), 15, 19));
  CHECK(is(reserved_at(again, 15), 15, 19));
  CHECK(is(reserved_at(again, 18), 15, 19));
  CHECK(is(reserved_at(again, 19), 25, 29));
  CHECK(is(reserved_at(again, 1'000'000'008), 1'000'000'005, 1'000'000'009));
  CHECK(is(reserved_at(from_to(-5, 5, 10), 5), 5, 15));  // without a gap
  // Times that no integer holds do not come.
  CHECK(is(reserved_at(from_to(0, 9, last), last), last, last));
  CHECK(!reserved_at(from_to(1, 9, last), 10));
  CHECK(is(reserved_at(from_to(0, 5, last - 1), last), last - 1, last));
}

TEST_CASE("a reservation that has come since is in the way of a decision") {
  cluster c = two_nodes();
  const engine e;
  const session s = must(e.run(c.take_snapshot(), 100));
  REQUIRE(s.decisions().size() == 1);
  must(c.apply(add(kind::reservation, {"name", "start", "end"}).add({"r", 105, 200})));
  const std::vector<conflict> found = must(c.assume(s));
  REQUIRE(found.size() == 1);
  CHECK_MESSAGE(found.front().text.find("node_reserved") != std::string::npos, found.front().text);
}

TEST_CASE("candidates name the reservation") {
  cluster c = two_nodes();
  must(c.apply(add(kind::reservation, {"name", "nodes", "start"}).add({"r", test::texts{"a"}, 0})));
  const engine e;
  const session s = must(e.run(c.take_snapshot(), 100));
  REQUIRE(s.decisions().size() == 1);
  const candidate_table table = must(s.candidates(s.decisions().front().pod));
  REQUIRE(table.nodes.size() == 2);
  CHECK(table.fitting == 1);
  CHECK(table.nodes.back().refusal.what == constraint::node_reserved);
  CHECK(s.text(table.nodes.back().refusal).find("'r' for nobody, until it is removed") != std::string::npos);
}

}  // namespace of_test_reservations
