// Devices that claims of invented clusters get: the drivers that offer them, and what claims ask for.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "io/invented_parts.hpp"
#include "io/invented_rows.hpp"

namespace kaisched::io::invented {

namespace {

/// A driver and the class of its devices.
struct device_kind {
  claimed what;
  std::string_view driver;
  std::string_view device_class;
  std::string_view device;   ///< names begin so
  std::string_view request;  ///< of a claim
  std::string_view selector;
};
constexpr device_kind gpu_kind{claimed::gpus, "gpu.nvidia.com", "gpu.nvidia.com",
                               "gpu",         "gpus",           "device.driver == 'gpu.nvidia.com'"};
constexpr device_kind nic_kind{claimed::nics,  "dra.net",
                               "rdma.dra.net", "nic",
                               "nics",         "device.driver == 'dra.net' && device.attributes['dra.net'].rdma"};

const device_kind& kind_of(claimed what) { return what == claimed::nics ? nic_kind : gpu_kind; }

std::int64_t offered(const machine& on, claimed what) {
  if (what == claimed::nics) return on.type->nics;
  return on.type->claims ? on.gpus : 0;
}

table class_table() {
  table classes = added(table_kind::device_class);
  table::column& names = text(classes, col::device_class_name);
  table::column& selectors = lists(classes, col::device_class_selectors);
  for (const device_kind& kind : {gpu_kind, nic_kind}) {
    names.push(kind.device_class);
    push_texts(selectors, std::vector<std::string_view>{kind.selector});
  }
  return classes;
}

std::string slice_name(const machine& on, const device_kind& kind) {
  return fmt::format("{}-{}", on.name, kind.driver);
}

table slice_table(const world& from) {
  table made = added(table_kind::resource_slice);
  table::column& names = text(made, col::resource_slice_name);
  table::column& drivers = text(made, col::resource_slice_driver);
  table::column& pools = text(made, col::resource_slice_pool);
  table::column& nodes = text(made, col::resource_slice_node);
  for (const machine& m : from.machines) {
    for (const device_kind& kind : {gpu_kind, nic_kind}) {
      if (offered(m, kind.what) == 0) continue;
      names.push(slice_name(m, kind));
      drivers.push(kind.driver);
      pools.push(m.name);
      nodes.push(m.name);
    }
  }
  return made;
}

std::vector<std::string> attributes_of(const machine& on, const device_kind& kind, std::int64_t device) {
  std::vector<std::string> made{fmt::format("{}/numa=int:{}", kind.driver, device / devices_on_a_side)};
  if (kind.what == claimed::nics) made.push_back("dra.net/rdma=bool:true");
  if (kind.what == claimed::gpus) made.push_back(fmt::format("gpu.nvidia.com/productName=string:{}", on.type->product));
  return made;
}

table device_rows(const world& from) {
  table made = added(table_kind::slice_device);
  table::column& names = text(made, col::slice_device_name);
  table::column& slices = text(made, col::slice_device_slice);
  table::column& devices = text(made, col::slice_device_device);
  table::column& positions = numbers(made, col::slice_device_position);
  table::column& attributes = lists(made, col::slice_device_attributes);
  table::column& capacities = lists(made, col::slice_device_capacities);
  for (const machine& m : from.machines) {
    for (const device_kind& kind : {gpu_kind, nic_kind}) {
      for (std::int64_t d = 0; d < offered(m, kind.what); ++d) {
        const std::string device = fmt::format("{}-{}", kind.device, d);
        names.push(fmt::format("{}/{}", slice_name(m, kind), device));
        slices.push(slice_name(m, kind));
        devices.push(device);
        positions.push(d);
        push_texts(attributes, attributes_of(m, kind, d));
        std::vector<std::string> amounts;
        if (kind.what == claimed::gpus) {
          amounts.push_back(fmt::format("gpu.nvidia.com/memory={}Gi", m.type->gpu_memory / gibibyte));
        }
        push_texts(capacities, amounts);
      }
    }
  }
  return made;
}

/// What stands in the rows of one claim.
struct claim_row {
  const job* of;
  std::size_t pod;                 ///< the first one that uses it
  std::vector<std::string> users;  ///< that run
};

/// A job whose pods share a claim has one, of all its pods.
std::vector<claim_row> claims_of(const world& from) {
  std::vector<claim_row> found;
  for (const job& j : from.jobs) {
    for (std::size_t i = 0; i < j.pods.size(); ++i) {
      if (j.shape_of(j.pods[i]).claims == claimed::none) continue;
      if (!j.shares_claim || i == 0) found.push_back({&j, i, {}});
      if (j.pods[i].status != pod_status::pending) found.back().users.push_back(fmt::format("{}-{}", j.name, i));
    }
  }
  return found;
}

struct claim_columns {
  table claims = added(table_kind::resource_claim);
  table::column& names = text(claims, col::resource_claim_name);
  table::column& classes = text(claims, col::resource_claim_device_class);
  table::column& counts = numbers(claims, col::resource_claim_count);
  table::column& labels = lists(claims, col::resource_claim_labels);
  table::column& devices = lists(claims, col::resource_claim_devices);
  table::column& users = lists(claims, col::resource_claim_reserved_for);
  table::column& nodes = text(claims, col::resource_claim_node);
  table::column& from_template = flags(claims, col::resource_claim_from_template);
  table::column& constraints = lists(claims, col::resource_claim_constraints);
  table::column& results = lists(claims, col::resource_claim_results);

