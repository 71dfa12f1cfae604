// Which nodes to add and to give back: the question, and the trials that answer it.
#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <kaisched/scaling.hpp>

#include "actions/actions.hpp"
#include "base/int128.hpp"
#include "base/nearest.hpp"
#include "base/saturating.hpp"
#include "base/text.hpp"
#include "engine/scaling_parts.hpp"
#include "model/dependencies.hpp"
#include "model/export.hpp"
#include "model/snapshot_access.hpp"
#include "session/action_list.hpp"
#include "session/levers.hpp"

namespace kaisched {

namespace {

constexpr std::array<std::string_view, 2> strategy_names{"search", "first_fit"};

}  // namespace

std::string_view scale_strategy_name(scale_strategy s) noexcept {
  const auto number = static_cast<std::size_t>(s);
  return number < strategy_names.size() ? strategy_names[number] : std::string_view{};
}

result<scale_report> scale(const engine& with, const snapshot& base, std::int64_t now, const node_offers& offers,
                           const scale_question& question) {
  result<engine_detail::scale_subject> of = engine_detail::make_subject(with, base, now, offers, question);
  if (!of) return of.failure();
  scale_report report;
  report.up.over = of->waits;
  std::set<std::string> added;
  if (question.up) {
    result<scale_up_answer> up = engine_detail::scale_up(*of);
    if (!up) return up.failure();
    report.up = std::move(*up);
    for (const node_addition& one : report.up.added) added.insert(one.nodes.begin(), one.nodes.end());
  }
  if (question.down) {
    result<scale_down_answer> down = engine_detail::scale_down(*of, added);
    if (!down) return down.failure();
    report.down = std::move(*down);
  }
  return report;
}

namespace engine_detail {

namespace {

using model::cluster_state;
using model::node_info;

error wrong_offer(const node_type& type, std::string_view field, std::string_view what) {
  return {status::argument,
          "node type '" + base::shown(type.name) + "': " + std::string(field) + " " + std::string(what),
          {}};
}

/// The node that those of a type are like, or null.
std::shared_ptr<const node_info> like_of(const cluster_state& s, const node_type& type) {
  const auto found =
      std::find_if(s.nodes->begin(), s.nodes->end(), [&](const auto& node) { return node->name == type.name; });
  return found == s.nodes->end() ? nullptr : *found;
}

/// The sum of all that could be bought can be stored.
result<void> check_prices(const node_offers& offers) {
  base::int128 total = 0;
  for (const node_type& type : offers.types) {
    if (type.price < 0) return wrong_offer(type, "price", "is negative");
    if (type.most < 0) return wrong_offer(type, "most", "is negative");
    total += static_cast<base::int128>(type.price) * type.most;
    if (total > max_sum) return wrong_offer(type, "price", "times most is more than can be represented");
    for (const new_domain& one : type.domains) {
      if (one.label.empty()) return wrong_offer(type, "new_domains", "has a label without a name");
      if (one.nodes < 1) return wrong_offer(type, "new_domains", "has a domain of less than one node");
    }
  }
  return {};
}

result<std::vector<offered_type>> types_of(const node_offers& offers, const snapshot& base) {
  if (auto good = check_prices(offers); !good) return good.failure();
  const cluster_state& s = model::state_of(offers.nodes);
  if (!offers.types.empty() && offers.nodes.dimension_names() != base.dimension_names())
    return error{status::argument, "the nodes of the offers have other resource dimensions than the cluster", {}};
  std::vector<offered_type> types;
  for (const node_type& type : offers.types) {
    offered_type one{&type, like_of(s, type)};
    if (one.like == nullptr) return wrong_offer(type, "node", "is missing: there is none of this name");
    types.push_back(std::move(one));
  }
  std::sort(types.begin(), types.end(), [](const auto& a, const auto& b) { return a.offer->name < b.offer->name; });
  const auto same = std::adjacent_find(types.begin(), types.end(),
                                       [](const auto& a, const auto& b) { return a.offer->name == b.offer->name; });
  if (same != types.end()) return wrong_offer(*same->offer, "name", "is given twice");
  return types;
}

template <class Name>
error no_such(std::string_view kind, const std::string& name, std::uint32_t slots, Name name_of) {
  std::vector<std::string_view> known;
  for (std::uint32_t i = 0; i < slots; ++i) {
    if (const std::string_view one = name_of(i); !one.empty()) known.push_back(one);
  }
  std::string message = "there is no " + std::string(kind) + " '" + base::shown(name) + "'";
  if (const std::string_view nearest = base::nearest_name(name, known); !nearest.empty())
    message += "; did you mean '" + std::string(nearest) + "'?";
  return {status::not_found, std::move(message), {}};
}

/// By group slot: it was asked about.
result<std::vector<bool>> asked_about(const cluster_state& s, const scale_question& question) {
  std::vector<bool> asked(s.group_slots, question.queues.empty() && question.groups.empty());
  std::set<std::string_view> queues(question.queues.begin(), question.queues.end());
  std::set<std::string_view> groups(question.groups.begin(), question.groups.end());
  const auto queue_name = [&](std::uint32_t q) {
    return (*s.queues)[q].live ? (*s.queues)[q].name : std::string_view{};
  };
  const auto group_name = [&](std::uint32_t g) { return s.groups[g].live ? s.group_names[g] : std::string_view{}; };
  const auto queue_slots = static_cast<std::uint32_t>(s.queues->size());
  std::set<std::string_view> unknown = queues;
  for (std::uint32_t q = 0; q < queue_slots; ++q) unknown.erase(queue_name(q));
  if (!unknown.empty()) return no_such("queue", std::string(*unknown.begin()), queue_slots, queue_name);
  unknown = groups;
  for (group_row g = 0; g < s.group_slots; ++g) {
    if (!s.groups[g].live) continue;
    unknown.erase(s.group_names[g]);
    if (groups.contains(s.group_names[g])) asked[g] = true;
    for (queue_row q = s.groups[g].queue; q != no_row; q = (*s.queues)[q].parent) {
      if (queues.contains((*s.queues)[q].name)) asked[g] = true;
    }
  }
  if (!unknown.empty()) return no_such("pod group", std::string(*unknown.begin()), s.group_slots, group_name);
  return asked;
}

std::vector<pod_row> waiting_of(const cluster_state& s, group_row group) {
  std::vector<pod_row> waiting;
  const model::group_core& g = s.groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      if (static_cast<pod_status>(s.live.pod_state[p]) == pod_status::pending) waiting.push_back(p);
    }
  }
  return waiting;
}

/// Pods that get a place.
std::size_t places_in(std::span<const decision> made) {
  std::set<pod_row> pods;
  for (const decision& d : made) {
    if (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline) pods.insert(d.pod);
  }
  return pods.size();
}

}  // namespace

