/// Which member a group goes to, and what becomes of it there.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/federation.hpp>

#include "columns.hpp"
#include "federations.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_federation {

using namespace kaisched;
using test::builder;
using test::must;
using test::places;
using test::second;
using test::shared_cluster;
using test::shared_engine;
using test::submit;
using test::waiting;
using lines = std::vector<std::string>;

namespace {

constexpr std::int64_t now = test::federation_time;

/// So many nodes of 8 GPUs and a queue.
builder site(int nodes, std::int64_t gpus = 8, std::int64_t quota = unlimited) {
  builder b;
  for (int n = 0; n < nodes; ++n)
    b << builder::node{"n" + std::to_string(n), gpus, 64, {"host", "n" + std::to_string(n)}};
  b << builder::queue{"q", "", quota};
  return b;
}

builder queue_alone(std::int64_t quota = unlimited, std::int64_t limit = unlimited) {
  builder b;
  b << builder::queue{"q", "", quota, limit};
  return b;
}

/// Groups in queue `q` that others may add to.
builder gangs(std::initializer_list<std::tuple<std::string, int, int>> all) {
  builder b;
  for (const auto& [name, pods, gpus] : all) b.gang(name, "q", pods, gpus * 1000);
  return b;
}

struct federated {
  federation f;
  std::vector<std::pair<std::string, std::shared_ptr<cluster>>> clusters;

  explicit federated(federation_options options = {}) : f(std::move(options)) {}
  cluster& add(member_info about, const builder& of, std::initializer_list<std::string_view> options = {}) {
    clusters.emplace_back(about.name, shared_cluster(of));
    must(f.add_member(std::move(about), clusters.back().second, shared_engine(options)));
    return *clusters.back().second;
  }
  federation_report decide(std::int64_t at = now) { return must(f.decide(at)); }
};

bool has_group(const cluster& in, const std::string& name) { return in.find(entity_kind::pod_group, name).ok(); }

member_verdict verdict_of(federation& f, const federation_report& of, const std::string& group,
                          const std::string& member) {
  const auto wait = std::find_if(of.waits.begin(), of.waits.end(), [&](const auto& one) { return one.group == group; });
  REQUIRE(wait != of.waits.end());
  const std::vector<std::string> names = f.member_names();
  const auto at = std::find(names.begin(), names.end(), member);
  REQUIRE(at != names.end());
  return wait->verdicts[static_cast<std::size_t>(at - names.begin())];
}

}  // namespace

TEST_CASE("a gang goes where it fits as a whole, and is nowhere else") {
  federated all;
  cluster& east = all.add({"east"}, site(2));
  cluster& west = all.add({"west"}, site(5));
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"large", 3, 8}, {"small", 1, 8}}));
  const federation_report report = all.decide();
  CHECK(places(report) == lines{"large>west", "small>east"});
  CHECK(report.waits.empty());
  CHECK(!has_group(east, "large"));
  CHECK(has_group(west, "large"));
  CHECK(report.placed.front().runner_up.empty());
  CHECK(report.placed.front().by == member_criterion::only);  // its three nodes are in no other member
  CHECK(report.placed.front().pods == 3);
  REQUIRE(report.sessions.size() == 2);
  CHECK(report.sessions.front().decided.decisions().size() == 1);
  const auto where = must(all.f.stage("large"));
  CHECK(where.first == group_stage::starts);
  CHECK(where.second == "west");
}

TEST_CASE("free GPUs on many nodes are no room for a pod that wants a whole one") {
  federated all;
  builder split = site(2);
  for (const char* node : {"n0", "n1"}) {
    split << builder::group{std::string("r") + node, "q"}
          << builder::pod{std::string("r") + node + "-0", std::string("r") + node, 4000, node};
  }
  all.add({"split"}, split);
  all.add({"whole"}, site(1));
  all.add({"wide"}, site(3));
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"g", 1, 8}}));
  const federation_report report = all.decide();
  CHECK(places(report) == lines{"g>whole"});  // `wide` stays free for a larger one
  CHECK(report.placed.front().by == member_criterion::fit);
  CHECK(report.placed.front().runner_up == "wide");
  CHECK(report.rounds == 1);
}

