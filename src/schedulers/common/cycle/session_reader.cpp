#include "schedulers/common/cycle/session_reader.hpp"

#include "policy/access.hpp"

namespace kaisched::schedulers {

bool is_closed(const framework::session_state& c, node_row node, class_row of_class, group_row group) {
  if (c.constraints.closes(group, node)) return true;
  const model::pod_class& ask = *c.state().classes[of_class];
  return c.has_predicates && !policy::accepts_every_node(c.access, ask) &&
         policy::node_verdict(c.access, ask, node) != constraint::none;
}

std::int64_t session_reader::priority_of(pod_row pod) const {
  const std::int64_t own = s_.pod_extras[pod].priority;
  return own == unset ? s_.groups[s_.pods[pod].group].priority : own;
}

std::vector<std::int64_t> session_reader::request_of(class_row of_class) const {
  const model::pod_class& of = *s_.classes[of_class];
  const model::quota_vector asked = c_.queues.asked(of);
  std::vector<std::int64_t> request;
  for (dimension d = 0; d < s_.dims(); ++d) request.push_back(d < quota_dimensions ? asked[d] : of.requests(d));
  return request;
}

}  // namespace kaisched::schedulers
