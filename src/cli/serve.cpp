// The command that holds a cluster and answers questions about it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "cli/serve/answers.hpp"
#include "cli/serve/request_router.hpp"
#include "cli/serve/worker_pool.hpp"
#include "io/files.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view serve_schema = "kaisched-serve/1";

struct serve_arguments {
  input_arguments input;
  policy_arguments policy;
  std::string socket;
  std::string listen;
  std::string token_file;
  std::int64_t threads = 0;
  double deadline = 2;
  double cluster_deadline = 60;
  double timeout = 10;
  std::int64_t most_bytes = 1 << 20;
  std::int64_t most_cluster_bytes = 256 << 20;
  std::int64_t most_questions = 256;
  std::int64_t most_pods = 10'000;
  std::int64_t most_verifications = 400;
  std::int64_t most_connections = 128;
  std::int64_t most_memory = 512 << 20;
  std::int64_t most_waiting = 256;
};

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

/// The first line of the file. Whoever guesses must have something to guess.
result<std::string> read_token(const std::string& path) {
  constexpr std::size_t shortest = 16;
  if (path.empty()) return std::string();
  std::error_code unknown;
  const auto file = std::filesystem::status(path, unknown);
  using std::filesystem::perms;
  if (!unknown && (file.permissions() & perms::others_read) != perms::none)
    return error{
        status::argument, fmt::format("--token-file {}: all users may read it; chmod 600 makes it a secret", path), {}};
  result<std::string> text = io::read_file(path);
  if (!text) return text.take_failure();
  std::string token = std::move(text).value();
  token.erase(token.find_last_not_of(" \r\n\t") + 1);
  if (token.size() < shortest || token.find_first_of(" \r\n\t") != std::string::npos)
    return error{status::argument,
                 fmt::format("--token-file {}: expected one word of at least {} characters", path, shortest),
                 {}};
  return token;
}

result<http::endpoint> address_of(const serve_arguments& told) {
  if (told.socket.empty() == told.listen.empty())
    return error{status::argument, "one of --socket PATH and --listen ADDRESS:PORT is needed", {}};
  if (told.listen.empty()) return http::endpoint{told.socket, {}, 0};
  if (told.token_file.empty())
    return error{status::argument, "--listen needs --token-file: everybody on this machine can reach a port", {}};
  return serve::parse_listen(told.listen);
}

int serve_cluster(const serve_arguments& told, const console& to) {
  if (auto sound = check_input(told.input); !sound) return to.fail(sound.failure(), exit_usage);
  const result<http::endpoint> at = address_of(told);
  if (!at) return to.fail(at.failure(), exit_usage);
  const result<std::string> token = read_token(told.token_file);
  if (!token) return to.fail(token.failure(), exit_usage);
  result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, load_steps + 1);
  const result<loaded_cluster> loaded = load_cluster(told.input, shown);
  if (!loaded) return to.fail(loaded.failure());
  shown.next("deciding");
  const std::size_t threads =
      told.threads > 0 ? static_cast<std::size_t>(told.threads) : std::max(1U, std::thread::hardware_concurrency());
  const serve::question_limits questions{static_cast<std::size_t>(told.most_questions),
                                         static_cast<std::size_t>(told.most_pods),
                                         static_cast<std::size_t>(told.most_verifications)};
  const result<std::unique_ptr<serve::answers>> answers = serve::answers::make(
      std::move(with).value(), loaded->state, loaded->now, told.input.on_invalid, questions, threads);
  if (!answers) return to.fail(about_input(told.input, answers.failure()));
  shown.finish();

  serve::worker_pool workers(threads, static_cast<std::size_t>(told.most_waiting));
  serve::request_limits bounds;
  bounds.body = static_cast<std::size_t>(told.most_bytes);
  bounds.cluster = static_cast<std::size_t>(told.most_cluster_bytes);
  bounds.deadline = milliseconds(told.deadline);
  bounds.cluster_deadline = milliseconds(told.cluster_deadline);
  serve::request_router router(bounds, *token, (*answers)->routes(), workers, [&] { return (*answers)->metrics(); });
  http::limits limits;
  limits.connections = static_cast<std::size_t>(told.most_connections);
  limits.memory = static_cast<std::size_t>(told.most_memory);
  limits.timeout = milliseconds(told.timeout);
  http::server server(limits, {}, router.application());
  router.count(server);
  try {
    server.listen(*at);
  } catch (const http::setup_error& fault) {
    return to.fail(error{status::argument, fault.what(), {}});
  }
  server.stop_on_signals();
  if (to.shows_report()) to.out().line(fmt::format("listening on {}", server.address()));
  const int begun = to.finish({{"schema", serve_schema},
                               {"address", server.address()},
                               {"cluster", (*answers)->current()->digest},
                               {"threads", threads}});
  if (begun != exit_ok) return begun;
  std::fflush(stdout);
  server.run();
  workers.stop();
  return exit_ok;
}

}  // namespace

