#include "io/gzip_stream.hpp"

#include <array>
#include <bit>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/beast/zlib/inflate_stream.hpp>
#include <boost/crc.hpp>
#include <fmt/format.h>

namespace kaisched::io {

namespace {

namespace zlib = boost::beast::zlib;

constexpr std::size_t piece_size = std::size_t{1} << 14U;
constexpr int window_bits = 15;
constexpr int gzip_level = 6;  // as gzip: 9 takes five times as long for a tenth fewer bytes
constexpr int memory_level = 8;

constexpr std::string_view gzip_magic = "\x1f\x8b";
constexpr unsigned char gzip_method = 8;  // deflate
constexpr std::size_t gzip_head_size = 10;
constexpr std::size_t gzip_tail_size = 8;

// Flags of the head: what follows it.
constexpr unsigned char flag_checksum = 2;
constexpr unsigned char flag_extra = 4;
constexpr unsigned char flag_name = 8;
constexpr unsigned char flag_comment = 16;
constexpr unsigned char all_flags = 31;

unsigned char byte_at(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

void put_u32(std::string& to, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) to.push_back(static_cast<char>(value >> (8 * i) & 0xffU));
}
std::uint32_t u32_at(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{byte_at(bytes, at + i)} << (8 * i);
  return value;
}

}  // namespace

namespace gzip_parts {

/// Checksum and length of what is packed.
struct tally {
  boost::crc_32_type sum;
  std::uint32_t size = 0;  // modulo 2^32, as gzip has it

  void add(std::string_view bytes) {
    sum.process_bytes(bytes.data(), bytes.size());
    size += static_cast<std::uint32_t>(bytes.size());
  }
};

}  // namespace gzip_parts

bool is_gzip(std::string_view bytes) { return bytes.starts_with(gzip_magic); }

bool is_finished_gzip(std::string_view bytes) {
  constexpr std::string_view flushed("\0\0\xff\xff", 4);  // lengths of an empty stored block
  constexpr std::string_view last_block("\x03\0", 2);     // no other block has the lowest bit
  const std::size_t size = flushed.size() + last_block.size() + gzip_tail_size;
  if (bytes.size() < size) return false;
  bytes.remove_prefix(bytes.size() - size);
  const auto differing = [&](std::size_t i) {
    return std::popcount(static_cast<unsigned>(byte_at(bytes, flushed.size() + i) ^ byte_at(last_block, i)));
  };
  return bytes.starts_with(flushed) && differing(0) + differing(1) <= 1;
}

// ---- writer

struct gzip_writer::body {
  byte_sink to;
  zlib::deflate_stream packs;
  gzip_parts::tally told;
  std::array<char, piece_size> out{};
  bool begun = false;
  bool finished = false;

  explicit body(byte_sink sink) : to(std::move(sink)) {
    packs.reset(gzip_level, window_bits, memory_level, zlib::Strategy::normal);
  }

  result<void> write(std::string_view bytes, zlib::Flush how) {
    if (finished) return error{status::state, "the gzip stream has ended", {}};
    if (!std::exchange(begun, true)) {
      std::string head(gzip_magic);
      head += static_cast<char>(gzip_method);
      head.append(gzip_head_size - head.size() - 1, '\0');  // no flags, no time: the same bytes whenever
      head += '\xff';                                       // nor a system
      if (auto done = to(head); !done) return done;
    }
    told.add(bytes);
    zlib::z_params at;
    at.next_in = bytes.data();
    at.avail_in = bytes.size();
    for (;;) {
      at.next_out = out.data();
      at.avail_out = out.size();
      boost::beast::error_code fault;
      packs.write(at, how, fault);
      const std::string_view made(out.data(), out.size() - at.avail_out);
      if (!made.empty()) {
        if (auto done = to(made); !done) return done;
      }
      if (fault == zlib::error::end_of_stream || fault == zlib::error::need_buffers) return {};
      if (fault) return error{status::internal, fmt::format("bytes cannot be packed: {}", fault.message()), {}};
      if (at.avail_out > 0 && at.avail_in == 0 && how != zlib::Flush::finish) return {};
    }
  }
};

gzip_writer::gzip_writer(byte_sink to) : body_(std::make_unique<body>(std::move(to))) {}
gzip_writer::~gzip_writer() = default;
gzip_writer::gzip_writer(gzip_writer&& other) noexcept = default;
gzip_writer& gzip_writer::operator=(gzip_writer&& other) noexcept = default;

result<void> gzip_writer::add(std::string_view bytes) {
  return bytes.empty() ? result<void>{} : body_->write(bytes, zlib::Flush::none);
}

result<void> gzip_writer::flush() { return body_->write({}, zlib::Flush::sync); }

result<void> gzip_writer::finish() {
  if (auto done = body_->write({}, zlib::Flush::finish); !done) return done;
  body_->finished = true;
  std::string tail;
  put_u32(tail, body_->told.sum.checksum());
  put_u32(tail, body_->told.size);
  return body_->to(tail);
}

// ---- reader

struct gzip_reader::body {
  std::string_view bytes;
  std::size_t at = 0;
  zlib::inflate_stream unpacks;
  gzip_parts::tally told;
  bool is_inside = false;  // of a stream: its head has been read, its end has not
  std::size_t given = 0;   // bytes that were unpacked
  bool is_torn = false;    // memory was missing, and what the stream knows is not what it has given
  std::optional<error> broken;

