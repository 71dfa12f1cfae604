#include "benchmarks/shockwave/batch_sizes.hpp"

#include <algorithm>
#include <array>

namespace kaisched::bench::shockwave {

namespace {

constexpr std::array models{
    model_facts{"LM", 59'675, 5, 80},
    model_facts{"Recommendation", 117'907, 512, 8192},
    model_facts{"ResNet-18", 50'000, 16, 256},
    model_facts{"ResNet-50", 100'000, 16, 128},
    model_facts{"Transformer", 10'000, 16, 128},  // whose batch size no mode changes
};
constexpr std::string_view unchanging = "Transformer";

/// Epochs at which the batch size doubles; 0: never.
struct growth {
  std::string_view model;
  std::int64_t batch;
  std::int64_t gpus;
  std::array<std::int64_t, 4> at;
};
/// Measured once by the authors of the benchmark, with the noise of the gradients as the signal.
constexpr std::array growths{
    growth{"LM", 5, 1, {31, 41, 61, 71}},
    growth{"LM", 5, 2, {31, 51, 61, 71}},
    growth{"LM", 5, 4, {11, 31, 71, 91}},
    growth{"LM", 10, 1, {11, 21, 41}},
    growth{"LM", 10, 2, {11, 31, 41}},
    growth{"LM", 10, 4, {11, 31, 61}},
    growth{"LM", 20, 1, {11, 41}},
    growth{"LM", 20, 2, {31, 41}},
    growth{"LM", 20, 4, {11, 61}},
    growth{"LM", 40, 1, {11}},
    growth{"LM", 40, 2, {11}},
    growth{"LM", 40, 4, {61}},
    growth{"Recommendation", 512, 1, {21, 41, 71, 91}},
    growth{"Recommendation", 1024, 1, {21, 51, 91}},
    growth{"Recommendation", 2048, 1, {21, 41}},
    growth{"Recommendation", 4096, 1, {41}},
    growth{"ResNet-18", 16, 1, {31, 41, 51, 71}},
    growth{"ResNet-18", 16, 2, {21, 31, 91, 111}},
    growth{"ResNet-18", 16, 4, {11, 21, 81, 91}},
    growth{"ResNet-18", 32, 1, {21, 31, 51}},
    growth{"ResNet-18", 32, 2, {11, 21, 41}},
    growth{"ResNet-18", 32, 4, {21, 31, 61}},
    growth{"ResNet-18", 64, 1, {11, 31}},
    growth{"ResNet-18", 64, 2, {21, 41}},
    growth{"ResNet-18", 64, 4, {11, 61}},
    growth{"ResNet-18", 128, 1, {11}},
    growth{"ResNet-18", 128, 2, {41}},
    growth{"ResNet-18", 128, 4, {11}},
    growth{"ResNet-50", 32, 2, {101, 111}},
    growth{"ResNet-50", 32, 4, {131, 221}},
    growth{"ResNet-50", 64, 1, {101}},
    growth{"ResNet-50", 64, 2, {81}},
    growth{"ResNet-50", 64, 4, {191}},
};

constexpr std::int64_t whole_parts(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

/// Of a job with mode `gns` that has so many epochs. What is odd is the benchmark's: a job that is shorter than its
/// first growth never grows, and after a second growth the last epoch is planned with the size of the first.
std::int64_t grown_batch(const trace_job& job, std::int64_t epochs, std::int64_t epoch) {
  const auto* const found = std::find_if(growths.begin(), growths.end(), [&](const growth& one) {
    return one.model == job.model && one.batch == job.batch && one.gpus == job.gpus;
  });
  if (found == growths.end() || epochs <= found->at[0]) return job.batch;
  int times = 0;
  for (const std::int64_t at : found->at) times += at > 0 && epoch >= at ? 1 : 0;
  if (times > 1 && epoch == epochs - 1) times = 0;
  return std::min(job.batch << times, find_model(job.model)->largest_batch);
}

/// Whether Accordion keeps the first batch size at an epoch; `planned`: for the plan, which knows more such phases.
bool is_critical(const trace_job& job, std::int64_t epoch, bool planned) {
  const auto within = [&](std::int64_t first, std::int64_t end) { return first <= epoch && epoch < end; };
  if (job.model == "ResNet-18") {
    const std::int64_t first = job.batch == 256 ? 20 : 10;
    return within(0, first) || within(150, 160) || within(250, 260);
  }
  if (job.model == "ResNet-50") return epoch % 30 < 10 && !(planned && epoch >= 600);
  if (job.model == "LM") return within(0, 10);
  const std::int64_t first = job.batch <= 1024 ? 30 : job.batch == 2048 ? 40 : 10;
  return within(0, first) || (planned && (within(60, 70) || within(80, 90)));
}

std::int64_t planned_batch(const trace_job& job, const model_facts& model, std::int64_t epochs, std::int64_t epoch) {
  if (job.mode == adaptation::none || job.model == unchanging) return job.batch;
  if (job.mode == adaptation::gns) return grown_batch(job, epochs, epoch);
  const bool early = static_cast<double>(epoch) <= static_cast<double>(epochs) * 0.3;
  return early || is_critical(job, epoch, true) ? job.batch : model.largest_batch;
}

}  // namespace

const model_facts* find_model(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(models.begin(), models.end(), [&](const model_facts& one) { return one.name == name; });
  return found == models.end() ? nullptr : found;
}

std::int64_t epochs_of(std::int64_t steps, std::int64_t samples, std::int64_t batch) noexcept {
  return whole_parts(steps, whole_parts(samples, batch));
}

std::optional<double> planned_time(const trace_job& job, const speed_table& speeds) {
  const model_facts& model = *find_model(job.model);
  const std::int64_t epochs = epochs_of(job.steps, model.samples, job.batch);
  double sum = 0;
  for (std::int64_t epoch = 0; epoch < epochs; ++epoch) {
    const std::int64_t batch = planned_batch(job, model, epochs, epoch);
    const std::optional<double> speed = speeds.find(job.model, batch, job.gpus);
    if (!speed) return std::nullopt;
    sum += static_cast<double>(model.samples) / static_cast<double>(batch) / *speed;
  }
  return sum;
}

batch_change wanted_change(const trace_job& job, const batch_state& now) {
  constexpr std::int64_t planned_ahead = 760;  // epochs for which growth is known
  const model_facts& model = *find_model(job.model);
  if (job.mode == adaptation::none || job.model == unchanging) return batch_change::none;
  const std::int64_t epoch = epochs_of(now.done, model.samples, now.batch);
  if (job.mode == adaptation::gns) {
    const std::int64_t epochs = std::max(planned_ahead, epoch + 2);
    const bool grows = std::max(grown_batch(job, epochs, epoch), grown_batch(job, epochs, epoch + 1)) > now.batch;
    return grows && now.batch != model.largest_batch ? batch_change::larger : batch_change::none;
  }
  const bool critical = is_critical(job, epoch, false);
  if (now.batch == job.batch && !critical && now.batch != model.largest_batch) return batch_change::larger;
  if (now.batch != job.batch && critical && now.batch != model.smallest_batch) return batch_change::smaller;
  return batch_change::none;
}

batch_state changed(const trace_job& job, const batch_state& now, batch_change how, const speed_table& speeds) {
  const model_facts& model = *find_model(job.model);
  if (how == batch_change::none || job.batch == model.largest_batch) return now;
  const std::int64_t batch = job.mode == adaptation::gns   ? 2 * now.batch
                             : how == batch_change::larger ? model.largest_batch
                                                           : job.batch;
  const std::optional<double> speed = speeds.find(job.model, batch, job.gpus);
  if (!speed) return now;
  const std::int64_t epochs = epochs_of(now.steps, model.samples, now.batch);
  std::int64_t steps = whole_parts(now.steps * now.batch, batch);
  if (epochs_of(steps, model.samples, batch) != epochs) steps = whole_parts(model.samples, batch) * epochs;
  return {batch, steps, epochs_of(now.done, model.samples, now.batch) * whole_parts(model.samples, batch), *speed};
}

}  // namespace kaisched::bench::shockwave
