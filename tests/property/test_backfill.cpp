// Backfill on random small clusters whose groups end when they are expected to: who waits at the head never starts
// later than it would if nothing behind it were started.
#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <rapidcheck.h>

#include "draws.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_backfill {

using namespace kaisched;
using test::add;
using test::draw;
using test::got;

namespace {

constexpr std::int64_t minute = 60 * test::second;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

struct job_pod {
  std::string name;
  std::int64_t gpu;
  std::string node{};  ///< empty: waits
  std::vector<std::int64_t> devices{};
};

/// A pod group; they are served in the order in which they stand.
struct job {
  std::string name;
  std::int64_t least;
  std::int64_t runs;      ///< as estimated
  bool estimated = true;  ///< the engine is told
  std::vector<job_pod> pods;
  std::int64_t started = -1;
  bool ended = false;
  std::int64_t comes = 0;  ///< no earlier than those before it
  std::int64_t deadline = unset;

  [[nodiscard]] std::int64_t end() const { return started + runs; }
};

struct world {
  std::vector<std::int64_t> nodes;  ///< GPUs of each
  std::vector<job> jobs;
  std::int64_t now = 0;
};

snapshot taken(const world& w) {
  cluster c;
  auto nodes = add(table_kind::node, {"name", "capacity"});
  for (std::size_t n = 0; n < w.nodes.size(); ++n) {
    nodes.add({"n" + std::to_string(n), test::numbers{64'000, 64'000'000'000, w.nodes[n] * 1000, 100}});
  }
  auto groups = add(table_kind::pod_group,
                    {"name", "queue", "min_member", "created", "last_start", "runtime_estimate", "deadline"});
  auto pods = add(table_kind::pod, {"name", "group", "request", "status", "node", "devices"});
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    const job& one = w.jobs[j];
    if (one.ended || one.comes > w.now) continue;
    groups.add({one.name, "q", one.least, static_cast<std::int64_t>(j) * test::second,
                one.started < 0 ? unset : one.started, one.estimated ? one.runs : unset, one.deadline});
    for (const job_pod& p : one.pods) {
      pods.add({p.name, one.name, test::numbers{100, 0, p.gpu, 1},
                p.node.empty() ? pod_status::pending : pod_status::running, p.node, p.devices});
    }
  }
  RC_ASSERT(c.apply(nodes).ok());
  RC_ASSERT(c.apply(add(table_kind::queue, {"name"}).add({"q"})).ok());
  RC_ASSERT(c.apply(groups).ok());
  RC_ASSERT(c.apply(pods).ok());
  return c.take_snapshot();
}

/// One session; what it binds runs. Only the first `count` jobs may start. Whose deadlines it takes for lost.
std::set<std::string> decide(world& w, const engine& with, std::size_t count) {
  world seen = w;
  for (std::size_t j = count; j < seen.jobs.size(); ++j)
    seen.jobs[j].ended = seen.jobs[j].ended || seen.jobs[j].started < 0;
  const session s = got(with.run(taken(seen), w.now));
  RC_ASSERT(s.check().ok());
  for (const decision& d : s.decisions()) {
    RC_ASSERT(d.kind == decision_kind::bind);
    const std::string_view name = s.base().pod_name(d.pod);
    for (job& one : w.jobs) {
      for (job_pod& p : one.pods) {
        if (p.name != name) continue;
        p.node = s.base().node_name(d.node);
        for (std::uint64_t left = d.devices.mask; left != 0; left &= left - 1) {
          p.devices.push_back(std::countr_zero(left));
        }
        if (one.started < 0) one.started = w.now;
      }
    }
  }
  for (const job& one : w.jobs) {  // no gang starts in part
    std::int64_t running = 0;
    for (const job_pod& p : one.pods) running += p.node.empty() ? 0 : 1;
    RC_ASSERT(running == 0 || running >= one.least);
  }
  std::set<std::string> refused;
  for (const reason& why : s.reasons()) {
    if (why.what == constraint::deadline) refused.emplace(s.base().group_name(why.group));
  }
  return refused;
}

/// Moves on to the next end or arrival; false if there is none.
bool wait(world& w) {
  std::int64_t next = never;
  for (const job& one : w.jobs) {
    if (one.started >= 0 && !one.ended && one.runs < never) next = std::min(next, one.end());
    if (one.comes > w.now) next = std::min(next, one.comes);
  }
  if (next == never) return false;
  w.now = next;
  for (job& one : w.jobs) one.ended = one.ended || (one.started >= 0 && one.runs < never && one.end() <= next);
  return true;
}

