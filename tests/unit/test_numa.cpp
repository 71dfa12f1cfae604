// Zones of a node against a search through all sets of zones, and what sessions make of them.
#include <algorithm>
#include <bit>
#include <optional>
#include <random>
#include <vector>

#include "policy/numa/alignment.hpp"
#include "policy/numa/ledger.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_numa {

using namespace kaisched;
using kind = table_kind;
using model::numa_policy;
using policy::zone_mask;
using test::add;
using test::change;
using test::must;
using test::numbers;
using test::texts;

namespace {

struct random_node {
  std::vector<std::int64_t> capacity;
  std::vector<std::int64_t> available;
  policy::zone_amounts amounts;
  policy::zone_request asked;
};

random_node draw_node(std::mt19937& rng) {
  const auto upto = [&](std::uint32_t most) { return static_cast<std::int64_t>(rng() % (most + 1)); };
  random_node drawn;
  const auto zones = static_cast<std::uint32_t>(1 + upto(4));
  const auto dims = static_cast<std::uint32_t>(1 + upto(2));
  for (std::uint32_t i = 0; i < zones * dims; ++i) {
    drawn.capacity.push_back(upto(5));
    drawn.available.push_back(rng() % 6 == 0 ? -1 : upto(static_cast<std::uint32_t>(drawn.capacity.back())));
  }
  for (std::uint32_t d = 0; d < dims; ++d) drawn.asked.push_back(upto(8));
  drawn.amounts = {zones, dims, drawn.capacity, drawn.available};
  return drawn;
}

bool has(const policy::zone_amounts& node, std::span<const std::int64_t> amounts, zone_mask set, std::uint32_t d,
         std::int64_t need) {
  std::int64_t sum = 0;
  for (std::uint32_t z = 0; z < node.zones; ++z) sum += (set >> z & 1U) != 0 ? amounts[z * node.dims + d] : 0;
  return sum >= need;
}

int smallest(const policy::zone_amounts& node, std::span<const std::int64_t> amounts, std::uint32_t d,
             std::int64_t need) {
  int least = 0;
  for (zone_mask set = 1; set < zone_mask{1} << node.zones; ++set) {
    if (has(node, amounts, set, d, need) && (least == 0 || std::popcount(set) < least)) least = std::popcount(set);
  }
  return least;
}

/// A set of zones of one resource, as a hint provider of the kubelet offers it.
struct hint {
  zone_mask set;
  bool preferred;
};

/// What the kubelet merges: every combination of one hint per resource.
struct merged {
  zone_mask best = 0;
  bool preferred = false;
  bool possible = true;
};

merged merge_all(const random_node& n) {
  merged out;
  std::vector<std::vector<hint>> hints;
  int needed = 0;
  for (std::uint32_t d = 0; d < n.amounts.dims; ++d) {
    if (n.asked[d] == 0) continue;
    const int width = smallest(n.amounts, n.capacity, d, n.asked[d]);
    const int least = smallest(n.amounts, n.available, d, n.asked[d]);
    std::vector<hint>& own = hints.emplace_back();
    for (zone_mask set = 1; set < zone_mask{1} << n.amounts.zones; ++set) {
      if (has(n.amounts, n.available, set, d, n.asked[d])) own.push_back({set, std::popcount(set) == width});
    }
    out.possible = out.possible && !own.empty();
    needed = std::max(needed, least);
  }
  if (!out.possible || hints.empty()) {
    out.preferred = out.possible;
    return out;
  }
  const auto better = [&](zone_mask set, bool preferred) {
    if (out.best == 0 || preferred != out.preferred) return out.best == 0 || preferred;
    const int count = std::popcount(set);
    const int before = std::popcount(out.best);
    if (preferred || count == before || before > needed) return count != before ? count < before : set < out.best;
    return before != needed && count <= needed && count > before;
  };
  std::vector<std::size_t> at(hints.size(), 0);
  while (true) {
    zone_mask set = ~zone_mask{0};
    bool preferred = true;
    for (std::size_t i = 0; i < hints.size(); ++i) {
      set &= hints[i][at[i]].set;
      preferred = preferred && hints[i][at[i]].preferred && hints[i][at[i]].set == hints[0][at[0]].set;
    }
    if (set != 0 && better(set, preferred)) {
      out.best = set;
      out.preferred = preferred;
    }
    std::size_t i = 0;
    while (i < at.size() && ++at[i] == hints[i].size()) at[i++] = 0;
    if (i == at.size()) return out;
  }
}

std::optional<zone_mask> chosen(numa_policy p, bool as_kubelet, const random_node& n) {
  const auto zones = policy::choose_zones({p, as_kubelet}, n.amounts, n.asked);
  if (!zones) return std::nullopt;
  zone_mask set = 0;
  for (const std::uint32_t z : *zones) set |= zone_mask{1} << z;
  return set;
}

cluster one_node(std::string_view policy, std::string_view scope = "pod") {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity", "numa_policy", "numa_scope"})
                   .add({"n", numbers{64000, 64, 8000, 110}, std::string(policy), std::string(scope)})));
  must(c.apply(add(kind::numa_zone, {"node", "name", "capacity"})
                   .add({"n", "zone-0", numbers{4000, 0, 2000}})
                   .add({"n", "zone-1", numbers{4000, 0, 2000}})));
  return c;
}

