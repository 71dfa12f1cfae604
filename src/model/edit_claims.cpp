// Deltas of resource claims. Pods name claims freely: a claim may come after its pods and go before them, and a pod
// whose claim is missing waits. So nothing is checked across the two.
#include <algorithm>

#include "base/text.hpp"
#include "model/edit.hpp"

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
  if (t.has(col::resource_claim_device_class)) claim.device_class = t.text(col::resource_claim_device_class, row);
  if (t.has(col::resource_claim_count)) {
    auto v = bounded(t, row, col::resource_claim_count, 0, max_amount);
    if (!v) return v.failure();
    claim.count = *v;
  }
  if (t.has(col::resource_claim_node)) claim.node = t.text(col::resource_claim_node, row);
  if (t.has(col::resource_claim_from_template)) {
    auto v = flag(t, row, col::resource_claim_from_template);
    if (!v) return v.failure();
    claim.from_template = *v;
  }
  if (t.has(col::resource_claim_labels)) {
    result<label_list> labels = parse_labels(t.text(col::resource_claim_labels, row));
    if (!labels) {
      return t.fail(status::argument, row, col::resource_claim_labels,
                    "resource claim '" + base::shown(claim.name) + "': " + labels.failure().message);
    }
    claim.labels.clear();
    for (const auto& [key, value] : *labels) claim.labels.append(key).append(1, '\0').append(value).append(1, '\0');
  }
  for (const auto& [column, target] :
       {std::pair{std::uint32_t{col::resource_claim_devices}, &claim.devices},
        std::pair{std::uint32_t{col::resource_claim_reserved_for}, &claim.reserved_for}}) {
    if (!t.has(column)) continue;
    std::vector<std::string_view> names = split_list(t.text(column, row));
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    if (twice != names.end() || (!names.empty() && names.front().empty())) {
      return t.fail(status::argument, row, column,
                    "resource claim '" + base::shown(claim.name) + "': " +
                        (twice == names.end() ? std::string("a name must not be empty")
                                              : "'" + base::shown(*twice) + "' is given twice"));
    }
    *target = t.text(column, row);
  }
  const auto parsed = [&](std::uint32_t column, auto parse, std::string& raw, auto& target) -> result<void> {
    if (!t.has(column)) return {};
    auto read = parse(t.text(column, row));
    if (!read) {
      return t.fail(status::argument, row, column,
                    "resource claim '" + base::shown(claim.name) + "': " + read.failure().message);
    }
    raw = t.text(column, row);
    target = std::move(*read);
    return {};
  };
  if (auto done = parsed(col::resource_claim_constraints, parse_constraints, claim.constraints_text, claim.constraints);
      !done) {
    return done;
  }
  return parsed(col::resource_claim_results, parse_results, claim.results_text, claim.results);
}

}  // namespace kaisched::model
