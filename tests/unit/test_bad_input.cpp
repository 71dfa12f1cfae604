// What is said about every kind of bad input: as an error that leaves the cluster as it was, and as an entry of the
// quarantine while everything else is applied.
#include <cmath>
#include <limits>

#include "model/account.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_bad_input {

using namespace kaisched;
using test::add;
using test::builder;
using test::change;
using test::must;
using test::numbers;
using test::reals;
using test::remove;
using test::texts;
using kind = table_kind;
using lines = std::vector<std::string>;

namespace {

/// Queues root > team, node n1 with 8 GPUs, node cpu without, a running pod, a waiting one.
cluster start() {
  cluster c;
  builder b;
  b << builder::queue{"root"} << builder::queue{"team", "root"} << builder::node{"n1"} << builder::node{"cpu", 0};
  b << builder::group{"run", "team"} << builder::pod{"run-0", "run", 2000, "n1"};
  b.gang("wait", "team", 1);
  b.apply_to(c);
  return c;
}

std::string joined(const lines& all) {
  std::string text;
  for (const std::string& line : all) text += line + "\n";
  return text;
}

void agrees_with_recount(const snapshot& s) {
  model::cluster_state copy = model::state_of(s);
  model::recount(copy);
  CHECK(*copy.live.idle == *model::state_of(s).live.idle);
  CHECK(*copy.live.releasing == *model::state_of(s).live.releasing);
  CHECK(*copy.live.device_free == *model::state_of(s).live.device_free);
  CHECK(*copy.live.queue_allocated == *model::state_of(s).live.queue_allocated);
  CHECK(*copy.live.queue_request == *model::state_of(s).live.queue_request);
  CHECK(must(snapshot::load(s.save())).digest() == s.digest());
}

/// "kind owner/name, column (status): text <- because_of"; a star in front if there is an object of that name.
lines entries(const snapshot& s) {
  const table t = must(s.to_table(kind::quarantine));
  const table_view v = t.view();
  lines all;
  for (std::uint64_t row = 0; row < v.rows; ++row) {
    const auto text = [&](std::uint32_t column) { return std::string(v.find(column)->string(row)); };
    std::string line = v.find(col::quarantine_present)->values<std::uint8_t>(v.rows)[row] != 0 ? "*" : "";
    line += text(col::quarantine_kind) + " ";
    if (!text(col::quarantine_owner).empty()) line += text(col::quarantine_owner) + "/";
    line += text(col::quarantine_name);
    if (!text(col::quarantine_column).empty()) line += ", " + text(col::quarantine_column);
    line += " (" + text(col::quarantine_status) + "): " + text(col::quarantine_text);
    if (!text(col::quarantine_because_of).empty()) line += " <- " + text(col::quarantine_because_of);
    all.push_back(line);
  }
  return all;
}

std::string rejected(cluster& c, std::initializer_list<test::rows> deltas) {
  const std::string before = c.take_snapshot().digest();
  const std::vector<table> tables(deltas.begin(), deltas.end());
  std::vector<table_view> views;
  views.reserve(tables.size());
  for (const table& t : tables) views.push_back(t.view());
  const auto applied = c.apply(views);
  REQUIRE_FALSE(applied.ok());
  CHECK(c.take_snapshot().digest() == before);
  CHECK(entries(c.take_snapshot()).empty());
  agrees_with_recount(c.take_snapshot());
  return applied.failure().message;
}

lines left_out(cluster& c, std::initializer_list<test::rows> deltas) {
  must(c.set("on_invalid", "quarantine"));
  const std::vector<table> tables(deltas.begin(), deltas.end());
  std::vector<table_view> views;
  views.reserve(tables.size());
  for (const table& t : tables) views.push_back(t.view());
  must(c.apply(views));
  const snapshot s = c.take_snapshot();
  agrees_with_recount(s);
  CHECK(entries(must(snapshot::load(s.save()))) == entries(s));
  (void)must(engine().run(s, 0));
  return entries(s);
}

/// Both modes over the same start.
void refuses(std::initializer_list<test::rows> deltas, const std::string& message, const lines& kept) {
  cluster strict = start();
  CHECK(rejected(strict, deltas) == message);
  cluster lenient = start();
  CHECK(joined(left_out(lenient, deltas)) == joined(kept));
}

void refuses(const test::rows& one, const std::string& message, const lines& kept) { refuses({one}, message, kept); }

/// For a row that is wrong by itself the entry says what the error says.
void refuses(const test::rows& one, const std::string& object, const std::string& column, const std::string& status,
             const std::string& what) {
  const table t = one;
  const table_info& info = *schema_of(t.view().kind);
  const char* op = t.view().op == 1 ? "add" : t.view().op == 2 ? "change" : "remove";
  refuses(one, "table 0 (" + std::string(info.name) + ", " + op + "), row 0, column " + column + ": " + what,
          {object + ", " + column + " (" + status + "): " + what});
}

test::rows a_queue(const std::string& name, const std::string& parent = "") {
  return add(kind::queue, {"name", "parent"}).add({name, parent});
}

test::rows pod(const std::string& name, const numbers& request, const std::string& node = "", pod_status state = {},
               const std::string& group = "wait") {
  return add(kind::pod, {"name", "group", "request", "status", "node"}).add({name, group, request, state, node});
}

std::int64_t idle_gpu(const snapshot& s, std::string_view node) {
  return (*model::state_of(s)
               .live.idle)[static_cast<std::size_t>(test::node_by_name(s, node)) * model::state_of(s).dims() + dim_gpu];
}

}  // namespace

// ---- queues ------------------------------------------------------------------------------------------------------

