// The schema kai-session-case/1: one session, or several rounds with the outcome written back in between.

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kai_cluster.hpp"
#include "conformance/kai_match.hpp"
#include "conformance/kai_outcome.hpp"
#include "conformance/kai_scenario.hpp"
#include "conformance/schemas.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

void check(const result<void>& done, const std::string& what) {
  if (!done) throw std::runtime_error(what + ": " + done.failure().message);
}

engine engine_for(const json& session_case, const judge_options& asked) {
  engine made;
  for (const auto& [name, value] : kai_options(session_case, made.part_names())) {
    check(made.set(name, value), std::string("option ").append(name).append("=").append(value));
  }
  if (asked.reference_path) check(made.set("reference_path", "true"), "option reference_path");
  return made;
}

/// `claims`: what has become of claims, or null.
cluster cluster_for(const json& session_case, const kai_starts& starts, bool restart_clocks, const table* claims) {
  cluster made;
  const std::vector<table> tables = kai_tables(session_case, starts, restart_clocks);
  std::vector<table_view> views;
  views.reserve(tables.size());
  for (const table& one : tables) views.push_back(one.view());
  if (claims != nullptr && claims->rows() > 0) views.push_back(claims->view());
  check(made.apply(views), "cluster.apply");
  return made;
}

class replay {
 public:
  replay(const json& session_case, const judge_options& asked)
      : case_(session_case),
        asked_(asked),
        engine_(engine_for(session_case, asked)),
        restart_clocks_(session_case.at("kind") == "integration"),
        starts_(kai_recorded_starts(session_case)) {
    for (const json& job : items(member(session_case, "input"), "jobs")) {
      if (value_or(job, "delete_in_test", false)) deleted_jobs_.insert(name_of(job));
    }
  }

  std::vector<finding> run() {
    const json& rounds = items(case_, "rounds");
    for (std::size_t number = 0; number < rounds.size(); ++number) {
      const kai_outcome outcome = play(items(rounds[number], "actions"));
      const std::string where =
          rounds.size() == 1 ? ""
                             : "round " + std::to_string(number) + " " + text_or_empty(rounds[number], "phase") + ": ";
      judge(rounds[number], outcome, where);
      write_back(outcome);
    }
    return std::move(findings_);
  }

 private:
  kai_outcome play(const json& actions) {
    cluster present = cluster_for(case_, starts_, restart_clocks_, claims_ ? &*claims_ : nullptr);
    result<session> opened = engine_.open(present.take_snapshot(), kai_now);
    if (!opened) throw std::runtime_error("engine.open: " + opened.failure().message);
    for (const json& action : actions) {
      const std::string name = action.get<std::string>();
      check(opened->run(name), "action " + name);
    }
    check(opened->check(), "invariants of the session");
    result<table> claims = opened->to_table(table_kind::resource_claim);
    if (!claims) throw std::runtime_error("session.to_table: " + claims.failure().message);
    claims_ = std::move(*claims);
    kai_outcome outcome = outcome_of(*opened, case_, starts_);
    for (const json& node : items(case_.at("resolved"), "nodes")) {
      const std::string label = text_or_empty(items(node, "labels"), "nvidia.com/gpu.count");
      const double gpus = value_or(items(node, "allocatable"), "gpu", 0.0);
      if (std::strtod(label.c_str(), nullptr) > gpus) outcome.untold_nodes.insert(name_of(node));
    }
    // A round that only matches keeps the messages of the one before.
    if (actions.empty()) outcome.small_domains = small_domains_;
    small_domains_ = outcome.small_domains;
    return outcome;
  }

  void judge(const json& recorded, const kai_outcome& outcome, const std::string& where) {
    if (items(case_, "actions").empty()) {
      add("state", state_differences(case_.at("resolved"), outcome), where);
      return;
    }
    if (text_or_empty(case_, "asserted") == "data" && !items(recorded, "matches").empty()) {
      add("asserted", asserted_differences(case_, outcome, start_ages(outcome)), where);
    }
    add("golden", golden_differences(recorded, outcome), where);
    if (asked_.amounts) add("amounts", amount_differences(recorded, outcome), where);
  }

  void add(const std::string& gate, const differences& found, const std::string& where) {
    for (const std::string& why : found) findings_.push_back({gate, where + why});
  }

  /// A job that starts in this round and had nothing before has its clock set to now.
  [[nodiscard]] kai_start_ages start_ages(const kai_outcome& outcome) const {
    kai_start_ages ages;
    for (const json& job : items(case_.at("resolved"), "jobs")) {
      const std::string name = name_of(job);
      const json& tasks = items(job, "tasks");
      const bool held = std::any_of(tasks.begin(), tasks.end(),
                                    [&](const json& task) { return kai_holds(starts_.at(name_of(task)).status); });
      std::optional<double> age;
      if (restart_clocks_) {
        if (held) age = 60;
      } else if (has(job, "last_start_age_s")) {
        age = job.at("last_start_age_s").get<double>();
      }
      if (!held && outcome.started_jobs.contains(name)) age = 0;
      ages.emplace(name, age);
    }
    return ages;
  }

  /// What the next round starts from: claims and evicted pods wait again, bound pods run.
  void write_back(const kai_outcome& outcome) {
    for (const json& job : items(case_.at("resolved"), "jobs")) {
      const bool stays_releasing = deleted_jobs_.contains(name_of(job));
      for (const json& task : items(job, "tasks")) {
        const auto found = outcome.tasks.find(name_of(task));
        if (found == outcome.tasks.end()) continue;
        kai_start next{found->second.status, found->second.node, found->second.gpu_groups};
        if (next.status == "Pipelined" || (next.status == "Releasing" && !stays_releasing)) next = {"Pending", {}, {}};
        if (next.status == "Binding") next.status = "Running";
        starts_[found->first] = std::move(next);
      }
    }
  }

  const json& case_;
  const judge_options& asked_;
  engine engine_;
  bool restart_clocks_;
  kai_starts starts_;
  std::optional<table> claims_;  ///< as the round before has left them
  decltype(kai_outcome::small_domains) small_domains_;
  std::set<std::string, std::less<>> deleted_jobs_;
  std::vector<finding> findings_;
};

}  // namespace

verdict judge_kai_session(const json& one, const judge_options& options) {
  if (options.as_scenarios)
    return {{}, items(one, "features").get<std::vector<std::string>>(), judge_kai_scenario(one)};
  require_supported(one);
  return {{}, items(one, "features").get<std::vector<std::string>>(), replay(one, options).run()};
}

}  // namespace kaisched::conformance
