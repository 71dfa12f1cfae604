#include <algorithm>
#include <array>
#include <utility>

#include <kaisched/federation.hpp>

#include "base/saturating.hpp"
#include "base/text.hpp"
#include "federation/federation_impl.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched {

using federation_detail::line;
using federation_detail::member;
using federation_detail::record;

namespace {

constexpr std::int64_t most_weight = 1'000'000;
constexpr std::int64_t most_data = std::int64_t{1} << 40;

error no_member(std::string_view name) {
  return {status::not_found, "there is no member '" + base::shown(name) + "'", {}};
}
error no_group(std::string_view name) {
  return {status::not_found, "there is no pod group '" + base::shown(name) + "' in the federation", {}};
}

result<void> check(const member_info& about) {
  if (about.name.empty()) return error{status::argument, "member: name: is empty", {}};
  if (about.price < 0 || about.price > max_amount)
    return error{status::argument, "member '" + base::shown(about.name) + "': price: is not between 0 and 2^52", {}};
  return {};
}

/// What the other code takes for granted about a summary that was made elsewhere.
result<void> check(std::string_view name, const cluster_summary& of) {
  const auto wrong = [&](std::string_view what) {
    return error{status::argument, "summary of member '" + base::shown(name) + "': " + std::string(what), {}};
  };
  const std::size_t dims = of.dimensions.size();
  const auto are_amounts = [](const std::vector<std::int64_t>& all) {
    return std::all_of(all.begin(), all.end(), [](std::int64_t one) { return one >= 0 && one <= max_amount; });
  };
  constexpr std::int64_t most_nodes = std::int64_t{1} << 31;
  if (dims < built_in_dimensions || dims > max_dimensions)
    return wrong("dimensions: cpu, memory, gpu, pods come first");
  for (const node_kind& kind : of.kinds) {
    if (kind.capacity.size() != dims || !are_amounts(kind.capacity)) return wrong("kinds: capacity");
    if (kind.nodes < 0 || kind.nodes > most_nodes) return wrong("kinds: nodes");
    if (kind.devices < 0 || kind.devices > max_amount) return wrong("kinds: devices");
  }
  for (const free_nodes& one : of.free) {
    if (one.kind >= of.kinds.size()) return wrong("free: kind");
    if (one.most.size() != dims || !are_amounts(one.most)) return wrong("free: most");
    if (one.nodes < 0 || one.nodes > most_nodes) return wrong("free: nodes");
    if (one.devices < 0 || one.devices > max_amount) return wrong("free: devices");
  }
  for (const domain_room& one : of.domains) {
    if (one.devices < 1 || one.devices > max_amount) return wrong("domains: devices");
    for (const auto* rooms : {&one.free, &one.empty}) {
      if (!std::is_sorted(rooms->begin(), rooms->end())) return wrong("domains: rooms rise");
      for (const auto& [pods, count] : *rooms) {
        if (pods < 1 || pods > max_amount || count < 1 || count > most_nodes) return wrong("domains: rooms");
      }
    }
  }
  for (const queue_summary& one : of.queues) {  // limits over all members would not hold
    for (const std::int64_t amount : one.allocated) {
      if (amount < 0) return wrong("queues: allocated");
    }
  }
  if (std::min({of.nodes, of.gpu, of.free_gpu, of.largest_node_devices, of.waiting_gpu, of.waiting_pods}) < 0)
    return wrong("a count is negative");
  const auto by_name = [](const queue_summary& a, const queue_summary& b) { return a.name < b.name; };
  if (!std::is_sorted(of.queues.begin(), of.queues.end(), by_name)) return wrong("queues: come by name");
  if (!std::is_sorted(of.unknown_labels.begin(), of.unknown_labels.end())) return wrong("unknown_labels: come by name");
  return {};
}

}  // namespace

// ---- body

std::vector<std::string> federation_detail::body::dimensions() {
  std::vector<std::string> names;
  for (const std::string_view one : queues.take_snapshot().dimension_names()) names.emplace_back(one);
  return names;
}

