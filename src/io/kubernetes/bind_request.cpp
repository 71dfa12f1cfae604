#include "io/kubernetes/bind_request.hpp"

#include <utility>

#include "io/kubernetes/claim.hpp"

namespace kaisched::io::kubernetes {

void read_bind_request(object& of, bind_requests& to) {
  const member spec = of.section(of.root(), "spec");
  const member status = of.section(of.root(), "status");
  const std::string_view phase = of.text(status, "phase");
  const std::int64_t most = of.integer(spec, "backoffLimit").value_or(0);
  if (phase == "Failed" && of.integer(status, "failedAttempts").value_or(0) >= most) return;
  bind_request read;
  read.node = of.text(spec, "selectedNode");
  for (const std::string_view group : of.texts(spec, "selectedGPUGroups")) read.gpu_groups.emplace_back(group);
  for (const json_value one : of.items(spec, "resourceClaimAllocations")) {
    claim_record given;
    read_claim_allocation(of, of.section(one, "allocation"), given);
    if (!given.devices.empty()) read.claims.insert_or_assign(std::string(of.text(one, "name")), std::move(given));
  }
  const std::string_view pod = of.text(spec, "podName");
  if (of.failed()) return;
  to.insert_or_assign(of.in_space(pod), std::move(read));
}

}  // namespace kaisched::io::kubernetes
