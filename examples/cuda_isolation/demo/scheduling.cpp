#include "scheduling.hpp"

namespace demo {

namespace abi = kaisched::abi;

namespace {

using texts = std::vector<std::string>;
using numbers = std::vector<std::int64_t>;

}  // namespace

scheduling::scheduling(std::vector<card> cards) : cards_(std::move(cards)) {
  texts names, uuids;
  numbers capacity, memory;
  for (const card& one : cards_) {  // a node for each card
    names.push_back(one.node);
    uuids.push_back(one.uuid);
    memory.push_back(static_cast<std::int64_t>(one.bytes));
    for (const std::int64_t amount :
         {std::int64_t{64'000}, std::int64_t{1} << 38, std::int64_t{1000}, std::int64_t{110}})
      capacity.push_back(amount);  // milli-cores, bytes, milli-GPU, pods
  }
  abi::staging nodes(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, cards_.size());
  nodes.texts(KAISCHED_NODE_COL_NAME, names)
      .numbers(KAISCHED_NODE_COL_CAPACITY, capacity)
      .numbers(KAISCHED_NODE_COL_GPU_MEMORY, memory);
  abi::staging devices(KAISCHED_TABLE_DEVICE, KAISCHED_OP_ADD, cards_.size());
  devices.texts(KAISCHED_DEVICE_COL_NODE, names)
      .numbers(KAISCHED_DEVICE_COL_INDEX, std::vector<std::uint32_t>(cards_.size(), 0))
      .texts(KAISCHED_DEVICE_COL_UUID, uuids)
      .numbers(KAISCHED_DEVICE_COL_MEMORY, memory);
  abi::staging queues(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 1);
  queues.texts(KAISCHED_QUEUE_COL_NAME, texts{"team"});
  cluster_.apply({nodes.view(), devices.view(), queues.view()});
}

std::vector<cuda_agent::grant> scheduling::decide(const std::vector<request>& waiting, bool by_load,
                                                  std::int64_t now_ns) {
  texts names, queues;
  numbers requests, priorities;
  for (const request& one : waiting) {
    names.push_back(one.tenant);
    queues.emplace_back("team");
    priorities.push_back(static_cast<std::int64_t>(100 - priorities.size()));  // in the order of the list
    for (const std::int64_t amount : {std::int64_t{1000}, std::int64_t{1} << 30, one.share}) requests.push_back(amount);
  }
  abi::staging groups(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, waiting.size());
  groups.texts(KAISCHED_POD_GROUP_COL_NAME, names)
      .texts(KAISCHED_POD_GROUP_COL_QUEUE, queues)
      .numbers(KAISCHED_POD_GROUP_COL_PRIORITY, priorities);
  abi::staging pods(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, waiting.size());
  pods.texts(KAISCHED_POD_COL_NAME, names)
      .texts(KAISCHED_POD_COL_GROUP, names)
      .numbers(KAISCHED_POD_COL_REQUEST, requests);
  cluster_.apply({groups.view(), pods.view()});

  abi::engine engine({{"mode", "strict"}, {"placement.gpu", "spread"}});
  if (by_load) {
    engine.set("parts", "predicates,load");
    engine.set("load.strategy", "risk");
  }
  const abi::session session = engine.run(cluster_.take_snapshot(), now_ns);
  const abi::table decisions = session.table(KAISCHED_TABLE_DECISION);
  const abi::text_column pod = decisions.texts(KAISCHED_DECISION_COL_POD_NAME);
  const abi::text_column node = decisions.texts(KAISCHED_DECISION_COL_NODE_NAME);
  const abi::list_column devices = decisions.lists(KAISCHED_DECISION_COL_DEVICES);
  const abi::list_column memory = decisions.lists(KAISCHED_DECISION_COL_DEVICE_MEMORY);
  const auto share = decisions.numbers<std::int64_t>(KAISCHED_DECISION_COL_DEVICE_SHARE);

  std::vector<cuda_agent::grant> granted;
  for (std::size_t row = 0; row < decisions.rows(); ++row) {
    if (decisions.name(KAISCHED_DECISION_COL_KIND, row) != "bind") continue;
    cuda_agent::grant g{std::string(pod[row]), std::string(node[row]), false, {}};
    for (std::size_t i = 0; i < devices[row].size(); ++i)
      for (const card& one : cards_) {
        if (one.node != g.node) continue;
        const auto permille = static_cast<std::uint32_t>(share[row]);  // milli-GPU
        g.cards.push_back(
            {one.uuid, devices[row][i], one.bytes, static_cast<std::uint64_t>(memory[row][i]), permille, permille, 0});
      }
    granted.push_back(std::move(g));
  }
  texts bound, nodes;
  for (const cuda_agent::grant& g : granted) {
    bound.push_back(g.tenant);
    nodes.push_back(g.node);
  }
  abi::staging running(KAISCHED_TABLE_POD, KAISCHED_OP_CHANGE, bound.size());
  running.texts(KAISCHED_POD_COL_NAME, bound)
      .numbers(KAISCHED_POD_COL_STATUS, std::vector<std::uint8_t>(bound.size(), KAISCHED_POD_STATUS_RUNNING))
      .texts(KAISCHED_POD_COL_NODE, nodes);
  std::vector<std::vector<std::int64_t>> at;
  for (const cuda_agent::grant& g : granted) {
    at.emplace_back();
    for (const cuda_agent::card_grant& one : g.cards) at.back().push_back(one.index);
  }
  running.lists(KAISCHED_POD_COL_DEVICES, at);
  if (!bound.empty()) cluster_.apply({running.view()});
  return granted;
}

void scheduling::measured(const std::vector<usage>& cards) {
  texts nodes;
  std::vector<std::uint32_t> indices;
  numbers utilization, deviation;
  for (const usage& one : cards) {
    nodes.push_back(one.node);
    indices.push_back(static_cast<std::uint32_t>(one.index));
    utilization.push_back(one.utilization);
    deviation.push_back(one.deviation);
  }
  abi::staging devices(KAISCHED_TABLE_DEVICE, KAISCHED_OP_CHANGE, cards.size());
  devices.texts(KAISCHED_DEVICE_COL_NODE, nodes)
      .numbers(KAISCHED_DEVICE_COL_INDEX, indices)
      .numbers(KAISCHED_DEVICE_COL_UTILIZATION, utilization)
      .numbers(KAISCHED_DEVICE_COL_DEVIATION, deviation);
  cluster_.apply({devices.view()});
}

}  // namespace demo
