#include "files/federation_file.hpp"

#include <algorithm>
#include <set>
#include <span>

#include <fmt/format.h>

#include "files/yaml_document.hpp"
#include "io/column_form.hpp"
#include "io/fault_log.hpp"
#include "io/files.hpp"
#include "io/json_document.hpp"

namespace kaisched::io {

namespace {

/// Reads values of the document, each at a place; after a fault what is read does not matter.
class federation_reader {
 public:
  explicit federation_reader(std::string_view source) : faults_(source) {}
  fault_log& faults() { return faults_; }

  void fail(json_value at, std::string_view place, std::string_view what) { faults_.add(at.line(), place, what); }

  [[nodiscard]] bool is(json_value value, json_kind kind, std::string_view place) {
    if (!value.is(kind)) fail(value, place, fmt::format("expected {}, found {}", json_kind_name(kind), value.shown()));
    return value.is(kind);
  }
  std::string text(json_value value, std::string_view place) {
    if (!is(value, json_kind::string, place)) return {};
    if (value.text().empty()) fail(value, place, "is empty");
    return std::string(value.text());
  }
  std::int64_t integer(json_value value, std::string_view place) {
    return is(value, json_kind::integer, place) ? value.integer() : 0;
  }
  std::vector<std::string> texts(json_value value, std::string_view place) {
    std::vector<std::string> made;
    each(value, place, [&](json_value one, const std::string& at) { made.push_back(text(one, at)); });
    return made;
  }
  std::vector<std::pair<std::string, std::string>> labels(json_value value, std::string_view place) {
    std::vector<std::pair<std::string, std::string>> made;
    if (!is(value, json_kind::object, place)) return made;
    for (const json_value one : value) made.emplace_back(one.key(), text(one, fmt::format("{}.{}", place, one.key())));
    std::sort(made.begin(), made.end());
    return made;
  }
  template <class Do>
  void each(json_value value, std::string_view place, const Do& act) {
    if (!is(value, json_kind::array, place)) return;
    std::size_t i = 0;
    for (const json_value one : value) act(one, fmt::format("{}[{}]", place, i++));
  }
  /// Members of an object by name: `act(member, place)` says false for one that there is not.
  template <class Do>
  void object(json_value value, std::string_view place, std::span<const std::string_view> known, const Do& act) {
    if (!is(value, json_kind::object, place)) return;
    for (const json_value one : value) {
      const std::string at = place.empty() ? std::string(one.key()) : fmt::format("{}.{}", place, one.key());
      if (std::find(known.begin(), known.end(), one.key()) == known.end()) {
        fail(one, at, fmt::format("no such member; {}", suggestion(one.key(), known)));
      } else {
        act(one, at);
      }
    }
  }

  member_info member(json_value value, const std::string& place) {
    static constexpr std::string_view known[]{"name", "labels", "price", "data", "open"};
    member_info made;
    object(value, place, known, [&](json_value one, const std::string& at) {
      if (one.key() == "name") made.name = text(one, at);
      if (one.key() == "labels") made.labels = labels(one, at);
      if (one.key() == "price") made.price = integer(one, at);
      if (one.key() == "data") made.data = texts(one, at);
      if (one.key() == "open") made.open = is(one, json_kind::boolean, at) && one.boolean();
    });
    if (made.name.empty()) fail(value, place, "\"name\" is missing");
    return made;
  }

  std::pair<std::string, group_wishes> group(json_value value, const std::string& place) {
    static constexpr std::string_view known[]{"name", "members", "required", "preferred", "data", "most_price"};
    std::string name;
    group_wishes made;
    object(value, place, known, [&](json_value one, const std::string& at) {
      if (one.key() == "name") name = text(one, at);
      if (one.key() == "members") made.members = texts(one, at);
      if (one.key() == "required") made.required = labels(one, at);
      if (one.key() == "most_price") made.most_price = integer(one, at);
      if (one.key() == "preferred")
        each(one, at, [&](json_value row, const std::string& here) { made.preferred.push_back(preferred(row, here)); });
      if (one.key() == "data")
        each(one, at, [&](json_value row, const std::string& here) { made.data.push_back(data(row, here)); });
    });
    if (name.empty()) fail(value, place, "\"name\" is missing");
    return {std::move(name), std::move(made)};
  }

 private:
  preferred_label preferred(json_value value, const std::string& place) {
    static constexpr std::string_view known[]{"key", "value", "weight"};
    preferred_label made;
    object(value, place, known, [&](json_value one, const std::string& at) {
      if (one.key() == "key") made.key = text(one, at);
      if (one.key() == "value") made.value = text(one, at);
      if (one.key() == "weight") made.weight = integer(one, at);
    });
    if (made.key.empty()) fail(value, place, "\"key\" is missing");
    return made;
  }
  wanted_data data(json_value value, const std::string& place) {
    static constexpr std::string_view known[]{"key", "weight"};
    wanted_data made;
    object(value, place, known, [&](json_value one, const std::string& at) {
      if (one.key() == "key") made.key = text(one, at);
      if (one.key() == "weight") made.weight = integer(one, at);
    });
    if (made.key.empty()) fail(value, place, "\"key\" is missing");
    return made;
  }

  fault_log faults_;
};

}  // namespace

result<federation_file> parse_federation(std::string_view text, std::string_view source) {
  const result<json_document> document = parse_json_or_yaml(text, source);
  if (!document) return document.failure();
  static constexpr std::string_view known[]{"schema", "description", "members", "groups"};
  federation_reader from(source);
  federation_file made;
  bool has_schema = false;
  std::set<std::string> names;
  from.object(document->root(), "", known, [&](json_value one, const std::string& at) {
    if (one.key() == "schema") {
      has_schema = one.is(json_kind::string) && one.text() == federation_schema;
      if (!has_schema) from.fail(one, at, fmt::format("expected \"{}\", found {}", federation_schema, one.shown()));
    }
    if (one.key() == "description") (void)from.text(one, at);
    if (one.key() == "members")
      from.each(one, at, [&](json_value row, const std::string& here) {
        made.members.push_back(from.member(row, here));
        if (!names.insert(made.members.back().name).second) from.fail(row, here, "a member of this name was there");
      });
    if (one.key() == "groups")
      from.each(one, at,
                [&](json_value row, const std::string& here) { made.groups.push_back(from.group(row, here)); });
  });
  if (!has_schema)
    from.fail(document->root(), "", fmt::format("\"schema\" is missing: expected \"{}\"", federation_schema));
  if (from.faults().failed()) return from.faults().take();
  return made;
}

result<federation_file> read_federation(const std::string& path) {
  const result<std::string> text = read_file(path);
  if (!text) return text.failure();
  return parse_federation(*text, path);
}

}  // namespace kaisched::io
