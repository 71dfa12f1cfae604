#include "server/page_state.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <kaisched/abi.hpp>

#include "api_server/clock_text.hpp"

namespace shim {

namespace {

namespace abi = kaisched::abi;
using ordered = nlohmann::ordered_json;

constexpr std::size_t gpu_column = 2;
constexpr std::int64_t whole_card = 1000;

std::int64_t integer(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// The value of a key in `id=...,memory=...`; empty if there is none.
std::string_view field_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    if (one.size() > key.size() && one.starts_with(key) && one[key.size()] == '=') return one.substr(key.size() + 1);
    text.remove_prefix(std::min(one.size() + 1, text.size()));
  }
  return {};
}

struct card {
  std::int64_t index = 0;
  std::string id;
  std::string model;
  std::int64_t memory = 0;  ///< bytes; 0: not known
  std::int64_t granted_memory = 0;
  std::int64_t granted_cores = 0;  ///< permille
  bool healthy = true;
  std::vector<std::string> pods;
};

struct machine_state {
  std::string name;
  bool ready = true;
  std::int64_t gpus = 0;  ///< milli
  std::map<std::string, std::string> labels;
  std::vector<card> cards;
  std::vector<std::string> waiting_for_cards;  ///< pods with whole cards of which nobody says which
};

/// Nodes with their cards and who has which part of them.
class inventory {
 public:
  explicit inventory(const evidence& seen) : seen_(seen) {
    read_nodes();
    read_devices();
    read_grants();
    read_placements();
  }
  [[nodiscard]] const std::vector<machine_state>& nodes() const noexcept { return nodes_; }

 private:
  void read_nodes() {
    const abi::table table = seen_.snapshot.table(KAISCHED_TABLE_NODE);
    const auto names = table.texts(KAISCHED_NODE_COL_NAME);
    const auto capacity = table.numbers<std::int64_t>(KAISCHED_NODE_COL_CAPACITY);
    const std::size_t width = table.width(KAISCHED_NODE_COL_CAPACITY);
    const auto ready = table.numbers<std::uint8_t>(KAISCHED_NODE_COL_READY);
    const auto closed = table.numbers<std::uint8_t>(KAISCHED_NODE_COL_UNSCHEDULABLE);
    const auto labels = table.text_lists(KAISCHED_NODE_COL_LABELS);
    const auto memory = table.numbers<std::int64_t>(KAISCHED_NODE_COL_GPU_MEMORY);
    const auto vendor_devices = table.text_lists(KAISCHED_NODE_COL_VENDOR_DEVICES);
    for (std::size_t i = 0; i < table.rows(); ++i) {
      machine_state one;
      one.name = names[i];
      one.ready = ready[i] != 0 && closed[i] == 0;
      one.gpus = capacity[i * width + gpu_column];
      const std::vector<std::string_view> pairs = labels[i];
      for (std::size_t at = 0; at + 1 < pairs.size(); at += 2) one.labels[std::string(pairs[at])] = pairs[at + 1];
      for (const std::string_view device : vendor_devices[i]) {
        one.cards.push_back({integer(field_of(device, "index")),
                             std::string(field_of(device, "id")),
                             std::string(field_of(device, "type")),
                             integer(field_of(device, "memory")),
                             0,
                             0,
                             field_of(device, "healthy") != "0",
                             {}});
      }
      if (one.cards.empty()) {
        for (std::int64_t at = 0; at < one.gpus / whole_card; ++at) {
          one.cards.push_back({at, {}, {}, memory[i], 0, 0, true, {}});
        }
      }
      places_.emplace(one.name, nodes_.size());
      nodes_.push_back(std::move(one));
    }
  }

