// kaisched-device-plugin beside a kubelet of the tests: what it says of cards, what containers get, and what happens
// when files, cards and the kubelet go wrong.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <grpcpp/grpcpp.h>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "hami/hami_grants.hpp"
#include "inventory.hpp"
#include "kubelet.hpp"
#include "observability/log_text.hpp"
#include "plugin.hpp"
#include "slices.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to programs

namespace {

using namespace device_plugin;
using namespace kubelet_of_tests;
using namespace std::chrono_literals;

constexpr auto patience = 60s;  // of a busy machine

bool comes_true(const std::function<bool()>& what) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < end) {
    if (what()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

class folder {
 public:
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kaisched-plugin-XXXXXX").string();
    path_ = mkdtemp(name.data());
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  operator const std::filesystem::path&() const { return path_; }  // NOLINT(google-explicit-constructor): it is one
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / (name + ".new")) << text;
    std::filesystem::rename(path_ / (name + ".new"), path_ / name);
  }

 private:
  std::filesystem::path path_;
};

class process {
 public:
  process(const std::string& program, std::vector<std::string> arguments, const std::filesystem::path& log) {
    arguments.insert(arguments.begin(), program);
    std::vector<char*> words;
    for (std::string& one : arguments) words.push_back(one.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    REQUIRE(posix_spawn(&id_, program.c_str(), &files, nullptr, words.data(), environ) == 0);
    posix_spawn_file_actions_destroy(&files);
  }
  process(const process&) = delete;
  process& operator=(const process&) = delete;
  ~process() {
    if (id_ == 0) return;
    kill(id_, SIGKILL);
    (void)end();
  }
  void tell(int signal) const { REQUIRE(kill(id_, signal) == 0); }
  /// Its exit status; -1 if it was killed.
  int end() {
    int status = 0;
    waitpid(std::exchange(id_, 0), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t id_ = 0;
};

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string program() {
  const char* const file = std::getenv("KAISCHED_DEVICE_PLUGIN");
  REQUIRE_MESSAGE(file != nullptr, "KAISCHED_DEVICE_PLUGIN names the program");
  return file;
}

constexpr const char* two_cards = R"({"cards": [
  {"uuid": "GPU-b", "minor": 1, "memory": 85899345920, "numa": 1},
  {"uuid": "GPU-a", "minor": 0, "memory": 85899345920, "numa": 0}]})";

std::vector<std::string> usual_arguments(const folder& in) {
  return {"--cards", (in / "cards.json").string(), "--folder", (in / "").string(), "--slices", "3", "--interval", "20"};
}

std::string fault_of(const std::string& text) {
  try {
    (void)read_cards(text, "cards.json");
  } catch (const bad_inventory& why) {
    return why.what();
  }
  return {};
}

}  // namespace

TEST_CASE("slices: names") {
  CHECK(slice_id("GPU-1", 0, 1) == "GPU-1");
  CHECK(slice_id("GPU-1", 9, 10) == "GPU-1::9");
  CHECK(card_of("GPU-1::9") == "GPU-1");
  CHECK(card_of("GPU-1") == "GPU-1");
}

TEST_CASE("slices: other cards first, then by what is free") {
  const std::vector<std::string> free{"a::0", "a::1", "a::10", "a::9", "b::0", "b::1", "c::5"};
  using list = std::vector<std::string>;
  CHECK(preferred_slices(free, {}, 1, preference::spread) == list{"a::0"});
  CHECK(preferred_slices(free, {}, 1, preference::pack) == list{"c::5"});
  CHECK(preferred_slices(free, {}, 3, preference::spread) == list{"a::0", "b::0", "c::5"});
  CHECK(preferred_slices(free, {}, 3, preference::pack) == list{"c::5", "b::0", "a::0"});
  CHECK(preferred_slices(free, {}, 5, preference::spread) == list{"a::0", "b::0", "c::5", "a::1", "b::1"});
  CHECK(preferred_slices(free, {}, 7, preference::pack).size() == 7);
  CHECK(preferred_slices(free, list{"a::9"}, 2, preference::spread) == list{"a::9", "b::0"});
  CHECK(preferred_slices(free, list{"d::1", "a::9", "a::9"}, 2, preference::spread) == list{"a::9", "b::0"});
  CHECK(preferred_slices(free, list{"a::0", "a::1"}, 1, preference::spread) == list{"a::0"});
  CHECK(preferred_slices({}, {}, 4, preference::spread).empty());
}

