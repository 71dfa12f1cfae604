/* Nodes to add and to give back as a C99 program sees them. usage: kaisched_abi_scaling_cases CASE */
#include "case_support.h"

/* A node like that of the cluster, by the name of its type: t. */
static const kaisched_col like_cols[] = {
    {KAISCHED_NODE_COL_CAPACITY, KAISCHED_TYPE_I64, 4, 0, node_capacity, NULL},
    {KAISCHED_NODE_COL_NAME, KAISCHED_TYPE_STRING, 0, 0, "t", one_char},
};
static const kaisched_table like = {sizeof(kaisched_table), KAISCHED_TABLE_NODE, KAISCHED_OP_ADD, 2, 1, like_cols};
static const kaisched_table* const like_tables[] = {&like};

static const kaisched_node_type offer = {sizeof offer, 0, "t", 13, 3, NULL};
static const kaisched_node_type* const offers[] = {&offer};

typedef struct asked_cluster {
  kaisched_engine* engine;
  kaisched_snapshot* snapshot;
} asked_cluster;

static asked_cluster ask(void) {
  const asked_cluster made = {new_engine(), new_snapshot()};
  return made;
}

static void done_with(asked_cluster* one) {
  kaisched_snapshot_release(one->snapshot);
  kaisched_engine_destroy(one->engine);
}

static const kaisched_table* table_of(const kaisched_scaling* scaling, uint32_t kind) {
  const kaisched_table* table = NULL;
  OK(kaisched_scaling_table(scaling, kind, &table, NULL));
  CHECK(table != NULL && table->kind == kind);
  return table;
}
static int flag(const kaisched_table* table, uint32_t column, uint64_t row) {
  return ((const uint8_t*)kaisched_table_column(table, column)->data)[row];
}

/* x starts on the node that is there, y gets one of the type; nothing can go. */
static void scale(void) {
  asked_cluster one = ask();
  kaisched_scaling* scaling = NULL;
  OK(kaisched_scale(one.engine, one.snapshot, 10, like_tables, 1, offers, 1, NULL, &scaling, NULL));
  done_with(&one); /* the answer lives on */

  const kaisched_table* table = table_of(scaling, KAISCHED_TABLE_SCALING);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(integer(table, KAISCHED_SCALING_COL_COST, 0) == 13 &&
        integer(table, KAISCHED_SCALING_COL_LOWER_BOUND, 0) == 13);
  CHECK(flag(table, KAISCHED_SCALING_COL_CHEAPEST, 0) && flag(table, KAISCHED_SCALING_COL_MINIMAL, 0));
  CHECK(number(table, KAISCHED_SCALING_COL_VERIFICATIONS, 0) >= 1);
  CHECK(integer(table, KAISCHED_SCALING_COL_SAVED, 0) == 0 && flag(table, KAISCHED_SCALING_COL_COMPLETE, 0));
  CHECK(table == table_of(scaling, KAISCHED_TABLE_SCALING)); /* made once */

  table = table_of(scaling, KAISCHED_TABLE_NODE_ADDITION);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_NODE_ADDITION_COL_NAME, 0, "t+1"));
  CHECK(text_is(table, KAISCHED_NODE_ADDITION_COL_TYPE, 0, "t"));
  CHECK(integer(table, KAISCHED_NODE_ADDITION_COL_PRICE, 0) == 13);

  table = table_of(scaling, KAISCHED_TABLE_SCALED_GROUP);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_SCALED_GROUP_COL_GROUP_NAME, 0, "b"));
  CHECK(text_is(table, KAISCHED_SCALED_GROUP_COL_QUEUE, 0, "q"));
  CHECK(number(table, KAISCHED_SCALED_GROUP_COL_WAITED, 0) == 1 && flag(table, KAISCHED_SCALED_GROUP_COL_HELPED, 0));
  CHECK(list_is(table, KAISCHED_SCALED_GROUP_COL_PLACED_PODS, 0, "y"));
  CHECK(list_is(table, KAISCHED_SCALED_GROUP_COL_PLACED_NODES, 0, "t+1"));
  CHECK(list_is(table, KAISCHED_SCALED_GROUP_COL_PLACED_BY, 0, "bind"));

  table = table_of(scaling, KAISCHED_TABLE_RETURNED_NODE);
  REQUIRE(table != NULL && table->rows == 1);
  CHECK(text_is(table, KAISCHED_RETURNED_NODE_COL_NAME, 0, "n"));
  CHECK(integer(table, KAISCHED_RETURNED_NODE_COL_PRICE, 0) == -1);
  CHECK(!flag(table, KAISCHED_RETURNED_NODE_COL_RETURNED, 0) &&
        !text_is(table, KAISCHED_RETURNED_NODE_COL_KEEPS, 0, ""));

  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_SCALING_TABLE, kaisched_scaling_table, scaling, KAISCHED_TABLE_DECISION,
         &table);
  CHECK(table == NULL);
  kaisched_scaling_destroy(scaling);
}

