// SchedulingShard of KAI -> options of the preset kai.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include <kaisched/engine.hpp>

#include "io/importers/readers.hpp"

namespace kaisched::io::importers {

namespace {

class shard_import {
 public:
  result<imported_policy> read(json_value root) {
    made_.of = "KAI";
    result<policy_options> usual = preset("kai");
    if (!usual) return usual.failure();
    parts_ = usual->parts;
    json_value kept = root;
    if (const json_value* const spec = find_member(root, "spec", kept)) {
      for (const json_value one : *spec) field(one);
    }
    if (spreads_) std::erase(actions_, "consolidation");
    made_.options.insert(made_.options.begin(), {{"preset", "kai"}, {"mode", "compat"}, {"actions", joined(actions_)}});
    if (parts_ != usual->parts) made_.set("parts", joined(parts_));
    return std::move(made_);
  }

 private:
  void field(json_value one) {
    const std::string_view key = one.key();
    if (key == "placementStrategy") return placement(one);
    if (key == "queueDepthPerAction") return depths(one);
    if (key == "minRuntime") return min_runtime(one);
    if (key == "kValue") return made_.set("proportion.k", scalar_text(one));
    if (key == "plugins") return toggles(one, parts_, "part");
    if (key == "actions") return toggles(one, actions_, "action");
    if (key == "args") return flags(one);
    if (key == "partitionLabelValue" && scalar_text(one).empty()) return;
    if (key == "partitionLabelValue")
      return made_.leave_out(one, fmt::format("the pool is node_pool={} where objects are read", scalar_text(one)));
    made_.leave_out(one, "nothing here does this");
  }

  void placement(json_value told) {
    for (const json_value one : told) {
      made_.set(fmt::format("placement.{}", one.key()), scalar_text(one));
      spreads_ = spreads_ || scalar_text(one) == "spread";
    }
    if (!spreads_) return;
    std::ranges::replace(parts_, "gpupack", "gpuspread");
    std::erase(parts_, "gpusharingorder");
  }

  void depths(json_value told) {
    for (const json_value one : told) {
      const std::string option = fmt::format("queue_depth.{}", one.key());
      const auto all = option_list();
      if (std::ranges::any_of(all, [&](const option_info& known) { return known.name == option; })) {
        made_.set(option, scalar_text(one));
      } else {
        made_.leave_out(one, "the action looks at all groups");
      }
    }
  }

  void min_runtime(json_value told) {
    for (const json_value one : told) {
      const std::optional<double> seconds = seconds_of(scalar_text(one));
      const bool preempts = one.key() == "preemptMinRuntime";
      if (!seconds || (!preempts && one.key() != "reclaimMinRuntime")) {
        made_.leave_out(one, "no duration of preempt or reclaim");
      } else {
        made_.set(preempts ? "min_runtime.preempt" : "min_runtime.reclaim", fmt::format("{}", *seconds));
      }
    }
  }

  /// `NAME: {enabled, priority, arguments}`
  void toggles(json_value told, std::vector<std::string>& list, std::string_view kind) {
    json_value kept = told;
    for (const json_value one : told) {
      const std::string name(one.key());
      const json_value* const enabled = find_member(one, "enabled", kept);
      const bool off = enabled != nullptr && scalar_text(*enabled) == "false";
      const bool there = std::ranges::find(list, name) != list.end();
      const std::vector<std::string> parts = engine().part_names();
      if (!there && !off && &list == &parts_ && std::ranges::find(parts, name) != parts.end()) {
        list.push_back(name);
        continue;
      }
      if (off) std::erase(list, name);
      if (!there && !off) made_.leave_out(one, fmt::format("there is no {} of this name", kind));
      for (const std::string_view other : {"priority", "arguments"}) {
        if (const json_value* const found = find_member(one, other, kept))
          made_.leave_out(*found, fmt::format("of {}: order and arguments are the preset's", name));
      }
    }
  }

  void flags(json_value told) {
    static const std::map<std::string, std::string, std::less<>> known{
        {"max-consolidation-preemptees", "consolidation.max_victims"},
        {"default-staleness-grace-period", "staleness_grace"},
        {"use-scheduling-signatures", "signatures"},
        {"allow-consolidating-reclaim", "reclaim.moves"},
        {"restrict-node-scheduling", "restrict_node_scheduling"},
    };
    for (const json_value one : told) {
      const auto option = known.find(one.key());
      if (option == known.end()) {
        made_.leave_out(one, "nothing here does this");
      } else if (option->second == "staleness_grace") {
        const std::optional<double> seconds = seconds_of(scalar_text(one));
        made_.set(option->second, seconds ? fmt::format("{}", *seconds) : "-1");
      } else {
        made_.set(option->second, scalar_text(one));
      }
    }
  }

  imported_policy made_;
  std::vector<std::string> parts_;
  std::vector<std::string> actions_{"allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"};
  bool spreads_ = false;
};

}  // namespace

result<imported_policy> import_kai_shard(json_value root) { return shard_import().read(root); }

}  // namespace kaisched::io::importers
