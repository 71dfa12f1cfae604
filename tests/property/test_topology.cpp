// Small clusters with topology constraints against an exhaustive search: every way to choose domains and nodes.
#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_topology {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::numbers;
using test::texts;

namespace {

constexpr std::array<const char*, 3> levels{"zone", "block", "rack"};

struct one_node {
  std::vector<std::string> labels;  ///< by level; empty: in no domain
  int free = 0;                     ///< GPUs
};

/// Pods of equal size that must be in one domain of a level; -1: anywhere.
struct one_member {
  int required = -1;
  int preferred = -1;
  int pods = 0;
};

struct drawn {
  std::vector<one_node> nodes;
  std::vector<one_member> members;
  int required = -1;  ///< of the whole group
  int size = 1;       ///< GPUs of every pod
};

drawn draw_cluster() {
  drawn d;
  const int nodes = draw(1, 6);
  for (int n = 0; n < nodes; ++n) {
    one_node node;
    if (draw(0, 9) > 0) {
      node.labels = {"z" + std::to_string(draw(0, 1)), "b" + std::to_string(draw(0, 1)),
                     "r" + std::to_string(draw(0, 1))};
    }
    node.free = draw(0, 4);
    d.nodes.push_back(node);
  }
  d.size = draw(1, 2);
  d.required = draw(-1, 1);
  const int members = draw(1, 3);
  for (int m = 0; m < members; ++m) {
    one_member member;
    member.required = draw(0, 2) == 0 ? -1 : draw(std::max(0, d.required), 2);
    if (draw(0, 2) == 0) member.preferred = draw(0, 2);
    member.pods = draw(1, 3);
    d.members.push_back(member);
  }
  return d;
}

/// The domain of a node: its labels down to a level.
std::string domain_of(const one_node& node, int level) {
  std::string id;
  for (int l = 0; l <= level; ++l) id += node.labels[static_cast<std::size_t>(l)] + "/";
  return id;
}

bool share_domain(const drawn& d, const std::vector<int>& nodes, int level) {
  if (level < 0) return true;
  for (const int n : nodes) {
    const one_node& node = d.nodes[static_cast<std::size_t>(n)];
    const one_node& first = d.nodes[static_cast<std::size_t>(nodes.front())];
    if (node.labels.empty() || first.labels.empty() || domain_of(node, level) != domain_of(first, level)) return false;
  }
  return true;
}

/// Whether there is any placement at all: pod after pod on every node.
class exhaustive {
 public:
  explicit exhaustive(const drawn& d) : d_(d), places_(d.nodes.size()) {
    for (std::size_t n = 0; n < d.nodes.size(); ++n) places_[n] = d.nodes[n].free / d.size;
  }

  bool any() { return place(0, 0, 0); }

 private:
  bool place(std::size_t member, int pod, int from) {
    if (member == d_.members.size()) return share_domain(d_, all_, d_.required);
    const one_member& m = d_.members[member];
    if (pod == m.pods) {
      if (!share_domain(d_, own_, m.required)) return false;
      const std::vector<int> kept = std::move(own_);
      own_.clear();
      const bool found = place(member + 1, 0, 0);
      own_ = kept;
      return found;
    }
    // Pods are alike: nodes in ascending order are enough.
    for (int n = from; n < static_cast<int>(places_.size()); ++n) {
      if (places_[static_cast<std::size_t>(n)] == 0) continue;
      --places_[static_cast<std::size_t>(n)];
      own_.push_back(n);
      all_.push_back(n);
      const bool found = place(member, pod + 1, n);
      ++places_[static_cast<std::size_t>(n)];
      own_.pop_back();
      all_.pop_back();
      if (found) return true;
    }
    return false;
  }

