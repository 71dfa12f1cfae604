#pragma once
/// @file
/// What the program can be told, as data: the parser, the help and the completion of shells are made from it.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kaisched::cli {

class console;

/// A word that a shell may offer, and what it means.
struct proposal {
  std::string word;
  std::string meaning;
};

/// What values an argument takes.
struct value_form {
  std::string name;                  ///< as help shows it: FILE, N
  std::vector<std::string> choices;  ///< the only values there are; empty: no such list
  bool is_file = false;              ///< shells offer the names of files
  std::vector<std::string> endings;  ///< of these files; empty: any
  /// What a shell offers: from the words before and the beginning of this one. May be null.
  std::function<std::vector<proposal>(std::span<const std::string> before, std::string_view begun)> proposals;
};
/// A number or text.
[[nodiscard]] value_form any_value(std::string name);
[[nodiscard]] value_form one_of(std::string name, std::vector<std::string> choices);
[[nodiscard]] value_form file_name(std::vector<std::string> endings = {});
/// A file that `input.hpp` can read a cluster from.
[[nodiscard]] value_form cluster_file();

/// One argument of a command. What it is told goes to a variable that lives as long as the command.
struct argument {
  using target = std::variant<bool*, std::string*, std::int64_t*, std::uint64_t*, double*, std::vector<std::string>*>;

  std::string names;  ///< "-q,--quiet"; without dashes it is told by its position
  target to;
  value_form form;
  std::string text;  ///< one sentence for the help
  std::string group;
  std::string fallback;      ///< for the help: the value before anything is told
  bool is_required = false;  ///< positions only
  bool is_output = false;    ///< the value names a file that is written
  bool is_attached = false;  ///< the value is optional and follows after "="
  std::string implied;       ///< what an option with an optional value means without it
  double least = 0;          ///< bounds of numbers; none if equal
  double most = 0;

  argument& required();
  /// The value names a file that is written: it must not be one that the command reads.
  argument& writes();
  /// May be left without a value, and then means this; a value must follow after "=".
  argument& or_else(std::string_view meaning);
  argument& between(double low, double high);
  [[nodiscard]] bool is_position() const { return !names.starts_with('-'); }
  [[nodiscard]] bool is_flag() const { return std::holds_alternative<bool*>(to); }
  [[nodiscard]] bool takes_many() const { return std::holds_alternative<std::vector<std::string>*>(to); }
  /// "-q" and "--quiet".
  [[nodiscard]] std::vector<std::string> spellings() const;
};

struct example {
  std::string call;     ///< as typed, with the name of the program
  std::string meaning;  ///< a few words; may be empty
};

/// One command: how it is told, and what it does.
class command {
 public:
  command(std::string_view name, std::string_view group, std::string_view summary);

  /// Makes the variables of the command, which live as long as it does.
  template <class T>
  T& keep() {
    auto made = std::make_shared<T>();
    kept_.push_back(made);
    return *made;
  }
  /// The sentences between the first line of the help and the arguments; lines are paragraphs.
  void explain(std::string_view text) { text_ = text; }
  void add_example(std::string_view call, std::string_view meaning = {});
  /// Arguments are listed under the heading that was set last.
  void heading(std::string_view group) { heading_ = group; }
  argument& flag(std::string_view names, bool& to, std::string_view text);
  argument& option(std::string_view names, argument::target to, value_form form, std::string_view text);
  argument& position(std::string_view name, argument::target to, value_form form, std::string_view text);
  void runs(std::function<int(console&)> action) { action_ = std::move(action); }
  /// Neither help nor completion mention the command.
  void hide() { hidden_ = true; }
  /// Every word goes to the first position, whatever it looks like.
  void take_all_words() { takes_all_ = true; }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& group() const { return group_; }
  [[nodiscard]] const std::string& summary() const { return summary_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::span<const example> examples() const { return examples_; }
  [[nodiscard]] const std::vector<std::unique_ptr<argument>>& arguments() const { return arguments_; }
  [[nodiscard]] bool hidden() const { return hidden_; }
  [[nodiscard]] bool takes_all() const { return takes_all_; }
  [[nodiscard]] int run(console& to) const { return action_(to); }

 private:
  std::string name_;
  std::string group_;
  std::string summary_;
  std::string text_;
  std::string heading_ = "Options";
  std::vector<example> examples_;
  std::vector<std::unique_ptr<argument>> arguments_;
  std::vector<std::shared_ptr<void>> kept_;
  std::function<int(console&)> action_;
  bool hidden_ = false;
  bool takes_all_ = false;
};

/// Groups of commands, in the order of the help.
namespace group {
inline constexpr std::string_view start = "Start here";
inline constexpr std::string_view decide = "Decide and understand";
inline constexpr std::string_view files = "Make and compare files";
inline constexpr std::string_view reference = "Look things up";
}  // namespace group

/// All commands, in the order of the help.
class command_list {
 public:
  command& add(std::string_view name, std::string_view group, std::string_view summary);
  [[nodiscard]] const std::vector<std::unique_ptr<command>>& all() const { return commands_; }
  /// One by name, or nullptr.
  [[nodiscard]] const command* find(std::string_view name) const;
  /// Names of the commands that are not hidden.
  [[nodiscard]] std::vector<std::string_view> names() const;

 private:
  std::vector<std::unique_ptr<command>> commands_;
};

}  // namespace kaisched::cli
