#include "schedulers/volcano/cycle/cluster_view.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/saturating.hpp"
#include "model/account.hpp"
#include "model/figures.hpp"
#include "policy/access.hpp"
#include "policy/predicates/neighbours.hpp"
#include "policy/predicates/power_caps.hpp"
#include "schedulers/common/cycle/session_reader.hpp"

namespace kaisched::volcano {

namespace {

using policy::resource_list;

constexpr std::string_view root_name = "root";
constexpr std::string_view top_name = "<cluster>";  // no label has such a value
constexpr double milli = 1000;
constexpr double endless = 1e15;  // pods, where nobody counts them
constexpr row nowhere = no_row;
/// What Volcano writes on groups about their roles, and here stands on their pods; and on pods about their own.
constexpr std::string_view together_key = "volcano.sh/task-topology-affinity";
constexpr std::string_view apart_key = "volcano.sh/task-topology-anti-affinity";
constexpr std::string_view role_order_key = "volcano.sh/task-topology-task-order";
constexpr std::string_view role_key = "volcano.sh/task-spec";
constexpr std::string_view cooldown_key = "volcano.sh/cooldown-time";
/// And on nodes.
constexpr std::string_view node_group_label = "volcano.sh/nodegroup-name";

task_status status_of(pod_status status) {
  switch (status) {
    case pod_status::pending:
    case pod_status::gated:
      return task_status::pending;
    case pod_status::allocated:
      return task_status::allocated;
    case pod_status::pipelined:
      return task_status::pipelined;
    case pod_status::binding:
      return task_status::binding;
    case pod_status::bound:
      return task_status::bound;
    case pod_status::running:
      return task_status::running;
    case pod_status::releasing:
      return task_status::releasing;
    case pod_status::succeeded:
      return task_status::succeeded;
    case pod_status::failed:
      return task_status::failed;
    case pod_status::stuck_in_releasing:  // what it holds does not come free
    case pod_status::unknown:
      break;
  }
  return task_status::unknown;
}

/// Adds an amount of a dimension. CPU is in milli-cores and GPUs are in thousandths here and there; others are counts.
void add_amount(const model::cluster_state& s, dimension d, double amount, policy::resource_list& to) {
  if (d == dim_cpu) {
    to.cpu += amount;
  } else if (d == dim_memory) {
    to.memory += amount;
  } else if (d == dim_gpu) {
    to.set("nvidia.com/gpu", to.get("nvidia.com/gpu") + amount);
  } else if (d == dim_pods) {
    to.set("pods", to.get("pods") + amount);
  } else {
    const std::string& name = (*s.dimensions)[d].name;
    to.set(name, to.get(name) + amount * milli);
  }
}

/// Pods are tasks.
class pods_as_neighbours final : public neighbourhood {
 public:
  explicit pods_as_neighbours(policy::neighbour_book book) : book_(std::move(book)) {}

  /// Tasks come in their order. `is_stuck`: it is leaving, whatever becomes of its task.
  void add(pod_row pod, bool is_stuck) {
    pods_.push_back(pod);
    if (is_stuck) stuck_.push_back(pod);
  }
  [[nodiscard]] bool minds(row task) const { return book_.must_spread(pods_[task]) || book_.has_wishes(pods_[task]); }

  void moved(row task, row node, bool is_leaving) override {
    const pod_row pod = pods_[task];
    book_.move(pod, node == nowhere ? kaisched::no_row : static_cast<node_row>(node),
               is_leaving || std::ranges::find(stuck_, pod) != stuck_.end());
  }
  [[nodiscard]] bool judges(row task) const override { return book_.must_spread(pods_[task]); }
  [[nodiscard]] node_refusal refuses(row task, row node) const override {
    switch (book_.verdict(pods_[task], static_cast<node_row>(node))) {
      case policy::spread_verdict::even:
        break;
      case policy::spread_verdict::uneven:
        return node_refusal::for_now;
      case policy::spread_verdict::no_domain:
        return node_refusal::for_good;
    }
    return node_refusal::none;
  }
  [[nodiscard]] std::vector<std::int64_t> evenness(row task, const std::vector<row>& nodes) const override {
    return book_.evenness(pods_[task], rows(nodes));
  }
  [[nodiscard]] std::vector<std::int64_t> welcome(row task, const std::vector<row>& nodes,
                                                  std::int64_t required) const override {
    return book_.welcome(pods_[task], rows(nodes), required);
  }

