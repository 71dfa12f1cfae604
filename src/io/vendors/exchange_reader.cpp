#include "io/vendors/exchange_reader.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kaisched::io {

namespace {

using devices::found_devices;
using devices::found_number;
using devices::text_pattern;
using devices::told_annotation;
using devices::told_containers;
using devices::told_grants;

constexpr std::array<std::pair<std::string_view, told_grants>, 6> grant_words{
    {{"pod", told_grants::pod},
     {"first_device", told_grants::first_device},
     {"last_container", told_grants::last_container},
     {"devices", told_grants::devices},
     {"cores", told_grants::cores},
     {"containers", told_grants::containers}}};
constexpr std::array<std::pair<std::string_view, told_containers>, 3> container_words{
    {{"all", told_containers::all}, {"count", told_containers::by_count}, {"cores", told_containers::by_cores}}};

/// A text with names in angle brackets; `known` says which ones there are, empty: any.
text_pattern read_pattern(field_reader& of, std::string_view name, const std::vector<std::string>& known) {
  text_pattern made;
  const std::optional<json_value> at = of.value(name);
  if (!at) return made;
  const std::string whole = of.text(name);
  for (std::string_view rest = whole; !rest.empty();) {
    const std::size_t open = rest.find('<');
    if (open != 0) made.push_back({false, std::string(rest.substr(0, open))});
    if (open == std::string_view::npos) break;
    const std::size_t close = rest.find('>', open);
    if (close == std::string_view::npos || close == open + 1) {
      of.fail(*at, name, fmt::format("expected a name and '>' behind '<', found {}", at->shown()));
      break;
    }
    std::string piece(rest.substr(open + 1, close - open - 1));
    if (!known.empty() && std::find(known.begin(), known.end(), piece) == known.end()) {
      of.fail(*at, name, fmt::format("no such name: <{}>; known are {}", piece, fmt::join(known, ", ")));
    }
    made.push_back({true, std::move(piece)});
    rest.remove_prefix(close + 1);
  }
  return made;
}

/// An integer that is not negative, or an object that says where it comes from.
found_number read_number(field_reader& owner, std::string_view name, bool counted) {
  found_number made;
  const std::optional<json_value> given = owner.value(name);
  if (!given) return made;
  const auto check = [&](field_reader& of, std::string_view field, std::int64_t value, std::int64_t least) {
    if (value < least) of.fail(*given, field, fmt::format("expected at least {}, found {}", least, value));
  };
  if (!given->is(json_kind::object)) {
    made.fixed = owner.integer(name);
    check(owner, name, made.fixed, 0);
    return made;
  }
  field_reader of = owner.inside(*given, name);
  const std::string_view source = counted ? "resource" : "member";
  (counted ? made.resource : made.member) = of.text(source);
  if (made.resource.empty() && made.member.empty()) of.require(source);
  made.unit = of.integer("unit", 1);
  check(of, "unit", made.unit, 1);
  made.most = of.integer("most", made.most);
  check(of, "most", made.most, 0);
  made.bits = of.boolean("bits");
  of.finish();
  return made;
}

void read_attributes(field_reader& of, bool counted, found_devices& made) {
  std::size_t i = 0;
  for (const json_value one : of.elements("attributes")) {
    field_reader attribute = of.inside(one, "attributes", i++);
    attribute.require("name");
    devices::found_attribute read;
    read.name = attribute.text("name");
    read.label = attribute.text("label");
    if (!counted) read.member = attribute.text("member");
    read.otherwise = read_pattern(attribute, "otherwise", {"node", "index"});
    if (read.label.empty() == read.member.empty()) {
      attribute.fail(one, "label", counted ? "expected the name of a label" : "expected either a label or a member");
    }
    attribute.finish();
    made.attributes.push_back(std::move(read));
  }
}

void read_count(field_reader& owner, json_value given, found_devices& made) {
  field_reader of = owner.inside(given, "count");
  of.require("resource");
  made.resource = of.text("resource");
  made.per_device = of.integer("per_device", 1);
  if (made.per_device < 1) {
    of.fail(given, "per_device", fmt::format("expected at least 1, found {}", made.per_device));
  }
  of.finish();
}

/// Two devices of a node must not have one id.
void check_id(field_reader& of, const found_devices& made, bool counted) {
  const bool tells_apart = std::any_of(made.id.begin(), made.id.end(), [&](const auto& piece) {
    return piece.named && (counted ? piece.text == "index" : piece.text != "node");
  });
  const std::optional<json_value> at = of.value("id");
  if (at && at->is(json_kind::string) && !tells_apart) {
    of.fail(*at, "id", counted ? "expected <index> in it" : "expected <index> or a member of the records in it");
  }
}

std::vector<std::string> known_names(const told_annotation& one, const devices::vendor_template& vendor) {
  std::vector<std::string> known{"node"};
  if (one.of == told_grants::pod) return known;
  for (const char* name : {"device", "type", "index", "slots", "memory", "cores", "profile", "profile_id"}) {
    known.emplace_back(name);
  }
  if (one.of == told_grants::cores) known.emplace_back("core");
  if (!vendor.found) return known;
  for (const devices::found_attribute& attribute : vendor.found->attributes) known.push_back(attribute.name);
  return known;
}

void read_record(field_reader& owner, json_value given, const std::vector<std::string>& known, told_annotation& made) {
  field_reader of = owner.inside(given, "record");
  for (const json_value one : given) {
    if (one.is(json_kind::boolean)) {
      made.record.push_back({std::string(one.key()), one.boolean()});
    } else if (one.is(json_kind::integer)) {
      made.record.push_back({std::string(one.key()), one.integer()});
    } else if (one.is(json_kind::string)) {
      if (std::find(known.begin(), known.end(), one.text()) == known.end()) {
        of.fail(one, one.key(), fmt::format("no such name: {}; known are {}", one.shown(), fmt::join(known, ", ")));
      }
      made.record.push_back({std::string(one.key()), std::string(one.text())});
    } else {
      of.fail(one, one.key(), fmt::format("expected a name, an integer, true or false, found {}", one.shown()));
    }
  }
}

told_annotation read_told(field_reader of, json_value at, const devices::vendor_template& vendor) {
  told_annotation made;
  of.require("annotation");
  made.key = of.text("annotation");
  made.of = of.word<told_grants>("of", grant_words);
  made.by = of.word<told_containers>("by", container_words);
  made.memory_unit = of.mebibytes("memory_unit_mib", devices::mebibyte);
  if (made.memory_unit == 0) of.fail(at, "memory_unit_mib", "expected at least 1, found 0");
  const std::vector<std::string> known = known_names(made, vendor);
  made.text = read_pattern(of, "text", known);
  const bool may_record = made.of == told_grants::devices || made.of == told_grants::containers;
  if (const std::optional<json_value> record = of.object("record")) {
    if (!may_record) of.fail(*record, "record", "it is for \"of\": \"devices\" or \"containers\"");
    read_record(of, *record, known, made);
  }
  if (made.text.empty() == made.record.empty()) of.fail(at, "text", "expected either a text or a record");
  if (made.of == told_grants::containers && made.record.empty()) of.require("record");
  of.finish();
  return made;
}

}  // namespace

