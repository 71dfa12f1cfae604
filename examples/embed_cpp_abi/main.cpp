/// From nothing to a decision in C++17 over the C interface: the program goes on running with later versions of the
/// library. c++ -std=c++17 main.cpp $(pkg-config --cflags --libs kaisched) -o embed && ./embed [PRESET]
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <kaisched/abi.hpp>

namespace abi = kaisched::abi;

namespace {

abi::session decide(const std::string& preset) {
  using texts = std::vector<std::string>;
  using numbers = std::vector<std::int64_t>;
  constexpr std::int64_t gib = std::int64_t{1} << 30;

  abi::staging nodes(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 2);
  nodes.texts(KAISCHED_NODE_COL_NAME, texts{"node-1", "node-2"});
  nodes.numbers(KAISCHED_NODE_COL_CAPACITY,  // milli-cores, bytes, milli-GPU, pods
                numbers{64'000, 512 * gib, 8000, 110, 64'000, 512 * gib, 8000, 110});
  abi::staging queues(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 1);
  queues.texts(KAISCHED_QUEUE_COL_NAME, texts{"team"});
  abi::staging groups(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 2);
  groups.texts(KAISCHED_POD_GROUP_COL_NAME, texts{"train", "tune"})
      .texts(KAISCHED_POD_GROUP_COL_QUEUE, texts{"team", "team"})
      .numbers(KAISCHED_POD_GROUP_COL_MIN_MEMBER, numbers{2, 2});
  abi::staging pods(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 4);
  pods.texts(KAISCHED_POD_COL_NAME, texts{"train-0", "train-1", "tune-0", "tune-1"})
      .texts(KAISCHED_POD_COL_GROUP, texts{"train", "train", "tune", "tune"})
      .numbers(KAISCHED_POD_COL_REQUEST, numbers{8000, 64 * gib, 6000, 8000, 64 * gib, 6000,  //
                                                 8000, 64 * gib, 4000, 8000, 64 * gib, 4000});

  const abi::engine engine({{"preset", preset}});
  abi::cluster cluster;
  cluster.apply({nodes.view(), queues.view(), groups.view(), pods.view()});  // all rows or none
  return engine.run(cluster.take_snapshot(), 0);                             // time is an argument
}

void print(const abi::session& session) {
  const abi::table decisions = session.table(KAISCHED_TABLE_DECISION);
  const abi::text_column pods = decisions.texts(KAISCHED_DECISION_COL_POD_NAME);
  const abi::text_column nodes = decisions.texts(KAISCHED_DECISION_COL_NODE_NAME);
  const abi::list_column gpus = decisions.lists(KAISCHED_DECISION_COL_DEVICES);
  for (std::size_t row = 0; row < decisions.rows(); ++row) {
    if (decisions.name(KAISCHED_DECISION_COL_KIND, row) != "bind") continue;  // the reasons say more
    std::cout << "bind " << pods[row] << " on " << nodes[row] << ", GPUs";
    for (const std::int64_t gpu : gpus[row]) std::cout << ' ' << gpu;
    std::cout << '\n';
  }
  const abi::table reasons = session.table(KAISCHED_TABLE_REASON);
  for (std::size_t row = 0; row < reasons.rows(); ++row) {
    std::cout << reasons.texts(KAISCHED_REASON_COL_GROUP_NAME)[row]
              << " waits: " << reasons.texts(KAISCHED_REASON_COL_TEXT)[row] << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    print(decide(argc > 1 ? argv[1] : "kai"));
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
