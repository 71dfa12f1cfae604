#pragma once
/// @file
/// Amounts of resources by name as Volcano keeps them: doubles, compared with a slack.
///
/// Source of the rules: volcano-sh/volcano, pkg/scheduler/api/resource_info.go. Amounts are milli-CPU, bytes, and
/// milli-units of every other resource but `pods`, which is a count. The slack is absolute, so a tenth of a byte counts
/// like a tenth of a milli-CPU, and which of two comparisons has it is part of the rules.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

namespace kaisched::policy {

/// What a resource counts as that one of two lists does not name.
enum class absent_resource : std::uint8_t { zero, infinity };

/// Amounts nearer to each other than this are equal; what is less is nothing.
inline constexpr double resource_slack = 0.1;

/// Names of resources: cpu and memory first, then the others by name.
using resource_names = std::vector<std::string>;

class resource_list {
 public:
  using scalar = std::pair<std::string, double>;

  double cpu = 0;
  double memory = 0;

  /// Everything but cpu and memory, by name.
  [[nodiscard]] std::span<const scalar> scalars() const { return {scalars_.data(), scalars_.size()}; }
  /// 0 for what is not named.
  [[nodiscard]] double get(std::string_view name) const;
  [[nodiscard]] bool names(std::string_view scalar_name) const { return find(scalar_name) != nullptr; }
  void set(std::string_view name, double amount);

  void add(const resource_list& other);
  /// Amounts may become negative. A list without scalars stays without.
  void subtract(const resource_list& other);
  void multiply(double factor);
  /// The larger one, resource by resource.
  void raise_to(const resource_list& other);
  /// The smaller one of each resource that this list names.
  void lower_to(const resource_list& other, absent_resource absent);

  /// `visit(name, amount)` of all resources of which there is something, in the order of `resource_names`.
  template <class Visit>
  void each_of_something(Visit visit) const {
    if (cpu >= resource_slack) visit(std::string_view("cpu"), cpu);
    if (memory >= resource_slack) visit(std::string_view("memory"), memory);
    for (const auto& [name, amount] : scalars_) {
      if (amount >= resource_slack) visit(std::string_view(name), amount);
    }
  }
  /// Resources of which there is something.
  [[nodiscard]] resource_names something_of() const;
  /// Neither cpu nor memory, and no other resource is named.
  [[nodiscard]] bool names_nothing() const { return cpu == 0 && memory == 0 && scalars_.empty(); }
  /// Nothing of anything but pods.
  [[nodiscard]] bool is_empty() const;
  [[nodiscard]] bool has_none_of(std::string_view name) const { return get(name) < resource_slack; }

  [[nodiscard]] bool operator==(const resource_list&) const = default;

 private:
  [[nodiscard]] const double* find(std::string_view scalar_name) const;
  /// As many as `other` has, of the same names: most lists of one cluster have.
  [[nodiscard]] bool has_names_of(const resource_list& other) const;
  template <class Change>
  void change_by(const resource_list& other, Change change);
  friend bool less_equal(const resource_list& left, const resource_list& right, absent_resource absent);

  /// Pods ask for GPUs and for being a pod; more than two are rare.
  boost::container::small_vector<scalar, 2> scalars_;
};

/// A list that many have alike: copies share it.
class shared_resources {
 public:
  shared_resources() = default;
  shared_resources(resource_list list)  // NOLINT(google-explicit-constructor): it is one
      : list_(std::make_shared<const resource_list>(std::move(list))) {}

  [[nodiscard]] const resource_list& operator*() const { return list_ == nullptr ? none() : *list_; }
  [[nodiscard]] const resource_list* operator->() const { return &**this; }
  operator const resource_list&() const { return **this; }  // NOLINT(google-explicit-constructor)

 private:
  static const resource_list& none();

  std::shared_ptr<const resource_list> list_;  ///< null: nothing
};

/// No resource of `left` more than in `right`.
[[nodiscard]] bool less_equal(const resource_list& left, const resource_list& right, absent_resource absent);
/// Any resource less than in `right`; no slack.
[[nodiscard]] bool less_partly(const resource_list& left, const resource_list& right, absent_resource absent);

/// Of what is asked for (but pods), what is more in `left` than in `right`; no slack.
[[nodiscard]] resource_names exceeding_of(const resource_list& left, const resource_list& right,
                                          const resource_list& asked);
/// The same of those that `right` has: cpu and memory if there is something, others if they are named.
[[nodiscard]] resource_names exceeding_of_relevant(const resource_list& left, const resource_list& right,
                                                   const resource_list& asked);
/// Of what is asked for (but pods), what is not more in `left` than in `right`, without those of which neither side has
/// anything.
[[nodiscard]] resource_names within_of_present(const resource_list& left, const resource_list& right,
                                               const resource_list& asked);

/// What both have something of.
[[nodiscard]] resource_names common_of(const resource_list& left, const resource_list& right, bool with_pods);

/// What `left` has more and what it has less than `right`. Where one side is infinite, so is the difference: -1.
struct resource_difference {
  resource_list more;
  resource_list less;
};
[[nodiscard]] resource_difference difference(resource_list left, resource_list right, absent_resource absent);

/// The largest part of anything that there is in `of`.
[[nodiscard]] double dominant_share(const resource_list& allocated, const resource_list& of);

/// How full a queue is of what it deserves: its dominant share. A queue that deserves nothing counts as full, so that
/// it comes after every queue that lacks something.
[[nodiscard]] double deserved_share(const resource_list& allocated, const resource_list& deserved);

/// What a job whose pods have partly started still has a claim to: of each resource of its minimum what is not
/// allocated.
[[nodiscard]] resource_list outstanding_minimum(const resource_list& minimum, std::span<const std::string> named,
                                                const resource_list& allocated);
/// What a job holds beyond its minimum.
[[nodiscard]] resource_list beyond_minimum(const resource_list& allocated, const resource_list& minimum);

}  // namespace kaisched::policy
