#include "files/zip_text.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <minizip/unzip.h>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "base/text.hpp"
#include "io/files.hpp"

namespace kaisched::io {

namespace {

/// Bytes that minizip reads as a file.
struct memory_file {
  std::string_view bytes;
  std::size_t at = 0;
};

memory_file& file_of(voidpf stream) { return *static_cast<memory_file*>(stream); }

voidpf open_memory(voidpf bytes, const void* /*name*/, int /*mode*/) { return bytes; }
uLong read_memory(voidpf /*opaque*/, voidpf stream, void* to, uLong size) {
  memory_file& of = file_of(stream);
  const std::size_t count =
      of.bytes.copy(static_cast<char*>(to), size, of.at);  // nothing of nothing is well defined here
  of.at += count;
  return count;
}
uLong write_memory(voidpf /*opaque*/, voidpf /*stream*/, const void* /*from*/, uLong /*size*/) { return 0; }
ZPOS64_T tell_memory(voidpf /*opaque*/, voidpf stream) { return file_of(stream).at; }
long seek_memory(voidpf /*opaque*/, voidpf stream, ZPOS64_T offset, int origin) {
  memory_file& of = file_of(stream);
  const std::size_t from = origin == ZLIB_FILEFUNC_SEEK_CUR   ? of.at
                           : origin == ZLIB_FILEFUNC_SEEK_END ? of.bytes.size()
                                                              : 0;
  if (offset > of.bytes.size() - from) return -1;
  of.at = from + static_cast<std::size_t>(offset);
  return 0;
}
int close_memory(voidpf /*opaque*/, voidpf /*stream*/) { return 0; }
int memory_fault(voidpf /*opaque*/, voidpf /*stream*/) { return 0; }

struct closes_archive {
  void operator()(unzFile archive) const { unzClose(archive); }
};
using archive_handle = std::unique_ptr<void, closes_archive>;

error damaged(std::string_view source, std::string_view what) {
  return {status::argument, fmt::format("{}: the ZIP archive is damaged: {}", source, what), {}};
}

std::string current_name(unzFile archive) {
  std::array<char, 1024> name{};
  unz_file_info64 info{};
  if (unzGetCurrentFileInfo64(archive, &info, name.data(), name.size() - 1, nullptr, 0, nullptr, 0) != UNZ_OK)
    return {};
  return name.data();
}

/// Whatever the archive says of its size: what comes out counts.
result<std::string> read_current(unzFile archive, std::string_view source, const std::string& name) {
  if (unzOpenCurrentFile(archive) != UNZ_OK) return damaged(source, name + " cannot be opened");
  std::string text;
  std::array<char, 1U << 16U> piece;
  while (true) {
    const int count = unzReadCurrentFile(archive, piece.data(), piece.size());
    if (count < 0) {
      unzCloseCurrentFile(archive);
      return damaged(source, name + " cannot be unpacked");
    }
    if (count == 0) break;
    if (static_cast<std::size_t>(count) > limit_of_input().most - text.size()) {
      unzCloseCurrentFile(archive);
      return larger_than(limit_of_input(), fmt::format("{}: {}", source, name));
    }
    try {
      text.append(piece.data(), static_cast<std::size_t>(count));
    } catch (const std::bad_alloc&) {
      unzCloseCurrentFile(archive);
      const std::size_t size = text.size();
      text = {};  // the message needs memory too
      return error{
          status::no_memory, fmt::format("{}: no memory is left after {} bytes of {}", source, size, name), {}};
    }
  }
  if (unzCloseCurrentFile(archive) != UNZ_OK) return damaged(source, name + " has another checksum");
  return text;
}

/// Its end stands at its beginning.
bool is_empty_zip(std::string_view bytes) { return bytes.starts_with("PK\x05\x06"); }

}  // namespace

bool is_zip(std::string_view bytes) { return bytes.starts_with("PK\x03\x04") || is_empty_zip(bytes); }

result<std::string> unzip_json(std::string_view bytes, std::string_view source) {
  if (is_empty_zip(bytes)) return error{status::argument, fmt::format("{}: the ZIP archive is empty", source), {}};
  memory_file file{bytes, 0};
  zlib_filefunc64_def from{};
  from.zopen64_file = open_memory;
  from.zread_file = read_memory;
  from.zwrite_file = write_memory;
  from.ztell64_file = tell_memory;
  from.zseek64_file = seek_memory;
  from.zclose_file = close_memory;
  from.zerror_file = memory_fault;
  from.opaque = &file;
  const archive_handle archive(unzOpen2_64(nullptr, &from));
  if (archive == nullptr) return damaged(source, "it has no directory");
  std::optional<std::string> text;
  for (int next = unzGoToFirstFile(archive.get()); next != UNZ_END_OF_LIST_OF_FILE;
       next = unzGoToNextFile(archive.get())) {
    if (next != UNZ_OK) return damaged(source, "its directory cannot be read");
    const std::string name = base::shown(current_name(archive.get()));
    if (!name.ends_with(".json")) continue;
    if (text)
      return error{
          status::argument, fmt::format("{}: expected one .json in the archive, found {} as well", source, name), {}};
    result<std::string> read = read_current(archive.get(), source, name);
    if (!read) return read;
    text = std::move(*read);
  }
  if (!text) return error{status::argument, fmt::format("{}: expected a .json in the archive, found none", source), {}};
  return std::move(*text);
}

}  // namespace kaisched::io
