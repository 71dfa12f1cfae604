#include "cli/serve/bodies.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "cli/scale.hpp"
#include "files/node_types.hpp"
#include "io/column_form.hpp"
#include "io/delta_reader.hpp"
#include "io/fault_log.hpp"
#include "io/json_document.hpp"

namespace kaisched::cli::serve {

namespace {

using io::json_kind;
using io::json_value;

constexpr std::string_view source = "body";
constexpr std::size_t most_nodes = 1'000'000;

/// Members of one object: each reads itself, or leaves a fault.
class member_reader {
 public:
  member_reader(io::fault_log& faults, std::string place) : faults_(faults), place_(std::move(place)) {}

  void fail(json_value at, std::string_view what) { faults_.add(at.line(), place_of(at.key()), what); }

  void read(json_value from, std::string& to) {
    if (!from.is(json_kind::string)) return fail(from, fmt::format("expected a string, found {}", from.shown()));
    if (from.text().find('\0') != std::string_view::npos) return fail(from, "the text contains a NUL character");
    to = from.text();
  }
  void read(json_value from, bool& to) {
    if (!from.is(json_kind::boolean)) return fail(from, fmt::format("expected true or false, found {}", from.shown()));
    to = from.boolean();
  }
  void read(json_value from, number_range range, std::int64_t& to) {
    const auto least = static_cast<std::int64_t>(range.least);
    const auto most = static_cast<std::int64_t>(range.most);
    if (!from.is(json_kind::integer) || from.integer() < least || from.integer() > most)
      return fail(from, fmt::format("expected an integer from {} to {}, found {}", least, most, from.shown()));
    to = from.integer();
  }
  void read(json_value from, number_range range, double& to) {
    const bool is_number = from.is(json_kind::integer) || from.is(json_kind::number);
    if (!is_number || !(from.number() >= range.least && from.number() <= range.most))
      return fail(from, fmt::format("expected a number from {:.0f} to {:.0f}, found {}", range.least, range.most,
                                    from.shown()));
    to = from.number();
  }
  void read(json_value from, std::size_t most, std::vector<std::string>& to) {
    if (!from.is(json_kind::array) || from.size() > most)
      return fail(from, fmt::format("expected an array of at most {} strings, found {}", most,
                                    from.is(json_kind::array) ? fmt::format("{}", from.size()) : from.shown()));
    for (const json_value one : from) {
      if (!one.is(json_kind::string))
        return fail(from, fmt::format("expected an array of strings, found {} in it", one.shown()));
      to.emplace_back(one.text());
    }
  }

  [[nodiscard]] std::string place_of(std::string_view key) const {
    return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
  }

