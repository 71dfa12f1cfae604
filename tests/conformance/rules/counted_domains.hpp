#pragma once
/// @file
/// Choices of Kueue among domains that are apart from a ledger, and what assignments and requests are asked about.
///
/// Source: pkg/cache/scheduler/tas_flavor_snapshot.go, tas_balanced_placement.go.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "schedulers/kueue/rules/domain_ledger.hpp"

namespace kaisched::kueue {

/// What is more in one assignment than in an earlier one of the same pods, place by place. Places with fewer pods than
/// before are left out: that those are free is known only once the pods are gone.
[[nodiscard]] domain_assignment beyond(const domain_assignment& now, const domain_assignment& before);

/// Whether the levels that a request names exist.
[[nodiscard]] bool has_levels(const domain_ledger& ledger, const place_request& request);

/// Domains with counts, apart from a ledger: orders and choices among them.
struct counted_domain {
  std::vector<std::string> values;
  domain_counts counts;
  std::uint32_t parent = domain_ledger::none;  ///< position in the list, parents first
};
/// Positions in the order in which domains are tried.
[[nodiscard]] std::vector<std::size_t> domain_order(const std::vector<counted_domain>& domains, bool with_leader,
                                                    bool unconstrained, const place_rules& rules);
/// The fewest domains that hold the slices with the least left over; empty if none do.
[[nodiscard]] std::vector<std::size_t> fewest_domains(const std::vector<counted_domain>& domains, std::int64_t slices,
                                                      std::int64_t leaders, std::int64_t slice_size, bool by_entropy);
/// Slices spread evenly, each domain at least the threshold; false if that is not possible. Counts are set.
[[nodiscard]] bool spread_slices(std::vector<counted_domain>& domains, std::int64_t slices, std::int64_t leaders,
                                 std::int64_t slice_size, std::int64_t threshold, std::vector<std::size_t>& chosen);
struct even_placement {
  std::int64_t threshold = 0;
  std::size_t domains = 0;
};
/// The largest threshold for even spreading, and how many domains of the asked level are left then.
[[nodiscard]] even_placement best_threshold(const std::vector<counted_domain>& domains, std::int64_t count,
                                            std::int64_t leaders, std::int64_t slice_size, std::size_t level,
                                            std::size_t slice_level);

}  // namespace kaisched::kueue
