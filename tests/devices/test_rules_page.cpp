// Every rule of docs/vendors.md has a test that names it, and no test names a rule that is not there.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>

#include <doctest/doctest.h>

#include "io/vendors/vendor_reader.hpp"

namespace of_test_rules_page {

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::set<std::string> found(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::set<std::string> numbers;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) numbers.insert((*at)[1]);
  return numbers;
}

}  // namespace

TEST_CASE("rules of the page and rules of the tests are the same") {
  const fs::path root = KAISCHED_SOURCE_DIR;
  std::set<std::string> tested;
  for (const fs::directory_entry& file : fs::directory_iterator(root / "tests" / "devices")) {
    if (file.path().extension() == ".cpp") tested.merge(found(text_of(file.path()), "TEST_CASE\\(\"(H[0-9]+): "));
  }
  const std::set<std::string> written = found(text_of(root / "docs" / "vendors.md"), "\\| (H[0-9]+) \\|");
  CHECK(written.size() >= 30);
  CHECK(written == tested);
}

TEST_CASE("files on the page can be read") {
  const std::string page = text_of(fs::path(KAISCHED_SOURCE_DIR) / "docs" / "vendors.md");
  std::size_t count = 0;
  constexpr std::string_view fence = "```";
  for (std::size_t at = page.find("```json\n"); at != std::string::npos; at = page.find("```json\n", at + 1)) {
    const std::size_t start = page.find('\n', at) + 1;
    const std::string text = page.substr(start, page.find(fence, start) - start);
    const auto read = kaisched::io::read_vendors(text, "vendors.md");
    CHECK_MESSAGE(read.ok(), (read ? std::string() : read.failure().message));
    ++count;
  }
  CHECK(count == 2);
}

}  // namespace of_test_rules_page
