// The openb reader: what a row of the trace asks for, and what a bad row is told.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "files/cluster_yaml.hpp"
#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/openb.hpp"

namespace of_test_io_openb {

using namespace kaisched;

namespace {

constexpr std::string_view nodes =
    "name,gpu_model,gpu_count,cpu_milli,memory_mib\n"
    "node-0,V100M16,4,64000,2048\n"
    "node-1,T4,2,32000,1024\n"
    "node-2,,0,96000,4096\n";

constexpr std::string_view pods =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,phase,creation_time,deletion_time,scheduled_time\n"
    "pod-0,12000,16,1,1000,,LS,Running,0,12537496,0\n"
    "pod-1,6000,12,1,460,V100M16|V100M32,LS,Running,427061,12902960,427061\n"
    "pod-2,8000,20,4,1000,,BE,Pending,427061,12902960,\n"
    "pod-3,3152,1,0,0,,BE,Pending,12900000,12902960,\n";

std::string cluster_text(std::string_view node_text, std::string_view pod_text) {
  const result<io::cluster_input> input = io::parse_openb({"nodes.csv", node_text}, {"pods.csv", pod_text});
  if (!input) FAIL(input.failure().message);
  result<cluster> built = io::build_cluster(*input);
  if (!built) FAIL(built.failure().message);
  return *io::format_cluster_json(built->take_snapshot(), input->now);
}

std::string fault_of(std::string_view node_text, std::string_view pod_text) {
  const result<io::cluster_input> input = io::parse_openb({"nodes.csv", node_text}, {"pods.csv", pod_text});
  if (input) return "(no fault)";
  CHECK(input.failure().code == status::argument);
  return input.failure().message;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::string crlf(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

}  // namespace

TEST_CASE("rows of the trace become nodes, pod groups and pods") {
  const std::string text = cluster_text(nodes, pods);
  CHECK(has(text, "\"now\": 12900000000000000,\n"));
  CHECK(has(text, "\"queue\": [\n  {\"name\": \"openb\"}\n]"));
  CHECK(has(text,
            "{\"name\": \"node-0\", \"capacity\": {\"cpu\": 64000, \"memory\": 2147483648, \"gpu\": 4000, "
            "\"pods\": 1000000}, \"labels\": {\"gpu.model\": \"V100M16\"}}"));
  CHECK(has(text, "{\"name\": \"node-2\", \"capacity\": {\"cpu\": 96000, \"memory\": 4294967296, \"pods\": 1000000}}"));
  CHECK(has(text, "{\"name\": \"pod-0\", \"queue\": \"openb\"}"));
  CHECK(has(text, "{\"name\": \"pod-1\", \"queue\": \"openb\", \"created\": 427061000000000}"));
}

TEST_CASE("a part of a GPU is a share of one device, more is whole devices") {
  const std::string text = cluster_text(nodes, pods);
  CHECK(has(text,
            "{\"name\": \"pod-0\", \"group\": \"pod-0\", \"request\": {\"cpu\": 12000, \"memory\": 16777216, "
            "\"gpu\": 1000, \"pods\": 1}}"));
  CHECK(has(text,
            "\"gpu\": 460, \"pods\": 1}, \"device_count\": 1, \"created\": 427061000000000, "
            "\"node_affinity\": [\"gpu.model in (V100M16,V100M32)\"]}"));
  CHECK(has(text, "\"gpu\": 4000, \"pods\": 1}, \"created\": 427061000000000}"));
  CHECK(has(text,
            "{\"name\": \"pod-3\", \"group\": \"pod-3\", \"request\": {\"cpu\": 3152, \"memory\": 1048576, "
            "\"pods\": 1}, \"created\": 12900000000000000}"));
}

TEST_CASE("lists without times are taken in their order, columns are found by name") {
  const std::string text = cluster_text("memory_mib,cpu_milli,name,gpu_count,gpu_model\n1,2,n,0,\n",
                                        "name,cpu_milli,memory_mib,num_gpu,gpu_milli\nb,1,1,0,0\na,1,1,0,0\n");
  CHECK(has(text, "\"now\": 1000000000,"));
  CHECK(has(text, "{\"name\": \"b\", \"queue\": \"openb\"}"));
  CHECK(has(text, "{\"name\": \"a\", \"queue\": \"openb\", \"created\": 1000000000}"));
}

TEST_CASE("line ends of other systems, quotes and empty lines change nothing") {
  const std::string plain = cluster_text(nodes, pods);
  CHECK(cluster_text(crlf(nodes), crlf(pods)) == plain);
  CHECK(cluster_text(nodes, std::string(pods) + "\n\n") == plain);
  std::string quoted(pods);
  quoted.replace(quoted.find("pod-0,"), 6, "\"pod-0\",");
  CHECK(cluster_text(nodes, quoted) == plain);
  CHECK(cluster_text(nodes, pods.substr(0, pods.size() - 1)) == plain);
}

TEST_CASE("faults name file, line and column") {
  const std::string header = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\n";
  CHECK(fault_of("", pods) ==
        "nodes.csv: the file is empty; expected a header: name,gpu_model,gpu_count,cpu_milli,memory_mib");
  CHECK(
      fault_of("name,gpu_model,cpu_milli,memory_mib\n", pods) ==
      "nodes.csv:1: the header has no column \"gpu_count\"; known: name, gpu_model, gpu_count, cpu_milli, memory_mib");
  CHECK(fault_of("name,gpu_model,gpu_count,cpu_milli,\"memory_mb\"\r\n", pods) ==
        "nodes.csv:1: the header has no column \"memory_mib\"; is it \"memory_mb\"?");
  CHECK(fault_of(nodes, header + "p,1,1,0,0,\"\nq,1,1,0,0,\n") == "pods.csv:2: a quote is not closed in this line");
  CHECK(fault_of(nodes, header + "p,1,1,0,0,\xFF\n") == "pods.csv:2: the line is not UTF-8");
  CHECK(fault_of(nodes, header + "p,many,1,0,0,\n") ==
        "pods.csv:2: cpu_milli: expected an integer from 0 to 4503599627370496, found \"many\"");
  CHECK(fault_of(nodes, header + "p,1,1,0,0,\nq,1,1,1,1500,\n") ==
        "pods.csv:3: gpu_milli: expected an integer from 1 to 1000, found \"1500\"");
  CHECK(fault_of(nodes, header + "p,1,1,-1,0,\n") ==
        "pods.csv:2: num_gpu: expected an integer from 0 to 64, found \"-1\"");
  CHECK(fault_of(nodes, header + "p,1,1\n") == "pods.csv:2: fewer fields than the header");
  CHECK(fault_of(nodes, header + "p,1,1,0,0,,extra\n") == "pods.csv:2: more fields than the header");
  CHECK(fault_of("name,name,gpu_model,gpu_count,cpu_milli,memory_mib\n", pods) ==
        "nodes.csv:1: the column \"name\" appears twice");
}

TEST_CASE("faults that only the whole list shows name file and line, too") {
  const result<io::cluster_input> input =
      io::parse_openb({"nodes.csv", std::string(nodes) + "node-0,,0,1,1\n"}, {"pods.csv", pods});
  REQUIRE(input.ok());
  CHECK(io::build_cluster(*input).failure().message.starts_with("nodes.csv:5: node[3].name: "));
  const std::string twice = std::string(pods) + "\npod-1,1,1,0,0,,LS,Running,0,0,0\n";
  const result<io::cluster_input> pods_twice = io::parse_openb({"nodes.csv", nodes}, {"pods.csv", twice});
  CHECK(io::build_cluster(*pods_twice).failure().message.starts_with("pods.csv:7: pod_group[4].name: "));
}

TEST_CASE("a trace keeps its digest as JSON and as YAML") {
  const result<io::cluster_input> input = io::parse_openb({"nodes.csv", nodes}, {"pods.csv", pods});
  const snapshot first = io::build_cluster(*input)->take_snapshot();
  const std::string json = *io::format_cluster_json(first, input->now);
  const std::string yaml = *io::format_cluster_yaml(first, input->now);
  CHECK(io::build_cluster(*io::parse_cluster_json(json, "c.json"))->take_snapshot().digest() == first.digest());
  CHECK(io::build_cluster(*io::parse_cluster_yaml(yaml, "c.yaml"))->take_snapshot().digest() == first.digest());
}

}  // namespace of_test_io_openb