std::optional<std::size_t> first_waiting(const world& w) {
  for (std::size_t j = 0; j < w.jobs.size(); ++j) {
    if (w.jobs[j].started < 0) return j;
  }
  return std::nullopt;
}

/// When a job starts if those behind it never do and those without an estimate stay; nothing if it does not.
std::optional<std::int64_t> start_alone(world w, const engine& with, std::size_t job) {
  for (auto& one : w.jobs) {
    if (!one.estimated) one.runs = never;
  }
  while (true) {
    decide(w, with, job + 1);
    if (w.jobs[job].started >= 0) return w.jobs[job].started;
    if (!wait(w)) return std::nullopt;
  }
}

/// A cluster and jobs, each of which fits when nothing else runs. Where some have no estimate, and more may come free
/// than is looked ahead to, pods of a job are equal: more room then never does harm.
world random_world(bool all_estimated) {
  world w;
  const int nodes = draw(1, 4);
  for (int n = 0; n < nodes; ++n) w.nodes.push_back(draw(1, 4));
  engine e;
  const int jobs = draw(2, 9);
  for (int j = 0; j < jobs; ++j) {
    const int pods = draw(1, 4);
    job one{"j" + std::to_string(j), draw(1, pods), draw(1, 6) * minute, all_estimated || draw(0, 2) > 0, {}};
    const bool mixed = all_estimated && draw(0, 2) == 0;
    std::int64_t gpu = 0;
    for (int p = 0; p < pods; ++p) {
      if (p == 0 || mixed)
        gpu = std::vector<std::int64_t>{500, 1000, 1000, 2000, 3000, 300}[static_cast<std::size_t>(draw(0, 5))];
      one.pods.push_back({one.name + "-" + std::to_string(p), gpu});
    }
    world alone{w.nodes, {one}, 0};
    decide(alone, e, 1);
    if (alone.jobs[0].started >= 0) w.jobs.push_back(std::move(one));
  }
  return w;
}

}  // namespace