 private:
  io::fault_log& faults_;
  std::string place_;
};

what_if_question read_question(json_value object, const std::string& place,
                               std::span<const std::string_view> dimensions, const question_limits& limits,
                               io::fault_log& faults) {
  static constexpr std::array<std::string_view, 14> known{
      "queue",           "name", "pods",   "gang", "gpus",          "cpu", "memory", "priority", "runtime",
      "non_preemptible", "add",  "groups", "ends", "policy_actions"};
  what_if_question asked;
  if (!object.is(json_kind::object)) {
    faults.add(object.line(), place, fmt::format("expected an object, found {}", object.shown()));
    return asked;
  }
  member_reader in(faults, place);
  const auto most_pods = static_cast<double>(limits.pods);
  for (const json_value member : object) {
    const std::string_view key = member.key();
    if (key == "queue") {
      in.read(member, asked.queue);
    } else if (key == "name") {
      in.read(member, asked.name);
    } else if (key == "pods") {
      in.read(member, {what_if_pods.least, std::min(what_if_pods.most, most_pods)}, asked.pods);
    } else if (key == "gang") {
      in.read(member, {what_if_gang.least, std::min(what_if_gang.most, most_pods)}, asked.gang);
    } else if (key == "gpus") {
      in.read(member, what_if_gpus, asked.gpus);
    } else if (key == "cpu") {
      in.read(member, what_if_cpu, asked.cpu);
    } else if (key == "memory") {
      in.read(member, what_if_memory, asked.memory);
    } else if (key == "priority") {
      in.read(member, what_if_priority, asked.priority);
    } else if (key == "runtime") {
      in.read(member, what_if_runtime, asked.runtime);
    } else if (key == "non_preemptible") {
      in.read(member, asked.stays);
    } else if (key == "add") {
      asked.added = io::read_added(member, dimensions, in.place_of(key), faults);
    } else if (key == "groups") {
      in.read(member, limits.questions, asked.groups);
    } else if (key == "ends") {
      in.read(member, what_if_ends, asked.ends);
    } else if (key == "policy_actions") {
      in.read(member, asked.policy_actions);
    } else {
      in.fail(member, fmt::format("no such member; {}", io::suggestion(key, known)));
    }
  }
  if (asked.queue.empty() && asked.added.empty() && asked.groups.empty())
    faults.add(object.line(), place, "nothing is asked: give \"queue\", \"add\" or \"groups\"");
  if (const vanishing_amount none = find_vanishing(asked); none.name != nullptr)
    faults.add(object.line(), in.place_of(none.name), fmt::format("expected {}, found {}", none.expected, none.value));
  if (asked.gang > asked.pods) faults.add(object.line(), in.place_of("gang"), "is larger than \"pods\"");
  return asked;
}

/// The list of a batch, or nothing.
const json_value* find_member(const std::vector<json_value>& members, std::string_view key) {
  const auto found = std::find_if(members.begin(), members.end(), [&](json_value one) { return one.key() == key; });
  return found == members.end() ? nullptr : &*found;
}

}  // namespace

result<what_if_body> read_what_if(std::string_view body, std::span<const std::string_view> dimensions,
                                  const question_limits& limits) {
  const result<io::json_document> document = io::json_document::parse(body, source);
  if (!document) return document.failure();
  const json_value root = document->root();
  io::fault_log faults(source);
  what_if_body made;
  std::vector<json_value> members;
  if (root.is(json_kind::object)) members.assign(root.begin(), root.end());
  const json_value* const list = find_member(members, "questions");
  if (list == nullptr) {
    made.questions.push_back(read_question(root, "", dimensions, limits, faults));
  } else if (members.size() > 1) {
    const json_value& other = members.front().key() == "questions" ? members[1] : members.front();
    faults.add(other.line(), other.key(),
               "\"questions\" stands alone: the members of a question belong into the array");
  } else if (!list->is(json_kind::array) || list->size() == 0 || list->size() > limits.questions) {
    faults.add(list->line(), "questions",
               fmt::format("expected an array of 1 to {} questions, found {}", limits.questions,
                           list->is(json_kind::array) ? fmt::format("{}", list->size()) : list->shown()));
  } else {
    made.is_batch = true;
    for (const json_value one : *list) {
      if (faults.failed()) break;
      made.questions.push_back(
          read_question(one, fmt::format("questions[{}]", made.questions.size()), dimensions, limits, faults));
    }
  }
  if (faults.failed()) return faults.take();
  return made;
}

result<explain_body> read_explain(std::string_view body, const question_limits& limits) {
  const result<io::json_document> document = io::json_document::parse(body, source);
  if (!document) return document.failure();
  const json_value root = document->root();
  io::fault_log faults(source);
  explain_body made;
  auto nodes = static_cast<std::int64_t>(made.nodes);
  member_reader in(faults, "");
  if (!root.is(json_kind::object)) {
    faults.add(root.line(), "", fmt::format("expected an object with \"names\", found {}", root.shown()));
    return faults.take();
  }
  for (const json_value member : root) {
    if (member.key() == "names") {
      in.read(member, limits.questions, made.names);
    } else if (member.key() == "nodes") {
      in.read(member, {0, most_nodes}, nodes);
    } else {
      const std::array<std::string_view, 2> known{"names", "nodes"};
      in.fail(member, fmt::format("no such member; {}", io::suggestion(member.key(), known)));
    }
  }
  if (made.names.empty())
    faults.add(root.line(), "names", "nothing is named: a pod, pod group, queue, node or topology");
  if (faults.failed()) return faults.take();
  made.nodes = static_cast<std::size_t>(nodes);
  return made;
}

result<explain_body> read_explain(std::span<const std::pair<std::string, std::string>> query,
                                  const question_limits& limits) {
  explain_body made;
  const auto wrong = [](std::string text) { return error{status::argument, "query: " + std::move(text), {}}; };
  for (const auto& [key, value] : query) {
    if (key == "name") {
      made.names.push_back(value);
    } else if (key == "nodes") {
      const char* const last = value.data() + value.size();
      const auto [end, fault] = std::from_chars(value.data(), last, made.nodes);
      if (value.empty() || fault != std::errc() || end != last || made.nodes > most_nodes)
        return wrong(fmt::format("nodes: expected an integer from 0 to {}, found \"{}\"", most_nodes, value));
    } else {
      const std::array<std::string_view, 2> known{"name", "nodes"};
      return wrong(fmt::format("{}: no such parameter; {}", key, io::suggestion(key, known)));
    }
  }
  if (made.names.empty()) return wrong("name: nothing is named: a pod, pod group, queue, node or topology");
  if (made.names.size() > limits.questions)
    return wrong(fmt::format("name: expected at most {} names, found {}", limits.questions, made.names.size()));
  return made;
}

result<scale_body> read_scale(std::string_view body, const snapshot& over, const question_limits& limits) {
  static constexpr std::array<std::string_view, 8> known{"types",  "up",         "down",     "queues",
                                                         "groups", "type_label", "strategy", "verifications"};
  const result<io::json_document> document = io::json_document::parse(body, source);
  if (!document) return document.failure();
  const json_value root = document->root();
  io::fault_log faults(source);
  scale_body made;
  scale_question& asked = made.question;
  asked.up = asked.down = false;
  auto verifications = std::min<std::int64_t>(asked.verifications, static_cast<std::int64_t>(limits.verifications));
  std::optional<json_value> types;
  member_reader in(faults, "");
  if (!root.is(json_kind::object)) {
    faults.add(root.line(), "", fmt::format("expected an object with \"types\", found {}", root.shown()));
    return faults.take();
  }
  for (const json_value member : root) {
    const std::string_view key = member.key();
    if (key == "types") {
      types = member;
    } else if (key == "up") {
      in.read(member, asked.up);
    } else if (key == "down") {
      in.read(member, asked.down);
    } else if (key == "queues") {
      in.read(member, limits.questions, asked.queues);
    } else if (key == "groups") {
      in.read(member, limits.questions, asked.groups);
    } else if (key == "type_label") {
      in.read(member, asked.type_label);
    } else if (key == "strategy") {
      std::string name;
      in.read(member, name);
      asked.strategy = scale_strategy_of(name);
      if (member.is(json_kind::string) && scale_strategy_name(asked.strategy) != name)
        in.fail(member, fmt::format("expected \"search\" or \"first_fit\", found {}", member.shown()));
    } else if (key == "verifications") {
      const auto most = static_cast<double>(limits.verifications);
      in.read(member, {scale_verifications.least, std::min(scale_verifications.most, most)}, verifications);
    } else {
      in.fail(member, fmt::format("no such member; {}", io::suggestion(key, known)));
    }
  }
  if (asks_what_to_add(asked) && !types)
    faults.add(root.line(), "types", "is missing: which nodes can be had? \"down\" alone does without");
  if (faults.failed()) return faults.take();
  asked.verifications = static_cast<std::uint32_t>(verifications);
  if (!types) return made;
  result<node_offers> offers = io::read_node_types(*types, source, over);
  if (!offers) return offers.take_failure();
  made.offers = std::move(*offers);
  return made;
}

}  // namespace kaisched::cli::serve
