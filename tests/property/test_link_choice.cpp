// Whole devices by their links, in sessions, against all sets of devices that are free.
#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <kaisched/engine.hpp>

#include "draws.hpp"
#include "io/cluster_input.hpp"
#include "io/scenario/scenario.hpp"
#include "support.hpp"

namespace of_test_link_choice {

using namespace kaisched;
using test::draw;
using test::got;

namespace {

struct drawn {
  int devices = 1;
  std::vector<std::vector<std::int64_t>> links;  ///< by device; may be short, or empty
  std::vector<int> zone;
  std::uint64_t busy = 0;
  int wanted = 1;
  bool zones = false;
};

drawn draw_node() {
  drawn d;
  d.devices = draw(1, 8);
  d.zones = draw(0, 1) == 1;
  for (int i = 0; i < d.devices; ++i) {
    d.links.emplace_back();
    for (int j = 0; j < draw(0, d.devices); ++j) d.links.back().push_back(draw(-1, 5));
    d.zone.push_back(draw(0, 1));
    if (draw(0, 3) == 0) d.busy |= std::uint64_t{1} << i;
  }
  d.wanted = draw(1, d.devices);
  return d;
}

std::int64_t link(const drawn& d, int a, int b) {
  const auto one = [&](int from, int to) {
    const auto& all = d.links[static_cast<std::size_t>(from)];
    return static_cast<std::size_t>(to) < all.size() ? std::max<std::int64_t>(0, all[static_cast<std::size_t>(to)]) : 0;
  };
  return one(a, b) + one(b, a);
}

/// The sum of a set; of a single device the links that others lose, as a negative number.
std::int64_t worth(const drawn& d, std::uint64_t set, std::uint64_t free) {
  std::int64_t sum = 0;
  const bool single = std::popcount(set) == 1;
  for (int a = 0; a < d.devices; ++a) {
    for (int b = 0; b < d.devices; ++b) {
      if (a == b || (set >> a & 1U) == 0) continue;
      if (single && (free >> b & 1U) != 0) sum -= link(d, a, b);
      if (!single && a < b && (set >> b & 1U) != 0) sum += link(d, a, b);
    }
  }
  return sum;
}

std::string text_of(const drawn& d) {
  const std::string gpus = std::to_string(d.devices);
  std::string text = "scenario 1\nnode n gpu=" + gpus + " cpu=64 pods=110";
  if (d.zones) text += " numa_policy=best-effort numa_scope=pod";
  text += "\n";
  for (int i = 0; i < d.devices; ++i) {
    text +=
        "  device " + std::to_string(i) + " numa=" + std::to_string(d.zone[static_cast<std::size_t>(i)]) + " links=[";
    const auto& links = d.links[static_cast<std::size_t>(i)];
    for (std::size_t j = 0; j < links.size(); ++j) text += (j == 0 ? "" : ",") + std::to_string(links[j]);
    text += "]\n";
  }
  for (int z = 0; d.zones && z < 2; ++z) {
    const auto have = std::count(d.zone.begin(), d.zone.end(), z);
    text += "  numa_zone node-" + std::to_string(z) + " gpu=" + std::to_string(have) + " cpu=64\n";
  }
  text += "queue q\npod_group old\n";
  for (int i = 0; i < d.devices; ++i) {
    if ((d.busy >> i & 1U) == 0) continue;
    text += "  pod old-" + std::to_string(i) + " gpu=1 status=running node=n devices=[" + std::to_string(i) + "]";
    if (d.zones) text += " numa_zones=[" + std::to_string(d.zone[static_cast<std::size_t>(i)]) + "]";
    text += "\n";
  }
  text += "pod_group new\n  pod new-0 cpu=1 gpu=" + std::to_string(d.wanted) + "\n";
  return text;
}

}  // namespace

TEST_CASE("devices have the best links of all that are free") {
  const bool good = rc::check("links", [] {
    const drawn d = draw_node();
    const io::cluster_input input = got(io::initial_cluster(got(io::parse_scenario(text_of(d), "drawn"))));
    cluster c;
    std::vector<table_view> views;
    for (const table& one : input.tables) views.push_back(one.view());
    got(c.apply(views));
    engine e;
    got(e.set("devices.choice", "links"));
    got(e.set("parts", d.zones ? "predicates,proportion,nodeavailability,nodeplacement,numa"
                               : "predicates,proportion,nodeavailability,nodeplacement"));
    const session ran = got(e.run(c.take_snapshot(), 0));
    got(ran.check());
    const std::uint64_t all = (std::uint64_t{1} << d.devices) - 1;
    const std::uint64_t free = all & ~d.busy;
    if (ran.decisions().empty()) {
      RC_ASSERT(std::popcount(free) < d.wanted);
      return;
    }
    const decision& made = ran.decisions().front();
    RC_ASSERT(std::popcount(made.devices.mask) == d.wanted);
    RC_ASSERT((made.devices.mask & ~free) == 0);
    const auto in_zone = [&](std::uint64_t set, int z) {
      int count = 0;
      for (int i = 0; i < d.devices; ++i) count += (set >> i & 1U) != 0 && d.zone[static_cast<std::size_t>(i)] == z;
      return count;
    };
    const bool any_links = std::any_of(d.links.begin(), d.links.end(), [](const auto& l) { return !l.empty(); });
    if (!d.zones && !any_links) return;
    if (d.zones) {  // as few zones as possible
      const bool one_zone = in_zone(free, 0) >= d.wanted || in_zone(free, 1) >= d.wanted;
      RC_ASSERT(one_zone == (std::popcount(made.numa_zones) == 1));
      for (int z = 0; z < 2; ++z) RC_ASSERT((in_zone(made.devices.mask, z) > 0) == ((made.numa_zones >> z & 1U) != 0));
    }
    for (std::uint64_t set = 1; set <= all; ++set) {
      if ((set & ~free) != 0 || std::popcount(set) != d.wanted) continue;
      if (d.zones && in_zone(set, 0) != in_zone(made.devices.mask, 0)) continue;
      RC_ASSERT(worth(d, set, free) <= worth(d, made.devices.mask, free));
    }
  });
  CHECK(good);
}

}  // namespace of_test_link_choice