TEST_CASE("cycles in the tree of queues") {
  refuses(add(kind::queue, {"name", "parent"}).add({"a", "b"}).add({"b", "c"}).add({"c", "a"}).add({"d", "c"}),
          "table 0 (queue, add), row 0, column parent: the parents form a cycle: a -> b -> c -> a",
          {"queue a, parent (argument): the parents form a cycle: a -> b -> c -> a",
           "queue b, parent (argument): the parents form a cycle: b -> c -> a -> b",
           "queue c, parent (argument): the parents form a cycle: c -> a -> b -> c",
           "queue d, parent (not_found): queue 'c' is in quarantine <- queue c"});
  refuses(a_queue("me", "me"), "table 0 (queue, add), row 0, column parent: the parents form a cycle: me -> me",
          {"queue me, parent (argument): the parents form a cycle: me -> me"});
  // One that exists goes below its own child: it stays where it was, and so do its groups.
  refuses(change(kind::queue, {"name", "parent"}).add({"root", "team"}),
          "table 0 (queue, change), row 0, column parent: the parents form a cycle: root -> team -> root",
          {"*queue root, parent (argument): the parents form a cycle: root -> team -> root"});
  // Across two tables; the first one is good.
  refuses({a_queue("a", "team"), change(kind::queue, {"name", "parent"}).add({"root", "a"})},
          "table 1 (queue, change), row 0, column parent: the parents form a cycle: root -> a -> team -> root",
          {"*queue root, parent (argument): the parents form a cycle: root -> a -> team -> root"});
  // A long one is cut.
  std::string message = "table 0 (queue, add), row 0, column parent: the parents form a cycle: ";
  refuses(add(kind::queue, {"name", "parent"})
              .add({"a", "b"})
              .add({"b", "c"})
              .add({"c", "d"})
              .add({"d", "e"})
              .add({"e", "a"}),
          message + "a -> b -> c -> d -> ... -> a",
          {"queue a, parent (argument): the parents form a cycle: a -> b -> c -> d -> ... -> a",
           "queue b, parent (argument): the parents form a cycle: b -> c -> d -> e -> ... -> b",
           "queue c, parent (argument): the parents form a cycle: c -> d -> e -> a -> ... -> c",
           "queue d, parent (argument): the parents form a cycle: d -> e -> a -> b -> ... -> d",
           "queue e, parent (argument): the parents form a cycle: e -> a -> b -> c -> ... -> e"});
}

TEST_CASE("unknown parents, and everything below") {
  refuses({add(kind::queue, {"name", "parent"}).add({"leaf", "mid"}).add({"mid", "nowhere"}).add({"good", "root"}),
           add(kind::pod_group, {"name", "queue"}).add({"g", "leaf"}),
           add(kind::sub_group, {"group", "name"}).add({"g", "s"}), pod("p", {1000}, "", {}, "g")},
          "table 0 (queue, add), row 1, column parent: there is no queue 'nowhere'",
          {"queue leaf, parent (not_found): queue 'mid' is in quarantine <- queue mid",
           "queue mid, parent (not_found): there is no queue 'nowhere'",
           "pod_group g, queue (not_found): queue 'leaf' is in quarantine <- queue leaf",
           "sub_group g/s, group (not_found): pod_group 'g' is in quarantine <- pod_group g",
           "pod p, group (not_found): pod_group 'g' is in quarantine <- pod_group g"});
}

TEST_CASE("a tree of 10,000 levels") {
  test::rows deep = add(kind::queue, {"name", "parent"});
  for (int i = 0; i < 10'000; ++i) deep.add({"q" + std::to_string(i), i == 0 ? "" : "q" + std::to_string(i - 1)});
  cluster strict = start();
  CHECK(rejected(strict, {deep}) ==
        "table 0 (queue, add), row 1000, column parent: the parents form more than 1000 levels");
  cluster lenient = start();
  const lines kept = left_out(lenient, {deep});
  REQUIRE(kept.size() == 9'000);
  CHECK(std::count(kept.begin(), kept.end(), "queue q1000, parent (limit): the parents form more than 1000 levels") ==
        1);
  CHECK(std::count(kept.begin(), kept.end(),
                   "queue q9999, parent (not_found): queue 'q9998' is in quarantine <- queue q9998") == 1);
  // A tree that is moved below another one: the move is at fault, not its leaves.
  cluster c;
  test::rows two = add(kind::queue, {"name", "parent"});
  for (int i = 0; i < 700; ++i) {
    for (const char* tree : {"a", "b"}) two.add({tree + std::to_string(i), i == 0 ? "" : tree + std::to_string(i - 1)});
  }
  must(c.apply(two));
  CHECK(left_out(c, {change(kind::queue, {"name", "parent"}).add({"b0", "a699"})}) ==
        lines{"*queue b0, parent (limit): the parents form more than 1000 levels"});
}

TEST_CASE("figures of queues") {
  const auto figures = [](const char* column, const test::cell& value) -> test::rows {
    return add(kind::queue, {"name", column}).add({"q", value});
  };
  refuses(figures("quota", numbers{0, -2, 0}), "queue q", "quota", "argument",
          "queue 'q': -2 is neither an amount nor -1 (unlimited)");
  refuses(figures("limit", numbers{max_sum + 1, 0, 0}), "queue q", "limit", "argument",
          "queue 'q': 4611686018427387905 is neither an amount nor -1 (unlimited)");
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity(), -0.5, -2.0, 1e13}) {
    refuses(figures("over_quota_weight", reals{1, bad, 1}), "queue q", "over_quota_weight", "argument",
            "queue 'q': must be finite, not negative (or -1) and at most 1e12");
    refuses(figures("usage", reals{bad, 0, 0}), "queue q", "usage", "argument",
            "queue 'q': must be finite, not negative and at most 1e12");
  }
  refuses(figures("priority", max_amount + 1), "queue q", "priority", "limit",
          "4503599627370497 is not in -4503599627370496 .. 4503599627370496");
  // Quotas whose sum passes what 64 bits hold are quotas: the division is exact.
  cluster c = start();
  must(c.apply(add(kind::queue, {"name", "parent", "quota"})
                   .add({"x", "root", numbers{max_sum, max_sum, max_sum}})
                   .add({"y", "root", numbers{max_sum, max_sum, max_sum}})
                   .add({"z", "root", numbers{max_sum, max_sum, max_sum}})));
  for (const char* mode : {"strict", "compat"}) {
    const session s = must(test::make_engine({"mode", mode}).run(c.take_snapshot(), 0));
    must(s.check());
    CHECK(test::lines(s) == lines{"bind wait-0 n1"});
  }
}

