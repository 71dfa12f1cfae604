#include "policy/devices/allocation/ledger.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include <kaisched/table.hpp>

#include "model/cell_place.hpp"
#include "policy/devices/allocation/solve.hpp"
#include "policy/devices/fit/usage.hpp"
#include "policy/devices/vendor/wishes.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::policy {

namespace {

constexpr std::string_view node_policy_key = "hami.io/node-scheduler-policy";
constexpr std::string_view device_policy_key = "hami.io/gpu-scheduler-policy";
constexpr std::string_view weights_key = "hami.io/device-scoring-weights";
constexpr std::string_view several_vendors = "the node has devices of several vendors, and the pod names none";
constexpr std::string_view claimed = "claims cannot have devices that are shared by the rules of a vendor";
constexpr std::int64_t whole_memory = 1000;  ///< per mille
constexpr std::int64_t whole_cores = 100;
constexpr double millionths = 1e6;

devices::device_settings settings_of(const model::vendor_settings& told) {
  devices::device_settings made;
  made.node_policy = told.node_policy;
  made.device_policy = told.device_policy;
  if (told.weights) made.weights = devices::score_weights{(*told.weights)[0], (*told.weights)[1], (*told.weights)[2]};
  made.mode = told.mode;
  made.slots = told.slots;
  made.memory_permille = told.memory_permille;
  made.core_permille = told.core_permille;
  made.soft_division = told.soft_division;
  return made;
}

devices::device device_of(const model::vendor_device& told, const device_catalog& catalog) {
  devices::device made;
  made.id = told.id;
  made.type = told.type;
  made.mode = told.mode;
  made.index = told.index;
  made.numa = told.numa;
  made.healthy = told.healthy;
  made.cordoned = told.cordoned;
  made.slots = told.slots;
  made.memory = told.memory;
  made.cores = told.cores;
  for (const auto& [name, value] : told.attributes) {
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
    const bool is_number = failure == std::errc{} && end == value.data() + value.size();
    if (is_number) {
      devices::set_attribute(made.attributes, name, number);
    } else {
      devices::set_attribute(made.attributes, name, value);
    }
  }
  const devices::divided_model* model = devices::find_divided_model(catalog.divided, made.type, made.memory);
  if (model != nullptr) {
    made.profiles = model->profiles;
    made.slices = model->slices;
  }
  for (const model::vendor_profile& one : told.profiles) {
    made.profiles.push_back({one.name, {}, one.memory, 0, one.slices, {}});
  }
  return made;
}

/// Adds what is used of one device; uses are in ascending order.
void add_use(std::vector<devices::device_use>& to, const devices::device_use& one) {
  const auto at = std::lower_bound(to.begin(), to.end(), one.position,
                                   [](const devices::device_use& use, std::size_t p) { return use.position < p; });
  if (at == to.end() || at->position != one.position) {
    to.insert(at, one);
    return;
  }
  at->slots += one.slots;
  at->cores += one.cores;
  at->memory += one.memory;
}

bool overlaps_any(const devices::device& of, const devices::slice_instance& one) {
  return std::any_of(of.instances.begin(), of.instances.end(),
                     [&](const devices::slice_instance& other) { return other.placement.overlaps(one.placement); });
}

}  // namespace

// ---- opening -----------------------------------------------------------------------------------------------------

result<void> device_ledger::open(const model::cluster_state& s, const policy_options& options,
                                 std::shared_ptr<const device_catalog> catalog) {
  const bool asks = s.nodes_with_vendor_devices > 0 || s.pods_asking_vendors > 0;
  if (asks && options.mode == decision_mode::compat && options.device_order == device_order_rule::in_order) {
    return error{status::unsupported,
                 "option devices.order: in_order is one of mode strict; compat is KAI's, which knows no vendor_devices",
                 {}};
  }
  used_ = options.mode == decision_mode::strict && asks;
  if (!used_) return {};
  catalog_ = catalog != nullptr ? std::move(catalog) : std::make_shared<const device_catalog>();
  in_order_ = options.device_order == device_order_rule::in_order;
  const result<model::vendor_settings> told = model::parse_vendor_settings(join_list(options.device_settings));
  if (!told) return told.failure();
  levels_.global = settings_of(*told);
  levels_.keys = {std::string(node_policy_key), std::string(device_policy_key), std::string(weights_key)};
  book_of_.assign(s.node_count(), no_row);
  for (node_row row = 0; row < s.node_count(); ++row) open_node(s, row);
  for (const model::device_quota_info& limit : *s.device_quotas) {
    devices::space_quota quota;
    quota.space = limit.name_space;
    quota.vendor = limit.vendor;
    if (limit.memory != unlimited) quota.memory = limit.memory;
    if (limit.cores != unlimited) quota.cores = limit.cores;
    if (limit.slots != unlimited) quota.slots = limit.slots;
    quotas_now_.push_back(quota);
    quotas_later_.push_back(std::move(quota));
  }
  open_kinds(s);
  open_pods(s);
  return {};
}

