#include "framework/node_choice.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "framework/session_state.hpp"
#include "model/account.hpp"
#include "policy/claims/ledger.hpp"
#include "policy/devices/links/link_choice.hpp"
#include "policy/parts.hpp"

namespace kaisched::framework {

namespace {

using policy::free_amount;

constexpr int any_node = -1;
constexpr std::int64_t most_idle = 1024;    ///< GPUs of one node that are told apart
constexpr std::size_t least_ordered = 48;   ///< nodes of a band; fewer are looked at one by one
constexpr std::size_t passes_per_pool = 2;  ///< a pool is made when all nodes have been passed over so often
constexpr std::size_t least_verdicts_per_thread = 1024;  ///< of nodes on classes: some 50 microseconds
constexpr std::size_t most_prepared = 64U << 20U;        ///< verdicts that are made before anybody asks for them
constexpr double largest_spread = 500;                   ///< half of what availability adds
constexpr double most_gpus = 1e4;                        ///< beyond these, scores that differ may round to one sum
constexpr double most_milli_cores = 3e6;

/// Doubles in their order as integers.
std::int64_t ordered_bits(double value) {
  const auto bits = std::bit_cast<std::int64_t>(value == 0 ? 0.0 : value);
  return bits >= 0 ? bits : std::numeric_limits<std::int64_t>::min() - bits;
}

std::int64_t free_of(const session_state& c, node_row row, dimension d) {
  const std::size_t at = static_cast<std::size_t>(row) * c.state().dims() + d;
  return (*c.live.idle)[at] + (*c.live.releasing)[at];
}

/// Of devices that nobody has a part of, in milli-GPU; what the node has free where its devices are not tracked.
std::int64_t free_whole_gpus(const session_state& c, node_row row) {
  const model::cluster_state& s = c.state();
  const device_row first = (*s.first_device)[row];
  const device_row last = (*s.first_device)[row + 1];
  if (first == last) return (*c.live.idle)[static_cast<std::size_t>(row) * s.dims() + dim_gpu];
  std::int64_t sum = 0;
  for (device_row d = first; d < last; ++d) {
    sum += (*c.live.device_free)[d] >= (*s.device_units)[d] ? whole_device : 0;
  }
  return sum;
}

}  // namespace

void node_choice::open(const session_state& c) {
  predicates_ = c.has("predicates");
  resource_type_ = c.has("resourcetype");
  nominated_ = c.has("nominatednode");
  devices_ = {c.has("gpupack"), c.has("gpuspread")};
  sharing_ = c.has("gpusharingorder");
  const model::cluster_state& s = c.state();
  classes_.assign(s.class_slots, {});
  pools_ = {};
  static constexpr std::string_view lexicographic[] = {"nodeavailability", "nodeplacement", "resourcetype",
                                                       "nominatednode",    "topology",      "gpusharingorder"};
  fast_ = !c.options.reference_path && c.has("nodeavailability") && c.has("nodeplacement");
  for (const auto& part : c.parts) {
    const bool known =
        std::find(std::begin(lexicographic), std::end(lexicographic), part->name()) != std::end(lexicographic);
    if (part->name() == "numa" && c.access.zones == nullptr) continue;
    // Pods that these look at are placed by scanning.
    if (part->name() == "dynamicresources" || part->name() == "vendordevices") continue;
    if (part->name() == "topologyspread" || part->name() == "interpodaffinity") continue;
    if (part->name() == "powercap") continue;  // asked about each node that is tried
    if ((part->capabilities() & part_scores_nodes) != 0 && !known) fast_ = false;
    if ((part->capabilities() & part_filters_nodes) != 0 && !policy::is_built_in_filter(part->name())) fast_ = false;
  }
  spread_gpu_ = {};
  spread_cpu_ = {};
  sharing_indexes_.clear();
  idle_ = {};
  without_gpus_.clear();
  class_scores_.forget();
  order_of_changes_.close();
  by_class_ = !fast_ && are_scores_kept(c);
  if (by_class_) order_of_changes_.open(s.node_count());
  if (!fast_) return;
  if (c.options.gpu_placement == placement_strategy::spread) open_spread(c, spread_gpu_, dim_gpu);
  if (c.options.cpu_placement == placement_strategy::spread) open_spread(c, spread_cpu_, dim_cpu);
}

/// All scores depend on class and node alone, for pods that no claims, vendors, promises, topologies or other pods
/// concern.
bool node_choice::are_scores_kept(const session_state& c) const {
  static constexpr std::string_view of_few_pods[] = {"nominatednode", "topology",       "dynamicresources",
                                                     "vendordevices", "topologyspread", "interpodaffinity",
                                                     "powercap"};
  if (c.options.reference_path || c.compat() || c.constraints.has(policy::trait_depends_on_other_nodes)) return false;
  return std::all_of(c.parts.begin(), c.parts.end(), [&](const auto& part) {
    const std::uint32_t offers = part->capabilities();
    const bool is_known =
        std::find(std::begin(of_few_pods), std::end(of_few_pods), part->name()) != std::end(of_few_pods);
    if (is_known || part->name() == "predicates") return true;
    if (part->name() == "numa") return c.access.zones == nullptr;
    if ((offers & part_filters_nodes) != 0) return false;
    return (offers & part_scores_nodes) == 0 || (offers & part_scores_by_class) != 0;
  });
}

std::uint32_t node_choice::whole_gpus_idle(const session_state& c, node_row row) {
  const std::int64_t idle = (*c.live.idle)[static_cast<std::size_t>(row) * c.state().dims() + dim_gpu];
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(idle / whole_device, 0, most_idle));
}

void node_choice::idle_counts::put(node_row row, std::uint32_t gpus) {
  if (gpus >= nodes.size()) nodes.resize(std::size_t{gpus} + 1, 0);
  ++nodes[gpus];
  of_node[row] = gpus;
}

