// What is said to let a group start lets it start, nothing of it can be left out, and on small clusters nothing smaller
// is missed: changes are carried out here by other means than those of the engine.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <kaisched/remedies.hpp>

#include "accountability/gangs.hpp"
#include "accountability/random_gangs.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "support.hpp"

namespace of_test_remedies {

using namespace kaisched;
using test::builder;
using test::must;
using test::numbers;
using test::rows;

namespace {

#ifdef KAISCHED_CHECKS
constexpr std::uint64_t clusters = 60;  // every commit is checked
#else
constexpr std::uint64_t clusters = 400;
#endif

using strings = std::vector<std::string>;

test::texts borrowed(const strings& texts) { return {texts.begin(), texts.end()}; }

strings split(std::string_view list) {
  const std::vector<std::string_view> parts = split_list(list);
  return {parts.begin(), parts.end()};
}

/// The changes of a remedy as tables, from what it says alone.
std::vector<table> carried_out(const session& decided, const remedy& what) {
  const snapshot& s = decided.base();
  const model::cluster_state& state = model::state_of(s);
  const session_view view = decided.view();
  std::vector<table> delta;
  std::map<pod_row, numbers> requests;
  std::map<pod_row, strings> tolerations;
  std::map<pod_row, strings> selectors;
  const auto waiting = [&](entity_id subject) {
    std::vector<pod_row> pods;
    const group_row group =
        subject.kind() == entity_kind::pod ? view.pod_group(subject.slot()) : static_cast<group_row>(subject.slot());
    for (pod_row p = 0; p < state.pod_slots; ++p) {
      if (state.pods[p].live && state.pods[p].group == group && view.status_of(p) == pod_status::pending)
        pods.push_back(p);
    }
    return pods;
  };
  for (const remedy_change& change : what.changes) {
    const std::string name(s.name(change.subject));
    switch (change.what) {
      case change_kind::gang_size:
      case change_kind::sub_groups: {
        const std::string column = change.what == change_kind::gang_size ? "min_member" : "min_sub_group";
        if (change.sub_group.empty())
          delta.push_back(rows(table_kind::pod_group, table_op::change, {"name", column}).add({name, change.after}));
        else
          delta.push_back(rows(table_kind::sub_group, table_op::change, {"group", "name", column})
                              .add({name, change.sub_group, change.after}));
        break;
      }
      case change_kind::pod_request:
        for (const pod_row p : waiting(change.subject)) {
          const bool is_meant = change.subject.kind() == entity_kind::pod_group ||
                                view.pod_class(p) == view.pod_class(change.subject.slot());
          if (!is_meant) continue;
          numbers request(view.pod_request(p).begin(), view.pod_request(p).end());
          auto& changed = requests.try_emplace(p, request).first->second;
          changed[change.dim] = change.after;
        }
        break;
      case change_kind::required_level:
        if (change.sub_group.empty())
          delta.push_back(
              rows(table_kind::pod_group, table_op::change, {"name", "required_level"}).add({name, change.text_after}));
        else
          delta.push_back(rows(table_kind::sub_group, table_op::change, {"group", "name", "required_level"})
                              .add({name, change.sub_group, change.text_after}));
        break;
      case change_kind::queue_limit:
      case change_kind::queue_quota: {
        const model::queue_info& info = (*state.queues)[change.subject.slot()];
        const bool limits = change.what == change_kind::queue_limit;
        numbers amounts(limits ? info.limit.begin() : info.quota.begin(), limits ? info.limit.end() : info.quota.end());
        for (const remedy_change& other : what.changes) {  // rows replace each other: each has them all
          if (other.what == change.what && other.subject == change.subject) amounts[other.dim] = other.after;
        }
        delta.push_back(
            rows(table_kind::queue, table_op::change, {"name", limits ? "limit" : "quota"}).add({name, amounts}));
        break;
      }
      case change_kind::new_nodes: {
        const std::uint32_t slot = change.subject.slot();
        const model::node_info& like = *(*state.nodes)[(*state.node_row_of_slot)[slot]];
        rows more(table_kind::node, table_op::add, {"name", "capacity", "labels", "taints"});
        rows devices(table_kind::device, table_op::add, {"node", "index", "healthy"});
        const strings labels = split(like.labels_text);
        const strings taints = split(like.taints_text);
        for (std::int64_t i = 0; i < change.after; ++i) {
          const std::string one = like.name + "+" + std::to_string(i + 1);  // names decide between equals
          more.add({one, numbers(like.capacity.begin(), like.capacity.end()), borrowed(labels), borrowed(taints)});
          for (const auto& d : like.devices) devices.add({one, std::int64_t{d.index}, d.healthy ? 1 : 0});
        }
        delta.push_back(more);
        if (!like.devices.empty() && change.after > 0) delta.push_back(devices);
        break;
      }
      case change_kind::open_node:
        delta.push_back(rows(table_kind::node, table_op::change, {"name", "ready", "unschedulable"}).add({name, 1, 0}));
        break;
      case change_kind::toleration:
        for (const pod_row p : waiting(change.subject)) {
          auto& all = tolerations.try_emplace(p, split(state.class_of(p).ask.tolerations)).first->second;
          all.push_back(change.text_before);
        }
        break;
      case change_kind::node_selector:
        for (const pod_row p : waiting(change.subject)) {
          auto& all = selectors.try_emplace(p, split(state.class_of(p).ask.node_selector)).first->second;
          for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
            if (all[i] + "=" + all[i + 1] != change.text_before) continue;
            all.erase(all.begin() + static_cast<std::ptrdiff_t>(i), all.begin() + static_cast<std::ptrdiff_t>(i) + 2);
            break;
          }
        }
        break;
      case change_kind::node_label:
      case change_kind::node_taint: {
        const model::node_info& node = *(*state.nodes)[(*state.node_row_of_slot)[change.subject.slot()]];
        if (change.what == change_kind::node_taint) {
          strings kept = split(node.taints_text);
          for (const remedy_change& other : what.changes) {
            if (other.what == change_kind::node_taint && other.subject == change.subject)
              std::erase(kept, other.text_before);
          }
          delta.push_back(rows(table_kind::node, table_op::change, {"name", "taints"}).add({name, borrowed(kept)}));
          break;
        }
        std::map<std::string, std::string> labels(node.labels.begin(), node.labels.end());
        for (const remedy_change& other : what.changes) {
          if (other.what != change_kind::node_label || other.subject != change.subject) continue;
          const std::size_t equals = other.text_after.find('=');
          labels[other.text_after.substr(0, equals)] = other.text_after.substr(equals + 1);
        }
        strings flat;
        for (const auto& [key, value] : labels) flat.insert(flat.end(), {key, value});
        delta.push_back(rows(table_kind::node, table_op::change, {"name", "labels"}).add({name, borrowed(flat)}));
        break;
      }
      default:
        FAIL("a change that these clusters do not have");
    }
  }
  for (const auto& [p, request] : requests)
    delta.push_back(
        rows(table_kind::pod, table_op::change, {"name", "request"}).add({std::string(s.pod_name(p)), request}));
  for (const auto& [p, list] : tolerations)
    delta.push_back(rows(table_kind::pod, table_op::change, {"name", "tolerations"})
                        .add({std::string(s.pod_name(p)), borrowed(list)}));
  for (const auto& [p, list] : selectors)
    delta.push_back(rows(table_kind::pod, table_op::change, {"name", "node_selector"})
                        .add({std::string(s.pod_name(p)), borrowed(list)}));
  return delta;
}

/// The cluster as a session leaves it, built by the public interface.
snapshot left_by(const session& decided) {
  cluster c(decided.base());
  REQUIRE(must(c.assume(decided)).empty());
  return c.take_snapshot();
}

std::uint32_t starts(const snapshot& now, const std::vector<table>& delta, std::string_view mode, group_row group) {
  cluster c(now);
  must(c.apply(delta));
  session s = must(test::make_engine({"mode", mode}).open(c.take_snapshot(), 1000 * test::second));
  must(s.run("allocate", group));
  return static_cast<std::uint32_t>(std::count_if(s.decisions().begin(), s.decisions().end(), [&](const decision& d) {
    return d.kind == decision_kind::bind && d.group == group;
  }));
}

/// The same remedy with one change made smaller by one unit, or without it; nothing where it has no smaller form.
std::vector<remedy> smaller(const remedy& of) {
  std::vector<remedy> all;
  for (std::size_t i = 0; i < of.changes.size(); ++i) {
    remedy less = of;
    remedy_change& change = less.changes[i];
    switch (change.what) {
      case change_kind::gang_size:
      case change_kind::sub_groups:
        ++change.after;
        break;
      case change_kind::pod_request:
        change.after += change.dim == dim_gpu ? whole_device : 1;
        break;
      case change_kind::queue_limit:
      case change_kind::queue_quota:
        if (change.after < 0) continue;
        --change.after;
        break;
      case change_kind::new_nodes:
        --change.after;
        break;
      case change_kind::required_level:
        continue;  // which level is between is a matter of the topology
      case change_kind::node_label:
        continue;  // several labels of one node belong together
      default:
        less.changes.erase(less.changes.begin() + static_cast<std::ptrdiff_t>(i));
    }
    all.push_back(std::move(less));
  }
  return all;
}

}  // namespace

