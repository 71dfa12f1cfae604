// Damaged ledgers: values written anywhere into the two files, before they are opened or while they are in use, and
// calls of the library on them. Nothing crashes or hangs, and what is wrong with a file is said.
#include <cstring>
#include <iterator>
#include <kaisched_ledger/ledger.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source.hpp"

namespace {

using kaisched::fuzz::ensure;
using kaisched::fuzz::source;

constexpr std::uint32_t card_count = 2;

/// The files of a good ledger, and how to have them again.
class files {
 public:
  files() {
    kl_device_spec cards[card_count] = {};
    std::strcpy(cards[0].uuid, "GPU-a");
    std::strcpy(cards[1].uuid, "GPU-b");
    for (kl_device_spec& card : cards) card.limits = {1000, 500, 100, 0, 0};
    kl_create_options options = KL_CREATE_OPTIONS_INIT;
    options.slots = 3;
    char folder[] = "/tmp/kaisched-fuzz-ledger-XXXXXX";
    ensure(mkdtemp(folder) != nullptr && rmdir(folder) == 0, "a folder");
    ensure(kl_create(folder, cards, card_count, &options, nullptr) == KL_OK, "a ledger");
    const std::string path = folder;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string file = path + (i == 0 ? "/limits" : "/usage");
      std::FILE* from = std::fopen(file.c_str(), "rb");
      ensure(from != nullptr, "its file");
      char buffer[4096];
      good_[i].assign(buffer, std::fread(buffer, 1, sizeof buffer, from));
      std::fclose(from);
      unlink(file.c_str());
      descriptors_[i] = memfd_create("fuzz", MFD_CLOEXEC);
    }
    rmdir(folder);
  }
  [[nodiscard]] int limits() const { return descriptors_[0]; }
  [[nodiscard]] int usage() const { return descriptors_[1]; }
  void restore() const {
    for (std::size_t i = 0; i < 2; ++i) {
      ensure(ftruncate(descriptors_[i], static_cast<off_t>(good_[i].size())) == 0, "a size");
      put(i, 0, good_[i].data(), good_[i].size());
    }
  }
  /// A value at a place, as the input wants it.
  void damage(source& from) const {
    const std::size_t file = from.below(2), size = 1U << from.below(4);
    const std::size_t at = (static_cast<std::size_t>(from.byte()) << 8U | from.byte()) % (good_[file].size() - size);
    const std::int64_t value = from.word();
    put(file, at - at % size, &value, size);
  }
  /// The sum over the header, so that more than the sum is looked at.
  void repair_check(std::size_t file) const {
    unsigned char header[256];
    ensure(pread(descriptors_[file], header, sizeof header, 0) == static_cast<ssize_t>(sizeof header), "a header");
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (std::size_t i = 0; i < 248; ++i) hash = (hash ^ header[i]) * 0x100000001b3U;
    put(file, 248, &hash, sizeof hash);
  }

 private:
  void put(std::size_t file, std::size_t at, const void* bytes, std::size_t size) const {
    ensure(pwrite(descriptors_[file], bytes, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size), "a write");
  }
  std::string good_[2];
  int descriptors_[2];
};

void look(const kl_ledger* ledger) {
  kl_device_state card;
  kl_slot_state slot;
  kl_error error;
  for (std::uint32_t i = 0; i <= kl_device_count(ledger); ++i) {
    card.struct_size = sizeof card;
    if (kl_device_get(ledger, i, &card) != KL_OK) continue;
    ensure(card.held_bytes <= KL_BYTES_MAX && std::strlen(card.uuid) > 0, "what is read is in range");
    ensure(card.limits.core_permille <= KL_WHOLE_CARD, "a share is in range");
  }
  for (std::uint32_t i = 0; i <= kl_slot_count(ledger); ++i) {
    slot.struct_size = sizeof slot;
    if (kl_slot_get(ledger, i, &slot) == KL_OK) ensure(slot.pid > 0, "who has a slot has a pid");
  }
  if (kl_audit(ledger, false, &error) != KL_OK) ensure(std::strlen(error.message) > 0, "an audit says what is wrong");
}

void call(kl_ledger* ledger, source& from) {
  const auto device = static_cast<std::uint32_t>(from.below(3));
  const std::uint64_t first = std::uint64_t{from.byte()} * 4, second = std::uint64_t{from.byte()} * 4;
  std::int64_t wait = 0;
  switch (from.below(12)) {
    case 0:
      kl_attach(ledger);
      break;
    case 1:
      kl_reserve(ledger, device, first);
      break;
    case 2:
      kl_commit(ledger, device, first, second);
      break;
    case 3:
      kl_cancel(ledger, device, first);
      break;
    case 4:
      kl_settle(ledger, device, first, second);
      break;
    case 5:
      kl_release(ledger, device, first);
      break;
    case 6:
      kl_charge(ledger, device, first);
      break;
    case 7:
      kl_detach(ledger);
      break;
    case 8:
      kl_reap(ledger, nullptr);
      break;
    case 9:
      if (kl_core_take(ledger, device, static_cast<std::int64_t>(first), 0, 1000, &wait) == KL_OK)
        ensure(wait >= 0 && wait <= KL_CORE_HORIZON_NS, "a wait is in range");
      break;
    case 10:
      kl_core_settle(ledger, device, static_cast<std::int64_t>(first), from.word());
      break;
    default:
      look(ledger);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const files ledger_files;
  source from(data, size);
  ledger_files.restore();
  const std::size_t before = from.below(4);
  for (std::size_t i = 0; i < before; ++i) ledger_files.damage(from);
  if (from.one_in(2))
    for (const std::size_t file : {0U, 1U}) ledger_files.repair_check(file);
  kl_ledger* ledger = nullptr;
  kl_error error;
  const auto access = static_cast<kl_access>(from.below(3));
  if (kl_open_fds(ledger_files.limits(), ledger_files.usage(), access, &ledger, &error) != KL_OK) {
    ensure(ledger == nullptr && std::strlen(error.message) > 0, "what is wrong is said");
    return 0;
  }
  if (before == 0) kl_attach(ledger);
  for (int calls = 0; calls < 64 && !from.empty(); ++calls) {
    if (from.one_in(4)) ledger_files.damage(from);
    call(ledger, from);
  }
  look(ledger);
  kl_close(ledger);
  return 0;
}