TEST_CASE("wishes: labels that are required, labels and data that are preferred, prices") {
  federated all;
  all.add({"ash", {{"region", "us"}}, 10, {"corpus"}}, site(4));
  all.add({"birch", {{"region", "eu"}}, 30, {}}, site(4));
  all.add({"cedar", {{"region", "eu"}}, 20, {}}, site(4));
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"any", 1, 1},
                       {"eu", 1, 1},
                       {"near", 1, 1},
                       {"data", 1, 1},
                       {"named", 1, 1},
                       {"poor", 1, 1},
                       {"lost", 1, 1}}));
  group_wishes eu;
  eu.required = {{"region", "eu"}};
  must(all.f.wish("eu", eu));
  group_wishes near;
  near.preferred = {{"region", "eu", 5}};
  near.data = {{"corpus", 100}};
  must(all.f.wish("near", near));
  group_wishes data;
  data.data = {{"corpus", 100}};
  must(all.f.wish("data", data));
  group_wishes named;
  named.members = {"birch"};
  must(all.f.wish("named", named));
  group_wishes poor;
  poor.most_price = 5;
  must(all.f.wish("poor", poor));
  group_wishes lost;
  lost.required = {{"region", "moon"}};
  must(all.f.wish("lost", lost));
  const federation_report report = all.decide();
  CHECK(places(report) == lines{"any>ash", "eu>cedar", "near>cedar", "data>ash", "named>birch"});
  CHECK(verdict_of(all.f, report, "poor", "ash") == member_verdict::price);
  CHECK(verdict_of(all.f, report, "lost", "birch") == member_verdict::label);
  const auto by = [&](const std::string& group) {
    return std::find_if(report.placed.begin(), report.placed.end(), [&](const auto& p) { return p.group == group; })
        ->by;
  };
  CHECK(by("any") == member_criterion::price);
  CHECK(by("data") == member_criterion::data);
  CHECK(by("near") == member_criterion::price);  // `birch` is as near
  CHECK(by("named") == member_criterion::only);

  federation_options data_first;
  data_first.order = {member_criterion::data, member_criterion::preference};
  federated other(data_first);
  other.add({"ash", {}, 0, {"corpus"}}, site(1));
  other.add({"birch", {{"region", "eu"}}}, site(1));
  submit(other.f, queue_alone());
  submit(other.f, gangs({{"near", 1, 1}}));
  must(other.f.wish("near", near));
  CHECK(places(other.decide()) == lines{"near>ash"});
}

TEST_CASE("a limit holds over all members") {
  federated all;
  all.add({"east"}, site(2));
  all.add({"west"}, site(2));
  submit(all.f, queue_alone(unlimited, 20));
  submit(all.f, gangs({{"a", 1, 8}, {"b", 1, 8}, {"c", 1, 8}, {"d", 1, 4}}));
  const federation_report report = all.decide();
  CHECK(places(report).size() == 3);
  CHECK(waiting(report) == lines{"c"});
  CHECK(report.waits.front().limit == "q");
  CHECK(all.f.queues(now).front().allocated[dim_gpu] == 20000);
}

TEST_CASE("the queue that holds less of its quota over all members comes first") {
  federated all;
  builder east = site(1);
  east << builder::queue{"p"} << builder::node{"full", 8};
  east << builder::group{"old", "q"} << builder::pod{"old-0", "old", 8000, "full"};
  all.add({"east"}, east);
  builder west = site(1);
  west << builder::queue{"p"};
  all.add({"west"}, west);
  builder queues;
  queues << builder::queue{"q", "", 4} << builder::queue{"p", "", 8};
  submit(all.f, queues);
  builder groups;
  groups << builder::group{"first", "q", 1, 50, 0} << builder::pod{"first-0", "first", 8000};
  groups << builder::group{"second", "p", 1, 50, second} << builder::pod{"second-0", "second", 8000};
  groups << builder::group{"third", "p", 1, 50, 2 * second} << builder::pod{"third-0", "third", 8000};
  submit(all.f, groups);
  const federation_report report = all.decide();
  // `q` holds more than its quota in `east` alone, so that `p` is before it in `west` as well.
  CHECK(places(report) == lines{"second>east", "third>west"});
  CHECK(waiting(report) == lines{"first"});
}

