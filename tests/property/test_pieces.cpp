// Pieces of domains with shapes against all subsets of small domains, each judged by what a piece is.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "policy/topology/pieces.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_pieces {

using namespace kaisched;
using test::draw;
using test::got;
using kind = table_kind;
using test::add;
using test::change;
using test::numbers;
using test::texts;

namespace {

using cells = std::vector<std::uint32_t>;  ///< positions, ascending

struct one_cell {
  bool exists = true;
  int room = 0;  ///< pods
  int used = 0;  ///< pods of the group
};

struct drawn {
  model::level_shape shape;
  std::vector<std::vector<one_cell>> domains;
  int pods = 1;
};

model::level_shape draw_shape() {
  const std::vector<std::string> all{"line:7",    "ring:1",     "ring:6",      "ring:8",  "mesh:2x4", "mesh:3x3",
                                     "torus:3x3", "torus:2x5",  "torus:2x2x2", "block:1", "block:2",  "block:3",
                                     "torus:1x4", "mesh:1x2x3", "torus:3x1x3", "block:4", "line:1",   "torus:2x2x1x2"};
  return got(model::parse_shape(all[static_cast<std::size_t>(draw(0, static_cast<int>(all.size()) - 1))]));
}

drawn draw_domains(bool with_used) {
  drawn d;
  d.shape = draw_shape();
  const int domains = draw(1, 2);
  for (int i = 0; i < domains; ++i) {
    const bool is_block = d.shape.kind == model::shape_kind::block;
    const int positions = is_block ? draw(1, 10) : static_cast<int>(d.shape.positions());
    std::vector<one_cell> made;
    for (int p = 0; p < positions; ++p) {
      one_cell cell;
      cell.exists = draw(0, 9) > 0;
      cell.room = draw(0, 3) == 0 ? 0 : draw(1, 3);
      cell.used = with_used && draw(0, 9) == 0 ? draw(1, 2) : 0;
      made.push_back(cell);
    }
    d.domains.push_back(std::move(made));
  }
  d.pods = draw(1, 9);
  return d;
}

std::vector<std::uint32_t> coordinates(const model::level_shape& shape, std::uint32_t cell) {
  std::vector<std::uint32_t> at(shape.axes);
  for (std::uint32_t axis = shape.axes; axis-- > 0;) {
    at[axis] = cell % shape.size[axis];
    cell /= shape.size[axis];
  }
  return at;
}

/// Values that follow each other, around the end of a closed axis.
bool is_run(const std::set<std::uint32_t>& values, std::uint32_t length, bool closed) {
  int starts = 0;
  for (const std::uint32_t v : values) {
    const bool has_before = v > 0 ? values.contains(v - 1) : closed && values.contains(length - 1);
    starts += has_before ? 0 : 1;
  }
  return starts <= 1;
}

bool is_box(const model::level_shape& shape, const cells& set) {
  std::vector<std::set<std::uint32_t>> along(shape.axes);
  for (const std::uint32_t cell : set) {
    const std::vector<std::uint32_t> at = coordinates(shape, cell);
    for (std::uint32_t axis = 0; axis < shape.axes; ++axis) along[axis].insert(at[axis]);
  }
  std::size_t product = 1;
  for (std::uint32_t axis = 0; axis < shape.axes; ++axis) {
    product *= along[axis].size();
    if (!is_run(along[axis], shape.size[axis], shape.kind == model::shape_kind::torus)) return false;
  }
  return product == set.size();  // no two are equal
}

bool is_of_blocks(const model::level_shape& shape, const cells& set) {
  const std::uint32_t base = shape.size[0];
  std::map<std::uint32_t, std::uint32_t> in_block;
  for (const std::uint32_t cell : set) ++in_block[cell / base];
  const auto parts = std::count_if(in_block.begin(), in_block.end(), [&](const auto& x) { return x.second < base; });
  const auto run = std::bit_ceil(static_cast<std::uint32_t>(in_block.size()));
  return parts <= 1 && in_block.begin()->first / run == in_block.rbegin()->first / run;
}

/// All pieces of a domain that hold the pods, by number of nodes.
std::map<std::size_t, std::set<cells>> all_pieces(const drawn& d, const std::vector<one_cell>& domain) {
  std::map<std::size_t, std::set<cells>> found;
  for (std::uint32_t bits = 1; bits < (1U << domain.size()); ++bits) {
    cells set;
    int room = 0;
    bool good = true;
    for (std::uint32_t p = 0; p < domain.size(); ++p) {
      const one_cell& cell = domain[p];
      const bool in = (bits >> p & 1U) != 0;
      if (cell.exists && cell.used > 0 && !in) good = false;
      if (!in) continue;
      good = good && cell.exists && (cell.room > 0 || cell.used > 0);
      set.push_back(p);
      room += cell.room;
    }
    if (!good || room < d.pods) continue;
    const bool fits = d.shape.kind == model::shape_kind::block ? is_of_blocks(d.shape, set) : is_box(d.shape, set);
    if (fits) found[set.size()].insert(set);
  }
  return found;
}

policy::topology::piece_search search_of(const drawn& d) {
  std::vector<policy::topology::piece_domain> domains;
  for (std::size_t i = 0; i < d.domains.size(); ++i) {
    policy::topology::piece_domain made{static_cast<std::uint32_t>(i), 0, {}, {}};
    for (std::size_t p = 0; p < d.domains[i].size(); ++p) {
      const one_cell& cell = d.domains[i][p];
      const auto node = static_cast<node_row>(i * 100 + p);
      const bool used = cell.exists && cell.used > 0;
      made.cells.push_back({cell.exists ? node : no_row, cell.exists && (cell.room > 0 || used), used});
      made.room.push_back(cell.exists ? cell.room : 0);
      made.used += used ? cell.used : 0;
    }
    domains.push_back(std::move(made));
  }
  return {d.shape, std::move(domains), {{d.pods}, d.pods, 0}, placement_strategy::binpack};
}

/// Sum of the lengths of a box.
std::size_t width_of(const model::level_shape& shape, const cells& set) {
  std::size_t sum = 0;
  for (std::uint32_t axis = 0; axis < shape.axes; ++axis) {
    std::set<std::uint32_t> along;
    for (const std::uint32_t cell : set) along.insert(coordinates(shape, cell)[axis]);
    sum += along.size();
  }
  return sum;
}

/// The position of a cell as text.
std::string position_of(const model::level_shape& shape, std::uint32_t cell) {
  model::node_position position;
  position.axes = shape.axes;
  const cells at = shape.kind == model::shape_kind::block ? cells{cell} : coordinates(shape, cell);
  std::copy(at.begin(), at.end(), position.at.begin());
  return model::position_text(position);
}

std::string node_name(std::size_t domain, std::size_t cell) {
  return std::string(1, static_cast<char>('a' + domain)) + (cell < 10 ? "0" : "") + std::to_string(cell);
}

}  // namespace

