// Any bytes as selectors, taints, tolerations, affinity terms and host ports, one against the other.
#include "model/selector.hpp"
#include "source.hpp"

namespace {

using namespace kaisched;

template <class T>
void look_at(const result<T>& parsed) {
  if (!parsed) fuzz::ensure(!parsed.failure().message.empty(), "an error says why");
}

/// A toleration that names a taint in full tolerates it.
void check_taint(const model::taint& t, std::string_view text) {
  const result<model::toleration> same = model::parse_toleration(text);
  if (same) fuzz::ensure(same->tolerates(t), "a taint is tolerated by its own text");
  fuzz::ensure(fuzz::sure(model::parse_toleration("*")).tolerates(t), "a star tolerates everything");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::source from(data, size);
  const std::string first = from.text();
  const std::string second = from.text();
  std::string list;
  while (!from.empty()) list += from.text() + '\0';

  const result<model::label_list> labels = model::parse_labels(list);
  look_at(labels);
  const result<model::selector> selector = model::parse_selector(first);
  look_at(selector);
  if (selector && !selector->requirements.empty()) {
    const model::selector twice = fuzz::sure(model::parse_selector(first + "," + first));
    fuzz::ensure(twice.requirements.size() == 2 * selector->requirements.size(), "no requirement is lost");
    if (labels) fuzz::ensure(twice.matches(*labels) == selector->matches(*labels), "saying it twice changes nothing");
  }
  if (labels) {
    for (const auto& [key, value] : *labels) {
      fuzz::ensure(model::find_label(*labels, key) != nullptr, "labels are found by their keys");
    }
  }
  const result<model::taint> taint = model::parse_taint(first);
  look_at(taint);
  if (taint) check_taint(*taint, first);
  const result<model::toleration> toleration = model::parse_toleration(second);
  look_at(toleration);
  if (taint && toleration) (void)toleration->tolerates(*taint);

  look_at(model::parse_affinity_term(first));
  const result<model::host_port> one = model::parse_host_port(first);
  const result<model::host_port> other = model::parse_host_port(second);
  look_at(one);
  if (one) fuzz::ensure(one->conflicts(*one), "a port conflicts with itself");
  if (one && other) fuzz::ensure(one->conflicts(*other) == other->conflicts(*one), "conflicts are mutual");
  return 0;
}
