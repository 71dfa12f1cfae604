#include "benchmarks/slow_inputs.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/cluster.hpp>
#include <kaisched/quantity.hpp>

#include "benchmarks/timing.hpp"
#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"

namespace kaisched::bench {

namespace {

using nlohmann::json;

constexpr std::int64_t now = 1'000'000'000'000'000'000;
constexpr std::int64_t minute = 60'000'000'000;
constexpr std::int64_t gibibyte = std::int64_t{1} << 30U;
constexpr std::int64_t core = 1000;
constexpr std::int64_t node_memory = 1024;      ///< GiB
constexpr std::int64_t most_waiting_pods = 32;  ///< per node
constexpr std::int64_t claim_devices = 8;       ///< per node
constexpr std::array<std::int64_t, 8> gpu_amounts{0, 100, 250, 500, 1000, 2000, 4000, 8000};

// Shares are percent, cores and memory of pods percent of a node, numbers of pods, groups and queues for 1,000 nodes.
constexpr std::array<gene_info, gene_count> infos{{
    {"node_gpus", 0, 8},
    {"node_cores", 8, 256, true},
    {"closed_nodes", 0, 50},
    {"running", 0, 24'000},
    {"running_size", 1, 64, true},
    {"running_gpu", 0, 7},
    {"running_cores", 0, 100, true},
    {"running_memory", 0, 100, true},
    {"running_elastic", 0, 100},
    {"running_priorities", 1, 20},
    {"fixed", 0, 50},
    {"recent", 0, 100},
    {"leaving", 0, 20},
    {"waiting", 10, 8000, true},
    {"waiting_size", 1, 128, true},
    {"waiting_gpu", 0, 7},
    {"waiting_cores", 0, 100, true},
    {"waiting_memory", 0, 100, true},
    {"waiting_elastic", 0, 100},
    {"waiting_priority", 0, 100},
    {"variety", 0, 100},
    {"queues", 20, 10'000, true},
    {"queue_depth", 1, 3},
    {"waiting_queues", 1, 99},
    {"shared_queues", 0, 100},
    {"running_quota", 0, 220},
    {"waiting_quota", 0, 220},
    {"limit", 0, 200},
    {"min_runtime", 0, 1},
    {"selectors", 0, 100},
    {"pools", 1, 10},
    {"taints", 0, 50},
    {"tolerations", 0, 100},
    {"level", 0, 4},
    {"rack", 2, 64, true},
    {"sub_groups", 1, 8},
    {"anti_affinity", 0, 100},
    {"claims", 0, 100},
    {"claim_requests", 0, 1},
    {"budgets", 0, 100},
}};

/// Equal numbers with every standard library.
class dice {
 public:
  explicit dice(std::uint64_t seed) : engine_(seed) {}
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(engine_() % static_cast<std::uint64_t>(most - least + 1));
  }
  bool happens(std::int64_t percent) { return between(0, 99) < percent; }

 private:
  std::mt19937_64 engine_;
};

// ---- clusters

struct node_room {
  std::int64_t cores;
  std::int64_t memory;
  std::vector<std::int64_t> devices;  ///< what is free of each
  std::int64_t claimable = claim_devices;
};

/// What pods of one group ask for.
struct shape {
  std::int64_t cores;
  std::int64_t memory;
  std::int64_t gpu;
};

struct amounts {
  std::int64_t cores = 0;
  std::int64_t memory = 0;
  std::int64_t gpu = 0;
};

class slow_maker {
 public:
  slow_maker(const genes& from, std::int64_t nodes) : from_(from), nodes_(nodes), dice_(1) {}

  json make() {
    for (const char* part : {"topology", "queue", "node", "pod_group", "sub_group", "pod", "resource_claim",
                             "device_class", "resource_slice", "slice_device", "claim_request", "disruption_budget"})
      made_[part] = json::array();
    made_["schema"] = "kaisched-cluster/1";
    made_["now"] = now;
    made_["topology"].push_back({{"name", "t"}, {"levels", {"zone", "rack"}}});
    leaves_ = std::max<std::int64_t>(2, per_node(gene_queues));
    held_.resize(static_cast<std::size_t>(leaves_));
    asked_.resize(static_cast<std::size_t>(leaves_));
    add_nodes();
    if (from_[gene_claims] > 0) add_pools();
    add_running();
    add_waiting();
    add_queues();
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::int64_t per_node(gene which) const { return nodes_ * from_[which] / 1000; }
  [[nodiscard]] std::int64_t waiting_leaves() const {
    return std::clamp<std::int64_t>(leaves_ * from_[gene_waiting_queues] / 100, 1, leaves_ - 1);
  }
  [[nodiscard]] static std::string node_name(std::int64_t n) { return fmt::format("n{}", n); }

  void add_nodes() {
    for (std::int64_t n = 0; n < nodes_; ++n) {
      const std::int64_t rack = n / from_[gene_rack];
      json one{{"name", node_name(n)},
               {"capacity",
                {{"cpu", from_[gene_node_cores] * core},
                 {"memory", node_memory * gibibyte},
                 {"gpu", from_[gene_node_gpus] * whole_device},
                 {"pods", 256}}},
               {"labels",
                {{"kubernetes.io/hostname", node_name(n)},
                 {"rack", fmt::format("r{}", rack)},
                 {"zone", fmt::format("z{}", rack / 8)},
                 {"pool", fmt::format("p{}", n % from_[gene_pools])}}}};
      if (dice_.happens(from_[gene_closed_nodes]) && n > 0) one["unschedulable"] = true;
      if (dice_.happens(from_[gene_taints])) one["taints"] = {fmt::format("t{}=x:NoSchedule", n % 3)};
      if (from_[gene_claims] > 0 && from_[gene_claim_requests] == 0) one["claimable"] = claimable(n);
      made_["node"].push_back(std::move(one));
      room_.push_back({from_[gene_node_cores], node_memory,
                       std::vector<std::int64_t>(static_cast<std::size_t>(from_[gene_node_gpus]), whole_device)});
    }
  }

  [[nodiscard]] static std::string device_name(std::int64_t node, std::int64_t d) {
    return fmt::format("nic.example.com/n{}/d{}", node, d);
  }
  [[nodiscard]] static json claimable(std::int64_t node) {
    json all = json::array();
    for (std::int64_t d = 0; d < claim_devices; ++d) all.push_back("nic=" + device_name(node, d));
    return all;
  }
  void add_pools() {
    if (from_[gene_claim_requests] == 0) return;
    made_["device_class"].push_back({{"name", "nic"}, {"selectors", {"device.driver == 'nic.example.com'"}}});
    for (std::int64_t n = 0; n < nodes_; ++n) {
      const std::string slice = fmt::format("s{}", n);
      made_["resource_slice"].push_back(
          {{"name", slice}, {"driver", "nic.example.com"}, {"pool", node_name(n)}, {"node", node_name(n)}});
      for (std::int64_t d = 0; d < claim_devices; ++d)
        made_["slice_device"].push_back({{"name", fmt::format("{}-{}", slice, d)},
                                         {"slice", slice},
                                         {"device", fmt::format("d{}", d)},
                                         {"position", d}});
    }
  }

  /// The pods of a group are alike. With variety groups differ.
  shape draw_shape(gene gpu, gene cores, gene memory) {
    const std::int64_t amount = gpu_amounts.at(static_cast<std::size_t>(from_[gpu]));
    shape s{from_[gene_node_cores] * from_[cores] / 100, node_memory * from_[memory] / 100,
            std::min(amount, from_[gene_node_gpus] * whole_device)};
    if (!dice_.happens(from_[gene_variety])) return s;
    s.cores = dice_.between(s.cores / 2, s.cores * 2);
    s.memory = dice_.between(s.memory / 2, s.memory * 2);
    if (s.gpu >= 2000) s.gpu = s.gpu / whole_device / dice_.between(1, 2) * whole_device;
    return s;
  }

  /// Devices for one pod on a node, or nothing.
  std::optional<std::vector<std::size_t>> take_devices(node_room& on, std::int64_t gpu) {
    std::vector<std::size_t> got;
    const std::size_t wanted = gpu == 0 ? 0 : static_cast<std::size_t>(std::max<std::int64_t>(1, gpu / whole_device));
    const std::int64_t each = std::min(gpu, whole_device);
    for (std::size_t d = 0; d < on.devices.size() && got.size() < wanted; ++d) {
      if (on.devices[d] >= each) got.push_back(d);
    }
    if (got.size() < wanted) return std::nullopt;
    for (const std::size_t d : got) on.devices[d] -= each;
    return got;
  }

  struct place {
    std::int64_t node;
    std::vector<std::size_t> devices;
    bool claims;
  };
  std::optional<place> take_place(const shape& s, std::int64_t first, bool claims) {
    for (std::int64_t i = 0; i < std::min<std::int64_t>(nodes_, 16); ++i) {
      const std::int64_t n = (first + i) % nodes_;
      node_room& on = room_[static_cast<std::size_t>(n)];
      if (on.cores < s.cores || on.memory < s.memory || (claims && on.claimable == 0)) continue;
      auto devices = take_devices(on, s.gpu);
      if (!devices) continue;
      on.cores -= s.cores;
      on.memory -= s.memory;
      if (claims) --on.claimable;
      return place{n, std::move(*devices), claims};
    }
    return std::nullopt;
  }

  json group(const std::string& name, std::int64_t leaf, std::int64_t size, std::int64_t elastic) {
    json one{{"name", name}, {"queue", fmt::format("q{}", leaf)}, {"created", now - minute * (10 + groups_)}};
    one["min_member"] = dice_.happens(elastic) ? std::max<std::int64_t>(1, size / 2) : size;
    if (dice_.happens(from_[gene_budgets])) one["disruption_budget"] = dice_.between(0, size);
    ++groups_;
    return one;
  }

  static void charge(amounts& to, const shape& s) {
    to.cores += s.cores * core;
    to.memory += s.memory * gibibyte;
    to.gpu += s.gpu;
  }

  json pod(const std::string& group, std::int64_t k, const shape& s) {
    return {{"name", fmt::format("{}-{}", group, k)},
            {"group", group},
            {"labels", {{"app", group}, {"kind", fmt::format("k{}", groups_ % 7)}}},
            {"request", {{"cpu", s.cores * core}, {"memory", s.memory * gibibyte}, {"gpu", s.gpu}}}};
  }

  void add_claim(json& of, const place* where) {
    const std::string name = "c-" + of["name"].get<std::string>();
    json claim{{"name", name}, {"device_class", "nic"}, {"count", 1}, {"from_template", true}};
    of["claims"] = {name};
    if (from_[gene_claim_requests] != 0)
      made_["claim_request"].push_back(
          {{"name", name + "/r"}, {"claim", name}, {"request", "r"}, {"device_class", "nic"}, {"count", 1}});
    if (where != nullptr) {
      const std::string device = device_name(where->node, room_[static_cast<std::size_t>(where->node)].claimable);
      claim["devices"] = {device};
      claim["reserved_for"] = {of["name"]};
      claim["node"] = node_name(where->node);
      if (from_[gene_claim_requests] != 0) claim["results"] = {"r=" + device};
    }
    made_["resource_claim"].push_back(std::move(claim));
  }

  void add_running() {
    const std::int64_t most = per_node(gene_running);
    std::int64_t pods = 0;
    std::int64_t misses = 0;
    for (std::int64_t g = 0; pods < most && misses < 20; ++g) {
      const std::int64_t got = add_running_group(g, std::min(most - pods, from_[gene_running_size]));
      misses = got == 0 ? misses + 1 : 0;
      pods += got;
    }
  }

  std::int64_t add_running_group(std::int64_t g, std::int64_t size) {
    const std::string name = fmt::format("r{}", g);
    const shape s = draw_shape(gene_running_gpu, gene_running_cores, gene_running_memory);
    const std::int64_t leaf = dice_.between(waiting_leaves(), leaves_ - 1);
    const bool apart = dice_.happens(from_[gene_anti_affinity] / 4);
    json pods = json::array();
    for (std::int64_t k = 0; k < size; ++k) {
      const bool claims = dice_.happens(from_[gene_claims] / 2);
      const auto where = take_place(s, next_node_++, claims);
      if (!where) break;
      json one = pod(name, k, s);
      one["status"] = dice_.happens(from_[gene_leaving]) ? "releasing" : "running";
      one["node"] = node_name(where->node);
      if (s.gpu > 0) one["devices"] = where->devices;
      one["tolerations"] = {"*"};
      if (apart) one["anti_affinity"] = {fmt::format("kubernetes.io/hostname: kind=k{}", (groups_ + 3) % 7)};
      if (dice_.happens(from_[gene_budgets])) one["disruption_budget"] = fmt::format("b{}", g % 10);
      if (claims) add_claim(one, &*where);
      charge(held_[static_cast<std::size_t>(leaf)], s);
      pods.push_back(std::move(one));
    }
    if (pods.empty()) return 0;
    const auto count = static_cast<std::int64_t>(pods.size());
    json of = group(name, leaf, count, from_[gene_running_elastic]);
    of["priority"] = dice_.between(1, from_[gene_running_priorities]) * 5;
    of["preemptible"] = !dice_.happens(from_[gene_fixed]);
    of["last_start"] = dice_.happens(from_[gene_recent]) ? now - minute : now - 100 * minute;
    made_["pod_group"].push_back(std::move(of));
    for (json& one : pods) made_["pod"].push_back(std::move(one));
    return count;
  }

  void add_waiting() {
    std::int64_t left = most_waiting_pods * nodes_;
    const std::int64_t count = std::max<std::int64_t>(1, per_node(gene_waiting));
    for (std::int64_t g = 0; g < count && left > 0; ++g) {
      const std::int64_t size =
          dice_.happens(from_[gene_variety]) ? dice_.between(1, from_[gene_waiting_size]) : from_[gene_waiting_size];
      add_waiting_group(g, size);
      left -= size;
    }
  }

  void set_level(json& of) const {
    static constexpr std::array<std::string_view, 5> required{"", "", "rack", "zone", "zone"};
    static constexpr std::array<std::string_view, 5> preferred{"", "rack", "", "", "rack"};
    const auto level = static_cast<std::size_t>(from_[gene_level]);
    if (level == 0) return;
    of["topology"] = "t";
    of["required_level"] = required.at(level);
    of["preferred_level"] = preferred.at(level);
  }

  void add_waiting_group(std::int64_t g, std::int64_t size) {
    const std::string name = fmt::format("w{}", g);
    const shape s = draw_shape(gene_waiting_gpu, gene_waiting_cores, gene_waiting_memory);
    const std::int64_t leaf = dice_.happens(from_[gene_shared_queues]) ? dice_.between(0, leaves_ - 1)
                                                                       : dice_.between(0, waiting_leaves() - 1);
    json of = group(name, leaf, size, from_[gene_waiting_elastic]);
    of["priority"] = from_[gene_waiting_priority];
    set_level(of);
    const std::int64_t parts = std::min(from_[gene_sub_groups], size);
    if (parts > 1) of.erase("min_member");
    made_["pod_group"].push_back(std::move(of));
    for (std::int64_t i = 0; parts > 1 && i < parts; ++i)
      made_["sub_group"].push_back({{"group", name}, {"name", fmt::format("s{}", i)}, {"min_member", size / parts}});
    const bool selects = dice_.happens(from_[gene_selectors]);
    const bool tolerates = dice_.happens(from_[gene_tolerations]);
    const bool apart = dice_.happens(from_[gene_anti_affinity]);
    for (std::int64_t k = 0; k < size; ++k) {
      json one = pod(name, k, s);
      if (parts > 1) one["sub_group"] = fmt::format("s{}", k % parts);
      if (selects) one["node_selector"] = {{"pool", fmt::format("p{}", g % from_[gene_pools])}};
      if (tolerates) one["tolerations"] = {fmt::format("t{}", g % 3)};
      if (apart) one["anti_affinity"] = {fmt::format("kubernetes.io/hostname: app={}", name)};
      if (dice_.happens(from_[gene_claims])) add_claim(one, nullptr);
      charge(asked_[static_cast<std::size_t>(leaf)], s);
      made_["pod"].push_back(std::move(one));
    }
  }

  static constexpr std::int64_t least_unlimited = 201;  ///< percent: the quota is unlimited

  [[nodiscard]] static json part_of(const amounts& of, std::int64_t percent) {
    if (percent >= least_unlimited) return {{"cpu", -1}, {"memory", -1}, {"gpu", -1}};
    return {{"cpu", of.cores * percent / 100}, {"memory", of.memory * percent / 100}, {"gpu", of.gpu * percent / 100}};
  }

  std::string add_parent(std::string_view level, std::int64_t leaf, std::int64_t width, const std::string& above) {
    std::string name = fmt::format("{}{}", level, leaf / width);
    if (leaf % width == 0) made_["queue"].push_back({{"name", name}, {"parent", above}});
    return name;
  }
  /// Queues above the leaves; each has up to ten below it.
  std::string add_parents(std::int64_t leaf) {
    std::string above;
    if (from_[gene_queue_depth] > 2) above = add_parent("a", leaf, 100, above);
    if (from_[gene_queue_depth] > 1) above = add_parent("d", leaf, 10, above);
    return above;
  }

  void add_queues() {
    for (std::int64_t q = 0; q < leaves_; ++q) {
      const std::string above = add_parents(q);
      const bool waits = q < waiting_leaves();
      amounts both = held_[static_cast<std::size_t>(q)];
      const amounts& more = asked_[static_cast<std::size_t>(q)];
      both = {both.cores + more.cores, both.memory + more.memory, both.gpu + more.gpu};
      const amounts& own = waits ? more : held_[static_cast<std::size_t>(q)];
      json one{{"name", fmt::format("q{}", q)},
               {"parent", above},
               {"quota", part_of(own, from_[waits ? gene_waiting_quota : gene_running_quota])}};
      if (from_[gene_limit] > 0 && q % 3 == 0) one["limit"] = part_of(both, from_[gene_limit]);
      if (from_[gene_min_runtime] != 0) {
        one["reclaim_min_runtime"] = 10 * minute;
        one["preempt_min_runtime"] = 10 * minute;
      }
      made_["queue"].push_back(std::move(one));
    }
    for (std::int64_t b = 0; from_[gene_budgets] > 0 && b < 10; ++b)
      made_["disruption_budget"].push_back(
          {{"name", fmt::format("b{}", b)}, {"allowed", b * from_[gene_budgets] / 10}});
  }

  const genes& from_;
  std::int64_t nodes_;
  dice dice_;
  json made_;
  std::int64_t leaves_ = 0;
  std::int64_t groups_ = 0;
  std::int64_t next_node_ = 0;
  std::vector<node_room> room_;
  std::vector<amounts> held_;   ///< by leaf
  std::vector<amounts> asked_;  ///< by leaf
};

cluster cluster_of(const genes& from, std::int64_t nodes) {
  const std::string text = slow_maker(from, nodes).make().dump(1);
  return must(io::build_cluster(must(io::parse_cluster_json(text, "slow"))));
}

// ---- the search

std::int64_t draw_value(dice& with, const gene_info& of) {
  if (!of.is_size) return with.between(of.least, of.most);
  std::int64_t top = std::max<std::int64_t>(of.least, 1);
  while (top < of.most && with.happens(75)) top = std::min(top * 2, of.most);
  return with.between(std::max(of.least, top / 2), top);
}

genes draw_genes(dice& with) {
  genes drawn{};
  for (std::size_t i = 0; i < gene_count; ++i) {
    // Half of the features are left out, so that the others are seen alone.
    const bool rare = infos.at(i).least == 0 && i > gene_running_memory && with.happens(50);
    drawn.at(i) = rare ? 0 : draw_value(with, infos.at(i));
  }
  return drawn;
}

genes change_genes(dice& with, genes of) {
  for (std::int64_t change = with.between(1, 4); change > 0; --change) {
    const auto which = static_cast<std::size_t>(with.between(0, gene_count - 1));
    const gene_info& info = infos.at(which);
    const std::int64_t step = std::max<std::int64_t>(1, (info.is_size ? of.at(which) : info.most - info.least) / 4);
    const std::int64_t near = std::clamp(of.at(which) + with.between(-step, step), info.least, info.most);
    of.at(which) = with.happens(50) ? near : draw_value(with, info);
  }
  return of;
}

void keep(std::vector<slow_cost>& worst, const slow_cost& one, std::size_t most) {
  worst.push_back(one);
  std::ranges::sort(worst, std::greater{}, &slow_cost::score);
  if (worst.size() > most) worst.pop_back();
}

}  // namespace

const gene_info& info_of(std::size_t which) noexcept { return infos[which]; }

std::string text_of(const genes& of) {
  std::string text;
  for (std::size_t i = 0; i < gene_count; ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : ",", infos.at(i).name, of.at(i));
  return text;
}

genes genes_of(std::string_view text) {
  genes read{};
  for (std::size_t i = 0; i < gene_count; ++i) read.at(i) = infos.at(i).least;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::string_view name = part.substr(0, part.find('='));
    const auto found = std::ranges::find(infos, name, &gene_info::name);
    std::int64_t value = 0;
    const bool whole =
        name.size() < part.size() &&
        std::from_chars(part.data() + name.size() + 1, part.data() + part.size(), value).ec == std::errc{};
    if (found == infos.end() || !whole || value < found->least || value > found->most)
      throw std::runtime_error(fmt::format("no such gene: {}", part));
    read.at(static_cast<std::size_t>(found - infos.begin())) = value;
  }
  return read;
}

double slow_cost::total() const { return std::accumulate(seconds.begin(), seconds.end(), open); }

double slow_cost::score() const { return total() / static_cast<double>(nodes + groups); }

slow_cost measure(const engine& with, const genes& from, std::int64_t nodes) {
  cluster c = cluster_of(from, nodes);
  const snapshot taken = c.take_snapshot();
  slow_cost cost;
  cost.from = from;
  cost.nodes = nodes;
  cost.groups = static_cast<std::int64_t>(taken.count(entity_kind::pod_group));
  cost.pods = static_cast<std::int64_t>(taken.count(entity_kind::pod));
  std::unique_ptr<session> opened;
  cost.open = processor_seconds([&] { opened = std::make_unique<session>(must(with.open(taken, now))); });
  for (const std::string_view action : slow_actions) {
    cost.seconds.push_back(processor_seconds([&] { must(opened->run(action)); }));
    cost.sets.push_back(opened->statistics().back().simulations);
    cost.steps.push_back(opened->statistics().back().steps);
  }
  return cost;
}

void write_slow(const genes& from, std::int64_t nodes, const std::string& path) {
  cluster c = cluster_of(from, nodes);
  std::ofstream out(path);
  out << must(io::format_cluster_json(c.take_snapshot(), now));
  if (!out) throw std::runtime_error("cannot write " + path);
}

std::vector<slow_cost> find_slow(const engine& with, const slow_search& how,
                                 const std::function<void(const slow_cost&)>& seen) {
  constexpr int most_first_tries = 10;  // the best of them is climbed from
  constexpr int most_without_gain = 20;
  dice own(how.seed);
  std::vector<slow_cost> worst;
  std::optional<slow_cost> best;
  int first_tries = 0;
  int without_gain = 0;
  double spent = 0;
  for (int tried = 0; tried < how.tries && spent < how.seconds; ++tried) {
    const bool begins = first_tries < most_first_tries;
    slow_cost one = measure(with, begins ? draw_genes(own) : change_genes(own, best->from), how.nodes);
    first_tries += begins ? 1 : 0;
    seen(one);
    spent += one.total();
    ++without_gain;
    if (!best || one.score() > best->score()) {
      best = std::move(one);
      without_gain = 0;
    }
    if (without_gain < most_without_gain) continue;
    keep(worst, *best, how.kept);
    best.reset();
    first_tries = 0;
    without_gain = 0;
  }
  if (best) keep(worst, *best, how.kept);
  return worst;
}

}  // namespace kaisched::bench
