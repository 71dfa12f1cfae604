#include "benchmarks/shockwave/trace.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "io/csv_file.hpp"
#include "io/files.hpp"

namespace kaisched::bench::shockwave {

namespace {

struct file_digest {
  std::string_view name;
  std::string_view sha256;
};
constexpr std::string_view jobs_file = "trace_120_jobs.csv";
constexpr std::string_view speeds_file = "tacc_throughputs_isolated.csv";
constexpr std::string_view published_speeds_file = "tacc_throughputs.json";
constexpr std::string_view summary_file = "tacc32_summary.csv";
constexpr std::string_view times_file = "tacc32_jobs.csv";
constexpr std::array digests{
    file_digest{jobs_file, "e17d875121f013539b0a0d5a72249c0c0c3237810027eea79fe09468189dfd06"},
    file_digest{speeds_file, "9d43ee1ad90ddc61bb13c131df54996b91fa1089040141ccb51fbe37b14a779a"},
    file_digest{summary_file, "241c314c4ca9d8b60191749da3ff30fd7d6555354ddf3d23ba81e112325b826f"},
    file_digest{times_file, "7a316a1163059a112ee5c07297c9d0b854006dec2a421eefeb765fd31b6535ed"},
    file_digest{published_speeds_file, "6fee2da4f81c8e777e9513987d982fd0a11a155107360e6168b0e8fd593a83ce"},
};
constexpr std::string_view gpu_model = "v100";
constexpr std::string_view published_set = "tacc_32gpus";
constexpr std::int64_t largest = std::numeric_limits<std::int32_t>::max();

error bad_file(std::string_view file, std::string_view why) {
  return {status::argument, fmt::format("{}: {}", file, why), {}};
}

result<std::string> read_known(const std::string& path, std::string_view name) {
  result<std::string> bytes = io::read_file(path);
  if (!bytes) return bytes;
  base::sha256 sum;
  sum.update(std::string_view(*bytes));
  const std::string found = base::sha256::hex(sum.finish());
  const auto* const known =
      std::find_if(digests.begin(), digests.end(), [&](const file_digest& one) { return one.name == name; });
  if (found != known->sha256)
    return bad_file(name, fmt::format("its SHA-256 is {}, that of the data of the table is {}", found, known->sha256));
  return bytes;
}

double number_in(io::csv_file& csv, std::size_t column) {
  const std::string_view text = csv.text(column);
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
    csv.refuse(column, "a number");
  return value;
}

struct job_kind {
  std::string model;
  std::int64_t batch = 0;
};
/// `LM (batch size 10)`, or just a name.
job_kind kind_of(std::string_view text) {
  constexpr std::string_view between = " (batch size ";
  const std::size_t at = text.find(between);
  if (at == std::string_view::npos || !text.ends_with(')')) return {std::string(text), 0};
  const std::string_view digits = text.substr(at + between.size(), text.size() - 1 - at - between.size());
  job_kind made{std::string(text.substr(0, at)), 0};
  std::from_chars(digits.data(), digits.data() + digits.size(), made.batch);
  return made;
}

result<void> read_jobs(const std::string& folder, trace& made) {
  const result<std::string> bytes = read_known(fmt::format("{}/{}", folder, jobs_file), jobs_file);
  if (!bytes) return bytes.failure();
  enum column : unsigned { job, job_type, total_steps, scale_factor, mode, arrival_s };
  constexpr std::array<std::string_view, 6> names{"job",          "job_type", "total_steps",
                                                  "scale_factor", "mode",     "arrival_s"};
  constexpr std::array modes{std::pair{"static", adaptation::none}, std::pair{"accordion", adaptation::accordion},
                             std::pair{"gns", adaptation::gns}};
  io::csv_file csv({jobs_file, *bytes}, names);
  for (std::size_t i = 0; i < names.size(); ++i) csv.require(i);
  while (csv.next()) {
    const job_kind kind = kind_of(csv.text(job_type));
    const auto number = csv.integer(job, 0, largest);
    if (number != static_cast<std::int64_t>(made.jobs.size())) csv.refuse(job, "jobs numbered from 0");
    const auto* const found =
        std::find_if(modes.begin(), modes.end(), [&](const auto& one) { return one.first == csv.text(mode); });
    if (found == modes.end()) {
      csv.refuse(mode, "static, accordion or gns");
      break;
    }
    made.jobs.push_back({kind.model, kind.batch, csv.integer(total_steps, 1, largest),
                         csv.integer(scale_factor, 1, largest), found->second, number_in(csv, arrival_s)});
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

result<void> read_speeds(const std::string& folder, trace& made) {
  const result<std::string> bytes = read_known(fmt::format("{}/{}", folder, speeds_file), speeds_file);
  if (!bytes) return bytes.failure();
  enum column : unsigned { gpu, job_type, scale_factor, steps_per_s };
  constexpr std::array<std::string_view, 4> names{"gpu", "job_type", "scale_factor", "steps_per_s"};
  io::csv_file csv({speeds_file, *bytes}, names);
  for (std::size_t i = 0; i < names.size(); ++i) csv.require(i);
  while (csv.next()) {
    const job_kind kind = kind_of(csv.text(job_type));
    const std::int64_t gpus = csv.integer(scale_factor, 1, largest);
    const double speed = number_in(csv, steps_per_s);
    if (csv.text(gpu) == gpu_model) made.speeds.set(kind.model, kind.batch, gpus, speed);
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

/// By GPU and `('LM (batch size 10)', 2)`; `null` is the speed without a partner on the same GPU.
result<void> read_published_speeds(const std::string& path, trace& made) {
  const result<std::string> bytes = read_known(path, published_speeds_file);
  if (!bytes) return bytes.failure();
  const nlohmann::json all = nlohmann::json::parse(*bytes, nullptr, false);
  const auto of_gpu = all.is_object() ? all.find(gpu_model) : all.end();
  if (of_gpu == all.end() || !of_gpu->is_object()) return bad_file(published_speeds_file, "no speeds of v100");
  for (const auto& [key, partners] : of_gpu->items()) {
    const auto alone = partners.is_object() ? partners.find("null") : partners.end();
    const std::size_t end = key.rfind("', ");
    if (alone == partners.end() || !alone->is_number() || !key.starts_with("('") || end == std::string::npos)
      return bad_file(published_speeds_file, fmt::format("\"{}\": no speed", key));
    const job_kind kind = kind_of(std::string_view(key).substr(2, end - 2));
    std::int64_t gpus = 0;
    std::from_chars(key.data() + end + 3, key.data() + key.size(), gpus);
    made.speeds.set(kind.model, kind.batch, gpus, alone->get<double>());
  }
  return {};
}

result<void> read_summary(const std::string& folder, trace& made) {
  const result<std::string> bytes = read_known(fmt::format("{}/{}", folder, summary_file), summary_file);
  if (!bytes) return bytes.failure();
  enum column : unsigned { set, policy, makespan_s, avg_jct_s, worst_ftf, unfair, rounds };
  constexpr std::array<std::string_view, 7> names{
      "set", "policy", "makespan_s", "avg_jct_s", "worst_ftf", "unfair_pct_ftf_gt_1.05", "rounds"};
  io::csv_file csv({summary_file, *bytes}, names);
  for (std::size_t i = 0; i < names.size(); ++i) csv.require(i);
  while (csv.next()) {
    const published_run one{number_in(csv, makespan_s),      number_in(csv, avg_jct_s),
                            number_in(csv, worst_ftf),       number_in(csv, unfair),
                            csv.integer(rounds, 0, largest), std::vector<double>(made.jobs.size())};
    if (csv.text(set) == published_set) made.published.emplace(csv.text(policy), one);
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

result<void> read_times(const std::string& folder, trace& made) {
  const result<std::string> bytes = read_known(fmt::format("{}/{}", folder, times_file), times_file);
  if (!bytes) return bytes.failure();
  enum column : unsigned { policy, job, jct_s };
  constexpr std::array<std::string_view, 3> names{"policy", "job", "jct_s"};
  io::csv_file csv({times_file, *bytes}, names);
  for (std::size_t i = 0; i < names.size(); ++i) csv.require(i);
  while (csv.next()) {
    const auto number = static_cast<std::size_t>(csv.integer(job, 0, largest));
    const auto run = made.published.find(std::string(csv.text(policy)));
    if (run == made.published.end() || number >= made.jobs.size()) {
      csv.refuse(job, "a job of a policy of the summary");
      break;
    }
    run->second.completion_times[number] = number_in(csv, jct_s);
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return {};
}

}  // namespace

result<trace> read_trace(const std::string& folder, const std::string& speeds) {
  trace made;
  if (auto done = read_jobs(folder, made); !done) return done.failure();
  auto with_speeds = speeds.empty() ? read_speeds(folder, made) : read_published_speeds(speeds, made);
  if (!with_speeds) return with_speeds.failure();
  if (auto done = read_summary(folder, made); !done) return done.failure();
  if (auto done = read_times(folder, made); !done) return done.failure();
  return made;
}

std::string describe_data() {
  std::string text =
      "The data is public: github.com/uw-mad-dash/shockwave at 8a44f4a (MIT). trace_120_jobs.csv has the columns of "
      "the "
      "trace of\n"
      "120 jobs in scheduler/traces/reproduce, tacc_throughputs_isolated.csv the speeds without a partner of\n"
      "scheduler/tacc_throughputs.json (which --speeds reads itself), tacc32_*.csv the results in "
      "scheduler/reproduce/pickles.\n"
      "SHA-256 of the files:\n";
  for (const file_digest& one : digests) text += fmt::format("  {}  {}\n", one.sha256, one.name);
  return text;
}

}  // namespace kaisched::bench::shockwave