void federation_detail::body::map_dimensions(member& to) {
  to.dimension.clear();
  const std::vector<std::string>& theirs = to.book.summary().dimensions;
  for (const std::string& name : dimensions()) {
    const auto at = std::find(theirs.begin(), theirs.end(), name);
    to.dimension.push_back(at == theirs.end() ? no_row : static_cast<std::uint32_t>(at - theirs.begin()));
  }
}

result<void> federation_detail::body::add(member one) {
  if (auto sound = check(one.about); !sound) return sound;
  std::string name = one.about.name;
  if (members.contains(name))
    return error{status::duplicate, "there is a member '" + base::shown(name) + "' already", {}};
  members.emplace(std::move(name), std::move(one));
  return {};
}

result<void> federation_detail::body::refresh(member& one, std::int64_t now) {
  result<cluster_summary> made = one.maker.make(*one.with, one.state->take_snapshot(), now, options.summary);
  if (!made) return made.failure();
  one.book = federation_detail::member_book(std::move(*made), dimensions());
  map_dimensions(one);
  return {};
}

line federation_detail::body::make_line(const snapshot& of) {
  std::int64_t total = 0;
  for (const auto& [name, one] : members) total = base::saturating_add(total, one.book.summary().gpu);
  line made(model::state_of(of), total);
  for (const auto& [name, one] : members) {
    for (const queue_summary& queue : one.book.summary().queues)
      made.add_held(queue.name, {queue.allocated[0], queue.allocated[1], queue.allocated[2]});
  }
  for (const std::string& name : uncounted) {
    const record& one = groups.find(name)->second;
    made.charge(one.queue, one.demand.amounts, 1);
  }
  return made;
}

void federation_detail::body::set_stage(record& one, group_stage stage, std::string_view at, bool counted) {
  one.stage = stage;
  one.member = at;
  one.is_uncounted = !counted;
  if (counted) uncounted.erase(one.name);
  if (!counted) uncounted.insert(one.name);
}

void federation_detail::body::erase(std::string_view group) {
  const auto at = groups.find(group);
  federation_detail::release(at->second.demand, pool);
  uncounted.erase(at->second.name);
  groups.erase(at);
}

// ---- members

federation::federation(federation_options options)
    : impl_(std::make_unique<federation_detail::body>(std::move(options))) {}
federation::~federation() = default;
federation::federation(federation&&) noexcept = default;
federation& federation::operator=(federation&&) noexcept = default;

void federation::set_executor(std::shared_ptr<executor> threads) {
  impl_->threads = base::parallel(std::move(threads));
}

result<void> federation::add_member(member_info about, std::shared_ptr<cluster> state,
                                    std::shared_ptr<const engine> with) {
  if (state == nullptr || with == nullptr)
    return error{status::argument, "member '" + base::shown(about.name) + "': has no cluster or no engine", {}};
  return impl_->add({std::move(about), std::move(state), std::move(with), {}, {}, {}, false});
}

result<void> federation::add_member(member_info about, cluster_summary known) {
  if (auto sound = check(about.name, known); !sound) return sound;
  member one{std::move(about), nullptr, nullptr, {}, {}, {}, false};
  one.book = federation_detail::member_book(std::move(known), impl_->dimensions());
  return impl_->add(std::move(one));
}

result<void> federation::change_member(member_info about) {
  const auto at = impl_->members.find(about.name);
  if (at == impl_->members.end()) return no_member(about.name);
  if (auto sound = check(about); !sound) return sound;
  at->second.about = std::move(about);
  return {};
}

result<void> federation::update_member(std::string_view name, cluster_summary known) {
  const auto at = impl_->members.find(name);
  if (at == impl_->members.end()) return no_member(name);
  if (at->second.is_here())
    return error{status::state, "member '" + base::shown(name) + "' is in this process: its summary is its own", {}};
  if (auto sound = check(name, known); !sound) return sound;
  at->second.book = federation_detail::member_book(std::move(known), impl_->dimensions());
  for (auto& [group, one] : impl_->groups) {
    one.refused_offers.erase(at->first);
    if (one.member != name) continue;
    if (one.stage == group_stage::offered) at->second.book.charge(one.demand, impl_->pool, one.queue);
    if (one.stage == group_stage::runs) impl_->set_stage(one, group_stage::runs, name, true);
  }
  return {};
}

