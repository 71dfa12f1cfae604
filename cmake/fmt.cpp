// The functions of fmt that are no templates, and the templates that its own library makes: compiled once, where every
// other source would compile them again (five seconds of g++ -O2 for each). In a namespace of ours, see
// KaischedDependencies.cmake, so that a program may have its own fmt beside these. Functions that write to streams are
// in fmt_print.cpp, because the core has nothing to do with streams.
#include <cstdint>
#include <locale>
#include <string>

#define FMT_HEADER_ONLY  // functions are inline here: what is named below is made, and nothing else
#include <fmt/format.h>

FMT_BEGIN_NAMESPACE

/// Names every function that sources ask for. What throws `format_error` itself, as fmt/chrono.h does, cannot be
/// linked.
[[gnu::used]] void (*const made[])() = {
    reinterpret_cast<void (*)()>(static_cast<std::string (*)(string_view, format_args)>(&vformat)),
    reinterpret_cast<void (*)()>(&detail::throw_format_error),
    reinterpret_cast<void (*)()>(static_cast<bool (*)(std::uint32_t)>(&detail::is_printable)),
};
namespace detail {
template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template locale_ref::locale_ref(const std::locale&);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;
}  // namespace detail
FMT_END_NAMESPACE
