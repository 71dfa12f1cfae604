#include "policy/entitlement/kai_division.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

namespace kaisched::policy {

namespace {

using kai_queues = std::vector<kai_queue*>;

struct remainder {
  kai_queue* queue;
  double part;
};

/// Gives to a queue, and says so where somebody wants to know.
void give_share(kai_queue& queue, std::uint32_t r, double amount, kai_share_log* log, share_step_kind what,
                std::uint32_t round, double proportion, double wanted) {
  const double before = queue.shares[r].fair_share;
  queue.shares[r].fair_share += amount;
  if (log != nullptr)
    log->push_back({what, &queue, queue.parent, r, round, proportion, wanted, before, queue.shares[r].fair_share});
}

/// A step that is about all siblings.
void log_of_all(std::span<kai_queue* const> siblings, std::uint32_t r, kai_share_log* log, share_step_kind what,
                double amount) {
  if (log != nullptr && !siblings.empty())
    log->push_back({what, nullptr, siblings.front()->parent, r, 0, 0, 0, 0, amount});
}

double give_deserved(std::span<kai_queue* const> siblings, std::uint32_t r, double total, kai_share_log* log) {
  double remaining = total;
  for (kai_queue* queue : siblings) {
    const kai_share& share = queue->shares[r];
    const double deserved = share.deserved == -1 ? total : share.deserved;
    const double amount = std::min(deserved, share.requestable());
    give_share(*queue, r, amount, log, share_step_kind::quota, 0, 0, share.requestable());
    remaining -= amount;
  }
  return remaining;
}

/// How much of a round's amount each queue may take, in the order of `band`; empty if nobody may take any.
/// History moves the weight: w + k (w - usage), never below zero.
std::vector<double> proportions(std::span<kai_queue* const> band, std::uint32_t r, double k) {
  double weights = 0;
  for (const kai_queue* queue : band) {
    if (queue->shares[r].need() > 0) weights += queue->shares[r].weight;
  }
  if (weights == 0) return {};
  std::vector<double> parts(band.size(), 0);
  double total = 0;
  for (std::size_t i = 0; i < band.size(); ++i) {
    const kai_share& share = band[i]->shares[r];
    if (share.need() <= 0) continue;
    const double weight = share.weight / weights;
    parts[i] = std::max(0.0, weight + k * (weight - share.usage));
    total += parts[i];
  }
  if (total == 0) return {};
  for (double& part : parts) part /= total;
  return parts;
}

/// Rounds by weight inside one band. A round's cut is rounded down to whole units where it does not satisfy; what is
/// cut off is parked and, as in KAI, stays parked even when a later round comes out even.
double weighted_rounds(std::span<kai_queue* const> band, std::uint32_t r, double total, double k,
                       std::vector<remainder>& left, kai_share_log* log) {
  std::vector<std::optional<double>> parked(band.size());
  bool again = true;
  for (std::uint32_t round = 1; again && total != 0; ++round) {
    again = false;
    const double amount = total;
    const std::vector<double> parts = proportions(band, r, k);
    if (parts.empty()) break;
    for (std::size_t i = 0; i < band.size(); ++i) {
      const double wanted = band[i]->shares[r].need();
      if (total == 0 || wanted == 0) continue;
      const double cut = amount * parts[i];
      const double given = wanted <= cut ? wanted : std::max(0.0, std::floor(cut));
      if (wanted <= cut) {
        parked[i].reset();
      } else if (cut > given) {
        parked[i] = cut - given;
      }
      give_share(*band[i], r, given, log, share_step_kind::over_quota, round, parts[i], wanted);
      total -= given;
      again = again || wanted < cut;
    }
  }
  for (std::size_t i = 0; i < band.size(); ++i) {
    if (parked[i]) left.push_back({band[i], *parked[i]});
  }
  return total;
}

/// One unit each: largest remainder, then oldest queue, then uid. Limits are not looked at again, as in KAI.
double hand_out_units(std::vector<remainder>& left, std::uint32_t r, double total, kai_share_log* log) {
  std::sort(left.begin(), left.end(), [](const remainder& a, const remainder& b) {
    if (a.part != b.part) return a.part > b.part;
    if (a.queue->created != b.queue->created) return a.queue->created < b.queue->created;
    return a.queue->uid < b.queue->uid;
  });
  for (const remainder& x : left) {
    if (total <= 0) break;
    const double unit = std::min(1.0, total);
    give_share(*x.queue, r, unit, log, share_step_kind::unit, 0, x.part, x.queue->shares[r].need());
    total -= unit;
  }
  return total;
}

void divide_below(std::span<kai_queue> queues, std::uint32_t parent, const std::vector<kai_queues>& children,
                  const std::array<double, quota_dimensions>& total, double k, kai_share_log* log) {
  const kai_queues& siblings = children[parent == no_row ? queues.size() : parent];
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) kai_divide(siblings, r, total[r], k, log);
  for (kai_queue* queue : siblings) {
    const auto index = static_cast<std::uint32_t>(queue - queues.data());
    if (children[index].empty()) continue;
    std::array<double, quota_dimensions> share{};
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) share[r] = queue->shares[r].fair_share;
    divide_below(queues, index, children, share, k, log);
  }
}

}  // namespace

double kai_divide_over_quota(std::span<kai_queue* const> siblings, std::uint32_t r, double total, double k,
                             kai_share_log* log) {
  kai_queues by_priority(siblings.begin(), siblings.end());
  std::stable_sort(by_priority.begin(), by_priority.end(),
                   [](const kai_queue* a, const kai_queue* b) { return a->priority > b->priority; });
  // Remainders of all bands wait until every band had its rounds: a defect that gives low bands what high bands lost.
  std::vector<std::vector<remainder>> parked;
  for (std::size_t first = 0, next = 0; first < by_priority.size(); first = next) {
    while (next < by_priority.size() && by_priority[next]->priority == by_priority[first]->priority) ++next;
    total =
        weighted_rounds(std::span(by_priority).subspan(first, next - first), r, total, k, parked.emplace_back(), log);
  }
  for (std::vector<remainder>& left : parked) total = hand_out_units(left, r, total, log);
  return total;
}

double kai_divide(std::span<kai_queue* const> siblings, std::uint32_t r, double total, double k, kai_share_log* log) {
  log_of_all(siblings, r, log, share_step_kind::total, total);
  const double remaining = give_deserved(siblings, r, total, log);
  const bool oversold = remaining <= 0;  // quotas are not scaled down
  const double left = oversold ? remaining : kai_divide_over_quota(siblings, r, remaining, k, log);
  log_of_all(siblings, r, log, share_step_kind::left, left);
  return oversold ? 0 : left;
}

void kai_divide_tree(std::span<kai_queue> queues, const std::array<double, quota_dimensions>& total, double k,
                     kai_share_log* log) {
  std::vector<kai_queues> children(queues.size() + 1);
  for (kai_queue& queue : queues) {
    for (kai_share& share : queue.shares) share.fair_share = 0;
    children[queue.parent == no_row ? queues.size() : queue.parent].push_back(&queue);
  }
  divide_below(queues, no_row, children, total, k, log);
}

}  // namespace kaisched::policy
