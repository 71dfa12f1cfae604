// What queues have used: the ledger against sums that are known, its windows, and what it tells to go on later.
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "api_server/credentials.hpp"
#include "usage/prometheus_usage.hpp"
#include "usage/usage_ledger.hpp"

using namespace shim;
using namespace std::chrono_literals;

namespace {

constexpr milli_time hour = 3'600'000;
constexpr milli_time day = 24 * hour;
constexpr milli_time start = 1'767'225'600'000;  // 2026-01-01T00:00:00Z, a Thursday
constexpr std::size_t plenty = 1U << 20U;

usage_window sliding(std::chrono::milliseconds size) {
  usage_window made;
  made.size = size;
  return made;
}

usage_ledger::holding gpus(std::string_view queue, double held) { return {queue, {0, 0, held}}; }

double gpu_part(const usage_ledger& of, const std::string& queue) {
  const queue_parts all = of.parts();
  const auto found = all.find(queue);
  return found == all.end() ? 0 : found->second[2];
}

std::string told(const usage_ledger& of, std::size_t most = plenty) {
  std::size_t left_out = 0;
  return of.text(most, left_out);
}

bool near(double a, double b, double off = 1e-9) { return std::abs(a - b) <= off; }

}  // namespace

TEST_CASE("what was held, by the capacity of the same time") {
  usage_ledger ledger(sliding(24h), 0ms);
  ledger.note(start, {{"a", {4000, 1e9, 2000}}, {"b", {0, 0, 4000}}}, {16000, 8e9, 8000});
  CHECK(ledger.parts().empty());  // no time has passed
  ledger.note(start + hour, {gpus("a", 8000)}, {16000, 8e9, 8000});
  CHECK(ledger.parts().at("a") == quota_amounts{0.25, 0.125, 0.25});
  CHECK(ledger.parts().at("b") == quota_amounts{0, 0, 0.5});
  ledger.note(start + 4 * hour, {}, {16000, 8e9, 8000});
  CHECK(near(gpu_part(ledger, "a"), (0.25 + 3) / 4));
  CHECK(near(gpu_part(ledger, "b"), 0.5 / 4));
  CHECK(near(ledger.parts().at("a")[0], 0.25 / 4));
}

TEST_CASE("the capacity changes") {
  usage_ledger ledger(sliding(24h), 0ms);
  ledger.note(start, {gpus("a", 4)}, {0, 0, 8});
  ledger.note(start + hour, {gpus("a", 4)}, {0, 0, 16});
  ledger.note(start + 2 * hour, {}, {0, 0, 16});
  CHECK(near(gpu_part(ledger, "a"), 8.0 / 24));
  CHECK(ledger.parts().at("a")[0] == 0);  // there is no CPU, so nobody has used any
}

TEST_CASE("what lies a half-life back counts half") {
  usage_ledger ledger(sliding(24h * 30), 1h);
  ledger.note(start, {gpus("a", 8)}, {0, 0, 8});
  ledger.note(start + hour, {gpus("b", 8)}, {0, 0, 8});
  ledger.note(start + 2 * hour, {}, {0, 0, 8});
  CHECK(near(gpu_part(ledger, "a"), 1.0 / 3));
  CHECK(near(gpu_part(ledger, "b"), 2.0 / 3));
  // The integral of 2^-t over [0, 10] hours, of which the queue had the oldest tenth.
  usage_ledger other(sliding(24h * 30), 1h);
  other.note(start, {gpus("a", 8)}, {0, 0, 8});
  for (int at = 1; at <= 100; ++at) {  // in how many steps it is told does not matter
    other.note(start + at * hour / 10, at < 10 ? std::vector{gpus("a", 8)} : std::vector<usage_ledger::holding>{},
               {0, 0, 8});
  }
  CHECK(near(gpu_part(other, "a"), (std::exp2(-9) - std::exp2(-10)) / (1 - std::exp2(-10)), 1e-12));
}

