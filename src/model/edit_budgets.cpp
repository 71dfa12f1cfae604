// Deltas of disruption budgets.
#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

result<void> edit::disruption_budgets(const table_reader& t) {
  if (!t.has(col::disruption_budget_name)) {
    return error{status::argument, "disruption_budget tables need the column name", {}};
  }
  return each_row(t, [&](std::uint64_t row) { return one_budget(t, row); });
}

result<void> edit::one_budget(const table_reader& t, std::uint64_t row) {
  const std::string_view name = t.text(col::disruption_budget_name, row);
  const std::vector<disruption_budget_info>& known = *s_.disruption_budgets;
  const auto at = std::lower_bound(known.begin(), known.end(), name,
                                   [](const disruption_budget_info& a, std::string_view key) { return a.name < key; });
  const bool exists = at != known.end() && at->name == name;
  if (exists == (t.op() == table_op::add)) {
    return t.fail(exists ? status::duplicate : status::not_found, row, col::disruption_budget_name,
                  exists ? "'" + base::shown(name) + "' exists already"
                         : "there is no disruption budget '" + base::shown(name) + "'");
  }
  const auto position = std::distance(known.begin(), at);
  if (t.op() == table_op::remove) {
    std::vector<disruption_budget_info>& all = s_.disruption_budgets.write();
    all.erase(all.begin() + position);
    return {};
  }
  disruption_budget_info budget = exists ? *at : disruption_budget_info{};
  if (!exists) {
    if (auto good = check_name(t, row, col::disruption_budget_name); !good) return good;
    budget.name = name;
  }
  if (t.has(col::disruption_budget_allowed)) {
    auto v = bounded(t, row, col::disruption_budget_allowed, 0, max_amount);
    if (!v) return v.failure();
    budget.allowed = *v;
  }
  std::vector<disruption_budget_info>& all = s_.disruption_budgets.write();
  if (exists) {
    all[static_cast<std::size_t>(position)] = std::move(budget);
  } else {
    all.insert(all.begin() + position, std::move(budget));
  }
  return {};
}

}  // namespace kaisched::model