void device_ledger::open_node(const model::cluster_state& s, node_row row) {
  const model::node_info& told = *(*s.nodes)[row];
  if (!told.is_shared_by_vendors()) return;
  book made;
  made.now.name = told.name;
  for (const model::vendor_device& one : told.vendor_devices) made.now.devices.push_back(device_of(one, *catalog_));
  const std::size_t count = told.vendor_devices.size();
  if (std::any_of(told.vendor_devices.begin(), told.vendor_devices.end(),
                  [](const model::vendor_device& one) { return !one.links.empty(); })) {
    made.now.links = devices::link_scores(count);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < told.vendor_devices[i].links.size(); ++j) {
        made.now.links.set(i, j, told.vendor_devices[i].links[j]);
      }
    }
  }
  // Read when the node came.
  made.settings =
      devices::over(settings_of(model::parse_vendor_settings(told.device_settings_text).value()), levels_.global);
  devices::register_devices(made.settings, made.now);
  made.vendor = none;
  for (const devices::device& of : made.now.devices) {
    made.attributes.push_back(of.attributes);
    std::size_t vendor = none;
    for (std::size_t v = 0; v < catalog_->vendors.size() && vendor == none; ++v) {
      if (devices::contains_any_case(of.type, catalog_->vendors[v].key)) vendor = v;
    }
    if (&of == made.now.devices.data()) made.vendor = vendor;
    if (vendor != made.vendor) made.vendor = none;
  }
  made.later = made.now;
  book_of_[row] = static_cast<std::uint32_t>(books_.size());
  books_.push_back(std::move(made));
}

void device_ledger::open_kinds(const model::cluster_state& s) {
  kind_of_.assign(s.pod_slots, no_row);
  std::map<std::pair<class_row, std::string_view>, std::uint32_t> known;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live) continue;
    const class_row of = s.pods[p].pod_class;
    const model::pod_class& c = *s.classes[of];
    if (!c.asks_vendors() && !c.wants_gpu()) continue;
    const group_row group = s.pods[p].group;
    const std::string_view space = group == no_row ? std::string_view{} : s.group_extras[group].name_space;
    const auto [at, fresh] = known.emplace(std::pair{of, space}, static_cast<std::uint32_t>(kinds_.size()));
    kind_of_[p] = at->second;
    if (!fresh) continue;
    kind made;
    if (c.asks_vendors()) {
      auto asking = std::make_shared<devices::pod>();
      asking->space = space;
      asking->annotations = c.annotations;
      for (const model::vendor_request& one : c.device_requests) {
        const auto container = static_cast<std::size_t>(one.container);
        if (asking->containers.size() <= container) asking->containers.resize(container + 1);
        if (one.init) asking->init_containers = container + 1;
        devices::request request;
        request.vendor = one.vendor;
        request.count = one.count;
        request.memory = one.memory;
        if (one.memory_permille >= 0) request.memory_permille = one.memory_permille;
        request.cores = one.cores;
        request.slices = one.slices;
        request.amount = one.amount;
        asking->containers[container].push_back(std::move(request));
      }
      made.asking = std::move(asking);
    } else {
      std::vector<std::size_t> vendors;
      vendors.reserve(books_.size());
      for (const book& one : books_) vendors.push_back(one.vendor);
      std::sort(vendors.begin(), vendors.end());
      vendors.erase(std::unique(vendors.begin(), vendors.end()), vendors.end());
      for (const std::size_t vendor : vendors) {
        if (vendor != none) made.by_vendor.emplace_back(vendor, native_pod(c, vendor, space));
      }
    }
    kinds_.push_back(std::move(made));
  }
}

