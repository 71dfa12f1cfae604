// Random clusters with nasty texts in every column that takes any text: JSON and YAML keep every byte.
#include <string>
#include <string_view>
#include <vector>

#include <rapidcheck.h>

#include "draws.hpp"
#include "files/cluster_file.hpp"
#include "files/cluster_yaml.hpp"
#include "io/cluster_json.hpp"
#include "support.hpp"

namespace of_test_io_forms {

using namespace kaisched;
using test::draw;

namespace {

/// Texts that a writer may get wrong, and any others. No NUL, which no column takes.
std::string nasty() {
  static const std::vector<std::string> known{"on",
                                              "Off",
                                              "yes",
                                              "n",
                                              "null",
                                              "~",
                                              "true",
                                              "1",
                                              "1.0",
                                              "0x1",
                                              "0o7",
                                              "1e3",
                                              ".inf",
                                              "-.nan",
                                              "-",
                                              "?",
                                              ":",
                                              "- a",
                                              "a: b",
                                              "a #b",
                                              "#",
                                              "a,b",
                                              "[",
                                              "{",
                                              "&a",
                                              "*a",
                                              "!t",
                                              "|",
                                              ">",
                                              "%",
                                              "@",
                                              "`",
                                              "'",
                                              "\"",
                                              "\\",
                                              " a",
                                              "a ",
                                              "\t",
                                              "\n",
                                              "\r\n",
                                              "a\nb",
                                              "\n\n a",
                                              "---",
                                              "...",
                                              "2024-01-01",
                                              "12:30",
                                              "<<",
                                              "π",
                                              "\x01",
                                              "\x7F",
                                              "\x1B",
                                              "=",
                                              "\xC2\x85",
                                              "\xEF\xBB\xBF",
                                              "null ",
                                              "\\u0041",
                                              "\xF0\x9F\x98\x80",
                                              "\xE2\x80\xA8",
                                              "{{x}}",
                                              "a, b: [c]",
                                              "key: \"v\"",
                                              "\\",
                                              "\\\n"};
  if (draw(0, 3) > 0) return *rc::gen::elementOf(known);
  std::string text;
  const int size = draw(0, 12);
  for (int i = 0; i < size; ++i) {
    const int kind = draw(0, 9);
    if (kind < 6) {
      text += static_cast<char>(draw(1, 0x7F));
    } else if (kind < 8) {
      text += static_cast<char>(draw(0xC2, 0xDF));
      text += static_cast<char>(draw(0x80, 0xBF));
    } else {
      text += *rc::gen::elementOf(known);
    }
  }
  return text;
}

double nasty_number() {
  static const std::vector<double> known{0, -0.0, 1, 0.1, 2.5, 1e-300, 5e-324, 1e12, 123456789.125, 1.0 / 3};
  return *rc::gen::elementOf(known);
}

table adding(table_kind kind) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(table_op::add));
}

/// Names hold no control characters.
std::string nasty_name() {
  std::string name;
  const std::string text = nasty();
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool wide = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (wide) ++i;
    name += wide || byte < 0x20 || byte == 0x7F ? '_' : text[i];
  }
  return name;
}

/// Distinct names.
std::vector<std::string> nasty_names(int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i)
    names.push_back(nasty_name() + std::to_string(i) + (draw(0, 1) == 0 ? "" : nasty_name()));
  return names;
}

void push_pairs(table::column& to) {
  std::vector<std::string> texts;
  const int pairs = draw(0, 3);
  for (int i = 0; i < pairs; ++i) {
    texts.push_back("k" + nasty() + std::to_string(i));
    texts.push_back(nasty());
  }
  to.push_list(std::vector<std::string_view>(texts.begin(), texts.end()));
}

const std::string& one_of(const std::vector<std::string>& names) {
  return names[static_cast<std::size_t>(draw(0, static_cast<int>(names.size()) - 1))];
}

