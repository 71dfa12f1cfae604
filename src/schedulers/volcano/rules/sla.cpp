// The plug-in sla.
//
// Source: volcano-sh/volcano, pkg/scheduler/plugins/sla/sla.go.

#include <optional>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class sla final : public plugin {
 public:
  explicit sla(std::int64_t waiting_time) : waiting_time_(waiting_time) {}

  [[nodiscard]] std::string_view name() const override { return "sla"; }
  [[nodiscard]] points orders() const override { return points_at({point::job_order}); }

  /// Jobs that have to start by some time come before others, the most urgent first.
  [[nodiscard]] order job_order(const session& of, row left, row right) const override {
    const std::optional<std::int64_t> one = starts_by(of, left);
    const std::optional<std::int64_t> other = starts_by(of, right);
    if (one == other) return 0;
    if (!one || !other) return one ? -1 : 1;
    return *one < *other ? -1 : 1;
  }

  [[nodiscard]] std::optional<vote> may_enqueue(const session& of, row job) const override { return late(of, job); }
  /// Who is late keeps the room that comes free, whatever else its gang lacks.
  [[nodiscard]] std::optional<vote> is_pipelined(const session& of, row job) const override { return late(of, job); }

 private:
  [[nodiscard]] std::optional<std::int64_t> starts_by(const session& of, row job) const {
    const job_state& one = of.cluster().jobs[job];
    if (one.starts_by || waiting_time_ <= 0) return one.starts_by;
    std::int64_t by = 0;
    if (__builtin_add_overflow(one.created, waiting_time_, &by)) return std::nullopt;
    return by;
  }
  [[nodiscard]] vote late(const session& of, row job) const {
    const std::optional<std::int64_t> by = starts_by(of, job);
    return by && of.cluster().now >= *by ? vote::permit : vote::abstain;
  }

  std::int64_t waiting_time_;
};

}  // namespace

std::unique_ptr<plugin> make_sla(std::int64_t waiting_time) { return std::make_unique<sla>(waiting_time); }

}  // namespace kaisched::volcano
