// How pods are spread and which are welcome near others, against a slow truth that counts everything anew for each pod.
#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_spread {

using namespace kaisched;
using test::add;
using test::draw;
using test::got;
using test::numbers;
using test::texts;
using kind = table_kind;

namespace {

constexpr std::int64_t now = 1000 * test::second;
constexpr const char* host_key = "kubernetes.io/hostname";

struct drawn_node {
  std::string name;
  std::map<std::string, std::string> labels;
  bool tainted = false;
  std::int64_t gpus = 0;
};

/// Empty: every pod. Pods have one label, `app`.
struct drawn_spread {
  int skew = 1;
  std::string key;
  int min_domains = 1;
  bool soft = false, ignores_affinity = false, honors_taints = false;
  std::string app;
};
struct drawn_wish {
  int weight = 1;
  std::string key;
  std::string app;
  std::string spaces;  ///< behind an @
  bool required = false;
};
struct drawn_pod {
  std::string name, space, app;
  bool tolerates = false, picky = false;
  std::vector<drawn_spread> spread;
  std::vector<drawn_wish> wishes;
  pod_status status = pod_status::pending;
  int node = -1;
  bool only_claims = false;  ///< room that is coming free
};
struct drawn_cluster {
  std::vector<drawn_node> nodes;
  std::vector<drawn_pod> pods;
};

std::string pick(std::initializer_list<const char*> from) {
  return *(from.begin() + draw(0, static_cast<int>(from.size()) - 1));
}

drawn_cluster draw_cluster() {
  drawn_cluster made;
  const int nodes = draw(1, 7);
  for (int n = 0; n < nodes; ++n) {
    drawn_node& one = made.nodes.emplace_back();
    one.name = "n" + std::to_string(n);
    if (draw(0, 7) > 0) one.labels["zone"] = pick({"a", "b", "c"});
    if (draw(0, 7) > 0) one.labels[host_key] = one.name;
    if (draw(0, 2) > 0) one.labels["disk"] = "ssd";
    one.tainted = draw(0, 4) == 0;
    one.gpus = draw(0, 5);
  }
  const int pods = draw(1, 16);
  for (int p = 0; p < pods; ++p) {
    drawn_pod& one = made.pods.emplace_back();
    one.name = "p" + std::string(p < 10 ? "0" : "") + std::to_string(p);
    one.space = pick({"red", "red", "blue"});
    one.app = pick({"web", "web", "db"});
    one.tolerates = draw(0, 1) == 0;
    one.picky = draw(0, 3) == 0;
    for (int i = draw(0, 3); i > 1; --i) {
      one.spread.push_back({draw(1, 2), pick({"zone", "zone", host_key}), draw(0, 3) == 0 ? draw(2, 4) : 1,
                            draw(0, 1) == 0, draw(0, 2) == 0, draw(0, 2) == 0, pick({"web", "web", "db", ""})});
    }
    for (int i = draw(0, 3); i > 1; --i) {
      const int weight = draw(0, 1) == 0 ? draw(1, 100) : -draw(1, 100);
      one.wishes.push_back(
          {weight, pick({"zone", host_key}), pick({"web", "db"}), pick({"", "", "@*", "@blue", "@blue,red"}), false});
    }
    if (draw(0, 2) == 0) {
      one.status = draw(0, 3) == 0 ? pod_status::releasing : pod_status::running;
      one.node = draw(0, nodes - 1);
      if (draw(0, 3) == 0) one.wishes.push_back({1, "zone", pick({"web", "db"}), "", true});
    }
  }
  return made;
}

cluster built(const drawn_cluster& from) {
  cluster c;
  got(c.apply(add(kind::queue, {"name"}).add({"q"})));
  auto nodes = add(kind::node, {"name", "capacity", "labels", "taints"});
  for (const drawn_node& one : from.nodes) {
    texts labels;
    for (const auto& [key, value] : one.labels) labels.insert(labels.end(), {key, value});
    nodes.add(
        {one.name, numbers{64000, 64, 1000 * one.gpus, 110}, labels, one.tainted ? texts{"old:NoSchedule"} : texts{}});
  }
  got(c.apply(nodes));
  auto groups = add(kind::pod_group, {"name", "queue", "namespace", "created"});
  auto pods = add(kind::pod, {"name", "group", "request", "status", "node", "labels", "tolerations", "node_selector",
                              "spread", "preferences", "affinity", "created"});
  std::deque<std::string> kept;  // rows of texts are views
  std::int64_t created = 0;
  for (const drawn_pod& one : from.pods) {
    groups.add({one.name, "q", one.space, ++created});
    texts spread, wishes, near;
    for (const drawn_spread& by : one.spread) {
      spread.push_back(kept.emplace_back(std::to_string(by.skew) + " " + by.key + (by.soft ? " soft" : "") +
                                         (by.min_domains > 1 ? " min_domains=" + std::to_string(by.min_domains) : "") +
                                         (by.ignores_affinity ? " ignore_affinity" : "") +
                                         (by.honors_taints ? " honor_taints" : "") + ":" +
                                         (by.app.empty() ? "" : " app=" + by.app)));
    }
    for (const drawn_wish& by : one.wishes) {
      const std::string term = by.key + by.spaces + ": app=" + by.app;
      const std::string& text = kept.emplace_back(by.required ? term : std::to_string(by.weight) + " " + term);
      (by.required ? near : wishes).emplace_back(text);
    }
    pods.add({one.name, one.name, numbers{0, 0, 1000, 1}, one.status,
              one.node < 0 ? std::string() : from.nodes[static_cast<std::size_t>(one.node)].name, texts{"app", one.app},
              one.tolerates ? texts{"old"} : texts{}, one.picky ? texts{"disk", "ssd"} : texts{}, spread, wishes, near,
              created});
  }
  got(c.apply(groups));
  got(c.apply(pods));
  return c;
}

// ---- the slow truth ------------------------------------------------------------------------------------------------

std::optional<std::string> label(const drawn_node& of, const std::string& key) {
  const auto found = of.labels.find(key);
  return found == of.labels.end() ? std::nullopt : std::optional(found->second);
}

class slow_truth {
 public:
  explicit slow_truth(drawn_cluster of) : of_(std::move(of)) {}

