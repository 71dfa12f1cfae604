/* Many clusters with one line as a C99 program sees them. usage: kaisched_abi_federation_cases CASE */
#include <stdlib.h>

#include "case_support.h"

/* The line has the queue; groups a and b of the tests want 4 and 8 GPUs. East is one node, west is one node that costs
 * less. */
static const kaisched_table* const line_tables[] = {&queues, &groups, &pods};
static const kaisched_table* const site_tables[] = {&queues, &nodes};

static const kaisched_member east = {sizeof east, 0, "east", NULL, 0, 9, NULL, 0};
static const kaisched_kv west_labels[] = {{"region", "us"}};
static const char* const west_data[] = {"corpus"};
static const kaisched_member west = {sizeof west, 0, "west", west_labels, 1, 5, west_data, 1};

typedef struct world {
  kaisched_federation* federation;
  kaisched_cluster *east, *west;
} world;

static kaisched_cluster* new_site(void) {
  kaisched_cluster* cluster = NULL;
  OK(kaisched_cluster_create(&cluster, NULL));
  OK(kaisched_cluster_apply(cluster, site_tables, 2, NULL));
  return cluster;
}

static world new_world(const kaisched_federation_options* options) {
  world made = {NULL, new_site(), new_site()};
  kaisched_engine* engine = new_engine();
  OK(kaisched_federation_create(options, &made.federation, NULL));
  OK(kaisched_federation_add_member(made.federation, &east, made.east, engine, NULL));
  OK(kaisched_federation_add_member(made.federation, &west, made.west, engine, NULL));
  OK(kaisched_federation_submit(made.federation, line_tables, 3, NULL));
  kaisched_engine_destroy(engine); /* the members keep it */
  return made;
}

static void done_with(world* one) {
  kaisched_federation_destroy(one->federation);
  kaisched_cluster_destroy(one->east);
  kaisched_cluster_destroy(one->west);
}

static const kaisched_table* table_of(const kaisched_federated* decided, uint32_t kind) {
  const kaisched_table* table = NULL;
  OK(kaisched_federated_table(decided, kind, &table, NULL));
  CHECK(table != NULL && table->kind == kind);
  return table;
}

/* The stage of a group; `member` is where it has to be. */
static uint32_t stage_of(const kaisched_federation* federation, const char* group, const char* member) {
  char text[16];
  uint32_t stage = 77;
  size_t needed = 0;
  OK(kaisched_federation_stage(federation, group, &stage, text, sizeof text, &needed, NULL));
  CHECK(strcmp(text, member) == 0 && needed == strlen(member) + 1);
  return stage;
}

