// Any bytes as a file of vendors. What can be read finds devices on a node, takes requests of a pod, and tells its
// grants.
#include <kaisched/engine.hpp>

#include "io/kubernetes/actions.hpp"
#include "io/kubernetes/translation.hpp"
#include "io/vendors/vendor_reader.hpp"
#include "source.hpp"

namespace {

constexpr std::string_view objects = R"({"kind": "List", "items": [
  {"kind": "Node", "metadata": {"name": "n", "labels": {"a.com/kind": "k"}, "annotations": {
     "a.com/npus": "{\"devices\": [{\"uuid\": \"u\", \"index\": \"0\", \"slots\": 4, \"vram\": 8192, \"ok\": true}], \"profiles\": {\"1g.2gb\": \"p\", \"4g.8gb\": \"q\"}}"}},
   "status": {"allocatable": {"cpu": 8, "memory": "8Gi", "pods": 10, "a.com/all": 8, "a.com/cores": 16}}},
  {"kind": "Pod", "metadata": {"name": "p", "namespace": "t"}, "spec": {"schedulerName": "hami-scheduler", "containers": [
     {"name": "c", "resources": {"limits": {"a.com/npu": 1, "a.com/memory": 2}}},
     {"name": "d", "resources": {"limits": {"a.com/cores": 1}}}]}}]})";

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  const std::string_view text = fuzz::as_text(data, size);
  const result<devices::vendor_catalog> read = io::read_vendors(text, "text");
  if (!read) {
    fuzz::ensure_message(read.failure(), "text");
    return 0;
  }
  io::kubernetes::settings chosen;
  if (!io::kubernetes::set(chosen, "vendors", text) || !io::kubernetes::set(chosen, "find_devices", "true")) return 0;
  result<io::kubernetes::translation> made = io::kubernetes::translate_json(objects, "objects", chosen);
  if (!made) return 0;
  for (const error& fault : made->input.faults) fuzz::ensure_message(fault, "objects");
  result<cluster> built = io::build_cluster(made->input, "quarantine");
  if (!built) return 0;
  engine decides;
  decides.set_device_catalog(made->names.vendors);
  const result<session> run = decides.run(built->take_snapshot(), 0);
  if (!run) return 0;
  const result<std::string> told =
      io::kubernetes::format_actions(*run, made->names, io::kubernetes::binding_form::kubernetes);
  if (!told) fuzz::ensure(!told.failure().message.empty(), "an error says why");
  return 0;
}
