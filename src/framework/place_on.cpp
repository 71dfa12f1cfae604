#include "framework/node_choice.hpp"
#include "framework/session_state.hpp"

namespace kaisched::framework {

std::optional<place> place_on(session_state& c, pod_row pod, node_row node, policy::free_amount which) {
  const model::pod_class& ask = c.state().class_of(pod);
  // KAI asks for what is free or coming free before it asks for what is free.
  const auto fits = [&](policy::free_amount amount) {
    return policy::amounts_fit(c.access, ask, node, amount, policy::gpus_paid(c.access, pod, node, amount));
  };
  place found;
  if (!fits(policy::free_amount::idle_or_releasing) || (which == policy::free_amount::idle && !fits(which)) ||
      !c.constraints.resources_allow(c.access, pod, node, which) ||
      !c.choice.choose_devices(c, pod, node, which, found) || !fits_with_devices(c, pod, found))
    return std::nullopt;
  return found;
}

}  // namespace kaisched::framework