result<session> decide_places(const engine& with, const snapshot& over, std::int64_t now) {
  result<session> opened = with.open(over, now);
  if (!opened) return opened;
  std::vector<std::string> actions;
  bool in_cycles = false;  // an action that may serve the first of a queue only, and the next one the next time
  for (const std::string& name : with.options().actions) {
    for (const session_detail::action_entry& entry : session_detail::action_list()) {
      const bool places = entry.kind == action_kind::allocate || entry.kind == action_kind::backfill;
      if (entry.name != name || !places) continue;
      actions.push_back(name);
      in_cycles = in_cycles || !entry.asks_groups;
    }
  }
  if (actions.empty()) actions.emplace_back("allocate");
  std::size_t before = 0;
  do {
    before = places_in(opened->decisions());
    for (const std::string& name : actions) {
      if (auto done = opened->run(name); !done) return done.failure();
    }
  } while (in_cycles && places_in(opened->decisions()) > before);
  return opened;
}

result<scale_subject> make_subject(const engine& with, const snapshot& base, std::int64_t now,
                                   const node_offers& offers, const scale_question& question) {
  if (question.verifications == 0) return error{status::argument, "verifications: at least one has to be allowed", {}};
  result<std::vector<offered_type>> types = types_of(offers, base);
  if (!types) return types.failure();
  const result<std::vector<bool>> asked = asked_about(model::state_of(base), question);
  if (!asked) return asked.failure();
  const result<session> decided = decide_places(with, base, now);
  if (!decided) return decided.failure();
  scale_subject of{with, question, now, offers.nodes, std::move(*types), cluster(base), {}, {}, {}};
  if (auto done = of.world.assume(*decided); !done) return done.failure();
  of.waits = of.world.take_snapshot();
  const cluster_state& s = model::state_of(of.waits);
  const model::open_dependencies after_others = model::find_open_dependencies(s);
  for (const group_row g : *s.pending_groups) {
    if (after_others.contains(g)) continue;  // asks for nothing yet
    wanted_group one{g, waiting_of(s, g)};
    if (one.waiting.empty()) continue;
    if ((*asked)[g]) of.wanted.push_back(one);
    of.all.push_back(std::move(one));
  }
  return of;
}

