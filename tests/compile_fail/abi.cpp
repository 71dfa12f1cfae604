// What kaisched/abi.hpp does not allow. See run.py.
#include <kaisched/abi.hpp>

using namespace kaisched::abi;

session decide();
const engine& shared();
void cases(engine& e, cluster& c, session& s, const snapshot& taken, const answers& a) {
  table decisions = s.table(KAISCHED_TABLE_DECISION);
  staging rows(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1);
  session another = e.open(taken, 0);
#if CASE == 1  // deleted
  table gone = decide().table(KAISCHED_TABLE_DECISION);  // borrowed of a session that is closed in the same line
#endif
#if CASE == 2  // deleted
  table gone = c.take_snapshot().table(KAISCHED_TABLE_POD);
#endif
#if CASE == 3  // deleted
  table gone = staging(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1).view();
#endif
#if CASE == 4  // deleted
  table gone = s.ask("allocate", {}).table();
#endif
#if CASE == 5  // deleted
  const auto gone = objects("").tables();
#endif
#if CASE == 6  // deleted
  session copy = s;  // one owner; fork() is what is meant
#endif
#if CASE == 7  // deleted
  cluster copy(c);
#endif
#if CASE == 8  // columns hold
  (void)decisions.numbers<int>(KAISCHED_DECISION_COL_KIND);
#endif
#if CASE == 9  // columns hold
  (void)rows.room<float>(KAISCHED_POD_COL_REQUEST);
#endif
#if CASE == 10  // 'this' argument | ‘this’ argument
  shared().set("preset", "kai");  // const handles may be used by several threads: nothing that changes them
#endif
#if CASE == 11  // 'this' argument | ‘this’ argument
  const session& read_only = s;
  read_only.run("allocate");
#endif
#if CASE == 12  // read-only | cannot assign
  decisions.numbers<std::uint8_t>(KAISCHED_DECISION_COL_KIND)[0] = 1;
#endif
#if CASE == 13  // conversion from | no viable conversion
  engine wrong = options{{"preset", "kai"}};  // an engine is made, not converted to
#endif
#if CASE == 14  // nodiscard
  s.allocate(1, 2);  // whether it was placed is the answer
#endif
#if CASE == 15  // deleted
  trial outlives = trial(s);
  trial copy = outlives;
#endif
#if CASE == 17  // discards qualifiers | no matching | as 'this' | is an rvalue | as ‘this’
  const table gone = staging(KAISCHED_TABLE_POD, KAISCHED_OP_ADD, 1).text(KAISCHED_POD_COL_NAME, "x").view();
#endif
#if CASE == 18  // deleted
  s.run(nullptr);
#endif
#if CASE == 19  // nodiscard
  rows.room<std::int64_t>(KAISCHED_POD_COL_CREATED);
#endif
#if CASE == 20  // deleted
  const auto gone = options{{"preset", "kai"}}.pairs();
#endif
#if CASE == 21  // deleted
  table gone = e.scale(taken, 0, {}, {}).table(KAISCHED_TABLE_SCALING);
#endif
#if CASE == 22  // deleted
  table gone = federation().decide(0).table(KAISCHED_TABLE_FEDERATED_PLACE);
#endif
#if CASE == 23  // discards qualifiers | no matching | as 'this' | is an rvalue | as ‘this’
  table gone = federation().queues(0);
#endif
#if CASE == 16  // no matching function | cannot convert | no known conversion
  c.apply({rows});  // a view of it
#endif
}
