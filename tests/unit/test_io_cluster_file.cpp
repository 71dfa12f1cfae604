// Files with a cluster: the ending or the text itself says the form.
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "files/cluster_file.hpp"
#include "io/files.hpp"

namespace of_test_io_cluster_file {

using namespace kaisched;

namespace {

constexpr std::string_view json = R"({"schema": "kaisched-cluster/1", "now": 7, "queue": [{"name": "a"}]})";
constexpr std::string_view yaml = "schema: kaisched-cluster/1\nnow: 7\n\nqueue:\n  - {name: a}\n";

struct folder {
  folder() : path(std::filesystem::temp_directory_path() / "kaisched_test_io_cluster_file") {
    std::filesystem::create_directories(path);
  }
  ~folder() { std::filesystem::remove_all(path); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  [[nodiscard]] std::string file(std::string_view name) const { return (path / name).string(); }
  std::filesystem::path path;
};

bool is_read(std::string_view text, std::string_view source) {
  const result<io::cluster_input> input = io::parse_cluster(text, source);
  return input.ok() && input->now == 7;
}

}  // namespace

TEST_CASE("a file that never ends is refused") {
  const result<std::string> endless = io::read_file("/dev/zero", {1U << 20U, "--most"});
  REQUIRE(!endless);
  CHECK(endless.failure().code == status::limit);
  CHECK(endless.failure().message == "/dev/zero: more than 1048576 bytes; --most sets the limit");
}

TEST_CASE("the ending of a name says the form, and else the text does") {
  CHECK(io::cluster_form_of("a/b.json")->name == "JSON");
  CHECK(io::cluster_form_of("b.yaml")->name == "YAML");
  CHECK(io::cluster_form_of("b.yml")->name == "YAML");
  CHECK(io::cluster_form_of("b.json.gz") == nullptr);
  for (const std::string_view source : {"standard input", "-", "cluster", "c.txt"}) {
    CHECK(is_read(json, source));
    CHECK(is_read(" \n\xEF\xBB\xBF" + std::string(json), source) ==
          false);  // a mark of UTF-8 stands in front or nowhere
    CHECK(is_read("\xEF\xBB\xBF" + std::string(json), source));
    CHECK(is_read(yaml, source));
    CHECK(is_read("\xEF\xBB\xBF" + std::string(yaml), source));
  }
  CHECK(is_read(json, "c.yaml"));  // JSON is YAML
  CHECK_FALSE(is_read(yaml, "c.json"));
}

TEST_CASE("a byte order mark does not hide what a text is") {
  for (const std::string_view text : {json, yaml, std::string_view("# a comment\nscenario 1\nnow 7ns\nqueue a\n")}) {
    CAPTURE(text);
    const result<io::cluster_input> input = io::parse_cluster("\xEF\xBB\xBF" + std::string(text), "standard input");
    REQUIRE(input.ok());
    CHECK(input->now == 7);
  }
}

TEST_CASE("what is written can be read, in every form") {
  const folder in;
  const result<io::cluster_input> input = io::parse_cluster(json, "c.json");
  result<cluster> built = io::build_cluster(*input);
  const snapshot first = built->take_snapshot();
  for (const std::string_view name : {"c.json", "c.yaml", "c.yml", "c.dump"}) {
    CAPTURE(name);
    const std::string path = in.file(name);
    REQUIRE(io::write_cluster(path, first, 7).ok());
    const result<io::cluster_input> back = io::read_cluster(path);
    REQUIRE(back.ok());
    CHECK(back->now == 7);
    CHECK(back->source == path);
    CHECK(io::build_cluster(*back)->take_snapshot().digest() == first.digest());
  }
  CHECK(*io::read_file(in.file("c.yaml")) == yaml);
  CHECK(io::read_file(in.file("c.dump"))->starts_with("{"));
  CHECK(io::read_cluster(in.file("absent.yaml")).failure().message ==
        in.file("absent.yaml") + ": cannot open: No such file or directory");
  CHECK(io::write_cluster(in.file("no/c.yaml"), first, 7).failure().code == status::argument);
}

TEST_CASE("texts that are no UTF-8 never come to be written") {
  table queues(table_kind::queue, table_op::add);
  queues.add(col::queue_name, column_type::string).push(std::string_view("a\xFF"));
  cluster built;
  CHECK(built.apply(queues).failure().message == "table 0 (queue, add), row 0, column name: is not UTF-8 at byte 1");
}

}  // namespace of_test_io_cluster_file
