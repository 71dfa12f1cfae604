#include "cli/serve/answers.hpp"

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/version.hpp>

#include "cli/explain.hpp"
#include "cli/figures.hpp"
#include "cli/gaps.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "cli/scale.hpp"
#include "cli/serve/request_counts.hpp"
#include "io/cluster_json.hpp"
#include "io/delta_reader.hpp"
#include "io/json_document.hpp"

namespace kaisched::cli::serve {

namespace {

unsigned http_status_of(status code) {
  switch (code) {
    case status::not_found:
    case status::stale_id:
      return 404;
    case status::duplicate:
    case status::conflict:
    case status::state:
      return 409;
    case status::cancelled:
      return 504;
    case status::plugin:
    case status::no_memory:
    case status::internal:
      return 500;
    default:
      return 400;
  }
}

http_reply refusal(const error& why) {
  return error_reply(http_status_of(why.code), status_name(why.code), why.message);
}

http_reply too_late() { return error_reply(504, "deadline", "there was no answer before the deadline of the server"); }

http_reply busy_changing() {
  http_reply made = error_reply(503, "busy", "another change of the cluster is under way");
  made.headers.emplace_back("Retry-After", "1");
  return made;
}

/// Whoever reads an answer learns over which cluster it was given.
http_reply told_over(const held_cluster& of, std::string body) {
  return {200, std::move(body), {{"Kaisched-Cluster", of.digest}}};
}

json about_json(const held_cluster& of) {
  const outcome& by = of.ran.figures;
  return {{"schema", "kaisched-serve-cluster/1"},
          {"cluster", of.digest},
          {"now", of.now},
          {"preset", by.preset},
          {"mode", by.mode},
          {"digest", by.digest},
          {"contents", json_of(contents_of(of.ran.over.base()))}};
}

json reasons_json(const held_cluster& of) {
  const outcome& by = of.ran.figures;
  json groups = json::array();
  for (const waiting_group& one : by.waiting_groups) {
    json texts = json::array();
    for (const reason& why : one.reasons) texts.push_back(of.ran.over.text(why));
    groups.push_back({{"group", of.ran.over.base().group_name(one.group)},
                      {"reason", one.headline},
                      {"pods", one.pods},
                      {"gpu", one.gpus},
                      {"reasons", std::move(texts)}});
  }
  return {{"schema", "kaisched-serve-reasons/1"},
          {"cluster", of.digest},
          {"preset", by.preset},
          {"mode", by.mode},
          {"digest", by.digest},
          {"waiting", waiting_json(by)},
          {"groups", std::move(groups)}};
}

/// One question of a request. `place` is where it stands in the body, for messages.
result<json> forecast_of(const decided& ran, std::int64_t now, const what_if_question& asked,
                         const std::string& place) {
  if (const std::string unknown = unknown_queue(asked, ran.over.base()); !unknown.empty())
    return error{status::not_found, fmt::format("body: {}queue: {}: {}", place, asked.queue, unknown), {}};
  result<what_if_answers> found = ask_what_if(ran.over, now, asked);
  if (found) return what_if_json(ran.figures, now, *found);
  error why = found.take_failure();
  why.message = fmt::format("body: {}{}", place, why.message);
  return why;
}

}  // namespace

answers::answers(engine with, std::string on_invalid, question_limits limits, std::size_t seats)
    : with_(std::move(with)),
      on_invalid_(std::move(on_invalid)),
      limits_(limits),
      quiet_([] {
        common_arguments told;
        told.quiet = true;
        return told;
      }()),
      benches_(seats) {}

result<std::unique_ptr<answers>> answers::make(engine with, const snapshot& over, std::int64_t now,
                                               std::string on_invalid, question_limits limits, std::size_t seats) {
  std::unique_ptr<answers> made(new answers(std::move(with), std::move(on_invalid), limits, seats));
  result<held> first = made->decide_over(over, now, nullptr);
  if (!first) return first.take_failure();
  made->current_ = std::move(first).value();
  return made;
}

result<answers::held> answers::decide_over(const snapshot& over, std::int64_t now, seat* at) const {
  progress unseen(quiet_, decide_steps(with_));
  result<decided> ran = decide(with_, over, now, unseen, [at](const session* of) {
    if (at != nullptr) at->watch(of);
  });
  if (!ran) return ran.take_failure();
  auto made = std::make_shared<held_cluster>(held_cluster{now, std::move(ran).value(), over.digest(), {}, {}});
  made->about = json_text(about_json(*made));
  made->reasons = json_text(reasons_json(*made));
  return held(std::move(made));
}

std::shared_ptr<const held_cluster> answers::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

std::string answers::metrics() const {
  held over;
  std::uint64_t versions = 0;
  {
    const std::lock_guard lock(mutex_);
    over = current_;
    versions = versions_;
  }
  const outcome& by = over->ran.figures;
  std::string text;
  add_metric(text, "kaisched_serve_versions_total", "counter", "Versions of the cluster that have been held.",
             static_cast<double>(versions));
  add_metric(text, "kaisched_serve_cluster_now_seconds", "gauge", "The clock of the cluster.",
             static_cast<double>(over->now) / 1e9);
  add_metric(text, "kaisched_serve_groups_waiting", "gauge", "Groups of the cluster that wait after its decisions.",
             static_cast<double>(by.waiting_groups.size()));
  return text;
}

/// The worker's own session over the present version.
const decided& answers::sit_down(seat& at) {
  bench& mine = benches_[at.number()];
  held now = current();
  if (mine.of != now || !mine.mine) {
    mine.mine.reset();
    mine.of = std::move(now);
    mine.mine.emplace(decided{mine.of->ran.over.fork(), mine.of->ran.figures, mine.of->ran.last_decision});
  }
  at.watch(&mine.mine->over);
  return *mine.mine;
}

/// A session that was told to end answers no other question.
void answers::get_up(seat& at) {
  at.watch(nullptr);
  if (at.was_cancelled()) benches_[at.number()].mine.reset();
}

http_reply answers::what_if(seat& at, const http_request& asked) {
  const decided& ran = sit_down(at);
  const held over = benches_[at.number()].of;
  const result<what_if_body> body = read_what_if(asked.body, ran.over.base().dimension_names(), limits_);
  if (!body) {
    get_up(at);
    return refusal(body.failure());
  }
  json list = json::array();
  http_reply refused;
  for (std::size_t i = 0; i < body->questions.size(); ++i) {
    const std::string place = body->is_batch ? fmt::format("questions[{}].", i) : std::string();
    if (!at.is_late()) {
      result<json> one = forecast_of(ran, over->now, body->questions[i], place);
      if (one && !at.is_late()) {
        list.push_back(std::move(one).value());
        continue;
      }
      if (!one) refused = refusal(one.failure());
    }
    if (at.is_late()) refused = too_late();
    if (!body->is_batch) break;
    list.push_back(json::parse(refused.body));
  }
  get_up(at);
  if (!body->is_batch && list.empty()) return refused;
  if (!body->is_batch) return told_over(*over, json_text(list.front()));
  return told_over(
      *over,
      json_text({{"schema", "kaisched-what-if-batch/1"}, {"cluster", over->digest}, {"answers", std::move(list)}}));
}

http_reply answers::explain(seat& at, const result<explain_body>& asked) {
  if (!asked) return refusal(asked.failure());
  const decided& ran = sit_down(at);
  const held over = benches_[at.number()].of;
  const explanation of{ran, quiet_, asked->nodes};
  json list = json::array();
  std::optional<error> fault;
  for (const std::string& name : asked->names) {
    std::vector<subject> also;
    const result<subject> found = find_subject(ran.over.base(), name, also);
    if (!found) {
      fault = found.failure();
      break;
    }
    result<json> one = explain_subject(of, *found);
    if (!one) fault = one.failure();
    if (!one || at.is_late()) break;
    list.push_back(std::move(one).value());
  }
  const bool late = at.is_late();
  get_up(at);
  if (late) return too_late();
  if (fault) return refusal(*fault);
  return told_over(*over, json_text(explain_json(over->ran.figures, std::move(list))));
}

/// Made once for a version: nothing ends it early, so it is kept even if it comes too late for who has asked.
http_reply answers::gaps(seat& at) {
  const decided& ran = sit_down(at);
  const held over = benches_[at.number()].of;
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    if (current_ == over) text = gaps_;
  }
  if (text.empty()) {
    const result<std::vector<optimality_gap>> found = ran.over.gaps();
    if (!found) {
      get_up(at);
      return refusal(found.failure());
    }
    text = json_text(gaps_json(ran, *found));
    const std::lock_guard lock(mutex_);
    if (current_ == over) gaps_ = text;
  }
  const bool late = at.is_late();
  get_up(at);
  return late ? too_late() : told_over(*over, std::move(text));
}

