#pragma once
/// @file
/// Many clusters, one line: which cluster a pod group goes to, then where in it. On the first level a group is judged
/// by summaries of the clusters (cluster_summary.hpp), on the second the engine of the chosen cluster decides, as ever.
///
/// Two levels with offers that may be refused are those of Mesos (Hindman et al., NSDI 2011) turned around: here the
/// first level proposes and the second disposes. That a group goes to one cluster after the other until one starts it
/// is what Kueue's MultiKueue and Slurm's federation do; they ask all at once and withdraw from the others.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/cluster_summary.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/executor.hpp>
#include <kaisched/result.hpp>
#include <kaisched/session.hpp>

namespace kaisched {

namespace federation_detail {
struct body;
}

/// What is said about a member, beside what its summary says.
struct member_info {
  std::string name{};
  std::vector<std::pair<std::string, std::string>> labels{};  ///< key and value: region, provider
  std::int64_t price = 0;           ///< of a GPU for an hour, in a unit of the host's choice; 0 or more
  std::vector<std::string> data{};  ///< keys of data that are there
  bool open = true;                 ///< false: no new groups; those that are there stay

  friend bool operator==(const member_info&, const member_info&) = default;
};

/// A label of members that a group would rather have.
struct preferred_label {
  std::string key{};
  std::string value{};
  std::int64_t weight = 1;  ///< 1 to 1,000,000

  friend bool operator==(const preferred_label&, const preferred_label&) = default;
};

/// Data that a group reads.
struct wanted_data {
  std::string key{};
  std::int64_t weight = 1;  ///< what it costs to have it elsewhere, such as gigabytes; 1 to 2^40

  friend bool operator==(const wanted_data&, const wanted_data&) = default;
};

/// What a group says about members; without any, it may go anywhere.
struct group_wishes {
  std::vector<std::string> members{};                           ///< only these; none: all
  std::vector<std::pair<std::string, std::string>> required{};  ///< labels that the member has
  std::vector<preferred_label> preferred{};
  std::vector<wanted_data> data{};
  std::int64_t most_price = unlimited;  ///< of a GPU for an hour

  friend bool operator==(const group_wishes&, const group_wishes&) = default;
};

/// What is better about one member than about another. Values are those of `member_criterion_name`.
enum class member_criterion : std::uint8_t {
  fits = 0,         ///< by its summary it starts on what is free; always first
  preference = 1,   ///< more weight of preferred labels
  data = 2,         ///< less weight of data that is elsewhere
  price = 3,        ///< a lower price
  entitlement = 4,  ///< its queue holds less there than its quota
  wait = 5,         ///< an earlier start, by expected ends and by what waits there
  fit = 6,          ///< as `federation_options::fit`
  name = 7,         ///< the first by name; always last
  only = 8,         ///< there was no other candidate
};
[[nodiscard]] std::string_view member_criterion_name(member_criterion c) noexcept;

/// Between members that are equally good.
enum class member_fit : std::uint8_t {
  pack = 0,    ///< where fewest such pods have room besides, so that other members stay free for large gangs
  spread = 1,  ///< where most have
};
[[nodiscard]] std::string_view member_fit_name(member_fit f) noexcept;

struct federation_options {
  /// What is compared, in order, between `fits` and `name`, which may be left out.
  std::vector<member_criterion> order{member_criterion::preference,  member_criterion::data, member_criterion::price,
                                      member_criterion::entitlement, member_criterion::wait, member_criterion::fit};
  member_fit fit = member_fit::pack;
  /// Groups that are sent before members decide, in the order of the line; 0: all. A group behind another one may start
  /// before it where both want the same, unless this is 1, which costs a session for each group.
  std::uint32_t window = 0;
  std::uint32_t rounds = 64;     ///< times that members decide in one `decide`; who is left waits for the next
  std::uint32_t room_asked = 1;  ///< members that are asked to make room for a group that fits nowhere as it is
  summary_limits summary{};
};

/// How a group and a member stand.
enum class member_verdict : std::uint8_t {
  candidate = 0,     ///< not asked: others were better, or rounds ended
  refused = 1,       ///< asked: its engine did not start the group; a session of the report says why
  closed = 2,        ///< takes no new groups
  not_wanted = 3,    ///< not among the members that the group names
  label = 4,         ///< a label that the group requires is not there
  price = 5,         ///< costs more than the group pays
  queue = 6,         ///< has no queue of this name
  resource = 7,      ///< has no dimension that the pods ask for
  never = 8,         ///< would not have room if nothing ran there
  full = 9,          ///< has no room as it is, and nobody makes room
  wrong_input = 10,  ///< the cluster does not take the rows of the group; `federated_wait::text` says why
};
[[nodiscard]] std::string_view member_verdict_name(member_verdict v) noexcept;

/// Where a group is. Values are those of `group_stage_name`.
enum class group_stage : std::uint8_t {
  waits = 0,    ///< in the line, in no member
  starts = 1,   ///< in a member whose engine has given it places
  claims = 2,   ///< in a member whose engine holds places that come free for it
  offered = 3,  ///< sent to a member that is known by its summary alone, which has not answered
  runs = 4,     ///< as `starts`, since an earlier decision or as the member has answered
};
[[nodiscard]] std::string_view group_stage_name(group_stage s) noexcept;

/// A group that got a member.
struct federated_place {
  std::string group;
  std::string queue;
  std::string member;
  group_stage stage = group_stage::starts;
  member_criterion by = member_criterion::only;  ///< why this member and not the runner-up
  std::string runner_up;                         ///< empty: none
  std::uint32_t round = 0;                       ///< from 1
  std::uint32_t pods = 0;                        ///< that have places; of offers: 0