  void read_devices() {
    const abi::table table = seen_.snapshot.table(KAISCHED_TABLE_DEVICE);
    const auto nodes = table.texts(KAISCHED_DEVICE_COL_NODE);
    const auto indices = table.numbers<std::uint32_t>(KAISCHED_DEVICE_COL_INDEX);
    const auto uuids = table.texts(KAISCHED_DEVICE_COL_UUID);
    const auto models = table.texts(KAISCHED_DEVICE_COL_MODEL);
    const auto memory = table.numbers<std::int64_t>(KAISCHED_DEVICE_COL_MEMORY);
    const auto healthy = table.numbers<std::uint8_t>(KAISCHED_DEVICE_COL_HEALTHY);
    for (std::size_t i = 0; i < table.rows(); ++i) {
      card* const one = find(nodes[i], [&](const card& c) { return c.index == std::int64_t{indices[i]}; });
      if (one == nullptr) continue;
      one->id = uuids[i];
      one->model = models[i];
      if (memory[i] > 0) one->memory = memory[i];
      one->healthy = healthy[i] != 0;
    }
  }

  template <class Test>
  card* find(std::string_view node, Test is_it) {
    const auto place = places_.find(node);
    if (place == places_.end()) return nullptr;
    std::vector<card>& all = nodes_[place->second].cards;
    const auto found = std::find_if(all.begin(), all.end(), is_it);
    return found == all.end() ? nullptr : &*found;
  }

  /// What pods have of devices of vendors: as their annotations say, or as this session has decided.
  void read_grants() {
    const abi::table pods = seen_.snapshot.table(KAISCHED_TABLE_POD);
    const auto names = pods.texts(KAISCHED_POD_COL_NAME);
    const auto held = pods.text_lists(KAISCHED_POD_COL_DEVICE_GRANTS);
    for (std::size_t i = 0; i < pods.rows(); ++i) {
      keep_grants(names[i], held[i]);
    }
    const abi::table decisions = seen_.session.table(KAISCHED_TABLE_DECISION);
    const auto decided = decisions.texts(KAISCHED_DECISION_COL_POD_NAME);
    const auto given = decisions.text_lists(KAISCHED_DECISION_COL_DEVICE_GRANTS);
    for (std::size_t i = 0; i < decisions.rows(); ++i) {
      keep_grants(decided[i], given[i]);
    }
  }

  /// Places in cells are no devices.
  void keep_grants(std::string_view pod, std::vector<std::string_view> grants) {
    std::erase_if(grants, [](std::string_view one) { return one.starts_with("cell="); });
    if (!grants.empty()) grants_[std::string(pod)] = std::move(grants);
  }

  void read_placements() {
    const abi::table pods = seen_.snapshot.table(KAISCHED_TABLE_POD);
    const auto names = pods.texts(KAISCHED_POD_COL_NAME);
    const auto requests = pods.numbers<std::int64_t>(KAISCHED_POD_COL_REQUEST);
    const std::size_t width = pods.width(KAISCHED_POD_COL_REQUEST);
    const auto counts = pods.numbers<std::uint32_t>(KAISCHED_POD_COL_DEVICE_COUNT);
    const auto memory = pods.numbers<std::int64_t>(KAISCHED_POD_COL_GPU_MEMORY);
    std::map<std::string_view, std::size_t> rows;
    for (std::size_t i = 0; i < pods.rows(); ++i) rows.emplace(names[i], i);

    const abi::table placed = seen_.session.table(KAISCHED_TABLE_PLACEMENT);
    const auto placed_names = placed.texts(KAISCHED_PLACEMENT_COL_POD_NAME);
    const auto nodes = placed.texts(KAISCHED_PLACEMENT_COL_NODE_NAME);
    const auto status = placed.numbers<std::uint8_t>(KAISCHED_PLACEMENT_COL_STATUS);
    const auto devices = placed.lists(KAISCHED_PLACEMENT_COL_DEVICES);
    for (std::size_t i = 0; i < placed.rows(); ++i) {
      const bool holds = status[i] == KAISCHED_POD_STATUS_ALLOCATED ||
                         (status[i] >= KAISCHED_POD_STATUS_BINDING && status[i] < KAISCHED_POD_STATUS_SUCCEEDED);
      const auto row = rows.find(placed_names[i]);
      if (!holds || nodes[i].empty() || row == rows.end()) continue;
      const std::string pod(placed_names[i]);
      if (const auto grants = grants_.find(pod); grants != grants_.end()) {
        for (const std::string_view one : grants->second) grant(nodes[i], pod, one);
        continue;
      }
      const std::int64_t asked = requests[row->second * width + gpu_column];
      if (asked <= 0 && memory[row->second] <= 0) continue;
      const std::int64_t over = std::max<std::int64_t>({1, counts[row->second], std::int64_t(devices[i].size())});
      for (const std::int64_t index : devices[i]) {
        share(nodes[i], pod, index, std::min(whole_card, asked / over), memory[row->second]);
      }
      if (devices[i].empty()) {
        if (const auto at = places_.find(nodes[i]); at != places_.end())
          nodes_[at->second].waiting_for_cards.push_back(pod);
      }
    }
  }

