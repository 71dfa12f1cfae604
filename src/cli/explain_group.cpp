// Why a pod group waits, and where its pods are.
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/explain.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::cli {

namespace {

struct members {
  std::vector<pod_row> pods;
  std::int64_t before = 0;  ///< on nodes since before the session
  std::int64_t started = 0;
  std::int64_t claiming = 0;
  std::int64_t moving = 0;
  std::int64_t leaving = 0;
  std::int64_t waiting = 0;
};

members members_of(const explanation& of, group_row group) {
  const session& over = of.ran.over;
  const model::cluster_state& s = model::state_of(over.base());
  const session_view view = over.view();
  members all;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live || s.pods[p].group != group) continue;
    all.pods.push_back(p);
    const pod_status now = view.status_of(p);
    if (now == pod_status::pending || now == pod_status::gated) {
      ++all.waiting;
    } else if (const decision* last = decision_about(of.ran, p); last == nullptr) {
      if (view.node_of(p) != no_row) ++all.before;
    } else if (last->kind == decision_kind::bind) {
      ++all.started;
    } else if (last->kind == decision_kind::pipeline) {
      ++all.claiming;
    } else if (last->kind == decision_kind::move || last->kind == decision_kind::migrate) {
      ++all.moving;
    } else if (last->kind == decision_kind::evict) {
      ++all.leaving;
    }
  }
  return all;
}

/// The sizes that the group needs before anything of it starts.
std::string gang_text(const model::cluster_state& s, group_row group) {
  const model::group_core& g = s.groups[group];
  std::string text;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = s.subs[sub];
    if (info.is_set) continue;
    if (!text.empty()) text += ", ";
    if (s.group_extras[group].has_sub_groups) text += fmt::format("{}: ", info.name);
    text += info.min <= 1 ? counted(info.min, "pod") : fmt::format("{} together", counted(info.min, "pod"));
  }
  return text;
}

std::string fate_of_all(const members& all) {
  std::string text = counted(std::ssize(all.pods), "pod");
  const auto add = [&](std::int64_t number, std::string_view what) {
    if (number > 0) text += fmt::format(", {} {}", grouped(number), what);
  };
  add(all.before, "on nodes before");
  add(all.started, "starting now");
  add(all.claiming, "to follow when others have left");
  add(all.moving, "moving");
  add(all.leaving, "evicted");
  add(all.waiting, "waiting");
  return text;
}

std::string headline(const members& all, const waiting_group* waiting) {
  if (waiting != nullptr) return all.started + all.claiming > 0 ? "starts in part, the rest waits" : "waits";
  if (all.started > 0) return "starts";
  if (all.claiming > 0) return "will start when others have left";
  if (all.leaving > 0) return all.before + all.moving > 0 ? "loses pods" : "is evicted";
  if (all.moving > 0) return "moves";
  return all.before > 0 ? "is on its nodes, as before" : "has nothing to start";
}

void print_pods(const explanation& of, const members& all) {
  constexpr std::size_t most_pods = 20;
  if (all.pods.empty()) return;
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  print_section(out, "Pods");
  std::size_t widest = 0;
  for (const pod_row p : all.pods) widest = std::max(widest, columns_of(over.base().pod_name(p)));
  widest = std::min<std::size_t>(widest, 40);
  for (std::size_t i = 0; i < std::min(all.pods.size(), most_pods); ++i) {
    out.line(fmt::format("  {}  {}", pad_right(cut(over.base().pod_name(all.pods[i]), widest), widest),
                         fate_text(of.ran, all.pods[i])));
  }
  if (all.pods.size() > most_pods) {
    out.line(
        out.paint(style::dim, fmt::format("  and {} more", grouped(std::ssize(all.pods) - std::int64_t{most_pods}))));
  }
}

void print_remedies(const explanation& of, const remedy_report& found) {
  const terminal& out = of.to.out();
  print_section(out, "What would start it now");
  for (const remedy& one : found.remedies) print_item(out, of.ran.over.text(one));
  if (found.remedies.empty()) print_item(out, "no single change that was tried");
  if (!found.complete) print_item(out, fmt::format("not searched further after {} trials", found.trials));
}

json remedies_json(const session& over, const remedy_report& found) {
  json all = json::array();
  for (const remedy& one : found.remedies) {
    json changes = json::array();
    for (const remedy_change& change : one.changes) {
      json said{{"kind", change_kind_name(change.what)}, {"subject", over.base().name(change.subject)}};
      if (change.dim != no_row) said["dimension"] = over.base().dimension_names()[change.dim];
      if (change.before != change.after) said["before"] = change.before;
      if (change.before != change.after) said["after"] = change.after;
      if (!change.sub_group.empty()) said["sub_group"] = change.sub_group;
      if (!change.text_before.empty()) said["text_before"] = change.text_before;
      if (!change.text_after.empty()) said["text_after"] = change.text_after;
      changes.push_back(std::move(said));
    }
    json row{{"changes", std::move(changes)}, {"starts", one.starts}, {"text", over.text(one)}};
    if (one.action != action_kind::none) row["action"] = action_name(one.action);
    all.push_back(std::move(row));
  }
  return {{"found", std::move(all)}, {"trials", found.trials}, {"complete", found.complete}};
}

