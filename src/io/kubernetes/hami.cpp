#include "io/kubernetes/hami.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "io/json_document.hpp"
#include "io/kubernetes/object.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// HAMi counts in 32 bits.
constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t end = 0;
  while ((end = text.find(separator)) != std::string_view::npos) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

/// An integer of 32 bits.
bool read_number(std::string_view text, std::int64_t& to) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || failure != std::errc{} || end != text.data() + text.size()) return false;
  to = number;
  return true;
}

/// Words that the library of HAMi takes for true and false.
bool read_flag(std::string_view text, bool& to) {
  constexpr std::array<std::string_view, 6> yes{"1", "t", "T", "true", "TRUE", "True"};
  constexpr std::array<std::string_view, 6> no{"0", "f", "F", "false", "FALSE", "False"};
  for (const std::string_view word : yes) {
    if (text == word) return to = true;
  }
  for (const std::string_view word : no) {
    if (text == word) {
      to = false;
      return true;
    }
  }
  return false;
}

std::optional<std::vector<hami_device>> decode_legacy(std::string_view text) {
  if (text.find(':') == std::string_view::npos) return std::nullopt;
  std::vector<hami_device> devices;
  for (const std::string_view part : split(text, ':')) {
    if (part.empty()) continue;
    const std::vector<std::string_view> fields = split(part, ',');
    if (fields.size() != 7 && fields.size() != 9) return std::nullopt;
    hami_device device;
    device.id = fields[0];
    device.type = fields[4];
    device.mode = fields.size() == 9 ? fields[8] : std::string_view("hami-core");
    if (!read_number(fields[1], device.count) || !read_number(fields[2], device.memory) ||
        !read_number(fields[3], device.cores) || !read_number(fields[5], device.numa) ||
        !read_flag(fields[6], device.healthy)) {
      return std::nullopt;
    }
    if (fields.size() == 9 && (!read_number(fields[7], device.index) || device.index < 0)) return std::nullopt;
    devices.push_back(std::move(device));
  }
  return devices;
}

/// A member of a record; members that are zero or empty are not written.
bool read_member(member record, std::string_view key, std::int64_t& to) {
  const member found = find(record, key);
  if (!found) return true;
  if (!found->is(json_kind::integer) || found->integer() > most || found->integer() < -most) return false;
  to = found->integer();
  return true;
}
bool read_member(member record, std::string_view key, std::string& to) {
  const member found = find(record, key);
  if (!found) return true;
  if (!found->is(json_kind::string) || found->text().find('\0') != std::string_view::npos) return false;
  to = found->text();
  return true;
}

std::optional<std::vector<hami_device>> decode_json(std::string_view text) {
  const result<json_document> document = json_document::parse(text, "");
  if (!document || !document->root().is(json_kind::array)) return std::nullopt;
  std::vector<hami_device> devices;
  for (const json_value record : document->root()) {
    if (!record.is(json_kind::object)) return std::nullopt;
    hami_device device;
    if (!read_member(record, "id", device.id) || !read_member(record, "index", device.index) ||
        !read_member(record, "count", device.count) || !read_member(record, "devmem", device.memory) ||
        !read_member(record, "devcore", device.cores) || !read_member(record, "type", device.type) ||
        !read_member(record, "numa", device.numa) || !read_member(record, "mode", device.mode) || device.index < 0) {
      return std::nullopt;
    }
    if (const member healthy = find(record, "health")) {
      if (!healthy->is(json_kind::boolean)) return std::nullopt;
      device.healthy = healthy->boolean();
    }
    if (const member info = find(record, "custominfo"); info && info->is(json_kind::object)) {
      for (const json_value one : *info) {
        if (one.is(json_kind::string)) device.attributes.emplace_back(one.key(), one.text());
        if (one.is(json_kind::integer)) device.attributes.emplace_back(one.key(), std::to_string(one.integer()));
      }
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

/// A text without the separators of a form.
result<void> check_field(std::string_view text, std::string_view separators) {
  const std::size_t at = text.find_first_of(separators);
  if (at == std::string_view::npos) return {};
  return error{status::argument, fmt::format("\"{}\" holds the separator \"{}\"", base::shown(text), text[at]), {}};
}

}  // namespace

std::optional<std::vector<hami_device>> decode_hami_devices(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') return decode_json(text);
  return decode_legacy(text);
}

std::optional<hami_grants> decode_hami_grants(std::string_view text) {
  hami_grants grants;
  if (text.empty()) return grants;
  // The text behind the last container is no container.
  if (text.ends_with(';')) text.remove_suffix(1);
  for (const std::string_view container : split(text, ';')) {
    std::vector<hami_grant>& of = grants.emplace_back();
    for (const std::string_view part : split(container, ':')) {
      if (part.find(',') == std::string_view::npos) continue;
      const std::vector<std::string_view> fields = split(part, ',');
      hami_grant grant;
      if (fields.size() < 4 || !read_number(fields[2], grant.memory) || !read_number(fields[3], grant.cores)) {
        return std::nullopt;
      }
      grant.id = fields[0];
      grant.type = fields[1];
      of.push_back(std::move(grant));
    }
  }
  return grants;
}

result<std::string> encode_hami_grants(const hami_grants& grants) {
  std::string text;
  for (const std::vector<hami_grant>& container : grants) {
    for (const hami_grant& one : container) {
      for (const std::string* field : {&one.id, &one.type}) {
        if (auto sound = check_field(*field, ",:;"); !sound) return sound.take_failure();
      }
      text += fmt::format("{},{},{},{}:", one.id, one.type, one.memory, one.cores);
    }
    text += ';';
  }
  return text;
}

namespace {

constexpr std::string_view requesting = "Requesting_";
constexpr std::string_view deleted = "Deleted_";
constexpr std::string_view reported = "Reported ";

}  // namespace

hami_handshake decode_hami_handshake(std::string_view text) {
  const auto behind = [&](std::string_view word) { return std::string(text.substr(word.size())); };
  if (text.starts_with(requesting)) return {hami_handshake_state::requesting, behind(requesting)};
  if (text.starts_with(deleted)) return {hami_handshake_state::deleted, behind(deleted)};
  if (text.starts_with(reported)) return {hami_handshake_state::reported, behind(reported)};
  return {hami_handshake_state::reported, {}};
}

}  // namespace kaisched::io::kubernetes
