// Parts of the host behind C functions.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/engine.hpp>

#include "guard.hpp"
#include "handles.hpp"
#include "policy/access.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

// ---- what a part sees ----------------------------------------------------------------------------------------------

struct seen_session {
  kaisched_view view{};  ///< first: the functions find the rest from it
  const session_view* inside = nullptr;
};

const session_view& inside_of(const kaisched_view* view) {
  return *reinterpret_cast<const seen_session*>(view)->inside;  // NOLINT: standard layout, first member
}
const model::cluster_state& state_of(const kaisched_view* view) { return *policy::inside(inside_of(view)).state; }

kaisched_text text_of(std::string_view text) { return {text.data() == nullptr ? "" : text.data(), text.size()}; }

/// Copies what the part's version of the structure has room for.
template <class Facts>
void hand_over(const Facts& all, Facts* out) {
  const std::uint32_t size = out->struct_size;
  if (size < sizeof(std::uint32_t)) return;
  std::memcpy(out, &all, std::min<std::size_t>(size, sizeof all));
  out->struct_size = size;
}

void tell_node(const kaisched_view* view, std::uint32_t row, kaisched_node_facts* out) noexcept {
  kaisched_node_facts facts{};
  const model::cluster_state& s = state_of(view);
  if (row < s.node_count()) {
    const model::node_info& node = *(*s.nodes)[row];
    facts.ready = node.ready ? 1 : 0;
    facts.unschedulable = node.unschedulable ? 1 : 0;
    facts.id = entity_id(entity_kind::node, (*s.node_generation)[node.slot], node.slot).value;
    facts.name = text_of(node.name);
  }
  hand_over(facts, out);
}

void tell_pod(const kaisched_view* view, std::uint32_t row, kaisched_pod_facts* out) noexcept {
  kaisched_pod_facts facts{};
  const model::cluster_state& s = state_of(view);
  if (row < s.pod_slots && s.pods[row].live) {
    const session_view& now = inside_of(view);
    const std::span<const std::int64_t> request = now.pod_request(row);
    facts.status = static_cast<std::uint32_t>(now.status_of(row));
    facts.node = now.node_of(row);
    facts.group = now.pod_group(row);
    facts.pod_class = now.pod_class(row);
    facts.request_count = static_cast<std::uint32_t>(request.size());
    facts.id = entity_id(entity_kind::pod, s.pods[row].generation, row).value;
    facts.name = text_of(now.pod_name(row));
    facts.sub_group = text_of(now.pod_sub_group(row));
    facts.request = request.data();
  }
  hand_over(facts, out);
}

void tell_group(const kaisched_view* view, std::uint32_t row, kaisched_group_facts* out) noexcept {
  kaisched_group_facts facts{};
  const model::cluster_state& s = state_of(view);
  if (row < s.group_slots && s.groups[row].live) {
    const model::group_core& group = s.groups[row];
    facts.queue = group.queue;
    facts.preemptible = group.preemptible ? 1 : 0;
    facts.semi_preemptible = group.semi_preemptible ? 1 : 0;
    facts.priority = group.priority;
    facts.created = group.created;
    facts.id = entity_id(entity_kind::pod_group, group.generation, row).value;
    facts.name = text_of(s.group_names[row]);
  }
  hand_over(facts, out);
}

void tell_queue(const kaisched_view* view, std::uint32_t row, kaisched_queue_facts* out) noexcept {
  kaisched_queue_facts facts{};
  const model::cluster_state& s = state_of(view);
  if (row < s.queues->size() && (*s.queues)[row].live) {
    const model::queue_info& queue = (*s.queues)[row];
    facts.parent = queue.parent;
    facts.id = entity_id(entity_kind::queue, queue.generation, row).value;
    facts.name = text_of(queue.name);
    facts.allocated = inside_of(view).queue_allocated(row).data();
    facts.fair_share = inside_of(view).queue_fair_share(row).data();
  }
  hand_over(facts, out);
}

kaisched_text tell_node_label(const kaisched_view* view, std::uint32_t row, const char* key) noexcept {
  if (row >= state_of(view).node_count() || key == nullptr) return {};
  bool found = false;
  const std::string_view value = inside_of(view).node_label(row, key, &found);
  return found ? text_of(value) : kaisched_text{};
}

