// Scores of nodes where rounding could decide.
#include "support.hpp"

namespace of_test_node_choice {

using namespace kaisched;

namespace {

/// Free are 1650 of 3000 on `a` and 1100 of 2000 on `b`: equal parts, but as doubles 1.65 / 3 is less than 1.1 / 2.
snapshot equal_parts() {
  test::builder b;
  b << test::builder::node{"a", 3} << test::builder::node{"b", 2} << test::builder::queue{"q"};
  b << test::builder::group{"r", "q"} << test::builder::group{"w", "q"};
  b << test::builder::pod{"r-0", "r", 900, "b"} << test::builder::pod{"r-1", "r", 1000, "a"}
    << test::builder::pod{"r-2", "r", 350, "a"};
  b << test::builder::pod{"w-0", "w", 300};
  return b.take();
}

std::vector<std::string> spread(std::string_view mode, std::string_view reference_path) {
  const engine e = test::make_engine({"mode", mode, "placement.gpu", "spread", "reference_path", reference_path});
  return test::lines(test::must(e.run(equal_parts(), 0)));
}

}  // namespace

TEST_CASE("strict: equal parts of two nodes are equal scores, and the name decides") {
  CHECK(spread("strict", "false") == std::vector<std::string>{"bind w-0 a"});
  CHECK(spread("strict", "true") == std::vector<std::string>{"bind w-0 a"});
}

TEST_CASE("compat: the index finds the node of the largest sum, though the parts alone are ordered otherwise") {
  CHECK(spread("compat", "false") == spread("compat", "true"));
}

}  // namespace of_test_node_choice