TEST_CASE("a window that slides forgets what leaves it") {
  usage_ledger ledger(sliding(48h), 0ms);
  ledger.note(start, {gpus("a", 8)}, {0, 0, 8});
  ledger.note(start + day, {}, {0, 0, 8});
  for (milli_time at = start + day; at <= start + 4 * day; at += 1'234'567) {
    ledger.note(at, {}, {0, 0, 8});
    const auto begin = static_cast<double>(std::max(start, at - 2 * day));
    const auto inside = std::max(0.0, static_cast<double>(start + day) - begin);
    REQUIRE(near(gpu_part(ledger, "a"), inside / (static_cast<double>(at) - begin), 1e-6));
  }
  CHECK(ledger.parts().empty());
}

TEST_CASE("windows that follow each other begin with nothing") {
  usage_window window = sliding(24h);
  window.type = window_type::tumbling;
  window.start = start + 6 * hour;
  CHECK(window.begin_at(start + 7 * hour) == start + 6 * hour);
  CHECK(window.begin_at(start + 6 * hour + 2 * day) == start + 6 * hour + day);  // a boundary ends what was before it
  CHECK(window.begin_at(start) == start);                                        // the first is still to come
  usage_ledger ledger(window, 0ms);
  ledger.note(start + 6 * hour, {gpus("a", 4)}, {0, 0, 8});
  ledger.note(start + 30 * hour, {gpus("b", 8)}, {0, 0, 8});
  CHECK(near(gpu_part(ledger, "a"), 0.5));
  ledger.note(start + 31 * hour, {}, {0, 0, 8});
  CHECK(gpu_part(ledger, "a") == 0);
  CHECK(near(gpu_part(ledger, "b"), 1));
  ledger.note(start + 33 * hour, {gpus("a", 8)}, {0, 0, 8});
  ledger.note(start + 57 * hour, {}, {0, 0, 8});  // what was before the boundary at 54 h counts no more
  CHECK(near(gpu_part(ledger, "a"), 1));
  CHECK(gpu_part(ledger, "b") == 0);
}

TEST_CASE("moments of cron") {
  const auto last = [](const char* text, milli_time now) { return cron_schedule(text).last_before(now); };
  CHECK(last("0 0 * * *", start + hour) == start);
  CHECK(last("0 0 * * *", start) == start - day);
  CHECK(last("*/15 * * * *", start + hour + 1) == start + hour);
  CHECK(last("*/15 * * * *", start + hour) == start + hour - hour / 4);
  CHECK(last("30 6-8,20 * * *", start + 12 * hour) == start + 8 * hour + hour / 2);
  CHECK(last("0 0 * * 1", start) == start - 3 * day);
  CHECK(last("0 0 1 * *", start + 20 * day) == start);
  CHECK(last("0 12 29 2 *", start) == start - (366 + 365 - 31 - 28) * day + 12 * hour);  // 2024-02-29
  CHECK(last("0 0 13 * 5", start + 11 * day) == start + 8 * day);                        // the 13th or a Friday
  usage_window window;
  window.type = window_type::cron;
  window.schedule = cron_schedule("0 0 * * *");
  usage_ledger ledger(window, 0ms);
  ledger.note(start - hour, {gpus("a", 8)}, {0, 0, 8});
  ledger.note(start, {}, {0, 0, 8});
  CHECK(near(gpu_part(ledger, "a"), 1));
  ledger.note(start + 1, {}, {0, 0, 8});
  CHECK(gpu_part(ledger, "a") == 0);
  for (const char* wrong : {"", "* * * *", "60 * * * *", "* * 0 * *", "*/0 * * * *", "5-3 * * * *", "a * * * *",
                            "0 0 30 2 *", "* * * * * *", "1,, * * * *"}) {
    CHECK_THROWS_AS(cron_schedule{wrong}, bad_input);
  }
}

