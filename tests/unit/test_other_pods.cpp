// Host ports, required affinity and anti-affinity are counted by domain as pods come and go. Here they are judged by
// looking at all pods, as the rules are told in Kubernetes' documentation.
#include <algorithm>
#include <random>

#include "policy/access.hpp"
#include "policy/constraints/constraint_list.hpp"
#include "support.hpp"

namespace of_test_other_pods {

using namespace kaisched;

namespace {

/// A term in its parts, and as text.
struct term {
  std::string key;
  std::string label;
  std::vector<std::string> values;  ///< empty: the label has to be there
  bool negated = false;
  std::vector<std::string> spaces;  ///< empty: that of the pod; "*": all

  [[nodiscard]] std::string text() const {
    std::string made = key;
    for (std::size_t i = 0; i < spaces.size(); ++i) made += (i == 0 ? "@" : ",") + spaces[i];
    made += ": " + std::string(negated && values.empty() ? "!" : "") + label;
    if (values.empty()) return made;
    made += negated ? " notin (" : " in (";
    for (std::size_t i = 0; i < values.size(); ++i) made += (i == 0 ? "" : ",") + values[i];
    return made + ")";
  }
};

using label_pairs = std::vector<std::pair<std::string, std::string>>;

const std::string* value_of(const label_pairs& labels, const std::string& key) {
  const auto found = std::find_if(labels.begin(), labels.end(), [&](const auto& one) { return one.first == key; });
  return found == labels.end() ? nullptr : &found->second;
}

struct drawn_pod {
  std::string name_space;
  label_pairs labels;
  std::vector<term> affinity;
  std::vector<term> apart;
  std::vector<std::int64_t> ports;
};

bool selects(const term& t, const drawn_pod& owner, const drawn_pod& other) {
  const auto in_spaces = [&](const std::string& name) {
    return std::find(t.spaces.begin(), t.spaces.end(), name) != t.spaces.end();
  };
  if (t.spaces.empty() ? owner.name_space != other.name_space : !in_spaces("*") && !in_spaces(other.name_space))
    return false;
  const std::string* value = value_of(other.labels, t.label);
  const bool holds =
      value != nullptr && (t.values.empty() || std::find(t.values.begin(), t.values.end(), *value) != t.values.end());
  return holds != t.negated;
}

/// A cluster, and what its pods and nodes were drawn as.
class world {
 public:
  explicit world(std::uint32_t seed) : random_(seed) {
    test::builder b;
    b << test::builder::queue{"q"};
    for (int i = 0; i < 6; ++i) {
      label_pairs labels{{"host", "h" + std::to_string(i)}};
      if (draw(5) > 0) labels.emplace_back("zone", "z" + std::to_string(draw(3)));
      nodes_.push_back(labels);
      b << test::builder::node{"n" + std::to_string(i), 100, 1000, flat(labels)};
    }
    for (int i = 0; i < 14; ++i) {
      const std::string name = std::to_string(i);
      const drawn_pod pod = draw_pod();
      b << test::builder::group{"g" + name, "q", 1, 50, i, true, pod.name_space};
      const std::string node = draw(2) == 0 ? "n" + std::to_string(draw(6)) : "";
      std::vector<std::string> ports;
      for (const std::int64_t port : pod.ports) ports.push_back(std::to_string(port));
      const pod_status status = draw(3) == 0 ? pod_status::releasing : pod_status::running;
      b << test::builder::pod{"p" + name,       "g" + name,       0,     node,  1, {}, {}, texts(pod.affinity),
                              texts(pod.apart), flat(pod.labels), ports, status};
      pods_.push_back(pod);
    }
    state_ = b.take();
  }

  /// Of all pods at all nodes.
  void check(const session& s) const {
    const session_access& a = policy::inside(s.view());
    std::vector<node_row> rows;
    for (std::size_t i = 0; i < nodes_.size(); ++i) rows.push_back(test::node_by_name(state_, "n" + std::to_string(i)));
    for (std::size_t p = 0; p < pods_.size(); ++p) {
      std::vector<constraint> found(rows.size(), constraint::none);
      a.constraints->judge_by_rules(a, row_of(p), rows, found);
      for (std::size_t n = 0; n < rows.size(); ++n) {
        INFO("pod ", p, " node ", n);
        CHECK(static_cast<int>(found[n]) == static_cast<int>(verdict(s, a, p, n)));
      }
    }
  }

  /// One step of the statement; false: it was refused.
  bool change(session& s) {
    const pod_row pod = row_of(draw(pods_.size()));
    const node_row node = test::node_by_name(state_, "n" + std::to_string(draw(nodes_.size())));
    const pod_status is = s.view().status_of(pod);
    if (is == pod_status::running) return s.evict(pod).ok();
    const auto done = draw(2) == 0 && is == pod_status::pending ? s.allocate(pod, node) : s.pipeline(pod, node);
    return done.ok() && done.value();
  }

  [[nodiscard]] const snapshot& state() const { return state_; }
  std::size_t draw(std::size_t below) { return std::uniform_int_distribution<std::size_t>(0, below - 1)(random_); }

