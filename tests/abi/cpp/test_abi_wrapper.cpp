/// kaisched/abi.hpp: the C interface as C++ programs see it.
#include <atomic>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/abi.hpp>

namespace of_test_abi_wrapper {

using namespace kaisched::abi;

namespace {

using strings = std::vector<std::string>;
using numbers = std::vector<std::int64_t>;

static_assert(std::is_nothrow_move_constructible_v<engine> && !std::is_copy_constructible_v<engine>);
static_assert(std::is_nothrow_move_constructible_v<cluster> && !std::is_copy_constructible_v<cluster>);
static_assert(std::is_nothrow_move_constructible_v<session> && !std::is_copy_constructible_v<session>);
static_assert(std::is_nothrow_move_assignable_v<answers> && std::is_nothrow_move_assignable_v<objects>);
static_assert(std::is_copy_constructible_v<snapshot> && std::is_nothrow_move_constructible_v<snapshot>);
static_assert(!std::is_copy_constructible_v<trial> && !std::is_move_constructible_v<trial>);
static_assert(std::is_same_v<decltype(std::declval<const session&>().get()), const kaisched_session*>);

/// One node with eight GPUs; a gang of two that fits, one that does not while the first is there.
cluster small_cluster() {
  staging nodes(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 1);
  nodes.texts(KAISCHED_NODE_COL_NAME, strings{"n"});
  const array_view<std::int64_t> capacity = nodes.room<std::int64_t>(KAISCHED_NODE_COL_CAPACITY, 4);
  CHECK(capacity.size() == 4);
  capacity[0] = 64'000;
  capacity[1] = std::int64_t{1} << 40;
  capacity[2] = 8000;
  capacity[3] = 110;
  nodes.text_lists(KAISCHED_NODE_COL_LABELS, std::vector<strings>{{"zone", "a"}});
  staging queues(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 1);
  queues.text(KAISCHED_QUEUE_COL_NAME, "q");
  staging groups(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 2);
  groups.texts(KAISCHED_POD_GROUP_COL_NAME, strings{"a", "b"})
      .texts(KAISCHED_POD_GROUP_COL_QUEUE, strings{"q", "q"})
      .numbers(KAISCHED_POD_GROUP_COL_CREATED, numbers{1, 2})
      .numbers(KAISCHED_POD_GROUP_COL_MIN_MEMBER, numbers{2, 1});
  staging pods(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 3);
  pods.texts(KAISCHED_POD_COL_NAME, strings{"x0", "x1", "y"})
      .texts(KAISCHED_POD_COL_GROUP, strings{"a", "a", "b"})
      .numbers(KAISCHED_POD_COL_REQUEST, numbers{1000, 0, 2000, 1000, 0, 2000, 1000, 0, 8000});
  cluster made;
  made.apply({nodes.view(), queues.view(), groups.view(), pods.view()});
  return made;
}

kaisched_status code_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const failure& f) {
    CHECK(std::string(f.what()).rfind(std::string(kaisched_status_name(f.code())) + ": ", 0) == 0);
    return f.code();
  }
  return KAISCHED_OK;
}

int binds(const session& of) {
  const table decisions = of.table(KAISCHED_TABLE_DECISION);
  int count = 0;
  for (std::size_t row = 0; row < decisions.rows(); ++row)
    count += decisions.name(KAISCHED_DECISION_COL_KIND, row) == "bind" ? 1 : 0;
  return count;
}

kaisched_id pod(const cluster& of, const std::string& name) {
  const std::optional<kaisched_id> found = of.find(KAISCHED_KIND_POD, name);
  REQUIRE(found.has_value());
  return *found;
}

}  // namespace

