#include "render.hpp"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace cuda_agent {

namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  const int size = std::snprintf(nullptr, 0, pattern, values...);
  std::string text(static_cast<std::size_t>(size) + 1, '\0');
  (void)std::snprintf(text.data(), text.size(), pattern, values...);
  text.pop_back();
  return text;
}

std::string gib(std::uint64_t bytes) {
  if (bytes == KL_NO_LIMIT) return "-";
  return format("%.2f", static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << 30U));
}

std::string percent(std::int64_t permille) {
  return permille < 0 ? "-" : format("%" PRId64 ".%" PRId64, permille / 10, permille % 10);
}

/// How much of `whole` is `part`: '#' used, '.' granted and free.
std::string bar(std::uint64_t part, std::uint64_t whole) {
  constexpr std::size_t width = 16;
  if (whole == 0 || whole == KL_NO_LIMIT) return std::string(width, ' ');
  const double share = static_cast<double>(std::min(part, whole)) / static_cast<double>(whole);
  const auto filled = static_cast<std::size_t>(std::lround(share * static_cast<double>(width)));
  return std::string(filled, '#') + std::string(width - filled, '.');
}

std::string line(const std::string& name, const std::string& processes, const std::string& bytes,
                 const std::string& granted, const std::string& memory_bar, const std::string& cores,
                 const std::string& granted_cores, const std::string& core_bar, const std::string& refused) {
  std::string text = format("%-22s %5s %8s %8s %-16s %6s %7s %-16s %7s", name.c_str(), processes.c_str(), bytes.c_str(),
                            granted.c_str(), memory_bar.c_str(), cores.c_str(), granted_cores.c_str(), core_bar.c_str(),
                            refused.c_str());
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::uint64_t positive(std::int64_t value) { return value < 0 ? 0 : static_cast<std::uint64_t>(value); }

/// The text of a label, as Prometheus quotes it.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

std::string label(const card_row& card) {
  return "node=" + quoted(card.node) + ",card=" + quoted(std::to_string(card.index)) + ",uuid=" + quoted(card.uuid);
}

/// A metric with a series for each tenant of a card; a negative value: there is none.
struct tenant_metric {
  const char* name;
  const char* type;
  const char* help;
  double (*value)(const tenant_row& row);
};

double seconds(std::uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

/// A number of the state of a tenant.
template <std::uint64_t kl_device_state::* Field>
double state(const tenant_row& row) {
  return static_cast<double>(row.state.*Field);
}

constexpr tenant_metric tenant_metrics[] = {
    {"kaisched_cuda_memory_limit_bytes", "gauge", "Most that the tenant may hold; absent without a limit.",
     [](const tenant_row& row) {
       return row.state.limits.memory_bytes == KL_NO_LIMIT ? -1.0 : static_cast<double>(row.state.limits.memory_bytes);
     }},
    {"kaisched_cuda_memory_held_bytes", "gauge", "Reserved and in use.", state<&kl_device_state::held_bytes>},
    {"kaisched_cuda_memory_reserved_bytes", "gauge", "Reserved, not yet in use.",
     state<&kl_device_state::reserved_bytes>},
    {"kaisched_cuda_memory_peak_bytes", "gauge", "Most that was held.", state<&kl_device_state::peak_bytes>},
    {"kaisched_cuda_refused_total", "counter", "Requests for memory that were refused.",
     state<&kl_device_state::refused>},
    {"kaisched_cuda_imports_total", "counter", "Memory of others that was opened, which costs nothing.",
     state<&kl_device_state::imports>},
    {"kaisched_cuda_imported_bytes_total", "counter", "Its bytes, where the driver tells them.",
     state<&kl_device_state::imported_bytes>},
    {"kaisched_cuda_core_limit_ratio", "gauge", "Granted share of the card's compute.",
     [](const tenant_row& row) { return static_cast<double>(row.granted_permille) / 1000.0; }},
    {"kaisched_cuda_core_now_ratio", "gauge", "What of it may be taken until the agent's next look.",
     [](const tenant_row& row) { return row.state.limits.core_permille / 1000.0; }},
    {"kaisched_cuda_busy_seconds_total", "counter", "GPU time.",
     [](const tenant_row& row) { return seconds(row.state.busy_ns); }},
    {"kaisched_cuda_waited_seconds_total", "counter", "Time that launches were made to wait.",
     [](const tenant_row& row) { return seconds(row.state.waited_ns); }},
    {"kaisched_cuda_launches_total", "counter", "Launches.", state<&kl_device_state::launches>},
    {"kaisched_cuda_processes", "gauge", "Processes that use the card.",
     [](const tenant_row& row) { return static_cast<double>(row.processes); }},
};

}  // namespace

std::string render_table(const report& of) {
  std::string out = line("CARD / tenant", "PROCS", "USED GiB", "GRANTED", "", "CORES%", "GRANTED", "", "REFUSED");
  for (const card_row& card : of.cards) {
    std::uint32_t processes = 0;
    std::uint64_t refused = 0;
    for (const tenant_row& row : card.tenants) {
      processes += row.processes;
      refused += row.state.refused;
    }
    const std::string name = (card.node.empty() ? "" : card.node + "/") + std::to_string(card.index);
    out +=
        line(name + " of " + gib(card.total_bytes) + " GiB", std::to_string(processes), gib(card.held_bytes),
             gib(card.granted_bytes), bar(card.held_bytes, card.total_bytes), percent(card.used_permille),
             percent(card.granted_permille), bar(positive(card.used_permille), KL_WHOLE_CARD), std::to_string(refused));
    for (const tenant_row& row : card.tenants)
      out += line("  " + row.tenant + (row.leaving ? " (leaving)" : ""), std::to_string(row.processes),
                  gib(row.state.held_bytes), gib(row.state.limits.memory_bytes),
                  bar(row.state.held_bytes, row.state.limits.memory_bytes), percent(row.used_permille),
                  percent(row.granted_permille), bar(positive(row.used_permille), positive(row.granted_permille)),
                  std::to_string(row.state.refused));
  }
  if (of.cards.empty()) out += "nobody has been granted anything\n";
  for (const std::string& error : of.errors) out += "error: " + error + "\n";
  return out;
}

std::string render_json(const report& of) {
  using json = nlohmann::ordered_json;
  const auto tenant_of = [](const tenant_row& row) {
    const kl_limits& limits = row.state.limits;
    return json{{"tenant", row.tenant},
                {"processes", row.processes},
                {"leaving", row.leaving},
                {"memory_limit_bytes", limits.memory_bytes == KL_NO_LIMIT ? json() : json(limits.memory_bytes)},
                {"held_bytes", row.state.held_bytes},
                {"reserved_bytes", row.state.reserved_bytes},
                {"peak_bytes", row.state.peak_bytes},
                {"overrun_bytes", row.state.overrun_bytes},
                {"refused", row.state.refused},
                {"imports", row.state.imports},
                {"imported_bytes", row.state.imported_bytes},
                {"core_permille", row.granted_permille},
                {"core_now_permille", limits.core_permille},
                {"used_permille", row.used_permille},
                {"busy_ns", row.state.busy_ns},
                {"waited_ns", row.state.waited_ns},
                {"launches", row.state.launches}};
  };
  json all{{"schema", "kaisched-cuda-usage/1"}, {"reaped", of.reaped}, {"errors", of.errors}, {"cards", json::array()}};
  for (const card_row& card : of.cards) {
    json one{{"node", card.node},
             {"index", card.index},
             {"uuid", card.uuid},
             {"utilization", card.utilization},
             {"deviation", card.deviation},
             {"total_bytes", card.total_bytes},
             {"granted_bytes", card.granted_bytes},
             {"held_bytes", card.held_bytes},
             {"granted_permille", card.granted_permille},
             {"used_permille", card.used_permille},
             {"tenants", json::array()}};
    for (const tenant_row& row : card.tenants) one["tenants"].push_back(tenant_of(row));
    all["cards"].push_back(std::move(one));
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string render_prometheus(const report& of) {
  std::string out;
  for (const tenant_metric& one : tenant_metrics) {
    out += format("# HELP %s %s\n# TYPE %s %s\n", one.name, one.help, one.name, one.type);
    for (const card_row& card : of.cards)
      for (const tenant_row& row : card.tenants) {
        if (one.value(row) < 0) continue;
        out += std::string(one.name) + "{" + label(card) + ",tenant=" + quoted(row.tenant) + "} " +
               format("%.17g", one.value(row)) + "\n";
      }
  }
  out += "# HELP kaisched_cuda_card_memory_bytes Memory of the card.\n# TYPE kaisched_cuda_card_memory_bytes gauge\n";
  for (const card_row& card : of.cards)
    out += "kaisched_cuda_card_memory_bytes{" + label(card) + "} " + std::to_string(card.total_bytes) + "\n";
  out += "# HELP kaisched_cuda_reaped_total Processes that died without giving back what they held.\n";
  out += "# TYPE kaisched_cuda_reaped_total counter\nkaisched_cuda_reaped_total " + std::to_string(of.reaped) + "\n";
  out += "# HELP kaisched_cuda_errors What went wrong at the last look.\n# TYPE kaisched_cuda_errors gauge\n";
  out += "kaisched_cuda_errors " + std::to_string(of.errors.size()) + "\n";
  return out;
}

}  // namespace cuda_agent