void read_found(field_reader& vendor, devices::vendor_template& made) {
  const std::optional<json_value> given = vendor.object("found");
  if (!given) return;
  field_reader of = vendor.inside(*given, "found");
  found_devices read;
  const std::optional<json_value> count = of.object("count");
  const bool counted = count.has_value();
  if (counted) read_count(of, *count, read);
  read.annotation = of.text("annotation");
  if (counted == !read.annotation.empty()) of.fail(*given, "count", "expected either a count or an annotation");
  const std::vector<std::string> known =
      counted ? std::vector<std::string>{"node", "index"} : std::vector<std::string>{};
  of.require("id");
  read.id = read_pattern(of, "id", known);
  check_id(of, read, counted);
  read.slots = read_number(of, "slots", counted);
  read.memory = read_number(of, "memory_mib", counted);
  read.cores = read_number(of, "cores", counted);
  if (counted) {
    read.numa_nodes = of.integer("numa_nodes", 1);
    if (read.numa_nodes < 1)
      of.fail(*given, "numa_nodes", fmt::format("expected at least 1, found {}", read.numa_nodes));
  } else {
    read.list = of.text("list");
    read.profiles = of.text("profiles");
    read.index = of.text("index");
    read.numa = read_number(of, "numa", counted);
    read.healthy = of.text("healthy");
  }
  read_attributes(of, counted, read);
  of.finish();
  made.found = std::move(read);
}

void read_tells(field_reader& vendor, devices::vendor_template& made) {
  std::size_t i = 0;
  for (const json_value one : vendor.elements("tells")) {
    made.tells.push_back(read_told(vendor.inside(one, "tells", i++), one, made));
  }
}

}  // namespace kaisched::io
