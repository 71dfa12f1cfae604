#include "keeper.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

namespace cuda_agent {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t history_size = 60;

std::string message_of(const kl_error& error) { return std::string(error.message); }

bool same_cards(const kl_ledger* ledger, const grant& g) {
  if (kl_device_count(ledger) != g.cards.size()) return false;
  for (std::uint32_t i = 0; i < g.cards.size(); ++i) {
    std::uint32_t found = 0;
    if (kl_find_device(ledger, g.cards[i].uuid.c_str(), &found) != KL_OK || found != i) return false;
  }
  return true;
}

bool same_limits(const kl_limits& a, const kl_limits& b) {
  return a.memory_bytes == b.memory_bytes && a.core_permille == b.core_permille && a.core_weight == b.core_weight &&
         a.priority == b.priority && a.flags == b.flags;
}

void remove_folder(const fs::path& folder) {
  std::error_code ignored;
  for (const char* file : {"limits", "usage"}) fs::remove(folder / file, ignored);
  fs::remove(folder, ignored);
}

/// A folder that is no ledger any more stays beside the new one for whoever wants to know why.
void put_aside(const fs::path& folder) {
  std::error_code failed;
  for (int i = 0; i < 1000; ++i) {
    const fs::path aside = folder.string() + ".damaged-" + std::to_string(i);
    if (fs::exists(aside, failed)) continue;
    fs::rename(folder, aside, failed);
    return;
  }
}

}  // namespace

void keeper::read_grants(report& out) {
  std::vector<fs::path> files;
  std::error_code failed;
  for (const fs::directory_entry& file : fs::directory_iterator(options_.grants, failed))
    if (file.path().extension() == ".json") files.push_back(file.path());
  if (failed) {
    out.errors.push_back(options_.grants.string() + ": " + failed.message());
    return;  // what was granted stays granted
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> seen;
  for (const fs::path& file : files) {
    const std::string name = file.filename().string(), tenant = file.stem().string();
    try {
      std::ifstream in(file, std::ios::binary);
      const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      grant g = read_grant(text, name);
      if (g.tenant != tenant) throw bad_grant(name + ": tenant: must be the name of the file");
      if (!options_.node.empty() && g.node != options_.node) continue;
      entry& e = entries_[tenant];
      if (e.ledger != nullptr && !same_cards(e.ledger.get(), g) && has_processes(e.ledger.get()))
        throw bad_grant(name + ": devices: other cards than before, while processes run");
      e.granted = std::move(g);
    } catch (const std::exception& failure) {
      out.errors.emplace_back(failure.what());  // an earlier grant of that tenant stays
    }
    seen.push_back(tenant);
  }
  for (auto& [tenant, e] : entries_) e.leaving = std::find(seen.begin(), seen.end(), tenant) == seen.end();
}

/// Ledgers of tenants whose grants went while nobody looked: they leave as the others do.
void keeper::adopt_ledgers() {
  std::error_code failed;
  for (const fs::directory_entry& folder : fs::directory_iterator(options_.ledgers, failed)) {
    const std::string tenant = folder.path().filename().string();
    if (entries_.contains(tenant) || tenant.find(".damaged-") != std::string::npos ||
        tenant.find(".new-") != std::string::npos)
      continue;
    kl_ledger* ledger = nullptr;
    const kl_status status = kl_open(folder.path().c_str(), KL_OWNER, &ledger, nullptr);
    if (status == KL_E_STALE) remove_folder(folder.path());
    if (status != KL_OK) continue;
    entry& e = entries_[tenant];
    e.ledger.reset(ledger);
    e.leaving = true;
    e.granted.tenant = tenant;
    for (std::uint32_t i = 0; i < kl_device_count(ledger); ++i) {
      kl_device_state state{};
      state.struct_size = sizeof state;
      card_grant card;
      if (kl_device_get(ledger, i, &state) == KL_OK) card.uuid = static_cast<const char*>(state.uuid);
      card.total_bytes = state.total_bytes;
      card.index = i;
      e.granted.cards.push_back(std::move(card));
    }
  }
}

bool keeper::create_ledger(const grant& g, report& out) const {
  std::vector<kl_device_spec> specs(g.cards.size());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    std::memcpy(static_cast<char*>(specs[i].uuid), g.cards[i].uuid.c_str(), g.cards[i].uuid.size() + 1);
    specs[i].total_bytes = g.cards[i].total_bytes;
    specs[i].limits = g.cards[i].limits(g.open);
  }
  kl_create_options options = KL_CREATE_OPTIONS_INIT;
  options.slots = options_.slots;
  options.group = options_.group;
  std::memcpy(static_cast<char*>(options.name), g.tenant.c_str(), g.tenant.size() + 1);
  kl_error error;
  const std::string folder = (options_.ledgers / g.tenant).string();
  if (kl_create(folder.c_str(), specs.data(), static_cast<std::uint32_t>(specs.size()), &options, &error) == KL_OK)
    return true;
  out.errors.push_back(g.tenant + ": " + message_of(error));
  return false;
}

