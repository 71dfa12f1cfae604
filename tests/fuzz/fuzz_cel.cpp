// Any bytes as a selector of devices: a message or an answer, within its bounds, and the same answer again.
#include <vector>

#include "model/cel.hpp"
#include "source.hpp"

namespace {

using namespace kaisched;
using model::attribute_kind;
using model::cel_answer;

const std::vector<model::device_attribute> attributes{
    {"a.example", "flag", attribute_kind::boolean, false, {1}, {}},
    {"a.example", "model", attribute_kind::text, false, {}, {"large"}},
    {"a.example", "number", attribute_kind::integer, false, {7}, {}},
    {"a.example", "version", attribute_kind::version, false, {}, {"1.2.3-rc.1"}},
    {"b.example", "zones", attribute_kind::text, true, {}, {"x", "y"}},
};
const std::vector<model::device_capacity> capacities{{"a.example", "memory", model::whole_quantity(1 << 20)}};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(fuzz::as_text(data, size));
  const result<model::cel_expression> parsed = model::cel_expression::parse(text);
  if (!parsed) {
    fuzz::ensure(!parsed.failure().message.empty(), "an error says why");
    return 0;
  }
  const model::device_facts device{"a.example", attributes, capacities, false};
  const cel_answer answer = parsed->evaluate(device);
  fuzz::ensure(answer.steps <= model::most_cel_steps, "work is bounded");
  fuzz::ensure((answer.is == cel_answer::kind::error) == !answer.message.empty(), "only errors have messages");
  fuzz::ensure(answer.position <= size, "positions are inside the text");
  const cel_answer again = parsed->evaluate(device);
  fuzz::ensure(again.is == answer.is && again.message == answer.message && again.steps == answer.steps,
               "an answer is the same again");
  (void)parsed->evaluate(model::device_facts{});

  // Twice as much text may be more than is allowed.
  const result<model::cel_expression> decided = model::cel_expression::parse("true || (" + text + "\n)");
  if (decided) fuzz::ensure(decided->evaluate(device).is == cel_answer::kind::yes, "true decides");
  const result<model::cel_expression> inverted = model::cel_expression::parse("!(" + text + "\n)");
  if (inverted && answer.is != cel_answer::kind::error && answer.steps < model::most_cel_steps) {
    const bool flipped =
        (inverted->evaluate(device).is == cel_answer::kind::yes) == (answer.is == cel_answer::kind::no);
    fuzz::ensure(flipped, "not is the opposite");
  }
  return 0;
}