 private:
  static std::vector<node_row> rows(const std::vector<row>& nodes) { return {nodes.begin(), nodes.end()}; }

  policy::neighbour_book book_;
  std::vector<pod_row> pods_;  ///< by task
  std::vector<pod_row> stuck_;
};

class cluster_view_maker : schedulers::session_reader {
 public:
  cluster_view_maker(const framework::session_state& c, const job_plan& plan)
      : session_reader(c), plan_(plan), requests_(s_.classes.size()) {}

  result<cluster_view> make(bool enqueues) {
    made_.cluster.enqueues = enqueues;
    made_.cluster.reclaim_spans_domains = c_.compat();
    made_.cluster.now = c_.now;
    made_.cluster.cpu_per_gpu = static_cast<double>(c_.options.set_aside_cpu);
    made_.cluster.memory_per_gpu = static_cast<double>(c_.options.set_aside_memory);
    const bool counts_pods = std::ranges::any_of(std::views::iota(class_row{0}, classes()), [&](class_row row) {
      return s_.classes[row] != nullptr && s_.classes[row]->requests(dim_pods) > 0;
    });
    add_nodes(counts_pods);
    add_queues();
    for (const model::disruption_budget_info& one : *s_.disruption_budgets)
      made_.cluster.budgets.push_back(one.allowed);
    add_bystanders();
    if (auto done = find_topology(); !done) return done.failure();
    add_domains();
    const std::vector<group_row> groups = all_groups();
    made_.cluster.tasks.reserve(s_.pods.size());
    made_.pods.reserve(s_.pods.size());
    made_.cluster.jobs.reserve(plan_.by_pod ? s_.pods.size() : groups.size());
    if (auto book = book_of_neighbours(); book.is_open()) {
      neighbours_ = std::make_shared<pods_as_neighbours>(std::move(book));
      made_.cluster.neighbours = neighbours_;
    }
    for (const group_row g : groups) plan_.by_pod ? add_pods(g) : add_job(g);
    for (node_state& node : made_.cluster.nodes) node.changes_at_start = node.changes;
    return std::move(made_);
  }

 private:
  [[nodiscard]] class_row classes() const { return static_cast<class_row>(s_.classes.size()); }
  [[nodiscard]] row place_of(pod_row pod) const {
    const node_row node = node_of(pod);
    return node == kaisched::no_row ? nowhere : node;
  }

  void add_nodes(bool counts_pods) {
    const std::uint32_t dims = s_.dims();
    for (node_row row = 0; row < s_.node_count(); ++row) {
      node_state& node = made_.cluster.nodes.emplace_back();
      const model::node_info& from = *(*s_.nodes)[row];
      node.name = from.name;
      const auto label = std::ranges::find(from.labels, node_group_label, &model::label_list::value_type::first);
      if (label != from.labels.end()) node.group = label->second;
      const auto percent = [](const model::load_figures& of) {
        return static_cast<double>(std::max<std::int64_t>(of.mean, 0)) / 10;
      };
      if (from.cpu_load.mean != model::unknown_figure || from.memory_load.mean != model::unknown_figure)
        node.load = policy::measured_load{percent(from.cpu_load), percent(from.memory_load)};
      for (dimension d = 0; d < dims; ++d) {
        const auto amount = static_cast<double>((*s_.capacity)[static_cast<std::size_t>(row) * dims + d]);
        if (amount != 0 || d == dim_pods) add_amount(s_, d, amount, node.allocatable);
      }
      if (!counts_pods) node.allocatable.set("pods", endless);
      node.idle = node.allocatable;
    }
  }