bool node_choice::may_be_idle(const session_state& c, std::int64_t gpus) {
  if (idle_.of_node.empty()) {
    idle_.of_node.resize(c.state().node_count());
    for (node_row row = 0; row < c.state().node_count(); ++row) idle_.put(row, whole_gpus_idle(c, row));
  }
  const auto least = static_cast<std::size_t>(std::clamp<std::int64_t>(gpus / whole_device, 0, most_idle));
  return std::any_of(idle_.nodes.begin() + static_cast<std::ptrdiff_t>(std::min(least, idle_.nodes.size())),
                     idle_.nodes.end(), [](std::uint32_t nodes) { return nodes > 0; });
}

void node_choice::band_order::close() {
  if (band == nullptr) return;
  band = nullptr;
  for (const model::node_index::entry& one : index) key[one.row] = absent;
  index.assign({});
}

void node_choice::order_band(const session_state& c, const node_band& rows, dimension d) {
  if (order_.band == &rows && order_.d == d) {
    if (!order_.index.is_settled()) order_.index.settle();
    return;
  }
  order_.close();
  order_.band = &rows;
  order_.d = d;
  order_.key.resize(c.state().node_count(), absent);
  std::vector<model::node_index::entry> entries;
  entries.reserve(rows.size());
  for (const node_row row : rows) {
    order_.key[row] = free_of(c, row, d);
    entries.push_back({order_.key[row], (*c.state().name_rank)[row], row});
  }
  order_.index.assign(std::move(entries));
}

void node_choice::forget_classes(const session_state& c) {
  classes_.assign(c.state().class_slots, {});
  pools_ = {};
  class_scores_.forget();
}

void node_choice::spread_index::set_key(node_row row, std::int64_t value, bool is_broken) {
  key[row] = value;
  broken_nodes += (is_broken ? 1U : 0U) - (broken[row] ? 1U : 0U);
  broken[row] = is_broken;
}

void node_choice::update_spread(const session_state& c, spread_index& spread, node_row row, dimension d) {
  const bool in_pieces = c.compat() && d == dim_gpu && free_of(c, row, d) % whole_device != 0;
  spread.set_key(row, -ordered_bits(policy::spread_score(c.view(), d, row)), in_pieces);
}

void node_choice::open_spread(const session_state& c, spread_index& spread, dimension d) {
  const model::cluster_state& s = c.state();
  spread.used = true;
  spread.key.resize(s.node_count());
  spread.broken.resize(s.node_count());
  std::vector<model::node_index::entry> entries;
  for (node_row row = 0; row < s.node_count(); ++row) {
    update_spread(c, spread, row, d);
    // Labels may count other GPUs than there are.
    const auto capacity = static_cast<double>((*s.capacity)[static_cast<std::size_t>(row) * s.dims() + d]);
    const double count = d == dim_gpu ? std::abs(policy::gpu_count(c.view(), row)) : capacity;
    const double amount = d == dim_gpu ? capacity / static_cast<double>(whole_device) : capacity;
    spread.lexicographic = spread.lexicographic && count <= (d == dim_gpu ? most_gpus : most_milli_cores) &&
                           (count == 0 || amount <= largest_spread * count);
    entries.push_back({spread.key[row], (*s.name_rank)[row], row});
  }
  spread.index.assign(std::move(entries));
}

void node_choice::node_changed(const session_state& c, node_row row) {
  ++changes_;
  if (by_class_) order_of_changes_.note(row);
  if (pools_.changes.is_open()) pools_.changes.note(row);
  if (!idle_.of_node.empty()) {
    --idle_.nodes[idle_.of_node[row]];
    idle_.put(row, whole_gpus_idle(c, row));
  }
  if (order_.band != nullptr && order_.key[row] != absent) {
    const std::int64_t now = free_of(c, row, order_.d);
    if (now != order_.key[row]) order_.index.move_later({order_.key[row], (*c.state().name_rank)[row], row}, now);
    order_.key[row] = now;
  }
  for (const auto& [spread, d] : {std::pair{&spread_gpu_, dim_gpu}, std::pair{&spread_cpu_, dim_cpu}}) {
    if (!spread->used) continue;
    const std::int64_t before = spread->key[row];
    update_spread(c, *spread, row, d);
    spread->index.move({before, (*c.state().name_rank)[row], row}, spread->key[row]);
  }
  for (sharing_index& one : sharing_indexes_) {
    const std::int64_t now = sharing_key(c, one, row);
    if (now == one.key[row]) continue;
    const std::uint32_t rank = (*c.state().name_rank)[row];
    if (one.key[row] != absent) one.index.drop({one.key[row], rank, row});
    if (now != absent) one.index.add({now, rank, row});
    one.key[row] = now;
  }
}

std::int64_t node_choice::sharing_key(const session_state& c, const sharing_index& of, node_row row) const {
  const model::pod_class& ask = *c.state().classes[of.like];
  if (!policy::has_shared_room(c.access, ask, row)) return absent;
  const spread_index& spread = ask.wants_gpu() ? spread_gpu_ : spread_cpu_;
  return spread.used ? spread.key[row] : free_of(c, row, ask.wants_gpu() ? dim_gpu : dim_cpu);
}

node_choice::sharing_index& node_choice::sharing_of(const session_state& c, const model::pod_class& ask,
                                                    class_row row) {
  for (sharing_index& one : sharing_indexes_) {
    if (one.share == (ask.is_shared() ? ask.device_share : 0) && one.memory == ask.ask.gpu_memory) return one;
  }
  sharing_index made;
  made.share = ask.is_shared() ? ask.device_share : 0;
  made.memory = ask.ask.gpu_memory;
  made.like = row;
  std::vector<model::node_index::entry> entries;
  for (node_row n = 0; n < c.state().node_count(); ++n) {
    made.key.push_back(sharing_key(c, made, n));
    if (made.key.back() != absent) entries.push_back({made.key.back(), (*c.state().name_rank)[n], n});
  }
  made.index.assign(std::move(entries));
  sharing_indexes_.push_back(std::move(made));
  return sharing_indexes_.back();
}

node_choice::class_facts& node_choice::facts(const session_state& c, class_row row) {
  class_facts& f = classes_[row];
  if (!f.known) {
    note_class(c, row);
    judge_nodes(c, std::span(&row, f.open_everywhere ? 0 : 1));
  }
  return f;
}

