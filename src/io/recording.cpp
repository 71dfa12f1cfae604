#include "io/recording.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <kaisched/options.hpp>
#include <kaisched/schema.hpp>

#include "base/bytes.hpp"
#include "base/copy_row.hpp"
#include "base/name_map.hpp"
#include "base/sha256.hpp"
#include "io/scenario/scenario.hpp"
#include "session/old_names.hpp"

namespace kaisched::io {

namespace {

/// Records: a tag, the length of the content, the check of the content, a check of the head and of all heads before it,
/// and the content. In `kaisched-recording/1` there is none of the head.
constexpr char tag_options = 'O';
constexpr char tag_whole = 'W';    ///< bytes of `snapshot::save`
constexpr char tag_changes = 'C';  ///< tables to apply, in order
constexpr char tag_session = 'S';
constexpr std::size_t check_size = record_check{}.size();
constexpr std::size_t unchecked_head_size = 1 + 8 + check_size;
constexpr std::size_t head_size = unchecked_head_size + check_size;

std::string first_line(std::string_view schema = recording_schema) { return std::string(schema) + "\n"; }

void put_u64(std::string& to, std::uint64_t value) {
  for (int i = 0; i < 8; ++i) to.push_back(static_cast<char>(value >> (8 * i) & 0xff));
}

std::optional<std::uint64_t> take_u64(std::string_view& from) {
  if (from.size() < 8) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(from[i])) << (8 * i);
  }
  from.remove_prefix(8);
  return value;
}

void put_text(std::string& to, std::string_view text) {
  put_u64(to, text.size());
  to += text;
}

std::optional<std::string_view> take_text(std::string_view& from) {
  const std::optional<std::uint64_t> size = take_u64(from);
  if (!size || *size > from.size()) return std::nullopt;
  const std::string_view text = from.substr(0, static_cast<std::size_t>(*size));
  from.remove_prefix(text.size());
  return text;
}

record_check check_of(std::string_view bytes, std::string_view before = {}) {
  base::sha256 hash;
  hash.update(before);
  hash.update(bytes);
  const base::sha256::digest whole = hash.finish();
  record_check first{};
  std::memcpy(first.data(), whole.data(), first.size());
  return first;
}

std::string_view text_of(const record_check& check) { return {check.data(), check.size()}; }

/// What the check of the first head begins with.
record_check first_check() { return check_of(first_line()); }

// ---- differences of tables

/// Bytes of a value of a row.
std::string_view value_of(const column_view& column, std::uint64_t row) {
  const auto* data = static_cast<const char*>(column.data);
  const std::size_t size = value_size(column.type);
  if (is_ragged(column.type)) {
    return {data + column.offsets[row] * size, (column.offsets[row + 1] - column.offsets[row]) * size};
  }
  return {data + row * column.width * size, column.width * size};
}

/// The columns that name a row: the required references and names at the front of a schema.
std::vector<std::uint32_t> key_columns(table_kind kind) {
  switch (kind) {
    case table_kind::device:
      return {col::device_node, col::device_index};
    case table_kind::sub_group:
      return {col::sub_group_group, col::sub_group_name};
    case table_kind::numa_zone:
      return {col::numa_zone_node, col::numa_zone_name};
    case table_kind::device_quota:
      return {col::device_quota_namespace, col::device_quota_vendor};
    default:
      return {1};
  }
}

/// Rows by what names them.
class keyed_rows {
 public:
  static constexpr std::uint32_t none = base::name_map::none;

  keyed_rows(const table_view& of, std::span<const std::uint32_t> keys) {
    keys_.reserve(static_cast<std::size_t>(of.rows));
    rows_.reserve(static_cast<std::size_t>(of.rows));
    for (std::uint64_t row = 0; row < of.rows; ++row) {
      std::string joined;
      for (const std::uint32_t id : keys) {
        if (const column_view* column = of.find(id); column != nullptr) put_text(joined, value_of(*column, row));
      }
      keys_.push_back(std::move(joined));
    }
    for (std::size_t row = 0; row < keys_.size(); ++row) rows_.insert(keys_[row], static_cast<std::uint32_t>(row));
  }
  [[nodiscard]] const std::string& key(std::uint64_t row) const { return keys_[static_cast<std::size_t>(row)]; }
  [[nodiscard]] std::uint32_t find(std::string_view key) const { return rows_.find(key); }

