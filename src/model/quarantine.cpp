#include "model/quarantine.hpp"

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "model/schema_writer.hpp"
#include "model/table_reader.hpp"

namespace kaisched::model {

namespace {

std::string_view name_of(table_kind kind) { return schema_of(static_cast<std::uint32_t>(kind))->name; }

result<status> status_of(const table_reader& t, std::uint64_t row) {
  const std::string_view name = t.text(col::quarantine_status, row);
#define KAISCHED_X(code, upper, number, text) \
  if (name == #code) return status::code;
  KAISCHED_STATUS_MAP(KAISCHED_X)
#undef KAISCHED_X
  return t.fail(status::argument, row, col::quarantine_status, "'" + std::string(name) + "' is no status");
}

}  // namespace

std::string clean_name(std::string_view name) {
  return base::cleaned(name.substr(0, base::utf8_length_below(name, max_name_size)));
}

std::string text_of(const quarantine_key& key) {
  std::string text(name_of(key.kind));
  text += ' ';
  if (!key.owner.empty()) text.append(key.owner).append("/");
  return text + key.name;
}

table export_quarantine(const quarantine_list& list) {
  schema_writer w(table_kind::quarantine);
  for (const auto& [key, entry] : list) {
    w.put(col::quarantine_kind, name_of(key.kind));
    w.put(col::quarantine_owner, std::string_view(key.owner));
    w.put(col::quarantine_name, std::string_view(key.name));
    w.put(col::quarantine_column, std::string_view(entry->column));
    w.put(col::quarantine_status, status_name(entry->code));
    w.put(col::quarantine_text, std::string_view(entry->text));
    w.put(col::quarantine_because_of, std::string_view(entry->because_of));
    w.put_flag(col::quarantine_present, entry->present);
  }
  return w.take();
}

result<quarantine_list> read_quarantine(const table_view& view) {
  result<table_reader> opened = table_reader::open_output(view);
  if (!opened) return opened.failure();
  const table_reader& t = *opened;
  quarantine_list list;
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    const table_info* kind = schema_of(t.text(col::quarantine_kind, row));
    if (kind == nullptr || !kind->input) {
      return t.fail(status::argument, row, col::quarantine_kind, "is no kind of input table");
    }
    result<status> code = status_of(t, row);
    if (!code) return code.failure();
    quarantine_key key{kind->kind, std::string(t.text(col::quarantine_owner, row)),
                       std::string(t.text(col::quarantine_name, row))};
    quarantine_entry entry;
    entry.column = t.text(col::quarantine_column, row);
    entry.code = *code;
    entry.text = t.text(col::quarantine_text, row);
    entry.because_of = t.text(col::quarantine_because_of, row);
    entry.present = t.u8(col::quarantine_present, row) != 0;
    list.insert_or_assign(std::move(key), std::make_shared<const quarantine_entry>(std::move(entry)));
  }
  return list;
}

}  // namespace kaisched::model
