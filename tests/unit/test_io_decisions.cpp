// Decisions as text and back: both forms say the same, give the digest of the session, and show that they were changed.
#include <filesystem>
#include <string>
#include <string_view>

#include "io/cluster_input.hpp"
#include "io/decisions_text.hpp"
#include "io/files.hpp"
#include "io/synthetic.hpp"
#include "io/table_text.hpp"
#include "support.hpp"

namespace of_test_io_decisions {

using namespace kaisched;
using test::builder;
using test::must;

namespace {

/// Every kind of decision: bind, pipeline, evict, move, unschedulable; whole devices, shares and none.
session eventful() {
  builder b;
  b << builder::queue{"q"} << builder::node{"n1", 4} << builder::node{"n 2, \"b\"", 4};
  b << builder::group{"old", "q"} << builder::pod{"old-0", "old", 3000, "n1"}
    << builder::pod{" old-1 ", "old", 0, "n1"};
  b << builder::group{"moved", "q"} << builder::pod{"moved-0", "moved", 1000, "n1"};
  b << builder::group{"share", "q"} << builder::pod{"share-0", "share", 500};
  b << builder::group{"no, \"gpu\"", "q"} << builder::pod{"\"quoted\"", "no, \"gpu\"", 0};
  b.gang("claim", "q", 1, 4000).gang("giant", "q", 1, 9000);
  const snapshot base = b.take();
  session s = must(engine().open(base, 0));
  const auto pod = [&](const char* name) { return test::pod_by_name(base, name); };
  must(s.evict(pod("old-0")));
  must(s.evict(pod(" old-1 ")));
  must(s.evict(pod("moved-0")));
  REQUIRE(must(s.pipeline(pod("moved-0"), test::node_by_name(base, "n 2, \"b\""))));
  REQUIRE(must(s.pipeline(pod("claim-0"), test::node_by_name(base, "n1"))));
  must(s.commit());
  must(s.run("allocate"));
  return s;
}

session invented() {
  const result<io::cluster_input> input = io::make_synthetic_cluster({128, 130, 5});
  return must(engine().run(must(io::build_cluster(*input)).take_snapshot(), input->now));
}

std::string json_of(const session& s) { return must(io::format_decisions_json(s, "kai-0.17-r2", "strict")); }

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string copy(text);
  const std::size_t at = copy.find(what);
  REQUIRE(at != std::string::npos);
  return copy.replace(at, what.size(), by);
}

template <class F>
std::string fault_of(F parse, std::string_view text, std::string_view source) {
  const result<io::decisions_input> input = parse(text, source);
  if (!input) return input.failure().message;
  const result<void> checked = io::check_digest(*input);
  return checked ? "(no fault)" : checked.failure().message;
}
std::string json_fault(std::string_view text) { return fault_of(io::parse_decisions_json, text, "d.json"); }
std::string csv_fault(std::string_view text) { return fault_of(io::parse_decisions_csv, text, "d.csv"); }

constexpr std::string_view header =
    "kind,devices,device_share,action,commit,pod_name,node_name,group_name,numa_zones,claim_devices,device_memory,"
    "sharing,device_grants,layout,gone,drain_cost,checks\n";

/// A text with one decision and these members of it.
std::string with_row(std::string_view row) {
  return "{\"schema\": \"kaisched-decisions/1\", \"preset\": \"kai-0.17-r2\", \"mode\": \"strict\", \"digest\": \"\",\n"
         "\"decision\": [\n" +
         std::string(row) + "]}";
}

}  // namespace

TEST_CASE("decisions survive both forms and give the digest of the session") {
  for (const session& s : {eventful(), invented()}) {
    const io::decisions_input json = must(io::parse_decisions_json(json_of(s), "d.json"));
    CHECK(json.preset == "kai-0.17-r2");
    CHECK(json.mode == "strict");
    CHECK(json.digest == s.digest());
    must(io::check_digest(json));
    const io::decisions_input csv = must(io::parse_decisions_csv(must(io::format_decisions_csv(s)), "d.csv"));
    CHECK(io::decisions_digest(csv.decisions.view(), "kai-0.17-r2", "strict") == s.digest());
    CHECK(io::decisions_digest(must(s.to_table(table_kind::decision)).view(), "kai-0.17-r2", "strict") == s.digest());
    CHECK(io::decisions_digest(csv.decisions.view(), "kai-0.17-r2", "compat") != s.digest());
    must(io::check_digest(csv));

    // The rows are the same rows.
    const std::string written = must(io::format_decisions_csv(s));
    CHECK(io::format_csv(json.decisions.view(), s.base()) == written);
    CHECK(io::format_csv(csv.decisions.view(), s.base()) == written);
    CHECK(json.reasons.rows() == must(s.to_table(table_kind::reason)).rows());
    CHECK(json.queue_shares.rows() == must(s.to_table(table_kind::queue_share)).rows());
    CHECK(json.statistics.rows() == must(s.to_table(table_kind::statistic)).rows());
  }
}

