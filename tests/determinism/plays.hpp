#pragma once
/// @file
/// What is decided about invented clusters, in digests: one line each. Pure functions, so that calling them twice, in
/// two threads or with another order of rows can be compared.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/table.hpp>

namespace kaisched::determinism {

inline constexpr std::int64_t minute = 60'000'000'000;  // nanoseconds

/// An input that the library refuses is a fault of the test.
template <class T>
T must(result<T> r) {
  if (!r.ok()) throw std::runtime_error(r.failure().message);
  return std::move(r).value();
}
inline void must(const result<void>& r) {
  if (!r.ok()) throw std::runtime_error(r.failure().message);
}

/// A cluster by name, as the tables that make it.
struct input {
  std::string name;
  std::vector<table> tables;
  std::int64_t now = 0;
};

/// The scale scenarios, invented clusters of several sizes and loads, and random ones with every feature.
[[nodiscard]] std::vector<input> large_inputs();
[[nodiscard]] input random_input(std::uint64_t seed);
inline constexpr std::uint64_t random_inputs = 100;

[[nodiscard]] cluster build(const std::vector<table>& tables);
/// Modes and placements in turn; `number` counts on for ever.
[[nodiscard]] policy_options variant(std::uint64_t number);
inline constexpr std::uint64_t variants = 4;

/// Decisions, reasons, shares and places of a session, by names.
[[nodiscard]] std::string told(const session& s);
/// Lines about one cluster: its snapshot, what is saved, and what each variant decides.
[[nodiscard]] std::vector<std::string> lines_of(const input& from);
/// What one of the presets of other schedulers decides.
[[nodiscard]] std::string line_of_preset(const input& from, std::uint64_t number);
/// Several sessions in a row: decisions are carried out, pods end and come, and the cluster is saved and loaded.
[[nodiscard]] std::vector<std::string> story(const input& from, std::uint64_t number);
/// One line for many small clusters.
[[nodiscard]] std::string line_of_random(std::uint64_t first, std::uint64_t count);
/// Bits of what is computed in floating point and in integers, far more of it than decisions show.
[[nodiscard]] std::vector<std::string> arithmetic();

/// Plays in virtual time under every policy that has a name.
[[nodiscard]] std::vector<std::string> virtual_time();

/// All of the above. @param every of the large inputs only each so many: for builds in which they take minutes.
[[nodiscard]] std::vector<std::string> all_lines(std::uint64_t every = 1);

[[nodiscard]] std::string sha256_of(std::string_view bytes);

}  // namespace kaisched::determinism
