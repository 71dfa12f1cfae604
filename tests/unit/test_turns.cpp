// Queues that take turns: figures by hand from the published rules, and what turns decide over small clusters of GPUs.
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "schedulers/yunikorn/rules/cycle.hpp"
#include "schedulers/yunikorn/rules/preemption.hpp"
#include "schedulers/yunikorn/rules/settings.hpp"
#include "schedulers/yunikorn/rules/shares.hpp"

namespace kaisched::yunikorn {

namespace {

constexpr std::int64_t second = 1'000'000'000;

/// Two dimensions: cores and GPUs.
amounts gpus(std::int64_t count, std::int64_t cores = 0) { return {cores, count}; }

/// A cluster that is written down row by row; the top of the tree is there.
class written {
 public:
  written() {
    cluster.unit = {1, 1};
    cluster.order.weights = {0, 1};
    cluster.reservation_delay = -1;
    queue("", no_row);
  }

  row queue(const std::string& name, row parent = 0, std::int64_t guaranteed = undefined,
            std::int64_t most = undefined) {
    queue_state made;
    made.name = name;
    made.parent = parent;
    made.guaranteed = {undefined, guaranteed};
    made.most = {undefined, most};
    made.rules.preemption_delay = 30 * second;
    cluster.queues.push_back(made);
    if (parent != no_row) cluster.queues[parent].children.push_back(cluster.queues.size() - 1);
    return cluster.queues.size() - 1;
  }

  row node(const std::string& name, std::int64_t count) {
    cluster.nodes.push_back({name, gpus(count, 100), gpus(count, 100), {}, no_row});
    return cluster.nodes.size() - 1;
  }

  /// So many pods of an application; as many of them start together as `min` says.
  row app(const std::string& name, row queue, std::int64_t pods, std::int64_t each, std::int64_t created = 0,
          std::int64_t min = 1, std::int64_t priority = 0) {
    const row at = start_app(name, queue, created, min);
    for (std::int64_t p = 0; p < pods; ++p) ask(at, gpus(each), priority, created);
    return at;
  }

  row start_app(const std::string& name, row queue, std::int64_t created = 0, std::int64_t min = 1) {
    app_state made;
    made.name = name;
    made.queue = queue;
    made.created = created * second;
    made.sets.push_back({min, 0});
    cluster.apps.push_back(made);
    cluster.queues[queue].apps.push_back(cluster.apps.size() - 1);
    return cluster.apps.size() - 1;
  }

  row ask(row app, const amounts& request, std::int64_t priority = 0, std::int64_t created = 0) {
    const row at = cluster.asks.size();
    ask_state made;
    made.name = cluster.apps[app].name + "-" + std::to_string(cluster.apps[app].asks.size());
    made.app = app;
    made.set = 0;
    made.priority = priority;
    made.created = created * second;
    const auto [kind, is_new] = kinds_.try_emplace(request, cluster.kinds.size());
    if (is_new) cluster.kinds.push_back({request, nullptr, {}});
    made.kind = kind->second;
    cluster.asks.push_back(made);
    cluster.apps[app].asks.push_back(at);
    return at;
  }

  /// A pod that runs.
  row runs(row app, row node, std::int64_t count, std::int64_t priority = 0, std::int64_t created = 0) {
    const row at = ask(app, gpus(count), priority, created);
    cluster.asks[at].status = ask_status::running;
    cluster.asks[at].node = node;
    cluster.apps[app].runs = true;
    subtract(cluster.nodes[node].available, gpus(count));
    return at;
  }

  cluster_state cluster;

 private:
  std::map<amounts, row> kinds_;
};

/// Starts whatever it is told to, and remembers it as text.
class listener final : public host {
 public:
  explicit listener(const cluster_state& of) : of_(of) {}
  result<void> go_on() override { return {}; }
  bool accepts(row ask, row node) override { return !refuses.contains({of_.asks[ask].name, of_.nodes[node].name}); }
  result<start_answer> start(std::span<const placement> all, std::span<const row> victims) override {
    for (const placement& one : all) {
      if (!accepts(one.ask, one.node)) return start_answer{start_answer::outcome::no_place, one.ask};
    }
    for (const row one : victims) told += "-" + of_.asks[one].name + " ";
    for (const placement& one : all)
      told += of_.asks[one.ask].name + (one.waits ? ">" : "=") + of_.nodes[one.node].name + " ";
    return start_answer{};
  }

  std::string told;
  std::set<std::pair<std::string, std::string>> refuses;

