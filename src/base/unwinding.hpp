#pragma once
/// @file
/// For objects whose end restores something, and may need memory for that.

#include <exception>

namespace kaisched::base {

/// Whether an exception has come since this was made. A state that is given up in this way need not be restored.
class unwinding {
 public:
  [[nodiscard]] bool is_under_way() const noexcept { return std::uncaught_exceptions() > before_; }

 private:
  int before_ = std::uncaught_exceptions();
};

}  // namespace kaisched::base