/// All that is known about a class but what nodes say.
void node_choice::note_class(const session_state& c, class_row row) {
  class_facts& f = classes_[row];
  const model::pod_class& ask = *c.state().classes[row];
  f.known = true;
  f.open_everywhere = !predicates_ || policy::accepts_every_node(c.access, ask);
  if (predicates_) f.cluster = policy::judge_cluster(c.access, ask);
}

void node_choice::judge_nodes(const session_state& c, std::span<const class_row> kinds) {
  const std::size_t nodes = c.state().node_count();
  for (const class_row kind : kinds) classes_[kind].accepted.resize(nodes);
  c.threads.ranges(kinds.size() * nodes, least_verdicts_per_thread, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last;) {
      const class_row kind = kinds[i / nodes];
      const model::pod_class& ask = *c.state().classes[kind];
      auto row = static_cast<node_row>(i % nodes);
      for (const std::size_t end = std::min(last, i - row + nodes); i < end; ++i, ++row) {
        classes_[kind].accepted[row] = policy::node_verdict(c.access, ask, row) == constraint::none ? 1 : 0;
      }
    }
  });
}

void node_choice::prepare(const session_state& c, std::span<const class_row> kinds) {
  if (!c.threads.is_used()) return;
  std::vector<class_row> asked;
  for (const class_row kind : kinds) {
    if (classes_[kind].known || asked.size() * c.state().node_count() >= most_prepared) continue;
    note_class(c, kind);
    if (!classes_[kind].open_everywhere) asked.push_back(kind);
  }
  judge_nodes(c, asked);
}

bool node_choice::may_go_anywhere(const session_state& c, pod_row pod) {
  const class_row row = c.state().pods[pod].pod_class;
  const class_facts& known = facts(c, row);
  return known.open_everywhere && known.cluster.what == constraint::none &&
         policy::ignores_other_pods(c.access, *c.state().classes[row]) && !c.constraints.concerns(c.access, pod) &&
         !c.constraints.needs_scores(c.access, pod) && c.state().pod_extras[pod].nominated == no_row;
}

std::optional<std::size_t> node_choice::places_for(session_state& c, class_row kind, std::size_t count) {
  const model::cluster_state& s = c.state();
  const model::pod_class& ask = *s.classes[kind];
  const bool whole_only =
      ask.whole_devices > 0 && !ask.is_shared() && ask.memory_devices == 0 && ask.claimed_devices == 0;
  // What KAI adds up in floating point an attempt changes, also where it is undone.
  if (!fast_ || !whole_only || c.constraints.has(policy::trait_not_by_amount) || c.adds_parts_up() ||
      needs_scan(c, ask) || c.access.groups->is_open() || c.queues.depend_on_node(ask) ||
      !policy::ignores_other_pods(c.access, ask)) {
    return std::nullopt;
  }
  class_facts& known = facts(c, kind);
  if (known.cluster.what != constraint::none) return std::nullopt;
  if (known.counted_for > 0 && known.counted_at == changes_) {
    if (known.counted_for == count) return known.places;
    // Then all nodes have been looked at.
    if (known.places && *known.places < known.counted_for) return std::min(*known.places, count);
  }
  known.places = count_places(c, ask, known, count);
  known.counted_at = changes_;
  known.counted_for = count;
  return known.places;
}

/// Up to `count`. Nothing, if what comes free is among them.
std::optional<std::size_t> node_choice::count_places(session_state& c, const model::pod_class& ask,
                                                     const class_facts& known, std::size_t count) const {
  const model::cluster_state& s = c.state();
  const std::size_t dims = s.dims();
  const std::vector<std::int64_t>& request = ask.ask.request;
  const model::node_index& index = c.nodes_by_gpu();
  std::size_t places = 0;
  for (auto at = index.first_at_least(request[dim_gpu]); at != index.end() && places < count; ++at) {
    if (!known.open_everywhere && known.accepted[at->row] == 0) continue;
    const std::int64_t* const idle = c.live.idle->data() + at->row * dims;
    const std::int64_t* const releasing = c.live.releasing->data() + at->row * dims;
    auto here = static_cast<std::int64_t>(count);
    bool comes_free = false;
    for (std::size_t d = 0; d < dims && here > 0; ++d) {
      const std::int64_t asked = d < request.size() ? request[d] : 0;
      const std::int64_t free = idle[d] + releasing[d];
      comes_free = comes_free || releasing[d] != 0;
      if (asked > 0)
        here = std::min(here, std::max<std::int64_t>(0, free) / asked);
      else if (c.compat() && free < 0)
        here = 0;
    }
    if (here == 0) continue;
    // What comes free is no device yet, and parts of devices are none.
    if (comes_free || idle[dim_gpu] != free_whole_gpus(c, at->row)) return std::nullopt;
    places += static_cast<std::size_t>(here);
  }
  return std::min(places, count);
}

/// Nodes with shared devices come first.
bool node_choice::draws_to_shared(const session_state& c, const model::pod_class& ask) const {
  return sharing_ && (c.compat() ? c.access.groups->is_open() && ask.whole_devices == 0 : ask.is_shared());
}

/// No index knows which nodes have instances of divided GPUs, or room on shared devices where these do not come first.
bool node_choice::needs_scan(const session_state& c, const model::pod_class& ask) const {
  return ask.mig_slices > 0 || (!sharing_ && c.access.in_groups(ask));
}

/// The pod has claims, of no GPUs, and nothing else for which all nodes have to be scored.
bool node_choice::needs_claims_only(const session_state& c, pod_row pod) const {
  const model::pod_class& ask = c.state().class_of(pod);
  return c.access.claims != nullptr && c.access.claims->has_claims(pod) && !c.access.claims->may_be_paid_for(pod) &&
         c.access.vendors == nullptr && c.access.zones == nullptr && c.access.power == nullptr &&
         c.access.loads == nullptr && policy::ignores_other_pods(c.access, ask) && ask.spread.empty() &&
         ask.preferences.empty() && ask.node_preferences.empty() && c.state().pod_extras[pod].nominated == no_row;
}