kaisched_text tell_pod_label(const kaisched_view* view, std::uint32_t row, const char* key) noexcept {
  const model::cluster_state& s = state_of(view);
  if (row >= s.pod_slots || !s.pods[row].live || key == nullptr) return {};
  bool found = false;
  const std::string_view value = inside_of(view).pod_label(row, key, &found);
  return found ? text_of(value) : kaisched_text{};
}

kaisched_text tell_dimension(const kaisched_view* view, std::uint32_t number) noexcept {
  return number < state_of(view).dims() ? text_of(inside_of(view).dimension_name(number)) : kaisched_text{};
}

seen_session see(const session_view& inside) {
  seen_session seen;
  seen.inside = &inside;
  seen.view = {sizeof(kaisched_view),
               inside.node_count(),
               inside.dimension_count(),
               0,
               inside.now(),
               inside.node_capacity().data(),
               inside.node_idle().data(),
               inside.node_releasing().data(),
               tell_node,
               tell_pod,
               tell_group,
               tell_queue,
               tell_node_label,
               tell_pod_label,
               tell_dimension};
  return seen;
}

// ---- the part
// --------------------------------------------------------------------------------------------------------

/// What was added, shared by the registry and by all instances.
struct added_part {
  kaisched_part body{};
  std::string name;
  std::vector<std::pair<std::string, std::string>> options;
  double weight = 1;

  added_part() = default;
  added_part(const added_part&) = delete;
  added_part& operator=(const added_part&) = delete;
  ~added_part() {
    if (body.release != nullptr) body.release(body.context);
  }
  [[nodiscard]] bool has(kaisched_part_flag flag) const { return (body.flags & static_cast<std::uint32_t>(flag)) != 0; }
};

/// An array for a part to fill, with guards around it where it is to be validated.
template <class Value>
class filled {
 public:
  filled(std::span<const Value> start, bool guarded) : guards_(guarded ? guard_values : 0), size_(start.size()) {
    values_.assign(size_ + 2 * guards_, guard());
    std::copy(start.begin(), start.end(), values_.begin() + static_cast<std::ptrdiff_t>(guards_));
  }
  [[nodiscard]] Value* data() { return values_.data() + guards_; }
  [[nodiscard]] std::span<Value> values() { return std::span(values_).subspan(guards_, size_); }
  [[nodiscard]] bool is_intact() const {
    const auto good = [](const Value& one) { return std::memcmp(&one, &guard_pattern, sizeof one) == 0; };
    return std::all_of(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(guards_), good) &&
           std::all_of(values_.end() - static_cast<std::ptrdiff_t>(guards_), values_.end(), good);
  }

 private:
  static constexpr std::size_t guard_values = 16;
  static Value guard() { return guard_pattern; }
  static inline const Value guard_pattern = [] {
    Value one;
    std::memset(&one, 0xA5, sizeof one);
    return one;
  }();
  std::size_t guards_;
  std::size_t size_;
  std::vector<Value> values_;
};

class host_part final : public policy_part {
 public:
  explicit host_part(std::shared_ptr<const added_part> part) : part_(std::move(part)) {}
  ~host_part() override {
    if (created_ && part_->body.destroy != nullptr) quietly([&] { part_->body.destroy(state_); });
  }

  [[nodiscard]] std::string_view name() const noexcept override { return part_->name; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    const kaisched_part& b = part_->body;
    return (b.order_groups != nullptr ? part_orders_groups : 0U) |
           (b.filter_nodes != nullptr ? part_filters_nodes : 0U) | (b.score_nodes != nullptr ? part_scores_nodes : 0U) |
           (b.divide_shares != nullptr ? part_divides_shares : 0U) |
           (b.judge_victims != nullptr ? part_judges_victims : 0U) | (b.permit != nullptr ? part_permits : 0U) |
           (b.changed != nullptr ? part_hears_changes : 0U) |
           (b.order_groups != nullptr && part_->has(KAISCHED_PART_ORDER_IS_SHARED) ? part_order_is_shared : 0U);
  }

