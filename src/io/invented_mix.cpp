// Jobs of mixed clusters: groups in racks and blocks, sub-groups, claims, and models of GPUs.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "io/invented_parts.hpp"

namespace kaisched::io::invented {

namespace {

using sizes = std::array<std::int64_t, 3>;

/// Throws one job.
class mixed_thrower {
 public:
  mixed_thrower(const world& in, dice& with, bool least) : in_(in), dice_(with), least_(least) {}

  void shape(job& of, mixed_kind k);

 private:
  void tight_gang(job& of);
  void near_gang(job& of);
  void slices_of_a_job(job& of);
  void leader_and_workers(job& of);
  void service_with_roles(job& of);
  void gang_with_nics(job& of);
  void gang_with_claims(job& of);
  void pods_with_claims(job& of);
  void two_with_one_claim(job& of);
  void pods_for_models(job& of);

  [[nodiscard]] std::int64_t size(const sizes& of) { return least_ ? of.front() : dice_.pick(of); }
  /// GPUs of a pod of which eight make a rack; `divisor` of these pods stand for one.
  [[nodiscard]] std::int64_t unit(std::int64_t divisor = 1) const {
    return std::max<std::int64_t>(1, in_.rack_gpus / (8 * divisor));
  }
  /// Half of the gangs have pods of whole nodes.
  [[nodiscard]] std::int64_t pod_of_gang() { return unit(least_ || dice_.one_in(2) ? 2 : 1); }
  [[nodiscard]] static job_shape gang(std::int64_t pods, std::int64_t gpus) {
    return gpu_job(pods, pods, gpus * whole_device, 12, 96);
  }
  [[nodiscard]] static job_shape with_claim(job_shape shape) {
    shape.pool = claims_pool;
    shape.claims = claimed::gpus;
    shape.claim_count = shape.gpu / whole_device;
    return shape;
  }
  void choose_newer_models(job_shape& to);