TEST_CASE("with estimates that hold the head starts as soon as without those behind it") {
  const bool held = rc::check([] {
    engine e;
    const std::string actions = draw(0, 1) == 0 ? "backfill" : "allocate,backfill";
    RC_ASSERT(e.set("actions", actions).ok());
    RC_ASSERT(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat").ok());
    const bool promises_nodes = draw(0, 2) == 0;
    world w = random_world(!promises_nodes && draw(0, 2) > 0);
    if (promises_nodes) {  // who gives no estimate is promised nothing
      RC_ASSERT(e.set("backfill.promises", "nodes").ok());
      RC_ASSERT(e.set("backfill.reservations", draw(0, 1) == 0 ? "0" : "1").ok());
      for (job& one : w.jobs) one.estimated = true;
    }
    std::map<std::size_t, std::optional<std::int64_t>> promised;
    while (first_waiting(w)) {
      world before = w;
      decide(w, e, w.jobs.size());
      const std::optional<std::size_t> head = first_waiting(w);
      if (head && !promised.contains(*head)) promised[*head] = start_alone(std::move(before), e, *head);
      if (head) RC_ASSERT(wait(w));
    }
    for (const auto& [job, start] : promised) {
      if (start) RC_ASSERT(w.jobs[job].started <= *start);
    }
  });
  CHECK(held);
}

TEST_CASE("with a time for all nobody starts later than without those behind") {
  const bool held = rc::check([] {
    engine e;
    RC_ASSERT(e.set("actions", "backfill").ok());
    RC_ASSERT(e.set("backfill.reservations", "0").ok());
    RC_ASSERT(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat").ok());
    world w = random_world(true);
    std::vector<std::optional<std::int64_t>> promised;
    for (std::size_t j = 0; j < w.jobs.size(); ++j) promised.push_back(start_alone(w, e, j));
    while (first_waiting(w)) {
      decide(w, e, w.jobs.size());
      if (first_waiting(w)) RC_ASSERT(wait(w));
    }
    for (std::size_t j = 0; j < w.jobs.size(); ++j) {
      if (promised[j]) RC_ASSERT(w.jobs[j].started <= *promised[j]);
    }
  });
  CHECK(held);
}

namespace {

/// Conservative backfill as it is written down for processors that are all alike: in the order of arrival each job gets
/// the earliest time from which on enough of them are left until its end.
class textbook {
 public:
  explicit textbook(std::int64_t processors) : processors_(processors) {}

  std::int64_t start(std::int64_t arrival, std::int64_t asks, std::int64_t runs) {
    std::vector<std::int64_t> times{arrival};
    for (const auto& one : taken_) times.push_back(one.to);
    std::sort(times.begin(), times.end());
    for (const std::int64_t from : times) {
      if (from < arrival || !fits(from, from + runs, asks)) continue;
      taken_.push_back({from, from + runs, asks});
      return from;
    }
    return never;
  }

 private:
  struct part {
    std::int64_t from;
    std::int64_t to;
    std::int64_t processors;
  };
  [[nodiscard]] std::int64_t free_at(std::int64_t time) const {
    std::int64_t left = processors_;
    for (const part& one : taken_) left -= one.from <= time && time < one.to ? one.processors : 0;
    return left;
  }
  [[nodiscard]] bool fits(std::int64_t from, std::int64_t to, std::int64_t asks) const {
    bool good = free_at(from) >= asks;
    for (const part& one : taken_) good = good && (one.from <= from || one.from >= to || free_at(one.from) >= asks);
    return good;
  }
  std::int64_t processors_;
  std::vector<part> taken_;
};

}  // namespace

TEST_CASE("on one node groups start when conservative backfill says by the book") {
  const bool held = rc::check([] {
    engine e;
    RC_ASSERT(e.set("actions", draw(0, 1) == 0 ? "backfill" : "allocate,backfill").ok());
    RC_ASSERT(e.set("backfill.reservations", "0").ok());
    const int gpus = draw(1, 8);
    world w{{gpus}, {}, 0};
    textbook book(gpus);
    std::vector<std::int64_t> arrivals;
    std::vector<std::int64_t> expected;
    for (int j = draw(1, 14); j > 0; --j) {
      const int asks = draw(1, gpus);
      job one{"j" + std::to_string(10 + w.jobs.size()), 1, draw(1, 9) * minute, true, {}};
      one.pods.push_back({one.name + "-0", asks * 1000});
      arrivals.push_back((arrivals.empty() ? 0 : arrivals.back()) + draw(0, 3) * minute);
      expected.push_back(book.start(arrivals.back(), asks, one.runs));
      w.jobs.push_back(std::move(one));
    }
    while (first_waiting(w)) {
      std::size_t here = 0;
      while (here < arrivals.size() && arrivals[here] <= w.now) ++here;
      decide(w, e, here);
      std::int64_t next = here < arrivals.size() ? arrivals[here] : never;
      world ends = w;
      if (wait(ends)) next = std::min(next, ends.now);
      if (next == never) break;
      w.now = next;
      for (job& one : w.jobs) one.ended = one.ended || (one.started >= 0 && one.end() <= next);
    }
    for (std::size_t j = 0; j < w.jobs.size(); ++j) RC_ASSERT(w.jobs[j].started == expected[j]);
  });
  CHECK(held);
}

TEST_CASE("who is promised his deadline keeps it, whoever comes later") {
  std::size_t kept = 0;
  std::size_t lost = 0;
  const bool held = rc::check("deadlines", [&] {
    engine e;
    got(e.set("actions", draw(0, 1) == 0 ? "backfill" : "allocate,backfill"));
    got(e.set("backfill.deadlines", "true"));
    got(e.set("backfill.reservations", draw(0, 1) == 0 ? "0" : "1"));
    got(e.set("mode", draw(0, 1) == 0 ? "strict" : "compat"));
    world w = random_world(true);
    std::int64_t comes = 0;
    for (job& one : w.jobs) {
      one.comes = comes += draw(0, 3) * minute;
      if (draw(0, 3) > 0) one.deadline = one.comes + one.runs + draw(0, 6) * minute;
    }
    std::set<std::string> promised;
    do {
      const std::set<std::string> refused = decide(w, e, w.jobs.size());
      for (const job& one : w.jobs) {
        if (one.deadline == unset || one.comes > w.now) continue;
        if (refused.contains(one.name)) {
          RC_ASSERT(!promised.contains(one.name));
          RC_ASSERT(one.started < 0);
          ++lost;
        } else {
          promised.insert(one.name);
          RC_ASSERT(one.started < 0 || one.end() <= one.deadline);
        }
      }
    } while (wait(w));
    for (const job& one : w.jobs) {
      if (promised.contains(one.name)) RC_ASSERT(one.started >= 0);
    }
    kept += promised.size();
  });
  CHECK(held);
  CHECK(kept > 0);
  CHECK(lost > 0);
}

}  // namespace of_test_backfill
