// What policies do not look at: a policy decides the same without a column that it is said not to look at.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "io/scenario/scenario.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "policy/column_readers.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_column_readers {

using namespace kaisched;
using kind = table_kind;
using policy::table_column;
using test::add;
using test::must;

namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// Whether a column goes with the other one: without gangs there are no members of gangs.
bool goes_with(const table_column& other, const table_column& one) {
  if (other == one) return true;
  if (one.table != kind::pod_group) return false;
  if (one.id == col::pod_group_min_member) {
    return other == table_column{kind::pod_group, col::pod_group_min_sub_group} ||
           other == table_column{kind::pod, col::pod_sub_group} || other.table == kind::sub_group;
  }
  if (one.id == col::pod_group_required_level)
    return other == table_column{kind::sub_group, col::sub_group_required_level};
  if (one.id == col::pod_group_preferred_level)
    return other == table_column{kind::sub_group, col::sub_group_preferred_level};
  return false;
}

/// The cluster without a column. Without gangs there are no sub-groups either.
result<cluster> without(const std::vector<table>& tables, const table_column& column) {
  std::vector<table_view> views;
  std::vector<std::vector<column_view>> kept;
  kept.reserve(tables.size());
  for (const table& one : tables) {
    table_view view = one.view();
    const auto of = static_cast<kind>(view.kind);
    std::vector<column_view>& columns = kept.emplace_back();
    for (std::uint32_t i = 0; i < view.column_count; ++i) {
      if (!goes_with({of, view.columns[i].id}, column)) columns.push_back(view.columns[i]);
    }
    if (columns.empty()) continue;
    view.columns = columns.data();
    view.column_count = static_cast<std::uint32_t>(columns.size());
    views.push_back(view);
  }
  cluster made;
  if (auto done = made.apply(views); !done) return done.failure();
  return made;
}

/// Decisions of one session under the preset's own options; what it fails with if it does.
std::string decided(const engine& with, const snapshot& over, std::int64_t now) {
  result<session> held = with.open(over, now);
  if (!held) return held.failure().message;
  if (auto ran = held->run(); !ran) return ran.failure().message;
  return held->digest();
}

std::string name_of(const table_column& of) {
  for (const table_info& table : schema()) {
    for (const column_info& column : table.columns) {
      if (of == table_column{table.kind, column.id}) return std::string(table.name) + "." + std::string(column.name);
    }
  }
  return {};
}

/// The columns that are listed, in ascending order: a policy without parts and actions looks at none of them.
std::vector<table_column> compared_columns() {
  policy_options idle;
  idle.actions.clear();
  idle.volcano_settings = {"jobs.by_pod=true"};  // no gangs
  std::vector<table_column> all;
  for (const table_info& table : schema()) {
    for (const column_info& column : table.columns) {
      const table_column one{table.kind, column.id};
      if (!policy::reads_column(idle, one)) all.push_back(one);
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("a preset decides the same without the columns that it does not look at") {
  std::map<std::string, engine> engines;
  for (const std::string_view name : preset_names()) engines.emplace(name, engine(must(preset(name))));
  std::map<table_column, std::size_t> changed;  // clusters in which a preset decides otherwise without the column
  std::set<std::string> compared;               // column and preset
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(KAISCHED_SOURCE_DIR) / "tests/scenarios")) {
    if (entry.path().extension() == io::scenario_ending) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    result<io::scenario> read = io::parse_scenario(text_of(file), file.string());
    if (!read) continue;  // its first statements are what is wrong
    result<io::cluster_input> input = io::initial_cluster(std::move(*read));
    if (!input) continue;
    cluster whole;
    std::vector<table_view> views;
    for (const table& one : input->tables) views.push_back(one.view());
    if (!whole.apply(views)) continue;
    const snapshot first = whole.take_snapshot();
    std::map<std::string, std::string> before;
    for (const table_column& column : policy::told_columns(model::state_of(first))) {
      result<cluster> less = without(input->tables, column);
      if (!less) continue;  // the file needs it
      const snapshot then = less->take_snapshot();
      CAPTURE(file.string());
      CAPTURE(name_of(column));
      for (const auto& [name, with] : engines) {
        std::string& of_whole = before[name];
        if (of_whole.empty()) of_whole = decided(with, first, input->now);
        const bool same = of_whole == decided(with, then, input->now);
        if (!same) ++changed[column];
        CAPTURE(name);
        if (policy::reads_column(with.options(), column)) continue;
        compared.insert(name_of(column) + " " + name);
        CHECK(same);
      }
    }
  }
  // Scenarios show each column at work, except deadlines, which no preset looks at, and minimum runtimes, which matter
  // in later sessions than the first.
  const std::set<std::string> unseen{"pod_group.deadline", "queue.preempt_min_runtime", "queue.reclaim_min_runtime"};
  for (const table_column& column : compared_columns()) {
    if (unseen.contains(name_of(column))) continue;
    CAPTURE(name_of(column));
    CHECK(changed[column] > 0);
  }
  CHECK(compared.size() > 80);
}

TEST_CASE("docs/presets.md says what each preset does not look at") {
  const std::string page = text_of(fs::path(KAISCHED_SOURCE_DIR) / "docs/presets.md");
  const std::vector<table_column> all = compared_columns();
  for (const std::string_view name : preset_names()) {
    std::string row = "| `" + std::string(name) + "` |";
    const char* between = " ";
    for (const std::string& column : policy::unread_columns(must(preset(name)), all)) {
      row += between + ("`" + column + "`");
      between = ", ";
    }
    row += " |\n";
    CAPTURE(row);
    CHECK(page.find(row) != std::string::npos);
  }
}

TEST_CASE("nothing is said about a policy with a part that is not the library's own") {
  policy_options o = must(preset("kube-default"));
  CHECK_FALSE(policy::reads_column(o, {kind::queue, col::queue_quota}));
  o.parts.emplace_back("mine");
  CHECK(policy::reads_column(o, {kind::queue, col::queue_quota}));
}

}  // namespace of_test_column_readers
