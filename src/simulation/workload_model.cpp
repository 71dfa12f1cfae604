#include "simulation/workload_model.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

#include "base/text.hpp"
#include "simulation/amounts.hpp"
#include "simulation/draws.hpp"
#include "simulation/job_list.hpp"

namespace kaisched::simulation {

namespace {

constexpr std::int64_t most_jobs = 10'000'000;
constexpr std::int64_t most_weight = 1'000'000'000;
constexpr double least_rate = 0.01;
constexpr double most_rate = 1e9;
constexpr double most_sigma = 20;
constexpr double most_power = 8;
constexpr std::int64_t milliseconds_per_second = 1000;
constexpr std::int64_t nanoseconds_per_millisecond = nanoseconds_per_second / milliseconds_per_second;
constexpr double seconds_per_hour = 3600;
constexpr double seconds_per_minute = 60;
constexpr std::size_t hours_per_day = 24;
constexpr std::size_t days_per_week = 7;
constexpr double mean_weight = 1000;

/// Streams of a job. The numbers are part of what a seed means.
enum class property : std::uint64_t { arrival, size, run_time, queue, count };

draws draws_of(std::uint64_t seed, std::int64_t job, property which) {
  return {seed, static_cast<std::uint64_t>(job) * static_cast<std::uint64_t>(property::count) +
                    static_cast<std::uint64_t>(which)};
}

/// Numbers from the end, so that the streams of the properties stay what they are.
draws draws_of_curve(std::uint64_t seed, std::int64_t job) { return {seed, ~static_cast<std::uint64_t>(job)}; }

/// Points at powers of two and at all pods. `serial`: thousandths of the work of one pod.
std::vector<std::string> amdahl_curve(std::int64_t pods, std::int64_t serial) {
  constexpr std::int64_t whole = 1000;
  std::vector<std::string> points;
  for (std::int64_t k = 1; k > 0; k = k < pods ? std::min(2 * k, pods) : 0) {
    const std::int64_t speed = whole * whole * k / (serial * k + whole - serial);
    points.push_back(fmt::format("{}:{}.{:03}", k, speed / whole, speed % whole));
  }
  return points;
}

const std::vector<workload_model>& all_models() {
  static const std::vector<workload_model> models{
      // Frequencies, ln-mean and ln-deviation of all rows, arrivals by hour and by day of whole weeks.
      {"philly",
       "fitted to the 82,247 jobs of Microsoft Philly as filtered for Pollux (petuum/adaptdl, branch osdi21-artifact)",
       31.3,
       {{1, 76627}, {2, 1818}, {4, 1870}, {8, 1643}, {12, 7}, {16, 199}, {24, 7}, {32, 67}, {64, 6}, {128, 3}},
       {890, 2.156, {}, 1, 5184000},
       {{1274, 985, 1119, 1103, 700, 1153, 1673, 2089, 1109, 1006, 1024, 869,
         749,  705, 638,  649,  882, 668,  801,  728,  1016, 917,  1134, 1010},
        {874, 1056, 1134, 1268, 1443, 619, 605}},
       rhythm_use::week},
      {"itp",
       "fitted to the 69,351 jobs of ten Microsoft ITP clusters (microsoft/elasticflow-traces); rate of one cluster",
       4.8,
       {{1, 57682}, {2, 1483}, {4, 2371}, {8, 7009}, {16, 381}, {32, 354}, {64, 71}},
       {8259, 1.215, {}, 600, 5184000},
       {{1107, 1155, 1359, 1264, 1435, 1082, 860, 948,  891, 916,  872,  867,
         756,  898,  779,  707,  770,  835,  884, 1094, 905, 1201, 1229, 1187},
        {1211, 755, 951, 879, 986, 1122, 1096}},
       rhythm_use::week},
      {"gavel",
       "the job generator of Gavel (Narayanan et al., OSDI 2020): 10^U(1.5,3) minutes with probability 0.8, else "
       "10^U(3,4); 1, 2, 4, 8 GPUs with 0.7, 0.1, 0.15, 0.05; Poisson arrivals. Its published sweeps set the rate",
       4,
       {{1, 70}, {2, 10}, {4, 15}, {8, 5}},
       {0, 0, {{1.5, 3, 80}, {3, 4, 20}}, 1, 5184000},
       {},
       rhythm_use::none},
  };
  return models;
}

/// When jobs arrive: a Poisson process whose rate is the same for an hour. Each gap is the time in which the integral
/// of the rate grows by an exponential number.
class arrivals {
 public:
  explicit arrivals(const generator_options& options) : options_(options) {
    double sum = 0;
    for (std::size_t hour = 0; hour < period(); ++hour) sum += weight(hour);
    scale_ = options.jobs_per_hour / seconds_per_hour * static_cast<double>(period()) / sum;
  }

