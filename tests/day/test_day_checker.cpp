// The checker of days over small logs whose figures were counted by hand, and over logs with planted faults.
#include <sstream>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "checker/rules.hpp"

namespace {

// A node of four GPUs, queues of two each, jobs of one pod.
const std::string plan =
    "day,1\n"
    "node,n1,4,8000,1000,10,r0\n"
    "queue,a,,100,1,-1,2000,-1,-1,-1,-1\n"
    "queue,b,,100,1,-1,2000,-1,3000,-1,-1\n";

std::string job(const std::string& name, const std::string& queue, int gpus, int priority = 50) {
  return "job," + name + ",0,1000," + queue + "," + std::to_string(priority) + ",1,1,1," + std::to_string(gpus * 1000) +
         ",1000,10,0,0\n";
}

/// A log, line by line.
class script {
 public:
  explicit script(const std::string& actions = "allocate,reclaim,preempt") {
    log_ << "option,preset,kai\noption,mode,strict\noption,actions," << actions << "\noption,host,forget\n";
  }
  script& line(const std::string& text) {
    log_ << text << '\n';
    return *this;
  }
  script& submit(const std::string& name) { return line("event,0,submit," + name); }
  script& session() {
    log_ << "session," << ++number_ << ",0,1\n";
    return *this;
  }
  script& decide(const std::string& kind, const std::string& pod, const std::string& devices) {
    return line("decision," + kind + "," + pod + ",n1," + devices + ",1000,x,1");
  }
  script& runs(const std::string& pod, const std::string& devices) {
    return line("pod,0," + pod + ",running,n1," + devices + ",1000")
        .line("event,0,start," + pod.substr(0, pod.find('-')));
  }
  script& waits(const std::string& pod) {
    return line("pod,0," + pod + ",pending,,,0").line("event,0,stop," + pod.substr(0, pod.find('-')));
  }
  script& carried() { return line("carried," + std::to_string(number_) + ",1"); }
  /// A session that starts one pod.
  script& start(const std::string& pod, const std::string& devices) {
    return session().decide("bind", pod, devices).runs(pod, devices).carried();
  }
  script& nothing() { return session().carried(); }
  [[nodiscard]] std::string over(const std::string& why = "done") {
    line("over,1000," + why);
    return log_.str();
  }

