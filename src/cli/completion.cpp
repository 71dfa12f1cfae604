#include "cli/completion.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"

namespace kaisched::cli {

namespace {

constexpr std::string_view completion_schema = "kaisched-completion/1";

const argument* find_option(const command& of, std::string_view name) {
  for (const auto& one : of.arguments()) {
    if (one->is_position()) continue;
    const std::vector<std::string> names = one->spellings();
    if (std::find(names.begin(), names.end(), name) != names.end()) return one.get();
  }
  return nullptr;
}

bool takes_next_word(const argument* one) { return one != nullptr && !one->is_flag() && !one->is_attached; }

/// What the words before the one at the cursor have settled.
struct place {
  const command* at = nullptr;  ///< the command, or the arguments of the program itself
  bool has_command = false;
  const argument* open = nullptr;  ///< an option that waits for its value
  std::size_t positions = 0;       ///< words told by position
};

place place_of(const command_list& commands, const command& top, std::span<const std::string> before) {
  place found;
  found.at = &top;
  for (const std::string& word : before) {
    if (found.open != nullptr) {
      found.open = nullptr;
    } else if (word.size() > 1 && word.starts_with('-')) {
      const argument* option = find_option(*found.at, word);
      if (takes_next_word(option)) found.open = option;
    } else if (!found.has_command) {
      found.has_command = true;
      found.at = commands.find(word);
      if (found.at == nullptr) return found;
    } else {
      ++found.positions;
    }
  }
  return found;
}

void offer(completion& to, std::string_view begun, std::string word, std::string_view meaning) {
  if (word.starts_with(begun)) to.words.push_back({std::move(word), std::string(meaning)});
}

void offer_values(completion& to, const argument& one, std::span<const std::string> before, std::string_view lead,
                  std::string_view begun) {
  const std::string typed = std::string(lead) + std::string(begun);
  for (const std::string& choice : one.form.choices) offer(to, typed, std::string(lead) + choice, "");
  if (one.form.proposals) {
    for (const proposal& found : one.form.proposals(before, begun)) {
      offer(to, typed, std::string(lead) + found.word, found.meaning);
    }
  }
  // A position for a file and names: once the file is there, names are meant.
  if (!one.form.is_file || (one.form.proposals && !to.words.empty())) return;
  to.files = true;
  to.endings = one.form.endings;
}

void offer_options(completion& to, const command& of, std::string_view begun) {
  for (const auto& one : of.arguments()) {
    if (one->is_position()) continue;
    for (const std::string& name : one->spellings()) {
      if (name.starts_with("--")) offer(to, begun, name, one->text);
    }
  }
  offer(to, begun, "--help", "What the command does, its arguments, examples");
}

const argument* position_at(const command& of, std::size_t index) {
  const argument* last = nullptr;
  for (const auto& one : of.arguments()) {
    if (!one->is_position()) continue;
    if (index == 0) return one.get();
    --index;
    last = one.get();
  }
  return last != nullptr && last->takes_many() ? last : nullptr;
}

void offer_commands(completion& to, const command_list& commands, std::string_view begun) {
  for (const auto& one : commands.all()) {
    if (!one->hidden()) offer(to, begun, one->name(), one->summary());
  }
  offer(to, begun, "help", "Explain a command");
}

int print_script(const std::string& shell, console& to) {
  const std::string_view script = completion_script(shell);
  if (to.shows_report()) to.out().print(script);
  return to.finish({{"schema", completion_schema}, {"shell", shell}, {"script", script}});
}

int answer_shell(const std::vector<std::string>& words) {
  command_list commands = all_commands();
  common_arguments common;
  for (const auto& one : commands.all()) {
    if (!one->takes_all()) add_common_arguments(*one, common);
  }
  const std::string begun = words.empty() ? std::string() : words.back();
  const std::span<const std::string> before(words.begin(), words.empty() ? words.end() : words.end() - 1);
  const completion found = complete(commands, before, begun);
  const terminal out(stdout, color_wish::never);
  for (const proposal& one : found.words) {
    if (harmless(one.word, false) != one.word || one.word.find('\n') != std::string::npos)
      continue;  // nobody types that
    out.print_raw(fmt::format("{}\t{}\n", one.word, one.meaning));
  }
  if (found.files) out.line(fmt::format(":files{}{}", found.endings.empty() ? "" : " ", fmt::join(found.endings, " ")));
  return exit_ok;
}

}  // namespace

completion complete(const command_list& commands, std::span<const std::string> before, std::string_view begun) {
  common_arguments common;
  command top("", "", "");
  add_global_arguments(top, common);
  const place here = place_of(commands, top, before);
  completion found;
  if (here.at == nullptr) {
    if (here.has_command && before.size() == 1 && before.front() == "help") offer_commands(found, commands, begun);
    return found;
  }
  const std::size_t equals = begun.find('=');
  if (here.open != nullptr) {
    offer_values(found, *here.open, before, "", begun);
  } else if (begun.starts_with("--") && equals != std::string_view::npos) {
    const argument* option = find_option(*here.at, begun.substr(0, equals));
    if (option != nullptr && !option->is_flag()) {
      offer_values(found, *option, before, begun.substr(0, equals + 1), begun.substr(equals + 1));
    }
  } else if (begun.starts_with('-')) {
    offer_options(found, *here.at, begun);
    if (!here.has_command) offer(found, begun, "--version", "The version of the program");
  } else if (!here.has_command) {
    offer_commands(found, commands, begun);
  } else if (const argument* position = position_at(*here.at, here.positions); position != nullptr) {
    offer_values(found, *position, before, "", begun);
  }
  return found;
}

void add_completion(command_list& to) {
  command& c = to.add("completion", group::reference, "Make your shell complete commands, options and names");
  auto& shell = c.keep<std::string>();
  c.explain(
      "Prints a script for the shell. It asks the program itself, so it offers what this version knows: commands, "
      "options and their values, files, and for `explain` the names in the cluster.\n"
      "\n"
      "  bash   echo 'source <(kaisched completion bash)' >> ~/.bashrc\n"
      "  zsh    echo 'source <(kaisched completion zsh)' >> ~/.zshrc, after compinit\n"
      "  fish   kaisched completion fish > ~/.config/fish/completions/kaisched.fish");
  c.position("SHELL", &shell, one_of("SHELL", {"bash", "zsh", "fish"}), "bash, zsh or fish").required();
  c.add_example("kaisched completion bash");
  c.runs([&shell](console& out) { return print_script(shell, out); });

  command& asked = to.add("__complete", group::reference, "Answers the scripts");
  auto& words = asked.keep<std::vector<std::string>>();
  asked.position("WORD", &words, any_value("WORD"), "Words up to the cursor");
  asked.hide();
  asked.take_all_words();
  asked.runs([&words](console&) { return answer_shell(words); });
}

}  // namespace kaisched::cli
