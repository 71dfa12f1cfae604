// Any bytes as decisions: JSON if they start with a brace, else CSV.
#include <algorithm>

#include "io/decisions_text.hpp"
#include "io/table_text.hpp"
#include "source.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kaisched;
  const std::string_view text = fuzz::as_text(data, size);
  const bool json = text.starts_with('{');
  const result<io::decisions_input> input =
      json ? io::parse_decisions_json(text, "text") : io::parse_decisions_csv(text, "text");
  if (!input) {
    fuzz::ensure_message(input.failure(), "text");
    return 0;
  }
  if (const result<void> checked = io::check_digest(*input); !checked) {
    fuzz::ensure_message(checked.failure(), "text");
  }
  if (input->decisions.rows() == 0) return 0;
  const table_view rows = input->decisions.view();
  const std::string digest = io::decisions_digest(rows, "preset", "strict");
  fuzz::ensure(digest.size() == 64, "a digest has 64 digits");

  // Written as CSV the rows stay what they are, unless a name needs more than a line.
  const std::string csv = io::format_csv(rows, snapshot());
  const std::size_t lines = static_cast<std::size_t>(std::count(csv.begin(), csv.end(), '\n'));
  if (lines != rows.rows + 1 || csv.find('\r') != std::string::npos) return 0;
  const io::decisions_input again = fuzz::sure(io::parse_decisions_csv(csv, "csv"));
  fuzz::ensure(io::decisions_digest(again.decisions.view(), "preset", "strict") == digest, "CSV keeps the decisions");
  return 0;
}
