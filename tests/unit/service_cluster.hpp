#pragma once
/// @file
/// A cluster in which a pod has to migrate.

#include "rows.hpp"
#include "support.hpp"

namespace kaisched::test {

/// Two nodes of four GPUs; a service with a pod on each; a job that needs a whole node.
inline cluster service() {
  cluster c;
  must(c.apply(add(table_kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(table_kind::node, {"name", "capacity"})
                   .add({"n1", numbers{64'000, 0, 4000, 20}})
                   .add({"n2", numbers{64'000, 0, 4000, 20}})));
  must(c.apply(add(table_kind::pod_group, {"name", "queue", "preemptible", "disruption_budget"})
                   .add({"serve", "q", 0, 1})
                   .add({"train", "q", 1, unset})));
  must(c.apply(add(table_kind::pod, {"name", "group", "request", "status", "node"})
                   .add({"serve-0", "serve", numbers{0, 0, 1000, 1}, pod_status::running, "n1"})
                   .add({"serve-1", "serve", numbers{0, 0, 1000, 1}, pod_status::running, "n2"})
                   .add({"train-0", "train", numbers{0, 0, 4000, 1}, pod_status::pending, ""})));
  return c;
}

}  // namespace kaisched::test
