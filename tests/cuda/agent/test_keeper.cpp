#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "folders.hpp"
#include "keeper.hpp"

namespace {

using namespace cuda_agent;

std::string grant_of(const std::string& tenant, const std::string& uuid, std::uint64_t bytes,
                     const std::string& node = "n1") {
  grant g{tenant, node, false, {}};
  g.cards.push_back({uuid, 0, 10'000, bytes, 500, 0, 0});
  return write_grant(g);
}

keeper_options options_of(const folders& f, const std::string& node = "") {
  return {f.top / "grants", f.top / "ledgers", node, -1, 4};
}

/// A process of the tenant that holds so much until it is killed.
class tenant_process {
 public:
  tenant_process(const std::string& folder, std::uint64_t bytes, std::uint64_t busy_ns = 0) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      kl_ledger* ledger = nullptr;
      const bool good = kl_open(folder.c_str(), KL_TENANT, &ledger, nullptr) == KL_OK && kl_attach(ledger) == KL_OK &&
                        kl_reserve(ledger, 0, bytes) == KL_OK && kl_commit(ledger, 0, bytes, bytes) == KL_OK &&
                        kl_core_settle(ledger, 0, 0, static_cast<std::int64_t>(busy_ns)) == KL_OK;
      if (write(ends[1], good ? "y" : "n", 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ends[1]);
    char answer = 0;
    REQUIRE(read(ends[0], &answer, 1) == 1);
    close(ends[0]);
    REQUIRE(answer == 'y');
  }
  tenant_process(const tenant_process&) = delete;
  tenant_process& operator=(const tenant_process&) = delete;
  ~tenant_process() { end(); }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_;
};

const tenant_row& only(const report& r) {
  REQUIRE(r.cards.size() == 1);
  REQUIRE(r.cards[0].tenants.size() == 1);
  return r.cards[0].tenants[0];
}

}  // namespace

TEST_CASE("a ledger is made for a grant, follows it, and goes with it") {
  const folders f;
  keeper k(options_of(f));
  CHECK(k.look(0).cards.empty());
  f.grant("t", grant_of("t", "GPU-a", 1000));
  CHECK(only(k.look(1)).state.limits.memory_bytes == 1000);
  f.grant("t", grant_of("t", "GPU-a", 2000));
  CHECK(only(k.look(2)).state.limits.memory_bytes == 2000);
  {
    const tenant_process process(f.ledger("t"), 700, 300);
    const report r = k.look(1002);
    CHECK(only(r).state.held_bytes == 700);
    CHECK(only(r).processes == 1);
    CHECK(only(r).used_permille == 300);
    CHECK(r.cards[0].utilization == 150);  // the mean of 0 and 300
    CHECK(r.cards[0].deviation == 150);
    CHECK(r.cards[0].total_bytes == 10'000);
    std::filesystem::remove(f.top / "grants/t.json");
    CHECK(only(k.look(1003)).leaving);
    CHECK(std::filesystem::exists(f.ledger("t")));
  }
  const report last = k.look(1004);
  CHECK(last.cards.empty());
  CHECK(last.reaped == 1);
  CHECK_FALSE(std::filesystem::exists(f.ledger("t")));
}

TEST_CASE("what the dead held comes back at the next look, while others go on") {
  const folders f;
  keeper k(options_of(f));
  f.grant("t", grant_of("t", "GPU-a", 1000));
  k.look(0);
  const tenant_process stays(f.ledger("t"), 100);
  tenant_process dies(f.ledger("t"), 500);
  CHECK(only(k.look(1)).state.held_bytes == 600);
  dies.end();
  const report r = k.look(2);
  CHECK(only(r).state.held_bytes == 100);
  CHECK(only(r).processes == 1);
  CHECK(r.reaped == 1);
  CHECK(r.errors.empty());
}

TEST_CASE("a bad grant leaves what was granted, and is named") {
  const folders f;
  keeper k(options_of(f));
  f.grant("t", grant_of("t", "GPU-a", 1000));
  k.look(0);
  f.grant("t", "{\"schema\": 1}");
  report r = k.look(1);
  CHECK(only(r).state.limits.memory_bytes == 1000);
  CHECK_FALSE(only(r).leaving);
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0] == "t.json: schema: must be a text");
  f.grant("t", grant_of("other", "GPU-a", 5));
  r = k.look(2);
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0] == "t.json: tenant: must be the name of the file");
  CHECK(only(r).state.limits.memory_bytes == 1000);
  std::filesystem::remove_all(f.top / "grants");
  r = k.look(3);
  CHECK(r.errors.size() == 1);
  CHECK_FALSE(only(r).leaving);
}

