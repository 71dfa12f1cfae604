#include <algorithm>
#include <iterator>
#include <string>

#include "io/invented_parts.hpp"

namespace kaisched::io::invented {

namespace {

bool takes_model(const job_shape& shape, const machine& on) {
  if (!shape.model.empty() && shape.model != on.type->model) return false;
  return shape.products.empty() ||
         std::find(shape.products.begin(), shape.products.end(), on.type->product) != shape.products.end();
}

bool is_open_to(const job_shape& shape, const machine& on) {
  const bool tolerated = shape.pool.empty() ? on.pool == training_pool || on.pool == cpu_pool : on.pool == shape.pool;
  return on.ready && !on.cordoned && tolerated && takes_model(shape, on);
}

bool fits(const job_shape& shape, const machine& on) {
  return is_open_to(shape, on) && on.pods < pods_per_node && on.free_cpu >= shape.cpu && on.free_memory >= shape.memory;
}

/// The lowest devices that can hold the job; one of them for a part of a GPU. Empty if there are not enough.
std::vector<std::int64_t> free_gpus(const job_shape& shape, const machine& on) {
  const std::int64_t share = std::min(shape.gpu, whole_device);
  const std::int64_t count = (shape.gpu + whole_device - 1) / whole_device;
  std::vector<std::int64_t> devices;
  for (std::int64_t d = 0; d < on.gpus && std::ssize(devices) < count; ++d) {
    if (d != on.broken_device && on.free_share[static_cast<std::size_t>(d)] >= share) devices.push_back(d);
  }
  if (std::ssize(devices) < count) devices.clear();
  return devices;
}

bool is_free(const job_shape& shape, const machine& on, std::int64_t device) {
  const auto d = static_cast<std::size_t>(device);
  return shape.claims == claimed::nics ? !on.has_nic_user[d] : on.free_share[d] == whole_device;
}

/// The lowest devices for a claim, of one side of the node if it asks for that. Empty if there are not enough.
std::vector<std::int64_t> claimable(const job_shape& shape, const machine& on) {
  const std::int64_t all = shape.claims == claimed::nics ? on.type->nics : on.type->claims ? on.gpus : 0;
  const std::int64_t side = shape.one_side ? devices_on_a_side : std::max<std::int64_t>(all, 1);
  for (std::int64_t first = 0; first < all; first += side) {
    std::vector<std::int64_t> devices;
    for (std::int64_t d = first; d < std::min(first + side, all) && std::ssize(devices) < shape.claim_count; ++d) {
      if (is_free(shape, on, d)) devices.push_back(d);
    }
    if (std::ssize(devices) == shape.claim_count) return devices;
  }
  return {};
}

void charge(const job_shape& shape, const job_pod& pod, machine& on, std::int64_t sign) {
  on.pods += sign;
  on.free_cpu -= sign * (pod.is_launcher ? core : shape.cpu);
  on.free_memory -= sign * (pod.is_launcher ? gibibyte : shape.memory);
  for (const std::int64_t d : pod.devices) {
    on.free_share[static_cast<std::size_t>(d)] -= sign * std::min(shape.gpu, whole_device);
  }
  for (const std::int64_t d : pod.claims) {
    const auto device = static_cast<std::size_t>(d);
    if (shape.claims == claimed::nics) on.has_nic_user[device] = sign > 0;
    if (shape.claims == claimed::gpus) on.free_share[device] = sign > 0 ? 0 : whole_device;
  }
}

bool place_on(world& in, const job_shape& shape, job_pod& pod, std::size_t i) {
  machine& on = in.machines[i];
  if (!fits(shape, on)) return false;
  if (shape.gpu > 0 && !pod.is_launcher && shape.claims != claimed::gpus) {
    pod.devices = free_gpus(shape, on);
    if (pod.devices.empty()) return false;
  }
  if (shape.claims != claimed::none) {
    pod.claims = claimable(shape, on);
    if (pod.claims.empty()) return false;
  }
  pod.node = i;
  pod.status = pod_status::running;
  charge(shape, pod, on, +1);
  return true;
}

bool place_in(world& in, const job_shape& shape, job_pod& pod, machine_range within) {
  for (std::size_t i = within.first; i < within.last; ++i) {
    if (place_on(in, shape, pod, i)) return true;
  }
  return false;
}

/// A pod that uses the claim of another one is on its node and takes no device of its own.
bool place_beside(world& in, const job_shape& shape, job_pod& pod, const job_pod& other) {
  machine& on = in.machines[other.node];
  if (!fits(shape, on)) return false;
  pod.node = other.node;
  pod.status = pod_status::running;
  charge(shape, pod, on, +1);
  return true;
}

/// Places jobs of mixed clusters.
class domain_placer {
 public:
  domain_placer(world& in, dice& with, job& placed, const std::vector<std::int64_t>& wanted)
      : in_(in), wanted_(wanted), job_(placed), start_(static_cast<std::size_t>(with.below(1 << 30))) {}