/// A pod that asks for no CPU may be placed on a node that is overdrawn in it, outside of what the index offers.
bool node_choice::may_use_overdrawn(session_state& c, const model::pod_class& ask) {
  if (c.compat() || ask.requests(dim_cpu) != 0) return false;
  const model::node_index& index = c.nodes_by_cpu();
  return !index.empty() && index.begin()->key < 0;
}

result<place> node_choice::best(session_state& c, pod_row pod, bool only_claims, const node_scope& scope) {
  const class_row row = c.state().pods[pod].pod_class;
  class_facts& known = facts(c, row);
  if (known.cluster.what != constraint::none) return place{};
  const model::pod_class& ask = *c.state().classes[row];
  among_ = scope.among;
  bands_ = scope.bands;
  closed_ = c.constraints.closed_to(c.state().pods[pod].group);
  only_claims_ = only_claims;
  asked_by_parts_ = false;
  refused_.clear();
  c.refusal = {};
  // Nothing came free since the class found no node: it finds none now.
  const bool scores = c.constraints.needs_scores(c.access, pod);
  const bool remembers = (fast_ || by_class_) && !scores && among_ == nullptr &&
                         !c.constraints.tells_apart(c.access, pod) && policy::ignores_other_pods(c.access, ask) &&
                         c.state().pod_extras[pod].nominated == no_row;
  if (remembers && known.failed_at == c.statement.frees + 1) return place{};
  const bool by_index =
      fast_ && (!scores || needs_claims_only(c, pod)) && !needs_scan(c, ask) &&
      (ask.wants_gpu() ? spread_gpu_.lexicographic && spread_gpu_.broken_nodes == 0
                       : spread_cpu_.lexicographic && c.state().nodes_without_cpu == 0 && !may_use_overdrawn(c, ask));
  // Among a few nodes asking all of them is cheaper than skipping all others.
  const bool by_class = by_class_ && !scores && among_ == nullptr && bands_ == nullptr &&
                        c.access.preferred == nullptr && (!nominated_ || c.state().pod_extras[pod].nominated == no_row);
  result<place> found = by_index   ? best_by_index(c, pod, known, only_claims)
                        : by_class ? best_by_class(c, pod, known, only_claims)
                                   : best_by_scan(c, pod, only_claims);
  // A place to wait for may be refused where a start is not.
  if (remembers && closed_.empty() && !(only_claims && c.constraints.has(policy::trait_waiting_may_need_more)) &&
      found && found->row == no_row && c.refusal.what == constraint::none)
    known.failed_at = c.statement.frees + 1;
  return found;
}

namespace {

/// Asks the parts that choose devices, in their order, until one names a device that has room.
model::device_chooser chooser_of(const session_state& c, pod_row pod, node_row row) {
  return [&c, pod, row](std::uint64_t fitting) {
    std::uint32_t wish = max_devices_per_node;
    for (const auto& part : c.parts) {
      if ((part->capabilities() & part_chooses_devices) == 0) continue;
      wish = part->choose_device(c.view(), pod, row, fitting);
      if (wish < max_devices_per_node && (fitting >> wish & 1U) != 0) break;
    }
    return wish;
  };
}

}  // namespace

bool node_choice::choose_devices(const session_state& c, pod_row pod, node_row row, free_amount which,
                                 place& found) const {
  const model::pod_class& ask = c.state().class_of(pod);
  const bool starts = which == free_amount::idle;
  found = {row, !starts, {}, {}};
  if (!c.access.in_groups(ask)) {
    const auto amount = starts ? model::device_amount::free_now : model::device_amount::free_or_releasing;
    // Made where it is asked only: it takes memory.
    const bool asks_parts = ask.is_shared() && !c.compat() && (c.capabilities & part_chooses_devices) != 0;
    const model::device_chooser chooser = asks_parts ? chooser_of(c, pod, row) : nullptr;
    const std::uint64_t allowed = c.constraints.devices_for(c.access, ask, row, which);
    if (model::choose_devices(c.state(), c.live, ask, row, amount, !c.compat(), found.devices, device_order(),
                              asks_parts ? &chooser : nullptr, allowed)) {
      if (c.options.devices != device_choice::index) {
        policy::choose_linked(c.state(), c.live, ask, row, c.access.zones, found.devices);
      }
      return true;
    }
    // KAI counts GPUs, and where devices are shared it may count more than there are.
    found.devices = {};
    return c.access.groups->is_open();
  }
  auto chosen = c.access.groups->choose(c.state(), c.live, row, ask, starts, devices_);
  if (!chosen) return false;
  found.must_wait = chosen->must_wait;
  found.devices = model::devices_of(c.state(), ask, row, chosen->devices);
  found.groups = std::move(chosen->groups);
  return true;
}

bool fits_with_devices(const session_state& c, pod_row pod, const place& on) {
  return c.constraints.fits_with(c.access, pod, on.row, on.devices, !on.must_wait);
}

/// Limits and quotas refuse the pod on the node: what it asks for depends on the memory of the GPUs there.
bool node_choice::queues_refuse(session_state& c, pod_row pod, node_row row) {
  if (!c.has_proportion || !c.has_predicates) return false;
  const std::int64_t memory = c.compat() ? c.access.groups->gpu_memory(row) : model::device_memory(c.state(), row);
  for (const auto& [known, refuses] : refused_) {
    if (known == memory) return refuses;
  }
  const model::quota_vector asked = c.queues.asked_on(c.state().class_of(pod), row);
  const bool refuses = c.queues.refuse(c.state().pods[pod].group, asked, std::span(&pod, 1), c.refusal);
  refused_.emplace_back(memory, refuses);
  return refuses;
}

namespace {

/// Most nodes that are tried in vain lack one of these. It saves the questions about everything else.
bool lacks_cpu_or_memory(const session_state& c, const model::pod_class& ask, node_row row, free_amount which) {
  const std::size_t first = static_cast<std::size_t>(row) * c.state().dims();
  const auto lacks = [&](dimension d) {
    const std::int64_t asked = ask.requests(d);
    const std::int64_t coming = which == free_amount::idle ? 0 : (*c.live.releasing)[first + d];
    return asked > (*c.live.idle)[first + d] + coming && (c.compat() || asked != 0);
  };
  return lacks(dim_cpu) || lacks(dim_memory);
}

}  // namespace

