#include "api_server/client_pool.hpp"

#include <algorithm>

namespace shim {

namespace {

constexpr std::chrono::seconds longest_idle{30};

}  // namespace

std::shared_ptr<http_client> client_pool::take() {
  const std::scoped_lock lock(mutex_);
  if (cancelled_) throw cancelled();
  // Servers close connections on which nothing happens, and only reading is tried twice.
  std::erase_if(idle_, [&](const idle_client& one) {
    const bool is_old = std::chrono::steady_clock::now() - one.since > longest_idle;
    if (is_old) std::erase(all_, one.client);
    return is_old;
  });
  if (!idle_.empty()) {
    std::shared_ptr<http_client> one = std::move(idle_.back().client);
    idle_.pop_back();
    return one;
  }
  all_.push_back(std::make_shared<http_client>(as_));
  if (timeout_.count() > 0) all_.back()->set_timeout(timeout_);
  return all_.back();
}

response client_pool::send(const request& what) {
  const std::shared_ptr<http_client> one = take();
  // A client that has failed closes its connection by itself.
  struct giver {
    client_pool& to;
    const std::shared_ptr<http_client>& what;
    ~giver() {
      const std::scoped_lock lock(to.mutex_);
      to.idle_.push_back({what, std::chrono::steady_clock::now()});
    }
  } const back{*this, one};
  return one->send(what);
}

void client_pool::cancel() noexcept {
  const std::scoped_lock lock(mutex_);
  cancelled_ = true;
  for (const auto& one : all_) one->cancel();
}

}  // namespace shim
