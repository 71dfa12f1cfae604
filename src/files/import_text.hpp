#pragma once
/// @file
/// Configurations of other schedulers as users have them: in YAML, in JSON, as a slurm.conf.

#include <string_view>

#include <kaisched/result.hpp>

#include "io/importers/importers.hpp"

namespace kaisched::io::importers {

/// As `import_configuration`, of YAML or JSON, with YAML in ConfigMaps.
[[nodiscard]] result<imported_policy> import_text(std::string_view text, std::string_view source, scheduler_kind as);

}  // namespace kaisched::io::importers
