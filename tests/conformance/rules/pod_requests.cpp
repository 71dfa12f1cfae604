#include "conformance/rules/pod_requests.hpp"

namespace kaisched::policy {

namespace {

resource_list sum_of_containers(const pod_request_parts& pod) {
  resource_list sum;
  for (const resource_list& one : pod.containers) sum.add(one);
  return sum;
}

void amend_by_pod(resource_list& request, const pod_request_parts& pod) {
  for (const auto& [name, amount] : pod.of_pod) request.set(name, amount);
  request.add(pod.overhead);
}

}  // namespace

resource_list running_request(const pod_request_parts& pod) {
  resource_list sum = sum_of_containers(pod);
  amend_by_pod(sum, pod);
  return sum;
}

resource_list peak_request(const pod_request_parts& pod) {
  resource_list sum = sum_of_containers(pod);
  resource_list sidecars;
  resource_list before;
  for (const container_request& one : pod.init_containers) {
    resource_list beside = one.request;
    beside.add(sidecars);
    before.raise_to(beside);
    if (!one.sidecar) continue;
    sidecars.add(one.request);
    sum.add(one.request);
  }
  sum.raise_to(before);
  sum.set("pods", sum.get("pods") + 1);
  amend_by_pod(sum, pod);
  return sum;
}

resource_list effective_request(const resized_request& of) {
  resource_list most = of.actual;
  most.raise_to(of.allocated);
  if (!of.infeasible) most.raise_to(of.wished);
  return most;
}

}  // namespace kaisched::policy
