// Any bytes as an archive with a cluster.
#include "files/cluster_file.hpp"
#include "files/zip_text.hpp"
#include "source.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  const std::string_view bytes = fuzz::as_text(data, size);
  (void)io::is_zip(bytes);
  if (const result<std::string> text = io::unzip_json(bytes, "c.zip"); !text)
    fuzz::ensure_message(text.failure(), "c.zip");
  fuzz::check_cluster_input(io::parse_cluster(bytes, "c.zip"), "c.zip");
  return 0;
}
