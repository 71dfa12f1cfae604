// Shockwave: its published form has tabs and no header.
#include <algorithm>
#include <charconv>
#include <map>
#include <span>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/utf8.hpp"
#include "io/fault_log.hpp"
#include "simulation/traces/numbers.hpp"
#include "simulation/traces/trace_rows.hpp"

namespace kaisched::simulation {

namespace {

/// Steps in a second of a kind of job with so many workers.
using throughput_table = std::map<std::pair<std::string, std::int64_t>, double>;
constexpr double most_speed = 1e9;

result<throughput_table> read_csv_throughputs(io::named_text file, std::string_view wanted) {
  enum column : unsigned { gpu, job_type, scale_factor, steps_per_s };
  constexpr std::array<std::string_view, 4> header{"gpu", "job_type", "scale_factor", "steps_per_s"};
  io::csv_file csv(file, header);
  for (const column one : {gpu, job_type, scale_factor, steps_per_s}) csv.require(one);
  throughput_table read;
  while (csv.next()) {
    const std::int64_t workers = csv.integer(scale_factor, 1, max_pod_gpus);
    const double speed = number_of(csv, steps_per_s, 0, most_speed);
    if (csv.text(gpu) != wanted) continue;
    if (!read.emplace(std::pair{std::string(csv.text(job_type)), workers}, speed).second) {
      csv.complain(job_type, fmt::format("\"{}\" with {} workers stands there twice", csv.text(job_type), workers));
    }
  }
  if (csv.failed()) return error{status::argument, csv.fault(), {}};
  return read;
}

/// `('LM (batch size 10)', 2)`: a kind of job, and how many workers.
std::optional<std::pair<std::string, std::int64_t>> parse_key(std::string_view key) {
  constexpr std::string_view before = "('";
  constexpr std::string_view between = "', ";
  const std::size_t end = key.rfind(between);
  if (!key.starts_with(before) || !key.ends_with(')') || end == std::string_view::npos) return std::nullopt;
  if (end < before.size()) return std::nullopt;
  const std::string_view number = key.substr(end + between.size(), key.size() - 1 - end - between.size());
  std::int64_t workers = 0;
  const auto [stop, fault] = std::from_chars(number.data(), number.data() + number.size(), workers);
  const bool read = fault == std::errc{} && stop == number.data() + number.size();
  if (!read || workers < 1 || workers > max_pod_gpus) return std::nullopt;
  return std::pair{std::string(key.substr(before.size(), end - before.size())), workers};
}

/// The published form: by GPU and kind of job; `null` is the speed without a partner on the same GPU.
result<throughput_table> read_json_throughputs(io::named_text file, std::string_view wanted) {
  const auto wrong = [&](std::string_view where, std::string_view what) {
    return error{
        status::argument, base::printable(fmt::format("{}: {}{}", file.name, where, what), io::longest_message), {}};
  };
  const nlohmann::json all = nlohmann::json::parse(file.text, nullptr, false);
  if (!all.is_object()) return wrong("", "this is no JSON object");
  throughput_table read;
  const auto of_gpu = all.find(wanted);
  if (of_gpu == all.end()) return read;
  if (!of_gpu->is_object()) return wrong(wanted, ": expected an object of kinds of jobs");
  for (const auto& [key, partners] : of_gpu->items()) {
    const auto parsed = parse_key(key);
    const std::string where = fmt::format("{}: \"{}\"", wanted, key);
    if (!parsed) return wrong(where, ": expected a key such as ('LM (batch size 10)', 2)");
    const auto alone = partners.is_object() ? partners.find("null") : partners.end();
    if (alone == partners.end()) continue;
    if (!alone->is_number()) return wrong(where, ": null: expected steps per second");
    const double speed = alone->get<double>();
    if (!(speed >= 0 && speed <= most_speed)) return wrong(where, ": null: expected 0 to 10^9 steps per second");
    read[*parsed] = speed;
  }
  return read;
}

result<throughput_table> read_throughputs(io::named_text file, std::string_view wanted) {
  const std::size_t begin = file.text.find_first_not_of(" \t\r\n");
  const bool is_json = begin != std::string_view::npos && file.text[begin] == '{';
  result<throughput_table> read = is_json ? read_json_throughputs(file, wanted) : read_csv_throughputs(file, wanted);
  if (read && read->empty()) {
    return error{status::not_found, fmt::format("{}: no row is of gpu \"{}\"", file.name, base::shown(wanted)), {}};
  }
  return read;
}

/// The published form: no header, twelve fields between tabs. Columns are asked for by the names of our own form.
class tab_file {
 public:
  tab_file(io::named_text file, std::span<const std::string_view> names)
      : faults_(file.name), names_(names), text_(file.text) {
    if (const std::size_t at = std::min(text_.find('\0'), base::find_invalid_utf8(text_)); at < text_.size()) {
      const auto line = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
      faults_.add(static_cast<std::uint32_t>(line), "", "the line is not UTF-8, or contains a NUL character");
    }
  }