/// Whole GPUs are all memory and cores, parts are memory.
std::shared_ptr<const devices::pod> device_ledger::native_pod(const model::pod_class& c, std::size_t vendor,
                                                              std::string_view space) const {
  const devices::vendor_template& of = catalog_->vendors[vendor];
  auto asking = std::make_shared<devices::pod>();
  asking->space = space;
  asking->annotations = c.annotations;
  devices::request request;
  request.vendor = of.key;
  request.count = c.is_shared() ? c.shared_count() : c.whole_devices;
  if (c.memory_devices > 0) {
    request.memory = c.ask.gpu_memory;
  } else {
    request.memory_permille = c.is_shared() ? c.device_share : whole_memory;
  }
  if (!c.is_shared()) request.cores = of.core_cap > 0 ? of.core_cap : whole_cores;
  asking->containers.push_back({std::move(request)});
  return asking;
}

void device_ledger::open_pods(const model::cluster_state& s) {
  std::vector<std::pair<pod_row, node_row>> untold;
  const auto put_there = [&](pod_row p, book& at, held_share what) {
    const auto status = static_cast<pod_status>(s.live.pod_state[p]);
    add(at, {p, status != pod_status::pipelined, status != pod_status::releasing, std::move(what), ++changes_, 0});
  };
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (kind_of_[p] == no_row || s.live.pod_node[p] == no_row) continue;
    const node_row row = (*s.node_row_of_slot)[s.live.pod_node[p]];
    if (row == no_row || book_of_[row] == no_row) continue;
    if (!model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::active_used)) continue;
    book& at = books_[book_of_[row]];
    if (s.told_of(p).device_grants.empty()) {
      untold.emplace_back(p, row);
      continue;
    }
    put_there(p, at, told_grants(s, p, at));
  }
  for (const auto& [p, row] : untold) {
    const bool now = static_cast<pod_status>(s.live.pod_state[p]) != pod_status::pipelined;
    const answer* got = answer_for(s, p, row, now);
    if (got == nullptr || !got->fits) continue;
    book& at = books_[book_of_[row]];
    put_there(p, at, std::make_shared<const held_devices>(held_devices{asking_at(p, at), got->grants}));
  }
}

/// Of devices that the node no longer has nothing is counted; what a pod has without having asked for it is.
held_share device_ledger::told_grants(const model::cluster_state& s, pod_row pod, const book& at) const {
  held_devices made;
  made.asking = asking_at(pod, at);
  if (made.asking == nullptr) made.asking = std::make_shared<const devices::pod>();
  for (const std::string_view text : split_list(s.told_of(pod).device_grants)) {
    if (model::parse_cell_place(text)) continue;                              // nothing of a vendor
    const model::vendor_grant one = model::parse_vendor_grant(text).value();  // read when the pod came
    const auto of = std::find_if(at.now.devices.begin(), at.now.devices.end(),
                                 [&](const devices::device& d) { return d.id == one.device; });
    if (of == at.now.devices.end()) continue;
    held_grant held;
    held.container = static_cast<std::size_t>(one.container);
    held.init = one.init;
    held.vendor = none;
    bool asked = false;
    for (std::size_t v = 0; v < catalog_->vendors.size() && !asked; ++v) {
      const std::string& key = catalog_->vendors[v].key;
      if (!devices::contains_any_case(of->type, key)) continue;
      asked = held.container < made.asking->containers.size() &&
              std::any_of(
                  made.asking->containers[held.container].begin(), made.asking->containers[held.container].end(),
                  [&](const devices::request& r) { return r.vendor == key; });
      if (asked || held.vendor == none) held.vendor = v;
    }
    if (held.vendor == none) continue;  // nobody else can be given it either
    held.what.position = static_cast<std::size_t>(of - at.now.devices.begin());
    held.what.index = of->index;
    held.what.id = of->id;
    held.what.type = of->type;
    held.what.memory = one.memory;
    held.what.cores = one.cores;
    held.what.slots = one.slots;
    if (!one.profile.empty()) held.what.instance = devices::slice_instance{one.profile, {one.start, one.size}};
    made.grants.push_back(std::move(held));
  }
  std::stable_sort(made.grants.begin(), made.grants.end(),
                   [](const held_grant& a, const held_grant& b) { return a.container < b.container; });
  return std::make_shared<const held_devices>(std::move(made));
}

