#pragma once
/// @file
/// One run of the packing benchmark: the engine places the pods as they come, and the curves are drawn from what it
/// decided.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "benchmarks/fgd/trace.hpp"

namespace kaisched::bench::fgd {

/// Orders of nodes in which ties are decided: the place in the order of the data, times this, modulo the number of
/// nodes (1213, a prime). The first is the order of the data.
inline constexpr std::array<std::uint32_t, 3> tie_orders{1, 500, 777};

/// The cluster of a run: all pods are pending, each a group of its own, the one that comes first created first. Names
/// of nodes begin with their rank, so that ties go to the node that stands first.
[[nodiscard]] result<cluster> build_cluster(const trace& in, const workload& of, std::size_t seed,
                                            std::size_t order = 0);
/// Options and their values.
using option_values = std::vector<std::pair<std::string, std::string>>;
/// An engine with this part alone deciding between nodes.
[[nodiscard]] result<engine> build_engine(const workload& of, const std::string& part, const option_values& more = {});
/// By arrival.
[[nodiscard]] result<std::vector<placement>> place_all(const trace& in, const workload& of, std::size_t seed,
                                                       const std::string& part, std::size_t order = 0,
                                                       const option_values& more = {});

struct outcome {
  curves drawn;
  final_state at_end;
};
/// Repeats what was decided pod by pod, in a program of its own.
[[nodiscard]] outcome measure(const trace& in, const workload& of, std::size_t seed,
                              const std::vector<placement>& placements);

}  // namespace kaisched::bench::fgd
