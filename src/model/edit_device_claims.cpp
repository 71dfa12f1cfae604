// Deltas of device classes, slices of devices and requests of claims. They name each other freely, as pods and claims
// do: any of them may come first, so nothing is checked across them.
#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

/// Reads the columns of one row; after a fault nothing more is read.
class row_reader {
 public:
  row_reader(const table_reader& t, std::uint64_t row) : t_(t), row_(row) {}

  void text(std::uint32_t column, std::string& target) {
    if (reads(column)) target = t_.text(column, row_);
  }
  void flag(std::uint32_t column, bool& target) {
    if (!reads(column)) return;
    if (t_.u8(column, row_) > 1) return fail(column, status::argument, "must be 0 or 1");
    target = t_.u8(column, row_) != 0;
  }
  void number(std::uint32_t column, std::int64_t least, std::int64_t& target) {
    if (!reads(column)) return;
    const std::int64_t value = t_.i64(column, row_);
    if (value < least || value > max_amount) {
      return fail(column, value > max_amount ? status::limit : status::argument,
                  std::to_string(value) + " is not in " + std::to_string(least) + " .. 2^52");
    }
    target = value;
  }
  /// A list as it is given, and what a parser makes of it.
  template <class Parse, class Target>
  void list(std::uint32_t column, Parse parse, std::string& raw, Target& target) {
    if (!reads(column)) return;
    auto parsed = parse(t_.text(column, row_));
    if (!parsed) return fail(column, parsed.failure().code, parsed.failure().message);
    raw = t_.text(column, row_);
    target = std::move(*parsed);
  }
  /// Where devices can be used from.
  void reach(std::uint32_t node, std::uint32_t selector, std::uint32_t all, std::string& raw, device_reach& target) {
    text(node, target.node);
    flag(all, target.all_nodes);
    if (!reads(selector)) return;
    result<model::selector> parsed = parse_selector(t_.text(selector, row_));
    if (!parsed) return fail(selector, parsed.failure().code, parsed.failure().message);
    raw = t_.text(selector, row_);
    target.by_labels = !raw.empty();
    target.labels = std::move(*parsed);
  }

  result<void> done() {
    if (failed_) return std::move(failure_);
    return {};
  }

 private:
  [[nodiscard]] bool reads(std::uint32_t column) const { return !failed_ && t_.has(column); }
  void fail(std::uint32_t column, status code, std::string_view what) {
    failed_ = true;
    failure_ = t_.fail(code, row_, column,
                       "'" + base::shown(t_.text(t_.info().columns.front().id, row_)) + "': " + std::string(what));
  }

  const table_reader& t_;
  std::uint64_t row_;
  bool failed_ = false;
  error failure_{};
};

template <class Parse>
auto each_of(Parse parse) {
  return [parse](std::string_view list) {
    using element = std::remove_cvref_t<decltype(*parse(list))>;
    std::vector<element> all;
    for (const std::string_view text : split_list(list)) {
      auto one = parse(text);
      if (!one) return result<std::vector<element>>(one.failure());
      all.push_back(std::move(*one));
    }
    return result<std::vector<element>>(std::move(all));
  };
}

result<cel_expression> parse_selector_of_device(std::string_view text) {
  result<cel_expression> parsed = cel_expression::parse(text);
  if (parsed) return parsed;
  error failure = parsed.take_failure();
  failure.message = "selector '" + base::shown(text) + "' " + failure.message;
  return failure;
}

}  // namespace

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
    row_reader from(t, row);
    read(from, one, name);
    if (auto done = from.done(); !done) return done;
    rows.write()[std::string(name)] = std::make_shared<const Info>(std::move(one));
    return {};
  });
}

result<void> edit::device_classes(const table_reader& t) {
  return named(t, s_.device_classes, [](row_reader& from, device_class_info& to, std::string_view) {
    from.list(col::device_class_selectors, each_of(parse_selector_of_device), to.selectors_text, to.selectors);
  });
}

result<void> edit::resource_slices(const table_reader& t) {
  return named(t, s_.resource_slices, [](row_reader& from, resource_slice_info& to, std::string_view) {
    from.text(col::resource_slice_driver, to.driver);
    from.text(col::resource_slice_pool, to.pool);
    from.number(col::resource_slice_generation, 0, to.generation);
    from.number(col::resource_slice_slices, 1, to.slices);
    from.reach(col::resource_slice_node, col::resource_slice_node_selector, col::resource_slice_all_nodes,
               to.node_selector, to.reach);
    from.list(col::resource_slice_counters, parse_counters, to.counters_text, to.counters);
  });
}

result<void> edit::slice_devices(const table_reader& t) {
  return named(t, s_.slice_devices, [](row_reader& from, slice_device_info& to, std::string_view name) {
    from.text(col::slice_device_slice, to.slice);
    from.text(col::slice_device_device, to.offered.name);
    if (to.offered.name.empty()) to.offered.name = name;
    from.number(col::slice_device_position, 0, to.position);
    from.list(col::slice_device_attributes, parse_attributes, to.attributes_text, to.offered.attributes);
    from.list(col::slice_device_capacities, parse_capacities, to.capacities_text, to.offered.capacities);
    from.list(col::slice_device_consumes, parse_counters, to.consumes_text, to.offered.consumes);
    from.list(col::slice_device_taints, each_of(parse_taint), to.taints_text, to.offered.taints);
    from.flag(col::slice_device_shared, to.offered.allow_multiple_allocations);
    from.reach(col::slice_device_node, col::slice_device_node_selector, col::slice_device_all_nodes, to.node_selector,
               to.offered.reach);
  });
}

result<void> edit::claim_requests(const table_reader& t) {
  return named(t, s_.claim_requests, [](row_reader& from, claim_request_info& to, std::string_view name) {
    from.text(col::claim_request_claim, to.claim);
    from.text(col::claim_request_request, to.request);
    if (to.request.empty()) to.request = name;
    from.text(col::claim_request_alternative, to.ask.name);
    from.number(col::claim_request_position, 0, to.position);
    from.text(col::claim_request_device_class, to.device_class);
    from.list(col::claim_request_selectors, each_of(parse_selector_of_device), to.selectors_text, to.ask.selectors);
    from.number(col::claim_request_count, 1, to.ask.count);
    from.flag(col::claim_request_all, to.ask.all);
    from.flag(col::claim_request_admin, to.ask.admin);
    from.list(col::claim_request_tolerations, each_of(parse_toleration), to.tolerations_text, to.ask.tolerations);
    from.list(col::claim_request_capacities, parse_capacity_asks, to.capacities_text, to.ask.capacities);
  });
}

}  // namespace kaisched::model