TEST_CASE("the search for pieces finds all boxes, and of blocks the fewest nodes") {
  const bool good = rc::check("pieces", [] {
    const drawn d = draw_domains(true);
    std::map<std::size_t, std::set<std::pair<std::size_t, cells>>> expected;
    for (std::size_t i = 0; i < d.domains.size(); ++i) {
      for (const auto& [size, sets] : all_pieces(d, d.domains[i])) {
        for (const cells& set : sets) expected[size].emplace(i, set);
      }
    }
    policy::topology::piece_search search = search_of(d);
    std::map<std::size_t, std::set<std::pair<std::size_t, cells>>> found;
    std::pair<std::size_t, std::size_t> last{0, 0};
    std::size_t count = 0;
    for (policy::topology::piece one; search.next(one); ++count) {
      cells set;
      for (const node_row node : one.nodes) {
        RC_ASSERT(node / 100 == one.domain);
        set.push_back(node % 100);
      }
      std::sort(set.begin(), set.end());
      const bool is_block = d.shape.kind == model::shape_kind::block;
      const std::pair<std::size_t, std::size_t> key{set.size(), is_block ? 0 : width_of(d.shape, set)};
      RC_ASSERT(last <= key);
      last = key;
      RC_ASSERT(expected[set.size()].contains({one.domain, set}));
      found[set.size()].emplace(one.domain, std::move(set));
    }
    std::erase_if(expected, [](const auto& one) { return one.second.empty(); });
    if (d.shape.kind == model::shape_kind::block) {
      RC_ASSERT(found.empty() == expected.empty());
      if (!found.empty()) RC_ASSERT(found.begin()->first == expected.begin()->first);
    } else {
      RC_ASSERT(found == expected);
      std::size_t sum = 0;
      for (const auto& [size, sets] : found) sum += sets.size();
      RC_ASSERT(count == sum);  // none twice
    }
  });
  CHECK(good);
}

