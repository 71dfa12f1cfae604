#include "decide.hpp"

#include <kaisched/cluster.hpp>

#include "source.hpp"

namespace kaisched::fuzz {

void check_session(const engine& with, const snapshot& over, std::int64_t now) {
  const result<session> decided = with.run(over, now);
  if (!decided) return ensure(!decided.failure().message.empty(), "an error says why");
  sure(decided->check());
  cluster next(over);
  const result<std::vector<conflict>> taken = next.assume(*decided);
  if (!taken) return ensure(!taken.failure().message.empty(), "an error says why");
  const snapshot after = next.take_snapshot();
  ensure(sure(snapshot::load(after.save())).digest() == after.digest(), "saving keeps the digest");
}

void check_decidable(const snapshot& over, std::int64_t now, std::size_t preset) {
  engine with;
  sure(with.set("preset", preset_names()[preset % preset_names().size()]));
  sure(with.set("invariants", "full"));
  check_session(with, over, now);
}

}  // namespace kaisched::fuzz
