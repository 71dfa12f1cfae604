// Any bytes as a saved snapshot: an error that says why, or a cluster that is saved as it was and can be decided.
#include "decide.hpp"
#include "source.hpp"

namespace {

/// In the form without a checksum, so that not all that is wrong ends there.
std::string without_checksum(std::string_view bytes) {
  constexpr std::size_t head = 36;
  if (!bytes.starts_with("kaisched-snapshot/2\n") || bytes.size() < head) return std::string(bytes);
  return "kaisched-snapshot/1\n" + std::string(bytes.substr(head));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  std::string bytes(fuzz::as_text(data, size));
  if (size > 0 && data[size - 1] % 2 == 0) bytes = without_checksum(bytes);
  const result<snapshot> loaded = snapshot::load(bytes);
  if (!loaded) {
    fuzz::ensure(!loaded.failure().message.empty(), "an error says why");
    return 0;
  }
  const std::string saved = loaded->save();
  const snapshot again = fuzz::sure(snapshot::load(saved));
  fuzz::ensure(again.digest() == loaded->digest(), "saving keeps the digest");
  fuzz::ensure(again.save() == saved, "saving keeps every byte");
  fuzz::check_decidable(again, std::int64_t{1000} * 1'000'000'000, size);
  return 0;
}
