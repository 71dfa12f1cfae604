// Which nodes to add for what waits, and which to give back.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/scaling.hpp>

#include "guard.hpp"
#include "handles.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

result<std::vector<node_type>> types_of(const kaisched_node_type* const* given, std::size_t count) {
  if (given == nullptr && count > 0) return bad_argument("types is NULL");
  std::vector<node_type> types;
  for (std::size_t i = 0; i < count; ++i) {
    if (given[i] == nullptr) return bad_argument("type " + std::to_string(i) + " is NULL");
    const result<kaisched_node_type> told =
        read_given(given[i], sizeof(kaisched_node_type), "type " + std::to_string(i));
    if (!told) return told.failure();
    if (auto r = require({{told->name, "the name of a type"}}); !r) return r.failure();
    if (told->domains == nullptr && told->domain_count > 0) return bad_argument("domains of a type is NULL");
    node_type& type = types.emplace_back();
    type.name = told->name;
    type.price = told->price;
    type.most = told->most;
    for (const kaisched_new_domain& one : std::span(told->domains, told->domain_count)) {
      if (auto r = require({{one.label, "the label of a domain"}}); !r) return r.failure();
      type.domains.push_back({one.label, one.nodes});
    }
  }
  return types;
}

result<scale_question> question_of(const kaisched_scale_question* given) {
  const result<kaisched_scale_question> told = read_given(given, sizeof(kaisched_scale_question), "the question");
  if (!told) return told.failure();
  scale_question question;
  result<std::vector<std::string>> queues = read_texts(told->queues, told->queue_count, "queues");
  if (!queues) return queues.failure();
  result<std::vector<std::string>> groups = read_texts(told->groups, told->group_count, "groups");
  if (!groups) return groups.failure();
  question.queues = std::move(*queues);
  question.groups = std::move(*groups);
  if (told->strategy > KAISCHED_SCALE_FIRST_FIT)
    return bad_argument("strategy of the question is " + std::to_string(told->strategy));
  question.strategy = static_cast<scale_strategy>(told->strategy);
  question.up = told->no_up == 0;
  question.down = told->no_down == 0;
  if (told->verifications != 0) question.verifications = told->verifications;
  if (told->type_label != nullptr) question.type_label = told->type_label;
  return question;
}

}  // namespace

kaisched_status kaisched_scale(const kaisched_engine* engine, const kaisched_snapshot* snapshot, std::int64_t now_ns,
                               const kaisched_table* const* nodes, std::size_t node_table_count,
                               const kaisched_node_type* const* types, std::size_t type_count,
                               const kaisched_scale_question* question, kaisched_scaling** out,
                               kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SCALE, [&]() -> result<void> {
    if (auto r = require({{engine, "engine"}, {snapshot, "snapshot"}, {out, "out"}}); !r) return r;
    const result<scale_question> asked = question_of(question);
    if (!asked) return asked.failure();
    result<std::vector<node_type>> told = types_of(types, type_count);
    if (!told) return told.failure();
    const result<input_tables> input = input_tables::read(nodes, node_table_count);
    if (!input) return input.failure();
    const result<node_offers> offers = make_offers(snapshot->body, input->views(), std::move(*told));
    if (!offers) return offers.failure();
    result<scale_report> report = scale(engine->body, snapshot->body, now_ns, *offers, *asked);
    if (!report) return report.failure();
    *out = new kaisched_scaling(std::move(*report));
    return {};
  });
}

void kaisched_scaling_destroy(kaisched_scaling* scaling) noexcept { delete scaling; }

kaisched_status kaisched_scaling_table(const kaisched_scaling* scaling, std::uint32_t kind, const kaisched_table** out,
                                       kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_SCALING_TABLE, [&]() -> result<void> {
    if (auto r = require({{scaling, "scaling"}, {out, "out"}}); !r) return r;
    const auto lent = scaling->tables.borrow(kind, [&](table_kind k) { return scaling->body.to_table(k); });
    if (!lent) return lent.failure();
    *out = *lent;
    return {};
  });
}