bool node_choice::try_node(session_state& c, pod_row pod, node_row row, free_amount which, place& found) {
  const model::pod_class& ask = c.state().class_of(pod);
  ++c.results.statistics.back().candidates;
  if (lacks_cpu_or_memory(c, ask, row, which)) {
    ++c.results.statistics.back().filtered;
    return false;
  }
  // As in KAI a node must also hold with claims counted before the question whether the pod can start now.
  const auto amounts_fit = [&](free_amount amount) {
    return policy::amounts_fit(c.access, ask, row, amount, policy::gpus_paid(c.access, pod, row, amount));
  };
  bool good = amounts_fit(free_amount::idle_or_releasing) &&
              c.constraints.resources_allow(c.access, pod, row, free_amount::idle_or_releasing, asked_by_parts_);
  if (good && which == free_amount::idle) {
    good = amounts_fit(free_amount::idle) && c.constraints.resources_allow(c.access, pod, row, which);
  }
  good = good && !(c.queues.depend_on_node(ask) && queues_refuse(c, pod, row));
  if (good && choose_devices(c, pod, row, which, found) && fits_with_devices(c, pod, found)) {
    // A place to wait for may be refused where a start is not: any of the devices may be those that come free.
    const bool may_start =
        !only_claims_ || which != free_amount::idle || !c.constraints.has(policy::trait_waiting_may_need_more);
    if (may_start ||
        (choose_devices(c, pod, row, free_amount::idle_or_releasing, found) && fits_with_devices(c, pod, found)))
      return true;
  }
  if (good) found = {};
  ++c.results.statistics.back().filtered;
  return false;
}

bool node_choice::is_of_kind(const session_state& c, node_row row, int node_kind) {
  if (node_kind == any_node) return true;
  if (without_gpus_.empty()) without_gpus_.assign(c.state().node_count(), 0);
  std::uint8_t& known = without_gpus_[row];
  if (known == 0) known = policy::is_cpu_only_node(c.view(), row) ? 2 : 1;
  return (known == 2) == (node_kind == 1);
}

bool node_choice::passes(const session_state& c, node_row row, const filter& by) {
  if (!by.known.open_everywhere && by.known.accepted[row] == 0) return false;
  if (is_closed(row) || !is_of_kind(c, row, by.node_kind)) return false;
  return by.others.empty() || by.others[row] == constraint::none;
}

/// A node that passes the filter takes the pod. The plug-in `nodeavailability` looks at amounts alone, so a pod whose
/// claims have to wait for their devices is placed on an available node before others.
bool node_choice::takes(session_state& c, pod_row pod, node_row row, const filter& by, place& found) {
  if (!by.has_claims) return try_node(c, pod, row, by.which, found);
  const model::pod_class& ask = c.state().class_of(pod);
  if (lacks_cpu_or_memory(c, ask, row, by.which)) return false;
  const bool available = policy::fits(c.access, ask, row, free_amount::idle);
  if (available != (by.which == free_amount::idle)) return false;
  return (available && !only_claims_ && try_node(c, pod, row, free_amount::idle, found)) ||
         try_node(c, pod, row, free_amount::idle_or_releasing, found);
}

node_choice::node_pool* node_choice::pool_for(const session_state& c, class_row row, const filter& by, dimension d) {
  if (by.known.open_everywhere && by.node_kind == any_node) return nullptr;
  if (pools_.by_class.size() < c.state().class_slots) pools_.by_class.resize(c.state().class_slots);
  node_pools::of_class& mine = pools_.by_class[row];
  const auto kind = static_cast<std::size_t>(by.node_kind - any_node);
  if (mine.number[kind] == no_row) {
    if (mine.passed_over[kind] < passes_per_pool * c.state().node_count()) return nullptr;
    make_pool(c, row, by, d);
  }
  node_pool& pool = *pools_.all[mine.number[kind]];
  if (!pool.is_indexed) return &pool;
  pools_.changes.each_since(pool.seen, [&](node_row changed) {
    if (pool.key[changed] == absent) return;
    const std::int64_t now = free_of(c, changed, pool.d);
    pool.index.move({pool.key[changed], (*c.state().name_rank)[changed], changed}, now);
    pool.key[changed] = now;
  });
  pool.seen = pools_.changes.now();
  return &pool;
}

/// Classes that are let in to the same nodes share a pool.
void node_choice::make_pool(const session_state& c, class_row row, const filter& by, dimension d) {
  const std::size_t nodes = c.state().node_count();
  if (!pools_.changes.is_open()) pools_.changes.open(nodes);
  std::uint32_t& number = pools_.by_class[row].number[static_cast<std::size_t>(by.node_kind - any_node)];
  const node_set* accepted = by.known.open_everywhere ? nullptr : &by.known.accepted;
  for (number = 0; number < pools_.all.size(); ++number) {
    const node_pool& one = *pools_.all[number];
    const bool is_alike =
        (one.accepted == nullptr) == (accepted == nullptr) && (accepted == nullptr || *one.accepted == *accepted);
    if (one.node_kind == by.node_kind && one.d == d && is_alike) return;
  }
  node_pool& made = *pools_.all.emplace_back(std::make_unique<node_pool>());
  made.accepted = accepted;
  made.node_kind = by.node_kind;
  made.d = d;
  for (node_row n = 0; n < nodes; ++n) {
    const bool is_in = accepted == nullptr || (*accepted)[n] != 0;
    if (is_in && is_of_kind(c, n, by.node_kind)) made.rows.push_back(n);
  }
  made.is_indexed = made.rows.size() >= least_ordered;
  if (!made.is_indexed) return;
  made.key.assign(nodes, absent);
  std::vector<model::node_index::entry> entries;
  entries.reserve(made.rows.size());
  for (const node_row n : made.rows) {
    made.key[n] = free_of(c, n, d);
    entries.push_back({made.key[n], (*c.state().name_rank)[n], n});
  }
  made.index.assign(std::move(entries));
  made.seen = pools_.changes.now();
}

