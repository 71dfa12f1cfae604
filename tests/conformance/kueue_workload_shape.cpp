#include "conformance/kueue_workload_shape.hpp"

#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kueue_objects.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;

json shape_of(const json& workload, const json& input) {
  json sets = json::array();
  for (const json& set : items(member(workload, "spec"), "podSets")) {
    json one = set;
    one["count"] = count_after_reclaim(workload, set, input);
    sets.push_back(std::move(one));
  }
  return {{"priority", priority_of(workload, input)}, {"sets", std::move(sets)}};
}

std::string local_queue_of(const json& workload) {
  return text_or_empty(member(workload, "metadata"), "namespace") + "/" +
         text_or_empty(member(workload, "spec"), "queueName");
}

bool is_not_found(const std::string& error) { return error.ends_with("not found"); }

}  // namespace kaisched::conformance::kueue
