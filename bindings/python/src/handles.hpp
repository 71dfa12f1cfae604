#pragma once
/// @file
/// Objects of the library that Python threads share.

#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>

#include <kaisched/kaisched.hpp>

#include "columns.hpp"
#include "errors.hpp"
#include "policies.hpp"

namespace kaisched::python {

/// An object of the library for many Python threads. Calls keep the rule of the library: const ones together, others
/// alone. They run without the interpreter lock and must not touch Python objects.
template <class T>
class shared_object {
 public:
  template <class... Arguments>
  explicit shared_object(std::in_place_t, Arguments&&... arguments) : body_(std::forward<Arguments>(arguments)...) {}

  template <class Call>
  auto change(Call&& call) {
    const pybind11::gil_scoped_release released;  // before the lock: whoever holds it may wait for the interpreter
    return change_unlocked(std::forward<Call>(call));
  }
  template <class Call>
  auto read(Call&& call) const {
    const pybind11::gil_scoped_release released;
    return read_unlocked(std::forward<Call>(call));
  }
  /// The same for threads that do not hold the interpreter lock.
  template <class Call>
  auto change_unlocked(Call&& call) {
    const std::lock_guard lock(mutex_);
    return std::forward<Call>(call)(body_);
  }
  template <class Call>
  auto read_unlocked(Call&& call) const {
    const std::shared_lock lock(mutex_);
    return std::forward<Call>(call)(body_);
  }
  /// For who uses several objects in one call: the lock of this one, and the object for who holds it.
  [[nodiscard]] std::shared_mutex& mutex() const { return mutex_; }
  [[nodiscard]] T* address() { return &body_; }

 protected:
  /// For functions of the object that any thread may call at any time.
  [[nodiscard]] const T& body() const { return body_; }

 private:
  mutable std::shared_mutex mutex_;
  T body_;
};

/// Calls without the interpreter lock.
template <class Call>
auto unlocked(Call&& call) {
  const pybind11::gil_scoped_release released;
  return std::forward<Call>(call)();
}

class py_cluster : public shared_object<cluster> {
 public:
  py_cluster() : shared_object(std::in_place) {}
  void apply(const pybind11::sequence& tables) {
    const input_tables input(tables);
    unwrap(change([&](cluster& c) { return c.apply(std::span<const table_view>(input.views())); }));
  }
  std::uint64_t find(const pybind11::handle& kind, const std::string& name) const {
    // Kinds of input tables and kinds of entities share their numbers.
    const auto entity = static_cast<entity_kind>(kind_of(kind));
    return unwrap(read([&](const cluster& c) { return c.find(entity, name); })).value;
  }
  void set(const std::string& option, const std::string& value) {
    unwrap(change([&](cluster& c) { return c.set(option, value); }));
  }
  std::string get(const std::string& option) const {
    return unwrap(read([&](const cluster& c) { return c.get(option); }));
  }
  snapshot take_snapshot() {
    return change([](cluster& c) { return c.take_snapshot(); });
  }
};

class py_engine : public shared_object<engine> {
 public:
  py_engine() : shared_object(std::in_place) {
    change([](engine& e) { e.set_device_catalog(unwrap(shipped_device_catalog())); });
  }
  void set(const std::string& option, const std::string& value) {
    unwrap(change([&](engine& e) { return e.set(option, value); }));
  }
  [[nodiscard]] std::string get(const std::string& option) const {
    return unwrap(read([&](const engine& e) { return e.get(option); }));
  }
  [[nodiscard]] std::vector<std::string> warnings() const {
    return read([](const engine& e) { return e.options().warnings; });
  }
  void add_policy(const std::string& name, pybind11::object policy) {
    part_factory factory = policy_factory(name, std::move(policy), faults_);
    unwrap(change([&](engine& e) { return e.register_part(name, std::move(factory)); }));
  }
  /// What policies in Python have raised in sessions of this engine.
  [[nodiscard]] const std::shared_ptr<policy_faults>& faults() const { return faults_; }

 private:
  std::shared_ptr<policy_faults> faults_ = std::make_shared<policy_faults>();
};

}  // namespace kaisched::python
