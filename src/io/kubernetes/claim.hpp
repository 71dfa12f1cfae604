#pragma once
/// @file
/// `ResourceClaim` and `ResourceClaimTemplate` -> rows, and which claims a pod has.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/bind_request.hpp"
#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// Kubernetes notes here for which entry of a pod it has made a claim.
inline constexpr std::string_view pod_claim_annotation = "resource.kubernetes.io/pod-claim-name";

/// A claim by the name under which a pod has it.
struct named_claim {
  std::string reference;  ///< `spec.resourceClaims[].name`
  std::string claim;      ///< full name
};

/// A claim that Kubernetes has not made of its template yet.
struct unmade_claim {
  std::string metadata;  ///< that the template says for its claims, as JSON; empty: none
  std::string spec;      ///< as JSON
};

/// What the claims of a pod are.
struct claims_of_pod {
  std::vector<std::string> names;  ///< full; a claim that cannot be there has a name that no claim has
  std::string obstacle{};          ///< a template cannot be read
  std::uint32_t gpus = 0;          ///< that queues are charged for
};

/// All claims of a text, and those that follow from templates.
class claim_book {
 public:
  /// `has_pools`: slices tell which devices there are, so that requests can be served.
  claim_book(bool has_pools, cluster_records& rows) : has_pools_(has_pools), rows_(rows) {}

  void read_claim(object& of);
  /// After all claims and before pods.
  void read_template(object& of);

  /// `waits`: the pod holds nothing yet, so a claim of it that is not in the text has no devices, and is made of its
  /// template. `binding`: what has been decided about it.
  [[nodiscard]] claims_of_pod of(object& pod, bool waits, const bind_request* binding);

  /// By full name of the pod.
  [[nodiscard]] std::map<std::string, std::vector<named_claim>, std::less<>> take_references() {
    return std::move(references_);
  }
  /// By full name of the claim.
  [[nodiscard]] std::map<std::string, unmade_claim, std::less<>> take_unmade() { return std::move(unmade_); }

 private:
  struct template_entry {
    std::string name;        ///< full
    std::string obstacle{};  ///< it cannot be read
    claim_record row{};
    std::vector<claim_request_record> requests{};
    std::string metadata{};  ///< as JSON
    std::string spec{};
  };

  void read_spec(object& of, member spec, bool checks, claim_record& row,
                 std::vector<claim_request_record>& requests) const;
  [[nodiscard]] std::string made_for(const object& pod, std::string_view reference) const;
  [[nodiscard]] std::string free_name(const object& pod, std::string_view reference) const;
  void make(const template_entry& from, const std::string& name);
  void decide(const bind_request& binding, const object& pod, std::string_view reference, claim_record& row) const;

  bool has_pools_;
  cluster_records& rows_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  ///< rows
  std::set<std::string, std::less<>> names_;                 ///< of all objects, those with faults as well
  /// Claims that Kubernetes has made, by full name of the pod and reference; with the uid of the pod, if it is told.
  std::map<std::pair<std::string, std::string>, std::pair<std::string, std::string>> made_;
  std::map<std::string, template_entry, std::less<>> templates_;
  std::map<std::string, std::vector<named_claim>, std::less<>> references_;
  std::map<std::string, unmade_claim, std::less<>> unmade_;
};

/// Devices, results and what they are charged: `status.allocation` of a claim.
void read_claim_allocation(object& of, member allocation, claim_record& row);

/// GPUs that queues are charged for a claim: those of admin access are free; while it has no devices, of alternatives
/// the most, and of all devices one, as that is the least that they are.
[[nodiscard]] std::int64_t charged_gpus(const claim_record& row);

/// The name of a claim of a pod as Kubernetes makes it, but for the last five characters, which follow from the pod,
/// the reference and the number of names that were taken already.
[[nodiscard]] std::string generated_claim_name(std::string_view pod, std::string_view reference, int taken);

}  // namespace kaisched::io::kubernetes