  explicit body(std::string_view from) : bytes(from) {}

  error damaged(std::string_view what) const {
    return {status::argument, fmt::format("the gzip stream is damaged before byte {}: {}", at, what), {}};
  }

  /// Where what follows the head begins; none if bytes are missing.
  result<std::optional<std::size_t>> after_head() const {
    const std::string_view rest = bytes.substr(at);
    if (!gzip_magic.starts_with(rest.substr(0, gzip_magic.size()))) return damaged("other bytes follow");
    if (rest.size() < gzip_head_size) return std::optional<std::size_t>{};
    const unsigned char flags = byte_at(rest, 3);
    if (byte_at(rest, 2) != gzip_method || (flags & ~all_flags) != 0) return damaged("a form that is not known");
    std::size_t end = gzip_head_size;
    if ((flags & flag_extra) != 0) {
      if (rest.size() < end + 2) return std::optional<std::size_t>{};
      end += 2 + byte_at(rest, end) + std::size_t{256} * byte_at(rest, end + 1);
    }
    for (const unsigned char text : {flag_name, flag_comment}) {
      if ((flags & text) == 0) continue;
      const std::size_t zero = end < rest.size() ? rest.find('\0', end) : std::string_view::npos;
      if (zero == std::string_view::npos) return std::optional<std::size_t>{};
      end = zero + 1;
    }
    if ((flags & flag_checksum) != 0) end += 2;
    return end < rest.size() ? std::optional(at + end) : std::nullopt;
  }

  /// False if bytes are missing, or there are no more.
  result<bool> enter() {
    if (at == bytes.size()) return false;
    const result<std::optional<std::size_t>> begin = after_head();
    if (!begin) return begin.failure();
    if (!*begin) return false;
    at = **begin;
    unpacks.reset(window_bits);
    told = gzip_parts::tally();
    is_inside = true;
    return true;
  }

  /// False if bytes are missing.
  result<bool> leave() {
    if (bytes.size() - at < gzip_tail_size) return false;
    if (u32_at(bytes, at) != told.sum.checksum() || u32_at(bytes, at + 4) != told.size)
      return damaged("its checksum is another one");
    at += gzip_tail_size;
    is_inside = false;
    return true;
  }

  /// Unpacks a piece. False if bytes are missing, or there are no more.
  result<bool> unpack(std::string& to) {
    if (!is_inside) {
      result<bool> entered = enter();
      if (!entered || !*entered) return entered;
    }
    const std::size_t before = to.size();
    to.resize(before + piece_size);
    zlib::z_params with;
    with.next_in = bytes.data() + at;
    with.avail_in = bytes.size() - at;
    with.next_out = to.data() + before;
    with.avail_out = piece_size;
    boost::beast::error_code fault;
    unpacks.write(with, zlib::Flush::sync, fault);
    to.resize(before + piece_size - with.avail_out);
    told.add(std::string_view(to).substr(before));
    given += to.size() - before;
    at = bytes.size() - with.avail_in;
    if (fault == zlib::error::end_of_stream) return leave();
    if (fault == zlib::error::need_buffers) return false;
    if (fault) return damaged(fault.message());
    return to.size() > before || at < bytes.size();
  }
};

gzip_reader::gzip_reader(std::string_view bytes) : body_(std::make_unique<body>(bytes)) {}
gzip_reader::~gzip_reader() = default;
gzip_reader::gzip_reader(gzip_reader&& other) noexcept = default;
gzip_reader& gzip_reader::operator=(gzip_reader&& other) noexcept = default;

/// Memory that was missing is no fault of the stream: it is read anew up to where it was.
void gzip_reader::mend() {
  const std::size_t given = body_->given;
  const std::string_view bytes = body_->bytes;
  auto anew = std::make_unique<body>(bytes);
  std::string piece;
  while (anew->given < given) {
    piece.clear();
    if (const result<bool> more = anew->unpack(piece); !more || !*more) break;
  }
  body_ = std::move(anew);
}

result<void> gzip_reader::fill(std::string& to, std::size_t size) {
  if (body_->is_torn) mend();
  while (to.size() < size) {
    if (body_->broken) return *body_->broken;
    const std::size_t before = to.size();
    result<bool> more = false;
    try {
      more = body_->unpack(to);
    } catch (const std::bad_alloc&) {
      to.resize(before);
      body_->is_torn = true;
      throw;
    }
    if (!more) {
      body_->broken = more.failure();  // what came before it is good
    } else if (!*more) {
      break;
    }
  }
  return {};
}

bool gzip_reader::is_complete() const { return body_->at == body_->bytes.size() && !body_->is_inside; }

}  // namespace kaisched::io
