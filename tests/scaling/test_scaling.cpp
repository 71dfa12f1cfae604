/// Which nodes to add for what waits, and which can be given back.
#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/scaling.hpp>

#include "columns.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_scaling {

using namespace kaisched;
using test::add;
using test::builder;
using test::change;
using test::must;
using test::numbers;
using test::second;
using test::texts;

namespace {

constexpr std::int64_t now = 1000 * second;

struct offer {
  builder::node node;
  std::int64_t price = 0;
  std::int64_t most = 8;
  std::vector<new_domain> domains{};
};

node_offers offers(const std::vector<offer>& all) {
  builder b;
  node_offers made;
  for (const offer& one : all) {
    b << one.node;
    made.types.push_back({one.node.name, one.price, one.most, one.domains});
  }
  made.nodes = b.take();
  return made;
}

scale_report asked(const snapshot& base, const node_offers& can_be_had, const scale_question& question = {},
                   const engine& with = engine()) {
  return must(scale(with, base, now, can_be_had, question));
}

scale_question only_up() {
  scale_question q;
  q.down = false;
  return q;
}
scale_question only_down() {
  scale_question q;
  q.up = false;
  return q;
}

/// `2 big, 1 small`.
std::string added(const scale_up_answer& of) {
  std::string text;
  for (const node_addition& one : of.added)
    text += (text.empty() ? "" : ", ") + std::to_string(one.nodes.size()) + " " + one.type;
  return text;
}

std::string failure(const result<scale_report>& r) { return r ? std::string() : r.failure().message; }

const returned_node& node_of(const scale_down_answer& of, const std::string& name) {
  const auto found = std::find_if(of.nodes.begin(), of.nodes.end(), [&](const auto& one) { return one.name == name; });
  REQUIRE(found != of.nodes.end());
  return *found;
}

/// A group with one running pod of so many milli-GPU.
void runs(builder& b, const std::string& name, const std::string& queue, std::int64_t gpu_milli,
          const std::string& node, bool preemptible = true) {
  b << builder::group{name, queue, 1, 50, 0, preemptible} << builder::pod{name + "-0", name, gpu_milli, node};
}

}  // namespace

TEST_CASE("a gang gets the nodes that it needs, together") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("train", "q", 3, 8000);
  const snapshot base = b.take();
  const scale_report report = asked(base, offers({{{"big", 8}, 70}}), only_up());
  CHECK(added(report.up) == "3 big");
  CHECK(report.up.cost == 210);
  CHECK(report.up.lower_bound == 210);  // the four GPUs that are there hold none of its pods
  CHECK(report.up.cheapest);
  CHECK(report.up.minimal);
  REQUIRE(report.up.groups.size() == 1);
  const scaled_group& one = report.up.groups.front();
  CHECK(report.up.over.group_name(one.group) == "train");
  CHECK(one.waited == 3);
  CHECK(one.placed == 3);
  CHECK(one.helped);
  CHECK(one.texts.empty());
  REQUIRE(one.decisions.size() == 3);
  CHECK(report.up.over.node_name(one.decisions.front().node).starts_with("big+"));
  CHECK(report.down.nodes.empty());
}

TEST_CASE("what is free is used first, and what starts now needs nothing") {
  builder b;
  b << builder::node{"n", 8} << builder::queue{"q"};
  b.gang("starts", "q", 2, 2000);
  const scale_report nothing = asked(b.take(), offers({{{"big", 8}, 70}}), only_up());
  CHECK(nothing.up.added.empty());
  CHECK(nothing.up.cost == 0);
  CHECK(nothing.up.groups.empty());
  b.gang("waits", "q", 2, 4000);  // one of its pods fits beside the others
  const scale_report report = asked(b.take(), offers({{{"big", 8}, 70}, {{"half", 4}, 40}}), only_up());
  CHECK(added(report.up) == "1 half");
  CHECK(report.up.cheapest);
}

