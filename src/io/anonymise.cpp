#include "io/anonymise.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/schema.hpp>

#include "base/copy_row.hpp"
#include "io/cluster_input.hpp"
#include "model/column_entry.hpp"
#include "model/selector.hpp"

namespace kaisched::io {

namespace {

using model::text_role;

bool ends_with_any(std::string_view text, std::span<const std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view ending) {
    return text.ends_with(ending) && (text.size() == ending.size() || text[text.size() - ending.size() - 1] == '.');
  });
}

/// Of clusters that are invented or simulated.
constexpr std::string_view gpu_model_label = "gpu.model";

/// Keys whose meaning everybody can look up, by the domain in front of the slash.
bool is_public_key(std::string_view key) {
  constexpr std::array<std::string_view, 12> domains{"kubernetes.io", "k8s.io",     "x-k8s.io",     "nvidia.com",
                                                     "amd.com",       "intel.com",  "run.ai",       "kai.scheduler",
                                                     "hami.io",       "volcano.sh", "karpenter.sh", "kaisched.io"};
  const std::size_t slash = key.find('/');
  return key == gpu_model_label || (slash != std::string_view::npos && ends_with_any(key.substr(0, slash), domains));
}

/// Values that tell of hardware alone.
bool has_public_values(std::string_view key) {
  constexpr std::array<std::string_view, 3> vendors{"nvidia.com", "amd.com", "intel.com"};
  constexpr std::array<std::string_view, 4> keys{gpu_model_label, "kubernetes.io/arch", "kubernetes.io/os",
                                                 "node.kubernetes.io/instance-type"};
  const std::size_t slash = key.find('/');
  return std::find(keys.begin(), keys.end(), key) != keys.end() ||
         (slash != std::string_view::npos && ends_with_any(key.substr(0, slash), vendors));
}

