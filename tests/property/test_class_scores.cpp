// Scores that are kept per class: the same decisions as by asking every part about every node.
#include <deque>
#include <map>
#include <tuple>

#include <rapidcheck.h>

#include "draws.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_class_scores {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::numbers;
using test::texts;

namespace {

constexpr std::int64_t now = 1000 * test::second;

std::string pick(std::initializer_list<const char*> from) {
  return *(from.begin() + draw(0, static_cast<int>(from.size()) - 1));
}

/// Nodes of several types, running and leaving pods, gangs and single pods that wait; many are alike.
cluster packed_cluster() {
  cluster c;
  got(c.apply(
      add(kind::queue, {"name", "quota"}).add({"q0", numbers{-1, -1, 4000}}).add({"q1", numbers{-1, -1, 2000}})));
  const int nodes = draw(0, 7) == 0 ? draw(60, 140) : draw(1, 8);
  auto all_nodes = add(kind::node, {"name", "capacity", "labels", "gpu_memory", "cpu_utilization"});
  for (int n = 0; n < nodes; ++n) {
    const int gpus = draw(0, 4);
    all_nodes.add({"n" + std::to_string(n), numbers{std::int64_t{4000} * draw(1, 4), 64, std::int64_t{1000} * gpus, 20},
                   texts{"model", std::string_view(draw(0, 1) == 0 ? "A" : "B")},
                   draw(0, 3) == 0 && gpus > 0 ? std::int64_t{16000000000} : std::int64_t{0},
                   draw(0, 1) == 0 ? std::int64_t{-1} : std::int64_t{100} * draw(0, 10)});
  }
  got(c.apply(all_nodes));
  auto groups = add(kind::pod_group, {"name", "queue", "min_member", "priority", "created"});
  auto pods = add(kind::pod, {"name", "group", "request", "device_count", "status", "node", "node_affinity", "labels",
                              "anti_affinity", "nominated_node", "load"});
  std::deque<std::string> kept;  // rows of texts are views
  const int count = draw(1, 14);
  for (int g = 0; g < count; ++g) {
    const std::string name = "g" + std::to_string(g);
    const int size = draw(0, 2) == 0 ? draw(2, 4) : 1;
    groups.add({name, pick({"q0", "q1"}), draw(1, size), draw(0, 3) == 0 ? 75 : 50, std::int64_t{g}});
    const bool runs = draw(0, 2) == 0;
    const std::int64_t share = std::vector<std::int64_t>{300, 500, 600}[static_cast<std::size_t>(draw(0, 2))];
    const std::int64_t gpu =
        std::vector<std::int64_t>{0, share, share, 1000, 2000, 2 * share}[static_cast<std::size_t>(draw(0, 5))];
    const int parts = gpu == share ? 1 : gpu == 2 * share && gpu % 1000 != 0 ? 2 : 0;
    const std::int64_t cpu = std::int64_t{1000} * draw(0, 2);
    const bool picky = draw(0, 4) == 0;
    const bool alone = draw(0, 5) == 0;
    const std::string& compute = kept.emplace_back("compute:" + std::to_string(100 * draw(0, 6)));
    const std::string& bandwidth = kept.emplace_back("bandwidth:" + std::to_string(100 * draw(0, 6)));
    const texts load = draw(0, 2) == 0 ? texts{} : texts{std::string_view(compute), std::string_view(bandwidth)};
    const std::string& apart = kept.emplace_back("kubernetes.io/hostname: app=" + name);
    const std::string& app = kept.emplace_back(name);
    for (int p = 0; p < size; ++p) {
      const auto status = !runs ? pod_status::pending : draw(0, 3) == 0 ? pod_status::releasing : pod_status::running;
      pods.add({name + "-" + std::to_string(p), name, numbers{cpu, 1, gpu, 1}, parts, status,
                runs ? "n" + std::to_string(draw(0, nodes - 1)) : std::string(),
                picky ? texts{"model in (A)"} : texts{}, alone ? texts{"app", std::string_view(app)} : texts{},
                alone ? texts{std::string_view(apart)} : texts{},
                !runs && draw(0, 9) == 0 ? "n" + std::to_string(draw(0, nodes - 1)) : std::string(), load});
    }
  }
  got(c.apply(groups));
  got(c.apply(pods));
  return c;
}

/// No device gets a pod with a load for which it has no room, counted from decisions.
void check_loads(const session& ran, std::int64_t most) {
  const model::cluster_state& s = model::state_of(ran.base());
  struct place {
    node_row node = no_row;
    std::uint64_t devices = 0;
    bool is_new = false;
  };
  std::vector<place> places(s.pod_slots);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::active_allocated))
      places[p] = {(*s.node_row_of_slot)[s.live.pod_node[p]], s.live.pod_devices[p].mask, false};
  }
  for (const decision& d : ran.decisions()) {
    if (d.kind == decision_kind::evict) places[d.pod] = {};
    if (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline || d.kind == decision_kind::move)
      places[d.pod] = {d.node, d.devices.mask, true};
  }
  std::map<std::tuple<node_row, std::uint32_t, std::string>, std::pair<std::int64_t, bool>> sums;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (places[p].node == no_row || !s.class_of(p).is_shared()) continue;
    for (std::uint32_t device = 0; device < max_devices_per_node; ++device) {
      if ((places[p].devices >> device & 1U) == 0) continue;
      for (const model::named_amount& one : s.class_of(p).load) {
        auto& [sum, is_new] = sums[{places[p].node, device, one.name}];
        sum += one.amount;
        is_new = is_new || (places[p].is_new && one.amount > 0);
      }
    }
  }
  for (const auto& [of, sum] : sums) RC_ASSERT(!sum.second || sum.first <= most);
}