 private:
  static std::vector<std::string> flat(const label_pairs& labels) {
    std::vector<std::string> made;
    for (const auto& [key, value] : labels) made.insert(made.end(), {key, value});
    return made;
  }
  static std::vector<std::string> texts(const std::vector<term>& terms) {
    std::vector<std::string> made;
    for (const term& one : terms) made.push_back(one.text());
    return made;
  }
  [[nodiscard]] pod_row row_of(std::size_t pod) const { return test::pod_by_name(state_, "p" + std::to_string(pod)); }

  term draw_term() {
    term made{draw(2) == 0   ? "zone"
              : draw(8) == 0 ? "nowhere"
                             : "host",
              "k" + std::to_string(draw(3)),
              {},
              draw(6) == 0,
              {}};
    for (std::size_t i = draw(3); i > 0; --i) made.values.push_back("v" + std::to_string(draw(3)));
    if (draw(3) == 0) made.spaces = draw(2) == 0 ? std::vector<std::string>{"*"} : std::vector<std::string>{"a", "b"};
    return made;
  }
  drawn_pod draw_pod() {
    drawn_pod made{draw(2) == 0 ? "a" : "c", {}, {}, {}, {}};
    for (int k = 0; k < 3; ++k) {
      if (draw(2) == 0) made.labels.emplace_back("k" + std::to_string(k), "v" + std::to_string(draw(3)));
    }
    made.labels.emplace_back("own", std::to_string(draw(1000)));  // no selector names it
    if (draw(4) == 0) made.affinity.push_back(draw_term());
    for (std::size_t i = draw(3); i > 0 && draw(2) == 0; --i) made.apart.push_back(draw_term());
    if (draw(4) == 0) made.ports.push_back(static_cast<std::int64_t>(80 + draw(2)));
    return made;
  }

  /// The nodes that a pod is on: one that moves is on two.
  [[nodiscard]] std::vector<std::size_t> nodes_of(const session& s, const session_access& a, std::size_t p) const {
    std::vector<std::size_t> found;
    const pod_row row = row_of(p);
    const auto add = [&](node_row at) {
      for (std::size_t n = 0; n < nodes_.size(); ++n) {
        if (test::node_by_name(state_, "n" + std::to_string(n)) == at) found.push_back(n);
      }
    };
    if (s.view().node_of(row) != no_row) add(s.view().node_of(row));
    for (const leaving_pod& one : *a.leaving) {
      if (one.pod == row) add((*a.state->node_row_of_slot)[one.node]);
    }
    return found;
  }

  [[nodiscard]] constraint verdict(const session& s, const session_access& a, std::size_t p, std::size_t n) const {
    const drawn_pod& pod = pods_[p];
    const auto is_near = [&](const term& t) {
      const std::string* here = value_of(nodes_[n], t.key);
      bool any = false;
      for (std::size_t other = 0; other < pods_.size(); ++other) {
        if (!selects(t, pod, pods_[other])) continue;
        for (const std::size_t at : nodes_of(s, a, other)) {
          const std::string* there = value_of(nodes_[at], t.key);
          any = any || (here != nullptr && there != nullptr && *here == *there);
        }
      }
      return any;
    };
    for (std::size_t other = 0; other < pods_.size(); ++other) {
      for (const std::size_t at : nodes_of(s, a, other)) {
        for (const std::int64_t port : pods_[other].ports) {
          if (at == n && std::find(pod.ports.begin(), pod.ports.end(), port) != pod.ports.end())
            return constraint::host_port;
        }
      }
    }
    for (const term& t : pod.affinity) {
      bool exists = false;
      for (std::size_t other = 0; other < pods_.size(); ++other)
        exists = exists || (selects(t, pod, pods_[other]) && !nodes_of(s, a, other).empty());
      const bool is_first = !exists && selects(t, pod, pod);
      if (value_of(nodes_[n], t.key) == nullptr || (!is_first && !is_near(t))) return constraint::pod_affinity;
    }
    for (const term& t : pod.apart) {
      if (is_near(t)) return constraint::pod_anti_affinity;
    }
    for (std::size_t other = 0; other < pods_.size(); ++other) {
      for (const term& t : pods_[other].apart) {
        const std::string* here = value_of(nodes_[n], t.key);
        if (here == nullptr || !selects(t, pods_[other], pod)) continue;
        for (const std::size_t at : nodes_of(s, a, other)) {
          const std::string* there = value_of(nodes_[at], t.key);
          if (there != nullptr && *there == *here) return constraint::pod_anti_affinity;
        }
      }
    }
    return constraint::none;
  }

  std::mt19937 random_;
  std::vector<label_pairs> nodes_;
  std::vector<drawn_pod> pods_;
  snapshot state_;
};

}  // namespace

TEST_CASE("ports, affinity and anti-affinity are judged as a look at all pods judges them") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    world of(seed);
    const engine e = test::make_engine({"mode", seed % 2 == 0 ? "strict" : "compat"});
    session s = test::must(e.open(of.state(), 0));
    of.check(s);
    for (int step = 0; step < 12; ++step) {
      const auto before = s.mark();
      of.change(s);
      of.change(s);
      of.check(s);
      if (of.draw(3) == 0) {
        test::must(s.rollback(before));
        of.check(s);
      }
    }
  }
}

}  // namespace of_test_other_pods
