// Any bytes as objects of Kubernetes.
#include "files/kubernetes_text.hpp"
#include "source.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  const std::string_view text = fuzz::as_text(data, size);
  (void)io::kubernetes::is_likely(text);
  result<io::cluster_input> input = io::kubernetes::parse(text, "text");
  if (input) {
    for (const error& fault : input->faults) fuzz::ensure_message(fault, "text");
    if (const result<cluster> strict = io::build_cluster(*input, "reject"); !strict) {
      fuzz::ensure_message(strict.failure(), "text");
    }
  }
  fuzz::check_cluster_input(std::move(input), "text");
  return 0;
}
