// Templates of vendors: what is shipped, what a new one needs, what a wrong one is told.

#include <doctest/doctest.h>

#include "devices/cards.hpp"
#include "policy/devices/vendor/admission.hpp"
#include "policy/devices/vendor/requests.hpp"

namespace of_test_vendor_files {

using namespace kaisched;
using namespace kaisched::devices;
using namespace kaisched::devices::test;

namespace {

quantity number(std::int64_t value) { return {value, true, value < 0, false}; }

container_resources limits(quantities of) { return {std::move(of), {}}; }

std::string fault(std::string_view text) {
  const result<vendor_catalog> read = io::read_vendors(text, "acme.json");
  return read ? std::string("read") : read.failure().message;
}

std::string file(std::string_view vendor) {
  return R"({"schema": "kaisched-vendor/1", "vendors": [)" + std::string(vendor) + "]}";
}

}  // namespace

TEST_CASE("all vendors are shipped, by key") {
  const std::vector<std::string> expected{
      "AMD",           "AWSNeuron",  "Ascend310P", "Ascend910A", "Ascend910B2", "Ascend910B3", "Ascend910B4",
      "Ascend910B4-1", "Ascend910C", "BI-V100",    "BI-V150",    "Biren",       "DCU",         "Enflame",
      "GCU",           "MLU",        "MR-V100",    "MR-V50",     "Metax-GPU",   "Metax-SGPU",  "Mthreads",
      "NVIDIA",        "Vastai",     "XPU",        "generic",    "kunlun"};
  std::vector<std::string> keys;
  for (const vendor_template& one : vendors()) keys.push_back(one.key);
  CHECK(keys == expected);
}

TEST_CASE("a new vendor is one file, and replaces an old one of its key") {
  const std::string text = file(R"({
    "key": "Acme",
    "resources": {"count": "acme.com/npu", "memory": "acme.com/npu-blocks"},
    "requests": {"memory_unit_mib": 128, "default_permille": 500},
    "checks": ["health", "type", "slots", "memory"],
    "sets": [{"choose": "full_groups", "group_size": 2}]
  })");
  vendor_catalog catalog = vendors();
  result<vendor_catalog> read = io::read_vendors(text, "acme.json");
  REQUIRE(read);
  io::add_vendors(catalog, *read);
  const vendor_template* acme = find_vendor(catalog, "Acme");
  REQUIRE(acme != nullptr);
  const std::optional<request> asked =
      make_request(*acme, limits({{"acme.com/npu", number(2)}, {"acme.com/npu-blocks", number(3)}}));
  REQUIRE(asked);
  CHECK(asked->memory == 384 * mebibyte);
  node where = cards(4, 1000, "Acme-1");
  where.devices[3].healthy = false;
  const node_placement placed = place_in_order(catalog, where, one(*asked), {}, {});
  CHECK(ids(placed, "Acme") == "1,0");
  io::add_vendors(catalog, *io::read_vendors(file(R"({"key": "NVIDIA"})"), "own.json"));
  CHECK(find_vendor(catalog, "NVIDIA")->checks.empty());
  CHECK(catalog.size() == vendors().size() + 1);
}

TEST_CASE("faults name file, line, object and field") {
  CHECK(fault("[]") == "acme.json:1: expected an object, found an array");
  CHECK(fault(R"({"schema": "x"})") == "acme.json:1: schema: expected \"kaisched-vendor/1\", found \"x\"");
  CHECK(fault(R"({"schema": "kaisched-vendor/1"})") == "acme.json:1: \"vendors\" is missing");
  CHECK(fault(file("{}")) == "acme.json:1: vendors[0]: \"key\" is missing");
  CHECK(fault(file(R"({"key": "Acme", "colour": 1})")).find("Acme.colour: no such field; known are key, ") !=
        std::string::npos);
  CHECK(fault(file(R"({"key": "Acme", "checks": ["helth"]})")) == "acme.json:1: Acme.checks: no such check: \"helth\"");
  CHECK(fault(file(R"({"key": "Acme", "sets": [{"choose": "best"}]})"))
            .starts_with("acme.json:1: Acme.sets[0].choose: expected one of first, best_links, "));
  CHECK(fault(file(R"({"key": "Acme", "core_cap": "100"})")) ==
        "acme.json:1: Acme.core_cap: expected an integer, found \"100\"");
  CHECK(fault(file(R"({"key": "Acme", "sets": [{"choose": "full_groups"}]})")) ==
        "acme.json:1: Acme.sets[0]: \"group_size\" is missing");
  CHECK(fault(file(R"({"key": "Acme", "whole_memory_mib": -1})")).find("expected mebibytes from 0") !=
        std::string::npos);
}

