#include "io/files.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

#include <fmt/format.h>

namespace kaisched::io {

namespace {

struct closer {
  void operator()(std::FILE* file) const {
    if (file != stdin && file != stdout) static_cast<void>(std::fclose(file));  // flushed before where it matters
  }
};
using file_handle = std::unique_ptr<std::FILE, closer>;

error system_failure(status code, std::string_view verb, const std::string& path, int number) {
  return {code, fmt::format("{}: cannot {}: {}", path, verb, std::generic_category().message(number)), {}};
}

}  // namespace

result<std::string> read_file(const std::string& path, std::size_t most) {
  errno = 0;
  const file_handle file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return system_failure(status::not_found, "open", path, errno);

  std::string bytes;
  std::array<char, 1U << 16U> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    if (n > most - bytes.size()) return error{status::limit, fmt::format("{}: more than {} bytes", path, most), {}};
    bytes.append(buffer.data(), n);
  }
  if (std::ferror(file.get()) != 0) return system_failure(status::not_found, "read", path, errno);
  return bytes;
}

result<void> write_file(const std::string& path, std::string_view bytes) {
  errno = 0;
  const file_handle file(path == "-" ? stdout : std::fopen(path.c_str(), "wb"));
  if (!file) return system_failure(status::argument, "open for writing", path, errno);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (!written || std::fflush(file.get()) != 0) return system_failure(status::argument, "write", path, errno);
  return {};
}

}  // namespace kaisched::io
