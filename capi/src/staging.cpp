#include "staging.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <string>

#include "guard.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::size_t largest_column = std::size_t{1} << 40U;  ///< bytes; what is more is a mistake

std::string named(const table_info& of, const column_info& column) {
  return "column '" + std::string(column.name) + "' of table '" + std::string(of.name) + "'";
}

/// The column of a kind of table, or why there is none.
result<const column_info*> column_of(const table_info& of, std::uint32_t id) {
  const auto at = std::find_if(of.columns.begin(), of.columns.end(), [&](const column_info& c) { return c.id == id; });
  if (at == of.columns.end()) {
    return error{status::unsupported, "table '" + std::string(of.name) + "' has no column " + std::to_string(id), {}};
  }
  return &*at;
}

/// The place of a column of texts.
result<staged_place> find_texts(kaisched_staging& staging, std::uint32_t id) {
  result<staged_place> found = staging.find(id, true);
  if (found && found->type != column_type::string)
    return bad_argument(named(*staging.kind, *found->info) + " has lists: see kaisched_staging_ragged");
  return found;
}

constexpr std::size_t most_bytes = std::numeric_limits<std::uint32_t>::max();  ///< what offsets can say
error too_long(const kaisched_staging& staging, const column_info& column) {
  return {status::limit, named(*staging.kind, column) + " would have more than 4 GiB", {}};
}

}  // namespace

result<staged_place> kaisched_staging::find(std::uint32_t id, bool ragged) {
  result<const column_info*> info = column_of(*kind, id);
  if (!info) return info.take_failure();
  const bool names = (*info)->type == column_type::string && (*info)->refers_to != entity_kind::none;
  const column_type type = names && !ragged ? column_type::u64 : (*info)->type;
  if (is_ragged(type) != ragged) {
    return bad_argument(named(*kind, **info) +
                        (ragged ? " has numbers: see kaisched_staging_numbers" : " has texts or lists"));
  }
  const auto at = std::find_if(columns.begin(), columns.end(),
                               [&](const std::unique_ptr<staged_column>& c) { return c->info->id == id; });
  if (at == columns.end()) return staged_place{*info, type, nullptr};
  if ((*at)->type != type) return bad_argument(named(*kind, **info) + " has names and identifiers");
  return staged_place{*info, type, at->get()};
}

void kaisched_staging::put(staged_column&& filled) {
  const auto at = std::find_if(columns.begin(), columns.end(),
                               [&](const std::unique_ptr<staged_column>& c) { return c->info == filled.info; });
  if (at != columns.end()) {
    **at = std::move(filled);
  } else {
    columns.push_back(std::make_unique<staged_column>(std::move(filled)));
  }
}

kaisched_status kaisched_staging_create(std::uint32_t kind, std::uint32_t op, std::uint64_t rows,
                                        kaisched_staging** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_STAGING_CREATE, [&]() -> result<void> {
    if (auto r = require({{out, "out"}}); !r) return r;
    const table_info* const info = schema_of(kind);
    if (info == nullptr || !info->input)
      return error{status::unsupported, "there is no kind of input table " + std::to_string(kind), {}};
    if (op < KAISCHED_OP_ADD || op > KAISCHED_OP_REMOVE)
      return bad_argument("op " + std::to_string(op) + " is not what an input table does");
    if (rows >= largest_column) return error{status::limit, "a table of " + std::to_string(rows) + " rows", {}};
    auto made = std::make_unique<kaisched_staging>();
    made->kind = info;
    made->op = op;
    made->rows = rows;
    *out = made.release();
    return {};
  });
}

void kaisched_staging_destroy(kaisched_staging* staging) noexcept { delete staging; }

kaisched_status kaisched_staging_clear(kaisched_staging* staging, std::uint64_t rows, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_STAGING_CLEAR, [&]() -> result<void> {
    if (auto r = require({{staging, "staging"}}); !r) return r;
    if (rows >= largest_column) return error{status::limit, "a table of " + std::to_string(rows) + " rows", {}};
    staging->columns.clear();
    staging->rows = rows;
    return {};
  });
}

kaisched_status kaisched_staging_numbers(kaisched_staging* staging, std::uint32_t column, std::uint32_t type,
                                         std::uint32_t width, void** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_STAGING_NUMBERS, [&]() -> result<void> {
    if (auto r = require({{staging, "staging"}, {out, "out"}}); !r) return r;
    if (width == 0) return bad_argument("width is 0");
    const result<staged_place> found = staging->find(column, false);
    if (!found) return found.failure();
    const std::string name = named(*staging->kind, *found->info);
    if (type != static_cast<std::uint32_t>(found->type)) {
      return bad_argument(name + " has the type " + std::string(column_type_name(found->type)) + ", not number " +
                          std::to_string(type));
    }
    if (found->present != nullptr && found->present->width != width)
      return bad_argument(name + " has width " + std::to_string(found->present->width) + " already");
    const std::size_t each = value_size(found->type) * width;
    if (staging->rows > largest_column / each) return error{status::limit, name + " would have too many values", {}};
    if (found->present == nullptr) {
      const std::size_t words = (each * staging->rows + 7) / 8 + 1;
      staging->put({found->info, found->type, width, std::vector<std::uint64_t>(words, 0), 0, {}});
    }
    *out = staging->find(column, false)->present->words.data();
    return {};
  });
}

