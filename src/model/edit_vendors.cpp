// Deltas of devices that are shared by the rules of their vendors, and of quotas of namespaces for them.
#include <algorithm>
#include <iterator>
#include <tuple>

#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

result<void> edit::read_vendor_devices(const table_reader& t, std::uint64_t row, node_info& node) const {
  const auto fail = [&](std::uint32_t column, std::string_view what) {
    return t.fail(status::argument, row, column, "node '" + base::shown(node.name) + "': " + std::string(what));
  };
  if (t.has(col::node_device_settings)) {
    const std::string_view text = t.text(col::node_device_settings, row);
    const result<vendor_settings> settings = parse_vendor_settings(text);
    if (!settings) return fail(col::node_device_settings, settings.failure().message);
    if (settings->node_policy) return fail(col::node_device_settings, "node_policy is one for all nodes");
    node.device_settings_text = text;
  }
  if (!t.has(col::node_vendor_devices)) return {};
  std::vector<vendor_device> devices;
  for (const std::string_view text : split_list(t.text(col::node_vendor_devices, row))) {
    result<vendor_device> one = parse_vendor_device(text);
    if (!one) return fail(col::node_vendor_devices, one.failure().message);
    const bool twice =
        std::any_of(devices.begin(), devices.end(), [&](const vendor_device& d) { return d.id == one->id; });
    if (twice) return fail(col::node_vendor_devices, "device '" + base::shown(one->id) + "' is given twice");
    devices.push_back(std::move(*one));
  }
  if (devices.size() > max_vendor_devices) {
    return t.fail(
        status::limit, row, col::node_vendor_devices,
        "node '" + base::shown(node.name) + "': more than " + std::to_string(max_vendor_devices) + " devices");
  }
  for (const vendor_device& one : devices) {
    if (one.links.size() > devices.size()) {
      return fail(col::node_vendor_devices,
                  "device '" + base::shown(one.id) + "' has more links than there are devices");
    }
  }
  node.vendor_devices = std::move(devices);
  node.vendor_devices_text = t.text(col::node_vendor_devices, row);
  return {};
}

result<void> edit::device_quotas(const table_reader& t) {
  if (!t.has(col::device_quota_namespace) || !t.has(col::device_quota_vendor)) {
    return error{status::argument, "device_quota tables need the columns namespace and vendor", {}};
  }
  return each_row(t, [&](std::uint64_t row) { return one_quota(t, row); });
}

result<void> edit::one_quota(const table_reader& t, std::uint64_t row) {
  const std::string_view name_space = t.text(col::device_quota_namespace, row);
  const std::string_view vendor = t.text(col::device_quota_vendor, row);
  const std::vector<device_quota_info>& known = *s_.device_quotas;
  const auto at = std::lower_bound(
      known.begin(), known.end(), std::tie(name_space, vendor), [](const device_quota_info& a, const auto& key) {
        return std::pair<std::string_view, std::string_view>(a.name_space, a.vendor) <
               std::pair<std::string_view, std::string_view>(std::get<0>(key), std::get<1>(key));
      });
  const bool exists = at != known.end() && at->name_space == name_space && at->vendor == vendor;
  if (exists == (t.op() == table_op::add)) {
    return t.fail(exists ? status::duplicate : status::not_found, row, col::device_quota_vendor,
                  "namespace '" + base::shown(name_space) + "' has " + (exists ? "a" : "no") + " quota for vendor '" +
                      base::shown(vendor) + "'");
  }
  const auto position = std::distance(known.begin(), at);
  if (t.op() == table_op::remove) {
    std::vector<device_quota_info>& all = s_.device_quotas.write();
    all.erase(all.begin() + position);
    return {};
  }
  device_quota_info quota = exists ? *at : device_quota_info{};
  if (!exists) {
    if (auto good = check_name(t, row, col::device_quota_vendor); !good) return good;
    quota.name_space = name_space;
    quota.vendor = vendor;
  }
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::device_quota_memory}, &quota.memory},
                                       std::pair{std::uint32_t{col::device_quota_cores}, &quota.cores},
                                       std::pair{std::uint32_t{col::device_quota_slots}, &quota.slots}}) {
    if (!t.has(column)) continue;
    auto v = bounded(t, row, column, unlimited, max_amount);
    if (!v) return v.failure();
    *target = *v;
  }
  std::vector<device_quota_info>& all = s_.device_quotas.write();
  if (exists) {
    all[static_cast<std::size_t>(position)] = std::move(quota);
  } else {
    all.insert(all.begin() + position, std::move(quota));
  }
  return {};
}

}  // namespace kaisched::model
