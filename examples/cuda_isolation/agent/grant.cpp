#include "grant.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>

#include <nlohmann/json.hpp>

namespace cuda_agent {

namespace {

using json = nlohmann::ordered_json;

constexpr std::string_view schema = "kaisched-grant/1";

/// Reads the fields of one object, and in the end complains of those that nobody asked for.
class fields {
 public:
  fields(const json& object, std::string where) : object_(object), where_(std::move(where)) {
    if (!object.is_object()) throw bad_grant(where_ + ": must be an object");
  }
  [[noreturn]] void complain(const std::string& field, const std::string& what) const {
    throw bad_grant(where_ + ": " + field + ": " + what);
  }
  const json* find(const std::string& field, bool required) {
    known_.push_back(field);
    const auto found = object_.find(field);
    if (found != object_.end()) return &*found;
    if (required) complain(field, "is missing");
    return nullptr;
  }
  std::string text(const std::string& field, bool required) {
    const json* value = find(field, required);
    if (value == nullptr) return {};
    if (!value->is_string()) complain(field, "must be a text");
    return value->get<std::string>();
  }
  std::int64_t number(const std::string& field, bool required, std::int64_t fallback, std::int64_t least,
                      std::int64_t most) {
    const json* value = find(field, required);
    if (value == nullptr) return fallback;
    const bool huge = value->is_number_unsigned() && value->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
    if (!value->is_number_integer() || huge || value->get<std::int64_t>() < least || value->get<std::int64_t>() > most)
      complain(field, "must be a whole number of " + std::to_string(least) + " to " + std::to_string(most));
    return value->get<std::int64_t>();
  }
  void end() const {
    for (const auto& [field, value] : object_.items())
      if (std::find(known_.begin(), known_.end(), field) == known_.end()) complain(field, "is not known");
  }

 private:
  const json& object_;
  std::string where_;
  std::vector<std::string> known_;
};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() < KL_NAME_SIZE && text.front() != '.' &&
         std::all_of(
             text.begin(), text.end(),
             [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      std::strchr("._-", c);
             });
}

card_grant read_card(const json& object, const std::string& where) {
  fields f(object, where);
  card_grant card;
  card.uuid = f.text("uuid", true);
  if (card.uuid.empty() || card.uuid.size() >= KL_UUID_SIZE || card.uuid.find(' ') != std::string::npos)
    f.complain("uuid", "must be the UUID of a card");
  card.index = f.number("index", false, 0, 0, 63);
  card.total_bytes = static_cast<std::uint64_t>(f.number("total_bytes", false, 0, 0, std::int64_t{KL_BYTES_MAX}));
  if (const json* memory = f.find("memory_bytes", true); !memory->is_null())
    card.memory_bytes = static_cast<std::uint64_t>(f.number("memory_bytes", true, 0, 0, std::int64_t{KL_BYTES_MAX}));
  card.core_permille = static_cast<std::uint32_t>(f.number("core_permille", true, 0, 0, KL_WHOLE_CARD));
  card.core_weight = static_cast<std::uint32_t>(f.number("core_weight", false, 0, 0, KL_WHOLE_CARD));
  card.priority = static_cast<std::int32_t>(f.number("priority", false, 0, INT32_MIN, INT32_MAX));
  f.end();
  return card;
}

}  // namespace

kl_limits card_grant::limits(bool open) const {
  return {memory_bytes.value_or(KL_NO_LIMIT), core_permille, core_weight, priority, open ? 1U * KL_FLAG_OPEN : 0U};
}

grant read_grant(const std::string& text, const std::string& source) {
  json object;
  try {
    object = json::parse(text);
  } catch (const json::exception& failure) {
    throw bad_grant(source + ": " + failure.what());
  }
  fields f(object, source);
  grant g;
  if (f.text("schema", true) != schema) f.complain("schema", "must be " + std::string(schema));
  g.tenant = f.text("tenant", true);
  if (!is_name(g.tenant)) f.complain("tenant", "must be letters, digits, '.', '_' and '-'");
  g.node = f.text("node", false);
  const std::string mode = f.text("mode", false);
  if (!mode.empty() && mode != "strict" && mode != "open") f.complain("mode", "must be strict or open");
  g.open = mode == "open";
  const json* cards = f.find("devices", true);
  if (!cards->is_array() || cards->empty() || cards->size() > KL_DEVICES_MAX)
    f.complain("devices", "must be a list of 1 to " + std::to_string(KL_DEVICES_MAX) + " cards");
  for (std::size_t i = 0; i < cards->size(); ++i) {
    g.cards.push_back(read_card((*cards)[i], source + ": devices[" + std::to_string(i) + "]"));
    for (std::size_t k = 0; k < i; ++k)
      if (g.cards[k].uuid == g.cards[i].uuid)
        f.complain("devices[" + std::to_string(i) + "].uuid", g.cards[i].uuid + " is there twice");
  }
  f.end();
  return g;
}

std::string write_grant(const grant& g) {
  json object{{"schema", schema},
              {"tenant", g.tenant},
              {"node", g.node},
              {"mode", g.open ? "open" : "strict"},
              {"devices", json::array()}};
  for (const card_grant& card : g.cards) {
    object["devices"].push_back({{"uuid", card.uuid},
                                 {"index", card.index},
                                 {"total_bytes", card.total_bytes},
                                 {"memory_bytes", card.memory_bytes ? json(*card.memory_bytes) : json()},
                                 {"core_permille", card.core_permille},
                                 {"core_weight", card.core_weight},
                                 {"priority", card.priority}});
  }
  return object.dump(2) + "\n";
}

std::vector<std::string> environment(const grant& g, const std::string& ledger_folder) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20U;
  std::vector<std::string> lines{"KAISCHED_LEDGER=" + ledger_folder,
                                 std::string("KAISCHED_GUARD_MODE=") + (g.open ? "open" : "strict")};
  std::string uuids;
  for (const card_grant& card : g.cards) uuids += (uuids.empty() ? "" : ",") + card.uuid;
  lines.push_back("CUDA_VISIBLE_DEVICES=" + uuids);
  lines.push_back("NVIDIA_VISIBLE_DEVICES=" + uuids);
  if (g.open) return lines;
  // HAMi has whole MiB and whole per cent, and takes 0 for no limit: so round down, but not to nothing.
  for (std::size_t i = 0; i < g.cards.size(); ++i) {
    const card_grant& card = g.cards[i];
    const std::string number = "_" + std::to_string(i) + "=";
    if (card.memory_bytes)
      lines.push_back("CUDA_DEVICE_MEMORY_LIMIT" + number +
                      std::to_string(std::max<std::uint64_t>(1, *card.memory_bytes / mib)) + "m");
    lines.push_back("CUDA_DEVICE_SM_LIMIT" + number + std::to_string(std::max(1U, card.core_permille / 10)));
  }
  const card_grant& first = g.cards.front();
  lines.push_back("CUDA_DEVICE_SM_LIMIT=" + std::to_string(std::max(1U, first.core_permille / 10)));
  if (first.memory_bytes) lines.push_back("GPU_MEMORY_LIMIT=" + std::to_string(*first.memory_bytes));
  lines.push_back(std::string("CUDA_TASK_PRIORITY=") + (first.priority > 0 ? "0" : "1"));
  return lines;
}

}  // namespace cuda_agent