 private:
  std::ostringstream log_;
  int number_ = 0;
};

day_check::findings judge(const std::string& jobs, const std::string& log) {
  std::istringstream day(plan + jobs);
  std::istringstream in(log);
  return day_check::judge(day, in);
}

int count(const day_check::findings& found, const std::string& rule) {
  int sum = 0;
  for (const day_check::violation& one : found.violations) sum += one.rule == rule ? 1 : 0;
  return sum;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  REQUIRE(text.find(what) != std::string::npos);
  return text.replace(text.find(what), what.size(), with);
}

// Two jobs of queue a ask for three GPUs, one of b for two. Of cpu and memory all get what they ask for; GPUs: a its
// quota of two, b its two, so that a has two of the three it asks for.
std::string with_accounts() {
  return script()
      .submit("x")
      .submit("y")
      .submit("z")
      .session()
      .decide("bind", "x-0", "0|1")
      .decide("bind", "z-0", "2|3")
      .line("share,a,2000,20,2000,2000,20,3000,1000,10,2000")
      .line("share,b,1000,10,2000,1000,10,2000,1000,10,2000")
      .runs("x-0", "0|1")
      .runs("z-0", "2|3")
      .carried()
      .line("event,1000,end,x")
      .line("event,1000,end,z")
      .over();
}
const std::string three_jobs = job("x", "a", 2) + job("y", "a", 1) + job("z", "b", 2);

TEST_CASE("units go to the largest weight by odd numbers") {
  using day_check::by_units;
  CHECK(by_units({{1, 10'000}, {1, 10'000}}, 5000, 1000) == std::vector<std::int64_t>{3000, 2000});
  CHECK(by_units({{2, 10'000}, {1, 10'000}}, 4000, 1000) == std::vector<std::int64_t>{3000, 1000});
  CHECK(by_units({{1, 1500}, {1, 500}}, 4000, 1000) == std::vector<std::int64_t>{1500, 500});
  CHECK(by_units({{0, 1000}, {1, 1000}}, 4000, 1000) == std::vector<std::int64_t>{0, 1000});
  // 3 * 2^40 bytes by 1 and 2: every third unit goes to the first.
  const std::int64_t large = std::int64_t{3} << 40;
  CHECK(by_units({{1, large}, {2, large}}, large, 1) == std::vector<std::int64_t>{large / 3, large / 3 * 2});
}

TEST_CASE("a log that was counted by hand is accepted") {
  const day_check::findings found = judge(three_jobs, with_accounts());
  for (const day_check::violation& one : found.violations) MESSAGE(one.rule << ": " << one.text);
  CHECK(found.violations.empty());
  CHECK(found.figures.at("jobs started") == 2);
  CHECK(found.figures.at("jobs ended") == 2);
}

TEST_CASE("accounts that were changed are refused") {
  const std::string good = with_accounts();
  CHECK(count(judge(three_jobs, replaced(good, "share,a,2000,20,2000", "share,a,2000,20,3000")), "accounts") == 1);
  CHECK(count(judge(three_jobs, replaced(good, "share,b,1000,10,2000,1000", "share,b,1000,10,2000,1001")),
              "accounts") == 1);
  CHECK(count(judge(three_jobs, replaced(good, "1000,10,2000\npod", "1000,10,1000\npod")), "accounts") == 1);
  CHECK(count(judge(three_jobs, replaced(good, "event,1000,end,x", "event,999,end,x")), "accounts") == 1);
  std::string twice = replaced(good, "bind,z-0,n1,2|3", "bind,z-0,n1,1|2");
  twice = replaced(twice, "running,n1,2|3", "running,n1,1|2");
  CHECK(count(judge(three_jobs, twice), "accounts") == 1);
}

TEST_CASE("logs that do not fit together are no logs") {
  const std::string good = with_accounts();
  for (const auto& [what, with] : {std::pair<std::string, std::string>{"session,1", "session,2"},
                                   {"decision,bind,z-0,n1,2|3,1000,x,1\n", ""},
                                   {"decision,bind,x-0", "decision,evict,x-0"},
                                   {"event,0,submit,z\n", ""},
                                   {"carried,1", "carried,2"},
                                   {"over,1000,done\n", ""},
                                   {"pod,0,x-0,running,n1", "pod,0,x-0,running,n2"},
                                   {"share,a,2000", "share,c,2000"},
                                   {"1000,x,1", "1000,x,one"}}) {
    CAPTURE(what);
    CHECK_THROWS_AS(static_cast<void>(judge(three_jobs, replaced(good, what, with))), std::runtime_error);
  }
}

TEST_CASE("a pod that one session starts and stops") {
  script log;
  log.submit("x").session().decide("bind", "x-0", "0|1").decide("evict", "x-0", "0|1");
  const day_check::findings found = judge(three_jobs, log.runs("x-0", "0|1").waits("x-0").carried().over());
  CHECK(count(found, "net") == 1);
  CHECK(found.figures.at("started and stopped") == 1);
}

TEST_CASE("twenty sessions that change something are no rest, nineteen and an event are") {
  for (const int sessions : {19, 20}) {
    script log;
    log.submit("x");
    for (int i = 0; i < sessions; ++i) {
      if (i % 2 == 0) {
        log.start("x-0", "0|1");
      } else {
        log.session().decide("evict", "x-0", "0|1").waits("x-0").carried();
      }
    }
    log.submit("y");
    CHECK(count(judge(three_jobs, log.over()), "rest") == (sessions == 20 ? 1 : 0));
  }
}

TEST_CASE("as many sessions may change something as there are jobs") {
  std::string jobs;
  for (int i = 0; i < 25; ++i) jobs += job("j" + std::to_string(i), "a", 1);
  for (const int sessions : {24, 25}) {
    script log;
    for (int i = 0; i < 25; ++i) log.submit("j" + std::to_string(i));
    for (int i = 0; i < sessions; ++i) {
      if (i % 2 == 0) {
        log.start("j0-0", "0");
      } else {
        log.session().decide("evict", "j0-0", "0").waits("j0-0").carried();
      }
    }
    CHECK(count(judge(jobs, log.over()), "rest") == (sessions == 25 ? 1 : 0));
  }
}

TEST_CASE("capacity that stays free for three sessions while a group fits") {
  script two;
  two.submit("x").nothing().nothing().start("x-0", "0|1");
  CHECK(count(judge(three_jobs, two.over()), "idle") == 0);
  script three;
  three.submit("x").nothing().nothing().nothing();
  const day_check::findings found = judge(three_jobs, three.over());
  REQUIRE(count(found, "idle") == 1);
  CHECK(found.violations.front().group == "x");
  CHECK(found.violations.front().session == 3);
  script claimed;  // what is free is held for another group
  claimed.submit("x").submit("w").start("w-0", "0|1");
  for (int i = 0; i < 3; ++i) claimed.session().decide("pipeline", "x-0", "2|3").carried();
  CHECK(count(judge(three_jobs + job("w", "a", 2), claimed.over()), "idle") == 0);
  script limited;  // b may have three GPUs
  limited.submit("z").submit("v").start("z-0", "0|1").nothing().nothing().nothing();
  CHECK(count(judge(three_jobs + job("v", "b", 2), limited.over()), "idle") == 0);
}

TEST_CASE("a quota that is asked for in eleven sessions") {
  // Queue a has all four GPUs in pieces of two, b asks for its two.
  const std::string jobs = job("x", "a", 2) + job("y", "a", 2) + job("z", "b", 2);
  for (const int sessions : {10, 11}) {
    script log;
    log.submit("x").submit("y").submit("z").start("x-0", "0|1").start("y-0", "2|3");
    // Until here z fits. From now on it waits for room.
    for (int i = 0; i < sessions - 1; ++i) log.nothing();
    const day_check::findings found = judge(jobs, log.over());
    CHECK(count(found, "quota") == (sessions == 11 ? 1 : 0));
    CHECK(found.figures.at("sessions until quota") == sessions);
  }
}

TEST_CASE("evictions beyond twice of what was lacking") {
  // z of b lacks two GPUs; the smallest unit of a that makes room has two.
  const std::string jobs = job("x", "a", 2) + job("y", "a", 2) + job("z", "b", 2);
  script log;
  log.submit("x").submit("y").start("x-0", "0|1").start("y-0", "2|3").submit("z");
  log.session().decide("evict", "x-0", "0|1").decide("pipeline", "z-0", "").waits("x-0").carried();
  log.start("z-0", "0|1");
  const day_check::findings found = judge(jobs, log.over());
  CHECK(found.figures.at("evicted GPUs") == 2);
  CHECK(found.figures.at("evicted GPUs, lower bound") == 2);
  CHECK(count(found, "evictions") == 0);

  script more;
  more.submit("x").submit("y").start("x-0", "0|1").start("y-0", "2|3").submit("z");
  for (int i = 0; i < 2; ++i) {
    more.session().decide("evict", "x-0", "0|1").waits("x-0").carried();
    more.start("x-0", "0|1");
  }
  more.session().decide("evict", "x-0", "0|1").decide("pipeline", "z-0", "").waits("x-0").carried().start("z-0", "0|1");
  const day_check::findings too_many = judge(jobs, more.over());
  CHECK(too_many.figures.at("evicted GPUs") == 6);
  CHECK(too_many.figures.at("evicted GPUs, lower bound") == 2);
  CHECK(count(too_many, "evictions") == 1);
}

TEST_CASE("moves for a group count once until it starts") {
  // w asks for four GPUs and has no right to them. Each node has three free; the job with one GPU on n1 has to move.
  const std::string jobs = "node,n2,4,4000,100,10,r\n" + job("x", "a", 1) + job("y", "a", 1) + job("w", "a", 4);
  for (const int times : {1, 2, 3}) {
    script log("allocate,consolidation");
    log.submit("x").submit("y").submit("w").start("x-0", "0");
    log.session().line("decision,bind,y-0,n2,0,1000,x,1").line("pod,0,y-0,running,n2,0,1000").line("event,0,start,y");
    log.carried();
    for (int i = 0; i < times; ++i) {
      log.session().line("decision,move,x-0,n2,1,1000,consolidation,1");
      log.line("decision,pipeline,w-0,n1,,1000,consolidation,1").waits("x-0").carried();
      if (i + 1 < times) log.start("x-0", "0");  // gets its old place, so that w waits on
    }
    log.session().decide("bind", "w-0", "0|1|2|3").runs("w-0", "0|1|2|3").carried();
    const day_check::findings found = judge(jobs, log.over());
    CHECK(found.figures.at("evicted GPUs") == times);
    CHECK(found.figures.at("evicted GPUs, lower bound") == 1);
    CHECK(count(found, "evictions") == (times > 2 ? 1 : 0));
  }
}

TEST_CASE("jobs that never start, and jobs that are stopped again and again") {
  script stuck;
  stuck.submit("x").submit("y").start("x-0", "0|1");
  CHECK(count(judge(three_jobs, stuck.over("stuck")), "start") == 3);  // z has not come, y waits, x does not end
  script log;
  log.submit("x");
  for (int i = 0; i < 21; ++i) {
    log.start("x-0", "0|1").session().decide("evict", "x-0", "0|1").waits("x-0").carried();
  }
  CHECK(count(judge(three_jobs, log.over()), "stops") == 1);
  // Another job that comes may be the reason for one of them.
  script other;
  other.submit("x").submit("y");
  for (int i = 0; i < 21; ++i) {
    other.start("x-0", "0|1").session().decide("evict", "x-0", "0|1").waits("x-0").carried();
  }
  CHECK(count(judge(three_jobs, other.over()), "stops") == 0);
}

}  // namespace
