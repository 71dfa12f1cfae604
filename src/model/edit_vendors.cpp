// Deltas of devices that are shared by the rules of their vendors, and of quotas of namespaces for them.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "model/edit.hpp"
#include "model/list_edit.hpp"

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
  using name_pair = std::pair<std::string_view, std::string_view>;
  auto list = edit_list<std::pair<std::string, std::string>>(
      s_.device_quotas, [](const device_quota_info& one) { return name_pair(one.name_space, one.vendor); });
  const auto done = each_row(t, [&](std::uint64_t row) -> result<void> {
    const name_pair name(t.text(col::device_quota_namespace, row), t.text(col::device_quota_vendor, row));
    const device_quota_info* const known = list.find(name);
    if ((known != nullptr) == (t.op() == table_op::add)) {
      return t.fail(known != nullptr ? status::duplicate : status::not_found, row, col::device_quota_vendor,
                    "namespace '" + base::shown(name.first) + "' has " + (known != nullptr ? "a" : "no") +
                        " quota for vendor '" + base::shown(name.second) + "'");
    }
    if (t.op() == table_op::remove) return list.remove(name), result<void>{};
    device_quota_info quota = known != nullptr ? *known : device_quota_info{};
    if (known == nullptr) {
      if (auto good = check_name(t, row, col::device_quota_vendor); !good) return good;
      quota.name_space = name.first;
      quota.vendor = name.second;
    }
    if (auto read = read_quota(t, row, quota); !read) return read;
    list.put(std::move(quota));
    return {};
  });
  if (done) list.finish();
  return done;
}

result<void> edit::read_quota(const table_reader& t, std::uint64_t row, device_quota_info& to) const {
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::device_quota_memory}, &to.memory},
                                       std::pair{std::uint32_t{col::device_quota_cores}, &to.cores},
                                       std::pair{std::uint32_t{col::device_quota_slots}, &to.slots}}) {
    if (!t.has(column)) continue;
    auto v = bounded(t, row, column, unlimited, max_amount);
    if (!v) return v.failure();
    *target = *v;
  }
  return {};
}

}  // namespace kaisched::model