TEST_CASE("the room of the largest piece") {
  const bool good = rc::check("largest", [] {
    drawn d = draw_domains(true);
    const int asked = d.pods;
    const policy::topology::piece_search search = search_of(d);
    for (std::size_t i = 0; i < d.domains.size(); ++i) {
      int most = 0;
      for (d.pods = 1; d.pods <= asked && !all_pieces(d, d.domains[i]).empty(); ++d.pods) most = d.pods;
      d.pods = asked;
      RC_ASSERT(std::min<std::int64_t>(asked, search.most_in(i)) == most);
    }
  });
  CHECK(good);
}

TEST_CASE("strict gives a gang a piece exactly where there is one, of the fewest nodes") {
  const bool good = rc::check("gangs", [] {
    const drawn d = draw_domains(draw(0, 2) == 0);
    cluster c;
    const std::string shape = model::shape_text(d.shape);
    got(c.apply(add(kind::topology, {"name", "levels", "shapes"}).add({"tree", texts{"rack"}, texts{"rack", shape}})));
    got(c.apply(add(kind::queue, {"name"}).add({"q"})));
    got(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "topology", "required_level"})
                    .add({"g", "q", d.pods, "tree", "rack"})));
    std::map<std::string, std::pair<std::size_t, std::uint32_t>> place_of;
    int running = 0;
    std::set<std::size_t> with_used;
    for (std::size_t i = 0; i < d.domains.size(); ++i) {
      for (std::size_t p = 0; p < d.domains[i].size(); ++p) {
        const one_cell& cell = d.domains[i][p];
        if (!cell.exists) continue;
        const std::string name = node_name(i, p);
        const std::string domain(1, static_cast<char>('a' + i));
        const std::string text = position_of(d.shape, static_cast<std::uint32_t>(p));
        got(c.apply(add(kind::node, {"name", "capacity", "labels", "position"})
                        .add({name, numbers{64'000, 0, std::int64_t{1000} * (cell.room + cell.used), 30},
                              texts{"rack", domain}, texts{"rack", text}})));
        place_of[name] = {i, static_cast<std::uint32_t>(p)};
        for (int k = 0; k < cell.used; ++k) {
          const std::string pod = "r" + std::to_string(running++);
          got(c.apply(add(kind::pod, {"name", "group", "request", "status", "node"})
                          .add({pod, "g", numbers{100, 0, 1000, 1}, pod_status::running, name})));
          with_used.insert(i);
        }
      }
    }
    got(c.apply(change(kind::pod_group, {"name", "min_member"}).add({"g", d.pods + running})));
    for (int p = 0; p < d.pods; ++p) {
      got(c.apply(
          add(kind::pod, {"name", "group", "request"}).add({"p" + std::to_string(p), "g", numbers{100, 0, 1000, 1}})));
    }
    engine e;
    got(e.set("actions", "allocate"));
    got(e.set("placement.domain", draw(0, 1) == 0 ? "binpack" : "spread"));
    const snapshot s = c.take_snapshot();
    const session ran = got(e.run(s, 0));
    got(ran.check());
    std::size_t fewest = 0;
    std::vector<std::map<std::size_t, std::set<cells>>> pieces;
    for (std::size_t i = 0; i < d.domains.size(); ++i) {
      pieces.push_back(all_pieces(d, d.domains[i]));
      if (!with_used.empty() && !with_used.contains(i)) pieces.back().clear();
      if (!pieces.back().empty() && (fewest == 0 || pieces.back().begin()->first < fewest)) {
        fewest = pieces.back().begin()->first;
      }
    }
    RC_ASSERT(ran.decisions().empty() == (fewest == 0));
    if (fewest == 0) return;
    RC_ASSERT(ran.decisions().size() == static_cast<std::size_t>(d.pods));
    std::set<std::uint32_t> nodes;
    std::set<std::size_t> domains;
    for (const decision& one : ran.decisions()) {
      const auto& [domain, cell] = place_of.at(std::string(ran.view().node_name(one.node)));
      domains.insert(domain);
      nodes.insert(cell);
    }
    RC_ASSERT(domains.size() == 1U);
    // All nodes that got pods are in one piece of the fewest nodes.
    const std::set<cells>& candidates = pieces[*domains.begin()][fewest];
    RC_ASSERT(std::any_of(candidates.begin(), candidates.end(), [&](const cells& one) {
      return std::includes(one.begin(), one.end(), nodes.begin(), nodes.end());
    }));
    got(e.set("reference_path", "true"));
    RC_ASSERT(got(e.run(s, 0)).digest() == ran.digest());
  });
  CHECK(good);
}