static void scale_questions(void) {
  asked_cluster one = ask();
  kaisched_scaling* scaling = NULL;
  const char* const wanted[] = {"b"};
  kaisched_scale_question question = {
      sizeof question, KAISCHED_SCALE_FIRST_FIT, NULL, 0, wanted, 1, "type", 20, 0, 1, 0};
  const kaisched_new_domain rack = {"rack", 2};
  const kaisched_node_type racked = {sizeof racked, 1, "t", 5, 4, &rack};
  const kaisched_node_type* const racks[] = {&racked};
  OK(kaisched_scale(one.engine, one.snapshot, 10, like_tables, 1, racks, 1, &question, &scaling, NULL));
  CHECK(table_of(scaling, KAISCHED_TABLE_NODE_ADDITION)->rows == 1);
  CHECK(table_of(scaling, KAISCHED_TABLE_RETURNED_NODE)->rows == 0); /* not asked */
  kaisched_scaling_destroy(scaling);

  question.no_up = 1;
  question.no_down = 0;
  OK(kaisched_scale(one.engine, one.snapshot, 10, NULL, 0, NULL, 0, &question, &scaling, NULL));
  CHECK(table_of(scaling, KAISCHED_TABLE_NODE_ADDITION)->rows == 0);
  CHECK(table_of(scaling, KAISCHED_TABLE_RETURNED_NODE)->rows == 1);
  kaisched_scaling_destroy(scaling);

  const char* const nobody[] = {"z"};
  question.groups = nobody;
  EXPECT(KAISCHED_E_NOT_FOUND, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, NULL, 0, NULL, 0,
         &question, &scaling);
  question.groups = wanted;
  question.strategy = 2;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, NULL, 0, NULL, 0,
         &question, &scaling);
  question.strategy = KAISCHED_SCALE_SEARCH;
  question.struct_size -= 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, NULL, 0, NULL, 0,
         &question, &scaling);
  CHECK(scaling == NULL);
  done_with(&one);
}