place node_choice::scan_index(session_state& c, pod_row pod, const filter& by) {
  const model::cluster_state& s = c.state();
  const model::pod_class& ask = s.class_of(pod);
  const class_row kind = s.pods[pod].pod_class;
  const dimension d = ask.wants_gpu() ? dim_gpu : dim_cpu;
  const spread_index& spread = ask.wants_gpu() ? spread_gpu_ : spread_cpu_;
  const bool is_free_order = !by.shared && !spread.used;
  const node_pool* const pool = is_free_order ? pool_for(c, kind, by, d) : nullptr;
  if (pool != nullptr && !pool->is_indexed) return scan_rows(c, pod, by, pool->rows);
  const model::node_index& index = by.shared         ? by.sharing->index
                                   : spread.used     ? spread.index
                                   : pool != nullptr ? pool->index
                                   : ask.wants_gpu() ? c.nodes_by_gpu()
                                                     : c.nodes_by_cpu();
  std::size_t passed_over = 0;
  // KAI's groups take whole GPUs from what is free, so a shared one is a node's free amount or room on another one.
  const bool in_groups = c.access.in_groups(ask);
  const std::int64_t least = in_groups ? ask.shared_count() * whole_device : ask.requests(d);
  place found;
  for (auto at = spread.used || by.shared ? index.begin() : index.first_at_least(least); at != index.end(); ++at) {
    const node_row row = at->row;
    if (among_ != nullptr && (*among_)[row] == 0) continue;
    if (by.sharing != nullptr && !by.shared && by.sharing->key[row] != absent) continue;
    if (by.which == free_amount::idle && !in_groups && ask.requests(d) != 0 &&
        (*c.live.idle)[static_cast<std::size_t>(row) * s.dims() + d] < ask.requests(d)) {
      ++c.results.statistics.back().candidates;
      ++c.results.statistics.back().filtered;
      passed_over += !by.known.open_everywhere && by.known.accepted[row] == 0 ? 1U : 0U;
      continue;
    }
    if (!passes(c, row, by)) {
      ++passed_over;
      continue;
    }
    if (takes(c, pod, row, by, found)) break;
  }
  if (is_free_order && pool == nullptr && passed_over > 0 && kind < pools_.by_class.size())
    pools_.by_class[kind].passed_over[static_cast<std::size_t>(by.node_kind - any_node)] += passed_over;
  return found;
}

/// As `scan_index` among a few nodes: the one that stands first in the index.
place node_choice::scan_rows(session_state& c, pod_row pod, const filter& by, const node_band& rows) {
  const model::cluster_state& s = c.state();
  const model::pod_class& ask = s.class_of(pod);
  const dimension d = ask.wants_gpu() ? dim_gpu : dim_cpu;
  const spread_index& spread = ask.wants_gpu() ? spread_gpu_ : spread_cpu_;
  const bool in_groups = c.access.in_groups(ask);
  const std::int64_t least = in_groups ? ask.shared_count() * whole_device : ask.requests(d);
  place best;
  std::pair<std::int64_t, std::uint32_t> best_key;
  const std::size_t dims = s.dims();
  const std::int64_t* const idle_of = c.live.idle->data() + d;
  const std::int64_t* const releasing_of = c.live.releasing->data() + d;
  const std::int64_t asked = ask.requests(d);
  const bool by_free = !spread.used && !by.shared;
  const bool by_idle = by.which == free_amount::idle && !in_groups && asked != 0;
  for (const node_row row : rows) {
    if (among_ != nullptr && (*among_)[row] == 0) continue;
    if (by.sharing != nullptr && by.shared != (by.sharing->key[row] != absent)) continue;
    const std::size_t at = row * dims;
    const std::int64_t idle = idle_of[at];
    const std::int64_t free = idle + releasing_of[at];
    if (by_free && free < least) continue;
    if (by_idle && idle < asked) continue;
    const std::int64_t value = by.shared ? by.sharing->key[row] : spread.used ? spread.key[row] : free;
    const std::pair<std::int64_t, std::uint32_t> key{value, (*s.name_rank)[row]};
    if (best.row != no_row && best_key < key) continue;
    place found;
    if (!passes(c, row, by) || !takes(c, pod, row, by, found)) continue;
    best = std::move(found);
    best_key = key;
  }
  return best;
}

/// As `scan_rows`, for many nodes and several pods.
place node_choice::scan_band_order(session_state& c, pod_row pod, const filter& by, const node_band& rows) {
  const model::cluster_state& s = c.state();
  const model::pod_class& ask = s.class_of(pod);
  const dimension d = ask.wants_gpu() ? dim_gpu : dim_cpu;
  const bool in_groups = c.access.in_groups(ask);
  const std::int64_t asked = ask.requests(d);
  const bool by_idle = by.which == free_amount::idle && !in_groups && asked != 0;
  order_band(c, rows, d);
  place found;
  const auto first = order_.index.first_at_least(in_groups ? ask.shared_count() * whole_device : asked);
  for (auto at = first; at != order_.index.end(); ++at) {
    const node_row row = at->row;
    if (by.sharing != nullptr && by.sharing->key[row] != absent) continue;
    if (by_idle && (*c.live.idle)[static_cast<std::size_t>(row) * s.dims() + d] < asked) continue;
    if (passes(c, row, by) && takes(c, pod, row, by, found)) break;
  }
  return found;
}

