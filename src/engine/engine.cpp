#include <algorithm>
#include <utility>

#include <kaisched/engine.hpp>

#include "actions/actions.hpp"
#include "actions/nominations.hpp"
#include "base/nearest.hpp"
#include "base/text.hpp"
#include "policy/parts.hpp"
#include "schedulers/kueue/rules/settings.hpp"
#include "schedulers/volcano/rules/catalog.hpp"
#include "schedulers/yunikorn/rules/settings.hpp"
#include "session/action_list.hpp"
#include "session/old_names.hpp"
#include "session/session_impl.hpp"

namespace kaisched {

namespace {

error unknown_name(std::string_view kind, std::string_view name, std::span<const std::string_view> known) {
  std::string message = "there is no " + std::string(kind) + " '" + base::shown(name) + "'";
  const std::string_view nearest = base::nearest_name(name, known);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  return {status::not_found, std::move(message), {}};
}

}  // namespace

namespace engine_detail {

/// What an engine is made of.
struct ingredients {
  policy_options options;
  framework::part_list registry;
  std::shared_ptr<const device_catalog> catalog;

  [[nodiscard]] part_factory find(std::string_view name) const {
    for (const auto& [known, factory] : registry) {
      if (known == name) return factory;
    }
    return nullptr;
  }
};

}  // namespace engine_detail

using engine_detail::ingredients;

struct engine::impl : ingredients {
  std::shared_ptr<executor> threads;
  /// Of these, for all sessions until one of them changes; or why no session can be opened.
  result<std::shared_ptr<const framework::policy_setup>> setup = std::shared_ptr<const framework::policy_setup>{};

  /// Of these from now on; where memory is missing all is as before.
  void renew(ingredients fresh) {
    auto made = setup_of(fresh);
    static_cast<ingredients&>(*this) = std::move(fresh);
    setup = std::move(made);
  }
  void renew() { setup = setup_of(*this); }

 private:
  [[nodiscard]] static result<std::shared_ptr<const framework::policy_setup>> setup_of(const ingredients& of) {
    const policy_options& options = of.options;
    auto all = std::make_shared<framework::policy_setup>();
    all->options = options;
    all->catalog = of.catalog;
    for (const std::string& name : options.parts) {
      const part_factory factory = of.find(name);
      if (factory == nullptr) {
        std::vector<std::string_view> known;
        for (const auto& [other, unused] : of.registry) known.emplace_back(other);
        return unknown_name("part", name, known);
      }
      if (std::any_of(all->parts.begin(), all->parts.end(), [&](const auto& c) { return c.first == name; })) {
        return error{status::duplicate, "option parts names '" + name + "' twice", {}};
      }
      all->parts.emplace_back(name, factory);
    }
    std::vector<std::string_view> actions;
    for (const session_detail::action_entry& entry : session_detail::action_list()) actions.push_back(entry.name);
    for (const std::string& name : options.actions) {
      if (std::find(actions.begin(), actions.end(), name) == actions.end())
        return unknown_name("action", name, actions);
    }
    const auto tiered = volcano::make_setup({options.volcano_tiers, options.volcano_settings, options.volcano_actions});
    if (!tiered) return tiered.failure();
    if (const auto good = kueue::make_setup(options.kueue_settings); !good) return good.failure();
    if (const auto good = yunikorn::make_setup(options.yunikorn_settings); !good) return good.failure();
    const auto is_volcano = [](const std::string& action) { return action == "volcano"; };
    all->keeps_gangs = tiered->keeps_gangs || std::ranges::none_of(options.actions, is_volcano);
    return std::shared_ptr<const framework::policy_setup>(std::move(all));
  }
};

engine::engine() : engine(preset("kai").value()) {}

engine::engine(policy_options options) : impl_(std::make_unique<impl>()) {
  impl_->options = std::move(options);
  session_detail::update_actions(impl_->options.actions, impl_->options.warnings);
  for (const policy::part_entry& part : policy::built_in_parts()) impl_->registry.emplace_back(part.name, part.make);
  impl_->renew();
}

engine::~engine() = default;
engine::engine(engine&&) noexcept = default;
engine& engine::operator=(engine&&) noexcept = default;

engine engine::clone() const {
  engine made;
  *made.impl_ = *impl_;
  return made;
}

result<void> engine::set(std::string_view option, std::string_view value) {
  ingredients fresh = *impl_;
  if (auto done = fresh.options.set(option, value); !done) return done;
  impl_->renew(std::move(fresh));
  return {};
}
result<std::string> engine::get(std::string_view option) const { return impl_->options.get(option); }
const policy_options& engine::options() const { return impl_->options; }

result<void> engine::register_part(std::string_view name, part_factory factory) {
  if (name.empty() || name.find(',') != std::string_view::npos || factory == nullptr) {
    return error{status::argument, "a part needs a name without commas and a factory", {}};
  }
  if (impl_->find(name) != nullptr) {
    return error{status::duplicate, "there is a part '" + std::string(name) + "' already", {}};
  }
  ingredients fresh = *impl_;
  fresh.registry.emplace_back(name, factory);
  impl_->renew(std::move(fresh));
  return {};
}

void engine::set_device_catalog(std::shared_ptr<const device_catalog> catalog) {
  ingredients fresh = *impl_;
  fresh.catalog = std::move(catalog);
  impl_->renew(std::move(fresh));
}

void engine::set_executor(std::shared_ptr<executor> threads) { impl_->threads = std::move(threads); }

std::vector<std::string> engine::part_names() const {
  std::vector<std::string> names;
  for (const auto& [name, factory] : impl_->registry) names.push_back(name);
  return names;
}

result<session> engine::open(const snapshot& base, std::int64_t now) const {
  if (!impl_->setup) return impl_->setup.failure();
  auto body = std::make_unique<session::impl>(base, *impl_->setup, now);
  body->state->threads = base::parallel(impl_->threads);
  if (auto done = body->state->open(); !done) return done.failure();
  actions::hold_nominated(*body->state);
  return session(std::move(body));
}

result<session> engine::run(const snapshot& base, std::int64_t now) const {
  result<session> opened = open(base, now);
  if (!opened) return opened;
  if (auto done = opened->run(); !done) return done.failure();
  return opened;
}

}  // namespace kaisched
