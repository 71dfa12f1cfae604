#include "conformance/report.hpp"

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <utility>

namespace kaisched::conformance {

namespace {

// Enough to see what is wrong; --verbose shows the rest.
constexpr std::size_t findings_in_summary = 3;

/// Findings of one gate, in the order in which the gates first appear.
std::vector<std::pair<std::string, std::vector<std::string>>> by_gate(const std::vector<finding>& findings) {
  std::vector<std::pair<std::string, std::vector<std::string>>> gates;
  for (const finding& one : findings) {
    auto found = std::find_if(gates.begin(), gates.end(), [&](const auto& gate) { return gate.first == one.gate; });
    if (found == gates.end()) found = gates.insert(gates.end(), {one.gate, {}});
    found->second.push_back(one.why);
  }
  return gates;
}

std::string summary(const std::vector<std::string>& whys) {
  std::string text;
  for (std::size_t i = 0; i < std::min(whys.size(), findings_in_summary); ++i) {
    if (i > 0) text += "; ";
    text += whys[i];
  }
  if (whys.size() > findings_in_summary) {
    text += "; and " + std::to_string(whys.size() - findings_in_summary) + " more";
  }
  return text;
}

}  // namespace

const finding* verdict::unsupported() const {
  const auto found =
      std::find_if(findings.begin(), findings.end(), [](const finding& f) { return f.gate == "unsupported"; });
  return found == findings.end() ? nullptr : &*found;
}

void report::tally::add(const verdict& one) { ++(one.passed() ? passed : one.unsupported() ? unsupported : failed); }

void report::add(verdict one) {
  if (one.features.empty()) one.features.emplace_back("plain");
  schema_tally& counts = by_schema_[one.schema];
  counts.all.add(one);
  for (const std::string& feature : one.features) counts.by_feature[feature].add(one);
  if (const finding* lacks = one.unsupported(); lacks != nullptr)
    ++lacking_[lacks->why.substr(0, lacks->why.find(':'))];
  for (const std::string& feature : one.features) {
    count& counted = by_feature_[feature];
    ++(one.passed() ? counted.passed : counted.failed);
  }
  if (one.passed()) {
    ++passed_;
  } else {
    failures_.push_back(std::move(one));
  }
}

nlohmann::ordered_json report::to_json() const {
  nlohmann::ordered_json features = nlohmann::ordered_json::object();
  for (const auto& [name, counted] : by_feature_) {
    features[name] = {{"passed", counted.passed}, {"failed", counted.failed}};
  }
  nlohmann::ordered_json failures = nlohmann::ordered_json::array();
  for (const verdict& one : failures_) {
    for (const auto& [gate, whys] : by_gate(one.findings)) {
      failures.push_back({{"file", one.file}, {"gate", gate}, {"why", summary(whys)}});
    }
  }
  return {{"passed", passed_},
          {"failed", failed()},
          {"skipped", skipped_},
          {"by_feature", std::move(features)},
          {"failures", std::move(failures)}};
}

void report::print(std::ostream& out, bool verbose) const {
  if (!by_feature_.empty()) out << std::left << std::setw(40) << "feature" << "  passed  failed\n";
  for (const auto& [name, counted] : by_feature_) {
    out << std::left << std::setw(40) << name << std::right << std::setw(8) << counted.passed << std::setw(8)
        << counted.failed << '\n';
  }
  for (const verdict& one : failures_) {
    out << one.file << '\n';
    for (const auto& [gate, whys] : by_gate(one.findings)) {
      if (!verbose) {
        out << "    " << gate << ": " << summary(whys) << '\n';
        continue;
      }
      for (const std::string& why : whys) out << "    " << gate << ": " << why << '\n';
    }
  }
  if (skipped_ > 0) out << skipped_ << " left out by --supported-only\n";
  out << passed_ << " passed, " << failed() << " failed\n";
}

void report::print_markdown(std::ostream& out) const {
  const auto row = [&](const std::string& name, const tally& counts) {
    out << "| " << name << " | " << counts.passed << " | " << counts.unsupported << " | " << counts.failed << " |\n";
  };
  for (const auto& [schema, counts] : by_schema_) {
    out << "| `" << schema << "` | passed | not in reach | failed |\n|---|---:|---:|---:|\n";
    row("**all**", counts.all);
    for (const auto& [feature, of_feature] : counts.by_feature) row(feature, of_feature);
    out << '\n';
  }
  out << "| not in reach | cases |\n|---|---:|\n";
  for (const auto& [what, cases] : lacking_) out << "| " << what << " | " << cases << " |\n";
}

}  // namespace kaisched::conformance
