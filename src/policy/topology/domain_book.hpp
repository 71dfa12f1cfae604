#pragma once
/// @file
/// What the domains of a topology have free and how many pods they have room for, kept from one question to the next.

#include <cstdint>
#include <list>
#include <span>
#include <vector>

#include "policy/topology/kai_domains.hpp"

namespace kaisched::policy::topology {

/// A question costs what has changed since the last one like it. Sums are made in the order of `sum_free`, so that they
/// are the same to the bit.
class domain_book {
 public:
  domain_book(const domain_tree& tree, std::size_t nodes, std::size_t dimensions);
  domain_book(const domain_book&) = delete;
  domain_book& operator=(const domain_book&) = delete;

  /// Amounts of a node, to be written; they count from the next question on.
  [[nodiscard]] std::span<double> change(node_row row, double shared_room);
  [[nodiscard]] std::span<const node_room> rooms() const { return rooms_; }
  /// Of all domains. Valid until the next question.
  [[nodiscard]] const domain_counts& counts_of(const pods_ask& pods);
  /// What is kept and up to date is what counting anew finds. For checks.
  [[nodiscard]] bool is_right() const;

 private:
  /// Pods that count alike.
  struct question {
    pods_ask pods;
    std::size_t seen;                   ///< of `changes_`
    std::vector<std::int64_t> on_node;  ///< pods that a node has room for
    domain_counts counts;
  };

  question& find(const pods_ask& pods);
  void count_all(question& one) const;
  void recount(question& one, std::span<const node_row> nodes);
  void sum_up(std::uint32_t domain, domain_counts& counts) const;

  const domain_tree& tree_;
  std::size_t dimensions_;
  std::vector<double> free_;  ///< [nodes x dimensions]
  std::vector<node_room> rooms_;
  std::vector<node_row> changes_;                  ///< nodes, in the order in which they have changed
  std::list<question> questions_;                  ///< the last one first
  std::vector<std::vector<std::uint32_t>> dirty_;  ///< by level: domains whose sums are old
  std::vector<std::uint8_t> is_dirty_;             ///< by domain
};

}  // namespace kaisched::policy::topology