TEST_CASE("every remedy works when somebody else carries it out, and nothing smaller does") {
  int told = 0;
  int of_two_kinds = 0;
  int too_large = 0;
  std::map<std::string, int> kinds;
  remedy_limits limits;
  limits.evictions = false;
  for (const std::string_view mode : {"compat", "strict"}) {
    for (std::uint64_t seed = 0; seed < clusters; ++seed) {
      test::seeded_dice d(seed);
      const snapshot base = test::snapshot_of(test::random_gangs(d));
      const session decided = must(test::make_engine({"mode", mode}).run(base, 1000 * test::second));
      const snapshot now = left_by(decided);
      for (const group_row g : test::all_groups(base)) {
        const remedy_report found = must(decided.remedies(g, limits));
        for (const remedy& one : found.remedies) {
          INFO("seed ", seed, ", mode ", std::string(mode), ", group ", std::string(base.group_name(g)), ": ",
               decided.text(one));
          CHECK(starts(now, carried_out(decided, one), mode, g) == one.starts);
          ++told;
          std::set<change_kind> different;
          for (const remedy_change& change : one.changes) different.insert(change.what);
          for (const change_kind what : different) ++kinds[std::string(change_kind_name(what))];
          of_two_kinds += different.size() > 1 ? 1 : 0;
          for (const remedy& less : smaller(one)) {
            too_large += starts(now, carried_out(decided, less), mode, g) > 0 ? 1 : 0;
          }
        }
      }
    }
  }
  MESSAGE(told, " remedies, ", of_two_kinds, " of several kinds, ", too_large, " too large");
  for (const auto& [name, count] : kinds) MESSAGE(name, ": ", count);
  CHECK(told > static_cast<int>(clusters));
  CHECK(of_two_kinds > 0);
  CHECK(too_large * 100 <= told);  // a first-fit search may do worse with more
}

