// Any bytes as a cluster in YAML.
#include "files/cluster_yaml.hpp"
#include "source.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  fuzz::check_cluster_input(io::parse_cluster_yaml(fuzz::as_text(data, size), "text"), "text");
  return 0;
}