bool could_hold(const model::pod_class& ask, const node_info& node, std::uint32_t dims) {
  const session_detail::node_demand has = session_detail::missing(ask, node, dims);
  return has.amounts && has.labels && has.taints;
}

std::int64_t pods_on(const model::pod_class& ask, const node_info& node, std::uint32_t dims) {
  std::int64_t fit = max_amount;
  for (std::uint32_t d = 0; d < dims; ++d) {
    const std::int64_t has = d < node.capacity.size() ? node.capacity[d] : 0;
    if (ask.requests(d) > 0) fit = std::min(fit, has / ask.requests(d));
  }
  return std::max<std::int64_t>(fit, 1);
}

std::int64_t most_of(const scale_subject& of, std::size_t type) {
  std::int64_t pods = 0;
  for (const wanted_group& one : of.all) pods += std::ssize(one.waiting);
  return std::min(of.types[type].offer->most, pods);
}

// ---- nodes that are added

node_maker::node_maker(const scale_subject& of) : of_(of), names_(of.types.size()), tried_(of.types.size()) {
  for (const auto& node : *model::state_of(of.waits).nodes) taken_.insert(node->name);
}

std::string node_maker::name(std::size_t type, std::int64_t n) {
  std::vector<std::string>& names = names_[type];
  while (std::ssize(names) <= n) {
    std::string next = of_.types[type].offer->name + "+" + std::to_string(++tried_[type]);
    if (!taken_.contains(next)) names.push_back(std::move(next));
  }
  return names[static_cast<std::size_t>(n)];
}

const std::string& node_maker::domain(std::size_t type, const std::string& label, std::int64_t n) {
  domain_names& of = domains_[{type, label}];
  if (of.tried == 0) {
    for (const auto& node : *model::state_of(of_.waits).nodes) {
      if (const std::string* value = model::find_label(node->labels, label)) of.taken.insert(*value);
    }
  }
  while (std::ssize(of.made) <= n) {
    std::string next = of_.types[type].offer->name + "+" + std::to_string(++of.tried);
    if (!of.taken.contains(next)) of.made.push_back(std::move(next));
  }
  return of.made[static_cast<std::size_t>(n)];
}

std::vector<table> node_maker::tables(const node_counts& counts) {
  std::vector<table> all;
  for (std::size_t t = 0; t < counts.size(); ++t) {
    const offered_type& type = of_.types[t];
    // Labels that hold the name of a node are renamed with it; that of a type is no such label.
    node_info like = *type.like;
    like.name += '+';
    while (std::any_of(like.labels.begin(), like.labels.end(), [&](const auto& l) { return l.second == like.name; }))
      like.name += '+';
    for (auto& [key, value] : like.labels) {
      if (key == "kubernetes.io/hostname") value = like.name;
    }
    std::int64_t alike = counts[t];  // nodes in a row with the same labels
    for (const new_domain& one : type.offer->domains) alike = std::min(alike, one.nodes);
    for (std::int64_t n = 0; n < counts[t];) {
      std::int64_t end = std::min(counts[t], n + alike);
      std::map<std::string, std::string> labels(like.labels.begin(), like.labels.end());
      for (const new_domain& one : type.offer->domains) {
        labels[one.label] = domain(t, one.label, n / one.nodes);
        end = std::min(end, (n / one.nodes + 1) * one.nodes);
      }
      node_info copy = like;
      copy.labels.assign(labels.begin(), labels.end());
      std::vector<std::string> names;
      for (; n < end; ++n) names.push_back(name(t, n));
      for (table& one : model::copies_of_node(model::state_of(of_.nodes), copy, names)) all.push_back(std::move(one));
    }
  }
  return all;
}

// ---- trials

