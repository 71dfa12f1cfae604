#include "policy/claims/allocator.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "base/saturating.hpp"

namespace kaisched::policy {

namespace {

using model::exact_quantity;

/// Values of an attribute as a set of texts; empty: the device does not have it.
struct attribute_values {
  std::optional<model::attribute_kind> kind{};
  std::vector<std::string> values{};  ///< sorted, without repetition
};

attribute_values values_of(const offered_device& device, const attribute_constraint& of) {
  attribute_values found;
  for (const model::device_attribute& one : device.attributes) {
    if (one.domain != of.domain || one.name != of.name) continue;
    found.kind = one.kind;
    found.values = one.texts;
    for (const std::int64_t number : one.numbers) found.values.push_back(std::to_string(number));
    std::sort(found.values.begin(), found.values.end());
    found.values.erase(std::unique(found.values.begin(), found.values.end()), found.values.end());
  }
  return found;
}

/// What the policy makes of an amount; empty: it allows none that is large enough.
std::optional<exact_quantity> rounded(const model::capacity_policy& policy, exact_quantity asked) {
  if (!policy.valid_values.empty()) {
    const auto found = std::lower_bound(policy.valid_values.begin(), policy.valid_values.end(), asked);
    return found == policy.valid_values.end() ? std::nullopt : std::optional(*found);
  }
  if (!policy.least) return asked;
  exact_quantity made = std::max(asked, *policy.least);
  if (policy.step && policy.step->billionths > 0) {
    const base::int128 above = made.billionths - policy.least->billionths;
    const base::int128 steps = (above + policy.step->billionths - 1) / policy.step->billionths;
    made.billionths = policy.least->billionths + steps * policy.step->billionths;
  }
  return policy.most && made > *policy.most ? std::nullopt : std::optional(made);
}

/// The amounts that a device gives to a request, by capacity; empty: it has not what is asked for. Devices that are not
/// shared give nothing away, but must have it.
std::optional<std::vector<exact_quantity>> amounts_for(const device_ask& ask, const offered_device& device,
                                                       std::string_view driver) {
  std::vector<exact_quantity> amounts;
  std::size_t used = 0;
  for (const model::device_capacity& has : device.capacities) {
    const auto asked = std::find_if(ask.capacities.begin(), ask.capacities.end(), [&](const capacity_ask& one) {
      return one.name == has.name && (one.domain.empty() ? has.domain == driver : has.domain == one.domain);
    });
    const bool is_asked = asked != ask.capacities.end();
    used += is_asked ? 1 : 0;
    if (is_asked && asked->amount > has.value) return std::nullopt;
    if (!device.allow_multiple_allocations) continue;
    const std::optional<exact_quantity> amount =
        is_asked ? rounded(has.policy, asked->amount) : has.policy.otherwise.value_or(has.value);
    if (!amount || *amount > has.value) return std::nullopt;
    amounts.push_back(*amount);
  }
  return used == ask.capacities.size() ? std::optional(std::move(amounts)) : std::nullopt;
}

/// Names of one capacity twice, once with and once without the domain of the driver.
bool is_ambiguous(const device_ask& ask, std::string_view driver) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  return std::any_of(ask.capacities.begin(), ask.capacities.end(), [&](const capacity_ask& one) {
    return !names.emplace(one.domain.empty() ? driver : std::string_view(one.domain), one.name).second;
  });
}

bool tolerated(const device_ask& ask, const offered_device& device) {
  return std::all_of(device.taints.begin(), device.taints.end(), [&](const model::taint& taint) {
    const bool keeps_away =
        taint.effect == model::taint_effect::no_schedule || taint.effect == model::taint_effect::no_execute;
    return !keeps_away || std::any_of(ask.tolerations.begin(), ask.tolerations.end(),
                                      [&](const model::toleration& one) { return one.tolerates(taint); });
  });
}

bool names_request(const attribute_constraint& constraint, const device_request& request, const device_ask& ask) {
  if (constraint.requests.empty()) return true;
  return std::any_of(constraint.requests.begin(), constraint.requests.end(), [&](const std::string& one) {
    return one == request.name || (!ask.name.empty() && one == request.name + "/" + ask.name);
  });
}

/// One alternative at one node.
struct choice {
  const device_ask* ask = nullptr;
  std::vector<std::uint32_t> devices{};                ///< that match, ascending
  std::vector<std::vector<exact_quantity>> amounts{};  ///< by device of the list
  std::vector<std::uint32_t> constraints{};            ///< of its claim
  bool repeats = false;                                ///< a device can be given more than once
};

/// A request at one node.
struct place {
  std::uint32_t claim = 0;
  std::uint32_t request = 0;
  std::vector<choice> choices{};
};

/// What is common to the devices that a constraint has seen, or all that they have.
struct constraint_state {
  std::uint32_t devices = 0;
  std::optional<model::attribute_kind> kind{};
  std::vector<std::string> values{};
};

class search {
 public:
  search(const allocation_scene& scene, std::span<const claim_request* const> claims)
      : scene_(scene), claims_(claims), wanted_(scene.besides), counts_(claims.size(), 0) {}