// ---- against trying everything ------------------------------------------------------------------------------------

namespace {

/// One gang of equal pods, and what is in its way: each kind of change as generous as it can be.
struct obstacles {
  builder cluster;
  std::string gang;
  std::int64_t pods = 0;

  /// By kind of change; empty where there is nothing to change.
  [[nodiscard]] std::map<change_kind, std::vector<rows>> generous() const {
    std::map<change_kind, std::vector<rows>> all;
    const auto group = [&](const char* column, std::int64_t value) {
      return rows(table_kind::pod_group, table_op::change, {"name", column}).add({gang, value});
    };
    std::int64_t gpus = 0;
    strings selector;
    for (const builder::pod& p : cluster.pods) {
      if (p.group != gang) continue;
      gpus = p.gpu_milli;
      selector = p.node_selector;
    }
    const auto for_pods = [&](const char* column, const auto& value) {
      rows t(table_kind::pod, table_op::change, {"name", column});
      for (std::int64_t i = 0; i < pods; ++i) t.add({gang + "-" + std::to_string(i), value});
      return t;
    };
    if (pods > 1) all.try_emplace(change_kind::gang_size, std::vector<rows>{group("min_member", 1)});
    if (gpus > whole_device)
      all.try_emplace(change_kind::pod_request, std::vector<rows>{for_pods("request", numbers{1000, 0, whole_device})});
    rows queue(table_kind::queue, table_op::change, {"name", "limit", "quota"});
    bool limited = false;
    for (const builder::queue& q : cluster.queues) {
      queue.add({q.name, numbers(3, unlimited), numbers(3, unlimited)});
      limited = limited || q.gpu_limit != unlimited;
    }
    if (limited) all.try_emplace(change_kind::queue_limit, std::vector<rows>{queue});
    const auto admits = [&](const builder::node& n, bool labels, bool taints) {
      const bool has = selector.empty() || std::find(n.labels.begin(), n.labels.end(), "fast") != n.labels.end();
      return n.gpus * whole_device >= gpus && (labels || has) && (taints || n.taints.empty());
    };
    std::vector<rows> more, open, label, untaint;
    bool tainted = false;
    for (const builder::node& n : cluster.nodes) {
      tainted = tainted || !n.taints.empty();
      if (n.ready && more.empty() && admits(n, false, false)) {
        rows t(table_kind::node, table_op::add, {"name", "capacity", "labels"});
        for (std::int64_t i = 1; i <= pods; ++i)
          t.add({n.name + "+" + std::to_string(i),
                 numbers{n.cpus * 1000, std::int64_t{1'000'000'000'000}, n.gpus * whole_device, 110},
                 borrowed(n.labels)});
        more.push_back(t);
      }
      if (!n.ready && admits(n, false, false))
        open.push_back(rows(table_kind::node, table_op::change, {"name", "ready"}).add({n.name, 1}));
      if (n.ready && !admits(n, false, false) && admits(n, true, false))
        label.push_back(
            rows(table_kind::node, table_op::change, {"name", "labels"}).add({n.name, test::texts{"disk", "fast"}}));
      if (n.ready && !admits(n, false, false) && admits(n, false, true))
        untaint.push_back(rows(table_kind::node, table_op::change, {"name", "taints"}).add({n.name, test::texts{}}));
    }
    if (!more.empty()) all.try_emplace(change_kind::new_nodes, std::move(more));
    if (!open.empty()) all.try_emplace(change_kind::open_node, std::move(open));
    if (!label.empty()) all.try_emplace(change_kind::node_label, std::move(label));
    if (!untaint.empty()) all.try_emplace(change_kind::node_taint, std::move(untaint));
    if (tainted)
      all.try_emplace(change_kind::toleration, std::vector<rows>{for_pods("tolerations", test::texts{"pool=x"})});
    if (!selector.empty())
      all.try_emplace(change_kind::node_selector, std::vector<rows>{for_pods("node_selector", test::texts{})});
    return all;
  }
};

bool starts_with(const snapshot& base, std::initializer_list<const std::vector<rows>*> changes) {
  std::vector<table> delta;
  for (const std::vector<rows>* part : changes) delta.insert(delta.end(), part->begin(), part->end());
  return starts(base, delta, "strict", 0) > 0;
}

obstacles draw(test::dice& d) {
  obstacles made;
  made.gang = "g";
  builder& b = made.cluster;
  for (std::int64_t n = d.between(1, 3); n > 0; --n) {
    builder::node node{"n" + std::to_string(n), d.between(1, 4)};
    if (d.one_in(2)) node.labels = {"disk", "fast"};
    if (d.one_in(3)) node.taints = {"pool=x:NoSchedule"};
    node.ready = !d.one_in(3);
    b << node;
  }
  b << builder::queue{"dept", "", unlimited, d.one_in(3) ? d.between(0, 4) : unlimited};
  b << builder::queue{"q", "dept", unlimited, d.one_in(3) ? d.between(0, 4) : unlimited};
  made.pods = d.between(1, 4);
  b << builder::group{"g", "q", made.pods};
  const std::int64_t gpus = d.between(1, 3) * whole_device;
  const bool selects = d.one_in(2);
  for (std::int64_t i = 0; i < made.pods; ++i) {
    builder::pod pod{"g-" + std::to_string(i), "g", gpus};
    if (selects) pod.node_selector = {"disk", "fast"};
    b << pod;
  }
  return made;
}

/// Kinds that a report has, each remedy as a set. Limit and quota are one, as is what a label and its taint lack.
std::set<std::set<change_kind>> kinds_of(const remedy_report& of) {
  std::set<std::set<change_kind>> all;
  for (const remedy& one : of.remedies) {
    std::set<change_kind> kinds;
    for (const remedy_change& change : one.changes)
      kinds.insert(change.what == change_kind::queue_quota ? change_kind::queue_limit : change.what);
    all.insert(kinds);
  }
  return all;
}

}  // namespace

