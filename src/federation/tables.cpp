// What a federation decides, as tables.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/federation.hpp>

#include "model/schema_writer.hpp"

namespace kaisched {

namespace {

using model::schema_writer;

bool came_back(const federation_report& of, std::string_view group) {
  return std::binary_search(of.returned.begin(), of.returned.end(), group);
}

table places_table(const federation_report& of) {
  schema_writer w(table_kind::federated_place);
  for (const federated_place& one : of.placed) {
    w.put(col::federated_place_group_name, std::string_view(one.group));
    w.put(col::federated_place_queue, std::string_view(one.queue));
    w.put(col::federated_place_member, std::string_view(one.member));
    w.put(col::federated_place_stage, group_stage_name(one.stage));
    w.put(col::federated_place_by, member_criterion_name(one.by));
    w.put(col::federated_place_runner_up, std::string_view(one.runner_up));
    w.put(col::federated_place_round, one.round);
    w.put(col::federated_place_pods, one.pods);
    w.put_flag(col::federated_place_returned, came_back(of, one.group));
  }
  return w.take();
}

table waits_table(const federation_report& of) {
  schema_writer w(table_kind::federated_wait);
  const std::vector<std::string_view> members(of.members.begin(), of.members.end());
  for (const federated_wait& one : of.waits) {
    std::vector<std::string_view> verdicts;
    for (const member_verdict v : one.verdicts) verdicts.push_back(member_verdict_name(v));
    w.put(col::federated_wait_group_name, std::string_view(one.group));
    w.put(col::federated_wait_queue, std::string_view(one.queue));
    w.put(col::federated_wait_limit, std::string_view(one.limit));
    w[col::federated_wait_members].push_list(members);
    w[col::federated_wait_verdicts].push_list(verdicts);
    w.put(col::federated_wait_text, std::string_view(one.text));
    w.put(col::federated_wait_expected_member, std::string_view(one.expected_member));
    w.put(col::federated_wait_expected, one.expected);
    w.put_flag(col::federated_wait_returned, came_back(of, one.group));
  }
  return w.take();
}

table sessions_table(const federation_report& of) {
  schema_writer w(table_kind::member_session);
  const auto add = [&](std::string_view member, std::uint32_t round, std::string_view digest, std::string_view text) {
    w.put(col::member_session_member, member);
    w.put(col::member_session_round, round);
    w.put(col::member_session_digest, digest);
    w.put(col::member_session_text, text);
  };
  for (const member_session& one : of.sessions) add(one.member, one.round, one.decided.digest(), {});
  for (const member_failure& one : of.failures) add(one.member, 0, {}, one.why.message);
  return w.take();
}

}  // namespace

result<table> federation_report::to_table(table_kind kind) const {
  switch (kind) {
    case table_kind::federated_place:
      return places_table(*this);
    case table_kind::federated_wait:
      return waits_table(*this);
    case table_kind::member_session:
      return sessions_table(*this);
    default:
      return error{status::unsupported, "such a table is no part of what a federation decided", {}};
  }
}

table to_table(std::span<const federated_queue> queues) {
  schema_writer w(table_kind::federated_queue);
  const auto amounts = [&](std::uint32_t column, const std::int64_t* of) {
    for (std::uint32_t d = 0; d < quota_dimensions; ++d) w.put(column, of[d]);
  };
  for (const federated_queue& one : queues) {
    w.put(col::federated_queue_name, std::string_view(one.name));
    w.put(col::federated_queue_parent, std::string_view(one.parent));
    amounts(col::federated_queue_quota, one.quota);
    amounts(col::federated_queue_limit, one.limit);
    amounts(col::federated_queue_allocated, one.allocated);
  }
  return w.take();
}

}  // namespace kaisched
