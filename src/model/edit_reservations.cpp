// Deltas of reservations.
#include <string>
#include <string_view>
#include <utility>

#include "base/int128.hpp"
#include "base/text.hpp"
#include "model/edit.hpp"
#include "model/list_edit.hpp"

namespace kaisched::model {

result<void> edit::reservations(const table_reader& t) {
  if (!t.has(col::reservation_name)) {
    return error{status::argument, "reservation tables need the column name", {}};
  }
  auto list =
      edit_list<std::string>(s_.reservations, [](const reservation_info& one) { return std::string_view(one.name); });
  const auto done = each_row(t, [&](std::uint64_t row) -> result<void> {
    const std::string_view name = t.text(col::reservation_name, row);
    const reservation_info* const known = list.find(name);
    if ((known != nullptr) == (t.op() == table_op::add)) {
      return t.fail(known != nullptr ? status::duplicate : status::not_found, row, col::reservation_name,
                    known != nullptr ? "'" + base::shown(name) + "' exists already"
                                     : "there is no reservation '" + base::shown(name) + "'");
    }
    if (t.op() == table_op::remove) return list.remove(name), result<void>{};
    reservation_info one = known != nullptr ? *known : reservation_info{};
    if (known == nullptr) {
      if (auto good = check_name(t, row, col::reservation_name); !good) return good;
      one.name = name;
    }
    if (auto read = read_reservation(t, row, one); !read) return read;
    list.put(std::move(one));
    return {};
  });
  if (done) list.finish();
  return done;
}

result<void> edit::read_reservation(const table_reader& t, std::uint64_t row, reservation_info& to) const {
  const auto fail = [&](std::uint32_t column, std::string_view what) {
    return t.fail(status::argument, row, column, "'" + base::shown(to.name) + "': " + std::string(what));
  };
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::reservation_nodes}, &to.nodes},
                                       std::pair{std::uint32_t{col::reservation_queue}, &to.queue},
                                       std::pair{std::uint32_t{col::reservation_group}, &to.group}}) {
    if (t.has(column)) *target = t.text(column, row);
  }
  if (t.has(col::reservation_node_selector)) {
    to.selector_text = t.text(col::reservation_node_selector, row);
    result<selector> read = parse_selector(to.selector_text);
    if (!read) return fail(col::reservation_node_selector, read.failure().message);
    to.labels = std::move(*read);
  }
  if (t.has(col::reservation_start)) to.start = t.i64(col::reservation_start, row);
  if (t.has(col::reservation_end)) to.end = t.i64(col::reservation_end, row);
  if (t.has(col::reservation_every)) to.every = t.i64(col::reservation_every, row);
  if (to.start == unset) return fail(col::reservation_start, "it needs a time at which it starts");
  if (to.end != unset && to.end <= to.start) return fail(col::reservation_end, "it ends before it has started");
  if (t.has(col::reservation_evict_before)) to.evict_before = t.i64(col::reservation_evict_before, row);
  if (to.evict_before != unset && to.evict_before < 0)
    return fail(col::reservation_evict_before, std::to_string(to.evict_before) + " is no length of time");
  if (to.every == unset) return {};
  if (to.every <= 0) return fail(col::reservation_every, std::to_string(to.every) + " is no length of time");
  if (to.end == unset) return fail(col::reservation_every, "what comes again needs an end");
  if (static_cast<base::int128>(to.end) - to.start > to.every)
    return fail(col::reservation_every, "it comes again before it has ended");
  return {};
}

}  // namespace kaisched::model
