#include "base/bytes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kaisched::base {

static_assert(std::endian::native == std::endian::little, "digests and files are defined for little-endian machines");

namespace {

template <class T>
void append_value(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class T>
bool take_value(std::string_view& in, T& value) {
  if (in.size() < sizeof value) return false;
  void* const bytes = &value;
  std::copy_n(in.begin(), sizeof value, static_cast<char*>(bytes));
  in.remove_prefix(sizeof value);
  return true;
}

error truncated() { return {status::argument, "the bytes end inside a table or a length in them is wrong", {}}; }

const void* store(stored_table& t, std::string_view bytes) {
  std::vector<std::uint64_t>& words = t.storage.emplace_back((bytes.size() + 7) / 8 + 1);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), bytes.size());
  return words.data();
}

bool take_column(std::string_view& in, std::uint64_t rows, stored_table& t) {
  column_view c;
  std::uint32_t type = 0;
  std::uint64_t values = 0;
  if (!take_value(in, c.id) || !take_value(in, type) || !take_value(in, c.width) || !take_value(in, values))
    return false;
  c.type = static_cast<column_type>(type);
  if (type < 1 || type > 8) return false;
  if (is_ragged(c.type)) {
    if (in.size() / sizeof(std::uint32_t) < rows + 1) return false;
    c.offsets = static_cast<const std::uint32_t*>(store(t, in.substr(0, (rows + 1) * sizeof(std::uint32_t))));
    in.remove_prefix((rows + 1) * sizeof(std::uint32_t));
    if (c.offsets[rows] != values) return false;
  } else if (c.width == 0 || values / c.width != rows || values % c.width != 0) {
    return false;
  }
  const std::size_t size = value_size(c.type);
  if (in.size() / size < values) return false;
  c.data = store(t, in.substr(0, values * size));
  in.remove_prefix(values * size);
  t.columns.push_back(c);
  return true;
}

}  // namespace

void append_table(std::string& out, const table_view& view) {
  append_value(out, view.kind);
  append_value(out, view.op);
  append_value(out, view.rows);
  append_value(out, view.column_count);
  for (std::uint32_t i = 0; i < view.column_count; ++i) {
    const column_view& c = view.columns[i];
    const bool ragged = is_ragged(c.type);
    const std::uint64_t values = ragged ? c.offsets[view.rows] : view.rows * c.width;
    append_value(out, c.id);
    append_value(out, static_cast<std::uint32_t>(c.type));
    append_value(out, c.width);
    append_value(out, values);
    if (ragged) {
      const void* const offsets = c.offsets;
      out.append(static_cast<const char*>(offsets), (view.rows + 1) * sizeof(std::uint32_t));
    }
    if (values > 0) out.append(static_cast<const char*>(c.data), values * value_size(c.type));
  }
}

result<stored_table> take_table(std::string_view& in) {
  stored_table t;
  std::uint32_t columns = 0;
  if (!take_value(in, t.view.kind) || !take_value(in, t.view.op) || !take_value(in, t.view.rows) ||
      !take_value(in, columns)) {
    return truncated();
  }
  if (t.view.rows > in.size() || columns > 4096) return truncated();  // every row has at least one byte
  for (std::uint32_t i = 0; i < columns; ++i) {
    if (!take_column(in, t.view.rows, t)) return truncated();
  }
  t.view.column_count = columns;
  t.view.columns = t.columns.data();
  return t;
}

}  // namespace kaisched::base
