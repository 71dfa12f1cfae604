#pragma once
/// @file
/// Pods by domain of a topology key.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace kaisched::policy {

/// Numbers of pods. Takes the memory of the domains, or that of the pods where these are far fewer.
class domain_counts {
 public:
  domain_counts() = default;
  /// @param pods that may come, at most
  domain_counts(std::uint32_t domains, std::uint64_t pods) {
    constexpr std::uint32_t few = 64;
    constexpr std::uint64_t sparse = 4;  // domains a pod from which on a list is smaller
    if (domains <= few || domains / sparse <= pods) all_.assign(domains, 0);
  }

  /// Returns how many there are now.
  std::int64_t add(std::uint32_t domain, std::int64_t pods) {
    if (!all_.empty()) return all_[domain] += pods;
    const auto at = std::lower_bound(some_.begin(), some_.end(), domain, comes_before);
    if (at == some_.end() || at->first != domain) return some_.emplace(at, domain, pods)->second;
    return at->second += pods;
  }
  [[nodiscard]] std::int64_t of(std::uint32_t domain) const {
    if (!all_.empty()) return all_[domain];
    const auto at = std::lower_bound(some_.begin(), some_.end(), domain, comes_before);
    return at != some_.end() && at->first == domain ? at->second : 0;
  }
  /// As many as another one has, of so many domains.
  [[nodiscard]] bool is_like(const domain_counts& other, std::uint32_t domains) const {
    for (std::uint32_t d = 0; d < domains; ++d) {
      if (of(d) != other.of(d)) return false;
    }
    return true;
  }

 private:
  using entry = std::pair<std::uint32_t, std::int64_t>;
  static bool comes_before(const entry& one, std::uint32_t domain) { return one.first < domain; }

  std::vector<std::int64_t> all_;  ///< by domain; empty: in `some_`
  std::vector<entry> some_;        ///< sorted; a domain that was there once stays, so that undoing takes no memory
};

}  // namespace kaisched::policy
