// Devices of claims on random small pools against all sets of devices there are, each looked at as a whole.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "draws.hpp"
#include "policy/claims/allocator.hpp"

namespace of_test_allocator {

using namespace kaisched;
using policy::allocation_answer;
using policy::allocation_outcome;
using policy::given_device;
using test::draw;
using test::got;

namespace {

constexpr std::int64_t none = -1;

/// A device in numbers. `kind` is what selectors ask about, `side` what constraints do; none: it has no such attribute.
struct gadget {
  std::int64_t kind = 0;
  std::vector<std::int64_t> side{};  ///< values of a list, or one
  std::int64_t capacity = 0;
  bool shared = false;
  bool tainted = false;
  std::vector<std::pair<int, std::int64_t>> counters{};
};

struct wish {
  std::int64_t kind = none;  ///< none: any
  std::int64_t count = 1;
  bool all = false;
  bool admin = false;
  bool tolerates = false;
  std::int64_t capacity = none;
};
struct rule {
  std::vector<std::uint32_t> requests{};
  bool distinct = false;
};
struct order {
  std::vector<std::vector<wish>> requests;
  std::vector<rule> rules;
};

struct world {
  std::vector<gadget> devices;
  std::vector<std::int64_t> counters;  ///< what there is
  std::vector<order> claims;
  std::vector<given_device> taken;
};

gadget drawn_gadget(std::size_t counters) {
  gadget made;
  made.kind = draw(0, 2);
  const int sides = draw(0, 3);  // none, one, a list of two
  for (int i = 0; i < std::min(sides, 2); ++i) made.side.push_back(draw(0, 2));
  made.capacity = draw(1, 4);
  made.shared = draw(0, 3) == 0;
  made.tainted = draw(0, 5) == 0;
  for (std::size_t c = 0; c < counters; ++c) {
    if (draw(0, 1) == 0) made.counters.emplace_back(static_cast<int>(c), draw(1, 2));
  }
  return made;
}

order drawn_order() {
  order made;
  const int requests = draw(1, 2);
  for (int r = 0; r < requests; ++r) {
    std::vector<wish>& alternatives = made.requests.emplace_back();
    const int count = draw(1, 2);
    for (int a = 0; a < count; ++a) {
      wish one;
      one.kind = draw(0, 3) - 1;
      one.count = draw(1, 3);
      one.all = draw(0, 5) == 0;
      one.admin = draw(0, 6) == 0;
      one.tolerates = draw(0, 1) == 0;
      one.capacity = draw(0, 3) == 0 ? draw(0, 3) : none;
      alternatives.push_back(one);
    }
  }
  const int rules = draw(0, 2);
  for (int i = 0; i < rules; ++i) {
    rule one;
    one.distinct = draw(0, 1) == 0;
    for (int r = 0; r < requests; ++r) {
      if (draw(0, 1) == 0) one.requests.push_back(static_cast<std::uint32_t>(r));
    }
    made.rules.push_back(one);
  }
  return made;
}

// ---- what the allocator sees ------------------------------------------------------------------------------------

policy::device_slice slice_of(const world& w) {
  policy::device_slice made;
  made.driver = "d";
  made.pool = "p";
  for (std::size_t c = 0; c < w.counters.size(); ++c) {
    made.counters.push_back({"s", std::to_string(c), model::whole_quantity(w.counters[c])});
  }
  for (const gadget& one : w.devices) {
    policy::offered_device device;
    device.name = std::to_string(made.devices.size());
    device.reach.all_nodes = true;
    device.attributes.push_back({"d", "kind", model::attribute_kind::integer, false, {one.kind}, {}});
    if (!one.side.empty()) {
      device.attributes.push_back({"d", "side", model::attribute_kind::integer, one.side.size() > 1, one.side, {}});
    }
    device.capacities.push_back({"d", "size", model::whole_quantity(one.capacity)});
    device.allow_multiple_allocations = one.shared;
    if (one.tainted) device.taints.push_back(got(model::parse_taint("bad:NoSchedule")));
    for (const auto& [counter, amount] : one.counters) {
      device.consumes.push_back({"s", std::to_string(counter), model::whole_quantity(amount)});
    }
    made.devices.push_back(std::move(device));
  }
  return made;
}

policy::claim_request request_of(const order& from) {
  policy::claim_request made;
  for (const std::vector<wish>& alternatives : from.requests) {
    policy::device_request& request = made.requests.emplace_back();
    request.name = "r" + std::to_string(made.requests.size() - 1);
    for (const wish& one : alternatives) {
      policy::device_ask& ask = request.alternatives.emplace_back();
      if (one.kind != none) {
        ask.selectors.push_back(
            got(model::cel_expression::parse("device.attributes['d'].kind == " + std::to_string(one.kind))));
      }
      ask.all = one.all;
      ask.count = one.count;
      ask.admin = one.admin;
      if (one.tolerates) ask.tolerations.push_back(got(model::parse_toleration("bad")));
      if (one.capacity != none) ask.capacities.push_back({"", "size", model::whole_quantity(one.capacity)});
    }
  }
  for (const rule& one : from.rules) {
    policy::attribute_constraint& constraint = made.constraints.emplace_back();
    for (const std::uint32_t r : one.requests) constraint.requests.push_back("r" + std::to_string(r));
    constraint.domain = "d";
    constraint.name = "side";
    constraint.distinct = one.distinct;
  }
  return made;
}

// ---- the slow truth ---------------------------------------------------------------------------------------------

bool chosen_by(const gadget& device, const wish& one) {
  return (one.kind == none || one.kind == device.kind) && (one.capacity == none || one.capacity <= device.capacity);
}

std::set<std::int64_t> sides(const gadget& device) { return {device.side.begin(), device.side.end()}; }

bool holds(const world& w, const rule& one, const std::vector<given_device>& given, std::uint32_t claim) {
  std::vector<std::set<std::int64_t>> seen;
  for (const given_device& g : given) {
    const bool named =
        one.requests.empty() || std::find(one.requests.begin(), one.requests.end(), g.request) != one.requests.end();
    if (g.claim == claim && named) seen.push_back(sides(w.devices[g.share.device]));
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i].empty()) return false;
    for (std::size_t j = 0; one.distinct && j < i; ++j) {
      if (std::any_of(seen[i].begin(), seen[i].end(), [&](std::int64_t v) { return seen[j].contains(v); }))
        return false;
    }
  }
  if (one.distinct || seen.empty()) return true;
  return std::any_of(seen.front().begin(), seen.front().end(), [&](std::int64_t v) {
    return std::all_of(seen.begin(), seen.end(), [&](const auto& other) { return other.contains(v); });
  });
}