// ---- questions ---------------------------------------------------------------------------------------------------

std::shared_ptr<const devices::pod> device_ledger::asking_at(pod_row pod, const book& at) const {
  const kind& of = kinds_[kind_of_[pod]];
  if (of.asking != nullptr) return of.asking;
  for (const auto& [vendor, asking] : of.by_vendor) {
    if (vendor == at.vendor) return asking;
  }
  return nullptr;
}

void device_ledger::ask(pod_row pod, book& at, bool at_once, answer& to) const {
  devices::node& where = at_once ? at.now : at.later;
  to = {};
  to.version = at_once ? at.now_version : at.later_version;
  to.quotas = quota_version_;
  const std::shared_ptr<const devices::pod> asking = asking_at(pod, at);
  if (asking == nullptr) {
    to.reason = several_vendors;
    return;
  }
  const result<devices::place_policies> policies =
      devices::policies_for(*asking, levels_, at.settings, catalog_->vendors);
  if (!policies) {
    to.reason = policies.failure().message;
    return;
  }
  const devices::space_quotas& quotas = at_once ? quotas_now_ : quotas_later_;
  const double sign = policies->nodes == "spread" ? -1 : 1;
  devices::node_placement placed;
  if (in_order_) {
    placed = devices::place_in_order(catalog_->vendors, where, *asking, *policies, quotas);
    to.score = sign * static_cast<double>(placed.score);
  } else {
    devices::solved_placement solved = devices::solve(catalog_->vendors, where, *asking, *policies, quotas);
    placed = std::move(solved.placed);
    const std::int64_t weights = policies->weights.slot + policies->weights.core + policies->weights.memory;
    to.score = sign * static_cast<double>(solved.use_after) / (millionths * static_cast<double>(weights));
  }
  to.fits = placed.fits;
  to.reason = std::move(placed.reason);
  if (to.fits) to.grants = flat(*asking, placed.grants);
}

const device_ledger::answer* device_ledger::answer_for(const model::cluster_state& s, pod_row pod, node_row row,
                                                       bool at_once) const {
  static const answer no_devices = [] {
    answer made;
    made.reason = "the node has no devices that are shared by the rules of a vendor";
    return made;
  }();
  static const answer no_claims = [] {
    answer made;
    made.reason = claimed;
    return made;
  }();
  if (!used_ || kind_of_[pod] == no_row) return nullptr;
  const model::pod_class& c = s.class_of(pod);
  const std::uint32_t which = book_of_[row];
  if (which == no_row) return c.asks_vendors() ? &no_devices : nullptr;
  if (c.claimed_devices > 0) return &no_claims;
  kind& of = kinds_[kind_of_[pod]];
  if (of.answers.empty()) of.answers.resize(books_.size());
  book& at = books_[which];
  answer& known = at_once ? of.answers[which].now : of.answers[which].later;
  const std::uint64_t version = at_once ? at.now_version : at.later_version;
  if (known.version != version || known.quotas != quota_version_) ask(pod, at, at_once, known);
  return &known;
}

bool device_ledger::fits(const model::cluster_state& s, pod_row pod, node_row row, bool at_once) const {
  const answer* known = answer_for(s, pod, row, at_once);
  return known == nullptr || known->fits;
}

std::string_view device_ledger::reason(const model::cluster_state& s, pod_row pod, node_row row, bool at_once) const {
  const answer* known = answer_for(s, pod, row, at_once);
  return known == nullptr || known->fits ? std::string_view{} : std::string_view(known->reason);
}

double device_ledger::score(const model::cluster_state& s, pod_row pod, node_row row) const {
  const answer* known = answer_for(s, pod, row, true);
  if (known != nullptr && !known->fits) known = answer_for(s, pod, row, false);
  return known != nullptr && known->fits ? known->score : 0;
}