result<std::vector<std::string>> federation::lose_member(std::string_view name) {
  const auto at = impl_->members.find(name);
  if (at == impl_->members.end()) return no_member(name);
  std::vector<std::string> back;
  for (auto& [group, one] : impl_->groups) {
    one.refused_offers.erase(at->first);
    if (one.stage == group_stage::waits || one.member != name) continue;
    impl_->set_stage(one, group_stage::waits, {}, true);
    back.push_back(group);
  }
  impl_->members.erase(at);
  return back;
}

std::vector<std::string> federation::member_names() const {
  std::vector<std::string> names;
  for (const auto& [name, one] : impl_->members) names.push_back(name);
  return names;
}

result<cluster_summary> federation::summary(std::string_view name, std::int64_t now) {
  const auto at = impl_->members.find(name);
  if (at == impl_->members.end()) return no_member(name);
  if (at->second.is_here()) {
    if (auto done = impl_->refresh(at->second, now); !done) return done.failure();
  }
  return at->second.book.summary();
}

// ---- groups

result<void> federation::submit(std::span<const table> tables) {
  std::vector<table_view> views;
  for (const table& one : tables) views.push_back(one.view());
  return submit(views);
}

result<void> federation::submit(std::span<const table_view> tables) {
  std::vector<table_view> of_queues;
  for (const table_view& one : tables) {
    if (one.rows == 0) continue;
    const auto kind = table_kind{one.kind};
    const bool is_group = federation_detail::is_group_table(one.kind);
    const bool adds = one.op == static_cast<std::uint32_t>(table_op::add);
    if (!is_group && kind != table_kind::queue && kind != table_kind::resource && kind != table_kind::topology)
      return error{status::unsupported, "a federation takes resources, topologies, queues and whole pod groups", {}};
    if (!adds && kind != table_kind::queue)
      return error{status::unsupported, "a federation adds groups, resources and topologies; groups are withdrawn", {}};
    if (!is_group) of_queues.push_back(one);
  }
  const result<snapshot> read = impl_->queues.preview(tables);
  if (!read) return read.failure();
  result<std::map<std::string, federation_detail::group_rows>> rows = federation_detail::rows_by_group(tables);
  if (!rows) return rows.failure();
  const model::cluster_state& s = model::state_of(*read);
  const auto groups_of = [&](const auto& act) -> result<void> {
    for (group_row g = 0; g < s.group_slots; ++g) {
      if (!s.groups[g].live) continue;
      if (auto done = act(g, std::string(s.group_names[g])); !done) return done;
    }
    return {};
  };
  const result<void> sound = groups_of([&](group_row, const std::string& name) -> result<void> {
    if (!impl_->groups.contains(name)) return {};
    return error{status::duplicate, "there is a pod group '" + base::shown(name) + "' in the federation already", {}};
  });
  if (!sound) return sound;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live) continue;
    const auto state = static_cast<pod_status>(s.live.pod_state[p]);
    const bool waits = state == pod_status::pending || state == pod_status::gated;
    if (!waits || s.pods[p].group == no_row)
      return error{status::argument,
                   "pod '" + base::shown(s.pod_names[p]) + "': " + (waits ? "has no pod group" : "does not wait"),
                   {}};
  }
  if (!of_queues.empty()) {
    if (auto done = impl_->queues.apply(of_queues); !done) return done;
    for (auto& [name, one] : impl_->members) {  // there may be other dimensions
      if (!one.is_here()) one.book = federation_detail::member_book(one.book.summary(), impl_->dimensions());
    }
    for (auto& [name, one] : impl_->groups) {
      const auto at = impl_->members.find(one.member);
      if (one.stage == group_stage::offered && at != impl_->members.end())
        at->second.book.charge(one.demand, impl_->pool, one.queue);
    }
  }
  return groups_of([&](group_row g, const std::string& name) -> result<void> {
    record& one = impl_->groups[name];
    one.name = name;
    const queue_row queue = s.groups[g].queue;
    if (queue != no_row) one.queue = (*s.queues)[queue].name;
    one.priority = s.groups[g].priority;
    one.created = s.groups[g].created;
    one.rows = std::move((*rows)[name]);
    one.demand = federation_detail::demand_of(s, g, impl_->pool);
    return {};
  });
}

