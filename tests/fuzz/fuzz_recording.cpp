// Any bytes as a recording, plain or packed: an error that says why, or sessions over clusters that can be saved and
// decided again.
#include <algorithm>

#include "base/sha256.hpp"
#include "decide.hpp"
#include "io/gzip_stream.hpp"
#include "io/recording.hpp"
#include "source.hpp"

namespace {

using namespace kaisched;

constexpr std::size_t check_size = 8;

std::string check_of(std::string_view bytes) {
  base::sha256 hash;
  hash.update(bytes);
  const auto sum = hash.finish();
  return {sum.begin(), sum.begin() + check_size};
}

/// With the right checksums in every record, so that not all that is wrong ends there.
std::string signed_again(std::string bytes) {
  const bool checks_heads = !bytes.starts_with("kaisched-recording/1\n");
  const std::size_t head = checks_heads ? 25 : 17;
  std::size_t at = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
  std::string chain = check_of(bytes.substr(0, at));
  while (bytes.size() - at >= head) {
    std::uint64_t size = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      size |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[at + 1 + i])) << (8 * i);
    }
    if (size > bytes.size() - at - head) break;
    bytes.replace(at + 9, check_size, check_of(bytes.substr(at + head, static_cast<std::size_t>(size))));
    if (checks_heads) {
      chain = check_of(chain + bytes.substr(at, 17));
      bytes.replace(at + 17, check_size, chain);
    }
    at += head + static_cast<std::size_t>(size);
  }
  return bytes;
}

std::string packed(std::string_view bytes) {
  std::string made;
  io::gzip_writer writes([&](std::string_view more) -> result<void> {
    made += more;
    return {};
  });
  const std::size_t half = bytes.size() / 2;
  fuzz::ensure(writes.add(bytes.substr(0, half)).ok() && writes.flush().ok(), "all can be packed");
  fuzz::ensure(writes.add(bytes.substr(half)).ok() && writes.finish().ok(), "all can be packed");
  return made;
}

/// As `kaisched replay` does.
void decide_again(const io::recorded_session& recorded, const snapshot& over) {
  engine with;
  if (const result<void> done = io::configure(with, recorded); !done)
    return fuzz::ensure(!done.failure().message.empty(), "an error says why");
  fuzz::check_session(with, over, recorded.now);
}

/// How many sessions could be read. @param decides also decides them again.
std::uint64_t sessions_in(std::string_view bytes, bool decides = false) {
  result<io::recording> opened = io::recording::open(bytes);
  if (!opened) {
    fuzz::ensure(!opened.failure().message.empty(), "an error says why");
    return 0;
  }
  std::uint64_t sessions = 0;
  for (;;) {
    const result<bool> more = opened->next();
    if (!more) {
      fuzz::ensure(!more.failure().message.empty(), "an error says why");
      return sessions;
    }
    if (!*more) return sessions;
    fuzz::ensure(opened->session().number == ++sessions, "sessions are counted");
    const snapshot state = opened->state();
    fuzz::ensure(fuzz::sure(snapshot::load(state.save())).digest() == state.digest(), "saving keeps the digest");
    if (decides) decide_again(opened->session(), state);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string bytes(fuzz::as_text(data, size));
  if (size > 0 && data[size - 1] % 2 == 0) bytes = signed_again(std::move(bytes));
  const std::uint64_t found = sessions_in(bytes, true);
  if (io::is_gzip(bytes)) return 0;
  const std::string gzip = packed(bytes);
  fuzz::ensure(sessions_in(gzip) == found, "packed or not is the same");
  fuzz::ensure(sessions_in(std::string_view(gzip).substr(0, gzip.size() - gzip.size() / 4)) <= found,
               "cut off is not more");
  return 0;
}