  void grant(std::string_view node, const std::string& pod, std::string_view text) {
    const std::string_view device = field_of(text, "device");
    card* const one = find(node, [&](const card& c) { return c.id == device; });
    if (one == nullptr) return;
    one->granted_memory += integer(field_of(text, "memory"));
    one->granted_cores += integer(field_of(text, "cores")) * 10;
    if (std::find(one->pods.begin(), one->pods.end(), pod) == one->pods.end()) one->pods.push_back(pod);
  }

  void share(std::string_view node, const std::string& pod, std::int64_t index, std::int64_t permille,
             std::int64_t bytes) {
    card* const one = find(node, [&](const card& c) { return c.index == index; });
    if (one == nullptr) return;
    if (bytes > 0 && one->memory > 0) permille = std::min(whole_card, bytes * whole_card / one->memory);
    one->granted_memory += bytes > 0 ? bytes : one->memory / whole_card * permille;
    one->granted_cores += permille;
    one->pods.push_back(pod);
  }

  const evidence& seen_;
  std::vector<machine_state> nodes_;
  std::map<std::string, std::size_t, std::less<>> places_;
  std::map<std::string, std::vector<std::string_view>> grants_;
};

/// What queues have used in the past, by name.
std::map<std::string_view, ordered> usage_of(const evidence& seen) {
  const abi::table table = seen.snapshot.table(KAISCHED_TABLE_QUEUE);
  const auto names = table.texts(KAISCHED_QUEUE_COL_NAME);
  const auto parts = table.numbers<double>(KAISCHED_QUEUE_COL_USAGE);
  std::map<std::string_view, ordered> all;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    all.emplace(names[i], ordered{parts[i * 3], parts[i * 3 + 1], parts[i * 3 + 2]});
  }
  return all;
}

ordered queues_of(const evidence& seen) {
  const std::map<std::string_view, ordered> used = usage_of(seen);
  const abi::table table = seen.session.table(KAISCHED_TABLE_QUEUE_SHARE);
  const auto names = table.texts(KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME);
  const auto parents = table.texts(KAISCHED_QUEUE_SHARE_COL_PARENT_NAME);
  const auto pending = table.numbers<std::int64_t>(KAISCHED_QUEUE_SHARE_COL_PENDING_PODS);
  const std::array columns{std::pair{"quota", KAISCHED_QUEUE_SHARE_COL_QUOTA},
                           std::pair{"limit", KAISCHED_QUEUE_SHARE_COL_LIMIT},
                           std::pair{"fair_share", KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE},
                           std::pair{"requested", KAISCHED_QUEUE_SHARE_COL_REQUEST},
                           std::pair{"allocated", KAISCHED_QUEUE_SHARE_COL_ALLOCATED}};
  ordered all = ordered::array();
  for (std::size_t i = 0; i < table.rows(); ++i) {
    ordered one{{"name", names[i]}, {"parent", parents[i]}, {"pending_pods", pending[i]}};
    for (const auto& [name, column] : columns) {
      const auto values = table.numbers<std::int64_t>(column);
      one[name] = {values[i * 3], values[i * 3 + 1], values[i * 3 + 2]};
    }
    const auto past = used.find(names[i]);
    one["usage"] = past == used.end() ? ordered{0.0, 0.0, 0.0} : past->second;
    all.push_back(std::move(one));
  }
  return all;
}

