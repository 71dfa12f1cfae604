// The program `kaisched`: words in, a command out.
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include <kaisched/version.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/help.hpp"
#include "cli/parser.hpp"

namespace kaisched::cli {

namespace {

/// `kaisched help run` is what many will type first.
void turn_help_around(std::vector<std::string>& words) {
  if (words.empty() || words.front() != "help") return;
  words.erase(words.begin());
  words.emplace_back("--help");
}

using std::filesystem::path;

/// Files that an argument names.
std::vector<std::string> files_of(const argument& one) {
  if (const auto* text = std::get_if<std::string*>(&one.to); text != nullptr && !(*text)->empty()) return {**text};
  if (const auto* many = std::get_if<std::vector<std::string>*>(&one.to); many != nullptr) return **many;
  return {};
}

bool are_one_file(const path& a, const path& b) {
  std::error_code fault;
  return std::filesystem::equivalent(a, b, fault) || (fault && path(a).lexically_normal() == b.lexically_normal());
}

/// What would be lost if the command wrote its files: one that it reads, or another that it writes.
std::string overwritten(const command& chosen) {
  for (const auto& output : chosen.arguments()) {
    if (!output->is_output) continue;
    for (const std::string& to : files_of(*output)) {
      for (const auto& other : chosen.arguments()) {
        if (other == output || !other->form.is_file || to == "-") continue;
        for (const std::string& from : files_of(*other)) {
          if (!are_one_file(to, from)) continue;
          return other->is_output
                     ? fmt::format("{} and {} would write to the same file, {}", output->names, other->names, to)
                     : fmt::format("{} would overwrite {}, which is read", output->names, to);
        }
      }
    }
  }
  return {};
}

int answer(const request& asked, const command_list& commands, common_arguments& common, bool any_words) {
  switch (asked.what) {
    case request::kind::version:
      console(common).out().line(fmt::format("kaisched {}", version_string));
      return exit_ok;
    case request::kind::help: {
      const console to(common);
      if (asked.chosen != nullptr) {
        print_help(to.out(), *asked.chosen);
      } else {
        print_overview(any_words ? to.out() : to.err(), commands);
      }
      return any_words ? exit_ok : exit_usage;
    }
    case request::kind::mistake: {
      const std::string name = asked.chosen == nullptr ? "" : asked.chosen->name() + " ";
      print_error((asked.chosen == nullptr ? "" : asked.chosen->name() + ": ") + asked.mistake);
      console(common).err().line(fmt::format("Try: kaisched {}--help", name));
      return exit_usage;
    }
    case request::kind::command:
      break;
  }
  if (const std::string loss = overwritten(*asked.chosen); !loss.empty()) {
    print_error(asked.chosen->name() + ": " + loss);
    return exit_usage;
  }
  apply_input_limit(common);
  console to(common);
  return asked.chosen->run(to);
}

int main_of(std::vector<std::string> words) {
  turn_help_around(words);
  const command_list commands = all_commands();
  common_arguments common;
  for (const auto& one : commands.all()) {
    if (!one->takes_all()) add_common_arguments(*one, common);
  }
  const bool any_words = !words.empty();
  const request asked = understand(commands, common, std::move(words));
  const int done = answer(asked, commands, common, any_words);
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    print_error("cannot write to the standard output");
    return exit_failure;
  }
  return done;
}

}  // namespace

}  // namespace kaisched::cli

int main(int argc, char** argv) {
  // Who reads the output may stop reading: then the program ends at once and says nothing, whatever it inherited.
  static_cast<void>(std::signal(SIGPIPE, SIG_DFL));
  try {
    return kaisched::cli::main_of(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::bad_alloc&) {
    kaisched::cli::print_error("out of memory");
    return kaisched::cli::exit_failure;
  } catch (const std::exception& fault) {
    kaisched::cli::print_error(fault.what());
    return kaisched::cli::exit_failure;
  }
}