/// Sessions of its own, so that nothing is left of it but what it says.
http_reply answers::scale(const seat& at, const http_request& asked) const {
  const held over = current();
  const snapshot& base = over->ran.over.base();
  result<scale_body> body = read_scale(asked.body, base, limits_);
  if (!body) return refusal(body.failure());
  body->question.goes_on = [&at] { return !at.is_late(); };
  const result<scale_report> found = kaisched::scale(with_, base, over->now, body->offers, body->question);
  if (at.is_late()) return too_late();
  if (!found) return refusal(found.failure());
  return told_over(*over, json_text(scale_json(with_, over->now, body->question, *found)));
}

http_reply answers::put_cluster(seat& at, const http_request& asked) {
  const std::unique_lock one(changing_, std::try_to_lock);
  if (!one.owns_lock()) return busy_changing();
  const result<io::cluster_input> read = io::parse_cluster_json(asked.body, "body");
  if (!read) return refusal(read.failure());
  result<cluster> built = io::build_cluster(*read, on_invalid_);
  if (!built) return refusal(built.failure());
  return hold(at, built->take_snapshot(), read->now);
}

http_reply answers::apply_deltas(seat& at, const http_request& asked) {
  const std::unique_lock one(changing_, std::try_to_lock);
  if (!one.owns_lock()) return busy_changing();
  const result<io::json_document> document = io::json_document::parse(asked.body, "body");
  if (!document) return refusal(document.failure());
  const held before = current();
  const snapshot& base = before->ran.over.base();
  const result<io::delta_input> read = io::read_deltas(document->root(), base.dimension_names(), "body");
  if (!read) return refusal(read.failure());
  cluster next(base);
  if (!on_invalid_.empty()) {
    if (auto done = next.set("on_invalid", on_invalid_); !done) return refusal(done.failure());
  }
  if (auto done = next.apply(std::span<const table>(read->tables)); !done) return refusal(read->placed(done.failure()));
  return hold(at, next.take_snapshot(), read->now.value_or(before->now));
}

