// The command that sends groups to one of several clusters.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/federation.hpp>

#include "base/text.hpp"
#include "cli/explain.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "files/cluster_file.hpp"
#include "files/federation_file.hpp"
#include "io/files.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view federate_schema = "kaisched-federate/1";

struct federate_arguments {
  std::vector<std::string> files;
  std::vector<std::string> known;
  std::string jobs;
  std::string members;
  std::string summary;
  std::string order;
  std::string fit = "pack";
  policy_arguments policy;
  std::int64_t window = 0;
  std::int64_t rounds = federation_options{}.rounds;
  std::int64_t room_asked = federation_options{}.room_asked;
  std::int64_t listed = 20;
};

std::string member_name(const std::string& path) { return std::filesystem::path(path).stem().string(); }

result<federation_options> options_of(const federate_arguments& told) {
  federation_options made;
  made.fit = told.fit == member_fit_name(member_fit::spread) ? member_fit::spread : member_fit::pack;
  made.window = static_cast<std::uint32_t>(told.window);
  made.rounds = static_cast<std::uint32_t>(told.rounds);
  made.room_asked = static_cast<std::uint32_t>(told.room_asked);
  if (told.order.empty()) return made;
  made.order.clear();
  for (const std::string& name : base::split_names(told.order)) {
    bool found = false;
    for (const member_criterion c : federation_options{}.order) {
      if (member_criterion_name(c) != name) continue;
      made.order.push_back(c);
      found = true;
    }
    if (!found) {
      std::string all;
      for (const member_criterion c : federation_options{}.order)
        all += fmt::format("{}{}", all.empty() ? "" : ", ", member_criterion_name(c));
      return error{status::argument, fmt::format("--order: '{}' is none of {}", base::shown(name), all), {}};
    }
  }
  return made;
}

/// The federation of the arguments, and the time of the latest file.
struct told_federation {
  federation all;
  std::int64_t now = 0;
  std::map<std::string, member_info, std::less<>> about;
};

result<void> add_clusters(const federate_arguments& told, const std::shared_ptr<const engine>& with, progress& shown,
                          told_federation& to) {
  for (const std::string& path : told.files) {
    input_arguments input;
    input.file = path;
    result<loaded_cluster> loaded = load_cluster(input, shown);
    if (!loaded) return loaded.failure();
    to.now = std::max(to.now, loaded->now);
    const auto at = to.about.find(member_name(path));
    const member_info about = at == to.about.end() ? member_info{member_name(path)} : at->second;
    if (auto done = to.all.add_member(about, std::make_shared<cluster>(loaded->state), with); !done)
      return error{done.failure().code, path + ": " + done.failure().message, {}};
    to.about[about.name] = about;
  }
  for (const std::string& path : told.known) {
    shown.next("reading " + path);
    const result<std::string> text = io::read_file(path);
    if (!text) return text.failure();
    result<cluster_summary> known = summary_from_json(*text, path);
    if (!known) return known.failure();
    to.now = std::max(to.now, known->taken);
    const auto at = to.about.find(member_name(path));
    const member_info about = at == to.about.end() ? member_info{member_name(path)} : at->second;
    if (auto done = to.all.add_member(about, std::move(*known)); !done)
      return error{done.failure().code, path + ": " + done.failure().message, {}};
    to.about[about.name] = about;
  }
  const std::vector<std::string> names = to.all.member_names();
  for (const auto& [name, about] : to.about) {
    if (!std::binary_search(names.begin(), names.end(), name))
      return error{status::not_found, fmt::format("{}: there is no file of member '{}'", told.members, name), {}};
  }
  return {};
}

result<void> add_jobs(const federate_arguments& told, const io::federation_file& file, progress& shown,
                      told_federation& to) {
  shown.next("reading " + told.jobs);
  const result<io::cluster_input> input = io::read_cluster(told.jobs);
  if (!input) return input.failure();
  to.now = std::max(to.now, input->now);
  if (auto done = to.all.submit(input->tables); !done)
    return error{done.failure().code, told.jobs + ": " + done.failure().message, {}};
  for (const auto& [group, wishes] : file.groups) {
    if (auto done = to.all.wish(group, wishes); !done)
      return error{done.failure().code, told.members + ": " + done.failure().message, {}};
  }
  return {};
}