  static policy::node_group_affinity wishes_of_queue(const model::queue_info& queue) {
    policy::node_group_affinity made;
    for (const model::node_group_wish& one : queue.node_groups) {
      switch (one.affinity) {
        case model::node_group_word::required:
          made.required.push_back(one.name);
          break;
        case model::node_group_word::preferred:
          made.preferred.push_back(one.name);
          break;
        case model::node_group_word::avoided:
          made.avoided.push_back(one.name);
          break;
        case model::node_group_word::rather_avoided:
          made.rather_avoided.push_back(one.name);
          break;
      }
    }
    return made;
  }

  void add_queues() {
    const policy::resource_list all = made_.cluster.total();
    queue_rows_.assign(s_.queues->size(), nowhere);
    for (queue_row q = 0; q < s_.queues->size(); ++q) {
      const model::queue_info& from = (*s_.queues)[q];
      if (!from.live) continue;
      queue_rows_[q] = made_.cluster.queues.size();
      queue_state& queue = made_.cluster.queues.emplace_back();
      queue.name = from.name;
      if (from.parent != kaisched::no_row) queue.parent = (*s_.queues)[from.parent].name;
      queue.weight = std::max<std::int64_t>(1, std::llround(from.weight[dim_gpu]));
      queue.priority = from.priority;
      queue.created = from.created;
      queue.reclaimable = from.reclaimable;
      if (!from.node_groups.empty()) queue.node_groups = wishes_of_queue(from);
      for (const model::weighted_step& step : from.hierarchy) queue.hierarchy.push_back({step.name, step.weight});
      policy::resource_list guarantee;
      for (dimension d = 0; d < quota_dimensions; ++d) {
        if (from.guarantee[d] > 0) add_amount(s_, d, static_cast<double>(from.guarantee[d]), guarantee);
      }
      if (!guarantee.something_of().empty()) queue.guarantee = std::move(guarantee);
      policy::resource_list capability;
      bool is_limited = false;
      for (dimension d = 0; d < quota_dimensions; ++d) {
        if (from.limit[d] != unlimited) {
          // Nothing at all is not the same as no limit.
          add_amount(s_, d, std::max(static_cast<double>(from.limit[d]), policy::resource_slack / 2), capability);
          is_limited = true;
        }
        const double whole = all.get(d == dim_cpu ? "cpu" : d == dim_memory ? "memory" : "nvidia.com/gpu");
        add_amount(s_, d, from.quota[d] == unlimited ? whole : static_cast<double>(from.quota[d]), queue.deserved);
      }
      if (is_limited) queue.capability = std::move(capability);
    }
    // The top of the tree, whether or not anybody has named it.
    const auto root = std::ranges::find(made_.cluster.queues, root_name, &queue_state::name);
    root_row_ = static_cast<row>(root - made_.cluster.queues.begin());
    if (root == made_.cluster.queues.end()) made_.cluster.queues.emplace_back().name = root_name;
  }

  const policy::shared_resources& resources_of(pod_row pod) {
    const class_row row = s_.pods[pod].pod_class;
    if (requests_[row]) return *requests_[row];
    policy::resource_list made;
    const std::vector<std::int64_t> asked = session_reader::request_of(row);
    for (dimension d = 0; d < asked.size(); ++d) {
      if (asked[d] != 0) add_amount(s_, d, static_cast<double>(asked[d]), made);
    }
    return requests_[row].emplace(std::move(made));
  }

  void add_bystanders() {
    for (pod_row p = 0; p < s_.pod_slots; ++p) {
      if (!s_.pods[p].live || s_.pods[p].sub != kaisched::no_row) continue;
      const row at = place_of(p);
      if (at == nowhere || !model::is_in(status(p), model::active_used)) continue;
      node_state& node = made_.cluster.nodes[at];
      const policy::resource_list& request = resources_of(p);
      node.used.add(request);
      node.idle.subtract(request);
      if (status(p) == pod_status::releasing) node.releasing.add(request);
      node.allocatable.set("pods", node.allocatable.get("pods") - 1);
    }
  }

