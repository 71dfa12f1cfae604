#include "conformance/kueue_variants.hpp"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/json_values.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

bool has_variants(const json& input) { return gate(input, "ConcurrentAdmission"); }

const json& allowed_text(const json& workload) {
  return member(member(member(workload, "metadata"), "annotations"),
                "kueue.x-k8s.io/workload-allowed-resource-flavors");
}

/// Names between commas, without blanks around them.
std::vector<std::string> names_in(const json& text) {
  std::vector<std::string> made;
  if (!text.is_string()) return made;
  std::istringstream in(text.get<std::string>());
  for (std::string one; std::getline(in, one, ',');) {
    const std::size_t begin = one.find_first_not_of(" \t");
    if (begin != std::string::npos) made.push_back(one.substr(begin, one.find_last_not_of(" \t") - begin + 1));
  }
  return made;
}

/// The object that the workload is a variant of; empty for none.
std::string job_of(const json& workload) {
  for (const json& owner : items(member(workload, "metadata"), "ownerReferences")) {
    if (text_or_empty(owner, "kind") == "Workload" && text_or_empty(owner, "apiVersion") == "kueue.x-k8s.io/v1beta2")
      return text_or_empty(owner, "uid");
  }
  return {};
}

std::optional<std::size_t> rank_of(const cluster& all, const queue_object& queue, const std::string& flavor) {
  const std::optional<std::uint32_t> number = all.flavors.find(flavor);
  if (!number || queue.groups.empty()) return std::nullopt;
  const std::vector<std::uint32_t>& flavors = queue.groups.front().flavors;
  const auto found = std::find(flavors.begin(), flavors.end(), *number);
  return found == flavors.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - flavors.begin()));
}

}  // namespace

bool is_variant_parent(const json& workload, const json& input) {
  const json& labels = member(member(workload, "metadata"), "labels");
  return has_variants(input) && text_or_empty(labels, "kueue.x-k8s.io/concurrent-admission-parent") == "true";
}

adm::variant variant_in(const cluster& all, const queue_object& queue, const json& workload, const json& input) {
  adm::variant made;
  if (!has_variants(input)) return made;
  made.job = job_of(workload);
  const std::vector<std::string> allowed = names_in(allowed_text(workload));
  if (!allowed.empty()) made.rank = rank_of(all, queue, allowed.front());
  return made;
}

std::optional<std::size_t> last_rank_of(const cluster& all, const queue_object& queue, const json& input) {
  if (!has_variants(input)) return std::nullopt;
  const json& migration = member(member(member(queue.object, "spec"), "concurrentAdmissionPolicy"), "migration");
  const json& last = member(member(migration, "constraints"), "lastAcceptableFlavorName");
  return last.is_string() ? rank_of(all, queue, last.get<std::string>()) : std::nullopt;
}

std::vector<std::uint8_t> allowed_flavors(const cluster& all, const json& workload, const json& input) {
  const json& text = allowed_text(workload);
  if (!has_variants(input) || text.is_null()) return {};
  std::vector<std::uint8_t> made(all.flavors.names.size());
  for (const std::string& name : names_in(text)) {
    if (const std::optional<std::uint32_t> flavor = all.flavors.find(name)) made[*flavor] = 1;
  }
  return made;
}

bool is_beside_variants(const queue_object& queue, const json& workload, const json& input) {
  return has_variants(input) && has(member(queue.object, "spec"), "concurrentAdmissionPolicy") &&
         job_of(workload).empty();
}

bool has_closed_gate(const json& workload, const json& input) {
  if (!has_variants(input) && !gate(input, "MultiKueueOrchestratedPreemption")) return false;
  const json& gates = items(member(workload, "spec"), "preemptionGates");
  const json& states = items(member(workload, "status"), "preemptionGates");
  return std::any_of(gates.begin(), gates.end(), [&](const json& one) {
    const json* state = nullptr;
    for (const json& of : states) {
      if (text_or_empty(of, "name") == text_or_empty(one, "name")) state = &of;
    }
    // A gate that nobody has said anything about is closed.
    return state == nullptr || text_or_empty(*state, "position") == "Closed";
  });
}

}  // namespace kaisched::conformance::kueue
