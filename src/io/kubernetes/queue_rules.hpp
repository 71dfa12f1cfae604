#pragma once
/// @file
/// Rules that say which queue a group belongs to, and queues that are made when a group first needs them.

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>

#include "io/json_document.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

inline constexpr std::string_view queue_rules_schema = "kaisched-queue-rules/1";
/// A name that starts with this says the whole way down to its queue.
inline constexpr std::string_view root_prefix = "root.";
/// What stands for a dot in a name that is one level.
inline constexpr std::string_view dot_word = "_dot_";
/// The leaf for groups of a queue that has got others below it.
inline constexpr std::string_view own_leaf = "default";
/// Bytes of the name of a queue that is made.
inline constexpr std::size_t longest_queue_name = 253;

/// From where a rule has the name of a queue.
enum class queue_source : std::uint8_t {
  provided,  ///< what the group names itself
  user,
  name_space,
  label,
  annotation,
  name_space_label,
  name_space_annotation,
  fixed,
};

/// Whom a rule is about. Entries may have `*` for any text and `?` for one character.
struct queue_filter {
  bool allow = true;  ///< those in the lists; else all but those
  std::vector<std::string> users;
  std::vector<std::string> groups;  ///< of users
  std::vector<std::string> names;   ///< that the rule would give
  [[nodiscard]] bool is_empty() const { return users.empty() && groups.empty() && names.empty(); }
};

struct queue_rule {
  queue_source source = queue_source::provided;
  std::string text;     ///< key of the label or annotation; name of the fixed queue
  bool create = false;  ///< makes the queue if it is not there
  queue_filter filter;
  std::shared_ptr<const queue_rule> parent;  ///< gives the queue above
};

/// What a queue that is made has.
struct queue_template {
  std::int64_t priority = 100;
  std::array<std::int64_t, quota_dimensions> quota{};
  std::array<std::int64_t, quota_dimensions> limit{unlimited, unlimited, unlimited};
  std::array<double, quota_dimensions> weight{1, 1, 1};
};

struct queue_rules {
  std::vector<queue_rule> rules;  ///< the first that gives a queue counts
  std::map<std::string, queue_template, std::less<>>
      templates;  ///< of leaves below a queue, by its name; `root`: of all others
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> user_groups;  ///< users by group
};

/// Reads a file of rules. Errors start with `source` and the line, and name the field.
[[nodiscard]] result<std::shared_ptr<const queue_rules>> read_queue_rules(const json_document& text,
                                                                          std::string_view source);
[[nodiscard]] result<std::shared_ptr<const queue_rules>> parse_queue_rules(std::string_view text,
                                                                           std::string_view source);

/// `*` stands for any text, `?` for one byte. Time: the product of both sizes at most.
[[nodiscard]] bool matches_pattern(std::string_view text, std::string_view pattern);

/// What rules look at.
struct queue_question {
  std::string_view named;  ///< the queue that the group names; empty: none
  std::string_view user;
  std::vector<std::string> user_groups{};  ///< beside those of the file
  std::string_view name_space;
  /// A label or annotation, of the group or its namespace; empty: it has none.
  std::function<std::string_view(queue_source, std::string_view key)> text;
};

/// Chooses queues for the groups of one cluster. Whether a queue can be made does not depend on the order of groups.
class queue_chooser {
 public:
  /// @param known the queues that there are; `has_none`: the text has no queues at all, so every rule may make them.
  queue_chooser(const queue_rules& by, std::span<const queue_record> known, bool has_none);

  /// Whether the queue that a group names is none that groups can be in.
  [[nodiscard]] bool decides_about(std::string_view named) const;
  /// The queue of a group, noted as made if it is not there; empty: no rule takes the group.
  [[nodiscard]] std::string choose(const queue_question& asks);
  /// When all groups are known: rows of the queues that were made, by name. Groups of queues that have got others below
  /// them move to a leaf of their own there.
  void finish(std::vector<pod_group_record>& groups, std::vector<queue_record>& to);

 private:
  using names = std::set<std::string, std::less<>>;
  struct made_queue {
    std::string name;
    std::string parent;
  };

  [[nodiscard]] std::string resolve(const queue_rule& rule, const queue_question& asks, bool as_parent,
                                    std::vector<made_queue>& making) const;
  [[nodiscard]] std::string make(std::string_view parent, std::string_view path, std::vector<made_queue>& making) const;
  [[nodiscard]] bool passes(const queue_filter& filter, const queue_question& asks, std::string_view value) const;
  [[nodiscard]] bool may_be_parent(std::string_view name) const;
  [[nodiscard]] const queue_template* template_of(std::string_view parent) const;
  void note_parents(const queue_rule& rule);

  const queue_rules& by_;
  bool has_none_;
  std::map<std::string, std::string, std::less<>> known_;  ///< parents by name
  names known_parents_;                                    ///< that have queues below them
  names named_parents_;                                    ///< that rules and templates name as such
  std::map<std::string, std::string, std::less<>> made_;   ///< parents by name
};

}  // namespace kaisched::io::kubernetes
