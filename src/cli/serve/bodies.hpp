#pragma once
/// @file
/// What requests ask, read from their bodies. Errors name line, place and field: `body:1: questions[2].pods: ...`.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/scaling.hpp>
#include <kaisched/snapshot.hpp>

#include "cli/what_if.hpp"

namespace kaisched::cli::serve {

/// What one request may ask for.
struct question_limits {
  std::size_t questions = 0;      ///< of a batch, and groups or names of a question
  std::size_t pods = 0;           ///< of a group that is described
  std::size_t verifications = 0;  ///< clusters that are decided for one question about nodes
};

struct what_if_body {
  std::vector<what_if_question> questions;
  bool is_batch = false;
};
/// One question, an object with the names of the options of `kaisched what-if`, or `{"questions": [...]}`.
/// `dimensions` are those of the cluster, for the rows that are added.
[[nodiscard]] result<what_if_body> read_what_if(std::string_view body, std::span<const std::string_view> dimensions,
                                                const question_limits& limits);

struct explain_body {
  std::vector<std::string> names;
  std::size_t nodes = 5;
};
/// `{"names": ["speech", "pod/a"], "nodes": 5}`.
[[nodiscard]] result<explain_body> read_explain(std::string_view body, const question_limits& limits);
/// The same as a query: `name=speech&name=pod/a&nodes=5`.
[[nodiscard]] result<explain_body> read_explain(std::span<const std::pair<std::string, std::string>> query,
                                                const question_limits& limits);

struct scale_body {
  node_offers offers;
  scale_question question;
};
/// `types`, a document `kaisched-node-types/1`, and the options of `kaisched scale`. `over`: the cluster that is asked
/// about.
[[nodiscard]] result<scale_body> read_scale(std::string_view body, const snapshot& over, const question_limits& limits);

}  // namespace kaisched::cli::serve