  /// Seconds at which the next job arrives.
  double next(double amount) {
    for (;;) {
      const double rate = scale_ * weight(hour_ % period());
      const double end = static_cast<double>(hour_ + 1) * seconds_per_hour;
      const double in_hour = rate * (end - now_);
      if (amount <= in_hour) {
        now_ = std::min(now_ + amount / rate, end);
        return now_;
      }
      amount -= in_hour;
      now_ = end;
      ++hour_;
    }
  }

 private:
  [[nodiscard]] std::size_t period() const {
    switch (options_.used) {
      case rhythm_use::none:
        return 1;
      case rhythm_use::day:
        return hours_per_day;
      case rhythm_use::week:
        break;
    }
    return hours_per_day * days_per_week;
  }
  [[nodiscard]] double weight(std::size_t hour) const {
    if (options_.used == rhythm_use::none) return mean_weight;
    const auto of_hour = static_cast<double>(options_.rhythm.hours[hour % hours_per_day]);
    if (options_.used == rhythm_use::day) return of_hour;
    return of_hour * static_cast<double>(options_.rhythm.days[hour / hours_per_day]);
  }

  const generator_options& options_;
  double scale_ = 0;
  double now_ = 0;
  std::size_t hour_ = 0;
};

/// Seconds, as the law has them before they are cut.
double drawn_run_time(const run_time_law& law, std::span<const std::int64_t> weights, draws& from) {
  if (law.powers.empty()) return law.median * exp_of(law.sigma * from.normal());
  const power_range& range = law.powers[from.weighted(weights)];
  constexpr double ln_ten = 0x1.26bb1bbb55516p+1;
  return seconds_per_minute * exp_of((range.least + (range.most - range.least) * from.unit()) * ln_ten);
}

error bad_option(std::string_view name, std::string expected) {
  return {status::argument, fmt::format("{}: expected {}", name, expected), {}};
}

result<void> check_law(const run_time_law& law) {
  if (law.least < 0 || law.most < law.least || law.most > max_time / nanoseconds_per_second) {
    return bad_option("run times", "a least and a most of 0 seconds to 73 years");
  }
  if (law.powers.empty()) {
    const bool sound = law.median > 0 && law.median <= 1e9 && law.sigma >= 0 && law.sigma <= most_sigma;
    return sound ? result<void>() : bad_option("run times", "a median from 0 to 10^9 seconds, and sigma from 0 to 20");
  }
  std::int64_t sum = 0;
  for (const power_range& range : law.powers) {
    const bool sound = range.least >= -most_power && range.most <= most_power && range.least <= range.most;
    if (!sound) return bad_option("run times", "exponents of ten from -8 to 8, the smaller one first");
    if (range.weight < 0 || range.weight > most_weight) return bad_option("run times", "weights from 0 to 10^9");
    sum += range.weight;
  }
  return sum > 0 ? result<void>() : bad_option("run times", "a weight above 0");
}

result<void> check_sizes(std::span<const size_weight> sizes) {
  std::int64_t sum = 0;
  for (const size_weight& size : sizes) {
    if (size.gpus < 0 || size.gpus > max_pod_gpus) return bad_option("sizes", "GPUs from 0 to 1048576");
    if (size.weight < 0 || size.weight > most_weight) return bad_option("sizes", "weights from 0 to 10^9");
    sum += size.weight;
  }
  return sum > 0 ? result<void>() : bad_option("sizes", "a weight above 0");
}

result<void> check_rhythm(const generator_options& options) {
  const auto sound = [](std::span<const std::int64_t> weights) {
    return std::all_of(weights.begin(), weights.end(),
                       [](std::int64_t weight) { return weight >= 0 && weight <= most_weight; }) &&
           std::any_of(weights.begin(), weights.end(), [](std::int64_t weight) { return weight > 0; });
  };
  const bool by_day = options.used == rhythm_use::none || sound(options.rhythm.hours);
  const bool by_week = options.used != rhythm_use::week || sound(options.rhythm.days);
  return by_day && by_week ? result<void>() : bad_option("rhythm", "weights from 0 to 10^9, one of them above 0");
}

result<void> check_generator(const generator_options& options) {
  if (options.jobs < 1 || options.jobs > most_jobs) return bad_option("jobs", "1 to 10000000");
  if (!(options.jobs_per_hour >= least_rate && options.jobs_per_hour <= most_rate)) {
    return bad_option("jobs per hour", "0.01 to 10^9");
  }
  if (options.queues < 0 || options.queues > max_pod_gpus) return bad_option("queues", "0 to 1048576");
  if (options.gpus_per_node < 1 || options.gpus_per_node > max_pod_gpus) {
    return bad_option("gpus_per_node", "1 to 1048576");
  }
  if (auto sound = check_sizes(options.sizes); !sound) return sound;
  if (auto sound = check_rhythm(options); !sound) return sound;
  return check_law(options.run_times);
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(mark, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::span<const workload_model> workload_models() { return all_models(); }

const workload_model* find_workload_model(std::string_view name) {
  for (const workload_model& one : all_models()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

generator_options options_of(const workload_model& model) {
  generator_options options;
  options.jobs_per_hour = model.jobs_per_hour;
  options.sizes = model.sizes;
  options.run_times = model.run_times;
  options.rhythm = model.rhythm;
  options.used = model.used;
  return options;
}

result<std::vector<size_weight>> parse_sizes(std::string_view text) {
  std::vector<size_weight> read;
  for (const std::string_view part : split(text, ',')) {
    const std::vector<std::string_view> fields = split(part, ':');
    const auto gpus = parse_number<std::int64_t>(fields.front());
    const auto weight = fields.size() == 2 ? parse_number<std::int64_t>(fields.back()) : std::nullopt;
    if (!gpus || !weight) {
      return bad_option("sizes",
                        fmt::format("GPUs and weights such as 1:70,2:10,8:20, found \"{}\"", base::shown(text)));
    }
    read.push_back({*gpus, *weight});
  }
  if (auto sound = check_sizes(read); !sound) return sound.take_failure();
  return read;
}

result<run_time_law> parse_run_times(std::string_view text) {
  const auto wrong = [&] {
    return bad_option("run times", fmt::format("log-normal:MEDIAN:SIGMA such as log-normal:15m:2.2, or "
                                               "powers:LEAST:MOST:WEIGHT,... such as powers:1.5:3:80,3:4:20, found "
                                               "\"{}\"",
                                               base::shown(text)));
  };
  const std::size_t mark = std::min(text.find(':'), text.size());
  const std::string_view kind = text.substr(0, mark);
  const std::string_view rest = text.substr(std::min(mark + 1, text.size()));
  run_time_law law;
  if (kind == "log-normal") {
    const std::vector<std::string_view> fields = split(rest, ':');
    if (fields.size() != 2) return wrong();
    const auto median = parse_duration(fields[0]);
    const auto sigma = parse_number<double>(fields[1]);
    if (!median || !sigma) return wrong();
    law.median = static_cast<double>(*median) / static_cast<double>(nanoseconds_per_second);
    law.sigma = *sigma;
  } else if (kind == "powers") {
    for (const std::string_view part : split(rest, ',')) {
      const std::vector<std::string_view> fields = split(part, ':');
      if (fields.size() != 3) return wrong();
      const auto least = parse_number<double>(fields[0]);
      const auto most = parse_number<double>(fields[1]);
      const auto weight = parse_number<std::int64_t>(fields[2]);
      if (!least || !most || !weight) return wrong();
      law.powers.push_back({*least, *most, *weight});
    }
  } else {
    return wrong();
  }
  if (auto sound = check_law(law); !sound) return sound.take_failure();
  return law;
}

result<workload> generate_workload(const generator_options& options) {
  if (auto sound = check_generator(options); !sound) return sound.take_failure();
  std::vector<std::int64_t> size_weights;
  for (const size_weight& size : options.sizes) size_weights.push_back(size.weight);
  std::vector<std::int64_t> power_weights;
  for (const power_range& range : options.run_times.powers) power_weights.push_back(range.weight);
  const std::int64_t least = options.run_times.least * milliseconds_per_second;
  const std::int64_t most = options.run_times.most * milliseconds_per_second;
  constexpr double most_seconds = static_cast<double>(max_time / nanoseconds_per_second);

  workload made;
  made.jobs.reserve(static_cast<std::size_t>(options.jobs));
  arrivals clock(options);
  for (std::int64_t i = 0; i < options.jobs; ++i) {
    job one;
    one.name = fmt::format("job-{}", i + 1);
    const double arrival = clock.next(draws_of(options.seed, i, property::arrival).exponential());
    if (arrival > most_seconds) return bad_option("jobs per hour", "a rate at which all jobs arrive within 73 years");
    one.submit = static_cast<std::int64_t>(arrival * milliseconds_per_second) * nanoseconds_per_millisecond;
    draws run_time = draws_of(options.seed, i, property::run_time);
    const double seconds = std::min(drawn_run_time(options.run_times, power_weights, run_time), most_seconds);
    one.run_time = std::clamp(static_cast<std::int64_t>(seconds * milliseconds_per_second), least, most) *
                   nanoseconds_per_millisecond;
    const std::size_t size = draws_of(options.seed, i, property::size).weighted(size_weights);
    one.pods = split_gpus(options.sizes[size].gpus * whole_device, options.gpus_per_node);
    if (const std::int64_t pods = pods_of(one); options.elastic && pods > 1) {
      constexpr std::int64_t least_serial = 5;
      constexpr std::int64_t most_serial = 200;
      one.min_pods = 1;
      one.speedup =
          amdahl_curve(pods, least_serial + draws_of_curve(options.seed, i).below(most_serial - least_serial + 1));
    }
    if (options.queues > 0) {
      one.queue = fmt::format("queue-{}", draws_of(options.seed, i, property::queue).below(options.queues) + 1);
    }
    made.jobs.push_back(std::move(one));
  }
  return made;
}

}  // namespace kaisched::simulation
