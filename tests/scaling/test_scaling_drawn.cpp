/// Nodes to add and to give back over drawn clusters, decided again with nothing but the public interface: what is
/// promised happens, no node is too many, and no set is much cheaper.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/scaling.hpp>

#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_scaling_drawn {

using namespace kaisched;
using test::builder;
using test::must;
using test::second;

namespace {

constexpr std::int64_t now = 1000 * second;
constexpr int clusters = 60;

struct drawn {
  builder cluster;
  builder types;
  std::vector<node_type> offers;
};

drawn draw(std::uint32_t seed) {
  std::mt19937 bits(seed);
  const auto up_to = [&](int least, int most) {
    return least + static_cast<int>(bits() % static_cast<unsigned>(most - least + 1));
  };
  drawn made;
  builder& b = made.cluster;
  b << builder::queue{"a", "", unlimited, up_to(0, 2) == 0 ? 6 : unlimited} << builder::queue{"b"};
  const int nodes = up_to(0, 3);
  for (int n = 0; n < nodes; ++n)
    b << builder::node{"n" + std::to_string(n), up_to(1, 4), 64, {"model", up_to(0, 1) == 0 ? "x" : "y"}};
  for (int n = 0; n < nodes; ++n) {
    if (up_to(0, 1) == 0) continue;
    const std::string name = "r" + std::to_string(n);
    b << builder::group{name, "b", 1, 50, 0, up_to(0, 3) != 0};
    b << builder::pod{name + "-0", name, 500 * up_to(1, 2), "n" + std::to_string(n)};
  }
  const int groups = up_to(1, 4);
  for (int g = 0; g < groups; ++g) {
    const std::string name = "g" + std::to_string(g);
    const int pods = up_to(1, 3);
    const std::int64_t each = up_to(0, 3) == 0 ? 500 : 1000 * up_to(1, 3);
    b << builder::group{name, up_to(0, 1) == 0 ? "a" : "b", up_to(1, pods), 50, g * second};
    std::vector<std::string> selector;
    if (up_to(0, 3) == 0) selector = {"model", "x"};
    for (int p = 0; p < pods; ++p)
      b << builder::pod{name + "-" + std::to_string(p), name, each, "", 1000 * up_to(1, 2), "", selector};
  }
  for (const char* name : {"s", "t", "u"}) {
    made.types << builder::node{name, up_to(1, 4), up_to(2, 8), {"model", up_to(0, 1) == 0 ? "x" : "y"}};
    made.offers.push_back({name, up_to(1, 40), up_to(0, 3), {}});
  }
  return made;
}

node_offers offers_of(const drawn& from) { return {from.types.take(), from.offers}; }

/// Pods that get a place by group, when the nodes come after what can start has started.
std::map<std::string, int> started(const drawn& from, const std::map<std::string, std::int64_t>& counts,
                                   const std::string& without = {}) {
  cluster c;
  from.cluster.apply_to(c);
  const engine with;
  const auto decide = [&] {
    session s = must(with.open(c.take_snapshot(), now));
    must(s.run("allocate"));
    return s;
  };
  must(c.assume(decide()));
  builder more;
  for (const builder::node& one : from.types.nodes) {
    const auto found = counts.find(one.name);
    for (std::int64_t n = 1; found != counts.end() && n <= found->second; ++n) {
      builder::node copy = one;
      copy.name += "+" + std::to_string(n);
      if (copy.name != without) more << copy;
    }
  }
  for (const table& t : more.tables()) {
    if (t.rows() > 0) must(c.apply(t));
  }
  const session s = decide();
  std::map<std::string, int> pods;
  for (const decision& d : s.decisions()) {
    if (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline)
      ++pods[std::string(s.base().group_name(d.group))];
  }
  return pods;
}

bool is_as_good(const std::map<std::string, int>& has, const std::map<std::string, int>& promised) {
  return std::all_of(promised.begin(), promised.end(), [&](const auto& one) {
    const auto found = has.find(one.first);
    return one.second == 0 || (found != has.end() && found->second >= one.second);
  });
}

struct answer {
  std::map<std::string, int> promised;
  std::map<std::string, std::int64_t> counts;
};

answer told(const scale_up_answer& of) {
  answer made;
  for (const scaled_group& one : of.groups)
    made.promised[std::string(of.over.group_name(one.group))] = static_cast<int>(one.placed);
  for (const node_addition& one : of.added) made.counts[one.type] = std::ssize(one.nodes);
  return made;
}

/// The cheapest of all sets with which at least that starts.
std::int64_t least_cost(const drawn& from, const std::map<std::string, int>& promised) {
  std::int64_t best = std::numeric_limits<std::int64_t>::max();
  std::map<std::string, std::int64_t> counts;
  for (counts["s"] = 0; counts["s"] <= from.offers[0].most; ++counts["s"]) {
    for (counts["t"] = 0; counts["t"] <= from.offers[1].most; ++counts["t"]) {
      for (counts["u"] = 0; counts["u"] <= from.offers[2].most; ++counts["u"]) {
        std::int64_t cost = 0;
        for (const node_type& one : from.offers) cost += one.price * counts[one.name];
        if (cost < best && is_as_good(started(from, counts), promised)) best = cost;
      }
    }
  }
  return best;
}

template <class T>
void shuffle(std::vector<T>& rows, std::mt19937& bits) {
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[bits() % i]);
}

