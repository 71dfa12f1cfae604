// How fair shares come about: divisions done by hand, in both modes.
#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "rows.hpp"
#include "support.hpp"

namespace of_test_share_steps {

using namespace kaisched;
using test::add;
using test::builder;
using test::must;
using test::numbers;
using test::reals;
using strings = std::vector<std::string>;

namespace {

queue_row queue_of(const session& s, std::string_view name) {
  queue_row q = 0;
  while (s.base().queue_name(q) != name) ++q;
  return q;
}

session opened(const snapshot& over, std::string_view mode, double k = 0) {
  engine e;
  must(e.set("mode", mode));
  must(e.set("proportion.k", std::to_string(k)));
  return must(e.open(over, 0));
}

/// Steps of one dimension of a queue, in its unit: `over_quota 1 a 3 of 8`.
strings told(const session& s, std::string_view queue, dimension d = dim_gpu) {
  strings all;
  for (const share_step& one : must(s.share_steps(queue_of(s, queue)))) {
    if (one.dim != d) continue;
    CHECK(one.before + one.given == one.after);
    const auto amount = [](std::int64_t milli) { return fmt::format("{:g}", static_cast<double>(milli) / 1000); };
    std::string text(share_step_kind_name(one.what));
    if (one.round > 0) text += fmt::format(" {}", one.round);
    if (one.queue != no_row) text += fmt::format(" {}", s.base().queue_name(one.queue));
    text += " " + amount(one.given);
    if (one.queue != no_row && one.what != share_step_kind::part) text += " of " + amount(one.wanted);
    all.push_back(std::move(text));
  }
  return all;
}

/// A queue whose only group asks for so many GPUs.
void ask(builder& b, builder::queue q, std::int64_t gpus) {
  const std::string name = q.name;
  b << std::move(q) << builder::group{"g-" + name, name, gpus};
  for (std::int64_t i = 0; i < gpus; ++i) b << builder::pod{fmt::format("{}-{}", name, i), "g-" + name, 1000, "", 0};
}

snapshot taken(const builder& b) {
  cluster c;
  b.apply_to(c);
  return c.take_snapshot();
}

builder with_gpus(std::int64_t gpus) {
  builder b;
  b << builder::node{"n", gpus};
  return b;
}

}  // namespace

TEST_CASE("quotas come first, then what is left goes by weight") {
  builder b = with_gpus(10);
  ask(b, {"a", "", 2, -1, 1}, 10);
  ask(b, {"b", "", 4, -1, 3}, 10);
  const snapshot over = taken(b);
  for (const std::string_view mode : {"strict", "compat"}) {
    const session s = opened(over, mode);
    CHECK(told(s, "a") == strings{"total 10", "quota a 2 of 10", "quota b 4 of 10", "over_quota 1 a 1 of 8",
                                  "over_quota 1 b 3 of 6", "left 0"});
    CHECK(s.view().queue_fair_share(queue_of(s, "a"))[dim_gpu] == 3000);
  }
}

TEST_CASE("high priorities come first; a limit caps what a queue asks for; rounds go on while somebody has enough") {
  builder b = with_gpus(10);
  ask(b, {"hi", "", 0, -1, 1, 200}, 3);
  ask(b, {"lo1", "", 0, 2, 1}, 9);
  ask(b, {"lo2", "", 0, -1, 1}, 9);
  const snapshot over = taken(b);
  const strings quotas{"total 10", "quota hi 0 of 3", "quota lo1 0 of 2", "quota lo2 0 of 9"};
  const auto after_quotas = [&](std::initializer_list<const char*> rest) {
    strings all(quotas);
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  // strict serves unit by unit until lo1 has its two: then lo2, which has one, is alone.
  CHECK(told(opened(over, "strict"), "lo2") ==
        after_quotas({"over_quota 1 hi 3 of 3", "over_quota 1 lo1 2 of 2", "over_quota 1 lo2 1 of 9",
                      "over_quota 2 lo2 4 of 8", "left 0"}));
  // compat cuts 7 in two halves of 3.5 and rounds the one down that does not satisfy.
  CHECK(told(opened(over, "compat"), "lo2") ==
        after_quotas({"over_quota 1 hi 3 of 3", "over_quota 1 lo1 2 of 2", "over_quota 1 lo2 3 of 9",
                      "over_quota 2 lo2 2 of 6", "left 0"}));
}

TEST_CASE("remainders: compat rounds up whole units, strict has none") {
  builder b = with_gpus(3);
  ask(b, {"a", "", 0, -1, 1}, 9);
  ask(b, {"b", "", 0, -1, 3}, 9);
  ask(b, {"c", "", 0, -1, 3}, 9);
  const snapshot over = taken(b);
  const session compat = opened(over, "compat");
  CHECK(told(compat, "a") == strings{"total 3", "quota a 0 of 9", "quota b 0 of 9", "quota c 0 of 9",
                                     "over_quota 1 a 0 of 9", "over_quota 1 b 1 of 9", "over_quota 1 c 1 of 9",
                                     "unit a 1 of 9", "left 0"});
  const std::vector<share_step> steps = must(compat.share_steps(queue_of(compat, "a")));
  const auto unit =
      std::find_if(steps.begin(), steps.end(), [](const auto& one) { return one.what == share_step_kind::unit; });
  REQUIRE(unit != steps.end());
  CHECK(unit->proportion == doctest::Approx(3.0 / 7));
  CHECK(unit->weight == 1);
  CHECK(unit->priority == 100);
  CHECK(told(opened(over, "strict"), "a") == strings{"total 3", "quota a 0 of 9", "quota b 0 of 9", "quota c 0 of 9",
                                                     "over_quota 1 a 1 of 9", "over_quota 1 b 1 of 9",
                                                     "over_quota 1 c 1 of 9", "left 0"});
}

TEST_CASE("history moves weights") {
  cluster c;
  must(c.apply(add(table_kind::queue, {"name", "quota", "usage"})
                   .add({"a", numbers{0, 0, 0}, reals{0, 0, 0.5}})
                   .add({"b", numbers{0, 0, 0}, reals{0, 0, 0}})));
  must(c.apply(add(table_kind::node, {"name", "capacity"}).add({"n", numbers{0, 0, 10000, 99}})));
  must(c.apply(add(table_kind::pod_group, {"name", "queue"}).add({"ga", "a"}).add({"gb", "b"})));
  for (int i = 0; i < 10; ++i) {
    must(c.apply(add(table_kind::pod, {"name", "group", "request"})
                     .add({"a" + std::to_string(i), "ga", numbers{0, 0, 1000, 1}})
                     .add({"b" + std::to_string(i), "gb", numbers{0, 0, 1000, 1}})));
  }
  const snapshot over = c.take_snapshot();
  // With k = 1: 0.5 + (0.5 - 0.5) against 0.5 + (0.5 - 0), which is one third against two.
  const session compat = opened(over, "compat", 1);
  CHECK(told(compat, "a") == strings{"total 10", "quota a 0 of 10", "quota b 0 of 10", "over_quota 1 a 3 of 10",
                                     "over_quota 1 b 6 of 10", "unit b 1 of 4", "left 0"});
  const session strict = opened(over, "strict", 1);
  CHECK(told(strict, "a") == strings{"total 10", "quota a 0 of 10", "quota b 0 of 10", "over_quota 1 a 3 of 10",
                                     "over_quota 1 b 7 of 10", "left 0"});
  for (const session* s : {&compat, &strict}) {
    for (const share_step& one : must(s->share_steps(queue_of(*s, "a")))) {
      if (one.what != share_step_kind::over_quota || one.dim != dim_gpu) continue;
      const bool is_a = one.queue == queue_of(*s, "a");
      CHECK(one.proportion == doctest::Approx(is_a ? 1.0 / 3 : 2.0 / 3));
      CHECK(one.usage == doctest::Approx(is_a ? 0.5 : 0.0));
    }
  }
}

TEST_CASE("quotas that promise more than there is") {
  builder b = with_gpus(10);
  ask(b, {"a", "", 8}, 8);
  ask(b, {"b", "", 8}, 8);
  const snapshot over = taken(b);
  CHECK(told(opened(over, "strict"), "a") == strings{"total 10", "quota 1 a 5 of 8", "quota 1 b 5 of 8", "left 0"});
  const session compat = opened(over, "compat");
  CHECK(told(compat, "a") == strings{"total 10", "quota a 8 of 8", "quota b 8 of 8", "left -6"});
  CHECK(compat.text(must(compat.share_steps(queue_of(compat, "a"))).back()) ==
        "quotas have given 6 GPU more than there is");
}

TEST_CASE("from the top down: what a parent got is what its children divide") {
  builder b = with_gpus(8);
  b << builder::queue{"org", "", 0, -1, 3};
  ask(b, {"other", "", 0, -1, 1}, 8);
  ask(b, {"x", "org", 4}, 8);
  ask(b, {"y", "org", 0}, 8);
  const session s = opened(taken(b), "strict");
  CHECK(told(s, "y") == strings{"total 8", "quota org 0 of 16", "quota other 0 of 8", "over_quota 1 org 6 of 16",
                                "over_quota 1 other 2 of 8", "left 0", "total 6", "quota x 4 of 8", "quota y 0 of 8",
                                "over_quota 1 x 1 of 4", "over_quota 1 y 1 of 8", "left 0"});
  CHECK(told(s, "org") == strings{"total 8", "quota org 0 of 16", "quota other 0 of 8", "over_quota 1 org 6 of 16",
                                  "over_quota 1 other 2 of 8", "left 0"});
  const std::vector<share_step> steps = must(s.share_steps(queue_of(s, "y")));
  const auto says = [&](share_step_kind what, std::string_view of) {
    for (const share_step& one : steps) {
      if (one.what == what && one.dim == dim_gpu && (one.queue == no_row || s.base().queue_name(one.queue) == of) &&
          (one.queue != no_row || (one.parent == no_row ? of.empty() : s.base().queue_name(one.parent) == of))) {
        return s.text(one);
      }
    }
    return std::string();
  };
  CHECK(says(share_step_kind::total, "") == "8 GPU of the cluster to divide");
  CHECK(says(share_step_kind::total, "org") == "6 GPU to divide among the children of 'org'");
  CHECK(says(share_step_kind::quota, "x") == "its quota gives 'x' 4 GPU of the 8 GPU that it asks for");
  CHECK(says(share_step_kind::over_quota, "org") ==
        "round 1 by weight 3 gives 'org' 6 GPU of the 16 GPU that it still asks for");
  CHECK(says(share_step_kind::left, "org") == "0 GPU left that nobody may take");
}

TEST_CASE("what a part changes is told last, with its name") {
  class gift final : public policy_part {
   public:
    [[nodiscard]] std::string_view name() const noexcept override { return "gift"; }
    [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_divides_shares; }
    result<void> divide_shares(const session_view& view, std::span<const queue_row> queues,
                               std::span<std::int64_t> shares) override {
      for (std::size_t i = 0; i < queues.size(); ++i) {
        if (view.queue_name(queues[i]) == "a") shares[i * quota_dimensions + dim_gpu] += 1500;
      }
      return {};
    }
  };
  builder b = with_gpus(4);
  ask(b, {"a", "", 2}, 2);
  ask(b, {"b", "", 2}, 2);
  for (const std::string_view mode : {"strict", "compat"}) {
    engine e;
    must(e.set("mode", mode));
    must(e.register_part("gift", [](const policy_options&) { return std::make_unique<gift>(); }));
    must(e.set("parts", must(e.get("parts")) + ",gift"));
    const session s = must(e.open(taken(b), 0));
    CHECK(told(s, "b") == strings{"total 4", "quota a 2 of 2", "quota b 2 of 2", "left 0", "part a 1.5"});
    CHECK(s.text(must(s.share_steps(queue_of(s, "b"))).back()) ==
          "part 'gift' changes the share of 'a' from 2 GPU to 3.5 GPU");
    CHECK(s.view().queue_fair_share(queue_of(s, "a"))[dim_gpu] == 3500);
  }
}

TEST_CASE("without the part that divides there are no steps, and without a queue no answer") {
  builder b = with_gpus(4);
  ask(b, {"a"}, 2);
  engine e;
  must(e.set("parts", "predicates"));
  const session s = must(e.open(taken(b), 0));
  CHECK(must(s.share_steps(0)).empty());
  CHECK(s.share_steps(7).failure().code == status::argument);
}

}  // namespace of_test_share_steps