bool keeper::open_ledger(entry& e, report& out) {
  if (e.ledger != nullptr) return true;
  const std::string folder = (options_.ledgers / e.granted.tenant).string();
  for (int attempt = 0; attempt < 2; ++attempt) {
    kl_ledger* ledger = nullptr;
    kl_error error;
    const kl_status status = kl_open(folder.c_str(), KL_OWNER, &ledger, &error);
    if (status == KL_OK) {
      e.ledger.reset(ledger);
      e.busy_ns.assign(e.granted.cards.size(), 0);
      e.wishes.assign(e.granted.cards.size(), share_wish{});
      e.active_ns = 0;
      e.seen_ns = -1;
      return true;
    }
    if (status == KL_E_STALE) {
      remove_folder(folder);
    } else if (status == KL_E_CORRUPT || status == KL_E_LAYOUT) {
      out.errors.push_back(e.granted.tenant + ": " + message_of(error) + "; put aside, a new one is made");
      put_aside(folder);
    } else if (!fs::exists(folder)) {
    } else {
      out.errors.push_back(e.granted.tenant + ": " + message_of(error));
      return false;
    }
    if (!create_ledger(e.granted, out)) return false;
  }
  out.errors.push_back(e.granted.tenant + ": a ledger that was just made cannot be opened");
  return false;
}

bool keeper::has_processes(const kl_ledger* ledger) const {
  for (std::uint32_t slot = 0; slot < kl_slot_count(ledger); ++slot) {
    kl_slot_state state{};
    state.struct_size = sizeof state;
    if (kl_slot_get(ledger, slot, &state) != KL_E_NOT_FOUND) return true;
  }
  return false;
}

void keeper::apply_limits(entry& e, report& out) const {
  for (std::uint32_t i = 0; i < e.granted.cards.size(); ++i) {
    kl_limits wanted = e.granted.cards[i].limits(e.granted.open);
    const std::int64_t share = i < e.wishes.size() ? e.wishes[i].present_permille : -1;
    if (share >= 0) wanted.core_permille = std::min(wanted.core_permille, static_cast<std::uint32_t>(share));
    kl_limits now{};
    if (kl_get_limits(e.ledger.get(), i, &now) == KL_OK && same_limits(now, wanted)) continue;
    const kl_status status = kl_set_limits(e.ledger.get(), i, &wanted);
    if (status != KL_OK) out.errors.push_back(e.granted.tenant + ": limits: " + kl_status_text(status));
  }
}

void keeper::measure(entry& e, std::int64_t now_ns, card_rows& cards, report& out) {
  const kl_ledger* ledger = e.ledger.get();
  const auto count = static_cast<std::uint32_t>(e.granted.cards.size());
  std::vector<std::uint32_t> processes(count);
  std::int64_t stamp = 0;
  for (std::uint32_t slot = 0; slot < kl_slot_count(ledger); ++slot) {
    kl_slot_state state{};
    state.struct_size = sizeof state;
    if (kl_slot_get(ledger, slot, &state) != KL_OK) continue;
    stamp = std::max(stamp, state.active_ns);
    for (std::uint32_t i = 0; i < count; ++i)
      processes[i] += state.devices[i].held_bytes > 0 || state.devices[i].busy_ns > 0 ? 1 : 0;
  }
  e.busy_ns.resize(count);
  e.wishes.resize(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const card_grant& granted = e.granted.cards[i];
    tenant_row row;
    row.state.struct_size = sizeof row.state;
    const kl_status status = kl_device_get(ledger, i, &row.state);
    if (status != KL_OK) {
      out.errors.push_back(e.granted.tenant + ": " + granted.uuid + ": " + kl_status_text(status));
      continue;
    }
    row.tenant = e.granted.tenant;
    row.processes = processes[i];
    row.leaving = e.leaving;
    if (e.seen_ns >= 0 && now_ns > e.seen_ns)
      row.used_permille = static_cast<std::int64_t>((row.state.busy_ns - e.busy_ns[i]) * 1000 /
                                                    static_cast<std::uint64_t>(now_ns - e.seen_ns));
    e.busy_ns[i] = row.state.busy_ns;
    row.granted_permille = e.leaving ? row.state.limits.core_permille : granted.core_permille;
    share_wish& wish = e.wishes[i];
    wish.cap_permille = row.granted_permille;
    wish.weight = granted.core_weight;
    wish.priority = granted.priority;
    wish.before_permille = wish.used_permille;
    // A whole card is not throttled, and what is not throttled is not measured.
    wish.used_permille = row.state.limits.core_permille < KL_WHOLE_CARD ? row.used_permille : -1;
    wish.active = stamp > e.active_ns;

    card_row& card = cards[{e.granted.node, granted.uuid}];
    card.node = e.granted.node;
    card.uuid = granted.uuid;
    card.index = granted.index;
    card.total_bytes = std::max(card.total_bytes, row.state.total_bytes);
    if (row.state.limits.memory_bytes != KL_NO_LIMIT) card.granted_bytes += row.state.limits.memory_bytes;
    card.held_bytes += row.state.held_bytes;
    card.granted_permille += row.granted_permille;
    if (row.used_permille >= 0) card.used_permille = std::max<std::int64_t>(card.used_permille, 0) + row.used_permille;
    card.tenants.push_back(std::move(row));
  }
  e.seen_ns = now_ns;
  e.active_ns = std::max(e.active_ns, stamp);
}