/// All that is given, with what is taken already, looked at as a whole.
bool is_possible(const world& w, const std::vector<given_device>& given) {
  std::vector<std::int64_t> users(w.devices.size(), 0);
  std::vector<std::int64_t> consumed(w.devices.size(), 0);
  const auto count = [&](const given_device& g) {
    if (g.share.admin) return;
    ++users[g.share.device];
    if (w.devices[g.share.device].shared) {
      consumed[g.share.device] +=
          static_cast<std::int64_t>(g.share.consumed.front().billionths / model::billionths_per_unit);
    }
  };
  std::for_each(w.taken.begin(), w.taken.end(), count);
  std::for_each(given.begin(), given.end(), count);
  std::vector<std::int64_t> counters(w.counters.size(), 0);
  for (std::size_t d = 0; d < w.devices.size(); ++d) {
    const gadget& one = w.devices[d];
    if (!one.shared && users[d] > 1) return false;
    if (consumed[d] > one.capacity) return false;
    for (const auto& [counter, amount] : one.counters) {
      if (users[d] > 0) counters[static_cast<std::size_t>(counter)] += amount;
    }
  }
  for (std::size_t c = 0; c < counters.size(); ++c) {
    if (counters[c] > w.counters[c]) return false;
  }
  for (std::size_t i = 0; i < given.size(); ++i) {
    const given_device& g = given[i];
    const wish& one = w.claims[g.claim].requests[g.request][g.alternative];
    if (w.devices[g.share.device].tainted && !one.tolerates) return false;
    for (std::size_t j = 0; j < i; ++j) {
      const given_device& other = given[j];
      const bool same = other.claim == g.claim && other.share.device == g.share.device;
      if (same && (!w.devices[g.share.device].shared || g.share.admin || other.share.admin)) return false;
    }
  }
  for (std::uint32_t c = 0; c < w.claims.size(); ++c) {
    for (const rule& one : w.claims[c].rules) {
      if (!holds(w, one, given, c)) return false;
    }
  }
  return true;
}

given_device share_of(const world& w, std::uint32_t claim, std::uint32_t request, std::uint32_t alternative,
                      std::uint32_t device) {
  const wish& one = w.claims[claim].requests[request][alternative];
  given_device made{claim, request, alternative, {device, one.admin, {}}};
  if (w.devices[device].shared && !one.admin) {
    made.share.consumed.push_back(
        model::whole_quantity(one.capacity == none ? w.devices[device].capacity : one.capacity));
  }
  return made;
}