  result<void> session_open(const session_view& inside) override {
    if (part_->body.create != nullptr) {
      std::vector<kaisched_kv> options;
      for (const auto& [key, value] : part_->options) options.push_back({key.c_str(), value.c_str()});
      const result<void> made = called("create", [&](kaisched_error* err) {
        return part_->body.create(part_->body.context, options.data(), options.size(), &state_, err);
      });
      if (!made) return made;
    }
    created_ = true;
    if (part_->body.session_open != nullptr) {
      const seen_session seen = see(inside);
      const result<void> done = called(
          "session_open", [&](kaisched_error* err) { return part_->body.session_open(state_, &seen.view, err); });
      if (!done) return done;
    }
    opened_ = true;
    return {};
  }
  void session_close() noexcept override {
    if (opened_ && part_->body.session_close != nullptr) quietly([&] { part_->body.session_close(state_); });
  }

  result<void> order_groups(const session_view& inside, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    const seen_session seen = see(inside);
    const std::vector<kaisched_order_key> start(groups.size());
    result<std::vector<kaisched_order_key>> said = ask<kaisched_order_key>(
        "order_groups", start,
        [&](kaisched_order_key* to, kaisched_error* err) {
          return part_->body.order_groups(state_, &seen.view, groups.data(), groups.size(), to, err);
        },
        [](std::span<const kaisched_order_key>) { return std::string(); });
    if (!said) return said.failure();
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = {(*said)[i].first, (*said)[i].second};
    return {};
  }

  result<void> filter_nodes(const session_view& inside, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    const seen_session seen = see(inside);
    std::vector<std::uint8_t> start;
    for (const constraint one : verdicts) start.push_back(static_cast<std::uint8_t>(one));
    result<std::vector<std::uint8_t>> said = ask<std::uint8_t>(
        "filter_nodes", start,
        [&](std::uint8_t* to, kaisched_error* err) {
          return part_->body.filter_nodes(state_, &seen.view, pod, nodes.data(), nodes.size(), to, err);
        },
        [&](std::span<const std::uint8_t> all) {
          const auto bad =
              std::find_if(all.begin(), all.end(), [](std::uint8_t one) { return one >= constraint_count; });
          if (bad == all.end()) return std::string();
          return "the verdict " + std::to_string(*bad) + " on node '" + name_of(inside, nodes, all, bad) +
                 "', which is no constraint";
        });
    if (!said) return said.failure();
    for (std::size_t i = 0; i < nodes.size(); ++i) verdicts[i] = static_cast<constraint>((*said)[i]);
    return {};
  }

  result<void> score_nodes(const session_view& inside, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const seen_session seen = see(inside);
    const std::vector<std::int64_t> start(nodes.size(), 0);
    result<std::vector<std::int64_t>> said = ask<std::int64_t>(
        "score_nodes", start,
        [&](std::int64_t* to, kaisched_error* err) {
          return part_->body.score_nodes(state_, &seen.view, pod, nodes.data(), nodes.size(), to, err);
        },
        [&](std::span<const std::int64_t> all) {
          const auto bad = std::find_if(all.begin(), all.end(),
                                        [](std::int64_t one) { return one < 0 || one > KAISCHED_MAX_SCORE; });
          if (bad == all.end()) return std::string();
          return "the score " + std::to_string(*bad) + " to node '" + name_of(inside, nodes, all, bad) +
                 "', which is not in 0 .. " + std::to_string(KAISCHED_MAX_SCORE);
        });
    if (!said) return said.failure();
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += part_->weight * static_cast<double>((*said)[i]);
    return {};
  }

  result<void> divide_shares(const session_view& inside, std::span<const queue_row> queues,
                             std::span<std::int64_t> shares) override {
    const seen_session seen = see(inside);
    result<std::vector<std::int64_t>> said = ask<std::int64_t>(
        "divide_shares", shares,
        [&](std::int64_t* to, kaisched_error* err) {
          return part_->body.divide_shares(state_, &seen.view, queues.data(), queues.size(), to, err);
        },
        [&](std::span<const std::int64_t> all) {
          const auto bad =
              std::find_if(all.begin(), all.end(), [](std::int64_t one) { return one < 0 || one > max_sum; });
          if (bad == all.end()) return std::string();
          const queue_row queue = queues[static_cast<std::size_t>(bad - all.begin()) / quota_dimensions];
          return "the fair share " + std::to_string(*bad) + " to queue '" + std::string(inside.queue_name(queue)) +
                 "', which is not in 0 .. 2^62";
        });
    if (!said) return said.failure();
    std::copy(said->begin(), said->end(), shares.begin());
    return {};
  }

