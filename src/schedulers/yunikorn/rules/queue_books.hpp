#pragma once
/// @file
/// What queues and users hold, wait for and may still take.
///
/// Source: apache/yunikorn-core, pkg/scheduler/objects/queue.go, pkg/scheduler/ugm. What a queue may take is the least
/// of what it and all above it may; the top may have all nodes.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "schedulers/yunikorn/rules/state.hpp"

namespace kaisched::yunikorn {

/// Why a queue, or a user in it, takes nothing more.
struct queue_refusal {
  row queue = no_row;
  std::size_t dimension = 0;
  std::int64_t need = 0;
  std::int64_t have = 0;
  bool by_user = false;  ///< a limit of the user
};

class queue_books {
 public:
  /// Counts what runs and what waits. Pending asks of an application whose gang is not complete count as well.
  explicit queue_books(cluster_state& cluster);

  /// The most that a queue may have: its own say, else that of the nearest one above.
  [[nodiscard]] const bounds& fair_most(row queue) const { return fair_most_[queue]; }
  /// Above 0 from the second on, in the order of names.
  [[nodiscard]] std::int64_t name_rank(row queue) const { return ranks_[queue]; }
  /// The highest priority that waits in a queue, as those see it that are beside it; nothing: nobody waits.
  [[nodiscard]] std::optional<std::int64_t> priority(row queue) const;
  /// The same of an application.
  [[nodiscard]] std::optional<std::int64_t> app_priority(row app) const;

  /// What the user and the queues of an ask refuse; the user comes first.
  [[nodiscard]] std::optional<queue_refusal> refusal(row ask) const;
  /// No queue has too many applications that run, nor has the user.
  [[nodiscard]] bool may_run(row app) const;

  /// An ask gets something, or gives it back and waits.
  void take(row ask);
  void give_back(row ask);
  /// One that runs leaves, or stays after all.
  void leave(row ask);
  void stay(row ask);

 private:
  using counts = std::map<std::int64_t, std::int64_t>;
  struct user_book {
    amounts used;
    std::int64_t apps = 0;
  };

  void count_nodes();
  void charge(row ask, std::int64_t sign);
  void charge_app(row app, std::int64_t sign);
  void wait(row ask, std::int64_t sign);
  void count_priority(row queue, std::int64_t priority, std::int64_t sign);
  /// The limits of a queue that count for a user: his own, and that of the first of his groups that has one. Null:
  /// none.
  [[nodiscard]] std::array<const user_limit*, 2> limits_of(row queue, const std::string& user) const;
  /// Who is counted for a limit in a queue.
  using holder = std::tuple<row, bool, std::string>;
  [[nodiscard]] static holder holder_of(row queue, const user_limit& limit, const std::string& user);
  [[nodiscard]] user_book& book_of(const holder& who);

  cluster_state& cluster_;
  std::vector<bounds> fair_most_;
  std::vector<std::uint32_t> ranks_;
  std::vector<counts> waiting_;        ///< by queue: how many asks, by priority as the queue sees it
  std::vector<counts> app_waiting_;    ///< by application
  std::map<holder, user_book> users_;  ///< where a queue has limits
};

}  // namespace kaisched::yunikorn