  [[nodiscard]] std::vector<int> places() const {
    std::vector<int> found;
    for (const drawn_pod& one : of_.pods) found.push_back(one.status == pod_status::pending ? one.node : -1);
    return found;
  }

  /// Pods come in their order. `among_all`: points compare all nodes, not only those that could take the pod.
  void place_all(bool among_all) {
    for (drawn_pod& one : of_.pods) {
      if (one.status != pod_status::pending) continue;
      const int best = best_for(one, among_all);
      one.only_claims = best >= 0 && !has_room(best, false);
      one.node = best;
    }
  }

 private:
  using node_list = std::vector<int>;

  [[nodiscard]] static bool leaving(const drawn_pod& pod) { return pod.status == pod_status::releasing; }

  [[nodiscard]] int best_for(const drawn_pod& pod, bool among_all) const {
    node_list all, open;
    for (int n = 0; n < static_cast<int>(of_.nodes.size()); ++n) {
      all.push_back(n);
      if (accepts(pod, at(n)) && has_room(n, true) && is_even(pod, n)) open.push_back(n);
    }
    if (!among_all) {
      node_list starts;
      std::ranges::copy_if(open, std::back_inserter(starts), [&](int n) { return has_room(n, false); });
      if (!starts.empty()) open = starts;
    }
    if (open.empty()) return -1;
    const node_list& compared = among_all ? all : open;
    const std::vector<std::int64_t> even = evenness(pod, compared);
    const std::vector<std::int64_t> near = welcome(pod, compared);
    int best = -1;
    std::int64_t most = -1;
    for (std::size_t i = 0; i < compared.size(); ++i) {
      if (std::ranges::find(open, compared[i]) == open.end() || even[i] + near[i] <= most) continue;
      best = compared[i];
      most = even[i] + near[i];
    }
    return best;
  }

  [[nodiscard]] const drawn_node& at(int n) const { return of_.nodes[static_cast<std::size_t>(n)]; }
  [[nodiscard]] static bool selects(const drawn_pod& pod, const drawn_node& node) {
    return !pod.picky || label(node, "disk") == "ssd";
  }
  [[nodiscard]] static bool accepts(const drawn_pod& pod, const drawn_node& node) {
    return selects(pod, node) && (pod.tolerates || !node.tainted);
  }

  /// One GPU for each pod.
  [[nodiscard]] bool has_room(int n, bool later) const {
    const auto count = [&](auto which) {
      return std::ranges::count_if(of_.pods, [&](const drawn_pod& one) { return one.node == n && which(one); });
    };
    const auto stays = [](const drawn_pod& one) { return !leaving(one); };
    const auto is_there = [](const drawn_pod& one) { return !one.only_claims; };
    return later ? count(stays) < at(n).gpus : count(is_there) < at(n).gpus;
  }