void add_serve(command_list& to) {
  command& c = to.add("serve", group::decide, "Answer what-if and why over HTTP, thousands of times a second");
  auto& told = c.keep<serve_arguments>();
  c.explain(
      "Decides as `run` does and keeps the cluster and the session: programs ask over HTTP what `what-if`, `explain`, "
      "`gaps` and `scale` answer. Nothing changes but by a new cluster or deltas. Ends with SIGINT or SIGTERM.");
  add_input_arguments(c, told.input);
  add_policy_arguments(c, told.policy);
  c.heading("Who may ask");
  c.option("--socket", &told.socket, file_name(), "A Unix socket, for this user alone").writes();
  c.option("--listen", &told.listen, any_value("ADDRESS:PORT"), "A loopback address; port 0 is any that is free");
  c.option("--token-file", &told.token_file, file_name(), "What clients have to show; needed with --listen");
  c.heading("Limits");
  constexpr double most = 1e9;
  c.option("--threads", &told.threads, any_value("N"), "Answers that are made at a time; 0 is one for each core")
      .between(0, 1024);
  c.option("--deadline", &told.deadline, any_value("SECONDS"), "For an answer, from the end of its request")
      .between(0.001, 3600);
  c.option("--cluster-deadline", &told.cluster_deadline, any_value("SECONDS"), "The same for a cluster or deltas")
      .between(0.001, 86'400);
  c.option("--timeout", &told.timeout, any_value("SECONDS"),
           "For a header, a body, the taking of an answer, and between requests")
      .between(0.01, 3600);
  c.option("--most-bytes", &told.most_bytes, any_value("N"), "Of the body of a question").between(1, most);
  c.option("--most-cluster-bytes", &told.most_cluster_bytes, any_value("N"), "Of a cluster or of deltas")
      .between(1, 4e9);
  c.option("--most-questions", &told.most_questions, any_value("N"), "Of one request").between(1, 1e6);
  c.option("--most-pods", &told.most_pods, any_value("N"), "Of a group that is asked about").between(1, 1e6);
  c.option("--most-verifications", &told.most_verifications, any_value("N"),
           "Clusters that are decided for a question about nodes")
      .between(1, 1e6);
  c.option("--most-connections", &told.most_connections, any_value("N"),
           "Beyond, the one is closed that has been silent longest, or if none is silent the answer is 503")
      .between(1, 1e5);
  c.option("--most-memory", &told.most_memory, any_value("BYTES"), "Of all requests that are being received")
      .between(1, 1e12);
  c.option("--most-waiting", &told.most_waiting, any_value("N"), "Requests that wait; beyond, the answer is 503")
      .between(0, 1e6);
  c.add_example("kaisched serve cluster.json --socket kaisched.sock");
  c.add_example("kaisched serve cluster.json --listen 127.0.0.1:8080 --token-file token");
  c.runs([&told](console& out) { return serve_cluster(told, out); });
}

}  // namespace kaisched::cli
