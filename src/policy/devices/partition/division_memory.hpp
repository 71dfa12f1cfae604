#pragma once
/// @file
/// What can be made of devices and nodes, and at what cost. That depends on nothing but their layouts, what of them is
/// in use and what is asked for, so it is found out once for all plans of a session.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policy/devices/partition/division_plan.hpp"

namespace kaisched::devices {

/// One way to divide a device anew.
struct device_option {
  std::vector<std::int64_t> net;  ///< by tracked dimension: what comes to be free, less what goes
  division_cost cost{};
  std::vector<std::size_t> gone;
  slice_layout made;
};

/// What a device can give of some dimensions at a cost, whatever else becomes of it.
struct device_offer {
  std::vector<std::int64_t> gives;  ///< not negative
  division_cost cost{};
};

/// Steps of one plan.
struct division_steps {
  std::int64_t most = -1;  ///< negative: no bound
  std::int64_t taken = 0;
  bool exact = true;  ///< nothing was left out for them

  [[nodiscard]] bool is_spent() const { return most >= 0 && taken >= most; }
};

class division_memory {
 public:
  using amounts = std::vector<std::int64_t>;
  using dimension_set = std::vector<std::uint32_t>;  ///< ascending

  /// Forgets everything if the problem has other models than the ones before.
  void open(const division_problem& problem);
  /// Nodes of one kind have equal devices and equal amounts.
  [[nodiscard]] std::size_t kind_of(const plannable_node& node);
  [[nodiscard]] std::size_t kinds() const { return form_of_kind_.size(); }
  /// Costs of nodes of one form are equal: devices and what is free of `dimensions`.
  [[nodiscard]] std::size_t form_of(std::size_t kind) const { return form_of_kind_[kind]; }
  [[nodiscard]] std::span<const std::size_t> devices_of(std::size_t form) const { return nodes_[form].devices; }
  [[nodiscard]] std::span<const std::int64_t> free_of(std::size_t form) const { return nodes_[form].free; }
  /// Those of instances and of whole devices.
  [[nodiscard]] const dimension_set& dimensions() const { return dimensions_; }
  [[nodiscard]] std::uint32_t gpu() const { return gpu_; }

  /// All options of a form of devices for what comes and goes of some dimensions, but for those that others beat; the
  /// cheapest first.
  const std::vector<device_option>& options_of(std::size_t device, const dimension_set& tracked);
  /// Number of a set of dimensions, for `offer_of`.
  [[nodiscard]] std::size_t set_of(const dimension_set& wanted);
  /// Number of what a form of devices offers of a set: equal offers have one number.
  [[nodiscard]] std::size_t offer_of(std::size_t device, std::size_t set);
  /// The same of all devices of a node and what is free there, where what others claim or a lack keeps devices from
  /// being looked at one by one; none: it does not, or there are too many ways.
  [[nodiscard]] std::optional<std::size_t> offer_of_node(std::size_t form, std::size_t set);
  [[nodiscard]] const std::vector<device_offer>& offer(std::size_t number) const { return offers_[number]; }
  /// Number of an amount of `dimensions` that pods ask for together on one node.
  [[nodiscard]] std::size_t demand_of(const amounts& asked);
  /// From here on all costs count their steps again.
  void start_plan() { ++plan_; }
  /// The least cost of a demand on a node, or nothing.
  std::optional<division_cost> cost_of(std::size_t form, std::size_t demand, division_steps& steps);
  /// What becomes of the devices of the node (its number) at that cost; false: no steps are left to find out.
  bool changes_of(std::size_t form, const amounts& asked, std::size_t node, division_steps& steps,
                  std::vector<device_change>& to);

 private:
  struct node_form {
    std::vector<std::size_t> devices;
    amounts free;  ///< by position in `dimensions_`
  };
  struct known_cost {
    bool known = false;
    std::uint64_t plan = 0;    ///< that has counted it last
    std::uint64_t cut_in = 0;  ///< plan in which only `cut` was found, for want of steps
    std::int64_t steps = 0;
    std::optional<division_cost> cost;
    std::optional<division_cost> cut;
  };
  struct known_demand {
    amounts asked;
    std::vector<known_cost> by_form;
  };
  /// How a layer of the devices of a node is reached.
  struct way {
    division_cost cost{};
    const amounts* from = nullptr;  ///< key in the layer before; null: the first
    std::size_t option = 0;         ///< 0: the device stays, else 1 + position
  };
  using layer = std::map<amounts, way>;

  [[nodiscard]] std::size_t device_form(const plannable_device& device);
  [[nodiscard]] std::size_t position_of(std::uint32_t d) const;
  [[nodiscard]] std::int64_t distance_of(const plannable_device& device, const slice_layout& made) const;
  void add_options(const plannable_device& device, const dimension_set& tracked, std::int64_t from, slice_layout& made,
                   std::vector<device_option>& to) const;
  [[nodiscard]] device_option option_of(const plannable_device& device, const dimension_set& tracked,
                                        const slice_layout& made) const;
  [[nodiscard]] amounts losses_of(const node_form& of) const;
  [[nodiscard]] dimension_set tracked_of(const node_form& of, const amounts& asked) const;
  [[nodiscard]] std::size_t number_of_offer(std::vector<device_offer> made);
  [[nodiscard]] bool is_bound_by_claims(const node_form& of, const dimension_set& wanted) const;
  [[nodiscard]] std::optional<std::vector<device_offer>> offers_of(const node_form& of, const dimension_set& wanted);
  const layer::value_type* solve(const node_form& of, const amounts& asked, std::vector<layer>& layers,
                                 division_steps& steps);

  std::vector<plannable_model> models_;
  std::uint32_t gpu_ = 0;
  std::int64_t whole_device_ = 0;
  dimension_set dimensions_;
  std::uint64_t plan_ = 1;

  std::map<amounts, std::size_t> device_keys_;
  std::vector<plannable_device> devices_;
  std::map<amounts, std::size_t> kind_keys_;
  std::vector<std::size_t> form_of_kind_;
  std::map<amounts, std::size_t> node_keys_;
  std::vector<node_form> nodes_;
  std::map<std::pair<dimension_set, std::size_t>, std::vector<device_option>> options_;
  std::map<dimension_set, std::size_t> set_keys_;
  struct known_set {
    dimension_set dimensions;
    std::vector<std::size_t> of_device;  ///< number of the offer
    std::vector<std::size_t> of_node;
  };
  std::vector<known_set> sets_;
  std::map<amounts, std::size_t> offer_keys_;
  std::vector<std::vector<device_offer>> offers_;
  std::map<amounts, std::size_t> demand_keys_;
  std::vector<known_demand> demands_;
};

}  // namespace kaisched::devices