  result<void> find_topology() {
    if (c_.topologies == nullptr || plan_.by_pod) return {};
    const model::topology_ask* first = nullptr;
    for (group_row g = 0; g < s_.group_slots; ++g) {
      if (!s_.groups[g].live) continue;
      for (sub_group_row sub = s_.groups[g].first_sub; sub < s_.groups[g].first_sub + s_.groups[g].sub_count; ++sub) {
        const model::topology_ask* const ask = s_.subs[sub].together.get();
        if (ask == nullptr) continue;
        if (first != nullptr && first->topology != ask->topology) {
          return error{status::unsupported,
                       "pod group '" + std::string(s_.group_names[g]) + "' asks for topology '" + ask->topology +
                           "', another one for '" + first->topology + "': tiers know one",
                       {}};
        }
        first = ask;
      }
    }
    if (first == nullptr) return {};
    const auto found =
        std::ranges::find_if(*c_.topologies, [&](const auto& tree) { return tree.name == first->topology; });
    if (found != c_.topologies->end()) tree_ = &*found;
    return {};
  }

  [[nodiscard]] std::int64_t tier_of(std::uint32_t level) const {
    return static_cast<std::int64_t>(tree_->levels.size()) - level + 1;
  }

  void add_domains() {
    if (tree_ == nullptr) return;
    std::vector<policy::domain_declaration> declared;
    const auto name_of = [&](std::uint32_t domain) {
      if (domain == policy::topology::root_domain) return std::string(top_name);
      return std::to_string(tree_->domains[domain].level) + ":" + std::to_string(domain) + ":" +
             tree_->domains[domain].id;
    };
    for (std::uint32_t i = 0; i < tree_->domains.size(); ++i) {
      policy::domain_declaration& one = declared.emplace_back();
      one.name = name_of(i);
      one.tier = tier_of(tree_->domains[i].level);
      for (const std::uint32_t child : tree_->children[i]) one.domains.push_back(name_of(child));
      if (!tree_->children[i].empty() && i != policy::topology::root_domain) continue;
      for (const node_row node : tree_->domains[i].nodes) {
        if (i != policy::topology::root_domain || tree_->leaf[node] == i) one.nodes.push_back((*s_.nodes)[node]->name);
      }
    }
    for (node_row node = 0; node < s_.node_count(); ++node) {  // those that are in no domain
      if (tree_->leaf[node] == kaisched::no_row) declared.front().nodes.push_back((*s_.nodes)[node]->name);
    }
    made_.cluster.domains = policy::network_domains(declared);
    made_.cluster.top_domain = top_name;
  }

  /// Required levels are conditions, preferred ones wishes.
  [[nodiscard]] policy::distance_limit limit_of(const model::topology_ask& ask) const {
    policy::distance_limit limit;
    limit.hard = !ask.required_level.empty();
    const std::uint32_t level = tree_->level_named(limit.hard ? ask.required_level : ask.preferred_level);
    if (level != kaisched::no_row) limit.highest_tier = tier_of(level);
    return limit;
  }
  void set_topology(sub_group_row sub, bool& has, policy::distance_limit& limit) const {
    const model::topology_ask* const ask = s_.subs[sub].together.get();
    if (ask == nullptr || tree_ == nullptr) return;
    has = true;
    limit = limit_of(*ask);
  }

  /// A set of which not just all members are needed, but fewer, or more than there are.
  [[nodiscard]] bool counts_members(sub_group_row sub) const {
    const model::sub_info& set = s_.subs[sub];
    return set.is_set && set.min != unset && set.min != static_cast<std::int64_t>(set.members);
  }
  /// Pods that a part of a group needs at least: those of its smallest members, as many of them as it needs.
  [[nodiscard]] std::int64_t needed_pods(sub_group_row sub) const {
    const model::sub_info& of = s_.subs[sub];
    if (!of.is_set) return of.min;
    std::vector<std::int64_t> members;
    for (sub_group_row child = of.first_child; child != kaisched::no_row; child = s_.subs[child].next_sibling)
      members.push_back(needed_pods(child));
    std::ranges::sort(members);
    if (counts_members(sub))
      members.resize(std::min(members.size(), static_cast<std::size_t>(std::max<std::int64_t>(of.min, 0))));
    std::int64_t sum = 0;
    for (const std::int64_t one : members) sum = base::saturating_add(sum, one);
    return sum;
  }

