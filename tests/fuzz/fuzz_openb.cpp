// Any bytes as the two lists of an openb trace; a line with `---` stands between them.
#include <algorithm>

#include "io/openb.hpp"
#include "source.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  constexpr std::string_view between = "---\n";
  const std::string_view text = fuzz::as_text(data, size);
  const std::size_t nodes_end = std::min(text.find(between), text.size());
  const std::string_view pods = text.substr(std::min(nodes_end + between.size(), text.size()));
  // Both lists go by one name, since either may be at fault.
  fuzz::check_cluster_input(io::parse_openb({"text", text.substr(0, nodes_end)}, {"text", pods}), "text");
  return 0;
}
