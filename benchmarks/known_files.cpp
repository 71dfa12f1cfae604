#include "benchmarks/known_files.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "io/files.hpp"

namespace kaisched::bench {

error bad_file(std::string_view file, std::string_view why) {
  return {status::argument, fmt::format("{}: {}", file, why), {}};
}

result<std::string> read_known(const std::string& folder, std::span<const known_file> known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const known_file& one) { return one.name == name; });
  if (found == known.end()) return bad_file(name, "is no file of the benchmark");
  result<std::string> bytes = io::read_file(fmt::format("{}/{}", folder, name));
  if (!bytes) return bytes;
  base::sha256 sum;
  sum.update(std::string_view(*bytes));
  const std::string digest = base::sha256::hex(sum.finish());
  if (digest != found->sha256)
    return bad_file(name, fmt::format("its SHA-256 is {}, that of the data of the table is {}", digest, found->sha256));
  return bytes;
}

std::string list_of(std::span<const known_file> known) {
  std::string text;
  for (const known_file& one : known) text += fmt::format("  {}  {}\n", one.sha256, one.name);
  return text;
}

}  // namespace kaisched::bench
