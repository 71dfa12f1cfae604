#include "leader_election/election.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>
#include <utility>

#include <boost/asio/ip/host_name.hpp>
#include <fmt/format.h>

#include "api_server/clock_text.hpp"
#include "api_server/requests.hpp"
#include "api_server/resources.hpp"
#include "watch/object_store.hpp"

namespace shim {

namespace {

using nlohmann::json;

/// Seconds; a lease of any length has a 32 bit number of them.
constexpr std::int64_t longest_lease = 2'147'483'647;
constexpr resource leases{"Lease", "coordination.k8s.io/v1", "leases", true};

/// No two processes have the same one, not even those that a host starts after each other.
std::string new_identity() {
  std::random_device random;
  return fmt::format("{}_{:08x}{:08x}", boost::asio::ip::host_name(), random(), random());
}

std::string holder_of(const json& spec) { return text_at(spec, "/holderIdentity"); }

std::chrono::seconds duration_of(const json& spec, std::chrono::milliseconds fallback) {
  const json::json_pointer at("/leaseDurationSeconds");
  if (spec.contains(at) && spec[at].is_number_integer()) {
    return std::chrono::seconds(std::clamp<std::int64_t>(spec[at].get<std::int64_t>(), 0, longest_lease));
  }
  return std::chrono::duration_cast<std::chrono::seconds>(fallback);
}

/// What has been written, or the version is not known that the next write has to name. Errors: std::runtime_error.
json lease_in(const response& answer) {
  json lease = json::parse(answer.body);
  if (text_at(lease, "/metadata/resourceVersion").empty()) throw std::runtime_error("an answer that is no lease");
  return lease;
}

std::string now_text() { return clock_text(std::chrono::system_clock::now(), true); }

}  // namespace

election::election(election_settings by, const credentials& as, log_function log, std::function<void()> changed)
    : by_(std::move(by)),
      identity_(new_identity()),
      as_(as),
      client_(as),
      log_(std::move(log)),
      changed_(std::move(changed)) {
  client_.set_timeout(by_.renew_deadline / 2);  // so that one try that hangs is not the last one
}

void election::run() {
  while (!stopped_) {
    const clock::time_point asked = clock::now();
    bool got = false;
    try {
      got = try_once();
      complaint_.clear();
    } catch (const cancelled&) {
      return;
    } catch (const std::exception& fault) {  // of the network, of the server, or an answer that is no JSON
      complain(fault.what());
    }
    if (got) {
      lead_until(asked + by_.renew_deadline);
    } else if (led_ && (held_.is_null() || !leads())) {
      until_ = 0;
      changed_();
      return;
    }
    pause();
  }
}

void election::lead_until(clock::time_point until) {
  until_ = until.time_since_epoch().count();
  if (led_.exchange(true)) return;
  log_(fmt::format("lease {}: {} leads", name(), identity_));
  changed_();
}

void election::complain(const std::string& fault) {
  if (fault != std::exchange(complaint_, fault)) log_(fmt::format("lease {}: {}", name(), fault));
}

bool election::try_once() {
  if (!held_.is_null() && renew()) return true;
  const response answer = client_.send({.target = target(true)});
  if (answer.status == 404) return create();
  if (!answer.ok()) throw std::runtime_error(server_words(answer));
  json lease = lease_in(answer);
  const json& spec = lease["spec"];
  observe(spec);
  const std::string holder = holder_of(spec);
  const bool mine = holder == identity_;
  if (!mine) held_ = nullptr;
  const bool runs = clock::now() < observed_at_ + duration_of(spec, by_.lease_duration);
  if (!holder.empty() && !mine && runs) return false;
  if (led_ && !mine) return false;  // what was lost stays lost
  return take(std::move(lease));
}

/// Over what this process wrote last, without asking first. @return false if somebody else has written since.
bool election::renew() {
  json lease = held_;
  lease["spec"]["renewTime"] = now_text();
  const response answer = client_.send(with_object("PUT", target(true), lease));
  if (answer.ok()) {
    held_ = lease_in(answer);
    return true;
  }
  if (answer.status != 409 && answer.status != 404) throw std::runtime_error(server_words(answer));
  return false;
}

bool election::create() {
  const std::string now = now_text();
  const json lease{{"apiVersion", leases.version},
                   {"kind", leases.kind},
                   {"metadata", {{"namespace", by_.name_space}, {"name", by_.name}}},
                   {"spec",
                    {{"holderIdentity", identity_},
                     {"leaseDurationSeconds", by_.lease_duration / std::chrono::seconds(1)},
                     {"acquireTime", now},
                     {"renewTime", now},
                     {"leaseTransitions", 0}}}};
  const response answer = client_.send(with_object("POST", target(false), lease));
  if (answer.status == 409) return false;  // somebody was faster
  if (!answer.ok()) throw std::runtime_error(server_words(answer));
  held_ = lease_in(answer);
  observe(held_["spec"]);
  return true;
}

bool election::take(json was) {
  json& spec = was["spec"];
  if (!spec.is_object()) spec = json::object();
  const std::string now = now_text();
  if (holder_of(spec) != identity_) {
    spec["leaseTransitions"] = spec.value("leaseTransitions", std::int64_t{0}) + 1;
    spec["acquireTime"] = now;
  }
  spec["holderIdentity"] = identity_;
  spec["leaseDurationSeconds"] = by_.lease_duration / std::chrono::seconds(1);
  spec["renewTime"] = now;
  const response answer = client_.send(with_object("PUT", target(true), was));
  if (answer.status == 409 || answer.status == 404) return false;
  if (!answer.ok()) throw std::runtime_error(server_words(answer));
  held_ = lease_in(answer);
  observe(held_["spec"]);
  return true;
}

void election::observe(const json& spec) {
  if (observed_ == spec && !observed_.is_null()) return;
  observed_ = spec;
  observed_at_ = clock::now();
  std::string holder = holder_of(spec);
  {
    const std::scoped_lock lock(mutex_);
    if (holder_ == holder) return;
    holder_ = holder;
  }
  if (!holder.empty() && holder != identity_) log_(fmt::format("lease {}: {} leads; waiting", name(), holder));
}

void election::stop() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  client_.cancel();
  wake_.notify_all();
}

void election::release() noexcept {
  until_ = 0;
  try {
    http_client client(as_);  // the other one was cancelled, and what became of its last request nobody knows
    client.set_timeout(std::chrono::seconds(2));
    response answer = client.send({.target = target(true)});
    if (!answer.ok()) return;
    json lease = json::parse(answer.body);
    json& spec = lease["spec"];
    if (holder_of(spec) != identity_) return;
    spec.erase("holderIdentity");
    spec["leaseDurationSeconds"] = 1;
    spec["renewTime"] = now_text();
    answer = client.send(with_object("PUT", target(true), lease));
    log_(fmt::format("lease {}: {}", name(), answer.ok() ? "released" : server_words(answer)));
  } catch (const std::exception& fault) {  // it runs out by itself
    log_(fmt::format("lease {}: not released: {}", name(), fault.what()));
  }
}

std::string election::holder() const {
  const std::scoped_lock lock(mutex_);
  return holder_;
}

std::string election::standing_words() const {
  const std::string leader = holder();
  return fmt::format("lease {}: {}", name(), leader.empty() ? "not held" : leader + " leads");
}

std::string election::name() const { return fmt::format("{}/{}", by_.name_space, by_.name); }

std::string election::target(bool own) const {
  return place(leases, by_.name_space, own ? std::string_view(by_.name) : std::string_view{});
}

void election::pause() {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, by_.retry_period, [this] { return stopped_.load(); });
}

}  // namespace shim
