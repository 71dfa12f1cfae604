// The catalog that sessions get.
#include "policy/devices/allocation/catalog.hpp"

#include <utility>

#include <kaisched/vendors.hpp>

#include "io/vendors/vendor_reader.hpp"

namespace kaisched {

result<std::shared_ptr<const device_catalog>> shipped_device_catalog() {
  static const result<std::shared_ptr<const device_catalog>> shipped =
      []() -> result<std::shared_ptr<const device_catalog>> {
    result<io::shipped_devices> read = io::read_shipped_devices();
    if (!read) return read.failure();
    auto made = std::make_shared<device_catalog>();
    made->vendors = std::move(read->vendors);
    made->divided = std::move(read->divided);
    return std::shared_ptr<const device_catalog>(std::move(made));
  }();
  return shipped;
}

result<std::shared_ptr<const device_catalog>> extended_device_catalog(const device_catalog& of, std::string_view json,
                                                                      std::string_view source) {
  auto made = std::make_shared<device_catalog>(of);
  if (json.find(io::divided_schema) != std::string_view::npos) {
    result<std::vector<devices::divided_model>> more = io::read_divided_models(json, source);
    if (!more) return more.failure();
    more->insert(more->end(), made->divided.begin(), made->divided.end());
    made->divided = std::move(*more);
  } else {
    result<devices::vendor_catalog> more = io::read_vendors(json, source);
    if (!more) return more.failure();
    io::add_vendors(made->vendors, std::move(*more));
  }
  return std::shared_ptr<const device_catalog>(std::move(made));
}

}  // namespace kaisched
