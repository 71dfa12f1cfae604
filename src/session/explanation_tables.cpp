// Answers of a session to questions why and what if, as tables: figures and names first, and a text made of them.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/session.hpp>

#include "model/schema_writer.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"

namespace kaisched {

namespace {

using framework::session_state;
using model::schema_writer;
using session_detail::id_of_group;
using session_detail::id_of_node;
using session_detail::id_of_pod;
using session_detail::id_of_queue;
using session_detail::name_of_node;
using session_detail::views_of;

std::string_view name_of_dimension(const session_state& c, dimension d) {
  return d == no_row ? std::string_view{} : std::string_view((*c.state().dimensions)[d].name);
}
std::string_view name_of_queue(const session_state& c, queue_row q) {
  return q == no_row ? std::string_view{} : c.base.queue_name(q);
}
std::uint64_t group_number(const session_state& c, group_row g) { return g == no_row ? 0 : id_of_group(c, g).value; }
std::string_view name_of_group(const session_state& c, group_row g) {
  return g == no_row ? std::string_view{} : std::string_view(c.state().group_names[g]);
}

// ---- certificates ---------------------------------------------------------------------------------------------------

std::vector<std::string_view> node_names(const session_state& c, const std::vector<node_row>& rows) {
  std::vector<std::string_view> names;
  names.reserve(rows.size());
  for (const node_row row : rows) names.push_back(name_of_node(c, row));
  return names;
}

/// Rows of one certificate: what is the same in all of them is written here.
class certificate_rows {
 public:
  certificate_rows(const session_state& c, const certificate& proof, std::string text)
      : core_(c), proof_(proof), text_(std::move(text)) {}

  /// All node bounds of a bound; one row if there are none.
  void add(std::string_view domain, const placement_bound& of) {
    for (const node_bound& one : of.nodes) add_row(domain, of, &one, one.nodes);
    if (of.nodes.empty()) add_row(domain, of, nullptr, {});
  }
  /// A row without bound, of some nodes.
  void add(const std::vector<node_row>& nodes) { add_row({}, {}, nullptr, nodes); }
  [[nodiscard]] std::uint64_t size() const { return rows_; }
  table take() { return out_.take(); }

 private:
  void add_row(std::string_view domain, const placement_bound& of, const node_bound* one,
               const std::vector<node_row>& nodes) {
    const bool over_nodes = of.kind != certificate_kind::none;
    std::vector<std::string_view> pods;
    for (const pod_row p : of.pods) pods.push_back(core_.state().pod_names[p]);
    out_.put(col::certificate_group, group_number(core_, proof_.group));
    out_.put(col::certificate_group_name, name_of_group(core_, proof_.group));
    out_.put(col::certificate_kind, certificate_kind_name(proof_.kind));
    out_.put(col::certificate_assumption, certificate_assumption_name(proof_.assumption));
    out_.put(col::certificate_constraint, constraint_name(proof_.what));
    out_.put(col::certificate_queue, name_of_queue(core_, proof_.queue));
    out_.put(col::certificate_sub_group, proof_.sub_group == no_row
                                             ? std::string_view{}
                                             : std::string_view(core_.state().subs[proof_.sub_group].name));
    out_.put(col::certificate_dimension, name_of_dimension(core_, over_nodes ? of.dim : proof_.dim));
    out_.put(col::certificate_need, over_nodes ? of.need : proof_.need);
    out_.put(col::certificate_have, over_nodes ? of.have : proof_.have);
    out_.put(col::certificate_topology, std::string_view(proof_.topology));
    out_.put(col::certificate_level, std::string_view(proof_.level));
    out_.put(col::certificate_domain, domain);
    out_.put(col::certificate_bound, one == nullptr ? std::string_view{} : constraint_name(one->why));
    out_.put(col::certificate_bound_dimension, name_of_dimension(core_, one == nullptr ? no_row : one->dim));
    out_.put(col::certificate_bound_most, one == nullptr ? std::int64_t{0} : one->most);
    out_[col::certificate_nodes].push_list(node_names(core_, nodes));
    out_.put(col::certificate_text, std::string_view(text_));
    out_.put(col::certificate_bound_kind, over_nodes ? certificate_kind_name(of.kind) : std::string_view{});
    out_[col::certificate_pods].push_list(pods);
    ++rows_;
  }

