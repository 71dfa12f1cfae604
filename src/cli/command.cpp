#include "cli/command.hpp"

#include <utility>

#include <fmt/format.h>

namespace kaisched::cli {

namespace {

std::string shown(const argument::target& value) {
  return std::visit(
      [](auto* held) -> std::string {
        using held_type = std::remove_pointer_t<decltype(held)>;
        if constexpr (std::is_same_v<held_type, bool> || std::is_same_v<held_type, std::vector<std::string>>) {
          return {};
        } else {
          return fmt::format("{}", *held);
        }
      },
      value);
}

}  // namespace

value_form any_value(std::string name) { return {std::move(name), {}, false, {}, {}}; }

value_form one_of(std::string name, std::vector<std::string> choices) {
  return {std::move(name), std::move(choices), false, {}, {}};
}

value_form file_name(std::vector<std::string> endings) { return {"FILE", {}, true, std::move(endings), {}}; }

argument& argument::required() {
  is_required = true;
  return *this;
}

argument& argument::writes() {
  is_output = true;
  return *this;
}

argument& argument::or_else(std::string_view meaning) {
  is_attached = true;
  implied = meaning;
  return *this;
}

argument& argument::between(double low, double high) {
  least = low;
  most = high;
  return *this;
}

std::vector<std::string> argument::spellings() const {
  std::vector<std::string> found;
  std::string_view rest = names;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    found.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  }
  return found;
}

command::command(std::string_view name, std::string_view group, std::string_view summary)
    : name_(name), group_(group), summary_(summary) {}

void command::add_example(std::string_view call, std::string_view meaning) {
  examples_.push_back({std::string(call), std::string(meaning)});
}

argument& command::flag(std::string_view names, bool& to, std::string_view text) {
  return option(names, &to, any_value(""), text);
}

argument& command::option(std::string_view names, argument::target to, value_form form, std::string_view text) {
  auto made = std::make_unique<argument>();
  made->names = names;
  made->to = to;
  made->form = std::move(form);
  made->text = text;
  made->group = heading_;
  made->fallback = shown(to);
  arguments_.push_back(std::move(made));
  return *arguments_.back();
}

argument& command::position(std::string_view name, argument::target to, value_form form, std::string_view text) {
  return option(name, to, std::move(form), text);
}

command& command_list::add(std::string_view name, std::string_view group, std::string_view summary) {
  return *commands_.emplace_back(std::make_unique<command>(name, group, summary));
}

const command* command_list::find(std::string_view name) const {
  for (const auto& one : commands_) {
    if (one->name() == name) return one.get();
  }
  return nullptr;
}

std::vector<std::string_view> command_list::names() const {
  std::vector<std::string_view> names;
  for (const auto& one : commands_) {
    if (!one->hidden()) names.emplace_back(one->name());
  }
  return names;
}

}  // namespace kaisched::cli