TEST_CASE("who is refused goes on to the next one") {
  federated all;
  // By the summary the pods fit: only the engine knows of affinity between pods.
  all.add({"east"}, site(2));
  all.add({"west", {}, 5}, site(8));
  submit(all.f, queue_alone());
  builder groups;
  groups << builder::group{"apart", "q", 3};
  for (int i = 0; i < 3; ++i) {
    builder::pod pod{"apart-" + std::to_string(i), "apart", 1000};
    pod.labels = {"app", "apart"};
    pod.anti_affinity = {"host: app=apart"};
    groups << pod;
  }
  submit(all.f, groups);
  const federation_report report = all.decide();
  CHECK(places(report) == lines{"apart>west"});
  CHECK(report.placed.front().round == 2);
  CHECK(report.rounds == 2);
  CHECK(!has_group(*all.clusters[0].second, "apart"));
  REQUIRE(report.sessions.size() == 2);
  CHECK(report.sessions[0].member == "east");  // cheaper, and asked first
  CHECK(report.sessions[0].decided.decisions().empty());
  CHECK(report.sessions[1].member == "west");
}

TEST_CASE("a member whose summary alone is known gets an offer, and one that refuses is not asked again") {
  federated all;
  const builder far = site(2);
  const auto summary = [&](const builder& of) { return must(summarise(engine(), of.take(), now)); };
  must(all.f.add_member({"far"}, summary(far)));
  all.add({"near", {}, 9}, site(1));
  submit(all.f, queue_alone(unlimited, 32));
  submit(all.f, gangs({{"a", 2, 8}, {"b", 1, 8}}));
  CHECK(places(all.decide()) == lines{"a>far!", "b>near"});
  CHECK(all.f.queues(now).front().allocated[dim_gpu] == 24000);
  CHECK(all.decide().placed.empty());  // an offer is one place
  must(all.f.answer("a", false));
  CHECK(must(all.f.stage("a")).first == group_stage::waits);
  const federation_report refused = all.decide();
  CHECK(refused.placed.empty());
  CHECK(verdict_of(all.f, refused, "a", "far") == member_verdict::refused);
  must(all.f.update_member("far", summary(site(3))));
  CHECK(places(all.decide()) == lines{"a>far!"});
  must(all.f.answer("a", true));
  CHECK(must(all.f.stage("a")) == std::pair(group_stage::runs, std::string("far")));
  CHECK(!all.f.answer("a", true).ok());
  CHECK(all.f.queues(now).front().allocated[dim_gpu] == 24000);  // no summary counts it yet
  submit(all.f, gangs({{"c", 2, 8}}));
  CHECK(waiting(all.decide()) == lines{"c"});  // `far` has a node left, and the limit two
  CHECK(!all.f.update_member("near", summary(far)).ok());
}

TEST_CASE("sums over the rows of a summary stop at the end of their type, and groups go where they fit") {
  federated all;
  cluster_summary far = must(summarise(engine(), site(1).take(), now));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  far.kinds.front().nodes = std::int64_t{1} << 31;
  far.kinds.front().devices = max_amount;
  far.kinds.front().capacity.assign(far.dimensions.size(), max_amount);
  far.kinds.resize(3, far.kinds.front());
  free_nodes& free = far.free.front();
  free.nodes = std::int64_t{1} << 31;
  free.devices = max_amount;
  free.most.assign(far.dimensions.size(), max_amount);
  far.free.resize(6, far.free.front());
  std::fill(std::begin(far.queues.front().allocated), std::end(far.queues.front().allocated), most);
  far.queues.front().quota[dim_gpu] = max_amount;
  far.waiting_gpu = most;
  far.free_gpu = most;
  must(all.f.add_member({"far"}, far));
  all.add({"near", {}, 9}, site(1));
  submit(all.f, queue_alone(8));
  submit(all.f, gangs({{"a", 2, 8}, {"b", 1, 8}, {"c", 1, 1}}));
  CHECK(all.decide().placed.size() == 3);
  CHECK(all.f.queues(now).front().allocated[dim_gpu] == most);
}