ordered waiting_of(const evidence& seen) {
  std::map<std::string_view, std::string_view> queues;
  const abi::table groups = seen.snapshot.table(KAISCHED_TABLE_POD_GROUP);
  const auto group_names = groups.texts(KAISCHED_POD_GROUP_COL_NAME);
  const auto group_queues = groups.texts(KAISCHED_POD_GROUP_COL_QUEUE);
  for (std::size_t i = 0; i < groups.rows(); ++i) queues.emplace(group_names[i], group_queues[i]);

  const abi::table reasons = seen.session.table(KAISCHED_TABLE_REASON);
  const auto names = reasons.texts(KAISCHED_REASON_COL_GROUP_NAME);
  const auto constraints = reasons.texts(KAISCHED_REASON_COL_CONSTRAINT);
  const auto sentences = reasons.texts(KAISCHED_REASON_COL_TEXT);
  ordered all = ordered::array();
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < reasons.rows(); ++i) {
    const auto [at, first] = places.try_emplace(names[i], all.size());
    if (first) all.push_back({{"group", names[i]}, {"queue", queues[names[i]]}, {"reasons", ordered::array()}});
    all[at->second]["reasons"].push_back({{"constraint", constraints[i]}, {"text", sentences[i]}});
  }
  return all;
}

ordered topologies_of(const evidence& seen) {
  const abi::table table = seen.snapshot.table(KAISCHED_TABLE_TOPOLOGY);
  const auto names = table.texts(KAISCHED_TOPOLOGY_COL_NAME);
  const auto levels = table.text_lists(KAISCHED_TOPOLOGY_COL_LEVELS);
  ordered all = ordered::array();
  for (std::size_t i = 0; i < table.rows(); ++i) all.push_back({{"name", names[i]}, {"levels", levels[i]}});
  return all;
}

ordered card_state(const machine_state& of, const card& one, const usage_board& used,
                   std::chrono::steady_clock::time_point now) {
  ordered made{{"index", one.index},
               {"id", one.id},
               {"model", one.model},
               {"healthy", one.healthy},
               {"memory", one.memory},
               {"granted_memory", one.granted_memory},
               {"granted_cores", one.granted_cores},
               {"pods", one.pods}};
  if (const auto use = used.find(of.name, one.id, one.index, now)) {
    made["used_memory"] = use->memory;
    if (use->cores >= 0) made["used_cores"] = use->cores;
  }
  return made;
}

ordered nodes_of(const evidence& seen, const ordered& topologies, const usage_board& used) {
  const auto now = std::chrono::steady_clock::now();
  const inventory all_of(seen);
  ordered all = ordered::array();
  for (const machine_state& one : all_of.nodes()) {
    ordered domains = ordered::object();
    for (const ordered& tree : topologies) {
      ordered path = ordered::array();
      for (const ordered& level : tree["levels"]) {
        const auto found = one.labels.find(level.get<std::string>());
        path.push_back(found == one.labels.end() ? "" : found->second);
      }
      domains[tree["name"].get<std::string>()] = std::move(path);
    }
    ordered cards = ordered::array();
    for (const card& c : one.cards) cards.push_back(card_state(one, c, used, now));
    all.push_back({{"name", one.name},
                   {"ready", one.ready},
                   {"domains", std::move(domains)},
                   {"cards", std::move(cards)},
                   {"pods_without_card", one.waiting_for_cards}});
  }
  return all;
}

}  // namespace