/// The best node of the scope, or of some of its nodes.
place node_choice::scan(session_state& c, pod_row pod, const class_facts& known, bool only_claims,
                        const std::vector<constraint>& others, const node_band* rows) {
  const model::cluster_state& s = c.state();
  const model::pod_class& ask = s.class_of(pod);
  place found;
  // Availability is tested before claims count, so it orders nodes in simulations too.
  constexpr std::array<int, 1> all_kinds{any_node};
  constexpr std::array<int, 2> by_kind{1, 0};
  const std::span<const int> kinds =
      resource_type_ && !ask.wants_gpu() ? std::span<const int>(by_kind) : std::span<const int>(all_kinds);
  const bool draws = draws_to_shared(c, ask);
  const sharing_index* sharing = draws ? &sharing_of(c, ask, s.pods[pod].pod_class) : nullptr;
  const bool has_claims = c.access.claims != nullptr && c.access.claims->has_claims(pod);
  const bool needs_idle = only_claims && ask.wants_gpu() && !c.access.in_groups(ask) && ask.requests(dim_gpu) > 0;
  for (const bool shared : {true, false}) {
    if (shared && (!draws || sharing->index.empty())) continue;
    for (const free_amount which : {free_amount::idle, free_amount::idle_or_releasing}) {
      if (needs_idle && which == free_amount::idle && !may_be_idle(c, ask.requests(dim_gpu))) continue;
      for (const int node_kind : kinds) {
        const filter by{known, which, node_kind, sharing, shared, has_claims, others};
        const bool in_order = rows != nullptr && rows->size() >= least_ordered && !shared &&
                              !(ask.wants_gpu() ? spread_gpu_ : spread_cpu_).used;
        found = rows == nullptr ? scan_index(c, pod, by)
                : in_order      ? scan_band_order(c, pod, by, *rows)
                                : scan_rows(c, pod, by, *rows);
        if (found.row == no_row) continue;
        if (only_claims && !found.must_wait) {
          (void)choose_devices(c, pod, found.row, free_amount::idle_or_releasing, found);
          found.must_wait = true;
        }
        return found;
      }
    }
  }
  return found;
}

place node_choice::scan_bands(session_state& c, pod_row pod, const class_facts& known, bool only_claims,
                              const std::vector<constraint>& others) {
  const node_band* band = bands_ == nullptr ? nullptr : bands_->at(0);
  // A list may be searched from end to end, an index up to the first node that fits.
  const bool is_large = band != nullptr && band->size() > c.state().node_count() / 4 && bands_->at(1) == nullptr;
  if (bands_ == nullptr || is_large) return scan(c, pod, known, only_claims, others, nullptr);
  for (std::size_t i = 0; band != nullptr; band = bands_->at(++i)) {
    const place found = scan(c, pod, known, only_claims, others, band);
    if (found.row != no_row) return found;
  }
  return place{};
}

/// What rules say, by node row; empty: nothing. Nodes that are not in question are not asked.
std::vector<constraint> node_choice::verdicts_of_pods(const session_state& c, pod_row pod,
                                                      const class_facts& known) const {
  std::vector<constraint> others;
  if (!c.constraints.has_rules_for(c.access, pod)) return others;
  const model::pod_class& ask = c.state().class_of(pod);
  const auto nodes = static_cast<node_row>(c.state().node_count());
  std::vector<node_row> rows;
  for (node_row row = 0; row < nodes; ++row) {
    const bool is_offered = (among_ == nullptr || (*among_)[row] != 0) && !is_closed(row) &&
                            (known.open_everywhere || known.accepted[row] != 0);
    if (is_offered && !lacks_cpu_or_memory(c, ask, row, free_amount::idle_or_releasing)) rows.push_back(row);
  }
  std::vector<constraint> verdicts(rows.size(), constraint::none);
  c.constraints.judge_by_rules(c.access, pod, rows, verdicts);
  others.assign(nodes, constraint::none);
  for (std::size_t i = 0; i < rows.size(); ++i) others[rows[i]] = verdicts[i];
  return others;
}

result<place> node_choice::best_by_index(session_state& c, pod_row pod, class_facts& known, bool only_claims) {
  const model::cluster_state& s = c.state();
  const std::vector<constraint> others = verdicts_of_pods(c, pod, known);
  place found;
  const std::uint32_t slot = s.pod_extras[pod].nominated;
  const node_row promised = !nominated_ || slot == no_row ? no_row : (*s.node_row_of_slot)[slot];
  if (promised != no_row && !is_closed(promised) && (among_ == nullptr || (*among_)[promised] != 0) &&
      (known.open_everywhere || known.accepted[promised] != 0) &&
      (others.empty() || others[promised] == constraint::none) &&
      ((!only_claims && try_node(c, pod, promised, free_amount::idle, found)) ||
       try_node(c, pod, promised, free_amount::idle_or_releasing, found))) {
    return found;
  }
  return scan_bands(c, pod, known, only_claims, others);
}

/// By position in the list of nodes: the band of each. In `compat` bands are nothing but scores.
std::vector<std::uint32_t> node_choice::band_of_rows(const session_state& c, pod_row pod,
                                                     std::span<const node_row> rows) const {
  std::vector<std::uint32_t> found(rows.size(), 0);
  if (c.compat() || bands_ == nullptr || bands_->at(1) == nullptr) return found;
  std::vector<std::uint32_t> by_row(c.state().node_count(), 0);
  for (std::uint32_t i = 0; bands_->at(i) != nullptr; ++i) {
    for (const node_row row : *bands_->at(i)) by_row[row] = i + 1;
  }
  const std::uint32_t slot = c.state().pod_extras[pod].nominated;
  const node_row promised = !nominated_ || slot == no_row ? no_row : (*c.state().node_row_of_slot)[slot];
  if (promised != no_row) by_row[promised] = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) found[i] = by_row[rows[i]];
  return found;
}

/// Nodes that cannot be the best for reasons that are quick to find: closed, refused to the class, or without cores and
/// memory. Other questions are dear.
node_set node_choice::find_ruled_out(const session_state& c, pod_row pod, std::span<const node_row> rows) {
  const class_facts& known = facts(c, c.state().pods[pod].pod_class);
  const model::pod_class& ask = c.state().class_of(pod);
  node_set out(c.state().node_count(), 0);
  for (const node_row row : rows) {
    const bool refused = !known.open_everywhere && known.accepted[row] == 0;
    out[row] = refused || is_closed(row) || lacks_cpu_or_memory(c, ask, row, free_amount::idle_or_releasing) ? 1 : 0;
  }
  return out;
}

