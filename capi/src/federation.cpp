// Many clusters with one line.
#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/cluster_summary.hpp>
#include <kaisched/federation.hpp>

#include "guard.hpp"
#include "handles.hpp"

using namespace kaisched;        // NOLINT(google-build-using-namespace): the functions are outside of it by nature
using namespace kaisched::capi;  // NOLINT(google-build-using-namespace)

namespace {

using labels = std::vector<std::pair<std::string, std::string>>;

result<labels> read_labels(const kaisched_kv* given, std::size_t count, std::string_view name) {
  if (given == nullptr && count > 0) return bad_argument(std::string(name) + " is NULL");
  labels made;
  for (const kaisched_kv& one : std::span(given, count)) {
    if (one.key == nullptr || one.value == nullptr) return bad_argument("one of " + std::string(name) + " is NULL");
    made.emplace_back(one.key, one.value);
  }
  std::sort(made.begin(), made.end());
  return made;
}

result<member_info> read_member(const kaisched_member* given) {
  if (auto r = require({{given, "about"}}); !r) return r.failure();
  const result<kaisched_member> told = read_given(given, sizeof(kaisched_member), "the member");
  if (!told) return told.failure();
  if (auto r = require({{told->name, "the name of the member"}}); !r) return r.failure();
  result<labels> of = read_labels(told->labels, told->label_count, "labels");
  if (!of) return of.failure();
  result<std::vector<std::string>> data = read_texts(told->data, told->data_count, "data");
  if (!data) return data.failure();
  return member_info{told->name, std::move(*of), told->price, std::move(*data), told->closed == 0};
}

result<cluster_summary> read_summary(const char* json, std::size_t size) {
  if (auto r = require({{json, "summary"}}); !r) return r.failure();
  return summary_from_json({json, size}, "summary");
}

result<group_wishes> read_wishes(const kaisched_group_wishes* given) {
  const result<kaisched_group_wishes> told = read_given(given, sizeof(kaisched_group_wishes), "the wishes");
  if (!told) return told.failure();
  group_wishes wishes;
  result<std::vector<std::string>> members = read_texts(told->members, told->member_count, "members");
  if (!members) return members.failure();
  result<labels> required = read_labels(told->required, told->required_count, "required");
  if (!required) return required.failure();
  wishes.members = std::move(*members);
  wishes.required = std::move(*required);
  if (told->preferred == nullptr && told->preferred_count > 0) return bad_argument("preferred is NULL");
  for (const kaisched_preference& one : std::span(told->preferred, told->preferred_count)) {
    if (one.key == nullptr || one.value == nullptr) return bad_argument("one of preferred is NULL");
    wishes.preferred.push_back({one.key, one.value, one.weight});
  }
  if (told->data == nullptr && told->data_count > 0) return bad_argument("data is NULL");
  for (const kaisched_preference& one : std::span(told->data, told->data_count)) {
    if (one.key == nullptr) return bad_argument("one of data is NULL");
    wishes.data.push_back({one.key, one.weight});
  }
  if (told->has_most_price != 0 && told->most_price < 0) return bad_argument("most_price is negative");
  if (told->has_most_price != 0) wishes.most_price = told->most_price;
  return wishes;
}

result<federation_options> read_options(const kaisched_federation_options* given) {
  const result<kaisched_federation_options> told =
      read_given(given, sizeof(kaisched_federation_options), "the options");
  if (!told) return told.failure();
  federation_options options;
  if (told->order == nullptr && told->order_count > 0) return bad_argument("order is NULL");
  if (told->order != nullptr) options.order.clear();
  for (const std::uint32_t one : std::span(told->order, told->order_count)) {
    if (one < KAISCHED_MEMBER_PREFERENCE || one > KAISCHED_MEMBER_FIT)
      return bad_argument("order: " + std::to_string(one) + " is no criterion");
    const auto criterion = static_cast<member_criterion>(one);
    if (std::find(options.order.begin(), options.order.end(), criterion) != options.order.end())
      return bad_argument("order: " + std::string(member_criterion_name(criterion)) + " is given twice");
    options.order.push_back(criterion);
  }
  if (told->fit > KAISCHED_FIT_SPREAD) return bad_argument("fit of the options is " + std::to_string(told->fit));
  options.fit = static_cast<member_fit>(told->fit);
  options.window = told->window;
  if (told->rounds != 0) options.rounds = told->rounds;
  if (told->room_asked != 0) options.room_asked = told->room_asked;
  if (told->nobody_asked != 0) options.room_asked = 0;
  return options;
}

std::unique_ptr<output_table> output_of(result<table> made) { return std::make_unique<output_table>(std::move(*made)); }

/// A call that changes a federation. Where memory is missing half-way, only destroying it is left.
template <class Body>
kaisched_status guard_change(kaisched_federation* federation, kaisched_error* err, kaisched_function where,
                             Body&& body) noexcept {
  const kaisched_status status = guard(err, where, std::forward<Body>(body));
  if (status == KAISCHED_E_NO_MEMORY && federation != nullptr) federation->is_over = true;
  return status;
}

}  // namespace