bool scale_trial::is_as_good_as(const scale_trial& other) const {
  if (leave > other.leave) return false;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (placed[i] < other.placed[i]) return false;
  }
  return true;
}

std::int64_t cost_of(const scale_subject& of, const node_counts& counts) {
  std::int64_t cost = 0;
  for (std::size_t t = 0; t < counts.size(); ++t) cost += of.types[t].offer->price * counts[t];  // see check_prices
  return cost;
}

bool is_better(const scale_subject& of, const node_counts& a, const node_counts& b) {
  std::int64_t nodes_a = 0;
  std::int64_t nodes_b = 0;
  for (const std::int64_t n : a) nodes_a += n;
  for (const std::int64_t n : b) nodes_b += n;
  return std::tuple(cost_of(of, a), nodes_a, a) < std::tuple(cost_of(of, b), nodes_b, b);
}

scale_trial scale_trials::count(const session& then, const node_counts& counts) {
  const snapshot& over = then.base();
  scale_trial made;
  made.placed.assign(of_.wanted.size(), 0);
  made.used.assign(counts.size(), 0);
  std::map<group_row, std::size_t> index;
  for (std::size_t i = 0; i < of_.wanted.size(); ++i) index.emplace(of_.wanted[i].group, i);
  std::set<pod_row> placed;
  std::set<std::string_view> nodes;
  for (const decision& d : then.decisions()) {
    if (d.pod == no_row) continue;
    const bool place = d.kind == decision_kind::bind || d.kind == decision_kind::pipeline;
    if (!place) ++made.leave;
    if (place) nodes.insert(over.node_name(d.node));
    if (!place || !placed.insert(d.pod).second) continue;
    const auto found = index.find(d.group);
    ++(found == index.end() ? made.others : made.placed[found->second]);
  }
  for (std::size_t t = 0; t < counts.size(); ++t) {
    for (std::int64_t n = 0; n < counts[t]; ++n) made.used[t] += nodes.contains(maker_.name(t, n)) ? 1 : 0;
  }
  return made;
}

result<scale_trials::whole> scale_trials::decide(const node_counts& counts) {
  if (auto on = of_.go_on(); !on) return on.failure();
  ++made_;
  result<snapshot> over = of_.world.preview(maker_.tables(counts));
  if (!over) return over.failure();
  result<session> then = decide_places(of_.with, *over, of_.now);
  if (!then) return then.failure();
  scale_trial came_to = count(*then, counts);
  return whole{std::move(*over), std::move(*then), std::move(came_to)};
}

result<scale_trial> scale_trials::attempt(const node_counts& counts) {
  if (const auto known = known_.find(counts); known != known_.end()) return known->second;
  if (left() <= kept_) return error{status::limit, "not searched further", {}};
  result<whole> made = decide(counts);
  if (!made) return made.failure();
  known_.emplace(counts, made->came_to);
  return std::move(made->came_to);
}

}  // namespace engine_detail

result<node_offers> make_offers(const snapshot& over, std::span<const table_view> nodes, std::vector<node_type> types) {
  for (const table_view& one : nodes) {
    const auto kind = table_kind{one.kind};
    const bool known = kind == table_kind::node || kind == table_kind::device || kind == table_kind::numa_zone;
    if (!known || one.op != static_cast<std::uint32_t>(table_op::add))
      return error{status::unsupported, "offers take tables that add nodes, devices and NUMA zones", {}};
  }
  result<table> resources = over.to_table(table_kind::resource);
  if (!resources) return resources.failure();
  resources->set_op(static_cast<std::uint32_t>(table_op::add));
  cluster all;
  if (auto done = all.apply(std::span<const table>(&*resources, 1)); !done) return done.failure();
  if (auto done = all.apply(nodes); !done) return done.failure();
  node_offers offers{all.take_snapshot(), std::move(types)};
  for (const node_type& type : offers.types) {
    const std::shared_ptr<const model::node_info> like = engine_detail::like_of(model::state_of(offers.nodes), type);
    if (like == nullptr) return engine_detail::wrong_offer(type, "node", "is missing: there is none of this name");
    if (like->capacity.size() <= dim_pods || like->capacity[dim_pods] == 0)
      return engine_detail::wrong_offer(type, "capacity", "has no room for pods: pods is not given");
  }
  return offers;
}

}  // namespace kaisched
