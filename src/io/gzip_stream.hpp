#pragma once
/// @file
/// Bytes as they come, in the form of gzip (RFC 1951, RFC 1952), and back. In the library itself, so that it needs none
/// beside it.

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

namespace kaisched::io {

/// Takes bytes in their order; an error ends what is written.
using byte_sink = std::function<result<void>(std::string_view)>;

/// True if the bytes begin as those of gzip do.
[[nodiscard]] bool is_gzip(std::string_view bytes);

/// True if the bytes end as a gzip_writer ends them that was flushed before it was finished, one bit of that end aside.
/// They were not cut off then: where a reader misses bytes, others are damaged.
[[nodiscard]] bool is_finished_gzip(std::string_view bytes);

/// Packs bytes. The same bytes and calls give the same bytes. Threads: exclusive use.
class gzip_writer {
 public:
  explicit gzip_writer(byte_sink to);
  ~gzip_writer();
  gzip_writer(gzip_writer&& other) noexcept;
  gzip_writer& operator=(gzip_writer&& other) noexcept;

  result<void> add(std::string_view bytes);
  /// From what has been written up to here all that was added can be read. Costs a few bytes.
  result<void> flush();
  /// Writes the end and the checksum. Nothing may be added then.
  result<void> finish();

 private:
  struct body;
  std::unique_ptr<body> body_;
};

/// Unpacks bytes, as many as somebody asks for. One stream after another is one, as gzip has it. Threads: exclusive
/// use.
class gzip_reader {
 public:
  /// The bytes have to live as long as the reader.
  explicit gzip_reader(std::string_view bytes);
  ~gzip_reader();
  gzip_reader(gzip_reader&& other) noexcept;
  gzip_reader& operator=(gzip_reader&& other) noexcept;

  /// Appends until `to` has at least `size` bytes, or there are no more; never many more than these.
  /// Error: what is no gzip, with the place among the packed bytes; not before somebody asks for more than comes
  /// before. Where memory is missing the call can be repeated; what it has appended stays.
  result<void> fill(std::string& to, std::size_t size);
  /// All has been read, the end and its checksum too. False after a `fill` that gave less than it could: bytes are
  /// missing at the end.
  [[nodiscard]] bool is_complete() const;

 private:
  struct body;
  void mend();

  std::unique_ptr<body> body_;
};

}  // namespace kaisched::io
