// The scenario language: text, amounts, rows, sessions, expectations, renewal.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "io/scenario/cells.hpp"
#include "io/scenario/minimise.hpp"
#include "io/scenario/scenario.hpp"
#include "io/scenario/text.hpp"
#include "support.hpp"

namespace of_test_scenario {

using namespace kaisched;
using namespace kaisched::io;
using kaisched::test::must;

namespace {

using texts = std::vector<std::string>;

constexpr std::string_view small_cluster =
    "scenario 1 \"two nodes\"\n"
    "node n[1-2] gpu=2 cpu=8 pods=10\n"
    "queue team\n"
    "pod_group train min_member=2\n"
    "  pod train-[0-1] gpu=2\n";

scenario parsed(std::string_view text) { return must(parse_scenario(text, "s.ks")); }

std::string fault_of(std::string_view text) {
  const result<scenario> made = parse_scenario(text, "s.ks");
  return made ? "no fault" : made.failure().message;
}

scenario_outcome played(const std::string& text) { return play_scenario(parsed(text)); }

texts findings_of(const std::string& text) {
  texts found;
  for (const scenario_finding& one : played(text).findings) found.push_back(std::to_string(one.line) + ": " + one.text);
  return found;
}

/// The tables of the first delta as statements.
texts rows_of(std::string_view text) {
  const scenario made = parsed(text);
  cluster built;
  for (const scenario_step& step : made.steps) {
    const auto* delta = std::get_if<scenario_delta>(&step.what);
    if (delta == nullptr) continue;
    std::vector<table_view> views;
    views.reserve(delta->tables.size());
    for (const table& one : delta->tables) views.push_back(one.view());
    must(built.apply(views));
  }
  const std::string all = must(format_scenario(built.take_snapshot(), 0, {}));
  texts lines;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\n', at);
    if (end > at) lines.push_back(all.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string digest_of(std::string_view text) {
  cluster built = must(build_cluster(must(initial_cluster(parsed(text)))));
  return built.take_snapshot().digest();
}

}  // namespace

TEST_CASE("amounts are read exactly or not at all") {
  using scenario_text::parse_quantity;
  const std::vector<std::pair<std::string_view, std::int64_t>> cores{
      {"4", 4000},   {"0.5", 500},      {"500m", 500}, {"1.25", 1250},
      {"-1", -1000}, {"2k", 2'000'000}, {"0", 0},      {"1Ki", 1'024'000}};
  for (const auto& [text, amount] : cores) {
    CAPTURE(text);
    CHECK(must(parse_quantity(text, 1000)) == amount);
  }
  CHECK(must(parse_quantity("1.5Gi", 1)) == 1'610'612'736);
  CHECK(must(parse_quantity("9223372036854775807", 1)) == 9'223'372'036'854'775'807);
  for (const std::string_view bad :
       {"", "-", "x", "1.", ".5", "1 ", "1mm", "1g", "+1", "0x10", "1e3", "0.0001", "1.0000005m"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_quantity(bad, 1000).ok());
  }
  CHECK(parse_quantity("9223372036854775808", 1).failure().code == status::limit);
  CHECK(parse_quantity("99999999999999999999", 1).failure().code == status::limit);
  CHECK(parse_quantity("9000000Pi", 1000).failure().code == status::limit);
  CHECK(parse_quantity("0.0001", 1000).failure().message == "\"0.0001\" is not a whole number of thousandths");
}

TEST_CASE("amounts and times are written in the shortest form that is read back") {
  using scenario_text::format_quantity;
  using scenario_text::format_time;
  using scenario_text::parse_quantity;
  using scenario_text::parse_time;
  CHECK(format_quantity(4000, 1000) == "4");
  CHECK(format_quantity(1250, 1000) == "1250m");
  CHECK(format_quantity(std::int64_t{512} << 30U, 1) == "512Gi");
  CHECK(format_quantity(20'000'000'000, 1) == "20G");
  CHECK(format_quantity(-3, 1) == "-3");
  CHECK(format_time(5'400'000'000'000) == "1h30m");
  CHECK(format_time(-1) == "-1ns");
  for (const std::int64_t amount : {std::int64_t{0}, std::int64_t{1}, std::int64_t{-999}, std::int64_t{1} << 52U,
                                    std::int64_t{123'456'789}, std::int64_t{7} << 40U}) {
    CAPTURE(amount);
    CHECK(must(parse_quantity(format_quantity(amount, 1000), 1000)) == amount);
    CHECK(must(parse_quantity(format_quantity(amount, 1), 1)) == amount);
    CHECK(must(parse_time(format_time(amount), 0)) == amount);
  }
}

TEST_CASE("times may be relative to the clock") {
  using scenario_text::parse_time;
  CHECK(must(parse_time("now", 7)) == 7);
  CHECK(must(parse_time("now-5ns", 7)) == 2);
  CHECK(must(parse_time("now+1m1s", 0)) == 61'000'000'000);
  CHECK(must(parse_time("1d", 0)) == 86'400'000'000'000);
  for (const std::string_view bad : {"", "5", "now5s", "now-", "1x", "s", "1h 2m", "--1s", "nows"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_time(bad, 0).ok());
  }
  CHECK(parse_time("200000d", 0).failure().code == status::limit);
}

TEST_CASE("ranges make rows, and values move with them") {
  CHECK(rows_of("scenario 1\nnode r[1-2]n[08-09] gpu=1\n") ==
        texts{"scenario 1", "node r1n08 gpu=1", "node r1n09 gpu=1", "node r2n08 gpu=1", "node r2n09 gpu=1"});
  CHECK(rows_of("scenario 1\nnode n[1-2] gpu=1 pods=5\nqueue q\npod_group g\npod p[1-2] gpu=1 status=running "
                "node=n[1-2]\n") == texts{"scenario 1", "queue q", "node n1 gpu=1 pods=5", "node n2 gpu=1 pods=5",
                                          "pod_group g queue=q",
                                          "pod p1 group=g gpu=1 pods=1 status=running node=n1 devices=[0]",
                                          "pod p2 group=g gpu=1 pods=1 status=running node=n2 devices=[0]"});
  CHECK(rows_of("scenario 1\nnode \"n[1-2]\" gpu=1\n") == texts{"scenario 1", "node \"n[1-2]\" gpu=1"});
}

TEST_CASE("a bracket in a name is a range or quoted") {
  for (const std::string name :
       {"n[1-99999999999999999999]", "n[1-", "n[1..3]", "n[1,3]", "n[", "n[1-2][", "[[1-2]", "n[-1-2]"}) {
    CAPTURE(name);
    const std::string fault =
        "a bracket in \"" + name + "\" starts no range such as n[1-4]; a name that has it is quoted";
    CHECK(fault_of("scenario 1\nnode " + name + " gpu=1\n") == "s.ks:2:6: " + fault);
    CHECK(fault_of("scenario 1\nremove node " + name + "\n") == "s.ks:2:13: " + fault);
    CHECK(rows_of("scenario 1\nnode \"" + name + "\" gpu=1\n") == texts{"scenario 1", "node \"" + name + "\" gpu=1"});
  }
}

TEST_CASE("an amount for all dimensions may be followed by single ones") {
  CHECK(rows_of("scenario 1\nqueue q quota=2 quota.gpu=4 limit={cpu=3} limit.gpu=4\n") ==
        texts{"scenario 1", "queue q quota={cpu=2,memory=2,gpu=4} limit={cpu=3,gpu=4}"});
}

TEST_CASE("a row without owner says so") {
  const std::string text =
      "scenario 1\nqueue q\nnode n gpu=2 pods=9\npod_group g queue=q\npod p group=g gpu=1\n"
      "pod d group=\"\" gpu=1 status=running node=n\n";
  const texts rows = rows_of(text);
  CHECK(rows.back().starts_with("pod p group=g "));
  CHECK(rows.at(rows.size() - 2).starts_with("pod d group=\"\" gpu=1 "));
  std::string again;
  for (const std::string& row : rows) again += row + "\n";
  CHECK(digest_of(again) == digest_of(text));
  const scenario made = parsed(text);
  minimise_setup how;
  how.interesting = [](const scenario& one) { return one.text.find("pod d") != std::string::npos; };
  CHECK(must(minimise_scenario(made, how)).text.find("pod d group=\"\"") != std::string::npos);
}

TEST_CASE("a line may end with the text, and what ranges make is bounded") {
  CHECK(rows_of("scenario 1\nnode n gpu=1 \\") == texts{"scenario 1", "node n gpu=1"});
  CHECK(rows_of("scenario 1\nnode n gpu=1\\\n") == texts{"scenario 1", "node n gpu=1"});
  CHECK(fault_of("scenario 1\nnode a[0-299999] gpu=1\nnode b[0-299999] gpu=1\n") ==
        "s.ks:3:6: the ranges of this scenario make too many rows");
}

TEST_CASE("devices belong to every node of the statement above") {
  CHECK(rows_of("scenario 1\nnode n[1-2] gpu=2\ndevice 0 model=A\ndevice 1 node=n2 model=B\ndevice 1 node=n1\n") ==
        texts{"scenario 1", "node n1 gpu=2", "node n2 gpu=2", "device 0 node=n1 model=A", "device 1 node=n1",
              "device 0 node=n2 model=A", "device 1 node=n2 model=B"});
}

TEST_CASE("every form of value") {
  const texts rows = rows_of(
      "scenario 1\n"
      "now 1h\n"
      "resource nvidia.com/mig-1g.5gb\n"
      "queue top quota={cpu=4,gpu=2} limit=unlimited over_quota_weight.gpu=0.5\n"
      "queue sub parent=top quota.gpu=1.5 limit.gpu=2 priority=-3 reclaim_min_runtime=unset\n"
      "node n cpu=2 memory=1Gi gpu=4 nvidia.com/mig-1g.5gb=3 unschedulable \\\n"
      "  labels={zone=a, \"key, odd\"=\"x}y\"} taints=[a=b:NoSchedule,\"c:NoExecute\"]  # a comment\n"
      "pod_group g queue=sub created=now-5m min_member=1 preemptible=false\n"
      "pod p request={gpu=1,nvidia.com/mig-1g.5gb=1} node_affinity=\"zone in (a,b)\" tolerations=[*]\n");
  const std::string node =
      R"(node n cpu=2 memory=1Gi gpu=4 nvidia.com/mig-1g.5gb=3 unschedulable=true labels={"key, odd"="x}y",zone=a} )"
      R"(taints=[a=b:NoSchedule,c:NoExecute])";
  const texts wanted{
      "scenario 1",
      "resource nvidia.com/mig-1g.5gb",
      "queue sub parent=top priority=-3 quota={gpu=1500m} limit={gpu=2}",
      "queue top quota={cpu=4,gpu=2} over_quota_weight={gpu=0.5}",
      node,
      "pod_group g queue=sub preemptible=false created=55m",
      "pod p group=g gpu=1 pods=1 nvidia.com/mig-1g.5gb=1 node_affinity=[\"zone in (a,b)\"] tolerations=[*]"};
  for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(rows.at(i) == wanted[i]);
  CHECK(rows.size() == wanted.size());
}

TEST_CASE("what a parser refuses, and how it says so") {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"", "s.ks:1:1: expected \"scenario 1\" first"},
      {"node n\n", "s.ks:1:1: expected \"scenario 1\" first"},
      {"scenario 2\n", "s.ks:1:10: expected \"scenario 1\": this is the only version"},
      {"scenario 1\nscenario 1\n", "s.ks:2:1: \"scenario\" stands only once, as the first statement"},
      {"scenario 1\nnode=1\n", "s.ks:2:1: a statement starts with a word, not with \"node=\""},
      {"scenario 1\nnode n \\\n gpu=1 \\\n  gpus=1\n", "s.ks:4:3: node has no column \"gpus\"; did you mean \"gpu\"?"},
      {"scenario 1\nrun\nexpect \\\n\tbnid a b\n",
       "s.ks:4:2: nothing of the name \"bnid\" can be expected; did you mean \"bind\"?"},
      {"scenario 1\nnode n \\\n labels={a=b, \\\n  a=c}\n", "s.ks:4:3: labels: a is given twice"},
      {"\xEF\xBB\xBFscenario 1\nnode n gpu=x\n",
       "s.ks:2:12: gpu: expected an amount such as 4, 0.5, 500m or 16Gi, found \"x\""},
      {"\xEF\xBB\xBFscenario 2\n", "s.ks:1:10: expected \"scenario 1\": this is the only version"},
      {"scenario 1\n\xEF\xBB\xBFnode n\n",
       "s.ks:2:1: no statement starts with \"\xEF\xBB\xBFnode\"; did you mean \"node\"?"},
      {"scenario 1\nnoode n\n", "s.ks:2:1: no statement starts with \"noode\"; did you mean \"node\"?"},
      {"scenario 1\nnode n gpus=1\n", "s.ks:2:8: node has no column \"gpus\"; did you mean \"gpu\"?"},
      {"scenario 1\nnode n gpu=x\n", "s.ks:2:12: gpu: expected an amount such as 4, 0.5, 500m or 16Gi, found \"x\""},
      {"scenario 1\nnode n gpu=1 labels={a=b} labels={}\n", "s.ks:2:27: labels is given twice"},
      {"scenario 1\nnode n gpu=1 gpu=2\n", "s.ks:2:14: gpu is given twice"},
      {"scenario 1\nnode n capacity.cpu=1 cpu=2\n", "s.ks:2:23: cpu is given twice"},
      {"scenario 1\nnode n capacity={cpu=1} cpu=2\n", "s.ks:2:25: cpu is given twice"},
      {"scenario 1\nnode n cpu=1 capacity={gpu=2}\n", "s.ks:2:14: capacity is given twice"},
      {"scenario 1\nqueue q quota={gpu=7,gpu=8}\n", "s.ks:2:22: quota: gpu is given twice"},
      {"scenario 1\nqueue q limit.gpu=1 limit=unlimited\n", "s.ks:2:21: limit is given twice"},
      {"scenario 1\nnode n unschedulable=true unschedulable=false\n", "s.ks:2:27: unschedulable is given twice"},
      {"scenario 1\noption mode=strict mode=compat\n", "s.ks:2:20: mode is given twice"},
      {"scenario 1\nrun\nexpect counts bind=1 bind=2\n", "s.ks:3:22: bind is given twice"},
      {"scenario 1\nqueue q limit=-1\n",
       "s.ks:2:15: limit: expected an amount, or unlimited for no bound at all, found \"-1\""},
      {"scenario 1\nqueue q quota={memory=-1}\n",
       "s.ks:2:15: quota: expected an amount, or unlimited for no bound at all, found \"-1\""},
      {"scenario 1\nqueue q quota.=1\n", "s.ks:2:9: queue has no column \"quota.\"; did you mean \"quota\"?"},
      {"scenario 1\nnode n labels=[a]\n", "s.ks:2:15: labels: expected keys and values such as {zone=a,rack=r1}"},
      {"scenario 1\nnode\n", "s.ks:2:1: expected the name of the node"},
      {"scenario 1\nnode n name=m\n", "s.ks:2:8: the name is given as a word, without \"name=\""},
      {"scenario 1\nnode n[3-1]\n", "s.ks:2:6: the range in \"n[3-1]\" descends"},
      {"scenario 1\nnode n[0-99999999]\n", "s.ks:2:6: \"n[0-99999999]\" stands for more than 1000000 names"},
      {"scenario 1\npod p gpu=1\n", "s.ks:2:1: group=... is missing, and no group has been added above"},
      {"scenario 1\nqueue q\npod_group g[1-2]\npod p gpu=1\n",
       "s.ks:4:1: group=... is missing, and the statement above added several"},
      {"scenario 1\nqueue q\npod_group g\npod p status=runing\n",
       "s.ks:4:14: status: no pod status is called \"runing\"; did you mean \"running\"?"},
      {"scenario 1\nnode n[1-2]\nqueue q\npod_group g\npod p[1-3] node=n[1-2]\n",
       "s.ks:5:17: the ranges of \"n[1-2]\" are not as long as those of the name"},
      {"scenario 1\nnode n labels={a\n", "s.ks:2:17: expected '=' after the key"},
      {"scenario 1\nnode n taints=[a\n", "s.ks:2:17: expected ',' or ']'"},
      {"scenario 1\nnode \"n\n", "s.ks:2:6: the quotes are not closed"},
      {"scenario 1\nnode \"\\q\"\n", "s.ks:2:7: expected one of \\\" \\\\ \\/ \\n \\r \\t \\u"},
      {"scenario 1\nnode \"\\ud800\"\n", "s.ks:2:7: half of a surrogate pair"},
      {"scenario 1\nnode n\"m\n", "s.ks:2:7: a quote inside a word: quote the whole text"},
      {"scenario 1\nnode n\x01\n", "s.ks:2:7: a control character"},
      {"scenario 1\nnode n\xff\n", "s.ks:2:7: the text is not valid UTF-8"},
      {"scenario 1\nexpect nothing\n", "s.ks:2:1: there is nothing before that this could be about"},
      {"scenario 1\nnode n\nexpect nothing\n", "s.ks:3:8: \"nothing\" is expected of a session: \"run\" is missing"},
      {"scenario 1\nrun\nexpect bnid a b\n",
       "s.ks:3:8: nothing of the name \"bnid\" can be expected; did you mean \"bind\"?"},
      {"scenario 1\nrun\nexpect bind\n", "s.ks:3:8: 0 words behind \"bind\", expected 1 or 2"},
      {"scenario 1\nsettle\n", "s.ks:2:1: there was no session before"},
      {"scenario 1\nrun\nsettle evicted=gonne\n", "s.ks:3:8: evicted: no such fate; did you mean \"gone\"?"},
      {"scenario 1\nnow soon\n",
       "s.ks:2:5: expected a time or duration such as 90s, 1h30m, now-5m or 0, found \"soon\""},
      {"scenario 1\noption mode\n", "s.ks:2:8: expected OPTION=VALUE"},
      {"scenario 1\nrule\n", "s.ks:2:1: expected the number of a rule"},
      {"scenario 1\nchange\n", "s.ks:2:1: expected a kind of entity and a name"},
  };
  for (const auto& [text, message] : faults) {
    CAPTURE(text);
    CHECK(fault_of(text) == message);
  }
}

TEST_CASE("messages of the parser can be printed") {
  CHECK(fault_of("scenario 1\nchange \"\\u0001\" a\n").find("no kind of entity \"\\x01\"") != std::string::npos);
  CHECK(fault_of("scenario 1\nnode n " + std::string(2000, 'x') + "=1\n").size() < 1100);
}

TEST_CASE("what can be expected of quarantine") {
  const std::string text = "scenario 1\nqueue a\n";
  CHECK(fault_of(text + "expect quarantine\n").find("expected a kind of entity and a name") != std::string::npos);
  CHECK(fault_of(text + "expect quarantine queu a\n").find("did you mean \"queue\"") != std::string::npos);
  CHECK(fault_of(text + "expect quarantine queue\n").find("expected 2") != std::string::npos);
  CHECK(fault_of(text + "expect quarantine nothing a\n").find("expected 1") != std::string::npos);
  CHECK(fault_of(text + "expect quarantine nothing column=name\n").find("has no fields") != std::string::npos);
  CHECK(fault_of(text + "expect quarantine queue a column=parent\n") == "no fault");
}

TEST_CASE("errors of the cluster name the line of the row") {
  CHECK(findings_of("scenario 1\nqueue a\nqueue b parent=c\n")
            .front()
            .starts_with("3: table 0 (queue, add), row 1, column parent: there is no queue 'c'"));
  CHECK(played("scenario 1\nqueue a\nqueue a\nexpect error duplicate \"'a' exists already\"\nqueue a\n").passed());
  CHECK(findings_of("scenario 1\nqueue a\nexpect error duplicate\n") ==
        texts{"3: expected the error duplicate, but the call succeeded"});
  CHECK(played("scenario 1\noption mdoe=strict\nexpect error not_found \"did you mean 'mode'\"\n").passed());
  CHECK(played("scenario 1\nrun actions=alocate\nexpect error not_found alocate\n").passed());
}

TEST_CASE("dimensions of a delta that fails are forgotten") {
  CHECK(fault_of("scenario 1\nresource x\nqueue q parent=r\nexpect error not_found\nnode n x=1\n")
            .starts_with("s.ks:5:8: node has no column \"x\""));
}

TEST_CASE("expectations: all decisions in order, or none") {
  const std::string text(small_cluster);
  CHECK(played(text + "run actions=allocate\nexpect bind train-0 n1\nexpect bind train-1 n2 devices=[0,1] commit=1\n")
            .passed());
  CHECK(findings_of(text + "run actions=allocate\nexpect bind train-0 n1\n") ==
        texts{"7:    found bind train-1 n2 devices=[0,1] commit=1"});
  CHECK(findings_of(text + "run actions=allocate\nexpect bind train-1 n2\nexpect bind train-0 n1\n").size() == 4);
  CHECK(findings_of(text + "run actions=allocate\nexpect bind train-0 n2\nexpect bind train-1 n2\n") ==
        texts{"7: expected bind train-0 n2", "7:    found bind train-0 n1 devices=[0,1] commit=1"});
  CHECK(findings_of(text + "run actions=allocate\n").front() == "6: the session has no expectation");
  CHECK(findings_of(text + "run actions=allocate\nexpect nothing\n").front() == "7: expected nothing");
  CHECK(played(text + "run actions=allocate\nexpect counts bind=2\n").passed());
  CHECK(findings_of(text + "run actions=allocate\nexpect counts bind=1 evict=0\n") ==
        texts{"7: expected counts bind=1 evict=0, found counts bind=2 evict=0"});
  CHECK(findings_of(text + "run actions=allocate\nexpect pod train-0 node=n2 status=binding\n") ==
        texts{"7: expected pod train-0 node=n2 status=binding, found pod train-0 node=n1 status=binding"});
  CHECK(findings_of(text + "run actions=allocate\nexpect pod trian-0 node=n2\n") ==
        texts{"7: there is no pod \"trian-0\""});
  CHECK(findings_of(text + "run actions=allocate\nexpect queue team fair_sharre.gpu=2\n")
            .front()
            .find("did you mean \"fair_share\"") != std::string::npos);
  CHECK(played(text + "run actions=allocate\nexpect queue team fair_share.gpu=4 allocated.gpu=4\nexpect statistic "
                      "allocate groups_placed=1\n")
            .passed());
}

TEST_CASE("quarantine: all entries in any order, and no change without a word") {
  const std::string text =
      "scenario 1\n"
      "option on_invalid=quarantine\n"
      "queue a parent=nowhere\n"
      "queue b parent=a\n";
  CHECK(played(text + "expect quarantine queue b because_of=\"queue a\"\nexpect quarantine queue a\n").passed());
  CHECK(findings_of(text) ==
        texts{"3: what is in quarantine changes, and nothing expects it",
              "4:    found quarantine queue a column=parent status=not_found",
              "4:    found quarantine queue b column=parent status=not_found because_of=\"queue a\""});
  CHECK(played(text).updated ==
        text +
            "expect quarantine queue a column=parent status=not_found\n"
            "expect quarantine queue b column=parent status=not_found because_of=\"queue a\"\n");
  const std::string wrong = text + "  expect quarantine queue a column=name\n  expect quarantine queue b\n";
  CHECK(findings_of(wrong) == texts{"5: expected quarantine queue a column=name",
                                    "6:    found quarantine queue a column=parent status=not_found"});
  CHECK(played(wrong).updated ==
        text + "  expect quarantine queue a column=parent status=not_found\n  expect quarantine queue b\n");
  CHECK(played(played(wrong).updated).passed());
  // Nothing is expected, too much is expected, something that is not there.
  CHECK(findings_of(text + "expect quarantine nothing\n").size() == 3);
  const std::string sound = "scenario 1\nqueue a\nexpect quarantine nothing\n";
  CHECK(played(sound).passed());
  CHECK(findings_of("scenario 1\nqueue a\nexpect quarantine queue a\n") ==
        texts{"3: expected quarantine queue a", "3:    found quarantine nothing"});
  CHECK(played("scenario 1\nqueue a\nexpect quarantine queue a\n").updated == sound);
  CHECK(findings_of(text + "expect quarantine queue a colunm=name\nexpect quarantine queue b\n")
            .front()
            .find("did you mean \"column\"") != std::string::npos);
  // The last word is the caller's.
  const scenario_setup rejecting{{{"on_invalid", "reject"}}, {}};
  CHECK(play_scenario(parsed(text), rejecting).findings.front().text.find("nowhere") != std::string::npos);
  const scenario_setup strange{{{"on_invalid", "perhaps"}}, {}};
  CHECK(play_scenario(parsed(sound), strange).findings.size() == 1);
}

TEST_CASE("options: all of a statement or none, of clusters and of sessions") {
  const std::string bad_queue = "queue a parent=nowhere\n";
  CHECK(findings_of("scenario 1\noption on_invalid=quarantine mode=fast\n" + bad_queue).size() == 2);
  CHECK(findings_of("scenario 1\noption mode=compat on_invalid=perhaps\n").size() == 1);
  CHECK(played("scenario 1\noption mode=compat on_invalid=quarantine\n" + bad_queue + "expect quarantine queue a\n")
            .passed());
  CHECK(played("scenario 1\nqueue a\nrun on_invalid=quarantine\nexpect error argument \"on_invalid\"\n").passed());
}

TEST_CASE("the reasons of a group that waits") {
  const std::string text = std::string(small_cluster) + "change pod train-0 gpu=3\nrun\n";
  CHECK(played(text + "expect unschedulable train constraint=larger_than_any_node dimension=gpu need=3 have=2\n")
            .passed());
  CHECK(played(text + "expect unschedulable train\nexpect reason train dimension=gpu\n").passed());
  CHECK(findings_of(text + "expect unschedulable train\nexpect reason train dimension=cpu\n").size() == 1);
  CHECK(findings_of(text + "expect unschedulable train need=4\n").size() == 2);
  CHECK(findings_of(text + "expect unschedulable train\nexpect reason idle nede=3\n") ==
        texts{"9: reason has no column \"nede\"; did you mean \"need\"?"});
}

TEST_CASE("renewal writes what was found, and nothing else") {
  const std::string text = std::string(small_cluster) +
                           "run actions=allocate # here\n"
                           "  # why\n"
                           "  expect bind train-0 n2\n"
                           "  expect bind train-1 n2    # stays\n"
                           "\n"
                           "run actions=allocate\n"
                           "expect digest 00\n"
                           "run actions=allocate\n";
  const scenario_outcome before = played(text);
  CHECK_FALSE(before.passed());
  CHECK(before.unresolved.empty());
  const scenario_outcome after = play_scenario(parsed(before.updated));
  CHECK(after.passed());
  CHECK(after.updated == before.updated);
  CHECK(before.updated.find("  # why\n  expect bind train-0 n1 devices=[0,1] commit=1\n  expect bind train-1 n2    # "
                            "stays\n\nrun actions") != std::string::npos);
  CHECK(
      before.updated.ends_with("run actions=allocate\nexpect bind train-0 n1 devices=[0,1] commit=1\nexpect bind "
                               "train-1 n2 devices=[0,1] commit=1\n"));
  CHECK(before.updated.find("expect digest 00") == std::string::npos);
}

TEST_CASE("fields that no line has are told once, and their lines stay") {
  const std::string text = std::string(small_cluster) + "run actions=allocate\nexpect bind train-0 n1 device=[0,1]\n";
  const std::string finding = "7: decision has no column \"device\"; did you mean \"devices\"?";
  CHECK(findings_of(text + "expect bind train-1 n2\n") == texts{finding});
  CHECK(played(text + "expect bind train-1 n2\n").updated == text + "expect bind train-1 n2\n");
  // Apart from it a difference is renewed, beside it none is.
  const scenario_outcome apart = played(text + "expect bind train-1 n3\n");
  CHECK(apart.unresolved.size() == 1);
  CHECK(apart.updated == text + "expect bind train-1 n2 devices=[0,1] commit=1\n");
  const std::string beside = std::string(small_cluster) + "run actions=allocate\nexpect bind train-0 n3 devices=x\n";
  CHECK(played(beside).updated == beside);
  CHECK(played(beside).unresolved.size() == played(beside).findings.size());
  CHECK(findings_of(beside) == texts{"7: devices: expected an integer, found \"x\"",
                                     "7:    found bind train-0 n1 devices=[0,1] commit=1",
                                     "7:    found bind train-1 n2 devices=[0,1] commit=1"});
}

TEST_CASE("settling makes facts of decisions") {
  const std::string text =
      std::string(small_cluster) + "now 5m\nrun\nexpect counts bind=2\nsettle\nnow +1m\nrun\nexpect nothing\n";
  CHECK(played(text).passed());
  std::vector<std::string> seen;
  const scenario_setup setup{
      {}, [&](const session& ran, std::size_t) { seen.push_back(must(format_scenario(ran.base(), 0, {}))); }};
  CHECK(play_scenario(parsed(text), setup).passed());
  REQUIRE(seen.size() == 2);
  CHECK(seen[1].find("pod_group train queue=team min_member=2 last_start=5m\n") != std::string::npos);
  CHECK(seen[1].find("pod train-0 group=train gpu=2 pods=1 status=running node=n1 devices=[0,1]\n") !=
        std::string::npos);
}

TEST_CASE("settling asks for groups that there are") {
  const std::string text = std::string(small_cluster) + "run\nexpect counts bind=2\n";
  CHECK(findings_of(text + "settle groups=[nope]\n") == texts{"8: groups: the last session has no pod group \"nope\""});
  CHECK(findings_of(text + "settle groups=[train,trian]\n") ==
        texts{"8: groups: the last session has no pod group \"trian\"; did you mean \"train\"?"});
  CHECK(played(text + "settle groups=[train]\nrun\nexpect nothing\n").passed());
  // Smaller scenarios name those that are left.
  minimise_setup how;
  const std::string several =
      "scenario 1\nnode n gpu=2 pods=9\nqueue q\npod_group a\npod_group b\nrun\nsettle groups=[a,b]\n";
  how.interesting = [](const scenario& one) {
    return play_scenario(one).unresolved.empty() && one.text.find("settle") != std::string::npos &&
           one.text.find("pod_group b") != std::string::npos;
  };
  CHECK(must(minimise_scenario(parsed(several), how)).text ==
        "scenario 1\nqueue q\npod_group b queue=q\nrun\nsettle groups=[b]\n");
}

TEST_CASE("a scenario is a cluster as well") {
  const std::string written = must(
      format_scenario(must(build_cluster(must(initial_cluster(parsed(small_cluster))))).take_snapshot(), 7, "a title"));
  CHECK(written.starts_with("scenario 1 \"a title\"\nnow 7ns\n"));
  CHECK(digest_of(written) == digest_of(small_cluster));
  CHECK(must(initial_cluster(parsed(written))).now == 7);
  CHECK(must(initial_cluster(parsed("scenario 1\nqueue a\nnow 9ns\n"))).now == 9);
  CHECK(must(initial_cluster(parsed("scenario 1\nqueue a\nrun\nnow 9ns\n"))).now == 0);
  CHECK_FALSE(initial_cluster(parsed("scenario 1\nqueue a\napply\nremove queue a\n")).ok());
  const std::string bad = "queue a parent=nowhere\nrun\noption on_invalid=reject\n";
  const cluster_input lenient =
      must(initial_cluster(parsed("scenario 1\noption mode=compat on_invalid=quarantine\n" + bad)));
  CHECK(lenient.on_invalid == "quarantine");
  CHECK(build_cluster(lenient).ok());
  CHECK_FALSE(build_cluster(lenient, "reject").ok());
  CHECK_FALSE(build_cluster(must(initial_cluster(parsed("scenario 1\n" + bad)))).ok());
  CHECK(initial_cluster(parsed("scenario 1\nqueue a\noption on_invalid=perhaps\n"))
            .failure()
            .message.starts_with("s.ks:3:1: option on_invalid: 'perhaps'"));
}

TEST_CASE("names that must be quoted survive") {
  for (const std::string_view name :
       {"a b", "n[1-2]", "[", "{", "\"", "\\", "#", "=", "a=b", "a,b", "]", "}", "n#1", "tr\xc3\xa4in", "-", "a\\"}) {
    CAPTURE(name);
    const std::string quoted = scenario_text::quoted_if_needed(name, scenario_text::text_place::word);
    const std::string text = "scenario 1\nnode " + quoted + " gpu=1 labels={" +
                             scenario_text::quoted_if_needed(name, scenario_text::text_place::key) + "=" +
                             scenario_text::quoted_if_needed(name, scenario_text::text_place::element) + "}\n";
    const texts rows = rows_of(text);
    CHECK(digest_of(text) == digest_of(rows[0] + "\n" + rows[1] + "\n"));
    CHECK(rows[1].find(quoted) != std::string::npos);
  }
}

TEST_CASE("minimising keeps what was asked for and nothing that is not needed") {
  const std::string text = std::string(small_cluster) +
                           "queue other\npod_group idle\n pod idle-[0-5] gpu=1 cpu=1 labels={a=b}\nnode big gpu=8 "
                           "pods=10 labels={zone=a}\nrun\n";
  std::size_t asked = 0;
  minimise_setup how;
  how.interesting = [&](const scenario& one) {
    ++asked;
    bool found = false;
    const scenario_setup setup{
        {}, [&](const session& ran, std::size_t) { found = found || must(decides(ran, "bind train-1")); }};
    static_cast<void>(play_scenario(one, setup));
    return found;
  };
  const minimised small = must(minimise_scenario(parsed(text), how));
  CHECK(small.finished);
  CHECK(small.trials == asked);
  CHECK(small.text.find("idle") == std::string::npos);
  CHECK(small.text.find("labels") == std::string::npos);
  CHECK(how.interesting(parsed(small.text)));
  CHECK(must(minimise_scenario(parsed(small.text), how)).text == small.text);
  how.interesting = [](const scenario&) { return false; };
  CHECK_FALSE(minimise_scenario(parsed(text), how).ok());
  how.interesting = [](const scenario&) { return true; };
  how.most_trials = 3;
  CHECK_FALSE(must(minimise_scenario(parsed(text), how)).finished);
}

TEST_CASE("minimising looks at several scenarios together and finds the same") {
  const std::string text = std::string(small_cluster) + "pod_group idle\n pod idle-[0-9] gpu=1\nqueue other\nrun\n";
  const auto has_idle = [](const scenario& one) { return one.text.find("pod idle-3 ") != std::string::npos; };
  minimise_setup how;
  how.interesting = has_idle;
  const minimised alone = must(minimise_scenario(parsed(text), how));
  minimise_setup together;
  std::size_t made = 0;
  together.first_interesting = [&](const auto& next) -> std::optional<std::size_t> {
    std::vector<scenario> all;  // more than will be needed
    for (std::optional<scenario> one; (one = next());) all.push_back(std::move(*one));
    made += all.size();
    const auto found = std::find_if(all.begin(), all.end(), has_idle);
    if (found == all.end()) return std::nullopt;
    return static_cast<std::size_t>(found - all.begin());
  };
  const minimised several = must(minimise_scenario(parsed(text), together));
  CHECK(several.text == alone.text);
  CHECK(several.trials == alone.trials);
  CHECK(made >= alone.trials);
  CHECK(alone.size.pods == 1);
  CHECK(alone.size.groups == 1);
  CHECK(alone.size.nodes == 0);
}

TEST_CASE("a search that is stopped has the best so far") {
  const std::string text = std::string(small_cluster) + "pod_group idle\n pod idle-[0-9] gpu=1\nrun\n";
  std::vector<std::string> bests;
  minimise_setup how;
  how.interesting = [](const scenario& one) { return one.text.find("pod idle-3 ") != std::string::npos; };
  how.improved = [&](const std::string& best, const scenario_size& size) {
    bests.push_back(best);
    CHECK(size.pods >= 1);
  };
  how.stopped = [&] { return bests.size() >= 3; };
  const minimised some = must(minimise_scenario(parsed(text), how));
  CHECK_FALSE(some.finished);
  CHECK(some.text == bests.back());
  CHECK(bests.size() == 3);
  how.stopped = [] { return true; };
  CHECK(minimise_scenario(parsed(text), how).failure().message.find("stopped before") != std::string::npos);
}

TEST_CASE("room goes with the pods that hold it") {
  const std::string text =
      "scenario 1\nnode n gpu=4 pods=9\nqueue a quota.gpu=3 limit.gpu=4\n"
      "pod_group g[0-3] queue=a\npod g[0-3]-0 group=g[0-3] gpu=1 node=n status=running devices=[0-3]\nrun\n";
  minimise_setup how;
  std::set<std::string> rows;  // of those that were asked about
  how.interesting = [&](const scenario& one) {
    for (std::size_t at = 0; at < one.text.size(); at = one.text.find('\n', at) + 1) {
      rows.insert(one.text.substr(at, one.text.find('\n', at) - at));
    }
    return true;
  };
  static_cast<void>(minimise_scenario(parsed(text), how));
  CHECK(rows.contains("node n gpu=2 pods=9"));
  CHECK(rows.contains("queue a quota={gpu=1} limit={gpu=2}"));
  CHECK(rows.contains("pod g2-0 group=g2 gpu=1 status=running node=n"));
}

TEST_CASE("a line that asks for a decision") {
  const std::string text = std::string(small_cluster) + "run\n";
  const scenario_setup setup{{}, [&](const session& ran, std::size_t) {
                               CHECK(must(decides(ran, "bind train-0 n1")));
                               CHECK(must(decides(ran, "bind train-0")));
                               CHECK_FALSE(must(decides(ran, "bind train-0 n2")));
                               CHECK_FALSE(decides(ran, "nothing").ok());
                               CHECK_FALSE(decides(ran, "digest 00").ok());
                               CHECK_FALSE(decides(ran, "bind").ok());
                               CHECK_FALSE(decides(ran, "bind train-0 nodes=1").ok());
                             }};
  static_cast<void>(play_scenario(parsed(text), setup));
}

}  // namespace of_test_scenario
