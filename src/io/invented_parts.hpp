#pragma once
/// @file
/// Steps of the generator of invented clusters.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/table.hpp>

#include "io/invented_teams.hpp"
#include "io/invented_world.hpp"

namespace kaisched::io::invented {

// ---- machines

/// Two generations; of each one rack in eight is behind a taint.
void add_machines(world& to, dice& with);
/// Five types by rack, whose GPUs are given in two ways.
void add_mixed_machines(world& to, dice& with);

// ---- placing

/// Finds the first machine with room from `start` on, in the order of names.
bool place_pod(world& in, const job_shape& shape, job_pod& pod, std::size_t start);
void take_back(world& in, const job_shape& shape, job_pod& pod);
/// Places the first pods of each role in domains of the levels that the job says; `wanted` counts them by role.
bool place_in_domains(world& in, dice& with, job& placed, const std::vector<std::int64_t>& wanted);

/// GPUs of the nodes that pods of a job may be on, of those that ask for GPUs.
[[nodiscard]] std::int64_t gpus_open_to(const world& in, const job& of);

// ---- kinds of mixed clusters

/// Throws the shape of a job of a mixed cluster; its pods wait. `least`: the smallest of its kind.
[[nodiscard]] job mixed_job(const world& in, dice& with, const team_info& team, mixed_kind k, bool least);
/// How many pods of each role run.
[[nodiscard]] std::vector<std::int64_t> running_pods(dice& with, const job& of);

// ---- tables

[[nodiscard]] cluster_input tables_of(const world& from);
/// The name of a device of a node as claims know it.
[[nodiscard]] std::string claimable_name(const machine& on, claimed what, std::int64_t device);
/// What claims of a class get on a node, as `claimable` says it.
[[nodiscard]] std::vector<std::string> claimable_devices(const machine& on);
/// The name of the claim of a pod; empty: it has none.
[[nodiscard]] std::string claim_name(const job& of, std::size_t pod);
/// Claims, what they ask for, and the devices that drivers offer.
void add_claim_tables(const world& from, cluster_input& to);

}  // namespace kaisched::io::invented