TEST_CASE("slices: whatever is free, what is chosen is free, once, and on as many cards as can be") {
  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::vector<std::string> free;
    std::set<std::string> cards;
    for (std::uint32_t i = 0; i < random() % 30; ++i) {
      const std::string card = fmt::format("GPU-{}", random() % 5);
      free.push_back(slice_id(card, i, 30));
      cards.insert(card);
    }
    std::shuffle(free.begin(), free.end(), random);
    const std::vector<std::string> must(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(free.size() / 4));
    const std::size_t size = must.size() + random() % 12;
    const preference how = random() % 2 == 0 ? preference::spread : preference::pack;
    const std::vector<std::string> chosen = preferred_slices(free, must, size, how);
    CHECK(chosen.size() == std::min(size, free.size()));
    CHECK(std::equal(must.begin(), must.end(), chosen.begin()));
    std::set<std::string> distinct(chosen.begin(), chosen.end());
    CHECK(distinct.size() == chosen.size());
    for (const std::string& one : chosen) CHECK(std::find(free.begin(), free.end(), one) != free.end());
    std::set<std::string_view> of_must, used;
    for (const std::string& one : must) of_must.insert(card_of(one));
    for (const std::string& one : chosen) used.insert(card_of(one));
    CHECK(used.size() == std::min(cards.size(), of_must.size() + chosen.size() - must.size()));
  }
}

TEST_CASE("grants: amounts of memory that no number of bytes can hold are none") {
  using shim::hami::read_grants;
  CHECK(read_grants("GPU-a,NVIDIA,8796093022207,10:;").has_value());
  CHECK_FALSE(read_grants("GPU-a,NVIDIA,8796093022208,10:;").has_value());
  CHECK_FALSE(read_grants("GPU-a,NVIDIA,9223372036854775807,10:;").has_value());
  CHECK_FALSE(read_grants("GPU-a,NVIDIA,-1,10:;").has_value());
}

TEST_CASE("lines: what a message quotes is no line of its own and changes no terminal") {
  CHECK(shim::printable("pod a/b: \"x\nkaisched-device-plugin: y\"") == "pod a/b: \"x\\x0akaisched-device-plugin: y\"");
  CHECK(shim::printable("\x1B[2J") == "\\x1b[2J");
  CHECK(shim::printable("\xC2\x9B[2J") == "\\xc2\\x9b[2J");
  CHECK(shim::printable("x\xE2\x80\xAEy") == "x\\xe2\\x80\\xaey");
  CHECK(shim::printable("K\xC3\xB6ln \xE2\x82\xAC") == "K\xC3\xB6ln \xE2\x82\xAC");
  CHECK(shim::printable(std::string(5000, 'x')).size() < 4200);
}

TEST_CASE("cards: what is wrong is named") {
  CHECK(fault_of("") == "cards.json: is no JSON");
  CHECK(fault_of("[]") == "cards.json: expected an object with a list 'cards'");
  CHECK(fault_of(R"({"cards": [], "more": 1})") == "cards.json: has more than 'cards'");
  CHECK(fault_of(R"({"cards": [1]})") == "cards.json: cards[0]: expected an object");
  CHECK(fault_of(R"({"cards": [{}]})") == "cards.json: cards[0].uuid: is missing");
  CHECK(fault_of(R"({"cards": [{"uuid": "a,b"}]})").find("cards[0].uuid: expected 1 to 128 letters") !=
        std::string::npos);
  CHECK(fault_of(R"({"cards": [{"uuid": "a"}, {"uuid": "a"}]})") == "cards.json: cards[1].uuid: 'a' is there twice");
  CHECK(fault_of(R"({"cards": [{"uuid": "a", "minor": -2}]})") == "cards.json: cards[0].minor: -2 is less than -1");
  CHECK(fault_of(R"({"cards": [{"uuid": "a", "memory": 1.5}]})") ==
        "cards.json: cards[0].memory: expected a whole number, found 1.5");
  CHECK(fault_of(R"({"cards": [{"uuid": "a", "memory": 18446744073709551615}]})") ==
        "cards.json: cards[0].memory: 18446744073709551615 is too large");
  CHECK(fault_of(R"({"cards": [{"uuid": "a", "healthy": 1}]})") ==
        "cards.json: cards[0].healthy: expected true or false");
  CHECK(fault_of(R"({"cards": [{"uuid": "a", "size": 1}]})") == "cards.json: cards[0].size: unknown field");
  CHECK(fault_of(R"({"cards": []})").empty());
}

