// Deltas of resource claims. Pods name claims freely: a claim may come after its pods and go before them, and a pod
// whose claim is missing waits. So nothing is checked across the two.
#include <algorithm>

#include "base/text.hpp"
#include "model/edit.hpp"
#include "model/row_reader.hpp"

namespace kaisched::model {

result<void> edit::claims(const table_reader& t) {
  return each_row(t, [&](std::uint64_t row) { return one_claim(t, row); });
}

result<void> edit::one_claim(const table_reader& t, std::uint64_t row) {
  const std::string_view name = t.text(col::resource_claim_name, row);
  std::uint32_t slot = names_.claims.find(name);
  claim_info claim;
  if (t.op() == table_op::add) {
    if (auto good = check_new_name(t, row, col::resource_claim_name, names_.claims); !good) return good;
    claim.name = name;
  } else if (slot == base::name_map::none) {
    return missing(t, row, col::resource_claim_name, {table_kind::resource_claim, {}, clean_name(name)});
  } else {
    claim = *s_.claims[slot];
  }
  if (t.op() == table_op::remove) {
    discard(claim.name);  // as it came; the copy is for going back
    drop_name(&name_maps::claims, s_.names->add(claim.name), slot);
    s_.claims.write(slot) = nullptr;
    w_.free_claims.write().push_back(slot);
    --s_.live_claims;
    return {};
  }
  if (auto done = read_claim(t, row, claim); !done) return done;
  if (t.op() == table_op::add) {
    if (w_.free_claims->empty()) {
      slot = s_.claim_slots++;
      s_.claims.grow(s_.claim_slots);
    } else {
      slot = w_.free_claims->back();
      w_.free_claims.write().pop_back();
    }
    ++s_.live_claims;
    add_name(&name_maps::claims, s_.names->add(name), slot);
  }
  s_.claims.write(slot) = std::make_shared<const claim_info>(std::move(claim));
  return {};
}

result<void> edit::read_claim(const table_reader& t, std::uint64_t row, claim_info& claim) const {
  row_reader from(t, row, {"resource claim", claim.name});
  label_list labels;
  from.text(col::resource_claim_device_class, claim.device_class);
  from.number(col::resource_claim_count, 0, max_amount, claim.count);
  from.text(col::resource_claim_node, claim.node);
  from.flag(col::resource_claim_from_template, claim.from_template);
  from.parsed(col::resource_claim_labels, parse_labels, labels);
  if (auto done = from.done(); !done) return done;
  if (t.has(col::resource_claim_labels)) {
    claim.labels.clear();
    for (const auto& [key, value] : labels) claim.labels.append(key).append(1, '\0').append(value).append(1, '\0');
  }
  for (const auto& [column, target] :
       {std::pair{std::uint32_t{col::resource_claim_devices}, &claim.devices},
        std::pair{std::uint32_t{col::resource_claim_reserved_for}, &claim.reserved_for}}) {
    if (!t.has(column)) continue;
    std::vector<std::string_view> names = split_list(t.text(column, row));
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end() || (!names.empty() && names.front().empty())) {
      from.fail(column, status::argument,
                twice == names.end() ? std::string("a name must not be empty")
                                     : "'" + base::shown(*twice) + "' is given twice");
      return from.done();
    }
    *target = t.text(column, row);
  }
  from.list(col::resource_claim_constraints, parse_constraints, claim.constraints_text, claim.constraints);
  from.list(col::resource_claim_results, parse_results, claim.results_text, claim.results);
  return from.done();
}

}  // namespace kaisched::model
