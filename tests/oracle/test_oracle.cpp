// The engine decides as the oracle does: on random clusters, and on every cluster over a tiny alphabet.
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <kaisched/cluster.hpp>

#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "oracle/differences.hpp"
#include "oracle/random_cluster.hpp"

using namespace kaisched;
using test::cluster_rows;

namespace {

/// Throws that RapidCheck lowers when it makes a failing cluster smaller; the size of a case does not narrow them.
class rapid_dice final : public test::dice {
 public:
  std::int64_t upto(std::int64_t most) override {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::int64_t>(0, most + 1));
  }
};

policy_options random_options(test::dice& d) {
  policy_options o = preset("kai").value();
  o.nomination_timeout = 0;  // the oracle knows claims of one session
  o.mode = d.of<decision_mode>({decision_mode::strict, decision_mode::compat});
  o.gpu_placement = d.of<placement_strategy>({placement_strategy::binpack, placement_strategy::spread});
  o.cpu_placement = d.of<placement_strategy>({placement_strategy::binpack, placement_strategy::spread});
  o.fair_share_k = d.of<double>({1, 0, 0.5, 2.5});
  o.restrict_node_scheduling = d.one_in(15);
  if (d.one_in(10)) o.allocate_queue_depth = d.between(1, 3);
  if (d.one_in(8)) d.shuffle(o.parts);
  if (d.one_in(8)) std::erase_if(o.parts, [&](const std::string&) { return d.one_in(4); });
  return o;
}

snapshot take(const cluster_rows& rows) {
  cluster c;
  for (const table& t : rows.tables()) {
    if (const auto done = c.apply(t); !done) throw std::logic_error(done.failure().message);
  }
  return c.take_snapshot();
}

/// The oracle knows neither KAI's books of shared devices nor the part that draws pods to them.
bool within_its_reach(const snapshot& cluster, decision_mode mode) {
  return mode == decision_mode::strict || model::state_of(cluster).pods_with_shares == 0;
}

void leave_out_sharing(policy_options& options) { std::erase(options.parts, "gpusharingorder"); }

void compare_random(const test::cluster_size& size) {
  CHECK(rc::check([&] {
    rapid_dice d;
    policy_options options = random_options(d);
    const snapshot cluster = take(test::random_cluster(d, size));
    if (!within_its_reach(cluster, options.mode)) options.mode = decision_mode::strict;
    leave_out_sharing(options);
    const std::string different = oracle::differences(cluster, options);
    if (!different.empty()) RC_FAIL(different);
  }));
}

}  // namespace

TEST_CASE("small clusters") { compare_random({6, 12}); }

TEST_CASE("larger clusters") { compare_random({16, 60}); }

namespace {

/// What a pod of the tiny alphabet is: a request, and where it stands.
struct letter {
  std::int64_t gpu;
  pod_status status;
};
enum class arrangement { alone, one_gang, two_queues };

cluster_rows spell(const std::vector<std::int64_t>& gpus_of_nodes, const std::vector<letter>& word, arrangement how) {
  cluster_rows r;
  r.queues.push_back({"q0"});
  if (how == arrangement::two_queues) {
    r.queues.front().quota[dim_gpu] = whole_device;
    r.queues.push_back({"q1"});
    r.queues.back().quota[dim_gpu] = whole_device;
    r.queues.back().limit[dim_gpu] = 2 * whole_device;
  }
  for (std::size_t n = 0; n < gpus_of_nodes.size(); ++n) {
    r.nodes.push_back({"n" + std::to_string(n), {4, 4, gpus_of_nodes[n] * whole_device, 110}});
  }
  const auto size = static_cast<std::int64_t>(word.size());
  if (how == arrangement::one_gang) r.groups.push_back({"g0", "q0", 50, true, 0, size});
  for (std::size_t i = 0; i < word.size(); ++i) {
    const std::string number = std::to_string(i);
    if (how != arrangement::one_gang) {
      r.groups.push_back({"g" + number, how == arrangement::two_queues && i % 2 == 1 ? "q1" : "q0"});
    }
    cluster_rows::pod p;
    p.name = "p" + number;
    p.group = r.groups.back().name;
    p.request = {1, 1, word[i].gpu, 1};
    p.status = word[i].status;
    if (p.status != pod_status::pending) p.node = "n0";
    r.pods.push_back(std::move(p));
  }
  return r;
}

/// Calls `visit` with every word of up to three letters.
void for_all_words(const std::vector<letter>& alphabet, const std::function<void(const std::vector<letter>&)>& visit) {
  std::vector<letter> word;
  const std::function<void()> grow = [&] {
    if (!word.empty()) visit(word);
    if (word.size() == 3) return;
    for (const letter& next : alphabet) {
      word.push_back(next);
      grow();
      word.pop_back();
    }
  };
  grow();
}

}  // namespace

TEST_CASE("every cluster of two nodes and three pods") {
  std::vector<letter> alphabet;
  for (const std::int64_t gpu : {1000, 500, 2000}) {
    for (const pod_status s : {pod_status::pending, pod_status::running, pod_status::releasing}) {
      alphabet.push_back({gpu, s});
    }
  }
  std::vector<std::vector<std::int64_t>> nodes;
  for (const std::int64_t a : {0, 1, 2}) {
    nodes.push_back({a});
    for (const std::int64_t b : {0, 1, 2}) nodes.push_back({a, b});
  }
  std::size_t compared = 0;
  std::string first_difference;
  for_all_words(alphabet, [&](const std::vector<letter>& word) {
    for (const std::vector<std::int64_t>& gpus : nodes) {
      for (const arrangement how : {arrangement::alone, arrangement::one_gang, arrangement::two_queues}) {
        if (!first_difference.empty()) return;
        const snapshot s = take(spell(gpus, word, how));
        for (const decision_mode mode : {decision_mode::strict, decision_mode::compat}) {
          if (!within_its_reach(s, mode)) continue;
          for (const placement_strategy placement : {placement_strategy::binpack, placement_strategy::spread}) {
            policy_options o = preset("kai").value();
            o.nomination_timeout = 0;
            o.mode = mode;
            o.gpu_placement = placement;
            leave_out_sharing(o);
            if (first_difference.empty()) first_difference = oracle::differences(s, o);
            ++compared;
          }
        }
      }
    }
  });
  CHECK_MESSAGE(first_difference.empty(), first_difference);
  constexpr std::size_t words = 9 + 81 + 729;
  constexpr std::size_t words_without_shares = 6 + 36 + 216;
  CHECK(compared == (words + words_without_shares) * 12 * 3 * 2);
}
