// The registry of parts.
#include "parts/part/cheap_first.hpp"
#include "support.hpp"

namespace of_test_parts {

using namespace kaisched;
using test::builder;
using test::must;

namespace {

builder priced() {
  builder b;
  b << builder::queue{"q"} << builder::node{"a", 8, 64, {"price", "9"}} << builder::node{"b", 1, 64, {"price", "3"}};
  b << builder::node{"c", 8, 64};
  b.gang("long-name", "q", 1).gang("short", "q", 1);
  return b;
}

engine with_part(const char* name, part_factory factory) {
  engine e;
  must(e.register_part(name, factory));
  must(e.set("parts", std::string(name) + ",predicates,proportion,nodeavailability"));
  return e;
}

}  // namespace

TEST_CASE("a part from outside orders, filters and scores") {
  const engine e = with_part("cheap-first", make_cheap_first);
  const session s = must(e.run(priced().take(), 0));
  CHECK(test::lines(s) == std::vector<std::string>{"bind short-0 b", "bind long-name-0 a"});
  must(s.check());
  session fork = must(e.open(priced().take(), 0)).fork();
  must(fork.run());
  CHECK(fork.digest() == s.digest());
}

TEST_CASE("what a part refuses is a reason of the group that waits") {
  builder b;
  b << builder::queue{"q"} << builder::node{"c", 8, 64} << builder::node{"d", 8, 64} << builder::node{"e", 1, 64};
  b.gang("g", "q", 2, 2000);
  const session s = must(with_part("cheap-first", make_cheap_first).run(b.take(), 0));
  CHECK(s.decisions().empty());
  const std::vector<reason> why = s.reasons();
  REQUIRE(why.size() == 2);
  CHECK(why[0].what == constraint::plugin);
  CHECK(why[0].nodes == 2);
  CHECK(why[1].what == constraint::resource);
  CHECK(s.text(why[0]).find("2 nodes") != std::string::npos);
}

TEST_CASE("names of parts are unique and have a factory") {
  engine e;
  CHECK(e.register_part("priority", make_cheap_first).failure().code == status::duplicate);
  CHECK_FALSE(e.register_part("", make_cheap_first).ok());
  CHECK_FALSE(e.register_part("x", nullptr).ok());
  must(e.register_part("x", make_cheap_first));
  CHECK(e.part_names().back() == "x");
}

TEST_CASE("a part that fails stops the session with its name") {
  const engine e = with_part("broken", make_broken);
  const auto ran = e.run(priced().take(), 0);
  REQUIRE_FALSE(ran.ok());
  CHECK(ran.failure().code == status::plugin);
  CHECK(ran.failure().message == "part 'broken' gave a score that is not finite");
}

}  // namespace of_test_parts
