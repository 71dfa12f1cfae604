// Rounds of small invented traces, worked out by hand; no data is needed.
#include <cmath>

#include "benchmarks/shockwave/batch_sizes.hpp"
#include "benchmarks/shockwave/interior_point.hpp"
#include "benchmarks/shockwave/rounds.hpp"
#include "support.hpp"

namespace of_test_rounds {

using namespace kaisched;
using namespace kaisched::bench::shockwave;
using test::must;

namespace {

const policy_name& policy_of(std::string_view published) {
  for (const policy_name& one : policies()) {
    if (one.published == published) return one;
  }
  FAIL("no such policy");
  return policies().front();
}
const policy_name fifo{"fifo", "fifo", nullptr};

/// Ten steps in a second, whatever it is.
speed_table ten_steps() {
  speed_table made;
  for (const std::int64_t gpus : {1, 2, 4}) made.set("Transformer", 16, gpus, 10);
  return made;
}
trace_job plain_job(std::int64_t steps, std::int64_t gpus, double arrival) {
  return {"Transformer", 16, steps, gpus, adaptation::none, arrival};
}
round_options with_gpus(std::int64_t gpus) {
  round_options made;
  made.gpus = gpus;
  return made;
}
using times = std::vector<double>;

std::vector<double> divided(std::string_view policy, std::vector<asking_job> jobs, double gpus) {
  return policy_of(policy).rule()->divide(jobs, gpus, 0);
}

}  // namespace

TEST_CASE("a job alone runs round after round") {
  const std::vector<trace_job> jobs{plain_job(2500, 1, 5)};
  const outcome made = must(play(jobs, ten_steps(), policy_of("gandiva_fair"), with_gpus(1)));
  CHECK(made.completion_times == times{250});
  CHECK(made.planned_times == times{250});  // four epochs of 625 steps
  CHECK(made.makespan == 255);
  CHECK(made.rounds == 3);
  CHECK(made.fairness(1) == times{1});
}

TEST_CASE("two jobs take turns on one GPU and pay for it") {
  const std::vector<trace_job> jobs{plain_job(2400, 1, 0), plain_job(2400, 1, 0)};
  const outcome made = must(play(jobs, ten_steps(), policy_of("gandiva_fair"), with_gpus(1)));
  // The first, the second (1,000 steps: 20 s are lost), the second as it has had less, the first (1,000), and 200
  // steps of each in rounds of 20 s.
  CHECK(made.completion_times == times{500, 520});
  CHECK(made.rounds == 6);
  CHECK(made.makespan == 520);
  CHECK(made.fairness(1) == times{1, 1.04});  // 250 s alone, with half of the GPU 500 s

  round_options free = with_gpus(1);
  free.restart = 0;
  const outcome for_free = must(play(jobs, ten_steps(), policy_of("gandiva_fair"), free));
  CHECK(for_free.completion_times == times{360, 480});
  CHECK(for_free.rounds == 4);

  const outcome by_service = must(play(jobs, ten_steps(), {"las", "las", nullptr}, free));
  CHECK(by_service.completion_times == times{360, 480});

  const outcome in_turn = must(play(jobs, ten_steps(), fifo, with_gpus(1)));
  CHECK(in_turn.completion_times == times{240, 500});
  CHECK(in_turn.rounds == 5);
}

TEST_CASE("who has no share yet holds a GPU and idles") {
  const std::vector<trace_job> jobs{plain_job(30'000, 1, 0), plain_job(30'000, 1, 130), plain_job(600, 1, 300)};
  round_options options = with_gpus(3);
  const outcome idle = must(play(jobs, ten_steps(), policy_of("gandiva_fair"), options));
  // Shares are divided at 240, for the second, and not before 1,240 again: the round that begins at 1,320.
  CHECK(idle.completion_times[2] == 1080);
  options.newcomers_idle = false;
  CHECK(must(play(jobs, ten_steps(), policy_of("gandiva_fair"), options)).completion_times[2] == 120);
  options.newcomers_idle = true;
  options.between_shares = 100;
  CHECK(must(play(jobs, ten_steps(), policy_of("gandiva_fair"), options)).completion_times[2] == 120);
}

TEST_CASE("a gang gets all of its GPUs or none, and who fits behind it runs") {
  // Four GPUs: the second needs all of them while the first has one, so the third runs beside it.
  const std::vector<trace_job> jobs{plain_job(1200, 1, 0), plain_job(1200, 4, 0), plain_job(600, 2, 0)};
  const outcome made = must(play(jobs, ten_steps(), fifo, with_gpus(4)));
  CHECK(made.completion_times == times{120, 260, 60});  // 200 steps of the second are lost in its first round
  CHECK(made.rounds == 3);
}

TEST_CASE("a job that runs too long ends") {
  std::vector<trace_job> jobs{plain_job(2400, 1, 0)};
  round_options options = with_gpus(1);
  options.overtime = 0.5;  // of 250 s
  CHECK(must(play(jobs, ten_steps(), fifo, options)).completion_times == times{240});
  options.overtime = 0.4;
  CHECK(must(play(jobs, ten_steps(), fifo, options)).completion_times == times{120});
  options.overtime = 0;
  CHECK(must(play(jobs, ten_steps(), fifo, options)).completion_times == times{240});
}

TEST_CASE("Accordion takes the large batch size after the first ten epochs") {
  speed_table speeds;
  speeds.set("LM", 5, 1, 128);
  speeds.set("LM", 80, 1, 64);
  const std::vector<trace_job> jobs{{"LM", 5, std::int64_t{20} * 11'935, 1, adaptation::accordion, 0}};
  const outcome made = must(play(jobs, speeds, fifo, with_gpus(1)));
  // 15,360 steps a round. After the seventh the tenth epoch has begun, after the eighth eleven of twenty count as
  // done: 8,206 of 14,919 larger steps, the rest takes 6,713 / 64 s.
  CHECK(made.completion_times == times{960 + 6713.0 / 64});
  CHECK(made.rounds == 9);
  CHECK(made.planned_times[0] == doctest::Approx(10 * 59'675.0 / 5 / 128 + 10 * 59'675.0 / 80 / 64));

  round_options fixed = with_gpus(1);
  fixed.changing_batches = false;
  const outcome small = must(play(jobs, speeds, fifo, fixed));
  CHECK(small.completion_times == times{20 * 11'935.0 / 128});
  CHECK(small.planned_times[0] == doctest::Approx(20 * 59'675.0 / 5 / 128));
}

TEST_CASE("batch sizes double at their epochs") {
  speed_table speeds;
  for (const std::int64_t batch : {64, 128, 256}) speeds.set("ResNet-18", batch, 1, 1);
  const trace_job job{"ResNet-18", 128, std::int64_t{20} * 391, 1, adaptation::gns, 0};
  CHECK(wanted_change(job, {128, job.steps, std::int64_t{9} * 391}) == batch_change::none);
  const batch_state tenth{128, job.steps, std::int64_t{10} * 391};
  CHECK(wanted_change(job, tenth) == batch_change::larger);
  const batch_state after = changed(job, tenth, batch_change::larger, speeds);
  CHECK(after.batch == 256);
  CHECK(after.steps == 3910);
  CHECK(after.done == std::int64_t{10} * 196);
  CHECK(wanted_change(job, after) == batch_change::none);
  // One GPU more is another growth.
  CHECK(wanted_change({"ResNet-18", 128, job.steps, 2, adaptation::gns, 0}, tenth) == batch_change::none);

  const trace_job longer{"ResNet-18", 64, std::int64_t{33} * 782, 1, adaptation::gns, 0};
  // 11 epochs with 64 samples, 20 with 128, one with 256; the last is planned with 64 again.
  CHECK(planned_time(longer, speeds).value_or(0) == doctest::Approx(50'000.0 * (12.0 / 64 + 20.0 / 128 + 1.0 / 256)));
  CHECK(changed(longer, {64, std::int64_t{3} * 782 + 1, 0}, batch_change::larger, speeds).steps == 1174);
  // Whole epochs are kept: 121 of 29 steps, then of 15, where half of the steps would be 117.
  speeds.set("Recommendation", 8192, 1, 1);
  const trace_job ratings{"Recommendation", 4096, std::int64_t{121} * 29, 1, adaptation::gns, 0};
  CHECK(changed(ratings, {4096, ratings.steps, 0}, batch_change::larger, speeds).steps == 1815);
}

TEST_CASE("a large batch size goes back in a phase that decides") {
  speed_table speeds;
  speeds.set("ResNet-50", 64, 1, 1);
  speeds.set("ResNet-50", 128, 1, 1);
  const trace_job job{"ResNet-50", 64, std::int64_t{100} * 1563, 1, adaptation::accordion, 0};
  CHECK(wanted_change(job, {64, job.steps, std::int64_t{9} * 1563}) == batch_change::none);
  CHECK(wanted_change(job, {64, job.steps, std::int64_t{10} * 1563}) == batch_change::larger);
  const batch_state large{128, std::int64_t{100} * 782, std::int64_t{30} * 782};
  CHECK(wanted_change(job, {128, large.steps, std::int64_t{29} * 782}) == batch_change::none);
  CHECK(wanted_change(job, large) == batch_change::smaller);
  CHECK(changed(job, large, batch_change::smaller, speeds).batch == 64);
  CHECK(changed(job, large, batch_change::smaller, speeds).done == std::int64_t{30} * 1563);
  speed_table none;
  none.set("ResNet-50", 64, 1, 0);  // no speed at all
  CHECK(changed(job, large, batch_change::smaller, none).batch == 128);
}

TEST_CASE("shares that have one solution") {
  const std::vector<asking_job> four{{0, 1, 10, 300, 0}, {1, 1, 10, 100, 0}, {2, 2, 10, 200, 0}, {3, 4, 10, 400, 0}};
  CHECK(divided("gandiva_fair", four, 2) == times{0.5, 0.5, 0.5, 0.5});
  CHECK(divided("gandiva_fair", four, 8) == times{1, 1, 1, 1});
  CHECK(divided("max_min_fairness", four, 2) == times{0.5, 0.5, 0.25, 0.125});
  const times most = divided("max_sum_throughput_perf", {{0, 1, 3, 1, 0}, {1, 1, 1, 1, 0}, {2, 2, 4, 1, 0}}, 2);
  CHECK(most[0] == doctest::Approx(1).epsilon(1e-6));
  CHECK(most[1] == doctest::Approx(0).epsilon(1e-6));
  CHECK(most[2] == doctest::Approx(0.5).epsilon(1e-6));

  // Two GPUs and fifteen jobs, of which it looks at the first three: the shortest two. When one of them has ended, one
  // GPU is free and two of 13 are looked at.
  const auto rule = policy_of("allox").rule();
  std::vector<asking_job> many{{0, 1, 1, 30, 0}, {1, 1, 1, 10, 0}, {2, 1, 1, 20, 0}};
  for (std::size_t i = 3; i < 15; ++i) many.push_back({i, 1, 1, 5, 0});
  times expected(15);
  expected[1] = expected[2] = 1;
  CHECK(rule->divide(many, 2, 0) == expected);
  many.erase(many.begin() + 1);
  expected = times(14);
  expected[1] = expected[2] = 1;
  CHECK(rule->divide(many, 2, 100) == expected);

  // One GPU, two jobs of 100 s, each 200 s with half of it. The first has waited 100 s: 100 + 100 / a = 100 / (1 - a).
  const times fair = policy_of("finish_time_fairness")
                         .rule()
                         ->divide(std::vector<asking_job>{{0, 1, 1, 100, 0}, {1, 1, 1, 100, 100}}, 1, 100);
  CHECK(fair[0] == doctest::Approx((std::sqrt(5.0) - 1) / 2));
  CHECK(fair[0] + fair[1] == doctest::Approx(1));
}

TEST_CASE("all jobs end in time, and all is divided") {
  // 900 + 2 x 1000 + 700 + 4 x 100 GPU seconds on 4 GPUs are exactly 1,000 s, and one job alone needs as much.
  const std::vector<asking_job> jobs{{0, 1, 2, 1800, 0}, {1, 2, 5, 5000, 0}, {2, 1, 1, 700, 0}, {3, 4, 1, 100, 0}};
  const times shares = divided("min_total_duration", jobs, 4);
  double used = 0;
  double latest = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    used += shares[i] * jobs[i].gpus;
    latest = std::max(latest, jobs[i].time_left() / shares[i]);
  }
  CHECK(used <= 4 + 1e-6);
  CHECK(latest <= 1.05 * 1000 + 1e-6);
  CHECK(latest >= 1000);
}

TEST_CASE("the centre of what is allowed") {
  const times one{0, 0};
  const times widths{1, 1};
  const times made = centre_of(widths, 1, one);
  CHECK(made[0] == doctest::Approx((5 - std::sqrt(5.0)) / 10));
  CHECK(made[1] == doctest::Approx(made[0]));
  CHECK(centre_of(widths, 1, times{0.5, 0.5}) == times{0.5, 0.5});
  const times pulled = centre_of(times{1}, 1e6, times{0.4}, 2);  // no price to speak of: two thirds of the way
  CHECK(pulled[0] == doctest::Approx(0.8).epsilon(1e-4));
}

TEST_CASE("what is wrong with a job or an option has a name") {
  const auto told = [](const trace_job& job, const round_options& options = with_gpus(4)) {
    return play(std::vector<trace_job>{plain_job(10, 1, 1), job}, ten_steps(), fifo, options).failure().message;
  };
  CHECK(told({"BERT", 16, 10, 1, adaptation::none, 1}) == "job 1: model: there is no model 'BERT'");
  CHECK(told(plain_job(10, 8, 1)) == "job 1: gpus: 8 is not 1 to 4");
  CHECK(told(plain_job(0, 1, 1)) == "job 1: steps: 0 is not 1 to 2147483648");
  CHECK(told(plain_job(10, 1, 0)) == "job 1: arrival: 0 is out of order or of range");
  CHECK(told(plain_job(10, 3, 1)) == "job 1: batch: no speed of Transformer with batch size 16 on 3 GPUs");
  CHECK(told({"Transformer", 0, 10, 1, adaptation::none, 1}) == "job 1: batch: 0 is not 1 to 128");
  round_options options = with_gpus(4);
  options.restart = 120;
  CHECK(told(plain_job(10, 1, 1), options) == "restart: 120 is out of range");
  CHECK(told(plain_job(10, 1, 1), with_gpus(0)) == "job 0: gpus: 1 is not 1 to 0");
  options = with_gpus(4);
  options.round = 1e8;
  speed_table slow;
  slow.set("Transformer", 16, 1, 1);
  const std::vector<trace_job> endless{plain_job(std::int64_t{1} << 31, 1, 0)};
  CHECK(play(endless, slow, fifo, options).failure().message == "not at the end after 11 rounds, at 1100000000 s");
  slow.set("Transformer", 16, 1, 0.008);  // 0.96 steps in a round
  CHECK(play(std::vector<trace_job>{plain_job(10, 1, 0)}, slow, fifo).failure().message ==
        "job 0: batch: with 16 samples it does no whole step in a round");
  options = with_gpus(4);
  options.gpus_per_node = 0;
  CHECK(told(plain_job(10, 1, 1), options).find("gpus_per_node: 0 is not 1 to ") == 0);
}

}  // namespace of_test_rounds
