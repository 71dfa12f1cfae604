#pragma once
/// @file
/// `BindRequest` of KAI: bindings that have been decided and are not done yet.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

struct bind_request {
  std::string node;
  std::vector<std::string> gpu_groups;
  /// Devices that claims of the pod get, by the name under which it has them.
  std::map<std::string, claim_record, std::less<>> claims{};
};

/// Bindings under way, by the full name of the pod.
using bind_requests = std::map<std::string, bind_request, std::less<>>;

/// Notes a request unless it has failed.
void read_bind_request(object& of, bind_requests& to);

}  // namespace kaisched::io::kubernetes