namespace {

/// A node with one GPU: free (0, 5), held by a victim (1 to 3), or by somebody who may not be evicted (4). A pod that
/// may not move has no other place.
void add_node(cluster& c, const std::string& name, const texts& labels, const std::string& position, int what,
              bool may_move) {
  got(c.apply(add(kind::node, {"name", "capacity", "labels", "position"})
                  .add({name, numbers{64'000, 0, 1000, 30}, labels, texts{"rack", position}})));
  if (what == 0 || what == 5) return;
  got(c.apply(add(kind::pod_group, {"name", "queue", "priority", "preemptible"})
                  .add({"v" + name, "q", 10, what == 4 ? 0 : 1})));
  got(c.apply(add(kind::pod, {"name", "group", "request", "status", "node", "node_selector"})
                  .add({"v" + name, "v" + name, numbers{100, 0, 1000, 1}, pod_status::running, name,
                        may_move ? texts{} : texts{"host", name}})));
}

}  // namespace

TEST_CASE("victims make a piece free wherever some can, and no more are lost than the best piece has") {
  const bool good = rc::check("victims", [] {
    drawn d = draw_domains(false);
    d.pods = draw(1, 5);
    const bool may_move = draw(0, 1) == 0;  // who has another place is not lost
    cluster c;
    const std::string shape = model::shape_text(d.shape);
    got(c.apply(add(kind::topology, {"name", "levels", "shapes"}).add({"tree", texts{"rack"}, texts{"rack", shape}})));
    got(c.apply(add(kind::queue, {"name"}).add({"q"})));
    got(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "priority", "topology", "required_level"})
                    .add({"g", "q", d.pods, 90, "tree", "rack"})));
    std::vector<std::vector<int>> victims(d.domains.size());
    for (std::size_t i = 0; i < d.domains.size(); ++i) {
      for (std::size_t p = 0; p < d.domains[i].size(); ++p) {
        one_cell& cell = d.domains[i][p];
        const int what = draw(0, 5);
        victims[i].push_back(what >= 1 && what <= 3 ? 1 : 0);
        cell.room = what == 4 ? 0 : 1;  // once victims have left
        if (!cell.exists) continue;
        const std::string name = node_name(i, p);
        const std::string domain(1, static_cast<char>('a' + i));
        const std::string text = position_of(d.shape, static_cast<std::uint32_t>(p));
        add_node(c, name, texts{"host", name, "rack", domain}, text, what, may_move);
      }
    }
    for (int p = 0; p < d.pods; ++p) {
      got(c.apply(
          add(kind::pod, {"name", "group", "request"}).add({"p" + std::to_string(p), "g", numbers{100, 0, 1000, 1}})));
    }
    engine e;
    got(e.set("actions", "allocate,preempt"));
    const session ran = got(e.run(c.take_snapshot(), 0));
    got(ran.check());
    int fewest = -1;
    for (std::size_t i = 0; i < d.domains.size(); ++i) {
      for (const auto& [size, sets] : all_pieces(d, d.domains[i])) {
        for (const cells& set : sets) {
          int lost = 0;
          for (const std::uint32_t cell : set) lost += victims[i][cell];
          fewest = fewest < 0 ? lost : std::min(fewest, lost);
        }
      }
    }
    RC_ASSERT(ran.decisions().empty() == (fewest < 0));
    int placed = 0;
    int lost = 0;
    for (const decision& one : ran.decisions()) {
      lost += one.kind == decision_kind::evict ? 1 : 0;
      placed += one.kind == decision_kind::bind || one.kind == decision_kind::pipeline ? 1 : 0;
    }
    if (fewest >= 0) RC_ASSERT(placed == d.pods);
    if (fewest >= 0) RC_ASSERT(lost <= fewest);
  });
  CHECK(good);
}

namespace {

/// A piece by what it takes.
struct taken {
  std::size_t domain;
  std::uint32_t bits;
};

}  // namespace

TEST_CASE(
    "victims make a piece free for each of two members wherever some can, and no more are lost than the best two "
    "have") {
  const bool good = rc::check("victims of two members", [] {
    drawn d = draw_domains(false);
    const std::array<int, 2> pods{draw(1, 3), draw(1, 3)};
    const bool may_move = draw(0, 1) == 0;
    const bool in_one_block = draw(0, 1) == 0;
    const bool one_block = draw(0, 1) == 0;
    cluster c;
    const std::string shape = model::shape_text(d.shape);
    got(c.apply(
        add(kind::topology, {"name", "levels", "shapes"}).add({"tree", texts{"block", "rack"}, texts{"rack", shape}})));
    got(c.apply(add(kind::queue, {"name"}).add({"q"})));
    got(c.apply(add(kind::pod_group, {"name", "queue", "priority", "topology", "required_level"})
                    .add({"g", "q", 90, in_one_block ? "tree" : "", in_one_block ? "block" : ""})));
    std::vector<std::uint32_t> victims(d.domains.size(), 0);
    std::map<std::string, std::pair<std::size_t, std::uint32_t>> place_of;
    for (std::size_t i = 0; i < d.domains.size(); ++i) {
      for (std::size_t p = 0; p < d.domains[i].size(); ++p) {
        one_cell& cell = d.domains[i][p];
        const int what = draw(0, 5);
        if (what >= 1 && what <= 3) victims[i] |= 1U << p;
        cell.room = what == 4 ? 0 : 1;
        if (!cell.exists) continue;
        const std::string name = node_name(i, p);
        const std::string rack(1, static_cast<char>('a' + i));
        const std::string text = position_of(d.shape, static_cast<std::uint32_t>(p));
        add_node(c, name, texts{"block", one_block ? "x" : rack, "host", name, "rack", rack}, text, what, may_move);
        place_of[name] = {i, static_cast<std::uint32_t>(p)};
      }
    }
    std::array<std::vector<taken>, 2> pieces;
    for (std::size_t m = 0; m < 2; ++m) {
      const std::string member = m == 0 ? "s0" : "s1";
      got(c.apply(add(kind::sub_group, {"group", "name", "min_member", "topology", "required_level"})
                      .add({"g", member, pods[m], "tree", "rack"})));
      for (int p = 0; p < pods[m]; ++p) {
        got(c.apply(add(kind::pod, {"name", "group", "sub_group", "request"})
                        .add({member + "-" + std::to_string(p), "g", member, numbers{100, 0, 1000, 1}})));
      }
      d.pods = pods[m];
      for (std::size_t i = 0; i < d.domains.size(); ++i) {
        for (const auto& [size, sets] : all_pieces(d, d.domains[i])) {
          for (const cells& set : sets) {
            std::uint32_t bits = 0;
            for (const std::uint32_t cell : set) bits |= 1U << cell;
            pieces[m].push_back({i, bits});
          }
        }
      }
    }
    int fewest = -1;
    for (const taken& a : pieces[0]) {
      for (const taken& b : pieces[1]) {
        if (a.domain == b.domain ? (a.bits & b.bits) != 0 : in_one_block && !one_block) continue;
        const int lost = std::popcount(a.bits & victims[a.domain]) + std::popcount(b.bits & victims[b.domain]);
        fewest = fewest < 0 ? lost : std::min(fewest, lost);
      }
    }
    engine e;
    got(e.set("actions", "allocate,preempt"));
    const session ran = got(e.run(c.take_snapshot(), 0));
    got(ran.check());
    int lost = 0;
    std::array<std::map<std::size_t, std::uint32_t>, 2> got_nodes;  // of a member, by domain
    for (const decision& one : ran.decisions()) {
      lost += one.kind == decision_kind::evict ? 1 : 0;
      if (one.kind != decision_kind::bind && one.kind != decision_kind::pipeline) continue;
      const std::string pod(ran.view().pod_name(one.pod));
      if (pod.front() != 's') continue;  // a victim that moves
      const auto& [domain, cell] = place_of.at(std::string(ran.view().node_name(one.node)));
      got_nodes[pod[1] == '0' ? 0 : 1][domain] |= 1U << cell;
    }
    // A box, or blocks, may have more nodes than the pods take: two that overlap can be enough.
    const bool exact = d.shape.axes < 2 && d.shape.kind != model::shape_kind::block;
    if (fewest >= 0) RC_ASSERT(!ran.decisions().empty());
    if (fewest < 0 && exact) RC_ASSERT(ran.decisions().empty());
    if (ran.decisions().empty()) return;
    if (fewest >= 0) RC_ASSERT(lost <= fewest);
    std::set<std::size_t> domains;
    for (std::size_t m = 0; m < 2; ++m) {
      RC_ASSERT(got_nodes[m].size() == 1U);
      const auto [domain, bits] = *got_nodes[m].begin();
      domains.insert(domain);
      RC_ASSERT(std::popcount(bits) == pods[m]);
      RC_ASSERT(std::any_of(pieces[m].begin(), pieces[m].end(), [domain = domain, bits = bits](const taken& one) {
        return one.domain == domain && (one.bits & bits) == bits;
      }));
    }
    RC_ASSERT(domains.size() == 1U || !in_one_block || one_block);
  });
  CHECK(good);
}

TEST_CASE("victims make pieces free for many members of one group in a large torus") {
  const model::level_shape shape = got(model::parse_shape("torus:8x8x8"));
  constexpr int slices = 8;
  constexpr int pods = 16;
  cluster c;
  got(c.apply(
      add(kind::topology, {"name", "levels", "shapes"}).add({"tree", texts{"rack"}, texts{"rack", "torus:8x8x8"}})));
  got(c.apply(add(kind::queue, {"name"}).add({"q"})));
  std::map<std::string, std::uint32_t> cell_of;
  std::set<std::uint32_t> blocked;
  for (std::uint32_t cell = 0; cell < shape.positions(); ++cell) {
    const std::string name = node_name(0, cell);
    const std::uint32_t mixed = cell * 2'654'435'761U >> 24;
    // One node of 40 is lost for all, of the others half are free.
    const int what = mixed % 40 == 0 ? 4 : static_cast<int>(mixed % 2);
    if (what == 4) blocked.insert(cell);
    add_node(c, name, texts{"host", name, "rack", "a"}, position_of(shape, cell), what, true);
    cell_of[name] = cell;
  }
  got(c.apply(add(kind::pod_group, {"name", "queue", "priority"}).add({"g", "q", 90})));
  for (int i = 0; i < slices; ++i) {
    const std::string slice = "s" + std::to_string(i);
    got(c.apply(add(kind::sub_group, {"group", "name", "min_member", "topology", "required_level"})
                    .add({"g", slice, pods, "tree", "rack"})));
    for (int p = 0; p < pods; ++p) {
      got(c.apply(add(kind::pod, {"name", "group", "sub_group", "request"})
                      .add({slice + "-" + std::to_string(p), "g", slice, numbers{100, 0, 1000, 1}})));
    }
  }
  engine e;
  got(e.set("actions", "allocate,preempt"));
  const session ran = got(e.run(c.take_snapshot(), 0));
  got(ran.check());
  std::map<std::string, std::set<std::uint32_t>> cells_of;
  for (const decision& one : ran.decisions()) {
    const std::string pod(ran.view().pod_name(one.pod));
    if (pod.front() == 's') cells_of[pod.substr(0, 2)].insert(cell_of.at(std::string(ran.view().node_name(one.node))));
  }
  REQUIRE(cells_of.size() == slices);
  for (const auto& [slice, taken] : cells_of) {
    CHECK(taken.size() == pods);
    std::vector<std::set<std::uint32_t>> along(shape.axes);
    for (const std::uint32_t cell : taken) {
      const std::vector<std::uint32_t> at = coordinates(shape, cell);
      for (std::uint32_t axis = 0; axis < shape.axes; ++axis) along[axis].insert(at[axis]);
    }
    for (const std::set<std::uint32_t>& values : along) CHECK(is_run(values, 8, true));
    for (const std::uint32_t cell : blocked) {
      const std::vector<std::uint32_t> at = coordinates(shape, cell);
      CHECK_FALSE((along[0].contains(at[0]) && along[1].contains(at[1]) && along[2].contains(at[2])));
    }
  }
}

}  // namespace of_test_pieces
