#include "io/cluster_input.hpp"

#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace kaisched::io {

namespace {

/// Reads `text` from its front.
class front_reader {
 public:
  explicit front_reader(std::string_view text) : text_(text) {}

  bool skip(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::size_t> number() {
    std::size_t value = 0;
    const std::from_chars_result read = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (read.ec != std::errc{}) return {};
    text_.remove_prefix(static_cast<std::size_t>(read.ptr - text_.data()));
    return value;
  }
  std::optional<std::string_view> until(std::string_view end) {
    const std::size_t at = text_.find(end);
    if (at == std::string_view::npos) return {};
    const std::string_view part = text_.substr(0, at);
    text_.remove_prefix(at + end.size());
    return part;
  }
  [[nodiscard]] std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

/// `table 2 (pod, add), row 17, column node: what` as `c.json:93: pod[17].node: what`. The numbers of tables are those
/// of `given`.
std::optional<std::string> placed_message(std::string_view message, const cluster_input& input,
                                          std::span<const std::size_t> given) {
  front_reader reader(message);
  if (!reader.skip("table ")) return {};
  const std::optional<std::size_t> number = reader.number();
  if (!number || *number >= given.size() || !reader.skip(" (")) return {};
  const std::optional<std::string_view> kind = reader.until(", ");
  if (!kind || !reader.until(")") || !reader.skip(", row ")) return {};
  const std::optional<std::size_t> row = reader.number();
  if (!row) return {};
  std::string place = fmt::format("{}[{}]", *kind, *row);
  if (reader.skip(", column ")) {
    const std::optional<std::string_view> column = reader.until(": ");
    if (!column) return {};
    place.append(".").append(*column);
  } else if (!reader.skip(": ")) {
    return {};
  }
  const std::size_t table = given[*number];
  if (table >= input.origins.size()) return {};
  const table_origin& origin = input.origins[table];
  if (*row >= origin.lines.size()) return {};
  return fmt::format("{}:{}: {}: {}", origin.source, origin.lines[*row], place, reader.rest());
}

}  // namespace

result<cluster> build_cluster(const cluster_input& input) {
  std::vector<table_view> views;
  std::vector<std::size_t> given;
  for (std::size_t i = 0; i < input.tables.size(); ++i) {
    if (input.tables[i].rows() == 0) continue;
    views.push_back(input.tables[i].view());
    given.push_back(i);
  }
  cluster built;
  auto applied = built.apply(std::span<const table_view>(views));
  if (applied) return built;
  error failure = applied.take_failure();
  if (auto placed = placed_message(failure.message, input, given)) {
    failure.message = std::move(*placed);
  } else if (!input.source.empty()) {
    failure.message = fmt::format("{}: {}", input.source, failure.message);
  }
  return failure;
}

}  // namespace kaisched::io
