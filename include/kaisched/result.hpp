#pragma once
/// @file
/// Errors of calls. An outcome of scheduling ("does not fit") is never an error: it is data in the decisions.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <kaisched/ids.hpp>

/// Name, pinned number, meaning. Groups of ten: -1x arguments, -2x identifiers, -3x state, -4x support, -5x limits,
/// -6x plug-ins, -7x memory, -9x internal. Numbers never change; the C and Python enumerations come from this list.
#define KAISCHED_STATUS_MAP(X)                                                       \
  X(ok, OK, 0, "the call ran")                                                       \
  X(argument, ARGUMENT, -10, "an argument or a value of the input is not valid")     \
  X(struct_size, STRUCT_SIZE, -11, "a structure is shorter than its first version")  \
  X(not_found, NOT_FOUND, -20, "a name or identifier names nothing")                 \
  X(stale_id, STALE_ID, -21, "an identifier names something that has been removed")  \
  X(wrong_kind, WRONG_KIND, -22, "an identifier names another kind of entity")       \
  X(duplicate, DUPLICATE, -23, "a name is in use already")                           \
  X(conflict, CONFLICT, -30, "the cluster has moved since the snapshot")             \
  X(state, STATE, -31, "the call is not allowed in the present state")               \
  X(unsupported, UNSUPPORTED, -40, "the table, column or feature is not known here") \
  X(abi, ABI, -41, "the caller was built for another ABI")                           \
  X(limit, LIMIT, -50, "a size or amount exceeds what can be represented")           \
  X(cancelled, CANCELLED, -51, "the host cancelled the call")                        \
  X(plugin, PLUGIN, -60, "a plug-in failed")                                         \
  X(no_memory, NO_MEMORY, -70, "out of memory")                                      \
  X(internal, INTERNAL, -99, "a defect of the library")

namespace kaisched {

/// Status of a call, see KAISCHED_STATUS_MAP.
enum class status : std::int32_t {
#define KAISCHED_X(name, upper, number, text) name = number,
  KAISCHED_STATUS_MAP(KAISCHED_X)
#undef KAISCHED_X
};

/// Short name of a status ("not_found"); "unknown" for a number that is not in the list.
[[nodiscard]] std::string_view status_name(status code) noexcept;

/// Why a call failed: the code, the object concerned (may be none) and a sentence that names object and field.
struct error {
  status code = status::internal;
  std::string message;
  entity_id subject{};
  std::int64_t input_table = -1;  ///< for a bad row of the input: number of its table in the call, from 0
  std::int64_t input_row = -1;    ///< and number of the row in the table
};

/// A value or an error. `std::expected` is C++23; this is the part of it that the library needs.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : data_(std::move(value)) {}          // NOLINT(google-explicit-constructor): reads as a return value
  result(error failure) : data_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return data_.index() == 0; }
  [[nodiscard]] explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] T& value() & { return std::get<0>(data_); }
  [[nodiscard]] const T& value() const& { return std::get<0>(data_); }
  [[nodiscard]] T&& value() && { return std::get<0>(std::move(data_)); }
  [[nodiscard]] const error& failure() const { return std::get<1>(data_); }
  [[nodiscard]] error take_failure() { return std::get<1>(std::move(data_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, error> data_;
};

/// Success without a value, or an error.
template <>
class [[nodiscard]] result<void> {
 public:
  result() = default;
  result(error failure) : failure_(std::move(failure)), ok_(false) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] explicit operator bool() const noexcept { return ok_; }
  [[nodiscard]] const error& failure() const { return failure_; }
  [[nodiscard]] error take_failure() { return std::move(failure_); }

 private:
  error failure_{};
  bool ok_ = true;
};

}  // namespace kaisched