TEST_CASE("a clock that goes back charges nothing twice") {
  usage_ledger ledger(sliding(24h), 0ms);
  ledger.note(start + hour, {gpus("a", 8)}, {0, 0, 8});
  ledger.note(start + 2 * hour, {gpus("a", 8)}, {0, 0, 8});
  ledger.note(start, {gpus("b", 8)}, {0, 0, 8});  // two hours back
  CHECK(near(gpu_part(ledger, "a"), 1));
  ledger.note(start + hour, {}, {0, 0, 8});
  CHECK(near(gpu_part(ledger, "a"), 0.5));
  CHECK(near(gpu_part(ledger, "b"), 0.5));
  // A clock that was years ahead and has come right leaves nothing behind.
  usage_ledger ahead(sliding(24h), 1h);
  ahead.note(start + 1000 * day, {gpus("a", 8)}, {0, 0, 8});
  ahead.note(start + 1000 * day + hour, {gpus("a", 8)}, {0, 0, 8});
  ahead.note(start, {gpus("b", 8)}, {0, 0, 8});
  ahead.note(start + hour, {}, {0, 0, 8});
  CHECK(near(gpu_part(ahead, "b"), 1));
}

TEST_CASE("queues that go keep their past, those with another name have none") {
  usage_ledger ledger(sliding(24h), 0ms);
  ledger.note(start, {gpus("old", 8)}, {0, 0, 8});
  ledger.note(start + hour, {gpus("new", 8)}, {0, 0, 8});  // the same queue under another name
  CHECK(gpu_part(ledger, "new") == 0);
  ledger.note(start + 2 * hour, {}, {0, 0, 8});
  CHECK(near(gpu_part(ledger, "old"), 0.5));  // made again, it would not be a blank sheet
  ledger.note(start + 26 * hour, {}, {0, 0, 8});
  ledger.note(start + 27 * hour, {}, {0, 0, 8});
  CHECK(ledger.parts().empty());
  CHECK(told(ledger).find("queue") == std::string::npos);
}

TEST_CASE("who goes on from the text goes on in the middle of the window") {
  for (const auto half_life : {0ms, std::chrono::milliseconds(5h)}) {
    const std::vector<usage_ledger::holding> first{gpus("a", 3), {"b", {100, 7e9, 1}}};
    const quota_amounts whole{1000, 64e9, 8};
    usage_ledger through(sliding(24h), half_life);
    through.note(start, first, whole);
    through.note(start + 10 * hour, first, whole);
    usage_ledger after(sliding(24h), half_life);
    CHECK(after.read(told(through)).empty());
    for (const char* queue : {"a", "b"}) CHECK(near(gpu_part(after, queue), gpu_part(through, queue), 1e-7));
    // Nobody knows what was held while nobody looked: that time counts for nobody, but the past has aged.
    after.note(start + 12 * hour, {gpus("a", 8)}, whole);
    CHECK(near(gpu_part(after, "a"), 3.0 / 8, 1e-7));
    after.note(start + 14 * hour, {}, whole);
    const auto weight = [&](double from, double to) {  // of a time, hours before the end
      const double h = half_life.count() > 0 ? 5 : 1e9;
      return h / std::log(2.0) * (std::exp2(-to / h) - std::exp2(-from / h));
    };
    const double early = weight(14, 4);
    const double late = weight(2, 0);
    CHECK(near(gpu_part(after, "a"), (early * 3.0 / 8 + late) / (early + late), 1e-6));
    CHECK(near(gpu_part(after, "b"), early / 8 / (early + late), 1e-6));
  }
}

