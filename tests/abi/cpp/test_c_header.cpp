/// The C header in C++, beside the C++ headers, and the two interfaces over one library.
#include <string>

#include <doctest/doctest.h>

#include <kaisched/kaisched.h>
#include <kaisched/kaisched.hpp>

namespace of_test_c_header {

TEST_CASE("C and C++ headers live in one unit and mean the same library") {
  CHECK(std::string(kaisched_version_string()) == kaisched::version_string);
  CHECK(noexcept(kaisched_abi_version()));
  for (int number = -100; number <= 1; ++number) {
    CHECK(std::string(kaisched_status_name(number)) == kaisched::status_name(static_cast<kaisched::status>(number)));
  }
}

TEST_CASE("digests do not depend on the interface") {
  kaisched_cluster* cluster = nullptr;
  kaisched_snapshot* snapshot = nullptr;
  char digest[KAISCHED_DIGEST_SIZE] = "";
  REQUIRE(kaisched_cluster_create(&cluster, nullptr) == KAISCHED_OK);
  REQUIRE(kaisched_cluster_snapshot(cluster, &snapshot, nullptr) == KAISCHED_OK);
  REQUIRE(kaisched_snapshot_digest(snapshot, digest, sizeof digest, nullptr, nullptr) == KAISCHED_OK);
  CHECK(std::string(digest) == kaisched::snapshot().digest());
  kaisched_snapshot_release(snapshot);
  kaisched_cluster_destroy(cluster);
}

}  // namespace of_test_c_header