TEST_CASE("the cheapest mixture, not the largest node") {
  builder b;
  b << builder::queue{"q"};
  b.gang("large", "q", 1, 8000);
  b.gang("small", "q", 3, 1000);
  const node_offers all = offers({{{"big", 8}, 100}, {{"four", 4}, 60}, {{"one", 1}, 25}});
  const scale_report report = asked(b.take(), all, only_up());
  CHECK(added(report.up) == "1 big, 1 four");  // three of `one` would be 75
  CHECK(report.up.cost == 160);
  CHECK(report.up.cheapest);
  const node_offers scarce = offers({{{"big", 8}, 100}, {{"four", 4}, 60, 0}, {{"one", 1}, 25, 2}});
  CHECK(added(asked(b.take(), scarce, only_up()).up) == "2 big");  // only two of `one` can be had
}

TEST_CASE("limits of queues are not helped by nodes, and are told") {
  builder b;
  b << builder::queue{"tight", "", unlimited, 4} << builder::queue{"free"};
  b.gang("held", "tight", 1, 8000);
  b.gang("other", "free", 1, 8000);
  const scale_report report = asked(b.take(), offers({{{"big", 8}, 70}}), only_up());
  CHECK(added(report.up) == "1 big");
  REQUIRE(report.up.groups.size() == 2);
  for (const scaled_group& one : report.up.groups) {
    const bool held = report.up.over.group_name(one.group) == "held";
    CHECK(one.helped == !held);
    CHECK(one.placed == (held ? 0 : 1));
    if (!held) continue;
    REQUIRE(!one.reasons.empty());
    CHECK(one.reasons.front().what == constraint::queue_limit);
    CHECK(one.texts.size() == one.reasons.size());
  }
}

TEST_CASE("selectors, taints and requests say which types are of use") {
  builder b;
  b << builder::queue{"q"};
  b << builder::group{"picky", "q"};
  b << builder::pod{"picky-0", "picky", 1000, "", 1000, "", {"model", "h"}};
  const offer wrong{{"a", 8, 64, {"model", "a"}}, 10};
  const offer tainted{{"t", 8, 64, {"model", "h"}, {"mine:NoSchedule"}}, 10};
  const offer right{{"h", 8, 64, {"model", "h"}}, 90};
  CHECK(added(asked(b.take(), offers({wrong, tainted, right}), only_up()).up) == "1 h");
  const scale_report nobody = asked(b.take(), offers({wrong, tainted}), only_up());
  CHECK(nobody.up.added.empty());
  REQUIRE(nobody.up.groups.size() == 1);
  CHECK(!nobody.up.groups.front().helped);
  CHECK(!nobody.up.groups.front().texts.empty());
}

TEST_CASE("nodes come in domains of the topology") {
  builder b;
  b << builder::node{"n", 8, 64, {"rack", "r0"}} << builder::queue{"q"};
  runs(b, "there", "q", 8000, "n");
  b.gang("near", "q", 2, 8000);
  cluster c;
  must(c.apply(add(table_kind::topology, {"name", "levels", "primary"}).add({"t", texts{"rack"}, 1})));
  b.apply_to(c);
  must(c.apply(change(table_kind::pod_group, {"name", "topology", "required_level"}).add({"near", "t", "rack"})));
  const snapshot base = c.take_snapshot();
  const offer alone{{"alone", 8}, 10, 8, {{"rack", 1}}};
  const offer paired{{"paired", 8}, 50, 8, {{"rack", 2}}};
  const offer beside{{"beside", 8, 64, {"rack", "r0"}}, 70};
  CHECK(added(asked(base, offers({alone, paired, beside}), only_up()).up) == "2 paired");
  CHECK(added(asked(base, offers({alone, beside}), only_up()).up) == "2 beside");
  const scale_report none = asked(base, offers({alone}), only_up());
  CHECK(none.up.added.empty());
  REQUIRE(none.up.groups.size() == 1);
  CHECK(none.up.groups.front().reasons.front().what == constraint::topology);
}

TEST_CASE("parts of GPUs share nodes") {
  builder b;
  b << builder::queue{"q"};
  for (int i = 0; i < 5; ++i) b.gang("part" + std::to_string(i), "q", 1, 500);
  const scale_report report = asked(b.take(), offers({{{"two", 2}, 30}, {{"one", 1}, 20}}), only_up());
  CHECK(added(report.up) == "1 one, 1 two");
  CHECK(report.up.cost == 50);
  CHECK(report.up.lower_bound == 40);  // two and a half GPUs of `two` are 37.5, and prices are multiples of 10
  CHECK(report.up.cheapest);
}