void add_pod(cluster& c, const std::string& name, std::int64_t cpu, std::int64_t gpu = 0,
             const std::string& qos = "Guaranteed", texts containers = {}) {
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({name, "q"})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "qos", "containers"})
                   .add({name, name, numbers{cpu, 0, gpu, 1}, qos, std::move(containers)})));
}

session opened(cluster& c, std::string_view mode) {
  engine e;
  must(e.set("mode", mode));
  must(e.set("parts", "predicates,proportion,priority,nodeavailability,nodeplacement,numa"));
  return must(e.open(c.take_snapshot(), 0));
}

/// Pods in the order of decisions with their zones as a number, `-` for those that wait.
std::string outcome(session& s) {
  must(s.run("allocate"));
  must(s.check());
  std::string text;
  for (const decision& d : s.decisions()) {
    text += (text.empty() ? "" : " ") + std::string(s.base().pod_name(d.pod)) + ":" + std::to_string(d.numa_zones);
  }
  return text;
}

std::string outcome(cluster& c, std::string_view mode = "strict") {
  session s = opened(c, mode);
  return outcome(s);
}

}  // namespace

TEST_CASE("one zone, and all resources in sets of one size: all sets are tried") {
  std::mt19937 rng(7);
  int aligned = 0;
  for (int i = 0; i < 20'000; ++i) {
    const random_node n = draw_node(rng);
    zone_mask first = 0;
    for (std::uint32_t z = n.amounts.zones; z-- > 0;) {
      bool all = true;
      for (std::uint32_t d = 0; d < n.amounts.dims; ++d)
        all = all && (n.asked[d] == 0 || n.available[z * n.amounts.dims + d] >= n.asked[d]);
      if (all) first = zone_mask{1} << z;
    }
    const bool nothing = std::all_of(n.asked.begin(), n.asked.end(), [](std::int64_t a) { return a == 0; });
    CHECK(chosen(numa_policy::single_numa_node, i % 2 == 0, n).value_or(0) == first);

    int width = 0;
    bool mixed = false;
    for (std::uint32_t d = 0; d < n.amounts.dims; ++d) {
      if (n.asked[d] == 0) continue;
      const int own = smallest(n.amounts, n.capacity, d, n.asked[d]);
      mixed = mixed || own == 0 || (width != 0 && own != width);
      width = own;
    }
    zone_mask by_value = 0;
    zone_mask by_name = 0;
    for (zone_mask set = zone_mask{1} << n.amounts.zones; set-- > 1;) {
      bool all = !mixed && std::popcount(set) == width;
      for (std::uint32_t d = 0; d < n.amounts.dims; ++d)
        all = all && (n.asked[d] == 0 || has(n.amounts, n.available, set, d, n.asked[d]));
      if (!all) continue;
      by_value = set;
      const zone_mask differs = set ^ by_name;
      if (by_name == 0 || (set & (differs & (~differs + 1))) != 0) by_name = set;
    }
    aligned += by_value != 0 ? 1 : 0;
    CHECK(chosen(numa_policy::restricted, true, n).value_or(0) == by_value);
    CHECK(chosen(numa_policy::restricted, false, n).value_or(0) == by_name);
    CHECK(chosen(numa_policy::restricted, true, n).has_value() == (nothing || by_value != 0));
  }
  CHECK(aligned > 1000);
}

TEST_CASE("best effort merges the sets of all resources as the kubelet does") {
  std::mt19937 rng(11);
  int not_preferred = 0;
  for (int i = 0; i < 5'000; ++i) {
    const random_node n = draw_node(rng);
    const merged expected = merge_all(n);
    const auto mine = chosen(numa_policy::best_effort, true, n);
    CHECK(mine.has_value() == expected.possible);
    if (!mine || expected.best == 0) continue;
    not_preferred += expected.preferred ? 0 : 1;
    CHECK(*mine == expected.best);
  }
  CHECK(not_preferred > 400);
}

TEST_CASE("pods of one node are aligned one after the other") {
  for (const std::string_view mode : {"strict", "compat"}) {
    cluster c = one_node("single-numa-node");
    add_pod(c, "a", 3000);
    add_pod(c, "b", 3000);
    add_pod(c, "c", 3000);
    add_pod(c, "d", 3000, 0, "Burstable");
    add_pod(c, "e", 500);
    CHECK(outcome(c, mode) == "a:1 b:2 d:0 e:0");
  }
}

