#pragma once
/// @file
/// Small federations for tests.

#include <memory>
#include <string>
#include <vector>

#include <kaisched/federation.hpp>

#include "support.hpp"

namespace kaisched::test {

inline constexpr std::int64_t federation_time = 1000 * second;

inline std::shared_ptr<cluster> shared_cluster(const builder& from) {
  auto made = std::make_shared<cluster>();
  from.apply_to(*made);
  return made;
}

inline std::shared_ptr<const engine> shared_engine(std::initializer_list<std::string_view> options = {}) {
  return std::make_shared<const engine>(make_engine(options));
}

/// `train>east`, in the order of the report; claims and offers with a mark.
inline std::vector<std::string> places(const federation_report& of) {
  std::vector<std::string> made;
  for (const federated_place& one : of.placed) {
    const char* mark = one.stage == group_stage::claims ? "?" : one.stage == group_stage::offered ? "!" : "";
    made.push_back(one.group + ">" + one.member + mark);
  }
  return made;
}

inline std::vector<std::string> waiting(const federation_report& of) {
  std::vector<std::string> made;
  for (const federated_wait& one : of.waits) made.push_back(one.group);
  return made;
}

inline std::vector<table> one_table(table only) {
  std::vector<table> made;
  made.push_back(std::move(only));
  return made;
}

inline void submit(federation& to, const builder& groups) { must(to.submit(groups.tables())); }

}  // namespace kaisched::test