TEST_CASE("instances of divided GPUs and memory of GPUs are bought where they are") {
  constexpr std::int64_t giga = 1'000'000'000;
  const std::string mig = "nvidia.com/mig-1g.10gb";
  const auto resources = add(table_kind::resource, {"name"}).add({mig});
  cluster c;
  must(c.apply(resources));
  must(c.apply(add(table_kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(table_kind::pod_group, {"name", "queue"}).add({"slice", "q"}).add({"part", "q"})));
  must(c.apply(add(table_kind::pod, {"name", "group", "request", "gpu_memory", "device_count"})
                   .add({"slice-0", "slice", numbers{1000, 0, 0, 1, 3}, 0, 0})
                   .add({"part-0", "part", numbers{1000, 0, 0, 1, 0}, 30 * giga, 1})));
  cluster shop;
  must(shop.apply(resources));
  must(shop.apply(add(table_kind::node, {"name", "capacity", "gpu_memory"})
                      .add({"divided", numbers{8000, giga, 0, 110, 7}, 0})
                      .add({"few", numbers{8000, giga, 0, 110, 2}, 0})
                      .add({"large", numbers{8000, giga, 1000, 110, 0}, 40 * giga})
                      .add({"small", numbers{8000, giga, 1000, 110, 0}, 20 * giga})));
  const node_offers all{shop.take_snapshot(),
                        {{"divided", 30, 2, {}}, {"few", 5, 9, {}}, {"large", 20, 2, {}}, {"small", 2, 9, {}}}};
  const scale_report report = asked(c.take_snapshot(), all, only_up());
  CHECK(added(report.up) == "1 divided, 1 large");
  CHECK(report.up.lower_bound <= 50);
}

TEST_CASE("only some groups are asked about, and others compete as they would") {
  builder b;
  b << builder::queue{"all"} << builder::queue{"a", "all"} << builder::queue{"b", "all"};
  b.gang("first", "a", 1, 8000);
  b.gang("second", "b", 1, 8000);
  scale_question question = only_up();
  question.queues = {"a"};
  const scale_report report = asked(b.take(), offers({{{"big", 8}, 70}}), question);
  REQUIRE(report.up.groups.size() == 1);
  CHECK(report.up.over.group_name(report.up.groups.front().group) == "first");
  CHECK(added(report.up) == "1 big");
  question.queues = {};
  question.groups = {"second"};
  const scale_report behind = asked(b.take(), offers({{{"big", 8}, 70}}), question);
  CHECK(added(behind.up) == "2 big");  // the older one is served first
  CHECK(behind.up.others == 1);
  question.groups = {"third"};
  CHECK(failure(scale(engine(), b.take(), now, {}, question)) == "there is no pod group 'third'");
  question.groups = {};
  question.queues = {"al"};
  CHECK(failure(scale(engine(), b.take(), now, {}, question)) == "there is no queue 'al'; did you mean 'all'?");
}

TEST_CASE("names of new nodes are free, and a type is no hostname") {
  builder b;
  b << builder::node{"big+1", 1} << builder::queue{"q"};
  b << builder::group{"g", "q"};
  b << builder::pod{"g-0", "g", 8000, "", 1000, "", {"type", "big"}};
  const scale_report report =
      asked(b.take(), offers({{{"big", 8, 64, {"type", "big", "kubernetes.io/hostname", "big"}}, 70}}), only_up());
  REQUIRE(report.up.added.size() == 1);
  CHECK(report.up.added.front().nodes == std::vector<std::string>{"big+2"});
  CHECK(report.up.groups.front().placed == 1);
}

TEST_CASE("offers that are wrong are refused with type and field") {
  builder b;
  b << builder::queue{"q"};
  const snapshot base = b.take();
  const auto wrong = [&](node_offers all) { return failure(scale(engine(), base, now, all)); };
  CHECK(wrong(offers({{{"a", 8}, -1}})) == "node type 'a': price is negative");
  CHECK(wrong(offers({{{"a", 8}, 1, -2}})) == "node type 'a': most is negative");
  CHECK(wrong(offers({{{"a", 8}, max_sum, 2}})) == "node type 'a': price times most is more than can be represented");
  CHECK(wrong(offers({{{"a", 8}, max_sum / 2, 1}, {{"b", 8}, max_sum, 1}})).starts_with("node type 'b': price"));
  CHECK(wrong(offers({{{"a", 8}, 1, 1, {{"", 1}}}})) == "node type 'a': new_domains has a label without a name");
  CHECK(wrong(offers({{{"a", 8}, 1, 1, {{"rack", 0}}}})) ==
        "node type 'a': new_domains has a domain of less than one node");
  node_offers twice = offers({{{"a", 8}, 1}});
  twice.types.push_back(twice.types.front());
  CHECK(wrong(twice) == "node type 'a': name is given twice");
  node_offers missing = offers({{{"a", 8}, 1}});
  missing.types.front().name = "b";
  CHECK(wrong(missing) == "node type 'b': node is missing: there is none of this name");
  cluster other;
  must(other.apply(add(table_kind::resource, {"name"}).add({"tpu"})));
  CHECK(failure(scale(engine(), other.take_snapshot(), now, offers({{{"a", 8}, 1}})))
            .ends_with("dimensions than the cluster"));
  scale_question none;
  none.verifications = 0;
  CHECK(failure(scale(engine(), base, now, {}, none)).starts_with("verifications"));
}

TEST_CASE("few verifications give an answer that says so") {
  builder b;
  b << builder::queue{"q"};
  for (int i = 0; i < 6; ++i) b.gang("g" + std::to_string(i), "q", 2, 1000 * (i + 1));
  const node_offers all = offers({{{"a", 8}, 81}, {{"b", 6}, 60}, {{"c", 4}, 41}});
  scale_question question = only_up();
  question.verifications = 2;
  const scale_report hasty = asked(b.take(), all, question);
  for (const scaled_group& one : hasty.up.groups) CHECK(one.placed == one.waited);
  CHECK(!hasty.up.minimal);
  question.verifications = 2000;
  const scale_report whole = asked(b.take(), all, question);
  CHECK(whole.up.minimal);
  CHECK(whole.up.cheapest);
  CHECK(whole.up.cost <= hasty.up.cost);
  CHECK(whole.up.lower_bound <= whole.up.cost);
}

TEST_CASE("who waits no longer ends the question, whatever is being tried") {
  builder b;
  b << builder::node{"n1", 4} << builder::node{"n2", 4} << builder::queue{"q"};
  b.gang("runs", "q", 1, 1000);
  b.gang("waits", "q", 2, 8000);
  const snapshot base = b.take();
  const node_offers can_be_had = offers({{{"eight", 8}, 100}, {{"sixteen", 16}, 190}});
  int most = 0;
  scale_question question;
  question.goes_on = [&] { return ++most > 0; };
  const scale_report whole = asked(base, can_be_had, question);
  CHECK(whole.up.cost == asked(base, can_be_had).up.cost);
  REQUIRE(most > 3);
  for (int after = 0; after < most; ++after) {
    int left = after;
    question.goes_on = [&] { return left-- > 0; };
    const result<scale_report> ended = scale(engine(), base, now, can_be_had, question);
    REQUIRE_FALSE(ended);
    CHECK(ended.failure().code == status::cancelled);
    CHECK(left == -1);  // nothing is tried then
  }
}

TEST_CASE("every preset answers, and those that serve one group of a queue after the other serve all") {
  builder b;
  b << builder::node{"n", 2} << builder::queue{"q", "", 64};
  runs(b, "there", "q", 1000, "n");
  for (int i = 0; i < 3; ++i) b.gang("g" + std::to_string(i), "q", 1, 4000);
  const node_offers four = offers({{{"four", 4}, 10}});
  for (const char* name : {"kai", "volcano-default", "kube-default", "kueue-classical", "yunikorn-default",
                           "slurm-backfill", "fluxion-easy"}) {
    CAPTURE(name);
    const scale_report report = asked(b.take(), four, {}, test::make_engine({"preset", name}));
    CHECK(added(report.up) == "3 four");
    CHECK(report.up.minimal);
    CHECK(report.down.nodes.size() == 1);
  }
}

TEST_CASE("first fit buys for pods, search for gangs") {
  builder b;
  b << builder::queue{"q"};
  b.gang("gang", "q", 3, 8000);
  const node_offers two = offers({{{"big", 8}, 70, 2}});
  scale_question question = only_up();
  question.strategy = scale_strategy::first_fit;
  const scale_report first = asked(b.take(), two, question);
  CHECK(added(first.up) == "2 big");  // for two of three pods
  CHECK(first.up.groups.front().placed == 0);
  CHECK(asked(b.take(), two, only_up()).up.added.empty());
  const node_offers three = offers({{{"big", 8}, 70, 3}, {{"small", 4}, 1, 3}});
  CHECK(added(asked(b.take(), three, question).up) == "3 big");
  CHECK(scale_strategy_name(scale_strategy::first_fit) == "first_fit");
}

TEST_CASE("nodes on which nothing runs go first, then those whose pods have a place elsewhere") {
  builder b;
  b << builder::node{"empty", 8} << builder::node{"a", 8} << builder::node{"b", 8} << builder::queue{"q"};
  runs(b, "one", "q", 2000, "a");
  runs(b, "two", "q", 5000, "b");
  const scale_report report = asked(b.take(), {}, only_down());
  REQUIRE(report.down.nodes.size() == 3);
  CHECK(report.down.nodes[0].name == "empty");
  CHECK(report.down.nodes[0].empty);
  CHECK(report.down.nodes[0].returned);
  CHECK(report.down.nodes[1].name == "a");  // less is used of it
  CHECK(report.down.nodes[1].returned);
  CHECK(report.down.nodes[1].moves == std::vector<scale_move>{{"one-0", "one", "a", "b"}});
  CHECK(!report.down.nodes[2].returned);
  CHECK(report.down.nodes[2].keeps.starts_with("pod one-0 has no other place: "));
  CHECK(report.down.complete);
}

TEST_CASE("who may not move keeps the node") {
  builder b;
  b << builder::node{"a", 8} << builder::node{"b", 8} << builder::node{"c", 8} << builder::queue{"q"};
  runs(b, "firm", "q", 1000, "a", false);
  b << builder::group{"ends", "q"};
  b << builder::pod{"ends-0", "ends", 1000, "b", 1000, "", {}, {}, {}, {}, {}, pod_status::releasing};
  cluster c;
  b.apply_to(c);
  must(c.apply(add(table_kind::pod, {"name", "request", "status", "node"})
                   .add({"alone", numbers{1000, 0, 0, 1}, pod_status::running, "c"})));
  const scale_report report = asked(c.take_snapshot(), {}, only_down());
  CHECK(node_of(report.down, "a").keeps == "pod firm-0 of firm is not preemptible");
  CHECK(node_of(report.down, "b").keeps == "pod ends-0 is releasing: it cannot be moved");
  CHECK(node_of(report.down, "c").keeps == "pod alone belongs to no pod group");
  CHECK(report.down.verifications == 0);
}

TEST_CASE("a gang moves as a whole, and what of it waits takes no places") {
  builder b;
  b << builder::node{"a", 4} << builder::node{"b", 4} << builder::node{"c", 2} << builder::queue{"q"};
  b << builder::group{"gang", "q", 2};
  b << builder::pod{"gang-0", "gang", 2000, "a"} << builder::pod{"gang-1", "gang", 2000, "b"};
  b << builder::pod{"gang-2", "gang", 4000};  // elastic, waits
  runs(b, "last", "q", 2000, "c", false);
  const scale_report report = asked(b.take(), {}, only_down());
  const returned_node& a = node_of(report.down, "a");
  CHECK(a.returned);
  CHECK(a.moves == std::vector<scale_move>{{"gang-0", "gang", "a", "b"}, {"gang-1", "gang", "b", "b"}});
  CHECK(!node_of(report.down, "b").returned);
}

TEST_CASE("budgets count if the option says so") {
  builder b;
  b << builder::node{"a", 4} << builder::node{"b", 8} << builder::queue{"q"};
  runs(b, "one", "q", 1000, "a");
  runs(b, "stays", "q", 6000, "b", false);
  cluster c;
  must(c.apply(add(table_kind::disruption_budget, {"name", "allowed"}).add({"pdb", 0})));
  b.apply_to(c);
  must(c.apply(change(table_kind::pod, {"name", "disruption_budget"}).add({"one-0", "pdb"})));
  const snapshot base = c.take_snapshot();
  CHECK(node_of(asked(base, {}, only_down()).down, "a").returned);
  const engine with = test::make_engine({"respect_disruption_budgets", "true"});
  const scale_report report = asked(base, {}, only_down(), with);
  CHECK(node_of(report.down, "a").keeps == "disruption budget pdb does not let pod one-0 go");
}

TEST_CASE("prices of types say which node goes first, and what is saved") {
  builder b;
  const std::string label = scale_question{}.type_label;
  b << builder::node{"cheap", 8, 64, {label, "c"}} << builder::node{"dear", 8, 64, {label, "d"}} << builder::queue{"q"};
  runs(b, "one", "q", 1000, "cheap");
  runs(b, "two", "q", 2000, "dear");
  const scale_report report = asked(b.take(), offers({{{"c", 8}, 5}, {{"d", 8}, 9}}), only_down());
  CHECK(report.down.nodes.front().name == "dear");
  CHECK(report.down.nodes.front().returned);
  CHECK(report.down.nodes.front().type == "d");
  CHECK(report.down.saved == 9);
}

TEST_CASE("nodes that are added stay, and those that are needed then are not given back") {
  builder b;
  b << builder::node{"free", 8} << builder::queue{"q"};
  b.gang("pair", "q", 2, 8000);
  const scale_report report = asked(b.take(), offers({{{"big", 8}, 70}}));
  CHECK(added(report.up) == "1 big");
  REQUIRE(report.down.nodes.size() == 1);
  CHECK(report.down.nodes.front().name == "free");
  CHECK(!report.down.nodes.front().returned);
  const scale_report alone = asked(b.take(), {}, only_down());
  CHECK(alone.down.nodes.front().returned);  // the pair does not start with it
}

TEST_CASE("the answer as tables") {
  namespace column = test::column;
  using lines = std::vector<std::string>;
  builder b;
  b << builder::node{"n1", 8} << builder::node{"n2", 4} << builder::queue{"q"} << builder::queue{"poor", "", 0, 0};
  runs(b, "old", "q", 1000, "n1");
  b << builder::group{"stuck", "poor"} << builder::pod{"stuck-0", "stuck", 1000};
  b.gang("train", "q", 2, 16000);
  const scale_report report = asked(b.take(), offers({{{"big", 16}, 70}}));
  REQUIRE(added(report.up) == "2 big");
  const table sums = must(report.to_table(table_kind::scaling));
  REQUIRE(sums.rows() == 1);
  CHECK(column::numbers<std::int64_t>(sums, col::scaling_cost).front() == 140);
  CHECK(column::numbers<std::int64_t>(sums, col::scaling_lower_bound).front() == report.up.lower_bound);
  CHECK((column::numbers<std::uint8_t>(sums, col::scaling_cheapest).front() != 0) == report.up.cheapest);
  CHECK((column::numbers<std::uint8_t>(sums, col::scaling_minimal).front() != 0) == report.up.minimal);
  CHECK(column::numbers<std::uint32_t>(sums, col::scaling_verifications).front() == report.up.verifications);
  CHECK(column::numbers<std::int64_t>(sums, col::scaling_saved).front() == report.down.saved);
  CHECK(column::numbers<std::uint32_t>(sums, col::scaling_down_verifications).front() == report.down.verifications);
  CHECK(column::numbers<std::uint8_t>(sums, col::scaling_complete).front() == 1);

  const table nodes = must(report.to_table(table_kind::node_addition));
  CHECK(column::texts(nodes, col::node_addition_name) == lines{"big+1", "big+2"});
  CHECK(column::texts(nodes, col::node_addition_type) == lines{"big", "big"});
  CHECK(column::numbers<std::int64_t>(nodes, col::node_addition_price) == std::vector<std::int64_t>{70, 70});

  const table groups = must(report.to_table(table_kind::scaled_group));
  REQUIRE(groups.rows() == report.up.groups.size());
  const lines names = column::texts(groups, col::scaled_group_group_name);
  const auto row = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  REQUIRE(row("train") < names.size());
  REQUIRE(row("stuck") < names.size());
  CHECK(column::texts(groups, col::scaled_group_queue)[row("stuck")] == "poor");
  CHECK(column::texts(groups, col::scaled_group_placed_pods)[row("train")] == "train-0 train-1");
  CHECK(column::texts(groups, col::scaled_group_placed_nodes)[row("train")].starts_with("big+"));
  CHECK(column::texts(groups, col::scaled_group_placed_by)[row("train")] == "bind bind");
  CHECK(column::texts(groups, col::scaled_group_constraints)[row("stuck")] == "queue_limit");
  CHECK(!column::texts(groups, col::scaled_group_reasons)[row("stuck")].empty());
  CHECK(column::numbers<std::uint32_t>(groups, col::scaled_group_waited)[row("train")] == 2);
  CHECK(column::numbers<std::uint32_t>(groups, col::scaled_group_placed)[row("stuck")] == 0);
  CHECK(column::numbers<std::uint8_t>(groups, col::scaled_group_helped)[row("stuck")] == 0);

  const table back = must(report.to_table(table_kind::returned_node));
  REQUIRE(back.rows() == report.down.nodes.size());
  const lines looked = column::texts(back, col::returned_node_name);
  for (std::size_t i = 0; i < looked.size(); ++i) {
    const returned_node& one = report.down.nodes[i];
    CHECK(looked[i] == one.name);
    CHECK((column::numbers<std::uint8_t>(back, col::returned_node_returned)[i] != 0) == one.returned);
    CHECK((column::numbers<std::uint8_t>(back, col::returned_node_empty)[i] != 0) == one.empty);
    CHECK(column::numbers<std::int64_t>(back, col::returned_node_price)[i] == one.price);
    CHECK(column::texts(back, col::returned_node_keeps)[i] == one.keeps);
    CHECK(column::texts(back, col::returned_node_moved_pods)[i].empty() == one.moves.empty());
  }
  CHECK(report.to_table(table_kind::decision).failure().code == status::unsupported);
}

TEST_CASE("offers made of tables") {
  builder b;
  b << builder::node{"n", 4} << builder::queue{"q"};
  b.gang("train", "q", 1, 8000);
  const snapshot base = b.take();
  const auto made = [&](std::initializer_list<const table*> tables, std::vector<node_type> types) {
    std::vector<table_view> views;
    for (const table* one : tables) views.push_back(one->view());
    return make_offers(base, views, std::move(types));
  };
  const table like = test::add(table_kind::node, {"name", "capacity"}).add({"big", numbers{64000, 1 << 30, 8000, 10}});
  CHECK(added(asked(base, must(made({&like}, {{"big", 7, 2, {}}})), only_up()).up) == "1 big");
  const auto refused = [&](const result<node_offers>& r) { return r ? std::string() : r.failure().message; };
  CHECK(refused(made({&like}, {{"huge", 7, 2, {}}})) ==
        "node type 'huge': node is missing: there is none of this name");
  const table small = test::add(table_kind::node, {"name", "capacity"}).add({"big", numbers{64000, 1 << 30, 8000}});
  CHECK(refused(made({&small}, {{"big", 7, 2, {}}})) ==
        "node type 'big': capacity has no room for pods: pods is not given");
  const table queue = test::add(table_kind::queue, {"name"}).add({"r"});
  CHECK(made({&like, &queue}, {}).failure().code == status::unsupported);
  const table changed = test::change(table_kind::node, {"name", "ready"}).add({"n", 0});
  CHECK(made({&changed}, {}).failure().code == status::unsupported);
}

}  // namespace of_test_scaling