TEST_CASE("queues that are in use cannot be removed, nor can what is above them") {
  refuses(remove(kind::queue, {"name"}).add({"root"}).add({"team"}),
          "table 0 (queue, remove), row 0: queue 'root' cannot be removed: it has 1 child queues and 0 pod groups",
          {"*queue root (state): queue 'root' cannot be removed: it has 1 child queues and 0 pod groups",
           "*queue team (state): queue 'team' cannot be removed: it has 0 child queues and 2 pod groups"});
  refuses(remove(kind::queue, {"name"}).add({"nobody"}), "queue nobody", "name", "not_found",
          "there is no queue 'nobody'");
}

// ---- names and texts ---------------------------------------------------------------------------------------------

TEST_CASE("names") {
  const auto named = [](const std::string& name) -> test::rows { return add(kind::queue, {"name"}).add({name}); };
  refuses(named(""), "queue ", "name", "argument", "a name must not be empty");
  refuses(named("team"), "*queue team", "name", "duplicate", "'team' exists already");
  refuses(add(kind::queue, {"name"}).add({"twin"}).add({"twin"}),
          "table 0 (queue, add), row 1, column name: 'twin' exists already",
          {"*queue twin, name (duplicate): 'twin' exists already"});
  const std::string bad = "\xEF\xBF\xBD";
  refuses(named("a\nb"), "queue a" + bad + "b", "name", "argument",
          "a name must not hold control characters, this one has U+000A at byte 1");
  refuses(named("\xC2\x85"), "queue " + bad, "name", "argument",
          "a name must not hold control characters, this one has U+0085 at byte 0");
  refuses(named("del\x7F"), "queue del" + bad, "name", "argument",
          "a name must not hold control characters, this one has U+007F at byte 3");
  refuses(named(std::string("a\0b", 3)), "queue a" + bad + "b", "name", "argument", "a string holds a NUL byte");
  refuses(named("ok\xC3("), "queue ok" + bad + "(", "name", "argument", "is not UTF-8 at byte 2");
  refuses(named("\xED\xA0\x80"), "queue " + bad + bad + bad, "name", "argument", "is not UTF-8 at byte 0");
  refuses(named("\xF4\x90\x80\x80"), "queue " + bad + bad + bad + bad, "name", "argument", "is not UTF-8 at byte 0");
  refuses(named("\xC0\xAF"), "queue " + bad + bad, "name", "argument", "is not UTF-8 at byte 0");
  const std::string mega(1 << 20, 'x');
  refuses(named(mega), "queue " + mega.substr(0, 4096), "name", "limit",
          "'" + mega.substr(0, 64) + "... (1048576 bytes)': a name has at most 4096 bytes");
  // A cut never splits a character.
  std::string wide;
  for (int i = 0; i < 3000; ++i) wide += "\xE2\x82\xAC";
  refuses(named(wide), "queue " + wide.substr(0, 4095), "name", "limit",
          "'" + wide.substr(0, 63) + "... (9000 bytes)': a name has at most 4096 bytes");
}

TEST_CASE("every kind of object has the same rules for its name") {
  const std::string what = "a name must not hold control characters, this one has U+0009 at byte 0";
  const std::string bad = "\xEF\xBF\xBD";
  refuses(add(kind::topology, {"name", "levels"}).add({"\t", texts{"zone"}}), "topology " + bad, "name", "argument",
          what);
  refuses(add(kind::node, {"name", "capacity"}).add({"\t", numbers{1}}), "node " + bad, "name", "argument", what);
  refuses(add(kind::pod_group, {"name", "queue"}).add({"\t", "team"}), "pod_group " + bad, "name", "argument", what);
  refuses(add(kind::sub_group, {"group", "name"}).add({"wait", "\t"}), "sub_group wait/" + bad, "name", "argument",
          what);
  refuses(pod("\t", {1}), "pod " + bad, "name", "argument", what);
  refuses(add(kind::numa_zone, {"node", "name", "capacity"}).add({"n1", "\t", numbers{1}}), "numa_zone n1/" + bad,
          "name", "argument", what);
  refuses(add(kind::resource_claim, {"name"}).add({"\t"}), "resource_claim " + bad, "name", "argument", what);
}

TEST_CASE("names in any script are names") {
  const lines names{"\xD9\x85\xD9\x87\xD9\x85\xD8\xA9",
                    "e\xCC\x81t\xC3\xA9",
                    "\xE8\xAE\xAD\xE7\xBB\x83",
                    "\xF0\x9F\x9A\x80/\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x94\xAC",
                    "a b",
                    std::string(4096, 'n')};
  cluster c = start();
  for (const std::string& name : names) {
    must(c.apply(a_queue(name, "root")));
    must(c.apply(add(kind::pod_group, {"name", "queue"}).add({name, name})));
    must(c.apply(pod(name, {1000, 0, 500}, "", {}, name)));
    CHECK(c.find(entity_kind::pod, name).ok());
  }
  const snapshot s = c.take_snapshot();
  agrees_with_recount(s);
  const session run = must(engine().run(s, 0));
  CHECK(run.decisions().size() == names.size() + 1);
  // Equal to the eye is not equal: nothing is normalised.
  must(c.apply(a_queue("\xC3\xA9t\xC3\xA9", "root")));
}

TEST_CASE("texts that are no names") {
  refuses(add(kind::node, {"name", "capacity", "labels"}).add({"n", numbers{1}, texts{"zone", "\xFF"}}), "node n",
          "labels", "argument", "is not UTF-8 at byte 5");
  refuses(change(kind::pod, {"name", "obstacle"}).add({"wait-0", "\x80"}), "*pod wait-0", "obstacle", "argument",
          "is not UTF-8 at byte 0");
  refuses(add(kind::node, {"name", "capacity", "labels"}).add({"n", numbers{1}, texts{"zone"}}), "node n", "labels",
          "argument", "node 'n': labels 'zone': expected pairs of key and value");
  refuses(add(kind::node, {"name", "capacity", "taints"}).add({"n", numbers{1}, texts{"x"}}), "node n", "taints",
          "argument",
          "node 'n': taint 'x': expected key=value:Effect or key:Effect, Effect one of NoSchedule, NoExecute, "
          "PreferNoSchedule");
  // A newline is welcome where no name is.
  cluster c = start();
  must(c.apply(change(kind::pod, {"name", "obstacle"}).add({"wait-0", "two\nlines"})));
}

