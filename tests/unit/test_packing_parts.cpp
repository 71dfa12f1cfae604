// Scores of the parts that pack, on nodes that are small enough to compute them by hand; and the measure of
// fragmentation beside the definition.
#include <cmath>
#include <random>

#include "framework/class_scores.hpp"
#include "policy/access.hpp"
#include "policy/placement/expected_waste.hpp"
#include "policy/placement/fragmentation.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_packing_parts {

using namespace kaisched;
using kind = table_kind;
using test::add;
using test::must;
using test::numbers;
using test::texts;

namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

/// Two nodes of 8 GPUs and 96 cores and one of 2 GPUs and 128 cores; what runs is on the first two.
snapshot three_nodes() {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity", "labels"})
                   .add({"a", numbers{96000, 768 * gib, 8000, 100}, texts{"gpu.model", "G3"}})
                   .add({"b", numbers{96000, 768 * gib, 8000, 100}, texts{"gpu.model", "G2"}})
                   .add({"c", numbers{128000, 512 * gib, 2000, 100}, texts{"gpu.model", "T4"}})));
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"there", "q"}).add({"asks", "q"})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "device_count", "status", "node", "devices"})
                   .add({"whole", "there", numbers{12000, gib, 3000, 1}, 0, pod_status::running, "a", numbers{0, 1, 2}})
                   .add({"half", "there", numbers{8000, gib, 460, 1}, 1, pod_status::running, "b", numbers{0}})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "device_count"})
                   .add({"cpu", "asks", numbers{16000, gib, 0, 1}, 0})
                   .add({"one", "asks", numbers{11300, gib, 1000, 1}, 0})
                   .add({"three", "asks", numbers{11300, gib, 3000, 1}, 0})
                   .add({"share", "asks", numbers{3152, gib, 540, 1}, 1})));
  return c.take_snapshot();
}

/// Of one part, by node.
std::vector<double> scores(const std::string& part, const std::string& pod, const std::string& more = "integer") {
  const snapshot base = three_nodes();
  engine e;
  must(e.set("parts", "predicates," + part));
  must(e.set("packing.scores", more));
  must(e.set("fgd.pods",
             "cpu=3000:gpus=1:share=500:weight=0.5,cpu=11000:gpus=2:weight=0.25,cpu=100000:weight=0.125,"
             "gpus=1:where=gpu.model=G2|T4:weight=0.125"));
  session s = must(e.open(base, 0));
  pod_row row = 0;
  while (base.pod_name(row) != pod) ++row;
  const candidate_table table = must(s.candidates(row));
  std::vector<double> of(3);
  for (std::size_t i = 0; i < table.nodes.size(); ++i) of[table.nodes[i].node] = table.nodes[i].score;
  return of;
}

using doubles = std::vector<double>;

}  // namespace

TEST_CASE("dot_product: the product of what is left and what is asked for, of the largest node, turned around") {
  // 100 (1 - (84/128 11.3/128 + 5/8 1/8) / 2) = 93.2; 91.1; 94.0
  CHECK(scores("dot_product", "one") == doubles{93, 91, 94});
  CHECK(scores("dot_product", "cpu") == doubles{95, 95, 93});
  const doubles raw = scores("dot_product", "one", "raw");
  CHECK(raw[0] == doctest::Approx(100 * (1 - (84.0 / 128 * 11.3 / 128 + 5.0 / 8 / 8) / 2)));
  CHECK(raw[1] == doctest::Approx(100 * (1 - (88.0 / 128 * 11.3 / 128 + 7.54 / 8 / 8) / 2)));
}

TEST_CASE("best_fit: what would be left, of the largest node, turned around") {
  CHECK(scores("best_fit", "one") == doubles{46, 29, 48});
  CHECK(scores("best_fit", "cpu") == doubles{42, 24, 43});
  CHECK(scores("best_fit", "one", "raw")[2] == doctest::Approx(100 * (1 - 116.7 / 256 - 1.0 / 16)));
}

