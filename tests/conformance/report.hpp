#pragma once
/// @file
/// What became of the cases: verdicts, the report as JSON and as text.

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace kaisched::conformance {

/// One reason why a gate did not let a case pass.
struct finding {
  std::string gate;
  std::string why;
};

/// What became of one case. No finding: every gate that applies passed.
struct verdict {
  std::string file;  ///< path below the folder; with `:line` for one line of a file of lines
  std::vector<std::string> features;
  std::vector<finding> findings;
  std::string schema{};  ///< that the case names

  [[nodiscard]] bool passed() const { return findings.empty(); }
  /// The first finding that says that the engine lacks something, or null.
  [[nodiscard]] const finding* unsupported() const;
};

/// Collects verdicts in the order in which they come.
class report {
 public:
  void add(verdict one);
  /// A case that the caller asked to leave out.
  void add_skipped() { ++skipped_; }

  [[nodiscard]] std::uint64_t passed() const { return passed_; }
  [[nodiscard]] std::uint64_t failed() const { return failures_.size(); }
  [[nodiscard]] std::uint64_t skipped() const { return skipped_; }

  /// {passed, failed, skipped, by_feature, failures}: one failure per case and gate that did not pass.
  [[nodiscard]] nlohmann::ordered_json to_json() const;
  /// Counts per feature, failures (all findings of each if verbose), and the line `N passed, M failed` at the end.
  void print(std::ostream& out, bool verbose) const;
  /// Tables for a page: what passed, needs what the engine lacks, or failed, by schema and feature; and what it lacks.
  void print_markdown(std::ostream& out) const;

 private:
  struct count {
    std::uint64_t passed = 0;
    std::uint64_t failed = 0;
  };
  /// Three outcomes, where `count` has two.
  struct tally {
    std::uint64_t passed = 0;
    std::uint64_t unsupported = 0;
    std::uint64_t failed = 0;

    void add(const verdict& one);
  };
  struct schema_tally {
    tally all;
    std::map<std::string, tally> by_feature;
  };
  std::map<std::string, schema_tally> by_schema_;
  std::map<std::string, std::uint64_t> lacking_;  ///< cases by what they need first
  std::uint64_t passed_ = 0;
  std::uint64_t skipped_ = 0;
  std::map<std::string, count> by_feature_;
  std::vector<verdict> failures_;
};

}  // namespace kaisched::conformance