static void federation(void) {
  world one = new_world(NULL);
  CHECK(stage_of(one.federation, "a", "") == KAISCHED_STAGE_WAITS);
  kaisched_federated* decided = NULL;
  OK(kaisched_federation_decide(one.federation, 10, &decided, NULL));
  const kaisched_table* table = table_of(decided, KAISCHED_TABLE_FEDERATED_PLACE);
  REQUIRE(table != NULL && table->rows == 2);
  CHECK(text_is(table, KAISCHED_FEDERATED_PLACE_COL_GROUP_NAME, 0, "a"));
  CHECK(text_is(table, KAISCHED_FEDERATED_PLACE_COL_MEMBER, 0, "west"));
  CHECK(text_is(table, KAISCHED_FEDERATED_PLACE_COL_BY, 0, "price"));
  CHECK(text_is(table, KAISCHED_FEDERATED_PLACE_COL_RUNNER_UP, 0, "east"));
  CHECK(text_is(table, KAISCHED_FEDERATED_PLACE_COL_STAGE, 0, "starts"));
  CHECK(number(table, KAISCHED_FEDERATED_PLACE_COL_PODS, 0) == 1);
  CHECK(text_is(table, KAISCHED_FEDERATED_PLACE_COL_MEMBER, 1, "east"));
  CHECK(table_of(decided, KAISCHED_TABLE_FEDERATED_WAIT)->rows == 0);
  CHECK(stage_of(one.federation, "a", "west") == KAISCHED_STAGE_STARTS);

  /* What members decided is in their clusters, and their sessions can be asked. */
  table = table_of(decided, KAISCHED_TABLE_MEMBER_SESSION);
  REQUIRE(table != NULL && table->rows == 2);
  const kaisched_session* session = NULL;
  const kaisched_table* decisions = NULL;
  OK(kaisched_federated_session(decided, 0, &session, NULL));
  OK(kaisched_session_table(session, KAISCHED_TABLE_DECISION, &decisions, NULL));
  CHECK(first_decision(decisions) == KAISCHED_DECISION_BIND);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_FEDERATED_SESSION, kaisched_federated_session, decided, 2, &session);
  CHECK(session == NULL);
  OK(kaisched_cluster_table(one.west, KAISCHED_TABLE_ASSUMPTION, &decisions, NULL));
  CHECK(decisions->rows == 1);
  char digest[KAISCHED_DIGEST_SIZE];
  OK(kaisched_federated_digest(decided, digest, sizeof digest, NULL, NULL));
  CHECK(strlen(digest) == KAISCHED_DIGEST_SIZE - 1);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_FEDERATED_TABLE, kaisched_federated_table, decided,
         KAISCHED_TABLE_DECISION, &table);

  OK(kaisched_federation_queues(one.federation, 10, &table, NULL));
  CHECK(table->rows == 1 && text_is(table, KAISCHED_FEDERATED_QUEUE_COL_NAME, 0, "q"));
  CHECK(integer(table, KAISCHED_FEDERATED_QUEUE_COL_ALLOCATED, KAISCHED_DIM_GPU) == 12000);

  /* A group that has ended leaves its cluster; one whose member is gone waits again. */
  const char* const ended[] = {"a"};
  OK(kaisched_federation_withdraw(one.federation, ended, 1, NULL));
  kaisched_id id = 0;
  CHECK(kaisched_cluster_find(one.west, KAISCHED_KIND_POD_GROUP, "a", &id, NULL) == KAISCHED_E_NOT_FOUND);
  OK(kaisched_cluster_table(one.west, KAISCHED_TABLE_ASSUMPTION, &decisions, NULL));
  CHECK(decisions->rows == 0);
  uint64_t back = 0;
  OK(kaisched_federation_lose_member(one.federation, "east", &back, NULL));
  CHECK(back == 1 && stage_of(one.federation, "b", "") == KAISCHED_STAGE_WAITS);
  kaisched_federated_destroy(decided);
  OK(kaisched_federation_decide(one.federation, 10, &decided, NULL));
  CHECK(stage_of(one.federation, "b", "west") == KAISCHED_STAGE_STARTS);
  kaisched_federation_destroy(one.federation); /* the answer lives on */
  CHECK(text_is(table_of(decided, KAISCHED_TABLE_FEDERATED_PLACE), KAISCHED_FEDERATED_PLACE_COL_GROUP_NAME, 0, "b"));
  kaisched_federated_destroy(decided);
  one.federation = NULL;
  done_with(&one);
}