/// The same with what is kept and without.
void compare() {
  cluster c = packed_cluster();
  const snapshot base = c.take_snapshot();
  engine e;
  std::string parts = pick({"", "proportion,priority,elastic,minruntime,"});
  parts += "predicates,sg-nodelocalgreedy,sg-multinodegang,";
  parts += pick({"", "nodeavailability,", "nodeavailability,resourcetype,gpusharingorder,nominatednode,", "load,"});
  parts += pick({"fgd", "least_waste", "least_waste,best_fit", "dot_product", "best_fit", "gpu_packing",
                 "gpu_clustering", "fgd,gpu_clustering", "best_fit,fgd", "colocation", "colocation,best_fit"});
  got(e.set("colocation.most", pick({"1000", "800"})));
  got(e.set("placement.gpu", pick({"binpack", "spread"})));
  got(e.set("parts", parts));
  got(e.set("mode", draw(0, 9) == 0 ? "compat" : "strict"));
  got(e.set("packing.scores", pick({"integer", "raw"})));
  got(e.set("fgd.pods",
            pick({"", "gpus=1:share=500", "cpu=1000:gpus=1:share=300,gpus=2:where=model=A:weight=3,cpu=4000"})));
  got(e.set("actions", pick({"allocate", "allocate,consolidation,reclaim,preempt", "allocate,preempt,allocate"})));
  engine slow(e.options());
  got(slow.set("reference_path", "true"));
  const session ran = got(e.run(base, now));
  const session asked = got(slow.run(base, now));
  RC_ASSERT(test::lines(ran) == test::lines(asked));
  RC_ASSERT(ran.digest() == asked.digest());
  if (parts.find("colocation") != std::string::npos && e.options().mode == decision_mode::strict)
    check_loads(ran, e.options().colocation_most);

  // Copies start without what was kept, and go on alike.
  session first = got(e.open(base, now));
  got(first.run("allocate"));
  session copy = first.fork();
  for (session* one : {&first, &copy}) {
    got(one->run("preempt"));
    got(one->run("allocate"));
  }
  RC_ASSERT(test::lines(first) == test::lines(copy));
}

}  // namespace

TEST_CASE("what is kept per class decides what asking about all nodes decides") {
  const bool good = rc::check("kept scores", [] {
    for (int i = 0; i < 10; ++i) compare();
  });
  CHECK(good);
}

}  // namespace of_test_class_scores
