// What the C++ interface does not allow. See run.py.
#include <cstdint>
#include <string>
#include <utility>

#include <kaisched/kaisched.hpp>

using namespace kaisched;

const engine& shared();
void cases(cluster& c, session& s, const snapshot& taken, table& t) {
#if CASE == 1  // deleted
  cluster copy = c;  // take_snapshot() is what is meant
#endif
#if CASE == 2  // conversion from | no viable conversion
  const entity_id id = std::uint64_t{7};  // a number is no identifier
#endif
#if CASE == 3  // could not convert | no viable conversion | cannot convert | cannot initialize
  (void)c.find(table_kind::pod, "x");  // a kind of table is no kind of entity
#endif
#if CASE == 4  // nodiscard
  c.apply(t);  // whether it was applied is the answer
#endif
#if CASE == 5  // nodiscard
  taken.digest();
#endif
#if CASE == 6  // 'this' argument | ‘this’ argument
  (void)shared().set("preset", "kai");
#endif
#if CASE == 7  // 'this' argument | ‘this’ argument
  const session& read_only = s;
  (void)read_only.run("allocate");
#endif
#if CASE == 8  // cannot convert | no known conversion | cannot initialize
  t.add(1, 3);  // a number is no type of column
#endif
#if CASE == 9  // could not convert | cannot convert | no viable conversion | invalid conversion | cannot initialize
  const pod_status state = 6;  // numbers of enumerations are not their values
#endif
}
