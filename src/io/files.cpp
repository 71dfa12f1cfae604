#include "io/files.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <system_error>
#include <unistd.h>

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

result<void> write_in_place(const std::string& path, std::string_view bytes) {
  errno = 0;
  const file_handle file(path == "-" ? stdout : std::fopen(path.c_str(), "wb"));
  if (!file) return system_failure(status::argument, "open for writing", path, errno);
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  if (!written || std::fflush(file.get()) != 0) return system_failure(status::argument, "write", path, errno);
  return {};
}

/// A file that may be written in a folder that may not.
bool may_only_be_written(const std::string& path, const std::string& beside) {
  const std::string folder = std::filesystem::path(beside).parent_path().string();
  return ::access(path.c_str(), W_OK) == 0 && ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0;
}

}  // namespace

namespace {

input_limit& limit_of_process() {
  static input_limit limit;
  return limit;
}

}  // namespace

const input_limit& limit_of_input() { return limit_of_process(); }

void set_limit_of_input(const input_limit& to) { limit_of_process() = to; }

error larger_than(const input_limit& limit, std::string_view what) {
  return {status::limit,
          fmt::format("{}: more than {} bytes{}", what, limit.most,
                      limit.option.empty() ? std::string() : fmt::format("; {} sets the limit", limit.option)),
          {}};
}

result<std::string> read_file(const std::string& path, const input_limit& limit) {
  errno = 0;
  const file_handle file(path == "-" ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return system_failure(status::not_found, "open", path, errno);

  std::string bytes;
  std::array<char, 1U << 16U> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) {
    if (n > limit.most - bytes.size()) return larger_than(limit, path);
    try {
      bytes.append(buffer.data(), n);
    } catch (const std::bad_alloc&) {
      return error{
          status::no_memory, fmt::format("{}: no memory is left after {} bytes of it", path, bytes.size()), {}};
    }
  }
  if (std::ferror(file.get()) != 0) return system_failure(status::not_found, "read", path, errno);
  return bytes;
}

result<void> write_file(const std::string& path, std::string_view bytes) {
  namespace fs = std::filesystem;
  std::error_code fault;
  const fs::file_status before = fs::status(path, fault);
  if (path == "-" || (fs::exists(before) && !fs::is_regular_file(before))) return write_in_place(path, bytes);
  // The target of a link is replaced, not the link.
  const fs::path real = fs::exists(before) ? fs::canonical(path, fault) : fs::path(path);
  if (fault && fs::exists(before)) return system_failure(status::argument, "open for writing", path, fault.value());
  const std::string beside = fmt::format("{}.{}.tmp", real.string(), getpid());
  if (may_only_be_written(real.string(), beside)) return write_in_place(path, bytes);
  if (auto written = write_in_place(beside, bytes); !written) {
    fs::remove(beside, fault);
    error why = written.take_failure();
    if (why.message.starts_with(beside)) why.message.replace(0, beside.size(), path);
    return why;
  }
  std::error_code ignored;
  if (fs::exists(before)) fs::permissions(beside, before.permissions(), ignored);
  errno = 0;
  if (std::rename(beside.c_str(), real.c_str()) != 0) {
    const int number = errno;
    fs::remove(beside, ignored);
    return system_failure(status::argument, "replace", path, number);
  }
  return {};
}

}  // namespace kaisched::io