  friend bool operator==(const federated_place&, const federated_place&) = default;
};

/// A group that waits in the line.
struct federated_wait {
  std::string group;
  std::string queue;
  std::string limit;                     ///< the queue whose limit over all members it would pass; empty: none
  std::vector<member_verdict> verdicts;  ///< by member, in the order of their names
  std::string text;                      ///< what was wrong with its rows; empty: nothing
  std::string expected_member;           ///< where it would start first as far as ends are known; empty: nowhere
  std::int64_t expected = -1;            ///< when; at least, by summaries; -1: nobody knows

  friend bool operator==(const federated_wait&, const federated_wait&) = default;
};

/// What one member decided in one round. Its decisions are in the cluster of the member already, as `cluster::assume`
/// takes them; the host carries them out and reports to that cluster, as ever.
struct member_session {
  std::string member;
  std::uint32_t round = 0;  ///< from 1
  session decided;
};

/// A member whose part of a decision failed: nothing of that round is in its cluster.
struct member_failure {
  std::string member;
  error why;
};

struct federation_report {
  std::vector<federated_place> placed;   ///< in the order of rounds, then of the line
  std::vector<federated_wait> waits;     ///< in the order of the line
  std::vector<std::string> members;      ///< whom verdicts are about; by name
  std::vector<std::string> returned;     ///< groups that a member had and that are in the line again; by name
  std::vector<member_session> sessions;  ///< by round and member
  std::vector<member_failure> failures;  ///< by member
  std::uint32_t rounds = 0;
  std::uint64_t judged = 0;  ///< groups times members that summaries were looked at for
  /// SHA-256 over who got which member in which stage, who waits, and the digests of all sessions.
  [[nodiscard]] std::string digest() const;
  /// `federated_place`, `federated_wait` or `member_session`. Error for any other kind.
  [[nodiscard]] result<table> to_table(table_kind kind) const;
};

/// A queue over all members.
struct federated_queue {
  std::string name;
  std::string parent;  ///< empty: none
  std::int64_t quota[quota_dimensions] = {};
  std::int64_t limit[quota_dimensions] = {};
  std::int64_t allocated[quota_dimensions] = {};  ///< in all members, and of offers