// ---- nodes and devices -------------------------------------------------------------------------------------------

TEST_CASE("amounts of nodes") {
  const auto node = [](const std::string& name, const numbers& capacity) -> test::rows {
    return add(kind::node, {"name", "capacity"}).add({name, capacity});
  };
  refuses(node("n", {1, -1}), "node n", "capacity", "argument", "node 'n': memory -1 is not in 0 .. 2^52");
  refuses(node("n", {max_amount + 1}), "node n", "capacity", "limit",
          "node 'n': cpu 4503599627370497 is not in 0 .. 2^52");
  refuses(add(kind::node, {"name", "capacity", "ready"}).add({"n", numbers{1}, 2}), "node n", "ready", "argument",
          "must be 0 or 1");
  refuses(add(kind::node, {"name", "capacity", "gpu_memory"}).add({"n", numbers{1}, -1}), "node n", "gpu_memory",
          "argument", "-1 is not in 0 .. 4503599627370496");
  // All nodes together: of 1,025 that are as large as can be the last one is too much.
  test::rows many = add(kind::node, {"name", "capacity"});
  for (int i = 0; i < 1025; ++i) many.add({"big" + std::to_string(i), numbers{0, max_amount}});
  refuses(many, "table 0 (node, add), row 1023, column capacity: node 'big1023': the sum of all memory exceeds 2^62",
          {"node big1023, capacity (limit): node 'big1023': the sum of all memory exceeds 2^62",
           "node big1024, capacity (limit): node 'big1024': the sum of all memory exceeds 2^62"});
  // Devices are no capacities: the row of the node is too much. What still fits behind it fits.
  test::rows some = add(kind::node, {"name", "capacity"});
  for (int i = 0; i < 1024; ++i) some.add({"big" + std::to_string(i), numbers{0, max_amount, 1000}});
  some.add({"small", numbers{0, 1}});
  refuses({some, add(kind::device, {"node", "index"}).add({"big1022", 0}).add({"big1023", 0})},
          "table 0 (node, add), row 1023, column capacity: node 'big1023': the sum of all memory exceeds 2^62",
          {"node big1023, capacity (limit): node 'big1023': the sum of all memory exceeds 2^62",
           "device big1023/0, node (not_found): node 'big1023' is in quarantine <- node big1023"});
}

TEST_CASE("nodes in use cannot be removed") {
  refuses(
      remove(kind::node, {"name"}).add({"n1"}).add({"cpu"}),
      "table 0 (node, remove), row 0: node 'n1' cannot be removed while 1 pods are on it: remove or move them in the "
      "same delta",
      {"*node n1 (state): node 'n1' cannot be removed while 1 pods are on it: remove or move them in the same "
       "delta"});
}

TEST_CASE("devices") {
  const auto device = [](const std::string& node, std::int64_t index, std::int64_t share) -> test::rows {
    return add(kind::device, {"node", "index", "share"}).add({node, index, share});
  };
  refuses(device("n9", 0, 1000), "device n9/0", "node", "not_found", "there is no node 'n9'");
  refuses(device("n1", 64, 1000), "device n1/64", "index", "limit", "node 'n1': index 64 is not in 0 .. 63");
  refuses(device("n1", 0, 0), "device n1/0", "share", "argument", "0 is not in 1 .. 1000");
  refuses(change(kind::device, {"node", "index", "healthy"}).add({"n1", 3, 0}), "device n1/3", "index", "not_found",
          "node 'n1' has no device 3");
  // Those of a node that exists: all of them or none.
  const test::rows half =
      add(kind::device, {"node", "index", "share"}).add({"n1", 0, 1000}).add({"n1", 2, 1000}).add({"cpu", 0, 500});
  refuses(half,
          "table 0 (device, add), row 0, column index: node 'n1': device indices must be 0, 1, 2, ... without gaps",
          {"device cpu/0 (argument): node 'cpu': gpu is 0 milli-GPU, but its healthy devices offer 500",
           "device n1/0, index (argument): node 'n1': device indices must be 0, 1, 2, ... without gaps",
           "device n1/2, index (argument): node 'n1': device indices must be 0, 1, 2, ... without gaps"});
  // A node that comes with its devices goes with them, and its pods as well.
  refuses({add(kind::node, {"name", "capacity"}).add({"n2", numbers{1000, 0, 2000, 9}}),
           add(kind::device, {"node", "index", "share"}).add({"n2", 0, 1000}).add({"n2", 1, 2000}),
           pod("p", {1000}, "n2", pod_status::running)},
          "table 1 (device, add), row 1, column share: 2000 is not in 1 .. 1000",
          {"node n2, capacity (argument): node 'n2': gpu is 2000 milli-GPU, but its healthy devices offer 1000 "
           "<- device n2/1",
           "device n2/0, node (not_found): node 'n2' is in quarantine <- node n2",
           "device n2/1, share (limit): 2000 is not in 1 .. 1000",
           "pod p, node (not_found): node 'n2' is in quarantine <- node n2"});
  refuses(
      {add(kind::node, {"name", "capacity"}).add({"n2", numbers{1000, 0, 1000, 9}}),
       add(kind::device, {"node", "index", "memory"}).add({"n2", 0, 7}),
       change(kind::node, {"name", "capacity"}).add({"n2", numbers{1000, 0, 2000, 9}})},
      "table 0 (node, add), row 0, column capacity: node 'n2': gpu is 2000 milli-GPU, but its healthy devices offer "
      "1000",
      {"node n2, capacity (argument): node 'n2': gpu is 2000 milli-GPU, but its healthy devices offer 1000",
       "device n2/0, node (not_found): node 'n2' is in quarantine <- node n2"});
}