kaisched_federated::kaisched_federated(federation_report decided)
    : body(std::move(decided)),
      places(output_of(body.to_table(table_kind::federated_place))),
      waits(output_of(body.to_table(table_kind::federated_wait))),
      members(output_of(body.to_table(table_kind::member_session))),
      digest(body.digest()) {
  for (member_session& one : body.sessions)
    sessions.push_back(std::make_unique<kaisched_session>(std::move(one.decided)));
  body.sessions.clear();
}

kaisched_status kaisched_federation_create(const kaisched_federation_options* options, kaisched_federation** out,
                                           kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_FEDERATION_CREATE, [&]() -> result<void> {
    if (auto r = require({{out, "out"}}); !r) return r;
    result<federation_options> told = read_options(options);
    if (!told) return told.failure();
    *out = new kaisched_federation(std::move(*told));
    return {};
  });
}

void kaisched_federation_destroy(kaisched_federation* federation) noexcept { delete federation; }

kaisched_status kaisched_federation_set_executor(kaisched_federation* federation, const kaisched_executor* executor,
                                                 kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_FEDERATION_SET_EXECUTOR, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}}); !r) return r;
    result<std::shared_ptr<kaisched::executor>> made = make_executor(executor);
    if (!made) return made.failure();
    federation->body.set_executor(std::move(*made));
    return {};
  });
}

// ---- members

kaisched_status kaisched_federation_add_member(kaisched_federation* federation, const kaisched_member* about,
                                               kaisched_cluster* cluster, const kaisched_engine* engine,
                                               kaisched_error* err) noexcept {
  return guard(err, KAISCHED_FN_FEDERATION_ADD_MEMBER, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {cluster, "cluster"}, {engine, "engine"}}); !r) return r;
    result<member_info> told = read_member(about);
    if (!told) return told.failure();
    const auto [kept, is_new] = federation->clusters.try_emplace(told->name, cluster->owner);
    const auto give_up = [&, at = kept, fresh = is_new] {
      if (fresh) federation->clusters.erase(at);
    };
    try {
      auto done = federation->body.add_member(std::move(*told),
                                              std::shared_ptr<kaisched::cluster>(cluster->owner, &cluster->body),
                                              std::shared_ptr<const kaisched::engine>(engine->owner, &engine->body));
      if (!done) give_up();
      return done;
    } catch (const std::bad_alloc&) {
      give_up();
      throw;
    }
  });
}

kaisched_status kaisched_federation_add_known_member(kaisched_federation* federation, const kaisched_member* about,
                                                     const char* summary, std::size_t size,
                                                     kaisched_error* err) noexcept {
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_ADD_KNOWN_MEMBER, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}}); !r) return r;
    result<member_info> told = read_member(about);
    if (!told) return told.failure();
    result<cluster_summary> known = read_summary(summary, size);
    if (!known) return known.failure();
    return federation->body.add_member(std::move(*told), std::move(*known));
  });
}

kaisched_status kaisched_federation_change_member(kaisched_federation* federation, const kaisched_member* about,
                                                  kaisched_error* err) noexcept {
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_CHANGE_MEMBER, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}}); !r) return r;
    result<member_info> told = read_member(about);
    if (!told) return told.failure();
    return federation->body.change_member(std::move(*told));
  });
}

kaisched_status kaisched_federation_update_member(kaisched_federation* federation, const char* name,
                                                  const char* summary, std::size_t size, kaisched_error* err) noexcept {
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_UPDATE_MEMBER, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {name, "name"}}); !r) return r;
    result<cluster_summary> known = read_summary(summary, size);
    if (!known) return known.failure();
    return federation->body.update_member(name, std::move(*known));
  });
}

kaisched_status kaisched_federation_lose_member(kaisched_federation* federation, const char* name,
                                                std::uint64_t* groups, kaisched_error* err) noexcept {
  if (groups != nullptr) *groups = 0;
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_LOSE_MEMBER, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {name, "name"}}); !r) return r;
    const result<std::vector<std::string>> back = federation->body.lose_member(name);
    if (!back) return back.failure();
    if (const auto at = federation->clusters.find(std::string_view(name)); at != federation->clusters.end())
      federation->clusters.erase(at);
    if (groups != nullptr) *groups = back->size();
    return {};
  });
}

kaisched_status kaisched_federation_summary(kaisched_federation* federation, const char* member, std::int64_t now_ns,
                                            char* buffer, std::size_t capacity, std::size_t* needed,
                                            kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_SUMMARY, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {member, "member"}}); !r) return r;
    const result<cluster_summary> made = federation->body.summary(member, now_ns);
    if (!made) return made.failure();
    return deliver(summary_to_json(*made), true, buffer, capacity, needed);
  });
}

