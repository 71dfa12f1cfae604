/// Power feeds in drawn clusters: never overdrawn, and the same decisions with indexes and without.
#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "property/draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_power {

namespace {

using namespace kaisched;
using namespace kaisched::test;
using kind = table_kind;

struct figures {
  std::int64_t idle = 0;
  std::int64_t most = 0;
};
struct drawn_node {
  figures power;
  std::vector<figures> devices;
  std::map<std::string, std::int64_t> feeds;
};
using drawn_nodes = std::vector<drawn_node>;

constexpr std::int64_t cores = 10;
const std::vector<std::string> feed_names{"hall", "row"};

figures draw_figures(int most) {
  figures made;
  made.idle = draw(0, most / 4);
  made.most = made.idle + draw(0, most);
  return made;
}

drawn_nodes draw_nodes() {
  drawn_nodes made(static_cast<std::size_t>(draw(1, 4)));
  for (drawn_node& one : made) {
    one.power = draw_figures(200);
    one.devices.resize(static_cast<std::size_t>(draw(0, 4)));
    std::fill(one.devices.begin(), one.devices.end(), draw_figures(400));
    for (const std::string& feed : feed_names) {
      if (draw(0, 2) > 0) one.feeds[feed] = draw(100, 4000);
    }
  }
  return made;
}

cluster built(const drawn_nodes& nodes, std::map<std::string, numbers>& asks) {
  cluster c;
  got(c.apply(add(kind::queue, {"name"}).add({"q"})));
  auto rows = add(kind::node, {"name", "capacity", "power_idle", "power_max", "power_feeds"});
  auto devices = add(kind::device, {"node", "index", "power_idle", "power_max"});
  std::list<std::vector<std::string>> kept;  // rows borrow their lists
  bool has_devices = false;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const std::string name = "n" + std::to_string(n);
    std::vector<std::string>& told = kept.emplace_back();
    for (const auto& [feed, most] : nodes[n].feeds) told.push_back(feed + ":" + std::to_string(most));
    const auto gpus = static_cast<std::int64_t>(nodes[n].devices.size());
    rows.add({name, numbers{cores * 1000, 1 << 30, gpus * whole_device, 20}, nodes[n].power.idle, nodes[n].power.most,
              texts(told.begin(), told.end())});
    for (std::int64_t d = 0; d < gpus; ++d) {
      const figures& power = nodes[n].devices[static_cast<std::size_t>(d)];
      devices.add({name, d, power.idle, power.most});
      has_devices = true;
    }
  }
  got(c.apply(rows));
  if (has_devices) got(c.apply(devices));
  auto groups = add(kind::pod_group, {"name", "queue", "min_member", "priority"});
  auto pods = add(kind::pod, {"name", "group", "request"});
  for (int g = draw(1, 6); g > 0; --g) {
    const std::string name = "g" + std::to_string(g);
    const int count = draw(1, 3);
    groups.add({name, "q", draw(1, count), draw(0, 1) == 0 ? 50 : 70});
    const std::int64_t gpu = *rc::gen::elementOf(std::vector<std::int64_t>{0, 300, 500, 1000, 2000});
    for (int p = 0; p < count; ++p) {
      const std::string pod = name + "-" + std::to_string(p);
      pods.add({pod, name, asks[pod] = {draw(0, 6) * 1000, 0, gpu, 1}});
    }
  }
  got(c.apply(groups));
  got(c.apply(pods));
  return c;
}

/// A pod on a node. Devices that are not named are the `unnamed` of the node that add least.
struct holder {
  std::size_t node = 0;
  std::int64_t cpu = 0;
  std::uint64_t devices = 0;
  std::int64_t unnamed = 0;
};
using holders = std::map<std::string, holder>;

/// What all nodes of each feed draw with these pods.
std::map<std::string, std::int64_t> drawn_by(const std::vector<holder>& pods, const drawn_nodes& nodes) {
  std::map<std::string, std::int64_t> sums;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const drawn_node& told = nodes[n];
    std::int64_t used = 0;
    std::uint64_t busy = 0;
    std::int64_t unnamed = 0;
    for (const holder& one : pods) {
      if (one.node != n) continue;
      used += one.cpu;
      busy |= one.devices;
      unnamed += one.unnamed;
    }
    const std::int64_t added = (told.power.most - told.power.idle) * std::min(used, cores * 1000);
    std::int64_t sum = told.power.idle + (added + cores * 1000 - 1) / (cores * 1000);
    std::vector<std::int64_t> sleeping;
    for (std::size_t d = 0; d < told.devices.size(); ++d) {
      sum += told.devices[d].idle;
      const std::int64_t more = told.devices[d].most - told.devices[d].idle;
      if ((busy >> d & 1U) != 0) {
        sum += more;
      } else {
        sleeping.push_back(more);
      }
    }
    std::sort(sleeping.begin(), sleeping.end());
    for (std::size_t i = 0; i < sleeping.size() && std::cmp_less(i, unnamed); ++i) sum += sleeping[i];
    for (const auto& [feed, most] : told.feeds) sums[feed] += sum;
  }
  return sums;
}

