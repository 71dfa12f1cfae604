// Any bytes as a scenario: what is read is played, renewed expectations hold, and the cluster survives being written.
#include <string>

#include "files/cluster_file.hpp"
#include "io/scenario/scenario.hpp"
#include "source.hpp"

namespace {

using namespace kaisched;

/// Sizes that make a single input slow say nothing about faults.
bool is_small(const io::scenario& what) {
  constexpr std::uint64_t most_rows = 400;
  std::uint64_t rows = 0;
  for (const io::scenario_step& step : what.steps) {
    const auto* delta = std::get_if<io::scenario_delta>(&step.what);
    if (delta == nullptr) continue;
    for (const table& one : delta->tables) rows += one.rows();
  }
  return rows <= most_rows && what.steps.size() <= 40;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const result<io::scenario> parsed = io::parse_scenario(fuzz::as_text(data, size), "text");
  if (!parsed) {
    fuzz::ensure_message(parsed.failure(), "text");
    return 0;
  }
  if (!is_small(*parsed)) return 0;
  const io::scenario_outcome first = io::play_scenario(*parsed);
  const result<io::scenario> renewed = io::parse_scenario(first.updated, "text");
  fuzz::ensure(renewed.ok(), "renewed expectations can be read");
  const io::scenario_outcome second = io::play_scenario(*renewed);
  fuzz::ensure(second.findings.size() == second.unresolved.size(), "renewed expectations hold");
  fuzz::ensure(second.updated == first.updated, "renewal is done once");
  fuzz::check_cluster_input(io::parse_cluster(parsed->text, "text.ks"), "text.ks");
  return 0;
}
