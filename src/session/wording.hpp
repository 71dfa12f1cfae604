#pragma once
/// @file
/// Sentences in every language that the library speaks: data with named places, filled by {fmt}.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/args.h>
#include <fmt/format.h>

#include <kaisched/options.hpp>

namespace kaisched::session_detail {

/// One sentence. English has a form for one and a form for many; one form that is left out is the other one.
/// A sentence whose languages name different places does not compile.
class wording {
 public:
  consteval wording(const char* english, const char* chinese) : wording(english, english, chinese) {}
  consteval wording(const char* one, const char* many, const char* chinese)
      : one_(one), many_(many), chinese_(chinese) {
    if (!names_all(many_, chinese_) || !names_all(chinese_, many_) || !names_all(many_, one_))
      throw std::logic_error("languages name different places");
  }
  [[nodiscard]] constexpr std::string_view in(language which, std::int64_t count) const {
    return which == language::chinese ? chinese_ : count == 1 ? one_ : many_;
  }

 private:
  /// Every place of `part` is one of `whole`.
  static consteval bool names_all(std::string_view whole, std::string_view part) {
    for (std::size_t at = part.find('{'); at != std::string_view::npos; at = part.find('{', at + 1)) {
      const std::string_view place = part.substr(at, part.find('}', at) + 1 - at);
      if (whole.find(place) == std::string_view::npos) return false;
    }
    return true;
  }
  std::string_view one_;
  std::string_view many_;
  std::string_view chinese_;
};

/// The sentence for `count` things, with its places filled: `say(in, w, nodes, fmt::arg("nodes", nodes))`.
template <class... Named>
[[nodiscard]] std::string say(language in, const wording& what, std::int64_t count, const Named&... named) {
  return fmt::vformat(what.in(in, count), fmt::make_format_args(named...));
}

}  // namespace kaisched::session_detail