TEST_CASE("gpu_packing: devices in use, then idle ones of nodes in use, then idle nodes") {
  CHECK(scores("gpu_packing", "share") == doubles{49, 95, 31});  // the rest of b's first device is 54 %, all of it
  CHECK(scores("gpu_packing", "one") == doubles{49, 49, 31});
  CHECK(scores("gpu_packing", "three") == doubles{47, 47, 31});
  CHECK(scores("gpu_packing", "cpu") == doubles{0, 0, 0});
}

TEST_CASE("gpu_clustering: nodes that host pods of the same size, fuller ones first") {
  CHECK(scores("gpu_clustering", "three") == doubles{9 + 75, 1, 18 + 25});
  CHECK(scores("gpu_clustering", "share") == doubles{9, 1 + 75, 18 + 25});
  CHECK(scores("gpu_clustering", "one") == doubles{9, 1, 18 + 25});
  CHECK(scores("gpu_clustering", "cpu") == doubles{0, 0, 0});
}

TEST_CASE("gpu_clustering: who leaves a node hosts it no more, and who comes in the session does") {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity", "labels"})
                   .add({"a", numbers{64000, gib, 4000, 100}, texts{}})
                   .add({"b", numbers{64000, gib, 4000, 100}, texts{"at", "b"}})));
  must(c.apply(add(kind::pod_group, {"name", "queue", "created"})
                   .add({"old", "q", 0})
                   .add({"new", "q", 1})
                   .add({"next", "q", 2})));
  must(c.apply(add(kind::pod, {"name", "group", "request", "status", "node", "node_selector"})
                   .add({"leaves", "old", numbers{0, 0, 2000, 1}, pod_status::releasing, "a", texts{}})
                   .add({"comes", "new", numbers{0, 0, 2000, 1}, pod_status::pending, "", texts{"at", "b"}})
                   .add({"next", "next", numbers{0, 0, 2000, 1}, pod_status::pending, "", texts{}})));
  const snapshot base = c.take_snapshot();
  engine e;
  must(e.set("parts", "predicates,gpu_clustering"));
  session s = must(e.open(base, 0));
  const auto scored = [&](session& of) {
    const candidate_table table = must(of.candidates(2));
    std::vector<double> scores(2);
    for (const candidate& one : table.nodes) scores[one.node] = one.score;
    return scores;
  };
  CHECK(scored(s) == doubles{25, 25});
  session then = must(e.open(base, 0));
  must(then.run("allocate"));
  CHECK(test::lines(then) == std::vector<std::string>{"bind comes b", "bind next b"});
}

TEST_CASE("nodes that a pod of a failed gang had closed are offered again") {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity", "labels"})
                   .add({"a", numbers{64000, gib, 1000, 100}, texts{"zone", "z"}})
                   .add({"b", numbers{64000, gib, 4000, 100}, texts{"zone", "z"}})));
  must(c.apply(add(kind::pod_group, {"name", "queue", "min_member", "created"})
                   .add({"gang", "q", 2, 0})
                   .add({"next", "q", 1, 1})));
  // The first pod of the gang goes to b and closes the zone for the second, so both go; the next one is like the
  // second.
  must(c.apply(add(kind::pod, {"name", "group", "request", "labels", "anti_affinity"})
                   .add({"gang-0", "gang", numbers{0, 0, 2000, 1}, texts{"app", "noisy"}, texts{}})
                   .add({"gang-1", "gang", numbers{0, 0, 1000, 1}, texts{}, texts{"zone: app=noisy"}})
                   .add({"next-0", "next", numbers{0, 0, 1000, 1}, texts{}, texts{"zone: app=noisy"}})));
  const snapshot base = c.take_snapshot();
  for (const char* reference : {"false", "true"}) {
    CAPTURE(reference);
    engine e;
    must(e.set("parts", "predicates,best_fit"));
    must(e.set("reference_path", reference));
    CHECK(test::lines(must(e.run(base, 0))) == std::vector<std::string>{"bind next-0 a"});
  }
}

