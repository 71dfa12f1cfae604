#pragma once
/// @file
/// The one place where exceptions and results of the library become a status of the C interface.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/kaisched.h>
#include <kaisched/result.hpp>

namespace kaisched::capi {

/// Length of the longest prefix of `text` that fits `capacity` bytes and does not end inside a UTF-8 character.
[[nodiscard]] inline std::size_t fitting_prefix(std::string_view text, std::size_t capacity) noexcept {
  if (text.size() <= capacity) return text.size();
  std::size_t end = capacity;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return end;
}

/// Fills the caller's error structure, if there is one.
inline kaisched_status report(kaisched_error* err, kaisched_function where, status code, std::string_view message,
                              entity_id subject = {}) noexcept {
  if (err != nullptr) {
    err->code = static_cast<std::int32_t>(code);
    err->where = where;
    err->pad = 0;
    err->subject = subject.value;
    const std::size_t length = fitting_prefix(message, sizeof err->message - 1);
    if (length > 0) std::memcpy(err->message, message.data(), length);
    std::memset(err->message + length, 0, sizeof err->message - length);
  }
  return static_cast<kaisched_status>(code);
}

/// Runs `body`, which gives a `result<void>`, and turns every way in which it can fail into a status.
template <class Body>
kaisched_status guard(kaisched_error* err, kaisched_function where, Body&& body) noexcept {
  if (err != nullptr && err->struct_size < sizeof(kaisched_error)) return KAISCHED_E_STRUCT_SIZE;
  try {
    const result<void> outcome = std::forward<Body>(body)();
    if (outcome.ok()) return report(err, where, status::ok, {});
    return report(err, where, outcome.failure().code, outcome.failure().message, outcome.failure().subject);
  } catch (const std::bad_alloc&) {
    return report(err, where, status::no_memory, "out of memory");
  } catch (const std::length_error& e) {
    return report(err, where, status::limit, e.what());
  } catch (const std::exception& e) {
    return report(err, where, status::internal, e.what());
  } catch (...) {
    return report(err, where, status::internal, "an exception that is no std::exception");
  }
}

/// The error for an argument of the C interface.
[[nodiscard]] inline error bad_argument(std::string_view what) { return {status::argument, std::string(what), {}}; }

/// An argument that must not be null.
struct named_pointer {
  named_pointer(const void* given, std::string_view called) noexcept : pointer(given), name(called) {}
  named_pointer(const kaisched_session* given, std::string_view called) noexcept;
  named_pointer(const kaisched_federation* given, std::string_view called) noexcept;

  const void* pointer;
  std::string_view name;
  bool is_over = false;  ///< memory was missing half-way through a change of it
};
/// Success if no pointer is null, else an error that names the first one that is.
[[nodiscard]] inline result<void> require(std::initializer_list<named_pointer> pointers) {
  for (const named_pointer& p : pointers) {
    if (p.pointer == nullptr) return bad_argument(std::string(p.name) + " is NULL");
    if (p.is_over)
      return error{
          status::state,
          "memory was missing half-way through a change of the " + std::string(p.name) + ": it can only be given back",
          {}};
  }
  return {};
}

/// Hands bytes to a buffer of the caller: the size alone if the buffer is NULL, all or nothing otherwise.
/// @param final_nul whether the bytes are a text, which gets a NUL at its end.
[[nodiscard]] inline result<void> deliver(std::string_view bytes, bool final_nul, void* buffer, std::size_t capacity,
                                          std::size_t* needed) {
  const std::size_t size = bytes.size() + (final_nul ? 1 : 0);
  if (needed != nullptr) *needed = size;
  if (buffer == nullptr) return {};
  if (capacity < size) {
    return error{status::limit,
                 "the buffer holds " + std::to_string(capacity) + " bytes, " + std::to_string(size) + " are needed",
                 {}};
  }
  if (!bytes.empty()) std::memcpy(buffer, bytes.data(), bytes.size());
  if (final_nul) static_cast<char*>(buffer)[bytes.size()] = '\0';
  return {};
}

/// Hands one of the warnings to a buffer of the caller.
[[nodiscard]] inline result<void> deliver_warning(const std::vector<std::string>& warnings, std::size_t index,
                                                  char* buffer, std::size_t capacity, std::size_t* needed) {
  if (index >= warnings.size())
    return error{status::not_found, "there are " + std::to_string(warnings.size()) + " warnings", {}};
  return deliver(warnings[index], true, buffer, capacity, needed);
}

/// A structure of a caller in its present version; what is missing is 0, and all of it for NULL.
/// @param first_version size of the structure in the first version that had it.
template <class T>
[[nodiscard]] result<T> read_given(const T* given, std::size_t first_version, std::string_view name) {
  T read{};
  if (given == nullptr) return read;
  if (given->struct_size < first_version) {
    return error{
        status::struct_size, "struct_size of " + std::string(name) + " is " + std::to_string(given->struct_size), {}};
  }
  std::memcpy(&read, given, std::min<std::size_t>(given->struct_size, sizeof read));
  return read;
}
/// Texts of a caller.
[[nodiscard]] inline result<std::vector<std::string>> read_texts(const char* const* given, std::size_t count,
                                                                 std::string_view name) {
  if (given == nullptr && count > 0) return bad_argument(std::string(name) + " is NULL");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < count; ++i) {
    if (given[i] == nullptr) return bad_argument("one of " + std::string(name) + " is NULL");
    texts.emplace_back(given[i]);
  }
  return texts;
}

/// Clears what a caller set aside for a description, if it is large enough: the tail that a newer caller knows and this
/// library does not stays 0.
/// @param first_version size of the structure in the first version that had it.
template <class T>
void clear_description(T* out, std::size_t first_version) noexcept {
  if (out == nullptr || out->struct_size < first_version) return;
  const std::uint32_t size = out->struct_size;
  std::memset(static_cast<void*>(out), 0, size);
  out->struct_size = size;
}
/// Whether it is large enough.
template <class T>
[[nodiscard]] result<void> check_description(const T* out, std::size_t first_version, std::string_view name) {
  if (auto r = require({{out, "out"}}); !r) return r;
  if (out->struct_size >= first_version) return {};
  return error{
      status::struct_size, "struct_size of " + std::string(name) + " is " + std::to_string(out->struct_size), {}};
}
/// Fills in as much of a description as the caller's structure holds.
template <class T>
void fill_description(T* out, const T& described) {
  std::memcpy(static_cast<void*>(out), &described, std::min<std::size_t>(out->struct_size, sizeof described));
}

}  // namespace kaisched::capi
