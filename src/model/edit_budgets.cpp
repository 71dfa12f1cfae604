// Deltas of disruption budgets.
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"
#include "model/edit.hpp"
#include "model/list_edit.hpp"

namespace kaisched::model {

result<void> edit::disruption_budgets(const table_reader& t) {
  if (!t.has(col::disruption_budget_name)) {
    return error{status::argument, "disruption_budget tables need the column name", {}};
  }
  auto list = edit_list<std::string>(s_.disruption_budgets,
                                     [](const disruption_budget_info& one) { return std::string_view(one.name); });
  const auto done = each_row(t, [&](std::uint64_t row) -> result<void> {
    const std::string_view name = t.text(col::disruption_budget_name, row);
    const disruption_budget_info* const known = list.find(name);
    if ((known != nullptr) == (t.op() == table_op::add)) {
      return t.fail(known != nullptr ? status::duplicate : status::not_found, row, col::disruption_budget_name,
                    known != nullptr ? "'" + base::shown(name) + "' exists already"
                                     : "there is no disruption budget '" + base::shown(name) + "'");
    }
    if (t.op() == table_op::remove) return list.remove(name), result<void>{};
    disruption_budget_info budget = known != nullptr ? *known : disruption_budget_info{};
    if (known == nullptr) {
      if (auto good = check_name(t, row, col::disruption_budget_name); !good) return good;
      budget.name = name;
    }
    if (auto read = read_budget(t, row, budget); !read) return read;
    list.put(std::move(budget));
    return {};
  });
  if (done) list.finish();
  return done;
}

result<void> edit::read_budget(const table_reader& t, std::uint64_t row, disruption_budget_info& to) const {
  if (!t.has(col::disruption_budget_allowed)) return {};
  auto v = bounded(t, row, col::disruption_budget_allowed, 0, max_amount);
  if (!v) return v.failure();
  to.allowed = *v;
  return {};
}

}  // namespace kaisched::model
