// Parts that say how victims are found (KAI plugins "minruntime", "nodelocalgreedy" and "multinodegang"). What they
// switch on is built into the search for victims, which asks for sets of pods and not for keys or scores.
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class named_part final : public policy_part {
 public:
  explicit named_part(std::string_view name) : name_(name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return 0; }

 private:
  std::string_view name_;
};

}  // namespace

std::unique_ptr<policy_part> make_minimum_runtime(const policy_options&) {
  return std::make_unique<named_part>("minruntime");
}
std::unique_ptr<policy_part> make_node_local_greedy(const policy_options&) {
  return std::make_unique<named_part>("sg-nodelocalgreedy");
}
std::unique_ptr<policy_part> make_multi_node_gang(const policy_options&) {
  return std::make_unique<named_part>("sg-multinodegang");
}

}  // namespace kaisched::policy
