#include "policy/reclaim/gang_bundles.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

namespace kaisched::policy {

namespace {

using counts = std::map<std::string, std::int64_t, std::less<>>;

/// What the gang could still lose.
class surplus {
 public:
  explicit surplus(const gang_needs& gang) : gang_(gang), job_(held(gang) - gang.min_available) {
    std::int64_t minimum = 0;
    for (const auto& [role, least] : gang.role_minimum) minimum += least;
    counts_roles_ = gang.min_available >= minimum;
    for (const auto& [role, least] : gang.role_minimum) roles_[role] = -least;
    for (const gang_task& one : gang.tasks) {
      const auto role = roles_.find(one.role);
      if (role != roles_.end() && (one.holds || one.needs_none)) ++role->second;
    }
    for (const gang_sub_group& one : gang.sub_groups) {
      if (is_ready(one)) {
        ++sets_[one.set];
      } else {
        broken_.insert(one.uid);
      }
    }
    for (const auto& [set, least] : gang.set_minimum) sets_[set] -= least;
  }

  [[nodiscard]] bool is_lost() const { return job_ < 0; }

  /// Takes the task if the gang does not need it.
  bool take(const gang_task& task) {
    const auto role = counts_roles_ ? roles_.find(task.role) : roles_.end();
    if (job_ <= 0 || (role != roles_.end() && role->second <= 0) || !spares_sub_group(task)) return false;
    --job_;
    if (role != roles_.end()) --role->second;
    if (const gang_sub_group* of = sub_group_of(task); counts_sets() && of != nullptr && broken_.insert(of->uid).second)
      --sets_[of->set];
    return true;
  }

 private:
  static std::int64_t held(const gang_needs& gang) {
    return std::count_if(gang.tasks.begin(), gang.tasks.end(), [](const gang_task& one) { return one.holds; });
  }

  [[nodiscard]] bool counts_sets() const { return !gang_.set_minimum.empty(); }

  [[nodiscard]] bool is_ready(const gang_sub_group& of) const {
    const auto ready = std::count_if(gang_.tasks.begin(), gang_.tasks.end(), [&](const gang_task& one) {
      return one.sub_group == of.uid && (one.holds || one.needs_none);
    });
    return ready >= of.min_available;
  }

  [[nodiscard]] const gang_sub_group* sub_group_of(const gang_task& task) const {
    const auto found = std::find_if(gang_.sub_groups.begin(), gang_.sub_groups.end(),
                                    [&](const gang_sub_group& one) { return one.uid == task.sub_group; });
    return found == gang_.sub_groups.end() ? nullptr : &*found;
  }

  /// A sub-group that has lost a task already loses nothing more.
  [[nodiscard]] bool spares_sub_group(const gang_task& task) const {
    if (!counts_sets()) return true;
    const gang_sub_group* of = sub_group_of(task);
    if (of == nullptr) return false;
    const auto set = sets_.find(of->set);
    return broken_.contains(of->uid) || (set != sets_.end() && set->second > 0);
  }

  const gang_needs& gang_;
  std::int64_t job_;
  bool counts_roles_ = true;
  counts roles_;
  counts sets_;
  std::set<std::string, std::less<>> broken_;
};

victim_bundle bundle_of(const gang_needs& gang, bundle_kind kind, std::span<const std::uint32_t> tasks) {
  victim_bundle made{kind, gang.uid, gang.queue, gang.priority, {}, {}, {}};
  for (const std::uint32_t task : tasks) {
    made.tasks.push_back(gang.tasks[task].uid);
    made.local.add(gang.tasks[task].request);
  }
  if (kind == bundle_kind::whole) {
    for (const gang_task& one : gang.tasks) made.global.add(one.request);
  }
  return made;
}

double part_of_need(const resource_list& amounts, const resource_list& need, bool at_most_need) {
  double sum = 0;
  need.each_of_something([&](std::string_view name, double needed) {
    const double amount = amounts.get(name);
    sum += (at_most_need && amount > needed ? needed : amount) / needed;
  });
  return sum;
}

}  // namespace

std::vector<victim_bundle> make_bundles(const gang_needs& gang, std::span<const std::uint32_t> local) {
  if (local.empty()) return {};
  std::vector<std::uint32_t> ordered(local.begin(), local.end());
  std::sort(ordered.begin(), ordered.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::tie(gang.tasks[a].priority, gang.tasks[a].uid) < std::tie(gang.tasks[b].priority, gang.tasks[b].uid);
  });
  surplus left(gang);
  // A gang that does not run has nothing to lose.
  if (left.is_lost()) return {bundle_of(gang, bundle_kind::safe, ordered)};
  const auto whole = std::stable_partition(ordered.begin(), ordered.end(),
                                           [&](std::uint32_t task) { return left.take(gang.tasks[task]); });
  std::vector<victim_bundle> bundles;
  if (whole != ordered.begin()) bundles.push_back(bundle_of(gang, bundle_kind::safe, {ordered.begin(), whole}));
  if (whole != ordered.end()) bundles.push_back(bundle_of(gang, bundle_kind::whole, {whole, ordered.end()}));
  return bundles;
}

std::vector<victim_bundle> allowed_bundles(std::span<const victim_bundle> bundles, std::span<const std::string> allowed,
                                           const std::function<resource_list(std::string_view)>& request_of) {
  std::vector<victim_bundle> kept;
  for (const victim_bundle& one : bundles) {
    std::vector<std::string> tasks = one.tasks;
    std::erase_if(tasks, [&](const std::string& task) {
      return std::find(allowed.begin(), allowed.end(), task) == allowed.end();
    });
    if (tasks.empty() || (one.kind == bundle_kind::whole && tasks.size() < one.tasks.size())) continue;
    kept.push_back(one);
    if (one.kind == bundle_kind::whole) continue;
    kept.back().local = {};
    for (const std::string& task : tasks) kept.back().local.add(request_of(task));
    kept.back().tasks = std::move(tasks);
  }
  return kept;
}

double return_on_eviction(const victim_bundle& bundle, const resource_list& need) {
  const double freed = part_of_need(bundle.local, need, true);
  const double lost = part_of_need(bundle.global, need, false);
  return lost == 0 ? std::numeric_limits<double>::infinity() : freed / lost;
}

bool taken_before(const victim_bundle& a, const victim_bundle& b, const resource_list& need,
                  std::weak_ordering owners) {
  if (a.kind != b.kind) return a.kind < b.kind;
  if (owners != 0) return owners < 0;
  const double first = return_on_eviction(a, need);
  const double second = return_on_eviction(b, need);
  if (first != second) return first > second;
  if (a.job != b.job) return a.job < b.job;
  const std::string_view a_task = a.tasks.empty() ? std::string_view{} : a.tasks.front();
  const std::string_view b_task = b.tasks.empty() ? std::string_view{} : b.tasks.front();
  if (a_task != b_task) return a_task < b_task;
  return a.tasks.size() < b.tasks.size();
}

}  // namespace kaisched::policy
