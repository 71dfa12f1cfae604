#pragma once
/// @file
/// Thrown where a case needs something that the engine does not have. Such a case has failed: a gate that let it pass
/// or skipped it would hide what is missing.

#include <stdexcept>

namespace kaisched::conformance {

class unsupported : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace kaisched::conformance
