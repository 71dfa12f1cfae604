// The command that answers why: why here, why not, and what of it.
#include "cli/explain.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/nearest.hpp"
#include "cli/input.hpp"
#include "cli/policy_arguments.hpp"
#include "cli/progress.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view explain_schema = "kaisched-explain/1";

struct explain_arguments {
  input_arguments input;
  policy_arguments policy;
  std::vector<std::string> words;  ///< FILE and names, or names alone
  std::int64_t nodes = 5;
};

struct kind_name {
  std::string_view prefix;
  entity_kind kind;
};
/// In the order in which a bare name is looked for.
constexpr std::array kind_names{kind_name{"pod", entity_kind::pod}, kind_name{"group", entity_kind::pod_group},
                                kind_name{"queue", entity_kind::queue}, kind_name{"node", entity_kind::node},
                                kind_name{"topology", entity_kind::topology}};

/// Calls `visit(row, name)` for every entity of a kind until it returns true.
template <class Visit>
void for_names(const snapshot& of, entity_kind kind, Visit visit) {
  const model::cluster_state& s = model::state_of(of);
  switch (kind) {
    case entity_kind::pod:
      for (pod_row p = 0; p < s.pod_slots; ++p) {
        if (s.pods[p].live && visit(p, s.pod_names[p])) return;
      }
      return;
    case entity_kind::pod_group:
      for (group_row g = 0; g < s.group_slots; ++g) {
        if (s.groups[g].live && visit(g, s.group_names[g])) return;
      }
      return;
    case entity_kind::queue:
      for (queue_row q = 0; q < s.queues->size(); ++q) {
        if ((*s.queues)[q].live && visit(q, std::string_view((*s.queues)[q].name))) return;
      }
      return;
    case entity_kind::node:
      for (node_row n = 0; n < s.node_count(); ++n) {
        if (visit(n, std::string_view((*s.nodes)[n]->name))) return;
      }
      return;
    case entity_kind::topology:
      for (std::uint32_t t = 0; t < s.topologies->size(); ++t) {
        if (visit(t, std::string_view((*s.topologies)[t].name))) return;
      }
      return;
    default:
      return;
  }
}

std::uint32_t find_row(const snapshot& of, entity_kind kind, std::string_view name) {
  std::uint32_t found = no_row;
  for_names(of, kind, [&](std::uint32_t row, std::string_view known) {
    if (known != name) return false;
    found = row;
    return true;
  });
  return found;
}

std::vector<subject> find_all(const snapshot& of, std::string_view name) {
  std::vector<subject> found;
  for (const kind_name& one : kind_names) {
    if (const std::uint32_t row = find_row(of, one.kind, name); row != no_row) found.push_back({one.kind, row});
  }
  return found;
}

error unknown(const snapshot& of, std::string_view word, std::optional<kind_name> kind) {
  std::vector<std::string_view> names;
  for (const kind_name& one : kind_names) {
    if (kind && one.kind != kind->kind) continue;
    for_names(of, one.kind, [&](std::uint32_t, std::string_view name) {
      names.push_back(name);
      return false;
    });
  }
  std::string text = kind ? fmt::format("there is no {} called {}", kind->prefix, word)
                          : fmt::format("no pod, pod group, queue, node or topology is called {}", word);
  if (const std::string_view nearest = base::nearest_name(word, names); !nearest.empty()) {
    text += fmt::format("; did you mean {}?", nearest);
  }
  return {status::not_found, std::move(text), {}};
}

void mention(const console& to, std::string_view name, const std::vector<subject>& also) {
  if (also.empty() || !to.shows_report()) return;
  std::string others;
  for (const subject& other : also) {
    for (const kind_name& one : kind_names) {
      if (one.kind == other.kind) others += fmt::format("{}{}/{}", others.empty() ? "" : ", ", one.prefix, name);
    }
  }
  to.out().line("  " + to.out().paint(style::dim, fmt::format("Of the same name: {}", others)));
}

/// The first word is the file unless options name the input.
result<void> sort_words(explain_arguments& told) {
  const bool named = !told.input.cluster.empty() || !told.input.openb_nodes.empty() || !told.input.openb_pods.empty();
  if (!named && !told.words.empty()) {
    told.input.file = told.words.front();
    told.words.erase(told.words.begin());
  }
  if (auto sound = check_input(told.input); !sound) return sound;
  if (told.words.empty()) {
    return error{
        status::argument, "nothing is named: give a pod, pod group, queue, node or topology of the cluster", {}};
  }
  return {};
}

