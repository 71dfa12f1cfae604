#include "cli/parser.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <type_traits>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "base/nearest.hpp"
#include "io/column_form.hpp"

namespace kaisched::cli {

namespace {

std::string check_choice(const value_form& form, const std::string& value) {
  if (std::find(form.choices.begin(), form.choices.end(), value) != form.choices.end()) return {};
  const std::vector<std::string_view> known(form.choices.begin(), form.choices.end());
  return fmt::format("\"{}\" is not known; {}", value, io::suggestion(value, known));
}

std::string check_bounds(const argument& one, const std::string& value) {
  double number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool whole = !std::holds_alternative<double*>(one.to);
  const bool read = fault == std::errc{} && end == value.data() + value.size() &&
                    !(whole && value.find_first_not_of("-0123456789") != std::string::npos);
  if (read && number >= one.least && number <= one.most) return {};
  return fmt::format("expected {} from {} to {}, found {}", whole ? "an integer" : "a number", one.least, one.most,
                     value);
}

/// Decimal digits only: the library would take "010" for eight and wrap "-1" around.
template <class Integer>
std::string canonical_integer(const argument& one, std::string& value) {
  Integer number = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.empty() || fault != std::errc{} || end != value.data() + value.size()) {
    if (one.least != one.most) return check_bounds(one, value);
    return fmt::format("expected an integer from {} to {}, found {}", std::numeric_limits<Integer>::min(),
                       std::numeric_limits<Integer>::max(), value.empty() ? "nothing" : value);
  }
  value = std::to_string(number);
  return {};
}

void add_value(CLI::App& to, const argument& one, const std::string& names) {
  std::visit(
      [&](auto* held) {
        CLI::Option* made = to.add_option(names, *held);
        if (one.takes_many()) {
          if (one.is_position()) {
            made->expected(-1);
          } else {
            made->expected(1)->take_all()->allow_extra_args(false);
          }
        } else {
          made->take_last();
        }
        if (!one.form.choices.empty()) {
          made->check([&one](const std::string& value) { return check_choice(one.form, value); });
        }
        using held_type = std::remove_pointer_t<decltype(held)>;
        if constexpr (std::is_same_v<held_type, std::int64_t> || std::is_same_v<held_type, std::uint64_t>) {
          made->transform(CLI::Validator(
              [&one](std::string& value) { return canonical_integer<held_type>(one, value); }, std::string()));
        }
        if (one.least != one.most) {
          made->check([&one](const std::string& value) { return check_bounds(one, value); });
        }
      },
      one.to);
}

void add(CLI::App& to, const argument& one) {
  if (one.is_flag()) {
    to.add_flag(one.names, *std::get<bool*>(one.to));
  } else if (one.is_attached) {
    // As a flag it never takes the next word, which may be the name of a file that must not be overwritten.
    to.add_flag(fmt::format("{}{{{}}}", one.names, one.implied), *std::get<std::string*>(one.to));
  } else {
    add_value(to, one, one.names);
  }
}

/// What of the words nobody understood.
std::string unexpected(const command_list& commands, const command* chosen, const std::vector<std::string>& extra) {
  const auto option =
      std::find_if(extra.begin(), extra.end(), [](const auto& word) { return word.size() > 1 && word.front() == '-'; });
  if (option == extra.end()) {
    if (chosen != nullptr) return fmt::format("nothing is expected where \"{}\" stands", extra.front());
    const std::vector<std::string_view> names = commands.names();
    return fmt::format("no command is called \"{}\"; {}", extra.front(), io::suggestion(extra.front(), names));
  }
  const std::string word = option->substr(0, option->find('='));
  std::vector<std::string> known;
  if (chosen != nullptr) {
    for (const auto& one : chosen->arguments()) {
      if (one->is_position()) continue;
      for (std::string& name : one->spellings()) known.push_back(std::move(name));
    }
  } else {
    known = {"--help", "--version", "--quiet", "--color", "--most-input-bytes"};
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  const std::string_view nearest = base::nearest_name(word, views);
  return nearest.empty() ? fmt::format("there is no option {}", word)
                         : fmt::format("there is no option {}; did you mean {}?", word, nearest);
}

/// A position that must be told and was not.
std::string missing(const command& chosen, const CLI::App& parsed) {
  for (const auto& one : chosen.arguments()) {
    if (!one->is_required) continue;
    const auto* many = std::get_if<std::vector<std::string>*>(&one->to);
    const bool told = parsed.get_option(one->names)->count() > 0 || (many != nullptr && !(*many)->empty());
    if (!told) {
      return fmt::format("{} is missing: {}", one->names, one->text);
    }
  }
  return {};
}

/// Gives words to the positions of a command; what is wrong with them.
std::string take_words(const command& chosen, const CLI::App& parsed, std::vector<std::string> words) {
  if (words.empty()) return {};
  for (const auto& one : chosen.arguments()) {
    if (!one->is_position()) continue;
    if (auto* const* many = std::get_if<std::vector<std::string>*>(&one->to)) {
      (*many)->insert((*many)->end(), words.begin(), words.end());
      return {};
    }
    auto* const* text = std::get_if<std::string*>(&one->to);
    if (text == nullptr || parsed.get_option(one->names)->count() > 0) continue;
    **text = std::move(words.front());
    words.erase(words.begin());
    if (words.empty()) return {};
  }
  return fmt::format("nothing is expected where \"{}\" stands", words.front());
}

/// "--load: ..." is what the library makes of a message; positions are named alike.
std::string sentence_of(const CLI::ParseError& fault) {
  std::string text = fault.what();
  if (const std::size_t end = text.find('\n'); end != std::string::npos) text.resize(end);
  return text;
}

request mistake(const command* chosen, std::string text) { return {request::kind::mistake, chosen, std::move(text)}; }

}  // namespace

request understand(const command_list& commands, common_arguments& common, std::vector<std::string> words) {
  if (const command* first = words.empty() ? nullptr : commands.find(words.front());
      first != nullptr && first->takes_all()) {
    words.erase(words.begin());
    *std::get<std::vector<std::string>*>(first->arguments().front()->to) = std::move(words);
    return {request::kind::command, first, {}};
  }
  // What stands behind -- is no option, whatever it looks like.
  std::vector<std::string> behind;
  if (const auto end = std::find(words.begin(), words.end(), "--"); end != words.end()) {
    behind.assign(std::next(end), words.end());
    words.erase(end, words.end());
  }
  CLI::App app;
  app.set_help_flag("-h,--help");
  app.set_version_flag("-V,--version", "");
  app.require_subcommand(0, 1);
  app.allow_extras();
  command top("", "", "");
  add_global_arguments(top, common);
  for (const auto& one : top.arguments()) add(app, *one);
  for (const auto& one : commands.all()) {
    CLI::App* sub = app.add_subcommand(one->name());
    sub->allow_extras();
    sub->set_help_flag("-h,--help");
    for (const auto& told : one->arguments()) add(*sub, *told);
  }
  const auto chosen = [&]() -> const command* {
    const auto found = app.get_subcommands();
    return found.empty() ? nullptr : commands.find(found.front()->get_name());
  };
  const std::string name = words.empty() || words.front().starts_with('-') ? std::string() : words.front();
  std::reverse(words.begin(), words.end());  // as the library wants them
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    if (chosen() == nullptr && !name.empty()) return mistake(nullptr, unexpected(commands, nullptr, {name}));
    return {request::kind::help, chosen(), {}};
  } catch (const CLI::CallForVersion&) {
    return {request::kind::version, nullptr, {}};
  } catch (const CLI::ParseError& fault) {
    return mistake(chosen(), sentence_of(fault));
  }
  if (const auto extra = app.remaining(); !extra.empty()) return mistake(nullptr, unexpected(commands, nullptr, extra));
  const command* found = chosen();
  if (found == nullptr) return {request::kind::help, nullptr, {}};
  const CLI::App& parsed = *app.get_subcommands().front();
  if (const auto extra = parsed.remaining(); !extra.empty()) return mistake(found, unexpected(commands, found, extra));
  if (std::string text = take_words(*found, parsed, std::move(behind)); !text.empty())
    return mistake(found, std::move(text));
  if (std::string text = missing(*found, parsed); !text.empty()) return mistake(found, std::move(text));
  return {request::kind::command, found, {}};
}

}  // namespace kaisched::cli
