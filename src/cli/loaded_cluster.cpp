#include "cli/loaded_cluster.hpp"

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "cli/terminal.hpp"

namespace kaisched::cli {

std::int64_t count_left_out(const snapshot& of) {
  const result<table> rows = of.to_table(table_kind::quarantine);
  return rows ? static_cast<std::int64_t>(rows->rows()) : 0;
}

std::string left_out_sentence(std::int64_t objects) {
  return fmt::format("{} of the input {} left out; kaisched check says why", counted(objects, "object"),
                     objects == 1 ? "is" : "are");
}

}  // namespace kaisched::cli