std::string text_of(const scale_report& of) {
  std::string text =
      std::to_string(of.up.cost) + " " + std::to_string(of.up.lower_bound) + " " + std::to_string(of.up.verifications);
  for (const node_addition& one : of.up.added) text += " " + one.type + ":" + std::to_string(one.nodes.size());
  for (const scaled_group& one : of.up.groups) {
    text += "\n" + std::string(of.up.over.group_name(one.group)) + " " + std::to_string(one.placed);
    for (const decision& d : one.decisions)
      text += " " + std::string(of.up.over.pod_name(d.pod)) + ">" + std::string(of.up.over.node_name(d.node));
    for (const std::string& why : one.texts) text += " " + why;
  }
  for (const returned_node& one : of.down.nodes) {
    text += "\n" + one.name + (one.returned ? " goes " : " stays ") + one.keeps;
    for (const scale_move& m : one.moves) text += " " + m.pod + ">" + m.to;
  }
  return text;
}

}  // namespace

TEST_CASE("what is promised starts, and without one node it does not") {
  int sets = 0;
  int proven = 0;
  for (std::uint32_t seed = 1; seed <= clusters; ++seed) {
    CAPTURE(seed);
    const drawn from = draw(seed);
    const scale_report report = must(scale(engine(), from.cluster.take(), now, offers_of(from)));
    const answer is = told(report.up);
    CHECK(is_as_good(started(from, is.counts), is.promised));
    REQUIRE(report.up.minimal);
    for (const node_addition& one : report.up.added) {
      for (const std::string& node : one.nodes) CHECK(!is_as_good(started(from, is.counts, node), is.promised));
      ++sets;
    }
    const std::int64_t least = least_cost(from, is.promised);
    CHECK(report.up.lower_bound <= least);
    CHECK(report.up.cost == least);  // few types and nodes: all cheaper sets are tried
    proven += report.up.cheapest ? 1 : 0;
  }
  CHECK(sets > clusters / 2);
  CHECK(proven == clusters);
}

TEST_CASE("nothing more starts with all nodes that there are") {
  for (std::uint32_t seed = 1; seed <= clusters; ++seed) {
    CAPTURE(seed);
    const drawn from = draw(seed);
    const answer is = told(must(scale(engine(), from.cluster.take(), now, offers_of(from))).up);
    std::map<std::string, std::int64_t> all;
    for (const node_type& one : from.offers) all[one.name] = one.most;
    const std::map<std::string, int> most = started(from, all);
    CHECK(is_as_good(most, is.promised));
    CHECK(is_as_good(is.promised, most));
  }
}

TEST_CASE("the order of rows changes nothing") {
  for (std::uint32_t seed = 1; seed <= clusters; ++seed) {
    CAPTURE(seed);
    drawn from = draw(seed);
    const std::string first = text_of(must(scale(engine(), from.cluster.take(), now, offers_of(from))));
    std::mt19937 bits(seed);
    shuffle(from.cluster.nodes, bits);
    shuffle(from.cluster.queues, bits);
    shuffle(from.cluster.groups, bits);
    shuffle(from.cluster.pods, bits);
    shuffle(from.types.nodes, bits);
    shuffle(from.offers, bits);
    CHECK(text_of(must(scale(engine(), from.cluster.take(), now, offers_of(from)))) == first);
  }
}

TEST_CASE("pods that move fit where they go, and what may not move is where it was") {
  int moved = 0;
  int returned = 0;
  for (std::uint32_t seed = 1; seed <= clusters; ++seed) {
    CAPTURE(seed);
    const drawn from = draw(seed);
    scale_question question;
    question.up = false;
    const snapshot base = from.cluster.take();
    const scale_report report = must(scale(engine(), base, now, {}, question));
    CHECK(report.down.complete);
    // All pods that ran at their new places, and the nodes gone: a cluster that is sound.
    builder then = from.cluster;
    std::set<std::string> gone;
    for (const returned_node& node : report.down.nodes) {
      CHECK(node.returned == node.keeps.empty());
      if (!node.returned) continue;
      ++returned;
      gone.insert(node.name);
      for (const scale_move& m : node.moves) {
        ++moved;
        CHECK(!gone.contains(m.to));
        for (builder::pod& p : then.pods) {
          if (p.name != m.pod) continue;
          CHECK(p.node == m.from);
          p.node = m.to;
          const auto group =
              std::find_if(then.groups.begin(), then.groups.end(), [&](const auto& g) { return g.name == p.group; });
          CHECK(group->preemptible);
        }
      }
    }
    std::erase_if(then.nodes, [&](const builder::node& n) { return gone.contains(n.name); });
    std::map<std::string, std::int64_t> used;
    for (const builder::pod& p : then.pods) {
      CHECK(!gone.contains(p.node));
      if (!p.node.empty()) used[p.node] += p.gpu_milli;
    }
    for (const builder::node& n : then.nodes) CHECK(used[n.name] <= n.gpus * whole_device);
    must(must(engine().open(then.take(), now)).check());
  }
  CHECK(moved > 5);
  CHECK(returned > 20);
}

}  // namespace of_test_scaling_drawn
