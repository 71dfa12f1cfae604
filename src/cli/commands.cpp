// A command is a file that defines `add_NAME`, and a line here.
#include "cli/commands.hpp"

#define KAISCHED_COMMANDS(X) \
  X(demo)                    \
  X(run)                     \
  X(explain)                 \
  X(what_if)                 \
  X(gaps)                    \
  X(scale)                   \
  X(federate)                \
  X(serve)                   \
  X(simulate)                \
  X(compare)                 \
  X(import)                  \
  X(report)                  \
  X(check)                   \
  X(test)                    \
  X(minimise)                \
  X(replay)                  \
  X(bisect)                  \
  X(generate)                \
  X(convert)                 \
  X(anonymise)               \
  X(workload)                \
  X(digest)                  \
  X(options)                 \
  X(schema)                  \
  X(completion)              \
  X(version)

namespace kaisched::cli {

#define KAISCHED_X(name) void add_##name(command_list& to);
KAISCHED_COMMANDS(KAISCHED_X)
#undef KAISCHED_X

command_list all_commands() {
  command_list all;
#define KAISCHED_X(name) add_##name(all);
  KAISCHED_COMMANDS(KAISCHED_X)
#undef KAISCHED_X
  return all;
}

}  // namespace kaisched::cli