TEST_CASE("a node whose only device is bad has no other one") {
  const test::rows node = add(kind::node, {"name", "capacity"}).add({"n2", numbers{1000, 0, 1000, 9}});
  refuses({node, add(kind::device, {"node", "index", "memory"}).add({"n2", 0, -1}),
           pod("p", {1000}, "n2", pod_status::running)},
          "table 1 (device, add), row 0, column memory: -1 is not in 0 .. 4503599627370496",
          {"node n2, capacity (argument): node 'n2': gpu is 1000 milli-GPU, but its healthy devices offer 0 "
           "<- device n2/0",
           "device n2/0, memory (argument): -1 is not in 0 .. 4503599627370496",
           "pod p, node (not_found): node 'n2' is in quarantine <- node n2"});
  // Nor does it lack one that offers nothing.
  refuses({node, add(kind::device, {"node", "index", "memory", "healthy"}).add({"n2", 0, 7, 1}).add({"n2", 1, -1, 0})},
          "table 1 (device, add), row 1, column memory: -1 is not in 0 .. 4503599627370496",
          {"node n2, capacity (argument): node 'n2': its device 1 is in quarantine <- device n2/1",
           "device n2/0, node (not_found): node 'n2' is in quarantine <- node n2",
           "device n2/1, memory (argument): -1 is not in 0 .. 4503599627370496"});
  // A device that is sent twice is there.
  refuses({node, add(kind::device, {"node", "index", "memory"}).add({"n2", 0, 7}).add({"n2", 0, 8})},
          "table 1 (device, add), row 1, column index: node 'n2' has a device 0",
          {"*device n2/0, index (duplicate): node 'n2' has a device 0"});
  // One that was there stays as it was.
  refuses({change(kind::node, {"name", "capacity"}).add({"cpu", numbers{1000, 0, 1000, 9}}),
           add(kind::device, {"node", "index", "memory"}).add({"cpu", 0, -1})},
          "table 1 (device, add), row 0, column memory: -1 is not in 0 .. 4503599627370496",
          {"*node cpu, capacity (argument): node 'cpu': gpu is 1000 milli-GPU, but its healthy devices offer 0 "
           "<- device cpu/0",
           "device cpu/0, memory (argument): -1 is not in 0 .. 4503599627370496"});
  refuses({add(kind::device, {"node", "index", "memory"}).add({"n1", 0, -1}),
           change(kind::node, {"name", "labels"}).add({"n1", texts{"zone", "a"}})},
          "table 0 (device, add), row 0, column memory: -1 is not in 0 .. 4503599627370496",
          {"device n1/0, memory (argument): -1 is not in 0 .. 4503599627370496"});
}

// ---- names that come twice ---------------------------------------------------------------------------------------

TEST_CASE("of two rows that add a name the first one counts, even if it is bad") {
  refuses(add(kind::node, {"name", "capacity"}).add({"n", numbers{-1}}).add({"n", numbers{1}}),
          "table 0 (node, add), row 0, column capacity: node 'n': cpu -1 is not in 0 .. 2^52",
          {"node n, capacity (argument): node 'n': cpu -1 is not in 0 .. 2^52"});
  refuses(add(kind::queue, {"name", "priority"}).add({"q", max_amount + 1}).add({"q", 1}),
          "table 0 (queue, add), row 0, column priority: 4503599627370497 is not in -4503599627370496 .. "
          "4503599627370496",
          {"queue q, priority (limit): 4503599627370497 is not in -4503599627370496 .. 4503599627370496"});
  // Also where its fault shows later than that of the second.
  refuses({a_queue("q", "nowhere"), a_queue("q"), a_queue("x", "nowhere").add({"x", ""})},
          "table 0 (queue, add), row 0, column parent: there is no queue 'nowhere'",
          {"queue q, parent (not_found): there is no queue 'nowhere'",
           "queue x, parent (not_found): there is no queue 'nowhere'"});
  refuses(add(kind::pod_group, {"name", "queue"}).add({"g", "nowhere"}).add({"g", "team"}),
          "table 0 (pod_group, add), row 0, column queue: there is no queue 'nowhere'",
          {"pod_group g, queue (not_found): there is no queue 'nowhere'"});
  refuses(add(kind::sub_group, {"group", "name", "min_member"}).add({"wait", "s", -3}).add({"wait", "s", 1}),
          "table 0 (sub_group, add), row 0, column min_member: -3 is not in 0 .. 4503599627370496",
          {"sub_group wait/s, min_member (argument): -3 is not in 0 .. 4503599627370496"});
  refuses(add(kind::sub_group, {"group", "name", "parent"}).add({"wait", "s", "t"}).add({"wait", "s", ""}),
          "table 0 (sub_group, add), row 1, column name: pod group 'wait' has a sub-group 's'",
          {"sub_group wait/s, parent (not_found): pod group 'wait', sub-group 's': there is no parent 't'"});
  refuses(
      {add(kind::node, {"name", "capacity"}).add({"m", numbers{1, 0, 1000}}),
       add(kind::device, {"node", "index", "numa"}).add({"m", 0, -2}).add({"m", 0, 0})},
      "table 1 (device, add), row 0, column numa: -2 is not in -1 .. 1023",
      {"node m, capacity (argument): node 'm': gpu is 1000 milli-GPU, but its healthy devices offer 0 <- device m/0",
       "device m/0, numa (argument): -2 is not in -1 .. 1023"});
  refuses(add(kind::numa_zone, {"node", "name", "capacity"}).add({"n1", "z", numbers{-1}}).add({"n1", "z", numbers{1}}),
          "table 0 (numa_zone, add), row 0, column capacity: node 'n1', zone 'z': cpu -1 is not in 0 .. 2^52",
          {"numa_zone n1/z, capacity (argument): node 'n1', zone 'z': cpu -1 is not in 0 .. 2^52"});
  refuses(add(kind::topology, {"name", "levels"}).add({"t", texts{}}).add({"t", texts{"zone"}}),
          "table 0 (topology, add), row 0, column levels: needs at least one level",
          {"topology t, levels (argument): needs at least one level"});
  refuses(add(kind::resource_claim, {"name", "count"}).add({"c", -1}).add({"c", 1}),
          "table 0 (resource_claim, add), row 0, column count: -1 is not in 0 .. 4503599627370496",
          {"resource_claim c, count (argument): -1 is not in 0 .. 4503599627370496"});
  // Two tables of one delta are one delta.
  refuses({pod("p", {-1}), pod("p", {1000})},
          "table 0 (pod, add), row 0, column request: pod 'p': cpu -1 is not in 0 .. 2^52",
          {"pod p, request (argument): pod 'p': cpu -1 is not in 0 .. 2^52"});
  // A row that goes with others goes for good.
  refuses({a_queue("a", "b").add({"b", "a"}).add({"a", ""})},
          "table 0 (queue, add), row 2, column name: 'a' exists already",
          {"queue a, parent (argument): the parents form a cycle: a -> b -> a",
           "queue b, parent (argument): the parents form a cycle: b -> a -> b"});
}

