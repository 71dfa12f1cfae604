#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <kaisched/schema.hpp>

#include "guard.hpp"
#include "io/column_form.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

/// Texts of a kind of table and of its columns that end with a NUL.
struct column_texts {
  std::string name, unit, fallback, doc;
};
struct kind_texts {
  std::string name, doc;
  std::vector<column_texts> columns;
};

/// By position in the schema. Written once, by whoever asks first, and never changed.
const std::vector<kind_texts>& all_texts() {
  static const std::vector<kind_texts> texts = [] {
    std::vector<kind_texts> list;
    for (const table_info& t : schema()) {
      kind_texts& kind = list.emplace_back(kind_texts{std::string(t.name), std::string(t.doc), {}});
      for (const column_info& c : t.columns) {
        kind.columns.push_back({std::string(c.name), std::string(c.unit), std::string(c.fallback), std::string(c.doc)});
      }
    }
    return list;
  }();
  return texts;
}

const column_info* column_of(std::uint32_t kind, std::uint32_t id) {
  const table_info* const table = schema_of(kind);
  if (table == nullptr) return nullptr;
  const auto at =
      std::find_if(table->columns.begin(), table->columns.end(), [&](const column_info& c) { return c.id == id; });
  return at == table->columns.end() ? nullptr : &*at;
}

}  // namespace

kaisched_status kaisched_kind_info(std::size_t index, kaisched_kind* out, kaisched_error* err) noexcept {
  clear_description(out, sizeof(kaisched_kind));
  return guard(err, KAISCHED_FN_KIND_INFO, [&]() -> result<void> {
    if (auto r = check_description(out, sizeof(kaisched_kind), "the kind"); !r) return r;
    if (index >= schema().size())
      return error{status::not_found, "there are " + std::to_string(schema().size()) + " kinds of tables", {}};
    const table_info& info = schema()[index];
    const kind_texts& texts = all_texts()[index];
    fill_description(
        out, kaisched_kind{out->struct_size, static_cast<std::uint32_t>(info.kind), info.input ? 1U : 0U,
                           static_cast<std::uint32_t>(info.columns.size()), texts.name.c_str(), texts.doc.c_str()});
    return {};
  });
}

kaisched_status kaisched_column_info(std::uint32_t kind, std::size_t index, kaisched_column* out,
                                     kaisched_error* err) noexcept {
  clear_description(out, sizeof(kaisched_column));
  return guard(err, KAISCHED_FN_COLUMN_INFO, [&]() -> result<void> {
    if (auto r = check_description(out, sizeof(kaisched_column), "the column"); !r) return r;
    const table_info* const table = schema_of(kind);
    if (table == nullptr) return error{status::unsupported, "there is no kind of table " + std::to_string(kind), {}};
    if (index >= table->columns.size()) {
      return error{status::not_found,
                   "table '" + std::string(table->name) + "' has " + std::to_string(table->columns.size()) + " columns",
                   {}};
    }
    const column_info& info = table->columns[index];
    const column_texts& texts = all_texts()[static_cast<std::size_t>(table - schema().data())].columns[index];
    fill_description(out, kaisched_column{out->struct_size, info.id, static_cast<std::uint32_t>(info.type),
                                          static_cast<std::uint32_t>(info.shape), info.required ? 1U : 0U,
                                          static_cast<std::uint32_t>(info.refers_to), texts.name.c_str(),
                                          texts.unit.c_str(), texts.fallback.c_str(), texts.doc.c_str()});
    return {};
  });
}

const char* kaisched_value_name(std::uint32_t kind, std::uint32_t column, std::uint64_t value) noexcept {
  const column_info* const info = column_of(kind, column);
  if (info == nullptr) return nullptr;
  const std::span<const std::string_view> names = io::value_names(io::form_of(*info));
  return value < names.size() && !names[value].empty() ? names[value].data() : nullptr;
}

const kaisched_col* kaisched_table_column(const kaisched_table* table, std::uint32_t column) noexcept {
  if (table == nullptr || table->struct_size < sizeof(kaisched_table) || table->columns == nullptr) return nullptr;
  for (std::uint32_t i = 0; i < table->column_count; ++i) {
    if (table->columns[i].id == column) return &table->columns[i];
  }
  return nullptr;
}