 private:
  std::vector<std::string> keys_;  // the map borrows them
  base::name_map rows_;
};

bool same_form(const table_view& a, const table_view& b) {
  if (a.column_count != b.column_count) return false;
  for (std::uint32_t i = 0; i < a.column_count; ++i) {
    if (a.columns[i].id != b.columns[i].id || a.columns[i].width != b.columns[i].width) return false;
  }
  return true;
}

bool same_bytes(const table_view& a, const table_view& b) {
  if (a.rows != b.rows) return false;
  for (std::uint32_t i = 0; i < a.column_count; ++i) {
    const column_view& x = a.columns[i];
    const column_view& y = b.columns[i];
    const bool ragged = is_ragged(x.type);
    const std::uint64_t values = ragged ? x.offsets[a.rows] : a.rows * x.width;
    if (ragged && !std::equal(x.offsets, x.offsets + a.rows + 1, y.offsets)) return false;
    if (values > 0 && std::memcmp(x.data, y.data, static_cast<std::size_t>(values) * value_size(x.type)) != 0)
      return false;
  }
  return true;
}

bool same_row(const table_view& a, std::uint64_t in_a, const table_view& b, std::uint64_t in_b) {
  for (std::uint32_t i = 0; i < a.column_count; ++i) {
    if (value_of(a.columns[i], in_a) != value_of(b.columns[i], in_b)) return false;
  }
  return true;
}

/// Some rows of a table, with all columns or those that name them.
std::optional<table> some_rows(const table_view& from, std::span<const std::uint64_t> rows, table_op op,
                               std::span<const std::uint32_t> only) {
  if (rows.empty()) return std::nullopt;
  table some(static_cast<table_kind>(from.kind), op);
  for (std::uint32_t i = 0; i < from.column_count; ++i) {
    const column_view& column = from.columns[i];
    if (!only.empty() && std::find(only.begin(), only.end(), column.id) == only.end()) continue;
    table::column& to = some.add(column.id, column.type, is_ragged(column.type) ? 0 : column.width);
    for (const std::uint64_t row : rows) base::copy_row(to, column, row);
  }
  return some;
}

/// What makes one table the other: rows that go, that come, that change.
struct table_changes {
  std::optional<table> gone;
  std::optional<table> come;
  std::optional<table> other;
};

/// The columns that name rows, and those in which some of these rows have changed.
std::vector<std::uint32_t> changed_columns(const table_view& before, const keyed_rows& old_rows,
                                           const keyed_rows& new_rows, const table_view& after,
                                           std::span<const std::uint64_t> rows, std::span<const std::uint32_t> keys) {
  std::vector<std::uint32_t> changed(keys.begin(), keys.end());
  for (std::uint32_t i = 0; i < after.column_count; ++i) {
    const column_view& column = after.columns[i];
    if (std::find(keys.begin(), keys.end(), column.id) != keys.end()) continue;
    const bool differs = std::any_of(rows.begin(), rows.end(), [&](std::uint64_t row) {
      return value_of(before.columns[i], old_rows.find(new_rows.key(row))) != value_of(column, row);
    });
    if (differs) changed.push_back(column.id);
  }
  return changed;
}

table_changes changes_between(const table_view& before, const table_view& after) {
  if (same_bytes(before, after)) return {};
  const std::vector<std::uint32_t> keys = key_columns(static_cast<table_kind>(before.kind));
  const keyed_rows old_rows(before, keys);
  const keyed_rows new_rows(after, keys);
  std::vector<std::uint64_t> gone;
  std::vector<std::uint64_t> come;
  std::vector<std::uint64_t> other;
  std::vector<bool> stays(static_cast<std::size_t>(before.rows), false);
  for (std::uint64_t row = 0; row < after.rows; ++row) {
    const std::uint32_t found = old_rows.find(new_rows.key(row));
    if (found == keyed_rows::none) {
      come.push_back(row);
      continue;
    }
    stays[found] = true;
    if (!same_row(before, found, after, row)) other.push_back(row);
  }
  for (std::uint64_t row = 0; row < before.rows; ++row) {
    if (!stays[static_cast<std::size_t>(row)]) gone.push_back(row);
  }
  return {some_rows(before, gone, table_op::remove, keys), some_rows(after, come, table_op::add, {}),
          some_rows(after, other, table_op::change, changed_columns(before, old_rows, new_rows, after, other, keys))};
}