TEST_CASE("plugin: registers, lists, and tells what changes") {
  const folder in;
  in.write("cards.json", two_cards);
  process run(program(), usual_arguments(in), in / "log");  // before the kubelet: it waits
  CHECK(comes_true(
      [&] { return text_of(in / "log").find("the kubelet does not take nvidia.com/gpu") != std::string::npos; }));
  const kubelet node(in, 1);
  REQUIRE(comes_true([&] { return !node.registered().empty(); }));
  const v1beta1::RegisterRequest told = node.registered().front();
  CHECK(told.version() == "v1beta1");
  CHECK(told.endpoint() == "kaisched-gpu.sock");
  CHECK(told.resource_name() == "nvidia.com/gpu");
  CHECK(told.options().get_preferred_allocation_available());
  CHECK_FALSE(told.options().pre_start_required());

  connection to(in);
  REQUIRE(comes_true([&] { return to.lists() == 1; }));
  REQUIRE(to.last().devices_size() == 6);
  CHECK(to.last().devices(0).id() == "GPU-a::0");
  CHECK(to.last().devices(5).id() == "GPU-b::2");
  CHECK(to.last().devices(5).topology().nodes(0).id() == 1);
  CHECK(to.health().at("GPU-a::1") == "Healthy");

  in.write("cards.json", R"({"cards": [{"uuid": "GPU-a", "healthy": false}, {"uuid": "GPU-c"}]})");
  REQUIRE(comes_true([&] { return to.health().count("GPU-c::0") == 1; }));
  CHECK(to.health().at("GPU-a::2") == "Unhealthy");
  CHECK(to.health().count("GPU-b::0") == 0);

  // What cannot be read changes nothing and is said once.
  in.write("cards.json", "{");
  REQUIRE(comes_true(
      [&] { return text_of(in / "log").find("is no JSON; the cards stay what they were") != std::string::npos; }));
  const int lists = to.lists();
  std::this_thread::sleep_for(200ms);
  CHECK(to.lists() == lists);
  const std::string log = text_of(in / "log");
  CHECK(log.find("is no JSON") == log.rfind("is no JSON"));

  run.tell(SIGTERM);
  CHECK(run.end() == 0);
  CHECK(comes_true([&] { return to.ended(); }));
  CHECK(node.registered().size() == 1);
}

TEST_CASE("plugin: a kubelet that starts anew is told again") {
  const folder in;
  in.write("cards.json", two_cards);
  auto node = std::make_unique<kubelet>(std::filesystem::path(in));
  process run(program(), usual_arguments(in), in / "log");
  REQUIRE(comes_true([&] { return node->registered().size() == 1; }));
  node.reset();
  std::filesystem::remove(in / "kubelet.sock");
  std::filesystem::remove(in / "kaisched-gpu.sock");  // as kubelets do when they start
  node = std::make_unique<kubelet>(std::filesystem::path(in));
  REQUIRE(comes_true([&] { return node->registered().size() == 1; }));
  connection to(in);
  CHECK(comes_true([&] { return to.last().devices_size() == 6; }));
  // One that leaves the plugins' sockets alone.
  node.reset();
  std::filesystem::remove(in / "kubelet.sock");
  node = std::make_unique<kubelet>(std::filesystem::path(in));
  CHECK(comes_true([&] { return node->registered().size() == 1; }));
  run.tell(SIGINT);
  CHECK(run.end() == 0);
}

