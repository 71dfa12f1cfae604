// Philly and ITP: a time, a duration and a number of GPUs in each row.
#include <charconv>
#include <chrono>
#include <system_error>

#include <fmt/format.h>

#include "simulation/traces/trace_rows.hpp"

namespace kaisched::simulation {

namespace {

/// The Monday before the first job of the published file, at which its times begin here.
constexpr std::chrono::sys_days philly_start = std::chrono::year{2017} / 9 / 4;

/// `2017-10-09 07:01:55` as nanoseconds from then on.
std::optional<std::int64_t> philly_time(std::string_view text) {
  constexpr std::string_view form = "dddd-dd-dd dd:dd:dd";
  if (text.size() != form.size()) return std::nullopt;
  for (std::size_t i = 0; i < form.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !is_digit : text[i] != form[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t at, std::size_t digits) {
    int value = 0;
    std::from_chars(text.data() + at, text.data() + at + digits, value);
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year{number(0, 4)},
                                         std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                         std::chrono::day{static_cast<unsigned>(number(8, 2))}};
  const int hour = number(11, 2);
  const int minute = number(14, 2);
  const int second = number(17, 2);
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const std::int64_t days = (std::chrono::sys_days{date} - philly_start).count();
  constexpr std::int64_t most_days = 36525;
  if (days < 0 || days > most_days) return std::nullopt;
  return (((days * 24 + hour) * 60 + minute) * 60 + second) * nanoseconds_per_second;
}

}  // namespace

result<workload> read_philly(io::named_text jobs, const trace_options& options) {
  enum column : unsigned { submit, duration, num_gpu, vc, timestamp, other_duration, num_gpus, cluster };
  constexpr std::array<std::string_view, 8> header{
      "submit_s_since_2017-09-04", "duration_s", "num_gpu", "vc", "timestamp", "duration", "num_gpus", "cluster"};
  if (auto sound = check_options(options); !sound) return sound.take_failure();
  trace_rows rows(jobs, header);
  const std::size_t when = rows.either(timestamp, submit);
  const std::size_t how_long = rows.either(other_duration, duration);
  const std::size_t gpus = rows.either(num_gpus, num_gpu);
  const std::size_t queue = rows.either(cluster, vc);
  while (rows.next()) {
    job one;
    one.name = fmt::format("philly-{}", rows.number() + 1);
    one.queue = rows.text(queue);
    if (when == submit) {
      one.submit = rows.seconds(submit);
    } else if (const auto time = philly_time(rows.file().text(timestamp)); time) {
      one.submit = *time;
    } else {
      rows.file().refuse(timestamp, "a time from 2017-09-04 00:00:00 on");
    }
    one.run_time = rows.seconds(how_long);
    one.pods = rows.gpus(gpus, options);
    rows.add(std::move(one));
  }
  return rows.take();
}

result<workload> read_itp(io::named_text jobs, const trace_options& options) {
  enum column : unsigned { cluster, submit, duration, num_gpu, job_id, submission_time, other_duration };
  constexpr std::array<std::string_view, 7> header{"cluster", "submit_s",        "duration_s", "num_gpu",
                                                   "job_id",  "submission_time", "duration"};
  if (auto sound = check_options(options); !sound) return sound.take_failure();
  trace_rows rows(jobs, header);
  const std::size_t when = rows.either(submission_time, submit);
  const std::size_t how_long = rows.either(other_duration, duration);
  const bool has_parts = rows.either(job_id, cluster) == cluster;
  rows.need({num_gpu});
  std::int64_t number = 0;
  while (rows.next()) {
    ++number;
    job one;
    one.submit = rows.time(when);
    one.run_time = rows.time(how_long);
    one.pods = rows.gpus(num_gpu, options);
    if (has_parts) {
      const std::string part = rows.name(cluster);
      // The number of the row in the file: a cluster alone and beside the others has the same names.
      one.name = fmt::format("itp-{}-{}", part, number);
      if (!options.part.empty() && part != options.part) continue;
      if (options.part.empty()) one.queue = "cluster-" + part;
    } else {
      one.name = rows.name(job_id);
      if (!options.part.empty()) rows.file().complain(job_id, "a file of one cluster has no parts");
    }
    rows.add(std::move(one));
  }
  result<workload> read = rows.take();
  if (read && read->jobs.empty() && number > 0) {
    return error{
        status::not_found, fmt::format("{}: no job is of cluster \"{}\"", jobs.name, base::shown(options.part)), {}};
  }
  return read;
}

}  // namespace kaisched::simulation
