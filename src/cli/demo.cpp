// The command that shows what the library does.
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/version.hpp>

#include "cli/console.hpp"
#include "cli/invented.hpp"
#include "cli/loaded_cluster.hpp"
#include "cli/outcome.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"

namespace kaisched::cli {

namespace {

struct demo_arguments {
  policy_arguments policy;
  invented_arguments cluster;
  std::string out;
};

result<void> write_cluster(const console& to, const loaded_cluster& from, const std::string& path) {
  const result<std::string> text = cluster_text(path, from.state, from.now);
  if (!text) return text.failure();
  return to.write(path, *text);
}

int demo(const demo_arguments& told, console& to) {
  if (auto free = to.claim("--out", told.out); !free) return to.fail(free.failure(), exit_usage);
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, invent_steps + decide_steps(*with));
  const result<loaded_cluster> loaded = invent_cluster(told.cluster, shown);
  if (!loaded) return to.fail(loaded.failure());
  const result<decided> ran = decide(*with, loaded->state, loaded->now, shown);
  if (!ran) return to.fail(ran.failure());
  shown.finish();
  if (!told.out.empty()) {
    if (auto written = write_cluster(to, *loaded, told.out); !written) {
      return to.fail(written.failure(), exit_failure);
    }
  }
  if (to.shows_report()) {
    const terminal& out = to.out();
    print_report(out, ran->figures,
                 fmt::format("kaisched {}: an invented cluster, seed {}", version_string, told.cluster.seed),
                 report_detail::charts);
    out.line();
    out.line("Next: kaisched demo --out cluster.json");
    out.line("      kaisched run cluster.json --placement spread --charts");
    out.line("      kaisched explain cluster.json speech");
  }
  return to.finish(report_json(ran->figures));
}

}  // namespace

void add_demo(command_list& to) {
  command& c = to.add("demo", group::start, "Invent a contended cluster, decide, and draw what happened");
  auto& told = c.keep<demo_arguments>();
  told.cluster.load = 1.3;
  add_invented_arguments(c, told.cluster);
  add_policy_arguments(c, told.policy);
  c.heading("Output");
  c.option("--out", &told.out, cluster_file(), "Also write the cluster");
  c.add_example("kaisched demo");
  c.add_example("kaisched demo --gpus 512 --placement spread");
  c.runs([&told](console& out) { return demo(told, out); });
}

}  // namespace kaisched::cli
