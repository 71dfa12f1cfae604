#include <array>
#include <cstdio>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <doctest/doctest.h>

#include "folders.hpp"
#include "grant.hpp"

namespace {

std::pair<int, std::string> run(const std::string& arguments) {
  std::string printed;
  std::array<char, 4096> buffer{};
  FILE* from = popen((std::string(AGENT_PROGRAM) + " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(from != nullptr);
  for (std::size_t size = 0; (size = fread(buffer.data(), 1, buffer.size(), from)) > 0;)
    printed.append(buffer.data(), size);
  return {WEXITSTATUS(pclose(from)), printed};
}

std::string places(const folders& f) {
  return "--grants " + (f.top / "grants").string() + " --ledgers " + (f.top / "ledgers").string();
}

const char* const one_card = R"({"schema": "kaisched-grant/1", "tenant": "t", "node": "n1", "devices": [
  {"uuid": "GPU-a", "total_bytes": 8589934592, "memory_bytes": 1073741824, "core_permille": 300}]})";

}  // namespace

TEST_CASE("one look as table, JSON and metrics") {
  const folders f;
  f.grant("t", one_card);
  const auto [status, table] = run(places(f) + " --once --interval 10 --json " + (f.top / "u.json").string() +
                                   " --prometheus " + (f.top / "m.prom").string());
  CHECK(status == 0);
  CHECK(table.find("n1/0 of 8.00 GiB           0     0.00     1.00") != std::string::npos);
  CHECK(table.find("\x1b") == std::string::npos);  // no terminal
  CHECK(folders::read(f.top / "u.json").find("\"memory_limit_bytes\": 1073741824") != std::string::npos);
  CHECK(folders::read(f.top / "m.prom").find("kaisched_cuda_core_limit_ratio{node=\"n1\",card=\"0\"") !=
        std::string::npos);
  CHECK(run(places(f) + " --once --interval 10 --json -").second.find("{\n  \"schema\"") == 0);
}

TEST_CASE("the variables of a container") {
  const folders f;
  f.grant("t", one_card);
  const auto [status, lines] = run("--ledgers /ledgers --environment " + (f.top / "grants/t.json").string());
  CHECK(status == 0);
  CHECK(lines.find("KAISCHED_LEDGER=/ledgers/t\n") == 0);
  CHECK(lines.find("CUDA_DEVICE_MEMORY_LIMIT_0=1024m\n") != std::string::npos);
}

TEST_CASE("two agents do not keep the same ledgers") {
  const folders f;
  const int fd = open((f.top / "ledgers/.agent").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(flock(fd, LOCK_EX) == 0);
  const auto [status, said] = run(places(f) + " --once --interval 10");
  CHECK(status == 2);
  CHECK(said.find("another agent keeps it") != std::string::npos);
  close(fd);
  CHECK(run(places(f) + " --once --interval 10").first == 0);
}

TEST_CASE("errors have a status and a text") {
  const folders f;
  f.grant("t", "{}");
  const auto [bad, said] = run(places(f) + " --once --interval 10");
  CHECK(bad == 1);
  CHECK(said.find("error: t.json: schema: is missing") != std::string::npos);
  CHECK(run("--ledgers " + f.top.string()).first == 2);
  CHECK(run(places(f) + " --once --interval 10 --json /no/such/folder/u.json").first == 2);
  CHECK(run("--ledgers /l --environment /no/such/file").second.find("/no/such/file: cannot be read") !=
        std::string::npos);
  CHECK(run(places(f) + " --interval 1").first != 0);
}