// ---- texts that repeat those of the session before

constexpr char copies = 'K';
constexpr char says = 'L';

std::string encode(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  base::name_map places;
  for (std::size_t i = 0; i < before.size(); ++i) places.insert(before[i], static_cast<std::uint32_t>(i));
  std::string bytes;
  for (std::size_t i = 0; i < now.size();) {
    const std::size_t found = places.find(now[i]);
    if (found == base::name_map::none) {
      bytes.push_back(says);
      put_text(bytes, now[i++]);
      continue;
    }
    std::size_t length = 0;
    while (i + length < now.size() && found + length < before.size() && now[i + length] == before[found + length]) {
      ++length;
    }
    bytes.push_back(copies);
    put_u64(bytes, found);
    put_u64(bytes, length);
    i += length;
  }
  return bytes;
}

/// A few bytes could repeat any number of texts, session after session.
constexpr std::size_t most_text = std::size_t{1} << 30U;

std::optional<std::vector<std::string>> decode(const std::vector<std::string>& before, std::string_view bytes) {
  std::vector<std::string> now;
  std::size_t size = 0;
  const auto has_room_for = [&](std::string_view text) {
    size += text.size() + sizeof(std::string);
    return size <= most_text;
  };
  while (!bytes.empty()) {
    const char what = bytes.front();
    bytes.remove_prefix(1);
    if (what == says) {
      const std::optional<std::string_view> text = take_text(bytes);
      if (!text || !has_room_for(*text)) return std::nullopt;
      now.emplace_back(*text);
      continue;
    }
    const std::optional<std::uint64_t> first = take_u64(bytes);
    const std::optional<std::uint64_t> length = take_u64(bytes);
    if (what != copies || !first || !length || *first > before.size() || *length > before.size() - *first) {
      return std::nullopt;
    }
    const auto begin = before.begin() + static_cast<std::ptrdiff_t>(*first);
    const auto end = begin + static_cast<std::ptrdiff_t>(*length);
    if (!std::all_of(begin, end, has_room_for)) return std::nullopt;
    now.insert(now.end(), begin, end);
  }
  return now;
}

result<std::string> options_of(const engine& with) {
  const result<std::string> preset = with.get("preset");
  if (!preset) return preset.failure();
  engine plain;
  if (auto set = plain.set("preset", *preset); !set) return set.failure();
  std::string bytes;
  put_text(bytes, *preset);
  for (const option_info& option : option_list()) {
    if (option.applies_to != option_target::engine || option.name == "preset") continue;
    const result<std::string> value = with.get(option.name);
    if (!value) return value.failure();
    const result<std::string> usual = plain.get(option.name);
    if (usual && *usual == *value) continue;
    put_text(bytes, option.name);
    put_text(bytes, *value);
  }
  return bytes;
}

}  // namespace

// ---- recorder

recorder::recorder(byte_sink to, recording_form form) : to_(std::move(to)) {
  if (form == recording_form::gzip) packed_.emplace(to_);
}

struct recorder::addition {
  std::string bytes;
  record_check chain{};
  std::string options;
  std::optional<snapshot> state;
  std::optional<cluster> mirror;  ///< made anew
  std::vector<table> tables;
  std::vector<std::string> decisions;
};

/// Part of what is put may have been written when that fails.
result<void> recorder::put(std::string_view bytes) {
  if (!packed_) {
    if (auto done = to_(bytes); !done) return broken_ = std::move(done);
    return {};
  }
  try {
    if (auto done = packed_->add(bytes); !done) return broken_ = std::move(done);
  } catch (const std::bad_alloc&) {
    broken_ = error{status::no_memory, "out of memory", {}};
    throw;
  }
  return {};
}

result<void> recorder::add_record(char tag, std::string_view payload, addition& to) const {
  if (packed_ && payload.size() > largest_packed_record)
    return error{status::limit,
                 fmt::format("a record of {} bytes: packed recordings have records of at most {}", payload.size(),
                             largest_packed_record),
                 {}};
  const std::size_t begin = to.bytes.size();
  to.bytes += tag;
  put_u64(to.bytes, payload.size());
  to.bytes += text_of(check_of(payload));
  to.chain = check_of(std::string_view(to.bytes).substr(begin), text_of(to.chain));
  to.bytes += text_of(to.chain);
  to.bytes += payload;
  return {};
}