TEST_CASE("a group that lost its nodes starts elsewhere") {
  federated all;
  cluster& east = all.add({"east"}, site(1));
  cluster& west = all.add({"west"}, site(3));
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"g", 1, 8}}));
  REQUIRE(places(all.decide()) == lines{"g>east"});
  const entity_id pod = must(east.find(entity_kind::pod, "g-0"));
  must(east.confirm(std::vector<entity_id>{pod}));
  CHECK(all.decide().placed.empty());
  CHECK(must(all.f.stage("g")).first == group_stage::runs);
  // The node goes, and the host tells that the pod waits again.
  must(east.apply(test::rows(table_kind::pod, table_op::change, {"name", "status", "node"}).add({"g-0", 0, ""})));
  must(east.apply(test::rows(table_kind::node, table_op::change, {"name", "ready"}).add({"n0", 0})));
  const federation_report report = all.decide();
  CHECK(report.returned == lines{"g"});
  CHECK(places(report) == lines{"g>west"});
  CHECK(!has_group(east, "g"));
  CHECK(has_group(west, "g"));
}

TEST_CASE("a member that is gone gives its groups back, a closed one keeps them") {
  federated all;
  all.add({"east"}, site(1));
  all.add({"west"}, site(3));
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"g", 1, 8}}));
  REQUIRE(places(all.decide()) == lines{"g>east"});
  member_info closed{"east"};
  closed.open = false;
  must(all.f.change_member(closed));
  CHECK(must(all.f.stage("g")).second == "east");
  submit(all.f, gangs({{"h", 1, 1}}));
  CHECK(places(all.decide()) == lines{"h>west"});
  CHECK(must(all.f.lose_member("east")) == lines{"g"});
  CHECK(places(all.decide()) == lines{"g>west"});
  const std::string_view both[] = {"g", "h"};
  must(all.f.withdraw(both));
  CHECK(!has_group(*all.clusters[1].second, "g"));
  CHECK(!all.f.stage("h").ok());
  CHECK(!all.f.withdraw(both).ok());
}

TEST_CASE("members that make room are asked where nothing is free") {
  builder full = site(1, 8, 0);
  full << builder::queue{"p", "", 8};
  full << builder::group{"old", "q"} << builder::pod{"old-0", "old", 8000, "n0"};
  for (const bool makes_room : {false, true}) {
    federated all;
    const std::string_view actions = makes_room ? "allocate,reclaim" : "allocate";
    cluster& east = all.add({"east"}, full, {"actions", actions});
    all.add({"west"}, full, {"actions", actions});
    builder groups;
    groups << builder::queue{"q"} << builder::queue{"p", "", 16};
    groups << builder::group{"mine", "p"} << builder::pod{"mine-0", "mine", 8000};
    submit(all.f, groups);
    const federation_report report = all.decide();
    CHECK(places(report) == (makes_room ? lines{"mine>east?"} : lines{}));
    CHECK(has_group(east, "mine") == makes_room);
    if (!makes_room) CHECK(verdict_of(all.f, report, "mine", "west") == member_verdict::full);
    if (!makes_room) continue;
    CHECK(places(all.decide()) == lines{"mine>east?"});  // it holds its claim and is not sent elsewhere
    must(east.apply(test::rows(table_kind::pod, table_op::remove, {"name"}).add({"old-0"})));
    CHECK(places(all.decide()) == lines{"mine>east"});
  }
}

TEST_CASE("what waits is told where it would start first") {
  federated all;
  for (const std::int64_t hours : {1, 2}) {
    builder b = site(1);
    b << builder::group{"old", "q"} << builder::pod{"old-0", "old", 8000, "n0"};
    cluster& c = all.add({hours == 1 ? "west" : "east"}, b);
    must(c.apply(test::rows(table_kind::pod_group, table_op::change, {"name", "last_start", "runtime_estimate"})
                     .add({"old", now, hours * 3600 * second})));
  }
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"g", 1, 8}, {"never", 2, 8}}));
  const federation_report report = all.decide();
  REQUIRE(waiting(report) == lines{"g", "never"});
  CHECK(report.waits[0].expected_member == "west");
  CHECK(report.waits[0].expected == now + 3600 * second);
  CHECK(report.waits[1].expected == -1);
  CHECK(verdict_of(all.f, report, "never", "east") == member_verdict::never);
}

TEST_CASE("rows that a cluster does not take hold nobody else up") {
  federated all;
  builder east = site(2);
  east << builder::group{"own", "q"} << builder::pod{"twice-0", "own", 1000, "n0"};
  all.add({"east"}, east);
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"good", 1, 1}, {"twice", 1, 1}}));  // there is a pod twice-0
  const federation_report report = all.decide();
  CHECK(places(report) == lines{"good>east"});
  REQUIRE(waiting(report) == lines{"twice"});
  CHECK(verdict_of(all.f, report, "twice", "east") == member_verdict::wrong_input);
  CHECK(report.waits.front().text.find("twice-0") != std::string::npos);
}