std::vector<holder> all_of(const holders& pods) {
  std::vector<holder> made;
  for (const auto& [name, one] : pods) made.push_back(one);
  return made;
}

std::map<std::string, std::int64_t> limits_of(const drawn_nodes& nodes) {
  std::map<std::string, std::int64_t> least;
  for (const drawn_node& one : nodes) {
    for (const auto& [feed, most] : one.feeds) {
      const auto [known, is_new] = least.emplace(feed, most);
      if (!is_new) known->second = std::min(known->second, most);
    }
  }
  return least;
}

holder now_of(const decision& d, const numbers& asked, const session& in) {
  const auto node = static_cast<std::size_t>(std::stoi(std::string(in.view().node_name(d.node)).substr(1)));
  return {node, asked[dim_cpu], d.devices.mask, d.devices.mask == 0 ? asked[dim_gpu] / whole_device : 0};
}

void play(bool compat) {
  const drawn_nodes nodes = draw_nodes();
  std::map<std::string, numbers> asks{{"late-0", {2000, 0, 1000, 1}}};
  cluster c = built(nodes, asks);
  holders running;
  std::set<std::string> leaving;
  engine e;
  got(e.set("parts",
            "predicates,powercap,proportion,priority,elastic,nodeavailability,gpusharingorder,resourcetype,"
            "nominatednode,nodeplacement,minruntime,sg-nodelocalgreedy,sg-multinodegang"));
  got(e.set("mode", compat ? "compat" : "strict"));
  // What shared devices have is counted as KAI does in compat.
  const bool evicts = !compat && draw(0, 1) == 0;
  if (!compat) got(e.set("invariants", "full"));
  got(e.set("actions", evicts ? "allocate,consolidation,reclaim,preempt" : "allocate"));
  engine slow(e.options());
  got(slow.set("reference_path", "true"));
  for (std::int64_t round = 0; round < 2; ++round) {
    const snapshot base = c.take_snapshot();
    const std::map<std::string, std::int64_t> before = drawn_by(all_of(running), nodes);
    const session ran = got(e.run(base, round));
    RC_ASSERT(test::lines(ran) == test::lines(got(slow.run(base, round))));
    // What draws power until those that leave have gone, and what will when claims have become starts.
    std::vector<holder> now = all_of(running);
    holders later = running;
    for (const std::string& one : leaving) later.erase(one);
    for (const decision& d : ran.decisions()) {
      if (d.pod == no_row) continue;
      const std::string pod(ran.view().pod_name(d.pod));
      if (d.kind == decision_kind::evict) {
        later.erase(pod);
        continue;
      }
      const holder one = now_of(d, asks.at(pod), ran);
      later.insert_or_assign(pod, one);
      if (d.kind == decision_kind::bind) now.push_back(one);
    }
    for (const auto& after : {drawn_by(now, nodes), drawn_by(all_of(later), nodes)}) {
      for (const auto& [feed, most] : limits_of(nodes)) RC_ASSERT(after.at(feed) <= std::max(most, before.at(feed)));
    }
    // Who started runs, and a group that is more important comes.
    auto started = test::change(kind::pod, {"name", "status", "node", "devices"});
    bool any = false;
    for (const decision& d : ran.decisions()) {
      if (d.kind != decision_kind::bind) continue;
      numbers devices;
      for (std::int64_t i = 0; i < 64; ++i) {
        if ((d.devices.mask >> i & 1U) != 0) devices.push_back(i);
      }
      const std::string pod(ran.view().pod_name(d.pod));
      started.add({pod, pod_status::running, std::string(ran.view().node_name(d.node)), devices});
      running.insert_or_assign(pod, now_of(d, asks.at(pod), ran));
      any = true;
    }
    if (any) got(c.apply(started));
    if (round > 0) break;
    // Who is leaving draws until it is gone: others may have its power then, and not before.
    auto ended = test::change(kind::pod, {"name", "status"});
    for (const auto& [pod, where] : running) {
      if (draw(0, 1) == 0 && leaving.insert(pod).second) ended.add({pod, pod_status::releasing});
    }
    if (!leaving.empty()) got(c.apply(ended));
    got(c.apply(add(kind::pod_group, {"name", "queue", "priority"}).add({"late", "q", 90})));
    got(c.apply(add(kind::pod, {"name", "group", "request"}).add({"late-0", "late", asks.at("late-0")})));
  }
}

}  // namespace

TEST_CASE("power feeds are not overdrawn, with indexes and without") {
  const bool good = rc::check("power feeds", [] { play(draw(0, 3) == 0); });
  CHECK(good);
}

}  // namespace of_test_power
