#include "inventory.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace device_plugin {

namespace {

using nlohmann::json;

std::string place_of(const std::string& source, std::size_t card, const std::string& field) {
  return fmt::format("{}: cards[{}].{}", source, card, field);
}

template <class Number>
Number whole_number(const json& value, const std::string& place, Number least) {
  if (!value.is_number_integer() && !value.is_number_unsigned())
    throw bad_inventory(fmt::format("{}: expected a whole number, found {}", place, value.dump()));
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::uint64_t{INT64_MAX})
    throw bad_inventory(fmt::format("{}: {} is too large", place, value.dump()));
  const auto number = value.get<std::int64_t>();
  if (number < static_cast<std::int64_t>(least))
    throw bad_inventory(fmt::format("{}: {} is less than {}", place, number, least));
  return static_cast<Number>(number);
}

/// UUIDs stand in identifiers of slices and in variables, between commas.
bool is_uuid(const std::string& text) {
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [](char one) {
    return (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || one == '-' ||
           one == '_' || one == '.' || one == '/';
  });
}

card read_card(const json& of, const std::string& source, std::size_t at) {
  if (!of.is_object()) throw bad_inventory(fmt::format("{}: cards[{}]: expected an object", source, at));
  card made;
  for (const auto& [key, value] : of.items()) {
    const std::string place = place_of(source, at, key);
    if (key == "uuid") {
      if (!value.is_string() || !is_uuid(value.get<std::string>()))
        throw bad_inventory(
            fmt::format("{}: expected 1 to 128 letters, digits, '-', '_', '.' and '/', found {}", place, value.dump()));
      made.uuid = value.get<std::string>();
    } else if (key == "minor") {
      made.minor = whole_number<std::int64_t>(value, place, -1);
    } else if (key == "memory") {
      made.memory_bytes = whole_number<std::uint64_t>(value, place, 0);
    } else if (key == "numa") {
      made.numa = whole_number<std::int64_t>(value, place, -1);
    } else if (key == "healthy") {
      if (!value.is_boolean()) throw bad_inventory(place + ": expected true or false");
      made.healthy = value.get<bool>();
    } else if (key == "model") {
      if (!value.is_string()) throw bad_inventory(place + ": expected a text");
      made.model = value.get<std::string>();
    } else {
      throw bad_inventory(place + ": unknown field");
    }
  }
  if (made.uuid.empty()) throw bad_inventory(place_of(source, at, "uuid") + ": is missing");
  return made;
}

class file_inventory final : public inventory {
 public:
  explicit file_inventory(std::filesystem::path file) : file_(std::move(file)) {}
  std::vector<card> look() override {
    std::ifstream in(file_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (in.bad() || !in.is_open()) throw bad_inventory(file_.string() + ": cannot be read");
    return read_cards(text, file_.string());
  }

 private:
  std::filesystem::path file_;
};

}  // namespace

std::vector<card> read_cards(const std::string& text, const std::string& source) {
  const json all = json::parse(text, nullptr, false);
  if (all.is_discarded()) throw bad_inventory(source + ": is no JSON");
  if (!all.is_object() || !all.contains("cards") || !all["cards"].is_array())
    throw bad_inventory(source + ": expected an object with a list 'cards'");
  if (all.size() != 1) throw bad_inventory(source + ": has more than 'cards'");
  std::vector<card> made;
  std::set<std::string> uuids;
  for (std::size_t i = 0; i < all["cards"].size(); ++i) {
    made.push_back(read_card(all["cards"][i], source, i));
    if (!uuids.insert(made.back().uuid).second)
      throw bad_inventory(fmt::format("{}: '{}' is there twice", place_of(source, i, "uuid"), made.back().uuid));
  }
  std::sort(made.begin(), made.end(),
            [](const card& a, const card& b) { return std::tie(a.minor, a.uuid) < std::tie(b.minor, b.uuid); });
  return made;
}

std::unique_ptr<inventory> cards_of_file(std::filesystem::path file) {
  return std::make_unique<file_inventory>(std::move(file));
}

}  // namespace device_plugin