  job_state& start_job(group_row g, std::string_view name) {
    const model::group_core& from = s_.groups[g];
    made_.groups.push_back(g);
    job_state& job = made_.cluster.jobs.emplace_back();
    job.name = name;
    if (from.queue != kaisched::no_row && c_.queues.is_schedulable_queue(from.queue))
      job.queue = plan_.one_queue ? root_row_ : queue_rows_[from.queue];
    job.priority = from.priority;
    job.created = from.created;
    const bool waits = c_.groups.waits_after_eviction(g);  // asks all groups: once
    job.evicts = !waits;
    if (waits || c_.groups.comes_last_after_eviction(g)) job.gave_way = c_.groups.last_eviction(g);
    const model::group_extra& extra = s_.group_extras[g];
    if (extra.deadline != unset) {
      const std::int64_t lasts =
          extra.runtime_estimate == unset ? 0 : std::max<std::int64_t>(extra.runtime_estimate, 0);
      std::int64_t by = 0;
      if (!__builtin_sub_overflow(extra.deadline, lasts, &by)) job.starts_by = by;
    }
    return job;
  }

  /// Each pod is a job of its own.
  void add_pods(group_row g) {
    each_pod(g, [&](pod_row p) {
      const row at = made_.cluster.jobs.size();
      job_state& job = start_job(g, s_.pod_names[p]);
      job.created = s_.pod_extras[p].created;
      job.min_available = 1;
      job.sub_jobs.emplace_back().name = job.name;
      add_task(g, p, at, 0, {});
      finish_job(made_.cluster.jobs[at]);
    });
  }

  void add_job(group_row g) {
    const model::group_core& from = s_.groups[g];
    const row at = made_.cluster.jobs.size();
    job_state& job = start_job(g, s_.group_names[g]);
    set_topology(from.first_sub, job.has_topology, job.topology);
    for (sub_group_row sub = from.first_sub; sub < from.first_sub + from.sub_count; ++sub) {
      const bool own_place = tree_ != nullptr && sub != from.first_sub && s_.subs[sub].together != nullptr;
      job.has_rules = job.has_rules || own_place || counts_members(sub);
    }
    job.min_available = needed_pods(from.first_sub);
    for (sub_group_row sub = from.first_sub; sub < from.first_sub + from.sub_count; ++sub) {
      if (!s_.subs[sub].is_set) add_pod_set(g, sub, at);
    }
    set_roles(job);
    finish_job(job);
    set_told_minimum(g, job);
  }

  void add_pod_set(group_row g, sub_group_row sub, row at) {
    job_state& job = made_.cluster.jobs[at];
    const model::sub_info& from = s_.subs[sub];
    const std::string name(from.name);
    // Of a set that needs a number of its members any will do.
    const bool stands_in = counts_members(from.parent);
    const std::string rule = stands_in ? std::string(s_.subs[from.parent].name) + "/" : name;
    if (job.has_rules) {
      job.min_sub_jobs[rule] = stands_in ? s_.subs[from.parent].min : 1;
    } else if (s_.group_extras[g].has_sub_groups) {
      job.minimums.by_role[name] = from.min;
    }
    if (job.sub_jobs.empty() || job.has_rules) {
      sub_job_state& own = job.sub_jobs.emplace_back();
      own.name = job.has_rules ? job.name + "/" + name : job.name;
      own.group = job.has_rules ? rule : "";
      own.priority = job.priority;
      own.min_available = 0;
      set_topology(job.has_rules ? sub : s_.groups[g].first_sub, own.has_topology, own.topology);
    }
    const row place = job.sub_jobs.size() - 1;
    job.sub_jobs[place].min_available += from.min;
    for (pod_row p = from.first_pod; p != kaisched::no_row; p = s_.pods[p].next) {
      const std::optional<std::string> own =
          s_.group_extras[g].has_sub_groups ? std::nullopt : annotation_of(p, role_key);
      add_task(g, p, at, place, own.value_or(name));
    }
  }