TEST_CASE("a removal between two rows that add the same name frees it") {
  cluster c = start();
  CHECK(left_out(c, {pod("p", {-1}), remove(kind::pod, {"name"}).add({"p"}), pod("p", {1000})}).empty());
  CHECK(c.find(entity_kind::pod, "p").ok());
  cluster parts = start();
  const auto gang = [](const char* queue) -> test::rows {
    return add(kind::pod_group, {"name", "queue"}).add({"gang", queue});
  };
  const test::rows sub = add(kind::sub_group, {"group", "name"}).add({"gang", "s"});
  CHECK(left_out(parts, {gang("nowhere"), sub, remove(kind::pod_group, {"name"}).add({"gang"}), gang("team"), sub})
            .empty());
}

TEST_CASE("what only looks like a name in quarantine takes none") {
  // Both are known as the name with U+FFFD, but only one has it.
  cluster c = start();
  CHECK(
      left_out(c, {pod("p\x01", {1000}).add({"p\xEF\xBF\xBD", "wait", numbers{1000}, pod_status::pending, ""})}) ==
      lines{"*pod p\xEF\xBF\xBD, name (argument): a name must not hold control characters, this one has U+0001 at byte "
            "1"});
  CHECK(c.find(entity_kind::pod, "p\xEF\xBF\xBD").ok());
}

TEST_CASE("the first row says what a pod holds") {
  cluster c = start();
  const std::int64_t before = idle_gpu(c.take_snapshot(), "n1");
  const lines kept = left_out(c, {pod("a", {1000, 0, 2000}, "n1", pod_status::running, "nobody")
                                      .add({"a", "wait", numbers{1000, 0, 1000}, pod_status::pending, ""})
                                      .add({"a", "nobody", numbers{1000, 0, 4000}, pod_status::running, "n1"})});
  CHECK(kept == lines{"*pod a, group (not_found): there is no pod_group 'nobody'"});
  CHECK(idle_gpu(c.take_snapshot(), "n1") == before - 2000);
  // The next delta has its own first row.
  CHECK(left_out(c, {pod("a", {1000, 0, 1000})}).empty());
  CHECK(idle_gpu(c.take_snapshot(), "n1") == before);
}

// ---- groups and sub-groups ---------------------------------------------------------------------------------------

TEST_CASE("groups") {
  const auto group = [](const char* column, const test::cell& value) -> test::rows {
    return add(kind::pod_group, {"name", "queue", column}).add({"g", "team", value});
  };
  refuses(add(kind::pod_group, {"name", "queue"}).add({"g", "tem"}), "pod_group g", "queue", "not_found",
          "there is no queue 'tem'");
  refuses(add(kind::pod_group, {"name", "queue"}).add({"g", ""}), "pod_group g", "queue", "not_found",
          "there is no queue ''");
  refuses(group("min_member", -1), "pod_group g", "min_member", "argument", "-1 is not in 0 .. 4503599627370496");
  refuses(group("preemptible", 7), "pod_group g", "preemptible", "argument", "must be 0 or 1");
  refuses(remove(kind::pod_group, {"name"}).add({"run"}), "*pod_group run", "name", "state",
          "'run' still has 1 pods; remove them first");
  refuses(add(kind::pod_group, {"name", "queue"}).add({"wait", "team"}), "*pod_group wait", "name", "duplicate",
          "'wait' exists already");
}

TEST_CASE("trees of sub-groups") {
  const std::string cycle = "pod group 'wait': the parents of its sub-groups form a cycle";
  refuses(add(kind::sub_group, {"group", "name", "parent"})
              .add({"wait", "a", "b"})
              .add({"wait", "b", "a"})
              .add({"wait", "c", ""}),
          "table 0 (sub_group, add), row 0, column parent: " + cycle,
          {"sub_group wait/a, parent (argument): " + cycle, "sub_group wait/b, parent (argument): " + cycle});
  refuses(add(kind::sub_group, {"group", "name", "parent"}).add({"wait", "a", "x"}).add({"wait", "b", "a"}),
          "table 0 (sub_group, add), row 0, column parent: pod group 'wait', sub-group 'a': there is no parent 'x'",
          {"sub_group wait/a, parent (not_found): pod group 'wait', sub-group 'a': there is no parent 'x'",
           "sub_group wait/b, parent (not_found): sub_group 'a' is in quarantine <- sub_group wait/a"});
  refuses(add(kind::sub_group, {"group", "name"}).add({"wait", "a"}).add({"wait", "a"}),
          "table 0 (sub_group, add), row 1, column name: pod group 'wait' has a sub-group 'a'",
          {"*sub_group wait/a, name (duplicate): pod group 'wait' has a sub-group 'a'"});
  refuses(change(kind::sub_group, {"group", "name", "min_member"}).add({"wait", "a", 1}), "sub_group wait/a", "name",
          "not_found", "pod group 'wait' has no sub-group 'a'");
  test::rows deep = add(kind::sub_group, {"group", "name", "parent"});
  for (int i = 0; i < 1002; ++i) {
    deep.add({"wait", "s" + std::to_string(i), i == 0 ? "" : "s" + std::to_string(i - 1)});
  }
  const std::string levels = "pod group 'wait': the parents of its sub-groups form more than 1000 levels";
  refuses(deep, "table 0 (sub_group, add), row 1000, column parent: " + levels,
          {"sub_group wait/s1000, parent (limit): " + levels,
           "sub_group wait/s1001, parent (not_found): sub_group 's1000' is in quarantine <- sub_group wait/s1000"});
}

