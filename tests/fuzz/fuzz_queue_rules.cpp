// Any bytes as a file of queue rules. By those that can be read the same groups get the same queues in any order.
#include <string>

#include "io/cluster_input.hpp"
#include "io/kubernetes/queue_rules.hpp"
#include "io/kubernetes/settings.hpp"
#include "io/kubernetes/translation.hpp"
#include "source.hpp"

namespace {

constexpr std::string_view fixed_objects =
    R"({"kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}}
{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "a"}}
{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "b"}, "spec": {"parentQueue": "a"}}
{"apiVersion": "scheduling.run.ai/v2", "kind": "Queue", "metadata": {"name": "c"}}
{"kind": "Namespace", "metadata": {"name": "s", "labels": {"t": "c"}, "annotations": {"t": "root.a.x"}}}
)";

std::string pod(std::string_view name, std::string_view labels) {
  return R"({"kind": "Pod", "metadata": {"namespace": "s", "name": ")" + std::string(name) + R"(", "uid": ")" +
         std::string(name) + R"(", "labels": {)" + std::string(labels) +
         R"(}}, "spec": {"schedulerName": "kai-scheduler", "containers": []}})" + "\n";
}

std::string digest_of(const std::string& objects, const kaisched::io::kubernetes::settings& by) {
  using namespace kaisched;
  result<io::kubernetes::translation> made = io::kubernetes::translate_json(objects, "objects", by);
  return fuzz::sure(io::build_cluster(fuzz::sure(std::move(made)).input, "quarantine")).take_snapshot().digest();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  auto rules = io::kubernetes::parse_queue_rules(fuzz::as_text(data, size), "text");
  if (!rules) {
    fuzz::ensure_message(rules.failure(), "text");
    return 0;
  }
  io::kubernetes::settings by;
  by.rules = std::move(*rules);
  const std::string first = pod("p", R"("user": "c", "t": "b")");
  const std::string second = pod("q", R"("kai.scheduler/queue": "root.s", "user": "d.e")");
  const std::string there = digest_of(std::string(fixed_objects) + first + second, by);
  const std::string back = digest_of(std::string(fixed_objects) + second + first, by);
  fuzz::ensure(there == back, "the order of pods does not count");
  return 0;
}