/// Nothing has changed until the next version has been decided.
http_reply answers::hold(seat& at, const snapshot& next, std::int64_t now) {
  if (at.is_late()) return too_late();
  result<held> made = decide_over(next, now, &at);
  if (!at.commit()) return too_late();
  if (!made) return refusal(made.failure());
  const held to = std::move(made).value();
  {
    const std::lock_guard lock(mutex_);
    current_ = to;
    gaps_.clear();
    ++versions_;
  }
  return told_over(*to, to->about);
}

std::vector<http_route> answers::routes() {
  const std::string health =
      json_text({{"schema", "kaisched-serve-health/1"}, {"status", "ok"}, {"version", version_string}});
  const auto open = [&](std::string path, std::function<http_reply(const http_request&)> make) {
    return http_route{"GET", std::move(path), false, false, std::move(make), {}};
  };
  std::vector<http_route> all{
      open("/v1/health", [health](const http_request&) { return http_reply{200, health}; }),
      open("/v1/cluster",
           [this](const http_request&) {
             const held over = current();
             return told_over(*over, over->about);
           }),
      open("/v1/reasons",
           [this](const http_request&) {
             const held over = current();
             return told_over(*over, over->reasons);
           }),
  };
  all.front().is_open = true;
  const auto at_length = [&](std::string method, std::string path, bool takes_cluster,
                             std::function<http_reply(seat&, const http_request&)> make) {
    all.push_back({std::move(method), std::move(path), false, takes_cluster, {}, std::move(make)});
  };
  at_length("POST", "/v1/what-if", false, [this](seat& at, const http_request& asked) { return what_if(at, asked); });
  at_length("GET", "/v1/explain", false,
            [this](seat& at, const http_request& asked) { return explain(at, read_explain(asked.query, limits_)); });
  at_length("POST", "/v1/explain", false,
            [this](seat& at, const http_request& asked) { return explain(at, read_explain(asked.body, limits_)); });
  at_length("GET", "/v1/gaps", false, [this](seat& at, const http_request&) { return gaps(at); });
  at_length("POST", "/v1/scale", false, [this](seat& at, const http_request& asked) { return scale(at, asked); });
  at_length("POST", "/v1/cluster", true,
            [this](seat& at, const http_request& asked) { return put_cluster(at, asked); });
  at_length("POST", "/v1/deltas", true,
            [this](seat& at, const http_request& asked) { return apply_deltas(at, asked); });
  return all;
}

}  // namespace kaisched::cli::serve