TEST_CASE("a parent that others hang on stays") {
  for (const bool lenient : {false, true}) {
    cluster c = start();
    must(c.apply(add(kind::sub_group, {"group", "name", "parent"}).add({"wait", "a", ""}).add({"wait", "b", "a"})));
    const std::string before = c.take_snapshot().digest();
    const test::rows gone = remove(kind::sub_group, {"group", "name"}).add({"wait", "a"});
    if (lenient) {
      CHECK(left_out(c, {gone}) ==
            lines{"*sub_group wait/a, parent (not_found): pod group 'wait', sub-group 'b': there is no parent 'a'"});
      CHECK(c.take_snapshot().digest() == before);
    } else {
      CHECK(
          rejected(c, {gone}) ==
          "table 0 (sub_group, remove), row 0, column parent: pod group 'wait', sub-group 'b': there is no parent 'a'");
    }
  }
}

TEST_CASE("a new group with a bad sub-group is left out as a whole") {
  refuses({add(kind::pod_group, {"name", "queue"}).add({"gang", "team"}),
           add(kind::sub_group, {"group", "name", "min_member"}).add({"gang", "lead", 1}).add({"gang", "work", -3}),
           add(kind::pod, {"name", "group", "sub_group", "request"}).add({"p", "gang", "lead", numbers{1000}})},
          "table 1 (sub_group, add), row 1, column min_member: -3 is not in 0 .. 4503599627370496",
          {"pod_group gang (argument): sub-group 'work' is in quarantine <- sub_group gang/work",
           "sub_group gang/lead, group (not_found): pod_group 'gang' is in quarantine <- pod_group gang",
           "sub_group gang/work, min_member (argument): -3 is not in 0 .. 4503599627370496",
           "pod p, group (not_found): pod_group 'gang' is in quarantine <- pod_group gang"});
}

TEST_CASE("topologies") {
  refuses(add(kind::topology, {"name", "levels"}).add({"t", texts{}}), "topology t", "levels", "argument",
          "needs at least one level");
  refuses(add(kind::topology, {"name", "levels"}).add({"t", texts{"zone", ""}}), "topology t", "levels", "argument",
          "a level must not be empty");
  refuses(add(kind::topology, {"name", "levels"}).add({"t", texts{"zone", "zone"}}), "topology t", "levels", "argument",
          "level 'zone' is given twice");
  refuses(add(kind::topology, {"name", "levels", "primary"})
              .add({"a", texts{"x"}, 1})
              .add({"b", texts{"x"}, 1})
              .add({"c", texts{"x"}, 0}),
          "table 0 (topology, add), row 1, column primary: another topology is primary",
          {"topology b, primary (argument): another topology is primary"});
  refuses({add(kind::topology, {"name", "levels"}).add({"t", texts{}}),
           change(kind::pod_group, {"name", "topology"}).add({"wait", "t"})},
          "table 0 (topology, add), row 0, column levels: needs at least one level",
          {"topology t, levels (argument): needs at least one level",
           "*pod_group wait, topology (not_found): topology 't' is in quarantine <- topology t"});
}

// ---- pods --------------------------------------------------------------------------------------------------------

