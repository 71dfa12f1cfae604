#include "oracle/differences.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/engine.hpp>

#include "io/cluster_json.hpp"
#include "oracle/oracle.hpp"

namespace kaisched::oracle {

namespace {

std::vector<std::int64_t> indices(std::uint64_t mask) {
  std::vector<std::int64_t> all;
  for (; mask != 0; mask &= mask - 1) all.push_back(std::countr_zero(mask));
  return all;
}

outcome outcome_of(const session& s) {
  outcome all;
  for (const kaisched::decision& d : s.decisions()) {
    all.decisions.push_back({d.kind == decision_kind::pipeline, std::string(s.base().pod_name(d.pod)),
                             std::string(s.base().node_name(d.node)), indices(d.devices.mask), d.devices.share,
                             d.commit});
  }
  const table rows = s.to_table(table_kind::decision).value();
  const table_view decided = rows.view();
  for (std::uint64_t i = 0; i < decided.rows; ++i) {
    const auto kind = static_cast<decision_kind>(
        decided.find(col::decision_kind)->values<std::uint8_t>(decided.rows)[static_cast<std::size_t>(i)]);
    if (kind == decision_kind::unschedulable) {
      all.waiting.emplace_back(decided.find(col::decision_group_name)->string(i));
    }
  }
  const table shares = s.to_table(table_kind::queue_share).value();
  const table_view queues = shares.view();
  const auto three = [&](std::uint32_t column, std::uint64_t row) {
    const auto values = queues.find(column)->values<std::int64_t>(queues.rows).subspan(row * quota_dimensions);
    return quota_amounts{values[0], values[1], values[2]};
  };
  for (std::uint64_t i = 0; i < queues.rows; ++i) {
    const std::string name(queues.find(col::share_queue_name)->string(i));
    all.fair_share[name] = three(col::share_fair_share, i);
    all.allocated[name] = three(col::share_allocated, i);
  }
  return all;
}

std::string amounts_text(const std::map<std::string, quota_amounts>& amounts) {
  std::string text;
  for (const auto& [name, a] : amounts) {
    text += " " + name + "=" + std::to_string(a[0]) + "/" + std::to_string(a[1]) + "/" + std::to_string(a[2]);
  }
  return text;
}

std::string text_of(const outcome& o) {
  std::string text;
  for (const decision& d : o.decisions) {
    text += "  " + std::to_string(d.commit) + (d.claim ? " pipeline " : " bind ") + d.pod + " " + d.node + " [";
    for (const std::int64_t device : d.devices) text += " " + std::to_string(device);
    text += " ] x " + std::to_string(d.share) + "\n";
  }
  text += "  waiting:";
  for (const std::string& group : o.waiting) text += " " + group;
  return text + "\n  fair share:" + amounts_text(o.fair_share) + "\n  allocated:" + amounts_text(o.allocated) + "\n";
}

std::string options_text(const policy_options& options) {
  std::string text;
  for (const option_info& o : option_list()) {
    // One that names others, such as the preset, has no value of its own.
    if (const result<std::string> value = options.get(o.name)) text += " " + std::string(o.name) + "=" + *value;
  }
  return text;
}

}  // namespace

std::string differences(const snapshot& from, const policy_options& options) {
  const outcome expected = allocate(from, options);
  for (const bool scan : {false, true}) {
    policy_options chosen = options;
    chosen.actions = {"allocate"};  // which is what the oracle knows
    chosen.reference_path = scan;
    const result<session> ran = engine(chosen).run(from, 0);
    std::string found;
    if (!ran) {
      found = "  error: " + ran.failure().message + "\n";
    } else if (const outcome got = outcome_of(*ran); got != expected) {
      found = text_of(got);
    } else if (const result<void> sound = ran->check(); !sound) {
      found = "  check: " + sound.failure().message + "\n";
    }
    if (!found.empty()) {
      return "options:" + options_text(chosen) + "\noracle:\n" + text_of(expected) + "engine:\n" + found +
             "cluster:\n" + io::format_cluster_json(from, 0).value();
    }
  }
  return {};
}

}  // namespace kaisched::oracle