TEST_CASE("dimensions are those of names, in whatever order clusters have them") {
  federated all;
  for (const bool turned : {false, true}) {
    builder b;
    b << builder::queue{"q"};
    auto state = std::make_shared<cluster>();
    test::rows names(table_kind::resource, table_op::add, {"name"});
    if (turned) names.add({"x/b"}).add({"x/a"});
    if (!turned) names.add({"x/a"}).add({"x/b"});
    must(state->apply(names));
    b.apply_to(*state);
    const test::numbers capacity =
        turned ? test::numbers{64000, 1000, 0, 10, 3, 0} : test::numbers{64000, 1000, 0, 10, 0, 2};
    must(state->apply(test::rows(table_kind::node, table_op::add, {"name", "capacity"}).add({"n", capacity})));
    must(all.f.add_member({turned ? "turned" : "straight"}, state, shared_engine()));
  }
  must(all.f.submit(test::one_table(
      test::rows(table_kind::resource, table_op::add, {"name"}).add({"x/a"}).add({"x/b"}).add({"x/c"}))));
  submit(all.f, queue_alone());
  std::vector<table> groups;
  groups.push_back(test::rows(table_kind::pod_group, table_op::add, {"name", "queue"})
                       .add({"three", "q"})
                       .add({"four", "q"})
                       .add({"other", "q"}));
  groups.push_back(test::rows(table_kind::pod, table_op::add, {"name", "group", "request"})
                       .add({"three-0", "three", test::numbers{1000, 0, 0, 1, 0, 3}})
                       .add({"four-0", "four", test::numbers{1000, 0, 0, 1, 0, 4}})
                       .add({"other-0", "other", test::numbers{1000, 0, 0, 1, 0, 0, 1}}));
  must(all.f.submit(groups));
  const federation_report report = all.decide();
  CHECK(places(report) == lines{"three>turned"});
  CHECK(verdict_of(all.f, report, "four", "turned") == member_verdict::never);
  CHECK(verdict_of(all.f, report, "other", "turned") == member_verdict::resource);
}

TEST_CASE("what is wrong is told, and nothing of it happens") {
  federated all;
  all.add({"east"}, site(1));
  const auto fails = [](const auto& r, std::string_view what) {
    REQUIRE(!r.ok());
    CHECK_MESSAGE(r.failure().message.find(what) != std::string::npos, r.failure().message);
  };
  fails(all.f.add_member({"east"}, shared_cluster(site(1)), shared_engine()), "there is a member 'east' already");
  fails(all.f.add_member({""}, shared_cluster(site(1)), shared_engine()), "is empty");
  fails(all.f.add_member({"x", {}, -1}, shared_cluster(site(1)), shared_engine()), "price");
  fails(all.f.add_member({"x"}, nullptr, shared_engine()), "no cluster");
  fails(all.f.add_member({"x"}, cluster_summary{}), "dimensions");
  fails(all.f.change_member({"y"}), "no member 'y'");
  fails(all.f.lose_member("y"), "no member 'y'");
  fails(all.f.summary("y", now), "no member 'y'");
  fails(all.f.wish("g", {}), "no pod group 'g'");
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"g", 1, 1}}));
  fails(all.f.submit(gangs({{"h", 1, 1}, {"g", 1, 1}}).tables()), "'g'");
  CHECK(!all.f.stage("h").ok());
  builder runs;
  runs << builder::group{"r", "q"} << builder::node{"n"} << builder::pod{"r-0", "r", 1000, "n"};
  fails(all.f.submit(runs.tables()), "takes");
  group_wishes heavy;
  heavy.preferred = {{"a", "b", 0}};
  fails(all.f.wish("g", heavy), "weight");
  group_wishes cheap;
  cheap.most_price = -2;
  fails(all.f.wish("g", cheap), "most_price");
  fails(all.f.submit(test::one_table(test::rows(table_kind::pod_group, table_op::remove, {"name"}).add({"g"}))),
        "withdrawn");
  cluster_summary odd = must(all.f.summary("east", now));
  odd.free.front().kind = 7;
  fails(all.f.add_member({"x"}, odd), "free: kind");
  cluster_summary less = must(all.f.summary("east", now));
  less.queues.front().allocated[dim_gpu] = -1;  // a limit over all members would not hold
  fails(all.f.add_member({"x"}, less), "queues: allocated");
  less = must(all.f.summary("east", now));
  less.waiting_gpu = -1;
  fails(all.f.add_member({"x"}, less), "negative");
  summary_limits none;
  none.kinds = 0;
  fails(summarise(engine(), site(1).take(), now, none), "at least 1");
}

