#include <fstream>
#include <stdexcept>

#include "host/host.hpp"

namespace day_host {

namespace {

std::string time_text(ms at) { return at < 0 ? std::string("unset") : std::to_string(at) + "ms"; }

std::string amount(std::int64_t milli) { return milli < 0 ? std::string("unlimited") : std::to_string(milli) + "m"; }

void write_nodes(const world& of, std::ostream& to) {
  to << "topology net levels=[rack]\n";
  for (std::size_t n = 0; n < of.plan().nodes.size(); ++n) {
    const node_row& one = of.plan().nodes[n];
    to << "node " << one.name << " gpu=" << one.gpus << " cpu=" << amount(one.cpu) << " memory=" << one.memory
       << " pods=" << one.pods << " labels={rack=" << one.rack << '}'
       << (of.ready(static_cast<int>(n)) ? "" : " ready=false") << '\n';
  }
}

void write_queues(const world& of, std::ostream& to) {
  for (const queue_row& one : of.plan().queues) {
    to << "queue " << one.name;
    if (!one.parent.empty()) to << " parent=" << one.parent;
    to << " priority=" << one.priority << " over_quota_weight=" << one.weight
       << " quota=unlimited quota.cpu=" << amount(one.quota_cpu) << " quota.gpu=" << amount(one.quota_gpu)
       << " limit=unlimited limit.cpu=" << amount(one.limit_cpu) << " limit.gpu=" << amount(one.limit_gpu);
    if (one.reclaim_min >= 0) to << " reclaim_min_runtime=" << time_text(one.reclaim_min);
    if (one.preempt_min >= 0) to << " preempt_min_runtime=" << time_text(one.preempt_min);
    to << '\n';
  }
}

void write_group(const world& of, const settings& how, std::size_t job, std::ostream& to) {
  const job_state& one = of.jobs()[job];
  const job_row& row = *one.row;
  to << "pod_group " << row.name << " queue=" << row.queue << " priority=" << row.priority
     << " preemptible=" << (row.preemptible ? "true" : "false") << " min_member=" << row.least
     << " created=" << time_text(row.submit);
  if (row.one_rack) to << " topology=net required_level=rack";
  if (how.estimates) to << " runtime_estimate=" << time_text(row.run);
  if (one.last_start >= 0) to << " last_start=" << time_text(one.last_start);
  if (one.last_eviction >= 0) to << " last_eviction=" << time_text(one.last_eviction);
  if (one.evictions > 0) to << " evictions=" << one.evictions;
  if (one.stale_since >= 0) to << " stale_since=" << time_text(one.stale_since);
  to << '\n';
  for (std::size_t p = 0; p < one.pods.size(); ++p) {
    static constexpr const char* names[] = {"pending", "pending", "running", "releasing"};
    const pod& at = one.pods[p];
    to << "  pod " << of.pod_name({job, p}) << " group=" << row.name << " gpu=" << amount(row.gpu)
       << " cpu=" << amount(row.cpu) << " memory=" << row.memory << " created=" << time_text(row.submit);
    if (at.state == pod_state::claimed) {
      to << " nominated_node=" << of.plan().nodes[static_cast<std::size_t>(at.node)].name;
    } else if (at.state != pod_state::pending) {
      to << " status=" << names[static_cast<int>(at.state)]
         << " node=" << of.plan().nodes[static_cast<std::size_t>(at.node)].name;
      if (!at.devices.empty()) to << " devices=[";
      for (std::size_t d = 0; d < at.devices.size(); ++d) to << (d == 0 ? "" : ",") << at.devices[d];
      if (!at.devices.empty()) to << ']';
      if (!at.grants.empty()) to << " device_grants=[";
      for (std::size_t g = 0; g < at.grants.size(); ++g) to << (g == 0 ? "\"" : ",\"") << at.grants[g] << '"';
      if (!at.grants.empty()) to << ']';
      if (at.next.node >= 0) to << " nominated_node=" << of.plan().nodes[static_cast<std::size_t>(at.next.node)].name;
    }
    to << '\n';
  }
}

}  // namespace

void write_scenario(const world& of, const settings& how, ms now, const std::string& file) {
  std::ofstream to(file);
  if (!to) throw std::runtime_error(file + ": cannot be written");
  to << "scenario 1 \"session " << how.scenario_of << " of a day\"\n";
  for (const auto& [key, value] : how.options)
    to << "option " << key << '=' << (value.find(',') == std::string::npos ? value : '[' + value + ']') << '\n';
  to << "now " << time_text(now) << '\n';
  write_nodes(of, to);
  write_queues(of, to);
  for (const std::size_t job : of.there()) write_group(of, how, job, to);
  to << "run\n";
}

}  // namespace day_host
