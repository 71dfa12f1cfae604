#include <array>

#include "policy/parts.hpp"

namespace kaisched::policy {

std::span<const part_entry> built_in_parts() noexcept {
  static constexpr std::array entries{
      part_entry{"age", make_age, "groups that have waited longest first"},
      part_entry{"best_fit", make_best_fit, "nodes with the least CPU and GPUs left"},
      part_entry{"colocation", make_colocation,
                 "pods that disturb each other least on one device, none above its load"},
      part_entry{"completion_rate", make_completion_rate,
                 "the set of groups first that fits idle GPUs and from which most groups end per second"},
      part_entry{"deadline", make_deadline, "groups with the earliest deadline first"},
      part_entry{"dot_product", make_dot_product, "nodes with little left of what the pod asks for"},
      part_entry{"drf", make_drf, "groups with the smallest dominant share first"},
      part_entry{"dynamicresources", make_dynamic_resources, "devices for the resource claims of pods"},
      part_entry{"elastic", make_elastic, "groups below the size of their gang first, elastic surplus last"},
      part_entry{"energy", make_energy, "nodes where the pod adds least to what is drawn"},
      part_entry{"fgd", make_fgd,
                 "nodes and devices where least of the free GPUs becomes useless for pods that usually come"},
      part_entry{"fifo", make_fifo, "older groups first"},
      part_entry{"goodput", make_goodput, "groups first where the next pod adds most speed for each GPU"},
      part_entry{"gpu_clustering", make_gpu_clustering, "nodes that host pods with as many GPUs"},
      part_entry{"gpu_packing", make_gpu_packing, "devices in use before idle ones, nodes in use before idle ones"},
      part_entry{"gpupack", make_gpu_pack, "parts of devices on the fullest device that has room"},
      part_entry{"gpusharingorder", make_gpu_sharing_order,
                 "pods that share devices prefer nodes where a shared device has room"},
      part_entry{"gpuspread", make_gpu_spread, "parts of devices on the emptiest device"},
      part_entry{"gputypes", make_gpu_types, "limits of queues on types of GPUs"},
      part_entry{"interpodaffinity", make_inter_pod_affinity,
                 "nodes near pods that are welcome there, and away from those that are not"},
      part_entry{"las", make_las, "groups that have had the least GPU time first"},
      part_entry{"las_2d", make_las_2d, "queues of groups by the GPU time that they have had"},
      part_entry{"least_waste", make_least_waste,
                 "nodes and devices where least of the GPUs will be left over, scarce nodes last"},
      part_entry{"load", make_load, "nodes by their measured utilisation"},
      part_entry{"lost_work", make_lost_work, "groups that would lose the most GPU time if they were evicted first"},
      part_entry{"minruntime", make_minimum_runtime, "minimum runtime of victims, as queues promise it"},
      part_entry{"multifactor", make_multifactor,
                 "groups with the most points first, for age, use of shares, size and priorities"},
      part_entry{"nodeavailability", make_node_availability, "nodes where the pod can start now first"},
      part_entry{"nodeplacement", make_node_placement, "binpack or spread, by GPUs or by CPU"},
      part_entry{"nominatednode", make_nominated_node, "the node that was promised to the pod first"},
      part_entry{"numa", make_numa, "nodes whose NUMA zones can align the pod, with as few zones as possible"},
      part_entry{"powercap", make_power_cap, "nodes whose power feeds have enough left for the pod"},
      part_entry{"predicates", make_predicates,
                 "state, taints, labels, ports and pod affinity of nodes; queue limits per pod"},
      part_entry{"priority", make_priority, "groups of higher priority first"},
      part_entry{"proportion", make_proportion, "fair shares, order of queues, limits and quotas"},
      part_entry{"resourcetype", make_resource_type, "pods without GPUs prefer nodes without GPUs"},
      part_entry{"sg-multinodegang", make_multi_node_gang,
                 "sets of victims: the smallest nodes that free enough together"},
      part_entry{"sg-nodelocalgreedy", make_node_local_greedy, "sets of victims: all that touch one node"},
      part_entry{"sjf", make_sjf, "groups that are expected to run for the shortest time first"},
      part_entry{"srsf", make_srsf, "groups with the least remaining GPU time first"},
      part_entry{"srtf", make_srtf, "groups with the least remaining time first"},
      part_entry{"topology", make_topology, "pod groups in the domains of a topology that they ask for"},
      part_entry{"topologyspread", make_topology_spread, "pods spread evenly over the domains of a key"},
      part_entry{"traffic", make_traffic,
                 "pods that talk to each other near each other, others away from large empty domains"},
      part_entry{"userfairness", make_user_fairness, "groups of users who hold less of the queue first"},
      part_entry{"vendordevices", make_vendor_devices, "devices that are shared by the rules of their vendors"},
  };
  return entries;
}

}  // namespace kaisched::policy