  void push(const world& from, const claim_row& row) {
    const job_pod& pod = row.of->pods[row.pod];
    const job_shape& shape = row.of->shape_of(pod);
    const device_kind& kind = kind_of(shape.claims);
    names.push(claim_name(*row.of, row.pod));
    classes.push(kind.device_class);
    counts.push(shape.claim_count);
    push_texts(labels, row.of->shares_claim ? std::vector<std::string_view>{"kai.scheduler/queue", row.of->team}
                                            : std::vector<std::string_view>{});
    std::vector<std::string> given;
    std::vector<std::string> told;
    for (const std::int64_t d : pod.claims) {
      given.push_back(claimable_name(from.machines[pod.node], shape.claims, d));
      told.push_back(fmt::format("{}={}", kind.request, given.back()));
    }
    push_texts(devices, given);
    push_texts(users, row.users);
    nodes.push(given.empty() ? std::string_view{} : std::string_view(from.machines[pod.node].name));
    push_flag(from_template, !row.of->shares_claim);
    std::vector<std::string> together;
    if (shape.one_side) together.push_back(fmt::format("match {}/numa", kind.driver));
    push_texts(constraints, together);
    push_texts(results, told);
  }
};

table request_table(const std::vector<claim_row>& claims) {
  table made = added(table_kind::claim_request);
  table::column& names = text(made, col::claim_request_name);
  table::column& of = text(made, col::claim_request_claim);
  table::column& requests = text(made, col::claim_request_request);
  table::column& classes = text(made, col::claim_request_device_class);
  table::column& counts = numbers(made, col::claim_request_count);
  for (const claim_row& row : claims) {
    const job_shape& shape = row.of->shape_of(row.of->pods[row.pod]);
    const device_kind& kind = kind_of(shape.claims);
    const std::string claim = claim_name(*row.of, row.pod);
    names.push(fmt::format("{}/{}", claim, kind.request));
    of.push(claim);
    requests.push(kind.request);
    classes.push(kind.device_class);
    counts.push(shape.claim_count);
  }
  return made;
}

}  // namespace

std::string claimable_name(const machine& on, claimed what, std::int64_t device) {
  const device_kind& kind = kind_of(what);
  return fmt::format("{}/{}/{}-{}", kind.driver, on.name, kind.device, device);
}

std::vector<std::string> claimable_devices(const machine& on) {
  std::vector<std::string> made;
  for (const device_kind& kind : {gpu_kind, nic_kind}) {
    for (std::int64_t d = 0; d < offered(on, kind.what); ++d) {
      made.push_back(fmt::format("{}={}", kind.device_class, claimable_name(on, kind.what, d)));
    }
  }
  return made;
}

std::string claim_name(const job& of, std::size_t pod) {
  const claimed what = of.shape_of(of.pods[pod]).claims;
  if (what == claimed::none) return {};
  if (of.shares_claim) return fmt::format("{}/{}-shared", of.team, of.name);
  return fmt::format("{}/{}-{}-{}", of.team, of.name, pod, kind_of(what).request);
}

void add_claim_tables(const world& from, cluster_input& to) {
  const std::vector<claim_row> claims = claims_of(from);
  claim_columns rows;
  for (const claim_row& row : claims) rows.push(from, row);
  to.tables.push_back(std::move(rows.claims));
  to.tables.push_back(class_table());
  to.tables.push_back(slice_table(from));
  to.tables.push_back(device_rows(from));
  to.tables.push_back(request_table(claims));
}

}  // namespace kaisched::io::invented