TEST_CASE("faults of devices that are found, and of what grants tell") {
  const auto found = [](std::string_view members) {
    const std::string text = fault(file(R"({"key": "Acme", "found": {)" + std::string(members) + "}}"));
    return text.starts_with("acme.json:1: Acme.found") ? text.substr(23) : text;
  };
  const auto tells = [](std::string_view members) {
    const std::string text = fault(file(R"({"key": "Acme", "tells": [{)" + std::string(members) + "}]}"));
    return text.starts_with("acme.json:1: Acme.tells[0]") ? text.substr(26) : text;
  };
  const std::string count = R"("count": {"resource": "a.com/npu"}, )";
  const std::string list = R"("annotation": "a.com/npus", )";
  CHECK(found(count + R"("id": "<node>-<index>", "slots": 3, "cores": {"resource": "a.com/cores", "bits": true})") ==
        "read");
  CHECK(found(list + R"("id": "<uuid>", "memory_mib": {"member": "vram", "unit": 1024}, "numa": {"member": "n"})") ==
        "read");
  CHECK(found(R"("id": "<index>")") == ".count: expected either a count or an annotation");
  CHECK(found(count + list + R"("id": "<index>")") == ".count: expected either a count or an annotation");
  CHECK(found(count + R"("slots": 1)") == ": \"id\" is missing");
  CHECK(found(count + R"("id": "<node>")") == ".id: expected <index> in it");
  CHECK(found(list + R"("id": "<node>")") == ".id: expected <index> or a member of the records in it");
  CHECK(found(count + R"("id": "<uuid>-<index>")") == ".id: no such name: <uuid>; known are node, index");
  CHECK(found(count + R"("id": "<index")") == ".id: expected a name and '>' behind '<', found \"<index\"");
  CHECK(found(count + R"("id": "a<>")") == ".id: expected a name and '>' behind '<', found \"a<>\"");
  CHECK(found(count + R"("id": 7)") == ".id: expected a string, found 7");
  CHECK(found(R"("count": {}, "id": "<index>")") == ".count: \"resource\" is missing");
  CHECK(found(R"("count": {"resource": "r", "per_device": 0}, "id": "<index>")") ==
        ".count.per_device: expected at least 1, found 0");
  CHECK(found(count + R"("id": "<index>", "slots": -1)") == ".slots: expected at least 0, found -1");
  CHECK(found(count + R"("id": "<index>", "slots": "3")") == ".slots: expected an integer, found \"3\"");
  CHECK(found(count + R"("id": "<index>", "slots": {"unit": 1})") == ".slots: \"resource\" is missing");
  CHECK(found(list + R"("id": "<uuid>", "slots": {"resource": "r"})").starts_with(".slots: \"member\" is missing"));
  CHECK(found(count + R"("id": "<index>", "cores": {"resource": "r", "unit": 0})") ==
        ".cores.unit: expected at least 1, found 0");
  CHECK(found(count + R"("id": "<index>", "cores": {"resource": "r", "most": -1})") ==
        ".cores.most: expected at least 0, found -1");
  CHECK(found(count + R"("id": "<index>", "numa_nodes": 0)") == ".numa_nodes: expected at least 1, found 0");
  CHECK(found(count + R"("id": "<index>", "healthy": "h")").starts_with(".healthy: no such field; known are count, "));
  CHECK(found(list + R"("id": "<u>", "attributes": [{"name": "a"}])") ==
        ".attributes[0].label: expected either a label or a member");
  CHECK(found(count + R"("id": "<index>", "attributes": [{"name": "a", "member": "m"}])") ==
        ".attributes[0].label: expected the name of a label");
  CHECK(tells(R"("annotation": "a", "of": "devices", "text": "<index>")") == "read");
  CHECK(tells(R"("text": "x")") == ": \"annotation\" is missing");
  CHECK(tells(R"("annotation": "a")") == ".text: expected either a text or a record");
  CHECK(tells(R"("annotation": "a", "text": "x", "of": "devices", "record": {"i": "index"})") ==
        ".text: expected either a text or a record");
  CHECK(tells(R"("annotation": "a", "text": "<index>")") == ".text: no such name: <index>; known are node");
  CHECK(tells(R"("annotation": "a", "of": "pods", "text": "x")")
            .starts_with(".of: expected one of pod, first_device, last_container, devices, cores, containers, found"));
  CHECK(tells(R"("annotation": "a", "of": "cores", "record": {"i": "index"})") ==
        ".record: it is for \"of\": \"devices\" or \"containers\"");
  CHECK(tells(R"("annotation": "a", "of": "containers", "text": "<index>")") == ": \"record\" is missing");
  CHECK(tells(R"("annotation": "a", "of": "devices", "record": {"i": "colour"})")
            .starts_with(".record.i: no such name: \"colour\"; known are node, device, "));
  CHECK(tells(R"("annotation": "a", "of": "devices", "record": {"i": 1.5})") ==
        ".record.i: expected a name, an integer, true or false, found 1.5");
  CHECK(tells(R"("annotation": "a", "text": "x", "memory_unit_mib": 0)") ==
        ".memory_unit_mib: expected at least 1, found 0");
}

