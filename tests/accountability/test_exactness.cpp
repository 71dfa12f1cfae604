// How often what is impossible has a proof: gangs on small clusters against every way to place them.
#include <algorithm>
#include <numeric>
#include <string>

#include "accountability/gangs.hpp"

namespace of_test_exactness {

using namespace kaisched;
using test::must;
using test::numbers;
using test::rows;
using test::texts;

namespace {

struct box {
  std::int64_t gpus = 0;
  std::int64_t cores = 0;
  bool is_h100 = false;
  bool is_tainted = false;
  bool is_ready = true;
  int rack = 0;
};

struct item {
  std::int64_t gpus = 0;
  std::int64_t cores = 0;
  bool wants_h100 = false;
  bool tolerates = false;
};

/// What one gang asks for, and what is there.
struct puzzle {
  std::vector<box> boxes;
  std::vector<item> items;
  std::int64_t min = 0;
  bool together = false;
};

puzzle draw(test::dice& d, bool mixed, bool together) {
  puzzle p;
  p.together = together;
  const std::int64_t boxes = d.between(1, 4);
  for (std::int64_t i = 0; i < boxes; ++i) {
    p.boxes.push_back(
        {d.between(0, 8), d.between(1, 16), d.one_in(2), d.one_in(5), !d.one_in(8), static_cast<int>(d.upto(1))});
  }
  const std::int64_t items = d.between(1, 6);
  const auto item_of = [&] {
    return item{d.of<std::int64_t>({1, 2, 3, 4}), d.between(1, 6), d.one_in(3), d.one_in(3)};
  };
  std::vector<item> kinds{item_of()};
  for (std::int64_t i = mixed ? d.between(1, 2) : 0; i > 0; --i) kinds.push_back(item_of());
  for (std::int64_t i = 0; i < items; ++i) p.items.push_back(d.of(kinds));
  p.min = mixed ? items : d.between(1, items);
  return p;
}

bool admits(const box& b, const item& i) {
  return b.is_ready && (!b.is_tainted || i.tolerates) && (b.is_h100 || !i.wants_h100);
}

/// Some choice of `left` of the items from `next` on has places in these boxes.
bool fits(std::vector<box>& boxes, const std::vector<item>& items, std::size_t next, std::int64_t left, int rack) {
  if (left == 0) return true;
  if (next == items.size()) return false;
  if (fits(boxes, items, next + 1, left, rack)) return true;
  const item& one = items[next];
  for (box& b : boxes) {
    if ((rack >= 0 && b.rack != rack) || !admits(b, one) || b.gpus < one.gpus || b.cores < one.cores) continue;
    b.gpus -= one.gpus;
    b.cores -= one.cores;
    const bool found = fits(boxes, items, next + 1, left - 1, rack);
    b.gpus += one.gpus;
    b.cores += one.cores;
    if (found) return true;
  }
  return false;
}

bool is_possible(puzzle p) {
  if (!p.together) return fits(p.boxes, p.items, 0, p.min, -1);
  return fits(p.boxes, p.items, 0, p.min, 0) || fits(p.boxes, p.items, 0, p.min, 1);
}

/// The puzzle as a cluster: half of what a box has not is taken by pods of others.
snapshot cluster_of(const puzzle& p, test::dice& d) {
  rows nodes(table_kind::node, table_op::add, {"name", "capacity", "labels", "taints", "ready"});
  rows pods(table_kind::pod, table_op::add,
            {"name", "group", "request", "status", "node", "node_selector", "tolerations"});
  for (std::size_t i = 0; i < p.boxes.size(); ++i) {
    const box& b = p.boxes[i];
    const std::string name = "n" + std::to_string(i);
    const std::int64_t taken = d.upto(3);
    nodes.add({name, numbers{b.cores * 1000, 1, (b.gpus + taken) * whole_device, 110},
               texts{"rack", b.rack == 0 ? "r0" : "r1", "model", b.is_h100 ? "H100" : "A100"},
               b.is_tainted ? texts{"pool=x:NoSchedule"} : texts{}, b.is_ready ? 1 : 0});
    if (taken == 0) continue;
    pods.add(
        {"other-" + name, "others", numbers{0, 0, taken * whole_device}, pod_status::running, name, texts{}, texts{}});
  }
  for (std::size_t i = 0; i < p.items.size(); ++i) {
    const item& one = p.items[i];
    pods.add({"p" + std::to_string(i), "gang", numbers{one.cores * 1000, 0, one.gpus * whole_device},
              pod_status::pending, "", one.wants_h100 ? texts{"model", "H100"} : texts{},
              one.tolerates ? texts{"pool"} : texts{}});
  }
  std::vector<table> all;
  all.push_back(rows(table_kind::topology, table_op::add, {"name", "levels"}).add({"tree", texts{"rack"}}));
  all.push_back(rows(table_kind::queue, table_op::add, {"name"}).add({"q"}));
  all.push_back(nodes);
  all.push_back(
      rows(table_kind::pod_group, table_op::add, {"name", "queue", "min_member", "topology", "required_level"})
          .add({"others", "q", 1, "", ""})
          .add({"gang", "q", p.min, p.together ? "tree" : "", p.together ? "rack" : ""}));
  all.push_back(pods);
  return test::snapshot_of(all);
}

struct score {
  int impossible = 0;
  int proven = 0;
};

score compare(bool mixed, bool together, std::uint64_t cases) {
  score found;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    test::seeded_dice d(seed);
    const puzzle p = draw(d, mixed, together);
    const session over = must(engine().open(cluster_of(p, d), 0));
    const certificate proof = must(over.certify(test::group_by_name(over.base(), "gang")));
    const bool proven = proof.kind != certificate_kind::none;
    INFO("seed ", seed, ": ", over.text(proof));
    if (is_possible(p)) {
      CHECK_FALSE(proven);
      continue;
    }
    ++found.impossible;
    found.proven += proven ? 1 : 0;
  }
  MESSAGE(found.proven, " of ", found.impossible, " impossible gangs of ", cases, " have a certificate");
  return found;
}

}  // namespace

TEST_CASE("one kind of pods: every impossible gang has a certificate") {
  const score anywhere = compare(false, false, 4000);
  CHECK(anywhere.impossible > 1000);
  CHECK(anywhere.proven == anywhere.impossible);
  const score in_one_rack = compare(false, true, 4000);
  CHECK(in_one_rack.impossible > 1000);
  CHECK(in_one_rack.proven == in_one_rack.impossible);
}

TEST_CASE("several kinds of pods: most impossible gangs have a certificate") {
  const score anywhere = compare(true, false, 4000);
  CHECK(anywhere.impossible > 1000);
  CHECK(anywhere.proven * 100 >= anywhere.impossible * 98);
  const score in_one_rack = compare(true, true, 4000);
  CHECK(in_one_rack.impossible > 1000);
  CHECK(in_one_rack.proven * 100 >= in_one_rack.impossible * 98);
}

}  // namespace of_test_exactness