 private:
  const cluster_state& of_;
};

std::string turns_of(written& w) {
  listener heard(w.cluster);
  REQUIRE(take_turns(w.cluster, heard).ok());
  return heard.told;
}

}  // namespace

TEST_CASE("shares of queues: of the guarantee where there is one, else of the most that a queue may have") {
  // A has 4 of 8 that are guaranteed, B 3 of at most 10: .5 and .3, so B is the first.
  CHECK(fair_share(gpus(4), {undefined, 8}, {undefined, 10}) == 0.5);
  CHECK(fair_share(gpus(3), {undefined, undefined}, {undefined, 10}) == 0.3);
  CHECK(fair_share(gpus(3), {undefined, undefined}, {undefined, undefined}) == 0);
  // Of an explicit nothing: nothing unused, all of it used.
  CHECK(fair_share(gpus(0), {undefined, 0}, {undefined, 10}) == 0);
  CHECK(fair_share(gpus(1), {undefined, 0}, {undefined, 10}) == 1);
  // The largest dimension counts; what has a guarantee beside what has none.
  CHECK(fair_share(gpus(2, 30), {undefined, 4}, {40, 16}) == 0.75);
}

TEST_CASE("shares of applications are compared from the largest on, and what is missing counts as nothing") {
  const std::vector<double> one{1, 1};
  CHECK(shares_of(gpus(2, 8), {16, 8}, one) == std::vector<double>{0.25, 0.5});
  CHECK(shares_of(gpus(0, 8), {undefined, 8}, {2, 1}) == std::vector<double>{4});  // no total: itself
  CHECK(compare_shares({0.25, 0.5}, {0.3, 0.5}) < 0);
  CHECK(compare_shares({0.5}, {0.25, 0.5}) < 0);
  CHECK(compare_shares({0, 0.5}, {0.5}) == 0);
  CHECK(compare_shares({0.75}, {0.25, 0.5}) > 0);
}

TEST_CASE("nodes are ordered by the weighted share in use, or by what is not in use") {
  const node_state node{"n", {10, 8}, {5, 6}, {}, no_row};
  CHECK(node_usage(node, {1, 0}) == 0.5);
  CHECK(node_usage(node, {1, 1}) == 0.375);
  CHECK(node_usage(node, {1, 3}) == (0.5 + 0.75) / 4);
  CHECK(node_usage(node, {0, 0}) == 0);
  CHECK(node_score(node, {true, {1, 1}}) == 0.625);
  const node_state bare{"b", {10, 0}, {5, 0}, {}, no_row};
  CHECK(node_usage(bare, {1, 1}) == 0.5);  // it has no GPUs: they do not count
}

TEST_CASE("what of a request is not covered, dimension by dimension") {
  CHECK(unmet(gpus(1, 1000), gpus(1, 100)) == 0.9);
  CHECK(unmet(gpus(1, 100), gpus(0, 10)) == 1.9);
  CHECK(unmet(gpus(1, 1), gpus(2, 2)) == 0);
}

TEST_CASE("queues get one pod each turn, the smaller share first") {
  written w;
  const row a = w.queue("a", 0, 2);
  const row b = w.queue("b", 0, 1);
  w.node("n", 6);
  w.app("x", a, 4, 1);
  w.app("y", b, 4, 1);
  // Shares in turn: 0 0, then a 1/2 before b 1/1, then a 1 and b 1: more waits for b; then a before b again.
  CHECK(turns_of(w) == "x-0=n y-0=n x-1=n y-1=n x-2=n x-3=n ");
}

TEST_CASE("priority comes before share, unless a queue says otherwise") {
  for (const bool first : {true, false}) {
    written w;
    const row a = w.queue("a", 0, 2);
    const row b = w.queue("b", 0, 2);
    w.cluster.queues[0].rules.priority_first = first;
    w.node("n", 4);
    w.app("x", a, 3, 1);
    w.app("y", b, 3, 1, 0, 1, 5);
    CHECK(turns_of(w) == (first ? "y-0=n y-1=n y-2=n x-0=n " : "y-0=n x-0=n y-1=n x-1=n "));
  }
}

TEST_CASE("others see the priorities of a queue with its offset, or the offset alone") {
  for (const bool fence : {false, true}) {
    written w;
    const row a = w.queue("a");
    const row b = w.queue("b");
    w.cluster.queues[a].rules.priority_offset = 3;
    w.cluster.queues[a].rules.priority_fence = fence;
    w.node("n", 2);
    w.app("x", a, 1, 1, 0, 1, 2);
    w.app("y", b, 1, 1, 0, 1, 4);
    CHECK(turns_of(w) == (fence ? "y-0=n x-0=n " : "x-0=n y-0=n "));
  }
}

TEST_CASE("applications come by age, or by shares of what their queue is guaranteed") {
  for (const bool fair : {false, true}) {
    written w;
    const row q = w.queue("q", 0, 4);
    w.cluster.queues[q].rules.apps = fair ? app_order::fair : app_order::fifo;
    w.node("n", 4);
    w.app("young", q, 2, 1, 5);
    w.app("old", q, 2, 1, 1);
    CHECK(turns_of(w) == (fair ? "old-0=n young-0=n old-1=n young-1=n " : "old-0=n old-1=n young-0=n young-1=n "));
  }
}

TEST_CASE("no queue takes more than it and all above it may, and smaller asks go on") {
  written w;
  const row above = w.queue("above", 0, undefined, 3);
  const row a = w.queue("a", above, undefined, 2);
  const row b = w.queue("b", above);
  w.node("n", 8);
  w.app("x", a, 3, 1);
  w.app("y", b, 1, 2, 1);
  w.app("z", b, 2, 1, 2);
  // y wants 2: after x-0 and z-0... its queue comes first with nothing in use.
  CHECK(turns_of(w) == "y-0=n x-0=n ");
  CHECK(w.cluster.queues[above].used == gpus(3));
}

TEST_CASE("so many applications run at a time, and what runs goes on") {
  written w;
  const row q = w.queue("q");
  w.cluster.queues[q].rules.most_apps = 1;
  w.node("n", 8);
  w.app("x", q, 2, 1, 1);
  w.app("y", q, 1, 1, 2);
  CHECK(turns_of(w) == "x-0=n x-1=n ");
}

TEST_CASE("limits of users hold in a queue and below it; a star is everybody without one of their own") {
  written w;
  const row q = w.queue("q");
  w.cluster.queues[0].rules.limits = {{"ann", {undefined, 2}, undefined}, {"*", {undefined, 1}, undefined}};
  w.node("n", 8);
  for (const std::string user : {"ann", "bob", "eve"}) w.cluster.apps[w.app(user, q, 3, 1)].user = user;
  CHECK(turns_of(w) == "ann-0=n ann-1=n bob-0=n eve-0=n ");
}

TEST_CASE("the emptiest node, or the fullest that has room; names decide between equals") {
  for (const bool packs : {false, true}) {
    written w;
    w.cluster.order.packs = packs;
    const row q = w.queue("q");
    w.node("b", 4);
    w.node("a", 4);
    w.app("x", q, 5, 1);
    CHECK(turns_of(w) == (packs ? "x-0=a x-1=a x-2=a x-3=a x-4=b " : "x-0=a x-1=b x-2=a x-3=b x-4=a "));
  }
}

TEST_CASE("a node that refuses is passed over") {
  written w;
  const row q = w.queue("q");
  w.node("a", 4);
  w.node("b", 4);
  w.app("x", q, 1, 1);
  listener heard(w.cluster);
  heard.refuses = {{"x-0", "a"}};
  REQUIRE(take_turns(w.cluster, heard).ok());
  CHECK(heard.told == "x-0=b ");
}

TEST_CASE("a gang starts once it is complete; the one that began last gives way, and is tried again") {
  written w;
  const row a = w.queue("a");
  const row b = w.queue("b");
  w.node("n", 6);
  w.app("x", a, 5, 1, 0, 5);
  w.app("y", b, 2, 2, 1, 2);
  w.app("z", b, 1, 1, 2);
  // x and y hold 4 and 2; y gives way, its queue has the smaller share then, and x takes the rest.
  CHECK(turns_of(w) == "z-0=n x-0=n x-1=n x-2=n x-3=n x-4=n ");
  CHECK(w.cluster.nodes[0].available == gpus(0, 100));
}

TEST_CASE("a gang without room for all gives back what it held") {
  written w;
  const row q = w.queue("q");
  w.node("n", 4);
  w.app("x", q, 5, 1, 0, 5);
  w.app("y", q, 1, 3, 1);
  CHECK(turns_of(w) == "y-0=n ");
  CHECK(w.cluster.queues[q].used == gpus(3));
  CHECK(w.cluster.queues[q].pending == gpus(5));
}

TEST_CASE("a gang that lost a node at the last moment looks for another one") {
  written w;
  const row q = w.queue("q");
  w.node("a", 1);
  w.node("b", 2);
  w.app("x", q, 2, 1, 0, 2);
  listener heard(w.cluster);
  heard.refuses = {{"x-1", "a"}};
  REQUIRE(take_turns(w.cluster, heard).ok());
  CHECK(heard.told == "x-0=a x-1=b ");
}

TEST_CASE("an ask that has waited keeps the node that lacks least of it") {
  written w;
  const row a = w.queue("a");
  const row b = w.queue("b");
  w.cluster.reservation_delay = 2 * second;
  w.cluster.now = 10 * second;
  w.node("m", 8);
  w.node("n", 8);
  w.runs(w.start_app("r", a), 0, 3);
  w.runs(w.start_app("s", a), 1, 2);
  w.app("large", a, 1, 8, 1, 1, 5);
  w.app("small", b, 7, 1, 9);
  CHECK(turns_of(w) == "small-0=m small-1=m small-2=m small-3=m small-4=m ");
  CHECK(w.cluster.nodes[1].reserved_for != no_row);
}

TEST_CASE("others leave so that a queue gets what it is guaranteed, the youngest first") {
  written w;
  const row a = w.queue("a", 0, 4);
  const row b = w.queue("b", 0, 2);
  w.cluster.now = 60 * second;
  w.node("n", 6);
  const row app = w.start_app("y", b);
  for (std::int64_t i = 0; i < 6; ++i) w.runs(app, 0, 1, 0, i);
  w.app("x", a, 5, 1);
  // Four of the five: then a has what it is guaranteed. The pods that wait for those that leave keep the node.
  CHECK(turns_of(w).starts_with("-y-5 x-0>n "));
}

TEST_CASE("nobody leaves before the delay, for who has its guarantee, for lower priority, or where it is forbidden") {
  const auto decided = [](auto&& change) {
    written w;
    const row a = w.queue("a", 0, 4);
    const row b = w.queue("b");
    w.cluster.now = 60 * second;
    w.node("n", 4);
    const row app = w.start_app("y", b);
    for (std::int64_t i = 0; i < 4; ++i) w.runs(app, 0, 1, 3, i);
    w.app("x", a, 1, 1, 0, 1, 3);
    change(w, a, b);
    return turns_of(w);
  };
  CHECK(decided([](written&, row, row) {}) == "-y-3 x-0>n ");
  CHECK(decided([](written& w, row, row) { w.cluster.now = 29 * second; }).empty());
  CHECK(decided([](written& w, row, row) { w.cluster.preempts = false; }).empty());
  CHECK(decided([](written& w, row a, row) { w.cluster.queues[a].guaranteed[1] = undefined; }).empty());
  CHECK(decided([](written& w, row, row b) { w.cluster.queues[b].guaranteed[1] = 4; }).empty());
  CHECK(decided([](written& w, row, row) { w.cluster.asks.back().priority = 2; }).empty());
  CHECK(decided([](written& w, row, row b) {
          w.cluster.queues[b].rules.preemption = preemption_policy::disabled;
        }).empty());
  CHECK(
      decided([](written& w, row a, row) { w.cluster.queues[a].rules.preemption = preemption_policy::fence; }).empty());
  // Offsets: what runs in b counts as 2 for a, and as 4.
  CHECK(decided([](written& w, row, row b) {
          w.cluster.asks.back().priority = 2;
          w.cluster.queues[b].rules.priority_offset = -1;
        }) == "-y-3 x-0>n ");
  CHECK(decided([](written& w, row, row b) { w.cluster.queues[b].rules.priority_offset = 1; }).empty());
  // A fenced queue is one block.
  CHECK(decided([](written& w, row, row b) {
          w.cluster.asks.back().priority = 0;
          w.cluster.queues[b].rules.priority_fence = true;
        }) == "-y-3 x-0>n ");
}

TEST_CASE("who allows it leaves before originators, and these before those that do not allow it") {
  written w;
  const row a = w.queue("a", 0, 4);
  const row b = w.queue("b");
  w.cluster.now = 60 * second;
  w.node("m", 1);
  w.node("n", 2);
  const row app = w.start_app("y", b);
  w.cluster.asks[w.runs(app, 0, 1, 0, 9)].allows_preemption = false;
  w.cluster.asks[w.runs(app, 1, 1, 0, 8)].is_originator = true;
  w.runs(app, 1, 1, 0, 1);
  w.app("x", a, 1, 1);
  CHECK(turns_of(w) == "-y-2 x-0>n ");
}

TEST_CASE("the node on which the fewest must leave, and no more than cover what it lacks") {
  written w;
  const row a = w.queue("a", 0, 4);
  const row b = w.queue("b");
  w.cluster.now = 60 * second;
  w.node("m", 4);
  w.node("n", 4);
  const row app = w.start_app("y", b);
  for (int i = 0; i < 4; ++i) w.runs(app, 0, 1);
  w.runs(app, 1, 1);
  w.runs(app, 1, 2, 0, 5);
  w.app("x", a, 1, 3);
  CHECK(turns_of(w) == "-y-5 x-0>n ");
}

TEST_CASE("room that is coming is waited for before anybody else has to leave") {
  written w;
  const row a = w.queue("a", 0, 4);
  const row b = w.queue("b");
  w.cluster.now = 60 * second;
  w.node("m", 2);
  w.node("n", 2);
  const row app = w.start_app("y", b);
  w.runs(app, 0, 2);
  w.cluster.nodes[1].available = gpus(0, 100);
  w.cluster.nodes[1].coming = gpus(2);
  w.app("x", a, 1, 2);
  CHECK(turns_of(w) == "x-0>n ");
}

TEST_CASE("settings: what is wrong is named") {
  const auto fault = [](const std::string& text) {
    const result<scheduler_setup> made = make_setup({text});
    return made ? std::string() : made.failure().message;
  };
  CHECK(fault("nodes.order=binpacking").empty());
  CHECK(fault("apps.order@team=fair").empty());
  CHECK(fault("limit.system:ann@x.y:gpu@team=2.5").empty());
  CHECK(fault("nodes.order") == "option yunikorn.settings: 'nodes.order': it is not key=value or key@queue=value");
  CHECK(fault("nodes.ordr=fair") ==
        "option yunikorn.settings: 'nodes.ordr=fair': there is no such setting; did you mean 'nodes.order'?");
  CHECK(fault("nodes.order=best") == "option yunikorn.settings: 'nodes.order=best': 'best' is not fair or binpacking");
  CHECK(fault("nodes.order@a=fair") == "option yunikorn.settings: 'nodes.order@a=fair': it is not that of a queue");
  CHECK(fault("priority.offset=3") ==
        "option yunikorn.settings: 'priority.offset=3': it needs a queue: key@queue=value");
  CHECK(fault("apps.most@a=0.5") ==
        "option yunikorn.settings: 'apps.most@a=0.5': '0.5' is not an integer from 1 to 1e9");
  CHECK(fault("apps.order@=fair") == "option yunikorn.settings: 'apps.order@=fair': it names no queue");
  CHECK(fault("nodes.weight.gpu=-1") ==
        "option yunikorn.settings: 'nodes.weight.gpu=-1': '-1' is not a number from 0 to 1e6");
  CHECK(fault("limit.ann@a=1") ==
        "option yunikorn.settings: 'limit.ann@a=1': a limit is limit.USER:RESOURCE@QUEUE or limit.USER:apps@QUEUE");
  CHECK(fault("limit.ann:gpu=1").empty());  // of all queues together
}

TEST_CASE("settings are handed down, fences and offsets are not") {
  written w;
  const row a = w.queue("a");
  const row b = w.queue("b", a);
  const auto made = make_setup({"apps.order=fair", "apps.order@b=fifo", "priority.offset@a=5", "priority.fence@a=true",
                                "preemption.policy@a=disabled", "preemption.delay@a=1.5", "limit.ann:gpu@a=2",
                                "limit.ann:apps@a=3", "nodes.weight.gpu=2", "nodes.order=binpacking"});
  REQUIRE(made.ok());
  const find_resource find = [](std::string_view name) -> std::optional<resource_unit> {
    if (name == "cpu") return resource_unit{0, 1};
    if (name == "gpu") return resource_unit{1, 1000};
    return std::nullopt;
  };
  REQUIRE(apply(*made, find, w.cluster).ok());
  const queue_rules& above = w.cluster.queues[a].rules;
  const queue_rules& below = w.cluster.queues[b].rules;
  CHECK((above.apps == app_order::fair && below.apps == app_order::fifo));
  CHECK((above.priority_offset == 5 && below.priority_offset == 0));
  CHECK((above.priority_fence && !below.priority_fence));
  CHECK((above.preemption == preemption_policy::disabled && below.preemption == preemption_policy::disabled));
  CHECK((above.preemption_delay == 3 * second / 2 && below.preemption_delay == 3 * second / 2));
  CHECK(w.cluster.queues[0].rules.preemption_delay == 30 * second);
  REQUIRE(above.limits.size() == 1);
  CHECK((above.limits[0].most == bounds{undefined, 2000} && above.limits[0].apps == 3));
  CHECK(below.limits.empty());
  CHECK((w.cluster.order.packs && w.cluster.order.weights == std::vector<double>{1, 2}));
  const auto unknown = make_setup({"limit.ann:tpu@a=2"});
  CHECK(apply(*unknown, find, w.cluster).failure().message ==
        "option yunikorn.settings: 'limit.ann:tpu@a=2': there is no resource 'tpu'");
}

}  // namespace kaisched::yunikorn
