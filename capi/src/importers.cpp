#include "io/importers/importers.hpp"

#include <string>
#include <string_view>

#include "guard.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

kaisched_status kaisched_import_configuration(const char* scheduler, const char* text, std::size_t size, char* buffer,
                                              std::size_t capacity, std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_IMPORT_CONFIGURATION, [&]() -> result<void> {
    if (text == nullptr && size > 0) return bad_argument("text is NULL");
    const result<io::importers::scheduler_kind> kind =
        io::importers::scheduler_kind_named(scheduler == nullptr ? std::string_view{} : scheduler);
    if (!kind) return kind.failure();
    const result<io::importers::imported_policy> made = io::importers::import_configuration(
        size == 0 ? std::string_view{} : std::string_view(text, size), "text", *kind, io::importers::json_syntax);
    if (!made) return made.failure();
    return deliver(io::importers::format_json(*made), true, buffer, capacity, needed);
  });
}