TEST_CASE("a member whose engine fails holds nobody") {
  federated all;
  cluster& bad = all.add({"bad"}, site(1), {"parts", "predicates"});
  (void)bad;
  auto broken = std::make_shared<engine>();
  must(broken->set("actions", "allocate"));
  must(broken->set("parts", "no_such_part"));
  must(all.f.add_member({"broken"}, shared_cluster(site(1)), broken));
  submit(all.f, queue_alone());
  submit(all.f, gangs({{"g", 1, 8}}));
  const federation_report report = all.decide();
  CHECK(places(report) == lines{"g>bad"});
  REQUIRE(report.failures.size() == 1);
  CHECK(report.failures.front().member == "broken");
}

TEST_CASE("what is decided as tables") {
  namespace column = test::column;
  federated all;
  cluster& east = all.add({"east", {}, 9}, site(1));
  all.add({"west", {}, 5}, site(3));
  submit(all.f, queue_alone(16, 32));
  submit(all.f, gangs({{"a", 1, 8}, {"huge", 9, 8}}));
  const federation_report report = all.decide();
  REQUIRE(places(report) == lines{"a>west"});
  CHECK(report.members == lines{"east", "west"});
  const table placed = must(report.to_table(table_kind::federated_place));
  CHECK(column::texts(placed, col::federated_place_group_name) == lines{"a"});
  CHECK(column::texts(placed, col::federated_place_queue) == lines{"q"});
  CHECK(column::texts(placed, col::federated_place_member) == lines{"west"});
  CHECK(column::texts(placed, col::federated_place_stage) == lines{"starts"});
  CHECK(column::texts(placed, col::federated_place_by) == lines{"price"});
  CHECK(column::texts(placed, col::federated_place_runner_up) == lines{"east"});
  CHECK(column::numbers<std::uint32_t>(placed, col::federated_place_round) == std::vector<std::uint32_t>{1});
  CHECK(column::numbers<std::uint32_t>(placed, col::federated_place_pods) == std::vector<std::uint32_t>{1});
  CHECK(column::numbers<std::uint8_t>(placed, col::federated_place_returned) == std::vector<std::uint8_t>{0});

  const table waits = must(report.to_table(table_kind::federated_wait));
  CHECK(column::texts(waits, col::federated_wait_group_name) == lines{"huge"});
  CHECK(column::texts(waits, col::federated_wait_limit) == lines{"q"});
  CHECK(column::texts(waits, col::federated_wait_members) == lines{"east west"});
  CHECK(column::texts(waits, col::federated_wait_verdicts) == lines{"never never"});
  CHECK(column::numbers<std::int64_t>(waits, col::federated_wait_expected) == std::vector<std::int64_t>{-1});

  const table decided = must(report.to_table(table_kind::member_session));
  CHECK(column::texts(decided, col::member_session_member) == lines{"west"});
  CHECK(column::numbers<std::uint32_t>(decided, col::member_session_round) == std::vector<std::uint32_t>{1});
  CHECK(column::texts(decided, col::member_session_digest) == lines{report.sessions.front().decided.digest()});
  CHECK(report.to_table(table_kind::decision).failure().code == status::unsupported);

  const table queues = to_table(all.f.queues(now));
  CHECK(column::texts(queues, col::federated_queue_name) == lines{"q"});
  const auto gpus = [&](std::uint32_t of) { return column::numbers<std::int64_t>(queues, of)[dim_gpu]; };
  CHECK(gpus(col::federated_queue_quota) == 16000);
  CHECK(gpus(col::federated_queue_limit) == 32000);
  CHECK(gpus(col::federated_queue_allocated) == 8000);

  must(all.f.change_member({"east"}));  // for nothing now: the next one goes there, and comes back
  submit(all.f, gangs({{"b", 1, 8}}));
  REQUIRE(places(all.decide()) == lines{"b>east"});
  must(east.confirm(std::vector<entity_id>{must(east.find(entity_kind::pod, "b-0"))}));
  must(east.apply(test::rows(table_kind::pod, table_op::change, {"name", "status", "node"}).add({"b-0", 0, ""})));
  must(east.apply(test::rows(table_kind::node, table_op::change, {"name", "ready"}).add({"n0", 0})));
  const federation_report later = all.decide();
  CHECK(column::texts(must(later.to_table(table_kind::federated_place)), col::federated_place_group_name) ==
        lines{"b"});
  CHECK(column::numbers<std::uint8_t>(must(later.to_table(table_kind::federated_place)),
                                      col::federated_place_returned) == std::vector<std::uint8_t>{1});

  federated broken;
  auto with = std::make_shared<engine>();
  must(with->set("parts", "no_such_part"));
  must(broken.f.add_member({"broken"}, shared_cluster(site(1)), with));
  const table failed = must(broken.decide().to_table(table_kind::member_session));
  CHECK(column::texts(failed, col::member_session_digest) == lines{""});
  CHECK(column::texts(failed, col::member_session_text)[0].find("no_such_part") != std::string::npos);
}