TEST_CASE("plugin: what containers get") {
  const folder in;
  in.write("cards.json", R"({"cards": [{"uuid": "GPU-a", "minor": 0}, {"uuid": "GPU-b", "minor": 1},
                                       {"uuid": "GPU-c", "minor": 2, "healthy": false}]})");
  std::filesystem::create_directory(in / "dev");
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"}) std::ofstream(in / "dev" / name) << "";
  const kubelet node(in);
  std::vector<std::string> words = usual_arguments(in);
  for (const std::string& one :
       {std::string("--dev"), (in / "dev").string(), std::string("--mount"),
        std::string("/run/kaisched:/run/kaisched/ledger"), std::string("--mount"), std::string("/var/lib/x:/x:rw"),
        std::string("--env"), std::string("LD_PRELOAD=/usr/lib/kaisched/libkaisched_guard_dlsym.so")}) {
    words.push_back(one);
  }
  process run(program(), words, in / "log");
  REQUIRE(comes_true([&] { return !node.registered().empty(); }));
  connection to(in);

  v1beta1::AllocateResponse got;
  REQUIRE(allocate(*to, {{"GPU-b::2", "GPU-a::0", "GPU-a::1"}, {"GPU-b::0"}}, got).ok());
  REQUIRE(got.containers_size() == 2);
  const v1beta1::ContainerAllocateResponse& first = got.containers(0);
  CHECK(first.envs().at("NVIDIA_VISIBLE_DEVICES") == "GPU-a,GPU-b");
  CHECK(first.envs().at("CUDA_VISIBLE_DEVICES") == "GPU-a,GPU-b");
  CHECK(first.envs().at("LD_PRELOAD") == "/usr/lib/kaisched/libkaisched_guard_dlsym.so");
  REQUIRE(first.mounts_size() == 2);
  CHECK(first.mounts(0).container_path() == "/run/kaisched/ledger");
  CHECK(first.mounts(0).read_only());
  CHECK_FALSE(first.mounts(1).read_only());
  std::vector<std::string> nodes;
  for (const v1beta1::DeviceNode& one : first.devices()) nodes.push_back(one.container_path());
  CHECK(nodes == std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", "/dev/nvidia-uvm"});
  CHECK(first.devices(0).host_path() == (in / "dev" / "nvidia0").string());
  CHECK(got.containers(1).envs().at("NVIDIA_VISIBLE_DEVICES") == "GPU-b");

  CHECK(allocate(*to, {{"GPU-a::0"}, {"GPU-c::0"}}, got).error_code() == grpc::StatusCode::UNAVAILABLE);
  for (const char* unknown :
       {"GPU-a::3", "GPU-a", "GPU-a::", "GPU-a::00", "GPU-a::1x", "GPU-d::0", "", "::", "GPU-a::-1"}) {
    CAPTURE(unknown);
    CHECK(allocate(*to, {{unknown}}, got).error_code() == grpc::StatusCode::NOT_FOUND);
  }

  v1beta1::PreferredAllocationRequest wish;
  auto& container = *wish.add_containers();
  for (const char* id : {"GPU-a::0", "GPU-a::1", "GPU-b::1"}) container.add_available_ids(id);
  container.add_must_include_ids("GPU-b::1");
  container.set_allocation_size(2);
  v1beta1::PreferredAllocationResponse preferred;
  grpc::ClientContext context;
  REQUIRE((*to).GetPreferredAllocation(&context, wish, &preferred).ok());
  REQUIRE(preferred.containers(0).ids_size() == 2);
  CHECK(preferred.containers(0).ids(0) == "GPU-b::1");
  CHECK(preferred.containers(0).ids(1) == "GPU-a::0");
  container.set_allocation_size(-1);
  grpc::ClientContext other;
  CHECK((*to).GetPreferredAllocation(&other, wish, &preferred).error_code() == grpc::StatusCode::INVALID_ARGUMENT);
}

TEST_CASE("plugin: wrong words and files end it with 2 and a line that says which") {
  const folder in;
  const auto ends_with_2 = [&](std::vector<std::string> words, const std::string& line) {
    std::filesystem::remove(in / "log");
    process run(program(), std::move(words), in / "log");
    CHECK(run.end() == 2);
    CHECK(text_of(in / "log").find(line) != std::string::npos);
  };
  ends_with_2({}, "--cards or --nvml is required");
  ends_with_2({"--cards", (in / "none").string()}, "none: cannot be read");
  ends_with_2({"--nvml", (in / "none.so").string()}, "none.so: cannot be loaded");
  in.write("cards.json", R"({"cards": [{"uuid": 1}]})");
  ends_with_2({"--cards", (in / "cards.json").string()}, "cards[0].uuid: expected");
  ends_with_2({"--cards", "x", "--slices", "0"}, "--slices");
  ends_with_2({"--cards", "x", "--mount", "/only"}, "'/only' is not /HOST:/CONTAINER");
  ends_with_2({"--cards", "x", "--env", "=1"}, "'=1' is not NAME=VALUE");
}

