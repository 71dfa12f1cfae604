// Any bytes as calls of the C interface on handles in any state: errors are told as the header says, a call that fails
// changes nothing, what is borrowed lives as long as it should, snapshots never change, going back is exact, all is
// given back, and the same calls say the same again.
#include "c_world.hpp"

using namespace kaisched::fuzz;

namespace {

std::uint64_t play(source from) {
  constexpr int longest = 96;
  c_world world(from);
  world.begin();
  for (int step = 0; step < longest && !world.done(); ++step) world.step();
  return world.transcript();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const source from(data, size);
  const std::uint64_t said = play(from);
  ensure(play(from) == said, "the same calls say the same again");
  return 0;
}
