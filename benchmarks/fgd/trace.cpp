#include "benchmarks/fgd/trace.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

#include "benchmarks/known_files.hpp"
#include "io/csv_file.hpp"

namespace kaisched::bench::fgd {

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t covered_parts = 95;  ///< of a hundred pods

constexpr std::array digests{
    known_file{"nodes.csv", "12969165ac8a91e543d3c7589acc77728d8170f3f5e300bbe6cd4453c9239447"},
    known_file{"node_rank.csv", "0bc154f3e3c61989db52ccfdd930fa67bab1a24b76fd750edb4b22d7837d1bdd"},
    known_file{"pods_cpu050.csv", "a7c340730af8838f330e98fbbf136c3200974c2516c8d259707897f3913e5ea7"},
    known_file{"pods_cpu100.csv", "0f199848ce1bb54101c7455917411b867f1057d0256fdba7c7dfec197237d122"},
    known_file{"pods_cpu200.csv", "fda6e9a914fb4c0310207f971e9cd0c5147e76ee6992c57766d73d8e89dbe7ef"},
    known_file{"pods_cpu250.csv", "4d5a4cc78932626fbc946e22e933e934fbb51ec76770aa8eb731fa60f2fdfb2c"},
    known_file{"pods_default.csv", "418498d75f83ebbbb8bef9095e3f41fb15d3a62a0553a01610cb66e00763bc7e"},
    known_file{"pods_gpushare100.csv", "29b0f3e43a5c442c684f3a40a8e8f04dddfdc02c2b674d09edc7c48a8749f5f9"},
    known_file{"pods_gpushare40.csv", "bd52448c4852ed4d4d2c64f512c0e0b4a19d4bf10c4b7c48038c0996af452410"},
    known_file{"pods_gpushare60.csv", "1a9d9b155ab906705ce085add402b6bbc0b57d5e03c6e2efe86570fb8464b228"},
    known_file{"pods_gpushare80.csv", "331139facfe041c93d518a4c2f5bbb1678b4c720a1e7dd89753d2e4014ef317b"},
    known_file{"pods_gpuspec10.csv", "b326fe049b9ef02ed1d779355dedc36652ecbdc5268d814f76fb68db8a0a5c44"},
    known_file{"pods_gpuspec20.csv", "340991a62d7e0c6408686c22c8dc7024cf169bad7b93e260a8570c4f07bd0575"},
    known_file{"pods_gpuspec25.csv", "640e9e2c6ddf5d6d79d627bb8e54ddc57eaa2a0fb19310afb9ec52c2027ab52f"},
    known_file{"pods_gpuspec33.csv", "c76e371b4141ce1d84c0c63e69371186d8b1b891f4b6b20e36c77f66878da497"},
    known_file{"pods_multigpu20.csv", "3f4cf18e0a936b3bea10cae3920032f12d46b106a7b70dda102ffb5a9a493fc9"},
    known_file{"pods_multigpu30.csv", "862f0548de1c1663b3893ccc8a19b5fa4b1a559e22f04b847afcaf778f839610"},
    known_file{"pods_multigpu40.csv", "0efaf82b01e44de9801f8aada8304ab16280d0d0ffd0a2d1d34ba16262250909"},
    known_file{"pods_multigpu50.csv", "169b36b8461cd75c90831c957ad15fe13262de1c72c7b2496325a2c43ceeb0b5"},
    known_file{"arrivals_cpu050.txt", "40f7f1839917c773ae5a2817ad74c3fa4d2b3ff4b5e0dce93b6978f427cde29e"},
    known_file{"arrivals_cpu100.txt", "5a6247c81e8a7a9a6bad3ea3553763c774f8e816acbfdc8211c5bc2fdd1272df"},
    known_file{"arrivals_cpu200.txt", "6f777f86075b49a5255036ce0257af01ec5484f538f98d3ec04a1c7b0905ef97"},
    known_file{"arrivals_cpu250.txt", "9712eedbfc7207d9f818564ef46eacd803718fad9203dc9216c017e5409f8302"},
    known_file{"arrivals_default.txt", "a79531d71f960073420c0b108e9a1a7f3f99b67bff0407bd295e50edd5320a53"},
    known_file{"arrivals_gpushare100.txt", "f8cef2ce25e24ee2f6c107f6f070cef25eea106ccedd5af2d0320c872cfb9d3a"},
    known_file{"arrivals_gpushare40.txt", "c7539f9b6bf7be3e22c9e545a898d4a92146d466f6679071cd0032037b36243e"},
    known_file{"arrivals_gpushare60.txt", "a940a2f1181e848dca22e3688409e2b41894cb8024e24f26a09a321e8338a78a"},
    known_file{"arrivals_gpushare80.txt", "e0245ee8038c5a1b994da5c478867cf5c5fe1cac11437f52ea668574587fe7e2"},
    known_file{"arrivals_multigpu20.txt", "c6f69d4551ead23bb70fff4cb0ab2d821b707b4a2aefabf54baa0a2d944c91d6"},
    known_file{"arrivals_multigpu30.txt", "eabea9cdebd22dbdfdd7e64033915f8ee7ca0557331f3bd52749ac851d3f1ae5"},
    known_file{"arrivals_multigpu40.txt", "002d86ce77b9f9f1fe9938e08ce939df62ea5b299b11f55a92ae9ed1fc2f5681"},
    known_file{"arrivals_multigpu50.txt", "8cbb3bdc6cd27b87147221feecb03f21637add8bba93d92f3d315d864b49be57"},
    known_file{"typical_pods.csv", "8266b48ca1f5088d84ac3a1a4ecf6c22fc883ecbf665fa4d2c6b6fbf9490e6ff"},
    known_file{"expected_alloc_pct.csv", "56133d44b4a3b1ea6f5896555ceab32ea30cfa622e7b850a83d56b8ee4ed89be"},
    known_file{"expected_frag_pct_of_idle.csv", "7cf8217f2d740aeb364ea00f61a881733176acbb5393524e04377ba6654f3213"},
    known_file{"expected_frag_pct_of_total.csv", "c74e00a1cd292b57af2facb6bd9f871edfc1c741f4223076fc37be6add37b285"},
    known_file{"golden_final_state.csv", "52b0156d66d35c957a4ecd1d86b7547058dc6e52338c2972e7a423f5b51c2b30"},
    known_file{"golden_placements_default_s42_BestFit.csv",
               "29dc7a84174853b9679b269cb3fa3d10b371b35130e261073188ffdc06440812"},
    known_file{"golden_placements_default_s42_DotProd.csv",
               "4cc182393a945df362b5b0f88691d71bca5ca46f87d77b4bdae2d6842e18782a"},
    known_file{"golden_placements_default_s42_FGD.csv",
               "326b75024ce583f680c87339dfdd46975707ddf194cac497f8c6d3f82caf0989"},
    known_file{"golden_placements_default_s42_GpuClustering.csv",
               "ddd09d86ab1a598fc5043a549e96274793847a64ab5617bcf79708cdfdf5a523"},
    known_file{"golden_placements_default_s42_GpuPacking.csv",
               "93bc2779720e784891905c2c619e74258a8e26c4720ae41ef2e32609b7de0cdb"},
};

result<std::string> read_known(const std::string& folder, std::string_view name) {
  return bench::read_known(folder, digests, name);
}

/// The fields of a text one after the other.
class fields {
 public:
  fields(std::string_view text, char between) : rest_(text), between_(between) {}
  [[nodiscard]] bool done() const { return rest_.empty(); }
  std::string_view next() {
    const std::string_view one = rest_.substr(0, rest_.find(between_));
    rest_.remove_prefix(std::min(rest_.size(), one.size() + 1));
    return one;
  }