TEST_CASE("fgd: the loss by hand") {
  // On b are free 540 and seven times 1000, 7540 in all. Lost to halves is nothing, to pairs 540, to pods without GPUs
  // all, to G2 or T4 540. On the first device the share leaves nothing but whole ones; on another 460 are lost to all.
  const double before = 0.25 * 540 + 0.125 * 7540 + 0.125 * 540;
  const double first = 0.125 * 7000;
  const auto sigmoid = [](double gain) { return 100 / (1 + std::exp(-gain / 1000)); };
  CHECK(scores("fgd", "share", "raw")[1] == doctest::Approx(sigmoid(before - first)));
  CHECK(scores("fgd", "share")[1] == std::trunc(sigmoid(before - first)));
  // On c a whole one: pairs lose the one that is left.
  CHECK(scores("fgd", "one", "raw")[2] == doctest::Approx(sigmoid(0.125 * 2000 - (0.25 * 1000 + 0.125 * 1000))));
  // G3 is lost to those who ask for G2 or T4 in any case; three of five leave two.
  CHECK(scores("fgd", "three", "raw")[0] ==
        doctest::Approx(sigmoid((0.125 * 5000 + 0.125 * 5000) - (0.125 * 2000 + 0.125 * 2000))));
  // 112 cores are left on c, enough for 100; none of it matters for GPUs.
  CHECK(scores("fgd", "cpu", "raw")[2] == 50);
}

TEST_CASE("fgd: without the option the pods of the snapshot are expected, the rarest left out") {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(kind::node, {"name", "capacity", "labels"})
                   .add({"a", numbers{64000, gib, 4000, 100}, texts{"kind", "x"}})
                   .add({"b", numbers{64000, gib, 2000, 100}, texts{"kind", "y"}})));
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"g", "q"})));
  // Of 20 pods 12 ask for halves, 6 for whole ones on x and one for two: that is 95 %. One asks for three. Those that
  // are gone do not count; one that runs does.
  auto pods = add(kind::pod, {"name", "group", "request", "device_count", "status", "node", "node_selector"});
  for (int i = 0; i < 20; ++i) {
    const bool half = i < 12;
    const std::int64_t gpus = half ? 500 : i == 18 ? 2000 : i == 19 ? 3000 : 1000;
    pods.add({"p" + std::to_string(i), "g", numbers{half ? 1000 : 2000, 1, gpus, 1}, half ? 1 : 0,
              i == 0 ? pod_status::running : pod_status::pending, i == 0 ? "a" : "",
              gpus != 1000 ? texts{} : texts{"kind", "x"}});
  }
  for (int i = 0; i < 5; ++i)
    pods.add({"gone" + std::to_string(i), "g", numbers{0, 0, 4000, 1}, 0, pod_status::succeeded, "", texts{}});
  must(c.apply(pods));
  const snapshot base = c.take_snapshot();
  const auto scored = [&](std::string_view expected) {
    engine e;
    must(e.set("parts", "predicates,fgd"));
    must(e.set("packing.scores", "raw"));
    must(e.set("fgd.pods", expected));
    const session s = must(e.open(base, 0));
    const candidate_table table = must(s.candidates(1));
    std::vector<double> of(2);
    for (const candidate& one : table.nodes) of[one.node] = one.score;
    return of;
  };
  const doubles counted = scored("");
  // The more GPUs the first of those that are as frequent, so three come before two.
  const std::string all = "cpu=1000:gpus=1:share=500:weight=12,cpu=2000:gpus=1:where=kind=x:weight=6,cpu=2000:gpus=3";
  CHECK(counted == scored(all));
  CHECK(counted != scored(all + ",cpu=2000:gpus=2"));
  CHECK(counted != scored("cpu=1000:gpus=1:share=500:weight=12,cpu=2000:gpus=1:where=kind=x:weight=6"));
  CHECK(counted[0] > 50);  // who asks for a half takes away what is lost to those who ask for whole ones
}