std::vector<std::pair<std::string, std::uint32_t>> device_ledger::reasons(const model::cluster_state& s,
                                                                          pod_row pod) const {
  std::map<std::string, std::uint32_t, std::less<>> counts;
  for (node_row row = 0; used_ && row < s.node_count(); ++row) {
    const std::string_view why = reason(s, pod, row, false);
    if (!why.empty()) ++counts[std::string(why)];
  }
  std::vector<std::pair<std::string, std::uint32_t>> ordered(counts.begin(), counts.end());
  std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return ordered;
}

/// Container by container. Where HAMi's order has placed a pod, lists of a vendor are of those containers that ask it.
std::vector<held_grant> device_ledger::flat(const devices::pod& asking, const devices::pod_grants& grants) const {
  std::vector<held_grant> made;
  for (std::size_t v = 0; v < catalog_->vendors.size(); ++v) {
    const devices::vendor_grants* lists = devices::find_grants(grants, catalog_->vendors[v].key);
    if (lists == nullptr) continue;
    auto list = lists->begin();
    for (std::size_t c = 0; c < asking.containers.size(); ++c) {
      const bool asks = std::any_of(asking.containers[c].begin(), asking.containers[c].end(), [&](const auto& one) {
        return one.vendor == catalog_->vendors[v].key && one.count > 0;
      });
      if (!asks) continue;
      while (list != lists->end() && list->empty()) ++list;
      if (list == lists->end()) break;
      for (const devices::grant& one : *list++) made.push_back({c, c < asking.init_containers, v, one});
    }
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const held_grant& a, const held_grant& b) { return a.container < b.container; });
  return made;
}

// ---- changes -----------------------------------------------------------------------------------------------------

void device_ledger::add(book& to, holding what) {
  const bool later = what.later;
  if (what.now || later) count_quota(*what.what, true, 1);
  if (later) count_quota(*what.what, false, 1);
  const auto at = std::upper_bound(
      to.holdings.begin(), to.holdings.end(), what,
      [](const holding& a, const holding& b) { return a.pod != b.pod ? a.pod < b.pod : a.now && !b.now; });
  to.holdings.insert(at, std::move(what));
  count(to, later);
}

void device_ledger::erase(book& from, std::vector<holding>::iterator at) {
  const holding gone = std::move(*at);
  from.holdings.erase(at);
  if (gone.now || gone.later) count_quota(*gone.what, true, -1);
  if (gone.later) count_quota(*gone.what, false, -1);
  count(from, gone.later);
}

void device_ledger::restate(book& of, holding& one, bool later) {
  if (!one.now) count_quota(*one.what, true, later ? 1 : -1);
  count_quota(*one.what, false, later ? 1 : -1);
  one.later = later;
  count(of, true);
}

std::vector<device_ledger::holding>::iterator device_ledger::find_later(book& in, pod_row pod) {
  return std::find_if(in.holdings.begin(), in.holdings.end(),
                      [&](const holding& one) { return one.pod == pod && one.later; });
}

std::vector<device_ledger::holding>::iterator device_ledger::find_leaving(book& in, pod_row pod, bool held) {
  return std::find_if(in.holdings.begin(), in.holdings.end(),
                      [&](const holding& one) { return one.pod == pod && !one.later && one.now == held; });
}

void device_ledger::put(const model::cluster_state& s, pod_row pod, node_row row, bool at_once) {
  const answer* got = answer_for(s, pod, row, at_once);
  if (got == nullptr || book_of_[row] == no_row) return;
  book& at = books_[book_of_[row]];
  auto held = std::make_shared<const held_devices>(held_devices{asking_at(pod, at), got->grants});
  add(at, {pod, at_once, true, std::move(held), ++changes_, 0});
}

void device_ledger::take(pod_row pod, node_row row) {
  if (!has_devices(row)) return;
  book& at = books_[book_of_[row]];
  const auto found = find_later(at, pod);
  if (found != at.holdings.end()) erase(at, found);
}

void device_ledger::release(pod_row pod, node_row row) {
  if (!has_devices(row)) return;
  book& at = books_[book_of_[row]];
  const auto found = find_later(at, pod);
  if (found == at.holdings.end()) return;
  found->released = ++changes_;
  restate(at, *found, false);
}

void device_ledger::hold_again(pod_row pod, node_row row, bool held) {
  if (!has_devices(row)) return;
  book& at = books_[book_of_[row]];
  const auto found = find_leaving(at, pod, held);
  if (found == at.holdings.end()) return;
  found->released = 0;
  restate(at, *found, true);
}

