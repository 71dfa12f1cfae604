#include "policy/entitlement/divisor_division.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "base/int128.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

constexpr std::array<std::int64_t, quota_dimensions> unit_of{1, 1, whole_device};
constexpr std::int64_t usage_scale = 1'000'000;
constexpr std::int64_t k_scale = 1000;
constexpr std::int64_t most_pull = std::int64_t{1} << 60;
constexpr int128 most_quotient = static_cast<int128>(1) << 63;  ///< reaches 2^62 units, the largest total

/// One queue while units are handed out.
struct claim {
  const exact_queue* queue = nullptr;
  std::int64_t wanted = 0;
  std::int64_t given = 0;
  std::int64_t units = 0;
  std::int64_t pull = 0;
  [[nodiscard]] bool hungry() const { return given < wanted; }
};

/// Sets `pull` of the hungry claims; called again whenever one of them is satisfied.
using pull_rule = std::function<void(std::vector<claim>&)>;

/// Writes down what claims get: one step for everybody who takes part in a round, however many units it is.
class claim_log {
 public:
  claim_log(exact_share_log* to, share_step_kind what, std::uint32_t r) : to_(to), what_(what), resource_(r) {}
  [[nodiscard]] bool is_open() const { return to_ != nullptr; }

  /// The pulls are those of a new round, which ends when somebody has all that was wanted.
  void begin_round(const std::vector<claim>& claims) {
    if (to_ == nullptr) return;
    ++round_;
    pulls_ = 0;
    before_.clear();
    for (const claim& c : claims) {
      if (c.hungry()) pulls_ += static_cast<double>(c.pull);
      before_.push_back(c.given);
    }
  }
  void end_round(const std::vector<claim>& claims) const {
    for (std::size_t i = 0; to_ != nullptr && i < claims.size(); ++i) {
      const claim& c = claims[i];
      if (before_[i] >= c.wanted) continue;
      const std::int64_t had = c.queue->shares[resource_].fair_share;
      const double proportion = pulls_ > 0 ? static_cast<double>(c.pull) / pulls_ : 0;
      to_->push_back({what_, c.queue, c.queue->parent, resource_, round_, proportion, c.wanted - before_[i],
                      had + before_[i], had + c.given});
    }
  }

 private:
  exact_share_log* to_;
  share_step_kind what_;
  std::uint32_t resource_;
  std::uint32_t round_ = 0;
  double pulls_ = 0;
  std::vector<std::int64_t> before_;
};

/// A step that is about all siblings.
void log_of_all(std::span<exact_queue* const> siblings, std::uint32_t r, exact_share_log* log, share_step_kind what,
                std::int64_t amount) {
  if (log != nullptr && !siblings.empty())
    log->push_back({what, nullptr, siblings.front()->parent, r, 0, 0, 0, 0, amount});
}

/// Larger pull / (2 units + 1) first, then older, then uid.
bool serves_before(const claim& a, const claim& b) {
  const int128 x = static_cast<int128>(a.pull) * (2 * static_cast<int128>(b.units) + 1);
  const int128 y = static_cast<int128>(b.pull) * (2 * static_cast<int128>(a.units) + 1);
  if (x != y) return x > y;
  if (a.queue->created != b.queue->created) return a.queue->created < b.queue->created;
  return a.queue->uid < b.queue->uid;
}

/// Number of units that a claim holds once everything down to the quotient `largest / y` has been served.
std::int64_t units_at(const claim& c, std::int64_t largest, int128 y) {
  const int128 quotient = c.pull * y / largest;
  return std::max(c.units, static_cast<std::int64_t>((quotient + 1) / 2));
}

/// Serving down to `largest / y` takes whole units only, satisfies no claim and stays within the total.
bool can_serve(const std::vector<claim*>& hungry, std::int64_t largest, int128 y, std::int64_t unit,
               std::int64_t total) {
  int128 taken = 0;
  for (const claim* c : hungry) {
    const std::int64_t more = units_at(*c, largest, y) - c->units;
    const int128 amount = static_cast<int128>(more) * unit;
    if (amount > 0 && c->given + amount >= c->wanted) return false;
    taken += amount;
  }
  return taken <= total;
}

