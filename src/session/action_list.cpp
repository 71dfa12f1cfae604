#include "session/action_list.hpp"

#include <array>

#include "actions/actions.hpp"
#include "schedulers/schedulers.hpp"

namespace kaisched::session_detail {

std::span<const action_entry> action_list() noexcept {
  static constexpr std::array entries{
      action_entry{"allocate", action_kind::allocate, actions::allocate, true, true},
      action_entry{"consolidation", action_kind::consolidation, actions::consolidation, true, true, true},
      action_entry{"reclaim", action_kind::reclaim, actions::reclaim, true, true, true},
      action_entry{"preempt", action_kind::preempt, actions::preempt, true, true, true},
      action_entry{"stalegangeviction", action_kind::stale_gang_eviction, actions::evict_stale_gangs},
      action_entry{"backfill", action_kind::backfill, actions::backfill, false, true},
      action_entry{"runtimelimit", action_kind::runtime_limit, actions::limit_runtime},
      action_entry{"repartition", action_kind::repartition, actions::repartition, true},
      action_entry{"overlimit", action_kind::over_limit, actions::keep_limits},
      action_entry{"resize", action_kind::resize, actions::resize, true, true},
      action_entry{"vacate", action_kind::vacate, actions::vacate},
      action_entry{"volcano", action_kind::allocate, volcano::schedule},
      action_entry{"hived", action_kind::allocate, hived::schedule},
      action_entry{"kueue", action_kind::allocate, kueue::schedule},
      action_entry{"yunikorn", action_kind::allocate, yunikorn::schedule},
  };
  return entries;
}

}  // namespace kaisched::session_detail