  [[nodiscard]] std::int64_t matching(const drawn_pod& pod, const std::string& app, int n) const {
    if (app.empty()) return 0;
    return std::ranges::count_if(of_.pods, [&](const drawn_pod& one) {
      return one.node == n && !leaving(one) && one.space == pod.space && one.app == app;
    });
  }
  [[nodiscard]] bool takes_part(const drawn_pod& pod, const drawn_spread& by, int n) const {
    const bool has_all = std::ranges::all_of(
        pod.spread, [&](const drawn_spread& one) { return one.soft != by.soft || label(at(n), one.key).has_value(); });
    return has_all && (by.ignores_affinity || selects(pod, at(n))) &&
           (!by.honors_taints || pod.tolerates || !at(n).tainted);
  }
  [[nodiscard]] std::map<std::string, std::int64_t> domains(const drawn_pod& pod, const drawn_spread& by) const {
    std::map<std::string, std::int64_t> found;
    for (int n = 0; n < static_cast<int>(of_.nodes.size()); ++n) {
      if (takes_part(pod, by, n)) found[*label(at(n), by.key)] += matching(pod, by.app, n);
    }
    return found;
  }

  [[nodiscard]] bool is_even(const drawn_pod& pod, int n) const {
    return std::ranges::all_of(pod.spread, [&](const drawn_spread& by) {
      if (by.soft) return true;
      const auto value = label(at(n), by.key);
      if (!value) return false;
      const auto found = domains(pod, by);
      std::int64_t fewest = std::numeric_limits<std::int32_t>::max();
      for (const auto& [name, pods] : found) fewest = std::min(fewest, pods);
      if (static_cast<int>(found.size()) < by.min_domains) fewest = 0;
      const auto own = found.find(*value);
      const std::int64_t itself = by.app.empty() || by.app == pod.app ? 1 : 0;
      return (own == found.end() ? 0 : own->second) + itself - fewest <= by.skew;
    });
  }

  [[nodiscard]] std::vector<std::int64_t> evenness(const drawn_pod& pod, const node_list& nodes) const {
    std::vector<std::int64_t> points(nodes.size(), 0);
    std::vector<drawn_spread> soft;
    std::ranges::copy_if(pod.spread, std::back_inserter(soft), &drawn_spread::soft);
    if (soft.empty()) return points;
    std::vector<std::optional<std::int64_t>> raw(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto has_all = [&](int n) {
        return std::ranges::all_of(soft, [&](const drawn_spread& by) { return label(at(n), by.key).has_value(); });
      };
      if (!has_all(nodes[i])) continue;
      double sum = 0;
      for (const drawn_spread& by : soft) {
        std::set<std::string> seen;
        std::size_t counted = 0;
        for (const int n : nodes) {
          if (has_all(n) && (by.key == host_key || seen.insert(*label(at(n), by.key)).second)) ++counted;
        }
        const std::int64_t pods =
            by.key == host_key ? matching(pod, by.app, nodes[i]) : domains(pod, by)[*label(at(nodes[i]), by.key)];
        sum +=
            static_cast<double>(pods) * std::log(static_cast<double>(counted + 2)) + static_cast<double>(by.skew - 1);
      }
      raw[i] = static_cast<std::int64_t>(std::round(sum));
    }
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    std::int64_t most = 0;
    for (const auto& one : raw) {
      if (one) least = std::min(least, *one);
      if (one) most = std::max(most, *one);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (raw[i]) points[i] = most == 0 ? 100 : 100 * (most + least - *raw[i]) / most;
    }
    return points;
  }

  [[nodiscard]] static bool wants(const drawn_pod& owner, const drawn_wish& by, const drawn_pod& other) {
    const bool reaches = by.spaces.empty()   ? owner.space == other.space
                         : by.spaces == "@*" ? true
                                             : by.spaces.find(other.space) != std::string::npos;
    return reaches && by.app == other.app;
  }
  [[nodiscard]] std::vector<std::int64_t> welcome(const drawn_pod& pod, const node_list& nodes) const {
    std::vector<std::int64_t> sums(nodes.size(), 0);
    for (const drawn_pod& one : of_.pods) {
      if (one.node < 0) continue;
      const auto count = [&](const drawn_wish& by, std::int64_t weight) {
        const auto there = label(at(one.node), by.key);
        for (std::size_t i = 0; there && i < nodes.size(); ++i) {
          if (label(at(nodes[i]), by.key) == there) sums[i] += weight;
        }
      };
      for (const drawn_wish& by : pod.wishes) {
        if (!by.required && wants(pod, by, one)) count(by, by.weight);
      }
      for (const drawn_wish& by : one.wishes) {
        if (wants(one, by, pod)) count(by, by.weight);
      }
    }
    const auto [least, most] = std::ranges::minmax(sums);
    for (std::int64_t& one : sums) {
      one = most == least ? 0
                          : static_cast<std::int64_t>(
                                100.0 * (static_cast<double>(one - least) / static_cast<double>(most - least)));
    }
    return sums;
  }