result<place> node_choice::best_by_scan(session_state& c, pod_row pod, bool only_claims) {
  const model::cluster_state& s = c.state();
  const model::pod_class& ask = s.class_of(pod);
  std::vector<node_row> rows = *c.state().rows_by_name;
  if (among_ != nullptr) std::erase_if(rows, [&](node_row row) { return (*among_)[row] == 0; });
  const std::size_t n = rows.size();
  const bool asks_all = c.options.reference_path;
  const node_set ruled_out = asks_all ? node_set(s.node_count(), 0) : find_ruled_out(c, pod, rows);
  // The nodes are known to the parts while they score.
  struct shown_nodes {
    session_access& access;
    ~shown_nodes() { access.ruled_out = nullptr; }
  } const shown{c.access};
  if (!asks_all) c.access.ruled_out = &ruled_out;
  const session_view view = c.view();
  std::vector<double> scores(n, 0.0);
  for (const auto& part : c.parts) {
    if ((part->capabilities() & part_scores_nodes) == 0) continue;
    if (auto done = part->score_nodes(view, pod, rows, scores); !done) return done.failure();
    for (const double score : scores) {
      if (!std::isfinite(score)) {
        return error{status::plugin, "part '" + std::string(part->name()) + "' gave a score that is not finite", {}};
      }
    }
  }
  std::vector<std::uint32_t> order(n);
  for (std::uint32_t i = 0; i < n; ++i) order[i] = i;
  const std::vector<std::uint32_t> band = band_of_rows(c, pod, rows);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return band[a] != band[b] ? band[a] < band[b] : scores[a] > scores[b];
  });
  std::vector<constraint> verdicts(n, constraint::none);
  for (std::size_t i = 0; i < n; ++i) {
    if (ruled_out[rows[i]] != 0) {
      verdicts[i] = constraint::resource;
      continue;
    }
    const std::int64_t paid = policy::gpus_paid(c.access, pod, rows[i], free_amount::idle_or_releasing);
    if (!policy::fits(c.access, ask, rows[i], free_amount::idle_or_releasing, paid)) verdicts[i] = constraint::resource;
    if (is_closed(rows[i])) verdicts[i] = constraint::node_reserved;
  }
  for (const auto& part : c.parts) {
    if ((part->capabilities() & part_filters_nodes) == 0) continue;
    std::vector<constraint> judged = verdicts;
    if (auto done = part->filter_nodes(view, pod, rows, judged); !done) return done.failure();
    for (std::size_t i = 0; i < n; ++i) {
      if (verdicts[i] == constraint::none) verdicts[i] = judged[i];  // a refusal cannot be taken back
    }
  }
  c.constraints.judge_by_other_rules(c.access, pod, rows, verdicts);
  asked_by_parts_ = true;
  for (const std::uint32_t i : order) {
    if (verdicts[i] != constraint::none) continue;
    place found;
    if (!only_claims && try_node(c, pod, rows[i], free_amount::idle, found)) return found;
    if (try_node(c, pod, rows[i], free_amount::idle_or_releasing, found)) return found;
  }
  return place{};
}

/// Asks about nodes that have changed since the class was asked about last. Those where the pod does not fit have no
/// key.
result<void> node_choice::score_changed(session_state& c, pod_row pod, const class_facts& known, class_keys& keys) {
  const model::cluster_state& s = c.state();
  const model::pod_class& ask = s.class_of(pod);
  std::vector<node_row>& rows = class_scores_.rows;
  rows.clear();
  const auto look = [&](node_row row) {
    const bool accepted = known.open_everywhere || known.accepted[row] != 0;
    if (accepted && policy::fits(c.access, ask, row, free_amount::idle_or_releasing))
      rows.push_back(row);
    else
      keys.set((*s.name_rank)[row], class_keys::none);
  };
  if (keys.is_open()) {
    order_of_changes_.each_since(keys.seen, look);
  } else {
    keys.open(s.node_count());
    for (node_row row = 0; row < s.node_count(); ++row) look(row);
  }
  std::vector<double>& sums = class_scores_.sums;
  sums.assign(rows.size(), 0.0);
  const session_view view = c.view();
  for (const auto& part : c.parts) {
    if ((part->capabilities() & part_scores_by_class) == 0 || rows.empty()) continue;
    if (auto done = part->score_nodes(view, pod, rows, sums); !done) {
      class_scores_.forget();  // some nodes have no key yet
      return done;
    }
    if (!std::all_of(sums.begin(), sums.end(), [](double sum) { return std::isfinite(sum); })) {
      class_scores_.forget();
      return error{status::plugin, "part '" + std::string(part->name()) + "' gave a score that is not finite", {}};
    }
  }
  for (std::size_t i = 0; i < rows.size(); ++i) keys.set((*s.name_rank)[rows[i]], ordered_bits(-sums[i]));
  keys.seen = order_of_changes_.now();
  return {};
}

result<place> node_choice::best_by_class(session_state& c, pod_row pod, const class_facts& known, bool only_claims) {
  class_keys& keys = class_scores_.of(c.state().pods[pod].pod_class, c.state().class_slots, c.state().node_count());
  if (auto done = score_changed(c, pod, known, keys); !done) return done.failure();
  const std::vector<constraint> others = verdicts_of_pods(c, pod, known);
  auto& skipped = class_scores_.skipped;
  skipped.clear();
  place found;
  for (std::uint32_t rank = keys.best(); rank != no_row; rank = keys.best()) {
    const node_row row = (*c.state().rows_by_name)[rank];
    const bool is_offered = !is_closed(row) && (others.empty() || others[row] == constraint::none);
    if (is_offered && !only_claims && try_node(c, pod, row, free_amount::idle, found)) break;
    if (is_offered && try_node(c, pod, row, free_amount::idle_or_releasing, found)) break;
    found = {};
    skipped.emplace_back(rank, keys.at(rank));
    keys.set(rank, class_keys::none);
  }
  for (const auto& [rank, key] : skipped) keys.set(rank, key);
  return found;
}

}  // namespace kaisched::framework
