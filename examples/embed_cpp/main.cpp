/// From nothing to a decision in C++20, and a question about what would have been. Usage: embed_cpp [PRESET]
#include <bit>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/kaisched.hpp>

namespace {

using kaisched::column_type;
namespace col = kaisched::col;

// ---- tables ---------------------------------------------------------------------------------------------------------

kaisched::table new_rows(kaisched::table_kind kind) {
  return kaisched::table(kind, kaisched::table_op::add);
}

void put(kaisched::table& to, std::uint32_t column, std::initializer_list<std::string_view> texts) {
  kaisched::table::column& c = to.add(column, column_type::string);
  for (const std::string_view text : texts) c.push(text);
}

/// `numbers` row by row, `width` for each.
void put(kaisched::table& to, std::uint32_t column, std::uint32_t width, std::initializer_list<std::int64_t> numbers) {
  kaisched::table::column& c = to.add(column, column_type::i64, width);
  for (const std::int64_t number : numbers) c.push(number);
}

std::vector<kaisched::table> small_cluster() {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  constexpr std::int64_t gpu = kaisched::whole_device;

  kaisched::table nodes = new_rows(kaisched::table_kind::node);
  put(nodes, col::node_name, {"node-1", "node-2"});
  put(nodes, col::node_capacity, kaisched::built_in_dimensions,  // milli-cores, bytes, milli-GPU, pods
      {64'000, 512 * gib, 8 * gpu, 110, 64'000, 512 * gib, 8 * gpu, 110});

  kaisched::table queues = new_rows(kaisched::table_kind::queue);
  put(queues, col::queue_name, {"team"});

  kaisched::table groups = new_rows(kaisched::table_kind::pod_group);
  put(groups, col::pod_group_name, {"train", "tune"});
  put(groups, col::pod_group_queue, {"team", "team"});
  put(groups, col::pod_group_min_member, 1, {2, 2});

  kaisched::table pods = new_rows(kaisched::table_kind::pod);
  put(pods, col::pod_name, {"train-0", "train-1", "tune-0", "tune-1"});
  put(pods, col::pod_group_ref, {"train", "train", "tune", "tune"});
  put(pods, col::pod_request, kaisched::quota_dimensions,
      {8000, 64 * gib, 6 * gpu, 8000, 64 * gib, 6 * gpu, 8000, 64 * gib, 4 * gpu, 8000, 64 * gib, 4 * gpu});

  std::vector<kaisched::table> tables;
  for (kaisched::table* one : {&nodes, &queues, &groups, &pods}) tables.push_back(std::move(*one));
  return tables;
}

// ---- results --------------------------------------------------------------------------------------------------------

void print(std::string_view before, const kaisched::snapshot& names, std::span<const kaisched::decision> decisions) {
  for (const kaisched::decision& d : decisions) {
    std::cout << before << decision_kind_name(d.kind) << " " << names.pod_name(d.pod) << " on "
              << names.node_name(d.node) << ", GPUs";
    for (std::uint64_t left = d.devices.mask; left != 0; left &= left - 1) std::cout << " " << std::countr_zero(left);
    std::cout << "\n";
  }
}

// ---- errors: calls return results; this program has nothing better to do than to give up ----------------------------

[[noreturn]] void give_up(const kaisched::error& failure) {
  throw std::runtime_error(std::string(status_name(failure.code)) + ": " + failure.message);
}

void check(const kaisched::result<void>& done) {
  if (!done) give_up(done.failure());
}

template <class T>
T check(kaisched::result<T> made) {
  if (!made) give_up(made.failure());
  return std::move(made).value();
}

void embed(std::string_view preset) {
  kaisched::engine engine;
  check(engine.set("preset", preset));

  kaisched::cluster cluster;
  const std::vector<kaisched::table> tables = small_cluster();
  std::vector<kaisched::table_view> views;
  views.reserve(tables.size());
  for (const kaisched::table& one : tables) views.push_back(one.view());
  check(cluster.apply(views));  // all rows or none

  const kaisched::snapshot snapshot = cluster.take_snapshot();
  kaisched::session session = check(engine.open(snapshot, 0));  // no clock inside: time is an argument

  // What if `tune` went first? A fork costs microseconds, and what it decides changes nothing outside of it.
  kaisched::session fork = session.fork();
  const kaisched::entity_id tune = check(cluster.find(kaisched::entity_kind::pod_group, "tune"));
  check(fork.run("allocate", check(snapshot.row_of(tune, kaisched::entity_kind::pod_group))));

  check(session.run());  // all actions of the options; engine::run opens and runs at once
  print("", snapshot, session.decisions());
  for (const kaisched::reason& why : session.reasons()) {
    std::cout << snapshot.group_name(why.group) << " waits: " << session.text(why) << "\n";
  }
  print("if tune went first: ", snapshot, fork.decisions());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    embed(argc > 1 ? argv[1] : "kai");
    return 0;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << "\n";
  }
  return 1;
}