result<void> recorder::add_options(const engine& with, addition& to) const {
  result<std::string> bytes = options_of(with);
  if (!bytes) return bytes.take_failure();
  to.options = std::move(*bytes);
  if (sessions_ > 0 && to.options == options_) return {};
  return add_record(tag_options, to.options, to);
}

result<void> recorder::add_whole(const snapshot& state, addition& to) {
  const std::string bytes = state.save();
  const result<snapshot> loaded = snapshot::load(bytes);
  if (!loaded) return loaded.failure();
  to.mirror.emplace(*loaded);
  to.state = *loaded;
  return add_record(tag_whole, bytes, to);
}

/// False if rows alone do not make the one state the other.
result<bool> recorder::add_changes(const snapshot& state, addition& to) {
  std::vector<table> gone;
  std::vector<table> rest;
  std::size_t at = 0;
  bool by_rows = known_.has_value();
  for (const table_info& info : schema()) {
    if (!info.input) continue;
    result<table> rows = state.to_table(info.kind);
    if (!rows) return rows.failure();
    if (by_rows) {
      const table_view before = tables_[at].view();
      const table_view after = rows->view();
      by_rows = same_form(before, after);
      table_changes changes = by_rows ? changes_between(before, after) : table_changes{};
      if (info.kind == table_kind::resource && (changes.gone || changes.come || changes.other)) by_rows = false;
      if (changes.gone) gone.push_back(std::move(*changes.gone));
      if (changes.come) rest.push_back(std::move(*changes.come));
      if (changes.other) rest.push_back(std::move(*changes.other));
    }
    to.tables.push_back(std::move(*rows));
    ++at;
  }
  if (!by_rows) return false;
  std::reverse(gone.begin(), gone.end());  // who is referred to goes last
  gone.insert(gone.end(), std::make_move_iterator(rest.begin()), std::make_move_iterator(rest.end()));
  to.state = known_;
  if (gone.empty()) return true;
  is_ahead_ = true;
  if (auto applied = mirror_.apply(gone); !applied) {
    if (applied.failure().code == status::no_memory) return applied.failure();
    return false;
  }
  to.state = mirror_.take_snapshot();
  if (to.state->digest() != state.digest()) return false;
  std::string bytes;
  for (const table& one : gone) base::append_table(bytes, one.view());
  if (auto written = add_record(tag_changes, bytes, to); !written) return written.failure();
  return true;
}

result<void> recorder::add_state(const snapshot& state, addition& to) {
  if (is_ahead_) {
    mirror_ = cluster(*known_);
    is_ahead_ = false;
  }
  const result<bool> changed = add_changes(state, to);
  if (!changed) return changed.failure();
  return *changed ? result<void>{} : add_whole(state, to);
}

result<void> recorder::prepare(const engine& with, const session& of, std::int64_t now, addition& to) {
  if (of.mark().depth != 0) {
    return error{status::state, "the statement is open: commit it or roll it back", {}};  // no reader could replay it
  }
  result<std::vector<std::string>> decisions = expected_decisions(of);
  if (!decisions) return decisions.take_failure();
  to.decisions = std::move(*decisions);
  if (sessions_ == 0) to.bytes = first_line();
  to.chain = sessions_ == 0 ? first_check() : chain_;
  if (auto done = add_options(with, to); !done) return done;
  if (auto done = add_state(of.base(), to); !done) return done;
  std::string bytes;
  put_u64(bytes, static_cast<std::uint64_t>(now));
  put_text(bytes, of.digest());
  bytes += encode(decisions_, to.decisions);
  return add_record(tag_session, bytes, to);
}

