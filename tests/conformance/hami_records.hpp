#pragma once
/// @file
/// Records of HAMi's types -> those of the library, and back for comparing.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "policy/devices/allocation/place.hpp"
#include "policy/devices/fit/fit.hpp"
#include "policy/devices/vendor/admission.hpp"
#include "policy/devices/vendor/device.hpp"
#include "policy/devices/vendor/requests.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::conformance {

/// The template of a recorded backend with its recorded settings.
/// @throws unsupported for a backend that no template describes.
[[nodiscard]] devices::vendor_template hami_vendor(const nlohmann::json& call_input);
/// All shipped templates.
[[nodiscard]] const devices::vendor_catalog& hami_vendors();

[[nodiscard]] devices::device hami_device(const nlohmann::json& record);
/// The devices of a call, in order, with what the node says about them.
[[nodiscard]] devices::node hami_node(const nlohmann::json& records, const nlohmann::json& node);
/// A node as `calc_score` has it: devices in a list with scores.
[[nodiscard]] devices::node hami_usage_node(const nlohmann::json& usage);
[[nodiscard]] devices::pod hami_pod(const nlohmann::json& record);
[[nodiscard]] devices::request hami_request(const nlohmann::json& record, const devices::vendor_template& vendor);
[[nodiscard]] devices::grant hami_grant(const nlohmann::json& record, const devices::node& where);
[[nodiscard]] devices::pod_grants hami_grants(const nlohmann::json& record, const devices::node& where);
[[nodiscard]] devices::quantity hami_quantity(const nlohmann::json& text);
[[nodiscard]] devices::container_resources hami_resources(const nlohmann::json& container);

/// Records in the form of the recordings: absent members are zero.
[[nodiscard]] nlohmann::json request_record(const devices::vendor_template& vendor,
                                            const std::optional<devices::request>& made);
[[nodiscard]] nlohmann::json grant_record(const devices::grant& made, const devices::node& where);
[[nodiscard]] nlohmann::json grants_record(const devices::container_grants& made, const devices::node& where);
[[nodiscard]] nlohmann::json pod_grants_record(const devices::pod_grants& made, const devices::node& where);

/// Without zeros, empty lists and what a grant only repeats; numbers of the same value are equal.
[[nodiscard]] nlohmann::json normal(const nlohmann::json& record);
/// True if the recorder has cut something off that a replay needs.
[[nodiscard]] bool is_cut(const nlohmann::json& record);

/// An annotation of a Kubernetes object, or an empty text.
[[nodiscard]] std::string annotation_of(const nlohmann::json& object, std::string_view key);

}  // namespace kaisched::conformance
