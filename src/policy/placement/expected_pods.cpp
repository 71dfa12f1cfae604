#include "policy/placement/expected_pods.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

namespace kaisched::policy {

namespace {

constexpr std::int64_t covered_parts = 95;  ///< of a hundred pods
constexpr std::int64_t most_milli_cores = std::int64_t{1} << 40U;
constexpr double largest_weight = 1e12;
constexpr double least_excess = 1e-9;

error bad_pod(std::string_view text, std::string_view why) {
  return {status::argument, "'" + std::string(text) + "': " + std::string(why), {}};
}

std::string_view cut(std::string_view& rest, char at) {
  const std::string_view one = rest.substr(0, rest.find(at));
  rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  return one;
}

template <class Number>
std::optional<Number> number_in(std::string_view text, Number least, Number most) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most)) return {};
  return value;
}

}  // namespace

result<typical_pod> parse_typical_pod(std::string_view text) {
  typical_pod made;
  made.share = whole_device;
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view value = cut(rest, ':');
    const std::string_view key = cut(value, '=');
    const auto integer = [&](std::int64_t& to, std::int64_t least, std::int64_t most) -> result<void> {
      const std::optional<std::int64_t> read = number_in(value, least, most);
      if (!read)
        return bad_pod(text, std::string(key) + " is not an integer from " + std::to_string(least) + " to " +
                                 std::to_string(most));
      to = *read;
      return {};
    };
    result<void> done;
    if (key == "cpu") {
      done = integer(made.cpu, 0, most_milli_cores);
    } else if (key == "gpus") {
      done = integer(made.gpus, 0, max_devices_per_node);
    } else if (key == "share") {
      done = integer(made.share, 1, whole_device);
    } else if (key == "weight") {
      const std::optional<double> read = number_in(value, 0.0, largest_weight);
      if (!read || *read == 0) return bad_pod(text, "weight is not a number above 0 and up to 1e12");
      made.weight = *read;
    } else if (key == "where") {
      made.label = cut(value, '=');
      while (!value.empty()) made.values.emplace_back(cut(value, '|'));
      if (made.label.empty() || made.values.empty()) return bad_pod(text, "where is not label=value|value");
    } else {
      return bad_pod(text, "'" + std::string(key) + "' is none of cpu, gpus, share, where, weight");
    }
    if (!done) return done.failure();
  }
  return made;
}

bool expected_class::may_use(const session_access& a, node_row row) const {
  if (like != nullptr) return node_verdict(a, *like, row) == constraint::none;
  if (label.empty()) return true;
  const std::string* value = model::find_label((*a.state->nodes)[row]->labels, label);
  return value != nullptr && std::find(values.begin(), values.end(), *value) != values.end();
}

std::tuple<std::string_view, std::string_view, std::string_view, std::vector<std::string>> expected_class::constraints()
    const {
  if (like == nullptr) return {label, {}, {}, values};
  return {like->ask.node_selector, like->ask.node_affinity, like->ask.tolerations, {}};
}

namespace {

std::vector<expected_class> from_option(const session_access& a) {
  std::vector<expected_class> classes;
  double sum = 0;
  for (const std::string& text : a.options->fgd_pods) {
    result<typical_pod> one = parse_typical_pod(text);
    if (!one) continue;  // options hold good texts only
    sum += one->weight;
    classes.push_back({one->cpu, one->gpus > 0 ? one->share : 0, one->gpus, one->weight, std::move(one->label),
                       std::move(one->values), nullptr});
  }
  if (std::abs(sum - 1) < least_excess) return classes;  // parts of one already: not rounded once more
  for (expected_class& one : classes) one.weight /= sum;
  return classes;
}

/// Pods that ask for devices in other ways than by number and share are left out.
std::vector<expected_class> from_pods(const session_access& a) {
  const model::cluster_state& s = *a.state;
  std::vector<std::int64_t> pods_of(s.class_slots, 0);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    // As the snapshot has them: later sessions over it, and copies of this one, see the same.
    const auto status = static_cast<pod_status>(s.live.pod_state[p]);
    if (s.pods[p].live && model::is_in(status, model::alive | model::active_used)) ++pods_of[s.pods[p].pod_class];
  }
  using class_key =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string_view, std::string_view, std::string_view>;
  std::map<class_key, std::pair<std::int64_t, const model::pod_class*>> found;
  std::int64_t all = 0;
  for (class_row row = 0; row < s.class_slots; ++row) {
    if (pods_of[row] == 0) continue;
    const model::pod_class& c = *s.classes[row];
    if (c.memory_devices + c.claimed_devices + c.mig_slices > 0 || c.asks_vendors()) continue;
    const std::int64_t gpus = c.whole_devices + c.shared_devices;
    auto& [count, like] = found[{c.requests(dim_cpu), gpus > 0 ? c.device_share : 0, gpus, c.ask.node_affinity,
                                 c.ask.node_selector, c.ask.tolerations}];
    count += pods_of[row];
    like = &c;
    all += pods_of[row];
  }
  std::vector<std::pair<class_key, std::pair<std::int64_t, const model::pod_class*>>> sorted(found.begin(),
                                                                                             found.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& x, const auto& y) {
    return x.second.first != y.second.first ? x.second.first > y.second.first : x.first > y.first;
  });
  std::vector<expected_class> classes;
  std::int64_t covered = 0;
  for (const auto& [key, value] : sorted) {
    const auto& [count, like] = value;
    classes.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), static_cast<double>(count), {}, {}, like});
    covered += count;
    if (100 * covered >= covered_parts * all) break;
  }
  // In the authors' order of divisions.
  const auto total = static_cast<double>(all);
  const double part = static_cast<double>(covered) / total;
  for (expected_class& one : classes) one.weight = one.weight / total / part;
  return classes;
}

}  // namespace

std::vector<expected_class> expected_classes(const session_access& a) {
  return a.options->fgd_pods.empty() ? from_pods(a) : from_option(a);
}

node_types types_of_nodes(const session_access& a, const std::vector<expected_class>& classes) {
  std::map<decltype(classes.front().constraints()), std::uint32_t> numbers;
  std::vector<std::uint32_t> number_of;  // by class
  std::vector<const expected_class*> with_number;
  for (const expected_class& one : classes) {
    const auto [at, fresh] = numbers.try_emplace(one.constraints(), static_cast<std::uint32_t>(with_number.size()));
    if (fresh) with_number.push_back(&one);
    number_of.push_back(at->second);
  }
  node_types made;
  std::map<std::vector<bool>, std::uint32_t> type_with;
  std::vector<bool> verdicts(with_number.size());
  for (node_row row = 0; row < a.state->node_count(); ++row) {
    for (std::size_t i = 0; i < with_number.size(); ++i) verdicts[i] = with_number[i]->may_use(a, row);
    const auto [at, fresh] = type_with.try_emplace(verdicts, static_cast<std::uint32_t>(made.may_use.size()));
    if (fresh) {
      std::vector<bool> may_use;
      for (const std::uint32_t number : number_of) may_use.push_back(verdicts[number]);
      made.may_use.push_back(std::move(may_use));
    }
    made.of_node.push_back(at->second);
  }
  return made;
}

}  // namespace kaisched::policy
