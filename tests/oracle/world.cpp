#include "oracle/world.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::oracle {

namespace {

/// One table with its columns by number.
class reader {
 public:
  reader(const snapshot& from, table_kind kind) : table_(from.to_table(kind).value()), view_(table_.view()) {}

  [[nodiscard]] std::size_t rows() const { return view_.rows; }
  [[nodiscard]] std::string text(std::uint32_t column, std::size_t row) const {
    return std::string(find(column).string(row));
  }
  [[nodiscard]] std::vector<std::string> texts(std::uint32_t column, std::size_t row) const {
    const auto parts = split_list(find(column).string(row));
    return {parts.begin(), parts.end()};
  }
  [[nodiscard]] label_map labels(std::uint32_t column, std::size_t row) const {
    label_map labels;
    const auto parts = texts(column, row);
    for (std::size_t i = 0; i + 1 < parts.size(); i += 2) labels[parts[i]] = parts[i + 1];
    return labels;
  }
  [[nodiscard]] std::int64_t integer(std::uint32_t column, std::size_t row) const {
    return find(column).values<std::int64_t>(view_.rows)[row];
  }
  [[nodiscard]] std::uint32_t number(std::uint32_t column, std::size_t row) const {
    return find(column).values<std::uint32_t>(view_.rows)[row];
  }
  [[nodiscard]] std::uint8_t small(std::uint32_t column, std::size_t row) const {
    return find(column).values<std::uint8_t>(view_.rows)[row];
  }
  [[nodiscard]] std::vector<std::int64_t> list(std::uint32_t column, std::size_t row) const {
    const auto values = find(column).list(row);
    return {values.begin(), values.end()};
  }
  template <class T>
  [[nodiscard]] std::vector<T> matrix(std::uint32_t column, std::size_t row) const {
    const column_view& c = find(column);
    const auto values = c.values<T>(view_.rows).subspan(row * c.width, c.width);
    return {values.begin(), values.end()};
  }
  template <class T>
  [[nodiscard]] std::array<T, quota_dimensions> three(std::uint32_t column, std::size_t row) const {
    const std::vector<T> values = matrix<T>(column, row);
    return {values[0], values[1], values[2]};
  }

