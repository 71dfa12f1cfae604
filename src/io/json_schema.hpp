#pragma once
/// @file
/// JSON Schema documents (draft 2020-12) of the formats, made from the schema of tables. They describe the JSON form;
/// the YAML form of a cluster is the same document. docs/schema has them as files.

#include <string>

namespace kaisched::io {

/// Of `kaisched-cluster/1`: what the reader accepts, but for names, whose meaning only the whole cluster shows.
[[nodiscard]] std::string json_schema_of_cluster();
/// Of `kaisched-decisions/1`.
[[nodiscard]] std::string json_schema_of_decisions();

}  // namespace kaisched::io
