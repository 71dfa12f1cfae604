// Rows of device classes, slices and requests: what they may say, and that they come back as they were.
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "files/kubernetes_text.hpp"
#include "io/cluster_input.hpp"
#include "model/device_claims.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_device_claims {

using namespace kaisched;
using test::add;
using test::must;
using texts = std::vector<std::string>;

namespace {

/// A list as tables hold it.
std::string joined(const texts& all) {
  std::string list;
  for (const std::string& one : all) list += one + '\0';
  return list;
}

template <class T>
std::string message(const result<T>& made) {
  return made ? std::string("accepted") : made.failure().message;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

const char* const slice_json =
    R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "s"},
  "spec": {"driver": "gpu.example.com", "pool": {"name": "a", "generation": 3, "resourceSliceCount": 1}, "nodeName": "a",
    "sharedCounters": [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}],
    "devices": [
      {"name": "g0", "attributes": {"model": {"string": "h100"}, "other.example.com/numa": {"int": 1}, "ecc": {"bool": true},
        "driverVersion": {"version": "550.1.0"}, "zones": {"strings": ["x", "y"]}},
       "capacity": {"memory": {"value": "80Gi", "requestPolicy": {"default": "10Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}},
       "allowMultipleAllocations": true,
       "consumesCounters": [{"counterSet": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}],
       "taints": [{"key": "old", "effect": "NoSchedule"}, {"key": "note", "effect": "None"}]},
      {"name": "g1", "basic": {"attributes": {"model": {"string": "a100"}}, "capacity": {"memory": {"value": 5}}}}]}})";
const char* const class_json =
    R"({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
  "spec": {"selectors": [{"cel": {"expression": "device.driver == 'gpu.example.com'"}}]}})";
const char* const claim_json = R"json({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
  "metadata": {"namespace": "t", "name": "c", "labels": {"kai.scheduler/queue": "q"}},
  "spec": {"devices": {"requests": [
      {"name": "x", "exactly": {"deviceClassName": "gpu", "count": 2, "adminAccess": true,
        "selectors": [{"cel": {"expression": "has(device.attributes['gpu.example.com'].ecc)"}}],
        "tolerations": [{"key": "old", "operator": "Exists"}], "capacity": {"requests": {"memory": "20Gi"}}}},
      {"name": "y", "firstAvailable": [{"name": "big", "deviceClassName": "gpu", "allocationMode": "All"},
        {"name": "small", "deviceClassName": "gpu"}]}],
    "constraints": [{"requests": ["x", "y/big"], "matchAttribute": "other.example.com/numa"}]}},
  "status": {"allocation": {"devices": {"results": [{"request": "y/small", "driver": "gpu.example.com", "pool": "a",
    "device": "g0", "consumedCapacity": {"memory": "10Gi"}}]}}}})json";

}  // namespace