/// The last y before that at which some claim is satisfied.
int128 last_unsatisfied(const std::vector<claim*>& hungry, std::int64_t largest, std::int64_t unit) {
  int128 least = most_quotient;
  for (const claim* c : hungry) {
    const std::int64_t missing = c->wanted - c->given;
    const int128 units = static_cast<int128>(c->units) + missing / unit + (missing % unit == 0 ? 0 : 1);
    least = std::min(least, ((2 * units - 1) * largest + c->pull - 1) / c->pull - 1);
  }
  return least;
}

/// The largest y from 0 to `most` for which `holds`, which does for 0 and for no y above one for which it does not.
template <class Holds>
int128 last_that_holds(int128 most, Holds holds) {
  if (holds(most)) return most;
  int128 low = 0;
  while (low + 1 < most) {
    const int128 middle = low + (most - low) / 2;
    (holds(middle) ? low : most) = middle;
  }
  return low;
}

std::int64_t largest_pull(const std::vector<claim*>& hungry) {
  std::int64_t largest = 0;
  for (const claim* c : hungry) largest = std::max(largest, c->pull);
  return largest;
}

/// Serves a long run of units at once: the order of service is the order of quotients, so a run that satisfies no claim
/// is a threshold.
void serve_run(const std::vector<claim*>& hungry, std::int64_t unit, std::int64_t& total) {
  const std::int64_t largest = largest_pull(hungry);
  const int128 y = last_that_holds(last_unsatisfied(hungry, largest, unit),
                                   [&](int128 to) { return can_serve(hungry, largest, to, unit, total); });
  for (claim* c : hungry) {
    const std::int64_t more = units_at(*c, largest, y) - c->units;
    c->units += more;
    c->given += more * unit;
    total -= more * unit;
  }
}

/// One unit each to the claims that are next, in their order, until so many have been given or there is nothing left.
/// `until_satisfied`: or until a claim has all that is wanted.
void serve_in_order(std::vector<claim*> hungry, std::size_t units, bool until_satisfied, std::int64_t unit,
                    std::int64_t& total) {
  const auto comes_later = [](const claim* a, const claim* b) { return serves_before(*b, *a); };
  std::make_heap(hungry.begin(), hungry.end(), comes_later);
  for (; units > 0 && total > 0 && !hungry.empty(); --units) {
    std::pop_heap(hungry.begin(), hungry.end(), comes_later);
    claim& next = *hungry.back();
    const std::int64_t amount = std::min({unit, total, next.wanted - next.given});
    next.given += amount;
    ++next.units;
    total -= amount;
    if (next.hungry())
      std::push_heap(hungry.begin(), hungry.end(), comes_later);
    else if (until_satisfied)
      return;
    else
      hungry.pop_back();
  }
}

/// Those that can still be served.
std::vector<claim*> hungry_of(std::vector<claim>& claims) {
  std::vector<claim*> hungry;
  for (claim& c : claims) {
    if (c.hungry() && c.pull > 0) hungry.push_back(&c);
  }
  return hungry;
}

/// The pulls are anew after each claim that is satisfied.
std::int64_t hand_out_in_rounds(std::vector<claim>& claims, std::int64_t unit, std::int64_t total,
                                const pull_rule& pulls, claim_log log) {
  constexpr std::size_t no_limit = static_cast<std::size_t>(-1);
  while (total > 0) {
    pulls(claims);
    log.begin_round(claims);
    const std::vector<claim*> hungry = hungry_of(claims);
    if (!hungry.empty()) {
      serve_run(hungry, unit, total);
      serve_in_order(hungry, no_limit, true, unit, total);
    }
    log.end_round(claims);
    if (hungry.empty()) return total;
  }
  return total;
}

/// What a claim has more once everything down to the quotient `largest / y` has been served, as far as it is wanted.
int128 served_at(const claim& c, std::int64_t largest, int128 y, std::int64_t unit) {
  const int128 amount = static_cast<int128>(units_at(c, largest, y) - c.units) * unit;
  return std::min<int128>(amount, c.wanted - c.given);
}