// ---- certificates --------------------------------------------------------------------------------------------------

template <class Row, class Name>
json names_json(const std::vector<Row>& rows, Name name) {
  json all = json::array();
  for (const Row row : rows) all.push_back(name(row));
  return all;
}

json bound_json(const session& over, const placement_bound& bound) {
  const snapshot& base = over.base();
  json nodes = json::array();
  for (const node_bound& one : bound.nodes) {
    json said{{"why", constraint_name(one.why)}, {"most", one.most}};
    if (one.dim != no_row) said["dimension"] = base.dimension_names()[one.dim];
    said["nodes"] = names_json(one.nodes, [&](node_row row) { return base.node_name(row); });
    nodes.push_back(std::move(said));
  }
  json all{{"kind", certificate_kind_name(bound.kind)},
           {"pods", names_json(bound.pods, [&](pod_row row) { return base.pod_name(row); })},
           {"need", bound.need},
           {"have", bound.have},
           {"nodes", std::move(nodes)}};
  if (bound.dim != no_row) all["dimension"] = base.dimension_names()[bound.dim];
  return all;
}

/// What the session has changed before the proof: pods that started, pods on nodes that leave them, and pods of the
/// group that have claims.
json changes_json(const decided& ran, group_row group) {
  const session& over = ran.over;
  const model::cluster_state& s = model::state_of(over.base());
  json placed = json::array();
  json leaving = json::array();
  json claiming = json::array();
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live) continue;
    const auto was = static_cast<pod_status>(s.live.pod_state[p]);
    const pod_status now = over.view().status_of(p);
    const decision* last = decision_about(ran, p);
    if (last == nullptr) continue;
    if (last->kind == decision_kind::bind || last->kind == decision_kind::migrate) {
      placed.push_back({{"pod", over.base().pod_name(p)},
                        {"node", over.base().node_name(over.view().node_of(p))},
                        {"devices", devices_json(last->devices)}});
    }
    if (model::is_in(was, model::holding) && (now == pod_status::releasing || now == pod_status::pipelined))
      leaving.push_back(over.base().pod_name(p));
    if (now == pod_status::pipelined && s.pods[p].group == group) claiming.push_back(over.base().pod_name(p));
  }
  return {{"placed", std::move(placed)}, {"leaving", std::move(leaving)}, {"claiming", std::move(claiming)}};
}

json certificate_json(const decided& ran, const certificate& proof) {
  const session& over = ran.over;
  const snapshot& base = over.base();
  json all{{"group", base.group_name(proof.group)}, {"kind", certificate_kind_name(proof.kind)}};
  if (proof.kind == certificate_kind::none) return all;
  all["assumption"] = certificate_assumption_name(proof.assumption);
  all["text"] = over.text(proof);
  if (proof.sub_group != no_row) all["sub_group"] = model::state_of(base).subs[proof.sub_group].name;
  if (proof.kind == certificate_kind::structure || proof.kind == certificate_kind::queue_bound) {
    all["what"] = constraint_name(proof.what);
    all["need"] = proof.need;
    all["have"] = proof.have;
  }
  if (proof.kind == certificate_kind::queue_bound) {
    all["queue"] = base.queue_name(proof.queue);
    all["dimension"] = base.dimension_names()[proof.dim];
  }
  if (proof.bound.kind != certificate_kind::none) all["bound"] = bound_json(over, proof.bound);
  if (proof.kind == certificate_kind::domain_bound) {
    json domains = json::array();
    for (const domain_bound& one : proof.domains)
      domains.push_back({{"domain", one.domain}, {"bound", bound_json(over, one.bound)}});
    all["topology"] = proof.topology;
    all["level"] = proof.level;
    all["domains"] = std::move(domains);
    all["outside"] = names_json(proof.outside, [&](node_row row) { return base.node_name(row); });
  }
  all["after"] = changes_json(ran, proof.group);
  return all;
}

void print_certificate(const explanation& of, const certificate& proof) {
  if (proof.kind == certificate_kind::none) return;
  print_section(of.to.out(), "Why it cannot start");
  print_item(of.to.out(), of.ran.over.text(proof));
}

/// A place among those that wait, from 1 on.
struct line_place {
  std::int64_t place = 0;
  std::int64_t of = 0;
};
struct line_places {
  line_place in_all;
  line_place in_queue;
};