// ---- groups

kaisched_status kaisched_federation_submit(kaisched_federation* federation, const kaisched_table* const* tables,
                                           std::size_t count, kaisched_error* err) noexcept {
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_SUBMIT, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}}); !r) return r;
    const result<input_tables> input = input_tables::read(tables, count);
    if (!input) return input.failure();
    return federation->body.submit(input->views());
  });
}

kaisched_status kaisched_federation_wish(kaisched_federation* federation, const char* group,
                                         const kaisched_group_wishes* wishes, kaisched_error* err) noexcept {
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_WISH, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {group, "group"}}); !r) return r;
    result<group_wishes> told = read_wishes(wishes);
    if (!told) return told.failure();
    return federation->body.wish(group, std::move(*told));
  });
}

kaisched_status kaisched_federation_withdraw(kaisched_federation* federation, const char* const* groups,
                                             std::size_t count, kaisched_error* err) noexcept {
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_WITHDRAW, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}}); !r) return r;
    const result<std::vector<std::string>> names = read_texts(groups, count, "groups");
    if (!names) return names.failure();
    federation->drop_lent();
    return federation->body.withdraw(std::vector<std::string_view>(names->begin(), names->end()));
  });
}

kaisched_status kaisched_federation_answer(kaisched_federation* federation, const char* group, std::int32_t accepted,
                                           kaisched_error* err) noexcept {
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_ANSWER, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {group, "group"}}); !r) return r;
    return federation->body.answer(group, accepted != 0);
  });
}

kaisched_status kaisched_federation_stage(const kaisched_federation* federation, const char* group,
                                          std::uint32_t* stage, char* buffer, std::size_t capacity, std::size_t* needed,
                                          kaisched_error* err) noexcept {
  if (stage != nullptr) *stage = 0;
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_FEDERATION_STAGE, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {group, "group"}}); !r) return r;
    const auto at = federation->body.stage(group);
    if (!at) return at.failure();
    if (auto done = deliver(at->second, true, buffer, capacity, needed); !done) return done;
    if (stage != nullptr) *stage = static_cast<std::uint32_t>(at->first);
    return {};
  });
}

kaisched_status kaisched_federation_queues(kaisched_federation* federation, std::int64_t now_ns,
                                           const kaisched_table** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_QUEUES, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {out, "out"}}); !r) return r;
    federation->queues = std::make_unique<output_table>(to_table(federation->body.queues(now_ns)));
    *out = federation->queues->view();
    return {};
  });
}

// ---- decisions

kaisched_status kaisched_federation_decide(kaisched_federation* federation, std::int64_t now_ns,
                                           kaisched_federated** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard_change(federation, err, KAISCHED_FN_FEDERATION_DECIDE, [&]() -> result<void> {
    if (auto r = require({{federation, "federation"}, {out, "out"}}); !r) return r;
    federation->drop_lent();
    result<federation_report> decided = federation->body.decide(now_ns);
    if (!decided) return decided.failure();
    *out = new kaisched_federated(std::move(*decided));
    return {};
  });
}

void kaisched_federated_destroy(kaisched_federated* federated) noexcept { delete federated; }

kaisched_status kaisched_federated_table(const kaisched_federated* federated, std::uint32_t kind,
                                         const kaisched_table** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_FEDERATED_TABLE, [&]() -> result<void> {
    if (auto r = require({{federated, "federated"}, {out, "out"}}); !r) return r;
    for (const output_table* one : {federated->places.get(), federated->waits.get(), federated->members.get()}) {
      if (one->view()->kind == kind) *out = one->view();
    }
    if (*out != nullptr) return {};
    return error{status::unsupported, "such a table is no part of what a federation decided", {}};
  });
}

kaisched_status kaisched_federated_session(const kaisched_federated* federated, std::size_t index,
                                           const kaisched_session** out, kaisched_error* err) noexcept {
  if (out != nullptr) *out = nullptr;
  return guard(err, KAISCHED_FN_FEDERATED_SESSION, [&]() -> result<void> {
    if (auto r = require({{federated, "federated"}, {out, "out"}}); !r) return r;
    if (index >= federated->sessions.size()) {
      return error{
          status::not_found, "there are " + std::to_string(federated->sessions.size()) + " sessions of members", {}};
    }
    *out = federated->sessions[index].get();
    return {};
  });
}

kaisched_status kaisched_federated_digest(const kaisched_federated* federated, char* buffer, std::size_t capacity,
                                          std::size_t* needed, kaisched_error* err) noexcept {
  if (needed != nullptr) *needed = 0;
  return guard(err, KAISCHED_FN_FEDERATED_DIGEST, [&]() -> result<void> {
    if (auto r = require({{federated, "federated"}}); !r) return r;
    return deliver(federated->digest, true, buffer, capacity, needed);
  });
}