TEST_CASE("the sessions of this test decide everything that there is to decide") {
  const std::string csv = must(io::format_decisions_csv(eventful()));
  for (const std::string_view kind : {"\nbind,", "\npipeline,", "\nevict,", "\nmove,", "\nunschedulable,"}) {
    CAPTURE(kind);
    CHECK(csv.find(kind) != std::string::npos);
  }
  CHECK(csv.starts_with(header));
  CHECK(csv.find(",\"\"\"quoted\"\"\",") != std::string::npos);
  CHECK(csv.find(",\" old-1 \",") != std::string::npos);
}

TEST_CASE("preset and mode of a text are those of the session") {
  CHECK(io::format_decisions_json(eventful(), "kai", "strict").failure().message ==
        "preset kai and mode strict are not those of the session");
  CHECK(io::format_decisions_json(eventful(), "kai-0.17-r2", "compat").failure().code == status::argument);
}

TEST_CASE("a changed decision, preset or mode is seen") {
  const std::string json = json_of(eventful());
  CHECK(json_fault(json) == "(no fault)");
  for (const auto& [what, by] : {std::pair{"\"kai-0.17-r2\"", "\"kai\""}, std::pair{"\"strict\"", "\"compat\""},
                                 std::pair{"\"bind\"", "\"pipeline\""}, std::pair{"\"share-0\"", "\"share-1\""},
                                 std::pair{"\"device_share\": 500", "\"device_share\": 501"},
                                 std::pair{"\"commit\": 2", "\"commit\": 3"}, std::pair{"\"n1\"", "\"n2\""}}) {
    CAPTURE(what);
    const std::string fault = json_fault(replaced(json, what, by));
    CHECK(fault.starts_with("d.json: the decisions give the digest "));
    CHECK(fault.ends_with(": preset, mode or a decision is not what the session wrote"));
  }
  // A lost row and a changed digest, too.
  const std::size_t row = json.find("  {\"kind\": \"bind\"");
  std::string shorter = json;
  shorter.erase(row, json.find('\n', row) + 1 - row);
  CHECK(json_fault(shorter).starts_with("d.json: the decisions give the digest "));
  const std::string digest = eventful().digest();
  CHECK(json_fault(replaced(json, digest, std::string(64, '0'))).find(digest) != std::string::npos);
}

TEST_CASE("faults of decisions in JSON name line and place") {
  CHECK(json_fault("[]") == "d.json:1: expected an object with \"schema\": \"kaisched-decisions/1\", found an array");
  CHECK(json_fault("{\"schema\": \"kaisched-decisions/1\"}").starts_with("d.json:1: \"preset\" is missing: "));
  CHECK(json_fault(replaced(with_row(""), "decisions/1", "cluster/1")) ==
        "d.json:1: schema: expected \"kaisched-decisions/1\", found \"kaisched-cluster/1\"");
  CHECK(json_fault(replaced(with_row(""), "\"decision\"", "\"decision\": [], \"reasons\"")) ==
        "d.json:2: reasons: decisions have no such member; did you mean \"reason\"?");
  CHECK(json_fault(replaced(with_row(""), "\"kai-0.17-r2\"", "1")) == "d.json:1: preset: expected a string, found 1");
  CHECK(json_fault(with_row("{}")) ==
        "d.json:3: decision[0]: \"kind\" is missing: 1 bind, 2 pipeline, 3 evict, 4 move, 5 unschedulable, 6 migrate, "
        "7 repartition.");
  CHECK(json_fault(with_row("{\"kind\": \"bindd\"}")) ==
        "d.json:3: decision[0].kind: no decision kind is called \"bindd\"; did you mean \"bind\"?");
  CHECK(json_fault(with_row("{\"kind\": \"\"}")) ==
        "d.json:3: decision[0].kind: no decision kind is called \"\"; known: bind, pipeline, evict, move, "
        "unschedulable, migrate, repartition");
  CHECK(json_fault(with_row("{\"kind\": \"bind\",\n\"pod\": \"p\"}")) ==
        "d.json:4: decision[0].pod: decision has no such column; known: kind, devices, device_share, action, "
        "commit, pod_name, node_name, group_name, numa_zones, claim_devices, device_memory, sharing, "
        "device_grants, layout, gone, drain_cost, checks");
  CHECK(json_fault(with_row("{\"kind\": \"bind\", \"devices\": [1, 64], \"device_share\": 1, \"action\": \"allocate\", "
                            "\"commit\": 1, \"pod_name\": \"p\", \"node_name\": \"n\", \"group_name\": \"g\"}")) ==
        "d.json:3: decision[0].devices: expected indices of devices from 0 to 63, found 64");
}

