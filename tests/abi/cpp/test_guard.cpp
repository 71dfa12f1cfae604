/// Everything that can come out of the library becomes a status.
#include <new>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "../../../capi/src/guard.hpp"

namespace of_test_guard {

using kaisched::result;
using kaisched::capi::deliver;
using kaisched::capi::fitting_prefix;
using kaisched::capi::guard;

namespace {

template <class Body>
kaisched_error run(Body body) {
  kaisched_error err = KAISCHED_ERROR_INIT;
  err.code = 1;
  CHECK(guard(&err, KAISCHED_FN_RUN, body) == err.code);
  CHECK(err.where == KAISCHED_FN_RUN);
  return err;
}

}  // namespace

TEST_CASE("results and exceptions become statuses") {
  CHECK(run([]() -> result<void> { return {}; }).code == KAISCHED_OK);
  const kaisched_error refused = run(
      []() -> result<void> { return kaisched::error{kaisched::status::stale_id, "pod x", kaisched::entity_id(7)}; });
  CHECK(refused.code == KAISCHED_E_STALE_ID);
  CHECK(refused.subject == 7);
  CHECK(std::string(refused.message) == "pod x");
  CHECK(run([]() -> result<void> { throw std::bad_alloc(); }).code == KAISCHED_E_NO_MEMORY);
  CHECK(run([]() -> result<void> { throw std::length_error("long"); }).code == KAISCHED_E_LIMIT);
  CHECK(run([]() -> result<void> { throw 5; }).code == KAISCHED_E_INTERNAL);
  const kaisched_error defect = run([]() -> result<void> { throw std::logic_error("no such row"); });
  CHECK(defect.code == KAISCHED_E_INTERNAL);
  CHECK(std::string(defect.message) == "no such row");
}

TEST_CASE("a short error structure stops the call before it starts") {
  kaisched_error err = KAISCHED_ERROR_INIT;
  err.struct_size = 255;
  bool ran = false;
  CHECK(guard(&err, KAISCHED_FN_RUN, [&]() -> result<void> {
          ran = true;
          return {};
        }) == KAISCHED_E_STRUCT_SIZE);
  CHECK_FALSE(ran);
}

TEST_CASE("messages are cut between characters and always end") {
  CHECK(fitting_prefix("abc", 3) == 3);
  CHECK(fitting_prefix("abcd", 3) == 3);
  CHECK(fitting_prefix("ab\xC3\xA9", 3) == 2);
  CHECK(fitting_prefix("\xE2\x82\xAC", 2) == 0);
  const kaisched_error err = run([]() -> result<void> {
    std::string text(230, 'a');
    return kaisched::error{kaisched::status::argument, text + "\xC3\xA9 and more", {}};
  });
  CHECK(std::string(err.message) == std::string(230, 'a'));
}

TEST_CASE("buffers get all or nothing") {
  char buffer[4] = {'?', '?', '?', '?'};
  std::size_t needed = 0;
  CHECK(deliver("abc", true, nullptr, 0, &needed).ok());
  CHECK(needed == 4);
  CHECK(deliver("abcd", true, buffer, sizeof buffer, &needed).failure().code == kaisched::status::limit);
  CHECK(needed == 5);
  CHECK(buffer[0] == '?');
  CHECK(deliver("abc", true, buffer, sizeof buffer, nullptr).ok());
  CHECK(std::string(buffer) == "abc");
  CHECK(deliver("abcd", false, buffer, sizeof buffer, nullptr).ok());
  CHECK(buffer[3] == 'd');
}

}  // namespace of_test_guard
