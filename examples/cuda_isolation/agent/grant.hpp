#pragma once
/// @file
/// What a tenant was granted, as the scheduler decided it: read from and written to a file (`kaisched-grant/1`), and
/// turned into the environment of its containers.

#include <cstdint>
#include <kaisched_ledger/ledger.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuda_agent {

/// Says which file and which field is wrong.
class bad_grant : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct card_grant {
  std::string uuid;
  std::int64_t index = 0;                     ///< on the node, as the scheduler counts
  std::uint64_t total_bytes = 0;              ///< of the card itself, 0 if unknown
  std::optional<std::uint64_t> memory_bytes;  ///< none: as much as there is
  std::uint32_t core_permille = KL_WHOLE_CARD;
  std::uint32_t core_weight = 0;
  std::int32_t priority = 0;

  [[nodiscard]] kl_limits limits(bool open) const;
};

struct grant {
  std::string tenant;  ///< letters, digits, '.', '_' and '-'; also the name of its ledger
  std::string node;
  bool open = false;  ///< account only, refuse nothing
  std::vector<card_grant> cards;
};

/// @param source what messages call the text.
grant read_grant(const std::string& text, const std::string& source);
std::string write_grant(const grant& g);

/// KEY=VALUE lines for a container: what the guard reads, and the same in HAMi's variables for those who read these.
std::vector<std::string> environment(const grant& g, const std::string& ledger_folder);

}  // namespace cuda_agent