// ---- as JSON

/// Why a member refused a group, as its last session for it says.
std::vector<std::pair<std::string, std::string>> reasons_of(const federation_report& of, std::string_view member,
                                                            std::string_view group) {
  std::vector<std::pair<std::string, std::string>> made;
  for (const member_session& one : of.sessions) {
    if (one.member != member) continue;
    std::vector<std::pair<std::string, std::string>> found;
    for (const reason& why : one.decided.reasons()) {
      if (one.decided.base().group_name(why.group) == group)
        found.emplace_back(constraint_name(why.what), one.decided.text(why));
    }
    if (!found.empty()) made = std::move(found);
  }
  return made;
}

json places_json(const federation_report& of, const federated_place& place) {
  json made = json::array();
  for (const member_session& one : of.sessions) {
    if (one.member != place.member || one.round != place.round) continue;
    for (const decision& d : one.decided.decisions()) {
      const bool is_place = d.kind == decision_kind::bind || d.kind == decision_kind::pipeline;
      if (is_place && one.decided.base().group_name(d.group) == place.group)
        made.push_back({{"pod", one.decided.base().pod_name(d.pod)},
                        {"node", one.decided.base().node_name(d.node)},
                        {"now", d.kind == decision_kind::bind}});
    }
  }
  return made;
}

json amounts_of(const std::int64_t (&of)[quota_dimensions]) {
  return {{"cpu", of[0]}, {"memory", of[1]}, {"gpu", of[2]}};
}

json report_json(told_federation& from, const federation_report& of) {
  const std::vector<std::string> names = from.all.member_names();
  json placed = json::array();
  for (const federated_place& one : of.placed)
    placed.push_back({{"group", one.group},
                      {"queue", one.queue},
                      {"member", one.member},
                      {"stage", group_stage_name(one.stage)},
                      {"by", member_criterion_name(one.by)},
                      {"runner_up", one.runner_up},
                      {"round", one.round},
                      {"places", places_json(of, one)}});
  json waits = json::array();
  for (const federated_wait& one : of.waits) {
    json verdicts = json::array();
    for (std::size_t m = 0; m < names.size(); ++m) {
      json reasons = json::array();
      if (one.verdicts[m] == member_verdict::refused) {
        for (const auto& [constraint, text] : reasons_of(of, names[m], one.group))
          reasons.push_back({{"constraint", constraint}, {"text", text}});
      }
      verdicts.push_back(
          {{"member", names[m]}, {"verdict", member_verdict_name(one.verdicts[m])}, {"reasons", std::move(reasons)}});
    }
    json row{{"group", one.group}, {"queue", one.queue}, {"verdicts", std::move(verdicts)}};
    if (!one.limit.empty()) row["limit"] = one.limit;
    if (!one.text.empty()) row["text"] = one.text;
    if (one.expected >= 0) row["expected"] = {{"member", one.expected_member}, {"at", one.expected}};
    waits.push_back(std::move(row));
  }
  json queues = json::array();
  for (const federated_queue& one : from.all.queues(from.now))
    queues.push_back({{"name", one.name},
                      {"parent", one.parent},
                      {"quota", amounts_of(one.quota)},
                      {"limit", amounts_of(one.limit)},
                      {"allocated", amounts_of(one.allocated)}});
  json failures = json::array();
  for (const member_failure& one : of.failures) failures.push_back({{"member", one.member}, {"text", one.why.message}});
  return {{"placed", std::move(placed)},     {"waits", std::move(waits)}, {"queues", std::move(queues)},
          {"failures", std::move(failures)}, {"rounds", of.rounds},       {"digest", of.digest()}};
}

result<json> members_json(told_federation& from) {
  json made = json::array();
  for (const std::string& name : from.all.member_names()) {
    const result<cluster_summary> known = from.all.summary(name, from.now);
    if (!known) return known.failure();
    const member_info& about = from.about.at(name);
    made.push_back({{"name", name},
                    {"price", about.price},
                    {"open", about.open},
                    {"nodes", known->nodes},
                    {"gpu", known->gpu},
                    {"free_gpu", known->free_gpu},
                    {"waiting_gpu", known->waiting_gpu}});
  }
  return made;
}

// ---- for people