/// The same as in rounds where the pulls of claims stay what they are: the order of service is the order of quotients
/// from the first unit to the last, whichever claims are satisfied between.
std::int64_t hand_out_at_once(std::vector<claim>& claims, std::int64_t unit, std::int64_t total,
                              const pull_rule& pulls) {
  pulls(claims);
  while (total > 0) {
    std::vector<claim*> hungry = hungry_of(claims);
    if (hungry.empty()) return total;
    const std::int64_t largest = largest_pull(hungry);
    const int128 y = last_that_holds(most_quotient, [&](int128 to) {
      int128 taken = 0;
      for (const claim* c : hungry) taken += served_at(*c, largest, to, unit);
      return taken <= total;
    });
    for (claim* c : hungry) {
      const auto more = static_cast<std::int64_t>(served_at(*c, largest, y, unit));
      c->units = units_at(*c, largest, y);
      c->given += more;
      total -= more;
    }
    std::erase_if(hungry, [](const claim* c) { return !c->hungry(); });
    serve_in_order(hungry, hungry.size(), false, unit, total);
  }
  return total;
}

/// How the pulls of claims change while these are served.
enum class pulls : std::uint8_t { change, stay };

/// A log is by rounds.
std::int64_t hand_out(std::vector<claim>& claims, std::int64_t unit, std::int64_t total, pulls while_served,
                      const pull_rule& rule, const claim_log& log) {
  return while_served == pulls::stay && !log.is_open() ? hand_out_at_once(claims, unit, total, rule)
                                                       : hand_out_in_rounds(claims, unit, total, rule, log);
}

/// Weight moved by history: w + k (w - usage) with w normalised over the hungry; plain weight if that leaves nobody.
void pull_by_weight(std::vector<claim>& claims, std::uint32_t r, std::int64_t k) {
  int128 weights = 0;
  for (const claim& c : claims) {
    if (c.hungry()) weights += c.queue->shares[r].weight;
  }
  std::vector<int128> moved(claims.size(), 0);
  int128 largest = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (!claims[i].hungry()) continue;
    const exact_share& s = claims[i].queue->shares[r];
    moved[i] = static_cast<int128>(s.weight) * (k_scale + k) * usage_scale - weights * k * s.usage;
    largest = std::max(largest, moved[i]);
  }
  const bool plain = largest <= 0;
  if (plain) {
    for (std::size_t i = 0; i < claims.size(); ++i) {
      moved[i] = claims[i].hungry() ? claims[i].queue->shares[r].weight : 0;
      largest = std::max(largest, moved[i]);
    }
  }
  int shift = 0;
  while ((largest >> shift) > most_pull) ++shift;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    claims[i].pull = static_cast<std::int64_t>(std::max<int128>(0, moved[i]) >> shift);
  }
}

/// Weights pull the same in every round: history does not count, and no pull has to be rounded.
pulls weights_while_served(const std::vector<claim>& claims, std::uint32_t r, std::int64_t k) {
  const bool stay = std::all_of(claims.begin(), claims.end(), [&](const claim& c) {
    if (!c.hungry()) return true;
    const exact_share& s = c.queue->shares[r];
    return (k == 0 || s.usage == 0) && static_cast<int128>(s.weight) * (k_scale + k) * usage_scale <= most_pull;
  });
  return stay ? pulls::stay : pulls::change;
}

/// Claims are those of some siblings, in their order.
void add_claims(std::span<exact_queue* const> siblings, std::uint32_t r, const std::vector<claim>& claims) {
  auto at = siblings.begin();
  for (const claim& one : claims) {
    at = std::find(at, siblings.end(), one.queue);
    (*at)->shares[r].fair_share += one.given;
  }
}