bool says_nothing(std::string_view value) {
  return value.empty() || value == "true" || value == "false" ||
         value.find_first_not_of("-0123456789") == std::string_view::npos;
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/// First notes which names there are, then replaces them: what is seen is the same both times.
class renamer {
 public:
  /// After everything has been seen once.
  void number() {
    std::size_t width = 1;
    for (std::size_t left = seen_.size(); left > 9; left /= 10) ++width;
    std::size_t next = 1;
    for (const std::string& one : seen_) names_.emplace(one, fmt::format("n{:0{}}", next++, width));
  }
  [[nodiscard]] std::map<std::string, std::string> take_names() { return {names_.begin(), names_.end()}; }

  std::string text(text_role what, std::string_view of) {
    if (of.empty()) return {};
    switch (what) {
      case text_role::name:
        return name(of);
      case text_role::label_key:
        return key(of);
      case text_role::selectors:
        return selector(of);
      case text_role::affinities:
        return affinity(of);
      case text_role::preferences:
        return preference(of);
      case text_role::pod_preferences:
        return pod_preference(of);
      case text_role::spreads:
        return spread(of);
      case text_role::dependencies:
        return dependency(of);
      case text_role::amounts:
        return amount(of);
      case text_role::taints:
        return taint(of);
      case text_role::devices:
      case text_role::devices_of_class:
        return device(of, what == text_role::devices_of_class);
      case text_role::expressions:
        return expression(of);
      case text_role::words:
        return words(of);
      case text_role::prose:
        return "text";
      case text_role::kept:
      case text_role::labels:
      case text_role::by_level:
        break;
    }
    return std::string(of);
  }

  std::vector<std::string> list(text_role what, std::span<const std::string_view> of) {
    std::vector<std::string> made;
    for (std::size_t i = 0; i < of.size(); ++i) {
      const bool is_key = i % 2 == 0;
      if (what == text_role::labels) {
        made.push_back(is_key ? key(of[i]) : value(of[i - 1], of[i]));
      } else if (what == text_role::by_level) {
        made.push_back(is_key ? key(of[i]) : std::string(of[i]));
      } else {
        made.push_back(text(what, of[i]));
      }
    }
    return made;
  }

  /// A device that words may name.
  void note_identifier(std::string_view one) {
    if (!one.empty() && names_.empty()) identifiers_.emplace(one);
  }

 private:
  std::string name(std::string_view of) {
    if (of.empty()) return {};
    if (const auto known = names_.find(of); known != names_.end()) return known->second;
    seen_.emplace(of);
    return std::string(of);
  }
  std::string key(std::string_view of) { return is_public_key(of) ? std::string(of) : name(of); }
  std::string value(std::string_view of_key, std::string_view of) {
    return has_public_values(of_key) || says_nothing(of) ? std::string(of) : name(of);
  }

  std::string requirement(const model::requirement& one) {
    using op = model::selector_operator;
    const std::string of = key(one.key);
    if (one.op == op::exists) return of;
    if (one.op == op::does_not_exist) return "!" + of;
    if (one.op == op::greater || one.op == op::less)
      return fmt::format("{}{}{}", of, one.op == op::greater ? '>' : '<', one.values.front());
    std::string values;
    for (const std::string& v : one.values) values += (values.empty() ? "" : ",") + value(one.key, v);
    return fmt::format("{} {} ({})", of, one.op == op::in ? "in" : "notin", values);
  }
  std::string selector_text(const model::selector& of) {
    std::string made;
    for (const model::requirement& one : of.requirements) made += (made.empty() ? "" : ",") + requirement(one);
    return made;
  }
  std::string selector(std::string_view of) {
    const result<model::selector> read = model::parse_selector(of);
    return read ? selector_text(*read) : std::string(of);
  }
  std::string affinity(std::string_view of) {
    const result<model::affinity_term> read = model::parse_affinity_term(of);
    return read ? affinity(*read) : std::string(of);
  }
  std::string affinity(const model::affinity_term& of) {
    std::string made = key(of.topology_key);
    if (of.any_namespace) made += "@*";
    for (std::size_t i = 0; i < of.namespaces.size(); ++i) made += (i == 0 ? "@" : ",") + name(of.namespaces[i]);
    return fmt::format("{}: {}", made, selector_text(of.pods));
  }
  std::string pod_preference(std::string_view of) {
    const result<model::pod_preference> read = model::parse_pod_preference(of);
    return read ? fmt::format("{} {}", read->weight, affinity(read->term)) : std::string(of);
  }
  std::string spread(std::string_view of) {
    const result<model::spread_constraint> read = model::parse_spread_constraint(of);
    if (!read) return std::string(of);
    std::string made = fmt::format("{} {}", read->skew, key(read->topology_key));
    if (read->soft) made += " soft";
    if (read->min_domains != 1) made += fmt::format(" min_domains={}", read->min_domains);
    if (read->ignores_affinity) made += " ignore_affinity";
    if (read->honors_taints) made += " honor_taints";
    return fmt::format("{}: {}", made, selector_text(read->pods));
  }
  std::string dependency(std::string_view of) {
    const std::size_t colon = of.find(':');
    return std::string(of.substr(0, colon + 1)) + name(of.substr(colon + 1));
  }

  std::string amount(std::string_view of) {
    const std::size_t colon = of.rfind(':');
    return colon == std::string_view::npos ? name(of) : name(of.substr(0, colon)) + std::string(of.substr(colon));
  }

  std::string preference(std::string_view of) {
    const result<model::node_preference> read = model::parse_node_preference(of);
    return read ? fmt::format("{}: {}", read->weight, selector_text(read->nodes)) : std::string(of);
  }

  /// `key=value:Effect` and its shorter forms.
  std::string taint(std::string_view of) {
    const std::size_t colon = of.rfind(':');
    const std::string_view effect = colon == std::string_view::npos ? std::string_view{} : of.substr(colon);
    const std::string_view rest = of.substr(0, of.size() - effect.size());
    const std::size_t equals = rest.find('=');
    const std::string_view of_key = rest.substr(0, equals);
    if (of_key == "*") return std::string(of);
    std::string made = key(of_key);
    if (equals != std::string_view::npos) made += "=" + value(of_key, rest.substr(equals + 1));
    return made + std::string(effect);
  }

  std::string device(std::string_view of, bool has_class) {
    const std::size_t equals = of.find('=');
    std::string made;
    if (equals != std::string_view::npos) {
      made = (has_class ? name(of.substr(0, equals)) : std::string(of.substr(0, equals))) + "=";
      of = of.substr(equals + 1);
    }
    const std::size_t first = of.find('/');
    const std::size_t last = of.rfind('/');
    if (first == last) return made + std::string(of);
    return fmt::format("{}{}/{}/{}", made, of.substr(0, first), name(of.substr(first + 1, last - first - 1)),
                       name(of.substr(last + 1)));
  }

  std::string expression(std::string_view of) {
    std::string made;
    while (!of.empty()) {
      const std::size_t quote = of.find_first_of("\"'");
      if (quote == std::string_view::npos) break;
      const std::size_t end = of.find(of[quote], quote + 1);
      if (end == std::string_view::npos) break;
      const std::string_view quoted = of.substr(quote + 1, end - quote - 1);
      const auto known = names_.find(quoted);
      made += of.substr(0, quote + 1);
      made += known == names_.end() ? quoted : std::string_view(known->second);
      made += of[end];
      of.remove_prefix(end + 1);
    }
    return made + std::string(of);
  }

  std::string words(std::string_view of) {
    std::string made;
    std::string_view before;
    while (!of.empty()) {
      const std::size_t size = static_cast<std::size_t>(
          std::find_if_not(of.begin(), of.end(), [](char c) { return is_word(c); }) - of.begin());
      const std::string_view word = of.substr(0, size);
      if (before == "id" || before == "device") note_identifier(word);
      made += identifiers_.contains(word) ? name(word) : std::string(word);
      of.remove_prefix(size);
      if (of.empty()) break;
      before = of.front() == '=' ? word : std::string_view{};
      made += of.front();
      of.remove_prefix(1);
    }
    return made;
  }

  std::set<std::string, std::less<>> seen_;
  std::set<std::string, std::less<>> identifiers_;
  std::map<std::string, std::string, std::less<>> names_;
};

void copy_column(table::column& to, const column_view& from, std::uint64_t rows, text_role what, renamer& names) {
  for (std::uint64_t row = 0; row < rows; ++row) {
    if (from.type == column_type::string) {
      to.push(std::string_view(names.text(what, from.string(row))));
    } else if (from.type == column_type::string_list) {
      const std::vector<std::string> made = names.list(what, split_list(from.string(row)));
      const std::vector<std::string_view> views(made.begin(), made.end());
      to.push_list(std::span<const std::string_view>(views));
    } else {
      base::copy_row(to, from, row);
    }
  }
}

table renamed(const table_info& info, const table_view& from, renamer& names) {
  table made(info.kind, table_op::add);
  for (const column_info& column : info.columns) {
    const column_view* const values = from.find(column.id);
    if (values == nullptr) continue;
    copy_column(made.add(column.id, values->type, values->width), *values, from.rows,
                model::text_role_of(info.kind, column.id), names);
  }
  return made;
}

}  // namespace

result<anonymous_cluster> anonymise(const snapshot& from) {
  std::vector<std::pair<const table_info*, table>> all;
  for (const table_info& info : schema()) {
    if (!info.input) continue;
    result<table> rows = from.to_table(info.kind);
    if (!rows) return rows.take_failure();
    if (rows->rows() > 0) all.emplace_back(&info, std::move(*rows));
  }
  renamer names;
  for (const auto& [info, rows] : all) {
    if (info->kind != table_kind::device) continue;
    const table_view view = rows.view();
    for (std::uint64_t row = 0; row < view.rows; ++row) names.note_identifier(view.find(col::device_uuid)->string(row));
  }
  // Twice: a name may be mentioned before it is known to be an identifier.
  for (int time = 0; time < 2; ++time) {
    for (const auto& [info, rows] : all) (void)renamed(*info, rows.view(), names);
  }
  names.number();
  cluster_input made;
  made.source = "anonymous cluster";
  for (const auto& [info, rows] : all) made.add(renamed(*info, rows.view(), names), {});
  result<cluster> built = build_cluster(made, "reject");
  if (!built) return built.take_failure();
  return anonymous_cluster{built->take_snapshot(), names.take_names()};
}

}  // namespace kaisched::io
