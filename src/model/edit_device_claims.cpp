// Deltas of device classes, slices of devices and requests of claims. They name each other freely, as pods and claims
// do: any of them may come first, so nothing is checked across them.
#include <utility>

#include "base/text.hpp"
#include "model/edit.hpp"
#include "model/object_columns.hpp"

namespace kaisched::model {

template <class Info, class Read>
result<void> edit::named(const table_reader& t, named_rows<Info>& rows, Read read) {
  const std::uint32_t column = t.info().columns.front().id;
  return each_row(t, [&](std::uint64_t row) -> result<void> {
    const std::string_view name = t.text(column, row);
    const auto found = rows->find(name);
    const bool exists = found != rows->end();
    if (t.op() == table_op::add) {
      if (auto good = check_name(t, row, column); !good) return good;
      if (exists) return t.fail(status::duplicate, row, column, "'" + base::shown(name) + "' exists already");
    } else if (!exists) {
      return missing(t, row, column, {t.info().kind, {}, clean_name(name)});
    }
    if (t.op() == table_op::remove) {
      rows.write().erase(std::string(name));
      return {};
    }
    Info one = exists ? *found->second : Info{};
    row_reader from(t, row, "'" + base::shown(name) + "'");
    read(from, one, name);
    if (auto done = from.done(); !done) return done;
    rows.write()[std::string(name)] = std::make_shared<const Info>(std::move(one));
    return {};
  });
}

result<void> edit::device_classes(const table_reader& t) {
  return named(t, s_.device_classes,
               [](row_reader& from, device_class_info& to, std::string_view) { device_class_columns(from, to); });
}

result<void> edit::resource_slices(const table_reader& t) {
  return named(t, s_.resource_slices, [](row_reader& from, resource_slice_info& to, std::string_view) {
    resource_slice_columns(from, to);
    to.reach.by_labels = !to.node_selector.empty();
  });
}

result<void> edit::slice_devices(const table_reader& t) {
  return named(t, s_.slice_devices, [](row_reader& from, slice_device_info& to, std::string_view name) {
    slice_device_columns(from, to);
    if (to.offered.name.empty()) to.offered.name = name;
    to.offered.reach.by_labels = !to.node_selector.empty();
  });
}

result<void> edit::claim_requests(const table_reader& t) {
  return named(t, s_.claim_requests, [](row_reader& from, claim_request_info& to, std::string_view name) {
    claim_request_columns(from, to);
    if (to.request.empty()) to.request = name;
  });
}

}  // namespace kaisched::model
