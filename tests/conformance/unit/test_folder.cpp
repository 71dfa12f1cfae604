#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "conformance/folder.hpp"

namespace of_test_folder {

namespace {

using namespace kaisched::conformance;
namespace fs = std::filesystem;

/// A folder that lasts as long as the test.
class folder {
 public:
  folder() : path_(fs::temp_directory_path() / ("kaisched-cases-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~folder() { fs::remove_all(path_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  void write(const std::string& name, std::string_view text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

constexpr std::string_view unknown_call = R"({"schema": "kai-call/1", "kind": "guess", "in": {}, "out": {}})";

}  // namespace

TEST_CASE("every .json is a case and every line of a .jsonl is one; other files are about them") {
  const folder here;
  here.write("README.md", "not a case");
  here.write("INDEX.csv", "not,a,case");
  here.write("DEFAULTS.json", "{}");
  here.write("b/one.json", R"({"schema": "nobody/1"})");
  here.write("a/lines.jsonl", std::string(unknown_call) + "\n\n" + std::string(unknown_call) + "\n{");
  here.write("a/text.json", "not JSON");
  const auto found = judge_folder(here.path(), {}).to_json();
  CHECK(found["passed"] == 0);
  CHECK(found["failed"] == 5);
  CHECK(found["skipped"] == 0);
  REQUIRE(found["failures"].size() == 5);
  CHECK(found["failures"][0] ==
        nlohmann::ordered_json({{"file", "a/lines.jsonl:1"}, {"gate", "unsupported"}, {"why", "call guess"}}));
  CHECK(found["failures"][1]["file"] == "a/lines.jsonl:3");
  CHECK(found["failures"][2]["file"] == "a/lines.jsonl:4");
  CHECK(found["failures"][2]["why"] == "not JSON");
  CHECK(found["failures"][3]["file"] == "a/text.json");
  CHECK(found["failures"][4]["why"] == "nobody judges the schema nobody/1");
  CHECK(found["by_feature"]["guess"]["failed"] == 2);
}

TEST_CASE("files are chosen by a part of their path, cases by what they say that they need") {
  const folder here;
  here.write("a/lines.jsonl", unknown_call);
  here.write("b/one.json", R"({"schema": "kai-session-case/1", "actions": ["defragment"], "features": ["numa"]})");
  here.write("b/two.json", R"({"schema": "kai-session-case/1", "actions": ["backup"], "features": []})");
  folder_options options;
  options.only = "b/";
  CHECK(judge_folder(here.path(), options).failed() == 2);
  options = {};
  options.supported_only = true;
  const report found = judge_folder(here.path(), options);
  CHECK(found.skipped() == 3);
  CHECK(found.failed() == 0);
}

TEST_CASE("the text ends with the counts") {
  report found;
  found.add({"x.json", {"gang", "elastic"}, {}});
  found.add(
      {"y.json", {"gang"}, {{"golden", "a"}, {"golden", "b"}, {"asserted", "c"}, {"golden", "d"}, {"golden", "e"}}});
  std::ostringstream brief;
  found.print(brief, false);
  CHECK(brief.str().ends_with("y.json\n    golden: a; b; d; and 1 more\n    asserted: c\n1 passed, 1 failed\n"));
  std::ostringstream all;
  found.print(all, true);
  CHECK(all.str().find("golden: e\n") != std::string::npos);
  CHECK(found.to_json()["by_feature"]["gang"] == nlohmann::ordered_json({{"passed", 1}, {"failed", 1}}));
  CHECK(found.to_json()["failures"].size() == 2);
}

}  // namespace of_test_folder
