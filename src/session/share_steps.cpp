// How the fair share of a queue came about.
#include <algorithm>
#include <vector>

#include "session/session_impl.hpp"

namespace kaisched {

result<std::vector<share_step>> session::share_steps(queue_row queue) const {
  const framework::session_state& c = *impl_->state;
  const std::vector<model::queue_info>& queues = *c.state().queues;
  if (queue >= queues.size() || !queues[queue].live)
    return error{status::argument, "there is no queue in this row", {}};
  // The one division that there is, watched: parts may change shares, so the session is opened as it was.
  std::vector<share_step> all;
  framework::session_state again(c.base, c.setup, c.now);
  again.share_steps = &all;
  if (auto done = again.open(); !done) return done.failure();
  std::vector<queue_row> above{no_row};
  for (queue_row q = queues[queue].parent; q != no_row; q = queues[q].parent) above.push_back(q);
  std::erase_if(
      all, [&](const share_step& one) { return std::find(above.begin(), above.end(), one.parent) == above.end(); });
  return all;
}

}  // namespace kaisched