  void add_task(group_row g, pod_row p, row job, row sub_job, const std::string& role) {
    cluster_state& cluster = made_.cluster;
    const row at = cluster.tasks.size();
    made_.pods.push_back(p);
    if (neighbours_ != nullptr) neighbours_->add(p, status(p) == pod_status::stuck_in_releasing);
    task_state& task = cluster.tasks.emplace_back();
    task.name = s_.pod_names[p];
    task.uid = task.name;
    task.role = role;
    task.request = resources_of(p);
    task.first_request = task.request;
    task.pod_priority = s_.groups[g].priority;
    task.priority = priority_of(p);
    task.created = s_.pod_extras[p].created;
    const std::int64_t start = s_.group_extras[g].last_start;
    task.started = start == unset ? task.created : start;
    task.status = status_of(status(p));
    task.job = job;
    task.sub_job = sub_job;
    task.preemptable = s_.groups[g].preemptible && !c_.groups.evicted_enough(g) && !c_.access.budgets->refuses(p);
    task.best_effort = task.request->is_empty();
    task.gated = status(p) == pod_status::gated;
    task.has_labels = !s_.pod_extras[p].labels.empty();
    task.spared_for = spared_time(p);
    task.budget = budget_of(p);
    task.leaves_room = policy::must_leave_room(c_.access, s_.class_of(p));
    task.critical = s_.group_extras[g].name_space == "kube-system";
    cluster.jobs[job].tasks.push_back(at);
    cluster.jobs[job].sub_jobs[sub_job].tasks.push_back(at);
    task.node = place_of(p);
    if (task.node != nowhere && model::is_in(status(p), model::active_used)) {
      cluster.charge(at);
    } else {
      task.node = nowhere;
    }
    if (task.status != task_status::pending || task.gated) return;
    const answers& said = answers_of(p);
    task.refusals = said.refusals;
    task.room_on_devices = room_on_devices(s_.pods[p].pod_class);
    const wishes& own = wishes_of(s_.pods[p].pod_class);
    task.avoids = own.avoids;
    task.prefers = own.prefers;
    const bool minds_others = neighbours_ != nullptr && neighbours_->minds(at);
    if (task.avoids == nullptr && task.prefers == nullptr && !minds_others) task.kind = said.kind;
  }

  /// `600s`, and nothing else.
  [[nodiscard]] std::int64_t spared_time(pod_row pod) const {
    constexpr std::int64_t nanoseconds = 1'000'000'000;
    if (s_.class_of(pod).annotations.empty()) return 0;
    const std::string text = annotation_of(pod, cooldown_key).value_or("");
    std::int64_t seconds = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool is_time = fault == std::errc{} && end + 1 == text.data() + text.size() && *end == 's' && seconds > 0;
    return is_time ? base::saturating_multiply(seconds, nanoseconds) : 0;
  }
  [[nodiscard]] row budget_of(pod_row pod) const {
    const std::string_view name = s_.told_of(pod).budget;
    if (name.empty()) return nowhere;
    const auto& all = *s_.disruption_budgets;
    const auto found = std::ranges::find(all, name, &model::disruption_budget_info::name);
    return found == all.end() ? nowhere : static_cast<row>(found - all.begin());
  }

  using amounts_by_node = std::shared_ptr<const std::vector<std::int64_t>>;
  [[nodiscard]] policy::neighbour_book book_of_neighbours() const {
    policy::neighbour_book made;
    made.open(c_.access, c_.has("topologyspread"), c_.has_predicates);
    return made;
  }

  /// What pods of a class would rather have, by node; null: it is all the same.
  struct wishes {
    amounts_by_node avoids;
    amounts_by_node prefers;
  };
  const wishes& wishes_of(class_row of_class) {
    const auto [at, is_new] = wishes_.try_emplace(of_class);
    if (!is_new || !c_.has_predicates) return at->second;
    const model::pod_class& ask = *s_.classes[of_class];
    const auto by_node = [&](auto amount) {
      std::vector<std::int64_t> amounts;
      amounts.reserve(s_.node_count());
      for (const auto& node : *s_.nodes) amounts.push_back(amount(*node));
      const bool any = std::ranges::any_of(amounts, [](std::int64_t one) { return one > 0; });
      return any ? std::make_shared<const std::vector<std::int64_t>>(std::move(amounts)) : nullptr;
    };
    if (s_.nodes_with_taints > 0)
      at->second.avoids = by_node([&](const auto& node) { return ask.soft_taints(node.taints); });
    if (!ask.node_preferences.empty())
      at->second.prefers = by_node([&](const auto& node) { return ask.preference_for(node.labels); });
    return at->second;
  }

