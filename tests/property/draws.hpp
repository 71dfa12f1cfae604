#pragma once
/// @file
/// What property tests draw, and results that must not fail.

#include <utility>

#include <rapidcheck.h>

#include <kaisched/result.hpp>

namespace kaisched::test {

/// The value of a result; the property fails with the message if it is an error.
template <class T>
T got(result<T> r) {
  if (!r.ok()) RC_FAIL(r.failure().message);
  return std::move(r).value();
}
inline void got(const result<void>& r) {
  if (!r.ok()) RC_FAIL(r.failure().message);
}

/// A number of a closed range.
inline int draw(int least, int most) { return *rc::gen::inRange(least, most + 1); }

}  // namespace kaisched::test