TEST_CASE("one kind of change, or two together, are told exactly where trying everything finds them") {
  std::array<int, 3> needed{};
  for (std::uint64_t seed = 0; seed < 4 * clusters; ++seed) {
    test::seeded_dice d(seed);
    const obstacles puzzle = draw(d);
    const snapshot base = puzzle.cluster.take();
    const session decided = must(test::make_engine({"mode", "strict"}).run(base, 1000 * test::second));
    if (!decided.decisions().empty()) continue;
    remedy_limits limits;
    limits.evictions = false;
    limits.trials = 1000;
    limits.node_kinds = 1;
    const remedy_report found = must(decided.remedies(0, limits));
    REQUIRE(found.complete);
    const auto changes = puzzle.generous();
    std::set<std::set<change_kind>> expected;
    for (const auto& [kind, delta] : changes) {
      if (starts_with(base, {&delta})) expected.insert({kind});
    }
    const std::size_t alone = expected.size();
    for (auto one = changes.begin(); alone == 0 && one != changes.end(); ++one) {
      for (auto other = std::next(one); other != changes.end(); ++other) {
        if (starts_with(base, {&one->second, &other->second})) expected.insert({one->first, other->first});
      }
    }
    INFO("seed ", seed);
    CHECK(kinds_of(found) == expected);
    ++needed[expected.empty() ? 2 : alone > 0 ? 0 : 1];
  }
  MESSAGE(needed[0], " need one kind, ", needed[1], " two, ", needed[2], " more");
  CHECK(std::min({needed[0], needed[1], needed[2]}) > 0);
}

}  // namespace of_test_remedies