result<void> recorder::add(const engine& with, const session& of, std::int64_t now) {
  if (!broken_) return broken_;
  if (finished_) return error{status::state, "the recording is finished", {}};
  addition made;
  if (auto done = prepare(with, of, now, made); !done) return done;
  if (auto done = put(made.bytes); !done) return done;
  if (made.mirror) {
    mirror_ = std::move(*made.mirror);
    ++whole_states_;
  }
  is_ahead_ = false;
  known_ = std::move(made.state);
  tables_ = std::move(made.tables);
  options_ = std::move(made.options);
  decisions_ = std::move(made.decisions);
  chain_ = made.chain;
  ++sessions_;
  if (!packed_) return {};
  if (auto done = packed_->flush(); !done) return broken_ = std::move(done);
  return {};
}

result<void> recorder::finish() {
  if (!broken_ || finished_) return broken_;
  finished_ = true;
  if (!packed_) return {};
  if (sessions_ == 0 && whole_states_ == 0) {
    if (auto done = put(first_line()); !done) return done;
    if (auto done = packed_->flush(); !done) return broken_ = std::move(done);
  }
  if (auto done = packed_->finish(); !done) return broken_ = std::move(done);
  return {};
}

// ---- recording

recording::recording(std::string_view bytes, const input_limit& unpacked) : bytes_(bytes), unpacked_(unpacked) {
  if (is_gzip(bytes)) packed_.emplace(bytes);
}

result<recording> recording::open(std::string_view bytes, const input_limit& unpacked) {
  const std::string line = first_line();
  const std::string line_1 = first_line(recording_schema_1);
  recording made(bytes, unpacked);
  const result<std::string_view> begin = made.look(line.size());
  if (!begin) return begin.failure();
  made.checks_heads_ = begin->starts_with(line);
  if (!made.checks_heads_ && !begin->starts_with(line_1)) {
    return error{status::argument,
                 fmt::format("the bytes do not start with '{}': they are no recording, or damaged", recording_schema),
                 {}};
  }
  made.chain_ = first_check();
  made.skip(line.size());
  return made;
}

error recording::damaged_at(std::string_view what) const {
  const std::string place =
      session_.number == 0 ? "before the first session" : fmt::format("after session {}", session_.number);
  return {status::argument, fmt::format("{}: {}", place, what), {}};
}
error recording::damaged(std::string_view what) const {
  return damaged_at(fmt::format("the record that ends at byte {} is damaged: {}", end_, what));
}
error recording::damaged(const error& why) const { return why.code == status::no_memory ? why : damaged(why.message); }

/// What has not been read: at least `size` bytes, or all that there are. Lives until the next call.
result<std::string_view> recording::look(std::size_t size) {
  if (!packed_) return bytes_.substr(at_);
  if (begin_ > window_.size() / 2) {
    window_.erase(0, begin_);
    begin_ = 0;
  }
  const std::size_t most = unpacked_.most - at_;  // at_ is never more
  if (auto filled = packed_->fill(window_, begin_ + (size > most ? most + 1 : size)); !filled)
    return damaged_at(filled.failure().message);
  if (window_.size() - begin_ > most) return larger_than(unpacked_, "the recording, unpacked");
  return std::string_view(window_).substr(begin_);
}

void recording::skip(std::size_t size) {
  at_ += size;
  begin_ += size;
}

struct recording::record {
  char tag = 0;
  record_check chain{};
  std::string_view payload;  ///< lives until the next look
  std::size_t size = 0;      ///< with its head
};

/// A length that is damaged must not be taken for that of a record which was cut off.
result<void> recording::check_head(std::string_view head, record& to) const {
  if (!checks_heads_) return {};
  to.chain = check_of(head.substr(0, unchecked_head_size), text_of(chain_));
  if (head.substr(unchecked_head_size, check_size) == text_of(to.chain)) return {};
  return damaged_at(
      fmt::format("the record that begins at byte {} is damaged: the checksum of its head is another one", at_));
}

/// Bytes that are missing are not always missing at the end.
result<bool> recording::at_end(bool is_whole) {
  if (!is_whole && packed_ && is_finished_gzip(bytes_))
    return damaged_at("the gzip stream is damaged: it has its end, and bytes before it are missing");
  truncated_ = !is_whole;
  return false;
}