TEST_CASE("10,000 queues fit, in larger steps of time if need be") {
  const auto name = [](int i) { return fmt::format("department-{}-of-the-cluster", i); };
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back(name(i));
  usage_ledger ledger(sliding(48h), 0ms);
  for (int step = 0; step <= 24; ++step) {
    std::vector<usage_ledger::holding> held;
    for (std::size_t i = 0; i < names.size(); ++i) {
      held.push_back({names[i], {static_cast<double>(i + 1) / 3, 1e9, static_cast<double>(i + 1) * (step % 2 + 1)}});
    }
    ledger.note(start + step * hour, held, {1e9, 1e15, 1e9});
  }
  std::size_t left_out = 1;
  const std::string text = ledger.text(900'000, left_out);
  CHECK(left_out == 0);
  CHECK(text.size() <= 900'000);
  CHECK(text.size() > 100'000);
  usage_ledger after(sliding(48h), 0ms);
  CHECK(after.read(text).empty());
  const queue_parts before = ledger.parts();
  const queue_parts now = after.parts();
  CHECK(before.size() == 10'000);
  CHECK(now.size() == 10'000);
  for (const auto& [queue, part] : before) {
    for (std::size_t i = 0; i < part.size(); ++i) REQUIRE(near(now.at(queue)[i] / part[i], 1, 1e-6));
  }
  // Where not even one line for each fits, those that have used most are told.
  const std::string short_text = ledger.text(100'000, left_out);
  CHECK(short_text.size() <= 100'000);
  CHECK(left_out > 5000);
  usage_ledger rest(sliding(48h), 0ms);
  CHECK(rest.read(short_text).empty());
  CHECK(rest.parts().size() == 10'000 - left_out);
  CHECK(near(gpu_part(rest, name(9999)) / gpu_part(ledger, name(9999)), 1, 1e-6));
  CHECK(gpu_part(rest, name(0)) == 0);
}

TEST_CASE("what cannot be read is named and left out") {
  usage_ledger ledger(sliding(48h), 0ms);
  ledger.note(start, {gpus("a", 4), gpus("b", 2)}, {0, 0, 8});
  ledger.note(start + hour, {gpus("a", 4), gpus("b", 2)}, {0, 0, 8});
  ledger.note(start + 2 * hour, {gpus("a", 4), gpus("b", 2)}, {0, 0, 8});
  const std::string text = told(ledger);
  const auto damaged = [&](const std::string& what, const std::string& by) {
    std::string other = text;
    other.replace(other.find(what), what.size(), by);
    return other;
  };
  usage_ledger after(sliding(48h), 0ms);
  std::vector<std::string> faults = after.read(damaged("queue b 0:", "queue b x:"));
  REQUIRE(faults.size() == 1);
  CHECK(faults[0] == "line 6: expected a number, found \"x\"");
  CHECK(near(gpu_part(after, "a"), 0.5));
  CHECK(gpu_part(after, "b") == 0);
  faults = after.read(damaged("slot " + std::to_string(start), "slot tomorrow"));
  REQUIRE(faults.size() == 1);
  CHECK(faults[0] == "line 3: expected a number, found \"tomorrow\"");
  CHECK(near(gpu_part(after, "a"), 0.5));  // by the hour that is left
  CHECK(near(gpu_part(after, "b"), 0.25));
  CHECK(after.read(damaged("0,0,", "0,0,-")).size() == 1);
  CHECK(after.read(damaged("0,0,", "0,0,nan,")).size() == 1);
  CHECK(after.read(damaged("queue a 0:", "queue a 7:"))[0] == "line 5: queue a: there is no slot 7");
  CHECK(after.read(damaged("until", "before"))[0] == "line 2: expected until, slot or queue, found \"before\"");
  CHECK(after.read("hello") == std::vector<std::string>{"expected \"kaisched-usage/1\" in front"});
  CHECK(after.parts().empty());
  after.note(start, {gpus("a", 8)}, {0, 0, 8});
  after.note(start + hour, {gpus("a", 8)}, {0, 0, 8});
  CHECK(near(gpu_part(after, "a"), 1));
}

TEST_CASE("questions to a Prometheus") {
  usage_settings by;
  CHECK(sum_over_window("kai_queue_allocated_gpus", by, start) ==
        "sum_over_time((kai_queue_allocated_gpus)[604800s:60s])");
  by.half_life = 1h;
  by.window.type = window_type::tumbling;
  by.window.start = start - 2 * day;
  by.window.size = 24h * 7;
  CHECK(sum_over_window("x", by, start) ==
        "sum_over_time(((x) * (0.5 ^ ((1767225600.000 - time()) / 3600.000)))[172800s:60s])");
}