/// Every way to give devices, in the promised order; the first that is possible.
std::optional<std::vector<given_device>> first_possible(const world& w) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (std::uint32_t c = 0; c < w.claims.size(); ++c) {
    for (std::uint32_t r = 0; r < w.claims[c].requests.size(); ++r) places.emplace_back(c, r);
  }
  std::vector<given_device> given;
  const std::function<bool(std::size_t)> at = [&](std::size_t place) {
    if (place == places.size()) return is_possible(w, given);
    const auto [claim, request] = places[place];
    for (std::uint32_t a = 0; a < w.claims[claim].requests[request].size(); ++a) {
      const wish& one = w.claims[claim].requests[request][a];
      std::vector<std::uint32_t> match;
      for (std::uint32_t d = 0; d < w.devices.size(); ++d) {
        if (chosen_by(w.devices[d], one)) match.push_back(d);
      }
      const std::size_t size = given.size();
      if (one.all) {
        if (match.empty()) continue;
        for (const std::uint32_t d : match) given.push_back(share_of(w, claim, request, a, d));
        if (at(place + 1)) return true;
        given.resize(size);
        continue;
      }
      const std::function<bool(std::size_t, std::int64_t)> pick = [&](std::size_t from, std::int64_t left) {
        if (left == 0) return at(place + 1);
        for (std::size_t i = from; i < match.size(); ++i) {
          given.push_back(share_of(w, claim, request, a, match[i]));
          if (pick(i, left - 1)) return true;
          given.pop_back();
        }
        return false;
      };
      if (pick(0, one.count)) return true;
    }
    return false;
  };
  return at(0) ? std::optional(given) : std::nullopt;
}

void check(world w) {
  const policy::device_slice slice = slice_of(w);
  const policy::device_slice* const pointer = &slice;
  const policy::device_pools pools(std::span(&pointer, 1));
  policy::device_usage usage(pools);
  policy::wanted_shares besides;
  std::vector<std::uint32_t> reachable;
  for (std::uint32_t d = 0; d < w.devices.size(); ++d) {
    reachable.push_back(d);
    // Some devices have users already; what they take fits.
    const std::int64_t share = draw(0, 2);
    given_device held{0, 0, 0, {d, false, {}}};
    if (w.devices[d].shared)
      held.share.consumed.push_back(model::whole_quantity(std::min(share, w.devices[d].capacity)));
    if (share == 0 || !usage.can_take(pools, held.share, besides)) continue;
    // What is wanted besides counts as what is taken does.
    if (draw(0, 2) == 0) {
      besides.add(held.share);
    } else {
      usage.take(pools, held.share);
    }
    w.taken.push_back(held);
  }
  std::vector<policy::claim_request> requests;
  for (const order& one : w.claims) requests.push_back(request_of(one));
  std::vector<const policy::claim_request*> pointers;
  for (const policy::claim_request& one : requests) pointers.push_back(&one);
  policy::selector_answers answers;
  const allocation_answer found = policy::allocate({pools, usage, answers, reachable, besides}, pointers);
  const std::optional<std::vector<given_device>> truth = first_possible(w);
  // Giving back what was given leaves nothing.
  policy::device_usage after = usage;
  for (const given_device& one : found.given) after.take(pools, one.share);
  RC_ASSERT(found.given.empty() || truth);
  for (const given_device& one : found.given) after.give_back(pools, one.share);
  RC_ASSERT(after == usage);
  RC_TAG(truth ? "possible" : "impossible");
  RC_ASSERT(found.outcome == (truth ? allocation_outcome::found : allocation_outcome::none));
  if (truth) RC_ASSERT(found.given == *truth);
}

world drawn(int most_claims, int most_devices) {
  world w;
  const int counters = draw(0, 2);
  for (int c = 0; c < counters; ++c) w.counters.push_back(draw(1, 4));
  const int devices = draw(1, most_devices);
  for (int d = 0; d < devices; ++d) {
    w.devices.push_back(d > 0 && draw(0, 2) == 0 ? w.devices.back() : drawn_gadget(w.counters.size()));
  }
  const int claims = draw(1, most_claims);
  for (int c = 0; c < claims; ++c) w.claims.push_back(drawn_order());
  return w;
}

}  // namespace

TEST_CASE("one claim gets the first devices that are possible, or none are") {
  CHECK(rc::check([] { check(drawn(1, 5)); }));
}

TEST_CASE("claims of one pod get devices together") {
  CHECK(rc::check([] { check(drawn(2, 4)); }));
}

}  // namespace of_test_allocator
