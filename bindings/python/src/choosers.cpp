#include "choosers.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <pybind11/numpy.h>

#include <kaisched/kaisched.hpp>

namespace py = pybind11;

namespace kaisched::python {

namespace {

class chooser final : public policy_part {
 public:
  chooser(std::string name, py::object policy, std::shared_ptr<policy_faults> faults)
      : name_(std::move(name)), policy_(std::move(policy)), faults_(std::move(faults)) {}
  ~chooser() override {
    const py::gil_scoped_acquire held;
    policy_ = {};
  }

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups | part_permits; }

  result<void> session_open(const session_view& inside) override {
    const py::gil_scoped_acquire held;
    py::array_t<double> idle(static_cast<py::ssize_t>(inside.node_count()));
    const std::span<const std::int64_t> amounts = inside.node_idle();
    for (node_row n = 0; n < inside.node_count(); ++n) {
      idle.mutable_data()[n] =
          static_cast<double>(amounts[std::size_t{n} * inside.dimension_count() + dim_gpu]) / whole_device;
    }
    try {
      const py::object said = policy_.attr("choose_group")(inside.now(), std::move(idle));
      chosen_ = said.is_none() ? std::string() : said.cast<std::string>();
    } catch (py::error_already_set& raised) {
      return failed("choose_group", raised);
    }
    return {};
  }

  result<void> order_groups(const session_view& inside, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = {is_chosen(inside, groups[i]) ? 0 : 1, 0};
    return {};
  }

  result<bool> permit(const session_view& inside, group_row group, std::span<const pod_row>) override {
    if (!is_chosen(inside, group)) return false;
    const py::gil_scoped_acquire held;
    try {
      policy_.attr("group_starts")();
    } catch (py::error_already_set& raised) {
      return failed("group_starts", raised);
    }
    return true;
  }

 private:
  [[nodiscard]] bool is_chosen(const session_view& inside, group_row group) const {
    return !chosen_.empty() && inside.group_name(group) == chosen_;
  }
  error failed(const char* method, py::error_already_set& raised) {
    faults_->keep(raised.value());
    return {
        status::plugin, "policy '" + name_ + "': " + method + ": " + py::str(raised.value()).cast<std::string>(), {}};
  }

  std::string name_;
  py::object policy_;
  std::shared_ptr<policy_faults> faults_;
  std::string chosen_;
};

}  // namespace

bool is_chooser(const py::object& policy) { return py::hasattr(policy, "choose_group"); }

std::unique_ptr<policy_part> make_chooser(std::string name, py::object policy, std::shared_ptr<policy_faults> faults) {
  return std::make_unique<chooser>(std::move(name), std::move(policy), std::move(faults));
}

}  // namespace kaisched::python