/// Sets what each tenant of a card may take until the next look. Those that leave keep what they have.
void keeper::share_cards(card_rows& cards, report& out) {
  for (auto& [key, card] : cards) {
    std::vector<std::pair<tenant_row*, share_wish*>> members;
    std::vector<share_wish> wishes;
    for (tenant_row& row : card.tenants) {
      entry& e = entries_.at(row.tenant);
      for (std::size_t i = 0; !row.leaving && i < e.granted.cards.size(); ++i) {
        if (e.granted.cards[i].uuid != card.uuid) continue;
        members.emplace_back(&row, &e.wishes[i]);
        wishes.push_back(e.wishes[i]);
      }
    }
    const std::vector<std::int64_t> shares = share_out(wishes);
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i].second->present_permille = shares[i];
      members[i].first->state.limits.core_permille = static_cast<std::uint32_t>(shares[i]);
    }
    for (const auto& [row, wish] : members) apply_limits(entries_.at(row->tenant), out);
  }
}

/// Mean and deviation over the last looks. Rounded once, by integers where they decide.
void keeper::remember(card_rows& cards) {
  for (auto& [key, card] : cards) {
    std::deque<std::int64_t>& history = history_[key];
    if (card.used_permille >= 0) history.push_back(std::min<std::int64_t>(card.used_permille, 1000));
    if (history.size() > history_size) history.pop_front();
    if (history.empty()) continue;
    const auto count = static_cast<std::int64_t>(history.size());
    std::int64_t sum = 0, squares = 0;
    for (const std::int64_t one : history) {
      sum += one;
      squares += one * one;
    }
    card.utilization = sum / count;
    card.deviation =
        std::llround(std::sqrt(static_cast<double>(squares * count - sum * sum)) / static_cast<double>(count));
  }
}

/// The tenant has the ledger that its grant wants, and nobody dead is in it. False if that cannot be had now.
bool keeper::settle_ledger(entry& e, report& out) {
  const fs::path folder = options_.ledgers / e.granted.tenant;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!open_ledger(e, out)) return false;
    std::uint32_t reaped = 0;
    kl_error error{};
    kl_status status = kl_reap(e.ledger.get(), &reaped);
    reaped_ += reaped;
    if (status == KL_OK) status = kl_audit(e.ledger.get(), true, &error);
    const bool other_cards = !same_cards(e.ledger.get(), e.granted);
    if (status != KL_E_CORRUPT && !other_cards) return true;
    if (status == KL_E_CORRUPT) {
      out.errors.push_back(e.granted.tenant + ": " + kl_status_text(status) + ": " + message_of(error) +
                           "; put aside, a new one is made");
      e.ledger.reset();
      put_aside(folder);
    } else if (has_processes(e.ledger.get())) {
      out.errors.push_back(e.granted.tenant + ": devices: other cards than in its ledger, while processes run");
      e.ledger.reset();
      return false;
    } else {
      e.ledger.reset();
      remove_folder(folder);
    }
  }
  return false;
}

report keeper::look(std::int64_t now_ns) {
  report out;
  read_grants(out);
  adopt_ledgers();
  card_rows cards;
  for (auto it = entries_.begin(); it != entries_.end();) {
    entry& e = it->second;
    const bool settled = (!e.leaving || e.ledger != nullptr) && settle_ledger(e, out);
    if (e.leaving && (!settled || !has_processes(e.ledger.get()))) {
      e.ledger.reset();
      remove_folder(options_.ledgers / it->first);
      it = entries_.erase(it);
      continue;
    }
    if (settled) {
      if (!e.leaving) apply_limits(e, out);
      measure(e, now_ns, cards, out);
    }
    ++it;
  }
  share_cards(cards, out);
  remember(cards);
  for (auto& [key, card] : cards) out.cards.push_back(std::move(card));
  std::stable_sort(out.cards.begin(), out.cards.end(), [](const card_row& a, const card_row& b) {
    return a.node != b.node ? a.node < b.node : a.index < b.index;
  });
  out.reaped = reaped_;
  return out;
}

}  // namespace cuda_agent