kaisched_status kaisched_staging_ragged(kaisched_staging* staging, std::uint32_t column, const void* data,
                                        const std::uint32_t* offsets, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_STAGING_RAGGED, [&]() -> result<void> {
    if (auto r = require({{staging, "staging"}, {offsets, "offsets"}}); !r) return r;
    const result<staged_place> found = staging->find(column, true);
    if (!found) return found.failure();
    const std::size_t rows = staging->rows;
    if (offsets[0] != 0) return bad_argument(named(*staging->kind, *found->info) + ": the first offset is not 0");
    if (!std::is_sorted(offsets, offsets + rows + 1))
      return bad_argument(named(*staging->kind, *found->info) + ": offsets do not ascend");
    const std::size_t bytes = offsets[rows] * value_size(found->type);
    if (data == nullptr && bytes > 0) return bad_argument("data is NULL");
    for (std::size_t row = 0; row < rows && found->type == column_type::string_list; ++row) {
      if (offsets[row] != offsets[row + 1] && static_cast<const char*>(data)[offsets[row + 1] - 1] != '\0')
        return bad_argument(named(*staging->kind, *found->info) + ", row " + std::to_string(row) +
                            ": every element of a list ends with a NUL");
    }
    std::vector<std::uint64_t> words((bytes + 7) / 8, 0);
    if (bytes > 0) std::memcpy(words.data(), data, bytes);
    staging->put({found->info, found->type, 0, std::move(words), bytes, {offsets, offsets + rows + 1}});
    return {};
  });
}

kaisched_status kaisched_staging_text(kaisched_staging* staging, std::uint32_t column, const char* text,
                                      std::size_t size, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_STAGING_TEXT, [&]() -> result<void> {
    if (auto r = require({{staging, "staging"}}); !r) return r;
    if (text == nullptr && size > 0) return bad_argument("text is NULL");
    const result<staged_place> found = find_texts(*staging, column);
    if (!found) return found.failure();
    staged_column fresh{found->info, found->type, 0, {}, 0, {0}};
    staged_column& one = found->present != nullptr ? *found->present : fresh;
    if (one.offsets.size() > staging->rows)
      return error{status::limit, named(*staging->kind, *one.info) + " has all its rows already", {}};
    if (size > most_bytes - one.bytes) return too_long(*staging, *one.info);
    const std::size_t end = one.bytes + size;
    if (end > one.words.size() * 8) one.words.resize(std::max((end + 7) / 8, one.words.size() * 2), 0);
    one.offsets.push_back(static_cast<std::uint32_t>(end));
    if (size > 0) std::memcpy(reinterpret_cast<char*>(one.words.data()) + one.bytes, text, size);
    one.bytes = end;
    if (found->present == nullptr) staging->put(std::move(fresh));
    return {};
  });
}

kaisched_status kaisched_staging_texts(kaisched_staging* staging, std::uint32_t column, const char* texts,
                                       std::size_t size, kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_STAGING_TEXTS, [&]() -> result<void> {
    if (auto r = require({{staging, "staging"}}); !r) return r;
    if (texts == nullptr && size > 0) return bad_argument("texts is NULL");
    const result<staged_place> found = find_texts(*staging, column);
    if (!found) return found.failure();
    if (size > most_bytes) return too_long(*staging, *found->info);
    const std::string_view all(texts, size);
    const auto count = static_cast<std::uint64_t>(std::count(all.begin(), all.end(), '\0'));
    if (count != staging->rows || (!all.empty() && all.back() != '\0')) {
      return bad_argument(named(*staging->kind, *found->info) + " has " + std::to_string(staging->rows) +
                          " rows, not " + std::to_string(count) +
                          (all.empty() || all.back() == '\0' ? "" : " and a text without end"));
    }
    std::vector<std::uint64_t> words((size - count + 7) / 8, 0);
    std::vector<std::uint32_t> offsets{0};
    offsets.reserve(count + 1);
    std::size_t end = 0;
    for (std::size_t from = 0; from < size;) {
      const std::size_t length = all.find('\0', from) - from;
      std::memcpy(reinterpret_cast<char*>(words.data()) + end, texts + from, length);
      end += length;
      from += length + 1;
      offsets.push_back(static_cast<std::uint32_t>(end));
    }
    staging->put({found->info, found->type, 0, std::move(words), end, std::move(offsets)});
    return {};
  });
}

kaisched_status kaisched_staging_table(kaisched_staging* staging, const kaisched_table** out,
                                       kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_STAGING_TABLE, [&]() -> result<void> {
    if (auto r = require({{staging, "staging"}, {out, "out"}}); !r) return r;
    std::vector<kaisched_col> views;
    for (const std::unique_ptr<staged_column>& one : staging->columns) {
      const bool ragged = is_ragged(one->type);
      if (ragged && one->offsets.size() != staging->rows + 1) {
        return bad_argument(named(*staging->kind, *one->info) + " has " + std::to_string(one->offsets.size() - 1) +
                            " of " + std::to_string(staging->rows) + " rows");
      }
      views.push_back({one->info->id, static_cast<std::uint32_t>(one->type), one->width, 0, one->words.data(),
                       ragged ? one->offsets.data() : nullptr});
    }
    staging->views = std::move(views);
    staging->view = {sizeof(kaisched_table),
                     static_cast<std::uint32_t>(staging->kind->kind),
                     staging->op,
                     static_cast<std::uint32_t>(staging->views.size()),
                     staging->rows,
                     staging->views.data()};
    *out = &staging->view;
    return {};
  });
}