 private:
  std::string_view rest_;
  char between_;
};

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "12.3" in hundredths is 1230.
std::optional<std::int64_t> fixed_of(std::string_view text, std::size_t decimals) {
  const std::size_t dot = std::min(text.find('.'), text.size());
  std::string digits(text.substr(0, dot));
  std::string_view after = dot < text.size() ? text.substr(dot + 1) : std::string_view{};
  if (after.size() > decimals) return std::nullopt;
  digits.append(after).append(decimals - after.size(), '0');
  return number_of<std::int64_t>(digits);
}

result<std::vector<trace_node>> read_nodes(const std::string& folder) {
  result<std::string> bytes = read_known(folder, "nodes.csv");
  if (!bytes) return bytes.take_failure();
  enum column : unsigned { name, model, gpus, cpu, memory };
  constexpr std::array<std::string_view, 5> header{"name", "gpu_model", "gpu_count", "cpu_milli", "memory_mib"};
  io::csv_file csv({"nodes.csv", *bytes}, header);
  for (const column one : {name, model, gpus, cpu, memory}) csv.require(one);
  std::vector<trace_node> nodes;
  while (csv.next()) {
    nodes.push_back({std::string(csv.text(name)), std::string(csv.text(model)),
                     csv.integer(gpus, 0, max_devices_per_node), csv.integer(cpu, 0, largest),
                     csv.integer(memory, 0, largest)});
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  std::sort(nodes.begin(), nodes.end(), [](const trace_node& a, const trace_node& b) { return a.name < b.name; });
  return nodes;
}

result<std::vector<trace_pod>> read_pods(const std::string& folder, std::string_view workload) {
  const std::string file = fmt::format("pods_{}.csv", workload);
  result<std::string> bytes = read_known(folder, file);
  if (!bytes) return bytes.take_failure();
  enum column : unsigned { name, cpu, memory, gpus, share, models };
  constexpr std::array<std::string_view, 6> header{"name",    "cpu_milli", "memory_mib",
                                                   "num_gpu", "gpu_milli", "gpu_spec"};
  io::csv_file csv({file, *bytes}, header);
  for (const column one : {name, cpu, memory, gpus, share}) csv.require(one);
  std::vector<trace_pod> pods;
  while (csv.next()) {
    trace_pod pod{std::string(csv.text(name)),         csv.integer(cpu, 0, largest),
                  csv.integer(memory, 0, largest),     csv.integer(gpus, 0, max_devices_per_node),
                  csv.integer(share, 0, whole_device), {}};
    for (fields list(csv.text(models), '|'); !list.done();) pod.models.emplace_back(list.next());
    pods.push_back(std::move(pod));
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  std::sort(pods.begin(), pods.end(), [](const trace_pod& a, const trace_pod& b) { return a.name < b.name; });
  return pods;
}

result<void> read_order(const std::string& folder, workload& to) {
  // Workloads that differ in models only are drawn alike.
  const bool is_plain = to.name.rfind("gpuspec", 0) != 0;
  const std::string file = fmt::format("arrivals_{}.txt", is_plain ? to.name : "default");
  result<std::string> bytes = read_known(folder, file);
  if (!bytes) return bytes.take_failure();
  fields lines(*bytes, '\n');
  for (std::size_t i = 0; i < seeds; ++i) {
    fields line(lines.next(), ' ');
    if (number_of<std::int64_t>(line.next()) != first_seed + static_cast<std::int64_t>(i))
      return bad_file(file, fmt::format("line {} is not of seed {}", i + 1, first_seed + static_cast<std::int64_t>(i)));
    while (!line.done()) {
      const auto index = number_of<std::uint32_t>(line.next());
      if (!index || *index >= to.pods.size())
        return bad_file(file, fmt::format("line {}: there is no such pod", i + 1));
      to.order[i].push_back(*index);
    }
  }
  return {};
}

workload* workload_of(trace& in, std::string_view name) {
  const auto found =
      std::find_if(in.workloads.begin(), in.workloads.end(), [&](const workload& one) { return one.name == name; });
  return found == in.workloads.end() ? nullptr : &*found;
}

result<void> read_ranks(const std::string& folder, trace& to) {
  result<std::string> bytes = read_known(folder, "node_rank.csv");
  if (!bytes) return bytes.take_failure();
  fields lines(*bytes, '\n');
  lines.next();
  while (!lines.done()) {
    fields line(lines.next(), ',');
    workload* of = workload_of(to, line.next());
    const auto seed = number_of<std::int64_t>(line.next());
    if (of == nullptr) continue;
    const std::int64_t at = seed.value_or(0) - first_seed;
    if (at < 0 || at >= static_cast<std::int64_t>(seeds)) return bad_file("node_rank.csv", "there is no such seed");
    std::vector<std::uint32_t>& ranks = of->ranks[static_cast<std::size_t>(at)];
    while (!line.done()) ranks.push_back(number_of<std::uint32_t>(line.next()).value_or(0));
    if (ranks.size() != to.nodes.size()) return bad_file("node_rank.csv", "a line has not one rank for each node");
  }
  return {};
}

result<void> read_curves(const std::string& folder, std::string_view file, std::size_t decimals,
                         std::array<std::int64_t, loads> curves::* which, trace& to) {
  result<std::string> bytes = read_known(folder, file);
  if (!bytes) return bytes.take_failure();
  fields lines(*bytes, '\n');
  lines.next();
  while (!lines.done()) {
    fields line(lines.next(), ',');
    const std::string_view of = line.next();
    const std::string_view policy = line.next();
    const auto seed = number_of<std::int64_t>(line.next());
    if (workload_of(to, of) == nullptr || policy == "Random" || !seed) continue;
    curves& one = to.published[{{std::string(of), std::string(policy)}, *seed}];
    for (std::size_t load = 0; load < loads; ++load) {
      const auto value = fixed_of(line.next(), decimals);
      if (!value) return bad_file(file, fmt::format("{} {} {}: no number at load {}", of, policy, *seed, load));
      (one.*which)[load] = *value;
    }
  }
  return {};
}

result<void> read_final_states(const std::string& folder, trace& to) {
  result<std::string> bytes = read_known(folder, "golden_final_state.csv");
  if (!bytes) return bytes.take_failure();
  enum column : unsigned { of, policy, seed, pods, gpu, cpu, failed, lost, first };
  constexpr std::array<std::string_view, 9> header{"workload",
                                                   "policy",
                                                   "seed",
                                                   "arrived_pods",
                                                   "gpu_milli_allocated",
                                                   "cpu_milli_allocated",
                                                   "failed_pods",
                                                   "frag_gpu_milli",
                                                   "first_fail_arrival_idx"};
  io::csv_file csv({"golden_final_state.csv", *bytes}, header);
  for (const column one : {of, policy, seed, pods, gpu, cpu, failed, lost, first}) csv.require(one);
  while (csv.next()) {
    if (workload_of(to, csv.text(of)) == nullptr) continue;
    to.final_states[{{std::string(csv.text(of)), std::string(csv.text(policy))}, csv.integer(seed, 0, largest)}] = {
        csv.integer(pods, 0, largest),   csv.integer(gpu, 0, largest),  csv.integer(cpu, 0, largest),
        csv.integer(failed, 0, largest), csv.integer(lost, 0, largest), csv.integer(first, -1, largest)};
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

/// The classes as the data lists them must be those that follow from the pods.
result<void> check_typical(const std::string& folder, const trace& in) {
  result<std::string> bytes = read_known(folder, "typical_pods.csv");
  if (!bytes) return bytes.take_failure();
  std::map<std::string, std::vector<typical_class>> listed;
  fields lines(*bytes, '\n');
  lines.next();
  while (!lines.done()) {
    fields line(lines.next(), ',');
    std::vector<typical_class>& of = listed[std::string(line.next())];
    line.next();
    typical_class one;
    one.cpu = number_of<std::int64_t>(line.next()).value_or(-1);
    one.gpus = number_of<std::int64_t>(line.next()).value_or(-1);
    one.share = number_of<std::int64_t>(line.next()).value_or(-1);
    one.models = line.next();
    one.weight = number_of<double>(line.next()).value_or(-1);
    of.push_back(std::move(one));
  }
  for (const workload& one : in.workloads) {
    const std::vector<typical_class>& of = listed[one.name];
    const bool equal =
        std::equal(of.begin(), of.end(), one.typical.begin(), one.typical.end(), [](const auto& a, const auto& b) {
          return a.cpu == b.cpu && a.gpus == b.gpus && a.share == b.share && a.models == b.models &&
                 a.weight == b.weight;
        });
    if (!equal) return bad_file("typical_pods.csv", fmt::format("{} has other classes of pods", one.name));
  }
  return {};
}

}  // namespace

std::span<const std::string_view> workloads() noexcept {
  static constexpr std::array<std::string_view, 17> all{
      "default",    "cpu050",     "cpu100",      "cpu200",     "cpu250",     "gpushare40",
      "gpushare60", "gpushare80", "gpushare100", "multigpu20", "multigpu30", "multigpu40",
      "multigpu50", "gpuspec10",  "gpuspec20",   "gpuspec25",  "gpuspec33"};
  return all;
}

const std::vector<policy_name>& policies() {
  static const std::vector<policy_name> all{{"DotProd", "dot_product"},
                                            {"GpuClustering", "gpu_clustering"},
                                            {"GpuPacking", "gpu_packing"},
                                            {"BestFit", "best_fit"},
                                            {"FGD", "fgd"}};
  return all;
}

std::vector<typical_class> typical_classes(const std::vector<trace_pod>& pods) {
  using class_key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>;
  std::map<class_key, std::int64_t> counts;
  for (const trace_pod& pod : pods) {
    std::string models;
    for (const std::string& one : pod.models) models.append(models.empty() ? "" : "|").append(one);
    ++counts[{pod.cpu, pod.gpus > 0 ? pod.share : 0, pod.gpus, std::move(models)}];
  }
  std::vector<std::pair<std::int64_t, class_key>> sorted;
  for (const auto& [key, count] : counts) sorted.emplace_back(count, key);
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return b < a; });
  std::vector<typical_class> made;
  std::int64_t covered = 0;
  for (const auto& [count, key] : sorted) {
    made.push_back({std::get<0>(key), std::get<2>(key), std::get<1>(key), std::get<3>(key), 0, count});
    covered += count;
    if (100 * covered >= covered_parts * static_cast<std::int64_t>(pods.size())) break;
  }
  const auto all = static_cast<double>(pods.size());
  const double part = static_cast<double>(covered) / all;
  for (typical_class& one : made) one.weight = static_cast<double>(one.pods) / all / part;
  return made;
}

result<trace> read_trace(const std::string& folder, std::span<const std::string> only, bool with_results) {
  trace made;
  result<std::vector<trace_node>> nodes = read_nodes(folder);
  if (!nodes) return nodes.take_failure();
  made.nodes = std::move(*nodes);
  for (const std::string_view name : workloads()) {
    if (!only.empty() && std::find(only.begin(), only.end(), name) == only.end()) continue;
    result<std::vector<trace_pod>> pods = read_pods(folder, name);
    if (!pods) return pods.take_failure();
    workload one;
    one.name = name;
    one.pods = std::move(*pods);
    one.typical = typical_classes(one.pods);
    if (auto done = read_order(folder, one); !done) return done.failure();
    made.workloads.push_back(std::move(one));
  }
  if (auto done = read_ranks(folder, made); !done) return done.failure();
  if (auto done = check_typical(folder, made); !done) return done.failure();
  if (!with_results) return made;
  const std::array files{std::tuple{"expected_alloc_pct.csv", 2, &curves::allocated},
                         std::tuple{"expected_frag_pct_of_total.csv", 2, &curves::lost_of_all},
                         std::tuple{"expected_frag_pct_of_idle.csv", 4, &curves::lost_of_idle}};
  for (const auto& [file, decimals, which] : files) {
    if (auto done = read_curves(folder, file, static_cast<std::size_t>(decimals), which, made); !done)
      return done.failure();
  }
  if (auto done = read_final_states(folder, made); !done) return done.failure();
  return made;
}

result<std::vector<placement>> read_placements(const std::string& folder, std::string_view policy) {
  const std::string file = fmt::format("golden_placements_default_s{}_{}.csv", first_seed, policy);
  result<std::string> bytes = read_known(folder, file);
  if (!bytes) return bytes.take_failure();
  std::vector<placement> made;
  fields lines(*bytes, '\n');
  lines.next();
  while (!lines.done()) {
    fields line(lines.next(), ',');
    line.next();
    line.next();
    placement one{std::string(line.next()), 0};
    for (fields list(line.next(), '-'); !list.done();) {
      const auto device = number_of<std::uint32_t>(list.next());
      if (!device || *device >= max_devices_per_node)
        return bad_file(file, fmt::format("row {}: no device", made.size()));
      one.devices |= std::uint64_t{1} << *device;
    }
    made.push_back(std::move(one));
  }
  return made;
}

std::string describe_data() {
  std::string text =
      "The data is public: github.com/hkust-adsl/kubernetes-scheduler-simulator at 8f3d641 (Apache-2.0), folders "
      "data/csv and\n"
      "experiments/analysis/expected_results, with the trace of github.com/alibaba/clusterdata "
      "(cluster-trace-gpu-v2023).\n"
      "From these follow the orders of arrival and of nodes, as the authors' program draws them for each seed "
      "(arrivals_*.txt,\n"
      "node_rank.csv), the classes of pods (typical_pods.csv) and states at the end (golden_*). SHA-256 of the "
      "files:\n";
  return text + list_of(digests);
}

}  // namespace kaisched::bench::fgd