  using room_by_node = std::shared_ptr<const std::vector<device_room>>;
  /// Of pods of a class. Only parts of GPUs leave pieces; without any, amounts say it.
  room_by_node room_on_devices(class_row of_class) {
    if (s_.pods_with_shares + s_.pods_with_mig == 0 || !s_.classes[of_class]->wants_gpu()) return nullptr;
    const auto [at, is_new] = room_on_devices_.try_emplace(of_class);
    if (!is_new) return at->second;
    std::vector<device_room> room(s_.node_count(), device_room::now);
    for (node_row row = 0; row < s_.node_count(); ++row) {
      const auto fits = [&](policy::free_amount which) {
        return policy::fits(c_.access, *s_.classes[of_class], row, which);
      };
      if (fits(policy::free_amount::idle)) continue;
      room[row] = fits(policy::free_amount::idle_or_releasing) ? device_room::later : device_room::none;
    }
    at->second = std::make_shared<const std::vector<device_room>>(std::move(room));
    return at->second;
  }

  /// What nodes say to a pod, and the number of all pods that ask for the same and hear the same.
  struct answers {
    std::shared_ptr<const std::vector<node_refusal>> refusals;
    row kind = nowhere;
  };

  /// What nodes say to all pods of a class.
  const std::vector<node_refusal>& refusals_for_good(class_row of_class) {
    const auto [at, is_new] = for_good_.try_emplace(of_class);
    if (!is_new) return at->second;
    const model::pod_class& ask = *s_.classes[of_class];
    at->second.assign(s_.node_count(), node_refusal::none);
    if (!c_.has_predicates) return at->second;
    const bool never = policy::judge_cluster(c_.access, ask).what == constraint::obstacle;
    for (node_row row = 0; row < s_.node_count(); ++row) {
      if (never || policy::node_verdict(c_.access, ask, row) != constraint::none)
        at->second[row] = node_refusal::for_good;
    }
    return at->second;
  }

  /// What the predicates of the session say of nodes, amounts aside.
  const answers& answers_of(pod_row pod) {
    const class_row of_class = s_.pods[pod].pod_class;
    const model::pod_class& ask = s_.class_of(pod);
    const group_row group = s_.pods[pod].group;
    const std::pair by_what(of_class, c_.constraints.kind_of(group));
    const bool by_class = policy::ignores_other_pods(c_.access, ask);
    if (by_class) {
      if (const auto known = by_class_.find(by_what); known != by_class_.end()) return *known->second;
    }
    std::vector<node_refusal> found = refusals_for_good(of_class);
    for (node_row row = 0; by_what.second != 0 && row < s_.node_count(); ++row) {
      if (c_.constraints.closes(group, row)) found[row] = node_refusal::for_good;
    }
    for (node_row row = 0; c_.access.power != nullptr && row < s_.node_count(); ++row) {
      const bool is_open = found[row] == node_refusal::none;
      if (is_open && policy::power_missing(c_.access, pod, row, policy::free_amount::idle_or_releasing))
        found[row] = node_refusal::for_now;
    }
    if (!by_class) {
      std::vector<node_row> open;
      for (node_row row = 0; row < s_.node_count(); ++row) {
        if (found[row] == node_refusal::none) open.push_back(row);
      }
      std::vector<constraint> verdicts(open.size(), constraint::none);
      c_.constraints.judge_by_rules(c_.access, pod, open, verdicts);
      for (std::size_t i = 0; i < open.size(); ++i) {
        // How pods are spread changes with each that is placed.
        const bool is_settled = verdicts[i] != constraint::none && verdicts[i] != constraint::spread;
        if (is_settled) found[open[i]] = node_refusal::for_now;
      }
    }
    const auto [at, is_new] = kinds_.try_emplace(std::pair(of_class, std::move(found)));
    answers& said = at->second;
    if (is_new) {
      const std::vector<node_refusal>& all = at->first.second;
      const bool all_open = std::ranges::all_of(all, [](node_refusal one) { return one == node_refusal::none; });
      if (!all_open) said.refusals = std::make_shared<const std::vector<node_refusal>>(all);
      said.kind = kinds_.size() - 1;
    }
    if (by_class) by_class_.emplace(by_what, &said);
    return said;
  }