/// Nobody else has got any of its devices since it was told to leave.
bool device_ledger::can_hold_again(pod_row pod, node_row row) const {
  if (!has_devices(row)) return true;
  const book& at = books_[book_of_[row]];
  const auto mine = std::find_if(at.holdings.begin(), at.holdings.end(),
                                 [&](const holding& one) { return one.pod == pod && !one.later && one.released != 0; });
  if (mine == at.holdings.end()) return true;
  return std::none_of(at.holdings.begin(), at.holdings.end(), [&](const holding& one) {
    if (!one.later || one.since < mine->released) return false;
    return std::any_of(one.what->grants.begin(), one.what->grants.end(), [&](const held_grant& theirs) {
      return std::any_of(mine->what->grants.begin(), mine->what->grants.end(),
                         [&](const held_grant& own) { return own.what.position == theirs.what.position; });
    });
  });
}

void device_ledger::end(pod_row pod, node_row row) {
  if (!has_devices(row)) return;
  book& at = books_[book_of_[row]];
  auto found = find_later(at, pod);
  if (found == at.holdings.end()) found = find_leaving(at, pod, true);
  if (found == at.holdings.end()) return;
  ended_[pod] = {row, *found};
  erase(at, found);
}

void device_ledger::revive(pod_row pod) {
  const auto found = ended_.find(pod);
  if (found == ended_.end()) return;
  add(books_[book_of_[found->second.row]], std::move(found->second.what));
  ended_.erase(found);
}

std::vector<std::string> device_ledger::grants_of(pod_row pod, node_row row) const {
  std::vector<std::string> texts;
  if (!has_devices(row)) return texts;
  const book& at = books_[book_of_[row]];
  const auto found = std::find_if(at.holdings.begin(), at.holdings.end(),
                                  [&](const holding& one) { return one.pod == pod && one.later; });
  if (found == at.holdings.end()) return texts;
  for (const held_grant& one : found->what->grants) {
    model::vendor_grant told;
    told.container = static_cast<std::int64_t>(one.container);
    told.init = one.init;
    told.device = one.what.id;
    told.memory = one.what.memory;
    told.cores = one.what.cores;
    told.slots = one.what.slots;
    if (one.what.instance) {
      told.profile = one.what.instance->profile;
      told.start = one.what.instance->placement.start;
      told.size = one.what.instance->placement.size;
    }
    texts.push_back(model::text_of(told));
  }
  return texts;
}

// ---- counting ----------------------------------------------------------------------------------------------------

/// What a pod holds is on every device the larger of what those of its containers use that run one after another, and
/// of what the others use together.
void device_ledger::count_held(devices::node& where, const held_devices& held) const {
  std::vector<devices::device_use> others;
  std::vector<devices::device_use> peaks;
  std::vector<devices::device_use> of_one;
  for (std::size_t i = 0; i < held.grants.size(); ++i) {
    const held_grant& one = held.grants[i];
    const devices::vendor_template& vendor = catalog_->vendors[one.vendor];
    const bool slots_only = vendor.usage == devices::usage_rule::slots_only;
    const devices::device_use use{one.what.position, one.what.slots, slots_only ? 0 : one.what.cores,
                                  slots_only ? 0 : one.what.memory};
    add_use(one.init ? of_one : others, use);
    const bool ends = i + 1 == held.grants.size() || held.grants[i + 1].container != one.container;
    if (one.init && ends) {
      devices::raise_uses(peaks, of_one);
      of_one.clear();
    }
  }
  devices::raise_uses(others, peaks);
  for (const devices::device_use& use : others) {
    devices::device& of = where.devices[use.position];
    of.used_slots += use.slots;
    of.used_cores += use.cores;
    of.used_memory += use.memory;
  }
  for (const bool init : {false, true}) {
    for (const held_grant& one : held.grants) {
      if (one.init != init) continue;
      const devices::vendor_template& vendor = catalog_->vendors[one.vendor];
      devices::device& of = where.devices[one.what.position];
      if (one.what.instance && (!init || !overlaps_any(of, *one.what.instance))) {
        of.instances.push_back(*one.what.instance);
      }
      if (vendor.usage == devices::usage_rule::bits && !init) {
        const std::int64_t before = devices::integer_attribute(of.attributes, vendor.usage_attribute).value_or(0);
        devices::set_attribute(of.attributes, vendor.usage_attribute, before + one.what.cores);
      }
      if (!vendor.service && !vendor.tenants) continue;
      const devices::wishes wanted = devices::wishes_of(vendor, *held.asking, {});
      devices::take_over_class(vendor, wanted, of, one.what);
      if (vendor.tenants) of.tenants.push_back(wanted.tenant_class);
    }
  }
}

