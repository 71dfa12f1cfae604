#pragma once
/// @file
/// Where a command speaks: a report for people, JSON for programs, a bar while it takes long.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include <kaisched/result.hpp>

#include "cli/command.hpp"
#include "cli/exit_status.hpp"
#include "cli/terminal.hpp"
#include "io/files.hpp"

namespace kaisched::cli {

/// Members stay in the order in which they were added.
using json = nlohmann::ordered_json;

/// What every command can be told.
struct common_arguments {
  std::string json_file;  ///< empty: no JSON; -: the standard output
  std::string color = "auto";
  bool quiet = false;
  std::int64_t most_input_bytes = static_cast<std::int64_t>(io::input_limit{}.most);
};
/// Gives a command these arguments; call it last.
void add_common_arguments(command& to, common_arguments& told);
/// Those that may also stand before the command.
void add_global_arguments(command& to, common_arguments& told);

/// Sets the limit of what is read, for the whole program.
void apply_input_limit(const common_arguments& told);

/// One per run of the program. Data and report never share the standard output.
class console {
 public:
  explicit console(common_arguments told);

  /// The standard output as a report sees it.
  [[nodiscard]] const terminal& out() const { return out_; }
  [[nodiscard]] const terminal& err() const { return err_; }
  [[nodiscard]] bool quiet() const { return told_.quiet; }
  /// True if people are to read the standard output: not --quiet, and no data goes there.
  [[nodiscard]] bool shows_report() const { return !told_.quiet && !taken_; }
  /// The standard output carries data: no word for people may go there.
  [[nodiscard]] bool carries_data() const { return taken_; }
  [[nodiscard]] bool wants_json() const { return !told_.json_file.empty(); }

  /// Reserves the standard output if the name is `-`. Error: something else writes there already.
  result<void> claim(std::string_view who, std::string_view path);
  /// Replaces a file; `-` is the standard output, which must have been claimed.
  result<void> write(const std::string& path, std::string_view bytes) const;
  /// Writes where --json says.
  result<void> write_json(const json& what) const;

  /// Says what went wrong and returns the exit status that belongs to it.
  [[nodiscard]] int fail(const error& why, exit_status as) const;
  [[nodiscard]] int fail(const error& why) const { return fail(why, exit_of(why)); }
  /// The end of a command that has a report as JSON: writes it if it is wanted.
  [[nodiscard]] int finish(const json& what, exit_status as = exit_ok) const;

 private:
  common_arguments told_;
  terminal out_;
  terminal err_;
  bool taken_ = false;
  std::string taken_by_;
};

/// JSON as text, two blanks of indentation; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string json_text(const json& what);

}  // namespace kaisched::cli