int explain(explain_arguments told, const console& to) {
  if (auto sound = sort_words(told); !sound) return to.fail(sound.failure(), exit_usage);
  const result<engine> with = make_engine(told.policy);
  if (!with) return to.fail(with.failure(), exit_usage);
  progress shown(to, load_steps + decide_steps(*with) + 1);
  const result<loaded_cluster> loaded = load_cluster(told.input, shown);
  if (!loaded) return to.fail(loaded.failure());
  std::vector<subject> subjects;
  std::vector<std::vector<subject>> others;
  for (const std::string& word : told.words) {
    const result<subject> found = find_subject(loaded->state, word, others.emplace_back());
    if (!found) {
      const std::string holes = loaded->left_out > 0 ? "; " + left_out_sentence(loaded->left_out) : std::string();
      return to.fail({found.failure().code, input_name(told.input) + ": " + found.failure().message + holes, {}},
                     exit_usage);
    }
    subjects.push_back(*found);
  }
  const result<decided> ran = decide(*with, loaded->state, loaded->now, shown);
  if (!ran) return to.fail(about_input(told.input, ran.failure()));
  shown.finish();
  const explanation of{*ran, to, static_cast<std::size_t>(told.nodes)};
  json list = json::array();
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    if (i > 0 && to.shows_report()) to.out().line();
    result<json> one = explain_subject(of, subjects[i]);
    if (!one) return to.fail(one.failure());
    mention(to, told.words[i], others[i]);
    list.push_back(std::move(*one));
  }
  return to.finish(explain_json(ran->figures, std::move(list)));
}

/// Names of what a cluster file holds, if it is small enough to be read while somebody waits for a completion.
std::vector<proposal> propose_names(std::span<const std::string> before, std::string_view begun) {
  constexpr std::size_t most_proposals = 2000;
  input_arguments input;
  for (std::size_t i = 0; i < before.size() && input.file.empty(); ++i) {
    if (before[i].starts_with("--cluster=")) input.file = before[i].substr(10);
    if (before[i] == "--cluster" && i + 1 < before.size()) input.file = before[i + 1];
    if (!before[i].starts_with('-') && is_small_file(before[i])) input.file = before[i];
  }
  if (input.file.empty() || !is_small_file(input.file)) return {};
  const result<io::cluster_input> tables = read_tables(input);
  if (!tables) return {};
  result<cluster> built = io::build_cluster(*tables, "quarantine");
  if (!built) return {};
  const snapshot state = built->take_snapshot();
  std::vector<proposal> found;
  for (const kind_name& one : kind_names) {
    const std::string prefix = std::string(one.prefix) + "/";
    const bool prefixed = begun.starts_with(prefix);
    for_names(state, one.kind, [&](std::uint32_t, std::string_view name) {
      const std::string word = prefixed ? prefix + std::string(name) : std::string(name);
      if (word.starts_with(begun)) found.push_back({word, std::string(one.prefix)});
      return found.size() == most_proposals;
    });
  }
  return found;
}

}  // namespace

result<subject> find_subject(const snapshot& of, std::string_view word, std::vector<subject>& also) {
  std::vector<subject> found = find_all(of, word);
  if (!found.empty()) {
    also.assign(found.begin() + 1, found.end());
    return found.front();
  }
  const std::size_t slash = word.find('/');
  for (const kind_name& one : kind_names) {
    if (slash == std::string_view::npos || word.substr(0, slash) != one.prefix) continue;
    const std::string_view name = word.substr(slash + 1);
    const std::uint32_t row = find_row(of, one.kind, name);
    if (row == no_row) return unknown(of, name, one);
    return subject{one.kind, row};
  }
  return unknown(of, word, std::nullopt);
}

result<json> explain_subject(const explanation& of, const subject& what) {
  switch (what.kind) {
    case entity_kind::pod:
      return explain_pod(of, what.row);
    case entity_kind::pod_group:
      return explain_group(of, what.row);
    case entity_kind::queue:
      return explain_queue(of, what.row);
    case entity_kind::topology:
      return explain_topology(of, what.row);
    default:
      return explain_node(of, what.row);
  }
}

json explain_json(const outcome& by, json explanations) {
  return {{"schema", explain_schema},
          {"preset", by.preset},
          {"mode", by.mode},
          {"digest", by.digest},
          {"explanations", std::move(explanations)}};
}

void add_explain(command_list& to) {
  command& c =
      to.add("explain", group::decide, "Why a pod waits or why it is where it is; also groups, queues, nodes, racks");
  auto& told = c.keep<explain_arguments>();
  c.explain(
      "Decides as `run` does and then tells about what is named. A pod that was placed is shown with the scores of the "
      "nodes in the state in which it was placed, not in the final one; a pod that waits with what every node says to "
      "it at the end.\n"
      "A name is looked for among pods, pod groups, queues, nodes and topologies, in this order; KIND/NAME says which: "
      "pod/a, group/a, queue/a, node/a, topology/a. A topology is drawn as a tree of its domains with what is free.");
  c.heading("Input");
  value_form words = cluster_file();
  words.proposals = propose_names;
  c.position("FILE NAME", &told.words, std::move(words),
             "Cluster, and what to explain; without FILE if options name it")
      .required();
  add_input_options(c, told.input);
  add_policy_arguments(c, told.policy);
  c.heading("Output");
  c.option("--nodes", &told.nodes, any_value("N"),
           "How many nodes are listed, of those that could take a pod or of a rack; 0 is all")
      .between(0, 1e9);
  c.add_example("kaisched explain cluster.json speech", "a queue");
  c.add_example("kaisched explain cluster.json vision-wants-h200", "a pod group that waits");
  c.add_example("kaisched explain cluster.json pod/search-gated-0 node/b01-r1-n1 --json");
  c.runs([&told](console& out) { return explain(told, out); });
}

}  // namespace kaisched::cli