TEST_CASE("a damaged ledger is put aside and made anew") {
  const folders f;
  f.grant("t", grant_of("t", "GPU-a", 1000));
  {
    keeper k(options_of(f));
    k.look(0);
    // The sum of the card, while the agent has it open.
    const int fd = open((f.ledger("t") + "/usage").c_str(), O_RDWR | O_CLOEXEC);
    const std::uint64_t much = ~std::uint64_t{0};
    REQUIRE(pwrite(fd, &much, sizeof much, 256) == static_cast<ssize_t>(sizeof much));
    close(fd);
    const report r = k.look(1);
    REQUIRE(r.errors.size() == 1);
    CHECK(r.errors[0].find("t: KL_E_CORRUPT") == 0);
    CHECK(only(r).state.held_bytes == 0);
    CHECK(std::filesystem::exists(f.ledger("t.damaged-0")));
    CHECK(k.look(2).errors.empty());
  }
  std::ofstream(f.ledger("t") + "/limits") << "not a ledger";
  keeper k(options_of(f));
  report r = k.look(0);
  REQUIRE(r.errors.size() == 1);
  CHECK(r.errors[0].find("t: limits: no ledger") == 0);
  CHECK(std::filesystem::exists(f.ledger("t.damaged-1")));
  r = k.look(1);
  CHECK(r.errors.empty());
  CHECK(only(r).state.limits.memory_bytes == 1000);
}

TEST_CASE("other cards for a tenant wait until its processes are gone") {
  const folders f;
  keeper k(options_of(f));
  f.grant("t", grant_of("t", "GPU-a", 1000));
  k.look(0);
  {
    const tenant_process process(f.ledger("t"), 100);
    f.grant("t", grant_of("t", "GPU-b", 1000));
    const report r = k.look(1);
    REQUIRE(r.errors.size() == 1);
    CHECK(r.errors[0] == "t.json: devices: other cards than before, while processes run");
    CHECK(r.cards[0].uuid == "GPU-a");
    // An agent that is started in that moment sees the same.
    keeper second(options_of(f));
    REQUIRE(second.look(0).errors.size() == 1);
  }
  k.look(2);
  const report r = k.look(3);
  CHECK(r.errors.empty());
  CHECK(r.cards[0].uuid == "GPU-b");
}

TEST_CASE("an agent that starts again takes over what it finds") {
  const folders f;
  f.grant("t", grant_of("t", "GPU-a", 1000));
  f.grant("gone", grant_of("gone", "GPU-a", 1000));
  {
    keeper(options_of(f)).look(0);
  }
  const tenant_process process(f.ledger("t"), 100), other(f.ledger("gone"), 50);
  std::filesystem::remove(f.top / "grants/gone.json");
  keeper k(options_of(f));
  const report r = k.look(0);
  CHECK(r.errors.empty());
  std::uint64_t held = 0;
  for (const card_row& card : r.cards) {
    held += card.held_bytes;
    for (const tenant_row& row : card.tenants) CHECK(row.leaving == (row.tenant == "gone"));
  }
  CHECK(held == 150);
}

TEST_CASE("grants of other nodes are left alone") {
  const folders f;
  f.grant("a", grant_of("a", "GPU-a", 1000, "n1"));
  f.grant("b", grant_of("b", "GPU-b", 1000, "n2"));
  keeper k(options_of(f, "n2"));
  CHECK(only(k.look(0)).tenant == "b");
  CHECK_FALSE(std::filesystem::exists(f.ledger("a")));
}

TEST_CASE("a tenant that truncates a file of its ledger ends neither the agent nor the looks at others") {
  REQUIRE(kl_survive_truncation() == KL_OK);
  for (const char* file : {"usage", "limits"}) {
    CAPTURE(file);
    const folders f;
    f.grant("a", grant_of("a", "GPU-a", 1000));
    f.grant("b", grant_of("b", "GPU-b", 1000));
    keeper k(options_of(f));
    CHECK(k.look(1).errors.empty());
    std::filesystem::resize_file(f.top / "ledgers" / "a" / file, 0);
    std::vector<std::string> errors;
    report last;
    for (int look = 2; look < 5; ++look) {
      last = k.look(look);
      errors.insert(errors.end(), last.errors.begin(), last.errors.end());
    }
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].find("a: ") == 0);
    CHECK(errors[0].find("shorter than it was; put aside") != std::string::npos);
    CHECK(last.cards.size() == 2);
    CHECK(std::filesystem::exists(f.top / "ledgers" / "a.damaged-0"));
  }
}
