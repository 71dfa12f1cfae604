/// Parts of the host that are written in C++ and throw.
#include <cstdint>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <kaisched/kaisched.h>

namespace of_test_parts {

namespace {

int what_is_thrown = 0;

void throw_it() {
  if (what_is_thrown == 1) throw std::runtime_error("the service does not answer");
  if (what_is_thrown == 2) throw 5;
}

kaisched_status create(void*, const kaisched_kv*, std::size_t, void**, kaisched_error*) {
  throw_it();
  return KAISCHED_OK;
}
kaisched_status session_open(void*, const kaisched_view*, kaisched_error*) {
  throw_it();
  return KAISCHED_OK;
}
void end(void*) { throw_it(); }
kaisched_status divide_shares(void*, const kaisched_view*, const std::uint32_t*, std::size_t, std::int64_t*,
                              kaisched_error*) {
  throw_it();
  return KAISCHED_OK;
}
void changed(void*, const kaisched_view*, const kaisched_change*, std::size_t) { throw_it(); }

/// The message of opening a session with the part, empty if it opens.
std::string opened(const kaisched_part& part, int thrown_by) {
  kaisched_engine* engine = nullptr;
  kaisched_cluster* cluster = nullptr;
  kaisched_snapshot* snapshot = nullptr;
  kaisched_session* session = nullptr;
  kaisched_error err = KAISCHED_ERROR_INIT;
  what_is_thrown = 0;
  REQUIRE(kaisched_engine_create(KAISCHED_ABI_VERSION, nullptr, 0, &engine, nullptr) == KAISCHED_OK);
  REQUIRE(kaisched_engine_add_part(engine, &part, nullptr, 0, nullptr) == KAISCHED_OK);
  REQUIRE(kaisched_engine_set(engine, "parts", part.name, nullptr) == KAISCHED_OK);
  REQUIRE(kaisched_cluster_create(&cluster, nullptr) == KAISCHED_OK);
  REQUIRE(kaisched_cluster_snapshot(cluster, &snapshot, nullptr) == KAISCHED_OK);
  what_is_thrown = thrown_by;
  (void)kaisched_session_open(engine, snapshot, 0, &session, &err);
  kaisched_session_close(session);  // what is thrown on the way out is lost
  what_is_thrown = 0;
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
  kaisched_engine_destroy(engine);
  CHECK((err.code == KAISCHED_OK || err.code == KAISCHED_E_PLUGIN));
  return err.message;
}

}  // namespace

TEST_CASE("an exception of a part becomes an error of the call") {
  kaisched_part part{};
  part.struct_size = sizeof part;
  part.abi = KAISCHED_ABI_VERSION;
  part.name = "thrower";
  part.divide_shares = divide_shares;
  part.changed = changed;
  CHECK(opened(part, 0).empty());
  CHECK(opened(part, 1) == "part 'thrower', divide_shares: it threw an exception: the service does not answer");
  CHECK(opened(part, 2) == "part 'thrower', divide_shares: it threw an exception");
  part.flags = KAISCHED_PART_NEUTRAL_ON_ERROR;
  CHECK(opened(part, 1).empty());
  part.session_open = session_open;
  CHECK(opened(part, 2) == "part 'thrower', session_open: it threw an exception");
  part.create = create;
  CHECK(opened(part, 2) == "part 'thrower', create: it threw an exception");
  part.create = nullptr;
  part.session_open = nullptr;
  part.session_close = end;
  part.destroy = end;
  CHECK(opened(part, 1).empty());
}

}  // namespace of_test_parts
