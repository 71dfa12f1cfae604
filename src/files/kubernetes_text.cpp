#include "files/kubernetes_text.hpp"

#include <algorithm>
#include <cstddef>

#include "files/yaml_document.hpp"
#include "io/json_document.hpp"
#include "io/kubernetes/kai_snapshot.hpp"
#include "io/kubernetes/translation.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view blanks = " \t\r\n";

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

bool marks_object(std::string_view key) { return key == "apiVersion" || key == "kind" || key == snapshot_objects; }

/// Looks for the keys of the first object without reading the text: what is wrong in it is for the parser to say.
bool is_likely_json(std::string_view text) {
  std::size_t depth = 0;
  std::size_t object_depth = 0;
  std::size_t at = 0;
  std::string_view last;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t begin = ++at;
      while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2U : 1U;
      if (at < text.size()) last = text.substr(begin, at - begin);
    } else if (c == ':' && depth == object_depth && marks_object(last)) {
      return true;
    } else if (c == '{' || c == '[') {
      ++depth;
      if (object_depth == 0 && c == '{') object_depth = depth;
    } else if (c == '}' || c == ']') {
      if (depth-- <= object_depth) return false;
    }
  }
  return false;
}

/// A line that starts with one of the keys.
bool is_likely_yaml(std::string_view text) {
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos && marks_object(line.substr(0, colon))) return true;
  }
  return false;
}

}  // namespace

bool is_likely(std::string_view text) {
  text = without_mark(text);
  return is_json(text) ? is_likely_json(text) : is_likely_yaml(text);
}

result<cluster_input> parse(std::string_view text, std::string_view source, const settings& chosen) {
  const result<json_document> texts =
      is_json(without_mark(text)) ? json_document::parse_stream(text, source) : parse_yaml_stream(text, source);
  if (!texts) return texts.failure();
  result<translation> read = translate(*texts, source, chosen);
  if (!read) return read.take_failure();
  return std::move(read->input);
}

}  // namespace kaisched::io::kubernetes