result<void> federation::wish(std::string_view group, group_wishes wishes) {
  const auto at = impl_->groups.find(group);
  if (at == impl_->groups.end()) return no_group(group);
  const auto wrong = [&](std::string_view what) {
    return error{status::argument, "wishes of pod group '" + base::shown(group) + "': " + std::string(what), {}};
  };
  for (const preferred_label& one : wishes.preferred) {
    if (one.weight < 1 || one.weight > most_weight) return wrong("preferred: weight: is not between 1 and 1,000,000");
  }
  for (const wanted_data& one : wishes.data) {
    if (one.weight < 1 || one.weight > most_data) return wrong("data: weight: is not between 1 and 2^40");
  }
  constexpr std::size_t most_wishes = 1000;
  if (std::max({wishes.preferred.size(), wishes.data.size(), wishes.required.size()}) > most_wishes)
    return wrong("there are more than 1,000 of a kind");
  if (wishes.most_price < 0 && wishes.most_price != unlimited) return wrong("most_price: is negative");
  std::sort(wishes.members.begin(), wishes.members.end());
  at->second.wishes = std::move(wishes);
  return {};
}

result<void> federation::withdraw(std::span<const std::string_view> groups) {
  std::map<std::string, std::vector<std::string_view>, std::less<>> by_member;
  for (const std::string_view name : groups) {
    const auto at = impl_->groups.find(name);
    if (at == impl_->groups.end()) return no_group(name);
    if (at->second.stage != group_stage::waits) by_member[at->second.member].push_back(name);
  }
  for (const auto& [name, names] : by_member) {
    const auto at = impl_->members.find(name);
    if (at == impl_->members.end() || !at->second.is_here()) continue;
    if (auto done = federation_detail::remove_groups(*at->second.state, names); !done) return done;
  }
  for (const std::string_view name : groups) {
    if (impl_->groups.contains(name)) impl_->erase(name);
  }
  return {};
}

result<void> federation::answer(std::string_view group, bool accepted) {
  const auto at = impl_->groups.find(group);
  if (at == impl_->groups.end()) return no_group(group);
  record& one = at->second;
  if (one.stage != group_stage::offered)
    return error{status::state, "pod group '" + base::shown(group) + "' is not offered to a member", {}};
  if (accepted) {
    impl_->set_stage(one, group_stage::runs, std::string(one.member), false);
  } else {
    one.refused_offers.insert(one.member);
    impl_->set_stage(one, group_stage::waits, {}, true);
  }
  return {};
}

result<std::pair<group_stage, std::string>> federation::stage(std::string_view group) const {
  const auto at = impl_->groups.find(group);
  if (at == impl_->groups.end()) return no_group(group);
  return std::pair(at->second.stage, at->second.member);
}

std::vector<federated_queue> federation::queues(std::int64_t now) {
  for (auto& [name, one] : impl_->members) {
    if (one.is_here()) (void)impl_->refresh(one, now);  // who fails counts with what was known last
  }
  const snapshot tree = impl_->queues.take_snapshot();
  const model::cluster_state& s = model::state_of(tree);
  const line held = impl_->make_line(tree);
  std::vector<federated_queue> all;
  for (const model::queue_info& info : *s.queues) {
    if (!info.live) continue;
    federated_queue& one = all.emplace_back();
    one.name = info.name;
    if (info.parent != no_row) one.parent = (*s.queues)[info.parent].name;
    for (std::uint32_t d = 0; d < quota_dimensions; ++d) {
      one.quota[d] = info.quota[d];
      one.limit[d] = info.limit[d];
      one.allocated[d] = held.held(info.name)[d];
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace kaisched
