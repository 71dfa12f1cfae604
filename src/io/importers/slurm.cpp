// slurm.conf, with gres.conf and topology.conf behind it -> options, and the nodes that they name.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kaisched/options.hpp>

#include "base/text.hpp"
#include "io/importers/readers.hpp"

namespace kaisched::io::importers {

namespace {

/// Most that a number of a configuration may be.
constexpr std::int64_t largest = 1'000'000'000'000;

std::string in_lower_case(std::string_view text) {
  std::string made(text);
  for (char& c : made) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return made;
}

std::optional<std::int64_t> figure_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size() || value < 0 || value > largest) return std::nullopt;
  return value;
}

std::vector<std::string_view> parts_between(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours`, `days-hours:minutes`,
/// `days-hours:minutes:seconds`, in seconds.
std::optional<std::int64_t> span_in_seconds(std::string_view text) {
  const std::size_t dash = text.find('-');
  std::int64_t days = 0;
  if (dash != std::string_view::npos) {
    const auto told = figure_of(text.substr(0, dash));
    if (!told || *told > 1'000'000) return std::nullopt;
    days = *told;
    text.remove_prefix(dash + 1);
  }
  const std::vector<std::string_view> parts = parts_between(text, ':');
  if (parts.size() > 3) return std::nullopt;
  std::array<std::int64_t, 3> value{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto told = figure_of(parts[i]);
    if (!told || *told > 1'000'000'000) return std::nullopt;
    value[i] = *told;
  }
  // Without days one or two numbers begin with minutes.
  const bool has_hours = dash != std::string_view::npos || parts.size() == 3;
  const std::int64_t clock = has_hours ? value[0] * 3600 + value[1] * 60 + value[2] : value[0] * 60 + value[1];
  return days * 86'400 + clock;
}

/// `n[01-03,7],login` as `n[01-03]`, `n7`, `login`.
std::vector<std::string> host_ranges(std::string_view list) {
  std::vector<std::string> all;
  std::size_t depth = 0;
  std::string one;
  const auto finish = [&] {
    const std::size_t open = one.find('[');
    const std::size_t close = open == std::string::npos ? open : one.find(']', open);
    if (close == std::string::npos) {
      if (!one.empty()) all.push_back(one);
    } else {
      for (const std::string_view range :
           parts_between(std::string_view(one).substr(open + 1, close - open - 1), ',')) {
        const bool is_range = range.find('-') != std::string_view::npos;
        all.push_back(fmt::format("{}{}{}{}{}", one.substr(0, open), is_range ? "[" : "", range, is_range ? "]" : "",
                                  one.substr(close + 1)));
      }
    }
    one.clear();
  };
  for (const char c : list) {
    if (c == ',' && depth == 0) {
      finish();
      continue;
    }
    depth += c == '[' ? 1 : 0;
    depth -= c == ']' && depth > 0 ? 1 : 0;
    one += c;
  }
  finish();
  return all;
}

struct slurm_field {
  std::string key;  ///< in lower case
  std::string shown;
  std::string value;
};
struct slurm_line {
  std::size_t number;
  std::vector<slurm_field> fields;

  [[nodiscard]] const std::string* find(std::string_view key) const {
    for (const slurm_field& one : fields) {
      if (one.key == key) return &one.value;
    }
    return nullptr;
  }
};

/// Lines of `key=value`, without comments; one that ends with a backslash goes on in the next.
std::vector<slurm_line> lines_of(std::string_view text) {
  std::vector<slurm_line> lines;
  std::size_t number = 0;
  bool goes_on = false;
  for (std::string_view raw : parts_between(text, '\n')) {
    ++number;
    raw = raw.substr(0, raw.find('#'));
    while (!raw.empty() && (raw.back() == '\r' || raw.back() == ' ' || raw.back() == '\t')) raw.remove_suffix(1);
    if (!goes_on || lines.empty()) lines.push_back({number, {}});
    goes_on = !raw.empty() && raw.back() == '\\';
    if (goes_on) raw.remove_suffix(1);
    while (!raw.empty()) {
      const std::size_t begin = raw.find_first_not_of(" \t");
      if (begin == std::string_view::npos) break;
      raw.remove_prefix(begin);
      const std::size_t equals = raw.find_first_of("= \t");
      if (equals == std::string_view::npos || raw[equals] != '=') {
        raw.remove_prefix(std::min(raw.size(), raw.find_first_of(" \t")));
        continue;
      }
      const std::string_view key = raw.substr(0, equals);
      raw.remove_prefix(equals + 1);
      const bool quoted = !raw.empty() && raw.front() == '"';
      if (quoted) raw.remove_prefix(1);
      const std::size_t end = std::min(raw.size(), quoted ? raw.find('"') : raw.find_first_of(" \t"));
      lines.back().fields.push_back({in_lower_case(key), std::string(key), std::string(raw.substr(0, end))});
      raw.remove_prefix(std::min(raw.size(), end + (quoted ? 1 : 0)));
    }
  }
  std::erase_if(lines, [](const slurm_line& one) { return one.fields.empty(); });
  return lines;
}

/// Keys that say something about who runs where, and that nothing here does.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> not_done{{
    {"enforcepartlimits", "jobs that a partition refuses are not submitted"},
    {"fairsharedampeningfactor", "fair shares come from Fair Tree"},
    {"include", "files that are included are not read: append them"},
    {"licenses", "there are no licences"},
    {"overtimelimit", "jobs end when their time is over"},
    {"preemptexempttime", "nobody is preempted"},
    {"preemptmode", "nobody is preempted"},
    {"preempttype", "nobody is preempted"},
    {"prioritycalcperiod", "points are counted in every session"},
    {"prioritydecayhalflife", "usage of queues is given as it counts, decayed"},
    {"priorityflags", "points are counted as without flags"},
    {"prioritysitefactorplugin", "the priority of groups says it"},
    {"priorityusageresetperiod", "usage of queues is given as it counts"},
    {"priorityweightassoc", "the priority of queues counts once, as multifactor.queue"},
    {"priorityweightqos", "the priority of groups says it, multifactor.priority what a step counts"},
    {"topologyplugin", "groups name the topology that they need"},
}};

class slurm_import {
 public:
  imported_policy read(std::string_view text) {
    made_.of = "Slurm";
    made_.set("preset", "slurm-backfill");
    const std::vector<slurm_line> lines = lines_of(text);
    for (const slurm_line& line : lines) {
      const std::string& first = line.fields.front().key;
      if (first == "nodename") {
        add_nodes(line);
      } else if (first == "partitionname") {
        add_partition(line);
      } else if (first == "switchname") {
        add_switch(line);
      } else {
        for (const slurm_field& one : line.fields) add_setting(line, one);
      }
    }
    // Without the multifactor plug-in jobs come as they were submitted, and weights mean nothing.
    if (!is_multifactor_) weights_.clear();
    for (const auto& option : {"multifactor.age", "multifactor.fair_share", "multifactor.queue", "multifactor.size"}) {
      weights_.try_emplace(option, "0");
    }
    weights_.try_emplace("multifactor.priority", "1");
    for (const auto& [option, value] : weights_) made_.set(option, value);
    for (auto& [option, value] : options_) made_.set(option, value);
    add_rows();
    return std::move(made_);
  }

 private:
  void leave_out(const slurm_line& line, std::string_view key, std::string_view why) {
    made_.unmapped.push_back(fmt::format("{}: {}: {}", line.number, base::cleaned(key), why));
  }

  void add_number(const slurm_line& line, const slurm_field& one, std::string_view option, std::int64_t times,
                  std::map<std::string, std::string, std::less<>>& to) {
    const std::optional<std::int64_t> told = figure_of(one.value);
    const std::string value = fmt::format("{}", told && *told <= largest / times ? *told * times : -1);
    if (policy_options trial; !trial.set(option, value))
      return leave_out(line, one.shown, "not a number that can be used");
    to.insert_or_assign(std::string(option), value);
  }

  void add_setting(const slurm_line& line, const slurm_field& one) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> factors{{
        {"priorityweightage", "multifactor.age"},
        {"priorityweightfairshare", "multifactor.fair_share"},
        {"priorityweightjobsize", "multifactor.size"},
        {"priorityweightpartition", "multifactor.queue"},
    }};
    for (const auto& [key, option] : factors) {
      if (one.key == key) return add_number(line, one, option, 1, weights_);
    }
    const std::string value = in_lower_case(one.value);
    if (one.key == "prioritytype") {
      is_multifactor_ = value == "priority/multifactor";
      if (!is_multifactor_ && value != "priority/basic") leave_out(line, one.shown, "there is no such order");
    } else if (one.key == "prioritymaxage") {
      const std::optional<std::int64_t> told = span_in_seconds(value);
      if (!told || *told < 1 || *told > 1'000'000'000) return leave_out(line, one.shown, "not a time that can be used");
      weights_.insert_or_assign("multifactor.max_age", fmt::format("{}", *told));
    } else if (one.key == "priorityfavorsmall") {
      weights_.insert_or_assign("multifactor.small_first", value == "yes" ? "true" : "false");
    } else if (one.key == "priorityweighttres") {
      add_resources(line, one);
    } else if (one.key == "schedulertype") {
      if (value == "sched/builtin") {
        leave_out(line, one.shown, "what waits holds up only what it is promised; backfill is on");
      } else if (value != "sched/backfill") {
        leave_out(line, one.shown, "there is no such scheduler");
      }
    } else if (one.key == "schedulerparameters") {
      add_parameters(line, one);
    } else if (one.key == "selecttypeparameters") {
      if (value.find("cr_lln") == std::string::npos) return;
      options_.insert_or_assign("placement.cpu", "spread");
      options_.insert_or_assign("placement.gpu", "spread");
    } else {
      const auto known =
          std::find_if(not_done.begin(), not_done.end(), [&](const auto& entry) { return entry.first == one.key; });
      const bool is_off = value == "off" || value.ends_with("/none") || value.ends_with("/default");
      if (known != not_done.end() && !is_off) leave_out(line, one.shown, known->second);
    }
  }

  void add_resources(const slurm_line& line, const slurm_field& one) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> known{{
        {"cpu", "multifactor.cpu"},
        {"mem", "multifactor.memory"},
        {"gres/gpu", "multifactor.gpu"},
    }};
    for (const std::string& entry : base::split_names(one.value)) {
      const std::size_t equals = std::min(entry.size(), entry.find('='));
      const std::string name = in_lower_case(std::string_view(entry).substr(0, equals));
      const auto found = std::find_if(known.begin(), known.end(), [&](const auto& k) { return k.first == name; });
      if (found == known.end()) {
        leave_out(line, one.shown, fmt::format("no points for {}", base::cleaned(name)));
      } else {
        const std::string value = equals == entry.size() ? "" : entry.substr(equals + 1);
        add_number(line, {one.key, one.shown, value}, found->second, 1, weights_);
      }
    }
  }

  void add_parameters(const slurm_line& line, const slurm_field& one) {
    for (const std::string& entry : base::split_names(one.value)) {
      const std::size_t equals = std::min(entry.size(), entry.find('='));
      const std::string name = in_lower_case(std::string_view(entry).substr(0, equals));
      const slurm_field as_field{name, name, equals == entry.size() ? "" : entry.substr(equals + 1)};
      if (name == "bf_window") {
        add_number(line, as_field, "backfill.window", 60, options_);
      } else if (name == "bf_resolution") {
        add_number(line, as_field, "backfill.resolution", 1, options_);
      } else if (name == "bf_max_job_test") {
        add_number(line, as_field, "backfill.groups", 1, options_);
      } else {
        leave_out(line, one.shown, fmt::format("nothing here does {}", base::cleaned(name)));
      }
    }
  }

  struct node_entry {
    std::string names;  ///< a range
    std::string columns;
    std::vector<std::string> labels;
  };

  /// GPUs of `gpu:4`, `gpu:a100:4`, `gpu:a100:2,gpu:4(S:0)`, and their type.
  static std::pair<std::int64_t, std::string> gpus_of(std::string_view gres) {
    std::int64_t count = 0;
    std::string type;
    for (const std::string& entry : base::split_names(gres)) {
      const std::vector<std::string_view> parts =
          parts_between(std::string_view(entry).substr(0, entry.find('(')), ':');
      if (in_lower_case(parts.front()) != "gpu") continue;
      const std::optional<std::int64_t> told =
          parts.size() > 1 ? figure_of(parts.back()) : std::optional<std::int64_t>(1);
      count += told.value_or(1);
      const std::size_t names = parts.size() - (told && parts.size() > 1 ? 1 : 0);
      if (names > 1) type = std::string(parts[1]);
    }
    return {count, type};
  }

  void add_nodes(const slurm_line& line) {
    const std::string& names = line.fields.front().value;
    if (line.find("name") != nullptr || line.find("autodetect") != nullptr) return;  // a line of gres.conf
    if (in_lower_case(names) == "default") return leave_out(line, "NodeName", "defaults are not filled in");
    const auto figure = [&](std::string_view key, std::int64_t otherwise) {
      const std::string* const told = line.find(key);
      return told == nullptr ? otherwise : figure_of(*told).value_or(otherwise);
    };
    std::int64_t cpus = figure("cpus", 0);
    if (cpus == 0) {
      const std::array<std::int64_t, 3> parts{std::max(figure("sockets", 1), figure("boards", 1)),
                                              figure("corespersocket", 1), figure("threadspercore", 1)};
      cpus = 1;
      for (const std::int64_t part : parts) cpus *= std::clamp<std::int64_t>(part, 1, 4096);
    }
    std::string columns = fmt::format("cpu={} memory={}Mi pods=1000", std::min<std::int64_t>(cpus, 1'000'000'000),
                                      std::min<std::int64_t>(figure("realmemory", 1), 1'000'000'000));
    std::vector<std::string> labels;
    if (const std::string* const gres = line.find("gres")) {
      const auto [gpus, type] = gpus_of(*gres);
      columns += fmt::format(" gpu={}", std::min<std::int64_t>(gpus, 1'000'000));
      if (gpus > 0) restrict_cores(line, figure("restrictedcorespergpu", 0));
      if (is_plain_name(type)) labels.push_back(fmt::format("nvidia.com/gpu.product={}", type));
    }
    for (const std::string_view key : {"feature", "features"}) {
      if (const std::string* const told = line.find(key)) {
        for (const std::string& name : base::split_names(*told)) {
          if (is_plain_name(name)) labels.push_back(fmt::format("slurm.feature/{}=true", name));
        }
      }
    }
    for (const std::string& range : host_ranges(names)) {
      if (!is_plain_name(range)) {
        leave_out(line, "NodeName", fmt::format("{} is no range of nodes", base::shown(range)));
        continue;
      }
      nodes_.push_back({range, columns, labels});
    }
  }

  /// One number holds for all nodes with GPUs.
  void restrict_cores(const slurm_line& line, std::int64_t cores) {
    if (!restricted_) restricted_ = cores;
    if (*restricted_ != cores)
      return leave_out(line, "RestrictedCoresPerGPU", fmt::format("{} as on the nodes before", *restricted_));
    if (cores > 0)
      options_.insert_or_assign("set_aside.cpu", std::to_string(std::min<std::int64_t>(cores, 1'000'000) * 1000));
  }

  void add_partition(const slurm_line& line) {
    const std::string& name = line.fields.front().value;
    if (!is_plain_name(name) || name.find('[') != std::string::npos || in_lower_case(name) == "default")
      return leave_out(line, "PartitionName", "no queue for it");
    const std::string* const factor = line.find("priorityjobfactor");
    queues_.push_back(
        fmt::format("queue {} priority={}", name, factor == nullptr ? 1 : figure_of(*factor).value_or(1)));
    const std::string* const on = line.find("nodes");
    if (on != nullptr && in_lower_case(*on) != "all") leave_out(line, "Nodes", "any queue may use any node");
    static constexpr std::array<std::string_view, 7> not_of_queues{
        "prioritytier", "maxtime", "defaulttime", "maxnodes", "oversubscribe", "qos", "preemptmode"};
    for (const slurm_field& one : line.fields) {
      const std::string value = in_lower_case(one.value);
      const bool says_nothing = value == "no" || value == "infinite" || value == "unlimited" || value == "off";
      if (!says_nothing && std::ranges::find(not_of_queues, one.key) != not_of_queues.end())
        leave_out(line, one.shown, "queues have no such thing");
    }
  }

  struct switch_entry {
    std::string name;
    std::vector<std::string> nodes;     ///< ranges
    std::vector<std::string> switches;  ///< ranges
  };

  void add_switch(const slurm_line& line) {
    switch_entry made;
    made.name = line.fields.front().value;
    if (const std::string* const told = line.find("nodes")) made.nodes = host_ranges(*told);
    if (const std::string* const told = line.find("switches")) made.switches = host_ranges(*told);
    if (!is_plain_name(made.name)) return leave_out(line, "SwitchName", "not a name");
    switches_.push_back(std::move(made));
  }

  /// Names in a range such as `n[08-10]`; of more than one range, or of more than 65,536 names, nothing.
  static std::vector<std::string> names_in(const std::string& range) {
    const std::size_t open = range.find('[');
    if (open == std::string::npos) return {range};
    const std::size_t close = range.find(']', open);
    const std::size_t dash = range.find('-', open);
    if (close == std::string::npos || dash == std::string::npos || dash > close ||
        range.find('[', close) != std::string::npos)
      return {};
    const std::string_view low = std::string_view(range).substr(open + 1, dash - open - 1);
    const std::optional<std::int64_t> from = figure_of(low);
    const std::optional<std::int64_t> to = figure_of(std::string_view(range).substr(dash + 1, close - dash - 1));
    if (!from || !to || *to < *from || *to - *from >= 65'536) return {};
    std::vector<std::string> names;
    for (std::int64_t i = *from; i <= *to; ++i) {
      names.push_back(
          fmt::format("{}{:0{}}{}", range.substr(0, open), i, static_cast<int>(low.size()), range.substr(close + 1)));
    }
    return names;
  }

  /// Labels of each node: its switch, the one above it, and so on. How many levels there are.
  std::size_t label_switches(std::map<std::string, std::vector<std::string>>& labels) {
    std::map<std::string, std::string> above;
    for (const switch_entry& one : switches_) {
      for (const std::string& range : one.switches) {
        for (const std::string& name : names_in(range)) above.try_emplace(name, one.name);
      }
    }
    std::size_t levels = 0;
    for (const switch_entry& one : switches_) {
      for (const std::string& range : one.nodes) {
        for (const std::string& node : names_in(range)) {
          std::vector<std::string>& path = labels[node];
          if (!path.empty()) continue;
          for (std::string at = one.name; !at.empty() && path.size() < switches_.size();) {
            path.push_back(at);
            const auto up = above.find(at);
            at = up == above.end() ? "" : up->second;
          }
          levels = std::max(levels, path.size());
        }
      }
    }
    return levels;
  }

  void add_rows() {
    if (nodes_.empty()) return;
    std::map<std::string, std::vector<std::string>> switches;
    const std::size_t levels = label_switches(switches);
    if (levels > 0) {
      std::vector<std::string> keys;
      for (std::size_t i = levels; i > 0; --i) keys.push_back(fmt::format("slurm.switch/{}", i));
      made_.rows.push_back(fmt::format("topology switches levels=[{}] primary", joined(keys)));
    }
    for (const node_entry& one : nodes_) {
      const std::vector<std::string> names = switches.empty() ? std::vector<std::string>{} : names_in(one.names);
      if (names.empty()) {
        made_.rows.push_back(row_of(one.names, one, {}));
        continue;
      }
      for (const std::string& name : names) {
        const auto found = switches.find(name);
        made_.rows.push_back(row_of(name, one, found == switches.end() ? std::vector<std::string>{} : found->second));
      }
    }
    for (const std::string& one : queues_) made_.rows.push_back(one);
  }

  static std::string row_of(const std::string& name, const node_entry& node, const std::vector<std::string>& path) {
    std::vector<std::string> labels = node.labels;
    for (std::size_t i = 0; i < path.size(); ++i) labels.push_back(fmt::format("slurm.switch/{}={}", i + 1, path[i]));
    const std::string told = labels.empty() ? "" : fmt::format(" labels={{{}}}", joined(labels));
    return fmt::format("node {} {}{}", name, node.columns, told);
  }

  imported_policy made_;
  bool is_multifactor_ = false;  ///< priority/basic is the default
  std::map<std::string, std::string, std::less<>> weights_;
  std::map<std::string, std::string, std::less<>> options_;
  std::optional<std::int64_t> restricted_;  ///< cores for each GPU
  std::vector<node_entry> nodes_;
  std::vector<std::string> queues_;
  std::vector<switch_entry> switches_;
};

}  // namespace

bool is_slurm_configuration(std::string_view text) {
  static constexpr std::array<std::string_view, 6> first_keys{"clustername",   "nodename",      "partitionname",
                                                              "schedulertype", "slurmctldhost", "switchname"};
  const std::vector<slurm_line> lines = lines_of(text);
  return std::any_of(lines.begin(), lines.end(), [](const slurm_line& line) {
    return std::ranges::find(first_keys, line.fields.front().key) != first_keys.end();
  });
}

imported_policy import_slurm(std::string_view text) { return slurm_import().read(text); }

}  // namespace kaisched::io::importers