TEST_CASE("a zone is not free before the pod that leaves it is gone") {
  cluster c = one_node("single-numa-node");
  add_pod(c, "old", 4000);
  add_pod(c, "older", 4000);
  add_pod(c, "new", 4000);
  must(c.apply(change(kind::pod, {"name", "status", "node", "numa_zones"})
                   .add({"old", pod_status::releasing, "n", numbers{0}})
                   .add({"older", pod_status::running, "n", numbers{1}})));
  session repaired = opened(c, "strict");
  CHECK(outcome(repaired) == "new:1");
  CHECK(repaired.decisions().front().kind == decision_kind::pipeline);
  session as_kai = opened(c, "compat");
  CHECK(outcome(as_kai) == "new:1");
  CHECK(as_kai.decisions().front().kind == decision_kind::bind);  // the kubelet may refuse it
}

TEST_CASE("pods of which nobody knows the zones hold some in strict") {
  cluster c = one_node("single-numa-node");
  add_pod(c, "here", 4000);
  must(c.apply(change(kind::pod, {"name", "status", "node"}).add({"here", pod_status::running, "n"})));
  add_pod(c, "x", 4000);
  add_pod(c, "y", 4000);
  CHECK(outcome(c, "strict") == "x:2");
  CHECK(outcome(c, "compat") == "x:1 y:2");
}

TEST_CASE("containers are aligned one by one or together") {
  const texts two{"cpu=3000", "cpu=3000"};
  cluster each = one_node("single-numa-node", "container");
  add_pod(each, "p", 6000, 0, "Guaranteed", two);
  CHECK(outcome(each) == "p:3");
  cluster whole = one_node("single-numa-node", "pod");
  add_pod(whole, "p", 6000, 0, "Guaranteed", two);
  CHECK(outcome(whole) == "");
  cluster init = one_node("single-numa-node", "container");
  add_pod(init, "p", 4000, 0, "Guaranteed", {"init:cpu=4000", "sidecar:cpu=1000", "cpu=3000"});
  add_pod(init, "q", 5000, 0, "Guaranteed", {"init:cpu=5000", "cpu=1000"});
  CHECK(outcome(init) == "p:1");
  cluster shared = one_node("single-numa-node", "container");  // parts of a core are not a container's own
  add_pod(shared, "p", 9500, 0, "Guaranteed", {"cpu=2500", "cpu=3500", "cpu=3500"});
  CHECK(outcome(shared) == "p:0");
  cluster devices = one_node("restricted", "container");
  add_pod(devices, "p", 500, 2000, "Burstable", {"gpu=1000,cpu=500", "gpu=1000"});
  add_pod(devices, "q", 500, 4000, "Burstable", {"gpu=3000", "gpu=1000"});
  CHECK(outcome(devices) == "p:1");
}

TEST_CASE("what zones have is undone byte by byte, also by what leaves and comes back") {
  for (const std::string_view mode : {"strict", "compat"}) {
    cluster c = one_node("single-numa-node");
    for (const char* name : {"a", "b", "w"}) add_pod(c, name, 3000);
    must(c.apply(change(kind::pod, {"name", "status", "node", "numa_zones"})
                     .add({"a", pod_status::running, "n", numbers{1}})
                     .add({"b", pod_status::running, "n", numbers{0}})));
    session s = opened(c, mode);
    const pod_row a = test::pod_by_name(s.base(), "a");
    const pod_row b = test::pod_by_name(s.base(), "b");
    const pod_row w = test::pod_by_name(s.base(), "w");
    const auto zones = [&] {
      const auto span = s.view().node_zones_available(0);
      return std::vector<std::int64_t>{span[0], span[span.size() / 2]};
    };
    CHECK(zones() == std::vector<std::int64_t>{1000, 1000});
    const std::string start = s.state_digest();
    const checkpoint before = s.mark();
    CHECK_FALSE(must(s.allocate(w, 0)));
    must(s.evict(a));
    must(s.evict(b));
    CHECK(zones() == std::vector<std::int64_t>{4000, 4000});
    CHECK(must(s.pipeline(w, 0)));
    CHECK(zones() == std::vector<std::int64_t>{1000, 4000});
    CHECK(must(s.pipeline(b, 0)));  // its zone is taken: it moves to the other
    CHECK(zones() == std::vector<std::int64_t>{1000, 1000});
    must(s.rollback(before));
    CHECK(s.state_digest() == start);
    must(s.evict(a));
    CHECK(must(s.pipeline(a, 0)));
    must(s.commit());
    CHECK(zones() == std::vector<std::int64_t>{1000, 1000});
    CHECK(s.decisions().empty());
  }
}

TEST_CASE("containers are texts of a certain form") {
  cluster c = one_node("none");
  add_pod(c, "p", 1000);
  for (const char* bad : {"cpu", "cpu=", "=1", "cpu=-1", "cpu=x", "init:cpu=1.5", "cpu=9007199254740993"}) {
    CAPTURE(bad);
    const auto applied = c.apply(change(kind::pod, {"name", "containers"}).add({"p", texts{bad}}));
    REQUIRE_FALSE(applied.ok());
    CHECK(applied.failure().message.find("expected amounts such as cpu=2000") != std::string::npos);
  }
  must(c.apply(change(kind::pod, {"name", "containers"}).add({"p", texts{"", "sidecar:", "init:cpu=1,gpu=0"}})));
}

}  // namespace of_test_numa
