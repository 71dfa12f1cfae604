#pragma once
/// @file
/// The log of a day, a record a line. docs/days.md has the form.

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace day_host {

/// A decision of a session.
struct decision {
  std::string kind;  ///< bind, pipeline, evict, move, migrate
  std::string pod;
  std::string node;
  std::vector<std::int64_t> devices;
  std::int64_t share = 0;
  std::vector<std::string> grants;  ///< of devices and cells
  std::string action;
  std::uint32_t commit = 0;
  std::uint64_t id = 0;  ///< of the pod, in the cluster of the engine
};

/// What a session says of a queue: cpu, memory, GPU.
struct queue_account {
  std::string queue;
  std::array<std::int64_t, 3> fair{};
  std::array<std::int64_t, 3> request{};
  std::array<std::int64_t, 3> allocated{};
};

class journal {
 public:
  explicit journal(std::ostream& to) : to_(to) {}

  void option(const std::string& name, const std::string& value) { to_ << "option," << name << ',' << value << '\n'; }
  void event(std::int64_t now, const char* what, const std::string& name) {
    at(now) << "event," << now << ',' << what << ',' << name << '\n';
  }
  void pod(std::int64_t now, const std::string& name, const char* state, const std::string& node,
           const std::vector<std::int64_t>& devices, std::int64_t share) {
    at(now) << "pod," << now << ',' << name << ',' << state << ',' << node << ',';
    list(devices);
    to_ << ',' << share << '\n';
  }
  void moves_to(std::int64_t now, const std::string& name, const std::string& node,
                const std::vector<std::int64_t>& devices) {
    at(now) << "moves," << now << ',' << name << ',' << node << ',';
    list(devices);
    to_ << '\n';
  }
  void session(std::int64_t number, std::int64_t now, int round) {
    at(now) << "session," << number << ',' << now << ',' << round << '\n';
  }
  void decided(const decision& one) {
    to_ << "decision," << one.kind << ',' << one.pod << ',' << one.node << ',';
    list(one.devices);
    to_ << ',' << one.share << ',' << one.action << ',' << one.commit << '\n';
  }
  void share(const queue_account& one) {
    to_ << "share," << one.queue;
    for (const auto* three : {&one.fair, &one.request, &one.allocated}) {
      for (const std::int64_t value : *three) to_ << ',' << value;
    }
    to_ << '\n';
  }
  void probe(std::int64_t number, const std::string& job, bool starts) {
    to_ << "probe," << number << ',' << job << ',' << (starts ? 1 : 0) << '\n';
  }
  void refused(std::uint32_t commit) { to_ << "refused," << commit << '\n'; }
  void carried(std::int64_t number, bool changed) { to_ << "carried," << number << ',' << (changed ? 1 : 0) << '\n'; }
  void over(std::int64_t now, const char* why) { at(now) << "over," << now << ',' << why << '\n'; }
  [[nodiscard]] std::int64_t now() const { return now_; }

 private:
  std::ostream& at(std::int64_t now) {
    now_ = now;
    return to_;
  }
  void list(const std::vector<std::int64_t>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) to_ << (i == 0 ? "" : "|") << all[i];
  }

  std::ostream& to_;
  std::int64_t now_ = 0;
};

}  // namespace day_host
