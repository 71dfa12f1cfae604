#include <algorithm>
#include <utility>

#include <kaisched/engine.hpp>

#include "actions/actions.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "engine/session_impl.hpp"
#include "policy/parts.hpp"

namespace kaisched {

struct engine::impl {
  policy_options options;
  work::part_list registry;
  std::shared_ptr<const device_catalog> catalog;
  std::shared_ptr<executor> threads;

  [[nodiscard]] part_factory find(std::string_view name) const {
    for (const auto& [known, factory] : registry) {
      if (known == name) return factory;
    }
    return nullptr;
  }
};

namespace {

error unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known) {
  std::string message = "there is no " + std::string(kind) + " '" + base::shown(name) + "'";
  const std::string_view nearest = base::nearest_name(name, known);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  return {status::not_found, std::move(message), {}};
}

}  // namespace

engine::engine() : engine(preset("kai").value()) {}

engine::engine(policy_options options) : impl_(std::make_unique<impl>()) {
  impl_->options = std::move(options);
  for (const policy::part_entry& part : policy::built_in_parts()) impl_->registry.emplace_back(part.name, part.make);
}

engine::~engine() = default;
engine::engine(engine&&) noexcept = default;
engine& engine::operator=(engine&&) noexcept = default;

result<void> engine::set(std::string_view option, std::string_view value) { return impl_->options.set(option, value); }
result<std::string> engine::get(std::string_view option) const { return impl_->options.get(option); }
const policy_options& engine::options() const { return impl_->options; }

result<void> engine::register_part(std::string_view name, part_factory factory) {
  if (name.empty() || name.find(',') != std::string_view::npos || factory == nullptr) {
    return error{status::argument, "a part needs a name without commas and a factory", {}};
  }
  if (impl_->find(name) != nullptr) {
    return error{status::duplicate, "there is a part '" + std::string(name) + "' already", {}};
  }
  impl_->registry.emplace_back(name, factory);
  return {};
}

void engine::set_device_catalog(std::shared_ptr<const device_catalog> catalog) { impl_->catalog = std::move(catalog); }

void engine::set_executor(std::shared_ptr<executor> threads) { impl_->threads = std::move(threads); }

std::vector<std::string> engine::part_names() const {
  std::vector<std::string> names;
  for (const auto& [name, factory] : impl_->registry) names.push_back(name);
  return names;
}

result<session> engine::open(const snapshot& base, std::int64_t now) const {
  work::part_list chosen;
  for (const std::string& name : impl_->options.parts) {
    const part_factory factory = impl_->find(name);
    if (factory == nullptr) {
      std::vector<std::string_view> known;
      for (const auto& [other, unused] : impl_->registry) known.emplace_back(other);
      return unknown_name("part", name, known);
    }
    if (std::any_of(chosen.begin(), chosen.end(), [&](const auto& c) { return c.first == name; })) {
      return error{status::duplicate, "option parts names '" + name + "' twice", {}};
    }
    chosen.emplace_back(name, factory);
  }
  std::vector<std::string_view> actions;
  for (const actions::action_entry& entry : actions::action_list()) actions.push_back(entry.name);
  for (const std::string& name : impl_->options.actions) {
    if (std::find(actions.begin(), actions.end(), name) == actions.end()) return unknown_name("action", name, actions);
  }
  auto body = std::make_unique<session::impl>(base, impl_->options, now, std::move(chosen), impl_->catalog);
  body->core.threads = base::parallel(impl_->threads);
  if (auto done = body->core.open(); !done) return done.failure();
  return session(std::move(body));
}

result<session> engine::run(const snapshot& base, std::int64_t now) const {
  result<session> opened = open(base, now);
  if (!opened) return opened;
  if (auto done = opened->run(); !done) return done.failure();
  return opened;
}

}  // namespace kaisched
