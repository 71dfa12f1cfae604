#include "services.hpp"

#include <utility>

#include <fmt/format.h>

#include "webhook/webhook.hpp"

namespace shim {

services::services(const configuration& by, const credentials& as, program& of, http_server::observer told,
                   load_provider::observer measured, log_function log) {
  if (by.load.enabled()) load_ = std::make_unique<load_provider>(by.load, of.objects(), log, std::move(measured));
  if (!by.extender.address.empty()) serve_scheduler(by, as, of, told, log);
  if (by.webhook.address.empty()) return;
  // It knows nothing of the cluster, so it answers on replicas that wait for the lease as well.
  webhook_server_ = std::make_unique<http_server>(by.webhook, log);
  serve_webhook(by.webhook, *webhook_server_, log);
  webhook_server_->observe(std::move(told));
  webhook_server_->start();
  log(fmt::format("webhook: listening on {}:{}", by.webhook.address, webhook_server_->port()));
}

void services::serve_scheduler(const configuration& by, const credentials& as, program& of,
                               const http_server::observer& told, const log_function& log) {
  if (by.dry_run || by.once) throw bad_input("extender: not with --dry-run or --once");
  const auto obstacle = [&of] { return of.obstacle(); };
  extender_ = std::make_unique<extender>(by, as, of.objects(), obstacle, log);
  extender_server_ = std::make_unique<http_server>(by.extender, log);
  extender_->serve(*extender_server_);
  extender_server_->observe(told);
  extender_server_->start();
  log(fmt::format("extender: listening on {}:{}", by.extender.address, extender_server_->port()));
  if (by.extender.handshake.count() > 0) {
    handshakes_ =
        std::make_unique<handshake_keeper>(as, of.objects(), by.extender.handshake, longest_write(by), obstacle, log);
  }
}

services::~services() {
  if (extender_ != nullptr) extender_->cancel();
}

}  // namespace shim