void device_ledger::count_into(devices::node& where, const book& of, bool now) const {
  for (std::size_t i = 0; i < where.devices.size(); ++i) {
    devices::device& one = where.devices[i];
    one.used_slots = 0;
    one.used_cores = 0;
    one.used_memory = 0;
    one.instances.clear();
    one.tenants.clear();
    if (!(one.attributes == of.attributes[i])) one.attributes = of.attributes[i];
  }
  for (const holding& one : of.holdings) {
    if (now ? one.now : one.later) count_held(where, *one.what);
  }
}

/// Who starts at once must leave room for those who wait for what is coming free.
void device_ledger::join_later(devices::node& now, const devices::node& later) {
  for (std::size_t i = 0; i < now.devices.size(); ++i) {
    devices::device& one = now.devices[i];
    const devices::device& other = later.devices[i];
    one.used_slots = std::max(one.used_slots, other.used_slots);
    one.used_cores = std::max(one.used_cores, other.used_cores);
    one.used_memory = std::max(one.used_memory, other.used_memory);
    for (const devices::slice_instance& instance : other.instances) {
      if (std::find(one.instances.begin(), one.instances.end(), instance) == one.instances.end()) {
        one.instances.push_back(instance);
      }
    }
  }
}

void device_ledger::count(book& of, bool later) {
  count_into(of.now, of, true);
  ++of.now_version;
  if (later) {
    count_into(of.later, of, false);
    ++of.later_version;
  }
  const bool any_waits =
      std::any_of(of.holdings.begin(), of.holdings.end(), [](const holding& one) { return one.later && !one.now; });
  if (any_waits) join_later(of.now, of.later);
}

void device_ledger::count_quota(const held_devices& what, bool now, std::int64_t sign) {
  devices::space_quotas& quotas = now ? quotas_now_ : quotas_later_;
  if (quotas.empty() || what.asking == nullptr) return;
  for (devices::space_quota& quota : quotas) {
    if (quota.space != what.asking->space) continue;
    devices::vendor_grants containers(what.asking->containers.size());
    bool any = false;
    for (const held_grant& one : what.grants) {
      if (catalog_->vendors[one.vendor].key != quota.vendor) continue;
      if (containers.size() <= one.container) containers.resize(one.container + 1);  // it has what it never asked for
      containers[one.container].push_back(one.what);
      any = true;
    }
    if (!any) continue;
    const devices::held_amounts held = devices::held_by(containers, what.asking->init_containers);
    quota.used_memory += sign * held.memory;
    quota.used_cores += sign * held.cores;
    quota.used_slots += sign * held.slots;
    ++quota_version_;
  }
}

std::string device_ledger::fault() const {
  for (const book& one : books_) {
    for (const bool now : {true, false}) {
      devices::node counted = now ? one.now : one.later;
      count_into(counted, one, now);
      if (now) join_later(counted, one.later);
      if (!(counted.devices == (now ? one.now : one.later).devices)) {
        return "devices of node '" + one.now.name + "' are not counted as pods hold them";
      }
    }
  }
  return {};
}

std::string device_ledger::digest() const {
  std::string text;
  for (const book& one : books_) {
    for (const holding& held : one.holdings) {
      text += std::to_string(held.pod) + (held.now ? "+" : "-") + (held.later ? "+" : "-");
      for (const held_grant& grant : held.what->grants) {
        text += ' ' + std::to_string(grant.container) + ':' + std::to_string(grant.what.position) + ':' +
                std::to_string(grant.what.memory) + ':' + std::to_string(grant.what.cores);
      }
      text += '\n';
    }
    text += '|';
  }
  return text;
}

}  // namespace kaisched::policy
