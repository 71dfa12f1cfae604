// HAMi's order: which device is tried first, what refuses it, what a pod gets. Numbers by hand from its rules.

#include <doctest/doctest.h>

#include "devices/cards.hpp"
#include "policy/devices/allocation/node_score.hpp"

namespace of_test_in_order {

using namespace kaisched::devices;
using namespace kaisched::devices::test;

namespace {

/// Two cards of 15,360 MiB; the first has one sharer with 4,096 MiB and 30 cores.
node two_cards() {
  node made = cards(2, 15360, "NVIDIA");
  use(made.devices[0], 1, 4096, 30);
  return made;
}

node_placement place(node where, const pod& asking, std::string_view devices = "spread",
                     const space_quotas& quotas = {}) {
  place_policies policies;
  policies.devices = devices;
  return place_in_order(vendors(), where, asking, policies, quotas);
}

}  // namespace

TEST_CASE("H1: scores are of the use before the pod, ten times over") {
  const node where = two_cards();
  CHECK(device_score(where.devices[0], {}, {}) == doctest::Approx(6.6667).epsilon(1e-4));
  CHECK(device_score(where.devices[1], {}, {}) == 0);
  CHECK(use_score(where.devices) == doctest::Approx(3.3333).epsilon(1e-4));
  CHECK(place(where, one(ask(1, 1000, 10))).score == doctest::Approx(3.3333).epsilon(1e-4));
}

TEST_CASE("H1: a request for exactly the model of a device counts in its score") {
  const std::vector<request> requests{ask(1, 3072, 20)};
  CHECK(device_score(card(0, 15360, "NVIDIA"), requests, {}) == doctest::Approx(5.0));
  CHECK(device_score(card(0, 15360, "NVIDIA-A100"), requests, {}) == 0);
}

TEST_CASE("H2: spread tries the emptiest card first, binpack the fullest") {
  CHECK(ids(place(two_cards(), one(ask(1, 1000, 10)), "spread")) == "1");
  CHECK(ids(place(two_cards(), one(ask(1, 1000, 10)), "binpack")) == "0");
  CHECK(ids(place(two_cards(), one(ask(2, 3000, 40)), "spread")) == "1,0");
  CHECK(ids(place(two_cards(), one(ask(2, 3000, 40)), "binpack")) == "0,1");
}

TEST_CASE("H3: among equal cards the last is taken, or that of the higher NUMA node") {
  node where = cards(3, 1024);
  CHECK(ids(place(where, one(ask(1, 100, 10)))) == "2");
  where.devices[0].numa = 1;
  CHECK(ids(place(where, one(ask(1, 100, 10)))) == "0");
}

TEST_CASE("H4: a list of policies is a list of keys; index is the last") {
  node where = cards(4, 1024);
  use(where.devices[1], 1, 100, 10);
  where.devices[2].numa = 1;
  CHECK(ids(place(where, one(ask(1, 100, 10)), "numa,binpack")) == "2");
  CHECK(ids(place(where, one(ask(1, 100, 10)), "binpack,numa")) == "1");
  CHECK(ids(place(where, one(ask(1, 100, 10)), "mutex,topology-aware")) == "3");
}

TEST_CASE("H5: memory is asked before cores, cores before being exclusive") {
  const auto reason_on_first = [](node where, const request& asked) {
    where.devices.resize(1);
    return place(std::move(where), one(asked)).reason;
  };
  CHECK(reason_on_first(two_cards(), ask_share(1, 1000, 100)) == "1/1 CardInsufficientMemory");
  CHECK(reason_on_first(two_cards(), ask_share(1, 500, 100)) == "1/1 CardInsufficientCore");
  node no_cores = two_cards();
  no_cores.devices[0].used_cores = 0;
  CHECK(reason_on_first(no_cores, ask_share(1, 500, 100)) == "1/1 ExclusiveDeviceAllocateConflict");
}

TEST_CASE("H6: a device whose cores are all taken gives nothing to who asks for none") {
  node where = two_cards();
  where.devices.resize(1);
  where.devices[0].used_cores = 100;
  CHECK(place(where, one(ask(1, 1000, 0))).reason == "1/1 CardComputeUnitsExhausted");
  where.devices[0].used_cores = 99;
  CHECK(place(where, one(ask(1, 1000, 0))).fits);
}

TEST_CASE("H7: shares of memory are whole mebibytes") {
  node where = cards(1, 15360);
  const node_placement placed = place(where, one(ask_share(1, 330, 0)));
  CHECK(find_grants(placed.grants, "NVIDIA")->at(0)[0].memory == 5068 * mebibyte);
}

TEST_CASE("H8: health, cordon, lists of ids and models, sharers") {
  node where = cards(4, 1024);
  where.devices[0].healthy = false;
  where.devices[1].cordoned = true;
  where.devices[2].used_slots = 10;
  pod asking = one(ask(1, 100, 10));
  asking.annotations = {{"nvidia.com/nouse-gpuuuid", " GPU-3"}};
  CHECK(place(where, asking).reason ==
        "1/4 CardCordoned, 1/4 CardNotHealth, 1/4 CardTimeSlicingExhausted, 1/4 CardUuidMismatch");
  asking.annotations = {{"nvidia.com/use-gputype", "h100"}};
  where.devices[3].type = "NVIDIA-H100";
  CHECK(ids(place(where, asking)) == "3");
  asking.annotations = {{"nvidia.com/nouse-gputype", "H100,"}};
  CHECK(place(where, asking).reason ==
        "1/4 CardCordoned, 1/4 CardNotHealth, 1/4 CardTimeSlicingExhausted, 1/4 CardTypeMismatch");
}

TEST_CASE("H9: devices bound to a NUMA node start anew at the next one") {
  node where = cards(4, 1024);
  for (std::size_t i = 0; i < 4; ++i) where.devices[i].numa = i < 3 ? 0 : 1;
  pod asking = one(ask(2, 100, 10));
  asking.annotations = {{"nvidia.com/numa-bind", "true"}};
  place_policies policies;
  policies.bind_numa = true;
  const node_placement placed = place_in_order(vendors(), where, asking, policies, {});
  CHECK(ids(placed) == "2,1");
  asking.containers[0][0].count = 4;
  CHECK(place_in_order(vendors(), where, asking, policies, {}).reason ==
        "1/4 NumaNotFit, 3/4 AllocatedCardsInsufficientRequest");
}

TEST_CASE("H10: containers are placed one after another, those that run first on a copy") {
  node where = cards(2, 1000);
  pod asking;
  asking.init_containers = 1;
  asking.containers = {{ask(1, 900, 0)}, {ask(1, 600, 0)}, {ask(1, 600, 0)}};
  const node_placement placed = place(where, asking, "binpack");
  REQUIRE(placed.fits);
  REQUIRE(placed.uses.size() == 2);
  // The first container has the last card for itself; then one of the others each card.
  CHECK(placed.uses[0].memory == 600 * mebibyte);
  CHECK(placed.uses[1].memory == 900 * mebibyte);
}

TEST_CASE("H11: there is no way back from a container to an earlier one") {
  node where = cards(2, 1000);
  use(where.devices[0], 1, 500, 10);
  pod asking;
  asking.containers = {{ask(1, 400, 10)}, {ask(1, 800, 10)}};
  CHECK(place(where, asking, "binpack").fits);
  CHECK(place(where, asking, "spread").reason == "2/2 CardInsufficientMemory");
}

TEST_CASE("H12: quotas count what the pod would hold, slots included") {
  const node where = cards(4, 1000);
  space_quota quota{"team", "NVIDIA", 1000 * mebibyte, {}, {}, 300 * mebibyte, 0, 0};
  CHECK(place(where, one(ask(1, 700, 0)), "spread", {quota}).fits);
  CHECK(place(where, one(ask(2, 400, 0)), "spread", {quota}).reason ==
        "1/4 AllocatedCardsInsufficientRequest, 3/4 ResourceQuotaNotFit");
  quota.memory.reset();
  quota.slots = 1;
  CHECK(place(where, one(ask(2, 100, 0)), "spread", {quota}).reason ==
        "1/4 AllocatedCardsInsufficientRequest, 3/4 ResourceQuotaNotFit");
  CHECK(place(where, one(ask(1, 100, 0)), "spread", {quota}).fits);
  quota.slots = 0;
  CHECK_FALSE(place(where, one(ask(1, 100, 0)), "spread", {quota}).fits);
}

TEST_CASE("the node is as it was after a pod was tried") {
  node where = cards(2, 1000);
  where.devices[0].mode = where.devices[1].mode = "mig";
  for (device& of : where.devices)
    of.profiles = find_divided_model(shipped().divided, "A100", 40960 * mebibyte)->profiles;
  const std::vector<device> before = where.devices;
  place_policies policies;
  REQUIRE(place_in_order(vendors(), where, one(ask(2, 500, 0)), policies, {}).fits);
  CHECK(where.devices == before);
}

TEST_CASE("H13: weights of scores need all three, none negative, one positive") {
  CHECK(parse_score_weights("slot=1, core=2,memory=0"));
  CHECK(parse_score_weights("memory=3,core=0,slot=0")->memory == 3);
  for (const char* text : {"slot=1,core=2", "slot=1,core=2,gpu=3", "slot=1,slot=2,memory=3", "slot=-1,core=0,memory=1",
                           "slot=0,core=0,memory=0", "slot=1,core=x,memory=1", "slot,core=1,memory=1", ""}) {
    CAPTURE(text);
    CHECK_FALSE(parse_score_weights(text));
  }
}

}  // namespace of_test_in_order