TEST_CASE("texts of attributes, capacities, counters, constraints and results") {
  using namespace model;
  const auto attributes = must(parse_attributes(
      joined({"d/z=ints:3", "d/a=bool:true", "d/z=ints:-1", "e/v=version:1.2.3", "d/s=string:a=b;c:d"})));
  REQUIRE(attributes.size() == 4);
  CHECK(attributes[0].name == "a");
  CHECK(attributes[0].numbers == std::vector<std::int64_t>{1});
  CHECK(attributes[1].texts == texts{"a=b;c:d"});
  CHECK(attributes[2].is_list);
  CHECK(attributes[2].numbers == std::vector<std::int64_t>{3, -1});
  for (const std::string_view text : {"x=int:1", "d/x", "d/x=1", "d/x=int:", "d/x=int:1.5", "d/x=bool:yes",
                                      "d/x=version:1", "d/x=float:1", "/x=int:1", "d/=int:1", "d/x=s:1"}) {
    CAPTURE(text);
    CHECK(has(message(parse_attributes(joined({std::string(text)}))), text));
  }
  CHECK(has(message(parse_attributes(joined({"d/x=int:1", "d/x=int:2"}))), "'d/x' is given twice"));
  CHECK(has(message(parse_attributes(joined({"d/x=ints:1", "d/x=strings:2"}))), "'d/x' is given twice"));

  const auto capacities =
      must(parse_capacities(joined({"d/m=8Gi;default=1Gi;min=1Gi;max=4Gi;step=1Gi", "d/c=7;value=1;value=7"})));
  CHECK(capacities[0].policy.valid_values.size() == 2);
  CHECK(*capacities[1].policy.otherwise == *parse_exact_quantity("1Gi"));
  CHECK(*capacities[1].policy.most == *parse_exact_quantity("4Gi"));
  for (const std::string_view text : {"m=1", "d/m", "d/m=", "d/m=-1", "d/m=1;max=1", "d/m=1;min=1;value=1",
                                      "d/m=1;value=2;value=1", "d/m=1;min=1;min=1", "d/m=1;least=1", "d/m=1;min"}) {
    CAPTURE(text);
    CHECK(has(message(parse_capacities(joined({std::string(text)}))), text));
  }
  CHECK(has(message(parse_capacities(joined({"d/m=1", "d/m=2"}))), "given twice"));
  CHECK(must(parse_counters(joined({"s/a=1", "s/b=2"}))).size() == 2);
  CHECK(has(message(parse_counters(joined({"a=1"}))), "'a=1' is no counter"));
  CHECK(has(message(parse_counters(joined({"s/a=1", "s/a=1"}))), "given twice"));
  CHECK(must(parse_capacity_asks(joined({"m=1", "d/m=2"})))[1].domain == "d");
  CHECK(has(message(parse_capacity_asks(joined({"=1"}))), "is no amount of a capacity"));

  const auto constraints = must(parse_constraints(joined({"match d/x", "distinct d/y: a, b/c"})));
  CHECK_FALSE(constraints[0].distinct);
  CHECK(constraints[1].requests == texts{"a", "b/c"});
  for (const std::string_view text : {"same d/x", "match x", "match", "match d/x:", "match d/x: a,,b"}) {
    CAPTURE(text);
    CHECK(has(message(parse_constraints(joined({std::string(text)}))), text));
  }
  for (const std::string_view text : {"r=d/p/x", "r/a=d/p/x;admin", "r=d/p/x;d/m=1.5;d/n=2"}) {
    CHECK(text_of(must(parse_results(joined({std::string(text)})))[0]) == text);
  }
  for (const std::string_view text : {"r", "=d/p/x", "r=d/p/x;m=1", "r=d/p/x;d/m=x"}) {
    CAPTURE(text);
    CHECK(has(message(parse_results(joined({std::string(text)}))), text));
  }
}

TEST_CASE("rows are added, changed and removed, and errors name object and field") {
  cluster c;
  CHECK(c.apply(add(table_kind::device_class, {"name", "selectors"}).add({"gpu", test::texts{"device.driver == 'd'"}}))
            .ok());
  const result<void> bad =
      c.apply(add(table_kind::device_class, {"name", "selectors"}).add({"bad", test::texts{"'a'.matches('b')"}}));
  REQUIRE_FALSE(bad.ok());
  CHECK(has(bad.failure().message, "column selectors"));
  CHECK(has(bad.failure().message, "'bad'"));
  CHECK(has(bad.failure().message, "function 'matches' is not supported"));
  CHECK(has(message(c.apply(add(table_kind::device_class, {"name"}).add({"gpu"}))), "exists already"));
  CHECK(c.apply(add(table_kind::resource_slice, {"name", "driver", "pool", "node"}).add({"s", "d", "p", "n"})).ok());
  CHECK(has(message(c.apply(add(table_kind::resource_slice, {"name", "counters"}).add({"t", test::texts{"x=1"}}))),
            "column counters"));
  CHECK(
      c.apply(add(table_kind::slice_device, {"name", "slice", "attributes"}).add({"g", "s", test::texts{"d/x=int:1"}}))
          .ok());
  CHECK(has(message(c.apply(add(table_kind::slice_device, {"name", "taints"}).add({"h", test::texts{"x"}}))),
            "column taints"));
  CHECK(c.apply(add(table_kind::claim_request, {"name", "claim", "count"}).add({"r", "c", 2})).ok());
  CHECK(has(message(c.apply(add(table_kind::claim_request, {"name", "count"}).add({"q", 0}))), "column count"));
  const std::string before = c.take_snapshot().digest();
  CHECK(must(snapshot::load(c.take_snapshot().save())).digest() == before);

  CHECK(c.apply(test::change(table_kind::claim_request, {"name", "count"}).add({"r", 3})).ok());
  CHECK(c.take_snapshot().digest() != before);
  CHECK(has(message(c.apply(test::change(table_kind::claim_request, {"name", "count"}).add({"none", 3}))),
            "there is no claim_request 'none'"));
  CHECK(c.apply(test::change(table_kind::claim_request, {"name", "count"}).add({"r", 2})).ok());
  CHECK(c.take_snapshot().digest() == before);
  CHECK(c.apply(test::remove(table_kind::claim_request, {"name"}).add({"r"})).ok());
  CHECK(c.take_snapshot().to_table(table_kind::claim_request)->rows() == 0);
}

