#include "schedulers/hived/rules/ownership.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <kaisched/quantity.hpp>

#include "base/text.hpp"
#include "policy/devices/vendor/words.hpp"
#include "schedulers/common/rules/settings.hpp"

namespace kaisched::hived {

namespace {

error wrong_row(std::string_view what) {
  return {status::argument, "option hived.owned_cells: " + std::string(what), {}};
}

std::vector<cell_counts> none_owned(std::span<const chain> chains, std::size_t owners) {
  cell_counts none;
  for (const chain& one : chains) none.emplace_back(one.levels.size(), 0);
  return std::vector<cell_counts>(owners, none);
}

/// Cells that nobody owns, by chain: whole trees that are split as cells of lower levels are taken. What is asked for
/// goes from the top down, or is checked as a whole.
struct free_trees {
  explicit free_trees(std::span<const chain> chains) : of(chains) {
    for (const chain& one : chains) reserved.emplace_back(one.levels.size(), 0);
  }
  [[nodiscard]] bool can_take(number chain, level l, std::uint64_t count) const {
    std::uint64_t left = 0;
    for (level at = of[chain].top() + 1; at-- > 0;) {
      if (at == of[chain].top()) left = of[chain].cells_at(at);
      const std::uint64_t wanted = reserved[chain][at] + (at == l ? count : 0);
      if (left < wanted) return false;
      if (at > 0) left = (left - wanted) * of[chain].fan[at];
    }
    return true;
  }
  /// How many more of them can be taken, up to a number.
  [[nodiscard]] std::uint64_t most(number chain, level l, std::uint64_t up_to) const {
    std::uint64_t low = 0;
    while (low < up_to) {
      const std::uint64_t middle = low + (up_to - low + 1) / 2;
      if (can_take(chain, l, middle)) {
        low = middle;
      } else {
        up_to = middle - 1;
      }
    }
    return low;
  }
  void take(number chain, level l, std::uint64_t count) { reserved[chain][l] += count; }

  std::span<const chain> of;
  std::vector<std::vector<std::uint64_t>> reserved;
};

}  // namespace

result<ownership> parse_ownership(std::string_view text) {
  const std::vector<std::string_view> parts = devices::split(text, ':');
  if ((parts.size() == 3 || parts.size() == 4) && !parts[0].empty() && !parts[1].empty()) {
    const auto count = schedulers::number_in<std::uint32_t>(parts[2], 0, std::numeric_limits<std::uint32_t>::max());
    const std::string_view product = parts.size() == 4 ? parts[3] : std::string_view();
    if (count) return ownership{std::string(parts[0]), std::string(parts[1]), *count, std::string(product)};
  }
  return wrong_row("'" + base::shown(text) + "' is not queue:level:count or queue:level:count:product");
}

result<std::vector<cell_counts>> cells_by_rows(std::span<const chain> chains, std::span<const cell_owner> owners,
                                               std::span<const ownership> rows) {
  std::vector<cell_counts> made = none_owned(chains, owners.size());
  free_trees left(chains);
  for (const ownership& row : rows) {
    const auto owner = std::ranges::find(owners, row.queue, &cell_owner::name);
    if (owner == owners.end()) return wrong_row("there is no leaf queue '" + base::shown(row.queue) + "'");
    std::uint64_t missing = row.count;
    bool known = false;
    for (number k = 0; k < chains.size(); ++k) {
      const level l = chains[k].level_named(row.level);
      if (l == nothing || (!row.product.empty() && chains[k].product != row.product)) continue;
      known = true;
      const std::uint64_t count = left.most(k, l, missing);
      left.take(k, l, count);
      made[static_cast<std::size_t>(owner - owners.begin())][k][l] += static_cast<std::uint32_t>(count);
      missing -= count;
    }
    const std::string cell =
        "'" + base::shown(row.level) + "'" + (row.product.empty() ? "" : " of '" + base::shown(row.product) + "'");
    if (!known) return wrong_row("there is no cell " + cell);
    if (missing > 0) {
      return wrong_row("queue '" + base::shown(row.queue) + "' is to own " + std::to_string(row.count) + " cells " +
                       cell + ", " + std::to_string(row.count - missing) + " are left");
    }
  }
  return made;
}

std::vector<cell_counts> cells_by_quota(std::span<const chain> chains, std::span<const cell_owner> owners) {
  std::vector<cell_counts> made = none_owned(chains, owners.size());
  free_trees left(chains);
  struct kind {
    std::uint32_t size;
    number chain;
    level at;
  };
  std::vector<kind> kinds;  // the largest first
  for (number k = 0; k < chains.size(); ++k) {
    for (level l = chains[k].top() + 1; l-- > 0;) kinds.push_back({chains[k].size[l], k, l});
  }
  std::ranges::stable_sort(kinds, std::greater{}, &kind::size);
  std::vector<std::uint64_t> wanted;
  for (const cell_owner& one : owners)
    wanted.push_back(one.gpus == unlimited ? 0 : static_cast<std::uint64_t>(one.gpus));
  const auto give = [&](std::size_t owner, const kind& of, std::uint64_t count) {
    left.take(of.chain, of.at, count);
    made[owner][of.chain][of.at] += static_cast<std::uint32_t>(count);
  };
  for (const kind& of : kinds) {
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const std::uint64_t count = left.most(of.chain, of.at, wanted[i] / of.size);
      give(i, of, count);
      wanted[i] -= count * of.size;
    }
  }
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (owners[i].gpus == unlimited) open.push_back(i);
  }
  for (const kind& of : kinds) {
    const std::uint64_t each =
        open.empty() ? 0 : left.most(of.chain, of.at, chains[of.chain].gpus.size()) / open.size();
    for (const std::size_t i : open) give(i, of, each);
  }
  return made;
}

}  // namespace kaisched::hived
