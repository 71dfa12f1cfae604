#include "configuration/engine_options.hpp"

namespace shim {

kaisched::abi::options engine_options(const YAML::Node& value, kaisched::abi::options options) {
  if (!value.IsMap()) throw bad_input("expected options and their values");
  for (const auto& one : value) {
    const std::string name = one.first.Scalar();
    if (!one.second.IsScalar()) throw bad_input(fmt::format("{}: expected one value", name));
    options.add(name, one.second.Scalar());
    try {
      (void)kaisched::abi::engine(options);
    } catch (const kaisched::abi::failure& refused) {
      throw bad_input(fmt::format("{}: {}", name, refused.what()));
    }
  }
  return options;
}

void log_warnings(std::string_view where, const kaisched::abi::options& options,
                  const std::function<void(const std::string&)>& log) {
  for (const std::string& text : kaisched::abi::engine(options).warnings())
    log(fmt::format("warning: {}: {}", where, text));
}

}  // namespace shim