  bool next() {
    for (std::string_view line; !failed() && !text_.empty();) {
      ++line_;
      line = text_.substr(0, text_.find('\n'));
      text_.remove_prefix(std::min(line.size() + 1, text_.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) return split(line);
    }
    return false;
  }
  [[nodiscard]] std::string_view text(std::size_t column) const { return fields_[position_of(column)]; }
  std::int64_t integer(std::size_t column, std::int64_t least, std::int64_t most) {
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(text(column).data(), text(column).data() + text(column).size(), value);
    const bool read = fault == std::errc{} && end == text(column).data() + text(column).size();
    if (read && value >= least && value <= most) return value;
    refuse(column, fmt::format("an integer from {} to {}", least, most));
    return least;
  }
  void refuse(std::size_t column, std::string_view what) {
    complain(column, fmt::format("expected {}, found \"{}\"", what, text(column)));
  }
  void complain(std::size_t column, std::string_view fault) { faults_.add(line_, names_[column], fault); }
  [[nodiscard]] std::uint32_t line() const { return line_; }
  [[nodiscard]] bool failed() const { return faults_.failed(); }
  [[nodiscard]] std::string fault() { return faults_.take().message; }

 private:
  static constexpr std::size_t field_count = 12;

  bool split(std::string_view line) {
    std::size_t count = 0;
    for (std::size_t begin = 0; begin <= line.size(); ++count) {
      const std::size_t end = std::min(line.find('\t', begin), line.size());
      if (count < field_count) fields_[count] = line.substr(begin, end - begin);
      begin = end + 1;
    }
    if (count != field_count) {
      faults_.add(line_, "", fmt::format("expected {} fields between tabs, found {}", field_count, count));
    }
    return count == field_count;
  }
  static std::size_t position_of(std::size_t column) {
    // job_type, command, folder, argument of steps, whether it needs data, total_steps, scale_factor, mode, priority,
    // slo, duration_s, arrival_s; jobs have no names, so that of the first column is not asked for.
    constexpr std::array<std::size_t, 7> positions{0, 0, 5, 6, 9, 10, 11};
    return positions[column];
  }

  io::fault_log faults_;
  std::span<const std::string_view> names_;
  std::array<std::string_view, field_count> fields_{};
  std::string_view text_;
  std::uint32_t line_ = 0;
};

enum shockwave_column : unsigned { id, job_type, total_steps, scale_factor, slo, duration, arrival };
constexpr std::array<std::string_view, 7> shockwave_columns{"job", "job_type",   "total_steps", "scale_factor",
                                                            "slo", "duration_s", "arrival_s"};

template <class File>
result<workload> read_rows(basic_trace_rows<File>& rows, const throughput_table& speeds, std::string_view table,
                           const trace_options& options) {
  File& file = rows.file();
  while (rows.next()) {
    job one;
    if constexpr (std::is_same_v<File, tab_file>) {
      one.name = fmt::format("shockwave-{}", rows.number());
    } else {
      one.name = "shockwave-" + rows.name(id);
    }
    one.model = rows.name(job_type);
    one.submit = rows.seconds(arrival);
    one.run_time = rows.seconds(duration);
    one.pods = rows.gpus(scale_factor, options);
    const std::int64_t steps = file.integer(total_steps, 0, max_time);
    constexpr double most_slo = 1e6;
    // So many run times after its arrival; below zero: none.
    if (const double times = number_of(file, slo, -1, most_slo); times >= 0) {
      const std::int64_t allowed =
          nanoseconds_of(times * static_cast<double>(one.run_time) / static_cast<double>(nanoseconds_per_second));
      if (allowed < 0 || allowed > max_time - one.submit) {
        file.refuse(slo, "a deadline within 36 years");
      } else {
        one.deadline = one.submit + allowed;
      }
    }
    if (!speeds.empty()) {
      const auto found = speeds.find({one.model, file.integer(scale_factor, 1, max_pod_gpus)});
      const std::int64_t each = found == speeds.end() ? -1 : nanoseconds_of(1.0 / found->second);
      if (each < 0) {
        file.complain(job_type, fmt::format("{} has no speed for \"{}\" with {} workers on \"{}\"", table, one.model,
                                            file.text(scale_factor), options.gpu));
      } else {
        one.iterations = steps;
        one.iteration_time = each;
      }
    }
    rows.add(std::move(one));
  }
  return rows.take();
}

}  // namespace

result<workload> read_shockwave(io::named_text jobs, io::named_text throughputs, const trace_options& options) {
  if (auto sound = check_options(options); !sound) return sound.take_failure();
  throughput_table speeds;
  if (!throughputs.name.empty()) {
    result<throughput_table> read = read_throughputs(throughputs, options.gpu);
    if (!read) return read.take_failure();
    speeds = std::move(*read);
  }
  if (jobs.text.substr(0, jobs.text.find('\n')).find('\t') != std::string_view::npos) {
    basic_trace_rows<tab_file> rows(jobs, shockwave_columns);
    return read_rows(rows, speeds, throughputs.name, options);
  }
  trace_rows rows(jobs, shockwave_columns);
  rows.need({id, job_type, total_steps, scale_factor, slo, duration, arrival});
  return read_rows(rows, speeds, throughputs.name, options);
}

}  // namespace kaisched::simulation