  [[nodiscard]] std::optional<std::string> annotation_of(pod_row pod, std::string_view key) const {
    for (const auto& [name, value] : s_.class_of(pod).annotations) {
      if (name == key) return value;
    }
    return std::nullopt;
  }

  /// As the first of its pods by name says that says anything.
  void set_roles(job_state& job) const {
    const auto& tasks = made_.cluster.tasks;
    row first = nowhere;
    for (const row task : job.tasks) {
      const pod_row pod = made_.pods[task];
      const bool says =
          !s_.class_of(pod).annotations.empty() &&
          (annotation_of(pod, together_key) || annotation_of(pod, apart_key) || annotation_of(pod, role_order_key));
      if (says && (first == nowhere || tasks[task].name < tasks[first].name)) first = task;
    }
    if (first == nowhere) return;
    const pod_row pod = made_.pods[first];
    job.roles = {annotation_of(pod, together_key), annotation_of(pod, apart_key), annotation_of(pod, role_order_key)};
  }

  /// What the group says that it needs at least; nothing at all is no condition.
  void set_told_minimum(group_row g, job_state& job) const {
    const std::string_view told = s_.group_extras[g].min_resources;
    if (told.empty()) return;
    policy::resource_list minimum;
    // The table has refused what cannot be read.
    const result<std::vector<model::named_amount>> read = model::parse_amounts(told, max_sum);
    for (const model::named_amount& one : *read) add_named(one, minimum);
    job.min_resources.reset();
    if (!minimum.something_of().empty()) job.min_resources = std::move(minimum);
  }
  /// Names that are no dimension are counts, of which no node has any.
  void add_named(const model::named_amount& one, policy::resource_list& to) const {
    const auto known = std::ranges::find(*s_.dimensions, one.name, &model::dimension_info::name);
    if (known != s_.dimensions->end()) {
      add_amount(s_, static_cast<dimension>(known - s_.dimensions->begin()), static_cast<double>(one.amount), to);
    } else {
      to.set(one.name, to.get(one.name) + static_cast<double>(one.amount) * milli);
    }
  }

  /// Gang, phase and what it needs at least.
  void finish_job(job_state& job) const {
    const auto& tasks = made_.cluster.tasks;
    const bool holds = std::ranges::any_of(job.tasks, [&](row task) { return is_allocated(tasks[task].status); });
    job.phase = holds ? job_phase::running : job_phase::pending;
    const auto least = static_cast<std::size_t>(std::max<std::int64_t>(job.min_available, 0));
    std::vector<row> first = job.tasks;
    if (least < first.size()) {
      std::ranges::stable_sort(first, std::greater{}, [&](row task) { return tasks[task].priority; });
      first.resize(least);
    }
    job.min_resources =
        first.size() == 1 ? tasks[first.front()].request : policy::shared_resources(requests_of(made_.cluster, first));
  }

  const job_plan& plan_;
  cluster_view made_;
  std::vector<std::optional<policy::shared_resources>> requests_;  ///< by class
  std::vector<row> queue_rows_;
  row root_row_ = nowhere;
  const policy::topology::domain_tree* tree_ = nullptr;
  std::map<class_row, room_by_node> room_on_devices_;
  std::map<std::pair<class_row, std::vector<node_refusal>>, answers> kinds_;
  std::map<std::pair<class_row, std::uint32_t>, const answers*> by_class_;  ///< and by what is reserved for others
  std::map<class_row, std::vector<node_refusal>> for_good_;
  std::map<class_row, wishes> wishes_;
  std::shared_ptr<pods_as_neighbours> neighbours_;  ///< null: no pod minds others
};

}  // namespace

result<cluster_view> view_of(const framework::session_state& c, const job_plan& jobs, bool enqueues) {
  return cluster_view_maker(c, jobs).make(enqueues);
}

}  // namespace kaisched::volcano