std::string verdict_text(member_verdict v) {
  switch (v) {
    case member_verdict::candidate:
      return "others were asked first";
    case member_verdict::refused:
      return "did not start it";
    case member_verdict::closed:
      return "takes no new groups";
    case member_verdict::not_wanted:
      return "the group does not name it";
    case member_verdict::label:
      return "lacks a label that the group requires";
    case member_verdict::price:
      return "costs more than the group pays";
    case member_verdict::queue:
      return "has no such queue";
    case member_verdict::resource:
      return "has no such resource";
    case member_verdict::never:
      return "too small, if nothing ran there either";
    case member_verdict::full:
      return "no room now";
    case member_verdict::wrong_input:
      return "does not take its rows";
  }
  return {};
}

void print_report(const terminal& out, const std::vector<std::string>& names, const json& members,
                  const federation_report& of, std::size_t most) {
  for (std::size_t m = 0; m < names.size(); ++m) {
    const json& one = members[m];
    const auto gpus = [&](const char* key) { return grouped(one.at(key).get<std::int64_t>() / whole_device); };
    out.line(fmt::format("{}: {} GPUs on {}, {} of them were free", out.paint(style::bold, names[m]), gpus("gpu"),
                         counted(one.at("nodes").get<std::int64_t>(), "node"), gpus("free_gpu")));
  }
  const auto more = [&](std::size_t all) {
    if (all > most) out.line(out.paint(style::dim, fmt::format("  and {} more", grouped(std::int64_t(all - most)))));
  };
  if (!of.placed.empty()) print_section(out, fmt::format("Start: {}", counted(std::ssize(of.placed), "group")));
  for (std::size_t i = 0; i < std::min(most, of.placed.size()); ++i) {
    const federated_place& one = of.placed[i];
    std::string text = fmt::format("{}: {}", one.group, one.member);
    if (one.stage == group_stage::offered) text += ", if it accepts";
    if (one.stage == group_stage::claims) text += ", when others have left";
    if (!one.runner_up.empty()) text += fmt::format("; {} and not {}", member_criterion_name(one.by), one.runner_up);
    print_item(out, text);
  }
  more(of.placed.size());
  if (!of.waits.empty()) print_section(out, fmt::format("Wait: {}", counted(std::ssize(of.waits), "group")));
  for (std::size_t i = 0; i < std::min(most, of.waits.size()); ++i) {
    const federated_wait& one = of.waits[i];
    std::string text = one.group + ": ";
    if (!one.limit.empty()) text += fmt::format("queue '{}' would pass its limit over all clusters; ", one.limit);
    for (std::size_t m = 0; m < names.size(); ++m)
      text += fmt::format("{}{}: {}", m == 0 ? "" : "; ", names[m], verdict_text(one.verdicts[m]));
    if (!one.expected_member.empty()) text += fmt::format("; first free, as far as is known: {}", one.expected_member);
    print_item(out, text);
  }
  more(of.waits.size());
  for (const member_failure& one : of.failures)
    out.line(out.paint(style::bold, fmt::format("{} failed: {}", one.member, one.why.message)));
}

int write_summary(const federate_arguments& told, const engine& with, console& to) {
  progress shown(to, load_steps);
  input_arguments input;
  input.file = told.files.front();
  const result<loaded_cluster> loaded = load_cluster(input, shown);
  if (!loaded) return to.fail(loaded.failure());
  const result<cluster_summary> made = summarise(with, loaded->state, loaded->now);
  if (!made) return to.fail(made.failure());
  shown.finish();
  if (auto done = to.write(told.summary, summary_to_json(*made)); !done) return to.fail(done.failure());
  if (to.shows_report())
    to.out().line(fmt::format("{}: {} told in {} rows", told.summary, counted(made->nodes, "node"),
                              made->kinds.size() + made->free.size() + made->domains.size() + made->queues.size()));
  return exit_ok;
}