  const drawn& d_;
  std::vector<int> places_;
  std::vector<int> own_;
  std::vector<int> all_;
};

std::string level_name(int level) { return level < 0 ? "" : levels[static_cast<std::size_t>(level)]; }

cluster build(const drawn& d) {
  cluster c;
  got(c.apply(add(kind::topology, {"name", "levels"}).add({"tree", texts{"zone", "block", "rack"}})));
  got(c.apply(add(kind::queue, {"name"}).add({"q"})));
  for (std::size_t n = 0; n < d.nodes.size(); ++n) {
    texts labels;
    const std::vector<std::string>& own = d.nodes[n].labels;
    if (!own.empty()) labels = {"block", own[1], "rack", own[2], "zone", own[0]};
    got(c.apply(
        add(kind::node, {"name", "capacity", "labels"})
            .add({"n" + std::to_string(n), numbers{64'000, 0, std::int64_t{1000} * d.nodes[n].free, 30}, labels})));
  }
  got(c.apply(add(kind::pod_group, {"name", "queue", "topology", "required_level"})
                  .add({"g", "q", d.required < 0 ? "" : "tree", level_name(d.required)})));
  for (std::size_t m = 0; m < d.members.size(); ++m) {
    const one_member& member = d.members[m];
    const std::string name = "s" + std::to_string(m);
    const bool asks = member.required >= 0 || member.preferred >= 0;
    got(c.apply(add(kind::sub_group, {"group", "name", "min_member", "topology", "required_level", "preferred_level"})
                    .add({"g", name, member.pods, asks ? "tree" : "", level_name(member.required),
                          level_name(member.preferred)})));
    for (int p = 0; p < member.pods; ++p) {
      got(c.apply(
          add(kind::pod, {"name", "group", "sub_group", "request"})
              .add({name + "-" + std::to_string(p), "g", name, numbers{100, 0, std::int64_t{1000} * d.size, 1}})));
    }
  }
  return c;
}

}  // namespace

TEST_CASE("strict finds domains exactly where there are some") {
  const bool good = rc::check("domains", [] {
    const drawn d = draw_cluster();
    cluster c = build(d);
    const snapshot s = c.take_snapshot();
    engine e;
    got(e.set("topology_steps", "-1"));
    got(e.set("placement.domain", draw(0, 1) == 0 ? "binpack" : "spread"));
    const session ran = got(e.run(s, 0));
    got(ran.check());
    std::map<std::string, std::vector<int>> nodes_of;  // by member
    std::vector<int> all;
    for (const decision& one : ran.decisions()) {
      const std::string pod(ran.view().pod_name(one.pod));
      const int node = std::stoi(std::string(ran.view().node_name(one.node).substr(1)));
      nodes_of[pod.substr(0, pod.find('-'))].push_back(node);
      all.push_back(node);
    }
    RC_ASSERT(!all.empty() == exhaustive(d).any());
    RC_ASSERT(all.empty() || share_domain(d, all, d.required));
    for (std::size_t m = 0; m < d.members.size(); ++m) {
      const auto at = nodes_of.find("s" + std::to_string(m));
      if (at != nodes_of.end()) RC_ASSERT(share_domain(d, at->second, d.members[m].required));
    }
    got(e.set("reference_path", "true"));
    RC_ASSERT(got(e.run(s, 0)).digest() == ran.digest());
  });
  CHECK(good);
}

TEST_CASE("one member takes the tightest domain, and as few of the preferred level as can be") {
  const bool good = rc::check("tightest", [] {
    drawn d = draw_cluster();
    d.required = -1;
    d.members.resize(1);
    one_member& member = d.members.front();
    member.required = draw(-1, 2);
    member.preferred = member.required < 0 ? 2 : -1;
    std::erase_if(d.nodes, [](const one_node& node) { return node.labels.empty(); });
    RC_PRE(!d.nodes.empty());
    cluster c = build(d);
    const session ran = got(engine().run(c.take_snapshot(), 0));
    if (ran.decisions().empty()) return;
    std::map<std::string, int> places;  // by domain
    std::map<std::string, int> free;
    std::map<std::string, int> used;
    const int level = std::max(member.required, member.preferred);
    for (const one_node& node : d.nodes) {
      places[domain_of(node, level)] += node.free / d.size;
      free[domain_of(node, level)] += node.free;
    }
    for (const decision& one : ran.decisions()) {
      const auto node = static_cast<std::size_t>(std::stoi(std::string(ran.view().node_name(one.node).substr(1))));
      ++used[domain_of(d.nodes[node], level)];
    }
    std::vector<int> rooms;
    for (const auto& [id, room] : places) rooms.push_back(room);
    std::sort(rooms.rbegin(), rooms.rend());
    // Where one domain is enough it is the tightest of those.
    if (rooms.front() >= member.pods) {
      RC_ASSERT(used.size() == 1U);
      for (const auto& [id, room] : places) {
        if (room >= member.pods) RC_ASSERT(free[used.begin()->first] <= free[id]);
      }
    }
  });
  CHECK(good);
}

}  // namespace of_test_topology