  const session_state& core_;
  const certificate& proof_;
  std::string text_;
  schema_writer out_{table_kind::certificate};
  std::uint64_t rows_ = 0;
};

// ---- choices --------------------------------------------------------------------------------------------------------

/// What a row of a choice has of its own.
struct choice_row {
  std::string_view what;
  node_row node = no_row;
  bool of_two = false;  ///< the runner-up is named
  bool first = false;   ///< figures of the whole choice
  std::string_view part{};
  double score = 0;
  double other_score = 0;
};

void add_choice_row(schema_writer& to, const session_state& c, const choice_account& why, const choice_row& row,
                    std::string_view text) {
  to.put(col::choice_pod, id_of_pod(c, why.pod).value);
  to.put(col::choice_pod_name, std::string_view(c.state().pod_names[why.pod]));
  to.put(col::choice_what, row.what);
  to.put(col::choice_node, id_of_node(c, row.node).value);
  to.put(col::choice_node_name, name_of_node(c, row.node));
  to.put(col::choice_runner_up, row.of_two ? name_of_node(c, why.runner_up) : std::string_view{});
  to.put(col::choice_rule, row.first ? choice_rule_name(why.rule) : std::string_view{});
  to.put(col::choice_plan, row.first ? choice_plan_name(why.plan) : std::string_view{});
  to.put(col::choice_fitting, row.first ? why.fitting : 0U);
  to.put(col::choice_rank, row.first ? why.rank : 0U);
  to.put(col::choice_margin, row.first ? why.margin : 0.0);
  to.put(col::choice_part, row.part);
  to.put(col::choice_score, row.score);
  to.put(col::choice_other_score, row.other_score);
  to.put(col::choice_text, text);
}

// ---- victims --------------------------------------------------------------------------------------------------------

void add_victim_row(schema_writer& to, const session_state& c, const victim_account& why, std::string_view what,
                    std::string_view code, const group_pods& of, std::string_view text) {
  to.put(col::victim_pod, id_of_pod(c, why.pod).value);
  to.put(col::victim_pod_name, std::string_view(c.state().pod_names[why.pod]));
  to.put(col::victim_what, what);
  to.put(col::victim_code, code);
  to.put(col::victim_group, group_number(c, of.group));
  to.put(col::victim_group_name, name_of_group(c, of.group));
  to.put(col::victim_pods, of.pods);
  to.put(col::victim_action, action_name(why.action));
  to.put(col::victim_commit, why.commit);
  to.put(col::victim_text, text);
  to.put(col::victim_kind, decision_kind_name(why.kind));
}

std::string_view code_of(const protected_outcome& outcome) {
  if (!outcome.tried) return "untried";
  return outcome.attempt.action == action_kind::none ? std::string_view{}
                                                     : attempt_outcome_name(outcome.attempt.outcome);
}

// ---- remedies -------------------------------------------------------------------------------------------------------

/// One row; `number` 0: nothing was found.
void add_remedy_row(schema_writer& to, const session_state& c, group_row group, const remedy_report& found,
                    std::uint32_t number, const remedy_change* change, std::string_view text) {
  const remedy* const one = number == 0 ? nullptr : &found.remedies[number - 1];
  const remedy_change none{};
  const remedy_change& told = change == nullptr ? none : *change;
  to.put(col::remedy_group, group_number(c, group));
  to.put(col::remedy_group_name, name_of_group(c, group));
  to.put(col::remedy_remedy, number);
  to.put(col::remedy_change, change == nullptr ? std::string_view{} : change_kind_name(told.what));
  to.put(col::remedy_subject, told.subject.value);
  to.put(col::remedy_subject_name, change == nullptr ? std::string_view{} : c.base.name(told.subject));
  to.put(col::remedy_dimension, name_of_dimension(c, told.dim));
  to.put(col::remedy_before, told.before);
  to.put(col::remedy_after, told.after);
  to.put(col::remedy_text_before, std::string_view(told.text_before));
  to.put(col::remedy_text_after, std::string_view(told.text_after));
  to.put(col::remedy_starts, one == nullptr ? 0U : one->starts);
  to.put(col::remedy_action, action_name(one == nullptr ? action_kind::none : one->action));
  to.put_flag(col::remedy_complete, found.complete);
  to.put(col::remedy_trials, found.trials);
  to.put(col::remedy_text, text);
  to.put(col::remedy_sub_group, std::string_view(told.sub_group));
}

// ---- forecasts ------------------------------------------------------------------------------------------------------

/// Who gets places and who loses them, by name.
struct consequences {
  std::vector<std::string_view> placed_pods, placed_nodes, displaced_pods, displaced_groups, displaced_by;
};

consequences consequences_of(const snapshot& over, const forecast& one) {
  consequences all;
  for (const decision& d : one.decisions) {
    if (d.pod == no_row) continue;
    if (d.kind == decision_kind::evict || d.kind == decision_kind::move || d.kind == decision_kind::migrate) {
      all.displaced_pods.push_back(over.pod_name(d.pod));
      all.displaced_groups.push_back(over.group_name(d.group));
      all.displaced_by.push_back(decision_kind_name(d.kind));
    } else if (d.group == one.group && d.node != no_row) {
      all.placed_pods.push_back(over.pod_name(d.pod));
      all.placed_nodes.push_back(over.node_name(d.node));
    }
  }
  return all;
}

// ---- gaps -----------------------------------------------------------------------------------------------------------

/// One row; `proof` is null where the bound is not over domains.
void add_gap_row(schema_writer& to, const session_state& c, const optimality_gap& of, std::uint32_t number,
                 const victim_bound* proof) {
  const victim_bound none{.per_victim = 0};
  const victim_bound& told = proof == nullptr ? none : *proof;
  to.put(col::gap_gap, number);
  to.put(col::gap_kind, gap_kind_name(of.kind));
  to.put(col::gap_commit, of.commit);
  to.put(col::gap_action, action_name(of.action));
  to.put(col::gap_group, group_number(c, of.group));
  to.put(col::gap_group_name, name_of_group(c, of.group));
  to.put(col::gap_pod, id_of_pod(c, of.pod).value);
  to.put(col::gap_pod_name, c.base.pod_name(of.pod));
  to.put(col::gap_pods, of.pods);
  to.put(col::gap_achieved, of.achieved);
  to.put(col::gap_bound, of.bound);
  to.put(col::gap_distance, of.distance());
  to.put(col::gap_level, std::string_view(of.level));
  to.put(col::gap_dimension, name_of_dimension(c, of.dim));
  to.put(col::gap_domain, std::string_view(told.domain));
  to.put_flag(col::gap_too_small, told.is_too_small);
  to.put(col::gap_price, told.price);
  to.put(col::gap_per_victim, told.per_victim);
  to.put(col::gap_domain_bound, told.bound);
  to.put_list(col::gap_largest, of.largest);
}

}  // namespace

table session::to_table(std::span<const group_row> groups, std::span<const remedy_report> reports) const {
  const session_state& c = *impl_->state;
  schema_writer w(table_kind::remedy);
  for (std::size_t i = 0; i < std::min(groups.size(), reports.size()); ++i) {
    const remedy_report& found = reports[i];
    if (found.remedies.empty()) add_remedy_row(w, c, groups[i], found, 0, nullptr, {});
    std::uint32_t number = 0;
    for (const remedy& one : found.remedies) {
      ++number;
      const std::string said = text(one);
      for (const remedy_change& change : one.changes) add_remedy_row(w, c, groups[i], found, number, &change, said);
      if (one.changes.empty()) add_remedy_row(w, c, groups[i], found, number, nullptr, said);
    }
  }
  return w.take();
}

table session::to_table(const certificate& proof) const {
  certificate_rows rows(*impl_->state, proof, text(proof));
  for (const domain_bound& one : proof.domains) rows.add(one.domain, one.bound);
  if (!proof.outside.empty()) rows.add(proof.outside);
  if (rows.size() == 0) rows.add({}, proof.bound);
  return rows.take();
}

table session::to_table(const choice_account& why) const {
  const session_state& c = *impl_->state;
  schema_writer w(table_kind::choice);
  add_choice_row(w, c, why, {.what = "chosen", .node = why.chosen, .of_two = true, .first = true}, text(why));
  for (const score_difference& one : why.differences) {
    add_choice_row(w, c, why,
                   {.what = "difference",
                    .node = why.chosen,
                    .of_two = true,
                    .part = one.part,
                    .score = one.chosen,
                    .other_score = one.runner_up},
                   {});
  }
  for (const choice_flip& one : why.flips) {
    add_choice_row(w, c, why,
                   {.what = choice_flip_kind_name(one.what), .node = one.node, .part = one.part, .score = one.score},
                   text(why, one));
  }
  return w.take();
}

table session::to_table(const victim_account& why) const {
  const session_state& c = *impl_->state;
  const protected_outcome& then = why.if_protected;
  schema_writer w(table_kind::victim);
  for (const victim_rule rule : why.rules)
    add_victim_row(w, c, why, "rule", victim_rule_name(rule), {why.group, 0}, text(why, rule));
  for (const group_pods& one : why.placed) add_victim_row(w, c, why, "placed", {}, one, {});
  for (const group_pods& one : why.victims) add_victim_row(w, c, why, "victim", {}, one, {});
  for (const spared_group& one : why.spared)
    add_victim_row(w, c, why, "spared", spared_reason_name(one.why), {one.group, 0}, text(one.why));
  const group_row asked = why.placed.empty() ? no_row : why.placed.front().group;
  add_victim_row(w, c, why, "protected", code_of(then), {asked, then.pods}, text(why, then));
  for (const group_pods& one : then.victims) add_victim_row(w, c, why, "protected_victim", {}, one, {});
  return w.take();
}

table session::to_table(std::span<const share_step> steps) const {
  const session_state& c = *impl_->state;
  schema_writer w(table_kind::share_step);
  for (const share_step& one : steps) {
    w.put(col::share_step_queue, id_of_queue(c, one.queue).value);
    w.put(col::share_step_queue_name, name_of_queue(c, one.queue));
    w.put(col::share_step_parent, name_of_queue(c, one.parent));
    w.put(col::share_step_step, share_step_kind_name(one.what));
    w.put(col::share_step_dimension, name_of_dimension(c, one.dim));
    w.put(col::share_step_round, one.round);
    w.put(col::share_step_priority, one.priority);
    w.put(col::share_step_weight, one.weight);
    w.put(col::share_step_usage, one.usage);
    w.put(col::share_step_proportion, one.proportion);
    w.put(col::share_step_wanted, one.wanted);
    w.put(col::share_step_before, one.before);
    w.put(col::share_step_given, one.given);
    w.put(col::share_step_after, one.after);
    w.put(col::share_step_by, std::string_view(one.by));
    w.put(col::share_step_text, std::string_view(text(one)));
  }
  return w.take();
}

table session::to_table(const what_if_report& of) const {
  schema_writer w(table_kind::forecast);
  for (const forecast& one : of.groups) {
    const consequences then = consequences_of(of.over, one);
    w.put(col::forecast_group_name, of.over.group_name(one.group));
    w.put(col::forecast_way, start_way_name(one.way));
    w.put(col::forecast_starts, one.starts);
    w.put(col::forecast_action, action_name(one.action));
    w.put(col::forecast_earliest, one.earliest);
    w.put(col::forecast_expected, one.expected);
    w.put(col::forecast_knowledge, start_knowledge_name(one.knowledge));
    w.put(col::forecast_ends_before, one.ends_before);
    w.put(col::forecast_starts_before, one.starts_before);
    w[col::forecast_reasons].push_list(views_of(one.texts));
    w[col::forecast_placed_pods].push_list(then.placed_pods);
    w[col::forecast_placed_nodes].push_list(then.placed_nodes);
    w[col::forecast_displaced_pods].push_list(then.displaced_pods);
    w[col::forecast_displaced_groups].push_list(then.displaced_groups);
    w.put(col::forecast_text, std::string_view(text(of, one)));
    w[col::forecast_displaced_by].push_list(then.displaced_by);
  }
  return w.take();
}

table session::to_table(std::span<const optimality_gap> all) const {
  const session_state& c = *impl_->state;
  schema_writer w(table_kind::gap);
  std::uint32_t number = 0;
  for (const optimality_gap& one : all) {
    ++number;
    for (const victim_bound& proof : one.domains) add_gap_row(w, c, one, number, &proof);
    if (one.domains.empty()) add_gap_row(w, c, one, number, nullptr);
  }
  return w.take();
}

}  // namespace kaisched
