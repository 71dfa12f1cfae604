// Any bytes as a cluster in JSON.
#include "io/cluster_json.hpp"
#include "source.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  fuzz::check_cluster_input(io::parse_cluster_json(fuzz::as_text(data, size), "text"), "text");
  return 0;
}
