// The Standard Workload Format: 18 numbers in a line, -1 where nobody knows, comments after a semicolon.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include <fmt/format.h>

#include "io/fault_log.hpp"
#include "simulation/traces/trace_rows.hpp"

namespace kaisched::simulation {

namespace {

enum swf_field : unsigned {
  swf_number,
  swf_submit,
  swf_wait,
  swf_run_time,
  swf_processors,
  swf_used_cpu_time,
  swf_used_memory,
  swf_wanted_processors,
  swf_wanted_time,
  swf_wanted_memory,
  swf_status,
  swf_user,
  swf_group,
  swf_executable,
  swf_queue,
  swf_partition,
  swf_preceding,
  swf_think_time,
  swf_field_count
};

constexpr std::array<std::string_view, swf_field_count> swf_names{"job number",
                                                                  "submit time",
                                                                  "wait time",
                                                                  "run time",
                                                                  "allocated processors",
                                                                  "average CPU time",
                                                                  "used memory",
                                                                  "requested processors",
                                                                  "requested time",
                                                                  "requested memory",
                                                                  "status",
                                                                  "user",
                                                                  "group",
                                                                  "executable",
                                                                  "queue",
                                                                  "partition",
                                                                  "preceding job",
                                                                  "think time"};

using swf_fields = std::array<std::string_view, swf_field_count>;

class swf_reader {
 public:
  swf_reader(io::named_text log, const trace_options& options)
      : options_(options), faults_(log.name), jobs_(log.name), text_(log.text) {}

  result<workload> take() {
    while (!text_.empty() && !faults_.failed()) read_line();
    if (faults_.failed()) return faults_.take();
    result<workload> read = jobs_.take();
    if (read) forget_missing(*read);  // of jobs that are left out, or stand in another part of the log
    return read;
  }

 private:
  void read_line();
  void read_job(const swf_fields& fields);
  std::int64_t integer(const swf_fields& fields, swf_field which, std::int64_t most);
  std::int64_t time(const swf_fields& fields, swf_field which);
  std::string number_with(std::string_view prefix, const swf_fields& fields, swf_field which);
  void refuse(const swf_fields& fields, swf_field which, std::string_view expected) {
    faults_.add(line_, swf_names[which], fmt::format("expected {}, found \"{}\"", expected, fields[which]));
  }

  const trace_options& options_;
  io::fault_log faults_;
  job_list jobs_;
  std::string_view text_;
  std::uint32_t line_ = 0;
};

void swf_reader::read_line() {
  ++line_;
  const std::size_t end = std::min(text_.find('\n'), text_.size());
  std::string_view line = text_.substr(0, end);
  text_.remove_prefix(std::min(end + 1, text_.size()));
  line = line.substr(0, line.find(';'));
  constexpr std::string_view blanks = " \t\r";
  swf_fields fields;
  std::size_t count = 0;
  for (;; ++count) {
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    if (line.empty()) break;
    const std::size_t length = std::min(line.find_first_of(blanks), line.size());
    if (count < fields.size()) fields[count] = line.substr(0, length);
    line.remove_prefix(length);
  }
  if (count == 0) return;
  if (count != fields.size()) {
    faults_.add(line_, "", fmt::format("expected {} fields, found {}", fields.size(), count));
    return;
  }
  read_job(fields);
}

/// -1 is unknown, and so is what some logs write below it.
std::int64_t swf_reader::integer(const swf_fields& fields, swf_field which, std::int64_t most) {
  const std::string_view field = fields[which];
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (fault == std::errc{} && end == field.data() + field.size() && value >= -1 && value <= most) return value;
  refuse(fields, which, fmt::format("an integer from -1 to {}", most));
  return -1;
}

std::int64_t swf_reader::time(const swf_fields& fields, swf_field which) {
  if (fields[which] == "-1") return unknown_time;
  const std::optional<std::int64_t> read = parse_duration(fields[which]);
  if (!read) refuse(fields, which, "seconds from 0 to 73 years, or -1");
  return read.value_or(unknown_time);
}

std::string swf_reader::number_with(std::string_view prefix, const swf_fields& fields, swf_field which) {
  const std::int64_t number = integer(fields, which, max_time);
  return number < 0 ? std::string() : fmt::format("{}-{}", prefix, number);
}

void swf_reader::read_job(const swf_fields& fields) {
  job one;
  const std::int64_t number = integer(fields, swf_number, max_time);
  if (number < 0) refuse(fields, swf_number, "a number of its own");
  one.name = fmt::format("swf-{}", number);
  one.submit = time(fields, swf_submit);
  if (one.submit < 0) refuse(fields, swf_submit, "seconds from 0 to 73 years");
  one.run_time = time(fields, swf_run_time);
  one.estimate = time(fields, swf_wanted_time);
  one.user = number_with("user", fields, swf_user);
  one.queue = number_with("queue", fields, swf_queue);
  one.model = number_with("executable", fields, swf_executable);
  std::int64_t processors = integer(fields, swf_wanted_processors, max_pod_gpus);
  const std::int64_t allocated = integer(fields, swf_processors, max_pod_gpus);
  if (processors <= 0) processors = allocated;
  const bool cores = options_.processors == processor::core;
  const std::int64_t per_pod = cores ? options_.cores_per_node : options_.gpus_per_node;
  constexpr std::int64_t bytes_per_kilobyte = 1024;
  const std::int64_t most = max_amount / bytes_per_kilobyte / per_pod;
  const std::int64_t memory = std::max<std::int64_t>(integer(fields, swf_wanted_memory, most), 0) * bytes_per_kilobyte;
  if (one.run_time < 0 || processors <= 0) return jobs_.leave_out();
  one.pods = split_gpus(processors * whole_device, per_pod);
  for (pod_shape& shape : one.pods) {
    shape.memory = memory * (shape.gpus / whole_device);  // the log says it for each processor
    if (cores) shape.cpu = std::exchange(shape.gpus, 0);  // both are counted in thousandths
  }
  // It had ended, well or not, before this one was sent; how long somebody thought is in the times of the log.
  if (const std::int64_t preceding = integer(fields, swf_preceding, max_time); preceding > 0 && preceding != number)
    one.after.push_back(fmt::format("any:swf-{}", preceding));
  jobs_.add(std::move(one), line_);
}

}  // namespace

result<workload> read_swf(io::named_text log, const trace_options& options) {
  if (auto sound = check_options(options); !sound) return sound.take_failure();
  return swf_reader(log, options).take();
}

}  // namespace kaisched::simulation
