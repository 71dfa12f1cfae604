#pragma once
/// @file
/// The body of a federation.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/federation.hpp>

#include "base/parallel.hpp"
#include "federation/demand.hpp"
#include "federation/line.hpp"
#include "federation/member_book.hpp"
#include "federation/rows.hpp"
#include "federation/summary_maker.hpp"

namespace kaisched::federation_detail {

struct member {
  member_info about;
  std::shared_ptr<cluster> state;      ///< null: known by its summary alone
  std::shared_ptr<const engine> with;  ///< likewise
  summary_maker maker;
  member_book book;
  std::vector<std::uint32_t> dimension;  ///< of the member, by dimension of the line
  bool failed = false;                   ///< in this decision

  [[nodiscard]] bool is_here() const { return state != nullptr; }
};

struct record {
  std::string name;
  std::string queue;
  std::int64_t priority = 0;
  std::int64_t created = 0;
  group_rows rows;
  group_demand demand;
  group_wishes wishes;
  group_stage stage = group_stage::waits;
  std::string member;                                 ///< that has it or to which it is offered
  bool is_uncounted = false;                          ///< the summary of its member does not count what it holds
  std::set<std::string, std::less<>> refused_offers;  ///< members without a newer summary since

  // ---- of one decision
  std::vector<member_verdict> verdicts;  ///< by member
  bool has_only_one = false;             ///< member that it may go to, in this process
  bool is_hopeless = false;              ///< nobody is left to send it to
  std::uint32_t room_asked = 0;
  std::string limit;
  std::string text;
};

/// A group that is sent to a member in a round.
struct sent_group {
  record* what = nullptr;
  bool is_there = false;  ///< and waits there again
  member_criterion by = member_criterion::only;
  std::string runner_up;
  std::size_t place = 0;  ///< among those that are sent in the round
};

/// What a member made of a round.
struct member_round {
  std::optional<session> decided;
  std::optional<error> failure;
  std::vector<std::uint32_t> binds;   ///< pods by sent group
  std::vector<std::uint32_t> claims;  ///< likewise
  std::vector<std::string> wrong;     ///< why the cluster refused its rows, by sent group; empty: it did not
};

/// Adds the groups to the member's cluster, decides, takes the decisions in and the groups that did not start out.
[[nodiscard]] member_round run_member(member& at, std::span<const sent_group> sent, std::int64_t now);

struct body {
  explicit body(federation_options told) : options(std::move(told)) {}

  federation_options options;
  base::parallel threads;
  cluster queues;  ///< with dimensions and topologies; groups pass through it to be read
  std::map<std::string, member, std::less<>> members;
  std::map<std::string, record, std::less<>> groups;
  std::set<std::string, std::less<>> uncounted;  ///< groups with `is_uncounted`
  class_pool pool;

  [[nodiscard]] std::vector<std::string> dimensions();
  void map_dimensions(member& to);
  result<void> add(member one);
  result<void> refresh(member& one, std::int64_t now);
  /// Queues with what members and uncounted groups hold.
  [[nodiscard]] line make_line(const snapshot& of);
  void set_stage(record& one, group_stage stage, std::string_view member, bool counted);
  void erase(std::string_view group);
};

}  // namespace kaisched::federation_detail