  drawn_cluster of_;
};

std::vector<int> places_of(const session& of, const drawn_cluster& from) {
  std::vector<int> found(from.pods.size(), -1);
  for (const decision& one : of.decisions()) {
    if (one.kind != decision_kind::bind && one.kind != decision_kind::pipeline) continue;
    const std::string pod(of.view().pod_name(one.pod));
    const std::string node(of.view().node_name(one.node));
    for (std::size_t i = 0; i < from.pods.size(); ++i) {
      if (from.pods[i].name == pod) found[i] = std::stoi(node.substr(1));
    }
  }
  return found;
}

void compare_with_truth() {
  const drawn_cluster from = draw_cluster();
  cluster c = built(from);
  const snapshot base = c.take_snapshot();
  const bool in_tiers = draw(0, 1) == 0;
  engine e;
  if (in_tiers) {
    got(e.set("preset", "kube-default"));
    got(e.set("volcano.settings",
              "jobs.one_queue=true,jobs.by_pod=true,nodeorder.least=0,nodeorder.balanced=0,nodeorder.taints=0,"
              "nodeorder.spread=1,nodeorder.pods=1,nodeorder.required_pods=1"));
    got(e.set("volcano.actions", "allocate"));
  } else {
    got(e.set("parts", "predicates,topologyspread,interpodaffinity,fifo"));
  }
  const session ran = got(e.run(base, now));
  slow_truth truth(from);
  truth.place_all(!in_tiers);
  RC_ASSERT(places_of(ran, from) == truth.places());
}

/// Gangs, victims and moves: with indexes and without, and copies that go on.
void compare_ways() {
  const drawn_cluster from = draw_cluster();
  cluster c = built(from);
  auto groups = test::change(kind::pod_group, {"name", "priority"});
  for (const drawn_pod& one : from.pods) groups.add({one.name, draw(0, 2) == 0 ? 75 : 50});
  got(c.apply(groups));
  got(c.apply(
      add(kind::pod_group, {"name", "queue", "namespace", "min_member", "priority"}).add({"gang", "q", "red", 3, 80})));
  auto pods = add(kind::pod, {"name", "group", "request", "labels", "spread"});
  for (const char* name : {"gang-0", "gang-1", "gang-2", "gang-3"})
    pods.add({name, "gang", numbers{0, 0, 1000, 1}, texts{"app", "web"}, texts{"1 zone: app=web"}});
  got(c.apply(pods));
  const snapshot base = c.take_snapshot();
  engine e;
  got(e.set("parts",
            "predicates,topologyspread,interpodaffinity,proportion,priority,elastic,nodeavailability,gpusharingorder,"
            "resourcetype,nominatednode,nodeplacement,minruntime,sg-nodelocalgreedy,sg-multinodegang"));
  got(e.set("mode", draw(0, 3) == 0 ? "compat" : "strict"));
  got(e.set("invariants", "full"));
  got(e.set("actions", "allocate,consolidation,reclaim,preempt"));
  engine slow(e.options());
  got(slow.set("reference_path", "true"));
  const session ran = got(e.run(base, now));
  const session asked = got(slow.run(base, now));
  RC_ASSERT(test::lines(ran) == test::lines(asked));
  session first = got(e.open(base, now));
  got(first.run("allocate"));
  session copy = first.fork();
  for (session* one : {&first, &copy}) got(one->run("preempt"));
  RC_ASSERT(test::lines(first) == test::lines(copy));
}

}  // namespace

TEST_CASE("pods are spread and near others as a slow truth says") {
  const bool good = rc::check("spread", [] {
    for (int i = 0; i < 5; ++i) compare_with_truth();
  });
  CHECK(good);
}

TEST_CASE("indexes spread pods as the reference way does") {
  const bool good = rc::check("ways to spread", [] { compare_ways(); });
  CHECK(good);
}

}  // namespace of_test_spread
