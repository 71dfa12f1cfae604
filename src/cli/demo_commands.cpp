// The commands of the program that shows the library and does nothing else: it is built in a part of the time.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/loaded_cluster.hpp"
#include "io/cluster_json.hpp"

namespace kaisched::cli {

void add_demo(command_list& to);

value_form cluster_file() { return file_name({"json"}); }

command_list all_commands() {
  command_list all;
  add_demo(all);
  return all;
}

result<std::string> cluster_text(const std::string& path, const snapshot& of, std::int64_t now) {
  if (path == "-" || path.ends_with(".json")) return io::format_cluster_json(of, now);
  return error{status::argument, fmt::format("{}: the demo writes JSON; build all of kaisched for other forms", path), {}};
}

}  // namespace kaisched::cli
