#pragma once
/// @file
/// Clusters for tests of grouping: objects of Kubernetes one after the other, and the rows that come of them.

#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "files/cluster_file.hpp"
#include "files/kubernetes_text.hpp"
#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/kubernetes/settings.hpp"

namespace grouping_test {

using namespace kaisched;

/// A cluster as a text: objects in the order in which they are added.
class grouped {
 public:
  grouped& object(std::string_view api, std::string_view kind, std::string_view name, std::string_view rest = "",
                  std::string_view metadata = "") {
    return cluster_object(api, kind, name, rest, R"(, "namespace": "team")" + std::string(metadata));
  }
  /// One outside of namespaces.
  grouped& cluster_object(std::string_view api, std::string_view kind, std::string_view name, std::string_view rest,
                          std::string_view metadata = "") {
    text_ += R"({"apiVersion": ")" + std::string(api) + R"(", "kind": ")" + std::string(kind) +
             R"(", "metadata": {"name": ")" + std::string(name) + R"(", "uid": "u-)" + std::string(name) + R"(")" +
             std::string(metadata) + "}" + std::string(rest) + "}\n";
    return *this;
  }
  /// A snapshot of KAI with these lists.
  grouped& snapshot(std::string_view lists) {
    text_ += R"({"rawObjects": {)" + std::string(lists) + "}}\n";
    return *this;
  }
  /// `owner` is `group/version Kind name`.
  static std::string owned_by(std::string_view owner) {
    const std::size_t first = owner.find(' ');
    const std::size_t second = owner.find(' ', first + 1);
    const std::string name(owner.substr(second + 1));
    return R"(, "ownerReferences": [{"apiVersion": ")" + std::string(owner.substr(0, first)) + R"(", "kind": ")" +
           std::string(owner.substr(first + 1, second - first - 1)) + R"(", "name": ")" + name + R"(", "uid": "u-)" +
           name + R"(", "controller": true}])";
  }
  grouped& pod(std::string_view name, std::string_view owner, std::string_view labels = "",
               std::string_view annotations = "", std::string_view spec = "") {
    const std::string references = owner.empty() ? "" : owned_by(owner);
    return object("v1", "Pod", name,
                  R"(, "spec": {"schedulerName": "kai-scheduler", "containers": [])" + std::string(spec) + "}",
                  references + R"(, "labels": {)" + std::string(labels) + R"(}, "annotations": {)" +
                      std::string(annotations) + "}");
  }

  /// An option of readers.
  grouped& option(std::string_view name, std::string_view value) {
    if (auto done = io::kubernetes::set(chosen_, name, value); !done) FAIL(done.failure().message);
    return *this;
  }

  [[nodiscard]] io::cluster_input read() const {
    result<io::cluster_input> input = io::kubernetes::parse(text_, "c.json", chosen_);
    if (!input) FAIL(input.failure().message);
    return std::move(*input);
  }
  [[nodiscard]] std::string tables() const {
    const io::cluster_input input = read();
    result<cluster> built = io::build_cluster(input, "quarantine");
    if (!built) FAIL(built.failure().message);
    return *io::format_cluster_json(built->take_snapshot(), input.now);
  }
  [[nodiscard]] std::string fault() const {
    const io::cluster_input input = read();
    return input.faults.empty() ? "(no fault)" : input.faults.front().message;
  }
  /// The row that starts with these members.
  [[nodiscard]] std::string row(std::string_view start) const {
    const std::string all = tables();
    const std::size_t begin = all.find("{" + std::string(start));
    if (begin == std::string::npos) return "(no row)";
    std::string line = all.substr(begin, all.find('\n', begin) - begin);
    if (line.ends_with(',')) line.pop_back();
    return line;
  }
  /// A member of the row of a pod; empty: it has none.
  [[nodiscard]] std::string of_pod(std::string_view name, std::string_view column) const {
    const std::string at = row(R"("name": "team/)" + std::string(name) + "\"");
    const std::string key = "\"" + std::string(column) + R"(": ")";
    const std::size_t begin = at.find(key);
    if (begin == std::string::npos) return at == "(no row)" ? at : std::string{};
    return at.substr(begin + key.size(), at.find('"', begin + key.size()) - begin - key.size());
  }
  [[nodiscard]] std::string group(std::string_view name) const {
    return row(R"("name": "team/)" + std::string(name) + "\"");
  }
  [[nodiscard]] std::string sub_group(std::string_view of, std::string_view name) const {
    return row(R"("group": "team/)" + std::string(of) + R"(", "name": ")" + std::string(name) + "\"");
  }

 private:
  std::string text_;
  io::kubernetes::settings chosen_;
};

inline bool holds(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

inline std::string row_of(std::string_view name, std::string_view rest = "") {
  return R"({"name": "team/)" + std::string(name) + R"(", "queue": "default-queue")" + std::string(rest) +
         R"(, "namespace": "team"})";
}

inline std::string sub_row(std::string_view group, std::string_view name, std::string_view rest) {
  return R"({"group": "team/)" + std::string(group) + R"(", "name": ")" + std::string(name) + "\"" + std::string(rest) +
         "}";
}

}  // namespace grouping_test