  const world& in_;
  dice& dice_;
  bool least_;
};

/// One in three wants H100, one in three H100 or B200, the others take any.
void mixed_thrower::choose_newer_models(job_shape& to) {
  const std::int64_t thrown = dice_.below(3);
  if (thrown == 0) to.model = h100.model;
  if (thrown == 1) to.products = {h100.product, b200.product};
}

void mixed_thrower::tight_gang(job& of) {
  const std::int64_t pods = size({2, 4, 6});
  of.shape = gang(pods, pod_of_gang());
  choose_newer_models(of.shape);
  of.required_level = rack_level;
}

void mixed_thrower::near_gang(job& of) {
  const std::int64_t pods = size({4, 8, 12});
  of.shape = gang(pods, pod_of_gang());
  if (dice_.one_in(3)) of.shape.min_pods = pods / 2;
  choose_newer_models(of.shape);
  of.preferred_level = rack_level;
  if (dice_.one_in(2)) of.required_level = block_level;
}

void mixed_thrower::slices_of_a_job(job& of) {
  constexpr std::array<std::string_view, 4> names{"slice-1", "slice-2", "slice-3", "slice-4"};
  const std::int64_t slices = size({2, 3, 4});
  const std::int64_t pods = least_ || dice_.one_in(2) ? 2 : 3;
  job_shape each = gang(pods, pod_of_gang());
  choose_newer_models(each);
  for (std::int64_t i = 0; i < slices; ++i) {
    of.roles.push_back({names[static_cast<std::size_t>(i)], each, rack_level});
  }
  (dice_.one_in(2) ? of.required_level : of.preferred_level) = block_level;
}

void mixed_thrower::leader_and_workers(job& of) {
  job_shape leader;
  leader.cpu = 4 * core;
  leader.memory = 16 * gibibyte;
  const std::int64_t pods = size({2, 4, 6});
  job_shape workers = gang(pods, pod_of_gang());
  choose_newer_models(workers);
  of.roles.push_back({"leader", leader, {}, true});
  of.roles.push_back({"worker", workers, rack_level});
  of.preferred_level = block_level;
}

/// Services run beyond the gangs of their roles while there is room.
void mixed_thrower::service_with_roles(job& of) {
  const bool is_small_model = in_.has_inference_pool && (least_ || dice_.one_in(2));
  const bool near_each_other = dice_.one_in(2);
  const std::int64_t prefill_pods = size({1, 2, 3});
  const std::int64_t decode_pods = size({2, 3, 4});
  job_shape prefill = gang(prefill_pods, unit(2));
  job_shape decode = gang(decode_pods, unit(4));
  prefill.min_pods = 1;
  decode.min_pods = 2;
  for (job_shape* role : {&prefill, &decode}) {
    if (is_small_model) role->pool = inference_pool;
    if (!is_small_model) role->model = h100.model;
  }
  const std::string_view level = near_each_other ? rack_level : std::string_view{};
  of.roles.push_back({"prefill", prefill, level});
  of.roles.push_back({"decode", decode, level});
  if (dice_.one_in(2)) of.required_level = block_level;
  of.shape.priority = serving_priority;
  of.shape.preemptible = true;
}

void mixed_thrower::gang_with_nics(job& of) {
  const std::int64_t pods = size({2, 4, 8});
  of.shape = gang(pods, pod_of_gang());
  of.shape.products = {h100.product, b200.product};
  of.shape.claims = claimed::nics;
  of.shape.claim_count = std::max<std::int64_t>(1, of.shape.gpu / whole_device / 2);
  of.preferred_level = block_level;
}

void mixed_thrower::gang_with_claims(job& of) {
  of.shape = with_claim(gang(size({2, 4, 6}), unit(2)));
  of.required_level = rack_level;
}

void mixed_thrower::pods_with_claims(job& of) {
  of.shape = with_claim(gang(1, size({1, 2, 4})));
  of.shape.one_side = of.shape.claim_count == devices_on_a_side;
  if (!least_ && dice_.one_in(4)) of.shape.pods = dice_.between(2, 4);
}

void mixed_thrower::two_with_one_claim(job& of) {
  of.shape = with_claim(gang(2, 1));
  of.shares_claim = true;
}

void mixed_thrower::pods_for_models(job& of) {
  const std::int64_t pods = size({1, 2, 4});
  of.shape = gang(pods, size({1, 2, 4}));
  of.shape.min_pods = 1;
  const std::array<const node_type*, 3> types{&h100, &b200, &a100};
  const auto first = static_cast<std::size_t>(dice_.below(3));
  const node_type& wanted = in_.trains_on(*types[first]) ? *types[first] : h100;
  if (dice_.one_in(2)) {
    of.shape.model = wanted.model;
  } else {
    of.shape.products = {wanted.product, types[(first + 1) % types.size()]->product};
  }
}

void mixed_thrower::shape(job& of, mixed_kind k) {
  switch (k) {
    case tight:
      return tight_gang(of);
    case near:
      return near_gang(of);
    case slices:
      return slices_of_a_job(of);
    case launch:
      return leader_and_workers(of);
    case split:
      return service_with_roles(of);
    case rdma:
      return gang_with_nics(of);
    case nvl:
      return gang_with_claims(of);
    case claim:
      return pods_with_claims(of);
    case twin:
      return two_with_one_claim(of);
    case typed:
    case mixed_kind_count:
      return pods_for_models(of);
  }
}

void add_pods(job& to, const job_shape& shape, std::size_t role) {
  for (std::int64_t i = 0; i < shape.pods; ++i) {
    job_pod& pod = to.pods.emplace_back();
    pod.role = role;
  }
}

}  // namespace

job mixed_job(const world& in, dice& with, const team_info& team, mixed_kind k, bool least) {
  job made;
  made.team = team.name;
  mixed_thrower(in, with, least).shape(made, k);
  if (made.roles.empty()) add_pods(made, made.shape, 0);
  for (std::size_t role = 0; role < made.roles.size(); ++role) {
    add_pods(made, made.roles[role].shape, role);
  }
  return made;
}

std::vector<std::int64_t> running_pods(dice& with, const job& of) {
  const bool in_part = with.one_in(2);
  std::vector<std::int64_t> wanted;
  const auto add = [&](const job_shape& shape) {
    const bool grows = shape.min_pods < shape.pods;
    wanted.push_back(in_part && grows ? with.between(shape.min_pods, shape.pods) : shape.pods);
  };
  if (of.roles.empty()) add(of.shape);
  for (const job_role& role : of.roles) add(role.shape);
  return wanted;
}

}  // namespace kaisched::io::invented