TEST_CASE("a summary tells nodes by kind, room by domain, and is small") {
  builder b;
  for (int n = 0; n < 64; ++n)
    b << builder::node{
        "n" + std::to_string(n),
        8,
        64,
        {"host", "n" + std::to_string(n), "rack", "r" + std::to_string(n / 4), "model", n < 32 ? "a" : "b"}};
  b << builder::queue{"q", "", 64, 128};
  b << builder::group{"r", "q"} << builder::pod{"r-0", "r", 3000, "n0"} << builder::pod{"r-1", "r", 500, "n1"};
  b << builder::group{"w", "q"} << builder::pod{"w-0", "w", 2000};
  cluster c;
  b.apply_to(c);
  must(c.apply(test::rows(table_kind::topology, table_op::add, {"name", "levels", "primary"})
                   .add({"t", test::texts{"rack"}, 1})));
  const cluster_summary s = must(summarise(engine(), c.take_snapshot(), now));
  CHECK(s.nodes == 64);
  CHECK(s.gpu == 512000);
  CHECK(s.free_gpu == 508500);
  CHECK(s.waiting_gpu == 2000);
  CHECK(s.waiting_pods == 1);
  CHECK(s.unknown_labels == lines{"host"});
  CHECK(s.kinds.size() == 16);  // a rack has one model
  REQUIRE(s.queues.size() == 1);
  CHECK(s.queues[0].allocated[dim_gpu] == 3500);
  CHECK(s.queues[0].quota[dim_gpu] == 64000);
  CHECK(s.queues[0].fair_share[dim_gpu] == 5500);
  REQUIRE(s.domains.size() == 4);  // pods of 1, 2, 4, 8
  CHECK(s.domains[0].free == std::vector<std::pair<std::int64_t, std::int64_t>>{{28, 1}, {32, 15}});
  CHECK(s.domains[3].free == std::vector<std::pair<std::int64_t, std::int64_t>>{{2, 1}, {4, 15}});
  CHECK(s.domains[3].empty == std::vector<std::pair<std::int64_t, std::int64_t>>{{4, 16}});
  summary_limits few;
  few.kinds = 4;
  const cluster_summary small = must(summarise(engine(), c.take_snapshot(), now, few));
  CHECK(small.kinds.size() == 2);
  CHECK(small.free.size() == 4);  // of the first model: none used, 5 whole ones, 7 whole ones; all of the other
  CHECK(small.unknown_labels == lines{"host", "rack"});
  CHECK(must(summary_from_json(summary_to_json(s), "s")) == s);
  CHECK(must(summary_from_json(summary_to_json(small), "s")) == small);
}

TEST_CASE("names of what is told") {
  CHECK(member_criterion_name(member_criterion::only) == "only");
  CHECK(member_fit_name(member_fit::spread) == "spread");
  CHECK(member_verdict_name(member_verdict::wrong_input) == "wrong_input");
  CHECK(group_stage_name(group_stage::runs) == "runs");
}

}  // namespace of_test_federation