 private:
  [[nodiscard]] const column_view& find(std::uint32_t column) const {
    const column_view* found = view_.find(column);
    if (found == nullptr) throw std::logic_error("a table of a snapshot has every column of the schema");
    return *found;
  }
  table table_;
  table_view view_;
};

template <class Row>
std::size_t index_of(const std::vector<Row>& all, const std::string& name) {
  const auto it = std::find_if(all.begin(), all.end(), [&](const Row& row) { return row.name == name; });
  return it == all.end() ? nobody : static_cast<std::size_t>(it - all.begin());
}

void read_queues(const snapshot& from, world& w) {
  const reader r(from, table_kind::queue);
  for (std::size_t i = 0; i < r.rows(); ++i) {
    queue q;
    q.name = r.text(col::queue_name, i);
    q.priority = r.integer(col::queue_priority, i);
    q.created = r.integer(col::queue_created, i);
    q.quota = r.three<std::int64_t>(col::queue_quota, i);
    q.limit = r.three<std::int64_t>(col::queue_limit, i);
    q.weight = r.three<double>(col::queue_over_quota_weight, i);
    q.usage = r.three<double>(col::queue_usage, i);
    q.reclaim_min_runtime = r.integer(col::queue_reclaim_min_runtime, i);
    q.preempt_min_runtime = r.integer(col::queue_preempt_min_runtime, i);
    w.queues.push_back(std::move(q));
  }
  for (std::size_t i = 0; i < r.rows(); ++i) {
    w.queues[i].parent = index_of(w.queues, r.text(col::queue_parent, i));
    if (w.queues[i].parent != nobody) w.queues[w.queues[i].parent].children.push_back(i);
  }
}

void read_nodes(const snapshot& from, world& w) {
  const reader r(from, table_kind::node);
  for (std::size_t i = 0; i < r.rows(); ++i) {
    node n;
    n.name = r.text(col::node_name, i);
    n.capacity = r.matrix<std::int64_t>(col::node_capacity, i);
    n.open = r.small(col::node_ready, i) == 1 && r.small(col::node_unschedulable, i) == 0;
    n.labels = r.labels(col::node_labels, i);
    n.taints = r.texts(col::node_taints, i);
    w.nodes.push_back(std::move(n));
  }
  const reader d(from, table_kind::device);
  std::set<std::size_t> listed;
  for (std::size_t i = 0; i < d.rows(); ++i) {
    const std::size_t n = index_of(w.nodes, d.text(col::device_node, i));
    w.nodes[n].devices.push_back(d.small(col::device_healthy, i) == 1 ? d.integer(col::device_share, i) : 0);
    listed.insert(n);
  }
  for (std::size_t n = 0; n < w.nodes.size(); ++n) {  // without a list: one device per whole GPU
    const std::int64_t gpu = w.nodes[n].capacity[dim_gpu];
    if (listed.contains(n) || gpu % whole_device != 0 || gpu / whole_device > max_devices_per_node) continue;
    w.nodes[n].devices.assign(static_cast<std::size_t>(gpu / whole_device), whole_device);
  }
}

void read_groups(const snapshot& from, world& w) {
  const reader r(from, table_kind::pod_group);
  for (std::size_t i = 0; i < r.rows(); ++i) {
    group g;
    g.name = r.text(col::pod_group_name, i);
    g.queue = index_of(w.queues, r.text(col::pod_group_queue, i));
    g.priority = r.integer(col::pod_group_priority, i);
    g.preemptible = r.small(col::pod_group_preemptible, i) == 1;
    g.created = r.integer(col::pod_group_created, i);
    g.last_start = r.integer(col::pod_group_last_start, i);
    g.name_space = r.text(col::pod_group_namespace, i);
    g.tree = {{"", true, r.integer(col::pod_group_min_sub_group, i), {}, {}},
              {"default", false, r.integer(col::pod_group_min_member, i), {}, {}}};
    w.groups.push_back(std::move(g));
  }
  const reader s(from, table_kind::sub_group);
  std::set<std::size_t> listed;
  for (std::size_t i = 0; i < s.rows(); ++i) {
    const std::size_t g = index_of(w.groups, s.text(col::sub_group_group, i));
    std::vector<member>& tree = w.groups[g].tree;
    if (listed.insert(g).second) tree.resize(1);
    const std::int64_t members = s.integer(col::sub_group_min_sub_group, i);
    tree.push_back({s.text(col::sub_group_name, i),
                    members != unset,
                    members != unset ? members : s.integer(col::sub_group_min_member, i),
                    {},
                    {}});
  }
  for (std::size_t i = 0; i < s.rows(); ++i) {
    std::vector<member>& tree = w.groups[index_of(w.groups, s.text(col::sub_group_group, i))].tree;
    const std::string parent = s.text(col::sub_group_parent, i);
    const std::size_t above = parent.empty() ? 0 : index_of(tree, parent);
    if (!tree[above].is_set) tree[above].min = unset;  // what has members is a set
    tree[above].is_set = true;
    tree[above].members.push_back(index_of(tree, s.text(col::sub_group_name, i)));
  }
  for (std::size_t g = 0; g < w.groups.size(); ++g) {
    std::vector<member>& tree = w.groups[g].tree;
    if (!listed.contains(g)) tree[0].members = {1};
    for (member& m : tree) {
      if (m.is_set && m.min == unset) m.min = static_cast<std::int64_t>(m.members.size());
    }
  }
}

void read_devices(pod& p, std::int64_t count) {
  const std::int64_t gpu = p.request[dim_gpu];
  if (gpu == 0) return;
  const std::int64_t devices = count != 0 ? count : gpu >= whole_device ? gpu / whole_device : 1;
  p.share = gpu / devices;
  (p.share == whole_device ? p.whole_devices : p.shared_devices) = devices;
}

void read_pods(const snapshot& from, world& w) {
  const reader r(from, table_kind::pod);
  for (std::size_t i = 0; i < r.rows(); ++i) {
    pod p;
    p.name = r.text(col::pod_name, i);
    p.group = index_of(w.groups, r.text(col::pod_group_ref, i));
    p.request = r.matrix<std::int64_t>(col::pod_request, i);
    read_devices(p, r.number(col::pod_device_count, i));
    p.priority = r.integer(col::pod_priority, i);
    p.created = r.integer(col::pod_created, i);
    p.leader = r.small(col::pod_leader, i) == 1;
    p.labels = r.labels(col::pod_labels, i);
    p.node_selector = r.labels(col::pod_node_selector, i);
    p.node_affinity = r.texts(col::pod_node_affinity, i);
    p.tolerations = r.texts(col::pod_tolerations, i);
    p.affinity = r.texts(col::pod_affinity, i);
    p.anti_affinity = r.texts(col::pod_anti_affinity, i);
    p.host_ports = r.texts(col::pod_host_ports, i);
    p.obstacle = !r.text(col::pod_obstacle, i).empty();
    p.nominated_node = r.text(col::pod_nominated_node, i);
    pod_state state;
    state.status = static_cast<pod_status>(r.small(col::pod_status_column, i));
    state.node = index_of(w.nodes, r.text(col::pod_node, i));
    for (const std::int64_t device : r.list(col::pod_devices, i)) {
      if (device != unknown_devices) state.devices.insert(static_cast<std::size_t>(device));
    }
    if (p.group != nobody) {
      std::vector<member>& tree = w.groups[p.group].tree;
      const std::string holder = r.text(col::pod_sub_group, i);
      const std::size_t m = index_of(tree, holder.empty() ? "default" : holder);
      p.stray = m == nobody || tree[m].is_set;
      if (!p.stray) tree[m].pods.push_back(i);
    }
    w.pods.push_back(std::move(p));
    w.states.push_back(std::move(state));
  }
  // Task order: leaders, then larger priority (none is the smallest), then age, then name.
  for (group& g : w.groups) {
    for (member& m : g.tree) {
      std::sort(m.pods.begin(), m.pods.end(), [&](std::size_t a, std::size_t b) {
        const pod& x = w.pods[a];
        const pod& y = w.pods[b];
        return std::tie(y.leader, y.priority, x.created, x.name) < std::tie(x.leader, x.priority, y.created, y.name);
      });
    }
  }
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_outside_parentheses(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') inside = true;
    if (text[i] == ')') inside = false;
    if (text[i] != ',' || inside) continue;
    parts.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  parts.push_back(trimmed(text.substr(start)));
  return parts;
}

/// One requirement, such as `key`, `!key`, `key=value`, `key in (a,b)`, `key>5`.
bool requirement_holds(std::string_view text, const label_map& labels) {
  const auto has = [&](std::string_view key) { return labels.contains(std::string(key)); };
  const auto value = [&](std::string_view key) { return labels.at(std::string(key)); };
  if (text.starts_with("!")) return !has(trimmed(text.substr(1)));
  const std::size_t end = text.find_first_of(" =!<>");
  const std::string_view key = text.substr(0, end);
  if (end == std::string_view::npos) return has(key);
  const std::string_view rest = trimmed(text.substr(end));
  const auto after = [&](std::size_t n) { return trimmed(rest.substr(n)); };
  if (rest.starts_with("==")) return has(key) && value(key) == after(2);
  if (rest.starts_with("!=")) return !has(key) || value(key) != after(2);
  if (rest.starts_with("=")) return has(key) && value(key) == after(1);
  if (rest.starts_with(">") || rest.starts_with("<")) {
    if (!has(key) || !to_integer(value(key)) || !to_integer(after(1))) return false;
    const std::int64_t mine = to_integer(value(key)).value_or(0);
    const std::int64_t bound = to_integer(after(1)).value_or(0);
    return rest.front() == '>' ? mine > bound : mine < bound;
  }
  const bool wanted = rest.starts_with("in");
  const std::string_view list = after(wanted ? 2 : 5);
  const auto values = split_outside_parentheses(list.substr(1, list.size() - 2));
  const bool among = has(key) && std::find(values.begin(), values.end(), value(key)) != values.end();
  return wanted ? among : !among;
}

struct effect_of {
  std::string_view body;
  std::string_view effect;  ///< empty: every effect
  explicit effect_of(std::string_view text) : body(text.substr(0, text.rfind(':'))) {
    if (text.rfind(':') != std::string_view::npos) effect = text.substr(text.rfind(':') + 1);
  }
};

}  // namespace

world read_world(const snapshot& from) {
  world w;
  w.dimensions = from.dimension_names().size();
  read_queues(from, w);
  read_nodes(from, w);
  read_groups(from, w);
  read_pods(from, w);
  return w;
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool selector_matches(std::string_view selector, const label_map& labels) {
  if (trimmed(selector).empty()) return true;
  const auto parts = split_outside_parentheses(selector);
  return std::all_of(parts.begin(), parts.end(), [&](std::string_view one) { return requirement_holds(one, labels); });
}

bool node_affinity_matches(const std::vector<std::string>& terms, const label_map& labels) {
  return terms.empty() || std::any_of(terms.begin(), terms.end(), [&](const std::string& term) {
           return !trimmed(term).empty() && selector_matches(term, labels);  // an empty term matches nothing
         });
}

bool tolerates(const std::vector<std::string>& tolerations, std::string_view taint) {
  const effect_of what(taint);
  if (what.effect == "PreferNoSchedule") return true;
  const std::size_t equal = what.body.find('=');
  const std::string_view key = what.body.substr(0, equal);
  const std::string_view value = equal == std::string_view::npos ? std::string_view{} : what.body.substr(equal + 1);
  return std::any_of(tolerations.begin(), tolerations.end(), [&](const std::string& text) {
    const effect_of mine(text);
    if (!mine.effect.empty() && mine.effect != what.effect) return false;
    const std::size_t at = mine.body.find('=');
    const std::string_view my_key = mine.body.substr(0, at);
    if (my_key != "*" && my_key != key) return false;
    return at == std::string_view::npos || mine.body.substr(at + 1) == value;
  });
}

bool ports_conflict(std::string_view a, std::string_view b) {
  const auto parse = [](std::string_view text) {
    std::string address;
    std::string protocol = "TCP";
    if (const std::size_t slash = text.rfind('/'); slash != std::string_view::npos) {
      protocol = text.substr(slash + 1);
      text = text.substr(0, slash);
    }
    if (const std::size_t colon = text.rfind(':'); colon != std::string_view::npos) {
      address = text.substr(0, colon);
      text = text.substr(colon + 1);
    }
    if (address == "0.0.0.0" || address == "::") address.clear();
    return std::tuple(address, std::string(text), protocol);
  };
  const auto [my_address, my_port, my_protocol] = parse(a);
  const auto [address, port, protocol] = parse(b);
  return my_port == port && my_protocol == protocol && (my_address.empty() || address.empty() || my_address == address);
}

std::pair<std::string, std::string> split_affinity(std::string_view term) {
  const std::size_t colon = term.find(':');
  return {std::string(trimmed(term.substr(0, colon))), std::string(term.substr(colon + 1))};
}

}  // namespace kaisched::oracle