static void federation_wishes(void) {
  const uint32_t order[] = {KAISCHED_MEMBER_PRICE};
  kaisched_federation_options options = {sizeof options, KAISCHED_FIT_SPREAD, order, 1, 1, 8, 0, 1};
  world one = new_world(&options);
  const kaisched_kv in_us[] = {{"region", "us"}};
  const kaisched_kv in_eu[] = {{"region", "eu"}};
  const char* const only_east[] = {"east"};
  kaisched_group_wishes wishes = {sizeof wishes, 0, 0, only_east, 1, NULL, 0, NULL, 0, NULL, 0};
  kaisched_federated* decided = NULL;
  OK(kaisched_federation_wish(one.federation, "a", &wishes, NULL));
  wishes.member_count = 0;
  wishes.required = in_eu;
  wishes.required_count = 1;
  OK(kaisched_federation_wish(one.federation, "b", &wishes, NULL));
  OK(kaisched_federation_decide(one.federation, 10, &decided, NULL));
  CHECK(stage_of(one.federation, "a", "east") == KAISCHED_STAGE_STARTS);
  const kaisched_table* table = table_of(decided, KAISCHED_TABLE_FEDERATED_WAIT);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_FEDERATED_WAIT_COL_GROUP_NAME, 0, "b"));
  const kaisched_col* verdicts = kaisched_table_column(table, KAISCHED_FEDERATED_WAIT_COL_VERDICTS);
  CHECK(verdicts->offsets[1] == 12 && memcmp(verdicts->data, "label\0label\0", 12) == 0);
  kaisched_federated_destroy(decided);

  const kaisched_preference near[] = {{"region", "us", 10}};
  const kaisched_preference corpus[] = {{"corpus", NULL, 500}};
  const kaisched_group_wishes all = {sizeof all, 1, 5, NULL, 0, in_us, 1, near, 1, corpus, 1};
  OK(kaisched_federation_wish(one.federation, "b", &all, NULL));
  kaisched_member closed = west;
  closed.closed = 1;
  OK(kaisched_federation_change_member(one.federation, &closed, NULL));
  OK(kaisched_federation_decide(one.federation, 10, &decided, NULL));
  CHECK(stage_of(one.federation, "b", "") == KAISCHED_STAGE_WAITS);
  kaisched_federated_destroy(decided);
  OK(kaisched_federation_change_member(one.federation, &west, NULL));
  OK(kaisched_federation_decide(one.federation, 10, &decided, NULL));
  CHECK(stage_of(one.federation, "b", "west") == KAISCHED_STAGE_STARTS);
  kaisched_federated_destroy(decided);
  OK(kaisched_federation_wish(one.federation, "b", NULL, NULL));

  kaisched_group_wishes bad = all;
  const kaisched_preference heavy[] = {{"region", "us", 1000001}};
  bad.preferred = heavy;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_WISH, kaisched_federation_wish, one.federation, "b", &bad);
  bad = all;
  bad.most_price = -1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_WISH, kaisched_federation_wish, one.federation, "b", &bad);
  bad = all;
  bad.struct_size -= 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_FEDERATION_WISH, kaisched_federation_wish, one.federation, "b", &bad);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_FEDERATION_WISH, kaisched_federation_wish, one.federation, "z", &all);
  done_with(&one);

  kaisched_federation* none = NULL;
  const uint32_t twice[] = {KAISCHED_MEMBER_PRICE, KAISCHED_MEMBER_PRICE};
  const uint32_t first[] = {0};
  options.order = twice;
  options.order_count = 2;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CREATE, kaisched_federation_create, &options, &none);
  options.order = first;
  options.order_count = 1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CREATE, kaisched_federation_create, &options, &none);
  options.order = order;
  options.fit = 2;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CREATE, kaisched_federation_create, &options, &none);
  options.struct_size -= 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_FEDERATION_CREATE, kaisched_federation_create, &options, &none);
  CHECK(none == NULL);
}

/* A member that is elsewhere: its side writes a summary, this side offers, and the answer comes back. */
static void federation_offers(void) {
  world one = new_world(NULL);
  size_t size = 0;
  OK(kaisched_federation_summary(one.federation, "east", 10, NULL, 0, &size, NULL));
  char* text = (char*)malloc(size);
  REQUIRE(text != NULL);
  OK(kaisched_federation_summary(one.federation, "east", 10, text, size, NULL, NULL));

  kaisched_federation* here = NULL;
  kaisched_federated* decided = NULL;
  OK(kaisched_federation_create(NULL, &here, NULL));
  OK(kaisched_federation_add_known_member(here, &east, text, size - 1, NULL));
  OK(kaisched_federation_submit(here, line_tables, 3, NULL));
  OK(kaisched_federation_decide(here, 10, &decided, NULL));
  CHECK(text_is(table_of(decided, KAISCHED_TABLE_FEDERATED_PLACE), KAISCHED_FEDERATED_PLACE_COL_STAGE, 0, "offered"));
  CHECK(table_of(decided, KAISCHED_TABLE_MEMBER_SESSION)->rows == 0);
  kaisched_federated_destroy(decided);
  CHECK(stage_of(here, "a", "east") == KAISCHED_STAGE_OFFERED);
  OK(kaisched_federation_answer(here, "a", 0, NULL));
  CHECK(stage_of(here, "a", "") == KAISCHED_STAGE_WAITS);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_FEDERATION_ANSWER, kaisched_federation_answer, here, "a", 1);
  OK(kaisched_federation_update_member(here, "east", text, size - 1, NULL));
  OK(kaisched_federation_decide(here, 10, &decided, NULL));
  kaisched_federated_destroy(decided);
  OK(kaisched_federation_answer(here, "a", 1, NULL));
  CHECK(stage_of(here, "a", "east") == KAISCHED_STAGE_RUNS);

  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_UPDATE_MEMBER, kaisched_federation_update_member, here, "east",
         "{", 1);
  EXPECT(KAISCHED_E_STATE, KAISCHED_FN_FEDERATION_UPDATE_MEMBER, kaisched_federation_update_member, one.federation,
         "east", text, size - 1);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_FEDERATION_UPDATE_MEMBER, kaisched_federation_update_member, here, "west",
         text, size - 1);
  free(text);
  kaisched_federation_destroy(here);
  done_with(&one);
}

