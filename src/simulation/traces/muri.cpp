// Muri: iterations and how long one takes.
#include <fmt/format.h>

#include "base/int128.hpp"
#include "simulation/traces/trace_rows.hpp"

namespace kaisched::simulation {

namespace {

/// The simulator of Muri lets every iteration take 1.5 % longer than the file says; its published results follow from
/// that. Nanoseconds of what the file calls a millisecond:
constexpr std::int64_t muri_millisecond = 1'015'000;

}  // namespace

result<workload> read_muri(io::named_text jobs, const trace_options& options) {
  enum column : unsigned { id, num_gpu, submit, iterations, model, iter_ms, submit_time, model_name, iteration_time };
  constexpr std::array<std::string_view, 9> header{"job_id",  "num_gpu",     "submit_ms",  "iterations",    "model",
                                                   "iter_ms", "submit_time", "model_name", "iteration_time"};
  constexpr std::int64_t nanoseconds_per_millisecond = 1'000'000;
  if (auto sound = check_options(options); !sound) return sound.take_failure();
  trace_rows rows(jobs, header);
  io::csv_file& csv = rows.file();
  rows.need({id, num_gpu, iterations});
  const std::size_t when = rows.either(submit_time, submit);
  const std::size_t what = rows.either(model_name, model);
  const std::size_t each = rows.either(iteration_time, iter_ms);
  while (rows.next()) {
    job one;
    one.name = "muri-" + rows.name(id);
    one.model = rows.text(what);
    one.submit = rows.time(when, nanoseconds_per_millisecond);
    one.iterations = csv.integer(iterations, 0, max_time);
    one.iteration_time = rows.time(each, muri_millisecond);
    const base::int128 work = base::int128{one.iterations} * one.iteration_time;
    if (work > max_time) {
      csv.complain(iterations,
                   fmt::format("{} of {} ms take more than 73 years", csv.text(iterations), csv.text(each)));
    }
    one.run_time = static_cast<std::int64_t>(work > max_time ? 0 : work);
    one.pods = rows.gpus(num_gpu, options);
    rows.add(std::move(one));
  }
  return rows.take();
}

}  // namespace kaisched::simulation
