#include "federation/line.hpp"

#include <algorithm>
#include <tuple>

#include "base/saturating.hpp"

namespace kaisched::federation_detail {

namespace {

constexpr std::size_t root = 0;
constexpr std::size_t without_queue = 1;

}  // namespace

line::line(const model::cluster_state& queues, std::int64_t total) : total_(std::max<std::int64_t>(total, 1)) {
  queues_.resize(2);
  for (const model::queue_info& info : *queues.queues) {
    if (info.live) by_name_.emplace(info.name, 0);
  }
  for (auto& [name, number] : by_name_) {
    number = queues_.size();
    queues_.emplace_back();
  }
  for (const model::queue_info& info : *queues.queues) {
    if (!info.live) continue;
    queue& one = queues_[find(info.name)];
    one.info = &info;
    one.parent = info.parent == no_row ? root : find((*queues.queues)[info.parent].name);
  }
  for (std::size_t q = without_queue; q < queues_.size(); ++q) queues_[queues_[q].parent].children.push_back(q);
}

std::size_t line::find(std::string_view name) const {
  const auto at = by_name_.find(name);
  return at == by_name_.end() ? without_queue : at->second;
}

void line::add_held(std::string_view name, const model::quota_vector& amounts) {
  const std::size_t q = find(name);
  if (q == without_queue) return;
  for (std::uint32_t d = 0; d < quota_dimensions; ++d)
    queues_[q].held[d] = base::saturating_add(queues_[q].held[d], amounts[d]);
}

void line::charge(std::string_view name, const model::quota_vector& amounts, std::int64_t sign) {
  for (std::size_t q = find(name); q != root; q = queues_[q].parent) {
    for (std::uint32_t d = 0; d < quota_dimensions; ++d)
      queues_[q].held[d] = base::saturating_add(queues_[q].held[d], base::saturating_multiply(sign, amounts[d]));
  }
}

std::string_view line::blocked_by(std::string_view name, const model::quota_vector& amounts) const {
  for (std::size_t q = find(name); q != root; q = queues_[q].parent) {
    if (queues_[q].info == nullptr) continue;
    for (std::uint32_t d = 0; d < quota_dimensions; ++d) {
      const std::int64_t limit = queues_[q].info->limit[d];
      if (limit != unlimited && amounts[d] > 0 && base::saturating_add(queues_[q].held[d], amounts[d]) > limit)
        return queues_[q].info->name;
    }
  }
  return {};
}

void line::fill(std::vector<line_entry> waiting) {
  for (queue& one : queues_) {
    one.waiting.clear();
    one.served = 0;
    one.below = 0;
  }
  for (line_entry& entry : waiting) {
    const std::size_t at = find(entry.queue);
    queues_[at].waiting.push_back(entry);
    for (std::size_t q = at; q != root; q = queues_[q].parent) ++queues_[q].below;
    ++queues_[root].below;
  }
  for (queue& one : queues_) {
    std::sort(one.waiting.begin(), one.waiting.end(), [](const line_entry& a, const line_entry& b) {
      if (a.priority != b.priority) return a.priority > b.priority;
      return std::tie(a.created, a.name) < std::tie(b.created, b.name);
    });
  }
}

line::place line::place_of(const queue& one) const {
  place made;
  if (one.info == nullptr) return made;
  made.priority = one.info->priority;
  const auto weight = [&](std::uint32_t d) { return std::max(one.info->weight[d], 1e-9); };
  double most = 0;
  bool has_quota = false;
  for (std::uint32_t d = 0; d < quota_dimensions; ++d) {
    const std::int64_t quota = one.info->quota[d];
    if (quota == unlimited) continue;
    has_quota = true;
    made.holds_all = made.holds_all || one.held[d] >= quota;
    if (quota > 0) most = std::max(most, static_cast<double>(one.held[d]) / static_cast<double>(quota));
  }
  if (made.holds_all) {
    const std::int64_t quota = std::max<std::int64_t>(one.info->quota[dim_gpu], 0);
    made.part = static_cast<double>(base::saturating_add(one.held[dim_gpu], -quota)) / weight(dim_gpu);
  } else {
    made.part = has_quota ? most : static_cast<double>(one.held[dim_gpu]) / static_cast<double>(total_);
  }
  return made;
}

bool line::is_before(const queue& a, const queue& b) const {
  const place x = place_of(a);
  const place y = place_of(b);
  if (x.holds_all != y.holds_all) return y.holds_all;
  if (x.priority != y.priority) return x.priority > y.priority;
  if (x.part < y.part || y.part < x.part) return x.part < y.part;
  const std::int64_t old = a.info == nullptr ? 0 : a.info->created;
  const std::int64_t other = b.info == nullptr ? 0 : b.info->created;
  return old < other;  // else the one that stands first: by name
}

const line_entry* line::next() {
  std::size_t q = root;
  if (queues_[root].below == 0) return nullptr;
  for (;;) {
    --queues_[q].below;
    if (queues_[q].served < queues_[q].waiting.size()) return &queues_[q].waiting[queues_[q].served++];
    std::size_t best = root;
    for (const std::size_t child : queues_[q].children) {
      if (queues_[child].below == 0) continue;
      if (best == root || is_before(queues_[child], queues_[best])) best = child;
    }
    q = best;
  }
}

}  // namespace kaisched::federation_detail