static void run_all(void* state, size_t count, void (*work)(void*, size_t), void* work_state) {
  ++*(int*)state;
  for (size_t i = count; i-- > 0;) work(work_state, i);
}

/* Threads of the host change nothing in what is decided. */
static void federation_executor(void) {
  char digests[2][KAISCHED_DIGEST_SIZE];
  int calls = 0;
  for (int threads = 0; threads < 2; ++threads) {
    world one = new_world(NULL);
    kaisched_executor executor = {sizeof executor, 2, &calls, run_all, NULL};
    if (threads) OK(kaisched_federation_set_executor(one.federation, &executor, NULL));
    kaisched_federated* decided = NULL;
    OK(kaisched_federation_decide(one.federation, 10, &decided, NULL));
    OK(kaisched_federated_digest(decided, digests[threads], KAISCHED_DIGEST_SIZE, NULL, NULL));
    kaisched_federated_destroy(decided);
    OK(kaisched_federation_set_executor(one.federation, NULL, NULL));
    executor.struct_size = 8;
    EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_FEDERATION_SET_EXECUTOR, kaisched_federation_set_executor,
           one.federation, &executor);
    done_with(&one);
  }
  CHECK(strcmp(digests[0], digests[1]) == 0 && calls > 0);
}

static void null_use(void) {
  world one = new_world(NULL);
  kaisched_federation* const f = one.federation;
  kaisched_engine* engine = new_engine();
  const kaisched_table* const hole[] = {NULL};
  const char* const nobody[] = {NULL};
  kaisched_member bad = east;
  kaisched_federated* out = (kaisched_federated*)&failures;
  const kaisched_table* table = &nodes;
  const kaisched_session* session = (const kaisched_session*)&failures;
  size_t needed = 7;
  uint32_t stage = 7;
  uint64_t back = 7;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CREATE, kaisched_federation_create, NULL, NULL);
  kaisched_federation_destroy(NULL);
  kaisched_federated_destroy(NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_SET_EXECUTOR, kaisched_federation_set_executor, NULL, NULL);

  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ADD_MEMBER, kaisched_federation_add_member, NULL, &east, one.east,
         engine);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ADD_MEMBER, kaisched_federation_add_member, f, NULL, one.east,
         engine);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ADD_MEMBER, kaisched_federation_add_member, f, &east, NULL,
         engine);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ADD_MEMBER, kaisched_federation_add_member, f, &east, one.east,
         NULL);
  EXPECT(KAISCHED_E_DUPLICATE, KAISCHED_FN_FEDERATION_ADD_MEMBER, kaisched_federation_add_member, f, &east, one.east,
         engine);
  bad.name = NULL;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CHANGE_MEMBER, kaisched_federation_change_member, f, &bad);
  bad = east;
  bad.label_count = 1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CHANGE_MEMBER, kaisched_federation_change_member, f, &bad);
  bad = east;
  bad.data_count = 1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CHANGE_MEMBER, kaisched_federation_change_member, f, &bad);
  bad.data = nobody;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CHANGE_MEMBER, kaisched_federation_change_member, f, &bad);
  bad = east;
  bad.price = -1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CHANGE_MEMBER, kaisched_federation_change_member, f, &bad);
  bad = east;
  bad.struct_size -= 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_FEDERATION_CHANGE_MEMBER, kaisched_federation_change_member, f, &bad);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_CHANGE_MEMBER, kaisched_federation_change_member, NULL, &east);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ADD_KNOWN_MEMBER, kaisched_federation_add_known_member, NULL,
         &east, "{}", 2);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ADD_KNOWN_MEMBER, kaisched_federation_add_known_member, f, NULL,
         "{}", 2);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ADD_KNOWN_MEMBER, kaisched_federation_add_known_member, f, &east,
         NULL, 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_UPDATE_MEMBER, kaisched_federation_update_member, NULL, "east",
         "{}", 2);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_UPDATE_MEMBER, kaisched_federation_update_member, f, NULL, "{}",
         2);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_LOSE_MEMBER, kaisched_federation_lose_member, NULL, "east", &back);
  CHECK(back == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_LOSE_MEMBER, kaisched_federation_lose_member, f, NULL, &back);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_FEDERATION_LOSE_MEMBER, kaisched_federation_lose_member, f, "far", &back);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_SUMMARY, kaisched_federation_summary, NULL, "east", 10, NULL, 0,
         &needed);
  CHECK(needed == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_SUMMARY, kaisched_federation_summary, f, NULL, 10, NULL, 0, NULL);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_FEDERATION_SUMMARY, kaisched_federation_summary, f, "far", 10, NULL, 0,
         NULL);

  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_SUBMIT, kaisched_federation_submit, NULL, line_tables, 3);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_SUBMIT, kaisched_federation_submit, f, NULL, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_SUBMIT, kaisched_federation_submit, f, hole, 1);
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_FEDERATION_SUBMIT, kaisched_federation_submit, f, site_tables, 2);
  EXPECT(KAISCHED_E_DUPLICATE, KAISCHED_FN_FEDERATION_SUBMIT, kaisched_federation_submit, f, line_tables, 3);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_WISH, kaisched_federation_wish, NULL, "a", NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_WISH, kaisched_federation_wish, f, NULL, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_WITHDRAW, kaisched_federation_withdraw, NULL, nobody, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_WITHDRAW, kaisched_federation_withdraw, f, NULL, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_WITHDRAW, kaisched_federation_withdraw, f, nobody, 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ANSWER, kaisched_federation_answer, NULL, "a", 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_ANSWER, kaisched_federation_answer, f, NULL, 1);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_FEDERATION_ANSWER, kaisched_federation_answer, f, "z", 1);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_STAGE, kaisched_federation_stage, NULL, "a", &stage, NULL, 0,
         &needed);
  CHECK(stage == 0);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_STAGE, kaisched_federation_stage, f, NULL, NULL, NULL, 0, NULL);
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_FEDERATION_STAGE, kaisched_federation_stage, f, "z", NULL, NULL, 0, NULL);

  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_QUEUES, kaisched_federation_queues, NULL, 10, &table);
  CHECK(table == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_QUEUES, kaisched_federation_queues, f, 10, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_DECIDE, kaisched_federation_decide, NULL, 10, &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATION_DECIDE, kaisched_federation_decide, f, 10, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATED_TABLE, kaisched_federated_table, NULL,
         KAISCHED_TABLE_FEDERATED_PLACE, &table);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATED_SESSION, kaisched_federated_session, NULL, 0, &session);
  CHECK(session == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATED_DIGEST, kaisched_federated_digest, NULL, NULL, 0, &needed);
  OK(kaisched_federation_decide(f, 10, &out, NULL));
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATED_TABLE, kaisched_federated_table, out,
         KAISCHED_TABLE_FEDERATED_PLACE, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_FEDERATED_SESSION, kaisched_federated_session, out, 0, NULL);
  kaisched_federated_destroy(out);
  kaisched_engine_destroy(engine);
  done_with(&one);
}

static const named_case cases[] = {
    {"federation_null_use", null_use},
    {"federation", federation},
    {"federation_wishes", federation_wishes},
    {"federation_offers", federation_offers},
    {"federation_executor", federation_executor},
};

int main(int argc, char** argv) { return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv); }
