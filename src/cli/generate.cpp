// The command that writes an invented cluster.
#include <cstdio>
#include <string>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/terminal.hpp"
#include "io/cluster_json.hpp"
#include "io/files.hpp"

namespace kaisched::cli {

int generate(const synthetic_arguments& arguments) {
  const result<loaded_cluster> loaded = invent_cluster(arguments);
  if (!loaded) {
    print_error(loaded.failure().message);
    return exit_usage;
  }
  const result<std::string> text = io::format_cluster_json(loaded->state, loaded->now);
  if (!text) {
    print_error(text.failure().message);
    return exit_failure;
  }
  if (auto written = io::write_file(arguments.out, *text); !written) {
    print_error(written.failure().message);
    return exit_failure;
  }
  return exit_ok;
}

}  // namespace kaisched::cli