TEST_CASE("a session decides, and its tables are arrays") {
  cluster c = small_cluster();
  const engine e({{"preset", "kai"}});
  CHECK(e.get("mode") == "strict");
  const session s = e.run(c.take_snapshot(), 10);
  const table decisions = s.table(KAISCHED_TABLE_DECISION);
  REQUIRE(decisions.rows() >= 2);
  CHECK(decisions.kind() == KAISCHED_TABLE_DECISION);
  CHECK(decisions.name(KAISCHED_DECISION_COL_KIND, 0) == "bind");
  CHECK(decisions.name(KAISCHED_DECISION_COL_KIND, 99).empty());
  CHECK(decisions.texts(KAISCHED_DECISION_COL_POD_NAME)[0] == "x0");
  CHECK(decisions.texts(KAISCHED_DECISION_COL_NODE_NAME).size() == decisions.rows());
  CHECK(decisions.lists(KAISCHED_DECISION_COL_DEVICES)[1].size() == 2);
  CHECK(decisions.numbers<std::uint64_t>(KAISCHED_DECISION_COL_POD)[1] == pod(c, "x1"));
  const table shares = s.table(KAISCHED_TABLE_QUEUE_SHARE);
  CHECK(shares.width(KAISCHED_QUEUE_SHARE_COL_ALLOCATED) == KAISCHED_QUOTA_DIMENSIONS);
  CHECK(shares.numbers<std::int64_t>(KAISCHED_QUEUE_SHARE_COL_ALLOCATED)[KAISCHED_DIM_GPU] == 4000);
  CHECK(s.digest().size() == 64);
  CHECK(solve({{"preset", "kai"}}, {}, 10).digest().size() == 64);
  CHECK(engine(options().add("preset", "kai").add("mode", "compat")).get("mode") == "compat");

  CHECK(decisions.has(KAISCHED_DECISION_COL_POD));
  CHECK_FALSE(decisions.has(999));
  CHECK(code_of([&] { (void)decisions.texts(999); }) == KAISCHED_E_UNSUPPORTED);
  CHECK(code_of([&] { (void)decisions.texts(KAISCHED_DECISION_COL_KIND); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([&] { (void)decisions.numbers<std::int64_t>(KAISCHED_DECISION_COL_KIND); }) == KAISCHED_E_ARGUMENT);
}

TEST_CASE("gaps, and nodes to add") {
  cluster c = small_cluster();
  const engine e;
  const snapshot now = c.take_snapshot();
  const answers gaps = e.run(now, 10).gaps();
  REQUIRE(gaps.table().rows() == 1);
  CHECK(gaps.table().texts(KAISCHED_GAP_COL_KIND)[0] == "fragmentation");
  CHECK(gaps.first_rows()[1] == 1);

  staging nodes(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 1);
  nodes.texts(KAISCHED_NODE_COL_NAME, strings{"big"})
      .numbers(KAISCHED_NODE_COL_CAPACITY, numbers{64'000, std::int64_t{1} << 40, 8000, 110});
  const kaisched_node_type big{sizeof big, 0, "big", 40, 2, nullptr};
  const scaling found = e.scale(now, 10, {nodes.view()}, {big});
  CHECK(found.table(KAISCHED_TABLE_NODE_ADDITION).texts(KAISCHED_NODE_ADDITION_COL_NAME)[0] == "big+1");
  CHECK(found.table(KAISCHED_TABLE_SCALING).numbers<std::int64_t>(KAISCHED_SCALING_COL_COST)[0] == 40);
  CHECK(code_of([&] { (void)found.table(KAISCHED_TABLE_NODE); }) == KAISCHED_E_UNSUPPORTED);
  CHECK(code_of([&] { (void)e.scale(now, 10, {}, {big}); }) == KAISCHED_E_ARGUMENT);
}

TEST_CASE("a federation sends groups to its members") {
  cluster east;
  cluster west;
  staging nodes(KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 1);
  nodes.texts(KAISCHED_NODE_COL_NAME, strings{"n"})
      .numbers(KAISCHED_NODE_COL_CAPACITY, numbers{64'000, std::int64_t{1} << 40, 8000, 110});
  staging queues(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 1);
  queues.text(KAISCHED_QUEUE_COL_NAME, "q");
  east.apply({nodes.view(), queues.view()});
  west.apply({nodes.view(), queues.view()});
  staging groups(KAISCHED_TABLE_POD_GROUP, KAISCHED_OP_ADD, 1);
  groups.text(KAISCHED_POD_GROUP_COL_NAME, "g").text(KAISCHED_POD_GROUP_COL_QUEUE, "q");
  staging pods(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1);
  pods.text(KAISCHED_POD_COL_NAME, "g-0")
      .text(KAISCHED_POD_COL_GROUP, "g")
      .numbers(KAISCHED_POD_COL_REQUEST, numbers{1000, 0, 8000});

  federation all;
  const engine e;
  kaisched_member about{};
  about.struct_size = sizeof about;
  about.name = "east";
  about.price = 9;
  all.add_member(about, east, e);
  const kaisched_member costly = about;
  about.name = "west";
  about.price = 5;
  all.add_member(about, west, e);
  CHECK(code_of([&] { all.add_member(about, west, e); }) == KAISCHED_E_DUPLICATE);
  all.submit({queues.view(), groups.view(), pods.view()});
  kaisched_group_wishes wishes{};
  wishes.struct_size = sizeof wishes;
  all.wish("g", wishes);
  all.set_executor(nullptr);
  const federated first = all.decide(10);
  CHECK(first.table(KAISCHED_TABLE_FEDERATED_PLACE).texts(KAISCHED_FEDERATED_PLACE_COL_MEMBER)[0] == "west");
  CHECK(first.session_table(0, KAISCHED_TABLE_DECISION).texts(KAISCHED_DECISION_COL_POD_NAME)[0] == "g-0");
  CHECK(first.digest().size() == 64);
  CHECK(all.stage("g") == std::pair(std::uint32_t{KAISCHED_STAGE_STARTS}, std::string("west")));
  CHECK(all.queues(10).numbers<std::int64_t>(KAISCHED_FEDERATED_QUEUE_COL_ALLOCATED)[KAISCHED_DIM_GPU] == 8000);
  CHECK(all.lose_member("west") == 1);
  const federated again = all.decide(10);
  CHECK(again.table(KAISCHED_TABLE_FEDERATED_PLACE).rows() == 1);
  all.change_member(costly);
  all.withdraw({"g"});
  CHECK(code_of([&] { (void)all.stage("g"); }) == KAISCHED_E_NOT_FOUND);

  federation far;
  far.add_known_member(about, all.summary("east", 10));
  far.submit({queues.view(), groups.view(), pods.view()});
  const federated offered = far.decide(10);
  CHECK(offered.table(KAISCHED_TABLE_FEDERATED_PLACE).texts(KAISCHED_FEDERATED_PLACE_COL_STAGE)[0] == "offered");
  far.answer("g", false);
  far.update_member("west", all.summary("east", 10));
  CHECK(far.stage("g").first == KAISCHED_STAGE_WAITS);
}

TEST_CASE("calls that fail throw what the library says, and change nothing") {
  CHECK(code_of([] { (void)engine({{"preset", "nonsense"}}); }) == KAISCHED_E_ARGUMENT);
  engine e;
  CHECK(code_of([&] { e.set("nonsense", "1"); }) == KAISCHED_E_NOT_FOUND);
  CHECK(code_of([&] { (void)e.get("nonsense"); }) == KAISCHED_E_NOT_FOUND);
  CHECK(code_of([&] { e.add_vendors("{"); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([&] { e.add_part(kaisched_part{}); }) == KAISCHED_E_STRUCT_SIZE);
  const kaisched_executor none{};
  CHECK(code_of([&] { e.set_executor(&none); }) == KAISCHED_E_STRUCT_SIZE);
  e.set_executor(nullptr);
  cluster c = small_cluster();
  CHECK(c.get("on_invalid") == "reject");
  CHECK(code_of([&] { c.set("on_invalid", "nonsense"); }) == KAISCHED_E_ARGUMENT);
  const std::string before = c.take_snapshot().digest();
  staging again(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 2);
  again.texts(KAISCHED_QUEUE_COL_NAME, strings{"new", "q"});
  try {
    c.apply(std::vector<table>{again.view()});
    FAIL("a queue was added twice");
  } catch (const failure& f) {
    CHECK(f.code() == KAISCHED_E_DUPLICATE);
    CHECK(f.subject() == c.find(KAISCHED_KIND_QUEUE, "q"));
  }
  staging bad(KAISCHED_TABLE_POD, KAISCHED_OP_CHANGE, 1);
  bad.texts(KAISCHED_POD_COL_NAME, strings{"y"}).numbers(KAISCHED_POD_COL_REQUEST, numbers{-1});
  try {
    c.apply({bad.view()});
    FAIL("a pod asks for less than nothing");
  } catch (const failure& f) {
    CHECK(f.code() == KAISCHED_E_ARGUMENT);
    CHECK(f.subject() == pod(c, "y"));
  }
  CHECK(c.take_snapshot().digest() == before);
  CHECK(c.find(KAISCHED_KIND_QUEUE, "new") == std::nullopt);
  CHECK(code_of([&] { (void)c.find(KAISCHED_KIND_DEVICE, "q"); }) != KAISCHED_OK);
  CHECK(code_of([] { (void)snapshot::load("nonsense"); }) != KAISCHED_OK);
}

TEST_CASE("staged columns have the shape of the table") {
  staging pods(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 2);
  CHECK(code_of([&] { (void)pods.view(); }) == KAISCHED_OK);
  CHECK(code_of([&] { pods.texts(KAISCHED_POD_COL_NAME, strings{"one"}); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([&] { pods.numbers(KAISCHED_POD_COL_REQUEST, numbers{1, 2, 3}); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([&] { pods.numbers(KAISCHED_POD_COL_REQUEST, numbers{}); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([&] { pods.numbers(KAISCHED_POD_COL_REQUEST, std::vector<double>{1, 2}); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([&] { pods.text_lists(KAISCHED_POD_COL_NODE_SELECTOR, std::vector<strings>{{}}); }) ==
        KAISCHED_E_ARGUMENT);
  CHECK(pods.view().get()->column_count == 0);
  pods.text_lists(KAISCHED_POD_COL_NODE_SELECTOR, std::vector<strings>{{"disk", "ssd"}, {}});
  const table seen = pods.view();
  CHECK(seen.text_lists(KAISCHED_POD_COL_NODE_SELECTOR)[0] == std::vector<std::string_view>{"disk", "ssd"});
  CHECK(seen.text_lists(KAISCHED_POD_COL_NODE_SELECTOR)[1].empty());
  pods.clear(0);
  CHECK(pods.rows() == 0);
  pods.numbers(KAISCHED_POD_COL_REQUEST, numbers{}).texts(KAISCHED_POD_COL_NAME, strings{});
  CHECK(pods.view().rows() == 0);

  staging devices(KAISCHED_TABLE_DEVICE, KAISCHED_OP_ADD, 2);
  devices.lists(KAISCHED_DEVICE_COL_LINKS, {{1, 2, 3}, {}});
  CHECK(devices.view().lists(KAISCHED_DEVICE_COL_LINKS)[0][2] == 3);
  CHECK(devices.view().lists(KAISCHED_DEVICE_COL_LINKS)[1].empty());
}

TEST_CASE("natural calls mean what they say") {
  staging q(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 1);
  q.numbers<std::int64_t>(KAISCHED_QUEUE_COL_PRIORITY, {7});
  CHECK(q.view().numbers<std::int64_t>(KAISCHED_QUEUE_COL_PRIORITY)[0] == 7);
  const engine plain;
  CHECK(plain.get("mode") == "strict");
  CHECK(code_of([&] { (void)plain.get(std::string("mode\0x", 6)); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([] { (void)cluster().find(KAISCHED_KIND_NODE, std::string("n\0", 2)); }) == KAISCHED_E_ARGUMENT);
  staging pods(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1);
  const std::uint32_t ends[] = {0, 3};
  CHECK(kaisched_staging_ragged(pods.get(), KAISCHED_POD_COL_NODE_SELECTOR, "a=b", ends, nullptr) ==
        KAISCHED_E_ARGUMENT);
}

TEST_CASE("snapshots are shared, saved and loaded; what handles own outlives them") {
  cluster c = small_cluster();
  std::optional<snapshot> first = c.take_snapshot();
  snapshot copy = *first;
  const std::string digest = copy.digest();
  first.reset();
  CHECK(copy.digest() == digest);
  snapshot moved = std::move(copy);
  copy = moved;
  moved = snapshot::load(copy.save());
  CHECK(moved.digest() == digest);
  CHECK(moved.table(KAISCHED_TABLE_POD).rows() == 3);
  cluster again(moved);
  CHECK(again.take_snapshot().digest() == digest);
  cluster same(c.take_snapshot());
  CHECK(pod(same, "y") == pod(c, "y"));
  staging one(KAISCHED_TABLE_QUEUE, KAISCHED_OP_ADD, 1);
  one.text(KAISCHED_QUEUE_COL_NAME, "more");
  const snapshot would_be = c.preview({one.view()});
  CHECK(would_be.table(KAISCHED_TABLE_QUEUE).rows() == 2);
  CHECK(c.take_snapshot().digest() == digest);
  std::optional<session> s = engine().run(c.take_snapshot(), 10);
  CHECK(s->table(KAISCHED_TABLE_DECISION).rows() > 0);
  kaisched_session* const released = s->release();
  s.reset();
  session taken(released);
  CHECK(taken.digest().size() == 64);
}

TEST_CASE("statements, trials, forks and questions") {
  cluster c = small_cluster();
  const kaisched_id x0 = pod(c, "x0");
  const kaisched_id y = pod(c, "y");
  const kaisched_id n = *c.find(KAISCHED_KIND_NODE, "n");
  const kaisched_id b = *c.find(KAISCHED_KIND_POD_GROUP, "b");
  session s = engine().open(c.take_snapshot(), 10);
  {
    trial t(s);
    CHECK(s.allocate(x0, n));
    CHECK_FALSE(s.allocate(y, n));
    CHECK_FALSE(s.pipeline(y, n));
  }
  CHECK(s.allocate(y, n));  // the trial has given the place back
  CHECK(code_of([&] { s.evict(y); }) == KAISCHED_E_STATE);
  const kaisched_checkpoint here = s.mark();
  s.rollback(here);
  {
    trial t(s);
    t.keep();
  }
  {
    session across = s.fork();
    {
      trial t(across);
      across.commit();
      CHECK(across.allocate(x0, n) == false);
      across.evict(y);
    }
    CHECK(binds(across) == 1);
    across.run("allocate");  // nothing is open
  }
  session fork = s.fork();
  fork.commit();
  CHECK(binds(fork) == 1);
  CHECK(binds(s) == 0);
  CHECK(code_of([&] { fork.rollback(here); }) == KAISCHED_E_STATE);

  session fresh = engine().open(c.take_snapshot(), 10);
  const answers would = fresh.ask("allocate", {b});
  CHECK(would.table().rows() == 1);
  CHECK(would.first_rows()[0] == 0);
  CHECK(would.first_rows()[1] == 1);
  const answers nodes = fresh.candidates(y);
  CHECK(nodes.table().numbers<std::uint8_t>(KAISCHED_CANDIDATE_COL_FITS)[0] == 1);
  fresh.run_group("allocate", b);
  CHECK(fresh.table(KAISCHED_TABLE_DECISION).texts(KAISCHED_DECISION_COL_POD_NAME)[0] == "y");
  fresh.cancel();
  CHECK(code_of([&] { fresh.run("allocate"); }) == KAISCHED_E_CANCELLED);
  CHECK(code_of([&] { fresh.run("nonsense"); }) != KAISCHED_OK);
  session whole = engine().open(c.take_snapshot(), 10);
  whole.run();
  CHECK(whole.digest() == engine().run(c.take_snapshot(), 10).digest());
}

TEST_CASE("questions why and what if") {
  cluster c = small_cluster();
  const kaisched_id b = *c.find(KAISCHED_KIND_POD_GROUP, "b");
  const session s = engine().run(c.take_snapshot(), 10);
  const answers chosen = s.choice(pod(c, "x0"));
  CHECK(chosen.table().texts(KAISCHED_CHOICE_COL_WHAT)[0] == "chosen");
  const answers steps = s.share_steps(*c.find(KAISCHED_KIND_QUEUE, "q"));
  CHECK(steps.table().rows() > 0);
  const answers proof = s.certify(b);
  CHECK(proof.table().texts(KAISCHED_CERTIFICATE_COL_GROUP_NAME)[0] == "b");
  CHECK(code_of([&] { (void)s.victim(pod(c, "y")); }) == KAISCHED_E_STATE);
  kaisched_remedy_limits few{};
  few.struct_size = sizeof few;
  few.trials = 2;
  const answers found = s.remedies({b}, &few);
  CHECK(found.table().numbers<std::uint32_t>(KAISCHED_REMEDY_COL_TRIALS)[0] <= 2);
  CHECK(found.first_rows()[1] == found.table().rows());
  const answers more = s.remedies({b});
  CHECK(more.table().rows() > 0);
  const answers again = s.what_if({}, {"b"});
  CHECK(again.table().texts(KAISCHED_FORECAST_COL_GROUP_NAME)[0] == "b");
  CHECK(code_of([&] { (void)s.what_if({}); }) == KAISCHED_E_ARGUMENT);  // nothing is asked
  CHECK(code_of([&] { (void)s.what_if({}, {"nobody"}); }) == KAISCHED_E_NOT_FOUND);
  few.struct_size = 1;
  CHECK(code_of([&] { (void)s.remedies({b}, &few); }) == KAISCHED_E_STRUCT_SIZE);
}

TEST_CASE("decisions are taken in, confirmed and forgotten") {
  cluster c = small_cluster();
  const session s = engine().run(c.take_snapshot(), 10);
  CHECK(c.assume(s) == 0);
  CHECK(c.table(KAISCHED_TABLE_ASSUMPTION).rows() == 2);
  CHECK(c.assume(s) > 0);
  CHECK(c.table(KAISCHED_TABLE_CONFLICT).rows() > 0);
  c.confirm({pod(c, "x0")});
  c.forget({pod(c, "x1")}, KAISCHED_FORGET_FAILED);
  CHECK(c.table(KAISCHED_TABLE_ASSUMPTION).rows() == 0);
  CHECK(code_of([&] { c.forget({pod(c, "x1")}, 99); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([&] { c.confirm({*c.find(KAISCHED_KIND_NODE, "n")}); }) == KAISCHED_E_WRONG_KIND);
}

TEST_CASE("configurations of other schedulers become options") {
  constexpr std::string_view volcano = R"({"actions": "allocate", "tiers": [{"plugins": [{"name": "gang"}]}]})";
  CHECK(import_configuration(volcano).find("volcano-default") != std::string::npos);
  CHECK(import_configuration(volcano, "volcano") == import_configuration(volcano));
  CHECK(code_of([&] { (void)import_configuration(volcano, "borg"); }) == KAISCHED_E_ARGUMENT);
}

TEST_CASE("objects of Kubernetes become tables, and decisions objects") {
  const objects read(R"({"apiVersion": "v1", "kind": "List", "items": [
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
     "status": {"allocatable": {"cpu": "8", "pods": "110"}, "conditions": [{"type": "Ready", "status": "True"}]}},
    {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "q"}, "spec": {}},
    {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "bad"}, "status": {"allocatable": {"cpu": "x"}}}]})",
                     {{"now", "7000000000"}});
  CHECK(read.now() == 7'000'000'000);
  CHECK(read.faults().size() == 1);
  cluster c;
  c.set("on_invalid", "quarantine");
  c.apply(read.tables());
  CHECK(c.find(KAISCHED_KIND_NODE, "n").has_value());
  const session s = engine().run(c.take_snapshot(), read.now());
  CHECK(read.actions(s).find("items") != std::string::npos);
  CHECK(code_of([&] { (void)read.actions(s, "nonsense"); }) == KAISCHED_E_ARGUMENT);
  CHECK(code_of([] { (void)objects("nonsense"); }) == KAISCHED_E_ARGUMENT);
}

TEST_CASE("the library describes itself") {
  CHECK(describe_options().size() > 3);
  const std::vector<kaisched_kind> kinds = describe_kinds();
  CHECK(kinds.size() > 20);
  std::size_t columns = 0;
  for (const kaisched_kind& kind : kinds) columns += describe_columns(kind.kind).size() == kind.column_count ? 1U : 0U;
  CHECK(columns == kinds.size());
  CHECK(code_of([] { (void)describe_columns(999); }) == KAISCHED_E_UNSUPPORTED);
  CHECK(loaded_version() == kaisched_version_string());
  CHECK(loaded_abi_version() == KAISCHED_ABI_VERSION);
}

}  // namespace of_test_abi_wrapper
