#pragma once
/// @file
/// Domains of one search for places: their counts, their order, and what is chosen among them.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "schedulers/kueue/rules/domain_ledger.hpp"

namespace kaisched::kueue {

inline constexpr std::size_t no_level_known = static_cast<std::size_t>(-1);

using domain_list = std::vector<std::uint32_t>;

/// A domain of one search. The even spreading works on copies of subtrees, which are added at the end.
struct searched_domain {
  std::uint32_t parent = domain_ledger::none;
  domain_list children;
  const std::vector<std::string>* values = nullptr;
  domain_counts counts{};
};

struct search_shape {
  std::int64_t count = 0;
  std::int64_t leaders = 0;
  std::int64_t slice_size = 1;
  std::map<std::size_t, std::int64_t> size_at_level{};  ///< of inner layers, by level
  std::size_t level = 0;
  std::size_t slice_level = 0;
  bool required = false;
  bool unconstrained = false;
  const std::vector<slice_layer>* layers = nullptr;  ///< if there is more than one
};

/// Domains with counts, and what is chosen among them.
class domain_search {
 public:
  domain_search(const place_rules& rules, bool leaves_are_hosts) : rules_(rules), leaves_are_hosts_(leaves_are_hosts) {}

  std::vector<searched_domain> all;
  std::vector<domain_list> by_level;

  [[nodiscard]] domain_counts& of(std::uint32_t domain) { return all[domain].counts; }
  [[nodiscard]] bool least_free(bool unconstrained) const {
    return unconstrained && rules_.least_free_if_unconstrained;
  }

  /// Sums up counts from the children.
  void fill(std::uint32_t domain, const search_shape& shape, std::size_t level, bool layered);

  [[nodiscard]] bool values_before(std::uint32_t a, std::uint32_t b) const;

  /// Domains in the order in which they are tried.
  [[nodiscard]] domain_list sorted(domain_list domains, bool with_leader, bool unconstrained);

  [[nodiscard]] std::int64_t capacity(std::uint32_t domain, bool slices, bool leader);

  /// Among the domains of the largest score the one that holds what is needed and least more; else the first.
  [[nodiscard]] std::uint32_t best_fit(const domain_list& domains, std::size_t from, std::int64_t needed,
                                       std::int64_t leaders, bool slices);

  /// The first domain that can take the leader without making the rest too small goes to the front.
  [[nodiscard]] domain_list leader_first(domain_list domains, std::int64_t count, std::int64_t leaders,
                                         std::int64_t slice_size, bool slices);

  struct level_choice {
    std::size_t level = 0;
    domain_list domains;
    std::int64_t fits = 0;  ///< where nothing was found
    std::size_t failed_level = no_level_known;
    bool empty_level = false;
  };

  /// The level on which the pods find domains, from the asked one upwards.
  [[nodiscard]] level_choice find_level(std::size_t level, const search_shape& shape);

  /// Fills domains in order with as few as possible; the last one is the tightest. Counts become what each takes.
  [[nodiscard]] domain_list take_fewest(domain_list domains, std::int64_t count, std::int64_t leaders,
                                        std::int64_t slice_size, bool unconstrained, bool slices);

  [[nodiscard]] domain_list children_of(const domain_list& domains) const;

  struct greedy_trial {
    bool fits = false;
    std::int64_t domains = 0;
    std::uint32_t last = domain_ledger::none;
    std::uint32_t last_with_leader = domain_ledger::none;
  };

  /// How many of the largest domains are needed, and which is the last.
  [[nodiscard]] greedy_trial try_largest(const domain_list& domains, std::int64_t slices, std::int64_t leaders);

  [[nodiscard]] double entropy(const domain_list& domains);

  /// The fewest domains, of those the least left over: by number of domains, leaders and pods that are left, the first
  /// set of domains that leads there.
  [[nodiscard]] domain_list fewest_for(const domain_list& domains, std::int64_t slices, std::int64_t leaders,
                                       std::int64_t slice_size, bool by_entropy);

  /// Slices spread so that every domain has at least the threshold; false if that cannot be.
  [[nodiscard]] bool spread(const domain_list& domains, std::int64_t slices, std::int64_t leaders,
                            std::int64_t slice_size, std::int64_t threshold, domain_list& chosen);

  struct even_choice {
    std::int64_t threshold = 0;
    domain_list domains;
  };

  /// The siblings that can be filled most evenly: copies of their subtrees, without what is below the threshold.
  [[nodiscard]] even_choice most_even(const search_shape& shape);

 private:
  level_choice take_several(domain_list order, const search_shape& shape, std::int64_t slices, level_choice found);
  std::uint32_t copy(std::uint32_t domain, std::uint32_t parent);
  domain_list copies(const domain_list& domains);
  void clear(std::uint32_t domain);
  void clear_leader(std::uint32_t domain);
  void prune_one(std::uint32_t domain, std::int64_t threshold, bool leading);
  void prune(const domain_list& domains, std::int64_t threshold, const search_shape& shape);

  const place_rules& rules_;
  bool leaves_are_hosts_;
};

}  // namespace kaisched::kueue