int run_federate(const federate_arguments& told, console& to) {
  const auto usage = [&](std::string_view what) {
    return to.fail(error{status::argument, std::string(what), {}}, exit_usage);
  };
  result<engine> made = make_engine(told.policy);
  if (!made) return to.fail(made.failure(), exit_usage);
  const auto with = std::make_shared<const engine>(std::move(*made));
  if (!told.summary.empty()) {
    if (told.files.size() != 1 || !told.jobs.empty() || !told.known.empty() || to.wants_json())
      return usage("--summary is written of one FILE, without --jobs, --known and --json");
    if (auto done = to.claim("--summary", told.summary); !done) return to.fail(done.failure(), exit_usage);
    return write_summary(told, *with, to);
  }
  if (told.jobs.empty()) return usage("--jobs is missing: which groups are to be sent somewhere?");
  if (told.files.empty() && told.known.empty()) return usage("FILE is missing: which clusters are there?");
  result<federation_options> options = options_of(told);
  if (!options) return to.fail(options.failure(), exit_usage);
  io::federation_file file;
  if (!told.members.empty()) {
    result<io::federation_file> read = io::read_federation(told.members);
    if (!read) return to.fail(read.failure());
    file = std::move(*read);
  }
  told_federation all{federation(std::move(*options)), 0, {}};
  for (const member_info& one : file.members) all.about[one.name] = one;
  progress shown(to, load_steps * told.files.size() + told.known.size() + 2);
  if (auto done = add_clusters(told, with, shown, all); !done) return to.fail(done.failure());
  if (auto done = add_jobs(told, file, shown, all); !done) return to.fail(done.failure());
  shown.next("deciding");
  const result<json> members = members_json(all);
  if (!members) return to.fail(members.failure());
  const result<federation_report> report = all.all.decide(all.now);
  if (!report) return to.fail(report.failure());
  shown.finish();
  if (to.shows_report())
    print_report(to.out(), all.all.member_names(), *members, *report, static_cast<std::size_t>(told.listed));
  json told_all{{"schema", federate_schema},
                {"preset", with->options().preset},
                {"mode", with->get("mode").ok() ? *with->get("mode") : std::string()},
                {"now", all.now},
                {"members", *members}};
  if (to.wants_json()) told_all.update(report_json(all, *report));
  return to.finish(told_all, report->failures.empty() ? exit_ok : exit_failure);
}

}  // namespace

void add_federate(command_list& to) {
  command& c = to.add("federate", group::decide, "Which of several clusters a job goes to, and where in it");
  auto& told = c.keep<federate_arguments>();
  c.explain(
      "Sends the groups of --jobs to clusters. Which one is judged by a summary of each; the engine of the chosen one "
      "decides, and who is not started there goes on to the next. No group is in two clusters, or in parts of them. "
      "Queues of --jobs hold over all clusters. A cluster has the name of its file, without the ending.");
  c.heading("Input");
  c.position("FILE", &told.files, cluster_file(), "Clusters");
  c.option("--jobs", &told.jobs, cluster_file(), "Queues and pod groups that wait, and no nodes");
  c.option("--known", &told.known, file_name({"json"}), "A cluster that is known by its summary alone");
  c.option("--members", &told.members, file_name({"json", "yaml", "yml"}),
           "Labels, prices and data of clusters, and what groups want of them");
  add_policy_arguments(c, told.policy);
  c.heading("Choice");
  c.option("--order", &told.order, any_value("LIST"),
           "What is compared, in order: preference,data,price,entitlement,wait,fit if not given");
  c.option("--fit", &told.fit, one_of("NAME", {"pack", "spread"}), "Between clusters that are equally good");
  c.option("--window", &told.window, any_value("N"), "Groups that are sent before clusters decide; 0: all")
      .between(0, 1e6);
  c.option("--rounds", &told.rounds, any_value("N"), "Times that clusters decide").between(1, 1e4);
  c.option("--room-asked", &told.room_asked, any_value("N"), "Clusters that are asked to make room for a group")
      .between(0, 1e4);
  c.heading("Output");
  c.option("--summary", &told.summary, file_name({"json"}), "Write the summary of FILE, and decide nothing").writes();
  c.option("--most", &told.listed, any_value("N"), "Lines of each list in the report").between(1, 1e6);
  c.add_example("kaisched federate east.json west.json --jobs jobs.json");
  c.add_example("kaisched federate east.json west.json --jobs jobs.json --members federation.yaml", "with prices");
  c.add_example("kaisched federate east.json --summary known.json -q", "what another site has to know");
  c.runs([&told](console& out) { return run_federate(told, out); });
}

}  // namespace kaisched::cli
