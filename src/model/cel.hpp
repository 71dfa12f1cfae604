#pragma once
/// @file
/// Selectors of devices in a subset of CEL, the Common Expression Language (docs/claims.md has the grammar).
/// Every input ends: texts, nesting and work have bounds, and no text can crash.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

#include "model/device_facts.hpp"

namespace kaisched::model {

/// Bytes of an expression, as many as Kubernetes takes.
inline constexpr std::size_t most_cel_bytes = 10240;
/// Levels of nesting.
inline constexpr std::uint32_t most_cel_depth = 64;
/// Work of one evaluation: a step for every operation, and one for every 16 bytes or elements that it touches.
inline constexpr std::uint64_t most_cel_steps = 100'000;

namespace cel {
struct program;
}

/// What an expression says about a device.
struct cel_answer {
  enum class kind : std::uint8_t { no, yes, error };
  kind is = kind::no;
  std::uint32_t position = 0;  ///< of an error: byte of the expression, from 1
  std::string message{};       ///< of an error, with its position
  std::uint64_t steps = 0;     ///< that the evaluation took
};

/// A parsed expression. Copies share it; it never changes.
class cel_expression {
 public:
  /// Errors name what is wrong or not supported, and where: `at 17: ...`.
  [[nodiscard]] static result<cel_expression> parse(std::string_view text);

  /// Whether a device is selected. Errors: a key or field that is not there, types that an operation does not take,
  /// an overflow, more steps than `most_steps`, a result that is not a bool.
  [[nodiscard]] cel_answer evaluate(const device_facts& device, std::uint64_t most_steps = most_cel_steps) const;

 private:
  explicit cel_expression(std::shared_ptr<const cel::program> made) : program_(std::move(made)) {}
  std::shared_ptr<const cel::program> program_;
};

}  // namespace kaisched::model
