#include "io/csv_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>
#include <utility>

#include <csv.h>
#include <fmt/format.h>

#include "base/nearest.hpp"
#include "base/utf8.hpp"
#include "io/column_form.hpp"
#include "io/fault_log.hpp"

namespace kaisched::io {

namespace {

/// A text that ends with a line end, which the library needs to find the end of the last line.
class text_source final : public ::io::ByteSourceBase {
 public:
  explicit text_source(std::string_view text) : text_(text), ends_(text.ends_with('\n')) {}

  int read(char* buffer, int size) override {
    const std::size_t count = std::min(text_.size(), static_cast<std::size_t>(size));
    std::copy_n(text_.begin(), count, buffer);
    text_.remove_prefix(count);
    if (ends_ || !text_.empty() || count == static_cast<std::size_t>(size)) return static_cast<int>(count);
    buffer[count] = '\n';
    ends_ = true;
    return static_cast<int>(count) + 1;
  }

 private:
  std::string_view text_;
  bool ends_;
};

std::string_view trimmed(std::string_view field) {
  const auto is_around = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '"'; };
  while (!field.empty() && is_around(field.front())) field.remove_prefix(1);
  while (!field.empty() && is_around(field.back())) field.remove_suffix(1);
  return field;
}

}  // namespace

/// The library wants the number of columns at compile time; the names that are left over match no header.
struct csv_file::reader {
  using columns = std::make_index_sequence<most_columns>;

  reader(std::string_view text, std::span<const std::string_view> wanted)
      : csv("", std::make_unique<text_source>(text)) {
    for (std::size_t i = 0; i < most_columns; ++i) {
      names[i] = i < wanted.size() ? std::string(wanted[i]) : fmt::format("\n{}", i);
    }
  }

  void read_header() { read_header(columns{}); }
  bool read_row() {
    cells.fill(nullptr);
    return read_row(columns{});
  }

  template <std::size_t... I>
  void read_header(std::index_sequence<I...>) {
    csv.read_header(::io::ignore_extra_column | ::io::ignore_missing_column, names[I]...);
  }
  template <std::size_t... I>
  bool read_row(std::index_sequence<I...>) {
    return csv.read_row(cells[I]...);
  }

  ::io::CSVReader<most_columns, ::io::trim_chars<' ', '\t'>, ::io::double_quote_escape<',', '"'>,
                  ::io::throw_on_overflow, ::io::empty_line_comment>
      csv;
  std::array<std::string, most_columns> names;
  std::array<const char*, most_columns> cells{};
};

csv_file::csv_file(named_text file, std::span<const std::string_view> names)
    : name_(file.name), names_(names), found_(names.size(), false), cells_(names.size()) {
  if (!check_characters(file.text)) return;
  reader_ = std::make_unique<reader>(file.text, names);
  read_header_names(file.text);
  guarded([&] {
    reader_->read_header();
    return true;
  });
  for (std::size_t i = 0; i < names.size(); ++i) found_[i] = !failed() && reader_->csv.has_column(reader_->names[i]);
}

csv_file::~csv_file() = default;

bool csv_file::check_characters(std::string_view text) {
  const std::size_t at = std::min(text.find('\0'), base::find_invalid_utf8(text));
  if (at == std::string_view::npos) return true;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
  add_fault(fmt::format("{}:{}: {}", name_, line,
                        text[at] == '\0' ? "the line contains a NUL character" : "the line is not UTF-8"));
  return false;
}

/// For messages alone, so commas inside of quotes do not matter.
void csv_file::read_header_names(std::string_view text) {
  if (constexpr std::string_view mark = "\xEF\xBB\xBF"; text.starts_with(mark)) text.remove_prefix(mark.size());
  text = text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  text = text.substr(0, text.find('\n'));
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    header_.emplace_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

void csv_file::require(std::size_t column) {
  if (failed() || has(column)) return;
  const std::vector<std::string_view> header(header_.begin(), header_.end());
  const std::string_view nearest = base::nearest_name(names_[column], header);
  const bool is_free = std::find(names_.begin(), names_.end(), nearest) == names_.end();
  add_fault(fmt::format("{}:1: the header has no column \"{}\"; {}", name_, names_[column],
                        !nearest.empty() && is_free ? fmt::format("is it \"{}\"?", nearest)
                                                    : fmt::format("known: {}", fmt::join(names_, ", "))));
}

void csv_file::refuse_others() {
  for (const std::string& name : header_) {
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) continue;
    add_fault(fmt::format("{}:1: no column is called \"{}\"; {}", name_, name, suggestion(name, names_)));
  }
}

bool csv_file::next() {
  std::fill(cells_.begin(), cells_.end(), std::string_view{});
  if (failed() || !guarded([&] { return reader_->read_row(); })) return false;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (reader_->cells[i] != nullptr) cells_[i] = reader_->cells[i];
  }
  return true;
}

std::int64_t csv_file::integer(std::size_t column, std::int64_t least, std::int64_t most) {
  const std::string_view field = text(column);
  std::int64_t value = 0;
  const std::from_chars_result read = std::from_chars(field.data(), field.data() + field.size(), value);
  if (read.ec == std::errc{} && read.ptr == field.data() + field.size() && value >= least && value <= most) {
    return value;
  }
  refuse(column, fmt::format("an integer from {} to {}", least, most));
  return least;
}

void csv_file::refuse(std::size_t column, std::string_view what) {
  complain(column, fmt::format("expected {}, found \"{}\"", what, text(column)));
}

void csv_file::complain(std::size_t column, std::string_view fault) {
  add_fault(fmt::format("{}:{}: {}: {}", name_, line(), names_[column], fault));
}

std::uint32_t csv_file::line() const { return reader_->csv.get_file_line(); }

template <class F>
bool csv_file::guarded(F&& read) {
  try {
    return read();
  } catch (const ::io::error::header_missing&) {
    add_fault(fmt::format("{}: the file is empty; expected a header: {}", name_, fmt::join(names_, ",")));
  } catch (const ::io::error::duplicated_column_in_header& fault) {
    add_fault(
        fmt::format("{}:{}: the column \"{}\" appears twice", name_, line(), std::string_view(fault.column_name)));
  } catch (const ::io::error::too_few_columns&) {
    add_fault(fmt::format("{}:{}: fewer fields than the header", name_, line()));
  } catch (const ::io::error::too_many_columns&) {
    add_fault(fmt::format("{}:{}: more fields than the header", name_, line()));
  } catch (const ::io::error::escaped_string_not_closed&) {
    add_fault(fmt::format("{}:{}: a quote is not closed in this line", name_, line()));
  } catch (const ::io::error::base& fault) {
    add_fault(fmt::format("{}:{}: {}", name_, line(), fault.what()));
  }
  return false;
}

void csv_file::add_fault(std::string_view fault) {
  if (!failed()) fault_ = base::printable(fault, longest_message);
}

}  // namespace kaisched::io