/// Quotas as far as they are asked for; where they are oversold they share the total as weights do.
std::int64_t divide_quotas(std::span<exact_queue* const> siblings, std::uint32_t r, std::int64_t total,
                           std::int64_t unit, exact_share_log* log) {
  std::vector<claim> claims;
  std::vector<std::int64_t> quotas;
  int128 sum = 0;
  for (const exact_queue* queue : siblings) {
    const exact_share& s = queue->shares[r];
    quotas.push_back(s.deserved == unlimited ? total : s.deserved);
    claims.push_back({queue, std::min(quotas.back(), std::max<std::int64_t>(0, s.requestable())), 0, 0, 0});
    sum += claims.back().wanted;
  }
  const auto note = [&](const claim& c) {
    if (log == nullptr) return;
    const std::int64_t asked = std::max<std::int64_t>(0, c.queue->shares[r].requestable());
    log->push_back({share_step_kind::quota, c.queue, c.queue->parent, r, 0, 0, asked, 0, c.given});
  };
  if (sum <= total) {
    for (claim& c : claims) {
      c.given = c.wanted;
      note(c);
    }
    total -= static_cast<std::int64_t>(sum);
  } else {
    for (const claim& c : claims) {
      if (!c.hungry() || total == 0) note(c);  // takes part in no round
    }
    const auto by_quota = [&](std::vector<claim>& all) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i].pull = std::min(quotas[i], most_pull);
    };
    total = hand_out(claims, unit, total, pulls::stay, by_quota, claim_log(log, share_step_kind::quota, r));
  }
  add_claims(siblings, r, claims);
  return total;
}

using queue_list = std::vector<exact_queue*>;

void cap_requests(std::span<exact_queue> queues, const queue_list& siblings, const std::vector<queue_list>& children) {
  for (exact_queue* queue : siblings) {
    const queue_list& below = children[static_cast<std::size_t>(queue - queues.data())];
    if (below.empty()) continue;
    cap_requests(queues, below, children);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      queue->shares[r].request = 0;
      for (const exact_queue* child : below) queue->shares[r].request += child->shares[r].requestable();
    }
  }
}

void divide_below(std::span<exact_queue> queues, const queue_list& siblings, const std::vector<queue_list>& children,
                  const std::array<std::int64_t, quota_dimensions>& total, std::int64_t k, exact_share_log* log) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) divide_exactly(siblings, r, total[r], unit_of[r], k, log);
  for (const exact_queue* queue : siblings) {
    const queue_list& below = children[static_cast<std::size_t>(queue - queues.data())];
    if (below.empty()) continue;
    std::array<std::int64_t, quota_dimensions> share{};
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) share[r] = queue->shares[r].fair_share;
    divide_below(queues, below, children, share, k, log);
  }
}

}  // namespace

std::int64_t divide_exactly(std::span<exact_queue* const> siblings, std::uint32_t r, std::int64_t total,
                            std::int64_t unit, std::int64_t k, exact_share_log* log) {
  total = std::max<std::int64_t>(0, total);
  log_of_all(siblings, r, log, share_step_kind::total, total);
  total = divide_quotas(siblings, r, total, unit, log);
  std::vector<exact_queue*> by_priority(siblings.begin(), siblings.end());
  std::stable_sort(by_priority.begin(), by_priority.end(),
                   [](const exact_queue* a, const exact_queue* b) { return a->priority > b->priority; });
  for (std::size_t first = 0, next = 0; first < by_priority.size(); first = next) {
    while (next < by_priority.size() && by_priority[next]->priority == by_priority[first]->priority) ++next;
    const std::span<exact_queue* const> equals = std::span(by_priority).subspan(first, next - first);
    std::vector<claim> claims;
    for (const exact_queue* queue : equals) {
      const exact_share& s = queue->shares[r];
      claims.push_back({queue, std::max<std::int64_t>(0, s.requestable() - s.fair_share), 0, 0, 0});
    }
    const auto by_weight = [&](std::vector<claim>& all) { pull_by_weight(all, r, k); };
    total = hand_out(claims, unit, total, weights_while_served(claims, r, k), by_weight,
                     claim_log(log, share_step_kind::over_quota, r));
    add_claims(equals, r, claims);
  }
  log_of_all(siblings, r, log, share_step_kind::left, total);
  return total;
}

void divide_tree_exactly(std::span<exact_queue> queues, const std::array<std::int64_t, quota_dimensions>& total,
                         std::int64_t k, exact_share_log* log) {
  std::vector<queue_list> children(queues.size() + 1);
  for (exact_queue& queue : queues) {
    for (exact_share& share : queue.shares) share.fair_share = 0;
    children[queue.parent == no_row ? queues.size() : queue.parent].push_back(&queue);
  }
  cap_requests(queues, children[queues.size()], children);
  divide_below(queues, children[queues.size()], children, total, k, log);
}

}  // namespace kaisched::policy