/// nullopt: it stands in no line.
std::optional<line_places> places_of(const session& over, group_row group) {
  const result<std::vector<group_row>> line = over.line();
  if (!line) return std::nullopt;
  line_places found;
  for (const group_row one : *line) {
    const bool is_mine = over.view().group_queue(one) == over.view().group_queue(group);
    ++found.in_all.of;
    if (is_mine) ++found.in_queue.of;
    if (one != group) continue;
    found.in_all.place = found.in_all.of;
    found.in_queue.place = found.in_queue.of;
  }
  return found.in_all.place == 0 ? std::nullopt : std::optional(found);
}

void print_group(const explanation& of, group_row group, const members& all, const waiting_group* waiting,
                 const std::optional<line_places>& line, const remedy_report& remedies, const certificate& proof) {
  const terminal& out = of.to.out();
  const session& over = of.ran.over;
  const session_view view = over.view();
  const queue_row queue = view.group_queue(group);
  out.line(fmt::format("{}  {}", out.paint(style::bold, "pod group " + std::string(view.group_name(group))),
                       headline(all, waiting)));
  if (queue != no_row)
    print_fact(out, "queue", fmt::format("{}; {}", path_text(over, queue), share_text(of.ran, queue)));
  print_fact(out, "priority", fmt::format("{}, {}", view.group_priority(group), preemptibility_text(view, group)));
  print_fact(out, "needs", gang_text(model::state_of(over.base()), group));
  print_fact(out, "has", fate_of_all(all));
  if (line) {
    print_fact(out, "line",
               fmt::format("{} of the {} in its queue, {} of the {} that wait", grouped(line->in_queue.place),
                           grouped(line->in_queue.of), grouped(line->in_all.place), grouped(line->in_all.of)));
  }
  if (waiting != nullptr) {
    print_section(out, fmt::format("Why it waits: {}", waiting->headline));
    for (const reason& why : waiting->reasons) print_item(out, over.text(why));
    print_attempts(of, group);
  }
  print_certificate(of, proof);
  if (waiting != nullptr) print_remedies(of, remedies);
  print_divisions(of, group, no_row);
  print_pods(of, all);
  if (all.pods.empty()) return;
  out.line();
  out.line("  " + out.paint(style::dim, "`kaisched explain FILE pod/NAME` tells about the nodes for one pod."));
}

}  // namespace

json explain_group(const explanation& of, group_row group) {
  const session& over = of.ran.over;
  const session_view view = over.view();
  const members all = members_of(of, group);
  const waiting_group* waiting = waiting_of(of.ran, group);
  remedy_report remedies;
  certificate proof;
  proof.group = group;
  if (waiting != nullptr) {
    remedy_limits quick;
    quick.evictions = false;  // what these actions did for the group is told already
    if (result<remedy_report> found = over.remedies(group, quick)) remedies = *std::move(found);
  }
  if (all.waiting > 0) {
    if (result<certificate> found = over.certify(group)) proof = *std::move(found);
  }
  const std::optional<line_places> line = all.waiting > 0 ? places_of(over, group) : std::nullopt;
  if (of.to.shows_report()) print_group(of, group, all, waiting, line, remedies, proof);
  json reasons = json::array();
  if (waiting != nullptr) {
    for (const reason& why : waiting->reasons) reasons.push_back(reason_json(over, why));
  }
  json pods = json::array();
  for (const pod_row p : all.pods) {
    json one{{"name", view.pod_name(p)}, {"status", pod_status_name(view.status_of(p))}};
    if (view.node_of(p) != no_row) one["node"] = view.node_name(view.node_of(p));
    if (const decision* last = decision_about(of.ran, p); last != nullptr) {
      one["decision"] = decision_kind_name(last->kind);
    }
    pods.push_back(std::move(one));
  }
  json said{{"kind", "pod_group"},
            {"name", view.group_name(group)},
            {"queue", path_json(over, view.group_queue(group))},
            {"priority", view.group_priority(group)},
            {"preemptible", view.group_preemptible(group)},
            {"semi_preemptible", view.group_semi_preemptible(group)},
            {"pods_before", all.before},
            {"pods_started", all.started},
            {"pods_claiming", all.claiming},
            {"pods_moving", all.moving},
            {"pods_evicted", all.leaving},
            {"pods_waiting", all.waiting},
            {"headline", waiting == nullptr ? "" : waiting->headline},
            {"reasons", std::move(reasons)},
            {"certificate", certificate_json(of.ran, proof)},
            {"remedies", remedies_json(over, remedies)},
            {"attempts", attempts_json(of.ran, group)},
            {"divisions", divisions_json(of.ran, group, no_row)},
            {"pods", std::move(pods)}};
  if (line) {
    said["line"] = {{"place", line->in_all.place},
                    {"of", line->in_all.of},
                    {"place_in_queue", line->in_queue.place},
                    {"of_queue", line->in_queue.of}};
  }
  return said;
}

}  // namespace kaisched::cli
