#include "webhook/webhook_fields.hpp"

#include "server/listener_fields.hpp"

namespace shim {

namespace {

std::string absolute_folder(const YAML::Node& value) {
  std::string text = some_text(value);
  if (!text.starts_with('/')) throw bad_input(fmt::format("expected an absolute path of nodes, found \"{}\"", text));
  return text;
}

const fields<webhook_settings>& webhook_field_list() {
  using node = YAML::Node;
  using settings = webhook_settings;
  static const fields<settings> all = with_listener<settings>({
      {"scheduler", [](settings& to, const node& value) { to.scheduler = some_text(value); }},
      {"isolation", [](settings& to, const node& value) { to.isolation = truth(value); }},
      {"library", [](settings& to, const node& value) { to.library = absolute_folder(value); }},
      {"ledgers", [](settings& to, const node& value) { to.ledgers = absolute_folder(value); }},
      {"privileged",
       [](settings& to, const node& value) {
         to.privileged =
             one_of<privileged_pods>(value, {{"skip", privileged_pods::skip}, {"deny", privileged_pods::deny}});
       }},
  });
  return all;
}

}  // namespace

void read_webhook(const YAML::Node& value, webhook_settings& to) {
  read_fields(value, webhook_field_list(), to);
  check_listener(to);
  if (to.certificate.empty()) throw bad_input("certificate: is missing; API servers ask over TLS alone");
}

}  // namespace shim