  bool anywhere();

 private:
  [[nodiscard]] std::vector<machine_range> domains(std::string_view level, machine_range within) const;
  bool all_roles(machine_range within);
  bool role_somewhere(std::size_t role, machine_range within);
  bool role_in(std::size_t role, machine_range within);
  void undo(std::size_t role);

  world& in_;
  const std::vector<std::int64_t>& wanted_;
  job& job_;
  std::size_t start_;
};

/// Domains of a level inside of a range, from a random one on; with no level the range itself.
std::vector<machine_range> domain_placer::domains(std::string_view level, machine_range within) const {
  if (level.empty()) return {within};
  std::vector<machine_range> found;
  const std::vector<machine_range>& all = level == rack_level ? in_.racks : in_.blocks;
  std::copy_if(all.begin(), all.end(), std::back_inserter(found),
               [&](const machine_range& one) { return one.first >= within.first && one.last <= within.last; });
  if (found.empty()) return found;
  std::rotate(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(start_ % found.size()), found.end());
  return found;
}

bool domain_placer::anywhere() {
  const machine_range whole{0, in_.machines.size()};
  for (const std::string_view level : {job_.preferred_level, job_.required_level}) {
    if (level.empty() && !job_.required_level.empty()) continue;
    for (const machine_range& within : domains(level, whole)) {
      if (all_roles(within)) return true;
    }
  }
  return false;
}

bool domain_placer::all_roles(machine_range within) {
  for (std::size_t role = 0; role < wanted_.size(); ++role) {
    if (role_somewhere(role, within)) continue;
    for (std::size_t before = 0; before < role; ++before) undo(before);
    return false;
  }
  return true;
}

bool domain_placer::role_somewhere(std::size_t role, machine_range within) {
  const std::string_view level = job_.roles.empty() ? std::string_view{} : job_.roles[role].required_level;
  for (const machine_range& domain : domains(level, within)) {
    if (role_in(role, domain)) return true;
  }
  return false;
}

bool domain_placer::role_in(std::size_t role, machine_range within) {
  std::int64_t left = wanted_[role];
  const job_pod* first = nullptr;
  for (job_pod& pod : job_.pods) {
    if (pod.role != role || left == 0) continue;
    const job_shape& shape = job_.shape_of(pod);
    const bool is_second = job_.shares_claim && first != nullptr;
    if (!(is_second ? place_beside(in_, shape, pod, *first) : place_in(in_, shape, pod, within))) {
      undo(role);
      return false;
    }
    if (first == nullptr) first = &pod;
    --left;
  }
  return true;
}

void domain_placer::undo(std::size_t role) {
  for (job_pod& pod : job_.pods) {
    if (pod.role == role && pod.status == pod_status::running) take_back(in_, job_.shape_of(pod), pod);
  }
}

}  // namespace

bool place_pod(world& in, const job_shape& shape, job_pod& pod, std::size_t start) {
  for (std::size_t tried = 0; tried < in.machines.size(); ++tried) {
    if (place_on(in, shape, pod, (start + tried) % in.machines.size())) return true;
  }
  return false;
}

void take_back(world& in, const job_shape& shape, job_pod& pod) {
  charge(shape, pod, in.machines[pod.node], -1);
  pod.status = pod_status::pending;
  pod.devices.clear();
  pod.claims.clear();
}

std::int64_t gpus_open_to(const world& in, const job& of) {
  const job_shape& shape = of.roles.empty() ? of.shape : of.roles.back().shape;
  std::int64_t sum = 0;
  for (const machine& m : in.machines) sum += is_open_to(shape, m) ? m.gpus : 0;
  return sum;
}

bool place_in_domains(world& in, dice& with, job& placed, const std::vector<std::int64_t>& wanted) {
  return domain_placer(in, with, placed, wanted).anywhere();
}

}  // namespace kaisched::io::invented