/// The next one, which stays the next one. False if there is none, or not all of it.
result<bool> recording::look_at_record(record& to) {
  const std::size_t head = checks_heads_ ? head_size : unchecked_head_size;
  result<std::string_view> there = look(head);
  if (!there) return there.failure();
  if (there->size() < head) return at_end(there->empty() && (!packed_ || packed_->is_complete()));
  if (auto whole = check_head(*there, to); !whole) return whole.take_failure();
  to.tag = there->front();
  std::string_view rest = there->substr(1);
  const std::uint64_t size = *take_u64(rest);
  const std::string check(rest.substr(0, check_size));
  if (packed_ && size > largest_packed_record) {
    return error{status::limit,
                 fmt::format("the record that begins at byte {} would have {} bytes: packed recordings have records of "
                             "at most {}",
                             at_, size, largest_packed_record),
                 {}};
  }
  const std::uint64_t whole = size > bytes_.max_size() - head ? bytes_.max_size() : head + size;
  there = look(static_cast<std::size_t>(whole));
  if (!there) return there.failure();
  if (there->size() < whole) return at_end(false);
  to.payload = there->substr(head, static_cast<std::size_t>(size));
  to.size = static_cast<std::size_t>(whole);
  end_ = at_ + to.size;
  if (text_of(check_of(to.payload)) != check) return damaged("its checksum is another one");
  return true;
}

result<void> recording::read_options(std::string_view payload) {
  std::vector<std::pair<std::string, std::string>> options;
  const std::optional<std::string_view> preset = take_text(payload);
  if (!preset) return damaged("no preset");
  while (!payload.empty()) {
    const std::optional<std::string_view> name = take_text(payload);
    const std::optional<std::string_view> value = take_text(payload);
    if (!name || !value) return damaged("an option without a value");
    // A recording cannot be written again, so its names are replaced without a warning.
    options.push_back(session_detail::current_setting(*name, *value));
  }
  session_.preset = *preset;
  session_.options = std::move(options);
  return {};
}

result<void> recording::read_whole(std::string_view payload) {
  const result<snapshot> loaded = snapshot::load(payload);
  if (!loaded) return damaged(loaded.failure());
  cluster_ = cluster(*loaded);
  return {};
}

result<void> recording::read_changes(std::string_view payload) {
  std::vector<base::stored_table> stored;
  while (!payload.empty()) {
    result<base::stored_table> one = base::take_table(payload);
    if (!one) return damaged(one.failure());
    stored.push_back(std::move(*one));
  }
  std::vector<table_view> views;
  for (base::stored_table& one : stored) {
    one.view.columns = one.columns.data();
    views.push_back(one.view);
  }
  if (auto applied = cluster_.apply(views); !applied) return damaged(applied.failure());
  return {};
}

result<void> recording::read_session(std::string_view payload) {
  const std::optional<std::uint64_t> now = take_u64(payload);
  const std::optional<std::string_view> digest = take_text(payload);
  if (!now || !digest) return damaged("no time or no digest");
  std::optional<std::vector<std::string>> decisions = decode(session_.decisions, payload);
  if (!decisions) return damaged("its decisions");
  session_.digest = *digest;
  session_.now = static_cast<std::int64_t>(*now);
  session_.decisions = std::move(*decisions);
  ++session_.number;
  return {};
}

/// Over what was damaged nothing can be built.
result<bool> recording::next() {
  if (broken_) return *broken_;
  result<bool> there = read_to_session();
  if (!there && there.failure().code != status::no_memory) broken_ = there.failure();
  return there;
}

/// A record that could not be read is read again by the next call.
result<bool> recording::read_to_session() {
  for (;;) {
    record one;
    const result<bool> found = look_at_record(one);
    if (!found || !*found) return found;
    if (auto done = read(one); !done) return done.failure();
    skip(one.size);
    chain_ = one.chain;
    if (one.tag == tag_session) return true;
  }
}

result<void> recording::read(const record& one) {
  switch (one.tag) {
    case tag_options:
      return read_options(one.payload);
    case tag_whole:
      return read_whole(one.payload);
    case tag_changes:
      return read_changes(one.payload);
    case tag_session:
      return read_session(one.payload);
    default:
      return damaged(fmt::format("unknown tag {}", static_cast<int>(static_cast<unsigned char>(one.tag))));
  }
}

result<void> configure(engine& to, const recorded_session& of) {
  if (auto set = to.set("preset", of.preset); !set) return set;
  for (const auto& [name, value] : of.options) {
    if (auto set = to.set(name, value); !set) return set;
  }
  return {};
}

}  // namespace kaisched::io