  result<void> judge_victims(const session_view& inside, action_kind action, group_row waiting,
                             std::span<const group_row> groups, std::span<std::uint8_t> spared) override {
    const seen_session seen = see(inside);
    result<std::vector<std::uint8_t>> said = ask<std::uint8_t>(
        "judge_victims", spared,
        [&](std::uint8_t* to, kaisched_error* err) {
          return part_->body.judge_victims(state_, &seen.view, static_cast<std::uint32_t>(action), waiting,
                                           groups.data(), groups.size(), to, err);
        },
        [&](std::span<const std::uint8_t> all) {
          const auto bad = std::find_if(all.begin(), all.end(), [](std::uint8_t one) { return one > 1; });
          if (bad == all.end()) return std::string();
          const group_row group = groups[static_cast<std::size_t>(bad - all.begin())];
          return "the judgement " + std::to_string(*bad) + " on group '" + std::string(inside.group_name(group)) +
                 "', which is neither 0 nor 1";
        });
    if (!said) return said.failure();
    std::copy(said->begin(), said->end(), spared.begin());
    return {};
  }

  result<bool> permit(const session_view& inside, group_row group, std::span<const pod_row> pods) override {
    const seen_session seen = see(inside);
    const std::vector<std::int32_t> start(1, 1);
    result<std::vector<std::int32_t>> said = ask<std::int32_t>(
        "permit", start,
        [&](std::int32_t* to, kaisched_error* err) {
          return part_->body.permit(state_, &seen.view, group, pods.data(), pods.size(), to, err);
        },
        [&](std::span<const std::int32_t> all) {
          if (all.front() == 0 || all.front() == 1) return std::string();
          return "group '" + std::string(inside.group_name(group)) + "' the permission " + std::to_string(all.front()) +
                 ", which is neither 0 nor 1";
        });
    if (!said) return said.failure();
    return said->front() == 1;
  }

  void changed(const session_view& inside, std::span<const session_change> changes) noexcept override {
    if (!opened_) return;
    quietly([&] {
      const seen_session seen = see(inside);
      std::vector<kaisched_change> all;
      for (const session_change& one : changes)
        all.push_back({one.pod, one.node, static_cast<std::uint32_t>(one.before), static_cast<std::uint32_t>(one.now)});
      part_->body.changed(state_, &seen.view, all.data(), all.size());
    });
  }

 private:
  template <class Value>
  static std::string name_of(const session_view& inside, std::span<const node_row> nodes, std::span<const Value> all,
                             typename std::span<const Value>::iterator bad) {
    return std::string(inside.node_name(nodes[static_cast<std::size_t>(bad - all.begin())]));
  }

  [[nodiscard]] error failed(std::string_view function, std::string_view what) const {
    return {status::plugin, "part '" + part_->name + "', " + std::string(function) + ": " + std::string(what), {}};
  }

  /// What a function of the part returns or throws as a result.
  template <class Call>
  result<void> called(std::string_view function, Call&& call) const {
    kaisched_error err = KAISCHED_ERROR_INIT;
    kaisched_status got = KAISCHED_OK;
    try {
      got = call(&err);
    } catch (const std::exception& thrown) {
      return failed(function, "it threw an exception: " + std::string(thrown.what()));
    } catch (...) {
      return failed(function, "it threw an exception");
    }
    if (got >= 0) return {};
    err.message[sizeof err.message - 1] = '\0';
    return failed(function,
                  err.message[0] != '\0' ? std::string(err.message) : "it returned status " + std::to_string(got));
  }

  template <class Call>
  static void quietly(Call&& call) noexcept {
    try {
      call();
    } catch (...) {  // NOLINT(bugprone-empty-catch): there is nobody to tell
    }
  }