TEST_CASE("a session gives devices, takes them back exactly and says why not") {
  cluster c;
  must(c.apply(add(table_kind::node, {"name", "capacity"}).add({"n", test::numbers{8000, 0, 0, 10}})));
  must(c.apply(add(table_kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(table_kind::resource_slice, {"name", "driver", "pool", "node"}).add({"s", "d", "p", "n"})));
  must(c.apply(add(table_kind::slice_device, {"name", "slice", "attributes"})
                   .add({"g0", "s", test::texts{"d/x=int:1"}})
                   .add({"g1", "s", test::texts{}})));
  must(c.apply(
      add(table_kind::resource_claim, {"name", "from_template"}).add({"one", 1}).add({"bad", 1}).add({"lost", 1})));
  must(c.apply(add(table_kind::claim_request, {"name", "claim", "device_class", "selectors"})
                   .add({"r", "one", "", test::texts{"has(device.attributes['d'].x)"}})
                   .add({"b", "bad", "", test::texts{"device.attributes['d'].x == 1"}})
                   .add({"l", "lost", "none", test::texts{}})));
  must(c.apply(add(table_kind::pod_group, {"name", "queue"}).add({"a", "q"}).add({"b", "q"}).add({"c", "q"})));
  must(c.apply(add(table_kind::pod, {"name", "group", "request", "claims"})
                   .add({"a-0", "a", test::numbers{1, 0, 0, 1}, test::texts{"one"}})
                   .add({"b-0", "b", test::numbers{1, 0, 0, 1}, test::texts{"bad"}})
                   .add({"c-0", "c", test::numbers{1, 0, 0, 1}, test::texts{"lost"}})));
  engine e;
  must(e.set("mode", "strict"));
  session s = must(e.open(c.take_snapshot(), 0));
  const std::string before = s.state_digest();
  const checkpoint mark = s.mark();
  CHECK(must(s.allocate(0, 0)));
  CHECK(s.state_digest() != before);
  CHECK_FALSE(must(s.allocate(1, 0)));
  must(s.rollback(mark));
  CHECK(s.state_digest() == before);
  must(s.check());

  must(s.run());
  REQUIRE(s.decisions().size() == 1);
  CHECK(s.decisions()[0].claim_devices == std::vector<std::string>{"one=d/p/g0"});
  std::string text;
  for (const reason& why : s.reasons()) text += s.text(why) + "\n";
  CHECK(has(text, "(on n: claim 'bad', request 'b': device d/p/g1: at 24: no such key: \"x\")"));
  CHECK(has(text, "claim 'lost': device class 'none' does not exist"));
  const table claims = must(s.to_table(table_kind::resource_claim));
  const column_view* results = claims.view().find(col::resource_claim_results);
  REQUIRE(results != nullptr);
  CHECK(split_list(results->string(2)) == std::vector<std::string_view>{"r=d/p/g0"});  // by name: bad, lost, one
  must(s.check());
}

TEST_CASE("objects of Kubernetes become these rows") {
  const std::string text = std::string(slice_json) + "\n" + class_json + "\n" + claim_json;
  const io::cluster_input input = must(io::kubernetes::parse(text, "o.json"));
  CHECK(input.faults.empty());
  const snapshot s = must(io::build_cluster(input, "reject")).take_snapshot();
  const auto cell = [&](table_kind kind, std::uint32_t column, std::uint64_t row) {
    const table rows = must(s.to_table(kind));
    const column_view* found = rows.view().find(column);
    REQUIRE(found != nullptr);
    std::string shown;
    for (const std::string_view one : split_list(found->string(row)))
      shown += (shown.empty() ? "" : " ") + std::string(one);
    return shown;
  };
  CHECK(cell(table_kind::device_class, col::device_class_selectors, 0) == "device.driver == 'gpu.example.com'");
  CHECK(cell(table_kind::resource_slice, col::resource_slice_counters, 0) == "gpu-0/memory=80Gi");
  CHECK(
      cell(table_kind::slice_device, col::slice_device_attributes, 0) ==
      "gpu.example.com/model=string:h100 other.example.com/numa=int:1 gpu.example.com/ecc=bool:true "
      "gpu.example.com/driverVersion=version:550.1.0 gpu.example.com/zones=strings:x gpu.example.com/zones=strings:y");
  CHECK(cell(table_kind::slice_device, col::slice_device_capacities, 0) ==
        "gpu.example.com/memory=80Gi;default=10Gi;min=1Gi;step=1Gi");
  CHECK(cell(table_kind::slice_device, col::slice_device_taints, 0) == "old=:NoSchedule");
  CHECK(cell(table_kind::slice_device, col::slice_device_consumes, 0) == "gpu-0/memory=80Gi");
  CHECK(cell(table_kind::slice_device, col::slice_device_capacities, 1) == "gpu.example.com/memory=5");
  CHECK(must(s.to_table(table_kind::claim_request)).rows() == 3);
  CHECK(cell(table_kind::claim_request, col::claim_request_tolerations, 0) == "old");
  CHECK(cell(table_kind::claim_request, col::claim_request_capacities, 0) == "memory=20Gi");
  CHECK(cell(table_kind::resource_claim, col::resource_claim_constraints, 0) ==
        "match other.example.com/numa: x, y/big");
  CHECK(cell(table_kind::resource_claim, col::resource_claim_results, 0) ==
        "y/small=gpu.example.com/a/g0;gpu.example.com/memory=10Gi");
  // Without slices a host says itself what can be claimed.
  const snapshot alone =
      must(io::build_cluster(must(io::kubernetes::parse(claim_json, "o.json")), "reject")).take_snapshot();
  CHECK(must(alone.to_table(table_kind::claim_request)).rows() == 0);
}

TEST_CASE("what is wrong with objects is told") {
  const auto fault = [](std::string text, std::string_view from, std::string_view to) {
    text.replace(text.find(from), from.size(), to);
    const io::cluster_input input = must(io::kubernetes::parse(text, "o.json"));
    return input.faults.empty() ? std::string("none") : input.faults.front().message;
  };
  CHECK(has(fault(slice_json, R"({"string": "h100"})", R"({"string": [1]})"), "expected a value"));
  CHECK(has(fault(slice_json, R"("capacity": {"memory": {"value": "80Gi", )", R"("capacity": {"memory": {)"),
            "expected a quantity"));
  CHECK(has(fault(slice_json, R"("nodeName": "a")", R"("nodeSelector": {"nodeSelectorTerms": []})"),
            "expected one term"));
  CHECK(has(fault(class_json, R"("cel")", R"("lec")"), "expected an expression"));
  const std::string slice = std::string(slice_json) + "\n";
  CHECK(has(fault(slice + claim_json, R"("allocationMode": "All")", R"("allocationMode": "Some")"),
            "expected ExactCount or All"));
  CHECK(
      has(fault(slice + claim_json, R"("matchAttribute")", R"("likeAttribute")"), "expected it or distinctAttribute"));
}

}  // namespace of_test_device_claims
