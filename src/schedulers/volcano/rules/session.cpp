#include "schedulers/volcano/rules/session.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "schedulers/volcano/rules/ordered_heap.hpp"

namespace kaisched::volcano {

session::session(cluster_state cluster, std::vector<tier> tiers)
    : cluster_(std::move(cluster)), tiers_(std::move(tiers)) {
  settle_domains(cluster_);
  asked_.resize(point_count);
  orderers_.resize(point_count);
  for (const tier& of : tiers_) {
    for (const placed_plugin& one : of) {
      plugins_.push_back(one.does.get());
      const points orders = one.on & one.does->orders();
      for (std::size_t i = 0; i < point_count; ++i) {
        if (one.on.test(i)) asked_[i].push_back(one.does.get());
        if (orders.test(i)) orderers_[i].push_back(one.does.get());
      }
    }
  }
  for (const plugin* const one : orderers_[static_cast<std::size_t>(point::job_order)])
    job_orderers_.push_back({one, one->has_job_keys()});
  orders_by_keys_ = std::ranges::all_of(job_orderers_, &job_orderer::has_keys);
  keys_per_job_ = job_orderers_.size() + 1;
  job_keys_.resize(cluster_.jobs.size() * keys_per_job_);
  keys_asked_at_.resize(cluster_.jobs.size());
  for (tier& of : tiers_) {
    for (placed_plugin& one : of) one.does->open(*this, one.on);
  }
  judges_by_kind_ = std::ranges::all_of(plugins_, [&](const plugin* one) { return one->judges_by_kind(*this); });
  judges_victims_by_node_ = std::ranges::all_of(plugins_, &plugin::judges_victims_by_node);
  limits_queues_ = std::ranges::any_of(asked_at(point::allocatable), &plugin::limits_queues);
}

template <class Ask>
bool session::all_agree(point at, const Ask& ask) const {
  return first_objector(at, ask) == nullptr;
}

template <class Ask>
const plugin* session::first_objector(point at, const Ask& ask) const {
  for (const plugin* const one : asked_at(at)) {
    if (!ask(*one).value_or(true)) return one;
  }
  return nullptr;
}

template <class Ask>
bool session::permitted(point at, const Ask& ask) const {
  return first_rejecter(at, ask) == nullptr;
}

template <class Ask>
const plugin* session::first_rejecter(point at, const Ask& ask) const {
  for (const tier& of : tiers_) {
    bool found = false;
    for (const placed_plugin& one : of) {
      if (!one.on.test(static_cast<std::size_t>(at))) continue;
      const std::optional<vote> said = ask(*one.does);
      if (said == vote::reject) return one.does.get();
      found = found || said == vote::permit;
    }
    if (found) return nullptr;
  }
  return nullptr;
}

template <class Ask>
int session::first_order(point at, const Ask& ask) const {
  for (const plugin* const one : orderers_[static_cast<std::size_t>(at)]) {
    if (const int said = ask(*one).value_or(0); said != 0) return said;
  }
  return 0;
}

template <class Ask>
std::vector<row> session::allowed_victims(point at, const Ask& ask) const {
  for (const tier& of : tiers_) {
    std::vector<row> left;
    bool decided = false;
    for (const placed_plugin& one : of) {
      if (!one.on.test(static_cast<std::size_t>(at))) continue;
      const victims said = ask(*one.does);
      if (!said) continue;
      if (said->empty()) {
        left.clear();
        decided = false;
        break;
      }
      if (!decided) {
        left = *said;
      } else if (*said != left) {
        std::vector<row> allowed = *said;
        std::ranges::sort(allowed);
        std::erase_if(left, [&](row task) { return !std::ranges::binary_search(allowed, task); });
      }
      // What all but one tier's plug-ins leave empty is no decision: the next plug-in starts anew.
      decided = !left.empty();
    }
    if (decided) return left;
  }
  return {};
}

void session::ask_keys(row job, std::int64_t* keys) const {
  for (const job_orderer& one : job_orderers_) *keys++ = one.has_keys ? one.does->job_key(*this, job) : 0;
  *keys = cluster_.jobs[job].created;
}

int session::compare_jobs(row left, row right) const {
  const std::int64_t* l = keys_of(left);
  const std::int64_t* r = keys_of(right);
  for (std::size_t i = 0; i < job_orderers_.size(); ++i) {
    if (!job_orderers_[i].has_keys) {
      if (const int said = job_orderers_[i].does->job_order(*this, left, right).value_or(0); said != 0) return said;
    } else if (l[i] != r[i]) {
      return l[i] < r[i] ? -1 : 1;
    }
  }
  return 0;
}

bool session::job_before_by_asking(row left, row right) const {
  if (const int said = compare_jobs(left, right); said != 0) return said < 0;
  const job_state& l = cluster_.jobs[left];
  const job_state& r = cluster_.jobs[right];
  return l.created == r.created ? l.name < r.name : l.created < r.created;
}

bool session::sub_job_before(const sub_job_state& left, const sub_job_state& right) const {
  const int said =
      first_order(point::sub_job_order, [&](const plugin& of) { return of.sub_job_order(*this, left, right); });
  if (said != 0) return said < 0;
  return left.place == right.place ? left.name < right.name : left.place < right.place;
}

bool session::task_before(row left, row right) const {
  const int said = first_order(point::task_order, [&](const plugin& of) { return of.task_order(*this, left, right); });
  if (said != 0) return said < 0;
  const task_state& l = cluster_.tasks[left];
  const task_state& r = cluster_.tasks[right];
  return l.created == r.created ? l.uid < r.uid : l.created < r.created;
}

bool session::queue_before(row left, row right) const {
  const int said =
      first_order(point::queue_order, [&](const plugin& of) { return of.queue_order(*this, left, right); });
  if (said != 0) return said < 0;
  const queue_state& l = cluster_.queues[left];
  const queue_state& r = cluster_.queues[right];
  return l.created == r.created ? l.name < r.name : l.created < r.created;
}

bool session::loses_before(row left, row right, row taker) const {
  for (const plugin* const one : plugins_) {
    if (const int said = one->victim_queue_order(*this, left, right, taker).value_or(0); said != 0) return said < 0;
  }
  return !queue_before(left, right);
}

std::vector<row> session::in_victim_order(const std::vector<row>& tasks, row taker) const {
  const row queue = cluster_.jobs[cluster_.tasks[taker].job].queue;
  const auto before = [&](row left, row right) {
    const row left_job = cluster_.tasks[left].job;
    const row right_job = cluster_.tasks[right].job;
    if (left_job == right_job) return !task_before(left, right);
    const row left_queue = cluster_.jobs[left_job].queue;
    const row right_queue = cluster_.jobs[right_job].queue;
    if (left_queue != right_queue) return loses_before(left_queue, right_queue, queue);
    if (const int said = compare_jobs(left_job, right_job); said != 0) return said > 0;
    return !task_before(left, right);
  };
  ordered_heap<row, decltype(before)> heap(before);
  for (const row task : tasks) heap.push(task);
  std::vector<row> ordered;
  while (!heap.empty()) ordered.push_back(heap.pop());
  return ordered;
}

bool session::is_valid(row job) const {
  return std::ranges::all_of(plugins_, [&](const plugin* one) { return one->is_valid(*this, job).value_or(true); });
}

bool session::is_ready(row job) const {
  return all_agree(point::job_ready, [&](const plugin& of) { return of.is_ready(*this, job); });
}

bool session::is_ready(row job, const sub_job_state& sub_job) const {
  if (!cluster_.jobs[job].has_rules) return is_ready(job);
  return all_agree(point::sub_job_ready, [&](const plugin& of) { return of.is_sub_job_ready(*this, sub_job); });
}

bool session::is_pipelined(row job) const {
  return permitted(point::job_pipelined, [&](const plugin& of) { return of.is_pipelined(*this, job); });
}

bool session::is_pipelined(row job, const sub_job_state& sub_job) const {
  if (!cluster_.jobs[job].has_rules) return is_pipelined(job);
  return permitted(point::sub_job_pipelined, [&](const plugin& of) { return of.is_sub_job_pipelined(*this, sub_job); });
}

bool session::is_starving(row job) const {
  for (const tier& of : tiers_) {
    bool found = false;
    for (const placed_plugin& one : of) {
      if (!one.on.test(static_cast<std::size_t>(point::job_starving))) continue;
      const answer said = one.does->is_starving(*this, job);
      if (said == false) return false;
      found = found || said.has_value();
    }
    if (found) return true;
  }
  return false;
}

const plugin* session::enqueue_refuser(row job) const {
  return first_rejecter(point::job_enqueued, [&](const plugin& of) { return of.may_enqueue(*this, job); });
}

void session::enqueued(row job) {
  for (plugin* const one : asked_at(point::job_enqueued)) one->job_enqueued(*this, job);
}

const plugin* session::overuse_caller(row queue) const {
  return first_objector(point::overused, [&](const plugin& of) -> answer {
    const answer said = of.is_overused(*this, queue);
    return said ? answer(!*said) : std::nullopt;
  });
}

const plugin* session::allocation_refuser(row queue, row task) const {
  return first_objector(point::allocatable, [&](const plugin& of) { return of.is_allocatable(*this, queue, task); });
}

bool session::is_preemptive(row queue, const std::vector<row>& tasks) const {
  return all_agree(point::preemptive, [&](const plugin& of) { return of.is_preemptive(*this, queue, tasks); });
}

std::vector<row> session::preemptable(row task, const std::vector<row>& candidates) const {
  return allowed_victims(point::preemptable, [&](const plugin& of) { return of.preemptable(*this, task, candidates); });
}

std::vector<row> session::reclaimable(row task, const std::vector<row>& candidates) const {
  return allowed_victims(point::reclaimable, [&](const plugin& of) { return of.reclaimable(*this, task, candidates); });
}

std::vector<row> session::evictable(row job, taking how, const std::vector<row>& candidates) const {
  return allowed_victims(point::evictable, [&](const plugin& of) { return of.evictable(*this, job, how, candidates); });
}

node_refusal session::refuses(row task, row node) const {
  for (const plugin* const one : asked_at(point::predicate)) {
    if (const node_refusal said = one->refuses(*this, task, node); said != node_refusal::none) return said;
  }
  return node_refusal::none;
}

std::vector<double> session::node_scores(row task, const std::vector<row>& nodes) const {
  std::vector<double> scores(nodes.size(), 0.0);
  for (const plugin* const one : asked_at(point::node_order)) one->score_nodes(*this, task, nodes, scores);
  return scores;
}

row node_answers::better(row first, row second) const {
  const bool has_first = first != no_row && nodes_[first].has_room_later;
  if (second == no_row || !nodes_[second].has_room_later) return has_first ? first : no_row;
  if (!has_first) return second;
  const one& a = nodes_[first];
  const one& b = nodes_[second];
  const bool is_better = a.has_room == b.has_room ? b.score > a.score : b.has_room;
  return is_better ? second : first;
}

row node_answers::winner_at(std::size_t place) const {
  const auto below = [&](std::size_t at) -> row {
    if (at < tree_.size()) return tree_[at];
    return at - tree_.size() < nodes_.size() ? at - tree_.size() : no_row;
  };
  return better(below(2 * place + 1), below(2 * place + 2));
}

void node_answers::build_tree() {
  tree_.assign(std::max<std::size_t>(std::bit_ceil(nodes_.size()), 2) - 1, no_row);
  for (std::size_t place = tree_.size(); place-- > 0;) tree_[place] = winner_at(place);
}

void node_answers::renew(row node) {
  for (std::size_t place = node + tree_.size(); place > 0;) {
    place = (place - 1) / 2;
    const row before = tree_[place];
    tree_[place] = winner_at(place);
    // Above this place nobody has seen the node, nor does now.
    if (before != node && tree_[place] == before) return;
  }
}

node_answers& session::answers_for(row task) {
  node_answers& known = answers_[cluster_.tasks[task].kind];
  const policy::resource_list& asked = cluster_.tasks[task].first_request;
  std::vector<row> changed;
  const auto ask = [&](row node) {
    node_answers::one& about = known.nodes_[node];
    const std::uint64_t at = cluster_.nodes[node].changes + 1;
    if (about.asked_at == at) return;
    about.asked_at = at;
    const node_state& there = cluster_.nodes[node];
    about.has_room_later = refuses(task, node) == node_refusal::none && there.will_fit(asked);
    about.has_room = about.has_room_later && policy::less_equal(asked, there.idle, policy::absent_resource::zero) &&
                     !cluster_.takes_what_is_set_aside(task, there.idle) &&
                     cluster_.room_on_devices(task, node) == device_room::now;
    changed.push_back(node);
  };
  const bool is_new = known.nodes_.empty();
  if (is_new) {
    known.nodes_.resize(cluster_.nodes.size());
    for (row node = 0; node < known.nodes_.size(); ++node) ask(node);
  } else {
    // The last one that was seen may have changed again.
    for (std::size_t i = known.seen_ - std::min<std::size_t>(known.seen_, 1); i < cluster_.changed.size(); ++i)
      ask(cluster_.changed[i]);
  }
  known.seen_ = cluster_.changed.size();
  const std::vector<double> scores = node_scores(task, changed);
  for (std::size_t i = 0; i < changed.size(); ++i) known.nodes_[changed[i]].score = scores[i];
  if (is_new) {
    known.build_tree();
  } else {
    for (const row node : changed) known.renew(node);
  }
  return known;
}

std::map<std::string, double, std::less<>> session::domain_scores(const job_state& job, const sub_job_state& sub_job,
                                                                  const std::vector<std::string>& domains) const {
  std::map<std::string, double, std::less<>> scores;
  for (const std::string& name : domains) scores[name] = 0;
  for (const plugin* const one : asked_at(point::domain_order)) one->score_domains(*this, job, sub_job, scores);
  return scores;
}

std::vector<std::vector<std::string>> session::gradients(const job_state& job, const sub_job_state* sub_job,
                                                         const std::string& root, policy::domain_search purpose) const {
  for (const plugin* const one : asked_at(point::domain_gradient)) {
    if (auto found = one->gradients(*this, job, sub_job, root, purpose)) return *found;
  }
  return {{root}};
}

void session::task_allocated(row task) {
  for (plugin* const one : plugins_) one->task_allocated(*this, task);
}

void session::task_deallocated(row task) {
  for (plugin* const one : plugins_) one->task_deallocated(*this, task);
}

}  // namespace kaisched::volcano