TEST_CASE("what is left of a device, by hand") {
  // Halves and parts of 300, equally often. The better of two that are drawn is the worse one every fourth time.
  const std::vector<std::int64_t> waste = policy::waste_of_device({{0, 1, 500, 7}, {0, 1, 300, 7}, {9, 0, 0, 5}});
  REQUIRE(waste.size() == 1001);
  CHECK(waste[0] == 0);
  CHECK(waste[299] == 299'000);
  CHECK(waste[300] == 0);
  CHECK(waste[400] == 100'000);
  CHECK(waste[500] == 200'000 / 4);                    // nothing, or 200
  CHECK(waste[700] == 100'000 * 3 / 4 + 200'000 / 4);  // 400 or 200 are left
  CHECK(waste[800] == 50'000 / 4);
  CHECK(waste[1000] == 50'000 * 3 / 4 + 125'000 / 4);
  // Whole devices only: what is not whole is lost. Three times as many halves: the worse one every sixteenth time.
  CHECK(policy::waste_of_device({{0, 2, 1000, 1}})[999] == 999'000);
  CHECK(policy::waste_of_device({{0, 2, 1000, 1}})[1000] == 0);
  CHECK(policy::waste_of_device({{0, 3, 500, 1}, {0, 1, 300, 1}})[500] == 200'000 / 16);
  CHECK(policy::waste_of_device({})[1000] == 1'000'000);
}

TEST_CASE("what pods without GPUs leave of CPU, by hand") {
  // Parts of a core: pods of 300 and 500, equally often; those with GPUs are not among them.
  const std::vector<std::int64_t> waste =
      policy::waste_of_cpu({{500'000, 0, 0, 7}, {300'000, 0, 0, 7}, {9'000, 1, 500, 5}}, 512'000);
  REQUIRE(waste.size() == 513);
  CHECK(waste[0] == 0);
  CHECK(waste[299] == 299'000);
  CHECK(waste[300] == 0);
  CHECK(waste[400] == 100'000);
  CHECK(waste[500] == 200'000 / 4);                   // nothing, or 200
  CHECK(waste[512] == 12'000 * 3 / 4 + 212'000 / 4);  // 12 or 212
  // To the nearest part, and one at least; a pod that asks for nothing is none.
  CHECK(policy::waste_of_cpu({{2'499, 0, 0, 1}}, 512'000)[3] == 1'000);
  CHECK(policy::waste_of_cpu({{2'500, 0, 0, 1}}, 512'000)[3] == 0);
  CHECK(policy::waste_of_cpu({{1, 0, 0, 1}}, 512'000)[3] == 0);
  CHECK(policy::waste_of_cpu({{0, 0, 0, 1}, {5'000, 1, 1000, 1}}, 512'000).empty());
}

TEST_CASE("what CPU and GPUs of a node leave of each other, by hand") {
  const auto units = policy::node_waste::units::for_largest(64'000, 8000);
  CHECK(units.largest_cpu == 64'000);
  CHECK(units.gpu == 100);
  const policy::node_waste one({{10'000, 1, 1000, 1}}, units);
  CHECK(one.amount(64'000, 8000) == 2'000'000);  // six pods, and the CPU is gone
  CHECK(one.amount(64'000, 8099) == 2'000'000);
  CHECK(one.amount(9'999, 8000) == 8'000'000);
  CHECK(one.amount(64'000, 1900) == 900'000);
  CHECK(one.amount(-1, 500) == 500'000);
  const policy::node_waste both({{10'400, 1, 1000, 1}, {20'000, 0, 0, 1}}, units);  // 10 rows and 20
  CHECK(both.amount(20'000, 2000) == 2'000'000 / 4);  // first a pod without GPUs: nothing for the others
  CHECK(both.amount(19'999, 2000) == 1'000'000);
  CHECK(policy::node_waste({{10'500, 1, 1000, 1}}, units).amount(10'000, 1000) == 1'000'000);
  CHECK(policy::node_waste::units::for_largest(1, 9000).gpu == 200);
  CHECK(policy::node_waste::units::for_largest(1, 40'000).gpu == 500);
  CHECK(policy::node_waste::units::for_largest(1, 64'000).gpu == 1000);
  CHECK(policy::node_waste::units::for_largest(1, 160'000).gpu == 2000);
  CHECK(policy::node_waste::units::for_largest(1, policy::most_gpus).gpu_rows <= 81);
  // Whoever asks for all of the largest node fits on it, however its amounts divide.
  const auto uneven = policy::node_waste::units::for_largest(10'007, 1000);
  CHECK(policy::node_waste({{10'007, 1, 1000, 1}}, uneven).amount(10'007, 1000) == 0);
  const auto nothing = policy::node_waste::units::for_largest(0, 0);
  CHECK(policy::node_waste({{1000, 1, 1000, 1}}, nothing).amount(5000, 3000) == 0);
}

namespace {

doubles scores_of_waste(const std::string& pod, const std::string& expected, const std::string& more = "integer",
                        const std::string& scarcity = "100") {
  const snapshot base = three_nodes();
  engine e;
  must(e.set("parts", "predicates,least_waste"));
  must(e.set("packing.scores", more));
  must(e.set("least_waste.scarcity", scarcity));
  must(e.set("fgd.pods", expected));
  session s = must(e.open(base, 0));
  pod_row row = 0;
  while (base.pod_name(row) != pod) ++row;
  const candidate_table table = must(s.candidates(row));
  doubles of(3);
  for (const candidate& one : table.nodes) of[one.node] = one.score;
  return of;
}

}  // namespace

TEST_CASE("least_waste: the waste by hand") {
  // Of a share of 540 on the first device of b nothing is left, where 40 were left over before: 0.4 steps of 100
  // better. On a and c it leaves 460 of a device; of 4460 and 1460 on the nodes 400 are left over; 460 are lost to the
  // next half, which counts a fifth: 952.
  CHECK(scores_of_waste("share", "gpus=1:share=500", "raw") == doubles{50 - 9.52, 50.4, 50 - 9.52});
  CHECK(scores_of_waste("share", "gpus=1:share=500") == doubles{41, 51, 41});
  // Half of the GPUs are asked for on T4, 2 of 18: of one GPU there others want 4.5. Elsewhere 500 less are lost to
  // them.
  const std::string rare = "gpus=1,gpus=1:where=gpu.model=T4";
  CHECK(scores_of_waste("one", rare) == doubles{51, 51, 5});
  CHECK(scores_of_waste("one", rare, "raw", "10") == doubles{51, 51, 45.5});
  CHECK(scores_of_waste("one", rare, "integer", "0") == doubles{51, 51, 50});
  CHECK(scores_of_waste("three", rare) == doubles{53, 53, 0});
  CHECK(scores_of_waste("one", rare, "integer", "1000") == doubles{51, 51, 0});
}

TEST_CASE("least_waste: CPU counts for half of the GPUs that the cluster has for as much") {
  // a has 64 cores, b has 32. Ten more leave less than the 32 that are asked for: on a 22 are lost, on b 22 instead of
  // nothing too; on c, which has 16, ten are lost less. 4 GPUs and 112 cores: a core is a 56th of a GPU.
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  auto nodes = add(kind::node, {"name", "capacity"});
  nodes.add({"a", numbers{64000, gib, 2000, 100}});
  nodes.add({"b", numbers{32000, gib, 1000, 100}});
  nodes.add({"c", numbers{16000, gib, 1000, 100}});
  must(c.apply(nodes));
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"g", "q"})));
  must(c.apply(add(kind::pod, {"name", "group", "request"}).add({"p", "g", numbers{10000, 1, 0, 1}})));
  const snapshot base = c.take_snapshot();
  const auto scores = [&](const std::string& expected) {
    engine e;
    must(e.set("parts", "predicates,least_waste"));
    must(e.set("packing.scores", "raw"));
    must(e.set("fgd.pods", expected));
    must(e.set("least_waste.reserve", "0"));
    session s = must(e.open(base, 0));
    doubles of(3);
    for (const candidate& one : must(s.candidates(0)).nodes) of[one.node] = one.score;
    return of;
  };
  const doubles with = scores("cpu=32000");
  CHECK(with[0] == doctest::Approx(50 - 220.0 / 56));
  CHECK(with[1] == doctest::Approx(50 - 220.0 / 56));
  CHECK(with[2] == doctest::Approx(50 + 100.0 / 56));
  // Where nobody without GPUs is expected CPU that is left over is no waste.
  CHECK(scores("gpus=1") == doubles{50, 50, 50});
}

TEST_CASE("least_waste: an idle node costs the more to open the more of the GPUs are in smaller ones") {
  cluster c;
  must(c.apply(add(kind::queue, {"name"}).add({"q"})));
  auto nodes = add(kind::node, {"name", "capacity"});
  nodes.add({"a", numbers{128000, gib, 8000, 100}});
  for (int i = 0; i < 9; ++i) nodes.add({"n" + std::to_string(i), numbers{64000, gib, 8000, 100}});
  must(c.apply(nodes));
  must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"g", "q"})));
  must(c.apply(add(kind::pod, {"name", "group", "request"}).add({"p", "g", numbers{1000, 1, 1000, 1}})));
  const snapshot base = c.take_snapshot();
  for (const auto& [reserve, score] : {std::pair{"500", 50 - 3.2805}, {"0", 50.0}, {"1000", 50 - 6.561}}) {
    CAPTURE(reserve);
    engine e;
    must(e.set("parts", "predicates,least_waste"));
    must(e.set("packing.scores", "raw"));
    must(e.set("fgd.pods", "gpus=1"));
    must(e.set("least_waste.reserve", reserve));
    session s = must(e.open(base, 0));
    for (const candidate& one : must(s.candidates(0)).nodes)
      CHECK(one.score == doctest::Approx(base.node_name(one.node) == "a" ? score : 50.0));
  }
}

TEST_CASE("least_waste: many kinds of nodes share the tables of all classes") {
  // Parts of 300 are a thousand times as frequent as halves, but only the first node is open to them. Half of another
  // wastes nothing while that counts; else three parts of 300 would fit there, and after it one.
  const auto score = [](int kinds) {
    cluster c;
    must(c.apply(add(kind::queue, {"name"}).add({"q"})));
    auto nodes = add(kind::node, {"name", "capacity", "labels"});
    std::string expected;
    std::vector<std::string> values;  // rows refer to them
    for (int i = 0; i < kinds; ++i) values.push_back(std::to_string(i));
    for (int i = 0; i < kinds; ++i) {
      const std::string& value = values[static_cast<std::size_t>(i)];
      nodes.add({"n" + value, numbers{64000, gib, 1000, 100}, texts{"kind", std::string_view(value)}});
      expected += (i == 0 ? "gpus=1:share=300:weight=1000:where=kind=" : ",gpus=1:share=500:where=kind=") + value;
    }
    must(c.apply(nodes));
    must(c.apply(add(kind::pod_group, {"name", "queue"}).add({"g", "q"})));
    must(c.apply(
        add(kind::pod, {"name", "group", "request", "device_count"}).add({"p", "g", numbers{0, 1, 500, 1}, 1})));
    const snapshot base = c.take_snapshot();
    engine e;
    must(e.set("parts", "predicates,least_waste"));
    must(e.set("packing.scores", "raw"));
    must(e.set("least_waste.scarcity", "0"));
    must(e.set("fgd.pods", expected));
    session s = must(e.open(base, 0));
    for (const candidate& one : must(s.candidates(0)).nodes)
      if (base.node_name(one.node) == "n1") return one.score;
    return 0.0;
  };
  // A fifth of 500 that are lost to the others: nearly 100 less.
  CHECK(score(32) == doctest::Approx(51).epsilon(0.001));
  // Beside it 188 instead of 100 are left, of the device and of the node.
  CHECK(score(33) == doctest::Approx(49.247).epsilon(0.0001));
}

TEST_CASE("expected pods are read from text, and faults are named") {
  const policy::typical_pod one =
      must(policy::parse_typical_pod("cpu=3152:gpus=1:share=810:where=gpu.model=A|B:weight=0.5"));
  CHECK(one.cpu == 3152);
  CHECK(one.gpus == 1);
  CHECK(one.share == 810);
  CHECK(one.label == "gpu.model");
  CHECK(one.values == std::vector<std::string>{"A", "B"});
  CHECK(one.weight == 0.5);
  CHECK(must(policy::parse_typical_pod("gpus=2")).share == whole_device);
  for (const auto& [text, why] : {std::pair{"cpu=-1", "cpu is not an integer from 0 to 1099511627776"},
                                  {"cpu=1.5", "cpu is not an integer"},
                                  {"gpus=65", "gpus is not an integer from 0 to 64"},
                                  {"gpus=1:share=0", "share is not an integer from 1 to 1000"},
                                  {"gpus=1:share=1001", "share is not an integer from 1 to 1000"},
                                  {"weight=0", "weight is not a number above 0"},
                                  {"weight=nan", "weight is not a number above 0"},
                                  {"weight=inf", "weight is not a number above 0"},
                                  {"where=gpu.model", "where is not label=value|value"},
                                  {"where==A", "where is not label=value|value"},
                                  {"memory=1", "'memory' is none of cpu"},
                                  {"cpu", "cpu is not an integer"}}) {
    CAPTURE(text);
    engine e;
    const auto set = e.set("fgd.pods", text);
    REQUIRE_FALSE(set.ok());
    CHECK(set.failure().message.starts_with("option fgd.pods: '" + std::string(text) + "': " + why));
    CHECK(must(e.get("fgd.pods")).empty());
  }
}

TEST_CASE("keys of a class: the best of many blocks, after any changes") {
  std::mt19937 random(7);
  for (const std::size_t nodes : {1U, 63U, 64U, 65U, 200U}) {
    framework::class_keys keys;
    keys.open(nodes);
    std::vector<std::int64_t> truth(nodes, framework::class_keys::none);
    for (int step = 0; step < 3000; ++step) {
      const auto rank = static_cast<std::uint32_t>(random() % nodes);
      const std::int64_t key =
          random() % 4 == 0 ? framework::class_keys::none : static_cast<std::int64_t>(random() % 5) - 2;
      keys.set(rank, key);
      truth[rank] = key;
      if (step % 3 != 0) continue;
      const auto best = std::min_element(truth.begin(), truth.end());
      const auto expected =
          *best == framework::class_keys::none ? no_row : static_cast<std::uint32_t>(best - truth.begin());
      REQUIRE(keys.best() == expected);
    }
  }
}

TEST_CASE("the order of changes: the last first, and each node once") {
  framework::change_order order;
  order.open(4);
  const auto since = [&](std::uint64_t then) {
    std::vector<node_row> rows;
    order.each_since(then, [&](node_row row) { rows.push_back(row); });
    return rows;
  };
  const std::uint64_t start = order.now();
  CHECK(since(start).empty());
  for (const node_row row : {2U, 0U, 2U, 3U}) order.note(row);
  CHECK(since(start) == std::vector<node_row>{3, 2, 0});
  const std::uint64_t then = order.now();
  order.note(0);
  CHECK(since(then) == std::vector<node_row>{0});
  CHECK(since(start) == std::vector<node_row>{0, 3, 2});
}

}  // namespace of_test_packing_parts