/* What is wrong with an offer is said with type and field. */
static void scale_offers(void) {
  asked_cluster one = ask();
  kaisched_scaling* scaling = NULL;
  kaisched_error err = KAISCHED_ERROR_INIT;
  kaisched_node_type bad = offer;
  const kaisched_node_type* const bads[] = {&bad};
  const struct {
    const char* name;
    int64_t price, most;
    const char* message;
  } wrong[] = {
      {"u", 1, 1, "node type 'u': node is missing: there is none of this name"},
      {"t", -1, 1, "node type 't': price is negative"},
      {"t", 1, -1, "node type 't': most is negative"},
      {"t", INT64_MAX, INT64_MAX, "node type 't': price times most is more than can be represented"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i) {
    bad.name = wrong[i].name;
    bad.price = wrong[i].price;
    bad.most = wrong[i].most;
    CHECK(kaisched_scale(one.engine, one.snapshot, 10, like_tables, 1, bads, 1, NULL, &scaling, &err) ==
          KAISCHED_E_ARGUMENT);
    CHECK(strcmp(err.message, wrong[i].message) == 0);
    CHECK(scaling == NULL);
  }
  const kaisched_node_type* const twice[] = {&offer, &offer};
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, twice, 2,
         NULL, &scaling);
  const kaisched_table* const others[] = {&queues};
  EXPECT(KAISCHED_E_UNSUPPORTED, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, others, 1, NULL, 0,
         NULL, &scaling);
  const kaisched_table* const same[] = {&like, &like};
  EXPECT(KAISCHED_E_DUPLICATE, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, same, 2, offers, 1,
         NULL, &scaling);
  bad = offer;
  bad.struct_size -= 1;
  EXPECT(KAISCHED_E_STRUCT_SIZE, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, bads,
         1, NULL, &scaling);
  const kaisched_new_domain no_nodes = {"rack", 0};
  bad = offer;
  bad.domain_count = 1;
  bad.domains = &no_nodes;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, bads, 1,
         NULL, &scaling);
  struct {
    kaisched_node_type type;
    uint64_t from_the_future;
  } longer = {offer, 7};
  longer.type.struct_size = sizeof longer;
  const kaisched_node_type* const newer[] = {&longer.type};
  OK(kaisched_scale(one.engine, one.snapshot, 10, like_tables, 1, newer, 1, NULL, &scaling, NULL));
  CHECK(table_of(scaling, KAISCHED_TABLE_NODE_ADDITION)->rows == 1);
  kaisched_scaling_destroy(scaling);
  done_with(&one);
}

static void null_use(void) {
  asked_cluster one = ask();
  kaisched_scaling* out = (kaisched_scaling*)&failures;
  const kaisched_table* table = &like;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, NULL, one.snapshot, 10, like_tables, 1, offers, 1,
         NULL, &out);
  CHECK(out == NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, NULL, 10, like_tables, 1, offers, 1, NULL,
         &out);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, offers,
         1, NULL, NULL);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, NULL, 1, offers, 1, NULL,
         &out);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, NULL, 1,
         NULL, &out);
  const kaisched_table* const no_table[] = {NULL};
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, no_table, 1, offers, 1,
         NULL, &out);
  const kaisched_node_type* const no_type[] = {NULL};
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, no_type,
         1, NULL, &out);
  kaisched_node_type bad = offer;
  const kaisched_node_type* const bads[] = {&bad};
  bad.name = NULL;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, bads, 1,
         NULL, &out);
  bad = offer;
  bad.domain_count = 1;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, bads, 1,
         NULL, &out);
  const kaisched_new_domain no_label = {NULL, 1};
  bad.domains = &no_label;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, bads, 1,
         NULL, &out);
  kaisched_scale_question question = {sizeof question, 0, NULL, 1, NULL, 0, NULL, 0, 0, 0, 0};
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, offers,
         1, &question, &out);
  const char* const nobody[] = {NULL};
  question.queues = nobody;
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALE, kaisched_scale, one.engine, one.snapshot, 10, like_tables, 1, offers,
         1, &question, &out);
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALING_TABLE, kaisched_scaling_table, NULL, KAISCHED_TABLE_SCALING, &table);
  CHECK(table == NULL);
  OK(kaisched_scale(one.engine, one.snapshot, 10, NULL, 0, NULL, 0, NULL, &out, NULL));
  EXPECT(KAISCHED_E_ARGUMENT, KAISCHED_FN_SCALING_TABLE, kaisched_scaling_table, out, KAISCHED_TABLE_SCALING, NULL);
  kaisched_scaling_destroy(out);
  kaisched_scaling_destroy(NULL);
  done_with(&one);
}

static const named_case cases[] = {
    {"scaling_null_use", null_use},
    {"scale", scale},
    {"scale_questions", scale_questions},
    {"scale_offers", scale_offers},
};

int main(int argc, char** argv) { return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv); }