TEST_CASE("members of common stand for those that a vendor does not have, with its key in texts") {
  const result<vendor_catalog> read = io::read_vendors(R"({
    "schema": "kaisched-vendor/1",
    "common": {"resources": {"count": "acme.com/{key}"}, "core_cap": 7},
    "vendors": [{"key": "A1"}, {"key": "A2", "core_cap": 9}]
  })",
                                                       "acme.json");
  REQUIRE(read);
  CHECK((*read)[0].count_name == "acme.com/A1");
  CHECK((*read)[0].core_cap == 7);
  CHECK((*read)[1].count_name == "acme.com/A2");
  CHECK((*read)[1].core_cap == 9);
}

TEST_CASE("H29: a plain NVIDIA container is alone on its device") {
  admitted_container container;
  container.resources = limits({{"nvidia.com/gpu", number(1)}});
  const vendor_template& nvidia = *find_vendor(vendors(), "NVIDIA");
  CHECK(admit(nvidia, container).claimed);
  const std::optional<request> asked = make_request(nvidia, container.resources);
  REQUIRE(asked);
  CHECK(asked->cores == 100);
  CHECK(asked->memory_permille == 1000);
  container.resources = limits({{"nvidia.com/gpumem-percentage", number(101)}});
  CHECK_FALSE(admit(nvidia, container).error.empty());
}

TEST_CASE("H30: Ascend rounds memory to its templates, several devices are whole") {
  const vendor_template& ascend = *find_vendor(vendors(), "Ascend910B3");
  const auto admitted = [&](std::int64_t count, std::int64_t memory) {
    admitted_container container;
    container.resources =
        limits({{"huawei.com/Ascend910B3", number(count)}, {"huawei.com/Ascend910B3-memory", number(memory)}});
    const admission_result result = admit(ascend, container);
    return result.error.empty()
               ? find_quantity(container.resources, "huawei.com/Ascend910B3-memory", columns::limits)->value
               : -1;
  };
  CHECK(admitted(1, 10000) == 16384);
  CHECK(admitted(1, 16385) == 32768);
  CHECK(admitted(1, 40000) == 65536);
  CHECK(admitted(1, 70000) == -1);
  CHECK(admitted(2, 16384) == -1);
  CHECK(admitted(2, 65536) == 65536);
}

}  // namespace of_test_vendor_files