TEST_CASE("requests of pods") {
  refuses(pod("p", {-1}), "pod p", "request", "argument", "pod 'p': cpu -1 is not in 0 .. 2^52");
  refuses(pod("p", {0, max_amount + 1}), "pod p", "request", "limit",
          "pod 'p': memory 4503599627370497 is not in 0 .. 2^52");
  refuses(pod("p", {0, 0, 2500}), "pod p", "request", "argument",
          "pod 'p': request gpu is 2500 milli-GPU with device_count 0: expected whole devices (a multiple of 1000), a "
          "part of one device, or a device_count");
  refuses(add(kind::pod, {"name", "group", "request", "device_count"}).add({"p", "wait", numbers{0, 0, 1000}, 3}),
          "pod p", "request", "argument",
          "pod 'p': request gpu is 1000 milli-GPU with device_count 3: expected a request that divides into equal "
          "shares");
  // The pods of the start ask for a little memory as well.
  test::rows many = add(kind::pod, {"name", "group", "request"});
  for (int i = 0; i < 1025; ++i) many.add({"p" + std::to_string(10'000 + i), "wait", numbers{0, max_amount}});
  const std::string what = "with it the sum of all requests of memory exceeds 2^62";
  refuses(many, "table 0 (pod, add), row 1023, column request: pod 'p11023': " + what,
          {"pod p11023, request (limit): pod 'p11023': " + what, "pod p11024, request (limit): pod 'p11024': " + what});
}

TEST_CASE("places of pods") {
  refuses(pod("p", {1000}, "n9", pod_status::running), "pod p", "node", "not_found", "there is no node 'n9'");
  refuses(pod("p", {1000}, "", pod_status::bound), "pod p", "node", "argument", "pod 'p': status bound needs a node");
  refuses(pod("p", {1000}, "n1", pod_status::gated), "pod p", "node", "argument",
          "pod 'p': status gated cannot have a node");
  refuses(pod("p", {1000}, "", {}, ""), "pod p", "group", "argument", "pod 'p': status pending needs a pod group");
  refuses(add(kind::pod, {"name", "group", "request", "status"}).add({"p", "wait", numbers{1}, 12}), "pod p", "status",
          "argument", "pod 'p': 12 is no pod status");
  refuses(pod("p", {1000}, "", {}, "nobody"), "pod p", "group", "not_found", "there is no pod_group 'nobody'");
  refuses(pod("run-0", {1000}), "*pod run-0", "name", "duplicate", "'run-0' exists already");
  refuses(change(kind::pod, {"name", "nominated_node"}).add({"wait-0", "n9"}), "*pod wait-0", "nominated_node",
          "not_found", "there is no node 'n9'");
}

TEST_CASE("devices of pods: the pod holds some, if not those") {
  const auto with = [](const numbers& devices, std::int64_t gpu) -> test::rows {
    return add(kind::pod, {"name", "group", "request", "status", "node", "devices"})
        .add({"p", "run", numbers{1000, 0, gpu}, pod_status::running, "n1", devices});
  };
  refuses(with({8}, 1000), "*pod p", "devices", "argument",
          "pod 'p': device 8 is given twice or the node does not have it");
  refuses(with({3, 3}, 2000), "*pod p", "devices", "argument",
          "pod 'p': device 3 is given twice or the node does not have it");
  refuses(with({-2}, 1000), "*pod p", "devices", "argument",
          "pod 'p': device -2 is given twice or the node does not have it");
  refuses(with({3}, 2000), "*pod p", "devices", "argument", "pod 'p': it asks for 2 devices");
  cluster c = start();
  (void)left_out(c, {with({8}, 1000)});
  const snapshot s = c.take_snapshot();
  CHECK(idle_gpu(s, "n1") == 5000);
  CHECK(model::state_of(s).live.pod_devices[test::pod_by_name(s, "p")].mask == 4);  // 0 and 1 are taken
}

// ---- tables as a whole -------------------------------------------------------------------------------------------

TEST_CASE("what is wrong with a table as a whole is an error in both modes") {
  for (const char* mode : {"reject", "quarantine"}) {
    cluster c = start();
    must(c.set("on_invalid", mode));
    const std::string before = c.take_snapshot().digest();
    const auto fails = [&](const table_view& v, const std::string& message) {
      const table good = a_queue("fine");
      const auto applied = c.apply({good.view(), v});
      REQUIRE_FALSE(applied.ok());
      CHECK(applied.failure().message == message);
      CHECK(c.take_snapshot().digest() == before);
      CHECK(entries(c.take_snapshot()).empty());
    };
    const table no_name = add(kind::queue, {"priority"}).add({1});
    fails(no_name.view(), "table 1 (queue, add): column name is required");
    table wide(static_cast<std::uint32_t>(kind::node), 1);
    wide.add(col::node_name, column_type::string).push(std::string_view("n"));
    auto& capacity = wide.add(col::node_capacity, column_type::i64, 1'000'000);
    for (int i = 0; i < 1'000'000; ++i) capacity.push(std::int64_t{1});
    fails(wide.view(), "table 1 (node, add), column capacity: width 1000000: expected 1 to 4");
    table wrong(static_cast<std::uint32_t>(kind::queue), 1);
    wrong.add(col::queue_name, column_type::i64).push(std::int64_t{1});
    fails(wrong.view(), "table 1 (queue, add), column name: expected type string, got i64");
    const std::uint32_t offsets[] = {0, 2, 1};
    const column_view names{col::queue_name, column_type::string, 0, 0, "abc", offsets};
    table_view v;
    v.kind = static_cast<std::uint32_t>(kind::queue);
    v.op = 1;
    v.rows = 2;
    v.column_count = 1;
    v.columns = &names;
    fails(v, "table 1 (queue, add), column name: offsets must not descend");
    v.kind = 37;
    fails(v, "table 1: kind 37 is no kind of input table");
    // Its rows number the columns of other tables, so none can be left out.
    const table resources = add(kind::resource, {"name"}).add({"a"}).add({"cpu"});
    fails(resources.view(), "table 1 (resource, add), row 1, column name: 'cpu' exists already");
    const table empty = add(kind::resource, {"name"}).add({"a\n"});
    fails(empty.view(),
          "table 1 (resource, add), row 0, column name: a name must not hold control characters, this one has U+000A "
          "at byte 1");
  }
}

// ---- clusters that lack something --------------------------------------------------------------------------------

TEST_CASE("clusters that lack something are clusters") {
  for (const char* mode : {"strict", "compat"}) {
    const engine e = test::make_engine({"mode", mode});
    const auto run = [&](const builder& b) {
      cluster c;
      must(c.set("on_invalid", "quarantine"));
      b.apply_to(c);
      const session s = must(e.run(c.take_snapshot(), 0));
      must(s.check());
      std::string text;
      for (const reason& why : s.reasons()) text += std::string(constraint_name(why.what)) + ";";
      return std::to_string(s.decisions().size()) + " " + text;
    };
    CHECK(run({}) == "0 ");
    builder no_nodes;
    no_nodes << builder::queue{"q"};
    no_nodes.gang("g", "q", 2);
    CHECK(run(no_nodes) == "0 larger_than_any_node;");
    builder no_pods;
    no_pods << builder::queue{"q"} << builder::node{"n"} << builder::group{"g", "q"};
    CHECK(run(no_pods) == "0 ");
    builder no_gpus;
    no_gpus << builder::queue{"q"} << builder::node{"n", 0};
    no_gpus.gang("g", "q", 1).gang("c", "q", 1, 0);
    CHECK(run(no_gpus) == "1 larger_than_any_node;");
    // A gang with fewer pods than it needs waits; nothing is wrong with it.
    builder short_gang;
    short_gang << builder::queue{"q"} << builder::node{"n"} << builder::group{"g", "q", 3} << builder::pod{"g-0", "g"};
    CHECK(run(short_gang) == "0 gang_incomplete;");
  }
  // Without queues there are no groups, and so no pods.
  cluster c;
  CHECK(rejected(c, {add(kind::pod_group, {"name", "queue"}).add({"g", "q"})}) ==
        "table 0 (pod_group, add), row 0, column queue: there is no queue 'q'");
}

}  // namespace of_test_bad_input