  allocation_answer run() {
    for (std::uint32_t c = 0; c < claims_.size(); ++c) {
      constraints_.emplace_back(claims_[c]->constraints.size());
      for (std::uint32_t r = 0; r < claims_[c]->requests.size(); ++r) {
        if (!prepare(c, r)) return std::move(answer_);
      }
    }
    if (asks_for_too_many()) return std::move(answer_);
    classify();
    if (request(0)) {
      answer_.outcome = allocation_outcome::found;
      answer_.message.clear();
      answer_.given = std::move(given_);
    } else if (stopped_) {
      answer_.outcome = allocation_outcome::not_searched_further;
      answer_.message = "no devices after " + std::to_string(scene_.most_steps) + " tries; there may be some";
    }
    return std::move(answer_);
  }

 private:
  bool fail(allocation_outcome outcome, std::uint32_t claim, std::uint32_t request, std::string message) {
    answer_.outcome = outcome;
    answer_.claim = claim;
    answer_.request = request;
    answer_.message = std::move(message);
    return false;
  }

  /// Finds the devices that match; false: the claims get nothing here, whatever is free.
  bool prepare(std::uint32_t claim, std::uint32_t number) {
    const claim_request& of = *claims_[claim];
    const device_request& request = of.requests[number];
    place& made = places_.emplace_back(place{claim, number, {}});
    for (const device_ask& ask : request.alternatives) {
      choice& one = made.choices.emplace_back();
      one.ask = &ask;
      for (std::uint32_t i = 0; i < of.constraints.size(); ++i) {
        if (names_request(of.constraints[i], request, ask)) one.constraints.push_back(i);
      }
      for (const std::uint32_t device : scene_.reachable) {
        if (!match(made, one, device)) return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool repeats(const device_ask& ask, std::uint32_t device) const {
    return scene_.pools.devices()[device].offered->allow_multiple_allocations && !ask.admin;
  }

  bool match(const place& at, choice& to, std::uint32_t device) {
    const device_ask& ask = *to.ask;
    const device_pools::pool_entry& pool = scene_.pools.pool_of(device);
    if (!pool.usable) {
      if (!ask.all) return true;
      return fail(allocation_outcome::pool_changing, at.claim, at.request,
                  "pool " + std::string(pool.driver) + "/" + std::string(pool.name) + " cannot be used: " + pool.why);
    }
    const selector_answers::one selected = scene_.answers.of(scene_.pools, ask, device);
    if (selected.is == model::cel_answer::kind::no) return true;
    if (selected.is == model::cel_answer::kind::error) {
      return fail(allocation_outcome::selector_failed, at.claim, at.request,
                  "device " + scene_.pools.name_of(device) + ": " + selected.message);
    }
    if (is_ambiguous(ask, pool.driver)) {
      return fail(allocation_outcome::selector_failed, at.claim, at.request,
                  "device " + scene_.pools.name_of(device) + ": a capacity is asked for with and without its domain");
    }
    std::optional<std::vector<exact_quantity>> amounts =
        amounts_for(ask, *scene_.pools.devices()[device].offered, pool.driver);
    if (!amounts) return true;
    to.repeats = to.repeats || repeats(ask, device);
    to.devices.push_back(device);
    to.amounts.push_back(std::move(*amounts));
    return true;
  }

  /// The least that a request gets, whichever of its alternatives it is. No device for `all` is a failure of its own.
  [[nodiscard]] static std::int64_t least_of(const place& at) {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (const choice& one : at.choices)
      least = std::min(least, one.ask->all ? static_cast<std::int64_t>(one.devices.size()) : one.ask->count);
    return at.choices.empty() ? 0 : least;
  }

  /// Counts what the requests of each claim need at least: a claim that needs more than it can have gets nothing.
  bool asks_for_too_many() {
    least_from_.assign(places_.size() + 1, 0);
    for (std::size_t i = places_.size(); i-- > 0;) {
      const bool is_last = i + 1 == places_.size() || places_[i + 1].claim != places_[i].claim;
      least_from_[i] = base::saturating_add(least_of(places_[i]), is_last ? 0 : least_from_[i + 1]);
      const bool is_first = i == 0 || places_[i - 1].claim != places_[i].claim;
      if (is_first && least_from_[i] > static_cast<std::int64_t>(most_devices_of_claim)) {
        fail(allocation_outcome::too_many_devices, places_[i].claim, places_[i].request,
             "its requests need " + std::to_string(least_from_[i]) + " devices; a claim can have " +
                 std::to_string(most_devices_of_claim));
        return true;
      }
    }
    return false;
  }

  /// Devices are of one class if nothing that the claims ask about, and nothing that is taken, tells them apart: where
  /// one leads nowhere, so does the other.
  void classify() {
    std::map<std::string, std::uint32_t> classes;
    for (const std::uint32_t device : scene_.reachable) {
      std::string key;
      const auto add = [&](std::string_view part) { key += std::to_string(part.size()) + ":" + std::string(part); };
      const auto add_amount = [&](exact_quantity amount) { add(model::text_of(amount)); };
      const device_pools::device_entry& of = scene_.pools.devices()[device];
      add(of.offered->allow_multiple_allocations ? "shared" : "own");
      add(std::to_string(scene_.usage.users(device)));
      const auto others = scene_.besides.all();
      const bool wanted =
          std::any_of(others.begin(), others.end(), [&](const device_share& other) { return other.device == device; });
      if (wanted) add(std::to_string(device));  // of a class of its own
      for (const auto& [counter, amount] : of.counters) {
        add(std::to_string(counter));
        add_amount(amount);
      }
      if (of.offered->allow_multiple_allocations) {
        for (std::size_t i = 0; i < of.offered->capacities.size(); ++i) {
          add_amount({of.offered->capacities[i].value.billionths - scene_.usage.consumed(device)[i].billionths});
        }
      }
      for (const place& at : places_) {
        for (const choice& one : at.choices) {
          const auto found = std::lower_bound(one.devices.begin(), one.devices.end(), device);
          const bool matches = found != one.devices.end() && *found == device;
          add(matches ? tolerated(*one.ask, *of.offered) ? "free" : "tainted" : "no");
          if (!matches) continue;
          for (const exact_quantity amount : one.amounts[static_cast<std::size_t>(found - one.devices.begin())]) {
            add_amount(amount);
          }
        }
      }
      for (const claim_request* claim : claims_) {
        for (const attribute_constraint& constraint : claim->constraints) {
          const attribute_values values = values_of(*of.offered, constraint);
          add(values.kind ? std::to_string(static_cast<int>(*values.kind)) : "none");
          add(std::to_string(values.values.size()));
          for (const std::string& value : values.values) add(value);
        }
      }
      classes_[device] = classes.try_emplace(std::move(key), static_cast<std::uint32_t>(classes.size())).first->second;
    }
  }

  /// Devices for the requests from a number on.
  bool request(std::size_t number) {
    if (number == places_.size()) return true;
    const place& at = places_[number];
    if (counts_[at.claim] + least_from_[number] > static_cast<std::int64_t>(most_devices_of_claim)) return false;
    for (std::uint32_t a = 0; a < at.choices.size() && !stopped_; ++a) {
      const choice& one = at.choices[a];
      if (one.ask->all) {
        if (every(number, a, 0)) return true;
      } else if (some(number, a, 0, one.ask->count)) {
        return true;
      }
    }
    return false;
  }

  /// All devices of a choice, one after the other.
  bool every(std::size_t number, std::uint32_t alternative, std::size_t from) {
    const choice& one = places_[number].choices[alternative];
    if (one.devices.empty()) return false;
    if (one.devices.size() > most_devices_of_claim) {
      // Remembered unless another alternative succeeds.
      fail(allocation_outcome::too_many_devices, places_[number].claim, places_[number].request,
           "all devices are " + std::to_string(one.devices.size()) + "; a claim can have " +
               std::to_string(most_devices_of_claim));
      return false;
    }
    if (from == one.devices.size()) return request(number + 1);
    return with(number, alternative, from, [&] { return every(number, alternative, from + 1); });
  }

  /// `left` devices of a choice from a position on.
  bool some(std::size_t number, std::uint32_t alternative, std::size_t from, std::int64_t left) {
    if (left == 0) return request(number + 1);
    const choice& one = places_[number].choices[alternative];
    if (left > static_cast<std::int64_t>(most_devices_of_claim)) return false;
    std::vector<std::uint32_t> failed;  // classes
    for (std::size_t i = from; i < one.devices.size() && !stopped_; ++i) {
      if (!one.repeats && static_cast<std::int64_t>(one.devices.size() - i) < left) return false;
      const std::uint32_t device = one.devices[i];
      const std::size_t next_from = repeats(*one.ask, device) ? i : i + 1;
      const bool untouched =
          std::none_of(given_.begin(), given_.end(), [&](const given_device& g) { return g.share.device == device; });
      const std::uint32_t of_class = classes_.at(device);
      if (untouched && std::find(failed.begin(), failed.end(), of_class) != failed.end()) continue;
      const auto next = [&] { return some(number, alternative, next_from, left - 1); };
      if (with(number, alternative, i, next)) return true;
      if (untouched) failed.push_back(of_class);
    }
    return false;
  }

  /// Takes a device and goes on; undone if that leads nowhere.
  template <class Next>
  bool with(std::size_t number, std::uint32_t alternative, std::size_t position, Next next) {
    if (answer_.steps >= scene_.most_steps) {
      stopped_ = true;
      return false;
    }
    ++answer_.steps;
    const place& at = places_[number];
    const choice& one = at.choices[alternative];
    const std::uint32_t device = one.devices[position];
    const offered_device& offered = *scene_.pools.devices()[device].offered;
    if (counts_[at.claim] == most_devices_of_claim || !tolerated(*one.ask, offered)) return false;
    device_share share{device, one.ask->admin, {}};
    if (offered.allow_multiple_allocations && !share.admin) share.consumed = one.amounts[position];
    if (!once_per_claim(at.claim, share) || !scene_.usage.can_take(scene_.pools, share, wanted_)) return false;
    std::vector<constraint_state>& states = constraints_[at.claim];
    std::vector<constraint_state> before;
    before.reserve(one.constraints.size());
    for (const std::uint32_t c : one.constraints) before.push_back(states[c]);
    const bool agrees = std::all_of(one.constraints.begin(), one.constraints.end(), [&](std::uint32_t c) {
      return join(states[c], claims_[at.claim]->constraints[c], offered);
    });
    bool done = false;
    if (agrees) {
      wanted_.add(share);
      ++counts_[at.claim];
      given_.push_back({at.claim, at.request, alternative, std::move(share)});
      done = next();
      if (!done) {
        wanted_.drop_last();
        --counts_[at.claim];
        given_.pop_back();
      }
    }
    if (!done) {
      for (std::size_t i = 0; i < before.size(); ++i) states[one.constraints[i]] = std::move(before[i]);
    }
    return done;
  }

  /// A claim has a device once, unless it is one that several requests share.
  [[nodiscard]] bool once_per_claim(std::uint32_t claim, const device_share& share) const {
    const bool shared = scene_.pools.devices()[share.device].offered->allow_multiple_allocations;
    return std::none_of(given_.begin(), given_.end(), [&](const given_device& one) {
      return one.claim == claim && one.share.device == share.device && (!shared || share.admin || one.share.admin);
    });
  }

  /// A constraint sees one device more; false: it does not hold any longer.
  static bool join(constraint_state& state, const attribute_constraint& constraint, const offered_device& device) {
    attribute_values own = values_of(device, constraint);
    if (!own.kind || (state.devices > 0 && state.kind != own.kind)) return false;
    state.kind = own.kind;
    if (state.devices++ == 0) {
      state.values = std::move(own.values);
      return true;
    }
    std::vector<std::string> common;
    std::set_intersection(state.values.begin(), state.values.end(), own.values.begin(), own.values.end(),
                          std::back_inserter(common));
    if (!constraint.distinct) {
      state.values = std::move(common);
      return !state.values.empty();
    }
    std::vector<std::string> all;
    std::set_union(state.values.begin(), state.values.end(), own.values.begin(), own.values.end(),
                   std::back_inserter(all));
    state.values = std::move(all);
    return common.empty();
  }

  const allocation_scene& scene_;
  std::span<const claim_request* const> claims_;
  wanted_shares wanted_;
  std::vector<place> places_;
  std::vector<std::int64_t> least_from_;  ///< by place: devices that it and later ones of its claim need at least
  std::vector<std::vector<constraint_state>> constraints_;  ///< by claim and constraint
  std::map<std::uint32_t, std::uint32_t> classes_;          ///< by device
  std::vector<std::uint32_t> counts_;                       ///< devices of each claim
  std::vector<given_device> given_;
  bool stopped_ = false;
  allocation_answer answer_;
};

}  // namespace

void selector_answers::remember(const device_ask& ask, const std::string& key, const device_pools& pools) {
  std::shared_ptr<known_answers>& known = by_key_[key];
  if (known == nullptr) known = std::make_shared<known_answers>(pools.devices().size());
  by_ask_[&ask] = known.get();
}

selector_answers::one selector_answers::of(const device_pools& pools, const device_ask& ask,
                                           std::uint32_t device) const {
  using kind = model::cel_answer::kind;
  const auto remembered = by_ask_.find(&ask);
  std::atomic<std::uint8_t>* const known = remembered == by_ask_.end() ? nullptr : &(*remembered->second)[device];
  const std::uint8_t before = known == nullptr ? 0 : known->load(std::memory_order_relaxed);
  if (before == 1 + static_cast<std::uint8_t>(kind::no)) return {kind::no};
  if (before == 1 + static_cast<std::uint8_t>(kind::yes)) return {kind::yes};
  one found{kind::yes};
  const model::device_facts facts = pools.facts_of(device);
  for (std::size_t i = 0; i < ask.selectors.size() && found.is == kind::yes; ++i) {
    model::cel_answer answer = ask.selectors[i].evaluate(facts);
    found = {answer.is, std::move(answer.message)};
  }
  if (known != nullptr)
    known->store(static_cast<std::uint8_t>(1 + static_cast<int>(found.is)), std::memory_order_relaxed);
  return found;
}

allocation_answer allocate(const allocation_scene& scene, std::span<const claim_request* const> claims) {
  return search(scene, claims).run();
}

}  // namespace kaisched::policy
