#include "source.hpp"

#include "base/utf8.hpp"
#include "io/cluster_json.hpp"
#include "files/cluster_yaml.hpp"

namespace kaisched::fuzz {

void ensure_message(const error& failure, std::string_view source) {
  const std::string_view message = failure.message;
  ensure(message.starts_with(source) && message.size() > source.size() + 4 && message[source.size()] == ':', message);
  ensure(base::printable(message, message.size()) == message, "a message is printable");
  ensure(message.size() < 1300, "a message is short");
}

void check_cluster_input(result<io::cluster_input> input, std::string_view source) {
  if (!input) return ensure_message(input.failure(), source);
  result<cluster> built = io::build_cluster(*input);
  if (!built) return ensure_message(built.failure(), source);
  const snapshot first = built->take_snapshot();

  const std::string json = sure(io::format_cluster_json(first, input->now));
  const io::cluster_input from_json = sure(io::parse_cluster_json(json, "json"));
  ensure(from_json.now == input->now, "JSON keeps the time");
  const snapshot second = sure(io::build_cluster(from_json)).take_snapshot();
  ensure(second.digest() == first.digest(), "JSON keeps the digest");

  const std::string yaml = sure(io::format_cluster_yaml(first, input->now));
  const io::cluster_input from_yaml = sure(io::parse_cluster_yaml(yaml, "yaml"));
  const snapshot third = sure(io::build_cluster(from_yaml)).take_snapshot();
  ensure(third.digest() == first.digest(), "YAML keeps the digest");
  ensure(sure(io::format_cluster_json(third, from_yaml.now)) == json, "the detour over YAML changes no byte");
}

}  // namespace kaisched::fuzz
