// Any lines as objects of Kubernetes that come and go: `+` puts what follows, `-` removes it, `=` takes the cluster.
// However often it was taken in between, the cluster is the one that the same objects make at once.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/object_cache.hpp"
#include "source.hpp"

namespace {

using kaisched::io::kubernetes::object_cache;

constexpr std::int64_t now = 1'767'300'000'000'000'000;

kaisched::io::kubernetes::settings chosen() {
  kaisched::io::kubernetes::settings by;
  (void)kaisched::io::kubernetes::set(by, "scheduler", "kaisched");
  return by;
}

/// Of a cluster that can be taken; else the message.
std::string state_of(object_cache& of) {
  auto taken = of.take(now);
  return taken ? taken->snapshot.digest() : taken.failure().message;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  std::string_view text = fuzz::as_text(data, size);
  object_cache cache(chosen());
  std::vector<std::pair<bool, std::string_view>> accepted;  // whether it is a removal
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.empty()) continue;
    const bool removes = line.front() == '-';
    if (line.front() == '=') {
      (void)cache.take(now);
      continue;
    }
    const result<void> done = removes ? cache.remove(line.substr(1)) : cache.put(line.substr(1));
    if (done) accepted.emplace_back(removes, line.substr(1));
  }
  object_cache at_once(chosen());
  for (const auto& [removes, one] : accepted) {
    const result<void> done = removes ? at_once.remove(one) : at_once.put(one);
    fuzz::ensure(done.ok(), "what was taken once is taken again");
  }
  fuzz::ensure(state_of(cache) == state_of(at_once), "the cluster depends on when it was taken");
  return 0;
}
