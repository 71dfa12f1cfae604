#include "files/import_text.hpp"

#include "files/yaml_document.hpp"

namespace kaisched::io::importers {

result<imported_policy> import_text(std::string_view text, std::string_view source, scheduler_kind as) {
  return import_configuration(text, source, as, {&parse_yaml, &parse_yaml_stream});
}

}  // namespace kaisched::io::importers
