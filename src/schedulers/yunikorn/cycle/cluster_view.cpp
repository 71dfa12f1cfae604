#include "schedulers/yunikorn/cycle/cluster_view.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "actions/runtime.hpp"
#include "framework/members.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"
#include "schedulers/common/cycle/session_reader.hpp"

namespace kaisched::yunikorn {

namespace {

constexpr double nanoseconds = 1e9;
constexpr double milli_units = 1000;
constexpr std::string_view gpu_resource = "nvidia.com/gpu";
constexpr row nothing = no_row;

class cluster_view_maker : schedulers::session_reader {
 public:
  cluster_view_maker(const framework::session_state& c, const scheduler_setup& plan)
      : session_reader(c), plan_(plan), dims_(s_.dims()) {}

  result<cluster_view> make() {
    cluster_state& cluster = made_.cluster;
    cluster.now = c_.now;
    cluster.preempts = plan_.preempts;
    cluster.reservation_delay = static_cast<std::int64_t>(plan_.reservation_delay * nanoseconds);
    cluster.unit.assign(dims_, 1);
    cluster.unit[dim_gpu] = milli_units;
    add_nodes();
    add_queues();
    for (const group_row g : all_groups()) add_group(g);
    if (auto done = apply(plan_, [&](std::string_view name) { return resource(name); }, cluster); !done)
      return done.failure();
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::optional<resource_unit> resource(std::string_view name) const {
    if (name == "cpu") return resource_unit{dim_cpu, milli_units};
    if (name == "memory") return resource_unit{dim_memory, 1};
    if (name == "gpu" || name == gpu_resource) return resource_unit{dim_gpu, milli_units};
    for (std::size_t d = 0; d < dims_; ++d) {
      if ((*s_.dimensions)[d].name == name) return resource_unit{d, 1};
    }
    return std::nullopt;
  }

  /// GPUs are counted by what pods ask for, parts included; the rest is as the session has it.
  void add_nodes() {
    for (node_row row = 0; row < s_.node_count(); ++row) {
      const std::size_t first = static_cast<std::size_t>(row) * dims_;
      node_state& node = made_.cluster.nodes.emplace_back();
      node.name = (*s_.nodes)[row]->name;
      for (std::size_t d = 0; d < dims_; ++d) {
        node.total.push_back((*s_.capacity)[first + d]);
        node.available.push_back((*c_.live.idle)[first + d]);
        node.coming.push_back((*c_.live.releasing)[first + d]);
      }
      node.total[dim_gpu] = c_.gpus.capacity(row);
      node.available[dim_gpu] = node.total[dim_gpu];
      node.coming[dim_gpu] = 0;
    }
    for (pod_row p = 0; p < s_.pod_slots; ++p) {
      if (!s_.pods[p].live || !model::is_in(status(p), model::active_used)) continue;
      if (node_of(p) == kaisched::no_row) continue;
      node_state& node = made_.cluster.nodes[node_of(p)];
      const std::int64_t gpus = c_.queues.asked(s_.class_of(p))[dim_gpu];
      if (status(p) == pod_status::pipelined) {
        node.coming[dim_gpu] -= gpus;
        continue;
      }
      node.available[dim_gpu] -= gpus;
      if (status(p) == pod_status::releasing) node.coming[dim_gpu] += gpus;
    }
    for (node_state& node : made_.cluster.nodes) {
      if (std::ranges::all_of(node.coming, [](std::int64_t one) { return one == 0; })) node.coming.clear();
    }
  }

  /// One top above all queues; it may have what the nodes have.
  void add_queues() {
    std::vector<std::vector<queue_row>> below(s_.queues->size());
    std::vector<queue_row> tops;
    for (queue_row q = 0; q < s_.queues->size(); ++q) {
      const model::queue_info& from = (*s_.queues)[q];
      if (from.live) (from.parent == kaisched::no_row ? tops : below[from.parent]).push_back(q);
    }
    queue_rows_.assign(s_.queues->size(), nothing);
    queue_state& top = made_.cluster.queues.emplace_back();
    made_.queues.push_back(kaisched::no_row);
    top.guaranteed.assign(dims_, undefined);
    top.most.assign(dims_, 0);
    for (const node_state& node : made_.cluster.nodes) add(top.most, node.total);
    std::ranges::replace(top.most, 0, undefined);
    add_children(0, tops);
    for (row at = 1; at < made_.queues.size(); ++at) add_children(at, below[made_.queues[at]]);
  }

  void add_children(row parent, const std::vector<queue_row>& children) {
    for (const queue_row q : children) {
      const model::queue_info& from = (*s_.queues)[q];
      const row at = made_.cluster.queues.size();
      queue_rows_[q] = at;
      made_.queues.push_back(q);
      queue_state& queue = made_.cluster.queues.emplace_back();
      queue.name = from.name;
      queue.parent = parent;
      queue.guaranteed.assign(dims_, undefined);
      queue.most.assign(dims_, undefined);
      bool guarantees = false;
      for (dimension d = 0; d < quota_dimensions; ++d) {
        if (from.quota[d] != unlimited) queue.guaranteed[d] = from.quota[d];
        if (from.limit[d] != unlimited) queue.most[d] = from.limit[d];
        guarantees = guarantees || queue.guaranteed[d] > 0;
      }
      if (!guarantees) queue.guaranteed.assign(dims_, undefined);
      made_.cluster.queues[parent].children.push_back(at);
    }
  }

  void add_group(group_row g) {
    const model::group_core& from = s_.groups[g];
    const row at = made_.cluster.apps.size();
    made_.groups.push_back(g);
    app_state& app = made_.cluster.apps.emplace_back();
    app.name = s_.group_names[g];
    app.user = s_.group_extras[g].user;
    app.created = from.created;
    bool asks_for_domain = false;
    for (sub_group_row sub = from.first_sub; sub < from.first_sub + from.sub_count; ++sub) {
      const model::topology_ask* const ask = s_.subs[sub].together.get();
      asks_for_domain = asks_for_domain || (ask != nullptr && !ask->required_level.empty());
      if (s_.subs[sub].is_set) continue;
      made_.cluster.apps[at].sets.push_back({s_.subs[sub].min, 0});
      for (pod_row p = s_.subs[sub].first_pod; p != kaisched::no_row; p = s_.pods[p].next) add_pod(g, p, at);
    }
    app_state& made = made_.cluster.apps[at];
    std::ranges::sort(made.asks, [&](row l, row r) { return comes_first(l, r); });
    const bool is_served = c_.queues.is_schedulable_queue(from.queue);
    if (is_served) {
      made.queue = queue_rows_[from.queue];
      made_.cluster.queues[made.queue].apps.push_back(at);
    }
    const bool may_start =
        !asks_for_domain && framework::is_ready(c_, from.first_sub) && actions::requeue_delay_of(c_, g).left() == 0;
    if (!is_served || may_start) return;
    if (asks_for_domain) made_.unsupported.push_back(g);
    for (const row ask : made.asks) {  // what runs of it counts all the same
      if (made_.cluster.asks[ask].status == ask_status::pending) made_.cluster.asks[ask].status = ask_status::gated;
    }
  }

  [[nodiscard]] bool comes_first(row left, row right) const {
    const ask_state& l = made_.cluster.asks[left];
    const ask_state& r = made_.cluster.asks[right];
    if (l.priority != r.priority) return l.priority > r.priority;
    return l.created != r.created ? l.created < r.created : l.name < r.name;
  }

  void add_pod(group_row g, pod_row p, row app) {
    const bool runs = model::is_in(status(p), model::active_allocated);
    if (!runs && status(p) != pod_status::pending) return;
    const row at = made_.cluster.asks.size();
    made_.pods.push_back(p);
    ask_state& ask = made_.cluster.asks.emplace_back();
    ask.name = s_.pod_names[p];
    ask.app = app;
    ask.set = made_.cluster.apps[app].sets.size() - 1;
    ask.priority = priority_of(p);
    ask.created = s_.pod_extras[p].created == 0 ? s_.groups[g].created : s_.pod_extras[p].created;
    ask.is_originator = s_.pods[p].leader;
    ask.allows_preemption = s_.groups[g].preemptible;
    ask.protected_always = (plan_.protects && !s_.groups[g].preemptible) || c_.groups.evicted_enough(g);
    ask.kind = kind_of(s_.pods[p].pod_class, g);
    made_.cluster.apps[app].asks.push_back(at);
    if (!runs) return;
    ask.status = ask_status::running;
    ask.node = node_of(p) == kaisched::no_row ? nothing : node_of(p);
    ask.protected_always = ask.protected_always || ask.node == nothing || status(p) == pod_status::pipelined ||
                           c_.access.budgets->refuses(p).has_value();
    made_.cluster.apps[app].runs = true;
  }

  row kind_of(class_row of_class, group_row group) {
    const auto [known, is_new] = kinds_.try_emplace({of_class, c_.constraints.kind_of(group)}, nothing);
    row& at = known->second;
    if (!is_new) return at;
    at = made_.cluster.kinds.size();
    const model::pod_class& ask = *s_.classes[of_class];
    kind_state& kind = made_.cluster.kinds.emplace_back();
    kind.request = request_of(of_class);
    if (policy::must_leave_room(c_.access, ask)) {
      kind.leaves.assign(dims_, 0);
      kind.leaves[dim_cpu] = c_.options.set_aside_cpu;
      kind.leaves[dim_memory] = c_.options.set_aside_memory;
    }
    const bool never = c_.has_predicates && policy::judge_cluster(c_.access, ask).what == constraint::obstacle;
    std::vector<bool> refused(s_.node_count());
    for (node_row row = 0; row < s_.node_count(); ++row)
      refused[row] = never || schedulers::is_closed(c_, row, of_class, group);
    if (std::ranges::find(refused, true) != refused.end())
      kind.refused = std::make_shared<const std::vector<bool>>(std::move(refused));
    return at;
  }

  const scheduler_setup& plan_;
  std::uint32_t dims_;
  cluster_view made_;
  std::vector<row> queue_rows_;
  std::map<std::pair<class_row, std::uint32_t>, row> kinds_;  ///< by class, and what is reserved
};

}  // namespace

result<cluster_view> view_of(const framework::session_state& c, const scheduler_setup& plan) {
  return cluster_view_maker(c, plan).make();
}

}  // namespace kaisched::yunikorn
