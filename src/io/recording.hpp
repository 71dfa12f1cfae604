#pragma once
/// @file
/// Sessions of a host as a stream of bytes, and back: what was decided over what, at which time and by which options,
/// so that another process or build can decide again and compare (format `kaisched-recording/2`, docs/recordings.md).
/// After the idea of deterministic replay from logged inputs, as in ReVirt (Dunlap et al., OSDI 2002): decisions are a
/// function of cluster, time and options, so these are all that has to be kept.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>
#include <kaisched/session.hpp>
#include <kaisched/snapshot.hpp>

#include "io/files.hpp"
#include "io/gzip_stream.hpp"

namespace kaisched::io {

inline constexpr std::string_view recording_schema = "kaisched-recording/2";
/// Of recordings whose tags and lengths have no checksum. They can be read.
inline constexpr std::string_view recording_schema_1 = "kaisched-recording/1";

/// First bytes of a SHA-256, as records have them.
using record_check = std::array<char, 8>;

/// What the bytes of a recording are packed in.
enum class recording_form : std::uint8_t {
  plain = 0,
  gzip = 1,  ///< after each session all that has been recorded can be read
};
/// A record of a packed recording has at most so many bytes: few packed ones could be any number.
inline constexpr std::uint64_t largest_packed_record = std::uint64_t{1} << 30U;

/// Writes sessions as they are decided. Between two sessions only the rows that differ are written; whatever led to
/// them (deltas, decisions taken in, reports) need not be told. Each state is checked against the one that a reader
/// will have (SHA-256), and written whole where it would differ.
/// Cost of a session: all tables of the cluster once, and their digest. Threads: exclusive use.
class recorder {
 public:
  explicit recorder(byte_sink to, recording_form form = recording_form::plain);

  /// Appends one session. @param with the engine that made it; parts and catalogs that the host has registered are not
  /// in the recording, only their names. @param now as it was given to the engine.
  /// Errors: those of the sink, after which every call fails the same way; a session with an open statement. Where
  /// memory is missing nothing has been written or changed, and the call can be repeated; of a packed recording, where
  /// some bytes may have been written, every later call fails.
  result<void> add(const engine& with, const session& of, std::int64_t now);
  /// Writes what ends the recording, if its form has an end: without it a reader takes the recording for cut off.
  /// Nothing may be added then.
  result<void> finish();

  [[nodiscard]] std::uint64_t sessions() const { return sessions_; }

 private:
  /// What a session adds, and what a reader has after it.
  struct addition;

  result<void> prepare(const engine& with, const session& of, std::int64_t now, addition& to);
  result<void> add_record(char tag, std::string_view payload, addition& to) const;
  result<void> add_options(const engine& with, addition& to) const;
  result<void> add_state(const snapshot& state, addition& to);
  result<bool> add_changes(const snapshot& state, addition& to);
  result<void> add_whole(const snapshot& state, addition& to);

  result<void> put(std::string_view bytes);

  byte_sink to_;
  std::optional<gzip_writer> packed_;
  bool finished_ = false;
  result<void> broken_;
  std::uint64_t sessions_ = 0;
  std::uint64_t whole_states_ = 0;
  std::optional<snapshot> known_;  ///< what a reader has
  cluster mirror_;                 ///< the same, unless it is ahead
  bool is_ahead_ = false;          ///< a session was not added for which it has been changed
  std::vector<table> tables_;
  std::string options_;
  std::vector<std::string> decisions_;
  record_check chain_{};  ///< of the head of the last record
};

/// One session of a recording.
struct recorded_session {
  std::uint64_t number = 0;  ///< from 1
  std::int64_t now = 0;
  std::string digest;                  ///< of the session
  std::vector<std::string> decisions;  ///< as a scenario expects them, in order
  std::string preset;
  /// Those that differ from the preset, by their present names whatever they were called when they were recorded.
  std::vector<std::pair<std::string, std::string>> options;
};

/// Goes through a recording from its beginning. Every length and checksum is checked: of `kaisched-recording/2` no byte
/// can change, and no record be left out, repeated or moved, without an error. Threads: exclusive use.
class recording {
 public:
  /// The bytes, of any form, have to live as long as the recording. What is packed is unpacked as it is read, up to the
  /// limit. Error: they are no recording.
  static result<recording> open(std::string_view bytes, const input_limit& unpacked = limit_of_input());

  /// Goes to the next session. False at the end; `truncated` says whether the file stops within a record, or before its
  /// end, as that of a host that was killed does. Errors: a record that is damaged, with the session before it and its
  /// offset among the bytes that are not packed; packed bytes that are damaged, with theirs. After an error every call
  /// fails the same way; but where memory was missing, the call can be repeated.
  result<bool> next();
  [[nodiscard]] const recorded_session& session() const { return session_; }
  /// The cluster that the session decided over.
  [[nodiscard]] snapshot state() { return cluster_.take_snapshot(); }
  [[nodiscard]] bool truncated() const { return truncated_; }

 private:
  recording(std::string_view bytes, const input_limit& unpacked);
  result<bool> read_to_session();
  result<std::string_view> look(std::size_t size);
  void skip(std::size_t size);
  struct record;
  result<bool> look_at_record(record& to);
  result<bool> at_end(bool is_whole);
  result<void> read(const record& one);
  result<void> read_session(std::string_view payload);
  result<void> read_options(std::string_view payload);
  result<void> read_changes(std::string_view payload);
  result<void> read_whole(std::string_view payload);
  result<void> check_head(std::string_view head, record& to) const;
  [[nodiscard]] error damaged_at(std::string_view what) const;
  [[nodiscard]] error damaged(std::string_view what) const;
  [[nodiscard]] error damaged(const error& why) const;

  std::string_view bytes_;
  input_limit unpacked_;
  std::optional<gzip_reader> packed_;
  std::string window_;     ///< bytes that have been unpacked
  std::size_t begin_ = 0;  ///< of those among them that have not been read
  std::size_t at_ = 0;     ///< bytes that have been read, unpacked
  std::size_t end_ = 0;    ///< where the record ends that is read
  bool checks_heads_ = true;
  record_check chain_{};  ///< of the head of the record before
  bool truncated_ = false;
  std::optional<error> broken_;
  recorded_session session_;
  cluster cluster_;
};

/// Sets preset and options of a recorded session. Errors: an option, or a part, that this build or engine does not
/// have.
[[nodiscard]] result<void> configure(engine& to, const recorded_session& of);

}  // namespace kaisched::io
