// Any bytes as a saved snapshot: an error that says why, or a cluster that is saved as it was and can be decided.
#include "decide.hpp"
#include "source.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  const result<snapshot> loaded = snapshot::load(fuzz::as_text(data, size));
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