std::vector<table> random_tables() {
  const std::vector<std::string> queues = nasty_names(draw(1, 3));
  const std::vector<std::string> nodes = nasty_names(draw(1, 3));
  const std::vector<std::string> groups = nasty_names(draw(1, 3));
  const std::vector<std::string> pods = nasty_names(draw(1, 6));
  std::vector<table> tables;

  table& resource = tables.emplace_back(adding(table_kind::resource));
  resource.add(col::resource_name, column_type::string).push("vendor.com/" + nasty_name());
  resource.add(col::resource_unit, column_type::string).push(nasty());

  table& queue = tables.emplace_back(adding(table_kind::queue));
  auto& queue_name = queue.add(col::queue_name, column_type::string);
  auto& weight = queue.add(col::queue_over_quota_weight, column_type::f64, quota_dimensions);
  auto& usage = queue.add(col::queue_usage, column_type::f64, quota_dimensions);
  for (const std::string& name : queues) {
    queue_name.push(std::string_view(name));
    for (std::uint32_t i = 0; i < quota_dimensions; ++i) weight.push(nasty_number()), usage.push(nasty_number());
  }

  table& node = tables.emplace_back(adding(table_kind::node));
  auto& node_name = node.add(col::node_name, column_type::string);
  auto& capacity = node.add(col::node_capacity, column_type::i64, 5);
  auto& labels = node.add(col::node_labels, column_type::string_list);
  for (const std::string& name : nodes) {
    node_name.push(std::string_view(name));
    for (int i = 0; i < 5; ++i) capacity.push(std::int64_t{draw(0, 8)} * 1000);
    push_pairs(labels);
  }

  table& group = tables.emplace_back(adding(table_kind::pod_group));
  auto& group_name = group.add(col::pod_group_name, column_type::string);
  auto& in_queue = group.add(col::pod_group_queue, column_type::string);
  auto& name_space = group.add(col::pod_group_namespace, column_type::string);
  for (const std::string& name : groups) {
    group_name.push(std::string_view(name));
    in_queue.push(std::string_view(one_of(queues)));
    name_space.push(nasty());
  }

  table& pod = tables.emplace_back(adding(table_kind::pod));
  auto& pod_name = pod.add(col::pod_name, column_type::string);
  auto& in_group = pod.add(col::pod_group_ref, column_type::string);
  auto& status = pod.add(col::pod_status_column, column_type::u8);
  auto& on_node = pod.add(col::pod_node, column_type::string);
  auto& request = pod.add(col::pod_request, column_type::i64, 1);
  auto& pod_labels = pod.add(col::pod_labels, column_type::string_list);
  auto& selector = pod.add(col::pod_node_selector, column_type::string_list);
  auto& obstacle = pod.add(col::pod_obstacle, column_type::string);
  for (const std::string& name : pods) {
    pod_name.push(std::string_view(name));
    // Pods without a group are those that run somewhere.
    const bool alone = draw(0, 3) == 0;
    in_group.push(alone ? std::string_view{} : std::string_view(one_of(groups)));
    status.push(static_cast<std::uint8_t>(alone ? pod_status::running : pod_status::pending));
    on_node.push(alone ? std::string_view(one_of(nodes)) : std::string_view{});
    request.push(std::int64_t{draw(0, 3)});
    push_pairs(pod_labels);
    push_pairs(selector);
    obstacle.push(nasty());
  }
  return tables;
}

snapshot built(const result<io::cluster_input>& input) {
  if (!input.ok()) RC_FAIL(input.failure().message);
  result<cluster> made = io::build_cluster(*input);
  if (!made.ok()) RC_FAIL(made.failure().message);
  return made->take_snapshot();
}

}  // namespace

TEST_CASE("JSON, YAML and scenarios keep every byte of a cluster") {
  CHECK(rc::check([] {
    io::cluster_input input;
    input.tables = random_tables();
    const snapshot first = built(std::move(input));
    const std::string json = *io::format_cluster_json(first, 11);
    const snapshot from_json = built(io::parse_cluster_json(json, "c.json"));
    RC_ASSERT(from_json.digest() == first.digest());
    const std::string yaml = *io::format_cluster_yaml(from_json, 11);
    const snapshot from_yaml = built(io::parse_cluster_yaml(yaml, "c.yaml"));
    RC_ASSERT(from_yaml.digest() == first.digest());
    RC_ASSERT(*io::format_cluster_json(from_yaml, 11) == json);
    RC_ASSERT(*io::format_cluster_yaml(from_yaml, 11) == yaml);
    const std::string statements = *io::format_cluster("c.ks", from_yaml, 11);
    const snapshot from_statements = built(io::parse_cluster(statements, "c.ks"));
    RC_ASSERT(from_statements.digest() == first.digest());
    RC_ASSERT(*io::format_cluster_json(from_statements, 11) == json);
  }));
}

}  // namespace of_test_io_forms