  friend bool operator==(const federated_queue&, const federated_queue&) = default;
};
/// As a table of kind `federated_queue`.
[[nodiscard]] table to_table(std::span<const federated_queue> queues);

/// Clusters that share one line of pod groups and one tree of queues.
///
/// A group is in one member or in none: it is added to the cluster of a member for the session that decides, and taken
/// out again if that does not start it. It is never divided among members, its sub-groups neither. Limits of queues
/// here hold over all members, for what they hold by their summaries and the whole request of a group; quotas here
/// decide who is first in the line: a queue that holds less of its quota, over all members, than another. Quotas and
/// limits in a member's own tree are judged by its engine besides. What others submit to a member directly is not
/// judged here, and counts.
///
/// Everything follows from the arguments and the order of calls; the order in which members are added does not matter.
/// Threads: exclusive use; with an executor the members of a round decide at once. The clusters of members are changed
/// by `decide`, `withdraw` and `lose`, and by the host between calls, never at the same time.
class federation {
 public:
  explicit federation(federation_options options = {});
  ~federation();
  federation(federation&&) noexcept;
  federation& operator=(federation&&) noexcept;
  federation(const federation&) = delete;
  federation& operator=(const federation&) = delete;

  /// Threads for the members of a round; null, as at first: none but the caller's. Engines of members must not have the
  /// same executor.
  void set_executor(std::shared_ptr<executor> threads);

  // ---- members

  /// A member in this process. Errors: `duplicate` name, `argument` for an empty name, a bad price or a null pointer.
  result<void> add_member(member_info about, std::shared_ptr<cluster> state, std::shared_ptr<const engine> with);
  /// A member that is known by its summary alone: groups are offered to it, and the host says what has become of them
  /// (`answer`). Errors: as above, and a summary that contradicts itself.
  result<void> add_member(member_info about, cluster_summary known);
  /// Other labels, price, data, or open. Errors: `not_found`, `argument`.
  result<void> change_member(member_info about);
  /// A newer summary of a member that is known by it alone. It counts what was accepted; offers that were not answered
  /// stay on top. Errors: `not_found`, `state` for a member in this process, a summary that contradicts itself.
  result<void> update_member(std::string_view name, cluster_summary known);
  /// The member is gone, and with it all that ran there: its groups are in the line again, and their names are
  /// returned. Only for what is certain: a member that cannot be reached may still run them (`change_member` closes
  /// it).
  result<std::vector<std::string>> lose_member(std::string_view name);
  [[nodiscard]] std::vector<std::string> member_names() const;  ///< by name
  /// What a member looks like now; of one in this process it is made anew. Errors: `not_found`, those of `summarise`.
  [[nodiscard]] result<cluster_summary> summary(std::string_view member, std::int64_t now);

  // ---- groups

  /// Takes tables in: `resource` and `topology` (add), `queue` (add, change, remove), and whole groups: `pod_group`,
  /// `sub_group` and `pod` (add). All or nothing. Pods must be pending or gated. What the rows name besides, such as
  /// claims, has to be in a member already, or its cluster refuses them. Errors: as `cluster::apply`; `unsupported` for
  /// other tables; `duplicate` for a group that is here.
  result<void> submit(std::span<const table_view> tables);
  result<void> submit(std::span<const table> tables);
  /// What a group says about members. Errors: `not_found`; `argument` for a weight or price out of bounds.
  result<void> wish(std::string_view group, group_wishes wishes);
  /// The groups are wanted no more, or have ended. Of those in a member of this process the rows are removed there if
  /// they are there still. Errors: `not_found`; nothing is done then.
  result<void> withdraw(std::span<const std::string_view> groups);
  /// What a member that is known by its summary has made of an offer. One that refused is asked again when it has a
  /// newer summary. Errors: `not_found`, `state` if the group is not offered.
  result<void> answer(std::string_view group, bool accepted);
  /// Where a group is, and the member (empty: none). Errors: `not_found`.
  [[nodiscard]] result<std::pair<group_stage, std::string>> stage(std::string_view group) const;
  [[nodiscard]] std::vector<federated_queue> queues(std::int64_t now);  ///< by name

  // ---- decisions

  /// Decides. Groups in the order of the line are sent to their best members; members with something to decide run the
  /// actions of their engines, all that are their own included; who was not started goes on to the next one, until
  /// nothing can be sent. Groups that a member holds and that wait there again (nodes were lost, somebody made them
  /// leave) are decided there first, and come back to the line if that does not start them. Errors: none: a member that
  /// fails is in the report, and its groups go elsewhere.
  result<federation_report> decide(std::int64_t now);

 private:
  std::unique_ptr<federation_detail::body> impl_;
};

}  // namespace kaisched
