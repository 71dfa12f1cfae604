#include "http/framing.hpp"

#include <algorithm>

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>

#include "http/server.hpp"

namespace kaisched::http {

namespace {

namespace beast = boost::beast;
using beast::http::field;

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// A part of a target without its %-escapes; false if they are none.
bool decode(std::string_view text, bool plus_is_space, std::string& to) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      to += plus_is_space && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) return false;
    to += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return true;
}

}  // namespace

header_extent find_header(std::string_view text, std::size_t& scanned) {
  for (std::size_t at = scanned; at < text.size(); ++at) {
    if (text[at] == '\0') return {0, "a header has a NUL"};
    if (text[at] != '\n') continue;
    if (at == 0 || text[at - 1] != '\r') return {0, "a line ends without CR"};
    if (at + 1 < text.size() && (text[at + 1] == ' ' || text[at + 1] == '\t')) return {0, "a line is folded"};
    if (at + 1 == text.size()) {  // the next byte says more
      scanned = at;
      return {};
    }
    if (text[at + 1] != '\r') continue;
    if (at + 2 == text.size()) {
      scanned = at;
      return {};
    }
    if (text[at + 2] == '\n') return {at + 3, nullptr};
  }
  scanned = text.size();
  return {};
}

const char* framing_fault(const beast::http::request_header<>& of) {
  std::size_t hosts = 0;
  std::size_t encodings = 0;
  std::size_t lengths = 0;
  for (const auto& one : of) {
    hosts += static_cast<std::size_t>(one.name() == field::host);
    encodings += static_cast<std::size_t>(one.name() == field::transfer_encoding);
    lengths += static_cast<std::size_t>(one.name() == field::content_length);
  }
  if (hosts > 1) return "there are two fields Host";
  if (hosts == 0 && of.version() >= 11) return "the field Host is missing";
  if (lengths > 1) return "there are two fields Content-Length";
  const auto length = of[field::content_length];
  if (!std::all_of(length.begin(), length.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return "the Content-Length is no number";
  if (encodings == 0) return nullptr;
  if (encodings > 1 || !beast::iequals(of[field::transfer_encoding], "chunked"))
    return "no Transfer-Encoding but chunked, once, is understood";
  if (lengths > 0) return "Transfer-Encoding and Content-Length exclude each other";
  if (of.version() < 11) return "HTTP/1.0 has no Transfer-Encoding";
  return nullptr;
}

bool split_target(std::string_view target, std::string& path, std::vector<std::pair<std::string, std::string>>& query) {
  if (!target.starts_with('/')) return false;
  const std::size_t mark = std::min(target.find('?'), target.size());
  if (!decode(target.substr(0, mark), false, path)) return false;
  std::string_view rest = target.substr(std::min(mark + 1, target.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view one = rest.substr(0, end);
    const std::size_t equals = std::min(one.find('='), one.size());
    auto& [name, value] = query.emplace_back();
    if (!decode(one.substr(0, equals), true, name)) return false;
    if (equals < one.size() && !decode(one.substr(equals + 1), true, value)) return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

bool is_same_secret(std::string_view given, std::string_view expected) {
  unsigned difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const char other = given.empty() ? '\0' : given[i % given.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(other)) ^ static_cast<unsigned char>(expected[i]);
  }
  return difference == 0;
}

std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view scheme = "Bearer ";
  return authorization.starts_with(scheme) ? authorization.substr(scheme.size()) : std::string_view();
}

}  // namespace kaisched::http