void usage_board::take(const std::string& report, std::chrono::steady_clock::time_point now) {
  const nlohmann::json all = nlohmann::json::parse(report, nullptr, false);
  if (!all.is_object() || all.value("schema", "") != "kaisched-cuda-usage/1" || !all.contains("cards") ||
      !all["cards"].is_array()) {
    throw bad_input("not a document of the schema kaisched-cuda-usage/1");
  }
  std::vector<std::pair<std::pair<std::string, std::int64_t>, entry>> read;
  try {
    for (const nlohmann::json& one : all["cards"]) {
      read.push_back({{one.at("node").get<std::string>(), one.at("index").get<std::int64_t>()},
                      {{one.at("held_bytes").get<std::int64_t>(), one.at("used_permille").get<std::int64_t>()},
                       one.at("uuid").get<std::string>(),
                       now}});
    }
  } catch (const nlohmann::json::exception& fault) {
    throw bad_input(fmt::format("cards[{}]: {}", read.size(), fault.what()));
  }
  const std::scoped_lock lock(mutex_);
  std::erase_if(cards_, [&](const auto& one) { return now - one.second.at > old; });
  if (cards_.size() + read.size() > most) throw bad_input("too many cards");
  for (auto& [key, value] : read) cards_[key] = std::move(value);
}

void usage_board::take(const std::vector<measured_card>& all) {
  const auto now = std::chrono::steady_clock::now();
  const std::scoped_lock lock(mutex_);
  std::erase_if(cards_, [&](const auto& one) { return now - one.second.at > old; });
  for (const measured_card& one : all) {
    if (one.used_bytes < 0 || cards_.size() >= most) continue;
    cards_[{one.node, one.index}] = {{one.used_bytes, one.used_permille}, one.uuid, now};
  }
}

std::optional<usage_board::use> usage_board::find(const std::string& node, const std::string& uuid, std::int64_t index,
                                                  std::chrono::steady_clock::time_point now) const {
  const std::scoped_lock lock(mutex_);
  const auto found = cards_.find({node, index});
  if (found == cards_.end() || now - found->second.at > old) return std::nullopt;
  if (!uuid.empty() && !found->second.uuid.empty() && uuid != found->second.uuid) return std::nullopt;
  return found->second.value;
}

nlohmann::ordered_json page_state(const cycle_report& cycle, const usage_board& used) {
  ordered topologies = topologies_of(*cycle.seen);
  ordered nodes = nodes_of(*cycle.seen, topologies, used);
  ordered refused = ordered::array();
  for (const auto& [pod, why] : cycle.refused) refused.push_back({{"pod", pod}, {"text", why}});
  return {{"schema", "kaisched-page/1"},
          {"time", clock_text(cycle.when)},
          {"trace", cycle.trace},
          {"version", std::string(abi::loaded_version())},
          {"seconds", std::chrono::duration<double>(cycle.whole).count()},
          {"queues", queues_of(*cycle.seen)},
          {"waiting", waiting_of(*cycle.seen)},
          {"refused", std::move(refused)},
          {"left_out", cycle.faults},
          {"topologies", std::move(topologies)},
          {"nodes", std::move(nodes)}};
}

nlohmann::ordered_json page_fixes(const evidence& seen, const std::string& group) {
  const abi::table reasons = seen.session.table(KAISCHED_TABLE_REASON);
  const auto names = reasons.texts(KAISCHED_REASON_COL_GROUP_NAME);
  const auto ids = reasons.numbers<std::uint64_t>(KAISCHED_REASON_COL_GROUP);
  std::size_t row = 0;
  while (row < reasons.rows() && names[row] != group) ++row;
  if (row == reasons.rows()) return nullptr;
  kaisched_remedy_limits limits{};
  limits.struct_size = sizeof limits;
  limits.trials = 48;  // somebody waits for the answer
  limits.eviction_steps = 200;
  const abi::answers found = seen.session.remedies({ids[row]}, &limits);
  const abi::table table = found.table();
  const auto numbers = table.numbers<std::uint32_t>(KAISCHED_REMEDY_COL_REMEDY);
  const auto texts = table.texts(KAISCHED_REMEDY_COL_TEXT);
  const auto complete = table.numbers<std::uint8_t>(KAISCHED_REMEDY_COL_COMPLETE);
  ordered fixes = ordered::array();
  std::uint32_t last = 0;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (numbers[i] == 0 || numbers[i] == last) continue;  // the rows of one remedy have one text
    last = numbers[i];
    fixes.push_back(texts[i]);
  }
  return {{"group", group}, {"fixes", std::move(fixes)}, {"complete", table.rows() == 0 || complete[0] != 0}};
}

}  // namespace shim
