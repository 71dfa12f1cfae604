// Any text as a grant, and any values written into the ledger that the node agent makes of it, by a container that may
// write its own: looks go on, every number that is told is in range, and what is wrong is said.
#include <array>
#include <filesystem>
#include <fstream>
#include <kaisched_ledger/ledger.h>
#include <string>
#include <unistd.h>

#include "grant.hpp"
#include "keeper.hpp"
#include "render.hpp"
#include "source.hpp"

namespace {

namespace fs = std::filesystem;
using kaisched::fuzz::ensure;
using kaisched::fuzz::source;

/// Grants and ledgers of one tenant, in memory where that can be had.
class node {
 public:
  node() {
    std::string name = fs::exists("/dev/shm") ? "/dev/shm/kaisched-fuzz-XXXXXX" : "/tmp/kaisched-fuzz-XXXXXX";
    ensure(mkdtemp(name.data()) != nullptr, "a folder");
    top_ = name;
  }
  node(const node&) = delete;
  node& operator=(const node&) = delete;
  ~node() {
    std::error_code ignored;
    fs::remove_all(top_, ignored);
  }
  void clear() const {
    for (const char* part : {"grants", "ledgers"}) {
      fs::remove_all(top_ / part);
      fs::create_directories(top_ / part);
    }
  }
  [[nodiscard]] cuda_agent::keeper_options options() const { return {top_ / "grants", top_ / "ledgers", "", -1, 4}; }
  [[nodiscard]] fs::path ledger() const { return top_ / "ledgers" / "t"; }
  void grant(std::string_view text) const {
    std::ofstream(top_ / "grants" / "t.json", std::ios::binary | std::ios::trunc) << text;
  }
  void withdraw() const { fs::remove(top_ / "grants" / "t.json"); }
  /// A value somewhere in a file of the ledger, or another size.
  void damage(source& from) const {
    const fs::path file = ledger() / (from.one_in(4) ? "limits" : "usage");
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(file, failed);
    if (failed || size < 16) return;
    if (from.one_in(16)) return fs::resize_file(file, from.one_in(2) ? 0 : size / 2, failed);
    const std::size_t bytes = std::size_t{1} << from.below(4);
    const std::size_t at = (static_cast<std::size_t>(from.byte()) << 8U | from.byte()) % (size - bytes);
    const std::int64_t value = from.word();
    std::fstream to(file, std::ios::binary | std::ios::in | std::ios::out);
    to.seekp(static_cast<std::streamoff>(at - at % bytes));
    to.write(static_cast<const char*>(static_cast<const void*>(&value)), static_cast<std::streamsize>(bytes));
  }

 private:
  fs::path top_;
};

/// A process of the tenant that takes some memory and some time.
void use(const node& of, source& from) {
  kl_ledger* ledger = nullptr;
  if (kl_open(of.ledger().c_str(), KL_TENANT, &ledger, nullptr) != KL_OK) return;
  kl_attach(ledger);
  const std::uint64_t bytes = from.byte();
  if (kl_reserve(ledger, 0, bytes) == KL_OK) kl_commit(ledger, 0, bytes, bytes);
  kl_core_settle(ledger, 0, 0, from.word());
  if (from.one_in(2)) kl_detach(ledger);
  kl_close(ledger);
}

void check(const cuda_agent::report& told) {
  for (const std::string& error : told.errors) ensure(!error.empty(), "an error says what is wrong");
  ensure(!render_table(told).empty() && !render_json(told).empty(), "every look can be shown");
  (void)render_prometheus(told);
  for (const cuda_agent::card_row& card : told.cards) {
    ensure(card.utilization >= -1 && card.utilization <= 1000, "a mean is in range");
    ensure(card.used_permille >= -1, "what is used is not negative");
    for (const cuda_agent::tenant_row& one : card.tenants)
      ensure(one.state.limits.core_permille <= KL_WHOLE_CARD, "a share is in range");
  }
}

/// Until a line of `%%` calls, after it the text.
std::size_t text_begins(std::string_view input) {
  const std::size_t found = input.find("%%\n");
  return found == std::string_view::npos ? input.size() : found + 3;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const node of;
  static const bool survives = kl_survive_truncation() == KL_OK;
  ensure(survives, "a handler");
  const std::string_view input = kaisched::fuzz::as_text(data, size);
  const std::size_t text = text_begins(input);
  source from(data, text);
  of.clear();
  of.grant(input.substr(text));
  cuda_agent::keeper keeper(of.options());
  std::int64_t now = 1'000'000'000;
  for (int i = 0; i < 16; ++i) {
    check(keeper.look(now));
    if (from.empty()) break;
    switch (from.below(5)) {
      case 0:
        use(of, from);
        break;
      case 1:
        of.withdraw();
        break;
      case 2:
        keeper = cuda_agent::keeper(of.options());  // the agent starts anew
        break;
      default:
        of.damage(from);
    }
    now += 1 + std::int64_t{from.byte()} * 10'000'000;
  }
  return 0;
}