namespace {

/// Raises an event on the machine that the fake NVML shares with others.
class fake_events {
 public:
  explicit fake_events(const char* library) : library_(dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
    REQUIRE(library_ != nullptr);
    raise_ = reinterpret_cast<bool (*)(unsigned, unsigned long long, unsigned long long)>(
        dlsym(library_, "kaisched_fake_raise"));
    const bool found = raise_ != nullptr;
    REQUIRE(found);
  }
  void xid(unsigned card, unsigned long long number) const { REQUIRE(raise_(card, 8, number)); }
  void of_kind(unsigned card, unsigned long long kind) const { REQUIRE(raise_(card, kind, 0)); }

 private:
  void* library_;
  bool (*raise_)(unsigned, unsigned long long, unsigned long long) = nullptr;
};

}  // namespace

TEST_CASE("cards of NVML: errors that are told") {
  const char* const library = std::getenv("KAISCHED_FAKE_NVML");
  if (library == nullptr) {
    MESSAGE("skipped: no KAISCHED_FAKE_NVML");
    return;
  }
  const folder in;
  setenv("KAISCHED_FAKE_STATE", (in / "state").c_str(), 1);
  setenv("KAISCHED_FAKE_DEVICES", "8g;8g;8g", 1);
  const kubelet node(in);
  std::vector<std::string> words{"--nvml",           library,      "--folder", (in / "").string(), "--dev",
                                 (in / "").string(), "--interval", "600000",   "--ignore-xids",    "62"};
  process run(program(), words, in / "log");  // it looks once in ten minutes
  REQUIRE(comes_true([&] { return !node.registered().empty(); }));
  connection to(in);
  REQUIRE(comes_true([&] { return to.lists() == 1; }));
  const std::string first = to.last().devices(0).id();
  const std::string second = to.last().devices(1).id();
  const std::string third = to.last().devices(2).id();
  // Another copy: what this process has loaded may have opened a machine of its own.
  std::filesystem::copy_file(library, in / "events.so");
  const fake_events events((in / "events.so").c_str());
  for (const unsigned number : {13U, 31U, 43U, 45U, 68U, 109U, 62U}) events.xid(2, number);
  events.of_kind(2, 1);  // a single bit
  events.xid(1, 79);
  REQUIRE(comes_true([&] { return to.health().at(second) == "Unhealthy"; }));
  CHECK(text_of(in / "log").find("card '" + second + "': XID 79: it is not healthy any more") != std::string::npos);
  CHECK(to.health().at(first) == "Healthy");
  CHECK(to.health().at(third) == "Healthy");
  events.of_kind(0, 2);
  REQUIRE(comes_true([&] { return to.health().at(first) == "Unhealthy"; }));
  CHECK(to.health().at(third) == "Healthy");
  run.tell(SIGTERM);
  CHECK(run.end() == 0);
  unsetenv("KAISCHED_FAKE_STATE");
}

TEST_CASE("cards of NVML") {
  const char* const library = std::getenv("KAISCHED_FAKE_NVML");
  if (library == nullptr) {
    MESSAGE("skipped: no KAISCHED_FAKE_NVML");
    return;
  }
  setenv("KAISCHED_FAKE_DEVICES", "8g;8g", 1);
  const std::unique_ptr<inventory> from = cards_of_nvml(library);
  const std::vector<card> cards = from->look();
  REQUIRE(cards.size() == 2);
  CHECK(cards[0].uuid != cards[1].uuid);
  for (const card& one : cards) {
    CHECK(one.healthy);
    CHECK(one.memory_bytes == std::uint64_t{8} << 30U);
  }
  CHECK(from->look() == cards);
}
