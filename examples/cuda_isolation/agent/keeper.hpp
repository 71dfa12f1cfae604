#pragma once
/// @file
/// Keeps the ledgers of a node in step with the grants: makes, corrects, reaps and removes them, and measures.

#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "grant.hpp"
#include "shares.hpp"

namespace cuda_agent {

struct keeper_options {
  std::filesystem::path grants;   ///< one `<tenant>.json` per tenant
  std::filesystem::path ledgers;  ///< one folder per tenant
  std::string node;               ///< grants of other nodes are left alone; empty: all
  std::int64_t group = -1;        ///< of the ledgers' files
  std::uint32_t slots = 0;        ///< most processes per tenant; 0: the ledger's default
};

/// One tenant on one card, now.
struct tenant_row {
  std::string tenant;
  std::uint32_t processes = 0;        ///< that hold something on the card or have used it
  bool leaving = false;               ///< the grant is gone, processes are not
  std::int64_t used_permille = -1;    ///< of the card's time since the last look; -1 at the first
  std::int64_t granted_permille = 0;  ///< what it may take now is in `state`
  kl_device_state state{};
};

struct card_row {
  std::string node;
  std::string uuid;
  std::int64_t index = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t granted_bytes = 0;
  std::uint64_t held_bytes = 0;
  std::int64_t granted_permille = 0;
  std::int64_t used_permille = -1;
  std::int64_t utilization = -1;  ///< mean over the last looks, per mille: the engine's column of that name
  std::int64_t deviation = 0;     ///< standard deviation of it
  std::vector<tenant_row> tenants;
};

struct report {
  std::vector<card_row> cards;      ///< by node and index
  std::vector<std::string> errors;  ///< of this look; what could be done was done
  std::uint64_t reaped = 0;         ///< processes that died without a word, since the start
};

class keeper {
 public:
  explicit keeper(keeper_options options) : options_(std::move(options)) {}
  /// One look at everything. @param now_ns a clock that only goes forward.
  report look(std::int64_t now_ns);

 private:
  struct closer {
    void operator()(kl_ledger* ledger) const { kl_close(ledger); }
  };
  struct entry {
    grant granted;
    std::unique_ptr<kl_ledger, closer> ledger;
    std::vector<std::uint64_t> busy_ns;  ///< at the last look, per card
    std::vector<share_wish> wishes;      ///< per card, as of the last look
    std::int64_t active_ns = 0;          ///< the last stamp of its processes
    std::int64_t seen_ns = -1;
    bool leaving = false;
  };
  using card_rows = std::map<std::pair<std::string, std::string>, card_row>;  ///< by node and UUID

  void read_grants(report& out);
  void adopt_ledgers();
  bool open_ledger(entry& e, report& out);
  bool create_ledger(const grant& g, report& out) const;
  bool settle_ledger(entry& e, report& out);
  bool has_processes(const kl_ledger* ledger) const;
  void apply_limits(entry& e, report& out) const;
  void measure(entry& e, std::int64_t now_ns, card_rows& cards, report& out);
  void share_cards(card_rows& cards, report& out);
  void remember(card_rows& cards);

  keeper_options options_;
  std::map<std::string, entry> entries_;
  std::map<std::pair<std::string, std::string>, std::deque<std::int64_t>> history_;  ///< of used_permille, by card
  std::uint64_t reaped_ = 0;
};

}  // namespace cuda_agent