  /// Lets a function of the part fill an array and judges what it says. `why_bad` gives what is wrong, or nothing.
  template <class Value, class Call, class Judge>
  result<std::vector<Value>> ask(std::string_view function, std::span<const Value> start, Call&& call,
                                 Judge&& why_bad) const {
    const bool validates = part_->has(KAISCHED_PART_VALIDATE);
    std::vector<Value> said;
    result<void> outcome;
    if (!opened_) outcome = failed(function, "it could not be opened for this fork of a session");
    for (int round = 0; outcome.ok() && round < (validates ? 2 : 1); ++round) {
      filled<Value> values(start, validates);
      outcome = called(function, [&](kaisched_error* err) { return call(values.data(), err); });
      if (outcome.ok() && !values.is_intact()) outcome = failed(function, "it wrote beyond its array");
      if (!outcome.ok()) break;
      const std::span<Value> got = values.values();
      if (const std::string why = why_bad(std::span<const Value>(got)); !why.empty()) {
        outcome = failed(function, "it gave " + why);
      } else if (round > 0 && !got.empty() && std::memcmp(got.data(), said.data(), got.size() * sizeof(Value)) != 0) {
        outcome = failed(function, "it answered the same question in two ways");
      }
      said.assign(got.begin(), got.end());
    }
    if (outcome.ok()) return said;
    if (opened_ && part_->has(KAISCHED_PART_NEUTRAL_ON_ERROR)) return std::vector<Value>(start.begin(), start.end());
    return outcome.failure();
  }

  std::shared_ptr<const added_part> part_;
  void* state_ = nullptr;
  bool created_ = false;
  bool opened_ = false;
};

result<double> weight_of(const char* text) {
  double value = 0;
  const char* const end = text + std::strlen(text);
  const auto [at, code] = std::from_chars(text, end, value);
  if (code != std::errc() || at != end || !std::isfinite(value) || std::abs(value) > 1e12)
    return bad_argument("option weight: '" + std::string(text) + "' is no number between -1e12 and 1e12");
  return value;
}

}  // namespace

kaisched_status kaisched_engine_add_part(kaisched_engine* engine, const kaisched_part* part, const kaisched_kv* options,
                                         std::size_t count, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_ENGINE_ADD_PART, [&]() -> result<void> {
    if (auto r = require({{engine, "engine"}, {part, "part"}}); !r) return r;
    if (part->struct_size < sizeof(kaisched_part))
      return error{status::struct_size,
                   "part: struct_size is " + std::to_string(part->struct_size) + ", " +
                       std::to_string(sizeof(kaisched_part)) + " is the least",
                   {}};
    if (auto r = check_abi(part->abi); !r) return r;
    if (auto r = require({{part->name, "the name of the part"}}); !r) return r;
    if (options == nullptr && count > 0) return bad_argument("options is NULL");
    if ((part->flags & ~7U) != 0) return bad_argument("part: flags has bits that are not known");
    const bool offers = part->order_groups != nullptr || part->filter_nodes != nullptr ||
                        part->score_nodes != nullptr || part->divide_shares != nullptr ||
                        part->judge_victims != nullptr || part->permit != nullptr || part->changed != nullptr;
    if (!offers) return bad_argument("part '" + std::string(part->name) + "' offers no function");
    auto added = std::make_shared<added_part>();
    added->name = part->name;
    for (std::size_t i = 0; i < count; ++i) {
      if (auto r = require({{options[i].key, "the key of an option"}, {options[i].value, "the value of an option"}});
          !r)
        return r;
      added->options.emplace_back(options[i].key, options[i].value);
      if (added->options.back().first != "weight") continue;
      const result<double> weight = weight_of(options[i].value);
      if (!weight) return weight.failure();
      added->weight = *weight;
    }
    if (auto done = engine->body.register_part(
            added->name, [added](const policy_options&) { return std::make_unique<host_part>(added); });
        !done)
      return done;
    engine->has_parts = true;
    added->body = *part;  // from now on it is released
    added->body.name = added->name.c_str();
    return {};
  });
}
