#include "model/row_reader.hpp"

#include "base/nearest.hpp"
#include "base/text.hpp"

namespace kaisched::model {

row_reader& row_reader::fail(std::uint32_t column, status code, std::string_view what) {
  if (failed_) return *this;
  failed_ = true;
  std::string text;
  if (of_.name.data() != nullptr) {
    text.append(of_.kind).append(of_.kind.empty() ? "'" : " '").append(base::shown(of_.name)).append("'");
    if (of_.device >= 0) text += ", device " + std::to_string(of_.device);
    text += ": ";
  }
  failure_ = t_.fail(code, row_, column, text.append(what));
  return *this;
}

row_reader& row_reader::fail_value(std::uint32_t column, status code, std::string_view what) {
  if (!of_.everywhere) of_ = {};  // nothing comes after a fault
  return fail(column, code, what);
}

row_reader& row_reader::i64(std::uint32_t column, std::int64_t& target) {
  if (reads(column)) target = t_.i64(column, row_);
  return *this;
}

row_reader& row_reader::u32(std::uint32_t column, std::uint32_t& target) {
  if (reads(column)) target = t_.u32(column, row_);
  return *this;
}

row_reader& row_reader::flag(std::uint32_t column, bool& target) {
  if (!reads(column)) return *this;
  if (t_.u8(column, row_) > 1) return fail_value(column, status::argument, "must be 0 or 1");
  target = t_.u8(column, row_) != 0;
  return *this;
}

row_reader& row_reader::number(std::uint32_t column, std::int64_t least, std::int64_t most, std::int64_t& target) {
  if (!reads(column)) return *this;
  const std::int64_t value = t_.i64(column, row_);
  if (value < least || value > most) {
    const std::string bound = of_.everywhere && most == max_amount ? "2^52" : std::to_string(most);
    return fail_value(column, value > most ? status::limit : status::argument,
                      std::to_string(value) + " is not in " + std::to_string(least) + " .. " + bound);
  }
  target = value;
  return *this;
}

row_reader& row_reader::amount_or_unset(std::uint32_t column, std::int64_t& target) {
  if (!reads(column)) return *this;
  return t_.i64(column, row_) == unset ? i64(column, target) : number(column, 0, max_amount, target);
}

row_reader& row_reader::duration(std::uint32_t column, std::int64_t& target) {
  if (!reads(column)) return *this;
  const std::int64_t value = t_.i64(column, row_);
  if (value < 0 && value != unset)
    return fail_value(column, status::argument, std::to_string(value) + " is no length of time");
  target = value;
  return *this;
}

row_reader& row_reader::not_among(std::uint32_t column, std::span<const std::string_view> names) {
  const std::string_view text = t_.text(column, row_);
  std::string message = "'" + base::shown(text) + "' is not known";
  const std::string_view nearest = base::nearest_name(text, names);
  if (!nearest.empty()) {
    message += "; did you mean '" + std::string(nearest) + "'?";
  } else {
    message += "; expected one of:";
    for (const std::string_view name : names) message.append(name.empty() ? "" : " ").append(name);
  }
  return fail_value(column, status::argument, message);
}

}  // namespace kaisched::model