TEST_CASE("faults of decisions in CSV name line and column") {
  const std::string head(header);
  CHECK(csv_fault(head) == "(no fault)");
  CHECK(csv_fault("") ==
        "d.csv: the file is empty; expected a header: kind,devices,device_share,action,commit,pod_name,node_name,"
        "group_name,numa_zones,claim_devices,device_memory,sharing,device_grants,layout,gone,drain_cost,checks");
  CHECK(csv_fault(replaced(head, "pod_name", "pod_nam")) ==
        "d.csv:1: the header has no column \"pod_name\"; is it \"pod_nam\"?");
  CHECK(csv_fault(replaced(head, "kind", "kind,kinds")) ==
        "d.csv:1: no column is called \"kinds\"; did you mean \"kind\"?");
  // Columns that came later may be absent.
  const std::string old =
      replaced(head, ",numa_zones,claim_devices,device_memory,sharing,device_grants,layout,gone,drain_cost,checks", "");
  CHECK(csv_fault(old) == "(no fault)");
  CHECK(csv_fault(old + "bind,0,1000,allocate,1,p,n,g\n\nbond,0,1000,allocate,1,p,n,g\n") ==
        "d.csv:4: decision[1].kind: no decision kind is called \"bond\"; did you mean \"bind\"?");
  CHECK(csv_fault(old + "bind,0 x,1000,allocate,1,p,n,g\n") ==
        "d.csv:2: decision[0].devices: expected an array of integers, found \"x\"");
  CHECK(csv_fault(old + "bind,-1,1000,allocate,1,p,n,g\n") ==
        "d.csv:2: decision[0].devices: expected indices of devices from 0 to 63, found -1");
  CHECK(csv_fault(old + "bind,0,,allocate,1,p,n,g\n") ==
        "d.csv:2: decision[0].device_share: expected an integer (milli-GPU), found \"\"");
  CHECK(csv_fault(old + "bind,0,1000,allocate,1.5,p,n,g\n") ==
        "d.csv:2: decision[0].commit: expected a small integer from 0 (number), found 1.5");
  CHECK(csv_fault(old + "bind,0,1000,allocate,1,p,n\n") == "d.csv:2: fewer fields than the header");
  CHECK(csv_fault(old + "bind,0,1000,allocate,1,p,n,\"g\n") == "d.csv:2: a quote is not closed in this line");
  CHECK(csv_fault(old + std::string("bind,0,1000,allocate,1,p,n,g\0h\n", 31)) ==
        "d.csv:2: the line contains a NUL character");
  CHECK(csv_fault(old + "bind,0,1000,allocate,1,p,n,\xFF\n") == "d.csv:2: the line is not UTF-8");
}

TEST_CASE("files are read by their endings, and the digest is compared at once") {
  const std::string path = (std::filesystem::temp_directory_path() / "kaisched_test_io_decisions").string();
  const session s = eventful();
  must(io::write_file(path + ".json", json_of(s)));
  must(io::write_file(path + ".csv", must(io::format_decisions_csv(s))));
  CHECK(must(io::read_decisions(path + ".json")).decisions.rows() ==
        must(io::read_decisions(path + ".csv")).decisions.rows());
  must(io::write_file(path + ".json", replaced(json_of(s), "\"share-0\"", "\"share-1\"")));
  CHECK(io::read_decisions(path + ".json").failure().code == status::conflict);
  CHECK(
      io::read_decisions(path + ".json").failure().message.starts_with(path + ".json: the decisions give the digest "));
  std::filesystem::remove(path + ".json");
  std::filesystem::remove(path + ".csv");
  CHECK(io::read_decisions(path + ".json").failure().code == status::not_found);
}

}  // namespace of_test_io_decisions
